/* controllers/disruption.c - PodDisruptionBudgets know how many of their pods may go. Upstream: controller/disruption.
 *
 * Two queues: budgets, whose status is counted (disruption_plan.c), and pods that somebody wanted to evict: after two minutes in
 * which nobody did, their condition says so. */
#include <stdlib.h>

#include "api/edit.h"
#include "apiserver/subresource.h"
#include "controllers/condition.h"
#include "controllers/controllers.h"
#include "controllers/disruption_plan.h"
#include "controllers/event.h"
#include "controllers/read.h"
#include "controllers/service_pods.h"
#include "controllers/turn.h"

#define CONTROLLER "disruption-controller"
#define REPORTER "controllermanager"

enum { STALE_S = 120 };

struct disruption_controller {
    struct cluster *cluster;
    struct events *events;
    struct work_queue *queue, *stale; /* budgets; pods */
};

static const struct resource *budgets(void)
{
    return stored_resource("poddisruptionbudgets", "policy");
}

static bool select_by(struct arena *a, const struct value *budget, struct selector *ret_selector)
{
    struct err e;
    err_init(&e, a);
    return !selector_of_value(a, schema_type(STR("meta/v1.LabelSelector")), value_path(budget_type(), budget, "spec.selector"),
                              ret_selector, &e);
}

static bool selects(struct arena *a, const struct selector *s, const struct value *pod)
{
    return selector_matches(s, selectable_of(a, stored_resource("pods", ""), pod_type(), pod).labels);
}

/* ---- Budgets ---- */

struct finder {
    struct disruption_controller *controller;
    struct str namespace;
};

static const struct value *find_object(void *context, const struct resource *r, struct str name)
{
    const struct finder *f = context;
    return stored_get(cluster_objects(f->controller->cluster), r, f->namespace, name);
}

static size_t pods_of(struct disruption_controller *c, struct str namespace, const struct value *budget, struct arena *a,
                      const struct value ***ret_pods)
{
    struct selector selector;
    const struct value **pods;
    size_t n = stored_list(cluster_objects(c->cluster), stored_resource("pods", ""), namespace, a, &pods), kept = 0;
    *ret_pods = pods;
    if (!select_by(a, budget, &selector))
        return 0;
    for (size_t i = 0; i < n; i++)
        if (selects(a, &selector, pods[i]))
            pods[kept++] = pods[i];
    return kept;
}

static void add_requirement(struct strbuf *to, const struct value *requirement)
{
    const struct type *t = schema_type(STR("meta/v1.LabelSelectorRequirement"));
    const struct value *values = value_path(t, requirement, "values");
    strbuf_printf(to, "LabelSelectorRequirement{Key:%.*s,Operator:%.*s,Values:[", STR_ARG(text_at(t, requirement, "key")),
                  STR_ARG(text_at(t, requirement, "operator")));
    for (uint32_t i = 0; i < list_length(values); i++)
        strbuf_printf(to, "%s%.*s", i ? " " : "", STR_ARG(value_text(&values->items[i])));
    STRBUF_ADD_LIT(to, "],},");
}

/* The selector as upstream's Events have it: what Go prints of the struct. */
static const char *selector_as_printed(struct arena *a, const struct value *selector)
{
    const struct type *t = schema_type(STR("meta/v1.LabelSelector"));
    const struct value *labels = value_path(t, selector, "matchLabels"), *more = value_path(t, selector, "matchExpressions");
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&text, "&LabelSelector{MatchLabels:map[string]string{");
    for (uint32_t i = 0; labels->kind == VALUE_MAP && i < labels->n; i++)
        strbuf_printf(&text, "%.*s: %.*s,", STR_ARG(labels->members[i].key), STR_ARG(value_text(&labels->members[i].value)));
    STRBUF_ADD_LIT(&text, "},MatchExpressions:[]LabelSelectorRequirement{");
    for (uint32_t i = 0; i < list_length(more); i++)
        add_requirement(&text, &more->items[i]);
    STRBUF_ADD_LIT(&text, "},}");
    const char *copy = arena_cstr(a, strbuf_str(&text));
    strbuf_fini(&text);
    return copy;
}

static void tell(struct disruption_controller *c, struct arena *a, const struct disruption_state *s,
                 const struct disruption_plan *plan)
{
    struct object_reference about = event_reference(budgets(), s->budget);
    if (s->n_pods == 0)
        events_record(c->events, REPORTER, &about, "Normal", "NoPods", "No matching pods found");
    if (plan->error)
        events_record(c->events, REPORTER, &about, "Warning", "CalculateExpectedPodCountFailed",
                      "Failed to calculate the number of expected pods: %s", plan->error);
    if (plan->unmanaged && !plan->error)
        events_record(c->events, REPORTER, &about, "Warning", "UnmanagedPods",
                      "Pods selected by this PodDisruptionBudget (selector: %s) were found to be unmanaged. As a result, the "
                      "status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for "
                      "these pods please set \".spec.minAvailable\" field of the PDB to an integer value.",
                      selector_as_printed(a, value_path(budget_type(), s->budget, "spec.selector")));
    struct str namespace = text_at(budget_type(), s->budget, "metadata.namespace");
    for (size_t i = 0; i < plan->n_not_deleted; i++) {
        struct object_reference pod = event_reference(stored_resource("pods", ""), plan->not_deleted[i]);
        events_record(c->events, REPORTER, &pod, "Warning", "NotDeleted",
                      "Pod was expected by PDB %.*s/%.*s to be deleted but it wasn't", STR_ARG(namespace), STR_ARG(namespace));
    }
}

static void sync_budget(struct disruption_controller *c, struct turn *t, const struct value *budget, struct arena *a)
{
    struct str key = { t->key, t->n_key }, namespace, name;
    const struct value **pods;
    turn_read_key(key, &namespace, &name);
    struct finder finder = { c, namespace };
    struct disruption_state s = { .budget = budget, .now_s = cluster_now_s(c->cluster), .object = find_object,
                                  .context = &finder };
    s.n_pods = pods_of(c, namespace, budget, a, &pods);
    s.pods = pods;
    struct disruption_plan plan = disruption_plan(a, &s);
    tell(c, a, &s, &plan);
    if (plan.writes)
        turn_begin(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .resource = budgets(), .subresource = "status",
                                             .namespace = namespace, .name = name, .object = &plan.budget });
    if (plan.recheck_s)
        work_queue_add_after(c->queue, key, (plan.recheck_s - s.now_s) * 1000 + 1000);
}

static void work(void *context, struct str key)
{
    struct disruption_controller *c = context;
    struct str namespace, name;
    struct arena a;
    arena_init(&a);
    struct turn *t = turn_new(c->cluster, c->queue, CONTROLLER, key);
    turn_read_key(key, &namespace, &name);
    const struct value *budget = stored_get(cluster_objects(c->cluster), budgets(), namespace, name);
    if (budget)
        sync_budget(c, t, budget, &a);
    turn_end(t);
    arena_fini(&a);
}

static void budget_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct disruption_controller *c = context;
    struct str namespace, name;
    struct arena a;
    if (!item)
        return;
    const struct value *is = stored_value(cluster_objects(c->cluster), r, item);
    const struct value *was = prev ? stored_value(cluster_objects(c->cluster), r, prev) : NULL;
    if (was && value_equal(value_path(budget_type(), is, "spec"), value_path(budget_type(), was, "spec")) &&
        value_equal(value_path(budget_type(), is, "status"), value_path(budget_type(), was, "status")))
        return;
    arena_init_small(&a);
    stored_read_key(r, store_item_key(item), &namespace, &name);
    work_queue_add(c->queue, turn_key_of(&a, namespace, name));
    arena_fini(&a);
}

/* ---- Pods ---- */

static void work_stale(void *context, struct str key)
{
    struct disruption_controller *c = context;
    struct str namespace, name;
    struct arena a;
    int64_t since_s;
    arena_init(&a);
    struct turn *t = turn_new(c->cluster, c->stale, CONTROLLER, key);
    turn_read_key(key, &namespace, &name);
    const struct resource *r = stored_resource("pods", "");
    const struct value *pod = stored_get(cluster_objects(c->cluster), r, namespace, name);
    if (pod && disruption_is_stale(pod, &since_s)) {
        int64_t now_s = cluster_now_s(c->cluster);
        struct condition no = { .type = "DisruptionTarget", .status = "False",
                                .observed_generation = int_at(pod_type(), pod, "metadata.generation", 0) };
        const struct value *list = value_path(pod_type(), pod, "status.conditions");
        struct value next = condition_set(&a, schema_type(STR("core/v1.PodCondition")), list, &no, now_s);
        next = edit_set(&a, pod_type(), pod, "status.conditions", next);
        if (since_s + STALE_S > now_s)
            work_queue_add_after(c->stale, key, (since_s + STALE_S - now_s) * 1000);
        else
            turn_begin(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .resource = r, .subresource = "status",
                                                 .namespace = namespace, .name = name, .object = &next });
    }
    turn_end(t);
    arena_fini(&a);
}

static bool matters(const struct value *is, const struct value *was)
{
    static const char *const paths[] = { "metadata.labels", "metadata.deletionTimestamp", "metadata.ownerReferences",
                                         "status.conditions" };
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        if (!value_equal(value_path(pod_type(), is, paths[i]), value_path(pod_type(), was, paths[i])))
            return true;
    return false;
}

static void add_budgets_of(struct disruption_controller *c, struct arena *a, struct str namespace, const struct value *is,
                           const struct value *was)
{
    const struct value **all;
    size_t n = stored_list(cluster_objects(c->cluster), budgets(), namespace, a, &all);
    for (size_t i = 0; i < n; i++) {
        struct selector s;
        if (select_by(a, all[i], &s) && ((is && selects(a, &s, is)) || (was && selects(a, &s, was))))
            work_queue_add(c->queue, turn_key_of(a, namespace, text_at(budget_type(), all[i], "metadata.name")));
    }
}

static void pod_changed_here(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct disruption_controller *c = context;
    struct stored *objects = cluster_objects(c->cluster);
    const struct value *is = item ? stored_value(objects, r, item) : NULL, *was = prev ? stored_value(objects, r, prev) : NULL;
    struct str namespace, name;
    struct arena a;
    int64_t since_s;
    if (is && was && !matters(is, was))
        return;
    arena_init(&a);
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    add_budgets_of(c, &a, namespace, is, was);
    if (is && disruption_is_stale(is, &since_s))
        work_queue_add(c->stale, turn_key_of(&a, namespace, name));
    arena_fini(&a);
}

void *disruption_controller_start(const struct controller_context *context)
{
    struct disruption_controller *c = mem_zalloc(sizeof(*c));
    c->cluster = context->cluster;
    c->events = context->events;
    c->queue = work_queue_new(cluster_loop(c->cluster), 1, work, c);
    work_queue_show(c->queue, context->queues, "disruption");
    c->stale = work_queue_new(cluster_loop(c->cluster), 1, work_stale, c);
    work_queue_show(c->stale, context->queues, "stale_pod_disruption");
    cluster_watch(c->cluster, budgets(), budget_changed, c);
    cluster_watch(c->cluster, stored_resource("pods", ""), pod_changed_here, c);
    return c;
}

void disruption_controller_stop(void *own_controller)
{
    struct disruption_controller *c = own_controller;
    work_queue_free(c->queue);
    work_queue_free(c->stale);
    free(c);
}
