/* client/reflector.c - see reflector.h. Upstream: client-go tools/cache/reflector.go, v0.36.
 *
 * LISTING is a watch that begins with all objects, PAGING a list in pages, WATCHING a watch from a version. Between them
 * it is WAITING, with `then` what comes after. */
#include "client/reflector.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/rand.h"
#include "base/strbuf.h"

enum {
    BACKOFF_MS = 800,
    BACKOFF_MS_MAX = 30 * 1000,
    BACKOFF_RESET_MS = 2 * 60 * 1000,
    WATCH_S_MIN = 300, /* how long a watch may last: by chance up to twice that */
    SHORT_WATCH_MS = 1000,
    INTERNAL_MS_MAX = 30 * 1000, /* how long a server may say that it cannot go on before all is listed again */
    PAGE_OBJECTS = 500,
    PAGE_TIMEOUT_MS = 60 * 1000,
    VERSION_BYTES_MAX = 1024,
    TOKEN_BYTES_MAX = 64 << 10,
};

enum state { IDLE, WAITING, LISTING, PAGING, WATCHING };

struct reflector {
    struct reflector_options o;
    struct arena texts; /* of the options */
    struct arena scratch;
    struct rand rand;
    enum state state, then;
    api_call call;
    int64_t due_ms; /* WAITING */

    struct strbuf version; /* last seen; empty: none */
    struct strbuf token;   /* PAGING: of the next page */
    bool version_is_gone;  /* list without it */
    bool in_pages;         /* this list comes in pages, since the stream was refused */
    bool page_waits;       /* PAGING: the next page is not asked for while the receiver is full */
    int64_t internal_ms;   /* of the first internal error since something came; INT64_MIN: there was none */

    int status;            /* of the stream under way; 0 before its head */
    enum media media;
    struct strbuf buffer;  /* bytes of the stream that make no whole frame yet, or of a refusal */
    bool paused, in_take, broken; /* broken: the stream is given up within a callback */
    int64_t opened_ms;
    uint64_t n_events_before; /* when this stream began */

    int64_t backoff_ms, last_backoff_ms;
    bool has_synced;
    struct reflector_counts counts;
};

static void begin(struct reflector *r, enum state state);
static void ask_page(struct reflector *r);

/* ---- Waiting ---- */

static void wait_ms(struct reflector *r, enum state then, int64_t ms)
{
    r->state = WAITING;
    r->then = then;
    r->due_ms = clock_mono_ms(r->o.clock) + ms;
}

static void back_off(struct reflector *r, enum state then)
{
    int64_t now_ms = clock_mono_ms(r->o.clock);
    if (r->backoff_ms == 0 || now_ms - r->last_backoff_ms > BACKOFF_RESET_MS)
        r->backoff_ms = BACKOFF_MS;
    wait_ms(r, then, r->backoff_ms + (int64_t)(rand_double(&r->rand) * (double)r->backoff_ms));
    r->last_backoff_ms = now_ms;
    r->backoff_ms = r->backoff_ms * 2 < BACKOFF_MS_MAX ? r->backoff_ms * 2 : BACKOFF_MS_MAX;
}

static void list_again(struct reflector *r)
{
    r->in_pages = r->o.no_streaming;
    back_off(r, r->in_pages ? PAGING : LISTING);
}

/* ---- What arrives ---- */

static void set_version(struct reflector *r, struct str version)
{
    if (version.n == 0 || version.n > VERSION_BYTES_MAX)
        return;
    strbuf_reset(&r->version);
    strbuf_add_str(&r->version, version);
}

static void give(struct reflector *r, enum reflected what, const struct watch_object *object)
{
    r->in_take = true;
    r->paused |= !r->o.sink.take(r->o.sink.context, what, object);
    r->in_take = false;
}

static void synced(struct reflector *r)
{
    r->version_is_gone = false;
    r->has_synced = true;
    give(r, REFLECTED_SYNCED, &(struct watch_object){ .version = strbuf_str(&r->version) });
}

static void stop_call(struct reflector *r)
{
    if (r->call)
        r->o.api->cancel(r->o.api->context, r->call);
    r->call = 0;
    r->broken = true;
    strbuf_reset(&r->buffer);
}

/* A watch that ended with an internal error is begun again, for a while. */
static bool may_be_internal(struct reflector *r)
{
    int64_t now_ms = clock_mono_ms(r->o.clock);
    if (r->internal_ms == INT64_MIN)
        r->internal_ms = now_ms;
    if (now_ms - r->internal_ms <= INTERNAL_MS_MAX)
        return true;
    r->internal_ms = INT64_MIN;
    return false;
}

/* The stream says that it cannot go on. A version can also be one that the server has not reached, and never will
 * when it was set back: it says so with 504. */
static void take_error(struct reflector *r, int code, struct str message)
{
    LOG(2, "Watch ended with an error", KS("path", r->o.path), KI("code", code), KS("err", message));
    enum state state = r->state;
    stop_call(r);
    if ((code == 410 || code == 504) && state == LISTING)
        r->version_is_gone = true;
    if (state == WATCHING && (code == 429 || (code == 500 && may_be_internal(r))))
        back_off(r, WATCHING);
    else
        list_again(r);
}

static void take_event(struct reflector *r, const struct watch_event *event)
{
    bool listing = r->state == LISTING;
    r->counts.events++;
    switch (event->type) {
    case WATCH_ERROR:
        r->counts.errors++;
        take_error(r, event->code, event->message);
        return;
    case WATCH_BOOKMARK:
        r->internal_ms = INT64_MIN;
        set_version(r, event->object.version);
        if (listing && event->object.ends_list) {
            r->state = WATCHING;
            synced(r);
        }
        return;
    case WATCH_ADDED:
        give(r, listing ? REFLECTED_LISTED : REFLECTED_SET, &event->object);
        break;
    case WATCH_MODIFIED:
        give(r, REFLECTED_SET, &event->object);
        break;
    case WATCH_DELETED:
        give(r, REFLECTED_REMOVED, &event->object);
        break;
    }
    r->internal_ms = INT64_MIN;
    if (!listing) /* while listing, objects come in no order of versions */
        set_version(r, event->object.version);
}

/* A frame that makes no sense: the stream is given up. */
static void take_nonsense(struct reflector *r, const char *why)
{
    r->counts.errors++;
    LOG_ERROR(why, "Unable to read the watch stream", KS("path", r->o.path));
    stop_call(r);
    list_again(r);
}

static void take_frame(struct reflector *r, struct str frame)
{
    struct err e;
    arena_reset(&r->scratch);
    err_init(&e, &r->scratch);
    struct watch_event event;
    if (frame.n == 0)
        return;
    if (watch_event_read(&r->scratch, r->media, frame, &event, &e))
        take_nonsense(r, e.message);
    else
        take_event(r, &event);
}

/* Takes whole frames from the front of `bytes` until the receiver has enough; how many bytes that were. */
static size_t take_frames(struct reflector *r, struct str bytes)
{
    size_t at = 0;
    while (!r->paused && !r->broken) {
        struct str frame;
        size_t n = watch_frame_cut(r->media, str_from(bytes, at), &frame);
        if (n == SIZE_MAX)
            take_nonsense(r, "a frame is too long");
        if (n == 0 || n == SIZE_MAX)
            break;
        at += n;
        take_frame(r, frame);
    }
    return at;
}

static void keep_rest(struct reflector *r, size_t n_used)
{
    if (n_used == 0)
        return;
    memmove(r->buffer.p, r->buffer.p + n_used, r->buffer.n - n_used);
    r->buffer.n -= n_used;
}

static bool on_data(void *context, struct str bytes)
{
    struct reflector *r = context;
    if (r->status != 200) { /* a Status, for the log */
        if (r->buffer.n < 4096)
            strbuf_add_str(&r->buffer, str_first(bytes, 4096));
        return true;
    }
    if (r->buffer.n == 0) { /* the usual case: whole frames, not copied */
        size_t n = take_frames(r, bytes);
        if (!r->broken)
            strbuf_add_str(&r->buffer, str_from(bytes, n));
    } else {
        strbuf_add_str(&r->buffer, bytes);
        size_t n = take_frames(r, strbuf_str(&r->buffer));
        if (!r->broken)
            keep_rest(r, n);
    }
    return !r->paused;
}

void reflector_resume(struct reflector *r)
{
    assert(!r->in_take);
    if (!r->paused)
        return;
    r->paused = false;
    if (r->state == PAGING && r->page_waits) {
        r->page_waits = false;
        ask_page(r);
        return;
    }
    if ((r->state != LISTING && r->state != WATCHING) || r->broken)
        return;
    size_t n = take_frames(r, strbuf_str(&r->buffer));
    if (r->broken)
        return;
    keep_rest(r, n);
    if (!r->paused && r->call)
        r->o.api->resume(r->o.api->context, r->call);
}

/* ---- The end of a stream ---- */

static void on_head(void *context, int status, enum media media)
{
    struct reflector *r = context;
    r->status = status;
    r->media = media;
}

/* The list that has begun is an empty one. */
static void not_served(struct reflector *r)
{
    if (!r->has_synced)
        LOG(1, "The server does not serve this resource", KS("path", r->o.path));
    synced(r);
    list_again(r);
}

static void refused(struct reflector *r)
{
    if (r->status == 404 && r->state == LISTING && r->o.may_be_missing) {
        not_served(r);
        return;
    }
    r->counts.errors++;
    struct str why = strbuf_str(&r->buffer);
    if (r->status == 429 || r->status == 503 || r->status == 410)
        LOG(2, "Watch was refused", KS("path", r->o.path), KI("code", r->status), KS("err", why));
    else /* rights that are missing, for example: nothing will work until somebody reads this */
        LOG_ERROR(NULL, "Failed to watch", KS("path", r->o.path), KI("code", r->status), KS("answer", why));
    bool listing = r->state == LISTING;
    if (r->status == 429 || r->status == 503) {
        back_off(r, r->state);
    } else if (listing && r->status == 410) {
        r->version_is_gone = true;
        back_off(r, LISTING);
    } else if (listing) { /* a server that does not know of such lists, perhaps */
        r->in_pages = true;
        back_off(r, PAGING);
    } else {
        list_again(r);
    }
}

static void on_end(void *context, const char *error)
{
    struct reflector *r = context;
    r->call = 0;
    if (r->status && r->status != 200) {
        refused(r);
        return;
    }
    if (error || r->status == 0) {
        r->counts.errors++;
        if (r->status == 0)
            LOG_ERROR(error, "Failed to watch", KS("path", r->o.path));
        else
            LOG(2, "Watch broke off", KS("path", r->o.path), KS("err", error));
    }
    if (r->status == 0) {
        back_off(r, r->state);
        return;
    }
    /* As upstream: a stream that breaks after a while is one that ended. Backing off would leave the cache ever older where
     * connections are cut every few seconds. */
    bool idle = r->counts.events == r->n_events_before;
    bool is_short = clock_mono_ms(r->o.clock) - r->opened_ms < SHORT_WATCH_MS;
    if (r->state == LISTING || (idle && is_short))
        back_off(r, r->state); /* a list that did not end; a watch that did at once */
    else
        begin(r, WATCHING);
}

/* ---- Pages ---- */

static void on_page(void *context, const struct api_answer *answer);

static void ask_page(struct reflector *r)
{
    struct strbuf target;
    strbuf_init(&target, STRBUF_NO_MAX);
    strbuf_printf(&target, "%s?limit=%d", r->o.path, PAGE_OBJECTS);
    if (r->o.selector)
        strbuf_printf(&target, "&%s", r->o.selector);
    if (r->token.n) {
        STRBUF_ADD_LIT(&target, "&continue=");
        api_add_escaped(&target, strbuf_str(&r->token));
    }
    struct api_request request = { .lane = API_LANE_READ, .method = "GET", .target = strbuf_str(&target),
                                   .accept = r->o.accept, .timeout_ms = PAGE_TIMEOUT_MS };
    r->call = r->o.api->send(r->o.api->context, &request, on_page, r);
    strbuf_fini(&target);
}

static void page_failed(struct reflector *r, const char *why)
{
    r->counts.errors++;
    LOG_ERROR(why, "Failed to list", KS("path", r->o.path));
    list_again(r);
}

/* A list that is too slow for its own token is begun anew; so is one of nonsense. */
static void on_page(void *context, const struct api_answer *answer)
{
    struct reflector *r = context;
    r->call = 0;
    struct err e;
    arena_reset(&r->scratch);
    err_init(&e, &r->scratch);
    struct list_page page;
    if (answer->status == 404 && r->o.may_be_missing) {
        not_served(r);
        return;
    }
    if (!api_ok(answer)) {
        page_failed(r, api_problem(&r->scratch, answer));
        return;
    }
    if (list_page_read(&r->scratch, answer->media, answer->body, &page, &e)) {
        page_failed(r, e.message);
        return;
    }
    if (page.next.n > TOKEN_BYTES_MAX) {
        page_failed(r, "the token of the next page is too long");
        return;
    }
    for (size_t i = 0; i < page.n_items; i++)
        give(r, REFLECTED_LISTED, &page.items[i]);
    strbuf_reset(&r->token);
    strbuf_add_str(&r->token, page.next);
    if (page.next.n) {
        r->page_waits = r->paused;
        if (!r->paused)
            ask_page(r);
        return;
    }
    set_version(r, page.version);
    synced(r);
    begin(r, WATCHING);
}

/* ---- Beginning ---- */

static void open_watch(struct reflector *r)
{
    static const struct api_stream calls = { NULL, on_head, on_data, on_end };
    struct api_stream stream = calls;
    stream.context = r;
    bool listing = r->state == LISTING;
    unsigned seconds = WATCH_S_MIN + (unsigned)rand_below(&r->rand, WATCH_S_MIN);
    struct strbuf target;
    strbuf_init(&target, STRBUF_NO_MAX);
    strbuf_printf(&target, "%s?allowWatchBookmarks=true", r->o.path);
    if (r->o.selector)
        strbuf_printf(&target, "&%s", r->o.selector);
    if (r->version.n && !(listing && r->version_is_gone)) {
        STRBUF_ADD_LIT(&target, "&resourceVersion=");
        api_add_escaped(&target, strbuf_str(&r->version));
    }
    if (listing)
        STRBUF_ADD_LIT(&target, "&resourceVersionMatch=NotOlderThan&sendInitialEvents=true");
    strbuf_printf(&target, "&timeout=%um%us&timeoutSeconds=%u&watch=true", seconds / 60, seconds % 60, seconds);
    struct api_request request = { .lane = API_LANE_READ, .method = "GET", .target = strbuf_str(&target),
                                   .accept = r->o.accept };
    r->status = 0;
    r->broken = false;
    r->opened_ms = clock_mono_ms(r->o.clock);
    r->n_events_before = r->counts.events;
    strbuf_reset(&r->buffer);
    r->call = r->o.api->open(r->o.api->context, &request, &stream);
    strbuf_fini(&target);
}

static void begin(struct reflector *r, enum state state)
{
    r->state = state;
    switch (state) {
    case LISTING:
        r->counts.lists++;
        give(r, REFLECTED_LIST, NULL);
        open_watch(r);
        return;
    case PAGING:
        r->counts.lists++;
        r->page_waits = false;
        strbuf_reset(&r->token);
        give(r, REFLECTED_LIST, NULL);
        ask_page(r);
        return;
    case WATCHING:
        r->counts.watches++;
        open_watch(r);
        return;
    case IDLE:
    case WAITING:
        break;
    }
    assert(!"nothing to begin");
}

/* ---- The whole ---- */

void reflector_start(struct reflector *r)
{
    assert(r->state == IDLE);
    r->in_pages = r->o.no_streaming;
    begin(r, r->in_pages ? PAGING : LISTING);
}

void reflector_tick(struct reflector *r)
{
    if (r->state == WAITING && clock_mono_ms(r->o.clock) >= r->due_ms)
        begin(r, r->then);
}

int64_t reflector_due_ms(const struct reflector *r)
{
    return r->state == WAITING ? r->due_ms : INT64_MAX;
}

bool reflector_has_synced(const struct reflector *r)
{
    return r->has_synced;
}

struct reflector_counts reflector_counts(const struct reflector *r)
{
    return r->counts;
}

struct reflector *reflector_new(const struct reflector_options *o)
{
    struct reflector *r = mem_zalloc(sizeof(*r));
    r->o = *o;
    arena_init(&r->texts);
    arena_init(&r->scratch);
    r->o.path = arena_cstr(&r->texts, str_of(o->path));
    r->o.selector = o->selector ? arena_cstr(&r->texts, str_of(o->selector)) : NULL;
    r->o.accept = o->accept ? arena_cstr(&r->texts, str_of(o->accept)) : NULL;
    r->internal_ms = INT64_MIN;
    rand_init(&r->rand, o->seed);
    strbuf_init(&r->version, VERSION_BYTES_MAX);
    strbuf_init(&r->token, TOKEN_BYTES_MAX);
    strbuf_init(&r->buffer, STRBUF_NO_MAX); /* watch_frame_cut bounds it */
    return r;
}

void reflector_free(struct reflector *r)
{
    if (!r)
        return;
    stop_call(r);
    arena_fini(&r->texts);
    arena_fini(&r->scratch);
    strbuf_fini(&r->version);
    strbuf_fini(&r->token);
    strbuf_fini(&r->buffer);
    free(r);
}
