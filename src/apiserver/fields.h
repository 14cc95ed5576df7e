/* apiserver/fields.h - what lists and watches select by: labels, and the fields that a kind offers.
 *
 * Which fields a kind has is checked in options.h; here are their values.
 * Thread: any. Memory: the arena; texts are those of the value. */
#pragma once

#include "api/field_selector.h"
#include "api/selector.h"
#include "api/value.h"
#include "apiserver/options.h"

struct selectable {
    struct labels labels, fields;
};

/* Of an object of the resource's stored type. */
struct selectable selectable_of(struct arena *a, const struct resource *r, const struct type *t, const struct value *v);
/* Whether a list or watch wants it. */
bool selectable_matches(const struct list_options *o, const struct selectable *s);
/* Whether it wants everything. */
bool selects_all(const struct list_options *o);
