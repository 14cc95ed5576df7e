/* sched/node_tree.c - see node_tree.h. */
#include "sched/node_tree.h"

struct zone {
    uint64_t key;
    node_id_vec nodes;
};

struct node_tree {
    VEC(struct zone) zones; /* in order of appearance; there are few */
    size_t n_nodes;
};

struct node_tree *node_tree_new(void)
{
    return mem_zalloc(sizeof(struct node_tree));
}

void node_tree_free(struct node_tree *t)
{
    for (size_t i = 0; i < t->zones.n; i++)
        vec_fini(&t->zones.at[i].nodes);
    vec_fini(&t->zones);
    free(t);
}

uint64_t node_tree_zone(const struct zone_keys *keys, struct label_set labels)
{
    sym region = label_set_get(labels, keys->region_beta);
    if (region == SYM_NONE)
        region = label_set_get(labels, keys->region);
    sym zone = label_set_get(labels, keys->zone_beta);
    if (zone == SYM_NONE)
        zone = label_set_get(labels, keys->zone);
    region = region == SYM_NONE ? SYM_EMPTY : region;
    zone = zone == SYM_NONE ? SYM_EMPTY : zone;
    return (uint64_t)region << 32 | zone;
}

static struct zone *find_zone(struct node_tree *t, uint64_t key)
{
    for (size_t i = 0; i < t->zones.n; i++)
        if (t->zones.at[i].key == key)
            return &t->zones.at[i];
    return NULL;
}

void node_tree_add(struct node_tree *t, uint64_t zone, node_id node)
{
    struct zone *z = find_zone(t, zone);
    if (!z) {
        vec_push(&t->zones, (struct zone){ .key = zone });
        z = vec_last(&t->zones);
    }
    vec_push(&z->nodes, node);
    t->n_nodes++;
}

void node_tree_remove(struct node_tree *t, uint64_t zone, node_id node)
{
    struct zone *z = find_zone(t, zone);
    assert(z);
    size_t at = 0;
    while (at < z->nodes.n && z->nodes.at[at] != node)
        at++;
    assert(at < z->nodes.n);
    vec_remove(&z->nodes, at);
    t->n_nodes--;
    if (z->nodes.n)
        return;
    vec_fini(&z->nodes);
    vec_remove(&t->zones, (size_t)(z - t->zones.at));
}

void node_tree_list(const struct node_tree *t, node_id_vec *order)
{
    vec_reset(order);
    vec_reserve(order, t->n_nodes);
    for (size_t turn = 0; order->n < t->n_nodes; turn++)
        for (size_t i = 0; i < t->zones.n; i++)
            if (turn < t->zones.at[i].nodes.n)
                order->at[order->n++] = t->zones.at[i].nodes.at[turn];
}
