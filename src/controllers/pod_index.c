/* controllers/pod_index.c - see pod_index.h. */
#include "controllers/pod_index.h"

#include <assert.h>
#include <stdlib.h>

#include "base/list.h"
#include "base/map.h"
#include "base/vec.h"
#include "codec/json.h"

/* Pods that have something in common. */
struct group {
    struct list pods;
    uint32_t n;
    size_t n_key;
    char key[];
};

struct groups {
    struct map_str by_key; /* -> struct group */
};

struct entry {
    struct pod_facts *facts;
    struct list_node in_namespace, with_owner; /* without an owner: among the orphans of the namespace */
    size_t n_key;
    char key[]; /* as the store's */
};

struct watcher {
    pod_changed *changed;
    void *context;
};

struct pod_index {
    struct cluster *cluster;
    const struct resource *resource;
    const struct type *type; /* as which objects are read */
    bool watches;
    struct map_str entries; /* key in the store -> struct entry */
    struct groups namespaces, owners, orphans;
    VEC(struct watcher) watchers;
};

/* ---- Groups ---- */

static struct group *find_group(const struct groups *g, struct str key)
{
    const union map_value *found = map_str_find(&g->by_key, key);
    return found ? found->ptr : NULL;
}

static void join(struct groups *g, struct str key, struct list_node *node)
{
    struct group *to = find_group(g, key);
    if (!to) {
        to = mem_zalloc(sizeof(*to) + key.n);
        memcpy(to->key, key.p, key.n);
        to->n_key = key.n;
        list_init(&to->pods);
        map_str_put(&g->by_key, (struct str){ to->key, to->n_key }, NULL)->ptr = to;
    }
    list_push(&to->pods, node);
    to->n++;
}

static void leave(struct groups *g, struct str key, struct list_node *node)
{
    struct group *from = find_group(g, key);
    list_remove(node);
    if (--from->n)
        return;
    map_str_remove(&g->by_key, key, NULL);
    free(from);
}

static void groups_fini(struct groups *g)
{
    for (struct map_str_slot *s = NULL; (s = map_str_next(&g->by_key, s));)
        free(s->value.ptr);
    map_str_fini(&g->by_key);
}

/* ---- Entries ---- */

static void enlist(struct pod_index *x, struct entry *e)
{
    const struct pod_facts *f = e->facts;
    join(&x->namespaces, f->namespace, &e->in_namespace);
    if (f->owner_uid.n)
        join(&x->owners, f->owner_uid, &e->with_owner);
    else
        join(&x->orphans, f->namespace, &e->with_owner);
}

static void delist(struct pod_index *x, struct entry *e)
{
    const struct pod_facts *f = e->facts;
    leave(&x->namespaces, f->namespace, &e->in_namespace);
    if (f->owner_uid.n)
        leave(&x->owners, f->owner_uid, &e->with_owner);
    else
        leave(&x->orphans, f->namespace, &e->with_owner);
}

static struct entry *entry_new(struct pod_index *x, struct str key)
{
    struct entry *e = mem_zalloc(sizeof(*e) + key.n);
    memcpy(e->key, key.p, key.n);
    e->n_key = key.n;
    map_str_put(&x->entries, (struct str){ e->key, e->n_key }, NULL)->ptr = e;
    return e;
}

/* ---- Changes ---- */

/* Whole pods are read by others, too: their values are shared. */
static struct pod_facts *read_item(const struct pod_index *x, struct store_item *item)
{
    struct arena a;
    if (x->type == x->resource->type)
        return pod_facts_new(stored_value(cluster_objects(x->cluster), x->resource, item));
    struct value v;
    struct err err;
    arena_init(&a);
    err_init(&err, &a);
    enum err_code rc = json_decode(&a, WORK_OWN, x->type, store_item_value(item), NULL, &v, &err);
    assert(rc == ERR_OK); /* we wrote it */
    struct pod_facts *f = pod_facts_new(&v);
    arena_fini(&a);
    return f;
}

static void item_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct pod_index *x = context;
    struct str key = store_item_key(item ? item : prev);
    (void)r;
    union map_value *found = map_str_find(&x->entries, key);
    struct entry *e = found ? found->ptr : item ? entry_new(x, key) : NULL;
    if (!e)
        return;
    struct pod_facts *own_was = e->facts;
    if (own_was)
        delist(x, e);
    e->facts = item ? read_item(x, item) : NULL;
    if (e->facts)
        enlist(x, e);
    for (size_t i = 0; i < x->watchers.n; i++)
        x->watchers.at[i].changed(x->watchers.at[i].context, e->facts, own_was);
    pod_facts_free(own_was);
    if (!e->facts) {
        map_str_remove(&x->entries, key, NULL);
        free(e);
    }
}

void pod_index_watch(struct pod_index *x, pod_changed *changed, void *context)
{
    vec_push(&x->watchers, (struct watcher){ changed, context });
    if (!x->watches)
        cluster_watch(x->cluster, x->resource, item_changed, x);
    x->watches = true;
}

/* ---- Lookups ---- */

const struct pod_facts *pod_index_find(const struct pod_index *x, struct str namespace, struct str name)
{
    struct arena a;
    arena_init_small(&a);
    const union map_value *found = map_str_find(&x->entries, stored_key(&a, x->resource, namespace, name));
    arena_fini(&a);
    return found ? ((const struct entry *)found->ptr)->facts : NULL;
}

static size_t list_group(const struct groups *g, struct str key, size_t node_at, struct arena *a, pod_list *ret_pods)
{
    const struct group *from = find_group(g, key);
    const struct pod_facts **at = ARENA_NEW_N(a, const struct pod_facts *, from ? from->n : 0);
    size_t n = 0;
    for (struct list_node *i = from ? list_first(&from->pods) : NULL; i; i = list_next(&from->pods, i))
        at[n++] = ((const struct entry *)((uintptr_t)i - node_at))->facts;
    *ret_pods = at;
    return n;
}

size_t pod_index_of_owner(const struct pod_index *x, struct str uid, struct arena *a, pod_list *ret_pods)
{
    return list_group(&x->owners, uid, offsetof(struct entry, with_owner), a, ret_pods);
}

size_t pod_index_orphans(const struct pod_index *x, struct str namespace, struct arena *a, pod_list *ret_pods)
{
    return list_group(&x->orphans, namespace, offsetof(struct entry, with_owner), a, ret_pods);
}

size_t pod_index_of_namespace(const struct pod_index *x, struct str namespace, struct arena *a, pod_list *ret_pods)
{
    return list_group(&x->namespaces, namespace, offsetof(struct entry, in_namespace), a, ret_pods);
}

uint32_t pod_index_n_of_owner(const struct pod_index *x, struct str uid)
{
    const struct group *g = find_group(&x->owners, uid);
    return g ? g->n : 0;
}

/* ---- Life ---- */

static struct pod_index *index_new(struct cluster *c, const struct resource *r, const struct type *t)
{
    struct pod_index *x = mem_zalloc(sizeof(*x));
    x->cluster = c;
    x->resource = r;
    x->type = t;
    map_str_init(&x->entries);
    map_str_init(&x->namespaces.by_key);
    map_str_init(&x->owners.by_key);
    map_str_init(&x->orphans.by_key);
    return x;
}

struct pod_index *pod_index_new(struct cluster *c)
{
    return index_new(c, stored_resource("pods", ""), schema_type(STR("core/v1.Pod")));
}

struct pod_index *owned_index_new(struct cluster *c, const struct resource *r)
{
    return index_new(c, r, schema_type(STR("meta/v1.PartialObjectMetadata")));
}

void pod_index_free(struct pod_index *x)
{
    if (!x)
        return;
    for (struct map_str_slot *s = NULL; (s = map_str_next(&x->entries, s));) {
        struct entry *e = s->value.ptr;
        pod_facts_free(e->facts);
        free(e);
    }
    map_str_fini(&x->entries);
    groups_fini(&x->namespaces);
    groups_fini(&x->owners);
    groups_fini(&x->orphans);
    vec_fini(&x->watchers);
    free(x);
}
