/* controllers/statefulset.c - StatefulSets: pods with names that stay, made and deleted in order, each with its own claims.
 *
 * Here are the changes that make the controller look at a set. Upstream: controller/statefulset. */
#include <stdlib.h>

#include "apiserver/subresource.h"
#include "controllers/statefulset_decide.h"
#include "controllers/statefulset_priv.h"

#define CONTROLLER "statefulset-controller"

enum { WORKERS = 5, KEY_BYTES_MAX = 512 };

static const struct type *sets(void)
{
    return schema_type(STR("apps/v1.StatefulSet"));
}

static const struct resource *set_resource(void)
{
    return stored_resource("statefulsets", "apps");
}

static void add_key(struct statefulset_controller *c, struct str namespace, struct str name)
{
    char key[KEY_BYTES_MAX];
    int n = snprintf(key, sizeof(key), "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name));
    if (n > 0 && (size_t)n < sizeof(key))
        work_queue_add(c->queue, (struct str){ key, (size_t)n });
}

static bool could_own(struct arena *a, const struct value *set, const struct pod_facts *p)
{
    struct selector selector;
    struct err e;
    err_init(&e, a);
    if (statefulset_ordinal(value_text(value_path(sets(), set, "metadata.name")), p->name) < 0)
        return false;
    return !selector_of_value(a, schema_type(STR("meta/v1.LabelSelector")), value_path(sets(), set, "spec.selector"), &selector, &e) &&
           selector_matches(&selector, p->labels);
}

/* Sets that could adopt a pod which has no controller. */
static void add_sets_that_select(struct statefulset_controller *c, const struct pod_facts *p)
{
    struct arena a;
    const struct value **all;
    arena_init(&a);
    size_t n = stored_list(cluster_objects(c->cluster), set_resource(), p->namespace, &a, &all);
    for (size_t i = 0; i < n; i++)
        if (could_own(&a, all[i], p))
            add_key(c, p->namespace, value_text(value_path(sets(), all[i], "metadata.name")));
    arena_fini(&a);
}

static void add_owner(struct statefulset_controller *c, const struct pod_facts *p)
{
    if (p && str_is(p->owner_kind, "StatefulSet"))
        add_key(c, p->namespace, p->owner_name);
}

static void pod_has_changed(void *context, const struct pod_facts *is, const struct pod_facts *was)
{
    struct statefulset_controller *c = context;
    add_owner(c, is);
    if (was && (!is || !str_eq(is->owner_uid, was->owner_uid)))
        add_owner(c, was);
    if (is && !is->owner_uid.n && !is->deleted_s)
        add_sets_that_select(c, is);
}

static void set_has_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct str namespace, name;
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    add_key(context, namespace, name);
}

static void work(void *context, struct str key)
{
    statefulset_turn_begin(context, key);
}

void *statefulset_controller_start(const struct controller_context *x)
{
    struct statefulset_controller *c = mem_zalloc(sizeof(*c));
    c->cluster = x->cluster;
    c->pods = x->pods;
    c->control = (struct pod_control){ x->cluster, x->events, CONTROLLER };
    c->queue = work_queue_new(cluster_loop(x->cluster), WORKERS, work, c);
    work_queue_show(c->queue, x->queues, "statefulset");
    pod_index_watch(x->pods, pod_has_changed, c);
    cluster_watch(x->cluster, set_resource(), set_has_changed, c);
    return c;
}

void statefulset_controller_stop(void *own_controller)
{
    struct statefulset_controller *c = own_controller;
    work_queue_free(c->queue);
    free(c);
}
