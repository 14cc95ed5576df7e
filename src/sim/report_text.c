/* sim/report_text.c - see report.h: the report for people.
 *
 * It stays readable when there is much to tell: pods are told by owner, long messages are wrapped, and
 * of many nodes only the fullest are shown. */
#include "base/printable.h"
#include "base/table.h"
#include "sim/amount_text.h"
#include "sim/other_resources.h"
#include "sim/report_priv.h"

enum {
    SINGLE_PODS_MAX = 12,  /* with more of them, placements are told by owner */
    GROUPS_MAX = 40,       /* owners told in a list */
    PLACES_MAX = 20,       /* nodes named for one owner */
    NODE_ROWS_MAX = 50,    /* with more nodes, only the FULLEST_MAX fullest are shown */
    FULLEST_MAX = 10,
    OTHER_RESOURCES_MAX = 20,
    RESOURCE_NODES_MAX = 12, /* with more nodes that have a resource, only its sum is told */
};

/* ---- Pods ---- */

/* Groups of pods that are told in one go: the same key, in the order of their first pod. */
struct group {
    const char *owner, *message; /* owner "namespace/name" of a pod that is told by itself */
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
    const char *owner = by_owner && p->owner ? p->owner : sim_pod_label(&g->arena, p);
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
static void add_rest(struct table *t, const struct groups *g)
{
    size_t n_pods = 0;
    for (size_t i = GROUPS_MAX; i < g->all.n; i++)
        n_pods += g->all.at[i].pods.n;
    if (n_pods)
        table_line(t, "... and %zu pods of %zu more owners; -o wide has all", n_pods, g->all.n - GROUPS_MAX);
}

/* "a-1 (2), a-2": nodes in the order of the input, the first PLACES_MAX of them. */
static const char *places(struct arena *a, const struct sim_world *w, const struct group *g)
{
    uint32_t *n_on = mem_zalloc(w->nodes.n * sizeof(*n_on) + 1);
    for (size_t i = 0; i < g->pods.n; i++)
        if (g->pods.at[i]->node != SIM_NO_NODE)
            n_on[g->pods.at[i]->node]++;
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    size_t n_places = 0;
    for (size_t i = 0; i < w->nodes.n; i++) {
        if (!n_on[i] || n_places++ >= PLACES_MAX)
            continue;
        strbuf_printf(&text, "%s%s", n_places > 1 ? ", " : "", w->nodes.at[i].form->meta.name);
        if (n_on[i] > 1)
            strbuf_printf(&text, " (%u)", n_on[i]);
    }
    if (n_places > PLACES_MAX)
        strbuf_printf(&text, " and %zu more nodes", n_places - PLACES_MAX);
    free(n_on);
    const char *copy = arena_cstr(a, strbuf_str(&text));
    strbuf_fini(&text);
    return copy;
}

static void add_groups(struct strbuf *to, const struct sim_world *w, struct groups *g, unsigned width)
{
    static const struct table_column columns[] = { { .heading = NULL }, { .right = true }, { .wraps = true } };
    struct table t;
    table_init(&t, columns, 3);
    for (size_t i = 0; i < g->all.n && i < GROUPS_MAX; i++) {
        table_row(&t);
        table_cell(&t, "%s", g->all.at[i].owner);
        table_cell(&t, "%zu", g->all.at[i].pods.n);
        table_cell(&t, "%s", places(&g->arena, w, &g->all.at[i]));
        if (*g->all.at[i].message)
            table_note(&t, g->all.at[i].message);
    }
    add_rest(&t, g);
    table_write(&t, to, width);
    table_fini(&t);
}

static void add_placed(struct strbuf *to, const struct sim_world *w, unsigned width)
{
    if (!w->n_in_state[SIM_PLACED])
        return;
    struct groups g;
    groups_init(&g);
    for (size_t i = 0; i < w->pods.n; i++)
        if (w->pods.at[i].state == SIM_PLACED)
            groups_add(&g, &w->pods.at[i], w->n_in_state[SIM_PLACED] > SINGLE_PODS_MAX, "");
    STRBUF_ADD_LIT(to, "\nPlaced\n");
    add_groups(to, w, &g, width);
    groups_fini(&g);
}

static void add_pending(struct strbuf *to, const struct sim_world *w, unsigned width)
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
    add_groups(to, w, &g, width);
    groups_fini(&g);
}

static void add_refused(struct strbuf *to, const struct sim_world *w, unsigned width)
{
    static const struct table_column columns[] = { { .heading = NULL }, { .right = true } };
    if (!w->in->refused.n)
        return;
    STRBUF_ADD_LIT(to, "\nRefused: an API server would not let them in\n");
    struct table t;
    table_init(&t, columns, 2);
    for (size_t i = 0; i < w->in->refused.n && i < GROUPS_MAX; i++) {
        table_row(&t);
        table_cell(&t, "%s", w->in->refused.at[i].what);
        table_cell(&t, "%u", w->in->refused.at[i].n);
        table_note(&t, w->in->refused.at[i].reason);
    }
    table_write(&t, to, width);
    table_fini(&t);
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
        printable_printf(to, "  %s on %s", sim_pod_label(&a, p), node ? node : "-");
        if (p->evicted_by >= 0)
            printable_printf(to, ", for %s", sim_pod_label(&a, &w->pods.at[p->evicted_by]));
        strbuf_add_char(to, '\n');
        arena_reset(&a);
    }
    arena_fini(&a);
}

/* ---- Nodes ---- */

/* What a node, a zone or the cluster can give and what is requested of it. */
struct use {
    const char *name, *zone;
    const struct sim_amounts *allocatable, *before, *after;
};

static void add_share(struct table *t, int64_t before, int64_t after, int64_t whole)
{
    table_cell(t, "%lld%% -> %lld%%", (long long)percent_of(before, whole), (long long)percent_of(after, whole));
}

static void add_use_row(struct table *t, const struct use *u)
{
    table_row(t);
    table_cell(t, "%s", u->name);
    table_cell(t, "%s", u->zone);
    table_cell(t, "%s", cpu_text(&t->arena, u->allocatable->milli_cpu));
    add_share(t, u->before->milli_cpu, u->after->milli_cpu, u->allocatable->milli_cpu);
    table_cell(t, "%s", memory_text(&t->arena, u->allocatable->memory));
    add_share(t, u->before->memory, u->after->memory, u->allocatable->memory);
    table_cell(t, "%lld -> %lld of %lld", (long long)u->before->pods, (long long)u->after->pods,
               (long long)u->allocatable->pods);
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

static void add_node_row(struct table *t, const struct sim_node *n)
{
    add_use_row(t, &(struct use){ n->form->meta.name, n->zone, &n->allocatable, &n->before, &n->after });
}

static void add_fullest(struct table *t, const struct sim_world *w)
{
    VEC(const struct sim_node *) nodes = { 0 };
    for (size_t i = 0; i < w->nodes.n; i++)
        vec_push(&nodes, &w->nodes.at[i]);
    qsort(nodes.at, nodes.n, sizeof(*nodes.at), compare_fullness);
    for (size_t i = 0; i < FULLEST_MAX; i++)
        add_node_row(t, nodes.at[i]);
    table_line(t, "... and %zu nodes that are less full; -o json and --report have all", nodes.n - FULLEST_MAX);
    vec_fini(&nodes);
}

static void add_zone_row(struct table *t, const char *name, const struct sim_zone *z)
{
    add_use_row(t, &(struct use){ name, "", &z->allocatable, &z->before, &z->after });
}

static void add_sums(struct table *t, const struct sim_world *w)
{
    sim_zone_vec zones = { 0 };
    sim_zones(w, &zones);
    bool has_zones = zones.n > 1 || (zones.n == 1 && *zones.at[0].name);
    for (size_t i = 0; has_zones && i < zones.n; i++)
        add_zone_row(t, sim_zone_label(&t->arena, zones.at[i].name), &zones.at[i]);
    vec_fini(&zones);
    struct sim_zone total = sim_total(w);
    add_zone_row(t, "cluster", &total);
}

static void add_nodes(struct strbuf *to, const struct sim_world *w, unsigned width)
{
    static const struct table_column columns[] = {
        { .heading = "NODE" },      { .heading = "ZONE", .leave_out = 3 },
        { .heading = "CPU", .right = true, .leave_out = 1 },    { .heading = "CPU REQUEST" },
        { .heading = "MEMORY", .right = true, .leave_out = 2 }, { .heading = "MEM REQUEST" },
        { .heading = "PODS" },
    };
    struct table t;
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    if (w->nodes.n > NODE_ROWS_MAX)
        add_fullest(&t, w);
    for (size_t i = 0; w->nodes.n <= NODE_ROWS_MAX && i < w->nodes.n; i++)
        add_node_row(&t, &w->nodes.at[i]);
    add_sums(&t, w);
    strbuf_add_char(to, '\n');
    table_write(&t, to, width);
    table_fini(&t);
}

/* "8", or "12.5Gi" where it is bytes. */
static const char *units(struct arena *a, const char *resource, int64_t amount)
{
    bool is_bytes = strcmp(resource, "ephemeral-storage") == 0 || resource_is_huge_pages(str_of(resource));
    return is_bytes ? memory_text(a, amount) : arena_printf(a, "%lld", (long long)amount);
}

static void add_resource_row(struct table *t, const char *name, const char *resource, const struct sim_resource_use *u)
{
    table_row(t);
    table_cell(t, "%s", name);
    table_cell(t, "%s -> %s of %s", units(&t->arena, resource, u->before), units(&t->arena, resource, u->after),
               units(&t->arena, resource, u->allocatable));
}

static void add_resource(struct table *t, const struct sim_world *w, const struct sim_resource *r)
{
    add_resource_row(t, r->name, r->name, &r->total);
    table_cell(t, "on %u node%s", r->n_nodes, r->n_nodes == 1 ? "" : "s");
    for (size_t k = 0; r->n_nodes <= RESOURCE_NODES_MAX && k < w->nodes.n; k++)
        if (r->nodes[k].allocatable > 0)
            add_resource_row(t, arena_printf(&t->arena, "  %s", w->nodes.at[k].form->meta.name), r->name, &r->nodes[k]);
}

static void add_other_resources(struct strbuf *to, const struct sim_world *w, unsigned width)
{
    static const struct table_column columns[] = {
        { .heading = "OTHER RESOURCES" }, { .heading = "REQUESTED" }, { .heading = "" },
    };
    struct sim_other_resources o;
    struct table t;
    sim_other_resources_init(&o, w);
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < o.all.n && i < OTHER_RESOURCES_MAX; i++)
        add_resource(&t, w, &o.all.at[i]);
    if (o.all.n) {
        strbuf_add_char(to, '\n');
        table_write(&t, to, width);
    }
    table_fini(&t);
    sim_other_resources_fini(&o);
}

void sim_report_text(struct strbuf *to, const struct sim_world *w, unsigned width)
{
    sim_add_counts(to, w);
    add_placed(to, w, width);
    add_pending(to, w, width);
    add_refused(to, w, width);
    add_evicted(to, w);
    add_nodes(to, w, width);
    add_other_resources(to, w, width);
}
