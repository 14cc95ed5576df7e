/* tests/api_tool.c - the documents of an API server for a test server in Python:
 *
 *     api_tool METHOD TARGET ACCEPT
 *
 * writes status, content type and ETag (lines), an empty line and the body of the answer to a discovery or OpenAPI
 * request; for all else an empty list, the Status of an object that is not found, or the refusal of the path. */
#include <stdio.h>

#include "apiserver/discovery.h"
#include "apiserver/negotiate.h"
#include "apiserver/openapi.h"
#include "apiserver/route.h"
#include "apiserver/status_object.h"

static void answer(int code, const char *type, const char *etag, struct str body)
{
    printf("%d\n%s\n%s\n\n", code, type, *etag ? etag : "-");
    fwrite(body.p, 1, body.n, stdout);
}

static void refuse(struct arena *a, struct str accept, const struct err *e)
{
    struct status s = status_of_err(a, e, NULL);
    struct answer_form form = negotiate_error(accept);
    struct strbuf body;
    strbuf_init(&body, STRBUF_NO_MAX);
    status_add(&body, form.media, form.pretty, &s);
    answer(s.code, media_content_type(form.media), "", strbuf_str(&body));
    strbuf_fini(&body);
}

static void find(struct arena *a, struct str method, const struct target *t, struct str accept, struct err *e)
{
    struct route r;
    struct endpoint at;
    if (!route_read(a, method, t, &r, e) && r.is_resource && !route_find(&r, method, &at, e)) {
        const char *dot = r.group.n ? "." : "", *slash = r.group.n ? "/" : "";
        if (at.collection) {
            char *list = arena_printf(a, "{\"kind\":\"%.*sList\",\"apiVersion\":\"%.*s%s%.*s\",\"metadata\":{},"
                                      "\"items\":[]}\n", STR_ARG(at.resource->kind), STR_ARG(r.group), slash,
                                      STR_ARG(r.version));
            answer(200, "application/json", "", str_of(list));
            return;
        }
        e->kind = arena_printf(a, "%.*s%s%.*s", STR_ARG(r.resource), dot, STR_ARG(r.group));
        err_set(e, ERR_NOT_FOUND, "%s \"%.*s\" not found", e->kind, STR_ARG(r.name));
        e->name = arena_cstr(a, r.name);
    } else if (!e->code) {
        err_set(e, ERR_NOT_FOUND, "the server could not find the requested resource");
    }
    refuse(a, accept, e);
}

int main(int argc, char **argv)
{
    struct arena a;
    struct err e;
    struct target t;
    struct strbuf body;
    if (argc != 4)
        return 2;
    arena_init(&a);
    err_init(&e, &a);
    strbuf_init(&body, STRBUF_NO_MAX);
    struct str accept = str_of(argv[3]);
    struct discovery_head head;
    if (!target_read(&a, str_of(argv[2]), &t))
        return 2;
    if (str_is(t.path, "/openapi/v3")) {
        openapi_add_index(&body);
        answer(200, "text/plain; charset=utf-8", "", strbuf_str(&body));
    } else if (str_is(t.path, "/openapi/v2")) {
        const char *type = openapi_add_v2(&body, accept);
        answer(200, type, "", strbuf_str(&body));
    } else if (str_starts(t.path, STR("/openapi/v3/")) && openapi_add_document(&body, str_from(t.path, 12))) {
        answer(200, "application/json", "", strbuf_str(&body));
    } else if (discovery_has(t.path) && !discovery_answer(&a, t.path, accept, STR("h:1"), &body, &head, &e)) {
        answer(200, head.content_type, head.etag, strbuf_str(&body));
    } else {
        find(&a, str_of(argv[1]), &t, accept, &e);
    }
    strbuf_fini(&body);
    arena_fini(&a);
    return 0;
}
