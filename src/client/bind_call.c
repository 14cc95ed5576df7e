/* client/bind_call.c - see bind_call.h. */
#include "client/bind_call.h"

#include <stdlib.h>

#include "api/schema_slots.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rand.h"

enum { PAUSE_MS = 100 };

struct bind_call {
    struct heap_node by_time; /* while it waits to read the pod once more */
    struct list_node node;    /* in all */
    struct bind_calls *calls;
    struct arena arena; /* texts */
    struct str pod, uid, wanted;
    bind_done done;
    void *context;
    int status;          /* of the Binding */
    const char *problem; /* of the Binding */
    int64_t give_up_ms, due_ms, pause_ms;
    api_call call;
};

struct bind_calls {
    const struct api *api;
    const struct clock *clock;
    struct rand rand;
    struct list all;
    struct heap pauses;
    uint32_t n;
    uint64_t n_read;
};

static void release(struct bind_call *c)
{
    struct bind_calls *b = c->calls;
    list_remove(&c->node);
    if (heap_has(&c->by_time))
        heap_remove(&b->pauses, &c->by_time);
    b->n--;
    arena_fini(&c->arena);
    free(c);
}

static void finish(struct bind_call *c, const struct bind_result *result)
{
    c->done(c->context, result);
    release(c);
}

static void bound(struct bind_call *c)
{
    finish(c, &(struct bind_result){ .bound = true, .status = c->status });
}

static void failed(struct bind_call *c, const char *error)
{
    finish(c, &(struct bind_result){ .status = c->status, .error = error });
}

static void stays_unknown(struct bind_call *c, const char *why)
{
    const char *error =
        arena_printf(&c->arena, "%s; whether the pod was bound could not be found out: %s", c->problem, why);
    finish(c, &(struct bind_result){ .unknown = true, .status = c->status, .error = error });
}

/* ---- Reading the pod ---- */

static void pod_answered(void *context, const struct api_answer *answer);

static void read_pod(struct bind_call *c)
{
    struct bind_calls *b = c->calls;
    int64_t left_ms = c->give_up_ms - clock_mono_ms(b->clock);
    struct api_request r = { .lane = API_LANE_BIND, .method = "GET", .target = c->pod,
                             .timeout_ms = left_ms > PAUSE_MS ? left_ms : PAUSE_MS };
    c->call = b->api->send(b->api->context, &r, pod_answered, c);
}

static void read_later(struct bind_call *c, const char *why)
{
    struct bind_calls *b = c->calls;
    int64_t now_ms = clock_mono_ms(b->clock);
    int64_t pause_ms = c->pause_ms + (int64_t)(rand_double(&b->rand) * (double)c->pause_ms / 4);
    if (now_ms + pause_ms >= c->give_up_ms) {
        stays_unknown(c, why);
        return;
    }
    c->due_ms = now_ms + pause_ms;
    c->pause_ms = c->pause_ms * 2 < BIND_RESOLVE_PAUSE_MS_MAX ? c->pause_ms * 2 : BIND_RESOLVE_PAUSE_MS_MAX;
    heap_push(&b->pauses, &c->by_time);
}

/* What the pod says of itself; false when the answer is no pod. */
static bool pod_texts(struct arena *a, const struct api_answer *answer, struct str *ret_uid, struct str *ret_node)
{
    struct err e;
    err_init(&e, a);
    struct object object;
    struct gvk seen, endpoint = { STR(""), STR("v1"), STR("Pod") };
    struct work work = work_init(API_ANSWER_BYTES_MAX);
    if (object_read(a, &work, answer->media, answer->body, endpoint, NULL, &object, &seen, &e) ||
        object.type != &schema_types[T_core_v1_Pod])
        return false;
    const struct value *meta = value_slot(&object.value, SLOT_core_v1_Pod_metadata);
    const struct value *spec = value_slot(&object.value, SLOT_core_v1_Pod_spec);
    *ret_uid = value_text(value_slot(meta, SLOT_meta_v1_ObjectMeta_uid));
    *ret_node = value_text(value_slot(spec, SLOT_core_v1_PodSpec_nodeName));
    return true;
}

static void judge(struct bind_call *c, const struct api_answer *answer)
{
    struct str uid, node;
    if (!pod_texts(&c->arena, answer, &uid, &node)) {
        stays_unknown(c, "the answer is not a pod");
        return;
    }
    if (!str_eq(uid, c->uid) || node.n == 0)
        failed(c, c->problem);
    else if (str_eq(node, c->wanted))
        bound(c);
    else if (c->status == 409)
        failed(c, c->problem); /* which says so already */
    else
        failed(c, arena_printf(&c->arena, "%s; the pod is already assigned to node \"%.*s\"", c->problem,
                               STR_ARG(node)));
}

static void pod_answered(void *context, const struct api_answer *answer)
{
    struct bind_call *c = context;
    c->call = 0;
    if (api_ok(answer))
        judge(c, answer);
    else if (answer->status == 404)
        failed(c, c->problem);
    else if (answer->status == 0 || answer->status == 429 || answer->status >= 500)
        read_later(c, api_problem(&c->arena, answer));
    else
        stays_unknown(c, api_problem(&c->arena, answer));
}

/* ---- The Binding ---- */

static void answered(void *context, const struct api_answer *answer)
{
    struct bind_call *c = context;
    c->call = 0;
    c->status = answer->status;
    if (api_ok(answer)) {
        bound(c);
        return;
    }
    c->problem = arena_cstr(&c->arena, str_of(api_problem(&c->arena, answer)));
    bool open = answer->status == 0 ? !answer->unsent : answer->status == 504 || answer->status == 409;
    if (!open) {
        failed(c, c->problem);
        return;
    }
    struct bind_calls *b = c->calls;
    LOG(2, "The answer to a binding is lost or doubtful, reading the pod", KS("pod", c->pod), KS("err", c->problem));
    b->n_read++;
    c->give_up_ms = clock_mono_ms(b->clock) + BIND_RESOLVE_MS;
    read_pod(c);
}

bool bind_calls_start(struct bind_calls *b, const struct bind_request *request, bind_done done, void *context)
{
    if (b->n == BIND_CALLS_MAX)
        return false;
    struct bind_call *c = mem_zalloc(sizeof(*c));
    arena_init_small(&c->arena);
    c->calls = b;
    c->pod = arena_str(&c->arena, request->pod);
    c->uid = arena_str(&c->arena, request->uid);
    c->wanted = arena_str(&c->arena, request->node);
    c->done = done;
    c->context = context;
    c->pause_ms = PAUSE_MS;
    list_push(&b->all, &c->node);
    b->n++;
    struct api_request r = { .lane = API_LANE_BIND, .method = "POST", .target = request->target,
                             .media_type = request->media_type, .body = request->body };
    c->call = b->api->send(b->api->context, &r, answered, c);
    return true;
}

/* ---- The whole ---- */

void bind_calls_tick(struct bind_calls *b)
{
    int64_t now_ms = clock_mono_ms(b->clock);
    for (struct heap_node *n; (n = heap_top(&b->pauses));) {
        struct bind_call *c = HEAP_ITEM(n, struct bind_call, by_time);
        if (c->due_ms > now_ms)
            break;
        heap_pop(&b->pauses);
        read_pod(c);
    }
}

int64_t bind_calls_due_ms(const struct bind_calls *b)
{
    const struct heap_node *n = heap_top(&b->pauses);
    return n ? HEAP_ITEM(n, struct bind_call, by_time)->due_ms : INT64_MAX;
}

uint32_t bind_calls_running(const struct bind_calls *b)
{
    return b->n;
}

uint64_t bind_calls_read(const struct bind_calls *b)
{
    return b->n_read;
}

static bool sooner(const struct heap_node *a, const struct heap_node *b, void *context)
{
    (void)context;
    return HEAP_ITEM(a, struct bind_call, by_time)->due_ms < HEAP_ITEM(b, struct bind_call, by_time)->due_ms;
}

struct bind_calls *bind_calls_new(const struct api *api, const struct clock *clock, uint64_t seed)
{
    struct bind_calls *b = mem_zalloc(sizeof(*b));
    b->api = api;
    b->clock = clock;
    rand_init(&b->rand, seed);
    list_init(&b->all);
    heap_init(&b->pauses, sooner, NULL);
    return b;
}

void bind_calls_free(struct bind_calls *b)
{
    if (!b)
        return;
    for (struct list_node *n; (n = list_first(&b->all));) {
        struct bind_call *c = LIST_ITEM(n, struct bind_call, node);
        if (c->call)
            b->api->cancel(b->api->context, c->call);
        release(c);
    }
    heap_fini(&b->pauses);
    free(b);
}
