/* rules/pod_warn.h - what the files about warnings share.
 *
 * Paths of a template begin with `at`; those of a pod with "spec" and "metadata" (`at` is NULL). What is compared with
 * everything before it is bounded by WARN_COMPARISONS_MAX for a whole object: then nothing more is looked for.
 *
 * Thread: as the arena. */
#pragma once

#include "rules/pod_priv.h"

enum { WARN_COMPARISONS_MAX = 1 << 17 };

struct warn {
    struct warnings *out;
    struct arena *arena;
    const struct value *spec, *meta;
    const struct field_path *at;
    uint32_t n_comparisons;
};

/* Counts one; false when there have been too many. */
static inline bool warn_may_compare(struct warn *w)
{
    return w->n_comparisons < WARN_COMPARISONS_MAX && ++w->n_comparisons;
}

const char *warn_path(struct warn *w, const struct field_path *path);
/* As Go's %q. */
const char *warn_quoted(struct warn *w, struct str text);
/* An amount of bytes that is not a whole number, at `at`[resource]. */
void warn_fraction(struct warn *w, const struct value *amounts, const char *resource, const struct field_path *at);

/* Volumes (pod_warn_volumes.c): kinds that are no more, and files that would hide each other. */
void warn_volumes(struct warn *w, const struct field_path *at);
