/* sim/report_text.c - see report.h: the report for people.
 *
 * It stays readable when there is much to tell: pods are told by owner, long messages are wrapped, and
 * of many nodes only the fullest are shown. */
#include "sim/other_resources.h"
#include "sim/report_priv.h"

#include <stdio.h>

enum {
    SINGLE_PODS_MAX = 12,  /* with more of them, placements are told by owner */
    GROUPS_MAX = 40,       /* owners told in a list */
    PLACES_MAX = 20,       /* nodes named for one owner */
    NODE_ROWS_MAX = 50,    /* with more nodes, only the FULLEST_MAX fullest are shown */
    FULLEST_MAX = 10,
    NAME_COLUMN = 34,
    OTHER_RESOURCES_MAX = 20,
    RESOURCE_NODES_MAX = 12, /* with more nodes that have a resource, only its sum is told */
};

/* ---- Pods ---- */

/* Groups of pods that are told in one go: the same key, in the order of their first pod. */
struct group {
    const char *owner, *message; /* owner "namespace/name" of a pod without one */
    VEC(const struct sim_pod *) pods;
};

struct groups {
    struct arena arena;
    VEC(struct group) all;
    struct map_str by_key;
};

static void groups_init(struct groups *g)
{
    *g = (struct groups){ .all = { 0 } };
    arena_init(&g->arena);
    map_str_init(&g->by_key);
}

static void groups_fini(struct groups *g)
{
    for (size_t i = 0; i < g->all.n; i++)
        vec_fini(&g->all.at[i].pods);
    vec_fini(&g->all);
    map_str_fini(&g->by_key);
    arena_fini(&g->arena);
}

static void groups_add(struct groups *g, const struct sim_pod *p, bool by_owner, const char *message)
{
    const char *owner = by_owner && p->owner ? p->owner : arena_printf(&g->arena, "%s/%s", p->ns, p->name);
    owner = sim_plain(&g->arena, owner);
    const char *key = arena_printf(&g->arena, "%s\n%s", owner, message);
    bool is_new;
    union map_value *v = map_str_put(&g->by_key, str_of(key), &is_new);
    if (is_new) {
        v->num = g->all.n;
        vec_push(&g->all, (struct group){ .owner = owner, .message = message });
    }
    vec_push(&g->all.at[v->num].pods, p);
}

/* What is left of a list that ends after GROUPS_MAX. */
static void add_rest(struct strbuf *to, const struct groups *g)
{
    size_t n_pods = 0;
    for (size_t i = GROUPS_MAX; i < g->all.n; i++)
        n_pods += g->all.at[i].pods.n;
    if (n_pods)
        strbuf_printf(to, "  ... and %zu pods of %zu more owners; -o wide has all\n", n_pods, g->all.n - GROUPS_MAX);
}

/* "a-1 (2), a-2": nodes in the order of the input, the first PLACES_MAX of them. */
static void add_places(struct strbuf *to, struct groups *all, const struct sim_world *w, const struct group *g)
{
    uint32_t *n_on = mem_zalloc(w->nodes.n * sizeof(*n_on) + 1);
    for (size_t i = 0; i < g->pods.n; i++)
        if (g->pods.at[i]->node != SIM_NO_NODE)
            n_on[g->pods.at[i]->node]++;
    size_t n_places = 0;
    for (size_t i = 0; i < w->nodes.n; i++) {
        if (!n_on[i] || n_places++ >= PLACES_MAX)
            continue;
        strbuf_printf(to, "%s%s", n_places > 1 ? ", " : "", sim_plain(&all->arena, w->nodes.at[i].form->meta.name));
        if (n_on[i] > 1)
            strbuf_printf(to, " (%u)", n_on[i]);
    }
    if (n_places > PLACES_MAX)
        strbuf_printf(to, " and %zu more nodes", n_places - PLACES_MAX);
    free(n_on);
}

static void add_placed(struct strbuf *to, const struct sim_world *w)
{
    if (!w->n_in_state[SIM_PLACED])
        return;
    struct groups g;
    groups_init(&g);
    for (size_t i = 0; i < w->pods.n; i++)
        if (w->pods.at[i].state == SIM_PLACED)
            groups_add(&g, &w->pods.at[i], w->n_in_state[SIM_PLACED] > SINGLE_PODS_MAX, "");
    STRBUF_ADD_LIT(to, "\nPlaced\n");
    for (size_t i = 0; i < g.all.n && i < GROUPS_MAX; i++) {
        strbuf_printf(to, "  %-*s %5zu  ", NAME_COLUMN, g.all.at[i].owner, g.all.at[i].pods.n);
        add_places(to, &g, w, &g.all.at[i]);
        strbuf_add_char(to, '\n');
    }
    add_rest(to, &g);
    groups_fini(&g);
}

static void add_pending(struct strbuf *to, const struct sim_world *w)
{
    if (!w->n_in_state[SIM_PENDING])
        return;
    struct groups g;
    groups_init(&g);
    for (size_t i = 0; i < w->pods.n; i++) {
        const struct sim_pod *p = &w->pods.at[i];
        if (p->state == SIM_PENDING)
            groups_add(&g, p, true, sim_pod_reason(&g.arena, w, p));
    }
    STRBUF_ADD_LIT(to, "\nPending\n");
    for (size_t i = 0; i < g.all.n && i < GROUPS_MAX; i++) {
        strbuf_printf(to, "  %-*s %5zu\n", NAME_COLUMN, g.all.at[i].owner, g.all.at[i].pods.n);
        sim_add_wrapped(to, sim_plain(&g.arena, g.all.at[i].message));
    }
    add_rest(to, &g);
    groups_fini(&g);
}

static void add_evicted(struct strbuf *to, const struct sim_world *w)
{
    if (!w->n_in_state[SIM_EVICTED])
        return;
    struct arena a;
    arena_init(&a);
    STRBUF_ADD_LIT(to, "\nPreempted\n");
    for (size_t i = 0; i < w->pods.n; i++) {
        const struct sim_pod *p = &w->pods.at[i];
        if (p->state != SIM_EVICTED)
            continue;
        const char *node = report_node_name(w, p);
        strbuf_printf(to, "  %s/%s on %s", sim_plain(&a, p->ns), sim_plain(&a, p->name),
                      node ? sim_plain(&a, node) : "-");
        if (p->evicted_by >= 0) {
            const struct sim_pod *by = &w->pods.at[p->evicted_by];
            strbuf_printf(to, ", for %s/%s", sim_plain(&a, by->ns), sim_plain(&a, by->name));
        }
        strbuf_add_char(to, '\n');
        arena_reset(&a);
    }
    arena_fini(&a);
}

/* ---- Nodes ---- */

static int percent(int64_t part, int64_t whole)
{
    return whole > 0 ? (int)((double)part * 100 / (double)whole + 0.5) : 0;
}

static void add_share(struct strbuf *to, int64_t before, int64_t after, int64_t whole)
{
    char text[40];
    snprintf(text, sizeof(text), "%d%% -> %d%%", percent(before, whole), percent(after, whole));
    strbuf_printf(to, "  %-14s", text);
}

static void add_row(struct strbuf *to, const char *name, const char *zone, const struct sim_amounts *allocatable,
                    const struct sim_amounts *before, const struct sim_amounts *after)
{
    char cpu[32], memory[32];
    snprintf(cpu, sizeof(cpu), "%g", (double)allocatable->milli_cpu / 1000);
    snprintf(memory, sizeof(memory), "%.1fGi", (double)allocatable->memory / (1 << 30));
    strbuf_printf(to, "  %-20s %-14s", name, zone);
    strbuf_printf(to, " %8s", cpu);
    add_share(to, before->milli_cpu, after->milli_cpu, allocatable->milli_cpu);
    strbuf_printf(to, " %9s", memory);
    add_share(to, before->memory, after->memory, allocatable->memory);
    strbuf_printf(to, " %lld -> %lld of %lld\n", (long long)before->pods, (long long)after->pods,
                  (long long)allocatable->pods);
}

/* The larger of a node's shares of CPU and memory, after the run. */
static double fullness(const struct sim_node *n)
{
    double cpu = n->allocatable.milli_cpu > 0 ? (double)n->after.milli_cpu / (double)n->allocatable.milli_cpu : 0;
    double memory = n->allocatable.memory > 0 ? (double)n->after.memory / (double)n->allocatable.memory : 0;
    return cpu > memory ? cpu : memory;
}

static int compare_fullness(const void *a, const void *b)
{
    const struct sim_node *left = *(const struct sim_node *const *)a, *right = *(const struct sim_node *const *)b;
    double l = fullness(left), r = fullness(right);
    if (l != r)
        return l < r ? 1 : -1;
    return (left > right) - (left < right); /* by the order of the input */
}

static void add_node_row(struct strbuf *to, const struct sim_node *n)
{
    struct arena a;
    arena_init(&a);
    add_row(to, sim_plain(&a, n->form->meta.name), sim_plain(&a, n->zone), &n->allocatable, &n->before, &n->after);
    arena_fini(&a);
}

static void add_fullest(struct strbuf *to, const struct sim_world *w)
{
    VEC(const struct sim_node *) nodes = { 0 };
    for (size_t i = 0; i < w->nodes.n; i++)
        vec_push(&nodes, &w->nodes.at[i]);
    qsort(nodes.at, nodes.n, sizeof(*nodes.at), compare_fullness);
    for (size_t i = 0; i < FULLEST_MAX; i++)
        add_node_row(to, nodes.at[i]);
    strbuf_printf(to, "  ... and %zu nodes that are less full; -o json and --report have all\n", nodes.n - FULLEST_MAX);
    vec_fini(&nodes);
}

static void add_zone_rows(struct strbuf *to, const struct sim_world *w)
{
    struct arena a;
    arena_init(&a);
    sim_zone_vec zones = { 0 };
    sim_zones(w, &zones);
    bool has_zones = zones.n > 1 || (zones.n == 1 && *zones.at[0].name);
    for (size_t i = 0; has_zones && i < zones.n; i++) {
        const struct sim_zone *z = &zones.at[i];
        add_row(to, "zone", *z->name ? sim_plain(&a, z->name) : "-", &z->allocatable, &z->before, &z->after);
    }
    vec_fini(&zones);
    arena_fini(&a);
}

static void add_nodes(struct strbuf *to, const struct sim_world *w)
{
    strbuf_printf(to, "\n  %-20s %-14s %8s  %-14s %9s  %-14s %s\n", "NODE", "ZONE", "CPU", "REQUESTED", "MEMORY",
                  "REQUESTED", "PODS");
    if (w->nodes.n > NODE_ROWS_MAX)
        add_fullest(to, w);
    for (size_t i = 0; w->nodes.n <= NODE_ROWS_MAX && i < w->nodes.n; i++)
        add_node_row(to, &w->nodes.at[i]);
    add_zone_rows(to, w);
    struct sim_zone total = sim_total(w);
    add_row(to, "cluster", "", &total.allocatable, &total.before, &total.after);
}

/* "8", or "12.5Gi" where it is bytes. */
static void add_units(struct strbuf *to, const char *resource, int64_t amount)
{
    bool is_bytes = strcmp(resource, "ephemeral-storage") == 0 || resource_is_huge_pages(str_of(resource));
    if (is_bytes)
        strbuf_printf(to, "%.1fGi", (double)amount / (1 << 30));
    else
        strbuf_printf(to, "%lld", (long long)amount);
}

static void add_use(struct strbuf *to, const char *resource, const struct sim_resource_use *u)
{
    add_units(to, resource, u->before);
    STRBUF_ADD_LIT(to, " -> ");
    add_units(to, resource, u->after);
    STRBUF_ADD_LIT(to, " of ");
    add_units(to, resource, u->allocatable);
}

static void add_other_resources(struct strbuf *to, const struct sim_world *w)
{
    struct sim_other_resources o;
    sim_other_resources_init(&o, w);
    if (o.all.n)
        STRBUF_ADD_LIT(to, "\n  OTHER RESOURCES                     REQUESTED\n");
    for (size_t i = 0; i < o.all.n && i < OTHER_RESOURCES_MAX; i++) {
        const struct sim_resource *r = &o.all.at[i];
        strbuf_printf(to, "  %-*s  ", NAME_COLUMN, sim_plain(&o.arena, r->name));
        add_use(to, r->name, &r->total);
        strbuf_printf(to, ", on %u node%s\n", r->n_nodes, r->n_nodes == 1 ? "" : "s");
        for (size_t k = 0; r->n_nodes <= RESOURCE_NODES_MAX && k < w->nodes.n; k++) {
            if (r->nodes[k].allocatable <= 0)
                continue;
            strbuf_printf(to, "    %-*s  ", NAME_COLUMN - 2, sim_plain(&o.arena, w->nodes.at[k].form->meta.name));
            add_use(to, r->name, &r->nodes[k]);
            strbuf_add_char(to, '\n');
        }
    }
    sim_other_resources_fini(&o);
}

void sim_report_text(struct strbuf *to, const struct sim_world *w)
{
    sim_add_counts(to, w);
    add_placed(to, w);
    add_pending(to, w);
    add_evicted(to, w);
    add_nodes(to, w);
    add_other_resources(to, w);
}
