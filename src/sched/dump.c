/* sched/dump.c - see dump.h. */
#include "sched/dump.h"

#include "sched/nominate.h"
#include "sched/queue.h"

static void add_sym(struct strbuf *b, const struct sym_table *syms, sym id)
{
    strbuf_add_str(b, sym_text(syms, id));
}

static void add_pod(struct strbuf *b, const struct sym_table *syms, const struct pod *pod)
{
    STRBUF_ADD_LIT(b, "name: ");
    strbuf_add_text(b, pod->meta.name);
    STRBUF_ADD_LIT(b, ", namespace: ");
    add_sym(b, syms, pod->meta.ns);
    STRBUF_ADD_LIT(b, ", uid: ");
    strbuf_add_text(b, pod->meta.uid);
    STRBUF_ADD_LIT(b, ", phase: ");
    strbuf_add_text(b, pod_phase_text(pod->phase));
    STRBUF_ADD_LIT(b, ", nominated node: ");
    add_sym(b, syms, pod->nominated_node);
    STRBUF_ADD_LIT(b, "\n");
}

/* ---- Nodes ---- */

/* As Go prints a pointer to framework.Resource with %+v, up to the scalars. */
static void begin_amounts(struct strbuf *b, int64_t milli_cpu, int64_t memory, int64_t ephemeral, int32_t pods)
{
    strbuf_printf(b,
                  "&{MilliCPU:%lld Memory:%lld EphemeralStorage:%lld AllowedPodNumber:%d "
                  "ScalarResources:map[",
                  (long long)milli_cpu, (long long)memory, (long long)ephemeral, (int)pods);
}

static void add_scalar(struct strbuf *b, const struct sym_table *syms, bool first, struct scalar_amount s)
{
    strbuf_add_text(b, first ? "" : " ");
    add_sym(b, syms, s.name);
    STRBUF_ADD_LIT(b, ":");
    strbuf_add_int(b, s.amount);
}

static void add_allocatable(struct strbuf *b, const struct cache *c, node_id id)
{
    const struct columns *col = &c->col;
    const struct node *node = c->rows.at[id].node;
    begin_amounts(b, col->alloc_milli_cpu[id], col->alloc_memory[id], col->alloc_ephemeral[id], col->alloc_pods[id]);
    for (uint32_t i = 0; node && i < node->allocatable.n_scalars; i++)
        add_scalar(b, c->syms, i == 0, node->allocatable.scalars[i]);
    STRBUF_ADD_LIT(b, "]}");
}

/* Also with an amount of 0. */
static bool is_requested(const struct node_row *row, sym scalar)
{
    for (size_t i = 0; i < row->pods.n; i++) {
        const struct amounts *r = row->pods.at[i]->pod->requested;
        for (uint32_t k = 0; k < r->n_scalars; k++)
            if (r->scalars[k].name == scalar)
                return true;
    }
    return false;
}

/* The next name after `last` in the order of bytes among those that pods request; NULL at the end. */
static const struct scalar_column *next_requested(const struct cache *c, node_id id, struct str last)
{
    const struct scalar_column *next = NULL;
    for (size_t i = 0; i < c->col.scalars.n; i++) {
        const struct scalar_column *s = &c->col.scalars.at[i];
        struct str name = sym_text(c->syms, s->name);
        bool sooner = !next || str_cmp(name, sym_text(c->syms, next->name)) < 0;
        if (sooner && str_cmp(name, last) > 0 && is_requested(&c->rows.at[id], s->name))
            next = s;
    }
    return next;
}

static void add_requested(struct strbuf *b, const struct cache *c, node_id id)
{
    const struct columns *col = &c->col;
    begin_amounts(b, col->used_milli_cpu[id], col->used_memory[id], col->used_ephemeral[id], 0);
    const struct scalar_column *s = next_requested(c, id, STR(""));
    for (bool first = true; s; first = false) {
        add_scalar(b, c->syms, first, (struct scalar_amount){ s->name, s->used[id] });
        s = next_requested(c, id, sym_text(c->syms, s->name));
    }
    STRBUF_ADD_LIT(b, "]}");
}

static void add_nominated(struct strbuf *b, const struct nominator *n, sym node)
{
    const struct nominated_list *list = nominator_on(n, node);
    if (!list)
        return;
    strbuf_printf(b, "Nominated Pods(number: %zu):\n", list->pods.n);
    for (size_t i = 0; i < list->pods.n; i++)
        add_pod(b, n->syms, list->pods.at[i]->pod);
}

static void add_node(struct strbuf *b, const struct cache *c, const struct nominator *n, node_id id)
{
    const struct node_row *row = &c->rows.at[id];
    STRBUF_ADD_LIT(b, "Node name: ");
    add_sym(b, c->syms, row->name);
    strbuf_printf(b, "\nDeleted: %s\nRequested Resources: ", row->node ? "false" : "true");
    add_requested(b, c, id);
    STRBUF_ADD_LIT(b, "\nAllocatable Resources:");
    add_allocatable(b, c, id);
    strbuf_printf(b, "\nScheduled Pods(number: %zu):\n", row->pods.n);
    for (size_t i = 0; i < row->pods.n; i++)
        add_pod(b, c->syms, row->pods.at[i]->pod);
    add_nominated(b, n, row->name);
}

void dump_nodes(const struct cache *c, const struct nominator *n, struct strbuf *b)
{
    bool first = true;
    for (node_id id = 0; id < c->rows.n && !b->overflow; id++) {
        if (c->rows.at[id].name == SYM_NONE)
            continue;
        strbuf_add_text(b, first ? "" : "\n\n");
        add_node(b, c, n, id);
        first = false;
    }
}

/* ---- The queue ---- */

struct queue_dump {
    struct strbuf *b;
    const struct sym_table *syms;
};

static void add_queued(void *context, const struct queued_pod *qp)
{
    struct queue_dump *d = context;
    add_pod(d->b, d->syms, qp->pod);
}

void dump_queue_summary(const struct queue *q, struct strbuf *b)
{
    struct queue_counts n = queue_counts(q);
    strbuf_printf(b, "activeQ:%u; backoffQ:%u; unschedulablePods:%u", n.active, n.backoff,
                  n.unschedulable + n.gated);
}

void dump_queue_pods(const struct queue *q, const struct sym_table *syms, struct strbuf *b)
{
    static const enum queue_place places[] = { PLACE_ACTIVE, PLACE_BACKOFF, PLACE_ERROR_BACKOFF, PLACE_UNSCHEDULABLE };
    struct queue_dump d = { b, syms };
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        queue_each(q, places[i], add_queued, &d);
}
