/* sched/record.c - see record.h. */
#include "sched/record.h"

#include "base/mem.h"
#include "sched/record_format.h"

enum {
    HASH_EVERY = 256, /* attempts */
    LAST_FRAME_BYTES = RECORD_HEADER_BYTES + 16, /* kept free for RECORD_LIMIT and RECORD_END */
};

/* A clock of the outside: written down when it moves. */
struct watched_clock {
    int64_t last;
    uint64_t n_same; /* readings that gave it */
    uint8_t type;
};

struct recorder {
    bool (*write)(void *context, struct str bytes);
    void *context;
    uint64_t bytes_max, n_bytes, n_frames, n_attempts;
    const char *stopped;
    struct sched_io inner;
    const struct sched *sched;
    struct watched_clock now_ms, wall_s;
    struct strbuf payload, frame;
};

/* ---- Frames ---- */

static void write_frame(struct recorder *r, uint8_t type)
{
    strbuf_reset(&r->frame);
    record_frame_add(&r->frame, r->n_frames, type, strbuf_str(&r->payload));
    if (!r->write(r->context, strbuf_str(&r->frame))) {
        r->stopped = "the recording could not be written";
        return;
    }
    r->n_bytes += r->frame.n;
    r->n_frames++;
}

/* The payload to fill, or NULL when nothing is recorded any more. */
static struct strbuf *begin(struct recorder *r)
{
    if (!r || r->stopped)
        return NULL;
    strbuf_reset(&r->payload);
    return &r->payload;
}

/* In the middle of an input the hash says nothing. */
static void end_at_limit(struct recorder *r, uint8_t type)
{
    bool between = !record_is_nested(type) && r->sched;
    strbuf_reset(&r->payload);
    record_put_u64(&r->payload, between);
    record_put_u64(&r->payload, between ? sched_decision_hash(r->sched) : 0);
    write_frame(r, RECORD_LIMIT);
    if (!r->stopped)
        r->stopped = "the recording has reached its maximum length";
}

static void commit(struct recorder *r, uint8_t type)
{
    uint64_t n_bytes = RECORD_HEADER_BYTES + r->payload.n;
    if (r->payload.n > RECORD_PAYLOAD_BYTES_MAX || r->n_bytes + n_bytes > r->bytes_max - LAST_FRAME_BYTES)
        end_at_limit(r, type);
    else
        write_frame(r, type);
}

static void put_hash(struct recorder *r)
{
    struct strbuf *b = r->sched ? begin(r) : NULL;
    if (!b)
        return;
    record_put_u64(b, sched_decision_hash(r->sched));
    commit(r, RECORD_HASH);
}

/* ---- The recorder ---- */

static void put_start(struct recorder *r, const struct record_start *start)
{
    struct strbuf *b = begin(r);
    record_put_u64(b, start->seed);
    record_put_text(b, start->build);
    record_put_text(b, start->config);
    record_put_i64(b, start->percentage_of_nodes_to_score);
    record_put_i64(b, start->initial_backoff_ms);
    record_put_i64(b, start->max_backoff_ms);
    record_put_i64(b, start->unschedulable_ms_max);
    if (start->feature_gates.n) /* recordings of before do not have it */
        record_put_text(b, start->feature_gates);
    commit(r, RECORD_START);
}

struct recorder *recorder_new(const struct recorder_options *options)
{
    struct recorder *r = mem_zalloc(sizeof(*r));
    r->write = options->write;
    r->context = options->context;
    r->bytes_max = options->bytes_max < RECORDER_BYTES_MIN ? RECORDER_BYTES_MIN : options->bytes_max;
    r->now_ms.type = RECORD_NOW_MS;
    r->wall_s.type = RECORD_WALL_S;
    strbuf_init(&r->payload, STRBUF_NO_MAX);
    strbuf_init(&r->frame, STRBUF_NO_MAX);
    struct str line = STR(RECORD_VERSION_LINE);
    r->n_bytes = line.n;
    if (!r->write(r->context, line))
        r->stopped = "the recording could not be written";
    else
        put_start(r, &options->start);
    return r;
}

void recorder_attach(struct recorder *r, const struct sched *s)
{
    r->sched = s;
}

void recorder_end(struct recorder *r)
{
    struct strbuf *b = begin(r);
    if (!b)
        return;
    record_put_u64(b, r->sched ? sched_decision_hash(r->sched) : 0);
    write_frame(r, RECORD_END); /* there is always room for it */
    if (!r->stopped)
        r->stopped = "the recording has ended";
}

void recorder_free(struct recorder *r)
{
    strbuf_fini(&r->payload);
    strbuf_fini(&r->frame);
    free(r);
}

const char *recorder_stopped(const struct recorder *r)
{
    return r->stopped;
}

uint64_t recorder_bytes(const struct recorder *r)
{
    return r->n_bytes;
}

/* ---- What the scheduler asks for ---- */

static int64_t watch(struct recorder *r, struct watched_clock *c, int64_t value)
{
    bool first = c->n_same == 0;
    if (first || value != c->last) {
        struct strbuf *b = begin(r);
        if (b) {
            record_put_u64(b, c->n_same);
            record_put_i64(b, value);
            commit(r, c->type);
        }
        c->last = value;
        c->n_same = 0;
    }
    c->n_same++;
    return value;
}

static int64_t now_ms(void *context)
{
    struct recorder *r = context;
    return watch(r, &r->now_ms, r->inner.now_ms(r->inner.context));
}

static int64_t wall_s(void *context)
{
    struct recorder *r = context;
    return watch(r, &r->wall_s, r->inner.wall_s(r->inner.context));
}

static void bind(void *context, io_ticket ticket, const struct pod *pod, sym node)
{
    struct recorder *r = context;
    r->inner.bind(r->inner.context, ticket, pod, node);
}

static void patch_status(void *context, const struct status_change *change)
{
    struct recorder *r = context;
    r->inner.patch_status(r->inner.context, change);
}

static void evict(void *context, io_ticket ticket, const struct pod *victim, const struct pod *preemptor)
{
    struct recorder *r = context;
    r->inner.evict(r->inner.context, ticket, victim, preemptor);
}

static void event(void *context, const struct event_note *note)
{
    struct recorder *r = context;
    r->inner.event(r->inner.context, note);
}

static void bind_volumes(void *context, io_ticket ticket, const struct pod *pod, sym node,
                         const struct volume_decisions *decisions)
{
    struct recorder *r = context;
    r->inner.bind_volumes(r->inner.context, ticket, pod, node, decisions);
}

static void call_extender(void *context, const struct extender_request *requests, uint32_t n,
                          struct extender_answer *ret_answers)
{
    struct recorder *r = context;
    r->inner.call_extender(r->inner.context, requests, n, ret_answers);
    struct strbuf *b = requests[0].verb == EXTENDER_BIND ? NULL : begin(r);
    if (!b)
        return;
    record_put_answers(b, ret_answers, n);
    commit(r, RECORD_ANSWERS);
}

struct sched_io recorder_io(struct recorder *r, const struct sched_io *io)
{
    r->inner = *io;
    return (struct sched_io){
        .context = r,
        .now_ms = now_ms,
        .wall_s = wall_s,
        .bind = bind,
        .patch_status = patch_status,
        .evict = evict,
        .event = event,
        .bind_volumes = io->bind_volumes ? bind_volumes : NULL,
        .call_extender = io->call_extender ? call_extender : NULL,
    };
}

/* ---- Inputs ---- */

static void put_bytes(struct recorder *r, uint8_t type, enum typed_format format, struct str bytes)
{
    struct strbuf *b = begin(r);
    if (!b)
        return;
    record_put_u64(b, format);
    record_put_text(b, bytes);
    commit(r, type);
}

static void put_name(struct recorder *r, uint8_t type, struct str name)
{
    struct strbuf *b = begin(r);
    if (!b)
        return;
    record_put_text(b, name);
    commit(r, type);
}

static void put_nothing(struct recorder *r, uint8_t type)
{
    if (begin(r))
        commit(r, type);
}

static void put_outcome(struct recorder *r, uint8_t type, io_ticket ticket, const char *error)
{
    struct strbuf *b = begin(r);
    if (!b)
        return;
    record_put_u64(b, ticket);
    record_put_u64(b, error != NULL);
    record_put_text(b, str_of(error));
    commit(r, type);
}

void record_node(struct recorder *r, enum typed_format format, struct str bytes)
{
    put_bytes(r, RECORD_NODE_SET, format, bytes);
}

void record_node_removed(struct recorder *r, struct str name)
{
    put_name(r, RECORD_NODE_REMOVED, name);
}

void record_pod(struct recorder *r, enum typed_format format, struct str bytes)
{
    put_bytes(r, RECORD_POD_SET, format, bytes);
}

void record_pod_removed(struct recorder *r, const char *uid)
{
    put_name(r, RECORD_POD_REMOVED, str_of(uid));
}

void record_object(struct recorder *r, enum object_kind kind, enum typed_format format, struct str bytes)
{
    struct strbuf *b = begin(r);
    if (!b)
        return;
    record_put_u64(b, kind);
    record_put_u64(b, format);
    record_put_text(b, bytes);
    commit(r, RECORD_OBJECT_SET);
}

void record_object_removed(struct recorder *r, enum object_kind kind, struct str ns, struct str name)
{
    struct strbuf *b = begin(r);
    if (!b)
        return;
    record_put_u64(b, kind);
    record_put_text(b, ns);
    record_put_text(b, name);
    commit(r, RECORD_OBJECT_REMOVED);
}

void record_run_once(struct recorder *r)
{
    if (r && r->n_attempts++ % HASH_EVERY == HASH_EVERY - 1)
        put_hash(r);
    put_nothing(r, RECORD_RUN_ONCE);
}

void record_tick(struct recorder *r)
{
    put_nothing(r, RECORD_TICK);
}

void record_bound(struct recorder *r, io_ticket ticket, const char *error)
{
    put_outcome(r, RECORD_BOUND, ticket, error);
}

void record_volumes_bound(struct recorder *r, io_ticket ticket, const char *error)
{
    put_outcome(r, RECORD_VOLUMES_BOUND, ticket, error);
}

void record_victim_done(struct recorder *r, io_ticket ticket, const char *error)
{
    put_outcome(r, RECORD_VICTIM_DONE, ticket, error);
}

void record_permit(struct recorder *r, const char *uid, const char *scheduler_name, const char *plugin, bool allow,
                   const char *reason)
{
    struct strbuf *b = begin(r);
    if (!b)
        return;
    record_put_text(b, str_of(uid));
    record_put_text(b, str_of(scheduler_name));
    record_put_text(b, str_of(plugin));
    record_put_u64(b, allow);
    record_put_text(b, str_of(reason));
    commit(r, RECORD_PERMIT);
}
