/* api/pod_sums.c - see pod_sums.h. */
#include "api/pod_sums.h"

#include "api/edit.h"
#include "api/quantity.h"

static struct quantity amount(struct arena *a, const struct value *v)
{
    struct err ignored;
    err_init(&ignored, a);
    struct quantity q = { 0 };
    if (quantity_parse(a, value_text(v), &q, &ignored))
        q = (struct quantity){ 0 };
    return q;
}

static struct value text_of(struct arena *a, const struct quantity *q)
{
    return value_string(quantity_text(a, q));
}

/* For every resource of `more`: the sum, or the larger of the two. */
static struct value join(struct arena *a, struct value sum, const struct value *more, bool add)
{
    for (uint32_t i = 0; more->kind == VALUE_MAP && i < more->n; i++) {
        struct str key = more->members[i].key;
        struct quantity q = amount(a, &more->members[i].value);
        const struct value *have = sum.kind == VALUE_MAP ? value_member(&sum, key) : NULL;
        struct quantity old = have ? amount(a, have) : (struct quantity){ 0 };
        struct err ignored;
        err_init(&ignored, a);
        if (add ? quantity_add(a, &old, &q, &ignored) != ERR_OK : quantity_cmp(&old, &q) >= 0 && have)
            continue;
        sum = edit_member(a, &sum, key, text_of(a, add ? &old : &q));
    }
    return sum;
}

struct value pod_sum(struct arena *a, const struct value *pod, const char *which)
{
    const struct type *t = schema_type(STR("core/v1.Pod")), *container = schema_type(STR("core/v1.Container"));
    const char *path = arena_printf(a, "resources.%s", which);
    struct value sum = { 0 }, beside = { 0 }, most = { 0 };
    const struct value *list = value_path(t, pod, "spec.initContainers");
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++) {
        const struct value *asked = value_path(container, &list->items[i], path);
        bool stays = str_is(value_text(value_path(container, &list->items[i], "restartPolicy")), "Always");
        if (stays)
            beside = join(a, beside, asked, true);
        struct value now = stays ? beside : join(a, beside, asked, true);
        most = join(a, most, &now, false);
    }
    sum = beside;
    list = value_path(t, pod, "spec.containers");
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        sum = join(a, sum, value_path(container, &list->items[i], path), true);
    sum = join(a, sum, &most, false);
    const struct value *whole = value_path(t, pod, arena_printf(a, "spec.resources.%s", which));
    for (uint32_t i = 0; whole->kind == VALUE_MAP && i < whole->n; i++)
        sum = edit_member(a, &sum, whole->members[i].key, whole->members[i].value);
    return join(a, sum, value_path(t, pod, "spec.overhead"), true);
}
