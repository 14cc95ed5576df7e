/* Discovery documents are those of the real kube-apiserver v1.36.4: apiserver/discovery.c against
 * tests/golden/apiserver. */
#include "apiserver/discovery.h"
#include "apiserver/status_object.h"
#include "tests/unit/golden_lines.h"

static void check_error(struct golden *g, const char *what, const struct value *row, const struct err *e)
{
    struct status s = status_of_err(&g->arena, e, NULL);
    struct answer_form form = negotiate_error(golden_text(row, "accept"));
    struct strbuf body;
    strbuf_init(&body, STRBUF_NO_MAX);
    status_add(&body, form.media, form.pretty, &s);
    CHECK_STR(what, strbuf_str(&body), golden_text(row, "answer"));
    strbuf_fini(&body);
}

TEST(documents_are_those_of_the_real_server)
{
    struct golden g;
    struct value row;
    golden_open(&g, "apiserver/discovery.jsonl");
    while (golden_next(&g, &row)) {
        struct str target = golden_text(&row, "target"), accept = golden_text(&row, "accept");
        const char *what = arena_printf(&g.arena, "%.*s [%.*s]", STR_ARG(target), STR_ARG(accept));
        struct discovery_head head;
        struct strbuf body;
        struct err e;
        err_init(&e, &g.arena);
        strbuf_init(&body, STRBUF_NO_MAX);
        enum err_code code = discovery_answer(&g.arena, target, accept, STR("192.0.2.1:6443"), &body, &head, &e);
        CHECK_INT(what, code ? err_http_status(code) : 200, golden_int(&row, "code"));
        if (code) {
            check_error(&g, what, &row, &e);
        } else {
            CHECK_STR(what, strbuf_str(&body), golden_text(&row, "answer"));
            CHECK_STR(what, str_of(head.content_type), golden_text(&row, "type"));
            CHECK_INT(what, head.aggregated, str_is(golden_text(&row, "vary"), "Accept"));
            CHECK_INT(what, strlen(head.etag), head.aggregated ? DISCOVERY_ETAG_BYTES : 0);
        }
        strbuf_fini(&body);
    }
    CHECK(g.n > 50);
    golden_close(&g);
}

TEST(paths_that_lead_to_documents)
{
    static const struct {
        const char *path;
        bool there;
    } rows[] = {
        { "/api", true }, { "/api/", true }, { "/apis/", true }, { "/apis/apps", true }, { "/apis/apps/v1/", true },
        { "/api/v1", true }, { "/api/v2", false }, { "/apis/nope", false }, { "/apis/apps/v9", false }, { "/apis//v1",
                                                                                                          false },
        { "/", false }, { "", false }, { "/apisx", false }, { "/apis/scheduling.k8s.io/v1alpha2", false },
        { "/api/v1/pods", false }, { "/apis/apps/v1/x", false }, { "/api//", false },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK_INT(rows[i].path, discovery_has(str_of(rows[i].path)), rows[i].there);
        struct err e;
        struct strbuf body;
        struct discovery_head head;
        err_init(&e, &a);
        strbuf_init(&body, STRBUF_NO_MAX);
        enum err_code code = discovery_answer(&a, str_of(rows[i].path), STR(""), STR("h:1"), &body, &head, &e);
        CHECK_INT(rows[i].path, code, rows[i].there ? ERR_OK : ERR_NOT_FOUND);
        strbuf_fini(&body);
    }
    arena_fini(&a);
}
