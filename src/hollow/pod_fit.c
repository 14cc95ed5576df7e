/* hollow/pod_fit.c - see pod_fit.h. */
#include "hollow/pod_fit.h"

#include "api/pod_sums.h"
#include "api/quantity.h"
#include "base/err.h"
#include "controllers/read.h"

struct amounts {
    int64_t asked, used, capacity;
};

/* CPU is counted in thousandths. What is no amount is none. */
static int64_t amount(struct arena *a, const struct value *map, struct str resource)
{
    struct str text = member_text(map, resource);
    struct err e;
    int64_t n = 0;
    err_init(&e, a);
    if (text.n && quantity_parse_scaled(text, str_is(resource, "cpu") ? QUANTITY_MILLI : 0, &n, &e))
        return 0;
    return n;
}

static struct pod_refusal refuse(struct arena *a, struct str resource, struct amounts x)
{
    return (struct pod_refusal){
        arena_printf(a, "OutOf%.*s", STR_ARG(resource)),
        arena_printf(a, "Node didn't have enough resource: %.*s, requested: %lld, used: %lld, capacity: %lld", STR_ARG(resource),
                     (long long)x.asked, (long long)x.used, (long long)x.capacity),
    };
}

static bool is_too_much(const struct amounts *x)
{
    return x->asked > x->capacity - x->used;
}

static bool check(struct arena *a, struct str resource, const struct value *asked, const struct value *used, size_t n_others,
                  const struct value *capacity, struct pod_refusal *ret)
{
    struct amounts x = { .asked = amount(a, asked, resource), .capacity = amount(a, capacity, resource) };
    for (size_t i = 0; x.asked && i < n_others; i++)
        x.used += amount(a, &used[i], resource);
    if (!x.asked || !is_too_much(&x))
        return false;
    *ret = refuse(a, resource, x);
    return true;
}

static bool is_first(struct str resource)
{
    return str_is(resource, "cpu") || str_is(resource, "memory") || str_is(resource, "ephemeral-storage");
}

struct pod_refusal pod_fit(struct arena *a, const struct value *pod, const struct value *node, const struct value *const *others,
                           size_t n_others)
{
    const struct value *capacity = value_path(schema_type(STR("core/v1.Node")), node, "status.allocatable");
    struct amounts pods = { 1, (int64_t)n_others, amount(a, capacity, STR("pods")) };
    struct value asked = pod_sum(a, pod, "requests"), *used = ARENA_NEW_N(a, struct value, n_others);
    struct pod_refusal r = { NULL, NULL };
    static const char *const first[] = { "cpu", "memory", "ephemeral-storage" };
    if (is_too_much(&pods))
        return refuse(a, STR("pods"), pods);
    for (size_t i = 0; i < n_others; i++)
        used[i] = pod_sum(a, others[i], "requests");
    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
        if (check(a, str_of(first[i]), &asked, used, n_others, capacity, &r))
            return r;
    for (uint32_t i = 0; asked.kind == VALUE_MAP && i < asked.n; i++)
        if (!is_first(asked.members[i].key) && check(a, asked.members[i].key, &asked, used, n_others, capacity, &r))
            return r;
    return r;
}
