/* What an API server counts: apiserver/server_metrics.c. */
#include "apiserver/server_metrics.h"

#include "tests/test.h"

struct world {
    struct arena arena;
    struct err e;
    struct store *store;
    struct stored *objects;
    struct metrics *registry;
    struct server_metrics *m;
};

static void world_init(struct world *w)
{
    arena_init(&w->arena);
    err_init(&w->e, &w->arena);
    CHECK(!store_new(&(struct store_options){ .clock = NULL }, &w->store, &w->e));
    w->objects = stored_new(w->store);
    w->registry = metrics_new();
    w->m = server_metrics_new(w->registry, w->objects);
}

static void world_fini(struct world *w)
{
    server_metrics_free(w->m);
    metrics_free(w->registry);
    stored_free(w->objects);
    store_free(w->store);
    arena_fini(&w->arena);
}

static struct route read_route(struct world *w, const char *method, const char *target_text)
{
    struct target t;
    struct route r;
    CHECK(target_read(&w->arena, str_of(target_text), &t));
    CHECK(!route_read(&w->arena, str_of(method), &t, &r, &w->e));
    return r;
}

static void check_line(struct world *w, const char *what, const char *line)
{
    struct strbuf page;
    strbuf_init(&page, STRBUF_NO_MAX);
    strbuf_add_char(&page, '\n');
    metrics_write(w->registry, &page);
    const char *wanted = arena_printf(&w->arena, "\n%s\n", line);
    if (!strstr(strbuf_cstr(&page), wanted))
        FAIL("%s: there is no %s", what, line);
    strbuf_fini(&page);
}

static const struct {
    const char *name, *method, *target, *sub;
    int code;
    bool dry_run;
    const char *line;
} requests[] = {
    { "a list of a namespace", "GET", "/api/v1/namespaces/a/pods", "", 200, false,
      "apiserver_request_total{code=\"200\",component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"pods\",scope=\"namespace\","
      "subresource=\"\",verb=\"LIST\",version=\"v1\"} 2" },
    { "a list of all", "GET", "/apis/apps/v1/deployments", "", 200, false,
      "apiserver_request_total{code=\"200\",component=\"apiserver\",dry_run=\"\",group=\"apps\",resource=\"deployments\","
      "scope=\"cluster\",subresource=\"\",verb=\"LIST\",version=\"v1\"} 2" },
    { "a subresource", "PUT", "/api/v1/namespaces/a/pods/x/status", "status", 409, false,
      "apiserver_request_total{code=\"409\",component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"pods\",scope=\"resource\","
      "subresource=\"status\",verb=\"PUT\",version=\"v1\"} 2" },
    { "a dry run", "POST", "/api/v1/namespaces/a/pods", "", 201, true,
      "apiserver_request_total{code=\"201\",component=\"apiserver\",dry_run=\"All\",group=\"\",resource=\"pods\","
      "scope=\"resource\",subresource=\"\",verb=\"POST\",version=\"v1\"} 2" },
    { "no resource that there is", "GET", "/apis/made.up/v9/things", "", 404, false,
      "apiserver_request_total{code=\"404\",component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"\",scope=\"cluster\","
      "subresource=\"\",verb=\"LIST\",version=\"\"} 2" },
    { "no resource at all", "GET", "/healthz", "", 200, false,
      "apiserver_request_total{code=\"200\",component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"\",scope=\"\","
      "subresource=\"\",verb=\"GET\",version=\"\"} 2" },
};

TEST(requests_by_their_labels)
{
    struct world w;
    world_init(&w);
    for (int round = 0; round < 2; round++) /* the second time their series are at hand */
        for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
            struct route r = read_route(&w, requests[i].method, requests[i].target);
            server_metrics_request(w.m, &r, requests[i].sub, requests[i].code, 0.01, 5000, requests[i].dry_run);
        }
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
        check_line(&w, requests[i].name, requests[i].line);
    check_line(&w, "how long it took",
               "apiserver_request_duration_seconds_bucket{component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"pods\","
               "scope=\"namespace\",subresource=\"\",verb=\"LIST\",version=\"v1\",le=\"0.025\"} 2");
    check_line(&w, "how large it was",
               "apiserver_response_sizes_bucket{component=\"apiserver\",group=\"\",resource=\"pods\",scope=\"namespace\","
               "subresource=\"\",verb=\"LIST\",version=\"v1\",le=\"10000\"} 2");
    world_fini(&w);
}

TEST(watches_and_refusals)
{
    struct world w;
    world_init(&w);
    struct route r = read_route(&w, "GET", "/api/v1/pods?watch=1");
    server_metrics_watch_begun(w.m, &r);
    server_metrics_watch_begun(w.m, &r);
    server_metrics_watch_ended(w.m, &r);
    server_metrics_terminated(w.m, &r, "", 429);
    server_metrics_watch_event(w.m, stored_resource("pods", ""), 3000);
    server_metrics_inflight(w.m, 3, 1);
    check_line(&w, "a watch", "apiserver_longrunning_requests{component=\"apiserver\",group=\"\",resource=\"pods\","
                              "scope=\"cluster\",subresource=\"\",verb=\"WATCH\",version=\"v1\"} 1");
    check_line(&w, "a refusal", "apiserver_request_terminations_total{code=\"429\",component=\"apiserver\",group=\"\","
                                "resource=\"pods\",scope=\"cluster\",subresource=\"\",verb=\"WATCH\",version=\"v1\"} 1");
    check_line(&w, "an event", "apiserver_watch_events_total{group=\"\",resource=\"pods\",version=\"v1\"} 1");
    check_line(&w, "reading", "apiserver_current_inflight_requests{request_kind=\"readOnly\"} 3");
    check_line(&w, "writing", "apiserver_current_inflight_requests{request_kind=\"mutating\"} 1");
    world_fini(&w);
}

static void done(void *context, const struct store_answer *answer)
{
    (void)context;
    CHECK(!answer->problem);
}

TEST(the_store)
{
    struct world w;
    world_init(&w);
    static const char *const keys[] = { "/registry/pods/a/x", "/registry/pods/a/y", "/registry/deployments/a/x" };
    for (size_t i = 0; i < 3; i++) {
        struct store_write write = { .key = str_of(keys[i]), .value = STR("{}"), .must = STORE_NOT_EXIST };
        CHECK(!store_commit(w.store, &(struct store_commit){ .writes = &write, .n_writes = 1 }, done, NULL, &w.e));
    }
    store_poll(w.store);
    check_line(&w, "of a kind", "apiserver_storage_objects{resource=\"pods\"} 2");
    check_line(&w, "of a group", "apiserver_storage_objects{resource=\"deployments.apps\"} 1");
    check_line(&w, "by group", "apiserver_resource_objects{group=\"apps\",resource=\"deployments\"} 1");
    check_line(&w, "none", "apiserver_resource_objects{group=\"\",resource=\"events\"} 0");
    check_line(&w, "keys", "berth_store_keys 3");
    world_fini(&w);
}

TEST(without_a_registry)
{
    struct world w;
    world_init(&w);
    struct server_metrics *m = server_metrics_new(NULL, w.objects);
    struct route r = read_route(&w, "GET", "/api/v1/pods");
    server_metrics_request(m, &r, "", 200, 1, 1, false);
    server_metrics_watch_begun(m, &r);
    server_metrics_inflight(m, 1, 1);
    server_metrics_free(m);
    world_fini(&w);
}
