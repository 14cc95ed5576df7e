/* tests/fuzz/fuzz_request.c - heads of requests to an API server: nothing in them is fatal, and what is permitted is
 * what is served.
 *
 * The input is lines: method, target, Accept, Content-Type; the rest is a body. */
#include <stdlib.h>

#include "apiserver/discovery.h"
#include "apiserver/negotiate.h"
#include "apiserver/options.h"
#include "apiserver/route.h"
#include "apiserver/status_object.h"
#include "tests/fuzz/effort.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(bool condition)
{
    if (!condition)
        abort();
}

static struct str line(struct str *left)
{
    size_t end = str_index(*left, '\n');
    struct str first = str_first(*left, end);
    *left = end < left->n ? str_from(*left, end + 1) : STR("");
    return first;
}

/* Every refusal can be told in every form. */
static void tell(struct arena *a, const struct err *e, const struct field_errors *errs)
{
    struct status s = status_of_err(a, e, errs);
    check(s.code >= 400 && s.message.n);
    for (enum media m = MEDIA_JSON; m <= MEDIA_PROTOBUF; m++) {
        struct strbuf body;
        strbuf_init(&body, STRBUF_NO_MAX);
        status_add(&body, m, true, &s);
        check(body.n > 0);
        strbuf_fini(&body);
    }
}

static void read_options(struct arena *a, const struct target *t, const struct endpoint *at, enum media m,
                         struct str body)
{
    struct err e;
    struct field_errors errs;
    struct list_options l;
    struct write_options w;
    struct delete_options d;
    int64_t ns;
    err_init(&e, a);
    field_errors_init(&errs, a);
    if (options_read_list(a, t, &l, &e) || options_check_list(&l, &errs, &e) ||
        options_check_fields(a, at->resource, &l.fields, &e))
        tell(a, &e, &errs);
    for (enum write_verb k = WRITE_CREATE; k <= WRITE_APPLY; k++) {
        err_init(&e, a);
        field_errors_init(&errs, a);
        if (options_read_write(a, t, k, &w, &errs, &e))
            tell(a, &e, &errs);
        else
            check(w.field_manager.n <= FIELD_MANAGER_BYTES_MAX);
    }
    err_init(&e, a);
    field_errors_init(&errs, a);
    if (options_read_delete(a, t, m, body, &d, &errs, &e))
        tell(a, &e, &errs);
    err_init(&e, a);
    if (options_read_timeout(t, &ns, &e))
        tell(a, &e, NULL);
}

/* A name that is served is one path segment. */
static void check_segment(struct str s)
{
    check(str_index(s, '/') == s.n && !str_is(s, "..") && !str_is(s, "."));
}

static void answer(struct arena *a, struct str method, const struct target *t, struct str accept, enum media m,
                   struct str body)
{
    struct err e;
    struct route r;
    struct endpoint at;
    struct discovery_head head;
    struct strbuf document;
    err_init(&e, a);
    strbuf_init(&document, STRBUF_NO_MAX);
    bool found = discovery_answer(a, t->path, accept, STR("h:1"), &document, &head, &e) == ERR_OK;
    check(!found || (document.n && discovery_has(t->path)));
    strbuf_fini(&document);
    err_init(&e, a);
    if (route_read(a, method, t, &r, &e))
        return;
    check(!found || !r.is_resource);
    if (!r.is_resource)
        return;
    if (route_find(&r, method, &at, &e)) {
        tell(a, &e, NULL);
        return;
    }
    check(str_eq(at.resource->plural, r.resource) && str_eq(at.resource->group, r.group));
    check_segment(r.namespace);
    if (r.n_parts > 1)
        check_segment(r.name);
    check(at.resource->namespaced || !r.in_namespace);
    read_options(a, t, &at, m, body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str left = { (const char *)data, n };
    struct str method = line(&left), text = line(&left), accept = line(&left), type = line(&left);
    struct arena a;
    struct err e;
    struct target t;
    struct answer_form form;
    enum patch_form patch;
    enum media m = MEDIA_JSON;
    arena_init(&a);
    err_init(&e, &a);
    effort_begin(n);
    for (enum accept_place p = ACCEPT_OBJECT; p <= ACCEPT_WATCH; p++)
        if (negotiate_answer(accept, p, &form, &e) || negotiate_shape(&form, p == ACCEPT_LIST, "core.Pod", &e))
            tell(&a, &e, NULL);
        else
            check(answer_content_type(&form, p == ACCEPT_WATCH) != NULL);
    if (negotiate_body(type, &m, &e) || negotiate_patch(type, &patch, &e))
        tell(&a, &e, NULL);
    if (target_read(&a, text, &t))
        answer(&a, method, &t, accept, m, left);
    effort_end(&a, n);
    arena_fini(&a);
    return 0;
}
