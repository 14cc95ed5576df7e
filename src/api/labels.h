/* api/labels.h - labels, and the plain forms in which selectors meet them.
 *
 * A label list is sorted by the bytes of its keys and holds no key twice; labels_sort makes one of any
 * array. Everything here borrows its texts.
 *
 * Thread: any. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

struct label {
    struct str key, value;
};

/* Sorted by key, keys unique. Also used for the fields that a field selector looks at. */
struct labels {
    const struct label *at;
    size_t n;
};

/* A list of texts; absent (nil) when `at` is NULL, which error messages tell from an empty one. */
struct strs {
    const struct str *at;
    size_t n;
};

/* One entry of matchExpressions or matchFields, as the object has it; the operator is not checked. */
struct match_expression {
    struct str key, op;
    struct strs values;
};

/* For budgets: the bytes of the texts, and one more for each, as it takes wherever it stands. */
size_t strs_bytes(struct strs texts);
/* The same for keys, operators and values. */
size_t match_expressions_bytes(const struct match_expression *at, size_t n);

/* Sorts in place; of entries with the same key the last one stays. Returns how many are left. */
size_t labels_sort(struct arena *scratch, struct label *at, size_t n);
/* The value of `key`, or NULL. Does not allocate. */
const struct str *labels_find(struct labels labels, struct str key);

/* A decimal int64 with an optional sign, the whole text and nothing else, as the operators Gt and Lt
 * read it. */
bool labels_parse_int(struct str text, int64_t *ret_value);
