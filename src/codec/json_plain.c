/* codec/json_plain.c - documents without a schema: see json.h. */
#include "codec/json_priv.h"

#include <assert.h>

#include "base/float.h"

/* What is being read: the scanner, and elements of containers that are not closed yet. */
struct reader {
    struct json_scan scan;
    struct arena *arena;
    bool too_deep;
    VEC(struct value) stack;
};

static bool read_value(struct reader *r, struct value *v);

static bool read_number(struct reader *r, struct value *v)
{
    struct str number;
    int64_t i;
    double x;
    if (!json_scan_number(&r->scan, &number))
        return false;
    if (json_parse_int64(number, &i))
        *v = value_int(i);
    else if (json_parse_double(number, &x))
        *v = value_double(x);
    else
        *v = value_raw(number); /* too large for a double: kept as it is written */
    return true;
}

static bool read_string(struct reader *r, struct str *ret_text)
{
    struct json_text token;
    if (!json_scan_string(&r->scan, &token))
        return false;
    *ret_text = json_unescape(r->arena, token);
    return true;
}

static bool enter(struct reader *r, char open)
{
    r->too_deep = r->scan.depth == VALUE_DEPTH_MAX;
    return !r->too_deep && json_enter(&r->scan, open);
}

static bool read_list(struct reader *r, struct value *v)
{
    size_t base = r->stack.n;
    bool first = true, fault;
    if (!enter(r, '['))
        return false;
    while (json_next(&r->scan, ']', &first, &fault)) {
        if (!read_value(r, v))
            return false;
        vec_push(&r->stack, *v);
    }
    uint32_t n = (uint32_t)(r->stack.n - base);
    struct value *items = arena_alloc(r->arena, n * sizeof(*items));
    if (n)
        memcpy(items, r->stack.at + base, n * sizeof(*items));
    r->stack.n = base;
    *v = value_list(items, n);
    return !fault;
}

static bool read_key(struct reader *r)
{
    struct json_text token;
    if (!json_scan_key(&r->scan, &token))
        return false;
    vec_push(&r->stack, value_string(json_unescape(r->arena, token)));
    return true;
}

static bool read_map(struct reader *r, struct value *v)
{
    size_t base = r->stack.n;
    bool first = true, fault;
    if (!enter(r, '{'))
        return false;
    while (json_next(&r->scan, '}', &first, &fault)) {
        if (!read_key(r) || !read_value(r, v))
            return false;
        vec_push(&r->stack, *v);
    }
    uint32_t n = (uint32_t)(r->stack.n - base) / 2;
    struct member *members = arena_alloc(r->arena, n * sizeof(*members));
    for (uint32_t i = 0; i < n; i++)
        members[i] = (struct member){ value_text(&r->stack.at[base + 2 * i]), r->stack.at[base + 2 * i + 1] };
    r->stack.n = base;
    *v = value_map(members, value_sort_members(members, n));
    return !fault;
}

static bool read_value(struct reader *r, struct value *v)
{
    char c = json_peek(&r->scan);
    struct str text;
    switch (c) {
    case '{':
        return read_map(r, v);
    case '[':
        return read_list(r, v);
    case '"':
        if (!read_string(r, &text))
            return false;
        *v = value_string(text);
        return true;
    case 't':
    case 'f':
        *v = value_bool(c == 't');
        return json_scan_word(&r->scan, c == 't' ? STR("true") : STR("false"));
    case 'n':
        *v = value_null();
        return json_scan_word(&r->scan, STR("null"));
    default:
        return read_number(r, v);
    }
}

enum err_code json_decode_plain(struct arena *a, struct work *work, struct str text, struct value *ret_value,
                                struct err *e)
{
    if (work_begin(work, text.n, e))
        return e->code;
    struct reader r = { .scan = json_scan_init(text), .arena = a };
    struct value v;
    bool ok = read_value(&r, &v) && json_at_end(&r.scan);
    vec_fini(&r.stack);
    if (ok) {
        *ret_value = v;
        return ERR_OK;
    }
    if (json_check(text, e))
        return e->code;
    assert(r.too_deep); /* scanner and checker agree on what is JSON */
    return err_set(e, ERR_BAD_REQUEST, "exceeded max depth");
}

static void write_list(struct strbuf *to, const struct value *v)
{
    strbuf_add_char(to, '[');
    for (uint32_t i = 0; i < v->n; i++) {
        if (i)
            strbuf_add_char(to, ',');
        json_encode_plain(to, &v->items[i]);
    }
    strbuf_add_char(to, ']');
}

static void write_map(struct strbuf *to, const struct value *v)
{
    strbuf_add_char(to, '{');
    for (uint32_t i = 0; i < v->n; i++) {
        if (i)
            strbuf_add_char(to, ',');
        json_add_string(to, v->members[i].key);
        strbuf_add_char(to, ':');
        json_encode_plain(to, &v->members[i].value);
    }
    strbuf_add_char(to, '}');
}

void json_encode_plain(struct strbuf *to, const struct value *v)
{
    switch ((enum value_kind)v->kind) {
    case VALUE_BOOL:
        strbuf_add_text(to, v->b ? "true" : "false");
        return;
    case VALUE_INT:
        strbuf_add_int(to, v->i);
        return;
    case VALUE_DOUBLE:
        float_add_json(to, v->d);
        return;
    case VALUE_STRING:
        json_add_string(to, value_text(v));
        return;
    case VALUE_RAW:
        json_compact(to, value_text(v));
        return;
    case VALUE_LIST:
        write_list(to, v);
        return;
    case VALUE_MAP:
        write_map(to, v);
        return;
    default: /* ABSENT, NULL; the others need a schema */
        STRBUF_ADD_LIT(to, "null");
        return;
    }
}
