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

static const struct apiserver_page *find_page(const struct exchange *x)
{
    const struct apiserver_options *o = &x->server->o;
    for (size_t i = 0; i < o->n_pages; i++) {
        const struct apiserver_page *p = &o->pages[i];
        struct str at = str_of(p->path);
        if (str_eq(x->target.path, at) || (p->below && str_starts(x->target.path, at)))
            return p;
    }
    return NULL;
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
    if (page) {
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

/* ---- Reads ---- */

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

static bool negotiate(struct exchange *x, enum accept_place place)
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
static void prepare_operation(struct exchange *x)
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

static bool check_include(struct exchange *x)
{
    enum include_object include;
    if (x->form.as != AS_TABLE || !table_read_include(&x->target, &include, &x->err))
        return true;
    answer_error(x, NULL);
    return false;
}

/* A version that is still to come is waited for by nobody: whoever asks for it may come again. */
static void answer_too_large_version(struct exchange *x, uint64_t version)
{
    struct status_cause *cause = ARENA_NEW(&x->arena, struct status_cause);
    *cause = (struct status_cause){ STR("ResourceVersionTooLarge"), STR("Too large resource version"), STR("") };
    err_set(&x->err, ERR_TIMEOUT, "Timeout: Too large resource version: %llu, current: %llu",
            (unsigned long long)version, (unsigned long long)store_revision(x->server->o.store));
    struct status s = status_of_err(&x->arena, &x->err, NULL);
    s.details = true;
    s.causes = cause;
    s.n_causes = 1;
    s.retry_after_seconds = 1;
    answer_status(x, &s);
}

static void serve_get(struct exchange *x)
{
    uint64_t version;
    if (!negotiate(x, ACCEPT_OBJECT))
        return;
    if (lists_read_version(target_get(&x->target, "resourceVersion"), false, &version, &x->err)) {
        if (str_is(x->at.resource->plural, "events")) /* no cache lies before them, which words it differently */
            err_set(&x->err, ERR_BAD_REQUEST, "invalid resource version: %s", x->err.message);
        answer_error(x, NULL);
        return;
    }
    if (version > store_revision(x->server->o.store)) {
        answer_too_large_version(x, version);
        return;
    }
    prepare_operation(x);
    registry_get(&x->op);
}

/* ---- Lists and watches ---- */

static bool read_list_options(struct exchange *x, struct list_options *o)
{
    struct field_errors errs;
    field_errors_init(&errs, &x->arena);
    if (options_read_list(&x->arena, &x->target, o, &x->err)) {
        answer_error(x, NULL);
        return false;
    }
    if (x->route.watch_path)
        o->watch = true;
    options_default_list(o);
    if (options_check_list(o, &errs, &x->err)) {
        answer_error(x, &errs);
        return false;
    }
    if (options_check_fields(&x->arena, x->at.resource, &o->fields, &x->err)) {
        answer_error(x, NULL);
        return false;
    }
    return true;
}

static int64_t watch_seconds(struct exchange *x, const struct list_options *o)
{
    int64_t min = x->server->o.min_watch_seconds;
    if (o->has_timeout && o->timeout_seconds > 0)
        return o->timeout_seconds < INT32_MAX ? o->timeout_seconds : INT32_MAX;
    return min + (int64_t)rand_below(&x->server->rand, (uint64_t)min);
}

static void watch_ended(void *context)
{
    (void)context; /* the stream's `closed` follows */
}

/* The old way to watch one object: /watch/.../NAME. */
static void select_name(struct exchange *x, struct list_options *o)
{
    if (x->route.name.n == 0 || !x->route.watch_path)
        return;
    struct field_term *terms = ARENA_NEW_N(&x->arena, struct field_term, o->fields.n + 1);
    memcpy(terms, o->fields.at, o->fields.n * sizeof(*terms));
    terms[o->fields.n] = (struct field_term){ STR("metadata.name"), x->route.name, false };
    o->fields = (struct field_selector){ terms, o->fields.n + 1 };
}

static void serve_watch(struct exchange *x)
{
    struct list_options *o = ARENA_NEW(&x->arena, struct list_options);
    uint64_t version;
    if (!negotiate(x, ACCEPT_WATCH) || !check_include(x) || !read_list_options(x, o))
        return;
    select_name(x, o);
    if (lists_read_version(o->resource_version, false, &version, &x->err)) {
        answer_error(x, NULL);
        return;
    }
    if (o->send_initial_events == MAYBE_TRUE && version > store_revision(x->server->o.store)) {
        answer_too_large_version(x, version);
        return;
    }
    answer_watch(x);
    server_metrics_watch_begun(x->server->metrics, &x->route);
    struct watch_options w = { .stream = x->stream, .arena = &x->arena, .encoder = exchange_encoder(x),
                               .namespace = x->route.namespace, .list = o, .version = version,
                               .seconds = watch_seconds(x, o), .ended = watch_ended, .context = x };
    if (x->form.as == AS_TABLE && table_read_include(&x->target, &w.encoder.table.include, &x->err))
        w.encoder.table.include = INCLUDE_METADATA;
    x->watcher = watch_begin(x->server->hub, &w);
}

static void serve_list(struct exchange *x)
{
    struct list_options o;
    if (!negotiate(x, ACCEPT_LIST) || !read_list_options(x, &o))
        return;
    struct list_request r = { x->server->o.objects, x->at.resource, x->route.namespace, &o };
    struct list_answer answer;
    enum err_code rc = lists_read(&x->arena, &r, &answer, &x->err);
    if (rc == ERR_TIMEOUT) {
        uint64_t version = 0;
        if (!lists_read_version(o.resource_version, true, &version, &x->err))
            answer_too_large_version(x, version);
    } else if (rc) {
        struct status s = status_of_err(&x->arena, &x->err, NULL);
        s.continue_token = answer.expired_continue;
        answer_status(x, &s);
    } else {
        answer_list(x, &answer);
    }
}

/* ---- Writes ---- */

static bool read_write_options(struct exchange *x, enum write_kind kind)
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
    if (!negotiate(x, ACCEPT_OBJECT) || !read_body_media(x) ||
        !read_write_options(x, WRITE_CREATE))
        return false;
    prepare_operation(x);
    return true;
}

static void serve_create(struct exchange *x)
{
    if (dispatch_begin_create(x))
        registry_create(&x->op);
}

static void serve_update(struct exchange *x)
{
    if (!negotiate(x, ACCEPT_OBJECT) || !read_write_options(x, WRITE_UPDATE) || !read_body_media(x))
        return; /* creations are looked at in the other order */
    prepare_operation(x);
    registry_update(&x->op);
}

static void serve_patch(struct exchange *x)
{
    if (negotiate_patch(headers_get(&x->head->headers, "content-type"), &x->op.patch_form, &x->err)) {
        x->op.warnings.n = 0;
        answer_error(x, NULL);
        return;
    }
    if (!negotiate(x, ACCEPT_OBJECT) || !read_write_options(x, x->op.patch_form == PATCH_FORM_APPLY ? WRITE_APPLY : WRITE_PATCH))
        return;
    prepare_operation(x);
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

static bool read_delete_options(struct exchange *x)
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
    if (!negotiate(x, ACCEPT_OBJECT) || !read_delete_options(x))
        return;
    prepare_operation(x);
    registry_delete(&x->op);
}

static void serve_delete_collection(struct exchange *x)
{
    struct list_options o;
    if (!negotiate(x, ACCEPT_LIST) || !read_list_options(x, &o) || !read_delete_options(x))
        return;
    prepare_operation(x);
    collection_delete(x, &o);
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
