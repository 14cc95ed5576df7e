/* Bodies of requests: media types, kind and version, findings, and the messages of refusals (Kubernetes v1.36). */
#include "codec/object.h"
#include "tests/test.h"

static const struct gvk pods = { { "", 0 }, { "v1", 2 }, { "Pod", 3 } };

/* "ok " and the JSON of the object, or the message. */
static struct str answer(struct arena *a, enum media m, struct str body, struct gvk endpoint,
                         enum field_validation validation, struct findings *findings)
{
    struct object o;
    struct err e;
    err_init(&e, a);
    if (object_decode(a, WORK_OWN, m, body, endpoint, validation, findings, &o, &e))
        return str_of(e.message);
    struct strbuf out;
    strbuf_init(&out, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&out, "ok ");
    json_encode(&out, o.type, &o.value);
    struct str copy = arena_str(a, strbuf_str(&out));
    strbuf_fini(&out);
    return copy;
}

#define EMPTY_POD \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{},\"spec\":{\"containers\":null},\"status\":{}}"
#define UNRECOGNIZED "the object provided is unrecognized (must be of type Pod): "
#define NO_META UNRECOGNIZED "couldn't get version/kind; json parse error: "
#define META_STRUCT                                                                  \
    "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string " \
    "\"json:\\\"kind,omitempty\\\"\" }"

TEST(kind_and_version_come_from_the_body_or_the_endpoint)
{
    static const struct {
        const char *what, *body, *want;
    } rows[] = {
        { "neither", "{}", "ok " EMPTY_POD },
        { "null", "null", "ok " EMPTY_POD },
        { "both", "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}", "ok " EMPTY_POD },
        { "only the kind", "{\"kind\":\"Pod\"}", "ok " EMPTY_POD },
        { "empty ones", "{\"kind\":\"\",\"apiVersion\":\"\"}", "ok " EMPTY_POD },
        { "a slash alone", "{\"apiVersion\":\"/\"}", "ok " EMPTY_POD },
        { "in another case", "{\"KIND\":\"Pod\",\"ApiVersion\":\"v1\"}", "ok " EMPTY_POD },
        { "an unknown kind in another case", "{\"\\u212aind\":\"Nope\"}",
          "Nope in version \"v1\" cannot be handled as a Pod: no kind \"Nope\" is registered for version "
          "\"v1\" in scheme "
          "\"pkg/api/legacyscheme/scheme.go:30\"" },
        { "an unknown kind", "{\"kind\":\"No\\\"pe\"}",
          "No\"pe in version \"v1\" cannot be handled as a Pod: no kind \"No\\\"pe\" is registered for version "
          "\"v1\" in "
          "scheme \"pkg/api/legacyscheme/scheme.go:30\"" },
        { "an unknown version", "{\"apiVersion\":\"x.io/v9\"}",
          "Pod in version \"v9\" cannot be handled as a Pod: no kind \"Pod\" is registered for version "
          "\"x.io/v9\" in "
          "scheme \"pkg/api/legacyscheme/scheme.go:30\"" },
        { "a group without a version", "{\"apiVersion\":\"x.io/\"}",
          "Pod in version \"\" cannot be handled as a Pod: Object 'apiVersion' is missing in "
          "'{\"apiVersion\":\"x.io/\"}'" },
        { "too many slashes", "{\"apiVersion\":\"a/b/c\"}",
          UNRECOGNIZED "unexpected GroupVersion string: a/b/c ({\"apiVersion\":\"a/b/c\"})" },
        { "another kind", "{\"kind\":\"Service\"}",
          "Service in version \"v1\" cannot be handled as a Pod: converting (v1.Service) to (core.Pod): "
          "unknown conversion" },
        { "another group", "{\"kind\":\"Deployment\",\"apiVersion\":\"apps/v1\"}",
          "Deployment in version \"v1\" cannot be handled as a Pod: converting (v1.Deployment) to (core.Pod): "
          "unknown "
          "conversion" },
    };
    struct arena a;
    arena_init(&a);
    static struct findings f;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_STR(rows[i].what, answer(&a, MEDIA_JSON, str_of(rows[i].body), pods, VALIDATION_IGNORE, &f),
                  str_of(rows[i].want));
    arena_fini(&a);
}

TEST(bodies_that_cannot_be_read_are_summed_up)
{
    static const struct {
        const char *body, *want;
    } rows[] = {
        { "", NO_META "unexpected end of JSON input (<empty>)" },
        { "{", NO_META "unexpected end of JSON input ({)" },
        { "nul", NO_META "invalid character ' ' in literal null (expecting 'l') (6e756c)" },
        { "[1]", NO_META "json: cannot unmarshal array into Go value of type " META_STRUCT " (5b315d)" },
        { "{\"kind\":1,\"apiVersion\":[],\"a\":\"abcdefgh\"}",
          NO_META "json: cannot unmarshal number into Go struct field .kind of type string "
                  "({\"kind\":1,\"apiVersion\":[],\"a\": ...)" },
        { "{\"APIVERSION\":{}}",
          NO_META "json: cannot unmarshal object into Go struct field .apiVersion of type string "
                  "({\"APIVERSION\":{}})" },
        { "{\"kind\":1]", NO_META "invalid character ']' after object key:value pair ({\"kind\":1])" },
        { "{\"spec\":[]}",
          "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal array into Go struct "
          "field Pod.spec of type v1.PodSpec" },
    };
    struct arena a;
    arena_init(&a);
    static struct findings f;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_STR(rows[i].body, answer(&a, MEDIA_JSON, str_of(rows[i].body), pods, VALIDATION_STRICT, &f),
                  str_of(rows[i].want));
    arena_fini(&a);
}

TEST(findings_are_ignored_returned_or_refused)
{
    static const char body[] = "{\"x\":1,\"metadata\":{\"y\":2}}";
    struct arena a;
    arena_init(&a);
    static struct findings f;
    CHECK_STR("ignore", answer(&a, MEDIA_JSON, str_of(body), pods, VALIDATION_IGNORE, &f),
              STR("ok " EMPTY_POD));
    CHECK_INT("ignore", f.n, 0);
    CHECK_STR("warn", answer(&a, MEDIA_JSON, str_of(body), pods, VALIDATION_WARN, &f), STR("ok " EMPTY_POD));
    CHECK_INT("warn", f.n, 2);
    CHECK_TEXT("warn", f.texts[1], "unknown field \"metadata.y\"");
    CHECK_STR("strict", answer(&a, MEDIA_JSON, str_of(body), pods, VALIDATION_STRICT, &f),
              STR("Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: unknown field "
                  "\"x\", unknown "
                  "field \"metadata.y\""));
    CHECK_STR("the kind goes first",
              answer(&a, MEDIA_JSON, STR("{\"kind\":\"Service\",\"x\":1}"), pods, VALIDATION_STRICT, &f),
              STR("Service in version \"v1\" cannot be handled as a Pod: converting (v1.Service) to "
                  "(core.Pod): unknown "
                  "conversion"));
    arena_fini(&a);
}

TEST(versions_of_one_kind_are_told_apart)
{
    static const struct gvk events = { { "", 0 }, { "v1", 2 }, { "Event", 5 } };
    static const struct gvk scalers = { STR("autoscaling"), STR("v2"), STR("HorizontalPodAutoscaler") };
    struct arena a;
    arena_init(&a);
    static struct findings f;
    CHECK_STR(
        "of another group",
        answer(&a, MEDIA_JSON, STR("{\"apiVersion\":\"events.k8s.io/v1\"}"), events, VALIDATION_IGNORE, &f),
        STR("the API version in the data (events.k8s.io/v1) does not match the expected API version (v1)"));
    CHECK_STR(
        "of the same group",
        answer(&a, MEDIA_JSON, STR("{\"apiVersion\":\"autoscaling/v1\"}"), scalers, VALIDATION_IGNORE, &f),
        STR("the API version in the data (autoscaling/v1) does not match the expected API version "
            "(autoscaling/v2)"));
    static const struct gvk options = { { "", 0 }, { "v1", 2 }, { "DeleteOptions", 13 } };
    CHECK_STR("but not those of the meta group",
              answer(&a, MEDIA_JSON, STR("{\"apiVersion\":\"policy/v1\"}"), options, VALIDATION_IGNORE, &f),
              STR("ok {\"kind\":\"DeleteOptions\",\"apiVersion\":\"policy/v1\"}"));
    arena_fini(&a);
}

TEST(yaml_and_protobuf_bodies)
{
    struct arena a;
    arena_init(&a);
    static struct findings f;
    CHECK_STR("YAML", answer(&a, MEDIA_YAML, STR("kind: Pod\nmetadata: {}\n"), pods, VALIDATION_STRICT, &f),
              STR("ok " EMPTY_POD));
    CHECK_STR(
        "keys given twice in YAML come first",
        answer(&a, MEDIA_YAML, STR("x: 1\nkind: Pod\nkind: Pod\n"), pods, VALIDATION_STRICT, &f),
        STR("Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: yaml: unmarshal errors:\n"
            "  line 3: key \"kind\" already set in map, unknown field \"x\""));
    CHECK_STR("no protobuf", answer(&a, MEDIA_PROTOBUF, STR("{}"), pods, VALIDATION_STRICT, &f),
              STR(UNRECOGNIZED
                  "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] "
                  "({})"));
    CHECK_STR("nothing", answer(&a, MEDIA_PROTOBUF, STR(""), pods, VALIDATION_STRICT, &f),
              STR(UNRECOGNIZED "empty data (<empty>)"));
    arena_fini(&a);
}

TEST(what_is_encoded_decodes_again_in_every_media_type)
{
    static const char body[] =
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"},"
        "\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"cpu\":\"1500m\"}}}]},"
        "\"status\":{}}";
    struct arena a;
    arena_init(&a);
    static struct findings f;
    struct object o;
    struct err e;
    err_init(&e, &a);
    CHECK(!object_decode(&a, WORK_OWN, MEDIA_JSON, str_of(body), pods, VALIDATION_STRICT, &f, &o, &e));
    for (enum media m = MEDIA_JSON; m <= MEDIA_PROTOBUF; m++) {
        struct strbuf out;
        strbuf_init(&out, STRBUF_NO_MAX);
        object_encode(&out, m, o.type, &o.value);
        CHECK_STR(media_content_type(m), answer(&a, m, strbuf_str(&out), pods, VALIDATION_STRICT, &f),
                  str_of(arena_printf(&a, "ok %s", body)));
        strbuf_fini(&out);
    }
    arena_fini(&a);
}

TEST(media_types_of_requests)
{
    static const struct {
        const char *header;
        int media; /* -1: none */
    } rows[] = {
        { "", MEDIA_JSON },
        { "application/json", MEDIA_JSON },
        { "Application/JSON ; charset=utf-8", MEDIA_JSON },
        { "application/yaml", MEDIA_YAML },
        { "application/vnd.kubernetes.protobuf", MEDIA_PROTOBUF },
        { "application/jsonx", -1 },
        { "text/plain", -1 },
        { ";", -1 },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        enum media m;
        struct err e;
        err_init(&e, &a);
        bool failed = media_of_content_type(str_of(rows[i].header), &m, &e);
        CHECK_INT(rows[i].header, failed ? -1 : (int)m, rows[i].media);
        if (failed)
            CHECK_TEXT(rows[i].header, e.message,
                       "the body of the request was in an unknown format - accepted media types include: "
                       "application/json, application/yaml, application/vnd.kubernetes.protobuf");
    }
    arena_fini(&a);
}

/* Upstream quotes whole bodies and names; here what is longer than some kilobytes is cut. */
TEST(messages_do_not_repeat_whole_bodies)
{
    struct arena a;
    arena_init(&a);
    enum { N = 1 << 20 };
    char *long_text = arena_zalloc(&a, N + 1);
    memset(long_text, 'x', N);
    static const struct {
        const char *format, *tail;
    } rows[] = {
        { "{\"metadata\":{\"name\":\"%s\"},\"apiVersion\":\"/v1\"}", NULL },
        { "{\"kind\":\"%s\"}", "in scheme \"pkg/api/legacyscheme/scheme.go:30\"" },
        { "{\"kind\":\"Pod\",\"apiVersion\":\"a/%s/c\"}", NULL },
        { "{\"kind\":\"Pod\",\"apiVersion\":\"%s\"}", "in scheme \"pkg/api/legacyscheme/scheme.go:30\"" },
        { "{\"kind\":\"Pod\",\"spec\":{\"%s\":1}}", NULL },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct findings f = { 0 };
        struct str body = str_of(arena_printf(&a, rows[i].format, long_text));
        struct gvk endpoint = i == 0 ? (struct gvk){ 0 } : pods;
        struct str text = answer(&a, MEDIA_JSON, body, endpoint, VALIDATION_STRICT, &f);
        CHECK(text.n < ERR_MESSAGE_BYTES_MAX + 32);
        CHECK(text.n < N / 4);
        CHECK(strstr(text.p, " bytes)"));
        CHECK(!rows[i].tail || str_ends(text, str_of(rows[i].tail)));
    }
    arena_fini(&a);
}
