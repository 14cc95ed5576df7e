/* http/proto.c - see proto.h. */
#include "http/proto.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "http/stream_priv.h"

void proto_init(struct proto *p, const struct proto_ops *ops, bool is_server, const struct proto_host *host,
                void *host_data,
                const struct http_limits *limits)
{
    *p = (struct proto){ .ops = ops, .host = host, .host_data = host_data, .limits = limits, .is_server = is_server };
    list_init(&p->streams);
    list_init(&p->blocked);
    list_init(&p->finished);
    list_init(&p->spare);
}

static void free_list(struct list *l)
{
    for (struct list_node *n; (n = list_first(l));) {
        struct stream *s = LIST_ITEM(n, struct stream, node);
        list_remove(n);
        if (list_has(&s->blocked_node))
            list_remove(&s->blocked_node);
        stream_free(s);
    }
}

void proto_fini(struct proto *p)
{
    free_list(&p->streams);
    free_list(&p->finished);
    free_list(&p->spare);
}

void proto_fail(struct proto *p, const char *format, ...)
{
    if (!p->error[0]) {
        va_list args;
        va_start(args, format);
        vsnprintf(p->error, sizeof(p->error), format, args);
        va_end(args);
    }
}

void proto_lose(struct proto *p, enum stream_status status, const char *message)
{
    p->lost = true;
    proto_fail(p, "%s", message);
    for (struct list_node *n; (n = list_first(&p->streams));)
        stream_close(LIST_ITEM(n, struct stream, node), status, "%s", p->error);
}

enum { SPARES_MAX = 16 };

static void retire(struct proto *p, struct stream *s)
{
    if (!p->is_server || p->n_spare >= SPARES_MAX || p->lost) {
        stream_free(s);
        return;
    }
    stream_reset(s);
    list_push(&p->spare, &s->node);
    p->n_spare++;
}

struct stream *proto_new_stream(struct proto *p)
{
    struct list_node *n = list_first(&p->spare);
    if (!n)
        return stream_new(sizeof(struct stream));
    list_remove(n);
    p->n_spare--;
    return LIST_ITEM(n, struct stream, node);
}

static void finish(struct proto *p, struct stream *s)
{
    list_remove(&s->node);
    if (p->host->reclaim && !s->detached && p->host->reclaim(p, s, &s->result))
        return;
    const struct stream_events *to = s->filter ? s->filter : s->events;
    if (!s->detached && to->closed)
        to->closed(s, &s->result);
    retire(p, s);
}

void proto_deliver(struct proto *p)
{
    for (struct list_node *n, *after = list_first(&p->blocked); (n = after);) {
        struct stream *s = LIST_ITEM(n, struct stream, blocked_node);
        after = list_next(&p->blocked, n);
        if (stream_pending(s) > p->limits->out_bytes / 2)
            continue;
        list_remove(n);
        s->out_refused = false;
        if (!s->detached && s->events->writable)
            s->events->writable(s);
        /* the event may have changed the list; who filled his room again is passed over */
        after = list_first(&p->blocked);
    }
    for (struct list_node *n; (n = list_first(&p->finished));)
        finish(p, LIST_ITEM(n, struct stream, node));
}

static int64_t deadline_of(const struct proto *p, const struct stream *s)
{
    const struct http_limits *l = p->limits;
    int64_t deadline_ms = NEVER_MS;
    if (s->deadline_ms)
        deadline_ms = earlier_ms(deadline_ms, s->deadline_ms);
    if (s->head_deadline_ms && !s->in_head_done)
        deadline_ms = earlier_ms(deadline_ms, s->head_deadline_ms);
    /* A reader that does not read holds its own clock. */
    if (p->is_server && l->request_ms && !s->in_ended && s->n_in_unread < l->in_window_bytes && !s->out_head_sent)
        deadline_ms = earlier_ms(deadline_ms, s->started_ms + l->request_ms);
    if (l->write_stall_ms && stream_pending(s) && (s->out_head_sent || !p->is_server))
        deadline_ms = earlier_ms(deadline_ms, s->out_moved_ms + l->write_stall_ms);
    return deadline_ms;
}

int64_t proto_tick_streams(struct proto *p)
{
    int64_t next_ms = NEVER_MS;
    if (p->n_streams == 0) { /* an idle connection keeps nothing */
        free_list(&p->spare);
        p->n_spare = 0;
    }
    for (struct list_node *n = list_first(&p->streams), *after; n; n = after) {
        struct stream *s = LIST_ITEM(n, struct stream, node);
        after = list_next(&p->streams, n);
        int64_t deadline_ms = deadline_of(p, s);
        if (deadline_ms > p->now_ms) {
            next_ms = earlier_ms(next_ms, deadline_ms);
            continue;
        }
        p->ops->stream_abort(p, s, STREAM_TIMEOUT, "timed out");
    }
    return next_ms;
}
