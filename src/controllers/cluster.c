/* controllers/cluster.c - see cluster.h. */
#include "controllers/cluster.h"

#include <assert.h>
#include <stdlib.h>

#include "apiserver/operation.h"
#include "base/list.h"
#include "base/map.h"
#include "base/vec.h"
#include "codec/json.h"
#include "rules/convert.h"

#define REGISTRY "/registry/"
#define METADATA_TYPE "meta/v1.PartialObjectMetadata"

struct subscriber {
    const struct resource *resource; /* NULL: all */
    cluster_changed *changed;
    void *context;
    bool begun; /* what was there has been told */
};

struct cluster {
    struct apiserver *server;
    struct loop *loop;
    struct stored *objects;
    struct store_watch place;
    bool placed;
    struct map_str rows; /* from what keys begin with, behind "/registry/", to the row */
    char **prefixes;
    size_t n_prefixes;
    VEC(struct subscriber) subscribers;
    struct list jobs;
    uint32_t n_under_way;
};

/* ---- Rows of keys ---- */

static bool has_objects(const struct resource *r)
{
    return r->served && r->type && r->verbs & VERB_WATCH && convert_stored_type(r->type) == r->type;
}

static void learn_prefixes(struct cluster *c)
{
    struct arena a;
    arena_init(&a);
    c->prefixes = mem_zalloc(schema_n_resources * sizeof(*c->prefixes));
    map_str_init(&c->rows);
    for (size_t i = 0; i < schema_n_resources; i++) {
        const struct resource *r = &schema_resources[i];
        if (!has_objects(r))
            continue;
        struct str prefix = str_from(stored_prefix(&a, r, STR("")), sizeof(REGISTRY) - 1);
        char *copy = c->prefixes[c->n_prefixes++] = mem_alloc(prefix.n);
        memcpy(copy, prefix.p, prefix.n);
        bool is_new;
        map_str_put(&c->rows, (struct str){ copy, prefix.n }, &is_new)->const_ptr = r;
    }
    arena_fini(&a);
}

/* "pods/", "services/specs/", "apiregistration.k8s.io/apiservices/": one word or two. */
static const struct resource *row_of_key(const struct cluster *c, struct str key)
{
    struct str rest = str_from(key, sizeof(REGISTRY) - 1);
    size_t n = 0;
    for (int words = 0; words < 2 && n < rest.n; words++) {
        n += str_index(str_from(rest, n), '/') + 1;
        const union map_value *found = n <= rest.n ? map_str_find(&c->rows, str_first(rest, n)) : NULL;
        if (found)
            return found->const_ptr;
    }
    return NULL;
}

const struct resource *cluster_resource_of_kind(struct str api_version, struct str kind)
{
    struct str group, version;
    schema_split_api_version(api_version, &group, &version);
    for (size_t i = 0; i < schema_n_resources; i++) {
        const struct resource *r = &schema_resources[i];
        if (r->served && r->type && str_eq(r->kind, kind) && str_eq(r->group, group) && r->verbs & VERB_GET)
            return stored_row(r);
    }
    return NULL;
}

/* ---- Life ---- */

struct cluster *cluster_new(struct apiserver *s, struct loop *l, struct stored *objects)
{
    struct cluster *c = mem_zalloc(sizeof(*c));
    c->server = s;
    c->loop = l;
    c->objects = objects;
    list_init(&c->jobs);
    learn_prefixes(c);
    return c;
}

void cluster_free(struct cluster *c)
{
    if (!c)
        return;
    map_str_fini(&c->rows);
    for (size_t i = 0; i < c->n_prefixes; i++)
        free(c->prefixes[i]);
    free(c->prefixes);
    vec_fini(&c->subscribers);
    free(c);
}

struct stored *cluster_objects(const struct cluster *c)
{
    return c->objects;
}

struct loop *cluster_loop(const struct cluster *c)
{
    return c->loop;
}

int64_t cluster_now_s(const struct cluster *c)
{
    return clock_wall_ns(loop_clock(c->loop)) / 1000000000;
}

/* ---- Changes ---- */

void cluster_watch(struct cluster *c, const struct resource *r, cluster_changed *changed, void *context)
{
    vec_push(&c->subscribers, (struct subscriber){ r, changed, context, false });
}

static void tell_all_of(struct cluster *c, struct arena *a, const struct subscriber *s, const struct resource *r)
{
    struct store_range range = { .prefix = stored_prefix(a, r, STR("")) };
    struct store_list list;
    struct err e;
    err_init(&e, a);
    enum err_code rc = store_list(stored_store(c->objects), &range, a, &list, &e);
    assert(rc == ERR_OK); /* the newest state is always there */
    for (size_t i = 0; i < list.n; i++)
        s->changed(s->context, r, list.items[i], NULL);
}

static void tell_initial(struct cluster *c, struct subscriber *s)
{
    struct arena a;
    arena_init(&a);
    s->begun = true;
    for (size_t i = 0; i < schema_n_resources; i++) {
        const struct resource *r = &schema_resources[i];
        if (has_objects(r) && (!s->resource || s->resource == r))
            tell_all_of(c, &a, s, r);
        arena_reset(&a);
    }
    arena_fini(&a);
}

static void tell(struct cluster *c, const struct store_event *ev)
{
    const struct resource *r = row_of_key(c, store_item_key(ev->item ? ev->item : ev->prev));
    for (size_t i = 0; r && i < c->subscribers.n; i++) {
        const struct subscriber *s = &c->subscribers.at[i];
        if (s->begun && (!s->resource || s->resource == r))
            s->changed(s->context, r, ev->item, ev->prev);
    }
    if (ev->prev) /* the log keeps its bytes; the value would be several times as much */
        stored_drop_value(ev->prev);
}

static void find_place(struct cluster *c)
{
    struct arena a;
    struct err e;
    arena_init_small(&a);
    err_init(&e, &a);
    struct store *s = stored_store(c->objects);
    enum err_code rc = store_watch_init(s, &c->place, STR(REGISTRY), store_revision(s), &e);
    assert(rc == ERR_OK); /* what is still to come is always known */
    c->placed = true;
    arena_fini(&a);
}

void cluster_poll(struct cluster *c)
{
    struct store_event ev;
    enum err_code rc = ERR_EXPIRED;
    if (c->placed)
        while (!(rc = store_watch_next(stored_store(c->objects), &c->place, &ev)))
            tell(c, &ev);
    if (rc == ERR_EXPIRED) { /* overtaken: all begin again with what there is */
        find_place(c);
        for (size_t i = 0; i < c->subscribers.n; i++)
            c->subscribers.at[i].begun = false;
    }
    for (size_t i = 0; i < c->subscribers.n; i++)
        if (!c->subscribers.at[i].begun)
            tell_initial(c, &c->subscribers.at[i]);
}

static struct value decode(struct arena *a, const struct type *t, const struct store_item *item)
{
    struct value v;
    struct err e;
    err_init(&e, a);
    enum err_code rc = json_decode(a, WORK_OWN, t, store_item_value(item), NULL, &v, &e);
    assert(rc == ERR_OK); /* we wrote it */
    return v;
}

struct value cluster_metadata(struct arena *a, const struct store_item *item)
{
    return decode(a, schema_type(STR(METADATA_TYPE)), item);
}

struct value cluster_value(struct arena *a, const struct resource *r, const struct store_item *item)
{
    return decode(a, r->type, item);
}

struct store_item *cluster_item(struct cluster *c, const struct resource *r, struct str namespace, struct str name)
{
    struct arena a;
    arena_init_small(&a);
    struct store_item *item = store_get(stored_store(c->objects), stored_key(&a, r, namespace, name));
    arena_fini(&a);
    return item;
}

/* ---- Writes ---- */

/* Begun from the loop, so that its end never comes from within cluster_begin. */
struct job {
    struct list_node node;
    struct loop_task task;
    struct cluster *cluster;
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
    j->cluster->n_under_way--;
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

void cluster_begin(struct cluster *c, const struct cluster_call *call)
{
    struct job *j = mem_zalloc(sizeof(*j));
    arena_init(&j->arena);
    j->cluster = c;
    j->call = *call;
    operation_init(&j->op, c->server, &j->arena);
    copy_call(j, call);
    j->op.user = user_of(j);
    j->op.done = job_done;
    j->op.context = j;
    j->task.run = run_job;
    c->n_under_way++;
    list_push(&c->jobs, &j->node);
    loop_defer(c->loop, &j->task);
}

void cluster_stop(struct cluster *c)
{
    struct list_node *n;
    while ((n = list_first(&c->jobs))) {
        struct job *j = LIST_ITEM(n, struct job, node);
        loop_task_stop(&j->task);
        err_init(&j->op.err, &j->arena);
        err_set(&j->op.err, ERR_UNAVAILABLE, "the server ends");
        job_done(&j->op);
    }
}

uint32_t cluster_n_under_way(const struct cluster *c)
{
    return c->n_under_way;
}
