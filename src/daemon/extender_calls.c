/* daemon/extender_calls.c - see extender_calls.h.
 *
 * A request is one block that goes to the loop as mail and comes back as mail. The two threads share nothing else but
 * the count of references to the calls: the last of the owner and the requests on their way frees them. */
#include "daemon/extender_calls.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "daemon/extender_codec.h"

struct extender_calls {
    struct extender_calls_options o;
    struct extender_client *client; /* loop only */
    bool (*may_act)(void *context); /* the same; NULL: always */
    void *may_act_context;
    struct mailbox answers;
    struct bell bell;
    atomic_bool ended;
    _Atomic uint32_t n_refs;
    uint64_t n_asked; /* calls so far */
};

struct call {
    struct loop_mail out;
    struct mail back;
    struct extender_calls *calls;
    uint64_t number;         /* of the call of the scheduler that it belongs to */
    uint32_t index;          /* in that */
    uint32_t which;          /* extender */
    enum extender_verb verb;
    io_ticket ticket;
    const char *verb_text;
    struct strbuf body;      /* of the request, then of the answer */
    char *error;
};

/* ---- Life ---- */

struct extender_calls *extender_calls_new(const struct extender_calls_options *o)
{
    struct extender_calls *c = mem_zalloc(sizeof(*c));
    c->o = *o;
    c->n_refs = 1;
    if (!bell_init(&c->bell)) {
        free(c);
        return NULL;
    }
    mailbox_init(&c->answers, LOOP_MAILS_MAX, bell_ring, &c->bell);
    return c;
}

static char *copied(const char *text)
{
    size_t n = strlen(text) + 1;
    return memcpy(mem_alloc(n), text, n);
}

static void call_free(struct call *call)
{
    strbuf_fini(&call->body);
    free(call->error);
    free(call);
}

static void drop_answers(struct extender_calls *c)
{
    for (struct mail *m = mailbox_take(&c->answers), *next; m; m = next) {
        next = m->next;
        call_free(MAIL_ITEM(m, struct call, back));
    }
}

static void unref(struct extender_calls *c)
{
    if (atomic_fetch_sub(&c->n_refs, 1) > 1)
        return;
    drop_answers(c);
    mailbox_fini(&c->answers);
    bell_fini(&c->bell);
    free(c);
}

void extender_calls_free(struct extender_calls *c)
{
    if (c)
        unref(c);
}

void extender_calls_connect(struct extender_calls *c, struct extender_client *client)
{
    c->client = client;
}

void extender_calls_guard(struct extender_calls *c, bool (*may_act)(void *context), void *context)
{
    c->may_act = may_act;
    c->may_act_context = context;
}

void extender_calls_end(struct extender_calls *c)
{
    atomic_store(&c->ended, true);
    bell_ring(&c->bell);
}

/* ---- On the loop ---- */

static void tell_bound(struct call *call)
{
    struct extender_calls *c = call->calls;
    struct arena a;
    arena_init(&a);
    const char *error = call->error;
    if (!error)
        error = extender_decode(&a, EXTENDER_BIND, strbuf_str(&call->body)).error;
    c->o.bound(c->o.context, call->ticket, error);
    arena_fini(&a);
}

static void come_back(struct call *call)
{
    struct extender_calls *c = call->calls;
    if (call->verb == EXTENDER_BIND) {
        tell_bound(call);
        call_free(call);
    } else if (!mailbox_post(&c->answers, &call->back)) {
        call_free(call); /* the time of whoever waits for it passes */
    }
    unref(c);
}

static void answered(void *context, const char *error, struct str body)
{
    struct call *call = context;
    strbuf_reset(&call->body);
    strbuf_add_str(&call->body, body);
    call->error = error ? copied(error) : NULL;
    come_back(call);
}

static void send_call(struct loop_mail *mail)
{
    struct call *call = MAIL_ITEM(&mail->mail, struct call, out.mail);
    struct extender_calls *c = call->calls;
    bool may_act = call->verb != EXTENDER_BIND || !c->may_act || c->may_act(c->may_act_context);
    if (c->client && may_act) {
        extender_client_send(c->client, call->which, call->verb_text, strbuf_str(&call->body), answered, call);
        return;
    }
    call->error = copied(may_act ? "the scheduler ends" : "this process may not lead any more");
    come_back(call);
}

/* ---- On the scheduling thread ---- */

static uint32_t number_of(const struct extender_calls *c, const struct extender *x)
{
    uint32_t i = 0;
    while (i < c->o.n_extenders && c->o.extenders[i] != x)
        i++;
    assert(i < c->o.n_extenders);
    return i;
}

/* NULL: it is on its way; otherwise why not. */
static const char *post(struct extender_calls *c, const struct extender_request *r, uint32_t index, struct arena *a)
{
    struct err e;
    err_init(&e, a);
    struct call *call = mem_zalloc(sizeof(*call));
    *call = (struct call){ .out.run = send_call, .calls = c, .number = c->n_asked, .index = index,
                           .which = number_of(c, r->extender), .verb = r->verb, .ticket = r->ticket,
                           .verb_text = r->extender->verbs[r->verb] };
    strbuf_init(&call->body, STRBUF_NO_MAX);
    if (extender_encode(&call->body, c->o.syms, c->o.raw, r, &e)) {
        call_free(call);
        return e.message;
    }
    atomic_fetch_add(&c->n_refs, 1);
    if (loop_post(c->o.loop, &call->out))
        return NULL;
    call_free(call);
    atomic_fetch_sub(&c->n_refs, 1);
    return "too many messages wait for the loop";
}

/* Puts the answers that have come where they belong; those to earlier calls are dropped. How many were ours. */
static uint32_t take(struct extender_calls *c, const struct extender_request *requests, struct extender_answer *answers)
{
    uint32_t n_taken = 0;
    for (struct mail *m = mailbox_take(&c->answers), *next; m; m = next) {
        next = m->next;
        struct call *call = MAIL_ITEM(m, struct call, back);
        if (call->number == c->n_asked) {
            struct arena *a = requests[call->index].arena;
            struct extender_answer *to = &answers[call->index];
            if (call->error)
                to->error = arena_cstr(a, str_of(call->error));
            else
                *to = extender_decode(a, call->verb, strbuf_str(&call->body));
            n_taken++;
        }
        call_free(call);
    }
    return n_taken;
}

static int64_t time_of(const struct extender_calls *c, const struct extender_request *r)
{
    return extender_timeout_ms(c->o.configs[number_of(c, r->extender)]);
}

static void wait_for(struct extender_calls *c, const struct extender_request *requests, uint32_t n_open,
                     int64_t wait_ms, struct extender_answer *answers)
{
    int64_t now_ms = clock_mono_ms(&clock_real), until_ms = now_ms + wait_ms;
    while (n_open && now_ms < until_ms && !atomic_load(&c->ended)) {
        bell_wait(&c->bell, (int)(until_ms - now_ms < INT32_MAX ? until_ms - now_ms : INT32_MAX));
        n_open -= take(c, requests, answers);
        now_ms = clock_mono_ms(&clock_real);
    }
}

/* What is said of one that has not answered, until it does. */
static const char *no_answer(struct extender_calls *c, const struct extender_request *r)
{
    const char *url = extender_url(r->arena, c->o.configs[number_of(c, r->extender)], r->extender->verbs[r->verb]);
    return extender_timeout_text(r->arena, url);
}

void extender_calls_ask(void *calls, const struct extender_request *requests, uint32_t n,
                        struct extender_answer *ret_answers)
{
    struct extender_calls *c = calls;
    uint32_t n_open = 0;
    int64_t wait_ms = 0;
    c->n_asked++;
    for (uint32_t i = 0; i < n; i++) {
        const struct extender_request *r = &requests[i];
        bool binds = r->verb == EXTENDER_BIND;
        ret_answers[i] = (struct extender_answer){ 0 };
        const char *error = post(c, r, i, r->arena);
        if (!error && !binds) {
            error = no_answer(c, r);
            n_open++;
            wait_ms = time_of(c, r) > wait_ms ? time_of(c, r) : wait_ms;
        }
        ret_answers[i].error = error;
        if (error && binds)
            c->o.bound(c->o.context, r->ticket, error);
    }
    wait_for(c, requests, n_open, wait_ms + EXTENDER_GRACE_MS, ret_answers);
}
