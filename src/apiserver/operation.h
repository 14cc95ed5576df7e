/* apiserver/operation.h - one request to the registry: who wants what, and what came of it.
 *
 * Over HTTP and from within the process alike: whoever asks fills in the first part, calls the function of the verb, and is
 * told by `done` exactly once, maybe before that call returns. Authentication and authorization were before.
 *
 * A write is decided on what can be read now and committed on the condition that it is still so; when something was faster
 * the whole is tried again (OPERATION_TRIES_MAX times). What is answered is on disk, unless the kind may be relaxed.
 *
 * Thread: the store's. Memory: the operation's arena, which must live until `done`; what waits for the disk is not
 * cancelled when nobody waits for the answer any more. */
#pragma once

#include "apiserver/admission.h"
#include "apiserver/negotiate.h"
#include "apiserver/options.h"
#include "apiserver/server.h"
#include "apiserver/status_object.h"

enum { OPERATION_TRIES_MAX = 50 };

struct service_hold;

struct operation {
    struct apiserver *server;
    struct arena *arena;
    const struct user *user;
    struct str user_agent; /* names the field manager when nobody else does */
    const struct resource *resource;
    const struct subresource *subresource; /* NULL: the object itself */
    struct str namespace, name;
    enum media media;
    struct str body;
    const struct value *object; /* instead of a body: of the type that the endpoint takes; or NULL */
    enum patch_form patch_form;
    struct write_options write;
    struct delete_options delete;
    void (*done)(struct operation *op);
    void *context;

    /* The outcome. */
    struct err err; /* code ERR_OK: done */
    struct field_errors errs;
    struct status_cause *causes; /* besides errs */
    uint32_t n_causes;
    int32_t retry_after_s;
    int code;                 /* 200 or 201 */
    bool answers_201;         /* whatever was done */
    struct store_item *item;  /* the object as it is stored, one reference; or NULL: */
    const struct type *type;  /* of `value`; NULL: */
    struct value value;
    bool answers_status;      /* with `status`, a success without an object */
    struct status status;
    struct warnings warnings;

    /* The registry's. */
    struct str key;
    struct store_item *current; /* what is being changed; borrowed within one try */
    struct arena_mark mark;
    uint32_t n_tries;
    const struct resource *asked_resource; /* resource and name as every try begins with them */
    struct str asked_name;
    enum err_code (*attempt)(struct operation *op);
    void (*show)(struct operation *op); /* before it is settled well: how the outcome is shown; NULL: as it is */
    struct admission_also also[ADMISSION_ALSO_MAX];
    uint32_t n_also;
    struct service_hold *hold; /* addresses and ports of the commit under way; or NULL */
    bool creates, removes;    /* what the commit under way does */
    bool frees;               /* it is a step of a deletion */
    bool goes_on;             /* after it the attempt is made once more: the next step of several */
    int phase;                /* which step; kept between tries */
    uint64_t step_revision;   /* of the last step that was committed; 0: none */
};

/* Before anything else is filled in. */
void operation_init(struct operation *op, struct apiserver *s, struct arena *a);
/* Gives back what the outcome holds. */
void operation_fini(struct operation *op);

void registry_get(struct operation *op);
void registry_create(struct operation *op);
void registry_update(struct operation *op);
void registry_patch(struct operation *op);
void registry_delete(struct operation *op);

/* The Status of an operation that failed. */
struct status operation_status(struct operation *op);
