/* api/bind_priv.h - what the two decoders of bind.h share. */
#pragma once

#include "api/bind.h"

struct bind_decoder {
    struct arena *arena;
    struct err *e;
    size_t n_bytes; /* of input structs made so far */
};

/* Zeroed memory for input structs; NULL and an error past BIND_BYTES_MAX. */
void *bind_alloc(struct bind_decoder *d, size_t n);
/* Item `i` of a list, which becomes its last one: one that was there before as it is, a new one zeroed.
 * NULL and an error when there are too many. `i` is at most the largest number of items the list ever had. */
void *bind_item(struct bind_decoder *d, struct bind_list *list, uint32_t i, size_t size);
/* The struct that a POINTER member points to, made if it is not there. */
void *bind_pointee(struct bind_decoder *d, void **member, const struct bind_type *sub);

/* Says that field `slot` of `t` cannot hold `what` ("string"); returns false. */
bool bind_wrong_type(struct bind_decoder *d, const struct type *t, unsigned slot, const char *what);
/* Puts the name of the field before the error that is there; returns false. */
bool bind_in_field(struct bind_decoder *d, const struct type *t, unsigned slot);

enum err_code bind_json(struct bind_decoder *d, const struct bind_type *t, struct str text, void *into);
enum err_code bind_proto(struct bind_decoder *d, const struct bind_type *t, struct str bytes, void *into);
