/* tests/unit/metric_facts.c - see metric_facts.h. The table is what a running kube-scheduler v1.36.4 showed; bounds are
 * those of its buckets, in order. */
#include "tests/unit/metric_facts.h"

#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "tests/test.h"

static const struct {
    const char *name, *type, *labels, *bounds, *help;
} facts[] = {
    { "cardinality_enforcement_unexpected_categorizations_total", "counter", "",
      "",
      "[ALPHA] The count of unexpected categorizations during cardinality enforcement." },
    { "disabled_metrics_total", "counter", "",
      "",
      "[BETA] The count of disabled metrics." },
    { "hidden_metrics_total", "counter", "",
      "",
      "[BETA] The count of hidden metrics." },
    { "kubernetes_build_info", "gauge", "build_date,compiler,git_commit,git_tree_state,git_version,go_version,major,minor,platform",
      "",
      "[BETA] A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, "
      "build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running." },
    { "kubernetes_feature_enabled", "gauge", "name,stage",
      "",
      "[BETA] This metric records the data about the stage and enablement of a k8s feature." },
    { "leader_election_master_status", "gauge", "name",
      "",
      "[ALPHA] Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates "
      "master. 'name' is the string used to identify the lease. Please make sure to group by name." },
    { "process_cpu_seconds_total", "counter", "",
      "",
      "Total user and system CPU time spent in seconds." },
    { "process_max_fds", "gauge", "",
      "",
      "Maximum number of open file descriptors." },
    { "process_network_receive_bytes_total", "counter", "",
      "",
      "Number of bytes received by the process over the network." },
    { "process_network_transmit_bytes_total", "counter", "",
      "",
      "Number of bytes sent by the process over the network." },
    { "process_open_fds", "gauge", "",
      "",
      "Number of open file descriptors." },
    { "process_resident_memory_bytes", "gauge", "",
      "",
      "Resident memory size in bytes." },
    { "process_start_time_seconds", "gauge", "",
      "",
      "Start time of the process since unix epoch in seconds." },
    { "process_virtual_memory_bytes", "gauge", "",
      "",
      "Virtual memory size in bytes." },
    { "process_virtual_memory_max_bytes", "gauge", "",
      "",
      "Maximum amount of virtual memory available in bytes." },
    { "registered_metrics_total", "counter", "deprecated_version,stability_level",
      "",
      "[BETA] The count of registered metrics broken by stability level and deprecation version." },
    { "rest_client_exec_plugin_certificate_rotation_age", "histogram", "",
      "600 1800 3600 14400 86400 604800 2.592e+06 7.776e+06 1.5552e+07 3.1104e+07 1.24416e+08 +Inf",
      "[ALPHA] Histogram of the number of seconds the last auth exec plugin client certificate lived before being "
      "rotated. If auth exec plugin client certificates are unused, histogram will contain no data." },
    { "rest_client_exec_plugin_ttl_seconds", "gauge", "",
      "",
      "[ALPHA] Gauge of the shortest TTL (time-to-live) of the client certificate(s) managed by the auth exec "
      "plugin. The value is in seconds until certificate expiry (negative if already expired). If auth exec plugins"
      " are unused or manage no TLS certificates, the value will be +INF." },
    { "rest_client_rate_limiter_duration_seconds", "histogram", "host,verb",
      "0.005 0.025 0.1 0.25 0.5 1 2 4 8 15 30 60 +Inf",
      "[ALPHA] Client side rate limiter latency in seconds. Broken down by verb, and host." },
    { "rest_client_request_duration_seconds", "histogram", "host,verb",
      "0.005 0.025 0.1 0.25 0.5 1 2 4 8 15 30 60 +Inf",
      "[ALPHA] Request latency in seconds. Broken down by verb, and host." },
    { "rest_client_request_size_bytes", "histogram", "host,verb",
      "64 256 512 1024 4096 16384 65536 262144 1.048576e+06 4.194304e+06 1.6777216e+07 +Inf",
      "[ALPHA] Request size in bytes. Broken down by verb and host." },
    { "rest_client_requests_total", "counter", "code,host,method",
      "",
      "[ALPHA] Number of HTTP requests, partitioned by status code, method, and host." },
    { "rest_client_response_size_bytes", "histogram", "host,verb",
      "64 256 512 1024 4096 16384 65536 262144 1.048576e+06 4.194304e+06 1.6777216e+07 +Inf",
      "[ALPHA] Response size in bytes. Broken down by verb and host." },
    { "rest_client_transport_cache_entries", "gauge", "",
      "",
      "[ALPHA] Number of transport entries in the internal cache." },
    { "rest_client_transport_cert_rotation_gc_calls_total", "counter", "",
      "",
      "[ALPHA] Number of times a cert rotation goroutine cancel func is called via GC cleanup of the associated "
      "transport" },
    { "rest_client_transport_create_calls_total", "counter", "result",
      "",
      "[ALPHA] Number of calls to get a new transport, partitioned by the result of the operation hit: obtained "
      "from the cache, miss: created and added to the cache, miss-gc: recreated and added back to the cache after "
      "being garbage collected, uncacheable: created and not cached" },
    { "scheduler_batch_attempts_total", "counter", "profile,result",
      "",
      "[ALPHA] Counts of results when we attempt to use batching." },
    { "scheduler_batch_cache_flushed_total", "counter", "profile,reason",
      "",
      "[ALPHA] Counts of cache flushes by reason." },
    { "scheduler_cache_size", "gauge", "type",
      "",
      "[ALPHA] Number of nodes, pods, and assumed (bound) pods in the scheduler cache." },
    { "scheduler_event_handling_duration_seconds", "histogram", "event",
      "0.0001 0.0002 0.0004 0.0008 0.0016 0.0032 0.0064 0.0128 0.0256 0.0512 0.1024 0.2048 +Inf",
      "[ALPHA] Event handling latency in seconds." },
    { "scheduler_framework_extension_point_duration_seconds", "histogram", "extension_point,profile,status",
      "0.0001 0.0002 0.0004 0.0008 0.0016 0.0032 0.0064 0.0128 0.0256 0.0512 0.1024 0.2048 +Inf",
      "[STABLE] Latency for running all plugins of a specific extension point." },
    { "scheduler_get_node_hint_duration_seconds", "histogram", "hinted,profile",
      "1e-05 2e-05 4e-05 8e-05 0.00016 0.00032 0.00064 0.00128 0.00256 0.00512 0.01024 0.02048 +Inf",
      "[ALPHA] Latency for getting a node hint." },
    { "scheduler_goroutines", "gauge", "operation",
      "",
      "[BETA] Number of running goroutines split by the work they do such as binding." },
    { "scheduler_inflight_events", "gauge", "event",
      "",
      "[ALPHA] Number of events currently tracked in the scheduling queue." },
    { "scheduler_pending_pods", "gauge", "queue",
      "",
      "[STABLE] Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' "
      "means number of pods in backoffQ; 'unschedulable' means number of pods in unschedulablePods that the "
      "scheduler attempted to schedule and failed; 'gated' is the number of unschedulable pods that the scheduler "
      "never attempted to schedule because they are gated." },
    { "scheduler_plugin_evaluation_total", "counter", "extension_point,plugin,profile",
      "",
      "[BETA] Number of attempts to schedule pods by each plugin and the extension point (available only in "
      "PreFilter, Filter, PreScore, and Score)." },
    { "scheduler_plugin_execution_duration_seconds", "histogram", "extension_point,plugin,status",
      "1e-05 1.5000000000000002e-05 2.2500000000000005e-05 3.375000000000001e-05 5.062500000000001e-05 "
      "7.593750000000002e-05 0.00011390625000000003 0.00017085937500000006 0.0002562890625000001 "
      "0.00038443359375000017 0.0005766503906250003 0.0008649755859375004 0.0012974633789062506 "
      "0.0019461950683593758 0.0029192926025390638 0.004378938903808595 0.006568408355712893 0.009852612533569338 "
      "0.014778918800354007 0.02216837820053101 +Inf",
      "[ALPHA] Duration for running a plugin at a specific extension point." },
    { "scheduler_pod_scheduled_after_flush_total", "counter", "",
      "",
      "[ALPHA] Number of pods that were successfully scheduled after being flushed from unschedulablePods due to "
      "timeout. This metric helps detect potential queueing hint misconfigurations or event handling issues." },
    { "scheduler_pod_scheduling_attempts", "histogram", "",
      "1 2 4 8 16 +Inf",
      "[STABLE] Number of attempts to successfully schedule a pod." },
    { "scheduler_pod_scheduling_sli_duration_seconds", "histogram", "attempts",
      "0.01 0.02 0.04 0.08 0.16 0.32 0.64 1.28 2.56 5.12 10.24 20.48 40.96 81.92 163.84 327.68 655.36 1310.72 "
      "2621.44 5242.88 +Inf",
      "[BETA] E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might "
      "involve multiple scheduling attempts." },
    { "scheduler_preemption_attempts_total", "counter", "",
      "",
      "[STABLE] Total preemption attempts in the cluster till now" },
    { "scheduler_preemption_goroutines_duration_seconds", "histogram", "result",
      "0.01 0.02 0.04 0.08 0.16 0.32 0.64 1.28 2.56 5.12 10.24 20.48 40.96 81.92 163.84 327.68 655.36 1310.72 "
      "2621.44 5242.88 +Inf",
      "[ALPHA] Duration in seconds for running goroutines for the preemption." },
    { "scheduler_preemption_goroutines_execution_total", "counter", "result",
      "",
      "[ALPHA] Number of preemption goroutines executed." },
    { "scheduler_preemption_victims", "histogram", "",
      "1 2 4 8 16 32 64 +Inf",
      "[STABLE] Number of selected preemption victims" },
    { "scheduler_queue_incoming_pods_total", "counter", "event,queue",
      "",
      "[STABLE] Number of pods added to scheduling queues by event and queue type." },
    { "scheduler_queueing_hint_execution_duration_seconds", "histogram", "event,hint,plugin",
      "1e-05 1.5000000000000002e-05 2.2500000000000005e-05 3.375000000000001e-05 5.062500000000001e-05 "
      "7.593750000000002e-05 0.00011390625000000003 0.00017085937500000006 0.0002562890625000001 "
      "0.00038443359375000017 0.0005766503906250003 0.0008649755859375004 0.0012974633789062506 "
      "0.0019461950683593758 0.0029192926025390638 0.004378938903808595 0.006568408355712893 0.009852612533569338 "
      "0.014778918800354007 0.02216837820053101 +Inf",
      "[ALPHA] Duration for running a queueing hint function of a plugin." },
    { "scheduler_schedule_attempts_total", "counter", "profile,result",
      "",
      "[STABLE] Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be "
      "scheduled, while 'error' means an internal scheduler problem." },
    { "scheduler_scheduling_algorithm_duration_seconds", "histogram", "",
      "0.001 0.002 0.004 0.008 0.016 0.032 0.064 0.128 0.256 0.512 1.024 2.048 4.096 8.192 16.384 +Inf",
      "[ALPHA] Scheduling algorithm latency in seconds" },
    { "scheduler_scheduling_attempt_duration_seconds", "histogram", "profile,result",
      "0.001 0.002 0.004 0.008 0.016 0.032 0.064 0.128 0.256 0.512 1.024 2.048 4.096 8.192 16.384 +Inf",
      "[STABLE] Scheduling attempt latency in seconds (scheduling algorithm + binding)" },
    { "scheduler_store_schedule_results_duration_seconds", "histogram", "profile",
      "1e-05 2e-05 4e-05 8e-05 0.00016 0.00032 0.00064 0.00128 0.00256 0.00512 0.01024 0.02048 +Inf",
      "[ALPHA] Latency for getting a no." },
    { "scheduler_unschedulable_pods", "gauge", "plugin,profile",
      "",
      "[BETA] The number of unschedulable pods broken down by plugin name. A pod will increment the gauge for all "
      "plugins that caused it to not schedule and so this metric have meaning only when broken down by plugin." },
    { "version_info", "gauge", "binary,component,emulation,min_compat",
      "",
      "[ALPHA] Provides the compatibility version info of the component. The component label is the name of the "
      "component, usually kube, but is relevant for aggregated-apiservers." },
    { "workqueue_adds_total", "counter", "name",
      "",
      "[BETA] Total number of adds handled by workqueue" },
    { "workqueue_depth", "gauge", "name",
      "",
      "[BETA] Current depth of workqueue" },
    { "workqueue_longest_running_processor_seconds", "gauge", "name",
      "",
      "[BETA] How many seconds has the longest running processor for workqueue been running." },
    { "workqueue_queue_duration_seconds", "histogram", "name",
      "1e-08 1e-07 1e-06 9.999999999999999e-06 9.999999999999999e-05 0.001 0.01 0.1 1 10 +Inf",
      "[BETA] How long in seconds an item stays in workqueue before being requested." },
    { "workqueue_retries_total", "counter", "name",
      "",
      "[BETA] Total number of retries handled by workqueue" },
    { "workqueue_unfinished_work_seconds", "gauge", "name",
      "",
      "[BETA] How many seconds of work has done that is in progress and hasn't been observed by work_duration. "
      "Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at "
      "which this increases." },
    { "workqueue_work_duration_seconds", "histogram", "name",
      "1e-08 1e-07 1e-06 9.999999999999999e-06 9.999999999999999e-05 0.001 0.01 0.1 1 10 +Inf",
      "[BETA] How long in seconds processing an item from workqueue takes." },
};

/* ---- Reading a page ---- */

static struct str line_at(const char *at)
{
    const char *end = strchr(at, '\n');
    return (struct str){ at, end ? (size_t)(end - at) : strlen(at) };
}

static const char *find_line(struct arena *a, const char *page, const char *what, const char *name)
{
    const char *text = arena_printf(a, "# %s %s ", what, name), *at = strstr(page, text);
    return at ? at + strlen(text) : NULL;
}

/* Label names of a sample, without le; the bound goes to *ret_bound. */
static void add_labels(struct strbuf *to, struct str sample, struct str *ret_bound)
{
    const char *at = memchr(sample.p, '{', sample.n), *end = sample.p + sample.n;
    *ret_bound = (struct str){ 0 };
    while (at && at < end && *at != '}') {
        const char *name = at + 1, *equals = strchr(name, '='), *value = equals + 2, *close = value;
        while (*close != '"')
            close += *close == '\\' ? 2 : 1;
        struct str label = { name, (size_t)(equals - name) };
        if (str_eq(label, STR("le")))
            *ret_bound = (struct str){ value, (size_t)(close - value) };
        else
            strbuf_printf(to, "%s%.*s", to->n ? "," : "", STR_ARG(label));
        at = close + 1;
    }
}

/* Of the first series of a family. */
static void read_series(const char *at, struct strbuf *labels, struct strbuf *bounds)
{
    for (bool first = true, done = false; *at && *at != '#' && !done; first = false) {
        struct str sample = line_at(at), bound;
        struct strbuf ignored;
        strbuf_init(&ignored, STRBUF_NO_MAX);
        add_labels(first ? labels : &ignored, sample, &bound);
        if (bound.n)
            strbuf_printf(bounds, "%s%.*s", bounds->n ? " " : "", STR_ARG(bound));
        done = !bound.n || str_eq(bound, STR("+Inf"));
        strbuf_fini(&ignored);
        at += sample.n + 1;
    }
}

static void check_fact(struct arena *a, const char *page, size_t i)
{
    const char *name = facts[i].name;
    const char *help = find_line(a, page, "HELP", name), *type = find_line(a, page, "TYPE", name);
    if (!help || !type)
        FAIL("%s is not on the page", name);
    struct strbuf labels, bounds;
    strbuf_init(&labels, STRBUF_NO_MAX);
    strbuf_init(&bounds, STRBUF_NO_MAX);
    read_series(type + line_at(type).n + 1, &labels, &bounds);
    CHECK_STR(name, line_at(help), str_of(facts[i].help));
    CHECK_STR(name, line_at(type), str_of(facts[i].type));
    CHECK_STR(name, strbuf_str(&labels), str_of(facts[i].labels));
    CHECK_STR(name, strbuf_str(&bounds), str_of(facts[i].bounds));
    strbuf_fini(&labels);
    strbuf_fini(&bounds);
}

uint32_t metric_facts_check(const char *page, const char *prefix)
{
    struct arena a;
    arena_init(&a);
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
        if (strncmp(facts[i].name, prefix, strlen(prefix)) == 0) {
            check_fact(&a, page, i);
            n++;
        }
    arena_fini(&a);
    return n;
}
