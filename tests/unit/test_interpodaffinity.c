/* InterPodAffinity: worked examples, texts and hints. The rules in general: test_affinity_blocks.c. */
#include "tests/unit/cluster.h"

static const struct inter_pod_affinity_args default_args = { .hard_pod_affinity_weight = 1 };

#define NO_AFFINITY "node(s) didn't match pod affinity rules"
#define ANTI "node(s) didn't match pod anti-affinity rules"
#define EXISTING "node(s) didn't satisfy existing pods anti-affinity rules"

#define TERM(label, key) "{'labelSelector':{'matchLabels':{'app':'" label "'}},'topologyKey':'" key "'}"
#define REQUIRED(kind, terms) "'" kind "':{'requiredDuringSchedulingIgnoredDuringExecution':[" terms "]}"
#define PREFERRED(kind, terms) "'" kind "':{'preferredDuringSchedulingIgnoredDuringExecution':[" terms "]}"
#define WEIGHTED(weight, term) "{'weight':" weight ",'podAffinityTerm':" term "}"

static void add_node(struct cluster *cl, const char *name, const char *zone)
{
    cluster_node(cl, "{'metadata':{'name':'%s','labels':{'host':'%s'%s%s%s}}}", name, name, zone ? ",'zone':'" : "",
                 zone ? zone : "", zone ? "'" : "");
}

static void add_pod(struct cluster *cl, const char *name, const char *ns, const char *app, const char *node,
                    const char *affinity)
{
    cluster_pod(cl,
                "{'metadata':{'name':'%s','namespace':'%s','uid':'%s','labels':{'app':'%s'}},"
                "'spec':{'nodeName':'%s','affinity':{%s}}}",
                name, ns, name, app, node, affinity);
}

static const struct pod *pod_with(struct cluster *cl, const char *app, const char *affinity)
{
    return cluster_decode_pod(cl,
                              "{'metadata':{'name':'x','namespace':'default','uid':'x','labels':{'app':'%s'}},"
                              "'spec':{'affinity':{%s}}}",
                              app, affinity);
}

/* n1, n2 in zone a, n3 in b, n4 in none. */
static void add_nodes(struct cluster *cl)
{
    add_node(cl, "n1", "a");
    add_node(cl, "n2", "a");
    add_node(cl, "n3", "b");
    add_node(cl, "n4", NULL);
}

static const struct {
    const char *what, *app, *affinity;
    const char *reasons[4]; /* of n1 to n4; NULL: fits */
} filter_cases[] = {
    { "near db: its zone only", "web", REQUIRED("podAffinity", TERM("db", "zone")),
      { NULL, NULL, NO_AFFINITY, NO_AFFINITY } },
    { "near db on the host", "web", REQUIRED("podAffinity", TERM("db", "host")),
      { NULL, NO_AFFINITY, NO_AFFINITY, NO_AFFINITY } },
    { "nobody is like that, nor the pod itself", "web", REQUIRED("podAffinity", TERM("cache", "zone")),
      { NO_AFFINITY, NO_AFFINITY, NO_AFFINITY, NO_AFFINITY } },
    { "the first of its group goes where the key is", "cache", REQUIRED("podAffinity", TERM("cache", "zone")),
      { NULL, NULL, NULL, NO_AFFINITY } },
    { "all terms must match one pod", "web", REQUIRED("podAffinity", TERM("db", "zone") "," TERM("noisy", "zone")),
      { NO_AFFINITY, NO_AFFINITY, NO_AFFINITY, NO_AFFINITY } },
    { "far from db", "web", REQUIRED("podAntiAffinity", TERM("db", "zone")), { ANTI, ANTI, NULL, NULL } },
    { "far from both", "web", REQUIRED("podAntiAffinity", TERM("db", "host") "," TERM("noisy", "host")),
      { ANTI, NULL, ANTI, NULL } },
    { "shy does not want it in its zone", "loud", REQUIRED("podAntiAffinity", TERM("nobody", "zone")),
      { NULL, NULL, EXISTING, NULL } },
    { "no selector matches nothing", "web", REQUIRED("podAntiAffinity", "{'topologyKey':'zone'}"),
      { NULL, NULL, NULL, NULL } },
    { "pods of a namespace by name", "web",
      REQUIRED("podAntiAffinity", "{'labelSelector':{},'namespaces':['other'],'topologyKey':'zone'}"),
      { NULL, NULL, NULL, NULL } },
    { "pods of a namespace by name: on the host", "web",
      REQUIRED("podAntiAffinity", "{'labelSelector':{},'namespaces':['other'],'topologyKey':'host'}"),
      { NULL, NULL, NULL, ANTI } },
    { "pods of namespaces by label", "web",
      REQUIRED("podAntiAffinity",
               "{'labelSelector':{},'namespaceSelector':{'matchLabels':{'team':'o'}},'topologyKey':'host'}"),
      { NULL, NULL, NULL, ANTI } },
    { "a namespace selector that matches no labels takes every namespace", "web",
      REQUIRED("podAntiAffinity", "{'labelSelector':{},'namespaceSelector':{'matchExpressions':[{'key':'team',"
                                  "'operator':'NotIn','values':['o']}]},'topologyKey':'host'}"),
      { ANTI, NULL, ANTI, ANTI } },
};

TEST(required_terms)
{
    struct cluster cl;
    cluster_init(&cl, &interpodaffinity_plugin, &default_args);
    add_nodes(&cl);
    CLUSTER_OBJECT(&cl, namespace, OBJECT_NAMESPACE, "{'metadata':{'name':'other','labels':{'team':'o'}}}");
    CLUSTER_OBJECT(&cl, namespace, OBJECT_NAMESPACE, "{'metadata':{'name':'default'}}");
    add_pod(&cl, "db", "default", "db", "n1", "");
    add_pod(&cl, "shy", "default", "noisy", "n3", REQUIRED("podAntiAffinity", TERM("loud", "zone")));
    add_pod(&cl, "foreign", "other", "db", "n4", "");
    for (size_t i = 0; i < sizeof(filter_cases) / sizeof(filter_cases[0]); i++) {
        cluster_begin(&cl, pod_with(&cl, filter_cases[i].app, filter_cases[i].affinity));
        CHECK_INT(filter_cases[i].what, cluster_pre_filter(&cl).code, V_SUCCESS);
        for (int n = 0; n < 4; n++) {
            const char *name = arena_printf(&cl.texts, "n%d", n + 1), *want = filter_cases[i].reasons[n];
            const char *what = arena_printf(&cl.texts, "%s, %s", filter_cases[i].what, name);
            struct verdict v = cluster_filter(&cl, name);
            CHECK_TEXT(what, v.text ? v.text : "", want ? want : "");
            int code = !want ? V_SUCCESS : strcmp(want, NO_AFFINITY) == 0 ? V_UNRESOLVABLE : V_UNSCHEDULABLE;
            CHECK_INT(what, v.code, code);
        }
    }
    cluster_begin(&cl, pod_with(&cl, "web", ""));
    CHECK_INT("a pod that nobody minds is not looked at", cluster_pre_filter(&cl).code, V_SKIP);
    cluster_begin(&cl, pod_with(&cl, "loud", ""));
    CHECK_INT("one that somebody minds is", cluster_pre_filter(&cl).code, V_SUCCESS);
    cluster_fini(&cl);
}

TEST(pods_without_a_node_are_nobody)
{
    struct cluster cl;
    cluster_init(&cl, &interpodaffinity_plugin, &default_args);
    add_nodes(&cl);
    add_pod(&cl, "db", "default", "db", "ghost", REQUIRED("podAntiAffinity", TERM("db", "host")));
    cluster_begin(&cl, pod_with(&cl, "db", ""));
    CHECK_INT("nobody minds it", cluster_pre_filter(&cl).code, V_SKIP);
    cluster_begin(&cl, pod_with(&cl, "db", REQUIRED("podAffinity", TERM("db", "host"))));
    CHECK_INT("pre_filter", cluster_pre_filter(&cl).code, V_SUCCESS);
    CHECK_INT("it is the first of its group", cluster_filter(&cl, "n1").code, V_SUCCESS);
    cluster_fini(&cl);
}

TEST(preferred_terms)
{
    struct cluster cl;
    cluster_init(&cl, &interpodaffinity_plugin, &default_args);
    add_node(&cl, "n1", "a");
    add_node(&cl, "n2", "a");
    add_node(&cl, "n3", "b");
    add_node(&cl, "n4", "c");
    add_pod(&cl, "db", "default", "db", "n1", "");
    add_pod(&cl, "noisy", "default", "noisy", "n3", "");
    add_pod(&cl, "foreign", "other", "db", "n4", "");
    add_pod(&cl, "fan", "default", "fan", "n2",
            "'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[" TERM("web", "host")
            "],'preferredDuringSchedulingIgnoredDuringExecution':[" WEIGHTED("5", TERM("web", "zone")) "]}");
    cluster_begin(&cl, pod_with(&cl, "web",
                                PREFERRED("podAffinity", WEIGHTED("20", TERM("db", "zone"))) ","
                                PREFERRED("podAntiAffinity", WEIGHTED("30", TERM("noisy", "zone")))));
    cluster_set_feasible(&cl, NULL);
    const struct plugin_instance *p = cluster_plugin(&cl);
    CHECK_INT("pre_score", p->plugin->pre_score(p, &cl.cycle).code, V_SUCCESS);
    static const struct {
        const char *node;
        int64_t raw, score;
    } want[] = { { "n1", 25, 98 }, { "n2", 26, 100 }, { "n3", -30, 0 }, { "n4", 0, 53 } };
    const int64_t *one_by_one = cluster_scores_one_by_one(&cl), *scores = cluster_scores(&cl);
    for (size_t i = 0; i < 4; i++) {
        struct node_view view = node_view_of(&cl.cache, cluster_row(&cl, want[i].node));
        CHECK_INT(want[i].node, p->plugin->score(p, &cl.cycle, &view), want[i].raw);
        CHECK_INT(want[i].node, cluster_score_of(&cl, scores, want[i].node), want[i].score);
        CHECK_INT(want[i].node, cluster_score_of(&cl, one_by_one, want[i].node), want[i].score);
    }
    cluster_fini(&cl);
}

static const struct {
    const char *what;
    struct inter_pod_affinity_args args;
    const char *app, *affinity;
    int code;
} pre_score_cases[] = {
    { "required affinity of others counts", { 1, false }, "web", "", V_SUCCESS },
    { "not with weight 0", { 0, false }, "web", "", V_SKIP },
    { "not when terms of others do not count", { 1, true }, "web", "", V_SKIP },
    { "with terms of its own those of others count again", { 1, true }, "web",
      PREFERRED("podAffinity", WEIGHTED("1", TERM("nobody", "zone"))), V_SUCCESS },
    { "nobody cares", { 1, false }, "db", "", V_SKIP },
    { "weights that cancel out still count", { 0, false }, "db",
      PREFERRED("podAffinity", WEIGHTED("7", TERM("fan", "zone"))) ","
      PREFERRED("podAntiAffinity", WEIGHTED("7", TERM("fan", "zone"))), V_SUCCESS },
    { "a pod on a node without the key does not", { 0, false }, "db",
      PREFERRED("podAffinity", WEIGHTED("7", TERM("fan", "rack"))), V_SKIP },
};

TEST(when_scores_are_skipped)
{
    for (size_t i = 0; i < sizeof(pre_score_cases) / sizeof(pre_score_cases[0]); i++) {
        struct cluster cl;
        cluster_init(&cl, &interpodaffinity_plugin, &pre_score_cases[i].args);
        add_nodes(&cl);
        add_pod(&cl, "fan", "default", "fan", "n1", REQUIRED("podAffinity", TERM("web", "zone")));
        cluster_begin(&cl, pod_with(&cl, pre_score_cases[i].app, pre_score_cases[i].affinity));
        cluster_set_feasible(&cl, NULL);
        struct verdict v = interpodaffinity_plugin.pre_score(cluster_plugin(&cl), &cl.cycle);
        CHECK_INT(pre_score_cases[i].what, v.code, pre_score_cases[i].code);
        cluster_fini(&cl);
    }
}

#define BAD_TERM "{'labelSelector':{'matchExpressions':[{'key':'a','operator':'Bad'}]},'topologyKey':'zone'}"
#define BAD_OPERATOR "\"Bad\" is not a valid label selector operator"

static const struct {
    const char *what, *affinity, *text;
} error_cases[] = {
    { "one list", REQUIRED("podAffinity", BAD_TERM), "parsing pod: requiredAffinityTerms: " BAD_OPERATOR },
    { "a preferred list", PREFERRED("podAntiAffinity", WEIGHTED("1", BAD_TERM)),
      "parsing pod: preferredAntiAffinityTerms: " BAD_OPERATOR },
    { "two lists", REQUIRED("podAffinity", BAD_TERM) "," REQUIRED("podAntiAffinity", BAD_TERM),
      "parsing pod: [requiredAffinityTerms: " BAD_OPERATOR ", requiredAntiAffinityTerms: " BAD_OPERATOR "]" },
};

TEST(terms_that_do_not_parse)
{
    struct cluster cl;
    cluster_init(&cl, &interpodaffinity_plugin, &default_args);
    add_nodes(&cl);
    for (size_t i = 0; i < sizeof(error_cases) / sizeof(error_cases[0]); i++) {
        cluster_begin(&cl, pod_with(&cl, "web", error_cases[i].affinity));
        struct verdict v = cluster_pre_filter(&cl);
        CHECK_INT(error_cases[i].what, v.code, V_UNRESOLVABLE);
        CHECK_TEXT(error_cases[i].what, v.text, error_cases[i].text);
    }
    struct verdict v = interpodaffinity_plugin.pre_score(cluster_plugin(&cl), &cl.cycle);
    CHECK_INT("scoring without filtering", v.code, V_ERROR);
    CHECK_TEXT("scoring without filtering", v.text,
               "failed to parse pod: [requiredAffinityTerms: " BAD_OPERATOR
               ", requiredAntiAffinityTerms: " BAD_OPERATOR "]");
    cluster_fini(&cl);
}

/* ---- Hints ---- */

#define POD(uid, app, rest)                                                                \
    "{'metadata':{'name':'p','namespace':'default','uid':'" uid "','labels':{'app':'" app "'}}" rest "}"
#define ON_N1 ",'spec':{'nodeName':'n1'}"
#define NODE(labels) "{'metadata':{'name':'n','labels':{" labels "}}}"

static const struct {
    const char *what;
    bool is_node;
    const char *old_object, *new_object;
    enum hint hint;
} hint_cases[] = {
    { "the pod's own labels change", false, POD("x", "a", ""), POD("x", "b", ""), HINT_QUEUE },
    { "a pod that it wants came", false, NULL, POD("p", "friend", ON_N1), HINT_QUEUE },
    { "a pod that it wants came, without node", false, NULL, POD("p", "friend", ""), HINT_SKIP },
    { "another pod came", false, NULL, POD("p", "other", ON_N1), HINT_SKIP },
    { "a pod becomes what it wants", false, POD("p", "other", ON_N1), POD("p", "friend", ON_N1), HINT_QUEUE },
    { "a pod stays what it wants", false, POD("p", "friend", ON_N1), POD("p", "friend", ON_N1), HINT_SKIP },
    { "a pod ceases to be what it hates", false, POD("p", "enemy", ON_N1), POD("p", "other", ON_N1), HINT_QUEUE },
    { "a pod becomes what it hates", false, POD("p", "other", ON_N1), POD("p", "enemy", ON_N1), HINT_SKIP },
    { "a pod that it hates left", false, POD("p", "enemy", ON_N1), NULL, HINT_QUEUE },
    { "a pod that hates it left", false,
      POD("p", "other", ",'spec':{'nodeName':'n1','affinity':{" REQUIRED("podAntiAffinity", TERM("web", "zone")) "}}"),
      NULL, HINT_QUEUE },
    { "another pod left", false, POD("p", "other", ON_N1), NULL, HINT_SKIP },
    { "any new node may be without enemies", true, NULL, NODE(""), HINT_QUEUE },
    { "a node got the key of the affinity", true, NODE(""), NODE("'zone':'a'"), HINT_QUEUE },
    { "a node moved", true, NODE("'zone':'a'"), NODE("'zone':'b'"), HINT_QUEUE },
    { "a node lost the key of the affinity", true, NODE("'zone':'a'"), NODE(""), HINT_SKIP },
    { "a node lost the key of the anti-affinity", true, NODE("'host':'a'"), NODE(""), HINT_QUEUE },
    { "a node got the key of the anti-affinity", true, NODE(""), NODE("'host':'a'"), HINT_SKIP },
    { "another label changes", true, NODE("'x':'a'"), NODE("'x':'b'"), HINT_SKIP },
};

TEST(hints)
{
    struct cluster cl;
    cluster_init(&cl, &interpodaffinity_plugin, &default_args);
    const struct pod *waiting = pod_with(&cl, "web", REQUIRED("podAffinity", TERM("friend", "zone")) ","
                                                     REQUIRED("podAntiAffinity", TERM("enemy", "host")));
    for (size_t i = 0; i < sizeof(hint_cases) / sizeof(hint_cases[0]); i++) {
        const struct plugin_event *to = &interpodaffinity_plugin.events[hint_cases[i].is_node];
        enum hint hint = cluster_hint(&cl, to, waiting, hint_cases[i].old_object, hint_cases[i].new_object);
        CHECK_INT(hint_cases[i].what, hint, hint_cases[i].hint);
    }
    pod_unref(&cl.syms, waiting);
    cluster_fini(&cl);
}
