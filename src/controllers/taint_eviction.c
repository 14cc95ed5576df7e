/* controllers/taint_eviction.c - pods leave nodes with NoExecute taints that they do not tolerate, or not any longer.
 *
 * Upstream: controller/tainteviction. A pod that is to go has its time; it is looked at when its node's taints change, when it
 * comes to a node, and when its time is up. First its status says why it goes, then it is deleted. */
#include <stdlib.h>

#include "api/edit.h"
#include "controllers/condition.h"
#include "controllers/controllers.h"
#include "controllers/event.h"
#include "controllers/node_health.h"
#include "controllers/pods_by_node.h"
#include "controllers/read.h"
#include "controllers/service_pods.h"
#include "controllers/taints.h"
#include "controllers/turn.h"

#define CONTROLLER "taint-eviction-controller"
#define REASON "DeletionByTaintManager"

enum { WORKERS = 8 };

/* A pod that is to go. */
struct eviction {
    int64_t begun_s, due_s;
    size_t n_key;
    char key[];
};

struct taint_eviction {
    struct cluster *cluster;
    struct events *events;
    struct work_queue *queue; /* of pods */
    struct map_str evictions;
    struct pods_by_node pods;
};

static const struct resource *pods(void)
{
    return stored_resource("pods", "");
}

/* ---- Who is to go ---- */

static struct eviction *find_eviction(struct taint_eviction *c, struct str key)
{
    const union map_value *found = map_str_find(&c->evictions, key);
    return found ? found->ptr : NULL;
}

static void tell(struct taint_eviction *c, const struct value *pod, const char *what)
{
    struct object_reference about = event_reference(pods(), pod);
    events_record(c->events, CONTROLLER, &about, "Normal", "TaintManagerEviction", "%s Pod %.*s/%.*s", what,
                  STR_ARG(text_at(pod_type(), pod, "metadata.namespace")), STR_ARG(text_at(pod_type(), pod, "metadata.name")));
}

static void cancel(struct taint_eviction *c, struct str key, const struct value *pod)
{
    struct eviction *e = find_eviction(c, key);
    if (!e)
        return;
    if (pod)
        tell(c, pod, "Cancelling deletion of");
    map_str_remove(&c->evictions, key, NULL);
    free(e);
}

/* A time that was set stays when the new one would be later. */
static struct eviction *schedule(struct taint_eviction *c, struct str key, int64_t after_s, int64_t now_s)
{
    struct eviction *e = find_eviction(c, key);
    if (!e) {
        bool is_new;
        e = mem_zalloc(sizeof(*e) + key.n);
        e->begun_s = now_s;
        e->due_s = now_s + after_s;
        e->n_key = key.n;
        memcpy(e->key, key.p, key.n);
        map_str_put(&c->evictions, (struct str){ e->key, e->n_key }, &is_new)->ptr = e;
    }
    if (e->begun_s + after_s < e->due_s)
        e->due_s = e->begun_s + after_s;
    return e;
}

/* ---- Work ---- */

static bool says_why(const struct value *pod)
{
    const struct type *ct = schema_type(STR("core/v1.PodCondition"));
    const struct value *c = entry_with(ct, value_path(pod_type(), pod, "status.conditions"), "type", STR("DisruptionTarget"));
    return c && says_at(ct, c, "status", "True") && says_at(ct, c, "reason", REASON);
}

static void say_why(struct taint_eviction *c, struct turn *t, const struct value *pod, struct arena *a)
{
    struct condition why = { "DisruptionTarget", "True", REASON, "Taint manager: deleting due to NoExecute taint",
                             int_at(pod_type(), pod, "metadata.generation", 0) };
    const struct value *old = value_path(pod_type(), pod, "status.conditions");
    struct value next = condition_set(a, schema_type(STR("core/v1.PodCondition")), old, &why, cluster_now_s(c->cluster));
    next = edit_set(a, pod_type(), pod, "status.conditions", next);
    tell(c, pod, "Marking for deletion");
    turn_begin(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .resource = pods(), .subresource = "status", .object = &next,
                                         .namespace = text_at(pod_type(), pod, "metadata.namespace"),
                                         .name = text_at(pod_type(), pod, "metadata.name") });
    work_queue_add(c->queue, (struct str){ t->key, t->n_key }); /* then it is deleted */
}

static void evict(struct taint_eviction *c, struct turn *t, const struct value *pod, struct arena *a)
{
    if (!says_why(pod))
        say_why(c, t, pod, a);
    else
        turn_begin(t, (struct cluster_call){ .verb = CLUSTER_DELETE, .resource = pods(),
                                             .namespace = text_at(pod_type(), pod, "metadata.namespace"),
                                             .name = text_at(pod_type(), pod, "metadata.name"),
                                             .uid = text_at(pod_type(), pod, "metadata.uid") });
}

static void sync_pod(struct taint_eviction *c, struct turn *t, const struct value *pod, struct arena *a)
{
    struct str key = { t->key, t->n_key }, node_name = text_at(pod_type(), pod, "spec.nodeName");
    const struct resource *nodes = stored_resource("nodes", "");
    const struct value *node = node_name.n ? stored_get(cluster_objects(c->cluster), nodes, STR(""), node_name) : NULL;
    const struct value *taints = node ? value_path(node_type(), node, "spec.taints") : NULL;
    int64_t now_s = cluster_now_s(c->cluster), after_s = TAINT_STAYS;
    if (taints && taints_have_no_execute(taints))
        after_s = taints_tolerated_s(taints, value_path(pod_type(), pod, "spec.tolerations"));
    if (after_s == TAINT_STAYS) {
        cancel(c, key, pod);
        return;
    }
    const struct eviction *e = schedule(c, key, after_s, now_s);
    if (e->due_s <= now_s)
        evict(c, t, pod, a);
    else
        work_queue_add_after(c->queue, key, (e->due_s - now_s) * 1000);
}

static void work(void *context, struct str key)
{
    struct taint_eviction *c = context;
    struct str namespace, name;
    struct arena a;
    arena_init(&a);
    struct turn *t = turn_new(c->cluster, c->queue, CONTROLLER, key);
    turn_read_key(key, &namespace, &name);
    const struct value *pod = stored_get(cluster_objects(c->cluster), pods(), namespace, name);
    if (!pod || pod_is_being_deleted(pod))
        cancel(c, key, NULL);
    else
        sync_pod(c, t, pod, &a);
    turn_end(t);
    arena_fini(&a);
}

/* ---- Changes ---- */

static void node_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct taint_eviction *c = context;
    struct stored *objects = cluster_objects(c->cluster);
    static const struct value none = { .kind = VALUE_ABSENT };
    const struct value *is = item ? value_path(node_type(), stored_value(objects, r, item), "spec.taints") : &none;
    const struct value *was = prev ? value_path(node_type(), stored_value(objects, r, prev), "spec.taints") : &none;
    if (value_equal(is, was) || (!taints_have_no_execute(is) && !taints_have_no_execute(was)))
        return;
    struct str namespace, name;
    const struct str *keys;
    struct arena a;
    arena_init(&a);
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    size_t n = pods_by_node_list(&c->pods, name, &a, &keys);
    for (size_t i = 0; i < n; i++)
        work_queue_add(c->queue, keys[i]);
    arena_fini(&a);
}

/* It came to a node, tolerates something else, or goes. */
static bool matters(struct stored *objects, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    if (!item || !prev)
        return true;
    const struct value *is = stored_value(objects, r, item), *was = stored_value(objects, r, prev);
    return !str_eq(text_at(pod_type(), is, "spec.nodeName"), text_at(pod_type(), was, "spec.nodeName")) ||
           !value_equal(value_path(pod_type(), is, "spec.tolerations"), value_path(pod_type(), was, "spec.tolerations")) ||
           pod_is_being_deleted(is);
}

static void pod_changed_here(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct taint_eviction *c = context;
    struct str namespace, name;
    struct arena a;
    pods_by_node_changed(&c->pods, r, item, prev);
    if (!matters(cluster_objects(c->cluster), r, item, prev))
        return;
    arena_init_small(&a);
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    work_queue_add(c->queue, turn_key_of(&a, namespace, name));
    arena_fini(&a);
}

void *taint_eviction_start(const struct controller_context *context)
{
    struct taint_eviction *c = mem_zalloc(sizeof(*c));
    c->cluster = context->cluster;
    c->events = context->events;
    c->queue = work_queue_new(cluster_loop(c->cluster), WORKERS, work, c);
    work_queue_show(c->queue, context->queues, "noexec_taint_pod");
    map_str_init(&c->evictions);
    pods_by_node_init(&c->pods, c->cluster);
    cluster_watch(c->cluster, pods(), pod_changed_here, c);
    cluster_watch(c->cluster, stored_resource("nodes", ""), node_changed, c);
    return c;
}

void taint_eviction_stop(void *own_controller)
{
    struct taint_eviction *c = own_controller;
    work_queue_free(c->queue);
    for (struct map_str_slot *s = NULL; (s = map_str_next(&c->evictions, s));)
        free(s->value.ptr);
    map_str_fini(&c->evictions);
    pods_by_node_fini(&c->pods);
    free(c);
}
