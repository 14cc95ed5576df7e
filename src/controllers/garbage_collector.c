/* controllers/garbage_collector.c - objects whose owners are gone go too. Upstream: controller/garbagecollector.
 *
 * An index from the uid of an owner to those that name it is kept from the changes; everything else is read from the store
 * when an object's turn comes, so nothing here can lag behind. A turn is one of:
 *
 *   its owners    none exists any more: it is deleted; some do: references to the others are removed
 *   foreground    it is being deleted and waits for its dependents: those are looked at; none left, the finalizer goes
 *   orphan        it is being deleted and leaves its dependents: they forget it, then the finalizer goes */
#include <assert.h>
#include <stdlib.h>

#include "api/edit.h"
#include "base/log.h"
#include "base/map.h"
#include "codec/json.h"
#include "controllers/controllers.h"
#include "controllers/work_queue.h"

#define CONTROLLER "generic-garbage-collector"
#define FOREGROUND "foregroundDeletion"
#define ORPHAN "orphan"

enum { WORKERS = 20 };

/* ---- Keys: row, namespace, name ---- */

static struct str key_of(struct arena *a, const struct resource *r, struct str namespace, struct str name)
{
    return str_of(arena_printf(a, "%zu/%.*s/%.*s", (size_t)(r - schema_resources), STR_ARG(namespace), STR_ARG(name)));
}

static const struct resource *read_key(struct str key, struct str *ret_namespace, struct str *ret_name)
{
    size_t row = 0, i = 0;
    for (; i < key.n && key.p[i] != '/'; i++)
        row = row * 10 + (size_t)(key.p[i] - '0');
    struct str rest = str_from(key, i + 1);
    size_t slash = str_index(rest, '/');
    *ret_namespace = str_first(rest, slash);
    *ret_name = str_from(rest, slash + 1);
    assert(row < schema_n_resources);
    return &schema_resources[row];
}

/* ---- The index ---- */

struct dependents {
    struct map_str keys; /* of itself: a set of texts, which are ours */
    size_t n_uid;
    char uid[];
};

struct garbage_collector {
    struct cluster *cluster;
    struct work_queue *queue;
    struct map_str owners; /* uid -> struct dependents */
};

static struct dependents *dependents_of(const struct garbage_collector *g, struct str uid)
{
    const union map_value *found = map_str_find(&g->owners, uid);
    return found ? found->ptr : NULL;
}

static void add_dependent(struct garbage_collector *g, struct str uid, struct str key)
{
    struct dependents *d = dependents_of(g, uid);
    if (!d) {
        d = mem_zalloc(sizeof(*d) + uid.n);
        d->n_uid = uid.n;
        memcpy(d->uid, uid.p, uid.n);
        map_str_init(&d->keys);
        bool is_new;
        map_str_put(&g->owners, (struct str){ d->uid, d->n_uid }, &is_new)->ptr = d;
    }
    if (map_str_find(&d->keys, key))
        return;
    char *copy = mem_alloc(key.n);
    memcpy(copy, key.p, key.n);
    bool is_new;
    map_str_put(&d->keys, (struct str){ copy, key.n }, &is_new)->ptr = copy;
}

static void free_dependents(struct dependents *d)
{
    for (struct map_str_slot *s = NULL; (s = map_str_next(&d->keys, s));)
        free(s->value.ptr);
    map_str_fini(&d->keys);
    free(d);
}

static void remove_dependent(struct garbage_collector *g, struct str uid, struct str key)
{
    struct dependents *d = dependents_of(g, uid);
    union map_value own_key;
    if (d && map_str_remove(&d->keys, key, &own_key))
        free(own_key.ptr);
    if (d && d->keys.n == 0) {
        map_str_remove(&g->owners, (struct str){ d->uid, d->n_uid }, NULL);
        free_dependents(d);
    }
}

/* ---- metadata ---- */

static const struct type *meta_type(void)
{
    return schema_type(STR("meta/v1.PartialObjectMetadata"));
}

static const struct type *owner_type(void)
{
    return schema_type(STR("meta/v1.OwnerReference"));
}

static const struct value *owners_of(const struct value *m)
{
    return value_path(meta_type(), m, "metadata.ownerReferences");
}

static struct str owner_text(const struct value *ref, const char *field)
{
    return value_text(value_path(owner_type(), ref, field));
}

static bool has_finalizer(const struct value *m, const char *name)
{
    const struct value *list = value_path(meta_type(), m, "metadata.finalizers");
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_is(value_text(&list->items[i]), name))
            return true;
    return false;
}

static bool is_being_deleted(const struct value *m)
{
    return value_path(meta_type(), m, "metadata.deletionTimestamp")->kind == VALUE_TIME;
}

static bool waits_for_dependents(const struct value *m)
{
    return is_being_deleted(m) && has_finalizer(m, FOREGROUND);
}

/* ---- Changes ---- */

static bool mentions(const struct store_item *item, const char *text)
{
    struct str value = store_item_value(item);
    return memmem(value.p, value.n, text, strlen(text)) != NULL;
}

/* Most objects have no owner and are not being deleted: those are not even decoded. */
static bool is_of_interest(const struct store_item *item)
{
    return mentions(item, "\"ownerReferences\":[") || mentions(item, "\"deletionTimestamp\":");
}

static void index_owners(struct garbage_collector *g, const struct value *m, struct str key, bool add)
{
    const struct value *list = owners_of(m);
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++) {
        struct str uid = owner_text(&list->items[i], "uid");
        if (add)
            add_dependent(g, uid, key);
        else
            remove_dependent(g, uid, key);
    }
}

/* An owner that waits for its dependents may be done now. */
static void look_at_owners(struct garbage_collector *g, struct arena *a, const struct value *m, struct str namespace)
{
    const struct value *list = owners_of(m);
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++) {
        const struct resource *r = cluster_resource_of_kind(owner_text(&list->items[i], "apiVersion"),
                                                            owner_text(&list->items[i], "kind"));
        if (r)
            work_queue_add(g->queue, key_of(a, r, r->namespaced ? namespace : STR(""),
                                            owner_text(&list->items[i], "name")));
    }
}

static void look_at_dependents(struct garbage_collector *g, struct str uid)
{
    const struct dependents *d = dependents_of(g, uid);
    for (struct map_str_slot *s = NULL; d && (s = map_str_next(&d->keys, s));)
        work_queue_add(g->queue, map_str_key(s));
}

static void changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct garbage_collector *g = context;
    struct str namespace, name;
    struct arena a;
    if (item && !is_of_interest(item) && !(prev && is_of_interest(prev)))
        return;
    arena_init(&a);
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    struct str key = key_of(&a, r, namespace, name);
    struct value is = { 0 }, was = { 0 };
    if (prev)
        was = cluster_metadata(&a, prev);
    if (item)
        is = cluster_metadata(&a, item);
    bool owners_differ = !prev || !item || !value_equal(owners_of(&is), owners_of(&was));
    if (owners_differ) {
        index_owners(g, &was, key, false);
        index_owners(g, &is, key, true);
        if (item)
            look_at_owners(g, &a, &was, namespace); /* one that it blocked may go on now */
    }
    if (item) {
        if ((owners_differ && owners_of(&is)->n) || is_being_deleted(&is)) /* any other change keeps its standing */
            work_queue_add(g->queue, key);
    } else {
        look_at_dependents(g, value_text(value_path(meta_type(), &was, "metadata.uid")));
        look_at_owners(g, &a, &was, namespace);
    }
    arena_fini(&a);
}

/* ---- Turns ---- */

struct turn {
    struct garbage_collector *collector;
    uint32_t n_out;
    bool failed;
    bool then_removes; /* the orphan finalizer, when all dependents have forgotten it */
    size_t n_key;
    char key[];
};

static struct turn *turn_new(struct garbage_collector *g, struct str key)
{
    struct turn *t = mem_zalloc(sizeof(*t) + key.n);
    t->collector = g;
    t->n_key = key.n;
    memcpy(t->key, key.p, key.n);
    t->n_out = 1;
    return t;
}

static void remove_finalizer(struct turn *t, const char *name);

static void call_done(void *context, enum err_code code, const char *message)
{
    struct turn *t = context;
    if (code && code != ERR_NOT_FOUND) {
        t->failed = true;
        LOG(4, "Garbage collection is tried again", KS("object", ((struct str){ t->key, t->n_key })), KS("err", message));
    }
    if (--t->n_out > 0)
        return;
    if (t->then_removes && !t->failed) {
        t->then_removes = false;
        t->n_out = 1;
        remove_finalizer(t, ORPHAN);
        call_done(t, ERR_OK, NULL);
        return;
    }
    work_queue_done(t->collector->queue, (struct str){ t->key, t->n_key }, t->failed ? WORK_RETRY : WORK_FORGET);
    free(t);
}

static void begin_call(struct turn *t, struct cluster_call call)
{
    call.controller = CONTROLLER;
    call.done = call_done;
    call.context = t;
    t->n_out++;
    cluster_begin(t->collector->cluster, &call);
}

/* ---- What is done ---- */

static void begin_patch(struct turn *t, const struct resource *r, struct str namespace, struct str name, struct strbuf *json)
{
    begin_call(t, (struct cluster_call){ .verb = CLUSTER_PATCH_MERGE, .resource = r, .namespace = namespace, .name = name,
                                         .patch = strbuf_str(json) });
}

static void begin_json(struct strbuf *json, const struct value *m)
{
    strbuf_init(json, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(json, "{\"metadata\":{\"uid\":");
    json_add_string(json, value_text(value_path(meta_type(), m, "metadata.uid")));
    STRBUF_ADD_LIT(json, ",\"resourceVersion\":");
    json_add_string(json, value_text(value_path(meta_type(), m, "metadata.resourceVersion")));
}

static void remove_finalizer(struct turn *t, const char *name)
{
    struct str namespace, own;
    const struct resource *r = read_key((struct str){ t->key, t->n_key }, &namespace, &own);
    struct store_item *item = cluster_item(t->collector->cluster, r, namespace, own);
    if (!item)
        return;
    struct arena a;
    struct strbuf json;
    arena_init(&a);
    struct value m = cluster_metadata(&a, item);
    const struct value *list = value_path(meta_type(), &m, "metadata.finalizers");
    begin_json(&json, &m);
    STRBUF_ADD_LIT(&json, ",\"finalizers\":[");
    bool any = false;
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++) {
        if (str_is(value_text(&list->items[i]), name))
            continue;
        strbuf_add_text(&json, any ? "," : "");
        json_add_string(&json, value_text(&list->items[i]));
        any = true;
    }
    STRBUF_ADD_LIT(&json, "]}}");
    begin_patch(t, r, namespace, own, &json);
    strbuf_fini(&json);
    arena_fini(&a);
}

static void add_reference(struct strbuf *json, const struct value *ref, bool *any)
{
    strbuf_add_text(json, *any ? "," : "");
    json_encode(json, owner_type(), ref);
    *any = true;
}

/* The references that stay; `stays` tells by uid. */
static void patch_owners(struct turn *t, const struct resource *r, struct str namespace, struct str name,
                         const struct value *m, bool (*stays)(void *context, const struct value *ref), void *context)
{
    const struct value *list = owners_of(m);
    struct strbuf json;
    bool any = false;
    begin_json(&json, m);
    STRBUF_ADD_LIT(&json, ",\"ownerReferences\":[");
    for (uint32_t i = 0; i < list->n; i++)
        if (stays(context, &list->items[i]))
            add_reference(&json, &list->items[i], &any);
    STRBUF_ADD_LIT(&json, "]}}");
    begin_patch(t, r, namespace, name, &json);
    strbuf_fini(&json);
}

/* All references, none of which blocks its owner any more. */
static void unblock_owners(struct turn *t, struct arena *a, const struct resource *r, struct str namespace, struct str name,
                           const struct value *m)
{
    const struct value *list = owners_of(m);
    struct strbuf json;
    bool any = false;
    begin_json(&json, m);
    STRBUF_ADD_LIT(&json, ",\"ownerReferences\":[");
    for (uint32_t i = 0; i < list->n; i++) {
        struct value ref = edit_set(a, owner_type(), &list->items[i], "blockOwnerDeletion", value_bool(false));
        add_reference(&json, &ref, &any);
    }
    STRBUF_ADD_LIT(&json, "]}}");
    begin_patch(t, r, namespace, name, &json);
    strbuf_fini(&json);
}

static void delete_object(struct turn *t, const struct resource *r, struct str namespace, struct str name,
                          const struct value *m, const char *propagation)
{
    begin_call(t, (struct cluster_call){ .verb = CLUSTER_DELETE, .resource = r, .namespace = namespace, .name = name,
                                         .uid = value_text(value_path(meta_type(), m, "metadata.uid")),
                                         .resource_version = value_text(value_path(meta_type(), m,
                                                                                   "metadata.resourceVersion")),
                                         .propagation = propagation });
}

/* ---- Owners ---- */

enum owner_state { OWNER_SOLID, OWNER_DANGLING, OWNER_WAITING, OWNER_UNKNOWN };

/* Only what surely is gone dangles. */
static enum owner_state state_of_missing(struct garbage_collector *g, const struct resource *r, const struct value *ref,
                                         struct str namespace)
{
    struct cluster_object o = { r, namespace, owner_text(ref, "name"), owner_text(ref, "uid") };
    return cluster_is_gone(g->cluster, &o) ? OWNER_DANGLING : OWNER_UNKNOWN;
}

/* A kind that nobody here knows may well exist elsewhere: such an owner counts as there. */
static enum owner_state state_of_owner(struct garbage_collector *g, struct arena *a, const struct value *ref,
                                       struct str namespace)
{
    const struct resource *r = cluster_resource_of_kind(owner_text(ref, "apiVersion"), owner_text(ref, "kind"));
    if (!r || (r->namespaced && namespace.n == 0))
        return OWNER_SOLID;
    namespace = r->namespaced ? namespace : STR("");
    struct store_item *item = cluster_item(g->cluster, r, namespace, owner_text(ref, "name"));
    if (!item)
        return state_of_missing(g, r, ref, namespace);
    struct value m = cluster_metadata(a, item);
    if (!str_eq(value_text(value_path(meta_type(), &m, "metadata.uid")), owner_text(ref, "uid")))
        return state_of_missing(g, r, ref, namespace);
    return waits_for_dependents(&m) ? OWNER_WAITING : OWNER_SOLID;
}

struct owner_question {
    struct garbage_collector *collector;
    struct arena *arena;
    struct str namespace;
};

static bool is_solid(void *context, const struct value *ref)
{
    struct owner_question *q = context;
    return state_of_owner(q->collector, q->arena, ref, q->namespace) == OWNER_SOLID;
}

static const char *policy_of(const struct value *m)
{
    if (has_finalizer(m, ORPHAN))
        return "Orphan";
    return has_finalizer(m, FOREGROUND) ? "Foreground" : "Background";
}

static bool is_blocking(const struct value *ref)
{
    const struct value *block = value_path(owner_type(), ref, "blockOwnerDeletion");
    return block->kind == VALUE_BOOL && block->b;
}

/* Whether it blocks the owner of that uid; an empty one: any. */
static bool blocks(const struct value *m, struct str owner_uid)
{
    const struct value *list = owners_of(m);
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (is_blocking(&list->items[i]) && (!owner_uid.n || str_eq(owner_text(&list->items[i], "uid"), owner_uid)))
            return true;
    return false;
}

/* Whether one of its dependents waits for dependents itself: maybe for this one. */
static bool may_be_in_a_circle(struct garbage_collector *g, struct arena *a, struct str uid)
{
    const struct dependents *d = dependents_of(g, uid);
    struct str namespace, name;
    for (struct map_str_slot *s = NULL; d && (s = map_str_next(&d->keys, s));) {
        const struct resource *r = read_key(map_str_key(s), &namespace, &name);
        struct store_item *item = cluster_item(g->cluster, r, namespace, name);
        if (!item)
            continue;
        struct value m = cluster_metadata(a, item);
        if (waits_for_dependents(&m))
            return true;
    }
    return false;
}

static void look_for_owners(struct turn *t, struct arena *a, const struct resource *r, struct str namespace, struct str name,
                            const struct value *m)
{
    struct garbage_collector *g = t->collector;
    const struct value *list = owners_of(m);
    uint32_t n[4] = { 0 };
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        n[state_of_owner(g, a, &list->items[i], namespace)]++;
    if (n[OWNER_UNKNOWN]) {
        t->failed = true; /* it comes again */
        return;
    }
    struct owner_question q = { g, a, namespace };
    struct str uid = value_text(value_path(meta_type(), m, "metadata.uid"));
    bool has_dependents = dependents_of(g, uid) != NULL;
    if (list->n == 0 || (n[OWNER_SOLID] && !n[OWNER_DANGLING] && !n[OWNER_WAITING]))
        return;
    if (n[OWNER_SOLID])
        patch_owners(t, r, namespace, name, m, is_solid, &q);
    else if (n[OWNER_WAITING] && has_dependents && blocks(m, STR("")) && may_be_in_a_circle(g, a, uid))
        unblock_owners(t, a, r, namespace, name, m); /* which brings it here once more */
    else if (n[OWNER_WAITING] && has_dependents)
        delete_object(t, r, namespace, name, m, "Foreground");
    else
        delete_object(t, r, namespace, name, m, policy_of(m));
}

/* ---- Dependents ---- */

/* Those that block are looked at; when there is none the finalizer goes. */
static void delete_dependents_first(struct turn *t, struct arena *a, const struct value *m)
{
    struct garbage_collector *g = t->collector;
    struct str uid = value_text(value_path(meta_type(), m, "metadata.uid")), namespace, name;
    const struct dependents *d = dependents_of(g, uid);
    bool any = false;
    for (struct map_str_slot *s = NULL; d && (s = map_str_next(&d->keys, s));) {
        const struct resource *r = read_key(map_str_key(s), &namespace, &name);
        struct store_item *item = cluster_item(g->cluster, r, namespace, name);
        if (!item)
            continue;
        struct value other = cluster_metadata(a, item);
        any |= blocks(&other, uid);
        if (!is_being_deleted(&other))
            work_queue_add(g->queue, map_str_key(s));
    }
    if (!any)
        remove_finalizer(t, FOREGROUND);
}

static bool is_other_owner(void *context, const struct value *ref)
{
    const struct str *uid = context;
    return !str_eq(owner_text(ref, "uid"), *uid);
}

static void orphan_dependents(struct turn *t, struct arena *a, const struct value *m)
{
    struct garbage_collector *g = t->collector;
    struct str uid = value_text(value_path(meta_type(), m, "metadata.uid")), namespace, name;
    const struct dependents *d = dependents_of(g, uid);
    for (struct map_str_slot *s = NULL; d && (s = map_str_next(&d->keys, s));) {
        const struct resource *r = read_key(map_str_key(s), &namespace, &name);
        struct store_item *item = cluster_item(g->cluster, r, namespace, name);
        if (!item)
            continue;
        struct value other = cluster_metadata(a, item);
        patch_owners(t, r, namespace, name, &other, is_other_owner, &uid);
    }
    t->then_removes = true;
}

static void work(void *context, struct str key)
{
    struct garbage_collector *g = context;
    struct str namespace, name;
    const struct resource *r = read_key(key, &namespace, &name);
    struct store_item *item = cluster_item(g->cluster, r, namespace, name);
    if (!item || !(r->verbs & VERB_DELETE)) {
        work_queue_done(g->queue, key, WORK_FORGET);
        return;
    }
    struct turn *t = turn_new(g, key);
    struct arena a;
    arena_init(&a);
    struct value m = cluster_metadata(&a, item);
    if (waits_for_dependents(&m))
        delete_dependents_first(t, &a, &m);
    else if (is_being_deleted(&m) && has_finalizer(&m, ORPHAN))
        orphan_dependents(t, &a, &m);
    else if (!is_being_deleted(&m))
        look_for_owners(t, &a, r, namespace, name, &m);
    arena_fini(&a);
    call_done(t, ERR_OK, NULL);
}

/* ---- Life ---- */

void *garbage_collector_start(const struct controller_context *c)
{
    struct garbage_collector *g = mem_zalloc(sizeof(*g));
    g->cluster = c->cluster;
    map_str_init(&g->owners);
    g->queue = work_queue_new(cluster_loop(c->cluster), WORKERS, work, g);
    work_queue_show(g->queue, c->queues, "garbage_collector_attempt_to_delete");
    cluster_watch(c->cluster, NULL, changed, g);
    return g;
}

void garbage_collector_stop(void *own_controller)
{
    struct garbage_collector *g = own_controller;
    work_queue_free(g->queue);
    for (struct map_str_slot *s = NULL; (s = map_str_next(&g->owners, s));)
        free_dependents(s->value.ptr);
    map_str_fini(&g->owners);
    free(g);
}
