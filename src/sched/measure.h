/* sched/measure.h - measuring attempts, from the inside of the scheduler: see sched_metrics.h.
 *
 * An attempt carries a struct measure from its begin to its binding or failure. In one that is all zero nothing is
 * measured, and every function here returns at once: so are all attempts of a scheduler without metrics, and all that
 * only ask (trial.h).
 *
 * Clock reads are what costs (20 ns each), so one step's end is the next one's begin (mark_ns), and a point without
 * plugins takes no time without looking.
 *
 * Thread: scheduling thread only. */
#pragma once

#include "base/vec.h"
#include "sched/event_kind.h"
#include "sched/sched_metrics.h"

struct queued_pod;
struct sched;

/* Where time goes. The last one is of single plugins only. */
enum measured_point {
    MEASURED_PRE_ENQUEUE, MEASURED_PRE_FILTER, MEASURED_FILTER, MEASURED_POST_FILTER, MEASURED_PRE_SCORE, MEASURED_SCORE,
    MEASURED_RESERVE, MEASURED_UNRESERVE, MEASURED_PERMIT, MEASURED_PRE_FLIGHT, MEASURED_PRE_BIND, MEASURED_BIND,
    MEASURED_POST_BIND, MEASURED_NORMALIZE,
    N_MEASURED_POINTS
};

/* Where plugins are counted. */
enum evaluated_point { EVALUATED_PRE_FILTER, EVALUATED_FILTER, EVALUATED_PRE_SCORE, EVALUATED_SCORE, N_EVALUATED_POINTS };

enum attempt_result { RESULT_SCHEDULED, RESULT_UNSCHEDULABLE, RESULT_ERROR, N_ATTEMPT_RESULTS };

enum {
    N_VERDICT_CODES = V_PENDING + 1,
    SLI_ATTEMPTS_MAX = 15,  /* all further ones have one label */
    MEASURE_SAMPLE = 10,    /* single plugins are measured in one of so many attempts, the second first */
    N_PLACES_COUNTED = 3,   /* of the queue: active, backoff, unschedulable */
};

/* How often the plugins in `mask` were evaluated since they were last others: most attempts have the same. */
struct evaluations {
    uint64_t mask, n;
};

/* The series that a hint of a plugin was counted in last. */
struct hint_series {
    struct series *series; /* NULL: none yet */
    uint16_t kind;
};

/* Series are looked up when they are first needed. */
struct profile_metrics {
    const struct profile *profile;
    uint64_t filters, pre_scores, scores; /* the plugins at these points, by index in the profile */
    struct series *attempts[N_ATTEMPT_RESULTS], *attempt_seconds[N_ATTEMPT_RESULTS];
    struct series *point_seconds[N_MEASURED_POINTS][N_VERDICT_CODES];
    struct series **plugin_seconds; /* [point][plugin][code] */
    struct series *evaluated[N_EVALUATED_POINTS][PLUGINS_MAX];
    struct evaluations evaluations[N_EVALUATED_POINTS];
    struct series *no_hint, *no_hint_seconds, *store_seconds, *flushed_unlike, *flushed_empty; /* batching */
    struct series *rejected[PLUGIN_EXTENDERS + 1];
    struct hint_series hints[PLUGIN_EXTENDERS + 1][2]; /* skip, queue */
};

struct sched_metrics {
    const struct clock *clock;
    bool batching;
    struct profile_metrics *profiles;
    uint32_t n_profiles;
    uint32_t n_attempts, n_gates; /* for sampling */
    uint64_t incoming[N_PLACES_COUNTED][N_EVENT_KINDS]; /* as last published */

    struct metric *attempts, *attempt_seconds, *point_seconds, *plugin_seconds, *evaluated, *rejected, *incoming_pods;
    struct metric *inflight, *event_seconds, *hint_seconds, *sli_seconds, *permit_seconds, *goroutines, *batch_attempts;
    struct metric *batch_flushed, *hint_node_seconds, *store_seconds, *preemption_seconds, *preemption_total;
    struct metric *volume_errors, *api_calls, *api_seconds, *api_pending; /* the last three: NULL without the gate */
    struct series *algorithm_seconds, *pod_attempts, *victims, *preemptions;
    struct series *pending[4], *cache_nodes, *cache_pods, *cache_assumed, *binding;
    struct series *sli[SLI_ATTEMPTS_MAX], *permit[N_VERDICT_CODES], *events[N_EVENT_KINDS];
    struct series *kept[N_EVENT_KINDS], *popped, *incoming_of[N_PLACES_COUNTED][N_EVENT_KINDS];
};

struct measure {
    struct sched_metrics *metrics; /* NULL: not measured */
    struct profile_metrics *profile;
    int64_t start_ns, mark_ns;
    bool samples; /* single plugins too */
};

/* By the scheduler that it is given to. */
void measure_attach(struct sched_metrics *m, struct profile *const *profiles, uint32_t n_profiles);
void measure_detach(struct sched_metrics *m);

static inline int64_t measure_now(const struct sched_metrics *m)
{
    return m ? clock_mono_ns(m->clock) : 0;
}

/* ---- Attempts ---- */

/* `m` may be NULL. */
void measure_begin_slowly(struct measure *t, struct sched_metrics *m, uint32_t profile);
static inline void measure_begin(struct measure *t, struct sched_metrics *m, uint32_t profile)
{
    if (m)
        measure_begin_slowly(t, m, profile);
}

/* What follows begins now. */
static inline void measure_mark(struct measure *t)
{
    if (t->metrics)
        t->mark_ns = measure_now(t->metrics);
}

/* All plugins of a point have run, since the mark. `n_plugins` 0: there are none. */
void measure_point_slowly(struct measure *t, enum measured_point point, uint8_t code, unsigned n_plugins);
static inline void measure_point(struct measure *t, enum measured_point point, uint8_t code, unsigned n_plugins)
{
    if (t->metrics)
        measure_point_slowly(t, point, code, n_plugins);
}

/* One plugin, from `start_ns` on, which measure_plugin_begin gave. */
static inline int64_t measure_plugin_begin(const struct measure *t)
{
    return t->samples ? measure_now(t->metrics) : 0;
}
void measure_plugin_slowly(struct measure *t, enum measured_point point, unsigned plugin, uint8_t code, int64_t start_ns);
static inline void measure_plugin(struct measure *t, enum measured_point point, const struct plugin_instance *p,
                                  uint8_t code, int64_t start_ns)
{
    if (t->samples)
        measure_plugin_slowly(t, point, p->index, code, start_ns);
}

/* The plugins in `mask` were asked `n` times. */
void measure_flush_evaluations(struct profile_metrics *p, enum evaluated_point point);
static inline void measure_evaluated(struct measure *t, enum evaluated_point point, uint64_t mask, uint64_t n)
{
    if (!t->metrics)
        return;
    struct evaluations *e = &t->profile->evaluations[point];
    if (e->mask != mask) {
        measure_flush_evaluations(t->profile, point);
        e->mask = mask;
    }
    e->n += n;
}

/* PreFilter let the pod pass: what was kept of pods before it would be looked at. */
void measure_no_hint(struct measure *t);
/* A choice among n nodes was made, up to the mark; or none. */
void measure_algorithm(struct measure *t, uint32_t n_feasible);
void measure_failed(struct measure *t, bool unschedulable);
/* The pod is bound. */
void measure_scheduled(struct measure *t, const struct queued_pod *qp);
/* A wait at Permit, since the mark. */
void measure_permit_wait(struct measure *t, uint8_t code);

/* ---- Around attempts; m may be NULL ---- */

void measure_gate(struct sched_metrics *m, uint32_t profile, int64_t start_ns);
/* Whether single plugins at the gate are measured this time. */
bool measure_samples_gate(struct sched_metrics *m);
void measure_gate_plugin(struct sched_metrics *m, uint32_t profile, const struct plugin_instance *p, uint8_t code,
                         int64_t start_ns);
/* An event of a kind was handled, since start_ns. */
void measure_event(struct sched_metrics *m, uint16_t kind, int64_t start_ns);
/* A hint said whether an event is worth a try; plugin NULL: extenders. */
void measure_hint(struct sched_metrics *m, uint32_t profile, const struct plugin_instance *p, uint16_t kind, bool queue,
                  int64_t start_ns);
void measure_preemption(struct sched_metrics *m);
void measure_victims(struct sched_metrics *m, uint32_t n);
/* All victims of a preemption are on their way. */
void measure_evicted(struct sched_metrics *m);
/* A stage of binding volumes failed. */
void measure_volume_error(struct sched_metrics *m, const char *stage);
