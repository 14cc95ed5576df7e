/* apiserver/eviction.c - pods that leave, as far as disruption budgets allow. Upstream: core/pod/storage/eviction.go.
 *
 * Two steps. First the pod gets its condition, and in the same commit the budget one disruption less: either both or
 * nothing. Then it is deleted as any other. */
#include "api/edit.h"
#include "api/label_selector.h"
#include "apiserver/registry_priv.h"
#include "apiserver/subresource.h"
#include "codec/json.h"

#define VIOLATES "Cannot evict pod as it would violate the pod's disruption budget."

enum { DISRUPTED_PODS_MAX = 2000 }; /* as upstream */

static bool budget_is_ignored(const struct type *t, const struct value *pod)
{
    struct str phase = value_text(value_path(t, pod, "status.phase"));
    return str_is(phase, "Succeeded") || str_is(phase, "Failed") || str_is(phase, "Pending") ||
           meta_get(t, pod, "deletionTimestamp")->kind == VALUE_TIME;
}

static bool pod_is_ready(const struct type *t, const struct value *pod)
{
    const struct value *list = value_path(t, pod, "status.conditions");
    const struct type *ct = schema_type(STR("core/v1.PodCondition"));
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_is(value_text(value_path(ct, &list->items[i], "type")), "Ready"))
            return str_is(value_text(value_path(ct, &list->items[i], "status")), "True");
    return false;
}

/* ---- Which budgets ---- */

static bool budget_covers(struct operation *op, const struct type *pt, const struct value *budget, struct labels labels)
{
    struct selector selector;
    struct err e;
    err_init(&e, op->arena);
    const struct type *st = schema_type(STR("meta/v1.LabelSelector"));
    return !selector_of_value(op->arena, st, value_path(pt, budget, "spec.selector"), &selector, &e) &&
           selector_matches(&selector, labels);
}

static size_t find_budgets(struct operation *op, const struct type *t, const struct value *pod,
                           const struct value **ret_budget)
{
    const struct type *pt = schema_type(STR("policy/v1.PodDisruptionBudget"));
    const struct value **budgets;
    size_t n = stored_list(op->server->o.objects, stored_resource("poddisruptionbudgets", "policy"), op->namespace,
                           op->arena, &budgets), found = 0;
    struct selectable s = selectable_of(op->arena, op->resource, t, pod);
    for (size_t i = 0; i < n; i++)
        if (budget_covers(op, pt, budgets[i], s.labels)) {
            *ret_budget = budgets[i];
            found++;
        }
    return found;
}

/* ---- What a budget says ---- */

static int64_t number_at(const struct type *t, const struct value *v, const char *path)
{
    const struct value *n = value_path(t, v, path);
    return n->kind == VALUE_INT ? n->i : 0;
}

static void set_cause(struct operation *op, const char *message)
{
    op->causes = ARENA_NEW(op->arena, struct status_cause);
    *op->causes = (struct status_cause){ STR("DisruptionBudget"), str_of(message), STR("") };
    op->n_causes = 1;
}

static enum err_code ask_again(struct operation *op, struct str name)
{
    set_cause(op, arena_printf(op->arena, "The disruption budget %.*s is still being processed by the server.",
                               STR_ARG(name)));
    op->retry_after_s = 10;
    return err_set(&op->err, ERR_TOO_MANY_REQUESTS, VIOLATES);
}

static const struct value *disruption_condition(const struct type *pt, const struct type *ct, const struct value *budget)
{
    const struct value *list = value_path(pt, budget, "status.conditions");
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_is(value_text(value_path(ct, &list->items[i], "type")), "DisruptionAllowed"))
            return &list->items[i];
    return NULL;
}

static enum err_code refuse_disruption(struct operation *op, const struct type *pt, const struct value *budget,
                                       struct str name)
{
    const struct type *ct = schema_type(STR("meta/v1.Condition"));
    const struct value *c = disruption_condition(pt, ct, budget);
    int64_t desired = number_at(pt, budget, "status.desiredHealthy"), has = number_at(pt, budget, "status.currentHealthy");
    struct str reason = c ? value_text(value_path(ct, c, "reason")) : STR("");
    struct str message = c ? value_text(value_path(ct, c, "message")) : STR("");
    bool no = c && str_is(value_text(value_path(ct, c, "status")), "False") && message.n;
    const char *text;
    if (no && str_is(reason, "SyncFailed"))
        text = arena_printf(op->arena, "The disruption budget %.*s does not allow evicting pods currently because it failed "
                            "sync: %.*s", STR_ARG(name), STR_ARG(message));
    else if (has <= desired)
        text = arena_printf(op->arena, "The disruption budget %.*s needs %lld healthy pods and has %lld currently",
                            STR_ARG(name), (long long)desired, (long long)has);
    else if (no)
        text = arena_printf(op->arena, "The disruption budget %.*s does not allow evicting pods currently (%.*s): %.*s",
                            STR_ARG(name), STR_ARG(reason), STR_ARG(message));
    else
        text = arena_printf(op->arena, "The disruption budget %.*s does not allow evicting pods currently", STR_ARG(name));
    set_cause(op, text);
    return err_set(&op->err, ERR_TOO_MANY_REQUESTS, VIOLATES);
}

static enum err_code forbid(struct operation *op, struct str name, const char *why)
{
    op->err.kind = "poddisruptionbudget.policy";
    op->err.name = arena_cstr(op->arena, name);
    return err_set(&op->err, ERR_FORBIDDEN, "poddisruptionbudget.policy \"%s\" is forbidden: %s", op->err.name, why);
}

static enum err_code check_budget(struct operation *op, const struct type *pt, const struct value *budget)
{
    struct str name = meta_text(pt, budget, "name");
    int64_t allowed = number_at(pt, budget, "status.disruptionsAllowed");
    if (number_at(pt, budget, "status.observedGeneration") < number_at(pt, budget, "metadata.generation"))
        return ask_again(op, name);
    if (allowed < 0)
        return forbid(op, name, "pdb disruptions allowed is negative");
    if (value_path(pt, budget, "status.disruptedPods")->n > DISRUPTED_PODS_MAX)
        return forbid(op, name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller");
    return allowed == 0 ? refuse_disruption(op, pt, budget, name) : ERR_OK;
}

/* ---- One disruption less ---- */

static struct value disruption_used_up(struct operation *op, const struct type *pt, const struct value *budget)
{
    const struct type *ct = schema_type(STR("meta/v1.Condition"));
    struct value c = value_struct(op->arena, ct);
    c = edit_set(op->arena, ct, &c, "type", edit_text("DisruptionAllowed"));
    c = edit_set(op->arena, ct, &c, "status", edit_text("False"));
    c = edit_set(op->arena, ct, &c, "reason", edit_text("InsufficientPods"));
    c = edit_set(op->arena, ct, &c, "message", edit_text(""));
    c = edit_set(op->arena, ct, &c, "lastTransitionTime", value_time(registry_now_s(op), 0));
    c = edit_set(op->arena, ct, &c, "observedGeneration", value_int(number_at(pt, budget, "status.observedGeneration")));
    const struct value *list = value_path(pt, budget, "status.conditions");
    struct value kept = { .kind = VALUE_ABSENT };
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (!str_is(value_text(value_path(ct, &list->items[i], "type")), "DisruptionAllowed"))
            kept = edit_append(op->arena, &kept, list->items[i]);
    return edit_append(op->arena, &kept, c);
}

static void take_disruption(struct operation *op, const struct type *pt, const struct value *budget)
{
    struct arena *a = op->arena;
    const struct resource *r = stored_resource("poddisruptionbudgets", "policy");
    struct str key = stored_key(a, r, op->namespace, meta_text(pt, budget, "name"));
    struct store_item *item = store_get(op->server->o.store, key);
    int64_t left = number_at(pt, budget, "status.disruptionsAllowed") - 1;
    struct value v = edit_set(a, pt, budget, "status.disruptionsAllowed", value_int(left));
    if (left == 0)
        v = edit_set(a, pt, &v, "status.conditions", disruption_used_up(op, pt, &v));
    v = edit_set(a, pt, &v, "status.disruptedPods", edit_member(a, value_path(pt, &v, "status.disruptedPods"), op->name,
                                                               value_time(registry_now_s(op), 0)));
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    struct value rv = edit_text(arena_printf(a, "%llu", (unsigned long long)store_next_revision(op->server->o.store)));
    v = meta_set(a, pt, &v, "resourceVersion", rv);
    json_encode(&json, pt, &v);
    op->also[op->n_also++] = (struct admission_also){ .key = key, .value = arena_str(a, strbuf_str(&json)),
                                                      .revision = item->mod_revision };
    strbuf_fini(&json);
}

/* An unhealthy pod may go without touching the budget when enough others are healthy. */
static bool goes_unhealthy(const struct type *pt, const struct value *budget, const struct type *t, const struct value *pod)
{
    if (pod_is_ready(t, pod))
        return false;
    int64_t desired = number_at(pt, budget, "status.desiredHealthy");
    return str_is(value_text(value_path(pt, budget, "spec.unhealthyPodEvictionPolicy")), "AlwaysAllow") ||
           (desired > 0 && number_at(pt, budget, "status.currentHealthy") >= desired);
}

static enum err_code ask_budgets(struct operation *op, const struct type *t, const struct value *pod)
{
    const struct type *pt = schema_type(STR("policy/v1.PodDisruptionBudget"));
    const struct value *budget = NULL;
    size_t n = budget_is_ignored(t, pod) ? 0 : find_budgets(op, t, pod, &budget);
    if (n > 1)
        return err_set(&op->err, ERR_UNKNOWN, "This pod has more than one PodDisruptionBudget, which the eviction subresource "
                       "does not support.");
    if (n == 0 || goes_unhealthy(pt, budget, t, pod))
        return ERR_OK;
    if (check_budget(op, pt, budget))
        return op->err.code;
    if (!op->delete.dry_run)
        take_disruption(op, pt, budget);
    return ERR_OK;
}

/* ---- The request ---- */

/* deleteOptions of the body count as those of a DELETE. */
static enum err_code read_options(struct operation *op, const struct type *et, const struct value *eviction)
{
    const struct value *o = value_path(et, eviction, "deleteOptions");
    op->delete = (struct delete_options){ .dry_run = op->write.dry_run };
    if (o->kind != VALUE_STRUCT)
        return ERR_OK;
    const struct type *ot = schema_type(STR("meta/v1.DeleteOptions"));
    const struct value *grace = value_path(ot, o, "gracePeriodSeconds"), *dry = value_path(ot, o, "dryRun");
    const struct value *uid = value_path(ot, o, "preconditions.uid");
    const struct value *version = value_path(ot, o, "preconditions.resourceVersion");
    op->delete.has_grace_period = grace->kind == VALUE_INT;
    op->delete.grace_period_seconds = grace->kind == VALUE_INT ? grace->i : 0;
    op->delete.dry_run |= dry->kind == VALUE_LIST && dry->n > 0;
    op->delete.propagation_policy = value_text(value_path(ot, o, "propagationPolicy"));
    op->delete.uid = value_text(uid);
    op->delete.resource_version = value_text(version);
    return ERR_OK;
}

static enum err_code check_reads(struct operation *op, const struct type *et, const struct value *eviction)
{
    static const char option[] = "ignoreStoreReadErrorWithClusterBreakingPotential";
    const struct value *set = value_path(et, eviction, "deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential");
    if (set->kind != VALUE_BOOL || !set->b)
        return ERR_OK;
    struct field_path options = field_child(NULL, "deleteOptions"), at = field_child(&options, option);
    field_invalid(&op->errs, &at, field_bool(true), STR("can not be set for pod eviction, try after removing the option"));
    return status_invalid("Eviction.policy", arena_cstr(op->arena, op->name), &op->errs, &op->err);
}

static enum err_code attempt_evict(struct operation *op)
{
    const struct type *et = schema_type(STR("policy/v1.Eviction")), *t = schema_type(STR("core/v1.Pod"));
    struct value eviction;
    if (registry_decode(op, et, &eviction))
        return op->err.code;
    if (!str_eq(meta_text(et, &eviction, "name"), op->name))
        return err_set(&op->err, ERR_BAD_REQUEST, "name in URL does not match name in Eviction object");
    if (check_reads(op, et, &eviction) || read_options(op, et, &eviction) || registry_admit(op, ADMIT_CREATE, et, &eviction, NULL, true))
        return op->err.code;
    const struct value *pod = registry_current(op);
    if (!pod)
        return registry_not_found(op);
    if (op->phase == 0) {
        if (ask_budgets(op, t, pod))
            return op->err.code;
        struct value v = pod_with_condition(op, pod, "DisruptionTarget", "EvictionByEvictionAPI", "Eviction API: evicting");
        op->goes_on = true;
        if (!op->delete.dry_run)
            return registry_commit(op, &v);
    }
    op->delete.resource_version = (struct str){ NULL, 0 }; /* looked at in the first step, which changed it */
    subresource_succeed(op, 201);
    return delete_attempt(op);
}

void eviction_create(struct operation *op)
{
    registry_try(op, attempt_evict);
}
