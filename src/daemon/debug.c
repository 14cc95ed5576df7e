/* daemon/debug.c - see debug.h. Upstream: apiserver/pkg/server/routes, Go's net/http/pprof. */
#include "daemon/debug.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "daemon/profile.h"
#include "http/gzip.h"

#define HTML "text/html; charset=utf-8"
#define TEXT "text/plain; charset=utf-8"

static void add_nosniff(struct ops_exchange *x)
{
    ops_add_header(x, "x-content-type-options", STR("nosniff"));
}

/* ---- /debug/flags ---- */

static void serve_flags(void *context, struct ops_exchange *x)
{
    (void)context;
    ops_answer(x, 200, HTML, STR("<html>\n<head>\n<title>/debug/flags/</title>\n</head>\n<body>\n/debug/flags/<br>\n<br>\n"
                                 "flags:<br>\n<table>\n<tr>v<br>\n</table>\n<br>\nfull flags configurable<br>\n</body>\n"
                                 "</html>\n"));
}

/* NULL: *ret_level is set. Otherwise what Go's strconv says. */
static const char *read_level(struct str text, int32_t *ret_level)
{
    uint64_t n = 0;
    bool too_large = false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return "invalid syntax";
        n = n * 10 + (uint64_t)(text.p[i] - '0');
        too_large |= n > UINT32_MAX;
        n = too_large ? UINT32_MAX : n;
    }
    if (text.n == 0)
        return "invalid syntax";
    *ret_level = n > INT32_MAX ? INT32_MAX : (int32_t)n;
    return too_large ? "value out of range" : NULL;
}

static void serve_level(void *context, struct ops_exchange *x)
{
    (void)context;
    int32_t level;
    struct strbuf text;
    add_nosniff(x);
    if (!str_is(x->head->method, "PUT")) {
        ops_answer(x, 406, "text/plain", STR("unsupported http method\n"));
        return;
    }
    strbuf_init(&text, STRBUF_NO_MAX);
    const char *wrong = read_level(x->body, &level);
    if (wrong) {
        STRBUF_ADD_LIT(&text, "strconv.ParseUint: parsing ");
        strbuf_add_quoted_shown(&text, x->body);
        strbuf_printf(&text, ": %s\n", wrong);
    } else {
        log_set_level_number(level);
        strbuf_printf(&text, "successfully set klog.logging.verbosity to %.*s\n", STR_ARG(x->body));
    }
    ops_answer(x, wrong ? 400 : 200, "text/plain", strbuf_str(&text));
    strbuf_fini(&text);
}

/* ---- /debug/pprof/profile ---- */

struct profiling {
    struct ops_exchange *x; /* NULL: the peer is gone */
    struct loop *loop;
    struct profile *profile;
    struct loop_timer timer;
    struct strbuf packed;
};

static void profiling_free(struct profiling *p)
{
    loop_timer_stop(p->loop, &p->timer);
    profile_free(p->profile);
    strbuf_fini(&p->packed);
    free(p);
}

static void pack(void *context)
{
    struct profiling *p = context;
    struct strbuf message;
    struct deflater *d = deflater_new();
    strbuf_init(&message, STRBUF_NO_MAX); /* bounded by the samples there is room for */
    profile_write(p->profile, &message);
    deflater_input(d, strbuf_str(&message), false, true, &p->packed);
    deflater_free(d);
    strbuf_fini(&message);
}

static void packed(void *context)
{
    struct profiling *p = context;
    if (p->x) {
        add_nosniff(p->x);
        ops_add_header(p->x, "content-disposition", STR("attachment; filename=\"profile\""));
        ops_answer(p->x, 200, "application/octet-stream", strbuf_str(&p->packed));
    }
    profiling_free(p);
}

static void time_is_up(struct loop_timer *t)
{
    struct profiling *p = HEAP_ITEM(&t->node, struct profiling, timer.node);
    profile_stop(p->profile);
    if (profile_n_lost(p->profile))
        LOG(1, "There was no room for all samples of a profile", KU("samples", profile_n_samples(p->profile)),
            KU("lost", profile_n_lost(p->profile)));
    loop_work(p->loop, pack, packed, p);
}

static void asker_gone(struct ops_exchange *x)
{
    struct profiling *p = x->later;
    p->x = NULL;
    if (loop_timer_is_set(&p->timer))
        profiling_free(p); /* otherwise a worker has it */
}

/* As Go: what is no number, or none above 0, is the default. */
static int64_t seconds_of(const struct target *t)
{
    struct str text = target_get(t, "seconds");
    uint64_t n;
    return text.n && text.n < 10 && parse_length(text, &n) && n > 0 ? (int64_t)n : DEBUG_PROFILE_SECONDS;
}

static void serve_profile(struct ops_exchange *x)
{
    int64_t seconds = seconds_of(&x->target);
    struct profile *profile = seconds <= PROFILE_SECONDS_MAX ? profile_start() : NULL;
    if (!profile) {
        char text[128];
        snprintf(text, sizeof(text), "a profile of more than %d seconds is not taken", PROFILE_SECONDS_MAX);
        if (seconds > PROFILE_SECONDS_MAX)
            ops_answer_error(x, 400, text);
        else
            ops_answer_error(x, 500, "Could not enable CPU profiling: cpu profiling already in use");
        return;
    }
    struct profiling *p = mem_zalloc(sizeof(*p));
    *p = (struct profiling){ .x = x, .loop = ops_loop(x->ops), .profile = profile, .timer.fire = time_is_up };
    strbuf_init(&p->packed, STRBUF_NO_MAX);
    x->later = p;
    x->gone = asker_gone;
    loop_timer_set(p->loop, &p->timer, loop_now_ms(p->loop) + seconds * 1000);
}

/* ---- The rest of /debug/pprof ---- */

static void serve_heap(struct ops_exchange *x)
{
    struct strbuf text;
    struct mallinfo2 m = mallinfo2();
    strbuf_init(&text, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&text, "# memory of this process, as malloc sees it; in bytes\n");
    strbuf_printf(&text, "in use in heaps      %zu\nin use in mappings   %zu (%zu mappings)\n", m.uordblks, m.hblkhd,
                  m.hblks);
    strbuf_printf(&text, "free in heaps        %zu (%zu can be given back)\ntaken for heaps      %zu\n", m.fordblks,
                  m.keepcost, m.arena);
    FILE *f = fopen("/proc/self/statm", "re");
    unsigned long total, resident;
    if (f && fscanf(f, "%lu %lu", &total, &resident) == 2)
        strbuf_printf(&text, "resident             %lu\n", resident * 4096);
    if (f)
        fclose(f);
    add_nosniff(x);
    ops_answer(x, 200, TEXT, strbuf_str(&text));
    strbuf_fini(&text);
}

static void serve_index(struct ops_exchange *x)
{
    add_nosniff(x);
    ops_answer(x, 200, HTML, STR("<html>\n<head>\n<title>/debug/pprof/</title>\n</head>\n<body>\n/debug/pprof/\n<br>\n"
                                 "<ul>\n<li><a href='profile?seconds=30'>profile</a>: where CPU time goes, in the format "
                                 "of pprof; ?seconds=N</li>\n<li><a href='heap'>heap</a>: how much memory is in use</li>\n"
                                 "</ul>\n</body>\n</html>\n"));
}

/* Of Go programs only. */
static bool is_of_go(struct str name)
{
    static const char *const names[] = { "allocs", "block", "goroutine", "mutex", "threadcreate", "trace" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

static void serve_pprof(void *context, struct ops_exchange *x)
{
    (void)context;
    struct str name = str_from(x->target.path, strlen("/debug/pprof/"));
    if (name.n == 0) {
        serve_index(x);
    } else if (str_is(name, "profile")) {
        serve_profile(x);
    } else if (str_is(name, "heap")) {
        serve_heap(x);
    } else if (str_is(name, "symbol")) {
        add_nosniff(x);
        ops_answer(x, 200, TEXT, STR("num_symbols: 0\n")); /* names are in the profile already */
    } else if (is_of_go(name)) {
        ops_answer_error(x, 501, "This is no Go program: there is no such profile. See /debug/pprof/");
    } else {
        ops_add_header(x, "x-go-pprof", STR("1"));
        ops_answer_error(x, 404, "Unknown profile");
    }
}

static void serve_redirect(void *context, struct ops_exchange *x)
{
    (void)context;
    ops_add_header(x, "location", STR("/debug/pprof/"));
    ops_answer(x, 302, HTML, STR("<a href=\"/debug/pprof/\">Found</a>.\n\n"));
}

const struct ops_route debug_routes[N_DEBUG_ROUTES] = {
    { .path = "/debug/flags", .serve = serve_flags },
    { .path = "/debug/flags/", .below = true, .serve = serve_flags },
    { .path = "/debug/flags/v", .reads_body = true, .body_bytes_max = DEBUG_FLAG_BYTES_MAX, .serve = serve_level },
    { .path = "/debug/pprof", .serve = serve_redirect },
    { .path = "/debug/pprof/", .below = true, .serve = serve_pprof },
};
