/* Plugins from shared objects: what is refused, what a plugin sees, and what becomes of its answers. PLUGIN_DIR has the
 * sample of examples/plugin and the modules of tests/unit/plugins. */
#include "base/log.h"
#include "config/setup.h"
#include "sched/plugin_library.h"
#include "tests/unit/sched_world.h"

static struct strbuf said; /* by plugins, a line each */

static void listen(void *context, struct str record)
{
    (void)context;
    static const struct str mark = STR(" message=\"");
    const char *from = memmem(record.p, record.n, mark.p, mark.n);
    if (!from)
        FAIL("%.*s", STR_ARG(record));
    from += mark.n;
    strbuf_add(&said, from, (size_t)(record.p + record.n - from) - 2); /* without quote and newline */
    strbuf_add_char(&said, '\n');
}

static const char *heard(struct sched_world *w)
{
    const char *text = arena_cstr(&w->arena, strbuf_str(&said));
    strbuf_reset(&said);
    return text;
}

static struct plugin_libraries *open_module(struct arena *a, const char *name, struct err *e)
{
    struct plugin_libraries *l = NULL;
    struct str path = str_of(arena_printf(a, "%s/%s", PLUGIN_DIR, name));
    static const struct plugin *const built_in[] = { &noderesourcesfit_plugin, NULL };
    err_init(e, a);
    return plugin_libraries_open(&path, 1, built_in, &l, e) ? NULL : l;
}

static const struct plugin *last_plugin(const struct plugin_libraries *l)
{
    const struct plugin *const *registry = plugin_libraries_registry(l);
    size_t i = 0;
    while (registry[i + 1])
        i++;
    return registry[i];
}

/* A world with one more plugin, which is also asked for the order of the queue if it has one. */
static struct plugin_libraries *begin(struct sched_world *w, const char *module, const char *args)
{
    sched_world_init(w);
    strbuf_init(&said, STRBUF_NO_MAX);
    log_set_sink(listen, NULL);
    struct err e;
    struct plugin_libraries *l = open_module(&w->arena, module, &e);
    if (!l)
        FAIL("%s", e.message);
    sched_world_add_plugin(w, last_plugin(l), args, 100);
    struct point_plugins *sort = &w->profile.points[POINT_QUEUE_SORT];
    sort->at[0] = sort->at[sort->n - 1];
    sort->n = 1;
    sched_world_open(w);
    return l;
}

static void end(struct sched_world *w, struct plugin_libraries *l)
{
    sched_world_close(w);
    log_set_sink(NULL, NULL);
    plugin_libraries_close(l);
    strbuf_fini(&said);
}

static void pod_with_label(struct sched_world *w, const char *name, const char *what)
{
    const char *json = arena_printf(&w->arena,
                                    "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"uid\":\"uid-%s\","
                                    "\"resourceVersion\":\"1\",\"labels\":{\"do\":\"%s\"}},\"spec\":{\"schedulerName\":"
                                    "\"default-scheduler\",\"priority\":5,\"containers\":[{\"name\":\"c\",\"image\":\"i\","
                                    "\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}",
                                    name, name, what);
    sched_pod_set(w->sched, world_pod_of(w, json));
}

static void must_have(const char *what, const char *text, const char *part)
{
    if (!strstr(text, part))
        FAIL("%s: there is no\n%s\nin\n%s", what, part, text);
}

/* ---- Loading ---- */

TEST(what_is_wrong_with_a_library_is_said)
{
    static const struct {
        const char *module, *error;
    } rows[] = {
        { "broken_0.so", NULL },
        { "broken_1.so", "it was built for version 2 of the plugin ABI, this berth has version 1" },
        { "broken_2.so", "it does not export berth_plugin_entry" },
        { "broken_3.so", "it does not want to be loaded" },
        { "broken_4.so", "its plugin has no valid name" },
        { "broken_5.so", "its plugin has no valid name" },
        { "broken_6.so", "there is a plugin of the name NodeResourcesFit already" },
        { "broken_7.so", "its table of functions says that it has 8 bytes" },
        { "broken_8.so", "it uses functions that only a newer berth has" },
        { "broken_9.so", "it registers for resource 99, which is not known" },
        { "broken_10.so", "it registers for actions 0x100000, which are not known" },
        { "broken_11.so", "plugin Broken has normalize, but no score" },
        { "broken_12.so", NULL }, /* an older table: what is behind its end is not looked at */
        { "absent.so", "cannot open shared object file" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct err e;
        struct plugin_libraries *l = open_module(&a, rows[i].module, &e);
        CHECK_INT(rows[i].module, l == NULL, rows[i].error != NULL);
        if (!l) {
            must_have(rows[i].module, e.message, rows[i].error);
            must_have(rows[i].module, e.message, "plugin library ");
        }
        plugin_libraries_close(l);
    }
    arena_fini(&a);
}

TEST(two_plugins_of_one_name_and_names_without_a_slash_are_refused)
{
    struct arena a;
    struct err e;
    struct plugin_libraries *l = NULL;
    static const struct plugin *const none[] = { NULL };
    arena_init(&a);
    err_init(&e, &a);
    struct str twice[] = { STR(PLUGIN_DIR "/broken_0.so"), STR(PLUGIN_DIR "/broken_12.so") };
    CHECK(plugin_libraries_open(twice, 2, none, &l, &e) != ERR_OK);
    must_have("twice", e.message, "there is a plugin of the name Broken already");
    struct str bare = STR("probe.so");
    CHECK(plugin_libraries_open(&bare, 1, none, &l, &e) != ERR_OK);
    CHECK_TEXT("bare", e.message, "plugin library probe.so: the name of a file needs a slash, as in ./probe.so");
    arena_fini(&a);
}

TEST(arguments_that_a_plugin_refuses_are_an_error)
{
    struct arena a;
    struct err e;
    struct sym_table syms;
    arena_init(&a);
    sym_init(&syms);
    struct plugin_libraries *l = open_module(&a, "probe.so", &e);
    struct plugin_instance p = { .plugin = last_plugin(l), .syms = &syms };
    CHECK(p.plugin->init(&p, "\"bad\"", &e) == ERR_INVALID);
    CHECK_TEXT("message", e.message, "plugin Probe: these 5 bytes are bad");
    CHECK(p.plugin->init(&p, NULL, &e) == ERR_OK);
    p.plugin->fini(&p);
    plugin_libraries_close(l);
    sym_fini(&syms);
    arena_fini(&a);
}

/* ---- The sample ---- */

TEST(the_sample_prefers_and_avoids)
{
    struct sched_world w;
    struct plugin_libraries *l =
        begin(&w, "node_label_score.so", "{\"prefer\": \"disk=ssd\", \"avoid\": \"example.com/maintenance\"}");
    world_node(&w, "n1", "8", "");
    world_node(&w, "n2", "4", "\"disk\":\"ssd\"");
    world_node(&w, "n3", "8", "\"disk\":\"ssd\",\"example.com/maintenance\":\"\"");
    world_node(&w, "n4", "8", "\"disk\":\"hdd\"");
    pod_with_label(&w, "p", "");
    CHECK(sched_run_once(w.sched));
    CHECK_TEXT("preferred", world_log(&w), "bind p n2\n");
    end(&w, l);
}

TEST(the_sample_brings_pods_back_when_a_node_gets_better)
{
    struct sched_world w;
    struct plugin_libraries *l = begin(&w, "node_label_score.so", "{\"avoid\":\"old\"}");
    world_node(&w, "n1", "8", "\"old\":\"\"");
    pod_with_label(&w, "p", "");
    CHECK(sched_run_once(w.sched));
    must_have("reason", world_log(&w), "0/1 nodes are available: 1 node(s) had a label that is avoided.");
    world_node(&w, "n1", "8", "\"old\":\"\",\"other\":\"\"");
    CHECK_INT("still avoided", sched_counts(w.sched).unschedulable_waiting, 1);
    world_node(&w, "n1", "8", "\"other\":\"\"");
    CHECK_INT("no longer", sched_counts(w.sched).unschedulable_waiting, 0);
    end(&w, l);
}

TEST(the_sample_checks_its_arguments)
{
    static const struct {
        const char *args, *error;
    } rows[] = {
        { "", NULL },
        { "{}", NULL },
        { " { \"prefer\" : \"a\" , \"avoid\":\"b\" } ", NULL },
        { "[]", "args must be an object of strings" },
        { "{\"prefer\":1}", "args must be an object of strings" },
        { "{\"prefer\":\"a\"", "args must be an object of strings" },
        { "{\"prefer\"", "args must be an object of strings" },
        { "{", "args must be an object of strings" },
        { "{\"like\":\"a\"}", "unknown argument \"like\"" },
    };
    struct arena a;
    struct err e;
    arena_init(&a);
    struct plugin_libraries *l = open_module(&a, "node_label_score.so", &e);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct plugin_instance p = { .plugin = last_plugin(l) };
        enum err_code code = p.plugin->init(&p, rows[i].args, &e);
        CHECK_INT(rows[i].args, code != ERR_OK, rows[i].error != NULL);
        if (code)
            must_have(rows[i].args, e.message, rows[i].error);
        else
            p.plugin->fini(&p);
    }
    plugin_libraries_close(l);
    arena_fini(&a);
}

/* ---- What a plugin sees ---- */

TEST(a_plugin_goes_the_whole_way_of_a_pod)
{
    struct sched_world w;
    struct plugin_libraries *l = begin(&w, "probe.so", "");
    world_node(&w, "n1", "8", "\"zone\":\"z\"");
    world_node(&w, "n2", "4", "");
    sched_pod_set(w.sched, world_pod(&w, "other", "n1", 0, "500m", ""));
    const char *json = "{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\",\"uid\":\"u\",\"resourceVersion\":\"1\","
                       "\"labels\":{\"a\":\"b\",\"c\":\"d\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":"
                       "\"ReplicaSet\",\"name\":\"rs\",\"uid\":\"r\",\"controller\":true}]},\"spec\":{\"schedulerName\":"
                       "\"default-scheduler\",\"priority\":9,\"priorityClassName\":\"high\",\"containers\":[{\"name\":\"c\","
                       "\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"1500m\",\"memory\":\"1Ki\"}}}]}}";
    sched_pod_set(w.sched, world_pod_of(&w, json));
    CHECK(sched_run_once(w.sched));
    sched_bound(w.sched, w.tickets.at[0], NULL);
    CHECK_TEXT("seen", heard(&w),
               "pre_filter default/p u cpu=1500 memory=1024 gpu=0 priority=9 class=high of=ReplicaSet/rs labels=2 nodes=2 "
               "now=1000\n"
               "filter n1 number=0 zone=z cpu=500/8000 pods=1 taint==: first=other\n"
               "filter n2 number=1 zone=- cpu=0/4000 pods=0 taint==: first=-\n"
               "pre_score 2 nodes, the first is n1\n"
               "reserve p on n2\n"
               "pre_bind n2 p on n2 no state\n"
               "post_bind n2 p on n2\n");
    must_have("its scores decide", world_log(&w), "bind p n2\n");
    end(&w, l);
}

TEST(answers_that_do_not_belong_are_errors)
{
    static const struct {
        const char *told, *want;
    } rows[] = {
        { "wait-early", "SchedulerError: running PreFilter plugin \"Probe\": the plugin answers with code 4, which does not "
                        "belong here\n" },
        { "pending-early", "SchedulerError: running PreFilter plugin \"Probe\": the plugin answers with code 6, which does "
                           "not belong here\n" },
        { "nonsense", "SchedulerError: running \"Probe\" filter plugin: the plugin answers with code 77, which does not "
                      "belong here\n" },
        { "overdo", "SchedulerError: applying score defaultWeights on Score plugins: plugin \"Probe\" returns an invalid "
                    "score 1000, it should in the range of [0, 100] after normalizing\n" },
        { "nothing", "Unschedulable: 0/2 nodes are available: 2 no." },
        { "full", "Unschedulable: 0/1 nodes are available: 1 full.\n" },
        { "late", "SchedulerError: running PreBind plugin \"Probe\": too late\n" },
        { "skip", "bind p n2\n" },
        { "narrow", "bind p n2\n" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sched_world w;
        struct plugin_libraries *l = begin(&w, "probe.so", "");
        world_node(&w, "n1", "4", "");
        world_node(&w, "n2", "4", "");
        pod_with_label(&w, "p", rows[i].told);
        CHECK(sched_run_once(w.sched));
        must_have(rows[i].told, world_log(&w), rows[i].want);
        bool gave_back = strcmp(rows[i].told, "full") == 0 || strcmp(rows[i].told, "late") == 0;
        CHECK_INT(rows[i].told, strstr(heard(&w), "unreserve n2 p on n2\n") != NULL, gave_back);
        end(&w, l);
    }
}

TEST(who_is_pending_comes_back_without_backoff)
{
    static const struct {
        const char *told, *want;
    } rows[] = {
        { "pending-filter", "Unschedulable: 0/1 nodes are available: 1 soon. preemption: 0/1 nodes are available: 1 Preemption "
                            "is not helpful for scheduling.\n" },
        { "pending-reserve", "Unschedulable: 0/1 nodes are available: 1 soon.\n" },
        { "pending-permit", "Unschedulable: 0/1 nodes are available: 1 soon.\n" },
        { "nothing", "Unschedulable: 0/1 nodes are available: 1 no." },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sched_world w;
        struct plugin_libraries *l = begin(&w, "probe.so", "");
        world_node(&w, "n1", "4", "");
        pod_with_label(&w, "p", rows[i].told);
        CHECK(sched_run_once(w.sched));
        must_have(rows[i].told, world_log(&w), rows[i].want);
        CHECK_INT(rows[i].told, sched_counts(w.sched).unschedulable_waiting, 1);
        world_node(&w, "n2", "4", "\"good\":\"\"");
        bool is_pending = strcmp(rows[i].told, "nothing") != 0;
        CHECK_INT(rows[i].told, sched_counts(w.sched).active, is_pending);
        CHECK_INT(rows[i].told, sched_counts(w.sched).backoff, !is_pending);
        end(&w, l);
    }
}

/* The library changes or gives back the memory of a reason before it is told. */
TEST(reasons_are_copied_at_once)
{
    struct sched_world w;
    struct plugin_libraries *l = begin(&w, "probe.so", "");
    world_node(&w, "n1", "4", "");
    world_node(&w, "n2", "4", "");
    pod_with_label(&w, "p", "fleeting");
    CHECK(sched_run_once(w.sched));
    must_have("filter", world_log(&w), "0/2 nodes are available: 1 fleeting n1, 1 fleeting n2.");
    pod_with_label(&w, "q", "fleeting-large");
    CHECK_INT("gated", sched_counts(w.sched).gated, 1);
    end(&w, l);
}

TEST(long_reasons_are_cut)
{
    struct sched_world w;
    struct plugin_libraries *l = begin(&w, "probe.so", "");
    world_node(&w, "n1", "4", "");
    pod_with_label(&w, "p", "long");
    CHECK(sched_run_once(w.sched));
    const char *log = world_log(&w), *x = strstr(log, "status p Unschedulable: 0/1 nodes are available: 1 x");
    CHECK(x != NULL);
    x += strcspn(x, "x");
    CHECK_INT("bytes", strspn(x, "x"), 1024);
    end(&w, l);
}

TEST(the_order_of_the_queue_and_gates_can_be_a_plugins)
{
    struct sched_world w;
    struct plugin_libraries *l = begin(&w, "probe.so", "");
    world_node(&w, "n1", "8", "");
    pod_with_label(&w, "gated", "gate");
    pod_with_label(&w, "first", "");
    pod_with_label(&w, "second", "");
    CHECK_INT("gated", sched_counts(w.sched).gated, 1);
    while (sched_run_once(w.sched))
        ;
    CHECK_TEXT("the last comes first", world_log(&w), "nominate second n1\nbind second n1\nnominate first n1\nbind first n1\n");
    end(&w, l);
}

TEST(hints_see_what_happened)
{
    struct sched_world w;
    struct plugin_libraries *l = begin(&w, "probe.so", "");
    world_node(&w, "n1", "4", "");
    sched_pod_set(w.sched, world_pod(&w, "other", "n1", 0, "1", ""));
    pod_with_label(&w, "p", "nothing");
    CHECK(sched_run_once(w.sched));
    heard(&w);
    sched_pod_removed(w.sched, "uid-other");
    CHECK_TEXT("a pod", heard(&w), "pod_gone other for p\n");
    world_node(&w, "n2", "4", "");
    CHECK_TEXT("a node", heard(&w), "node_added n2 for p, resource 3 action 1 pods=0\n");
    CHECK_INT("not worth it", sched_counts(w.sched).unschedulable_waiting, 1);
    world_node(&w, "n3", "4", "\"good\":\"\"");
    CHECK_INT("worth it", sched_counts(w.sched).unschedulable_waiting, 0);
    end(&w, l);
}

TEST(a_permit_waits_until_it_is_given_refused_or_too_late)
{
    static const struct {
        const char *name, *told, *want, *seen;
    } rows[] = {
        { "given", "release", "bind waits n2\n", "pre_bind n2 waits on n2 no state\n" },
        { "refused", "dismiss", "status waits Unschedulable: 0/1 nodes are available: 1 dismissed.\n",
          "unreserve n2 waits on n2\n" },
        { "refused at length", "dismiss-at-length", "xxxx.\n", "unreserve n2 waits on n2\n" },
        { "too late", NULL, "1 rejected due to timeout after waiting 5s at plugin Probe.\n", "unreserve n2 waits on n2\n" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sched_world w;
        struct plugin_libraries *l = begin(&w, "probe.so", "");
        world_node(&w, "n1", "4", "");
        world_node(&w, "n2", "4", "");
        pod_with_label(&w, "waits", "wait");
        CHECK(sched_run_once(w.sched));
        CHECK_INT(rows[i].name, w.tickets.n, 0);
        if (rows[i].told) {
            pod_with_label(&w, "p", rows[i].told);
            CHECK(sched_run_once(w.sched));
        } else {
            w.now_ms += 5000;
            sched_tick(w.sched);
        }
        const char *log = world_log(&w);
        must_have(rows[i].name, log, rows[i].want);
        CHECK(strlen(log) < 4000);
        must_have(rows[i].name, heard(&w), rows[i].seen);
        end(&w, l);
    }
}

TEST(only_permit_and_post_bind_release_others)
{
    struct sched_world w;
    struct plugin_libraries *l = begin(&w, "probe.so", "");
    world_node(&w, "n1", "4", "");
    world_node(&w, "n2", "4", "");
    pod_with_label(&w, "waits", "wait");
    CHECK(sched_run_once(w.sched));
    pod_with_label(&w, "p", ""); /* its pre_bind tries to */
    CHECK(sched_run_once(w.sched));
    must_have("p goes on", world_log(&w), "bind p n2\n");
    CHECK_INT("one binding is on its way", w.tickets.n, 1);
    end(&w, l);
}

TEST(preemption_runs_on_a_copy_of_the_state)
{
    struct sched_world w;
    struct plugin_libraries *l = begin(&w, "probe.so", "");
    world_node(&w, "n1", "4", "");
    sched_pod_set(w.sched, world_pod(&w, "low", "n1", 0, "4", ""));
    pod_with_label(&w, "p", "");
    CHECK(sched_run_once(w.sched));
    must_have("victim", world_log(&w), "evict low for p\n");
    const char *text = heard(&w);
    must_have("removed", text, "remove_pod low from n1 number=10");
    must_have("tried back", text, "add_pod low to n1 number=10");
    end(&w, l);
}

/* ---- From a configuration ---- */

#define CONFIG_OF(plugin, args, libraries)                                                 \
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"       \
    "clientConnection: {kubeconfig: /tmp/kubeconfig}\nprofiles:\n"                         \
    "- plugins: {multiPoint: {enabled: [{name: " plugin ", weight: 3}]}}\n"                \
    "  pluginConfig: [{name: " plugin ", args: " args "}]\n"                               \
    "---\napiVersion: berth.dev/v1alpha1\nkind: BerthConfiguration\npluginLibraries: [" libraries "]\n"

TEST(a_configuration_enables_a_plugin_of_a_library)
{
    static const struct {
        const char *name, *text, *error;
    } rows[] = {
        { "fine", CONFIG_OF("NodeLabelScore", "{prefer: a}", PLUGIN_DIR "/node_label_score.so"), NULL },
        { "its arguments", CONFIG_OF("NodeLabelScore", "{like: a}", PLUGIN_DIR "/node_label_score.so"),
          "unknown argument \"like\"" },
        { "an unknown plugin", CONFIG_OF("Nobody", "{}", PLUGIN_DIR "/node_label_score.so"), "Nobody" },
        { "a broken library", CONFIG_OF("Broken", "{}", PLUGIN_DIR "/broken_1.so"), "version 2 of the plugin ABI" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sym_table syms;
        struct arena a;
        struct setup setup;
        struct err e;
        sym_init(&syms);
        arena_init(&a);
        err_init(&e, &a);
        enum err_code code = setup_from_text(&setup, &syms, str_of(rows[i].text), plugin_registry, &e);
        CHECK_INT(code ? e.message : rows[i].name, code != ERR_OK, rows[i].error != NULL);
        if (code) {
            must_have(rows[i].name, e.message, rows[i].error);
        } else {
            const struct point_plugins *score = &setup.profiles[0]->points[POINT_SCORE];
            CHECK_TEXT(rows[i].name, score->at[score->n - 1]->plugin->name, "NodeLabelScore");
            CHECK_INT(rows[i].name, setup.profiles[0]->weights[score->n - 1], 3);
            setup_fini(&setup);
        }
        sym_fini(&syms);
        arena_fini(&a);
    }
}

TEST(extenders_of_a_configuration_are_ready_to_be_asked)
{
    static const char text[] =
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "clientConnection: {kubeconfig: /tmp/kubeconfig}\nextenders:\n"
        "- {urlPrefix: 'http://a', filterVerb: f, ignorable: true, weight: 1}\n"
        "- {urlPrefix: 'http://b', prioritizeVerb: p, preemptVerb: v, bindVerb: b, weight: 5, nodeCacheCapable: true,\n"
        "   managedResources: [{name: example.com/gpu}]}\n";
    struct sym_table syms;
    struct arena a;
    struct setup setup;
    struct err e;
    sym_init(&syms);
    arena_init(&a);
    err_init(&e, &a);
    if (setup_from_text(&setup, &syms, str_of(text), plugin_registry, &e))
        FAIL("%s", e.message);
    CHECK_INT("extenders", setup.n_extenders, 2);
    const struct extender *b = setup.extenders[0], *ignorable = setup.extenders[1];
    CHECK_TEXT("the ignorable one comes last", ignorable->url_prefix, "http://a");
    CHECK(extender_has(ignorable, EXTENDER_FILTER) && !extender_has(ignorable, EXTENDER_BIND) && ignorable->ignorable);
    CHECK_TEXT("prioritize", b->verbs[EXTENDER_PRIORITIZE], "p");
    CHECK_TEXT("preempt", b->verbs[EXTENDER_PREEMPT], "v");
    CHECK_TEXT("bind", b->verbs[EXTENDER_BIND], "b");
    CHECK(!extender_has(b, EXTENDER_FILTER) && b->node_cache_capable && b->weight == 5);
    CHECK_STR("managed", sym_text(&syms, b->managed_resources[0]), STR("example.com/gpu"));
    setup_fini(&setup);
    sym_fini(&syms);
    arena_fini(&a);
}
