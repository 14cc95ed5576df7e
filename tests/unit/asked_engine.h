/* tests/unit/asked_engine.h - a random engine (random_engine.h) that is asked to explain pods as it goes.
 *
 * Each explanation is sound, each says what the attempt that follows then does, and none changes the scheduler. */
#pragma once

#include "sched/dump.h"
#include "sched/explain.h"
#include "sched/trial.h"
#include "tests/unit/random_engine.h"

enum { DUMP_EVERY = 10 };

struct asked {
    struct engine g; /* first: the scheduler's context */
    struct rand rand; /* for questions, so that events stay the same */
    struct arena arena;
    struct strbuf before, after;
    struct explanation next; /* of the attempt under way */
    const char *next_uid;    /* NULL: there was none since the last look */
    char *message;           /* of a failure since then */
    unsigned n_fits, n_rejected, n_preempts, n_running, n_gated;
};

/* ---- Every explanation is sound ---- */

static inline void check_compared(const struct explanation *x, uint32_t i)
{
    const struct explained_node *n = &x->nodes[i];
    CHECK_INT(n->name, n->scores != NULL, x->scored);
    CHECK(!n->refusal);
    if (!n->scores)
        return;
    int64_t sum = 0;
    for (uint32_t k = 0; k < x->n_plugins; k++) {
        CHECK(n->scores[k] >= 0 && n->scores[k] <= x->plugins[k].weight * SCORE_MAX);
        CHECK(!x->plugins[k].skipped || n->scores[k] == 0);
        sum += n->scores[k];
    }
    CHECK_INT(n->name, sum, n->total);
    CHECK(i == 0 || x->nodes[i - 1].total >= n->total);
}

static inline bool group_has(const struct explained_group *g, const struct explained_refusal *r, const char *reason,
                      const char *node)
{
    if (strcmp(g->reason, reason) != 0 || g->code != r->code || (g->plugin == NULL) != (r->plugin == NULL) ||
        (g->plugin && strcmp(g->plugin, r->plugin) != 0))
        return false;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (strcmp(g->nodes[i], node) == 0)
            return true;
    return false;
}

static inline void check_refused(const struct explanation *x, const struct explained_node *n)
{
    CHECK(n->refusal && n->refusal->n_reasons > 0 && n->refusal->code != V_SUCCESS);
    for (uint32_t i = 0; i < n->refusal->n_reasons; i++) {
        unsigned n_groups = 0;
        for (uint32_t k = 0; k < x->n_groups; k++)
            n_groups += group_has(&x->groups[k], n->refusal, n->refusal->reasons[i], n->name);
        CHECK_INT(n->refusal->reasons[i], n_groups, 1);
    }
}

/* Every node of the cluster is there once. */
static inline void check_names(struct asked *a, const struct explanation *x)
{
    const struct cache *c = sched_cache(a->g.sched);
    uint64_t *seen = ARENA_NEW_N(&a->arena, uint64_t, bitset_words(c->col.n_rows));
    for (uint32_t i = 0; i < x->n_nodes; i++) {
        node_id id = cache_listed_node(c, sym_find(c->syms, str_of(x->nodes[i].name)));
        CHECK(id != NODE_NONE && !bitset_test(seen, id));
        bitset_set(seen, id);
    }
    CHECK_INT("nodes", x->n_nodes, c->order.n);
}

static inline void check_sound(struct asked *a, const struct explanation *x)
{
    bool fits = x->outcome == EXPLAINED_FITS;
    CHECK_INT("a message", x->message == NULL, fits);
    CHECK_INT("a node", x->chosen != NULL, fits);
    CHECK_INT("nodes that fit", x->n_compared > 0, fits);
    CHECK_INT("parts", x->n_compared + x->n_not_compared + x->n_refused, x->n_nodes);
    if (x->outcome == EXPLAINED_ERROR)
        return;
    check_names(a, x);
    if (fits)
        CHECK_TEXT("the first", x->nodes[0].name, x->chosen);
    uint64_t n_reasons = 0, n_in_groups = 0;
    for (uint32_t i = 0; i < x->n_nodes; i++) {
        const struct explained_node *n = &x->nodes[i];
        CHECK_INT(n->name, n->state, i < x->n_compared                       ? EXPLAINED_COMPARED
                                     : i < x->n_compared + x->n_not_compared ? EXPLAINED_NOT_COMPARED
                                                                             : EXPLAINED_REFUSED);
        if (n->state == EXPLAINED_COMPARED)
            check_compared(x, i);
        if (n->state != EXPLAINED_REFUSED)
            continue;
        check_refused(x, n);
        n_reasons += n->refusal->n_reasons;
    }
    for (uint32_t i = 0; i < x->n_groups; i++) {
        n_in_groups += x->groups[i].n_nodes;
        CHECK(i == 0 || x->groups[i - 1].n_nodes >= x->groups[i].n_nodes);
    }
    CHECK_INT("reasons in groups", n_in_groups, n_reasons);
}

/* ---- Questions ---- */

/* Just the node, by the quick way; NODE_NONE when none fits. */
static inline node_id trial_where(struct sched *s, const struct pod *pod)
{
    struct trial t;
    trial_begin(&t, s, pod, (struct attempt_wants){ 0 });
    trial_run(&t);
    node_id node = t.attempt.outcome == ATTEMPT_FITS ? t.attempt.node : NODE_NONE;
    trial_end(&t);
    return node;
}

/* All of the scheduler that decisions come from; dumps have the pods of every row in order, and the
 * queue. */
static inline void dump(struct asked *a, struct strbuf *to)
{
    const struct sched *s = a->g.sched;
    strbuf_reset(to);
    for (int i = 0; i < 4; i++)
        strbuf_printf(to, "%llx ", (unsigned long long)s->rand.state[i]);
    strbuf_printf(to, "%u %u %d %llu %llu %llu %llu\n", s->start_index, s->n_extenders,
                  s->cache.order_is_stale, (unsigned long long)s->decision_hash,
                  (unsigned long long)s->n_attempts, (unsigned long long)s->last_ticket,
                  (unsigned long long)s->nominator.last_version);
    dump_nodes(&s->cache, &s->nominator, to);
    dump_queue_summary(s->queue, to);
    dump_queue_pods(s->queue, s->syms, to);
    for (size_t i = 0; i < s->cache.rows.n; i++)
        for (size_t k = 0; k < s->cache.rows.at[i].ports.n; k++)
            strbuf_printf(to, "%zu %d\n", i, s->cache.rows.at[i].ports.at[k].port);
}

static inline void ask(struct asked *a, const struct pod *pod, struct explanation *ret_x)
{
    struct sched *s = a->g.sched;
    bool compare = rand_below(&a->rand, DUMP_EVERY) == 0;
    if (compare)
        dump(a, &a->before);
    explain_pod(s, pod, &a->arena, ret_x);
    node_id where = trial_where(s, pod);
    if (compare) {
        dump(a, &a->after);
        if (!str_eq(strbuf_str(&a->after), strbuf_str(&a->before)))
            FAIL("seed %llu, step %u: explaining %s changed the scheduler", (unsigned long long)a->g.seed, a->g.step,
                 pod->meta.uid);
    }
    check_sound(a, ret_x);
    CHECK_INT("the quick answer", where == NODE_NONE, ret_x->chosen == NULL);
    if (ret_x->chosen)
        CHECK_STR("the quick answer", sym_text(s->syms, s->cache.rows.at[where].name), str_of(ret_x->chosen));
}

static inline const struct pod *new_pod(struct asked *a)
{
    struct pod_text text = { .name = "new", .uid = "new", .version = 1 };
    return pod_of_shape(&a->g.w, &a->g.w.shapes[rand_below(&a->rand, N_SHAPES)], &text);
}

static inline bool minds_gates(const struct asked *a, const struct pod *pod)
{
    const struct point_plugins *points = &sched_profile(a->g.sched, pod->scheduler_name)->points[POINT_PRE_ENQUEUE];
    for (uint8_t i = 0; i < points->n; i++)
        if (points->at[i]->plugin == &schedulinggates_plugin)
            return true;
    return false;
}

/* About a pod that the scheduler knows, or a new one. */
static inline void ask_something(struct asked *a)
{
    struct explanation x;
    arena_reset(&a->arena);
    if (a->g.pods.n == 0 || rand_below(&a->rand, 4) == 0) {
        const struct pod *pod = new_pod(a);
        ask(a, pod, &x);
        CHECK(!x.node);
        pod_unref(a->g.w.syms, pod);
        return;
    }
    const struct truth *t = &a->g.pods.at[rand_below(&a->rand, a->g.pods.n)];
    const struct pod *pod = sched_pod(a->g.sched, t->uid);
    CHECK(pod);
    ask(a, pod, &x);
    const struct placed *placed = cache_find_pod(sched_cache(a->g.sched), t->uid);
    CHECK_INT("where it is", x.node != NULL, placed != NULL);
    a->n_running += x.node != NULL;
    a->n_gated += x.not_tried != NULL;
    if (!x.node)
        CHECK_INT("gated", x.not_tried_plugin && strcmp(x.not_tried_plugin, "SchedulingGates") == 0,
                  pod->n_gates > 0 && !t->terminating && minds_gates(a, pod));
}

/* ---- Attempts ---- */

static inline void before_attempt(void *context, const struct pod *pod)
{
    struct asked *a = context;
    arena_reset(&a->arena);
    ask(a, pod, &a->next);
    a->next_uid = arena_cstr(&a->arena, str_of(pod->meta.uid));
}

static inline void on_status(void *context, const struct status_change *change)
{
    struct asked *a = context;
    if (change->has_condition) {
        free(a->message);
        a->message = strdup(change->message);
    }
    io_status(context, change);
}

/* The attempt did what the explanation ahead of it said. */
static inline void check_attempt(struct asked *a)
{
    const struct explanation *x = &a->next;
    const struct sched *s = a->g.sched;
    /* Reserve, PreBindPreFlight: not asked for. */
    bool fails_later = a->message && strncmp(a->message, "running ", 8) == 0;
    if (x->outcome == EXPLAINED_FITS && fails_later)
        return;
    if (x->outcome == EXPLAINED_FITS) {
        const struct binding *b = bind_find(s, a->next_uid);
        CHECK(b && !a->message);
        CHECK_STR("where it went", sym_text(s->syms, b->pod->node_name), str_of(x->chosen));
        a->n_fits++;
        return;
    }
    CHECK(a->message);
    CHECK_TEXT("the scheduler's message", x->message, a->message);
    if (x->preemption)
        CHECK_STR("the promised node", sym_text(s->syms, nominator_node_of(&s->nominator, a->next_uid)),
                  str_of(x->preemption->node));
    a->n_rejected++;
    a->n_preempts += x->preemption != NULL;
}

/* The explanation of the attempt, if there was one, holds until the next question. */
static inline void step_explained(struct asked *a)
{
    a->next_uid = NULL;
    free(a->message);
    a->message = NULL;
    step(&a->g);
    if (a->next_uid)
        check_attempt(a);
}

static inline void one_step(struct asked *a)
{
    step_explained(a);
    ask_something(a);
}

/* After engine_init of a->g, which came with zeros behind it. */
static inline void asked_init(struct asked *a, uint64_t seed)
{
    rand_init(&a->rand, seed);
    arena_init(&a->arena);
    strbuf_init(&a->before, STRBUF_NO_MAX);
    strbuf_init(&a->after, STRBUF_NO_MAX);
    a->g.sched->io.context = a;
    a->g.sched->io.patch_status = on_status;
    sched_watch_attempts(a->g.sched, before_attempt, a);
}

static inline void asked_fini(struct asked *a)
{
    free(a->message);
    a->message = NULL;
    arena_fini(&a->arena);
    strbuf_fini(&a->before);
    strbuf_fini(&a->after);
}
