/* codec/json_encode.c - see json.h: the bytes that the API server writes.
 *
 * A member is written with a comma in front; closing its object turns the first comma into the brace. */
#include "codec/json.h"

#include <assert.h>

#include "api/duration.h"
#include "api/time.h"
#include "base/base64.h"
#include "base/float.h"
#include "base/utf8.h"
#include "codec/json_scan.h"

static void encode_struct(struct strbuf *to, const struct type *t, const struct value *v);

/* ---- Strings ---- */

#define ONES 0x0101010101010101ull
#define HIGHS 0x8080808080808080ull

/* High bit set in each byte that a string cannot hold as it is, or that needs a closer look: control
 * characters, '"', '\\', '<', '>', '&', from 0x80 on. Those after the first may be wrong. */
static inline uint64_t special_bytes(uint64_t word)
{
    uint64_t quote = word ^ (ONES * '"'), slash = word ^ (ONES * '\\'), amp = word ^ (ONES * '&');
    uint64_t angle = (word | ONES * 2) ^ (ONES * '>'); /* '<' and '>' differ in one bit */
    uint64_t hits = (word - ONES * 0x20) | (quote - ONES) | (slash - ONES) | (amp - ONES) | (angle - ONES);
    return (hits | word) & HIGHS;
}

static inline bool special_byte(char c)
{
    return (unsigned char)c < 0x20 || (unsigned char)c >= 0x80 || c == '"' || c == '\\' || c == '<' ||
           c == '>' || c == '&';
}

static size_t plain_prefix(struct str s)
{
    size_t at = 0;
    for (; s.n - at >= 8; at += 8) {
        uint64_t hits = special_bytes(schema_load8(s.p + at, 8));
        if (hits)
            return at + (size_t)__builtin_ctzll(hits) / 8;
    }
    while (at < s.n && !special_byte(s.p[at]))
        at++;
    return at;
}

enum { COPY_SLACK = 8 }; /* bytes that copy_short may write behind the end */

/* Names and most texts are a few words long, not worth a call of memcpy. Returns the special bytes met. */
static inline uint64_t copy_short(char *to, struct str s)
{
    if (s.n < 8) {
        uint64_t word = schema_load8(s.p, s.n);
        memcpy(to, &word, 8);
        return special_bytes(word | (ONES * ' ') << (8 * s.n));
    }
    uint64_t hits = 0, word;
    for (size_t at = 0; at + 8 <= s.n; at += 8) {
        word = schema_load8(s.p + at, 8);
        hits |= special_bytes(word);
        memcpy(to + at, &word, 8);
    }
    word = schema_load8(s.p + s.n - 8, 8); /* what is left, and some of what is done */
    memcpy(to + s.n - 8, &word, 8);
    return hits | special_bytes(word);
}

static void add_escaped_ascii(struct strbuf *to, char c)
{
    static const char letters[] = "btn\0fr"; /* 8 to 13, but not 11 */
    char *out = strbuf_reserve(to, 6);
    if (!out)
        return;
    out[0] = '\\';
    bool has_letter = c >= 8 && c <= 13 && c != 11;
    if (c == '"' || c == '\\' || has_letter) {
        out[1] = has_letter ? letters[c - 8] : c;
        strbuf_commit(to, 2);
        return;
    }
    static const char hex[] = "0123456789abcdef";
    memcpy(out + 1, "u00", 3);
    out[4] = hex[(unsigned char)c >> 4];
    out[5] = hex[c & 15];
    strbuf_commit(to, 6);
}

/* The first rune of `s`, which is special. Returns its bytes. */
static size_t add_special(struct strbuf *to, struct str s)
{
    uint32_t rune;
    if ((unsigned char)s.p[0] < 0x80) {
        add_escaped_ascii(to, s.p[0]);
        return 1;
    }
    size_t n = utf8_decode(s, &rune);
    if (n == 0)
        STRBUF_ADD_LIT(to, "\\ufffd");
    else if (rune == 0x2028 || rune == 0x2029)
        strbuf_add_text(to, rune == 0x2028 ? "\\u2028" : "\\u2029");
    else
        strbuf_add(to, s.p, n);
    return n ? n : 1;
}

static void add_string_slow(struct strbuf *to, struct str s)
{
    strbuf_add_char(to, '"');
    while (s.n) {
        size_t n = plain_prefix(s);
        strbuf_add(to, s.p, n);
        s = str_from(s, n);
        if (s.n)
            s = str_from(s, add_special(to, s));
    }
    strbuf_add_char(to, '"');
}

void json_add_string(struct strbuf *to, struct str s)
{
    char *out = strbuf_reserve(to, s.n + 2 + COPY_SLACK);
    if (!out || copy_short(out + 1, s)) {
        add_string_slow(to, s);
        return;
    }
    out[0] = '"';
    out[s.n + 1] = '"';
    strbuf_commit(to, s.n + 2);
}

void json_add_double(struct strbuf *to, double d)
{
    float_add_json(to, d);
}

/* ---- One value ---- */

static void add_time(struct strbuf *to, const struct value *v, bool micro)
{
    struct timestamp t = { v->i, (int32_t)v->n };
    if (v->kind != VALUE_TIME || timestamp_is_zero(t)) {
        STRBUF_ADD_LIT(to, "null");
        return;
    }
    strbuf_add_char(to, '"');
    if (micro)
        timestamp_add_micro(to, t);
    else
        timestamp_add(to, t);
    strbuf_add_char(to, '"');
}

static void add_duration(struct strbuf *to, const struct value *v)
{
    strbuf_add_char(to, '"');
    duration_add(to, v->kind == VALUE_INT ? v->i : 0);
    strbuf_add_char(to, '"');
}

static void add_quoted_plain(struct strbuf *to, struct str s)
{
    strbuf_add_char(to, '"');
    strbuf_add_str(to, s);
    strbuf_add_char(to, '"');
}

static void add_bytes(struct strbuf *to, const struct value *v)
{
    if (v->kind != VALUE_BYTES) {
        STRBUF_ADD_LIT(to, "null");
        return;
    }
    strbuf_add_char(to, '"');
    base64_add(to, value_text(v));
    strbuf_add_char(to, '"');
}

static void encode_list(struct strbuf *to, const struct field *f, const struct value *v);

/* A type whose JSON shape chooses: see schema.h and value.h. */
static void encode_by_shape(struct strbuf *to, const struct type *t, const struct value *v)
{
    bool or_bool = t->flags & TYPE_OBJECT_OR_BOOL;
    if (v->kind == VALUE_STRUCT)
        encode_struct(to, t->fields[or_bool ? 1 : 0].type, v);
    else if (or_bool)
        strbuf_add_text(to, v->kind == VALUE_BOOL && v->b ? "true" : "false");
    else if (v->kind == VALUE_LIST && v->n)
        encode_list(to, &t->fields[1], v);
    else
        STRBUF_ADD_LIT(to, "null");
}

static void encode_typed(struct strbuf *to, const struct type *t, const struct value *v)
{
    if (t->flags & TYPE_WRAPPER)
        encode_list(to, &t->fields[0], v);
    else if (t->flags & TYPE_BY_SHAPE)
        encode_by_shape(to, t, v);
    else
        encode_struct(to, t, v);
}

/* A field of SHAPE_ONE or an element; absent is zero. */
static void encode_one(struct strbuf *to, const struct field *f, const struct value *v)
{
    switch ((enum field_kind)f->kind) {
    case KIND_STRING:
        json_add_string(to, value_text(v));
        return;
    case KIND_BOOL:
        strbuf_add_text(to, v->kind == VALUE_BOOL && v->b ? "true" : "false");
        return;
    case KIND_INT32:
    case KIND_INT64:
    case KIND_UINT32:
        strbuf_add_int(to, v->kind == VALUE_INT ? v->i : 0);
        return;
    case KIND_DOUBLE:
        json_add_double(to, v->kind == VALUE_DOUBLE ? v->d : 0);
        return;
    case KIND_FLOAT:
        float_add_json_single(to, v->kind == VALUE_DOUBLE ? (float)v->d : 0);
        return;
    case KIND_BYTES:
        add_bytes(to, v);
        return;
    case KIND_DURATION:
        add_duration(to, v);
        return;
    case KIND_TIME:
    case KIND_MICRO_TIME:
        add_time(to, v, f->kind == KIND_MICRO_TIME);
        return;
    case KIND_QUANTITY:
        add_quoted_plain(to, v->kind == VALUE_STRING ? value_text(v) : STR("0"));
        return;
    case KIND_INT_OR_STRING:
        if (v->kind == VALUE_STRING)
            json_add_string(to, value_text(v));
        else
            strbuf_add_int(to, v->kind == VALUE_INT ? v->i : 0);
        return;
    case KIND_RAW:
    case KIND_JSON:
    case KIND_FIELDS_V1:
        json_compact(to, v->kind == VALUE_RAW && v->n ? value_text(v) : STR("null"));
        return;
    case KIND_STRUCT:
        encode_typed(to, f->type, v);
        return;
    }
}

/* ---- Containers ---- */

static void encode_list(struct strbuf *to, const struct field *f, const struct value *v)
{
    if (v->kind != VALUE_LIST) {
        STRBUF_ADD_LIT(to, "null");
        return;
    }
    strbuf_add_char(to, '[');
    for (uint32_t i = 0; i < v->n; i++) {
        if (i)
            strbuf_add_char(to, ',');
        encode_one(to, f, &v->items[i]);
    }
    strbuf_add_char(to, ']');
}

static void encode_map(struct strbuf *to, const struct field *f, const struct value *v)
{
    if (v->kind != VALUE_MAP) {
        STRBUF_ADD_LIT(to, "null");
        return;
    }
    strbuf_add_char(to, '{');
    for (uint32_t i = 0; i < v->n; i++) {
        if (i)
            strbuf_add_char(to, ',');
        json_add_string(to, v->members[i].key);
        strbuf_add_char(to, ':');
        encode_one(to, f, &v->members[i].value);
    }
    strbuf_add_char(to, '}');
}

/* ---- Which fields are written ---- */

static bool struct_is_zero(const struct value *v);

/* As reflect.Value.IsZero: an empty list that was sent is not zero, nor is a pointer to zero. */
static bool is_zero(const struct value *v)
{
    switch ((enum value_kind)v->kind) {
    case VALUE_ABSENT:
        return true;
    case VALUE_BOOL:
        return !v->b;
    case VALUE_INT:
        return v->i == 0;
    case VALUE_DOUBLE:
        return v->d == 0;
    case VALUE_STRING:
        return v->n == 0;
    case VALUE_TIME:
        return timestamp_is_zero((struct timestamp){ v->i, (int32_t)v->n });
    case VALUE_STRUCT:
        return struct_is_zero(v);
    default:
        return false;
    }
}

static bool struct_is_zero(const struct value *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (!is_zero(&v->slots[i]))
            return false;
    return true;
}

/* Kinds that are structs in Go: leaving them out when empty takes more than omitempty. */
static bool always_written(const struct field *f)
{
    switch ((enum field_kind)f->kind) {
    case KIND_DURATION:
    case KIND_TIME:
    case KIND_MICRO_TIME:
    case KIND_QUANTITY:
    case KIND_INT_OR_STRING:
    case KIND_RAW:
    case KIND_JSON:
    case KIND_FIELDS_V1:
        return true;
    case KIND_STRUCT:
        return !(f->type->flags & TYPE_WRAPPER);
    default:
        return false;
    }
}

/* Of a field that was given. */
static bool is_written(const struct field *f, const struct value *v)
{
    if (f->flags & FIELD_KEEP)
        return true;
    if (f->shape != SHAPE_ONE)
        return v->n > 0;
    if (f->flags & FIELD_PTR)
        return true;
    if (f->flags & FIELD_OMITZERO)
        return !is_zero(v);
    switch ((enum value_kind)v->kind) {
    case VALUE_BOOL:
        return v->b || always_written(f);
    case VALUE_INT:
        return v->i != 0 || always_written(f);
    case VALUE_DOUBLE:
        return v->d != 0;
    case VALUE_STRING:
    case VALUE_BYTES:
    case VALUE_LIST:
        return v->n > 0 || always_written(f);
    default:
        return true;
    }
}

static void encode_field(struct strbuf *to, const struct field *f, const struct value *v)
{
    char *out = strbuf_reserve(to, f->name.n + 4 + COPY_SLACK);
    if (!out)
        return;
    out[0] = ',';
    out[1] = '"';
    (void)copy_short(out + 2, f->name);
    memcpy(out + 2 + f->name.n, "\":", 2);
    strbuf_commit(to, f->name.n + 4);
    json_encode_field(to, f, v);
}

void json_encode_field(struct strbuf *to, const struct field *f, const struct value *v)
{
    bool null = v->kind == VALUE_ABSENT && f->flags & FIELD_PTR;
    if (null)
        STRBUF_ADD_LIT(to, "null");
    else if (f->shape == SHAPE_LIST)
        encode_list(to, f, v);
    else if (f->shape == SHAPE_MAP)
        encode_map(to, f, v);
    else
        encode_one(to, f, v);
}

bool json_writes_field(const struct type *t, unsigned slot, const struct value *v)
{
    return v->kind == VALUE_ABSENT ? t->written_when_absent[slot / 64] >> (slot % 64) & 1
                                   : is_written(&t->fields[slot], v);
}

static void encode_struct(struct strbuf *to, const struct type *t, const struct value *v)
{
    static const struct value absent;
    bool given = v->kind == VALUE_STRUCT;
    assert(!given || v->n == t->n_fields);
    size_t start = to->n;
    for (unsigned i = 0; i < t->n_fields; i++) {
        const struct value *slot = given ? &v->slots[i] : &absent;
        if (json_writes_field(t, i, slot))
            encode_field(to, &t->fields[i], slot);
    }
    if (to->n == start)
        strbuf_add_char(to, '{');
    else
        to->p[start] = '{';
    strbuf_add_char(to, '}');
}

void json_encode(struct strbuf *to, const struct type *t, const struct value *v)
{
    encode_typed(to, t, v);
}
