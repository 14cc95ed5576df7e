/* apiserver/admission_tools.c - see admission_priv.h. */
#include "apiserver/admission_priv.h"

#include <stdlib.h>

#include "base/sort.h"

/* ---- The request ---- */

bool req_is(const struct admission_request *r, const char *plural, const char *group)
{
    return str_is(r->resource->plural, plural) && str_is(r->resource->group, group);
}

bool req_is_whole(const struct admission_request *r, const char *plural, const char *group)
{
    return !r->subresource.n && req_is(r, plural, group);
}

bool req_is_sub(const struct admission_request *r, const char *plural, const char *group, const char *subresource)
{
    return str_is(r->subresource, subresource) && req_is(r, plural, group);
}

const struct value *req_at(const struct admission_request *r, const char *path)
{
    return value_path(r->type, &r->object, path);
}

const struct value *req_old(const struct admission_request *r, const char *path)
{
    static const struct value absent;
    return r->old ? value_path(r->type, r->old, path) : &absent;
}

struct str req_text(const struct admission_request *r, const char *path)
{
    return value_text(req_at(r, path));
}

void req_set(struct admission_request *r, const char *path, struct value to)
{
    r->object = edit_set(r->arena, r->type, &r->object, path, to);
}

static const struct value *meta_member(const struct type *t, const struct value *v, const char *map, const char *key)
{
    return value_member(value_path(t, v, map), str_of(key));
}

const struct value *meta_annotation(const struct type *t, const struct value *v, const char *key)
{
    return meta_member(t, v, "metadata.annotations", key);
}

const struct value *meta_label(const struct type *t, const struct value *v, const char *key)
{
    return meta_member(t, v, "metadata.labels", key);
}

const struct value *req_annotation(const struct admission_request *r, const char *key)
{
    return meta_annotation(r->type, &r->object, key);
}

struct str req_shown_name(const struct admission_request *r)
{
    struct str names[] = { r->name, req_text(r, "metadata.name"), req_text(r, "metadata.generateName"),
                           STR("Unknown") };
    size_t i = 0;
    while (!names[i].n)
        i++;
    return names[i];
}

/* ---- What else there is ---- */

const struct value *req_find(const struct admission_request *r, const char *plural, const char *group,
                             struct str namespace, struct str name)
{
    return name.n ? stored_get(r->objects, stored_resource(plural, group), namespace, name) : NULL;
}

enum err_code req_not_found(const char *plural, struct str name, struct err *e)
{
    name = err_shown(e, name);
    e->kind = plural;
    e->name = arena_cstr(e->arena, name);
    return err_set(e, ERR_NOT_FOUND, "%s \"%.*s\" not found", plural, STR_ARG(name));
}

bool user_is_node(const struct user *u, struct str *ret_name)
{
    const struct str prefix = STR("system:node:");
    if (!u || !str_starts(u->name, prefix) || !str_list_has(&u->groups, STR("system:nodes")))
        return false;
    *ret_name = str_from(u->name, prefix.n);
    return true;
}

/* ---- Texts ---- */

void text_list_add(struct text_list *t, struct str text)
{
    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 8;
        struct str *grown = ARENA_NEW_N(t->arena, struct str, cap);
        if (t->n)
            memcpy(grown, t->at, t->n * sizeof(*grown));
        t->at = grown;
        t->cap = cap;
    }
    t->at[t->n++] = text;
}

void text_list_sort(struct text_list *t)
{
    size_t kept = 0;
    sort_stable(t->arena, t->at, t->n, sizeof(*t->at), sort_compare_strs);
    for (size_t i = 0; i < t->n; i++)
        if (!kept || !str_eq(t->at[kept - 1], t->at[i]))
            t->at[kept++] = t->at[i];
    t->n = kept;
}

bool text_list_has(const struct text_list *t, struct str text)
{
    return t->n && bsearch(&text, t->at, t->n, sizeof(*t->at), sort_compare_strs);
}

const char *text_list_join(const struct text_list *t, const char *quote, const char *between)
{
    struct strbuf all;
    strbuf_init(&all, ERR_MESSAGE_BYTES_MAX);
    for (size_t i = 0; i < t->n && !all.overflow; i++)
        strbuf_printf(&all, "%s%s%.*s%s", i ? between : "", quote, STR_ARG(t->at[i]), quote);
    const char *text = arena_cstr(t->arena, strbuf_str(&all));
    strbuf_fini(&all);
    return text;
}

/* ---- Containers ---- */

static size_t add_containers(const struct value *spec, const char *list, struct str type, struct container *to)
{
    const struct value *all = value_path(schema_type(STR("core/v1.PodSpec")), spec, list);
    uint32_t n = all->kind == VALUE_LIST ? all->n : 0;
    for (uint32_t i = 0; to && i < n; i++)
        to[i] = (struct container){ list, i, schema_type(type), &all->items[i] };
    return n;
}

size_t spec_containers(struct arena *a, const struct value *spec, const struct container **ret_containers)
{
    static const struct {
        const char *list, *type;
    } lists[] = { { "initContainers", "core/v1.Container" },
                  { "containers", "core/v1.Container" },
                  { "ephemeralContainers", "core/v1.EphemeralContainer" } };
    size_t n = 0, at = 0;
    for (size_t i = 0; i < 3; i++)
        n += add_containers(spec, lists[i].list, str_of(lists[i].type), NULL);
    struct container *all = ARENA_NEW_N(a, struct container, n);
    for (size_t i = 0; i < 3; i++)
        at += add_containers(spec, lists[i].list, str_of(lists[i].type), all + at);
    *ret_containers = all;
    return n;
}

/* ---- Tolerations ---- */

static struct str of_toleration(const struct value *t, const char *field)
{
    return value_text(value_path(schema_type(STR("core/v1.Toleration")), t, field));
}

static bool seconds_cover(const struct value *wide, const struct value *narrow)
{
    const struct type *t = schema_type(STR("core/v1.Toleration"));
    const struct value *most = value_path(t, wide, "tolerationSeconds"), *own = value_path(t, narrow,
                                                                                           "tolerationSeconds");
    return !str_is(of_toleration(wide, "effect"), "NoExecute") || most->kind != VALUE_INT ||
           (own->kind == VALUE_INT && own->i <= most->i);
}

bool toleration_covers(const struct value *wide, const struct value *narrow)
{
    if (value_equal(wide, narrow))
        return true;
    struct str key = of_toleration(wide, "key"), operator = of_toleration(wide, "operator");
    struct str effect = of_toleration(wide, "effect");
    bool exists = str_is(operator, "Exists");
    if (!str_eq(of_toleration(narrow, "key"), key) && (key.n || !exists))
        return false;
    if (effect.n && !str_eq(of_toleration(narrow, "effect"), effect))
        return false;
    if (!seconds_cover(wide, narrow))
        return false;
    if (!operator.n || str_is(operator, "Equal"))
        return str_is(of_toleration(narrow, "operator"), "Equal") &&
               str_eq(of_toleration(narrow, "value"), of_toleration(wide, "value"));
    return exists;
}

/* Whether one of those that are kept already, or one that comes after and is not the same, covers it. */
static bool is_redundant(const struct value *all, uint32_t n, uint32_t i, const struct value *kept, uint32_t n_kept)
{
    for (uint32_t k = 0; k < n_kept; k++)
        if (toleration_covers(&kept[k], &all[i]))
            return true;
    for (uint32_t k = i + 1; k < n; k++)
        if (!value_equal(&all[k], &all[i]) && toleration_covers(&all[k], &all[i]))
            return true;
    return false;
}

struct value tolerations_merge(struct arena *a, const struct value *first, const struct value *second)
{
    uint32_t n_first = first->kind == VALUE_LIST ? first->n : 0, n_second = second->kind == VALUE_LIST ? second->n : 0;
    if (n_first + n_second == 0)
        return (struct value){ 0 };
    struct value *all = ARENA_NEW_N(a, struct value, n_first + n_second);
    if (n_first)
        memcpy(all, first->items, n_first * sizeof(*all));
    if (n_second)
        memcpy(all + n_first, second->items, n_second * sizeof(*all));
    if (n_first + n_second > TOLERATIONS_MERGED_MAX)
        return value_list(all, n_first + n_second);
    struct value *kept = ARENA_NEW_N(a, struct value, n_first + n_second);
    uint32_t n_kept = 0;
    for (uint32_t i = 0; i < n_first + n_second; i++)
        if (!is_redundant(all, n_first + n_second, i, kept, n_kept))
            kept[n_kept++] = all[i];
    return value_list(kept, n_kept);
}

/* ---- Claims ---- */

struct str claim_class(const struct value *claim)
{
    const struct type *t = schema_type(STR("core/v1.PersistentVolumeClaim"));
    const struct value *old = meta_annotation(t, claim, "volume.beta.kubernetes.io/storage-class");
    return value_text(old ? old : value_path(t, claim, "spec.storageClassName"));
}
