/* controllers/indexes.h - sets of completion indexes, as intervals in ascending order.
 *
 * Their text is that of a Job's status: "0,2-5,7".
 *
 * Thread: any.    Memory: the arena. */
#pragma once

#include "base/arena.h"

struct index_interval {
    int64_t first, last;
};

struct indexes {
    struct index_interval *at;
    size_t n;
};

/* What is at `completions` or above is left out; parts that are no numbers are passed over. */
struct indexes indexes_parse(struct arena *a, struct str text, int64_t completions);
const char *indexes_format(struct arena *a, struct indexes x);

/* Of numbers in ascending order; the same one may come twice. */
struct indexes indexes_of(struct arena *a, const int64_t *numbers, size_t n);
struct indexes indexes_union(struct arena *a, struct indexes x, struct indexes y);

int64_t indexes_total(struct indexes x);
bool indexes_has(struct indexes x, int64_t index);
/* How many indexes are in both. */
int64_t indexes_common(struct indexes x, struct indexes y);
