/* sim/other_resources.c - see other_resources.h. */
#include "sim/other_resources.h"

#include <stdlib.h>

#define EPHEMERAL "ephemeral-storage"

/* NULL: there are too many. */
static struct sim_resource *find(struct sim_other_resources *o, const struct sim_world *w, const char *name)
{
    union map_value *known = map_str_find(&o->by_name, str_of(name));
    if (known)
        return &o->all.at[known->num];
    if (o->all.n == SIM_OTHER_RESOURCES_MAX)
        return NULL;
    map_str_put(&o->by_name, str_of(name), NULL)->num = o->all.n;
    vec_push(&o->all, (struct sim_resource){ .name = name,
                                             .nodes = ARENA_NEW_N(&o->arena, struct sim_resource_use, w->nodes.n) });
    return vec_last(&o->all);
}

enum which { ALLOCATABLE, BEFORE, AFTER };

static void add(struct sim_resource *r, size_t node, enum which which, int64_t amount)
{
    if (!r)
        return;
    struct sim_resource_use *const uses[] = { &r->nodes[node], &r->total };
    for (int i = 0; i < 2; i++) {
        int64_t *sum = which == ALLOCATABLE ? &uses[i]->allocatable
                       : which == BEFORE    ? &uses[i]->before
                                            : &uses[i]->after;
        *sum = account(*sum, amount, true);
    }
}

static void add_all(struct sim_other_resources *o, const struct sim_world *w, size_t node, enum which which,
                    const struct amounts *amounts)
{
    if (amounts->ephemeral_storage)
        add(find(o, w, EPHEMERAL), node, which, amounts->ephemeral_storage);
    for (uint32_t i = 0; i < amounts->n_scalars; i++)
        if (amounts->scalars[i].amount)
            add(find(o, w, sym_text(w->syms, amounts->scalars[i].name).p), node, which, amounts->scalars[i].amount);
}

static void add_pod(struct sim_other_resources *o, const struct sim_world *w, const struct sim_pod *p)
{
    if (p->node == SIM_NO_NODE)
        return;
    if (p->was_running)
        add_all(o, w, (size_t)p->node, BEFORE, p->form->requested);
    if (p->state == SIM_RUNNING || p->state == SIM_PLACED)
        add_all(o, w, (size_t)p->node, AFTER, p->form->requested);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct sim_resource *)a)->name, ((const struct sim_resource *)b)->name);
}

static bool is_listed(const struct sim_resource *r)
{
    bool is_used = r->total.before || r->total.after;
    return r->n_nodes && (is_used || strcmp(r->name, EPHEMERAL) != 0);
}

void sim_other_resources_init(struct sim_other_resources *o, const struct sim_world *w)
{
    *o = (struct sim_other_resources){ .all = { 0 } };
    arena_init(&o->arena);
    map_str_init(&o->by_name);
    for (size_t i = 0; i < w->nodes.n; i++)
        add_all(o, w, i, ALLOCATABLE, &w->nodes.at[i].form->allocatable);
    for (size_t i = 0; i < w->pods.n; i++)
        add_pod(o, w, &w->pods.at[i]);
    size_t n = 0;
    for (size_t i = 0; i < o->all.n; i++) {
        struct sim_resource r = o->all.at[i];
        for (size_t k = 0; k < w->nodes.n; k++)
            r.n_nodes += r.nodes[k].allocatable > 0;
        if (is_listed(&r))
            o->all.at[n++] = r;
    }
    o->all.n = n;
    if (n)
        qsort(o->all.at, n, sizeof(*o->all.at), compare_names);
}

void sim_other_resources_fini(struct sim_other_resources *o)
{
    vec_fini(&o->all);
    map_str_fini(&o->by_name);
    arena_fini(&o->arena);
}
