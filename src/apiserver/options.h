/* apiserver/options.h - the options of requests: from the query, and of deletions from the body.
 *
 * Reading turns texts into values and fails as upstream does, with ERR_BAD_REQUEST; checking finds what does not go
 * together and fails with ERR_INVALID, the errors themselves in `errs` for the causes of the Status. Names that nobody
 * knows are no errors. Of a name that is given several times the first counts, but all of dryRun.
 *
 * Thread: as the arena. Memory: the arena and the target. */
#pragma once

#include "api/field_error.h"
#include "api/field_selector.h"
#include "api/selector.h"
#include "api/validate.h"
#include "base/err.h"
#include "codec/object.h"
#include "http/target.h"

enum { SELECTOR_BYTES_MAX = 64 << 10 };

enum maybe { MAYBE_UNSET, MAYBE_FALSE, MAYBE_TRUE };

struct list_options {
    struct selector labels;
    struct field_selector fields;
    bool watch, allow_bookmarks;
    enum maybe send_initial_events;
    struct str resource_version, resource_version_match, continue_token;
    int64_t limit;           /* 0 or less: none */
    int64_t timeout_seconds; /* of a watch */
    bool has_timeout;
};

ERR_MUST_CHECK enum err_code options_read_list(struct arena *a, const struct target *t,
                                               struct list_options *ret_options,
                                               struct err *e);
/* What upstream sets when nothing is said: a watch without a version begins with what there is, as a list would be. */
void options_default_list(struct list_options *o);
ERR_MUST_CHECK enum err_code options_check_list(const struct list_options *o, struct field_errors *errs, struct err *e);
/* That the kind has the fields which are selected by; aliases become the fields' own names. */
ERR_MUST_CHECK enum err_code options_check_fields(struct arena *a, const struct resource *r,
                                                  struct field_selector *fields,
                                                  struct err *e);

struct write_options {
    bool dry_run;
    struct str field_manager;
    enum field_validation field_validation;
    enum maybe force; /* of patches */
};

enum write_verb { WRITE_CREATE, WRITE_UPDATE, WRITE_PATCH, WRITE_APPLY };

ERR_MUST_CHECK enum err_code options_read_write(struct arena *a, const struct target *t, enum write_verb kind,
                                                struct write_options *ret_options, struct field_errors *errs,
                                                    struct err *e);

struct delete_options {
    bool dry_run;
    bool has_grace_period;
    int64_t grace_period_seconds;
    enum maybe orphan_dependents;
    struct str propagation_policy;            /* Orphan, Background, Foreground; p is NULL when not given */
    struct str uid, resource_version;         /* preconditions; p is NULL when there are none */
};

/* With a body the query does not count, as upstream. */
ERR_MUST_CHECK enum err_code options_read_delete(struct arena *a, const struct target *t, enum media m, struct str body,
                                                 struct delete_options *ret_options, struct field_errors *errs,
                                                 struct err *e);

/* How long a request that ends may take: 0 when nothing is said. */
ERR_MUST_CHECK enum err_code options_read_timeout(const struct target *t, int64_t *ret_ns, struct err *e);
