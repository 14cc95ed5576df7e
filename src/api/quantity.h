/* api/quantity.h - amounts of resources, exact: 100m, 1.5Gi, 12e6.
 *
 * The same as resource.Quantity of Kubernetes v1.36: what it accepts, how it rounds, what it writes. An
 * amount is value * 10^scale with an int64 value as long as that holds it, and a decimal number in an
 * arena beyond. The switch from one to the other happens where upstream's does, since it shows: only
 * the first kind has an int64 (quantity_as_int64), and the float is made from value and scale. Amounts
 * finer than 10^-9 are rounded away from zero when parsed.
 *
 * A text that is already in canonical form is kept and written back as it came (`+5`, `0011`, `1.500`),
 * until an operation changes the amount. Kept texts and digits are borrowed: a quantity lives no longer
 * than the text it was parsed from and the arenas it was made in.
 *
 * Differences: reading an amount that int64 cannot hold gives INT64_MAX or INT64_MIN, where upstream
 * wraps or gives 0, and negative amounts always round away from zero. An amount that has more than
 * DECIMAL_DIGITS_MAX digits at its scale (10^-9 for those outside int64) is an error, where upstream
 * goes on until memory ends.
 *
 * Thread: any.    Owns: nothing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/strbuf.h"

enum quantity_format {
    QUANTITY_NO_FORMAT, /* a zero that was never parsed; written as DecimalExponent */
    QUANTITY_DECIMAL_SI,
    QUANTITY_BINARY_SI,
    QUANTITY_DECIMAL_EXPONENT,
};

enum { QUANTITY_NANO = -9, QUANTITY_MICRO = -6, QUANTITY_MILLI = -3 };

/* All zero is the amount 0. Private but for its size. */
struct quantity {
    int64_t value; /* with digits: only the sign, -1, 0 or 1 */
    int32_t scale; /* of ten */
    uint16_t n_digits;
    uint8_t format;        /* enum quantity_format */
    bool big;              /* `digits` instead of `value`; zero may have no digits */
    const uint8_t *digits; /* see decimal.h */
    struct str text;       /* canonical as it came; empty: to be made */
};

/* Borrows `text`. Fails with ERR_BAD_REQUEST and upstream's message. Allocates only what int64
 * cannot hold. */
enum err_code quantity_parse(struct arena *a, struct str text, struct quantity *ret_q, struct err *e)
    ERR_MUST_CHECK;
/* `json` is the raw text of the JSON value, quotes and escapes included: a string, a bare number or
 * null (zero). White space inside the quotes does not count; escapes are not resolved, as upstream. */
enum err_code quantity_parse_json(struct arena *a, struct str json, struct quantity *ret_q, struct err *e)
    ERR_MUST_CHECK;
/* quantity_parse and then quantity_scaled, without any allocation: tens of nanoseconds for `100m` or
 * `32Gi`. */
enum err_code quantity_parse_scaled(struct str text, int32_t scale, int64_t *ret_value, struct err *e)
    ERR_MUST_CHECK;

struct quantity quantity_make(int64_t number, int32_t scale, enum quantity_format format);

/* Canonical text. */
struct str quantity_text(struct arena *a, const struct quantity *q);
/* "DecimalSI", "BinarySI", "DecimalExponent" or "". */
const char *quantity_format_name(enum quantity_format format);

/* -1, 0, 1. */
int quantity_sign(const struct quantity *q);
int quantity_cmp(const struct quantity *q, const struct quantity *other);

/* The amount in units of 10^scale, rounded away from zero, between INT64_MIN and INT64_MAX. */
int64_t quantity_scaled(const struct quantity *q, int32_t scale);
static inline int64_t quantity_value(const struct quantity *q)
{
    return quantity_scaled(q, 0);
}
static inline int64_t quantity_milli(const struct quantity *q)
{
    return quantity_scaled(q, QUANTITY_MILLI);
}
/* Whether it has no thousandths, as upstream's checks find out: of an amount whose thousandths do not fit into an int64 they
 * look at what an overflow leaves of them. So 90P is whole, and 90000000000000000 is not. */
bool quantity_passes_as_whole(const struct quantity *q);
/* False when upstream has none: scale below 0 (also for 1000m), too large, or kept as digits. */
bool quantity_as_int64(const struct quantity *q, int64_t *ret_value);
/* AsApproximateFloat64, to the last bit. */
double quantity_as_double(const struct quantity *q);

/* q += y, q -= y, q *= factor. A zero q takes the format of y. Fail with ERR_BAD_REQUEST at the
 * limit of digits, and leave q as it was. `ret_exact`: upstream's result, whether the product counts
 * as an int64. */
enum err_code quantity_add(struct arena *a, struct quantity *q, const struct quantity *y, struct err *e)
    ERR_MUST_CHECK;
enum err_code quantity_sub(struct arena *a, struct quantity *q, const struct quantity *y, struct err *e)
    ERR_MUST_CHECK;
enum err_code quantity_mul(struct arena *a, struct quantity *q, int64_t factor, bool *ret_exact,
                           struct err *e) ERR_MUST_CHECK;
void quantity_neg(struct quantity *q);
/* Away from zero to a multiple of 10^scale; `ret_exact` when nothing was lost. */
enum err_code quantity_round_up(struct arena *a, struct quantity *q, int32_t scale, bool *ret_exact,
                                struct err *e) ERR_MUST_CHECK;
