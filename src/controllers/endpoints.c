/* controllers/endpoints.c - services have the Endpoints that their pods make. Upstream: controller/endpoint.
 *
 * What is decided stands in endpoints_plan.c; here are the changes that make a service worth a look, and the writes. */
#include <stdlib.h>

#include "controllers/controllers.h"
#include "controllers/endpoints_plan.h"
#include "controllers/read.h"
#include "controllers/service_pods.h"
#include "controllers/turn.h"

#define CONTROLLER "endpoint-controller"

enum { WORKERS = 5 };

struct endpoints_controller {
    struct cluster *cluster;
    struct work_queue *queue;
    struct service_watch watch;
    struct trigger_times times;
    uint64_t begun_at; /* a revision */
};

static const struct resource *endpoints(void)
{
    return stored_resource("endpoints", "");
}

static void sync_service(struct endpoints_controller *c, struct turn *t, const struct value *service, struct arena *a)
{
    struct str key = { t->key, t->n_key }, namespace, name;
    const struct value **pods;
    struct value v;
    turn_read_key(key, &namespace, &name);
    struct endpoints_state s = { .service = service };
    s.endpoints = stored_get(cluster_objects(c->cluster), endpoints(), namespace, name);
    s.n_pods = service_pods_list(cluster_objects(c->cluster), service, a, &pods);
    s.pods = pods;
    s.changed = trigger_times_look(&c->times, key, service, pods, s.n_pods, &s.changed_s);
    if (endpoints_plan(a, &s, &v))
        turn_begin(t, (struct cluster_call){ .verb = s.endpoints ? CLUSTER_UPDATE : CLUSTER_CREATE, .resource = endpoints(),
                                             .namespace = namespace, .name = name, .object = &v });
}

static void work(void *context, struct str key)
{
    struct endpoints_controller *c = context;
    struct stored *objects = cluster_objects(c->cluster);
    struct str namespace, name;
    struct arena a;
    arena_init(&a);
    struct turn *t = turn_new(c->cluster, c->queue, CONTROLLER, key);
    turn_read_key(key, &namespace, &name);
    const struct value *service = stored_get(objects, stored_resource("services", ""), namespace, name);
    if (!service)
        trigger_times_forget(&c->times, key);
    if (!service && stored_get(objects, endpoints(), namespace, name))
        turn_begin(t, (struct cluster_call){ .verb = CLUSTER_DELETE, .resource = endpoints(), .namespace = namespace,
                                             .name = name });
    else if (service && service_has_pods(service))
        sync_service(c, t, service, &a);
    turn_end(t);
    arena_fini(&a);
}

/* Endpoints of old, from before this ran, may have lost their service; but some are there to elect leaders. */
static bool is_leftover(struct endpoints_controller *c, const struct resource *r, struct store_item *item)
{
    if ((uint64_t)item->mod_revision > c->begun_at)
        return false;
    const struct value *v = stored_value(cluster_objects(c->cluster), r, item);
    const struct value *notes = value_path(endpoints_type(), v, "metadata.annotations");
    return notes->kind != VALUE_MAP || !value_member(notes, STR("control-plane.alpha.kubernetes.io/leader"));
}

/* Those that were deleted are made again. */
static void endpoints_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct endpoints_controller *c = context;
    struct str namespace, name;
    struct arena a;
    arena_init_small(&a);
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    if (!item || (!prev && is_leftover(c, r, item)))
        work_queue_add(c->queue, turn_key_of(&a, namespace, name));
    arena_fini(&a);
}

void *endpoints_controller_start(const struct controller_context *context)
{
    struct endpoints_controller *c = mem_zalloc(sizeof(*c));
    c->cluster = context->cluster;
    c->queue = work_queue_new(cluster_loop(c->cluster), WORKERS, work, c);
    work_queue_show(c->queue, context->queues, "endpoint");
    c->watch = (struct service_watch){ c->cluster, c->queue };
    c->begun_at = (uint64_t)store_revision(stored_store(cluster_objects(c->cluster)));
    trigger_times_init(&c->times);
    service_watch_start(&c->watch);
    cluster_watch(c->cluster, endpoints(), endpoints_changed, c);
    return c;
}

void endpoints_controller_stop(void *own_controller)
{
    struct endpoints_controller *c = own_controller;
    work_queue_free(c->queue);
    trigger_times_fini(&c->times);
    free(c);
}
