/* rules/batch_policy.c - when the pods of a Job make it fail or succeed: podFailurePolicy, successPolicy, and the texts
 * that name indexes. */
#include "rules/batch_priv.h"

/* As upstream: what a policy may hold. */
enum { POLICY_RULES_MAX = 20, EXIT_CODES_MAX = 255, POD_CONDITIONS_MAX = 20, SUCCEEDED_INDEXES_BYTES_MAX = 64 << 10 };

/* ---- Indexes ---- */

struct interval {
    int64_t first, last;
};

static const char *quoted(struct arena *a, const char *format, struct str text)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_quoted(&b, text);
    const char *fault = arena_printf(a, format, STR_ARG(strbuf_str(&b)));
    strbuf_fini(&b);
    return fault;
}

static const char *parse_index(struct arena *a, struct str text, int64_t completions, int64_t *ret_index)
{
    if (!labels_parse_int(text, ret_index))
        return quoted(a, "cannot convert string to integer for index: %.*s", text);
    return *ret_index >= completions ? quoted(a, "too large index: %.*s", text) : NULL;
}

static const char *parse_interval(struct arena *a, struct str text, int64_t completions, struct interval *ret)
{
    size_t dash = str_index(text, '-');
    struct str behind = str_from(text, dash < text.n ? dash + 1 : dash);
    if (str_index(behind, '-') < behind.n)
        return quoted(a, "the fragment %.*s violates the requirement that an index interval can have at most two parts "
                      "separated by '-'", text);
    const char *fault = parse_index(a, str_first(text, dash), completions, &ret->first);
    ret->last = ret->first;
    if (fault || dash == text.n)
        return fault;
    fault = parse_index(a, behind, completions, &ret->last);
    if (!fault && ret->first >= ret->last)
        fault = arena_printf(a, "non-increasing order, previous: %lld, current: %lld", (long long)ret->first,
                             (long long)ret->last);
    return fault;
}

static struct str next_interval(struct str *left)
{
    size_t end = str_index(*left, ',');
    struct str text = str_first(*left, end);
    *left = end < left->n ? str_from(*left, end + 1) : (struct str){ NULL, 0 };
    return text;
}

const char *indexes_fault(struct arena *a, struct str indexes, int64_t completions, int64_t *ret_n)
{
    bool more = indexes.n > 0;
    int64_t last = -1, n = 0;
    for (bool is_first = true; more; is_first = false) {
        more = str_index(indexes, ',') < indexes.n;
        struct interval i;
        const char *fault = parse_interval(a, next_interval(&indexes), completions, &i);
        if (fault)
            return fault;
        if (!is_first && last >= i.first)
            return arena_printf(a, "non-increasing order, previous: %lld, current: %lld", (long long)last,
                                (long long)i.first);
        n += i.last - i.first + 1;
        last = i.last;
    }
    *ret_n = n;
    return NULL;
}

/* The next interval that can be read; false at the end. */
static bool next_readable(struct arena *a, struct str *left, int64_t completions, struct interval *ret)
{
    while (left->n)
        if (!parse_interval(a, next_interval(left), completions, ret))
            return true;
    return false;
}

const char *indexes_overlap(struct arena *a, struct str completed, struct str failed, int64_t completions)
{
    struct interval c, f;
    bool has_c = next_readable(a, &completed, completions, &c), has_f = next_readable(a, &failed, completions, &f);
    while (has_c && has_f) {
        if (c.first <= f.last && f.first <= c.last)
            return arena_printf(a, "failedIndexes and completedIndexes overlap at index: %lld",
                                (long long)(c.first > f.first ? c.first : f.first));
        if (c.first <= f.first)
            has_c = next_readable(a, &completed, completions, &c);
        else
            has_f = next_readable(a, &failed, completions, &f);
    }
    return NULL;
}

/* ---- Failure ---- */

static void check_one_of_required(const struct place *p, const char *const *values, const char *all)
{
    if (!place_text(p).n)
        place_required(p, arena_printf(p->errs->arena, "valid values: %s", all));
    else
        place_check_supported(p, values);
}

static void check_exit_code_values(const struct place *codes)
{
    struct place values = place_child(codes, "values");
    bool is_in = str_is(child_text(codes, "operator"), "In"), ordered = true;
    struct seen seen;
    if (!place_n(&values))
        place_invalid(&values, "at least one value is required");
    else if (place_n(&values) > EXIT_CODES_MAX)
        field_too_many(values.errs, &values.path, place_n(&values), EXIT_CODES_MAX);
    seen_init(&seen);
    for (uint32_t i = 0; i < place_n(&values); i++) {
        struct place one = place_item(&values, i);
        if (is_in && place_int(&one) == 0)
            place_invalid(&one, "must not be 0 for the In operator");
        if (seen_before(&seen, str_of(arena_printf(values.errs->arena, "%lld", (long long)place_int(&one)))))
            place_duplicate(&one);
        ordered &= i == 0 || values.value->items[i - 1].i <= place_int(&one);
    }
    seen_fini(&seen);
    if (!ordered)
        place_invalid(&values, "must be ordered");
}

static void check_exit_codes(const struct place *codes, const struct seen *containers)
{
    static const char *const operators[] = { "In", "NotIn", NULL };
    struct place operator = place_child(codes, "operator"), name = place_child(codes, "containerName");
    check_one_of_required(&operator, operators, "[\"In\" \"NotIn\"]");
    if (place_is_set(&name) && !map_str_find(&containers->texts, place_text(&name).p ? place_text(&name) : STR("")))
        place_invalid(&name, "must be one of the container or initContainer names in the pod template");
    check_exit_code_values(codes);
}

static void check_pod_conditions(const struct place *list)
{
    static const char *const states[] = { "False", "True", "Unknown", NULL };
    if (place_n(list) > POD_CONDITIONS_MAX)
        field_too_many(list->errs, &list->path, place_n(list), POD_CONDITIONS_MAX);
    for (uint32_t i = 0; i < place_n(list); i++) {
        struct place one = place_item(list, i), type = place_child(&one, "type"), state = place_child(&one, "status");
        validate_name_errors(name_label_key(place_text(&type)), field_str(place_text(&type)), &type.path, type.errs);
        check_one_of_required(&state, states, "[\"False\" \"True\" \"Unknown\"]");
    }
}

static void check_failure_rule(const struct place *spec, const struct place *rule, const struct seen *containers)
{
    static const char *const actions[] = { "Count", "FailIndex", "FailJob", "Ignore", NULL };
    struct place action = place_child(rule, "action"), codes = place_child(rule, "onExitCodes");
    struct place conditions = place_child(rule, "onPodConditions");
    struct field_value omitted = { .kind = FIELD_VALUE_OMITTED };
    check_one_of_required(&action, actions, "[\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]");
    if (str_is(place_text(&action), "FailIndex") && !child_is_set(spec, "backoffLimitPerIndex"))
        place_invalid(&action, "requires the backoffLimitPerIndex to be set");
    if (place_is_set(&codes))
        check_exit_codes(&codes, containers);
    check_pod_conditions(&conditions);
    if (place_is_set(&codes) && place_n(&conditions))
        field_invalid(rule->errs, &rule->path, omitted,
                      STR("specifying both OnExitCodes and OnPodConditions is not supported"));
    if (!place_is_set(&codes) && !place_n(&conditions))
        field_invalid(rule->errs, &rule->path, omitted,
                      STR("specifying one of OnExitCodes and OnPodConditions is required"));
}

static void note_names(const struct place *containers, struct seen *names)
{
    for (uint32_t i = 0; i < place_n(containers); i++) {
        struct place one = place_item(containers, i);
        seen_before(names, child_text(&one, "name"));
    }
}

void job_check_failure_policy(const struct place *spec)
{
    struct place policy = place_child(spec, "podFailurePolicy"), rules = place_child(&policy, "rules");
    struct place containers = place_at(spec, "template.spec.containers");
    struct place init = place_at(spec, "template.spec.initContainers");
    struct seen names;
    if (!place_is_set(&policy))
        return;
    if (place_n(&rules) > POLICY_RULES_MAX)
        field_too_many(rules.errs, &rules.path, place_n(&rules), POLICY_RULES_MAX);
    seen_init(&names);
    note_names(&containers, &names);
    note_names(&init, &names);
    for (uint32_t i = 0; i < place_n(&rules); i++) {
        struct place rule = place_item(&rules, i);
        check_failure_rule(spec, &rule, &names);
    }
    seen_fini(&names);
}

/* ---- Success ---- */

static void check_success_rule(const struct place *spec, const struct place *rule)
{
    struct place count = place_child(rule, "succeededCount"), indexes = place_child(rule, "succeededIndexes");
    int64_t completions = child_int(spec, "completions"), n_indexes = 0;
    if (!place_is_set(&count) && !place_is_set(&indexes))
        place_required(rule, "at least one of succeededCount or succeededIndexes must be specified");
    if (place_text(&indexes).n > SUCCEEDED_INDEXES_BYTES_MAX)
        field_too_long(indexes.errs, &indexes.path, SUCCEEDED_INDEXES_BYTES_MAX);
    const char *fault = indexes_fault(rule->errs->arena, place_text(&indexes), completions, &n_indexes);
    if (fault)
        place_invalidf(&indexes, "error parsing succeededIndexes: %s", fault);
    if (!place_is_set(&count))
        return;
    place_check_not_negative(&count);
    if (place_int(&count) > completions)
        place_invalidf(&count, "must be less than or equal to %lld (the number of specified completions)",
                       (long long)completions);
    if (place_is_set(&indexes) && place_int(&count) > n_indexes)
        place_invalidf(&count, "must be less than or equal to %lld (the number of indexes in the specified "
                       "succeededIndexes field)", (long long)n_indexes);
}

void job_check_success_policy(const struct place *spec)
{
    struct place policy = place_child(spec, "successPolicy"), rules = place_child(&policy, "rules");
    if (!place_is_set(&policy))
        return;
    if (!str_is(child_text(spec, "completionMode"), "Indexed")) {
        field_invalid(policy.errs, &policy.path, place_shown_as_go(&policy), STR("requires indexed completion mode"));
        return;
    }
    if (!place_n(&rules))
        place_required(&rules, "at least one rules must be specified when the successPolicy is specified");
    if (place_n(&rules) > POLICY_RULES_MAX)
        field_too_many(rules.errs, &rules.path, place_n(&rules), POLICY_RULES_MAX);
    for (uint32_t i = 0; i < place_n(&rules); i++) {
        struct place rule = place_item(&rules, i);
        check_success_rule(spec, &rule);
    }
}
