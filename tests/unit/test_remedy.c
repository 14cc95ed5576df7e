/* remedies_find on small clusters made by hand: what is offered first, in which words; and what is not offered. */
#include "tests/unit/remedy_world.h"

/* ---- Small clusters ---- */

static struct data_node *add_node(struct data *d, const char *name, int64_t milli_cpu)
{
    struct data_node *n = &d->nodes[d->n_nodes++];
    *n = (struct data_node){ .name = name, .alloc = { milli_cpu, 8 * GIB, 10 * GIB, 0, 110 } };
    pair_set(&n->labels, HOSTNAME_KEY, name);
    return n;
}

static struct data_pod *add_pod(struct data *d, const char *name, const char *node, int64_t milli_cpu)
{
    struct data_pod *p = &d->pods[d->n_pods++];
    *p = (struct data_pod){ .name = name, .node = node, .request = { .milli_cpu = milli_cpu } };
    return p;
}

static void gates(struct data *d)
{
    add_node(d, "a", 1000);
    struct data_pod *p = add_pod(d, "target", NULL, 100);
    p->gates[p->n_gates++] = "example.com/quota";
}

static void cordon(struct data *d)
{
    struct data_node *n = add_node(d, "a", 1000);
    n->unschedulable = true;
    n->taints[n->n_taints++] = (struct data_taint){ CORDON_KEY, "", "NoSchedule" };
    add_pod(d, "target", NULL, 100);
}

static void taints(struct data *d)
{
    for (int i = 0; i < 3; i++) {
        struct data_node *n = add_node(d, (const char *const[]){ "a", "b", "c" }[i], 1000);
        n->taints[n->n_taints++] = (struct data_taint){ "dedicated", "gpu", "NoSchedule" };
    }
    add_pod(d, "target", NULL, 100);
}

static void label(struct data *d)
{
    add_node(d, "a", 1000);
    pair_set(&add_node(d, "b", 1000)->labels, "disk", "hdd"); /* is not overwritten */
    pair_set(&add_pod(d, "target", NULL, 100)->selector, "disk", "ssd");
}

static void number(struct data *d)
{
    add_node(d, "a", 1000);
    add_pod(d, "target", NULL, 100)->node_terms =
        "{'matchExpressions':[{'key':'cores','operator':'Gt','values':['7']}]}";
}

static void more_than_all(struct data *d)
{
    add_node(d, "a", 1000);
    add_pod(d, "target", NULL, 100)->node_terms =
        "{'matchExpressions':[{'key':'cores','operator':'Gt','values':['9223372036854775807']}]}";
}

static void less_than_one(struct data *d)
{
    add_node(d, "a", 1000);
    add_pod(d, "target", NULL, 100)->node_terms =
        "{'matchExpressions':[{'key':'cores','operator':'Lt','values':['1']}]}";
}

static void more_than_zero(struct data *d)
{
    add_node(d, "a", 1000);
    add_pod(d, "target", NULL, 100)->node_terms =
        "{'matchExpressions':[{'key':'cores','operator':'Gt','values':['0']}]}";
}

static void less_than_zero(struct data *d)
{
    add_node(d, "a", 1000);
    add_pod(d, "target", NULL, 100)->node_terms =
        "{'matchExpressions':[{'key':'cores','operator':'Lt','values':['0']}]}";
}

static void other_value(struct data *d)
{
    pair_set(&add_node(d, "a", 1000)->labels, "disk", "hdd");
    pair_set(&add_pod(d, "target", NULL, 100)->selector, "disk", "ssd");
}

static void spread_key(struct data *d)
{
    add_node(d, "a", 1000);
    struct data_pod *p = add_pod(d, "target", NULL, 100);
    p->spread[p->n_spread++] = (struct data_spread){ "zone", "{'matchLabels':{'app':'a'}}", "", 1, false };
}

static void skew(struct data *d)
{
    pair_set(&add_node(d, "a", 1000)->labels, "zone", "z1");
    struct data_node *full = add_node(d, "b", 100);
    pair_set(&full->labels, "zone", "z2");
    pair_set(&add_pod(d, "one", "a", 10)->labels, "app", "a");
    pair_set(&add_pod(d, "two", "a", 10)->labels, "app", "a");
    struct data_pod *p = add_pod(d, "target", NULL, 500);
    pair_set(&p->labels, "app", "a");
    p->spread[p->n_spread++] = (struct data_spread){ "zone", "{'matchLabels':{'app':'a'}}", "", 1, false };
}

static void anti(struct data *d)
{
    add_node(d, "a", 1000);
    struct data_pod *on = add_pod(d, "one", "a", 10);
    pair_set(&on->labels, "app", "a");
    on->owner_kind = "DaemonSet";
    struct data_pod *p = add_pod(d, "target", NULL, 500);
    p->anti[p->n_anti++] = (struct data_term){ HOSTNAME_KEY, "{'matchLabels':{'app':'a'}}" };
}

static void port(struct data *d)
{
    add_node(d, "a", 1000);
    struct data_pod *on = add_pod(d, "one", "a", 10);
    on->ports[on->n_ports++] = (struct data_port){ 80, "TCP", "0.0.0.0" };
    struct data_pod *p = add_pod(d, "target", NULL, 500);
    p->ports[p->n_ports++] = (struct data_port){ 80, "TCP", "0.0.0.0" };
}

static void full(struct data *d)
{
    add_node(d, "a", 1000);
    add_node(d, "b", 1000);
    add_pod(d, "big", "a", 900);
    add_pod(d, "small", "b", 600)->owner_kind = "DaemonSet";
    add_pod(d, "target", NULL, 700);
}

static void full_of_pods(struct data *d)
{
    add_node(d, "a", 1000)->alloc.pods = 1;
    add_pod(d, "one", "a", 0);
    add_pod(d, "target", NULL, 100);
}

static void two_resources(struct data *d)
{
    add_node(d, "a", 1000);
    struct data_pod *on = add_pod(d, "one", "a", 800);
    on->request.memory = 6 * GIB;
    add_pod(d, "target", NULL, 700)->request.memory = 3 * GIB;
}

static void victims(struct data *d)
{
    add_node(d, "a", 1000);
    add_pod(d, "first", "a", 500)->priority = 5;
    add_pod(d, "second", "a", 300);
    add_pod(d, "third", "a", 200);
    add_pod(d, "target", NULL, 500);
}

static void one_victim_is_enough(struct data *d)
{
    add_node(d, "a", 1000);
    add_pod(d, "large", "a", 600);
    for (int i = 0; i < 4; i++)
        add_pod(d, (const char *const[]){ "s1", "s2", "s3", "s4" }[i], "a", 100);
    add_pod(d, "target", NULL, 400);
}

static void guard(struct data *d)
{
    pair_set(&add_node(d, "a", 1000)->labels, "zone", "z");
    pair_set(&add_node(d, "b", 100)->labels, "zone", "z");
    struct data_pod *on = add_pod(d, "guard", "b", 50);
    on->anti[on->n_anti++] = (struct data_term){ "zone", "{'matchLabels':{'app':'a'}}" };
    pair_set(&add_pod(d, "target", NULL, 900)->labels, "app", "a");
}

static void too_large(struct data *d)
{
    add_node(d, "a", 1000);
    add_node(d, "b", 1500);
    add_pod(d, "target", NULL, 2000);
}

static void fits(struct data *d)
{
    add_node(d, "a", 1000);
    add_pod(d, "target", NULL, 100);
}

static const char *all_texts(const struct remedies *all, struct arena *a)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (uint32_t i = 0; i < all->n; i++)
        strbuf_printf(&b, "%s%s", i ? "\n" : "", remedy_text(&all->at[i], a));
    const char *text = arena_cstr(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static const struct row {
    const char *name;
    void (*make)(struct data *d);
    const char *texts; /* all, in order */
} rows[] = {
    { "a gate is all that is in the way", gates, "remove the scheduling gate example.com/quota (then node a)" },
    { "a cordon and its taint go together", cordon,
      "uncordon node a\n"
      "let the pod tolerate node.kubernetes.io/unschedulable:NoSchedule (then node a)\n"
      "add one more node like a" },
    { "one taint on three nodes is one remedy", taints,
      "let the pod tolerate dedicated=gpu:NoSchedule (then node a or one of 2 more)\n"
      "remove the taint dedicated=gpu:NoSchedule from node a; or the same on node b or c" },
    { "a label that the pod selects by; nodes that have another value are left alone", label,
      "add the label disk=ssd to node a\n"
      "drop disk=ssd from the pod's node selector (no node has disk=ssd; node b has disk=hdd) (then node a or one of 1 more)" },
    { "a number that is large enough", number,
      "add the label cores=8 to node a\n"
      "drop the pod's required node affinity (then node a)" },
    { "no number is larger than the largest", more_than_all,
      "drop the pod's required node affinity (then node a)" },
    { "the smallest number", less_than_one,
      "add the label cores=0 to node a\n"
      "drop the pod's required node affinity (then node a)" },
    { "one more than nothing", more_than_zero,
      "add the label cores=1 to node a\n"
      "drop the pod's required node affinity (then node a)" },
    { "no value of a label is less than zero", less_than_zero,
      "drop the pod's required node affinity (then node a)" },
    { "a label is never changed", other_value,
      "drop disk=ssd from the pod's node selector (no node has disk=ssd; node a has disk=hdd) (then node a)" },
    { "a topology key that no node has", spread_key,
      "add the label zone=a to node a\n"
      "drop the topology spread constraint on zone (then node a)" },
    { "the smallest maxSkew that does it", skew,
      "raise maxSkew of the topology spread constraint on zone from 1 to 3 (then node a)\n"
      "lower the pod's cpu request from 500m to 100m (then node b)\n"
      "evict default/one and default/two from node a" },
    { "anti-affinity to a pod that would come back", anti,
      "drop the required pod anti-affinity term on kubernetes.io/hostname (then node a)\n"
      "add one more node like a" },
    { "a host port that somebody has", port,
      "do without the host port 80/TCP (then node a)\n"
      "evict default/one from node a\n"
      "add one more node like a" },
    { "the least that must become free, the fuller node behind", full,
      "free 300m cpu on node b (it has 400m cpu free, the pod asks for 700m)\n"
      "lower the pod's cpu request from 700m to 400m (then node b)\n"
      "free 600m cpu on node a (it has 100m cpu free, the pod asks for 700m)\n"
      "evict default/big from node a\n"
      "add one more node like a" },
    { "as many pods as the node may have", full_of_pods,
      "free room for 1 more pod on node a (it has as many pods as it may)\n"
      "evict default/one from node a\n"
      "add one more node like a" },
    { "two resources at once, and no single request to lower", two_resources,
      "free 500m cpu and 1Gi memory on node a (it has 200m cpu free, the pod asks for 700m; it has 2Gi memory free, "
      "the pod asks for 3Gi)\n"
      "evict default/one from node a\n"
      "add one more node like a" },
    { "two unimportant pods rather than an important one", victims,
      "free 500m cpu on node a (it has 0 cpu free, the pod asks for 500m)\n"
      "evict default/third and default/second from node a\n"
      "add one more node like a" },
    { "one large pod rather than many small ones", one_victim_is_enough,
      "free 400m cpu on node a (it has 0 cpu free, the pod asks for 400m)\n"
      "evict default/large from node a\n"
      "add one more node like a" },
    { "a pod elsewhere whose anti-affinity closes the zone", guard,
      "evict default/guard from node b (then node a)" },
    { "no node is large enough: what fits the larger one", too_large,
      "lower the pod's cpu request from 2 to 1500m (then node b)\n"
      "add a node like b that has 2 cpu (no node has as much cpu); or like a" },
    { "nothing is wrong", fits, "" },
};

static struct data data; /* large */

TEST(remedies_of_small_clusters)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fresh f;
        struct remedies all;
        data = (struct data){ 0 };
        rows[i].make(&data);
        fresh_init(&f, &data);
        remedies_find(f.sched, f.target, &a, &all);
        CHECK_TEXT(rows[i].name, all_texts(&all, &a), rows[i].texts);
        CHECK_INT(rows[i].name, all.fits, rows[i].texts[0] == '\0');
        CHECK(all.n_tried > all.n);
        fresh_fini(&f);
    }
    arena_fini(&a);
}

/* ---- Many nodes ---- */

/* With the same taint, or each with its own. */
static void add_tainted_nodes(struct data *d, int n_nodes, bool same)
{
    static char names[NODES_MAX][16];
    for (int i = 0; i < n_nodes; i++) {
        snprintf(names[i], sizeof(names[i]), "n%02d", i);
        struct data_node *n = add_node(d, names[i], 1000 + i);
        n->taints[n->n_taints++] = (struct data_taint){ "dedicated", same ? "gpu" : names[i], "NoSchedule" };
    }
    add_pod(d, "target", NULL, 500);
}

TEST(the_best_few_are_kept)
{
    struct arena a;
    arena_init(&a);
    struct fresh f;
    struct remedies all;
    data = (struct data){ 0 };
    add_tainted_nodes(&data, REMEDIES_PER_KIND + 2, false);
    fresh_init(&f, &data);
    remedies_find(f.sched, f.target, &a, &all);
    CHECK_INT("tolerations and taints", all.n, 2 * REMEDIES_PER_KIND);
    CHECK_TEXT("last", all.at[all.n - 1].node, "n03");
    CHECK(all.cut);
    fresh_fini(&f);
    arena_fini(&a);
}

TEST(the_same_change_of_many_nodes_is_one_remedy)
{
    struct arena a;
    arena_init(&a);
    struct fresh f;
    struct remedies all;
    data = (struct data){ 0 };
    add_tainted_nodes(&data, 64, true);
    fresh_init(&f, &data);
    remedies_find(f.sched, f.target, &a, &all);
    CHECK_INT("n", all.n, 2);
    CHECK_INT("first", all.at[0].kind, REMEDY_TOLERATE);
    CHECK_INT("feasible", all.at[0].n_feasible, 64);
    CHECK_INT("second", all.at[1].kind, REMEDY_REMOVE_TAINT);
    CHECK_INT("alike", all.at[1].n_alike, 63);
    CHECK_TEXT("text", remedy_text(&all.at[1], &a),
               "remove the taint dedicated=gpu:NoSchedule from node n00; or the same on node n01, n02, n03 or 60 others");
    CHECK(!all.cut);
    fresh_fini(&f);
    arena_fini(&a);
}

TEST(nothing_is_offered_where_nothing_can_be_said)
{
    struct arena a;
    arena_init(&a);
    struct fresh f;
    struct remedies all;
    data = (struct data){ 0 };
    add_pod(&data, "target", NULL, 500);
    fresh_init(&f, &data);
    remedies_find(f.sched, f.target, &a, &all);
    CHECK_INT("without nodes", all.n, 0);
    CHECK(!all.fits);
    fresh_fini(&f);

    data = (struct data){ 0 };
    taints(&data);
    fresh_init(&f, &data);
    f.sched->n_extenders = 1; /* who would have to be asked */
    remedies_find(f.sched, f.target, &a, &all);
    CHECK_INT("with extenders", all.n, 0);
    CHECK_INT("with extenders", all.n_tried, 0);
    f.sched->n_extenders = 0;
    fresh_fini(&f);

    data = (struct data){ 0 };
    too_large(&data);
    add_pod(&data, "placed", "a", 10);
    fresh_init(&f, &data);
    remedies_find(f.sched, cache_find_pod(sched_cache(f.sched), "uid-placed")->pod, &a, &all);
    CHECK_INT("of a pod that has a node", all.n, 0);
    fresh_fini(&f);
    arena_fini(&a);
}

TEST(amounts_as_people_write_them)
{
    static const struct {
        const char *resource;
        int64_t amount;
        const char *text;
    } amounts[] = {
        { "cpu", 700, "700m" },       { "cpu", 2000, "2" },
        { "memory", 0, "0" },         { "memory", 1536 * MIB, "1536Mi" },
        { "memory", 1000, "1000" },   { "ephemeral-storage", 3 * GIB, "3Gi" },
        { "hugepages-2Mi", 4 * MIB, "4Mi" }, { "example.com/gpu", 2, "2" },
        { "memory", INT64_MAX, "9223372036854775807" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++)
        CHECK_TEXT(amounts[i].resource, remedy_amount_text(amounts[i].resource, amounts[i].amount, &a), amounts[i].text);
    arena_fini(&a);
}
