/* apiserver/options.c - see options.h. Upstream: apimachinery's meta/v1 and meta/internalversion: conversion,
 * validation. */
#include "apiserver/options.h"

#include "api/duration.h"
#include "api/selector_parse.h"
#include "apiserver/route.h"
#include "apiserver/status_object.h"
#include "base/utf8.h"
#include "codec/proto.h"
#include "codec/type_meta.h"
#include "codec/yaml.h"

#define META ".meta.k8s.io"

/* ---- Single values ---- */

static enum err_code bad_int(struct str text, const char *what, struct err *e)
{
    struct strbuf quoted;
    strbuf_init(&quoted, STRBUF_NO_MAX);
    strbuf_add_quoted_shown(&quoted, text);
    enum err_code code = err_set(e, ERR_BAD_REQUEST, "strconv.ParseInt: parsing %s: %s", strbuf_cstr(&quoted), what);
    strbuf_fini(&quoted);
    return code;
}

/* As Go's strconv.ParseInt with base 10. */
static enum err_code read_int(struct str text, int64_t *ret, struct err *e)
{
    bool minus = text.n && text.p[0] == '-', sign = minus || (text.n && text.p[0] == '+');
    struct str digits = str_from(text, sign);
    int64_t sum = 0;
    bool over = false;
    for (size_t i = 0; i < digits.n; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9')
            return bad_int(text, "invalid syntax", e);
        int digit = digits.p[i] - '0';
        over |= __builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, minus ? -digit : digit, &sum);
    }
    if (digits.n == 0)
        return bad_int(text, "invalid syntax", e);
    if (over)
        return bad_int(text, "value out of range", e);
    *ret = sum;
    return ERR_OK;
}

static enum maybe read_maybe(const struct target *t, const char *name)
{
    if (!target_has(t, name))
        return MAYBE_UNSET;
    return query_bool(t, name) ? MAYBE_TRUE : MAYBE_FALSE;
}

static enum err_code read_maybe_int(const struct target *t, const char *name, bool *ret_given, int64_t *ret,
                                    struct err *e)
{
    struct str text = target_get(t, name);
    *ret_given = text.p != NULL;
    return text.p ? read_int(text, ret, e) : ERR_OK;
}

static const struct str *all_values(struct arena *a, const struct target *t, const char *name, size_t *ret_n)
{
    struct str *values = ARENA_NEW_N(a, struct str, t->n_query);
    size_t n = 0;
    for (size_t i = 0; i < t->n_query; i++)
        if (str_is(t->query[i].name, name))
            values[n++] = t->query[i].value;
    *ret_n = n;
    return values;
}

/* ---- Lists and watches ---- */

enum err_code options_read_list(struct arena *a, const struct target *t, struct list_options *ret_options,
                                struct err *e)
{
    struct list_options o = { .watch = query_bool(t, "watch"), .allow_bookmarks = query_bool(t, "allowWatchBookmarks"),
                              .send_initial_events = read_maybe(t, "sendInitialEvents"),
                              .resource_version = target_get(t, "resourceVersion"),
                              .resource_version_match = target_get(t, "resourceVersionMatch"),
                              .continue_token = target_get(t, "continue") };
    bool given;
    struct work work = work_init(SELECTOR_BYTES_MAX), field_work = work_init(SELECTOR_BYTES_MAX);
    if (read_maybe_int(t, "timeoutSeconds", &o.has_timeout, &o.timeout_seconds, e) ||
        read_maybe_int(t, "limit", &given, &o.limit, e) ||
        selector_parse(a, &work, target_get(t, "labelSelector"), &o.labels, e) ||
        field_selector_parse(a, &field_work, target_get(t, "fieldSelector"), &o.fields, e))
        return e->code;
    *ret_options = o;
    return ERR_OK;
}

void options_default_list(struct list_options *o)
{
    bool no_version = o->resource_version.n == 0 || str_is(o->resource_version, "0");
    if (!o->watch || o->send_initial_events || o->resource_version_match.n || !no_version)
        return;
    o->send_initial_events = MAYBE_TRUE;
    o->resource_version_match = STR("NotOlderThan");
}

static void check_watch(const struct list_options *o, const struct field_path *match, struct field_errors *errs)
{
    static const char *const allowed[] = { "NotOlderThan" };
    bool right = str_is(o->resource_version_match, "NotOlderThan");
    if (o->send_initial_events && !right)
        field_forbidden(errs, match, STR("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
    if (o->resource_version_match.n == 0)
        return;
    if (!o->send_initial_events)
        field_forbidden(errs, match,
                        STR("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
    if (!right)
        field_not_supported(errs, match, field_enum(o->resource_version_match), allowed, 1);
    if (o->continue_token.n)
        field_forbidden(errs, match, STR("resourceVersionMatch is forbidden when continue is provided"));
}

static void check_match_of_list(const struct list_options *o, const struct field_path *match, struct field_errors *errs)
{
    static const char *const allowed[] = { "Exact", "NotOlderThan", "" };
    bool exact = str_is(o->resource_version_match, "Exact");
    if (o->resource_version.n == 0)
        field_forbidden(errs, match, STR("resourceVersionMatch is forbidden unless resourceVersion is provided"));
    if (o->continue_token.n)
        field_forbidden(errs, match, STR("resourceVersionMatch is forbidden when continue is provided"));
    if (!exact && !str_is(o->resource_version_match, "NotOlderThan"))
        field_not_supported(errs, match, field_enum(o->resource_version_match), allowed, 3);
    if (exact && str_is(o->resource_version, "0"))
        field_forbidden(errs, match, STR("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
}

enum err_code options_check_list(const struct list_options *o, struct field_errors *errs, struct err *e)
{
    struct field_path match = field_child(NULL, "resourceVersionMatch"), initial = field_child(NULL,
                                                                                               "sendInitialEvents");
    if (o->watch)
        check_watch(o, &match, errs);
    else if (o->resource_version_match.n)
        check_match_of_list(o, &match, errs);
    if (!o->watch && o->send_initial_events)
        field_forbidden(errs, &initial, STR("sendInitialEvents is forbidden for list"));
    return errs->n ? status_invalid("ListOptions" META, "", errs, e) : ERR_OK;
}

/* ---- Fields to select by ---- */

#define EVENT_FIELDS(object)                                                                                       \
    object ".kind\0" object ".namespace\0" object ".name\0" object ".uid\0" object ".apiVersion\0"                  \
    object ".resourceVersion\0" object ".fieldPath\0"

/* How upstream says that it does not know a field. */
enum unknown_text { UNKNOWN_PLAIN, UNKNOWN_OF_KIND, UNKNOWN_GENERIC, UNKNOWN_SLICE };

static const struct kind_fields {
    const char *group, *resource, *fields; /* each ends with a zero, the last with two */
    enum unknown_text unknown;
    bool no_namespace; /* metadata.namespace is not known */
} kinds[] = {
    { "", "pods", "spec.nodeName\0spec.restartPolicy\0spec.schedulerName\0spec.serviceAccountName\0spec.hostNetwork\0"
      "status.phase\0status.podIP\0status.podIPs\0status.nominatedNodeName\0spec.host\0", UNKNOWN_PLAIN, false },
    { "", "nodes", "spec.unschedulable\0", UNKNOWN_PLAIN, true },
    { "", "namespaces", "status.phase\0", UNKNOWN_PLAIN, true },
    { "", "secrets", "type\0", UNKNOWN_PLAIN, false },
    { "", "services", "spec.clusterIP\0spec.type\0", UNKNOWN_PLAIN, false },
    { "", "replicationcontrollers", "status.replicas\0", UNKNOWN_PLAIN, false },
    { "", "events", EVENT_FIELDS("involvedObject") "reason\0reportingComponent\0source\0type\0", UNKNOWN_PLAIN, false },
    { "events.k8s.io", "events", EVENT_FIELDS("regarding") "reason\0reportingController\0type\0", UNKNOWN_PLAIN,
      false },
    { "batch", "jobs", "status.successful\0", UNKNOWN_OF_KIND, false },
    { "certificates.k8s.io", "certificatesigningrequests", "spec.signerName\0", UNKNOWN_PLAIN, true },
    { "resource.k8s.io", "resourceslices", "spec.nodeName\0spec.driver\0", UNKNOWN_SLICE, true },
};

static const struct kind_fields *fields_of(const struct resource *r)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (str_is(r->group, kinds[i].group) && str_is(r->plural, kinds[i].resource))
            return &kinds[i];
    return NULL;
}

static bool is_known_field(const struct kind_fields *k, struct str field)
{
    if (str_is(field, "metadata.name") || (str_is(field, "metadata.namespace") && !(k && k->no_namespace)))
        return true;
    for (const char *at = k ? k->fields : ""; *at; at += strlen(at) + 1)
        if (str_is(field, at))
            return true;
    return false;
}

static enum err_code unknown_field(const struct resource *r, const struct kind_fields *k, struct str field,
                                   struct err *e)
{
    field = err_shown(e, field);
    switch (k ? k->unknown : UNKNOWN_GENERIC) {
    case UNKNOWN_PLAIN:
        return err_set(e, ERR_BAD_REQUEST, "field label not supported: %.*s", STR_ARG(field));
    case UNKNOWN_OF_KIND:
        return err_set(e, ERR_BAD_REQUEST, "field label \"%.*s\" not supported for %.*s", STR_ARG(field),
                       STR_ARG(r->kind));
    case UNKNOWN_SLICE:
        return err_set(e, ERR_BAD_REQUEST, "field label not supported for %.*s/%.*s, Kind=%.*s: %.*s",
                       STR_ARG(r->group),
                       STR_ARG(r->version), STR_ARG(r->kind), STR_ARG(field));
    case UNKNOWN_GENERIC:
        break;
    }
    return err_set(e, ERR_BAD_REQUEST,
                   "\"%.*s\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
                       STR_ARG(field));
}

enum err_code options_check_fields(struct arena *a, const struct resource *r, struct field_selector *fields,
                                   struct err *e)
{
    const struct kind_fields *k = fields_of(r);
    struct field_term *terms = ARENA_NEW_N(a, struct field_term, fields->n);
    for (size_t i = 0; i < fields->n; i++) {
        terms[i] = fields->at[i];
        if (!is_known_field(k, terms[i].field))
            return unknown_field(r, k, terms[i].field, e);
        if (str_is(terms[i].field, "spec.host"))
            terms[i].field = STR("spec.nodeName");
    }
    fields->at = terms;
    return ERR_OK;
}

/* ---- Writes ---- */

static void check_manager(struct str manager, struct field_errors *errs)
{
    struct field_path at = field_child(NULL, "fieldManager");
    if (manager.n > FIELD_MANAGER_BYTES_MAX)
        field_too_long(errs, &at, FIELD_MANAGER_BYTES_MAX);
    for (size_t i = 0, step; i < manager.n && !field_errors_full(errs); i += step) {
        uint32_t rune;
        step = utf8_decode(str_from(manager, i), &rune);
        if (!step) {
            step = 1;
            continue; /* U+FFFD, which is printable */
        }
        if (utf8_printable(rune))
            continue;
        const char *what = arena_printf(errs->arena, "invalid character U+%04X (at position %zu)", rune, i);
        field_invalid(errs, &at, field_str(manager), str_of(what));
    }
}

/* True when the request is to change nothing. */
static bool check_dry_run(const struct str *values, size_t n, struct field_errors *errs)
{
    static const char *const allowed[] = { "All" };
    struct field_path at = field_child(NULL, "dryRun");
    for (size_t i = 0; i < n; i++)
        if (!str_is(values[i], "All")) {
            field_not_supported(errs, &at, field_strs(values, n), allowed, 1);
            return false;
        }
    return n > 0;
}

static enum field_validation check_validation(struct str given, struct field_errors *errs)
{
    static const char *const allowed[] = { "", "Ignore", "Strict", "Warn" };
    struct field_path at = field_child(NULL, "fieldValidation");
    if (str_is(given, "Ignore"))
        return VALIDATION_IGNORE;
    if (str_is(given, "Strict"))
        return VALIDATION_STRICT;
    if (given.n && !str_is(given, "Warn"))
        field_not_supported(errs, &at, field_str(given), allowed, 4);
    return VALIDATION_WARN;
}

enum err_code options_read_write(struct arena *a, const struct target *t, enum write_verb kind,
                                 struct write_options *ret_options, struct field_errors *errs, struct err *e)
{
    static const char *const names[] = { "CreateOptions" META, "UpdateOptions" META, "PatchOptions" META,
                                         "PatchOptions" META };
    struct field_path force = field_child(NULL, "force"), manager = field_child(NULL, "fieldManager");
    struct write_options o = { .field_manager = target_get(t, "fieldManager"), .force = read_maybe(t, "force") };
    if (kind == WRITE_APPLY && o.field_manager.n == 0)
        field_required(errs, &manager, STR("is required for apply patch"));
    if (kind == WRITE_PATCH && o.force)
        field_forbidden(errs, &force, STR("may not be specified for non-apply patch"));
    check_manager(o.field_manager, errs);
    size_t n;
    const struct str *dry_run = all_values(a, t, "dryRun", &n);
    o.dry_run = check_dry_run(dry_run, n, errs);
    o.field_validation = check_validation(target_get(t, "fieldValidation"), errs);
    if (errs->n)
        return status_invalid(names[kind], "", errs, e);
    *ret_options = o;
    return ERR_OK;
}

/* ---- Deletions ---- */

static enum err_code delete_of_query(const struct target *t, struct delete_options *o, struct err *e)
{
    o->orphan_dependents = read_maybe(t, "orphanDependents");
    o->propagation_policy = target_get(t, "propagationPolicy");
    return read_maybe_int(t, "gracePeriodSeconds", &o->has_grace_period, &o->grace_period_seconds, e);
}

/* Given and empty is not the same as not given. */
static struct str given_text(const struct value *v)
{
    struct str text = value_text(v);
    return v->kind == VALUE_STRING && !text.p ? STR("") : text;
}

static void delete_of_value(const struct type *t, const struct value *v, struct delete_options *o)
{
    const struct value *grace = value_path(t, v, "gracePeriodSeconds"), *orphan = value_path(t, v, "orphanDependents");
    o->has_grace_period = grace->kind == VALUE_INT;
    o->grace_period_seconds = o->has_grace_period ? grace->i : 0;
    if (orphan->kind == VALUE_BOOL)
        o->orphan_dependents = orphan->b ? MAYBE_TRUE : MAYBE_FALSE;
    o->propagation_policy = given_text(value_path(t, v, "propagationPolicy"));
    o->uid = given_text(value_path(t, v, "preconditions.uid"));
    o->resource_version = given_text(value_path(t, v, "preconditions.resourceVersion"));
}

/* Every group and version has DeleteOptions, all the same, so that only the kind counts. */
static enum err_code check_delete_kind(struct str api_version, struct str kind, struct err *e)
{
    if (kind.n == 0 || str_is(kind, "DeleteOptions"))
        return ERR_OK;
    kind = err_shown(e, kind);
    api_version = api_version.n ? err_shown(e, api_version) : STR("v1");
    return err_set(e, ERR_BAD_REQUEST, "no kind \"%.*s\" is registered for version \"%.*s\" in scheme "
                   "\"pkg/runtime/scheme.go:111\"", STR_ARG(kind), STR_ARG(api_version));
}

static enum err_code delete_of_proto(struct arena *a, struct work *work, const struct type *t, struct str body,
                                     struct value *ret_value, struct err *e)
{
    struct proto_envelope envelope;
    if (proto_open(body, &envelope, e) || check_delete_kind(envelope.api_version, envelope.kind, e))
        return e->code;
    return proto_decode(a, work, t, envelope.raw, ret_value, e);
}

static enum err_code delete_of_body(struct arena *a, enum media m, struct str body, const struct type *t,
                                    struct value *ret_value, struct err *e)
{
    struct work work = work_init(REQUEST_BYTES_MAX);
    struct str api_version, kind;
    if (m == MEDIA_PROTOBUF)
        return delete_of_proto(a, &work, t, body, ret_value, e);
    if (m == MEDIA_YAML && yaml_to_json(a, &work, body, NULL, &body, e))
        return e->code;
    if (type_meta_read(a, body, &api_version, &kind, e) || check_delete_kind(api_version, kind, e))
        return e->code;
    return json_decode(a, &work, t, body, NULL, ret_value, e);
}

static void check_propagation(const struct delete_options *o, struct field_errors *errs)
{
    static const char *const allowed[] = { "Foreground", "Background", "Orphan", "nil" };
    struct field_path at = field_child(NULL, "propagationPolicy");
    if (!o->propagation_policy.p)
        return;
    if (o->orphan_dependents)
        field_invalid(errs, &at, field_enum(o->propagation_policy),
                      STR("orphanDependents and deletionPropagation cannot be both set"));
    for (size_t i = 0; i < 3; i++)
        if (str_is(o->propagation_policy, allowed[i]))
            return;
    field_not_supported(errs, &at, field_enum(o->propagation_policy), allowed, 4);
}

enum err_code options_read_delete(struct arena *a, const struct target *t, enum media m, struct str body,
                                  struct delete_options *ret_options, struct field_errors *errs, struct err *e)
{
    struct delete_options o = { 0 };
    const struct str *dry_run = NULL;
    size_t n = 0;
    if (body.n) {
        const struct type *type = schema_type(STR("meta/v1.DeleteOptions"));
        struct value value;
        if (delete_of_body(a, m, body, type, &value, e))
            return e->code == ERR_TOO_LARGE ? e->code : (e->code = ERR_BAD_REQUEST);
        delete_of_value(type, &value, &o);
        const struct value *list = value_path(type, &value, "dryRun");
        n = list->kind == VALUE_LIST ? list->n : 0;
        struct str *texts = ARENA_NEW_N(a, struct str, n);
        for (size_t i = 0; i < n; i++)
            texts[i] = value_text(&list->items[i]);
        dry_run = texts;
    } else {
        if (delete_of_query(t, &o, e))
            return e->code;
        dry_run = all_values(a, t, "dryRun", &n);
    }
    check_propagation(&o, errs);
    o.dry_run = check_dry_run(dry_run, n, errs);
    if (errs->n)
        return status_invalid("DeleteOptions" META, "", errs, e);
    *ret_options = o;
    return ERR_OK;
}

enum err_code options_read_timeout(const struct target *t, int64_t *ret_ns, struct err *e)
{
    struct str text = target_get(t, "timeout");
    *ret_ns = 0;
    if (text.n && duration_parse(text, ret_ns, e))
        return err_set(e, ERR_BAD_REQUEST, "invalid timeout specified in the request URL - %s", e->message);
    return ERR_OK;
}
