/* apply/walk.h - what is done with plain values (view.h) along the schema (place.h): set, compare, merge, remove, check.
 *
 * Values have passed walk_check, or are views of typed objects.
 * Work is linear in the values and sets, times a logarithm for lists that are merged by key.
 *
 * Upstream: structured-merge-diff, typed.
 * Thread: any. Memory: the arena; results share with their inputs. */
#pragma once

#include "apply/place.h"
#include "base/err.h"

/* As plain values are compared: a whole double equals the int. */
bool walk_equal(const struct value *a, const struct value *b);

/* Every field that the value says something about. */
struct field_set walk_set(struct arena *a, struct place p, const struct value *v);
/* Marked by what happened to each field on the way from `old` to `new`. */
struct field_set walk_compare(struct arena *a, struct place p, const struct value *old, const struct value *new);
/* `old` with everything that `config` says. */
struct value walk_merge(struct arena *a, struct place p, const struct value *old, const struct value *config);
/* `v` without the members of the set; what becomes empty by that is null. */
struct value walk_remove(struct arena *a, struct place p, const struct value *v, struct field_set gone);

/* The set, and as members all declared fields that it has something below. */
struct field_set walk_with_named(struct arena *a, struct place p, struct field_set s);
/* The set as the schema wants it: of what is owned as a whole nothing inside is owned alone. */
struct field_set walk_reconcile(struct arena *a, struct place p, struct field_set s);

/* Whether a document fits the schema; `e` gets upstream's text. Objects that exist may have elements of lists twice. */
ERR_MUST_CHECK enum err_code walk_check(struct arena *a, struct place p, const struct value *v, bool may_have_doubles,
                                        struct err *e);
