/* controllers/endpointslice.c - services have the EndpointSlices that their pods make. Upstream: controller/endpointslice.
 *
 * What is decided stands in endpoint_slices.c; here are the changes that make a service worth a look, and the writes. */
#include <stdlib.h>

#include "controllers/controllers.h"
#include "controllers/endpoint_slices.h"
#include "controllers/read.h"
#include "controllers/service_pods.h"
#include "controllers/slice_write.h"
#include "controllers/turn.h"

#define CONTROLLER "endpointslice-controller"

enum { WORKERS = 5, SLICE_CHANGED_MS = 1000 /* our own writes change slices, too */ };

struct endpointslice_controller {
    struct cluster *cluster;
    struct work_queue *queue;
    struct service_watch watch;
    struct trigger_times times;
};

static const struct resource *slices(void)
{
    return stored_resource("endpointslices", "discovery.k8s.io");
}

static const struct value *find_node(void *context, struct str name)
{
    struct endpointslice_controller *c = context;
    return name.n ? stored_get(cluster_objects(c->cluster), stored_resource("nodes", ""), STR(""), name) : NULL;
}

static struct str service_of(const struct value *slice)
{
    const struct value *labels = value_path(slice_type(), slice, "metadata.labels");
    return member_text(labels, STR("kubernetes.io/service-name"));
}

static bool is_ours(const struct value *slice)
{
    const struct value *labels = value_path(slice_type(), slice, "metadata.labels");
    return str_is(member_text(labels, STR("endpointslice.kubernetes.io/managed-by")), SLICE_MANAGED_BY);
}

static size_t slices_of(struct endpointslice_controller *c, struct str namespace, struct str service, struct arena *a,
                        const struct value ***ret_slices)
{
    const struct value **all;
    size_t n = stored_list(cluster_objects(c->cluster), slices(), namespace, a, &all), kept = 0;
    for (size_t i = 0; i < n; i++)
        if (str_eq(service_of(all[i]), service) && is_ours(all[i]) &&
            !is_set_at(slice_type(), all[i], "metadata.deletionTimestamp"))
            all[kept++] = all[i];
    *ret_slices = all;
    return kept;
}

static void sync_service(struct endpointslice_controller *c, struct turn *t, const struct value *service, struct arena *a)
{
    struct str key = { t->key, t->n_key }, namespace, name;
    const struct value **pods, **have;
    turn_read_key(key, &namespace, &name);
    struct slice_state s = { .service = service, .node = find_node, .context = c };
    s.n_pods = service_pods_list(cluster_objects(c->cluster), service, a, &pods);
    s.pods = pods;
    s.n_slices = slices_of(c, namespace, name, a, &have);
    s.slices = have;
    s.changed = trigger_times_look(&c->times, key, service, pods, s.n_pods, &s.changed_s);
    struct slice_plan plan = endpoint_slices_plan(a, &s);
    for (size_t i = 0; i < plan.n; i++)
        slice_write_begin(t, namespace, &plan.at[i]);
    if (plan.incomplete)
        turn_fail(t);
}

static void work(void *context, struct str key)
{
    struct endpointslice_controller *c = context;
    struct str namespace, name;
    struct arena a;
    arena_init(&a);
    struct turn *t = turn_new(c->cluster, c->queue, CONTROLLER, key);
    turn_read_key(key, &namespace, &name);
    const struct value *service = stored_get(cluster_objects(c->cluster), stored_resource("services", ""), namespace, name);
    if (!service)
        trigger_times_forget(&c->times, key);
    else if (service_has_pods(service))
        sync_service(c, t, service, &a);
    turn_end(t);
    arena_fini(&a);
}

/* Somebody else may have changed or deleted a slice of ours. */
static void slice_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct endpointslice_controller *c = context;
    struct store_item *const both[] = { item, prev };
    struct arena a;
    arena_init_small(&a);
    for (size_t i = 0; i < 2; i++) {
        const struct value *slice = both[i] ? stored_value(cluster_objects(c->cluster), r, both[i]) : NULL;
        if (!slice || !is_ours(slice))
            continue;
        struct str key = turn_key_of(&a, text_at(slice_type(), slice, "metadata.namespace"), service_of(slice));
        work_queue_add_after(c->queue, key, SLICE_CHANGED_MS);
    }
    arena_fini(&a);
}

void *endpointslice_controller_start(const struct controller_context *context)
{
    struct endpointslice_controller *c = mem_zalloc(sizeof(*c));
    c->cluster = context->cluster;
    c->queue = work_queue_new(cluster_loop(c->cluster), WORKERS, work, c);
    work_queue_show(c->queue, context->queues, "endpoint_slice");
    c->watch = (struct service_watch){ c->cluster, c->queue };
    trigger_times_init(&c->times);
    service_watch_start(&c->watch);
    cluster_watch(c->cluster, slices(), slice_changed, c);
    return c;
}

void endpointslice_controller_stop(void *own_controller)
{
    struct endpointslice_controller *c = own_controller;
    work_queue_free(c->queue);
    trigger_times_fini(&c->times);
    free(c);
}
