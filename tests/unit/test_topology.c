/* Domains of topology keys. */
#include "sched/topology.h"

#include "tests/unit/cluster.h"

static sym sym_of(struct cluster *cl, const char *text)
{
    return sym_intern_static(&cl->syms, str_of(text));
}

static const struct topology_key *key_of(struct cluster *cl, const char *key)
{
    return topology_key(cl->cache.topology, sym_of(cl, key));
}

static void node_in(struct cluster *cl, const char *name, const char *labels)
{
    cluster_node(cl, "{'metadata':{'name':'%s','labels':{%s}}}", name, labels);
}

static void remove_node(struct cluster *cl, const char *name)
{
    if (cache_remove_node(&cl->cache, sym_find(&cl->syms, str_of(name)), &cl->e))
        FAIL("%s", cl->e.message);
}

/* Value of the domain that a node is in, or "-". */
static const char *domain_of(struct cluster *cl, const struct topology_key *k, const char *node)
{
    uint32_t number = k->of_row[cluster_row(cl, node)];
    return number ? sym_text(&cl->syms, k->domains.at[number].value).p : "-";
}

TEST(nodes_with_a_value_share_a_domain)
{
    struct cluster cl;
    cluster_init(&cl, &nodename_plugin, NULL);
    node_in(&cl, "n1", "'zone':'a'");
    node_in(&cl, "n2", "'zone':'b'");
    const struct topology_key *k = key_of(&cl, "zone");
    node_in(&cl, "n3", "'zone':'a'");
    node_in(&cl, "n4", "'rack':'r'");
    node_in(&cl, "n5", "'zone':''");
    CHECK("registered once" && key_of(&cl, "zone") == k);
    CHECK_TEXT("before the key was asked for", domain_of(&cl, k, "n1"), "a");
    CHECK_TEXT("another value", domain_of(&cl, k, "n2"), "b");
    CHECK_TEXT("after it", domain_of(&cl, k, "n3"), "a");
    CHECK_TEXT("no label", domain_of(&cl, k, "n4"), "-");
    CHECK_TEXT("an empty value is one", domain_of(&cl, k, "n5"), "");
    CHECK_INT("rows", k->n_placed, 4);
    CHECK_INT("values", k->by_value.n, 3);
    CHECK_INT("nodes of a", k->domains.at[k->of_row[cluster_row(&cl, "n1")]].n_nodes, 2);
    cluster_fini(&cl);
}

TEST(the_number_of_a_value_that_is_gone_is_used_again)
{
    struct cluster cl;
    cluster_init(&cl, &nodename_plugin, NULL);
    const struct topology_key *k = key_of(&cl, "zone");
    node_in(&cl, "n1", "'zone':'a'");
    node_in(&cl, "n2", "'zone':'b'");
    uint32_t a = k->of_row[cluster_row(&cl, "n1")], b = k->of_row[cluster_row(&cl, "n2")];
    node_in(&cl, "n1", "'zone':'a','more':'x'");
    CHECK_INT("a node that stays", k->of_row[cluster_row(&cl, "n1")], a);
    remove_node(&cl, "n1");
    CHECK_INT("values", k->by_value.n, 1);
    node_in(&cl, "n3", "'zone':'c'");
    CHECK_INT("the next new value", k->of_row[cluster_row(&cl, "n3")], a);
    CHECK_TEXT("the next new value", domain_of(&cl, k, "n3"), "c");
    node_in(&cl, "n3", "'zone':'b'");
    CHECK_INT("joins the other", k->of_row[cluster_row(&cl, "n3")], b);
    node_in(&cl, "n3", "'other':'b'");
    CHECK_TEXT("loses the label", domain_of(&cl, k, "n3"), "-");
    CHECK_INT("rows", k->n_placed, 1);
    cluster_fini(&cl);
}

TEST(keys_tell_whether_they_cover_all_nodes)
{
    struct cluster cl;
    cluster_init(&cl, &nodename_plugin, NULL);
    const struct topology *t = cl.cache.topology;
    const struct topology_key *k = key_of(&cl, "host");
    CHECK("no node" && topology_is_by_node(t, k));
    node_in(&cl, "n1", "'host':'h1'");
    node_in(&cl, "n2", "'host':'h2'");
    CHECK("each its own" && topology_covers_all(t, k) && topology_is_by_node(t, k));
    node_in(&cl, "n3", "'host':'h2'");
    CHECK("two share" && topology_covers_all(t, k) && !topology_is_by_node(t, k));
    node_in(&cl, "n3", "");
    CHECK("one without" && !topology_covers_all(t, k) && !topology_is_by_node(t, k));
    cluster_pod(&cl, "{'metadata':{'name':'p','namespace':'ns','uid':'u'},'spec':{'nodeName':'ghost'}}");
    remove_node(&cl, "n3");
    CHECK("ghosts do not count" && topology_is_by_node(t, k));
    cluster_fini(&cl);
}

TEST(a_key_without_domains_has_no_column_of_its_own)
{
    struct cluster cl;
    cluster_init(&cl, &nodename_plugin, NULL);
    node_in(&cl, "n1", "'zone':'a'");
    const struct topology_key *none = key_of(&cl, "none"), *other = key_of(&cl, "other");
    CHECK("shared" && none->of_row == other->of_row && !none->owns_column);
    for (int i = 2; i < 200; i++) /* past the first rows */
        cluster_node(&cl, "{'metadata':{'name':'n%d','labels':{'other':'o'}}}", i);
    CHECK("apart" && none->of_row != other->of_row && other->owns_column);
    CHECK_TEXT("the last one", domain_of(&cl, other, "n199"), "o");
    CHECK_TEXT("still none", domain_of(&cl, none, "n199"), "-");
    cluster_fini(&cl);
}

TEST(keys_beyond_the_limit_go_between_cycles)
{
    struct cluster cl;
    cluster_init(&cl, &nodename_plugin, NULL);
    node_in(&cl, "n1", "'k0':'a','k1':'b'");
    sym passing = sym_intern(&cl.syms, STR("passing"));
    topology_key(cl.cache.topology, passing);
    sym_unref(&cl.syms, passing);
    for (int i = 0; i < TOPOLOGY_KEYS_MAX + 1; i++)
        key_of(&cl, arena_printf(&cl.texts, "k%d", i));
    const struct topology_key *first = key_of(&cl, "k0");
    CHECK_TEXT("all are there within a cycle", domain_of(&cl, key_of(&cl, "k0"), "n1"), "a");
    topology_next_cycle(cl.cache.topology);
    CHECK_INT("nobody else held the oldest", sym_find(&cl.syms, STR("passing")), SYM_NONE);
    CHECK("k0 was asked for last" && key_of(&cl, "k0") == first);
    CHECK_TEXT("k1 was dropped, and comes back", domain_of(&cl, key_of(&cl, "k1"), "n1"), "b");
    topology_next_cycle(cl.cache.topology);
    cluster_fini(&cl);
}
