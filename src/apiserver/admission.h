/* apiserver/admission.h - plugins that change or refuse what is written, after authorization and before it is
 * stored.
 *
 * First all plugins that are on may change the object (`admit`), in upstream's order, then all may refuse it
 * (`validate`). A refusal is ERR_FORBIDDEN with the text behind `pods "x" is forbidden: `, which the chain adds, and
 * it sets kind and name of the error for the details of the Status; errors of other codes are complete as plugins
 * tell them. Plugins read other objects through stored.h and write nothing by themselves: what must be stored
 * together with the object (quota that is used up) goes into `also`, and the whole is one commit of the store; when
 * it is refused because something of it changed, the request is tried again from the beginning.
 *
 * Defaults (api/defaults.h) are applied before the first pass, and once more behind it.
 *
 * Thread: the store's. Memory: the request's arena. */
#pragma once

#include "api/user.h"
#include "apiserver/authz.h"
#include "apiserver/stored.h"
#include "base/metrics.h"
#include "rules/rules.h"

enum admission_operation { ADMIT_CREATE, ADMIT_UPDATE, ADMIT_DELETE, ADMIT_CONNECT, N_ADMIT_OPERATIONS };

enum { ADMISSION_ALSO_MAX = 32 };

struct admission_also {
    struct str key, value;
    uint64_t revision; /* of what it replaces; 0: there must be none */
    bool deletes;
};

struct admission; /* which plugins are on, and what is counted about them */

struct admission_request {
    struct arena *arena;
    struct stored *objects;
    const struct user *user;
    enum admission_operation operation;
    const struct resource *resource; /* as the request names it */
    struct str subresource;          /* empty: none */
    const struct type *type;         /* of object and old: the stored type; of `binding` and the like their own */
    struct str namespace, name;      /* the name may be empty while it is still to be made */
    struct value object;             /* plugins replace it; absent for deletions */
    const struct value *old;         /* NULL: there is none */
    bool dry_run;
    int64_t now_ns;                  /* wall clock */
    struct warnings *warnings;
    /* set by who refuses; the one cause of the Status; or NULL */
    const char *cause_reason, *cause_message, *cause_field;
    const struct field_errors *errors; /* set by who refuses with ERR_INVALID: the causes of the Status; or NULL */
    struct admission_also also[ADMISSION_ALSO_MAX];
    uint32_t n_also;
    struct admission *chain; /* set by the chain */
};

enum admission_standing {
    PLUGIN_WORKS,
    PLUGIN_IDLE,    /* known, and may be on: has nothing to do in this server */
    PLUGIN_MISSING, /* known, but not built: who enables it is told so */
};

enum { ON_CREATE = 1 << ADMIT_CREATE, ON_UPDATE = 1 << ADMIT_UPDATE, ON_DELETE = 1 << ADMIT_DELETE,
       ON_CONNECT = 1 << ADMIT_CONNECT };

struct admission_plugin {
    const char *name;
    bool on; /* unless the flags say otherwise */
    enum admission_standing standing;
    unsigned operations; /* ON_CREATE | ...: others do not concern it */
    enum err_code (*admit)(struct admission_request *r, struct err *e);
    enum err_code (*validate)(struct admission_request *r, struct err *e);
};

/* All there are, in upstream's order; ends with an entry without a name. */
extern const struct admission_plugin admission_plugins[];

/* As api_authz_decide, with what is to decide as its context. */
typedef enum authz_verdict admission_authorize(void *context, struct arena *a, const struct authz_attributes *q,
                                               struct str *ret_reason);

struct admission_options {
    const char *const *enable, *const *disable; /* names; end with NULL; or NULL */
    /* for plugins that ask whether the user may do something else, too; NULL: he may */
    admission_authorize *authorize;
    void *authorize_context;
    struct metrics *metrics; /* where durations are shown; or NULL. Outlives the chain */
};

/* Fails with upstream's text for names that nobody knows. */
ERR_MUST_CHECK enum err_code admission_new(const struct admission_options *o, struct admission **ret_admission,
                                           struct err *e);
void admission_free(struct admission *a);
ERR_MUST_CHECK enum err_code admission_mutate(struct admission *a, struct admission_request *r, struct err *e);
ERR_MUST_CHECK enum err_code admission_validate(struct admission *a, struct admission_request *r, struct err *e);
