/* api/quantity_parse.c - texts to quantities; see quantity.h.
 *
 * A text is [sign] digits [. digits] suffix, where the suffix is a run of letters out of eEinumkKMGTP,
 * a sign and digits, and must then be a known one. Three ways lead through:
 *   1. quantity_parse_scaled alone: plain digits and a usual suffix, straight to the int64.
 *   2. at most 18 digits, not finer than n, or a whole binary number of some 14 digits: int64 value and
 *      scale.
 *   3. everything else: exact decimal, rounded away from zero to n, binary amounts capped at 2^63-1.
 * Where 2 ends and 3 begins is upstream's choice, and visible (see quantity.h). */
#include <string.h>

#include "api/quantity_priv.h"
#include "base/utf8.h"

#define FORMAT_WRONG \
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
#define NUMERIC_WRONG "unable to parse numeric part of quantity"
#define SUFFIX_WRONG "unable to parse quantity's suffix"

enum {
    INT_DIGITS_MAX = 18,    /* of way 2 */
    BINARY_DIGITS_MAX = 14, /* of way 2, the suffix counted as 3 digits a step */
};

struct parts {
    bool negative, has_digits;
    struct str num;   /* digits before the point without leading zeros; "0" if there are none */
    struct str denom; /* digits after it */
    struct str suffix;
};

struct unit {
    int base; /* 10 or 2 */
    int32_t exponent;
    enum quantity_format format;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t skip_digits(struct str s, size_t at)
{
    while (at < s.n && is_digit(s.p[at]))
        at++;
    return at;
}

static bool is_sign(struct str s, size_t at)
{
    return at < s.n && (s.p[at] == '-' || s.p[at] == '+');
}

/* False when something is left over. */
static bool scan(struct str s, struct parts *ret)
{
    size_t start = is_sign(s, 0), at = start;
    while (at < s.n && s.p[at] == '0')
        at++;
    size_t end = skip_digits(s, at);
    ret->negative = start && s.p[0] == '-';
    ret->num = end > at ? str_range(s.p + at, s.p + end) : STR("0");
    ret->denom = (struct str){ 0 };
    ret->has_digits = end > start;
    at = end;
    if (at < s.n && s.p[at] == '.') {
        end = skip_digits(s, ++at);
        ret->denom = str_range(s.p + at, s.p + end);
        ret->has_digits |= end > at;
        at = end;
    }
    ret->suffix = str_from(s, at);
    while (at < s.n && s.p[at] && strchr("eEinumkKMGTP", s.p[at]))
        at++;
    return skip_digits(s, at + is_sign(s, at)) == s.n;
}

/* A decimal int64, cut to 32 bits: 4294967299 is 3, as upstream. */
static bool parse_exponent(struct str s, int32_t *ret)
{
    bool negative = s.n && s.p[0] == '-';
    size_t at = is_sign(s, 0);
    if (at == s.n || skip_digits(s, at) != s.n)
        return false;
    int64_t value = 0;
    for (; at < s.n; at++) {
        int digit = s.p[at] - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, negative ? -digit : digit, &value))
            return false;
    }
    *ret = (int32_t)(uint32_t)(uint64_t)value;
    return true;
}

static bool decimal_unit(char suffix, int32_t *ret_exponent)
{
    static const char suffixes[] = "num kMGTPE";
    const char *at = suffix == ' ' || !suffix ? NULL : strchr(suffixes, suffix);
    if (at)
        *ret_exponent = (int32_t)(at - suffixes) * 3 - 9;
    return at != NULL;
}

static bool binary_unit(struct str suffix, int32_t *ret_exponent)
{
    static const char suffixes[] = "KMGTPE";
    const char *at = suffix.n == 2 && suffix.p[1] == 'i' && suffix.p[0] ? strchr(suffixes, suffix.p[0])
                                                                        : NULL;
    if (at)
        *ret_exponent = (int32_t)(at - suffixes + 1) * 10;
    return at != NULL;
}

static bool interpret(struct str suffix, struct unit *ret)
{
    *ret = (struct unit){ 10, 0, QUANTITY_DECIMAL_SI };
    if (suffix.n == 0)
        return true;
    if (suffix.n == 1)
        return decimal_unit(suffix.p[0], &ret->exponent);
    if (binary_unit(suffix, &ret->exponent)) {
        ret->base = 2;
        ret->format = QUANTITY_BINARY_SI;
        return true;
    }
    ret->format = QUANTITY_DECIMAL_EXPONENT;
    return (suffix.p[0] == 'e' || suffix.p[0] == 'E') &&
           parse_exponent(str_from(suffix, 1), &ret->exponent);
}

static int64_t push_digits(int64_t value, struct str digits)
{
    for (size_t i = 0; i < digits.n; i++)
        value = value * 10 + (digits.p[i] - '0');
    return value;
}

/* Way 2 for decimal suffixes. The scale wraps at 32 bits, as upstream. */
static bool parse_decimal_int(struct str text, const struct parts *p, struct unit unit,
                              struct quantity *ret_q)
{
    int32_t scale = (int32_t)((uint32_t)unit.exponent - (uint32_t)p->denom.n);
    if (p->num.n + p->denom.n > INT_DIGITS_MAX || scale < QUANTITY_NANO)
        return false;
    int64_t value = push_digits(push_digits(0, p->num), p->denom);
    bool canonical = scale % 3 == 0 && value % 1000 != 0 && p->num.p[0] != '0';
    *ret_q = quantity_make(p->negative ? -value : value, scale, unit.format);
    if (canonical)
        ret_q->text = text;
    return true;
}

/* Way 2 for binary suffixes. */
static bool parse_binary_int(struct str text, const struct parts *p, struct unit unit,
                             struct quantity *ret_q)
{
    size_t n_suffix = (size_t)unit.exponent / 10 * 3;
    if (p->denom.n || p->num.n + n_suffix > BINARY_DIGITS_MAX)
        return false;
    int64_t number = push_digits(0, p->num), value = number << unit.exponent;
    *ret_q = quantity_make(p->negative ? -value : value, 0, unit.format);
    if (number % 8 != 0)
        ret_q->text = text;
    return true;
}

static bool cap_at_int64_max(struct decimal_buf *d)
{
    uint8_t room[DECIMAL_INT64_DIGITS];
    struct decimal max = decimal_of_int(INT64_MAX, 0, room);
    bool above = decimal_cmp(decimal_of(d), max) > 0;
    if (above)
        decimal_copy(max, d);
    return above;
}

static bool below_one(const struct decimal_buf *d)
{
    uint8_t room[DECIMAL_INT64_DIGITS];
    return d->sign && decimal_cmp(decimal_of(d), decimal_of_int(1, 0, room)) < 0;
}

/* Way 3, the amount without its sign. Capping comes before rounding here: no smaller amount rounds
 * past the cap, and a long text needs no long number then. */
static bool parse_digits(const struct parts *p, struct unit unit, struct decimal_buf *d,
                         enum quantity_format *ret_format)
{
    bool exact, capped = false, binary = unit.base == 2;
    decimal_start(d);
    if (!decimal_append(d, p->num) || !decimal_append(d, p->denom))
        return false;
    d->sign = d->n > 0;
    d->exponent = -(int64_t)p->denom.n + (binary ? 0 : unit.exponent);
    if (binary) {
        decimal_mul(d, 1ull << unit.exponent);
        capped = cap_at_int64_max(d);
    }
    if (d->sign && !capped && !decimal_round_up(d, QUANTITY_NANO, &exact))
        return false;
    *ret_format = binary && below_one(d) ? QUANTITY_DECIMAL_SI : unit.format;
    return true;
}

static enum err_code bad(struct err *e, const char *message)
{
    return err_set(e, ERR_BAD_REQUEST, "%s", message);
}

/* Fills `d` instead of the amount of `ret_q` when that is big. */
static enum err_code parse(struct str text, struct quantity *ret_q, struct decimal_buf *d, struct err *e)
{
    struct parts p;
    struct unit unit;
    if (text.n == 0 || !scan(text, &p))
        return bad(e, FORMAT_WRONG);
    if (!interpret(p.suffix, &unit))
        return bad(e, SUFFIX_WRONG);
    if (unit.base == 10 ? parse_decimal_int(text, &p, unit, ret_q)
                        : parse_binary_int(text, &p, unit, ret_q))
        return ERR_OK;
    if (!p.has_digits)
        return bad(e, NUMERIC_WRONG);
    enum quantity_format format;
    if (!parse_digits(&p, unit, d, &format))
        return err_set(e, ERR_BAD_REQUEST, "quantity has more than %d digits", DECIMAL_DIGITS_MAX);
    if (p.negative)
        d->sign = -d->sign;
    *ret_q = (struct quantity){ .big = true, .format = (uint8_t)format };
    return ERR_OK;
}

enum err_code quantity_parse(struct arena *a, struct str text, struct quantity *ret_q, struct err *e)
{
    struct decimal_buf d;
    struct quantity q;
    enum err_code rc = parse(text, &q, &d, e);
    if (rc)
        return rc;
    if (q.big)
        quantity_set_decimal(a, &q, &d);
    *ret_q = q;
    return ERR_OK;
}

/* unicode.IsSpace. */
static bool is_space(uint32_t rune)
{
    return (rune >= 0x09 && rune <= 0x0D) || rune == ' ' || rune == 0x85 || rune == 0xA0 ||
           rune == 0x1680 || (rune >= 0x2000 && rune <= 0x200A) || rune == 0x2028 || rune == 0x2029 ||
           rune == 0x202F || rune == 0x205F || rune == 0x3000;
}

/* Bytes of the white space at the end of a non-empty `s`, or 0. */
static size_t last_space(struct str s)
{
    for (size_t n = 1; n <= 3 && n <= s.n; n++) {
        uint32_t rune;
        struct str tail = str_from(s, s.n - n);
        if (utf8_decode(tail, &rune) == n)
            return is_space(rune) ? n : 0;
    }
    return 0;
}

static struct str trim(struct str s)
{
    uint32_t rune;
    size_t n;
    while (s.n && (n = utf8_decode(s, &rune)) && is_space(rune))
        s = str_from(s, n);
    while (s.n && (n = last_space(s)))
        s.n -= n;
    return s;
}

enum err_code quantity_parse_json(struct arena *a, struct str json, struct quantity *ret_q, struct err *e)
{
    if (str_is(json, "null")) {
        *ret_q = (struct quantity){ 0 };
        return ERR_OK;
    }
    if (json.n >= 2 && json.p[0] == '"' && json.p[json.n - 1] == '"')
        json = str_range(json.p + 1, json.p + json.n - 1);
    return quantity_parse(a, trim(json), ret_q, e);
}

/* Way 1: digits alone or with one of m k M G T P E Ki Mi Gi Ti Pi Ei, in units or in thousandths. */
static bool parse_plain(struct str s, int32_t scale, int64_t *ret_value)
{
    int64_t value = 0, factor = 1;
    int32_t exponent = 0;
    size_t at = 0;
    for (; at < s.n && is_digit(s.p[at]); at++)
        value = value * 10 + (s.p[at] - '0');
    struct str suffix = str_from(s, at);
    if (at == 0 || suffix.n > 2)
        return false;
    if (suffix.n == 2 && !binary_unit(suffix, &exponent))
        return false;
    factor = 1ll << exponent;
    exponent = 0;
    if (suffix.n == 1 && (!decimal_unit(suffix.p[0], &exponent) || exponent < QUANTITY_MILLI))
        return false;
    if (exponent < scale) {
        *ret_value = value / 1000 + (value % 1000 != 0);
        return true;
    }
    for (; exponent > scale; exponent -= 3)
        if (__builtin_mul_overflow(factor, 1000, &factor))
            return false;
    return !__builtin_mul_overflow(value, factor, ret_value);
}

/* The rest of quantity_parse_scaled, apart for its large frame. */
__attribute__((noinline)) static enum err_code parse_scaled_slow(struct str text, int32_t scale,
                                                                 int64_t *ret_value, struct err *e)
{
    struct decimal_buf d;
    struct quantity q;
    enum err_code rc = parse(text, &q, &d, e);
    if (rc)
        return rc;
    *ret_value = q.big ? decimal_scaled(decimal_of(&d), scale) : quantity_scaled(&q, scale);
    return ERR_OK;
}

enum err_code quantity_parse_scaled(struct str text, int32_t scale, int64_t *ret_value, struct err *e)
{
    enum { PLAIN_BYTES_MAX = 18 }; /* so that the digits fit int64 */
    int64_t value;
    if (text.n <= PLAIN_BYTES_MAX && (scale == 0 || scale == QUANTITY_MILLI) &&
        parse_plain(text, scale, &value)) {
        *ret_value = value;
        return ERR_OK;
    }
    return parse_scaled_slow(text, scale, ret_value, e);
}
