/* daemon/questions.c - see questions.h. */
#include "daemon/questions.h"

#include <sched.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "apiserver/status_object.h"
#include "insight/decisions.h"
#include "insight/insight.h"
#include "insight/live.h"
#include "insight/shadow.h"
#include "sched/pod_resources.h"

#define JSON "application/json"

/* What a path asks. `text` is the query, or the body of who reads one. NULL: /metrics/resources, which comes in pieces. */
typedef enum err_code (*answer_fn)(struct questions *q, struct str text, struct strbuf *to, struct err *e);

struct kind {
    const char *path, *method, *content_type; /* method NULL: any, as upstream's pages */
    bool reads_body;
    answer_fn answer;
};

struct route_context {
    struct questions *questions;
    const struct kind *kind;
};

enum { N_KINDS = 6 };

struct questions {
    struct questions_options o;
    struct route_context contexts[N_KINDS];
    struct ops_route routes[N_KINDS];
    size_t n_routes;
    uint32_t n_open;
    uint32_t n_refs; /* the owner's, and one for each question under way */
};

struct question {
    struct engine_mail mail;
    struct loop_mail back;
    struct questions *questions;
    const struct kind *kind;
    struct ops_exchange *exchange; /* the loop's; NULL: who asked is gone */
    struct arena arena;
    struct err error;
    struct str text;
    struct pod_resources *resources; /* being written; NULL: not begun */
    struct strbuf answer;
};

/* ---- On the scheduling thread ---- */

static struct insight insight_of(struct questions *q)
{
    return (struct insight){ engine_sched(q->o.engine), engine_decisions(q->o.engine), q->o.clock };
}

static enum err_code answer_explain(struct questions *q, struct str text, struct strbuf *to, struct err *e)
{
    struct insight in = insight_of(q);
    return insight_explain(&in, text, to, e);
}

static enum err_code answer_what_if(struct questions *q, struct str text, struct strbuf *to, struct err *e)
{
    struct insight in = insight_of(q);
    return insight_what_if(&in, text, to, e);
}

static enum err_code answer_node(struct questions *q, struct str text, struct strbuf *to, struct err *e)
{
    struct insight in = insight_of(q);
    return insight_node_view(&in, text, to, e);
}

static enum err_code answer_decisions(struct questions *q, struct str text, struct strbuf *to, struct err *e)
{
    if (!engine_decisions(q->o.engine))
        return err_set(e, ERR_NOT_FOUND, "no decisions are kept: this scheduler only watches, or --decisions is 0");
    return insight_decisions(engine_decisions(q->o.engine), text, to, e);
}

static enum err_code answer_shadow(struct questions *q, struct str text, struct strbuf *to, struct err *e)
{
    if (!engine_shadow(q->o.engine))
        return err_set(e, ERR_NOT_FOUND, "this scheduler was not started with --shadow");
    return insight_shadow(engine_shadow(q->o.engine), text, to, e);
}

/* One piece; whether there is more. */
static bool write_resources(struct question *n, struct engine *e)
{
    if (!n->resources)
        n->resources = pod_resources_begin(engine_sched(e));
    if (pod_resources_write(n->resources, POD_RESOURCES_PIECE, &n->answer) && !n->answer.overflow)
        return true;
    pod_resources_end(n->resources);
    return false;
}

static void run_question(struct engine_mail *own_mail, struct engine *e)
{
    struct question *n = MAIL_ITEM(own_mail, struct question, mail.mail);
    if (!n->kind->answer && write_resources(n, e)) {
        engine_post(e, &n->mail);
        return;
    }
    if (n->kind->answer)
        (void)!n->kind->answer(n->questions, n->text, &n->answer, &n->error);
    if (!n->error.code && n->answer.overflow)
        err_set(&n->error, ERR_TOO_LARGE, "the answer is too large: ask for less");
    while (!loop_post(n->questions->o.loop, &n->back)) /* a loop that is full gets through its mail */
        sched_yield();
}

/* ---- On the loop ---- */

static void unref(struct questions *q)
{
    if (--q->n_refs == 0)
        free(q);
}

static void question_free(struct question *n)
{
    struct questions *q = n->questions;
    strbuf_fini(&n->answer);
    arena_fini(&n->arena);
    free(n);
    q->n_open--;
    unref(q);
}

static void refuse(struct ops_exchange *x, enum err_code code, const char *message)
{
    struct strbuf body;
    strbuf_init(&body, STRBUF_NO_MAX);
    status_add_failure(&body, err_http_status(code), err_reason(code), str_of(message), false, x->pretty);
    ops_answer(x, err_http_status(code), JSON, strbuf_str(&body));
    strbuf_fini(&body);
}

static void come_back(struct loop_mail *own_mail)
{
    struct question *n = MAIL_ITEM(own_mail, struct question, back.mail);
    struct ops_exchange *x = n->exchange;
    if (x) {
        x->gone = NULL;
        if (n->error.code)
            refuse(x, n->error.code, n->error.message);
        else
            ops_answer_packed(x, 200, n->kind->content_type, strbuf_str(&n->answer));
    }
    question_free(n);
}

static void on_gone(struct ops_exchange *x)
{
    struct question *n = x->later;
    n->exchange = NULL;
}

/* The query as it was sent: insight/ reads it strictly. */
static struct str query_of(const struct ops_exchange *x)
{
    struct str target = x->head->target;
    const char *mark = memchr(target.p, '?', target.n);
    return mark ? str_range(mark + 1, target.p + target.n) : (struct str){ "", 0 };
}

static void serve(void *context, struct ops_exchange *x)
{
    struct route_context *c = context;
    struct questions *q = c->questions;
    if (!c->kind->answer && !q->o.leads(q->o.context)) {
        ops_answer(x, 200, NULL, (struct str){ "", 0 }); /* as upstream: only who leads knows */
        return;
    }
    if (c->kind->method && !str_is(x->head->method, c->kind->method)) {
        refuse(x, ERR_METHOD_NOT_ALLOWED, "the server does not allow this method on the requested resource");
        return;
    }
    if (q->n_open == QUESTIONS_MAX) {
        refuse(x, ERR_TOO_MANY_REQUESTS, "too many questions at once, please try again later");
        return;
    }
    struct question *n = mem_zalloc(sizeof(*n));
    n->mail.run = run_question;
    n->back.run = come_back;
    n->questions = q;
    n->kind = c->kind;
    n->exchange = x;
    arena_init(&n->arena);
    err_init(&n->error, &n->arena);
    strbuf_init(&n->answer, QUESTIONS_ANSWER_BYTES_MAX);
    n->text = arena_str(&n->arena, c->kind->reads_body ? x->body : query_of(x));
    q->n_open++;
    q->n_refs++;
    x->gone = on_gone;
    x->later = n;
    engine_post(q->o.engine, &n->mail);
}

/* ---- The whole ---- */

static const struct kind kinds[N_KINDS] = {
    { "/berth/v1/explain", "GET", JSON, false, answer_explain },
    { "/berth/v1/what-if", "POST", JSON, true, answer_what_if },
    { "/berth/v1/decisions", "GET", JSON, false, answer_decisions },
    { "/berth/v1/shadow", "GET", JSON, false, answer_shadow },
    { "/berth/v1/node", "GET", JSON, false, answer_node },
    { "/metrics/resources", NULL, METRICS_CONTENT_TYPE, false, NULL },
};

struct questions *questions_new(const struct questions_options *o)
{
    struct questions *q = mem_zalloc(sizeof(*q));
    q->o = *o;
    q->n_refs = 1;
    for (size_t i = 0; i < N_KINDS; i++) {
        q->contexts[i] = (struct route_context){ q, &kinds[i] };
        q->routes[q->n_routes++] = (struct ops_route){ .path = kinds[i].path,
                                                       .reads_body = kinds[i].reads_body,
                                                       .body_bytes_max = INSIGHT_BODY_BYTES_MAX,
                                                       .serve = serve,
                                                       .context = &q->contexts[i] };
    }
    return q;
}

void questions_free(struct questions *q)
{
    if (q)
        unref(q);
}

const struct ops_route *questions_routes(const struct questions *q, size_t *ret_n)
{
    *ret_n = q->n_routes;
    return q->routes;
}
