/* bench/live/stand_in_serve.c - requests: where they go and what they are answered; see stand_in.h. */
#include <stdlib.h>

#include "api/defaults.h"
#include "api/edit.h"
#include "api/selector_parse.h"
#include "bench/live/stand_in.h"
#include "codec/proto.h"
#include "patch/patch.h"

enum { BODY_BYTES_MAX = 4 << 20 };

struct place {
    struct shelf *shelf;
    struct str ns, name, sub; /* empty: none */
    struct str rest;          /* behind the subresource */
    struct str query;
    enum media wants;
};

struct request {
    struct stand_in *x;
    struct place at;
    struct strbuf body;
};

/* ---- Answers ---- */

static void answer(struct stream *s, uint16_t status, enum media m, struct str body)
{
    stream_respond(s, status, media_content_type(m), body);
}

static void answer_status(struct stand_in *x, struct stream *s, enum media m, int code, const char *reason,
                          const char *message)
{
    struct strbuf json, out;
    struct value v;
    struct err e;
    struct work work = work_init(1 << 20);
    const struct type *t = schema_type(STR("meta/v1.Status"));
    err_init(&e, &x->scratch);
    strbuf_init(&json, STRBUF_NO_MAX);
    strbuf_init(&out, STRBUF_NO_MAX);
    strbuf_printf(&json, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"%s\",\"message\":",
                  code < 300 ? "Success" : "Failure");
    json_add_string(&json, str_of(message));
    strbuf_printf(&json, ",\"reason\":\"%s\",\"code\":%d}", reason, code);
    if (m != MEDIA_PROTOBUF)
        strbuf_add_str(&out, strbuf_str(&json));
    else if (!json_decode(&x->scratch, &work, t, strbuf_str(&json), NULL, &v, &e))
        proto_encode_object(&out, t, &v);
    answer(s, (uint16_t)code, m, strbuf_str(&out));
    strbuf_fini(&json);
    strbuf_fini(&out);
}

static void answer_object(struct stand_in *x, struct stream *s, const struct place *at, int code, const struct kept *o)
{
    strbuf_reset(&x->out);
    add_object(x, &x->out, at->wants, at->shelf, o->raw);
    answer(s, (uint16_t)code, at->wants, strbuf_str(&x->out));
}

static void not_found(struct stand_in *x, struct stream *s, const struct place *at)
{
    const char *text = at->shelf ? arena_printf(&x->scratch, "%.*s \"%.*s\" not found",
                                                STR_ARG(at->shelf->resource->plural), STR_ARG(at->name))
                                 : "the server could not find the requested resource";
    answer_status(x, s, at->wants, 404, "NotFound", text);
}

/* ---- Where ---- */

static struct str next_part(struct str *path)
{
    while (path->n && path->p[0] == '/')
        *path = str_from(*path, 1);
    struct str part = str_first(*path, str_index(*path, '/'));
    *path = str_from(*path, part.n);
    return part;
}

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static struct str unescape(struct arena *a, struct str text)
{
    char *out = arena_alloc(a, text.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        bool escaped = text.p[i] == '%' && i + 2 < text.n && hex(text.p[i + 1]) >= 0 && hex(text.p[i + 2]) >= 0;
        out[n++] = escaped ? (char)(hex(text.p[i + 1]) << 4 | hex(text.p[i + 2])) : text.p[i];
        i += escaped ? 2 : 0;
    }
    return (struct str){ out, n };
}

static struct str parameter(struct arena *a, struct str query, const char *name)
{
    size_t n = strlen(name);
    while (query.n) {
        struct str pair = str_first(query, str_index(query, '&'));
        if (str_starts(pair, (struct str){ name, n }) && pair.n > n && pair.p[n] == '=')
            return unescape(a, str_from(pair, n + 1));
        query = str_from(query, pair.n + 1);
    }
    return STR("");
}

static bool is_true(struct str text)
{
    return str_is(text, "true") || str_is(text, "1");
}

static struct place find_place(struct stand_in *x, const struct head *r)
{
    size_t mark = str_index(r->target, '?');
    struct str path = str_first(r->target, mark), group = STR(""), plural;
    struct place at = { .query = str_from(r->target, mark + 1), .ns = STR(""), .name = STR(""), .sub = STR("") };
    struct str accept = headers_get(&r->headers, "accept");
    at.wants = str_starts(accept, STR("application/vnd.kubernetes.protobuf")) ? MEDIA_PROTOBUF : MEDIA_JSON;
    if (str_is(next_part(&path), "apis"))
        group = next_part(&path);
    struct str version = next_part(&path);
    plural = next_part(&path);
    struct str rest = path, second = next_part(&rest), third = next_part(&rest);
    bool is_sub = str_is(third, "finalize") || str_is(third, "status");
    if (str_is(plural, "namespaces") && third.n && !is_sub) {
        at.ns = second;
        plural = third;
        path = rest;
    }
    at.shelf = store_shelf(x, group, version, plural);
    at.name = unescape(&x->scratch, next_part(&path));
    at.sub = next_part(&path);
    at.rest = path;
    return at;
}

/* ---- Reading ---- */

static bool is_listed(const char *const *names, size_t n, struct str plural)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(plural, names[i]))
            return true;
    return false;
}

#define IS_LISTED(vec, plural) is_listed((vec).at, (vec).n, (plural))

static uint64_t number_of(struct str text, uint64_t otherwise)
{
    uint64_t n;
    return text.n && parse_length(text, &n) ? n : otherwise;
}

/* A page of a list: where it begins and how much it may hold. All pages have the version of the first, so that a watch from
 * there shows what has changed meanwhile. */
struct page {
    struct selector selector;
    uint64_t at, version;
    uint64_t limit, n;
};

/* Tokens are "VERSION.INDEX". */
static void read_token(struct page *page, struct str token)
{
    size_t dot = str_index(token, '.');
    page->version = number_of(str_first(token, dot), page->version);
    page->at = number_of(str_from(token, dot + 1), 0);
}

static struct str next_token(struct arena *a, const struct page *page, const struct shelf *f)
{
    return page->at < f->objects.n ? str_of(arena_printf(a, "%llu.%llu", (unsigned long long)page->version,
                                                         (unsigned long long)page->at))
                                   : STR("");
}

static void add_item(struct stand_in *x, struct strbuf *to, const struct place *at, struct page *page,
                     const struct blob *raw)
{
    if (at->wants == MEDIA_PROTOBUF) {
        add_field(to, 2, (struct str){ raw->bytes, raw->n });
    } else {
        if (page->n)
            strbuf_add_char(to, ',');
        add_object(x, to, MEDIA_JSON, at->shelf, raw);
    }
    page->n++;
}

static void add_items(struct stand_in *x, struct strbuf *to, const struct place *at, struct page *page)
{
    const struct shelf *f = at->shelf;
    for (; page->at < f->objects.n && page->n < page->limit; page->at++) {
        const struct kept *o = f->objects.at[page->at];
        if (o->raw && (!at->ns.n || str_is(at->ns, o->ns)) && store_matches(&x->scratch, &page->selector, o->raw))
            add_item(x, to, at, page, o->raw);
    }
}

static void add_proto_list(struct stand_in *x, struct strbuf *to, const struct place *at, struct page *page,
                           struct str kind)
{
    struct arena *a = &x->scratch;
    struct strbuf meta, list;
    strbuf_init(&meta, STRBUF_NO_MAX);
    strbuf_init(&list, STRBUF_NO_MAX);
    add_items(x, &list, at, page);
    add_field(&meta, 2, number_text(a, page->version));
    add_field(&meta, 3, next_token(a, page, at->shelf));
    add_field(&list, 1, strbuf_str(&meta));
    add_envelope(to, shelf_api_version(a, at->shelf), kind, strbuf_str(&list));
    strbuf_fini(&meta);
    strbuf_fini(&list);
}

static void add_json_list(struct stand_in *x, struct strbuf *to, const struct place *at, struct page *page,
                          struct str kind)
{
    struct arena *a = &x->scratch;
    strbuf_printf(to, "{\"kind\":\"%.*s\",\"apiVersion\":\"%.*s\",\"items\":[", STR_ARG(kind),
                  STR_ARG(shelf_api_version(a, at->shelf)));
    add_items(x, to, at, page);
    struct str next = next_token(a, page, at->shelf);
    strbuf_printf(to, "],\"metadata\":{\"resourceVersion\":\"%llu\",\"continue\":\"%.*s\"}}\n",
                  (unsigned long long)page->version, STR_ARG(next));
}

static void serve_list(struct stand_in *x, struct stream *s, const struct place *at)
{
    struct arena *a = &x->scratch;
    struct err e;
    struct strbuf out;
    struct str token = parameter(a, at->query, "continue");
    struct page page = { .version = x->version, .limit = number_of(parameter(a, at->query, "limit"), UINT64_MAX) };
    err_init(&e, a);
    read_token(&page, token);
    if (x->o.expire && token.n && !x->has_expired) {
        x->has_expired = true;
        answer_status(x, s, at->wants, 410, "Expired", "The provided continue parameter is too old");
        return;
    }
    if (selector_parse(a, WORK_OWN, parameter(a, at->query, "labelSelector"), &page.selector, &e)) {
        answer_status(x, s, at->wants, 400, "BadRequest", e.message);
        return;
    }
    if (x->o.page && page.limit != UINT64_MAX && page.limit > x->o.page) /* who asks for all gets all */
        page.limit = x->o.page;
    strbuf_init(&out, STRBUF_NO_MAX);
    struct str kind = str_of(arena_printf(a, "%.*sList", STR_ARG(at->shelf->resource->kind)));
    (at->wants == MEDIA_PROTOBUF ? add_proto_list : add_json_list)(x, &out, at, &page, kind);
    answer(s, 200, at->wants, strbuf_str(&out));
    strbuf_fini(&out);
}

static void serve_watch(struct stand_in *x, struct stream *s, const struct place *at)
{
    struct arena *a = &x->scratch;
    bool initial = is_true(parameter(a, at->query, "sendInitialEvents"));
    struct str version = parameter(a, at->query, "resourceVersion");
    uint64_t from = number_of(version, 0);
    if (initial && x->o.no_streaming) {
        answer_status(x, s, at->wants, 422, "Invalid", "sendInitialEvents is forbidden");
        return;
    }
    if (!initial && from && from < at->shelf->log_from) {
        answer_status(x, s, at->wants, 410, "Expired", "too old resource version");
        return;
    }
    watch_start(x, at->shelf, s, &(struct watch_from){ .ns = at->ns, .selector = parameter(a, at->query, "labelSelector"),
                                                       .media = at->wants, .lists = initial || !from,
                                                       .ends_list = initial, .version = from });
}

/* Whoever must not see a resource, or sees it in one namespace only. */
static bool refuses_list(struct stand_in *x, struct stream *s, const struct place *at)
{
    struct str plural = at->shelf->resource->plural;
    if (IS_LISTED(x->o.not_served, plural)) {
        answer_status(x, s, at->wants, 404, "NotFound", "the server could not find the requested resource");
        return true;
    }
    if (!IS_LISTED(x->o.forbidden, plural) && (at->ns.n || !IS_LISTED(x->o.forbidden_all, plural)))
        return false;
    answer_status(x, s, at->wants, 403, "Forbidden",
                  arena_printf(&x->scratch, "%.*s is forbidden: User \"poor\" cannot list resource \"%.*s\" in API group \"%.*s\" %s",
                               STR_ARG(plural), STR_ARG(plural), STR_ARG(at->shelf->resource->group),
                               at->ns.n ? "in the namespace" : "at the cluster scope"));
    return true;
}

static void serve_get(struct stand_in *x, struct stream *s, const struct place *at)
{
    if (!at->name.n) {
        if (str_is(at->shelf->resource->plural, "pods") && !x->counts.asked_ns)
            x->counts.asked_ns = now_ns();
        if (!refuses_list(x, s, at))
            (is_true(parameter(&x->scratch, at->query, "watch")) ? serve_watch : serve_list)(x, s, at);
        return;
    }
    struct kept *o = store_find(at->shelf, at->ns, at->name);
    if (o)
        answer_object(x, s, at, 200, o);
    else
        not_found(x, s, at);
}

/* What a scheduler of berth would answer through the pod's proxy. */
static bool serve_proxy(struct stand_in *x, struct stream *s, const struct place *at)
{
    if (!x->o.explain || !str_is(at->sub, "proxy") || !str_starts(at->rest, STR("/berth/v1/explain")))
        return false;
    char text[65536];
    FILE *f = fopen(x->o.explain, "r");
    size_t n = f ? fread(text, 1, sizeof(text), f) : 0;
    if (f)
        fclose(f);
    stream_respond(s, f ? 200 : 404, "application/json", (struct str){ text, n });
    return true;
}

/* ---- Writing ---- */

static bool read_body(struct request *q, struct stream *s, const struct type *t, struct object *ret_object)
{
    struct stand_in *x = q->x;
    struct err e;
    struct gvk seen, endpoint;
    enum media m;
    struct work work = work_init(BODY_BYTES_MAX);
    const struct resource *r = q->at.shelf->resource;
    err_init(&e, &x->scratch);
    endpoint = (struct gvk){ r->group, r->version, t->kind };
    if (!media_of_content_type(headers_get(&stream_request(s)->headers, "content-type"), &m, &e) &&
        !object_read(&x->scratch, &work, m, strbuf_str(&q->body), endpoint, NULL, ret_object, &seen, &e))
        return true;
    answer_status(x, s, q->at.wants, 400, "BadRequest", e.message);
    return false;
}

static void do_bind(struct request *q, struct stream *s)
{
    struct stand_in *x = q->x;
    struct object binding;
    struct kept *pod = store_find(q->at.shelf, q->at.ns, q->at.name);
    if (!read_body(q, s, schema_type(STR("core/v1.Binding")), &binding))
        return;
    struct str node = value_text(value_path(binding.type, &binding.value, "target.name"));
    if (!pod) {
        not_found(x, s, &q->at);
    } else if (!store_bind(x, q->at.shelf, pod, node)) {
        x->counts.n_refused_binds++;
        answer_status(x, s, q->at.wants, 409, "Conflict", "the pod is already assigned to a node");
    } else {
        answer_status(x, s, q->at.wants, 201, "", "");
        stand_in_bound(x);
    }
}

/* Reviews are answered, not kept: everybody is who he says, and may do everything. */
static bool do_review(struct request *q, struct stream *s, struct object *o)
{
    struct stand_in *x = q->x;
    bool is_token = str_is(o->type->kind, "TokenReview");
    if (!is_token && !str_ends(o->type->kind, STR("AccessReview")))
        return false;
    struct value v = o->value;
    v = edit_set(&x->scratch, o->type, &v, is_token ? "status.authenticated" : "status.allowed", value_bool(true));
    if (is_token)
        v = edit_set(&x->scratch, o->type, &v, "status.user.username", edit_text("anybody"));
    strbuf_reset(&x->out);
    object_encode(&x->out, q->at.wants, o->type, &v);
    answer(s, 201, q->at.wants, strbuf_str(&x->out));
    return true;
}

static void do_create(struct request *q, struct stream *s)
{
    struct stand_in *x = q->x;
    struct object o;
    const struct type *t = q->at.shelf->resource->type;
    if (!read_body(q, s, t, &o) || do_review(q, s, &o))
        return;
    if (str_is(t->kind, "Pod") && !value_text(value_path(t, &o.value, "spec.schedulerName")).n)
        o.value = defaults_apply(&x->scratch, t, &o.value);
    struct kept *made = store_create(x, q->at.shelf, q->at.ns, &o.value);
    if (made)
        answer_object(x, s, &q->at, 201, made);
    else
        answer_status(x, s, q->at.wants, 409, "AlreadyExists", "it exists already");
}

static void do_replace(struct request *q, struct stream *s, struct kept *old)
{
    struct stand_in *x = q->x;
    struct object o;
    const struct type *t = q->at.shelf->resource->type;
    if (!read_body(q, s, t, &o))
        return;
    struct str version = value_text(value_path(t, &o.value, "metadata.resourceVersion"));
    if (version.n && number_of(version, 0) != old->version) {
        answer_status(x, s, q->at.wants, 409, "Conflict", "the object has been modified");
        return;
    }
    if (str_is(q->at.sub, "finalize")) { /* nothing holds the namespace any more */
        answer_object(x, s, &q->at, 200, old);
        store_delete(x, q->at.shelf, old);
        return;
    }
    store_replace(x, q->at.shelf, old, &o.value);
    answer_object(x, s, &q->at, 200, old);
}

static void do_patch(struct request *q, struct stream *s, struct kept *old)
{
    struct stand_in *x = q->x;
    struct value v;
    struct err e;
    struct work work = work_init(BODY_BYTES_MAX);
    struct patch_outcome outcome;
    struct str type = headers_get(&stream_request(s)->headers, "content-type");
    struct patch patch = { .work = &work, .body = strbuf_str(&q->body),
                           .type = str_starts(type, STR("application/json-patch"))    ? PATCH_TYPE_JSON
                                   : str_starts(type, STR("application/merge-patch")) ? PATCH_TYPE_MERGE
                                                                                      : PATCH_TYPE_STRATEGIC };
    err_init(&e, &x->scratch);
    x->counts.n_patches++;
    if (store_value(&x->scratch, q->at.shelf, old->raw, &v, &e) ||
        patch_apply(&x->scratch, q->at.shelf->resource->type, &v, &patch, &outcome, &e)) {
        answer_status(x, s, q->at.wants, 422, "Invalid", e.message);
        return;
    }
    store_replace(x, q->at.shelf, old, &outcome.object);
    answer_object(x, s, &q->at, 200, old);
}

static void do_delete_collection(struct request *q, struct stream *s)
{
    struct stand_in *x = q->x;
    struct shelf *f = q->at.shelf;
    struct selector selector;
    struct err e;
    err_init(&e, &x->scratch);
    if (selector_parse(&x->scratch, WORK_OWN, parameter(&x->scratch, q->at.query, "labelSelector"), &selector, &e)) {
        answer_status(x, s, q->at.wants, 400, "BadRequest", e.message);
        return;
    }
    for (size_t i = 0; i < f->objects.n; i++) {
        struct kept *o = f->objects.at[i];
        if (o->raw && (!q->at.ns.n || str_is(q->at.ns, o->ns)) && store_matches(&x->scratch, &selector, o->raw))
            store_delete(x, f, o);
    }
    answer_status(x, s, q->at.wants, 200, "", "");
}

static void do_write(struct request *q, struct stream *s)
{
    struct stand_in *x = q->x;
    struct str method = stream_request(s)->method;
    struct place *at = &q->at;
    if (str_is(at->shelf->resource->plural, "events")) {
        x->counts.n_events++;
        struct str type = headers_get(&stream_request(s)->headers, "content-type");
        stream_respond(s, 201, arena_cstr(&x->scratch, type), strbuf_str(&q->body));
        return;
    }
    if (str_is(method, "POST") && str_is(at->sub, "binding")) {
        do_bind(q, s);
        return;
    }
    if (str_is(method, "POST") && !at->sub.n) {
        do_create(q, s);
        return;
    }
    if (str_is(method, "DELETE") && !at->name.n) {
        do_delete_collection(q, s);
        return;
    }
    struct kept *old = store_find(at->shelf, at->ns, at->name);
    if (!old) {
        not_found(x, s, at);
    } else if (str_is(method, "PUT")) {
        do_replace(q, s, old);
    } else if (str_is(method, "PATCH")) {
        do_patch(q, s, old);
    } else if (str_is(method, "DELETE") || str_is(at->sub, "eviction")) {
        answer_object(x, s, at, 200, old);
        store_delete(x, at->shelf, old);
    } else {
        answer_status(x, s, at->wants, 405, "MethodNotAllowed", "the server does not allow this method");
    }
}

/* ---- Requests ---- */

static void on_body(struct stream *s, struct str bytes)
{
    struct request *q = stream_user(s);
    strbuf_add_str(&q->body, bytes);
    stream_consume(s, bytes.n);
}

static void on_end(struct stream *s, const struct headers *trailers)
{
    struct request *q = stream_user(s);
    (void)trailers;
    arena_reset(&q->x->scratch);
    if (q->body.overflow)
        answer_status(q->x, s, q->at.wants, 413, "RequestEntityTooLarge", "the body is too large");
    else
        do_write(q, s);
}

static void on_closed(struct stream *s, const struct stream_result *result)
{
    struct request *q = stream_user(s);
    (void)result;
    strbuf_fini(&q->body);
    free(q);
}

static const struct stream_events events = { .body = on_body, .end = on_end, .closed = on_closed };

static void serve_write(struct stand_in *x, struct stream *s, const struct place *at)
{
    struct request *q = mem_zalloc(sizeof(*q));
    struct arena *a = stream_arena(s);
    q->x = x;
    q->at = *at;
    q->at.name = arena_str(a, at->name); /* the other texts are of the request's head, which lives as long */
    strbuf_init(&q->body, BODY_BYTES_MAX);
    stream_attach(s, &events, q);
}

static bool is_allowed(const struct stand_in *x, const struct head *r)
{
    if (!x->o.token)
        return true;
    struct str given = headers_get(&r->headers, "authorization");
    return str_starts(given, STR("Bearer ")) && str_is(str_from(given, 7), x->o.token);
}

static void note_request(FILE *to, const struct head *r)
{
    struct str accept = headers_get(&r->headers, "accept"), type = headers_get(&r->headers, "content-type");
    fprintf(to, "%.*s %.*s accept=%.*s type=%.*s\n", STR_ARG(r->method), STR_ARG(r->target), STR_ARG(accept), STR_ARG(type));
}

void stand_in_handle(void *context, struct stream *s, const struct head *r)
{
    struct stand_in *x = context;
    arena_reset(&x->scratch);
    x->counts.n_requests++;
    if (x->requests)
        note_request(x->requests, r);
    struct place at = find_place(x, r);
    if (!is_allowed(x, r))
        answer_status(x, s, at.wants, 401, "Unauthorized", "Unauthorized");
    else if (str_ends(r->target, STR("z")) && !at.shelf)
        stream_respond(s, 200, "text/plain", STR("ok"));
    else if (str_is(r->target, "/version"))
        stream_respond(s, 200, "application/json", STR("{\"major\":\"1\",\"minor\":\"36\",\"gitVersion\":\"v1.36.0\"}\n"));
    else if (!at.shelf)
        not_found(x, s, &at);
    else if (serve_proxy(x, s, &at))
        return;
    else if (str_is(r->method, "GET"))
        serve_get(x, s, &at);
    else
        serve_write(x, s, &at);
}
