/* apiserver/dispatch.c - see exchange.h: who answers. */
#include "apiserver/discovery.h"
#include "apiserver/exchange.h"
#include "apiserver/openapi.h"
#include "apiserver/registry_priv.h"
#include "apiserver/server_metrics.h"

#define ORPHANS_WARNING                                                                                               \
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or " \
    "set propagationPolicy=Orphan to suppress this warning"
#define ENDPOINTS_WARNING "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
#define NOT_FOUND_TEXT "404 page not found\n"

/* ---- Documents ---- */

static struct str accept_of(const struct exchange *x)
{
    return headers_get(&x->head->headers, "accept");
}

static void add_header(struct exchange *x, const char *name, struct str value)
{
    headers_add(&x->extra, &x->arena, str_of(name), value);
}

static void answer_discovery(struct exchange *x)
{
    struct discovery_head head;
    struct strbuf body;
    strbuf_init(&body, STRBUF_NO_MAX);
    if (discovery_answer(&x->arena, x->target.path, accept_of(x), str_of(x->server->o.address), &body, &head, &x->err)) {
        answer_error(x, NULL);
    } else {
        if (head.aggregated) {
            add_header(x, "vary", STR("Accept"));
            add_header(x, "cache-control", STR("public"));
            add_header(x, "etag", str_of(head.etag));
        }
        bool known = head.aggregated && str_is(headers_get(&x->head->headers, "if-none-match"), head.etag);
        answer_bytes(x, known ? 304 : 200, head.content_type, known ? STR("") : strbuf_str(&body));
    }
    strbuf_fini(&body);
}

static void answer_openapi(struct exchange *x)
{
    struct strbuf body;
    strbuf_init(&body, STRBUF_NO_MAX);
    struct str path = x->target.path;
    if (str_is(path, "/openapi/v3") || str_is(path, "/openapi/v3/")) {
        openapi_add_index(&body);
        answer_bytes(x, 200, "text/plain; charset=utf-8", strbuf_str(&body));
    } else if (str_is(path, "/openapi/v2")) {
        const char *type = openapi_add_v2(&body, accept_of(x));
        answer_bytes(x, 200, type, strbuf_str(&body));
    } else if (str_starts(path, STR("/openapi/v3/")) && openapi_add_document(&body, str_from(path, 12))) {
        if (target_has(&x->target, "hash"))
            add_header(x, "cache-control", STR("public, immutable"));
        answer_bytes(x, 200, "application/json", strbuf_str(&body));
    } else {
        answer_text(x, 404, NOT_FOUND_TEXT);
    }
    strbuf_fini(&body);
}

static const struct apiserver_page *find_page_in(const struct apiserver_page *pages, size_t n, struct str path)
{
    for (size_t i = 0; i < n; i++) {
        struct str at = str_of(pages[i].path);
        if (str_eq(path, at) || (pages[i].below && str_starts(path, at)))
            return &pages[i];
    }
    return NULL;
}

static const struct apiserver_page *find_page(const struct exchange *x)
{
    const struct apiserver *s = x->server;
    const struct apiserver_page *found = find_page_in(s->o.pages, s->o.n_pages, x->target.path);
    return found ? found : find_page_in(s->more_pages, s->n_more_pages, x->target.path);
}

static void ask_page(struct exchange *x, const struct apiserver_page *p)
{
    x->question = (struct page_question){ .method = x->method, .target = x->head->target, .body = strbuf_str(&x->body),
                                          .pretty = x->pretty };
    x->asks = true;
    p->ask(p->context, &x->question);
}

void page_answer(struct page_question *q, int code, const char *content_type, struct str body)
{
    struct exchange *x = LIST_ITEM(q, struct exchange, question);
    x->asks = false;
    add_header(x, "x-content-type-options", STR("nosniff"));
    answer_bytes(x, code, content_type, body);
}

static void answer_page(struct exchange *x, const struct apiserver_page *p)
{
    const char *type = "text/plain; charset=utf-8";
    struct strbuf body;
    strbuf_init(&body, STRBUF_NO_MAX);
    int code = p->write(p->context, x->head, &x->target, &body, &type);
    add_header(x, "x-content-type-options", STR("nosniff"));
    answer_bytes(x, code, type, strbuf_str(&body));
    strbuf_fini(&body);
}

/* Upstream answers what is about groups and not about a version whatever the method is. */
static bool is_about_groups(struct str path)
{
    if (!str_starts(path, STR("/apis/")))
        return str_is(path, "/apis");
    struct str group = str_from(path, sizeof("/apis/") - 1);
    return str_index(group, '/') + 1 >= group.n;
}

static void answer_document(struct exchange *x)
{
    const struct apiserver_page *page = find_page(x);
    bool get = str_is(x->method, "GET") || str_is(x->method, "HEAD");
    if (page && page->ask) {
        ask_page(x, page);
    } else if (page) {
        answer_page(x, page);
    } else if (discovery_has(x->target.path) && (str_is(x->method, "GET") || is_about_groups(x->target.path))) {
        answer_discovery(x);
    } else if (discovery_has(x->target.path)) {
        x->err.kind = x->err.name = "";
        err_set(&x->err, ERR_METHOD_NOT_ALLOWED, "the server does not allow this method on the requested resource");
        answer_error(x, NULL);
    } else if (get && str_starts(x->target.path, STR("/openapi/"))) {
        answer_openapi(x);
    } else if (route_missing_is_plain(x->target.path)) {
        answer_text(x, 404, NOT_FOUND_TEXT);
    } else {
        x->err.kind = x->err.name = "";
        err_set(&x->err, ERR_NOT_FOUND, "the server could not find the requested resource");
        answer_error(x, NULL);
    }
}

/* ---- Operations ---- */

static void settled(struct operation *op)
{
    struct exchange *x = op->context;
    if (x->stream && !x->answered) /* unless its time was up */
        answer_operation(x);
    exchange_settled(x);
}

/* Upstream has tables of what can be listed, its status and its scale. */
static bool has_table(const struct exchange *x)
{
    const struct subresource *sub = x->at.subresource;
    if (sub && strcmp(sub->name, "status") == 0)
        return !str_is(x->at.resource->plural, "resourceclaims"); /* alone of all statuses */
    if (sub)
        return strcmp(sub->name, "scale") == 0;
    return x->at.resource->verbs & VERB_LIST;
}

bool dispatch_negotiate(struct exchange *x, enum accept_place place)
{
    if (place == ACCEPT_OBJECT && !has_table(x))
        place = ACCEPT_UNTABLED;
    if (!negotiate_answer(accept_of(x), place, &x->form, &x->err))
        return true;
    x->op.warnings.n = 0; /* whoever refuses the form of an answer comes before whoever warns */
    answer_error(x, NULL);
    return false;
}

/* What the operation needs of the request's head is copied: the stream may be gone before the operation is done. */
void dispatch_prepare(struct exchange *x)
{
    struct operation *op = &x->op;
    struct user *u = ARENA_NEW(&x->arena, struct user);
    *u = user_copy(&x->arena, x->user);
    op->user = u;
    op->user_agent = arena_str(&x->arena, headers_get(&x->head->headers, "user-agent"));
    op->resource = x->at.resource;
    op->subresource = x->at.subresource;
    op->namespace = x->route.namespace;
    op->name = x->at.collection ? STR("") : x->route.name;
    op->body = strbuf_str(&x->body);
    op->done = settled;
    op->context = x;
    x->op_waits = true;
}

/* ---- Writes ---- */

static bool read_write_options(struct exchange *x, enum write_verb kind)
{
    struct field_errors errs;
    field_errors_init(&errs, &x->arena);
    if (!options_read_write(&x->arena, &x->target, kind, &x->op.write, &errs, &x->err))
        return true;
    answer_error(x, &errs);
    return false;
}

static bool read_body_media(struct exchange *x)
{
    if (!negotiate_body(headers_get(&x->head->headers, "content-type"), &x->op.media, &x->err))
        return true;
    answer_error(x, NULL);
    return false;
}

bool dispatch_begin_create(struct exchange *x)
{
    if (!dispatch_negotiate(x, ACCEPT_OBJECT) || !read_body_media(x) ||
        !read_write_options(x, WRITE_CREATE))
        return false;
    dispatch_prepare(x);
    return true;
}

static void serve_create(struct exchange *x)
{
    if (dispatch_begin_create(x))
        registry_create(&x->op);
}

static void serve_update(struct exchange *x)
{
    if (!dispatch_negotiate(x, ACCEPT_OBJECT) || !read_write_options(x, WRITE_UPDATE) || !read_body_media(x))
        return; /* creations are looked at in the other order */
    dispatch_prepare(x);
    registry_update(&x->op);
}

static void serve_patch(struct exchange *x)
{
    if (negotiate_patch(headers_get(&x->head->headers, "content-type"), &x->op.patch_form, &x->err)) {
        x->op.warnings.n = 0;
        answer_error(x, NULL);
        return;
    }
    if (!dispatch_negotiate(x, ACCEPT_OBJECT) || !read_write_options(x, x->op.patch_form == PATCH_FORM_APPLY ? WRITE_APPLY : WRITE_PATCH))
        return;
    dispatch_prepare(x);
    registry_patch(&x->op);
}

/* Alone of all kinds jobs leave what they made behind, unless the client says what is to become of it. */
static void warn_of_orphans(struct exchange *x)
{
    const struct delete_options *o = &x->op.delete;
    if (str_is(x->at.resource->plural, "jobs") && !o->propagation_policy.p && o->orphan_dependents == MAYBE_UNSET)
        warnings_add(&x->op.warnings, ORPHANS_WARNING);
    x->op.warnings.n_kept = x->op.warnings.n;
}

bool dispatch_read_delete(struct exchange *x)
{
    struct field_errors errs;
    field_errors_init(&errs, &x->arena);
    if (!read_body_media(x))
        return false;
    if (!options_read_delete(&x->arena, &x->target, x->op.media, strbuf_str(&x->body), &x->op.delete, &errs, &x->err)) {
        warn_of_orphans(x);
        return true;
    }
    answer_error(x, &errs);
    return false;
}

static void serve_delete(struct exchange *x)
{
    if (!dispatch_negotiate(x, ACCEPT_OBJECT) || !dispatch_read_delete(x))
        return;
    dispatch_prepare(x);
    registry_delete(&x->op);
}

/* ---- Verbs ---- */

static const struct {
    const char *verb;
    void (*serve)(struct exchange *x);
    bool reads_body;
} verbs[] = {
    { "get", serve_get, false },
    { "list", serve_list, false },
    { "watch", serve_watch, false },
    { "create", serve_create, true },
    { "update", serve_update, true },
    { "patch", serve_patch, true },
    { "delete", serve_delete, true },
    { "deletecollection", serve_delete_collection, true },
};
enum { N_VERBS = sizeof(verbs) / sizeof(verbs[0]) };

bool dispatch_reads_body(const struct exchange *x)
{
    const struct apiserver_page *page = x->route.is_resource ? NULL : find_page(x);
    if (page)
        return page->reads_body && str_is(x->method, "POST");
    for (size_t i = 0; x->route.is_resource && i < N_VERBS; i++)
        if (str_is(x->route.verb, verbs[i].verb))
            return verbs[i].reads_body;
    return false;
}

void dispatch(struct exchange *x)
{
    if (!x->route.is_resource) {
        answer_document(x);
        return;
    }
    if (route_find(&x->route, x->method, &x->at, &x->err)) {
        if (x->err.code == ERR_NOT_FOUND && route_missing_is_plain(x->target.path))
            answer_text(x, 404, NOT_FOUND_TEXT);
        else
            answer_error(x, NULL);
        return;
    }
    if (str_is(x->at.resource->plural, "endpoints"))
        warnings_add(&x->op.warnings, ENDPOINTS_WARNING);
    x->op.warnings.n_kept = x->op.warnings.n;
    if (serve_virtual(x))
        return;
    for (size_t i = 0; i < N_VERBS; i++)
        if (str_is(x->route.verb, verbs[i].verb)) {
            verbs[i].serve(x);
            return;
        }
}
