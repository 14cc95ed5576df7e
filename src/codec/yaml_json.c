/* codec/yaml_json.c - see yaml_priv.h: decoded items as JSON and, for error texts, as Go's %#v.
 *
 * JSON keys are strings, so integers, floats and booleans become their texts; null and numbers above the
 * signed 64 bits do not. Two keys of different type may come out with one text: the one set last stays. */
#include "base/work.h"
#include "codec/yaml_priv.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/float.h"
#include "codec/json.h"

/* ---- Go syntax ---- */

static void add_go_value(struct strbuf *to, const struct yaml_item *item, bool inside);

static void add_go_map(struct strbuf *to, const struct yaml_item *map)
{
    STRBUF_ADD_LIT(to, "map[interface {}]interface {}{");
    for (size_t i = 0; i < map->n_entries; i++) {
        if (i)
            STRBUF_ADD_LIT(to, ", ");
        add_go_value(to, map->entries[i]->key, true);
        strbuf_add_char(to, ':');
        add_go_value(to, map->entries[i]->value, true);
    }
    strbuf_add_char(to, '}');
}

static void add_go_list(struct strbuf *to, const struct yaml_item *list)
{
    STRBUF_ADD_LIT(to, "[]interface {}{");
    for (const struct yaml_item *item = list->first; item; item = item->next) {
        if (item != list->first)
            STRBUF_ADD_LIT(to, ", ");
        add_go_value(to, item, true);
    }
    strbuf_add_char(to, '}');
}

static void add_go_value(struct strbuf *to, const struct yaml_item *item, bool inside)
{
    switch (item->scalar.type) {
    case YAML_NULL:
        strbuf_add_text(to, inside ? "interface {}(nil)" : "<nil>");
        break;
    case YAML_BOOL:
        strbuf_add_text(to, item->scalar.boolean ? "true" : "false");
        break;
    case YAML_INT:
        strbuf_add_int(to, item->scalar.integer);
        break;
    case YAML_UINT:
        strbuf_printf(to, "0x%llx", (unsigned long long)item->scalar.natural);
        break;
    case YAML_FLOAT:
        float_add_g(to, item->scalar.number);
        break;
    case YAML_LIST:
        add_go_list(to, item);
        break;
    case YAML_MAP:
        add_go_map(to, item);
        break;
    default:
        strbuf_add_quoted(to, item->text);
    }
}

void yaml_add_go_syntax(struct strbuf *to, const struct yaml_item *item)
{
    add_go_value(to, item, false);
}

/* ---- Keys ---- */

/* As yaml.go of sigs.k8s.io/yaml: with the digits that a number of 32 bits needs. */
static void add_float_key(struct strbuf *to, double number)
{
    float single = (float)number;
    if (isnan(single))
        STRBUF_ADD_LIT(to, ".nan");
    else if (isinf(single))
        strbuf_add_text(to, single > 0 ? ".inf" : "-.inf");
    if (!isfinite(single))
        return;
    char text[32];
    int n = fabsf(single) < FLT_MIN ? 1 : FLT_DIG;
    do
        snprintf(text, sizeof(text), "%.*e", n - 1, (double)single);
    while (strtof(text, NULL) != single && n++ < FLT_DECIMAL_DIG);
    float_add_g(to, strtod(text, NULL));
}

static struct str float_key(struct arena *a, double number)
{
    enum { BYTES_MAX = 32 };
    struct strbuf b;
    strbuf_init(&b, BYTES_MAX);
    add_float_key(&b, number);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static struct str key_text(struct arena *a, const struct yaml_item *key)
{
    switch (key->scalar.type) {
    case YAML_INT:
        return str_of(arena_printf(a, "%lld", (long long)key->scalar.integer));
    case YAML_BOOL:
        return key->scalar.boolean ? STR("true") : STR("false");
    case YAML_FLOAT:
        return float_key(a, key->scalar.number);
    default:
        return key->text;
    }
}

static enum err_code bad_key(const struct yaml_entry *entry, struct err *e)
{
    struct strbuf b;
    strbuf_init(&b, YAML_GO_SYNTAX_BYTES_MAX);
    strbuf_add_text(&b, entry->key->scalar.type == YAML_NULL ? "%!s(<nil>)" : "uint64");
    STRBUF_ADD_LIT(&b, ", key: ");
    yaml_add_go_syntax(&b, entry->key);
    STRBUF_ADD_LIT(&b, ", value: ");
    yaml_add_go_syntax(&b, entry->value);
    err_set(e, ERR_BAD_REQUEST, "unsupported map key of type: %.*s", STR_ARG(strbuf_str(&b)));
    strbuf_fini(&b);
    return e->code;
}

/* Keys are looked at in the whole tree before a value can be at fault. */
static enum err_code check_keys(const struct yaml_item *item, struct err *e)
{
    if (item->scalar.type == YAML_LIST)
        for (const struct yaml_item *child = item->first; child; child = child->next)
            if (check_keys(child, e))
                return e->code;
    if (item->scalar.type != YAML_MAP)
        return ERR_OK;
    for (size_t i = 0; i < item->n_entries; i++) {
        enum yaml_type type = item->entries[i]->key->scalar.type;
        if (type == YAML_NULL || type == YAML_UINT)
            return bad_key(item->entries[i], e);
        if (check_keys(item->entries[i]->value, e))
            return e->code;
    }
    return ERR_OK;
}

/* ---- JSON ---- */

struct writer {
    struct strbuf *to;
    struct arena *arena; /* for keys and their order */
    struct err *e;
};

static enum err_code add_float(struct writer *w, double number)
{
    if (isfinite(number)) {
        json_add_double(w->to, number);
        return ERR_OK;
    }
    return err_set(w->e, ERR_BAD_REQUEST, "json: unsupported value: %s",
                   isnan(number) ? "NaN" : number > 0 ? "+Inf" : "-Inf");
}

static enum err_code add_value(struct writer *w, const struct yaml_item *item);

static enum err_code add_list(struct writer *w, const struct yaml_item *list)
{
    strbuf_add_char(w->to, '[');
    for (const struct yaml_item *item = list->first; item; item = item->next) {
        if (item != list->first)
            strbuf_add_char(w->to, ',');
        if (add_value(w, item))
            return w->e->code;
    }
    strbuf_add_char(w->to, ']');
    return ERR_OK;
}

struct keyed_entry {
    struct str key;
    const struct yaml_entry *entry;
};

static int by_key_then_order(const void *a, const void *b)
{
    const struct keyed_entry *x = a, *y = b;
    int order = str_cmp(x->key, y->key);
    return order ? order : (x->entry->order > y->entry->order) - (x->entry->order < y->entry->order);
}

static enum err_code add_map(struct writer *w, const struct yaml_item *map)
{
    size_t n = map->n_entries;
    struct keyed_entry *sorted = ARENA_NEW_N(w->arena, struct keyed_entry, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct keyed_entry){ key_text(w->arena, map->entries[i]->key), map->entries[i] };
    qsort(sorted, n, sizeof(sorted[0]), by_key_then_order);
    strbuf_add_char(w->to, '{');
    bool first = true;
    for (size_t i = 0; i < n; i++) {
        if (i + 1 < n && str_eq(sorted[i].key, sorted[i + 1].key))
            continue;
        if (!first)
            strbuf_add_char(w->to, ',');
        first = false;
        json_add_string(w->to, sorted[i].key);
        strbuf_add_char(w->to, ':');
        if (add_value(w, sorted[i].entry->value))
            return w->e->code;
    }
    strbuf_add_char(w->to, '}');
    return ERR_OK;
}

static enum err_code add_value(struct writer *w, const struct yaml_item *item)
{
    if (w->to->overflow)
        return ERR_OK; /* the rest would be in vain */
    switch (item->scalar.type) {
    case YAML_NULL:
        STRBUF_ADD_LIT(w->to, "null");
        break;
    case YAML_BOOL:
        strbuf_add_text(w->to, item->scalar.boolean ? "true" : "false");
        break;
    case YAML_INT:
        strbuf_add_int(w->to, item->scalar.integer);
        break;
    case YAML_UINT:
        strbuf_add_uint(w->to, item->scalar.natural);
        break;
    case YAML_FLOAT:
        return add_float(w, item->scalar.number);
    case YAML_LIST:
        return add_list(w, item);
    case YAML_MAP:
        return add_map(w, item);
    default:
        json_add_string(w->to, item->text);
    }
    return ERR_OK;
}

enum err_code yaml_add_json(struct arena *scratch, struct strbuf *to, const struct yaml_item *item,
                            struct err *e)
{
    struct writer w = { to, scratch, e };
    if (check_keys(item, e) || add_value(&w, item))
        return e->code;
    return to->overflow ? work_error(e) : ERR_OK;
}
