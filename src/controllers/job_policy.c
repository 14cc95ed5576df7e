/* controllers/job_policy.c - the first rule of a pod failure policy that a pod matches, and of a success policy that a Job
 * meets. Upstream: controller/job/pod_failure_policy.go, success_policy.go. */
#include "controllers/job_sync.h"

static const struct type *rules(void)
{
    return schema_type(STR("batch/v1.PodFailurePolicyRule"));
}

static bool is_list(const struct value *v)
{
    return v->kind == VALUE_LIST;
}

/* ---- Exit codes ---- */

static bool codes_match(const struct value *rule, int64_t code)
{
    const struct value *values = value_path(rules(), rule, "onExitCodes.values");
    struct str operator = value_text(value_path(rules(), rule, "onExitCodes.operator"));
    bool within = false;
    for (uint32_t i = 0; is_list(values) && i < values->n; i++)
        within |= values->items[i].kind == VALUE_INT && values->items[i].i == code;
    return str_is(operator, "In") ? within : str_is(operator, "NotIn") && !within;
}

static const struct value *container_that_matches(const struct value *rule, const struct value *statuses)
{
    const struct type *t = schema_type(STR("core/v1.ContainerStatus"));
    const struct value *wanted = value_path(rules(), rule, "onExitCodes.containerName");
    for (uint32_t i = 0; is_list(statuses) && i < statuses->n; i++) {
        const struct value *s = &statuses->items[i], *code = value_path(t, s, "state.terminated.exitCode");
        bool named = wanted->kind != VALUE_STRING || str_eq(value_text(wanted), value_text(value_path(t, s, "name")));
        if (named && code->kind == VALUE_INT && code->i != 0 && codes_match(rule, code->i))
            return s;
    }
    return NULL;
}

static const struct value *match_exit_codes(const struct value *rule, const struct value *pod)
{
    const struct type *t = schema_type(STR("core/v1.Pod"));
    const struct value *found = container_that_matches(rule, value_path(t, pod, "status.containerStatuses"));
    return found ? found : container_that_matches(rule, value_path(t, pod, "status.initContainerStatuses"));
}

/* ---- Conditions ---- */

static bool pattern_matches(const struct value *pattern, struct str type, struct str status)
{
    const struct type *t = schema_type(STR("batch/v1.PodFailurePolicyOnPodConditionsPattern"));
    return str_eq(value_text(value_path(t, pattern, "type")), type) &&
           str_eq(value_text(value_path(t, pattern, "status")), status);
}

/* The type of the first condition that a pattern wants; empty: none. */
static struct str match_conditions(const struct value *patterns, const struct value *pod)
{
    const struct type *ct = schema_type(STR("core/v1.PodCondition"));
    const struct value *list = value_path(schema_type(STR("core/v1.Pod")), pod, "status.conditions");
    for (uint32_t i = 0; is_list(list) && i < list->n; i++) {
        struct str type = value_text(value_path(ct, &list->items[i], "type"));
        struct str status = value_text(value_path(ct, &list->items[i], "status"));
        for (uint32_t k = 0; k < patterns->n; k++)
            if (pattern_matches(&patterns->items[k], type, status))
                return type;
    }
    return STR("");
}

/* ---- Rules ---- */

static enum job_pod_verdict action_of(const struct value *rule)
{
    static const struct {
        const char *name;
        enum job_pod_verdict verdict;
    } actions[] = {
        { "Ignore", JOB_POD_IGNORE },
        { "Count", JOB_POD_COUNT },
        { "FailIndex", JOB_POD_FAIL_INDEX },
        { "FailJob", JOB_POD_FAIL_JOB },
    };
    struct str name = value_text(value_path(rules(), rule, "action"));
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        if (str_is(name, actions[i].name))
            return actions[i].verdict;
    return JOB_POD_NO_RULE;
}

static const char *exit_code_message(struct arena *a, const struct value *pod, const struct value *status, uint32_t rule)
{
    const struct type *t = schema_type(STR("core/v1.ContainerStatus")), *pt = schema_type(STR("core/v1.Pod"));
    return arena_printf(a, "Container %.*s for pod %.*s/%.*s failed with exit code %lld matching FailJob rule at index %u",
                        STR_ARG(value_text(value_path(t, status, "name"))),
                        STR_ARG(value_text(value_path(pt, pod, "metadata.namespace"))),
                        STR_ARG(value_text(value_path(pt, pod, "metadata.name"))),
                        (long long)value_path(t, status, "state.terminated.exitCode")->i, rule);
}

static const char *condition_message(struct arena *a, const struct value *pod, struct str type, uint32_t rule)
{
    const struct type *pt = schema_type(STR("core/v1.Pod"));
    return arena_printf(a, "Pod %.*s/%.*s has condition %.*s matching FailJob rule at index %u",
                        STR_ARG(value_text(value_path(pt, pod, "metadata.namespace"))),
                        STR_ARG(value_text(value_path(pt, pod, "metadata.name"))), STR_ARG(type), rule);
}

/* Whether the rule is about the pod; the message is what a job would fail with. */
static bool rule_matches(struct arena *a, const struct value *rule, uint32_t at, const struct value *pod,
                         const char **ret_message)
{
    const struct value *patterns = value_path(rules(), rule, "onPodConditions");
    if (value_path(rules(), rule, "onExitCodes")->kind == VALUE_STRUCT) {
        const struct value *status = match_exit_codes(rule, pod);
        if (status)
            *ret_message = exit_code_message(a, pod, status, at);
        return status;
    }
    struct str type = is_list(patterns) ? match_conditions(patterns, pod) : STR("");
    if (type.n)
        *ret_message = condition_message(a, pod, type, at);
    return type.n;
}

enum job_pod_verdict job_policy_match(struct arena *a, const struct value *policy, const struct value *pod,
                                      const char **ret_message)
{
    const struct value *list = value_path(schema_type(STR("batch/v1.PodFailurePolicy")), policy, "rules");
    for (uint32_t i = 0; is_list(list) && i < list->n; i++) {
        const char *message;
        enum job_pod_verdict verdict = action_of(&list->items[i]);
        if (verdict == JOB_POD_NO_RULE || !rule_matches(a, &list->items[i], i, pod, &message))
            continue;
        *ret_message = message;
        return verdict;
    }
    return JOB_POD_NO_RULE;
}

/* ---- Success ---- */

static bool success_rule_met(struct arena *a, const struct value *rule, int64_t completions, struct indexes done)
{
    const struct type *t = schema_type(STR("batch/v1.SuccessPolicyRule"));
    const struct value *wanted = value_path(t, rule, "succeededIndexes"), *n = value_path(t, rule, "succeededCount");
    if (wanted->kind != VALUE_STRING)
        return n->kind == VALUE_INT && indexes_total(done) >= n->i;
    struct indexes required = indexes_parse(a, value_text(wanted), completions);
    int64_t common = indexes_common(required, done);
    return required.n && (common == indexes_total(required) || (n->kind == VALUE_INT && common >= n->i));
}

const char *job_success_policy_met(struct arena *a, const struct value *policy, int64_t completions, struct indexes done)
{
    const struct value *list = value_path(schema_type(STR("batch/v1.SuccessPolicy")), policy, "rules");
    for (uint32_t i = 0; done.n && is_list(list) && i < list->n; i++)
        if (success_rule_met(a, &list->items[i], completions, done))
            return arena_printf(a, "Matched rules at index %u", i);
    return NULL;
}
