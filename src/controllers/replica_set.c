/* controllers/replica_set.c - as many pods as a ReplicaSet or a ReplicationController wants. Upstream: controller/replicaset and
 * controller/replication.
 *
 * A turn reads the object and its pods, asks replicas.h what is to be done, orders it, and writes the status when all orders
 * have ended:
 *
 *   claims     pods are adopted or released, and the object looked at again
 *   orders     pods are made, in batches that double, or deleted, all at once; both are expected to be seen (expectations.h)
 *   status     what was counted before the orders; the pods that change bring the next turn
 *
 * Reads are from memory, and the index of pods may be behind what was written: that is what expectations are for. A process that
 * starts again has read all pods before its first turn. */
#include <stdlib.h>

#include "apiserver/subresource.h"
#include "base/log.h"
#include "controllers/controllers.h"
#include "controllers/expectations.h"
#include "controllers/owner_index.h"
#include "controllers/pod_control.h"
#include "controllers/replicas.h"
#include "controllers/work_queue.h"

enum {
    WORKERS = 20,
    /* Looking at an object costs about as much as it has pods: the more there are, the more changes are taken together. */
    PODS_PER_MS = 64,
};

struct replicas_controller {
    const struct replicas_kind *kind;
    const struct resource *resource;
    const struct type *type;
    struct cluster *cluster;
    struct pod_index *pods;
    struct pod_index *objects;     /* the ReplicaSets, or ReplicationControllers */
    struct pod_index *own_objects; /* the same, when nobody else uses them */
    struct owner_index *selectors;
    struct expectations *expectations;
    struct work_queue *queue; /* of "namespace/name" */
    struct pod_control control;
};

static struct str key_of(struct arena *a, struct str namespace, struct str name)
{
    return str_of(arena_printf(a, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name)));
}

static int64_t now_ms(const struct replicas_controller *c)
{
    return loop_now_ms(cluster_loop(c->cluster));
}

static int64_t wall_ns(const struct replicas_controller *c)
{
    return clock_wall_ns(loop_clock(cluster_loop(c->cluster)));
}

/* ---- Turns ---- */

struct turn {
    struct replicas_controller *controller;
    struct arena arena;
    struct store_item *item; /* which the values below refer to */
    struct str key, namespace;
    struct value object; /* with the counts that its status is to have */
    bool counts_differ;
    struct replicas_spec spec;
    struct object_reference owner;
    struct value pod;        /* to be made */
    struct slow_start start; /* making them */
    uint32_t n_out;
    struct replicas_failure failure;
    bool again; /* at once */
    bool retry; /* after a back-off */
    int64_t next_check_ms;
};

static void turn_end(struct turn *t)
{
    struct work_queue *q = t->controller->queue;
    if (t->again)
        work_queue_add(q, t->key);
    if (t->next_check_ms >= 0)
        work_queue_add_after(q, t->key, t->next_check_ms);
    work_queue_done(q, t->key, t->retry ? WORK_RETRY : WORK_FORGET);
    store_item_unref(t->item);
    arena_fini(&t->arena);
    free(t);
}

static void note_failure(struct turn *t, const char *reason, const char *message)
{
    t->retry = true;
    if (!t->failure.reason)
        t->failure = (struct replicas_failure){ reason, arena_cstr(&t->arena, str_of(message)) };
}

/* ---- Status ---- */

static void status_written(void *context, enum err_code code, const char *message)
{
    struct turn *t = context;
    if (code && code != ERR_NOT_FOUND) {
        LOG(4, "Status is written again", KS("key", t->key), KS("err", message));
        t->retry = true;
    }
    turn_end(t);
}

static void write_status(struct turn *t)
{
    struct replicas_controller *c = t->controller;
    struct value v = replicas_with_conditions(&t->arena, c->kind, &t->object, &t->failure, cluster_now_s(c->cluster));
    const char *conditions = "status.conditions";
    if (!t->counts_differ && value_equal(value_path(c->type, &v, conditions), value_path(c->type, &t->object, conditions))) {
        turn_end(t);
        return;
    }
    struct cluster_call call = { .verb = CLUSTER_UPDATE, .controller = c->kind->controller, .resource = c->resource,
                                 .subresource = "status", .namespace = t->namespace, .name = t->owner.name, .object = &v,
                                 .done = status_written, .context = t };
    cluster_begin(c->cluster, &call);
}

/* ---- Orders ---- */

static void pod_made(void *context, const struct pod_outcome *o)
{
    struct turn *t = context;
    if (o->code)
        expectations_creation_observed(t->controller->expectations, t->key); /* nothing will be seen of it */
    if (o->code && !o->namespace_ends)
        note_failure(t, "FailedCreate", o->message);
    slow_start_ended(&t->start, !o->code || o->namespace_ends);
}

static void make_pod(struct slow_start *s, uint32_t i)
{
    struct turn *t = LIST_ITEM(s, struct turn, start);
    (void)i;
    pod_control_create(&t->controller->control, &t->owner, &t->pod, pod_made, t);
}

static void pods_made(struct slow_start *s)
{
    struct turn *t = LIST_ITEM(s, struct turn, start);
    if (s->failed)
        LOG(2, "Slow-start failure. Skipping creation of pods, decrementing expectations", KS("key", t->key),
            KI("podsSkipped", s->n - s->n_fine));
    for (uint32_t i = s->n_begun; i < s->n; i++) /* those were not even tried */
        expectations_creation_observed(t->controller->expectations, t->key);
    write_status(t);
}

static void make_pods(struct turn *t, uint32_t n)
{
    struct replicas_controller *c = t->controller;
    const struct value *template = value_path(c->type, &t->object, "spec.template");
    LOG(2, "Too few replicas", KS("key", t->key), KI("need", t->spec.wanted), KI("creating", n));
    t->pod = pod_from_template(&t->arena, template, &t->owner);
    t->start = (struct slow_start){ .n = n, .begin = make_pod, .done = pods_made };
    expectations_expect_creations(c->expectations, t->key, n, now_ms(c));
    slow_start_run(&t->start);
}

struct deletion {
    struct turn *turn;
    struct str name;
};

static void pod_deleted(void *context, const struct pod_outcome *o)
{
    struct deletion *d = context;
    struct turn *t = d->turn;
    if (o->code)
        expectations_deletion_observed(t->controller->expectations, t->key, d->name);
    if (o->code && o->code != ERR_NOT_FOUND)
        note_failure(t, "FailedDelete", arena_printf(&t->arena, "unable to delete pods: %s", o->message));
    if (--t->n_out == 0)
        write_status(t);
}

static void delete_pods(struct turn *t, const struct pods_to *pods)
{
    struct replicas_controller *c = t->controller;
    LOG(2, "Too many replicas", KS("key", t->key), KI("need", t->spec.wanted), KI("deleting", pods->n));
    expectations_expect_deletions(c->expectations, t->key, now_ms(c));
    t->n_out = (uint32_t)pods->n;
    for (size_t i = 0; i < pods->n; i++) {
        struct deletion *d = ARENA_NEW(&t->arena, struct deletion);
        *d = (struct deletion){ t, arena_str(&t->arena, pods->at[i]->name) };
        expectations_add_deletion(c->expectations, t->key, d->name);
        pod_control_delete(&c->control, &t->owner, d->name, pods->at[i]->uid, pod_deleted, d);
    }
}

/* ---- Claims ---- */

static void claimed(void *context, const struct pod_outcome *o)
{
    struct turn *t = context;
    t->retry |= o->code && o->code != ERR_NOT_FOUND;
    if (--t->n_out)
        return;
    t->again = !t->retry;
    turn_end(t);
}

typedef void claim_call(const struct pod_control *c, const struct object_reference *owner, const struct claim *claim,
                        pod_control_done *done, void *context);

static void claim_pods(struct turn *t, const struct pods_to *pods, claim_call *call)
{
    for (size_t i = 0; i < pods->n; i++) {
        struct claim claim = { .resource = stored_resource("pods", ""), .name = pods->at[i]->name, .uid = pods->at[i]->uid };
        call(&t->controller->control, &t->owner, &claim, claimed, t);
    }
}

/* ---- Reading ---- */

static bool read_selector(struct turn *t, struct selector *ret)
{
    const struct replicas_controller *c = t->controller;
    const struct value *v = value_path(c->type, &t->object, "spec.selector");
    struct err e;
    err_init(&e, &t->arena);
    if (!c->kind->selector_is_map)
        return !selector_of_value(&t->arena, schema_type(STR("meta/v1.LabelSelector")), v, ret, &e);
    uint32_t n = v->kind == VALUE_MAP ? v->n : 0;
    struct label *labels = ARENA_NEW_N(&t->arena, struct label, n);
    for (uint32_t i = 0; i < n; i++)
        labels[i] = (struct label){ v->members[i].key, value_text(&v->members[i].value) };
    *ret = selector_from_labels(&t->arena, (struct labels){ labels, n });
    ret->nothing = n == 0; /* an object from before there were defaults */
    return true;
}

static int32_t number_at(const struct turn *t, const char *path)
{
    const struct value *v = value_path(t->controller->type, &t->object, path);
    return v->kind == VALUE_INT ? (int32_t)v->i : 0;
}

/* False: a selector that selects nothing we could tell. */
static bool read_object(struct turn *t)
{
    struct replicas_controller *c = t->controller;
    t->object = cluster_value(&t->arena, c->resource, t->item);
    t->owner = event_reference(c->resource, &t->object);
    t->spec = (struct replicas_spec){
        .uid = t->owner.uid,
        .deleted = value_path(c->type, &t->object, "metadata.deletionTimestamp")->kind == VALUE_TIME,
        .wanted = number_at(t, "spec.replicas"),
        .min_ready_s = number_at(t, "spec.minReadySeconds"),
    };
    return read_selector(t, &t->spec.selector);
}

static pod_list joined(struct arena *a, pod_list one, size_t n_one, pod_list other, size_t n_other)
{
    const struct pod_facts **all = ARENA_NEW_N(a, const struct pod_facts *, n_one + n_other);
    if (n_one)
        memcpy(all, one, n_one * sizeof(*all));
    if (n_other)
        memcpy(all + n_one, other, n_other * sizeof(*all));
    return all;
}

static void read_pods(struct turn *t, struct replicas_state *s)
{
    struct replicas_controller *c = t->controller;
    pod_list own, orphans;
    size_t n_own = pod_index_of_owner(c->pods, t->spec.uid, &t->arena, &own);
    size_t n_orphans = pod_index_orphans(c->pods, t->namespace, &t->arena, &orphans);
    s->pods = joined(&t->arena, own, n_own, orphans, n_orphans);
    s->n_pods = n_own + n_orphans;
}

/* The pods of all that have the same owner as this, a Deployment; without one: none. */
static void read_related(struct turn *t, struct replicas_state *s)
{
    struct replicas_controller *c = t->controller;
    const struct pod_facts *me = pod_index_find(c->objects, t->namespace, t->owner.name);
    if (!me || !me->owner_uid.n)
        return;
    pod_list siblings;
    size_t n = pod_index_of_owner(c->objects, me->owner_uid, &t->arena, &siblings);
    for (size_t i = 0; i < n; i++) {
        pod_list more;
        size_t n_more = pod_index_of_owner(c->pods, siblings[i]->uid, &t->arena, &more);
        s->related = joined(&t->arena, s->related, s->n_related, more, n_more);
        s->n_related += n_more;
    }
}

/* ---- Work ---- */

static void carry_out(struct turn *t, const struct replicas_plan *plan)
{
    if (plan->adopt.n || plan->release.n) {
        t->n_out = (uint32_t)(plan->adopt.n + plan->release.n);
        claim_pods(t, &plan->adopt, pod_control_adopt);
        claim_pods(t, &plan->release, pod_control_release);
    } else if (plan->n_create) {
        make_pods(t, plan->n_create);
    } else if (plan->delete.n) {
        delete_pods(t, &plan->delete);
    } else {
        write_status(t);
    }
}

static void decide(struct turn *t)
{
    struct replicas_controller *c = t->controller;
    struct replicas_state state = { .spec = &t->spec, .now_ns = wall_ns(c),
                                    .expects = !expectations_satisfied(c->expectations, t->key, now_ms(c)) };
    read_pods(t, &state);
    if (state.n_pods > (size_t)t->spec.wanted)
        read_related(t, &state);
    struct replicas_plan plan = replicas_decide(&t->arena, &state);
    struct value before = t->object;
    t->object = replicas_with_counts(&t->arena, c->kind, &before, &t->spec, &plan, state.now_ns / CLOCK_NS_PER_SECOND);
    t->counts_differ = !value_equal(value_path(c->type, &before, "status"), value_path(c->type, &t->object, "status"));
    t->next_check_ms = replicas_next_check_ms(&t->spec, &plan.active, state.now_ns);
    carry_out(t, &plan);
}

static void work(void *context, struct str key)
{
    struct replicas_controller *c = context;
    size_t slash = str_index(key, '/');
    struct store_item *item = cluster_item(c->cluster, c->resource, str_first(key, slash), str_from(key, slash + 1));
    if (!item) {
        expectations_forget(c->expectations, key);
        work_queue_done(c->queue, key, WORK_FORGET);
        return;
    }
    struct turn *t = mem_zalloc(sizeof(*t));
    t->controller = c;
    t->item = store_item_ref(item);
    t->next_check_ms = -1;
    arena_init(&t->arena);
    t->key = arena_str(&t->arena, key);
    t->namespace = str_first(t->key, slash);
    if (read_object(t))
        decide(t);
    else
        turn_end(t);
}

/* ---- Changes ---- */

/* The key of the owner, when it is of our kind and the one that is meant; else empty. */
static struct str owner_key(struct replicas_controller *c, struct arena *a, const struct pod_facts *f)
{
    if (!str_eq(f->owner_kind, c->resource->kind))
        return STR("");
    const struct pod_facts *owner = pod_index_find(c->objects, f->namespace, f->owner_name);
    return owner && str_eq(owner->uid, f->owner_uid) ? key_of(a, f->namespace, f->owner_name) : STR("");
}

static void look_at(void *context, struct str key)
{
    struct replicas_controller *c = context;
    work_queue_add(c->queue, key);
}

/* For what only changes the status. */
static void look_soon(struct replicas_controller *c, struct str key, const struct pod_facts *f)
{
    int64_t ms = pod_index_n_of_owner(c->pods, f->owner_uid) / PODS_PER_MS;
    if (ms)
        work_queue_add_after(c->queue, key, ms);
    else
        work_queue_add(c->queue, key);
}

static void pod_left(struct replicas_controller *c, struct arena *a, const struct pod_facts *f)
{
    struct str key = owner_key(c, a, f);
    if (!key.n)
        return;
    expectations_deletion_observed(c->expectations, key, f->name);
    look_at(c, key);
}

static void pod_came(struct replicas_controller *c, struct arena *a, const struct pod_facts *f)
{
    struct str key = owner_key(c, a, f);
    if (key.n) {
        expectations_creation_observed(c->expectations, key);
        if (expectations_satisfied(c->expectations, key, now_ms(c)))
            look_at(c, key);
        else
            look_soon(c, key, f);
    } else if (!f->owner_uid.n) {
        owner_index_find(c->selectors, f->namespace, f->labels, look_at, c);
    }
}

static bool same_labels(struct labels a, struct labels b)
{
    for (size_t i = 0; i < a.n && a.n == b.n; i++)
        if (!str_eq(a.at[i].key, b.at[i].key) || !str_eq(a.at[i].value, b.at[i].value))
            return false;
    return a.n == b.n;
}

static void pod_differs(struct replicas_controller *c, struct arena *a, const struct pod_facts *is, const struct pod_facts *was)
{
    bool owner_changed = !str_eq(is->owner_uid, was->owner_uid);
    struct str key = owner_changed ? owner_key(c, a, was) : STR("");
    if (key.n)
        look_at(c, key);
    key = owner_key(c, a, is);
    if (key.n)
        look_soon(c, key, is);
    else if (!is->owner_uid.n && (owner_changed || !same_labels(is->labels, was->labels)))
        owner_index_find(c->selectors, is->namespace, is->labels, look_at, c);
}

static void pod_changed_here(void *context, const struct pod_facts *is, const struct pod_facts *was)
{
    struct replicas_controller *c = context;
    struct arena a;
    arena_init_small(&a);
    if (!is)
        pod_left(c, &a, was);
    else if (is->deleted_s)
        pod_left(c, &a, is);
    else if (!was)
        pod_came(c, &a, is);
    else
        pod_differs(c, &a, is, was);
    arena_fini(&a);
}

static void learn_selector(struct replicas_controller *c, struct arena *a, struct str key, const struct pod_facts *is)
{
    struct store_item *item = cluster_item(c->cluster, c->resource, is->namespace, is->name);
    if (!item)
        return;
    struct value v = cluster_value(a, c->resource, item);
    const char *path = c->kind->selector_is_map ? "spec.selector" : "spec.selector.matchLabels";
    owner_index_put(c->selectors, key, is->namespace, value_path(c->type, &v, path));
}

static void object_changed(void *context, const struct pod_facts *is, const struct pod_facts *was)
{
    struct replicas_controller *c = context;
    const struct pod_facts *f = is ? is : was;
    struct arena a;
    arena_init_small(&a);
    struct str key = key_of(&a, f->namespace, f->name);
    if (!is || (was && !str_eq(is->uid, was->uid)))
        expectations_forget(c->expectations, key);
    if (!is)
        owner_index_remove(c->selectors, key);
    else if (!was || c->kind->selector_is_map) /* of others it never changes */
        learn_selector(c, &a, key, is);
    work_queue_add(c->queue, key);
    arena_fini(&a);
}

/* ---- Life ---- */

static void *start(const struct controller_context *context, const struct replicas_kind *kind, struct pod_index *objects)
{
    struct replicas_controller *c = mem_zalloc(sizeof(*c));
    c->kind = kind;
    c->resource = stored_resource(kind->plural, kind->group);
    c->type = schema_type(str_of(kind->type));
    c->cluster = context->cluster;
    c->pods = context->pods;
    c->own_objects = objects ? NULL : owned_index_new(context->cluster, c->resource);
    c->objects = objects ? objects : c->own_objects;
    c->selectors = owner_index_new();
    c->expectations = expectations_new();
    c->queue = work_queue_new(cluster_loop(context->cluster), WORKERS, work, c);
    work_queue_show(c->queue, context->queues, kind == &replica_set_kind ? "replicaset" : "replicationmanager");
    c->control = (struct pod_control){ context->cluster, context->events, kind->controller };
    /* The objects first, so that the owners of pods are known when those are told. */
    pod_index_watch(c->objects, object_changed, c);
    pod_index_watch(c->pods, pod_changed_here, c);
    return c;
}

static void stop(void *own_controller)
{
    struct replicas_controller *c = own_controller;
    work_queue_free(c->queue);
    expectations_free(c->expectations);
    owner_index_free(c->selectors);
    pod_index_free(c->own_objects);
    free(c);
}

void *replica_set_controller_start(const struct controller_context *c)
{
    return start(c, &replica_set_kind, c->replica_sets);
}

void replica_set_controller_stop(void *own_controller)
{
    stop(own_controller);
}

void *replication_controller_start(const struct controller_context *c)
{
    return start(c, &replication_controller_kind, NULL);
}

void replication_controller_stop(void *own_controller)
{
    stop(own_controller);
}
