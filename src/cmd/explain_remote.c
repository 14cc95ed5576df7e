/* cmd/explain_remote.c - see explain_remote.h. */
#include "cmd/explain_remote.h"

#include "api/schema_slots.h"
#include "client/watch_frame.h"
#include "codec/json.h"

enum { ASK_MS = 30 * 1000, EXIT_PENDING = 3 };

#define SCHEDULER_PODS "/api/v1/namespaces/kube-system/pods"

struct asking {
    const struct explain_question *q;
    struct cluster cluster;
    struct strbuf body;
    struct api_answer answer; /* texts are ours */
    bool done;
};

static void on_answer(void *context, const struct api_answer *a)
{
    struct asking *k = context;
    strbuf_reset(&k->body);
    strbuf_add_str(&k->body, a->body);
    k->answer = *a;
    k->answer.body = strbuf_str(&k->body);
    k->answer.error = a->error ? arena_cstr(&k->cluster.arena, str_of(a->error)) : NULL;
    k->done = true;
}

static bool get(struct asking *k, const char *target)
{
    const struct api *api = k->cluster.api;
    struct api_request r = { .lane = API_LANE_READ, .method = "GET", .target = str_of(target), .timeout_ms = ASK_MS };
    k->done = false;
    api->send(api->context, &r, on_answer, k);
    cluster_wait(&k->cluster, &k->done);
    return api_ok(&k->answer);
}

/* "/berth/v1/explain?pod=shop%2Fcart" below `path`. */
static bool ask(struct asking *k, const char *path)
{
    struct strbuf target;
    strbuf_init(&target, STRBUF_NO_MAX);
    const char *ns = k->q->ns ? k->q->ns : arena_cstr(&k->cluster.arena, k->cluster.config.ns);
    strbuf_printf(&target, "%s/berth/v1/explain?pod=", path);
    api_add_escaped(&target, str_of(arena_printf(&k->cluster.arena, "%s/%s", ns, k->q->pod)));
    if (k->q->n_top && k->q->n_top != UINT32_MAX && k->q->json)
        strbuf_printf(&target, "&nodes=%u", k->q->n_top);
    bool ok = get(k, strbuf_cstr(&target));
    strbuf_fini(&target);
    return ok;
}

/* ---- The answer ---- */

static struct str text_at(const struct value *x, const char *name)
{
    const struct value *v = x->kind == VALUE_MAP ? value_member(x, str_of(name)) : NULL;
    return v ? value_text(v) : (struct str){ 0 };
}

static bool read_answer(struct asking *k, struct value *ret_x)
{
    struct err e;
    struct work work = work_init(API_ANSWER_BYTES_MAX);
    err_init(&e, &k->cluster.arena);
    return !json_decode_plain(&k->cluster.arena, &work, k->answer.body, ret_x, &e) &&
           str_is(text_at(ret_x, "kind"), "Explanation");
}

static int print_answer(struct asking *k, const struct value *x, const char *from)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    int code;
    if (k->q->json) {
        code = cmd_print(k->q->c, CMD_JSON, k->answer.body);
    } else {
        explain_add_remote_text(&text, x, k->q->n_top, from);
        code = cmd_print_folded(k->q->c, strbuf_str(&text), cmd_columns());
    }
    strbuf_fini(&text);
    struct str state = text_at(x, "state");
    return code ? code : str_is(state, "running") || str_is(state, "placed") ? 0 : EXIT_PENDING;
}

/* ---- Whom to ask ---- */

static int ask_address(struct asking *k)
{
    struct value x;
    const char *address = k->q->scheduler->address;
    if (!ask(k, ""))
        return cmd_fail(k->q->c, 1, "%s: %s", address, api_problem(&k->cluster.arena, &k->answer));
    if (!read_answer(k, &x))
        return cmd_fail(k->q->c, 1, "%s: the answer is no explanation: is this a scheduler of berth?", address);
    return print_answer(k, &x, address);
}

struct name_in {
    struct str name;
};

struct pod_in {
    struct name_in meta;
};

static const struct fill_row name_rows[] = {
    [SLOT_meta_v1_ObjectMeta_name] = FILL_STR(struct name_in, name),
};
static const struct fill_type name_type = FILL_TYPE(meta_v1_ObjectMeta, struct name_in, name_rows);
static const struct fill_row pod_rows[] = {
    [SLOT_core_v1_Pod_metadata] = FILL_STRUCT(struct pod_in, meta, &name_type),
};
static const struct fill_type pod_type = FILL_TYPE(core_v1_Pod, struct pod_in, pod_rows);

/* Names of the pods that schedulers run in; none when they cannot be listed. */
static size_t find_schedulers(struct asking *k, const char *names[EXPLAIN_SCHEDULERS_MAX])
{
    struct arena *a = &k->cluster.arena;
    struct list_page page = { 0 };
    struct err e;
    size_t n = 0;
    err_init(&e, a);
    if (!get(k, SCHEDULER_PODS "?labelSelector=component%3Dkube-scheduler&limit=10") ||
        list_page_read(a, k->answer.media, k->answer.body, &page, &e))
        return 0;
    for (size_t i = 0; i < page.n_items && n < EXPLAIN_SCHEDULERS_MAX; i++) {
        struct pod_in pod = { 0 };
        struct work work = work_init(WATCH_FRAME_BYTES_MAX);
        if (!fill_decode(a, &work, &pod_type, page.items[i].format, page.items[i].bytes, &pod, &e) && pod.meta.name.n)
            names[n++] = arena_cstr(a, pod.meta.name);
    }
    return n;
}

static int look_and_ask(struct asking *k)
{
    const char *names[EXPLAIN_SCHEDULERS_MAX];
    struct value own;
    if (ask(k, "") && read_answer(k, &own)) /* of berth up, where both are one */
        return print_answer(k, &own, arena_cstr(&k->cluster.arena, k->cluster.config.server));
    size_t n = find_schedulers(k, names);
    for (size_t i = 0; i < n; i++) {
        struct strbuf path;
        struct value x;
        strbuf_init(&path, STRBUF_NO_MAX);
        strbuf_add_text(&path, SCHEDULER_PODS "/https:");
        api_add_escaped(&path, str_of(names[i]));
        strbuf_add_text(&path, ":10259/proxy");
        bool answered = ask(k, strbuf_cstr(&path)) && read_answer(k, &x);
        strbuf_fini(&path);
        if (answered)
            return print_answer(k, &x, arena_printf(&k->cluster.arena, "kube-system/%s", names[i]));
    }
    return EXPLAIN_NOBODY;
}

int explain_ask(const struct explain_question *q)
{
    struct asking k = { .q = q };
    struct arena errors;
    struct err e;
    int code;
    arena_init(&errors);
    err_init(&e, &errors);
    strbuf_init(&k.body, STRBUF_NO_MAX);
    if (cluster_open(&k.cluster, q->cluster, q->scheduler, MEDIA_JSON, &e)) {
        code = cmd_fail(q->c, 1, "%s", e.message);
    } else {
        code = q->scheduler ? ask_address(&k) : look_and_ask(&k);
        cluster_close(&k.cluster);
    }
    strbuf_fini(&k.body);
    arena_fini(&errors);
    return code;
}
