/* PodSecurity: pods are held against what their namespace says in its labels (pod_security.h). What it enforces is
 * refused; what it warns of is told, for templates of workloads too, and for pods that are there already when it
 * enforces more.
 *
 * There is no audit log that violations could be noted in. */
#include "apiserver/admission_priv.h"
#include "apiserver/pod_security.h"
#include "apiserver/status_object.h"
#include "base/sort.h"

/* How many pods are looked at when a namespace enforces more. */
enum { SECURITY_PODS_CHECKED_MAX = 3000 };

static struct security_policies policies_of(const struct value *labels, struct field_errors *errs, struct arena *a)
{
    field_errors_init(errs, a);
    return security_policies_read(labels, errs);
}

/* ---- Namespaces ---- */

struct violation {
    struct str reasons, pod;
};

static int by_reasons(const void *a, const void *b)
{
    const struct violation *x = a, *y = b;
    int order = str_cmp(x->reasons, y->reasons);
    return order ? order : str_cmp(x->pod, y->pod);
}

/* "a (and 2 other pods): privileged", one for each set of reasons. */
static void warn_of(struct admission_request *r, struct violation *v, size_t n)
{
    struct text_list lines = { r->arena };
    sort_stable(r->arena, v, n, sizeof(*v), by_reasons);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && str_eq(v[end].reasons, v[i].reasons); end++)
            ;
        size_t others = end - i - 1;
        const char *more = others == 0 ? "" : others == 1 ? " (and 1 other pod)"
                                                           : arena_printf(r->arena, " (and %zu other pods)", others);
        text_list_add(&lines,
                      str_of(arena_printf(r->arena, "%.*s%s: %.*s", STR_ARG(v[i].pod), more, STR_ARG(v[i].reasons))));
    }
    text_list_sort(&lines);
    for (size_t i = 0; i < lines.n; i++)
        warnings_add(r->warnings, "%.*s", STR_ARG(lines.at[i]));
}

static void check_pods(struct admission_request *r, struct str namespace, struct security_policy enforce)
{
    const struct type *t = schema_type(STR("core/v1.Pod"));
    const struct resource *pods = stored_resource("pods", "");
    struct store_range range = { .prefix = stored_prefix(r->arena, pods, namespace),
                                 .limit = SECURITY_PODS_CHECKED_MAX };
    struct store_list list;
    struct err e;
    err_init(&e, r->arena);
    if (store_list(stored_store(r->objects), &range, r->arena, &list, &e))
        return;
    struct violation *found = ARENA_NEW_N(r->arena, struct violation, list.n);
    size_t n = 0;
    for (size_t i = 0; i < list.n; i++) {
        const struct value *pod = stored_value(r->objects, pods, list.items[i]);
        const struct value *meta = value_path(t, pod, "metadata"), *spec = value_path(t, pod, "spec");
        const char *reasons = security_check(r->arena, enforce, meta, spec).reasons;
        if (*reasons)
            found[n++] = (struct violation){ str_of(reasons), value_text(value_path(t, pod, "metadata.name")) };
    }
    if (list.n_left)
        warnings_add(r->warnings,
                     "new PodSecurity enforce level only checked against the first %zu of %zu existing pods", list.n,
                     list.n + list.n_left);
    if (n)
        warnings_add(r->warnings,
                     "existing pods in namespace \"%.*s\" violate the new PodSecurity enforce level \"%s\"",
                     STR_ARG(namespace), security_policy_text(r->arena, enforce));
    warn_of(r, found, n);
}

static bool enforces_more(struct security_policy new, struct security_policy old)
{
    if (new.level == SECURITY_PRIVILEGED)
        return false;
    return new.minor != old.minor || new.level > old.level;
}

static enum err_code validate_namespace(struct admission_request *r, struct err *e)
{
    struct field_errors *errs = ARENA_NEW(r->arena, struct field_errors), old_errs;
    if (r->subresource.n || r->operation == ADMIT_DELETE)
        return ERR_OK;
    struct security_policies new = policies_of(req_at(r, "metadata.labels"), errs, r->arena);
    struct security_policies old = policies_of(req_old(r, "metadata.labels"), &old_errs, r->arena);
    struct str text = field_errors_text(r->arena, errs);
    struct str name = req_shown_name(r);
    if (errs->n && !(r->operation == ADMIT_UPDATE && str_eq(text, field_errors_text(r->arena, &old_errs)))) {
        r->errors = errs;
        return status_invalid("Namespace", arena_cstr(r->arena, name), errs, e);
    }
    if (r->operation == ADMIT_UPDATE && enforces_more(new.enforce, old.enforce))
        check_pods(r, name, new.enforce);
    return ERR_OK;
}

/* ---- Pods and templates ---- */

/* Changes that the checks cannot see are let through, also where the policy has become stricter. */
static bool same_images(const struct admission_request *r, const char *list)
{
    const struct type *t = schema_type(STR("core/v1.Container"));
    const struct value *new = req_at(r, list), *old = req_old(r, list);
    uint32_t n = new->kind == VALUE_LIST ? new->n : 0;
    if (n != (old->kind == VALUE_LIST ? old->n : 0))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!value_equal(value_path(t, &new->items[i], "image"), value_path(t, &old->items[i], "image")))
            return false;
    return true;
}

/* Name and image in one text. */
static struct str ephemeral_image(struct arena *a, const struct value *container)
{
    const struct type *t = schema_type(STR("core/v1.EphemeralContainer"));
    return str_of(arena_printf(a, "%.*s\n%.*s", STR_ARG(value_text(value_path(t, container, "name"))),
                               STR_ARG(value_text(value_path(t, container, "image")))));
}

static bool same_ephemeral_images(const struct admission_request *r)
{
    struct text_list before = { r->arena };
    EACH_ITEM(c, req_old(r, "spec.ephemeralContainers"))
        text_list_add(&before, ephemeral_image(r->arena, c));
    text_list_sort(&before);
    EACH_ITEM(c, req_at(r, "spec.ephemeralContainers"))
        if (!text_list_has(&before, ephemeral_image(r->arena, c)))
            return false;
    return true;
}

static bool is_significant(const struct admission_request *r)
{
    return r->operation != ADMIT_UPDATE || !same_images(r, "spec.containers") ||
           !same_images(r, "spec.initContainers") || !same_ephemeral_images(r);
}

/* Where a resource has its pod, or what pods are made of. */
static const struct pod_place {
    const char *plural, *group, *path; /* of an object with metadata and spec; "": the object itself */
} places[] = {
    { "pods", "", "" },
    { "podtemplates", "", "template" },
    { "replicationcontrollers", "", "spec.template" },
    { "replicasets", "apps", "spec.template" },
    { "deployments", "apps", "spec.template" },
    { "statefulsets", "apps", "spec.template" },
    { "daemonsets", "apps", "spec.template" },
    { "jobs", "batch", "spec.template" },
    { "cronjobs", "batch", "spec.jobTemplate.spec.template" },
};

static const struct pod_place *place_of(const struct admission_request *r)
{
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (req_is(r, places[i].plural, places[i].group))
            return &places[i];
    return NULL;
}

/* Subresources of pods that do not change what runs. */
static bool is_harmless_sub(struct str subresource)
{
    static const char *const names[] = { "exec", "attach", "binding", "eviction", "log", "portforward", "proxy",
                                         "status" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (str_is(subresource, names[i]))
            return true;
    return false;
}

static enum err_code check_pod(struct admission_request *r, const struct security_policies *p, const char *path,
                               struct err *e)
{
    bool enforce = !*path;
    const struct value *meta = req_at(r, enforce ? "metadata" : arena_printf(r->arena, "%s.metadata", path));
    const struct value *spec = req_at(r, enforce ? "spec" : arena_printf(r->arena, "%s.spec", path));
    if (!enforce && req_at(r, path)->kind == VALUE_ABSENT)
        return ERR_OK;
    if (enforce) {
        const char *wrong = security_check(r->arena, p->enforce, meta, spec).details;
        if (*wrong)
            return err_set(e, ERR_FORBIDDEN, "violates PodSecurity \"%s\": %s",
                           security_policy_text(r->arena, p->enforce), wrong);
        if (p->enforce.level == p->warn.level && p->enforce.minor == p->warn.minor)
            return ERR_OK;
    }
    const char *wrong = security_check(r->arena, p->warn, meta, spec).details;
    if (*wrong)
        warnings_add(r->warnings, "would violate PodSecurity \"%s\": %s", security_policy_text(r->arena, p->warn),
                     wrong);
    return ERR_OK;
}

enum err_code pod_security(struct admission_request *r, struct err *e)
{
    if (req_is(r, "namespaces", ""))
        return validate_namespace(r, e);
    const struct pod_place *place = place_of(r);
    bool is_pod = place && !*place->path;
    if (!place || (is_pod ? is_harmless_sub(r->subresource) : r->subresource.n > 0))
        return ERR_OK;
    const struct value *home = req_find(r, "namespaces", "", STR(""), r->namespace);
    if (!home)
        return is_pod ? err_set(e, ERR_INTERNAL, "Internal error occurred: failed to lookup namespace \"%.*s\"",
                                STR_ARG(r->namespace))
                      : ERR_OK;
    struct field_errors errs;
    const struct value *labels = value_path(schema_type(STR("core/v1.Namespace")), home, "metadata.labels");
    struct security_policies p = policies_of(labels, &errs, r->arena);
    return !is_pod || is_significant(r) ? check_pod(r, &p, place->path, e) : ERR_OK;
}
