/* controllers/remote_requests.c - see remote_requests.h. */
#include "controllers/remote_requests.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

struct remote_requests {
    struct loop *loop;
    struct accounts *accounts;
    struct list under_way;
    uint32_t n;
};

struct sent {
    struct list_node node;
    struct account_waiter waiter;
    struct loop_task task; /* begins it, and ends one that could not begin */
    struct remote_requests *all;
    struct account *account;
    struct arena arena;
    struct api_request request;
    api_done done;
    void *context;
    const struct api *api; /* it is with the server, under this number: */
    api_call call;
};

static void finish(struct sent *s, const struct api_answer *answer)
{
    list_remove(&s->node);
    s->all->n--;
    if (answer->status == 401)
        account_refused(s->account);
    s->done(s->context, answer);
    arena_fini(&s->arena);
    free(s);
}

static void fail(struct sent *s, const char *why)
{
    finish(s, &(struct api_answer){ .error = why, .unsent = true });
}

static void on_answer(void *context, const struct api_answer *answer)
{
    finish(context, answer);
}

static void ready(struct account_waiter *w, const struct api *api, const char *error)
{
    struct sent *s = LIST_ITEM(w, struct sent, waiter);
    if (!api) {
        fail(s, error);
        return;
    }
    s->api = api;
    s->call = api->send(api->context, &s->request, on_answer, s);
}

static void begin(struct loop_task *t)
{
    struct sent *s = LIST_ITEM(t, struct sent, task);
    if (s->account)
        account_wait(s->account, &s->waiter);
    else
        fail(s, "there are too many accounts");
}

static void copy_request(struct sent *s, const struct api_request *r)
{
    struct arena *a = &s->arena;
    s->request = *r;
    s->request.target = arena_str(a, r->target);
    s->request.body = arena_str(a, r->body);
}

void remote_requests_send(struct remote_requests *all, const struct remote_request *r)
{
    struct sent *s = mem_zalloc(sizeof(*s));
    arena_init(&s->arena);
    s->all = all;
    s->account = accounts_find(all->accounts, r->controller);
    s->waiter.ready = ready;
    s->task.run = begin;
    s->done = r->done;
    s->context = r->context;
    copy_request(s, &r->request);
    list_push(&all->under_way, &s->node);
    all->n++;
    loop_defer(all->loop, &s->task);
}

struct remote_requests *remote_requests_new(struct loop *l, struct accounts *accounts)
{
    struct remote_requests *all = mem_zalloc(sizeof(*all));
    all->loop = l;
    all->accounts = accounts;
    list_init(&all->under_way);
    return all;
}

uint32_t remote_requests_n(const struct remote_requests *all)
{
    return all->n;
}

void remote_requests_end(struct remote_requests *all)
{
    struct list_node *n;
    while ((n = list_first(&all->under_way))) {
        struct sent *s = LIST_ITEM(n, struct sent, node);
        loop_task_stop(&s->task);
        account_leave(&s->waiter);
        if (s->call)
            s->api->cancel(s->api->context, s->call);
        fail(s, "the controllers end");
    }
}

void remote_requests_free(struct remote_requests *all)
{
    if (!all)
        return;
    assert(list_is_empty(&all->under_way));
    free(all);
}
