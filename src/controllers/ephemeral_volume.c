/* controllers/ephemeral_volume.c - pods with volumes that bring their own claim: it is made, and goes with the pod. Upstream:
 * controller/volume/ephemeral. */
#include <stdlib.h>

#include "api/edit.h"
#include "controllers/controllers.h"
#include "controllers/pod_control.h"
#include "controllers/read.h"
#include "controllers/turn.h"

#define CONTROLLER "ephemeral-volume-controller"
#define REPORTER "ephemeral_volume"

enum { WORKERS = 10 };

struct ephemeral_controller {
    struct cluster *cluster;
    struct events *events;
    struct work_queue *queue; /* of pods: "namespace/name" */
};

/* One volume of a pod, while its claim is made. */
struct making {
    struct ephemeral_controller *controller;
    struct arena arena;
    struct str key, claim_name, volume_name;
    struct object_reference pod;
};

static const struct resource *pod_resource(void)
{
    return stored_resource("pods", "");
}

static const struct resource *claim_resource(void)
{
    return stored_resource("persistentvolumeclaims", "");
}

static const struct type *volumes(void)
{
    return schema_type(STR("core/v1.Volume"));
}

static void end_making(struct making *m, const char *fault)
{
    struct ephemeral_controller *c = m->controller;
    if (fault)
        events_record(c->events, REPORTER, &m->pod, "Warning", "FailedBinding", "ephemeral volume %.*s: %s",
                      STR_ARG(m->volume_name), fault);
    work_queue_done(c->queue, m->key, fault ? WORK_RETRY : WORK_FORGET);
    arena_fini(&m->arena);
    free(m);
}

/* The claims of the other volumes are made when the pod is looked at again. */
static void claim_made(void *context, enum err_code code, const char *message)
{
    struct making *m = context;
    if (!code)
        work_queue_add(m->controller->queue, m->key);
    end_making(m, code ? arena_printf(&m->arena, "create PVC %.*s: %s", STR_ARG(m->claim_name), message) : NULL);
}

static struct value make_claim(struct making *m, const struct value *template)
{
    const struct type *from = schema_type(STR("core/v1.PersistentVolumeClaimTemplate")), *t = claim_resource()->type;
    struct value none = { 0 }, v = value_struct(&m->arena, t);
    const struct {
        const char *path;
        struct value to;
    } fields[] = {
        { "apiVersion", edit_text("v1") },
        { "kind", edit_text("PersistentVolumeClaim") },
        { "metadata.name", value_string(m->claim_name) },
        { "metadata.namespace", value_string(m->pod.ns) },
        { "metadata.annotations", *value_path(from, template, "metadata.annotations") },
        { "metadata.labels", *value_path(from, template, "metadata.labels") },
        { "metadata.ownerReferences", edit_append(&m->arena, &none, controller_reference(&m->arena, &m->pod)) },
        { "spec", *value_path(from, template, "spec") },
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        v = edit_set(&m->arena, t, &v, fields[i].path, fields[i].to);
    return v;
}

static bool is_of_pod(const struct value *claim, struct str uid)
{
    const struct type *t = schema_type(STR("meta/v1.OwnerReference"));
    const struct value *owner = entry_with(t, value_path(claim_resource()->type, claim, "metadata.ownerReferences"), "uid", uid);
    return owner && true_at(t, owner, "controller");
}

/* True: something is under way, or wrong, and the rest has to wait. */
static bool see_to_volume(struct making *m, const struct value *volume)
{
    const struct value *template = value_path(volumes(), volume, "ephemeral.volumeClaimTemplate");
    if (!is_set_at(volumes(), volume, "ephemeral"))
        return false;
    m->volume_name = arena_str(&m->arena, text_at(volumes(), volume, "name"));
    m->claim_name = str_of(arena_printf(&m->arena, "%.*s-%.*s", STR_ARG(m->pod.name), STR_ARG(m->volume_name)));
    const struct value *claim = stored_get(cluster_objects(m->controller->cluster), claim_resource(), m->pod.ns, m->claim_name);
    if (claim && is_of_pod(claim, m->pod.uid))
        return false;
    if (claim) {
        end_making(m, arena_printf(&m->arena, "PVC %.*s/%.*s was not created for pod %.*s/%.*s (pod is not owner)",
                                   STR_ARG(m->pod.ns), STR_ARG(m->claim_name), STR_ARG(m->pod.ns), STR_ARG(m->pod.name)));
        return true;
    }
    struct value v = make_claim(m, template);
    struct cluster_call call = { .verb = CLUSTER_CREATE, .controller = CONTROLLER, .resource = claim_resource(),
                                 .namespace = m->pod.ns, .object = &v, .done = claim_made, .context = m };
    cluster_begin(m->controller->cluster, &call);
    return true;
}

static void see_to_pod(struct making *m, const struct value *pod)
{
    const struct value *list = value_path(pod_resource()->type, pod, "spec.volumes");
    m->pod = event_reference(pod_resource(), pod);
    for (uint32_t i = 0; i < list_length(list); i++)
        if (see_to_volume(m, &list->items[i]))
            return;
    end_making(m, NULL);
}

static void work(void *context, struct str key)
{
    struct ephemeral_controller *c = context;
    struct str namespace, name;
    turn_read_key(key, &namespace, &name);
    struct store_item *item = cluster_item(c->cluster, pod_resource(), namespace, name);
    if (!item) {
        work_queue_done(c->queue, key, WORK_FORGET);
        return;
    }
    struct making *m = mem_zalloc(sizeof(*m));
    arena_init(&m->arena);
    m->controller = c;
    m->key = arena_str(&m->arena, key);
    struct value read = cluster_value(&m->arena, pod_resource(), item), pod = value_copy(&m->arena, &read);
    if (is_set_at(pod_resource()->type, &pod, "metadata.deletionTimestamp"))
        end_making(m, NULL);
    else
        see_to_pod(m, &pod);
}

/* ---- Changes ---- */

/* Most pods have no such volume, and need not be decoded to know that. */
static bool may_have_ephemeral(struct store_item *item)
{
    struct str json = store_item_value(item);
    return memmem(json.p, json.n, "\"ephemeral\":", sizeof("\"ephemeral\":") - 1);
}

/* What a pod says about its volumes never changes. */
static void pod_has_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct ephemeral_controller *c = context;
    struct str namespace, name;
    struct arena a;
    if (!item || prev || !may_have_ephemeral(item))
        return;
    arena_init_small(&a);
    stored_read_key(r, store_item_key(item), &namespace, &name);
    work_queue_add(c->queue, turn_key_of(&a, namespace, name));
    arena_fini(&a);
}

/* A claim that somebody deleted is made again, when its pod is still there. */
static void claim_has_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct ephemeral_controller *c = context;
    struct arena a;
    (void)r;
    if (item)
        return;
    arena_init_small(&a);
    struct value v = cluster_metadata(&a, prev);
    struct pod_facts *f = pod_facts_new(&v);
    if (str_is(f->owner_kind, "Pod"))
        work_queue_add(c->queue, turn_key_of(&a, f->namespace, f->owner_name));
    pod_facts_free(f);
    arena_fini(&a);
}

void *ephemeral_volume_start(const struct controller_context *x)
{
    struct ephemeral_controller *c = mem_zalloc(sizeof(*c));
    c->cluster = x->cluster;
    c->events = x->events;
    c->queue = work_queue_new(cluster_loop(x->cluster), WORKERS, work, c);
    cluster_watch(x->cluster, pod_resource(), pod_has_changed, c);
    cluster_watch(x->cluster, claim_resource(), claim_has_changed, c);
    return c;
}

void ephemeral_volume_stop(void *own_controller)
{
    struct ephemeral_controller *c = own_controller;
    work_queue_free(c->queue);
    free(c);
}
