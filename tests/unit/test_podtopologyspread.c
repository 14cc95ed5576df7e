/* PodTopologySpread: worked examples, texts, defaults and hints. The rules in general: test_affinity_blocks.c. */
#include "tests/unit/cluster.h"

static const struct pod_topology_spread_args system_args = { .system_defaulting = true };

#define SKEWED "node(s) didn't match pod topology spread constraints"
#define MISSING SKEWED " (missing required label)"

static void add_node(struct cluster *cl, const char *name, const char *zone)
{
    cluster_node(cl, "{'metadata':{'name':'%s','labels':{'kubernetes.io/hostname':'%s'%s%s%s}}}", name, name,
                 zone ? ",'topology.kubernetes.io/zone':'" : "", zone ? zone : "", zone ? "'" : "");
}

static void add_pods(struct cluster *cl, const char *node, int n)
{
    static int number;
    for (int i = 0; i < n; i++)
        cluster_pod(cl,
                    "{'metadata':{'name':'p%d','namespace':'default','uid':'p%d','labels':{'app':'web'}},"
                    "'spec':{'nodeName':'%s'}}",
                    number, number, node), number++;
}

/* n1, n2 in zone a, n3 in b, n4 in none. */
static void add_nodes(struct cluster *cl)
{
    add_node(cl, "n1", "a");
    add_node(cl, "n2", "a");
    add_node(cl, "n3", "b");
    add_node(cl, "n4", NULL);
}

static const struct pod *pod_with(struct cluster *cl, const char *constraints)
{
    return cluster_decode_pod(cl,
                              "{'metadata':{'name':'x','namespace':'default','uid':'x','labels':{'app':'web'}},"
                              "'spec':{'topologySpreadConstraints':[%s]}}",
                              constraints);
}

#define ZONE "'topologyKey':'topology.kubernetes.io/zone'"
#define HOST "'topologyKey':'kubernetes.io/hostname'"
#define HARD "'whenUnsatisfiable':'DoNotSchedule'"
#define SOFT "'whenUnsatisfiable':'ScheduleAnyway'"
#define WEB "'labelSelector':{'matchLabels':{'app':'web'}}"

static const struct {
    const char *what, *constraints;
    const char *reasons[4]; /* of n1 to n4; NULL: fits */
} hard_cases[] = {
    { "the fuller zone is closed", "{'maxSkew':1," ZONE "," HARD "," WEB "}", { SKEWED, SKEWED, NULL, MISSING } },
    { "skew 3 leaves room", "{'maxSkew':3," ZONE "," HARD "," WEB "}", { NULL, NULL, NULL, MISSING } },
    { "too few domains make the minimum 0",
      "{'maxSkew':1,'minDomains':3," ZONE "," HARD "," WEB "}",
      { SKEWED, SKEWED, SKEWED, MISSING } },
    { "an empty selector counts no pod", "{'maxSkew':1," ZONE "," HARD ",'labelSelector':{}}",
      { NULL, NULL, NULL, MISSING } },
    { "no selector matches no pod", "{'maxSkew':1," ZONE "," HARD "}", { NULL, NULL, NULL, MISSING } },
    { "hosts are domains too", "{'maxSkew':1," HOST "," HARD "," WEB "}", { SKEWED, SKEWED, SKEWED, NULL } },
    { "only nodes with all keys are domains: n3 is the emptiest host",
      "{'maxSkew':9," ZONE "," HARD "," WEB "},{'maxSkew':1," HOST "," HARD "," WEB "}",
      { SKEWED, NULL, NULL, MISSING } },
};

TEST(hard_constraints)
{
    struct cluster cl;
    cluster_init(&cl, &podtopologyspread_plugin, &system_args);
    add_nodes(&cl);
    add_pods(&cl, "n1", 2);
    add_pods(&cl, "n2", 1);
    add_pods(&cl, "n3", 1);
    for (size_t i = 0; i < sizeof(hard_cases) / sizeof(hard_cases[0]); i++) {
        cluster_begin(&cl, pod_with(&cl, hard_cases[i].constraints));
        CHECK_INT(hard_cases[i].what, cluster_pre_filter(&cl).code, V_SUCCESS);
        for (int n = 0; n < 4; n++) {
            const char *name = arena_printf(&cl.texts, "n%d", n + 1), *want = hard_cases[i].reasons[n];
            struct verdict v = cluster_filter(&cl, name);
            const char *what = arena_printf(&cl.texts, "%s, %s", hard_cases[i].what, name);
            CHECK_TEXT(what, v.text ? v.text : "", want ? want : "");
            int code = !want ? V_SUCCESS : strcmp(want, MISSING) == 0 ? V_UNRESOLVABLE : V_UNSCHEDULABLE;
            CHECK_INT(what, v.code, code);
        }
    }
    cluster_fini(&cl);
}

/* A dry run takes pods away, and looks at the node beside pods that were promised it: on a copy of the copy. */
TEST(a_copy_of_the_state_is_changed_alone)
{
    struct cluster cl;
    cluster_init(&cl, &podtopologyspread_plugin, &system_args);
    add_nodes(&cl);
    add_pods(&cl, "n1", 1);
    cluster_begin(&cl, pod_with(&cl, "{'maxSkew':1," ZONE "," HARD "," WEB "}"));
    CHECK_INT("prepared", cluster_pre_filter(&cl).code, V_SUCCESS);
    const struct plugin_instance *p = cluster_plugin(&cl);
    struct node_view n1 = node_view_of(&cl.cache, cluster_row(&cl, "n1"));
    void *plain = cl.state[p->index], *without = p->plugin->clone_state(p, &cl.cycle, plain);
    p->plugin->remove_pod(p, &cl.cycle, without, node_view_pod(&n1, 0), &n1);
    void *with_again = p->plugin->clone_state(p, &cl.cycle, without);
    p->plugin->add_pod(p, &cl.cycle, with_again, node_view_pod(&n1, 0), &n1);
    const struct {
        const char *what;
        void *state;
        int code;
    } rows[] = { { "plain", plain, V_UNSCHEDULABLE },
                 { "without", without, V_SUCCESS },
                 { "again", with_again, V_UNSCHEDULABLE } };
    for (int i = 0; i < 3; i++) {
        cl.state[p->index] = rows[i].state;
        CHECK_INT(rows[i].what, cluster_filter(&cl, "n1").code, rows[i].code);
    }
    cluster_fini(&cl);
}

static const struct {
    const char *what, *constraints; /* NULL: none of its own, but a Service */
    int64_t scores[4];
} soft_cases[] = {
    { "zone and host", "{'maxSkew':1," ZONE "," SOFT "," WEB "},{'maxSkew':2," HOST "," SOFT "," WEB "}",
      { 50, 62, 100, 0 } },
    { "the system's defaults, by a Service", NULL, { 42, 50, 78, 100 } },
    { "an empty selector counts nothing: all equal", "{'maxSkew':1," HOST "," SOFT ",'labelSelector':{}}",
      { 100, 100, 100, 100 } },
};

TEST(soft_constraints)
{
    struct cluster cl;
    cluster_init(&cl, &podtopologyspread_plugin, &system_args);
    add_nodes(&cl);
    add_pods(&cl, "n1", 2);
    add_pods(&cl, "n2", 1);
    add_pods(&cl, "n3", 1);
    add_pods(&cl, "n4", 2);
    CLUSTER_OBJECT(&cl, service, OBJECT_SERVICE,
                   "{'metadata':{'name':'web','namespace':'default'},'spec':{'selector':{'app':'web'}}}");
    for (size_t i = 0; i < sizeof(soft_cases) / sizeof(soft_cases[0]); i++) {
        cluster_begin(&cl, pod_with(&cl, soft_cases[i].constraints ? soft_cases[i].constraints : ""));
        CHECK_INT(soft_cases[i].what, cluster_pre_filter(&cl).code, V_SKIP);
        cluster_set_feasible(&cl, NULL);
        struct verdict v = podtopologyspread_plugin.pre_score(cluster_plugin(&cl), &cl.cycle);
        CHECK_INT(soft_cases[i].what, v.code, V_SUCCESS);
        const int64_t *one_by_one = cluster_scores_one_by_one(&cl), *scores = cluster_scores(&cl);
        for (int n = 0; n < 4; n++) {
            const char *name = arena_printf(&cl.texts, "n%d", n + 1);
            const char *what = arena_printf(&cl.texts, "%s, %s", soft_cases[i].what, name);
            CHECK_INT(what, cluster_score_of(&cl, scores, name), soft_cases[i].scores[n]);
            CHECK_INT(what, cluster_score_of(&cl, one_by_one, name), soft_cases[i].scores[n]);
        }
    }
    cluster_fini(&cl);
}

TEST(a_missing_zone_counts_as_an_empty_one_for_the_defaults)
{
    struct cluster cl;
    cluster_init(&cl, &podtopologyspread_plugin, &system_args);
    add_node(&cl, "n1", "");
    add_node(&cl, "n2", "b");
    add_node(&cl, "n3", NULL);
    add_pods(&cl, "n3", 4);
    add_pods(&cl, "ghost", 7); /* no such node: counts for no domain */
    CLUSTER_OBJECT(&cl, service, OBJECT_SERVICE,
                   "{'metadata':{'name':'web','namespace':'default'},'spec':{'selector':{'app':'web'}}}");
    cluster_begin(&cl, pod_with(&cl, ""));
    cluster_set_feasible(&cl, NULL);
    const struct plugin_instance *p = cluster_plugin(&cl);
    CHECK_INT("pre_score", p->plugin->pre_score(p, &cl.cycle).code, V_SUCCESS);
    struct node_view n1 = node_view_of(&cl.cache, cluster_row(&cl, "n1"));
    /* host: 0 * ln 5 + 2; zone "": 4 pods, two values: 4 * ln 4 + 4 */
    CHECK_INT("n1", p->plugin->score(p, &cl.cycle, &n1), 12);
    cluster_fini(&cl);
}

TEST(rows_without_a_node_are_no_domains)
{
    struct cluster cl;
    cluster_init(&cl, &podtopologyspread_plugin, &system_args);
    add_node(&cl, "n1", "a");
    add_node(&cl, "n2", "a");
    add_node(&cl, "n3", "a");
    add_pods(&cl, "n1", 1);
    add_pods(&cl, "n2", 1);
    if (cache_remove_node(&cl.cache, sym_find(&cl.syms, STR("n3")), &cl.e))
        FAIL("%s", cl.e.message);
    cluster_begin(&cl, pod_with(&cl, "{'maxSkew':1," HOST "," HARD "," WEB "}"));
    CHECK_INT("pre_filter", cluster_pre_filter(&cl).code, V_SUCCESS);
    CHECK_INT("the emptiest host has 1, not 0", cluster_filter(&cl, "n1").code, V_SUCCESS);
    cluster_fini(&cl);
}

/* ---- Default constraints ---- */

static const struct {
    const char *what, *owner, *service, *labels;
    int pre_score;
} default_cases[] = {
    { "nobody selects the pod", "", NULL, "'app':'web'", V_SKIP },
    { "a Service without a selector selects nothing", "", "{}", "'app':'web'", V_SKIP },
    { "a Service with an empty selector adds no rule", "", "{'selector':{}}", "'app':'web'", V_SKIP },
    { "a Service for other pods", "", "{'selector':{'app':'db'}}", "'app':'web'", V_SKIP },
    { "a Service for more labels than the pod has", "", "{'selector':{'app':'web','tier':'a'}}", "'app':'web'",
      V_SKIP },
    { "a Service for the pod", "", "{'selector':{'app':'web'}}", "'app':'web'", V_SUCCESS },
    { "its ReplicationController", "'v1','kind':'ReplicationController','name':'rc'", NULL, "'app':'web'", V_SUCCESS },
    { "its ReplicaSet", "'apps/v1','kind':'ReplicaSet','name':'rs'", NULL, "'app':'web'", V_SUCCESS },
    { "its StatefulSet", "'apps/v1','kind':'StatefulSet','name':'ss'", NULL, "'app':'web'", V_SUCCESS },
    { "a ReplicaSet that is not there", "'apps/v1','kind':'ReplicaSet','name':'other'", NULL, "'app':'web'", V_SKIP },
    { "a ReplicaSet of another version", "'apps/v2','kind':'ReplicaSet','name':'rs'", NULL, "'app':'web'", V_SKIP },
    { "a controller of another kind", "'apps/v1','kind':'DaemonSet','name':'rs'", NULL, "'app':'web'", V_SKIP },
};

static void add_owners(struct cluster *cl)
{
    CLUSTER_OBJECT(cl, replication_controller, OBJECT_REPLICATION_CONTROLLER,
                   "{'metadata':{'name':'rc','namespace':'default'},'spec':{'selector':{'app':'web'}}}");
    CLUSTER_OBJECT(cl, replica_set, OBJECT_REPLICA_SET,
                   "{'metadata':{'name':'rs','namespace':'default'},"
                   "'spec':{'selector':{'matchLabels':{'app':'web'}}}}");
    CLUSTER_OBJECT(cl, stateful_set, OBJECT_STATEFUL_SET,
                   "{'metadata':{'name':'ss','namespace':'default'},"
                   "'spec':{'selector':{'matchLabels':{'app':'web'}}}}");
}

TEST(who_selects_the_pod_by_default)
{
    for (size_t i = 0; i < sizeof(default_cases) / sizeof(default_cases[0]); i++) {
        struct cluster cl;
        cluster_init(&cl, &podtopologyspread_plugin, &system_args);
        add_nodes(&cl);
        add_owners(&cl);
        if (default_cases[i].service)
            CLUSTER_OBJECT(&cl, service, OBJECT_SERVICE,
                           arena_printf(&cl.texts, "{'metadata':{'name':'s','namespace':'default'},'spec':%s}",
                                        default_cases[i].service));
        bool owned = default_cases[i].owner[0];
        const char *owner = owned ? ",'ownerReferences':[{'uid':'o','controller':true,'apiVersion':" : "";
        cluster_begin(&cl, cluster_decode_pod(&cl,
                                              "{'metadata':{'name':'x','namespace':'default','uid':'x','labels':{%s}"
                                              "%s%s%s},'spec':{}}",
                                              default_cases[i].labels,
                                              owner, default_cases[i].owner, owned ? "}]" : ""));
        cluster_set_feasible(&cl, NULL);
        struct verdict v = podtopologyspread_plugin.pre_score(cluster_plugin(&cl), &cl.cycle);
        CHECK_INT(default_cases[i].what, v.code, default_cases[i].pre_score);
        cluster_fini(&cl);
    }
}

TEST(configured_defaults_are_used_for_pods_without_constraints)
{
    static const struct default_spread_constraint list[] = {
        { .topology_key = "topology.kubernetes.io/zone", .max_skew = 1, .min_domains = 1 },
    };
    static const struct pod_topology_spread_args args = { .constraints = list, .n_constraints = 1 };
    struct cluster cl;
    cluster_init(&cl, &podtopologyspread_plugin, &args);
    add_nodes(&cl);
    add_pods(&cl, "n1", 2);
    CLUSTER_OBJECT(&cl, service, OBJECT_SERVICE,
                   "{'metadata':{'name':'web','namespace':'default'},'spec':{'selector':{'app':'web'}}}");
    cluster_begin(&cl, pod_with(&cl, ""));
    CHECK_INT("pre_filter", cluster_pre_filter(&cl).code, V_SUCCESS);
    CHECK_INT("n2", cluster_filter(&cl, "n2").code, V_UNSCHEDULABLE);
    CHECK_INT("n3", cluster_filter(&cl, "n3").code, V_SUCCESS);
    CHECK_INT("n4", cluster_filter(&cl, "n4").code, V_UNRESOLVABLE);
    cluster_begin(&cl, pod_with(&cl, "{'maxSkew':1," HOST "," SOFT "," WEB "}"));
    CHECK_INT("its own constraints keep the defaults away", cluster_pre_filter(&cl).code, V_SKIP);
    cluster_fini(&cl);
}

TEST(a_selector_that_does_not_parse_is_an_error)
{
    struct cluster cl;
    cluster_init(&cl, &podtopologyspread_plugin, &system_args);
    add_nodes(&cl);
    const char *bad = "'labelSelector':{'matchExpressions':[{'key':'a','operator':'Bad'}]}";
    cluster_begin(&cl, pod_with(&cl, arena_printf(&cl.texts, "{'maxSkew':1," ZONE "," HARD ",%s}", bad)));
    struct verdict v = cluster_pre_filter(&cl);
    CHECK_INT("hard", v.code, V_ERROR);
    CHECK_TEXT("hard", v.text,
               "get constraints from pod: obtaining pod's hard topology spread constraints: "
               "\"Bad\" is not a valid label selector operator");
    cluster_begin(&cl, pod_with(&cl, arena_printf(&cl.texts, "{'maxSkew':1," ZONE "," SOFT ",%s}", bad)));
    CHECK_INT("soft is no matter of filters", cluster_pre_filter(&cl).code, V_SKIP);
    v = podtopologyspread_plugin.pre_score(cluster_plugin(&cl), &cl.cycle);
    CHECK_INT("soft", v.code, V_ERROR);
    CHECK_TEXT("soft", v.text,
               "calculating preScoreState: obtaining pod's soft topology spread constraints: "
               "\"Bad\" is not a valid label selector operator");
    cluster_fini(&cl);
}

/* ---- Hints ---- */

#define POD(uid, ns, labels, rest)                                                         \
    "{'metadata':{'name':'p','namespace':'" ns "','uid':'" uid "','labels':{" labels "}}" rest "}"
#define ON_N1 ",'spec':{'nodeName':'n1'}"
#define ZONE_A "{'metadata':{'name':'n','labels':{'topology.kubernetes.io/zone':'a'}}}"
#define ZONE_B "{'metadata':{'name':'n','labels':{'topology.kubernetes.io/zone':'b'}}}"
#define TAINTED_A                                                                          \
    "{'metadata':{'name':'n','labels':{'topology.kubernetes.io/zone':'a'}},"               \
    "'spec':{'taints':[{'key':'k','effect':'NoSchedule'}]}}"
#define NO_ZONE "{'metadata':{'name':'n'}}"

static const struct {
    const char *what;
    bool is_node;
    const char *old_object, *new_object;
    enum hint hint;
} hint_cases[] = {
    { "a matching pod came", false, NULL, POD("p", "default", "'app':'web'", ON_N1), HINT_QUEUE },
    { "another pod came", false, NULL, POD("p", "default", "'app':'db'", ON_N1), HINT_SKIP },
    { "a pod of another namespace came", false, NULL, POD("p", "other", "'app':'web'", ON_N1), HINT_SKIP },
    { "a pod without node came", false, NULL, POD("p", "default", "'app':'web'", ""), HINT_SKIP },
    { "a pod that is promised a node came", false, NULL,
      POD("p", "default", "'app':'web'", ",'status':{'nominatedNodeName':'n1'}"), HINT_QUEUE },
    { "a matching pod left", false, POD("p", "default", "'app':'web'", ON_N1), NULL, HINT_QUEUE },
    { "another pod left", false, POD("p", "default", "'app':'db'", ON_N1), NULL, HINT_SKIP },
    { "a pod begins to match", false, POD("p", "default", "'app':'db'", ON_N1),
      POD("p", "default", "'app':'web'", ON_N1), HINT_QUEUE },
    { "labels change that do not matter", false, POD("p", "default", "'app':'web'", ON_N1),
      POD("p", "default", "'app':'web','x':'y'", ON_N1), HINT_SKIP },
    { "the pod itself got a toleration", false, POD("x", "default", "'app':'web'", ""),
      POD("x", "default", "'app':'web'", ",'spec':{'tolerations':[{'operator':'Exists'}]}"), HINT_QUEUE },
    { "another pod got a toleration", false, POD("p", "default", "'app':'web'", ON_N1),
      POD("p", "default", "'app':'web'", ",'spec':{'nodeName':'n1','tolerations':[{'operator':'Exists'}]}"),
      HINT_SKIP },
    { "a node with the key came", true, NULL, ZONE_A, HINT_QUEUE },
    { "a node without the key came", true, NULL, NO_ZONE, HINT_SKIP },
    { "a node with the key left", true, ZONE_A, NULL, HINT_QUEUE },
    { "a node without the key left", true, NO_ZONE, NULL, HINT_SKIP },
    { "a node got the key", true, NO_ZONE, ZONE_A, HINT_QUEUE },
    { "a node moved", true, ZONE_A, ZONE_B, HINT_QUEUE },
    { "a node got a taint", true, ZONE_A, TAINTED_A, HINT_QUEUE },
    { "nothing that matters", true, ZONE_A, ZONE_A, HINT_SKIP },
};

TEST(hints)
{
    struct cluster cl;
    cluster_init(&cl, &podtopologyspread_plugin, &system_args);
    const struct pod *waiting = pod_with(&cl, "{'maxSkew':1,'nodeTaintsPolicy':'Honor'," ZONE "," HARD "," WEB "}");
    for (size_t i = 0; i < sizeof(hint_cases) / sizeof(hint_cases[0]); i++) {
        const struct plugin_event *to = &podtopologyspread_plugin.events[hint_cases[i].is_node];
        enum hint hint = cluster_hint(&cl, to, waiting, hint_cases[i].old_object, hint_cases[i].new_object);
        CHECK_INT(hint_cases[i].what, hint, hint_cases[i].hint);
    }
    pod_unref(&cl.syms, waiting);
    cluster_fini(&cl);
}
