/* controllers/resource_quota.c - the status of ResourceQuotas. Upstream: controller/resourcequota.
 *
 * Objects are looked at when they change, and only in namespaces that have quotas: nothing is counted again at intervals. */
#include <stdlib.h>

#include "controllers/controllers.h"
#include "controllers/quota_status.h"
#include "controllers/read.h"
#include "controllers/turn.h"

#define CONTROLLER "resourcequota-controller"

enum { WORKERS = 5 };

struct resource_quota_controller {
    struct cluster *cluster;
    struct work_queue *queue;
};

static const struct resource *quotas(void)
{
    return stored_resource("resourcequotas", "");
}

struct lister {
    struct resource_quota_controller *controller;
    struct str namespace;
    struct arena *a;
};

static size_t list_objects(void *context, const struct resource *r, const struct value ***ret_objects)
{
    const struct lister *l = context;
    return stored_list(cluster_objects(l->controller->cluster), r, l->namespace, l->a, ret_objects);
}

static void work(void *context, struct str key)
{
    struct resource_quota_controller *c = context;
    struct str namespace, name;
    struct arena a;
    arena_init(&a);
    struct turn *t = turn_new(c->cluster, c->queue, CONTROLLER, key);
    turn_read_key(key, &namespace, &name);
    struct lister lister = { c, namespace, &a };
    struct quota_state s = { stored_get(cluster_objects(c->cluster), quotas(), namespace, name), cluster_now_s(c->cluster),
                             list_objects, &lister };
    struct value next;
    if (s.quota && quota_status_plan(&a, &s, &next))
        turn_begin(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .resource = quotas(), .subresource = "status",
                                             .namespace = namespace, .name = name, .object = &next });
    turn_end(t);
    arena_fini(&a);
}

static void quota_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct resource_quota_controller *c = context;
    struct stored *objects = cluster_objects(c->cluster);
    struct str namespace, name;
    struct arena a;
    if (!item || (prev && value_equal(value_path(resource_quota_type(), stored_value(objects, r, item), "spec"),
                                      value_path(resource_quota_type(), stored_value(objects, r, prev), "spec"))))
        return;
    arena_init_small(&a);
    stored_read_key(r, store_item_key(item), &namespace, &name);
    work_queue_add(c->queue, turn_key_of(&a, namespace, name));
    arena_fini(&a);
}

/* New objects were charged when they were made. */
static void object_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct resource_quota_controller *c = context;
    struct stored *objects = cluster_objects(c->cluster);
    const struct value **all;
    struct str namespace, name;
    struct arena a;
    if (r == quotas())
        quota_changed(c, r, item, prev);
    if (!prev || !r->namespaced)
        return;
    arena_init_small(&a);
    stored_read_key(r, store_item_key(prev), &namespace, &name);
    size_t n = stored_list(objects, quotas(), namespace, &a, &all);
    for (size_t i = 0; i < n; i++)
        if (quota_status_changes(&a, all[i], r, item ? stored_value(objects, r, item) : NULL, stored_value(objects, r, prev),
                                 cluster_now_s(c->cluster)))
            work_queue_add(c->queue, turn_key_of(&a, namespace, text_at(resource_quota_type(), all[i], "metadata.name")));
    arena_fini(&a);
}

void *resource_quota_controller_start(const struct controller_context *context)
{
    struct resource_quota_controller *c = mem_zalloc(sizeof(*c));
    c->cluster = context->cluster;
    c->queue = work_queue_new(cluster_loop(c->cluster), WORKERS, work, c);
    work_queue_show(c->queue, context->queues, "resourcequota_primary");
    cluster_watch(c->cluster, NULL, object_changed, c);
    return c;
}

void resource_quota_controller_stop(void *own_controller)
{
    struct resource_quota_controller *c = own_controller;
    work_queue_free(c->queue);
    free(c);
}
