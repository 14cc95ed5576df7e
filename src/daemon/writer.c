/* daemon/writer.c - see writer.h.
 *
 * A pod with open writes has a line; the first in it is under way, the others wait. */
#include "daemon/writer.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/map.h"
#include "base/rand.h"
#include "daemon/outbox.h"
#include "daemon/pod_writes.h"

struct line {
    struct writer *writer;
    struct list writes;
    api_call call;           /* 0: none under way */
    struct loop_timer pause; /* before the next try */
    char uid[];
};

struct writer {
    struct writer_options o;
    struct map_str lines; /* uid -> struct line */
    struct rand rand;
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

static void log_end(const struct write *w, const char *error)
{
    static const char *const failed[] = {
        [WRITE_BIND] = "Failed to bind pod",
        [WRITE_STATUS] = "Error updating pod",
        [WRITE_EVICT] = "Failed to preempt pod",
        [WRITE_VOLUMES] = "Failed to bind volumes",
    };
    if (error)
        LOG_ERROR(error, failed[w->kind], KO("pod", w->ns, w->name));
    else if (w->kind == WRITE_BIND)
        LOG(2, "Successfully bound pod to node", KO("pod", w->ns, w->name), KS("node", w->target));
    else if (w->kind == WRITE_EVICT)
        LOG(2, "Preemptor Pod preempted victim Pod", KO("victim", w->ns, w->name), KS("node", w->target));
}

/* The first of the line is over; NULL: it worked. */
static void finish(struct line *l, const char *error)
{
    struct writer *w = l->writer;
    struct write *done = first(l);
    log_end(done, error);
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

static bool may_act(const struct writer *w)
{
    return !w->o.may_act || w->o.may_act(w->o.context);
}

/* Begins what the first of the line needs next. */
static void go_on(struct line *l)
{
    struct writer *w = l->writer;
    struct write *next = first(l);
    if (next->at == next->n_requests) {
        finish(l, NULL);
        return;
    }
    if (!may_act(w)) {
        finish(l, "this process may not lead any more");
        return;
    }
    l->call = w->o.api->send(w->o.api->context, &next->requests[next->at], on_answer, l);
}

/* ---- The whole ---- */

struct writer *writer_new(const struct writer_options *o)
{
    struct writer *w = mem_zalloc(sizeof(*w));
    w->o = *o;
    map_str_init(&w->lines);
    rand_init(&w->rand, o->seed);
    return w;
}

static void drop_line(struct line *l)
{
    const struct api *api = l->writer->o.api;
    if (l->call)
        api->cancel(api->context, l->call);
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
