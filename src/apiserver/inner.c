/* apiserver/inner.c - see inner.h. */
#include "apiserver/inner.h"

#include <stdlib.h>

#include "apiserver/encode.h"
#include "apiserver/registry_priv.h"
#include "apiserver/route.h"
#include "apiserver/server_metrics.h"
#include "base/log.h"

struct inner {
    struct apiserver *server;
    struct arena arena;
    struct user user;
    struct str user_agent;
    struct list calls;
    struct strbuf scratch; /* the body of the answer that is being given */
    uint32_t n_open;
};

struct inner_call {
    struct list_node node;
    struct inner *inner;
    struct loop_task task;
    struct arena arena;
    struct inner_request request;
    struct target target;
    struct route route;
    struct endpoint at;
    struct operation op;
    struct err err;
    inner_done *done; /* NULL: nobody waits for it any more */
    void *context;
    int64_t begun_ns; /* 0: not yet */
};

/* ---- The end ---- */

static void report(struct inner_call *c, int code, size_t n_bytes)
{
    struct apiserver *s = c->inner->server;
    int64_t took_ns = clock_mono_ns(loop_clock(s->o.loop)) - c->begun_ns;
    LOG(3, "HTTP", KS("verb", c->route.verb), KS("URI", c->request.target), KI("latency_us", took_ns / 1000),
        KS("userAgent", c->inner->user_agent), KS("srcIP", "in process"), KI("resp", code));
    server_metrics_request(s->metrics, &c->route, c->at.subresource ? c->at.subresource->name : "", code,
                           (double)took_ns / 1e9, n_bytes, c->op.write.dry_run || c->op.delete.dry_run);
}

static void call_free(struct inner_call *c)
{
    loop_task_stop(&c->task);
    list_remove(&c->node);
    c->inner->n_open--;
    operation_fini(&c->op);
    arena_fini(&c->arena);
    free(c);
}

static void answer(struct inner_call *c, int code)
{
    struct strbuf *body = &c->inner->scratch;
    report(c, code, body->n);
    struct inner_answer a = { .code = code, .body = strbuf_str(body) };
    inner_done *done = c->done;
    void *context = c->context;
    c->done = NULL;
    if (done)
        done(context, &a);
    call_free(c);
}

static void answer_status(struct inner_call *c, const struct status *s)
{
    strbuf_reset(&c->inner->scratch);
    status_add(&c->inner->scratch, MEDIA_JSON, false, s);
    answer(c, s->code);
}

static void refuse(struct inner_call *c, const struct field_errors *errs)
{
    struct status s = status_of_err(&c->arena, &c->err, errs);
    answer_status(c, &s);
}

static void settled(struct operation *op)
{
    struct inner_call *c = op->context;
    struct strbuf *body = &c->inner->scratch;
    if (op->err.code || op->answers_status) {
        struct status s = op->err.code ? operation_status(op) : op->status;
        strbuf_reset(body);
        status_add(body, MEDIA_JSON, false, &s);
        answer(c, op->err.code ? s.code : op->code);
        return;
    }
    struct encoder e = { .objects = c->inner->server->o.objects, .resource = c->at.resource };
    strbuf_reset(body);
    if (op->item)
        encode_item(&e, op->item, body);
    else
        encode_value(&e, op->type, &op->value, body);
    answer(c, op->code);
}

/* ---- The beginning ---- */

static bool may(struct inner_call *c)
{
    const struct route *r = &c->route;
    struct apiserver *s = c->inner->server;
    struct str reason = STR("");
    struct authz_attributes q = { .user = &c->inner->user, .verb = r->verb, .is_resource = r->is_resource, .group = r->group,
                                  .version = r->version, .resource = r->resource, .subresource = r->subresource,
                                  .namespace = r->namespace, .name = r->name, .path = r->path };
    if (!s->o.authz)
        return true;
    int64_t begun_ns = clock_mono_ns(loop_clock(s->o.loop));
    bool allowed = api_authz_decide(s->o.authz, &c->arena, &q, &reason) == AUTHZ_ALLOW;
    server_metrics_authorized(s->metrics, allowed, (double)(clock_mono_ns(loop_clock(s->o.loop)) - begun_ns) / 1e9);
    if (!allowed)
        api_authz_refuse(&q, reason, &c->err);
    return allowed;
}

static void fill_operation(struct inner_call *c)
{
    struct operation *op = &c->op;
    op->user = &c->inner->user;
    op->user_agent = c->inner->user_agent;
    op->resource = c->at.resource;
    op->subresource = c->at.subresource;
    op->namespace = c->route.namespace;
    op->name = c->at.collection ? STR("") : c->route.name;
    op->body = c->request.body;
    op->done = settled;
    op->context = c;
}

static enum err_code read_write(struct inner_call *c, enum write_verb kind, struct field_errors *errs)
{
    if (kind != WRITE_PATCH && negotiate_body(c->request.content_type, &c->op.media, &c->err))
        return c->err.code;
    if (kind == WRITE_PATCH && negotiate_patch(c->request.content_type, &c->op.patch_form, &c->err))
        return c->err.code;
    if (kind == WRITE_PATCH && c->op.patch_form == PATCH_FORM_APPLY)
        kind = WRITE_APPLY;
    return options_read_write(&c->arena, &c->target, kind, &c->op.write, errs, &c->err);
}

static enum err_code read_get(struct inner_call *c, struct field_errors *errs)
{
    (void)c, (void)errs;
    return ERR_OK;
}

static enum err_code read_create(struct inner_call *c, struct field_errors *errs)
{
    return read_write(c, WRITE_CREATE, errs);
}

static enum err_code read_update(struct inner_call *c, struct field_errors *errs)
{
    return read_write(c, WRITE_UPDATE, errs);
}

static enum err_code read_patch(struct inner_call *c, struct field_errors *errs)
{
    return read_write(c, WRITE_PATCH, errs);
}

static enum err_code read_delete(struct inner_call *c, struct field_errors *errs)
{
    if (negotiate_body(c->request.content_type, &c->op.media, &c->err))
        return c->err.code;
    return options_read_delete(&c->arena, &c->target, c->op.media, c->request.body, &c->op.delete, errs, &c->err);
}

static const struct inner_verb {
    const char *verb;
    enum err_code (*read)(struct inner_call *c, struct field_errors *errs); /* what the request says besides its body */
    void (*run)(struct operation *op);
} verbs[] = {
    { "get", read_get, registry_get },
    { "create", read_create, registry_create },
    { "update", read_update, registry_update },
    { "patch", read_patch, registry_patch },
    { "delete", read_delete, registry_delete },
};

static const struct inner_verb *find_verb(struct inner_call *c)
{
    bool is_stored = c->route.is_resource && c->at.resource->verbs & VERB_GET && !c->at.connect;
    for (size_t i = 0; is_stored && i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (str_is(c->route.verb, verbs[i].verb))
            return &verbs[i];
    err_set(&c->err, ERR_METHOD_NOT_ALLOWED, "the server does not allow this method on the requested resource");
    return NULL;
}

static enum err_code find_endpoint(struct inner_call *c)
{
    struct inner *i = c->inner;
    if (i->server->stopping)
        return err_set(&c->err, ERR_UNAVAILABLE, "apiserver is shutting down");
    if (!target_read(&c->arena, c->request.target, &c->target))
        return err_set(&c->err, ERR_BAD_REQUEST, "the path of the request cannot be read");
    if (route_read(&c->arena, c->request.method, &c->target, &c->route, &c->err) || !may(c))
        return c->err.code;
    if (!c->route.is_resource)
        return err_set(&c->err, ERR_NOT_FOUND, "the server could not find the requested resource");
    return route_find(&c->route, c->request.method, &c->at, &c->err);
}

static void run(struct loop_task *t)
{
    struct inner_call *c = LIST_ITEM(t, struct inner_call, task);
    struct field_errors errs;
    const struct inner_verb *v;
    field_errors_init(&errs, &c->arena);
    c->begun_ns = clock_mono_ns(loop_clock(c->inner->server->o.loop));
    if (find_endpoint(c) || !(v = find_verb(c)) || v->read(c, &errs)) {
        refuse(c, &errs);
        return;
    }
    fill_operation(c);
    v->run(&c->op);
}

struct inner_call *inner_send(struct inner *i, const struct inner_request *r, inner_done *done, void *context)
{
    struct inner_call *c = mem_zalloc(sizeof(*c));
    arena_init(&c->arena);
    err_init(&c->err, &c->arena);
    operation_init(&c->op, i->server, &c->arena);
    c->inner = i;
    c->task.run = run;
    c->done = done;
    c->context = context;
    c->request = (struct inner_request){ arena_str(&c->arena, r->method), arena_str(&c->arena, r->target),
                                         arena_str(&c->arena, r->content_type), arena_str(&c->arena, r->body) };
    list_push(&i->calls, &c->node);
    i->n_open++;
    loop_defer(i->server->o.loop, &c->task);
    return c;
}

void inner_cancel(struct inner_call *c)
{
    c->done = NULL;
    if (!c->begun_ns)
        call_free(c);
}

/* ---- Life ---- */

uint32_t inner_n_open(const struct inner *i)
{
    return i->n_open;
}

struct inner *inner_new(struct apiserver *s, const struct user *user, struct str user_agent)
{
    struct inner *i = mem_zalloc(sizeof(*i));
    arena_init(&i->arena);
    i->server = s;
    i->user = user_copy(&i->arena, user);
    i->user_agent = arena_str(&i->arena, user_agent);
    list_init(&i->calls);
    strbuf_init(&i->scratch, STRBUF_NO_MAX);
    return i;
}

void inner_free(struct inner *i)
{
    struct list_node *n;
    if (!i)
        return;
    while ((n = list_first(&i->calls)))
        call_free(LIST_ITEM(n, struct inner_call, node));
    strbuf_fini(&i->scratch);
    arena_fini(&i->arena);
    free(i);
}
