/* JSON along the schema: what is accepted, what it becomes, how refusals and findings are worded, what is
 * written. The expected texts are those of Kubernetes v1.36. */
#include "codec/json.h"
#include "codec/json_scan.h"
#include "tests/test.h"

static const struct type *type_of(const char *name)
{
    const struct type *t = schema_type(str_of(name));
    if (!t)
        FAIL("no type %s", name);
    return t;
}

static struct str encoded(struct arena *a, const struct type *t, const struct value *v)
{
    struct strbuf out;
    strbuf_init(&out, STRBUF_NO_MAX);
    json_encode(&out, t, v);
    struct str copy = arena_str(a, strbuf_str(&out));
    strbuf_fini(&out);
    return copy;
}

/* What the text becomes when it is decoded and written again, or the error. */
static struct str through(struct arena *a, const char *type, struct str json)
{
    const struct type *t = type_of(type);
    struct value v;
    struct err e;
    err_init(&e, a);
    if (json_decode(a, WORK_OWN, t, json, NULL, &v, &e))
        return str_of(e.message);
    return encoded(a, t, &v);
}

struct row {
    const char *what, *type, *in, *out;
};

static void check_rows(const struct row *rows, size_t n)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < n; i++)
        CHECK_STR(rows[i].what, through(&a, rows[i].type, str_of(rows[i].in)), str_of(rows[i].out));
    arena_fini(&a);
}

#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof(rows[0]))

TEST(objects_are_written_as_upstream_writes_them)
{
    static const struct row rows[] = {
        { "what is always there", "core/v1.Pod", "{}",
          "{\"metadata\":{},\"spec\":{\"containers\":null},\"status\":{}}" },
        { "fields in order of the schema", "core/v1.ContainerPort", "{\"containerPort\":80,\"name\":\"a\"}",
          "{\"name\":\"a\",\"containerPort\":80}" },
        { "zero values are left out", "core/v1.ContainerPort",
          "{\"name\":\"\",\"hostPort\":0,\"containerPort\":0,\"protocol\":\"\"}", "{\"containerPort\":0}" },
        { "pointers to zero are not", "core/v1.PodSpec",
          "{\"containers\":[],\"activeDeadlineSeconds\":0,\"automountServiceAccountToken\":false}",
          "{\"containers\":[],\"activeDeadlineSeconds\":0,\"automountServiceAccountToken\":false}" },
        { "maps by key", "meta/v1.LabelSelector", "{\"matchLabels\":{\"b\":\"1\",\"a\":\"2\",\"B\":\"3\"}}",
          "{\"matchLabels\":{\"B\":\"3\",\"a\":\"2\",\"b\":\"1\"}}" },
        { "empty and absent lists differ where they are kept", "core/v1.PodList", "{\"items\":[]}",
          "{\"metadata\":{},\"items\":[]}" },
        { "null lists are absent", "core/v1.PodList", "{\"items\":null}", "{\"metadata\":{},\"items\":null}" },
        { "names of embedded structs do not show", "core/v1.Volume", "{\"emptyDir\":{},\"name\":\"v\"}",
          "{\"name\":\"v\",\"emptyDir\":{}}" },
        { "unset int-or-strings and quantities are zero", "core/v1.ServicePort", "{}",
          "{\"port\":0,\"targetPort\":0}" },
        { "unset quantities are zero", "core/v1.ResourceFieldSelector", "{}",
          "{\"resource\":\"\",\"divisor\":\"0\"}" },
        { "doubles", "apiextensions.k8s.io/v1.JSONSchemaProps", "{\"maximum\":1.50,\"minimum\":1e21}",
          "{\"maximum\":1.5,\"minimum\":1e+21}" },
        { "raw JSON keeps its spelling", "apps/v1.ControllerRevision",
          "{\"data\":{ \"b\" : 1.0, \"a\":\"<\\u0041\" },\"revision\":1}",
          "{\"metadata\":{},\"data\":{\"b\":1.0,\"a\":\"\\u003c\\u0041\"},\"revision\":1}" },
        { "wrapped lists", "meta/v1.APIResource", "{\"verbs\":[\"get\"]}",
          "{\"name\":\"\",\"singularName\":\"\",\"namespaced\":false,\"kind\":\"\",\"verbs\":[\"get\"]}" },
        { "wrapped lists in maps", "authentication.k8s.io/v1.UserInfo",
          "{\"extra\":{\"b\":[],\"a\":null,\"c\":[\"x\"]}}",
          "{\"extra\":{\"a\":null,\"b\":[],\"c\":[\"x\"]}}" },
    };
    CHECK_ROWS(rows);
}

TEST(types_with_a_choice_of_shapes)
{
    static const struct row rows[] = {
        { "schema or bool", "apiextensions.k8s.io/v1.JSONSchemaProps",
          "{\"additionalProperties\":{\"type\":\"string\"},\"additionalItems\":true}",
          "{\"additionalProperties\":{\"type\":\"string\"},\"additionalItems\":true}" },
        { "false is not absent", "apiextensions.k8s.io/v1.JSONSchemaProps", "{\"additionalItems\":false}",
          "{\"additionalItems\":false}" },
        { "neither schema nor bool", "apiextensions.k8s.io/v1.JSONSchemaProps", "{\"additionalItems\":3}",
          "boolean or JSON schema expected" },
        { "schema or list", "apiextensions.k8s.io/v1.JSONSchemaProps", "{\"items\":[{\"type\":\"a\"},{}]}",
          "{\"items\":[{\"type\":\"a\"},{}]}" },
        { "an empty list and anything else is null", "apiextensions.k8s.io/v1.JSONSchemaProps",
          "{\"items\":[],\"dependencies\":{\"q\":5,\"r\":null,\"s\":[\"a\"],\"t\":{}}}",
          "{\"items\":null,\"dependencies\":{\"q\":null,\"r\":null,\"s\":[\"a\"],\"t\":{}}}" },
        { "null is absent", "apiextensions.k8s.io/v1.JSONSchemaProps",
          "{\"items\":null,\"additionalItems\":null}", "{}" },
        { "the second one replaces the first", "apiextensions.k8s.io/v1.JSONSchemaProps",
          "{\"items\":{\"type\":\"a\",\"title\":\"t\"},\"items\":{\"type\":\"b\"}}",
          "{\"items\":{\"type\":\"b\"}}" },
        { "an error of type inside is fatal", "apiextensions.k8s.io/v1.JSONSchemaProps",
          "{\"type\":1,\"items\":{\"type\":5,\"title\":true}}",
          "json: cannot unmarshal number into Go struct field JSONSchemaProps.items.type of type string" },
    };
    CHECK_ROWS(rows);
}

TEST(what_is_given_twice_is_merged)
{
    static const struct row rows[] = {
        { "scalars: the last", "core/v1.ContainerPort", "{\"containerPort\":1,\"containerPort\":2}",
          "{\"containerPort\":2}" },
        { "structs: together", "core/v1.Pod", "{\"metadata\":{\"name\":\"a\"},\"metadata\":{\"uid\":\"u\"}}",
          "{\"metadata\":{\"name\":\"a\",\"uid\":\"u\"},\"spec\":{\"containers\":null},\"status\":{}}" },
        { "maps: together", "core/v1.ConfigMap", "{\"data\":{\"a\":\"1\",\"b\":\"2\"},\"data\":{\"b\":\"3\"}}",
          "{\"metadata\":{},\"data\":{\"a\":\"1\",\"b\":\"3\"}}" },
        { "lists: into the elements", "core/v1.PodSpec",
          "{\"containers\":[{\"name\":\"a\",\"image\":\"i\"},{\"name\":\"b\"}],\"containers\":[{\"name\":\"c\"}"
          "]}",
          "{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{}}]}" },
        { "elements that were cut off come back", "core/v1.NamespaceSpec",
          "{\"finalizers\":[\"a\",\"b\",\"c\"],\"finalizers\":[\"d\"],\"finalizers\":[\"x\",null,null,null]}",
          "{\"finalizers\":[\"x\",\"b\",\"c\",\"\"]}" },
        { "maps cleared in between", "core/v1.ConfigMap",
          "{\"data\":{\"b\":\"1\",\"a\":\"2\"},\"data\":{\"c\":\"3\"},\"data\":null,\"data\":{\"e\":\"5\","
          "\"d\":\"4\"},"
          "\"data\":{\"d\":\"6\",\"a\":\"7\",\"f\":\"8\",\"g\":\"9\"}}",
          "{\"metadata\":{},\"data\":{\"a\":\"7\",\"d\":\"6\",\"e\":\"5\",\"f\":\"8\",\"g\":\"9\"}}" },
        { "an empty list forgets them", "core/v1.NamespaceSpec",
          "{\"finalizers\":[\"a\",\"b\"],\"finalizers\":[],\"finalizers\":[\"x\",null]}",
          "{\"finalizers\":[\"x\",\"\"]}" },
        { "null clears pointers, lists and maps", "core/v1.PodSpec",
          "{\"containers\":[],\"containers\":null,\"priority\":1,\"priority\":null,\"nodeSelector\":{\"a\":"
          "\"b\"},"
          "\"nodeSelector\":null}",
          "{\"containers\":null}" },
        { "null leaves scalars and structs", "core/v1.PodSpec",
          "{\"nodeName\":\"n\",\"nodeName\":null,\"hostPID\":true,\"hostPID\":null}",
          "{\"containers\":null,\"nodeName\":\"n\",\"hostPID\":true}" },
        { "null makes a time zero", "meta/v1.ObjectMeta",
          "{\"creationTimestamp\":\"2024-01-02T03:04:05Z\",\"creationTimestamp\":null}", "{}" },
        { "a quantity keeps its text through null", "core/v1.ResourceFieldSelector",
          "{\"divisor\":\"1\",\"divisor\":null}", "{\"resource\":\"\",\"divisor\":\"1\"}" },
        { "but not one that was made", "core/v1.ResourceFieldSelector",
          "{\"divisor\":\"1.5\",\"divisor\":null}", "{\"resource\":\"\",\"divisor\":\"0\"}" },
        { "an int-or-string goes back to its number", "core/v1.ServicePort",
          "{\"targetPort\":\"a\",\"targetPort\":null}", "{\"port\":0,\"targetPort\":0}" },
        { "null as an element is zero", "core/v1.PodSpec",
          "{\"containers\":[null],\"nodeSelector\":{\"a\":null},\"hostAliases\":[{\"hostnames\":[null]}]}",
          "{\"containers\":[{\"name\":\"\",\"resources\":{}}],\"nodeSelector\":{\"a\":\"\"},"
          "\"hostAliases\":[{\"ip\":\"\",\"hostnames\":[\"\"]}]}" },
        { "null in a map of bytes stays", "core/v1.Secret", "{\"data\":{\"a\":null,\"b\":\"\"}}",
          "{\"metadata\":{},\"data\":{\"a\":null,\"b\":\"\"}}" },
        { "null instead of everything", "core/v1.NamespaceSpec", " null ", "{}" },
    };
    CHECK_ROWS(rows);
}

TEST(bytes_come_as_base64_or_as_numbers)
{
    static const struct row rows[] = {
        { "base64", "core/v1.Secret", "{\"data\":{\"a\":\"aGk=\"}}",
          "{\"metadata\":{},\"data\":{\"a\":\"aGk=\"}}" },
        { "numbers", "core/v1.Secret", "{\"data\":{\"a\":[1,2,null],\"b\":[]}}",
          "{\"metadata\":{},\"data\":{\"a\":\"AQIA\",\"b\":\"\"}}" },
        { "not base64", "core/v1.Secret", "{\"data\":{\"a\":\"a!\"}}", "illegal base64 data at input byte 1" },
        { "too large a number", "core/v1.Secret", "{\"data\":{\"a\":[300]}}",
          "json: cannot unmarshal number 300 into Go struct field Secret.data of type uint8" },
        { "no number", "core/v1.Secret", "{\"data\":{\"a\":[\"x\"]}}",
          "json: cannot unmarshal string into Go struct field Secret.data of type uint8" },
        { "an object", "core/v1.Secret", "{\"data\":{\"a\":{}}}",
          "json: cannot unmarshal object into Go struct field Secret.data of type []uint8" },
        { "a list that does not end", "core/v1.Secret", "{\"data\":{\"a\":[1", "unexpected end of JSON input" },
    };
    CHECK_ROWS(rows);
}

TEST(refusals_name_place_and_type)
{
    static const struct row rows[] = {
        { "the whole", "core/v1.Pod", "[]", "json: cannot unmarshal array into Go value of type v1.Pod" },
        { "a struct", "core/v1.Pod", "{\"metadata\":\"x\"}",
          "json: cannot unmarshal string into Go struct field Pod.metadata of type v1.ObjectMeta" },
        { "an element", "core/v1.Pod", "{\"spec\":{\"containers\":[true]}}",
          "json: cannot unmarshal bool into Go struct field PodSpec.spec.containers of type v1.Container" },
        { "a list", "core/v1.Pod", "{\"spec\":{\"containers\":[{\"ports\":{}}]}}",
          "json: cannot unmarshal object into Go struct field Container.spec.containers.ports of type "
          "[]v1.ContainerPort" },
        { "a value of a map", "core/v1.PodList", "{\"items\":[{\"metadata\":{\"labels\":{\"a\":[1]}}}]}",
          "json: cannot unmarshal array into Go struct field ObjectMeta.items.metadata.labels of type string" },
        { "type meta of an element", "core/v1.PodList", "{\"items\":[{\"kind\":1}]}",
          "json: cannot unmarshal number into Go struct field Pod.items.TypeMeta.kind of type string" },
        { "an embedded struct on the way", "core/v1.Probe", "{\"tcpSocket\":{\"port\":1.5}}",
          "json: cannot unmarshal number 1.5 into Go struct field TCPSocketAction.ProbeHandler.tcpSocket.port "
          "of type "
          "int32" },
        { "a fraction", "core/v1.PodSpec", "{\"priority\":1.0}",
          "json: cannot unmarshal number 1.0 into Go struct field PodSpec.priority of type int32" },
        { "too large for 32 bits", "core/v1.PodSpec", "{\"priority\":2147483648}",
          "json: cannot unmarshal number 2147483648 into Go struct field PodSpec.priority of type int32" },
        { "too large for 64 bits", "core/v1.PodSpec", "{\"activeDeadlineSeconds\":9223372036854775808}",
          "json: cannot unmarshal number 9223372036854775808 into Go struct field "
          "PodSpec.activeDeadlineSeconds of "
          "type int64" },
        { "too large for a double", "apiextensions.k8s.io/v1.JSONSchemaProps", "{\"maximum\":1e400}",
          "json: cannot unmarshal number 1e400 into Go struct field JSONSchemaProps.maximum of type float64" },
        { "the first error of type counts", "core/v1.Pod",
          "{\"spec\":{\"nodeName\":1},\"metadata\":{\"name\":2}}",
          "json: cannot unmarshal number into Go struct field PodSpec.spec.nodeName of type string" },
        { "a fatal one goes before it", "meta/v1.ObjectMeta",
          "{\"name\":1,\"creationTimestamp\":\"x\",\"uid\":2}",
          "parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\"" },
        { "a time that is no text", "meta/v1.ObjectMeta", "{\"creationTimestamp\":5}",
          "json: cannot unmarshal number into Go struct field ObjectMeta.creationTimestamp of type string" },
        { "a fault of syntax goes before both", "meta/v1.ObjectMeta",
          "{\"name\":1,\"creationTimestamp\":\"x\"},", "invalid character ',' after top-level value" },
        { "a quantity", "core/v1.ResourceFieldSelector", "{\"divisor\":\"1ki\"}",
          "unable to parse quantity's suffix" },
        { "an escaped quantity", "core/v1.ResourceFieldSelector", "{\"divisor\":\"\\u0031\"}",
          "quantities must match the regular expression "
          "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'" },
    };
    CHECK_ROWS(rows);
}

TEST(faults_name_the_field)
{
    static const struct {
        const char *name, *text, *path, *what;
    } cases[] = {
        { "a list", "{\"spec\":{\"containers\":{}}}", "spec.containers", "object where array is expected" },
        { "in a list", "{\"spec\":{\"containers\":[{},{\"name\":5}]}}", "spec.containers[1].name", "number where string is expected" },
        { "a number", "{\"spec\":{\"priority\":3000000000}}", "spec.priority", "number 3000000000 where int32 is expected" },
        { "a struct", "{\"spec\":[]}", "spec", "array where object is expected" },
        { "in a map", "{\"spec\":{\"overhead\":{\"cpu\":\"x\"}}}", "spec.overhead.cpu",
          "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'" },
        { "what stops goes before what was noted", "{\"spec\":{\"priority\":\"x\",\"overhead\":{\"a\":\"1\",\"b\":\"1q\"}}}",
          "spec.overhead.b", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'" },
        { "the whole", "5", "", "number where object is expected" },
        { "syntax", "{\"spec\":", NULL, NULL },
        { "nothing", "{}", NULL, NULL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena a;
        struct err e;
        struct findings found = { .fault = { "old", "old" } };
        struct value v;
        arena_init(&a);
        err_init(&e, &a);
        const struct type *t = schema_type(STR("core/v1.Pod"));
        bool failed = json_decode(&a, WORK_OWN, t, str_of(cases[i].text), &found, &v, &e) != ERR_OK;
        CHECK_INT(cases[i].name, failed, strcmp(cases[i].name, "nothing") != 0);
        CHECK_INT(cases[i].name, found.fault.path != NULL, cases[i].path != NULL);
        if (cases[i].path) {
            CHECK_TEXT(cases[i].name, found.fault.path, cases[i].path);
            CHECK_TEXT(cases[i].name, found.fault.what, cases[i].what);
        }
        arena_fini(&a);
    }
}

TEST(limits_of_integers_are_exact)
{
    static const struct row rows[] = {
        { "int32", "core/v1.PodSpec", "{\"containers\":[],\"priority\":-2147483648}",
          "{\"containers\":[],\"priority\":-2147483648}" },
        { "largest", "meta/v1.ObjectMeta", "{\"generation\":9223372036854775807}",
          "{\"generation\":9223372036854775807}" },
        { "smallest", "meta/v1.ObjectMeta", "{\"generation\":-9223372036854775808}",
          "{\"generation\":-9223372036854775808}" },
        { "below", "meta/v1.ObjectMeta", "{\"generation\":-9223372036854775809}",
          "json: cannot unmarshal number -9223372036854775809 into Go struct field ObjectMeta.generation of "
          "type int64" },
        { "minus zero", "meta/v1.ObjectMeta", "{\"generation\":-0,\"uid\":\"u\"}", "{\"uid\":\"u\"}" },
    };
    CHECK_ROWS(rows);
}

TEST(findings_name_unknown_and_repeated_fields)
{
    static const struct {
        const char *what, *type, *in;
        const char *want[4];
    } rows[] = {
        { "nothing", "core/v1.Pod", "{\"metadata\":{\"name\":\"a\"}}", { NULL } },
        { "unknown",
          "core/v1.Pod",
          "{\"x\":1,\"spec\":{\"containers\":[{},{\"Image\":\"i\"}]}}",
          { "unknown field \"x\"", "unknown field \"spec.containers[1].Image\"" } },
        { "given twice",
          "core/v1.Pod",
          "{\"metadata\":{\"name\":\"a\",\"name\":\"b\"},\"metadata\":null}",
          { "duplicate field \"metadata.name\"", "duplicate field \"metadata\"" } },
        { "the same again", "core/v1.Pod", "{\"x\":1,\"x\":2,\"x\":3}", { "unknown field \"x\"" } },
        { "keys of a map",
          "core/v1.ConfigMap",
          "{\"data\":{\"b\":\"1\",\"a\":\"2\",\"b\":\"3\"}}",
          { "duplicate field \"data.b\"" } },
        { "a key given twice in a row",
          "core/v1.ConfigMap",
          "{\"data\":{\"a\":\"1\",\"a\":\"3\"}}",
          { "duplicate field \"data.a\"" } },
        { "the same map twice",
          "core/v1.ConfigMap",
          "{\"data\":{\"a\":\"1\"},\"data\":{\"a\":\"2\"}}",
          { "duplicate field \"data\"" } },
        { "names are quoted",
          "core/v1.Pod",
          "{\"a\\\"\\n\\u0000\":1,\"\":2}",
          { "unknown field \"a\\\"\\n\\x00\"", "unknown field \"\"" } },
        { "not within raw JSON",
          "apps/v1.ControllerRevision",
          "{\"data\":{\"a\":1,\"a\":2},\"revision\":1}",
          { NULL } },
        { "not within a choice of shapes",
          "apiextensions.k8s.io/v1.JSONSchemaProps",
          "{\"items\":{\"x\":1},\"y\":2}",
          { "unknown field \"y\"" } },
        { "in structs in maps",
          "apiextensions.k8s.io/v1.JSONSchemaProps",
          "{\"properties\":{\"p\":{\"x\":1}}}",
          { "unknown field \"properties.p.x\"" } },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct findings f = { .n = 0 };
        struct value v;
        struct err e;
        err_init(&e, &a);
        CHECK(!json_decode(&a, WORK_OWN, type_of(rows[i].type), str_of(rows[i].in), &f, &v, &e));
        unsigned n = 0;
        for (; rows[i].want[n]; n++)
            CHECK_TEXT(rows[i].what, n < f.n ? f.texts[n] : "(none)", rows[i].want[n]);
        CHECK_INT(rows[i].what, f.n, n);
        arena_fini(&a);
    }
}

TEST(many_keys_and_many_findings)
{
    struct arena a;
    arena_init(&a);
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    strbuf_add_text(&json, "{\"data\":{");
    for (int i = 0; i < 3000; i++) /* each key twice, neither in order nor side by side */
        strbuf_printf(&json, "%s\"k%d\":\"\"", i ? "," : "", i * 7 % 1500);
    strbuf_add_text(&json, "}}");
    struct findings f = { .n = 0 };
    struct value v;
    struct err e;
    err_init(&e, &a);
    CHECK(!json_decode(&a, WORK_OWN, type_of("core/v1.ConfigMap"), strbuf_str(&json), &f, &v, &e));
    CHECK_INT("findings end", f.n, JSON_FINDINGS_MAX);
    CHECK_TEXT("in order", f.texts[1], "duplicate field \"data.k7\"");
    CHECK_INT("members", value_path(type_of("core/v1.ConfigMap"), &v, "data")->n, 1500);
    strbuf_fini(&json);
    arena_fini(&a);
}

/* What is given again and again must cost no more than its text: neither time nor memory. */
TEST(repeated_keys_cost_no_more_than_their_text)
{
    static const struct {
        const char *what, *type, *head, *once, *again, *tail, *path;
        int n_once, n_again;
        uint32_t n;
    } rows[] = {
        { "a map", "core/v1.ConfigMap", "{\"data\":{\"k\":\"\"", ",\"k%d\":\"\"", ",\"data\":{\"k%d\":\"\"}",
          "}", "data", 50000, 50000, 50001 },
        { "a list", "core/v1.NamespaceSpec", "{\"finalizers\":[\"\"", ",\"f%d\"", ",\"finalizers\":[\"%d\"]",
          "}", "finalizers", 50000, 50000, 1 },
        { "lists in elements of a list", "core/v1.PodSpec", "{\"containers\":[{}", ",{\"args\":[\"%d\",\"\"]}",
          ",\"containers\":[{\"args\":[\"%d\"]}]", "}", "containers", 50000, 50000, 1 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct strbuf json;
        strbuf_init(&json, STRBUF_NO_MAX);
        strbuf_add_text(&json, rows[i].head);
        for (int k = 0; k < rows[i].n_once; k++)
            strbuf_printf(&json, rows[i].once, k);
        strbuf_add_char(&json, i == 0 ? '}' : ']');
        for (int k = 0; k < rows[i].n_again; k++)
            strbuf_printf(&json, rows[i].again, k);
        strbuf_add_text(&json, rows[i].tail);
        const struct type *t = type_of(rows[i].type);
        struct value v;
        struct err e;
        err_init(&e, &a);
        CHECK(!json_decode(&a, WORK_OWN, t, strbuf_str(&json), NULL, &v, &e));
        CHECK_INT(rows[i].what, value_path(t, &v, rows[i].path)->n, rows[i].n);
        CHECK(a.n_bytes < 64 << 20);
        strbuf_fini(&json);
        arena_fini(&a);
    }
}

/* An empty list at the end of a full chunk must not be taken for another one that begins there: lists given again
 * write into their earlier elements. Fillers of all lengths reach every place of a chunk. */
TEST(lists_are_not_confused_wherever_they_stand_in_memory)
{
    const struct type *t = type_of("core/v1.PodSpec");
    for (int filler = 0; filler < 2000; filler++) {
        struct arena a;
        arena_init(&a);
        struct strbuf json, out;
        strbuf_init(&json, STRBUF_NO_MAX);
        strbuf_init(&out, STRBUF_NO_MAX);
        strbuf_printf(&json, "{\"nodeName\":\"\\n%0*d\"", filler + 1, 0);
        strbuf_add_text(&json, ",\"tolerations\":[{},{}],\"containers\":[],\"tolerations\":[{},{}],\"tolerations\":[{}],"
                               "\"containers\":[{\"name\":\"a\",\"image\":\"b\",\"tty\":true,\"stdin\":true}]}");
        struct value v;
        struct err e;
        err_init(&e, &a);
        CHECK(!json_decode(&a, WORK_OWN, t, strbuf_str(&json), NULL, &v, &e));
        json_encode(&out, t, &v);
        CHECK(strstr(strbuf_cstr(&out), "\"tolerations\":[{}]"));
        CHECK(strstr(strbuf_cstr(&out), "{\"name\":\"a\",\"image\":\"b\",\"resources\":{},\"stdin\":true,\"tty\":true}"));
        strbuf_fini(&out);
        strbuf_fini(&json);
        arena_fini(&a);
    }
}

TEST(findings_of_a_text_that_is_refused_are_dropped)
{
    struct arena a;
    arena_init(&a);
    struct findings f = { .texts = { "kept" }, .n = 1 };
    struct value v;
    struct err e;
    err_init(&e, &a);
    CHECK(json_decode(&a, WORK_OWN, type_of("core/v1.Pod"), STR("{\"x\":1,\"spec\":[]}"), &f, &v, &e));
    CHECK_INT("findings", f.n, 1);
    arena_fini(&a);
}

/* JSON schemas within each other, each level one deeper. */
static struct str nested_schemas(struct strbuf *b, int depth)
{
    for (int i = 0; i < depth; i++)
        strbuf_add_text(b, i ? "{\"not\":" : "{\"items\":");
    strbuf_add_text(b, "{}");
    for (int i = 0; i < depth; i++)
        strbuf_add_char(b, '}');
    return strbuf_str(b);
}

TEST(depth_is_limited)
{
    static const struct {
        int depth;
        bool accepted;
    } rows[] = { { VALUE_DEPTH_MAX - 1, true }, { VALUE_DEPTH_MAX, false }, { JSON_DEPTH_MAX - 1, false } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct strbuf json;
        strbuf_init(&json, STRBUF_NO_MAX);
        struct str text = nested_schemas(&json, rows[i].depth);
        struct str out = through(&a, "apiextensions.k8s.io/v1.JSONSchemaProps", text);
        CHECK_STR("typed", out, rows[i].accepted ? text : STR("exceeded max depth"));
        struct value v;
        struct err e;
        err_init(&e, &a);
        CHECK_INT("plain", !json_decode_plain(&a, WORK_OWN, text, &v, &e), rows[i].accepted);
        strbuf_fini(&json);
        arena_fini(&a);
    }
}

TEST(strings_are_escaped_as_upstream_escapes_them)
{
    static const struct {
        const char *what, *in, *out;
    } rows[] = {
        { "nothing", "", "\"\"" },
        { "shorter than a word", "abc", "\"abc\"" },
        { "a word", "abcdefgh", "\"abcdefgh\"" },
        { "a word and some", "abcdefghijk", "\"abcdefghijk\"" },
        { "quotes and backslashes", "a\"\\", "\"a\\\"\\\\\"" },
        { "in the last byte", "abcdefghijklmno\"", "\"abcdefghijklmno\\\"\"" },
        { "controls", "\b\t\n\v\f\r\x01\x1f\x7f", "\"\\b\\t\\n\\u000b\\f\\r\\u0001\\u001f\x7f\"" },
        { "HTML", "<a href=\"b\">&", "\"\\u003ca href=\\\"b\\\"\\u003e\\u0026\"" },
        { "UTF-8", "gr\xc3\xbc\xc3\x9f\x65 \xf0\x9f\x98\x80", "\"gr\xc3\xbc\xc3\x9f\x65 \xf0\x9f\x98\x80\"" },
        { "line separators", "\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa", "\"\\u2028\\u2029\xe2\x80\xaa\"" },
        { "not UTF-8", "a\xff\xe2\x82", "\"a\\ufffd\\ufffd\\ufffd\"" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct strbuf out;
        strbuf_init(&out, STRBUF_NO_MAX);
        json_add_string(&out, str_of(rows[i].in));
        CHECK_STR(rows[i].what, strbuf_str(&out), str_of(rows[i].out));
        strbuf_fini(&out);
    }
}

TEST(a_full_buffer_stays_within_its_maximum)
{
    struct arena a;
    arena_init(&a);
    const struct type *t = type_of("core/v1.Pod");
    struct value v;
    struct err e;
    err_init(&e, &a);
    CHECK(!json_decode(
        &a, WORK_OWN, t, STR("{\"metadata\":{\"name\":\"a\",\"labels\":{\"<\":\"b\"}},\"spec\":{\"containers\":[{}]}}"),
        NULL, &v, &e));
    size_t n = encoded(&a, t, &v).n;
    for (size_t max = 0; max < n; max++) {
        struct strbuf out;
        strbuf_init(&out, max);
        json_encode(&out, t, &v);
        CHECK(out.overflow);
        CHECK(out.n <= max);
        strbuf_fini(&out);
    }
    arena_fini(&a);
}

TEST(plain_documents_come_back)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        { " { \"b\" : [ 1 , -2.50 , 1e3, true , false , null ] , \"a\" : \"<\\u0041\" } ",
          "{\"a\":\"\\u003cA\",\"b\":[1,-2.5,1000,true,false,null]}" },
        { "{\"a\":1,\"a\":2}", "{\"a\":2}" },
        { "[]", "[]" },
        { "{}", "{}" },
        { "\"\"", "\"\"" },
        { "9223372036854775807", "9223372036854775807" },
        { "9223372036854775808", "9223372036854776000" },
        { "0.0000001", "1e-7" },
        { "1e400", "1e400" },
        { "[1,]", "invalid character ']' looking for beginning of value" },
        { "{\"a\"", "unexpected end of JSON input" },
        { "{} x", "invalid character 'x' after top-level value" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct strbuf out;
        strbuf_init(&out, STRBUF_NO_MAX);
        struct value v;
        struct err e;
        err_init(&e, &a);
        if (json_decode_plain(&a, WORK_OWN, str_of(rows[i].in), &v, &e))
            strbuf_add_text(&out, e.message);
        else
            json_encode_plain(&out, &v);
        CHECK_STR(rows[i].in, strbuf_str(&out), str_of(rows[i].out));
        strbuf_fini(&out);
        arena_fini(&a);
    }
}
