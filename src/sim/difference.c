/* sim/difference.c - see difference.h. */
#include "sim/difference.h"

const char *sim_shift_name(enum sim_shift shift)
{
    static const char *const names[N_SIM_SHIFTS] = {
        [SIM_MOVED] = "moved",   [SIM_NOW_PENDING] = "pending",     [SIM_NOW_PLACED] = "placed",
        [SIM_GONE] = "gone",     [SIM_NEW] = "new",                 [SIM_NOW_PREEMPTED] = "preempted",
        [SIM_NOT_PREEMPTED] = "notPreempted",
    };
    assert(shift < N_SIM_SHIFTS);
    return names[shift];
}

const char *sim_node_name(const struct sim_world *w, const struct sim_pod *p)
{
    return p->node == SIM_NO_NODE ? "" : w->nodes.at[p->node].form->meta.name;
}

/* ---- Pods ---- */

/* The node that a pod of a DaemonSet is on or meant for, or NULL. */
static const char *daemon_node(const struct sim_world *w, const struct sim_pod *p)
{
    if (!p->owner || strncmp(p->owner, "DaemonSet ", 10) != 0)
        return NULL;
    if (p->node != SIM_NO_NODE)
        return sim_node_name(w, p);
    const struct node_rules *rules = p->form->node_affinity ? &p->form->node_affinity->required : NULL;
    if (!rules || rules->n != 1 || rules->at[0].n_fields != 1 || rules->at[0].fields[0].n_values != 1 ||
        rules->at[0].fields[0].op != MATCH_IN)
        return NULL;
    return sym_text(w->syms, rules->at[0].fields[0].values[0]).p;
}

/* Puts the pod under its key: namespace and name, or DaemonSet and node while nobody else is there. */
static void add_key(struct sim_difference *d, struct map_str *by_key, const struct sim_world *w, size_t i,
                    const char **ret_key)
{
    const struct sim_pod *p = &w->pods.at[i];
    const char *node = daemon_node(w, p);
    bool is_new = false;
    if (node) {
        *ret_key = arena_printf(&d->arena, "%s on %s", p->owner, node);
        union map_value *v = map_str_put(by_key, str_of(*ret_key), &is_new);
        if (is_new)
            v->num = i;
    }
    if (!is_new) {
        *ret_key = arena_printf(&d->arena, "%s/%s", p->ns, p->name);
        map_str_put(by_key, str_of(*ret_key), NULL)->num = i;
    }
}

static bool same_node(const struct sim_difference *d, const struct sim_pod *before, const struct sim_pod *after)
{
    return strcmp(sim_node_name(d->before, before), sim_node_name(d->after, after)) == 0;
}

/* N_SIM_SHIFTS: nothing to tell. */
static enum sim_shift shift_of(const struct sim_difference *d, const struct sim_pod *before,
                               const struct sim_pod *after)
{
    if (!before || !after)
        return before ? SIM_GONE : SIM_NEW;
    if (after->state == SIM_EVICTED)
        return before->state == SIM_EVICTED ? N_SIM_SHIFTS : SIM_NOW_PREEMPTED;
    if (after->state == SIM_PENDING)
        return before->state == SIM_PENDING ? N_SIM_SHIFTS : SIM_NOW_PENDING;
    if (before->state == SIM_PENDING)
        return SIM_NOW_PLACED;
    if (before->state == SIM_EVICTED)
        return SIM_NOT_PREEMPTED;
    return same_node(d, before, after) ? N_SIM_SHIFTS : SIM_MOVED;
}

static void add_shift(struct sim_difference *d, const struct sim_pod *before, const struct sim_pod *after)
{
    enum sim_shift shift = shift_of(d, before, after);
    if (shift == N_SIM_SHIFTS)
        return;
    d->n[shift]++;
    vec_push(&d->pods, (struct sim_shifted){ shift, before, after });
}

static void compare_pods(struct sim_difference *d)
{
    const struct sim_world *before = d->before, *after = d->after;
    struct map_str was, is;
    map_str_init(&was);
    map_str_init(&is);
    const char **keys = ARENA_NEW_N(&d->arena, const char *, before->pods.n + after->pods.n);
    const char **keys_after = keys + before->pods.n;
    for (size_t i = 0; i < before->pods.n; i++)
        add_key(d, &was, before, i, &keys[i]);
    for (size_t i = 0; i < after->pods.n; i++) {
        add_key(d, &is, after, i, &keys_after[i]);
        union map_value *v = map_str_find(&was, str_of(keys_after[i]));
        add_shift(d, v ? &before->pods.at[v->num] : NULL, &after->pods.at[i]);
    }
    for (size_t i = 0; i < before->pods.n; i++)
        if (before->pods.at[i].state != SIM_EVICTED && !map_str_find(&is, str_of(keys[i])))
            add_shift(d, &before->pods.at[i], NULL);
    map_str_fini(&was);
    map_str_fini(&is);
}

/* ---- Nodes and zones ---- */

static bool same_use(const struct sim_amounts *a, const struct sim_amounts *b)
{
    return a->milli_cpu == b->milli_cpu && a->memory == b->memory && a->pods == b->pods;
}

bool sim_use_differs(const struct sim_use *u)
{
    return u->was_there != u->is_there || !same_use(&u->before, &u->after) ||
           !same_use(&u->allocatable_before, &u->allocatable_after);
}

static void set_before(struct sim_use *u, const struct sim_amounts *allocatable, const struct sim_amounts *used)
{
    u->was_there = true;
    u->allocatable_before = *allocatable;
    u->before = *used;
}

static void set_after(struct sim_use *u, const struct sim_amounts *allocatable, const struct sim_amounts *used)
{
    u->is_there = true;
    u->allocatable_after = *allocatable;
    u->after = *used;
}

static void compare_nodes(struct sim_difference *d)
{
    struct map_str by_name;
    map_str_init(&by_name);
    for (size_t i = 0; i < d->before->nodes.n; i++) {
        const struct sim_node *n = &d->before->nodes.at[i];
        map_str_put(&by_name, str_of(n->form->meta.name), NULL)->num = d->nodes.n;
        vec_push(&d->nodes, (struct sim_use){ .name = n->form->meta.name, .zone = n->zone });
        set_before(vec_last(&d->nodes), &n->allocatable, &n->after);
    }
    for (size_t i = 0; i < d->after->nodes.n; i++) {
        const struct sim_node *n = &d->after->nodes.at[i];
        bool is_new;
        union map_value *v = map_str_put(&by_name, str_of(n->form->meta.name), &is_new);
        if (is_new) {
            v->num = d->nodes.n;
            vec_push(&d->nodes, (struct sim_use){ .name = n->form->meta.name, .zone = n->zone });
        }
        set_after(&d->nodes.at[v->num], &n->allocatable, &n->after);
    }
    map_str_fini(&by_name);
}

/* Both lists are sorted by name. */
static void compare_zones(struct sim_difference *d)
{
    sim_zone_vec was = { 0 }, is = { 0 };
    sim_zones(d->before, &was);
    sim_zones(d->after, &is);
    for (size_t i = 0, k = 0; i < was.n || k < is.n;) {
        int order = i == was.n ? 1 : k == is.n ? -1 : strcmp(was.at[i].name, is.at[k].name);
        const char *name = order <= 0 ? was.at[i].name : is.at[k].name;
        vec_push(&d->zones, (struct sim_use){ .name = name, .zone = name });
        if (order <= 0) {
            set_before(vec_last(&d->zones), &was.at[i].allocatable, &was.at[i].after);
            i++;
        }
        if (order >= 0) {
            set_after(vec_last(&d->zones), &is.at[k].allocatable, &is.at[k].after);
            k++;
        }
    }
    vec_fini(&was);
    vec_fini(&is);
}

void sim_difference_init(struct sim_difference *d, const struct sim_world *before, const struct sim_world *after)
{
    *d = (struct sim_difference){ .before = before, .after = after, .cluster = { .name = "cluster", .zone = "" } };
    arena_init(&d->arena);
    compare_pods(d);
    compare_nodes(d);
    compare_zones(d);
    struct sim_zone was = sim_total(before), is = sim_total(after);
    set_before(&d->cluster, &was.allocatable, &was.after);
    set_after(&d->cluster, &is.allocatable, &is.after);
}

void sim_difference_fini(struct sim_difference *d)
{
    vec_fini(&d->pods);
    vec_fini(&d->nodes);
    vec_fini(&d->zones);
    arena_fini(&d->arena);
}
