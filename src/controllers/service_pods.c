/* controllers/service_pods.c - see service_pods.h. */
#include "controllers/service_pods.h"

#include <stdlib.h>

#include "api/edit.h"
#include "api/time.h"
#include "controllers/read.h"
#include "controllers/turn.h"

#define TRIGGER_TIME STR("endpoints.kubernetes.io/last-change-trigger-time")

const struct type *pod_type(void)
{
    return schema_type(STR("core/v1.Pod"));
}

const struct type *service_type(void)
{
    return schema_type(STR("core/v1.Service"));
}

/* ---- Pods ---- */

static const struct value *pod_condition(const struct value *pod, struct str type)
{
    return entry_with(schema_type(STR("core/v1.PodCondition")), value_path(pod_type(), pod, "status.conditions"), "type", type);
}

bool pod_condition_is_true(const struct value *pod, struct str type)
{
    const struct value *c = pod_condition(pod, type);
    return c && says_at(schema_type(STR("core/v1.PodCondition")), c, "status", "True");
}

bool pod_is_being_deleted(const struct value *pod)
{
    return is_set_at(pod_type(), pod, "metadata.deletionTimestamp");
}

bool pod_has_ended(const struct value *pod)
{
    struct str phase = text_at(pod_type(), pod, "status.phase");
    return str_is(phase, "Succeeded") || str_is(phase, "Failed");
}

/* ---- Services and their pods ---- */

bool service_has_pods(const struct value *service)
{
    const struct value *selector = value_path(service_type(), service, "spec.selector");
    return selector->kind == VALUE_MAP && selector->n && !says_at(service_type(), service, "spec.type", "ExternalName");
}

bool service_has_no_ip(const struct value *service)
{
    struct str ip = text_at(service_type(), service, "spec.clusterIP");
    return ip.n == 0 || str_is(ip, "None");
}

static bool chooses(const struct value *service, const struct value *pod)
{
    return labels_cover(value_path(service_type(), service, "spec.selector"), value_path(pod_type(), pod, "metadata.labels"));
}

size_t service_pods_list(struct stored *objects, const struct value *service, struct arena *a, const struct value ***ret_pods)
{
    const struct value **pods;
    size_t n = stored_list(objects, stored_resource("pods", ""), text_at(service_type(), service, "metadata.namespace"), a,
                           &pods), kept = 0;
    for (size_t i = 0; i < n; i++)
        if (chooses(service, pods[i]))
            pods[kept++] = pods[i];
    *ret_pods = pods;
    return kept;
}

bool service_takes_pod(const struct value *pod, bool also_terminating)
{
    if (pod_has_ended(pod) || (!also_terminating && pod_is_being_deleted(pod)))
        return false;
    return text_at(pod_type(), pod, "status.podIP").n || list_length(value_path(pod_type(), pod, "status.podIPs"));
}

bool service_sets_hostname(const struct value *service, const struct value *pod)
{
    return text_at(pod_type(), pod, "spec.hostname").n &&
           str_eq(text_at(pod_type(), pod, "spec.subdomain"), text_at(service_type(), service, "metadata.name")) &&
           str_eq(text_at(pod_type(), pod, "metadata.namespace"), text_at(service_type(), service, "metadata.namespace"));
}

/* ---- Ports ---- */

static bool port_of_container(const struct value *container, struct str name, struct str protocol, int64_t *ret_number)
{
    const struct type *ct = schema_type(STR("core/v1.Container")), *pt = schema_type(STR("core/v1.ContainerPort"));
    const struct value *ports = value_path(ct, container, "ports");
    for (uint32_t i = 0; i < list_length(ports); i++)
        if (str_eq(text_at(pt, &ports->items[i], "name"), name) && str_eq(text_at(pt, &ports->items[i], "protocol"), protocol)) {
            *ret_number = int_at(pt, &ports->items[i], "containerPort", 0);
            return true;
        }
    return false;
}

/* Containers first, then those init containers that stay. */
static bool named_port(const struct value *pod, struct str name, struct str protocol, int64_t *ret_number)
{
    const struct type *ct = schema_type(STR("core/v1.Container"));
    const struct value *containers = value_path(pod_type(), pod, "spec.containers");
    const struct value *first = value_path(pod_type(), pod, "spec.initContainers");
    for (uint32_t i = 0; i < list_length(containers); i++)
        if (port_of_container(&containers->items[i], name, protocol, ret_number))
            return true;
    for (uint32_t i = 0; i < list_length(first); i++)
        if (says_at(ct, &first->items[i], "restartPolicy", "Always") &&
            port_of_container(&first->items[i], name, protocol, ret_number))
            return true;
    return false;
}

bool service_find_port(const struct value *port, const struct value *pod, int64_t *ret_number)
{
    const struct type *st = schema_type(STR("core/v1.ServicePort"));
    const struct value *target = value_path(st, port, "targetPort");
    if (target->kind == VALUE_STRING)
        return named_port(pod, value_text(target), text_at(st, port, "protocol"), ret_number);
    *ret_number = target->kind == VALUE_INT ? target->i : 0;
    return true;
}

/* ---- Changes ---- */

static bool same_at(const struct value *a, const struct value *b, const char *path)
{
    return value_equal(value_path(pod_type(), a, path), value_path(pod_type(), b, path));
}

/* Whether other services may have it now. */
static bool belongs_elsewhere(const struct value *is, const struct value *was)
{
    return !same_at(is, was, "metadata.labels") || !same_at(is, was, "spec.hostname") || !same_at(is, was, "spec.subdomain");
}

static bool looks_different(const struct value *is, const struct value *was)
{
    return pod_is_being_deleted(is) || pod_is_being_deleted(was) || !same_at(is, was, "status.podIPs") ||
           pod_condition_is_true(is, STR("Ready")) != pod_condition_is_true(was, STR("Ready"));
}

static void add_services_of(struct service_watch *w, struct arena *a, struct str namespace, const struct value *is,
                            const struct value *was)
{
    const struct value **services;
    size_t n = stored_list(cluster_objects(w->cluster), stored_resource("services", ""), namespace, a, &services);
    for (size_t i = 0; i < n; i++)
        if (service_has_pods(services[i]) && ((is && chooses(services[i], is)) || (was && chooses(services[i], was))))
            work_queue_add(w->queue, turn_key_of(a, namespace, text_at(service_type(), services[i], "metadata.name")));
}

static void pod_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct service_watch *w = context;
    struct stored *objects = cluster_objects(w->cluster);
    const struct value *is = item ? stored_value(objects, r, item) : NULL, *was = prev ? stored_value(objects, r, prev) : NULL;
    if (is && was && !belongs_elsewhere(is, was) && !looks_different(is, was))
        return;
    struct str namespace, name;
    struct arena a;
    arena_init(&a);
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    add_services_of(w, &a, namespace, is, was);
    arena_fini(&a);
}

static void service_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct service_watch *w = context;
    struct str namespace, name;
    struct arena a;
    arena_init_small(&a);
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    work_queue_add(w->queue, turn_key_of(&a, namespace, name));
    arena_fini(&a);
}

void service_watch_start(struct service_watch *w)
{
    cluster_watch(w->cluster, stored_resource("services", ""), service_changed, w);
    cluster_watch(w->cluster, stored_resource("pods", ""), pod_changed, w);
}

/* ---- When what is behind a service changed ---- */

struct trigger_state {
    struct arena arena;
    struct map_str pods; /* name -> when it last became ready or not */
    int64_t service_s;
    struct str key;
};

void trigger_times_init(struct trigger_times *t)
{
    map_str_init(&t->services);
}

static void free_state(struct trigger_state *s)
{
    map_str_fini(&s->pods);
    arena_fini(&s->arena);
    free(s);
}

void trigger_times_fini(struct trigger_times *t)
{
    for (struct map_str_slot *s = NULL; (s = map_str_next(&t->services, s));)
        free_state(s->value.ptr);
    map_str_fini(&t->services);
}

void trigger_times_forget(struct trigger_times *t, struct str key)
{
    union map_value own_state;
    if (map_str_remove(&t->services, key, &own_state))
        free_state(own_state.ptr);
}

static struct trigger_state *new_state(struct str key, const struct value *service)
{
    struct trigger_state *s = mem_zalloc(sizeof(*s));
    arena_init(&s->arena);
    map_str_init(&s->pods);
    s->key = arena_str(&s->arena, key);
    s->service_s = value_path(service_type(), service, "metadata.creationTimestamp")->i;
    return s;
}

static bool ready_since(const struct value *pod, int64_t *ret_s)
{
    const struct value *c = pod_condition(pod, STR("Ready"));
    const struct value *at = c ? value_path(schema_type(STR("core/v1.PodCondition")), c, "lastTransitionTime") : NULL;
    if (!at || at->kind != VALUE_TIME)
        return false;
    *ret_s = at->i;
    return true;
}

static void keep_earliest(bool *any, int64_t *earliest_s, int64_t at_s)
{
    if (!*any || at_s < *earliest_s)
        *earliest_s = at_s;
    *any = true;
}

/* A service that is new counts from when it was made. */
bool trigger_times_look(struct trigger_times *t, struct str key, const struct value *service, const struct value *const *pods,
                        size_t n_pods, int64_t *ret_s)
{
    const union map_value *found = map_str_find(&t->services, key);
    const struct trigger_state *old = found ? found->ptr : NULL;
    struct trigger_state *now = new_state(key, service);
    bool changed = false, is_new;
    int64_t earliest_s = 0, at_s;
    for (size_t i = 0; i < n_pods; i++) {
        if (!ready_since(pods[i], &at_s))
            continue;
        struct str name = arena_str(&now->arena, text_at(pod_type(), pods[i], "metadata.name"));
        map_str_put(&now->pods, name, &is_new)->num = (uint64_t)at_s;
        const union map_value *before = old ? map_str_find(&old->pods, name) : NULL;
        if (!before || at_s > (int64_t)before->num)
            keep_earliest(&changed, &earliest_s, at_s);
    }
    if (old && now->service_s > old->service_s)
        keep_earliest(&changed, &earliest_s, now->service_s);
    *ret_s = old ? earliest_s : now->service_s;
    changed |= !old;
    trigger_times_forget(t, key);
    map_str_put(&t->services, now->key, &is_new)->ptr = now;
    return changed;
}

struct value trigger_times_annotate(struct arena *a, const struct value *annotations, bool changed, int64_t at_s)
{
    if (!changed)
        return map_without(a, annotations, TRIGGER_TIME);
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    timestamp_add(&text, (struct timestamp){ .seconds = at_s });
    struct value v = edit_member(a, annotations, TRIGGER_TIME, value_string(arena_str(a, strbuf_str(&text))));
    strbuf_fini(&text);
    return v;
}
