/* What became of bindings, told through the whole scheduler. */
#include "sched/queue.h"
#include "tests/unit/sched_world.h"

static void bind_one(struct sched_world *w)
{
    sched_world_init(w);
    sched_world_open(w);
    world_node(w, "n", "1", "");
    sched_pod_set(w->sched, world_pod(w, "a", NULL, 0, "1", ""));
    CHECK(sched_run_once(w->sched));
    CHECK_TEXT("the only node", world_log(w), "bind a n\n");
}

TEST(a_bound_pod_that_is_deleted_before_the_watch_shows_it_frees_its_node)
{
    struct sched_world w;
    bind_one(&w);
    sched_bound(w.sched, w.tickets.at[0], NULL);
    sched_pod_removed(w.sched, "uid-a");
    CHECK(!cache_find_pod(sched_cache(w.sched), "uid-a"));
    world_log(&w);
    sched_pod_set(w.sched, world_pod(&w, "b", NULL, 0, "1", ""));
    CHECK(sched_run_once(w.sched));
    CHECK_TEXT("room again", world_log(&w), "bind b n\n");
    sched_world_close(&w);
}

TEST(a_pod_that_is_deleted_while_it_is_bound_frees_its_node_at_once)
{
    struct sched_world w;
    bind_one(&w);
    sched_pod_removed(w.sched, "uid-a");
    CHECK(!cache_find_pod(sched_cache(w.sched), "uid-a"));
    sched_bound(w.sched, w.tickets.at[0], "pods \"a\" not found");
    CHECK_INT("bindings", sched_counts(w.sched).binding, 0);
    CHECK_INT("it does not come back", sched_run_once(w.sched), false);
    sched_world_close(&w);
}

/* The note of an event has a limit, the message of a condition has none. */
TEST(the_note_of_an_event_is_cut)
{
    static const struct {
        const char *what;
        size_t n_message;
        bool cut;
    } rows[] = { { "as long as may be", 1024, false }, { "one byte more", 1025, true }, { "long", 5000, true } };
    static const char before[] = "running Bind plugin \"DefaultBinder\": ";
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sched_world w;
        bind_one(&w);
        char error[5001] = "";
        memset(error, 'x', rows[i].n_message - strlen(before));
        sched_bound(w.sched, w.tickets.at[0], error);
        struct str log = str_of(world_log(&w)), whole = str_of(arena_printf(&w.arena, "%s%s", before, error));
        const char *note = rows[i].cut ? arena_printf(&w.arena, "%.*s ...", 1020, whole.p) : whole.p;
        CHECK_STR(rows[i].what, log, str_of(arena_printf(&w.arena, "event Warning FailedScheduling %s\n"
                                                                   "status a SchedulerError: %s\nnominate a \n",
                                                         note, whole.p)));
        sched_world_close(&w);
    }
}

/* ---- What fails where ---- */

/* Two plugins that write down what they are asked for; the second one answers as a test says. */
static struct {
    struct sched_world *w;
    struct verdict reserve, permit, pre_flight, pre_bind, bind;
} script;

static void note(const struct plugin_instance *p, const char *what)
{
    strbuf_printf(&script.w->log, "%s %s\n", what, p->plugin->name);
}

static bool answers(const struct plugin_instance *p)
{
    return strcmp(p->plugin->name, "Second") == 0;
}

static struct verdict on_reserve(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    CHECK(c->pod->node_name == c->cache->rows.at[node].name); /* from here on it is there */
    note(p, "reserve");
    return answers(p) ? script.reserve : PASS;
}

static void on_unreserve(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    (void)c;
    (void)node;
    note(p, "unreserve");
}

static struct verdict on_permit(const struct plugin_instance *p, struct cycle *c, node_id node, int64_t *ret_timeout_ms)
{
    (void)c;
    (void)node;
    *ret_timeout_ms = 90500;
    return answers(p) ? script.permit : PASS;
}

static struct verdict on_pre_flight(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    (void)c;
    (void)node;
    return answers(p) ? script.pre_flight : SKIP;
}

static struct verdict on_pre_bind(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    (void)c;
    (void)node;
    note(p, "prebind");
    return answers(p) ? script.pre_bind : PASS;
}

static struct verdict on_bind(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    CHECK_INT("the pod has its node", c->pod->node_name, c->cache->rows.at[node].name);
    return answers(p) ? script.bind : SKIP;
}

#define SCRIPTED(plugin_name)                                                                                      \
    {                                                                                                              \
        .name = plugin_name, .reserve = on_reserve, .unreserve = on_unreserve, .permit = on_permit,                \
        .pre_bind_pre_flight = on_pre_flight, .pre_bind = on_pre_bind, .bind = on_bind,                            \
        .events = (const struct plugin_event[]){ { RES_NODE, ACT_ADD, NULL }, { RES_POD, ACT_DELETE, NULL }, { 0 } }, \
    }
static const struct plugin first_plugin = SCRIPTED("First"), second_plugin = SCRIPTED("Second");

/* A node, a pod that waits because it is too large, and one that is tried by a scripted profile. */
static void open_script(struct sched_world *w)
{
    script.w = w;
    sched_world_init(w);
    sched_world_add_plugin(w, &first_plugin, NULL, 0);
    sched_world_add_plugin(w, &second_plugin, NULL, 0);
    struct point_plugins *bind = &w->profile.points[POINT_BIND]; /* the default one last, as it never skips */
    const struct plugin_instance *default_binder = bind->at[0];
    memmove(bind->at, bind->at + 1, (bind->n - 1u) * sizeof(bind->at[0]));
    bind->at[bind->n - 1] = default_binder;
    sched_world_open(w);
    world_node(w, "n", "1", "");
    sched_pod_set(w->sched, world_pod(w, "large", NULL, 10, "2", ""));
    CHECK(sched_run_once(w->sched));
    world_log(w);
    sched_pod_set(w->sched, world_pod(w, "p", NULL, 0, "1", ""));
}

static const struct queued_pod *queued(struct sched_world *w, const char *name)
{
    const struct queued_pod *qp = queue_find(sched_queue(w->sched), world_sym(w, "default"), name);
    if (!qp)
        FAIL("%s is not queued", name);
    return qp;
}

static const char *rejector_names(struct sched_world *w, uint64_t mask)
{
    const char *names = "";
    for (uint8_t i = 0; i < w->profile.n_instances; i++)
        if (mask >> i & 1)
            names = arena_printf(&w->arena, "%s%s", names, w->profile.instances[i].plugin->name);
    return mask >> PLUGIN_NOBODY & 1 ? "nobody" : names;
}

/* Where the pod is, who rejected it, whether a plugin is only pending, and whether the large pod was woken. */
static const char *aftermath(struct sched_world *w)
{
    const struct queued_pod *p = queued(w, "p");
    static const char *const places[N_PLACES] = { [PLACE_ACTIVE] = "active", [PLACE_BACKOFF] = "backoff",
                                                  [PLACE_ERROR_BACKOFF] = "error", [PLACE_UNSCHEDULABLE] = "waits" };
    return arena_printf(&w->arena, "%s by [%s]%s, others %s", places[p->place],
                        rejector_names(w, p->rejectors.unschedulable), p->rejectors.pending ? " pending" : "",
                        queued(w, "large")->place == PLACE_UNSCHEDULABLE ? "sleep" : "wake");
}

#define RESERVED "reserve First\nreserve Second\n"
#define UNRESERVED "unreserve Second\nunreserve First\n"
#define SAYS(reason, text) "event Warning FailedScheduling " text "\nstatus p " reason ": " text "\nnominate p \n"
#define NO(code_, text_) { .code = code_, .text = text_ }

static const struct {
    const char *name;
    struct verdict reserve, permit, pre_flight, pre_bind, bind;
    const char *log, *after;
} failures[] = {
    { .name = "Reserve refuses", .reserve = NO(V_UNSCHEDULABLE, "no"),
      .log = RESERVED UNRESERVED SAYS("Unschedulable", "0/1 nodes are available: 1 no."),
      .after = "waits by [Second], others sleep" },
    { .name = "Reserve is unresolvable, without words", .reserve = NO(V_UNRESOLVABLE, NULL),
      .log = RESERVED UNRESERVED SAYS("Unschedulable", "0/1 nodes are available:"),
      .after = "waits by [Second], others sleep" },
    { .name = "Reserve is pending", .reserve = NO(V_PENDING, "soon"),
      .log = RESERVED UNRESERVED SAYS("Unschedulable", "0/1 nodes are available: 1 soon."),
      .after = "waits by [Second] pending, others sleep" },
    { .name = "Reserve fails", .reserve = NO(V_ERROR, "oh"),
      .log = RESERVED UNRESERVED SAYS("SchedulerError", "running Reserve plugin \"Second\": oh"),
      .after = "error by [], others sleep" },
    { .name = "Permit refuses", .permit = NO(V_UNSCHEDULABLE, "no"),
      .log = RESERVED UNRESERVED SAYS("Unschedulable", "0/1 nodes are available: 1 no."),
      .after = "waits by [Second], others sleep" },
    { .name = "Permit is pending", .permit = NO(V_PENDING, "soon"),
      .log = RESERVED UNRESERVED SAYS("Unschedulable", "0/1 nodes are available: 1 soon."),
      .after = "waits by [Second] pending, others sleep" },
    { .name = "Permit fails", .permit = NO(V_ERROR, "oh"),
      .log = RESERVED UNRESERVED SAYS("SchedulerError", "running Permit plugin \"Second\": oh"),
      .after = "error by [], others sleep" },
    { .name = "PreBindPreFlight fails", .pre_flight = NO(V_ERROR, "oh"),
      .log = RESERVED UNRESERVED SAYS("SchedulerError", "running PreBindPreFlight \"Second\": oh"),
      .after = "error by [], others wake" },
    { .name = "PreBind refuses", .pre_bind = NO(V_UNSCHEDULABLE, "no"),
      .log = RESERVED "nominate p n\nprebind Second\n" UNRESERVED SAYS("Unschedulable", "no"),
      .after = "error by [], others wake" },
    { .name = "PreBind is pending", .pre_bind = NO(V_PENDING, "soon"),
      .log = RESERVED "nominate p n\nprebind Second\n" UNRESERVED SAYS("Unschedulable", "soon"),
      .after = "error by [], others wake" },
    { .name = "PreBind fails", .pre_bind = NO(V_ERROR, "oh"),
      .log = RESERVED "nominate p n\nprebind Second\n" UNRESERVED
                      SAYS("SchedulerError", "running PreBind plugin \"Second\": oh"),
      .after = "error by [], others wake" },
    { .name = "Bind refuses", .pre_flight = NO(V_SKIP, NULL), .bind = NO(V_UNSCHEDULABLE, "no"),
      .log = RESERVED UNRESERVED SAYS("Unschedulable", "no"), .after = "error by [], others wake" },
    { .name = "Bind fails", .pre_flight = NO(V_SKIP, NULL), .bind = NO(V_ERROR, "oh"),
      .log = RESERVED UNRESERVED SAYS("SchedulerError", "running Bind plugin \"Second\": oh"),
      .after = "error by [], others wake" },
};

TEST(each_point_fails_in_its_own_way)
{
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        struct sched_world w;
        open_script(&w);
        script.reserve = failures[i].reserve;
        script.permit = failures[i].permit;
        script.pre_flight = failures[i].pre_flight;
        script.pre_bind = failures[i].pre_bind;
        script.bind = failures[i].bind;
        CHECK(sched_run_once(w.sched));
        CHECK_TEXT(failures[i].name, world_log(&w), failures[i].log);
        CHECK_TEXT(failures[i].name, aftermath(&w), failures[i].after);
        CHECK(!cache_find_pod(sched_cache(w.sched), "uid-p"));
        CHECK_INT("bindings", sched_counts(w.sched).binding, 0);
        sched_world_close(&w);
    }
}

/* The pod is on its node and waits; the log is empty. */
static const struct plugin_instance *wait_at_permit(struct sched_world *w)
{
    open_script(w);
    script.reserve = script.bind = PASS;
    script.pre_flight = SKIP;
    script.permit = (struct verdict){ .code = V_WAIT };
    CHECK(sched_run_once(w->sched));
    CHECK_TEXT("it says where it goes", world_log(w), RESERVED "nominate p n\n");
    return &w->profile.instances[w->profile.n_instances - 1];
}

TEST(a_wait_that_is_refused)
{
    struct sched_world w;
    const struct plugin_instance *second = wait_at_permit(&w);
    sched_permit(w.sched, "uid-p", second, false, "no");
    CHECK_TEXT("log", world_log(&w), UNRESERVED SAYS("Unschedulable", "0/1 nodes are available: 1 no."));
    CHECK_TEXT("after", aftermath(&w), "waits by [Second], others wake");
    world_node(&w, "n2", "4", "");
    CHECK_TEXT("what the plugin waits for", aftermath(&w), "backoff by [Second], others wake");
    sched_world_close(&w);
}

TEST(a_wait_that_takes_too_long)
{
    struct sched_world w;
    wait_at_permit(&w);
    w.now_ms += 90500;
    sched_tick(w.sched);
    CHECK_TEXT("log", world_log(&w),
               UNRESERVED SAYS("Unschedulable", "0/1 nodes are available: 1 rejected due to timeout after waiting 1m30.5s "
                                                "at plugin Second."));
    CHECK_TEXT("after", aftermath(&w), "waits by [Second], others wake");
    sched_world_close(&w);
}

TEST(a_pod_that_is_deleted_while_it_waits)
{
    struct sched_world w;
    wait_at_permit(&w);
    const char *json = "{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\",\"uid\":\"uid-p\",\"resourceVersion\":\"2\","
                       "\"deletionTimestamp\":\"2027-01-01T00:00:00Z\"},\"spec\":{\"schedulerName\":\"default-scheduler\"}}";
    sched_pod_set(w.sched, world_pod_of(&w, json));
    CHECK_TEXT("log", world_log(&w), UNRESERVED SAYS("Unschedulable", "0/1 nodes are available: 1 removed."));
    CHECK_TEXT("nothing brings it back", aftermath(&w), "waits by [nobody], others wake");
    sched_pod_removed(w.sched, "uid-p");
    CHECK_TEXT("gone", world_log(&w), "");
    sched_world_close(&w);
}

/* What is woken looks at the node that the pod was on. */
TEST(a_pod_that_is_deleted_while_it_is_bound_wakes_others)
{
    struct sched_world w;
    open_script(&w);
    script.reserve = script.permit = PASS;
    script.pre_flight = SKIP;
    script.bind = (struct verdict){ .code = V_WAIT };
    CHECK(sched_run_once(w.sched));
    CHECK_INT("asleep", queued(&w, "large")->place, PLACE_UNSCHEDULABLE);
    sched_pod_removed(w.sched, "uid-p");
    CHECK_INT("woken", queued(&w, "large")->place, PLACE_BACKOFF);
    sched_world_close(&w);
}

/* A victim that is not bound yet is not evicted: it only loses its place. */
TEST(a_waiting_victim_goes_back_to_the_queue)
{
    struct sched_world w;
    wait_at_permit(&w);
    sched_pod_set(w.sched, world_pod(&w, "more-important", NULL, 20, "1", ""));
    CHECK(sched_run_once(w.sched));
    const char *log = world_log(&w);
    const char *want = UNRESERVED SAYS("SchedulerError", "waiting on permit for pod: preempted")
        "event Normal Preempted Preempted by pod uid-more-important on node n (in kube-scheduler memory).\n";
    if (strncmp(log, want, strlen(want)) != 0 || strstr(log, "evict"))
        FAIL("%s\nwant %s", log, want);
    CHECK_TEXT("after", aftermath(&w), "error by [], others wake");
    sched_world_close(&w);
}

TEST(a_victim_in_pre_bind_goes_back_to_the_queue)
{
    struct sched_world w;
    open_script(&w);
    script.reserve = script.permit = script.pre_flight = script.bind = PASS;
    script.pre_bind = (struct verdict){ .code = V_WAIT };
    CHECK(sched_run_once(w.sched));
    world_log(&w);
    sched_pod_set(w.sched, world_pod(&w, "more-important", NULL, 20, "1", ""));
    CHECK(sched_run_once(w.sched));
    const char *log = world_log(&w);
    const char *want = UNRESERVED SAYS("SchedulerError", "running PreBind plugin \"Second\": preempted by DefaultPreemption");
    if (strncmp(log, want, strlen(want)) != 0 || strstr(log, "evict"))
        FAIL("%s\nwant %s", log, want);
    sched_world_close(&w);
}

TEST(a_victim_that_is_being_bound_is_evicted)
{
    struct sched_world w;
    open_script(&w);
    script.reserve = script.permit = PASS;
    script.pre_flight = SKIP;
    script.bind = (struct verdict){ .code = V_WAIT };
    CHECK(sched_run_once(w.sched));
    sched_pod_set(w.sched, world_pod(&w, "more-important", NULL, 20, "1", ""));
    CHECK(sched_run_once(w.sched));
    CHECK(strstr(world_log(&w), "evict p for more-important\n"));
    sched_victim_done(w.sched, *vec_last(&w.tickets), NULL);
    CHECK_TEXT("told", world_log(&w), "event Normal Preempted Preempted by pod uid-more-important on node n\n");
    sched_world_close(&w);
}

/* The watch shows the pod on its node before the answer says that binding failed: the node is not free. */
TEST(a_failure_of_a_pod_that_is_on_its_node_wakes_nobody)
{
    struct sched_world w;
    open_script(&w);
    script.reserve = script.permit = PASS;
    script.pre_flight = script.bind = SKIP;
    CHECK(sched_run_once(w.sched));
    sched_pod_set(w.sched, world_pod(&w, "p", "n", 0, "1", ""));
    w.now_ms += 60000;
    sched_tick(w.sched);
    while (sched_run_once(w.sched)) /* the large pod: a pod that was added wakes nobody, but let it be tried */
        ;
    CHECK_INT("asleep", queued(&w, "large")->place, PLACE_UNSCHEDULABLE);
    sched_bound(w.sched, w.tickets.at[0], "timeout");
    CHECK_INT("still asleep", queued(&w, "large")->place, PLACE_UNSCHEDULABLE);
    CHECK(cache_find_pod(sched_cache(w.sched), "uid-p"));
    sched_world_close(&w);
}

/* A pod of the same name, made while the old one was bound: nothing is said of it. */
TEST(a_failure_of_a_pod_that_was_replaced_is_not_told)
{
    struct sched_world w;
    open_script(&w);
    script.reserve = script.permit = PASS;
    script.pre_flight = script.bind = SKIP;
    CHECK(sched_run_once(w.sched));
    sched_pod_removed(w.sched, "uid-p");
    const char *json = "{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\",\"uid\":\"other\",\"resourceVersion\":\"2\"},"
                       "\"spec\":{\"schedulerName\":\"default-scheduler\"}}";
    sched_pod_set(w.sched, world_pod_of(&w, json));
    world_log(&w);
    sched_bound(w.sched, w.tickets.at[0], "pods \"p\" not found");
    CHECK_TEXT("log", world_log(&w), UNRESERVED);
    CHECK_TEXT("the new one", queued(&w, "p")->pod->meta.uid, "other");
    sched_world_close(&w);
}

static char regarded[20]; /* version of the pod that the last event was about */

static void note_version(void *context, const struct event_note *note)
{
    (void)context;
    snprintf(regarded, sizeof(regarded), "%s", note->regarding->meta.resource_version);
}

/* Upstream takes the newest version from its lister before it says anything. */
TEST(a_failure_is_told_of_the_newest_version)
{
    static const struct {
        const char *name, *node, *want;
    } rows[] = { { "it still waits", "", "2" }, { "it has a node by now", "n", "1" } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sched_world w;
        sched_world_init(&w);
        w.io.event = note_version;
        sched_world_open(&w);
        world_node(&w, "n", "1", "");
        const char *json = "{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\",\"uid\":\"u\",\"resourceVersion\":\"%d\"},"
                           "\"spec\":{\"schedulerName\":\"default-scheduler\",\"nodeName\":\"%s\"}}";
        sched_pod_set(w.sched, world_pod_of(&w, arena_printf(&w.arena, json, 1, "")));
        CHECK(sched_run_once(w.sched));
        sched_pod_set(w.sched, world_pod_of(&w, arena_printf(&w.arena, json, 2, rows[i].node)));
        sched_bound(w.sched, w.tickets.at[0], "no");
        CHECK_TEXT(rows[i].name, regarded, rows[i].want);
        sched_world_close(&w);
    }
}
