/* Requests as the real kube-apiserver v1.36.4 reads and refuses them: apiserver/route.c, options.c, negotiate.c and
 * status_object.c against tests/golden/apiserver. */
#include "apiserver/negotiate.h"
#include "apiserver/options.h"
#include "apiserver/route.h"
#include "apiserver/status_object.h"
#include "tests/unit/golden_lines.h"

static struct str header(const struct value *row, const char *name)
{
    return golden_text(value_member(row, STR("headers")), name);
}

static const char *row_name(struct golden *g, const struct value *row)
{
    struct str method = golden_text(row, "method"), target = golden_text(row, "target"), body = golden_text(row,
                                                                                                            "body");
    struct str accept = header(row, "Accept"), type = header(row, "Content-Type");
    return arena_printf(&g->arena, "%.*s %.*s [%.*s%.*s] %.*s", STR_ARG(method), STR_ARG(target), STR_ARG(accept),
                        STR_ARG(type), STR_ARG(body));
}

/* Texts in a recording went through JSON once: what is not UTF-8 became U+FFFD. */
static void check_text(struct golden *g, const char *what, struct str got, struct str want)
{
    struct strbuf a, b;
    strbuf_init(&a, STRBUF_NO_MAX);
    strbuf_init(&b, STRBUF_NO_MAX);
    json_add_string(&a, got);
    json_add_string(&b, want);
    struct value again;
    struct err e;
    err_init(&e, &g->arena);
    CHECK(!json_decode_plain(&g->arena, WORK_OWN, strbuf_str(&a), &again, &e));
    CHECK_STR(what, value_text(&again), want);
    strbuf_fini(&a);
    strbuf_fini(&b);
}

/* Protobuf is recorded with one character a byte. */
static struct str bytes_of_latin(struct golden *g, struct str text)
{
    char *to = arena_alloc(&g->arena, text.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        bool two = (unsigned char)text.p[i] >= 0x80;
        to[n++] = two ? (char)((text.p[i] & 3) << 6 | (text.p[i + 1] & 0x3f)) : text.p[i];
        i += two;
    }
    return (struct str){ to, n };
}

static void check_answer(struct golden *g, const char *what, const struct value *row, const struct err *e,
                         const struct field_errors *errs)
{
    struct status s = status_of_err(&g->arena, e, errs);
    struct answer_form form = negotiate_error(header(row, "Accept"));
    enum media m = form.media;
    struct strbuf body;
    strbuf_init(&body, STRBUF_NO_MAX);
    status_add(&body, m, form.pretty, &s);
    CHECK_INT(what, s.code, golden_int(row, "code"));
    if (!str_is(golden_text(row, "method"), "HEAD")) {
        struct str want = golden_text(row, "answer");
        CHECK_STR(what, strbuf_str(&body), m == MEDIA_PROTOBUF ? bytes_of_latin(g, want) : want);
    }
    CHECK_STR(what, str_of(media_content_type(m)), golden_text(row, "type"));
    strbuf_fini(&body);
}

static bool contains(struct str text, const char *part)
{
    return text.n && memmem(text.p, text.n, part, strlen(part));
}

/* ---- Routes ---- */

static void check_ref(struct golden *g, const char *what, const struct route *r, const struct value *row)
{
    const struct value *ref = value_member(row, STR("ref"));
    CHECK_INT(what, r->is_resource, ref != NULL);
    CHECK_STR(what, r->verb, golden_text(row, "verb"));
    if (!ref)
        return;
    CHECK_STR(what, r->group, golden_text(ref, "apiGroup"));
    CHECK_STR(what, r->version, golden_text(ref, "apiVersion"));
    CHECK_STR(what, r->resource, golden_text(ref, "resource"));
    CHECK_STR(what, r->namespace, golden_text(ref, "namespace"));
    check_text(g, what, r->name, golden_text(ref, "name"));
    CHECK_STR(what, r->subresource, golden_text(ref, "subresource"));
}

/* Refused for the path or the method alone, not by what comes later. */
static bool path_is_refused(const struct value *row)
{
    struct str answer = golden_text(row, "answer");
    int code = golden_int(row, "code");
    if (str_is(golden_text(row, "method"), "HEAD"))
        return code >= 400;
    return contains(answer, "the requested resource") || contains(answer, "is not supported on") ||
           contains(answer, "Name parameter") || contains(answer, "name must be") || contains(answer, "invalid key") ||
           contains(answer, "404 page not found");
}

TEST(routes_are_those_of_the_real_server)
{
    struct golden g;
    struct value row;
    golden_open(&g, "apiserver/routes.jsonl");
    while (golden_next(&g, &row)) {
        const char *what = row_name(&g, &row);
        struct str method = golden_text(&row, "method");
        struct target t;
        struct route r;
        struct endpoint found;
        struct err e;
        err_init(&e, &g.arena);
        CHECK(target_read(&g.arena, golden_text(&row, "target"), &t));
        if (route_read(&g.arena, method, &t, &r, &e)) {
            CHECK(contains(golden_text(&row, "answer"), e.message));
            continue;
        }
        check_ref(&g, what, &r, &row);
        bool plain = str_starts(golden_text(&row, "type"), STR("text/plain")) && golden_int(&row, "code") == 404;
        if (golden_int(&row, "code") == 404)
            CHECK_INT(what, route_missing_is_plain(r.path), plain);
        if (!r.is_resource)
            continue;
        enum err_code code = route_find(&r, method, &found, &e);
        CHECK_INT(what, code != ERR_OK, path_is_refused(&row));
        if (code && !plain)
            check_answer(&g, what, &row, &e, NULL);
        else if (!code)
            CHECK_STR(what, found.resource->plural, r.resource);
    }
    CHECK(g.n > 200);
    golden_close(&g);
}

TEST(endpoints_say_what_is_there)
{
    static const struct {
        const char *method, *target, *type;
        bool collection, connect;
    } rows[] = {
        { "GET", "/api/v1/namespaces/d/pods", "core/v1.Pod", true, false },
        { "POST", "/api/v1/namespaces/d/pods/x/eviction", "policy/v1.Eviction", false, false },
        { "GET", "/apis/apps/v1/namespaces/d/deployments/x/scale", "autoscaling/v1.Scale", false, false },
        { "GET", "/api/v1/namespaces/d/pods/x/exec", "core/v1.PodExecOptions", false, true },
        { "OPTIONS", "/api/v1/namespaces/d/services/x/proxy/a/b", "core/v1.ServiceProxyOptions", false, true },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct target t;
        struct route r;
        struct endpoint found;
        struct err e;
        err_init(&e, &a);
        CHECK(target_read(&a, str_of(rows[i].target), &t));
        CHECK(!route_read(&a, str_of(rows[i].method), &t, &r, &e));
        CHECK_INT(rows[i].target, route_find(&r, str_of(rows[i].method), &found, &e), ERR_OK);
        CHECK_INT(rows[i].target, found.collection, rows[i].collection);
        CHECK_INT(rows[i].target, found.connect, rows[i].connect);
        if (found.type)
            CHECK_STR(rows[i].target, found.type->name, str_of(rows[i].type));
        if (r.n_parts > 3)
            CHECK_STR(rows[i].target, r.rest, STR("a/b"));
    }
    arena_fini(&a);
}

/* ---- Options ---- */

static enum err_code read_list(struct golden *g, const struct target *t, struct endpoint *at, struct field_errors *errs,
                               struct err *e)
{
    struct list_options o;
    if (options_read_list(&g->arena, t, &o, e))
        return e->code;
    options_default_list(&o);
    if (options_check_list(&o, errs, e))
        return e->code;
    return options_check_fields(&g->arena, at->resource, &o.fields, e);
}

static enum err_code read_write(struct golden *g, const struct value *row, const struct target *t,
                                struct field_errors *errs,
                                struct err *e)
{
    struct str method = golden_text(row, "method");
    enum write_verb kind = str_is(method, "POST") ? WRITE_CREATE : WRITE_UPDATE;
    struct write_options o;
    if (str_is(method, "PATCH")) {
        enum patch_form form;
        if (negotiate_patch(header(row, "Content-Type"), &form, e))
            return e->code;
        kind = form == PATCH_FORM_APPLY ? WRITE_APPLY : WRITE_PATCH;
    }
    return options_read_write(&g->arena, t, kind, &o, errs, e);
}

static enum err_code read_delete(struct golden *g, const struct value *row, const struct target *t,
                                 struct field_errors *errs, struct err *e)
{
    struct delete_options o;
    enum media m = MEDIA_JSON;
    struct str body = golden_text(row, "body");
    if (body.n && negotiate_body(header(row, "Content-Type"), &m, e))
        return e->code;
    return options_read_delete(&g->arena, t, m, body, &o, errs, e);
}

/* What the store finds, not the options. */
static bool is_found_later(const struct value *row)
{
    struct str answer = golden_text(row, "answer");
    return contains(answer, "\"NotFound\"") || contains(answer, "invalid resource version") ||
           contains(answer, "continue token") || golden_int(row, "code") == 500;
}

TEST(options_are_read_and_refused_as_by_the_real_server)
{
    struct golden g;
    struct value row;
    golden_open(&g, "apiserver/options.jsonl");
    while (golden_next(&g, &row)) {
        const char *what = row_name(&g, &row);
        struct str method = golden_text(&row, "method");
        struct target t;
        struct route r;
        struct endpoint at;
        struct field_errors errs;
        struct err e;
        int64_t timeout_ns;
        err_init(&e, &g.arena);
        field_errors_init(&errs, &g.arena);
        CHECK(target_read(&g.arena, golden_text(&row, "target"), &t));
        CHECK(!route_read(&g.arena, method, &t, &r, &e));
        CHECK_INT(what, route_find(&r, method, &at, &e), ERR_OK);
        enum err_code code = ERR_OK;
        if (!str_is(r.verb, "watch"))
            code = options_read_timeout(&t, &timeout_ns, &e);
        if (!code && (str_is(r.verb, "list") || str_is(r.verb, "watch") || str_is(r.verb, "deletecollection")))
            code = read_list(&g, &t, &at, &errs, &e);
        if (!code && str_is(method, "DELETE"))
            code = read_delete(&g, &row, &t, &errs, &e);
        else if (!code && !str_is(method, "GET"))
            code = read_write(&g, &row, &t, &errs, &e);
        bool refused = golden_int(&row, "code") >= 400 && !is_found_later(&row);
        if (code && !refused)
            FAIL("%s: %s", what, e.message);
        CHECK_INT(what, code != ERR_OK, refused);
        if (code)
            check_answer(&g, what, &row, &e, &errs);
    }
    CHECK(g.n > 150);
    golden_close(&g);
}

TEST(every_kind_knows_its_fields)
{
    struct golden g;
    struct value row;
    golden_open(&g, "apiserver/fields.jsonl");
    while (golden_next(&g, &row)) {
        const char *what = arena_cstr(&g.arena, golden_text(&row, "target"));
        struct target t;
        struct route r;
        struct endpoint at;
        struct list_options o;
        struct err e;
        err_init(&e, &g.arena);
        CHECK(target_read(&g.arena, golden_text(&row, "target"), &t));
        CHECK(!route_read(&g.arena, STR("GET"), &t, &r, &e));
        CHECK(!route_find(&r, STR("GET"), &at, &e));
        CHECK(!options_read_list(&g.arena, &t, &o, &e));
        enum err_code code = options_check_fields(&g.arena, at.resource, &o.fields, &e);
        CHECK_INT(what, code != ERR_OK, golden_int(&row, "code") == 400);
        if (code)
            CHECK_STR(what, str_of(e.message), golden_text(&row, "message"));
    }
    CHECK(g.n > 150);
    golden_close(&g);
}

TEST(options_become_values)
{
    struct arena a;
    struct target t;
    struct err e;
    struct field_errors errs;
    arena_init(&a);
    err_init(&e, &a);
    field_errors_init(&errs, &a);
    struct list_options l;
    CHECK(target_read(&a, STR("/x?labelSelector=a%3Db&fieldSelector=spec.host%3Dn&limit=7&continue=c&resourceVersion=5"
                              "&resourceVersionMatch=Exact&timeoutSeconds=9&allowWatchBookmarks=1"), &t));
    CHECK(!options_read_list(&a, &t, &l, &e));
    CHECK_INT("limit", l.limit, 7);
    CHECK_INT("timeout", l.has_timeout ? l.timeout_seconds : -1, 9);
    CHECK_STR("continue", l.continue_token, STR("c"));
    CHECK_STR("version", l.resource_version, STR("5"));
    CHECK(!l.watch && l.allow_bookmarks && !selector_empty(&l.labels));
    CHECK(!options_check_fields(&a, schema_resource(STR(""), STR("v1"), STR("pods")), &l.fields, &e));
    CHECK_STR("the field itself", l.fields.at[0].field, STR("spec.nodeName"));
    CHECK(target_read(&a, STR("/x?watch=1"), &t));
    CHECK(!options_read_list(&a, &t, &l, &e));
    options_default_list(&l);
    CHECK_INT("begins with what there is", l.send_initial_events, MAYBE_TRUE);
    CHECK_STR("begins with what there is", l.resource_version_match, STR("NotOlderThan"));

    struct write_options w;
    CHECK(target_read(&a, STR("/x?dryRun=All&fieldManager=m&fieldValidation=Strict&force=1"), &t));
    CHECK(!options_read_write(&a, &t, WRITE_APPLY, &w, &errs, &e));
    CHECK(w.dry_run && w.force == MAYBE_TRUE && w.field_validation == VALIDATION_STRICT);
    CHECK_STR("manager", w.field_manager, STR("m"));

    struct delete_options d;
    struct str body = STR("{\"gracePeriodSeconds\":3,\"orphanDependents\":false,\"dryRun\":[\"All\"],"
                          "\"preconditions\":{\"uid\":\"\",\"resourceVersion\":\"7\"}}");
    CHECK(!options_read_delete(&a, &t, MEDIA_JSON, body, &d, &errs, &e));
    CHECK(d.dry_run && d.has_grace_period && d.grace_period_seconds == 3 && d.orphan_dependents == MAYBE_FALSE);
    CHECK(d.uid.p && d.uid.n == 0 && !d.propagation_policy.p);
    CHECK_STR("version", d.resource_version, STR("7"));
    CHECK(target_read(&a, STR("/x?gracePeriodSeconds=4&propagationPolicy=Orphan"), &t));
    CHECK(!options_read_delete(&a, &t, MEDIA_JSON, STR(""), &d, &errs, &e));
    CHECK_INT("grace", d.grace_period_seconds, 4);
    CHECK_STR("policy", d.propagation_policy, STR("Orphan"));
    int64_t ns;
    CHECK(target_read(&a, STR("/x?timeout=5s"), &t));
    CHECK(!options_read_timeout(&t, &ns, &e) && ns == 5000000000);
    arena_fini(&a);
}

/* ---- Accept and Content-Type ---- */

static const char *kind_of_form(const struct answer_form *f, const char *kind)
{
    static const char *const kinds[] = { NULL, "Table", "PartialObjectMetadata", "PartialObjectMetadataList" };
    return f->as == AS_OBJECT ? kind : kinds[f->as];
}

static void check_accept(struct golden *g, const char *what, const struct value *row, const struct target *t)
{
    struct str accept = header(row, "Accept"), target = golden_text(row, "target");
    bool watch = query_bool(t, "watch"), list = str_is(t->path, "/api/v1/namespaces");
    struct answer_form f;
    struct err e;
    err_init(&e, &g->arena);
    enum err_code code = negotiate_answer(accept, watch ? ACCEPT_WATCH : list ? ACCEPT_LIST : ACCEPT_OBJECT, &f, &e);
    if (!code && !watch)
        code = negotiate_shape(&f, list, list ? "core.NamespaceList" : "core.Namespace", &e);
    int want = golden_int(row, "code");
    if (want == 404) {
        err_set(&e, ERR_NOT_FOUND, "namespaces \"nope-nope\" not found");
        e.kind = "namespaces";
        e.name = "nope-nope";
        check_answer(g, what, row, &e, NULL);
        return;
    }
    if (want == 400) /* includeObject, which a table looks at */
        return;
    CHECK_INT(what, code != ERR_OK, want >= 400);
    if (code) {
        check_answer(g, what, row, &e, NULL);
        return;
    }
    CHECK_STR(what, str_of(answer_content_type(&f, watch)), golden_text(row, "type"));
    if (!watch && f.media == MEDIA_JSON && !str_ends(target, STR("Object")))
        CHECK_STR(what, str_of(kind_of_form(&f, list ? "NamespaceList" : "Namespace")), golden_text(row, "kind"));
}

static void check_body(struct golden *g, const char *what, const struct value *row)
{
    struct str type = header(row, "Content-Type");
    struct err e;
    err_init(&e, &g->arena);
    enum media m;
    enum patch_form p;
    bool patch = str_is(golden_text(row, "method"), "PATCH");
    enum err_code code = patch ? negotiate_patch(type, &p, &e) : negotiate_body(type, &m, &e);
    CHECK_INT(what, code != ERR_OK, golden_int(row, "code") == 415);
    if (code)
        check_answer(g, what, row, &e, NULL);
}

TEST(media_are_negotiated_as_by_the_real_server)
{
    struct golden g;
    struct value row;
    golden_open(&g, "apiserver/accept.jsonl");
    while (golden_next(&g, &row)) {
        const char *what = row_name(&g, &row);
        struct target t;
        CHECK(target_read(&g.arena, golden_text(&row, "target"), &t));
        if (str_is(golden_text(&row, "method"), "GET"))
            check_accept(&g, what, &row, &t);
        else
            check_body(&g, what, &row);
    }
    CHECK(g.n > 250);
    golden_close(&g);
}

TEST(some_objects_have_no_table)
{
    static const struct {
        const char *accept;
        enum accept_place place;
        enum err_code code;
        enum transform as;
    } rows[] = {
        { "application/json;as=Table;v=v1;g=meta.k8s.io", ACCEPT_OBJECT, ERR_OK, AS_TABLE },
        { "application/json;as=Table;v=v1;g=meta.k8s.io", ACCEPT_UNTABLED, ERR_NOT_ACCEPTABLE, AS_OBJECT },
        { "application/json;as=Table;v=v1;g=meta.k8s.io,application/json", ACCEPT_UNTABLED, ERR_OK, AS_OBJECT },
        { "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", ACCEPT_UNTABLED, ERR_OK, AS_METADATA },
        { "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", ACCEPT_UNTABLED, ERR_OK, AS_METADATA_LIST },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer_form f = { 0 };
        struct err e;
        err_init(&e, &a);
        CHECK_INT(rows[i].accept, negotiate_answer(str_of(rows[i].accept), rows[i].place, &f, &e), rows[i].code);
        CHECK_INT(rows[i].accept, f.as, rows[i].as);
    }
    arena_fini(&a);
}

TEST(clauses_may_be_many)
{
    struct arena a;
    struct err e;
    struct answer_form f;
    struct strbuf accept;
    arena_init(&a);
    err_init(&e, &a);
    strbuf_init(&accept, STRBUF_NO_MAX);
    for (int i = 0; i < 5000; i++)
        STRBUF_ADD_LIT(&accept, "text/html;q=0.5,");
    STRBUF_ADD_LIT(&accept, "application/json");
    CHECK_INT("past the bound", negotiate_answer(strbuf_str(&accept), ACCEPT_OBJECT, &f, &e), ERR_NOT_ACCEPTABLE);
    strbuf_fini(&accept);
    arena_fini(&a);
}

/* ---- Status ---- */

TEST(a_status_carries_all_that_clients_look_at)
{
    struct arena a;
    struct err e;
    struct strbuf body;
    arena_init(&a);
    err_init(&e, &a);
    strbuf_init(&body, STRBUF_NO_MAX);
    err_set(&e, ERR_INTERNAL, "Internal error occurred: it broke");
    struct status s = status_of_err(&a, &e, NULL);
    status_add(&body, MEDIA_JSON, false, &s);
    CHECK_STR("internal", strbuf_str(&body),
              STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":"
                  "\"Internal error occurred: it broke\",\"reason\":\"InternalError\",\"details\":{\"causes\":"
                  "[{\"message\":\"it broke\"}]},\"code\":500}\n"));
    strbuf_reset(&body);
    s = (struct status){ .details = true, .name = STR("web"), .group = STR("apps"), .kind = STR("deployments"),
                         .uid = STR("u-1") };
    status_add(&body, MEDIA_JSON, false, &s);
    CHECK_STR("success", strbuf_str(&body),
              STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Success\",\"details\":"
                  "{\"name\":\"web\",\"group\":\"apps\",\"kind\":\"deployments\",\"uid\":\"u-1\"}}\n"));
    strbuf_reset(&body);
    s = (struct status){ .code = 410, .reason = STR("Expired"), .message = STR("old"), .continue_token = STR("abc"),
                         .details = true, .retry_after_seconds = 1 };
    status_add(&body, MEDIA_JSON, true, &s);
    CHECK_STR("pretty", strbuf_str(&body),
              STR("{\n  \"kind\": \"Status\",\n  \"apiVersion\": \"v1\",\n  \"metadata\": {\n"
                  "    \"continue\": \"abc\"\n  },\n"
                  "  \"status\": \"Failure\",\n  \"message\": \"old\",\n  \"reason\": \"Expired\",\n  \"details\": {\n"
                  "    \"retryAfterSeconds\": 1\n  },\n  \"code\": 410\n}"));
    strbuf_fini(&body);
    arena_fini(&a);
}
