/* sched/sched_metrics.c - see sched_metrics.h: the families, and what is written down from time to time. What moves with
 * attempts is in measure.c. */
#include "sched/sched_metrics.h"

#include "base/mem.h"
#include "sched/measure.h"
#include "sched/queue.h"
#include "sched/sched.h"
#include "sched/sched_priv.h"

/* Upper bounds: so many, each the one before times the factor. */
struct buckets {
    double start, factor;
    uint32_t n;
};

enum { BUCKETS_MAX = 20 };

static const struct buckets of_attempts = { 0.001, 2, 15 }, of_points = { 0.0001, 2, 12 }, of_plugins = { 0.00001, 1.5, 20 },
                            of_pods = { 0.01, 2, 20 }, of_results = { 0.00001, 2, 12 }, of_victims = { 1, 2, 7 },
                            of_tries = { 1, 2, 5 }, of_conditions = { 0.1, 2, 14 };

static struct metric *add_histogram(struct metrics *r, const struct buckets *b, const struct metric_desc *desc)
{
    double bounds[BUCKETS_MAX];
    assert(b->n <= BUCKETS_MAX);
    metrics_exponential_bounds(b->start, b->factor, b->n, bounds);
    return metrics_add_histogram(r, desc, bounds, b->n);
}

#define COUNTER(registry, level, name, help, ...)                                                                      \
    metrics_add_counter(registry,                                                                                      \
                        &(struct metric_desc){ "scheduler_" name, help, { __VA_ARGS__ }, .stability = STABILITY_##level })
#define GAUGE(registry, level, name, help, ...)                                                                        \
    metrics_add_gauge(registry,                                                                                        \
                      &(struct metric_desc){ "scheduler_" name, help, { __VA_ARGS__ }, .stability = STABILITY_##level })
#define HISTOGRAM(registry, level, buckets, name, help, ...)                                                           \
    add_histogram(registry, &(buckets),                                                                                \
                  &(struct metric_desc){ "scheduler_" name, help, { __VA_ARGS__ }, .stability = STABILITY_##level })

/* ---- The families ---- */

static void add_attempt_families(struct sched_metrics *m, struct metrics *r)
{
    m->attempts = COUNTER(r, STABLE, "schedule_attempts_total",
                          "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be "
                          "scheduled, while 'error' means an internal scheduler problem.",
                          "result", "profile");
    m->attempt_seconds = HISTOGRAM(r, STABLE, of_attempts, "scheduling_attempt_duration_seconds",
                                   "Scheduling attempt latency in seconds (scheduling algorithm + binding)", "result",
                                   "profile");
    struct metric *algorithm = HISTOGRAM(r, ALPHA, of_attempts, "scheduling_algorithm_duration_seconds",
                                         "Scheduling algorithm latency in seconds", NULL);
    m->sli_seconds = HISTOGRAM(r, BETA, of_pods, "pod_scheduling_sli_duration_seconds",
                               "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue "
                               "and might involve multiple scheduling attempts.",
                               "attempts");
    struct metric *tries = HISTOGRAM(r, STABLE, of_tries, "pod_scheduling_attempts",
                                     "Number of attempts to successfully schedule a pod.", NULL);
    m->algorithm_seconds = metric_series(algorithm, NULL);
    m->pod_attempts = metric_series(tries, NULL);
    /* Never counts: upstream loses the mark of a flushed pod before it is read. */
    COUNTER(r, ALPHA, "pod_scheduled_after_flush_total",
            "Number of pods that were successfully scheduled after being flushed from unschedulablePods due to timeout. "
            "This metric helps detect potential queueing hint misconfigurations or event handling issues.",
            NULL);
    m->point_seconds = HISTOGRAM(r, STABLE, of_points, "framework_extension_point_duration_seconds",
                                 "Latency for running all plugins of a specific extension point.", "extension_point",
                                 "status", "profile");
    m->plugin_seconds = HISTOGRAM(r, ALPHA, of_plugins, "plugin_execution_duration_seconds",
                                  "Duration for running a plugin at a specific extension point.", "plugin",
                                  "extension_point", "status");
    m->evaluated = COUNTER(r, BETA, "plugin_evaluation_total",
                           "Number of attempts to schedule pods by each plugin and the extension point (available only in "
                           "PreFilter, Filter, PreScore, and Score).",
                           "plugin", "extension_point", "profile");
    m->permit_seconds = HISTOGRAM(r, BETA, of_attempts, "permit_wait_duration_seconds", "Duration of waiting on permit.",
                                  "result");
    m->goroutines = GAUGE(r, BETA, "goroutines",
                          "Number of running goroutines split by the work they do such as binding.", "operation");
}

static void add_queue_families(struct sched_metrics *m, struct metrics *r)
{
    struct metric *pending = GAUGE(
        r, STABLE, "pending_pods",
        "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' means number of "
        "pods in backoffQ; 'unschedulable' means number of pods in unschedulablePods that the scheduler attempted to "
        "schedule and failed; 'gated' is the number of unschedulable pods that the scheduler never attempted to schedule "
        "because they are gated.",
        "queue");
    static const char *const queues[] = { "active", "backoff", "unschedulable", "gated" };
    for (int i = 0; i < 4; i++)
        m->pending[i] = metric_series(pending, (struct str[]){ str_of(queues[i]) });
    m->incoming_pods = COUNTER(r, STABLE, "queue_incoming_pods_total",
                               "Number of pods added to scheduling queues by event and queue type.", "queue", "event");
    m->rejected = GAUGE(r, BETA, "unschedulable_pods",
                        "The number of unschedulable pods broken down by plugin name. A pod will increment the gauge for "
                        "all plugins that caused it to not schedule and so this metric have meaning only when broken down "
                        "by plugin.",
                        "plugin", "profile");
    m->inflight = GAUGE(r, ALPHA, "inflight_events", "Number of events currently tracked in the scheduling queue.", "event");
    m->event_seconds =
        HISTOGRAM(r, ALPHA, of_points, "event_handling_duration_seconds", "Event handling latency in seconds.", "event");
    m->hint_seconds = HISTOGRAM(r, ALPHA, of_plugins, "queueing_hint_execution_duration_seconds",
                                "Duration for running a queueing hint function of a plugin.", "plugin", "event", "hint");
}

static void add_cache_families(struct sched_metrics *m, struct metrics *r)
{
    struct metric *size = GAUGE(r, ALPHA, "cache_size",
                                "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.", "type");
    m->cache_nodes = metric_series(size, (struct str[]){ STR("nodes") });
    m->cache_pods = metric_series(size, (struct str[]){ STR("pods") });
    m->cache_assumed = metric_series(size, (struct str[]){ STR("assumed_pods") });
}

static void add_preemption_families(struct sched_metrics *m, struct metrics *r, const struct features *features)
{
    m->victims = metric_series(HISTOGRAM(r, STABLE, of_victims, "preemption_victims",
                                         "Number of selected preemption victims", NULL), NULL);
    m->preemptions = metric_series(COUNTER(r, STABLE, "preemption_attempts_total",
                                           "Total preemption attempts in the cluster till now", NULL), NULL);
    if (!features->async_preemption)
        return;
    m->preemption_seconds = HISTOGRAM(r, ALPHA, of_pods, "preemption_goroutines_duration_seconds",
                                      "Duration in seconds for running goroutines for the preemption.", "result");
    m->preemption_total = COUNTER(r, ALPHA, "preemption_goroutines_execution_total",
                                  "Number of preemption goroutines executed.", "result");
}

static void add_batch_families(struct sched_metrics *m, struct metrics *r)
{
    m->batch_attempts = COUNTER(r, ALPHA, "batch_attempts_total", "Counts of results when we attempt to use batching.",
                                "profile", "result");
    m->batch_flushed =
        COUNTER(r, ALPHA, "batch_cache_flushed_total", "Counts of cache flushes by reason.", "profile", "reason");
    m->hint_node_seconds = HISTOGRAM(r, ALPHA, of_results, "get_node_hint_duration_seconds",
                                     "Latency for getting a node hint.", "hinted", "profile");
    m->store_seconds = HISTOGRAM(r, ALPHA, of_results, "store_schedule_results_duration_seconds",
                                 "Latency for getting a no.", "profile");
}

/* Volumes, devices, groups, calls to the API server. */
static void add_other_families(struct sched_metrics *m, const struct sched_metrics_options *o)
{
    struct metrics *r = o->registry;
    COUNTER(r, ALPHA, "volume_binder_cache_requests_total", "Total number for request volume binding cache", "operation");
    m->volume_errors =
        COUNTER(r, ALPHA, "volume_scheduling_stage_error_total", "Volume scheduling stage error count", "operation");
    COUNTER(r, ALPHA, "resourceclaim_creates_total", "Number of ResourceClaims creation requests within scheduler",
            "status");
    if (o->features.dra_device_binding_conditions) {
        COUNTER(r, ALPHA, "dra_bindingconditions_allocations_total",
                "Number of allocations using devices with BindingConditions, counted per driver per scheduling attempt",
                "profile", "driver", "status");
        HISTOGRAM(r, ALPHA, of_conditions, "dra_bindingconditions_wait_duration_seconds",
                  "Time in seconds spent waiting for BindingConditions to be satisfied during PreBind.", "profile",
                  "driver", "status");
    }
    if (o->features.generic_workload) {
        COUNTER(r, ALPHA, "podgroup_schedule_attempts_total",
                "Number of attempts to schedule pod group, by the result. 'unschedulable' means a pod group could not be "
                "scheduled, while 'error' means an internal scheduler problem.",
                "result", "profile");
        HISTOGRAM(r, ALPHA, of_attempts, "podgroup_scheduling_attempt_duration_seconds",
                  "Pod group scheduling attempt latency in seconds (scheduling algorithm + binding)", "result", "profile");
        HISTOGRAM(r, ALPHA, of_attempts, "podgroup_scheduling_algorithm_duration_seconds",
                  "Pod group scheduling algorithm latency in seconds", NULL);
    }
    if (o->async_api_calls) {
        m->api_calls = COUNTER(r, ALPHA, "async_api_call_execution_total",
                               "Total number of API calls executed by the async dispatcher.", "call_type", "result");
        m->api_seconds = HISTOGRAM(r, ALPHA, of_attempts, "async_api_call_execution_duration_seconds",
                                   "Duration in seconds for executing API call in the async dispatcher.", "call_type",
                                   "result");
        m->api_pending = GAUGE(r, ALPHA, "pending_async_api_calls",
                               "Number of API calls currently pending in the async queue.", "call_type");
    }
}

struct sched_metrics *sched_metrics_new(const struct sched_metrics_options *o)
{
    struct sched_metrics *m = mem_zalloc(sizeof(*m));
    m->clock = o->clock ? o->clock : &clock_real;
    m->batching = o->batching;
    m->n_attempts = m->n_gates = o->samples_first ? MEASURE_SAMPLE - 1 : 0;
    add_attempt_families(m, o->registry);
    add_queue_families(m, o->registry);
    add_cache_families(m, o->registry);
    add_preemption_families(m, o->registry, &o->features);
    add_batch_families(m, o->registry);
    add_other_families(m, o);
    return m;
}

void sched_metrics_free(struct sched_metrics *m)
{
    assert(!m || !m->profiles); /* its scheduler has ended */
    free(m);
}

/* ---- The profiles of a scheduler ---- */

static uint64_t plugins_at(const struct profile *p, enum extension_point point)
{
    uint64_t mask = 0;
    for (uint8_t i = 0; i < p->points[point].n; i++)
        mask |= 1ull << p->points[point].at[i]->index;
    return mask;
}

static const struct {
    enum extension_point point;
    const char *name;
} evaluated_points[N_EVALUATED_POINTS] = {
    [EVALUATED_PRE_FILTER] = { POINT_PRE_FILTER, "PreFilter" },
    [EVALUATED_FILTER] = { POINT_FILTER, "Filter" },
    [EVALUATED_PRE_SCORE] = { POINT_PRE_SCORE, "PreScore" },
    [EVALUATED_SCORE] = { POINT_SCORE, "Score" },
};

/* These are there from the start. */
static void find_evaluated(struct sched_metrics *m, struct profile_metrics *p)
{
    for (int e = 0; e < N_EVALUATED_POINTS; e++)
        for (uint64_t left = plugins_at(p->profile, evaluated_points[e].point); left; left &= left - 1) {
            int i = __builtin_ctzll(left);
            p->evaluated[e][i] = metric_series(
                m->evaluated, (struct str[]){ str_of(p->profile->instances[i].plugin->name),
                                              str_of(evaluated_points[e].name), str_of(p->profile->scheduler_name) });
        }
}

static void find_batching(struct sched_metrics *m, struct profile_metrics *p)
{
    struct str name = str_of(p->profile->scheduler_name);
    p->no_hint = metric_series_unseen(m->batch_attempts, (struct str[]){ name, STR("no_hint") });
    p->no_hint_seconds = metric_series_unseen(m->hint_node_seconds, (struct str[]){ STR("no_hint"), name });
    p->store_seconds = metric_series_unseen(m->store_seconds, &name);
    p->flushed_unlike = metric_series_unseen(m->batch_flushed, (struct str[]){ name, STR("pod_not_batchable") });
    p->flushed_empty = metric_series_unseen(m->batch_flushed, (struct str[]){ name, STR("empty_list") });
}

static void find_results(struct sched_metrics *m, struct profile_metrics *p)
{
    static const char *const results[N_ATTEMPT_RESULTS] = { "scheduled", "unschedulable", "error" };
    for (int i = 0; i < N_ATTEMPT_RESULTS; i++) {
        struct str values[] = { str_of(results[i]), str_of(p->profile->scheduler_name) };
        p->attempts[i] = metric_series_unseen(m->attempts, values);
        p->attempt_seconds[i] = metric_series_unseen(m->attempt_seconds, values);
    }
}

void measure_attach(struct sched_metrics *m, struct profile *const *profiles, uint32_t n_profiles)
{
    assert(!m->profiles);
    m->profiles = mem_zalloc(mem_product(n_profiles, sizeof(*m->profiles)));
    m->n_profiles = n_profiles;
    for (uint32_t i = 0; i < n_profiles; i++) {
        struct profile_metrics *p = &m->profiles[i];
        p->profile = profiles[i];
        p->filters = plugins_at(p->profile, POINT_FILTER);
        p->pre_scores = plugins_at(p->profile, POINT_PRE_SCORE);
        p->scores = plugins_at(p->profile, POINT_SCORE);
        find_evaluated(m, p);
        find_batching(m, p);
        find_results(m, p);
    }
}

void measure_detach(struct sched_metrics *m)
{
    for (uint32_t i = 0; i < m->n_profiles; i++)
        free(m->profiles[i].plugin_seconds);
    free(m->profiles);
    m->profiles = NULL;
    m->n_profiles = 0;
    memset(m->incoming, 0, sizeof(m->incoming)); /* the next one's queue begins anew */
}

/* ---- What is written down from time to time ---- */

static struct series *once(struct series **slot, struct metric *metric, struct str value)
{
    if (!*slot)
        *slot = metric_series_unseen(metric, &value);
    return *slot;
}

static void publish_queue(struct sched_metrics *m, const struct queue *q, bool popped)
{
    struct queue_counts n = queue_counts(q);
    uint32_t pending[] = { n.active, n.backoff, n.unschedulable, n.gated };
    for (int i = 0; i < 4; i++)
        series_set(m->pending[i], pending[i]);
    if (popped)
        series_set(once(&m->popped, m->inflight, STR("PodPopped")), n.in_flight);
    for (uint16_t kind = 0; kind < N_EVENT_KINDS; kind++) {
        uint32_t kept = queue_kept_events(q, kind);
        if (kept || m->kept[kind])
            series_set(once(&m->kept[kind], m->inflight, str_of(event_kind_label(kind))), kept);
    }
}

static void publish_incoming(struct sched_metrics *m, const struct queue *q)
{
    static const enum queue_place places[N_PLACES_COUNTED] = { PLACE_ACTIVE, PLACE_BACKOFF, PLACE_UNSCHEDULABLE };
    static const char *const names[N_PLACES_COUNTED] = { "active", "backoff", "unschedulable" };
    for (int i = 0; i < N_PLACES_COUNTED; i++)
        for (uint16_t kind = 0; kind < N_EVENT_KINDS; kind++) {
            uint64_t n = queue_incoming(q, places[i], kind);
            if (n == m->incoming[i][kind])
                continue;
            if (!m->incoming_of[i][kind])
                m->incoming_of[i][kind] = metric_series_unseen(
                    m->incoming_pods, (struct str[]){ str_of(names[i]), str_of(event_kind_label(kind)) });
            series_add(m->incoming_of[i][kind], (double)(n - m->incoming[i][kind]));
            m->incoming[i][kind] = n;
        }
}

static void publish_rejected(struct sched_metrics *m, const struct queue *q)
{
    for (uint32_t i = 0; i < m->n_profiles; i++) {
        struct profile_metrics *p = &m->profiles[i];
        for (uint64_t left = queue_ever_rejected(q, i) & ~(1ull << PLUGIN_NOBODY); left; left &= left - 1) {
            uint8_t k = (uint8_t)__builtin_ctzll(left);
            struct str plugin = k == PLUGIN_EXTENDERS ? STR("Extender") : str_of(p->profile->instances[k].plugin->name);
            if (!p->rejected[k])
                p->rejected[k] =
                    metric_series(m->rejected, (struct str[]){ plugin, str_of(p->profile->scheduler_name) });
            series_set(p->rejected[k], queue_rejected(q, i, k));
        }
    }
}

void sched_publish_metrics(struct sched *s)
{
    struct sched_metrics *m = s->metrics;
    if (!m)
        return;
    publish_queue(m, s->queue, s->n_attempts > 0);
    publish_incoming(m, s->queue);
    publish_rejected(m, s->queue);
    series_set(m->cache_nodes, (double)s->cache.row_of_name.n);
    series_set(m->cache_pods, (double)s->cache.pods.n);
    series_set(m->cache_assumed, s->cache.n_assumed);
    if (s->n_placed || s->bindings.n)
        series_set(once(&m->binding, m->goroutines, STR("binding")), (double)s->bindings.n);
    for (uint32_t i = 0; i < m->n_profiles; i++)
        for (int e = 0; e < N_EVALUATED_POINTS; e++)
            measure_flush_evaluations(&m->profiles[i], (enum evaluated_point)e);
}

/* ---- Calls to the API server ---- */

void sched_metrics_api_call_waits(struct sched_metrics *m, const char *type, int by)
{
    if (m->api_pending)
        series_add(metric_series(m->api_pending, (struct str[]){ str_of(type) }), by);
}

void sched_metrics_api_call_done(struct sched_metrics *m, const char *type, bool worked, double seconds)
{
    if (!m->api_calls)
        return;
    struct str values[] = { str_of(type), worked ? STR("success") : STR("error") };
    series_inc(metric_series(m->api_calls, values));
    series_observe(metric_series(m->api_seconds, values), seconds);
}
