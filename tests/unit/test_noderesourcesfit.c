/* NodeResourcesFit: resources that it is told to leave to others. */
#include "tests/unit/cluster.h"

static const char *const resources[] = { "a.com/x", "a.com/y" };
static const char *const groups[] = { "b.com", "c.com" };
static const struct resource_weight weights[] = { { "cpu", 1 } };

TEST(ignored_resources_need_not_be_there)
{
    static const struct {
        const char *what, *name;
        bool by_name, by_group, fits;
    } rows[] = {
        { "nothing is ignored", "a.com/x", false, false, false },
        { "the first name", "a.com/x", true, false, true },
        { "the second name", "a.com/y", true, true, true },
        { "another name of that domain", "a.com/z", true, true, false },
        { "the first group", "b.com/x", true, true, true },
        { "the second group", "c.com/x", false, true, true },
        { "a group inside another one", "x.b.com/x", true, true, false },
        { "no extended resource", "hugepages-2Mi", true, true, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cluster cl;
        struct node_resources_fit_args args = {
            .ignored_resources = resources,
            .n_ignored_resources = rows[i].by_name ? 2 : 0,
            .ignored_groups = groups,
            .n_ignored_groups = rows[i].by_group ? 2 : 0,
            .strategy = { .type = SCORING_LEAST_ALLOCATED, .resources = weights, .n_resources = 1 },
        };
        cluster_init(&cl, &noderesourcesfit_plugin, &args);
        cluster_node(&cl, "{'metadata':{'name':'n'},'status':{'allocatable':{'cpu':'4','memory':'1Gi','pods':'9'}}}");
        static const char pod[] = "{'metadata':{'name':'p','namespace':'d','uid':'p'},'spec':{'containers':[{"
                                  "'name':'c','resources':{'requests':{'%s':'2Mi'}}}]}}";
        cluster_begin(&cl, cluster_decode_pod(&cl, pod, rows[i].name));
        cluster_pre_filter(&cl);
        CHECK_INT(rows[i].what, cluster_filter(&cl, "n").code == V_SUCCESS, rows[i].fits);
        cluster_fini(&cl);
    }
}
