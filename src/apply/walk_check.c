/* apply/walk_check.c - see walk.h: whether a document fits the schema, told in upstream's words.
 *
 * They quote what does not fit as Go prints it. Members are gone through in the order of their names; upstream's order
 * is one of chance. */
#include "apply/walk.h"
#include "patch/patch.h"

enum { FAULTS_BYTES_MAX = 64 << 10 }; /* of all texts together; more faults are not looked for */

#define FAULT_INDENT "\n  " /* before each, if there are several */

struct checker {
    struct arena *arena;
    struct strbuf path, faults;
    uint32_t n_faults;
    bool may_have_doubles;
};

static void check(struct checker *c, struct place p, const struct value *v);

static void begin_fault(struct checker *c)
{
    c->n_faults++;
    STRBUF_ADD_LIT(&c->faults, FAULT_INDENT);
    strbuf_add_str(&c->faults, strbuf_str(&c->path));
    if (c->path.n)
        STRBUF_ADD_LIT(&c->faults, ": ");
}

static void fault(struct checker *c, const char *text)
{
    begin_fault(c);
    strbuf_add_text(&c->faults, text);
}

/* ---- Values as Go prints them ---- */

static const char *go_type(const struct value *v)
{
    switch ((enum value_kind)v->kind) {
    case VALUE_STRING:
        return "string";
    case VALUE_BOOL:
        return "bool";
    case VALUE_LIST:
        return "[]interface {}";
    case VALUE_MAP:
        return "map[string]interface {}";
    default:
        return "float64";
    }
}

/* As %#v. */
static void add_go_syntax(struct strbuf *to, const struct value *v)
{
    if (v->kind == VALUE_STRING) {
        strbuf_add_quoted(to, value_text(v));
    } else if (v->kind == VALUE_LIST || v->kind == VALUE_MAP) {
        strbuf_add_text(to, go_type(v));
        strbuf_add_char(to, '{');
        for (uint32_t i = 0; i < v->n; i++) {
            if (i)
                STRBUF_ADD_LIT(to, ", ");
            if (v->kind == VALUE_MAP) {
                strbuf_add_quoted(to, v->members[i].key);
                strbuf_add_char(to, ':');
            }
            add_go_syntax(to, v->kind == VALUE_MAP ? &v->members[i].value : &v->items[i]);
        }
        strbuf_add_char(to, '}');
    } else if (v->kind == VALUE_NULL) {
        STRBUF_ADD_LIT(to, "interface {}(nil)");
    } else {
        go_print(to, v, 'v');
    }
}

static void fault_got(struct checker *c, const char *expected, const struct value *v)
{
    begin_fault(c);
    strbuf_printf(&c->faults, "expected %s, got &{", expected);
    struct strbuf shown;
    strbuf_init(&shown, STRBUF_NO_MAX);
    go_print(&shown, v, 'v');
    strbuf_add_shown(&c->faults, strbuf_str(&shown));
    strbuf_fini(&shown);
    strbuf_add_char(&c->faults, '}');
}

static void fault_not_text(struct checker *c, const struct value *v)
{
    begin_fault(c);
    STRBUF_ADD_LIT(&c->faults, "expected string, got &value.valueUnstructured{Value:");
    struct strbuf shown;
    strbuf_init(&shown, STRBUF_NO_MAX);
    add_go_syntax(&shown, v);
    strbuf_add_shown(&c->faults, strbuf_str(&shown));
    strbuf_fini(&shown);
    strbuf_add_char(&c->faults, '}');
}

/* ---- Shapes ---- */

static void check_scalar(struct checker *c, const struct place *p, const struct value *v)
{
    bool number = v->kind == VALUE_INT || v->kind == VALUE_DOUBLE, text = v->kind == VALUE_STRING;
    bool boolean = v->kind == VALUE_BOOL;
    if (v->kind == VALUE_NULL)
        return;
    if (p->kind == PLACE_NUMBER && !number) {
        begin_fault(c);
        strbuf_printf(&c->faults, "expected numeric (int or float), got %s", go_type(v));
    } else if (p->kind == PLACE_TEXT && !text) {
        fault_not_text(c, v);
    } else if (p->kind == PLACE_BOOL && !boolean) {
        fault_got(c, "boolean", v);
    } else if (!number && !text && !boolean) {
        fault_got(c, "any scalar", v);
    }
}

static bool enough(const struct checker *c)
{
    return c->faults.n >= FAULTS_BYTES_MAX;
}

static void check_step(struct checker *c, struct place p, const struct path_step *step, const struct value *v)
{
    size_t before = c->path.n;
    path_add_text(&c->path, step);
    check(c, p, v);
    c->path.n = before;
}

/* Marks elements whose step another one before has. */
static bool *find_doubles(struct checker *c, const struct place *p, const struct value *list)
{
    uint32_t n;
    struct list_item *items = place_items(c->arena, p, list, &n);
    bool *doubles = arena_zalloc(c->arena, list->n);
    for (uint32_t i = 1; i < n; i++)
        doubles[items[i].ordinal] = path_compare(&items[i - 1].step, &items[i].step) == 0;
    return doubles;
}

/* The first element without a step ends the list. */
static void check_items(struct checker *c, const struct place *p, const struct value *list)
{
    struct place inside = place_of_item(p);
    bool by_index = place_is_atomic(p, SHAPE_OF_LIST);
    bool *doubles = by_index || c->may_have_doubles ? NULL : find_doubles(c, p, list);
    for (uint32_t i = 0; i < list->n && !enough(c); i++) {
        struct path_step step = { .kind = PATH_INDEX, .index = i };
        const char *why = by_index ? NULL : place_step(c->arena, p, &list->items[i], &step);
        if (why) {
            fault(c, arena_printf(c->arena, "element %u: %s", i, why));
            return;
        }
        if (doubles && doubles[i]) {
            begin_fault(c);
            STRBUF_ADD_LIT(&c->faults, "duplicate entries for key ");
            path_add_text(&c->faults, &step);
        }
        check_step(c, inside, &step, &list->items[i]);
    }
}

/* The first name that is not known ends the map. */
static void check_members(struct checker *c, const struct place *p, const struct value *map)
{
    for (uint32_t i = 0; i < map->n && !enough(c); i++) {
        struct path_step step = path_field(map->members[i].key);
        bool declared;
        struct place inside = place_of_member(p, map->members[i].key, &declared);
        if (inside.kind == PLACE_NOWHERE) {
            size_t before = c->path.n;
            path_add_text(&c->path, &step);
            fault(c, "field not declared in schema");
            c->path.n = before;
            return;
        }
        check_step(c, inside, &step, &map->members[i].value);
    }
}

static void check(struct checker *c, struct place p, const struct value *v)
{
    switch (place_shape(&p, v)) {
    case SHAPE_OF_SCALAR:
        check_scalar(c, &p, v);
        return;
    case SHAPE_OF_LIST:
        if (v->kind == VALUE_LIST)
            check_items(c, &p, v);
        else if (v->kind != VALUE_NULL)
            fault_got(c, "list", v);
        return;
    case SHAPE_OF_MAP:
        if (v->kind == VALUE_MAP)
            check_members(c, &p, v);
        else if (v->kind != VALUE_NULL)
            fault_got(c, "map", v);
        return;
    }
}

static enum err_code report(struct checker *c, struct err *e)
{
    struct str faults = strbuf_str(&c->faults);
    if (c->n_faults == 1)
        faults = str_from(faults, sizeof(FAULT_INDENT) - 1);
    return err_set(e, ERR_UNKNOWN, "%s%.*s", c->n_faults == 1 ? "" : "errors:", STR_ARG(faults));
}

enum err_code walk_check(struct arena *a, struct place p, const struct value *v, bool may_have_doubles, struct err *e)
{
    struct checker c = { .arena = a, .may_have_doubles = may_have_doubles };
    strbuf_init(&c.path, STRBUF_NO_MAX);
    strbuf_init(&c.faults, STRBUF_NO_MAX);
    check(&c, p, v);
    enum err_code rc = c.n_faults ? report(&c, e) : ERR_OK;
    strbuf_fini(&c.path);
    strbuf_fini(&c.faults);
    return rc;
}
