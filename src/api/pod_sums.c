/* api/pod_sums.c - see pod_sums.h. Every amount is visited once, however many containers and resources there are. */
#include "api/pod_sums.h"

#include "api/quantity.h"
#include "base/arena_array.h"
#include "base/map.h"

struct total {
    struct str resource;
    struct quantity amount;
};

struct totals {
    struct arena *arena;
    struct map_str by_resource; /* index of `at` */
    struct total *at;
    size_t n, cap;
};

static void totals_init(struct totals *t, struct arena *a)
{
    *t = (struct totals){ .arena = a };
    map_str_init(&t->by_resource);
}

static void totals_fini(struct totals *t)
{
    map_str_fini(&t->by_resource);
}

static struct quantity amount_of(struct arena *a, const struct value *v)
{
    struct err ignored;
    err_init(&ignored, a);
    struct quantity q = { 0 };
    if (quantity_parse(a, value_text(v), &q, &ignored))
        q = (struct quantity){ 0 };
    return q;
}

/* NULL: there is none of it yet. */
static const struct quantity *totals_find(const struct totals *t, struct str resource)
{
    const union map_value *found = map_str_find(&t->by_resource, resource);
    return found ? &t->at[found->num].amount : NULL;
}

static void totals_set(struct totals *t, struct str resource, struct quantity amount)
{
    bool is_new;
    union map_value *place = map_str_put(&t->by_resource, resource, &is_new);
    if (is_new) {
        t->at = arena_array_more(t->arena, t->at, t->n, &t->cap, sizeof(*t->at));
        t->at[t->n].resource = resource;
        place->num = t->n++;
    }
    t->at[place->num].amount = amount;
}

/* A sum with more digits than a quantity may have is left out. */
static struct quantity plus(struct arena *a, const struct quantity *sum, struct quantity more)
{
    struct err ignored;
    err_init(&ignored, a);
    if (!sum)
        return more;
    struct quantity result = *sum;
    return quantity_add(a, &result, &more, &ignored) ? *sum : result;
}

static void totals_add(struct totals *t, const struct value *amounts)
{
    for (uint32_t i = 0; amounts->kind == VALUE_MAP && i < amounts->n; i++) {
        struct str resource = amounts->members[i].key;
        struct quantity q = amount_of(t->arena, &amounts->members[i].value);
        totals_set(t, resource, plus(t->arena, totals_find(t, resource), q));
    }
}

static void totals_raise(struct totals *t, struct str resource, struct quantity to)
{
    const struct quantity *have = totals_find(t, resource);
    if (!have || quantity_cmp(have, &to) < 0)
        totals_set(t, resource, to);
}

static struct value totals_map(const struct totals *t)
{
    struct member *members = ARENA_NEW_N(t->arena, struct member, t->n);
    for (size_t i = 0; i < t->n; i++)
        members[i] = (struct member){ t->at[i].resource, value_string(quantity_text(t->arena, &t->at[i].amount)) };
    struct value none = { .kind = VALUE_ABSENT };
    return t->n ? value_map(members, value_sort_members(members, (uint32_t)t->n)) : none;
}

/* What is needed while an init container runs: its own and what runs beside it. Resources that it does not name need no
 * look: whatever runs beside it is in the sum of those that stay. */
static void raise_for_init(struct totals *most, const struct totals *beside, const struct value *amounts)
{
    for (uint32_t i = 0; amounts->kind == VALUE_MAP && i < amounts->n; i++) {
        struct str resource = amounts->members[i].key;
        struct quantity own = amount_of(most->arena, &amounts->members[i].value);
        const struct quantity *other = totals_find(beside, resource);
        totals_raise(most, resource, other ? plus(most->arena, &own, *other) : own);
    }
}

static void sum_containers(struct totals *sum, const struct value *spec, const char *which)
{
    const struct type *t = schema_type(STR("core/v1.PodSpec")), *container = schema_type(STR("core/v1.Container"));
    const char *path = arena_printf(sum->arena, "resources.%s", which);
    const struct value *list = value_path(t, spec, "containers");
    struct totals beside, most;
    totals_init(&beside, sum->arena);
    totals_init(&most, sum->arena);
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        totals_add(sum, value_path(container, &list->items[i], path));
    list = value_path(t, spec, "initContainers");
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++) {
        const struct value *amounts = value_path(container, &list->items[i], path);
        if (str_is(value_text(value_path(container, &list->items[i], "restartPolicy")), "Always")) {
            totals_add(sum, amounts);
            totals_add(&beside, amounts);
        } else {
            raise_for_init(&most, &beside, amounts);
        }
    }
    for (size_t i = 0; i < most.n; i++)
        totals_raise(sum, most.at[i].resource, most.at[i].amount);
    totals_fini(&beside);
    totals_fini(&most);
}

struct value pod_sum_containers(struct arena *a, const struct value *spec, const char *which)
{
    struct totals sum;
    totals_init(&sum, a);
    sum_containers(&sum, spec, which);
    struct value map = totals_map(&sum);
    totals_fini(&sum);
    return map;
}

/* What is not limited is not limited by overhead either. */
static void add_overhead(struct totals *sum, const struct value *amounts, bool limits)
{
    for (uint32_t i = 0; amounts->kind == VALUE_MAP && i < amounts->n; i++) {
        struct str resource = amounts->members[i].key;
        const struct quantity *have = totals_find(sum, resource);
        if (!limits || (have && quantity_sign(have) != 0))
            totals_set(sum, resource, plus(sum->arena, have, amount_of(sum->arena, &amounts->members[i].value)));
    }
}

struct value pod_sum(struct arena *a, const struct value *pod, const char *which)
{
    const struct type *t = schema_type(STR("core/v1.Pod"));
    struct totals sum;
    totals_init(&sum, a);
    sum_containers(&sum, value_path(t, pod, "spec"), which);
    const struct value *whole = value_path(t, pod, arena_printf(a, "spec.resources.%s", which));
    for (uint32_t i = 0; whole->kind == VALUE_MAP && i < whole->n; i++)
        totals_set(&sum, whole->members[i].key, amount_of(a, &whole->members[i].value));
    add_overhead(&sum, value_path(t, pod, "spec.overhead"), strcmp(which, "limits") == 0);
    struct value map = totals_map(&sum);
    totals_fini(&sum);
    return map;
}

static bool asks_something(struct arena *a, const struct value *resources)
{
    static const char *const maps[] = { "requests", "limits" }, *const names[] = { "cpu", "memory" };
    const struct type *t = schema_type(STR("core/v1.ResourceRequirements"));
    for (size_t i = 0; i < 4; i++) {
        const struct value *v = value_member(value_path(t, resources, maps[i / 2]), str_of(names[i % 2]));
        struct quantity q = v ? amount_of(a, v) : (struct quantity){ 0 };
        if (quantity_sign(&q) > 0)
            return true;
    }
    return false;
}

bool pod_is_best_effort(struct arena *a, const struct value *pod)
{
    static const char *const lists[] = { "spec.containers", "spec.initContainers" };
    const struct type *t = schema_type(STR("core/v1.Pod")), *container = schema_type(STR("core/v1.Container"));
    const struct value *whole = value_path(t, pod, "spec.resources");
    if (whole->kind == VALUE_STRUCT && asks_something(a, whole))
        return false;
    for (size_t l = 0; l < 2; l++) {
        const struct value *list = value_path(t, pod, lists[l]);
        for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
            if (asks_something(a, value_path(container, &list->items[i], "resources")))
                return false;
    }
    return true;
}
