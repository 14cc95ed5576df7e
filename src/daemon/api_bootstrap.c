/* daemon/api_bootstrap.c - see api_bootstrap.h. */
#include "daemon/api_bootstrap.h"

#include <stdlib.h>

#include "api/edit.h"
#include "apiserver/operation.h"
#include "apiserver/rbac_bootstrap.h"
#include "base/log.h"

enum step { STEP_NAMESPACES, STEP_OBJECTS, STEP_STATUSES, N_STEPS };

/* One object on its way. */
struct made {
    struct api_bootstrap *owner;
    const struct bootstrap_object *object;
    const struct rbac_object *role; /* of a role or binding; NULL: it is none */
    struct operation op;
    struct arena arena;
    struct value value; /* what is written */
    bool used;          /* op and arena are to be given back */
};

struct api_bootstrap {
    struct api_bootstrap_options o;
    struct arena arena;
    struct bootstrap_object *objects;
    size_t n_objects;
    struct made *made; /* one each */
    enum step step;
    size_t n_open;
    struct loop_task next; /* the step after this one: not from within an operation's last word */
};

static const struct str masters = { GROUP_MASTERS, sizeof(GROUP_MASTERS) - 1 };
static const struct user server_user = { .name = { "system:apiserver", 16 }, .groups = { &masters, 1 } };

/* ---- Objects that tell about this process ---- */

static const struct {
    const char *kind, *field;
} kept_up[] = {
    { "Service", "spec.ports" },
    { "Endpoints", "subsets" },
    { "EndpointSlice", "endpoints" },
    { "EndpointSlice", "ports" },
    { "ConfigMap", "data" },
};

/* What is there with what it should have; false: it has. */
static bool bring_up(const struct made *m, const struct value *there, struct arena *a, struct value *ret_value)
{
    bool leads_elsewhere; /* somebody has bound it to another role, and that is respected */
    if (m->role)
        return rbac_bootstrap_reconcile(a, m->role, there, ret_value, &leads_elsewhere);
    if (m->object->stays)
        return false;
    const struct type *t = m->object->resource->type;
    struct value v = *there;
    bool changed = false;
    for (size_t i = 0; i < sizeof(kept_up) / sizeof(kept_up[0]); i++) {
        if (!str_is(m->object->resource->kind, kept_up[i].kind))
            continue;
        const struct value *want = value_path(t, &m->object->value, kept_up[i].field);
        if (!value_equal(want, value_path(t, &v, kept_up[i].field))) {
            v = edit_set(a, t, &v, kept_up[i].field, *want);
            changed = true;
        }
    }
    *ret_value = v;
    return changed;
}

/* ---- Steps ---- */

static void one_less(struct api_bootstrap *b)
{
    if (--b->n_open == 0)
        loop_defer(b->o.loop, &b->next);
}

static void made_done(struct operation *op)
{
    struct made *m = op->context;
    if (op->err.code && op->err.code != ERR_ALREADY_EXISTS)
        LOG_ERROR(op->err.message, "Unable to make an object of the server's "
                                   "own", KS("kind", m->object->resource->kind),
                  KO("object", m->object->namespace, m->object->name));
    one_less(m->owner);
}

static void give_back(struct made *m)
{
    if (!m->used)
        return;
    operation_fini(&m->op);
    arena_fini(&m->arena);
    m->used = false;
}

static struct operation *begin(struct made *m)
{
    struct api_bootstrap *b = m->owner;
    const struct resource *r = m->object->resource;
    give_back(m);
    arena_init(&m->arena);
    operation_init(&m->op, b->o.server, &m->arena);
    m->used = true;
    m->op.user = &server_user;
    m->op.user_agent = str_is(r->group, "flowcontrol.apiserver.k8s.io")
                           ? STR("api-priority-and-fairness-config-producer-v1")
                           : STR("kube-apiserver");
    m->op.resource = r;
    m->op.namespace = m->object->namespace;
    m->op.object = &m->value;
    m->op.done = made_done;
    m->op.context = m;
    b->n_open++;
    return &m->op;
}

static void make_object(struct made *m)
{
    const struct bootstrap_object *o = m->object;
    const struct value *there = stored_get(m->owner->o.objects, o->resource, o->namespace, o->name);
    if (!there) {
        struct operation *op = begin(m);
        m->value = o->value;
        registry_create(op);
        return;
    }
    struct arena scratch;
    struct value changed;
    arena_init(&scratch);
    if (bring_up(m, there, &scratch, &changed)) {
        struct operation *op = begin(m);
        op->name = o->name;
        m->value = value_copy(&m->arena, &changed);
        registry_update(op);
    }
    arena_fini(&scratch);
}

static const struct subresource *status_of(const struct resource *r)
{
    for (const struct subresource *s = r->subresources; s && s->name; s++)
        if (strcmp(s->name, "status") == 0)
            return s;
    return NULL;
}

/* Of those that were made just now: the status is not there yet. */
static void make_status(struct made *m)
{
    const struct bootstrap_object *o = m->object;
    const struct subresource *status = status_of(o->resource);
    const struct type *t = o->resource->type;
    const struct value *there = stored_get(m->owner->o.objects, o->resource, o->namespace, o->name);
    if (!o->has_status || !status || !there || str_is(o->resource->kind, "Namespace"))
        return;
    const struct value *has = value_path(t, there, "status.conditions");
    if (has->kind == VALUE_LIST && has->n)
        return;
    struct operation *op = begin(m);
    op->name = o->name;
    op->subresource = status;
    struct value v = edit_set(&m->arena, t, there, "status", *value_path(t, &o->value, "status"));
    m->value = value_copy(&m->arena, &v);
    registry_update(op);
}

static void next_step(struct loop_task *t)
{
    struct api_bootstrap *b = LIST_ITEM(t, struct api_bootstrap, next);
    enum step step = b->step++;
    if (step == N_STEPS) {
        b->o.done(b->o.context);
        return;
    }
    b->n_open = 1; /* until all are begun */
    for (size_t i = 0; i < b->n_objects; i++) {
        bool is_namespace = str_is(b->objects[i].resource->kind, "Namespace");
        if (step == STEP_STATUSES)
            make_status(&b->made[i]);
        else if (is_namespace == (step == STEP_NAMESPACES))
            make_object(&b->made[i]);
    }
    one_less(b);
}

/* ---- Life ---- */

static void collect(struct api_bootstrap *b)
{
    struct rbac_object *roles = NULL;
    size_t n, n_roles = b->o.rbac ? rbac_bootstrap(&b->arena, &roles) : 0;
    struct bootstrap_object *own = bootstrap_objects(&b->arena, &b->o.make, &n);
    b->n_objects = n + n_roles;
    b->objects = ARENA_NEW_N(&b->arena, struct bootstrap_object, b->n_objects);
    memcpy(b->objects, own, n * sizeof(*own));
    for (size_t i = 0; i < n_roles; i++)
        b->objects[n + i] = (struct bootstrap_object){ .resource = roles[i].resource, .namespace = roles[i].namespace,
                                                       .name = roles[i].name, .value = roles[i].value };
    b->made = ARENA_NEW_N(&b->arena, struct made, b->n_objects);
    for (size_t i = 0; i < b->n_objects; i++)
        b->made[i] = (struct made){ .owner = b, .object = &b->objects[i], .role = i < n ? NULL : &roles[i - n] };
}

struct api_bootstrap *api_bootstrap_new(const struct api_bootstrap_options *o)
{
    struct api_bootstrap *b = mem_zalloc(sizeof(*b));
    b->o = *o;
    arena_init(&b->arena);
    b->next.run = next_step;
    collect(b);
    loop_defer(o->loop, &b->next);
    return b;
}

void api_bootstrap_free(struct api_bootstrap *b)
{
    if (!b)
        return;
    loop_task_stop(&b->next);
    for (size_t i = 0; i < b->n_objects; i++)
        give_back(&b->made[i]);
    arena_fini(&b->arena);
    free(b);
}
