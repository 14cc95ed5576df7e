/* controllers/job.c - Jobs: pods that run until enough of them have succeeded, or too many failed.
 *
 * Pods have a finalizer until the Job's status has counted them, so that none is forgotten that was deleted meanwhile. Here
 * are the changes that make the controller look at a Job, and pods that hold the finalizer though no Job counts them.
 * Upstream: controller/job. */
#include <stdlib.h>

#include "apiserver/subresource.h"
#include "controllers/job_priv.h"

#define CONTROLLER "job-controller"
#define REMOVE_FINALIZER "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"" JOB_TRACKING_FINALIZER "\"]}}"

enum { WORKERS = 5, KEY_BYTES_MAX = 512 };

static const struct resource *job_resource(void)
{
    return stored_resource("jobs", "batch");
}

static const struct value *find_job(struct job_controller *c, struct str namespace, struct str name)
{
    return stored_get(cluster_objects(c->cluster), job_resource(), namespace, name);
}

/* ---- Keys ---- */

static void add_key(struct work_queue *q, struct str namespace, struct str name)
{
    char key[KEY_BYTES_MAX];
    int n = snprintf(key, sizeof(key), "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name));
    if (n > 0 && (size_t)n < sizeof(key))
        work_queue_add(q, (struct str){ key, (size_t)n });
}

int64_t job_now_ms(const struct job_controller *c)
{
    return clock_wall_ns(loop_clock(cluster_loop(c->cluster))) / CLOCK_NS_PER_MS;
}

/* ---- Back-off of pods ---- */

struct backoff_entry {
    struct job_backoff backoff;
    char key[];
};

struct job_backoff job_backoff_get(struct job_controller *c, struct str key)
{
    const union map_value *found = map_str_find(&c->backoffs, key);
    return found ? ((const struct backoff_entry *)found->ptr)->backoff : (struct job_backoff){ 0 };
}

void job_backoff_set(struct job_controller *c, struct str key, struct job_backoff b)
{
    union map_value *found = map_str_find(&c->backoffs, key), old;
    if (b.n_failures && found) {
        ((struct backoff_entry *)found->ptr)->backoff = b;
    } else if (b.n_failures) {
        struct backoff_entry *entry = mem_zalloc(sizeof(*entry) + key.n);
        memcpy(entry->key, key.p, key.n);
        entry->backoff = b;
        map_str_put(&c->backoffs, (struct str){ entry->key, key.n }, NULL)->ptr = entry;
    } else if (found && map_str_remove(&c->backoffs, key, &old)) {
        free(old.ptr);
    }
}

/* ---- Finalizers that nobody needs ---- */

void job_release_pod(struct job_controller *c, struct str namespace, struct str name,
                     void (*done)(void *context, enum err_code code, const char *message), void *context)
{
    cluster_begin(c->cluster, &(struct cluster_call){ .verb = CLUSTER_PATCH_STRATEGIC, .controller = CONTROLLER,
                                                      .resource = stored_resource("pods", ""), .namespace = namespace,
                                                      .name = name, .patch = STR(REMOVE_FINALIZER), .done = done,
                                                      .context = context });
}

struct orphan_call {
    struct job_controller *controller;
    size_t n_key;
    char key[];
};

static void orphan_done(void *context, enum err_code code, const char *message)
{
    struct orphan_call *call = context;
    (void)message;
    bool fine = !code || code == ERR_NOT_FOUND;
    work_queue_done(call->controller->orphans, (struct str){ call->key, call->n_key }, fine ? WORK_FORGET : WORK_RETRY);
    free(call);
}

/* Whether no Job will ever count it. */
static bool is_left_alone(struct job_controller *c, const struct pod_facts *p)
{
    if (!p->owner_uid.n)
        return true;
    if (!str_is(p->owner_kind, "Job"))
        return false;
    const struct value *job = find_job(c, p->namespace, p->owner_name);
    if (!job || !str_eq(value_text(value_path(schema_type(STR("batch/v1.Job")), job, "metadata.uid")), p->owner_uid))
        return true;
    return job_end(job) && !job_is_managed_by_other(job);
}

static bool has_finalizer(const struct value *pod)
{
    const struct value *list = value_path(schema_type(STR("core/v1.Pod")), pod, "metadata.finalizers");
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_is(value_text(&list->items[i]), JOB_TRACKING_FINALIZER))
            return true;
    return false;
}

/* Whether the text is anywhere in it: most pods are of no job, and need not be decoded to see that. */
static bool may_have_finalizer(const struct store_item *item)
{
    struct str json = store_item_value(item);
    return memmem(json.p, json.n, JOB_TRACKING_FINALIZER, sizeof(JOB_TRACKING_FINALIZER) - 1) != NULL;
}

static void look_at_orphan(void *context, struct str key)
{
    struct job_controller *c = context;
    size_t slash = str_index(key, '/');
    struct str namespace = str_first(key, slash), name = str_from(key, slash + 1);
    const struct resource *pods = stored_resource("pods", "");
    struct store_item *item = cluster_item(c->cluster, pods, namespace, name);
    const struct pod_facts *facts = pod_index_find(c->pods, namespace, name);
    if (!item || !facts || !may_have_finalizer(item) || !is_left_alone(c, facts) ||
        !has_finalizer(stored_value(cluster_objects(c->cluster), pods, item))) {
        work_queue_done(c->orphans, key, WORK_FORGET);
        return;
    }
    struct orphan_call *call = mem_zalloc(sizeof(*call) + key.n);
    call->controller = c;
    call->n_key = key.n;
    memcpy(call->key, key.p, key.n);
    job_release_pod(c, namespace, name, orphan_done, call);
}

/* ---- Changes ---- */

static bool selects(struct arena *a, const struct value *job, struct labels labels)
{
    struct selector selector;
    struct err e;
    err_init(&e, a);
    const struct value *v = value_path(schema_type(STR("batch/v1.Job")), job, "spec.selector");
    return !selector_of_value(a, schema_type(STR("meta/v1.LabelSelector")), v, &selector, &e) &&
           selector_matches(&selector, labels);
}

/* Jobs that could adopt a pod which has no controller. */
static void add_jobs_that_select(struct job_controller *c, const struct pod_facts *p)
{
    struct arena a;
    const struct value **all;
    arena_init(&a);
    size_t n = stored_list(cluster_objects(c->cluster), job_resource(), p->namespace, &a, &all);
    for (size_t i = 0; i < n; i++)
        if (!job_end(all[i]) && selects(&a, all[i], p->labels))
            add_key(c->queue, p->namespace, value_text(value_path(schema_type(STR("batch/v1.Job")), all[i], "metadata.name")));
    arena_fini(&a);
}

static void add_owner(struct job_controller *c, const struct pod_facts *p)
{
    if (p && str_is(p->owner_kind, "Job"))
        add_key(c->queue, p->namespace, p->owner_name);
}

static void creation_seen(struct job_controller *c, const struct pod_facts *p)
{
    struct arena a;
    arena_init_small(&a);
    const char *key = arena_printf(&a, "%.*s/%.*s", STR_ARG(p->namespace), STR_ARG(p->owner_name));
    expectations_creation_observed(c->created, str_of(key));
    arena_fini(&a);
}

static void pod_has_changed(void *context, const struct pod_facts *is, const struct pod_facts *was)
{
    struct job_controller *c = context;
    if (is && !was && str_is(is->owner_kind, "Job"))
        creation_seen(c, is);
    add_owner(c, is);
    if (was && (!is || !str_eq(is->owner_uid, was->owner_uid)))
        add_owner(c, was);
    if (is && is_left_alone(c, is))
        add_key(c->orphans, is->namespace, is->name);
    if (is && !is->owner_uid.n && !is->deleted_s)
        add_jobs_that_select(c, is);
}

/* The pods of a Job that has ended, or is gone, are not counted any more. */
static void leave_pods(struct job_controller *c, const struct value *job)
{
    struct arena a;
    pod_list pods;
    arena_init(&a);
    struct str uid = value_text(value_path(schema_type(STR("batch/v1.Job")), job, "metadata.uid"));
    size_t n = pod_index_of_owner(c->pods, uid, &a, &pods);
    for (size_t i = 0; i < n; i++)
        add_key(c->orphans, pods[i]->namespace, pods[i]->name);
    arena_fini(&a);
}

static void job_has_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct job_controller *c = context;
    struct str namespace, name;
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    const struct value *job = stored_value(cluster_objects(c->cluster), r, item ? item : prev);
    if (!item || job_end(job))
        leave_pods(c, job);
    add_key(c->queue, namespace, name);
}

/* ---- Life ---- */

static void work(void *context, struct str key)
{
    job_turn_begin(context, key);
}

void *job_controller_start(const struct controller_context *x)
{
    struct job_controller *c = mem_zalloc(sizeof(*c));
    c->cluster = x->cluster;
    c->pods = x->pods;
    c->control = (struct pod_control){ x->cluster, x->events, CONTROLLER };
    c->queue = work_queue_new(cluster_loop(x->cluster), WORKERS, work, c);
    work_queue_show(c->queue, x->queues, "job");
    c->orphans = work_queue_new(cluster_loop(x->cluster), WORKERS, look_at_orphan, c);
    work_queue_show(c->orphans, x->queues, "job_orphan_pod");
    c->created = expectations_new();
    map_str_init(&c->backoffs);
    pod_index_watch(x->pods, pod_has_changed, c);
    cluster_watch(x->cluster, job_resource(), job_has_changed, c);
    return c;
}

void job_controller_stop(void *own_controller)
{
    struct job_controller *c = own_controller;
    work_queue_free(c->queue);
    work_queue_free(c->orphans);
    expectations_free(c->created);
    for (struct map_str_slot *s = NULL; (s = map_str_next(&c->backoffs, s));)
        free(s->value.ptr);
    map_str_fini(&c->backoffs);
    free(c);
}
