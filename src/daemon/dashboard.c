/* daemon/dashboard.c - see dashboard.h. */
#include "daemon/dashboard.h"

#include <sched.h>
#include <stdlib.h>

#include "apiserver/status_object.h"
#include "base/list.h"
#include "base/mem.h"
#include "daemon/dashboard_files.h"
#include "insight/live.h"

/* Nothing from anywhere else, nothing inline, and in nobody's frame. */
#define POLICY                                                                                                            \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "       \
    "form-action 'none'; frame-ancestors 'none'"

struct file {
    const char *path, *content_type;
    const struct str *text;
};

static const struct file files[] = {
    { "/dashboard/", "text/html; charset=utf-8", &dashboard_page },
    { "/dashboard/dashboard.js", "text/javascript; charset=utf-8", &dashboard_script },
    { "/dashboard/dashboard.css", "text/css; charset=utf-8", &dashboard_style },
};

enum { N_FILES = sizeof(files) / sizeof(files[0]), N_ROUTES = N_FILES + 2 };

/* Two threads hold this: the loop makes and ends it; the scheduling thread alone looks at `live` and at the cursors of
 * viewers whose line is being made. */
struct dashboard {
    struct engine *engine;
    struct loop *loop;
    struct ops_route routes[N_ROUTES];
    struct live *live;
    struct list viewers;
    uint32_t n_viewers, n_refs; /* the owner's, and one for each mail under way */
    struct loop_timer timer;
    bool stopped;
    struct { /* what makes the history */
        struct engine_mail mail;
        struct loop_mail back;
        bool away;
    } tick;
};

struct viewer {
    struct list_node node;
    struct engine_mail mail;
    struct loop_mail back;
    struct dashboard *dashboard;
    struct ops_exchange *exchange; /* NULL: gone */
    struct live_cursor cursor;
    struct strbuf line; /* made, and not yet taken */
    bool away;          /* the scheduling thread has it */
};

static void unref(struct dashboard *d)
{
    if (--d->n_refs)
        return;
    live_free(d->live);
    free(d);
}

/* ---- On the scheduling thread ---- */

static struct insight insight_of(struct engine *e)
{
    return (struct insight){ engine_sched(e), engine_decisions(e), NULL };
}

static void post_back(struct loop *l, struct loop_mail *back)
{
    while (!loop_post(l, back)) /* a loop that is full gets through its mail */
        sched_yield();
}

static void make_line(struct engine_mail *own_mail, struct engine *e)
{
    struct viewer *v = MAIL_ITEM(own_mail, struct viewer, mail.mail);
    struct insight in = insight_of(e);
    live_add_changes(v->dashboard->live, &in, &v->cursor, engine_now_ms(e), &v->line);
    strbuf_add_char(&v->line, '\n');
    post_back(v->dashboard->loop, &v->back);
}

static void make_history(struct engine_mail *own_mail, struct engine *e)
{
    struct dashboard *d = MAIL_ITEM(own_mail, struct dashboard, tick.mail.mail);
    struct insight in = insight_of(e);
    live_tick(d->live, &in);
    post_back(d->loop, &d->tick.back);
}

/* ---- Viewers ---- */

static void viewer_free(struct viewer *v)
{
    struct dashboard *d = v->dashboard;
    list_remove(&v->node);
    d->n_viewers--;
    strbuf_fini(&v->line);
    free(v);
}

static void viewer_gone(struct ops_exchange *x)
{
    struct viewer *v = x->later;
    v->exchange = NULL;
    if (!v->away)
        viewer_free(v);
}

/* What does not fit now is sent when the next line is due. */
static void send_line(struct viewer *v)
{
    if (!v->line.n || (!v->line.overflow && !stream_write(v->exchange->stream, strbuf_str(&v->line))))
        return;
    if (v->line.overflow)
        v->cursor = (struct live_cursor){ 0 };
    strbuf_reset(&v->line);
}

static void line_made(struct loop_mail *own_mail)
{
    struct viewer *v = MAIL_ITEM(own_mail, struct viewer, back.mail);
    struct dashboard *d = v->dashboard;
    v->away = false;
    if (v->exchange)
        send_line(v);
    else
        viewer_free(v);
    unref(d);
}

static void ask_for_line(struct viewer *v)
{
    if (v->away || !v->exchange)
        return;
    send_line(v);
    if (v->line.n)
        return;
    v->away = true;
    v->dashboard->n_refs++;
    engine_post(v->dashboard->engine, &v->mail);
}

static void history_made(struct loop_mail *own_mail)
{
    struct dashboard *d = MAIL_ITEM(own_mail, struct dashboard, tick.back.mail);
    d->tick.away = false;
    unref(d);
}

static void each_second(struct loop_timer *t)
{
    struct dashboard *d = LIST_ITEM(t, struct dashboard, timer);
    loop_timer_set(d->loop, t, loop_now_ms(d->loop) + DASHBOARD_LINE_MS);
    if (!d->tick.away) {
        d->tick.away = true;
        d->n_refs++;
        engine_post(d->engine, &d->tick.mail);
    }
    for (struct list_node *n = list_first(&d->viewers), *next; n; n = next) {
        next = list_next(&d->viewers, n);
        ask_for_line(LIST_ITEM(n, struct viewer, node));
    }
}

/* ---- Routes ---- */

static void refuse(struct ops_exchange *x, enum err_code code, const char *message)
{
    struct strbuf body;
    strbuf_init(&body, STRBUF_NO_MAX);
    status_add_failure(&body, err_http_status(code), err_reason(code), str_of(message), false, x->pretty);
    ops_answer(x, err_http_status(code), "application/json", strbuf_str(&body));
    strbuf_fini(&body);
}

static void serve_live(void *context, struct ops_exchange *x)
{
    struct dashboard *d = context;
    if (d->stopped || d->n_viewers == DASHBOARD_VIEWERS_MAX) {
        refuse(x, ERR_TOO_MANY_REQUESTS, "too many viewers at once, please try again later");
        return;
    }
    struct viewer *v = mem_zalloc(sizeof(*v));
    v->mail.run = make_line;
    v->back.run = line_made;
    v->dashboard = d;
    v->exchange = x;
    strbuf_init(&v->line, DASHBOARD_LINE_BYTES_MAX);
    list_push(&d->viewers, &v->node);
    d->n_viewers++;
    ops_begin_answer(x, 200, "application/x-ndjson");
    x->gone = viewer_gone;
    x->later = v;
    ask_for_line(v);
}

static void serve_file(void *context, struct ops_exchange *x)
{
    const struct file *f = context;
    ops_add_header(x, "content-security-policy", STR(POLICY));
    ops_add_header(x, "x-content-type-options", STR("nosniff"));
    ops_add_header(x, "referrer-policy", STR("no-referrer"));
    ops_answer_packed(x, 200, f->content_type, *f->text);
}

static void serve_shorter(void *context, struct ops_exchange *x)
{
    (void)context;
    ops_add_header(x, "location", STR("/dashboard/"));
    ops_answer(x, 302, NULL, (struct str){ "", 0 });
}

static void make_routes(struct dashboard *d)
{
    for (size_t i = 0; i < N_FILES; i++)
        d->routes[i] = (struct ops_route){ .path = files[i].path, .is_open = true, .serve = serve_file,
                                           .context = (void *)(uintptr_t)&files[i] };
    d->routes[N_FILES] = (struct ops_route){ .path = "/dashboard", .is_open = true, .serve = serve_shorter };
    d->routes[N_FILES + 1] = (struct ops_route){ .path = "/berth/v1/live", .serve = serve_live, .context = d };
}

/* ---- The whole ---- */

struct dashboard *dashboard_new(struct engine *engine, struct loop *loop)
{
    struct dashboard *d = mem_zalloc(sizeof(*d));
    d->engine = engine;
    d->loop = loop;
    d->live = live_new();
    d->n_refs = 1;
    list_init(&d->viewers);
    make_routes(d);
    d->tick.mail.run = make_history;
    d->tick.back.run = history_made;
    d->timer.fire = each_second;
    loop_timer_set(loop, &d->timer, loop_now_ms(loop) + DASHBOARD_LINE_MS);
    return d;
}

void dashboard_stop(struct dashboard *d)
{
    d->stopped = true;
    loop_timer_stop(d->loop, &d->timer);
    for (struct list_node *n = list_first(&d->viewers), *next; n; n = next) {
        struct viewer *v = LIST_ITEM(n, struct viewer, node);
        next = list_next(&d->viewers, n);
        struct ops_exchange *x = v->exchange;
        v->exchange = NULL;
        if (x) {
            x->gone = NULL;
            stream_end(x->stream, NULL);
        }
        if (!v->away)
            viewer_free(v);
    }
}

void dashboard_free(struct dashboard *d)
{
    if (d)
        unref(d);
}

const struct ops_route *dashboard_routes(const struct dashboard *d, size_t *ret_n)
{
    *ret_n = N_ROUTES;
    return d->routes;
}
