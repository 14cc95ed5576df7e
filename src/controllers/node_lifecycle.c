/* controllers/node_lifecycle.c - nodes that are heard of and nodes that are not. Upstream: controller/nodelifecycle.
 *
 * Signs of life (a new heartbeat in the status, a renewed Lease) are only noted; each node has one time at which it is looked at
 * again, and then it is seen whether there was one. */
#include <stdlib.h>

#include "api/edit.h"
#include "controllers/condition.h"
#include "controllers/controllers.h"
#include "controllers/event.h"
#include "controllers/node_health.h"
#include "controllers/pods_by_node.h"
#include "controllers/read.h"
#include "controllers/service_pods.h"
#include "controllers/turn.h"

#define CONTROLLER "node-controller"
#define LEASES STR("kube-node-lease")

enum { WORKERS = 8 };

/* What is known of a node beyond the object. */
struct known_node {
    int64_t heard_s;
    bool ready;
    size_t n_name;
    char name[];
};

struct node_lifecycle {
    struct cluster *cluster;
    struct events *events;
    struct work_queue *queue;
    struct map_str nodes; /* name -> struct known_node */
    uint32_t n_ready;
    struct pods_by_node pods;
};

static const struct resource *nodes(void)
{
    return stored_resource("nodes", "");
}

static struct known_node *find_known(struct node_lifecycle *n, struct str name)
{
    const union map_value *found = map_str_find(&n->nodes, name);
    return found ? found->ptr : NULL;
}

/* ---- Work ---- */

/* The pods of a node that is lost are not ready any more. */
static void mark_pods(struct node_lifecycle *n, struct turn *t, struct str node, struct arena *a)
{
    const struct resource *r = stored_resource("pods", "");
    const struct str *keys;
    size_t n_pods = pods_by_node_list(&n->pods, node, a, &keys);
    for (size_t i = 0; i < n_pods; i++) {
        struct str namespace, name;
        turn_read_key(keys[i], &namespace, &name);
        const struct value *pod = stored_get(cluster_objects(n->cluster), r, namespace, name);
        if (!pod || !pod_condition_is_true(pod, STR("Ready")))
            continue;
        struct condition no = { .type = "Ready", .status = "False" };
        const struct value *old = value_path(pod_type(), pod, "status.conditions");
        struct value next = condition_set(a, schema_type(STR("core/v1.PodCondition")), old, &no, cluster_now_s(n->cluster));
        next = edit_set(a, pod_type(), pod, "status.conditions", next);
        turn_begin(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .resource = r, .subresource = "status",
                                             .namespace = namespace, .name = name, .object = &next });
        struct object_reference about = event_reference(r, pod);
        events_record(n->events, CONTROLLER, &about, "Warning", "NodeNotReady", "Node is not ready");
    }
}

static void sync_node(struct node_lifecycle *n, struct turn *t, const struct value *node, const struct known_node *known,
                      struct arena *a)
{
    struct str key = { t->key, t->n_key };
    struct node_health_state s = { node, known->heard_s, cluster_now_s(n->cluster), n->n_ready > 0 };
    struct node_health_plan plan = node_health_plan(a, &s);
    if (plan.lost) {
        struct object_reference about = event_reference(nodes(), node);
        events_record(n->events, CONTROLLER, &about, "Normal", "NodeNotReady", "Node %.*s status is now: NodeNotReady",
                      STR_ARG(key));
        mark_pods(n, t, key, a);
    }
    if (plan.writes_status || plan.writes_spec)
        turn_begin(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .resource = nodes(), .name = key, .object = &plan.node,
                                             .subresource = plan.writes_status ? "status" : NULL });
    if (plan.again_s)
        work_queue_add_after(n->queue, key, (plan.again_s - s.now_s) * 1000);
}

static void work(void *context, struct str key)
{
    struct node_lifecycle *n = context;
    struct arena a;
    arena_init(&a);
    struct turn *t = turn_new(n->cluster, n->queue, CONTROLLER, key);
    const struct value *node = stored_get(cluster_objects(n->cluster), nodes(), STR(""), key);
    const struct known_node *known = find_known(n, key);
    if (node && known)
        sync_node(n, t, node, known, &a);
    turn_end(t);
    arena_fini(&a);
}

/* ---- Changes ---- */

static struct known_node *get_to_know(struct node_lifecycle *n, struct str name)
{
    struct known_node *known = find_known(n, name);
    if (known)
        return known;
    bool is_new;
    known = mem_zalloc(sizeof(*known) + name.n);
    known->n_name = name.n;
    memcpy(known->name, name.p, name.n);
    map_str_put(&n->nodes, (struct str){ known->name, known->n_name }, &is_new)->ptr = known;
    return known;
}

/* When the first node is ready, or the last one is not any more, all others are judged otherwise. */
static void count_ready(struct node_lifecycle *n, struct known_node *known, bool ready)
{
    bool any = n->n_ready > 0;
    n->n_ready += (uint32_t)ready - (uint32_t)known->ready;
    known->ready = ready;
    if (any != (n->n_ready > 0))
        for (struct map_str_slot *s = NULL; (s = map_str_next(&n->nodes, s));)
            work_queue_add(n->queue, map_str_key(s));
}

static void forget(struct node_lifecycle *n, struct str name)
{
    struct known_node *known = find_known(n, name);
    if (!known)
        return;
    count_ready(n, known, false);
    map_str_remove(&n->nodes, name, NULL);
    free(known);
}

static const struct value *heartbeat(const struct value *node)
{
    const struct type *ct = schema_type(STR("core/v1.NodeCondition"));
    const struct value *c = entry_with(ct, value_path(node_type(), node, "status.conditions"), "type", STR("Ready"));
    static const struct value none = { .kind = VALUE_ABSENT };
    return c ? value_path(ct, c, "lastHeartbeatTime") : &none;
}

static void node_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct node_lifecycle *n = context;
    struct stored *objects = cluster_objects(n->cluster);
    struct str namespace, name;
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    if (!item) {
        forget(n, name);
        return;
    }
    const struct value *is = stored_value(objects, r, item), *was = prev ? stored_value(objects, r, prev) : NULL;
    struct known_node *known = get_to_know(n, name);
    if (!was || !value_equal(heartbeat(is), heartbeat(was)))
        known->heard_s = cluster_now_s(n->cluster);
    count_ready(n, known, node_condition_is(is, STR("Ready"), "True"));
    if (!was || !value_equal(value_path(node_type(), is, "spec"), value_path(node_type(), was, "spec")) ||
        !value_equal(value_path(node_type(), is, "status.conditions"), value_path(node_type(), was, "status.conditions")))
        work_queue_add(n->queue, name);
}

static void lease_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct node_lifecycle *n = context;
    struct str namespace, name;
    (void)prev;
    if (!item)
        return;
    stored_read_key(r, store_item_key(item), &namespace, &name);
    struct known_node *known = str_eq(namespace, LEASES) ? find_known(n, name) : NULL;
    if (known)
        known->heard_s = cluster_now_s(n->cluster);
}

static void pod_moved(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct node_lifecycle *n = context;
    pods_by_node_changed(&n->pods, r, item, prev);
}

void *node_lifecycle_start(const struct controller_context *context)
{
    struct node_lifecycle *n = mem_zalloc(sizeof(*n));
    n->cluster = context->cluster;
    n->events = context->events;
    n->queue = work_queue_new(cluster_loop(n->cluster), WORKERS, work, n);
    work_queue_show(n->queue, context->queues, "node_lifecycle_controller");
    map_str_init(&n->nodes);
    pods_by_node_init(&n->pods, n->cluster);
    cluster_watch(n->cluster, nodes(), node_changed, n);
    cluster_watch(n->cluster, stored_resource("leases", "coordination.k8s.io"), lease_changed, n);
    cluster_watch(n->cluster, stored_resource("pods", ""), pod_moved, n);
    return n;
}

void node_lifecycle_stop(void *own_controller)
{
    struct node_lifecycle *n = own_controller;
    work_queue_free(n->queue);
    for (struct map_str_slot *s = NULL; (s = map_str_next(&n->nodes, s));)
        free(s->value.ptr);
    map_str_fini(&n->nodes);
    pods_by_node_fini(&n->pods);
    free(n);
}
