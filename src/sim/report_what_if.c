/* sim/report_what_if.c - what-if answers for people; see report_what_if.h. */
#include "base/printable.h"
#include "base/table.h"
#include "sim/report_priv.h"
#include "sim/report_what_if.h"

enum { REASONS_TOLD_MAX = 8 };

/* ---- Drain ---- */

static void add_lost(struct strbuf *to, const struct sim_lost *l)
{
    printable_printf(to, "  %s/%s on %s is lost: %s\n", l->ns, l->name, l->node, l->reason);
}

static void add_drain(struct strbuf *to, const struct sim_drain *d)
{
    STRBUF_ADD_LIT(to, "\nDrain of ");
    for (size_t i = 0; i < d->names.n; i++)
        printable_printf(to, "%s%s", i ? ", " : "", d->names.at[i]);
    printable_printf(to, ": %u pod%s evicted in %u round%s, %zu cannot leave\n", d->n_evicted,
                     d->n_evicted == 1 ? "" : "s", d->n_rounds, d->n_rounds == 1 ? "" : "s", d->stays.n);
    for (size_t i = 0; i < d->stays.n; i++)
        printable_printf(to, "  %s/%s stays on %s: %s\n", d->stays.at[i].ns, d->stays.at[i].name, d->stays.at[i].node,
                         d->stays.at[i].reason);
    for (size_t i = 0; i < d->lost.n; i++)
        add_lost(to, &d->lost.at[i]);
}

static void add_removed(struct strbuf *to, const struct sim_changes *c)
{
    if (!c->lost.n)
        return;
    STRBUF_ADD_LIT(to, "\nLost with their nodes\n");
    for (size_t i = 0; i < c->lost.n; i++)
        add_lost(to, &c->lost.at[i]);
}

static void add_changes(struct strbuf *to, const struct sim_what_if *q, unsigned width)
{
    struct arena a;
    arena_init(&a);
    STRBUF_ADD_LIT(to, "\nWhat if: ");
    for (size_t i = 0; i < q->n_changes; i++)
        printable_printf(to, "%s%s", i ? "; " : "", sim_change_text(&a, &q->changes[i]));
    STRBUF_ADD_LIT(to, "\nAgainst the run without that: ");
    arena_fini(&a);
    sim_report_difference(to, q->difference, width);
    if (q->drain)
        add_drain(to, q->drain);
    add_removed(to, q->done);
}

/* ---- Capacity ---- */

static void add_count(struct table *t, const char *name, const char *zone, uint32_t n)
{
    table_row(t);
    table_cell(t, "%s", name);
    table_cell(t, "%s", zone);
    table_cell(t, "%u", n);
}

static uint32_t copies_in(const struct sim_world *w, const struct sim_capacity *c, const char *zone)
{
    uint32_t n = 0;
    for (size_t i = 0; i < c->on_node.n; i++)
        n += strcmp(w->nodes.at[i].zone, zone) == 0 ? c->on_node.at[i] : 0;
    return n;
}

static void add_counts(struct strbuf *to, const struct sim_world *w, const struct sim_capacity *c, unsigned width)
{
    static const struct table_column columns[] = { { .heading = "NODE" }, { .heading = "ZONE", .leave_out = 1 },
                                                   { .heading = "COPIES", .right = true } };
    struct table t;
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < c->on_node.n; i++)
        if (c->on_node.at[i])
            add_count(&t, w->nodes.at[i].form->meta.name, w->nodes.at[i].zone, c->on_node.at[i]);
    sim_zone_vec zones = { 0 };
    sim_zones(w, &zones);
    for (size_t z = 0; zones.n > 1 && z < zones.n; z++)
        add_count(&t, sim_zone_label(&t.arena, zones.at[z].name), "", copies_in(w, c, zones.at[z].name));
    vec_fini(&zones);
    strbuf_add_char(to, '\n');
    table_write(&t, to, width);
    table_fini(&t);
}

static void add_capacity(struct strbuf *to, const struct sim_world *w, const struct sim_capacity *c, unsigned width)
{
    printable_printf(to, "\nCapacity: %u more cop%s of %s fit%s\n", c->n_copies, c->n_copies == 1 ? "y" : "ies", c->pod,
                     c->n_copies == 1 ? "s" : "");
    if (c->at_limit) {
        STRBUF_ADD_LIT(to, "More were not tried.\n");
    } else {
        printable_printf(to, "What runs out first: %s\n", c->runs_out);
        for (size_t i = 0; i < c->reasons.n && i < REASONS_TOLD_MAX; i++)
            if (c->reasons.at[i].n_nodes)
                printable_printf(to, "  %6u node%s: %s\n", c->reasons.at[i].n_nodes,
                                 c->reasons.at[i].n_nodes == 1 ? "" : "s", c->reasons.at[i].text);
    }
    if (c->n_copies)
        add_counts(to, w, c, width);
}

/* ---- Nodes needed ---- */

/* Pods of one owner that lack the same. */
struct hopeless_group {
    const struct sim_hopeless *first;
    uint32_t n;
};
typedef VEC(struct hopeless_group) hopeless_groups;

static const char *hopeless_name(struct arena *a, const struct sim_hopeless *h)
{
    return h->made && h->owner ? h->owner : arena_printf(a, "%s/%s", h->ns, h->name);
}

static void group_hopeless(const struct sim_needed *n, hopeless_groups *ret_groups)
{
    struct arena a;
    struct map_str by_key;
    arena_init(&a);
    map_str_init(&by_key);
    for (size_t i = 0; i < n->hopeless.n; i++) {
        const struct sim_hopeless *h = &n->hopeless.at[i];
        const char *key = arena_printf(&a, "%s\n%s", hopeless_name(&a, h), h->message);
        bool is_new;
        union map_value *v = map_str_put(&by_key, str_of(key), &is_new);
        if (is_new) {
            v->num = ret_groups->n;
            vec_push(ret_groups, (struct hopeless_group){ .first = h });
        }
        ret_groups->at[v->num].n++;
    }
    map_str_fini(&by_key);
    arena_fini(&a);
}

static void add_hopeless(struct strbuf *to, const struct sim_needed *n, unsigned width)
{
    static const struct table_column columns[] = { { .heading = NULL }, { .right = true } };
    if (!n->hopeless.n)
        return;
    printable_printf(to, "%zu pod%s no number of such nodes places:\n", n->hopeless.n,
                     n->hopeless.n == 1 ? " that" : "s that");
    hopeless_groups groups = { 0 };
    struct table t;
    table_init(&t, columns, 2);
    group_hopeless(n, &groups);
    for (size_t i = 0; i < groups.n; i++) {
        table_row(&t);
        table_cell(&t, "%s", hopeless_name(&t.arena, groups.at[i].first));
        table_cell(&t, "%u", groups.at[i].n);
        table_note(&t, groups.at[i].first->message);
    }
    table_write(&t, to, width);
    table_fini(&t);
    vec_fini(&groups);
}

static void add_needed(struct strbuf *to, const struct sim_needed *n, unsigned width)
{
    STRBUF_ADD_LIT(to, "\nNodes needed: ");
    if (!n->n_pending_before)
        STRBUF_ADD_LIT(to, "none, nothing is pending\n");
    else if (!n->n_nodes)
        printable_printf(to, "more nodes like %s do not help\n", n->like);
    else
        printable_printf(to, "%u more like %s, then %s (%u without; found in %u %s)\n", n->n_nodes, n->like,
                         n->hopeless.n ? "all pods that they can help have a node" : "nothing is pending",
                         n->n_pending_before, n->n_runs, n->n_runs == 1 ? "run" : "runs");
    add_hopeless(to, n, width);
}

/* ---- Two configurations ---- */

static void add_compared(struct strbuf *to, const struct sim_what_if *q, unsigned width)
{
    static const struct table_column columns[] = { { .heading = NULL }, { .wraps = true } };
    printable_printf(to, "\nCompared: %s -> %s\n", q->configs[0], q->configs[1]);
    const struct sim_world *worlds[2] = { q->compared->before, q->compared->after };
    struct table t;
    table_init(&t, columns, 2);
    for (int i = 0; i < 2; i++) {
        const uint32_t *n = worlds[i]->n_in_state;
        table_row(&t);
        table_cell(&t, "%s", q->configs[i]);
        table_cell(&t, "%u placed, %u pending, %u preempted", n[SIM_PLACED], n[SIM_PENDING], n[SIM_EVICTED]);
    }
    table_write(&t, to, width);
    table_fini(&t);
    STRBUF_ADD_LIT(to, "With the second: ");
    sim_report_difference(to, q->compared, width);
}

void sim_report_what_if(struct strbuf *to, const struct sim_what_if *q, unsigned width)
{
    sim_add_counts(to, q->world);
    sim_add_refused(to, q->world, width);
    if (q->difference)
        add_changes(to, q, width);
    if (q->capacity)
        add_capacity(to, q->world, q->capacity, width);
    if (q->needed)
        add_needed(to, q->needed, width);
    if (q->compared)
        add_compared(to, q, width);
}
