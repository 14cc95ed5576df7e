/* Tables are those of the real kube-apiserver v1.36.4: apiserver/table*.c against tests/golden/apiserver. */
#include "apiserver/table.h"
#include "tests/unit/golden_lines.h"

static struct value decode_plain(struct arena *a, struct str json)
{
    struct value v;
    struct err e;
    err_init(&e, a);
    if (json_decode_plain(a, WORK_OWN, json, &v, &e))
        FAIL("%s in %.*s", e.message, STR_ARG(json));
    return v;
}

static struct str encode_plain(struct arena *a, const struct value *v)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    if (v)
        json_encode_plain(&text, v);
    struct str kept = arena_str(a, strbuf_str(&text));
    strbuf_fini(&text);
    return kept;
}

static void check_member(struct arena *a, const char *what, const struct value *got, const struct value *want,
                         const char *key)
{
    CHECK_STR(what, encode_plain(a, value_member(got, str_of(key))), encode_plain(a, value_member(want, str_of(key))));
}

/* The recorded objects, made to a table again. */
static struct str make_table(struct golden *g, const struct resource *r, const struct value *row,
                             struct table_options *o)
{
    const struct value *table = value_member(row, STR("table")), *rows = value_member(table, STR("rows"));
    struct table_meta meta = { .resource_version = golden_text(value_member(table, STR("metadata")),
                                                               "resourceVersion") };
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    o->now_ns = value_member(row, STR("now"))->i * 1000000000;
    table_begin(&text, r, o, &meta);
    for (uint32_t i = 0; i < rows->n; i++) {
        struct value v;
        struct err e;
        err_init(&e, &g->arena);
        struct str json = encode_plain(&g->arena, value_member(&rows->items[i], STR("object")));
        CHECK(!json_decode(&g->arena, WORK_OWN, r->type, json, NULL, &v, &e));
        table_add_row(&text, r, o, r->type, &v);
    }
    table_end(&text, r, o);
    struct str kept = arena_str(&g->arena, strbuf_str(&text));
    strbuf_fini(&text);
    return kept;
}

static void check_table(struct golden *g, const char *what, const struct resource *r, const struct value *row)
{
    struct table_options o = { .include = INCLUDE_OBJECT };
    struct value got = decode_plain(&g->arena, make_table(g, r, row, &o));
    const struct value *want = value_member(row, STR("table"));
    const struct value *got_rows = value_member(&got, STR("rows")), *rows = value_member(want, STR("rows"));
    check_member(&g->arena, what, &got, want, "columnDefinitions");
    check_member(&g->arena, what, &got, want, "metadata");
    CHECK_INT(what, got_rows->n, rows->n);
    for (uint32_t i = 0; i < rows->n; i++) {
        check_member(&g->arena, what, &got_rows->items[i], &rows->items[i], "cells");
        check_member(&g->arena, what, &got_rows->items[i], &rows->items[i], "conditions");
        check_member(&g->arena, what, &got_rows->items[i], &rows->items[i], "object");
    }
    CHECK_STR(what, encode_plain(&g->arena, &got), encode_plain(&g->arena, want));
}

TEST(tables_are_those_of_the_real_server)
{
    struct golden g;
    struct value row;
    size_t n_cells = 0;
    golden_open(&g, "apiserver/tables.jsonl.gz");
    while (golden_next(&g, &row)) {
        struct str group = golden_text(&row, "group"), version = golden_text(&row, "version");
        struct str plural = golden_text(&row, "resource");
        const struct resource *r = schema_resource(group, version, plural);
        CHECK(r && r->type);
        if (str_is(group, "autoscaling") && str_is(version, "v1")) /* made of the stored form, which is v2 */
            continue;
        check_table(&g, arena_printf(&g.arena, "%.*s/%.*s", STR_ARG(group), STR_ARG(plural)), r, &row);
        n_cells += value_member(value_member(&row, STR("table")), STR("rows"))->n;
    }
    CHECK(g.n > 55 && n_cells > 180);
    golden_close(&g);
}

TEST(rows_carry_what_is_asked_for)
{
    static const struct {
        const char *target;
        enum include_object include;
        const char *error;
    } rows[] = {
        { "/x", INCLUDE_METADATA, NULL }, { "/x?includeObject=", INCLUDE_METADATA, NULL },
        { "/x?includeObject=Object", INCLUDE_OBJECT, NULL }, { "/x?includeObject=None", INCLUDE_NONE, NULL },
        { "/x?includeObject=Foo", 0,
          "Unable to convert to Table as requested: includeObject: Invalid value: \"Foo\": must be "
          "'Metadata', 'Object', 'None', or empty" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct target t;
        struct err e;
        enum include_object include;
        err_init(&e, &a);
        CHECK(target_read(&a, str_of(rows[i].target), &t));
        enum err_code code = table_read_include(&t, &include, &e);
        CHECK_INT(rows[i].target, code, rows[i].error ? ERR_BAD_REQUEST : ERR_OK);
        if (rows[i].error)
            CHECK_TEXT(rows[i].target, e.message, rows[i].error);
        else
            CHECK_INT(rows[i].target, include, rows[i].include);
    }
    const struct resource *r = schema_resource(STR(""), STR("v1"), STR("serviceaccounts"));
    struct value v;
    struct err e;
    err_init(&e, &a);
    CHECK(!json_decode(&a, WORK_OWN, r->type, STR("{\"metadata\":{\"name\":\"x\"},\"secrets\":[]}"), NULL, &v, &e));
    static const char *const want[] = {
        [INCLUDE_METADATA] = "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1beta1\","
                             "\"metadata\":{\"name\":\"x\"}}",
        [INCLUDE_OBJECT] = "{\"metadata\":{\"name\":\"x\"}}", [INCLUDE_NONE] = "null",
    };
    for (enum include_object include = INCLUDE_METADATA; include <= INCLUDE_NONE; include++) {
        struct table_options o = { .include = include, .v1beta1 = true, .no_columns = true };
        struct table_meta meta = { STR("7"), STR("c"), 5 };
        struct strbuf text;
        strbuf_init(&text, STRBUF_NO_MAX);
        table_begin(&text, r, &o, &meta);
        table_add_row(&text, r, &o, r->type, &v);
        table_add_row(&text, r, &o, r->type, &v);
        table_end(&text, r, &o);
        char *one = arena_printf(&a, "{\"cells\":[\"x\",\"\\u003cunknown\\u003e\"],\"object\":%s}", want[include]);
        char *all = arena_printf(&a, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1beta1\",\"metadata\":{"
                                 "\"resourceVersion\":\"7\",\"continue\":\"c\",\"remainingItemCount\":5},"
                                 "\"columnDefinitions\":null,\"rows\":[%s,%s]}", one, one);
        CHECK_STR("a table", strbuf_str(&text), str_of(all));
        strbuf_fini(&text);
    }
    arena_fini(&a);
}

TEST(a_table_without_rows_is_empty_or_has_none)
{
    static const struct {
        const char *group, *resource, *end;
    } rows[] = {
        { "", "pods", "\"rows\":[]}" },
        { "", "limitranges", "\"rows\":null}" }, /* without columns of its own */
        { "rbac.authorization.k8s.io", "roles", "\"rows\":null}" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct resource *r = schema_resource(str_of(rows[i].group), STR("v1"), str_of(rows[i].resource));
        struct table_options o = { .no_columns = true };
        struct strbuf text;
        strbuf_init(&text, STRBUF_NO_MAX);
        table_begin(&text, r, &o, &(struct table_meta){ .resource_version = STR("1") });
        table_end(&text, r, &o);
        if (!str_ends(strbuf_str(&text), str_of(rows[i].end)))
            FAIL("%s: %.*s", rows[i].resource, STR_ARG(strbuf_str(&text)));
        strbuf_fini(&text);
    }
}

TEST(metadata_is_that_of_the_internal_version)
{
    static const struct {
        const char *group, *version, *resource, *metadata, *shown;
    } rows[] = {
        { "apps", "v1", "daemonsets", "{\"name\":\"x\",\"annotations\":{\"deprecated.daemonset.template.generation\":\"1\"}}",
          "{\"name\":\"x\"}" },
        { "apps", "v1", "deployments", "{\"name\":\"x\",\"annotations\":{\"deprecated.daemonset.template.generation\":\"1\"}}",
          "{\"name\":\"x\",\"annotations\":{\"deprecated.daemonset.template.generation\":\"1\"}}" },
        { "autoscaling", "v1", "horizontalpodautoscalers",
          "{\"name\":\"x\",\"annotations\":{\"a\":\"b\",\"autoscaling.alpha.kubernetes.io/metrics\":\"[]\"}}",
          "{\"name\":\"x\",\"annotations\":{\"a\":\"b\"}}" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct resource *r = schema_resource(str_of(rows[i].group), str_of(rows[i].version), str_of(rows[i].resource));
        struct value v;
        struct err e;
        struct strbuf text;
        err_init(&e, &a);
        strbuf_init(&text, STRBUF_NO_MAX);
        CHECK(!json_decode(&a, WORK_OWN, r->type, str_of(arena_printf(&a, "{\"metadata\":%s}", rows[i].metadata)), NULL, &v, &e));
        struct value meta = shown_metadata(&a, r->type, &v);
        json_encode(&text, schema_type(STR("meta/v1.ObjectMeta")), &meta);
        CHECK_STR(rows[i].resource, strbuf_str(&text), str_of(rows[i].shown));
        strbuf_fini(&text);
    }
    arena_fini(&a);
}

TEST(durations_are_told_as_people_tell_them)
{
    enum { M = 60, H = 60 * M, D = 24 * H };
    static const struct {
        int64_t seconds;
        const char *text;
    } rows[] = {
        { -5, "<invalid>" }, { -1, "0s" }, { 0, "0s" }, { 119, "119s" }, { 120, "2m" }, { 121, "2m1s" }, { 10 * M - 1,
                                                                                                           "9m59s" },
        { 10 * M + 5, "10m" }, { 3 * H - 1, "179m" }, { 3 * H, "3h" }, { 3 * H + M, "3h1m" }, { 8 * H + M, "8h" },
        { 2 * D - 1, "47h" }, { 2 * D, "2d" }, { 2 * D + H, "2d1h" }, { 8 * D, "8d" }, { 729 * D, "729d" },
        { 730LL * D, "2y" }, { 731LL * D, "2y1d" }, { 8 * 365LL * D, "8y" }, { 100 * 365LL * D, "100y" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct strbuf text;
        strbuf_init(&text, STRBUF_NO_MAX);
        table_add_duration(&text, rows[i].seconds * 1000000000);
        CHECK_STR(rows[i].text, strbuf_str(&text), str_of(rows[i].text));
        strbuf_fini(&text);
    }
}
