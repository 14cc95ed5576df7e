/* controllers/job_turn.c - one Job is worked on: claims, then what job_sync.h decides, in its order.
 *
 *   claim pods (and begin again)  ->  make or delete pods  ->  write status  ->  take finalizers off  ->  write status */
#include <stdlib.h>

#include "apiserver/subresource.h"
#include "controllers/job_priv.h"

struct job_turn {
    struct job_controller *controller;
    struct arena arena;
    struct str key;
    struct value job; /* as it is stored; after a write the newer one */
    struct object_reference owner;
    struct job_sync sync;
    struct job_outcome outcome;
    struct slow_start creations;
    bool *released;
    size_t n_out; /* calls, and one for whoever begins them */
    void (*next)(struct job_turn *t);
    bool failed;
};

/* One of several calls at once. */
struct job_call {
    struct job_turn *turn;
    size_t i;
};

static const struct type *jobs(void)
{
    return schema_type(STR("batch/v1.Job"));
}

static const struct resource *job_resource(void)
{
    return stored_resource("jobs", "batch");
}

/* ---- Steps ---- */

static void end_turn(struct job_turn *t)
{
    struct job_controller *c = t->controller;
    if (!t->failed && t->sync.look_again_ms > 0)
        work_queue_add_after(c->queue, t->key, t->sync.look_again_ms);
    work_queue_done(c->queue, t->key, t->failed ? WORK_RETRY : WORK_FORGET);
    arena_fini(&t->arena);
    free(t);
}

static void begin_step(struct job_turn *t, void (*next)(struct job_turn *t))
{
    t->n_out = 1;
    t->next = next;
}

static void call_ended(struct job_turn *t)
{
    if (--t->n_out == 0)
        t->next(t);
}

static struct job_call *call_of(struct job_turn *t, size_t i)
{
    struct job_call *call = ARENA_NEW(&t->arena, struct job_call);
    *call = (struct job_call){ t, i };
    t->n_out++;
    return call;
}

/* ---- Status ---- */

static void status_written(void *context, const struct cluster_outcome *o)
{
    struct job_turn *t = context;
    if (o->code) {
        t->failed = true;
        end_turn(t);
        return;
    }
    if (o->item)
        t->job = value_copy(&t->arena, stored_value(cluster_objects(t->controller->cluster), job_resource(), o->item));
    t->next(t);
}

static void write_status(struct job_turn *t, void (*next)(struct job_turn *t))
{
    t->next = next;
    if (!t->sync.writes_status) {
        next(t);
        return;
    }
    struct value v = job_status_write(&t->arena, &t->job, &t->sync.job.status);
    cluster_begin(t->controller->cluster,
                  &(struct cluster_call){ .verb = CLUSTER_UPDATE, .controller = t->controller->control.controller,
                                          .resource = job_resource(), .subresource = "status", .namespace = t->owner.ns,
                                          .name = t->owner.name, .object = &v, .answered = status_written, .context = t });
}

static void tell_events(struct job_turn *t)
{
    struct job_controller *c = t->controller;
    for (size_t i = 0; i < t->sync.n_events; i++) {
        const struct job_event *ev = &t->sync.events[i];
        events_record(c->control.events, c->control.controller, &t->owner, ev->warning ? "Warning" : "Normal", ev->reason,
                      "%s", ev->message);
    }
    t->sync.n_events = 0;
}

static void settled(struct job_turn *t)
{
    tell_events(t);
    end_turn(t);
}

/* ---- Finalizers ---- */

static void finalizers_gone(struct job_turn *t)
{
    job_sync_settle(&t->sync, t->released);
    write_status(t, settled);
}

static void finalizer_gone(void *context, enum err_code code, const char *message)
{
    struct job_call *call = context;
    (void)message;
    bool fine = !code || code == ERR_NOT_FOUND;
    call->turn->released[call->i] = fine;
    call->turn->failed |= !fine;
    call_ended(call->turn);
}

/* What has ended is written down now: it will be counted even if we end here. */
static void accounted(struct job_turn *t)
{
    struct job_sync *s = &t->sync;
    tell_events(t);
    job_backoff_set(t->controller, t->key, s->backoff);
    t->released = ARENA_NEW_N(&t->arena, bool, s->n_releases);
    begin_step(t, finalizers_gone);
    for (size_t i = 0; i < s->n_releases; i++)
        job_release_pod(t->controller, t->owner.ns, s->releases[i]->name, finalizer_gone, call_of(t, i));
    call_ended(t);
}

static void account(struct job_turn *t)
{
    job_sync_account(&t->sync, &t->outcome);
    write_status(t, accounted);
}

/* ---- Pods that are deleted ---- */

static void pod_deleted(struct job_call *call, bool fine)
{
    struct job_turn *t = call->turn;
    if (!fine) {
        t->failed = true;
        t->outcome.n_not_deleted++;
        t->outcome.n_ready_not_deleted += t->sync.deletions[call->i]->ready;
    }
    call_ended(t);
}

static void delete_answered(void *context, const struct pod_outcome *o)
{
    pod_deleted(context, !o->code || o->code == ERR_NOT_FOUND);
}

static void delete_pod(struct job_call *call)
{
    struct job_turn *t = call->turn;
    const struct job_pod *p = t->sync.deletions[call->i];
    pod_control_delete(&t->controller->control, &t->owner, p->name, p->uid, delete_answered, call);
}

static void delete_released(void *context, enum err_code code, const char *message)
{
    (void)message;
    if (code)
        pod_deleted(context, code == ERR_NOT_FOUND);
    else
        delete_pod(context);
}

static void delete_pods(struct job_turn *t)
{
    struct job_sync *s = &t->sync;
    begin_step(t, account);
    for (size_t i = 0; i < s->n_deletions; i++) {
        struct job_call *call = call_of(t, i);
        if (s->deletions_keep_finalizers || !s->deletions[i]->tracked)
            delete_pod(call);
        else
            job_release_pod(t->controller, t->owner.ns, s->deletions[i]->name, delete_released, call);
    }
    call_ended(t);
}

/* ---- Pods that are made ---- */

static void create_answered(void *context, const struct pod_outcome *o)
{
    struct job_turn *t = context;
    if (o->code)
        expectations_creation_observed(t->controller->created, t->key);
    t->failed |= o->code && !o->namespace_ends;
    slow_start_ended(&t->creations, !o->code);
}

static void create_pod(struct slow_start *s, uint32_t i)
{
    struct job_turn *t = LIST_ITEM(s, struct job_turn, creations);
    struct arena_mark mark = arena_save(&t->arena);
    struct value pod = job_make_pod(&t->arena, &t->job, &t->owner, &t->sync, &t->sync.creations[i]);
    pod_control_create(&t->controller->control, &t->owner, &pod, create_answered, t);
    arena_rewind(&t->arena, mark);
}

static void all_created(struct slow_start *s)
{
    struct job_turn *t = LIST_ITEM(s, struct job_turn, creations);
    for (uint32_t i = s->n_begun; i < s->n; i++) /* never tried */
        expectations_creation_observed(t->controller->created, t->key);
    t->outcome.n_not_created = s->n - s->n_fine;
    account(t);
}

static void change_pods(struct job_turn *t)
{
    struct job_controller *c = t->controller;
    t->sync.now_ms = job_now_ms(c);
    t->sync.backoff = job_backoff_get(c, t->key);
    job_sync_plan(&t->sync);
    if (t->sync.n_creations == 0) {
        delete_pods(t);
        return;
    }
    expectations_expect_creations(c->created, t->key, (uint32_t)t->sync.n_creations, job_now_ms(c));
    t->creations = (struct slow_start){ .n = (uint32_t)t->sync.n_creations, .begin = create_pod, .done = all_created };
    slow_start_run(&t->creations);
}

/* ---- Claims ---- */

static void claimed(void *context, const struct pod_outcome *o)
{
    struct job_turn *t = context;
    t->failed |= o->code && o->code != ERR_NOT_FOUND;
    call_ended(t);
}

/* What was claimed comes back as a change; the Job is looked at again then. */
static void claims_ended(struct job_turn *t)
{
    t->sync.look_again_ms = JOB_NONE;
    work_queue_add(t->controller->queue, t->key);
    end_turn(t);
}

static void begin_claim(struct job_turn *t, const struct pod_facts *p, enum claim_decision decision)
{
    static const struct str finalizers[] = { { JOB_TRACKING_FINALIZER, sizeof(JOB_TRACKING_FINALIZER) - 1 } };
    static const struct strs list = { finalizers, 1 };
    struct claim claim = { stored_resource("pods", ""), p->name, p->uid, &list };
    t->n_out++;
    if (decision == CLAIM_ADOPT)
        pod_control_adopt(&t->controller->control, &t->owner, &claim, claimed, t);
    else
        pod_control_release(&t->controller->control, &t->owner, &claim, claimed, t);
}

static void add_pod(struct job_turn *t, const struct pod_facts *p)
{
    struct stored *objects = cluster_objects(t->controller->cluster);
    const struct value *v = stored_get(objects, stored_resource("pods", ""), p->namespace, p->name);
    if (!v)
        return; /* gone meanwhile */
    struct job_pod pod = job_pod_read(&t->arena, v, &t->sync.job.failure_policy);
    if (str_eq(pod.uid, p->uid))
        t->sync.pods[t->sync.n_pods++] = pod;
}

static void look_at_pods(struct job_turn *t, const struct selector *selector, pod_list pods, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct pod_facts *p = pods[i];
        enum claim_decision d = claim_decide(t->owner.uid, t->sync.job.deleted, p->owner_uid, p->deleted_s,
                                             selector_matches(selector, p->labels));
        if (d == CLAIM_OWNED)
            add_pod(t, p);
        else if (d != CLAIM_IGNORE)
            begin_claim(t, p, d);
    }
}

static bool find_pods(struct job_turn *t)
{
    struct job_controller *c = t->controller;
    struct selector selector;
    struct err e;
    err_init(&e, &t->arena);
    if (selector_of_value(&t->arena, schema_type(STR("meta/v1.LabelSelector")), value_path(jobs(), &t->job, "spec.selector"),
                          &selector, &e))
        return false;
    pod_list own, orphans;
    size_t n_own = pod_index_of_owner(c->pods, t->owner.uid, &t->arena, &own);
    size_t n_orphans = pod_index_orphans(c->pods, t->owner.ns, &t->arena, &orphans);
    t->sync.pods = ARENA_NEW_N(&t->arena, struct job_pod, n_own);
    begin_step(t, claims_ended);
    look_at_pods(t, &selector, own, n_own);
    look_at_pods(t, &selector, orphans, n_orphans);
    return true;
}

/* ---- The turn ---- */

static bool needs_turn(struct job_controller *c, struct str key, const struct value *job)
{
    if (!job || job_end(job)) {
        job_backoff_set(c, key, (struct job_backoff){ 0 });
        expectations_forget(c->created, key);
        return false;
    }
    /* Pods that were ordered and not seen yet would be ordered twice; they come as changes. */
    return !job_is_managed_by_other(job) && expectations_satisfied(c->created, key, job_now_ms(c));
}

void job_turn_begin(struct job_controller *c, struct str key)
{
    size_t slash = str_index(key, '/');
    const struct value *job = stored_get(cluster_objects(c->cluster), job_resource(), str_first(key, slash),
                                         str_from(key, slash + 1));
    if (!needs_turn(c, key, job)) {
        work_queue_done(c->queue, key, WORK_FORGET);
        return;
    }
    struct job_turn *t = mem_zalloc(sizeof(*t));
    arena_init(&t->arena);
    t->controller = c;
    t->key = arena_str(&t->arena, key);
    t->job = value_copy(&t->arena, job);
    t->owner = event_reference(job_resource(), &t->job);
    t->sync = (struct job_sync){ .arena = &t->arena, .job = job_facts_read(&t->arena, &t->job) };
    t->sync.look_again_ms = JOB_NONE;
    if (!find_pods(t)) {
        end_turn(t);
        return;
    }
    if (t->n_out == 1) /* no claims */
        change_pods(t);
    else
        call_ended(t);
}
