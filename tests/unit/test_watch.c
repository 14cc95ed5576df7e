/* tests/unit/test_watch.c - watches over connections without sockets: what they tell of changes, selectors, slow clients, the
 * beginning and the end. */
#include "tests/api_connection.h"
#include "tests/unit/api_story.h"

#define CM "/api/v1/configmaps"
#define TABLE "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json\r\n"

static void begin(struct api_world *w, struct connection *c)
{
    api_world_init(w, &(struct api_world_options){ .log_events_max = 64 });
    story_create(w, "namespaces", "", "", "{\"metadata\":{\"name\":\"default\"}}");
    connection_init(c, w);
}

static void finish(struct api_world *w, struct connection *c)
{
    connection_fini(c);
    api_world_fini(w);
}

static void put(struct api_world *w, struct connection *c, const char *name, const char *label)
{
    story_create(w, "configmaps", "", "default",
                 arena_printf(&w->arena, "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"a\":\"%s\"}}}", name, label));
    connection_run(c);
}

static void patch(struct api_world *w, struct connection *c, const char *name, const char *json)
{
    struct call *p = call_new(w, "configmaps", "", "default", name, json);
    p->op.patch_form = PATCH_FORM_MERGE;
    call_run(w, json, p, registry_patch, 200);
    call_free(p);
    connection_run(c);
}

static void remove_it(struct api_world *w, struct connection *c, const char *name)
{
    struct call *d = call_new(w, "configmaps", "", "default", name, "");
    call_run(w, name, d, registry_delete, 200);
    call_free(d);
    connection_run(c);
}

/* "ADDED x@3 MODIFIED x@4": types, names and versions; what was told is forgotten, but for the head. */
static const char *told(struct api_world *w, struct connection *c)
{
    struct arena *a = &w->arena;
    struct str rest = connection_body(a, strbuf_str(&c->sent));
    struct strbuf text;
    struct err e;
    err_init(&e, a);
    strbuf_init(&text, STRBUF_NO_MAX);
    while (rest.n) {
        struct str line = str_first(rest, str_index(rest, '\n'));
        struct value v;
        CHECK(!json_decode_plain(a, WORK_OWN, line, &v, &e));
        const struct value *object = value_member(&v, STR("object")), *meta = value_member(object, STR("metadata"));
        const struct value *name = value_member(meta, STR("name")), *version = value_member(meta, STR("resourceVersion"));
        strbuf_printf(&text, "%s%.*s %.*s@%.*s", text.n ? " " : "", STR_ARG(value_text(value_member(&v, STR("type")))),
                      STR_ARG(name ? value_text(name) : STR("")), STR_ARG(version ? value_text(version) : STR("")));
        if (value_member(meta, STR("annotations")))
            strbuf_add_text(&text, "!");
        rest = str_from(rest, line.n + 1);
    }
    const char *copy = arena_cstr(a, strbuf_str(&text));
    strbuf_fini(&text);
    const char *end = memmem(c->sent.p, c->sent.n, "\r\n\r\n", 4);
    CHECK(end);
    c->sent.n = (size_t)(end + 4 - c->sent.p);
    return copy;
}

TEST(changes_are_told_in_order_and_a_deletion_at_its_own_version)
{
    struct api_world w;
    struct connection c;
    begin(&w, &c);
    connection_ask(&c, "GET", CM "?watch=1&resourceVersion=2", "", "");
    put(&w, &c, "x", "1");
    patch(&w, &c, "x", "{\"data\":{\"k\":\"v\"}}");
    patch(&w, &c, "x", "{}");
    remove_it(&w, &c, "x");
    CHECK_TEXT("all", told(&w, &c), "ADDED x@3 MODIFIED x@4 DELETED x@5");
    finish(&w, &c);
}

/* What a selector no longer matches is deleted to who watches with it, and new when it matches again. */
TEST(selectors_make_changes_into_additions_and_deletions)
{
    struct api_world w;
    struct connection c;
    begin(&w, &c);
    connection_ask(&c, "GET", CM "?watch=1&resourceVersion=2&labelSelector=a%3D1", "", "");
    put(&w, &c, "x", "2");
    CHECK_TEXT("nothing that matches", told(&w, &c), "");
    patch(&w, &c, "x", "{\"metadata\":{\"labels\":{\"a\":\"1\"}}}");
    CHECK_TEXT("matches", told(&w, &c), "ADDED x@4");
    patch(&w, &c, "x", "{\"data\":{\"k\":\"v\"}}");
    CHECK_TEXT("matches still", told(&w, &c), "MODIFIED x@5");
    patch(&w, &c, "x", "{\"metadata\":{\"labels\":{\"a\":\"2\"}}}");
    CHECK_TEXT("no longer", told(&w, &c), "DELETED x@6");
    remove_it(&w, &c, "x");
    CHECK_TEXT("and then it does not matter", told(&w, &c), "");
    finish(&w, &c);
}

TEST(a_watch_begins_where_its_query_says)
{
    static const struct {
        const char *what, *query, *events;
    } rows[] = {
        { "after a version", "resourceVersion=3", "ADDED y@4 MODIFIED x@5" },
        { "at the newest, with what there is", "", "ADDED x@5 ADDED y@4" },
        { "version 0 too", "resourceVersion=0", "ADDED x@5 ADDED y@4" },
        { "initial events and their end", "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
          "ADDED x@5 ADDED y@4 BOOKMARK @5!" },
        { "none of them", "sendInitialEvents=false&resourceVersionMatch=NotOlderThan", "" },
        { "one namespace that is empty", "fieldSelector=metadata.namespace%3Dnone", "" },
        { "one name", "fieldSelector=metadata.name%3Dy", "ADDED y@4" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct api_world w;
        struct connection c;
        begin(&w, &c);
        put(&w, &c, "x", "1");
        put(&w, &c, "y", "1");
        patch(&w, &c, "x", "{\"data\":{\"k\":\"v\"}}");
        connection_ask(&c, "GET", arena_printf(&w.arena, CM "?watch=1&%s", rows[i].query), "", "");
        CHECK_TEXT(rows[i].what, told(&w, &c), rows[i].events);
        finish(&w, &c);
    }
}

TEST(a_version_that_is_forgotten_ends_the_watch_with_an_error)
{
    struct api_world w;
    struct connection c;
    begin(&w, &c);
    put(&w, &c, "x", "1");
    put(&w, &c, "y", "1");
    store_compact(w.store, store_revision(w.store));
    connection_ask(&c, "GET", CM "?watch=1&resourceVersion=2", "", "");
    struct str body = connection_body(&w.arena, strbuf_str(&c.sent));
    CHECK(memmem(body.p, body.n, "\"code\":410", 10) && memmem(body.p, body.n, "\"type\":\"ERROR\"", 14));
    CHECK(memmem(body.p, body.n, "too old resource version: 2 (5)", 31));
    finish(&w, &c);
}

/* Whoever reads again soon enough has missed nothing; whoever does not is told. */
TEST(a_client_that_does_not_read_gets_all_of_it_later_or_an_error)
{
    for (int overtaken = 0; overtaken < 2; overtaken++) {
        enum { N = 20 };
        struct api_world w;
        struct connection slow;
        begin(&w, &slow);
        char *big = arena_alloc(&w.arena, 400001);
        memset(big, 'x', 400000);
        big[400000] = 0;
        connection_ask(&slow, "GET", CM "?watch=1&resourceVersion=2", "", "");
        slow.deaf = true;
        for (int i = 0; i < N; i++) {
            story_create(&w, "configmaps", "", "default",
                         arena_printf(&w.arena, "{\"metadata\":{\"name\":\"c%d\"},\"data\":{\"k\":\"%s\"}}", i, big));
            connection_run(&slow);
        }
        for (int i = 0; overtaken && i < 100; i++)
            story_create(&w, "secrets", "", "default", arena_printf(&w.arena, "{\"metadata\":{\"name\":\"s%d\"}}", i));
        slow.deaf = false;
        connection_run(&slow);
        const char *all = told(&w, &slow);
        int n_told = 0;
        for (const char *at = all; (at = strstr(at, "ADDED c")); at++)
            n_told++;
        CHECK_INT("all is told", strstr(all, "ADDED c19@") != NULL, !overtaken);
        CHECK(overtaken ? n_told < N : n_told == N); /* nothing twice */
        CHECK_INT("or an error", strstr(all, "ERROR") != NULL, overtaken);
        finish(&w, &slow);
    }
}

TEST(bookmarks_come_about_every_minute_and_the_end_at_its_time)
{
    struct api_world w;
    struct connection c;
    begin(&w, &c);
    put(&w, &c, "x", "1");
    connection_ask(&c, "GET", CM "?watch=1&resourceVersion=3&allowWatchBookmarks=true&timeoutSeconds=200", "", "");
    story_create(&w, "secrets", "", "default", "{\"metadata\":{\"name\":\"s\"}}");
    int n_bookmarks = 0;
    for (int second = 0; second < 199; second++) {
        api_world_advance(&w, 1000);
        connection_run(&c);
        const char *events = told(&w, &c);
        if (*events)
            CHECK_TEXT("a bookmark", events, "BOOKMARK @4");
        n_bookmarks += *events != 0;
        CHECK(c.p && !list_is_empty(&w.server->exchanges));
    }
    CHECK(n_bookmarks >= 3 && n_bookmarks <= 5);
    api_world_advance(&w, 2000);
    connection_run(&c);
    CHECK(list_is_empty(&w.server->exchanges));
    finish(&w, &c);
}

TEST(tables_tell_their_columns_once)
{
    struct api_world w;
    struct connection c;
    begin(&w, &c);
    put(&w, &c, "x", "1");
    connection_ask(&c, "GET", CM "?watch=1&resourceVersion=2", TABLE, "");
    put(&w, &c, "y", "1");
    struct str body = connection_body(&w.arena, strbuf_str(&c.sent));
    size_t first = str_index(body, '\n');
    CHECK(memmem(body.p, first, "\"columnDefinitions\":[{", 22));
    CHECK(memmem(body.p, first, "\"x\"", 3));
    struct str second = str_from(body, first + 1);
    CHECK(!memmem(second.p, second.n, "\"columnDefinitions\":[{", 22));
    CHECK(memmem(second.p, second.n, "\"y\"", 3));
    finish(&w, &c);
}

/* Two clients of one event in the same form and one in another: each gets its own. */
TEST(clients_of_different_forms_get_the_same_events)
{
    struct api_world w;
    struct connection c[3];
    static const char *const forms[3] = { "", "", "Accept: application/vnd.kubernetes.protobuf;stream=watch\r\n" };
    begin(&w, &c[0]);
    for (int i = 0; i < 3; i++) {
        if (i)
            connection_init(&c[i], &w);
        connection_ask(&c[i], "GET", CM "?watch=1&resourceVersion=2", forms[i], "");
    }
    put(&w, &c[0], "x", "1");
    connection_run(&c[1]);
    connection_run(&c[2]);
    CHECK_TEXT("the first", told(&w, &c[0]), "ADDED x@3");
    CHECK_TEXT("the second", told(&w, &c[1]), "ADDED x@3");
    CHECK(memmem(c[2].sent.p, c[2].sent.n, "k8s\0", 4));
    connection_fini(&c[1]);
    connection_fini(&c[2]);
    finish(&w, &c[0]);
}
