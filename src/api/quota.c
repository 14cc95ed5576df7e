/* api/quota.c - see quota.h. */
#include "api/quota.h"

#include "api/edit.h"
#include "api/pod_sums.h"
#include "base/strbuf.h"

static const struct type *quota_type(void)
{
    return schema_type(STR("core/v1.ResourceQuota"));
}

static const struct value *of_pod(const struct value *pod, const char *path)
{
    return value_path(schema_type(STR("core/v1.Pod")), pod, path);
}

/* ---- Scopes ---- */

static bool names_namespaces(const struct type *t, const struct value *term)
{
    const struct value *list = value_path(t, term, "namespaces");
    return (list->kind == VALUE_LIST && list->n) || value_path(t, term, "namespaceSelector")->kind == VALUE_STRUCT;
}

static bool looks_elsewhere(const struct value *pod)
{
    static const char *const required[] = {
        "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution",
        "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution",
    };
    static const char *const preferred[] = {
        "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution",
        "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution",
    };
    const struct type *t = schema_type(STR("core/v1.PodAffinityTerm"));
    const struct type *w = schema_type(STR("core/v1.WeightedPodAffinityTerm"));
    for (size_t i = 0; i < 2; i++) {
        const struct value *must = of_pod(pod, required[i]), *may = of_pod(pod, preferred[i]);
        for (uint32_t k = 0; must->kind == VALUE_LIST && k < must->n; k++)
            if (names_namespaces(t, &must->items[k]))
                return true;
        for (uint32_t k = 0; may->kind == VALUE_LIST && k < may->n; k++)
            if (names_namespaces(t, value_path(w, &may->items[k], "podAffinityTerm")))
                return true;
    }
    return false;
}

/* Operator and values of a scope against a name, which is empty when there is none. */
static bool selects(struct str operator, const struct value *values, struct str name)
{
    bool in = false;
    for (uint32_t i = 0; name.n && values->kind == VALUE_LIST && i < values->n; i++)
        in |= str_eq(value_text(&values->items[i]), name);
    if (str_is(operator, "In"))
        return in;
    if (str_is(operator, "NotIn"))
        return !in;
    return (name.n > 0) == str_is(operator, "Exists");
}

static bool pod_in_scope(struct arena *a, struct str scope, struct str operator, const struct value *values,
                         const struct value *pod)
{
    const struct value *deadline = of_pod(pod, "spec.activeDeadlineSeconds");
    bool ends = deadline->kind == VALUE_INT && deadline->i >= 0;
    if (str_is(scope, "Terminating"))
        return ends;
    if (str_is(scope, "NotTerminating"))
        return !ends;
    if (str_is(scope, "BestEffort"))
        return pod_is_best_effort(a, pod);
    if (str_is(scope, "NotBestEffort"))
        return !pod_is_best_effort(a, pod);
    if (str_is(scope, "PriorityClass"))
        return selects(operator, values, value_text(of_pod(pod, "spec.priorityClassName")));
    return str_is(scope, "CrossNamespacePodAffinity") && looks_elsewhere(pod);
}

/* A claim may be on its way from one class of attributes to another: it counts when one of them is meant. */
static bool claim_in_scope(struct str scope, struct str operator, const struct value *values, const struct value *claim)
{
    static const char *const paths[] = { "spec.volumeAttributesClassName", "status.currentVolumeAttributesClassName",
                                         "status.modifyVolumeStatus.targetVolumeAttributesClassName" };
    const struct type *t = schema_type(STR("core/v1.PersistentVolumeClaim"));
    bool any = false;
    if (!str_is(scope, "VolumeAttributesClass"))
        return false;
    for (size_t i = 0; i < 3; i++) {
        struct str name = value_text(value_path(t, claim, paths[i]));
        any |= name.n > 0;
        if (name.n && selects(operator, values, name))
            return true;
    }
    return !any && selects(operator, values, STR(""));
}

static bool in_scope(struct arena *a, struct str scope, struct str operator, const struct value *values,
                     const struct quota_object *o)
{
    if (o->sort == QUOTA_PODS)
        return pod_in_scope(a, scope, operator, values, o->value);
    return o->sort == QUOTA_CLAIMS && claim_in_scope(scope, operator, values, o->value);
}

bool quota_in_scopes(struct arena *a, const struct value *quota, const struct quota_object *o)
{
    const struct type *t = schema_type(STR("core/v1.ScopedResourceSelectorRequirement"));
    const struct value *scopes = value_path(quota_type(), quota, "spec.scopes"), none = { 0 };
    for (uint32_t i = 0; scopes->kind == VALUE_LIST && i < scopes->n; i++)
        if (!in_scope(a, value_text(&scopes->items[i]), STR("Exists"), &none, o))
            return false;
    const struct value *rules = value_path(quota_type(), quota, "spec.scopeSelector.matchExpressions");
    for (uint32_t i = 0; rules->kind == VALUE_LIST && i < rules->n; i++) {
        const struct value *rule = &rules->items[i];
        if (!in_scope(a, value_text(value_path(t, rule, "scopeName")), value_text(value_path(t, rule, "operator")),
                      value_path(t, rule, "values"), o))
            return false;
    }
    return true;
}

/* ---- What must be said ---- */

/* Of the resources whose amounts every container has to say: the field and the name there. */
static const struct {
    const char *resource, *field, *name;
} words[] = {
    { "cpu", "resources.requests", "cpu" },
    { "limits.cpu", "resources.limits", "cpu" },
    { "limits.memory", "resources.limits", "memory" },
    { "memory", "resources.requests", "memory" },
    { "requests.cpu", "resources.requests", "cpu" },
    { "requests.memory", "resources.requests", "memory" },
};

/* Appends the names of containers that do not say it, sorted, with commas between. Returns how many there are. */
static uint32_t add_silent(struct arena *a, const struct value *pod, size_t word, struct strbuf *to)
{
    static const char *const lists[] = { "spec.containers", "spec.initContainers" };
    const struct type *t = schema_type(STR("core/v1.Container"));
    const struct value *all[] = { of_pod(pod, lists[0]), of_pod(pod, lists[1]) };
    uint32_t n = 0, total = 0;
    for (size_t l = 0; l < 2; l++)
        total += all[l]->kind == VALUE_LIST ? all[l]->n : 0;
    struct member *silent = ARENA_NEW_N(a, struct member, total);
    for (size_t l = 0; l < 2; l++)
        for (uint32_t i = 0; all[l]->kind == VALUE_LIST && i < all[l]->n; i++) {
            const struct value *container = &all[l]->items[i];
            if (!value_member(value_path(t, container, words[word].field), str_of(words[word].name)))
                silent[n++].key = value_text(value_path(t, container, "name"));
        }
    n = value_sort_members(silent, n);
    for (uint32_t i = 0; i < n; i++)
        strbuf_printf(to, "%s%.*s", i ? "," : "", STR_ARG(silent[i].key));
    return n;
}

/* A pod that says it as a whole need not say it by container. */
static bool says_as_a_whole(const struct value *pod)
{
    const struct value *maps[] = { of_pod(pod, "spec.resources.requests"), of_pod(pod, "spec.resources.limits") };
    return (maps[0]->kind == VALUE_MAP && maps[0]->n) || (maps[1]->kind == VALUE_MAP && maps[1]->n);
}

enum err_code quota_check_words(struct arena *a, struct str quota, const struct value *hard,
                                const struct quota_object *o, struct err *e)
{
    if (o->sort != QUOTA_PODS || says_as_a_whole(o->value))
        return ERR_OK;
    struct strbuf lacking, names;
    strbuf_init(&lacking, ERR_MESSAGE_BYTES_MAX);
    strbuf_init(&names, ERR_MESSAGE_BYTES_MAX);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        strbuf_reset(&names);
        if (value_member(hard, str_of(words[i].resource)) && add_silent(a, o->value, i, &names))
            strbuf_printf(&lacking, "%s%s for: %.*s", lacking.n ? "; " : "", words[i].resource,
                          STR_ARG(strbuf_str(&names)));
    }
    enum err_code rc = ERR_OK;
    if (lacking.n)
        rc = err_set(e, ERR_FORBIDDEN, "failed quota: %.*s: must specify %.*s", STR_ARG(quota),
                     STR_ARG(strbuf_str(&lacking)));
    strbuf_fini(&names);
    strbuf_fini(&lacking);
    return rc;
}

/* ---- What is used ---- */

static struct quantity amount(struct arena *a, const struct value *map, struct str key)
{
    const struct value *v = value_member(map, key);
    struct quantity q = { 0 };
    struct err ignored;
    err_init(&ignored, a);
    if (!v || quantity_parse(a, value_text(v), &q, &ignored))
        return (struct quantity){ 0 };
    return q;
}

/* What the change adds to the use of a resource; never less than nothing: only a controller finds out what became
 * free. */
static enum err_code added(struct arena *a, const struct quota_change *c, struct str resource,
                           struct quantity *ret_more, struct err *e)
{
    *ret_more = quota_amount(a, c->object, resource);
    if (!c->old)
        return ERR_OK;
    struct quantity before = quota_amount(a, c->old, resource);
    if (quantity_sub(a, ret_more, &before, e))
        return e->code;
    if (quantity_sign(ret_more) < 0)
        *ret_more = (struct quantity){ 0 };
    return ERR_OK;
}

/* "cpu=2" at the end of a list. */
static const char *listed(struct arena *a, const char *list, struct str resource, const struct quantity *q)
{
    struct str text = quantity_text(a, q);
    return arena_printf(a, "%s%s%.*s=%.*s", list, *list ? "," : "", STR_ARG(resource), STR_ARG(text));
}

enum err_code quota_charge(struct arena *a, const struct quota_change *c, struct value *ret_used, struct err *e)
{
    const char *requested = "", *before = "", *limited = "";
    struct value all = *c->used;
    for (uint32_t i = 0; c->hard->kind == VALUE_MAP && i < c->hard->n; i++) {
        struct str resource = c->hard->members[i].key;
        struct quantity more, limit = amount(a, c->hard, resource), old = amount(a, c->used, resource), sum = old;
        if (added(a, c, resource, &more, e))
            return e->code;
        if (quantity_sign(&more) == 0)
            continue;
        if (quantity_add(a, &sum, &more, e))
            return e->code;
        if (quantity_cmp(&sum, &limit) > 0) {
            requested = listed(a, requested, resource, &more);
            before = listed(a, before, resource, &old);
            limited = listed(a, limited, resource, &limit);
        }
        all = edit_member(a, &all, resource, value_string(quantity_text(a, &sum)));
    }
    if (*requested && !c->only_counts)
        return err_set(e, ERR_FORBIDDEN, "exceeded quota: %.*s, requested: %s, used: %s, limited: %s",
                       STR_ARG(c->quota), requested, before, limited);
    *ret_used = all;
    return ERR_OK;
}

enum err_code quota_admit(struct arena *a, const struct value *quota, const struct value *used, const struct value *pod,
                          struct value *ret_used, struct err *e)
{
    const struct value *hard = value_path(quota_type(), quota, "spec.hard");
    struct quota_object o = quota_object(a, STR("pods"), STR(""), pod, 0);
    struct str name = value_text(value_path(quota_type(), quota, "metadata.name"));
    *ret_used = *used;
    if (!quota_in_scopes(a, quota, &o))
        return ERR_OK;
    if (quota_check_words(a, name, hard, &o, e))
        return e->code;
    struct quota_change change = { .quota = name, .hard = hard, .used = used, .object = &o };
    return quota_charge(a, &change, ret_used, e);
}
