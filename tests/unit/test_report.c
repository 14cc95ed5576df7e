/* Reports of a simulation: rows for awk, YAML, the page's data, and texts that try to be something else. */
#include "codec/yaml.h"
#include "plugins/plugins.h"
#include "sim/expand.h"
#include "sim/forms.h"
#include "sim/report_page.h"
#include "sim/report_priv.h"
#include "tests/test.h"

#define NODE(name, zone)                                                                   \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name ", labels: {topology.kubernetes.io/zone: " zone "}}\n" \
    "status: {capacity: {cpu: '4', memory: 8Gi, pods: '10'}}\n"
#define POD(name, rest) "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name "}\nspec: {" rest "}\n"
#define REQUESTS(cpu, memory) "containers: [{name: c, resources: {requests: {cpu: '" cpu "', memory: '" memory "'}}}]"

struct story {
    struct sim_input in;
    struct sym_table syms;
    struct setup setup;
    struct sim_world world;
    struct strbuf text;
};

static void start(struct story *s, const char *text)
{
    struct err e;
    sym_init(&s->syms);
    sim_input_init(&s->in, &s->syms);
    err_init(&e, &s->in.arena);
    strbuf_init(&s->text, STRBUF_NO_MAX);
    if (setup_from_text(&s->setup, &s->syms, (struct str){ NULL, 0 }, plugin_registry, &e) ||
        sim_input_text(&s->in, "file", str_of(text), &e) || sim_input_complete(&s->in, &e) || sim_expand(&s->in, &e) ||
        sim_world_init(&s->world, &s->in, &s->syms, &s->setup, 1, &e))
        FAIL("%s", e.message);
    sim_world_run(&s->world);
}

static void finish(struct story *s)
{
    sim_world_fini(&s->world);
    setup_fini(&s->setup);
    sim_input_fini(&s->in);
    sym_fini(&s->syms);
    strbuf_fini(&s->text);
}

static bool has(struct story *s, const char *part)
{
    return strstr(strbuf_cstr(&s->text), part);
}

static const struct {
    const char *what, *text, *row;
} rows[] = {
    { "a pod that runs", NODE("n1", "z") POD("p", "nodeName: n1, " REQUESTS("250m", "128Mi")),
      "default     p      <none>   Running   n1     z      250m   128Mi    <none>\n" },
    { "a pod that is placed", NODE("n1", "z") POD("p", REQUESTS("2", "1025")),
      "default     p      <none>   Placed   n1     z      2     1Ki      <none>\n" },
    { "a pod without requests, and a node without a zone",
      "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: '4', memory: 8Gi, pods: '10'}}\n" POD("p", "containers: []"),
      "default     p      <none>   Placed   n1     <none>   0     0        <none>\n" },
    { "a pending pod has no node and a reason", POD("p", REQUESTS("1", "2Gi")),
      "default     p      <none>   Pending   <none>   <none>   1     2Gi      no nodes available to schedule pods\n" },
    { "a preempted pod names who took its place",
      NODE("n1", "z") POD("low", "nodeName: n1, " REQUESTS("3", "1Ki")) POD("high", "priority: 5, " REQUESTS("2", "1Ki")),
      "default     low    <none>   Preempted   n1     z      3     1Ki      preempted by default/high\n" },
    { "an owner is a kind and a name",
      NODE("n1", "z") "---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s, namespace: a}\nspec: {replicas: 1, selector: "
      "{matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {" REQUESTS("1", "1Mi") "}}}\n",
      "a           s-0    StatefulSet/s   Placed   n1     z      1     1Mi      <none>\n" },
    { "a cell is one word, and obeys nobody", NODE("n1", "'a b'") POD("\"p\\e[31m q\\n\"", REQUESTS("1", "1Mi")),
      "default     p\\x1b[31m\\x20q\\n   <none>   Placed   n1     a\\x20b   1     1Mi      <none>\n" },
};

TEST(wide_has_a_row_a_pod)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct story s;
        start(&s, rows[i].text);
        sim_report_wide(&s.text, &s.world);
        if (!has(&s, rows[i].row))
            FAIL("%s:\n%s", rows[i].what, strbuf_cstr(&s.text));
        finish(&s);
    }
}

TEST(wide_columns_stand_below_their_headings)
{
    struct story s;
    start(&s, NODE("a-node", "zone-one") POD("p", REQUESTS("1", "1Mi")) POD("a-longer-name", REQUESTS("1", "1Mi")));
    sim_report_wide(&s.text, &s.world);
    CHECK_STR("table", strbuf_str(&s.text),
              STR("NAMESPACE   NAME            OWNER    STATE    NODE     ZONE       CPU   MEMORY   REASON\n"
                  "default     p               <none>   Placed   a-node   zone-one   1     1Mi      <none>\n"
                  "default     a-longer-name   <none>   Placed   a-node   zone-one   1     1Mi      <none>\n"));
    finish(&s);
}

#define GPU_NODE(name, gpus)                                                               \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name "}\n"                       \
    "status: {capacity: {cpu: '4', memory: 8Gi, pods: '10', ephemeral-storage: 10Gi, x.com/gpu: '" gpus "'}}\n"
#define GPUS(n) "containers: [{name: c, resources: {limits: {x.com/gpu: '" n "'}}}]"

/* Running, placed, preempted and pending pods; a node that has none; storage that nobody asks for. */
TEST(other_resources_are_counted)
{
    struct story s;
    start(&s, GPU_NODE("g1", "4") GPU_NODE("g2", "2") NODE("plain", "z")
              POD("old", "nodeName: g1, " GPUS("1")) POD("low", "nodeName: g2, priority: -1, " GPUS("2"))
              POD("new", "priority: 20, " GPUS("3")) POD("high", "priority: 9, " GPUS("2")) POD("over", GPUS("5")));
    CHECK_INT("placed", s.world.n_in_state[SIM_PLACED], 2);
    CHECK_INT("preempted", s.world.n_in_state[SIM_EVICTED], 1);
    sim_report_json(&s.text, &s.world, NULL);
    const char *want = "\"otherResources\":[\n{\"name\":\"x.com/gpu\",\"allocatable\":6,\"before\":3,\"after\":6,\"nodes\":["
                       "{\"name\":\"g1\",\"allocatable\":4,\"before\":1,\"after\":4},"
                       "{\"name\":\"g2\",\"allocatable\":2,\"before\":2,\"after\":2}]}]";
    if (!has(&s, want))
        FAIL("%s", strbuf_cstr(&s.text));
    strbuf_reset(&s.text);
    sim_report_text(&s.text, &s.world, 0);
    if (!has(&s, "  x.com/gpu        3 -> 6 of 6  on 2 nodes\n    g1             1 -> 4 of 4\n") || has(&s, "ephemeral"))
        FAIL("%s", strbuf_cstr(&s.text));
    finish(&s);
}

#define HOSTILE_NAME "</script><!--<script>alert(1)"

TEST(yaml_is_the_same_document)
{
    struct story s;
    start(&s, NODE("n1", "z") POD("p", REQUESTS("1", "1Mi")) POD("\"" HOSTILE_NAME "\"", REQUESTS("9", "1Mi")));
    struct sim_section section = { "whatIf", STR("{\"moved\":[{\"name\":\"x: y\"}],\"n\":1}") };
    struct sim_sections more = { &section, 1 };
    sim_report_yaml(&s.text, &s.world, &more);
    CHECK(has(&s, "summary:\n"));
    CHECK(has(&s, "whatIf:\n  moved:\n  - name: 'x: y'\n  \"n\": 1\n"));
    struct err e;
    struct str from_yaml, from_json;
    err_init(&e, &s.in.arena);
    if (yaml_to_json(&s.in.arena, WORK_OWN, strbuf_str(&s.text), NULL, &from_yaml, &e))
        FAIL("%s", e.message);
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    sim_report_json(&json, &s.world, &more);
    if (yaml_to_json(&s.in.arena, WORK_OWN, strbuf_str(&json), NULL, &from_json, &e))
        FAIL("%s", e.message);
    CHECK_STR("document", from_yaml, from_json);
    strbuf_fini(&json);
    finish(&s);
}

/* What stands between the fixed parts of a page. */
static struct str page_data(struct story *s)
{
    struct str page = strbuf_str(&s->text);
    CHECK(str_starts(page, report_page_head));
    CHECK(str_ends(page, report_page_tail));
    return (struct str){ page.p + report_page_head.n, page.n - report_page_head.n - report_page_tail.n };
}

TEST(a_pages_data_cannot_leave_its_element)
{
    struct story s;
    start(&s, NODE("\"" HOSTILE_NAME "\"", "\"" HOSTILE_NAME "\"") POD("\"" HOSTILE_NAME "\"", REQUESTS("1", "1Mi"))
              POD("other", "schedulerName: \"" HOSTILE_NAME "\", " REQUESTS("1", "1Mi")));
    struct sim_section section = { "trace", STR("{\"name\":\"" HOSTILE_NAME "\"}") };
    struct sim_sections more = { &section, 1 };
    sim_report_page(&s.text, &s.world, &more);
    struct str data = page_data(&s);
    CHECK(!memchr(data.p, '<', data.n));
    struct err e;
    struct value document;
    err_init(&e, &s.in.arena);
    if (json_decode_plain(&s.in.arena, WORK_OWN, data, &document, &e))
        FAIL("%s", e.message);
    static const char escaped[] = "\"trace\":{\"name\":\"\\u003c/script>\\u003c!--\\u003cscript>alert(1)\"}}";
    CHECK(str_ends(data, str_of(escaped)));
    finish(&s);
}

TEST(a_pages_pods_stand_by_state)
{
    struct story s;
    start(&s, NODE("n1", "z") POD("runs", "nodeName: n1, priority: 9, " REQUESTS("1", "1Mi"))
              POD("low", "nodeName: n1, " REQUESTS("2", "1Mi")) POD("placed", "priority: 5, " REQUESTS("2500m", "1Mi"))
              POD("pending", REQUESTS("8", "1Mi")));
    sim_report_page(&s.text, &s.world, NULL);
    CHECK(page_data(&s).n > 0);
    CHECK(has(&s, "\"pods\":{\"counts\":{\"pending\":1,\"preempted\":1,\"placed\":1,\"running\":1},\"leftOut\":0,\n"
                  "\"name\":[\"pending\",\"low\",\"placed\",\"runs\"],\n\"namespace\":[0,0,0,0],\n\"owner\":[-1,-1,-1,-1],\n"
                  "\"node\":[-1,0,0,0],\n\"message\":[0,1,-1,-1],\n\"cpuMilli\":[8000,2000,2500,1000],\n"));
    CHECK(has(&s, "\"namespaces\":[\"default\"],\n\"owners\":[],\n\"messages\":[\"0/1 nodes are available: 1 Insufficient cpu."));
    CHECK(has(&s, "\"nodes\":{\"zone\":[0],\n\"name\":[\"n1\"],\n\"zones\":[\"z\"],\n\"allocatable\":{\"cpuMilli\":[4000],"));
    finish(&s);
}

/* Each hash of the policy stands there; the browser tests see that it is the right one. */
TEST(a_page_allows_only_itself)
{
    struct story s;
    start(&s, "");
    sim_report_page(&s.text, &s.world, NULL);
    CHECK(has(&s, "content=\"default-src 'none'; style-src 'sha256-"));
    CHECK(has(&s, "script-src 'sha256-"));
    CHECK(!has(&s, "unsafe-inline"));
    CHECK(!has(&s, "https://"));
    finish(&s);
}

TEST(many_nodes_are_told_by_the_fullest)
{
    struct story s;
    struct strbuf input;
    strbuf_init(&input, STRBUF_NO_MAX);
    for (int i = 0; i < 60; i++)
        strbuf_printf(&input, "---\napiVersion: v1\nkind: Node\nmetadata: {name: n-%d}\nstatus: {capacity: {cpu: '4', memory: 8Gi, pods: '10'}}\n", i);
    for (int i = 0; i < 60; i++)
        strbuf_printf(&input, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p-%d}\nspec: {nodeName: n-%d, containers: [{name: c, "
                              "resources: {requests: {cpu: %dm}}}]}\n", i, i, i * 10);
    start(&s, strbuf_cstr(&input));
    sim_report_text(&s.text, &s.world, 0);
    CHECK(has(&s, "PODS\n  n-59 "));
    CHECK(has(&s, "\n  n-50 "));
    CHECK(!has(&s, "\n  n-49 "));
    CHECK(has(&s, "  ... and 50 nodes that are less full; -o json and --report have all\n  cluster "));
    strbuf_fini(&input);
    finish(&s);
}

TEST(many_owners_are_told_by_the_first)
{
    struct story s;
    struct strbuf input;
    strbuf_init(&input, STRBUF_NO_MAX);
    for (int i = 0; i < 43; i++)
        strbuf_printf(&input, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p-%d}\nspec: {containers: []}\n", i);
    start(&s, strbuf_cstr(&input));
    sim_report_text(&s.text, &s.world, 0);
    CHECK(has(&s, "  default/p-39 "));
    CHECK(!has(&s, "  default/p-40 "));
    CHECK(has(&s, "  ... and 3 pods of 3 more owners; -o wide has all\n"));
    strbuf_fini(&input);
    finish(&s);
}

TEST(long_messages_are_wrapped_between_words)
{
    struct story s;
    start(&s, NODE("n1", "z") POD("p", REQUESTS("9", "99Gi")));
    sim_report_text(&s.text, &s.world, 0);
    CHECK(has(&s, "  default/p  1\n"
                  "      0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory. no new claims to deallocate,\n"
                  "      preemption: 0/1 nodes are available: 1 "));
    finish(&s);
}
