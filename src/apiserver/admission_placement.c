/* PodNodeSelector, DefaultTolerationSeconds, PodTolerationRestriction, ExtendedResourceToleration: what is added to
 * where a pod may run, and what its namespace allows of it. */
#include "api/admit.h"
#include "api/names.h"
#include "api/pod_sums.h"
#include "apiserver/admission_priv.h"
#include "codec/json.h"

static const struct value *home_annotation(const struct admission_request *r, const char *key, enum err_code *ret_code,
                                           struct err *e)
{
    const struct value *home = req_find(r, "namespaces", "", STR(""), r->namespace);
    *ret_code = home ? ERR_OK : req_not_found("namespaces", r->namespace, e);
    return home ? meta_annotation(schema_type(STR("core/v1.Namespace")), home, key) : NULL;
}

/* ---- PodNodeSelector ---- */

static struct str trimmed(struct str s)
{
    while (s.n && strchr(" \t\n\v\f\r", s.p[0]))
        s = str_from(s, 1);
    while (s.n && strchr(" \t\n\v\f\r", s.p[s.n - 1]))
        s.n--;
    return s;
}

static enum err_code check_name(struct name_errors errors, struct str text, struct err *e)
{
    if (!errors.n)
        return ERR_OK;
    struct strbuf all;
    strbuf_init(&all, ERR_MESSAGE_BYTES_MAX);
    STRBUF_ADD_LIT(&all, "<nil>: Invalid value: "); /* upstream shows a path that is not there */
    strbuf_add_quoted_shown(&all, text);
    for (size_t i = 0; i < errors.n; i++)
        strbuf_printf(&all, "%s%s", i ? "; " : ": ", errors.at[i]);
    enum err_code rc = err_set(e, ERR_UNKNOWN, "%.*s", STR_ARG(strbuf_str(&all)));
    strbuf_fini(&all);
    return rc;
}

/* One "key=value" of a list with commas. */
static enum err_code read_pair(struct str pair, struct member *ret_member, struct err *e)
{
    size_t equals = str_index(pair, '=');
    struct str rest = str_from(pair, equals + 1);
    if (equals == pair.n || str_index(rest, '=') != rest.n) {
        char *words = arena_cstr(e->arena, pair); /* as Go shows the words of a list: with spaces between */
        for (char *at = words; *at; at++)
            *at = *at == '=' ? ' ' : *at;
        return err_set(e, ERR_UNKNOWN, "invalid selector: [%s]", words);
    }
    struct str key = trimmed(str_first(pair, equals)), value = trimmed(rest);
    if (check_name(name_label_key(key), key, e) || check_name(name_label_value(value), value, e))
        return e->code;
    *ret_member = (struct member){ key, value_string(value) };
    return ERR_OK;
}

/* The namespace's selector as a map; absent when it has none. */
static enum err_code home_selector(const struct admission_request *r, struct value *ret_map, struct err *e)
{
    enum err_code rc;
    const struct value *text = home_annotation(r, "scheduler.alpha.kubernetes.io/node-selector", &rc, e);
    *ret_map = (struct value){ 0 };
    if (rc || !text || !text->n)
        return rc;
    struct str left = value_text(text);
    uint32_t n = 1, at = 0;
    for (size_t i = 0; i < left.n; i++)
        n += left.p[i] == ',';
    struct member *members = ARENA_NEW_N(r->arena, struct member, n);
    for (; at < n; at++) {
        size_t comma = str_index(left, ',');
        if (read_pair(str_first(left, comma), &members[at], e))
            return e->code;
        left = str_from(left, comma + 1);
    }
    *ret_map = value_map(members, value_sort_members(members, n));
    return ERR_OK;
}

static enum err_code check_selector(const struct admission_request *r, const struct value *home, struct err *e)
{
    for (uint32_t i = 0; home->kind == VALUE_MAP && i < home->n; i++) {
        const struct value *own = value_member(req_at(r, "spec.nodeSelector"), home->members[i].key);
        if (own && !value_equal(own, &home->members[i].value))
            return err_set(e, ERR_FORBIDDEN,
                           "pod node label selector conflicts with its namespace node label selector");
    }
    return ERR_OK;
}

enum err_code pod_node_selector_validate(struct admission_request *r, struct err *e)
{
    struct value home;
    if (!req_is_whole(r, "pods", ""))
        return ERR_OK;
    return home_selector(r, &home, e) ? e->code : check_selector(r, &home, e);
}

/* Both maps in one. */
static struct value joined(struct arena *a, const struct value *first, const struct value *second)
{
    uint32_t n = first->kind == VALUE_MAP ? first->n : 0;
    struct member *members = ARENA_NEW_N(a, struct member, n + second->n);
    if (n)
        memcpy(members, first->members, n * sizeof(*members));
    memcpy(members + n, second->members, second->n * sizeof(*members));
    return value_map(members, value_sort_members(members, n + second->n));
}

enum err_code pod_node_selector_admit(struct admission_request *r, struct err *e)
{
    struct value home;
    if (!req_is_whole(r, "pods", ""))
        return ERR_OK;
    if (home_selector(r, &home, e) || check_selector(r, &home, e))
        return e->code;
    if (home.kind == VALUE_MAP)
        req_set(r, "spec.nodeSelector", joined(r->arena, req_at(r, "spec.nodeSelector"), &home));
    return ERR_OK;
}

/* ---- DefaultTolerationSeconds ---- */

enum err_code default_tolerations(struct admission_request *r, struct err *e)
{
    (void)e;
    if (req_is_whole(r, "pods", ""))
        r->object = admit_tolerations(r->arena, &r->object);
    return ERR_OK;
}

static struct value toleration_of(struct arena *a, struct str key)
{
    const struct type *t = schema_type(STR("core/v1.Toleration"));
    struct value v = value_struct(a, t);
    v = edit_set(a, t, &v, "key", value_string(key));
    v = edit_set(a, t, &v, "operator", edit_text("Exists"));
    return edit_set(a, t, &v, "effect", edit_text("NoSchedule"));
}

/* ---- PodTolerationRestriction ---- */

/* The list in an annotation of the namespace, which is JSON; absent when there is none. */
static enum err_code home_tolerations(const struct admission_request *r, const char *key, struct value *ret_list,
                                      struct err *e)
{
    enum err_code rc;
    const struct value *text = home_annotation(r, key, &rc, e);
    *ret_list = (struct value){ 0 };
    if (rc || !text || !text->n)
        return rc;
    const struct type *t = schema_type(STR("core/v1.PodSpec"));
    const char *json = arena_printf(r->arena, "{\"tolerations\":%.*s}", STR_ARG(value_text(text)));
    struct value spec;
    struct work work = work_init(strlen(json));
    if (json_decode(r->arena, &work, t, str_of(json), NULL, &spec, e))
        return e->code = ERR_UNKNOWN;
    *ret_list = *value_path(t, &spec, "tolerations");
    return ERR_OK;
}

enum err_code toleration_restriction_validate(struct admission_request *r, struct err *e)
{
    struct value allowed;
    const struct value *own = req_at(r, "spec.tolerations");
    if (!req_is_whole(r, "pods", "") || own->kind != VALUE_LIST)
        return ERR_OK;
    if (home_tolerations(r, "scheduler.alpha.kubernetes.io/tolerationsWhitelist", &allowed, e))
        return e->code;
    EACH_ITEM(toleration, own) {
        bool fits = allowed.kind != VALUE_LIST || !allowed.n;
        for (uint32_t i = 0; !fits && i < allowed.n; i++)
            fits = toleration_covers(&allowed.items[i], toleration);
        if (!fits)
            return err_set(e, ERR_UNKNOWN,
                           "pod tolerations (possibly merged with namespace default tolerations) conflict with "
                                           "its namespace whitelist");
    }
    return ERR_OK;
}

enum err_code toleration_restriction_admit(struct admission_request *r, struct err *e)
{
    static const char key[] = "scheduler.alpha.kubernetes.io/defaultTolerations";
    struct value extra = { 0 };
    if (!req_is_whole(r, "pods", ""))
        return ERR_OK;
    if (r->operation == ADMIT_CREATE && home_tolerations(r, key, &extra, e))
        return e->code;
    if (!pod_is_best_effort(r->arena, &r->object))
        extra = edit_append(r->arena, &extra, toleration_of(r->arena, STR("node.kubernetes.io/memory-pressure")));
    if (extra.kind == VALUE_LIST && extra.n)
        req_set(r, "spec.tolerations", tolerations_merge(r->arena, req_at(r, "spec.tolerations"), &extra));
    return toleration_restriction_validate(r, e);
}

/* ---- ExtendedResourceToleration ---- */

static bool contains(struct str s, struct str part)
{
    return s.n >= part.n && memmem(s.p, s.n, part.p, part.n);
}

static bool is_extended(struct arena *a, struct str name)
{
    if (str_index(name, '/') == name.n || contains(name, STR("kubernetes.io/")) || str_starts(name, STR("requests.")))
        return false;
    return name_label_key(str_of(arena_printf(a, "requests.%.*s", STR_ARG(name)))).n == 0;
}

static struct text_list extended_resources(const struct admission_request *r)
{
    struct text_list names = { r->arena };
    const struct container *all;
    size_t n = spec_containers(r->arena, req_at(r, "spec"), &all);
    for (size_t i = 0; i < n; i++) {
        const struct value *requests = value_path(all[i].type, all[i].value, "resources.requests");
        bool counts = strcmp(all[i].list, "ephemeralContainers") != 0 && requests->kind == VALUE_MAP;
        for (uint32_t k = 0; counts && k < requests->n; k++)
            if (is_extended(r->arena, requests->members[k].key))
                text_list_add(&names, requests->members[k].key);
    }
    text_list_sort(&names);
    return names;
}

/* Whether it is the toleration that the resource gets, however long it lasts. */
static bool is_for_resource(const struct value *toleration, const struct text_list *names)
{
    const struct type *t = schema_type(STR("core/v1.Toleration"));
    return str_is(value_text(value_path(t, toleration, "operator")), "Exists") &&
           str_is(value_text(value_path(t, toleration, "effect")), "NoSchedule") &&
           !value_text(value_path(t, toleration, "value")).n &&
           text_list_has(names, value_text(value_path(t, toleration, "key")));
}

enum err_code extended_resource_toleration(struct admission_request *r, struct err *e)
{
    (void)e;
    if (!req_is_whole(r, "pods", ""))
        return ERR_OK;
    struct text_list names = extended_resources(r), there = { r->arena };
    const struct value *own = req_at(r, "spec.tolerations");
    uint32_t n = 0, n_own = own->kind == VALUE_LIST ? own->n : 0;
    if (!names.n)
        return ERR_OK;
    struct value *all = ARENA_NEW_N(r->arena, struct value, n_own + names.n);
    EACH_ITEM(toleration, own) {
        struct str key = value_text(value_path(schema_type(STR("core/v1.Toleration")), toleration, "key"));
        bool ours = is_for_resource(toleration, &names);
        if (ours)
            text_list_add(&there, key);
        all[n++] = ours ? toleration_of(r->arena, key) : *toleration;
    }
    text_list_sort(&there);
    for (size_t i = 0; i < names.n; i++)
        if (!text_list_has(&there, names.at[i]))
            all[n++] = toleration_of(r->arena, names.at[i]);
    req_set(r, "spec.tolerations", value_list(all, n));
    return ERR_OK;
}
