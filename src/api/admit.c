/* api/admit.c - see admit.h. */
#include "api/admit.h"

#include "api/edit.h"
#include "api/pod_sums.h"
#include "api/quantity.h"
#include "base/strbuf.h"

static const struct type *pod_type(void)
{
    return schema_type(STR("core/v1.Pod"));
}

static const struct value *at(const struct value *pod, const char *path)
{
    return value_path(pod_type(), pod, path);
}

static void set(struct arena *a, struct value *pod, const char *path, struct value to)
{
    *pod = edit_set(a, pod_type(), pod, path, to);
}

/* ---- Priority ---- */

static const struct {
    const char *name;
    int32_t value;
} system_classes[] = {
    { "system-cluster-critical", 2000000000 },
    { "system-node-critical", 2000001000 },
};

static bool system_priority(struct str name, int64_t *ret_priority)
{
    for (size_t i = 0; i < sizeof(system_classes) / sizeof(system_classes[0]); i++)
        if (str_is(name, system_classes[i].name)) {
            *ret_priority = system_classes[i].value;
            return true;
        }
    return false;
}

enum err_code admit_priority(struct arena *a, const struct value *pod, const struct value *class, struct value *ret_pod,
                             struct err *e)
{
    const struct type *t = schema_type(STR("scheduling.k8s.io/v1.PriorityClass"));
    struct str name = value_text(at(pod, "spec.priorityClassName"));
    int64_t priority = 0;
    struct value policy = edit_text("PreemptLowerPriority");
    if (class) {
        priority = value_path(t, class, "value")->i;
        if (value_text(value_path(t, class, "preemptionPolicy")).n)
            policy = *value_path(t, class, "preemptionPolicy");
        name = value_text(value_path(t, class, "metadata.name"));
    } else if (name.n && !system_priority(name, &priority)) {
        return err_set(e, ERR_FORBIDDEN, "no PriorityClass with name %.*s was found", STR_ARG(name));
    }
    const struct value *given = at(pod, "spec.priority");
    if (given->kind == VALUE_INT && given->i != priority)
        return err_set(e, ERR_FORBIDDEN,
                       "the integer value of priority (%lld) must not be provided in pod spec; priority admission "
                       "controller computed %lld from the given PriorityClass name",
                       (long long)given->i, (long long)priority);
    const struct value *own = at(pod, "spec.preemptionPolicy");
    if (own->kind == VALUE_STRING && !value_equal(own, &policy))
        return err_set(e, ERR_FORBIDDEN,
                       "the string value of PreemptionPolicy (%.*s) must not be provided in pod spec; priority "
                       "admission controller computed %.*s from the given PriorityClass name",
                       STR_ARG(value_text(own)), STR_ARG(value_text(&policy)));
    *ret_pod = *pod;
    set(a, ret_pod, "spec.priority", value_int(priority));
    if (name.n)
        set(a, ret_pod, "spec.priorityClassName", value_string(name));
    set(a, ret_pod, "spec.preemptionPolicy", policy);
    return ERR_OK;
}

/* ---- Tolerations ---- */

/* Whether one of the pod's covers the key's NoExecute taint, or all keys. */
static bool covers(const struct value *tolerations, const char *key)
{
    const struct type *t = schema_type(STR("core/v1.Toleration"));
    for (uint32_t i = 0; tolerations->kind == VALUE_LIST && i < tolerations->n; i++) {
        struct str have = value_text(value_path(t, &tolerations->items[i], "key"));
        struct str effect = value_text(value_path(t, &tolerations->items[i], "effect"));
        if ((!have.n || str_is(have, key)) && (!effect.n || str_is(effect, "NoExecute")))
            return true;
    }
    return false;
}

struct value admit_tolerations(struct arena *a, const struct value *pod)
{
    static const char *const keys[] = { "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable" };
    const struct type *t = schema_type(STR("core/v1.Toleration"));
    struct value changed = *pod;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct value *all = at(&changed, "spec.tolerations");
        if (covers(all, keys[i]))
            continue;
        struct value one = value_struct(a, t);
        one = edit_set(a, t, &one, "key", edit_text(keys[i]));
        one = edit_set(a, t, &one, "operator", edit_text("Exists"));
        one = edit_set(a, t, &one, "effect", edit_text("NoExecute"));
        one = edit_set(a, t, &one, "tolerationSeconds", value_int(300));
        set(a, &changed, "spec.tolerations", edit_append(a, all, one));
    }
    return changed;
}

/* ---- RuntimeClass ---- */

static enum err_code set_overhead(struct arena *a, struct value *pod, const struct value *fixed, struct err *e)
{
    const struct value *own = at(pod, "spec.overhead");
    bool has = own->kind == VALUE_MAP && own->n;
    if (fixed->kind != VALUE_MAP)
        return has ? err_set(e, ERR_FORBIDDEN,
                             "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
                   : ERR_OK;
    if (has && !value_equal(own, fixed))
        return err_set(e, ERR_FORBIDDEN, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
    set(a, pod, "spec.overhead", *fixed);
    return ERR_OK;
}

static enum err_code add_selector(struct arena *a, struct value *pod, const struct value *more, struct err *e)
{
    struct value all = *at(pod, "spec.nodeSelector");
    for (uint32_t i = 0; more->kind == VALUE_MAP && i < more->n; i++) {
        struct str key = more->members[i].key;
        const struct value *own = all.kind == VALUE_MAP ? value_member(&all, key) : NULL;
        if (own && !value_equal(own, &more->members[i].value))
            return err_set(e, ERR_FORBIDDEN,
                           "conflict: runtimeClass.scheduling.nodeSelector[%.*s] = %.*s; "
                           "pod.spec.nodeSelector[%.*s] = %.*s",
                           STR_ARG(key), STR_ARG(value_text(&more->members[i].value)), STR_ARG(key),
                           STR_ARG(value_text(own)));
        all = edit_member(a, &all, key, more->members[i].value);
    }
    if (all.kind == VALUE_MAP)
        set(a, pod, "spec.nodeSelector", all);
    return ERR_OK;
}

static void add_tolerations(struct arena *a, struct value *pod, const struct value *more)
{
    for (uint32_t i = 0; more->kind == VALUE_LIST && i < more->n; i++) {
        const struct value *own = at(pod, "spec.tolerations");
        bool has = false;
        for (uint32_t k = 0; own->kind == VALUE_LIST && k < own->n; k++)
            has |= value_equal(&own->items[k], &more->items[i]);
        if (!has)
            set(a, pod, "spec.tolerations", edit_append(a, own, more->items[i]));
    }
}

enum err_code admit_runtime_class(struct arena *a, const struct value *pod, const struct value *class,
                                  struct value *ret_pod, struct err *e)
{
    struct str name = value_text(at(pod, "spec.runtimeClassName"));
    if (!class)
        return err_set(e, ERR_FORBIDDEN, "pod rejected: RuntimeClass \"%.*s\" not found", STR_ARG(name));
    const struct type *t = schema_type(STR("node.k8s.io/v1.RuntimeClass"));
    struct value changed = *pod;
    if (set_overhead(a, &changed, value_path(t, class, "overhead.podFixed"), e) ||
        add_selector(a, &changed, value_path(t, class, "scheduling.nodeSelector"), e))
        return e->code;
    add_tolerations(a, &changed, value_path(t, class, "scheduling.tolerations"));
    *ret_pod = changed;
    return ERR_OK;
}

/* ---- LimitRanges: what is filled in ---- */

static const struct type *item_type(void)
{
    return schema_type(STR("core/v1.LimitRangeItem"));
}

static const struct value *items_of(const struct value *range)
{
    return value_path(schema_type(STR("core/v1.LimitRange")), range, "spec.limits");
}

static bool is_for(const struct value *item, const char *type)
{
    return str_is(value_text(value_path(item_type(), item, "type")), type);
}

/* Adds to `note` what was filled in: "cpu, memory". Returns how much that was. */
static uint32_t fill_from(struct arena *a, struct value *own, const struct value *given, struct strbuf *note)
{
    uint32_t n = 0;
    for (uint32_t i = 0; given->kind == VALUE_MAP && i < given->n; i++) {
        struct str key = given->members[i].key;
        if (own->kind == VALUE_MAP && value_member(own, key))
            continue;
        *own = edit_member(a, own, key, given->members[i].value);
        strbuf_printf(note, "%s%.*s", n++ ? ", " : note->n ? "; " : "", STR_ARG(key));
    }
    return n;
}

/* Appends what was done to `note`: "cpu request for container c; cpu limit for container c". */
static struct value fill_container(struct arena *a, const struct value *container, const struct value *item,
                                   const char *sort, struct strbuf *note)
{
    static const struct {
        const char *path, *from, *word;
    } parts[] = { { "resources.requests", "defaultRequest", "request" }, { "resources.limits", "default", "limit" } };
    const struct type *t = schema_type(STR("core/v1.Container"));
    struct value changed = *container;
    for (size_t i = 0; i < 2; i++) {
        struct value filled = *value_path(t, &changed, parts[i].path);
        if (!fill_from(a, &filled, value_path(item_type(), item, parts[i].from), note))
            continue;
        changed = edit_set(a, t, &changed, parts[i].path, filled);
        strbuf_printf(note, " %s for %s %.*s", parts[i].word, sort,
                      STR_ARG(value_text(value_path(t, container, "name"))));
    }
    return changed;
}

static void fill_containers(struct arena *a, struct value *pod, const char *path, const struct value *item,
                            const char *sort, struct strbuf *note)
{
    const struct value *list = at(pod, path);
    if (list->kind != VALUE_LIST)
        return;
    struct value *items = ARENA_NEW_N(a, struct value, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        items[i] = fill_container(a, &list->items[i], item, sort, note);
    set(a, pod, path, value_list(items, list->n));
}

struct value admit_limit_defaults(struct arena *a, const struct value *pod, const struct value *range)
{
    const struct value *items = items_of(range);
    struct value changed = *pod;
    struct strbuf note;
    strbuf_init(&note, STRBUF_NO_MAX);
    for (uint32_t i = 0; items->kind == VALUE_LIST && i < items->n; i++) {
        if (!is_for(&items->items[i], "Container"))
            continue;
        fill_containers(a, &changed, "spec.containers", &items->items[i], "container", &note);
        fill_containers(a, &changed, "spec.initContainers", &items->items[i], "init container", &note);
    }
    if (note.n) {
        const char *text = arena_printf(a, "LimitRanger plugin set: %.*s", STR_ARG(strbuf_str(&note)));
        set(a, &changed, "metadata.annotations",
            edit_member(a, at(&changed, "metadata.annotations"), STR("kubernetes.io/limit-ranger"), edit_text(text)));
    }
    strbuf_fini(&note);
    return changed;
}

/* ---- LimitRanges: what is refused ---- */

enum { LIMIT_FINDINGS_MAX = 100 }; /* of one range; further ones are not told */

struct findings {
    struct arena *a;
    const char *texts[LIMIT_FINDINGS_MAX];
    unsigned n;
};

/* What was found already, about another container, is told once. */
static void found(struct findings *f, const char *text)
{
    for (unsigned i = 0; i < f->n; i++)
        if (strcmp(f->texts[i], text) == 0)
            return;
    if (f->n < LIMIT_FINDINGS_MAX)
        f->texts[f->n++] = text;
}

static enum err_code findings_error(const struct findings *f, struct err *e)
{
    struct strbuf all;
    strbuf_init(&all, ERR_MESSAGE_BYTES_MAX);
    for (unsigned i = 0; i < f->n; i++)
        strbuf_printf(&all, "%s%s", i ? ", " : "", f->texts[i]);
    const char *format = f->n > 1 ? "[%.*s]" : "%.*s";
    enum err_code rc = f->n ? err_set(e, ERR_FORBIDDEN, format, STR_ARG(strbuf_str(&all))) : ERR_OK;
    strbuf_fini(&all);
    return rc;
}

/* What one container or the whole pod has. */
struct asked {
    const char *sort; /* "Container", "Pod" */
    struct value requests, limits;
};

static bool amount_of(struct arena *a, const struct value *map, struct str key, struct quantity *ret_q)
{
    const struct value *v = map->kind == VALUE_MAP ? value_member(map, key) : NULL;
    struct err ignored;
    err_init(&ignored, a);
    return v && quantity_parse(a, value_text(v), ret_q, &ignored) == ERR_OK;
}

static void check_min(struct findings *f, struct str key, const struct quantity *min, const struct asked *asked)
{
    struct quantity request, limit;
    struct str text = quantity_text(f->a, min);
    const char *begin = arena_printf(f->a, "minimum %.*s usage per %s is %.*s", STR_ARG(key), asked->sort,
                                     STR_ARG(text));
    if (!amount_of(f->a, &asked->requests, key, &request))
        found(f, arena_printf(f->a, "%s.  No request is specified", begin));
    else if (quantity_cmp(&request, min) < 0)
        found(f, arena_printf(f->a, "%s, but request is %.*s", begin, STR_ARG(quantity_text(f->a, &request))));
    else if (amount_of(f->a, &asked->limits, key, &limit) && quantity_cmp(&limit, min) < 0)
        found(f, arena_printf(f->a, "%s, but limit is %.*s", begin, STR_ARG(quantity_text(f->a, &limit))));
}

static void check_max(struct findings *f, struct str key, const struct quantity *max, const struct asked *asked)
{
    struct quantity request, limit;
    struct str text = quantity_text(f->a, max);
    const char *begin = arena_printf(f->a, "maximum %.*s usage per %s is %.*s", STR_ARG(key), asked->sort,
                                     STR_ARG(text));
    if (!amount_of(f->a, &asked->limits, key, &limit))
        found(f, arena_printf(f->a, "%s.  No limit is specified", begin));
    else if (quantity_cmp(&limit, max) > 0)
        found(f, arena_printf(f->a, "%s, but limit is %.*s", begin, STR_ARG(quantity_text(f->a, &limit))));
    else if (amount_of(f->a, &asked->requests, key, &request) && quantity_cmp(&request, max) > 0)
        found(f, arena_printf(f->a, "%s, but request is %.*s", begin, STR_ARG(quantity_text(f->a, &request))));
}

/* Of claims, which have no limits. */
static void check_max_request(struct findings *f, struct str key, const struct quantity *max, const struct asked *asked)
{
    struct quantity request;
    struct str text = quantity_text(f->a, max);
    const char *begin = arena_printf(f->a, "maximum %.*s usage per %s is %.*s", STR_ARG(key), asked->sort,
                                     STR_ARG(text));
    if (!amount_of(f->a, &asked->requests, key, &request))
        found(f, arena_printf(f->a, "%s.  No request is specified", begin));
    else if (quantity_cmp(&request, max) > 0)
        found(f, arena_printf(f->a, "%s, but request is %.*s", begin, STR_ARG(quantity_text(f->a, &request))));
}

static void check_ratio(struct findings *f, struct str key, const struct quantity *most, const struct asked *asked)
{
    struct quantity request, limit;
    struct str text = quantity_text(f->a, most);
    const char *begin = arena_printf(f->a, "%.*s max limit to request ratio per %s is %.*s", STR_ARG(key), asked->sort,
                                     STR_ARG(text));
    if (!amount_of(f->a, &asked->requests, key, &request) || quantity_sign(&request) == 0) {
        found(f, arena_printf(f->a, "%s, but no request is specified or request is 0", begin));
    } else if (!amount_of(f->a, &asked->limits, key, &limit) || quantity_sign(&limit) == 0) {
        found(f, arena_printf(f->a, "%s, but no limit is specified or limit is 0", begin));
    } else {
        double ratio = quantity_as_double(&limit) / quantity_as_double(&request);
        if (ratio > quantity_as_double(most))
            found(f, arena_printf(f->a, "%s, but provided ratio is %f", begin, ratio));
    }
}

typedef void bound_check(struct findings *f, struct str key, const struct quantity *bound, const struct asked *asked);

static void check_bounds(struct findings *f, const struct value *map, bound_check *check, const struct asked *asked)
{
    for (uint32_t k = 0; map->kind == VALUE_MAP && k < map->n; k++) {
        struct quantity bound;
        if (amount_of(f->a, map, map->members[k].key, &bound))
            check(f, map->members[k].key, &bound, asked);
    }
}

static void check_item(struct findings *f, const struct value *item, const struct asked *asked)
{
    check_bounds(f, value_path(item_type(), item, "min"), check_min, asked);
    check_bounds(f, value_path(item_type(), item, "max"), check_max, asked);
    check_bounds(f, value_path(item_type(), item, "maxLimitRequestRatio"), check_ratio, asked);
}

static void check_containers(struct findings *f, const struct value *pod, const char *path, const struct value *item)
{
    const struct type *t = schema_type(STR("core/v1.Container"));
    const struct value *list = at(pod, path);
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        check_item(f, item, &(struct asked){ "Container", *value_path(t, &list->items[i], "resources.requests"),
                                             *value_path(t, &list->items[i], "resources.limits") });
}

/* A range for pods is about what their containers have; overhead does not count. */
static struct asked whole_pod(struct arena *a, const struct value *pod)
{
    struct value bare = *pod;
    set(a, &bare, "spec.overhead", (struct value){ 0 });
    return (struct asked){ "Pod", pod_sum(a, &bare, "requests"), pod_sum(a, &bare, "limits") };
}

enum err_code admit_check_limits(struct arena *a, const struct value *pod, const struct value *range, struct err *e)
{
    struct findings f = { .a = a };
    const struct value *items = items_of(range);
    for (uint32_t i = 0; items->kind == VALUE_LIST && i < items->n; i++) {
        const struct value *item = &items->items[i];
        if (is_for(item, "Container")) {
            check_containers(&f, pod, "spec.containers", item);
            check_containers(&f, pod, "spec.initContainers", item);
        } else if (is_for(item, "Pod")) {
            struct asked asked = whole_pod(a, pod);
            check_item(&f, item, &asked);
        }
    }
    return findings_error(&f, e);
}

enum err_code admit_check_claim_limits(struct arena *a, const struct value *claim, const struct value *range,
                                       struct err *e)
{
    struct findings f = { .a = a };
    const struct type *t = schema_type(STR("core/v1.PersistentVolumeClaim"));
    struct asked asked = { "PersistentVolumeClaim", *value_path(t, claim, "spec.resources.requests"), { 0 } };
    const struct value *items = items_of(range);
    for (uint32_t i = 0; items->kind == VALUE_LIST && i < items->n; i++)
        if (is_for(&items->items[i], "PersistentVolumeClaim")) {
            check_bounds(&f, value_path(item_type(), &items->items[i], "min"), check_min, &asked);
            check_bounds(&f, value_path(item_type(), &items->items[i], "max"), check_max_request, &asked);
        }
    return findings_error(&f, e);
}

enum err_code admit_limit_ranges(struct arena *a, const struct value *pod, const struct value *const *ranges, size_t n,
                                 struct value *ret_pod, struct err *e)
{
    struct value changed = *pod;
    for (size_t i = 0; i < n; i++)
        changed = admit_limit_defaults(a, &changed, ranges[i]);
    for (size_t i = 0; i < n; i++)
        if (admit_check_limits(a, &changed, ranges[i], e))
            return e->code;
    *ret_pod = changed;
    return ERR_OK;
}
