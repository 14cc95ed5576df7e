/* rules/check.c - see check.h. */
#include "rules/check.h"

#include "api/edit.h"
#include "api/label_selector.h"

/* ---- Places ---- */

struct place place_at(const struct place *p, const char *path)
{
    struct place at = *p;
    for (struct str left = str_of(path); left.n;) {
        size_t end = str_index(left, '.');
        struct place *parent = arena_alloc(p->errs->arena, sizeof(*parent)); /* paths refer to what is above them */
        *parent = at;
        at = place_child(parent, arena_cstr(p->errs->arena, str_first(left, end)));
        left = str_from(left, end < left.n ? end + 1 : end);
    }
    return at;
}

struct str place_entry(const struct place *map, const char *key)
{
    const struct value *found = map->value->kind == VALUE_MAP ? value_member(map->value, str_of(key)) : NULL;
    return found ? value_text(found) : (struct str){ NULL, 0 };
}

struct labels place_labels(const struct place *map)
{
    uint32_t n = map->value->kind == VALUE_MAP ? map->value->n : 0;
    struct label *at = ARENA_NEW_N(map->errs->arena, struct label, n);
    for (uint32_t i = 0; i < n; i++)
        at[i] = (struct label){ map->value->members[i].key, value_text(&map->value->members[i].value) };
    return (struct labels){ at, n };
}

struct quantity place_amount(const struct place *p)
{
    struct quantity q;
    struct err e;
    err_init(&e, p->errs->arena);
    if (quantity_parse(p->errs->arena, place_text(p), &q, &e))
        return (struct quantity){ 0 };
    return q;
}

bool same_at(const struct rules_context *c, const struct value *a, const struct value *b, const char *path)
{
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place first = place_root(c, a, &none), second = place_root(c, b, &none);
    struct place x = place_at(&first, path), y = place_at(&second, path);
    return place_same(&x, &y);
}

/* ---- Numbers ---- */

void check_none_negative(const struct place *p, const char *const *names)
{
    for (; *names; names++) {
        struct place child = place_child(p, *names);
        place_check_not_negative(&child);
    }
}

void check_none_above(const struct place *p, const char *const *names, const char *limit, const char *words)
{
    for (; *names; names++) {
        struct place child = place_child(p, *names);
        if (place_int(&child) > child_int(p, limit))
            place_invalidf(&child, "cannot be greater than %s", words);
    }
}

void check_not_decremented(const struct place *status, const struct place *old_status, const char *name)
{
    struct place count = place_child(status, name);
    bool lost = !place_is_set(&count);
    if (child_is_set(old_status, name) && (lost || place_int(&count) < child_int(old_status, name)))
        field_invalid(count.errs, &count.path, field_int(place_int(&count)), STR("cannot be decremented"));
}

static bool is_percent(const struct place *p)
{
    return p->value->kind == VALUE_STRING && name_percent(place_text(p)).n == 0;
}

void check_count_or_percent(const struct place *p)
{
    if (p->value->kind == VALUE_STRING)
        place_check_names(p, name_percent(place_text(p)));
    else
        place_check_not_negative(p);
}

/* As Go's Atoi: 0 for what is no number, the largest one for what is too large. */
static int64_t digits_value(struct str digits)
{
    int64_t n = 0;
    bool full = false;
    for (size_t i = 0; i < digits.n; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9')
            return 0;
        full |= __builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, digits.p[i] - '0', &n);
    }
    return full ? INT64_MAX : n;
}

int64_t count_or_percent(const struct place *p)
{
    struct str text = place_text(p);
    if (p->value->kind != VALUE_STRING)
        return place_int(p);
    return digits_value(is_percent(p) ? str_first(text, text.n - 1) : text);
}

void check_not_above_all(const struct place *p)
{
    if (is_percent(p) && count_or_percent(p) > 100)
        place_invalid(p, "must not be greater than 100%");
}

/* ---- Resources ---- */

#define CPU_AND_MEMORY(prefix) prefix "cpu", prefix "memory", prefix "ephemeral-storage"

static const char *const quota_resources[] = {
    CPU_AND_MEMORY(""), CPU_AND_MEMORY("requests."), CPU_AND_MEMORY("limits."), "requests.storage",
    "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
    "services.nodeports", "services.loadbalancers", NULL,
};
static const char *const whole_resources[] = {
    "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
    "services.nodeports", "services.loadbalancers", NULL,
};
static const char *const container_resources[] = { CPU_AND_MEMORY(""), NULL };

static bool has_slash(struct str name)
{
    return str_index(name, '/') < name.n;
}

static bool is_huge_page(struct str name)
{
    return str_starts(name, STR("hugepages-"));
}

bool resource_is_quota_standard(struct str name)
{
    return text_is_one_of(name, quota_resources) || is_huge_page(name) || str_starts(name, STR("requests.hugepages-"));
}

/* Of the machine itself, not of a vendor's. */
static bool is_native(struct str name)
{
    return !has_slash(name) || memmem(name.p, name.n, "kubernetes.io/", 14) != NULL;
}

bool resource_may_overcommit(struct str name)
{
    return is_native(name) && !is_huge_page(name);
}

static bool is_extended(struct arena *a, struct str name)
{
    if (is_native(name) || str_starts(name, STR("requests.")))
        return false;
    return name_label_key(str_of(arena_printf(a, "requests.%.*s", STR_ARG(name)))).n == 0;
}

static void name_fault(const struct place *entry, struct str name, const char *detail)
{
    field_invalid(entry->errs, &entry->path, field_enum(name), str_of(detail));
}

void check_resource_name(const struct place *entry, struct str name)
{
    struct name_errors found = name_label_key(name);
    validate_name_errors(found, field_enum(name), &entry->path, entry->errs);
    if (!found.n && !has_slash(name) && !resource_is_quota_standard(name) && !str_is(name, "storage"))
        name_fault(entry, name, "must be a standard resource type or fully qualified");
}

void check_container_resource_name(const struct place *entry, struct str name)
{
    check_resource_name(entry, name);
    if (!has_slash(name)) {
        if (!text_is_one_of(name, container_resources) && !is_huge_page(name))
            name_fault(entry, name, "must be a standard resource for containers");
    } else if (!is_native(name) && !is_extended(entry->errs->arena, name)) {
        name_fault(entry, name, "doesn't follow extended resource name standard");
    }
}

void check_quota_resource_name(const struct place *entry, struct str name)
{
    check_resource_name(entry, name);
    if (!has_slash(name) && !resource_is_quota_standard(name))
        name_fault(entry, name, "must be a standard resource for quota");
}

void check_resource_amount(const struct place *entry, struct str name)
{
    struct quantity amount = place_amount(entry);
    if (quantity_sign(&amount) < 0)
        place_invalid(entry, "must be greater than or equal to 0");
    bool whole = text_is_one_of(name, whole_resources) || is_extended(entry->errs->arena, name);
    if (whole && !quantity_passes_as_whole(&amount))
        place_invalid(entry, "must be an integer");
}

/* ---- Selectors and templates ---- */

static struct strs texts_of(struct arena *a, const struct value *list)
{
    uint32_t n = list->kind == VALUE_LIST ? list->n : 0;
    struct str *at = ARENA_NEW_N(a, struct str, n);
    for (uint32_t i = 0; i < n; i++)
        at[i] = value_text(&list->items[i]);
    return (struct strs){ n ? at : NULL, n };
}

/* Everything when there is none; false when it cannot be one. */
static bool compile(const struct place *selector, struct selector *ret)
{
    struct arena *a = selector->errs->arena;
    struct place labels = place_child(selector, "matchLabels"), list = place_child(selector, "matchExpressions");
    struct match_expression *at = ARENA_NEW_N(a, struct match_expression, place_n(&list));
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place one = place_item(&list, i);
        at[i] = (struct match_expression){ child_text(&one, "key"), child_text(&one, "operator"),
                                           texts_of(a, child_value(&one, "values")) };
    }
    struct label_selector ls = { place_labels(&labels), at, place_n(&list) };
    struct err e;
    err_init(&e, a);
    return !label_selector_compile(a, WORK_OWN, place_is_set(selector) ? &ls : NULL, ret, &e);
}

bool selector_matches_labels(const struct place *selector, struct labels labels)
{
    struct selector compiled;
    return !compile(selector, &compiled) || selector_matches(&compiled, labels);
}

bool check_selector_of(const struct place *selector, const char *owner, const char *fault)
{
    if (!place_is_set(selector)) {
        place_required(selector, "");
        return true;
    }
    place_check_selector(selector, false);
    if (child_n(selector, "matchLabels") + child_n(selector, "matchExpressions") == 0)
        place_invalidf(selector, "empty selector is invalid for %s", owner);
    struct selector compiled;
    if (compile(selector, &compiled))
        return true;
    place_invalid(selector, fault);
    return false;
}

void check_selector_matches(const struct place *selector, const struct place *template)
{
    struct selector compiled;
    struct place labels = place_at(template, "metadata.labels");
    if (!compile(selector, &compiled) || selector_empty(&compiled) ||
        selector_matches(&compiled, place_labels(&labels)))
        return;
    place_invalid(&labels, "`selector` does not match template `labels`");
}

void check_lasting_template(const struct place *template, const char *owner)
{
    static const char *const policies[] = { "Always", NULL };
    struct place policy = place_at(template, "spec.restartPolicy");
    struct place deadline = place_at(template, "spec.activeDeadlineSeconds");
    place_check_supported(&policy, policies);
    if (place_is_set(&deadline))
        place_forbidden(&deadline, arena_printf(template->errs->arena, "activeDeadlineSeconds in %s is not Supported",
                                                owner));
}

void warn_name_is_no_label(const struct rules_context *c, const struct value *object)
{
    struct name_errors found = name_dns1123_label(value_text(value_path(c->type, object, "metadata.name")));
    if (!found.n)
        return;
    struct str texts = validate_join(c->arena, found, " ");
    warnings_add(c->warnings, "metadata.name: this is used in Pod names and hostnames, which can result in surprising "
                 "behavior; a DNS label is recommended: [%.*s]", STR_ARG(texts));
}
