/* api/quota.c - see quota.h. */
#include "api/quota.h"

#include "api/edit.h"
#include "api/pod_sums.h"
#include "api/quantity.h"

static const struct type *quota_type(void)
{
    return schema_type(STR("core/v1.ResourceQuota"));
}

static const struct value *of_pod(const struct value *pod, const char *path)
{
    return value_path(schema_type(STR("core/v1.Pod")), pod, path);
}

/* ---- Scopes ---- */

static bool asks_nothing(struct arena *a, const struct value *pod)
{
    struct value requests = pod_sum(a, pod, "requests"), limits = pod_sum(a, pod, "limits");
    static const char *const names[] = { "cpu", "memory" };
    for (size_t i = 0; i < 2; i++)
        if ((requests.kind == VALUE_MAP && value_member(&requests, str_of(names[i]))) ||
            (limits.kind == VALUE_MAP && value_member(&limits, str_of(names[i]))))
            return false;
    return true;
}

static bool in_scope(struct arena *a, struct str scope, const struct value *pod)
{
    if (str_is(scope, "BestEffort"))
        return asks_nothing(a, pod);
    if (str_is(scope, "NotBestEffort"))
        return !asks_nothing(a, pod);
    bool ends = of_pod(pod, "spec.activeDeadlineSeconds")->kind == VALUE_INT;
    if (str_is(scope, "Terminating"))
        return ends;
    if (str_is(scope, "NotTerminating"))
        return !ends;
    if (str_is(scope, "PriorityClass"))
        return value_text(of_pod(pod, "spec.priorityClassName")).n > 0;
    return false; /* CrossNamespacePodAffinity and what may come: never counted too much */
}

static bool has_text(const struct value *list, struct str text)
{
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_eq(value_text(&list->items[i]), text))
            return true;
    return false;
}

static bool selects(struct arena *a, const struct value *requirement, const struct value *pod)
{
    const struct type *t = schema_type(STR("core/v1.ScopedResourceSelectorRequirement"));
    struct str scope = value_text(value_path(t, requirement, "scopeName"));
    struct str operator = value_text(value_path(t, requirement, "operator"));
    const struct value *values = value_path(t, requirement, "values");
    struct str class = value_text(of_pod(pod, "spec.priorityClassName"));
    if (str_is(operator, "In"))
        return str_is(scope, "PriorityClass") && has_text(values, class);
    if (str_is(operator, "NotIn"))
        return str_is(scope, "PriorityClass") && !has_text(values, class);
    return in_scope(a, scope, pod) == !str_is(operator, "DoesNotExist");
}

static bool covers(struct arena *a, const struct value *quota, const struct value *pod)
{
    const struct value *scopes = value_path(quota_type(), quota, "spec.scopes");
    for (uint32_t i = 0; scopes->kind == VALUE_LIST && i < scopes->n; i++)
        if (!in_scope(a, value_text(&scopes->items[i]), pod))
            return false;
    const struct value *rules = value_path(quota_type(), quota, "spec.scopeSelector.matchExpressions");
    for (uint32_t i = 0; rules->kind == VALUE_LIST && i < rules->n; i++)
        if (!selects(a, &rules->items[i], pod))
            return false;
    return true;
}

/* ---- Usage ---- */

/* What a resource of a quota means of a pod: "requests.cpu" and "cpu" are the request of cpu. False: nothing. */
static bool means(struct str resource, const char **ret_which, struct str *ret_name)
{
    if (str_starts(resource, STR("limits."))) {
        *ret_which = "limits";
        *ret_name = str_from(resource, 7);
        return true;
    }
    *ret_which = "requests";
    bool prefixed = str_starts(resource, STR("requests."));
    *ret_name = prefixed ? str_from(resource, 9) : resource;
    return prefixed ? !str_is(*ret_name, "storage")
                    : str_is(resource, "cpu") || str_is(resource, "memory") || str_is(resource, "ephemeral-storage") ||
                          str_starts(resource, STR("hugepages-"));
}

static struct quantity amount(struct arena *a, const struct value *map, struct str key)
{
    const struct value *v = map->kind == VALUE_MAP ? value_member(map, key) : NULL;
    struct quantity q = { 0 };
    struct err ignored;
    err_init(&ignored, a);
    if (!v || quantity_parse(a, value_text(v), &q, &ignored))
        return (struct quantity){ 0 };
    return q;
}

/* False: the quota's resource is not about pods. */
static bool usage_of(struct arena *a, const struct value *pod, struct str resource, struct quantity *ret_usage)
{
    const char *which;
    struct str name;
    if (str_is(resource, "pods") || str_is(resource, "count/pods")) {
        *ret_usage = quantity_make(1, 0, QUANTITY_DECIMAL_SI);
        return true;
    }
    if (!means(resource, &which, &name))
        return false;
    struct value sum = pod_sum(a, pod, which);
    *ret_usage = amount(a, &sum, name);
    return true;
}

/* Names of containers that do not say how much they want of it, joined by commas; "": all do. */
static const char *silent(struct arena *a, const struct value *pod, const char *which, struct str name)
{
    const struct type *t = schema_type(STR("core/v1.Container"));
    const struct value *list = of_pod(pod, "spec.containers");
    const char *names = "";
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++) {
        const struct value *map = value_path(t, &list->items[i], arena_printf(a, "resources.%s", which));
        if (map->kind != VALUE_MAP || !value_member(map, name))
            names = arena_printf(a, "%s%s%.*s", names, *names ? "," : "",
                                 STR_ARG(value_text(value_path(t, &list->items[i], "name"))));
    }
    return names;
}

static enum err_code want_words(struct arena *a, const struct value *quota, const struct value *pod, struct err *e)
{
    const struct value *hard = value_path(quota_type(), quota, "spec.hard");
    const char *lacking = "";
    for (uint32_t i = 0; hard->kind == VALUE_MAP && i < hard->n; i++) {
        const char *which;
        struct str name, resource = hard->members[i].key;
        if (!means(resource, &which, &name) || !(str_is(name, "cpu") || str_is(name, "memory")))
            continue;
        const char *names = silent(a, pod, which, name);
        if (*names)
            lacking = arena_printf(a, "%s%s%.*s for: %s", lacking, *lacking ? "; " : "", STR_ARG(resource), names);
    }
    if (!*lacking)
        return ERR_OK;
    return err_set(e, ERR_FORBIDDEN, "failed quota: %.*s: must specify %s",
                   STR_ARG(value_text(value_path(quota_type(), quota, "metadata.name"))), lacking);
}

/* "cpu=2" at the end of a list. */
static const char *listed(struct arena *a, const char *list, struct str resource, const struct quantity *q)
{
    struct str text = quantity_text(a, q);
    return arena_printf(a, "%s%s%.*s=%.*s", list, *list ? "," : "", STR_ARG(resource), STR_ARG(text));
}

enum err_code quota_admit(struct arena *a, const struct value *quota, const struct value *used, const struct value *pod,
                          struct value *ret_used, struct err *e)
{
    *ret_used = *used;
    if (!covers(a, quota, pod))
        return ERR_OK;
    if (want_words(a, quota, pod, e))
        return e->code;
    const struct value *hard = value_path(quota_type(), quota, "spec.hard");
    const char *requested = "", *before = "", *limited = "";
    struct value all = *used;
    for (uint32_t i = 0; hard->kind == VALUE_MAP && i < hard->n; i++) {
        struct str resource = hard->members[i].key;
        struct quantity usage, limit = amount(a, hard, resource), sum = amount(a, used, resource), old = sum;
        if (!usage_of(a, pod, resource, &usage) || quantity_sign(&usage) == 0)
            continue;
        if (quantity_add(a, &sum, &usage, e))
            return e->code;
        if (quantity_cmp(&sum, &limit) > 0) {
            requested = listed(a, requested, resource, &usage);
            before = listed(a, before, resource, &old);
            limited = listed(a, limited, resource, &limit);
        }
        all = edit_member(a, &all, resource, value_string(quantity_text(a, &sum)));
    }
    if (*requested)
        return err_set(e, ERR_FORBIDDEN, "exceeded quota: %.*s, requested: %s, used: %s, limited: %s",
                       STR_ARG(value_text(value_path(quota_type(), quota, "metadata.name"))), requested, before, limited);
    *ret_used = all;
    return ERR_OK;
}
