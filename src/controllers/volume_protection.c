/* controllers/volume_protection.c - see volume_protection.h. Two controllers, which differ in what they look at. */
#include "controllers/volume_protection.h"

#include <stdlib.h>

#include "api/edit.h"
#include "controllers/controllers.h"
#include "controllers/read.h"
#include "controllers/service_pods.h"
#include "controllers/turn.h"
#include "controllers/volume_plan.h"

enum { WORKERS = 4 };

/* ---- The decision ---- */

bool protection_plan(struct arena *a, const struct type *t, const struct value *v, struct str finalizer, bool in_use,
                     struct value *ret_object)
{
    const struct value *list = value_path(t, v, "metadata.finalizers");
    bool has = list_has_text(list, finalizer), goes = is_set_at(t, v, "metadata.deletionTimestamp");
    if (has != goes || (goes && in_use))
        return false;
    struct value next = goes ? list_without(a, list, finalizer) : edit_append(a, list, value_string(finalizer));
    *ret_object = edit_set(a, t, v, "metadata.finalizers", next);
    return true;
}

/* Of an ephemeral volume the claim is called after the pod and the volume, and the pod owns it. */
static bool is_ephemeral_claim(const struct value *pod, struct str volume, const struct value *claim)
{
    const struct type *ot = schema_type(STR("meta/v1.OwnerReference"));
    struct str pod_name = text_at(pod_type(), pod, "metadata.name"), name = text_at(claim_type(), claim, "metadata.name");
    const struct value *owner = entry_with(ot, value_path(claim_type(), claim, "metadata.ownerReferences"), "uid",
                                           text_at(pod_type(), pod, "metadata.uid"));
    return owner && name.n == pod_name.n + 1 + volume.n && str_starts(name, pod_name) && name.p[pod_name.n] == '-' &&
           str_ends(name, volume);
}

bool protection_pod_uses(const struct value *pod, const struct value *claim)
{
    const struct type *t = schema_type(STR("core/v1.Volume"));
    const struct value *list = value_path(pod_type(), pod, "spec.volumes");
    bool is_shut_down = pod_is_being_deleted(pod) && int_at(pod_type(), pod, "metadata.deletionGracePeriodSeconds", -1) == 0;
    if (!text_at(pod_type(), pod, "spec.nodeName").n)
        return false;
    for (uint32_t i = 0; i < list_length(list); i++) {
        const struct value *v = &list->items[i];
        struct str name = text_at(t, v, "persistentVolumeClaim.claimName");
        if (name.n && str_eq(name, text_at(claim_type(), claim, "metadata.name")))
            return true;
        if (!is_shut_down && is_set_at(t, v, "ephemeral") && is_ephemeral_claim(pod, text_at(t, v, "name"), claim))
            return true;
    }
    return false;
}

/* ---- The controllers ---- */

struct protection;

struct protection_rule {
    const char *controller, *queue, *plural, *type, *finalizer;
    bool (*in_use)(struct protection *p, const struct value *v);
};

struct protection {
    struct cluster *cluster;
    struct work_queue *queue;
    const struct protection_rule *rule;
};

static bool claim_in_use(struct protection *p, const struct value *claim)
{
    const struct value **pods;
    struct arena a;
    bool used = false;
    arena_init(&a);
    struct str namespace = text_at(claim_type(), claim, "metadata.namespace");
    size_t n = stored_list(cluster_objects(p->cluster), stored_resource("pods", ""), namespace, &a, &pods);
    for (size_t i = 0; i < n && !used; i++)
        used = protection_pod_uses(pods[i], claim);
    arena_fini(&a);
    return used;
}

static bool volume_in_use(struct protection *p, const struct value *volume)
{
    (void)p;
    return says_at(volume_type(), volume, "status.phase", "Bound");
}

static const struct protection_rule claim_rule = {
    "pvc-protection-controller", "pvcprotection", "persistentvolumeclaims", "core/v1.PersistentVolumeClaim", CLAIM_FINALIZER,
    claim_in_use,
};
static const struct protection_rule volume_rule = {
    "pv-protection-controller", "pvprotection", "persistentvolumes", "core/v1.PersistentVolume", VOLUME_FINALIZER,
    volume_in_use,
};

static void work(void *context, struct str key)
{
    struct protection *p = context;
    const struct resource *r = stored_resource(p->rule->plural, "");
    const struct type *type = schema_type(str_of(p->rule->type));
    struct str namespace, name;
    struct arena a;
    struct value next;
    arena_init(&a);
    struct turn *t = turn_new(p->cluster, p->queue, p->rule->controller, key);
    turn_read_key(key, &namespace, &name);
    const struct value *v = stored_get(cluster_objects(p->cluster), r, namespace, name);
    bool in_use = v && is_set_at(type, v, "metadata.deletionTimestamp") && p->rule->in_use(p, v);
    if (v && protection_plan(&a, type, v, str_of(p->rule->finalizer), in_use, &next))
        turn_begin(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .resource = r, .namespace = namespace, .name = name,
                                             .object = &next });
    turn_end(t);
    arena_fini(&a);
}

static void object_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct protection *p = context;
    struct str namespace, name;
    struct arena a;
    (void)prev;
    if (!item)
        return;
    arena_init_small(&a);
    stored_read_key(r, store_item_key(item), &namespace, &name);
    work_queue_add(p->queue, namespace.n ? turn_key_of(&a, namespace, name) : name);
    arena_fini(&a);
}

/* A pod that is gone or has ended: claims that wait for that may go now. */
static void pod_gone(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct protection *p = context;
    const struct type *t = schema_type(STR("core/v1.Volume"));
    if (!prev)
        return;
    const struct value *pod = stored_value(cluster_objects(p->cluster), r, prev);
    const struct value *list = value_path(pod_type(), pod, "spec.volumes");
    struct str namespace = text_at(pod_type(), pod, "metadata.namespace"), name = text_at(pod_type(), pod, "metadata.name");
    if (item && !pod_is_being_deleted(stored_value(cluster_objects(p->cluster), r, item)))
        return;
    struct arena a;
    arena_init_small(&a);
    for (uint32_t i = 0; i < list_length(list); i++) {
        struct str claim = text_at(t, &list->items[i], "persistentVolumeClaim.claimName");
        struct str volume = text_at(t, &list->items[i], "name");
        if (!claim.n && is_set_at(t, &list->items[i], "ephemeral"))
            claim = str_of(arena_printf(&a, "%.*s-%.*s", STR_ARG(name), STR_ARG(volume)));
        if (claim.n)
            work_queue_add(p->queue, turn_key_of(&a, namespace, claim));
    }
    arena_fini(&a);
}

static struct protection *start(const struct controller_context *c, const struct protection_rule *rule)
{
    struct protection *p = mem_zalloc(sizeof(*p));
    p->cluster = c->cluster;
    p->rule = rule;
    p->queue = work_queue_new(cluster_loop(p->cluster), WORKERS, work, p);
    work_queue_show(p->queue, c->queues, rule->queue);
    cluster_watch(p->cluster, stored_resource(rule->plural, ""), object_changed, p);
    return p;
}

static void stop(struct protection *own_protection)
{
    work_queue_free(own_protection->queue);
    free(own_protection);
}

void *claim_protection_start(const struct controller_context *c)
{
    struct protection *p = start(c, &claim_rule);
    cluster_watch(p->cluster, stored_resource("pods", ""), pod_gone, p);
    return p;
}

void claim_protection_stop(void *own_controller)
{
    stop(own_controller);
}

void *volume_protection_start(const struct controller_context *c)
{
    return start(c, &volume_rule);
}

void volume_protection_stop(void *own_controller)
{
    stop(own_controller);
}
