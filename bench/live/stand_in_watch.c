/* bench/live/stand_in_watch.c - watches: each a cursor into the changes of a resource; see stand_in.h. */
#include <stdlib.h>

#include "api/schema_slots.h"
#include "api/selector_parse.h"
#include "bench/live/stand_in.h"
#include "codec/proto.h"

struct watch {
    struct list_node node;
    struct stand_in *x;
    struct shelf *shelf;
    struct stream *s;
    struct arena arena; /* of the selector */
    struct selector selector;
    struct str ns;
    enum media media;
    bool lists, ends_list;
    size_t listed;         /* objects of the shelf that were looked at, while it lists */
    uint64_t next;         /* number of the next change */
    struct strbuf pending; /* what the stream did not take yet */
};

static void add_event(struct watch *w, const char *type, struct str object)
{
    if (w->media == MEDIA_PROTOBUF) {
        proto_encode_watch_event(&w->pending, str_of(type), object);
        return;
    }
    strbuf_printf(&w->pending, "{\"type\":\"%s\",\"object\":%.*s}\n", type, STR_ARG(object));
}

static void add_change(struct watch *w, const char *type, const struct kept *o, const struct blob *raw)
{
    struct stand_in *x = w->x;
    if (w->ns.n && !str_is(w->ns, o->ns))
        return;
    arena_reset(&x->scratch);
    if (!store_matches(&x->scratch, &w->selector, raw))
        return;
    strbuf_reset(&x->out);
    add_object(x, &x->out, w->media, w->shelf, raw);
    add_event(w, type, strbuf_str(&x->out));
}

/* An object with nothing but its version and, at the end of a list, the mark. */
static void add_bookmark(struct watch *w)
{
    struct stand_in *x = w->x;
    const struct shelf *f = w->shelf;
    struct strbuf json;
    struct err e;
    struct value v;
    struct work work = work_init(1 << 20);
    arena_reset(&x->scratch);
    err_init(&e, &x->scratch);
    strbuf_init(&json, STRBUF_NO_MAX);
    strbuf_printf(&json, "{\"kind\":\"%.*s\",\"apiVersion\":\"%.*s\",\"metadata\":{\"resourceVersion\":\"%llu\","
                         "\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}", STR_ARG(f->resource->kind),
                  STR_ARG(shelf_api_version(&x->scratch, f)), (unsigned long long)x->version);
    strbuf_reset(&x->out);
    if (w->media != MEDIA_PROTOBUF)
        strbuf_add_str(&x->out, strbuf_str(&json));
    else if (!json_decode(&x->scratch, &work, f->resource->type, strbuf_str(&json), NULL, &v, &e))
        proto_encode_object(&x->out, f->resource->type, &v);
    add_event(w, "BOOKMARK", strbuf_str(&x->out));
    strbuf_fini(&json);
}

static void end_list(struct watch *w)
{
    struct stand_in_counts *c = &w->x->counts;
    w->lists = false;
    if (w->ends_list)
        add_bookmark(w);
    if (str_is(w->shelf->resource->plural, "pods") && !c->synced_ns)
        c->synced_ns = now_ns();
}

static void list_more(struct watch *w)
{
    struct shelf *f = w->shelf;
    for (; w->listed < f->objects.n && w->pending.n < STAND_IN_BATCH_BYTES; w->listed++)
        if (f->objects.at[w->listed]->raw)
            add_change(w, "ADDED", f->objects.at[w->listed], f->objects.at[w->listed]->raw);
    if (w->listed >= f->objects.n)
        end_list(w);
}

static void follow(struct watch *w)
{
    static const char *const types[] = { "ADDED", "MODIFIED", "DELETED" };
    const struct change *c;
    for (; w->pending.n < STAND_IN_BATCH_BYTES && (c = store_change(w->shelf, w->next)); w->next++)
        add_change(w, types[c->type], c->object, c->raw);
}

/* As much as the stream takes. */
static void pump(struct watch *w)
{
    if (!w->lists && w->next < w->shelf->log_first) {
        stream_end(w->s, NULL); /* too slow: what comes next is forgotten */
        return;
    }
    do {
        if (w->pending.n) {
            if (!stream_write(w->s, strbuf_str(&w->pending)))
                return;
            strbuf_reset(&w->pending);
        }
        if (w->lists)
            list_more(w);
        else
            follow(w);
    } while (w->pending.n);
}

static void on_writable(struct stream *s)
{
    pump(stream_user(s));
}

static void on_closed(struct stream *s, const struct stream_result *result)
{
    struct watch *w = stream_user(s);
    (void)result;
    list_remove(&w->node);
    strbuf_fini(&w->pending);
    arena_fini(&w->arena);
    free(w);
}

static const struct stream_events events = { .writable = on_writable, .closed = on_closed };

void watch_start(struct stand_in *x, struct shelf *f, struct stream *s, const struct watch_from *from)
{
    struct watch *w = mem_zalloc(sizeof(*w));
    struct err e;
    *w = (struct watch){ .x = x, .shelf = f, .s = s, .media = from->media, .lists = from->lists,
                         .ends_list = from->ends_list };
    arena_init(&w->arena);
    strbuf_init(&w->pending, STRBUF_NO_MAX);
    err_init(&e, &w->arena);
    w->ns = arena_str(&w->arena, from->ns);
    if (selector_parse(&w->arena, WORK_OWN, arena_str(&w->arena, from->selector), &w->selector, &e))
        w->selector = (struct selector){ .nothing = true };
    w->next = f->log_first + f->n_log;
    while (!w->lists && w->next > f->log_first && store_change(f, w->next - 1)->version > from->version)
        w->next--;
    struct head head = { .status = 200 };
    headers_add(&head.headers, stream_arena(s), STR("content-type"),
                from->media == MEDIA_PROTOBUF ? STR("application/vnd.kubernetes.protobuf;stream=watch")
                                              : STR("application/json"));
    stream_attach(s, &events, w);
    stream_send_head(s, &head);
    list_push(&f->watches, &w->node);
    pump(w);
}

static void on_wake(struct loop_task *t)
{
    struct stand_in *x = LIST_ITEM(&t->node, struct stand_in, wake.node);
    for (size_t i = 0; i < schema_n_resources; i++)
        for (struct list_node *n = list_first(&x->shelves[i].watches); n; n = list_next(&x->shelves[i].watches, n))
            pump(LIST_ITEM(n, struct watch, node));
}

void watches_wake(struct stand_in *x)
{
    loop_defer(x->loop, &x->wake);
}

void watches_init(struct stand_in *x)
{
    x->wake.run = on_wake;
}
