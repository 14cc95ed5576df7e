/* Server-side apply and managedFields: what the recorded vectors leave out. Damaged and hostile managedFields, other
 * versions, capping, texts of sets, and that work stays in proportion. */
#include "api/edit.h"
#include "apply/apply.h"
#include "apply/field_set.h"
#include "codec/json.h"
#include "tests/test.h"

static struct arena arena;

static struct value read_object(const struct type *t, const char *json)
{
    struct value v;
    struct err e;
    err_init(&e, &arena);
    if (json_decode(&arena, WORK_OWN, t, str_of(json), NULL, &v, &e))
        FAIL("%s: %s", json, e.message);
    return v;
}

static struct str managed_of(const struct type *t, const struct value *object)
{
    const struct type *meta = schema_type(STR("meta/v1.ObjectMeta"));
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    json_encode_field(&b, &meta->fields[schema_slot(meta, STR("managedFields"))],
                      value_path(t, object, "metadata.managedFields"));
    struct str text = arena_str(&arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static const struct type *config_map(void)
{
    return schema_type(STR("core/v1.ConfigMap"));
}

#define ENTRY(manager, operation, rest, fields)                                                              \
    "{\"manager\":\"" manager "\",\"operation\":\"" operation "\",\"apiVersion\":\"v1\"," rest                 \
    "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":" fields "}"
#define OBJECT(uid, managed, data) \
    "{\"metadata\":{\"name\":\"c\",\"uid\":\"" uid "\"," managed "\"labels\":{\"l\":\"1\"}},\"data\":{" data "}}"
#define TIME(second) "\"time\":\"2020-01-01T00:00:" second "Z\","
#define NOW_S 1577836830 /* 2020-01-01T00:00:30Z */

/* ---- Texts of sets ---- */

TEST(sets_as_text)
{
    static const struct {
        const char *name, *text, *want; /* NULL: the same; "": damaged */
    } cases[] = {
        { "nothing", "{}", NULL },
        { "null is nothing", "null", "{}" },
        { "a tree", "{\"f:a\":{\".\":{},\"f:b\":{}},\"f:c\":{}}", NULL },
        { "steps of all kinds, in order", "{\"f:z\":{},\"k:{\\\"a\\\":1,\\\"b\\\":\\\"x\\\"}\":{},\"v:1\":{},\"v:\\\"x\\\"\":{},"
                                          "\"v:true\":{},\"v:null\":{},\"i:-2\":{},\"i:79\":{}}", NULL },
        { "out of order", "{\"f:b\":{},\"i:1\":{},\"f:a\":{}}", "{\"f:a\":{},\"f:b\":{},\"i:1\":{}}" },
        { "a key twice: members add up, the last branch stays", "{\"f:a\":{\"f:b\":{}},\"f:a\":{},\"f:a\":{\"f:c\":{}}}",
          "{\"f:a\":{\".\":{},\"f:c\":{}}}" },
        { "key fields out of order", "{\"k:{\\\"b\\\":2,\\\"a\\\":1}\":{}}", "{\"k:{\\\"a\\\":1,\\\"b\\\":2}\":{}}" },
        { "a dot with nothing else is a leaf", "{\"f:a\":{\".\":5}}", "{\"f:a\":{}}" },
        { "unknown kinds of steps are passed over", "{\"x:a\":{\"f:b\":{}},\"f:c\":{}}", "{\"f:c\":{}}" },
        { "only unknown ones below: a leaf", "{\"f:a\":{\"x:b\":{}}}", "{\"f:a\":{}}" },
        { "null below is a leaf", "{\"f:a\":null}", "{\"f:a\":{}}" },
        { "names with escapes", "{\"f:a\\\"\\n\\u0001<\":{}}", NULL },
        { "HTML inside of keys is escaped twice", "{\"v:\\\"<\\\"\":{}}", "{\"v:\\\"\\\\u003c\\\"\":{}}" },
        { "whole doubles are ints", "{\"v:1.0\":{},\"v:1e3\":{}}", "{\"v:1\":{},\"v:1000\":{}}" },
        { "not an object", "[]", "" },
        { "an object where a leaf is wanted", "{\"f:a\":1}", "" },
        { "no colon", "{\"fa\":{}}", "" },
        { "too short", "{\"f\":{}}", "" },
        { "an index that is none", "{\"i:x\":{}}", "" },
        { "a value that is none", "{\"v:\":{}}", "" },
        { "keys that are none", "{\"k:[]\":{}}", "" },
        { "cut off", "{\"f:a\":{", "" },
        { "text behind", "{} {}", "" },
    };
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct field_set set;
        bool ok = set_parse(&arena, str_of(cases[i].text), &set);
        struct str want = str_of(cases[i].want ? cases[i].want : cases[i].text);
        CHECK_INT(cases[i].name, ok, want.n > 0);
        if (ok)
            CHECK_STR(cases[i].name, set_text(&arena, set), want);
    }
    arena_fini(&arena);
}

TEST(operations_on_sets)
{
#define X "{\"f:a\":{\".\":{},\"f:b\":{},\"f:c\":{}},\"f:d\":{}}"
    static const struct {
        const char *name, *x, *y, *both, *either, *x_only, *x_whole;
    } cases[] = {
        { "with nothing", X, "{}", "{}", X, X, X },
        { "with itself", X, X, X, X, "{}", "{}" },
        { "a member takes what is below it only as a whole", X, "{\"f:a\":{}}", "{\"f:a\":{}}", X,
          "{\"f:a\":{\"f:b\":{},\"f:c\":{}},\"f:d\":{}}", "{\"f:d\":{}}" },
        { "a leaf inside", X, "{\"f:a\":{\"f:b\":{}},\"f:z\":{}}", "{\"f:a\":{\"f:b\":{}}}",
          "{\"f:a\":{\".\":{},\"f:b\":{},\"f:c\":{}},\"f:d\":{},\"f:z\":{}}", "{\"f:a\":{\".\":{},\"f:c\":{}},\"f:d\":{}}",
          "{\"f:a\":{\".\":{},\"f:c\":{}},\"f:d\":{}}" },
    };
#undef X
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct field_set x, y;
        CHECK(set_parse(&arena, str_of(cases[i].x), &x));
        CHECK(set_parse(&arena, str_of(cases[i].y), &y));
        CHECK_STR(cases[i].name, set_text(&arena, set_intersection(&arena, x, y)), str_of(cases[i].both));
        CHECK_STR(cases[i].name, set_text(&arena, set_intersection(&arena, y, x)), str_of(cases[i].both));
        CHECK_STR(cases[i].name, set_text(&arena, set_union(&arena, x, y)), str_of(cases[i].either));
        CHECK_STR(cases[i].name, set_text(&arena, set_difference(&arena, x, y)), str_of(cases[i].x_only));
        CHECK_STR(cases[i].name, set_text(&arena, set_without(&arena, x, y)), str_of(cases[i].x_whole));
    }
    arena_fini(&arena);
}

/* ---- Updates ---- */

TEST(updates)
{
#define LIVE_ENTRY ENTRY("a", "Update", TIME("01"), "{\"f:data\":{\"f:x\":{},\"f:y\":{}}}")
#define LIVE(data) OBJECT("u", "\"managedFields\":[" LIVE_ENTRY "],", data)
#define NEW(managed, data) OBJECT("u", managed, data)
#define BY_ME(fields) ENTRY("me", "Update", TIME("30"), fields)
    static const struct {
        const char *name, *live, *new, *subresource, *want;
    } cases[] = {
        { "nothing changed: times stay", LIVE("\"x\":\"1\""), NEW("", "\"x\":\"1\""), "", "[" LIVE_ENTRY "]" },
        { "a change takes the field over", LIVE("\"x\":\"1\""), NEW("", "\"x\":\"2\""), "",
          "[" ENTRY("a", "Update", TIME("01"), "{\"f:data\":{\"f:y\":{}}}") "," BY_ME("{\"f:data\":{\"f:x\":{}}}") "]" },
        { "an entry that owns nothing any more is gone", LIVE("\"x\":\"1\",\"y\":\"1\""), NEW("", "\"x\":\"2\""), "",
          "[" BY_ME("{\"f:data\":{\"f:x\":{}}}") "]" },
        { "the client's managedFields count", LIVE("\"x\":\"1\""),
          NEW("\"managedFields\":[" ENTRY("b", "Apply", "", "{\"f:data\":{\"f:z\":{}}}") "],", "\"x\":\"1\""), "",
          "[" ENTRY("b", "Apply", "", "{\"f:data\":{\"f:z\":{}}}") "]" },
        { "but not through a subresource", LIVE("\"x\":\"1\""),
          NEW("\"managedFields\":[" ENTRY("b", "Apply", "", "{\"f:data\":{\"f:z\":{}}}") "],", "\"x\":\"1\""), "status",
          "[" LIVE_ENTRY "]" },
        { "of two entries of one manager the later counts", LIVE("\"x\":\"1\""),
          NEW("\"managedFields\":[" ENTRY("b", "Apply", "", "{\"f:data\":{\"f:z\":{}}}") ","
              ENTRY("b", "Apply", "", "{\"f:data\":{\"f:w\":{}}}") "],", "\"x\":\"1\""), "",
          "[" ENTRY("b", "Apply", "", "{\"f:data\":{\"f:w\":{}}}") "]" },
        { "damaged ones of the client: those of the object", LIVE("\"x\":\"1\""),
          NEW("\"managedFields\":[" ENTRY("b", "Apply", "", "{\"f\":{}}") "],", "\"x\":\"1\""), "", "[" LIVE_ENTRY "]" },
        { "an operation that is none: those of the object", LIVE("\"x\":\"1\""),
          NEW("\"managedFields\":[" ENTRY("b", "Patch", "", "{}") "],", "\"x\":\"1\""), "", "[" LIVE_ENTRY "]" },
        { "an empty list asks for a new start", LIVE("\"x\":\"1\""), NEW("\"managedFields\":[],", "\"x\":\"2\""), "", "null" },
        { "so does one entry that says nothing", LIVE("\"x\":\"1\""), NEW("\"managedFields\":[{}],", "\"x\":\"2\""), "", "null" },
        { "an object that was never tracked stays so", OBJECT("u", "", "\"x\":\"1\""), NEW("", "\"x\":\"2\""), "", "null" },
        { "a version that there is not is dropped", LIVE("\"x\":\"1\""),
          NEW("\"managedFields\":[" LIVE_ENTRY ",{\"manager\":\"old\",\"operation\":\"Update\",\"apiVersion\":\"v9\","
              "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:data\":{}}}],", "\"x\":\"1\""), "", "[" LIVE_ENTRY "]" },
        { "a version that cannot be read: nothing is left", LIVE("\"x\":\"1\""),
          NEW("\"managedFields\":[" LIVE_ENTRY ",{\"manager\":\"old\",\"operation\":\"Update\",\"apiVersion\":\"a/b/c\","
              "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:data\":{}}}],", "\"x\":\"1\""), "", "null" },
        { "what is owned as a whole is not owned inside", LIVE("\"x\":\"1\""),
          NEW("\"managedFields\":[" ENTRY("b", "Apply", "", "{\"f:metadata\":{\"f:ownerReferences\":{\"k:{\\\"uid\\\":\\\"u\\\"}\":"
              "{\"f:name\":{}}}}}") "],", "\"x\":\"1\""), "",
          "[" ENTRY("b", "Apply", "", "{\"f:metadata\":{\"f:ownerReferences\":{\"k:{\\\"uid\\\":\\\"u\\\"}\":{}}}}") "]" },
        { "of one time, by manager", LIVE("\"x\":\"1\""),
          NEW("\"managedFields\":[" ENTRY("c", "Update", TIME("01"), "{\"f:data\":{}}") ","
              ENTRY("b", "Update", TIME("01"), "{\"f:data\":{}}") "],", "\"x\":\"1\""), "",
          "[" ENTRY("b", "Update", TIME("01"), "{\"f:data\":{}}") "," ENTRY("c", "Update", TIME("01"), "{\"f:data\":{}}") "]" },
    };
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct value live = read_object(config_map(), cases[i].live), new = read_object(config_map(), cases[i].new);
        struct apply_manager me = { STR("me"), STR("v1"), str_of(cases[i].subresource), NOW_S, NULL };
        struct value got = apply_note_update(&arena, config_map(), &live, &new, &me);
        CHECK_STR(cases[i].name, managed_of(config_map(), &got), str_of(cases[i].want));
    }
    arena_fini(&arena);
}

TEST(what_the_endpoint_resets_is_not_owned)
{
    static const char *const reset[] = { "data", "metadata.labels", NULL };
    arena_init(&arena);
    struct value new = read_object(config_map(), "{\"metadata\":{\"labels\":{\"l\":\"1\"},\"annotations\":{\"a\":\"1\"}},"
                                                 "\"data\":{\"x\":\"1\"},\"immutable\":true}");
    struct apply_manager me = { STR("me"), STR("v1"), STR(""), NOW_S, reset };
    struct value got = apply_note_update(&arena, config_map(), NULL, &new, &me);
    CHECK_STR("what is left", managed_of(config_map(), &got),
              STR("[" BY_ME("{\"f:immutable\":{},\"f:metadata\":{\"f:annotations\":{\".\":{},\"f:a\":{}}}}") "]"));
    arena_fini(&arena);
}

/* Secrets of a service account are told apart by a name that has no default. */
TEST(elements_without_keys)
{
    const struct type *t = schema_type(STR("core/v1.ServiceAccount"));
    struct apply_manager me = { STR("me"), STR("v1"), STR(""), NOW_S, NULL };
    arena_init(&arena);
    struct value with = read_object(t, "{\"secrets\":[{\"name\":\"a\"}],\"imagePullSecrets\":[{}]}");
    struct value without = read_object(t, "{\"secrets\":[{\"name\":\"a\"},{\"kind\":\"b\"}]}");
    struct value got = apply_note_update(&arena, t, NULL, &with, &me);
    CHECK_STR("with names", managed_of(t, &got),
              STR("[" BY_ME("{\"f:imagePullSecrets\":{},\"f:secrets\":{\".\":{},\"k:{\\\"name\\\":\\\"a\\\"}\":{}}}") "]"));
    got = apply_note_update(&arena, t, NULL, &without, &me);
    CHECK_STR("without", managed_of(t, &got), STR("null"));
    got = apply_note_update(&arena, t, &without, &with, &me);
    CHECK_STR("the object has one already", managed_of(t, &got), STR("null"));
    arena_fini(&arena);
}

TEST(other_versions_survive)
{
    const struct type *t = schema_type(STR("autoscaling/v2.HorizontalPodAutoscaler"));
    static const char entry[] = "{\"manager\":\"k\",\"operation\":\"Update\",\"apiVersion\":\"autoscaling/v1\",\"fieldsType\":"
                                "\"FieldsV1\",\"fieldsV1\":{\"f:spec\":{\"f:targetCPUUtilizationPercentage\":{}}}}";
    arena_init(&arena);
    const char *text = arena_printf(&arena, "{\"metadata\":{\"uid\":\"u\",\"managedFields\":[%s]},\"spec\":{\"maxReplicas\":1}}", entry);
    struct value live = read_object(t, text);
    struct value new = read_object(t, "{\"metadata\":{\"uid\":\"u\"},\"spec\":{\"maxReplicas\":2}}");
    struct apply_manager me = { STR("me"), STR("autoscaling/v2"), STR(""), NOW_S, NULL };
    struct value got = apply_note_update(&arena, t, &live, &new, &me);
    struct str managed = managed_of(t, &got);
    CHECK(memmem(managed.p, managed.n, entry, sizeof(entry) - 1));
    CHECK(memmem(managed.p, managed.n, "f:maxReplicas", 13));
    arena_fini(&arena);
}

/* From the eleventh on, the oldest become one, which has the time of the youngest in it. */
TEST(ten_updaters_are_kept)
{
    arena_init(&arena);
    struct strbuf data;
    strbuf_init(&data, STRBUF_NO_MAX);
    struct value live = { 0 };
    for (int i = 0; i < 14; i++) {
        strbuf_printf(&data, "%s\"k%02d\":\"1\"", i ? "," : "", i);
        const char *json = arena_printf(&arena, "{\"metadata\":{\"name\":\"c\",\"uid\":\"u\"},\"data\":{%.*s}}", STR_ARG(strbuf_str(&data)));
        struct value new = read_object(config_map(), json);
        struct apply_manager m = { str_of(arena_printf(&arena, "m%02d", i)), STR("v1"), STR(""), NOW_S + i, NULL };
        live = apply_note_update(&arena, config_map(), i ? &live : NULL, &new, &m);
    }
    strbuf_fini(&data);
    const struct value *list = value_path(config_map(), &live, "metadata.managedFields");
    CHECK_INT("entries", list->n, 10);
    struct str managed = managed_of(config_map(), &live);
    struct str oldest = STR("[{\"manager\":\"ancient-changes\",\"operation\":\"Update\",\"apiVersion\":\"v1\",\"time\":"
                            "\"2020-01-01T00:00:34Z\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:data\":{\".\":{},\"f:k00\":{},"
                            "\"f:k01\":{},\"f:k02\":{},\"f:k03\":{},\"f:k04\":{}}}}");
    CHECK_STR("the oldest", str_first(managed, oldest.n), oldest);
    arena_fini(&arena);
}

/* ---- Times ---- */

TEST(times_alone_change_nothing)
{
    arena_init(&arena);
    struct value live = read_object(config_map(), OBJECT("u", "\"managedFields\":[" ENTRY("a", "Apply", TIME("01"), "{\"f:data\":{}}") "],", ""));
    struct value later = read_object(config_map(), OBJECT("u", "\"managedFields\":[" ENTRY("a", "Apply", TIME("09"), "{\"f:data\":{}}") "],", ""));
    struct value other = read_object(config_map(), OBJECT("u", "\"managedFields\":[" ENTRY("a", "Apply", TIME("09"), "{\"f:data\":{}}") "],", "\"x\":\"1\""));
    struct value kept = apply_keep_times(&arena, config_map(), &live, &later);
    CHECK(value_equal(&kept, &live));
    kept = apply_keep_times(&arena, config_map(), &live, &other);
    CHECK(value_equal(&kept, &other));
    arena_fini(&arena);
}

/* ---- Applies ---- */

static enum err_code apply_text(const struct type *t, const struct value *live, struct str body, struct apply_outcome *outcome,
                                struct err *e)
{
    struct work work = work_init(3 << 20);
    struct apply_patch patch = { &work, body, STR("ConfigMap"), STR("v1"), false };
    struct apply_manager me = { STR("me"), STR("v1"), STR(""), NOW_S, NULL };
    err_init(e, &arena);
    return apply_merge(&arena, t, live, &patch, &me, outcome, e);
}

#define CM(rest) "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"," rest "}"

TEST(refused_applies)
{
    static const struct {
        const char *name, *live, *body, *want;
        enum err_code code;
    } cases[] = {
        { "not YAML", NULL, "{", "error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find expected node content",
          ERR_BAD_REQUEST },
        { "a list", NULL, "[1]", "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into "
                                 "Go value of type map[string]interface {}", ERR_BAD_REQUEST },
        { "nothing", NULL, "", "invalid object type: /, Kind=", ERR_BAD_REQUEST },
        { "a version that cannot be read", NULL, "{\"apiVersion\":\"a/b/c\",\"kind\":\"ConfigMap\"}", "invalid object type: /, Kind=",
          ERR_BAD_REQUEST },
        { "managedFields", NULL, CM("\"metadata\":{\"managedFields\":[]}"), "metadata.managedFields must be nil", ERR_BAD_REQUEST },
        { "several faults", NULL, CM("\"data\":{\"a\":1,\"b\":[]}"),
          "failed to create typed patch object (/; /v1, Kind=ConfigMap): errors:\n"
          "  .data.a: expected string, got &value.valueUnstructured{Value:1}\n"
          "  .data.b: expected string, got &value.valueUnstructured{Value:[]interface {}{}}", ERR_UNKNOWN },
        { "damaged managedFields of the object", OBJECT("u", "\"managedFields\":[{\"manager\":\"x\"}],", ""), CM("\"data\":{}"),
          "failed to decode managed fields: operation must be `Apply` or `Update`", ERR_UNKNOWN },
        { "a value that the type cannot hold", NULL, CM("\"metadata\":{\"creationTimestamp\":\"x\"}"),
          "failed to convert new object (/; /v1, Kind=ConfigMap) to proper version: unable to convert unstructured object to /v1, "
          "Kind=ConfigMap: parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\"", ERR_UNKNOWN },
    };
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct value live;
        if (cases[i].live)
            live = read_object(config_map(), cases[i].live);
        struct apply_outcome outcome;
        struct err e;
        enum err_code rc = apply_text(config_map(), cases[i].live ? &live : NULL, str_of(cases[i].body), &outcome, &e);
        CHECK_INT(cases[i].name, rc, cases[i].code);
        CHECK_TEXT(cases[i].name, e.message, cases[i].want);
    }
    arena_fini(&arena);
}

/* Managers in the order of their identities: operations and versions too. */
TEST(conflicts)
{
    arena_init(&arena);
    struct value live = read_object(config_map(), OBJECT("u", "\"managedFields\":["
        ENTRY("b", "Update", "\"subresource\":\"status\",", "{\"f:data\":{\"f:x\":{}}}") ","
        ENTRY("b", "Update", "", "{\"f:data\":{\"f:x\":{},\"f:y\":{}}}") ","
        ENTRY("b", "Apply", "", "{\"f:data\":{\"f:y\":{}}}") ","
        ENTRY("a b", "Apply", "", "{\"f:data\":{\"f:x\":{},\"f:z\":{}}}") "],", "\"x\":\"1\",\"y\":\"1\",\"z\":\"1\""));
    struct apply_outcome outcome;
    struct err e;
    enum err_code rc = apply_text(config_map(), &live, STR(CM("\"data\":{\"x\":\"2\",\"y\":\"2\",\"z\":\"1\"}")), &outcome, &e);
    CHECK_INT("code", rc, ERR_CONFLICT);
    CHECK_TEXT("message", e.message,
               "Apply failed with 5 conflicts: conflicts with \"a b\":\n- .data.x\nconflicts with \"b\":\n- .data.y\n"
               "conflicts with \"b\" with subresource \"status\" using v1:\n- .data.x\n"
               "conflicts with \"b\" using v1:\n- .data.x\n- .data.y");
    CHECK_INT("causes", outcome.n_conflicts, 5);
    arena_fini(&arena);
}

#define LAST_APPLIED "\"kubectl.kubernetes.io/last-applied-configuration\":"
#define APPLIED_BEFORE(text) \
    "{\"metadata\":{\"uid\":\"u\",\"annotations\":{" LAST_APPLIED "\"" text "\"},\"managedFields\":[" \
    ENTRY("client", "Update", TIME("01"), "{\"f:data\":{\"f:x\":{}}}") "]},\"data\":{\"x\":\"1\"}}"

/* kubectl takes from others what it applied itself before, if the annotation says so and nothing changed since. */
TEST(kubectl_comes_from_the_clients_side)
{
    static const struct {
        const char *name, *text;
        bool allowed;
    } cases[] = {
        { "as it was applied", "{\\\"apiVersion\\\":\\\"v1\\\",\\\"kind\\\":\\\"ConfigMap\\\",\\\"data\\\":{\\\"x\\\":\\\"1\\\"}}", true },
        { "changed since", "{\\\"apiVersion\\\":\\\"v1\\\",\\\"kind\\\":\\\"ConfigMap\\\",\\\"data\\\":{\\\"x\\\":\\\"0\\\"}}", false },
        { "another field", "{\\\"apiVersion\\\":\\\"v1\\\",\\\"kind\\\":\\\"ConfigMap\\\",\\\"data\\\":{\\\"y\\\":\\\"1\\\"}}", false },
        { "of another kind", "{\\\"apiVersion\\\":\\\"v1\\\",\\\"kind\\\":\\\"Secret\\\",\\\"data\\\":{\\\"x\\\":\\\"1\\\"}}", false },
        { "of another version", "{\\\"apiVersion\\\":\\\"v2\\\",\\\"kind\\\":\\\"ConfigMap\\\",\\\"data\\\":{\\\"x\\\":\\\"1\\\"}}", false },
        { "that does not fit", "{\\\"apiVersion\\\":\\\"v1\\\",\\\"kind\\\":\\\"ConfigMap\\\",\\\"z\\\":1,\\\"data\\\":{\\\"x\\\":\\\"1\\\"}}", false },
        { "that is no JSON", "{", false },
        { "that is no object", "[]", false },
    };
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct value live = read_object(config_map(), arena_printf(&arena, APPLIED_BEFORE("%s"), cases[i].text));
        struct work work = work_init(3 << 20);
        struct apply_patch patch = { &work, STR(CM("\"data\":{\"x\":\"2\"}")), STR("ConfigMap"), STR("v1"), false };
        struct apply_manager kubectl = { STR("kubectl"), STR("v1"), STR(""), NOW_S, NULL };
        struct apply_outcome outcome;
        struct err e;
        err_init(&e, &arena);
        enum err_code rc = apply_merge(&arena, config_map(), &live, &patch, &kubectl, &outcome, &e);
        CHECK_INT(cases[i].name, rc, cases[i].allowed ? ERR_OK : ERR_CONFLICT);
        if (rc)
            continue;
        const struct value *annotations = value_path(config_map(), &outcome.object, "metadata.annotations");
        CHECK_STR(cases[i].name, value_text(&annotations->members[0].value),
                  STR("{\"apiVersion\":\"v1\",\"data\":{\"x\":\"2\"},\"kind\":\"ConfigMap\"}\n"));
    }
    arena_fini(&arena);
}

/* ---- Scale: as a real server answered, one request after the other ---- */

static struct value scale_of(int replicas)
{
    const char *json = arena_printf(&arena, "{\"metadata\":{\"name\":\"d\",\"uid\":\"u\"},\"spec\":{\"replicas\":%d}}", replicas);
    return read_object(schema_type(STR("autoscaling/v1.Scale")), json);
}

/* The object's managedFields after somebody scaled it. */
static struct value scale_once(const struct value *managed, int from, int to, const char *applied_by, const char *put_by)
{
    const struct type *t = schema_type(STR("autoscaling/v1.Scale"));
    struct value live = scale_of(from), new = scale_of(to);
    live = edit_set(&arena, t, &live, "metadata.managedFields", apply_scale_managed(&arena, managed, STR("apps/v1")));
    struct apply_manager m = { str_of(put_by ? put_by : applied_by), STR("autoscaling/v1"), STR("scale"), NOW_S, NULL };
    if (put_by) {
        new = apply_note_update(&arena, t, &live, &new, &m);
    } else {
        struct work work = work_init(1 << 20);
        const char *body = arena_printf(&arena, "{apiVersion: autoscaling/v1, kind: Scale, spec: {replicas: %d}}", to);
        struct apply_patch patch = { &work, str_of(body), STR("Scale"), STR("autoscaling/v1"), true };
        struct apply_outcome outcome;
        struct err e;
        err_init(&e, &arena);
        CHECK_INT("apply", apply_merge(&arena, t, &live, &patch, &m, &outcome, &e), ERR_OK);
        new = outcome.object;
    }
    return apply_scale_to_parent(&arena, managed, value_path(t, &new, "metadata.managedFields"), STR("apps/v1"));
}

#define SCALED(manager, operation)                                                                               \
    "{\"manager\":\"" manager "\",\"operation\":\"" operation "\",\"apiVersion\":\"apps/v1\",\"fieldsType\":\"FieldsV1\"," \
    "\"fieldsV1\":{\"f:spec\":{\"f:replicas\":{}}},\"subresource\":\"scale\"}"
#define OWNER(fields)                                                                                            \
    "{\"manager\":\"a\",\"operation\":\"Update\",\"apiVersion\":\"apps/v1\"," TIME("01") "\"fieldsType\":\"FieldsV1\"," \
    "\"fieldsV1\":{\"f:spec\":{" fields "\"f:selector\":{}}}}"

TEST(scales)
{
    static const struct {
        const char *name, *applied_by, *put_by;
        int from, to;
        const char *want;
    } steps[] = {
        { "an update takes the replicas over, without a time", NULL, "m", 2, 3, "[" SCALED("m", "Update") "," OWNER("") "]" },
        { "and again", NULL, "m", 3, 4, "[" SCALED("m", "Update") "," OWNER("") "]" },
        { "an apply of the same value shares them", "ap", NULL, 4, 4,
          "[" SCALED("ap", "Apply") "," SCALED("m", "Update") "," OWNER("") "]" },
        { "a forced one takes them", "ap", NULL, 4, 5, "[" SCALED("ap", "Apply") "," OWNER("") "]" },
        { "and loses them to an update", NULL, "mp", 5, 6, "[" SCALED("mp", "Update") "," OWNER("") "]" },
    };
    const struct type *t = schema_type(STR("apps/v1.Deployment"));
    arena_init(&arena);
    struct value object = read_object(t, "{\"metadata\":{\"managedFields\":[" OWNER("\"f:replicas\":{},") "]}}");
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct value managed = scale_once(value_path(t, &object, "metadata.managedFields"), steps[i].from, steps[i].to,
                                          steps[i].applied_by, steps[i].put_by);
        object = edit_set(&arena, t, &object, "metadata.managedFields", managed);
        CHECK_STR(steps[i].name, managed_of(t, &object), str_of(steps[i].want));
    }
    arena_fini(&arena);
}

/* ---- Hostile ---- */

static struct str repeated(const char *before, const char *part, int n, const char *between, const char *after)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_text(&b, before);
    for (int i = 0; i < n; i++) {
        if (i)
            strbuf_add_text(&b, between);
        strbuf_printf(&b, part, i);
    }
    strbuf_add_text(&b, after);
    struct str text = arena_str(&arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

/* A minute is what a test has: squares of these would take hours. */
TEST(many_entries_and_many_fields)
{
    enum { MANY = 20000 };
    arena_init(&arena);
    struct str entries = repeated("\"managedFields\":[", "{\"manager\":\"m%06d\",\"operation\":\"Apply\",\"apiVersion\":\"v1\","
                                  "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:data\":{\"f:z\":{}}}}", MANY, ",", "],");
    struct str data = repeated("", "\"k%06d\":\"1\"", MANY, ",", "");
    const char *live_json = arena_printf(&arena, "{\"metadata\":{\"uid\":\"u\",%.*s\"name\":\"c\"},\"data\":{}}", STR_ARG(entries));
    const char *new_json = arena_printf(&arena, "{\"metadata\":{\"uid\":\"u\",\"name\":\"c\"},\"data\":{%.*s}}", STR_ARG(data));
    struct value live = read_object(config_map(), live_json), new = read_object(config_map(), new_json);
    struct apply_manager me = { STR("me"), STR("v1"), STR(""), NOW_S, NULL };
    struct value got = apply_note_update(&arena, config_map(), &live, &new, &me);
    CHECK_INT("entries", value_path(config_map(), &got, "metadata.managedFields")->n, MANY + 1);
    struct apply_outcome outcome;
    struct err e;
    const char *body = arena_printf(&arena, CM("\"data\":{%.*s}"), STR_ARG(data));
    CHECK_INT("apply", apply_text(config_map(), &live, str_of(body), &outcome, &e), ERR_OK);
    arena_fini(&arena);
}

TEST(deep_sets)
{
    arena_init(&arena);
    struct field_set set;
    struct str deep = repeated("", "{\"f:a\":", SET_DEPTH_MAX - 1, "", "{}");
    struct str closed = str_of(arena_printf(&arena, "%.*s%.*s", STR_ARG(deep), STR_ARG(repeated("", "}", SET_DEPTH_MAX - 1, "", ""))));
    CHECK(set_parse(&arena, closed, &set));
    CHECK_STR("deep", set_text(&arena, set), closed);
    struct str deeper = repeated("", "{\"f:a\":", 100000, "", "");
    CHECK(!set_parse(&arena, deeper, &set));
    arena_fini(&arena);
}
