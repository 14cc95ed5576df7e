/* client/cluster_read.c - see cluster_read.h. */
#include "client/cluster_read.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"

enum {
    PAGE_OBJECTS = 500,
    PAGE_TIMEOUT_MS = 120 * 1000,
    TOKEN_BYTES_MAX = 64 << 10,
};

/* A page that came before its turn. */
struct page {
    enum media media;
    struct str body; /* ours */
};

/* One resource: its next page is asked for, waits for room (`waits`), or there is none (`is_done`). */
struct reading {
    struct cluster_read *r;
    const struct cluster_wanted *wanted;
    const char *ns; /* NULL: all namespaces */
    api_call call;
    struct strbuf token;
    VEC(struct page) kept;
    bool waits, is_done;
    const char *narrowed; /* the warning that it is only one namespace, until it was given; NULL: none */
    unsigned n_again;
};

struct cluster_read {
    struct cluster_read_options o;
    struct arena scratch, texts;
    struct reading *at;
    size_t turn; /* whose objects are given */
    size_t n_ahead_bytes, n_objects;
};

static void ask(struct reading *g);

static const char *plural(struct arena *a, const struct reading *g)
{
    return arena_cstr(a, g->wanted->resource->plural);
}

static size_t index_of(const struct reading *g)
{
    return (size_t)(g - g->r->at);
}

char *cluster_path(struct arena *a, const struct resource *resource, const char *ns)
{
    const char *root = resource->group.n ? arena_printf(a, "/apis/%.*s/%.*s", STR_ARG(resource->group),
                                                        STR_ARG(resource->version))
                                         : arena_printf(a, "/api/%.*s", STR_ARG(resource->version));
    return ns && resource->namespaced ? arena_printf(a, "%s/namespaces/%s/%.*s", root, ns, STR_ARG(resource->plural))
                                      : arena_printf(a, "%s/%.*s", root, STR_ARG(resource->plural));
}

/* ---- The end ---- */

static void drop_kept(struct reading *g)
{
    for (size_t i = 0; i < g->kept.n; i++) {
        g->r->n_ahead_bytes -= g->kept.at[i].body.n;
        free((void *)(uintptr_t)g->kept.at[i].body.p);
    }
    vec_reset(&g->kept);
}

static void cancel_all(struct cluster_read *r)
{
    for (size_t i = 0; i < r->o.n_wanted; i++) {
        if (r->at[i].call)
            r->o.api->cancel(r->o.api->context, r->at[i].call);
        r->at[i].call = 0;
    }
}

/* The text may be in scratch memory. */
static void end(struct cluster_read *r, const char *error)
{
    cancel_all(r);
    r->o.sink.done(r->o.sink.context, error);
}

/* ---- Objects ---- */

static enum err_code read_page(struct cluster_read *r, const struct reading *g, enum media media, struct str body,
                               struct list_page *ret_page, struct err *e)
{
    arena_reset(&r->scratch);
    err_init(e, &r->scratch);
    if (list_page_read(&r->scratch, media, body, ret_page, e))
        return err_wrap(e, "%s", plural(&r->scratch, g));
    if (ret_page->next.n > TOKEN_BYTES_MAX)
        return err_set(e, ERR_BAD_REQUEST, "%s: the token of the next page is too long", plural(&r->scratch, g));
    return ERR_OK;
}

static enum err_code give(struct reading *g, const struct list_page *page, struct err *e)
{
    struct cluster_read *r = g->r;
    for (size_t i = 0; i < page->n_items; i++)
        if (r->o.sink.take(r->o.sink.context, index_of(g), &page->items[i], e))
            return e->code;
    r->n_objects += page->n_items;
    if (r->o.sink.progress)
        r->o.sink.progress(r->o.sink.context, r->n_objects);
    return ERR_OK;
}

static enum err_code give_kept(struct reading *g, struct err *e)
{
    struct list_page page;
    enum err_code code = ERR_OK;
    for (size_t i = 0; i < g->kept.n && !code; i++) {
        struct page kept = g->kept.at[i];
        code = read_page(g->r, g, kept.media, kept.body, &page, e);
        if (!code)
            code = give(g, &page, e);
    }
    drop_kept(g);
    return code;
}

static void keep(struct reading *g, const struct api_answer *answer)
{
    char *copy = mem_alloc(answer->body.n + 1);
    memcpy(copy, answer->body.p, answer->body.n);
    vec_push(&g->kept, (struct page){ answer->media, { copy, answer->body.n } });
    g->r->n_ahead_bytes += answer->body.n;
}

/* Whoever's turn it is gives what it has; who is done gives the turn to the next. */
static void take_turns(struct cluster_read *r)
{
    struct err e;
    for (; r->turn < r->o.n_wanted; r->turn++) {
        struct reading *g = &r->at[r->turn];
        if (give_kept(g, &e)) {
            end(r, e.message);
            return;
        }
        if (g->waits)
            ask(g);
        if (!g->is_done)
            return;
    }
    end(r, NULL);
}

static void finish(struct reading *g)
{
    g->is_done = true;
    if (g->r->turn == index_of(g))
        take_turns(g->r);
}

/* ---- Answers ---- */

/* "list on resource \"pods\" in API group \"\", in all namespaces" */
static const char *right_text(struct arena *a, const struct reading *g)
{
    const struct resource *resource = g->wanted->resource;
    const char *where = !resource->namespaced ? "at the cluster scope"
                        : g->ns               ? arena_printf(a, "in namespace %s", g->ns)
                                              : "in all namespaces";
    return arena_printf(a, "list on resource \"%.*s\" in API group \"%.*s\" %s", STR_ARG(resource->plural),
                        STR_ARG(resource->group), where);
}

static void warn(const struct cluster_read *r, const char *text)
{
    r->o.sink.warn(r->o.sink.context, text);
}

/* It is not there for us: whoever asked goes on without it, or not at all. */
static void go_without(struct reading *g, const char *why)
{
    struct cluster_read *r = g->r;
    if (g->wanted->required) {
        end(r, arena_printf(&r->scratch, "cannot read %s: %s", plural(&r->scratch, g), why));
        return;
    }
    warn(r, arena_printf(&r->scratch, "%s are left out: %s", plural(&r->scratch, g), why));
    finish(g);
}

static void forbidden(struct reading *g, const char *problem)
{
    struct cluster_read *r = g->r;
    struct arena *a = &r->scratch;
    if (r->o.ns && !g->ns && g->wanted->resource->namespaced) {
        g->narrowed = arena_printf(&r->texts, "only the %s of namespace %s are read: the right is missing: %s",
                                   plural(a, g), r->o.ns, right_text(a, g));
        g->ns = r->o.ns;
        ask(g);
        return;
    }
    go_without(g, arena_printf(a, "the right is missing: %s (%s)", right_text(a, g), problem));
}

/* What was listed is too old to go on with. */
static void begin_anew(struct reading *g)
{
    struct cluster_read *r = g->r;
    if (++g->n_again > CLUSTER_READ_AGAIN_MAX) {
        end(r, arena_printf(&r->scratch, "cannot read %s: the list expired before its end, %d times",
                            plural(&r->scratch, g), CLUSTER_READ_AGAIN_MAX + 1));
        return;
    }
    drop_kept(g);
    strbuf_reset(&g->token);
    if (r->turn == index_of(g))
        r->o.sink.again(r->o.sink.context, index_of(g));
    ask(g);
}

static void refused(struct reading *g, const struct api_answer *answer)
{
    struct cluster_read *r = g->r;
    arena_reset(&r->scratch);
    const char *problem = api_problem(&r->scratch, answer);
    if (answer->status == 403)
        forbidden(g, problem);
    else if (answer->status == 404 || answer->status == 405)
        go_without(g, arena_printf(&r->scratch, "the server does not serve them in version %.*s (%s)",
                                   STR_ARG(g->wanted->resource->version), problem));
    else if (answer->status == 410 && g->token.n)
        begin_anew(g);
    else
        end(r, arena_printf(&r->scratch, "cannot read %s: %s", plural(&r->scratch, g), problem));
}

static void on_page(void *context, const struct api_answer *answer)
{
    struct reading *g = context;
    struct cluster_read *r = g->r;
    struct list_page page;
    struct err e;
    bool is_turn = r->turn == index_of(g);
    g->call = 0;
    if (!api_ok(answer)) {
        refused(g, answer);
        return;
    }
    if (read_page(r, g, answer->media, answer->body, &page, &e) || (is_turn && give(g, &page, &e))) {
        end(r, e.message);
        return;
    }
    if (g->narrowed)
        warn(r, g->narrowed);
    g->narrowed = NULL;
    if (!is_turn)
        keep(g, answer);
    strbuf_reset(&g->token);
    strbuf_add_str(&g->token, page.next);
    if (!page.next.n)
        finish(g);
    else if (is_turn || r->n_ahead_bytes < CLUSTER_READ_AHEAD_BYTES_MAX)
        ask(g);
    else
        g->waits = true;
}

static void ask(struct reading *g)
{
    const struct api *api = g->r->o.api;
    struct strbuf target;
    struct arena a;
    arena_init(&a);
    strbuf_init(&target, STRBUF_NO_MAX);
    strbuf_printf(&target, "%s?limit=%d", cluster_path(&a, g->wanted->resource, g->ns), PAGE_OBJECTS);
    if (g->token.n) {
        STRBUF_ADD_LIT(&target, "&continue=");
        api_add_escaped(&target, strbuf_str(&g->token));
    }
    struct api_request request = { .lane = API_LANE_READ, .method = "GET", .target = strbuf_str(&target),
                                   .timeout_ms = PAGE_TIMEOUT_MS };
    g->waits = false;
    g->call = api->send(api->context, &request, on_page, g);
    strbuf_fini(&target);
    arena_fini(&a);
}

/* ---- Life ---- */

struct cluster_read *cluster_read_start(const struct cluster_read_options *o)
{
    struct cluster_read *r = mem_zalloc(sizeof(*r));
    assert(o->n_wanted > 0);
    r->o = *o;
    arena_init(&r->scratch);
    arena_init(&r->texts);
    r->at = mem_zalloc(mem_product(o->n_wanted, sizeof(*r->at)));
    for (size_t i = 0; i < o->n_wanted; i++) {
        r->at[i].r = r;
        r->at[i].wanted = &o->wanted[i];
        strbuf_init(&r->at[i].token, TOKEN_BYTES_MAX);
        ask(&r->at[i]);
    }
    return r;
}

void cluster_read_free(struct cluster_read *r)
{
    if (!r)
        return;
    cancel_all(r);
    for (size_t i = 0; i < r->o.n_wanted; i++) {
        drop_kept(&r->at[i]);
        vec_fini(&r->at[i].kept);
        strbuf_fini(&r->at[i].token);
    }
    arena_fini(&r->scratch);
    arena_fini(&r->texts);
    free(r->at);
    free(r);
}
