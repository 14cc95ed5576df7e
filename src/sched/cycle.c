/* sched/cycle.c - a chapter of sched.h: one turn of the scheduler, the story of an attempt from the queue to
 * a binding or a failure. */
#include "sched/attempt.h"
#include "sched/decision.h"
#include "sched/fit_error.h"
#include "sched/memo.h"
#include "sched/queue.h"
#include "sched/sched.h"
#include "sched/sched_priv.h"
#include "sched/tell.h"

static bool skip(struct sched *s, struct queued_pod *qp);
static void tell_choice(struct sched *s, struct attempt *a, const struct queued_pod *qp);
static void fail_attempt(struct sched *s, struct attempt *a, struct queued_pod *qp, int64_t now_ms);

bool sched_run_once(struct sched *s)
{
    sched_read_clocks(s);
    int64_t now_ms = s->now_ms;
    struct queued_pod *qp = queue_pop(s->queue, now_ms);
    if (!qp)
        return false;
    if (skip(s, qp)) {
        queue_release(s->queue, qp);
        return true;
    }
    struct attempt a;
    struct measure measure = { 0 };
    s->n_attempts++;
    tell_attempt(s, qp->pod);
    if (s->before_attempt)
        s->before_attempt(s->before_attempt_context, qp->pod);
    measure_begin(&measure, s->metrics, qp->profile);
    attempt_run(s, &a, qp->pod, (struct attempt_wants){ .measure = &measure, .scores = s->decided != NULL });
    if (a.outcome == ATTEMPT_FITS) {
        measure_algorithm(&a.measure, a.n_feasible);
        if (s->decided)
            tell_choice(s, &a, qp);
        bind_start(s, &a, qp);
    } else {
        fail_attempt(s, &a, qp, now_ms);
    }
    return true;
}

static void tell_choice(struct sched *s, struct attempt *a, const struct queued_pod *qp)
{
    s->decided(s->decided_context, &(struct sched_decision){ .pod = qp->pod,
                                                             .profile = a->cycle.profile,
                                                             .outcome = DECISION_PLACED,
                                                             .n_attempts = qp->attempts,
                                                             .node = s->cache.rows.at[a->node].name,
                                                             .attempt = a });
}

static void tell_failure(struct sched *s, struct attempt *a, const struct queued_pod *qp, const struct failure *f)
{
    const struct preemption *p = a->cycle.preemption;
    struct sched_decision d = { .pod = qp->pod,
                                .profile = a->cycle.profile,
                                .outcome = DECISION_UNSCHEDULABLE,
                                .n_attempts = qp->attempts,
                                .node = SYM_NONE,
                                .message = f->message,
                                .attempt = a };
    if (f->kind != FAILURE_UNSCHEDULABLE) {
        d.outcome = DECISION_ERROR;
    } else if (p && p->chosen) {
        d.outcome = DECISION_PREEMPTING;
        d.node = s->cache.rows.at[p->chosen->node].name;
    }
    s->decided(s->decided_context, &d);
}

static bool skip(struct sched *s, struct queued_pod *qp)
{
    const struct pod *pod = qp->pod;
    if (!sched_profile(s, pod->scheduler_name))
        return true;
    if (pod->flags & POD_TERMINATING) {
        tell_skipped(s, pod);
        arena_reset(&s->arena);
        const char *note = arena_printf(&s->arena, "skip schedule deleting pod: %s/%s",
                                        sym_text(s->syms, pod->meta.ns).p, pod->meta.name);
        s->io.event(s->io.context, &(struct event_note){ pod, true, "FailedScheduling", "Scheduling", note });
        return true;
    }
    return cache_is_assumed(&s->cache, pod->meta.uid);
}

/* Upstream has no such point where no plugin is. */
static void measure_post_filter(struct attempt *a, uint8_t code, bool ran)
{
    unsigned n_plugins = a->cycle.profile->points[POINT_POST_FILTER].n;
    if (n_plugins)
        measure_point(&a->measure, MEASURED_POST_FILTER, code, ran ? n_plugins : 0);
    if (a->cycle.tried_preemption)
        measure_preemption(a->measure.metrics);
}

/* Nothing has changed since a pod like this one failed: it fails in the same way, and the same random numbers are used up. */
static struct failure fail_again(struct attempt *a, const struct memo_failure *known)
{
    if (known->n_potential)
        (void)rand_below(a->cycle.rand, known->n_potential);
    a->cycle.tried_preemption = known->tried_preemption;
    measure_post_filter(a, V_UNSCHEDULABLE, false);
    return (struct failure){ .kind = FAILURE_UNSCHEDULABLE,
                             .message = known->message,
                             .rejectors = known->rejectors,
                             .pending = known->pending,
                             .nominate = known->nominate };
}

/* Whether evicting did not help: extenders, which may end a search otherwise, are not remembered with (memo.h). */
static bool is_final(const struct attempt *a)
{
    const struct preemption *p = a->cycle.preemption;
    return !p || p->n_candidates == 0;
}

/* A rejection gets its chance to make room, and is worded with what came of it. */
static struct failure fail_afresh(struct attempt *a, struct memo_failure *keep)
{
    const char *post_filter;
    measure_mark(&a->measure);
    struct verdict v = attempt_post_filter(a, &post_filter);
    measure_post_filter(a, v.code, true);
    struct failure f = { .kind = FAILURE_UNSCHEDULABLE,
                         .message = attempt_fit_error(a, post_filter),
                         .rejectors = a->rejectors,
                         .pending = a->pending,
                         .nominate = a->cycle.nominate };
    struct memo_failure known = { .rejectors = f.rejectors, .pending = f.pending, .nominate = f.nominate,
                                  .tried_preemption = a->cycle.tried_preemption };
    known.n_potential = a->cycle.preemption ? a->cycle.preemption->n_potential : 0;
    if (keep && verdict_rejects(v) && is_final(a))
        memo_failure_keep(keep, &known, &a->cycle, f.message);
    return f;
}

/* `known`: the failure that was repeated; NULL: found out now. */
static void tell_preemption(const struct sched *s, const struct attempt *a, const struct memo_failure *known, sym nominate)
{
    const struct preemption *p = a->cycle.preemption;
    if (!a->cycle.tried_preemption)
        return;
    if (p && p->chosen)
        tell_target(s, a->cycle.pod, s->cache.rows.at[p->chosen->node].name);
    else if (nominate == SYM_EMPTY) /* otherwise it was not eligible */
        tell_no_candidate(s, a->cycle.pod, known ? known->n_potential : p ? p->n_potential : 0);
}

static void fail_attempt(struct sched *s, struct attempt *a, struct queued_pod *qp, int64_t now_ms)
{
    struct memo_failure *memo = NULL;
    bool can_be_known = a->outcome == ATTEMPT_REJECTED && !a->pre_filter_message;
    if (can_be_known)
        memo = memos_failure(s->memos, &a->cycle);
    bool is_known = memo && memo_failure_holds(memo, &a->cycle);
    if (can_be_known && !is_known)
        attempt_diagnose(a); /* which may find an error */
    struct failure f = { .kind = FAILURE_SCHEDULER_ERROR, .message = a->error, .nominate = SYM_EMPTY };
    if (is_known) {
        f = fail_again(a, memo);
        s->n_repeated++;
    } else if (a->outcome == ATTEMPT_REJECTED) {
        f = fail_afresh(a, memo);
    } else if (a->no_nodes) {
        f.kind = FAILURE_UNSCHEDULABLE;
    }
    tell_preemption(s, a, is_known ? memo : NULL, f.nominate);
    measure_algorithm(&a->measure, 0);
    measure_failed(&a->measure, f.kind == FAILURE_UNSCHEDULABLE);
    if (s->decided)
        tell_failure(s, a, qp, &f); /* ahead of evicting, after which victims may be gone */
    if (a->cycle.preemption && a->cycle.preemption->chosen)
        evict_start(s, qp->pod, a->cycle.preemption);
    *(f.kind == FAILURE_UNSCHEDULABLE ? &s->n_unschedulable : &s->n_errors) += 1;
    sched_note_decision(s, qp->pod, str_of(f.message));
    failure_handle(s, qp, &f, now_ms);
}
