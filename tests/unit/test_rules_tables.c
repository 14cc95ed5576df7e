/* What kinds are like to the request pipeline (flags, generation, fields nobody owns), and schedules: rules/rules.h,
 * rules/cron.h. What rules answer is in test_rules_golden.c. */
#include "rules/rules.h"

#include "codec/json.h"
#include "rules/cron.h"
#include "tests/test.h"

#define CREATES RULES_CREATE_ON_UPDATE
#define VERSION RULES_NEEDS_VERSION
#define RETURNS RULES_RETURNS_DELETED
#define ORPHANS RULES_ORPHANS

/* As upstream's strategies say. */
static const struct {
    const char *type;
    unsigned flags;
    enum generation_rule generation;
    const char *reset, *subs; /* with commas */
} kinds[] = {
    { "core/v1.Namespace", RETURNS, GENERATION_NEVER, "status", "status:spec,finalize:status" },
    { "core/v1.Node", 0, GENERATION_NEVER, "status", "status:spec" },
    { "core/v1.ConfigMap", 0, GENERATION_NEVER, "", "" },
    { "core/v1.Secret", 0, GENERATION_NEVER, "", "" },
    { "core/v1.ServiceAccount", RETURNS, GENERATION_NEVER, "", "" },
    { "core/v1.LimitRange", CREATES, GENERATION_NEVER, "", "" },
    { "core/v1.ResourceQuota", RETURNS, GENERATION_NEVER, "status", "status:spec" },
    { "core/v1.Event", CREATES, GENERATION_NEVER, "", "" },
    { "core/v1.PodTemplate", RETURNS, GENERATION_SPEC, "", "" },
    { "core/v1.ReplicationController", ORPHANS, GENERATION_SPEC, "status", "status:spec" },
    { "coordination.k8s.io/v1.Lease", CREATES | VERSION, GENERATION_NEVER, "", "" },
    { "apps/v1.Deployment", 0, GENERATION_SPEC_ANNOTATION, "status", "status:spec+metadata.labels" },
    { "apps/v1.ReplicaSet", 0, GENERATION_SPEC, "status", "status:spec" },
    { "apps/v1.StatefulSet", 0, GENERATION_SPEC, "status", "status:spec" },
    { "apps/v1.DaemonSet", 0, GENERATION_SPEC, "status", "status:spec" },
    { "apps/v1.ControllerRevision", 0, GENERATION_NEVER, "", "" },
    { "batch/v1.Job", ORPHANS, GENERATION_SPEC, "status", "status:spec" },
    { "batch/v1.CronJob", 0, GENERATION_SPEC, "status", "status:spec" },
    { "autoscaling/v2.HorizontalPodAutoscaler", 0, GENERATION_NEVER, "status", "status:spec" },
    { "policy/v1.PodDisruptionBudget", VERSION, GENERATION_SPEC, "status", "status:spec" },
};

static void add_fields(struct strbuf *to, const char *const *fields)
{
    for (size_t i = 0; fields && fields[i]; i++)
        strbuf_printf(to, "%s%s", i ? "+" : "", fields[i]);
}

TEST(kinds_are_as_upstreams_strategies)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct kind_rules *k = rules_of(schema_type(str_of(kinds[i].type)));
        struct strbuf reset, subs;
        if (!k)
            FAIL("no rules for %s", kinds[i].type);
        strbuf_init(&reset, STRBUF_NO_MAX);
        strbuf_init(&subs, STRBUF_NO_MAX);
        add_fields(&reset, k->reset_fields);
        for (const struct sub_rules *s = k->subs; s && s->name; s++) {
            strbuf_printf(&subs, "%s%s:", s == k->subs ? "" : ",", s->name);
            add_fields(&subs, s->reset_fields);
            CHECK(s->prepare_update != NULL);
            CHECK(s->validate_update || str_is(schema_type(str_of(kinds[i].type))->kind, "CronJob")); /* as upstream */
        }
        CHECK_INT(kinds[i].type, k->flags, kinds[i].flags);
        CHECK_INT(kinds[i].type, k->generation, kinds[i].generation);
        CHECK_STR(kinds[i].type, strbuf_str(&reset), str_of(kinds[i].reset));
        CHECK_STR(kinds[i].type, strbuf_str(&subs), str_of(kinds[i].subs));
        strbuf_fini(&reset);
        strbuf_fini(&subs);
    }
}

/* ---- Generation ---- */

static const struct {
    const char *name;
    enum generation_rule rule;
    const char *old, *new;
    bool raises;
} changes[] = {
    { "the spec changes", GENERATION_SPEC, "{\"spec\":{\"replicas\":1}}", "{\"spec\":{\"replicas\":2}}", true },
    { "nothing changes", GENERATION_SPEC, "{\"spec\":{\"replicas\":1}}", "{\"spec\":{\"replicas\":1}}", false },
    { "an empty map is none", GENERATION_SPEC, "{\"spec\":{\"replicas\":1}}",
      "{\"spec\":{\"replicas\":1,\"template\":{\"metadata\":{\"labels\":{}}}}}", false },
    { "amounts count, not how they are written", GENERATION_SPEC,
      "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"memory\":\"1024\"}}}]}}}}",
      "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"memory\":\"1Ki\"}}}]}}}}",
          false },
    { "the status is not counted", GENERATION_SPEC, "{}", "{\"status\":{\"replicas\":2}}", false },
    { "annotations are not counted", GENERATION_SPEC, "{}", "{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}", false },
    { "annotations are counted", GENERATION_SPEC_ANNOTATION, "{}", "{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}",
      true },
    { "labels are not counted", GENERATION_SPEC_ANNOTATION, "{}", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}", false },
    { "labels are counted", GENERATION_LABELS, "{}", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}", true },
    { "changes are counted", GENERATION_CHANGES, "{}", "{\"spec\":{\"replicas\":2}}", true },
    { "it stays as it was first", GENERATION_FIRST, "{}", "{\"spec\":{\"replicas\":2}}", false },
    { "there is none", GENERATION_NEVER, "{}", "{\"spec\":{\"replicas\":2}}", false },
};

TEST(generations_rise_with_what_counts)
{
    struct arena a;
    arena_init(&a);
    const struct type *t = schema_type(STR("apps/v1.Deployment"));
    struct rules_context c = { .arena = &a, .type = t, .namespaced = true };
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        struct value old, new;
        struct err e;
        err_init(&e, &a);
        CHECK(!json_decode(&a, WORK_OWN, t, str_of(changes[i].old), NULL, &old, &e));
        CHECK(!json_decode(&a, WORK_OWN, t, str_of(changes[i].new), NULL, &new, &e));
        CHECK_INT(changes[i].name, rules_raises_generation(&c, changes[i].rule, &new, &old), changes[i].raises);
    }
    arena_fini(&a);
}

/* ---- Schedules ---- */

static const struct {
    const char *schedule, *fault; /* NULL: none */
} schedules[] = {
    { "*/5 * * * *", NULL },
    { "0-59/7,3 0 1,15 jan-Jun MON-fri", NULL },
    { "@midnight", NULL },
    { "@every 90m", NULL },
    { "TZ=Asia/Tokyo 0 0 * * *", NULL },
    { "CRON_TZ= 0 0 * * *", NULL },
    { "", "expected exactly 5 fields, found 0: []" },
    { "   ", "expected exactly 5 fields, found 0: []" },
    { "* * * * * * *", "expected exactly 5 fields, found 7: [* * * * * * *]" },
    { "5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1" },
    { "* * * 0 *", "beginning of range (0) below minimum (1): 0" },
    { "* * * * sun-7", "end of range (7) above maximum (6): sun-7" },
    { "*/x * * * *", "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax" },
    { "1/-2 * * * *", "negative number (-2) not allowed: -2" },
    { "@every", "unrecognized descriptor: @every" },
    { "@every 5", "failed to parse duration @every 5: time: missing unit in duration \"5\"" },
    { "TZ=Nowhere * * * * *", "provided bad location Nowhere: unknown time zone Nowhere" },
    { "TZ=UTC", "invalid schedule format: runtime error: slice bounds out of range [:-1]" },
};

TEST(schedules_are_read_as_upstream_reads_them)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(schedules) / sizeof(schedules[0]); i++) {
        const char *fault = cron_fault(&a, str_of(schedules[i].schedule));
        CHECK_TEXT(schedules[i].schedule, fault ? fault : "none", schedules[i].fault ? schedules[i].fault : "none");
    }
    arena_fini(&a);
}

TEST(time_zones_are_those_of_the_database)
{
    static const char *const known[] = { "UTC", "Local", "Africa/Abidjan", "Zulu", "America/Argentina/Ushuaia",
                                         "Etc/GMT-14" };
    static const char *const unknown[] = { "", "utc", "Europe", "Europe/", "Europe/Berlin ", "A", "zzz" };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        CHECK_TEXT(known[i], time_zone_fault(&a, str_of(known[i])) ? "unknown" : "known", "known");
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        CHECK_TEXT(unknown[i], time_zone_fault(&a, str_of(unknown[i])),
                   arena_printf(&a, "unknown time zone %s", unknown[i]));
    CHECK_TEXT("..", time_zone_fault(&a, STR("a..b")), "time: invalid location name");
    arena_fini(&a);
}
