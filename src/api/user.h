/* api/user.h - who asks: what authentication finds out and authorization is told.
 *
 * Thread: any, never changed.    Owns: nothing; texts and lists live in the arena it was made in. */
#pragma once

#include "base/arena.h"
#include "base/strbuf.h"

#define USER_ANONYMOUS "system:anonymous"
#define GROUP_UNAUTHENTICATED "system:unauthenticated"
#define GROUP_AUTHENTICATED "system:authenticated"
#define GROUP_MASTERS "system:masters"

struct str_list {
    const struct str *at;
    size_t n;
};

struct user_extra {
    struct str key;
    struct str_list values;
};

struct user {
    struct str name, uid; /* uid may be empty */
    struct str_list groups;
    const struct user_extra *extra; /* by key, keys unique */
    size_t n_extra;
};

static inline bool str_list_has(const struct str_list *l, struct str word)
{
    for (size_t i = 0; i < l->n; i++)
        if (str_eq(l->at[i], word))
            return true;
    return false;
}

static inline struct str_list str_list_copy(struct arena *a, const struct str_list *from)
{
    struct str *at = ARENA_NEW_N(a, struct str, from->n);
    for (size_t i = 0; i < from->n; i++)
        at[i] = arena_str(a, from->at[i]);
    return (struct str_list){ at, from->n };
}

static inline struct user user_copy(struct arena *a, const struct user *u)
{
    struct user_extra *extra = ARENA_NEW_N(a, struct user_extra, u->n_extra);
    for (size_t i = 0; i < u->n_extra; i++)
        extra[i] = (struct user_extra){ arena_str(a, u->extra[i].key), str_list_copy(a, &u->extra[i].values) };
    return (struct user){ arena_str(a, u->name), arena_str(a, u->uid), str_list_copy(a, &u->groups), extra,
                          u->n_extra };
}
