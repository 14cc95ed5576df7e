/* codec/yaml_in.c - see yaml.h: nodes become items, as go-yaml v2 decodes them.
 *
 * Aliases are followed where they stand, so what they name is decoded again each time; go-yaml's ratio
 * of such work to all work ends documents that grow by it. A map is read as a list of settings, of
 * which merges ("<<") add more; sorting that list by key shows which keys were set twice. */
#include "codec/yaml.h"

#include <math.h>
#include <stdlib.h>

#include "base/base64.h"
#include "codec/yaml_priv.h"

#define TAG_PREFIX "tag:yaml.org,2002:"

/* As allowedAliasRatio in decode.go: of up to LOW decoded nodes 99 % may come from aliases, from HIGH on
 * 10 %. */
enum {
    ALIAS_RATIO_LOW = 400000,
    ALIAS_RATIO_HIGH = 4000000,
    ALIASED_FREE = 100,
    DECODED_FREE = 1000,
};

struct decoder {
    struct arena *arena;
    struct work *work;
    struct err *e;
    size_t n_decoded, n_aliased;
    unsigned alias_depth, depth;
    size_t n_settings;
    bool merges_override;       /* what a merge sets and its map sets as well is no repeat */
    bool merging;
    struct yaml_entry *repeats; /* settings of keys that were set before, in no order */
    size_t n_repeats;
};

static enum err_code decode(struct decoder *d, struct yaml_node *node, struct yaml_item **ret_item);

static enum err_code fail(struct decoder *d, const char *text)
{
    return err_set(d->e, ERR_BAD_REQUEST, "yaml: %s", text);
}

/* ---- Limits ---- */

static double allowed_alias_ratio(size_t n_decoded)
{
    if (n_decoded <= ALIAS_RATIO_LOW)
        return 0.99;
    if (n_decoded >= ALIAS_RATIO_HIGH)
        return 0.10;
    double range = ALIAS_RATIO_HIGH - ALIAS_RATIO_LOW;
    return 0.99 - 0.89 * ((double)(n_decoded - ALIAS_RATIO_LOW) / range);
}

/* What an alias names is decoded again. */
static enum err_code charge(struct decoder *d, const struct yaml_node *node)
{
    bool enough = !d->alias_depth || work_take(d->work, 1 + node->text.n);
    return enough ? ERR_OK : work_error(d->e);
}

static enum err_code count(struct decoder *d)
{
    d->n_decoded++;
    d->n_aliased += d->alias_depth > 0;
    double ratio = (double)d->n_aliased / (double)d->n_decoded;
    if (d->n_aliased > ALIASED_FREE && d->n_decoded > DECODED_FREE &&
        ratio > allowed_alias_ratio(d->n_decoded))
        return fail(d, "document contains excessive aliasing");
    return ERR_OK;
}

static enum err_code enter(struct decoder *d)
{
    if (++d->depth > YAML_DEPTH_MAX)
        return err_set(d->e, ERR_BAD_REQUEST, "yaml: exceeded max depth of %d", YAML_DEPTH_MAX);
    return ERR_OK;
}

/* ---- Scalars ---- */

/* Types that a tag can ask for; other tags leave a string. */
static const struct {
    struct str tag;
    enum yaml_type type;
} tags[] = {
    { STR(TAG_PREFIX "str"), YAML_STR },     { STR(TAG_PREFIX "bool"), YAML_BOOL },
    { STR(TAG_PREFIX "int"), YAML_INT },     { STR(TAG_PREFIX "float"), YAML_FLOAT },
    { STR(TAG_PREFIX "null"), YAML_NULL },   { STR(TAG_PREFIX "timestamp"), YAML_TIMESTAMP },
};

static const char *const type_names[] = {
    [YAML_NULL] = "null",   [YAML_BOOL] = "bool",           [YAML_INT] = "int", [YAML_UINT] = "int",
    [YAML_FLOAT] = "float", [YAML_TIMESTAMP] = "timestamp", [YAML_STR] = "str",
};

static struct yaml_item *string_item(struct decoder *d, struct str text)
{
    struct yaml_item *item = ARENA_NEW(d->arena, struct yaml_item);
    item->scalar.type = YAML_STR;
    item->text = text;
    return item;
}

static enum err_code binary(struct decoder *d, struct str text, struct yaml_item **ret_item)
{
    struct str bytes;
    size_t bad_at;
    if (!base64_decode(d->arena, text, &bytes, &bad_at))
        return fail(d, "!!binary value contains invalid base64 data");
    *ret_item = string_item(d, bytes);
    return ERR_OK;
}

static enum err_code typed_scalar(struct decoder *d, struct yaml_node *node, enum yaml_type want,
                                  struct yaml_item **ret_item)
{
    struct yaml_scalar scalar = yaml_resolve(node->text, want == YAML_TIMESTAMP);
    if (want == YAML_FLOAT && scalar.type == YAML_INT)
        scalar = (struct yaml_scalar){ .type = YAML_FLOAT, .number = (double)scalar.integer };
    if (scalar.type != want && !(want == YAML_INT && scalar.type == YAML_UINT))
        return err_set(d->e, ERR_BAD_REQUEST, "yaml: cannot decode !!%s `%.*s` as a !!%s",
                       type_names[scalar.type], STR_ARG(node->text), type_names[want]);
    *ret_item = string_item(d, node->text);
    if (scalar.type != YAML_TIMESTAMP)
        (*ret_item)->scalar = scalar;
    return ERR_OK;
}

static enum err_code tagged_scalar(struct decoder *d, struct yaml_node *node,
                                   struct yaml_item **ret_item)
{
    if (str_eq(node->tag, STR(TAG_PREFIX "binary")))
        return binary(d, node->text, ret_item);
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
        if (str_eq(node->tag, tags[i].tag) && tags[i].type != YAML_STR)
            return typed_scalar(d, node, tags[i].type, ret_item);
    *ret_item = string_item(d, node->text);
    return ERR_OK;
}

static enum err_code scalar(struct decoder *d, struct yaml_node *node, struct yaml_item **ret_item)
{
    if (node->tag.n)
        return tagged_scalar(d, node, ret_item);
    *ret_item = string_item(d, node->text);
    if (node->plain)
        (*ret_item)->scalar = yaml_resolve(node->text, false);
    return ERR_OK;
}

/* ---- Lists and aliases ---- */

static enum err_code list(struct decoder *d, struct yaml_node *node, struct yaml_item **ret_item)
{
    struct yaml_item *item = ARENA_NEW(d->arena, struct yaml_item);
    item->scalar.type = YAML_LIST;
    struct yaml_item **end = &item->first;
    for (struct yaml_node *child = node->first; child; child = child->next) {
        if (decode(d, child, end))
            return d->e->code;
        end = &(*end)->next;
    }
    *ret_item = item;
    return ERR_OK;
}

/* Before and after what an alias names is decoded. */
static enum err_code alias_enter(struct decoder *d, struct yaml_node *alias)
{
    if (alias->entered)
        return err_set(d->e, ERR_BAD_REQUEST, "yaml: anchor '%.*s' value contains itself",
                       STR_ARG(alias->text));
    alias->entered = true;
    d->alias_depth++;
    return ERR_OK;
}

static void alias_leave(struct decoder *d, struct yaml_node *alias)
{
    alias->entered = false;
    d->alias_depth--;
}

static enum err_code alias(struct decoder *d, struct yaml_node *node, struct yaml_item **ret_item)
{
    if (alias_enter(d, node) || decode(d, node->target, ret_item))
        return d->e->code;
    alias_leave(d, node);
    return ERR_OK;
}

/* ---- Maps ---- */

/* The settings of one map, in the order in which they are made. */
struct settings {
    struct yaml_entry *first, **end;
    size_t n;
};

static enum err_code read_settings(struct decoder *d, struct yaml_node *map, struct settings *s);

static enum err_code check_key(struct decoder *d, const struct yaml_item *key)
{
    if (key->scalar.type != YAML_LIST && key->scalar.type != YAML_MAP)
        return ERR_OK;
    struct strbuf b;
    strbuf_init(&b, YAML_GO_SYNTAX_BYTES_MAX);
    yaml_add_go_syntax(&b, key);
    err_set(d->e, ERR_BAD_REQUEST, "yaml: invalid map key: %.*s", STR_ARG(strbuf_str(&b)));
    strbuf_fini(&b);
    return d->e->code;
}

static enum err_code read_setting(struct decoder *d, struct yaml_node *key, struct settings *s)
{
    struct yaml_entry *entry = ARENA_NEW(d->arena, struct yaml_entry);
    if (decode(d, key, &entry->key) || check_key(d, entry->key) || decode(d, key->next, &entry->value))
        return d->e->code;
    entry->line = key->next->line;
    entry->merged = d->merging;
    entry->order = d->n_settings++;
    *s->end = entry;
    s->end = &entry->next;
    s->n++;
    return ERR_OK;
}

/* What `node`, a map or an alias of one, sets is set in the map that merges it. */
static enum err_code merge_one(struct decoder *d, struct yaml_node *node, struct settings *s)
{
    struct yaml_node *map = node->kind == YAML_NODE_ALIAS ? node->target : node;
    if (map->kind != YAML_NODE_MAP)
        return fail(d, "map merge requires map or sequence of maps as the value");
    if (count(d))
        return d->e->code;
    if (map == node)
        return read_settings(d, map, s);
    if (alias_enter(d, node) || count(d) || read_settings(d, map, s))
        return d->e->code;
    alias_leave(d, node);
    return ERR_OK;
}

static enum err_code merge_all(struct decoder *d, struct yaml_node *node, struct settings *s)
{
    if (node->kind != YAML_NODE_LIST)
        return merge_one(d, node, s);
    /* Earlier ones win, so they are set last. */
    for (struct yaml_node *child = node->last; child; child = child->prev)
        if (merge_one(d, child, s))
            return d->e->code;
    return ERR_OK;
}

static enum err_code merge(struct decoder *d, struct yaml_node *node, struct settings *s)
{
    bool outer = d->merging;
    d->merging = true;
    enum err_code rc = merge_all(d, node, s);
    d->merging = outer;
    return rc;
}

static bool is_merge(const struct yaml_node *key)
{
    return key->kind == YAML_NODE_SCALAR && str_is(key->text, "<<") &&
           (key->plain || str_is(key->tag, TAG_PREFIX "merge"));
}

static enum err_code read_settings(struct decoder *d, struct yaml_node *map, struct settings *s)
{
    if (enter(d))
        return d->e->code;
    for (struct yaml_node *key = map->first; key; key = key->next->next) {
        enum err_code rc = is_merge(key) ? merge(d, key->next, s) : read_setting(d, key, s);
        if (rc)
            return rc;
    }
    d->depth--;
    return ERR_OK;
}

/* Keys of different types differ; a NaN differs from all. */
static int key_cmp(const struct yaml_item *a, const struct yaml_item *b)
{
    if (a->scalar.type != b->scalar.type)
        return a->scalar.type < b->scalar.type ? -1 : 1;
    switch (a->scalar.type) {
    case YAML_BOOL:
        return a->scalar.boolean - b->scalar.boolean;
    case YAML_INT:
        return (a->scalar.integer > b->scalar.integer) - (a->scalar.integer < b->scalar.integer);
    case YAML_UINT:
        return (a->scalar.natural > b->scalar.natural) - (a->scalar.natural < b->scalar.natural);
    case YAML_FLOAT:
        if (isnan(a->scalar.number) || isnan(b->scalar.number))
            return isnan(a->scalar.number) - isnan(b->scalar.number);
        return (a->scalar.number > b->scalar.number) - (a->scalar.number < b->scalar.number);
    case YAML_STR:
        return str_cmp(a->text, b->text);
    default:
        return 0;
    }
}

static int by_key_then_order(const void *a, const void *b)
{
    const struct yaml_entry *x = *(struct yaml_entry *const *)a, *y = *(struct yaml_entry *const *)b;
    int order = key_cmp(x->key, y->key);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static int by_order(const void *a, const void *b)
{
    const struct yaml_entry *x = *(struct yaml_entry *const *)a, *y = *(struct yaml_entry *const *)b;
    return (x->order > y->order) - (x->order < y->order);
}

static bool same_key(const struct yaml_entry *a, const struct yaml_entry *b)
{
    bool nan = a->key->scalar.type == YAML_FLOAT && isnan(a->key->scalar.number);
    return !nan && key_cmp(a->key, b->key) == 0;
}

static void note_repeat(struct decoder *d, struct yaml_entry *entry)
{
    entry->next = d->repeats;
    d->repeats = entry;
    d->n_repeats++;
}

/* Keeps the last setting of each key and notes all but the first as repeats. */
static void settle(struct decoder *d, const struct settings *s, struct yaml_item *map)
{
    struct yaml_entry **sorted = ARENA_NEW_N(d->arena, struct yaml_entry *, s->n);
    size_t n = 0, n_kept = 0;
    for (struct yaml_entry *entry = s->first; entry; entry = entry->next)
        sorted[n++] = entry;
    qsort(sorted, n, sizeof(sorted[0]), by_key_then_order);
    bool seen = false; /* a setting that may not be repeated */
    for (size_t i = 0; i < n; i++) {
        bool counts = !d->merges_override || !sorted[i]->merged;
        seen = seen && same_key(sorted[i - 1], sorted[i]);
        if (seen && counts)
            note_repeat(d, sorted[i]);
        seen = seen || counts;
        if (i + 1 == n || !same_key(sorted[i], sorted[i + 1]))
            map->entries[n_kept++] = sorted[i];
    }
    map->n_entries = n_kept;
}

static enum err_code map(struct decoder *d, struct yaml_node *node, struct yaml_item **ret_item)
{
    struct settings s = { 0 };
    s.end = &s.first;
    bool merging = d->merging;
    d->merging = false;
    if (read_settings(d, node, &s))
        return d->e->code;
    d->merging = merging;
    struct yaml_item *item = ARENA_NEW(d->arena, struct yaml_item);
    item->scalar.type = YAML_MAP;
    item->entries = ARENA_NEW_N(d->arena, struct yaml_entry *, s.n);
    settle(d, &s, item);
    *ret_item = item;
    return ERR_OK;
}

static enum err_code decode(struct decoder *d, struct yaml_node *node, struct yaml_item **ret_item)
{
    if (count(d) || charge(d, node))
        return d->e->code;
    switch (node->kind) {
    case YAML_NODE_SCALAR:
        return scalar(d, node, ret_item);
    case YAML_NODE_MAP:
        return map(d, node, ret_item);
    default:
        break;
    }
    if (enter(d))
        return d->e->code;
    if (node->kind == YAML_NODE_ALIAS ? alias(d, node, ret_item) : list(d, node, ret_item))
        return d->e->code;
    d->depth--;
    return ERR_OK;
}

/* ---- The whole ---- */

static void add_repeat(struct strbuf *to, const struct yaml_entry *repeat)
{
    strbuf_printf(to, "line %zu: key ", repeat->line + 1);
    yaml_add_go_syntax(to, repeat->key);
    STRBUF_ADD_LIT(to, " already set in map");
}

static void add_text(struct decoder *d, struct findings *findings, struct strbuf *text)
{
    if (findings->n < JSON_FINDINGS_MAX)
        findings->texts[findings->n++] = arena_cstr(d->e->arena, strbuf_str(text));
    strbuf_reset(text);
}

/* All repeats, in one text as the strict decoder words them, or one by one. */
static void add_findings(struct decoder *d, struct findings *findings)
{
    if (!findings || !d->n_repeats || findings->n == JSON_FINDINGS_MAX)
        return;
    struct yaml_entry **repeats = ARENA_NEW_N(d->arena, struct yaml_entry *, d->n_repeats);
    size_t n = 0;
    for (struct yaml_entry *entry = d->repeats; entry; entry = entry->next)
        repeats[n++] = entry;
    qsort(repeats, n, sizeof(repeats[0]), by_order);
    struct strbuf b;
    strbuf_init(&b, YAML_GO_SYNTAX_BYTES_MAX);
    if (!findings->of_file)
        STRBUF_ADD_LIT(&b, "yaml: unmarshal errors:");
    for (size_t i = 0; i < n && i < JSON_FINDINGS_MAX; i++) {
        if (!findings->of_file)
            STRBUF_ADD_LIT(&b, "\n  ");
        add_repeat(&b, repeats[i]);
        if (findings->of_file)
            add_text(d, findings, &b);
    }
    if (!findings->of_file)
        add_text(d, findings, &b);
    strbuf_fini(&b);
}

static enum err_code convert(struct arena *scratch, struct work *work, struct str yaml, struct findings *findings,
                             struct strbuf *json, struct err *e)
{
    struct yaml_node *root;
    struct yaml_item *item = ARENA_NEW(scratch, struct yaml_item);
    struct decoder d = { .arena = scratch, .work = work, .e = e,
                         .merges_override = findings && findings->of_file };
    if (yaml_parse(scratch, yaml, &root, e))
        return e->code;
    if (root && (count(&d) || decode(&d, root, &item))) /* the document itself counts */
        return e->code;
    if (yaml_add_json(scratch, json, item, e))
        return e->code;
    add_findings(&d, findings);
    return ERR_OK;
}

enum err_code yaml_to_json(struct arena *a, struct work *work, struct str yaml, struct findings *findings,
                           struct str *ret_json, struct err *e)
{
    struct arena scratch;
    struct strbuf json;
    if (work_begin(work, yaml.n, e))
        return e->code;
    arena_init(&scratch);
    strbuf_init(&json, work->left); /* keys and texts grow by escapes, too */
    enum err_code rc = convert(&scratch, work, yaml, findings, &json, e);
    if (!rc)
        *ret_json = arena_str(a, strbuf_str(&json));
    strbuf_fini(&json);
    arena_fini(&scratch);
    return rc;
}
