/* Patches: what each kind does to a document, what it refuses and in which words, and that hostile ones end. */
#include "codec/json.h"
#include "patch/patch.h"
#include "tests/test.h"

static struct arena arena;

static struct str json_of(const struct type *t, const struct value *v)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    json_encode(&b, t, v);
    struct str text = arena_str(&arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

struct plain_case {
    const char *name, *document, *patch, *want; /* a result, or the message */
    enum err_code code;
};

static void run_plain(const struct plain_case *c,
                      enum err_code (*apply)(struct arena *, struct work *, struct str, struct str, struct str *,
                                             struct err *))
{
    arena_init(&arena);
    for (; c->name; c++) {
        struct str got = { 0 };
        struct err e;
        err_init(&e, &arena);
        enum err_code rc = apply(&arena, WORK_OWN, str_of(c->document), str_of(c->patch), &got, &e);
        CHECK_INT(c->name, rc, c->code);
        CHECK_STR(c->name, rc ? str_of(e.message) : got, str_of(c->want));
    }
    arena_fini(&arena);
}

#define BAD ERR_BAD_REQUEST
#define NO ERR_INVALID

TEST(json_patch_operations)
{
    static const struct plain_case cases[] = {
        { "add a member", "{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/b\",\"value\":2}]", "{\"a\":1,\"b\":2}", 0 },
        { "no operations", "{\"b\":1, \"a\":2}", "[]", "{\"a\":2,\"b\":1}", 0 },
        { "null is no operations", "{\"b\":1}", "null", "{\"b\":1}", 0 },
        { "what nobody looks into keeps its bytes", "{\"z\":{\"b\": 1.0,\"a\":\"<\",\"b\":2}}", "[]",
          "{\"z\":{\"b\":1.0,\"a\":\"\\u003c\",\"b\":2}}", 0 },
        { "what one looks into is sorted, the last of equal keys stays", "{\"z\":{\"b\":1,\"a\":2,\"b\":3}}",
          "[{\"op\":\"test\",\"path\":\"/z/a\",\"value\":2}]", "{\"z\":{\"a\":2,\"b\":3}}", 0 },
        { "insert into a list", "[1,2]", "[{\"op\":\"add\",\"path\":\"/1\",\"value\":9}]", "[1,9,2]", 0 },
        { "append", "[1]", "[{\"op\":\"add\",\"path\":\"/-\",\"value\":9}]", "[1,9]", 0 },
        { "index from the end", "[1,2,3]", "[{\"op\":\"add\",\"path\":\"/-2\",\"value\":9}]", "[1,2,9,3]", 0 },
        { "index with a sign and zeros", "[1,2]", "[{\"op\":\"remove\",\"path\":\"/+01\"}]", "[1]", 0 },
        { "escapes in a path", "{\"a/b\":{\"~1\":1}}", "[{\"op\":\"remove\",\"path\":\"x/a~1b/~01\"}]",
          "{\"a/b\":{}}", 0 },
        { "replace adds what is missing", "{}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":1}]", "{\"a\":1}", 0 },
        { "add without a value", "{}", "[{\"op\":\"add\",\"path\":\"/a\"}]", "{\"a\":null}", 0 },
        { "replace the root", "{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":[1]}]", "[1]", 0 },
        { "move", "{\"a\":{\"x\":1},\"b\":[0]}", "[{\"op\":\"move\",\"from\":\"/a/x\",\"path\":\"/b/0\"}]",
          "{\"a\":{},\"b\":[1,0]}", 0 },
        { "a copy is its own", "{\"a\":{\"x\":1}}",
          "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"},{\"op\":\"replace\",\"path\":\"/b/x\",\"value\":2}]",
          "{\"a\":{\"x\":1},\"b\":{\"x\":2}}", 0 },
        { "copy of nothing is null", "{}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}]", "{\"b\":null}", 0 },
        { "add, remove and add again", "{\"b\":1}",
          "[{\"op\":\"add\",\"path\":\"/a\",\"value\":1},{\"op\":\"remove\",\"path\":\"/a\"},"
          "{\"op\":\"remove\",\"path\":\"/b\"},{\"op\":\"add\",\"path\":\"/a\",\"value\":2},"
          "{\"op\":\"add\",\"path\":\"/b\",\"value\":3}]", "{\"a\":2,\"b\":3}", 0 },
        { "test of nothing against null", "{}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":null}]", "{}", 0 },
        { "test in depth, keys in any order", "{\"a\":{\"x\":[1,{\"y\":null}],\"z\":2}}",
          "[{\"op\":\"test\",\"path\":\"/a\",\"value\":{\"z\":2,\"x\":[1,{\"y\":null}]}}]",
          "{\"a\":{\"x\":[1,{\"y\":null}],\"z\":2}}", 0 },
        { "test compares spelling", "{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":1.0}]",
          "testing value /a failed: test failed", NO },
        { "test of fewer members", "{\"a\":{\"x\":1,\"y\":1}}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":{\"x\":1}}]",
          "testing value /a failed: test failed", NO },
        { "a null that was added is not one that was there", "{}",
          "[{\"op\":\"add\",\"path\":\"/a\",\"value\":null},{\"op\":\"test\",\"path\":\"\",\"value\":{\"a\":null}}]",
          "testing value  failed: test failed", NO },
        { "into a null", "{\"a\":null}", "[{\"op\":\"add\",\"path\":\"/a/b\",\"value\":1}]",
          "add operation does not apply: doc is missing path: \"/a/b\": missing value", NO },
        { "into a copied null", "{}",
          "[{\"op\":\"add\",\"path\":\"/a\",\"value\":null},{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"},"
          "{\"op\":\"add\",\"path\":\"/b/c\",\"value\":1}]",
          "add operation does not apply: doc is missing path: \"/b/c\": missing value", NO },
        { "remove what is not there", "{}", "[{\"op\":\"remove\",\"path\":\"/a\"}]",
          "error in remove for path: '/a': Unable to remove nonexistent key: a: missing value", NO },
        { "an index that is none", "[]", "[{\"op\":\"remove\",\"path\":\"/1e0\"}]",
          "error in remove for path: '/1e0': strconv.Atoi: parsing \"1e0\": invalid syntax", NO },
        { "an index beyond int64", "[]", "[{\"op\":\"test\",\"path\":\"/9223372036854775808\"}]",
          "error in test for path: '/9223372036854775808': strconv.Atoi: parsing \"9223372036854775808\": "
          "value out of range", NO },
        { "a path that is no text", "{}", "[{\"op\":\"test\",\"path\":1}]",
          "test operation failed to decode path: json: cannot unmarshal number into Go value of type string", NO },
        { "unknown operation", "{}", "[{\"op\":\"delete\",\"path\":\"/a\"}]", "Unexpected kind: delete", NO },
        { "null for an operation", "{}", "[null]", "Unexpected kind: unknown", NO },
        { "the root by a scalar", "{}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":1}]",
          "replace operation value must be object or array: %!w(<nil>)", NO },
        { "not a list", "{}", "{}", "json: cannot unmarshal object into Go value of type jsonpatch.Patch", BAD },
        { "not operations", "{}", "[1]", "json: cannot unmarshal number into Go value of type jsonpatch.Operation",
          BAD },
        { "not JSON", "{}", "[", "unexpected end of JSON input", BAD },
        { NULL },
    };
    run_plain(cases, json_patch_apply);
}

TEST(merge_patches)
{
    static const struct plain_case cases[] = {
        { "change, add, remove", "{\"a\":1,\"b\":2}", "{\"a\":null,\"b\":3,\"c\":{}}", "{\"b\":3,\"c\":{}}", 0 },
        { "numbers keep their spelling", "{\"a\":1.0}", "{\"b\":1e2}", "{\"a\":1.0,\"b\":1e2}", 0 },
        { "nulls of a new object go, of a list stay", "{}", "{\"a\":{\"x\":null,\"y\":[null,{\"z\":null}]}}",
          "{\"a\":{\"y\":[null,{}]}}", 0 },
        { "a list over an object is taken as it is", "{\"a\":{}}", "{\"a\":[{\"z\":null}]}", "{\"a\":[{\"z\":null}]}", 0 },
        { "a list over a list is pruned", "{\"a\":[]}", "{\"a\":[{\"z\":null}]}", "{\"a\":[{}]}", 0 },
        { "the last of equal keys counts", "{\"a\":1}", "{\"a\":2,\"a\":3}", "{\"a\":3}", 0 },
        { "a list for a document", "{\"a\":1}", "[{\"b\":null}]", "[{}]", 0 },
        { "an object over a list document", "[1]", "{\"a\":null}", "{}", 0 },
        { "null", "{}", "null", "Invalid JSON Patch", BAD },
        { "a scalar", "{}", "1", "Invalid JSON Patch", BAD },
        { "not JSON", "{}", "{", "Invalid JSON Patch", BAD },
        { "a document that is null", "null", "{}", "Invalid JSON Document", ERR_UNKNOWN },
        { NULL },
    };
    run_plain(cases, merge_patch_apply);
}

struct typed_case {
    const char *name, *object, *patch, *want; /* a result, or the detail, or the message without one */
    enum err_code code;
};

/* Members of a Pod without kind and version, which are put around. */
#define POD(members) "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"," members "}"
#define META "\"metadata\":{\"name\":\"p\"}"
#define NAMES(list) "\"metadata\":{\"name\":\"p\",\"finalizers\":" list "},\"spec\":{\"containers\":null},\"status\":{}"
#define SECRETS(list) META ",\"spec\":{\"containers\":null,\"imagePullSecrets\":" list "},\"status\":{}"
#define ABC "[\"a\",\"b\",\"c\"]"
#define SECRETS_AB SECRETS("[{\"name\":\"a\"},{\"name\":\"b\"}]")

static void run_typed(const struct typed_case *c, enum patch_type type, enum field_validation validation)
{
    const struct type *t = schema_type(STR("core/v1.Pod"));
    CHECK(t);
    arena_init(&arena);
    for (; c->name; c++) {
        struct value object;
        struct err e;
        err_init(&e, &arena);
        CHECK_INT(c->name, json_decode(&arena, WORK_OWN, t, str_of(c->object), NULL, &object, &e), ERR_OK);
        struct patch patch = { WORK_OWN, type, validation, str_of(c->patch) };
        struct patch_outcome outcome;
        enum err_code rc = patch_apply(&arena, t, &object, &patch, &outcome, &e);
        if (rc != c->code)
            FAIL("%s: code %d, want %d: %s", c->name, rc, c->code, rc ? e.message : "");
        const char *why = outcome.detail ? outcome.detail : e.message;
        CHECK_STR(c->name, rc ? str_of(why) : json_of(t, &outcome.object), str_of(c->want));
    }
    arena_fini(&arena);
}

TEST(strategic_merge_of_lists)
{
    static const struct typed_case cases[] = {
        { "a new value goes in front", POD(NAMES(ABC)), "{\"metadata\":{\"finalizers\":[\"n\"]}}",
          POD(NAMES("[\"n\",\"a\",\"b\",\"c\"]")), 0 },
        { "known values keep the order of the patch", POD(NAMES(ABC)), "{\"metadata\":{\"finalizers\":[\"c\",\"a\"]}}",
          POD(NAMES("[\"b\",\"c\",\"a\"]")), 0 },
        { "an empty list changes nothing", POD(NAMES(ABC)), "{\"metadata\":{\"finalizers\":[]}}", POD(NAMES(ABC)), 0 },
        { "values to delete", POD(NAMES(ABC)), "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"b\",\"x\"]}}",
          POD(NAMES("[\"a\",\"c\"]")), 0 },
        { "null deletes the whole list", POD(NAMES(ABC)),
          "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":null}}",
          POD(META ",\"spec\":{\"containers\":null},\"status\":{}"), 0 },
        { "set the order", POD(NAMES(ABC)),
          "{\"metadata\":{\"$setElementOrder/finalizers\":[\"c\",\"n\",\"a\"],\"finalizers\":[\"n\"]}}",
          POD(NAMES("[\"b\",\"c\",\"n\",\"a\"]")), 0 },
        { "new values that no order names come reversed", POD(NAMES("null")),
          "{\"metadata\":{\"$setElementOrder/finalizers\":[],\"finalizers\":[\"x\",\"y\",\"z\"]}}",
          POD(NAMES("[\"z\",\"y\",\"x\"]")), 0 },
        { "an element by its key, a new one in front", POD(SECRETS_AB),
          "{\"spec\":{\"imagePullSecrets\":[{\"name\":\"b\"},{\"name\":\"n\"}]}}",
          POD(SECRETS("[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"n\"}]")), 0 },
        { "delete an element", POD(SECRETS_AB),
          "{\"spec\":{\"imagePullSecrets\":[{\"$patch\":\"delete\",\"name\":\"a\"}]}}",
          POD(SECRETS("[{\"name\":\"b\"}]")), 0 },
        { "replace the list", POD(SECRETS_AB),
          "{\"spec\":{\"imagePullSecrets\":[{\"name\":\"x\"},{\"$patch\":\"replace\"}]}}",
          POD(SECRETS("[{\"name\":\"x\"}]")), 0 },
        { "what fills the gap of a deleted element counts as having been there", POD(SECRETS_AB),
          "{\"spec\":{\"$setElementOrder/imagePullSecrets\":[{\"name\":\"n\"}],"
          "\"imagePullSecrets\":[{\"$patch\":\"delete\",\"name\":\"b\"},{\"name\":\"n\"}]}}",
          POD(SECRETS("[{\"name\":\"a\"},{\"name\":\"n\"}]")), 0 },
        { "a null key is a key", POD(SECRETS("[]")), "{\"spec\":{\"imagePullSecrets\":[{\"name\":null}]}}",
          POD(SECRETS("[{}]")), 0 },
        { "no merge key", POD(SECRETS_AB), "{\"spec\":{\"imagePullSecrets\":[{}]}}",
          "map: map[] does not contain declared merge key: name", ERR_UNKNOWN },
        { "an order that is not the patch's", POD(NAMES(ABC)),
          "{\"metadata\":{\"$setElementOrder/finalizers\":[\"b\",\"a\"],\"finalizers\":[\"a\",\"b\"]}}",
          "The order in patch list:\n[a b]\n doesn't match $setElementOrder list:\n[b a]\n", ERR_UNKNOWN },
        { "an order of an unknown list", POD(META), "{\"spec\":{\"$setElementOrder/bogus\":[]}}",
          "unable to find api field in struct PodSpec for the json field \"bogus\"", ERR_UNKNOWN },
        { "mixed elements", POD(SECRETS_AB), "{\"spec\":{\"imagePullSecrets\":[1]}}",
          "list element types are not identical: [[map[name:a] map[name:b]] [1]]", ERR_UNKNOWN },
        { "a list of lists", POD(SECRETS("[]")), "{\"spec\":{\"imagePullSecrets\":[[]]}}",
          "cannot restore struct from: slice", NO },
        { "directive of the wrong form", POD(META), "{\"metadata\":{\"$deleteFromPrimitiveList\":[]}}",
          "invalid patch format of primitive list", BAD },
        { NULL },
    };
    run_typed(cases, PATCH_TYPE_STRATEGIC, VALIDATION_IGNORE);
}

#define LABELS(map) "\"metadata\":{\"name\":\"p\",\"labels\":" map "},\"spec\":{\"containers\":null},\"status\":{}"
#define NO_LABELS META ",\"spec\":{\"containers\":null},\"status\":{}"
#define VOLUMES(list) META ",\"spec\":{\"volumes\":" list ",\"containers\":null},\"status\":{}"

TEST(strategic_merge_of_maps)
{
    static const struct typed_case cases[] = {
        { "merge", POD(LABELS("{\"a\":\"1\"}")), "{\"metadata\":{\"labels\":{\"b\":\"2\"}}}",
          POD(LABELS("{\"a\":\"1\",\"b\":\"2\"}")), 0 },
        { "null removes", POD(LABELS("{\"a\":\"1\",\"b\":\"2\"}")), "{\"metadata\":{\"labels\":{\"a\":null,\"x\":null}}}",
          POD(LABELS("{\"b\":\"2\"}")), 0 },
        { "replace", POD(LABELS("{\"a\":\"1\"}")), "{\"metadata\":{\"labels\":{\"$patch\":\"replace\",\"b\":\"2\"}}}",
          POD(LABELS("{\"b\":\"2\"}")), 0 },
        { "delete", POD(LABELS("{\"a\":\"1\"}")), "{\"metadata\":{\"labels\":{\"$patch\":\"delete\",\"b\":\"2\"}}}",
          POD(NO_LABELS), 0 },
        { "the whole object", POD(LABELS("{\"a\":\"1\"}")), "{\"$patch\":\"delete\"}",
          POD("\"metadata\":{},\"spec\":{\"containers\":null},\"status\":{}"), 0 },
        { "null is no patch", POD(NO_LABELS), "null", POD(NO_LABELS), 0 },
        { "retain keys", POD(VOLUMES("[{\"name\":\"v\",\"emptyDir\":{}}]")),
          "{\"spec\":{\"volumes\":[{\"name\":\"v\",\"$retainKeys\":[\"name\",\"hostPath\"],"
          "\"hostPath\":{\"path\":\"/x\"}}]}}", POD(VOLUMES("[{\"name\":\"v\",\"hostPath\":{\"path\":\"/x\"}}]")), 0 },
        { "retain keys must name what the patch has", POD(VOLUMES("[{\"name\":\"v\"}]")),
          "{\"spec\":{\"volumes\":[{\"name\":\"v\",\"$retainKeys\":[1]}]}}", "invalid patch format of retainKeys", BAD },
        { "a directive that is no text", POD(META), "{\"metadata\":{\"$patch\":[\"a\",1,null]}}",
          "unknown patch type: [a %!s(int64=1) %!s(<nil>)] in map: map[$patch:[a 1 <nil>]]", ERR_UNKNOWN },
        { "a map for a list", POD(META), "{\"spec\":{\"containers\":{}}}", "cannot restore slice from map", NO },
        { "a double without a fraction", POD(META), "{\"spec\":{\"priority\":7.0}}",
          POD(META ",\"spec\":{\"containers\":null,\"priority\":7},\"status\":{}"), 0 },
        { "a double with one", POD(META), "{\"spec\":{\"priority\":7.5}}", "cannot convert float64 to int32", NO },
        { "an integer is cut to its field", POD(META), "{\"spec\":{\"priority\":4294967297}}",
          POD(META ",\"spec\":{\"containers\":null,\"priority\":1},\"status\":{}"), 0 },
        { "a number for a named string", POD(META), "{\"status\":{\"phase\":1}}", "cannot convert int64 to v1.PodPhase",
          NO },
        { "a bool for a string", POD(META), "{\"spec\":{\"nodeName\":true}}", "unrecognized type: string", NO },
        { "a number for a time", POD(META), "{\"metadata\":{\"creationTimestamp\":1}}",
          "json: cannot unmarshal number into Go value of type string", NO },
        { "a number too large for a double", POD(META), "{\"spec\":{\"priority\":1e999}}",
          "json: cannot unmarshal number 1e999 into Go value of type float64", BAD },
        { "not an object", POD(META), "[]", "json: cannot unmarshal array into Go value of type map[string]interface {}",
          BAD },
        { NULL },
    };
    run_typed(cases, PATCH_TYPE_STRATEGIC, VALIDATION_IGNORE);
}

TEST(objects_stay_what_they_are)
{
    static const struct typed_case cases[] = {
        { "without kind", POD(NO_LABELS), "{\"kind\":null}", POD(NO_LABELS), 0 },
        { "without a version nothing in it is known", POD(NO_LABELS), "{\"kind\":null,\"apiVersion\":null}",
          POD("\"metadata\":{},\"spec\":{\"containers\":null},\"status\":{}"), 0 },
        { "another kind", POD(NO_LABELS), "{\"kind\":\"Node\"}",
          "converting (v1.Node) to (core.Pod): unknown conversion", NO },
        { "an unknown kind", POD(NO_LABELS), "{\"kind\":\"X\"}",
          "no kind \"X\" is registered for version \"v1\" in scheme \"pkg/api/legacyscheme/scheme.go:30\"", NO },
        { "a kind that is no text", POD(NO_LABELS), "{\"kind\":1}",
          "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of "
          "type string", NO },
        { NULL },
    };
    run_typed(cases, PATCH_TYPE_MERGE, VALIDATION_IGNORE);
}

TEST(strict_requests_refuse_unknown_and_duplicate_fields)
{
    static const struct typed_case merge[] = {
        { "unknown", POD(META), "{\"spec\":{\"x\":1}}", "strict decoding error: unknown field \"spec.x\"", NO },
        { "given three times, told once", POD(META), "{\"spec\":{\"hostname\":\"a\",\"hostname\":\"b\",\"hostname\":\"c\"}}",
          "strict decoding error: duplicate field \"spec.hostname\"", NO },
        { "in the order of the text", POD(META), "{\"b\":[{\"x\":{\"y\":1,\"y\":1},\"x\":1}],\"b\":1}",
          "strict decoding error: duplicate field \"b[0].x.y\", duplicate field \"b[0].x\", duplicate field \"b\", "
          "unknown field \"b\"", NO },
        { "not an object", POD(META), "[]",
          "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}", BAD },
        { NULL },
    };
    static const struct typed_case json[] = {
        { "unknown in an operation", POD(META), "[{\"op\":\"test\",\"path\":\"/a\",\"y\":{\"a\":1,\"a\":1}}]",
          "strict decoding error: json patch unknown field \"[0].y\"", NO },
        { "duplicate in a value", POD(META),
          "[{\"op\":\"test\",\"path\":\"/metadata/labels\"},{\"op\":\"test\",\"op\":\"add\",\"path\":\"/spec/nodeSelector\","
          "\"value\":{\"a\":\"1\",\"a\":\"2\"}}]",
          "strict decoding error: json patch duplicate field \"[1].op\", json patch duplicate field \"[1].value.a\", "
          "duplicate field \"spec.nodeSelector.a\"", NO },
        { "a path that is no text", POD(META), "[{\"path\":{}}]",
          "error decoding patch: json: cannot unmarshal object into Go struct field jsonPatchOp.path of type string",
          BAD },
        { NULL },
    };
    static const struct typed_case strategic[] = {
        { "sorted, keys of maps not in the path", POD(META),
          "{\"spec\":{\"z\":1,\"containers\":[{\"name\":\"c\",\"y\":1},{\"name\":\"d\",\"$patch\":\"x\"}],\"a\":1}}",
          "strict decoding error: unknown field \"spec.a\", unknown field \"spec.containers[0].y\", "
          "unknown field \"spec.z\"", NO },
        { NULL },
    };
    run_typed(merge, PATCH_TYPE_MERGE, VALIDATION_STRICT);
    run_typed(json, PATCH_TYPE_JSON, VALIDATION_STRICT);
    run_typed(strategic, PATCH_TYPE_STRATEGIC, VALIDATION_STRICT);
}

TEST(lenient_requests_get_warnings)
{
    const struct type *t = schema_type(STR("core/v1.Pod"));
    arena_init(&arena);
    struct value object;
    struct err e;
    err_init(&e, &arena);
    CHECK(!json_decode(&arena, WORK_OWN, t, STR(POD(META)), NULL, &object, &e));
    struct patch patch = { WORK_OWN, PATCH_TYPE_STRATEGIC, VALIDATION_WARN,
                           STR("{\"spec\":{\"x\":1,\"x\":2,\"hostname\":\"h\"}}") };
    struct patch_outcome outcome;
    CHECK(!patch_apply(&arena, t, &object, &patch, &outcome, &e));
    CHECK_INT("warnings", outcome.n_warnings, 2);
    CHECK_TEXT("first", outcome.warnings[0], "duplicate field \"spec.x\"");
    CHECK_TEXT("second", outcome.warnings[1], "unknown field \"spec.x\"");
    CHECK_STR("applied", value_text(value_path(t, &outcome.object, "spec.hostname")), STR("h"));
    arena_fini(&arena);
}

TEST(a_refusal_quotes_what_was_refused)
{
    const struct type *t = schema_type(STR("core/v1.Pod"));
    arena_init(&arena);
    struct value object;
    struct err e;
    err_init(&e, &arena);
    CHECK(!json_decode(&arena, WORK_OWN, t, STR(POD(META)), NULL, &object, &e));
    struct patch patch = { WORK_OWN, PATCH_TYPE_STRATEGIC, VALIDATION_IGNORE,
                           STR("{\"spec\":{\"a\":null,\"priority\":1.5}}") };
    struct patch_outcome outcome;
    CHECK_INT("strategic", patch_apply(&arena, t, &object, &patch, &outcome, &e), ERR_INVALID);
    CHECK_TEXT("cause", outcome.cause,
               "Invalid value: \"map[spec:map[a:<nil> priority:1.5]]\": cannot convert float64 to int32");
    CHECK_TEXT("message", e.message,
               " \"\" is invalid: patch: Invalid value: \"map[spec:map[a:<nil> priority:1.5]]\": "
               "cannot convert float64 to int32");
    patch = (struct patch){ WORK_OWN, PATCH_TYPE_JSON, VALIDATION_IGNORE,
                            STR("[{\"op\":\"remove\",\"path\":\"/spec/x\"}]") };
    CHECK_INT("json", patch_apply(&arena, t, &object, &patch, &outcome, &e), ERR_INVALID);
    CHECK_TEXT("hidden", e.message, "the server rejected our request due to an error in our request");
    CHECK(outcome.detail && !outcome.cause);
    arena_fini(&arena);
}

/* `n` times `part`, between `open` and `close`. */
static struct str repeat(const char *open, const char *part, const char *between, const char *close, size_t n)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_text(&b, open);
    for (size_t i = 0; i < n; i++) {
        strbuf_add_text(&b, i ? between : "");
        strbuf_printf(&b, part, i);
    }
    strbuf_add_text(&b, close);
    struct str text = arena_str(&arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

TEST(json_patches_have_limits)
{
    arena_init(&arena);
    struct str got;
    struct err e;
    err_init(&e, &arena);
    const char *noop = "{\"op\":\"test\",\"path\":\"/a%zu\"}";
    CHECK(!json_patch_apply(&arena, WORK_OWN, STR("{}"), repeat("[", noop, ",", "]", PATCH_OPERATIONS_MAX), &got, &e));
    CHECK_INT("one more", json_patch_apply(&arena, WORK_OWN, STR("{}"),
                                         repeat("[", noop, ",", "]", PATCH_OPERATIONS_MAX + 1),
                                           &got, &e), ERR_TOO_LARGE);
    /* Each copy doubles the document. */
    struct str doubling = repeat("[", "{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/b%zu\"}", ",", "]", 40);
    CHECK_INT("doubling", json_patch_apply(&arena, WORK_OWN, STR("{\"a\":{\"x\":1}}"), doubling, &got, &e),
              ERR_INVALID);
    CHECK(strstr(e.message, "Unable to complete the copy, the accumulated size increase of copy is "));
    /* Operations nest the document into itself deeper than any text may be. */
    struct str deep = repeat("", "[", "", "", 900), close = repeat("", "]", "", "", 900);
    struct str path = repeat("", "/0", "", "", 899);
    struct str patch = str_of(arena_printf(&arena, "[{\"op\":\"add\",\"path\":\"%.*s/-\",\"value\":%.*s%.*s}]",
                                           STR_ARG(path), STR_ARG(deep), STR_ARG(close)));
    struct str document = str_of(arena_printf(&arena, "%.*s%.*s", STR_ARG(deep), STR_ARG(close)));
    CHECK(!json_patch_apply(&arena, WORK_OWN, document, patch, &got, &e));
    struct str deeper = str_of(arena_printf(&arena, "[%.*s,{\"op\":\"replace\",\"path\":\"%.*s%.*s/0\"}]",
                                            (int)patch.n - 2, patch.p + 1, STR_ARG(path), STR_ARG(path)));
    CHECK_INT("too deep to write", json_patch_apply(&arena, WORK_OWN, document, deeper, &got, &e), ERR_INVALID);
    CHECK_TEXT("too deep to write", e.message, "exceeded max depth");
    arena_fini(&arena);
}

TEST(large_lists_and_maps_merge_in_good_time)
{
    enum { N = 50000 };
    const struct type *t = schema_type(STR("core/v1.Pod"));
    static const char *const patches[][3] = {
        { "{\"spec\":{\"imagePullSecrets\":[", "{\"name\":\"n%zu\"}", "]}}" },
        { "{\"spec\":{\"imagePullSecrets\":[", "{\"name\":\"s%zu\",\"$patch\":\"delete\"}", "]}}" },
        { "{\"metadata\":{\"finalizers\":[", "\"n%zu\"", "]}}" },
        { "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[", "\"f%zu\"", "]}}" },
        { "{\"metadata\":{\"labels\":{", "\"n%zu\":\"v\"", "}}}" },
        { "{\"metadata\":{\"labels\":{", "\"$deleteFromPrimitiveList/l%zu\":null", "}}}" },
    };
    arena_init(&arena);
    struct err e;
    err_init(&e, &arena);
    struct str secrets = repeat("", "{\"name\":\"s%zu\"}", ",", "", N);
    struct str names = repeat("", "\"f%zu\"", ",", "", N), labels = repeat("", "\"l%zu\":\"v\"", ",", "", N);
    struct str text = str_of(arena_printf(&arena,
                                          "{\"metadata\":{\"labels\":{%.*s},\"finalizers\":[%.*s]},"
                                          "\"spec\":{\"imagePullSecrets\":[%.*s]}}",
                                          STR_ARG(labels), STR_ARG(names), STR_ARG(secrets)));
    struct value object;
    CHECK(!json_decode(&arena, WORK_OWN, t, text, NULL, &object, &e));
    for (size_t i = 0; i < sizeof(patches) / sizeof(patches[0]); i++) {
        struct patch patch = { WORK_OWN, PATCH_TYPE_STRATEGIC, VALIDATION_WARN,
                               repeat(patches[i][0], patches[i][1], ",", patches[i][2], N) };
        struct patch_outcome outcome;
        CHECK_INT(patches[i][1], patch_apply(&arena, t, &object, &patch, &outcome, &e), ERR_OK);
    }
    arena_fini(&arena);
}

TEST(messages_do_not_repeat_the_object)
{
    arena_init(&arena);
    enum { N = 1 << 20 };
    struct err e;
    err_init(&e, &arena);
    const struct type *t = schema_type(STR("core/v1.Pod"));
    char *name = arena_zalloc(&arena, N + 1);
    memset(name, 'x', N);
    struct value object;
    struct str text = str_of(arena_printf(&arena, "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"containers\":[{\"name\":\"a\"}]}}",
                                          name));
    CHECK(!json_decode(&arena, WORK_OWN, t, text, NULL, &object, &e));
    static const struct {
        enum patch_type type;
        const char *body;
    } rows[] = {
        { PATCH_TYPE_MERGE, "{\"spec\":{\"priority\":\"%s\"}}" },
        { PATCH_TYPE_STRATEGIC, "{\"spec\":{\"priority\":\"%s\"}}" },
        { PATCH_TYPE_STRATEGIC, "{\"spec\":{\"containers\":[{\"image\":\"%s\"}]}}" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct patch patch = { WORK_OWN, rows[i].type, VALIDATION_STRICT,
                               str_of(arena_printf(&arena, rows[i].body, name)) };
        struct patch_outcome outcome;
        CHECK(patch_apply(&arena, t, &object, &patch, &outcome, &e));
        CHECK(strlen(e.message) < N / 4);
        CHECK(strstr(e.message, " bytes)"));
    }
    arena_fini(&arena);
}
