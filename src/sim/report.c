/* sim/report.c - see report.h: sums, and the report for people. */
#include "sim/report.h"

#include <stdio.h>

enum {
    SINGLE_PODS_MAX = 12, /* with more of them, placements are told by owner */
    NAME_COLUMN = 34,
};

/* ---- Sums ---- */

static void add_amounts(struct sim_amounts *to, struct sim_amounts a)
{
    to->milli_cpu = account(to->milli_cpu, a.milli_cpu, true);
    to->memory = account(to->memory, a.memory, true);
    to->pods = account(to->pods, a.pods, true);
}

static void add_node(struct sim_zone *z, const struct sim_node *n)
{
    z->n_nodes++;
    add_amounts(&z->allocatable, n->allocatable);
    add_amounts(&z->before, n->before);
    add_amounts(&z->after, n->after);
}

static int compare_zones(const void *a, const void *b)
{
    return strcmp(((const struct sim_zone *)a)->name, ((const struct sim_zone *)b)->name);
}

void sim_zones(const struct sim_world *w, sim_zone_vec *ret_zones)
{
    struct map_str by_name;
    map_str_init(&by_name);
    for (size_t i = 0; i < w->nodes.n; i++) {
        bool is_new;
        union map_value *v = map_str_put(&by_name, str_of(w->nodes.at[i].zone), &is_new);
        if (is_new) {
            v->num = ret_zones->n;
            vec_push(ret_zones, (struct sim_zone){ .name = w->nodes.at[i].zone });
        }
        add_node(&ret_zones->at[v->num], &w->nodes.at[i]);
    }
    map_str_fini(&by_name);
    if (ret_zones->n)
        qsort(ret_zones->at, ret_zones->n, sizeof(*ret_zones->at), compare_zones);
}

struct sim_zone sim_total(const struct sim_world *w)
{
    struct sim_zone total = { .name = "" };
    for (size_t i = 0; i < w->nodes.n; i++)
        add_node(&total, &w->nodes.at[i]);
    return total;
}

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
    const char *key = arena_printf(&g->arena, "%s\n%s", owner, message);
    bool is_new;
    union map_value *v = map_str_put(&g->by_key, str_of(key), &is_new);
    if (is_new) {
        v->num = g->all.n;
        vec_push(&g->all, (struct group){ .owner = owner, .message = message });
    }
    vec_push(&g->all.at[v->num].pods, p);
}

/* "a-1 (2), a-2": nodes in the order of the input. */
static void add_places(struct strbuf *to, const struct sim_world *w, const struct group *g)
{
    uint32_t *n_on = mem_zalloc(w->nodes.n * sizeof(*n_on) + 1);
    for (size_t i = 0; i < g->pods.n; i++)
        if (g->pods.at[i]->node != SIM_NO_NODE)
            n_on[g->pods.at[i]->node]++;
    const char *comma = "";
    for (size_t i = 0; i < w->nodes.n; i++) {
        if (!n_on[i])
            continue;
        strbuf_printf(to, "%s%s", comma, w->nodes.at[i].form->meta.name);
        if (n_on[i] > 1)
            strbuf_printf(to, " (%u)", n_on[i]);
        comma = ", ";
    }
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
    for (size_t i = 0; i < g.all.n; i++) {
        strbuf_printf(to, "  %-*s %5zu  ", NAME_COLUMN, g.all.at[i].owner, g.all.at[i].pods.n);
        add_places(to, w, &g.all.at[i]);
        strbuf_add_char(to, '\n');
    }
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
            groups_add(&g, p, true, p->message ? p->message : "not tried");
    }
    STRBUF_ADD_LIT(to, "\nPending\n");
    for (size_t i = 0; i < g.all.n; i++)
        strbuf_printf(to, "  %-*s %5zu  %s\n", NAME_COLUMN, g.all.at[i].owner, g.all.at[i].pods.n, g.all.at[i].message);
    groups_fini(&g);
}

static void add_evicted(struct strbuf *to, const struct sim_world *w)
{
    if (!w->n_in_state[SIM_EVICTED])
        return;
    STRBUF_ADD_LIT(to, "\nPreempted\n");
    for (size_t i = 0; i < w->pods.n; i++) {
        const struct sim_pod *p = &w->pods.at[i];
        if (p->state != SIM_EVICTED)
            continue;
        strbuf_printf(to, "  %s/%s on %s", p->ns, p->name, p->node == SIM_NO_NODE ? "-" : w->nodes.at[p->node].form->meta.name);
        if (p->evicted_by >= 0)
            strbuf_printf(to, ", for %s/%s", w->pods.at[p->evicted_by].ns, w->pods.at[p->evicted_by].name);
        strbuf_add_char(to, '\n');
    }
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

static void add_nodes(struct strbuf *to, const struct sim_world *w)
{
    strbuf_printf(to, "\n  %-20s %-14s %8s  %-14s %9s  %-14s %s\n", "NODE", "ZONE", "CPU", "REQUESTED", "MEMORY", "REQUESTED",
                  "PODS");
    for (size_t i = 0; i < w->nodes.n; i++) {
        const struct sim_node *n = &w->nodes.at[i];
        add_row(to, n->form->meta.name, n->zone, &n->allocatable, &n->before, &n->after);
    }
    struct sim_zone total = sim_total(w);
    sim_zone_vec zones = { 0 };
    sim_zones(w, &zones);
    bool has_zones = zones.n > 1 || (zones.n == 1 && *zones.at[0].name);
    for (size_t i = 0; has_zones && i < zones.n; i++)
        add_row(to, "zone", *zones.at[i].name ? zones.at[i].name : "-", &zones.at[i].allocatable, &zones.at[i].before,
                &zones.at[i].after);
    add_row(to, "cluster", "", &total.allocatable, &total.before, &total.after);
    vec_fini(&zones);
}

void sim_report_text(struct strbuf *to, const struct sim_world *w)
{
    const uint32_t *n = w->n_in_state;
    strbuf_printf(to, "%zu nodes, %u pods on them; %u pods placed, %u pending, %u preempted\n", w->nodes.n, n[SIM_RUNNING],
                  n[SIM_PLACED], n[SIM_PENDING], n[SIM_EVICTED]);
    add_placed(to, w);
    add_pending(to, w);
    add_evicted(to, w);
    add_nodes(to, w);
}
