/* rules/core_event.c - Event: few rules for core/v1, all of them for events.k8s.io/v1.
 *
 * Both are stored as core/v1; whose rules count is what the request was made through (rules_context.served). */
#include "rules/core_priv.h"

enum { EVENT_TEXT_MAX = 128, EVENT_NOTE_MAX = 1024 }; /* bytes; reporting instance, action, reason; the message */

static bool is_strict(const struct rules_context *c)
{
    return c->served && str_is(c->served->name, "events.k8s.io/v1.Event");
}

/* Upstream shows nothing of the value. */
static void fault(const struct place *p, const char *detail)
{
    field_invalid(p->errs, &p->path, field_str(STR("")), str_of(detail));
}

static void check_length(const struct place *p, int max)
{
    if (place_text(p).n > (size_t)max)
        fault(p, arena_printf(p->errs->arena, "can have at most %d characters", max));
}

static void check_required_text(const struct place *p)
{
    if (!place_text(p).n)
        place_required(p, "");
    check_length(p, EVENT_TEXT_MAX);
}

/* What an event with a time of its own must tell. */
static void check_told(const struct rules_context *c, const struct place *root)
{
    struct place component = place_child(root, "reportingComponent"), instance = place_child(root, "reportingInstance");
    struct place action = place_child(root, "action"), reason = place_child(root, "reason");
    struct place message = place_child(root, "message");
    if (is_strict(c))
        component = place_named(root, &component, "reportingController");
    if (!place_text(&component).n)
        place_required(&component, "");
    validate_name_errors(name_label_key(place_text(&component)), field_str(place_text(&component)), &component.path,
                         component.errs);
    check_required_text(&instance);
    check_required_text(&action);
    check_required_text(&reason);
    check_length(&message, EVENT_NOTE_MAX);
}

/* For both versions. */
static void check_common(const struct rules_context *c, const struct place *root)
{
    struct place about = place_at(root, "involvedObject.namespace");
    struct place meta = place_child(root, "metadata"), own = place_child(&meta, "namespace");
    struct str namespace = place_text(&own);
    bool timed = child_is_set(root, "eventTime"), is_default = !namespace.n || str_is(namespace, "default");
    bool matches = place_text(&about).n ? timed || str_eq(place_text(&about), namespace)
                                        : is_default || (timed && str_is(namespace, "kube-system"));
    if (!matches)
        field_invalid(about.errs, &about.path, field_str(place_text(&about)), STR("does not match event.namespace"));
    if (timed)
        check_told(c, root);
    struct field_path at = field_child(NULL, "namespace");
    validate_name_errors(name_dns1123_subdomain(namespace), field_str(namespace), &at, root->errs);
}

static void check_series(const struct place *root)
{
    struct place series = place_child(root, "series"), count = place_child(&series, "count");
    struct place last = place_child(&series, "lastObservedTime");
    if (!place_is_set(&series))
        return;
    if (place_int(&count) < 2)
        fault(&count, "should be at least 2");
    if (!place_is_set(&last))
        place_required(&last, "");
}

/* Fields of core/v1 that a client of events.k8s.io leaves alone. */
static void check_unset(const struct place *root)
{
    static const char *const names[] = { "firstTimestamp", "lastTimestamp", NULL };
    struct place count = place_child(root, "count"), source = place_child(root, "source");
    for (const char *const *name = names; *name; name++) {
        struct place time = place_child(root, *name);
        if (place_is_set(&time))
            fault(&time, "needs to be unset");
    }
    if (place_int(&count))
        fault(&count, "needs to be unset");
    if (child_text(&source, "component").n || child_text(&source, "host").n)
        fault(&source, "needs to be unset");
}

void event_validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs);
    check_common(c, &root);
    if (!is_strict(c)) {
        if (!errs->n) /* names of such events are not even subdomains; upstream looks at them last */
            rules_check_meta(c, new, name_is_path_segment, errs);
        return;
    }
    rules_check_meta(c, new, NULL, errs);
    check_series(&root);
    struct place time = place_child(&root, "eventTime"), type = place_child(&root, "type");
    struct str text = place_text(&type);
    if (!place_is_set(&time))
        place_required(&time, "");
    if (!str_is(text, "Normal") && !str_is(text, "Warning"))
        fault(&type, arena_printf(c->arena, "has invalid value: %.*s", STR_ARG(text)));
    check_unset(&root);
}

static bool same_to_the_microsecond(const struct value *a, const struct value *b)
{
    return a->kind == b->kind && (a->kind != VALUE_TIME || (a->i == b->i && a->n / 1000 == b->n / 1000));
}

/* Only the series of an event moves on. The reason is looked at twice, as upstream does. */
static void check_unchanged(const struct place *root, const struct place *old)
{
    static const struct {
        const char *name, *shown;
    } fields[] = {
        { "involvedObject", NULL }, { "reason", NULL }, { "message", NULL }, { "source", NULL },
        { "firstTimestamp", NULL },
        { "lastTimestamp", NULL }, { "count", NULL }, { "reason", NULL }, { "type", NULL }, { "eventTime", NULL }, { "action", NULL },
        { "related", NULL }, { "reportingComponent", "reportingController" }, { "reportingInstance", NULL },
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        struct place is = place_child(root, fields[i].name), was = place_child(old, fields[i].name);
        if (fields[i].shown)
            is = place_named(root, &is, fields[i].shown);
        if (!str_is(is.field->name, "eventTime") || !same_to_the_microsecond(is.value, was.value))
            place_check_immutable(&is, &was);
    }
}

void event_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                           struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), before = place_root(c, old, errs);
    check_common(c, &root);
    if (!is_strict(c))
        return;
    rules_check_meta_update(c, new, old, errs);
    struct place series = place_child(&root, "series"), was = place_child(&before, "series");
    if (!place_same(&series, &was))
        check_series(&root);
    check_unchanged(&root, &before);
}
