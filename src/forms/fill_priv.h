/* forms/fill_priv.h - what the two decoders of fill.h share. */
#pragma once

#include "base/work.h"
#include "forms/fill.h"

struct fill_decoder {
    struct arena *arena;
    struct err *e;
    struct work *work;
    size_t n_bytes; /* of input structs made so far */
};

/* Item `i` of a list, which becomes its last one: one that was there before as it is, a new one zeroed.
 * NULL and an error when there are too many. `i` is at most the largest number of items the list ever had. */
void *fill_item(struct fill_decoder *d, struct fill_list *list, uint32_t i, size_t size);
/* The struct that a POINTER member points to, made if it is not there. */
void *fill_pointee(struct fill_decoder *d, void **member, const struct fill_type *sub);

/* Says that field `slot` of `t` cannot hold `what` ("string"); returns false. */
bool fill_wrong_type(struct fill_decoder *d, const struct type *t, unsigned slot, const char *what);
/* Puts the name of the field before the error that is there; returns false. */
bool fill_in_field(struct fill_decoder *d, const struct type *t, unsigned slot);

enum err_code fill_json(struct fill_decoder *d, const struct fill_type *t, struct str text, void *into);
enum err_code fill_proto(struct fill_decoder *d, const struct fill_type *t, struct str bytes, void *into);
