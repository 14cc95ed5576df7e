/* daemon/api_pages.c - see api_pages.h. */
#include "daemon/api_pages.h"

#include <assert.h>
#include <malloc.h>
#include <stdlib.h>

#include "apiserver/status_object.h"
#include "base/rand.h"

#define JSON "application/json"

enum {
    PAGES_MAX = 24,
    PATHS_MAX = 512, /* that / lists */
};

struct api_pages {
    struct api_pages_options o;
    struct arena arena;
    struct rand rand;
    struct zpages zpages;
    struct strbuf flagz_text; /* once drawn by lot it stays, as upstream's */
    struct str version, index;
    struct apiserver_page rows[PAGES_MAX];
    size_t n_rows;
};

/* ---- Health ---- */

static int write_health(void *context, const struct head *request, const struct target *t, struct strbuf *body,
                        const char **content_type)
{
    (void)request, (void)content_type;
    return health_answer(context, t, body);
}

static int write_check(void *context, const struct head *request, const struct target *t, struct strbuf *body,
                       const char **content_type)
{
    const struct health *h = context;
    (void)request, (void)content_type;
    int code = health_answer_one(h, str_from(t->path, strlen(h->name) + 2), body);
    if (code == 404)
        STRBUF_ADD_LIT(body, "404 page not found\n");
    return code;
}

/* ---- Metrics ---- */

static int write_metrics(void *context, const struct head *request, const struct target *t, struct strbuf *body,
                         const char **content_type)
{
    (void)t;
    if (str_is(request->method, "DELETE")) {
        metrics_reset(context);
        STRBUF_ADD_LIT(body, "metrics reset\n");
        return 200;
    }
    *content_type = METRICS_CONTENT_TYPE;
    metrics_write(context, body);
    return 200;
}

/* ---- Texts that do not change ---- */

static int write_json(void *context, const struct head *request, const struct target *t, struct strbuf *body,
                      const char **content_type)
{
    (void)request, (void)t;
    *content_type = JSON;
    strbuf_add_str(body, *(const struct str *)context);
    return 200;
}

static struct str version_json(struct api_pages *p)
{
    const struct component_build *b = &p->o.build;
    const struct component_versions *v = &p->o.gates->versions;
    return str_of(arena_printf(
        &p->arena,
        "{\n  \"major\": \"%s\",\n  \"minor\": \"%s\",\n  \"emulationMajor\": \"%llu\",\n  \"emulationMinor\": "
        "\"%llu\",\n"
        "  \"minCompatibilityMajor\": \"%llu\",\n  \"minCompatibilityMinor\": \"%llu\",\n  \"gitVersion\": \"%.*s\",\n"
        "  \"gitCommit\": \"%s\",\n  \"gitTreeState\": \"%s\",\n  \"buildDate\": \"%s\",\n  \"goVersion\": \"%s\",\n"
        "  \"compiler\": \"%s\",\n  \"platform\": \"%s\"\n}",
        b->major, b->minor, (unsigned long long)v->emulated.major, (unsigned long long)v->emulated.minor,
        (unsigned long long)v->min_compatible.major, (unsigned long long)v->min_compatible.minor,
        STR_ARG(apiserver_flags_version(p->o.flags)), b->git_commit, b->git_tree_state, b->build_date, "none, this is "
                                                                                                       "berth",
        b->compiler, b->platform));
}

/* ---- All paths ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_new_group(const struct resource *r, bool with_version)
{
    for (const struct resource *before = schema_resources; before < r; before++)
        if (before->served && str_eq(before->group, r->group) && (!with_version || str_eq(before->version, r->version)))
            return false;
    return r->served;
}

static size_t list_apis(struct api_pages *p, const char **paths)
{
    size_t n = 0;
    for (size_t i = 0; i < schema_n_resources && n + 2 < PATHS_MAX / 2; i++) {
        const struct resource *r = &schema_resources[i];
        if (r->group.n == 0)
            continue;
        if (is_new_group(r, false))
            paths[n++] = arena_printf(&p->arena, "/apis/%.*s", STR_ARG(r->group));
        if (is_new_group(r, true))
            paths[n++] = arena_printf(&p->arena, "/apis/%.*s/%.*s", STR_ARG(r->group), STR_ARG(r->version));
    }
    return n;
}

static size_t list_checks(struct api_pages *p, const struct health *h, const char **paths)
{
    for (size_t i = 0; i < h->n_checks; i++)
        paths[i] = arena_printf(&p->arena, "/%s/%s", h->name, h->checks[i].name);
    return h->n_checks;
}

static struct str index_json(struct api_pages *p)
{
    static const char *const fixed[] = { "/api", "/api/v1", "/apis", "/apis/", "/healthz", "/livez", "/metrics",
                                         "/metrics/slis", "/openapi/v2", "/openapi/v3", "/openapi/v3/", "/readyz", "/version",
                                         "/flagz", "/statusz" };
    const char *paths[PATHS_MAX];
    size_t n = list_apis(p, paths);
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        paths[n++] = fixed[i];
    if (p->o.tokens) {
        paths[n++] = "/.well-known/openid-configuration";
        paths[n++] = "/openid/v1/jwks";
    }
    n += list_checks(p, &p->o.health->healthz, &paths[n]);
    n += list_checks(p, &p->o.health->livez, &paths[n]);
    n += list_checks(p, &p->o.health->readyz, &paths[n]);
    qsort(paths, n, sizeof(paths[0]), by_text);
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&b, "{\n  \"paths\": [\n");
    for (size_t i = 0; i < n; i++)
        strbuf_printf(&b, "    \"%s\"%s\n", paths[i], i + 1 < n ? "," : "");
    STRBUF_ADD_LIT(&b, "  ]\n}");
    struct str text = arena_str(&p->arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

/* ---- /flagz, /statusz ---- */

static int write_zpage(struct api_pages *p, enum zpage page, const struct head *request, const struct target *t,
                       struct strbuf *body, const char **content_type)
{
    struct arena scratch;
    struct zpage_request r = { .page = page, .accept = headers_get(&request->headers, "accept"),
                               .now_s = clock_wall_ns(loop_clock(p->o.loop)) / CLOCK_NS_PER_SECOND,
                               .lot = rand_u64(&p->rand), .pretty = wants_pretty(request, t) };
    arena_init(&scratch);
    size_t begin = body->n;
    struct zpage_answer answer = zpage_answer(&p->zpages, &r, &scratch, body);
    bool is_text = answer.status == 200 && strncmp(answer.content_type, "text/plain", 10) == 0;
    if (page == ZPAGE_FLAGZ && is_text) {
        if (p->flagz_text.n == 0)
            strbuf_add_str(&p->flagz_text, str_from(strbuf_str(body), begin));
        body->n = begin;
        strbuf_add_str(body, strbuf_str(&p->flagz_text));
    }
    *content_type = is_text ? *content_type : str_is(str_of(answer.content_type), JSON) ? JSON : "application/yaml";
    arena_fini(&scratch);
    return answer.status;
}

static int write_flagz(void *context, const struct head *request, const struct target *t, struct strbuf *body,
                       const char **content_type)
{
    return write_zpage(context, ZPAGE_FLAGZ, request, t, body, content_type);
}

static int write_statusz(void *context, const struct head *request, const struct target *t, struct strbuf *body,
                         const char **content_type)
{
    return write_zpage(context, ZPAGE_STATUSZ, request, t, body, content_type);
}

/* ---- Tokens of service accounts ---- */

static int write_token_configuration(void *context, const struct head *request, const struct target *t, struct strbuf *body,
                                     const char **content_type)
{
    (void)request;
    (void)t;
    sa_tokens_add_configuration(context, body);
    *content_type = "application/json";
    return 200;
}

static int write_token_keys(void *context, const struct head *request, const struct target *t, struct strbuf *body,
                            const char **content_type)
{
    (void)request;
    (void)t;
    sa_tokens_add_jwks(context, body);
    *content_type = "application/jwk-set+json";
    return 200;
}

static void fill_zpages(struct api_pages *p)
{
    static const char *const paths[] = { "/flagz", "/healthz", "/livez", "/metrics", "/readyz", "/statusz", "/version" };
    size_t n;
    struct flag_text *from = flag_set_texts(&apiserver_flag_set, p->o.flags, &p->arena, &n);
    struct flagz_pair *pairs = ARENA_NEW_N(&p->arena, struct flagz_pair, n);
    for (size_t i = 0; i < n; i++)
        pairs[i] = (struct flagz_pair){ from[i].name, arena_cstr(&p->arena, from[i].value) };
    p->zpages = (struct zpages){ .component = "apiserver", .flags = pairs, .n_flags = n,
                                 .start_s = clock_wall_ns(loop_clock(p->o.loop)) / CLOCK_NS_PER_SECOND,
                                 .go_version = "none, this is berth", .binary_version = p->o.build.binary,
                                 .emulation_version = p->o.build.emulation, .paths = paths,
                                 .n_paths = sizeof(paths) / sizeof(paths[0]) };
}

/* ---- /debug/pprof ---- */

static int write_pprof(void *context, const struct head *request, const struct target *t, struct strbuf *body,
                       const char **content_type)
{
    (void)context, (void)request;
    struct str name = str_from(t->path, strlen("/debug/pprof/"));
    if (name.n == 0) {
        *content_type = "text/html; charset=utf-8";
        STRBUF_ADD_LIT(body, "<html>\n<head>\n<title>/debug/pprof/</title>\n</head>\n<body>\n/debug/pprof/\n<br>\n<ul>\n"
                             "<li><a href='heap'>heap</a>: how much memory is in use</li>\n</ul>\n</body>\n</html>\n");
        return 200;
    }
    if (!str_is(name, "heap")) {
        STRBUF_ADD_LIT(body, "Unknown profile\n");
        return 404;
    }
    struct mallinfo2 m = mallinfo2();
    STRBUF_ADD_LIT(body, "# memory of this process, as malloc sees it; in bytes\n");
    strbuf_printf(body, "in use in heaps      %zu\nin use in mappings   %zu (%zu mappings)\nfree in heaps        %zu\n",
                  m.uordblks, m.hblkhd, m.hblks, m.fordblks);
    return 200;
}

/* ---- Rows ---- */

static void add(struct api_pages *p, const char *path, bool below,
                int (*write)(void *context, const struct head *request, const struct target *t, struct strbuf *body,
                             const char **content_type),
                void *context)
{
    assert(p->n_rows < PAGES_MAX);
    p->rows[p->n_rows++] = (struct apiserver_page){ .path = path, .below = below, .write = write,
                                                     .context = context };
}

static void add_health(struct api_pages *p, struct health *h)
{
    add(p, arena_printf(&p->arena, "/%s", h->name), false, write_health, h);
    add(p, arena_printf(&p->arena, "/%s/", h->name), true, write_check, h);
}

struct api_pages *api_pages_new(const struct api_pages_options *o)
{
    struct api_pages *p = mem_zalloc(sizeof(*p));
    p->o = *o;
    arena_init(&p->arena);
    rand_init(&p->rand, o->seed);
    strbuf_init(&p->flagz_text, STRBUF_NO_MAX);
    fill_zpages(p);
    p->version = version_json(p);
    p->index = index_json(p);
    add_health(p, &o->health->healthz);
    add_health(p, &o->health->livez);
    add_health(p, &o->health->readyz);
    add(p, "/metrics", false, write_metrics, o->metrics);
    add(p, "/metrics/slis", false, write_metrics, o->slis);
    add(p, "/version", false, write_json, &p->version);
    add(p, "/version/", false, write_json, &p->version);
    add(p, "/", false, write_json, &p->index);
    if (o->tokens) {
        add(p, "/.well-known/openid-configuration", false, write_token_configuration, o->tokens);
        add(p, "/openid/v1/jwks", false, write_token_keys, o->tokens);
    }
    if (gate_on(o->gates, GATE_ComponentFlagz))
        add(p, "/flagz", false, write_flagz, p);
    if (gate_on(o->gates, GATE_ComponentStatusz))
        add(p, "/statusz", false, write_statusz, p);
    if (o->flags->profiling)
        add(p, "/debug/pprof/", true, write_pprof, p);
    return p;
}

void api_pages_free(struct api_pages *p)
{
    if (!p)
        return;
    strbuf_fini(&p->flagz_text);
    arena_fini(&p->arena);
    free(p);
}

const struct apiserver_page *api_pages_rows(const struct api_pages *p, size_t *ret_n)
{
    *ret_n = p->n_rows;
    return p->rows;
}
