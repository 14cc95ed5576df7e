/* sched/replay.c - see replay.h.
 *
 * The story is a loop over frames: an input is decoded and given to the scheduler; while that works,
 * its questions are answered from the frames behind the input. A frame of that kind that nobody asked
 * for is a divergence. */
#include "sched/replay.h"

#include <inttypes.h>

#include "base/mem.h"
#include "sched/record_format.h"
#include "sched/sched_priv.h"

enum { PROGRESS_EVERY = 256 }; /* frames */

struct replayed_clock {
    int64_t value;
    uint64_t n_same; /* readings that gave it */
    uint8_t type;
};

struct replay {
    struct str bytes;
    size_t at;
    struct record_frame next; /* at `at`, if it was looked at already */
    size_t next_bytes;        /* 0: it was not */
    uint64_t n_frames, n_inputs, n_hashes;
    struct record_start start;
    struct sched *sched;
    struct arena arena;   /* messages, start */
    struct arena scratch; /* of one input */
    struct replayed_clock now_ms, wall_s;
    void (*progress)(void *context, size_t n_done, size_t n_bytes); /* NULL: nobody watches */
    void *progress_context;
    bool ended;
    enum replay_end end;
    const char *message;
};

static struct record_wire wire_of(struct str payload)
{
    return (struct record_wire){ payload.p, payload.p + payload.n, false };
}

static bool wire_is_done(const struct record_wire *w)
{
    return !w->bad && w->p == w->end;
}

/* The first end counts. */
static void finish(struct replay *r, enum replay_end end, const char *what)
{
    if (r->ended)
        return;
    r->ended = true;
    r->end = end;
    r->message = arena_printf(&r->arena, "frame %" PRIu64 " at byte %zu: %s", r->n_frames, r->at, what);
}

/* ---- Frames ---- */

/* Looks at the next frame without taking it: r->next, when it is good. */
static enum frame_check peek(struct replay *r)
{
    if (r->next_bytes)
        return FRAME_GOOD;
    return record_frame_read(r->bytes, r->at, r->n_frames, &r->next, &r->next_bytes);
}

static void skip(struct replay *r)
{
    r->at += r->next_bytes;
    r->next_bytes = 0;
    r->n_frames++;
}

/* The payload of the next frame if it is of this type. */
static bool peek_type(struct replay *r, uint8_t type, struct record_wire *ret_wire)
{
    if (peek(r) != FRAME_GOOD || r->next.type != type)
        return false;
    *ret_wire = wire_of(r->next.payload);
    return true;
}

static bool read_start(struct replay *r, struct record_wire *w)
{
    struct record_start *s = &r->start;
    s->seed = record_get_u64(w);
    s->build = record_get_text(w);
    s->config = record_get_text(w);
    int64_t percentage = record_get_i64(w);
    s->percentage_of_nodes_to_score = (int32_t)percentage;
    s->initial_backoff_ms = record_get_i64(w);
    s->max_backoff_ms = record_get_i64(w);
    s->unschedulable_ms_max = record_get_i64(w);
    if (w->p < w->end)
        s->feature_gates = record_get_text(w);
    bool sane = percentage >= 0 && percentage <= 100 && s->initial_backoff_ms >= 0 && s->max_backoff_ms >= 0 &&
                s->unschedulable_ms_max >= 0;
    return wire_is_done(w) && sane;
}

enum err_code replay_open(struct str bytes, struct replay **ret_replay, struct err *e)
{
    struct str line = STR(RECORD_VERSION_LINE);
    if (!str_starts(bytes, line))
        return err_set(e, ERR_INVALID, str_starts(bytes, STR("berth-record "))
                                           ? "the recording has a version that this berth does not know"
                                           : "this is not a recording");
    struct replay *r = mem_zalloc(sizeof(*r));
    struct record_wire w;
    r->bytes = bytes;
    r->at = line.n;
    r->now_ms.type = RECORD_NOW_MS;
    r->wall_s.type = RECORD_WALL_S;
    arena_init(&r->arena);
    arena_init(&r->scratch);
    if (!peek_type(r, RECORD_START, &w) || !read_start(r, &w)) {
        replay_free(r);
        return err_set(e, ERR_INVALID, "the recording is damaged or torn at its beginning");
    }
    skip(r);
    *ret_replay = r;
    return ERR_OK;
}

void replay_free(struct replay *r)
{
    arena_fini(&r->arena);
    arena_fini(&r->scratch);
    free(r);
}

const struct record_start *replay_start(const struct replay *r)
{
    return &r->start;
}

/* ---- Questions of the scheduler ---- */

static int64_t read_clock(struct replay *r, struct replayed_clock *c)
{
    struct record_wire w;
    if (peek_type(r, c->type, &w) && record_get_u64(&w) == c->n_same) {
        int64_t value = record_get_i64(&w);
        if (wire_is_done(&w)) {
            skip(r);
            *c = (struct replayed_clock){ .value = value, .type = c->type };
        }
    }
    c->n_same++;
    return c->value;
}

static int64_t now_ms(void *context)
{
    struct replay *r = context;
    return read_clock(r, &r->now_ms);
}

static int64_t wall_s(void *context)
{
    struct replay *r = context;
    return read_clock(r, &r->wall_s);
}

static void drop_bind(void *context, io_ticket ticket, const struct pod *pod, sym node)
{
    (void)context;
    (void)ticket;
    (void)pod;
    (void)node;
}

static void drop_status(void *context, const struct status_change *change)
{
    (void)context;
    (void)change;
}

static void drop_evict(void *context, io_ticket ticket, const struct pod *victim, const struct pod *preemptor)
{
    (void)context;
    (void)ticket;
    (void)victim;
    (void)preemptor;
}

static void drop_event(void *context, const struct event_note *note)
{
    (void)context;
    (void)note;
}

static void drop_volumes(void *context, io_ticket ticket, const struct pod *pod, sym node,
                         const struct volume_decisions *decisions)
{
    (void)context;
    (void)ticket;
    (void)pod;
    (void)node;
    (void)decisions;
}

static void call_extender(void *context, const struct extender_request *requests, uint32_t n,
                          struct extender_answer *ret_answers)
{
    struct replay *r = context;
    struct record_wire w;
    if (requests[0].verb == EXTENDER_BIND)
        return;
    if (peek_type(r, RECORD_ANSWERS, &w) && record_get_answers(&w, requests[0].arena, n, ret_answers)) {
        skip(r);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        ret_answers[i] = (struct extender_answer){ .error = "the recording has no answer" };
    finish(r, REPLAY_DIVERGED, "the scheduler asks an extender here, the recording has no answer");
}

struct sched_io replay_io(struct replay *r)
{
    return (struct sched_io){ r,          now_ms,     wall_s,       drop_bind,    drop_status,
                              drop_evict, drop_event, drop_volumes, call_extender };
}

/* ---- Inputs. Each returns what is wrong with it, or NULL. ---- */

struct recorded_object {
    enum typed_format format;
    struct str bytes;
};

/* The rest of a payload that is an object. */
static bool read_object(struct record_wire *w, struct recorded_object *ret_object)
{
    uint64_t format = record_get_u64(w);
    *ret_object = (struct recorded_object){ format == TYPED_PROTOBUF ? TYPED_PROTOBUF : TYPED_JSON, record_get_text(w) };
    return format <= TYPED_PROTOBUF && wire_is_done(w);
}

static const char *does_not_decode(struct replay *r, const struct err *e)
{
    return arena_printf(&r->arena, "the object does not decode: %s", e->message);
}

static const char *set_node(struct replay *r, struct record_wire *w)
{
    struct recorded_object o;
    const struct node *node;
    struct err e;
    err_init(&e, &r->scratch);
    if (!read_object(w, &o))
        return "its payload makes no sense";
    if (node_decode(r->sched->syms, o.format, o.bytes, &node, &e))
        return does_not_decode(r, &e);
    sched_node_set(r->sched, node);
    node_unref(r->sched->syms, node);
    return NULL;
}

static const char *remove_node(struct replay *r, struct record_wire *w)
{
    struct str name = record_get_text(w);
    if (!wire_is_done(w))
        return "its payload makes no sense";
    sym id = sym_find(r->sched->syms, name);
    if (id != SYM_NONE)
        sched_node_removed(r->sched, id);
    return NULL;
}

static const char *set_pod(struct replay *r, struct record_wire *w)
{
    struct recorded_object o;
    const struct pod *pod;
    struct err e;
    err_init(&e, &r->scratch);
    if (!read_object(w, &o))
        return "its payload makes no sense";
    if (pod_decode(r->sched->syms, o.format, o.bytes, &pod, &e))
        return does_not_decode(r, &e);
    sched_pod_set(r->sched, pod);
    pod_unref(r->sched->syms, pod);
    return NULL;
}

static const char *remove_pod(struct replay *r, struct record_wire *w)
{
    const char *uid = arena_cstr(&r->scratch, record_get_text(w));
    if (!wire_is_done(w))
        return "its payload makes no sense";
    sched_pod_removed(r->sched, uid);
    return NULL;
}

static const char *set_object(struct replay *r, struct record_wire *w)
{
    struct recorded_object o;
    const void *form;
    struct err e;
    err_init(&e, &r->scratch);
    uint64_t kind = record_get_u64(w);
    if (!read_object(w, &o) || kind >= N_OBJECT_KINDS)
        return "its payload makes no sense";
    if (object_form_decode((enum object_kind)kind, r->sched->syms, o.format, o.bytes, &form, &e))
        return does_not_decode(r, &e);
    sched_object_set(r->sched, (enum object_kind)kind, form);
    object_unref(r->sched->syms, (enum object_kind)kind, form);
    return NULL;
}

static const char *remove_object(struct replay *r, struct record_wire *w)
{
    uint64_t kind = record_get_u64(w);
    struct str ns = record_get_text(w), name = record_get_text(w);
    if (!wire_is_done(w) || kind >= N_OBJECT_KINDS)
        return "its payload makes no sense";
    sym id = sym_find(r->sched->syms, ns);
    if (id != SYM_NONE)
        sched_object_removed(r->sched, (enum object_kind)kind, id, name);
    return NULL;
}

static const char *run_once(struct replay *r, struct record_wire *w)
{
    if (!wire_is_done(w))
        return "its payload makes no sense";
    sched_run_once(r->sched);
    return NULL;
}

static const char *tick(struct replay *r, struct record_wire *w)
{
    if (!wire_is_done(w))
        return "its payload makes no sense";
    sched_tick(r->sched);
    return NULL;
}

static const char *outcome(struct replay *r, struct record_wire *w,
                           void (*give)(struct sched *, io_ticket, const char *))
{
    io_ticket ticket = record_get_u64(w);
    bool failed = record_get_u64(w) != 0;
    const char *error = arena_cstr(&r->scratch, record_get_text(w));
    if (!wire_is_done(w))
        return "its payload makes no sense";
    give(r->sched, ticket, failed ? error : NULL);
    return NULL;
}

static const char *bound(struct replay *r, struct record_wire *w)
{
    return outcome(r, w, sched_bound);
}

static const char *volumes_bound(struct replay *r, struct record_wire *w)
{
    return outcome(r, w, sched_volumes_bound);
}

static const char *victim_done(struct replay *r, struct record_wire *w)
{
    return outcome(r, w, sched_victim_done);
}

static const struct plugin_instance *find_plugin(const struct sched *s, struct str profile, struct str plugin)
{
    for (uint32_t i = 0; i < s->n_profiles; i++)
        for (uint8_t k = 0; k < s->profiles[i]->n_instances; k++)
            if (str_is(profile, s->profiles[i]->scheduler_name) &&
                str_is(plugin, s->profiles[i]->instances[k].plugin->name))
                return &s->profiles[i]->instances[k];
    return NULL;
}

static const char *permit(struct replay *r, struct record_wire *w)
{
    const char *uid = arena_cstr(&r->scratch, record_get_text(w));
    struct str profile = record_get_text(w), plugin = record_get_text(w);
    bool allow = record_get_u64(w) != 0;
    const char *reason = arena_cstr(&r->scratch, record_get_text(w));
    if (!wire_is_done(w))
        return "its payload makes no sense";
    const struct plugin_instance *p = find_plugin(r->sched, profile, plugin);
    if (!p)
        return "it names a plugin that the scheduler does not have";
    sched_permit(r->sched, uid, p, allow, reason);
    return NULL;
}

static const char *(*const inputs[])(struct replay *r, struct record_wire *w) = {
    [RECORD_NODE_SET] = set_node,
    [RECORD_NODE_REMOVED] = remove_node,
    [RECORD_POD_SET] = set_pod,
    [RECORD_POD_REMOVED] = remove_pod,
    [RECORD_OBJECT_SET] = set_object,
    [RECORD_OBJECT_REMOVED] = remove_object,
    [RECORD_RUN_ONCE] = run_once,
    [RECORD_TICK] = tick,
    [RECORD_BOUND] = bound,
    [RECORD_VOLUMES_BOUND] = volumes_bound,
    [RECORD_VICTIM_DONE] = victim_done,
    [RECORD_PERMIT] = permit,
};

/* ---- The loop ---- */

static void compare(struct replay *r, uint64_t recorded)
{
    uint64_t hash = sched_decision_hash(r->sched);
    if (hash == recorded)
        r->n_hashes++;
    else
        finish(
            r, REPLAY_DIVERGED,
            arena_printf(&r->arena, "the decisions differ: hash %016" PRIx64 ", recorded %016" PRIx64, hash, recorded));
}

static void hash_frame(struct replay *r, uint8_t type, struct record_wire *w)
{
    bool has_hash = type == RECORD_LIMIT ? record_get_u64(w) != 0 : true;
    uint64_t hash = record_get_u64(w);
    if (!wire_is_done(w)) {
        finish(r, REPLAY_DAMAGED, "its payload makes no sense");
        return;
    }
    if (has_hash)
        compare(r, hash);
    if (type != RECORD_HASH && r->at + r->next_bytes < r->bytes.n)
        finish(r, REPLAY_DAMAGED, "there are bytes behind the last frame");
    else if (type == RECORD_END)
        finish(r, REPLAY_COMPLETE, "the recording ends");
    else if (type == RECORD_LIMIT)
        finish(r, REPLAY_AT_LIMIT, "the recording had reached its maximum length");
}

/* An input is behind r->at while it is worked on, so that answers are found. */
static void take_input(struct replay *r, const struct record_frame *frame)
{
    struct record_wire w = wire_of(frame->payload);
    skip(r);
    const char *error = inputs[frame->type](r, &w);
    if (error)
        finish(r, REPLAY_DAMAGED, error);
    else
        r->n_inputs++;
    arena_reset(&r->scratch);
}

static void take_frame(struct replay *r, struct record_frame frame)
{
    struct record_wire w = wire_of(frame.payload);
    if (frame.type < sizeof(inputs) / sizeof(inputs[0]) && inputs[frame.type]) {
        take_input(r, &frame);
        return;
    }
    switch (frame.type) {
    case RECORD_HASH:
    case RECORD_END:
    case RECORD_LIMIT:
        hash_frame(r, frame.type, &w);
        break;
    case RECORD_NOW_MS:
    case RECORD_WALL_S:
    case RECORD_ANSWERS:
        finish(r, REPLAY_DIVERGED, "the recording answers a question that the scheduler does not ask");
        break;
    default:
        finish(r, REPLAY_DAMAGED, "it is of an unknown type");
    }
    skip(r);
}

static void next_frame(struct replay *r)
{
    switch (peek(r)) {
    case FRAME_GOOD:
        take_frame(r, r->next);
        break;
    case FRAME_NONE:
        finish(r, REPLAY_TORN, "the recording stops without a last frame");
        break;
    case FRAME_TORN:
        finish(r, REPLAY_TORN, "the recording stops in the middle of a frame");
        break;
    case FRAME_DAMAGED:
        finish(r, REPLAY_DAMAGED, "its checksum is wrong");
        break;
    }
}

void replay_watch(struct replay *r, void (*progress)(void *context, size_t n_done, size_t n_bytes), void *context)
{
    r->progress = progress;
    r->progress_context = context;
}

void replay_run(struct replay *r, struct sched *s, struct replay_result *ret_result)
{
    r->sched = s;
    while (!r->ended) {
        next_frame(r);
        if (r->progress && r->n_frames % PROGRESS_EVERY == 0)
            r->progress(r->progress_context, r->at, r->bytes.n);
    }
    *ret_result = (struct replay_result){
        .end = r->end,
        .message = r->message,
        .n_frames = r->n_frames,
        .n_inputs = r->n_inputs,
        .n_hashes = r->n_hashes,
        .hash = sched_decision_hash(s),
    };
}
