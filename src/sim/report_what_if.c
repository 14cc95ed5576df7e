/* sim/report_what_if.c - what-if answers for people; see report_what_if.h. */
#include "sim/report_priv.h"
#include "sim/report_what_if.h"

enum { NAME_COLUMN = 34, REASONS_TOLD_MAX = 8 };

/* ---- Drain ---- */

static void add_lost(struct strbuf *to, const struct sim_lost *l)
{
    strbuf_printf(to, "  %s/%s on %s is lost: %s\n", l->ns, l->name, l->node, l->reason);
}

static void add_drain(struct strbuf *to, const struct sim_drain *d)
{
    STRBUF_ADD_LIT(to, "\nDrain of ");
    for (size_t i = 0; i < d->names.n; i++)
        strbuf_printf(to, "%s%s", i ? ", " : "", d->names.at[i]);
    strbuf_printf(to, ": %u pod%s evicted in %u round%s, %zu cannot leave\n", d->n_evicted,
                  d->n_evicted == 1 ? "" : "s", d->n_rounds, d->n_rounds == 1 ? "" : "s", d->stays.n);
    for (size_t i = 0; i < d->stays.n; i++)
        strbuf_printf(to, "  %s/%s stays on %s: %s\n", d->stays.at[i].ns, d->stays.at[i].name, d->stays.at[i].node,
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

static void add_changes(struct strbuf *to, const struct sim_what_if *q)
{
    struct arena a;
    arena_init(&a);
    STRBUF_ADD_LIT(to, "\nWhat if: ");
    for (size_t i = 0; i < q->n_changes; i++)
        strbuf_printf(to, "%s%s", i ? "; " : "", sim_change_text(&a, &q->changes[i]));
    STRBUF_ADD_LIT(to, "\nAgainst the run without that: ");
    arena_fini(&a);
    sim_report_difference(to, q->difference);
    if (q->drain)
        add_drain(to, q->drain);
    add_removed(to, q->done);
}

/* ---- Capacity ---- */

static void add_counts(struct strbuf *to, const struct sim_world *w, const struct sim_capacity *c)
{
    for (size_t i = 0; i < c->on_node.n; i++)
        if (c->on_node.at[i])
            strbuf_printf(to, "  %-20s %-14s %6u\n", w->nodes.at[i].form->meta.name, w->nodes.at[i].zone,
                          c->on_node.at[i]);
    sim_zone_vec zones = { 0 };
    sim_zones(w, &zones);
    for (size_t z = 0; zones.n > 1 && z < zones.n; z++) {
        uint32_t n = 0;
        for (size_t i = 0; i < c->on_node.n; i++)
            n += strcmp(w->nodes.at[i].zone, zones.at[z].name) == 0 ? c->on_node.at[i] : 0;
        strbuf_printf(to, "  %-20s %-14s %6u\n", "zone", *zones.at[z].name ? zones.at[z].name : "-", n);
    }
    vec_fini(&zones);
}

static void add_capacity(struct strbuf *to, const struct sim_world *w, const struct sim_capacity *c)
{
    strbuf_printf(to, "\nCapacity: %u more cop%s of %s fit%s\n", c->n_copies, c->n_copies == 1 ? "y" : "ies", c->pod,
                  c->n_copies == 1 ? "s" : "");
    if (c->at_limit) {
        STRBUF_ADD_LIT(to, "More were not tried.\n");
    } else {
        strbuf_printf(to, "What runs out first: %s\n", c->runs_out);
        for (size_t i = 0; i < c->reasons.n && i < REASONS_TOLD_MAX; i++)
            if (c->reasons.at[i].n_nodes)
                strbuf_printf(to, "  %6u node%s: %s\n", c->reasons.at[i].n_nodes,
                              c->reasons.at[i].n_nodes == 1 ? "" : "s", c->reasons.at[i].text);
    }
    if (!c->n_copies)
        return;
    strbuf_printf(to, "\n  %-20s %-14s %6s\n", "NODE", "ZONE", "COPIES");
    add_counts(to, w, c);
}

/* ---- Nodes needed ---- */

static void add_hopeless(struct strbuf *to, const struct sim_needed *n)
{
    if (!n->hopeless.n)
        return;
    strbuf_printf(to, "%zu pod%s no number of such nodes places:\n", n->hopeless.n,
                  n->hopeless.n == 1 ? " that" : "s that");
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < n->hopeless.n; i++) {
        const struct sim_hopeless *h = &n->hopeless.at[i];
        strbuf_printf(to, "  %s/%s\n", sim_plain(&a, h->ns), sim_plain(&a, h->name));
        sim_add_wrapped(to, sim_plain(&a, h->message));
    }
    arena_fini(&a);
}

static void add_needed(struct strbuf *to, const struct sim_needed *n)
{
    STRBUF_ADD_LIT(to, "\nNodes needed: ");
    if (!n->n_pending_before)
        STRBUF_ADD_LIT(to, "none, nothing is pending\n");
    else if (!n->n_nodes)
        strbuf_printf(to, "more nodes like %s do not help\n", n->like);
    else
        strbuf_printf(to, "%u more like %s, then %s (%u without; found in %u runs)\n", n->n_nodes, n->like,
                      n->hopeless.n ? "all pods that they can help have a node" : "nothing is pending",
                      n->n_pending_before, n->n_runs);
    add_hopeless(to, n);
}

/* ---- Two configurations ---- */

static void add_compared(struct strbuf *to, const struct sim_what_if *q)
{
    strbuf_printf(to, "\nCompared: %s -> %s\n", q->configs[0], q->configs[1]);
    const struct sim_world *worlds[2] = { q->compared->before, q->compared->after };
    for (int i = 0; i < 2; i++) {
        const uint32_t *n = worlds[i]->n_in_state;
        strbuf_printf(to, "  %-*s %u placed, %u pending, %u preempted\n", NAME_COLUMN, q->configs[i], n[SIM_PLACED],
                      n[SIM_PENDING], n[SIM_EVICTED]);
    }
    STRBUF_ADD_LIT(to, "With the second: ");
    sim_report_difference(to, q->compared);
}

void sim_report_what_if(struct strbuf *to, const struct sim_what_if *q)
{
    sim_add_counts(to, q->world);
    if (q->difference)
        add_changes(to, q);
    if (q->capacity)
        add_capacity(to, q->world, q->capacity);
    if (q->needed)
        add_needed(to, q->needed);
    if (q->compared)
        add_compared(to, q);
}
