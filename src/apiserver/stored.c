/* apiserver/stored.c - see stored.h. */
#include "apiserver/stored.h"

#include <assert.h>
#include <stdlib.h>

#include "codec/json.h"
#include "rules/convert.h"

/* The decoded form of an item's value. */
struct decoded {
    struct store_attached attached;
    struct arena arena;
    struct value value;
};

struct stored {
    struct store *store;
    struct store_watch *watches; /* one a resource, made when its generation is first asked for */
    char **prefixes; /* of those watches */
    uint64_t *generations;
};

struct stored *stored_new(struct store *s)
{
    struct stored *o = mem_zalloc(sizeof(*o));
    o->store = s;
    o->watches = mem_zalloc(schema_n_resources * sizeof(*o->watches));
    o->prefixes = mem_zalloc(schema_n_resources * sizeof(*o->prefixes));
    o->generations = mem_zalloc(schema_n_resources * sizeof(*o->generations));
    return o;
}

void stored_free(struct stored *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < schema_n_resources; i++)
        free(o->prefixes[i]);
    free(o->prefixes);
    free(o->watches);
    free(o->generations);
    free(o);
}

struct store *stored_store(const struct stored *o)
{
    return o->store;
}

const struct resource *stored_resource(const char *plural, const char *group)
{
    for (size_t i = 0; i < schema_n_resources; i++) {
        const struct resource *r = &schema_resources[i];
        if (r->served && str_eq(r->plural, str_of(plural)) && str_eq(r->group, str_of(group)))
            return r;
    }
    assert(!"a resource of the schema");
    return NULL;
}

/* ---- Keys, as upstream has them in etcd ---- */

static struct str storage_prefix(const struct resource *r)
{
    static const struct {
        const char *plural, *prefix;
    } others[] = {
        { "replicationcontrollers", "controllers" }, { "nodes", "minions" },   { "services", "services/specs" },
        { "endpoints", "services/endpoints" },       { "ingresses", "ingress" },
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (str_eq(r->plural, str_of(others[i].plural)))
            return str_of(others[i].prefix);
    return r->plural;
}

/* Groups whose keys name them: those that are no part of the first release's scheme. */
static bool key_has_group(const struct resource *r)
{
    return str_eq(r->group, STR("apiregistration.k8s.io")) || str_eq(r->group, STR("apiextensions.k8s.io"));
}

struct str stored_prefix(struct arena *a, const struct resource *r, struct str namespace)
{
    bool group = key_has_group(r);
    const char *prefix = arena_printf(a, "/registry/%.*s%s%.*s/%.*s%s", STR_ARG(group ? r->group : STR("")),
                                      group ? "/" : "", STR_ARG(storage_prefix(r)), STR_ARG(namespace),
                                      namespace.n ? "/" : "");
    return str_of(prefix);
}

struct str stored_key(struct arena *a, const struct resource *r, struct str namespace, struct str name)
{
    struct str prefix = stored_prefix(a, r, r->namespaced ? namespace : STR(""));
    char *key = arena_alloc(a, prefix.n + name.n);
    memcpy(key, prefix.p, prefix.n);
    if (name.n)
        memcpy(key + prefix.n, name.p, name.n);
    return (struct str){ key, prefix.n + name.n };
}

void stored_read_key(const struct resource *r, struct str key, struct str *ret_namespace, struct str *ret_name)
{
    size_t n = sizeof("/registry/") - 1 + storage_prefix(r).n + 1 + (key_has_group(r) ? r->group.n + 1 : 0);
    assert(key.n >= n);
    struct str rest = str_from(key, n);
    *ret_namespace = STR("");
    if (r->namespaced) {
        size_t slash = str_index(rest, '/');
        *ret_namespace = str_first(rest, slash);
        rest = str_from(rest, slash + 1);
    }
    *ret_name = rest;
}

/* ---- Values ---- */

static void free_decoded(struct store_attached *own_attached)
{
    struct decoded *d = (struct decoded *)own_attached;
    arena_fini(&d->arena);
    free(d);
}

const struct value *stored_value(struct stored *o, const struct resource *r, struct store_item *item)
{
    (void)o;
    if (!item->attached) {
        struct decoded *d = mem_zalloc(sizeof(*d));
        d->attached.free = free_decoded;
        arena_init_small(&d->arena);
        struct err e;
        err_init(&e, &d->arena);
        const struct type *t = convert_stored_type(r->type);
        enum err_code rc = json_decode(&d->arena, WORK_OWN, t, store_item_value(item), NULL, &d->value, &e);
        assert(rc == ERR_OK); /* we wrote it */
        item->attached = &d->attached;
    }
    return &((struct decoded *)item->attached)->value;
}

const struct value *stored_get(struct stored *o, const struct resource *r, struct str namespace, struct str name)
{
    struct arena scratch;
    arena_init_small(&scratch);
    struct store_item *item = store_get(o->store, stored_key(&scratch, r, namespace, name));
    arena_fini(&scratch);
    return item ? stored_value(o, r, item) : NULL;
}

size_t stored_list(struct stored *o, const struct resource *r, struct str namespace, struct arena *a,
                    const struct value ***ret_values)
{
    struct store_range range = { .prefix = stored_prefix(a, r, namespace) };
    struct store_list list;
    struct err e;
    err_init(&e, a);
    enum err_code rc = store_list(o->store, &range, a, &list, &e);
    assert(rc == ERR_OK); /* the newest state is always there */
    const struct value **values = ARENA_NEW_N(a, const struct value *, list.n);
    for (size_t i = 0; i < list.n; i++)
        values[i] = stored_value(o, r, list.items[i]);
    *ret_values = values;
    return list.n;
}

/* A watch that is overtaken begins again: something has changed for sure. */
uint64_t stored_generation(struct stored *o, const struct resource *r)
{
    size_t i = (size_t)(r - schema_resources);
    struct store_watch *w = &o->watches[i];
    struct arena scratch;
    arena_init_small(&scratch);
    struct err e;
    err_init(&e, &scratch);
    enum err_code rc = ERR_EXPIRED;
    if (w->prefix.p) {
        struct store_event event;
        while (!(rc = store_watch_next(o->store, w, &event)))
            o->generations[i]++;
    }
    if (rc == ERR_EXPIRED) {
        if (!w->prefix.p) {
            struct str prefix = stored_prefix(&scratch, r, STR(""));
            o->prefixes[i] = mem_alloc(prefix.n);
            memcpy(o->prefixes[i], prefix.p, prefix.n);
            w->prefix = (struct str){ o->prefixes[i], prefix.n };
        }
        rc = store_watch_init(o->store, w, w->prefix, store_revision(o->store), &e);
        assert(rc == ERR_OK);
        o->generations[i]++;
    }
    arena_fini(&scratch);
    return o->generations[i];
}
