/* Explanations one by one: what is said of pods with and without a node, and of whoever else has a
 * say. */
#include "sched/explain.h"
#include "sched/trial.h"
#include "tests/unit/sched_world.h"

struct fixture {
    struct sched_world w;
    struct arena arena;
    struct explanation x;
};

/* Just the node, by the quick way; NODE_NONE when none fits. */
static node_id trial_where(struct sched *s, const struct pod *pod)
{
    struct trial t;
    trial_begin(&t, s, pod, (struct attempt_wants){ 0 });
    trial_run(&t);
    node_id node = t.attempt.outcome == ATTEMPT_FITS ? t.attempt.node : NODE_NONE;
    trial_end(&t);
    return node;
}

static void begin(struct fixture *f)
{
    sched_world_init(&f->w);
    sched_world_add_plugin(&f->w, &schedulinggates_plugin, NULL, 0);
    arena_init(&f->arena);
}

static void finish(struct fixture *f)
{
    sched_world_close(&f->w);
    arena_fini(&f->arena);
}

/* n1 with 4 cpus, n2 with 8, n3 with 2. */
static void open_with_nodes(struct fixture *f)
{
    sched_world_open(&f->w);
    world_node(&f->w, "n1", "4", "");
    world_node(&f->w, "n2", "8", "");
    world_node(&f->w, "n3", "2", "");
}

static const struct pod *add_pod(struct fixture *f, const char *name, const char *node, int priority, const char *cpu,
                                 const char *spec)
{
    const struct pod *pod = world_pod(&f->w, name, node, priority, cpu, spec);
    sched_pod_set(f->w.sched, pod);
    return pod;
}

static void explain(struct fixture *f, const struct pod *pod)
{
    arena_reset(&f->arena);
    explain_pod(f->w.sched, pod, &f->arena, &f->x);
}

/* "n2=187 n1=175 | n3" */
static const char *ranking(struct fixture *f)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    for (uint32_t i = 0; i < f->x.n_compared; i++)
        strbuf_printf(&text, "%s=%lld ", f->x.nodes[i].name, (long long)f->x.nodes[i].total);
    strbuf_add_char(&text, '|');
    for (uint32_t i = f->x.n_compared; i < f->x.n_nodes; i++)
        strbuf_printf(&text, " %s", f->x.nodes[i].name);
    const char *copy = arena_cstr(&f->arena, strbuf_str(&text));
    strbuf_fini(&text);
    return copy;
}

TEST(a_new_pod_is_told_where_it_would_go)
{
    struct fixture f;
    begin(&f);
    open_with_nodes(&f);
    explain(&f, world_pod(&f.w, "p", NULL, 0, "3", ""));
    CHECK_INT("outcome", f.x.outcome, EXPLAINED_FITS);
    CHECK_TEXT("chosen", f.x.chosen, "n2");
    CHECK_TEXT("in order", ranking(&f), "n2=80 n1=61 | n3");
    CHECK(!f.x.node && !f.x.message && !f.x.not_tried && f.x.scored);
    CHECK_INT("plugins", f.x.n_plugins, 1);
    CHECK_TEXT("plugin", f.x.plugins[0].name, "NodeResourcesFit");
    CHECK_INT("score", f.x.nodes[1].scores[0], 61);
    CHECK_INT("groups", f.x.n_groups, 1);
    CHECK_TEXT("why not n3", f.x.groups[0].reason, "Insufficient cpu");
    CHECK_TEXT("who says so", f.x.groups[0].plugin, "NodeResourcesFit");
    CHECK_TEXT("where", f.x.groups[0].nodes[0], "n3");
    finish(&f);
}

TEST(a_pod_on_a_node_is_told_as_if_it_were_not)
{
    struct fixture f;
    begin(&f);
    open_with_nodes(&f);
    const struct pod *pod = add_pod(&f, "p", "n1", 0, "3", ""); /* twice would not fit there */
    explain(&f, pod);
    CHECK_TEXT("where it is", f.x.node, "n1");
    CHECK_TEXT("the better node", f.x.chosen, "n2");
    CHECK_TEXT("as without it", ranking(&f), "n2=80 n1=61 | n3");
    const struct cache *c = sched_cache(f.w.sched);
    CHECK_INT("it is back", c->col.used_milli_cpu[cache_find_node(c, world_sym(&f.w, "n1"))], 3000);
    CHECK_INT("the quick answer", trial_where(f.w.sched, pod), cache_find_node(c, world_sym(&f.w, "n2")));
    finish(&f);
}

/* Three pods on a row, two of which share a port. */
TEST(a_lifted_pod_comes_back_to_its_place)
{
    static const char port[] = "\"containers\":[{\"name\":\"c\",\"ports\":[{\"containerPort\":80,\"hostPort\":80}]}]";
    static const char *const names[] = { "a", "b", "c" };
    struct fixture f;
    begin(&f);
    open_with_nodes(&f);
    const struct pod *pods[3];
    for (int i = 0; i < 3; i++)
        pods[i] = add_pod(&f, names[i], "n1", 0, "1", i ? port : "");
    const struct cache *c = sched_cache(f.w.sched);
    const struct node_row *row = &c->rows.at[cache_find_node(c, world_sym(&f.w, "n1"))];
    CHECK_INT("ports", row->ports.n, 1);
    for (int i = 0; i < 3; i++) {
        explain(&f, pods[i]);
        CHECK_INT("pods", row->pods.n, 3);
        CHECK_INT("ports", row->ports.n, 1);
        for (uint32_t k = 0; k < 3; k++) {
            CHECK(row->pods.at[k]->pod == pods[k]);
            CHECK_INT("index", row->pods.at[k]->index, k);
            CHECK(cache_find_pod(c, pods[k]->meta.uid) == row->pods.at[k]);
        }
    }
    finish(&f);
}

static const struct {
    const char *what, *cpu, *spec;
    enum explained_outcome outcome;
    const char *message, *not_tried, *not_tried_plugin;
} stays[] = {
    { "too big", "9", "", EXPLAINED_REJECTED,
      "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 Preemption is not "
      "helpful for scheduling.",
      NULL, NULL },
    { "may not preempt", "9", "\"preemptionPolicy\":\"Never\"", EXPLAINED_REJECTED,
      "0/3 nodes are available: 3 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.", NULL,
      NULL },
    { "gated, and would fit", "1", "\"schedulingGates\":[{\"name\":\"g\"}]", EXPLAINED_FITS, NULL,
      "waiting for scheduling gates: [g]", "SchedulingGates" },
    { "of another scheduler", "1", "\"schedulerName\":\"other\"", EXPLAINED_ERROR,
      "profile not found for scheduler name \"other\"", "no profile is named \"other\" (spec.schedulerName)", NULL },
};

static void check_text(const char *what, const char *got, const char *want)
{
    CHECK_INT(what, got != NULL, want != NULL);
    if (want)
        CHECK_TEXT(what, got, want);
}

TEST(pods_that_stay_are_told_why)
{
    for (size_t i = 0; i < sizeof(stays) / sizeof(stays[0]); i++) {
        struct fixture f;
        begin(&f);
        open_with_nodes(&f);
        explain(&f, add_pod(&f, "p", NULL, 0, stays[i].cpu, stays[i].spec));
        CHECK_INT(stays[i].what, f.x.outcome, stays[i].outcome);
        check_text(stays[i].what, f.x.message, stays[i].message);
        check_text(stays[i].what, f.x.not_tried, stays[i].not_tried);
        check_text(stays[i].what, f.x.not_tried_plugin, stays[i].not_tried_plugin);
        CHECK_INT(stays[i].what, trial_where(f.w.sched, vec_last(&f.w.pods)[0]) == NODE_NONE,
                  stays[i].outcome != EXPLAINED_FITS);
        finish(&f);
    }
}

TEST(without_nodes_there_is_an_error)
{
    struct fixture f;
    begin(&f);
    sched_world_open(&f.w);
    explain(&f, add_pod(&f, "p", NULL, 0, "1", ""));
    CHECK_INT("outcome", f.x.outcome, EXPLAINED_ERROR);
    CHECK_TEXT("message", f.x.message, "no nodes available to schedule pods");
    CHECK_INT("nodes", f.x.n_nodes, 0);
    finish(&f);
}

TEST(preemption_is_told_and_not_done)
{
    struct fixture f;
    begin(&f);
    open_with_nodes(&f);
    add_pod(&f, "low", "n2", 0, "5", "");
    add_pod(&f, "mid", "n1", 5, "3", "");
    const struct pod *high = add_pod(&f, "high", NULL, 9, "4", "");
    explain(&f, high);
    CHECK_INT("outcome", f.x.outcome, EXPLAINED_REJECTED);
    CHECK(f.x.preemption);
    CHECK_TEXT("where", f.x.preemption->node, "n2");
    CHECK_INT("candidates", f.x.preemption->n_candidates, 2);
    CHECK_INT("victims", f.x.preemption->n_victims, 1);
    CHECK_TEXT("victim", f.x.preemption->victims[0].name, "low");
    CHECK_INT("its priority", f.x.preemption->victims[0].priority, 0);
    CHECK_TEXT("nothing went out", world_log(&f.w), "");
    CHECK(nominator_node_of(sched_nominator(f.w.sched), high->meta.uid) == SYM_EMPTY);
    CHECK_INT("attempts", sched_counts(f.w.sched).attempts, 0);
    finish(&f);
}

TEST(a_promised_node_settles_it)
{
    struct fixture f;
    begin(&f);
    open_with_nodes(&f);
    const struct pod *plain = world_pod(&f.w, "p", NULL, 0, "1", "");
    const struct pod *pod = pod_with_nomination(&f.w.syms, plain, world_sym(&f.w, "n3"));
    explain(&f, pod);
    CHECK_TEXT("chosen", f.x.chosen, "n3");
    CHECK_TEXT("promised", f.x.nominated, "n3");
    CHECK(f.x.nominated_used && !f.x.scored);
    CHECK_INT("others fit too", f.x.n_not_compared, 2);
    CHECK_INT("quick", trial_where(f.w.sched, pod), cache_find_node(sched_cache(f.w.sched), world_sym(&f.w, "n3")));
    pod_unref(&f.w.syms, pod);
    finish(&f);
}

/* What it was promised on its way to its node is over. */
TEST(a_promise_to_a_pod_with_a_node_is_over)
{
    struct fixture f;
    begin(&f);
    open_with_nodes(&f);
    const struct pod *plain = world_pod(&f.w, "p", "n3", 0, "1", "");
    const struct pod *pod = pod_with_nomination(&f.w.syms, plain, world_sym(&f.w, "n3"));
    sched_pod_set(f.w.sched, pod);
    explain(&f, pod);
    CHECK_TEXT("chosen", f.x.chosen, "n2");
    CHECK(!f.x.nominated && !f.x.nominated_used && f.x.scored);
    pod_unref(&f.w.syms, pod);
    finish(&f);
}

TEST(nodes_beyond_the_search_are_told_apart)
{
    enum { N_NODES = 300 };
    struct fixture f;
    begin(&f);
    f.w.percentage_of_nodes_to_score = 40;
    sched_world_open(&f.w);
    for (int i = 0; i < N_NODES; i++)
        world_node(&f.w, arena_printf(&f.w.arena, "n%d", i), i % 10 ? "4" : "1", "");
    for (int i = 0; i < 20; i++) {
        const struct pod *pod = add_pod(&f, arena_printf(&f.w.arena, "p%d", i), NULL, 0, "2", "");
        explain(&f, pod);
        CHECK_INT("compared", f.x.n_compared, N_NODES * 40 / 100);
        CHECK_INT("refused", f.x.n_refused >= N_NODES / 10, true);
        CHECK_INT("all", f.x.n_compared + f.x.n_not_compared + f.x.n_refused, N_NODES);
        CHECK(sched_run_once(f.w.sched));
        const struct placed *p = cache_find_pod(sched_cache(f.w.sched), pod->meta.uid);
        CHECK(p);
        CHECK_STR("as the scheduler chose", sym_text(&f.w.syms, p->pod->node_name), str_of(f.x.chosen));
    }
    finish(&f);
}

TEST(nodes_that_prefilter_left_out_are_told_so)
{
    static const struct node_affinity_args args;
    struct fixture f;
    begin(&f);
    sched_world_add_plugin(&f.w, &nodeaffinity_plugin, &args, 1);
    open_with_nodes(&f);
    explain(&f, add_pod(&f, "p", NULL, 0, "1",
                        "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
                        "\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
                        "\"values\":[\"n3\"]}]}]}}}"));
    CHECK_TEXT("chosen", f.x.chosen, "n3");
    CHECK_INT("groups", f.x.n_groups, 1);
    CHECK_TEXT("reason", f.x.groups[0].reason, "node(s) didn't satisfy plugin(s) [NodeAffinity]");
    CHECK_TEXT("plugin", f.x.groups[0].plugin, "NodeAffinity");
    CHECK_INT("nodes", f.x.groups[0].n_nodes, 2);
    CHECK(!f.x.scored && !f.x.pre_filter);
    finish(&f);
}

TEST(a_pod_that_prefilter_refuses_is_told_so)
{
    struct fixture f;
    begin(&f);
    sched_world_add_plugin(&f.w, &dynamicresources_plugin, NULL, 1);
    open_with_nodes(&f);
    explain(&f, add_pod(&f, "p", NULL, 0, "1", "\"resourceClaims\":[{\"name\":\"c\",\"resourceClaimName\":\"c\"}]"));
    CHECK_INT("outcome", f.x.outcome, EXPLAINED_REJECTED);
    CHECK_TEXT("who", f.x.pre_filter, "DynamicResources");
    CHECK_INT("every node has the reason", f.x.n_refused, 3);
    CHECK_INT("in one group", f.x.n_groups, 1);
    CHECK_TEXT("of the plugin", f.x.groups[0].plugin, "DynamicResources");
    finish(&f);
}

/* There is no function to call: asking would end the test. */
TEST(extenders_are_not_asked)
{
    struct extender x = { .url_prefix = "http://x", .verbs = { [EXTENDER_FILTER] = "filter" } };
    struct fixture f;
    begin(&f);
    f.w.extenders[f.w.n_extenders++] = &x;
    open_with_nodes(&f);
    const struct pod *pod = add_pod(&f, "p", NULL, 0, "1", "");
    explain(&f, pod);
    CHECK_INT("said so", f.x.n_extenders, 1);
    CHECK_TEXT("chosen", f.x.chosen, "n2");
    CHECK(trial_where(f.w.sched, pod) != NODE_NONE);
    finish(&f);
}

TEST(an_explanation_outlives_the_cluster)
{
    struct fixture f;
    begin(&f);
    open_with_nodes(&f);
    explain(&f, add_pod(&f, "p", "n1", 0, "3", ""));
    sched_pod_removed(f.w.sched, "uid-p");
    sched_node_removed(f.w.sched, world_sym(&f.w, "n3"));
    trial_where(f.w.sched, world_pod(&f.w, "q", NULL, 0, "1", ""));
    CHECK_TEXT("still", ranking(&f), "n2=80 n1=61 | n3");
    CHECK_TEXT("reason", f.x.nodes[2].refusal->reasons[0], "Insufficient cpu");
    finish(&f);
}
