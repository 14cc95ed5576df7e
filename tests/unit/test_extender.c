/* Extenders: who is asked about what, and what becomes of the answers. The outside is a script. */
#include "tests/unit/sched_world.h"

/* Answers in the order of the calls; all calls as lines in the log. */
static struct {
    struct sched_world *w;
    struct extender_answer answers[8];
    uint32_t n_asked;
} script;

static void log_nodes(struct strbuf *log, struct sched_world *w, const struct extender_request *r)
{
    for (uint32_t i = 0; i < r->n_nodes; i++)
        strbuf_printf(log, " %s", sym_text(&w->syms, r->nodes[i]).p);
    for (uint32_t i = 0; i < r->n_victims; i++) {
        strbuf_printf(log, " %s:", sym_text(&w->syms, r->victims[i].node).p);
        for (uint32_t k = 0; k < r->victims[i].n_pods; k++)
            strbuf_printf(log, "%s%s", k ? "," : "", r->victims[i].pods[k]->meta.name);
    }
    if (r->verb == EXTENDER_BIND)
        strbuf_printf(log, " %s", sym_text(&w->syms, r->pod->node_name).p);
}

static void call_extender(void *context, const struct extender_request *requests, uint32_t n,
                          struct extender_answer *ret_answers)
{
    struct sched_world *w = context;
    for (uint32_t i = 0; i < n; i++) {
        const struct extender_request *r = &requests[i];
        strbuf_printf(&w->log, "%s/%s %s", r->extender->url_prefix, r->extender->verbs[r->verb], r->pod->meta.name);
        log_nodes(&w->log, w, r);
        strbuf_add_char(&w->log, '\n');
        if (r->verb == EXTENDER_BIND)
            vec_push(&w->tickets, r->ticket);
        else
            ret_answers[i] = script.answers[script.n_asked++];
    }
}

/* ---- Worlds ---- */

static struct extender filtering(const char *url)
{
    return (struct extender){ .url_prefix = url, .verbs = { [EXTENDER_FILTER] = "filter" }, .node_cache_capable = true };
}

static struct extender scoring(const char *url, int64_t weight)
{
    return (struct extender){ .url_prefix = url, .verbs = { [EXTENDER_PRIORITIZE] = "prioritize" }, .weight = weight };
}

static struct extender preempting(const char *url)
{
    return (struct extender){ .url_prefix = url, .verbs = { [EXTENDER_PREEMPT] = "preempt" } };
}

static struct extender binding(const char *url)
{
    return (struct extender){ .url_prefix = url, .verbs = { [EXTENDER_BIND] = "bind" } };
}

/* n nodes n1, n2, ... of 4 cpus and one or two extenders. */
static void begin(struct sched_world *w, int n_nodes, struct extender *x, struct extender *y)
{
    sched_world_init(w);
    memset(&script, 0, sizeof(script));
    script.w = w;
    w->io.call_extender = call_extender;
    if (x)
        w->extenders[w->n_extenders++] = x;
    if (y)
        w->extenders[w->n_extenders++] = y;
    sched_world_open(w);
    for (int i = 1; i <= n_nodes; i++)
        world_node(w, arena_printf(&w->arena, "n%d", i), "4", "");
}

#define NAMES(...)                                                                         \
    (struct extender_names)                                                                \
    {                                                                                      \
        (const struct str[]){ __VA_ARGS__ }, sizeof((const struct str[]){ __VA_ARGS__ }) / sizeof(struct str), true \
    }

static void attempt(struct sched_world *w, struct attempt *a)
{
    attempt_run(w->sched, a, world_pod(w, "p", NULL, 0, "1", ""), (struct attempt_wants){ .reasons = true });
}

static const char *feasible(struct sched_world *w, const struct attempt *a)
{
    const char *text = "";
    for (uint32_t i = 0; i < a->n_feasible; i++)
        text = arena_printf(&w->arena, "%s%s%s", text, i ? " " : "",
                            sym_text(&w->syms, sched_cache(w->sched)->rows.at[a->feasible[i]].name).p);
    return text;
}

static const char *chosen(struct sched_world *w, const struct attempt *a)
{
    return sym_text(&w->syms, sched_cache(w->sched)->rows.at[a->node].name).p;
}

/* ---- Interest ---- */

TEST(an_extender_is_interested_in_pods_that_name_its_resources)
{
    static const struct {
        const char *name, *managed, *containers, *init;
        bool interested;
    } rows[] = {
        { "nothing managed is everything", NULL, "{\"name\":\"c\"}", "", true },
        { "no resources", "example.com/gpu", "{\"name\":\"c\"}", "", false },
        { "in requests", "example.com/gpu", "{\"name\":\"c\",\"resources\":{\"requests\":{\"example.com/gpu\":\"1\"}}}", "",
          true },
        { "an amount of zero counts too", "example.com/gpu",
          "{\"name\":\"c\",\"resources\":{\"requests\":{\"example.com/gpu\":\"0\"}}}", "", true },
        { "in limits", "example.com/gpu", "{\"name\":\"c\",\"resources\":{\"limits\":{\"example.com/gpu\":\"1\"}}}", "",
          true },
        { "of an init container", "example.com/gpu", "{\"name\":\"c\"}",
          "{\"name\":\"i\",\"resources\":{\"limits\":{\"example.com/gpu\":\"1\"}}}", true },
        { "another resource", "example.com/gpu",
          "{\"name\":\"c\",\"resources\":{\"limits\":{\"example.com/fpga\":\"1\",\"cpu\":\"1\"}}}", "", false },
        { "the second container", "example.com/gpu",
          "{\"name\":\"c\"},{\"name\":\"d\",\"resources\":{\"requests\":{\"a.b/c\":\"1\",\"example.com/gpu\":\"1\"}}}", "",
          true },
    };
    struct sched_world w;
    begin(&w, 0, NULL, NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        sym managed = rows[i].managed ? world_sym(&w, rows[i].managed) : SYM_EMPTY;
        struct extender x = { .managed_resources = &managed, .n_managed_resources = rows[i].managed != NULL };
        const char *json = arena_printf(&w.arena,
                                        "{\"metadata\":{\"name\":\"p\",\"uid\":\"u\"},\"spec\":{\"containers\":[%s],"
                                        "\"initContainers\":[%s]}}",
                                        rows[i].containers, rows[i].init);
        CHECK_INT(rows[i].name, extender_is_interested(&x, world_pod_of(&w, json)), rows[i].interested);
    }
    sched_world_close(&w);
}

/* ---- Filter ---- */

TEST(extenders_shorten_the_list_one_after_the_other)
{
    struct sched_world w;
    struct extender x = filtering("http://x"), y = filtering("http://y");
    begin(&w, 4, &x, &y);
    script.answers[0].node_names = NAMES(STR("n3"), STR("n1"), STR("n4"));
    script.answers[1].node_names = NAMES(STR("n4"), STR("n3"), STR("n4"));
    struct attempt a;
    attempt(&w, &a);
    CHECK_TEXT("calls", world_log(&w), "http://x/filter p n1 n2 n3 n4\nhttp://y/filter p n3 n1 n4\n");
    CHECK_TEXT("in the extender's order, without repeats", feasible(&w, &a), "n4 n3");
    CHECK_INT("outcome", a.outcome, ATTEMPT_FITS);
    CHECK(!a.bare_nodes);
    sched_world_close(&w);
}

TEST(extenders_without_the_verb_or_interest_are_not_asked)
{
    struct sched_world w;
    struct extender x = filtering("http://x"), y = filtering("http://y");
    begin(&w, 2, &x, &y);
    sym gpu = world_sym(&w, "example.com/gpu");
    x.managed_resources = &gpu;
    x.n_managed_resources = 1;
    y.verbs[EXTENDER_FILTER] = "";
    struct attempt a;
    attempt(&w, &a);
    CHECK_TEXT("calls", world_log(&w), "");
    CHECK_TEXT("all stay", feasible(&w, &a), "n1 n2");
    CHECK(!(a.rejectors >> PLUGIN_EXTENDERS & 1));
    sched_world_close(&w);
}

TEST(no_extender_is_asked_about_nothing)
{
    struct sched_world w;
    struct extender x = filtering("http://x"), y = filtering("http://y");
    begin(&w, 2, &x, &y);
    script.answers[0].node_names = (struct extender_names){ .given = true };
    struct attempt a;
    attempt(&w, &a);
    CHECK_TEXT("calls", world_log(&w), "http://x/filter p n1 n2\n");
    CHECK_INT("outcome", a.outcome, ATTEMPT_REJECTED);
    CHECK_TEXT("nodes without a word count silently", attempt_fit_error(&a, NULL), "0/2 nodes are available:");
    CHECK(a.rejectors >> PLUGIN_EXTENDERS & 1);
    sched_world_close(&w);
}

TEST(what_a_filter_answer_leaves)
{
    static const struct str n1[] = { STR("n1") }, n3[] = { STR("n3") }, stranger[] = { STR("n\"9") };
    static const struct {
        const char *name;
        bool capable, ignorable;
        struct extender_answer answer;
        const char *feasible, *error;
        bool bare;
    } rows[] = {
        { "names", true, false, { .node_names = { n1, 1, true } }, "n1", NULL, false },
        { "names are not read from one that wants objects", false, false, { .node_names = { n1, 1, true } }, "", NULL,
          false },
        { "objects", false, false, { .nodes = { n1, 1, true } }, "n1", NULL, true },
        { "objects from one that was given names", true, false, { .nodes = { n1, 1, true } }, "n1", NULL, true },
        { "names win over objects", true, false, { .node_names = { n1, 1, true }, .nodes = { n3, 1, true } }, "n1", NULL,
          false },
        { "neither leaves nothing", true, false, { 0 }, "", NULL, false },
        { "an object that was not asked about", false, false, { .nodes = { n3, 1, true } }, "n3", NULL, true },
        { "a name that was not asked about", true, false, { .node_names = { n3, 1, true } }, NULL,
          "extender \"http://x\" claims a filtered node \"n3\" which is not found in the input node list", false },
        { "a name that nobody knows", true, false, { .node_names = { stranger, 1, true } }, NULL,
          "extender \"http://x\" claims a filtered node \"n\\\"9\" which is not found in the input node list", false },
        { "the same, ignored", true, true, { .node_names = { stranger, 1, true } }, "n1 n2", NULL, false },
        { "an error", true, false, { .error = "boom", .node_names = { n1, 1, true } }, NULL, "boom", false },
        { "an error, ignored", true, true, { .error = "boom" }, "n1 n2", NULL, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sched_world w;
        struct extender x = filtering("http://x");
        x.node_cache_capable = rows[i].capable;
        x.ignorable = rows[i].ignorable;
        begin(&w, 2, &x, NULL);
        world_node(&w, "n3", "100m", ""); /* does not fit */
        script.answers[0] = rows[i].answer;
        struct attempt a;
        attempt(&w, &a);
        CHECK_INT(rows[i].name, a.outcome == ATTEMPT_ERROR, rows[i].error != NULL);
        if (rows[i].error)
            CHECK_TEXT(rows[i].name, a.error, rows[i].error);
        else
            CHECK_TEXT(rows[i].name, feasible(&w, &a), rows[i].feasible);
        CHECK_INT(rows[i].name, a.bare_nodes, rows[i].bare);
        sched_world_close(&w);
    }
}

TEST(failed_nodes_give_their_reasons)
{
    static const struct extender_failure failed[] = {
        { STR("n1"), "no gpu" }, { STR("n2"), "no gpu" }, { STR("n3"), "no gpu" }, { STR("elsewhere"), "no gpu" } };
    static const struct extender_failure unresolvable[] = { { STR("n2"), "never" } };
    struct sched_world w;
    struct extender x = filtering("http://x");
    begin(&w, 2, &x, NULL);
    world_node(&w, "n3", "100m", "");
    world_node(&w, "n4", "100m", "");
    script.answers[0] = (struct extender_answer){ .node_names.given = true, .failed = failed, .n_failed = 4,
                                                  .unresolvable = unresolvable, .n_unresolvable = 1 };
    struct attempt a;
    attempt(&w, &a);
    CHECK_TEXT("its words replace those of plugins", attempt_fit_error(&a, NULL),
               "0/4 nodes are available: 1 Insufficient cpu, 1 never, 2 no gpu.");
    CHECK_INT("failed", a.statuses[cache_find_node(a.cycle.cache, world_sym(&w, "n1"))].verdict.code, V_UNSCHEDULABLE);
    CHECK_INT("unresolvable wins", a.statuses[cache_find_node(a.cycle.cache, world_sym(&w, "n2"))].verdict.code,
              V_UNRESOLVABLE);
    CHECK(a.rejectors >> PLUGIN_EXTENDERS & 1);
    CHECK(a.rejectors >> 2 & 1); /* NodeResourcesFit on n4 */
    sched_world_close(&w);
}

TEST(only_nodes_that_were_searched_are_worded)
{
    struct sched_world w;
    struct extender x = filtering("http://x");
    begin(&w, 0, &x, NULL);
    for (int i = 0; i < 150; i++)
        world_node(&w, arena_printf(&w.arena, "m%d", i), i < 120 ? "4" : "100m", "");
    script.answers[0] = (struct extender_answer){ .node_names.given = true };
    struct attempt a;
    w.sched->percentage_of_nodes_to_score = 1; /* 100 nodes are the least */
    attempt(&w, &a);
    CHECK_TEXT("the search ended before the small nodes", attempt_fit_error(&a, NULL), "0/150 nodes are available:");
    sched_world_close(&w);
}

TEST(a_promised_node_that_an_extender_refuses_is_one_of_all)
{
    static const char *const names[] = { "refused", "failed" };
    for (int fails = 0; fails < 2; fails++) {
        struct sched_world w;
        struct extender x = filtering("http://x");
        begin(&w, 3, &x, NULL);
        if (fails)
            script.answers[0].error = "boom";
        else
            script.answers[0].node_names.given = true;
        script.answers[1].node_names = NAMES(STR("n3"), STR("n1"), STR("n2"));
        const struct pod *plain = world_pod(&w, "p", NULL, 0, "1", "");
        const struct pod *promised = pod_with_nomination(&w.syms, plain, world_sym(&w, "n2"));
        vec_push(&w.pods, promised);
        struct attempt a;
        attempt_run(w.sched, &a, promised, (struct attempt_wants){ .reasons = true });
        CHECK_TEXT(names[fails], world_log(&w), "http://x/filter p n2\nhttp://x/filter p n1 n2 n3\n");
        CHECK_INT(names[fails], a.outcome, ATTEMPT_FITS);
        CHECK_TEXT(names[fails], feasible(&w, &a), "n3 n1 n2");
        sched_world_close(&w);
    }
}

TEST(one_fitting_node_is_not_enough_for_extenders_that_compare)
{
    static const struct {
        const char *name;
        enum extender_verb verb;
        bool compares;
    } rows[] = { { "filter", EXTENDER_FILTER, true },
                 { "prioritize", EXTENDER_PRIORITIZE, true },
                 { "preempt", EXTENDER_PREEMPT, false },
                 { "bind", EXTENDER_BIND, false } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct extender x = { 0 }, *all[] = { &x };
        x.verbs[rows[i].verb] = "verb";
        struct sched s = { .extenders = all, .n_extenders = 1 };
        CHECK_INT(rows[i].name, extenders_compare(&s), rows[i].compares);
    }
}

/* ---- Scores ---- */

TEST(scores_count_ten_times_their_weight)
{
    static const struct extender_score by_x[] = { { STR("n1"), 3 }, { STR("n2"), 1 }, { STR("n2"), 1 }, { STR("no"), 9 } };
    static const struct extender_score by_y[] = { { STR("n3"), INT64_MAX }, { STR("n1"), -1 } };
    struct sched_world w;
    struct extender x = scoring("http://x", 2), y = scoring("http://y", 1);
    begin(&w, 3, &x, &y);
    struct attempt before, a;
    script.answers[0].error = "boom";
    script.answers[1].error = "boom";
    attempt(&w, &before);
    CHECK_INT("errors are ignored", before.outcome, ATTEMPT_FITS);
    int64_t plain[3] = { before.totals[0], before.totals[1], before.totals[2] };
    script.answers[2] = (struct extender_answer){ .scores = by_x, .n_scores = 4 };
    script.answers[3] = (struct extender_answer){ .scores = by_y, .n_scores = 2 };
    attempt(&w, &a);
    CHECK_INT("of both", a.totals[0] - plain[0], 3 * 2 * 10 - 10);
    CHECK_INT("given twice", a.totals[1] - plain[1], 2 * 2 * 10);
    CHECK_INT("wraps around", a.totals[2], (int64_t)((uint64_t)plain[2] + (uint64_t)INT64_MAX * 10));
    CHECK_TEXT("winner", chosen(&w, &a), "n1");
    sched_world_close(&w);
}

TEST(equal_nodes_that_an_extender_named_are_drawn)
{
    static const struct extender_score some[] = { { STR("n2"), 0 }, { STR("n4"), 0 } };
    static const struct {
        const char *name;
        struct extender_answer answer;
        bool scores;
        const char *possible;
    } rows[] = {
        { "only those that were named", { .scores = some, .n_scores = 2 }, true, "n2 n4" },
        { "nobody was named: the first of the heap", { .n_scores = 0 }, true, "n1" },
        { "a failed answer names nobody", { .error = "boom", .scores = some, .n_scores = 2 }, true, "n1" },
        { "an extender that does not score names all", { 0 }, false, "n1 n2 n3 n4" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sched_world w;
        struct extender x = rows[i].scores ? scoring("http://x", 1) : binding("http://x");
        begin(&w, 4, &x, NULL);
        int n_chosen[5] = { 0 };
        for (int k = 0; k < 200; k++) {
            script.n_asked = 0;
            script.answers[0] = rows[i].answer;
            w.sched->start_index = 0;
            struct attempt a;
            attempt(&w, &a);
            n_chosen[chosen(&w, &a)[1] - '0']++;
        }
        for (int k = 1; k <= 4; k++) {
            bool possible = strstr(rows[i].possible, arena_printf(&w.arena, "n%d", k)) != NULL;
            CHECK_INT(rows[i].name, n_chosen[k] > 20, possible);
        }
        sched_world_close(&w);
    }
}

TEST(an_uninterested_extender_does_not_touch_ties)
{
    struct sched_world w;
    struct extender x = scoring("http://x", 1);
    begin(&w, 4, &x, NULL);
    sym gpu = world_sym(&w, "example.com/gpu");
    x.managed_resources = &gpu;
    x.n_managed_resources = 1;
    for (int k = 0; k < 50; k++) {
        struct attempt a;
        w.sched->start_index = 0;
        attempt(&w, &a);
        CHECK_TEXT("first of the heap", chosen(&w, &a), "n1");
    }
    CHECK_TEXT("calls", world_log(&w), "");
    sched_world_close(&w);
}

TEST(node_objects_are_scored_without_their_pods)
{
    for (int objects = 0; objects < 2; objects++) {
        struct sched_world w;
        struct extender x = filtering("http://x");
        begin(&w, 2, &x, NULL);
        sched_pod_set(w.sched, world_pod(&w, "big", "n1", 0, "3", ""));
        *(objects ? &script.answers[0].nodes : &script.answers[0].node_names) = NAMES(STR("n1"), STR("n2"));
        struct attempt a;
        attempt(&w, &a);
        CHECK_INT(objects ? "objects: both look empty" : "names: one is full", a.totals[0] == a.totals[1], objects);
        sched_world_close(&w);
    }
}

/* ---- Victims ---- */

TEST(extenders_replace_the_candidates)
{
    static const struct str v2[] = { STR("uid-v2") }, stranger[] = { STR("uid-v1") };
    static const struct extender_meta_victims n2[] = { { STR("n2"), v2, 1, 0 } };
    static const struct extender_meta_victims unknown[] = { { STR("n7"), v2, 1, 0 } };
    static const struct extender_meta_victims wrong[] = { { STR("n2"), stranger, 1, 0 } };
    static const struct extender_meta_victims none[] = { { STR("n1"), NULL, 0, 0 }, { STR("n2"), v2, 1, 0 } };
    static const struct {
        const char *name;
        bool ignorable;
        struct extender_answer answer;
        const char *log;
    } rows[] = {
        { "its choice", false, { .victims = n2, .n_victims = 1 }, "evict v2 for p\n" },
        { "nothing", false, { 0 }, "preemption: no candidate node for preemption" },
        { "a node that is not there", false, { .victims = unknown, .n_victims = 1 },
          "preemption: nodeinfo not found for node name \"n7\"" },
        { "a pod that is not there", false, { .victims = wrong, .n_victims = 1 },
          "preemption: extender: http://x claims to preempt pod (UID: &{uid-v1}) on node: n2, but the pod is not found on "
          "that node" },
        { "the same, ignored", true, { .victims = wrong, .n_victims = 1 }, "evict v1 for p\n" },
        { "a node without victims", false, { .victims = none, .n_victims = 2 },
          "preemption: expected at least one victim pod on node \"n1\"" },
        { "the same, dropped", true, { .victims = none, .n_victims = 2 }, "evict v2 for p\n" },
        { "an error", false, { .error = "boom" }, "preemption: boom" },
        { "an error, ignored", true, { .error = "boom" }, "evict v1 for p\n" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sched_world w;
        struct extender x = preempting("http://x");
        x.ignorable = rows[i].ignorable;
        begin(&w, 2, &x, NULL);
        sched_pod_set(w.sched, world_pod(&w, "v1", "n1", 1, "4", ""));
        sched_pod_set(w.sched, world_pod(&w, "v2", "n2", 5, "4", ""));
        script.answers[0] = rows[i].answer;
        sched_pod_set(w.sched, world_pod(&w, "p", NULL, 10, "2", ""));
        CHECK(sched_run_once(w.sched));
        const char *log = world_log(&w);
        if (!strstr(log, rows[i].log))
            FAIL("%s: %s lacks %s", rows[i].name, log, rows[i].log);
        if (!strstr(log, "http://x/preempt p n1:v1 n2:v2\n") && !strstr(log, "http://x/preempt p n2:v2 n1:v1\n"))
            FAIL("%s: %s", rows[i].name, log);
        CHECK_INT("evicts", strstr(log, "evict ") != NULL, strstr(rows[i].log, "evict ") != NULL);
        sched_world_close(&w);
    }
}

TEST(no_candidate_left_keeps_what_was_promised)
{
    struct sched_world w;
    struct extender x = preempting("http://x"), y = preempting("http://y");
    begin(&w, 1, &x, &y);
    sched_pod_set(w.sched, world_pod(&w, "v1", "n1", 1, "4", ""));
    const struct pod *plain = world_pod(&w, "p", NULL, 10, "2", "");
    const struct pod *promised = pod_with_nomination(&w.syms, plain, world_sym(&w, "n1"));
    vec_push(&w.pods, promised);
    struct attempt a;
    const char *message;
    attempt_run(w.sched, &a, promised, (struct attempt_wants){ .reasons = true });
    attempt_post_filter(&a, &message);
    CHECK_TEXT("message", message, "preemption: no candidate node for preemption");
    CHECK_INT("nomination stays", a.cycle.nominate, SYM_NONE);
    CHECK_TEXT("the second is not asked", world_log(&w), "http://x/preempt p n1:v1\n");
    sched_world_close(&w);
}

/* ---- Binding ---- */

TEST(who_binds)
{
    static const struct {
        const char *name;
        bool ignorable;
        const char *error, *log;
    } rows[] = {
        { "the extender", false, NULL, "http://x/bind p n1\nevent Normal Scheduled Successfully assigned default/p to n1\n" },
        { "its error is the pod's", false, "boom",
          "http://x/bind p n1\nevent Warning FailedScheduling boom\nstatus p SchedulerError: boom\nnominate p \n" },
        { "if ignorable the plugin takes over", true, "boom", "http://x/bind p n1\nbind p n1\n" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sched_world w;
        struct extender y = filtering("http://y"), x = binding("http://x");
        y.verbs[EXTENDER_FILTER] = NULL;
        x.ignorable = rows[i].ignorable;
        begin(&w, 1, &y, &x);
        sched_pod_set(w.sched, world_pod(&w, "p", NULL, 0, "1", ""));
        CHECK(sched_run_once(w.sched));
        CHECK_INT(rows[i].name, w.tickets.n, 1);
        sched_bound(w.sched, w.tickets.at[0], rows[i].error);
        CHECK_TEXT(rows[i].name, world_log(&w), rows[i].log);
        sched_world_close(&w);
    }
}

TEST(the_next_binder_is_asked_when_an_ignorable_one_fails)
{
    struct sched_world w;
    struct extender x = binding("http://x"), y = binding("http://y");
    x.ignorable = true;
    begin(&w, 1, &x, &y);
    sched_pod_set(w.sched, world_pod(&w, "p", NULL, 0, "1", ""));
    CHECK(sched_run_once(w.sched));
    sched_bound(w.sched, w.tickets.at[0], "boom");
    CHECK_TEXT("calls", world_log(&w), "http://x/bind p n1\nhttp://y/bind p n1\n");
    sched_bound(w.sched, w.tickets.at[1], NULL);
    CHECK_INT("placed", sched_counts(w.sched).placed, 1);
    sched_world_close(&w);
}
