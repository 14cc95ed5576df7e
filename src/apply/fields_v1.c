/* apply/fields_v1.c - field sets as metadata.managedFields holds them: see field_set.h.
 *
 * A key names a step: "f:" and a field's name, "k:" and a JSON object of the key fields, "v:" and a JSON value, "i:" and
 * an index; "." says that the object around it is a member itself. An object that names nothing is a member.
 *
 * Reading is as lenient as upstream's: keys in any order and given twice, "." with any value, kinds of steps that are
 * not known. Numbers inside of keys are doubles. Writing gives upstream's bytes, which escapes texts inside of keys as
 * encoding/json does, HTML included, and keys themselves without HTML. */
#include "apply/field_set.h"
#include "base/arena_array.h"
#include "base/sort.h"
#include "base/utf8.h"
#include "codec/json.h"
#include "codec/json_scan.h"

/* ---- Reading ---- */

struct reader {
    struct arena *arena;
    struct json_scan scan;
    uint32_t depth;
};

static void ints_to_doubles(struct value *v)
{
    if (v->kind == VALUE_INT)
        *v = value_double((double)v->i);
    for (uint32_t i = 0; v->kind == VALUE_LIST && i < v->n; i++)
        ints_to_doubles(&v->items[i]);
    for (uint32_t i = 0; v->kind == VALUE_MAP && i < v->n; i++)
        ints_to_doubles(&v->members[i].value);
}

/* Small whole numbers, which is what ports are, stay what they are: equal to the double and cheaper. */
static bool read_plain(struct arena *a, struct str text, struct value *ret_value)
{
    struct err e;
    err_init(&e, a);
    if (json_decode_plain(a, WORK_OWN, text, ret_value, &e))
        return false;
    bool small = ret_value->kind == VALUE_INT && ret_value->i > -(1ll << 53) && ret_value->i < 1ll << 53;
    if (!small)
        ints_to_doubles(ret_value);
    return ret_value->kind != VALUE_RAW;
}

static int compare_members_by_key(const void *a, const void *b)
{
    return str_cmp(((const struct member *)a)->key, ((const struct member *)b)->key);
}

static void sort_keys(struct arena *a, struct member *keys, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (compare_members_by_key(&keys[i - 1], &keys[i]) > 0) {
            sort_stable(a, keys, n, sizeof(*keys), compare_members_by_key);
            return;
        }
}

static bool read_keys(struct arena *a, struct str text, struct path_step *ret_step)
{
    struct json_scan s = json_scan_init(text);
    struct member *keys = NULL;
    size_t n = 0, cap = 0;
    bool first = true, fault;
    if (!json_enter(&s, '{'))
        return false;
    while (json_next(&s, '}', &first, &fault)) {
        struct json_text key;
        struct str value;
        keys = arena_array_more(a, keys, n, &cap, sizeof(*keys));
        if (!json_scan_key(&s, &key) || !json_scan_value(&s, &value) || !read_plain(a, value, &keys[n].value))
            return false;
        keys[n++].key = json_unescape(a, key);
    }
    sort_keys(a, keys, (uint32_t)n);
    *ret_step = (struct path_step){ .kind = PATH_KEY, .n = (uint32_t)n, .keys = keys };
    return !fault;
}

/* As strconv.Atoi. */
static bool read_index(struct str text, struct path_step *ret_step)
{
    bool negative = text.n && text.p[0] == '-';
    struct str digits = str_from(text, negative || (text.n && text.p[0] == '+'));
    int64_t index = 0;
    for (size_t i = 0; i < digits.n; i++) {
        int digit = digits.p[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(index, 10, &index) ||
            __builtin_sub_overflow(index, digit, &index))
            return false;
    }
    if (digits.n == 0 || (!negative && index == INT64_MIN))
        return false;
    *ret_step = (struct path_step){ .kind = PATH_INDEX, .index = negative ? index : -index };
    return true;
}

static bool read_value(struct arena *a, struct str text, struct path_step *ret_step)
{
    struct value *value = ARENA_NEW(a, struct value);
    *ret_step = (struct path_step){ .kind = PATH_VALUE, .value = value };
    return read_plain(a, text, value);
}

enum key_kind { KEY_STEP, KEY_SELF, KEY_UNKNOWN, KEY_BAD };

static enum key_kind read_step(struct arena *a, struct str key, struct path_step *ret_step)
{
    if (key.n == 1 && key.p[0] == '.')
        return KEY_SELF;
    if (key.n < 2 || key.p[1] != ':')
        return KEY_BAD;
    struct str rest = str_from(key, 2);
    switch (key.p[0]) {
    case 'f':
        *ret_step = path_field(rest);
        return KEY_STEP;
    case 'k':
        return read_keys(a, rest, ret_step) ? KEY_STEP : KEY_BAD;
    case 'v':
        return read_value(a, rest, ret_step) ? KEY_STEP : KEY_BAD;
    case 'i':
        return read_index(rest, ret_step) ? KEY_STEP : KEY_BAD;
    default:
        return KEY_UNKNOWN;
    }
}

static bool read_level(struct reader *r, struct field_set *ret_set, bool *ret_member);

/* One key with its object. */
static bool read_node(struct reader *r, struct set_node *node, enum key_kind *ret_kind)
{
    struct json_text key;
    if (!json_scan_key(&r->scan, &key))
        return false;
    *ret_kind = read_step(r->arena, json_unescape(r->arena, key), &node->at);
    if (*ret_kind != KEY_STEP)
        return *ret_kind != KEY_BAD && json_skip_value(&r->scan);
    bool member;
    if (!read_level(r, &node->below, &member))
        return false;
    node->marks = member ? SET_MEMBER : 0;
    return true;
}

/* Most objects are empty, and most of the others are small. */
enum { NODES_AT_FIRST = 8 };

static bool read_nodes(struct reader *r, struct field_set *ret_set, bool *ret_member)
{
    struct set_node few[NODES_AT_FIRST], *nodes = few;
    size_t n = 0, cap = NODES_AT_FIRST;
    bool first = true, fault, ordered = true;
    while (json_next(&r->scan, '}', &first, &fault)) {
        if (n == cap) {
            struct set_node *more = arena_alloc(r->arena, mem_product(cap * 2, sizeof(*more)));
            memcpy(more, nodes, n * sizeof(*more));
            nodes = more;
            cap *= 2;
        }
        enum key_kind kind;
        if (!read_node(r, &nodes[n], &kind))
            return false;
        *ret_member |= kind == KEY_SELF;
        if (kind != KEY_STEP)
            continue;
        ordered = ordered && (n == 0 || path_compare(&nodes[n - 1].at, &nodes[n].at) < 0);
        n++;
    }
    if (nodes == few && n) {
        nodes = arena_alloc(r->arena, n * sizeof(*nodes));
        memcpy(nodes, few, n * sizeof(*nodes));
    }
    *ret_set = (struct field_set){ nodes, (uint32_t)n };
    if (!ordered)
        *ret_set = set_sorted(r->arena, nodes, (uint32_t)n);
    return !fault;
}

/* What is not an object is an empty one, if it is null. */
static bool read_level(struct reader *r, struct field_set *ret_set, bool *ret_member)
{
    *ret_set = (struct field_set){ 0 };
    *ret_member = false;
    if (json_peek(&r->scan) == 'n' && json_scan_word(&r->scan, STR("null"))) {
        *ret_member = true;
        return true;
    }
    if (r->depth == SET_DEPTH_MAX || !json_enter(&r->scan, '{'))
        return false;
    r->depth++;
    bool ok = read_nodes(r, ret_set, ret_member);
    r->depth--;
    *ret_member |= ret_set->n == 0;
    return ok;
}

bool set_parse(struct arena *a, struct str text, struct field_set *ret_set)
{
    struct reader r = { .arena = a, .scan = json_scan_init(text) };
    bool member;
    return read_level(&r, ret_set, &member) && json_at_end(&r.scan);
}

/* ---- Writing ---- */

/* Whether a byte of a text stands for itself. */
static inline bool is_plain(unsigned char c, bool html)
{
    if (c < 0x20 || c == '"' || c == '\\')
        return false;
    return !html || (c < 0x80 && c != '<' && c != '>' && c != '&');
}

static size_t plain_prefix(struct str s, bool html)
{
    size_t n = 0;
    while (n < s.n && is_plain((unsigned char)s.p[n], html))
        n++;
    return n;
}

static char escape_letter(unsigned char c)
{
    switch (c) {
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return c == '"' || c == '\\' ? (char)c : '\0';
    }
}

/* The first character, which is not plain; few have letters, as jsoniter has it. Returns its bytes. */
static size_t add_special(struct strbuf *to, struct str s)
{
    unsigned char c = (unsigned char)s.p[0];
    uint32_t rune = c;
    size_t n = c < 0x80 ? 1 : utf8_decode(s, &rune);
    if (n == 0)
        rune = UTF8_REPLACEMENT;
    if (escape_letter(c)) {
        strbuf_add_char(to, '\\');
        strbuf_add_char(to, escape_letter(c));
    } else if (n > 1 && rune != 0x2028 && rune != 0x2029) {
        strbuf_add(to, s.p, n);
    } else {
        strbuf_printf(to, "\\u%04x", rune);
    }
    return n ? n : 1;
}

/* In keys themselves texts that are not UTF-8, and HTML, stay as they are. */
static void add_text(struct strbuf *to, struct str s, bool html)
{
    strbuf_add_char(to, '"');
    while (s.n) {
        size_t n = plain_prefix(s, html);
        strbuf_add(to, s.p, n);
        s = str_from(s, n);
        if (s.n)
            s = str_from(s, add_special(to, s));
    }
    strbuf_add_char(to, '"');
}

static bool needs_escapes(struct str s)
{
    return plain_prefix(s, false) < s.n;
}

static void add_value(struct strbuf *to, const struct value *v)
{
    if (v->kind == VALUE_STRING) {
        add_text(to, value_text(v), true);
        return;
    }
    if (v->kind == VALUE_LIST) {
        strbuf_add_char(to, '[');
        for (uint32_t i = 0; i < v->n; i++) {
            if (i)
                strbuf_add_char(to, ',');
            add_value(to, &v->items[i]);
        }
        strbuf_add_char(to, ']');
        return;
    }
    if (v->kind == VALUE_MAP) {
        strbuf_add_char(to, '{');
        for (uint32_t i = 0; i < v->n; i++) {
            if (i)
                strbuf_add_char(to, ',');
            add_text(to, v->members[i].key, true);
            strbuf_add_char(to, ':');
            add_value(to, &v->members[i].value);
        }
        strbuf_add_char(to, '}');
        return;
    }
    json_encode_plain(to, v);
}

static void add_keys(struct strbuf *to, const struct path_step *step)
{
    STRBUF_ADD_LIT(to, "k:{");
    for (uint32_t i = 0; i < step->n; i++) {
        if (i)
            strbuf_add_char(to, ',');
        add_text(to, step->keys[i].key, false);
        strbuf_add_char(to, ':');
        add_value(to, &step->keys[i].value);
    }
    strbuf_add_char(to, '}');
}

struct writer {
    struct strbuf out, key;
};

/* A step with JSON inside is written aside first, because the whole is escaped once more. */
static void write_step(struct writer *w, const struct path_step *step)
{
    if (step->kind == PATH_FIELD && !needs_escapes(path_name(step))) {
        STRBUF_ADD_LIT(&w->out, "\"f:");
        strbuf_add(&w->out, step->name, step->n);
        strbuf_add_char(&w->out, '"');
        return;
    }
    strbuf_reset(&w->key);
    if (step->kind == PATH_FIELD) {
        STRBUF_ADD_LIT(&w->key, "f:");
        strbuf_add(&w->key, step->name, step->n);
    } else if (step->kind == PATH_KEY) {
        add_keys(&w->key, step);
    } else if (step->kind == PATH_VALUE) {
        STRBUF_ADD_LIT(&w->key, "v:");
        add_value(&w->key, step->value);
    } else {
        STRBUF_ADD_LIT(&w->key, "i:");
        strbuf_add_int(&w->key, step->index);
    }
    add_text(&w->out, strbuf_str(&w->key), false);
}

static void write_level(struct writer *w, struct field_set s, bool self)
{
    strbuf_add_char(&w->out, '{');
    if (self && s.n)
        STRBUF_ADD_LIT(&w->out, "\".\":{},");
    for (uint32_t i = 0; i < s.n; i++) {
        if (i)
            strbuf_add_char(&w->out, ',');
        write_step(w, &s.nodes[i].at);
        strbuf_add_char(&w->out, ':');
        if (s.nodes[i].below.n)
            write_level(w, s.nodes[i].below, s.nodes[i].marks);
        else
            STRBUF_ADD_LIT(&w->out, "{}");
    }
    strbuf_add_char(&w->out, '}');
}

struct str set_text(struct arena *a, struct field_set s)
{
    struct writer w;
    strbuf_init(&w.out, STRBUF_NO_MAX);
    strbuf_init(&w.key, STRBUF_NO_MAX);
    write_level(&w, s, false);
    struct str text = arena_str(a, strbuf_str(&w.out));
    strbuf_fini(&w.out);
    strbuf_fini(&w.key);
    return text;
}
