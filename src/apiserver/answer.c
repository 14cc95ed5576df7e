/* apiserver/answer.c - see exchange.h: what is sent. Upstream: endpoints/handlers/{response,negotiation}, responsewriters. */
#include <assert.h>
#include <stdlib.h>

#include "apiserver/exchange.h"
#include "apiserver/registry_priv.h"

enum {
    GZIP_FROM_BYTES = 128 << 10, /* answers below are not worth it; as upstream */
    LIST_PART_BYTES = 128 << 10, /* made at once of a list */
};

/* ---- Heads ---- */

/* As upstream quotes a text in a header: 299 - "text". */
static void add_warnings(struct exchange *x)
{
    for (uint32_t i = 0; i < x->op.warnings.n; i++) {
        struct strbuf value;
        strbuf_init(&value, STRBUF_NO_MAX);
        STRBUF_ADD_LIT(&value, "299 - \"");
        for (const char *c = x->op.warnings.texts[i]; *c; c++) {
            if (*c == '"' || *c == '\\')
                strbuf_add_char(&value, '\\');
            strbuf_add_char(&value, *c);
        }
        strbuf_add_char(&value, '"');
        headers_add(&x->extra, &x->arena, STR("warning"), strbuf_str(&value));
        strbuf_fini(&value);
    }
}

static void send_head(struct exchange *x, int code, const char *content_type)
{
    struct head head = { .status = (uint16_t)code };
    x->answered = true;
    x->code = code;
    add_warnings(x);
    if (content_type)
        headers_add(&head.headers, &x->arena, STR("content-type"), str_of(content_type));
    if (!headers_get(&x->extra, "cache-control").p)
        headers_add(&head.headers, &x->arena, STR("cache-control"), STR("no-cache, private"));
    for (uint32_t i = 0; i < x->extra.n; i++)
        headers_add(&head.headers, &x->arena, x->extra.at[i].name, x->extra.at[i].value);
    stream_send_head(x->stream, &head);
}

/* ---- Whole bodies ---- */

static bool packs(const struct exchange *x, size_t n)
{
    return n >= GZIP_FROM_BYTES && accepts_gzip(&x->head->headers);
}

static void add_gzip_headers(struct exchange *x)
{
    headers_add(&x->extra, &x->arena, STR("content-encoding"), STR("gzip"));
    headers_add(&x->extra, &x->arena, STR("vary"), STR("Accept-Encoding"));
}

/* Nothing waits in front of it, so it is taken, whatever its size. */
static void send_body(struct exchange *x, struct str body)
{
    bool taken = str_is(x->method, "HEAD") || body.n == 0 || stream_write(x->stream, body);
    assert(taken);
    x->n_sent = body.n;
    stream_end(x->stream, NULL);
}

void answer_bytes(struct exchange *x, int code, const char *content_type, struct str body)
{
    if (!x->stream)
        return;
    loop_timer_stop(x->server->o.loop, &x->timer);
    if (!packs(x, body.n)) {
        headers_add(&x->extra, &x->arena, STR("content-length"), number_text(&x->arena, body.n));
        send_head(x, code, content_type);
        send_body(x, body);
        return;
    }
    struct strbuf packed;
    strbuf_init(&packed, STRBUF_NO_MAX);
    struct deflater *d = deflater_new();
    deflater_input(d, body, false, true, &packed);
    deflater_free(d);
    add_gzip_headers(x);
    send_head(x, code, content_type);
    send_body(x, strbuf_str(&packed));
    strbuf_fini(&packed);
}

void answer_text(struct exchange *x, int code, const char *text)
{
    answer_bytes(x, code, "text/plain; charset=utf-8", str_of(text));
}

void answer_status(struct exchange *x, const struct status *s)
{
    struct answer_form form = negotiate_error(headers_get(&x->head->headers, "accept"));
    struct strbuf body;
    strbuf_init(&body, STRBUF_NO_MAX);
    status_add(&body, form.media, form.pretty || x->pretty, s);
    if (s->retry_after_seconds)
        headers_add(&x->extra, &x->arena, STR("retry-after"), number_text(&x->arena, (uint64_t)s->retry_after_seconds));
    answer_bytes(x, s->code, media_content_type(form.media), strbuf_str(&body));
    strbuf_fini(&body);
}

void answer_error(struct exchange *x, const struct field_errors *errs)
{
    struct status s = status_of_err(&x->arena, &x->err, errs);
    answer_status(x, &s);
}

/* ---- Outcomes ---- */

struct encoder exchange_encoder(struct exchange *x)
{
    struct encoder e = { .objects = x->server->o.objects, .resource = x->at.resource, .form = x->form,
                         .pretty = x->pretty || x->form.pretty };
    e.table.v1beta1 = x->form.meta_v1beta1;
    e.table.now_ns = clock_wall_ns(loop_clock(x->server->o.loop));
    return e;
}

static void add_success(struct exchange *x, struct strbuf *to)
{
    status_add(to, x->form.media, x->pretty || x->form.pretty, &x->op.status);
}

/* Something is still there, and its dependents were asked to go with it in the old way. */
static bool is_accepted(const struct operation *op)
{
    return op->item && op->delete.orphan_dependents == MAYBE_FALSE;
}

/* That what is there can be sent as the client wants it. */
static bool check_form(struct exchange *x, bool list, enum include_object *ret_include)
{
    const struct resource *r = x->at.resource;
    struct str package = str_first(r->group, str_index(r->group, '.'));
    if (r->group.n == 0 || str_is(package, "events"))
        package = STR("core");
    const char *go_type = arena_printf(&x->arena, "%.*s.%.*s%s", STR_ARG(package), STR_ARG(r->kind), list ? "List" : "");
    if (!negotiate_shape(&x->form, list, go_type, &x->err) &&
        (x->form.as != AS_TABLE || !table_read_include(&x->target, ret_include, &x->err)))
        return true;
    answer_error(x, NULL);
    return false;
}

void answer_operation(struct exchange *x)
{
    struct operation *op = &x->op;
    if (op->err.code) {
        struct status s = operation_status(op);
        answer_status(x, &s);
        return;
    }
    struct encoder e = exchange_encoder(x);
    struct strbuf body;
    if (!op->answers_status && !check_form(x, false, &e.table.include))
        return;
    strbuf_init(&body, STRBUF_NO_MAX);
    if (op->answers_status)
        add_success(x, &body);
    else if (op->item)
        encode_item(&e, op->item, &body);
    else
        encode_value(&e, op->type, &op->value, &body);
    answer_bytes(x, is_accepted(op) ? 202 : op->code, answer_content_type(&x->form, false), strbuf_str(&body));
    strbuf_fini(&body);
}

/* ---- Lists ---- */

struct list_stream {
    struct list_encoder encoder;
    struct store_item **items; /* one reference each, until sent */
    struct strbuf part, packed;
    struct deflater *deflater; /* NULL: plain */
    bool more;
};

void answer_list_free(struct exchange *x)
{
    struct list_stream *l = x->list;
    if (!l)
        return;
    for (size_t i = 0; i < l->encoder.n; i++)
        store_item_unref(l->items[i]);
    free(l->items);
    strbuf_fini(&l->part);
    strbuf_fini(&l->packed);
    if (l->deflater)
        deflater_free(l->deflater);
    free(l);
    x->list = NULL;
}

/* The next part, as it goes over the wire. */
static struct str next_part(struct list_stream *l)
{
    strbuf_reset(&l->part);
    l->more = encode_list_part(&l->encoder, LIST_PART_BYTES, &l->part);
    if (!l->deflater)
        return strbuf_str(&l->part);
    strbuf_reset(&l->packed);
    deflater_input(l->deflater, strbuf_str(&l->part), false, !l->more, &l->packed);
    return strbuf_str(&l->packed);
}

/* What was refused waits in its buffer for `writable`. */
void answer_list_more(struct exchange *x)
{
    struct list_stream *l = x->list;
    struct strbuf *waiting = l->deflater ? &l->packed : &l->part;
    for (;;) {
        if (waiting->n && !stream_write(x->stream, strbuf_str(waiting)))
            return;
        x->n_sent += waiting->n;
        if (!l->more)
            break;
        next_part(l);
    }
    answer_list_free(x);
    stream_end(x->stream, NULL);
}

static struct list_stream *list_stream_new(struct exchange *x, const struct list_answer *list)
{
    struct list_stream *l = mem_zalloc(sizeof(*l));
    l->items = mem_alloc(mem_product(list->n ? list->n : 1, sizeof(*l->items)));
    for (size_t i = 0; i < list->n; i++)
        l->items[i] = store_item_ref(list->items[i]);
    l->encoder = (struct list_encoder){ .encoder = exchange_encoder(x), .items = l->items, .n = list->n,
                                        .meta = list->meta };
    strbuf_init(&l->part, STRBUF_NO_MAX);
    strbuf_init(&l->packed, STRBUF_NO_MAX);
    return l;
}

/* Before anything is made: a list that is sent in parts takes an array, another one as much as it has. */
static bool may_list(struct exchange *x, const struct list_answer *list)
{
    struct encoder e = exchange_encoder(x);
    size_t n_bytes = 0;
    for (size_t i = 0; !encodes_in_parts(&e) && i < list->n; i++)
        n_bytes += store_item_value(list->items[i]).n;
    return exchange_may_answer(x, n_bytes) && exchange_take_room(x, list->n * sizeof(*list->items));
}

void answer_list(struct exchange *x, const struct list_answer *list)
{
    if (!x->stream)
        return;
    if (!may_list(x, list)) {
        exchange_refuse(x);
        return;
    }
    struct list_stream *l = x->list = list_stream_new(x, list);
    loop_timer_stop(x->server->o.loop, &x->timer);
    if (!check_form(x, true, &l->encoder.encoder.table.include)) {
        answer_list_free(x);
        return;
    }
    strbuf_reset(&l->part);
    l->more = encode_list_part(&l->encoder, LIST_PART_BYTES, &l->part);
    const char *type = answer_content_type(&x->form, false);
    if (!l->more) {
        answer_bytes(x, 200, type, strbuf_str(&l->part));
        answer_list_free(x);
        return;
    }
    if (accepts_gzip(&x->head->headers)) {
        l->deflater = deflater_new();
        deflater_input(l->deflater, strbuf_str(&l->part), false, false, &l->packed);
        add_gzip_headers(x);
    }
    send_head(x, 200, type);
    if (str_is(x->method, "HEAD")) {
        answer_list_free(x);
        stream_end(x->stream, NULL);
        return;
    }
    answer_list_more(x);
}

void answer_watch(struct exchange *x)
{
    send_head(x, 200, answer_content_type(&x->form, true));
}
