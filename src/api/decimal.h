/* api/decimal.h - exact decimal numbers of up to DECIMAL_DIGITS_MAX digits, for what int64 cannot hold.
 *
 * A number is sign * digits * 10^exponent. The digits are kept as they came, trailing zeros included,
 * because readers tell 10e0 from 1e1; there are no leading zeros, and zero has no digits at all.
 *
 * struct decimal borrows its digits; struct decimal_buf has room of its own and is what operations fill.
 * An operation that may need more digits than there are gives false and leaves its result unspecified.
 *
 * Thread: any.    Allocates: nothing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum {
    DECIMAL_DIGITS_MAX = 4096,
    DECIMAL_INT64_DIGITS = 20, /* of any 64-bit number */
};

struct decimal {
    int sign;              /* -1, 0, 1 */
    uint32_t n;            /* of digits */
    int64_t exponent;
    const uint8_t *digits; /* 0 to 9 each, most significant first */
};

struct decimal_buf {
    int sign;
    uint32_t n;
    int64_t exponent;
    uint8_t digits[DECIMAL_DIGITS_MAX + DECIMAL_INT64_DIGITS];
};

/* Borrows `b`. */
static inline struct decimal decimal_of(const struct decimal_buf *b)
{
    return (struct decimal){ b->sign, b->n, b->exponent, b->digits };
}

/* Borrows `room`. */
struct decimal decimal_of_int(int64_t value, int64_t exponent, uint8_t room[DECIMAL_INT64_DIGITS]);

/* -1, 0, 1. */
int decimal_cmp(struct decimal a, struct decimal b);
bool decimal_is_integer(struct decimal d);
/* d / 10^exponent, rounded away from zero; what does not fit becomes INT64_MIN or INT64_MAX. */
int64_t decimal_scaled(struct decimal d, int64_t exponent);
/* sign * digits, the exponent left aside. */
bool decimal_digits_fit_int64(struct decimal d);
double decimal_digits_as_double(struct decimal d);

/* Zero with exponent 0, to which digits are appended; the caller sets sign and exponent at the end. */
void decimal_start(struct decimal_buf *b);
/* `digits` is ASCII. Leading zeros vanish. */
bool decimal_append(struct decimal_buf *b, struct str digits);

void decimal_copy(struct decimal d, struct decimal_buf *ret_b);
/* The result has the lower exponent of both; a zero operand gives the other one as it is. */
bool decimal_add(struct decimal a, struct decimal b, struct decimal_buf *ret_sum);
/* May leave DECIMAL_INT64_DIGITS digits more than the maximum in `b`. */
void decimal_mul(struct decimal_buf *b, uint64_t factor);
/* Gives the number exactly this exponent: zeros are appended, or digits dropped and the rest rounded away
 * from zero. */
bool decimal_round_up(struct decimal_buf *b, int64_t exponent, bool *ret_exact);
/* Divides the digits by `divisor` (at most 10^8) when nothing remains, else leaves them alone. */
bool decimal_divide_exact(struct decimal_buf *b, uint32_t divisor);
