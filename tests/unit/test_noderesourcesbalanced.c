/* NodeResourcesBalancedAllocation: which resources are balanced, by blocks and node by node. */
#include "tests/unit/cluster.h"

static void add_node(struct cluster *cl, const char *name, const char *cpu, const char *memory, const char *gpu)
{
    cluster_node(cl,
                 "{'metadata':{'name':'%s'},'status':{'allocatable':{'cpu':'%s','memory':'%s','pods':'9',"
                 "'example.com/gpu':'%s'}}}",
                 name, cpu, memory, gpu);
}

TEST(the_resources_of_the_arguments_are_balanced)
{
    static const struct {
        const char *what;
        struct resource_weight weights[2];
        const char *best; /* of cpu-memory, cpu-gpu and gpu-memory, which are balanced in these two */
    } rows[] = {
        { "as by default", { { "cpu", 1 }, { "memory", 1 } }, "cpu-memory" },
        { "the other way round", { { "memory", 1 }, { "cpu", 1 } }, "cpu-memory" },
        { "not cpu", { { "example.com/gpu", 1 }, { "memory", 1 } }, "gpu-memory" },
        { "not memory", { { "cpu", 1 }, { "example.com/gpu", 1 } }, "cpu-gpu" },
    };
    static const char *const names[] = { "cpu-memory", "cpu-gpu", "gpu-memory" };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cluster cl;
        struct node_resources_balanced_args args = { rows[i].weights, 2 };
        cluster_init(&cl, &noderesourcesbalanced_plugin, &args);
        add_node(&cl, "cpu-memory", "4", "4Gi", "40");
        add_node(&cl, "cpu-gpu", "4", "40Gi", "4");
        add_node(&cl, "gpu-memory", "40", "4Gi", "4");
        cluster_begin(&cl, cluster_decode_pod(&cl, "{'metadata':{'name':'p','namespace':'d','uid':'p'},'spec':{"
                                                   "'containers':[{'name':'c','resources':{'requests':{'cpu':'2',"
                                                   "'memory':'2Gi','example.com/gpu':'2'}}}]}}"));
        cluster_set_feasible(&cl, NULL);
        const struct plugin_instance *p = cluster_plugin(&cl);
        CHECK_INT("prepared", p->plugin->pre_score(p, &cl.cycle).code, V_SUCCESS);
        const int64_t *one_by_one = cluster_scores_one_by_one(&cl), *scores = cluster_scores(&cl);
        int64_t best = cluster_score_of(&cl, scores, rows[i].best);
        for (int n = 0; n < 3; n++) {
            int64_t score = cluster_score_of(&cl, scores, names[n]);
            CHECK_INT(rows[i].what, cluster_score_of(&cl, one_by_one, names[n]), score);
            if (strcmp(names[n], rows[i].best) != 0 && score >= best)
                FAIL("%s: %s has %lld, not less than %lld", rows[i].what, names[n], (long long)score, (long long)best);
        }
        cluster_fini(&cl);
    }
}
