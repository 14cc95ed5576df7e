/* client/election.c - see election.h. Upstream: client-go tools/leaderelection, v0.36.
 *
 * A try is: if the lease is ours and fresh, write it (UPDATING_FAST); otherwise read it (READING), and then create
 * it (CREATING), leave it to its holder, or take it (UPDATING). Answers move a try on; the clock begins one and ends one
 * that takes too long. */
#include "client/election.h"

#include <assert.h>
#include <stdlib.h>

#include "api/schema_slots.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"

enum step { RESTING, UPDATING_FAST, READING, CREATING, UPDATING, RELEASE_READING, RELEASE_UPDATING };
enum role { IDLE, CANDIDATE, LEADER, LEAVING, GONE };

/* What a lease says. */
struct record {
    struct str holder; /* in its own memory: see hold */
    int64_t duration_s, transitions;
    int64_t acquire_us, renew_us; /* since 1970 */
};

struct election {
    struct election_options o;
    struct arena texts; /* of the options, and these: */
    const char *lock;   /* "ns/name" */
    struct str collection, target;
    struct rand rand;
    enum role role;
    enum step step;
    api_call call;
    int64_t next_try_ms;  /* RESTING */
    int64_t give_up_ms;   /* LEADER: renewing must have worked by then */

    struct record seen;      /* observed record */
    int64_t seen_ms;         /* when it was first seen as it is */
    bool seen_any;
    struct strbuf seen_holder, reported;
    struct record written;   /* what the write under way says */
    int64_t sent_ms;         /* ... and when it was sent */
    int64_t held_until_ms;   /* nobody else can take it before */
    struct arena lease_arena; /* the Lease as last seen, for updates */
    struct value lease;
    bool has_lease;
    uint64_t n_slow;
};

/* ---- The lease as a value ---- */

static int64_t micros(const struct value *v)
{
    return v->kind == VALUE_TIME ? v->i * 1000000 + v->n / 1000 : 0;
}

static struct value micro_time(int64_t us)
{
    int64_t seconds = us / 1000000 - (us % 1000000 < 0);
    return value_time(seconds, (uint32_t)((us - seconds * 1000000) * 1000));
}

static int64_t number_at(const struct value *spec, unsigned slot)
{
    const struct value *v = value_slot(spec, slot);
    return v->kind == VALUE_INT ? v->i : 0;
}

static struct record record_of(const struct value *lease)
{
    const struct value *spec = value_slot(lease, SLOT_coordination_v1_Lease_spec);
    return (struct record){
        .holder = value_text(value_slot(spec, SLOT_coordination_v1_LeaseSpec_holderIdentity)),
        .duration_s = number_at(spec, SLOT_coordination_v1_LeaseSpec_leaseDurationSeconds),
        .transitions = number_at(spec, SLOT_coordination_v1_LeaseSpec_leaseTransitions),
        .acquire_us = micros(value_slot(spec, SLOT_coordination_v1_LeaseSpec_acquireTime)),
        .renew_us = micros(value_slot(spec, SLOT_coordination_v1_LeaseSpec_renewTime)),
    };
}

static bool record_equal(const struct record *a, const struct record *b)
{
    return str_eq(a->holder, b->holder) && a->duration_s == b->duration_s && a->transitions == b->transitions &&
           a->acquire_us == b->acquire_us && a->renew_us == b->renew_us;
}

static struct value spec_of(struct arena *a, const struct record *r)
{
    struct value spec = value_struct(a, &schema_types[T_coordination_v1_LeaseSpec]);
    spec.slots[SLOT_coordination_v1_LeaseSpec_holderIdentity] = value_string(r->holder);
    spec.slots[SLOT_coordination_v1_LeaseSpec_leaseDurationSeconds] = value_int(r->duration_s);
    spec.slots[SLOT_coordination_v1_LeaseSpec_acquireTime] = micro_time(r->acquire_us);
    spec.slots[SLOT_coordination_v1_LeaseSpec_renewTime] = micro_time(r->renew_us);
    spec.slots[SLOT_coordination_v1_LeaseSpec_leaseTransitions] = value_int(r->transitions);
    return spec;
}

static struct value new_lease(struct arena *a, const struct election *e)
{
    struct value lease = value_struct(a, &schema_types[T_coordination_v1_Lease]);
    struct value meta = value_struct(a, &schema_types[T_meta_v1_ObjectMeta]);
    meta.slots[SLOT_meta_v1_ObjectMeta_name] = value_string(str_of(e->o.name));
    meta.slots[SLOT_meta_v1_ObjectMeta_namespace] = value_string(str_of(e->o.ns));
    lease.slots[SLOT_KIND] = value_string(STR("Lease"));
    lease.slots[SLOT_API_VERSION] = value_string(STR("coordination.k8s.io/v1"));
    lease.slots[SLOT_coordination_v1_Lease_metadata] = meta;
    return lease;
}

/* ---- What has been seen ---- */

static int64_t now_ms(const struct election *e)
{
    return clock_mono_ms(e->o.clock);
}

static bool is_ours(const struct election *e)
{
    return e->seen_any && str_is(e->seen.holder, e->o.identity);
}

static bool is_fresh(const struct election *e)
{
    return e->seen_any && e->seen_ms + e->seen.duration_s * 1000 > now_ms(e);
}

static void see(struct election *e, const struct record *r)
{
    assert(r != &e->seen);
    e->seen = *r;
    strbuf_reset(&e->seen_holder);
    strbuf_add_str(&e->seen_holder, r->holder);
    e->seen.holder = strbuf_str(&e->seen_holder);
    e->seen_ms = now_ms(e);
    e->seen_any = true;
}

static void report_leader(struct election *e)
{
    struct str holder = e->seen_any ? e->seen.holder : STR("");
    if (str_eq(holder, strbuf_str(&e->reported)))
        return;
    strbuf_reset(&e->reported);
    strbuf_add_str(&e->reported, holder);
    e->o.calls.leader(e->o.calls.context, holder);
}

/* Keeps the Lease of an answer; false when it is none. */
static bool keep_lease(struct election *e, const struct api_answer *answer)
{
    struct arena fresh;
    arena_init(&fresh);
    struct err err;
    err_init(&err, &fresh);
    struct object object;
    struct gvk seen, endpoint = { STR("coordination.k8s.io"), STR("v1"), STR("Lease") };
    struct str body = arena_str(&fresh, answer->body); /* the value points into it */
    struct work work = work_init(REQUEST_BYTES_MAX);
    if (object_read(&fresh, &work, answer->media, body, endpoint, NULL, &object, &seen, &err) ||
        object.type != &schema_types[T_coordination_v1_Lease]) {
        LOG_ERROR(err.message ? err.message : "not a Lease", "Error retrieving lease lock", KS("lock", e->lock));
        arena_fini(&fresh);
        return false;
    }
    arena_fini(&e->lease_arena);
    e->lease_arena = fresh;
    e->lease = object.value;
    e->has_lease = true;
    return true;
}

/* ---- Requests ---- */

static void answered(void *context, const struct api_answer *answer);

static void send(struct election *e, enum step step, const char *method, struct str target, const struct value *lease)
{
    struct strbuf body;
    strbuf_init(&body, 1 << 20);
    if (lease)
        object_encode(&body, e->o.api->media, &schema_types[T_coordination_v1_Lease], lease);
    int64_t timeout_ms = e->o.deadline_ms / 2 < 1000 ? 1000 : e->o.deadline_ms / 2;
    struct api_request r = { API_LANE_LEASE, method, target, lease ? media_content_type(e->o.api->media) : NULL,
                             strbuf_str(&body), timeout_ms };
    e->step = step;
    e->sent_ms = now_ms(e);
    e->call = e->o.api->send(e->o.api->context, &r, answered, e);
    strbuf_fini(&body);
}

static void send_update(struct election *e, enum step step, const struct record *r)
{
    struct arena scratch;
    arena_init(&scratch);
    struct value spec = spec_of(&scratch, r), lease = value_copy(&scratch, &e->lease);
    lease.slots[SLOT_coordination_v1_Lease_spec] = spec;
    e->written = *r;
    send(e, step, "PUT", e->target, &lease);
    arena_fini(&scratch);
}

static void send_create(struct election *e, const struct record *r)
{
    struct arena scratch;
    arena_init(&scratch);
    struct value lease = new_lease(&scratch, e);
    lease.slots[SLOT_coordination_v1_Lease_spec] = spec_of(&scratch, r);
    e->written = *r;
    send(e, CREATING, "POST", e->collection, &lease);
    arena_fini(&scratch);
}

/* ---- A try ---- */

static struct record my_record(const struct election *e)
{
    int64_t now_us = clock_wall_ns(e->o.clock) / 1000;
    return (struct record){ .holder = str_of(e->o.identity), .duration_s = e->o.lease_ms / 1000,
                            .acquire_us = now_us, .renew_us = now_us };
}

static void begin_try(struct election *e)
{
    if (e->has_lease && is_ours(e) && is_fresh(e)) {
        struct record r = my_record(e);
        r.acquire_us = e->seen.acquire_us;
        r.transitions = e->seen.transitions;
        send_update(e, UPDATING_FAST, &r);
        return;
    }
    send(e, READING, "GET", e->target, NULL);
}

static int64_t jittered(struct election *e, int64_t ms)
{
    return ms + (int64_t)(rand_double(&e->rand) * 1.2 * (double)ms);
}

static void rest(struct election *e, int64_t ms)
{
    e->step = RESTING;
    e->next_try_ms = now_ms(e) + ms;
}

static void try_worked(struct election *e)
{
    see(e, &e->written);
    report_leader(e);
    e->held_until_ms = e->sent_ms + e->o.lease_ms;
    e->give_up_ms = INT64_MAX;
    if (e->role == LEADER) {
        LOG(5, "Successfully renewed lease", KS("lock", e->lock));
        rest(e, e->o.retry_ms);
        return;
    }
    e->role = LEADER;
    LOG(0, "Successfully acquired lease", KS("lock", e->lock));
    rest(e, 0); /* the first renewal is immediate */
    e->o.calls.leading(e->o.calls.context);
}

static void try_failed(struct election *e)
{
    report_leader(e);
    if (e->role == CANDIDATE)
        LOG(4, "Failed to acquire lease", KS("lock", e->lock));
    rest(e, e->role == LEADER ? e->o.retry_ms : jittered(e, e->o.retry_ms));
}

/* The lease has been read: it is somebody's, or it becomes ours. */
static void judge(struct election *e)
{
    struct record there = record_of(&e->lease);
    if (!e->seen_any || !record_equal(&there, &e->seen))
        see(e, &there);
    if (there.holder.n && is_fresh(e) && !is_ours(e)) {
        LOG(4, "Lease is held by and has not yet expired", KS("lock", e->lock), KS("holder", there.holder));
        try_failed(e);
        return;
    }
    struct record r = my_record(e);
    if (is_ours(e)) {
        r.acquire_us = there.acquire_us;
        r.transitions = there.transitions;
        e->n_slow++;
    } else {
        r.transitions = there.transitions + 1;
    }
    send_update(e, UPDATING, &r);
}

static void log_problem(struct election *e, const struct api_answer *answer, const char *what)
{
    struct arena scratch;
    arena_init(&scratch);
    LOG_ERROR(api_problem(&scratch, answer), what, KS("lock", e->lock));
    arena_fini(&scratch);
}

static void after_read(struct election *e, const struct api_answer *answer)
{
    struct record r = my_record(e);
    if (answer->status == 404) {
        send_create(e, &r);
    } else if (!api_ok(answer)) {
        log_problem(e, answer, "Error retrieving lease lock");
        try_failed(e);
    } else if (keep_lease(e, answer)) {
        judge(e);
    } else {
        try_failed(e);
    }
}

static void after_write(struct election *e, const struct api_answer *answer)
{
    bool fast = e->step == UPDATING_FAST, created = e->step == CREATING;
    if (api_ok(answer) && keep_lease(e, answer)) {
        try_worked(e);
        return;
    }
    if (fast) {
        struct arena scratch;
        arena_init(&scratch);
        LOG(2, "Failed to update lease optimistically, falling back to slow path", KS("lock", e->lock),
            KS("err", api_problem(&scratch, answer)));
        arena_fini(&scratch);
        send(e, READING, "GET", e->target, NULL);
        return;
    }
    log_problem(e, answer, created ? "Error initially creating lease lock" : "Failed to update lease");
    try_failed(e);
}

/* ---- Giving it back ---- */

static void finish_release(struct election *e)
{
    e->role = GONE;
    e->step = RESTING;
    e->o.calls.released(e->o.calls.context);
}

static void after_release_read(struct election *e, const struct api_answer *answer)
{
    if (!api_ok(answer) || !keep_lease(e, answer) || !is_ours(e)) {
        if (!api_ok(answer))
            log_problem(e, answer, "error retrieving resource lock");
        finish_release(e);
        return;
    }
    struct record there = record_of(&e->lease), r = my_record(e);
    r.holder = STR("");
    r.duration_s = 1;
    r.transitions = there.transitions;
    send_update(e, RELEASE_UPDATING, &r);
}

static void answered(void *context, const struct api_answer *answer)
{
    struct election *e = context;
    e->call = 0;
    switch (e->step) {
    case UPDATING_FAST:
    case CREATING:
    case UPDATING:
        after_write(e, answer);
        return;
    case READING:
        after_read(e, answer);
        return;
    case RELEASE_READING:
        after_release_read(e, answer);
        return;
    case RELEASE_UPDATING:
        if (api_ok(answer))
            see(e, &e->written);
        else
            log_problem(e, answer, "Failed to release lease");
        finish_release(e);
        return;
    case RESTING:
        break;
    }
    assert(!"an answer to nothing");
}

/* ---- The clock ---- */

static void stop_call(struct election *e)
{
    if (e->call)
        e->o.api->cancel(e->o.api->context, e->call);
    e->call = 0;
    e->step = RESTING;
}

/* The holder says so, and gives back what may still be his. */
static void lose(struct election *e)
{
    stop_call(e);
    e->role = LEAVING;
    LOG(0, "Failed to renew lease", KS("lock", e->lock), KS("err", "context deadline exceeded"));
    e->o.calls.lost(e->o.calls.context);
    send(e, RELEASE_READING, "GET", e->target, NULL);
}

void election_tick(struct election *e)
{
    int64_t now = now_ms(e);
    if (e->role == LEADER && e->give_up_ms <= now) {
        lose(e);
        return;
    }
    if ((e->role != CANDIDATE && e->role != LEADER) || e->step != RESTING || now < e->next_try_ms)
        return;
    if (e->role == LEADER && e->give_up_ms == INT64_MAX)
        e->give_up_ms = now + e->o.deadline_ms;
    begin_try(e);
}

void election_start(struct election *e)
{
    assert(e->role == IDLE);
    e->role = CANDIDATE;
    e->next_try_ms = now_ms(e);
    LOG(0, "Attempting to acquire leader lease...", KS("lock", e->lock));
    election_tick(e);
}

int64_t election_due_ms(const struct election *e)
{
    if (e->role != CANDIDATE && e->role != LEADER)
        return INT64_MAX;
    int64_t next = e->step == RESTING ? e->next_try_ms : INT64_MAX;
    return e->role == LEADER && e->give_up_ms < next ? e->give_up_ms : next;
}

void election_release(struct election *e)
{
    if (e->role == LEAVING || e->role == GONE)
        return;
    stop_call(e);
    bool was_leader = e->role == LEADER;
    e->role = LEAVING;
    if (was_leader)
        send(e, RELEASE_READING, "GET", e->target, NULL);
    else
        finish_release(e);
}

/* ---- The whole ---- */

struct election *election_new(const struct election_options *o)
{
    assert(o->lease_ms > o->deadline_ms);
    assert(o->retry_ms > 0);
    struct election *e = mem_zalloc(sizeof(*e));
    arena_init(&e->texts);
    arena_init(&e->lease_arena);
    strbuf_init(&e->seen_holder, 1 << 16);
    strbuf_init(&e->reported, 1 << 16);
    e->o = *o;
    e->o.identity = arena_cstr(&e->texts, str_of(o->identity));
    e->o.ns = arena_cstr(&e->texts, str_of(o->ns));
    e->o.name = arena_cstr(&e->texts, str_of(o->name));
    e->lock = arena_printf(&e->texts, "%s/%s", o->ns, o->name);
    e->target = str_of(arena_printf(&e->texts, "/apis/coordination.k8s.io/v1/namespaces/%s/leases/%s", o->ns, o->name));
    e->collection = str_first(e->target, e->target.n - strlen(o->name) - 1);
    e->give_up_ms = INT64_MAX;
    rand_init(&e->rand, o->seed);
    return e;
}

void election_free(struct election *e)
{
    if (!e)
        return;
    stop_call(e);
    arena_fini(&e->texts);
    arena_fini(&e->lease_arena);
    strbuf_fini(&e->seen_holder);
    strbuf_fini(&e->reported);
    free(e);
}

bool election_is_leader(const struct election *e)
{
    return e->role == LEADER;
}

bool election_may_act(const struct election *e)
{
    return e->role == LEADER && now_ms(e) < e->held_until_ms;
}

uint64_t election_slow_paths(const struct election *e)
{
    return e->n_slow;
}

static struct str meta_text(const struct election *e, unsigned slot)
{
    return value_text(value_slot(value_slot(&e->lease, SLOT_coordination_v1_Lease_metadata), slot));
}

struct event_to_record election_event(const struct election *e, struct arena *a, struct str reporter)
{
    return (struct event_to_record){
        .controller = arena_str(a, reporter), .type = STR("Normal"), .reason = STR("LeaderElection"),
        .note = str_of(arena_printf(a, "%s became leader", e->o.identity)),
        .regarding = { .kind = STR("Lease"), .ns = arena_str(a, str_of(e->o.ns)),
                       .name = arena_str(a, str_of(e->o.name)), .uid = arena_str(a, meta_text(e, SLOT_meta_v1_ObjectMeta_uid)),
                       .api_version = STR("coordination.k8s.io/v1"),
                       .resource_version = arena_str(a, meta_text(e, SLOT_meta_v1_ObjectMeta_resourceVersion)) },
    };
}
