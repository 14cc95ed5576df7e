/* apiserver/subresource.c - see subresource.h. */
#include "apiserver/subresource.h"

#include "api/edit.h"
#include "api/label_selector.h"
#include "apiserver/registry_priv.h"


/* ---- Which is which ---- */

static const struct row {
    const char *name;
    void (*get)(struct operation *op);
    void (*create)(struct operation *op);
    void (*update)(struct operation *op);
    void (*patch)(struct operation *op);
} rows[] = {
    { "binding", NULL, binding_create, NULL, NULL },
    { "eviction", NULL, eviction_create, NULL, NULL },
    { "scale", scale_get, NULL, scale_update, scale_patch },
};

static const struct row *row_of(const struct operation *op)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(op->subresource->name, rows[i].name) == 0)
            return &rows[i];
    return NULL;
}

static bool run(struct operation *op, void (*serve)(struct operation *op))
{
    if (serve)
        serve(op);
    return serve != NULL;
}

bool subresource_get(struct operation *op)
{
    const struct row *r = row_of(op);
    return r && run(op, r->get);
}

bool subresource_create(struct operation *op)
{
    const struct row *r = row_of(op);
    return r && run(op, r->create);
}

bool subresource_update(struct operation *op)
{
    const struct row *r = row_of(op);
    return r && run(op, r->update);
}

bool subresource_patch(struct operation *op)
{
    const struct row *r = row_of(op);
    return r && run(op, r->patch);
}

/* ---- What they share ---- */

void subresource_succeed(struct operation *op, int code)
{
    op->answers_status = true;
    op->answers_201 = code == 201;
    op->status = (struct status){ .success_code = code };
}

static struct value condition(struct operation *op, const struct type *t, const char *type, const char *reason,
                              const char *message, const struct value *old)
{
    struct arena *a = op->arena;
    bool same = old && str_is(value_text(value_path(t, old, "status")), "True");
    struct value c = value_struct(a, t);
    c = edit_set(a, t, &c, "type", edit_text(type));
    c = edit_set(a, t, &c, "status", edit_text("True"));
    if (reason)
        c = edit_set(a, t, &c, "reason", edit_text(reason));
    if (message)
        c = edit_set(a, t, &c, "message", edit_text(message));
    struct value now = value_time(registry_now_s(op), 0);
    return edit_set(a, t, &c, "lastTransitionTime", same ? *value_path(t, old, "lastTransitionTime") : now);
}

struct value pod_with_condition(struct operation *op, const struct value *pod, const char *type, const char *reason,
                                const char *message)
{
    const struct type *t = schema_type(STR("core/v1.Pod")), *ct = schema_type(STR("core/v1.PodCondition"));
    const struct value *list = value_path(t, pod, "status.conditions");
    uint32_t n = list->kind == VALUE_LIST ? list->n : 0, at = 0;
    while (at < n && !str_is(value_text(value_path(ct, &list->items[at], "type")), type))
        at++;
    struct value c = condition(op, ct, type, reason, message, at < n ? &list->items[at] : NULL);
    struct value next;
    if (at == n) {
        next = edit_append(op->arena, list, c);
    } else {
        struct value *items = ARENA_NEW_N(op->arena, struct value, n);
        memcpy(items, list->items, n * sizeof(*items));
        items[at] = c;
        next = value_list(items, n);
    }
    return edit_set(op->arena, t, pod, "status.conditions", next);
}

static struct labels match_labels(struct arena *a, const struct value *map)
{
    if (map->kind != VALUE_MAP)
        return (struct labels){ NULL, 0 };
    struct label *at = ARENA_NEW_N(a, struct label, map->n);
    for (uint32_t i = 0; i < map->n; i++)
        at[i] = (struct label){ map->members[i].key, value_text(&map->members[i].value) };
    return (struct labels){ at, map->n };
}

static struct strs texts_of(struct arena *a, const struct value *list)
{
    if (list->kind != VALUE_LIST)
        return (struct strs){ NULL, 0 };
    struct str *at = ARENA_NEW_N(a, struct str, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        at[i] = value_text(&list->items[i]);
    return (struct strs){ at, list->n };
}

enum err_code selector_of_value(struct arena *a, const struct type *t, const struct value *v, struct selector *ret_selector,
                                struct err *e)
{
    if (v->kind != VALUE_STRUCT)
        return label_selector_compile(a, WORK_OWN, NULL, ret_selector, e);
    const struct type *rt = schema_type(STR("meta/v1.LabelSelectorRequirement"));
    const struct value *list = value_path(t, v, "matchExpressions");
    uint32_t n = list->kind == VALUE_LIST ? list->n : 0;
    struct match_expression *expressions = ARENA_NEW_N(a, struct match_expression, n);
    for (uint32_t i = 0; i < n; i++)
        expressions[i] = (struct match_expression){ value_text(value_path(rt, &list->items[i], "key")),
                                                    value_text(value_path(rt, &list->items[i], "operator")),
                                                    texts_of(a, value_path(rt, &list->items[i], "values")) };
    struct label_selector *ls = ARENA_NEW(a, struct label_selector);
    *ls = (struct label_selector){ match_labels(a, value_path(t, v, "matchLabels")), expressions, n };
    return label_selector_compile(a, WORK_OWN, ls, ret_selector, e);
}

