/* controllers/ttl_after_finished.c - Jobs that are deleted some time after they have ended. Upstream: controller/
 * ttlafterfinished. */
#include <stdlib.h>

#include "controllers/controllers.h"
#include "controllers/job_facts.h"
#include "controllers/work_queue.h"

#define CONTROLLER "ttl-after-finished-controller"

enum { WORKERS = 5, KEY_BYTES_MAX = 512 };

struct ttl_controller {
    struct cluster *cluster;
    struct work_queue *queue;
};

struct turn {
    struct ttl_controller *controller;
    size_t n_key;
    char key[];
};

static const struct resource *job_resource(void)
{
    return stored_resource("jobs", "batch");
}

static void deleted(void *context, enum err_code code, const char *message)
{
    struct turn *t = context;
    (void)message;
    bool fine = !code || code == ERR_NOT_FOUND;
    work_queue_done(t->controller->queue, (struct str){ t->key, t->n_key }, fine ? WORK_FORGET : WORK_RETRY);
    free(t);
}

/* Only this very Job; its pods go with it. */
static void begin_deletion(struct ttl_controller *c, struct str key, struct str namespace, struct str name, struct str uid)
{
    struct turn *t = mem_zalloc(sizeof(*t) + key.n);
    t->controller = c;
    t->n_key = key.n;
    memcpy(t->key, key.p, key.n);
    cluster_begin(c->cluster, &(struct cluster_call){ .verb = CLUSTER_DELETE, .controller = CONTROLLER, .resource = job_resource(),
                                                      .namespace = namespace, .name = name, .uid = uid,
                                                      .propagation = "Foreground", .done = deleted, .context = t });
}

static void work(void *context, struct str key)
{
    struct ttl_controller *c = context;
    size_t slash = str_index(key, '/');
    struct str namespace = str_first(key, slash), name = str_from(key, slash + 1);
    const struct value *job = stored_get(cluster_objects(c->cluster), job_resource(), namespace, name);
    int64_t at_s = job ? job_expires_s(job) : JOB_NO_TIME;
    if (at_s == JOB_NO_TIME) {
        work_queue_done(c->queue, key, WORK_FORGET);
        return;
    }
    int64_t left_ms = at_s * 1000 - clock_wall_ns(loop_clock(cluster_loop(c->cluster))) / CLOCK_NS_PER_MS;
    if (left_ms <= 0) {
        begin_deletion(c, key, namespace, name, value_text(value_path(schema_type(STR("batch/v1.Job")), job, "metadata.uid")));
        return;
    }
    work_queue_add_after(c->queue, key, left_ms);
    work_queue_done(c->queue, key, WORK_FORGET);
}

static void job_has_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct ttl_controller *c = context;
    struct str namespace, name;
    char key[KEY_BYTES_MAX];
    (void)prev;
    if (!item || job_expires_s(stored_value(cluster_objects(c->cluster), r, item)) == JOB_NO_TIME)
        return;
    stored_read_key(r, store_item_key(item), &namespace, &name);
    int n = snprintf(key, sizeof(key), "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name));
    if (n > 0 && (size_t)n < sizeof(key))
        work_queue_add(c->queue, (struct str){ key, (size_t)n });
}

void *ttl_controller_start(const struct controller_context *x)
{
    struct ttl_controller *c = mem_zalloc(sizeof(*c));
    c->cluster = x->cluster;
    c->queue = work_queue_new(cluster_loop(x->cluster), WORKERS, work, c);
    work_queue_show(c->queue, x->queues, "ttl_jobs_to_delete");
    cluster_watch(x->cluster, job_resource(), job_has_changed, c);
    return c;
}

void ttl_controller_stop(void *own_controller)
{
    struct ttl_controller *c = own_controller;
    work_queue_free(c->queue);
    free(c);
}
