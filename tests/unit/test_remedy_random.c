/* Remedies on random clusters: each one that is offered is done by hand to the data, a brand new
 * scheduler gets the result, and places the pod. A bit less of it does not. */
#include "tests/unit/remedy_world.h"

enum { CLUSTERS = 6000, CLUSTERS_IN_SOAK = 100000 };

struct tally {
    unsigned of_kind[N_REMEDY_KINDS], of_relaxed[N_RELAXED], n_alike, n_elsewhere, n_several_victims, n_several_amounts,
        n_nominated, n_clusters, n_remedies;
};

static struct rand dice;
static struct arena texts;

static unsigned below(unsigned n)
{
    return (unsigned)rand_below(&dice, n);
}

static bool chance(unsigned percent)
{
    return below(100) < percent;
}

#define PICK(...)                                                                          \
    ((const char *const[]){ __VA_ARGS__ }[below(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))])

/* ---- Random data ---- */

static void random_taint(struct data_taint *t)
{
    *t = (struct data_taint){ PICK("dedicated", "dedicated", "maintenance"), PICK("", "gpu", "db"),
                              PICK("NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule") };
}

static void random_node(struct data *d)
{
    struct data_node *n = &d->nodes[d->n_nodes];
    *n = (struct data_node){ .name = arena_printf(&texts, "n-%u", d->n_nodes) };
    d->n_nodes++;
    if (chance(92))
        pair_set(&n->labels, HOSTNAME_KEY, n->name);
    if (chance(75))
        pair_set(&n->labels, "zone", PICK("a", "b", "c"));
    if (chance(50))
        pair_set(&n->labels, "disk", PICK("ssd", "hdd"));
    if (chance(40))
        pair_set(&n->labels, "rack", PICK("r1", "r2"));
    if (chance(40))
        pair_set(&n->labels, "cores", PICK("2", "8", "many"));
    if (chance(30))
        random_taint(&n->taints[n->n_taints++]);
    if (chance(8))
        n->taints[n->n_taints++] = (struct data_taint){ "node.kubernetes.io/not-ready", "", "NoExecute" };
    n->unschedulable = chance(12);
    if (n->unschedulable && chance(60))
        n->taints[n->n_taints++] = (struct data_taint){ CORDON_KEY, "", "NoSchedule" };
    n->alloc = (struct data_amounts){ .milli_cpu = 500 * (1 + below(8)), .memory = GIB * (1 + below(8)),
                                      .ephemeral = GIB * 10 * below(2), .gpu = below(3),
                                      .pods = chance(30) ? 1 + below(4) : 110 };
}

static const char *random_selector(void)
{
    return PICK("{'matchLabels':{'app':'a'}}", "{'matchLabels':{'app':'b'}}", "{'matchLabels':{'app':'a','tier':'x'}}",
                "{'matchExpressions':[{'key':'app','operator':'In','values':['a','c']}]}", "{}");
}

static void random_terms(struct data_term *terms, unsigned *n, unsigned percent)
{
    while (*n < 3 && chance(percent))
        terms[(*n)++] = (struct data_term){ PICK("zone", "zone", HOSTNAME_KEY, HOSTNAME_KEY, "rack"), random_selector() };
}

static void random_basics(struct data_pod *p)
{
    static const int priorities[] = { 0, 0, 0, 10, 100, -5 };
    p->priority = priorities[below(6)];
    if (chance(90))
        pair_set(&p->labels, "app", PICK("a", "a", "b", "c"));
    if (chance(30))
        pair_set(&p->labels, "tier", PICK("x", "y"));
    p->request.milli_cpu = 100 * below(12);
    p->request.memory = 256 * MIB * below(6);
    p->request.gpu = chance(20);
    if (chance(20))
        p->request.ephemeral = GIB * below(6);
    while (p->n_ports < 2 && chance(30))
        p->ports[p->n_ports++] = (struct data_port){ 80 + (int)below(2), PICK("TCP", "TCP", "UDP"),
                                                     PICK("0.0.0.0", "0.0.0.0", "10.0.0.1") };
}

static void random_pod_on(struct data *d, const char *node)
{
    struct data_pod *p = &d->pods[d->n_pods];
    *p = (struct data_pod){ .name = arena_printf(&texts, "p-%u", d->n_pods), .node = node };
    d->n_pods++;
    random_basics(p);
    random_terms(p->anti, &p->n_anti, 12);
    if (chance(15))
        p->owner_kind = PICK("DaemonSet", "ReplicaSet");
}

static void random_promised(struct data *d)
{
    random_pod_on(d, NULL);
    d->pods[d->n_pods - 1].nominated = d->nodes[below(d->n_nodes)].name;
    d->pods[d->n_pods - 1].owner_kind = NULL;
}

static void random_spread(struct data_pod *p)
{
    static const char *const more[] = { "", "", ",'minDomains':3", ",'nodeTaintsPolicy':'Honor'",
                                        ",'nodeAffinityPolicy':'Ignore'", ",'matchLabelKeys':['tier']" };
    unsigned i = below(6);
    p->spread[p->n_spread++] = (struct data_spread){ PICK("zone", "zone", HOSTNAME_KEY, "rack", "nowhere"), random_selector(),
                                                     more[i], 1 + below(2), chance(25) };
}

/* Hard to please, in one way or in several. */
static void random_target(struct data *d)
{
    struct data_pod *p = &d->pods[d->n_pods++];
    *p = (struct data_pod){ .name = "target" };
    random_basics(p);
    unsigned fuss = below(6);
    if (fuss == 0 || chance(20))
        p->request = (struct data_amounts){ 500 + 100 * below(40), 512 * MIB * below(14), chance(20) ? GIB * 12 : 0, below(3), 0 };
    if (fuss == 1 || chance(10))
        pair_set(&p->selector, "disk", PICK("ssd", "nvme"));
    if (chance(10))
        pair_set(&p->selector, "rack", PICK("r1", "r9"));
    if (fuss == 1 || chance(10))
        p->node_terms = PICK("{'matchExpressions':[{'key':'disk','operator':'In','values':['ssd','nvme']}]}",
                             "{'matchExpressions':[{'key':'rack','operator':'Exists'}]}",
                             "{'matchExpressions':[{'key':'cores','operator':'Gt','values':['7']}]}",
                             "{'matchExpressions':[{'key':'cores','operator':'Lt','values':['3']}]}",
                             "{'matchExpressions':[{'key':'zone','operator':'NotIn','values':['a','b']}]}",
                             "{'matchFields':[{'key':'metadata.name','operator':'In','values':['n-1']}]}",
                             "{'matchFields':[{'key':'metadata.name','operator':'In','values':['gone']}]}",
                             "{'matchExpressions':[{'key':'disk','operator':'In','values':['ssd']},"
                             "{'key':'rack','operator':'DoesNotExist'}]}");
    random_terms(p->affinity, &p->n_affinity, fuss == 2 ? 60 : 6);
    random_terms(p->anti, &p->n_anti, fuss == 3 ? 75 : 6);
    while (p->n_spread < 3 && chance(fuss == 4 ? 65 : 6))
        random_spread(p);
    if (fuss == 4 && chance(60)) { /* nothing but full domains */
        p->n_spread = 1;
        p->spread[0] = (struct data_spread){ PICK("zone", HOSTNAME_KEY), "{'matchLabels':{'app':'a'}}", "", 1, false };
        pair_set(&p->labels, "app", "a");
    }
    while (fuss == 5 && p->n_ports < 3)
        p->ports[p->n_ports++] = (struct data_port){ 80 + (int)below(3), "TCP", PICK("0.0.0.0", "10.0.0.1") };
    if (chance(35))
        p->tolerations[p->n_tolerations++] = (struct data_taint){ PICK("dedicated", ""), "gpu", "NoSchedule" };
    static const char *const gates[] = { "example.com/first", "example.com/second" };
    for (; p->n_gates < 2 && chance(4); p->n_gates++)
        p->gates[p->n_gates] = gates[p->n_gates];
}

static void random_data(struct data *d)
{
    static const char config[] = "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                 "kind: KubeSchedulerConfiguration\n"
                                 "percentageOfNodesToScore: 100\n"
                                 "profiles:\n"
                                 "- schedulerName: default-scheduler\n"
                                 "  pluginConfig:\n"
                                 "  - name: NodeResourcesFit\n"
                                 "    args: {ignoredResources: [example.com/gpu]}\n"
                                 "  - name: PodTopologySpread\n"
                                 "    args: {defaultingType: List, defaultConstraints: []}\n";
    *d = (struct data){ .config = chance(15) ? config : NULL };
    unsigned n_nodes = chance(10) ? 10 + below(6) : 1 + below(5), n_each = below(6);
    if (chance(1)) { /* where columns of 64 rows end */
        n_nodes = 62 + below(4);
        n_each = below(3);
    }
    bool uniform = chance(20); /* alike nodes, so that remedies fold */
    for (unsigned i = 0; i < n_nodes; i++) {
        random_node(d);
        if (uniform && i) {
            struct data_node *n = &d->nodes[i];
            const char *name = n->name;
            *n = d->nodes[0];
            n->name = name;
            if (pair_get(&n->labels, HOSTNAME_KEY))
                pair_set(&n->labels, HOSTNAME_KEY, name);
        }
    }
    for (unsigned i = 0; i < n_nodes; i++)
        for (unsigned n = n_each ? below(n_each + 1) : 0; n > 0; n--)
            random_pod_on(d, d->nodes[i].name);
    if (chance(8))
        random_promised(d);
    random_target(d);
}

/* ---- Checks ---- */

static const char *explain(uint64_t seed, const struct remedy *r)
{
    return arena_printf(&texts, "seed %llu, \"%s\"", (unsigned long long)seed, remedy_text(r, &texts));
}

static bool is_open(const struct outcome *o, const char *node)
{
    for (unsigned i = 0; i < o->n_feasible; i++)
        if (strcmp(o->feasible[i], node) == 0)
            return true;
    return false;
}

static struct data changed; /* large */

static bool places_when_done(const struct data *d, const struct remedy *r)
{
    changed = *d;
    apply_remedy(&changed, r, r->node);
    return is_placed(&changed);
}

static void check_placed(const struct data *d, const struct remedy *r, const char *node, uint64_t seed)
{
    struct outcome o;
    changed = *d;
    apply_remedy(&changed, r, node);
    run_plainly(&changed, &o);
    if (!o.node[0])
        FAIL("%s on %s does not place the pod", explain(seed, r), node);
    if (node != r->node)
        return;
    if (o.n_feasible != r->n_feasible)
        FAIL("%s opens %u nodes, not %u", explain(seed, r), o.n_feasible, r->n_feasible);
    if (!is_open(&o, r->goes_to) || (o.n_feasible == 1 && strcmp(o.node, r->goes_to) != 0))
        FAIL("%s: the pod goes to %s, not %s", explain(seed, r), o.node, r->goes_to);
}

/* One unit, one victim, one step less. */
static void check_smallest(const struct data *d, const struct remedy *r, uint64_t seed)
{
    struct remedy less = *r;
    struct remedy_amount amounts[8];
    struct remedy_pod victims[REMEDY_VICTIMS_MAX];
    CHECK(r->n_amounts <= 8);
    for (uint32_t i = 0; r->kind == REMEDY_FREE && i < r->n_amounts; i++) {
        memcpy(amounts, r->amounts, r->n_amounts * sizeof(*amounts));
        amounts[i].missing--;
        less.amounts = amounts;
        if (places_when_done(d, &less))
            FAIL("%s: one %s less does it too", explain(seed, r), amounts[i].resource);
    }
    for (uint32_t i = 0; i < r->n_victims; i++) {
        less.victims = victims;
        less.n_victims = 0;
        for (uint32_t k = 0; k < r->n_victims; k++)
            if (k != i)
                victims[less.n_victims++] = r->victims[k];
        if (places_when_done(d, &less))
            FAIL("%s: %s need not go", explain(seed, r), r->victims[i].name);
    }
    less = *r;
    if (r->kind == REMEDY_RELAX && r->relaxed == RELAX_MAX_SKEW && (less.now--, places_when_done(d, &less)))
        FAIL("%s: a smaller maxSkew does it too", explain(seed, r));
    if (r->kind == REMEDY_RELAX && r->relaxed == RELAX_REQUEST && (less.now++, places_when_done(d, &less)))
        FAIL("%s: a larger request does it too", explain(seed, r));
}

static void count(struct tally *t, const struct data *d, const struct remedy *r)
{
    t->n_remedies++;
    t->of_kind[r->kind]++;
    t->of_relaxed[r->relaxed] += r->kind == REMEDY_RELAX;
    t->n_alike += r->n_alike;
    t->n_several_victims += r->n_victims > 1;
    t->n_several_amounts += r->n_amounts > 1;
    t->n_elsewhere += r->kind == REMEDY_EVICT && strcmp(r->node, r->goes_to) != 0;
    t->n_nominated += d->n_pods > 1 && d->pods[d->n_pods - 2].nominated;
}

static void check_order(const struct remedies *all, uint64_t seed)
{
    for (uint32_t i = 1; i < all->n; i++)
        if (all->at[i].size < all->at[i - 1].size)
            FAIL("%s comes after a larger one", explain(seed, &all->at[i]));
}

static void run_cluster(uint64_t seed, struct tally *t)
{
    static struct data d;
    rand_init(&dice, seed);
    random_data(&d);
    struct fresh f;
    fresh_init(&f, &d);
    struct arena arena;
    arena_init(&arena);
    struct remedies all;
    remedies_find(f.sched, f.target, &arena, &all);
    bool fits = is_placed(&d);
    if (all.fits != fits || (fits && all.n))
        FAIL("seed %llu: the pod %s", (unsigned long long)seed, fits ? "fits" : "does not fit");
    t->n_clusters++;
    check_order(&all, seed);
    for (uint32_t i = 0; i < all.n; i++) {
        const struct remedy *r = &all.at[i];
        count(t, &d, r);
        check_placed(&d, r, r->node, seed);
        for (uint32_t k = 0; k < r->n_alike; k++)
            check_placed(&d, r, r->alike[k], seed);
        check_smallest(&d, r, seed);
    }
    arena_fini(&arena);
    fresh_fini(&f);
}

TEST(every_remedy_does_what_it_says)
{
    const char *given = getenv("SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : 1;
    unsigned n = given ? 1 : getenv("SOAK") ? CLUSTERS_IN_SOAK : CLUSTERS;
    struct tally t = { 0 };
    arena_init(&texts);
    for (unsigned i = 0; i < n; i++) {
        run_cluster(seed + i, &t);
        arena_reset(&texts);
    }
    printf("%u clusters, %u remedies, %u alike, %u elsewhere, %u with several victims, %u with several amounts, "
           "%u beside promised pods\n", t.n_clusters, t.n_remedies, t.n_alike, t.n_elsewhere, t.n_several_victims,
           t.n_several_amounts, t.n_nominated);
    for (int k = 0; k < N_REMEDY_KINDS; k++) {
        printf("  %s: %u\n", remedy_kind_name((enum remedy_kind)k), t.of_kind[k]);
        CHECK(given || t.of_kind[k] > 0 || k == REMEDY_PROVIDE_CLAIMS); /* nobody has claims here */
    }
    for (int k = 0; k < N_RELAXED; k++) {
        printf("  relax %s: %u\n", remedy_relaxed_name((enum relaxed)k), t.of_relaxed[k]);
        CHECK(given || t.of_relaxed[k] > 0);
    }
    if (!given) {
        CHECK(t.n_remedies >= 3000);
        CHECK(t.n_alike > 0);
        CHECK(t.n_elsewhere > 0);
        CHECK(t.n_several_victims > 0);
        CHECK(t.n_several_amounts > 0);
        CHECK(t.n_nominated > 0);
    }
    arena_fini(&texts);
}
