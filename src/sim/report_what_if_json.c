/* sim/report_what_if_json.c - what-if answers for programs; see report_what_if.h. docs/simulate.md
 * has the fields. */
#include "codec/json.h"
#include "sim/report_what_if.h"

/* ---- Pieces ---- */

static void add_text(struct strbuf *to, const char *key, const char *text)
{
    strbuf_printf(to, "\"%s\":", key);
    if (text)
        json_add_string(to, str_of(text));
    else
        STRBUF_ADD_LIT(to, "null");
}

/* With the comma before it. */
static void add_next(struct strbuf *to, const char *key, const char *text)
{
    strbuf_add_char(to, ',');
    add_text(to, key, text);
}

static void add_amounts(struct strbuf *to, const char *key, bool there, const struct sim_amounts *a)
{
    if (!there)
        strbuf_printf(to, ",\"%s\":null", key);
    else
        strbuf_printf(to, ",\"%s\":{\"cpuMilli\":%lld,\"memoryBytes\":%lld,\"pods\":%lld}", key,
                      (long long)a->milli_cpu, (long long)a->memory, (long long)a->pods);
}

/* ---- Differences ---- */

static const char *node_of(const struct sim_world *w, const struct sim_pod *p)
{
    return p && (p->state == SIM_RUNNING || p->state == SIM_PLACED) ? sim_node_name(w, p) : NULL;
}

static void add_shifted(struct strbuf *to, const struct sim_difference *d, const struct sim_shifted *s)
{
    const struct sim_pod *p = s->after ? s->after : s->before;
    strbuf_add_char(to, '{');
    add_text(to, "namespace", p->ns);
    add_next(to, "name", p->name);
    add_next(to, "owner", p->owner);
    add_next(to, "change", sim_shift_name(s->shift));
    add_next(to, "from", node_of(d->before, s->before));
    add_next(to, "to", node_of(d->after, s->after));
    if (s->after && s->after->state == SIM_PENDING)
        add_next(to, "message", s->after->message);
    if (s->after && s->after->state == SIM_EVICTED && s->after->evicted_by >= 0) {
        const struct sim_pod *by = &d->after->pods.at[s->after->evicted_by];
        STRBUF_ADD_LIT(to, ",\"by\":{");
        add_text(to, "namespace", by->ns);
        add_next(to, "name", by->name);
        strbuf_add_char(to, '}');
    }
    strbuf_add_char(to, '}');
}

static void add_use(struct strbuf *to, const struct sim_use *u, bool has_zone)
{
    strbuf_add_char(to, '{');
    add_text(to, "name", u->name);
    if (has_zone)
        add_next(to, "zone", u->zone);
    add_amounts(to, "allocatableBefore", u->was_there, &u->allocatable_before);
    add_amounts(to, "allocatable", u->is_there, &u->allocatable_after);
    add_amounts(to, "before", u->was_there, &u->before);
    add_amounts(to, "after", u->is_there, &u->after);
    strbuf_add_char(to, '}');
}

static void add_uses(struct strbuf *to, const struct sim_difference *d)
{
    const char *comma = "\n";
    STRBUF_ADD_LIT(to, ",\n\"nodes\":[");
    for (size_t i = 0; i < d->nodes.n; i++) {
        if (!sim_use_differs(&d->nodes.at[i]))
            continue;
        strbuf_add_text(to, comma);
        add_use(to, &d->nodes.at[i], true);
        comma = ",\n";
    }
    STRBUF_ADD_LIT(to, "],\n\"zones\":[");
    for (size_t i = 0; i < d->zones.n; i++) {
        strbuf_add_text(to, i ? ",\n" : "\n");
        add_use(to, &d->zones.at[i], false);
    }
    STRBUF_ADD_LIT(to, "],\n\"cluster\":");
    add_use(to, &d->cluster, false);
}

static void add_difference(struct strbuf *to, const struct sim_difference *d)
{
    STRBUF_ADD_LIT(to, "{\"summary\":{");
    for (int i = 0; i < N_SIM_SHIFTS; i++)
        strbuf_printf(to, "%s\"%s\":%u", i ? "," : "", sim_shift_name((enum sim_shift)i), d->n[i]);
    STRBUF_ADD_LIT(to, "},\n\"pods\":[");
    for (size_t i = 0; i < d->pods.n; i++) {
        strbuf_add_text(to, i ? ",\n" : "\n");
        add_shifted(to, d, &d->pods.at[i]);
    }
    strbuf_add_char(to, ']');
    add_uses(to, d);
    strbuf_add_char(to, '}');
}

/* ---- Changes ---- */

static void add_lost(struct strbuf *to, const sim_lost_vec *lost)
{
    strbuf_add_char(to, '[');
    for (size_t i = 0; i < lost->n; i++) {
        strbuf_add_text(to, i ? ",\n{" : "\n{");
        add_text(to, "namespace", lost->at[i].ns);
        add_next(to, "name", lost->at[i].name);
        add_next(to, "node", lost->at[i].node);
        add_next(to, "reason", lost->at[i].reason);
        strbuf_add_char(to, '}');
    }
    strbuf_add_char(to, ']');
}

static void add_stay(struct strbuf *to, const struct sim_stay *s)
{
    strbuf_add_char(to, '{');
    add_text(to, "namespace", s->ns);
    add_next(to, "name", s->name);
    add_next(to, "owner", s->owner);
    add_next(to, "node", s->node);
    add_next(to, "reason", s->reason);
    add_next(to, "budget", s->budget);
    if (s->budget)
        strbuf_printf(to, ",\"disruptionsAllowed\":%lld,\"healthy\":%lld,\"desiredHealthy\":%lld",
                      (long long)s->allowed, (long long)s->healthy, (long long)s->desired);
    strbuf_add_char(to, '}');
}

static void add_drain(struct strbuf *to, const struct sim_drain *d)
{
    STRBUF_ADD_LIT(to, ",\n\"drain\":{\"nodes\":[");
    for (size_t i = 0; i < d->names.n; i++) {
        strbuf_add_text(to, i ? "," : "");
        json_add_string(to, str_of(d->names.at[i]));
    }
    strbuf_printf(to, "],\"rounds\":%u,\"evicted\":%u,\"blocked\":[", d->n_rounds, d->n_evicted);
    for (size_t i = 0; i < d->stays.n; i++) {
        strbuf_add_text(to, i ? ",\n" : "\n");
        add_stay(to, &d->stays.at[i]);
    }
    STRBUF_ADD_LIT(to, "],\"lost\":");
    add_lost(to, &d->lost);
    strbuf_add_char(to, '}');
}

static void add_changes(struct strbuf *to, const struct sim_what_if *q)
{
    struct arena a;
    arena_init(&a);
    STRBUF_ADD_LIT(to, "\"changes\":[");
    for (size_t i = 0; i < q->n_changes; i++) {
        strbuf_add_text(to, i ? "," : "");
        json_add_string(to, str_of(sim_change_text(&a, &q->changes[i])));
    }
    STRBUF_ADD_LIT(to, "],\n\"difference\":");
    add_difference(to, q->difference);
    STRBUF_ADD_LIT(to, ",\n\"lost\":");
    add_lost(to, &q->done->lost);
    if (q->drain)
        add_drain(to, q->drain);
    arena_fini(&a);
}

/* ---- Questions ---- */

static void add_capacity(struct strbuf *to, const struct sim_world *w, const struct sim_capacity *c)
{
    STRBUF_ADD_LIT(to, "\"capacity\":{");
    add_text(to, "of", c->pod);
    strbuf_printf(to, ",\"copies\":%u,\"limitReached\":%s", c->n_copies, c->at_limit ? "true" : "false");
    add_next(to, "runsOut", c->runs_out);
    add_next(to, "message", c->message);
    STRBUF_ADD_LIT(to, ",\"reasons\":[");
    for (size_t i = 0; i < c->reasons.n; i++) {
        strbuf_printf(to, "%s{\"nodes\":%u", i ? "," : "", c->reasons.at[i].n_nodes);
        add_next(to, "reason", c->reasons.at[i].text);
        strbuf_add_char(to, '}');
    }
    STRBUF_ADD_LIT(to, "],\"nodes\":[");
    const char *comma = "\n";
    for (size_t i = 0; i < c->on_node.n; i++) {
        if (!c->on_node.at[i])
            continue;
        strbuf_printf(to, "%s{", comma);
        add_text(to, "name", w->nodes.at[i].form->meta.name);
        add_next(to, "zone", w->nodes.at[i].zone);
        strbuf_printf(to, ",\"copies\":%u}", c->on_node.at[i]);
        comma = ",\n";
    }
    STRBUF_ADD_LIT(to, "]}");
}

static void add_needed(struct strbuf *to, const struct sim_needed *n)
{
    STRBUF_ADD_LIT(to, "\"nodesNeeded\":{");
    add_text(to, "like", n->like);
    strbuf_printf(to, ",\"nodes\":%u,\"pendingBefore\":%u,\"runs\":%u,\"hopeless\":[", n->n_nodes, n->n_pending_before,
                  n->n_runs);
    for (size_t i = 0; i < n->hopeless.n; i++) {
        strbuf_add_text(to, i ? ",\n{" : "\n{");
        add_text(to, "namespace", n->hopeless.at[i].ns);
        add_next(to, "name", n->hopeless.at[i].name);
        add_next(to, "owner", n->hopeless.at[i].owner);
        add_next(to, "message", n->hopeless.at[i].message);
        strbuf_add_char(to, '}');
    }
    STRBUF_ADD_LIT(to, "]}");
}

static void add_counts(struct strbuf *to, const char *key, const char *config, const struct sim_world *w)
{
    const uint32_t *n = w->n_in_state;
    strbuf_printf(to, "\"%s\":{", key);
    add_text(to, "config", config);
    strbuf_printf(to, ",\"placed\":%u,\"pending\":%u,\"preempted\":%u},\n", n[SIM_PLACED], n[SIM_PENDING],
                  n[SIM_EVICTED]);
}

static void add_compared(struct strbuf *to, const struct sim_what_if *q)
{
    STRBUF_ADD_LIT(to, "\"compare\":{");
    add_counts(to, "first", q->configs[0], q->compared->before);
    add_counts(to, "second", q->configs[1], q->compared->after);
    STRBUF_ADD_LIT(to, "\"difference\":");
    add_difference(to, q->compared);
    strbuf_add_char(to, '}');
}

void sim_what_if_json(struct strbuf *to, const struct sim_what_if *q)
{
    strbuf_add_char(to, '{');
    size_t empty = to->n;
    if (q->difference)
        add_changes(to, q);
    strbuf_add_text(to, q->capacity && to->n > empty ? ",\n" : "");
    if (q->capacity)
        add_capacity(to, q->world, q->capacity);
    strbuf_add_text(to, q->needed && to->n > empty ? ",\n" : "");
    if (q->needed)
        add_needed(to, q->needed);
    strbuf_add_text(to, q->compared && to->n > empty ? ",\n" : "");
    if (q->compared)
        add_compared(to, q);
    strbuf_add_char(to, '}');
}
