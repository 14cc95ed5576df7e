/* controllers/node_ttl.c - every node says in an annotation how long its kubelet may keep objects: see node_ttl.h. */
#include "controllers/node_ttl.h"

#include <stdlib.h>

#include "api/labels.h"
#include "base/map.h"
#include "controllers/controllers.h"
#include "controllers/read.h"
#include "controllers/turn.h"

#define CONTROLLER "ttl-controller"
#define ANNOTATION "node.alpha.kubernetes.io/ttl"

enum { WORKERS = 5 };

static const struct {
    uint32_t n_min, n_max; /* of nodes */
    int seconds;
} steps[] = { { 0, 100, 0 }, { 90, 500, 15 }, { 450, 1000, 30 }, { 900, 2000, 60 }, { 1800, UINT32_MAX, 300 } };

int node_ttl_step(int step, uint32_t n_nodes)
{
    while (n_nodes > steps[step].n_max)
        step++;
    while (n_nodes < steps[step].n_min)
        step--;
    return step;
}

int node_ttl_seconds(int step)
{
    return steps[step].seconds;
}

struct node_ttl {
    struct cluster *cluster;
    struct work_queue *queue; /* of names */
    struct map_str nodes;     /* each name is its own value, and ours */
    int step;
};

static const struct resource *node_resource(void)
{
    return stored_resource("nodes", "");
}

static void write_annotation(struct turn *t, struct str name, int seconds)
{
    char patch[128];
    int n = snprintf(patch, sizeof(patch), "{\"metadata\":{\"annotations\":{\"" ANNOTATION "\":\"%d\"}}}", seconds);
    turn_begin(t, (struct cluster_call){ .verb = CLUSTER_PATCH_STRATEGIC, .resource = node_resource(), .name = name,
                                         .patch = { patch, (size_t)n } });
}

static void work(void *context, struct str key)
{
    struct node_ttl *c = context;
    struct turn *t = turn_new(c->cluster, c->queue, CONTROLLER, key);
    const struct value *node = stored_get(cluster_objects(c->cluster), node_resource(), STR(""), key);
    int64_t seconds;
    if (node) {
        const struct value *annotations = value_path(node_resource()->type, node, "metadata.annotations");
        if (!labels_parse_int(member_text(annotations, STR(ANNOTATION)), &seconds) || seconds != node_ttl_seconds(c->step))
            write_annotation(t, key, node_ttl_seconds(c->step));
    }
    turn_end(t);
}

/* The same may be told twice, so names are kept and not a number. */
static void node_has_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct node_ttl *c = context;
    struct str namespace, name;
    union map_value own;
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    if (!item && map_str_remove(&c->nodes, name, &own))
        free(own.ptr);
    if (item && !map_str_find(&c->nodes, name)) {
        char *copy = mem_alloc(name.n + 1);
        memcpy(copy, name.p, name.n);
        map_str_put(&c->nodes, (struct str){ copy, name.n }, NULL)->ptr = copy;
    }
    c->step = node_ttl_step(c->step, c->nodes.n);
    if (item)
        work_queue_add(c->queue, name);
}

void *node_ttl_start(const struct controller_context *x)
{
    struct node_ttl *c = mem_zalloc(sizeof(*c));
    c->cluster = x->cluster;
    c->queue = work_queue_new(cluster_loop(x->cluster), WORKERS, work, c);
    map_str_init(&c->nodes);
    cluster_watch(x->cluster, node_resource(), node_has_changed, c);
    return c;
}

void node_ttl_stop(void *own_controller)
{
    struct node_ttl *c = own_controller;
    work_queue_free(c->queue);
    for (struct map_str_slot *s = NULL; (s = map_str_next(&c->nodes, s));)
        free(s->value.ptr);
    map_str_fini(&c->nodes);
    free(c);
}
