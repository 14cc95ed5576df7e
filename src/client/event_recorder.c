/* client/event_recorder.c - see event_recorder.h. Upstream: client-go tools/events/event_broadcaster.go and
 * tools/record/event.go, v0.36.
 *
 * A kind is what is remembered of equal Events, a delivery one request about one, with its retries. A kind lives as long
 * as it is remembered or a delivery needs it. */
#include "client/event_recorder.h"

#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/list.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/rand.h"
#include "base/strbuf.h"
#include "client/event_body.h"
#include "client/event_correlate.h"

enum {
    TRIES_MAX = 12,
    RETRY_MS = 10 * 1000, /* and up to a quarter more */
    FINISH_MS = 6 * 60 * 1000,
    REFRESH_MS = 30 * 60 * 1000,
    N_TEXTS = 12, /* of an event */
};

#define COMBINED "(combined from similar events): "

struct kind {
    struct list_node by_age;
    char *block; /* all texts of the event, the name of the Event object, and the key where it is none of these */
    struct str key, name;
    uint32_t ends[N_TEXTS]; /* of the texts, each with a NUL behind it: there are many kinds, and slices are large */
    int64_t begun_ms, last_ms;         /* monotonic */
    int64_t begun_wall_ns, last_wall_ns;
    int32_t count; /* of its series; 0: it is none yet. core: all of them */
    uint32_t n_refs;
    struct str note;    /* core: of the last one; owned */
    bool combined;      /* core */
    bool sending, more; /* core: a request is under way; others came meanwhile */
};

struct delivery {
    struct heap_node by_time; /* while it waits to be tried again */
    struct list_node turn;    /* while it waits because enough are at the server */
    struct list_node node;    /* in all */
    struct event_recorder *recorder;
    struct kind *kind;
    int32_t count; /* of the series it tells; 0: creates the Event */
    int64_t last_wall_ns;
    struct str note;     /* core; owned */
    bool creates_series; /* the Event was gone */
    uint8_t n_tries;
    int64_t due_ms;
    api_call call;
};

struct event_recorder {
    const struct api *api;
    const struct clock *clock;
    struct rand rand;
    struct map_str kinds;
    struct list by_age, deliveries;
    struct heap retries;
    struct list ready; /* deliveries that wait for their turn */
    uint32_t n_sending;
    struct event_correlator *correlator; /* NULL: events.k8s.io/v1 */
    int64_t next_finish_ms, next_refresh_ms;
    struct event_recorder_counts counts;
};

/* ---- Kinds ---- */

static struct str *text_of(struct event_to_record *e, unsigned i)
{
    struct str *const texts[N_TEXTS] = {
        &e->controller, &e->instance, &e->type, &e->reason, &e->action, &e->regarding.kind, &e->regarding.ns,
        &e->regarding.name, &e->regarding.uid, &e->regarding.api_version, &e->regarding.resource_version, &e->note,
    };
    return texts[i];
}

/* All texts that tell kinds apart: all but the note, which comes last. */
static void add_key(struct strbuf *b, struct event_to_record *e)
{
    for (unsigned i = 0; i < N_TEXTS - 1; i++) {
        strbuf_add_str(b, *text_of(e, i));
        strbuf_add_char(b, 0);
    }
}

static void keep_text(struct str *kept, struct str text)
{
    free((void *)(uintptr_t)kept->p);
    *kept = (struct str){ memcpy(mem_alloc(text.n + 1), text.n ? text.p : "", text.n), text.n };
}

static void drop_text(struct str *kept)
{
    free((void *)(uintptr_t)kept->p);
}

static void kind_unref(struct kind *k)
{
    assert(k->n_refs > 0);
    if (--k->n_refs)
        return;
    free(k->block);
    drop_text(&k->note);
    free(k);
}

static void forget(struct event_recorder *r, struct kind *k)
{
    map_str_remove(&r->kinds, k->key, NULL);
    list_remove(&k->by_age);
    r->counts.kinds--;
    kind_unref(k);
}

/* Copies everything into one block. Without a correlator the texts without the note are the key. */
static void pack(struct event_recorder *r, struct kind *k, struct str key, struct event_to_record e)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (unsigned i = 0; i < N_TEXTS; i++) {
        strbuf_add_str(&b, *text_of(&e, i));
        k->ends[i] = (uint32_t)b.n;
        strbuf_add_char(&b, 0);
    }
    size_t name_at = b.n;
    event_body_add_name(&b, &r->rand, e.regarding.name, k->begun_wall_ns);
    size_t key_at = r->correlator ? b.n : 0;
    k->name.n = b.n - name_at;
    if (r->correlator)
        strbuf_add_str(&b, key);
    k->block = memcpy(mem_alloc(b.n), b.p, b.n);
    k->name.p = k->block + name_at;
    k->key = (struct str){ k->block + key_at, key.n };
    assert(str_eq(k->key, key));
    strbuf_fini(&b);
}

static struct event_to_record event_of(const struct kind *k)
{
    struct event_to_record e = { 0 };
    for (unsigned i = 0; i < N_TEXTS; i++)
        *text_of(&e, i) = str_range(k->block + (i ? k->ends[i - 1] + 1 : 0), k->block + k->ends[i]);
    return e;
}

/* Where the Event is written. */
static struct str ns_of(const struct kind *k)
{
    struct str ns = event_of(k).regarding.ns;
    return ns.n ? ns : STR("default");
}

static struct kind *remember(struct event_recorder *r, struct str key, const struct event_to_record *e)
{
    if (r->counts.kinds == EVENT_RECORDER_KINDS_MAX)
        forget(r, LIST_ITEM(list_first(&r->by_age), struct kind, by_age));
    struct kind *k = mem_zalloc(sizeof(*k));
    k->begun_ms = k->last_ms = clock_mono_ms(r->clock);
    k->begun_wall_ns = k->last_wall_ns = clock_wall_ns(r->clock);
    k->n_refs = 1;
    pack(r, k, key, *e);
    map_str_put(&r->kinds, k->key, NULL)->ptr = k;
    list_push(&r->by_age, &k->by_age);
    r->counts.kinds++;
    return k;
}

/* ---- Deliveries ---- */

static void answered(void *context, const struct api_answer *answer);

static bool is_patch(const struct delivery *d)
{
    return d->count > (d->recorder->correlator ? 1 : 0) && !d->creates_series;
}

static void send(struct delivery *d)
{
    struct event_recorder *r = d->recorder;
    const struct kind *k = d->kind;
    enum event_api to = r->correlator ? EVENT_API_CORE : EVENT_API_EVENTS;
    struct strbuf body, target;
    strbuf_init(&body, 1 << 20);
    strbuf_init(&target, 1 << 20);
    struct event_to_record event = event_of(k);
    event_body_add_target(&target, to, ns_of(k));
    struct event_body b = { .event = &event, .note = r->correlator ? d->note : event.note, .name = k->name,
                            .ns = ns_of(k), .first_wall_ns = k->begun_wall_ns, .last_wall_ns = d->last_wall_ns,
                            .count = d->count, .combined = k->combined };
    struct api_request request = { .lane = API_LANE_EVENT, .method = "POST",
                                   .media_type = media_content_type(r->api->media) };
    if (is_patch(d)) {
        strbuf_printf(&target, "/%.*s", STR_ARG(k->name));
        event_body_add_patch(&body, to, &b);
        request.method = "PATCH";
        request.media_type = "application/strategic-merge-patch+json";
    } else {
        event_body_add_object(&body, to, r->api->media, &b);
    }
    request.target = strbuf_str(&target);
    request.body = strbuf_str(&body);
    d->n_tries++;
    r->n_sending++;
    d->call = r->api->send(r->api->context, &request, answered, d);
    strbuf_fini(&target);
    strbuf_fini(&body);
}

/* Now, or when it is its turn. */
static void send_in_turn(struct delivery *d)
{
    struct event_recorder *r = d->recorder;
    if (r->n_sending < EVENT_RECORDER_SENDING_MAX)
        send(d);
    else
        list_push(&r->ready, &d->turn);
}

static void send_next(struct event_recorder *r)
{
    if (r->n_sending == EVENT_RECORDER_SENDING_MAX || list_is_empty(&r->ready))
        return;
    struct delivery *d = LIST_ITEM(list_first(&r->ready), struct delivery, turn);
    list_remove(&d->turn);
    send(d);
}

static void release(struct delivery *d)
{
    struct event_recorder *r = d->recorder;
    list_remove(&d->node);
    if (heap_has(&d->by_time))
        heap_remove(&r->retries, &d->by_time);
    if (list_has(&d->turn))
        list_remove(&d->turn);
    kind_unref(d->kind);
    drop_text(&d->note);
    free(d);
    r->counts.waiting--;
}

static void deliver(struct event_recorder *r, struct kind *k);

/* core: what came meanwhile goes out in one. */
static void finish(struct delivery *d)
{
    struct event_recorder *r = d->recorder;
    struct kind *k = d->kind;
    bool more = k->more;
    k->sending = k->more = false;
    k->n_refs++;
    release(d);
    if (more)
        deliver(r, k);
    kind_unref(k);
}

static void try_again_later(struct delivery *d)
{
    struct event_recorder *r = d->recorder;
    if (d->n_tries >= TRIES_MAX) {
        LOG_ERROR(NULL, "Unable to write event (retry limit exceeded!)", KO("event", ns_of(d->kind), d->kind->name));
        r->counts.given_up++;
        finish(d);
        return;
    }
    double random = rand_double(&r->rand);
    int64_t wait_ms = RETRY_MS + (int64_t)(random * (RETRY_MS / 4));
    if (r->correlator)
        wait_ms = d->n_tries == 1 ? (int64_t)(random * RETRY_MS) : RETRY_MS;
    d->due_ms = clock_mono_ms(r->clock) + wait_ms;
    d->creates_series = false; /* the patch first, each time */
    heap_push(&r->retries, &d->by_time);
}

static void refused(struct delivery *d, const struct api_answer *answer)
{
    struct arena a;
    arena_init(&a);
    const char *problem = api_problem(&a, answer);
    bool exists = answer->status == 409 && str_is(api_status_reason(&a, answer), "AlreadyExists");
    bool again = exists && d->count && !d->recorder->correlator; /* created by another request of ours meanwhile */
    if (exists && !again)
        LOG(5, "Server rejected event (will not retry!)", KO("event", ns_of(d->kind), d->kind->name), KS("err", problem));
    else if (!again)
        LOG_ERROR(problem, "Server rejected event (will not retry!)", KO("event", ns_of(d->kind), d->kind->name));
    arena_fini(&a);
    if (again) {
        try_again_later(d);
        return;
    }
    d->recorder->counts.refused++;
    finish(d);
}

static void answered(void *context, const struct api_answer *answer)
{
    struct delivery *d = context;
    struct event_recorder *r = d->recorder;
    d->call = 0;
    r->n_sending--;
    if (api_ok(answer)) {
        d->recorder->counts.written++;
        finish(d);
    } else if (answer->status == 404 && is_patch(d)) {
        d->creates_series = true;
        d->n_tries--;
        send(d);
    } else if (answer->status == 0) {
        LOG_ERROR(answer->error, "Unable to write event (may retry after sleeping)");
        try_again_later(d);
    } else {
        refused(d, answer);
    }
    send_next(r);
}

static void deliver(struct event_recorder *r, struct kind *k)
{
    if (r->counts.waiting == EVENT_RECORDER_WAITING_MAX) {
        r->counts.dropped++;
        return;
    }
    struct delivery *d = mem_zalloc(sizeof(*d));
    d->recorder = r;
    d->kind = k;
    k->n_refs++;
    d->count = k->count;
    d->last_wall_ns = k->last_wall_ns;
    if (r->correlator) {
        keep_text(&d->note, k->note);
        k->sending = true;
    }
    list_push(&r->deliveries, &d->node);
    r->counts.waiting++;
    send_in_turn(d);
}

/* ---- The whole ---- */

/* Equal ones add to a count, and all are told, unless there are too many. */
static void add_core(struct event_recorder *r, const struct event_to_record *e)
{
    int64_t now_ms = clock_mono_ms(r->clock);
    bool combined = event_correlate_combines(r->correlator, e, now_ms);
    struct strbuf key, note;
    strbuf_init(&key, STRBUF_NO_MAX);
    strbuf_init(&note, STRBUF_NO_MAX);
    event_correlate_add_source(&key, e);
    strbuf_add_str(&key, e->reason);
    strbuf_add_char(&key, 0);
    if (combined)
        STRBUF_ADD_LIT(&note, COMBINED);
    else
        strbuf_add_str(&key, e->note);
    strbuf_add_str(&note, e->note);
    union map_value *found = map_str_find(&r->kinds, strbuf_str(&key));
    struct kind *k = found ? found->ptr : remember(r, strbuf_str(&key), e);
    list_remove(&k->by_age); /* the one used last is forgotten last */
    list_push(&r->by_age, &k->by_age);
    k->last_wall_ns = clock_wall_ns(r->clock);
    k->count = k->count < INT32_MAX ? k->count + 1 : k->count;
    k->combined = combined;
    keep_text(&k->note, strbuf_str(&note));
    if (!event_correlate_permits(r->correlator, e, now_ms))
        r->counts.left_out++;
    else if (k->sending)
        k->more = true;
    else
        deliver(r, k);
    strbuf_fini(&note);
    strbuf_fini(&key);
}

void event_recorder_add(struct event_recorder *r, const struct event_to_record *e)
{
    if (r->correlator) {
        add_core(r, e);
        return;
    }
    struct event_to_record copy = *e;
    struct strbuf key;
    strbuf_init(&key, STRBUF_NO_MAX);
    add_key(&key, &copy);
    union map_value *found = map_str_find(&r->kinds, strbuf_str(&key));
    struct kind *k = found ? found->ptr : NULL;
    if (k) {
        k->last_ms = clock_mono_ms(r->clock);
        k->last_wall_ns = clock_wall_ns(r->clock);
        bool begins = k->count == 0;
        k->count = begins ? 2 : k->count < INT32_MAX ? k->count + 1 : k->count;
        if (begins)
            deliver(r, k);
    } else {
        deliver(r, remember(r, strbuf_str(&key), e));
    }
    strbuf_fini(&key);
}

/* Those that have not come for a while are told for the last time, and forgotten. */
static void finish_old(struct event_recorder *r, int64_t now_ms)
{
    for (struct list_node *n = list_first(&r->by_age), *next; n; n = next) {
        struct kind *k = LIST_ITEM(n, struct kind, by_age);
        next = list_next(&r->by_age, n);
        if (now_ms - (k->count ? k->last_ms : k->begun_ms) <= FINISH_MS)
            continue;
        if (k->count)
            deliver(r, k);
        forget(r, k);
    }
}

static void refresh_series(struct event_recorder *r)
{
    for (struct list_node *n = list_first(&r->by_age); n; n = list_next(&r->by_age, n)) {
        struct kind *k = LIST_ITEM(n, struct kind, by_age);
        if (k->count)
            deliver(r, k);
    }
}

void event_recorder_tick(struct event_recorder *r)
{
    int64_t now_ms = clock_mono_ms(r->clock);
    for (struct heap_node *n; (n = heap_top(&r->retries));) {
        struct delivery *d = HEAP_ITEM(n, struct delivery, by_time);
        if (d->due_ms > now_ms)
            break;
        heap_pop(&r->retries);
        send_in_turn(d);
    }
    if (r->correlator)
        return;
    if (now_ms >= r->next_refresh_ms) {
        r->next_refresh_ms = now_ms + REFRESH_MS;
        refresh_series(r);
    }
    if (now_ms >= r->next_finish_ms) {
        r->next_finish_ms = now_ms + FINISH_MS;
        finish_old(r, now_ms);
    }
}

int64_t event_recorder_due_ms(const struct event_recorder *r)
{
    int64_t due = r->next_finish_ms < r->next_refresh_ms ? r->next_finish_ms : r->next_refresh_ms;
    if (r->correlator)
        due = INT64_MAX;
    const struct heap_node *n = heap_top(&r->retries);
    int64_t retry = n ? HEAP_ITEM(n, struct delivery, by_time)->due_ms : INT64_MAX;
    return retry < due ? retry : due;
}

struct event_recorder_counts event_recorder_counts(const struct event_recorder *r)
{
    return r->counts;
}

static bool sooner(const struct heap_node *a, const struct heap_node *b, void *context)
{
    (void)context;
    return HEAP_ITEM(a, struct delivery, by_time)->due_ms < HEAP_ITEM(b, struct delivery, by_time)->due_ms;
}

struct event_recorder *event_recorder_new(const struct api *api, const struct clock *clock, uint64_t seed)
{
    struct event_recorder *r = mem_zalloc(sizeof(*r));
    r->api = api;
    r->clock = clock;
    rand_init(&r->rand, seed);
    map_str_init(&r->kinds);
    list_init(&r->by_age);
    list_init(&r->deliveries);
    list_init(&r->ready);
    heap_init(&r->retries, sooner, NULL);
    r->next_finish_ms = clock_mono_ms(clock) + FINISH_MS;
    r->next_refresh_ms = clock_mono_ms(clock) + REFRESH_MS;
    return r;
}

void event_recorder_use_core(struct event_recorder *r)
{
    assert(r->counts.kinds == 0);
    assert(r->counts.waiting == 0);
    if (!r->correlator)
        r->correlator = event_correlator_new();
}

void event_recorder_free(struct event_recorder *r)
{
    if (!r)
        return;
    for (struct list_node *n; (n = list_first(&r->deliveries));) {
        struct delivery *d = LIST_ITEM(n, struct delivery, node);
        if (d->call)
            r->api->cancel(r->api->context, d->call);
        release(d);
    }
    for (struct list_node *n; (n = list_first(&r->by_age));)
        forget(r, LIST_ITEM(n, struct kind, by_age));
    event_correlator_free(r->correlator);
    heap_fini(&r->retries);
    map_str_fini(&r->kinds);
    free(r);
}
