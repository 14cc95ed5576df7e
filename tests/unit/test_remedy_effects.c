/* Asking for remedies leaves no trace: a long run of random events decides the same with questions in
 * between as without, and the cache is what it was after every question, down to the order of pods and
 * ports on a row. */
#include "sched/attempt.h"
#include "sched/compare.h"
#include "sched/remedy.h"
#include "tests/unit/random_world.h"

enum { RUNS = 150, STEPS = 220, NODES = 14, QUESTIONS_PERCENT = 12 };

struct outcome {
    io_ticket ticket;
    const struct pod *pod; /* as it is now; a reference */
    bool evicted;
};

struct run {
    struct random_world w;
    struct sym_table syms;
    struct setup setup;
    struct sched *sched;
    struct rand dice; /* of the questions: the world's own random numbers must not notice them */
    bool asks;
    int64_t now_ms;
    unsigned n_pods, n_questions, n_remedies;
    VEC(const char *) uids;
    VEC(struct outcome) outcomes;
    VEC(const struct pod *) pending; /* some that were made, placed by now or not */
    uint64_t placements;             /* hash */
};

static int64_t now_ms(void *context)
{
    return ((struct run *)context)->now_ms;
}

static int64_t wall_s(void *context)
{
    return 1800000000 + ((struct run *)context)->now_ms / 1000;
}

static void note(struct run *r, const struct pod *pod, struct str what)
{
    for (size_t i = 0; i < what.n; i++)
        r->placements = (r->placements ^ (unsigned char)what.p[i]) * 0x100000001b3ull;
    for (const char *c = pod->meta.uid; *c; c++)
        r->placements = (r->placements ^ (unsigned char)*c) * 0x100000001b3ull;
}

static void on_bind(void *context, io_ticket ticket, const struct pod *pod, sym node)
{
    struct run *r = context;
    note(r, pod, sym_text(&r->syms, node));
    vec_push(&r->outcomes, (struct outcome){ ticket, pod_ref(pod), false });
}

static void on_status(void *context, const struct status_change *change)
{
    note(context, change->pod, str_of(change->message ? change->message : ""));
}

static void on_evict(void *context, io_ticket ticket, const struct pod *victim, const struct pod *preemptor)
{
    struct run *r = context;
    (void)preemptor;
    note(r, victim, STR("evicted"));
    vec_push(&r->outcomes, (struct outcome){ ticket, pod_ref(victim), true });
}

static void on_event(void *context, const struct event_note *event)
{
    (void)context;
    (void)event;
}

static void on_volumes(void *context, io_ticket ticket, const struct pod *pod, sym node,
                       const struct volume_decisions *decisions)
{
    struct run *r = context;
    (void)pod;
    (void)node;
    (void)decisions;
    vec_push(&r->outcomes, (struct outcome){ ticket, NULL, false });
}

static void answer(struct run *r)
{
    for (size_t i = 0; i < r->outcomes.n; i++) {
        struct outcome o = r->outcomes.at[i];
        if (!o.pod) {
            sched_volumes_bound(r->sched, o.ticket, NULL);
        } else if (o.evicted) {
            sched_victim_done(r->sched, o.ticket, NULL);
            sched_pod_removed(r->sched, o.pod->meta.uid);
        } else {
            sched_bound(r->sched, o.ticket, NULL);
            sched_pod_set(r->sched, o.pod);
        }
        if (o.pod)
            pod_unref(&r->syms, o.pod);
    }
    vec_reset(&r->outcomes);
}

static void run_init(struct run *r, uint64_t seed, bool asks)
{
    *r = (struct run){ .asks = asks, .now_ms = 1000 };
    sym_init(&r->syms);
    rand_init(&r->dice, seed + 77);
    random_world_init(&r->w, &r->syms, seed, NODES);
    if (setup_from_text(&r->setup, &r->syms, world_config(), world_registry(), &r->w.e))
        FAIL("%s", r->w.e.message);
    r->sched = sched_new(&(struct sched_options){
        .syms = &r->syms,
        .profiles = r->setup.profiles,
        .n_profiles = r->setup.n_profiles,
        .features = r->setup.features,
        .io = { r, now_ms, wall_s, on_bind, on_status, on_evict, on_event, on_volumes, NULL },
        .percentage_of_nodes_to_score = 100,
        .seed = seed,
    });
    set_static_objects(&r->w, r->sched);
}

static void run_fini(struct run *r)
{
    answer(r);
    sched_free(r->sched);
    for (size_t i = 0; i < r->outcomes.n; i++)
        if (r->outcomes.at[i].pod)
            pod_unref(&r->syms, r->outcomes.at[i].pod);
    for (size_t i = 0; i < r->pending.n; i++)
        pod_unref(&r->syms, r->pending.at[i]);
    vec_fini(&r->pending);
    vec_fini(&r->outcomes);
    vec_fini(&r->uids);
    random_world_fini(&r->w);
    setup_fini(&r->setup);
    sym_fini(&r->syms);
}

/* ---- What must not change ---- */

/* Order of nodes, and pods and ports of every row in their order. */
static void describe_cache(struct run *r, struct strbuf *to)
{
    const struct cache *c = sched_cache(r->sched);
    strbuf_reset(to);
    strbuf_printf(to, "start %u, order", r->sched->start_index);
    for (size_t i = 0; i < c->order.n && !c->order_is_stale; i++)
        strbuf_printf(to, " %u", c->order.at[i]);
    strbuf_add_text(to, c->order_is_stale ? " stale" : c->order_is_identity ? " as rows" : " not as rows");
    for (size_t i = 0; i < c->rows.n; i++) {
        const struct node_row *row = &c->rows.at[i];
        if (row->name == SYM_NONE)
            continue;
        strbuf_printf(to, "\nrow %zu %s %p cpu %lld/%lld memory %lld pods", i, sym_text(&r->syms, row->name).p,
                      (const void *)row->node, (long long)c->col.used_milli_cpu[i], (long long)c->col.alloc_milli_cpu[i],
                      (long long)c->col.used_memory[i]);
        for (size_t k = 0; k < row->pods.n; k++) {
            CHECK_INT("index", row->pods.at[k]->index, k);
            strbuf_printf(to, " %s%s", row->pods.at[k]->pod->meta.uid, row->pods.at[k]->assumed ? "?" : "");
        }
        for (size_t k = 0; k < row->ports.n; k++)
            strbuf_printf(to, " %d", row->ports.at[k].port);
    }
}

static void ask(struct run *r, const struct pod *pod)
{
    struct strbuf before, after;
    strbuf_init(&before, STRBUF_NO_MAX);
    strbuf_init(&after, STRBUF_NO_MAX);
    describe_cache(r, &before);
    uint64_t hash = sched_decision_hash(r->sched);
    struct arena arena;
    arena_init(&arena);
    struct remedies all;
    remedies_find(r->sched, pod, &arena, &all);
    for (uint32_t i = 0; i < all.n; i++)
        CHECK(remedy_text(&all.at[i], &arena)[0]);
    r->n_questions++;
    r->n_remedies += all.n;
    arena_fini(&arena);
    describe_cache(r, &after);
    CHECK_STR("the cache after a question", strbuf_str(&after), strbuf_str(&before));
    CHECK(hash == sched_decision_hash(r->sched));
    strbuf_fini(&before);
    strbuf_fini(&after);
}

/* ---- Events ---- */

static void add_pod(struct run *r, bool placed)
{
    struct random_world *w = &r->w;
    const char *name = arena_printf(&w->texts, "p%u", r->n_pods++);
    struct pod_text text = { .name = name, .uid = name, .version = 1, .gated = !placed && chance(w, 5) };
    if (placed)
        text.node = node_name_of(w, below(w, w->n_nodes));
    else if (chance(w, 8))
        text.nominated = node_name_of(w, below(w, w->n_nodes));
    const struct pod *pod = pod_of_shape(w, &w->shapes[below(w, N_SHAPES)], &text);
    vec_push(&r->uids, name);
    sched_pod_set(r->sched, pod);
    if (placed)
        pod_unref(&r->syms, pod);
    else
        vec_push(&r->pending, pod);
}

static void event(struct run *r)
{
    struct random_world *w = &r->w;
    unsigned number = below(w, w->n_nodes), roll = below(w, 100);
    if (roll < 12) {
        const struct node *node = random_node(w, number);
        sched_node_set(r->sched, node);
        node_unref(&r->syms, node);
    } else if (roll < 15) {
        sym name = node_sym(w, number);
        if (name != SYM_NONE)
            sched_node_removed(r->sched, name);
    } else if (roll < 30 && r->uids.n) {
        unsigned i = below(w, (unsigned)r->uids.n);
        sched_pod_removed(r->sched, r->uids.at[i]);
        vec_remove_swap(&r->uids, i);
    } else {
        add_pod(r, roll < 55);
    }
}

static void step(struct run *r)
{
    event(r);
    if (r->asks && r->pending.n && rand_below(&r->dice, 100) < QUESTIONS_PERCENT)
        ask(r, r->pending.at[rand_below(&r->dice, r->pending.n)]);
    for (unsigned n = below(&r->w, 4); n > 0; n--)
        sched_run_once(r->sched);
    if (chance(&r->w, 70))
        answer(r);
    if (chance(&r->w, 20)) {
        r->now_ms += 1500;
        sched_tick(r->sched);
    }
}

TEST(questions_leave_no_trace)
{
    uint64_t seed = seed_of_test(1);
    unsigned n_questions = 0, n_remedies = 0;
    for (unsigned i = 0; i < RUNS; i++) {
        struct run with, without;
        run_init(&with, seed + i, true);
        run_init(&without, seed + i, false);
        for (int k = 0; k < STEPS; k++) {
            step(&with);
            step(&without);
            if (sched_decision_hash(with.sched) != sched_decision_hash(without.sched) || with.placements != without.placements)
                FAIL("seed %llu: step %d is decided differently after %u questions", (unsigned long long)(seed + i), k,
                     with.n_questions);
        }
        struct sched_counts a = sched_counts(with.sched), b = sched_counts(without.sched);
        CHECK(a.attempts == b.attempts && a.placed == b.placed && a.active == b.active && a.backoff == b.backoff);
        n_questions += with.n_questions;
        n_remedies += with.n_remedies;
        run_fini(&with);
        run_fini(&without);
    }
    printf("%u questions, %u remedies\n", n_questions, n_remedies);
    CHECK(n_questions > 500);
    CHECK(n_remedies > 500);
}
