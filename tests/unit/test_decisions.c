/* Kept decisions: amid random events each says what an explanation ahead of the attempt said, to the score; keeping them
 * changes no decision; the ring has its bounds; queries find what they ask for. */
#include "codec/json_scan.h"
#include "insight/decisions_priv.h"
#include "plugins/plugins.h"
#include "tests/unit/asked_engine.h"
#include "tests/unit/sched_world.h"

enum { RUNS = 16, RUNS_IN_SOAK = 150, STEPS = 1200 };

/* ---- Against explanations ---- */

struct kept_run {
    struct asked a; /* first: the scheduler's context */
    struct decisions *decisions;
    unsigned n_placed, n_scored, n_rejected, n_preempting, n_groups_compared, n_general;
};

static const struct explained_node *find_node(const struct explanation *x, struct str name)
{
    for (uint32_t i = 0; i < x->n_compared; i++)
        if (str_is(name, x->nodes[i].name))
            return &x->nodes[i];
    FAIL("%.*s was not compared", STR_ARG(name));
    return NULL;
}

/* The best of all, with the scores that an explanation has. */
static void check_best(struct kept_run *r, const struct kept_decision *k, const struct explanation *x)
{
    uint32_t n = x->n_compared < DECISION_NODES_MAX ? x->n_compared : DECISION_NODES_MAX;
    const struct kept_node *nodes = kept_nodes(k);
    CHECK_INT("compared nodes that are kept", k->n_best, x->scored ? n : 0);
    for (uint8_t i = 0; i < k->n_best; i++) {
        struct str name = sym_text(r->decisions->syms, nodes[i].name);
        const struct explained_node *told = find_node(x, name);
        CHECK_INT(told->name, nodes[i].total, told->total);
        CHECK_INT("in order", nodes[i].total, x->nodes[i].total);
        CHECK_INT("plugins", k->n_plugins, x->n_plugins);
        for (uint8_t p = 0; p < k->n_plugins; p++)
            CHECK_INT(x->plugins[p].name, kept_scores(k)[i * k->n_plugins + p], told->scores[p]);
        for (uint8_t other = 0; other < i; other++)
            CHECK(nodes[other].name != nodes[i].name);
    }
    if (k->n_best)
        CHECK_STR("the first", sym_text(r->decisions->syms, nodes[0].name), str_of(x->chosen));
    r->n_scored += k->n_best > 0;
}

static bool same_group(const struct refusal_group *g, const struct explained_group *told)
{
    return g->code == told->code && strcmp(g->reason, told->reason) == 0 && g->n_nodes == told->n_nodes &&
           (!told->plugin || !g->plugin || strcmp(g->plugin, told->plugin) == 0);
}

static void check_groups(const struct refusal_block *b, const struct explanation *x)
{
    CHECK_INT("groups", b->n_groups, x->n_groups);
    for (uint32_t i = 0; i < x->n_groups; i++) {
        bool found = false;
        for (uint32_t k = 0; k < b->n_groups && !found; k++)
            found = same_group(&b->groups[k], &x->groups[i]);
        if (!found)
            FAIL("%s: \"%s\" for %u nodes is not kept", x->groups[i].plugin, x->groups[i].reason, x->groups[i].n_nodes);
    }
}

/* Whether nodes are refused for what they themselves are: then both count in the same way. */
static bool only_local(const struct explanation *x)
{
    static const char *const local[] = { "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts",
                                         "NodeResourcesFit" };
    for (uint32_t i = 0; i < x->n_groups; i++) {
        bool is_local = false;
        for (size_t k = 0; k < sizeof(local) / sizeof(*local); k++)
            is_local |= x->groups[i].plugin && strcmp(x->groups[i].plugin, local[k]) == 0;
        if (!is_local)
            return false;
    }
    return true;
}

static void check_choice(struct kept_run *r, const struct kept_decision *k, const struct explanation *x)
{
    const struct refusal_block *b = k->refusals;
    CHECK_INT("outcome", k->outcome, DECISION_PLACED);
    CHECK_STR("node", sym_text(r->decisions->syms, k->node), str_of(x->chosen));
    CHECK_INT("feasible", k->n_feasible, x->n_compared);
    CHECK(!b->message);
    CHECK(b->n_not_looked_at <= k->n_nodes - k->n_feasible);
    check_best(r, k, x);
    r->n_placed++;
    bool compares = b->n_not_looked_at == 0 && x->n_not_compared == 0 && only_local(x) &&
                    r->a.g.sched->nominator.by_node.n == 0;
    if (compares && x->n_refused) {
        check_groups(b, x);
        r->n_groups_compared++;
    }
    for (uint32_t i = 0; i < b->n_groups; i++)
        r->n_general += b->groups[i].plugin && strcmp(b->groups[i].plugin, "PodTopologySpread") == 0;
}

static void check_failure(struct kept_run *r, const struct kept_decision *k, const struct explanation *x)
{
    CHECK_INT("outcome", k->outcome, x->outcome == EXPLAINED_ERROR && strncmp(x->message, "no nodes", 8) != 0 ? DECISION_ERROR
                                     : x->preemption ? DECISION_PREEMPTING : DECISION_UNSCHEDULABLE);
    CHECK_TEXT("message", k->refusals->message, x->message);
    if (x->outcome == EXPLAINED_REJECTED && !x->pre_filter && k->refusals->n_groups)
        check_groups(k->refusals, x);
    r->n_rejected++;
    if (!x->preemption)
        return;
    CHECK_STR("node", sym_text(r->decisions->syms, k->node), str_of(x->preemption->node));
    CHECK_INT("victims", k->n_victims, x->preemption->n_victims);
    const char *victim = kept_victims(k);
    for (uint8_t i = 0; i < k->n_victims_kept; i++) {
        const struct explained_victim *told = &x->preemption->victims[i];
        CHECK_TEXT("victim", victim, arena_printf(&r->a.arena, "%s/%s", told->ns, told->name));
        victim += strlen(victim) + 1;
    }
    r->n_preempting++;
}

/* The decision of the attempt: others may have come after it, of bindings that failed at once. */
static const struct kept_decision *decision_of(struct kept_run *r, uint64_t n_before)
{
    uint64_t n_new = r->decisions->n_seen - n_before;
    CHECK(n_new > 0 && n_new <= r->decisions->n);
    const struct kept_decision *k = decisions_newest(r->decisions, (uint32_t)n_new - 1);
    CHECK_TEXT("pod", kept_uid(k), r->a.next_uid);
    return k;
}

static void check_step(struct kept_run *r)
{
    uint64_t n_before = r->decisions->n_seen;
    struct strbuf json;
    step_explained(&r->a);
    if (!r->a.next_uid)
        return;
    const struct kept_decision *k = decision_of(r, n_before);
    if (r->a.next.outcome == EXPLAINED_FITS)
        check_choice(r, k, &r->a.next);
    else
        check_failure(r, k, &r->a.next);
    strbuf_init(&json, STRBUF_NO_MAX);
    CHECK(decisions_add_of_pod(r->decisions, kept_uid(k), false, &json));
    struct err e;
    err_init(&e, &r->a.arena);
    CHECK(!json_check(strbuf_str(&json), &e));
    strbuf_fini(&json);
}

static uint64_t run_unwatched(struct sym_table *syms, uint64_t seed)
{
    struct engine g;
    engine_init(&g, syms, seed);
    for (g.step = 0; g.step < STEPS; g.step++)
        step(&g);
    uint64_t hash = sched_decision_hash(g.sched);
    engine_fini(&g);
    return hash;
}

/* Without questions, so that the quick way's own memory is what refusals are counted from. */
static uint64_t run_watched(struct sym_table *syms, uint64_t seed)
{
    struct engine g;
    engine_init(&g, syms, seed);
    struct decisions *d = decisions_new(g.sched, &(struct decisions_options){ .n_max = 64 });
    for (g.step = 0; g.step < STEPS; g.step++)
        step(&g);
    uint64_t hash = sched_decision_hash(g.sched);
    CHECK(decisions_counts(d).n <= 64);
    decisions_free(d);
    engine_fini(&g);
    return hash;
}

static uint64_t run_checked(struct sym_table *syms, uint64_t seed, struct kept_run *r)
{
    engine_init(&r->a.g, syms, seed);
    asked_init(&r->a, seed);
    r->decisions = decisions_new(r->a.g.sched, &(struct decisions_options){ 0 });
    for (r->a.g.step = 0; r->a.g.step < STEPS; r->a.g.step++)
        check_step(r);
    uint64_t hash = sched_decision_hash(r->a.g.sched);
    decisions_free(r->decisions);
    engine_fini(&r->a.g);
    asked_fini(&r->a);
    return hash;
}

TEST(decisions_say_what_explanations_say_and_change_nothing)
{
    uint64_t seed = seed_of_test(1);
    unsigned n = getenv("SEED") ? 1 : getenv("SOAK") ? RUNS_IN_SOAK : RUNS;
    struct kept_run *r = calloc(1, sizeof(*r));
    for (unsigned i = 0; i < n; i++) {
        struct sym_table syms;
        sym_init(&syms);
        uint64_t unwatched = run_unwatched(&syms, seed + i);
        uint32_t n_live = sym_n_live(&syms);
        if (run_watched(&syms, seed + i) != unwatched || run_checked(&syms, seed + i, r) != unwatched)
            FAIL("seed %llu: being watched led to other decisions", (unsigned long long)(seed + i));
        CHECK_INT("syms that nobody gave up", sym_n_live(&syms), n_live);
        sym_fini(&syms);
    }
    printf("%u placed (%u with scores, %u with refusals compared, %u with spreading), %u not, %u preempting\n", r->n_placed,
           r->n_scored, r->n_groups_compared, r->n_general, r->n_rejected, r->n_preempting);
    CHECK(r->n_scored > 0 && r->n_groups_compared > 0 && r->n_rejected > 0 && r->n_preempting > 0 && r->n_general > 0);
    free(r);
}
