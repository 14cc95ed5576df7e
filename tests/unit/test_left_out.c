/* Profiles that enable a plugin at some of its points only. What one point prepares is missing at the next: some plugins
 * make up for it, others fail, with upstream's words; and both ways to a choice say the same. */
#include "config/setup.h"
#include "tests/unit/sched_world.h"

#define CONFIG                                                                                                     \
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: "   \
    "default-scheduler\n  plugins: {%s}\n"
#define ALL_OUT(point) #point ": {disabled: [{name: '*'}]}"
#define OUT(point, plugin) #point ": {disabled: [{name: " #plugin "}]}"

/* Two nodes with room for the pod; the other one is fuller. */
#define FITS "bind p big\n"
#define FILTER_FAILS(plugin, text) "running \"" #plugin "\" filter plugin: " text
#define SCORE_FAILS(plugin, text) "running Score plugins: plugin \"" #plugin "\" failed with: " text

static const struct {
    const char *points, *spec;
    const char *error; /* NULL: it is bound to the node with more room */
} cases[] = {
    { "", "", NULL },
    { OUT(preFilter, NodeResourcesFit), "",
      FILTER_FAILS(NodeResourcesFit, "error reading \"PreFilterNodeResourcesFit\" from cycleState: not found") },
    { OUT(preFilter, NodePorts), "",
      FILTER_FAILS(NodePorts, "reading \"PreFilterNodePorts\" from cycleState: not found") },
    { OUT(preFilter, NodeAffinity), "\"nodeSelector\":{\"size\":\"big\"}", NULL },
    { OUT(preFilter, InterPodAffinity), "",
      FILTER_FAILS(InterPodAffinity, "error reading \"PreFilterInterPodAffinity\" from cycleState: not found") },
    { OUT(preFilter, PodTopologySpread), "",
      FILTER_FAILS(PodTopologySpread, "reading \"PreFilterPodTopologySpread\" from cycleState: not found") },
    { OUT(preFilter, VolumeRestrictions), "",
      FILTER_FAILS(VolumeRestrictions, "cannot read \"PreFilterVolumeRestrictions\" from cycleState") },
    { OUT(preFilter, VolumeBinding), "", FILTER_FAILS(VolumeBinding, "not found") },
    { OUT(preFilter, VolumeZone), "", NULL },
    { OUT(preFilter, NodeVolumeLimits), "", NULL },
    { OUT(preFilter, DynamicResources), "", FILTER_FAILS(DynamicResources, "not found") },
    { OUT(preFilter, DynamicResources) ", " OUT(filter, DynamicResources), "", SCORE_FAILS(DynamicResources, "not found") },
    { OUT(preFilter, DynamicResources) ", " OUT(filter, DynamicResources) ", " OUT(score, DynamicResources), "",
      "running Reserve plugin \"DynamicResources\": not found" },
    { OUT(preFilter, DynamicResources) ", " OUT(filter, DynamicResources) ", " OUT(score, DynamicResources) ", "
      OUT(reserve, DynamicResources), "", "running PreBindPreFlight \"DynamicResources\": not found" },
    { OUT(preFilter, VolumeBinding) ", " OUT(filter, VolumeBinding), "", "running Reserve plugin \"VolumeBinding\": not found" },
    { OUT(preFilter, VolumeBinding) ", " OUT(filter, VolumeBinding) ", " OUT(reserve, VolumeBinding), "",
      "running PreBindPreFlight \"VolumeBinding\": not found" },
    { OUT(reserve, VolumeBinding), "", "running PreBindPreFlight \"VolumeBinding\": no pod volume found for node \"big\"" },
    { OUT(reserve, VolumeBinding) ", " OUT(preBind, VolumeBinding), "", NULL },
    { OUT(preBind, VolumeBinding), "", NULL },
    { OUT(preFilter, NodeName), "", NULL }, /* it has none */
    { OUT(preScore, TaintToleration), "",
      SCORE_FAILS(TaintToleration, "failed to read \"PreScoreTaintToleration\" from cycleState: not found") },
    { OUT(preScore, NodeResourcesFit), "", NULL },
    { OUT(preScore, NodeResourcesBalancedAllocation), "", NULL },
    { OUT(preScore, NodeAffinity), "", NULL },
    { OUT(preScore, NodeAffinity),
      "\"affinity\":{\"nodeAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":1,\"preference\":"
      "{\"matchExpressions\":[{\"key\":\"a b\",\"operator\":\"Exists\"}]}}]}}",
      SCORE_FAILS(NodeAffinity, "") },
    { OUT(preScore, InterPodAffinity), "",
      SCORE_FAILS(InterPodAffinity, "failed to read \"PreScoreInterPodAffinity\" from cycleState: not found") },
    { OUT(preScore, PodTopologySpread), "",
      SCORE_FAILS(PodTopologySpread, "error reading \"PreScorePodTopologySpread\" from cycleState: not found") },
    { OUT(preScore, VolumeBinding), "", NULL },
    { ALL_OUT(preScore), "",
      SCORE_FAILS(TaintToleration, "failed to read \"PreScoreTaintToleration\" from cycleState: not found") },
    { ALL_OUT(preScore) ", score: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesFit, weight: 1}, {name: "
      "NodeResourcesBalancedAllocation, weight: 1}, {name: NodeAffinity, weight: 1}]}", "", NULL },
    { OUT(score, NodeResourcesFit), "", NULL }, /* balance decides */
    { OUT(score, PodTopologySpread), "", NULL },
    { OUT(score, InterPodAffinity), "", NULL },
    /* Who scores does not matter to who prepares: the pod's terms are still read. */
    { OUT(score, InterPodAffinity) ", " OUT(preFilter, InterPodAffinity) ", " OUT(filter, InterPodAffinity),
      "\"affinity\":{\"podAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":1,\"podAffinityTerm\":"
      "{\"topologyKey\":\"size\",\"labelSelector\":{\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"Odd\"}]}}}]}}",
      "running PreScore plugin \"InterPodAffinity\": failed to parse pod: preferredAffinityTerms: " },
    { OUT(filter, NodeResourcesFit) ", " OUT(score, NodeResourcesFit), "", NULL },
    { OUT(postFilter, DefaultPreemption), "", NULL },
};

struct story {
    struct sched_world w;
    struct setup setup;
};

static void open_story(struct story *s, const char *points)
{
    struct sched_world *w = &s->w;
    struct err e;
    sched_world_init(w);
    err_init(&e, &w->arena);
    const char *text = arena_printf(&w->arena, CONFIG, points);
    if (setup_from_text(&s->setup, &w->syms, str_of(text), plugin_registry, &e))
        FAIL("%s: %s", points, e.message);
    w->profiles[0] = s->setup.profiles[0];
    w->features = s->setup.features;
    sched_world_open(w);
    world_node(w, "small", "4", "\"size\":\"small\"");
    world_node(w, "big", "8", "\"size\":\"big\"");
    sched_pod_set(w->sched, world_pod(w, "there", "small", 0, "1", ""));
}

/* The setup goes after the scheduler and before the names. */
static void close_story(struct story *s)
{
    sched_free(s->w.sched);
    setup_fini(&s->setup);
    s->w.profiles[0] = &s->w.profile;
    sched_world_open(&s->w);
    sched_world_close(&s->w);
}

/* The error of an attempt by one of the two ways; "" when it fits. */
static const char *outcome(struct story *s, const struct pod *pod, bool in_detail)
{
    struct attempt a;
    attempt_run(s->w.sched, &a, pod, (struct attempt_wants){ .reasons = in_detail, .detail = in_detail });
    return arena_cstr(&s->w.arena, str_of(a.outcome == ATTEMPT_ERROR ? a.error : ""));
}

TEST(points_that_are_left_out)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct story s;
        open_story(&s, cases[i].points);
        const struct pod *pod = world_pod(&s.w, "p", NULL, 0, "1", cases[i].spec);
        CHECK_TEXT(cases[i].points, outcome(&s, pod, false), outcome(&s, pod, true));
        sched_pod_set(s.w.sched, pod);
        CHECK(sched_run_once(s.w.sched));
        const char *log = world_log(&s.w);
        if (!cases[i].error) {
            CHECK_TEXT(cases[i].points, log, FITS);
        } else {
            const char *want = arena_printf(&s.w.arena, "event Warning FailedScheduling %s", cases[i].error);
            if (strncmp(log, want, strlen(want)) != 0 || !strstr(log, "status p SchedulerError: "))
                FAIL("%s: %s\nwant %s", cases[i].points, log, want);
        }
        close_story(&s);
    }
}

/* A filter that is left out of the profile does not filter, whatever its PreFilter says. */
TEST(a_filter_that_is_left_out_lets_pass)
{
    struct story s;
    open_story(&s, OUT(filter, NodeResourcesFit));
    sched_pod_set(s.w.sched, world_pod(&s.w, "p", NULL, 0, "100", ""));
    CHECK(sched_run_once(s.w.sched));
    const char *log = world_log(&s.w);
    CHECK_INT(log, strncmp(log, "bind p ", 7), 0);
    close_story(&s);
}

/* Preemption tries filters on copies of nodes: there, too, the one without state fails. */
TEST(preemption_meets_a_filter_without_state)
{
    struct story s;
    open_story(&s, OUT(preFilter, InterPodAffinity));
    sched_pod_set(s.w.sched, world_pod(&s.w, "also-there", "big", 0, "8", ""));
    sched_pod_set(s.w.sched, world_pod(&s.w, "p", NULL, 10, "8", ""));
    CHECK(sched_run_once(s.w.sched));
    const char *message = "0/2 nodes are available: 2 Insufficient cpu. preemption: running \"InterPodAffinity\" filter "
                          "plugin: error reading \"PreFilterInterPodAffinity\" from cycleState: not found";
    CHECK_TEXT("log", world_log(&s.w),
               arena_printf(&s.w.arena, "event Warning FailedScheduling %s\nstatus p Unschedulable: %s\n", message, message));
    close_story(&s);
}
