/* controllers/cronjob_decide.c - see cronjob_decide.h. */
#include "controllers/cronjob_decide.h"

#include "api/edit.h"
#include "base/arena_array.h"
#include "base/map.h"
#include "base/sort.h"
#include "controllers/job_facts.h"

#define SCHEDULED_ANNOTATION "batch.kubernetes.io/cronjob-scheduled-timestamp"

static const struct type *cronjobs(void)
{
    return schema_type(STR("batch/v1.CronJob"));
}

static const struct type *references(void)
{
    return schema_type(STR("core/v1.ObjectReference"));
}

static const struct value *of_job(const struct value *job, const char *path)
{
    return value_path(schema_type(STR("batch/v1.Job")), job, path);
}

static const struct value *of_cronjob(const struct value *cronjob, const char *path)
{
    return value_path(cronjobs(), cronjob, path);
}

static void add_event(const struct cronjob_state *s, struct cronjob_plan *p, bool warning, const char *reason,
                      const char *message)
{
    p->events = arena_array_more(s->arena, p->events, p->n_events, &p->events_cap, sizeof(*p->events));
    p->events[p->n_events++] = (struct cronjob_event){ warning, reason, message };
}

/* ---- What is active ---- */

static bool is_active(const struct value *active, struct str uid)
{
    for (uint32_t i = 0; active->kind == VALUE_LIST && i < active->n; i++)
        if (str_eq(value_text(value_path(references(), &active->items[i], "uid")), uid))
            return true;
    return false;
}

static bool is_active_name(const struct value *active, struct str name)
{
    for (uint32_t i = 0; active->kind == VALUE_LIST && i < active->n; i++)
        if (str_eq(value_text(value_path(references(), &active->items[i], "name")), name))
            return true;
    return false;
}

struct value cronjob_without(struct arena *a, const struct value *active, struct str uid)
{
    struct value kept = { .kind = VALUE_ABSENT };
    for (uint32_t i = 0; active->kind == VALUE_LIST && i < active->n; i++)
        if (!str_eq(value_text(value_path(references(), &active->items[i], "uid")), uid))
            kept = edit_append(a, &kept, active->items[i]);
    return kept;
}

static void forget_active(const struct cronjob_state *s, struct cronjob_plan *p, struct str uid)
{
    p->active = cronjob_without(s->arena, &p->active, uid);
    p->writes_status = true;
}

/* ---- History ---- */

struct ended {
    const struct value *job;
    int64_t start_s; /* INT64_MAX: it never began */
};

static int by_start(const void *x, const void *y)
{
    const struct ended *a = x, *b = y;
    if (a->start_s != b->start_s)
        return a->start_s < b->start_s ? -1 : 1;
    return str_cmp(value_text(of_job(a->job, "metadata.name")), value_text(of_job(b->job, "metadata.name")));
}

static struct cronjob_job job_of(const struct value *job)
{
    return (struct cronjob_job){ value_text(of_job(job, "metadata.name")), value_text(of_job(job, "metadata.uid")) };
}

static void clean_up(const struct cronjob_state *s, struct cronjob_plan *p, const char *end, const char *limit_path)
{
    const struct value *limit = of_cronjob(s->cronjob, limit_path);
    struct ended *all = ARENA_NEW_N(s->arena, struct ended, s->n_jobs);
    size_t n = 0;
    for (size_t i = 0; i < s->n_jobs; i++) {
        const char *its_end = job_end(s->jobs[i]);
        const struct value *start = of_job(s->jobs[i], "status.startTime");
        if (its_end && strcmp(its_end, end) == 0)
            all[n++] = (struct ended){ s->jobs[i], start->kind == VALUE_TIME ? start->i : INT64_MAX };
    }
    sort_stable(s->arena, all, n, sizeof(*all), by_start);
    for (size_t i = 0; limit->kind == VALUE_INT && i < n && (int64_t)(n - i) > limit->i; i++) {
        p->old[p->n_old++] = job_of(all[i].job);
        if (is_active(&p->active, job_of(all[i].job).uid))
            forget_active(s, p, job_of(all[i].job).uid);
    }
}

/* ---- Jobs that ended, appeared or went ---- */

static void take_success(struct cronjob_plan *p, const struct value *job)
{
    const struct value *at = of_job(job, "status.completionTime");
    if (at->kind != VALUE_TIME || at->i <= p->last_success_s)
        return;
    p->last_success_s = at->i;
    p->writes_status = true;
}

static void look_at_job(const struct cronjob_state *s, struct cronjob_plan *p, const struct value *job)
{
    struct cronjob_job j = job_of(job);
    const char *end = job_end(job);
    bool active = is_active(&p->active, j.uid);
    if (!end && !active)
        add_event(s, p, true, "UnexpectedJob",
                  arena_printf(s->arena, "Saw a job that the controller did not create or forgot: %.*s", STR_ARG(j.name)));
    if (end && active) {
        forget_active(s, p, j.uid);
        add_event(s, p, false, "SawCompletedJob",
                  arena_printf(s->arena, "Saw completed job: %.*s, condition: %s", STR_ARG(j.name), end));
    }
    if (end && strcmp(end, "Complete") == 0)
        take_success(p, job);
}

static void find_missing(const struct cronjob_state *s, struct cronjob_plan *p)
{
    struct value active = p->active;
    struct map_str children;
    map_str_init(&children);
    for (size_t i = 0; i < s->n_jobs; i++)
        map_str_put(&children, job_of(s->jobs[i]).uid, NULL);
    for (uint32_t i = 0; active.kind == VALUE_LIST && i < active.n; i++) {
        struct str uid = value_text(value_path(references(), &active.items[i], "uid"));
        struct str name = value_text(value_path(references(), &active.items[i], "name"));
        if (map_str_find(&children, uid) || s->has_job(s->context, name))
            continue;
        add_event(s, p, false, "MissingJob", arena_printf(s->arena, "Active job went missing: %.*s", STR_ARG(name)));
        forget_active(s, p, uid);
    }
    map_str_fini(&children);
}

/* ---- Times ---- */

const char *cronjob_schedule(struct arena *a, const struct value *cronjob, struct cron_schedule *ret_schedule)
{
    struct str text = value_text(of_cronjob(cronjob, "spec.schedule"));
    const struct value *zone = of_cronjob(cronjob, "spec.timeZone");
    if (!memmem(text.p ? text.p : "", text.n, "TZ", 2) && zone->kind == VALUE_STRING)
        text = str_of(arena_printf(a, "TZ=%.*s %.*s", STR_ARG(value_text(zone)), STR_ARG(text)));
    return cron_parse(a, text, ret_schedule);
}

enum missed { MISSED_NONE, MISSED_FEW, MISSED_MANY };

/* The last time that has come, CRON_NEVER: none. */
struct recent {
    int64_t earliest_s, time_s;
    enum missed missed;
    bool too_dense; /* less than a second from one to the next */
};

static int64_t earliest_s(const struct value *cronjob, int64_t now_ms, bool with_deadline)
{
    const struct value *last = of_cronjob(cronjob, "status.lastScheduleTime"), *created, *deadline;
    created = of_cronjob(cronjob, "metadata.creationTimestamp");
    deadline = of_cronjob(cronjob, "spec.startingDeadlineSeconds");
    int64_t earliest = last->kind == VALUE_TIME ? last->i : created->kind == VALUE_TIME ? created->i : 0;
    if (with_deadline && deadline->kind == VALUE_INT && now_ms / 1000 - deadline->i > earliest)
        earliest = now_ms / 1000 - deadline->i;
    return earliest;
}

/* Goes to the last time by the distance of the first two, not by all in between. */
static struct recent find_recent(const struct value *cronjob, const struct cron_schedule *schedule, const struct zone *z,
                                 int64_t now_ms, bool with_deadline)
{
    struct recent r = { .earliest_s = earliest_s(cronjob, now_ms, with_deadline), .time_s = CRON_NEVER };
    int64_t now_s = now_ms / 1000, t1 = cron_next(schedule, z, r.earliest_s), t2 = cron_next(schedule, z, t1);
    if (now_s < t1)
        return r;
    if (now_s < t2) {
        r.time_s = t1;
        return r;
    }
    if (t2 - t1 < 1) {
        r.too_dense = true;
        return r;
    }
    int64_t n_missed = (now_s - t1) / (t2 - t1) + 1;
    for (int64_t t = cron_next(schedule, z, t1 + (n_missed - 2) * (t2 - t1)); t <= now_s && t != CRON_NEVER;
         t = cron_next(schedule, z, t))
        r.time_s = t;
    r.missed = n_missed > CRONJOB_MANY_MISSED ? MISSED_MANY : MISSED_FEW;
    return r;
}

int64_t cronjob_next_ms(const struct value *cronjob, const struct cron_schedule *schedule, const struct zone *z, int64_t now_ms)
{
    struct recent r = find_recent(cronjob, schedule, z, now_ms, false);
    int64_t from_s = r.time_s;
    if (r.too_dense || (from_s == CRON_NEVER && r.missed != MISSED_NONE))
        from_s = now_ms / 1000;
    else if (from_s == CRON_NEVER)
        from_s = r.earliest_s;
    int64_t next_s = cron_next(schedule, z, from_s);
    return next_s == CRON_NEVER ? CRONJOB_NONE : next_s * 1000 + CRONJOB_DELTA_MS - now_ms;
}

/* "Mon, 02 Jan 2006 15:04:05 +0000" */
static const char *mail_time(struct arena *a, int64_t utc_s)
{
    static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct civil_time t = zone_civil(zone_load(a, STR("UTC")), utc_s);
    return arena_printf(a, "%.3s, %02d %.3s %04lld %02d:%02d:%02d +0000", days + 3 * t.weekday, t.day, months + 3 * (t.month - 1),
                        (long long)t.year, t.hour, t.minute, t.second);
}

/* ---- The next Job ---- */

/* Whether the time has come and is not too late for a Job. */
static bool find_time(const struct cronjob_state *s, struct cronjob_plan *p, const struct cron_schedule *schedule)
{
    struct arena *a = s->arena;
    struct str text = value_text(of_cronjob(s->cronjob, "spec.schedule"));
    const struct value *deadline = of_cronjob(s->cronjob, "spec.startingDeadlineSeconds");
    struct recent r = find_recent(s->cronjob, schedule, s->zone, s->now_ms, true);
    if (r.too_dense) {
        add_event(s, p, true, "InvalidSchedule", arena_printf(a, "invalid schedule: %.*s : time difference between two "
                                                              "schedules is less than 1 second", STR_ARG(text)));
        return false;
    }
    p->again_ms = cronjob_next_ms(s->cronjob, schedule, s->zone, s->now_ms);
    if (r.time_s == CRON_NEVER)
        return false;
    if (r.missed == MISSED_MANY)
        add_event(s, p, true, "TooManyMissedTimes", "too many missed start times. Set or decrease "
                  ".spec.startingDeadlineSeconds or check clock skew");
    p->scheduled_s = r.time_s;
    if (deadline->kind != VALUE_INT || (r.time_s + deadline->i) * 1000 >= s->now_ms)
        return true;
    add_event(s, p, true, "MissSchedule", arena_printf(a, "Missed scheduled time to start a job: %s", mail_time(a, r.time_s)));
    return false;
}

static void replace_active(const struct cronjob_state *s, struct cronjob_plan *p)
{
    size_t n = p->active.kind == VALUE_LIST ? p->active.n : 0;
    p->replaced = ARENA_NEW_N(s->arena, struct cronjob_job, n);
    for (size_t i = 0; i < n; i++)
        p->replaced[p->n_replaced++] = (struct cronjob_job){
            value_text(value_path(references(), &p->active.items[i], "name")),
            value_text(value_path(references(), &p->active.items[i], "uid")),
        };
}

static void decide_start(const struct cronjob_state *s, struct cronjob_plan *p, const struct cron_schedule *schedule)
{
    if (!find_time(s, p, schedule))
        return;
    const struct value *last = of_cronjob(s->cronjob, "status.lastScheduleTime");
    struct str policy = value_text(of_cronjob(s->cronjob, "spec.concurrencyPolicy"));
    p->job_name = str_of(arena_printf(s->arena, "%.*s-%lld", STR_ARG(value_text(of_cronjob(s->cronjob, "metadata.name"))),
                                      (long long)(p->scheduled_s / 60)));
    if (is_active_name(&p->active, p->job_name) || (last->kind == VALUE_TIME && last->i == p->scheduled_s))
        return;
    if (str_is(policy, "Forbid") && p->active.kind == VALUE_LIST && p->active.n) {
        add_event(s, p, false, "JobAlreadyActive",
                  "Not starting job because prior execution is running and concurrency policy is Forbid");
        return;
    }
    if (str_is(policy, "Replace"))
        replace_active(s, p);
    p->starts = true;
}

static bool zone_is_known(const struct cronjob_state *s, struct cronjob_plan *p)
{
    const struct value *zone = of_cronjob(s->cronjob, "spec.timeZone");
    const char *fault = zone->kind == VALUE_STRING ? time_zone_fault(s->arena, value_text(zone)) : NULL;
    if (fault)
        add_event(s, p, true, "UnknownTimeZone",
                  arena_printf(s->arena, "invalid timeZone: \"%.*s\": %s", STR_ARG(value_text(zone)), fault));
    return !fault;
}

static void decide_schedule(const struct cronjob_state *s, struct cronjob_plan *p)
{
    const struct value *suspend = of_cronjob(s->cronjob, "spec.suspend");
    struct str text = value_text(of_cronjob(s->cronjob, "spec.schedule"));
    struct cron_schedule schedule;
    if (of_cronjob(s->cronjob, "metadata.deletionTimestamp")->kind == VALUE_TIME || !zone_is_known(s, p) ||
        (suspend->kind == VALUE_BOOL && suspend->b))
        return;
    if (memmem(text.p ? text.p : "", text.n, "TZ", 2))
        add_event(s, p, true, "UnsupportedSchedule",
                  arena_printf(s->arena, "CRON_TZ or TZ used in schedule \"%.*s\" is not officially supported, see "
                               "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details", STR_ARG(text)));
    const char *fault = cronjob_schedule(s->arena, s->cronjob, &schedule);
    if (fault)
        add_event(s, p, true, "UnparseableSchedule",
                  arena_printf(s->arena, "unparseable schedule: \"%.*s\" : %s", STR_ARG(text), fault));
    else if (s->zone)
        decide_start(s, p, &schedule);
}

struct cronjob_plan cronjob_decide(const struct cronjob_state *s)
{
    const struct value *last = of_cronjob(s->cronjob, "status.lastSuccessfulTime");
    struct cronjob_plan p = { .active = *of_cronjob(s->cronjob, "status.active"), .again_ms = CRONJOB_NONE,
                              .last_success_s = last->kind == VALUE_TIME ? last->i : CRON_NEVER };
    p.old = ARENA_NEW_N(s->arena, struct cronjob_job, s->n_jobs);
    clean_up(s, &p, "Complete", "spec.successfulJobsHistoryLimit");
    clean_up(s, &p, "Failed", "spec.failedJobsHistoryLimit");
    for (size_t i = 0; i < s->n_jobs; i++)
        look_at_job(s, &p, s->jobs[i]);
    find_missing(s, &p);
    decide_schedule(s, &p);
    return p;
}

/* ---- Jobs ---- */

/* As RFC 3339 in the zone of the CronJob. */
static const char *local_time(struct arena *a, const struct zone *z, int64_t utc_s)
{
    struct civil_time t = zone_civil(z, utc_s);
    int offset_min = (int)(zone_at(z, utc_s).offset_s / 60), positive = offset_min < 0 ? -offset_min : offset_min;
    const char *text = arena_printf(a, "%04lld-%02d-%02dT%02d:%02d:%02d", (long long)t.year, t.month, t.day, t.hour, t.minute, t.second);
    if (offset_min == 0)
        return arena_printf(a, "%sZ", text);
    return arena_printf(a, "%s%c%02d:%02d", text, offset_min < 0 ? '-' : '+', positive / 60, positive % 60);
}

struct value cronjob_make_job(struct arena *a, const struct value *cronjob, struct value owner_reference, struct str name,
                              int64_t scheduled_s, const struct zone *time_zone)
{
    const struct type *t = schema_type(STR("batch/v1.Job"));
    const struct value *annotations = of_cronjob(cronjob, "spec.jobTemplate.metadata.annotations"), none = { 0 };
    struct value v = value_struct(a, t), owners = edit_append(a, &none, owner_reference);
    struct value at = edit_text(local_time(a, time_zone, scheduled_s));
    const struct {
        const char *path;
        struct value to;
    } fields[] = {
        { "apiVersion", edit_text("batch/v1") },
        { "kind", edit_text("Job") },
        { "metadata.name", value_string(name) },
        { "metadata.namespace", *of_cronjob(cronjob, "metadata.namespace") },
        { "metadata.labels", *of_cronjob(cronjob, "spec.jobTemplate.metadata.labels") },
        { "metadata.annotations", edit_member(a, annotations, STR(SCHEDULED_ANNOTATION), at) },
        { "metadata.ownerReferences", owners },
        { "spec", *of_cronjob(cronjob, "spec.jobTemplate.spec") },
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        v = edit_set(a, t, &v, fields[i].path, fields[i].to);
    return v;
}
