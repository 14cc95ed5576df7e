/* sched/node_view.c - a chapter of framework.h: one node as plugins see it, and copies of it that pods are tried on. */
#include "base/mem.h"
#include "sched/framework.h"

struct node_view node_view_of(const struct cache *cache, node_id id)
{
    const struct node_row *row = &cache->rows.at[id];
    const struct columns *col = &cache->col;
    return (struct node_view){
        .id = id,
        .node = row->node,
        .milli_cpu = col->used_milli_cpu[id],
        .memory = col->used_memory[id],
        .ephemeral = col->used_ephemeral[id],
        .non_zero_milli_cpu = col->non_zero_milli_cpu[id],
        .non_zero_memory = col->non_zero_memory[id],
        .n_pods = (uint32_t)row->pods.n,
        .placed = (const struct placed *const *)row->pods.at,
        .ports = row->ports.at,
        .n_ports = (uint32_t)row->ports.n,
        .cache = cache,
    };
}

struct node_view node_view_bare(struct cycle *c, node_id id, struct node *ret_node)
{
    *ret_node = *c->cache->rows.at[id].node;
    ret_node->images = NULL;
    ret_node->n_images = 0;
    return (struct node_view){
        .id = id,
        .node = ret_node,
        .simulated = true,
        .scalars_used = ARENA_NEW_N(c->arena, int64_t, c->cache->col.scalars.n),
        .cache = c->cache,
    };
}

static size_t scalar_index(const struct cache *c, sym name)
{
    size_t i = 0;
    while (i < c->col.scalars.n && c->col.scalars.at[i].name != name)
        i++;
    return i;
}

int64_t node_view_scalar_used(const struct node_view *v, sym name)
{
    if (!v->simulated)
        return cache_scalar_used(v->cache, v->id, name);
    size_t i = scalar_index(v->cache, name);
    return i < v->cache->col.scalars.n ? v->scalars_used[i] : 0;
}

enum { ROOM_TO_ADD = 8 }; /* pods and ports; more are allocated anew */

static void copy_pods(struct cycle *c, struct node_view *copy, const struct node_view *from, uint32_t n_max)
{
    const struct pod **pods = arena_alloc(c->arena, n_max * sizeof(struct pod *));
    for (uint32_t i = 0; i < from->n_pods; i++)
        pods[i] = node_view_pod(from, i);
    copy->pods = pods;
    copy->n_pods_max = n_max;
}

static void copy_ports(struct cycle *c, struct node_view *copy, const struct node_view *from, uint32_t n_max)
{
    struct host_port *ports = arena_alloc(c->arena, n_max * sizeof(*ports));
    if (from->n_ports)
        memcpy(ports, from->ports, from->n_ports * sizeof(*ports));
    copy->ports = ports;
    copy->n_ports_max = n_max;
}

struct node_view *node_view_clone(struct cycle *c, const struct node_view *view)
{
    struct node_view *copy = arena_alloc(c->arena, sizeof(*copy));
    *copy = *view;
    copy_pods(c, copy, view, view->n_pods + ROOM_TO_ADD);
    copy_ports(c, copy, view, view->n_ports + ROOM_TO_ADD);
    size_t n_scalars = view->cache->col.scalars.n;
    copy->scalars_used = arena_alloc(c->arena, n_scalars * sizeof(int64_t));
    for (size_t i = 0; i < n_scalars; i++)
        copy->scalars_used[i] =
            view->simulated ? view->scalars_used[i] : view->cache->col.scalars.at[i].used[view->id];
    copy->simulated = true;
    return copy;
}

/* As the cache keeps them: a set, not a count. */
static void change_ports(struct cycle *c, struct node_view *v, const struct pod *pod, bool add)
{
    for (uint32_t i = 0; i < pod->n_ports; i++) {
        uint32_t at = 0;
        while (at < v->n_ports && !host_port_equal(v->ports[at], pod->ports[i]))
            at++;
        if (add && at == v->n_ports) {
            if (v->n_ports == v->n_ports_max)
                copy_ports(c, v, v, v->n_ports_max * 2);
            v->ports[v->n_ports++] = pod->ports[i];
        } else if (!add && at < v->n_ports) {
            v->ports[at] = v->ports[--v->n_ports];
        }
    }
}

static void change_amounts(struct node_view *v, const struct pod *pod, bool add)
{
    const struct amounts *r = pod->requested;
    v->milli_cpu = account(v->milli_cpu, r->milli_cpu, add);
    v->memory = account(v->memory, r->memory, add);
    v->ephemeral = account(v->ephemeral, r->ephemeral_storage, add);
    v->non_zero_milli_cpu = account(v->non_zero_milli_cpu, pod->non_zero_milli_cpu, add);
    v->non_zero_memory = account(v->non_zero_memory, pod->non_zero_memory, add);
    for (uint32_t i = 0; i < r->n_scalars; i++) {
        size_t k = scalar_index(v->cache, r->scalars[i].name);
        if (k < v->cache->col.scalars.n) /* no node has what no node ever reported */
            v->scalars_used[k] = account(v->scalars_used[k], r->scalars[i].amount, add);
    }
}

static bool filters_in(const struct cycle *c, const struct plugin_instance *p)
{
    return !(c->skip_filter >> p->index & 1);
}

void node_view_add(struct cycle *c, struct node_view *copy, const struct pod *pod)
{
    if (copy->n_pods == copy->n_pods_max)
        copy_pods(c, copy, copy, copy->n_pods_max * 2);
    copy->pods[copy->n_pods++] = pod;
    change_amounts(copy, pod, true);
    change_ports(c, copy, pod, true);
    const struct point_plugins *points = &c->profile->points[POINT_PRE_FILTER];
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin_instance *p = points->at[i];
        if (p->plugin->add_pod && filters_in(c, p))
            p->plugin->add_pod(p, c, c->state[p->index], pod, copy);
    }
}

void node_view_remove(struct cycle *c, struct node_view *copy, const struct pod *pod)
{
    uint32_t at = 0;
    while (at < copy->n_pods && copy->pods[at] != pod)
        at++;
    assert(at < copy->n_pods);
    copy->pods[at] = copy->pods[--copy->n_pods];
    change_amounts(copy, pod, false);
    change_ports(c, copy, pod, false);
    const struct point_plugins *points = &c->profile->points[POINT_PRE_FILTER];
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin_instance *p = points->at[i];
        if (p->plugin->remove_pod && filters_in(c, p))
            p->plugin->remove_pod(p, c, c->state[p->index], pod, copy);
    }
}

void **cycle_clone_state(struct cycle *c)
{
    void **copy = arena_alloc(c->arena, PLUGINS_MAX * sizeof(void *));
    memcpy(copy, c->state, PLUGINS_MAX * sizeof(void *));
    const struct point_plugins *points = &c->profile->points[POINT_PRE_FILTER];
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin_instance *p = points->at[i];
        if (p->plugin->clone_state && filters_in(c, p))
            copy[p->index] = p->plugin->clone_state(p, c, c->state[p->index]);
    }
    return copy;
}
