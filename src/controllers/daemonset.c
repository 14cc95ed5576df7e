/* controllers/daemonset.c - DaemonSets: a pod on each node that the template fits.
 *
 * Here are the changes that make the controller look at a set. Nodes that changed are collected and looked at together, because
 * each has to be held against every set. Upstream: controller/daemon. */
#include <stdlib.h>

#include "controllers/daemonset_history.h"
#include "controllers/daemonset_pod.h"
#include "controllers/daemonset_priv.h"
#include "controllers/read.h"
#include "controllers/turn.h"

#define CONTROLLER "daemonset-controller"
#define KIND "DaemonSet"
#define SWEEP STR("nodes")

enum {
    WORKERS = 2,
    /* Looking at a set costs about as much as it has pods: the more there are, the more changes are taken together. */
    PODS_PER_MS = 64,
};

static const struct type *sets(void)
{
    return schema_type(STR("apps/v1.DaemonSet"));
}

static const struct type *nodes(void)
{
    return schema_type(STR("core/v1.Node"));
}

static const struct resource *set_resource(void)
{
    return stored_resource("daemonsets", "apps");
}

static void look_at(void *context, struct str key)
{
    struct daemonset_controller *c = context;
    work_queue_add(c->queue, key);
}

/* ---- Pods and revisions ---- */

/* The key of the owner, when it is a DaemonSet and the one that is meant; else empty. */
static struct str owner_key(struct daemonset_controller *c, struct arena *a, const struct pod_facts *f)
{
    if (!str_is(f->owner_kind, KIND))
        return STR("");
    const struct value *set = stored_get(cluster_objects(c->cluster), set_resource(), f->namespace, f->owner_name);
    bool meant = set && str_eq(text_at(sets(), set, "metadata.uid"), f->owner_uid);
    return meant ? turn_key_of(a, f->namespace, f->owner_name) : STR("");
}

static void pod_left(struct daemonset_controller *c, struct arena *a, const struct pod_facts *f)
{
    struct str key = owner_key(c, a, f);
    if (!key.n)
        return;
    expectations_deletion_observed(c->expectations, key, f->name);
    look_at(c, key);
}

/* For what only changes the status. */
static void look_soon(struct daemonset_controller *c, struct str key, const struct pod_facts *f)
{
    int64_t ms = pod_index_n_of_owner(c->pods, f->owner_uid) / PODS_PER_MS;
    if (ms)
        work_queue_add_after(c->queue, key, ms);
    else
        work_queue_add(c->queue, key);
}

static void pod_is_here(struct daemonset_controller *c, struct arena *a, const struct pod_facts *is, const struct pod_facts *was)
{
    struct str key = owner_key(c, a, is);
    if (was && !str_eq(is->owner_uid, was->owner_uid)) {
        struct str old = owner_key(c, a, was);
        if (old.n)
            look_at(c, old);
    }
    if (!key.n && !is->owner_uid.n)
        owner_index_find(c->selectors, is->namespace, is->labels, look_at, c);
    if (!key.n)
        return;
    if (!was)
        expectations_creation_observed(c->expectations, key);
    look_soon(c, key, is);
}

static void pod_has_changed(void *context, const struct pod_facts *is, const struct pod_facts *was)
{
    struct daemonset_controller *c = context;
    struct arena a;
    arena_init_small(&a);
    if (!is)
        pod_left(c, &a, was);
    else if (is->deleted_s)
        pod_left(c, &a, is);
    else
        pod_is_here(c, &a, is, was);
    arena_fini(&a);
}

/* Nobody waits for a revision of its own that is new; what else happens to one is looked at. */
static void revision_has_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct daemonset_controller *c = context;
    struct arena a;
    (void)r;
    arena_init_small(&a);
    struct value v = cluster_metadata(&a, item ? item : prev);
    struct pod_facts *f = pod_facts_new(&v);
    struct str key = owner_key(c, &a, f);
    if (key.n && prev)
        look_at(c, key);
    else if (item && !f->owner_uid.n)
        owner_index_find(c->selectors, f->namespace, f->labels, look_at, c);
    pod_facts_free(f);
    arena_fini(&a);
}

/* ---- Sets ---- */

static struct str uid_of(struct arena *a, struct store_item *item)
{
    struct value v = cluster_metadata(a, item);
    return text_at(schema_type(STR("meta/v1.PartialObjectMetadata")), &v, "metadata.uid");
}

static void set_has_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct daemonset_controller *c = context;
    struct str namespace, name;
    struct arena a;
    arena_init_small(&a);
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    struct str key = turn_key_of(&a, namespace, name);
    if (!item || (prev && !str_eq(uid_of(&a, item), uid_of(&a, prev))))
        expectations_forget(c->expectations, key);
    if (item) {
        const struct value *set = stored_value(cluster_objects(c->cluster), r, item);
        owner_index_put(c->selectors, key, namespace, value_path(sets(), set, "spec.selector.matchLabels"));
    } else {
        owner_index_remove(c->selectors, key);
    }
    look_at(c, key);
    arena_fini(&a);
}

/* ---- Nodes ---- */

/* Only labels and taints decide. */
static bool matters(struct arena *a, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    if (!prev)
        return true;
    struct value is = cluster_value(a, r, item), was = cluster_value(a, r, prev);
    return !value_equal(value_path(nodes(), &is, "metadata.labels"), value_path(nodes(), &was, "metadata.labels")) ||
           !value_equal(value_path(nodes(), &is, "spec.taints"), value_path(nodes(), &was, "spec.taints"));
}

static void node_has_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct daemonset_controller *c = context;
    struct str namespace, name;
    struct arena a;
    if (!item)
        return; /* its pods are the garbage collector's */
    arena_init_small(&a);
    stored_read_key(r, store_item_key(item), &namespace, &name);
    if (!map_str_find(&c->changed_nodes, name) && matters(&a, r, item, prev)) {
        char *copy = mem_alloc(name.n + 1);
        memcpy(copy, name.p, name.n);
        map_str_put(&c->changed_nodes, (struct str){ copy, name.n }, NULL)->ptr = copy;
        work_queue_add(c->sweeps, SWEEP);
    }
    arena_fini(&a);
}

static void forget_nodes(struct daemonset_controller *c)
{
    for (struct map_str_slot *s = NULL; (s = map_str_next(&c->changed_nodes, s));)
        free(s->value.ptr);
    map_str_fini(&c->changed_nodes);
    map_str_init(&c->changed_nodes);
}

/* Whether a set is to be looked at because of a node: a pod is missing or too many there, or those that do not belong where they
 * are have to be counted anew. */
static bool node_concerns(struct daemon_fit fit, bool has_pod, bool has_misplaced)
{
    return (fit.run && !has_pod) || (!fit.go_on && has_pod) || (has_pod && has_misplaced);
}

static void hold_nodes_against(struct daemonset_controller *c, struct arena *a, const struct value *set)
{
    struct map_str taken; /* nodes that have a pod of the set */
    pod_list pods;
    const struct daemon_rules *rules = daemon_rules_new(a, value_path(sets(), set, "spec.template"));
    bool has_misplaced = int_at(sets(), set, "status.numberMisscheduled", 0) > 0, concerned = false;
    size_t n = pod_index_of_owner(c->pods, text_at(sets(), set, "metadata.uid"), a, &pods);
    map_str_init(&taken);
    for (size_t i = 0; i < n; i++)
        if (pods[i]->node_name.n)
            map_str_put(&taken, pods[i]->node_name, NULL);
    for (struct map_str_slot *s = NULL; !concerned && (s = map_str_next(&c->changed_nodes, s));) {
        const struct value *node = stored_get(cluster_objects(c->cluster), stored_resource("nodes", ""), STR(""), map_str_key(s));
        concerned = node && node_concerns(daemon_fit(a, rules, node), map_str_find(&taken, map_str_key(s)), has_misplaced);
    }
    map_str_fini(&taken);
    if (concerned)
        look_at(c, turn_key_of(a, text_at(sets(), set, "metadata.namespace"), text_at(sets(), set, "metadata.name")));
}

static void sweep(void *context, struct str key)
{
    struct daemonset_controller *c = context;
    const struct value **all;
    struct arena a, scratch;
    arena_init(&a);
    arena_init(&scratch);
    size_t n = stored_list(cluster_objects(c->cluster), set_resource(), STR(""), &a, &all);
    for (size_t i = 0; i < n; i++, arena_reset(&scratch))
        hold_nodes_against(c, &scratch, all[i]);
    arena_fini(&scratch);
    arena_fini(&a);
    forget_nodes(c);
    work_queue_done(c->sweeps, key, WORK_FORGET);
}

/* ---- Life ---- */

static void work(void *context, struct str key)
{
    daemonset_turn_begin(context, key);
}

void *daemonset_controller_start(const struct controller_context *x)
{
    struct daemonset_controller *c = mem_zalloc(sizeof(*c));
    c->cluster = x->cluster;
    c->pods = x->pods;
    c->control = (struct pod_control){ x->cluster, x->events, CONTROLLER };
    c->selectors = owner_index_new();
    c->expectations = expectations_new();
    c->failed_pods = failure_backoff_new();
    c->queue = work_queue_new(cluster_loop(x->cluster), WORKERS, work, c);
    c->sweeps = work_queue_new(cluster_loop(x->cluster), 1, sweep, c);
    map_str_init(&c->changed_nodes);
    /* The sets first, so that the owners of pods are known when those are told. */
    cluster_watch(x->cluster, set_resource(), set_has_changed, c);
    pod_index_watch(x->pods, pod_has_changed, c);
    cluster_watch(x->cluster, stored_resource("controllerrevisions", "apps"), revision_has_changed, c);
    cluster_watch(x->cluster, stored_resource("nodes", ""), node_has_changed, c);
    return c;
}

void daemonset_controller_stop(void *own_controller)
{
    struct daemonset_controller *c = own_controller;
    work_queue_free(c->queue);
    work_queue_free(c->sweeps);
    forget_nodes(c);
    map_str_fini(&c->changed_nodes);
    failure_backoff_free(c->failed_pods);
    expectations_free(c->expectations);
    owner_index_free(c->selectors);
    free(c);
}
