/* insight/live.c - see live.h. */
#include "insight/live.h"

#include <stdlib.h>

#include "base/mem.h"
#include "codec/json.h"
#include "insight/decisions_priv.h"
#include "insight/query.h"
#include "sched/queue.h"

/* ---- The history ---- */

struct point {
    int64_t wall_s; /* when it began */
    uint64_t placed, failed;
    uint32_t waiting; /* at its end */
};

struct live {
    struct point points[LIVE_POINTS_MAX]; /* the newest is still growing */
    uint64_t n_points;                    /* ever begun */
    struct sched_counts before;           /* when the newest began */
    bool begun;
};

struct live *live_new(void)
{
    return mem_zalloc(sizeof(struct live));
}

void live_free(struct live *l)
{
    free(l);
}

static const struct clock *clock_of(const struct insight *in)
{
    return in->clock ? in->clock : &clock_real;
}

static const struct point *point_at(const struct live *l, uint64_t i)
{
    return &l->points[i % LIVE_POINTS_MAX];
}

/* What was counted since; a scheduler that took another's place begins at 0. */
static uint64_t grown(uint64_t before, uint64_t now)
{
    return now >= before ? now - before : now;
}

void live_tick(struct live *l, const struct insight *in)
{
    int64_t wall_s = clock_wall_ns(clock_of(in)) / CLOCK_NS_PER_SECOND;
    int64_t step_s = wall_s - wall_s % LIVE_STEP_S;
    struct sched_counts now = sched_counts(in->sched);
    if (!l->begun || point_at(l, l->n_points - 1)->wall_s != step_s) {
        l->points[l->n_points++ % LIVE_POINTS_MAX] = (struct point){ .wall_s = step_s };
        l->begun = true;
    }
    struct point *p = &l->points[(l->n_points - 1) % LIVE_POINTS_MAX];
    p->placed += grown(l->before.placed, now.placed);
    p->failed += grown(l->before.unschedulable, now.unschedulable) + grown(l->before.errors, now.errors);
    p->waiting = now.active + now.backoff + now.unschedulable_waiting;
    l->before = now;
}

/* Those that were not told, and the newest one that was, which may have grown since. */
static void add_history(const struct live *l, struct live_cursor *cursor, struct strbuf *to)
{
    uint64_t oldest = l->n_points > LIVE_POINTS_MAX ? l->n_points - LIVE_POINTS_MAX : 0;
    uint64_t first = cursor->n_points ? cursor->n_points - 1 : 0;
    const char *comma = "";
    STRBUF_ADD_LIT(to, ",\"history\":[");
    for (uint64_t i = first < oldest ? oldest : first; i < l->n_points; i++, comma = ",") {
        const struct point *p = point_at(l, i);
        strbuf_printf(to, "%s[%lld,%llu,%llu,%u]", comma, (long long)p->wall_s,
                      (unsigned long long)p->placed, (unsigned long long)p->failed, p->waiting);
    }
    strbuf_add_char(to, ']');
    cursor->n_points = l->n_points;
}

/* ---- Nodes ---- */

static void add_taints(struct strbuf *to, const struct sym_table *syms, const struct node *node)
{
    static const char *const effects[] = { "", "NoSchedule", "PreferNoSchedule", "NoExecute", "" };
    strbuf_add_char(to, '[');
    for (uint32_t i = 0; i < node->n_taints; i++) {
        struct strbuf text;
        strbuf_init(&text, STRBUF_NO_MAX);
        strbuf_add_str(&text, sym_text(syms, node->taints[i].key));
        strbuf_printf(&text, ":%s", effects[node->taints[i].effect]);
        strbuf_add_text(to, i ? "," : "");
        json_add_string(to, strbuf_str(&text));
        strbuf_fini(&text);
    }
    strbuf_add_char(to, ']');
}

/* [row, name, zone, cpu, cpu in use (both in thousandths), memory, memory in use, pods, pods on it, cordoned, taints] */
static void add_node(struct strbuf *to, const struct cache *c, node_id id)
{
    const struct node_row *row = &c->rows.at[id];
    const struct columns *col = &c->col;
    strbuf_printf(to, "[%u,", id);
    json_add_string(to, sym_text(c->syms, row->name));
    strbuf_add_char(to, ',');
    json_add_string(to, sym_text(c->syms, (sym)(row->zone & UINT32_MAX)));
    strbuf_printf(to, ",%lld,%lld,%lld,%lld,%d,%d,%s,", (long long)col->alloc_milli_cpu[id], (long long)col->used_milli_cpu[id],
                  (long long)col->alloc_memory[id], (long long)col->used_memory[id], col->alloc_pods[id], col->n_pods[id],
                  row->node->flags & NODE_UNSCHEDULABLE ? "true" : "false");
    add_taints(to, c->syms, row->node);
    strbuf_add_char(to, ']');
}

static bool is_shown(const struct cache *c, node_id id)
{
    return id < c->col.n_rows && c->rows.at[id].name != SYM_NONE && c->rows.at[id].node;
}

struct moved {
    uint64_t *rows; /* bitset */
    size_t n_rows;
};

static void mark(void *context, node_id row)
{
    struct moved *m = context;
    if (row < m->n_rows)
        bitset_set(m->rows, row);
}

static void add_rows(struct strbuf *to, const struct cache *c, const struct moved *m)
{
    const char *comma = "";
    STRBUF_ADD_LIT(to, ",\"nodes\":[");
    for (node_id id = 0; id < m->n_rows; id++) {
        if (!bitset_test(m->rows, id) || !is_shown(c, id))
            continue;
        strbuf_add_text(to, comma);
        add_node(to, c, id);
        comma = ",";
    }
    comma = "";
    STRBUF_ADD_LIT(to, "],\"gone\":[");
    for (node_id id = 0; id < m->n_rows; id++) {
        if (!bitset_test(m->rows, id) || is_shown(c, id))
            continue;
        strbuf_printf(to, "%s%u", comma, id);
        comma = ",";
    }
    strbuf_add_char(to, ']');
}

static void add_nodes(struct strbuf *to, const struct cache *c, struct live_cursor *cursor)
{
    struct moved m = { .n_rows = c->rows.n };
    m.rows = mem_zalloc((m.n_rows / 64 + 1) * sizeof(*m.rows));
    bool full = !cursor->generation || cursor->generation > c->generation ||
                !cache_changes(c, cursor->generation, mark, &m);
    for (node_id id = 0; full && id < m.n_rows; id++)
        bitset_set(m.rows, id);
    strbuf_printf(to, ",\"full\":%s", full ? "true" : "false");
    add_rows(to, c, &m);
    free(m.rows);
    cursor->generation = c->generation;
}

/* ---- The queue ---- */

/* Those that wait longest: a heap whose first came last. */
struct longest {
    const struct queued_pod *at[LIVE_WAITING_MAX];
    uint32_t n;
};

static bool came_before(const struct queued_pod *a, const struct queued_pod *b)
{
    return a->sequence < b->sequence;
}

static void sift_down(struct longest *l, uint32_t i)
{
    for (uint32_t child; (child = 2 * i + 1) < l->n; i = child) {
        if (child + 1 < l->n && came_before(l->at[child], l->at[child + 1]))
            child++;
        if (!came_before(l->at[i], l->at[child]))
            return;
        const struct queued_pod *larger = l->at[child];
        l->at[child] = l->at[i];
        l->at[i] = larger;
    }
}

static void consider(void *context, const struct queued_pod *qp)
{
    struct longest *l = context;
    if (l->n < LIVE_WAITING_MAX) {
        l->at[l->n++] = qp;
        for (uint32_t i = l->n / 2; l->n == LIVE_WAITING_MAX && i-- > 0;)
            sift_down(l, i);
    } else if (came_before(qp, l->at[0])) {
        l->at[0] = qp;
        sift_down(l, 0);
    }
}

static const char *place_text(const struct queued_pod *qp)
{
    if (queued_pod_is_gated(qp))
        return "gated";
    return qp->place == PLACE_ACTIVE ? "active" : qp->place == PLACE_UNSCHEDULABLE ? "unschedulable" : "backoff";
}

/* [namespace, name, place, age in ms, attempts, priority, cpu in thousandths, memory] */
static void add_waiting_pod(struct strbuf *to, const struct sym_table *syms, const struct queued_pod *qp, int64_t now_ms)
{
    int64_t since_ms = qp->initial_attempt_ms == TIME_NONE ? qp->timestamp_ms : qp->initial_attempt_ms;
    strbuf_add_char(to, '[');
    json_add_string(to, sym_text(syms, qp->pod->meta.ns));
    strbuf_add_char(to, ',');
    json_add_string(to, str_of(qp->pod->meta.name));
    strbuf_printf(to, ",\"%s\",%lld,%u,%d,%lld,%lld]", place_text(qp), (long long)(now_ms > since_ms ? now_ms - since_ms : 0),
                  qp->attempts, qp->priority, (long long)qp->pod->requested->milli_cpu, (long long)qp->pod->requested->memory);
}

static void add_queue(struct strbuf *to, const struct insight *in, int64_t now_ms)
{
    const struct queue *q = sched_queue(in->sched);
    struct queue_counts n = queue_counts(q);
    struct longest longest = { .n = 0 };
    for (int place = PLACE_ACTIVE; place <= PLACE_UNSCHEDULABLE; place++)
        queue_each(q, (enum queue_place)place, consider, &longest);
    strbuf_printf(to, ",\"queue\":{\"active\":%u,\"backoff\":%u,\"unschedulable\":%u,\"gated\":%u,\"inFlight\":%u,\"longest\":[",
                  n.active, n.backoff, n.unschedulable, n.gated, n.in_flight + n.done);
    for (uint32_t i = 0; i < longest.n; i++) {
        strbuf_add_text(to, i ? "," : "");
        add_waiting_pod(to, sched_cache(in->sched)->syms, longest.at[i], now_ms);
    }
    STRBUF_ADD_LIT(to, "]}");
}

/* ---- Decisions ---- */

/* [sequence, Unix time in ms, namespace, pod, outcome, node or null, total score or null, how many nodes fit, attempt, message or null] */
static void add_decision(struct strbuf *to, const struct decisions *d, const struct kept_decision *k)
{
    strbuf_printf(to, "[%llu,%lld,", (unsigned long long)k->sequence, (long long)(k->wall_ns / CLOCK_NS_PER_MS));
    json_add_string(to, sym_text(d->syms, k->ns));
    strbuf_add_char(to, ',');
    json_add_string(to, str_of(kept_name(k)));
    strbuf_printf(to, ",%u,", k->outcome);
    if (k->node == SYM_NONE)
        STRBUF_ADD_LIT(to, "null");
    else
        json_add_string(to, sym_text(d->syms, k->node));
    if (k->n_best)
        strbuf_printf(to, ",%lld", (long long)kept_nodes(k)[0].total);
    else
        STRBUF_ADD_LIT(to, ",null");
    strbuf_printf(to, ",%u,%u,", k->n_feasible, k->n_attempts);
    if (k->refusals->message)
        json_add_string(to, str_of(k->refusals->message));
    else
        STRBUF_ADD_LIT(to, "null");
    strbuf_add_char(to, ']');
}

static void add_decisions(struct strbuf *to, const struct decisions *d, struct live_cursor *cursor)
{
    STRBUF_ADD_LIT(to, ",\"decisions\":[");
    uint32_t n = 0;
    while (d && n < d->n && n < LIVE_DECISIONS_MAX && decisions_newest(d, n)->sequence > cursor->sequence)
        n++;
    for (uint32_t i = 0; i < n; i++) { /* newest first */
        strbuf_add_text(to, i ? "," : "");
        add_decision(to, d, decisions_newest(d, i));
    }
    strbuf_add_char(to, ']');
    if (n)
        cursor->sequence = decisions_newest(d, 0)->sequence;
}

void live_add_changes(const struct live *l, const struct insight *in, struct live_cursor *cursor, int64_t now_ms,
                      struct strbuf *to)
{
    struct sched_counts n = sched_counts(in->sched);
    strbuf_printf(to, "{\"time\":%lld,\"placed\":%llu,\"unschedulable\":%llu,\"errors\":%llu,\"binding\":%u,\"evicting\":%u",
                  (long long)(clock_wall_ns(clock_of(in)) / CLOCK_NS_PER_MS), (unsigned long long)n.placed,
                  (unsigned long long)n.unschedulable, (unsigned long long)n.errors, n.binding, n.evicting);
    add_nodes(to, sched_cache(in->sched), cursor);
    add_queue(to, in, now_ms);
    add_decisions(to, in->decisions, cursor);
    add_history(l, cursor, to);
    strbuf_add_char(to, '}');
}

/* ---- One node ---- */

/* [namespace, name, cpu in thousandths, memory, priority, owner or null] */
static void add_pod_of_node(struct strbuf *to, const struct sym_table *syms, const struct pod *pod)
{
    strbuf_add_char(to, '[');
    json_add_string(to, sym_text(syms, pod->meta.ns));
    strbuf_add_char(to, ',');
    json_add_string(to, str_of(pod->meta.name));
    strbuf_printf(to, ",%lld,%lld,%d,", (long long)pod->requested->milli_cpu, (long long)pod->requested->memory, pod->priority);
    if (pod->controller)
        json_add_string(to, sym_text(syms, pod->controller->kind));
    else
        STRBUF_ADD_LIT(to, "null");
    strbuf_add_char(to, ']');
}

static void add_labels(struct strbuf *to, const struct sym_table *syms, struct label_set labels)
{
    strbuf_add_char(to, '{');
    for (uint32_t i = 0; i < labels.n; i++) {
        strbuf_add_text(to, i ? "," : "");
        json_add_string(to, sym_text(syms, labels.at[i].key));
        strbuf_add_char(to, ':');
        json_add_string(to, sym_text(syms, labels.at[i].value));
    }
    strbuf_add_char(to, '}');
}

enum err_code insight_node_view(const struct insight *in, struct str query, struct strbuf *to, struct err *e)
{
    struct str name = { NULL, 0 };
    const struct query_field fields[] = { { "name", &name }, { NULL, NULL } };
    if (query_parse(query, fields, e))
        return e->code;
    if (!name.p)
        return err_set(e, ERR_BAD_REQUEST, "which node? say name=NAME");
    const struct cache *c = sched_cache(in->sched);
    sym id = sym_find(c->syms, name);
    node_id row = id == SYM_NONE ? NODE_NONE : cache_find_node(c, id);
    if (row == NODE_NONE || !is_shown(c, row))
        return err_set(e, ERR_NOT_FOUND, "nodes \"%.*s\" not found", STR_ARG(name));
    const struct node_row *r = &c->rows.at[row];
    STRBUF_ADD_LIT(to, "{\"kind\":\"NodeView\",\"version\":1,\"node\":");
    add_node(to, c, row);
    STRBUF_ADD_LIT(to, ",\"labels\":");
    add_labels(to, c->syms, r->node->meta.labels);
    STRBUF_ADD_LIT(to, ",\"pods\":[");
    for (size_t i = 0; i < r->pods.n && i < LIVE_PODS_MAX; i++) {
        strbuf_add_text(to, i ? ",\n" : "");
        add_pod_of_node(to, c->syms, r->pods.at[i]->pod);
    }
    STRBUF_ADD_LIT(to, "]}\n");
    return to->overflow ? err_set(e, ERR_TOO_LARGE, "the answer is too large") : ERR_OK;
}
