/* What is said to extenders, byte for byte as kube-scheduler v1.36.4 says it (tests/golden/extender, recorded), and what is
 * made of their answers, in the words that it was seen to use. */
#include "daemon/extender_codec.h"

#include <stdlib.h>

#include "api/schema_slots.h"
#include "base/vec.h"
#include "codec/json.h"
#include "codec/json_scan.h"
#include "codec/proto.h"
#include "tests/test.h"

static struct arena arena;
static struct sym_table syms;
static struct err error;
static VEC(const struct pod *) pods;
static VEC(const struct node *) nodes_made;

static void begin(void)
{
    arena_init(&arena);
    sym_init(&syms);
    err_init(&error, &arena);
}

static void end(void)
{
    for (size_t i = 0; i < pods.n; i++)
        pod_unref(&syms, pods.at[i]);
    for (size_t i = 0; i < nodes_made.n; i++)
        node_unref(&syms, nodes_made.at[i]);
    vec_fini(&pods);
    vec_fini(&nodes_made);
    sym_fini(&syms);
    arena_fini(&arena);
}

static struct str recorded(const char *name)
{
    static char text[16384];
    FILE *f = fopen(arena_printf(&arena, "%s/extender/%s.json", GOLDEN_DIR, name), "r");
    CHECK(f);
    size_t n = fread(text, 1, sizeof(text), f);
    fclose(f);
    CHECK(n > 1 && n < sizeof(text));
    return arena_str(&arena, (struct str){ text, n - 1 }); /* without the newline */
}

/* The text of a member of an object, or of the item of a list whose number is the key. */
static struct str part(struct str json, const char *key)
{
    struct json_scan s = json_scan_init(json);
    bool is_list = json_peek(&s) == '[', first = true, fault;
    CHECK(json_enter(&s, is_list ? '[' : '{'));
    for (int i = 0; json_next(&s, is_list ? ']' : '}', &first, &fault); i++) {
        struct json_text name = { 0 };
        struct str value;
        CHECK(is_list || json_scan_key(&s, &name));
        CHECK(json_scan_value(&s, &value));
        if (is_list ? i == atoi(key) : str_is(name.raw, key))
            return value;
    }
    return (struct str){ 0 };
}

/* As an API server sends it. */
static struct str whole(struct str object, const char *kind)
{
    const char *managed = "\"managedFields\":[{\"manager\":\"m\",\"operation\":\"Update\",\"apiVersion\":\"v1\","
                          "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:spec\":{}}}],";
    size_t head = strlen("{\"metadata\":{");
    return str_of(arena_printf(&arena, "{\"kind\":\"%s\",\"apiVersion\":\"v1\",\"metadata\":{%s%.*s", kind,
                               strcmp(kind, "Pod") == 0 ? managed : "", STR_ARG(str_from(object, head))));
}

static struct str as_protobuf(struct str json, const struct type *t)
{
    struct value v;
    struct strbuf b;
    CHECK(!json_decode(&arena, WORK_OWN, t, json, NULL, &v, &error));
    strbuf_init(&b, STRBUF_NO_MAX);
    proto_encode(&b, t, &v);
    struct str bytes = arena_str(&arena, strbuf_str(&b));
    strbuf_fini(&b);
    return bytes;
}

static const struct pod *keep_pod(struct raw_objects *raw, enum typed_format format, struct str object)
{
    const struct pod *pod;
    struct str bytes = whole(object, "Pod");
    if (format == TYPED_PROTOBUF)
        bytes = as_protobuf(bytes, &schema_types[T_core_v1_Pod]);
    CHECK(!pod_decode(&syms, format, bytes, &pod, &error));
    vec_push(&pods, pod);
    raw_objects_set_pod(raw, pod, format, bytes);
    return pod;
}

static sym keep_node(struct raw_objects *raw, enum typed_format format, struct str object)
{
    const struct node *node;
    struct str bytes = whole(object, "Node");
    if (format == TYPED_PROTOBUF)
        bytes = as_protobuf(bytes, &schema_types[T_core_v1_Node]);
    CHECK(!node_decode(&syms, format, bytes, &node, &error));
    vec_push(&nodes_made, node);
    raw_objects_set_node(raw, node, format, bytes);
    return node->name;
}

static struct str encoded(struct raw_objects *raw, const struct extender_request *r)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    if (extender_encode(&b, &syms, raw, r, &error))
        FAIL("%s", error.message);
    struct str text = arena_str(&arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static struct extender full = { .url_prefix = "http://x", .verbs = { "filter", "prioritize", "preempt", "bind" } };
static struct extender cached = { .url_prefix = "http://x", .verbs = { "filter", "prioritize", "preempt", NULL },
                                  .node_cache_capable = true };
static struct extender *const both[] = { &full, &cached };

TEST(whole_nodes_to_filter)
{
    begin();
    struct str want = recorded("full_filter"), items = part(part(want, "Nodes"), "items");
    for (int format = TYPED_JSON; format <= TYPED_PROTOBUF; format++) {
        struct raw_objects *raw = raw_objects_new(&syms, both, 2);
        const struct pod *pod = keep_pod(raw, (enum typed_format)format, part(want, "Pod"));
        sym nodes[] = { keep_node(raw, (enum typed_format)format, part(items, "0")),
                        keep_node(raw, (enum typed_format)format, part(items, "1")) };
        struct extender_request r = { .extender = &full, .verb = EXTENDER_FILTER, .pod = pod, .nodes = nodes,
                                      .n_nodes = 2, .arena = &arena };
        CHECK_STR("first", encoded(raw, &r), want);
        r.verb = EXTENDER_PRIORITIZE;
        CHECK_STR("again", encoded(raw, &r), want);
        r.n_nodes = 0;
        CHECK_STR("no nodes", part(encoded(raw, &r), "Nodes"), STR("{\"metadata\":{},\"items\":null}"));
        raw_objects_free(raw);
    }
    end();
}

TEST(names_to_filter)
{
    begin();
    struct str want = recorded("cached_filter");
    struct raw_objects *raw = raw_objects_new(&syms, &(struct extender *){ &cached }, 1);
    const struct pod *pod = keep_pod(raw, TYPED_PROTOBUF, part(want, "Pod"));
    sym nodes[] = { sym_intern(&syms, STR("n1")), sym_intern(&syms, STR("n2")) };
    struct extender_request r = { .extender = &cached, .verb = EXTENDER_FILTER, .pod = pod, .nodes = nodes, .n_nodes = 2,
                                  .arena = &arena };
    CHECK_STR("recorded", encoded(raw, &r), want);
    r.n_nodes = 0;
    CHECK_STR("no nodes", part(encoded(raw, &r), "NodeNames"), STR("[]"));
    raw_objects_free(raw);
    end();
}

TEST(victims)
{
    begin();
    struct str want = recorded("full_preempt"), by_node = part(want, "NodeNameToVictims");
    struct raw_objects *raw = raw_objects_new(&syms, both, 2);
    const struct pod *pod = keep_pod(raw, TYPED_JSON, part(want, "Pod"));
    const struct pod *low1 = keep_pod(raw, TYPED_PROTOBUF, part(part(part(by_node, "n1"), "Pods"), "0"));
    const struct pod *low2 = keep_pod(raw, TYPED_JSON, part(part(part(by_node, "n2"), "Pods"), "0"));
    /* Go writes maps in the order of their keys. */
    struct extender_victims on[] = { { sym_intern(&syms, STR("n2")), &low2, 1, 0 },
                                     { sym_intern(&syms, STR("n1")), &low1, 1, 0 } };
    struct extender_request r = { .extender = &full, .verb = EXTENDER_PREEMPT, .pod = pod, .victims = on,
                                  .n_victims = 2, .arena = &arena };
    CHECK_STR("recorded", encoded(raw, &r), want);

    struct str names = recorded("cached_preempt"), uids = part(names, "NodeNameToMetaVictims");
    pod = keep_pod(raw, TYPED_JSON, part(names, "Pod"));
    struct str text = str_of(arena_printf(&arena,
        "{\"n1\":{\"Pods\":[{\"UID\":\"%s\"}],\"NumPDBViolations\":0},\"n2\":{\"Pods\":[{\"UID\":\"%s\"}],"
        "\"NumPDBViolations\":0}}", low1->meta.uid, low2->meta.uid));
    r.pod = pod;
    r.extender = &cached;
    CHECK_INT("the same but for the uids", uids.n, text.n);
    CHECK_STR("recorded", encoded(raw, &r),
              str_of(arena_printf(&arena, "%.*s%.*s}", (int)(uids.p - names.p), names.p, STR_ARG(text))));
    raw_objects_free(raw);
    end();
}

TEST(an_assumed_pod_is_on_its_node)
{
    begin();
    struct raw_objects *raw = raw_objects_new(&syms, both, 2);
    const struct pod *pod = keep_pod(raw, TYPED_JSON, STR("{\"metadata\":{\"name\":\"p\",\"uid\":\"u\"},\"spec\":{"
                                                          "\"containers\":[]}}"));
    const struct pod *assumed = pod_with_node(&syms, pod, sym_intern(&syms, STR("n1")));
    vec_push(&pods, assumed);
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    CHECK(!raw_objects_add_pod(raw, assumed, &b, &error));
    CHECK_STR("node", part(part(strbuf_str(&b), "spec"), "nodeName"), STR("\"n1\""));
    strbuf_reset(&b);
    CHECK(!raw_objects_add_pod(raw, pod, &b, &error));
    CHECK_STR("it was not changed", part(strbuf_str(&b), "spec"), STR("{\"containers\":[]}"));
    struct extender_request r = { .extender = &full, .verb = EXTENDER_BIND, .pod = assumed };
    CHECK_STR("recorded", encoded(raw, &r),
              STR("{\"PodName\":\"p\",\"PodNamespace\":\"\",\"PodUID\":\"u\",\"Node\":\"n1\"}"));
    strbuf_fini(&b);
    raw_objects_free(raw);
    end();
}

TEST(only_what_somebody_can_ask_for_is_kept)
{
    begin();
    static struct extender binds = { .url_prefix = "x", .verbs = { NULL, NULL, NULL, "bind" } };
    static struct extender scores = { .url_prefix = "x", .verbs = { "", "prioritize", NULL, NULL } };
    static const struct {
        const char *name;
        struct extender *x;
        uint32_t n_pods, n_nodes;
    } cases[] = {
        { "none of it for binding", &binds, 0, 0 },
        { "nodes, and pods that wait", &scores, 1, 1 },
        { "only pods that wait", &cached, 1, 0 },
        { "everything", &full, 2, 1 },
    };
    struct str node = STR("{\"metadata\":{\"name\":\"n\"}}");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct raw_objects *raw = raw_objects_new(&syms, &cases[i].x, 1);
        keep_pod(raw, TYPED_JSON, STR("{\"metadata\":{\"name\":\"a\",\"uid\":\"a\"}}"));
        keep_pod(raw, TYPED_JSON, STR("{\"metadata\":{\"name\":\"b\",\"uid\":\"b\"}}"));
        keep_pod(raw, TYPED_JSON, STR("{\"metadata\":{\"name\":\"b\",\"uid\":\"b\"},\"spec\":{\"nodeName\":\"n\"}}"));
        keep_node(raw, TYPED_JSON, node);
        struct raw_objects_counts c = raw_objects_counts(raw);
        CHECK_INT(cases[i].name, c.n_pods, cases[i].n_pods);
        CHECK_INT(cases[i].name, c.n_nodes, cases[i].n_nodes);
        CHECK_INT(cases[i].name, c.n_bytes > 0, c.n_pods > 0);
        keep_pod(raw, TYPED_JSON, STR("{\"metadata\":{\"name\":\"a\",\"uid\":\"a\"},\"status\":{\"phase\":\"Failed\"}}"));
        c = raw_objects_counts(raw);
        CHECK_INT("finished", c.n_pods, cases[i].n_pods - (cases[i].n_pods > 0));
        raw_objects_remove_pod(raw, "a");
        raw_objects_remove_pod(raw, "b");
        raw_objects_remove_node(raw, STR("n"));
        c = raw_objects_counts(raw);
        CHECK_INT(cases[i].name, c.n_pods + c.n_nodes, 0);
        CHECK_INT(cases[i].name, c.n_bytes, 0);
        raw_objects_free(raw);
    }
    end();
}

TEST(what_is_not_known_as_a_whole)
{
    begin();
    struct raw_objects *raw = raw_objects_new(&syms, both, 2);
    const struct pod *pod = keep_pod(raw, TYPED_JSON, STR("{\"metadata\":{\"name\":\"p\",\"uid\":\"u\"}}"));
    sym node = sym_intern(&syms, STR("n1"));
    struct extender_request r = { .extender = &full, .verb = EXTENDER_FILTER, .pod = pod, .nodes = &node, .n_nodes = 1,
                                  .arena = &arena };
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    CHECK_INT("node", extender_encode(&b, &syms, raw, &r, &error), ERR_NOT_FOUND);
    CHECK_TEXT("node", error.message, "node \"n1\" is not known as a whole");
    raw_objects_remove_pod(raw, "u");
    CHECK_INT("pod", extender_encode(&b, &syms, raw, &r, &error), ERR_NOT_FOUND);
    CHECK_TEXT("pod", error.message, "pod \"u\" is not known as a whole");
    strbuf_fini(&b);
    raw_objects_free(raw);
    end();
}

/* ---- Answers ---- */

/* What was read, as a text. */
static struct str shown(const struct extender_answer *x)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    if (x->error)
        strbuf_printf(&b, "error %s;", x->error);
    const struct extender_names *lists[] = { &x->node_names, &x->nodes };
    for (int k = 0; k < 2; k++) {
        if (lists[k]->given)
            strbuf_add_text(&b, k ? "nodes" : "names");
        for (uint32_t i = 0; i < lists[k]->n; i++)
            strbuf_printf(&b, " %.*s", STR_ARG(lists[k]->at[i]));
        if (lists[k]->given)
            strbuf_add_char(&b, ';');
    }
    for (uint32_t i = 0; i < x->n_failed; i++)
        strbuf_printf(&b, "failed %.*s=%s;", STR_ARG(x->failed[i].node), x->failed[i].why);
    for (uint32_t i = 0; i < x->n_unresolvable; i++)
        strbuf_printf(&b, "never %.*s=%s;", STR_ARG(x->unresolvable[i].node), x->unresolvable[i].why);
    for (uint32_t i = 0; i < x->n_scores; i++)
        strbuf_printf(&b, "%.*s=%lld;", STR_ARG(x->scores[i].node), (long long)x->scores[i].score);
    for (uint32_t i = 0; i < x->n_victims; i++) {
        strbuf_printf(&b, "%.*s", STR_ARG(x->victims[i].node));
        for (uint32_t k = 0; k < x->victims[i].n_uids; k++)
            strbuf_printf(&b, " %.*s", STR_ARG(x->victims[i].uids[k]));
        strbuf_printf(&b, " (%lld);", (long long)x->victims[i].n_violations);
    }
    struct str text = arena_str(&arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

struct answer_case {
    const char *name, *body, *want;
};

static void check_answers(enum extender_verb verb, const struct answer_case *c)
{
    begin();
    for (; c->name; c++) {
        char *body = strdup(c->body);
        struct extender_answer x = extender_decode(&arena, verb, str_of(body));
        memset(body, 'x', strlen(body)); /* the answer stands alone */
        CHECK_STR(c->name, shown(&x), str_of(c->want));
        free(body);
    }
    end();
}

#define INTO_FILTER "into Go struct field ExtenderFilterResult."

TEST(filter_answers)
{
    check_answers(EXTENDER_FILTER, (const struct answer_case[]){
        { "names", "{\"NodeNames\":[\"a\",\"b\"],\"FailedNodes\":{\"c\":\"why\"},\"FailedAndUnresolvableNodes\":{\"d\":"
          "\"never\"},\"Error\":\"\"}", "names a b;failed c=why;never d=never;" },
        { "objects", "{\"Nodes\":{\"metadata\":{},\"items\":[{\"metadata\":{\"name\":\"a\",\"labels\":{\"name\":\"z\"}},"
          "\"spec\":{\"metadata\":{\"name\":\"y\"}}},{\"spec\":{}},null]},\"NodeNames\":null}", "nodes a  ;" },
        { "recorded: case does not matter, unknown fields are skipped", "{\"nodenames\":[\"n1\"],\"extra\":[1,{\"x\":2}]}",
          "names n1;" },
        { "recorded: what follows is not read", "{\"NodeNames\":[\"n2\"]} garbage", "names n2;" },
        { "recorded: the last one counts", "{\"NodeNames\":[\"n1\"],\"nodeNames\":[\"n2\"]}", "names n2;" },
        { "recorded: nulls", "{\"NodeNames\":[\"n1\"],\"FailedNodes\":{\"n2\":null},\"FailedAndUnresolvableNodes\":null}",
          "names n1;failed n2=;" },
        { "recorded: null as a name", "{\"NodeNames\":[null,\"n1\"]}", "names  n1;" },
        { "recorded: null", "null", "" },
        { "nothing said", "{}", "" },
        { "an empty list is given", "{\"NodeNames\":[]}", "names;" },
        { "taken back", "{\"NodeNames\":[\"a\"],\"Nodes\":{\"items\":[{}]},\"nodenames\":null,\"nodes\":null}", "" },
        { "a list of objects in two parts", "{\"Nodes\":{},\"nodes\":{\"items\":[{\"metadata\":{\"name\":\"a\"}}]}}",
          "nodes a;" },
        { "maps merge", "{\"FailedNodes\":{\"a\":\"1\",\"b\":\"2\"},\"failedNodes\":{\"b\":\"3\"}}", "failed a=1;failed b=3;" },
        { "null empties a map", "{\"FailedNodes\":{\"a\":\"1\"},\"failedNodes\":null,\"FAILEDNODES\":{\"b\":\"3\"}}",
          "failed b=3;" },
        { "recorded: an error", "{\"Error\":\"no thanks\"}", "error no thanks;" },
        { "recorded: a lone surrogate", "{\"Error\":\"a\\ud800b\"}", "error a\xef\xbf\xbd" "b;" },
        { "escapes in names", "{\"NodeNames\":[\"a\\u0062\"],\"FailedNodes\":{\"\\u0063\":\"\\\"\"}}", "names ab;failed c=\";" },
        { "recorded: not JSON", "<html>", "error invalid character '<' looking for beginning of value;" },
        { "recorded: nothing", "", "error EOF;" },
        { "white space", " \n", "error EOF;" },
        { "recorded: cut", "{\"NodeNames\":[\"n1\"", "error unexpected EOF;" },
        { "broken later", "{\"NodeNames\":[\"n1\" 1]}", "error invalid character '1' after array element;" },
        { "recorded: a string instead of a list", "{\"NodeNames\":\"n1\"}",
          "error json: cannot unmarshal string " INTO_FILTER "NodeNames of type []string;" },
        { "recorded: an object instead of a list", "{\"NodeNames\":{\"a\":1}}",
          "error json: cannot unmarshal object " INTO_FILTER "NodeNames of type []string;" },
        { "recorded: a number instead of a name", "{\"NodeNames\":[1]}",
          "error json: cannot unmarshal number " INTO_FILTER "NodeNames of type string;" },
        { "recorded: another document", "[]",
          "error json: cannot unmarshal array into Go value of type v1.ExtenderFilterResult;" },
        { "recorded: a word", "true", "error json: cannot unmarshal bool into Go value of type v1.ExtenderFilterResult;" },
        { "recorded: a number instead of a reason", "{\"NodeNames\":[],\"FailedNodes\":{\"n1\":\"why\",\"n2\":5}}",
          "error json: cannot unmarshal number " INTO_FILTER "FailedNodes of type string;" },
        { "recorded: a list of failures", "{\"FailedNodes\":[\"a\"]}",
          "error json: cannot unmarshal array " INTO_FILTER "FailedNodes of type v1.FailedNodesMap;" },
        { "recorded: an error that is a number", "{\"Error\":3}",
          "error json: cannot unmarshal number " INTO_FILTER "Error of type string;" },
        { "recorded: the first of two faults", "{\"NodeNames\":[5],\"Error\":7}",
          "error json: cannot unmarshal number " INTO_FILTER "NodeNames of type string;" },
        { "recorded: Nodes is a list", "{\"Nodes\":[]}",
          "error json: cannot unmarshal array " INTO_FILTER "Nodes of type v1.NodeList;" },
        { "recorded: the name of a node is a number", "{\"Nodes\":{\"items\":[{\"metadata\":{\"name\":5}}]}}",
          "error json: cannot unmarshal number into Go struct field ObjectMeta.Nodes.items.metadata.name of type string;" },
        { 0 } });
}

TEST(other_answers)
{
    check_answers(EXTENDER_PRIORITIZE, (const struct answer_case[]){
        { "scores", "[{\"Host\":\"a\",\"Score\":5},{\"host\":\"b\",\"score\":-3,\"x\":[]},{},null]", "a=5;b=-3;=0;=0;" },
        { "none", "[]", "" },
        { "null", "null", "" },
        { "a fraction", "[{\"Host\":\"a\",\"Score\":1.5}]",
          "error json: cannot unmarshal number 1.5 into Go struct field HostPriority.Score of type int64;" },
        { "too large", "[{\"Score\":9223372036854775808}]",
          "error json: cannot unmarshal number 9223372036854775808 into Go struct field HostPriority.Score of type int64;" },
        { "the largest", "[{\"Score\":9223372036854775807}]", "=9223372036854775807;" },
        { "a text", "[{\"Score\":\"1\"}]",
          "error json: cannot unmarshal string into Go struct field HostPriority.Score of type int64;" },
        { "an object", "{}", "error json: cannot unmarshal object into Go value of type v1.HostPriorityList;" },
        { "numbers", "[1]", "error json: cannot unmarshal number into Go value of type v1.HostPriority;" },
        { 0 } });
    check_answers(EXTENDER_PREEMPT, (const struct answer_case[]){
        { "victims", "{\"NodeNameToMetaVictims\":{\"n\":{\"Pods\":[{\"UID\":\"a\"},{\"uid\":\"b\"}],\"NumPDBViolations\":2},"
          "\"m\":{}}}", "n a b (2);m (0);" },
        { "none", "{}", "" },
        { "null", "{\"NodeNameToMetaVictims\":null}", "" },
        { "no victims", "{\"NodeNameToMetaVictims\":{\"n\":null}}",
          "error extender: null instead of the victims on node n;" },
        { "no pod", "{\"NodeNameToMetaVictims\":{\"n\":{\"Pods\":[null]}}}",
          "error extender: null instead of a pod to preempt;" },
        { "a list", "{\"NodeNameToMetaVictims\":[]}",
          "error json: cannot unmarshal array into Go struct field ExtenderPreemptionResult.NodeNameToMetaVictims of type "
          "map[string]*v1.MetaVictims;" },
        { "a number as a uid", "{\"NodeNameToMetaVictims\":{\"n\":{\"Pods\":[{\"UID\":1}]}}}",
          "error json: cannot unmarshal number into Go struct field MetaPod.NodeNameToMetaVictims.Pods.UID of type string;" },
        { 0 } });
    check_answers(EXTENDER_BIND, (const struct answer_case[]){
        { "bound", "{\"Error\":\"\"}", "" },
        { "bound, without a word", "{}", "" },
        { "recorded: not", "{\"Error\":\"not now\"}", "error not now;" },
        { "not JSON", "nope", "error invalid character 'o' in literal null (expecting 'u');" },
        { 0 } });
}
