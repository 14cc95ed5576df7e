/* controllers/deployment.c - ReplicaSets that follow the template of a Deployment. Upstream: controller/deployment.
 *
 * A turn claims ReplicaSets, or asks rollout.h for a plan and carries it out, one action after the other; when one fails the rest
 * is left, and all is looked at again after a back-off. What was written is read by the next turn, from memory; writes carry the
 * version that was read, and names follow from templates: nothing is made twice. */
#include <stdlib.h>

#include "apiserver/subresource.h"
#include "base/log.h"
#include "controllers/controllers.h"
#include "controllers/owner_index.h"
#include "controllers/pod_control.h"
#include "controllers/rollout.h"
#include "controllers/work_queue.h"

#define CONTROLLER "deployment-controller"

enum { WORKERS = 20 };

struct deployment_controller {
    struct cluster *cluster;
    struct pod_index *pods, *replica_sets;
    struct pod_index *deployments;
    struct owner_index *selectors;
    struct events *events;
    struct work_queue *queue; /* of "namespace/name" */
    struct pod_control control;
    const struct resource *resource, *set_resource;
};

static struct str key_of(struct arena *a, struct str namespace, struct str name)
{
    return str_of(arena_printf(a, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name)));
}

/* ---- Turns ---- */

struct turn {
    struct deployment_controller *controller;
    struct arena arena;
    struct store_item **items; /* which the values below refer to */
    size_t n_items;
    struct str key, namespace;
    struct value object;
    struct object_reference about;
    struct rollout_set *sets;
    size_t n_sets;
    struct rollout_plan plan;
    size_t next; /* action */
    uint32_t n_out;
    bool again, retry;
};

static void turn_end(struct turn *t)
{
    struct work_queue *q = t->controller->queue;
    if (t->again)
        work_queue_add(q, t->key);
    if (t->plan.check_after_s > 0)
        work_queue_add_after(q, t->key, t->plan.check_after_s * 1000);
    work_queue_done(q, t->key, t->retry ? WORK_RETRY : WORK_FORGET);
    for (size_t i = 0; i < t->n_items; i++)
        store_item_unref(t->items[i]);
    arena_fini(&t->arena);
    free(t);
}

static void fail(struct turn *t, const char *message)
{
    LOG(4, "Error syncing deployment", KS("deployment", t->key), KS("err", message));
    t->retry = true;
    turn_end(t);
}

/* ---- Actions ---- */

static void go_on(struct turn *t);

static void begin(struct turn *t, struct cluster_call call)
{
    call.controller = CONTROLLER;
    call.namespace = t->namespace;
    call.context = t;
    cluster_begin(t->controller->cluster, &call);
}

static void done(void *context, enum err_code code, const char *message)
{
    struct turn *t = context;
    bool deletes = t->plan.actions[t->next - 1].verb == ROLLOUT_DELETE_SET;
    if (code && !(deletes && code == ERR_NOT_FOUND))
        fail(t, message);
    else
        go_on(t);
}

static void status_of_failure_written(void *context, enum err_code code, const char *message)
{
    (void)code;
    (void)message;
    struct turn *t = context;
    t->retry = true;
    turn_end(t);
}

static void write_status(struct turn *t, const struct value *v, void (*then)(void *context, enum err_code code,
                                                                              const char *message))
{
    begin(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .resource = t->controller->resource, .subresource = "status",
                                    .name = t->about.name, .object = v, .done = then });
}

/* Another ReplicaSet has the name. If it is ours the change that tells of it has not come yet; else another name is tried. */
static void resolve_collision(struct turn *t, struct str name)
{
    struct deployment_controller *c = t->controller;
    struct store_item *item = cluster_item(c->cluster, c->set_resource, t->namespace, name);
    struct value set = { .kind = VALUE_ABSENT };
    if (item)
        set = cluster_value(&t->arena, c->set_resource, item);
    if (!item || rollout_is_same_set(&t->object, &set)) {
        t->retry = true;
        turn_end(t);
        return;
    }
    struct value v = rollout_collided(&t->arena, &t->object);
    LOG(2, "Found a hash collision for deployment - bumping collisionCount to resolve it", KS("deployment", t->key));
    write_status(t, &v, status_of_failure_written);
}

static void set_made(void *context, const struct cluster_outcome *o)
{
    struct turn *t = context;
    struct deployment_controller *c = t->controller;
    struct str name = t->plan.actions[t->next - 1].name;
    if (!o->code) {
        go_on(t);
    } else if (o->code == ERR_ALREADY_EXISTS) {
        resolve_collision(t, name);
    } else if (o->namespace_ends) {
        fail(t, o->message);
    } else {
        const char *text = arena_printf(&t->arena, "Failed to create new replica set \"%.*s\": %s", STR_ARG(name), o->message);
        struct value v;
        events_record(c->events, CONTROLLER, &t->about, "Warning", "ReplicaSetCreateError", "%s", text);
        if (rollout_failed(&t->arena, &t->object, text, cluster_now_s(c->cluster), &v))
            write_status(t, &v, status_of_failure_written);
        else
            fail(t, o->message);
    }
}

static void act(struct turn *t, const struct rollout_action *action)
{
    struct deployment_controller *c = t->controller;
    struct cluster_call call = { .resource = c->set_resource, .name = action->name, .object = &action->object, .done = done };
    switch (action->verb) {
    case ROLLOUT_CREATE_SET:
        call.verb = CLUSTER_CREATE;
        call.done = NULL;
        call.answered = set_made;
        break;
    case ROLLOUT_UPDATE_SET:
        call.verb = CLUSTER_UPDATE;
        break;
    case ROLLOUT_DELETE_SET:
        call.verb = CLUSTER_DELETE;
        call.object = NULL;
        break;
    case ROLLOUT_UPDATE_DEPLOYMENT:
        call.verb = CLUSTER_UPDATE;
        call.resource = c->resource;
        call.name = t->about.name;
        break;
    case ROLLOUT_WRITE_STATUS:
        write_status(t, &action->object, done);
        return;
    case ROLLOUT_TELL:
        return;
    }
    begin(t, call);
}

static void go_on(struct turn *t)
{
    struct deployment_controller *c = t->controller;
    while (t->next < t->plan.n) {
        const struct rollout_action *action = &t->plan.actions[t->next++];
        if (action->verb != ROLLOUT_TELL) {
            act(t, action);
            return;
        }
        events_record(c->events, CONTROLLER, &t->about, action->type, action->reason, "%s", action->message);
    }
    turn_end(t);
}

/* ---- Reading ---- */

static void claimed(void *context, const struct pod_outcome *o)
{
    struct turn *t = context;
    t->retry |= o->code && o->code != ERR_NOT_FOUND;
    if (--t->n_out)
        return;
    t->again = !t->retry;
    turn_end(t);
}

static void keep_item(struct turn *t, struct store_item *item)
{
    t->items[t->n_items++] = store_item_ref(item);
}

static void keep_set(struct turn *t, const struct pod_facts *f)
{
    struct deployment_controller *c = t->controller;
    struct store_item *item = cluster_item(c->cluster, c->set_resource, f->namespace, f->name);
    if (!item)
        return; /* the change that tells so is on its way */
    keep_item(t, item);
    struct value v = cluster_value(&t->arena, c->set_resource, item);
    t->sets[t->n_sets++] = rollout_set_of(&v);
}

/* What is to be claimed is begun at once; what is ours is kept. */
static void claim_set(struct turn *t, const struct pod_facts *f, const struct selector *selector, bool deleted)
{
    struct deployment_controller *c = t->controller;
    struct claim claim = { .resource = c->set_resource, .name = f->name, .uid = f->uid };
    bool matches = selector_matches(selector, f->labels);
    switch (claim_decide(t->about.uid, deleted, f->owner_uid, f->deleted_s, matches)) {
    case CLAIM_OWNED:
        keep_set(t, f);
        break;
    case CLAIM_ADOPT:
        t->n_out++;
        pod_control_adopt(&c->control, &t->about, &claim, claimed, t);
        break;
    case CLAIM_RELEASE:
        t->n_out++;
        pod_control_release(&c->control, &t->about, &claim, claimed, t);
        break;
    case CLAIM_IGNORE:
        break;
    }
}

/* False: the selector is none. */
static bool read_sets(struct turn *t)
{
    struct deployment_controller *c = t->controller;
    const struct type *type = c->resource->type;
    struct selector selector;
    struct err e;
    err_init(&e, &t->arena);
    if (selector_of_value(&t->arena, schema_type(STR("meta/v1.LabelSelector")), value_path(type, &t->object, "spec.selector"),
                          &selector, &e) || selector_empty(&selector))
        return false;
    bool deleted = value_path(type, &t->object, "metadata.deletionTimestamp")->kind == VALUE_TIME;
    pod_list own, orphans;
    size_t n_own = pod_index_of_owner(c->replica_sets, t->about.uid, &t->arena, &own);
    size_t n_orphans = pod_index_orphans(c->replica_sets, t->namespace, &t->arena, &orphans);
    t->sets = ARENA_NEW_N(&t->arena, struct rollout_set, n_own);
    t->items = ARENA_NEW_N(&t->arena, struct store_item *, n_own + 1);
    for (size_t i = 0; i < n_own; i++)
        claim_set(t, own[i], &selector, deleted);
    for (size_t i = 0; i < n_orphans; i++)
        claim_set(t, orphans[i], &selector, deleted);
    return true;
}

static uint32_t n_pods_running(void *context, struct str uid)
{
    struct turn *t = context;
    pod_list pods;
    size_t n = pod_index_of_owner(t->controller->pods, uid, &t->arena, &pods);
    uint32_t n_running = 0;
    for (size_t i = 0; i < n; i++)
        n_running += pods[i]->phase != POD_IS_SUCCEEDED && pods[i]->phase != POD_IS_FAILED;
    return n_running;
}

/* ---- Work ---- */

static void decide(struct turn *t, struct store_item *item)
{
    struct deployment_controller *c = t->controller;
    t->plan.check_after_s = -1;
    if (!read_sets(t)) {
        events_record(c->events, CONTROLLER, &t->about, "Warning", "SelectingAll",
                      "This deployment is selecting all pods. A non-empty selector is required.");
        turn_end(t);
        return;
    }
    keep_item(t, item);
    if (t->n_out) /* claims come first */
        return;
    struct rollout_state s = { .deployment = &t->object, .sets = t->sets, .n_sets = t->n_sets,
                               .n_pods_running = n_pods_running, .context = t, .now_s = cluster_now_s(c->cluster) };
    t->plan = rollout_decide(&t->arena, &s);
    go_on(t);
}

static void work(void *context, struct str key)
{
    struct deployment_controller *c = context;
    size_t slash = str_index(key, '/');
    struct store_item *item = cluster_item(c->cluster, c->resource, str_first(key, slash), str_from(key, slash + 1));
    if (!item) {
        work_queue_done(c->queue, key, WORK_FORGET);
        return;
    }
    struct turn *t = mem_zalloc(sizeof(*t));
    t->controller = c;
    arena_init(&t->arena);
    t->key = arena_str(&t->arena, key);
    t->namespace = str_first(t->key, slash);
    t->object = cluster_value(&t->arena, c->resource, item);
    t->about = event_reference(c->resource, &t->object);
    decide(t, item);
}

/* ---- Changes ---- */

static void look_at(void *context, struct str key)
{
    struct deployment_controller *c = context;
    work_queue_add(c->queue, key);
}

static void look_at_owner(struct deployment_controller *c, const struct pod_facts *set)
{
    if (!str_is(set->owner_kind, "Deployment"))
        return;
    const struct pod_facts *owner = pod_index_find(c->deployments, set->namespace, set->owner_name);
    if (!owner || !str_eq(owner->uid, set->owner_uid))
        return;
    struct arena a;
    arena_init_small(&a);
    work_queue_add(c->queue, key_of(&a, set->namespace, set->owner_name));
    arena_fini(&a);
}

static void set_changed(void *context, const struct pod_facts *is, const struct pod_facts *was)
{
    struct deployment_controller *c = context;
    if (was && (!is || !str_eq(is->owner_uid, was->owner_uid)))
        look_at_owner(c, was);
    if (is && is->owner_uid.n)
        look_at_owner(c, is);
    else if (is && !is->deleted_s)
        owner_index_find(c->selectors, is->namespace, is->labels, look_at, c);
}

/* A Deployment that recreates its pods waits until the last one is gone. */
static void pod_gone(void *context, const struct pod_facts *is, const struct pod_facts *was)
{
    struct deployment_controller *c = context;
    bool ended = is && (is->phase == POD_IS_SUCCEEDED || is->phase == POD_IS_FAILED);
    const struct pod_facts *pod = is ? is : was;
    if ((is && !ended) || !str_is(pod->owner_kind, "ReplicaSet") || pod_index_n_of_owner(c->pods, pod->owner_uid))
        return;
    const struct pod_facts *set = pod_index_find(c->replica_sets, pod->namespace, pod->owner_name);
    if (set && str_eq(set->uid, pod->owner_uid))
        look_at_owner(c, set);
}

static void deployment_changed(void *context, const struct pod_facts *is, const struct pod_facts *was)
{
    struct deployment_controller *c = context;
    const struct pod_facts *f = is ? is : was;
    struct arena a;
    arena_init_small(&a);
    struct str key = key_of(&a, f->namespace, f->name);
    struct store_item *item = is && !was ? cluster_item(c->cluster, c->resource, f->namespace, f->name) : NULL;
    if (!is)
        owner_index_remove(c->selectors, key);
    if (item) { /* the selector never changes */
        struct value v = cluster_value(&a, c->resource, item);
        owner_index_put(c->selectors, key, f->namespace, value_path(c->resource->type, &v, "spec.selector.matchLabels"));
    }
    work_queue_add(c->queue, key);
    arena_fini(&a);
}

/* ---- Life ---- */

void *deployment_controller_start(const struct controller_context *context)
{
    struct deployment_controller *c = mem_zalloc(sizeof(*c));
    c->cluster = context->cluster;
    c->events = context->events;
    c->pods = context->pods;
    c->replica_sets = context->replica_sets;
    c->resource = stored_resource("deployments", "apps");
    c->set_resource = stored_resource("replicasets", "apps");
    c->deployments = owned_index_new(c->cluster, c->resource);
    c->selectors = owner_index_new();
    c->queue = work_queue_new(cluster_loop(c->cluster), WORKERS, work, c);
    work_queue_show(c->queue, context->queues, "deployment");
    c->control = (struct pod_control){ c->cluster, c->events, CONTROLLER };
    pod_index_watch(c->deployments, deployment_changed, c);
    pod_index_watch(c->replica_sets, set_changed, c);
    pod_index_watch(c->pods, pod_gone, c);
    return c;
}

void deployment_controller_stop(void *own_controller)
{
    struct deployment_controller *c = own_controller;
    work_queue_free(c->queue);
    owner_index_free(c->selectors);
    pod_index_free(c->deployments);
    free(c);
}
