/* cmd/bench_live.c - see bench_live.h: the run, from the first look to the figures. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/schema_slots.h"
#include "base/rand.h"
#include "cmd/bench_live_priv.h"

enum { TICK_MS = 20, SHOW_NS = 200 * CLOCK_NS_PER_MS, REQUEST_MS = 120 * 1000 };

/* ---- Turning the loop ---- */

static int64_t now_ns(void)
{
    return clock_mono_ns(&clock_real);
}

bool live_is_over(const struct live *l)
{
    return l->n_interrupts || l->failure;
}

void live_turn(struct live *l)
{
    loop_run_once(l->cluster.loop, true);
}

static void on_tick(struct loop_timer *t)
{
    struct live *l = HEAP_ITEM(&t->node, struct live, tick.node);
    if (l->watch)
        reflector_tick(l->watch);
    loop_timer_set(l->cluster.loop, t, loop_now_ms(l->cluster.loop) + TICK_MS);
}

/* The first one asks to clean up; who cannot wait for that says it again. */
static void on_signal(uv_signal_t *handle, int number)
{
    struct live *l = handle->data;
    if (l->n_interrupts++)
        _exit(128 + number);
    cmd_say(l->o->c, "stopping; what was created is deleted (once more to end at once)");
}

void live_show(struct live *l, const char *format, ...)
{
    int64_t now = now_ns();
    if (!isatty(STDERR_FILENO) || now - l->shown_ns < SHOW_NS)
        return;
    struct strbuf line;
    struct arena a;
    va_list args;
    arena_init(&a);
    strbuf_init(&line, STRBUF_NO_MAX);
    va_start(args, format);
    strbuf_printf(&line, "\r%s: %s\033[K", l->w->name, arena_vprintf(&a, format, args));
    va_end(args);
    cmd_write_error(strbuf_str(&line));
    strbuf_fini(&line);
    arena_fini(&a);
    l->shown_ns = now;
    l->shown = true;
}

static void hide(const struct live *l)
{
    if (l->shown)
        cmd_write_error(STR("\r\033[K"));
}

void live_fail(struct live *l, const char *what, const struct api_answer *a)
{
    if (!l->failure)
        l->failure = arena_printf(&l->cluster.arena, "%s: %s", what, api_problem(&l->cluster.arena, a));
}

/* ---- Requests ---- */

struct sent {
    struct batch *b;
    uint32_t i;
};

static void on_answer(void *context, const struct api_answer *a)
{
    struct sent *sent = context;
    struct batch *b = sent->b;
    b->n_open--;
    b->answered(b->l, sent->i, a);
    free(sent);
}

static void send_next(struct batch *b)
{
    struct live *l = b->l;
    const struct api *api = l->cluster.api;
    struct sent *sent = mem_alloc(sizeof(*sent));
    *sent = (struct sent){ b, b->first + b->next++ };
    struct api_request r = { .lane = API_LANE_READ, .timeout_ms = REQUEST_MS };
    arena_reset(&l->scratch);
    strbuf_reset(&l->target);
    strbuf_reset(&l->body);
    b->make(l, sent->i, &r);
    r.target = strbuf_str(&l->target);
    r.body = strbuf_str(&l->body);
    if (r.body.n && !r.media_type)
        r.media_type = media_content_type(api->media);
    b->n_open++;
    api->send(api->context, &r, on_answer, sent);
}

bool live_run_batch(struct live *l, struct batch *b)
{
    b->l = l;
    for (;;) {
        bool goes_on = b->cleans || !live_is_over(l);
        while (goes_on && b->next < b->n && b->n_open < l->o->in_flight)
            send_next(b);
        if (b->n_open == 0)
            break;
        live_turn(l);
    }
    return !live_is_over(l);
}

struct one_answer {
    struct live *l;
    struct api_answer answer;
    bool done;
};

static void on_one(void *context, const struct api_answer *a)
{
    struct one_answer *one = context;
    struct live *l = one->l;
    strbuf_add_str(&l->answer, a->body);
    one->answer = *a;
    one->answer.body = strbuf_str(&l->answer);
    one->answer.error = a->error ? arena_cstr(&l->cluster.arena, str_of(a->error)) : NULL;
    one->done = true;
}

struct api_answer live_ask(struct live *l, const char *method, const char *target, const char *media_type,
                           struct str body)
{
    const struct api *api = l->cluster.api;
    struct one_answer one = { .l = l };
    strbuf_reset(&l->answer);
    api->send(api->context,
              &(struct api_request){ .lane = API_LANE_READ, .method = method, .target = str_of(target), .body = body,
                                     .media_type = media_type, .timeout_ms = REQUEST_MS },
              on_one, &one);
    cluster_wait(&l->cluster, &one.done);
    return one.answer;
}

/* ---- The watch ---- */

struct spec_in {
    struct str node_name;
};

struct name_in {
    struct str name;
};

struct seen_in {
    struct name_in meta;
    struct spec_in spec;
};

static const struct fill_row name_rows[] = {
    [SLOT_meta_v1_ObjectMeta_name] = FILL_STR(struct name_in, name),
};
static const struct fill_type name_type = FILL_TYPE(meta_v1_ObjectMeta, struct name_in, name_rows);
static const struct fill_row spec_rows[] = {
    [SLOT_core_v1_PodSpec_nodeName] = FILL_STR(struct spec_in, node_name),
};
static const struct fill_type spec_type = FILL_TYPE(core_v1_PodSpec, struct spec_in, spec_rows);
static const struct fill_row seen_rows[] = {
    [SLOT_core_v1_Pod_metadata] = FILL_STRUCT(struct seen_in, meta, &name_type),
    [SLOT_core_v1_Pod_spec] = FILL_STRUCT(struct seen_in, spec, &spec_type),
};
static const struct fill_type seen_type = FILL_TYPE(core_v1_Pod, struct seen_in, seen_rows);

static void bound(struct live *l, uint32_t number)
{
    if (l->bound_ns[number])
        return;
    l->bound_ns[number] = now_ns();
    for (uint32_t i = 0; i < l->n_groups; i++)
        if (number - l->groups[i].first < l->groups[i].n)
            l->groups[i].n_bound++;
}

static bool on_pod(void *context, enum reflected what, const struct watch_object *object)
{
    struct live *l = context;
    struct seen_in seen = { 0 };
    struct err e;
    uint64_t number;
    if ((what != REFLECTED_SET && what != REFLECTED_LISTED) || live_is_over(l))
        return true;
    arena_reset(&l->scratch);
    err_init(&e, &l->scratch);
    struct work work = work_init(WATCH_FRAME_BYTES_MAX);
    if (fill_decode(&l->scratch, &work, &seen_type, object->format, object->bytes, &seen, &e)) {
        l->failure = arena_printf(&l->cluster.arena, "a pod of the watch cannot be read: %s", e.message);
        return true;
    }
    bool ours = str_starts(seen.meta.name, STR("p-")) &&
                cmd_parse_number(arena_cstr(&l->scratch, str_from(seen.meta.name, 2)), UINT32_MAX, &number);
    if (ours && number < l->n_pods && seen.spec.node_name.n)
        bound(l, (uint32_t)number);
    return true;
}

static void start_watch(struct live *l)
{
    l->watch = reflector_new(&(struct reflector_options){
        .api = l->cluster.api, .clock = &clock_real, .path = "/api/v1/pods",
        .selector = arena_printf(&l->cluster.arena, "labelSelector=" BENCH_LIVE_LABEL "%%3D%s", l->id),
        .sink = { l, on_pod }, .seed = 1 });
    reflector_start(l->watch);
}

/* ---- The story ---- */

/* Somebody's cluster is not to be loaded by mistake. */
static bool may_run(struct live *l)
{
    struct list_page page;
    struct api_answer a = live_ask(l, "GET", "/api/v1/nodes?limit=1", NULL, STR(""));
    if (!api_ok(&a))
        live_fail(l, "cannot list nodes", &a);
    else if (list_page_read(&l->cluster.arena, a.media, a.body, &page, &l->e))
        l->failure = l->e.message;
    else if (page.n_items && !l->o->yes)
        l->failure = "the cluster has nodes of its own: pods of the benchmark would go there, and its pods to the "
                     "benchmark's nodes. With --yes it runs nevertheless";
    return !l->failure;
}

static bool wait_bound(struct live *l, const struct live_group *g, const char *what)
{
    int64_t deadline_ns = now_ns() + (int64_t)l->o->timeout_s * CLOCK_NS_PER_SECOND;
    while (!live_is_over(l) && g->n_bound < g->n && now_ns() < deadline_ns) {
        live_show(l, "%u of %u %s have nodes", g->n_bound, g->n, what);
        live_turn(l);
    }
    return !live_is_over(l) && g->n_bound == g->n;
}

static bool set_up(struct live *l)
{
    if (!live_make_others(l) || !live_make_nodes(l))
        return false;
    for (uint32_t i = 0; i + 1 < l->n_groups; i++) {
        struct live_group *g = &l->groups[i];
        if (!live_make_group(l, g))
            return false;
        if (g->waits && !wait_bound(l, g, "init pods") && !live_is_over(l))
            l->failure = arena_printf(&l->cluster.arena,
                                      "after %u s only %u of %u init pods have nodes: does a scheduler run?",
                                      l->o->timeout_s, g->n_bound, g->n);
        if (live_is_over(l))
            return false;
    }
    return true;
}

/* False: nothing to tell. */
static bool measure(struct live *l, struct bench_live_result *ret)
{
    struct live_group *g = &l->groups[l->n_groups - 1];
    struct live_process before = live_process_look(l->o->scheduler_pid);
    if (!live_make_group(l, g))
        return false;
    int64_t created_ns = now_ns();
    wait_bound(l, g, "pods");
    struct live_process after = live_process_look(l->o->scheduler_pid);
    if (live_is_over(l))
        return false;
    live_figures(l, g, ret);
    ret->create_seconds = (double)(created_ns - l->created_ns[g->first]) / 1e9;
    ret->has_process = before.known && after.known;
    ret->cpu_seconds = after.cpu_seconds - before.cpu_seconds;
    ret->rss_bytes = after.rss_bytes;
    ret->rss_bytes_max = after.rss_bytes_max;
    return true;
}

static int conclude(struct live *l, const struct bench_live_result *r, bool measured, bool cleaned)
{
    if (l->failure)
        return cmd_fail(l->o->c, 1, "%s: %s", l->w->name, l->failure);
    if (l->n_interrupts)
        return 130;
    int code = measured ? live_print(l, r) : 1;
    if (!code && r->n_bound < r->n_measured)
        code = cmd_fail(l->o->c, 1, "%s: after %u s only %u of %u pods have nodes", l->w->name, l->o->timeout_s,
                        r->n_bound, r->n_measured);
    return code || cleaned ? code : 1;
}

static int run_open(struct live *l)
{
    struct bench_live_result r = { 0 };
    bool measured = false, cleaned = true;
    if (may_run(l)) {
        start_watch(l);
        measured = set_up(l) && measure(l, &r);
        reflector_free(l->watch);
        l->watch = NULL;
        if (!l->o->keep)
            cleaned = live_clean(l);
        else
            cmd_say(l->o->c, "kept: everything with the label %s=%s", BENCH_LIVE_LABEL, l->id);
    }
    hide(l);
    return conclude(l, &r, measured, cleaned);
}

static void watch_signals(struct live *l)
{
    for (int i = 0; i < 2; i++) {
        uv_signal_init(loop_uv(l->cluster.loop), &l->signals[i]);
        l->signals[i].data = l;
        uv_signal_start(&l->signals[i], on_signal, i ? SIGTERM : SIGINT);
    }
    l->tick.fire = on_tick;
    loop_timer_set(l->cluster.loop, &l->tick, 0);
}

static void leave_signals(struct live *l)
{
    loop_timer_stop(l->cluster.loop, &l->tick);
    for (int i = 0; i < 2; i++)
        uv_close((uv_handle_t *)&l->signals[i], NULL);
}

/* A few letters and digits that no other run has. */
static const char *make_id(struct arena *a)
{
    struct rand r;
    rand_init(&r, (uint64_t)clock_wall_ns(&clock_real) ^ (uint64_t)getpid() << 40);
    return arena_printf(a, "%06llx", (unsigned long long)rand_below(&r, 1 << 24));
}

int bench_live_run(const struct bench_live_options *o, const struct workload *w)
{
    struct live *l = mem_zalloc(sizeof(*l));
    struct arena errors;
    arena_init(&errors);
    arena_init(&l->scratch);
    strbuf_init(&l->target, STRBUF_NO_MAX);
    strbuf_init(&l->body, STRBUF_NO_MAX);
    strbuf_init(&l->answer, STRBUF_NO_MAX);
    err_init(&l->e, &errors);
    l->o = o;
    l->w = w;
    int code;
    if (cluster_open(&l->cluster, &o->cluster, NULL, o->json_bodies ? MEDIA_JSON : MEDIA_PROTOBUF, &l->e)) {
        code = cmd_fail(o->c, 1, "%s", l->e.message);
    } else {
        l->id = make_id(&l->cluster.arena);
        l->prefix = arena_printf(&l->cluster.arena, "berth-bench-%s-", l->id);
        live_plan(l);
        watch_signals(l);
        code = run_open(l);
        leave_signals(l);
        cluster_close(&l->cluster);
    }
    vec_fini(&l->namespaces);
    free(l->created_ns);
    free(l->bound_ns);
    strbuf_fini(&l->target);
    strbuf_fini(&l->body);
    strbuf_fini(&l->answer);
    arena_fini(&l->scratch);
    arena_fini(&errors);
    free(l);
    return code;
}
