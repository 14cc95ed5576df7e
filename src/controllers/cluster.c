/* controllers/cluster.c - see cluster.h. */
#include "controllers/cluster.h"

#include <assert.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/vec.h"
#include "codec/json.h"
#include "rules/convert.h"

#define REGISTRY "/registry/"
#define METADATA_TYPE "meta/v1.PartialObjectMetadata"

struct subscriber {
    const struct resource *resource; /* NULL: all */
    cluster_changed *changed;
    void *context;
    bool begun; /* what was there has been told */
};

struct cluster {
    struct cluster_backend backend;
    struct loop *loop;
    struct stored *objects;
    struct store_watch place;
    bool placed;
    struct map_str rows; /* from what keys begin with, behind "/registry/", to the row */
    char **prefixes;
    size_t n_prefixes;
    VEC(struct subscriber) subscribers;
};

/* ---- Rows of keys ---- */

bool cluster_has_objects(const struct resource *r)
{
    return r->served && r->type && r->verbs & VERB_WATCH && convert_stored_type(r->type) == r->type;
}

static void learn_prefixes(struct cluster *c)
{
    struct arena a;
    arena_init(&a);
    c->prefixes = mem_zalloc(schema_n_resources * sizeof(*c->prefixes));
    map_str_init(&c->rows);
    for (size_t i = 0; i < schema_n_resources; i++) {
        const struct resource *r = &schema_resources[i];
        if (!cluster_has_objects(r))
            continue;
        struct str prefix = str_from(stored_prefix(&a, r, STR("")), sizeof(REGISTRY) - 1);
        char *copy = c->prefixes[c->n_prefixes++] = mem_alloc(prefix.n);
        memcpy(copy, prefix.p, prefix.n);
        bool is_new;
        map_str_put(&c->rows, (struct str){ copy, prefix.n }, &is_new)->const_ptr = r;
    }
    arena_fini(&a);
}

/* "pods/", "services/specs/", "apiregistration.k8s.io/apiservices/": one word or two. */
static const struct resource *row_of_key(const struct cluster *c, struct str key)
{
    struct str rest = str_from(key, sizeof(REGISTRY) - 1);
    size_t n = 0;
    for (int words = 0; words < 2 && n < rest.n; words++) {
        n += str_index(str_from(rest, n), '/') + 1;
        const union map_value *found = n <= rest.n ? map_str_find(&c->rows, str_first(rest, n)) : NULL;
        if (found)
            return found->const_ptr;
    }
    return NULL;
}

const struct resource *cluster_resource_of_kind(struct str api_version, struct str kind)
{
    struct str group, version;
    schema_split_api_version(api_version, &group, &version);
    for (size_t i = 0; i < schema_n_resources; i++) {
        const struct resource *r = &schema_resources[i];
        if (r->served && r->type && str_eq(r->kind, kind) && str_eq(r->group, group) && r->verbs & VERB_GET)
            return stored_row(r);
    }
    return NULL;
}

/* ---- Life ---- */

struct cluster *cluster_over(struct loop *l, struct stored *objects, const struct cluster_backend *b)
{
    struct cluster *c = mem_zalloc(sizeof(*c));
    c->backend = *b;
    c->loop = l;
    c->objects = objects;
    learn_prefixes(c);
    return c;
}

void cluster_free(struct cluster *c)
{
    if (!c)
        return;
    c->backend.free(c->backend.own_context);
    map_str_fini(&c->rows);
    for (size_t i = 0; i < c->n_prefixes; i++)
        free(c->prefixes[i]);
    free(c->prefixes);
    vec_fini(&c->subscribers);
    free(c);
}

struct stored *cluster_objects(const struct cluster *c)
{
    return c->objects;
}

struct loop *cluster_loop(const struct cluster *c)
{
    return c->loop;
}

int64_t cluster_now_s(const struct cluster *c)
{
    return clock_wall_ns(loop_clock(c->loop)) / 1000000000;
}

/* ---- Changes ---- */

void cluster_watch(struct cluster *c, const struct resource *r, cluster_changed *changed, void *context)
{
    vec_push(&c->subscribers, (struct subscriber){ r, changed, context, false });
}

static bool wants(const struct subscriber *s, const struct resource *r)
{
    return !s->resource || s->resource == r;
}

/* To those who have been told nothing yet: an object to all of them before the next one, so that it is decoded once. */
static void tell_all_of(struct cluster *c, struct arena *a, const struct resource *r)
{
    struct store_range range = { .prefix = stored_prefix(a, r, STR("")) };
    struct store_list list;
    struct err e;
    err_init(&e, a);
    enum err_code rc = store_list(stored_store(c->objects), &range, a, &list, &e);
    assert(rc == ERR_OK); /* the newest state is always there */
    for (size_t i = 0; i < list.n; i++) {
        for (size_t j = 0; j < c->subscribers.n; j++) {
            const struct subscriber *s = &c->subscribers.at[j];
            if (!s->begun && wants(s, r))
                s->changed(s->context, r, list.items[i], NULL);
        }
        stored_trim(c->objects);
    }
}

static bool has_new_subscriber(const struct cluster *c)
{
    for (size_t i = 0; i < c->subscribers.n; i++)
        if (!c->subscribers.at[i].begun)
            return true;
    return false;
}

static void tell_initial(struct cluster *c)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < schema_n_resources; i++) {
        const struct resource *r = &schema_resources[i];
        if (cluster_has_objects(r))
            tell_all_of(c, &a, r);
        arena_reset(&a);
    }
    for (size_t i = 0; i < c->subscribers.n; i++)
        c->subscribers.at[i].begun = true;
    arena_fini(&a);
}

static void tell(struct cluster *c, const struct store_event *ev)
{
    const struct resource *r = row_of_key(c, store_item_key(ev->item ? ev->item : ev->prev));
    for (size_t i = 0; r && i < c->subscribers.n; i++) {
        const struct subscriber *s = &c->subscribers.at[i];
        if (s->begun && wants(s, r))
            s->changed(s->context, r, ev->item, ev->prev);
    }
    if (ev->prev) /* the log keeps its bytes; the value would be several times as much */
        stored_drop_value(ev->prev);
}

static void find_place(struct cluster *c)
{
    struct arena a;
    struct err e;
    arena_init_small(&a);
    err_init(&e, &a);
    struct store *s = stored_store(c->objects);
    enum err_code rc = store_watch_init(s, &c->place, STR(REGISTRY), store_revision(s), &e);
    assert(rc == ERR_OK); /* what is still to come is always known */
    store_watch_keep(s, &c->place);
    c->placed = true;
    arena_fini(&a);
}

/* The store keeps its log for this: nobody who was told of an object is ever not told of its end. */
void cluster_poll(struct cluster *c)
{
    struct store_event ev;
    enum err_code rc;
    if (!c->placed)
        find_place(c);
    while (!(rc = store_watch_next(stored_store(c->objects), &c->place, &ev)))
        tell(c, &ev);
    assert(rc == ERR_NOT_FOUND);
    if (has_new_subscriber(c))
        tell_initial(c);
}

static struct value decode(struct arena *a, const struct type *t, const struct store_item *item)
{
    struct value v;
    struct err e;
    err_init(&e, a);
    enum err_code rc = json_decode(a, WORK_OWN, t, store_item_value(item), NULL, &v, &e);
    assert(rc == ERR_OK); /* we wrote it */
    return v;
}

struct value cluster_metadata(struct arena *a, const struct store_item *item)
{
    return decode(a, schema_type(STR(METADATA_TYPE)), item);
}

struct value cluster_value(struct arena *a, const struct resource *r, const struct store_item *item)
{
    return decode(a, r->type, item);
}

struct store_item *cluster_item(struct cluster *c, const struct resource *r, struct str namespace, struct str name)
{
    struct arena a;
    arena_init_small(&a);
    struct store_item *item = store_get(stored_store(c->objects), stored_key(&a, r, namespace, name));
    arena_fini(&a);
    return item;
}

/* ---- What is carried out elsewhere ---- */

void cluster_begin(struct cluster *c, const struct cluster_call *call)
{
    c->backend.begin(c->backend.own_context, call);
}

void cluster_stop(struct cluster *c)
{
    c->backend.stop(c->backend.own_context);
}

uint32_t cluster_n_under_way(const struct cluster *c)
{
    return c->backend.n_under_way(c->backend.own_context);
}

bool cluster_is_gone(struct cluster *c, const struct cluster_object *o)
{
    return !c->backend.is_gone || c->backend.is_gone(c->backend.own_context, o);
}

bool cluster_is_swept(struct cluster *c, struct str namespace)
{
    return !c->backend.is_swept || c->backend.is_swept(c->backend.own_context, namespace);
}
