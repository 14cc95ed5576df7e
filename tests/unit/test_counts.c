/* Columns of pods per node: each question has its own, however alike it is to another (sched/counts.h). */
#include "sched/counts.h"

#include "tests/unit/cluster.h"

/* Terms that differ in one thing from another one. */
static const char *const terms[] = {
    "'labelSelector':{}",
    "'labelSelector':{'matchLabels':{'app':'a'}}",
    "'labelSelector':{'matchLabels':{'app':'b'}}",
    "'labelSelector':{'matchLabels':{'tier':'a'}}",
    "'labelSelector':{'matchLabels':{'app':'a','tier':'a'}}",
    "'labelSelector':{'matchExpressions':[{'key':'app','operator':'In','values':['a','b']}]}",
    "'labelSelector':{'matchExpressions':[{'key':'app','operator':'NotIn','values':['a']}]}",
    "'labelSelector':{'matchExpressions':[{'key':'app','operator':'Exists'}]}",
    "'labelSelector':{'matchExpressions':[{'key':'tier','operator':'Exists'}]}",
    "'labelSelector':{'matchExpressions':[{'key':'app','operator':'DoesNotExist'}]}",
    "'namespaces':['two'],'labelSelector':{'matchLabels':{'app':'a'}}",
    "'namespaces':['one','two'],'labelSelector':{'matchLabels':{'app':'a'}}",
};
enum { N_TERMS = sizeof(terms) / sizeof(terms[0]) };

static const struct pod *pod_with_terms(struct cluster *cl)
{
    const char *list = "";
    for (int i = 0; i < N_TERMS; i++)
        list = arena_printf(&cl->texts, "%s%s{'topologyKey':'zone',%s}", list, i ? "," : "", terms[i]);
    return cluster_decode_pod(cl,
                              "{'metadata':{'name':'asks','namespace':'one','uid':'asks'},'spec':{'affinity':{"
                              "'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[%s]}}}}", list);
}

/* Pods of all labels in both namespaces on two nodes, some of them about to end. */
static void fill(struct cluster *cl)
{
    static const char *const labels[] = { "", "'app':'a'", "'app':'b'", "'tier':'a'", "'app':'a','tier':'a'" };
    cluster_node(cl, "{'metadata':{'name':'n0'}}");
    cluster_node(cl, "{'metadata':{'name':'n1'}}");
    for (int i = 0; i < 40; i++)
        cluster_pod(cl,
                    "{'metadata':{'name':'p','namespace':'%s','uid':'p%d','labels':{%s}%s},'spec':{'nodeName':'n%d'}}",
                    i / 5 % 2 ? "one" : "two", i, labels[i % 5],
                    i % 7 ? "" : ",'deletionTimestamp':'2026-01-01T00:00:00Z'", i % 3 == 0);
}

static int32_t count_by_hand(struct cluster *cl, const struct count_part *part, node_id row, bool skip_terminating)
{
    int32_t n = 0;
    const struct node_row *r = &cl->cache.rows.at[row];
    for (size_t i = 0; i < r->pods.n; i++) {
        const struct pod *pod = r->pods.at[i]->pod;
        bool left_out = skip_terminating && pod->flags & POD_TERMINATING;
        n += !left_out && count_part_matches(part, pod, &cl->syms);
    }
    return n;
}

TEST(every_question_has_a_column_of_its_own)
{
    struct cluster cl;
    cluster_init(&cl, &nodename_plugin, NULL);
    fill(&cl);
    const struct pod *asks = pod_with_terms(&cl);
    CHECK_INT("terms", asks->affinity->required_anti.n, N_TERMS);
    for (int i = 0; i < 4 * N_TERMS; i++) {
        const struct affinity_term *t = &asks->affinity->required_anti.at[i / 4];
        struct count_part part = { &t->selector, t->namespaces, t->n_namespaces, i % 2 };
        bool skip_terminating = i / 2 % 2;
        const int32_t *column = counts_matching(cl.cache.counts, &part, 1, skip_terminating);
        for (node_id row = 0; row < 2; row++)
            CHECK_INT(terms[i / 4], column[row], count_by_hand(&cl, &part, row, skip_terminating));
    }
    pod_unref(&cl.syms, asks);
    cluster_fini(&cl);
}

static void ask(struct cluster *cl, const struct pod *asks, int term)
{
    const struct affinity_term *t = &asks->affinity->required_anti.at[term];
    struct count_part part = { &t->selector, t->namespaces, t->n_namespaces, false };
    counts_matching(cl->cache.counts, &part, 1, false);
}

/* Plugins hold pointers to columns within a cycle. */
TEST(columns_of_this_cycle_are_not_dropped)
{
    struct cluster cl;
    cluster_init(&cl, &nodename_plugin, NULL);
    fill(&cl);
    const struct pod *asks = pod_with_terms(&cl);
    counts_limit(cl.cache.counts, 0);
    static const struct {
        int term;
        bool begins_cycle;
        uint64_t n_dropped;
    } steps[] = { { 0, true, 0 }, { 1, false, 0 }, { 0, true, 0 }, { 2, false, 1 }, { 1, false, 1 }, { 3, true, 4 } };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (steps[i].begins_cycle)
            counts_next_cycle(cl.cache.counts);
        ask(&cl, asks, steps[i].term);
        CHECK_INT(terms[steps[i].term], counts_n_dropped(cl.cache.counts), steps[i].n_dropped);
    }
    pod_unref(&cl.syms, asks);
    cluster_fini(&cl);
}

static int32_t term_count(const struct counted_term *t, uint32_t row)
{
    if (t->dense)
        return t->dense[row];
    int32_t n = 0;
    for (size_t i = 0; i < t->sparse.n; i++) {
        CHECK("ascending, each once" && (i == 0 || t->sparse.at[i - 1].row < t->sparse.at[i].row));
        CHECK("only those that have any" && t->sparse.at[i].n > 0);
        if (t->sparse.at[i].row == row)
            n += t->sparse.at[i].n;
    }
    return n;
}

/* Pods that carry one term come to nodes in any order, several to some; first few nodes have any, in the end all. */
TEST(terms_are_counted_on_the_nodes_of_their_pods)
{
    enum { N_NODES = 40 };
    struct cluster cl;
    bool was_dense = false;
    int32_t want[N_NODES] = { 0 };
    cluster_init(&cl, &nodename_plugin, NULL);
    for (int i = 0; i < N_NODES; i++)
        cluster_node(&cl, "{'metadata':{'name':'n%d'}}", i);
    for (int i = 0; i < 2 * N_NODES; i++) {
        int node = i < 10 ? i * 3 % 5 : i * 7 % N_NODES;
        cluster_pod(&cl, "{'metadata':{'name':'p','uid':'p%d'},'spec':{'nodeName':'n%d','affinity':{'podAntiAffinity':{"
                         "'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'zone','labelSelector':{}}]}}}}",
                    i, node);
        want[node]++;
        struct counted_terms found = counts_terms(cl.cache.counts, TERM_REQUIRED_ANTI);
        CHECK_INT("one term", found.n, 1);
        CHECK_INT("pods", found.at[0]->n_pods, i + 1);
        for (int n = 0; n < N_NODES; n++) {
            char name[8];
            snprintf(name, sizeof(name), "n%d", n);
            CHECK_INT(name, term_count(found.at[0], cluster_row(&cl, name)), want[n]);
        }
        CHECK("a column once there are many" && (i > 10 || !found.at[0]->dense));
        was_dense = found.at[0]->dense != NULL;
    }
    CHECK(was_dense);
    cluster_fini(&cl);
}
