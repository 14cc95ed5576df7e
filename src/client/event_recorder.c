/* client/event_recorder.c - see event_recorder.h. Upstream: client-go tools/events/event_broadcaster.go, v0.36.
 *
 * A kind is what is remembered of equal Events, a delivery one request about one, with its retries. A kind lives as long
 * as it is remembered or a delivery needs it. */
#include "client/event_recorder.h"

#include <assert.h>
#include <stdlib.h>

#include "api/names.h"
#include "api/schema_slots.h"
#include "api/time.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/rand.h"
#include "base/strbuf.h"

enum {
    TRIES_MAX = 12,
    RETRY_MS = 10 * 1000, /* and up to a quarter more */
    FINISH_MS = 6 * 60 * 1000,
    REFRESH_MS = 30 * 60 * 1000,
    N_TEXTS = 12, /* of an event */
};

struct kind {
    struct list_node by_age;
    char *block; /* all texts, the key first */
    struct str key, name, ns; /* of the Event object */
    struct event_to_record event;
    int64_t begun_ms, last_ms;         /* monotonic */
    int64_t begun_wall_ns, last_wall_ns;
    int32_t count; /* of its series; 0: it is none yet */
    uint32_t n_refs;
};

struct delivery {
    struct heap_node by_time; /* while it waits to be tried again */
    struct list_node node;    /* in all */
    struct event_recorder *recorder;
    struct kind *kind;
    int32_t count; /* of the series it tells; 0: creates the Event */
    int64_t last_wall_ns;
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

static void kind_unref(struct kind *k)
{
    assert(k->n_refs > 0);
    if (--k->n_refs)
        return;
    free(k->block);
    free(k);
}

static void forget(struct event_recorder *r, struct kind *k)
{
    map_str_remove(&r->kinds, k->key, NULL);
    list_remove(&k->by_age);
    r->counts.kinds--;
    kind_unref(k);
}

static void add_random_name(struct event_recorder *r, struct strbuf *b)
{
    uint64_t high = rand_u64(&r->rand), low = rand_u64(&r->rand);
    strbuf_printf(b, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(high >> 32), (unsigned)(high >> 16 & 0xffff),
                  (unsigned)(high & 0xfff), (unsigned)(0x8000 | (low >> 48 & 0x3fff)),
                  (unsigned long long)(low & 0xffffffffffff));
}

/* "<object>.<nanoseconds in hex>", or something random where that is no name. */
static void add_name(struct event_recorder *r, struct strbuf *b, struct str object, int64_t wall_ns)
{
    size_t before = b->n;
    strbuf_add_str(b, object);
    strbuf_printf(b, ".%llx", (unsigned long long)wall_ns);
    if (name_is_dns_subdomain((struct str){ b->p + before, b->n - before }, false).n == 0)
        return;
    b->n = before;
    add_random_name(r, b);
}

/* Copies the key, the name and every text of the event into one block. */
static void pack(struct event_recorder *r, struct kind *k, struct str key, const struct event_to_record *e)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    size_t starts[N_TEXTS + 3];
    strbuf_add_str(&b, key);
    starts[0] = b.n;
    add_name(r, &b, e->regarding.name, k->begun_wall_ns);
    starts[1] = b.n;
    k->event = *e;
    for (unsigned i = 0; i < N_TEXTS; i++) {
        strbuf_add_str(&b, *text_of(&k->event, i));
        starts[i + 2] = b.n;
    }
    k->block = mem_alloc(b.n + 1);
    if (b.n)
        memcpy(k->block, b.p, b.n);
    k->key = (struct str){ k->block, starts[0] };
    k->name = (struct str){ k->block + starts[0], starts[1] - starts[0] };
    for (unsigned i = 0; i < N_TEXTS; i++)
        *text_of(&k->event, i) = (struct str){ k->block + starts[i + 1], starts[i + 2] - starts[i + 1] };
    k->ns = k->event.regarding.ns.n ? k->event.regarding.ns : STR("default");
    strbuf_fini(&b);
}

static struct kind *remember(struct event_recorder *r, struct str key, const struct event_to_record *e)
{
    if (r->counts.kinds == EVENT_RECORDER_KINDS_MAX)
        forget(r, LIST_ITEM(list_first(&r->by_age), struct kind, by_age));
    struct kind *k = mem_zalloc(sizeof(*k));
    k->begun_ms = k->last_ms = clock_mono_ms(r->clock);
    k->begun_wall_ns = k->last_wall_ns = clock_wall_ns(r->clock);
    k->n_refs = 1;
    pack(r, k, key, e);
    map_str_put(&r->kinds, k->key, NULL)->ptr = k;
    list_push(&r->by_age, &k->by_age);
    r->counts.kinds++;
    return k;
}

/* ---- Bodies ---- */

static struct value micro_time(int64_t wall_ns)
{
    int64_t seconds = wall_ns / CLOCK_NS_PER_SECOND;
    return value_time(seconds, (uint32_t)(wall_ns % CLOCK_NS_PER_SECOND / 1000 * 1000));
}

static struct value reference_value(struct arena *a, const struct object_reference *o)
{
    struct value v = value_struct(a, &schema_types[T_core_v1_ObjectReference]);
    const struct { unsigned slot; struct str text; } rows[] = {
        { SLOT_core_v1_ObjectReference_kind, o->kind },
        { SLOT_core_v1_ObjectReference_namespace, o->ns },
        { SLOT_core_v1_ObjectReference_name, o->name },
        { SLOT_core_v1_ObjectReference_uid, o->uid },
        { SLOT_core_v1_ObjectReference_apiVersion, o->api_version },
        { SLOT_core_v1_ObjectReference_resourceVersion, o->resource_version },
    };
    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].text.n)
            v.slots[rows[i].slot] = value_string(rows[i].text);
    return v;
}

static struct value series_value(struct arena *a, const struct delivery *d)
{
    struct value v = value_struct(a, &schema_types[T_events_v1_EventSeries]);
    v.slots[SLOT_events_v1_EventSeries_count] = value_int(d->count);
    v.slots[SLOT_events_v1_EventSeries_lastObservedTime] = micro_time(d->last_wall_ns);
    return v;
}

static struct value event_value(struct arena *a, const struct delivery *d)
{
    const struct kind *k = d->kind;
    struct value meta = value_struct(a, &schema_types[T_meta_v1_ObjectMeta]);
    meta.slots[SLOT_meta_v1_ObjectMeta_name] = value_string(k->name);
    meta.slots[SLOT_meta_v1_ObjectMeta_namespace] = value_string(k->ns);
    struct value v = value_struct(a, &schema_types[T_events_v1_Event]);
    v.slots[SLOT_KIND] = value_string(STR("Event"));
    v.slots[SLOT_API_VERSION] = value_string(STR("events.k8s.io/v1"));
    v.slots[SLOT_events_v1_Event_metadata] = meta;
    v.slots[SLOT_events_v1_Event_eventTime] = micro_time(k->begun_wall_ns);
    if (d->count)
        v.slots[SLOT_events_v1_Event_series] = series_value(a, d);
    v.slots[SLOT_events_v1_Event_reportingController] = value_string(k->event.controller);
    v.slots[SLOT_events_v1_Event_reportingInstance] = value_string(k->event.instance);
    v.slots[SLOT_events_v1_Event_action] = value_string(k->event.action);
    v.slots[SLOT_events_v1_Event_reason] = value_string(k->event.reason);
    v.slots[SLOT_events_v1_Event_regarding] = reference_value(a, &k->event.regarding);
    v.slots[SLOT_events_v1_Event_note] = value_string(k->event.note);
    v.slots[SLOT_events_v1_Event_type] = value_string(k->event.type);
    return v;
}

/* ---- Deliveries ---- */

static void answered(void *context, const struct api_answer *answer);

static void send(struct delivery *d)
{
    struct event_recorder *r = d->recorder;
    struct arena a;
    arena_init(&a);
    struct strbuf body;
    strbuf_init(&body, 1 << 20);
    bool patch = d->count && !d->creates_series;
    const char *collection = arena_printf(&a, "/apis/events.k8s.io/v1/namespaces/%.*s/events", STR_ARG(d->kind->ns));
    struct api_request request = { .lane = API_LANE_EVENT, .method = patch ? "PATCH" : "POST" };
    if (patch) {
        struct value series = series_value(&a, d);
        STRBUF_ADD_LIT(&body, "{\"series\":");
        json_encode(&body, &schema_types[T_events_v1_EventSeries], &series);
        STRBUF_ADD_LIT(&body, "}");
        request.target = str_of(arena_printf(&a, "%s/%.*s", collection, STR_ARG(d->kind->name)));
        request.media_type = "application/strategic-merge-patch+json";
    } else {
        struct value event = event_value(&a, d);
        object_encode(&body, r->api->media, &schema_types[T_events_v1_Event], &event);
        request.target = str_of(collection);
        request.media_type = media_content_type(r->api->media);
    }
    request.body = strbuf_str(&body);
    d->n_tries++;
    d->call = r->api->send(r->api->context, &request, answered, d);
    strbuf_fini(&body);
    arena_fini(&a);
}

static void finish(struct delivery *d)
{
    struct event_recorder *r = d->recorder;
    list_remove(&d->node);
    if (heap_has(&d->by_time))
        heap_remove(&r->retries, &d->by_time);
    kind_unref(d->kind);
    free(d);
    r->counts.waiting--;
}

static void try_again_later(struct delivery *d)
{
    struct event_recorder *r = d->recorder;
    if (d->n_tries >= TRIES_MAX) {
        LOG_ERROR(NULL, "Unable to write event (retry limit exceeded!)", KO("event", d->kind->ns, d->kind->name));
        r->counts.given_up++;
        finish(d);
        return;
    }
    d->due_ms = clock_mono_ms(r->clock) + RETRY_MS + (int64_t)(rand_double(&r->rand) * (RETRY_MS / 4));
    d->creates_series = false; /* the patch first, each time */
    heap_push(&r->retries, &d->by_time);
}

static void refused(struct delivery *d, const struct api_answer *answer)
{
    struct arena a;
    arena_init(&a);
    const char *problem = api_problem(&a, answer);
    bool exists = answer->status == 409 && str_is(api_status_reason(&a, answer), "AlreadyExists");
    bool again = exists && d->count; /* created by another request of ours meanwhile */
    if (exists && !again)
        LOG(5, "Server rejected event (will not retry!)", KO("event", d->kind->ns, d->kind->name), KS("err", problem));
    else if (!again)
        LOG_ERROR(problem, "Server rejected event (will not retry!)", KO("event", d->kind->ns, d->kind->name));
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
    d->call = 0;
    if (api_ok(answer)) {
        d->recorder->counts.written++;
        finish(d);
    } else if (answer->status == 404 && d->count && !d->creates_series) {
        d->creates_series = true;
        d->n_tries--;
        send(d);
    } else if (answer->status == 0) {
        LOG_ERROR(answer->error, "Unable to write event (may retry after sleeping)");
        try_again_later(d);
    } else {
        refused(d, answer);
    }
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
    list_push(&r->deliveries, &d->node);
    r->counts.waiting++;
    send(d);
}

/* ---- The whole ---- */

void event_recorder_add(struct event_recorder *r, const struct event_to_record *e)
{
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
        send(d);
    }
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
    heap_init(&r->retries, sooner, NULL);
    r->next_finish_ms = clock_mono_ms(clock) + FINISH_MS;
    r->next_refresh_ms = clock_mono_ms(clock) + REFRESH_MS;
    return r;
}

void event_recorder_free(struct event_recorder *r)
{
    if (!r)
        return;
    for (struct list_node *n; (n = list_first(&r->deliveries));) {
        struct delivery *d = LIST_ITEM(n, struct delivery, node);
        if (d->call)
            r->api->cancel(r->api->context, d->call);
        finish(d);
    }
    for (struct list_node *n; (n = list_first(&r->by_age));)
        forget(r, LIST_ITEM(n, struct kind, by_age));
    heap_fini(&r->retries);
    map_str_fini(&r->kinds);
    free(r);
}
