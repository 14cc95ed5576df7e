/* sched/bind.c - a chapter of sched.h: from a decision to a pod on its node. Reserve, Permit, PreBind, Bind,
 * PostBind.
 *
 * The pod counts on its node at once (assumed). What takes time comes back later: a permit, volumes,
 * the API server's answer. Whatever fails undoes Reserve in reverse order, takes the pod off the node
 * and sends it back to the queue. */
#include "api/duration.h"
#include "base/arith.h"
#include "base/mem.h"
#include "sched/attempt.h"
#include "sched/decision.h"
#include "sched/extender.h"
#include "sched/fit_error.h"
#include "sched/queue.h"
#include "sched/sched.h"
#include "sched/sched_priv.h"
#include "sched/tell.h"

enum { PERMIT_MS_MAX = 15 * 60 * 1000 };

static void go_on(struct sched *s, struct binding *b);

/* ---- Bindings ---- */

static struct binding *new_binding(struct sched *s, struct attempt *a, struct queued_pod *qp)
{
    struct binding *b = mem_zalloc(sizeof(*b));
    b->ticket = ++s->last_ticket;
    b->queued = qp;
    b->node = a->node;
    b->n_evaluated = a->n_evaluated;
    b->n_feasible = a->n_feasible;
    b->pod = pod_with_node(s->syms, qp->pod, s->cache.rows.at[a->node].name);
    arena_init_small(&b->arena);
    b->measure = a->measure;
    b->cycle = a->cycle;
    b->cycle.pod = b->pod; /* from Reserve on plugins see it on its node, as upstream's do */
    b->cycle.binding = b;
    b->cycle.binding_arena = &b->arena;
    b->cycle.state = arena_alloc(&b->arena, PLUGINS_MAX * sizeof(void *)); /* the cycle's own is gone with its arena */
    memcpy(b->cycle.state, a->cycle.state, PLUGINS_MAX * sizeof(void *));
    b->cycle.binding_state = ARENA_NEW_N(&b->arena, void *, PLUGINS_MAX);
    b->index = (uint32_t)s->bindings.n;
    vec_push(&s->bindings, b);
    map_u64_put(&s->binding_of_ticket, b->ticket, NULL)->ptr = b;
    return b;
}

static void free_binding(struct sched *s, struct binding *b)
{
    s->n_waits -= b->waits_for != 0;
    vec_remove_swap(&s->bindings, b->index);
    if (b->index < s->bindings.n)
        s->bindings.at[b->index]->index = b->index;
    map_u64_remove(&s->binding_of_ticket, b->ticket, NULL);
    pod_unref(s->syms, b->pod);
    arena_fini(&b->arena);
    free(b);
}

static struct binding *find_ticket(const struct sched *s, io_ticket ticket)
{
    union map_value *found = map_u64_find(&s->binding_of_ticket, ticket);
    return found ? found->ptr : NULL;
}

struct binding *bind_find(const struct sched *s, const char *uid)
{
    for (size_t i = 0; i < s->bindings.n; i++)
        if (strcmp(s->bindings.at[i]->pod->meta.uid, uid) == 0)
            return s->bindings.at[i];
    return NULL;
}

/* Bind is over; extenders are no plugins. */
static void measure_bind(struct binding *b, uint8_t code)
{
    if (b->extender)
        measure_mark(&b->measure);
    else
        measure_point(&b->measure, MEASURED_BIND, code, 1);
}

/* ---- Failure ---- */

static void unreserve(struct binding *b)
{
    const struct point_plugins *points = &b->cycle.profile->points[POINT_RESERVE];
    measure_mark(&b->measure);
    for (uint8_t i = points->n; i-- > 0;) {
        const struct plugin_instance *p = points->at[i];
        int64_t start_ns = measure_plugin_begin(&b->measure);
        if (p->plugin->unreserve)
            p->plugin->unreserve(p, &b->cycle, b->node);
        measure_plugin(&b->measure, MEASURED_UNRESERVE, p, V_SUCCESS, start_ns);
    }
    measure_point(&b->measure, MEASURED_UNRESERVE, V_SUCCESS, points->n);
}

/* Off the node. False: the watch has shown it there meanwhile, and it stays. */
static bool give_back(struct sched *s, struct binding *b)
{
    struct err e;
    err_init(&e, &b->arena);
    unreserve(b);
    return cache_forget(&s->cache, b->pod, &e) == ERR_OK;
}

/* Back to the queue, and the world is told. */
static void tell_failure(struct sched *s, struct binding *b, const struct failure *f, int64_t now_ms)
{
    measure_mark(&b->measure);
    measure_failed(&b->measure, f->kind == FAILURE_UNSCHEDULABLE);
    *(f->kind == FAILURE_UNSCHEDULABLE ? &s->n_unschedulable : &s->n_errors) += 1;
    sched_note_decision(s, b->pod, str_of(f->message));
    bool refused = f->kind == FAILURE_UNSCHEDULABLE;
    if (s->decided)
        s->decided(s->decided_context,
                   &(struct sched_decision){ .pod = b->pod,
                                             .profile = b->cycle.profile,
                                             .outcome = refused ? DECISION_UNSCHEDULABLE : DECISION_ERROR,
                                             .n_attempts = b->queued->attempts,
                                             .node = SYM_NONE,
                                             .message = f->message });
    failure_handle(s, b->queued, f, now_ms);
}

static void fail_scheduling(struct sched *s, struct binding *b, const struct failure *f)
{
    give_back(s, b);
    tell_failure(s, b, f, sched_now_ms(s));
    free_binding(s, b);
}

/* A refused pod must not be woken by what it frees itself: it fits, and something else is wrong. */
static void fail_binding(struct sched *s, struct binding *b, const struct failure *f)
{
    int64_t now_ms = sched_now_ms(s);
    bool freed = give_back(s, b), refused = f->kind == FAILURE_UNSCHEDULABLE;
    struct cluster_event gone = { RES_ASSIGNED_POD, ACT_DELETE, b->pod, NULL, NULL };
    if (freed && !refused)
        queue_move_all(s->queue, &gone, MOVE_ALL, now_ms);
    tell_failure(s, b, f, now_ms);
    if (freed && refused)
        queue_move_all(s->queue, &gone, move_all_but(b->pod->meta.uid), now_ms);
    free_binding(s, b);
}

static struct failure error_of(const char *message)
{
    return (struct failure){ .kind = FAILURE_SCHEDULER_ERROR, .message = message, .nominate = SYM_EMPTY };
}

/* A refusal of a plugin that the pod waits for from now on. */
static struct failure refusal_by(struct binding *b, const struct plugin_instance *p, struct verdict v)
{
    struct filter_status status = { v, p };
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    fit_error_add_one(&b->cycle, &status, &text);
    struct failure f = { .kind = FAILURE_UNSCHEDULABLE,
                         .message = arena_cstr(&b->arena, strbuf_str(&text)),
                         .rejectors = 1ull << (p ? p->index : PLUGIN_NOBODY),
                         .nominate = SYM_EMPTY };
    strbuf_fini(&text);
    if (v.code == V_PENDING)
        f.pending = f.rejectors;
    return f;
}

/* The reasons alone. */
static const char *words_of(struct binding *b, const struct plugin_instance *p, struct verdict v)
{
    struct filter_status status = { v, p };
    struct reasons reasons = { .arena = &b->arena };
    framework_reasons(&b->cycle, &status, &reasons);
    const char *all = "";
    for (size_t i = 0; i < reasons.texts.n; i++)
        all = arena_printf(&b->arena, "%s%s%s", all, i ? ", " : "", reasons.texts.at[i]);
    vec_fini(&reasons.texts);
    return all;
}

static struct failure error_in(struct binding *b, const char *point, const struct plugin_instance *p, struct verdict v)
{
    return error_of(arena_printf(&b->arena, "running %s plugin \"%s\": %s", point, p->plugin->name, words_of(b, p, v)));
}

/* Reserve or Permit does not let the pod go on. */
static void fail_early(struct sched *s, struct binding *b, const char *point, const struct plugin_instance *p,
                       struct verdict v)
{
    struct failure f = verdict_rejects(v) ? refusal_by(b, p, v) : error_in(b, point, p, v);
    fail_scheduling(s, b, &f);
}

/* PreBind or Bind does not. */
static void fail_late(struct sched *s, struct binding *b, const char *point, const struct plugin_instance *p,
                      struct verdict v)
{
    measure_point(&b->measure, b->binds ? MEASURED_BIND : MEASURED_PRE_BIND, v.code, 1);
    struct failure f = error_in(b, point, p, v);
    if (verdict_rejects(v)) {
        f.kind = FAILURE_UNSCHEDULABLE;
        f.message = words_of(b, p, v);
    }
    fail_binding(s, b, &f);
}

/* The wait for Permit ends with a refusal; p NULL: nobody's. */
static void end_wait(struct sched *s, struct binding *b, const struct plugin_instance *p, const char *reason)
{
    struct failure f = refusal_by(b, p, verdict_text(V_UNSCHEDULABLE, reason));
    measure_permit_wait(&b->measure, V_UNSCHEDULABLE);
    fail_binding(s, b, &f);
}

/* ---- The steps ---- */

static bool reserve(struct sched *s, struct binding *b)
{
    const struct point_plugins *points = &b->cycle.profile->points[POINT_RESERVE];
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin_instance *p = points->at[i];
        int64_t start_ns = measure_plugin_begin(&b->measure);
        struct verdict v = p->plugin->reserve(p, &b->cycle, b->node);
        measure_plugin(&b->measure, MEASURED_RESERVE, p, v.code, start_ns);
        if (v.code != V_SUCCESS) {
            measure_point(&b->measure, MEASURED_RESERVE, v.code, points->n);
            fail_early(s, b, "Reserve", p, v);
            return false;
        }
    }
    measure_point(&b->measure, MEASURED_RESERVE, V_SUCCESS, points->n);
    return true;
}

static bool permit(struct sched *s, struct binding *b)
{
    const struct point_plugins *points = &b->cycle.profile->points[POINT_PERMIT];
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin_instance *p = points->at[i];
        int64_t timeout_ms = 0, start_ns = measure_plugin_begin(&b->measure);
        struct verdict v = p->plugin->permit(p, &b->cycle, b->node, &timeout_ms);
        measure_plugin(&b->measure, MEASURED_PERMIT, p, v.code, start_ns);
        if (v.code == V_WAIT) {
            timeout_ms = timeout_ms > PERMIT_MS_MAX ? PERMIT_MS_MAX : timeout_ms;
            b->waits_for |= 1ull << p->index;
            b->timeout_ms[p->index] = timeout_ms;
            b->deadline_ms[p->index] = sat_add(b->cycle.now_ms, timeout_ms);
        } else if (v.code != V_SUCCESS) {
            b->waits_for = 0;
            measure_point(&b->measure, MEASURED_PERMIT, v.code, points->n);
            fail_early(s, b, "Permit", p, v);
            return false;
        }
    }
    s->n_waits += b->waits_for != 0;
    measure_point(&b->measure, MEASURED_PERMIT, b->waits_for ? V_WAIT : V_SUCCESS, points->n);
    return true;
}

/* Which plugins have something to do before the binding; a pod that will take its time says where it is
 * going. */
static bool pre_flight(struct sched *s, struct binding *b)
{
    const struct point_plugins *points = &b->cycle.profile->points[POINT_PRE_BIND];
    bool any = false;
    if (!s->features.nominated_node_name_for_expectation)
        return true; /* they find out when it is their turn */
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin_instance *p = points->at[i];
        int64_t start_ns = measure_plugin_begin(&b->measure);
        struct verdict v =
            p->plugin->pre_bind_pre_flight ? p->plugin->pre_bind_pre_flight(p, &b->cycle, b->node) : PASS;
        measure_plugin(&b->measure, MEASURED_PRE_FLIGHT, p, v.code, start_ns);
        if (v.code == V_SKIP) {
            b->skips_pre_bind |= 1ull << p->index;
        } else if (v.code == V_SUCCESS) {
            any = true;
        } else {
            measure_point(&b->measure, MEASURED_PRE_FLIGHT, V_ERROR, points->n);
            struct failure f = error_of(arena_printf(&b->arena, "running PreBindPreFlight \"%s\": %s", p->plugin->name,
                                                     words_of(b, p, v)));
            fail_binding(s, b, &f);
            return false;
        }
    }
    measure_point(&b->measure, MEASURED_PRE_FLIGHT, any ? V_SUCCESS : V_SKIP, points->n);
    if ((any || b->waits_for) && b->queued->pod->nominated_node != b->pod->node_name)
        s->io.patch_status(s->io.context, &(struct status_change){ .pod = b->queued->pod,
                                                                   .set_nomination = true,
                                                                   .nomination = b->pod->node_name });
    return true;
}

void bind_start(struct sched *s, struct attempt *a, struct queued_pod *qp)
{
    struct binding *b = new_binding(s, a, qp);
    struct err e;
    err_init(&e, &b->arena);
    if (cache_assume(&s->cache, b->pod, &e)) {
        struct failure f = error_of(e.message); /* nothing was reserved yet */
        tell_failure(s, b, &f, sched_now_ms(s));
        free_binding(s, b);
        return;
    }
    nominator_remove(&s->nominator, qp->pod->meta.uid);
    sched_note_decision(s, b->pod, sym_text(s->syms, b->pod->node_name));
    measure_mark(&b->measure);
    if (!reserve(s, b) || !permit(s, b) || !pre_flight(s, b))
        return;
    if (!b->waits_for)
        go_on(s, b);
}

static void succeed(struct sched *s, struct binding *b)
{
    s->n_placed++;
    measure_bind(b, V_SUCCESS);
    measure_scheduled(&b->measure, b->queued);
    tell_bound(s, b);
    const char *note = arena_printf(&b->arena, "Successfully assigned %s/%s to %s",
                                    sym_text(s->syms, b->pod->meta.ns).p, b->pod->meta.name,
                                    sym_text(s->syms, b->pod->node_name).p);
    s->io.event(s->io.context, &(struct event_note){ b->pod, false, "Scheduled", "Binding", note });
    const struct point_plugins *points = &b->cycle.profile->points[POINT_POST_BIND];
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin_instance *p = points->at[i];
        int64_t start_ns = measure_plugin_begin(&b->measure);
        p->plugin->post_bind(p, &b->cycle, b->node);
        measure_plugin(&b->measure, MEASURED_POST_BIND, p, V_SUCCESS, start_ns);
    }
    measure_point(&b->measure, MEASURED_POST_BIND, V_SUCCESS, points->n);
    queue_release(s->queue, b->queued);
    free_binding(s, b);
}

/* Extenders that bind come first; then Bind plugins in order until one does not skip. */
static void bind(struct sched *s, struct binding *b)
{
    if (!b->binds)
        measure_point(&b->measure, MEASURED_PRE_BIND, V_SUCCESS, b->ran_pre_bind);
    b->binds = true;
    if (extenders_bind(s, b))
        return;
    const struct point_plugins *points = &b->cycle.profile->points[POINT_BIND];
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin_instance *p = points->at[i];
        b->binder = p;
        struct verdict v = p->plugin->bind(p, &b->cycle, b->node);
        if (v.code == V_SKIP)
            continue;
        if (v.code == V_SUCCESS)
            succeed(s, b);
        else if (v.code != V_WAIT)
            fail_late(s, b, "Bind", p, v);
        return;
    }
    measure_point(&b->measure, MEASURED_BIND, V_SKIP, points->n);
    struct failure f = error_of("no bind plugin took the pod");
    fail_binding(s, b, &f);
}

/* From the end of the waits on: PreBind plugins one after the other, then Bind. */
static void go_on(struct sched *s, struct binding *b)
{
    queue_done(s->queue, b->queued);
    const struct point_plugins *points = &b->cycle.profile->points[POINT_PRE_BIND];
    while (b->next_pre_bind < points->n) {
        const struct plugin_instance *p = points->at[b->next_pre_bind++];
        if (b->skips_pre_bind >> p->index & 1)
            continue;
        int64_t start_ns = measure_plugin_begin(&b->measure);
        struct verdict v = p->plugin->pre_bind(p, &b->cycle, b->node);
        measure_plugin(&b->measure, MEASURED_PRE_BIND, p, v.code, start_ns);
        b->ran_pre_bind = true;
        if (v.code == V_WAIT)
            return;
        if (v.code != V_SUCCESS) {
            fail_late(s, b, "PreBind", p, v);
            return;
        }
    }
    bind(s, b);
}

struct verdict framework_bind(struct cycle *c, node_id node)
{
    (void)node;
    struct binding *b = c->binding;
    c->sched->io.bind(c->sched->io.context, b->ticket, b->pod, b->pod->node_name);
    return (struct verdict){ V_WAIT, 0, NULL };
}

struct verdict framework_bind_volumes(struct cycle *c, const struct volume_decisions *decisions)
{
    struct binding *b = c->binding;
    c->sched->io.bind_volumes(c->sched->io.context, b->ticket, b->pod, b->pod->node_name, decisions);
    return (struct verdict){ V_WAIT, 0, NULL };
}

/* ---- Answers ---- */

void sched_bound(struct sched *s, io_ticket ticket, const char *error)
{
    struct binding *b = find_ticket(s, ticket);
    if (!b)
        return;
    if (!error) {
        succeed(s, b);
        return;
    }
    if (b->extender && b->extender->ignorable) {
        bind(s, b); /* by the next one that can */
        return;
    }
    measure_bind(b, V_ERROR);
    tell_not_bound(s, b);
    struct failure f = error_of(b->extender ? arena_cstr(&b->arena, str_of(error))
                                            : arena_printf(&b->arena, "running Bind plugin \"%s\": %s",
                                                           b->binder->plugin->name, error));
    fail_binding(s, b, &f);
}

void sched_volumes_bound(struct sched *s, io_ticket ticket, const char *error)
{
    struct binding *b = find_ticket(s, ticket);
    if (!b)
        return;
    if (!error) {
        go_on(s, b);
        return;
    }
    const struct point_plugins *points = &b->cycle.profile->points[POINT_PRE_BIND];
    const struct plugin_instance *p = points->at[b->next_pre_bind - 1];
    measure_volume_error(s->metrics, "bind");
    fail_late(s, b, "PreBind", p, verdict_text(V_ERROR, arena_cstr(&b->arena, str_of(error))));
}

void sched_permit(struct sched *s, const char *uid, const struct plugin_instance *plugin, bool allow,
                  const char *reason)
{
    struct binding *b = bind_find(s, uid);
    if (!b || !(b->waits_for >> plugin->index & 1))
        return;
    if (!allow) {
        end_wait(s, b, plugin, reason);
        return;
    }
    b->waits_for &= ~(1ull << plugin->index);
    if (b->waits_for)
        return;
    s->n_waits--;
    measure_permit_wait(&b->measure, V_SUCCESS);
    go_on(s, b);
}

static const struct plugin_instance *overdue(const struct binding *b, int64_t now_ms)
{
    for (uint64_t left = b->waits_for; left; left &= left - 1) {
        int i = __builtin_ctzll(left);
        if (b->deadline_ms[i] <= now_ms)
            return &b->cycle.profile->instances[i];
    }
    return NULL;
}

static const char *timeout_words(struct binding *b, const struct plugin_instance *p)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&text, "rejected due to timeout after waiting ");
    duration_add(&text, sat_mul(b->timeout_ms[p->index], 1000000));
    strbuf_printf(&text, " at plugin %s", p->plugin->name);
    const char *words = arena_cstr(&b->arena, strbuf_str(&text));
    strbuf_fini(&text);
    return words;
}

void bind_check_timeouts(struct sched *s, int64_t now_ms)
{
    for (size_t i = 0; s->n_waits && i < s->bindings.n;) {
        struct binding *b = s->bindings.at[i];
        const struct plugin_instance *p = overdue(b, now_ms);
        if (!p) {
            i++;
            continue;
        }
        end_wait(s, b, p, timeout_words(b, p)); /* another binding takes its place */
    }
}

int64_t bind_due_ms(const struct sched *s)
{
    int64_t due_ms = INT64_MAX;
    for (size_t i = 0; s->n_waits && i < s->bindings.n; i++) {
        const struct binding *b = s->bindings.at[i];
        for (uint64_t left = b->waits_for; left; left &= left - 1) {
            int64_t deadline_ms = b->deadline_ms[__builtin_ctzll(left)];
            due_ms = deadline_ms < due_ms ? deadline_ms : due_ms;
        }
    }
    return due_ms;
}

/* A binding that is past its wait will fail by itself, one that succeeded was not shown by the watch yet: either way
 * the node is free from now on. */
static void forget_deleted(struct sched *s, const struct pod *assumed)
{
    struct err e;
    err_init(&e, &s->arena);
    enum err_code code = cache_forget(&s->cache, assumed, &e);
    assert(code == ERR_OK);
}

void bind_pod_deleted(struct sched *s, const struct pod *pod)
{
    const struct placed *placed = cache_find_pod(&s->cache, pod->meta.uid);
    struct binding *b = bind_find(s, pod->meta.uid);
    assert(placed && placed->assumed);
    const struct pod *assumed = pod_ref(placed->pod); /* which has the node */
    if (b && b->waits_for)
        end_wait(s, b, NULL, "removed");
    else
        forget_deleted(s, assumed);
    struct cluster_event gone = { RES_ASSIGNED_POD, ACT_DELETE, assumed, NULL, NULL };
    queue_move_all(s->queue, &gone, MOVE_ALL, sched_now_ms(s));
    pod_unref(s->syms, assumed);
}

bool bind_preempt(struct sched *s, const struct pod *victim, const struct pod *preemptor, const char *by)
{
    struct binding *b = bind_find(s, victim->meta.uid);
    if (!b || b->binds)
        return false;
    tell_sent_back(s, preemptor, victim, !b->waits_for);
    struct failure f = error_of("waiting on permit for pod: preempted");
    if (b->waits_for) {
        measure_permit_wait(&b->measure, V_ERROR);
    } else {
        measure_point(&b->measure, MEASURED_PRE_BIND, V_ERROR, 1);
        const struct plugin_instance *p = b->cycle.profile->points[POINT_PRE_BIND].at[b->next_pre_bind - 1];
        f = error_in(b, "PreBind", p, verdict_text(V_ERROR, arena_printf(&b->arena, "preempted by %s", by)));
    }
    fail_binding(s, b, &f);
    return true;
}

void bind_free_all(struct sched *s)
{
    while (s->bindings.n) {
        struct binding *b = s->bindings.at[s->bindings.n - 1];
        unreserve(b);
        queue_release(s->queue, b->queued);
        free_binding(s, b);
    }
    vec_fini(&s->bindings);
    map_u64_fini(&s->binding_of_ticket);
}
