/* controllers/endpointslice_mirroring.c - Endpoints that somebody writes for a service without a selector are mirrored
 * to EndpointSlices. Upstream: controller/endpointslicemirroring.
 *
 * What is decided stands in endpoint_mirror.c; here are the changes that make Endpoints worth a look, and the writes. */
#include <stdlib.h>

#include "controllers/controllers.h"
#include "controllers/endpoint_mirror.h"
#include "controllers/endpoints_plan.h"
#include "controllers/read.h"
#include "controllers/slice_write.h"
#include "controllers/turn.h"

#define CONTROLLER "endpointslicemirroring-controller"
#define REPORTER "endpoint-slice-mirroring-controller"

enum { WORKERS = 5, SLICE_CHANGED_MS = 1000 /* our own writes change slices, too */ };

struct mirroring_controller {
    struct cluster *cluster;
    struct events *events;
    struct work_queue *queue; /* of "namespace/name" */
};

static const struct resource *slices(void)
{
    return stored_resource("endpointslices", "discovery.k8s.io");
}

static struct str label_of(const struct value *slice, const char *key)
{
    return member_text(value_path(slice_type(), slice, "metadata.labels"), str_of(key));
}

static bool is_ours(const struct value *slice)
{
    return str_is(label_of(slice, "endpointslice.kubernetes.io/managed-by"), MIRROR_MANAGED_BY);
}

static size_t slices_of(struct mirroring_controller *c, struct str namespace, struct str name, struct arena *a,
                        const struct value ***ret_slices)
{
    const struct value **all;
    size_t n = stored_list(cluster_objects(c->cluster), slices(), namespace, a, &all), kept = 0;
    for (size_t i = 0; i < n; i++)
        if (is_ours(all[i]) && str_eq(label_of(all[i], "kubernetes.io/service-name"), name) &&
            !is_set_at(slice_type(), all[i], "metadata.deletionTimestamp"))
            all[kept++] = all[i];
    *ret_slices = all;
    return kept;
}

static void tell(struct mirroring_controller *c, const struct value *endpoints, const struct mirror_plan *p)
{
    struct object_reference about = event_reference(stored_resource("endpoints", ""), endpoints);
    if (p->n_invalid)
        events_record(c->events, REPORTER, &about, "Warning", "InvalidIPAddress",
                      "Skipped %u invalid IP addresses when mirroring to EndpointSlices", p->n_invalid);
    if (p->n_skipped > p->n_invalid)
        events_record(c->events, REPORTER, &about, "Warning", "TooManyAddressesToMirror",
                      "A max of %d addresses can be mirrored to EndpointSlices per Endpoints subset. %u addresses were skipped",
                      MIRRORED_OF_SUBSET_MAX, p->n_skipped);
}

/* NULL: nothing is to be mirrored, and what was goes. */
static const struct value *find_endpoints(struct mirroring_controller *c, struct str namespace, struct str name)
{
    struct stored *objects = cluster_objects(c->cluster);
    const struct resource *sr = stored_resource("services", "");
    const struct value *endpoints = stored_get(objects, stored_resource("endpoints", ""), namespace, name);
    const struct value *service = stored_get(objects, sr, namespace, name);
    bool by_hand = service && !is_set_at(sr->type, service, "spec.selector");
    return endpoints && by_hand && endpoints_want_mirror(endpoints) ? endpoints : NULL;
}

static void mirror(struct mirroring_controller *c, struct turn *t, struct arena *a, struct str namespace, struct str name)
{
    const struct value **have, *endpoints = find_endpoints(c, namespace, name);
    size_t n = slices_of(c, namespace, name, a, &have);
    if (!endpoints) {
        for (size_t i = 0; i < n; i++)
            slice_write_begin(t, namespace, &(struct slice_action){ SLICE_DELETE, *have[i] });
        return;
    }
    struct mirror_plan plan = endpoint_mirror_plan(a, endpoints, have, n);
    tell(c, endpoints, &plan);
    for (size_t i = 0; i < plan.n; i++)
        if (plan.at[i].verb != SLICE_CREATE || !is_set_at(endpoints_type(), endpoints, "metadata.deletionTimestamp"))
            slice_write_begin(t, namespace, &plan.at[i]);
}

static void work(void *context, struct str key)
{
    struct mirroring_controller *c = context;
    struct str namespace, name;
    struct arena a;
    arena_init(&a);
    struct turn *t = turn_new(c->cluster, c->queue, CONTROLLER, key);
    turn_read_key(key, &namespace, &name);
    mirror(c, t, &a, namespace, name);
    turn_end(t);
    arena_fini(&a);
}

/* ---- Changes ---- */

static void add_key(struct mirroring_controller *c, const struct resource *r, struct store_item *item)
{
    struct str namespace, name;
    struct arena a;
    arena_init_small(&a);
    stored_read_key(r, store_item_key(item), &namespace, &name);
    work_queue_add(c->queue, turn_key_of(&a, namespace, name));
    arena_fini(&a);
}

static void endpoints_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    add_key(context, r, item ? item : prev);
}

static bool has_selector(struct mirroring_controller *c, const struct resource *r, struct store_item *item)
{
    return is_set_at(r->type, stored_value(cluster_objects(c->cluster), r, item), "spec.selector");
}

static void service_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct mirroring_controller *c = context;
    bool is = item && has_selector(c, r, item), was = prev && has_selector(c, r, prev);
    if (item && prev ? is != was : !is && !was)
        add_key(c, r, item ? item : prev);
}

/* Somebody else may have changed or deleted a slice of ours. */
static void slice_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct mirroring_controller *c = context;
    struct store_item *const both[] = { item, prev };
    struct arena a;
    arena_init_small(&a);
    for (size_t i = 0; i < 2; i++) {
        const struct value *slice = both[i] ? stored_value(cluster_objects(c->cluster), r, both[i]) : NULL;
        if (!slice || !is_ours(slice))
            continue;
        struct str service = label_of(slice, "kubernetes.io/service-name");
        work_queue_add_after(c->queue, turn_key_of(&a, text_at(slice_type(), slice, "metadata.namespace"), service),
                             SLICE_CHANGED_MS);
    }
    arena_fini(&a);
}

void *endpointslice_mirroring_start(const struct controller_context *context)
{
    struct mirroring_controller *c = mem_zalloc(sizeof(*c));
    c->cluster = context->cluster;
    c->events = context->events;
    c->queue = work_queue_new(cluster_loop(c->cluster), WORKERS, work, c);
    work_queue_show(c->queue, context->queues, "endpoint_slice_mirroring");
    cluster_watch(c->cluster, stored_resource("endpoints", ""), endpoints_changed, c);
    cluster_watch(c->cluster, stored_resource("services", ""), service_changed, c);
    cluster_watch(c->cluster, slices(), slice_changed, c);
    return c;
}

void endpointslice_mirroring_stop(void *own_controller)
{
    struct mirroring_controller *c = own_controller;
    work_queue_free(c->queue);
    free(c);
}
