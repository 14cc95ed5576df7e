/* rules/batch_status.c - the status of a Job: what must go together, and what may not be taken back.
 *
 * Much is only looked at when it changes: what an older server stored may stay. */
#include "rules/batch_priv.h"

bool job_has_condition(const struct place *status, const char *type, const char *state)
{
    struct place list = place_child(status, "conditions");
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place one = place_item(&list, i);
        if (str_is(child_text(&one, "type"), type) && str_is(child_text(&one, "status"), state))
            return true;
    }
    return false;
}

/* What conditions say about a job. */
struct ends {
    bool complete, failed, failure_target, success_met, finished;
};

static struct ends read_ends(const struct place *status)
{
    struct ends e = {
        .complete = job_has_condition(status, "Complete", "True"),
        .failed = job_has_condition(status, "Failed", "True"),
        .failure_target = job_has_condition(status, "FailureTarget", "True"),
        .success_met = job_has_condition(status, "SuccessCriteriaMet", "True"),
    };
    e.finished = e.complete || e.failed;
    return e;
}

struct status_check {
    const struct place *spec, *status, *old;
    struct ends is, was;
    bool complete_changed, failed_changed, finished_changed;
};

static bool changed(const struct status_check *k, const char *name)
{
    struct place is = place_child(k->status, name), was = place_child(k->old, name);
    return !place_same(&is, &was);
}

static void condition_fault(const struct status_check *k, const char *detail)
{
    struct place conditions = place_child(k->status, "conditions");
    field_invalid(conditions.errs, &conditions.path, (struct field_value){ .kind = FIELD_VALUE_OMITTED },
                  str_of(detail));
}

static void check_uncounted_list(const struct place *list, struct seen *seen)
{
    for (uint32_t i = 0; i < place_n(list); i++) {
        struct place uid = place_item(list, i);
        if (!place_text(&uid).n)
            place_invalid(&uid, "must not be empty");
        else if (seen_before(seen, place_text(&uid)))
            place_duplicate(&uid);
    }
}

static void check_uncounted(const struct status_check *k)
{
    struct place uncounted = place_child(k->status, "uncountedTerminatedPods");
    struct place succeeded = place_child(&uncounted, "succeeded"), failed = place_child(&uncounted, "failed");
    struct seen seen;
    seen_init(&seen);
    check_uncounted_list(&succeeded, &seen);
    check_uncounted_list(&failed, &seen);
    seen_fini(&seen);
}

static int compare_times(const struct value *a, const struct value *b)
{
    return a->i != b->i ? (a->i < b->i ? -1 : 1) : (a->n > b->n) - (a->n < b->n);
}

static void check_completion(const struct status_check *k)
{
    struct place end = place_child(k->status, "completionTime"), start = place_child(k->status, "startTime");
    bool end_changed = changed(k, "completionTime");
    if ((k->complete_changed || k->failed_changed) && k->is.complete && k->is.failed)
        condition_fault(k, "cannot set Complete=True and Failed=true conditions");
    if ((k->complete_changed || k->is.failure_target != k->was.failure_target) && k->is.complete &&
        k->is.failure_target)
        condition_fault(k, "cannot set Complete=True and FailureTarget=true conditions");
    if (k->complete_changed || end_changed) {
        if (place_is_set(&end) && !k->is.complete)
            place_invalid(&end, "cannot set completionTime when there is no Complete=True condition");
        if (!place_is_set(&end) && k->is.complete)
            place_required(&end, "completionTime is required for Complete jobs");
    }
    if ((changed(k, "startTime") || end_changed) && place_is_set(&start) && place_is_set(&end) &&
        compare_times(end.value, start.value) < 0)
        place_invalid(&end, "must be equal to or after `startTime`");
    if ((k->failed_changed || changed(k, "failedIndexes")) && k->is.failed && !k->is.failure_target)
        condition_fault(k, "cannot set Failed=True condition without the FailureTarget=true condition");
    if ((k->complete_changed || k->is.success_met != k->was.success_met) && k->is.complete && !k->is.success_met)
        condition_fault(k, "cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
}

/* What a finished job does not have any more. */
static void check_finished(const struct status_check *k)
{
    struct place active = place_child(k->status, "active"), start = place_child(k->status, "startTime");
    struct place uncounted = place_child(k->status, "uncountedTerminatedPods");
    bool suspended_empty = child_bool(k->spec, "suspend") && child_is_set(k->spec, "completions") &&
                           child_int(k->spec, "completions") == 0;
    if (!k->is.finished)
        return;
    if ((k->finished_changed || changed(k, "active")) && place_int(&active) > 0)
        place_invalid(&active, "active>0 is invalid for finished job");
    if ((k->finished_changed || changed(k, "startTime")) && !suspended_empty && !place_is_set(&start))
        place_required(&start, "startTime is required for finished job");
    if ((k->finished_changed || changed(k, "uncountedTerminatedPods")) &&
        child_n(&uncounted, "failed") + child_n(&uncounted, "succeeded") > 0)
        field_invalid(uncounted.errs, &uncounted.path, place_shown_as_go(&uncounted),
                      STR("must be empty for finished job"));
}

static void check_indexes(const struct status_check *k)
{
    struct place completed = place_child(k->status, "completedIndexes");
    struct place failed = place_child(k->status, "failedIndexes");
    struct arena *a = completed.errs->arena;
    int64_t completions = child_int(k->spec, "completions"), n;
    bool counted = child_is_set(k->spec, "completions"), by_index = child_is_set(k->spec, "backoffLimitPerIndex");
    bool completed_changed = changed(k, "completedIndexes"), failed_changed = changed(k, "failedIndexes");
    const char *fault;
    if (completed_changed && counted && (fault = indexes_fault(a, place_text(&completed), completions, &n)))
        place_invalidf(&completed, "error parsing completedIndexes: %s", fault);
    if (failed_changed && counted && by_index && place_is_set(&failed) &&
        (fault = indexes_fault(a, place_text(&failed), completions, &n)))
        place_invalidf(&failed, "error parsing failedIndexes: %s", fault);
    if (completed_changed && place_text(&completed).n && !str_is(child_text(k->spec, "completionMode"), "Indexed"))
        place_invalid(&completed, "cannot set non-empty completedIndexes when non-indexed completion mode");
    if (failed_changed && !by_index && place_is_set(&failed))
        place_invalid(&failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
    if ((failed_changed || completed_changed) && counted && place_is_set(&failed) &&
        (fault = indexes_overlap(a, place_text(&completed), place_text(&failed), completions)))
        place_invalid(&failed, fault);
}

static void check_pods_left(const struct status_check *k)
{
    struct place terminating = place_child(k->status, "terminating"), ready = place_child(k->status, "ready");
    if ((k->finished_changed || changed(k, "terminating")) && k->is.finished && place_int(&terminating) > 0)
        place_invalid(&terminating, "terminating>0 is invalid for finished job");
    if ((changed(k, "ready") || changed(k, "active")) && place_int(&ready) > child_int(k->status, "active"))
        place_invalid(&ready, "cannot set more ready pods than active");
}

static void check_success(const struct status_check *k)
{
    if (k->is.success_met && k->is.failed)
        condition_fault(k, "cannot set SuccessCriteriaMet=True and Failed=true conditions");
    if (k->is.success_met && k->is.failure_target)
        condition_fault(k, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
    if (child_is_set(k->spec, "successPolicy") && !k->is.success_met && k->is.complete)
        condition_fault(k, "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True");
}

/* ---- What may not be taken back ---- */

static void check_terminal_conditions(const struct status_check *k)
{
    static const char *const types[] = { "Failed", "Complete", "FailureTarget" };
    const bool was[] = { k->was.failed, k->was.complete, k->was.failure_target };
    const bool is[] = { k->is.failed, k->is.complete, k->is.failure_target };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (was[i] && !is[i])
            condition_fault(k,
                            arena_printf(k->status->errs->arena, "cannot disable the terminal %s=True condition",
                                         types[i]));
}

static void check_history(const struct status_check *k)
{
    struct place failed = place_child(k->status, "failed"), succeeded = place_child(k->status, "succeeded");
    struct place end = place_child(k->status, "completionTime"), start = place_child(k->status, "startTime");
    bool elastic = str_is(child_text(k->spec, "completionMode"), "Indexed") &&
                   child_is_set(k->spec, "completions") == child_is_set(k->spec, "parallelism") &&
                   child_int(k->spec, "completions") == child_int(k->spec, "parallelism");
    bool resumed = job_has_condition(k->old, "Suspended", "True") && job_has_condition(k->status, "Suspended", "False");
    check_terminal_conditions(k);
    if (place_int(&failed) < child_int(k->old, "failed"))
        place_invalid(&failed, "cannot decrease the failed counter");
    if (!elastic && place_int(&succeeded) < child_int(k->old, "succeeded"))
        place_invalid(&succeeded, "cannot decrease the succeeded counter");
    if (place_is_set(&end) && child_is_set(k->old, "completionTime") && changed(k, "completionTime"))
        place_invalid(&end, "field is immutable");
    if (changed(k, "startTime") && !resumed && child_is_set(k->old, "startTime") && !child_bool(k->spec, "suspend"))
        place_invalid(&start, "field is immutable for unsuspended job once set");
    if (k->was.success_met && !k->is.success_met)
        condition_fault(k, "cannot disable the SuccessCriteriaMet=True condition");
    if (k->was.complete && !k->was.success_met && k->is.success_met)
        condition_fault(k, "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions");
}

void job_validate_status(const struct rules_context *c, const struct value *new, const struct value *old,
                         struct field_errors *errs)
{
    static const char *const counts[] = { "active", "succeeded", "failed", "ready", "terminating", NULL };
    struct place root = place_root(c, new, errs), before = place_root(c, old, errs);
    struct place spec = place_child(&root, "spec"), status = place_child(&root, "status");
    struct place was = place_child(&before, "status");
    struct status_check k = { .spec = &spec, .status = &status, .old = &was, .is = read_ends(&status),
                              .was = read_ends(&was) };
    k.complete_changed = k.is.complete != k.was.complete;
    k.failed_changed = k.is.failed != k.was.failed;
    k.finished_changed = k.is.finished != k.was.finished;
    rules_check_meta_update(c, new, old, errs);
    check_none_negative(&status, counts);
    check_uncounted(&k);
    check_completion(&k);
    check_finished(&k);
    check_indexes(&k);
    check_pods_left(&k);
    check_success(&k);
    check_history(&k);
}
