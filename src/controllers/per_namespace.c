/* controllers/per_namespace.c - see per_namespace.h. */
#include "controllers/per_namespace.h"

#include <stdlib.h>

#include "api/edit.h"
#include "controllers/work_queue.h"

enum { WORKERS = 20 };

struct per_namespace {
    struct cluster *cluster;
    const struct per_namespace_rule *rule;
    struct work_queue *queue; /* of namespaces */
    char *root_ca_pem;
};

/* A namespace that is being worked on. */
struct turn {
    struct per_namespace *controller;
    size_t n_key;
    char key[];
};

static void written(void *context, enum err_code code, const char *message)
{
    struct turn *t = context;
    (void)message;
    /* A namespace that ends takes nothing any more. */
    bool fine = !code || code == ERR_ALREADY_EXISTS || code == ERR_NOT_FOUND || code == ERR_FORBIDDEN;
    work_queue_done(t->controller->queue, (struct str){ t->key, t->n_key }, fine ? WORK_FORGET : WORK_RETRY);
    free(t);
}

static bool is_active(struct per_namespace *p, struct str namespace)
{
    const struct value *v = stored_get(cluster_objects(p->cluster), stored_resource("namespaces", ""), STR(""), namespace);
    return v && str_is(value_text(value_path(schema_type(STR("core/v1.Namespace")), v, "status.phase")), "Active");
}

static struct value base_of(struct arena *a, const struct type *t, const struct per_namespace_rule *r, struct str namespace)
{
    struct value v = value_struct(a, t);
    v.slots[SLOT_KIND] = value_string(t->kind);
    v.slots[SLOT_API_VERSION] = edit_text("v1");
    v = edit_set(a, t, &v, "metadata.name", edit_text(r->name));
    return edit_set(a, t, &v, "metadata.namespace", value_string(namespace));
}

static void begin_write(struct per_namespace *p, struct str key, const struct value *v, enum cluster_verb verb)
{
    struct turn *t = mem_zalloc(sizeof(*t) + key.n);
    t->controller = p;
    t->n_key = key.n;
    memcpy(t->key, key.p, key.n);
    struct cluster_call call = { .verb = verb, .controller = p->rule->controller, .namespace = key,
                                 .name = str_of(p->rule->name), .object = v, .resource = stored_resource(p->rule->plural, ""),
                                 .done = written, .context = t };
    cluster_begin(p->cluster, &call);
}

static void work(void *context, struct str key)
{
    struct per_namespace *p = context;
    const struct per_namespace_rule *r = p->rule;
    const struct type *t = schema_type(str_of(r->type));
    struct arena a;
    arena_init(&a);
    const struct value *there = stored_get(cluster_objects(p->cluster), stored_resource(r->plural, ""), key,
                                           str_of(r->name));
    struct value base = there ? *there : base_of(&a, t, r, key);
    struct value v = r->make(&a, t, &base, there, str_of(p->root_ca_pem));
    if (!is_active(p, key) || (there && value_equal(there, &v)))
        work_queue_done(p->queue, key, WORK_FORGET);
    else
        begin_write(p, key, &v, there ? CLUSTER_UPDATE : CLUSTER_CREATE);
    arena_fini(&a);
}

static void namespace_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct per_namespace *p = context;
    struct str namespace, name;
    (void)prev;
    if (!item)
        return;
    stored_read_key(r, store_item_key(item), &namespace, &name);
    work_queue_add(p->queue, name);
}

static void object_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct per_namespace *p = context;
    struct str namespace, name;
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    if (str_is(name, p->rule->name))
        work_queue_add(p->queue, namespace);
}

void *per_namespace_start(const struct controller_context *c, const struct per_namespace_rule *rule)
{
    struct per_namespace *p = mem_zalloc(sizeof(*p));
    p->cluster = c->cluster;
    p->rule = rule;
    p->root_ca_pem = mem_zalloc(c->root_ca_pem.n + 1);
    if (c->root_ca_pem.n)
        memcpy(p->root_ca_pem, c->root_ca_pem.p, c->root_ca_pem.n);
    p->queue = work_queue_new(cluster_loop(c->cluster), WORKERS, work, p);
    work_queue_show(p->queue, c->queues, rule->queue);
    cluster_watch(c->cluster, stored_resource("namespaces", ""), namespace_changed, p);
    cluster_watch(c->cluster, stored_resource(rule->plural, ""), object_changed, p);
    return p;
}

void per_namespace_stop(void *own_controller)
{
    struct per_namespace *p = own_controller;
    work_queue_free(p->queue);
    free(p->root_ca_pem);
    free(p);
}
