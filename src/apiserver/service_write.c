/* apiserver/service_write.c - services on their way to the store: they get addresses and ports, and give them back. */
#include "apiserver/registry_priv.h"
#include "apiserver/service_alloc.h"
#include "rules/service.h"

bool is_service(const struct operation *op)
{
    return str_is(op->resource->plural, "services") && op->resource->group.n == 0;
}

static struct service_request *request_of(struct operation *op, const struct type *t)
{
    struct service_request *r = ARENA_NEW(op->arena, struct service_request);
    *r = (struct service_request){ .arena = op->arena, .type = t, .namespace = op->namespace, .name = op->name,
                                   .dry_run = op->write.dry_run || op->delete.dry_run, .now_s = registry_now_s(op),
                                   .errs = &op->errs, .also = op->also, .n_also = &op->n_also };
    return r;
}

static enum err_code begin(struct operation *op, struct value *v, const struct value *old)
{
    struct rules_context c = registry_rules(op, registry_type(op));
    *v = service_begin(&c, v, old, &op->errs);
    return op->errs.n ? registry_invalid(op, op->name) : ERR_OK;
}

enum err_code service_write_new(struct operation *op, struct value *v)
{
    const struct type *t = registry_type(op);
    op->name = meta_text(t, v, "name");
    if (begin(op, v, NULL))
        return op->err.code;
    struct service_request *r = request_of(op, t);
    if (service_alloc_create(op->server->services, r, v, &op->err))
        return op->err.code == ERR_INVALID ? registry_invalid(op, op->name) : op->err.code;
    op->hold = &r->hold;
    return ERR_OK;
}

enum err_code service_write_changed(struct operation *op, const struct value *old, struct value *v)
{
    if (begin(op, v, old))
        return op->err.code;
    struct service_request *r = request_of(op, registry_type(op));
    if (service_alloc_update(op->server->services, r, old, v, &op->err))
        return op->err.code == ERR_INVALID ? registry_invalid(op, op->name) : op->err.code;
    op->hold = &r->hold;
    return ERR_OK;
}

void service_write_removed(struct operation *op, const struct value *old)
{
    struct service_request *r = request_of(op, registry_type(op));
    service_alloc_delete(op->server->services, r, old);
}

void service_write_settle(struct operation *op)
{
    if (op->hold)
        service_alloc_settle(op->server->services, op->hold);
    op->hold = NULL;
}
