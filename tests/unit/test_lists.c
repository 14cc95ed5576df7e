/* tests/unit/test_lists.c - which objects a list shows: chunks and their tokens, versions, selectors. */
#include "apiserver/lists.h"
#include "base/base64.h"
#include "tests/unit/api_story.h"

enum { N_OBJECTS = 7 };

static void begin(struct api_world *w, uint32_t log_events_max)
{
    api_world_init(w, &(struct api_world_options){ .log_events_max = log_events_max });
    story_create(w, "namespaces", "", "", "{\"metadata\":{\"name\":\"default\"}}");
    for (int i = 0; i < N_OBJECTS; i++)
        story_create(w, "configmaps", "", i < 5 ? "default" : "other",
                     arena_printf(&w->arena, "{\"metadata\":{\"name\":\"c%d\",\"labels\":{\"%s\":\"1\"}}}", i, i % 2 ? "odd" : "even"));
}

/* The names of a list of ConfigMaps, with a query; "!" and the message when it is refused. */
static const char *listed(struct api_world *w, const char *namespace, const char *query, struct list_answer *ret_answer)
{
    struct arena *a = &w->arena;
    struct list_options o;
    struct target t;
    struct err e;
    err_init(&e, a);
    CHECK(target_read(a, str_of(arena_printf(a, "/x?%s", query)), &t));
    if (options_read_list(a, &t, &o, &e))
        FAIL("%s: %s", query, e.message);
    options_default_list(&o);
    struct list_request r = { w->objects, stored_resource("configmaps", ""), str_of(namespace), &o };
    if (lists_read(a, &r, ret_answer, &e))
        return arena_printf(a, "!%d %s", e.code, e.message);
    struct strbuf names;
    strbuf_init(&names, STRBUF_NO_MAX);
    for (size_t i = 0; i < ret_answer->n; i++) {
        struct str space, name;
        stored_read_key(r.resource, store_item_key(ret_answer->items[i]), &space, &name);
        strbuf_printf(&names, "%s%.*s", i ? " " : "", STR_ARG(name));
    }
    const char *text = arena_cstr(a, strbuf_str(&names));
    strbuf_fini(&names);
    return text;
}

TEST(a_list_shows_what_its_query_asks_for)
{
    static const struct {
        const char *what, *namespace, *query, *names;
        int64_t remaining;
        bool more;
    } rows[] = {
        { "all", "", "", "c0 c1 c2 c3 c4 c5 c6", 0, false },
        { "one namespace", "other", "", "c5 c6", 0, false },
        { "a namespace that is not there", "none", "", "", 0, false },
        { "by label", "", "labelSelector=odd", "c1 c3 c5", 0, false },
        { "by field", "", "fieldSelector=metadata.name%3Dc4", "c4", 0, false },
        { "the first two", "", "limit=2", "c0 c1", 5, true },
        { "as many as there are", "", "limit=7", "c0 c1 c2 c3 c4 c5 c6", 0, false },
        { "more than there are", "", "limit=100", "c0 c1 c2 c3 c4 c5 c6", 0, false },
        { "a limit of those that match, whose rest is not counted", "", "limit=2&labelSelector=even", "c0 c2", 0, true },
        { "exactly those that match", "", "limit=3&labelSelector=odd", "c1 c3 c5", 0, false },
        { "version 0 knows no limit", "", "limit=2&resourceVersion=0", "c0 c1 c2 c3 c4 c5 c6", 0, false },
        { "no limit below one", "", "limit=-1", "c0 c1 c2 c3 c4 c5 c6", 0, false },
        { "at least an old version", "", "resourceVersion=3", "c0 c1 c2 c3 c4 c5 c6", 0, false },
        { "exactly an old version", "", "resourceVersion=3&resourceVersionMatch=Exact", "c0", 0, false },
        { "a limit at an old version means exactly that", "", "resourceVersion=4&limit=10", "c0 c1", 0, false },
    };
    struct api_world w;
    begin(&w, 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct list_answer answer;
        CHECK_TEXT(rows[i].what, listed(&w, rows[i].namespace, rows[i].query, &answer), rows[i].names);
        CHECK_INT(rows[i].what, answer.meta.remaining, rows[i].remaining);
        CHECK_INT(rows[i].what, answer.meta.continue_token.n > 0, rows[i].more);
        CHECK_STR(rows[i].what, answer.meta.resource_version,
                  str_of(arena_printf(&w.arena, "%llu", (unsigned long long)answer.revision)));
    }
    api_world_fini(&w);
}

static const char *more_of(struct api_world *w, const char *query, const struct list_answer *before)
{
    return arena_printf(&w->arena, "%s&continue=%.*s", query, STR_ARG(before->meta.continue_token));
}

TEST(chunks_are_of_one_version_whatever_is_written_meanwhile)
{
    static const char *const queries[] = { "limit=2", "limit=2&labelSelector=even" };
    static const char *const chunks[][4] = { { "c0 c1", "c2 c3", "c4 c5", "c6" }, { "c0 c2", "c4 c6", NULL, NULL } };
    for (int q = 0; q < 2; q++) {
        struct api_world w;
        struct list_answer answer;
        begin(&w, 0);
        const char *query = queries[q];
        uint64_t revision = store_revision(w.store);
        for (int i = 0; i < 4 && chunks[q][i]; i++) {
            CHECK_TEXT(queries[q], listed(&w, "", query, &answer), chunks[q][i]);
            CHECK_INT("its version", answer.revision, revision);
            CHECK_INT("more", answer.meta.continue_token.n > 0, i < 3 && chunks[q][i + 1]);
            query = more_of(&w, queries[q], &answer);
            story_create(&w, "configmaps", "", "default",
                         arena_printf(&w.arena, "{\"metadata\":{\"name\":\"c%d-new\",\"labels\":{\"even\":\"\"}}}", 2 * i));
        }
        api_world_fini(&w);
    }
}

TEST(a_token_of_a_version_that_is_forgotten_can_be_exchanged)
{
    struct api_world w;
    struct list_answer answer;
    begin(&w, 0);
    listed(&w, "", "limit=2", &answer);
    const char *query = more_of(&w, "limit=2", &answer);
    story_create(&w, "configmaps", "", "default", "{\"metadata\":{\"name\":\"c2-new\"}}");
    store_compact(w.store, store_revision(w.store));
    const char *refused = listed(&w, "", query, &answer);
    CHECK(str_starts(str_of(refused), str_of(arena_printf(&w.arena, "!%d The provided continue parameter is too old to display a "
                                                          "consistent list result.", ERR_EXPIRED))));
    CHECK(answer.expired_continue.n > 0);
    query = arena_printf(&w.arena, "limit=2&continue=%.*s", STR_ARG(answer.expired_continue));
    CHECK_TEXT("goes on where it was, at the newest version", listed(&w, "", query, &answer), "c2 c2-new");
    CHECK_INT("its version", answer.revision, store_revision(w.store));
    CHECK_TEXT("without a token", listed(&w, "", "resourceVersion=3&resourceVersionMatch=Exact", &answer),
               arena_printf(&w.arena, "!%d The resourceVersion for the provided list is too old.", ERR_EXPIRED));
    CHECK_INT("there is none to go on with", answer.expired_continue.n, 0);
    api_world_fini(&w);
}

static const char *token_of(struct arena *a, const char *json)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    base64_add(&text, str_of(json));
    const char *token = arena_cstr(a, str_first(strbuf_str(&text), str_index(strbuf_str(&text), '=')));
    strbuf_fini(&text);
    return token;
}

TEST(tokens_that_were_not_made_here_are_refused_or_lead_nowhere_else)
{
    static const struct {
        const char *what, *token, *names;
    } rows[] = {
        { "no JSON", "x", "!continue key is not valid" },
        { "a list", "[]", "!continue key is not valid" },
        { "another format", "{\"v\":\"v9\",\"rv\":3,\"start\":\"a\"}",
          "!continue key is not valid: server does not recognize this encoded version v9" },
        { "no version", "{\"v\":\"meta.k8s.io/v1\",\"start\":\"a\"}",
          "!continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)" },
        { "version 0", "{\"v\":\"meta.k8s.io/v1\",\"rv\":0,\"start\":\"a\"}",
          "!continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)" },
        { "no start", "{\"v\":\"meta.k8s.io/v1\",\"rv\":3}",
          "!continue key is not valid: encoded start key empty (version meta.k8s.io/v1)" },
        { "of another namespace: only what is behind it in this one", "{\"v\":\"meta.k8s.io/v1\",\"rv\":-1,\"start\":\"zzz\"}", "" },
        { "in the middle, at the newest version", "{\"v\":\"meta.k8s.io/v1\",\"rv\":-1,\"start\":\"c3\"}", "c3 c4" },
    };
    struct api_world w;
    begin(&w, 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct list_answer answer;
        const char *query = arena_printf(&w.arena, "continue=%s", token_of(&w.arena, rows[i].token));
        const char *want = rows[i].names[0] == '!' ? arena_printf(&w.arena, "!%d invalid continue token: %s", ERR_BAD_REQUEST,
                                                                  rows[i].names + 1) : rows[i].names;
        CHECK_TEXT(rows[i].what, listed(&w, "default", query, &answer), want);
    }
    struct list_answer answer;
    CHECK_TEXT("no base64 at all", listed(&w, "default", "continue=!", &answer),
               arena_printf(&w.arena, "!%d invalid continue token: continue key is not valid: illegal base64 data at input byte 0",
                            ERR_BAD_REQUEST));
    api_world_fini(&w);
}
