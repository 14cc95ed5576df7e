/* Tolerations: key, effect, operators, the gate for comparisons. */
#include "plugins/plugins.h"
#include "tests/unit/cluster.h"

TEST(a_toleration_tolerates)
{
    static const struct {
        const char *name;
        const char *toleration[4]; /* key, operator, value, effect */
        const char *taint[3];      /* key, value, effect */
        bool tolerates, comparing;
    } rows[] = {
        { "all equal", { "k", "Equal", "v", "NoSchedule" }, { "k", "v", "NoSchedule" }, true, true },
        { "no operator is Equal", { "k", "", "v", "NoSchedule" }, { "k", "v", "NoSchedule" }, true, true },
        { "other value", { "k", "", "w", "NoSchedule" }, { "k", "v", "NoSchedule" }, false, false },
        { "other key", { "l", "Exists", "", "" }, { "k", "v", "NoSchedule" }, false, false },
        { "other effect", { "k", "Exists", "", "NoExecute" }, { "k", "v", "NoSchedule" }, false, false },
        { "any effect", { "k", "Exists", "", "" }, { "k", "v", "NoSchedule" }, true, true },
        { "everything", { "", "Exists", "", "" }, { "k", "v", "NoSchedule" }, true, true },
        { "any key but the value", { "", "", "v", "" }, { "k", "v", "NoSchedule" }, true, true },
        { "unknown operator", { "k", "equal", "v", "" }, { "k", "v", "NoSchedule" }, false, false },
        { "less", { "k", "Lt", "5", "" }, { "k", "4", "NoSchedule" }, false, true },
        { "not less", { "k", "Lt", "5", "" }, { "k", "5", "NoSchedule" }, false, false },
        { "greater", { "k", "Gt", "-5", "" }, { "k", "-4", "NoSchedule" }, false, true },
        { "not greater", { "k", "Gt", "5", "" }, { "k", "5", "NoSchedule" }, false, false },
        { "leading zero", { "k", "Lt", "05", "" }, { "k", "4", "NoSchedule" }, false, false },
        { "plus sign", { "k", "Lt", "5", "" }, { "k", "+4", "NoSchedule" }, false, false },
        { "too large", { "k", "Gt", "5", "" }, { "k", "9223372036854775808", "NoSchedule" }, false, false },
    };
    struct sym_table syms;
    sym_init(&syms);
    struct arena a;
    arena_init(&a);
    struct err e;
    err_init(&e, &a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *const *of = rows[i].toleration, *const *by = rows[i].taint;
        const char *pod_text = arena_printf(&a,
                                            "{\"spec\":{\"tolerations\":[{\"key\":\"%s\",\"operator\":\"%s\","
                                            "\"value\":\"%s\",\"effect\":\"%s\"}]}}",
                                            of[0], of[1], of[2], of[3]);
        const char *node_text =
            arena_printf(&a, "{\"spec\":{\"taints\":[{\"key\":\"%s\",\"value\":\"%s\",\"effect\":\"%s\"}]}}", by[0],
                         by[1], by[2]);
        const struct pod *pod;
        const struct node *node;
        CHECK(!pod_decode(&syms, TYPED_JSON, str_of(pod_text), &pod, &e));
        CHECK(!node_decode(&syms, TYPED_JSON, str_of(node_text), &node, &e));
        CHECK_INT(rows[i].name, tolerates(pod->tolerations, node->taints, &syms, false), rows[i].tolerates);
        CHECK_INT(rows[i].name, tolerates(pod->tolerations, node->taints, &syms, true), rows[i].comparing);
        pod_unref(&syms, pod);
        node_unref(&syms, node);
    }
    arena_fini(&a);
    sym_fini(&syms);
}

/* Fewer taints to be avoided that are not tolerated are better. */
TEST(nodes_with_taints_that_are_not_tolerated_are_avoided)
{
    static const struct {
        const char *what, *tolerations;
        int64_t scores[3];
    } rows[] = {
        { "none", "", { 100, 50, 0 } },
        { "the first taint", "{'key':'a','operator':'Exists'}", { 100, 100, 0 } },
        { "both, in turn", "{'key':'a','operator':'Exists'},{'key':'b','operator':'Exists'}", { 100, 100, 100 } },
        { "another effect", "{'key':'a','operator':'Exists','effect':'NoSchedule'}", { 100, 50, 0 } },
    };
    struct cluster cl;
    cluster_init(&cl, &tainttoleration_plugin, NULL);
    cluster_node(&cl, "{'metadata':{'name':'n0'}}");
    cluster_node(&cl, "{'metadata':{'name':'n1'},'spec':{'taints':[{'key':'a','effect':'PreferNoSchedule'}]}}");
    cluster_node(&cl, "{'metadata':{'name':'n2'},'spec':{'taints':[{'key':'a','effect':'PreferNoSchedule'},"
                      "{'key':'b','effect':'PreferNoSchedule'}]}}");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cluster_begin(&cl, cluster_decode_pod(
                               &cl, "{'metadata':{'name':'p','namespace':'d','uid':'p'},'spec':{'tolerations':[%s]}}",
                               rows[i].tolerations));
        cluster_set_feasible(&cl, NULL);
        if (tainttoleration_plugin.pre_score)
            CHECK_INT("prepared", tainttoleration_plugin.pre_score(cluster_plugin(&cl), &cl.cycle).code, V_SUCCESS);
        const int64_t *one_by_one = cluster_scores_one_by_one(&cl), *scores = cluster_scores(&cl);
        for (int n = 0; n < 3; n++) {
            const char *name = arena_printf(&cl.texts, "n%d", n);
            CHECK_INT(rows[i].what, cluster_score_of(&cl, scores, name), rows[i].scores[n]);
            CHECK_INT(rows[i].what, cluster_score_of(&cl, one_by_one, name), rows[i].scores[n]);
        }
    }
    cluster_fini(&cl);
}
