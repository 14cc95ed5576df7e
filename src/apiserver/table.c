/* apiserver/table.c - see table.h. Upstream: printers/internalversion, endpoints/handlers/response.go. */
#include "apiserver/table.h"

#include <assert.h>
#include <stdarg.h>

#include "api/label_selector.h"
#include "api/time.h"
#include "apiserver/table_priv.h"
#include "codec/json.h"

/* ---- Durations ---- */

static void add_two(struct strbuf *to, int64_t big, char big_unit, int64_t small, char small_unit)
{
    strbuf_add_int(to, big);
    strbuf_add_char(to, big_unit);
    if (small) {
        strbuf_add_int(to, small);
        strbuf_add_char(to, small_unit);
    }
}

void table_add_duration(struct strbuf *to, int64_t ns)
{
    int64_t seconds = ns / 1000000000, minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
    if (seconds < -1)
        STRBUF_ADD_LIT(to, "<invalid>");
    else if (seconds < 0)
        STRBUF_ADD_LIT(to, "0s");
    else if (seconds < 120)
        add_two(to, seconds, 's', 0, 0);
    else if (minutes < 10)
        add_two(to, minutes, 'm', seconds % 60, 's');
    else if (minutes < 180)
        add_two(to, minutes, 'm', 0, 0);
    else if (hours < 8)
        add_two(to, hours, 'h', minutes % 60, 'm');
    else if (hours < 48)
        add_two(to, hours, 'h', 0, 0);
    else if (days < 8)
        add_two(to, days, 'd', hours % 24, 'h');
    else if (days < 2 * 365)
        add_two(to, days, 'd', 0, 0);
    else if (days < 8 * 365)
        add_two(to, days / 365, 'y', days % 365, 'd');
    else
        add_two(to, days / 365, 'y', 0, 0);
}

/* ---- Places in an object ---- */

static const struct value absent;

static struct node step(struct node n, struct str name)
{
    if (n.v->kind == VALUE_MAP) {
        const struct value *member = value_member(n.v, name);
        return (struct node){ n.t, member ? member : &absent };
    }
    if (n.v->kind == VALUE_LIST) {
        uint32_t i = name.n == 1 ? (uint32_t)(name.p[0] - '0') : UINT32_MAX;
        return (struct node){ n.t, i < n.v->n ? &n.v->items[i] : &absent };
    }
    int slot = n.v->kind == VALUE_STRUCT && n.t ? schema_slot(n.t, name) : -1;
    if (slot < 0)
        return (struct node){ NULL, &absent };
    return (struct node){ n.t->fields[slot].type, &n.v->slots[slot] };
}

struct node node_at(struct node n, const char *path)
{
    struct str rest = str_of(path);
    while (rest.n) {
        size_t dot = str_index(rest, '.');
        n = step(n, str_first(rest, dot));
        rest = str_from(rest, dot + 1);
    }
    return n;
}

struct node node_item(struct node list, uint32_t i)
{
    return (struct node){ list.t, &list.v->items[i] };
}

uint32_t node_count(struct node list)
{
    return list.v->kind == VALUE_LIST || list.v->kind == VALUE_MAP ? list.v->n : 0;
}

struct str node_text(struct node n, const char *path)
{
    return value_text(node_at(n, path).v);
}

int64_t node_int(struct node n, const char *path)
{
    const struct value *v = node_at(n, path).v;
    return v->kind == VALUE_INT ? v->i : 0;
}

bool node_bool(struct node n, const char *path, bool otherwise)
{
    const struct value *v = node_at(n, path).v;
    return v->kind == VALUE_BOOL ? v->b : otherwise;
}

bool node_time(struct node n, const char *path, int64_t *ret_ns)
{
    const struct value *v = node_at(n, path).v;
    bool known = v->kind == VALUE_TIME && !timestamp_is_zero((struct timestamp){ v->i, (int32_t)v->n });
    *ret_ns = 0;
    if (known && (__builtin_mul_overflow(v->i, (int64_t)1000000000, ret_ns) ||
                  __builtin_add_overflow(*ret_ns, (int64_t)v->n, ret_ns)))
        *ret_ns = v->i < 0 ? INT64_MIN : INT64_MAX;
    return known;
}

/* ---- Cells ---- */

static void begin_cell(struct cells *c)
{
    if (c->any)
        strbuf_add_char(c->to, ',');
    c->any = true;
}

void cell_text(struct cells *c, struct str text)
{
    begin_cell(c);
    json_add_string(c->to, text);
}

void cell_int(struct cells *c, int64_t number)
{
    begin_cell(c);
    strbuf_add_int(c->to, number);
}

void cell_bool(struct cells *c, bool value)
{
    begin_cell(c);
    strbuf_add_text(c->to, value ? "true" : "false");
}

void cell_printf(struct cells *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cell_text(c, str_of(arena_vprintf(c->a, format, args)));
    va_end(args);
}

struct str age_text(struct cells *c, bool known, int64_t then_ns)
{
    int64_t ns;
    if (!known)
        return STR("<unknown>");
    if (__builtin_sub_overflow(c->now_ns, then_ns, &ns))
        ns = then_ns < 0 ? INT64_MAX : INT64_MIN; /* as Go's Sub */
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    table_add_duration(&text, ns);
    struct str kept = arena_str(c->a, strbuf_str(&text));
    strbuf_fini(&text);
    return kept;
}

void cell_age(struct cells *c, bool known, int64_t then_ns)
{
    cell_text(c, age_text(c, known, then_ns));
}

static struct labels labels_of(struct arena *a, struct node map)
{
    uint32_t n = node_count(map);
    struct label *at = ARENA_NEW_N(a, struct label, n);
    for (uint32_t i = 0; i < n; i++)
        at[i] = (struct label){ map.v->members[i].key, value_text(&map.v->members[i].value) };
    return (struct labels){ at, n };
}

static struct match_expression expression_of(struct arena *a, struct node n)
{
    struct node values = node_at(n, "values");
    uint32_t n_values = node_count(values);
    struct str *texts = ARENA_NEW_N(a, struct str, n_values);
    for (uint32_t i = 0; i < n_values; i++)
        texts[i] = value_text(node_item(values, i).v);
    return (struct match_expression){ node_text(n, "key"), node_text(n, "operator"), { texts, n_values } };
}

struct str selector_of(struct cells *c, struct node selector, bool shown)
{
    struct node expressions = node_at(selector, "matchExpressions");
    struct label_selector ls = { .match_labels = labels_of(c->a, node_at(selector, "matchLabels")),
                                 .n_expressions = node_count(expressions) };
    struct match_expression *at = ARENA_NEW_N(c->a, struct match_expression, ls.n_expressions);
    for (uint32_t i = 0; i < ls.n_expressions; i++)
        at[i] = expression_of(c->a, node_item(expressions, i));
    ls.expressions = at;
    struct work work = work_init(SIZE_MAX); /* what was stored was checked */
    bool there = selector.v->kind == VALUE_STRUCT;
    if (shown)
        return label_selector_format(c->a, &work, there ? &ls : NULL);
    struct selector compiled;
    struct err e;
    err_init(&e, c->a);
    return label_selector_compile(c->a, &work, there ? &ls : NULL, &compiled, &e) ? STR("<invalid>")
                                                                                 : selector_text(c->a, &compiled);
}

/* a=b,c=d as labels are shown. */
static void cell_labels(struct cells *c, struct node map)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    struct labels labels = labels_of(c->a, map);
    for (size_t i = 0; i < labels.n; i++)
        strbuf_printf(&text, "%s%.*s=%.*s", i ? "," : "", STR_ARG(labels.at[i].key), STR_ARG(labels.at[i].value));
    cell_text(c, labels.n ? strbuf_str(&text) : STR("<none>"));
    strbuf_fini(&text);
}

static void cell_join(struct cells *c, struct node list, const char *field, struct str otherwise)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    for (uint32_t i = 0; i < node_count(list); i++) {
        if (i)
            strbuf_add_char(&text, ',');
        strbuf_add_str(&text, node_text(node_item(list, i), field));
    }
    cell_text(c, text.n ? strbuf_str(&text) : otherwise);
    strbuf_fini(&text);
}

static void cell_text_or_number(struct cells *c, struct node n, struct str otherwise)
{
    if (n.v->kind == VALUE_INT)
        cell_printf(c, "%lld", (long long)n.v->i);
    else
        cell_text(c, value_text(n.v).n ? value_text(n.v) : otherwise);
}

static void cell_time(struct cells *c, struct node n)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    if (n.v->kind == VALUE_TIME)
        timestamp_add(&text, (struct timestamp){ n.v->i, (int32_t)n.v->n });
    cell_text(c, text.n ? strbuf_str(&text) : STR("<unknown>"));
    strbuf_fini(&text);
}

/* ---- Recipes ---- */

static void cell_of_recipe(struct cells *c, struct str word)
{
    size_t colon = str_index(word, ':');
    struct str what = str_first(word, colon), rest = str_from(word, colon + 1);
    size_t bar = str_index(rest, '|');
    struct str otherwise = str_from(rest, bar + 1);
    const char *path = arena_cstr(c->a, str_first(rest, bar));
    struct node n = node_at(c->root, str_is(what, "fn") ? "" : path);
    int64_t then_ns;
    if (str_is(what, "name"))
        cell_text(c, node_text(c->root, "metadata.name"));
    else if (str_is(what, "text"))
        cell_text_or_number(c, n, otherwise);
    else if (str_is(what, "int"))
        cell_int(c, node_int(c->root, path));
    else if (str_is(what, "bool"))
        cell_bool(c, node_bool(c->root, path, otherwise.n > 0));
    else if (str_is(what, "count"))
        cell_int(c, node_count(n));
    else if (str_is(what, "time"))
        cell_time(c, n);
    else if (str_is(what, "join"))
        cell_join(c, n, "", otherwise);
    else if (str_is(what, "labels"))
        cell_labels(c, n);
    else if (str_is(what, "selector"))
        cell_text(c, selector_of(c, n, true));
    else if (str_is(what, "containers")) {
        cell_join(c, n, "name", STR(""));
        cell_join(c, n, "image", STR(""));
    } else if (str_is(what, "age")) {
        bool known = node_time(c->root, path, &then_ns);
        cell_text(c, known || !otherwise.n ? age_text(c, known, then_ns) : otherwise);
    } else {
        bool known = table_function(c, str_first(rest, bar));
        assert(known);
    }
}

static void add_cells(struct cells *c, const char *recipe)
{
    struct str rest = str_of(recipe);
    while (rest.n) {
        size_t end = str_index(rest, ';');
        cell_of_recipe(c, str_first(rest, end));
        rest = str_from(rest, end + 2);
    }
}

/* ---- The table ---- */

enum err_code table_read_include(const struct target *t, enum include_object *ret_include, struct err *e)
{
    static const char *const names[] = { "Metadata", "Object", "None" };
    struct str given = target_get(t, "includeObject");
    *ret_include = INCLUDE_METADATA;
    for (size_t i = 0; given.n && i < 3; i++)
        if (str_is(given, names[i])) {
            *ret_include = (enum include_object)i;
            return ERR_OK;
        }
    if (given.n == 0)
        return ERR_OK;
    struct strbuf quoted;
    strbuf_init(&quoted, STRBUF_NO_MAX);
    json_add_string(&quoted, err_shown(e, given));
    enum err_code code = err_set(e, ERR_BAD_REQUEST, "Unable to convert to Table as requested: includeObject: Invalid "
                                 "value: %s: must be 'Metadata', 'Object', 'None', or empty", strbuf_cstr(&quoted));
    strbuf_fini(&quoted);
    return code;
}

static void add_columns(struct strbuf *to, const struct column *columns)
{
    for (const struct column *c = columns; c->name; c++) {
        strbuf_printf(to, "%s{\"name\":\"%s\",\"type\":\"%s\",\"format\":\"%s\",\"description\":",
                      c == columns ? "[" : ",",
                      c->name, c->type, c->format);
        json_add_string(to, str_of(c->description));
        strbuf_printf(to, ",\"priority\":%d}", c->priority);
    }
    strbuf_add_char(to, ']');
}

void table_begin(struct strbuf *to, const struct resource *r, const struct table_options *o, const struct table_meta *m)
{
    strbuf_printf(to, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/%s\",\"metadata\":{",
                  o->v1beta1 ? "v1beta1" : "v1");
    const char *comma = "";
    if (m->resource_version.n) {
        STRBUF_ADD_LIT(to, "\"resourceVersion\":");
        json_add_string(to, m->resource_version);
        comma = ",";
    }
    if (m->continue_token.n) {
        strbuf_printf(to, "%s\"continue\":", comma);
        json_add_string(to, m->continue_token);
        comma = ",";
    }
    if (m->remaining)
        strbuf_printf(to, "%s\"remainingItemCount\":%lld", comma, (long long)m->remaining);
    STRBUF_ADD_LIT(to, "},\"columnDefinitions\":");
    if (o->no_columns)
        STRBUF_ADD_LIT(to, "null");
    else
        add_columns(to, table_kind(r)->columns);
    STRBUF_ADD_LIT(to, ",\"rows\":");
}

/* A pod that has ended says so, for clients that leave those out. */
static void add_conditions(struct strbuf *to, const struct resource *r, struct node pod)
{
    if (r->group.n || !str_is(r->plural, "pods"))
        return;
    struct str phase = node_text(pod, "status.phase");
    bool succeeded = str_is(phase, "Succeeded");
    if (succeeded || str_is(phase, "Failed"))
        strbuf_printf(to,
                      ",\"conditions\":[{\"type\":\"Completed\",\"status\":\"True\","
                      "\"reason\":\"%.*s\",\"message\":\"%s\"}]",
                      STR_ARG(phase), succeeded ? "The pod has completed successfully." : "The pod failed.");
}

static void add_metadata(struct strbuf *to, struct arena *a, struct node object, bool v1beta1)
{
    struct value meta = shown_metadata(a, object.t, object.v);
    strbuf_printf(to, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/%s\",\"metadata\":",
                  v1beta1 ? "v1beta1" : "v1");
    if (meta.kind == VALUE_STRUCT)
        json_encode(to, node_at(object, "metadata").t, &meta);
    else
        STRBUF_ADD_LIT(to, "{}");
    strbuf_add_char(to, '}');
}

void table_add_row(struct strbuf *to, const struct resource *r, struct table_options *o, const struct type *t,
                   const struct value *v)
{
    struct arena a;
    arena_init(&a);
    struct cells c = { .to = to, .a = &a, .root = { t, v }, .now_ns = o->now_ns };
    strbuf_add_text(to, o->any_row ? ",{\"cells\":[" : "[{\"cells\":[");
    o->any_row = true;
    add_cells(&c, table_kind(r)->cells);
    strbuf_add_char(to, ']');
    add_conditions(to, r, c.root);
    STRBUF_ADD_LIT(to, ",\"object\":");
    if (o->include == INCLUDE_OBJECT)
        json_encode(to, t, v);
    else if (o->include == INCLUDE_METADATA)
        add_metadata(to, &a, c.root, o->v1beta1);
    else
        STRBUF_ADD_LIT(to, "null");
    strbuf_add_char(to, '}');
    arena_fini(&a);
}

/* Kinds without a table of their own have no rows rather than none, when there are none: the general table of upstream does. */
void table_end(struct strbuf *to, const struct resource *r, const struct table_options *o)
{
    if (o->any_row)
        strbuf_add_char(to, ']');
    else
        strbuf_add_text(to, table_kind_is_general(table_kind(r)) ? "null" : "[]");
    strbuf_add_char(to, '}');
}
