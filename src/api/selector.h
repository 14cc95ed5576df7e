/* api/selector.h - label selectors, ready to match.
 *
 * A selector is the AND of its requirements, which are sorted by key. It is made from text
 * (api/selector_parse.h), from a LabelSelector object (api/label_selector.h), from node selector terms
 * (api/node_selector.h) or from a plain map, and then only read. Keys and values are borrowed from what
 * it was made of.
 *
 * Matching allocates nothing: a lookup in the sorted labels, a binary search in the sorted values.
 *
 * Thread: any once made. */
#pragma once

#include "api/field_error.h"
#include "api/labels.h"
#include "base/work.h"

/* name, text in a selector, name in upstream's selection package */
#define SELECTOR_OPS(X)                         \
    X(IN, " in ", "in")                         \
    X(NOT_IN, " notin ", "notin")               \
    X(EQUALS, "=", "=")                         \
    X(DOUBLE_EQUALS, "==", "==")                \
    X(NOT_EQUALS, "!=", "!=")                   \
    X(GREATER, ">", "gt")                       \
    X(LESS, "<", "lt")                          \
    X(EXISTS, "", "exists")                     \
    X(DOES_NOT_EXIST, "", "!")

enum selector_op {
#define X(name, text, upstream) SELECTOR_##name,
    SELECTOR_OPS(X)
#undef X
};

struct requirement {
    struct str key;
    enum selector_op op;
    struct strs values;       /* as they were given */
    const struct str *sorted; /* the same, by their bytes; values.at if that is sorted */
    int64_t number;           /* greater, less: the value */
};

struct selector {
    const struct requirement *at;
    size_t n;
    bool nothing; /* made from an absent LabelSelector: matches no labels at all */
};

/* Charges what it takes to check a key and values and to sort the latter; false when that is more than is left. */
bool requirement_charge(struct work *work, struct str key, struct strs values);
/* Fills `ret` and returns true, or appends to `errs` what is wrong with it. `at` may be NULL. */
bool requirement_init(struct requirement *ret, struct str key, enum selector_op op, struct strs values,
                      const struct field_path *at, struct field_errors *errs);
/* Brings requirements into the order of a selector; equal keys keep theirs. False when the budget is spent. */
bool requirements_sort(struct arena *scratch, struct work *work, struct requirement *reqs, size_t n);
/* All labels of the map must be there; nothing is validated. No labels: everything matches. */
struct selector selector_from_labels(struct arena *a, struct labels labels);

bool requirement_matches(const struct requirement *r, struct labels labels);
bool selector_matches(const struct selector *s, struct labels labels);
/* Whether it does not restrict anything. */
static inline bool selector_empty(const struct selector *s)
{
    return s->n == 0 && !s->nothing;
}
/* The only value that the first requirement on `key` allows, or NULL. */
const struct str *selector_exact(const struct selector *s, struct str key);

const char *selector_op_name(enum selector_op op);
/* Canonical text, which parses to the same selector. */
struct str selector_text(struct arena *a, const struct selector *s);
