/* api/quantity_priv.h - what quantity.c and quantity_parse.c share.
 *
 * Thread: any. */
#pragma once

#include "api/decimal.h"
#include "api/quantity.h"

/* The amount, borrowed from q or from `room`, which may be NULL for a big one. */
struct decimal quantity_decimal(const struct quantity *q, uint8_t room[DECIMAL_INT64_DIGITS]);
/* Makes q big: value, scale and digits are d's, the kept text goes, the format stays. */
void quantity_set_decimal(struct arena *a, struct quantity *q, const struct decimal_buf *d);
