/* Kinds that are served in two versions: there and back again, for thousands of random objects (rules/convert.c). */
#include "rules/convert.h"

#include "api/edit.h"
#include "base/rand.h"
#include "codec/json.h"
#include "tests/test.h"

enum { N_ROUNDS = 3000 };

static const struct type *type_of(const char *name)
{
    const struct type *t = schema_type(str_of(name));
    CHECK(t != NULL);
    return t;
}

static struct str text_of(struct arena *a, const struct type *t, const struct value *v)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode(&json, t, v);
    struct str text = arena_str(a, strbuf_str(&json));
    strbuf_fini(&json);
    return text;
}

static struct value converted(struct arena *a, const struct type *from, const struct type *to, const struct value *v)
{
    struct value result;
    struct err e;
    err_init(&e, a);
    if (convert(a, from, to, v, &result, &e))
        FAIL("%s", e.message);
    return result;
}

static struct value decoded(struct arena *a, const struct type *t, struct str json)
{
    struct value v;
    struct err e;
    err_init(&e, a);
    if (json_decode(a, WORK_OWN, t, json, NULL, &v, &e))
        FAIL("%s: %.*s", e.message, STR_ARG(json));
    return v;
}

/* From one type to the other and back: nothing is lost. Returns what it is in between. */
static struct value check_round(struct arena *a, const struct type *from, const struct type *to, const struct value *v)
{
    struct value there = converted(a, from, to, v), back = converted(a, to, from, &there);
    CHECK_STR("there and back", text_of(a, from, &back), text_of(a, from, v));
    return there;
}

/* ---- Events ---- */

static struct value random_value(struct arena *a, struct rand *r, const struct field *f);

/* A struct with some of its fields; not with kind and apiVersion. */
static struct value random_struct(struct arena *a, struct rand *r, const struct type *t)
{
    struct value v = value_struct(a, t);
    for (unsigned i = t->flags & TYPE_OBJECT ? 2 : 0; i < t->n_fields; i++)
        if (rand_below(r, 2))
            v.slots[i] = random_value(a, r, &t->fields[i]);
    return v;
}

static struct value random_value(struct arena *a, struct rand *r, const struct field *f)
{
    if (f->shape == SHAPE_MAP || f->shape == SHAPE_LIST)
        return (struct value){ 0 }; /* of metadata alone, which is copied as it is */
    switch (f->kind) {
    case KIND_STRING:
        return value_string(str_of(arena_printf(a, "t%llu", (unsigned long long)rand_below(r, 1000))));
    case KIND_INT32:
    case KIND_INT64:
        return value_int((int64_t)rand_below(r, 1000) + 1);
    case KIND_TIME:
        return value_time((int64_t)rand_below(r, 1u << 30), 0);
    case KIND_MICRO_TIME:
        return value_time((int64_t)rand_below(r, 1u << 30), (uint32_t)rand_below(r, 1000000) * 1000);
    case KIND_STRUCT:
        return random_struct(a, r, f->type);
    default:
        return (struct value){ 0 };
    }
}

static struct value random_event(struct arena *a, struct rand *r, const struct type *t, const char *api_version)
{
    struct value v = random_struct(a, r, t);
    v.slots[SLOT_KIND] = value_string(STR("Event"));
    v.slots[SLOT_API_VERSION] = value_string(str_of(api_version));
    return v;
}

TEST(events_survive_the_way_there_and_back)
{
    const struct type *core = type_of("core/v1.Event"), *events = type_of("events.k8s.io/v1.Event");
    struct rand r;
    rand_init(&r, 1);
    for (int i = 0; i < N_ROUNDS; i++) {
        struct arena a;
        arena_init(&a);
        struct value old = random_event(&a, &r, core, "v1"), new = random_event(&a, &r, events, "events.k8s.io/v1");
        check_round(&a, core, events, &old);
        check_round(&a, events, core, &new);
        arena_fini(&a);
    }
}

TEST(fields_of_events_have_their_other_names)
{
    struct arena a;
    arena_init(&a);
    const struct type *core = type_of("core/v1.Event"), *events = type_of("events.k8s.io/v1.Event");
    struct value v = decoded(&a, core, STR("{\"kind\":\"Event\",\"apiVersion\":\"v1\",\"involvedObject\":{\"name\":\"p\"},"
                                           "\"message\":\"m\",\"count\":3,\"source\":{\"host\":\"h\"},"
                                           "\"reportingComponent\":\"c\",\"firstTimestamp\":\"2026-01-01T00:00:00Z\","
                                           "\"series\":{\"count\":2,\"lastObservedTime\":null}}"));
    struct value there = check_round(&a, core, events, &v);
    CHECK_STR("kind", text_of(&a, events, &there),
              STR("{\"kind\":\"Event\",\"apiVersion\":\"events.k8s.io/v1\",\"metadata\":{},\"eventTime\":null,\"series\":{"
                  "\"count\":2,\"lastObservedTime\":null},\"reportingController\":\"c\",\"regarding\":{\"name\":\"p\"},"
                  "\"note\":\"m\",\"deprecatedSource\":{\"host\":\"h\"},\"deprecatedFirstTimestamp\":"
                  "\"2026-01-01T00:00:00Z\",\"deprecatedLastTimestamp\":null,\"deprecatedCount\":3}"));
    CHECK(convert_stored_type(events) == core);
    CHECK(convert_stored_type(core) == core);
    CHECK(convert_stored_type(type_of("core/v1.Pod")) == type_of("core/v1.Pod"));
    arena_fini(&a);
}

/* ---- Autoscalers ---- */

#define NUMBER "%d"

/* Metrics of v2 that v1 has in annotations, each with one number in it. */
static const char *const metrics[] = {
    "{\"type\":\"Resource\",\"resource\":{\"name\":\"memory\",\"target\":{\"type\":\"Utilization\",\"averageUtilization\":"
    NUMBER "}}}",
    "{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{\"type\":\"AverageValue\",\"averageValue\":\"" NUMBER
    "\"}}}",
    "{\"type\":\"ContainerResource\",\"containerResource\":{\"name\":\"cpu\",\"target\":{\"type\":\"Utilization\","
    "\"averageUtilization\":" NUMBER "},\"container\":\"c\"}}",
    "{\"type\":\"Pods\",\"pods\":{\"metric\":{\"name\":\"m\",\"selector\":{\"matchLabels\":{\"a\":\"b\"}}},\"target\":{\"type\":"
    "\"AverageValue\",\"averageValue\":\"" NUMBER "\"}}}",
    "{\"type\":\"Object\",\"object\":{\"describedObject\":{\"kind\":\"Service\",\"name\":\"s\",\"apiVersion\":\"v1\"},"
    "\"target\":{\"type\":\"Value\",\"value\":\"" NUMBER "\"},\"metric\":{\"name\":\"m\"}}}",
    "{\"type\":\"Object\",\"object\":{\"describedObject\":{\"kind\":\"Service\",\"name\":\"s\"},\"target\":{\"type\":"
    "\"AverageValue\",\"averageValue\":\"" NUMBER "\"},\"metric\":{\"name\":\"m\"}}}",
    "{\"type\":\"External\",\"external\":{\"metric\":{\"name\":\"m\"},\"target\":{\"type\":\"Value\",\"value\":\"" NUMBER "\"}}}",
    "{\"type\":\"External\",\"external\":{\"metric\":{\"name\":\"m\"},\"target\":{\"type\":\"AverageValue\",\"averageValue\":\""
    NUMBER "\"}}}",
};
static const char *const statuses[] = {
    "{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"current\":{\"averageValue\":\"1\",\"averageUtilization\":" NUMBER "}}}",
    "{\"type\":\"ContainerResource\",\"containerResource\":{\"name\":\"cpu\",\"current\":{\"averageValue\":\"" NUMBER
    "\"},\"container\":\"c\"}}",
    "{\"type\":\"Pods\",\"pods\":{\"metric\":{\"name\":\"m\"},\"current\":{\"averageValue\":\"" NUMBER "\"}}}",
    "{\"type\":\"Object\",\"object\":{\"metric\":{\"name\":\"m\"},\"current\":{\"value\":\"" NUMBER
    "\"},\"describedObject\":{\"kind\":\"Service\",\"name\":\"s\"}}}",
    "{\"type\":\"External\",\"external\":{\"metric\":{\"name\":\"m\"},\"current\":{\"value\":\"" NUMBER "\",\"averageValue\":\"2\"}}}",
};
#define CPU_METRIC                                                                                                          \
    "{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{\"type\":\"Utilization\",\"averageUtilization\":" NUMBER "}}}"

static void add_some(struct strbuf *to, struct rand *r, const char *const *forms, size_t n_forms, const char *last)
{
    strbuf_add_char(to, '[');
    uint64_t n = rand_below(r, 4);
    for (uint64_t i = 0; i < n; i++) {
        strbuf_add_text(to, i ? "," : "");
        strbuf_printf(to, forms[rand_below(r, n_forms)], (int)rand_below(r, 100) + 1);
    }
    if (last && rand_below(r, 2)) {
        strbuf_add_text(to, n ? "," : "");
        strbuf_printf(to, last, (int)rand_below(r, 100) + 1);
    }
    strbuf_add_char(to, ']');
}

static void add_behavior(struct strbuf *to, struct rand *r)
{
    if (rand_below(r, 2))
        strbuf_printf(to, ",\"behavior\":{\"scaleUp\":{\"stabilizationWindowSeconds\":%d,\"policies\":[{\"type\":\"Pods\",\"value\":4,"
                      "\"periodSeconds\":15}],\"tolerance\":\"50m\"}}", (int)rand_below(r, 100));
    else if (rand_below(r, 2))
        STRBUF_ADD_LIT(to, ",\"behavior\":{\"scaleDown\":{\"selectPolicy\":\"Min\"}}");
}

static struct str random_autoscaler(struct arena *a, struct rand *r)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&b, "{\"kind\":\"HorizontalPodAutoscaler\",\"apiVersion\":\"autoscaling/v2\",\"metadata\":{\"name\":\"h\"");
    if (rand_below(r, 2))
        STRBUF_ADD_LIT(&b, ",\"annotations\":{\"x\":\"y\"}");
    strbuf_printf(&b, "},\"spec\":{\"scaleTargetRef\":{\"kind\":\"Deployment\",\"name\":\"d\"},\"maxReplicas\":%d,\"metrics\":",
                  (int)rand_below(r, 9));
    add_some(&b, r, metrics, sizeof(metrics) / sizeof(metrics[0]), CPU_METRIC);
    add_behavior(&b, r);
    STRBUF_ADD_LIT(&b, "},\"status\":{\"desiredReplicas\":3,\"currentMetrics\":");
    add_some(&b, r, statuses, sizeof(statuses) / sizeof(statuses[0]), NULL);
    if (rand_below(r, 2))
        STRBUF_ADD_LIT(&b, ",\"conditions\":[{\"type\":\"AbleToScale\",\"status\":\"True\",\"lastTransitionTime\":"
                       "\"2026-01-01T00:00:00Z\",\"reason\":\"r\"}]");
    STRBUF_ADD_LIT(&b, "}}");
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

/* An empty list is nothing in v1: what comes back has none. */
static struct value without_empty_lists(struct arena *a, const struct type *t, struct value v)
{
    static const char *const paths[] = { "spec.metrics", "status.currentMetrics" };
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        const struct value *list = value_path(t, &v, paths[i]);
        if (list->kind == VALUE_LIST && list->n == 0)
            v = edit_set(a, t, &v, paths[i], (struct value){ 0 });
    }
    return v;
}

TEST(autoscalers_survive_the_way_there_and_back)
{
    const struct type *v1 = type_of("autoscaling/v1.HorizontalPodAutoscaler");
    const struct type *v2 = type_of("autoscaling/v2.HorizontalPodAutoscaler");
    struct rand r;
    rand_init(&r, 2);
    for (int i = 0; i < N_ROUNDS; i++) {
        struct arena a;
        arena_init(&a);
        struct value v = without_empty_lists(&a, v2, decoded(&a, v2, random_autoscaler(&a, &r)));
        struct value there = check_round(&a, v2, v1, &v);
        check_round(&a, v1, v2, &there);
        arena_fini(&a);
    }
}

TEST(annotations_of_any_text_do_no_harm)
{
    static const char alphabet[] = "[]{}\":,\\x7.typecpu ";
    static const char *const keys[] = { "metrics", "current-metrics", "conditions", "behavior" };
    const struct type *v1 = type_of("autoscaling/v1.HorizontalPodAutoscaler");
    const struct type *v2 = type_of("autoscaling/v2.HorizontalPodAutoscaler");
    struct rand r;
    rand_init(&r, 3);
    for (int i = 0; i < N_ROUNDS; i++) {
        struct arena a;
        struct strbuf text, body;
        arena_init(&a);
        strbuf_init(&text, STRBUF_NO_MAX);
        strbuf_init(&body, STRBUF_NO_MAX);
        for (uint64_t n = rand_below(&r, 30); n; n--)
            strbuf_add_char(&text, alphabet[rand_below(&r, sizeof(alphabet) - 1)]);
        strbuf_printf(&body, "{\"kind\":\"HorizontalPodAutoscaler\",\"apiVersion\":\"autoscaling/v1\",\"metadata\":{\"annotations\":"
                      "{\"autoscaling.alpha.kubernetes.io/%s\":", keys[rand_below(&r, 4)]);
        json_add_string(&body, strbuf_str(&text));
        STRBUF_ADD_LIT(&body, "}}}");
        struct value v = decoded(&a, v1, arena_str(&a, strbuf_str(&body))), stored = converted(&a, v1, v2, &v);
        CHECK(value_path(v2, &stored, "metadata.annotations")->kind == VALUE_ABSENT);
        strbuf_fini(&text);
        strbuf_fini(&body);
        arena_fini(&a);
    }
}
