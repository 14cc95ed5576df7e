/* sched/plugin_host.c - see plugin_host.h and include/berth/plugin.h. */
#include "sched/plugin_host.h"

#include "base/log.h"
#include "sched/plugin_wrap.h"
#include "sched/queued_pod.h"
#include "sched/sched.h"

static const struct pod *pod_of(const struct berth_pod *pod)
{
    return (const struct pod *)(const void *)pod;
}

static const struct node_view *view_of(const struct berth_node *node)
{
    return (const struct node_view *)(const void *)node;
}

static const struct berth_pod *pod_handle(const struct pod *pod)
{
    return (const struct berth_pod *)(const void *)pod;
}

static const struct berth_node *node_handle(const struct node_view *view)
{
    return (const struct berth_node *)(const void *)view;
}

static const char *text_of(struct berth_call *call, sym id)
{
    return sym_text(call->syms, id).p;
}

/* ---- Labels and amounts ---- */

static const char *label(struct berth_call *call, struct label_set labels, const char *key)
{
    sym id = sym_find(call->syms, str_of(key));
    sym value = id == SYM_NONE ? SYM_NONE : label_set_get(labels, id);
    return value == SYM_NONE ? NULL : text_of(call, value);
}

static bool label_at(struct berth_call *call, struct label_set labels, uint32_t i, const char **ret_key,
                     const char **ret_value)
{
    if (i >= labels.n)
        return false;
    *ret_key = text_of(call, labels.at[i].key);
    *ret_value = text_of(call, labels.at[i].value);
    return true;
}

static int64_t amount(struct berth_call *call, const struct amounts *amounts, const char *resource)
{
    switch (resource_kind_of(str_of(resource))) {
    case RESOURCE_CPU:
        return amounts->milli_cpu;
    case RESOURCE_MEMORY:
        return amounts->memory;
    case RESOURCE_EPHEMERAL:
        return amounts->ephemeral_storage;
    case RESOURCE_PODS:
        return amounts->pods;
    case RESOURCE_SCALAR: {
        sym id = sym_find(call->syms, str_of(resource));
        return id == SYM_NONE ? 0 : amounts_scalar(amounts, id);
    }
    case RESOURCE_IGNORED:
        break;
    }
    return 0;
}

/* ---- Pods ---- */

static const char *pod_name(struct berth_call *call, const struct berth_pod *pod)
{
    (void)call;
    return pod_of(pod)->meta.name;
}

static const char *pod_namespace(struct berth_call *call, const struct berth_pod *pod)
{
    return text_of(call, pod_of(pod)->meta.ns);
}

static const char *pod_uid(struct berth_call *call, const struct berth_pod *pod)
{
    (void)call;
    return pod_of(pod)->meta.uid;
}

static const char *pod_label(struct berth_call *call, const struct berth_pod *pod, const char *key)
{
    return label(call, pod_of(pod)->meta.labels, key);
}

static uint32_t pod_n_labels(struct berth_call *call, const struct berth_pod *pod)
{
    (void)call;
    return pod_of(pod)->meta.labels.n;
}

static bool pod_label_at(struct berth_call *call, const struct berth_pod *pod, uint32_t i, const char **ret_key,
                         const char **ret_value)
{
    return label_at(call, pod_of(pod)->meta.labels, i, ret_key, ret_value);
}

static int64_t pod_request(struct berth_call *call, const struct berth_pod *pod, const char *resource)
{
    return amount(call, pod_of(pod)->requested, resource);
}

static int32_t pod_priority(struct berth_call *call, const struct berth_pod *pod)
{
    (void)call;
    return pod_of(pod)->priority;
}

static const char *pod_priority_class(struct berth_call *call, const struct berth_pod *pod)
{
    return text_of(call, pod_of(pod)->priority_class);
}

static const char *pod_scheduler_name(struct berth_call *call, const struct berth_pod *pod)
{
    return text_of(call, pod_of(pod)->scheduler_name);
}

static const char *pod_node_name(struct berth_call *call, const struct berth_pod *pod)
{
    return text_of(call, pod_of(pod)->node_name);
}

static const char *pod_nominated_node(struct berth_call *call, const struct berth_pod *pod)
{
    return text_of(call, pod_of(pod)->nominated_node);
}

static bool pod_is_terminating(struct berth_call *call, const struct berth_pod *pod)
{
    (void)call;
    return pod_of(pod)->flags & POD_TERMINATING;
}

static uint32_t pod_n_containers(struct berth_call *call, const struct berth_pod *pod)
{
    (void)call;
    return pod_of(pod)->n_containers;
}

static int64_t pod_start_time_s(struct berth_call *call, const struct berth_pod *pod)
{
    (void)call;
    return pod_of(pod)->flags & POD_HAS_START_TIME ? pod_of(pod)->start_time_s : INT64_MIN;
}

static bool pod_controller(struct berth_call *call, const struct berth_pod *pod, const char **ret_kind,
                           const char **ret_name)
{
    const struct owner_ref *owner = pod_of(pod)->controller;
    if (!owner)
        return false;
    *ret_kind = text_of(call, owner->kind);
    *ret_name = text_of(call, owner->name);
    return true;
}

/* ---- Nodes ---- */

static const char *node_name(struct berth_call *call, const struct berth_node *node)
{
    (void)call;
    return view_of(node)->node->meta.name;
}

static const char *node_label(struct berth_call *call, const struct berth_node *node, const char *key)
{
    return label(call, view_of(node)->node->meta.labels, key);
}

static uint32_t node_n_labels(struct berth_call *call, const struct berth_node *node)
{
    (void)call;
    return view_of(node)->node->meta.labels.n;
}

static bool node_label_at(struct berth_call *call, const struct berth_node *node, uint32_t i, const char **ret_key,
                          const char **ret_value)
{
    return label_at(call, view_of(node)->node->meta.labels, i, ret_key, ret_value);
}

static int64_t node_allocatable(struct berth_call *call, const struct berth_node *node, const char *resource)
{
    return amount(call, &view_of(node)->node->allocatable, resource);
}

static int64_t node_requested(struct berth_call *call, const struct berth_node *node, const char *resource)
{
    const struct node_view *view = view_of(node);
    switch (resource_kind_of(str_of(resource))) {
    case RESOURCE_CPU:
        return view->milli_cpu;
    case RESOURCE_MEMORY:
        return view->memory;
    case RESOURCE_EPHEMERAL:
        return view->ephemeral;
    case RESOURCE_PODS:
        return view->n_pods;
    case RESOURCE_SCALAR: {
        sym id = sym_find(call->syms, str_of(resource));
        return id == SYM_NONE || !view->cache ? 0 : node_view_scalar_used(view, id);
    }
    case RESOURCE_IGNORED:
        break;
    }
    return 0;
}

static bool node_is_unschedulable(struct berth_call *call, const struct berth_node *node)
{
    (void)call;
    return view_of(node)->node->flags & NODE_UNSCHEDULABLE;
}

static uint32_t node_n_taints(struct berth_call *call, const struct berth_node *node)
{
    (void)call;
    return view_of(node)->node->n_taints;
}

static bool node_taint_at(struct berth_call *call, const struct berth_node *node, uint32_t i, const char **ret_key,
                          const char **ret_value, const char **ret_effect)
{
    static const char *const effects[] = {
        [EFFECT_ANY] = "",
        [EFFECT_NO_SCHEDULE] = "NoSchedule",
        [EFFECT_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
        [EFFECT_NO_EXECUTE] = "NoExecute",
        [EFFECT_OTHER] = "",
    };
    const struct node *n = view_of(node)->node;
    if (i >= n->n_taints)
        return false;
    *ret_key = text_of(call, n->taints[i].key);
    *ret_value = text_of(call, n->taints[i].value);
    *ret_effect = effects[n->taints[i].effect];
    return true;
}

static uint32_t node_n_pods(struct berth_call *call, const struct berth_node *node)
{
    (void)call;
    return view_of(node)->n_pods;
}

static const struct berth_pod *node_pod_at(struct berth_call *call, const struct berth_node *node, uint32_t i)
{
    (void)call;
    const struct node_view *view = view_of(node);
    return i < view->n_pods ? pod_handle(node_view_pod(view, i)) : NULL;
}

/* ---- The attempt ---- */

static const struct berth_pod *attempted_pod(struct berth_call *call)
{
    return call->cycle ? pod_handle(call->cycle->pod) : NULL;
}

static uint32_t n_nodes(struct berth_call *call)
{
    return call->cache ? (uint32_t)call->cache->order.n : 0;
}

static const struct berth_node *find_node(struct berth_call *call, const char *name)
{
    sym id = call->cache ? sym_find(call->syms, str_of(name)) : SYM_NONE;
    node_id row = id == SYM_NONE ? NODE_NONE : cache_listed_node(call->cache, id);
    if (row == NODE_NONE)
        return NULL;
    call->found = node_view_of(call->cache, row);
    return node_handle(&call->found);
}

static bool compares(const struct berth_call *call)
{
    return call->point >= CALL_PRE_SCORE && call->point <= CALL_NORMALIZE;
}

static uint32_t n_feasible(struct berth_call *call)
{
    return compares(call) ? call->cycle->n_feasible : 0;
}

static const struct berth_node *feasible_at(struct berth_call *call, uint32_t i)
{
    if (i >= n_feasible(call))
        return NULL;
    call->feasible = node_view_of(call->cache, call->cycle->feasible[i]);
    return node_handle(&call->feasible);
}

/* A name that nobody has stays in the list as no node at all: the pod is kept away from all others. */
static void narrow_to(struct berth_call *call, const char *name)
{
    if (call->point != CALL_PRE_FILTER)
        return;
    call->narrows = true;
    vec_push(&call->narrowed, sym_find(call->syms, str_of(name)));
}

static void *alloc(struct berth_call *call, size_t n_bytes)
{
    return call->arena ? arena_zalloc(call->arena, n_bytes) : NULL;
}

static void **state_slot(struct berth_call *call)
{
    bool has = call->point >= CALL_PRE_FILTER && call->point <= CALL_PERMIT && call->cycle->state;
    return has ? &call->cycle->state[call->plugin->index] : NULL;
}

static void *state(struct berth_call *call)
{
    void **slot = state_slot(call);
    return slot ? *slot : NULL;
}

static void set_state(struct berth_call *call, void *to)
{
    void **slot = state_slot(call);
    if (slot)
        *slot = to;
}

static void **binding_slot(struct berth_call *call)
{
    bool has = call->point >= CALL_RESERVE && call->cycle->binding_state;
    return has ? &call->cycle->binding_state[call->plugin->index] : NULL;
}

static void *binding_state(struct berth_call *call)
{
    void **slot = binding_slot(call);
    return slot ? *slot : NULL;
}

static void set_binding_state(struct berth_call *call, void *to)
{
    void **slot = binding_slot(call);
    if (slot)
        *slot = to;
}

/* Elsewhere the scheduler is in the middle of something that a binding must not change. */
static bool may_release(const struct berth_call *call)
{
    return call->point == CALL_PERMIT || call->point == CALL_POST_BIND;
}

static void allow(struct berth_call *call, const char *uid)
{
    if (may_release(call))
        sched_permit(call->cycle->sched, uid, call->plugin, true, NULL);
}

static void reject(struct berth_call *call, const char *uid, const char *reason)
{
    struct str cut = plugin_cut_text(reason ? reason : "");
    if (may_release(call))
        sched_permit(call->cycle->sched, uid, call->plugin, false, arena_cstr(call->arena, cut));
}

static int64_t now_ms(struct berth_call *call)
{
    return call->cycle ? call->cycle->now_ms : 0;
}

static uint64_t random_number(struct berth_call *call)
{
    return call->cycle && call->cycle->rand ? rand_u64(call->cycle->rand) : 0;
}

static void log_message(struct berth_call *call, int level, const char *message)
{
    LOG(level, "Message of a plugin", KS("plugin", call->plugin->plugin->name), KS("message", message ? message : ""));
}

/* ---- The queue ---- */

static const struct queued_pod *queued_of(const struct berth_queued *queued)
{
    return (const struct queued_pod *)(const void *)queued;
}

static const struct berth_pod *queued_pod(struct berth_call *call, const struct berth_queued *queued)
{
    (void)call;
    return pod_handle(queued_of(queued)->pod);
}

static int64_t queued_timestamp_ms(struct berth_call *call, const struct berth_queued *queued)
{
    (void)call;
    return queued_of(queued)->timestamp_ms;
}

static uint64_t queued_sequence(struct berth_call *call, const struct berth_queued *queued)
{
    (void)call;
    return queued_of(queued)->sequence;
}

static uint32_t queued_attempts(struct berth_call *call, const struct berth_queued *queued)
{
    (void)call;
    return queued_of(queued)->attempts;
}

/* ---- Events ---- */

static const struct cluster_event *event_of(const struct berth_event *event)
{
    return (const struct cluster_event *)(const void *)event;
}

static uint32_t event_resource(struct berth_call *call, const struct berth_event *event)
{
    (void)call;
    return event_of(event)->resource;
}

static uint32_t event_action(struct berth_call *call, const struct berth_event *event)
{
    (void)call;
    return event_of(event)->action;
}

static bool is_of_pod(const struct cluster_event *event)
{
    return event->resource == RES_ASSIGNED_POD || event->resource == RES_UNSCHEDULED_POD || event->resource == RES_POD;
}

static const struct berth_pod *event_old_pod(struct berth_call *call, const struct berth_event *event)
{
    (void)call;
    return is_of_pod(event_of(event)) ? pod_handle(event_of(event)->old_object) : NULL;
}

static const struct berth_pod *event_new_pod(struct berth_call *call, const struct berth_event *event)
{
    (void)call;
    return is_of_pod(event_of(event)) ? pod_handle(event_of(event)->new_object) : NULL;
}

/* The object alone, without what runs there. */
static const struct berth_node *event_node(struct berth_call *call, const struct berth_event *event, const void *object,
                                           int which)
{
    if (event_of(event)->resource != RES_NODE || !object)
        return NULL;
    call->of_event[which] = (struct node_view){ .id = NODE_NONE, .node = object, .simulated = true };
    return node_handle(&call->of_event[which]);
}

static const struct berth_node *event_old_node(struct berth_call *call, const struct berth_event *event)
{
    return event_node(call, event, event_of(event)->old_object, 0);
}

static const struct berth_node *event_new_node(struct berth_call *call, const struct berth_event *event)
{
    return event_node(call, event, event_of(event)->new_object, 1);
}

const struct berth_host plugin_host = {
    .abi_version = BERTH_ABI_VERSION,
    .n_bytes = sizeof(struct berth_host),
    .pod_name = pod_name,
    .pod_namespace = pod_namespace,
    .pod_uid = pod_uid,
    .pod_label = pod_label,
    .pod_n_labels = pod_n_labels,
    .pod_label_at = pod_label_at,
    .pod_request = pod_request,
    .pod_priority = pod_priority,
    .pod_priority_class = pod_priority_class,
    .pod_scheduler_name = pod_scheduler_name,
    .pod_node_name = pod_node_name,
    .pod_nominated_node = pod_nominated_node,
    .pod_is_terminating = pod_is_terminating,
    .pod_n_containers = pod_n_containers,
    .pod_start_time_s = pod_start_time_s,
    .pod_controller = pod_controller,
    .node_name = node_name,
    .node_label = node_label,
    .node_n_labels = node_n_labels,
    .node_label_at = node_label_at,
    .node_allocatable = node_allocatable,
    .node_requested = node_requested,
    .node_is_unschedulable = node_is_unschedulable,
    .node_n_taints = node_n_taints,
    .node_taint_at = node_taint_at,
    .node_n_pods = node_n_pods,
    .node_pod_at = node_pod_at,
    .pod = attempted_pod,
    .n_nodes = n_nodes,
    .find_node = find_node,
    .n_feasible = n_feasible,
    .feasible_at = feasible_at,
    .narrow_to = narrow_to,
    .alloc = alloc,
    .state = state,
    .set_state = set_state,
    .binding_state = binding_state,
    .set_binding_state = set_binding_state,
    .allow = allow,
    .reject = reject,
    .now_ms = now_ms,
    .random = random_number,
    .log = log_message,
    .queued_pod = queued_pod,
    .queued_timestamp_ms = queued_timestamp_ms,
    .queued_sequence = queued_sequence,
    .queued_attempts = queued_attempts,
    .event_resource = event_resource,
    .event_action = event_action,
    .event_old_pod = event_old_pod,
    .event_new_pod = event_new_pod,
    .event_old_node = event_old_node,
    .event_new_node = event_new_node,
};
