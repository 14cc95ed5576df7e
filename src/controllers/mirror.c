/* controllers/mirror.c - see mirror.h. */
#include "controllers/mirror.h"

#include <assert.h>
#include <stdlib.h>

#include "api/edit.h"
#include "base/log.h"
#include "base/map.h"
#include "codec/json.h"

#define METADATA_TYPE "meta/v1.PartialObjectMetadata"
#define METADATA_ACCEPT "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
#define METADATA_LIST_ACCEPT "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
#define VERSION_MEMBER "\"resourceVersion\":\""

enum { LOOK_MS = 200 }; /* how often reflectors are asked when they are due: answers change that, and they tell nobody */

/* One resource. */
struct watched {
    struct mirror *mirror;
    const struct resource *resource;
    struct reflector *reflector;
    bool whole;
    uint64_t version;    /* the watch is so far; 0: unknown */
    bool listing;
    struct arena listed; /* keys of the list that is coming in */
    struct map_str seen;
};

struct mirror {
    struct mirror_options o;
    struct store *store;
    struct stored *objects;
    struct watched **at; /* by the number of the resource; NULL: not watched */
    struct loop_task tell;
    struct loop_timer timer;
    bool has_synced;
};

/* ---- Versions ---- */

/* 0: none, or one that is no number. */
static uint64_t version_of(struct str text)
{
    uint64_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9' || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(text.p[i] - '0'), &n))
            return 0;
    }
    return n;
}

/* Of what was written here: metadata comes first, and in it nothing before the version can hold such a member. */
static uint64_t version_of_item(const struct store_item *item)
{
    struct str value = store_item_value(item);
    const char *at = memmem(value.p, value.n, VERSION_MEMBER, sizeof(VERSION_MEMBER) - 1);
    if (!at)
        return 0;
    struct str rest = str_from(value, (size_t)(at - value.p) + sizeof(VERSION_MEMBER) - 1);
    return version_of(str_first(rest, str_index(rest, '"')));
}

/* ---- Objects ---- */

static const char *api_version(struct arena *a, const struct resource *r)
{
    return r->group.n ? arena_printf(a, "%.*s/%.*s", STR_ARG(r->group), STR_ARG(r->version)) : arena_cstr(a, r->version);
}

/* Of the resource's type, whatever came of it. */
static enum err_code read_object(struct arena *a, const struct resource *r, bool whole, struct str json, struct value *ret_value,
                                 struct err *e)
{
    const struct type *t = whole ? r->type : schema_type(STR(METADATA_TYPE));
    struct work work = work_init(WATCH_FRAME_BYTES_MAX);
    struct value v, made;
    if (json_decode(a, &work, t, json, NULL, &v, e))
        return e->code;
    struct str kind = value_text(value_path(t, &v, "kind"));
    if (kind.n && !str_eq(kind, r->kind) && !str_is(kind, "PartialObjectMetadata"))
        return err_set(e, ERR_BAD_REQUEST, "it is a %.*s", STR_ARG(err_shown(e, kind)));
    if (value_path(t, &v, "metadata.managedFields")->kind == VALUE_LIST)
        v = edit_set(a, t, &v, "metadata.managedFields", (struct value){ .kind = VALUE_ABSENT });
    made = v;
    if (!whole) {
        made = value_struct(a, r->type);
        made = edit_set(a, r->type, &made, "metadata", *value_path(t, &v, "metadata"));
    }
    made = edit_set(a, r->type, &made, "kind", value_string(r->kind));
    *ret_value = edit_set(a, r->type, &made, "apiVersion", edit_text(api_version(a, r)));
    return ERR_OK;
}

static struct str key_of(struct arena *a, const struct resource *r, const struct value *v)
{
    return stored_key(a, r, value_text(value_path(r->type, v, "metadata.namespace")),
                      value_text(value_path(r->type, v, "metadata.name")));
}

/* ---- The store ---- */

static void ignore(void *context, const struct store_answer *answer)
{
    (void)context;
    (void)answer;
}

static void write_key(struct mirror *m, struct arena *a, struct str key, struct str value, bool deletes)
{
    struct store_write write = { .key = key, .value = value, .deletes = deletes };
    struct err e;
    err_init(&e, a);
    if (store_commit(m->store, &(struct store_commit){ .writes = &write, .n_writes = 1 }, ignore, NULL, &e))
        LOG_ERROR(e.message, "An object is left out", KS("key", key));
    store_poll(m->store);
    if (m->has_synced)
        loop_defer(m->o.loop, &m->tell);
}

static void set(struct watched *w, struct arena *a, struct str key, const struct value *v)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode(&json, w->resource->type, v);
    write_key(w->mirror, a, key, strbuf_str(&json), false);
    strbuf_fini(&json);
}

/* Whether what is there is as new, or newer. */
static bool has(struct mirror *m, struct str key, uint64_t version)
{
    struct store_item *item = store_get(m->store, key);
    return item && version && version_of_item(item) >= version;
}

/* ---- What reflectors bring ---- */

static void take_object(struct watched *w, struct arena *a, enum reflected what, const struct watch_object *o)
{
    struct value v;
    struct err e;
    err_init(&e, a);
    if (read_object(a, w->resource, w->whole, o->bytes, &v, &e)) {
        LOG_ERROR(e.message, "An object makes no sense", KS("resource", w->resource->plural), KS("version", o->version));
        return;
    }
    struct str key = key_of(a, w->resource, &v);
    uint64_t version = version_of(o->version);
    if (w->listing && what != REFLECTED_REMOVED)
        map_str_put(&w->seen, arena_str(&w->listed, key), NULL);
    if (what != REFLECTED_REMOVED) {
        if (!has(w->mirror, key, version))
            set(w, a, key, &v);
    } else if (store_get(w->mirror->store, key) && !has(w->mirror, key, version + 1)) {
        write_key(w->mirror, a, key, STR(""), true);
    }
}

static void begin_list(struct watched *w)
{
    w->listing = true;
    arena_reset(&w->listed);
    map_str_fini(&w->seen);
    map_str_init(&w->seen);
}

/* What the list did not have is gone, unless it is newer. */
static void remove_unseen(struct watched *w, struct arena *a, uint64_t version)
{
    struct store_range range = { .prefix = stored_prefix(a, w->resource, STR("")) };
    struct store_list list;
    struct err e;
    err_init(&e, a);
    enum err_code rc = store_list(w->mirror->store, &range, a, &list, &e);
    assert(rc == ERR_OK); /* the newest state is always there */
    struct str *gone = ARENA_NEW_N(a, struct str, list.n);
    size_t n = 0;
    for (size_t i = 0; i < list.n; i++)
        if (!map_str_find(&w->seen, store_item_key(list.items[i])) && version_of_item(list.items[i]) <= version)
            gone[n++] = arena_str(a, store_item_key(list.items[i]));
    for (size_t i = 0; i < n; i++)
        write_key(w->mirror, a, gone[i], STR(""), true);
}

static void check_synced(struct mirror *m)
{
    if (m->has_synced || mirror_waits_for(m))
        return;
    m->has_synced = true;
    loop_defer(m->o.loop, &m->tell);
}

static void end_list(struct watched *w, struct arena *a, struct str version)
{
    w->version = version_of(version);
    remove_unseen(w, a, version.n ? w->version : UINT64_MAX); /* without one: the server has none of them at all */
    w->listing = false;
    arena_reset(&w->listed);
    map_str_fini(&w->seen);
    map_str_init(&w->seen);
    check_synced(w->mirror);
}

static bool take(void *context, enum reflected what, const struct watch_object *object)
{
    struct watched *w = context;
    struct arena a;
    arena_init(&a);
    switch (what) {
    case REFLECTED_LIST:
        begin_list(w);
        break;
    case REFLECTED_SYNCED:
        end_list(w, &a, object->version);
        break;
    case REFLECTED_LISTED:
        take_object(w, &a, what, object);
        break;
    case REFLECTED_SET:
    case REFLECTED_REMOVED:
        take_object(w, &a, what, object);
        if (version_of(object->version) > w->version)
            w->version = version_of(object->version);
    }
    arena_fini(&a);
    return true;
}

struct store_item *mirror_put(struct mirror *m, const struct resource *r, struct str json)
{
    struct watched *w = m->at[r - schema_resources];
    struct arena a;
    struct value v;
    struct err e;
    struct store_item *item = NULL;
    if (!w)
        return NULL;
    arena_init(&a);
    err_init(&e, &a);
    if (!read_object(&a, r, w->whole, json, &v, &e)) {
        struct str key = key_of(&a, r, &v);
        uint64_t version = version_of(value_text(value_path(r->type, &v, "metadata.resourceVersion")));
        if (version > w->version && !has(m, key, version))
            set(w, &a, key, &v);
        item = store_get(m->store, key);
    }
    arena_fini(&a);
    return item;
}

/* ---- Life ---- */

static void tell(struct loop_task *t)
{
    struct mirror *m = LIST_ITEM(t, struct mirror, tell);
    m->o.changed(m->o.context);
}

static void tick(struct loop_timer *t)
{
    struct mirror *m = LIST_ITEM(t, struct mirror, timer);
    for (size_t i = 0; i < schema_n_resources; i++)
        if (m->at[i])
            reflector_tick(m->at[i]->reflector);
    loop_timer_set(m->o.loop, &m->timer, loop_now_ms(m->o.loop) + LOOK_MS);
}

struct mirror *mirror_new(const struct mirror_options *o)
{
    struct mirror *m = mem_zalloc(sizeof(*m));
    struct arena a;
    struct err e;
    arena_init_small(&a);
    err_init(&e, &a);
    m->o = *o;
    struct store_options options = { .clock = loop_clock(o->loop), .log_events_max = MIRROR_LOG_EVENTS_MAX,
                                     .log_bytes_max = MIRROR_LOG_BYTES_MAX };
    enum err_code rc = store_new(&options, &m->store, &e);
    assert(rc == ERR_OK); /* there is no engine that could fail */
    arena_fini(&a);
    m->objects = stored_new(m->store);
    m->at = mem_zalloc(schema_n_resources * sizeof(*m->at));
    m->tell.run = tell;
    m->timer.fire = tick;
    tick(&m->timer);
    return m;
}

static void free_watched(struct watched *w)
{
    reflector_free(w->reflector);
    arena_fini(&w->listed);
    map_str_fini(&w->seen);
    free(w);
}

void mirror_free(struct mirror *m)
{
    if (!m)
        return;
    loop_task_stop(&m->tell);
    loop_timer_stop(m->o.loop, &m->timer);
    for (size_t i = 0; i < schema_n_resources; i++)
        if (m->at[i])
            free_watched(m->at[i]);
    free(m->at);
    stored_free(m->objects);
    store_free(m->store);
    free(m);
}

struct stored *mirror_objects(const struct mirror *m)
{
    return m->objects;
}

void mirror_add(struct mirror *m, const struct resource *r, bool whole)
{
    struct watched **at = &m->at[r - schema_resources], *w = mem_zalloc(sizeof(*w));
    struct arena a;
    assert(!*at);
    *at = w;
    w->mirror = m;
    w->resource = r;
    w->whole = whole;
    arena_init(&w->listed);
    map_str_init(&w->seen);
    arena_init_small(&a);
    w->reflector = reflector_new(&(struct reflector_options){
        .api = m->o.api,
        .clock = loop_clock(m->o.loop),
        .path = mirror_path(&a, r, STR(""), STR("")),
        .accept = whole ? "application/json" : METADATA_ACCEPT "," METADATA_LIST_ACCEPT ",application/json",
        .no_streaming = m->o.no_streaming,
        .may_be_missing = true,
        .sink = { w, take },
        .seed = m->o.seed + (uint64_t)(r - schema_resources),
    });
    reflector_start(w->reflector);
    arena_fini(&a);
}

const struct resource *mirror_waits_for(const struct mirror *m)
{
    for (size_t i = 0; i < schema_n_resources; i++)
        if (m->at[i] && !reflector_has_synced(m->at[i]->reflector))
            return m->at[i]->resource;
    return NULL;
}

bool mirror_watches(const struct mirror *m, const struct resource *r)
{
    return m->at[r - schema_resources];
}

bool mirror_keeps_whole(const struct mirror *m, const struct resource *r)
{
    return mirror_watches(m, r) && m->at[r - schema_resources]->whole;
}

bool mirror_has_synced(const struct mirror *m)
{
    return m->has_synced;
}

void mirror_forget_log(struct mirror *m)
{
    store_compact(m->store, store_revision(m->store));
}

const char *mirror_path(struct arena *a, const struct resource *r, struct str namespace, struct str name)
{
    const char *root = r->group.n ? "/apis/" : "/api";
    bool in_namespace = r->namespaced && namespace.n;
    return arena_printf(a, "%s%.*s/%.*s%s%.*s/%.*s%s%.*s", root, STR_ARG(r->group), STR_ARG(r->version),
                        in_namespace ? "/namespaces/" : "", in_namespace ? str_precision(namespace.n) : 0, namespace.p,
                        STR_ARG(r->plural), name.n ? "/" : "", STR_ARG(name));
}
