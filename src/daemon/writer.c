/* daemon/writer.c - see writer.h.
 *
 * A pod with open writes has a line; the first in it is under way, the others wait. */
#include "daemon/writer.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/map.h"
#include "base/rand.h"
#include "client/bind_call.h"
#include "daemon/outbox.h"
#include "daemon/pod_writes.h"
#include "daemon/volume_writes.h"

struct line {
    struct writer *writer;
    struct list writes;
    api_call call;           /* 0: none under way */
    struct volume_writes *volumes; /* NULL: none under way */
    struct loop_timer pause; /* before the next try */
    char uid[];
};

struct writer {
    struct writer_options o;
    struct map_str lines; /* uid -> struct line */
    struct rand rand;
    struct bind_calls *binds;
    uint32_t n_open;
};

static void go_on(struct line *l);

/* ---- Lines ---- */

static struct write *first(const struct line *l)
{
    return LIST_ITEM(list_first(&l->writes), struct write, node);
}

static void pause_over(struct loop_timer *t)
{
    go_on(LIST_ITEM(t, struct line, pause));
}

static struct line *line_of(struct writer *w, struct str uid)
{
    union map_value *found = map_str_find(&w->lines, uid);
    if (found)
        return found->ptr;
    struct line *l = mem_zalloc(sizeof(*l) + uid.n + 1);
    l->writer = w;
    l->pause.fire = pause_over;
    list_init(&l->writes);
    memcpy(l->uid, uid.p, uid.n);
    map_str_put(&w->lines, str_of(l->uid), NULL)->ptr = l;
    return l;
}

static void line_free(struct line *l)
{
    struct writer *w = l->writer;
    map_str_remove(&w->lines, str_of(l->uid), NULL);
    loop_timer_stop(w->o.loop, &l->pause);
    free(l);
}

/* ---- The end of a write ---- */

/* Of bindings and evictions the scheduling thread tells, when it gets the answer. */
static void log_failure(const struct write *w, const char *error)
{
    static const char *const failed[WRITE_EVENT + 1] = {
        [WRITE_STATUS] = "Error updating pod",
        [WRITE_VOLUMES] = "Failed to bind volumes",
    };
    if (error && failed[w->kind])
        LOG_ERROR(error, failed[w->kind], KO("pod", w->ns, w->name));
}

/* The first of the line is over; NULL: it worked. */
static void finish(struct line *l, const char *error)
{
    struct writer *w = l->writer;
    struct write *done = first(l);
    log_failure(done, error);
    if (done->ticket)
        outbox_answer(w->o.engine, done->kind, done->ticket, error);
    list_remove(&done->node);
    write_free(done);
    w->n_open--;
    outbox_closed(w->o.engine);
    if (list_is_empty(&l->writes))
        line_free(l);
    else
        go_on(l);
}

/* ---- Requests ---- */

static bool is_gone(const struct write *w, const struct api_answer *answer)
{
    return w->kind == WRITE_EVICT && answer->status == 404;
}

static bool is_patch(const struct write *w)
{
    return strcmp(w->requests[w->at].method, "PATCH") == 0;
}

static void on_answer(void *context, const struct api_answer *answer)
{
    struct line *l = context;
    struct write *w = first(l);
    l->call = 0;
    w->n_tries++;
    int64_t wait_ms = is_patch(w) ? pod_patch_wait_ms(answer, w->n_tries, rand_double(&l->writer->rand)) : -1;
    if (wait_ms >= 0) {
        loop_timer_set(l->writer->o.loop, &l->pause, loop_now_ms(l->writer->o.loop) + wait_ms);
    } else if (is_gone(w, answer)) {
        finish(l, NULL);
    } else if (!api_ok(answer)) {
        finish(l, api_problem(&w->arena, answer));
    } else {
        w->at++;
        w->n_tries = 0;
        go_on(l);
    }
}

static void on_bound(void *context, const struct bind_result *result)
{
    struct line *l = context;
    finish(l, result->bound ? NULL : result->error);
}

/* "/api/v1/namespaces/a/pods/b" of its binding. */
static struct str pod_of_binding(struct str target)
{
    struct str below = STR("/binding");
    assert(str_ends(target, below));
    return (struct str){ target.p, target.n - below.n };
}

static void begin_binding(struct line *l, const struct write *w)
{
    const struct api_request *r = &w->requests[0];
    struct bind_request request = { r->target, r->body, r->media_type, pod_of_binding(r->target), w->uid, w->target };
    if (!bind_calls_start(l->writer->binds, &request, on_bound, l))
        finish(l, "too many bindings are under way");
}

static void on_volumes(void *context, struct volume_job *own_job, const char *error)
{
    struct line *l = context;
    l->volumes = NULL;
    if (error) {
        volume_job_free(own_job);
        finish(l, error);
        return;
    }
    struct write *w = first(l);
    outbox_volumes_written(l->writer->o.engine, w->ticket, own_job);
    w->ticket = 0; /* the answer comes when they are bound */
    finish(l, NULL);
}

static void begin_volumes(struct line *l, struct write *w)
{
    struct volume_job *job = w->job;
    w->job = NULL;
    l->volumes = volume_writes_start(l->writer->o.api, job, on_volumes, l);
}

static bool may_act(const struct writer *w)
{
    return !w->o.may_act || w->o.may_act(w->o.context);
}

/* Begins what the first of the line needs next. */
static void go_on(struct line *l)
{
    struct writer *w = l->writer;
    struct write *next = first(l);
    if (next->kind != WRITE_VOLUMES && next->at == next->n_requests)
        finish(l, NULL);
    else if (!may_act(w))
        finish(l, "this process may not lead any more");
    else if (next->kind == WRITE_BIND)
        begin_binding(l, next);
    else if (next->kind == WRITE_VOLUMES)
        begin_volumes(l, next);
    else
        l->call = w->o.api->send(w->o.api->context, &next->requests[next->at], on_answer, l);
}

/* ---- The whole ---- */

struct writer *writer_new(const struct writer_options *o)
{
    struct writer *w = mem_zalloc(sizeof(*w));
    w->o = *o;
    map_str_init(&w->lines);
    rand_init(&w->rand, o->seed);
    w->binds = bind_calls_new(o->api, loop_clock(o->loop), o->seed);
    return w;
}

static void drop_line(struct line *l)
{
    const struct api *api = l->writer->o.api;
    if (l->call)
        api->cancel(api->context, l->call);
    if (l->volumes)
        volume_writes_cancel(l->volumes);
    while (!list_is_empty(&l->writes)) {
        struct write *w = first(l);
        list_remove(&w->node);
        write_free(w);
    }
    line_free(l);
}

void writer_free(struct writer *w)
{
    if (!w)
        return;
    bind_calls_free(w->binds);
    for (struct map_str_slot *s = map_str_next(&w->lines, NULL); s; s = map_str_next(&w->lines, NULL))
        drop_line(s->value.ptr);
    map_str_fini(&w->lines);
    free(w);
}

void writer_add(struct writer *w, struct write *own_write)
{
    if (own_write->kind == WRITE_EVENT) {
        event_recorder_add(w->o.events, &own_write->event);
        write_free(own_write);
        return;
    }
    struct line *l = line_of(w, own_write->uid);
    bool is_first = list_is_empty(&l->writes);
    list_push(&l->writes, &own_write->node);
    w->n_open++;
    if (is_first)
        go_on(l);
}

uint32_t writer_n_open(const struct writer *w)
{
    return w->n_open;
}

void writer_tick(struct writer *w)
{
    if (bind_calls_due_ms(w->binds) <= loop_now_ms(w->o.loop))
        bind_calls_tick(w->binds);
}

uint64_t writer_n_settled(const struct writer *w)
{
    return bind_calls_read(w->binds);
}
