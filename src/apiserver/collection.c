/* apiserver/collection.c - DELETE of a collection: each of its objects as if it were deleted alone; some at a time, so that
 * a commit's sync serves many. Upstream: registry/generic/registry/store.go, DeleteCollection. */
#include <assert.h>
#include <stdlib.h>

#include "apiserver/exchange.h"
#include "apiserver/registry_priv.h"

enum { COLLECTION_AT_ONCE_MAX = 256 };

/* One object's deletion. */
struct single {
    struct operation op;
    struct arena arena;
};

struct collection {
    struct exchange *x;
    struct list_answer list;
    size_t at, n_under_way;
    bool failed;
    struct status failure; /* the first one */
    bool running;          /* begin_more is on the stack */
};

static void begin_more(struct collection *c);

/* Objects that are gone, or were replaced, are no concern of ours. */
static void note_failure(struct collection *c, struct operation *op)
{
    enum err_code code = op->err.code;
    if (!code || code == ERR_NOT_FOUND || c->failed)
        return;
    c->failed = true;
    c->failure = operation_status(op);
    struct arena *a = &c->x->arena;
    c->failure.message = arena_str(a, c->failure.message);
    c->failure.name = arena_str(a, c->failure.name);
    c->failure.kind = arena_str(a, c->failure.kind);
    c->failure.group = arena_str(a, c->failure.group);
    c->failure.causes = NULL;
    c->failure.n_causes = 0;
}

static void finish(struct collection *c)
{
    struct exchange *x = c->x;
    bool waits = x->stream && !x->answered;
    if (waits && c->failed)
        answer_status(x, &c->failure);
    else if (waits)
        answer_list(x, &c->list);
    for (size_t i = 0; i < c->list.n; i++)
        store_item_unref(c->list.items[i]);
    exchange_settled(x);
}

static void single_done(struct operation *op)
{
    struct collection *c = op->context;
    struct single *s = LIST_ITEM(op, struct single, op);
    note_failure(c, op);
    operation_fini(op);
    arena_fini(&s->arena);
    free(s);
    c->n_under_way--;
    if (!c->running)
        begin_more(c);
}

static void begin_single(struct collection *c, struct store_item *item)
{
    struct exchange *x = c->x;
    struct single *s = mem_zalloc(sizeof(*s));
    struct str namespace, name;
    arena_init(&s->arena);
    operation_init(&s->op, x->server, &s->arena);
    stored_read_key(stored_row(x->at.resource), store_item_key(item), &namespace, &name);
    s->op.user = x->op.user;
    s->op.resource = x->op.resource;
    s->op.namespace = namespace;
    s->op.name = name;
    s->op.delete = x->op.delete;
    s->op.done = single_done;
    s->op.context = c;
    c->n_under_way++;
    registry_delete(&s->op);
}

static void begin_more(struct collection *c)
{
    c->running = true;
    while (c->at < c->list.n && c->n_under_way < COLLECTION_AT_ONCE_MAX && !c->failed)
        begin_single(c, c->list.items[c->at++]);
    c->running = false;
    if (c->n_under_way == 0)
        finish(c);
}

void collection_delete(struct exchange *x, struct list_options *o)
{
    struct collection *c = ARENA_NEW(&x->arena, struct collection);
    struct list_request r = { x->server->o.objects, x->at.resource, x->route.namespace, o };
    *c = (struct collection){ .x = x };
    if (lists_read(&x->arena, &r, &c->list, &x->err)) {
        answer_error(x, NULL);
        exchange_settled(x);
        return;
    }
    for (size_t i = 0; i < c->list.n; i++)
        store_item_ref(c->list.items[i]);
    begin_more(c);
}
