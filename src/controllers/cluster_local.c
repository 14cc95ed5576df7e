/* controllers/cluster_local.c - a cluster whose API server runs in this process: writes go through its handlers, with their
 * validation, admission and defaults, as the service account of the controller. Reads are the store's own. */
#include <stdlib.h>

#include "apiserver/operation.h"
#include "base/list.h"
#include "controllers/cluster.h"

struct local {
    struct apiserver *server;
    struct loop *loop;
    struct list jobs;
    uint32_t n_under_way;
};

/* Begun from the loop, so that its end never comes from within cluster_begin. */
struct job {
    struct list_node node;
    struct loop_task task;
    struct local *local;
    struct cluster_call call;
    struct arena arena;
    struct operation op;
};

static bool has_cause(const struct operation *op, const char *reason)
{
    for (uint32_t i = 0; i < op->n_causes; i++)
        if (str_is(op->causes[i].reason, reason))
            return true;
    return false;
}

static void job_done(struct operation *op)
{
    struct job *j = op->context;
    list_remove(&j->node);
    j->local->n_under_way--;
    struct cluster_outcome o = { .code = op->err.code, .message = op->err.message, .item = op->item,
                                 .namespace_ends = has_cause(op, "NamespaceTerminating") };
    if (j->call.answered)
        j->call.answered(j->call.context, &o);
    if (j->call.done)
        j->call.done(j->call.context, o.code, o.message);
    operation_fini(op);
    arena_fini(&j->arena);
    free(j);
}

static const struct user *kubelet_of(struct job *j)
{
    struct str *groups = ARENA_NEW_N(&j->arena, struct str, 2);
    groups[0] = STR("system:nodes");
    groups[1] = STR(GROUP_AUTHENTICATED);
    struct user *u = ARENA_NEW(&j->arena, struct user);
    *u = (struct user){ .name = str_of(arena_printf(&j->arena, "system:node:%.*s", STR_ARG(j->call.node))), .groups = { groups, 2 } };
    return u;
}

static const struct user *user_of(struct job *j)
{
    if (j->call.node.n)
        return kubelet_of(j);
    struct str *groups = ARENA_NEW_N(&j->arena, struct str, 3);
    groups[0] = STR("system:serviceaccounts");
    groups[1] = STR("system:serviceaccounts:kube-system");
    groups[2] = STR(GROUP_AUTHENTICATED);
    struct user *u = ARENA_NEW(&j->arena, struct user);
    const char *name = arena_printf(&j->arena, "system:serviceaccount:kube-system:%s", j->call.controller);
    *u = (struct user){ .name = str_of(name), .groups = { groups, 3 } };
    return u;
}

static const struct subresource *find_sub(const struct resource *r, const char *name)
{
    for (const struct subresource *s = r->subresources; name && s && s->name; s++)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

static void run_job(struct loop_task *t)
{
    struct job *j = LIST_ITEM(t, struct job, task);
    struct operation *op = &j->op;
    switch (j->call.verb) {
    case CLUSTER_CREATE:
        registry_create(op);
        return;
    case CLUSTER_UPDATE:
        registry_update(op);
        return;
    case CLUSTER_PATCH_MERGE:
    case CLUSTER_PATCH_STRATEGIC:
        op->patch_form = j->call.verb == CLUSTER_PATCH_MERGE ? PATCH_FORM_MERGE : PATCH_FORM_STRATEGIC;
        registry_patch(op);
        return;
    case CLUSTER_DELETE:
        registry_delete(op);
    }
}

static void copy_call(struct job *j, const struct cluster_call *call)
{
    struct arena *a = &j->arena;
    struct operation *op = &j->op;
    op->resource = call->resource;
    op->subresource = find_sub(call->resource, call->subresource);
    op->namespace = arena_str(a, call->namespace);
    op->name = arena_str(a, call->name);
    op->user_agent = str_of(arena_cstr(a, str_of(call->controller)));
    op->body = arena_str(a, call->patch);
    if (call->object) {
        struct value *v = ARENA_NEW(a, struct value);
        *v = value_copy(a, call->object);
        op->object = v;
    }
    if (call->uid.n)
        op->delete.uid = arena_str(a, call->uid);
    if (call->resource_version.n)
        op->delete.resource_version = arena_str(a, call->resource_version);
    if (call->propagation)
        op->delete.propagation_policy = str_of(call->propagation);
    op->delete.has_grace_period = call->at_once; /* of zero seconds */
}

static void begin_local(void *context, const struct cluster_call *call)
{
    struct local *l = context;
    struct job *j = mem_zalloc(sizeof(*j));
    arena_init(&j->arena);
    j->local = l;
    j->call = *call;
    operation_init(&j->op, l->server, &j->arena);
    copy_call(j, call);
    j->op.user = user_of(j);
    j->op.done = job_done;
    j->op.context = j;
    j->task.run = run_job;
    l->n_under_way++;
    list_push(&l->jobs, &j->node);
    loop_defer(l->loop, &j->task);
}

static void stop_local(void *context)
{
    struct local *l = context;
    struct list_node *n;
    while ((n = list_first(&l->jobs))) {
        struct job *j = LIST_ITEM(n, struct job, node);
        loop_task_stop(&j->task);
        err_init(&j->op.err, &j->arena);
        err_set(&j->op.err, ERR_UNAVAILABLE, "the server ends");
        job_done(&j->op);
    }
}

static uint32_t n_under_way(const void *context)
{
    const struct local *l = context;
    return l->n_under_way;
}

struct cluster *cluster_new(struct apiserver *s, struct loop *l, struct stored *objects)
{
    struct local *local = mem_zalloc(sizeof(*local));
    local->server = s;
    local->loop = l;
    list_init(&local->jobs);
    struct cluster_backend b = { .own_context = local, .begin = begin_local, .stop = stop_local, .free = free,
                                 .n_under_way = n_under_way };
    return cluster_over(l, objects, &b);
}
