/* sched/measure.c - see measure.h. */
#include "sched/measure.h"

#include <stdio.h>

#include "base/mem.h"
#include "sched/queued_pod.h"

static const char *const point_names[N_MEASURED_POINTS] = {
    [MEASURED_PRE_ENQUEUE] = "PreEnqueue", [MEASURED_PRE_FILTER] = "PreFilter",   [MEASURED_FILTER] = "Filter",
    [MEASURED_POST_FILTER] = "PostFilter", [MEASURED_PRE_SCORE] = "PreScore",     [MEASURED_SCORE] = "Score",
    [MEASURED_RESERVE] = "Reserve",        [MEASURED_UNRESERVE] = "Unreserve",    [MEASURED_PERMIT] = "Permit",
    [MEASURED_PRE_FLIGHT] = "PreBindPreFlight", [MEASURED_PRE_BIND] = "PreBind",  [MEASURED_BIND] = "Bind",
    [MEASURED_POST_BIND] = "PostBind",     [MEASURED_NORMALIZE] = "ScoreExtensionNormalize",
};

static const char *const code_names[N_VERDICT_CODES] = {
    [V_SUCCESS] = "Success", [V_ERROR] = "Error", [V_UNSCHEDULABLE] = "Unschedulable",
    [V_UNRESOLVABLE] = "UnschedulableAndUnresolvable", [V_WAIT] = "Wait", [V_SKIP] = "Skip", [V_PENDING] = "Pending",
};

static double seconds_of(int64_t ns)
{
    return (double)ns / CLOCK_NS_PER_SECOND;
}

/* ---- Points and plugins ---- */

static void observe_point(struct sched_metrics *m, struct profile_metrics *p, enum measured_point point, uint8_t code,
                          int64_t ns)
{
    assert(code < N_VERDICT_CODES);
    struct series **slot = &p->point_seconds[point][code];
    if (!*slot)
        *slot = metric_series(m->point_seconds, (struct str[]){ str_of(point_names[point]), str_of(code_names[code]),
                                                                str_of(p->profile->scheduler_name) });
    series_observe(*slot, seconds_of(ns));
}

static void observe_plugin(struct sched_metrics *m, struct profile_metrics *p, enum measured_point point, unsigned plugin,
                           uint8_t code, int64_t ns)
{
    assert(code < N_VERDICT_CODES);
    size_t n_instances = p->profile->n_instances;
    if (!p->plugin_seconds)
        p->plugin_seconds =
            mem_zalloc(N_MEASURED_POINTS * n_instances * N_VERDICT_CODES * sizeof(*p->plugin_seconds));
    struct series **slot = &p->plugin_seconds[(point * n_instances + plugin) * N_VERDICT_CODES + code];
    if (!*slot)
        *slot = metric_series(m->plugin_seconds, (struct str[]){ str_of(p->profile->instances[plugin].plugin->name),
                                                                 str_of(point_names[point]), str_of(code_names[code]) });
    series_observe(*slot, seconds_of(ns));
}

void measure_point_slowly(struct measure *t, enum measured_point point, uint8_t code, unsigned n_plugins)
{
    int64_t now_ns = n_plugins ? measure_now(t->metrics) : t->mark_ns;
    observe_point(t->metrics, t->profile, point, code, now_ns - t->mark_ns);
    t->mark_ns = now_ns;
}

void measure_plugin_slowly(struct measure *t, enum measured_point point, unsigned plugin, uint8_t code, int64_t start_ns)
{
    observe_plugin(t->metrics, t->profile, point, plugin, code, measure_now(t->metrics) - start_ns);
}

void measure_flush_evaluations(struct profile_metrics *p, enum evaluated_point point)
{
    struct evaluations *e = &p->evaluations[point];
    for (uint64_t left = e->n ? e->mask : 0; left; left &= left - 1)
        series_add(p->evaluated[point][__builtin_ctzll(left)], (double)e->n);
    e->n = 0;
}

/* ---- Attempts ---- */

void measure_begin_slowly(struct measure *t, struct sched_metrics *m, uint32_t profile)
{
    assert(profile < m->n_profiles);
    t->metrics = m;
    t->profile = &m->profiles[profile];
    t->start_ns = t->mark_ns = measure_now(m);
    t->samples = m->n_attempts++ % MEASURE_SAMPLE == 1;
}

void measure_no_hint(struct measure *t)
{
    if (!t->metrics || !t->metrics->batching)
        return;
    series_inc(t->profile->no_hint);
    series_observe(t->profile->no_hint_seconds, 0);
}

void measure_algorithm(struct measure *t, uint32_t n_feasible)
{
    if (!t->metrics)
        return;
    series_observe(t->metrics->algorithm_seconds, seconds_of(t->mark_ns - t->start_ns));
    if (!n_feasible || !t->metrics->batching)
        return;
    series_observe(t->profile->store_seconds, 0);
    series_inc(n_feasible > 1 ? t->profile->flushed_unlike : t->profile->flushed_empty);
}

static void end_attempt(struct measure *t, enum attempt_result result)
{
    series_inc(t->profile->attempts[result]);
    series_observe(t->profile->attempt_seconds[result], seconds_of(t->mark_ns - t->start_ns));
}

void measure_failed(struct measure *t, bool unschedulable)
{
    if (t->metrics)
        end_attempt(t, unschedulable ? RESULT_UNSCHEDULABLE : RESULT_ERROR);
}

static struct series *sli_of(struct sched_metrics *m, uint32_t attempts)
{
    uint32_t i = attempts < SLI_ATTEMPTS_MAX ? attempts : SLI_ATTEMPTS_MAX;
    assert(i > 0);
    if (!m->sli[i - 1]) {
        char label[16];
        snprintf(label, sizeof(label), "%u%s", i, i == SLI_ATTEMPTS_MAX ? "+" : "");
        m->sli[i - 1] = metric_series(m->sli_seconds, (struct str[]){ str_of(label) });
    }
    return m->sli[i - 1];
}

/* What came before this attempt is known in milliseconds, from the scheduler's clock. */
void measure_scheduled(struct measure *t, const struct queued_pod *qp)
{
    if (!t->metrics)
        return;
    end_attempt(t, RESULT_SCHEDULED);
    series_observe(t->metrics->pod_attempts, qp->attempts);
    if (qp->initial_attempt_ms != TIME_NONE)
        series_observe(sli_of(t->metrics, qp->attempts), (double)(qp->popped_ms - qp->initial_attempt_ms) / 1000 +
                                                             seconds_of(t->mark_ns - t->start_ns));
}

void measure_permit_wait(struct measure *t, uint8_t code)
{
    if (!t->metrics)
        return;
    assert(code < N_VERDICT_CODES);
    struct series **slot = &t->metrics->permit[code];
    int64_t now_ns = measure_now(t->metrics);
    if (!*slot)
        *slot = metric_series(t->metrics->permit_seconds, (struct str[]){ str_of(code_names[code]) });
    series_observe(*slot, seconds_of(now_ns - t->mark_ns));
    t->mark_ns = now_ns;
}

/* ---- Around attempts ---- */

/* Always a success, as upstream has it: the status is one that nothing is ever assigned to. */
void measure_gate(struct sched_metrics *m, uint32_t profile, int64_t start_ns)
{
    if (m)
        observe_point(m, &m->profiles[profile], MEASURED_PRE_ENQUEUE, V_SUCCESS, measure_now(m) - start_ns);
}

bool measure_samples_gate(struct sched_metrics *m)
{
    return m && m->n_gates++ % MEASURE_SAMPLE == 1;
}

void measure_gate_plugin(struct sched_metrics *m, uint32_t profile, const struct plugin_instance *p, uint8_t code,
                         int64_t start_ns)
{
    observe_plugin(m, &m->profiles[profile], MEASURED_PRE_ENQUEUE, p->index, code, measure_now(m) - start_ns);
}

void measure_event(struct sched_metrics *m, uint16_t kind, int64_t start_ns)
{
    if (!m)
        return;
    if (!m->events[kind])
        m->events[kind] = metric_series(m->event_seconds, (struct str[]){ str_of(event_kind_label(kind)) });
    series_observe(m->events[kind], seconds_of(measure_now(m) - start_ns));
}

void measure_hint(struct sched_metrics *m, uint32_t profile, const struct plugin_instance *p, uint16_t kind, bool queue,
                  int64_t start_ns)
{
    if (!m)
        return;
    struct hint_series *h = &m->profiles[profile].hints[p ? p->index : PLUGIN_EXTENDERS][queue];
    if (!h->series || h->kind != kind)
        *h = (struct hint_series){
            metric_series(m->hint_seconds, (struct str[]){ p ? str_of(p->plugin->name) : STR("Extender"),
                                                           str_of(event_kind_label(kind)),
                                                           queue ? STR("Queue") : STR("QueueSkip") }),
            kind,
        };
    series_observe(h->series, seconds_of(measure_now(m) - start_ns));
}

void measure_preemption(struct sched_metrics *m)
{
    if (m)
        series_inc(m->preemptions);
}

void measure_victims(struct sched_metrics *m, uint32_t n)
{
    if (m)
        series_observe(m->victims, n);
}

/* A success that took no time, whatever came of it, as upstream has it: it takes both down before it begins. */
void measure_evicted(struct sched_metrics *m)
{
    if (!m || !m->preemption_total)
        return;
    struct str success = STR("success");
    series_inc(metric_series(m->preemption_total, &success));
    series_observe(metric_series(m->preemption_seconds, &success), 0);
}

void measure_volume_error(struct sched_metrics *m, const char *stage)
{
    if (m)
        series_inc(metric_series(m->volume_errors, (struct str[]){ str_of(stage) }));
}
