/* sched/bind.c - a chapter of sched.h: from a decision to a pod on its node. Reserve, Permit, PreBind, Bind,
 * PostBind.
 *
 * The pod counts on its node at once (assumed). What takes time comes back later: a permit, volumes,
 * the API server's answer. Whatever fails undoes Reserve in reverse order, takes the pod off the node
 * and sends it back to the queue. */
#include "base/mem.h"
#include "sched/attempt.h"
#include "sched/extender.h"
#include "sched/queue.h"
#include "sched/sched.h"
#include "sched/sched_priv.h"

enum { PERMIT_MS_MAX = 15 * 60 * 1000 };

static void go_on(struct sched *s, struct binding *b);

/* ---- Bindings ---- */

static struct binding *new_binding(struct sched *s, struct attempt *a, struct queued_pod *qp)
{
    struct binding *b = mem_zalloc(sizeof(*b));
    b->ticket = ++s->last_ticket;
    b->queued = qp;
    b->node = a->node;
    b->pod = pod_with_node(s->syms, qp->pod, s->cache.rows.at[a->node].name);
    arena_init(&b->arena);
    b->cycle = a->cycle;
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

/* ---- Failure ---- */

static void unreserve(struct binding *b)
{
    const struct point_plugins *points = &b->cycle.profile->points[POINT_RESERVE];
    for (uint8_t i = points->n; i-- > 0;)
        if (points->at[i]->plugin->unreserve)
            points->at[i]->plugin->unreserve(points->at[i], &b->cycle, b->node);
}

/* `rejector` is the plugin that said no; NULL: an error, or a refusal that no event can undo. */
static void fail_binding(struct sched *s, struct binding *b, enum failure_kind kind, const char *message,
                         const struct plugin_instance *rejector)
{
    unreserve(b);
    struct err e;
    err_init(&e, &b->arena);
    /* When the watch has shown it on a node meanwhile, the cache refuses and it stays there. */
    enum err_code refused = cache_forget(&s->cache, b->pod, &e);
    (void)refused;
    int64_t now_ms = s->io.now_ms(s->io.context);
    struct failure f = { .kind = kind,
                         .message = message,
                         .rejectors = rejector ? 1ull << rejector->index : 0,
                         .nominate = SYM_EMPTY };
    *(kind == FAILURE_UNSCHEDULABLE ? &s->n_unschedulable : &s->n_errors) += 1;
    sched_note_decision(s, b->pod, str_of(message));
    struct cluster_event freed = { RES_ASSIGNED_POD, ACT_DELETE, b->pod, NULL, NULL };
    if (kind == FAILURE_SCHEDULER_ERROR)
        queue_move_all(s->queue, &freed, MOVE_ALL, now_ms);
    failure_handle(s, b->queued, &f, now_ms);
    if (kind == FAILURE_UNSCHEDULABLE)
        queue_move_all(s->queue, &freed, move_all_but(b->pod->meta.uid), now_ms);
    free_binding(s, b);
}

static void fail_in(struct sched *s, struct binding *b, const char *point, const struct plugin_instance *p,
                    struct verdict v)
{
    const char *text = v.text ? v.text : "";
    if (verdict_rejects(v))
        fail_binding(s, b, FAILURE_UNSCHEDULABLE, arena_printf(&b->arena, "0/1 nodes are available: 1 %s.", text), p);
    else
        fail_binding(s, b, FAILURE_SCHEDULER_ERROR,
                     arena_printf(&b->arena, "running %s plugin \"%s\": %s", point, p->plugin->name, text), NULL);
}

/* ---- The steps ---- */

static bool reserve(struct sched *s, struct binding *b)
{
    const struct point_plugins *points = &b->cycle.profile->points[POINT_RESERVE];
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin_instance *p = points->at[i];
        struct verdict v = p->plugin->reserve(p, &b->cycle, b->node);
        if (v.code != V_SUCCESS) {
            fail_in(s, b, "Reserve", p, v);
            return false;
        }
    }
    return true;
}

static bool permit(struct sched *s, struct binding *b)
{
    const struct point_plugins *points = &b->cycle.profile->points[POINT_PERMIT];
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin_instance *p = points->at[i];
        int64_t timeout_ms = 0;
        struct verdict v = p->plugin->permit(p, &b->cycle, b->node, &timeout_ms);
        if (v.code == V_WAIT) {
            timeout_ms = timeout_ms > PERMIT_MS_MAX ? PERMIT_MS_MAX : timeout_ms;
            b->waits_for |= 1ull << p->index;
            b->timeout_ms[p->index] = timeout_ms;
            b->deadline_ms[p->index] = b->cycle.now_ms + timeout_ms;
        } else if (v.code != V_SUCCESS) {
            fail_in(s, b, "Permit", p, v);
            return false;
        }
    }
    return true;
}

/* Which plugins have something to do before the binding; a pod that will take its time says where it is
 * going. */
static bool pre_flight(struct sched *s, struct binding *b)
{
    const struct point_plugins *points = &b->cycle.profile->points[POINT_PRE_BIND];
    bool any = false;
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin_instance *p = points->at[i];
        struct verdict v =
            p->plugin->pre_bind_pre_flight ? p->plugin->pre_bind_pre_flight(p, &b->cycle, b->node) : PASS;
        if (v.code == V_SKIP) {
            b->skips_pre_bind |= 1ull << p->index;
        } else if (v.code == V_SUCCESS) {
            any = true;
        } else {
            fail_binding(s, b, FAILURE_SCHEDULER_ERROR,
                         arena_printf(&b->arena, "running PreBindPreFlight \"%s\": %s", p->plugin->name,
                                      v.text ? v.text : ""),
                         NULL);
            return false;
        }
    }
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
        fail_binding(s, b, FAILURE_SCHEDULER_ERROR, e.message, NULL);
        return;
    }
    nominator_remove(&s->nominator, qp->pod->meta.uid);
    sched_note_decision(s, b->pod, sym_text(s->syms, b->pod->node_name));
    if (!reserve(s, b) || !permit(s, b) || !pre_flight(s, b))
        return;
    if (!b->waits_for)
        go_on(s, b);
}

static void succeed(struct sched *s, struct binding *b)
{
    s->n_placed++;
    const char *note = arena_printf(&b->arena, "Successfully assigned %s/%s to %s",
                                    sym_text(s->syms, b->pod->meta.ns).p, b->pod->meta.name,
                                    sym_text(s->syms, b->pod->node_name).p);
    s->io.event(s->io.context, &(struct event_note){ b->pod, false, "Scheduled", "Binding", note });
    const struct point_plugins *points = &b->cycle.profile->points[POINT_POST_BIND];
    for (uint8_t i = 0; i < points->n; i++)
        points->at[i]->plugin->post_bind(points->at[i], &b->cycle, b->node);
    queue_release(s->queue, b->queued);
    free_binding(s, b);
}

/* Extenders that bind come first; then Bind plugins in order until one does not skip. */
static void bind(struct sched *s, struct binding *b)
{
    if (extenders_bind(s, b))
        return;
    const struct point_plugins *points = &b->cycle.profile->points[POINT_BIND];
    b->cycle.pod = b->pod;
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin_instance *p = points->at[i];
        b->binder = p;
        struct verdict v = p->plugin->bind(p, &b->cycle, b->node);
        if (v.code == V_SKIP)
            continue;
        if (v.code == V_SUCCESS)
            succeed(s, b);
        else if (v.code != V_WAIT)
            fail_in(s, b, "Bind", p, v);
        return;
    }
    fail_binding(s, b, FAILURE_SCHEDULER_ERROR, "no bind plugin took the pod", NULL);
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
        struct verdict v = p->plugin->pre_bind(p, &b->cycle, b->node);
        if (v.code == V_WAIT)
            return;
        if (v.code != V_SUCCESS) {
            fail_in(s, b, "PreBind", p, v);
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
    const char *message = b->extender ? arena_cstr(&b->arena, str_of(error))
                                      : arena_printf(&b->arena, "running Bind plugin \"%s\": %s",
                                                     b->binder->plugin->name, error);
    fail_binding(s, b, FAILURE_SCHEDULER_ERROR, message, NULL);
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
    fail_in(s, b, "PreBind", p, verdict_text(V_ERROR, arena_printf(&b->arena, "binding volumes: %s", error)));
}

void sched_permit(struct sched *s, const char *uid, const struct plugin_instance *plugin, bool allow,
                  const char *reason)
{
    struct binding *b = bind_find(s, uid);
    if (!b || !(b->waits_for >> plugin->index & 1))
        return;
    if (!allow) {
        fail_in(s, b, "Permit", plugin, verdict_text(V_UNSCHEDULABLE, reason));
        return;
    }
    b->waits_for &= ~(1ull << plugin->index);
    if (!b->waits_for)
        go_on(s, b);
}

static const struct plugin_instance *overdue(const struct binding *b, int64_t now_ms)
{
    for (uint8_t i = 0; i < b->cycle.profile->n_instances; i++)
        if (b->waits_for >> i & 1 && b->deadline_ms[i] <= now_ms)
            return &b->cycle.profile->instances[i];
    return NULL;
}

void bind_check_timeouts(struct sched *s, int64_t now_ms)
{
    for (size_t i = 0; i < s->bindings.n;) {
        struct binding *b = s->bindings.at[i];
        const struct plugin_instance *p = overdue(b, now_ms);
        if (!p) {
            i++;
            continue;
        }
        const char *text = arena_printf(&b->arena, "rejected due to timeout after waiting %llds at plugin %s",
                                        (long long)b->timeout_ms[p->index] / 1000, p->plugin->name);
        fail_in(s, b, "Permit", p, verdict_text(V_UNSCHEDULABLE, text)); /* another binding takes its place */
    }
}

int64_t bind_due_ms(const struct sched *s)
{
    int64_t due_ms = INT64_MAX;
    for (size_t i = 0; i < s->bindings.n; i++) {
        const struct binding *b = s->bindings.at[i];
        for (uint64_t left = b->waits_for; left; left &= left - 1) {
            int64_t deadline_ms = b->deadline_ms[__builtin_ctzll(left)];
            due_ms = deadline_ms < due_ms ? deadline_ms : due_ms;
        }
    }
    return due_ms;
}

void bind_pod_deleted(struct sched *s, const struct pod *pod)
{
    struct binding *b = bind_find(s, pod->meta.uid);
    if (b && b->waits_for) {
        fail_binding(s, b, FAILURE_UNSCHEDULABLE, "0/1 nodes are available: 1 removed.", NULL);
        return;
    }
    /* A binding that is under way will fail by itself, one that succeeded was not shown by the watch
     * yet: either way the node is free from now on. */
    const struct placed *p = cache_find_pod(&s->cache, pod->meta.uid);
    struct err e;
    err_init(&e, &s->arena);
    if (p && cache_forget(&s->cache, p->pod, &e))
        return;
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
