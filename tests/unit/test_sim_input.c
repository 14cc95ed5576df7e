/* What is read of files, and what is said about files that are wrong: sim/read.c, sim/check.c,
 * sim/input.c. */
#include "base/strbuf.h"
#include "codec/json.h"
#include "codec/proto.h"
#include "sim/forms.h"
#include "tests/test.h"

struct story {
    struct sim_input in;
    struct sym_table syms;
    struct err e;
};

/* Reads and completes; the text is gone afterwards, and must not be missed. */
static bool read_text(struct story *s, struct str text)
{
    sym_init(&s->syms);
    sim_input_init(&s->in, &s->syms);
    err_init(&s->e, &s->in.arena);
    char *copy = mem_alloc(text.n + 1);
    memcpy(copy, text.p, text.n);
    bool ok = !sim_input_text(&s->in, "file", (struct str){ copy, text.n }, &s->e);
    memset(copy, '#', text.n);
    free(copy);
    return ok && !sim_input_complete(&s->in, &s->e);
}

static void finish(struct story *s)
{
    sim_input_fini(&s->in);
    sym_fini(&s->syms);
}

#define POD_IN(ns, name, spec) "apiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: " ns "}\nspec: {" spec "}\n"
#define POD(spec) POD_IN("shop", "p", spec)
#define DEPLOYMENT(spec) "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: shop}\nspec: {" spec "}\n"
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define NO_QUANTITY "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
#define JSON_NODE(name) "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" name "\"},\"status\":{\"capacity\":{}}}"

static const struct {
    const char *what, *text, *message;
} refusals[] = {
    { "YAML that is none", "a: [1\nb: }", "file, document 1: yaml: line 1: did not find expected ',' or ']'" },
    { "a tab", "apiVersion: v1\n---\nkind: Pod\nmetadata:\n\tname: x", "file, document 1: kind is missing" },
    { "in the second document", POD("") "---\na: b: c\n", "file, document 2: yaml: line 2: mapping values are not allowed in this context" },
    { "no kind", "apiVersion: v1\nmetadata: {name: x}\n", "file, document 1: kind is missing" },
    { "no version", "kind: Pod\nmetadata: {name: x}\n", "file, document 1: apiVersion is missing" },
    { "a kind that is a number", "kind: 3\napiVersion: v1\n", "file, document 1: kind and apiVersion must be strings" },
    { "an array", "[" JSON_NODE("a") "]", "file, document 1: array where an object is expected" },
    { "a text", "hello\n", "file, document 1: string where an object is expected" },
    { "no name", "apiVersion: v1\nkind: Pod\nmetadata: {namespace: x}\n", "file, document 1: Pod without metadata.name" },
    { "a name that is a number", "apiVersion: v1\nkind: Pod\nmetadata: {name: 5}\n",
      "file, document 1: Pod: metadata.name: number where string is expected" },
    { "no quantity", POD("containers: [{name: c}, {name: d, resources: {limits: {memory: 5Xi}}}]"),
      "file, document 1: Pod shop/p: spec.containers[1].resources.limits.memory: " NO_QUANTITY },
    { "no quantity in a template", DEPLOYMENT("template: {spec: {containers: [{name: c, resources: {requests: {cpu: x}}}]}}"),
      "file, document 1: Deployment shop/d: spec.template.spec.containers[0].resources.requests.cpu: " NO_QUANTITY },
    { "no quantity of a node", "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: lots}}\n",
      "file, document 1: Node n1: status.allocatable.cpu: " NO_QUANTITY },
    { "the wrong type", POD("containers: {name: c}"), "file, document 1: Pod shop/p: spec.containers: object where array is expected" },
    { "a number too large", POD("priority: 99999999999"),
      "file, document 1: Pod shop/p: spec.priority: number 99999999999 where int32 is expected" },
    { "a text for a number", DEPLOYMENT("replicas: many"),
      "file, document 1: Deployment shop/d: spec.replicas: string where int32 is expected" },
    { "fewer replicas than none", DEPLOYMENT("replicas: -3"), "file, document 1: Deployment shop/d: spec.replicas: -3 is negative" },
    { "fewer pods at once than none", "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {parallelism: -1}\n",
      "file, document 1: Job default/j: spec.parallelism: -1 is negative" },
    { "JSON that ends within its second item",
      "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[" JSON_NODE("a") ",\n{\"apiVersion\":\"v1\",\"ki",
      "file, document 1, items[1]: line 2: unexpected end of JSON input" },
    { "JSON that ends behind its items", "{\"apiVersion\":\"v1\",\n\"items\":[" JSON_NODE("a") "],",
      "file, document 1: line 2: unexpected end of JSON input" },
    { "items without a comma", "{\"items\":[" JSON_NODE("a") "\n" JSON_NODE("b") "]}",
      "file, document 1, items[1]: line 2: invalid character '{' after array element" },
    { "JSON that ends early", "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":",
      "file, document 1: neither JSON (unexpected end of JSON input) nor YAML (yaml: " },
    { "the wrong type in a list", "{\"apiVersion\":\"v1\",\"items\":[" JSON_NODE("a") ",{\"apiVersion\":\"v1\",\"kind\":\"Pod\","
      "\"metadata\":{\"namespace\":\"shop\",\"name\":\"p\"},\"spec\":5}],\"kind\":\"List\"}",
      "file, document 1, items[1]: Pod shop/p: spec: number where object is expected" },
    { "items that are no objects", "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[5]}",
      "file, document 1, items[0]: number where an object is expected" },
    { "items that are no list", "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":{}}",
      "file, document 1: List: items: object where array is expected" },
    { "bytes that are no text", "\001\002", "file, document 1: yaml: control characters are not allowed" },
    { "YAML that is not UTF-8", "apiVersion: v1\nkind: Pod\nmetadata: {name: \"p\377\"}\n",
      "file, document 1: yaml: invalid leading UTF-8 octet" },
};

TEST(what_cannot_be_read_is_refused)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct story s;
        if (read_text(&s, str_of(refusals[i].text)))
            FAIL("%s: was read", refusals[i].what);
        CHECK_STR(refusals[i].what, str_first(str_of(s.e.message), strlen(refusals[i].message)), str_of(refusals[i].message));
        finish(&s);
    }
}

static const struct {
    const char *what, *text, *warning;
} warnings[] = {
    { "nothing", "# nothing\n", "file: there is no object in it" },
    { "the same name twice", POD("") "---\n" POD(""), "file, document 2: Pod shop/p takes the place of the one in file, document 1" },
    { "the same name twice in a list",
      "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[" JSON_NODE("a") "," JSON_NODE("a") "]}",
      "file, document 1, items[1]: Node a takes the place of the one in file, document 1, items[0]" },
    { "an unknown kind", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n",
      "file, document 1: Widget of example.com/v1 is not known and left out" },
    { "a version of the past", "apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: {name: d}\n",
      "file, document 1: Deployment of extensions/v1beta1 is not known and left out" },
    { "a field that is none", POD("nodeSelectr: {a: b}"), "file, document 1: Pod shop/p: unknown field \"spec.nodeSelectr\"" },
    { "a name that servers refuse", POD_IN("shop", "A_b", ""), "file, document 1: Pod shop/A_b: metadata.name: a lowercase RFC 1123 " },
    { "a negative amount", POD("containers: [{name: c, resources: {requests: {cpu: -3}}}]"),
      "file, document 1: Pod shop/p: spec.containers[0].resources.requests.cpu: -3 is negative" },
    { "an amount that is too large", POD("containers: [{name: c, resources: {limits: {memory: '9e30'}}}]"),
      "file, document 1: Pod shop/p: spec.containers[0].resources.limits.memory: 9e30 is more than can be counted" },
    { "a sum that is too large", POD("containers: [{name: c, resources: {requests: {memory: 5Ei}}}, {name: d, resources: {requests: "
      "{memory: 5Ei}}}]"), "file, document 1: Pod shop/p: its requests of memory are more than can be counted" },
    { "a negative amount of a node", "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: -4}}\n",
      "file, document 1: Node n1: status.capacity.cpu: -4 is negative" },
    { "a node without anything", "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n",
      "file, document 1: Node n1 has neither status.allocatable nor status.capacity: nothing fits there" },
    { "a negative amount in a template", DEPLOYMENT("template: {spec: {containers: [{name: c, resources: {limits: {cpu: -1}}}]}}"),
      "file, document 1: Deployment shop/d: spec.template.spec.containers[0].resources.limits.cpu: -1 is negative" },
    { "a wrong operator", POD("affinity: {podAffinity: {" REQUIRED ": [{topologyKey: z, labelSelector: {matchExpressions: [{key: a, "
      "operator: Foo}]}}]}}"),
      "file, document 1: Pod shop/p: spec.affinity.podAffinity." REQUIRED ": \"Foo\" is not a valid label selector operator" },
    { "a wrong node selector", POD("affinity: {nodeAffinity: {" REQUIRED ": {nodeSelectorTerms: [{matchExpressions: [{key: a, "
      "operator: Gt, values: [x]}]}]}}}"),
      "file, document 1: Pod shop/p: spec.affinity.nodeAffinity." REQUIRED ": nodeSelectorTerms[0].matchExpressions[0].values[0]: " },
    { "a label that is none", POD("nodeSelector: {'a b': c}"), "file, document 1: Pod shop/p: spec.nodeSelector: name part must consist " },
    { "a wrong spread", POD("topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, labelSelector: "
      "{matchExpressions: [{key: a, operator: In}]}}]"),
      "file, document 1: Pod shop/p: spec.topologySpreadConstraints[0].labelSelector: values: Invalid value: " },
    { "a wrong budget", "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {selector: {matchExpressions: "
      "[{key: a, operator: Foo}]}}\n",
      "file, document 1: PodDisruptionBudget default/b: spec.selector: \"Foo\" is not a valid label selector operator" },
    { "a class that is not there", POD("priorityClassName: high"),
      "file, document 1: Pod shop/p: no PriorityClass \"high\" is given; its priority counts as 0" },
    { "JSON that is not UTF-8", "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"shop\"},\"spec\":"
      "{\"hostname\":\"\377\"}}", "file, document 1: Pod shop/p: bytes that are not UTF-8 are read as U+FFFD" },
};

TEST(what_is_odd_is_warned_about)
{
    for (size_t i = 0; i < sizeof(warnings) / sizeof(warnings[0]); i++) {
        struct story s;
        if (!read_text(&s, str_of(warnings[i].text)))
            FAIL("%s: %s", warnings[i].what, s.e.message);
        CHECK_INT(warnings[i].what, s.in.warnings.n > 0, 1);
        CHECK_STR(warnings[i].what, str_first(str_of(s.in.warnings.at[0]), strlen(warnings[i].warning)), str_of(warnings[i].warning));
        finish(&s);
    }
}

TEST(warnings_are_limited)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&text, "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[");
    for (int i = 0; i < SIM_WARNINGS_MAX + 10; i++)
        strbuf_printf(&text, "%s{\"kind\":\"W\",\"apiVersion\":\"v1\"}", i ? "," : "");
    STRBUF_ADD_LIT(&text, "]}");
    struct story s;
    CHECK(read_text(&s, strbuf_str(&text)));
    CHECK_INT("kept", s.in.warnings.n, SIM_WARNINGS_MAX);
    CHECK_INT("counted", s.in.n_more_warnings, 10);
    strbuf_fini(&text);
    finish(&s);
}

/* ---- Shapes of documents ---- */

#define BARE_POD(name) "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"containers\":[]}}"

static const struct {
    const char *what, *text;
    size_t n_objects, n_warnings, n_ignored;
} shapes[] = {
    { "kind before the items", "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[" JSON_NODE("a") "," JSON_NODE("b") "]}", 2, 0, 0 },
    { "kind behind them", "{\"apiVersion\":\"v1\",\"items\":[" JSON_NODE("a") "," JSON_NODE("b") "],\"kind\":\"List\",\"metadata\":{}}", 2,
      0, 0 },
    { "a list of pods that do not say so", "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[" BARE_POD("a") ","
      BARE_POD("b") "]}", 2, 0, 0 },
    { "the same with the kind behind", "{\"apiVersion\":\"v1\",\"items\":[" BARE_POD("a") "," BARE_POD("b") "],\"kind\":\"PodList\"}", 2,
      0, 0 },
    { "no items", "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[]}", 0, 0, 0 },
    { "items that are null", "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":null}", 0, 0, 0 },
    { "lists within lists", "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":["
      BARE_POD("a") "]}," JSON_NODE("b") "]}", 2, 0, 0 },
    { "a kind that has items and is no list is taken back",
      "{\"apiVersion\":\"example.com/v1\",\"items\":[" JSON_NODE("a") "],\"kind\":\"Widget\"}" JSON_NODE("a"), 1, 1, 0 },
    { "a list with a field too many", "{\"apiVersion\":\"v1\",\"items\":[" JSON_NODE("a") "],\"kind\":\"List\",\"more\":1}", 1, 1, 0 },
    { "items given twice", "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[" JSON_NODE("a") "],\"items\":[" JSON_NODE("b") "]}", 1,
      1, 0 },
    { "several documents of JSON", JSON_NODE("a") "\n" JSON_NODE("b") JSON_NODE("c"), 3, 0, 0 },
    { "JSON, then YAML", JSON_NODE("a") "\n---\napiVersion: v1\nkind: Node\nmetadata: {name: b}\nstatus: {capacity: {}}\n", 2, 0, 0 },
    { "YAML in braces", "{apiVersion: v1, kind: Node, metadata: {name: a}, status: {capacity: {}}}", 1, 0, 0 },
    { "a list of YAML", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: a}\n  status: "
      "{capacity: {}}\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: m}\n", 1, 0, 1 },
    { "kinds that nobody looks at", "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"items\":[{},{}]}", 0, 0, 2 },
};

TEST(documents_come_in_many_shapes)
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct story s;
        if (!read_text(&s, str_of(shapes[i].text)))
            FAIL("%s: %s", shapes[i].what, s.e.message);
        CHECK_INT(shapes[i].what, s.in.objects.n, shapes[i].n_objects);
        CHECK_INT(shapes[i].what, s.in.warnings.n, shapes[i].n_warnings);
        CHECK_INT(shapes[i].what, s.in.n_ignored, shapes[i].n_ignored);
        finish(&s);
    }
}

TEST(lists_within_lists_end_somewhere)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    for (int i = 0; i < 1000; i++)
        STRBUF_ADD_LIT(&text, "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[");
    for (int i = 0; i < 1000; i++)
        STRBUF_ADD_LIT(&text, "]}");
    struct story s;
    CHECK(!read_text(&s, strbuf_str(&text)));
    CHECK(strstr(s.e.message, "items[0]: more than 8 lists within each other"));
    strbuf_fini(&text);
    finish(&s);
}

/* ---- Pods ---- */

/* As a server gives it: no default is missing. */
#define SERVED(extra)                                                                      \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"shop\",\"uid\":\"u\",\"labels\":{\"a\":\"b\"}}," \
    "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"limits\":{\"cpu\":\"2\"},\"requests\":{\"cpu\":\"1\"}}}]," \
    "\"schedulerName\":\"default-scheduler\",\"priority\":7,\"nodeName\":\"n\"" extra "}}"

/* The quick way (straight from the text) and the slow one (value, defaults, text again) make the same
 * form. */
TEST(both_ways_of_a_pod_make_the_same_form)
{
    static const char *const extras[] = {
        "", ",\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"}]", ",\"hostname\":\"\\u0041\"",
        ",\"affinity\":{\"podAffinity\":{}},\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"x\"}}]",
    };
    for (size_t i = 0; i < sizeof(extras) / sizeof(extras[0]); i++) {
        char *text = NULL;
        CHECK(asprintf(&text, SERVED("%s"), extras[i]) > 0);
        struct story s;
        CHECK(read_text(&s, str_of(text)));
        free(text);
        const struct sim_object *o = &s.in.objects.at[0];
        const struct pod *quick = sim_pod_form(o);
        CHECK_INT("no value", o->value.kind, VALUE_ABSENT);
        CHECK_TEXT("name", o->name, "p");
        CHECK_TEXT("namespace", o->ns, "shop");
        CHECK_INT("priority", quick->priority, 7);

        text = NULL;
        CHECK(asprintf(&text, "%s,\"priority\":7%s}}", "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"q\",\"namespace\":"
                       "\"shop\",\"uid\":\"v\",\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\","
                       "\"resources\":{\"limits\":{\"cpu\":\"2\"},\"requests\":{\"cpu\":\"1\"}}}],\"nodeName\":\"n\"", extras[i]) > 0);
        CHECK(!sim_input_text(&s.in, "more", str_of(text), &s.e));
        CHECK(!s.in.objects.at[1].form);
        CHECK(!sim_input_complete(&s.in, &s.e));
        free(text);
        const struct pod *slow = sim_pod_form(&s.in.objects.at[1]);
        CHECK_INT("bytes", quick->typed.n_bytes, slow->typed.n_bytes);
        CHECK_INT("scheduler", quick->scheduler_name, slow->scheduler_name);
        CHECK_INT("cpu", quick->fit->milli_cpu, slow->fit->milli_cpu);
        CHECK_INT("flags", quick->flags, slow->flags);
        CHECK_INT("node", quick->node_name, slow->node_name);
        finish(&s);
    }
}

TEST(a_pod_that_lacks_something_waits_for_all_files)
{
    struct story s;
    CHECK(read_text(&s, STR("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {priorityClassName: high, containers: [{name: c, "
                            "resources: {limits: {cpu: '2'}}}]}\n---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: "
                            "{name: high}\nvalue: 5\n")));
    const struct pod *pod = sim_pod_form(sim_input_find(&s.in, "Pod", "default", "p"));
    CHECK_INT("priority", pod->priority, 5);
    CHECK_INT("request", pod->fit->milli_cpu, 2000);
    CHECK_INT("warnings", s.in.warnings.n, 0);
    finish(&s);
}

/* ---- Progress ---- */

struct told {
    size_t n, last;
    bool backwards, over;
};

static void note_progress(void *context, enum sim_phase phase, size_t done, size_t total)
{
    struct told *t = context;
    CHECK_INT("phase", phase, SIM_READING);
    t->n++;
    t->backwards |= done < t->last;
    t->over = done == total;
    t->last = done;
}

static void check_progress(struct str text)
{
    struct sym_table syms;
    struct sim_input in;
    struct err e;
    struct told told = { 0 };
    sym_init(&syms);
    sim_input_init(&in, &syms);
    err_init(&e, &in.arena);
    in.progress = (struct sim_progress){ &told, note_progress };
    CHECK(!sim_input_text(&in, "file", text, &e));
    CHECK(told.n >= 3);
    CHECK(!told.backwards);
    CHECK(told.over);
    sim_input_fini(&in);
    sym_fini(&syms);
}

TEST(reading_tells_how_far_it_is)
{
    struct strbuf json, yaml;
    strbuf_init(&json, STRBUF_NO_MAX);
    strbuf_init(&yaml, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&json, "{\"apiVersion\":\"v1\",\"items\":[");
    for (int i = 0; i < 40; i++) {
        strbuf_printf(&json, "%s{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":{\"a\":\"%0*d\"}}", i ? "," : "", 100000, i);
        strbuf_printf(&yaml, "---\napiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: ConfigMap, data: {a: '%0*d'}}]\n", 100000, i);
    }
    STRBUF_ADD_LIT(&json, "],\"kind\":\"List\"}");
    check_progress(strbuf_str(&json));
    check_progress(strbuf_str(&yaml));
    strbuf_fini(&yaml);
    strbuf_fini(&json);
}

/* ---- Objects that a server has sent ---- */

static const char server_pod[] =
    "{\"metadata\":{\"name\":\"p\",\"namespace\":\"shop\",\"uid\":\"u1\",\"labels\":{\"a\":\"b\"}},\"spec\":{\"schedulerName\":"
    "\"default-scheduler\",\"priority\":3,\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{"
    "\"requests\":{\"cpu\":\"2\"}}}]}}";
static const char server_node[] = "{\"metadata\":{\"name\":\"n1\",\"uid\":\"u2\"},\"status\":{\"allocatable\":{\"cpu\":\"4\"}}}";

/* The object in the wanted form; the bytes are gone afterwards. */
static bool add_object(struct story *s, const char *type, const char *json, enum typed_format format)
{
    const struct type *t = schema_type(str_of(type));
    struct strbuf bytes;
    struct value v;
    strbuf_init(&bytes, STRBUF_NO_MAX);
    if (format == TYPED_PROTOBUF) {
        CHECK(!json_decode(&s->in.arena, WORK_OWN, t, str_of(json), NULL, &v, &s->e));
        proto_encode(&bytes, t, &v);
    } else {
        strbuf_add_text(&bytes, json);
    }
    bool ok = !sim_input_object(&s->in, t, format, strbuf_str(&bytes), "https://server", &s->e);
    memset(bytes.p, '#', bytes.n);
    strbuf_fini(&bytes);
    return ok;
}

static void begin(struct story *s)
{
    sym_init(&s->syms);
    sim_input_init(&s->in, &s->syms);
    err_init(&s->e, &s->in.arena);
}

TEST(objects_of_a_server_are_the_same_in_both_forms)
{
    for (int i = 0; i < 2; i++) {
        struct story s;
        enum typed_format format = i ? TYPED_PROTOBUF : TYPED_JSON;
        begin(&s);
        CHECK(add_object(&s, "core/v1.Pod", server_pod, format));
        CHECK(add_object(&s, "core/v1.Node", server_node, format));
        CHECK(!sim_input_complete(&s.in, &s.e));
        CHECK_INT("objects", s.in.objects.n, 2);
        CHECK_INT("warnings", s.in.warnings.n, 0);
        const struct pod *pod = sim_pod_form(&s.in.objects.at[0]);
        CHECK_TEXT("uid", pod->meta.uid, "u1");
        CHECK_INT("priority", pod->priority, 3);
        CHECK_STR("node", sym_text(&s.syms, pod->node_name), STR("n1"));
        CHECK(s.in.objects.at[0].from_server);
        CHECK_TEXT("origin", s.in.objects.at[1].origin, "https://server");
        CHECK_TEXT("name", sim_node_form(&s.in.objects.at[1])->meta.name, "n1");
        finish(&s);
    }
}

TEST(objects_of_a_server_that_make_no_sense_are_refused)
{
    struct story s;
    begin(&s);
    CHECK(!add_object(&s, "core/v1.Node", "{\"metadata\":{\"name\":3}}", TYPED_JSON));
    CHECK_TEXT("JSON", s.e.message, "https://server: Node: metadata.name: number where string is expected");
    const struct type *t = schema_type(STR("core/v1.Node"));
    CHECK(sim_input_object(&s.in, t, TYPED_PROTOBUF, STR("\x0a\x7f"), "https://server", &s.e));
    CHECK(strstr(s.e.message, "https://server: "));
    finish(&s);
}

TEST(an_object_that_was_removed_may_come_again)
{
    struct story s;
    begin(&s);
    CHECK(add_object(&s, "core/v1.Node", server_node, TYPED_PROTOBUF));
    sim_input_remove(&s.in, &s.in.objects.at[0]);
    CHECK(add_object(&s, "core/v1.Node", server_node, TYPED_PROTOBUF));
    CHECK_INT("no warning", s.in.warnings.n, 0);
    CHECK(sim_input_find(&s.in, "Node", "", "n1") == &s.in.objects.at[1]);
    finish(&s);
}
