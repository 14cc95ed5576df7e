/* The scheduler's metrics: a story for each, and the table of names, labels, buckets and helps beside what
 * kube-scheduler v1.36.4 shows.
 *
 * The clock of the stories goes on by one millisecond whenever it is read, so a duration is the number of reads. */
#include "sched/sched_metrics.h"

#include <stdlib.h>

#include "plugins/plugins.h"
#include "sched/pod_resources.h"
#include "tests/unit/sched_story.h"

static void measured(struct sched_world *w)
{
    w->measured = true;
}

#define PROFILE "profile=\"default-scheduler\""
#define POINT(point, status) "{extension_point=\"" point "\"," PROFILE ",status=\"" status "\"}"
#define POINT_COUNT(point, status) "framework_extension_point_duration_seconds_count" POINT(point, status)
#define POINT_SUM(point, status) "framework_extension_point_duration_seconds_sum" POINT(point, status)
#define EVALUATED(point, plugin) "plugin_evaluation_total{extension_point=\"" point "\",plugin=\"" plugin "\"," PROFILE "}"
#define INCOMING(queue, event) "queue_incoming_pods_total{event=\"" event "\",queue=\"" queue "\"}"

TEST(attempts_are_counted_by_their_result)
{
    static const struct sched_story_row rows[] = {
        { "from the start nothing was tried",
          "node n 1; shows none schedule_attempts_total; shows none scheduling_attempt_duration_seconds; "
          "shows scheduling_algorithm_duration_seconds_count 0; shows pod_scheduling_attempts_count 0; "
          "shows pod_scheduled_after_flush_total 0; shows preemption_attempts_total 0; shows preemption_victims_count 0" },
        { "a bound pod counts when it is bound",
          "node n 1; pod a; run; shows none schedule_attempts_total; shows scheduling_algorithm_duration_seconds_count 1; "
          "bound a; shows schedule_attempts_total{" PROFILE ",result=\"scheduled\"} 1; "
          "shows scheduling_attempt_duration_seconds_count{" PROFILE ",result=\"scheduled\"} 1; "
          "shows pod_scheduling_attempts_sum 1; shows pod_scheduling_sli_duration_seconds_count{attempts=\"1\"} 1" },
        { "a refused one at once",
          "node n 1; pod a cpu=2; run; shows schedule_attempts_total{" PROFILE ",result=\"unschedulable\"} 1; "
          "shows scheduling_attempt_duration_seconds_count{" PROFILE ",result=\"unschedulable\"} 1; "
          "shows none schedule_attempts_total{" PROFILE ",result=\"error; "
          "shows scheduling_algorithm_duration_seconds_count 1; shows pod_scheduling_attempts_count 0" },
        { "without nodes it is refused too",
          "pod a; run; shows schedule_attempts_total{" PROFILE ",result=\"unschedulable\"} 1" },
        { "a binding that fails is an error",
          "node n 1; pod a; run; bound a refused; "
          "shows schedule_attempts_total{" PROFILE ",result=\"error\"} 1; "
          "shows scheduling_attempt_duration_seconds_count{" PROFILE ",result=\"error\"} 1; "
          "shows scheduling_attempt_duration_seconds_sum{" PROFILE ",result=\"error\"} 0.01; "
          "shows " POINT_COUNT("Bind", "Error") " 1; shows " POINT_SUM("Bind", "Error") " 0.001" },
        { "all tries of a pod count, and its time from its first",
          "node n 1; pod a cpu=2; run; at 6000; node m 2; tick; run; bound a; shows pod_scheduling_attempts_sum 2; "
          "shows pod_scheduling_attempts_bucket{le=\"1\"} 0; shows pod_scheduling_attempts_bucket{le=\"2\"} 1; "
          "shows pod_scheduling_sli_duration_seconds_count{attempts=\"2\"} 1; "
          "shows pod_scheduling_sli_duration_seconds_bucket{attempts=\"2\",le=\"2.56\"} 0; "
          "shows pod_scheduling_sli_duration_seconds_bucket{attempts=\"2\",le=\"10.24\"} 1" },
    };
    SCHED_TELL(rows, measured);
}

/* From the fifteenth on they have one label. */
TEST(many_tries_share_a_label)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&text, "node n 1; pod a; run");
    for (int i = 0; i < 16; i++)
        strbuf_printf(&text, "; bound a refused; at %d; tick; run", 20000 * (i + 1));
    STRBUF_ADD_LIT(&text, "; bound a; shows pod_scheduling_sli_duration_seconds_count{attempts=\"15+\"} 1; "
                          "shows pod_scheduling_attempts_sum 17; "
                          "shows schedule_attempts_total{" PROFILE ",result=\"error\"} 16");
    sched_tell("seventeen tries", strbuf_cstr(&text), measured);
    strbuf_fini(&text);
}

TEST(points_have_a_count_a_time_and_a_status)
{
    static const struct sched_story_row rows[] = {
        { "a pod with a choice passes all",
          "node n 1; node m 1; pod a; run; bound a; "
          "shows " POINT_COUNT("PreEnqueue", "Success") " 1; shows " POINT_COUNT("PreFilter", "Success") " 1; "
          "shows " POINT_COUNT("Filter", "Success") " 1; shows " POINT_COUNT("PreScore", "Success") " 1; "
          "shows " POINT_COUNT("Score", "Success") " 1; shows " POINT_COUNT("Reserve", "Success") " 1; "
          "shows " POINT_COUNT("Permit", "Success") " 1; shows " POINT_COUNT("PreBindPreFlight", "Skip") " 1; "
          "shows " POINT_COUNT("PreBind", "Success") " 1; shows " POINT_COUNT("Bind", "Success") " 1; "
          "shows " POINT_COUNT("PostBind", "Success") " 1; "
          "shows none framework_extension_point_duration_seconds_count{extension_point=\"PostFilter; "
          "shows none framework_extension_point_duration_seconds_count{extension_point=\"Unreserve; "
          "shows " POINT_SUM("PreFilter", "Success") " 0.001; shows " POINT_SUM("Filter", "Success") " 0.001; "
          "shows " POINT_SUM("PreScore", "Success") " 0.001; shows " POINT_SUM("Score", "Success") " 0.001; "
          "shows " POINT_SUM("Reserve", "Success") " 0.001; shows " POINT_SUM("Bind", "Success") " 0.001; "
          "shows scheduling_algorithm_duration_seconds_sum 0.004; "
          "shows scheduling_attempt_duration_seconds_sum{" PROFILE ",result=\"scheduled\"} 0.009" },
        { "one without has nothing to score",
          "node n 1; pod a; run; shows " POINT_COUNT("Filter", "Success") " 1; "
          "shows none framework_extension_point_duration_seconds_count{extension_point=\"PreScore; "
          "shows none framework_extension_point_duration_seconds_count{extension_point=\"Score" },
        { "a promised node is not searched for",
          "node n 1; node m 1; pod a nominated=n; run; says bind a n; "
          "shows none framework_extension_point_duration_seconds_count{extension_point=\"Filter; "
          "shows scheduling_algorithm_duration_seconds_sum 0.002" },
        { "filters succeed also when nothing fits; PostFilter does not",
          "node n 1; pod a cpu=2; run; shows " POINT_COUNT("Filter", "Success") " 1; "
          "shows " POINT_COUNT("PostFilter", "Unschedulable") " 1; shows " POINT_SUM("PostFilter", "Unschedulable") " 0.001; "
          "shows scheduling_algorithm_duration_seconds_sum 0.004" },
        { "unless it finds victims",
          "node n 1; pod v node=n; pod p priority=5; run; shows " POINT_COUNT("PostFilter", "Success") " 1" },
        { "a failure that is known already counts like the first",
          "node n 1; pod a cpu=2; pod b cpu=2; run; run; repeated 1; "
          "shows " POINT_COUNT("PostFilter", "Unschedulable") " 2; shows preemption_attempts_total 2; "
          "shows scheduling_algorithm_duration_seconds_count 2; "
          "shows schedule_attempts_total{" PROFILE ",result=\"unschedulable\"} 2" },
        { "Reserve refuses, and is undone",
          "node n 1; probe reserve refuses; pod a; run; shows " POINT_COUNT("Reserve", "Unschedulable") " 1; "
          "shows " POINT_COUNT("Unreserve", "Success") " 1; shows " POINT_SUM("Unreserve", "Success") " 0.001; "
          "shows none framework_extension_point_duration_seconds_count{extension_point=\"Permit; "
          "shows schedule_attempts_total{" PROFILE ",result=\"unschedulable\"} 1" },
        { "Permit errs",
          "node n 1; probe permit errs; pod a; run; shows " POINT_COUNT("Permit", "Error") " 1; "
          "shows schedule_attempts_total{" PROFILE ",result=\"error\"} 1" },
        { "PreBind has something to do",
          "node n 1; probe prebind passes; pod a; run; bound a; shows " POINT_COUNT("PreBind", "Success") " 1" },
        { "PreBind errs",
          "node n 1; probe prebind errs; pod a; run; shows " POINT_COUNT("PreBind", "Error") " 1; "
          "shows none framework_extension_point_duration_seconds_count{extension_point=\"Bind" },
        { "a victim in PreBind",
          "node n 1; probe prebind waits; pod v; run; pod p priority=5; run; shows " POINT_COUNT("PreBind", "Error") " 1" },
        { "Bind errs",
          "node n 1; probe bind errs; pod a; run; shows " POINT_COUNT("PreBind", "Success") " 1; "
          "shows " POINT_COUNT("Bind", "Error") " 1" },
        { "a gated pod passed PreEnqueue with success, as upstream has it",
          "pod a gates; shows " POINT_COUNT("PreEnqueue", "Success") " 1" },
    };
    SCHED_TELL(rows, measured);
}

TEST(waits_at_permit_are_measured)
{
    static const struct sched_story_row rows[] = {
        { "it is let go",
          "node n 1; probe permit waits; pod a; run; shows " POINT_COUNT("Permit", "Wait") " 1; "
          "shows none permit_wait_duration_seconds; allow a; shows permit_wait_duration_seconds_count{result=\"Success\"} 1; "
          "shows permit_wait_duration_seconds_sum{result=\"Success\"} 0.001; bound a; "
          "shows schedule_attempts_total{" PROFILE ",result=\"scheduled\"} 1" },
        { "it is not",
          "node n 1; probe permit waits; pod a; run; deny a; "
          "shows permit_wait_duration_seconds_count{result=\"Unschedulable\"} 1; "
          "shows schedule_attempts_total{" PROFILE ",result=\"unschedulable\"} 1" },
        { "a pod that must go takes its place",
          "node n 1; probe permit waits; pod v; run; pod p priority=5; run; "
          "shows permit_wait_duration_seconds_count{result=\"Error\"} 1; "
          "shows schedule_attempts_total{" PROFILE ",result=\"error\"} 1" },
    };
    SCHED_TELL(rows, measured);
}

TEST(preemption_counts_its_tries_and_victims)
{
    static const struct sched_story_row rows[] = {
        { "two victims",
          "node n 2; pod v node=n; pod w node=n; pod p priority=5 cpu=2; run; shows preemption_attempts_total 1; "
          "shows preemption_victims_sum 2; shows preemption_victims_count 1; "
          "shows none preemption_goroutines_execution_total; evicted v; shows none preemption_goroutines_execution_total; "
          "evicted w; shows preemption_goroutines_execution_total{result=\"success\"} 1; "
          "shows preemption_goroutines_duration_seconds_count{result=\"success\"} 1" },
        { "one that fails is a success in upstream's words",
          "node n 1; pod v node=n; pod p priority=5; run; evicted v timeout; "
          "shows preemption_goroutines_execution_total{result=\"success\"} 1" },
        { "one that was only on its way to its node needs no answer",
          "node n 1; probe permit waits; pod v; run; pod p priority=5; run; shows preemption_victims_sum 1; "
          "shows preemption_goroutines_execution_total{result=\"success\"} 1" },
        { "who has no victims to find tries, too",
          "node n 1; pod v node=n; pod p; run; shows preemption_attempts_total 1; shows preemption_victims_count 0" },
        { "victims that go already are not chosen again",
          "node n 1; pod v node=n terminating; pod p priority=5; run; shows preemption_attempts_total 1; "
          "shows preemption_victims_count 0; shows none preemption_goroutines_execution_total" },
        { "who never preempts has tried",
          "node n 1; pod v node=n; pod p priority=5 never; run; shows preemption_attempts_total 1" },
    };
    SCHED_TELL(rows, measured);
}

TEST(the_queue_and_the_cache_show_what_they_hold)
{
    static const struct sched_story_row rows[] = {
        { "from the start",
          "shows pending_pods{queue=\"active\"} 0; shows pending_pods{queue=\"backoff\"} 0; "
          "shows pending_pods{queue=\"gated\"} 0; shows pending_pods{queue=\"unschedulable\"} 0; "
          "shows cache_size{type=\"nodes\"} 0; shows cache_size{type=\"pods\"} 0; "
          "shows cache_size{type=\"assumed_pods\"} 0; shows none unschedulable_pods; shows none inflight_events; "
          "shows none goroutines; shows none queue_incoming_pods_total" },
        { "pods in all places",
          "node n 1; pod g gates; pod a; run; bound a refused; pod big cpu=2; run; pod w; pod x; "
          "shows pending_pods{queue=\"active\"} 2; shows pending_pods{queue=\"backoff\"} 1; "
          "shows pending_pods{queue=\"gated\"} 1; shows pending_pods{queue=\"unschedulable\"} 1" },
        { "assumed pods are among the cache's",
          "node n 2; pod v node=n; pod a; run; shows cache_size{type=\"nodes\"} 1; shows cache_size{type=\"pods\"} 2; "
          "shows cache_size{type=\"assumed_pods\"} 1; shows goroutines{operation=\"binding\"} 1; bound a; "
          "shows cache_size{type=\"assumed_pods\"} 1; shows goroutines{operation=\"binding\"} 0; pod a node=n; "
          "shows cache_size{type=\"pods\"} 2; shows cache_size{type=\"assumed_pods\"} 0" },
        { "one that is sent back is not assumed any more",
          "node n 2; pod a; run; bound a refused; shows cache_size{type=\"assumed_pods\"} 0" },
        { "why pods came where they are",
          "node n 1; pod a cpu=2; pod g gates; run; shows " INCOMING("active", "UnschedulablePodAdd") " 1; "
          "shows " INCOMING("unschedulable", "UnschedulablePodAdd") " 1; "
          "shows " INCOMING("unschedulable", "ScheduleAttemptFailure") " 1; node m 2; "
          "shows " INCOMING("backoff", "NodeAdd") " 1; run; shows " INCOMING("active", "PopFromBackoffQ") " 1; "
          "shows " INCOMING("active", "UnschedulablePodAdd") " 1" },
        { "who rejected pods, as long as they wait",
          "node n 1; pod a cpu=2; pod g gates; run; "
          "shows unschedulable_pods{plugin=\"NodeResourcesFit\"," PROFILE "} 1; "
          "shows unschedulable_pods{plugin=\"SchedulingGates\"," PROFILE "} 1; "
          "shows none unschedulable_pods{plugin=\"NodePorts; delete g; "
          "shows unschedulable_pods{plugin=\"SchedulingGates\"," PROFILE "} 0" },
        { "and one who rejected a pod between two looks",
          "node n 1; pod a cpu=2; run; node m 2; run; shows unschedulable_pods{plugin=\"NodeResourcesFit\"," PROFILE "} 0" },
        { "events that are kept for pods in flight",
          "node n 1; probe permit waits; pod a; run; shows inflight_events{event=\"PodPopped\"} 1; "
          "shows none inflight_events{event=\"NodeAdd; node m 1; shows inflight_events{event=\"NodeAdd\"} 1; allow a; "
          "shows inflight_events{event=\"NodeAdd\"} 0; shows inflight_events{event=\"PodPopped\"} 0" },
    };
    SCHED_TELL(rows, measured);
}

TEST(events_and_hints_are_measured)
{
#define EVENT(event) "event_handling_duration_seconds_count{event=\"" event "\"}"
#define HINT(plugin, event, hint) \
    "queueing_hint_execution_duration_seconds_count{event=\"" event "\",hint=\"" hint "\",plugin=\"" plugin "\"}"
    static const struct sched_story_row rows[] = {
        { "nodes", "node n 1; node n 2; unnode n; shows " EVENT("NodeAdd") " 1; "
                   "shows " EVENT("NodeUpdateNodeAllocatable") " 1; shows " EVENT("NodeDelete") " 1; "
                   "shows event_handling_duration_seconds_sum{event=\"NodeAdd\"} 0.001" },
        { "an update of a node that changes nothing is none",
          "node n 1; node n 1; shows none event_handling_duration_seconds_count{event=\"NodeUpdate" },
        { "pods that wait", "pod a; pod a cpu=2; delete a; shows " EVENT("UnschedulablePodAdd") " 1; "
                            "shows " EVENT("UnschedulablePodUpdate") " 1; shows " EVENT("UnschedulablePodDelete") " 1" },
        { "what of them changed", "pod a; pod a web; shows " EVENT("UnschedulablePodUpdate") " 1; "
                                  "shows " EVENT("UnschedulablePodUpdatePodLabel") " 1" },
        { "pods on nodes", "node n 2; pod a node=n; pod a node=n web; delete a; shows " EVENT("AssignedPodAdd") " 1; "
                           "shows " EVENT("AssignedPodUpdate") " 1; shows " EVENT("AssignedPodDelete") " 1" },
        { "a pod that gets its node", "node n 2; pod a; run; pod a node=n; shows " EVENT("UnschedulablePodDelete") " 1; "
                                      "shows " EVENT("AssignedPodAdd") " 1" },
        { "objects", "attach a n; detach a; shows " EVENT("storage.k8s.io/VolumeAttachmentAdd") " 1; "
                     "shows " EVENT("storage.k8s.io/VolumeAttachmentDelete") " 1" },
        { "devices", "devices a; devices a; shows " EVENT("resource.k8s.io/ResourceClaimAdd") " 1; "
                     "shows " EVENT("resource.k8s.io/ResourceSliceAdd") " 1; shows " EVENT("resource.k8s.io/DeviceClassUpdate") " 1" },
        { "hints say whether to try again",
          "node n 1; pod a cpu=3; run; node m 1; shows " HINT("NodeResourcesFit", "NodeAdd", "QueueSkip") " 1; "
          "node o 1; shows " HINT("NodeResourcesFit", "NodeAdd", "QueueSkip") " 2; node p 3; "
          "shows " HINT("NodeResourcesFit", "NodeAdd", "Queue") " 1; "
          "shows queueing_hint_execution_duration_seconds_sum{event=\"NodeAdd\",hint=\"Queue\",plugin=\"NodeResourcesFit\"} "
          "0.001" },
        { "one event after another",
          "node n 1; pod a cpu=3; run; node m 1; node m 2; node o 1; "
          "shows " HINT("NodeResourcesFit", "NodeAdd", "QueueSkip") " 2; "
          "shows " HINT("NodeResourcesFit", "NodeUpdateNodeAllocatable", "QueueSkip") " 1" },
    };
    SCHED_TELL(rows, measured);
}

TEST(plugins_are_counted_where_they_were_asked)
{
    static const struct sched_story_row rows[] = {
        { "all are there from the start",
          "shows " EVALUATED("Filter", "NodePorts") " 0; shows " EVALUATED("PreFilter", "NodeResourcesFit") " 0; "
          "shows " EVALUATED("PreScore", "PodTopologySpread") " 0; shows " EVALUATED("Score", "NodeResourcesFit") " 0; "
          "shows none plugin_evaluation_total{extension_point=\"Reserve; "
          "shows none plugin_evaluation_total{extension_point=\"Filter\",plugin=\"PrioritySort" },
        { "filters and scores count nodes, those that skip count nothing",
          "node n 1; node m 1; pod a; run; shows " EVALUATED("PreFilter", "NodeResourcesFit") " 1; "
          "shows " EVALUATED("PreFilter", "NodePorts") " 0; shows " EVALUATED("Filter", "NodeResourcesFit") " 2; "
          "shows " EVALUATED("Filter", "NodePorts") " 0; shows " EVALUATED("PreScore", "NodeResourcesFit") " 1; "
          "shows " EVALUATED("PreScore", "PodTopologySpread") " 0; shows " EVALUATED("Score", "NodeResourcesFit") " 2; "
          "shows " EVALUATED("Score", "PodTopologySpread") " 0" },
        { "pods of two kinds in turn",
          "node n 4; node m 4; pod a; run; pod b port=80; run; pod c; run; "
          "shows " EVALUATED("Filter", "NodeResourcesFit") " 6; shows " EVALUATED("Filter", "NodePorts") " 2; "
          "shows " EVALUATED("PreFilter", "NodePorts") " 1; shows " EVALUATED("Score", "NodeResourcesFit") " 6" },
    };
    SCHED_TELL(rows, measured);
}

/* The plain way knows how many nodes each filter was asked about. */
static void measured_in_part(struct sched_world *w)
{
    w->measured = true;
    w->percentage_of_nodes_to_score = 50;
}

TEST(the_plain_way_counts_what_each_filter_saw)
{
    static const struct sched_story_row rows[] = {
        { "an earlier filter leaves less to a later one",
          "node n 1; node m 4; node o 4; pod b cpu=2 port=80; run; shows " EVALUATED("Filter", "NodeResourcesFit") " 3; "
          "shows " EVALUATED("Filter", "NodePorts") " 2; shows " POINT_COUNT("Filter", "Success") " 1; "
          "shows " POINT_COUNT("PreScore", "Success") " 1; shows " POINT_COUNT("Score", "Success") " 1; "
          "shows " EVALUATED("PreScore", "NodeResourcesFit") " 1; shows " EVALUATED("Score", "NodeResourcesFit") " 2" },
    };
    SCHED_TELL(rows, measured_in_part);
}

/* One attempt in ten, and one look at the gate. */
TEST(single_plugins_are_measured_in_a_tenth_of_the_attempts)
{
#define PLUGIN(point, plugin, status) \
    "plugin_execution_duration_seconds_count{extension_point=\"" point "\",plugin=\"" plugin "\",status=\"" status "\"}"
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&text, "node n 99; node m 99; pod o; run; bound o; shows none plugin_execution_duration_seconds; "
                          "pod a port=80; run; bound a; "
                          "shows " PLUGIN("PreEnqueue", "SchedulingGates", "Success") " 1; "
                          "shows " PLUGIN("PreFilter", "NodeResourcesFit", "Success") " 1; "
                          "shows " PLUGIN("PreFilter", "PodTopologySpread", "Skip") " 1; "
                          "shows " PLUGIN("PreScore", "NodeResourcesFit", "Success") " 1; "
                          "shows " PLUGIN("PreScore", "PodTopologySpread", "Skip") " 1; "
                          "shows " PLUGIN("Reserve", "Probe", "Success") " 1; "
                          "shows " PLUGIN("Permit", "Probe", "Success") " 1; "
                          "shows " PLUGIN("PreBindPreFlight", "Probe", "Skip") " 1; "
                          "shows " PLUGIN("PostBind", "Probe", "Success") " 1; "
                          "shows plugin_execution_duration_seconds_sum{extension_point=\"Reserve\",plugin=\"Probe\","
                          "status=\"Success\"} 0.001");
    for (int i = 0; i < 10; i++)
        strbuf_printf(&text, "; shows " PLUGIN("Reserve", "Probe", "Success") " 1; shows "
                      PLUGIN("PreEnqueue", "SchedulingGates", "Success") " 1; pod p%d; run; bound p%d", i, i);
    STRBUF_ADD_LIT(&text, "; shows " PLUGIN("Reserve", "Probe", "Success") " 2; "
                          "shows " PLUGIN("PreEnqueue", "SchedulingGates", "Success") " 2");
    sched_tell("the second, and the twelfth", strbuf_cstr(&text), measured);
    sched_tell("the plain way",
               "node n 99; node m 99; pod o; run; pod g gates; "
               "shows " PLUGIN("PreEnqueue", "SchedulingGates", "UnschedulableAndUnresolvable") " 1; "
               "pod a spread port=80; run; shows " PLUGIN("Filter", "NodePorts", "Success") " 1; "
               "shows " PLUGIN("Filter", "PodTopologySpread", "Success") " 1; "
               "shows " PLUGIN("Score", "NodeResourcesFit", "Success") " 1",
               measured_in_part);
    sched_tell("undone",
               "node n 99; node m 99; pod o; run; probe prebind errs; pod a; run; "
               "shows " PLUGIN("PreBindPreFlight", "Probe", "Success") " 1; shows " PLUGIN("PreBind", "Probe", "Error") " 1; "
               "shows " PLUGIN("Unreserve", "Probe", "Success") " 1",
               measured);
    strbuf_fini(&text);
}

TEST(batching_shows_that_no_two_pods_are_alike)
{
    static const struct sched_story_row rows[] = {
        { "with a choice", "node n 1; node m 1; pod a; run; shows batch_attempts_total{" PROFILE ",result=\"no_hint\"} 1; "
                           "shows batch_cache_flushed_total{" PROFILE ",reason=\"pod_not_batchable\"} 1; "
                           "shows get_node_hint_duration_seconds_count{hinted=\"no_hint\"," PROFILE "} 1; "
                           "shows store_schedule_results_duration_seconds_count{" PROFILE "} 1" },
        { "without", "node n 1; pod a; run; shows batch_cache_flushed_total{" PROFILE ",reason=\"empty_list\"} 1" },
        { "a failure stores nothing",
          "node n 1; pod a cpu=2; run; shows batch_attempts_total{" PROFILE ",result=\"no_hint\"} 1; "
          "shows none batch_cache_flushed_total; shows none store_schedule_results_duration_seconds" },
    };
    SCHED_TELL(rows, measured);
}

/* ---- Decisions stay what they are ---- */

static uint64_t hash_of_a_run(bool is_measured, const char **ret_page)
{
    static struct sched_world w;
    sched_world_init(&w);
    w.measured = is_measured;
    w.seed = 5;
    static const struct pod_topology_spread_args no_defaults;
    sched_world_add_plugin(&w, &podtopologyspread_plugin, &no_defaults, 1);
    sched_world_open(&w);
    for (int i = 0; i < 20; i++)
        world_node(&w, arena_printf(&w.arena, "n%d", i), "4", "");
    for (int i = 0; i < 150; i++) {
        const char *name = arena_printf(&w.arena, "p%d", i), *cpu = i % 7 ? "1" : "3";
        sched_pod_set(w.sched, world_pod(&w, name, NULL, i % 3, cpu, ""));
        while (sched_run_once(w.sched))
            ;
        if (i % 50 == 49) {
            w.now_ms += 61000;
            sched_tick(w.sched);
        }
    }
    uint64_t hash = sched_decision_hash(w.sched);
    if (ret_page)
        *ret_page = strdup(world_metrics(&w));
    sched_world_close(&w);
    return hash;
}

TEST(decisions_are_the_same_with_and_without)
{
    const char *page;
    uint64_t without = hash_of_a_run(false, NULL), with = hash_of_a_run(true, &page);
    CHECK(without == with);
    CHECK(strstr(page, "result=\"unschedulable\"} "));
    CHECK(strstr(page, "scheduler_preemption_victims_sum"));
    free((void *)(uintptr_t)page);
}

TEST(a_question_is_no_attempt)
{
    static struct sched_world w;
    sched_world_init(&w);
    w.measured = true;
    sched_world_open(&w);
    world_node(&w, "n", "1", "");
    world_node(&w, "m", "1", "");
    struct attempt a;
    const char *before = world_metrics(&w);
    attempt_run(w.sched, &a, world_pod(&w, "p", NULL, 0, "1", ""), (struct attempt_wants){ .reasons = true });
    attempt_run(w.sched, &a, world_pod(&w, "q", NULL, 0, "2", ""), (struct attempt_wants){ .detail = true });
    CHECK_TEXT("page", world_metrics(&w), before);
    sched_world_close(&w);
}

TEST(calls_to_the_api_server)
{
    static struct sched_world w;
    sched_world_init(&w);
    w.measured = true;
    sched_world_open(&w);
    sched_metrics_api_call_waits(w.metrics, "pod_binding", 1);
    sched_metrics_api_call_waits(w.metrics, "pod_binding", 1);
    sched_metrics_api_call_waits(w.metrics, "pod_binding", -1);
    sched_metrics_api_call_done(w.metrics, "pod_binding", true, 0.5);
    sched_metrics_api_call_done(w.metrics, "pod_status_patch", false, 2);
    static const char *const lines[] = {
        "\nscheduler_pending_async_api_calls{call_type=\"pod_binding\"} 1\n",
        "\nscheduler_async_api_call_execution_total{call_type=\"pod_binding\",result=\"success\"} 1\n",
        "\nscheduler_async_api_call_execution_total{call_type=\"pod_status_patch\",result=\"error\"} 1\n",
        "\nscheduler_async_api_call_execution_duration_seconds_sum{call_type=\"pod_binding\",result=\"success\"} 0.5\n",
        "\nscheduler_async_api_call_execution_duration_seconds_sum{call_type=\"pod_status_patch\",result=\"error\"} 2\n",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        CHECK(strstr(world_metrics(&w), lines[i]));
    sched_world_close(&w);
}

/* A second scheduler on the same metrics counts on. */
TEST(a_page_outlives_its_scheduler)
{
    static struct sched_world w;
    sched_world_init(&w);
    w.measured = true;
    sched_world_open(&w);
    for (int round = 1; round <= 2; round++) {
        world_node(&w, "n", "1", "");
        sched_pod_set(w.sched, world_pod(&w, "p", NULL, 0, "1", ""));
        CHECK(sched_run_once(w.sched));
        const char *line = arena_printf(
            &w.arena, "\nscheduler_queue_incoming_pods_total{event=\"UnschedulablePodAdd\",queue=\"active\"} %d\n", round);
        CHECK(strstr(world_metrics(&w), line));
        if (round == 2)
            break;
        sched_free(w.sched);
        w.sched = sched_new(&(struct sched_options){ .syms = &w.syms, .profiles = w.profiles, .n_profiles = 1, .io = w.io,
                                                     .features = w.features, .metrics = w.metrics });
    }
    sched_world_close(&w);
}

/* ---- The table ---- */

/* What the recorded page shows, a pod bound, one refused, one gated, one that preempts, and a wait at Permit. */
TEST(names_labels_buckets_and_helps_are_the_real_ones)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&text, "node n 2; node m 1; pod a; run; bound a; pod b cpu=8; run; pod g gates; pod v node=n; "
                          "pod w node=m priority=9; pod c priority=5; run; evicted v; node o 1; delete v; run");
    for (int i = 0; i < 10; i++)
        strbuf_printf(&text, "; pod p%d cpu=9; run", i);
    STRBUF_ADD_LIT(&text, "; facts 25");
    sched_tell("all of it", strbuf_cstr(&text), measured);
    strbuf_fini(&text);
}

/* ---- /metrics/resources ---- */

static const char *resources(struct sched_world *w, uint32_t piece)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    struct pod_resources *r = pod_resources_begin(w->sched);
    while (pod_resources_write(r, piece, &text))
        ;
    pod_resources_end(r);
    const char *page = arena_cstr(&w->arena, strbuf_str(&text));
    strbuf_fini(&text);
    return page;
}

#define RESOURCE_WORDS \
    " workloads on the cluster, broken down by pod. This shows the resource usage the scheduler and kubelet expect per pod " \
    "for resources along with the unit for the resource if any.\n"
#define LIMIT_HEAD "# HELP kube_pod_resource_limit [STABLE] Resources limit for" RESOURCE_WORDS \
    "# TYPE kube_pod_resource_limit gauge\n"
#define REQUEST_HEAD "# HELP kube_pod_resource_request [STABLE] Resources requested by" RESOURCE_WORDS \
    "# TYPE kube_pod_resource_request gauge\n"
#define LINE(kind, node, pod, priority, resource, unit, value) \
    "kube_pod_resource_" kind "{namespace=\"default\",node=\"" node "\",pod=\"" pod "\",priority=\"" priority \
    "\",resource=\"" resource "\",scheduler=\"default-scheduler\",unit=\"" unit "\"} " value "\n"

static void set_pod(struct sched_world *w, const char *name, const char *node, const char *spec)
{
    sched_pod_set(w->sched, world_pod_of(w, arena_printf(&w->arena,
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"uid\":\"%s\",\"resourceVersion\":\"1\"},"
        "\"spec\":{\"schedulerName\":\"default-scheduler\"%s%s%s,%s}}", name, name, *node ? ",\"nodeName\":\"" : "", node,
        *node ? "\"" : "", spec)));
}

/* The first two are what the real one showed for these pods. */
TEST(requests_and_limits_of_pods)
{
    static struct sched_world w;
    sched_world_init(&w);
    sched_world_open(&w);
    CHECK_TEXT("nothing", resources(&w, 100), "");
    set_pod(&w, "d", "",
            "\"priority\":0,\"initContainers\":[{\"name\":\"i1\",\"resources\":{\"requests\":{\"cpu\":\"1\"},\"limits\":"
            "{\"cpu\":\"3\"}}},{\"name\":\"i2\",\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{\"cpu\":\"10m\","
            "\"ephemeral-storage\":\"1Gi\"},\"limits\":{\"cpu\":\"1\",\"ephemeral-storage\":\"1Gi\"}}}],\"containers\":["
            "{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"100m\"},\"limits\":{\"cpu\":\"500m\"}}}]");
    set_pod(&w, "b", "", "\"priority\":0,\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"8\"}}}]");
    set_pod(&w, "z", "n",
            "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"100m\",\"memory\":\"1Gi\","
            "\"hugepages-2Mi\":\"2Mi\",\"example.com/gpu\":\"2\"},\"limits\":{\"cpu\":\"100m\",\"memory\":\"1Gi\","
            "\"hugepages-2Mi\":\"2Mi\",\"example.com/gpu\":\"2\"}}}]");
    set_pod(&w, "o", "n",
            "\"priority\":-7,\"overhead\":{\"cpu\":\"250m\",\"memory\":\"1Mi\"},\"containers\":[{\"name\":\"c\",\"resources\":"
            "{\"limits\":{\"cpu\":\"1\",\"memory\":\"0\"}}}]");
    set_pod(&w, "x", "n", "\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"cpu\":\"what\"}}}]");
    set_pod(&w, "l", "n",
            "\"resources\":{\"limits\":{\"cpu\":\"2\",\"memory\":\"1\"},\"requests\":{\"cpu\":\"1\"}},"
            "\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"cpu\":\"1\"}}}]");
    const char *want = LIMIT_HEAD
        LINE("limit", "", "d", "0", "cpu", "cores", "3")
        LINE("limit", "", "d", "0", "ephemeral-storage", "bytes", "1.073741824e+09")
        LINE("limit", "n", "l", "", "cpu", "cores", "2")
        LINE("limit", "n", "l", "", "memory", "bytes", "1")
        LINE("limit", "n", "o", "-7", "cpu", "cores", "1.25")
        LINE("limit", "n", "z", "", "cpu", "cores", "0.1")
        LINE("limit", "n", "z", "", "example.com/gpu", "", "2")
        LINE("limit", "n", "z", "", "hugepages-2Mi", "bytes", "2.097152e+06")
        LINE("limit", "n", "z", "", "memory", "bytes", "1.073741824e+09")
        REQUEST_HEAD
        LINE("request", "", "b", "0", "cpu", "cores", "8")
        LINE("request", "", "d", "0", "cpu", "cores", "1")
        LINE("request", "", "d", "0", "ephemeral-storage", "bytes", "1.073741824e+09")
        LINE("request", "n", "l", "", "cpu", "cores", "1")
        LINE("request", "n", "o", "-7", "cpu", "cores", "0.25")
        LINE("request", "n", "o", "-7", "memory", "bytes", "1.048576e+06")
        LINE("request", "n", "z", "", "cpu", "cores", "0.1")
        LINE("request", "n", "z", "", "example.com/gpu", "", "2")
        LINE("request", "n", "z", "", "hugepages-2Mi", "bytes", "2.097152e+06")
        LINE("request", "n", "z", "", "memory", "bytes", "1.073741824e+09");
    CHECK_TEXT("at once", resources(&w, UINT32_MAX), want);
    CHECK_TEXT("pod by pod", resources(&w, 1), want);
    CHECK(sched_pod(w.sched, "z")->limits == sched_pod(w.sched, "z")->fit); /* what is equal is kept once */
    sched_pod_removed(w.sched, "z");
    CHECK(!strstr(resources(&w, 100), "pod=\"z\""));
    const struct pod *pod = sched_pod(w.sched, "l");
    CHECK(pod->limits && pod->limits != pod->fit);
    sched_world_close(&w);
}

/* It shows the pods of its beginning, whatever happens meanwhile; and may be given up. */
TEST(a_page_of_pods_is_one_moment)
{
    static struct sched_world w;
    sched_world_init(&w);
    sched_world_open(&w);
    for (int i = 0; i < 10; i++)
        set_pod(&w, arena_printf(&w.arena, "p%d", i), "n",
                "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]");
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    struct pod_resources *r = pod_resources_begin(w.sched), *given_up = pod_resources_begin(w.sched);
    CHECK(pod_resources_write(r, 14, &text));
    sched_pod_removed(w.sched, "p9");
    set_pod(&w, "new", "n", "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]");
    while (pod_resources_write(r, 1, &text))
        ;
    pod_resources_end(r);
    pod_resources_end(given_up);
    CHECK(strstr(strbuf_cstr(&text), "pod=\"p9\""));
    CHECK(!strstr(strbuf_cstr(&text), "pod=\"new\""));
    strbuf_fini(&text);
    sched_world_close(&w);
}

/* ---- Volumes ---- */

static void set_object(struct sched_world *w, enum object_kind kind, const char *json)
{
    const void *form;
    struct err e;
    err_init(&e, &w->arena);
    if (object_form_decode(kind, &w->syms, TYPED_JSON, str_of(json), &form, &e))
        FAIL("%s", e.message);
    sched_object_set(w->sched, kind, form);
    object_unref(&w->syms, kind, form);
}

/* PreBind lasts until the answer comes, whatever it is. */
TEST(volumes_that_cannot_be_bound)
{
    static const struct volume_binding_args args = { .bind_timeout_s = 600 };
    static struct sched_world w;
    sched_world_init(&w);
    w.measured = true;
    sched_world_add_plugin(&w, &volumebinding_plugin, &args, 0);
    sched_world_open(&w);
    set_object(&w, OBJECT_STORAGE_CLASS, "{\"metadata\":{\"name\":\"made\"},\"provisioner\":\"p\","
                                         "\"volumeBindingMode\":\"WaitForFirstConsumer\"}");
    set_object(&w, OBJECT_PERSISTENT_VOLUME_CLAIM,
               "{\"metadata\":{\"name\":\"c\",\"namespace\":\"default\",\"uid\":\"c\",\"resourceVersion\":\"1\"},\"spec\":"
               "{\"accessModes\":[\"ReadWriteOnce\"],\"storageClassName\":\"made\",\"resources\":{\"requests\":"
               "{\"storage\":\"1\"}}}}");
    world_node(&w, "n", "4", "");
    sched_pod_set(w.sched, world_pod(&w, "p", NULL, 0, "1",
                                     "\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"c\"}}]"));
    CHECK(sched_run_once(w.sched));
    CHECK(!strstr(world_metrics(&w), "extension_point=\"PreBind\""));
    CHECK(!strstr(world_metrics(&w), "scheduler_volume_"));
    sched_volumes_bound(w.sched, w.tickets.at[0], "no");
    const char *page = world_metrics(&w);
    CHECK(strstr(page, "\nscheduler_volume_scheduling_stage_error_total{operation=\"bind\"} 1\n"));
    CHECK(strstr(page, "\nscheduler_" POINT_COUNT("PreBind", "Error") " 1\n"));
    CHECK(strstr(page, "\nscheduler_schedule_attempts_total{" PROFILE ",result=\"error\"} 1\n"));
    sched_world_close(&w);
}

/* ---- Extenders ---- */

static io_ticket extender_ticket;

static void ask_extender(void *context, const struct extender_request *requests, uint32_t n, struct extender_answer *answers)
{
    (void)context;
    (void)answers;
    CHECK_INT("requests", n, 1);
    CHECK_INT("verb", requests[0].verb, EXTENDER_BIND);
    extender_ticket = requests[0].ticket;
}

/* Its time is the attempt's, but no plugin's. */
TEST(an_extender_that_binds_is_no_bind_plugin)
{
    static struct sched_world w;
    static struct extender binder = { .url_prefix = "x", .verbs = { [EXTENDER_BIND] = "bind" } };
    sched_world_init(&w);
    w.measured = true;
    w.extenders[w.n_extenders++] = &binder;
    w.io.call_extender = ask_extender;
    sched_world_open(&w);
    world_node(&w, "n", "1", "");
    sched_pod_set(w.sched, world_pod(&w, "p", NULL, 0, "1", ""));
    CHECK(sched_run_once(w.sched));
    sched_bound(w.sched, extender_ticket, NULL);
    const char *page = world_metrics(&w);
    CHECK(!strstr(page, "extension_point=\"Bind\""));
    CHECK(strstr(page, "\nscheduler_schedule_attempts_total{" PROFILE ",result=\"scheduled\"} 1\n"));
    CHECK(strstr(page, "\nscheduler_scheduling_attempt_duration_seconds_sum{" PROFILE ",result=\"scheduled\"} 0.004\n"));
    sched_world_close(&w);
}
