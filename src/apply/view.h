/* apply/view.h - typed objects as the plain values that their JSON has.
 *
 * Ownership is about what JSON shows: a struct that is always written is there although nobody set it, a zero that is
 * left out is not. So a struct becomes a map of what is written, a time its text, bytes their base64, raw JSON its
 * value.
 *
 * Thread: any. Memory: the arena; texts are shared. */
#pragma once

#include "api/value.h"

/* `v` may be absent: then the zero struct. */
struct value view_of(struct arena *a, const struct type *t, const struct value *v);
/* Of two objects only the fields in which they may differ; false when they are equal. */
bool view_changes(struct arena *a, const struct type *t, const struct value *old, const struct value *new,
                  struct value *ret_old, struct value *ret_new);
/* Whether all elements of lists with keys say who they are. */
bool view_has_keys(struct arena *a, const struct type *t, const struct value *v);
