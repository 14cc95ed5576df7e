/* rules/pod_affinity.c - see pod_priv.h: where pods may run and like to run: selectors of nodes and of pods,
 * tolerations, topology spread. */
#include "api/label_selector.h"
#include "rules/pod_priv.h"

enum { WEIGHT_MAX = 100 };

/* ---- Selectors of labels ---- */

static struct label_selector read_selector(struct arena *a, const struct value *v)
{
    const struct value *list = value_slot(v, SLOT_meta_v1_LabelSelector_matchExpressions);
    struct match_expression *expressions = ARENA_NEW_N(a, struct match_expression, pod_count(list));
    for (uint32_t i = 0; i < pod_count(list); i++)
        expressions[i] = (struct match_expression){
            value_text(value_slot(&list->items[i], SLOT_meta_v1_LabelSelectorRequirement_key)),
            value_text(value_slot(&list->items[i], SLOT_meta_v1_LabelSelectorRequirement_operator)),
            pod_strs(a, value_slot(&list->items[i], SLOT_meta_v1_LabelSelectorRequirement_values)),
        };
    struct labels labels = pod_labels(a, value_slot(v, SLOT_meta_v1_LabelSelector_matchLabels));
    return (struct label_selector){ labels, expressions, pod_count(list) };
}

void rules_check_label_selector(struct arena *a, const struct value *selector, bool lenient, const struct field_path *at,
                                struct field_errors *errs)
{
    if (selector->kind == VALUE_ABSENT)
        return;
    struct label_selector ls = read_selector(a, selector);
    label_selector_validate(&ls, (struct label_selector_rules){ .allow_invalid_values = lenient }, at, errs);
}

/* ---- Selectors of nodes ---- */

static void check_expression(const struct value *expression, bool lenient, const struct field_path *at,
                             struct field_errors *errs)
{
    struct str op = TEXT(expression, NodeSelectorRequirement, operator);
    const struct value *values = GET(expression, NodeSelectorRequirement, values);
    uint32_t n = pod_count(values);
    if (str_is(op, "In") || str_is(op, "NotIn")) {
        if (n == 0)
            field_required(errs, AT(at, "values"), STR("must be specified when `operator` is 'In' or 'NotIn'"));
    } else if (str_is(op, "Exists") || str_is(op, "DoesNotExist")) {
        if (n > 0)
            field_forbidden(errs, AT(at, "values"),
                            STR("may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    } else if (str_is(op, "Gt") || str_is(op, "Lt")) {
        if (n != 1)
            field_required(errs, AT(at, "values"), STR("must be specified single value when `operator` is 'Lt' or 'Gt'"));
    } else {
        field_invalid(errs, AT(at, "operator"), field_enum(op), STR("not a valid selector operator"));
    }
    validate_label_name(TEXT(expression, NodeSelectorRequirement, key), AT(at, "key"), errs);
    for (uint32_t i = 0; !lenient && i < n; i++) {
        struct str value = value_text(&values->items[i]);
        pod_check_name(name_label_value(value), value, AT_INDEX(AT(at, "values"), i), errs);
    }
}

/* Of fields, of which a node has one: its name. */
static void check_field(const struct value *expression, const struct field_path *at, struct field_errors *errs)
{
    struct str op = TEXT(expression, NodeSelectorRequirement, operator);
    struct str key = TEXT(expression, NodeSelectorRequirement, key);
    const struct value *values = GET(expression, NodeSelectorRequirement, values);
    if (!str_is(op, "In") && !str_is(op, "NotIn"))
        field_invalid(errs, AT(at, "operator"), field_enum(op), STR("not a valid selector operator"));
    else if (pod_count(values) != 1)
        field_required(errs, AT(at, "values"),
                       STR("must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
    if (!str_is(key, "metadata.name")) {
        field_invalid(errs, AT(at, "key"), field_str(key), STR("not a valid field selector key"));
        return;
    }
    for (uint32_t i = 0; i < pod_count(values); i++) {
        struct str name = value_text(&values->items[i]);
        pod_check_name(name_dns1123_subdomain(name), name, AT_INDEX(AT(at, "values"), i), errs);
    }
}

static void check_term(const struct value *term, bool lenient, const struct field_path *at, struct field_errors *errs)
{
    const struct value *expressions = GET(term, NodeSelectorTerm, matchExpressions);
    const struct value *fields = GET(term, NodeSelectorTerm, matchFields);
    for (uint32_t i = 0; i < pod_count(expressions); i++)
        check_expression(&expressions->items[i], lenient, AT_INDEX(AT(at, "matchExpressions"), i), errs);
    for (uint32_t i = 0; i < pod_count(fields); i++)
        check_field(&fields->items[i], AT_INDEX(AT(at, "matchFields"), i), errs);
}

void rules_check_node_selector(const struct value *selector, bool lenient, const struct field_path *at,
                               struct field_errors *errs)
{
    const struct value *terms = GET(selector, NodeSelector, nodeSelectorTerms);
    const struct field_path *path = AT(at, "nodeSelectorTerms");
    if (!pod_count(terms))
        field_required(errs, path, STR("must have at least one node selector term"));
    for (uint32_t i = 0; i < pod_count(terms); i++)
        check_term(&terms->items[i], lenient, AT_INDEX(path, i), errs);
}

static void check_weight(int64_t weight, const struct field_path *at, struct field_errors *errs)
{
    if (weight <= 0 || weight > WEIGHT_MAX)
        field_invalid(errs, AT(at, "weight"), field_int(weight), STR("must be in the range 1-100"));
}

static void check_node_affinity(struct pod_check *k, const struct value *affinity, const struct field_path *at)
{
    const struct value *required = GET(affinity, NodeAffinity, requiredDuringSchedulingIgnoredDuringExecution);
    const struct value *preferred = GET(affinity, NodeAffinity, preferredDuringSchedulingIgnoredDuringExecution);
    if (required->kind != VALUE_ABSENT)
        rules_check_node_selector(required, k->lenient.node_affinity_labels,
                                  AT(at, "requiredDuringSchedulingIgnoredDuringExecution"), k->errs);
    for (uint32_t i = 0; i < pod_count(preferred); i++) {
        const struct field_path *path = AT_INDEX(AT(at, "preferredDuringSchedulingIgnoredDuringExecution"), i);
        check_weight(NUMBER(&preferred->items[i], PreferredSchedulingTerm, weight), path, k->errs);
        check_term(GET(&preferred->items[i], PreferredSchedulingTerm, preference), true, AT(path, "preference"), k->errs);
    }
}

/* ---- Selectors of pods ---- */

static void check_keys(const struct value *keys, const struct value *selector, const struct field_path *at,
                       struct field_errors *errs)
{
    if (!pod_count(keys))
        return;
    if (selector->kind == VALUE_ABSENT) {
        field_forbidden(errs, at, STR("must not be specified when labelSelector is not set"));
        return;
    }
    for (uint32_t i = 0; i < keys->n; i++)
        validate_label_name(value_text(&keys->items[i]), AT_INDEX(at, i), errs);
}

/* What matchLabelKeys stand for is in the selector already: an expression with such a key must be its only mention. */
static void check_merged_keys(const struct value *keys, const struct value *selector, const struct field_path *at,
                              struct field_errors *errs)
{
    const struct value *labels = value_slot(selector, SLOT_meta_v1_LabelSelector_matchLabels);
    const struct value *expressions = value_slot(selector, SLOT_meta_v1_LabelSelector_matchExpressions);
    struct map_str by_key, mentioned;
    map_str_init(&by_key);
    map_str_init(&mentioned);
    for (uint32_t i = 0; i < pod_count(keys); i++)
        map_str_put(&by_key, value_text(&keys->items[i]), NULL)->num = i;
    for (uint32_t i = 0; i < pod_count(labels); i++)
        pod_add_new(&mentioned, labels->members[i].key);
    for (uint32_t i = 0; i < pod_count(expressions); i++) {
        struct str key = value_text(value_slot(&expressions->items[i], SLOT_meta_v1_LabelSelectorRequirement_key));
        const union map_value *found = map_str_find(&by_key, key);
        if (!pod_add_new(&mentioned, key) && found)
            field_invalid(errs, AT_INDEX(at, found->num), field_str(key),
                          STR("exists in both matchLabelKeys and labelSelector"));
    }
    map_str_fini(&by_key);
    map_str_fini(&mentioned);
}

static void check_disjoint_keys(const struct value *match, const struct value *mismatch, const struct field_path *at,
                                struct field_errors *errs)
{
    struct map_str keys;
    map_str_init(&keys);
    for (uint32_t i = 0; i < pod_count(mismatch); i++)
        pod_add_new(&keys, value_text(&mismatch->items[i]));
    for (uint32_t i = 0; i < pod_count(match); i++) {
        struct str key = value_text(&match->items[i]);
        if (map_str_find(&keys, key))
            field_invalid(errs, AT_INDEX(AT(at, "matchLabelKeys"), i), field_str(key),
                          STR("exists in both matchLabelKeys and mismatchLabelKeys"));
    }
    map_str_fini(&keys);
}

void pod_check_match_keys(const struct value *match, const struct value *mismatch, const struct value *selector,
                          const struct field_path *at, struct field_errors *errs)
{
    check_keys(match, selector, AT(at, "matchLabelKeys"), errs);
    check_keys(mismatch, selector, AT(at, "mismatchLabelKeys"), errs);
    if (selector->kind != VALUE_ABSENT)
        check_merged_keys(match, selector, at, errs);
    check_disjoint_keys(match, mismatch, at, errs);
}

static void check_pod_term(struct pod_check *k, const struct value *term, const struct field_path *at)
{
    const struct value *selector = GET(term, PodAffinityTerm, labelSelector);
    const struct value *namespaces = GET(term, PodAffinityTerm, namespaces);
    struct str key = TEXT(term, PodAffinityTerm, topologyKey);
    bool lenient = k->lenient.affinity_labels;
    rules_check_label_selector(k->arena, selector, lenient, AT(at, "labelSelector"), k->errs);
    rules_check_label_selector(k->arena, GET(term, PodAffinityTerm, namespaceSelector), lenient,
                               AT(at, "namespaceSelector"), k->errs);
    for (uint32_t i = 0; i < pod_count(namespaces); i++) {
        struct str name = value_text(&namespaces->items[i]);
        pod_check_name(name_dns1123_label(name), name, AT(at, "namespace"), k->errs);
    }
    pod_check_match_keys(GET(term, PodAffinityTerm, matchLabelKeys),
                         GET(term, PodAffinityTerm, mismatchLabelKeys), selector, at, k->errs);
    if (!key.n)
        field_required(k->errs, AT(at, "topologyKey"), STR("can not be empty"));
    validate_label_name(key, AT(at, "topologyKey"), k->errs);
}

/* Affinity or anti-affinity: both have the same lists in the same places. */
static void check_pod_affinity(struct pod_check *k, const struct value *affinity, const struct field_path *at)
{
    _Static_assert(SAME_SLOT(PodAffinity, PodAntiAffinity, requiredDuringSchedulingIgnoredDuringExecution) &&
                       SAME_SLOT(PodAffinity, PodAntiAffinity, preferredDuringSchedulingIgnoredDuringExecution),
                   "one check for both");
    const struct value *required = GET(affinity, PodAffinity, requiredDuringSchedulingIgnoredDuringExecution);
    const struct value *preferred = GET(affinity, PodAffinity, preferredDuringSchedulingIgnoredDuringExecution);
    for (uint32_t i = 0; i < pod_count(required); i++)
        check_pod_term(k, &required->items[i], AT_INDEX(AT(at, "requiredDuringSchedulingIgnoredDuringExecution"), i));
    for (uint32_t i = 0; i < pod_count(preferred); i++) {
        const struct field_path *path = AT_INDEX(AT(at, "preferredDuringSchedulingIgnoredDuringExecution"), i);
        check_weight(NUMBER(&preferred->items[i], WeightedPodAffinityTerm, weight), path, k->errs);
        check_pod_term(k, GET(&preferred->items[i], WeightedPodAffinityTerm, podAffinityTerm), AT(path, "podAffinityTerm"));
    }
}

void pod_check_affinity(struct pod_check *k, const struct field_path *at)
{
    const struct value *affinity = GET(k->spec, PodSpec, affinity);
    check_node_affinity(k, GET(affinity, Affinity, nodeAffinity), AT(at, "nodeAffinity"));
    check_pod_affinity(k, GET(affinity, Affinity, podAffinity), AT(at, "podAffinity"));
    check_pod_affinity(k, GET(affinity, Affinity, podAntiAffinity), AT(at, "podAntiAffinity"));
}

/* ---- Tolerations ---- */

static void check_toleration_value(struct str op, struct str value, const struct field_path *at,
                                   struct field_errors *errs)
{
    static const char *const usual[] = { "Equal", "Exists" }, *const all[] = { "Equal", "Exists", "Lt", "Gt" };
    if (!op.n || str_is(op, "Equal")) {
        struct name_errors found = name_label_value(value);
        if (found.n)
            field_invalid(errs, AT(at, "operator"), field_str(value), validate_join(errs->arena, found, ";"));
    } else if (str_is(op, "Exists")) {
        if (value.n)
            field_invalid(errs, AT(at, "operator"), field_str(value),
                          STR("value must be empty when `operator` is 'Exists'"));
    } else if (str_is(op, "Lt") || str_is(op, "Gt")) { /* behind a gate that is off */
        field_not_supported(errs, AT(at, "operator"), field_enum(op), all, N_OF(all));
    } else {
        field_not_supported(errs, AT(at, "operator"), field_enum(op), usual, N_OF(usual));
    }
}

static void check_toleration(const struct value *toleration, const struct field_path *at, struct field_errors *errs)
{
    static const char *const effects[] = { "NoSchedule", "PreferNoSchedule", "NoExecute", NULL };
    struct str key = TEXT(toleration, Toleration, key), op = TEXT(toleration, Toleration, operator);
    struct str effect = TEXT(toleration, Toleration, effect);
    if (key.n)
        validate_label_name(key, AT(at, "key"), errs);
    else if (!str_is(op, "Exists"))
        field_invalid(errs, AT(at, "operator"), field_enum(op),
                      STR("operator must be Exists when `key` is empty, which means \"match all values and all keys\""));
    if (IS_SET(toleration, Toleration, tolerationSeconds) && !str_is(effect, "NoExecute"))
        field_invalid(errs, AT(at, "effect"), field_enum(effect),
                      STR("effect must be 'NoExecute' when `tolerationSeconds` is set"));
    check_toleration_value(op, TEXT(toleration, Toleration, value), at, errs);
    if (effect.n)
        pod_check_one_of(effect, effects, AT(at, "effect"), errs);
}

void rules_check_tolerations(const struct value *list, const struct field_path *at, struct field_errors *errs)
{
    for (uint32_t i = 0; i < pod_count(list); i++)
        check_toleration(&list->items[i], AT_INDEX(at, i), errs);
}

/* ---- Topology spread ---- */

static struct str constraint_key(struct arena *a, const struct value *constraint)
{
    return str_of(arena_printf(a, "{%.*s, %.*s}", STR_ARG(TEXT(constraint, TopologySpreadConstraint, topologyKey)),
                               STR_ARG(TEXT(constraint, TopologySpreadConstraint, whenUnsatisfiable))));
}

static void check_domains(const struct value *constraint, const struct field_path *at, struct field_errors *errs)
{
    const struct value *domains = GET(constraint, TopologySpreadConstraint, minDomains);
    struct str action = TEXT(constraint, TopologySpreadConstraint, whenUnsatisfiable);
    if (domains->kind != VALUE_INT)
        return;
    if (domains->i <= 0)
        field_invalid(errs, at, field_int(domains->i), STR("must be greater than zero"));
    if (!str_is(action, "DoNotSchedule"))
        field_invalid(errs, at, field_int(domains->i),
                      pod_detail(errs, "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not %.*s",
                                 STR_ARG(action)));
}

/* As before matchLabelKeys were put into selectors; for objects from then. */
static void check_old_match_keys(const struct value *keys, const struct value *selector, const struct field_path *at,
                                 struct field_errors *errs)
{
    const struct value *labels = value_slot(selector, SLOT_meta_v1_LabelSelector_matchLabels);
    const struct value *expressions = value_slot(selector, SLOT_meta_v1_LabelSelector_matchExpressions);
    struct map_str mentioned;
    if (!pod_count(keys))
        return;
    map_str_init(&mentioned);
    if (selector->kind == VALUE_ABSENT)
        field_forbidden(errs, at, STR("must not be specified when labelSelector is not set"));
    for (uint32_t i = 0; i < pod_count(labels); i++)
        pod_add_new(&mentioned, labels->members[i].key);
    for (uint32_t i = 0; i < pod_count(expressions); i++)
        pod_add_new(&mentioned, value_text(value_slot(&expressions->items[i], SLOT_meta_v1_LabelSelectorRequirement_key)));
    for (uint32_t i = 0; i < keys->n; i++) {
        struct str key = value_text(&keys->items[i]);
        validate_label_name(key, AT_INDEX(at, i), errs);
        if (map_str_find(&mentioned, key))
            field_invalid(errs, AT_INDEX(at, i), field_str(key), STR("exists in both matchLabelKeys and labelSelector"));
    }
    map_str_fini(&mentioned);
}

static void check_inclusion(const struct value *policy, const struct field_path *at, struct field_errors *errs)
{
    static const char *const policies[] = { "Honor", "Ignore", NULL };
    if (policy->kind != VALUE_ABSENT)
        pod_check_one_of(value_text(policy), policies, at, errs);
}

static void check_spread_selector(struct pod_check *k, const struct value *constraint, const struct field_path *at)
{
    static const struct value none = { .kind = VALUE_ABSENT };
    const struct value *selector = GET(constraint, TopologySpreadConstraint, labelSelector);
    const struct value *keys = GET(constraint, TopologySpreadConstraint, matchLabelKeys);
    if (k->lenient.spread_match_keys)
        check_old_match_keys(keys, selector, AT(at, "matchLabelKeys"), k->errs);
    else
        pod_check_match_keys(keys, &none, selector, at, k->errs);
    if (!k->lenient.spread_selectors)
        rules_check_label_selector(k->arena, selector, false, AT(at, "labelSelector"), k->errs);
}

/* `is_repeated`: one with the same key and action comes later. */
static void check_constraint(struct pod_check *k, const struct value *constraint, bool is_repeated,
                             const struct field_path *at)
{
    static const char *const actions[] = { "DoNotSchedule", "ScheduleAnyway", NULL };
    int64_t skew = NUMBER(constraint, TopologySpreadConstraint, maxSkew);
    if (skew <= 0)
        field_invalid(k->errs, AT(at, "maxSkew"), field_int(skew), STR("must be greater than zero"));
    if (!TEXT(constraint, TopologySpreadConstraint, topologyKey).n)
        field_required(k->errs, AT(at, "topologyKey"), STR("can not be empty"));
    pod_check_one_of(TEXT(constraint, TopologySpreadConstraint, whenUnsatisfiable), actions, AT(at, "whenUnsatisfiable"),
                     k->errs);
    if (is_repeated)
        field_duplicate(k->errs, AT(at, "{topologyKey, whenUnsatisfiable}"),
                        field_str(constraint_key(k->arena, constraint)));
    check_domains(constraint, AT(at, "minDomains"), k->errs);
    check_inclusion(GET(constraint, TopologySpreadConstraint, nodeAffinityPolicy), AT(at, "nodeAffinityPolicy"), k->errs);
    check_inclusion(GET(constraint, TopologySpreadConstraint, nodeTaintsPolicy), AT(at, "nodeTaintsPolicy"), k->errs);
    check_spread_selector(k, constraint, at);
}

void pod_check_spread(struct pod_check *k, const struct field_path *at)
{
    const struct value *list = GET(k->spec, PodSpec, topologySpreadConstraints);
    struct map_str last;
    map_str_init(&last);
    for (uint32_t i = 0; i < pod_count(list); i++)
        map_str_put(&last, constraint_key(k->arena, &list->items[i]), NULL)->num = i;
    for (uint32_t i = 0; i < pod_count(list); i++) {
        bool is_repeated = map_str_find(&last, constraint_key(k->arena, &list->items[i]))->num != i;
        check_constraint(k, &list->items[i], is_repeated, AT_INDEX(at, i));
    }
    map_str_fini(&last);
}
