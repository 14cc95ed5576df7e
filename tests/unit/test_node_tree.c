/* Nodes by zone. */
#include "sched/node_tree.h"

#include "tests/test.h"

/* Letters are zones, "+a1" adds node 1 to zone a, "-a1" removes it. */
static void run(struct node_tree *t, const char *steps)
{
    for (const char *s = steps; *s; s += s[3] ? 4 : 3) {
        uint64_t zone = (uint64_t)(s[1] - 'a');
        node_id node = (node_id)(s[2] - '0');
        if (s[0] == '+')
            node_tree_add(t, zone, node);
        else
            node_tree_remove(t, zone, node);
    }
}

TEST(zones_take_turns)
{
    static const struct {
        const char *what, *steps, *want;
    } table[] = {
        { "no node", "", "" },
        { "one zone keeps the order of arrival", "+a3 +a1 +a2", "312" },
        { "two zones alternate", "+a1 +a2 +b3 +b4", "1324" },
        { "an exhausted zone is skipped", "+a1 +b2 +b3 +b4 +c5 +c6", "125364" },
        { "order of appearance, not of names", "+c1 +a2 +b3", "123" },
        { "a node that leaves lets the others move up", "+a1 +a2 +a3 +b4 -a1", "243" },
        { "an empty zone is gone", "+a1 +b2 +b3 -a1", "23" },
        { "and comes back at the end", "+a1 +b2 +b3 -a1 +a4", "243" },
        { "a node that changes zones is last in the new one", "+a1 +a2 +b3 -a1 +b1", "231" },
        { "all leave", "+a1 +b2 -a1 -b2", "" },
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct node_tree *t = node_tree_new();
        node_id_vec order = { 0 };
        vec_push(&order, 99); /* what was there is forgotten */
        run(t, table[i].steps);
        node_tree_list(t, &order);
        char got[16] = "";
        for (size_t k = 0; k < order.n && k < sizeof(got) - 1; k++)
            got[k] = (char)('0' + order.at[k]);
        CHECK_TEXT(table[i].what, got, table[i].want);
        vec_fini(&order);
        node_tree_free(t);
    }
}

TEST(region_and_zone_make_the_key)
{
    static const struct {
        const char *what, *json;
        const char *region, *zone;
    } table[] = {
        { "no label", "{}", "", "" },
        { "a zone", "{\"topology.kubernetes.io/zone\":\"z\"}", "", "z" },
        { "a region", "{\"topology.kubernetes.io/region\":\"r\"}", "r", "" },
        { "both", "{\"topology.kubernetes.io/zone\":\"z\",\"topology.kubernetes.io/region\":\"r\"}", "r", "z" },
        { "beta labels", "{\"failure-domain.beta.kubernetes.io/zone\":\"z\",\"failure-domain.beta.kubernetes.io/region\":\"r\"}",
          "r", "z" },
        { "the beta label is asked first", "{\"failure-domain.beta.kubernetes.io/zone\":\"x\",\"topology.kubernetes.io/zone\":\"z\"}",
          "", "x" },
        { "each for itself", "{\"failure-domain.beta.kubernetes.io/region\":\"x\",\"topology.kubernetes.io/zone\":\"z\"}", "x", "z" },
        { "also when it is empty", "{\"failure-domain.beta.kubernetes.io/zone\":\"\",\"topology.kubernetes.io/zone\":\"z\"}", "", "" },
    };
    struct sym_table syms;
    struct arena arena;
    struct err e;
    sym_init(&syms);
    arena_init(&arena);
    err_init(&e, &arena);
    struct zone_keys keys = {
        .region_beta = sym_intern_static(&syms, STR("failure-domain.beta.kubernetes.io/region")),
        .region = sym_intern_static(&syms, STR("topology.kubernetes.io/region")),
        .zone_beta = sym_intern_static(&syms, STR("failure-domain.beta.kubernetes.io/zone")),
        .zone = sym_intern_static(&syms, STR("topology.kubernetes.io/zone")),
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const struct node *node;
        const char *json = arena_printf(&arena, "{\"metadata\":{\"name\":\"n\",\"labels\":%s}}", table[i].json);
        if (node_decode(&syms, TYPED_JSON, str_of(json), &node, &e))
            FAIL("%s: %s", table[i].what, e.message);
        sym region = sym_intern(&syms, str_of(table[i].region)), zone = sym_intern(&syms, str_of(table[i].zone));
        CHECK_INT(table[i].what, node_tree_zone(&keys, node->meta.labels), (uint64_t)region << 32 | zone);
        node_unref(&syms, node);
    }
    sym_fini(&syms);
    arena_fini(&arena);
}
