/* tests/unit/test_controller_cronjob.c - what the cronjob controller does, from a CronJob and its Jobs, without any server. */
#include "codec/json.h"
#include "controllers/cronjob_decide.h"
#include "tests/test.h"

/* 2026-01-15T12:00:30Z, a Thursday */
#define NOW_S 1768478430LL

static struct value decode(struct arena *a, const char *type, const char *json)
{
    struct value v;
    struct err e;
    err_init(&e, a);
    if (json_decode(a, WORK_OWN, schema_type(str_of(type)), str_of(json), NULL, &v, &e))
        FAIL("%s: %s", json, e.message);
    return v;
}

#define CRON(schedule, spec, status)                                                                                       \
    "{\"metadata\":{\"namespace\":\"n\",\"name\":\"c\",\"creationTimestamp\":\"2026-01-15T11:30:00Z\"},"                    \
    "\"spec\":{\"schedule\":\"" schedule "\"" spec "},\"status\":{" status "}}"
#define LAST(t) "\"lastScheduleTime\":\"2026-01-15T" t "Z\""
#define ACTIVE(name) "\"active\":[{\"name\":\"" name "\",\"namespace\":\"n\",\"uid\":\"u-" name "\"}]"
#define JOB(name, status) "{\"metadata\":{\"namespace\":\"n\",\"name\":\"" name "\",\"uid\":\"u-" name "\"},\"status\":{" status "}}"
#define ENDED(type, at)                                                                                                    \
    "\"startTime\":\"2026-01-15T" at "Z\",\"completionTime\":\"2026-01-15T" at "Z\",\"conditions\":[{\"type\":\"" type         \
    "\",\"status\":\"True\"}]"

struct row {
    const char *what, *cronjob, *jobs;
    const char *plan; /* old and replaced Jobs, the Job that begins, when it is looked at again, "write", active */
    const char *events;
};

static const struct row rows[] = {
    { "its time is still to come", CRON("30 12 * * *", "", ""), "", "again 1770100", "" },
    { "its time has come", CRON("0 * * * *", "", ""), "", "start c-29474640 again 3570100", "" },
    { "it has begun already", CRON("0 * * * *", "", LAST("12:00:00")), "", "again 3570100", "" },
    { "of several missed times the last counts", CRON("*/10 * * * *", "", ""), "", "start c-29474640 again 570100", "" },
    { "many missed times are told", CRON("* * * * *", "", "\"lastScheduleTime\":\"2026-01-15T10:00:00Z\""), "", "start c-29474640 again 30100",
      "TooManyMissedTimes: too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew; " },
    { "a deadline forgets what is older", CRON("* * * * *", ",\"startingDeadlineSeconds\":120", "\"lastScheduleTime\":\"2026-01-15T10:00:00Z\""), "",
      "start c-29474640 again 30100", "" },
    { "after the deadline nothing begins", CRON("0 * * * *", ",\"startingDeadlineSeconds\":10", ""), "", "again 3570100", "" },
    { "suspended", CRON("0 * * * *", ",\"suspend\":true", ""), "", "", "" },
    { "a zone half an hour off", CRON("30 17 * * *", ",\"timeZone\":\"Asia/Kolkata\"", ""), "", "start c-29474640 again 86370100", "" },
    { "an unknown zone", CRON("0 * * * *", ",\"timeZone\":\"Nowhere/Land\"", ""), "", "",
      "UnknownTimeZone: invalid timeZone: \"Nowhere/Land\": unknown time zone Nowhere/Land; " },
    { "a zone in the schedule is told of", CRON("TZ=UTC 30 12 * * *", "", ""), "", "again 1770100",
      "UnsupportedSchedule: CRON_TZ or TZ used in schedule \"TZ=UTC 30 12 * * *\" is not officially supported, see "
      "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details; " },
    { "a schedule that cannot be read", CRON("x", "", ""), "", "", "UnparseableSchedule: unparseable schedule: \"x\" : expected exactly 5 fields, found 1: [x]; " },
    { "a time that never comes", CRON("0 0 31 2 *", "", ""), "", "",
      "InvalidSchedule: invalid schedule: 0 0 31 2 * : time difference between two schedules is less than 1 second; " },
    { "Forbid waits for what runs", CRON("0 * * * *", ",\"concurrencyPolicy\":\"Forbid\"", ACTIVE("a")), JOB("a", ""), "again 3570100 active a",
      "JobAlreadyActive: Not starting job because prior execution is running and concurrency policy is Forbid; " },
    { "Allow does not", CRON("0 * * * *", ",\"concurrencyPolicy\":\"Allow\"", ACTIVE("a")), JOB("a", ""), "start c-29474640 again 3570100 active a", "" },
    { "Replace ends what runs", CRON("0 * * * *", ",\"concurrencyPolicy\":\"Replace\"", ACTIVE("a")), JOB("a", ""),
      "replace a start c-29474640 again 3570100 active a", "" },
    { "a Job that succeeded", CRON("0 * * * *", "", ACTIVE("a") "," LAST("12:00:00")), JOB("a", ENDED("Complete", "12:00:10")),
      "again 3570100 write success 10", "SawCompletedJob: Saw completed job: a, condition: Complete; " },
    { "a Job that failed", CRON("0 * * * *", "", ACTIVE("a") "," LAST("12:00:00")), JOB("a", ENDED("Failed", "12:00:10")),
      "again 3570100 write", "SawCompletedJob: Saw completed job: a, condition: Failed; " },
    { "an earlier success changes nothing", CRON("0 * * * *", "", "\"lastSuccessfulTime\":\"2026-01-15T12:00:20Z\"," LAST("12:00:00")),
      JOB("a", ENDED("Complete", "12:00:10")), "again 3570100 success 20", "" },
    { "a Job that is gone", CRON("0 * * * *", "", ACTIVE("a") "," LAST("12:00:00")), "", "again 3570100 write", "MissingJob: Active job went missing: a; " },
    { "a Job that nobody expected", CRON("0 * * * *", "", LAST("12:00:00")), JOB("b", ""), "again 3570100",
      "UnexpectedJob: Saw a job that the controller did not create or forgot: b; " },
    { "the history keeps the newest", CRON("0 * * * *", ",\"successfulJobsHistoryLimit\":1,\"failedJobsHistoryLimit\":0",
                                           "\"lastSuccessfulTime\":\"2026-01-15T12:00:20Z\"," LAST("12:00:00")),
      JOB("b", ENDED("Complete", "12:00:12")) "," JOB("a", ENDED("Complete", "12:00:14")) "," JOB("f", ENDED("Failed", "12:00:01")),
      "delete b f again 3570100 success 20", "" },
};

static bool has_no_job(void *context, struct str name)
{
    (void)context;
    (void)name;
    return false;
}

static struct str plan_text(struct arena *a, const struct cronjob_plan *p)
{
    struct strbuf t;
    strbuf_init(&t, STRBUF_NO_MAX);
    for (size_t i = 0; i < p->n_old; i++)
        strbuf_printf(&t, "%s%.*s ", i ? "" : "delete ", STR_ARG(p->old[i].name));
    for (size_t i = 0; i < p->n_replaced; i++)
        strbuf_printf(&t, "replace %.*s ", STR_ARG(p->replaced[i].name));
    if (p->starts)
        strbuf_printf(&t, "start %.*s ", STR_ARG(p->job_name));
    if (p->again_ms != CRONJOB_NONE)
        strbuf_printf(&t, "again %lld ", (long long)p->again_ms);
    strbuf_add_text(&t, p->writes_status ? "write " : "");
    for (uint32_t i = 0; p->active.kind == VALUE_LIST && i < p->active.n; i++)
        strbuf_printf(&t, "active %.*s ", STR_ARG(value_text(value_path(schema_type(STR("core/v1.ObjectReference")), &p->active.items[i], "name"))));
    if (p->last_success_s != CRON_NEVER)
        strbuf_printf(&t, "success %lld ", (long long)p->last_success_s - NOW_S + 30);
    struct str copy = arena_str(a, strbuf_str(&t));
    strbuf_fini(&t);
    return str_first(copy, copy.n ? copy.n - 1 : 0);
}

TEST(turns_of_cronjobs)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++, arena_reset(&a)) {
        struct value cronjob = decode(&a, "batch/v1.CronJob", rows[i].cronjob);
        struct value list = decode(&a, "batch/v1.JobList", arena_printf(&a, "{\"items\":[%s]}", rows[i].jobs));
        const struct value *items = value_path(schema_type(STR("batch/v1.JobList")), &list, "items"), *jobs[8];
        size_t n = items->kind == VALUE_LIST ? items->n : 0;
        for (size_t k = 0; k < n; k++)
            jobs[k] = &items->items[k];
        struct cron_schedule schedule;
        bool fine = !cronjob_schedule(&a, &cronjob, &schedule);
        struct cronjob_state s = { &a, &cronjob, jobs, n, NOW_S * 1000, fine ? zone_load(&a, schedule.zone.n ? schedule.zone : STR("UTC")) : NULL,
                                   has_no_job, NULL };
        struct cronjob_plan p = cronjob_decide(&s);
        CHECK_STR(rows[i].what, plan_text(&a, &p), str_of(rows[i].plan));
        const char *events = "";
        for (size_t k = 0; k < p.n_events; k++)
            events = arena_printf(&a, "%s%s: %s; ", events, p.events[k].reason, p.events[k].message);
        CHECK_TEXT(rows[i].what, events, rows[i].events);
    }
    arena_fini(&a);
}

TEST(jobs_carry_their_time)
{
    static const struct {
        const char *zone, *want;
    } zones[] = { { "UTC", "2026-01-15T12:00:30Z" }, { "Asia/Kolkata", "2026-01-15T17:30:30+05:30" }, { "America/New_York", "2026-01-15T07:00:30-05:00" } };
    struct arena a;
    arena_init(&a);
    struct value cronjob = decode(&a, "batch/v1.CronJob",
                                  CRON("0 * * * *", ",\"jobTemplate\":{\"metadata\":{\"labels\":{\"l\":\"1\"}},\"spec\":{\"parallelism\":3}}", ""));
    const struct type *t = schema_type(STR("batch/v1.Job"));
    for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
        struct value owner = decode(&a, "meta/v1.OwnerReference", "{\"name\":\"c\"}");
        struct value job = cronjob_make_job(&a, &cronjob, owner, STR("c-1"), NOW_S, zone_load(&a, str_of(zones[i].zone)));
        const struct value *annotations = value_path(t, &job, "metadata.annotations");
        CHECK_STR(zones[i].zone, value_text(value_member(annotations, STR("batch.kubernetes.io/cronjob-scheduled-timestamp"))), str_of(zones[i].want));
        CHECK_INT(zones[i].zone, value_path(t, &job, "spec.parallelism")->i, 3);
        CHECK_INT(zones[i].zone, value_path(t, &job, "metadata.ownerReferences")->n, 1);
    }
    arena_fini(&a);
}
