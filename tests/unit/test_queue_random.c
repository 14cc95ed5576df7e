/* Random calls, in any order that callers could make them, with all checks of queue_check after each; and what each
 * place holds is counted against a model that is as simple as can be. */
#include <stdlib.h>

#include "base/rand.h"
#include "tests/unit/queue_world.h"

enum { N_PODS = 120, N_STEPS = 100000 };

struct actor {
    const struct pod *pod; /* newest version; NULL = does not exist */
    struct queued_pod *popped;
    bool queued;           /* in the queue, as far as callers know */
    int incarnation, version;
};

struct run {
    struct world w;
    struct rand rand;
    struct actor actors[N_PODS];
    int64_t now_ms;
    const struct node *node;
};

static uint32_t below(struct run *r, uint32_t n)
{
    return (uint32_t)rand_below(&r->rand, n);
}

static const struct pod *make_pod(struct run *r, struct actor *a)
{
    uint32_t i = (uint32_t)(a - r->actors);
    return world_pod(&r->w,
                     "{\"metadata\":{\"namespace\":\"ns-%u\",\"name\":\"pod-%u\",\"uid\":\"uid-%u-%d\","
                     "\"resourceVersion\":\"%d\"},\"spec\":{\"schedulerName\":\"%s\",\"priority\":%u%s%s},"
                     "\"status\":{\"nominatedNodeName\":\"%s\"}}",
                     i % 3, i / 2, i, a->incarnation, ++a->version, below(r, 50) ? "s" : "other", below(r, 4),
                     below(r, 5) ? "" : ",\"schedulingGates\":[{\"name\":\"g\"}]",
                     below(r, 3) ? "" : ",\"tolerations\":[{\"operator\":\"Exists\"}]", below(r, 4) ? "" : "node-1");
}

/* ---- Steps ---- */

static void add(struct run *r, struct actor *a)
{
    if (a->pod)
        return;
    a->incarnation++;
    a->pod = make_pod(r, a);
    queue_add(r->w.q, a->pod, r->now_ms);
    a->queued = true;
}

static void update(struct run *r, struct actor *a)
{
    /* what is assumed is not updated in the queue */
    if (!a->pod || (a->popped && a->popped->place == PLACE_DONE))
        return;
    const struct pod *old = a->pod;
    a->pod = make_pod(r, a);
    bool in_flight = a->popped && strcmp(a->popped->pod->meta.uid, a->pod->meta.uid) == 0;
    a->queued = !in_flight; /* one that is unknown is taken for new */
    queue_update(r->w.q, old, a->pod, r->now_ms);
    pod_unref(&r->w.syms, old);
}

static void delete(struct run *r, struct actor *a)
{
    if (!a->pod)
        return;
    queue_delete(r->w.q, a->pod);
    pod_unref(&r->w.syms, a->pod);
    a->pod = NULL;
    a->queued = false;
}

static struct actor *actor_of(struct run *r, const struct queued_pod *qp)
{
    return &r->actors[atoi(qp->pod->meta.uid + strlen("uid-"))];
}

static void pop(struct run *r, struct actor *a)
{
    (void)a;
    struct queued_pod *qp = queue_pop(r->w.q, r->now_ms);
    if (!qp)
        return;
    struct actor *popped = actor_of(r, qp);
    popped->queued = false;
    if (popped->popped) { /* the one before is still being bound */
        queue_release(r->w.q, qp);
        return;
    }
    popped->popped = qp;
}

static void done(struct run *r, struct actor *a)
{
    if (a->popped)
        queue_done(r->w.q, a->popped);
}

static void release(struct run *r, struct actor *a)
{
    if (a->popped)
        queue_release(r->w.q, a->popped);
    a->popped = NULL;
}

static struct rejectors random_rejectors(struct run *r)
{
    static const uint64_t plugins = 1 << FIT | 1 << TAINTS | 1 << CLAIMS | 1 << DEAF | 1 << CURIOUS;
    struct rejectors rejectors = { 0 };
    if (below(r, 5) == 0)
        return rejectors;
    rejectors.unschedulable = (uint64_t)below(r, 1 << N_WORLD_PLUGINS) & plugins;
    rejectors.pending = below(r, 3) ? 0 : rejectors.unschedulable & 1 << CLAIMS;
    return rejectors;
}

static void fail(struct run *r, struct actor *a)
{
    if (!a->popped)
        return;
    bool same = a->pod && strcmp(a->pod->meta.uid, a->popped->pod->meta.uid) == 0;
    if (!same) {
        release(r, a);
        return;
    }
    struct rejectors rejectors = random_rejectors(r);
    if (queue_add_unschedulable(r->w.q, a->popped, a->pod, rejectors, r->now_ms, &r->w.e))
        arena_reset(&r->w.arena);
    a->popped = NULL;
    a->queued = true;
}

static void event(struct run *r, struct actor *a)
{
    struct cluster_event e = {
        .resource = (enum event_resource)below(r, RES_RESOURCE_CLAIM), /* kinds that have objects */
        .action = 1u << below(r, 13),
    };
    bool of_pod = e.resource <= RES_UNSCHEDULED_POD;
    const void *object = of_pod ? (const void *)a->pod : e.resource == RES_NODE ? (const void *)r->node : NULL;
    if (of_pod && !object)
        return;
    e.old_object = e.action == ACT_ADD ? NULL : object;
    e.new_object = e.action == ACT_DELETE ? NULL : object;
    if (of_pod && e.resource == RES_POD) /* is no event, only a registration */
        e.resource = RES_ASSIGNED_POD;
    struct move_check check = below(r, 4) ? MOVE_ALL : move_up_to_priority((int32_t)below(r, 4));
    world_hint_skips = below(r, 2);
    queue_move_all(r->w.q, &e, check, r->now_ms);
}

static void activate(struct run *r, struct actor *a)
{
    if (a->pod)
        queue_activate(r->w.q, a->pod, r->now_ms);
}

static void take(struct run *r, struct actor *a)
{
    if (!a->pod || a->popped)
        return;
    a->popped = queue_pop_pod(r->w.q, a->pod, r->now_ms);
    a->queued = a->queued && !a->popped;
}

static void tick(struct run *r, struct actor *a)
{
    (void)a;
    r->now_ms += below(r, 3000);
    queue_flush_backoff(r->w.q, r->now_ms);
}

static void wait_long(struct run *r, struct actor *a)
{
    (void)a;
    r->now_ms += below(r, 200000);
    queue_flush_unschedulable(r->w.q, r->now_ms);
}

static void turn_barrier(struct run *r, struct actor *a)
{
    (void)a;
    world_barrier = below(r, 4) == 0;
}

static void (*const steps[])(struct run *r, struct actor *a) = {
    add, add, add, update, update, delete, pop, pop, pop, pop, fail, fail, fail, fail, done, release, event, event, event,
    activate, take, tick, tick, wait_long, turn_barrier,
};

/* ---- The run ---- */

static void count_one(void *context, const struct queued_pod *qp)
{
    (void)qp;
    ++*(uint32_t *)context;
}

static uint32_t count(const struct queue *q, enum queue_place place)
{
    uint32_t n = 0;
    queue_each(q, place, count_one, &n);
    return n;
}

/* What callers put in and did not take out is what is there. */
static void check_against_model(struct run *r)
{
    uint32_t n_queued = 0, n_popped = 0;
    for (int i = 0; i < N_PODS; i++) {
        struct actor *a = &r->actors[i];
        n_queued += a->queued;
        n_popped += a->popped != NULL;
        if (a->queued)
            CHECK(queue_find(r->w.q, a->pod->meta.ns, a->pod->meta.name) != NULL);
    }
    struct queue_counts c = queue_counts(r->w.q);
    CHECK_INT("queued", c.active + c.backoff + c.unschedulable + c.gated, n_queued);
    CHECK_INT("popped", c.in_flight + c.done, n_popped);
    CHECK_INT("active", c.active, count(r->w.q, PLACE_ACTIVE));
    CHECK_INT("backoff", c.backoff, count(r->w.q, PLACE_BACKOFF) + count(r->w.q, PLACE_ERROR_BACKOFF));
    CHECK_INT("waiting", c.unschedulable + c.gated, count(r->w.q, PLACE_UNSCHEDULABLE));
    CHECK_INT("in flight", c.in_flight, count(r->w.q, PLACE_IN_FLIGHT));
    CHECK_INT("done", c.done, count(r->w.q, PLACE_DONE));
    CHECK_INT("ready", queue_is_ready(r->w.q), c.active + count(r->w.q, PLACE_BACKOFF) > 0);
}

static void run(uint64_t seed, int n_steps)
{
    static struct run r;
    r = (struct run){ .now_ms = 1000 };
    world_init(&r.w);
    world_start(&r.w);
    rand_init(&r.rand, seed);
    r.node = world_node(&r.w, "{\"metadata\":{\"name\":\"node-of-events\"}}");
    for (int i = 0; i < n_steps; i++) {
        struct actor *a = &r.actors[below(&r, N_PODS)];
        steps[below(&r, sizeof(steps) / sizeof(steps[0]))](&r, a);
        check_against_model(&r);
    }
    for (int i = 0; i < N_PODS; i++)
        if (r.actors[i].pod)
            pod_unref(&r.w.syms, r.actors[i].pod);
    node_unref(&r.w.syms, r.node);
    world_fini(&r.w); /* with pods in all places */
}

TEST(random_calls_keep_everything_in_its_place)
{
    run(1, N_STEPS);
}

TEST(short_runs_end_well)
{
    for (uint64_t seed = 2; seed < 200; seed++)
        run(seed, 50);
}

TEST(the_same_calls_give_the_same_order)
{
    const char *popped[2][N_PODS];
    int n[2] = { 0 };
    struct world w[2];
    for (int k = 0; k < 2; k++) {
        world_init(&w[k]);
        hash_set_seed((uint64_t)k + 77); /* another layout of every map */
        world_start(&w[k]);
        const struct pod *pods[N_PODS];
        for (int i = 0; i < N_PODS; i++) {
            pods[i] = world_pod(&w[k], "{\"metadata\":{\"name\":\"p%d\",\"uid\":\"u%d\"},"
                                       "\"spec\":{\"schedulerName\":\"s\",\"priority\":%d}}", i, i, i % 5);
            queue_add(w[k].q, pods[i], i / 10);
        }
        for (int i = 0; i < N_PODS; i++) {
            struct queued_pod *qp = queue_pop(w[k].q, 100);
            struct rejectors rejectors = { 1ull << (i % 2 ? FIT : CURIOUS), 0 };
            CHECK(!queue_add_unschedulable(w[k].q, qp, NULL, rejectors, 100, &w[k].e));
        }
        struct cluster_event e = { .resource = RES_NODE, .action = ACT_ADD };
        queue_move_all(w[k].q, &e, MOVE_ALL, 9000);
        for (struct queued_pod *qp; (qp = queue_pop(w[k].q, 9000)); queue_release(w[k].q, qp)) {
            popped[k][n[k]++] = strdup(qp->pod->meta.name);
        }
        for (int i = 0; i < N_PODS; i++)
            pod_unref(&w[k].syms, pods[i]);
        world_fini(&w[k]);
    }
    CHECK_INT("all", n[0], N_PODS);
    CHECK_INT("all", n[1], N_PODS);
    for (int i = 0; i < N_PODS; i++) {
        CHECK_TEXT("order", popped[0][i], popped[1][i]);
        free((void *)(uintptr_t)popped[0][i]);
        free((void *)(uintptr_t)popped[1][i]);
    }
}
