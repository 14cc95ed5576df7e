/* sched/events.c - a chapter of sched.h: what happened in the cluster goes into the cache, the queue and the
 * store of objects, and on to waiting pods as events. */
#include "sched/derive.h"
#include "sched/queue.h"
#include "sched/sched.h"
#include "sched/sched_priv.h"
#include "sched/tell.h"

static void move_all(struct sched *s, enum event_resource resource, uint32_t action, const void *old, const void *now)
{
    struct cluster_event event = { resource, action, old, now, NULL };
    queue_move_all(s->queue, &event, MOVE_ALL, sched_now_ms(s));
}

/* What began at start_ns means these to waiting pods. */
static void move_derived(struct sched *s, const struct derived_events *events, int64_t start_ns)
{
    int64_t now_ms = sched_now_ms(s);
    for (uint8_t i = 0; i < events->n; i++) {
        queue_move_all(s->queue, &events->at[i], MOVE_ALL, now_ms);
        if (s->metrics)
            measure_event(s->metrics, event_kind(&events->at[i]), start_ns);
    }
}

/* ---- Nodes ---- */

void sched_node_set(struct sched *s, const struct node *node)
{
    assert(node);
    int64_t start_ns = measure_now(s->metrics);
    node_id id = cache_find_node(&s->cache, node->name);
    const struct node *old = id == NODE_NONE ? NULL : s->cache.rows.at[id].node;
    if (!old) {
        tell_node_event(s, "Add event for node", node);
        tell_node_tree(s, "Added node to NodeTree", node);
        cache_add_node(&s->cache, node);
        move_all(s, RES_NODE, ACT_ADD, NULL, node);
        measure_event(s->metrics, KIND_NODE_ADD, start_ns);
        return;
    }
    node_ref(old);
    cache_update_node(&s->cache, node);
    struct derived_events events;
    derive_node_events(old, node, s->features.node_declared_features, &events);
    move_derived(s, &events, start_ns);
    node_unref(s->syms, old);
}

void sched_node_removed(struct sched *s, sym name)
{
    node_id id = cache_find_node(&s->cache, name);
    const struct node *old = id == NODE_NONE ? NULL : s->cache.rows.at[id].node;
    if (!old)
        return;
    int64_t start_ns = measure_now(s->metrics);
    tell_node_event(s, "Delete event for node", old);
    tell_node_tree(s, "Removed node from NodeTree", old);
    node_ref(old);
    move_all(s, RES_NODE, ACT_DELETE, old, NULL);
    struct err e;
    arena_reset(&s->arena);
    err_init(&e, &s->arena);
    enum err_code code = cache_remove_node(&s->cache, name, &e);
    assert(code == ERR_OK);
    measure_event(s->metrics, KIND_NODE_DELETE, start_ns);
    node_unref(s->syms, old);
}

/* ---- Pods ---- */

static bool is_ours(const struct sched *s, const struct pod *pod)
{
    return sched_profile(s, pod->scheduler_name) != NULL;
}

/* The newest version by uid; the map's keys are the pods' own. */
static void remember(struct sched *s, const struct pod *pod)
{
    union map_value old;
    bool had = map_str_remove(&s->pods, str_of(pod->meta.uid), &old);
    map_str_put(&s->pods, str_of(pod->meta.uid), NULL)->const_ptr = pod_ref(pod);
    if (had)
        pod_unref(s->syms, old.const_ptr);
}

/* The cache refuses what it has already seen, or what contradicts it; then the newer truth is put in
 * its place. */
static void place_pod(struct sched *s, const struct pod *pod)
{
    struct err e;
    arena_reset(&s->arena);
    err_init(&e, &s->arena);
    const struct placed *p = cache_find_pod(&s->cache, pod->meta.uid);
    if (p && !p->assumed && cache_remove_pod(&s->cache, p->pod, &e))
        return;
    enum err_code code = cache_add_pod(&s->cache, pod, &e);
    assert(code == ERR_OK);
}

static void displace_pod(struct sched *s, const struct pod *pod)
{
    const struct placed *p = cache_find_pod(&s->cache, pod->meta.uid);
    struct err e;
    arena_reset(&s->arena);
    err_init(&e, &s->arena);
    if (p && cache_remove_pod(&s->cache, p->pod, &e))
        return;
}

static void assigned_pod_set(struct sched *s, const struct pod *old, const struct pod *pod)
{
    int64_t start_ns = measure_now(s->metrics);
    place_pod(s, pod);
    nominator_remove(&s->nominator, pod->meta.uid);
    if (old && old->node_name != SYM_EMPTY) {
        struct derived_events events;
        derive_pod_events(old, pod, &events);
        move_derived(s, &events, start_ns);
        measure_event(s->metrics, KIND_ASSIGNED_POD_UPDATE, start_ns);
        return;
    }
    if (old && is_ours(s, old)) {
        tell_pod_event(s, "Delete event for unscheduled pod", old);
        queue_delete(s->queue, old);
        measure_event(s->metrics, KIND_UNSCHEDULED_POD_DELETE, start_ns);
    }
    tell_pod_event(s, "Add event for scheduled pod", pod);
    move_all(s, RES_ASSIGNED_POD, ACT_ADD, NULL, pod);
    measure_event(s->metrics, KIND_ASSIGNED_POD_ADD, start_ns);
}

/* An update of a waiting pod is one event for itself, and one for each of its properties that changed. */
static void measure_update(struct sched *s, const struct pod *old, const struct pod *pod, int64_t start_ns)
{
    struct derived_events events;
    if (!s->metrics || strcmp(old->meta.resource_version, pod->meta.resource_version) == 0)
        return;
    derive_pod_events(old, pod, &events);
    for (uint8_t i = 0; i < events.n; i++)
        if (event_kind(&events.at[i]) != KIND_UNSCHEDULED_POD_UPDATE)
            measure_event(s->metrics, event_kind(&events.at[i]), start_ns);
    measure_event(s->metrics, KIND_UNSCHEDULED_POD_UPDATE, start_ns);
}

static void update_pending(struct sched *s, const struct pod *old, const struct pod *pod, int64_t now_ms)
{
    if (!cache_is_assumed(&s->cache, pod->meta.uid))
        queue_update(s->queue, old, pod, now_ms);
    else if (!(old->flags & POD_TERMINATING) && pod->flags & POD_TERMINATING)
        bind_pod_deleted(s, pod);
}

static void pending_pod_set(struct sched *s, const struct pod *old, const struct pod *pod)
{
    int64_t now_ms = sched_now_ms(s), start_ns = measure_now(s->metrics);
    if (!is_ours(s, pod))
        return;
    if (!old) {
        tell_pod_event(s, "Add event for unscheduled pod", pod);
        queue_add(s->queue, pod, now_ms);
        measure_event(s->metrics, KIND_UNSCHEDULED_POD_ADD, start_ns);
    } else {
        update_pending(s, old, pod, now_ms);
        measure_update(s, old, pod, start_ns);
    }
}

/* What an API server never changes, and what tells where the scheduler has the pod. */
static bool is_another(const struct pod *old, const struct pod *pod)
{
    return !sched_same_name(old, pod) || old->scheduler_name != pod->scheduler_name ||
           (old->node_name != SYM_EMPTY && pod->node_name == SYM_EMPTY);
}

void sched_pod_set(struct sched *s, const struct pod *pod)
{
    assert(pod);
    const struct pod *known = sched_pod(s, pod->meta.uid);
    if (pod->flags & POD_FINISHED || (known && is_another(known, pod)))
        sched_pod_removed(s, pod->meta.uid);
    if (pod->flags & POD_FINISHED)
        return;
    union map_value *found = map_str_find(&s->pods, str_of(pod->meta.uid));
    const struct pod *old = found ? pod_ref(found->const_ptr) : NULL;
    remember(s, pod);
    if (pod->node_name != SYM_EMPTY)
        assigned_pod_set(s, old, pod);
    else
        pending_pod_set(s, old, pod);
    if (old)
        pod_unref(s->syms, old);
}

static void pending_pod_removed(struct sched *s, const struct pod *old)
{
    if (!is_ours(s, old))
        return;
    int64_t start_ns = measure_now(s->metrics);
    tell_pod_event(s, "Delete event for unscheduled pod", old);
    queue_delete(s->queue, old);
    if (cache_is_assumed(&s->cache, old->meta.uid)) {
        bind_pod_deleted(s, old);
    } else if (old->nominated_node != SYM_EMPTY) {
        struct cluster_event event = { RES_ASSIGNED_POD, ACT_DELETE, old, NULL, NULL };
        queue_move_all(s->queue, &event, move_up_to_priority(old->priority), sched_now_ms(s));
    }
    measure_event(s->metrics, KIND_UNSCHEDULED_POD_DELETE, start_ns);
}

void sched_pod_removed(struct sched *s, const char *uid)
{
    assert(uid);
    union map_value old_value;
    if (!map_str_remove(&s->pods, str_of(uid), &old_value))
        return;
    const struct pod *old = old_value.const_ptr;
    if (old->node_name != SYM_EMPTY) {
        int64_t start_ns = measure_now(s->metrics);
        tell_pod_event(s, "Delete event for scheduled pod", old);
        displace_pod(s, old);
        move_all(s, RES_ASSIGNED_POD, ACT_DELETE, old, NULL);
        measure_event(s->metrics, KIND_ASSIGNED_POD_DELETE, start_ns);
    } else {
        pending_pod_removed(s, old);
    }
    pod_unref(s->syms, old);
}

/* ---- Everything else ---- */

static const enum event_resource resource_of[N_OBJECT_KINDS] = {
    [OBJECT_PERSISTENT_VOLUME] = RES_PERSISTENT_VOLUME,
    [OBJECT_PERSISTENT_VOLUME_CLAIM] = RES_PERSISTENT_VOLUME_CLAIM,
    [OBJECT_STORAGE_CLASS] = RES_STORAGE_CLASS,
    [OBJECT_CSI_NODE] = RES_CSI_NODE,
    [OBJECT_CSI_DRIVER] = RES_CSI_DRIVER,
    [OBJECT_CSI_STORAGE_CAPACITY] = RES_CSI_STORAGE_CAPACITY,
    [OBJECT_VOLUME_ATTACHMENT] = RES_VOLUME_ATTACHMENT,
    [OBJECT_RESOURCE_CLAIM] = RES_RESOURCE_CLAIM,
    [OBJECT_RESOURCE_SLICE] = RES_RESOURCE_SLICE,
    [OBJECT_DEVICE_CLASS] = RES_DEVICE_CLASS,
};

/* Kinds that no plugin waits for have no resource of their own (0 is RES_POD, which no object kind is). */
static void move_for(struct sched *s, enum object_kind kind, uint32_t action, const void *old, const void *now)
{
    if (!resource_of[kind])
        return;
    int64_t start_ns = measure_now(s->metrics);
    struct cluster_event event = { resource_of[kind], action, old, now, NULL };
    queue_move_all(s->queue, &event, MOVE_ALL, sched_now_ms(s));
    if (s->metrics)
        measure_event(s->metrics, event_kind(&event), start_ns);
}

void sched_object_set(struct sched *s, enum object_kind kind, const void *form)
{
    assert(kind < N_OBJECT_KINDS);
    const struct {
        struct typed typed;
        struct typed_meta meta;
    } *any = form;
    const void *old = objects_get(s->objects, kind, any->meta.ns, str_of(any->meta.name));
    if (old)
        object_ref(kind, old);
    objects_set(s->objects, kind, form);
    move_for(s, kind, old ? ACT_UPDATE : ACT_ADD, old, form);
    if (old)
        object_unref(s->syms, kind, old);
}

void sched_object_removed(struct sched *s, enum object_kind kind, sym ns, struct str name)
{
    assert(kind < N_OBJECT_KINDS);
    const void *old = objects_get(s->objects, kind, ns, name);
    if (!old)
        return;
    object_ref(kind, old);
    objects_remove(s->objects, kind, ns, name);
    move_for(s, kind, ACT_DELETE, old, NULL);
    object_unref(s->syms, kind, old);
}
