/* rules/core_quota.c - LimitRange and ResourceQuota. */
#include "api/edit.h"
#include "rules/core_priv.h"

/* ---- LimitRange ---- */

/* A range may come without a name; its uid is one. */
struct value limit_range_prepare_create(const struct rules_context *c, const struct value *new)
{
    if (value_text(value_path(c->type, new, "metadata.name")).n)
        return *new;
    return edit_set(c->arena, c->type, new, "metadata.name", *value_path(c->type, new, "metadata.uid"));
}

static void check_limit_type(const struct place *type, struct seen *seen)
{
    static const char *const standard[] = { "Pod", "Container", "PersistentVolumeClaim", NULL };
    struct str text = place_text(type);
    struct name_errors found = name_label_key(text);
    validate_name_errors(found, field_enum(text), &type->path, type->errs);
    if (!found.n && str_index(text, '/') == text.n && !text_is_one_of(text, standard))
        place_invalid(type, "must be a standard limit type or fully qualified");
    if (seen_before(seen, text))
        field_duplicate(type->errs, &type->path, field_enum(text));
}

static void check_limit_names(const struct place *map, bool of_containers)
{
    for (uint32_t i = 0; i < place_n(map); i++) {
        struct place entry = place_member(map, i);
        if (of_containers)
            check_container_resource_name(&entry, map->value->members[i].key);
        else
            check_resource_name(&entry, map->value->members[i].key);
    }
}

/* The amounts of one resource in a limit. */
enum limit_part { LIMIT_MIN, LIMIT_MAX, LIMIT_DEFAULT, LIMIT_REQUEST, LIMIT_RATIO, N_LIMIT_PARTS };
static const char *const part_names[N_LIMIT_PARTS] = { "min", "max", "default", "defaultRequest",
                                                       "maxLimitRequestRatio" };

struct limit_amounts {
    const struct place *limit;
    struct str resource;
    const struct value *at[N_LIMIT_PARTS]; /* NULL: not there */
    struct quantity amounts[N_LIMIT_PARTS];
};

static struct limit_amounts read_amounts(const struct place *limit, struct str resource, bool of_pods)
{
    struct limit_amounts l = { .limit = limit, .resource = resource };
    for (int i = 0; i < N_LIMIT_PARTS; i++) {
        struct place map = place_child(limit, part_names[i]);
        bool counts = map.value->kind == VALUE_MAP && !(of_pods && (i == LIMIT_DEFAULT || i == LIMIT_REQUEST));
        l.at[i] = counts ? value_member(map.value, resource) : NULL;
        struct err e;
        err_init(&e, limit->errs->arena);
        if (l.at[i] && quantity_parse(limit->errs->arena, value_text(l.at[i]), &l.amounts[i], &e))
            l.at[i] = NULL;
    }
    return l;
}

/* At `part`, showing the amount of `shown`. */
static void limit_fault(const struct limit_amounts *l, enum limit_part part, enum limit_part shown, const char *detail)
{
    struct field_path map = field_child(&l->limit->path, part_names[part]), at = field_key(&map, l->resource);
    field_invalid(l->limit->errs, &at, field_str(value_text(l->at[shown])), str_of(detail));
}

static const char *words(const struct limit_amounts *l, const char *first, enum limit_part a, const char *second,
                         enum limit_part b)
{
    struct str x = value_text(l->at[a]), y = value_text(l->at[b]);
    return arena_printf(l->limit->errs->arena, "%s %.*s is greater than %s %.*s", first, STR_ARG(x), second,
                        STR_ARG(y));
}

static void check_limit_order(const struct limit_amounts *l)
{
    static const struct {
        enum limit_part low, high, part, shown;
        const char *first, *second;
    } orders[] = {
        { LIMIT_MIN, LIMIT_MAX, LIMIT_MIN, LIMIT_MIN, "min value", "max value" },
        { LIMIT_MIN, LIMIT_REQUEST, LIMIT_REQUEST, LIMIT_REQUEST, "min value", "default request value" },
        { LIMIT_REQUEST, LIMIT_MAX, LIMIT_REQUEST, LIMIT_REQUEST, "default request value", "max value" },
        { LIMIT_REQUEST, LIMIT_DEFAULT, LIMIT_REQUEST, LIMIT_REQUEST, "default request value", "default limit value" },
        { LIMIT_MIN, LIMIT_DEFAULT, LIMIT_DEFAULT, LIMIT_MIN, "min value", "default value" },
        { LIMIT_DEFAULT, LIMIT_MAX, LIMIT_DEFAULT, LIMIT_MAX, "default value", "max value" },
    };
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        enum limit_part low = orders[i].low, high = orders[i].high;
        if (l->at[low] && l->at[high] && quantity_cmp(&l->amounts[low], &l->amounts[high]) > 0)
            limit_fault(l, orders[i].part, orders[i].shown, words(l, orders[i].first, low, orders[i].second, high));
    }
}

/* How much more than requested a limit may be; in thousandths where those fit. */
static void check_limit_ratio(const struct limit_amounts *l)
{
    static const int64_t milli_max = INT64_MAX / 1000;
    const struct quantity one = quantity_make(1, 0, QUANTITY_DECIMAL_SI), *ratio = &l->amounts[LIMIT_RATIO];
    struct arena *a = l->limit->errs->arena;
    if (!l->at[LIMIT_RATIO])
        return;
    struct str text = value_text(l->at[LIMIT_RATIO]);
    if (quantity_cmp(ratio, &one) < 0)
        limit_fault(l, LIMIT_RATIO, LIMIT_RATIO, arena_printf(a, "ratio %.*s is less than 1", STR_ARG(text)));
    if (!l->at[LIMIT_MIN] || !l->at[LIMIT_MAX])
        return;
    int64_t min = quantity_value(&l->amounts[LIMIT_MIN]), max = quantity_value(&l->amounts[LIMIT_MAX]);
    double wanted = (double)quantity_value(ratio);
    if (quantity_value(ratio) < milli_max && min < milli_max && max < milli_max) {
        wanted = (double)quantity_milli(ratio) / 1000;
        min = quantity_milli(&l->amounts[LIMIT_MIN]);
        max = quantity_milli(&l->amounts[LIMIT_MAX]);
    }
    double most = (double)max / (double)min;
    if (wanted > most)
        limit_fault(l, LIMIT_RATIO, LIMIT_RATIO,
                    arena_printf(a, "ratio %.*s is greater than max/min = %f", STR_ARG(text), most));
}

static void check_limit_overcommit(const struct limit_amounts *l)
{
    if (resource_may_overcommit(l->resource) || !l->at[LIMIT_DEFAULT] || !l->at[LIMIT_REQUEST] ||
        quantity_cmp(&l->amounts[LIMIT_DEFAULT], &l->amounts[LIMIT_REQUEST]) == 0)
        return;
    struct str given = value_text(l->at[LIMIT_DEFAULT]), asked = value_text(l->at[LIMIT_REQUEST]);
    limit_fault(l, LIMIT_REQUEST, LIMIT_REQUEST,
                arena_printf(l->limit->errs->arena,
                             "default value %.*s must equal to defaultRequest value %.*s in %.*s", STR_ARG(given),
                             STR_ARG(asked), STR_ARG(l->resource)));
}

/* Every resource that any part names, each once. */
static void check_limit_amounts(const struct place *limit, bool of_pods)
{
    struct seen seen;
    seen_init(&seen);
    for (int part = 0; part < N_LIMIT_PARTS; part++) {
        struct place map = place_child(limit, part_names[part]);
        for (uint32_t i = 0; i < place_n(&map); i++) {
            struct str resource = map.value->members[i].key;
            if (seen_before(&seen, resource))
                continue;
            struct limit_amounts l = read_amounts(limit, resource, of_pods);
            check_limit_order(&l);
            check_limit_ratio(&l);
            check_limit_overcommit(&l);
        }
    }
    seen_fini(&seen);
}

static void check_limit(const struct place *limit, struct seen *types)
{
    struct place type = place_child(limit, "type"), ratio = place_child(limit, "maxLimitRequestRatio");
    struct place max = place_child(limit, "max"), min = place_child(limit, "min");
    struct place given = place_child(limit, "default"), asked = place_child(limit, "defaultRequest");
    bool of_pods = str_is(place_text(&type), "Pod"), of_containers = of_pods || str_is(place_text(&type), "Container");
    check_limit_type(&type, types);
    check_limit_names(&max, of_containers);
    check_limit_names(&min, of_containers);
    if (of_pods && place_n(&given))
        place_forbidden(&given, "may not be specified when `type` is 'Pod'");
    if (of_pods && place_n(&asked))
        place_forbidden(&asked, "may not be specified when `type` is 'Pod'");
    if (!of_pods) {
        check_limit_names(&given, of_containers);
        check_limit_names(&asked, of_containers);
    }
    struct field_path limits = field_child(&limit->path, "limits");
    bool has_storage = place_entry(&min, "storage").n || place_entry(&max, "storage").n;
    if (str_is(place_text(&type), "PersistentVolumeClaim") && !has_storage)
        field_required(limit->errs, &limits, STR("either minimum or maximum storage value is required, but neither was "
                                                 "provided"));
    check_limit_names(&ratio, of_containers);
    check_limit_amounts(limit, of_pods);
}

void limit_range_validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), limits = place_at(&root, "spec.limits");
    struct seen types;
    rules_check_meta(c, new, NULL, errs);
    seen_init(&types);
    for (uint32_t i = 0; i < place_n(&limits); i++) {
        struct place limit = place_item(&limits, i);
        check_limit(&limit, &types);
    }
    seen_fini(&types);
}

void limit_range_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                 struct field_errors *errs)
{
    (void)old;
    limit_range_validate_create(c, new, errs);
}

/* ---- ResourceQuota ---- */

static void check_quota_amounts(const struct place *map)
{
    for (uint32_t i = 0; i < place_n(map); i++) {
        struct place entry = place_member(map, i);
        check_quota_resource_name(&entry, map->value->members[i].key);
        check_resource_amount(&entry, map->value->members[i].key);
    }
}

enum scope { TERMINATING, NOT_TERMINATING, BEST_EFFORT, NOT_BEST_EFFORT, PRIORITY_CLASS, CROSS_NAMESPACE, VOLUME_CLASS,
             N_SCOPES };

static const char *const scope_names[N_SCOPES] = { "Terminating", "NotTerminating", "BestEffort", "NotBestEffort",
                                                   "PriorityClass", "CrossNamespacePodAffinity",
                                                   "VolumeAttributesClass" };

/* N_SCOPES when there is no such scope. */
static enum scope scope_of(struct str name)
{
    enum scope scope = 0;
    while (scope < N_SCOPES && !str_is(name, scope_names[scope]))
        scope++;
    return scope;
}

static bool scope_counts(enum scope scope, struct str resource)
{
    static const char *const of_pods[] = { "pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu",
                                           "requests.memory", NULL };
    static const char *const of_claims[] = { "persistentvolumeclaims", "requests.storage", NULL };
    if (scope == BEST_EFFORT)
        return str_is(resource, "pods");
    return text_is_one_of(resource, scope == VOLUME_CLASS ? of_claims : of_pods);
}

/* How many of the resources that a quota limits each scope does not count; once, whatever scopes there are. */
struct outside {
    uint32_t n[N_SCOPES + 1]; /* the last is that of scopes that are none */
};

static struct outside scopes_outside(const struct place *hard)
{
    struct outside out = { 0 };
    for (uint32_t i = 0; i < place_n(hard); i++) {
        struct str resource = hard->value->members[i].key;
        for (enum scope s = 0; s < N_SCOPES && resource_is_quota_standard(resource); s++)
            out.n[s] += !scope_counts(s, resource);
    }
    return out;
}

/* As often as there are resources outside: upstream says so of each. */
static void check_scope_counts(const struct outside *outside, enum scope scope, const struct field_path *at,
                               struct field_value shown, struct field_errors *errs)
{
    for (uint32_t i = 0; i < outside->n[scope] && !field_errors_full(errs); i++)
        field_invalid(errs, at, shown, STR("unsupported scope applied to resource"));
}

/* A pod can only be in one of two. */
static void check_scope_pairs(unsigned scopes, const struct field_path *at, const struct place *shown)
{
    static const unsigned pairs[] = { 1u << BEST_EFFORT | 1u << NOT_BEST_EFFORT,
                                      1u << TERMINATING | 1u << NOT_TERMINATING };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if ((scopes & pairs[i]) == pairs[i])
            field_invalid(shown->errs, at, place_shown(shown), STR("conflicting scopes"));
}

static void check_scopes(const struct place *spec)
{
    struct place scopes = place_child(spec, "scopes"), hard = place_child(spec, "hard");
    struct outside outside = scopes_outside(&hard);
    unsigned seen = 0;
    for (uint32_t i = 0; i < place_n(&scopes); i++) {
        enum scope scope = scope_of(value_text(&scopes.value->items[i]));
        if (scope == N_SCOPES)
            place_invalid(&scopes, "unsupported scope");
        if (!field_errors_full(scopes.errs))
            check_scope_counts(&outside, scope, &scopes.path, place_shown(&scopes), scopes.errs);
        seen |= 1u << scope;
    }
    check_scope_pairs(seen, &scopes.path, &scopes);
}

static void check_scope_operator(const struct place *operator, const struct place *values, enum scope scope)
{
    static const char *const sets[] = { "In", "NotIn", NULL }, *const flags[] = { "Exists", "DoesNotExist", NULL };
    struct str text = place_text(operator);
    bool exists_only = scope < N_SCOPES && scope != PRIORITY_CLASS && scope != VOLUME_CLASS;
    if (exists_only && !str_is(text, "Exists"))
        place_invalid(operator, "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
                      "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
                      "ResourceQuotaScopeNotBestEffort or "
                      "ResourceQuotaScopeCrossNamespacePodAffinity");
    if (text_is_one_of(text, sets)) {
        if (!place_n(values))
            place_required(values, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector");
    } else if (!text_is_one_of(text, flags)) {
        place_invalid(operator, "not a valid selector operator");
    } else if (place_n(values)) {
        place_invalid(values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector");
    }
}

/* Upstream leaves indexes out of its paths here. */
static void check_scope_selector(const struct place *spec)
{
    struct place hard = place_child(spec, "hard"), scopes = place_child(spec, "scopes");
    struct place selector = place_child(spec, "scopeSelector"), list = place_child(&selector, "matchExpressions");
    struct outside outside = scopes_outside(&hard);
    unsigned seen = 0;
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place one = place_item(&list, i);
        struct place name = place_child(&one, "scopeName"), operator = place_child(&one, "operator");
        struct place values = place_child(&one, "values");
        enum scope scope = scope_of(place_text(&name));
        name = place_named(&list, &name, "scopeName");
        operator = place_named(&list, &operator, "operator");
        values = place_named(&list, &values, "values");
        if (scope == N_SCOPES)
            place_invalid(&name, "unsupported scope");
        if (!field_errors_full(list.errs))
            check_scope_counts(&outside, scope, &list.path, place_shown_as_go(&selector), list.errs);
        check_scope_operator(&operator, &values, scope);
        seen |= 1u << scope;
    }
    check_scope_pairs(seen, &list.path, &scopes);
}

static void check_quota_spec(const struct place *root)
{
    struct place spec = place_child(root, "spec"), hard = place_child(&spec, "hard");
    check_quota_amounts(&hard);
    check_scopes(&spec);
    check_scope_selector(&spec);
}

void quota_validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs);
    rules_check_meta(c, new, NULL, errs);
    check_quota_spec(&root);
}

static unsigned scopes_in(const struct place *list)
{
    unsigned scopes = 0;
    for (uint32_t i = 0; i < place_n(list); i++)
        scopes |= 1u << scope_of(value_text(&list->value->items[i]));
    return scopes;
}

void quota_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                           struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), before = place_root(c, old, errs);
    struct place scopes = place_at(&root, "spec.scopes"), were = place_at(&before, "spec.scopes");
    rules_check_meta_update(c, new, old, errs);
    check_quota_spec(&root);
    if (scopes_in(&scopes) != scopes_in(&were))
        place_invalid(&scopes, "field is immutable");
}

void quota_validate_status(const struct rules_context *c, const struct value *new, const struct value *old,
                           struct field_errors *errs)
{
    struct place root = place_root(c, new, errs);
    struct place hard = place_at(&root, "status.hard"), used = place_at(&root, "status.used");
    rules_check_meta_update(c, new, old, errs);
    check_quota_amounts(&hard);
    check_quota_amounts(&used);
}

static void warn_of(const struct rules_context *c, const struct place *hard, const char *request, const char *limit)
{
    struct quantity asked, most;
    struct err e;
    err_init(&e, c->arena);
    struct str x = place_entry(hard, request), y = place_entry(hard, limit);
    if (!x.n || !y.n || quantity_parse(c->arena, x, &asked, &e) || quantity_parse(c->arena, y, &most, &e))
        return;
    if (quantity_cmp(&asked, &most) > 0)
        warnings_add(c->warnings, "ResourceQuota %s (%.*s) should be less than %s (%.*s)", request, STR_ARG(x), limit,
                     STR_ARG(y));
}

/* Requests above limits; those of cpu and memory have two names. */
void quota_warn(const struct rules_context *c, const struct value *new, const struct value *old)
{
    static const struct {
        const char *request, *also, *limit;
    } pairs[] = {
        { "requests.cpu", "cpu", "limits.cpu" },
        { "requests.memory", "memory", "limits.memory" },
        { "requests.storage", NULL, "limits.storage" },
        { "requests.ephemeral-storage", NULL, "limits.ephemeral-storage" },
    };
    struct field_errors none;
    if (old)
        return;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), hard = place_at(&root, "spec.hard");
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        bool first = !pairs[i].also || place_entry(&hard, pairs[i].request).n;
        warn_of(c, &hard, first ? pairs[i].request : pairs[i].also, pairs[i].limit);
    }
}
