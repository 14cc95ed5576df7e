/* What is decided about a Deployment and its ReplicaSets. */
#include "codec/json.h"
#include "controllers/rollout.h"
#include "tests/test.h"

enum { NOW_S = 100000, SETS_MAX = 4 };

static struct arena arena;

static void fresh(void)
{
    arena_fini(&arena); /* of nothing, the first time */
    arena_init(&arena);
}

static struct value decode(const char *type, const char *json)
{
    struct value v;
    struct err e;
    err_init(&e, &arena);
    if (json_decode(&arena, WORK_OWN, schema_type(str_of(type)), str_of(json), NULL, &v, &e))
        FAIL("%s: %s", e.message, json);
    return v;
}

/* A ReplicaSet: its image, what it wants, has available, was annotated with, and its revision. */
struct set_row {
    const char *image;
    int wanted, available, desired, max, revision;
};

static struct rollout_set set_of(const struct set_row *s, int i)
{
    const char *json = arena_printf(
        &arena,
        "{\"metadata\":{\"name\":\"web-%s\",\"uid\":\"u%d\",\"generation\":1,\"creationTimestamp\":\"1970-01-01T00:00:%02dZ\","
        "\"annotations\":{\"deployment.kubernetes.io/desired-replicas\":\"%d\",\"deployment.kubernetes.io/max-replicas\":\"%d\","
        "\"deployment.kubernetes.io/revision\":\"%d\"}},\"spec\":{\"replicas\":%d,\"template\":{\"metadata\":{\"labels\":"
        "{\"app\":\"web\",\"pod-template-hash\":\"x\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"%s\"}]}}},"
        "\"status\":{\"replicas\":%d,\"readyReplicas\":%d,\"availableReplicas\":%d,\"terminatingReplicas\":0,"
        "\"observedGeneration\":1}}",
        s->image, i, i + 1, s->desired, s->max, s->revision, s->wanted, s->image, s->wanted, s->available, s->available);
    struct value v = decode("apps/v1.ReplicaSet", json);
    return rollout_set_of(&v);
}

static uint32_t no_pods(void *context, struct str uid)
{
    (void)uid;
    return context ? 1 : 0;
}

/* The template has image "b"; `more` is of the spec, `head` of the metadata, `status` the status. */
static struct value deployment_of(int replicas, const char *head, const char *more, const char *status)
{
    return decode("apps/v1.Deployment",
                  arena_printf(&arena,
                               "{\"metadata\":{\"name\":\"web\",\"namespace\":\"n\",\"uid\":\"d\",\"generation\":1%s},\"spec\":{"
                               "\"replicas\":%d%s,\"selector\":{\"matchLabels\":{\"app\":\"web\"}},\"template\":{\"metadata\":"
                               "{\"labels\":{\"app\":\"web\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"b\"}]}}},"
                               "\"status\":%s}", head, replicas, more, status));
}

/* One line of what a plan does, without the status. */
static const char *plan_text(const struct rollout_plan *p)
{
    const struct type *t = schema_type(STR("apps/v1.ReplicaSet"));
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (size_t i = 0; i < p->n; i++) {
        const struct rollout_action *a = &p->actions[i];
        bool sized = a->verb == ROLLOUT_CREATE_SET || a->verb == ROLLOUT_UPDATE_SET;
        static const char *const words[] = { "create", "update", "delete", "change", "status", "tell" };
        if (a->verb == ROLLOUT_TELL || a->verb == ROLLOUT_WRITE_STATUS)
            continue;
        strbuf_printf(&b, "%s%s", b.n ? ", " : "", words[a->verb]);
        if (a->name.n)
            strbuf_printf(&b, " %.*s", STR_ARG(str_first(a->name, a->verb == ROLLOUT_CREATE_SET ? 3 : a->name.n)));
        if (sized)
            strbuf_printf(&b, " %lld", (long long)value_path(t, &a->object, "spec.replicas")->i);
    }
    char *text = arena_cstr(&arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

#define ROLLING(surge, gone) \
    ",\"strategy\":{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"maxSurge\":" surge ",\"maxUnavailable\":" gone "}}"
#define RECREATE ",\"strategy\":{\"type\":\"Recreate\"}"
#define AT(n) ",\"annotations\":{\"deployment.kubernetes.io/revision\":\"" n "\"}"

TEST(what_is_done_about_replica_sets)
{
    static const struct {
        const char *what;
        int replicas;
        const char *head, *more;
        struct set_row sets[SETS_MAX];
        const char *want;
        bool pods_run;
    } rows[] = {
        { "a new one", 3, "", ROLLING("1", "0"), { { 0 } }, "create web 3", false },
        { "nothing is left to do", 3, AT("1"), ROLLING("1", "0"), { { "b", 3, 3, 3, 4, 1 } }, "", false },
        { "a rollout begins with the surge", 3, AT("1"), ROLLING("1", "0"), { { "a", 3, 3, 3, 4, 1 } }, "create web 1", false },
        { "and without one with nothing", 3, AT("1"), ROLLING("0", "1"), { { "a", 3, 3, 3, 3, 1 } }, "create web 0", false },
        { "an old one makes room", 3, AT("2"), ROLLING("0", "1"), { { "a", 3, 3, 3, 3, 1 }, { "b", 0, 0, 3, 3, 2 } },
          "update web-a 2", false },
        { "the new one follows", 3, AT("2"), ROLLING("0", "1"), { { "a", 2, 2, 3, 3, 1 }, { "b", 0, 0, 3, 3, 2 } },
          "update web-b 1", false },
        { "the new one is not available yet", 3, AT("2"), ROLLING("1", "0"), { { "a", 3, 3, 3, 4, 1 }, { "b", 1, 0, 3, 4, 2 } }, "",
          false },
        { "it is, an old one goes", 3, AT("2"), ROLLING("1", "0"), { { "a", 3, 3, 3, 4, 1 }, { "b", 1, 1, 3, 4, 2 } },
          "update web-a 2", false },
        { "what is not available goes first", 3, AT("2"), ROLLING("1", "1"), { { "a", 3, 1, 3, 4, 1 }, { "b", 1, 1, 3, 4, 2 } },
          "update web-a 1", false },
        { "a rollover starts at what fits", 4, AT("2"), ROLLING("\"25%\"", "\"25%\""), { { "a", 3, 3, 4, 5, 1 }, { "c", 1, 0, 4, 5, 2 } },
          "create web 1", false },
        { "percentages: surge up, unavailable down", 10, AT("1"), ROLLING("\"25%\"", "\"25%\""), { { "a", 10, 10, 10, 13, 1 } },
          "create web 3", false },
        { "scaled up: the only one follows", 5, AT("1"), ROLLING("1", "0"), { { "b", 3, 3, 3, 4, 1 } }, "update web-b 5", false },
        { "scaled within a rollout: in proportion", 20, AT("2"), ROLLING("0", "1"), { { "a", 5, 5, 10, 10, 1 },
                                                                                       { "b", 5, 5, 10, 10, 2 } },
          "update web-b 10, update web-a 10", false },
        { "scaled to nothing", 0, AT("2"), ROLLING("1", "0"), { { "a", 2, 2, 3, 4, 1 }, { "b", 2, 2, 3, 4, 2 } },
          "update web-a 0, update web-b 0", false },
        { "recreate: old ones first", 3, AT("1"), RECREATE, { { "a", 3, 3, 3, 3, 1 } }, "update web-a 0", false },
        { "recreate: pods still run", 3, AT("1"), RECREATE, { { "a", 0, 0, 3, 3, 1 } }, "", true },
        { "recreate: none runs", 3, AT("1"), RECREATE, { { "a", 0, 0, 3, 3, 1 } }, "create web 3", false },
        { "paused: no rollout", 3, AT("1"), RECREATE ",\"paused\":true", { { "a", 3, 3, 3, 3, 1 } }, "", false },
        { "paused: but scaling", 4, AT("1"), RECREATE ",\"paused\":true", { { "a", 3, 3, 3, 3, 1 } }, "update web-a 4", false },
        { "a template from before gets a new revision", 3, AT("2"), ROLLING("1", "0"), { { "b", 0, 0, 3, 4, 1 },
                                                                                          { "a", 3, 3, 3, 4, 2 } },
          "update web-b 0", false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fresh();
        struct rollout_set sets[SETS_MAX];
        size_t n = 0;
        for (; n < SETS_MAX && rows[i].sets[n].image; n++)
            sets[n] = set_of(&rows[i].sets[n], (int)n);
        struct value d = deployment_of(rows[i].replicas, rows[i].head, rows[i].more, "{\"observedGeneration\":1}");
        struct rollout_state s = { .deployment = &d, .sets = sets, .n_sets = n, .n_pods_running = no_pods,
                                   .context = rows[i].pods_run ? &arena : NULL, .now_s = NOW_S };
        struct rollout_plan p = rollout_decide(&arena, &s);
        CHECK_TEXT(rows[i].what, plan_text(&p), rows[i].want);
    }
}

static struct rollout_plan plan_of(struct value *d, struct rollout_set *sets, size_t n)
{
    struct rollout_state s = { .deployment = d, .sets = sets, .n_sets = n, .n_pods_running = no_pods, .now_s = NOW_S };
    return rollout_decide(&arena, &s);
}

static const struct rollout_action *find(const struct rollout_plan *p, enum rollout_verb verb)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->actions[i].verb == verb)
            return &p->actions[i];
    FAIL("no such action");
}

static struct str annotation(const char *type, const struct value *v, const char *key)
{
    const struct value *map = value_path(schema_type(str_of(type)), v, "metadata.annotations");
    const struct value *found = map->kind == VALUE_MAP ? value_member(map, str_of(key)) : NULL;
    return found ? value_text(found) : STR("");
}

TEST(revisions_and_history)
{
    fresh();
    struct set_row rows[] = { { "b", 0, 0, 3, 4, 1 }, { "a", 3, 3, 3, 4, 7 } };
    struct rollout_set sets[] = { set_of(&rows[0], 0), set_of(&rows[1], 1) };
    struct value d = deployment_of(3, AT("7"), ROLLING("1", "0"), "{}");
    struct rollout_plan p = plan_of(&d, sets, 2);
    const struct value *set = &find(&p, ROLLOUT_UPDATE_SET)->object;
    CHECK_STR("next", annotation("apps/v1.ReplicaSet", set, "deployment.kubernetes.io/revision"), STR("8"));
    CHECK_STR("history", annotation("apps/v1.ReplicaSet", set, "deployment.kubernetes.io/revision-history"), STR("1"));
}

TEST(a_new_set_is_labelled_owned_and_told)
{
    fresh();
    struct value d = deployment_of(2, ",\"annotations\":{\"x\":\"y\",\"kubectl.kubernetes.io/last-applied-configuration\":\"z\"}",
                                   ROLLING("1", "0") ",\"progressDeadlineSeconds\":600", "{}");
    struct rollout_plan p = plan_of(&d, NULL, 0);
    const struct rollout_action *made = find(&p, ROLLOUT_CREATE_SET);
    const struct type *t = schema_type(STR("apps/v1.ReplicaSet"));
    const struct value *labels = value_path(t, &made->object, "spec.template.metadata.labels");
    CHECK_STR("name", made->name, str_of(arena_printf(&arena, "web-%.*s",
                                                      STR_ARG(value_text(value_member(labels, STR("pod-template-hash")))))));
    CHECK(value_equal(labels, value_path(t, &made->object, "metadata.labels")));
    CHECK(value_equal(labels, value_path(t, &made->object, "spec.selector.matchLabels")));
    CHECK_STR("copied", annotation("apps/v1.ReplicaSet", &made->object, "x"), STR("y"));
    CHECK_STR("not copied", annotation("apps/v1.ReplicaSet", &made->object, "kubectl.kubernetes.io/last-applied-configuration"),
              STR(""));
    CHECK_STR("desired", annotation("apps/v1.ReplicaSet", &made->object, "deployment.kubernetes.io/desired-replicas"), STR("2"));
    CHECK_STR("max", annotation("apps/v1.ReplicaSet", &made->object, "deployment.kubernetes.io/max-replicas"), STR("3"));
    const struct rollout_action *written = find(&p, ROLLOUT_WRITE_STATUS);
    CHECK_STR("revision", annotation("apps/v1.Deployment", &written->object, "deployment.kubernetes.io/revision"), STR("1"));
    CHECK_STR("reason", value_text(value_path(schema_type(STR("apps/v1.Deployment")), &written->object,
                                              "status.conditions.0.reason")), STR("NewReplicaSetCreated"));
    CHECK_TEXT("event", find(&p, ROLLOUT_TELL)->message,
               arena_printf(&arena, "Scaled up replica set %.*s from 0 to 2", STR_ARG(made->name)));
}

#define CONDITION(reason, status, since) \
    "{\"conditions\":[{\"type\":\"Progressing\",\"status\":\"" status "\",\"reason\":\"" reason "\",\"lastUpdateTime\":\"" since \
    "\",\"lastTransitionTime\":\"" since "\"}],\"observedGeneration\":1,\"replicas\":2,\"updatedReplicas\":2}"

/* The reason of the condition Progressing after a turn. NOW_S is 1970-01-02T03:46:40Z. */
TEST(progress)
{
    static const struct {
        const char *what, *status, *want;
        int available;
        int64_t check_after_s;
        const char *more;
    } rows[] = {
        { "nothing moves, but there is time", CONDITION("ReplicaSetUpdated", "True", "1970-01-02T03:45:00Z"), "ReplicaSetUpdated", 0,
          -1, "" },
        { "nothing has moved for too long", CONDITION("ReplicaSetUpdated", "True", "1970-01-02T03:30:00Z"),
          "ProgressDeadlineExceeded", 0, -1, "" },
        { "one more is available", CONDITION("NewReplicaSetCreated", "True", "1970-01-02T03:30:00Z"), "ReplicaSetUpdated", 1, -1, "" },
        { "all are", CONDITION("ReplicaSetUpdated", "True", "1970-01-02T03:30:00Z"), "NewReplicaSetAvailable", 2, -1, "" },
        { "even after the deadline", CONDITION("ProgressDeadlineExceeded", "False", "1970-01-02T03:30:00Z"),
          "NewReplicaSetAvailable", 2, -1, "" },
        { "paused", CONDITION("ReplicaSetUpdated", "True", "1970-01-02T03:30:00Z"), "DeploymentPaused", 0, -1, ",\"paused\":true" },
        { "resumed", CONDITION("DeploymentPaused", "Unknown", "1970-01-02T03:30:00Z"), "DeploymentResumed", 0, -1, "" },
    };
    const struct type *t = schema_type(STR("apps/v1.Deployment"));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fresh();
        struct set_row row = { "b", 2, rows[i].available, 2, 3, 1 };
        struct rollout_set sets[] = { set_of(&row, 0) };
        const char *more = arena_printf(&arena, "%s%s", ROLLING("1", "0") ",\"progressDeadlineSeconds\":600", rows[i].more);
        struct value d = deployment_of(2, AT("1"), more, rows[i].status);
        struct rollout_plan p = plan_of(&d, sets, 1);
        const struct value *list = value_path(t, &find(&p, ROLLOUT_WRITE_STATUS)->object, "status.conditions");
        struct str reason = STR("");
        const struct type *ct = schema_type(STR("apps/v1.DeploymentCondition"));
        for (uint32_t k = 0; k < list->n; k++)
            if (str_is(value_text(value_path(ct, &list->items[k], "type")), "Progressing"))
                reason = value_text(value_path(ct, &list->items[k], "reason"));
        CHECK_STR(rows[i].what, reason, str_of(rows[i].want));
        CHECK_INT(rows[i].what, p.check_after_s, rows[i].check_after_s);
    }
}

TEST(old_sets_beyond_the_limit_are_deleted)
{
    fresh();
    struct set_row rows[] = { { "a", 0, 0, 2, 3, 2 }, { "c", 0, 0, 2, 3, 1 }, { "e", 0, 0, 2, 3, 3 }, { "b", 2, 2, 2, 3, 4 } };
    struct rollout_set sets[SETS_MAX];
    for (int i = 0; i < SETS_MAX; i++)
        sets[i] = set_of(&rows[i], i);
    struct value d = deployment_of(2, AT("4"), ROLLING("1", "0") ",\"revisionHistoryLimit\":1",
                                   "{\"observedGeneration\":1,\"replicas\":2,\"updatedReplicas\":2,\"availableReplicas\":2}");
    struct rollout_plan p = plan_of(&d, sets, SETS_MAX);
    CHECK_TEXT("by revision", plan_text(&p), "delete web-c, delete web-a");
}

TEST(a_name_that_is_taken_leads_to_another)
{
    fresh();
    struct value d = deployment_of(2, "", ROLLING("1", "0"), "{}");
    struct rollout_plan p = plan_of(&d, NULL, 0);
    struct str first = find(&p, ROLLOUT_CREATE_SET)->name;
    struct value set = find(&p, ROLLOUT_CREATE_SET)->object;
    CHECK(rollout_is_same_set(&d, &set));
    struct value collided = rollout_collided(&arena, &d);
    p = plan_of(&collided, NULL, 0);
    CHECK(!str_eq(first, find(&p, ROLLOUT_CREATE_SET)->name));
    struct value other = decode("apps/v1.ReplicaSet", "{\"metadata\":{\"ownerReferences\":[{\"uid\":\"other\"}]}}");
    CHECK(!rollout_is_same_set(&d, &other));
}
