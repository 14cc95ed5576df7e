/* apiserver/registry_priv.h - what the files of the registry share: see operation.h.
 *
 *     registry.c      tries and commits, get
 *     write.c         new and changed objects: from a body to the bytes that are stored
 *     patch_write.c   patches, apply patches
 *     delete.c        deletions
 *     subresource.c   scale, binding, eviction and their like */
#pragma once

#include "apiserver/fresh.h"
#include "apiserver/operation.h"
#include "apiserver/room.h"
#include "apply/apply.h"
#include "base/list.h"
#include "base/rand.h"

struct service_alloc;

struct apiserver {
    struct apiserver_options o;
    struct rand rand;
    struct watch_hub *hub;
    struct server_metrics *metrics;
    struct impersonation *impersonation; /* NULL: everything is allowed to everyone, and nobody is anybody else */
    struct service_alloc *services;
    uint32_t n_reading, n_writing; /* requests in flight */
    struct room room;              /* what clients make it hold */
    struct fresh fresh;            /* those that wait for a version */
    struct list exchanges;
    const struct apiserver_page *more_pages;
    size_t n_more_pages;
    bool stopping;
};

/* Runs op->attempt until it is settled. An attempt that returns ERR_OK has settled the operation or begun a commit; any
 * other code is the outcome. */
void registry_try(struct operation *op, enum err_code (*attempt)(struct operation *op));
/* Ends the operation, with what is in op->err. */
void registry_settle(struct operation *op, enum err_code rc);

/* The object that is there now, decoded into the arena; NULL: none. Sets op->current. */
const struct value *registry_current(struct operation *op);
const struct type *registry_type(const struct operation *op); /* in which it is stored */

/* `{res} "{name}" not found` */
enum err_code registry_not_found(struct operation *op);
/* `Operation cannot be fulfilled on pods "x": {why}` */
enum err_code registry_conflict(struct operation *op, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Field errors of the object; `kind` as upstream: "Pod", "Deployment.apps". */
enum err_code registry_invalid(struct operation *op, struct str name);

/* Commits the value under op->key: made anew when nothing is current, else in its place. It gets its resourceVersion here. A
 * dry run settles at once. `show` tells how the outcome is shown: NULL as the object itself. */
enum err_code registry_commit(struct operation *op, const struct value *v);
/* Removes it; `last` is the state that is shown, of the stored type. */
enum err_code registry_commit_removal(struct operation *op, const struct value *last);

/* The wall clock. */
int64_t registry_now_s(const struct operation *op);
struct rules_context registry_rules(struct operation *op, const struct type *t);
const struct kind_rules *registry_kind_rules(const struct operation *op);

/* A body of the endpoint's type as a value of it; findings become warnings. */
enum err_code registry_decode(struct operation *op, const struct type *t, struct value *ret_value);
/* The namespace of a served value becomes that of the request; ERR_BAD_REQUEST when it is another one. */
enum err_code registry_settle_namespace(struct operation *op, struct value *v);
/* That the name of a served value is the one in the path. */
enum err_code registry_check_name(struct operation *op, const struct value *v);
enum err_code registry_check_named(struct operation *op, struct str name);
/* The key in refusals: upstream's storage for dry runs knows it without the prefix. */
struct str registry_shown_key(const struct operation *op);
/* A new object on its way: `v` has its defaults; from there to the commit. */
enum err_code registry_store_new(struct operation *op, struct value v);
/* A changed one. `v` has its defaults and managedFields. */
enum err_code registry_store_changed(struct operation *op, const struct value *old, struct value v);
/* From the served version to the stored one, which may have defaults of its own. */
enum err_code registry_to_stored(struct operation *op, const struct value *served, struct value *ret_value);
struct value registry_from_stored(struct operation *op, const struct value *stored);
struct apply_manager registry_manager(struct operation *op);
/* Whether a write may make what is not there, as far as its subresource goes: upstream's statuses follow their kind. */
bool registry_makes_absent(const struct operation *op);
/* A new or changed value of the served type, with what `m` wrote noted as its own. That is what upstream's internal version gives
 * back, which is not always what was sent. */
enum err_code registry_note(struct operation *op, const struct value *live, const struct value *new,
                            const struct apply_manager *m, struct value *ret_value);
/* The request's patch of `live`, a value of the type in which the request speaks, by `m`: with defaults and managedFields.
 * Only an apply patch makes something out of nothing, live = NULL. */
enum err_code registry_patched(struct operation *op, const struct type *t, const struct apply_manager *m,
                               const struct value *live, struct value *ret_value);

/* metadata of a value of any type that has it. */
struct str meta_text(const struct type *t, const struct value *v, const char *field);
struct value meta_set(struct arena *a, const struct type *t, const struct value *v, const char *field, struct value to);
const struct value *meta_get(const struct type *t, const struct value *v, const char *field);

const char *registry_new_uid(struct operation *op);

/* ---- Kinds that bring others along ---- */

/* The service account of a new namespace. */
void new_namespace_add(struct operation *op);
/* Addresses and ports of services; settle when a commit is over or nothing came of it. */
bool is_service(const struct operation *op);
enum err_code service_write_new(struct operation *op, struct value *v);
enum err_code service_write_changed(struct operation *op, const struct value *old, struct value *v);
void service_write_removed(struct operation *op, const struct value *old);
void service_write_settle(struct operation *op);

enum err_code registry_admit(struct operation *op, enum admission_operation what, const struct type *t,
                             struct value *object, const struct value *old, bool validate);

/* Subresources that are no part of the object: true when it is one, and the operation is under way. */
bool subresource_get(struct operation *op);
bool subresource_create(struct operation *op);
bool subresource_update(struct operation *op);
bool subresource_patch(struct operation *op);
