/* controllers/condition.h - conditions in the status of objects: one of each type, with the time when its status changed.
 *
 * Thread: any. Memory: the arena; the result refers to what it was made from. */
#pragma once

#include "api/value.h"

struct condition {
    const char *type, *status; /* "True", "False", "Unknown" */
    const char *reason, *message; /* NULL: the field is not there */
    int64_t observed_generation;  /* 0: not said */
};

/* The list with the condition, in the place of the old one or at the end. `ct` is the type of its entries
 * ("meta/v1.Condition", "core/v1.PodCondition"). Its time stays when its status does. */
struct value condition_set(struct arena *a, const struct type *ct, const struct value *list, const struct condition *c,
                           int64_t now_s);
