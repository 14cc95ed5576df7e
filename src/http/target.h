/* http/target.h - the target of a request, taken apart as Go's net/url does: a decoded path, and a query.
 *
 * Nothing is cleaned: "//", "/../" and a decoded "%2f" stay what they are, so that what is authorized is what is
 * served.
 *
 * Thread: any. Memory: texts live in the arena or in the target itself. */
#pragma once

#include "base/arena.h"

enum { TARGET_PAIRS_MAX = 1000 }; /* of a query; further ones are not seen */

struct target_pair {
    struct str name, value; /* value is empty without "=" */
};

struct target {
    struct str path;
    const struct target_pair *query;
    size_t n_query;
};

/* False: no path, or one with broken escapes. Pairs of the query that are broken, or have a ";", are left out. */
bool target_read(struct arena *a, struct str text, struct target *ret_target);
/* The first value; p is NULL when there is none. */
struct str target_get(const struct target *t, const char *name);
static inline bool target_has(const struct target *t, const char *name)
{
    return target_get(t, name).p != NULL;
}

/* %XX decoded, and with `plus` also "+" as a space; p is NULL when an escape is broken. */
struct str target_unescape(struct arena *a, struct str text, bool plus);
