/* api/pod_sums.c - see pod_sums.h.
 *
 * Resource by resource, not container by container: a pod may name as many resources as it has bytes, and a map that
 * grows with every container would be copied as often. */
#include "api/pod_sums.h"

#include "api/quantity.h"
#include "base/sort.h"

/* One amount that something of the pod asks for. */
struct part {
    struct str resource, amount;
    enum { PART_INIT, PART_BESIDE, PART_CONTAINER, PART_WHOLE, PART_OVERHEAD } of;
};

struct parts {
    struct part *at;
    size_t n;
};

static void add_parts(struct parts *p, const struct value *map, int of)
{
    for (uint32_t i = 0; map->kind == VALUE_MAP && i < map->n; i++)
        p->at[p->n++] = (struct part){ map->members[i].key, value_text(&map->members[i].value), of };
}

static void add_init(struct parts *p, const struct value *list, const char *path)
{
    const struct type *t = schema_type(STR("core/v1.Container"));
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++) {
        bool stays = str_is(value_text(value_path(t, &list->items[i], "restartPolicy")), "Always");
        add_parts(p, value_path(t, &list->items[i], path), stays ? PART_BESIDE : PART_INIT);
    }
}

static size_t map_size(const struct value *v)
{
    return v->kind == VALUE_MAP ? v->n : 0;
}

static size_t list_size(const struct value *list, const char *path)
{
    const struct type *t = schema_type(STR("core/v1.Container"));
    size_t n = 0;
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        n += map_size(value_path(t, &list->items[i], path));
    return n;
}

static int by_resource(const void *a, const void *b)
{
    return str_cmp(((const struct part *)a)->resource, ((const struct part *)b)->resource);
}

/* Sorted by resource, and within one in the order of the pod. */
static struct parts all_parts(struct arena *a, const struct value *pod, const char *which)
{
    const struct type *t = schema_type(STR("core/v1.Pod"));
    const char *path = arena_printf(a, "resources.%s", which);
    const struct value *init = value_path(t, pod, "spec.initContainers"), *list = value_path(t, pod, "spec.containers");
    const struct value *whole = value_path(t, pod, arena_printf(a, "spec.resources.%s", which));
    const struct value *overhead = value_path(t, pod, "spec.overhead");
    size_t n = list_size(init, path) + list_size(list, path) + map_size(whole) + map_size(overhead);
    struct parts p = { ARENA_NEW_N(a, struct part, n), 0 };
    add_init(&p, init, path);
    const struct type *container = schema_type(STR("core/v1.Container"));
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        add_parts(&p, value_path(container, &list->items[i], path), PART_CONTAINER);
    add_parts(&p, whole, PART_WHOLE);
    add_parts(&p, overhead, PART_OVERHEAD);
    sort_stable(a, p.at, p.n, sizeof(*p.at), by_resource);
    return p;
}

static struct quantity amount(struct arena *a, struct str text)
{
    struct err ignored;
    err_init(&ignored, a);
    struct quantity q = { 0 };
    if (quantity_parse(a, text, &q, &ignored))
        q = (struct quantity){ 0 };
    return q;
}

/* What has more digits than an amount may have is left out. */
static struct quantity plus(struct arena *a, struct quantity q, const struct quantity *more)
{
    struct err ignored;
    err_init(&ignored, a);
    struct quantity sum = q;
    return quantity_add(a, &sum, more, &ignored) ? q : sum;
}

/* What happens to one resource on the way through the pod. */
struct fold {
    struct quantity beside; /* what runs with everything after it */
    struct quantity most;   /* the most at any time before the containers */
    struct quantity sum;
    bool before; /* something was asked for before the containers */
};

static void fold_before(struct arena *a, struct fold *f, const struct quantity *q, bool stays)
{
    struct quantity now = plus(a, f->beside, q);
    if (stays)
        f->beside = now;
    if (!f->before || quantity_cmp(&now, &f->most) > 0)
        f->most = now;
    f->before = true;
}

/* Parts come in the order of the enum: what is before the containers, they, the pod as a whole, overhead. Of
 * `limits`, overhead counts only where there is one. */
static struct quantity sum_of(struct arena *a, const struct part *at, size_t n, bool limits)
{
    struct fold f = { 0 };
    size_t i = 0;
    for (; i < n && at[i].of <= PART_BESIDE; i++) {
        struct quantity q = amount(a, at[i].amount);
        fold_before(a, &f, &q, at[i].of == PART_BESIDE);
    }
    f.sum = f.beside;
    for (; i < n && at[i].of == PART_CONTAINER; i++) {
        struct quantity q = amount(a, at[i].amount);
        f.sum = plus(a, f.sum, &q);
    }
    if (f.before && quantity_cmp(&f.most, &f.sum) > 0)
        f.sum = f.most;
    if (i < n && at[i].of == PART_WHOLE)
        f.sum = amount(a, at[i++].amount);
    if (i < n && !(limits && quantity_sign(&f.sum) == 0)) {
        struct quantity overhead = amount(a, at[i].amount);
        f.sum = plus(a, f.sum, &overhead);
    }
    return f.sum;
}

struct value pod_sum(struct arena *a, const struct value *pod, const char *which)
{
    struct parts p = all_parts(a, pod, which);
    struct member *members = ARENA_NEW_N(a, struct member, p.n);
    uint32_t n = 0;
    for (size_t i = 0, end; i < p.n; i = end) {
        for (end = i + 1; end < p.n && str_eq(p.at[end].resource, p.at[i].resource); end++)
            ;
        bool limits = strcmp(which, "limits") == 0;
        struct quantity sum = sum_of(a, p.at + i, end - i, limits);
        if (limits && p.at[i].of == PART_OVERHEAD)
            continue;
        members[n++] = (struct member){ p.at[i].resource, value_string(quantity_text(a, &sum)) };
    }
    return n ? value_map(members, n) : (struct value){ 0 };
}

/* Something of CPU or memory, in a struct ResourceRequirements. */
static bool asks_something(struct arena *a, const struct value *resources)
{
    static const char *const maps[] = { "requests", "limits" }, *const names[] = { "cpu", "memory" };
    const struct type *t = schema_type(STR("core/v1.ResourceRequirements"));
    for (size_t i = 0; i < 4; i++) {
        const struct value *v = value_member(value_path(t, resources, maps[i / 2]), str_of(names[i % 2]));
        struct quantity q = v ? amount(a, value_text(v)) : (struct quantity){ 0 };
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
