/* codec/json_scalar.c - decoding values that hold no others: see json_priv.h.
 *
 * Two kinds of errors. Strings, numbers, bools and bytes are read by the decoder itself: a value of another
 * type is noted. Times, durations, quantities and int-or-strings read their own text upstream, and what they
 * refuse is fatal. */
#include "codec/json_priv.h"

#include <math.h>
#include <stdlib.h>

#include "api/duration.h"
#include "api/quantity.h"
#include "api/time.h"
#include "base/base64.h"

static bool is_number(char c)
{
    return c == '-' || (c >= '0' && c <= '9');
}

bool json_parse_int64(struct str number, int64_t *ret_value)
{
    bool negative = number.p[0] == '-';
    uint64_t value = 0, max = negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
    for (size_t i = negative; i < number.n; i++) {
        unsigned digit = (unsigned)number.p[i] - '0';
        if (digit > 9 || value > (max - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *ret_value = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

static bool int_in_range(struct str number, enum field_kind kind, int64_t *ret_value)
{
    if (!json_parse_int64(number, ret_value))
        return false;
    switch (kind) {
    case KIND_INT32:
        return *ret_value >= INT32_MIN && *ret_value <= INT32_MAX;
    case KIND_UINT32:
        return number.p[0] != '-' && *ret_value <= UINT32_MAX;
    default:
        return true;
    }
}

static bool decode_int(struct decoder *d, enum field_kind kind, const char *go_type, struct value *v)
{
    if (!is_number(json_peek(&d->scan)))
        return json_mismatch(d, go_type);
    struct str number;
    int64_t value;
    if (!json_scan_number(&d->scan, &number))
        return false;
    if (!int_in_range(number, kind, &value))
        return json_mismatch_number(d, number, go_type);
    *v = value_int(value);
    return true;
}

bool json_parse_double(struct str number, double *ret_value)
{
    char small[64], *copy = number.n < sizeof(small) ? small : mem_alloc(number.n + 1);
    memcpy(copy, number.p, number.n);
    copy[number.n] = '\0';
    *ret_value = strtod(copy, NULL);
    if (copy != small)
        free(copy);
    return isfinite(*ret_value);
}

static bool decode_double(struct decoder *d, enum field_kind kind, const char *go_type, struct value *v)
{
    if (!is_number(json_peek(&d->scan)))
        return json_mismatch(d, go_type);
    struct str number;
    double value;
    if (!json_scan_number(&d->scan, &number))
        return false;
    bool fits = json_parse_double(number, &value);
    if (fits && kind == KIND_FLOAT) {
        value = (double)(float)value;
        fits = isfinite(value);
    }
    if (!fits)
        return json_mismatch_number(d, number, go_type);
    *v = value_double(value);
    return true;
}

static bool decode_bool(struct decoder *d, const char *go_type, struct value *v)
{
    char c = json_peek(&d->scan);
    if (c != 't' && c != 'f')
        return json_mismatch(d, go_type);
    *v = value_bool(c == 't');
    return json_scan_word(&d->scan, c == 't' ? STR("true") : STR("false"));
}

static bool decode_text(struct decoder *d, struct str *ret_text)
{
    struct json_text token;
    if (!json_scan_string(&d->scan, &token))
        return false;
    *ret_text = json_unescape(d->arena, token);
    return true;
}

static bool decode_string(struct decoder *d, const char *go_type, struct value *v)
{
    if (json_peek(&d->scan) != '"')
        return json_mismatch(d, go_type);
    struct str text;
    if (!decode_text(d, &text))
        return false;
    *v = value_string(text);
    return true;
}

/* One byte as a number; null leaves what is there. */
static bool decode_byte(struct decoder *d, char *byte)
{
    char c = json_peek(&d->scan);
    struct str number;
    int64_t value;
    if (c == 'n')
        return json_scan_word(&d->scan, STR("null"));
    if (!is_number(c))
        return json_mismatch(d, "uint8");
    if (!json_scan_number(&d->scan, &number))
        return false;
    if (!json_parse_int64(number, &value) || number.p[0] == '-' || value > UINT8_MAX)
        return json_mismatch_number(d, number, "uint8");
    *byte = (char)value;
    return true;
}

/* Bytes as a list of numbers, decoded over those that were there before. */
static bool decode_byte_list(struct decoder *d, struct value *v)
{
    struct strbuf bytes;
    strbuf_init(&bytes, STRBUF_NO_MAX);
    struct str before = value_text(v);
    bool first = true, fault, ok = json_enter(&d->scan, '[');
    for (size_t i = 0; ok && json_next(&d->scan, ']', &first, &fault); i++) {
        char byte = i < before.n ? before.p[i] : 0;
        ok = decode_byte(d, &byte);
        strbuf_add_char(&bytes, byte);
    }
    if (ok && !fault)
        *v = value_bytes(arena_str(d->arena, strbuf_str(&bytes)));
    strbuf_fini(&bytes);
    return ok && !fault;
}

static bool decode_bytes(struct decoder *d, const char *go_type, struct value *v)
{
    char c = json_peek(&d->scan);
    if (c == '[')
        return decode_byte_list(d, v);
    if (c != '"')
        return json_mismatch(d, go_type);
    struct str text, bytes;
    size_t bad_at;
    if (!decode_text(d, &text))
        return false;
    if (base64_decode(d->arena, text, &bytes, &bad_at))
        *v = value_bytes(bytes);
    else
        json_note(d, arena_printf(d->arena, "illegal base64 data at input byte %zu", bad_at));
    return true;
}

static bool decode_time(struct decoder *d, bool micro, struct value *v)
{
    if (json_peek(&d->scan) != '"')
        return json_fatal_mismatch(d, "string");
    struct str text;
    if (!decode_text(d, &text))
        return false;
    struct timestamp time;
    struct err e;
    err_init(&e, d->arena);
    if (micro ? timestamp_parse_micro(text, &time, &e) : timestamp_parse(text, &time, &e))
        return json_fatal(d, e.message);
    *v = value_time(time.seconds, (uint32_t)time.nanos);
    return true;
}

static bool decode_duration(struct decoder *d, struct value *v)
{
    if (json_peek(&d->scan) != '"')
        return json_fatal_mismatch(d, "string");
    struct str text;
    int64_t ns;
    if (!decode_text(d, &text))
        return false;
    struct err e;
    err_init(&e, d->arena);
    if (duration_parse(text, &ns, &e))
        return json_fatal(d, e.message);
    *v = value_int(ns);
    return true;
}

static bool decode_quantity(struct decoder *d, struct value *v)
{
    struct str json;
    if (!json_scan_value(&d->scan, &json))
        return false;
    struct quantity q;
    struct err e;
    err_init(&e, d->arena);
    if (quantity_parse_json(d->arena, json, &q, &e))
        return json_fatal(d, e.message);
    if (!work_take(d->work, q.n_digits)) {
        (void)work_error(&e);
        return json_fatal(d, e.message);
    }
    *v = value_string(q.text.n ? q.text : quantity_text(d->arena, &q));
    return true;
}

static bool decode_int_or_string(struct decoder *d, struct value *v)
{
    char c = json_peek(&d->scan);
    struct str text;
    int64_t value;
    if (c == '"') {
        if (!decode_text(d, &text))
            return false;
        *v = value_string(text);
        return true;
    }
    if (!is_number(c))
        return json_fatal_mismatch(d, "int32");
    if (!json_scan_number(&d->scan, &text))
        return false;
    if (!int_in_range(text, KIND_INT32, &value))
        return json_fatal_mismatch_number(d, text, "int32");
    *v = value_int(value);
    return true;
}

static bool decode_raw(struct decoder *d, struct value *v)
{
    struct str text;
    if (!json_scan_value(&d->scan, &text))
        return false;
    *v = value_raw(json_strip(d->arena, text));
    return true;
}

bool json_decode_scalar(struct decoder *d, const struct field *f, const char *go_type, struct value *v)
{
    switch ((enum field_kind)f->kind) {
    case KIND_STRING:
        return decode_string(d, go_type, v);
    case KIND_BOOL:
        return decode_bool(d, go_type, v);
    case KIND_INT32:
    case KIND_INT64:
    case KIND_UINT32:
        return decode_int(d, f->kind, go_type, v);
    case KIND_DOUBLE:
    case KIND_FLOAT:
        return decode_double(d, f->kind, go_type, v);
    case KIND_BYTES:
        return decode_bytes(d, go_type, v);
    case KIND_DURATION:
        return decode_duration(d, v);
    case KIND_TIME:
    case KIND_MICRO_TIME:
        return decode_time(d, f->kind == KIND_MICRO_TIME, v);
    case KIND_QUANTITY:
        return decode_quantity(d, v);
    case KIND_INT_OR_STRING:
        return decode_int_or_string(d, v);
    case KIND_RAW:
    case KIND_JSON:
    case KIND_FIELDS_V1:
        return decode_raw(d, v);
    case KIND_STRUCT:
        break;
    }
    return false;
}

/* A quantity keeps its text through null, though not its amount, as long as the text is the client's own. */
static bool points_into(struct str text, const struct value *v)
{
    return v->kind == VALUE_STRING && v->s >= text.p && v->s < text.p + text.n;
}

void json_null_scalar(struct decoder *d, const struct field *f, struct value *v)
{
    switch ((enum field_kind)f->kind) {
    case KIND_BYTES:
    case KIND_TIME:
    case KIND_MICRO_TIME:
        *v = (struct value){ 0 };
        return;
    case KIND_QUANTITY:
        if (!points_into(d->text, v))
            *v = (struct value){ 0 };
        return;
    case KIND_INT_OR_STRING:
        if (v->kind == VALUE_STRING) /* upstream goes back to its number, which was never set */
            *v = (struct value){ 0 };
        return;
    default:
        return; /* the rest keeps its value */
    }
}
