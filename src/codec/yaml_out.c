/* codec/yaml_out.c - see yaml.h: a tree of the JSON text, keys sorted, walked in block style.
 *
 * Lists below a key are not indented, empty lists and maps are [] and {}, a key of more than one line or
 * 128 bytes gets a "?" before it. Upstream reads the JSON as YAML, which fails for the escape \/ and for raw
 * control characters from U+007F on, and loses a raw U+0085; here they are texts as any other. */
#include "codec/yaml.h"

#include "base/float.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "codec/json_scan.h"
#include "codec/yaml_priv.h"

/* ---- The tree ---- */

struct json_node {
    char kind;       /* first byte of its text: { [ " or that of a number or word */
    struct str text; /* string: unescaped; number or word: as written */
    struct json_node *first;
    size_t n; /* children */
    struct json_node *next;
    struct str key; /* in an object */
};

static struct json_node *read_value(struct arena *a, struct json_scan *s);

static bool read_member(struct arena *a, struct json_scan *s, char open, struct json_node **ret_child)
{
    struct json_text key;
    if (open == '{' && !json_scan_key(s, &key))
        return false;
    *ret_child = read_value(a, s);
    if (*ret_child && open == '{')
        (*ret_child)->key = json_unescape(a, key);
    return *ret_child;
}

static bool read_children(struct arena *a, struct json_scan *s, struct json_node *parent)
{
    bool first = true, fault;
    struct json_node **end = &parent->first;
    if (!json_enter(s, parent->kind))
        return false;
    while (json_next(s, parent->kind == '{' ? '}' : ']', &first, &fault)) {
        if (!read_member(a, s, parent->kind, end))
            return false;
        end = &(*end)->next;
        parent->n++;
    }
    return !fault;
}

/* NULL on a fault. */
static struct json_node *read_value(struct arena *a, struct json_scan *s)
{
    struct json_node *node = ARENA_NEW(a, struct json_node);
    struct json_text text;
    node->kind = json_peek(s);
    if (node->kind == '{' || node->kind == '[')
        return read_children(a, s, node) ? node : NULL;
    if (node->kind != '"')
        return json_scan_value(s, &node->text) ? node : NULL;
    if (!json_scan_string(s, &text))
        return NULL;
    node->text = json_unescape(a, text);
    return node;
}

/* ---- The order of keys ---- */

/* A text read character by character, with what go-yaml's order wants to know of the characters passed. */
struct cursor {
    struct str rest;
    uint32_t rune;
    size_t n_bytes; /* of the rune; 0 at the end */
};

static struct cursor cursor_at(struct str rest)
{
    struct cursor c = { .rest = rest };
    if (!rest.n)
        return c;
    c.n_bytes = utf8_decode(rest, &c.rune);
    if (!c.n_bytes) {
        c.rune = UTF8_REPLACEMENT;
        c.n_bytes = 1;
    }
    return c;
}

static struct cursor cursor_next(struct cursor c)
{
    return cursor_at(str_from(c.rest, c.n_bytes));
}

/* The number from here on, behind `leading`, and how many digits it has. Long ones wrap, as upstream's do. */
static int64_t number_at(struct cursor c, uint64_t leading, size_t *ret_digits)
{
    size_t n = 0;
    for (; c.n_bytes && unicode_is_digit(c.rune); c = cursor_next(c), n++)
        leading = leading * 10 + ((uint64_t)c.rune - '0');
    *ret_digits = n;
    return (int64_t)leading;
}

/* At the first character in which two keys differ. `in_number`: behind a digit other than 0. */
static bool differing_less(struct cursor a, struct cursor b, bool in_number)
{
    bool letter_a = unicode_is_letter(a.rune), letter_b = unicode_is_letter(b.rune);
    if (letter_a || letter_b)
        return letter_a && letter_b ? a.rune < b.rune : letter_b;
    uint64_t leading = (a.rune == '0' || b.rune == '0') && in_number;
    size_t digits_a, digits_b;
    int64_t number_a = number_at(a, leading, &digits_a), number_b = number_at(b, leading, &digits_b);
    if (number_a != number_b)
        return number_a < number_b;
    return digits_a != digits_b ? digits_a < digits_b : a.rune < b.rune;
}

/* As keyList in sorter.go of go-yaml v2: letters behind other characters, numbers by value. */
static bool key_less(struct str x, struct str y)
{
    struct cursor a = cursor_at(x), b = cursor_at(y);
    bool in_number = false;
    while (a.n_bytes && b.n_bytes) {
        if (a.rune != b.rune)
            return differing_less(a, b, in_number);
        in_number = unicode_is_digit(a.rune) && (in_number || a.rune != '0');
        a = cursor_next(a);
        b = cursor_next(b);
    }
    return !a.n_bytes && b.n_bytes;
}

static bool bytes_less(struct str x, struct str y)
{
    return str_cmp(x, y) < 0;
}

typedef bool (*less_fn)(struct str x, struct str y);

static struct json_node *merge(struct json_node *a, struct json_node *b, less_fn less)
{
    struct json_node *first = NULL, **end = &first;
    while (a && b) {
        struct json_node **smaller = less(b->key, a->key) ? &b : &a;
        *end = *smaller;
        *smaller = (*smaller)->next;
        end = &(*end)->next;
    }
    *end = a ? a : b;
    return first;
}

/* A stable merge sort: the order of keys is not transitive for all of them, which qsort need not survive. */
static struct json_node *sort(struct json_node *first, size_t n, less_fn less)
{
    if (n < 2)
        return first;
    struct json_node *last = first;
    for (size_t i = 1; i < n / 2; i++)
        last = last->next;
    struct json_node *second = last->next;
    last->next = NULL;
    return merge(sort(first, n / 2, less), sort(second, n - n / 2, less), less);
}

/* Of equal keys the last one stays. */
static void sort_keys(struct json_node *object)
{
    object->first = sort(object->first, object->n, bytes_less);
    for (struct json_node **at = &object->first; *at && (*at)->next;) {
        bool repeated = str_eq((*at)->key, (*at)->next->key);
        object->n -= repeated;
        if (repeated)
            *at = (*at)->next;
        else
            at = &(*at)->next;
    }
    object->first = sort(object->first, object->n, key_less);
}

/* ---- Writing ---- */

static void write_node(struct yaml_emitter *m, struct json_node *node, bool below_key);

static void write_word_or_number(struct yaml_emitter *m, struct str text)
{
    struct yaml_scalar scalar = yaml_resolve(text, false);
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    switch (scalar.type) {
    case YAML_INT:
        strbuf_add_int(&b, scalar.integer);
        break;
    case YAML_UINT:
        strbuf_add_uint(&b, scalar.natural);
        break;
    case YAML_FLOAT:
        float_add_g(&b, scalar.number);
        break;
    default: /* a word, or a number too large for a double */
        strbuf_add_str(&b, text);
    }
    yaml_emit_plain(m, strbuf_str(&b));
    strbuf_fini(&b);
}

static void write_empty(struct yaml_emitter *m, struct str open, struct str close)
{
    yaml_emit_indicator(m, open, true, true, false);
    yaml_emit_indicator(m, close, false, false, false);
}

static void write_list(struct yaml_emitter *m, const struct json_node *list, bool below_key)
{
    int indent = m->indent;
    if (indent < 0)
        m->indent = 0;
    else if (!below_key || m->indention)
        m->indent += 2;
    for (struct json_node *child = list->first; child; child = child->next) {
        yaml_emit_indent(m);
        yaml_emit_indicator(m, STR("-"), true, false, true);
        write_node(m, child, false);
    }
    m->indent = indent;
}

static void write_key(struct yaml_emitter *m, struct str key)
{
    yaml_emit_indent(m);
    if (yaml_emit_is_simple_key(key)) {
        yaml_emit_string(m, key, true);
        yaml_emit_indicator(m, STR(":"), false, false, false);
        return;
    }
    yaml_emit_indicator(m, STR("?"), true, false, true);
    yaml_emit_string(m, key, false);
    yaml_emit_indent(m);
    yaml_emit_indicator(m, STR(":"), true, false, true);
}

static void write_object(struct yaml_emitter *m, struct json_node *object)
{
    int indent = m->indent;
    m->indent = indent < 0 ? 0 : indent + 2;
    sort_keys(object);
    for (struct json_node *child = object->first; child; child = child->next) {
        write_key(m, child->key);
        write_node(m, child, true);
    }
    m->indent = indent;
}

static void write_node(struct yaml_emitter *m, struct json_node *node, bool below_key)
{
    if (node->kind == '"')
        yaml_emit_string(m, node->text, false);
    else if (node->kind == '[' && node->n)
        write_list(m, node, below_key);
    else if (node->kind == '{' && node->n)
        write_object(m, node);
    else if (node->kind == '[')
        write_empty(m, STR("["), STR("]"));
    else if (node->kind == '{')
        write_empty(m, STR("{"), STR("}"));
    else
        write_word_or_number(m, node->text);
}

static void write_document(struct strbuf *to, struct str json, bool visible)
{
    struct arena scratch;
    arena_init(&scratch);
    struct json_scan s = json_scan_init(json);
    struct json_node *root = read_value(&scratch, &s);
    if (root) {
        struct yaml_emitter m = yaml_emitter_init(to, visible);
        write_node(&m, root, false);
        yaml_emit_indent(&m);
    }
    arena_fini(&scratch);
}

void yaml_from_json(struct strbuf *to, struct str json)
{
    write_document(to, json, false);
}

void yaml_from_json_visible(struct strbuf *to, struct str json)
{
    write_document(to, json, true);
}
