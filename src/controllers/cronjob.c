/* controllers/cronjob.c - CronJobs: Jobs that begin at certain times. What is to be done: cronjob_decide.h.
 *
 * A turn deletes what the history does not keep and what is to be replaced, makes the next Job, and writes the status.
 * Upstream: controller/cronjob. */
#include <stdlib.h>

#include "api/edit.h"
#include "base/map.h"
#include "controllers/controllers.h"
#include "controllers/cronjob_decide.h"
#include "controllers/pod_control.h"
#include "controllers/work_queue.h"

#define CONTROLLER "cronjob-controller"

enum { WORKERS = 5, KEY_BYTES_MAX = 512 };

struct cronjob_controller {
    struct cluster *cluster;
    struct events *events;
    struct work_queue *queue;
    struct arena zones_arena; /* as many as there are names, each once */
    struct map_str zones;
};

struct cronjob_turn {
    struct cronjob_controller *controller;
    struct arena arena;
    struct str key;
    struct value cronjob;
    struct object_reference owner;
    struct cronjob_plan plan;
    size_t n_deleted; /* of those that the history does not keep, then of those that are replaced */
    bool failed;
};

static const struct type *cronjobs(void)
{
    return schema_type(STR("batch/v1.CronJob"));
}

static const struct type *jobs(void)
{
    return schema_type(STR("batch/v1.Job"));
}

static const struct resource *job_resource(void)
{
    return stored_resource("jobs", "batch");
}

static const struct resource *cronjob_resource(void)
{
    return stored_resource("cronjobs", "batch");
}

static int64_t now_ms(const struct cronjob_controller *c)
{
    return clock_wall_ns(loop_clock(cluster_loop(c->cluster))) / CLOCK_NS_PER_MS;
}

/* ---- Zones ---- */

/* Empty: the machine's. NULL: the system does not have it. */
static const struct zone *zone_of(struct cronjob_controller *c, struct str name)
{
    name = name.n ? name : STR("Local");
    const union map_value *found = map_str_find(&c->zones, name);
    if (found)
        return found->const_ptr;
    const struct zone *z = zone_load(&c->zones_arena, name);
    if (z)
        map_str_put(&c->zones, arena_str(&c->zones_arena, name), NULL)->const_ptr = z;
    return z;
}

/* ---- The turn ---- */

static void end_turn(struct cronjob_turn *t)
{
    struct work_queue *q = t->controller->queue;
    if (!t->failed && t->plan.again_ms != CRONJOB_NONE)
        work_queue_add_after(q, t->key, t->plan.again_ms > 0 ? t->plan.again_ms : 0);
    work_queue_done(q, t->key, t->failed ? WORK_RETRY : WORK_FORGET);
    arena_fini(&t->arena);
    free(t);
}

static void tell(struct cronjob_turn *t, bool warning, const char *reason, const char *message)
{
    events_record(t->controller->events, CONTROLLER, &t->owner, warning ? "Warning" : "Normal", reason, "%s", message);
}

static void begin(struct cronjob_turn *t, struct cluster_call call)
{
    call.controller = CONTROLLER;
    call.namespace = t->owner.ns;
    call.context = t;
    cluster_begin(t->controller->cluster, &call);
}

static void status_written(void *context, enum err_code code, const char *message)
{
    struct cronjob_turn *t = context;
    (void)message;
    t->failed |= code && code != ERR_NOT_FOUND;
    end_turn(t);
}

static void write_status(struct cronjob_turn *t)
{
    if (!t->plan.writes_status) {
        end_turn(t);
        return;
    }
    struct arena *a = &t->arena;
    struct value v = edit_set(a, cronjobs(), &t->cronjob, "status.active", t->plan.active);
    if (t->plan.last_success_s != CRON_NEVER)
        v = edit_set(a, cronjobs(), &v, "status.lastSuccessfulTime", value_time(t->plan.last_success_s, 0));
    if (t->plan.starts)
        v = edit_set(a, cronjobs(), &v, "status.lastScheduleTime", value_time(t->plan.scheduled_s, 0));
    begin(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .resource = cronjob_resource(), .subresource = "status",
                                    .name = t->owner.name, .object = &v, .done = status_written });
}

/* ---- The next Job ---- */

static void add_active(struct cronjob_turn *t, const struct value *job)
{
    struct arena *a = &t->arena;
    const struct type *rt = schema_type(STR("core/v1.ObjectReference"));
    static const char *const fields[] = { "namespace", "name", "uid", "resourceVersion" };
    struct value ref = value_struct(a, rt);
    ref = edit_set(a, rt, &ref, "kind", edit_text("Job"));
    ref = edit_set(a, rt, &ref, "apiVersion", edit_text("batch/v1"));
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        struct value from = value_copy(a, value_path(jobs(), job, arena_printf(a, "metadata.%s", fields[i])));
        ref = edit_set(a, rt, &ref, fields[i], from);
    }
    t->plan.active = edit_append(a, &t->plan.active, ref);
    t->plan.writes_status = true;
}

static bool is_ours(const struct cronjob_turn *t, const struct value *job)
{
    const struct type *ot = schema_type(STR("meta/v1.OwnerReference"));
    const struct value *list = value_path(jobs(), job, "metadata.ownerReferences");
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++) {
        const struct value *controller = value_path(ot, &list->items[i], "controller");
        if (controller->kind == VALUE_BOOL && controller->b)
            return str_eq(value_text(value_path(ot, &list->items[i], "uid")), t->owner.uid);
    }
    return false;
}

static void job_made(void *context, const struct cluster_outcome *o)
{
    struct cronjob_turn *t = context;
    struct stored *objects = cluster_objects(t->controller->cluster);
    const struct value *job = NULL;
    if (!o->code && o->item) {
        job = stored_value(objects, job_resource(), o->item);
        tell(t, false, "SuccessfulCreate", arena_printf(&t->arena, "Created job %.*s", STR_ARG(t->plan.job_name)));
    } else if (o->code == ERR_ALREADY_EXISTS) { /* made by a turn that could not write it down */
        job = stored_get(objects, job_resource(), t->owner.ns, t->plan.job_name);
        job = job && is_ours(t, job) ? job : NULL;
    } else {
        t->failed = true;
        if (!o->namespace_ends)
            tell(t, true, "FailedCreate", arena_printf(&t->arena, "Error creating job: %s", o->message));
    }
    t->plan.starts = job;
    if (job)
        add_active(t, job);
    write_status(t);
}

static void make_job(struct cronjob_turn *t)
{
    struct cronjob_controller *c = t->controller;
    if (!t->plan.starts) {
        write_status(t);
        return;
    }
    const struct value *zone = value_path(cronjobs(), &t->cronjob, "spec.timeZone");
    struct value job = cronjob_make_job(&t->arena, &t->cronjob, controller_reference(&t->arena, &t->owner), t->plan.job_name,
                                        t->plan.scheduled_s, zone_of(c, zone->kind == VALUE_STRING ? value_text(zone) : STR("UTC")));
    begin(t, (struct cluster_call){ .verb = CLUSTER_CREATE, .resource = job_resource(), .object = &job, .answered = job_made });
}

/* ---- Jobs that go ---- */

static void delete_next(struct cronjob_turn *t);

static struct cronjob_job *being_deleted(struct cronjob_turn *t)
{
    return t->n_deleted < t->plan.n_old ? &t->plan.old[t->n_deleted] : &t->plan.replaced[t->n_deleted - t->plan.n_old];
}

static void job_deleted(void *context, enum err_code code, const char *message)
{
    struct cronjob_turn *t = context;
    struct cronjob_job *job = being_deleted(t);
    bool replaced = t->n_deleted >= t->plan.n_old;
    if (code) {
        tell(t, true, "FailedDelete", arena_printf(&t->arena, "Deleted job: %s", message));
        if (replaced) { /* nothing begins beside it */
            t->failed = true;
            t->plan.starts = false;
            write_status(t);
            return;
        }
    } else {
        t->plan.active = cronjob_without(&t->arena, &t->plan.active, job->uid);
        t->plan.writes_status = true;
        tell(t, false, "SuccessfulDelete", arena_printf(&t->arena, "Deleted job %.*s", STR_ARG(job->name)));
    }
    t->n_deleted++;
    delete_next(t);
}

static void delete_next(struct cronjob_turn *t)
{
    if (t->n_deleted == t->plan.n_old + t->plan.n_replaced) {
        make_job(t);
        return;
    }
    begin(t, (struct cluster_call){ .verb = CLUSTER_DELETE, .resource = job_resource(), .name = being_deleted(t)->name,
                                    .propagation = "Background", .done = job_deleted });
}

/* ---- State ---- */

static bool names_controller(const struct value *job, struct str name)
{
    const struct type *ot = schema_type(STR("meta/v1.OwnerReference"));
    const struct value *list = value_path(jobs(), job, "metadata.ownerReferences");
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++) {
        const struct value *controller = value_path(ot, &list->items[i], "controller");
        if (controller->kind == VALUE_BOOL && controller->b)
            return str_eq(value_text(value_path(ot, &list->items[i], "name")), name);
    }
    return false;
}

static bool has_job(void *context, struct str name)
{
    struct cronjob_turn *t = context;
    return stored_get(cluster_objects(t->controller->cluster), job_resource(), t->owner.ns, name);
}

static void decide(struct cronjob_turn *t)
{
    struct cronjob_controller *c = t->controller;
    const struct value **all, **own;
    size_t n = stored_list(cluster_objects(c->cluster), job_resource(), t->owner.ns, &t->arena, &all), n_own = 0;
    own = ARENA_NEW_N(&t->arena, const struct value *, n);
    for (size_t i = 0; i < n; i++)
        if (names_controller(all[i], t->owner.name)) {
            struct value *copy = ARENA_NEW(&t->arena, struct value);
            *copy = value_copy(&t->arena, all[i]);
            own[n_own++] = copy;
        }
    struct cron_schedule schedule = { 0 };
    bool fine = !cronjob_schedule(&t->arena, &t->cronjob, &schedule);
    struct cronjob_state s = { &t->arena, &t->cronjob, own, n_own, now_ms(c), fine ? zone_of(c, schedule.zone) : NULL, has_job, t };
    t->plan = cronjob_decide(&s);
}

static void work(void *context, struct str key)
{
    struct cronjob_controller *c = context;
    size_t slash = str_index(key, '/');
    const struct value *v = stored_get(cluster_objects(c->cluster), cronjob_resource(), str_first(key, slash),
                                       str_from(key, slash + 1));
    if (!v) {
        work_queue_done(c->queue, key, WORK_FORGET);
        return;
    }
    struct cronjob_turn *t = mem_zalloc(sizeof(*t));
    arena_init(&t->arena);
    t->controller = c;
    t->key = arena_str(&t->arena, key);
    t->cronjob = value_copy(&t->arena, v);
    t->owner = event_reference(cronjob_resource(), &t->cronjob);
    decide(t);
    for (size_t i = 0; i < t->plan.n_events; i++)
        tell(t, t->plan.events[i].warning, t->plan.events[i].reason, t->plan.events[i].message);
    delete_next(t);
}

/* ---- Changes ---- */

static void add_key(struct cronjob_controller *c, struct str namespace, struct str name, int64_t after_ms)
{
    char key[KEY_BYTES_MAX];
    int n = snprintf(key, sizeof(key), "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name));
    if (n <= 0 || (size_t)n >= sizeof(key))
        return;
    if (after_ms > 0)
        work_queue_add_after(c->queue, (struct str){ key, (size_t)n }, after_ms);
    else
        work_queue_add(c->queue, (struct str){ key, (size_t)n });
}

static bool differs(const struct value *x, const struct value *y, const char *path)
{
    return !value_equal(value_path(cronjobs(), x, path), value_path(cronjobs(), y, path));
}

/* A new schedule counts from its next time on: times that it would have had are not made up for. */
static int64_t wait_ms(struct cronjob_controller *c, const struct value *is, const struct value *was)
{
    struct arena a;
    struct cron_schedule schedule;
    if (!differs(is, was, "spec.schedule") && !differs(is, was, "spec.timeZone"))
        return 0;
    arena_init(&a);
    bool fine = !cronjob_schedule(&a, is, &schedule);
    const struct zone *z = fine ? zone_of(c, schedule.zone) : NULL;
    int64_t ms = z ? cronjob_next_ms(is, &schedule, z, now_ms(c)) : 0;
    arena_fini(&a);
    return ms;
}

static void cronjob_has_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct cronjob_controller *c = context;
    struct stored *objects = cluster_objects(c->cluster);
    struct str namespace, name;
    if (!item)
        return;
    stored_read_key(r, store_item_key(item), &namespace, &name);
    int64_t ms = prev ? wait_ms(c, stored_value(objects, r, item), stored_value(objects, r, prev)) : 0;
    add_key(c, namespace, name, ms);
}

static void add_owner(struct cronjob_controller *c, const struct resource *r, struct store_item *item)
{
    const struct type *ot = schema_type(STR("meta/v1.OwnerReference"));
    const struct value *job = stored_value(cluster_objects(c->cluster), r, item);
    const struct value *list = value_path(jobs(), job, "metadata.ownerReferences");
    struct str namespace, name;
    stored_read_key(r, store_item_key(item), &namespace, &name);
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_is(value_text(value_path(ot, &list->items[i], "kind")), "CronJob"))
            add_key(c, namespace, value_text(value_path(ot, &list->items[i], "name")), 0);
}

static void job_has_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    if (item)
        add_owner(context, r, item);
    if (prev)
        add_owner(context, r, prev);
}

/* ---- Life ---- */

void *cronjob_controller_start(const struct controller_context *x)
{
    struct cronjob_controller *c = mem_zalloc(sizeof(*c));
    c->cluster = x->cluster;
    c->events = x->events;
    c->queue = work_queue_new(cluster_loop(x->cluster), WORKERS, work, c);
    work_queue_show(c->queue, x->queues, "cronjob");
    arena_init(&c->zones_arena);
    map_str_init(&c->zones);
    cluster_watch(x->cluster, cronjob_resource(), cronjob_has_changed, c);
    cluster_watch(x->cluster, job_resource(), job_has_changed, c);
    return c;
}

void cronjob_controller_stop(void *own_controller)
{
    struct cronjob_controller *c = own_controller;
    work_queue_free(c->queue);
    map_str_fini(&c->zones);
    arena_fini(&c->zones_arena);
    free(c);
}
