/* apiserver/watch.c - see watch.h. Upstream: endpoints/handlers/watch.go, storage/cacher. */
#include "apiserver/watch.h"

#include <assert.h>
#include <stdlib.h>

#include "apiserver/lists.h"
#include "apiserver/room.h"
#include "apiserver/server_metrics.h"
#include "apiserver/status_object.h"
#include "base/rand.h"

enum {
    WATCH_PART_BYTES = 64 << 10,    /* written at once to a watcher that is behind */
    WATCH_EVENTS_AT_ONCE_MAX = 4096, /* that it looks at before others get their turn */
    WATCH_FORMS_MAX = 16,           /* of one event; a further form is made for each watcher anew */
    WATCH_BOOKMARK_MS = 60 * 1000,  /* between two bookmarks, as upstream */
    WATCH_LAST_BOOKMARK_MS = 2000,  /* before the end */
};

struct group {
    struct list watchers;
    struct store_watch place; /* behind everything that was given to live watchers */
    char *prefix;
};

/* An event in one form. */
struct form {
    struct encoder encoder;
    enum event_type type;
    struct blob *bytes;
};

struct watch_hub {
    struct loop *loop;
    struct stored *objects;
    struct server_metrics *metrics;
    struct room *room;
    struct rand rand;
    struct group *groups; /* one a row of the schema; of a kind in two versions both use the stored one */
    struct form forms[WATCH_FORMS_MAX];
    uint32_t n_forms;
    struct strbuf scratch;
    uint32_t n_watchers;
};

struct watcher {
    struct list_node node;
    struct watch_hub *hub;
    struct group *group;
    struct watch_options o;
    struct loop_timer timer;
    struct loop_task task;    /* goes on with what it missed */
    int64_t ends_ms, bookmark_ms;
    struct str prefix;        /* of keys that it wants */
    struct store_watch place; /* while it is not live */
    bool live, over;
    bool expired;             /* to be told, and then over */
    struct store_item **initial; /* what was there when it began, still to be sent */
    size_t n_initial, at_initial;
    uint64_t initial_revision;
    bool owes_bookmark;       /* that all of that was sent */
    struct strbuf out;        /* made, but not yet taken by the stream */
    struct blob *refused;     /* the event that the stream did not take when it was live; NULL: none */
};

/* ---- The hub ---- */

struct watch_hub *watch_hub_new(struct loop *l, struct stored *objects, struct server_metrics *metrics, struct room *room,
                                uint64_t seed)
{
    struct watch_hub *h = mem_zalloc(sizeof(*h));
    h->loop = l;
    h->objects = objects;
    h->metrics = metrics;
    h->room = room;
    rand_init(&h->rand, seed);
    h->groups = mem_zalloc(schema_n_resources * sizeof(*h->groups));
    for (size_t i = 0; i < schema_n_resources; i++)
        list_init(&h->groups[i].watchers);
    strbuf_init(&h->scratch, STRBUF_NO_MAX);
    return h;
}

void watch_hub_free(struct watch_hub *h)
{
    if (!h)
        return;
    assert(h->n_watchers == 0);
    for (size_t i = 0; i < schema_n_resources; i++)
        free(h->groups[i].prefix);
    strbuf_fini(&h->scratch);
    free(h->groups);
    free(h);
}

static struct store *store_of(const struct watch_hub *h)
{
    return stored_store(h->objects);
}

/* From what comes next on. */
static void init_place(struct store *s, struct store_watch *place, struct str prefix, uint64_t revision)
{
    struct arena a;
    struct err e;
    arena_init_small(&a);
    err_init(&e, &a);
    enum err_code rc = store_watch_init(s, place, prefix, revision, &e);
    assert(rc == ERR_OK); /* what is still to come is always known */
    arena_fini(&a);
}

static struct group *group_of(struct watch_hub *h, const struct resource *r)
{
    const struct resource *row = stored_row(r);
    struct group *g = &h->groups[row - schema_resources];
    if (!g->prefix) {
        struct arena a;
        arena_init_small(&a);
        struct str prefix = stored_prefix(&a, row, STR(""));
        g->prefix = mem_alloc(prefix.n + 1);
        memcpy(g->prefix, prefix.p, prefix.n);
        g->prefix[prefix.n] = 0;
        arena_fini(&a);
    }
    if (list_is_empty(&g->watchers))
        init_place(store_of(h), &g->place, str_of(g->prefix), store_revision(store_of(h)));
    return g;
}

/* ---- The end of a watcher ---- */

static void end(struct watcher *w)
{
    if (w->over)
        return;
    w->over = true;
    w->live = false;
    loop_timer_stop(w->hub->loop, &w->timer);
    stream_end(w->o.stream, NULL);
    w->o.ended(w->o.context);
}

static void release_initial(struct watcher *w)
{
    for (; w->at_initial < w->n_initial; w->at_initial++)
        store_item_unref(w->initial[w->at_initial]);
    room_give(w->hub->room, w->n_initial * sizeof(*w->initial));
    free(w->initial);
    w->initial = NULL;
    w->n_initial = w->at_initial = 0;
}

void watch_free(struct watcher *w)
{
    loop_timer_stop(w->hub->loop, &w->timer);
    loop_task_stop(&w->task);
    list_remove(&w->node);
    release_initial(w);
    strbuf_fini(&w->out);
    blob_unref(w->refused);
    w->hub->n_watchers--;
    free(w);
}

/* ---- Events ---- */

static bool wants(const struct watcher *w, struct store_item *item)
{
    return item && selectable_matches(w->o.list, stored_selectable(w->hub->objects, w->o.encoder.resource, item));
}

/* What an event of the store is to this watcher; false: nothing. */
static bool seen_as(const struct watcher *w, const struct store_event *ev, enum event_type *ret_type)
{
    struct str key = store_item_key(ev->item ? ev->item : ev->prev);
    if (!str_starts(key, w->prefix))
        return false;
    bool all = selects_all(w->o.list);
    bool is = ev->item && (all || wants(w, ev->item)), was = ev->prev && (all || wants(w, ev->prev));
    *ret_type = is ? (was ? EVENT_MODIFIED : EVENT_ADDED) : EVENT_DELETED;
    return is || was;
}

static void add_event(struct watcher *w, const struct store_event *ev, enum event_type type, struct strbuf *to)
{
    w->o.encoder.table.now_ns = clock_wall_ns(loop_clock(w->hub->loop));
    bool gone = type == EVENT_DELETED;
    encode_event(&w->o.encoder, type, gone ? ev->prev : ev->item, gone ? ev->revision : 0, to);
}

/* Tables tell their columns once. */
static void count_event(struct watcher *w, size_t n_bytes)
{
    w->o.encoder.table.no_columns = true;
    server_metrics_watch_event(w->hub->metrics, w->o.encoder.resource, n_bytes);
}

/* ---- Watchers that are behind ---- */

static void add_error(struct watcher *w)
{
    const struct resource *r = w->o.encoder.resource;
    const char *text = "The resourceVersion for the provided watch is too old.";
    if (!str_is(r->plural, "events"))
        text = arena_printf(w->o.arena, "too old resource version: %llu (%llu)", (unsigned long long)w->o.version,
                            (unsigned long long)store_compacted(store_of(w->hub)) + 1);
    struct status s = { .code = 410, .reason = STR("Expired"), .message = str_of(text) };
    encode_error_event(&w->o.encoder, &s, &w->out);
}

static void add_initial(struct watcher *w)
{
    while (w->at_initial < w->n_initial && w->out.n < WATCH_PART_BYTES) {
        struct store_item *item = w->initial[w->at_initial++];
        size_t start = w->out.n;
        encode_event(&w->o.encoder, EVENT_ADDED, item, 0, &w->out);
        count_event(w, w->out.n - start);
        store_item_unref(item);
    }
    if (w->at_initial < w->n_initial)
        return;
    release_initial(w);
    if (w->owes_bookmark)
        encode_bookmark(&w->o.encoder, w->initial_revision, true, &w->out);
    w->owes_bookmark = false;
}

enum missed { MISSED_NONE, MISSED_SOME, MISSED_MANY };

/* None: there is nothing more to tell for now. Many: others should get their turn first. */
static enum missed add_missed(struct watcher *w)
{
    struct store_event ev;
    enum event_type type;
    for (uint32_t n = 0; w->out.n < WATCH_PART_BYTES; n++) {
        if (n == WATCH_EVENTS_AT_ONCE_MAX)
            return MISSED_MANY;
        enum err_code rc = store_watch_next(store_of(w->hub), &w->place, &ev);
        if (rc == ERR_EXPIRED) {
            w->expired = true;
            add_error(w);
            return MISSED_SOME;
        }
        if (rc)
            return MISSED_NONE;
        if (!seen_as(w, &ev, &type))
            continue;
        size_t start = w->out.n;
        add_event(w, &ev, type, &w->out);
        count_event(w, w->out.n - start);
    }
    return MISSED_SOME;
}

/* False: the stream takes nothing now. What is made afterwards it takes, whatever its size. */
static bool flush(struct watcher *w)
{
    if (!stream_takes_more(w->o.stream))
        return false;
    if (w->refused) {
        bool taken = stream_write_shared(w->o.stream, w->refused);
        assert(taken);
        blob_unref(w->refused);
        w->refused = NULL;
    }
    if (w->out.n && !stream_write(w->o.stream, strbuf_str(&w->out)))
        return false;
    if (w->out.cap > WATCH_PART_BYTES)
        strbuf_fini(&w->out);
    strbuf_reset(&w->out);
    return stream_takes_more(w->o.stream);
}

/* As much as the stream takes; live when nothing is left. */
static void pump(struct watcher *w)
{
    enum missed missed = MISSED_SOME;
    while (!w->over && flush(w)) {
        if (w->expired || !room_has(w->hub->room, 0, true)) {
            end(w);
            return;
        }
        if (missed == MISSED_NONE) {
            w->live = true;
            return;
        }
        if (missed == MISSED_MANY) {
            loop_defer(w->hub->loop, &w->task);
            return;
        }
        if (w->n_initial || w->owes_bookmark)
            add_initial(w);
        else
            missed = add_missed(w);
    }
}

void watch_writable(struct watcher *w)
{
    if (!w->live)
        pump(w);
}

static void go_on(struct loop_task *t)
{
    watch_writable(LIST_ITEM(t, struct watcher, task));
}

/* ---- Live ones ---- */

static struct form *form_for(struct watch_hub *h, const struct watcher *w, enum event_type type)
{
    for (uint32_t i = 0; i < h->n_forms; i++)
        if (h->forms[i].type == type && encoders_agree(&h->forms[i].encoder, &w->o.encoder))
            return &h->forms[i];
    return NULL;
}

/* Borrowed until the next event. */
static struct blob *bytes_for(struct watch_hub *h, struct watcher *w, const struct store_event *ev, enum event_type type)
{
    struct form *f = form_for(h, w, type);
    if (f)
        return f->bytes;
    if (h->n_forms == WATCH_FORMS_MAX)
        blob_unref(h->forms[--h->n_forms].bytes);
    strbuf_reset(&h->scratch);
    add_event(w, ev, type, &h->scratch);
    f = &h->forms[h->n_forms++];
    *f = (struct form){ .encoder = w->o.encoder, .type = type, .bytes = blob_new(strbuf_str(&h->scratch)) };
    return f->bytes;
}

static void forget_forms(struct watch_hub *h)
{
    while (h->n_forms)
        blob_unref(h->forms[--h->n_forms].bytes);
    if (h->scratch.cap > WATCH_PART_BYTES)
        strbuf_fini(&h->scratch);
}

/* What the stream does not take is kept, and the watcher goes on from behind this event when it can. */
static void deliver(struct watch_hub *h, struct watcher *w, const struct store_event *ev)
{
    enum event_type type;
    if (ev->revision <= w->place.after || !seen_as(w, ev, &type))
        return;
    struct blob *bytes = bytes_for(h, w, ev, type);
    count_event(w, bytes->n);
    if (stream_write_shared(w->o.stream, bytes))
        return;
    w->refused = blob_ref(bytes);
    w->live = false;
    w->place.seq = w->group->place.seq;
}

static void expire_group(struct group *g)
{
    struct list_node *next;
    for (struct list_node *n = list_first(&g->watchers); n; n = next) {
        struct watcher *w = LIST_ITEM(n, struct watcher, node);
        next = list_next(&g->watchers, n);
        if (!w->live)
            continue;
        w->live = false;
        w->expired = true;
        add_error(w);
        pump(w);
    }
}

static void poll_group(struct watch_hub *h, struct group *g)
{
    struct store_event ev;
    enum err_code rc;
    while (!(rc = store_watch_next(store_of(h), &g->place, &ev))) {
        for (struct list_node *n = list_first(&g->watchers); n; n = list_next(&g->watchers, n)) {
            struct watcher *w = LIST_ITEM(n, struct watcher, node);
            if (w->live)
                deliver(h, w, &ev);
        }
        forget_forms(h);
    }
    if (rc == ERR_EXPIRED) {
        expire_group(g);
        init_place(store_of(h), &g->place, str_of(g->prefix), store_revision(store_of(h)));
    }
}

void watch_hub_poll(struct watch_hub *h)
{
    for (size_t i = 0; i < schema_n_resources; i++)
        if (!list_is_empty(&h->groups[i].watchers))
            poll_group(h, &h->groups[i]);
}

void watch_hub_stop(struct watch_hub *h)
{
    for (size_t i = 0; i < schema_n_resources; i++) {
        struct list *l = &h->groups[i].watchers;
        for (struct list_node *n = list_first(l); n; n = list_next(l, n))
            end(LIST_ITEM(n, struct watcher, node));
    }
}

/* ---- Time ---- */

static void set_timer(struct watcher *w)
{
    int64_t next = w->ends_ms;
    if (w->o.list->allow_bookmarks && w->bookmark_ms < next)
        next = w->bookmark_ms;
    loop_timer_set(w->hub->loop, &w->timer, next);
}

static void send_bookmark(struct watcher *w)
{
    encode_bookmark(&w->o.encoder, store_revision(store_of(w->hub)), false, &w->out);
    if (!flush(w)) { /* a place in the log of its own from here on */
        w->live = false;
        w->place.seq = w->group->place.seq;
    }
}

static void fire(struct loop_timer *t)
{
    struct watcher *w = LIST_ITEM(t, struct watcher, timer);
    int64_t now = loop_now_ms(w->hub->loop);
    if (now >= w->ends_ms) {
        end(w);
        return;
    }
    if (w->live && !w->out.n && store_revision(store_of(w->hub)) >= w->place.after)
        send_bookmark(w);
    int64_t last = w->ends_ms - WATCH_LAST_BOOKMARK_MS;
    w->bookmark_ms = now + WATCH_BOOKMARK_MS;
    if (now < last && w->bookmark_ms > last)
        w->bookmark_ms = last;
    set_timer(w);
}

/* ---- The beginning ---- */

/* Everything there is, as a list would show it. */
static void take_initial(struct watcher *w)
{
    struct list_options newest = *w->o.list;
    newest.resource_version = newest.continue_token = newest.resource_version_match = STR("");
    newest.limit = 0;
    struct list_request r = { w->hub->objects, w->o.encoder.resource, w->o.namespace, &newest };
    struct list_answer answer;
    struct arena a;
    struct err e;
    arena_init(&a);
    err_init(&e, &a);
    enum err_code rc = lists_read(&a, &r, &answer, &e);
    assert(rc == ERR_OK); /* the newest state is always there */
    w->initial = mem_alloc(mem_product(answer.n ? answer.n : 1, sizeof(*w->initial)));
    for (size_t i = 0; i < answer.n; i++)
        w->initial[i] = store_item_ref(answer.items[i]);
    w->n_initial = answer.n;
    room_take(w->hub->room, w->n_initial * sizeof(*w->initial));
    w->initial_revision = answer.revision;
    w->owes_bookmark = w->o.list->allow_bookmarks;
    arena_fini(&a);
}

static void find_place(struct watcher *w)
{
    struct store *s = store_of(w->hub);
    struct err e;
    err_init(&e, w->o.arena);
    uint64_t after = w->o.version;
    if (w->o.refusal) {
        w->expired = true;
        encode_error_event(&w->o.encoder, w->o.refusal, &w->out);
        return;
    }
    bool initial = w->o.list->send_initial_events == MAYBE_TRUE;
    if (initial)
        take_initial(w);
    if (initial || (after == 0 && w->o.list->send_initial_events == MAYBE_FALSE))
        after = initial ? w->initial_revision : store_revision(s);
    if (store_watch_init(s, &w->place, w->prefix, after, &e)) {
        w->expired = true;
        add_error(w);
    }
}

struct watcher *watch_begin(struct watch_hub *h, const struct watch_options *o)
{
    struct watcher *w = mem_zalloc(sizeof(*w));
    w->hub = h;
    w->o = *o;
    strbuf_init(&w->out, STRBUF_NO_MAX);
    w->group = group_of(h, o->encoder.resource);
    list_push(&w->group->watchers, &w->node);
    h->n_watchers++;
    w->prefix = stored_prefix(o->arena, stored_row(o->encoder.resource), o->namespace);
    w->timer.fire = fire;
    w->task.run = go_on;
    int64_t now = loop_now_ms(h->loop);
    w->ends_ms = now + o->seconds * 1000;
    int64_t first = (int64_t)rand_below(&h->rand, WATCH_BOOKMARK_MS); /* not all at the same time */
    w->bookmark_ms = now + WATCH_BOOKMARK_MS / 2 + first / 2;
    if (w->bookmark_ms > w->ends_ms - WATCH_LAST_BOOKMARK_MS && o->seconds * 1000 > WATCH_LAST_BOOKMARK_MS)
        w->bookmark_ms = w->ends_ms - WATCH_LAST_BOOKMARK_MS;
    find_place(w);
    set_timer(w);
    pump(w);
    return w;
}
