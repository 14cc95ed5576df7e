/* controllers/pod_gc.c - pods that nobody will end any more go: on nodes that are gone or out of service, those that never had
 * one, and the oldest of too many that have ended. Upstream: controller/podgc, which looks at all pods every 20 seconds; here a
 * pod is looked at when it or its node changes. */
#include <stdlib.h>

#include "api/edit.h"
#include "base/sort.h"
#include "controllers/condition.h"
#include "controllers/controllers.h"
#include "controllers/pod_garbage.h"
#include "controllers/pods_by_node.h"
#include "controllers/read.h"
#include "controllers/service_pods.h"
#include "controllers/turn.h"

#define CONTROLLER "pod-garbage-collector"
#define TOO_MANY STR("too many") /* the key of no pod */

enum { WORKERS = 8, DELETIONS_AT_ONCE_MAX = 200 };

struct pod_gc {
    struct cluster *cluster;
    struct work_queue *queue;
    struct pods_by_node pods;
    struct map_str missed; /* node -> since when it is missing; each is its own text */
    uint32_t n_ended;
};

/* When a node was missed. */
struct missed_node {
    int64_t since_s;
    size_t n_name;
    char name[];
};

static const struct resource *pods(void)
{
    return stored_resource("pods", "");
}

static int64_t missed_since(struct pod_gc *g, struct str node, int64_t now_s)
{
    const union map_value *found = map_str_find(&g->missed, node);
    if (found)
        return ((const struct missed_node *)found->ptr)->since_s;
    bool is_new;
    struct missed_node *m = mem_zalloc(sizeof(*m) + node.n);
    m->since_s = now_s;
    m->n_name = node.n;
    memcpy(m->name, node.p, node.n);
    map_str_put(&g->missed, (struct str){ m->name, m->n_name }, &is_new)->ptr = m;
    return now_s;
}

static void forget_missed(struct pod_gc *g, struct str node)
{
    union map_value own_missed;
    if (map_str_remove(&g->missed, node, &own_missed))
        free(own_missed.ptr);
}

/* ---- Work ---- */

static void begin_deletion(struct turn *t, const struct value *pod)
{
    turn_begin(t, (struct cluster_call){ .verb = CLUSTER_DELETE, .resource = pods(), .at_once = true,
                                         .namespace = text_at(pod_type(), pod, "metadata.namespace"),
                                         .name = text_at(pod_type(), pod, "metadata.name"),
                                         .uid = text_at(pod_type(), pod, "metadata.uid") });
}

/* The key is looked at again, and then the pod has ended. */
static void begin_failure(struct pod_gc *g, struct turn *t, const struct value *pod, bool orphaned, struct arena *a)
{
    struct condition why = { "DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists",
                             int_at(pod_type(), pod, "metadata.generation", 0) };
    const struct value *old = value_path(pod_type(), pod, "status.conditions");
    struct value next = edit_set(a, pod_type(), pod, "status.phase", edit_text("Failed"));
    if (orphaned)
        next = edit_set(a, pod_type(), &next, "status.conditions",
                        condition_set(a, schema_type(STR("core/v1.PodCondition")), old, &why, cluster_now_s(g->cluster)));
    turn_begin(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .resource = pods(), .subresource = "status", .object = &next,
                                         .namespace = text_at(pod_type(), pod, "metadata.namespace"),
                                         .name = text_at(pod_type(), pod, "metadata.name") });
    work_queue_add(g->queue, (struct str){ t->key, t->n_key });
}

static void sync_pod(struct pod_gc *g, struct turn *t, const struct value *pod, struct arena *a)
{
    struct str node = text_at(pod_type(), pod, "spec.nodeName");
    struct pod_garbage_state s = { .pod = pod, .now_s = cluster_now_s(g->cluster) };
    if (node.n)
        s.node = stored_get(cluster_objects(g->cluster), stored_resource("nodes", ""), STR(""), node);
    if (node.n && !s.node)
        s.node_missed_s = missed_since(g, node, s.now_s);
    struct pod_garbage garbage = pod_garbage_decide(&s);
    switch (garbage.verdict) {
    case POD_STAYS:
        return;
    case POD_WAITS:
        work_queue_add_after(g->queue, (struct str){ t->key, t->n_key }, (garbage.again_s - s.now_s) * 1000);
        return;
    case POD_FAILS:
        begin_failure(g, t, pod, garbage.orphaned, a);
        return;
    case POD_GOES:
        begin_deletion(t, pod);
    }
}

static int by_order(const void *a, const void *b)
{
    return pod_garbage_order(*(const struct value *const *)a, *(const struct value *const *)b);
}

/* Some of those that have ended, when they are too many; the rest when these are gone. */
static void sync_ended(struct pod_gc *g, struct turn *t, struct arena *a)
{
    const struct value **all;
    size_t n = stored_list(cluster_objects(g->cluster), pods(), STR(""), a, &all), n_ended = 0;
    for (size_t i = 0; i < n; i++)
        if (pod_has_ended(all[i]))
            all[n_ended++] = all[i];
    g->n_ended = (uint32_t)n_ended; /* changes that were missed would have left it wrong */
    sort_stable(a, all, n_ended, sizeof(*all), by_order);
    for (size_t i = 0; i < DELETIONS_AT_ONCE_MAX && i + POD_GC_TERMINATED_MAX < n_ended; i++)
        begin_deletion(t, all[i]);
}

static void work(void *context, struct str key)
{
    struct pod_gc *g = context;
    struct str namespace, name;
    struct arena a;
    arena_init(&a);
    struct turn *t = turn_new(g->cluster, g->queue, CONTROLLER, key);
    turn_read_key(key, &namespace, &name);
    const struct value *pod = namespace.n ? stored_get(cluster_objects(g->cluster), pods(), namespace, name) : NULL;
    if (str_eq(key, TOO_MANY))
        sync_ended(g, t, &a);
    else if (pod)
        sync_pod(g, t, pod, &a);
    turn_end(t);
    arena_fini(&a);
}

/* ---- Changes ---- */

static void pod_changed_here(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct pod_gc *g = context;
    struct stored *objects = cluster_objects(g->cluster);
    const struct value *is = item ? stored_value(objects, r, item) : NULL, *was = prev ? stored_value(objects, r, prev) : NULL;
    pods_by_node_changed(&g->pods, r, item, prev);
    g->n_ended += (uint32_t)(is && pod_has_ended(is)) - (uint32_t)(was && pod_has_ended(was));
    if (g->n_ended > POD_GC_TERMINATED_MAX)
        work_queue_add(g->queue, TOO_MANY);
    struct str node = is ? text_at(pod_type(), is, "spec.nodeName") : (struct str){ NULL, 0 };
    bool is_lost = node.n && !stored_get(objects, stored_resource("nodes", ""), STR(""), node);
    if (!is || (!is_lost && !pod_is_being_deleted(is)))
        return;
    struct arena a;
    arena_init_small(&a);
    work_queue_add(g->queue, turn_key_of(&a, text_at(pod_type(), is, "metadata.namespace"),
                                         text_at(pod_type(), is, "metadata.name")));
    arena_fini(&a);
}

static void node_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct pod_gc *g = context;
    struct str namespace, name;
    const struct str *keys;
    struct arena a;
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    forget_missed(g, name);
    if (item && !memmem(store_item_value(item).p, store_item_value(item).n, "out-of-service", sizeof("out-of-service") - 1))
        return;
    arena_init(&a);
    size_t n = pods_by_node_list(&g->pods, name, &a, &keys);
    for (size_t i = 0; i < n; i++)
        work_queue_add(g->queue, keys[i]);
    arena_fini(&a);
}

void *pod_gc_start(const struct controller_context *context)
{
    struct pod_gc *g = mem_zalloc(sizeof(*g));
    g->cluster = context->cluster;
    g->queue = work_queue_new(cluster_loop(g->cluster), WORKERS, work, g);
    work_queue_show(g->queue, context->queues, "orphaned_pods_nodes");
    map_str_init(&g->missed);
    pods_by_node_init(&g->pods, g->cluster);
    cluster_watch(g->cluster, pods(), pod_changed_here, g);
    cluster_watch(g->cluster, stored_resource("nodes", ""), node_changed, g);
    return g;
}

void pod_gc_stop(void *own_controller)
{
    struct pod_gc *g = own_controller;
    work_queue_free(g->queue);
    for (struct map_str_slot *s = NULL; (s = map_str_next(&g->missed, s));)
        free(s->value.ptr);
    map_str_fini(&g->missed);
    pods_by_node_fini(&g->pods);
    free(g);
}
