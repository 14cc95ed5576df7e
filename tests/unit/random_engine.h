/* tests/unit/random_engine.h - a whole scheduler under random events in random order: nodes, pods and
 * objects come, change and go, bindings and evictions are answered early, late, with errors or after
 * the pod is gone, time passes.
 *
 * A small model of the API server holds the truth. After every attempt: a pod is only put where its
 * requests fit. */
#pragma once

#include "sched/attempt.h"
#include "sched/queue.h"
#include "tests/unit/random_profiles.h"

enum { FEW_NODES = 14, NODES_MAX = 90, PODS_MAX = 160 };

/* A pod as the API server has it. */
struct truth {
    const char *name, *uid;
    unsigned shape, version;
    const char *node, *nominated, *labels;
    bool terminating, gated;
    bool shown_on_node;  /* the scheduler was told of the node */
    const char *assumed; /* the node that the scheduler has put it on, not told otherwise yet */
    bool waits;          /* at Permit */
};

enum ask_kind { ASK_BIND, ASK_VOLUMES, ASK_EVICT, ASK_PERMIT };

struct ask {
    enum ask_kind kind;
    io_ticket ticket;
    const char *uid, *node;
};

struct engine {
    struct random_world w;
    struct setup setup;
    struct sched *sched;
    int64_t now_ms;
    uint64_t seed;
    unsigned n_uids, step;
    VEC(struct truth) pods;
    VEC(struct ask) asks;
    VEC(struct ask) new_asks;                     /* since the last look */
    VEC(struct ask) nominations;                  /* status changes to be echoed; node "" clears */
    const struct node *nodes[NODES_MAX];
    struct sched_counts total;
};

static inline struct truth *find_truth(struct engine *g, const char *uid)
{
    for (size_t i = 0; i < g->pods.n; i++)
        if (strcmp(g->pods.at[i].uid, uid) == 0)
            return &g->pods.at[i];
    return NULL;
}

static const char *keep(struct engine *g, const char *text)
{
    return arena_cstr(&g->w.texts, str_of(text));
}

static const char *keep_sym(struct engine *g, sym id)
{
    return arena_cstr(&g->w.texts, sym_text(g->w.syms, id));
}

/* ---- What the scheduler asks for ---- */

static inline int64_t io_now(void *context)
{
    return ((struct engine *)context)->now_ms;
}

static inline int64_t io_wall(void *context)
{
    return 1800000000 + ((struct engine *)context)->now_ms / 1000;
}

static inline void io_bind(void *context, io_ticket ticket, const struct pod *pod, sym node)
{
    struct engine *g = context;
    vec_push(&g->new_asks, (struct ask){ ASK_BIND, ticket, keep(g, pod->meta.uid), keep_sym(g, node) });
}

static inline void io_volumes(void *context, io_ticket ticket, const struct pod *pod, sym node,
                              const struct volume_decisions *d)
{
    struct engine *g = context;
    (void)d;
    vec_push(&g->new_asks, (struct ask){ ASK_VOLUMES, ticket, keep(g, pod->meta.uid), keep_sym(g, node) });
}

static inline void io_evict(void *context, io_ticket ticket, const struct pod *victim, const struct pod *preemptor)
{
    struct engine *g = context;
    (void)preemptor;
    vec_push(&g->asks, (struct ask){ ASK_EVICT, ticket, keep(g, victim->meta.uid), "" });
}

static inline void io_status(void *context, const struct status_change *change)
{
    struct engine *g = context;
    if (change->set_nomination)
        vec_push(&g->nominations, (struct ask){ .uid = keep(g, change->pod->meta.uid),
                                                .node = keep_sym(g, change->nomination) });
}

static inline void io_event(void *context, const struct event_note *note)
{
    (void)context;
    CHECK(note->note && note->reason);
}

/* ---- No overcommitment by the scheduler itself ---- */

static inline void check_amount(struct engine *g, const struct ask *ask, const char *what, int64_t want, int64_t used,
                                int64_t alloc)
{
    if (want > 0 && used > alloc)
        FAIL("seed %llu, step %u: %s of %s does not fit on %s: %lld used of %lld", (unsigned long long)g->seed, g->step,
             what, ask->uid, ask->node, (long long)used, (long long)alloc);
}

static inline bool filters_by_room(const struct profile *profile)
{
    for (uint8_t i = 0; i < profile->points[POINT_FILTER].n; i++)
        if (profile->points[POINT_FILTER].at[i]->plugin == &noderesourcesfit_plugin)
            return true;
    return false;
}

static inline void check_room(struct engine *g, const struct ask *ask)
{
    const struct cache *c = sched_cache(g->sched);
    const struct placed *p = cache_find_pod(c, ask->uid);
    CHECK(p && p->assumed);
    CHECK_STR(ask->uid, sym_text(c->syms, c->rows.at[p->node].name), str_of(ask->node));
    if (!filters_by_room(sched_profile(g->sched, p->pod->scheduler_name)))
        return;
    const struct amounts *r = p->pod->fit;
    node_id id = p->node;
    check_amount(g, ask, "pods", 1, c->col.n_pods[id], c->col.alloc_pods[id]);
    check_amount(g, ask, "cpu", r->milli_cpu, c->col.used_milli_cpu[id], c->col.alloc_milli_cpu[id]);
    check_amount(g, ask, "memory", r->memory, c->col.used_memory[id], c->col.alloc_memory[id]);
    check_amount(g, ask, "storage", r->ephemeral_storage, c->col.used_ephemeral[id], c->col.alloc_ephemeral[id]);
    for (uint32_t i = 0; i < r->n_scalars; i++) {
        const struct scalar_column *s = cache_scalar(c, r->scalars[i].name);
        check_amount(g, ask, "scalar", r->scalars[i].amount, s->used[id], s->alloc[id]);
    }
}

/* A pod that waits at Permit is on its node as well, though nothing went out yet. */
static inline void note_waiting(struct engine *g)
{
    for (size_t i = 0; i < g->sched->bindings.n; i++) {
        const struct binding *b = g->sched->bindings.at[i];
        struct truth *t = find_truth(g, b->pod->meta.uid);
        if (!b->waits_for || !t || t->waits || t->terminating || t->shown_on_node)
            continue;
        vec_push(&g->new_asks, (struct ask){ ASK_PERMIT, 0, t->uid, keep_sym(g, b->pod->node_name) });
        t->waits = true;
    }
}

/* Those whose time was over are off their nodes. */
static inline void note_timeouts(struct engine *g)
{
    for (size_t i = 0; i < g->pods.n; i++) {
        struct truth *t = &g->pods.at[i];
        if (!t->waits || bind_find(g->sched, t->uid))
            continue;
        t->waits = false;
        t->assumed = NULL;
    }
}

/* What was asked since the last look: these pods count on their nodes now. */
static inline void take_new_asks(struct engine *g, bool after_attempt)
{
    for (size_t i = 0; i < g->new_asks.n; i++) {
        struct ask *ask = &g->new_asks.at[i];
        struct truth *t = find_truth(g, ask->uid);
        if (after_attempt) {
            CHECK(t && !t->node);
            check_room(g, ask);
            t->assumed = ask->node;
        }
        vec_push(&g->asks, *ask);
    }
    vec_reset(&g->new_asks);
}

/* ---- Events ---- */

/* Shows the pod as it is. */
static inline void show(struct engine *g, struct truth *t)
{
    bool finished = !t->terminating && chance(&g->w, t->node ? 3 : 1);
    struct pod_text text = { .name = t->name, .uid = t->uid, .version = t->version, .node = t->node,
                             .nominated = t->nominated, .labels = t->labels, .terminating = t->terminating,
                             .finished = finished, .gated = t->gated };
    const struct pod *pod = pod_of_shape(&g->w, &g->w.shapes[t->shape], &text);
    sched_pod_set(g->sched, pod);
    pod_unref(g->w.syms, pod);
    if (t->node) {
        t->shown_on_node = true;
        t->assumed = NULL;
    }
    if (t->terminating && !t->node) { /* it will not be bound any more */
        t->assumed = NULL;
        t->waits = false;
    }
    if (finished)
        vec_remove_swap(&g->pods, (size_t)(t - g->pods.at));
}

static inline void create_pod(struct engine *g)
{
    struct random_world *w = &g->w;
    if (g->pods.n >= PODS_MAX)
        return;
    char name[16], uid[24];
    snprintf(name, sizeof(name), "p%u", below(w, PODS_MAX * 2));
    unsigned shape = below(w, N_SHAPES);
    for (size_t i = 0; i < g->pods.n; i++)
        if (strcmp(g->pods.at[i].name, name) == 0)
            return; /* the API server would refuse it */
    snprintf(uid, sizeof(uid), "u%u", g->n_uids++);
    struct truth t = { .name = keep(g, name), .uid = keep(g, uid), .shape = shape, .version = 1 };
    if (chance(w, 15))
        t.node = node_name_of(w, below(w, w->n_nodes));
    else if (chance(w, 5))
        t.nominated = node_name_of(w, below(w, w->n_nodes));
    t.gated = !t.node && chance(w, 10);
    vec_push(&g->pods, t);
    show(g, vec_last(&g->pods));
}

static inline struct truth *some_pod(struct engine *g)
{
    return g->pods.n ? &g->pods.at[below(&g->w, (unsigned)g->pods.n)] : NULL;
}

/* Other requests for a pod on a node; the rest of the shape comes along. */
static inline void resize(struct engine *g, struct truth *t)
{
    unsigned other = below(&g->w, N_SHAPES);
    const struct shape *from = &g->w.shapes[t->shape], *to = &g->w.shapes[other];
    if (t->shown_on_node && strcmp(from->ns, to->ns) == 0)
        t->shape = other;
}

static inline void update_pod(struct engine *g)
{
    struct truth *t = some_pod(g);
    if (!t)
        return;
    struct random_world *w = &g->w;
    t->version++;
    switch (below(w, 8)) {
    case 0:
        t->gated = false;
        break;
    case 1:
        t->terminating = true;
        break;
    case 2:
        if (!t->node)
            t->nominated = chance(w, 50) ? NULL : node_name_of(w, below(w, w->n_nodes));
        break;
    case 3:
        t->version--; /* a resync: nothing has changed */
        break;
    case 4:
        if (!t->node && !t->terminating && chance(w, 50))
            t->node = node_name_of(w, below(w, w->n_nodes)); /* someone else was faster */
        break;
    case 5:
        resize(g, t);
        break;
    default:
        t->labels = PICK(w, "'app':'a'", "'app':'b','tier':'x'", "");
    }
    show(g, t);
}

static inline void remove_truth(struct engine *g, struct truth *t)
{
    const char *uid = t->uid;
    vec_remove_swap(&g->pods, (size_t)(t - g->pods.at));
    sched_pod_removed(g->sched, uid);
}

static inline void change_node(struct engine *g)
{
    unsigned number = below(&g->w, g->w.n_nodes);
    const struct node *old = g->nodes[number];
    if (old && chance(&g->w, 25)) {
        g->nodes[number] = NULL;
        sched_node_removed(g->sched, old->name);
    } else {
        g->nodes[number] = random_node(&g->w, number);
        sched_node_set(g->sched, g->nodes[number]);
    }
    if (old)
        node_unref(g->w.syms, old);
}

static inline void change_object(struct engine *g)
{
    struct random_world *w = &g->w;
    static const char *const budget =
        "{'metadata':{'name':'b','namespace':'one'},'spec':{'selector':{'matchLabels':{'app':'a'}}},"
        "'status':{'disruptionsAllowed':%u}}";
    char json[256];
    switch (below(w, 4)) {
    case 0:
        snprintf(json, sizeof(json), budget, below(w, 3));
        set_object(w, g->sched, OBJECT_BUDGET, json);
        break;
    case 1:
        sched_object_removed(g->sched, OBJECT_BUDGET, sym_find(w->syms, STR("one")), STR("b"));
        break;
    case 2:
        sched_object_removed(g->sched, OBJECT_STORAGE_CLASS, SYM_EMPTY, STR("made"));
        break;
    default:
        set_static_objects(w, g->sched);
    }
}

/* ---- Answers ---- */

static inline void answer_bind(struct engine *g, const struct ask *ask)
{
    struct truth *t = find_truth(g, ask->uid);
    if (!t || t->node || t->terminating || chance(&g->w, 15)) {
        sched_bound(g->sched, ask->ticket, "the server said no");
        if (t && t->assumed)
            t->assumed = NULL;
        return;
    }
    t->node = ask->node;
    t->version++;
    bool watch_first = chance(&g->w, 30);
    if (watch_first)
        show(g, t); /* may end it */
    sched_bound(g->sched, ask->ticket, NULL);
    if (!watch_first && chance(&g->w, 70))
        show(g, t);
}

static inline void answer_volumes(struct engine *g, const struct ask *ask)
{
    bool fails = chance(&g->w, 30);
    struct truth *t = find_truth(g, ask->uid);
    sched_volumes_bound(g->sched, ask->ticket, fails ? "no volume" : NULL);
    if (fails && t)
        t->assumed = NULL;
}

static inline void answer_permit(struct engine *g, const struct ask *ask)
{
    struct truth *t = find_truth(g, ask->uid);
    const struct binding *b = bind_find(g->sched, ask->uid);
    if (!t || !t->waits || !b)
        return;
    bool allow = chance(&g->w, 70);
    const struct profile *profile = b->cycle.profile;
    t->waits = false;
    if (!allow)
        t->assumed = NULL;
    for (uint8_t i = 0; i < profile->n_instances; i++)
        if (profile->instances[i].plugin == &waiter_plugin)
            sched_permit(g->sched, ask->uid, &profile->instances[i], allow, allow ? NULL : "not now");
    if (!bind_find(g->sched, ask->uid)) /* what comes after Permit failed at once */
        t->assumed = NULL;
}

static inline void answer_eviction(struct engine *g, const struct ask *ask)
{
    struct truth *t = find_truth(g, ask->uid);
    bool fails = chance(&g->w, 20);
    sched_victim_done(g->sched, ask->ticket, fails ? "too many requests" : NULL);
    if (!t || fails)
        return;
    if (chance(&g->w, 50)) {
        remove_truth(g, t);
        return;
    }
    t->terminating = true;
    t->version++;
    show(g, t);
}

static inline void answer_one(struct engine *g)
{
    if (!g->asks.n)
        return;
    size_t i = below(&g->w, (unsigned)g->asks.n);
    struct ask ask = g->asks.at[i];
    vec_remove_swap(&g->asks, i);
    if (chance(&g->w, 3)) /* answers that nobody waits for */
        sched_bound(g->sched, ask.ticket + 1000000, NULL);
    if (ask.kind == ASK_BIND)
        answer_bind(g, &ask);
    else if (ask.kind == ASK_VOLUMES)
        answer_volumes(g, &ask);
    else if (ask.kind == ASK_PERMIT)
        answer_permit(g, &ask);
    else
        answer_eviction(g, &ask);
}

/* The API server has stored a nomination, or ended one, and the watch shows it. */
static inline void echo_nomination(struct engine *g)
{
    if (!g->nominations.n)
        return;
    struct ask change = g->nominations.at[0];
    vec_remove(&g->nominations, 0);
    struct truth *t = find_truth(g, change.uid);
    if (!t || t->node || chance(&g->w, 20))
        return;
    t->nominated = *change.node ? change.node : NULL;
    t->version++;
    show(g, t);
}

static inline void step(struct engine *g)
{
    unsigned dice = below(&g->w, 100);
    bool attempt = false;
    if (dice < 18)
        create_pod(g);
    else if (dice < 27)
        update_pod(g);
    else if (dice < 33 && g->pods.n)
        remove_truth(g, some_pod(g));
    else if (dice < 37)
        change_node(g);
    else if (dice < 39)
        change_object(g);
    else if (dice < 63)
        attempt = true;
    else if (dice < 83)
        answer_one(g);
    else if (dice < 90)
        echo_nomination(g);
    else {
        g->now_ms += below(&g->w, 4) ? below(&g->w, 1500) : below(&g->w, 60000);
        sched_tick(g->sched);
        note_timeouts(g);
    }
    if (attempt) {
        sched_run_once(g->sched);
        note_timeouts(g); /* preempted while they waited */
        note_waiting(g);
    }
    take_new_asks(g, attempt);
}

/* ---- Beginning and end ---- */

static inline void engine_init(struct engine *g, struct sym_table *syms, uint64_t seed)
{
    *g = (struct engine){ .seed = seed, .now_ms = 1000 };
    random_world_init(&g->w, syms, seed, seed % 4 ? FEW_NODES : NODES_MAX);
    if (setup_from_text(&g->setup, syms, config_of_seed(&g->w, seed), world_registry(), &g->w.e))
        FAIL("%s", g->w.e.message);
    g->setup.features.async_preemption = seed / 2 % 2;
    g->sched = sched_new(&(struct sched_options){
        .syms = syms,
        .profiles = g->setup.profiles,
        .n_profiles = g->setup.n_profiles,
        .features = g->setup.features,
        .io = { g, io_now, io_wall, io_bind, io_status, io_evict, io_event, io_volumes, NULL },
        .percentage_of_nodes_to_score = 100,
        .seed = seed,
    });
    set_static_objects(&g->w, g->sched);
}

static inline void engine_fini(struct engine *g)
{
    sched_free(g->sched);
    for (unsigned i = 0; i < NODES_MAX; i++)
        if (g->nodes[i])
            node_unref(g->w.syms, g->nodes[i]);
    vec_fini(&g->pods);
    vec_fini(&g->asks);
    vec_fini(&g->new_asks);
    vec_fini(&g->nominations);
    setup_fini(&g->setup);
    random_world_fini(&g->w);
}
