/* What a daemon adds to the scheduler's metrics: the process, the component, its client, its health, berth's own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/arena.h"
#include "daemon/berth_metrics.h"
#include "daemon/client_metrics.h"
#include "daemon/component_metrics.h"
#include "daemon/health_metrics.h"
#include "daemon/process_metrics.h"
#include "tests/test.h"
#include "tests/unit/metric_facts.h"

static struct metrics *registry;
static struct arena arena;

static void begin(void)
{
    registry = metrics_new();
    arena_init(&arena);
}

static const char *page(void)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    metrics_write(registry, &b);
    const char *text = arena_printf(&arena, "\n%.*s", STR_ARG(strbuf_str(&b)));
    strbuf_fini(&b);
    return text;
}

static void end(void)
{
    metrics_free(registry);
    arena_fini(&arena);
}

static void shows(const char *line)
{
    const char *text = page();
    if (!strstr(text, arena_printf(&arena, "\n%s\n", line)))
        FAIL("no line %s in %s", line, text);
}

static double value_of(const char *name)
{
    const char *at = strstr(page(), arena_printf(&arena, "\n%s ", name));
    if (!at)
        FAIL("no %s", name);
    return strtod(at + strlen(name) + 2, NULL);
}

/* ---- The process ---- */

TEST(the_process_is_declared_as_the_real_one)
{
    begin();
    process_metrics_add(registry);
    CHECK_INT("metrics", metric_facts_check(page(), "process_"), 9);
    end();
}

TEST(the_process_is_this_one)
{
    begin();
    process_metrics_add(registry);
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(value_of("process_max_fds") == (double)limit.rlim_cur);
    double before = value_of("process_open_fds");
    int fd = dup(0);
    CHECK(value_of("process_open_fds") == before + 1);
    close(fd);
    CHECK(before >= 1 && before < 1000);
    double started = value_of("process_start_time_seconds"), now = (double)time(NULL);
    CHECK(started > now - 3600 && started < now + 5);
    CHECK(value_of("process_virtual_memory_bytes") > value_of("process_resident_memory_bytes"));
    CHECK(value_of("process_resident_memory_bytes") > 100000);
    CHECK(value_of("process_resident_memory_bytes") < 1e10);
    CHECK(value_of("process_virtual_memory_max_bytes") > 0);
    double cpu = value_of("process_cpu_seconds_total");
    volatile uint64_t x = 0;
    while (value_of("process_cpu_seconds_total") < cpu + 0.02)
        for (int i = 0; i < 1000000; i++)
            x += (uint64_t)i;
    CHECK(value_of("process_network_receive_bytes_total") >= 0);
    CHECK(value_of("process_network_transmit_bytes_total") >= 0);
    end();
}

/* ---- The component ---- */

static const struct component_build build = {
    .major = "1", .minor = "36", .git_version = "v1.36.4", .git_commit = "abc", .git_tree_state = "clean",
    .build_date = "2026-01-01T00:00:00Z", .compiler = "gcc", .platform = "linux/amd64", .binary = "1.36.4",
    .emulation = "1.36", .min_compat = "1.35",
};

TEST(the_component_says_what_it_is)
{
    begin();
    struct gates gates;
    gates_init(&gates);
    gates.on[GATE_GenericWorkload] = true;
    component_metrics_add(registry, &build, &gates);
    CHECK_INT("metrics", metric_facts_check(page(), "kubernetes_"), 2);
    CHECK_INT("metrics", metric_facts_check(page(), "version_info"), 1);
    CHECK_INT("metrics", metric_facts_check(page(), "registered_metrics_total"), 1);
    CHECK_INT("metrics", metric_facts_check(page(), "hidden_metrics_total"), 1);
    CHECK_INT("metrics", metric_facts_check(page(), "disabled_metrics_total"), 1);
    CHECK_INT("metrics", metric_facts_check(page(), "cardinality_"), 1);
    shows("kubernetes_build_info{build_date=\"2026-01-01T00:00:00Z\",compiler=\"gcc\",git_commit=\"abc\","
          "git_tree_state=\"clean\",git_version=\"v1.36.4\",go_version=\"\",major=\"1\",minor=\"36\","
          "platform=\"linux/amd64\"} 1");
    shows("version_info{binary=\"1.36.4\",component=\"kube\",emulation=\"1.36\",min_compat=\"1.35\"} 1");
    shows("kubernetes_feature_enabled{name=\"APIServerTracing\",stage=\"\"} 1");
    shows("kubernetes_feature_enabled{name=\"AllAlpha\",stage=\"ALPHA\"} 0");
    shows("kubernetes_feature_enabled{name=\"GenericWorkload\",stage=\"ALPHA\"} 1");
    shows("kubernetes_feature_enabled{name=\"AllowDNSOnlyNodeCSR\",stage=\"DEPRECATED\"} 0");
    shows("kubernetes_feature_enabled{name=\"AtomicFIFO\",stage=\"BETA\"} 1");
    end();
}

TEST(who_leads)
{
    begin();
    struct leader_metrics m = leader_metrics_add(registry, "kube-scheduler");
    CHECK_TEXT("not before it is known", page(), "\n");
    series_set(m.is_leader, 0);
    shows("leader_election_master_status{name=\"kube-scheduler\"} 0");
    series_set(m.is_leader, 1);
    shows("leader_election_master_status{name=\"kube-scheduler\"} 1");
    CHECK_INT("metrics", metric_facts_check(page(), "leader_election_"), 1);
    series_inc(m.slow_paths);
    shows("leader_election_slowpath_total{name=\"kube-scheduler\"} 1");
    end();
}

TEST(work_queues)
{
    begin();
    struct work_queue_families *f = work_queue_families_new(registry);
    struct work_queue_metrics q = work_queue_metrics_of(f, "DynamicServingCertificateController");
    work_queue_metrics_done(&q, 0.5, 0.25);
    CHECK_INT("metrics", metric_facts_check(page(), "workqueue_"), 7);
    shows("workqueue_adds_total{name=\"DynamicServingCertificateController\"} 1");
    shows("workqueue_queue_duration_seconds_sum{name=\"DynamicServingCertificateController\"} 0.5");
    shows("workqueue_work_duration_seconds_sum{name=\"DynamicServingCertificateController\"} 0.25");
    shows("workqueue_depth{name=\"DynamicServingCertificateController\"} 0");
    work_queue_families_free(f);
    end();
}

/* ---- The client ---- */

TEST(requests_are_counted_as_client_go_does)
{
    begin();
    struct client_metrics *m = client_metrics_new(registry, STR("10.0.0.1:6443"));
    struct rest_observer o = client_metrics_observer(m);
    o.carriers(o.context, 1);
    o.tried(o.context, "GET", 200, 0, true);
    o.tried(o.context, "GET", 0, 0, true);
    o.waited(o.context, "POST", 30000000);
    o.tried(o.context, "POST", 429, 100, false);
    o.retried(o.context, "POST", 429);
    o.tried(o.context, "POST", 201, 100, false);
    o.finished(o.context, "POST", 2000000000, 1000, true);
    o.finished(o.context, "PATCH", 1000000, 0, false);
    CHECK_INT("metrics", metric_facts_check(page(), "rest_client_"), 10);
    shows("rest_client_requests_total{code=\"200\",host=\"10.0.0.1:6443\",method=\"GET\"} 1");
    shows("rest_client_requests_total{code=\"<error>\",host=\"10.0.0.1:6443\",method=\"GET\"} 1");
    shows("rest_client_requests_total{code=\"429\",host=\"10.0.0.1:6443\",method=\"POST\"} 1");
    shows("rest_client_requests_total{code=\"201\",host=\"10.0.0.1:6443\",method=\"POST\"} 1");
    shows("rest_client_request_retries_total{code=\"429\",host=\"10.0.0.1:6443\",verb=\"POST\"} 1");
    shows("rest_client_request_duration_seconds_sum{host=\"10.0.0.1:6443\",verb=\"POST\"} 2");
    shows("rest_client_request_duration_seconds_count{host=\"10.0.0.1:6443\",verb=\"PATCH\"} 1");
    shows("rest_client_rate_limiter_duration_seconds_sum{host=\"10.0.0.1:6443\",verb=\"POST\"} 0.03");
    shows("rest_client_request_size_bytes_sum{host=\"10.0.0.1:6443\",verb=\"POST\"} 200");
    shows("rest_client_response_size_bytes_sum{host=\"10.0.0.1:6443\",verb=\"POST\"} 1000");
    CHECK(!strstr(page(), "rest_client_request_size_bytes_count{host=\"10.0.0.1:6443\",verb=\"GET\"}"));
    CHECK(!strstr(page(), "rest_client_response_size_bytes_count{host=\"10.0.0.1:6443\",verb=\"PATCH\"}"));
    shows("rest_client_transport_cache_entries 1");
    shows("rest_client_transport_create_calls_total{result=\"miss\"} 1");
    shows("rest_client_exec_plugin_ttl_seconds +Inf");
    o.carriers(o.context, 1);
    o.carriers(o.context, -1);
    shows("rest_client_transport_cache_entries 1");
    shows("rest_client_transport_create_calls_total{result=\"miss\"} 2");
    client_metrics_free(m);
    end();
}

/* ---- Health ---- */

TEST(health_checks_have_a_page_of_their_own)
{
    begin();
    struct health_metrics m = health_metrics_add(registry);
    CHECK(strstr(page(), "\n# HELP process_start_time_seconds [ALPHA] Start time of the process since unix epoch in "
                         "seconds.\n# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds "));
    CHECK(!strstr(page(), "kubernetes_"));
    health_metrics_note(&m, "shutdown", "readyz", true);
    health_metrics_note(&m, "shutdown", "readyz", true);
    health_metrics_note(&m, "leaderElection", "readyz", false);
    CHECK(strstr(page(), "\n# HELP kubernetes_healthcheck [STABLE] This metric records the result of a single healthcheck.\n"
                         "# TYPE kubernetes_healthcheck gauge\n"
                         "kubernetes_healthcheck{name=\"leaderElection\",type=\"readyz\"} 0\n"
                         "kubernetes_healthcheck{name=\"shutdown\",type=\"readyz\"} 1\n"
                         "# HELP kubernetes_healthchecks_total [STABLE] This metric records the results of all healthcheck.\n"
                         "# TYPE kubernetes_healthchecks_total counter\n"
                         "kubernetes_healthchecks_total{name=\"leaderElection\",status=\"error\",type=\"readyz\"} 1\n"
                         "kubernetes_healthchecks_total{name=\"shutdown\",status=\"success\",type=\"readyz\"} 2\n"));
    metrics_reset(registry);
    CHECK(!strstr(page(), "kubernetes_"));
    CHECK(strstr(page(), "\nprocess_start_time_seconds 1"));
    end();
}

/* ---- berth's own ---- */

TEST(own_metrics)
{
    begin();
    struct berth_metrics m;
    berth_metrics_add(registry, &m);
    series_inc(m.events_dropped);
    series_set(m.inbox_depth, 3);
    series_set(m.writes_waiting, 4);
    series_observe(m.decode_seconds, 0.5);
    series_observe(m.turn_seconds, 0.25);
    series_set(m.decisions_kept, 9);
    berth_metrics_watch_restarted(&m, "pods");
    shows("berth_events_dropped_total 1");
    shows("berth_inbox_depth 3");
    shows("berth_writes_waiting 4");
    shows("berth_decode_seconds_sum 0.5");
    shows("berth_turn_seconds_sum 0.25");
    shows("berth_decisions_kept 9");
    shows("berth_watch_restarts_total{resource=\"pods\"} 1");
    shows("berth_metric_values_dropped_total 0");
    char *long_value = calloc(1, METRIC_VALUE_BYTES_MAX + 2);
    memset(long_value, 'x', METRIC_VALUE_BYTES_MAX + 1);
    berth_metrics_watch_restarted(&m, long_value);
    free(long_value);
    shows("berth_metric_values_dropped_total 1");
    end();
}

TEST(shadow_metrics)
{
    begin();
    struct berth_metrics m;
    struct shadow_counts now = { 0 }, told = { 0 };
    berth_metrics_add(registry, &m);
    CHECK(!strstr(page(), "berth_shadow")); /* whoever schedules himself has none */
    berth_metrics_count_shadow(&m, &now, &told);
    shows("berth_shadow_pods_total{class=\"lower\"} 0");
    now.n[SHADOW_SAME] = 7;
    now.n[SHADOW_LOWER] = 2;
    now.plugins[now.n_plugins++] = (struct shadow_plugin){ "ImageLocality", .n_lower = 2 };
    berth_metrics_count_shadow(&m, &now, &told);
    now.n[SHADOW_SAME] = 8;
    now.plugins[0].n_lower = 3;
    now.plugins[now.n_plugins++] = (struct shadow_plugin){ "NodePorts", .n_refused = 1 };
    berth_metrics_count_shadow(&m, &now, &told);
    berth_metrics_count_shadow(&m, &now, &told);
    shows("berth_shadow_pods_total{class=\"same\"} 8");
    shows("berth_shadow_pods_total{class=\"lower\"} 2");
    shows("berth_shadow_plugin_disagreements_total{class=\"lower\",plugin=\"ImageLocality\"} 3");
    shows("berth_shadow_plugin_disagreements_total{class=\"refused\",plugin=\"NodePorts\"} 1");
    CHECK(!strstr(page(), "class=\"refused\",plugin=\"ImageLocality\""));
    end();
}
