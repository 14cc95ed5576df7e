/* daemon/endpoints.c - see endpoints.h. Upstream: newEndpointsHandler of cmd/kube-scheduler/app/server.go. */
#include "daemon/endpoints.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "base/rand.h"
#include "daemon/debug.h"

#define TEXT "text/plain; charset=utf-8"

/* Answers of /metrics grow with the cluster's labels; this is far above what registries bound them to. */
enum { METRICS_BYTES_MAX = 256 << 20 };

struct metrics_page {
    struct endpoints *owner;
    struct endpoints_metrics page;
};

struct endpoints {
    struct endpoints_options options;
    struct arena arena;
    struct rand rand;
    struct strbuf flagz_text; /* once drawn by lot it stays, as upstream's */
    struct ops_route routes[OPS_ROUTES_MAX];
    size_t n_routes;
};

/* ---- Health ---- */

static void add_nosniff(struct ops_exchange *x)
{
    ops_add_header(x, "x-content-type-options", STR("nosniff"));
}

static void serve_health(void *context, struct ops_exchange *x)
{
    const struct health *h = context;
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    int status = health_answer(h, &x->target, &text);
    add_nosniff(x);
    ops_answer(x, status, TEXT, strbuf_str(&text));
    strbuf_fini(&text);
}

/* The route is the check's own path: "/readyz/shutdown". */
static void serve_check(void *context, struct ops_exchange *x)
{
    const struct health *h = context;
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    int status = health_answer_one(h, str_from(x->target.path, strlen(h->name) + 2), &text);
    if (status != 200)
        add_nosniff(x);
    ops_answer(x, status, TEXT, strbuf_str(&text));
    strbuf_fini(&text);
}

/* ---- Metrics ---- */

static void serve_metrics(void *context, struct ops_exchange *x)
{
    const struct metrics_page *m = context;
    if (str_is(x->head->method, "DELETE") && m->page.reset) {
        m->page.reset(m->page.context);
        ops_answer(x, 200, TEXT, STR("metrics reset\n"));
        return;
    }
    struct strbuf text;
    strbuf_init(&text, METRICS_BYTES_MAX);
    if (m->page.write(m->page.context, &text)) {
        ops_add_header(x, "process-start-time-unix", number_text(stream_arena(x->stream),
                                                                (uint64_t)m->owner->options.zpages.start_s));
        ops_answer_packed(x, 200, METRICS_CONTENT_TYPE, strbuf_str(&text));
    } else {
        ops_answer(x, 200, NULL, STR(""));
    }
    strbuf_fini(&text);
}

/* ---- Configuration, flags, status ---- */

static void serve_configz(void *context, struct ops_exchange *x)
{
    const struct endpoints *e = context;
    add_nosniff(x);
    ops_answer(x, 200, "application/json", e->options.configz);
}

static void serve_zpage(struct endpoints *e, struct ops_exchange *x, enum zpage page)
{
    struct strbuf text;
    struct zpage_request r = { .page = page, .accept = headers_get(&x->head->headers, "accept"),
                               .now_s = clock_wall_ns(loop_clock(e->options.loop)) / CLOCK_NS_PER_SECOND,
                               .lot = rand_u64(&e->rand), .pretty = x->pretty };
    strbuf_init(&text, STRBUF_NO_MAX);
    struct zpage_answer a = zpage_answer(&e->options.zpages, &r, stream_arena(x->stream), &text);
    bool is_text = a.status == 200 && str_is(str_of(a.content_type), TEXT);
    if (page == ZPAGE_FLAGZ && is_text && e->flagz_text.n == 0)
        strbuf_add_str(&e->flagz_text, strbuf_str(&text));
    if (a.warning)
        ops_add_header(x, "warning", str_of(a.warning));
    ops_answer(x, a.status, a.content_type,
               page == ZPAGE_FLAGZ && is_text ? strbuf_str(&e->flagz_text) : strbuf_str(&text));
    strbuf_fini(&text);
}

static void serve_flagz(void *context, struct ops_exchange *x)
{
    serve_zpage(context, x, ZPAGE_FLAGZ);
}

static void serve_statusz(void *context, struct ops_exchange *x)
{
    serve_zpage(context, x, ZPAGE_STATUSZ);
}

/* ---- Putting them together ---- */

static void add_route(struct endpoints *e, struct ops_route r)
{
    assert(e->n_routes < OPS_ROUTES_MAX);
    e->routes[e->n_routes++] = r;
}

static void add_health(struct endpoints *e, struct health *h)
{
    if (h->n_checks == 0) {
        h->checks = &health_ping;
        h->n_checks = 1;
    }
    add_route(e, (struct ops_route){ .path = arena_printf(&e->arena, "/%s", h->name), .serve = serve_health,
                                     .context = h });
    for (size_t i = 0; i < h->n_checks; i++)
        add_route(e, (struct ops_route){ .path = arena_printf(&e->arena, "/%s/%s", h->name, h->checks[i].name),
                                         .serve = serve_check, .context = h });
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* First parts of what is served so far, in order and each once: what /statusz lists. */
static void list_paths(struct endpoints *e)
{
    const char **paths = ARENA_NEW_N(&e->arena, const char *, e->n_routes);
    size_t n = 0, n_kept = 0;
    for (size_t i = 0; i < e->n_routes; i++) {
        struct str path = str_of(e->routes[i].path);
        paths[n++] = arena_cstr(&e->arena, str_first(path, 1 + str_index(str_from(path, 1), '/')));
    }
    qsort(paths, n, sizeof(paths[0]), by_text);
    for (size_t i = 0; i < n; i++)
        if (n_kept == 0 || strcmp(paths[n_kept - 1], paths[i]) != 0)
            paths[n_kept++] = paths[i];
    e->options.zpages.paths = paths;
    e->options.zpages.n_paths = n_kept;
}

static void add_metrics(struct endpoints *e)
{
    for (size_t i = 0; i < e->options.n_metrics; i++) {
        struct metrics_page *m = ARENA_NEW(&e->arena, struct metrics_page);
        *m = (struct metrics_page){ e, e->options.metrics[i] };
        add_route(e, (struct ops_route){ .path = m->page.path, .serve = serve_metrics, .context = m });
    }
}

struct endpoints *endpoints_new(const struct endpoints_options *o)
{
    struct endpoints *e = mem_zalloc(sizeof(*e));
    arena_init(&e->arena);
    e->options = *o;
    if (o->configz.n)
        e->options.configz = str_of(arena_printf(&e->arena, "{\"componentconfig\":%.*s}", STR_ARG(o->configz)));
    rand_init(&e->rand, o->seed);
    strbuf_init(&e->flagz_text, STRBUF_NO_MAX);
    add_health(e, &e->options.healthz);
    add_health(e, &e->options.livez);
    add_health(e, &e->options.readyz);
    add_metrics(e);
    if (o->configz.n)
        add_route(e, (struct ops_route){ .path = "/configz", .serve = serve_configz, .context = e });
    if (o->flagz)
        add_route(e, (struct ops_route){ .path = "/flagz", .serve = serve_flagz, .context = e });
    for (size_t i = 0; i < o->n_others; i++)
        add_route(e, o->others[i]);
    list_paths(e); /* as upstream: without itself, and without what is for debugging */
    if (o->statusz)
        add_route(e, (struct ops_route){ .path = "/statusz", .serve = serve_statusz, .context = e });
    for (size_t i = 0; o->profiling && i < N_DEBUG_ROUTES; i++)
        add_route(e, debug_routes[i]);
    return e;
}

void endpoints_free(struct endpoints *e)
{
    if (!e)
        return;
    strbuf_fini(&e->flagz_text);
    arena_fini(&e->arena);
    free(e);
}

const struct ops_route *endpoints_routes(const struct endpoints *e, size_t *ret_n)
{
    *ret_n = e->n_routes;
    return e->routes;
}
