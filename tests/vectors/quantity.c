/* tests/vectors/quantity.c - families of quantity.jsonl: parse, pair, sum, number, json.
 *
 * Left out, and only at the scales that a record names: what upstream reads where int64 has no room
 * (`overflow`) or where it does not round away from zero (`wrong`). */
#include <math.h>
#include <stdlib.h>

#include "api/quantity.h"
#include "api/quantity_priv.h"
#include "tests/vectors/vectors.h"

static const int32_t scales[] = { -9, -6, -3, 0, 3, 6, 9, 12, 15, 18 };

static bool lists_scale(yyjson_val *list, int32_t scale)
{
    for (size_t i = 0; i < yyjson_arr_size(list); i++)
        if (yyjson_get_sint(yyjson_arr_get(list, i)) == scale)
            return true;
    return false;
}

static bool may_differ(struct vector_case *c, int32_t scale)
{
    return lists_scale(yyjson_obj_get(c->record, "overflow"), scale) ||
           lists_scale(yyjson_obj_get(c->record, "wrong"), scale);
}

static void check_text(struct vector_case *c, const char *what, const struct quantity *q, struct str want)
{
    vector_text(c, what, quantity_text(c->arena, q), want);
}

static void check_format(struct vector_case *c, const struct quantity *q)
{
    vector_text(c, "format", str_of(quantity_format_name(q->format)), vector_str(c->record, "format"));
}

/* Parses, and compares success and message with `ok` and `error` of the record. */
static bool parse(struct vector_case *c, struct str text, bool json, struct quantity *ret_q)
{
    struct err e;
    err_init(&e, c->arena);
    bool want = vector_bool(c->record, "ok");
    bool ok = !(json ? quantity_parse_json(c->arena, text, ret_q, &e)
                     : quantity_parse(c->arena, text, ret_q, &e));
    if (ok != want)
        vector_mismatch(c, "%.*s: %s", STR_ARG(text), ok ? "parses, want an error" : e.message);
    else if (!ok)
        vector_text(c, "error", str_of(e.message), vector_str(c->record, "error"));
    return ok && want;
}

/* For an operand that must parse. */
static struct quantity operand(struct vector_case *c, struct str text)
{
    struct quantity q = { 0 };
    struct err e;
    err_init(&e, c->arena);
    if (quantity_parse(c->arena, text, &q, &e))
        vector_mismatch(c, "%.*s: %s", STR_ARG(text), e.message);
    return q;
}

/* `exact` is plain decimal: [-]digits[.digits][eexponent], of any fineness. */
static void check_exact(struct vector_case *c, const struct quantity *q)
{
    struct str text = vector_str(c->record, "exact");
    struct str number = str_first(text, str_index(text, 'e'));
    bool negative = str_starts(number, STR("-"));
    number = str_from(number, negative);
    size_t point = str_index(number, '.');
    struct str denom = str_from(number, point + 1), exponent = str_from(text, str_index(text, 'e') + 1);
    struct decimal_buf want;
    decimal_start(&want);
    if (!decimal_append(&want, str_first(number, point)) || !decimal_append(&want, denom)) {
        vector_mismatch(c, "exact is too long");
        return;
    }
    want.sign = want.n == 0 ? 0 : negative ? -1 : 1;
    want.exponent = (exponent.n ? atoll(arena_cstr(c->arena, exponent)) : 0) - (int64_t)denom.n;
    uint8_t room[DECIMAL_INT64_DIGITS];
    if (decimal_cmp(quantity_decimal(q, room), decimal_of(&want)) != 0)
        vector_mismatch(c, "exact amount differs from %.*s", STR_ARG(text));
}

/* A record without `scaled` and what follows is of an amount that no scale brings into int64. */
static void check_beyond_int64(struct vector_case *c, const struct quantity *q)
{
    int64_t end = quantity_sign(q) < 0 ? INT64_MIN : INT64_MAX;
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
        vector_int(c, "scaled", quantity_scaled(q, scales[i]), end);
}

static void check_readers(struct vector_case *c, const struct quantity *q)
{
    yyjson_val *scaled = yyjson_obj_get(c->record, "scaled");
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
        if (!may_differ(c, scales[i]))
            vector_int(c, "scaled", quantity_scaled(q, scales[i]),
                       yyjson_get_sint(yyjson_arr_get(scaled, i)));
    if (!may_differ(c, 0))
        vector_int(c, "value", quantity_value(q), vector_num(c->record, "value"));
    if (!may_differ(c, QUANTITY_MILLI))
        vector_int(c, "milli", quantity_milli(q), vector_num(c->record, "milli"));
    int64_t number = 0;
    vector_int(c, "has an int64", quantity_as_int64(q, &number), vector_has(c->record, "asInt64"));
    vector_int(c, "asInt64", number, vector_num(c->record, "asInt64"));
}

static void check_float(struct vector_case *c, const struct quantity *q)
{
    double got = quantity_as_double(q);
    const char *text = isinf(got) ? (got < 0 ? "-Inf" : "+Inf")
                       : isnan(got) ? "NaN" : arena_printf(c->arena, "%.17g", got);
    vector_text(c, "float", str_of(text), vector_str(c->record, "float"));
}

static void check_round_up(struct vector_case *c, const struct quantity *q)
{
    yyjson_val *list = yyjson_obj_get(c->record, "roundUp");
    for (size_t i = 0; i < yyjson_arr_size(list); i++) {
        yyjson_val *want = yyjson_arr_get(list, i);
        struct quantity rounded = *q;
        bool exact = false;
        struct err e;
        err_init(&e, c->arena);
        if (quantity_round_up(c->arena, &rounded, (int32_t)vector_num(want, "scale"), &exact, &e))
            vector_mismatch(c, "rounding: %s", e.message);
        check_text(c, "rounded up", &rounded, vector_str(want, "out"));
        vector_int(c, "rounded exactly", exact, vector_bool(want, "exact"));
    }
}

static void check_amount(struct vector_case *c, const struct quantity *q)
{
    check_text(c, "out", q, vector_str(c->record, "out"));
    check_format(c, q);
    vector_int(c, "sign", quantity_sign(q), vector_num(c->record, "sign"));
    check_exact(c, q);
    if (!vector_has(c->record, "scaled")) {
        check_beyond_int64(c, q);
        return;
    }
    check_readers(c, q);
    check_float(c, q);
    check_round_up(c, q);
}

/* The short way must give what the long one gives. */
static void check_short_way(struct vector_case *c, struct str text, const struct quantity *q)
{
    struct err e;
    err_init(&e, c->arena);
    for (int32_t scale = QUANTITY_MILLI; scale <= 0; scale += 3) {
        int64_t value = 0;
        if (quantity_parse_scaled(text, scale, &value, &e))
            vector_mismatch(c, "short way: %s", e.message);
        vector_int(c, "short way", value, quantity_scaled(q, scale));
    }
}

static void check_parse(struct vector_case *c)
{
    struct str text = vector_bytes(c, "in");
    struct quantity q;
    if (!parse(c, text, false, &q))
        return;
    check_amount(c, &q);
    check_short_way(c, text, &q);
}

static void check_pair(struct vector_case *c)
{
    struct quantity q = operand(c, vector_str(c->record, "in"));
    struct quantity with = operand(c, vector_str(c->record, "with"));
    struct quantity sum = q, diff = q, neg = q, product = q;
    bool exact = false;
    struct err e;
    err_init(&e, c->arena);
    vector_int(c, "cmp", quantity_cmp(&q, &with), vector_num(c->record, "cmp"));
    if (quantity_add(c->arena, &sum, &with, &e) || quantity_sub(c->arena, &diff, &with, &e) ||
        quantity_mul(c->arena, &product, vector_num(c->record, "factor"), &exact, &e))
        vector_mismatch(c, "pair: %s", e.message);
    quantity_neg(&neg);
    check_text(c, "sum", &sum, vector_str(c->record, "sum"));
    check_format(c, &sum);
    check_text(c, "diff", &diff, vector_str(c->record, "diff"));
    check_text(c, "neg", &neg, vector_str(c->record, "neg"));
    check_text(c, "product", &product, vector_str(c->record, "product"));
    vector_int(c, "productExact", exact, vector_bool(c->record, "productExact"));
}

static void check_sum(struct vector_case *c)
{
    struct quantity sum = { 0 };
    yyjson_val *list = yyjson_obj_get(c->record, "in");
    struct err e;
    err_init(&e, c->arena);
    for (size_t i = 0; i < yyjson_arr_size(list); i++) {
        yyjson_val *text = yyjson_arr_get(list, i);
        struct quantity q = operand(c, (struct str){ yyjson_get_str(text), yyjson_get_len(text) });
        if (quantity_add(c->arena, &sum, &q, &e))
            vector_mismatch(c, "sum: %s", e.message);
    }
    check_text(c, "out", &sum, vector_str(c->record, "out"));
    check_format(c, &sum);
    vector_int(c, "value", quantity_value(&sum), vector_num(c->record, "value"));
    vector_int(c, "milli", quantity_milli(&sum), vector_num(c->record, "milli"));
}

static enum quantity_format format_named(struct str name)
{
    for (int format = QUANTITY_NO_FORMAT; format <= QUANTITY_DECIMAL_EXPONENT; format++)
        if (str_is(name, quantity_format_name((enum quantity_format)format)))
            return (enum quantity_format)format;
    return QUANTITY_NO_FORMAT;
}

static void check_number(struct vector_case *c)
{
    int32_t scale = (int32_t)vector_num(c->record, "scale");
    enum quantity_format format = format_named(vector_str(c->record, "in"));
    struct quantity q = quantity_make(vector_num(c->record, "number"), scale, format);
    check_amount(c, &q);
}

static void check_json(struct vector_case *c)
{
    struct quantity q;
    if (!parse(c, vector_bytes(c, "in"), true, &q))
        return;
    struct str text = quantity_text(c->arena, &q);
    vector_text(c, "out", str_of(arena_printf(c->arena, "\"%.*s\"", STR_ARG(text))),
                vector_str(c->record, "out"));
}

void check_quantity(struct vector_case *c)
{
    static const struct {
        const char *family;
        void (*check)(struct vector_case *c);
    } checks[] = {
        { "parse", check_parse }, { "pair", check_pair }, { "sum", check_sum },
        { "number", check_number }, { "json", check_json },
    };
    struct str family = vector_str(c->record, "family");
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
        if (str_is(family, checks[i].family)) {
            checks[i].check(c);
            return;
        }
    vector_mismatch(c, "family %.*s is not known", STR_ARG(family));
}
