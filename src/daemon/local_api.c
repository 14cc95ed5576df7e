/* daemon/local_api.c - see local_api.h. */
#include "daemon/local_api.h"

#include <assert.h>
#include <stdlib.h>

#include "apiserver/inner.h"
#include "base/list.h"

struct local_api {
    struct api api;
    struct inner *inner;
    struct list calls;
};

struct local_call {
    struct list_node node;
    struct inner_call *inner;
    api_done done;
    void *context;
};

static void call_free(struct local_call *c)
{
    list_remove(&c->node);
    free(c);
}

static void answered(void *context, const struct inner_answer *a)
{
    struct local_call *c = context;
    struct api_answer answer = { .status = a->code, .media = MEDIA_JSON, .body = a->body };
    api_done done = c->done;
    void *done_context = c->context;
    call_free(c);
    done(done_context, &answer);
}

static api_call begin(void *context, const struct api_request *r, api_done done, void *done_context)
{
    struct local_api *l = context;
    struct local_call *c = mem_zalloc(sizeof(*c));
    c->done = done;
    c->context = done_context;
    list_push(&l->calls, &c->node);
    c->inner = inner_send(l->inner,
                          &(struct inner_request){ .method = str_of(r->method), .target = r->target,
                                                   .content_type = str_of(r->media_type), .body = r->body },
                          answered, c);
    return (uintptr_t)c;
}

static void cancel(void *context, api_call call)
{
    struct local_call *c = (struct local_call *)(uintptr_t)call;
    (void)context;
    inner_cancel(c->inner);
    call_free(c);
}

static api_call no_stream(void *context, const struct api_request *request, const struct api_stream *stream)
{
    (void)context, (void)request, (void)stream;
    assert(!"nobody opens a stream to the server of the same process");
    return 0;
}

static void no_resume(void *context, api_call call)
{
    (void)context, (void)call;
}

struct local_api *local_api_new(struct apiserver *s, const struct user *user, struct str user_agent)
{
    struct local_api *l = mem_zalloc(sizeof(*l));
    list_init(&l->calls);
    l->inner = inner_new(s, user, user_agent);
    l->api = (struct api){ .context = l, .media = MEDIA_PROTOBUF, .send = begin, .open = no_stream, .resume = no_resume,
                           .cancel = cancel };
    return l;
}

void local_api_free(struct local_api *l)
{
    struct list_node *n;
    if (!l)
        return;
    inner_free(l->inner);
    while ((n = list_first(&l->calls)))
        call_free(LIST_ITEM(n, struct local_call, node));
    free(l);
}

const struct api *local_api_api(const struct local_api *l)
{
    return &l->api;
}
