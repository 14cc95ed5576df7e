/* controllers/pods_by_node.c - see pods_by_node.h. */
#include "controllers/pods_by_node.h"

#include <stdlib.h>

#include "controllers/read.h"
#include "controllers/service_pods.h"
#include "controllers/turn.h"

struct pods_of_node {
    struct map_str keys; /* each is its own value, and ours */
    size_t n_name;
    char name[];
};

void pods_by_node_init(struct pods_by_node *x, struct cluster *c)
{
    x->cluster = c;
    map_str_init(&x->nodes);
}

static void free_node(struct pods_of_node *n)
{
    for (struct map_str_slot *s = NULL; (s = map_str_next(&n->keys, s));)
        free(s->value.ptr);
    map_str_fini(&n->keys);
    free(n);
}

void pods_by_node_fini(struct pods_by_node *x)
{
    for (struct map_str_slot *s = NULL; (s = map_str_next(&x->nodes, s));)
        free_node(s->value.ptr);
    map_str_fini(&x->nodes);
}

static void add(struct pods_by_node *x, struct str node, struct str key)
{
    const union map_value *found = map_str_find(&x->nodes, node);
    struct pods_of_node *n = found ? found->ptr : NULL;
    bool is_new;
    if (!n) {
        n = mem_zalloc(sizeof(*n) + node.n);
        n->n_name = node.n;
        memcpy(n->name, node.p, node.n);
        map_str_init(&n->keys);
        map_str_put(&x->nodes, (struct str){ n->name, n->n_name }, &is_new)->ptr = n;
    }
    if (map_str_find(&n->keys, key))
        return;
    char *copy = mem_alloc(key.n);
    memcpy(copy, key.p, key.n);
    map_str_put(&n->keys, (struct str){ copy, key.n }, &is_new)->ptr = copy;
}

static void remove_pod(struct pods_by_node *x, struct str node, struct str key)
{
    const union map_value *found = map_str_find(&x->nodes, node);
    struct pods_of_node *n = found ? found->ptr : NULL;
    union map_value own_key;
    if (n && map_str_remove(&n->keys, key, &own_key))
        free(own_key.ptr);
    if (n && n->keys.n == 0) {
        map_str_remove(&x->nodes, node, NULL);
        free_node(n);
    }
}

static struct str node_of(struct pods_by_node *x, const struct resource *r, struct store_item *item)
{
    const struct value *pod = item ? stored_value(cluster_objects(x->cluster), r, item) : NULL;
    return pod ? text_at(pod_type(), pod, "spec.nodeName") : (struct str){ NULL, 0 };
}

void pods_by_node_changed(struct pods_by_node *x, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct str is = node_of(x, r, item), was = node_of(x, r, prev), namespace, name;
    struct arena a;
    if (item && prev && str_eq(is, was))
        return;
    arena_init_small(&a);
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    struct str key = turn_key_of(&a, namespace, name);
    if (was.n)
        remove_pod(x, was, key);
    if (is.n)
        add(x, is, key);
    arena_fini(&a);
}

size_t pods_by_node_list(const struct pods_by_node *x, struct str node, struct arena *a, const struct str **ret_keys)
{
    const union map_value *found = map_str_find(&x->nodes, node);
    const struct pods_of_node *n = found ? found->ptr : NULL;
    struct str *keys = ARENA_NEW_N(a, struct str, n ? n->keys.n : 0);
    size_t i = 0;
    for (struct map_str_slot *s = NULL; n && (s = map_str_next(&n->keys, s));)
        keys[i++] = arena_str(a, map_str_key(s));
    *ret_keys = keys;
    return i;
}
