/* Shadows: two schedulers in one process, one decides and the other looks on. With the same configuration they agree on every
 * pod; with another one the plugin that makes the difference is named. */
#include "base/log.h"
#include "base/rand.h"
#include "codec/json_scan.h"
#include "insight/shadow.h"
#include "tests/unit/insight_world.h"

#define CONFIG(more)                                                                                        \
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"                        \
    "percentageOfNodesToScore: 100\nleaderElection: {leaderElect: false}\nprofiles:\n"                      \
    "- schedulerName: default-scheduler\n" more

enum { NODES = 40, PODS = 400 };

struct pair {
    struct sym_table syms;
    struct insight_world decides, looks_on;
    struct shadow *shadow;
    struct rand rand;
    unsigned n_log_lines;
};

static void count_line(void *context, struct str record)
{
    struct pair *p = context;
    CHECK(memmem(record.p, record.n, "Another scheduler chose otherwise", 33));
    p->n_log_lines++;
}

/* The watch shows the pod: to the one that looks on first as a question, then as a fact. */
static void bound(void *context, const struct pod *before, const struct pod *after)
{
    struct pair *p = context;
    const struct pod *known = sched_pod(p->looks_on.sched, before->meta.uid);
    CHECK(known);
    shadow_pod_bound(p->shadow, known, after);
    sched_pod_set(p->looks_on.sched, after);
}

static void pair_open(struct pair *p, const char *decides, const char *looks_on)
{
    *p = (struct pair){ .n_log_lines = 0 };
    sym_init(&p->syms);
    insight_world_init(&p->decides, &p->syms, decides);
    insight_world_init(&p->looks_on, &p->syms, looks_on);
    p->decides.bound = bound;
    p->decides.bound_context = p;
    p->shadow = shadow_new(p->looks_on.sched, NULL);
    rand_init(&p->rand, 5);
    log_set_sink(count_line, p);
}

static void pair_close(struct pair *p)
{
    log_set_sink(NULL, NULL);
    shadow_free(p->shadow);
    insight_world_fini(&p->decides);
    insight_world_fini(&p->looks_on);
    sym_fini(&p->syms);
}

static void both_nodes(struct pair *p, const char *name, const char *labels, const char *spec, const char *cpu)
{
    insight_node(&p->decides, name, labels, spec, cpu, "110");
    insight_node(&p->looks_on, name, labels, spec, cpu, "110");
}

static void both_pods(struct pair *p, const char *name, const char *cpu, const char *meta, const char *spec)
{
    const struct pod *pod = insight_pod(&p->decides, name, cpu, meta, spec);
    sched_pod_set(p->decides.sched, pod);
    sched_pod_set(p->looks_on.sched, pod);
    pod_unref(&p->syms, pod);
}

static const char *const specs[] = {
    "",
    ",'nodeSelector':{'disk':'ssd'}",
    ",'tolerations':[{'key':'k','operator':'Exists'}]",
    ",'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'labelSelector':{'matchLabels':"
    "{'app':'lonely'}},'topologyKey':'kubernetes.io/hostname'}]}}",
    ",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':'DoNotSchedule','labelSelector':"
    "{'matchLabels':{'app':'a'}}}]",
    ",'topologySpreadConstraints':[{'maxSkew':2,'topologyKey':'zone','whenUnsatisfiable':'ScheduleAnyway','labelSelector':"
    "{'matchLabels':{'app':'b'}}}]",
    ",'affinity':{'podAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':7,'podAffinityTerm':"
    "{'labelSelector':{'matchLabels':{'app':'b'}},'topologyKey':'zone'}}]}}",
    ",'affinity':{'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':9,'preference':{'matchExpressions':"
    "[{'key':'disk','operator':'In','values':['ssd']}]}}]}}",
    ",'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[{'matchFields':"
    "[{'key':'metadata.name','operator':'In','values':['n3']}]}]}}}",
};

static void fill(struct pair *p, unsigned n_nodes, unsigned n_pods)
{
    struct arena *a = &p->decides.arena;
    for (unsigned i = 0; i < n_nodes; i++)
        both_nodes(p, arena_printf(a, "n%u", i), arena_printf(a, ",'zone':'z%u'%s", i % 3, i % 4 ? "" : ",'disk':'ssd'"),
                   i % 7 == 6 ? "'taints':[{'key':'k','value':'v','effect':'NoSchedule'}]" : "",
                   rand_below(&p->rand, 2) ? "4" : "9");
    for (unsigned i = 0; i < n_pods; i++) {
        const char *app = i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "lonely";
        both_pods(p, arena_printf(a, "p%u", i), arena_printf(a, "%um", 100 + 150 * (unsigned)rand_below(&p->rand, 8)),
                  arena_printf(a, ",'labels':{'app':'%s'}", app), specs[rand_below(&p->rand, sizeof(specs) / sizeof(*specs))]);
        insight_run(&p->decides);
    }
}

TEST(the_same_configuration_agrees_on_every_pod)
{
    struct pair p;
    pair_open(&p, NULL, NULL);
    fill(&p, NODES, PODS);
    const struct shadow_counts *c = shadow_counts(p.shadow);
    uint64_t n_agreed = c->n[SHADOW_SAME] + c->n[SHADOW_EQUAL];
    printf("%llu bound: %llu the same, %llu equal\n", (unsigned long long)p.decides.n_bound,
           (unsigned long long)c->n[SHADOW_SAME], (unsigned long long)c->n[SHADOW_EQUAL]);
    CHECK(p.decides.n_bound > PODS / 2);
    CHECK_INT("agreed", n_agreed, p.decides.n_bound);
    CHECK_INT("lines", p.n_log_lines, 0);
    pair_close(&p);
}

/* Shares of nodes make the one that decides miss better ones; what was looked at is never refused. */
TEST(a_share_of_the_nodes_is_told_as_lower)
{
    struct pair p;
    static const char share[] = CONFIG("  percentageOfNodesToScore: 5\n");
    pair_open(&p, share, NULL);
    fill(&p, 300, 300);
    const struct shadow_counts *c = shadow_counts(p.shadow);
    CHECK_INT("refused", c->n[SHADOW_REFUSED] + c->n[SHADOW_NOWHERE] + c->n[SHADOW_NOT_COMPARED], 0);
    CHECK(c->n[SHADOW_LOWER] > 0);
    pair_close(&p);
}

/* The one that looks on compares all, whatever its own configuration says. */
TEST(a_share_of_its_own_does_not_count)
{
    struct pair p;
    static const char share[] = CONFIG("  percentageOfNodesToScore: 5\n");
    pair_open(&p, NULL, share);
    fill(&p, 300, 200);
    const struct shadow_counts *c = shadow_counts(p.shadow);
    CHECK_INT("agreed", c->n[SHADOW_SAME] + c->n[SHADOW_EQUAL], p.decides.n_bound);
    pair_close(&p);
}

static void check_answer(struct pair *p, const char *query, const char *want)
{
    struct strbuf to;
    struct err *e = &p->decides.e;
    strbuf_init(&to, STRBUF_NO_MAX);
    if (insight_shadow(p->shadow, str_of(query), &to, e) || json_check(strbuf_str(&to), e))
        FAIL("%s: %s", query, e->message);
    insight_check_has(&to, query, want);
    strbuf_fini(&to);
}

TEST(another_score_is_named)
{
    struct pair p;
    static const char packer[] = CONFIG("  pluginConfig:\n  - name: NodeResourcesFit\n    args: {scoringStrategy: {type: MostAllocated,"
                                        " resources: [{name: cpu, weight: 1}]}}\n");
    pair_open(&p, NULL, packer);
    both_nodes(&p, "empty", "", "", "8");
    both_nodes(&p, "used", "", "", "8");
    const struct pod *there = insight_pod(&p.decides, "there", "4", "", ",'nodeName':'used'");
    sched_pod_set(p.decides.sched, there);
    CHECK_INT("never pending", shadow_pod_bound(p.shadow, NULL, there), SHADOW_NOT_COMPARED);
    sched_pod_set(p.looks_on.sched, there);
    CHECK_INT("it had a node", shadow_pod_bound(p.shadow, there, there), SHADOW_NOT_COMPARED);
    pod_unref(&p.syms, there);
    both_pods(&p, "new", "2", "", "");
    insight_run(&p.decides);
    const struct shadow_counts *c = shadow_counts(p.shadow);
    CHECK_INT("lower", c->n[SHADOW_LOWER], 1);
    CHECK_INT("not compared", c->n[SHADOW_NOT_COMPARED], 1);
    CHECK_INT("plugins", c->n_plugins, 1);
    CHECK_TEXT("plugin", c->plugins[0].name, "NodeResourcesFit");
    CHECK_INT("plugin", c->plugins[0].n_lower, 1);
    CHECK_INT("lines", p.n_log_lines, 1);
    check_answer(&p, "", "\"compared\":1,\"agreed\":0,\"classes\":{\"same\":0,\"equal\":0,\"lower\":1,");
    check_answer(&p, "class=lower&plugin=NodeResourcesFit",
                 "\"class\":\"lower\",\"node\":\"empty\",\"berthNode\":\"used\",\"plugin\":\"NodeResourcesFit\",\"reason\":null,\"total\":");
    check_answer(&p, "class=refused", "\"disagreements\":[]");
    check_answer(&p, "plugin=NodeAffinity", "\"disagreements\":[]");
    struct strbuf to;
    strbuf_init(&to, STRBUF_NO_MAX);
    CHECK_INT("class", insight_shadow(p.shadow, STR("class=same"), &to, &p.decides.e), ERR_BAD_REQUEST);
    CHECK_INT("limit", insight_shadow(p.shadow, STR("limit=257"), &to, &p.decides.e), ERR_BAD_REQUEST);
    strbuf_fini(&to);
    pair_close(&p);
}

TEST(a_refusal_is_named)
{
    struct pair p;
    static const char careless[] = CONFIG("  plugins: {multiPoint: {disabled: [{name: TaintToleration}]}}\n");
    pair_open(&p, careless, NULL);
    both_nodes(&p, "tainted", "", "'taints':[{'key':'k','effect':'NoSchedule'}]", "64");
    both_pods(&p, "alone", "1", "", "");
    insight_run(&p.decides);
    const struct shadow_counts *c = shadow_counts(p.shadow);
    CHECK_INT("nowhere", c->n[SHADOW_NOWHERE], 1);
    both_nodes(&p, "small", "", "", "2");
    both_pods(&p, "other", "1", "", "");
    insight_run(&p.decides);
    CHECK_INT("refused", c->n[SHADOW_REFUSED], 1);
    CHECK_TEXT("plugin", c->plugins[0].name, "TaintToleration");
    CHECK_INT("plugin", c->plugins[0].n_refused, 2);
    check_answer(&p, "limit=1", "\"class\":\"refused\",\"node\":\"tainted\",\"berthNode\":\"small\",\"plugin\":\"TaintToleration\","
                 "\"reason\":\"node(s) had untolerated taint(s)\"}]}");
    check_answer(&p, "class=nowhere", "\"class\":\"nowhere\",\"node\":\"tainted\",\"berthNode\":null");
    pair_close(&p);
}

/* A scheduler that does not keep its promises, and one of other pods. */
TEST(promises_and_strangers_are_told_apart)
{
    struct pair p;
    pair_open(&p, NULL, NULL);
    both_nodes(&p, "n1", "", "", "8");
    both_nodes(&p, "n2", "", "", "8");
    const struct pod *plain = insight_pod(&p.looks_on, "p", "1", "", "");
    sym n1 = sym_intern(&p.syms, STR("n1")), n2 = sym_intern(&p.syms, STR("n2")), n9 = sym_intern(&p.syms, STR("n9"));
    const struct pod *promised = pod_with_nomination(&p.syms, plain, n1), *kept = pod_with_node(&p.syms, promised, n1);
    const struct pod *broken = pod_with_node(&p.syms, promised, n2), *away = pod_with_node(&p.syms, plain, n9);
    sched_pod_set(p.looks_on.sched, promised);
    CHECK_INT("kept", shadow_pod_bound(p.shadow, promised, kept), SHADOW_SAME);
    CHECK_INT("broken", shadow_pod_bound(p.shadow, promised, broken), SHADOW_PROMISED);
    check_answer(&p, "class=promised", "\"class\":\"promised\",\"node\":\"n2\",\"berthNode\":\"n1\",\"plugin\":null,\"reason\":null}]}");
    CHECK_INT("no such node", shadow_pod_bound(p.shadow, plain, away), SHADOW_NOT_COMPARED);
    const struct pod *stranger;
    CHECK(!pod_decode(&p.syms, TYPED_JSON, STR("{\"metadata\":{\"name\":\"x\",\"uid\":\"x\"},\"spec\":{\"schedulerName\":\"other\"}}"), &stranger, &p.decides.e));
    const struct pod *stranger_bound = pod_with_node(&p.syms, stranger, n1);
    CHECK_INT("stranger", shadow_pod_bound(p.shadow, stranger, stranger_bound), SHADOW_NOT_COMPARED);
    const struct pod *all[] = { plain, promised, kept, broken, away, stranger, stranger_bound };
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        pod_unref(&p.syms, all[i]);
    sym_unref(&p.syms, n1);
    sym_unref(&p.syms, n2);
    sym_unref(&p.syms, n9);
    pair_close(&p);
}

TEST(disagreements_and_their_lines_are_bounded)
{
    struct pair p;
    static const char careless[] = CONFIG("  plugins: {multiPoint: {disabled: [{name: TaintToleration}]}}\n");
    pair_open(&p, careless, NULL);
    for (unsigned i = 0; i < 6; i++)
        both_nodes(&p, arena_printf(&p.decides.arena, "n%u", i), "", "'taints':[{'key':'k','effect':'NoSchedule'}]", "64");
    struct clock_manual clock;
    clock_manual_init(&clock, 0, 0);
    shadow_free(p.shadow);
    p.shadow = shadow_new(p.looks_on.sched, &clock.clock);
    enum { MANY = SHADOW_KEPT_MAX + 44 };
    for (unsigned i = 0; i < MANY; i++)
        both_pods(&p, arena_printf(&p.decides.arena, "p%u", i), "1m", "", "");
    insight_run(&p.decides);
    CHECK_INT("nowhere", shadow_counts(p.shadow)->n[SHADOW_NOWHERE], MANY);
    CHECK_INT("lines", p.n_log_lines, SHADOW_LOGS_MAX);
    CHECK_INT("left out", shadow_counts(p.shadow)->n_logs_left_out, MANY - SHADOW_LOGS_MAX);
    check_answer(&p, "limit=256", "\"disagreementsKept\":256,\n\"disagreements\":[\n{\"sequence\":300,");
    clock_manual_advance(&clock, 60ll * CLOCK_NS_PER_SECOND);
    both_pods(&p, "later", "1m", "", "");
    insight_run(&p.decides);
    CHECK_INT("a new minute", p.n_log_lines, SHADOW_LOGS_MAX + 1);
    pair_close(&p);
}
