/* sched/snapshot.c - see snapshot.h. */
#include "sched/snapshot.h"

#include "sched/node_tree.h"

struct snapshot *snapshot_new(struct sym_table *syms)
{
    struct snapshot *s = mem_zalloc(sizeof(*s));
    s->syms = syms;
    map_str_init(&s->row_of_name);
    return s;
}

/* ---- One row ---- */

/* The entry of a name may belong to another row by now, if the node got a new number since the last
 * update. */
static void drop_name(struct snapshot *s, node_id id)
{
    struct snapshot_row *row = &s->rows.at[id];
    if (!row->name.p)
        return;
    const union map_value *entry = map_str_find(&s->row_of_name, row->name);
    if (entry && entry->num == id)
        map_str_remove(&s->row_of_name, row->name, NULL);
    sym_unref(s->syms, row->name_id);
    row->name = (struct str){ 0 };
}

static void copy_name(struct snapshot *s, node_id id, sym name)
{
    struct snapshot_row *row = &s->rows.at[id];
    if (row->name.p && row->name_id == name)
        return;
    drop_name(s, id);
    if (name == SYM_NONE)
        return;
    row->name_id = sym_ref(s->syms, name);
    row->name = sym_text(s->syms, name);
    map_str_put(&s->row_of_name, row->name, NULL)->num = id;
}

static void copy_node(struct snapshot *s, struct snapshot_row *to, const struct node *node)
{
    const struct node *old = to->node;
    to->node = node ? node_ref(node) : NULL;
    if (old)
        node_unref(s->syms, old);
}

static void drop_pods(struct snapshot *s, struct snapshot_row *row)
{
    for (size_t i = 0; i < row->pods.n; i++)
        pod_unref(s->syms, row->pods.at[i].pod);
    vec_reset(&row->pods);
}

/* References to what is new before those to what was there are given up: most pods are the same. */
static void copy_pods(struct snapshot *s, struct snapshot_row *to, const struct node_row *from)
{
    for (size_t i = 0; i < from->pods.n; i++)
        pod_ref(from->pods.at[i]->pod);
    drop_pods(s, to);
    vec_reserve(&to->pods, from->pods.n);
    for (size_t i = 0; i < from->pods.n; i++) {
        const struct placed *p = from->pods.at[i];
        vec_push(&to->pods, (struct snapshot_pod){
                                .pod = p->pod, .ns = sym_text(s->syms, p->pod->meta.ns), .assumed = p->assumed });
    }
}

static void drop_scalars(struct snapshot *s, struct snapshot_row *row)
{
    for (size_t i = 0; i < row->scalars.n; i++)
        sym_unref(s->syms, row->scalars.at[i].id);
    vec_reset(&row->scalars);
}

static void copy_amounts(struct snapshot *s, struct snapshot_row *to, const struct columns *col, node_id id)
{
    to->used_milli_cpu = col->used_milli_cpu[id];
    to->used_memory = col->used_memory[id];
    to->used_ephemeral = col->used_ephemeral[id];
    to->non_zero_milli_cpu = col->non_zero_milli_cpu[id];
    to->non_zero_memory = col->non_zero_memory[id];
    drop_scalars(s, to); /* the cache's columns hold the names */
    for (size_t i = 0; i < col->scalars.n; i++) {
        const struct scalar_column *scalar = &col->scalars.at[i];
        if (scalar->alloc[id] == 0 && scalar->used[id] == 0)
            continue;
        vec_push(&to->scalars, (struct snapshot_scalar){
                                   .id = sym_ref(s->syms, scalar->name),
                                   .name = sym_text(s->syms, scalar->name),
                                   .alloc = scalar->alloc[id],
                                   .used = scalar->used[id],
                               });
    }
}

/* Nothing when the row is as it was. */
static void copy_row(struct snapshot *s, const struct cache *c, node_id id)
{
    const struct node_row *from = &c->rows.at[id];
    struct snapshot_row *to = &s->rows.at[id];
    if (to->generation == from->generation)
        return;
    copy_name(s, id, from->name);
    copy_node(s, to, from->node);
    copy_pods(s, to, from);
    copy_amounts(s, to, &c->col, id);
    to->generation = from->generation;
    s->n_copied++;
}

/* ---- All of them ---- */

struct update {
    struct snapshot *s;
    const struct cache *c;
};

static void copy_changed(void *context, node_id id)
{
    const struct update *u = context;
    copy_row(u->s, u->c, id);
}

static void copy_rows(struct snapshot *s, const struct cache *c)
{
    vec_reserve(&s->rows, c->rows.n - s->rows.n);
    while (s->rows.n < c->rows.n)
        vec_push(&s->rows, (struct snapshot_row){ .name_id = SYM_NONE });
    struct update u = { s, c };
    if (!cache_changes(c, s->generation, copy_changed, &u))
        for (node_id id = 0; id < c->rows.n; id++)
            copy_row(s, c, id);
    s->generation = c->generation;
}

/* While the cache's order is stale its rows may be gone: then the order is the one that the next cycle
 * will see. The epoch grows when the cache makes it. */
static void copy_order(struct snapshot *s, const struct cache *c)
{
    if (c->order_is_stale) {
        node_tree_list(c->tree, &s->order);
    } else if (s->order_epoch != c->order_epoch) {
        vec_reset(&s->order);
        vec_reserve(&s->order, c->order.n);
        if (c->order.n)
            memcpy(s->order.at, c->order.at, c->order.n * sizeof(*c->order.at));
        s->order.n = c->order.n;
    }
    s->order_epoch = c->order_epoch;
}

void snapshot_update(struct snapshot *s, const struct cache *c)
{
    assert(s->syms == c->syms);
    assert(s->rows.n <= c->rows.n);
    copy_rows(s, c);
    copy_order(s, c);
}

const struct snapshot_row *snapshot_find(const struct snapshot *s, struct str node_name)
{
    const union map_value *entry = map_str_find(&s->row_of_name, node_name);
    return entry ? &s->rows.at[entry->num] : NULL;
}

void snapshot_free(struct snapshot *s)
{
    for (node_id id = 0; id < s->rows.n; id++) {
        struct snapshot_row *row = &s->rows.at[id];
        drop_name(s, id);
        copy_node(s, row, NULL);
        drop_pods(s, row);
        drop_scalars(s, row);
        vec_fini(&row->pods);
        vec_fini(&row->scalars);
    }
    vec_fini(&s->rows);
    vec_fini(&s->order);
    map_str_fini(&s->row_of_name);
    free(s);
}
