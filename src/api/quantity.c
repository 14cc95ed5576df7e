/* api/quantity.c - see quantity.h. From top to bottom: int64 helpers, arithmetic, readers, printing.
 * Parsing is in quantity_parse.c. */
#include "api/quantity.h"

#include <assert.h>
#include <math.h>

#include "api/quantity_priv.h"

enum { POW10_MAX = 18 };

static const int64_t pow10_int64[POW10_MAX + 1] = {
    1,
    10,
    100,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    10000000000,
    100000000000,
    1000000000000,
    10000000000000,
    100000000000000,
    1000000000000000,
    10000000000000000,
    100000000000000000,
    1000000000000000000,
};

/* value * 10^n, n >= 0; false when that does not fit. */
static bool scale_up(int64_t value, int64_t n, int64_t *ret)
{
    *ret = 0;
    if (value == 0)
        return true;
    return n <= POW10_MAX && !__builtin_mul_overflow(value, pow10_int64[n], ret);
}

/* value / 10^n rounded away from zero, n >= 0. */
static int64_t scale_down(int64_t value, int64_t n, bool *ret_exact)
{
    int64_t quotient = n > POW10_MAX ? 0 : value / pow10_int64[n];
    int64_t rest = n > POW10_MAX ? value : value % pow10_int64[n];
    *ret_exact = rest == 0;
    return quotient + (rest > 0) - (rest < 0);
}

static enum err_code too_many_digits(struct err *e)
{
    return err_set(e, ERR_BAD_REQUEST, "quantity has more than %d digits", DECIMAL_DIGITS_MAX);
}

struct decimal quantity_decimal(const struct quantity *q, uint8_t room[DECIMAL_INT64_DIGITS])
{
    if (q->big)
        return (struct decimal){ (int)q->value, q->n_digits, q->scale, q->digits };
    return decimal_of_int(q->value, q->scale, room);
}

static int32_t clamp_scale(int64_t scale)
{
    return scale < INT32_MIN ? INT32_MIN : scale > INT32_MAX ? INT32_MAX : (int32_t)scale;
}

/* Only a zero has an exponent beyond int32, and there it means nothing. */
void quantity_set_decimal(struct arena *a, struct quantity *q, const struct decimal_buf *d)
{
    assert(d->n <= DECIMAL_DIGITS_MAX);
    struct str copy = d->n ? arena_str(a, (struct str){ (const char *)d->digits, d->n }) : STR("");
    q->big = true;
    q->value = d->sign;
    q->scale = clamp_scale(d->exponent);
    q->n_digits = (uint16_t)d->n;
    q->digits = (const uint8_t *)copy.p;
    q->text = (struct str){ 0 };
}

static void set_int(struct quantity *q, int64_t value, int32_t scale)
{
    q->value = value;
    q->scale = scale;
    q->text = (struct str){ 0 };
}

struct quantity quantity_make(int64_t number, int32_t scale, enum quantity_format format)
{
    return (struct quantity){ .value = number, .scale = scale, .format = (uint8_t)format };
}

/* q += y for two int64 amounts; false, with q untouched, when the sum needs digits. */
static bool add_ints(struct quantity *q, const struct quantity *y)
{
    if (q->big || y->big)
        return false;
    if (q->value == 0 || y->value == 0) {
        const struct quantity *sum = y->value == 0 ? q : y;
        set_int(q, sum->value, sum->scale);
        return true;
    }
    bool q_higher = q->scale > y->scale;
    const struct quantity *high = q_higher ? q : y, *low = q_higher ? y : q;
    int64_t sum;
    if (!scale_up(high->value, (int64_t)high->scale - low->scale, &sum) ||
        __builtin_add_overflow(sum, low->value, &sum))
        return false;
    set_int(q, sum, low->scale);
    return true;
}

enum err_code quantity_add(struct arena *a, struct quantity *q, const struct quantity *y, struct err *e)
{
    uint8_t format = quantity_sign(q) == 0 ? y->format : q->format;
    if (!add_ints(q, y)) {
        uint8_t q_room[DECIMAL_INT64_DIGITS], y_room[DECIMAL_INT64_DIGITS];
        struct decimal_buf sum;
        if (!decimal_add(quantity_decimal(q, q_room), quantity_decimal(y, y_room), &sum))
            return too_many_digits(e);
        quantity_set_decimal(a, q, &sum);
    }
    q->format = format;
    return ERR_OK;
}

enum err_code quantity_sub(struct arena *a, struct quantity *q, const struct quantity *y, struct err *e)
{
    struct quantity minus = *y;
    quantity_neg(&minus);
    return quantity_add(a, q, &minus, e);
}

/* -2^63 is the one int64 whose negative is none. */
static const uint8_t two_to_63[] = { 9, 2, 2, 3, 3, 7, 2, 0, 3, 6, 8, 5, 4, 7, 7, 5, 8, 0, 8 };

void quantity_neg(struct quantity *q)
{
    q->text = (struct str){ 0 };
    if (q->value != INT64_MIN) {
        q->value = -q->value;
        return;
    }
    q->big = true;
    q->value = 1;
    q->digits = two_to_63;
    q->n_digits = sizeof(two_to_63);
}

/* As upstream: a product that is not an integer, or not an int64 as an integer, goes on as digits. */
static bool mul_int(struct quantity *q, int64_t factor)
{
    int64_t product, unused;
    bool integer = true;
    if (q->big || __builtin_mul_overflow(q->value, factor, &product))
        return false;
    if (product == 0) {
        set_int(q, 0, q->value == 0 ? q->scale : 0);
        return true;
    }
    if (q->scale < 0)
        scale_down(product, -(int64_t)q->scale, &integer);
    else
        integer = scale_up(product, q->scale, &unused);
    if (integer)
        set_int(q, product, q->scale);
    return integer;
}

enum err_code quantity_mul(struct arena *a, struct quantity *q, int64_t factor, bool *ret_exact,
                           struct err *e)
{
    if (mul_int(q, factor)) {
        *ret_exact = true;
        return ERR_OK;
    }
    uint8_t room[DECIMAL_INT64_DIGITS];
    struct decimal_buf product;
    decimal_copy(quantity_decimal(q, room), &product);
    decimal_mul(&product, factor < 0 ? -(uint64_t)factor : (uint64_t)factor);
    if (product.n > DECIMAL_DIGITS_MAX)
        return too_many_digits(e);
    if (factor < 0)
        product.sign = -product.sign;
    quantity_set_decimal(a, q, &product);
    *ret_exact = decimal_digits_fit_int64(decimal_of(&product));
    return ERR_OK;
}

enum err_code quantity_round_up(struct arena *a, struct quantity *q, int32_t scale, bool *ret_exact,
                                struct err *e)
{
    if (!q->big) {
        *ret_exact = true;
        if (q->scale < scale)
            set_int(q, scale_down(q->value, (int64_t)scale - q->scale, ret_exact), scale);
        return ERR_OK;
    }
    struct decimal_buf rounded;
    bool exact;
    decimal_copy(quantity_decimal(q, NULL), &rounded);
    if (!decimal_round_up(&rounded, scale, &exact))
        return too_many_digits(e);
    quantity_set_decimal(a, q, &rounded);
    *ret_exact = exact;
    return ERR_OK;
}

int quantity_sign(const struct quantity *q)
{
    return (q->value > 0) - (q->value < 0);
}

int quantity_cmp(const struct quantity *q, const struct quantity *other)
{
    if (!q->big && !other->big && q->scale == other->scale)
        return (q->value > other->value) - (q->value < other->value);
    uint8_t room[DECIMAL_INT64_DIGITS], other_room[DECIMAL_INT64_DIGITS];
    return decimal_cmp(quantity_decimal(q, room), quantity_decimal(other, other_room));
}

int64_t quantity_scaled(const struct quantity *q, int32_t scale)
{
    if (q->big)
        return decimal_scaled(quantity_decimal(q, NULL), scale);
    int64_t value;
    bool exact;
    if (q->scale < scale)
        return scale_down(q->value, (int64_t)scale - q->scale, &exact);
    if (scale_up(q->value, (int64_t)q->scale - scale, &value))
        return value;
    return q->value < 0 ? INT64_MIN : INT64_MAX;
}

bool quantity_passes_as_whole(const struct quantity *q)
{
    int64_t n = (int64_t)q->scale - QUANTITY_MILLI, value;
    if (q->big || n < 0 || scale_up(q->value, n, &value))
        return quantity_milli(q) % 1000 == 0;
    bool at_once = n <= 3 || n == 6 || n == 9; /* other powers are multiplied up step by step, and overflow is seen: 0 */
    return !at_once || (int64_t)((uint64_t)q->value * (uint64_t)pow10_int64[n]) % 1000 == 0;
}

bool quantity_as_int64(const struct quantity *q, int64_t *ret_value)
{
    int64_t value;
    if (q->big || q->scale < 0 || !scale_up(q->value, q->scale, &value))
        return false;
    *ret_value = value;
    return true;
}

/* Go's math.Pow10, which is not the nearest double for every n: a product or quotient of two that are. */
static double go_pow10(int32_t n)
{
    static const double low[] = { 1e00, 1e01, 1e02, 1e03, 1e04, 1e05, 1e06, 1e07, 1e08, 1e09, 1e10,
                                  1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
                                  1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31 };
    static const double up[] = { 1e00,  1e32,  1e64,  1e96,  1e128, 1e160, 1e192, 1e224, 1e256, 1e288 };
    static const double down[] = { 1e-00,  1e-32,  1e-64,  1e-96,  1e-128, 1e-160,
                                   1e-192, 1e-224, 1e-256, 1e-288, 1e-320 };
    if (n > 308)
        return INFINITY;
    if (n < -323)
        return 0;
    return n >= 0 ? up[n / 32] * low[n % 32] : down[-n / 32] / low[-n % 32];
}

double quantity_as_double(const struct quantity *q)
{
    double base = q->big ? decimal_digits_as_double(quantity_decimal(q, NULL)) : (double)q->value;
    return q->scale == 0 ? base : base * go_pow10(q->scale);
}

/* A tail of digits that upstream would move into the exponent. */
static uint32_t n_trailing_zeros(struct decimal d)
{
    uint32_t n = 0;
    while (n < d.n && d.digits[d.n - 1 - n] == 0)
        n++;
    return n;
}

static void add_digits(struct strbuf *b, struct decimal d)
{
    if (d.sign < 0)
        strbuf_add_char(b, '-');
    char *to = strbuf_reserve(b, d.n);
    if (!to)
        return;
    for (uint32_t i = 0; i < d.n; i++)
        to[i] = (char)('0' + d.digits[i]);
    strbuf_commit(b, d.n);
}

/* As upstream: beyond n and E there is no suffix, and none is written (`1000E` becomes `1`). */
static void add_decimal_suffix(struct strbuf *b, int32_t exponent, bool exponent_form)
{
    static const char *const suffixes[] = { "n", "u", "m", "", "k", "M", "G", "T", "P", "E" };
    if (exponent_form && exponent != 0) {
        strbuf_add_char(b, 'e');
        strbuf_add_int(b, exponent);
    } else if (exponent >= -9 && exponent <= 18) {
        strbuf_add_text(b, suffixes[(exponent + 9) / 3]);
    }
}

/* Exponents wrap at 32 bits, as upstream. */
static void add_decimal_form(struct strbuf *b, struct decimal d, bool exponent_form)
{
    uint32_t n_zeros = n_trailing_zeros(d);
    d.n -= n_zeros;
    int32_t exponent = (int32_t)(uint32_t)(d.exponent + n_zeros);
    int n_back = (exponent % 3 + 3) % 3;
    add_digits(b, d);
    for (int i = 0; i < n_back; i++)
        strbuf_add_char(b, '0');
    add_decimal_suffix(b, (int32_t)((uint32_t)exponent - (uint32_t)n_back), exponent_form);
}

/* False, with nothing written, when the amount is too small, not whole, or too long for it. */
static bool add_binary_form(struct strbuf *b, struct decimal d)
{
    static const char *const suffixes[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
    static const uint8_t limit_digits[] = { 1, 0, 2, 4 };
    struct decimal limit = { d.sign, sizeof(limit_digits), 0, limit_digits };
    struct decimal_buf rest;
    bool exact;
    if (decimal_cmp(d, limit) * d.sign < 0 || !decimal_is_integer(d))
        return false;
    decimal_copy(d, &rest);
    if (!decimal_round_up(&rest, 0, &exact))
        return false;
    size_t n_steps = 0;
    while (decimal_divide_exact(&rest, 1024))
        n_steps++;
    add_digits(b, decimal_of(&rest));
    if (n_steps < sizeof(suffixes) / sizeof(suffixes[0]))
        strbuf_add_text(b, suffixes[n_steps]);
    return true;
}

/* As upstream, which looks for factors of 1024 in the positive counterpart of an int64: -8Ei has none. */
static bool has_binary_form(const struct quantity *q)
{
    bool lowest = !q->big && q->value == INT64_MIN && q->scale == 0;
    return q->format == QUANTITY_BINARY_SI && !lowest;
}

static void add_text(struct strbuf *b, const struct quantity *q)
{
    if (q->text.n) {
        strbuf_add_str(b, q->text);
        return;
    }
    if (quantity_sign(q) == 0) {
        strbuf_add_char(b, '0');
        return;
    }
    uint8_t room[DECIMAL_INT64_DIGITS];
    struct decimal d = quantity_decimal(q, room);
    bool exponent_form = q->format == QUANTITY_DECIMAL_EXPONENT || q->format == QUANTITY_NO_FORMAT;
    if (!has_binary_form(q) || !add_binary_form(b, d))
        add_decimal_form(b, d, exponent_form);
}

struct str quantity_text(struct arena *a, const struct quantity *q)
{
    if (q->text.n)
        return q->text;
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    add_text(&b, q);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

const char *quantity_format_name(enum quantity_format format)
{
    static const char *const names[] = { "", "DecimalSI", "BinarySI", "DecimalExponent" };
    return names[format];
}
