/* tests/fuzz/fuzz_apiserver.c - whatever clients send to the API server, without sockets: HTTP/1.1 requests on several
 * connections to a store in memory, with all admission plugins.
 *
 * Bit 0 of the first byte turns RBAC on, where tokens "a" (of system:masters) and "u" are known; the second byte says which
 * resource is looked at. Then records, each of which begins with a byte 0x1e and a byte of flags (enum record_flag); the rest of a
 * record are bytes of a connection.
 *
 * Besides being answered, this must hold:
 *   1. Every stored value decodes, encodes to the same bytes, and has the name, namespace and version of its key.
 *   2. Revisions never go back.
 *   3. Watches from the beginning on, of all and of those with a label, told exactly what leads to the final lists.
 *   4. An object that is listed can be read, at the same version.
 *   5. No request waits for ever, and none is left when its connection is gone. */
#include <inttypes.h>

#include "apiserver/fresh.h"
#include "apiserver/exchange.h"
#include "base/log.h"
#include "base/map.h"
#include "codec/json.h"
#include "tests/api_connection.h"
#include "tests/fuzz/effort.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum record_flag {
    RECORD_CONNECTION = 3, /* which */
    RECORD_HOLDS = 4,      /* the store is not polled after it, so that the next requests overtake this one */
    RECORD_CLOSES = 8,     /* the connection is cut behind it */
    RECORD_WAITS = 16,     /* an hour and a bit passes */
    RECORD_DEAF = 32,      /* the client does not read from here on, until a record without it */
};

enum { MARK = 0x1e, N_CLIENTS = 4, N_OBSERVERS = 2, WAIT_MS = 3700 * 1000, LOG_EVENTS_MAX = 64 };

/* ---- The world ---- */

struct fuzz {
    struct api_world world;
    struct connection clients[N_CLIENTS];
    struct connection observers[N_OBSERVERS]; /* which nothing in the input can reach */
    struct connection reader;
    const char *collection;
    uint64_t revision; /* the last that was seen */
};

static const char *const collections[] = {
    "/api/v1/configmaps", "/api/v1/pods", "/api/v1/namespaces", "/api/v1/services", "/apis/apps/v1/deployments",
    "/api/v1/events", "/apis/autoscaling/v1/horizontalpodautoscalers", "/api/v1/serviceaccounts",
};
enum { N_COLLECTIONS = sizeof(collections) / sizeof(collections[0]) };
static const char *const selectors[N_OBSERVERS] = { "", "labelSelector=a" };

static void for_all(struct fuzz *f, void (*visit)(struct connection *c))
{
    for (int i = 0; i < N_CLIENTS; i++)
        visit(&f->clients[i]);
    for (int i = 0; i < N_OBSERVERS; i++)
        visit(&f->observers[i]);
    visit(&f->reader);
}

static void poll(struct fuzz *f)
{
    api_world_poll(&f->world);
    for_all(f, connection_run);
    for (int i = 0; i < N_CLIENTS; i++)
        strbuf_reset(&f->clients[i].sent);
    if (store_revision(f->world.store) < f->revision)
        abort();
    f->revision = store_revision(f->world.store);
}

static void begin(struct fuzz *f, uint8_t flags, uint8_t which)
{
    static const char *const modes[] = { "RBAC", NULL };
    struct api_world_options o = { .modes = flags & 1 ? modes : NULL, .admission = true, .log_events_max = LOG_EVENTS_MAX,
                                   .token_file = "a,admin,1,system:masters\nu,user,2\n" };
    *f = (struct fuzz){ .collection = collections[which % N_COLLECTIONS] };
    api_world_init(&f->world, &o);
    for (int i = 0; i < N_CLIENTS; i++)
        connection_init(&f->clients[i], &f->world);
    for (int i = 0; i < N_OBSERVERS; i++) {
        connection_init(&f->observers[i], &f->world);
        connection_ask(&f->observers[i], "GET",
                       arena_printf(&f->world.arena, "%s?watch=1&timeoutSeconds=100000000&resourceVersion=1&%s",
                                    f->collection, selectors[i]), "", "");
    }
    connection_init(&f->reader, &f->world);
    connection_ask(&f->reader, "POST", "/api/v1/namespaces", "", "{\"metadata\":{\"name\":\"default\"}}");
    poll(f);
}

/* Connections know the time before anything is written to them: what then waits did not wait for so long. */
static void let_time_pass(struct fuzz *f, int64_t ms)
{
    for_all(f, connection_run);
    clock_manual_advance(&f->world.clock, ms * CLOCK_NS_PER_MS);
    for_all(f, connection_run);
    api_world_advance(&f->world, 0);
}

static void play(struct fuzz *f, uint8_t flags, struct str bytes)
{
    struct connection *c = &f->clients[flags & RECORD_CONNECTION];
    c->deaf = flags & RECORD_DEAF;
    connection_feed(c, bytes);
    if (flags & RECORD_CLOSES)
        connection_cut(c);
    if (flags & RECORD_WAITS)
        let_time_pass(f, WAIT_MS);
    if (!(flags & RECORD_HOLDS))
        poll(f);
}

/* ---- What is stored ---- */

static void check_item(struct arena *a, const struct resource *r, const struct store_item *item)
{
    struct value v;
    struct err e;
    struct strbuf again;
    err_init(&e, a);
    strbuf_init(&again, STRBUF_NO_MAX);
    if (json_decode(a, WORK_OWN, r->type, store_item_value(item), NULL, &v, &e))
        abort();
    json_encode(&again, r->type, &v);
    if (!str_eq(strbuf_str(&again), store_item_value(item)))
        abort();
    struct str key = stored_key(a, r, meta_text(r->type, &v, "namespace"), meta_text(r->type, &v, "name"));
    const char *version = arena_printf(a, "%" PRIu64, item->mod_revision);
    if (!str_eq(key, store_item_key(item)) || !str_is(meta_text(r->type, &v, "resourceVersion"), version) ||
        meta_text(r->type, &v, "uid").n == 0)
        abort();
    strbuf_fini(&again);
}

static void check_store(struct fuzz *f)
{
    struct arena a;
    struct err e;
    arena_init(&a);
    for (size_t i = 0; i < schema_n_resources; i++) {
        const struct resource *r = &schema_resources[i];
        struct store_list list;
        if (!r->served || stored_row(r) != r || !(r->verbs & VERB_GET))
            continue;
        err_init(&e, &a);
        struct store_range range = { .prefix = stored_prefix(&a, r, STR("")) };
        if (store_list(f->world.store, &range, &a, &list, &e))
            abort();
        for (size_t k = 0; k < list.n; k++)
            check_item(&a, r, list.items[k]);
        arena_reset(&a);
    }
    arena_fini(&a);
}

/* ---- What watches told ---- */

static struct str text_at(const struct value *v, const char *outer, const char *inner)
{
    const struct value *m = v->kind == VALUE_MAP ? value_member(v, str_of(outer)) : NULL;
    const struct value *t = m && m->kind == VALUE_MAP ? value_member(m, str_of(inner)) : NULL;
    return t ? value_text(t) : STR("");
}

static struct str object_key(struct arena *a, const struct value *object)
{
    return str_of(arena_printf(a, "%.*s/%.*s", STR_ARG(text_at(object, "metadata", "namespace")),
                               STR_ARG(text_at(object, "metadata", "name"))));
}

static struct value decoded(struct arena *a, struct str json)
{
    struct value v;
    struct err e;
    err_init(&e, a);
    if (json_decode_plain(a, WORK_OWN, json, &v, &e))
        abort();
    return v;
}

/* One event on what is there so far: versions by keys. False: the watch was told that it is too late. */
static bool replay_event(struct arena *a, struct map_str *there, uint64_t *last, struct str line)
{
    struct value event = decoded(a, line);
    const struct value *object = value_member(&event, STR("object")), *type = value_member(&event, STR("type"));
    if (!object || !type)
        abort();
    if (str_is(value_text(type), "ERROR"))
        return false;
    struct str key = object_key(a, object);
    uint64_t version = strtoull(arena_cstr(a, text_at(object, "metadata", "resourceVersion")), NULL, 10);
    bool was = map_str_find(there, key) != NULL, is_new;
    if (version < *last || was == str_is(value_text(type), "ADDED"))
        abort();
    *last = version;
    if (str_is(value_text(type), "DELETED"))
        map_str_remove(there, key, NULL);
    else
        map_str_put(there, key, &is_new)->num = version;
    return true;
}

static bool replay(struct arena *a, struct map_str *there, struct str events)
{
    uint64_t last = 0;
    while (events.n) {
        struct str line = str_first(events, str_index(events, '\n'));
        if (!replay_event(a, there, &last, line))
            return false;
        events = str_from(events, line.n + 1);
    }
    return true;
}

static struct value read_answer(struct fuzz *f, struct arena *a, const char *target)
{
    strbuf_reset(&f->reader.sent);
    connection_ask(&f->reader, "GET", target, "", "");
    poll(f);
    return decoded(a, connection_body(a, strbuf_str(&f->reader.sent)));
}

static void check_read(struct fuzz *f, struct arena *a, const struct value *object)
{
    struct str namespace = text_at(object, "metadata", "namespace");
    const char *slash = strrchr(f->collection, '/');
    const char *target = arena_printf(a, "%.*s%s%.*s%s/%.*s", (int)(slash - f->collection), f->collection,
                                      namespace.n ? "/namespaces/" : "", STR_ARG(namespace), slash,
                                      STR_ARG(text_at(object, "metadata", "name")));
    struct value v = read_answer(f, a, target);
    if (!str_eq(text_at(&v, "metadata", "resourceVersion"), text_at(object, "metadata", "resourceVersion")))
        abort();
}

static void check_list(struct fuzz *f, struct arena *a, const struct map_str *there, const char *selector)
{
    struct value list = read_answer(f, a, arena_printf(a, "%s?%s", f->collection, selector));
    const struct value *items = value_member(&list, STR("items"));
    if (!items || items->n != there->n)
        abort();
    for (uint32_t i = 0; i < items->n; i++) {
        const union map_value *told = map_str_find(there, object_key(a, &items->items[i]));
        const char *version = told ? arena_printf(a, "%" PRIu64, told->num) : "";
        if (!str_is(text_at(&items->items[i], "metadata", "resourceVersion"), version))
            abort();
        check_read(f, a, &items->items[i]);
    }
}

static void check_watch(struct fuzz *f, int observer)
{
    struct arena a;
    struct map_str there;
    arena_init(&a);
    map_str_init(&there);
    if (replay(&a, &there, connection_body(&a, strbuf_str(&f->observers[observer].sent))))
        check_list(f, &a, &there, selectors[observer]);
    map_str_fini(&there);
    arena_fini(&a);
}

/* Whoever is still there watches, sends, or does not read. */
static void check_waiting(struct fuzz *f)
{
    struct list *all = &f->world.server->exchanges;
    for (struct list_node *n = list_first(all); n; n = list_next(all, n)) {
        struct exchange *x = LIST_ITEM(n, struct exchange, node);
        if (x->op_waits || !x->stream || (!x->answered && !x->reads_body))
            abort();
    }
}

/* ---- An input ---- */

static void finish(struct fuzz *f, size_t n)
{
    let_time_pass(f, FRESH_WAIT_MS + 1); /* nobody waits for a version any more */
    poll(f);
    check_waiting(f);
    check_store(f);
    for (int i = 0; i < N_OBSERVERS; i++)
        check_watch(f, i);
    apiserver_stop(f->world.server);
    for_all(f, connection_fini);
    api_world_poll(&f->world);
    if (!list_is_empty(&f->world.server->exchanges))
        abort();
    effort_end(&f->world.arena, n);
    api_world_fini(&f->world);
}

static void quiet(void *context, struct str record)
{
    (void)context;
    (void)record;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz f;
    if (n < 2)
        return 0;
    log_set_sink(quiet, NULL);
    effort_begin(n);
    begin(&f, data[0], data[1]);
    struct str rest = str_from((struct str){ (const char *)data, n }, 2);
    rest = str_from(rest, str_index(rest, MARK) + 1);
    while (rest.n) {
        struct str record = str_first(rest, str_index(rest, MARK));
        if (record.n)
            play(&f, (uint8_t)record.p[0], str_from(record, 1));
        rest = str_from(rest, record.n + 1);
    }
    finish(&f, n);
    return 0;
}
