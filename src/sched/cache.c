/* sched/cache.c - see cache.h. Rows and their columns first, then what a pod adds to a row, then the
 * operations. */
#include "sched/cache.h"

#include <stdlib.h>

#include "sched/counts.h"
#include "sched/heap_order.h"
#include "sched/node_tree.h"
#include "sched/topology.h"

enum { FIRST_ROWS = 64 };
_Static_assert(FIRST_ROWS % 64 == 0, "loops take rows by words of a bitset, also past the last row");

/* ---- Rows and columns ---- */

/* Every array of columns that has an entry per row. */
static void grow_columns(struct columns *col, node_id n)
{
    node_id old = col->n_rows_max;
    struct {
        void **array;
        size_t size;
    } arrays[] = {
        { (void **)&col->alloc_milli_cpu, 8 },    { (void **)&col->alloc_memory, 8 },
        { (void **)&col->alloc_ephemeral, 8 },    { (void **)&col->used_milli_cpu, 8 },
        { (void **)&col->used_memory, 8 },        { (void **)&col->used_ephemeral, 8 },
        { (void **)&col->non_zero_milli_cpu, 8 }, { (void **)&col->non_zero_memory, 8 },
        { (void **)&col->alloc_pods, 4 },         { (void **)&col->n_pods, 4 },
        { (void **)&col->taint_set, 4 },
    };
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        char *grown = mem_realloc(*arrays[i].array, n * arrays[i].size);
        memset(grown + old * arrays[i].size, 0, (n - old) * arrays[i].size);
        *arrays[i].array = grown;
    }
    size_t old_words = bitset_words(old), n_words = bitset_words(n);
    col->listed = mem_realloc(col->listed, n_words * 8);
    col->unschedulable = mem_realloc(col->unschedulable, n_words * 8);
    bitset_zero(col->listed + old_words, n_words - old_words);
    bitset_zero(col->unschedulable + old_words, n_words - old_words);
    for (size_t i = 0; i < col->scalars.n; i++) {
        struct scalar_column *s = &col->scalars.at[i];
        s->alloc = mem_realloc(s->alloc, n * 8);
        s->used = mem_realloc(s->used, n * 8);
        memset(s->alloc + old, 0, (n - old) * 8);
        memset(s->used + old, 0, (n - old) * 8);
    }
    col->n_rows_max = n;
}

static void free_columns(struct columns *col)
{
    void *arrays[] = { col->alloc_milli_cpu, col->alloc_memory, col->alloc_ephemeral, col->used_milli_cpu,
                       col->used_memory, col->used_ephemeral, col->non_zero_milli_cpu, col->non_zero_memory,
                       col->alloc_pods, col->n_pods, col->taint_set, col->listed, col->unschedulable };
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        free(arrays[i]);
    for (size_t i = 0; i < col->scalars.n; i++) {
        free(col->scalars.at[i].alloc);
        free(col->scalars.at[i].used);
    }
    vec_fini(&col->scalars);
}

static struct scalar_column *find_scalar(const struct cache *c, sym name)
{
    for (size_t i = 0; i < c->col.scalars.n; i++)
        if (c->col.scalars.at[i].name == name)
            return &c->col.scalars.at[i];
    return NULL;
}

/* Column of a scalar resource, made when first seen. The name stays: there are few kinds of resources. */
static struct scalar_column *scalar_column(struct cache *c, sym name)
{
    struct scalar_column *found = find_scalar(c, name);
    if (found)
        return found;
    vec_push(&c->col.scalars, (struct scalar_column){
                                  .name = sym_ref(c->syms, name),
                                  .alloc = mem_zalloc(c->col.n_rows_max * sizeof(int64_t)),
                                  .used = mem_zalloc(c->col.n_rows_max * sizeof(int64_t)),
                              });
    return vec_last(&c->col.scalars);
}

/* The row has changed: next generation, and a line in the log. */
static void touch(struct cache *c, node_id id)
{
    c->generation++;
    c->rows.at[id].generation = c->generation;
    c->changes[c->generation % CACHE_LOG_MAX] = id;
}

/* The row of a name, made (as a ghost) when there is none. */
static node_id row_of(struct cache *c, sym name)
{
    bool is_new;
    union map_value *entry = map_u64_put(&c->row_of_name, name, &is_new);
    if (!is_new)
        return (node_id)entry->num;
    node_id id;
    if (c->free_rows.n) {
        id = vec_pop(&c->free_rows);
    } else {
        id = c->col.n_rows++;
        if (id >= c->col.n_rows_max)
            grow_columns(&c->col, c->col.n_rows_max ? c->col.n_rows_max * 2 : FIRST_ROWS);
        vec_push(&c->rows, (struct node_row){ .name = SYM_NONE });
        vec_push(&c->position, UINT32_MAX);
        topology_grow(c->topology, c->col.n_rows_max);
        counts_grow(c->counts, c->col.n_rows_max);
    }
    entry->num = id;
    c->rows.at[id].name = sym_ref(c->syms, name);
    touch(c, id);
    return id;
}

/* Gives back a row that has neither a Node nor pods. */
static void drop_if_empty(struct cache *c, node_id id)
{
    struct node_row *row = &c->rows.at[id];
    if (row->node || row->pods.n)
        return;
    map_u64_remove(&c->row_of_name, row->name, NULL);
    sym_unref(c->syms, row->name);
    vec_fini(&row->pods);
    vec_fini(&row->ports);
    *row = (struct node_row){ .name = SYM_NONE, .generation = row->generation };
    vec_push(&c->free_rows, id);
}

/* ---- What a node object brings to its row ---- */

static uint32_t intern_taints(struct cache *c, const struct node *node)
{
    if (node->n_taints == 0)
        return 0;
    uint32_t free_set = 0;
    for (uint32_t i = 1; i < c->taint_sets.n; i++) {
        struct taint_set *set = &c->taint_sets.at[i];
        if (set->n_rows == 0) {
            free_set = i;
            continue;
        }
        bool equal = set->n_taints == node->n_taints;
        for (uint32_t k = 0; equal && k < set->n_taints; k++)
            equal = set->taints[k].key == node->taints[k].key && set->taints[k].value == node->taints[k].value &&
                    set->taints[k].effect == node->taints[k].effect;
        if (equal)
            return i;
    }
    struct taint_set set = { .holder = node_ref(node), .taints = node->taints, .n_taints = node->n_taints };
    if (free_set) {
        c->taint_sets.at[free_set] = set;
        return free_set;
    }
    vec_push(&c->taint_sets, set);
    return (uint32_t)c->taint_sets.n - 1;
}

static void set_taints(struct cache *c, node_id id, const struct node *node)
{
    uint32_t old = c->col.taint_set[id];
    uint32_t now = node ? intern_taints(c, node) : 0;
    c->taint_sets.at[now].n_rows++;
    c->col.taint_set[id] = now;
    struct taint_set *left = &c->taint_sets.at[old];
    left->n_rows--;
    if (old == 0 || left->n_rows)
        return;
    node_unref(c->syms, left->holder);
    *left = (struct taint_set){ 0 };
}

static void set_allocatable(struct cache *c, node_id id, const struct node *node)
{
    static const struct amounts none;
    const struct amounts *a = node ? &node->allocatable : &none;
    c->col.alloc_milli_cpu[id] = a->milli_cpu;
    c->col.alloc_memory[id] = a->memory;
    c->col.alloc_ephemeral[id] = a->ephemeral_storage;
    c->col.alloc_pods[id] = a->pods;
    for (size_t i = 0; i < c->col.scalars.n; i++)
        c->col.scalars.at[i].alloc[id] = 0;
    for (uint32_t i = 0; i < a->n_scalars; i++)
        scalar_column(c, a->scalars[i].name)->alloc[id] = a->scalars[i].amount;
}

static void add_images(struct cache *c, const struct node *node)
{
    for (uint32_t i = 0; i < node->n_images; i++) {
        bool is_new;
        union map_value *entry = map_u64_put(&c->images, node->images[i].name, &is_new);
        if (is_new) {
            struct image_state *state = mem_zalloc(sizeof(*state));
            state->size_bytes = node->images[i].size_bytes;
            entry->ptr = state;
            sym_ref(c->syms, node->images[i].name);
        }
        ((struct image_state *)entry->ptr)->n_nodes++;
    }
}

static void remove_images(struct cache *c, const struct node *node)
{
    for (uint32_t i = 0; i < node->n_images; i++) {
        union map_value *entry = map_u64_find(&c->images, node->images[i].name);
        struct image_state *state = entry->ptr;
        if (--state->n_nodes)
            continue;
        map_u64_remove(&c->images, node->images[i].name, NULL);
        sym_unref(c->syms, node->images[i].name);
        free(state);
    }
}

/* All that a row shows of its object, but for the images. */
static void show_node(struct cache *c, node_id id, const struct node *node)
{
    struct node_row *row = &c->rows.at[id];
    const struct node *old = row->node;
    row->node = node ? node_ref(node) : NULL;
    set_allocatable(c, id, node);
    set_taints(c, id, node);
    bitset_put(c->col.unschedulable, id, node && node->flags & NODE_UNSCHEDULABLE);
    struct label_set no_labels = { 0 };
    topology_set_labels(c->topology, id, node ? node->meta.labels : no_labels, node != NULL);
    touch(c, id);
    if (old)
        node_unref(c->syms, old);
}

/* Puts the object on the row, or takes it off (NULL). */
static void set_node(struct cache *c, node_id id, const struct node *node)
{
    const struct node *old = c->rows.at[id].node;
    if (old)
        remove_images(c, old);
    if (node)
        add_images(c, node);
    show_node(c, id, node);
}

void cache_add_node(struct cache *c, const struct node *node)
{
    node_id id = row_of(c, node->name);
    struct node_row *row = &c->rows.at[id];
    uint64_t zone = node_tree_zone(&c->zone_keys, node->meta.labels);
    if (!row->node) {
        node_tree_add(c->tree, zone, id);
        bitset_set(c->col.listed, id);
        c->order_is_stale = true;
    } else if (zone != row->zone) {
        /* The order itself waits for the next node that comes or goes, as upstream's does. */
        node_tree_remove(c->tree, row->zone, id);
        node_tree_add(c->tree, zone, id);
    }
    row->zone = zone;
    set_node(c, id, node);
}

void cache_update_node(struct cache *c, const struct node *node)
{
    cache_add_node(c, node);
}

enum err_code cache_remove_node(struct cache *c, sym name, struct err *e)
{
    node_id id = cache_find_node(c, name);
    if (id == NODE_NONE || !c->rows.at[id].node)
        return err_set(e, ERR_NOT_FOUND, "node %s is not found", sym_text(c->syms, name).p);
    struct node_row *row = &c->rows.at[id];
    node_tree_remove(c->tree, row->zone, id);
    bitset_clear(c->col.listed, id);
    c->order_is_stale = true;
    set_node(c, id, NULL);
    drop_if_empty(c, id);
    return ERR_OK;
}

/* ---- What a pod adds to its row ---- */

static void count_ports(struct node_row *row, const struct pod *pod, bool add)
{
    for (uint32_t i = 0; i < pod->n_ports; i++) {
        size_t at = 0;
        while (at < row->ports.n && !host_port_equal(row->ports.at[at], pod->ports[i]))
            at++;
        if (add && at == row->ports.n)
            vec_push(&row->ports, pod->ports[i]);
        else if (!add && at < row->ports.n)
            vec_remove_swap(&row->ports, at);
    }
}

static void count_claims(struct cache *c, const struct pod *pod, bool add)
{
    for (uint32_t i = 0; i < pod->n_volumes; i++) {
        if (pod->volumes[i].kind != VOLUME_CLAIM)
            continue;
        uint64_t key = (uint64_t)pod->meta.ns << 32 | pod->volumes[i].names[0];
        union map_value *entry = map_u64_put(&c->used_claims, key, NULL);
        entry->num += add ? 1 : (uint64_t)-1;
        if (entry->num == 0)
            map_u64_remove(&c->used_claims, key, NULL);
    }
}

static void count_requests(struct cache *c, node_id id, const struct pod *pod, bool add)
{
    const struct amounts *r = pod->requested;
    struct columns *col = &c->col;
    col->used_milli_cpu[id] = account(col->used_milli_cpu[id], r->milli_cpu, add);
    col->used_memory[id] = account(col->used_memory[id], r->memory, add);
    col->used_ephemeral[id] = account(col->used_ephemeral[id], r->ephemeral_storage, add);
    col->non_zero_milli_cpu[id] = account(col->non_zero_milli_cpu[id], pod->non_zero_milli_cpu, add);
    col->non_zero_memory[id] = account(col->non_zero_memory[id], pod->non_zero_memory, add);
    col->n_pods[id] += add ? 1 : -1;
    for (uint32_t i = 0; i < r->n_scalars; i++) {
        int64_t *used = &scalar_column(c, r->scalars[i].name)->used[id];
        *used = account(*used, r->scalars[i].amount, add);
    }
}

static void count_pod(struct cache *c, struct placed *p, bool add)
{
    count_requests(c, p->node, p->pod, add);
    count_ports(&c->rows.at[p->node], p->pod, add);
    count_claims(c, p->pod, add);
    if (add)
        counts_add_pod(c->counts, p);
    else
        counts_remove_pod(c->counts, p);
    touch(c, p->node);
}

static struct placed *place(struct cache *c, const struct pod *pod, bool assumed)
{
    struct placed *p = mem_zalloc(sizeof(*p));
    *p = (struct placed){ .pod = pod_ref(pod), .node = row_of(c, pod->node_name), .assumed = assumed };
    struct node_row *row = &c->rows.at[p->node];
    p->index = (uint32_t)row->pods.n;
    vec_push(&row->pods, p);
    map_str_put(&c->pods, str_of(pod->meta.uid), NULL)->ptr = p;
    c->n_assumed += assumed;
    count_pod(c, p, true);
    return p;
}

static void displace(struct cache *c, struct placed *p)
{
    count_pod(c, p, false);
    struct node_row *row = &c->rows.at[p->node];
    vec_remove_swap(&row->pods, p->index);
    if (p->index < row->pods.n)
        row->pods.at[p->index]->index = p->index;
    map_str_remove(&c->pods, str_of(p->pod->meta.uid), NULL);
    c->n_assumed -= p->assumed;
    drop_if_empty(c, p->node);
    pod_unref(c->syms, p->pod);
    free(p);
}

/* ---- The pod state machine ---- */

static struct placed *find_placed(const struct cache *c, const char *uid)
{
    union map_value *entry = map_str_find(&c->pods, str_of(uid));
    return entry ? entry->ptr : NULL;
}

static const char *pod_label(struct cache *c, const struct pod *pod, struct err *e)
{
    struct str ns = sym_text(c->syms, pod->meta.ns);
    return arena_printf(e->arena, "%s(%.*s/%s)", pod->meta.uid, STR_ARG(ns), pod->meta.name);
}

enum err_code cache_assume(struct cache *c, const struct pod *pod, struct err *e)
{
    if (find_placed(c, pod->meta.uid))
        return err_set(e, ERR_CONFLICT, "pod %s is in the cache, so can't be assumed", pod_label(c, pod, e));
    place(c, pod, true);
    return ERR_OK;
}

enum err_code cache_forget(struct cache *c, const struct pod *pod, struct err *e)
{
    struct placed *p = find_placed(c, pod->meta.uid);
    if (!p)
        return ERR_OK;
    if (p->pod->node_name != pod->node_name)
        return err_set(e, ERR_CONFLICT, "pod %s was assumed on %s but assigned to %s", pod_label(c, pod, e),
                       sym_text(c->syms, pod->node_name).p, sym_text(c->syms, p->pod->node_name).p);
    if (!p->assumed)
        return err_set(e, ERR_CONFLICT, "pod %s wasn't assumed so cannot be forgotten", pod_label(c, pod, e));
    displace(c, p);
    return ERR_OK;
}

enum err_code cache_add_pod(struct cache *c, const struct pod *pod, struct err *e)
{
    struct placed *p = find_placed(c, pod->meta.uid);
    if (p && !p->assumed)
        return err_set(e, ERR_CONFLICT, "pod %s was already in added state", pod_label(c, pod, e));
    if (p)
        displace(c, p); /* the watch knows better, also about the node */
    place(c, pod, false);
    return ERR_OK;
}

enum err_code cache_remove_pod(struct cache *c, const struct pod *pod, struct err *e)
{
    struct placed *p = find_placed(c, pod->meta.uid);
    if (!p)
        return err_set(e, ERR_NOT_FOUND, "pod %s is not found in scheduler cache, so cannot be removed from it",
                       pod_label(c, pod, e));
    /* An empty node name is a stale last state of a pod whose deletion was missed. */
    if (p->pod->node_name != pod->node_name && pod->node_name != SYM_EMPTY)
        return err_set(e, ERR_INTERNAL, "pod %s was added to a different node than it was removed from",
                       pod_label(c, pod, e));
    displace(c, p);
    return ERR_OK;
}

/* ---- Questions ---- */

const struct placed *cache_find_pod(const struct cache *c, const char *uid)
{
    return find_placed(c, uid);
}

node_id cache_find_node(const struct cache *c, sym name)
{
    union map_value *entry = map_u64_find(&c->row_of_name, name);
    return entry ? (node_id)entry->num : NODE_NONE;
}

node_id cache_listed_node(const struct cache *c, sym name)
{
    node_id id = cache_find_node(c, name);
    return id != NODE_NONE && c->position.at[id] != UINT32_MAX ? id : NODE_NONE;
}

/* For as many nodes as there are in the order. */
static void fill_heap_order(struct cache *c)
{
    vec_reset(&c->heap_order);
    vec_reserve(&c->heap_order, c->order.n);
    c->heap_order.n = c->order.n;
    vec_reset(&c->heap_least);
    vec_reserve(&c->heap_least, bitset_words(c->order.n));
    c->heap_least.n = bitset_words(c->order.n);
    heap_order_fill(c->heap_order.at, c->heap_least.at, (uint32_t)c->order.n);
}

void cache_update_order(struct cache *c)
{
    if (!c->order_is_stale)
        return;
    node_tree_list(c->tree, &c->order);
    for (size_t i = 0; i < c->position.n; i++)
        c->position.at[i] = UINT32_MAX;
    c->order_is_identity = true;
    for (uint32_t i = 0; i < c->order.n; i++) {
        c->position.at[c->order.at[i]] = i;
        c->order_is_identity &= c->order.at[i] == i;
    }
    c->order_is_stale = false;
    c->order_epoch++;
    fill_heap_order(c);
}

/* ---- What-ifs ---- */

void cache_suppose_node(struct cache *c, node_id id, const struct node *node)
{
    assert(node);
    assert(c->rows.at[id].node);
    show_node(c, id, node);
}

node_id cache_suppose_new_node(struct cache *c, const struct node *node)
{
    assert(!c->order_is_stale);
    assert(cache_find_node(c, node->name) == NODE_NONE);
    node_id id = row_of(c, node->name);
    bitset_set(c->col.listed, id);
    c->order_is_identity &= c->order.n == id;
    c->position.at[id] = (uint32_t)c->order.n;
    vec_push(&c->order, id);
    fill_heap_order(c);
    set_node(c, id, node);
    return id;
}

void cache_drop_new_node(struct cache *c, node_id id, bool order_was_identity)
{
    assert(c->order.at[c->order.n - 1] == id);
    assert(c->rows.at[id].pods.n == 0);
    c->order.n--;
    c->order_is_identity = order_was_identity;
    c->position.at[id] = UINT32_MAX;
    bitset_clear(c->col.listed, id);
    fill_heap_order(c);
    set_node(c, id, NULL);
    drop_if_empty(c, id);
}

struct lifted_pod cache_lift(struct cache *c, const char *uid)
{
    struct lifted_pod l = { .placed = find_placed(c, uid) };
    struct placed *p = l.placed;
    if (!p)
        return l;
    struct node_row *row = &c->rows.at[p->node];
    l.n_ports = row->ports.n;
    if (l.n_ports)
        l.ports = memcpy(mem_alloc(l.n_ports * sizeof(*l.ports)), row->ports.at, l.n_ports * sizeof(*l.ports));
    count_pod(c, p, false);
    vec_remove_swap(&row->pods, p->index);
    if (p->index < row->pods.n)
        row->pods.at[p->index]->index = p->index;
    map_str_remove(&c->pods, str_of(uid), NULL);
    for (size_t i = 0; p->pod->n_ports && i < row->pods.n; i++)
        count_ports(row, row->pods.at[i]->pod, true); /* of two that share a port, the other still has it */
    return l;
}

void cache_put_back(struct cache *c, struct lifted_pod lifted)
{
    struct placed *p = lifted.placed;
    if (!p)
        return;
    struct node_row *row = &c->rows.at[p->node];
    vec_push(&row->pods, p);
    struct placed *moved = row->pods.at[p->index]; /* p itself if it was the last */
    row->pods.at[p->index] = p;
    row->pods.at[row->pods.n - 1] = moved;
    moved->index = (uint32_t)row->pods.n - 1;
    map_str_put(&c->pods, str_of(p->pod->meta.uid), NULL)->ptr = p;
    count_pod(c, p, true);
    vec_reset(&row->ports);
    for (size_t i = 0; i < lifted.n_ports; i++)
        vec_push(&row->ports, lifted.ports[i]);
    free(lifted.ports);
}

bool cache_changes(const struct cache *c, uint64_t since, void (*each)(void *context, node_id row), void *context)
{
    if (c->generation - since > CACHE_LOG_MAX)
        return false;
    for (uint64_t g = since + 1; g <= c->generation; g++)
        each(context, c->changes[g % CACHE_LOG_MAX]);
    return true;
}

const struct image_state *cache_image(const struct cache *c, sym image)
{
    union map_value *entry = map_u64_find(&c->images, image);
    return entry ? entry->const_ptr : NULL;
}

uint32_t cache_claim_users(const struct cache *c, sym ns, sym claim)
{
    union map_value *entry = map_u64_find(&c->used_claims, (uint64_t)ns << 32 | claim);
    return entry ? (uint32_t)entry->num : 0;
}

const struct scalar_column *cache_scalar(const struct cache *c, sym name)
{
    return find_scalar(c, name);
}

int64_t cache_scalar_used(const struct cache *c, node_id row, sym name)
{
    const struct scalar_column *s = find_scalar(c, name);
    return s ? s->used[row] : 0;
}

/* ---- Beginning and end ---- */

void cache_init(struct cache *c, struct sym_table *syms)
{
    *c = (struct cache){ .syms = syms, .order_is_stale = true };
    map_u64_init(&c->row_of_name);
    map_str_init(&c->pods);
    map_u64_init(&c->images);
    map_u64_init(&c->used_claims);
    c->tree = node_tree_new();
    c->topology = topology_new(syms);
    c->counts = counts_new(c);
    vec_push(&c->taint_sets, (struct taint_set){ 0 });
    c->zone_keys = (struct zone_keys){
        .region_beta = sym_intern_static(syms, STR("failure-domain.beta.kubernetes.io/region")),
        .region = sym_intern_static(syms, STR("topology.kubernetes.io/region")),
        .zone_beta = sym_intern_static(syms, STR("failure-domain.beta.kubernetes.io/zone")),
        .zone = sym_intern_static(syms, STR("topology.kubernetes.io/zone")),
    };
}

static void free_placed(struct cache *c)
{
    for (struct map_str_slot *s = map_str_next(&c->pods, NULL); s; s = map_str_next(&c->pods, s)) {
        struct placed *p = s->value.ptr;
        counts_remove_pod(c->counts, p);
        pod_unref(c->syms, p->pod);
        free(p);
    }
}

static void free_rows(struct cache *c)
{
    for (size_t i = 0; i < c->rows.n; i++) {
        struct node_row *row = &c->rows.at[i];
        if (row->name == SYM_NONE)
            continue;
        if (row->node) {
            remove_images(c, row->node);
            node_unref(c->syms, row->node);
        }
        sym_unref(c->syms, row->name);
        vec_fini(&row->pods);
        vec_fini(&row->ports);
    }
    vec_fini(&c->rows);
}

void cache_fini(struct cache *c)
{
    free_placed(c);
    free_rows(c);
    for (size_t i = 1; i < c->taint_sets.n; i++)
        if (c->taint_sets.at[i].n_rows)
            node_unref(c->syms, c->taint_sets.at[i].holder);
    for (size_t i = 0; i < c->col.scalars.n; i++)
        sym_unref(c->syms, c->col.scalars.at[i].name);
    counts_free(c->counts);
    topology_free(c->topology);
    node_tree_free(c->tree);
    free_columns(&c->col);
    vec_fini(&c->taint_sets);
    vec_fini(&c->order);
    vec_fini(&c->heap_order);
    vec_fini(&c->heap_least);
    vec_fini(&c->position);
    vec_fini(&c->free_rows);
    map_u64_fini(&c->row_of_name);
    map_str_fini(&c->pods);
    map_u64_fini(&c->images);
    map_u64_fini(&c->used_claims);
}
