/* daemon/outbox.c - see outbox.h. */
#include "daemon/outbox.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/engine.h"
#include "daemon/extender_calls.h"
#include "daemon/pod_writes.h"
#include "daemon/volume_waits.h"

struct outbox {
    struct outbox_options o;
    struct loop *loop;
    void (*take)(void *context, struct write *own_write);
    void *context;
    struct list waiting; /* for the next flush */
    uint32_t n_waiting;
    _Atomic uint32_t n_open;
    char host[256];
};

/* ---- Filling ---- */

static struct str text_of(struct outbox *b, struct arena *a, sym id)
{
    return arena_str(a, sym_text(engine_syms(b->o.engine), id));
}

static struct write *new_write(struct outbox *b, enum write_kind kind, const struct pod *pod, sym target)
{
    struct write *w = write_new(kind);
    w->uid = arena_str(&w->arena, str_of(pod->meta.uid));
    w->ns = text_of(b, &w->arena, pod->meta.ns);
    w->name = arena_str(&w->arena, str_of(pod->meta.name));
    w->target = text_of(b, &w->arena, target);
    return w;
}

static void add(struct outbox *b, struct write *w)
{
    if (w->kind != WRITE_EVENT)
        atomic_fetch_add(&b->n_open, 1);
    list_push(&b->waiting, &w->node);
    b->n_waiting++;
}

static int64_t now_s(const struct outbox *b)
{
    return clock_wall_ns(b->o.clock) / CLOCK_NS_PER_SECOND;
}

/* ---- io.h ---- */

static int64_t io_now_ms(void *context)
{
    const struct outbox *b = context;
    return engine_now_ms(b->o.engine);
}

static int64_t io_wall_s(void *context)
{
    return now_s(context);
}

static void io_bind(void *context, io_ticket ticket, const struct pod *pod, sym node)
{
    struct outbox *b = context;
    struct write *w = new_write(b, WRITE_BIND, pod, node);
    LOG(3, "Attempting to bind pod to node", KO("pod", w->ns, w->name), KS("node", w->target));
    w->ticket = ticket;
    w->requests[w->n_requests++] =
        pod_binding_request(&w->arena, engine_syms(b->o.engine), b->o.media, pod, node);
    add(b, w);
}

static void log_failure(const struct write *w, const struct status_change *change)
{
    if (change->failure != FAILURE_UNSCHEDULABLE)
        LOG_ERROR(change->message, "Error scheduling pod; retrying", KO("pod", w->ns, w->name));
    else if (strcmp(change->message, NO_NODES_AT_ALL) == 0)
        LOG(2, "Unable to schedule pod; no nodes are registered to the cluster; waiting", KO("pod", w->ns, w->name));
    else
        LOG(2, "Unable to schedule pod; no fit; waiting", KO("pod", w->ns, w->name), KS("err", change->message));
}

/* What is not set is not named. */
static void log_update(const struct outbox *b, const struct write *w, const struct status_change *change)
{
    const char *reason = change->failure == FAILURE_UNSCHEDULABLE ? "Unschedulable" : "SchedulerError";
    if (!LOG_ON(3))
        return;
    struct log_pair pairs[8] = { KO("pod", w->ns, w->name) };
    size_t n = 1;
    if (change->has_condition) {
        pairs[n++] = (struct log_pair)KS("conditionType", "PodScheduled");
        pairs[n++] = (struct log_pair)KS("conditionStatus", "False");
        pairs[n++] = (struct log_pair)KS("conditionReason", reason);
    }
    if (change->set_nomination) {
        pairs[n++] = (struct log_pair)KS("nominatedNodeName", sym_text(engine_syms(b->o.engine), change->nomination));
        pairs[n++] = (struct log_pair)KI("nominatingMode", 1); /* upstream's number for: instead of what there was */
    }
    log_info(LOG_SITE, 3, "Updating pod condition and nominated node name", pairs);
}

static void io_patch_status(void *context, const struct status_change *change)
{
    struct outbox *b = context;
    struct write *w = new_write(b, WRITE_STATUS, change->pod, SYM_EMPTY);
    if (change->has_condition)
        log_failure(w, change);
    log_update(b, w, change);
    if (!pod_status_request(&w->arena, engine_syms(b->o.engine), change, now_s(b), &w->requests[0])) {
        write_free(w);
        return;
    }
    w->n_requests = 1;
    add(b, w);
}

static void io_evict(void *context, io_ticket ticket, const struct pod *victim, const struct pod *preemptor)
{
    struct outbox *b = context;
    struct write *w = new_write(b, WRITE_EVICT, victim, victim->node_name);
    w->ticket = ticket;
    if (pod_disruption_request(&w->arena, engine_syms(b->o.engine), victim, preemptor, now_s(b), &w->requests[0]))
        w->n_requests = 1;
    w->requests[w->n_requests++] = pod_delete_request(&w->arena, engine_syms(b->o.engine), b->o.media, victim);
    add(b, w);
}

static void io_event(void *context, const struct event_note *note)
{
    struct outbox *b = context;
    const struct pod *pod = note->regarding;
    struct write *w = new_write(b, WRITE_EVENT, pod, pod->scheduler_name);
    struct arena *a = &w->arena;
    w->event = (struct event_to_record){
        .controller = w->target,
        .instance = str_of(arena_printf(a, "%.*s-%s", STR_ARG(w->target), b->host)),
        .type = note->warning ? STR("Warning") : STR("Normal"),
        .reason = arena_str(a, str_of(note->reason)),
        .action = arena_str(a, str_of(note->action)),
        .note = arena_str(a, str_of(note->note)),
        .regarding = { STR("Pod"), w->ns, w->name, w->uid, STR("v1"),
                       arena_str(a, str_of(pod->meta.resource_version)) },
    };
    add(b, w);
}

/* Claims that only have to become bound need no write. */
static void io_bind_volumes(void *context, io_ticket ticket, const struct pod *pod, sym node,
                            const struct volume_decisions *decisions)
{
    struct outbox *b = context;
    struct volume_job *job = volume_job_new(engine_syms(b->o.engine), pod, node, decisions);
    if (job->n_bindings == 0 && job->n_provisions == 0) {
        volume_waits_add(engine_volume_waits(b->o.engine), ticket, job, engine_now_ms(b->o.engine));
        return;
    }
    struct write *w = new_write(b, WRITE_VOLUMES, pod, node);
    w->ticket = ticket;
    w->job = job;
    add(b, w);
}

static void io_call_extender(void *context, const struct extender_request *requests, uint32_t n,
                             struct extender_answer *ret_answers)
{
    struct outbox *b = context;
    outbox_flush(b); /* the answer may take its time */
    extender_calls_ask(b->o.extenders, requests, n, ret_answers);
}

struct sched_io outbox_io(struct outbox *b)
{
    return (struct sched_io){
        .context = b,
        .now_ms = io_now_ms,
        .wall_s = io_wall_s,
        .bind = io_bind,
        .patch_status = io_patch_status,
        .evict = io_evict,
        .event = io_event,
        .bind_volumes = io_bind_volumes,
        .call_extender = io_call_extender,
    };
}

/* ---- To the loop ---- */

struct write_mail {
    struct loop_mail mail;
    struct list writes;
    void (*take)(void *context, struct write *own_write);
    void *context;
};

static void run_writes(struct loop_mail *own_mail)
{
    struct write_mail *m = MAIL_ITEM(own_mail, struct write_mail, mail.mail);
    while (!list_is_empty(&m->writes)) {
        struct write *w = LIST_ITEM(list_first(&m->writes), struct write, node);
        list_remove(&w->node);
        m->take(m->context, w);
    }
    free(m);
}

static void move_all(struct list *to, struct list *from)
{
    while (!list_is_empty(from)) {
        struct list_node *n = list_first(from);
        list_remove(n);
        list_push(to, n);
    }
}

void outbox_flush(struct outbox *b)
{
    if (b->n_waiting == 0 || !b->take)
        return;
    struct write_mail *m = mem_zalloc(sizeof(*m));
    *m = (struct write_mail){ .mail.run = run_writes, .take = b->take, .context = b->context };
    list_init(&m->writes);
    move_all(&m->writes, &b->waiting);
    if (loop_post(b->loop, &m->mail)) {
        b->n_waiting = 0;
    } else { /* the loop is behind: they stay for the next time */
        move_all(&b->waiting, &m->writes);
        free(m);
    }
}

bool outbox_is_full(const struct outbox *b)
{
    return atomic_load_explicit(&b->n_open, memory_order_relaxed) >= OUTBOX_WRITES_MAX;
}

/* ---- And back ---- */

struct answer_mail {
    struct engine_mail mail;
    enum write_kind kind;
    io_ticket ticket;
    bool failed;
    char error[];
};

static void run_answer(struct engine_mail *own_mail, struct engine *e)
{
    struct answer_mail *m = MAIL_ITEM(own_mail, struct answer_mail, mail.mail);
    struct sched *s = engine_sched(e);
    struct recorder *r = engine_recorder(e);
    const char *error = m->failed ? m->error : NULL;
    if (m->kind == WRITE_BIND) {
        record_bound(r, m->ticket, error);
        sched_bound(s, m->ticket, error);
    } else if (m->kind == WRITE_EVICT) {
        record_victim_done(r, m->ticket, error);
        sched_victim_done(s, m->ticket, error);
    } else if (m->kind == WRITE_VOLUMES) {
        record_volumes_bound(r, m->ticket, error);
        sched_volumes_bound(s, m->ticket, error);
    }
    free(m);
}

void outbox_answer(struct engine *e, enum write_kind kind, io_ticket ticket, const char *error)
{
    struct str text = str_of(error);
    struct answer_mail *m = mem_zalloc(sizeof(*m) + text.n + 1);
    m->mail.run = run_answer;
    m->kind = kind;
    m->ticket = ticket;
    m->failed = error != NULL;
    if (text.n)
        memcpy(m->error, text.p, text.n);
    engine_post(e, &m->mail);
}

struct written_mail {
    struct engine_mail mail;
    io_ticket ticket;
    struct volume_job *job;
};

static void run_written(struct engine_mail *own_mail, struct engine *e)
{
    struct written_mail *m = MAIL_ITEM(own_mail, struct written_mail, mail.mail);
    volume_waits_add(engine_volume_waits(e), m->ticket, m->job, engine_now_ms(e));
    free(m);
}

void outbox_volumes_written(struct engine *e, io_ticket ticket, struct volume_job *own_job)
{
    struct written_mail *m = mem_zalloc(sizeof(*m));
    *m = (struct written_mail){ .mail.run = run_written, .ticket = ticket, .job = own_job };
    engine_post(e, &m->mail);
}

void outbox_closed(struct engine *e)
{
    struct outbox *b = engine_outbox(e);
    if (atomic_fetch_sub(&b->n_open, 1) == OUTBOX_WRITES_MAX / 2)
        engine_wake(e);
}

/* ---- The whole ---- */

struct outbox *outbox_new(const struct outbox_options *o)
{
    struct outbox *b = mem_zalloc(sizeof(*b));
    b->o = *o;
    list_init(&b->waiting);
    if (gethostname(b->host, sizeof(b->host) - 1))
        b->host[0] = '\0';
    return b;
}

void outbox_connect(struct outbox *b, struct loop *loop, void (*take)(void *context, struct write *own_write),
                    void *context)
{
    b->loop = loop;
    b->take = take;
    b->context = context;
}

void outbox_free(struct outbox *b)
{
    if (!b)
        return;
    while (!list_is_empty(&b->waiting)) {
        struct write *w = LIST_ITEM(list_first(&b->waiting), struct write, node);
        list_remove(&w->node);
        write_free(w);
    }
    free(b);
}
