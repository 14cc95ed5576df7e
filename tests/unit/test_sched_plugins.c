/* Plugins that do what none of the default ones does, in a whole scheduler. */
#include "sched/queue.h"
#include "tests/unit/sched_world.h"

static void run(struct sched_world *w, const char *what, const char *log)
{
    CHECK(sched_run_once(w->sched));
    CHECK_TEXT(what, world_log(w), log);
}

/* ---- A local filter that would refuse every node, but skips every pod ---- */

static struct verdict skip_pre_filter(const struct plugin_instance *p, struct cycle *c, struct node_names *ret_names)
{
    (void)p;
    (void)c;
    (void)ret_names;
    return SKIP;
}

static struct verdict refuse(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)p;
    return verdict_printf(c, V_UNSCHEDULABLE, "not %s", n->node->meta.name);
}

static void no_key(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key)
{
    (void)p;
    (void)c;
    (void)key;
}

TEST(a_filter_that_skips_the_pod_is_not_asked)
{
    static const struct plugin skipper = { .name = "Skipper", .pre_filter = skip_pre_filter, .filter = refuse,
                                           .filter_key = no_key };
    struct sched_world w;
    sched_world_init(&w);
    sched_world_add_plugin(&w, &skipper, NULL, 0);
    sched_world_open(&w);
    world_node(&w, "n", "1", "");
    sched_pod_set(w.sched, world_pod(&w, "a", NULL, 0, "1", ""));
    run(&w, "over all nodes", "bind a n\n");
    world_node(&w, "n", "2", "");
    sched_pod_set(w.sched, world_pod(&w, "b", NULL, 0, "1", ""));
    run(&w, "on the node that has changed since", "bind b n\n");
    sched_world_close(&w);
}

/* ---- Scores that cannot be prepared ---- */

static struct verdict fail_pre_score(const struct plugin_instance *p, struct cycle *c)
{
    return verdict_printf(c, V_ERROR, "oh %s", p->plugin->name);
}

static int64_t score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)p;
    (void)c;
    (void)n;
    return SCORE_MAX + 1; /* which would be one more error */
}

TEST(the_first_error_of_pre_score_ends_the_attempt)
{
    static const struct plugin first = { .name = "First", .pre_score = fail_pre_score, .score = score },
                               second = { .name = "Second", .pre_score = fail_pre_score, .score = score };
    struct sched_world w;
    sched_world_init(&w);
    sched_world_add_plugin(&w, &first, NULL, 1);
    sched_world_add_plugin(&w, &second, NULL, 1);
    sched_world_open(&w);
    world_node(&w, "n", "1", "");
    world_node(&w, "m", "1", "");
    sched_pod_set(w.sched, world_pod(&w, "a", NULL, 0, "1", ""));
    run(&w, "one error", "event Warning FailedScheduling running PreScore plugin \"First\": oh First\n"
                         "status a SchedulerError: running PreScore plugin \"First\": oh First\nnominate a \n");
    sched_world_close(&w);
}

/* ---- Refusals in words of their own for every node ---- */

TEST(what_evicting_does_not_help_is_worded_for_every_node)
{
    static const struct plugin refuser = { .name = "Refuser", .filter = refuse };
    struct sched_world w;
    sched_world_init(&w);
    sched_world_add_plugin(&w, &refuser, NULL, 0);
    sched_world_open(&w);
    static const char *const nodes[] = { "n1", "n2", "n3" };
    for (int i = 0; i < 3; i++) {
        world_node(&w, nodes[i], "1", "");
        sched_pod_set(w.sched, world_pod(&w, arena_printf(&w.arena, "on-%s", nodes[i]), nodes[i], 0, "1", ""));
    }
    sched_pod_set(w.sched, world_pod(&w, "a", NULL, 5, "1", ""));
    CHECK(sched_run_once(w.sched));
    const char *log = world_log(&w);
    if (!strstr(log, "preemption: 0/3 nodes are available: 1 not n1, 1 not n2, 1 not n3."))
        FAIL("%s", log);
    sched_world_close(&w);
}

/* ---- PostFilter, one plugin after the other ---- */

static struct verdict first_says;

static struct verdict post_filter_first(const struct plugin_instance *p, struct cycle *c)
{
    (void)p;
    (void)c;
    return first_says;
}

static struct verdict post_filter_second(const struct plugin_instance *p, struct cycle *c)
{
    (void)p;
    (void)c;
    return verdict_text(V_UNSCHEDULABLE, "second");
}

TEST(post_filters_are_asked_until_one_has_decided)
{
    static const struct plugin first = { .name = "First", .post_filter = post_filter_first },
                               second = { .name = "Second", .post_filter = post_filter_second };
    static const struct {
        const char *what;
        struct verdict says;
        const char *after; /* the reasons why no node fits */
    } rows[] = {
        { "a refusal: all are asked", { V_UNSCHEDULABLE, 0, "first" }, " first, second" },
        { "nothing can help", { V_UNRESOLVABLE, 0, "first" }, " first" },
        { "an error is all that is said", { V_ERROR, 0, "first" }, " first" },
        { "success", { V_SUCCESS, 0, NULL }, "" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sched_world w;
        sched_world_init(&w);
        w.profile.points[POINT_POST_FILTER].n = 0; /* no DefaultPreemption */
        sched_world_add_plugin(&w, &first, NULL, 0);
        sched_world_add_plugin(&w, &second, NULL, 0);
        first_says = rows[i].says;
        sched_world_open(&w);
        world_node(&w, "n", "1", "");
        sched_pod_set(w.sched, world_pod(&w, "a", NULL, 0, "2", ""));
        CHECK(sched_run_once(w.sched));
        const char *words = arena_printf(&w.arena, "0/1 nodes are available: 1 Insufficient cpu.%s\n", rows[i].after);
        const char *log = world_log(&w);
        if (!strstr(log, words))
            FAIL("%s: %s", rows[i].what, log);
        sched_world_close(&w);
    }
}

/* ---- What a local filter said is known until the node changes; an error is not kept ---- */

static int n_filters;

static struct verdict refuse_and_count(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)p;
    (void)c;
    (void)n;
    n_filters++;
    return verdict_text(V_UNRESOLVABLE, "no");
}

static struct verdict fail_filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)p;
    (void)n;
    return verdict_printf(c, V_ERROR, "oh %s", c->pod->meta.name);
}

static void open_with_two_nodes(struct sched_world *w, const struct plugin *plugin)
{
    sched_world_init(w);
    sched_world_add_plugin(w, plugin, NULL, 0);
    sched_world_open(w);
    world_node(w, "n", "1", "");
    world_node(w, "m", "1", "");
}

TEST(only_nodes_that_have_changed_are_asked_about_again)
{
    static const struct plugin counter = { .name = "Counter", .filter = refuse_and_count, .filter_key = no_key };
    struct sched_world w;
    open_with_two_nodes(&w, &counter);
    sched_pod_set(w.sched, world_pod(&w, "a", NULL, 0, "1", ""));
    n_filters = 0;
    CHECK(sched_run_once(w.sched));
    CHECK_INT("each once for the class, and once for its words", n_filters, 4);
    world_node(&w, "n", "2", "");
    sched_pod_set(w.sched, world_pod(&w, "b", NULL, 0, "1", ""));
    n_filters = 0;
    CHECK(sched_run_once(w.sched));
    CHECK_INT("one of them", n_filters, 2);
    sched_world_close(&w);
}

TEST(an_error_is_not_remembered)
{
    static const struct plugin failing = { .name = "Failing", .filter = fail_filter, .filter_key = no_key };
    struct sched_world w;
    open_with_two_nodes(&w, &failing);
    static const char *const names[] = { "a", "b" };
    for (int i = 0; i < 2; i++) {
        sched_pod_set(w.sched, world_pod(&w, names[i], NULL, 0, "1", ""));
        CHECK(sched_run_once(w.sched));
        const char *log = world_log(&w);
        const char *words = arena_printf(
            &w.arena, "status %s SchedulerError: running \"Failing\" filter plugin: oh %s\n", names[i], names[i]);
        if (!strstr(log, words))
            FAIL("%s", log);
    }
    sched_world_close(&w);
}

/* ---- PreFilter plugins that leave only some nodes ---- */

static sym narrow_to[2];
static uint32_t n_narrow_to[2];

static struct verdict narrow(const struct plugin_instance *p, struct cycle *c, struct node_names *ret_names)
{
    (void)c;
    int i = strcmp(p->plugin->name, "Second") == 0;
    *ret_names = (struct node_names){ .at = &narrow_to[i], .n = n_narrow_to[i], .given = true };
    return PASS;
}

TEST(what_plugins_narrow_to_may_have_nothing_in_common)
{
    static const struct plugin first = { .name = "First", .pre_filter = narrow },
                               second = { .name = "Second", .pre_filter = narrow };
    static const struct {
        const char *what, *first, *second, *words;
        int n_rejectors;
    } rows[] = {
        { "both the same", "m", "m", "bind a m\n", 0 },
        { "nothing in common", "n", "m", ": node(s) didn't satisfy plugin(s) [First Second] simultaneously. ", 2 },
        { "none for the first", NULL, "m", ": node(s) didn't satisfy plugin First. ", 1 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sched_world w;
        sched_world_init(&w);
        sched_world_add_plugin(&w, &first, NULL, 0);
        sched_world_add_plugin(&w, &second, NULL, 0);
        sched_world_open(&w);
        world_node(&w, "n", "1", "");
        world_node(&w, "m", "1", "");
        n_narrow_to[0] = rows[i].first != NULL;
        n_narrow_to[1] = 1;
        narrow_to[0] = world_sym(&w, rows[i].first ? rows[i].first : "n");
        narrow_to[1] = world_sym(&w, rows[i].second);
        sched_pod_set(w.sched, world_pod(&w, "a", NULL, 0, "1", ""));
        CHECK(sched_run_once(w.sched));
        const char *log = world_log(&w);
        if (!strstr(log, rows[i].words))
            FAIL("%s: %s", rows[i].what, log);
        const struct queued_pod *qp = queue_find(sched_queue(w.sched), world_sym(&w, "default"), "a");
        CHECK_INT(rows[i].what, qp ? __builtin_popcountll(qp->rejectors.unschedulable) : 0, rows[i].n_rejectors);
        sched_world_close(&w);
    }
}
