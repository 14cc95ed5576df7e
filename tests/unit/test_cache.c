/* The cache: pod state machine, nodes and their order, images, ghosts, the change log. */
#include "sched/cache.h"

#include "tests/unit/cluster.h"

static const struct pod *pod_on(struct cluster *cl, const char *name, const char *node, const char *cpu)
{
    return cluster_decode_pod(cl,
                              "{'metadata':{'name':'%s','namespace':'ns','uid':'uid-%s'},'spec':{'nodeName':'%s',"
                              "'containers':[{'name':'c','resources':{'requests':{'cpu':'%s'}}}]}}",
                              name, name, node, cpu);
}

static node_id row_named(struct cluster *cl, const char *node)
{
    sym name = sym_find(&cl->syms, str_of(node));
    return name == SYM_NONE ? NODE_NONE : cache_find_node(&cl->cache, name);
}

static void remove_node(struct cluster *cl, const char *node)
{
    if (cache_remove_node(&cl->cache, sym_find(&cl->syms, str_of(node)), &cl->e))
        FAIL("%s", cl->e.message);
}

/* ---- Pods ---- */

enum op { OP_END, ASSUME, FORGET, ADD, REMOVE };

struct step {
    enum op op;
    const char *node;
};

static enum err_code run_step(struct cluster *cl, struct step step, const char *cpu)
{
    const struct pod *pod = pod_on(cl, "p", step.node, cpu);
    enum err_code rc = ERR_OK;
    switch (step.op) {
    case ASSUME:
        rc = cache_assume(&cl->cache, pod, &cl->e);
        break;
    case FORGET:
        rc = cache_forget(&cl->cache, pod, &cl->e);
        break;
    case ADD:
        rc = cache_add_pod(&cl->cache, pod, &cl->e);
        break;
    case REMOVE:
        rc = cache_remove_pod(&cl->cache, pod, &cl->e);
        break;
    case OP_END:
        break;
    }
    pod_unref(&cl->syms, pod);
    return rc;
}

/* "-", "assumed n1 100", "added n1 200": state, node, cpu that the node has in use. */
static const char *state_of(struct cluster *cl)
{
    const struct placed *p = cache_find_pod(&cl->cache, "uid-p");
    if (!p)
        return "-";
    CHECK(cache_is_assumed(&cl->cache, "uid-p") == p->assumed);
    const struct node_row *row = &cl->cache.rows.at[p->node];
    CHECK(row->pods.n == 1 && row->pods.at[0] == p);
    return arena_printf(&cl->texts, "%s %s %lld", p->assumed ? "assumed" : "added", sym_text(&cl->syms, row->name).p,
                        (long long)cl->cache.col.used_milli_cpu[p->node]);
}

TEST(pods_go_through_their_states)
{
    static const struct {
        const char *what;
        struct step steps[4]; /* the last one has a pod with 200m, those before one with 100m */
        const char *state, *error;
    } table[] = {
        { "an unknown pod can be assumed", { { ASSUME, "n1" } }, "assumed n1 200", NULL },
        { "an assumed pod cannot be assumed again", { { ASSUME, "n1" }, { ASSUME, "n2" } }, "assumed n1 100",
          "pod uid-p(ns/p) is in the cache, so can't be assumed" },
        { "nor one that was added", { { ADD, "n1" }, { ASSUME, "n1" } }, "added n1 100",
          "pod uid-p(ns/p) is in the cache, so can't be assumed" },
        { "an assumed pod can be forgotten", { { ASSUME, "n1" }, { FORGET, "n1" } }, "-", NULL },
        { "forgetting an unknown one does nothing", { { FORGET, "n1" } }, "-", NULL },
        { "an assumed pod is forgotten on its own node only", { { ASSUME, "n1" }, { FORGET, "n2" } }, "assumed n1 100",
          "pod uid-p(ns/p) was assumed on n2 but assigned to n1" },
        { "what was added is not forgotten", { { ADD, "n1" }, { FORGET, "n1" } }, "added n1 100",
          "pod uid-p(ns/p) wasn't assumed so cannot be forgotten" },
        { "an unknown pod can be added", { { ADD, "n1" } }, "added n1 200", NULL },
        { "adding confirms what was assumed, in the new version", { { ASSUME, "n1" }, { ADD, "n1" } }, "added n1 200",
          NULL },
        { "also on another node", { { ASSUME, "n1" }, { ADD, "n2" } }, "added n2 200", NULL },
        { "but not what was added", { { ADD, "n1" }, { ADD, "n1" } }, "added n1 100",
          "pod uid-p(ns/p) was already in added state" },
        { "an added pod can be removed", { { ADD, "n1" }, { REMOVE, "n1" } }, "-", NULL },
        { "an assumed pod can be removed", { { ASSUME, "n1" }, { REMOVE, "n1" } }, "-", NULL },
        { "an unknown one cannot be removed", { { REMOVE, "n1" } }, "-",
          "pod uid-p(ns/p) is not found in scheduler cache, so cannot be removed from it" },
        { "nor from another node", { { ADD, "n1" }, { REMOVE, "n2" } }, "added n1 100",
          "pod uid-p(ns/p) was added to a different node than it was removed from" },
        { "a stale last state without a node removes it", { { ADD, "n1" }, { REMOVE, "" } }, "-", NULL },
        { "what was removed can come back", { { ADD, "n1" }, { REMOVE, "n1" }, { ASSUME, "n2" } }, "assumed n2 200",
          NULL },
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct cluster cl;
        cluster_init(&cl, &nodename_plugin, NULL);
        const char *what = table[i].what;
        size_t n = 0;
        while (n < 4 && table[i].steps[n].op)
            n++;
        for (size_t k = 0; k + 1 < n; k++)
            if (run_step(&cl, table[i].steps[k], "100m"))
                FAIL("%s: %s", what, cl.e.message);
        enum err_code rc = run_step(&cl, table[i].steps[n - 1], "200m");
        CHECK_INT(what, rc == ERR_OK, table[i].error == NULL);
        if (rc)
            CHECK_TEXT(what, cl.e.message, table[i].error);
        CHECK_TEXT(what, state_of(&cl), table[i].state);
        cluster_fini(&cl);
    }
}

TEST(removal_takes_off_the_stored_version)
{
    struct cluster cl;
    cluster_init(&cl, &nodename_plugin, NULL);
    cluster_node(&cl, "{'metadata':{'name':'n1'}}");
    CHECK(run_step(&cl, (struct step){ ADD, "n1" }, "100m") == ERR_OK);
    CHECK(run_step(&cl, (struct step){ REMOVE, "n1" }, "700m") == ERR_OK);
    CHECK_INT("cpu", cl.cache.col.used_milli_cpu[cluster_row(&cl, "n1")], 0);
    CHECK_INT("non-zero cpu", cl.cache.col.non_zero_milli_cpu[cluster_row(&cl, "n1")], 0);
    CHECK_INT("pods", cl.cache.col.n_pods[cluster_row(&cl, "n1")], 0);
    cluster_fini(&cl);
}

static void use_claim(struct cluster *cl, const char *name)
{
    cluster_pod(cl,
                "{'metadata':{'name':'%s','namespace':'ns','uid':'%s'},'spec':{'nodeName':'n1','volumes':[{'name':'e',"
                "'emptyDir':{}},{'name':'v','persistentVolumeClaim':{'claimName':'claim'}}]}}",
                name, name);
}

static void check_users(struct cluster *cl, const char *what, uint32_t n)
{
    sym ns = sym_find(&cl->syms, STR("ns")), claim = sym_find(&cl->syms, STR("claim"));
    CHECK_INT(what, cache_claim_users(&cl->cache, ns, claim), n);
}

TEST(users_of_a_claim_are_counted)
{
    struct cluster cl;
    cluster_init(&cl, &nodename_plugin, NULL);
    cluster_node(&cl, "{'metadata':{'name':'n1'}}");
    use_claim(&cl, "a");
    use_claim(&cl, "b");
    check_users(&cl, "two", 2);
    CHECK_INT("one goes", cache_remove_pod(&cl.cache, cache_find_pod(&cl.cache, "a")->pod, &cl.e), ERR_OK);
    check_users(&cl, "one", 1);
    CHECK_INT("the other goes", cache_remove_pod(&cl.cache, cache_find_pod(&cl.cache, "b")->pod, &cl.e), ERR_OK);
    check_users(&cl, "none", 0);
    CHECK_INT("no entry is left", cl.cache.used_claims.n, 0);
    cluster_fini(&cl);
}

TEST(the_last_pod_takes_the_place_of_one_that_leaves)
{
    struct cluster cl;
    cluster_init(&cl, &nodename_plugin, NULL);
    const struct pod *pods[3];
    static const char *const names[] = { "a", "b", "c" };
    for (int i = 0; i < 3; i++) {
        pods[i] = pod_on(&cl, names[i], "n1", "1");
        CHECK(cache_add_pod(&cl.cache, pods[i], &cl.e) == ERR_OK);
    }
    CHECK(cache_remove_pod(&cl.cache, pods[0], &cl.e) == ERR_OK);
    const struct node_row *row = &cl.cache.rows.at[cluster_row(&cl, "n1")];
    CHECK_INT("pods", row->pods.n, 2);
    CHECK_TEXT("first", row->pods.at[0]->pod->meta.name, "c");
    CHECK_TEXT("second", row->pods.at[1]->pod->meta.name, "b");
    CHECK_INT("index", row->pods.at[0]->index, 0);
    for (int i = 0; i < 3; i++)
        pod_unref(&cl.syms, pods[i]);
    cluster_fini(&cl);
}

/* ---- Nodes ---- */

static void zoned(struct cluster *cl, const char *name, const char *zone)
{
    cluster_node(cl, "{'metadata':{'name':'%s','labels':{'topology.kubernetes.io/zone':'%s'}}}", name, zone);
}

/* "a b c" as a cycle walks them. */
static const char *order_of(struct cluster *cl)
{
    const struct cache *c = &cl->cache;
    const char *text = "";
    for (size_t i = 0; i < c->order.n; i++) {
        text = arena_printf(&cl->texts, "%s%s%s", text, i ? " " : "",
                            sym_text(&cl->syms, c->rows.at[c->order.at[i]].name).p);
        CHECK_INT("position", c->position.at[c->order.at[i]], i);
    }
    return text;
}

static const char *new_order_of(struct cluster *cl)
{
    cache_update_order(&cl->cache);
    return order_of(cl);
}

TEST(zones_take_turns_in_the_order_of_their_appearance)
{
    struct cluster cl;
    cluster_init(&cl, &nodename_plugin, NULL);
    zoned(&cl, "a1", "a");
    zoned(&cl, "a2", "a");
    zoned(&cl, "a3", "a");
    zoned(&cl, "b1", "b");
    cluster_node(&cl, "{'metadata':{'name':'none'}}");
    zoned(&cl, "b2", "b");
    CHECK_TEXT("round robin", new_order_of(&cl), "a1 b1 none a2 b2 a3");
    zoned(&cl, "a2", "a");
    CHECK_TEXT("an update changes nothing", new_order_of(&cl), "a1 b1 none a2 b2 a3");
    remove_node(&cl, "a1");
    remove_node(&cl, "a2");
    remove_node(&cl, "a3");
    CHECK_TEXT("a zone vanishes", new_order_of(&cl), "b1 none b2");
    zoned(&cl, "a1", "a");
    CHECK_TEXT("and comes back last", new_order_of(&cl), "b1 none a1 b2");
    cluster_fini(&cl);
}

TEST(another_zone_label_waits_for_the_next_node)
{
    struct cluster cl;
    cluster_init(&cl, &nodename_plugin, NULL);
    zoned(&cl, "a1", "a");
    zoned(&cl, "a2", "a");
    zoned(&cl, "b1", "b");
    CHECK_TEXT("at first", new_order_of(&cl), "a1 b1 a2");
    uint64_t epoch = cl.cache.order_epoch;
    zoned(&cl, "a1", "b");
    CHECK_TEXT("still", new_order_of(&cl), "a1 b1 a2");
    CHECK_INT("still", cl.cache.order_epoch, epoch);
    cluster_node(&cl, "{'metadata':{'name':'none'}}");
    CHECK_TEXT("with the next node", new_order_of(&cl), "a2 b1 none a1");
    CHECK_INT("with the next node", cl.cache.order_epoch, epoch + 1);
    cluster_fini(&cl);
}

TEST(a_node_that_is_gone_stays_while_it_has_pods)
{
    struct cluster cl;
    cluster_init(&cl, &nodename_plugin, NULL);
    cluster_node(&cl, "{'metadata':{'name':'n1'},'status':{'allocatable':{'cpu':'4'}}}");
    const struct pod *pod = pod_on(&cl, "p", "n1", "1");
    CHECK(cache_add_pod(&cl.cache, pod, &cl.e) == ERR_OK);
    remove_node(&cl, "n1");
    node_id id = row_named(&cl, "n1");
    CHECK(id != NODE_NONE);
    CHECK_TEXT("no cycle sees it", new_order_of(&cl), "");
    CHECK_INT("not listed", cache_listed_node(&cl.cache, sym_find(&cl.syms, STR("n1"))), NODE_NONE);
    CHECK(cache_remove_node(&cl.cache, sym_find(&cl.syms, STR("n1")), &cl.e) == ERR_NOT_FOUND);
    CHECK_TEXT("removed twice", cl.e.message, "node n1 is not found");
    CHECK_INT("its pods still count", cl.cache.col.used_milli_cpu[id], 1000);

    cluster_node(&cl, "{'metadata':{'name':'n1'},'status':{'allocatable':{'cpu':'8'}}}");
    CHECK_INT("the same row", row_named(&cl, "n1"), id);
    CHECK_TEXT("seen again", new_order_of(&cl), "n1");
    remove_node(&cl, "n1");
    CHECK(cache_remove_pod(&cl.cache, pod, &cl.e) == ERR_OK);
    CHECK_INT("gone with its last pod", row_named(&cl, "n1"), NODE_NONE);
    pod_unref(&cl.syms, pod);
    cluster_fini(&cl);
}

TEST(a_pod_on_an_unknown_node_makes_a_ghost)
{
    struct cluster cl;
    cluster_init(&cl, &nodename_plugin, NULL);
    const struct pod *pod = pod_on(&cl, "p", "n1", "1");
    CHECK(cache_assume(&cl.cache, pod, &cl.e) == ERR_OK);
    CHECK(row_named(&cl, "n1") != NODE_NONE);
    CHECK_TEXT("no cycle sees it", new_order_of(&cl), "");
    cluster_node(&cl, "{'metadata':{'name':'n1'}}");
    CHECK_TEXT("the node comes", new_order_of(&cl), "n1");
    CHECK_INT("pods", cl.cache.rows.at[row_named(&cl, "n1")].pods.n, 1);
    CHECK(cache_forget(&cl.cache, pod, &cl.e) == ERR_OK);
    CHECK(row_named(&cl, "n1") != NODE_NONE);
    pod_unref(&cl.syms, pod);
    cluster_fini(&cl);
}

/* ---- Images ---- */

static void node_with_image(struct cluster *cl, const char *name, const char *image, int size)
{
    cluster_node(cl, "{'metadata':{'name':'%s'},'status':{'images':[{'names':['%s'],'sizeBytes':%d}]}}", name, image, size);
}

static void check_image(struct cluster *cl, const char *what, const char *image, int64_t size, uint32_t n_nodes)
{
    sym name = sym_find(&cl->syms, str_of(image));
    const struct image_state *state = name == SYM_NONE ? NULL : cache_image(&cl->cache, name);
    CHECK_INT(what, state ? state->n_nodes : 0, n_nodes);
    if (state)
        CHECK_INT(what, state->size_bytes, size);
}

TEST(the_first_node_says_how_large_an_image_is)
{
    struct cluster cl;
    cluster_init(&cl, &nodename_plugin, NULL);
    node_with_image(&cl, "n1", "i:1", 100);
    check_image(&cl, "first sight", "i:1", 100, 1);
    node_with_image(&cl, "n2", "i:1", 200);
    check_image(&cl, "a second node", "i:1", 100, 2);
    remove_node(&cl, "n1");
    check_image(&cl, "the first node leaves", "i:1", 100, 1);
    node_with_image(&cl, "n3", "j:1", 300);
    node_with_image(&cl, "n2", "j:1", 400);
    check_image(&cl, "nobody has it", "i:1", 0, 0);
    check_image(&cl, "an update brings another one", "j:1", 300, 2);
    node_with_image(&cl, "n2", "i:1", 500);
    check_image(&cl, "back, with a new size", "i:1", 500, 1);
    check_image(&cl, "and the other one less", "j:1", 300, 1);
    cluster_fini(&cl);
}

/* ---- The change log ---- */

struct seen {
    node_id rows[CACHE_LOG_MAX];
    size_t n;
};

static void see(void *context, node_id row)
{
    struct seen *s = context;
    CHECK(s->n < CACHE_LOG_MAX);
    s->rows[s->n++] = row;
}

TEST(the_log_reaches_back_so_many_changes)
{
    static struct seen seen;
    struct cluster cl;
    cluster_init(&cl, &nodename_plugin, NULL);
    cluster_node(&cl, "{'metadata':{'name':'n1'}}");
    cluster_node(&cl, "{'metadata':{'name':'n2'}}");
    uint64_t since = cl.cache.generation;
    CHECK(cache_changes(&cl.cache, since, see, &seen));
    CHECK_INT("nothing yet", seen.n, 0);
    const struct node *n1 = cluster_decode_node(&cl, "{'metadata':{'name':'n1'}}");
    const struct node *n2 = cluster_decode_node(&cl, "{'metadata':{'name':'n2'}}");
    cache_update_node(&cl.cache, n2);
    for (int i = 1; i < CACHE_LOG_MAX; i++)
        cache_update_node(&cl.cache, n1);
    CHECK_INT("a change each", cl.cache.generation, since + CACHE_LOG_MAX);
    CHECK(cache_changes(&cl.cache, since, see, &seen));
    CHECK_INT("all of them", seen.n, CACHE_LOG_MAX);
    CHECK_INT("the oldest first", seen.rows[0], row_named(&cl, "n2"));
    CHECK_INT("the newest last", seen.rows[CACHE_LOG_MAX - 1], row_named(&cl, "n1"));
    cache_update_node(&cl.cache, n1);
    seen.n = 0;
    CHECK(!cache_changes(&cl.cache, since, see, &seen));
    CHECK_INT("none when some are lost", seen.n, 0);
    CHECK(cache_changes(&cl.cache, since + 1, see, &seen));
    node_unref(&cl.syms, n1);
    node_unref(&cl.syms, n2);
    cluster_fini(&cl);
}
