/* Questions about a run: how many copies fit, how many nodes are needed, what differs between two runs. */
#include "sched/remedy.h"
#include "sim/capacity.h"
#include "sim/difference.h"
#include "sim/nodes_needed.h"
#include "tests/unit/what_if_model.h"

enum { CLUSTERS = 60, COPIES_MAX = 60 };

/* ---- Capacity: as many copies as pods of their own ---- */

/* The model with every pod where the run put it; those without a node are not there. */
static void settle(struct model *m, const struct sim_world *w)
{
    for (size_t i = 0; i < w->pods.n; i++) {
        const struct sim_pod *p = &w->pods.at[i];
        int at = model_find_pod(m, p->name), app = -1;
        for (int k = 0; p->owner && k < m->n_apps; k++)
            if (strcmp(strrchr(p->owner, '/') + 1, m->apps[k].name) == 0)
                app = k;
        if (p->node == SIM_NO_NODE) {
            if (at >= 0)
                model_drop_pod(m, at);
            continue;
        }
        const char *node = w->nodes.at[p->node].form->meta.name;
        if (at < 0)
            model_add_pod(m, app, p->name, node);
        else
            set_name(m->pods[at].node, node);
    }
    for (int i = 0; i < m->n_apps; i++) { /* nobody makes any more */
        m->apps[i].given = false;
        m->apps[i].replicas = 0;
    }
}

static uint32_t check_capacity(uint64_t seed)
{
    struct lab l;
    lab_init(&l, NULL);
    struct rand r;
    rand_init(&r, seed);
    struct model m;
    model_draw(&m, &r);
    int app = (int)rand_below(&r, (uint64_t)m.n_apps);
    m.apps[app].cpu_milli = 900 + (int)rand_below(&r, 1500);
    struct sim_input in;
    lab_read_model(&l, &in, &m);
    struct sim_run run;
    lab_run(&l, &run, &in, NULL);
    settle(&m, &run.world);

    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    struct model_pod copy = { .name = "copy", .app = app, .never = true };
    model_print_pod(&m, &copy, &text);
    struct sim_input file;
    sim_input_init(&file, &l.syms);
    const struct pod *pod = NULL;
    const char *name = NULL;
    if (sim_input_text(&file, "copy.yaml", strbuf_str(&text), &l.e) || sim_capacity_pod(&file, &in, &pod, &name, &l.e))
        FAIL("%s", l.e.message);
    CHECK_TEXT("name", name, "Pod default/copy");
    struct sim_capacity c;
    const char *before = lab_outcome(&l, &run.world);
    sim_capacity_init(&c, &run.world, pod, name);
    CHECK_TEXT("the run stays as it was", lab_outcome(&l, &run.world), before);
    pod_unref(&l.syms, pod);

    int n_given = m.n_pods;
    CHECK(c.n_copies < COPIES_MAX);
    for (uint32_t i = 0; i <= c.n_copies; i++) {
        char copy_name[NAME];
        snprintf(copy_name, sizeof(copy_name), "copy%u", i);
        model_add_pod(&m, app, copy_name, "");
        m.pods[m.n_pods - 1].never = true;
    }
    struct sim_input again;
    struct sim_run by_hand;
    lab_read_model(&l, &again, &m);
    lab_run(&l, &by_hand, &again, NULL);
    const char *what = arena_printf(&l.arena, "seed %llu", (unsigned long long)seed);
    CHECK_INT(what, by_hand.world.n_in_state[SIM_PLACED], c.n_copies);
    CHECK_INT(what, by_hand.world.n_in_state[SIM_PENDING], 1);
    uint32_t *on_node = ARENA_NEW_N(&l.arena, uint32_t, by_hand.world.nodes.n);
    for (size_t i = (size_t)n_given; i < by_hand.world.pods.n; i++)
        if (by_hand.world.pods.at[i].node != SIM_NO_NODE)
            on_node[by_hand.world.pods.at[i].node]++;
        else
            CHECK_TEXT(what, c.message, by_hand.world.pods.at[i].message);
    for (size_t i = 0; i < by_hand.world.nodes.n; i++)
        CHECK_INT(what, c.on_node.at[i], on_node[i]);
    CHECK(c.runs_out);
    uint32_t n = c.n_copies;
    sim_run_fini(&by_hand);
    sim_input_fini(&again);
    sim_capacity_fini(&c);
    strbuf_fini(&text);
    sim_input_fini(&file);
    sim_run_fini(&run);
    sim_input_fini(&in);
    lab_fini(&l);
    return n;
}

TEST(as_many_copies_fit_as_pods)
{
    uint32_t n = 0;
    for (uint64_t seed = 0; seed < CLUSTERS; seed++)
        n += check_capacity(seed);
    CHECK(n > CLUSTERS);
}

static const struct {
    const char *what, *message;
    const char *first;
    size_t n;
    uint32_t n_nodes;
} messages[] = {
    { "several", "0/9 nodes are available: 1 node(s) were unschedulable, 3 node(s) had untolerated taint(s), 5 Insufficient cpu. no new "
      "claims to deallocate, preemption: 0/9 nodes are available: 9 Preemption is not helpful for scheduling.", "Insufficient cpu", 3, 5 },
    { "one", "0/2 nodes are available: 2 Too many pods.", "Too many pods", 1, 2 },
    { "commas and dots within", "0/2 nodes are available: 2 Insufficient example.com/a, or b, 1 c.", "Insufficient example.com/a, or b", 2, 2 },
    { "another text", "no nodes available to schedule pods", "no nodes available to schedule pods", 1, 0 },
    { "a text in the place of the list", "0/2 nodes are available: pod has unbound claims.",
      "0/2 nodes are available: pod has unbound claims.", 1, 0 },
};

TEST(reasons_are_taken_apart)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
        struct sim_reason reasons[8];
        size_t n;
        sim_reasons_of(&a, messages[i].message, reasons, 8, &n);
        CHECK_INT(messages[i].what, n, messages[i].n);
        CHECK_TEXT(messages[i].what, reasons[0].text, messages[i].first);
        CHECK_INT(messages[i].what, reasons[0].n_nodes, messages[i].n_nodes);
    }
    arena_fini(&a);
}

static const struct {
    const char *what, *text, *message;
} files[] = {
    { "nothing in it", "", "neither a Pod nor a controller with a template is there" },
    { "only something else", "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n", "neither a Pod nor" },
    { "two", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\n",
      "f, document 2: Pod default/b: a second one" },
};

TEST(a_file_has_one_pod)
{
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct lab l;
        lab_init(&l, NULL);
        struct sim_input in, file;
        sim_input_init(&in, &l.syms);
        sim_input_init(&file, &l.syms);
        const struct pod *pod;
        const char *name;
        CHECK(!sim_input_text(&file, "f", str_of(files[i].text), &l.e));
        CHECK(sim_capacity_pod(&file, &in, &pod, &name, &l.e));
        CHECK_STR(files[i].what, str_first(str_of(l.e.message), strlen(files[i].message)), str_of(files[i].message));
        sim_input_fini(&file);
        sim_input_fini(&in);
        lab_fini(&l);
    }
}

/* A pod that waits for company would come and take the room. */
TEST(what_is_pending_stays_out_of_capacity)
{
    struct lab l;
    lab_init(&l, NULL);
    struct sim_input in, file;
    lab_read(&l, &in, STR("apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {kubernetes.io/hostname: n1}}\nstatus: {capacity: {cpu: '4', "
                          "pods: '10'}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: friend}\nspec: {affinity: {podAffinity: "
                          "{requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {app: x}}, topologyKey: "
                          "kubernetes.io/hostname}]}}, containers: [{name: c, resources: {requests: {cpu: '3'}}}]}\n"));
    sim_input_init(&file, &l.syms);
    CHECK(!sim_input_text(&file, "f", STR("apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {app: x}}\nspec: {containers: [{name: c, "
                                          "resources: {requests: {cpu: '1'}}}]}\n"), &l.e));
    struct sim_run run;
    lab_run(&l, &run, &in, NULL);
    CHECK_INT("waits", run.world.n_in_state[SIM_PENDING], 1);
    const struct pod *pod;
    const char *name;
    CHECK(!sim_capacity_pod(&file, &in, &pod, &name, &l.e));
    struct sim_capacity c;
    sim_capacity_init(&c, &run.world, pod, name);
    CHECK_INT("copies", c.n_copies, 4);
    CHECK_TEXT("what runs out", c.runs_out, "cpu");
    CHECK_INT("still waits", run.world.n_in_state[SIM_PENDING], 1);
    pod_unref(&l.syms, pod);
    sim_capacity_fini(&c);
    sim_run_fini(&run);
    sim_input_fini(&file);
    sim_input_fini(&in);
    lab_fini(&l);
}

TEST(a_controllers_template_counts_with_the_clusters_classes)
{
    struct lab l;
    lab_init(&l, NULL);
    struct sim_input in, file;
    lab_read(&l, &in, STR("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 77\n"));
    sim_input_init(&file, &l.syms);
    CHECK(!sim_input_text(&file, "f", STR("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: shop}\nspec: {selector: {}, "
                                          "template: {metadata: {labels: {app: x}}, spec: {priorityClassName: high, containers: [{name: c, "
                                          "image: i, resources: {limits: {cpu: '2'}}}]}}}\n"), &l.e));
    const struct pod *pod;
    const char *name;
    CHECK(!sim_capacity_pod(&file, &in, &pod, &name, &l.e));
    CHECK_TEXT("name", name, "Deployment shop/d");
    CHECK_INT("priority", pod->priority, 77);
    CHECK_INT("cpu", pod->fit->milli_cpu, 2000);
    CHECK(pod->flags & POD_NEVER_PREEMPTS);
    CHECK_STR("namespace", sym_text(&l.syms, pod->meta.ns), STR("shop"));
    pod_unref(&l.syms, pod);
    sim_input_fini(&file);
    sim_input_fini(&in);
    lab_fini(&l);
}

/* ---- Nodes needed: 0, 1, 2 and so on ---- */

/* Pods of DaemonSets are on a new node first. */
static void add_copies(struct model *m, int node, int n)
{
    for (int i = 1; i <= n; i++) {
        struct model_node copy = m->nodes[node];
        char name[NAME * 2];
        snprintf(copy.name, NAME, "%.40s-copy-%d", m->nodes[node].name, i);
        copy.cordoned = false;
        m->nodes[m->n_nodes++] = copy;
        for (int app = 0; app < m->n_apps; app++) {
            snprintf(name, sizeof(name), "%.20s-on-%.40s", m->apps[app].name, copy.name);
            if (m->apps[app].kind == APP_DAEMON_SET)
                model_add_pod(m, app, name, copy.name);
        }
    }
}

/* `m` has settled: all pods that fit have their node. */
static uint32_t pending_with(struct lab *l, const struct model *m, int node, int n, const char *excused)
{
    struct model more = *m;
    add_copies(&more, node, n);
    struct sim_input in;
    struct sim_run r;
    lab_read_model(l, &in, &more);
    lab_run(l, &r, &in, NULL);
    uint32_t pending = 0;
    for (size_t i = 0; i < r.world.pods.n; i++)
        if (r.world.pods.at[i].state == SIM_PENDING)
            pending += !strstr(excused, arena_printf(&l->arena, " %s ", r.world.pods.at[i].name));
    sim_run_fini(&r);
    sim_input_fini(&in);
    return pending;
}

/* Whether one pod that explain says a new node places is placed by one. */
static void check_explained(struct lab *l, struct sim_run *run, const struct sim_needed *n, const char *what)
{
    uint32_t n_pending = 0;
    bool helped = false;
    for (size_t i = 0; i < run->world.pods.n; i++) {
        const struct sim_pod *p = &run->world.pods.at[i];
        if (p->state != SIM_PENDING)
            continue;
        struct remedies r;
        remedies_find(run->world.sched, p->form, &l->arena, &r);
        for (uint32_t k = 0; k < r.n; k++)
            helped |= r.at[k].kind == REMEDY_ADD_NODE && strcmp(r.at[k].node, n->like) == 0;
        n_pending++;
    }
    if (n_pending == 1 && helped)
        CHECK_INT(what, n->n_nodes, 1);
}

static uint32_t check_needed(uint64_t seed)
{
    struct lab l;
    lab_init(&l, NULL);
    struct rand r;
    rand_init(&r, seed);
    struct model m;
    model_draw(&m, &r);
    for (int i = 0; i < m.n_apps; i++)
        m.apps[i].given = true;
    int app = (int)rand_below(&r, (uint64_t)m.n_apps), node = (int)rand_below(&r, (uint64_t)m.n_nodes);
    if (m.apps[app].kind != APP_DAEMON_SET)
        m.apps[app].replicas = 1 + (int)rand_below(&r, 20);
    struct sim_input in;
    struct sim_run run;
    lab_read_model(&l, &in, &m);
    lab_run(&l, &run, &in, NULL);
    struct sim_needed n;
    if (sim_needed_init(&n, &run, &l.how, m.nodes[node].name, &l.e))
        FAIL("%s", l.e.message);
    const char *what = arena_printf(&l.arena, "seed %llu", (unsigned long long)seed), *excused = " ";
    for (size_t i = 0; i < n.hopeless.n; i++)
        excused = arena_printf(&l.arena, "%s%s ", excused, n.hopeless.at[i].name);
    CHECK_INT(what, n.n_pending_before, lab_settle_model(&l, &m));
    CHECK_INT(what, pending_with(&l, &m, node, (int)n.n_nodes, excused), 0);
    for (uint32_t k = n.n_nodes > NEEDED_SURE ? n.n_nodes - 1 : 0; k < n.n_nodes; k++)
        CHECK(pending_with(&l, &m, node, (int)k, excused) > 0);
    if (n.hopeless.n) /* as many nodes as pods do not help them */
        CHECK_INT(what, pending_with(&l, &m, node, (int)n.n_pending_before, " "), n.hopeless.n);
    check_explained(&l, &run, &n, what);
    uint32_t answer = n.n_nodes;
    sim_needed_fini(&n);
    sim_run_fini(&run);
    sim_input_fini(&in);
    lab_fini(&l);
    return answer;
}

TEST(the_fewest_nodes_are_found)
{
    uint32_t n_helped = 0;
    for (uint64_t seed = 0; seed < CLUSTERS; seed++)
        n_helped += check_needed(seed) > 0;
    CHECK(n_helped > CLUSTERS / 5);
}

/* Nodes n1 (16 cpus) with small pods on it, and one pod of 15 cpus that waits: a second n1 is all that it needs, however
 * much better the small pods would like the new one. */
TEST(pods_that_have_a_node_keep_it)
{
    struct lab l;
    lab_init(&l, NULL);
    struct sim_input in;
    struct sim_run run;
    lab_read(&l, &in, STR(
        "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: '16', memory: 8Gi, pods: '110'}}\n"
        "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: small}\nspec: {replicas: 3, selector: {matchLabels: {app: s}}, "
        "template: {metadata: {labels: {app: s}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 3}}}]}}}\n"
        "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: whale}\nspec: {replicas: 1, selector: {matchLabels: {app: w}}, "
        "template: {metadata: {labels: {app: w}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 15}}}]}}}\n"));
    lab_run(&l, &run, &in, NULL);
    struct sim_needed n;
    CHECK(!sim_needed_init(&n, &run, &l.how, "n1", &l.e));
    CHECK_INT("nodes", n.n_nodes, 1);
    CHECK_INT("hopeless", n.hopeless.n, 0);
    sim_needed_fini(&n);
    sim_run_fini(&run);
    sim_input_fini(&in);
    lab_fini(&l);
}

/* A new node is not all the pod's: the DaemonSet's pod is there first. */
TEST(daemons_are_on_a_new_node_first)
{
    struct lab l;
    lab_init(&l, NULL);
    struct sim_input in;
    struct sim_run run;
    lab_read(&l, &in, STR(
        "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: '4', memory: 8Gi, pods: '110'}}\n"
        "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: log}\nspec: {selector: {matchLabels: {app: s}}, template: "
        "{metadata: {labels: {app: s}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 500m}}}]}}}\n"
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: other}\nspec: {nodeName: n1, containers: [{name: c, image: i, resources: "
        "{requests: {cpu: 1}}}]}\n"
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: whole}\nspec: {containers: [{name: c, image: i, resources: {requests: "
        "{cpu: 4}}}]}\n"));
    lab_run(&l, &run, &in, NULL);
    struct sim_needed n;
    CHECK(!sim_needed_init(&n, &run, &l.how, "n1", &l.e));
    CHECK_INT("nodes", n.n_nodes, 0);
    CHECK_INT("hopeless", n.hopeless.n, 1);
    CHECK_TEXT("hopeless", n.hopeless.at[0].name, "whole");
    struct remedies r;
    remedies_find(run.world.sched, run.world.pods.at[1].form, &l.arena, &r);
    CHECK(r.n > 0); /* explain knows that, too */
    CHECK_TEXT("a node", remedy_text(&r.at[r.n - 1], &l.arena), "add a node like n1 that has 4500m cpu (no node has as much cpu)");
    sim_needed_fini(&n);
    sim_run_fini(&run);
    sim_input_fini(&in);
    lab_fini(&l);
}

TEST(more_of_a_node_that_is_not_there)
{
    struct lab l;
    lab_init(&l, NULL);
    struct sim_input in;
    struct sim_run run;
    sim_input_init(&in, &l.syms);
    lab_run(&l, &run, &in, NULL);
    struct sim_needed n;
    CHECK(sim_needed_init(&n, &run, &l.how, "x", &l.e));
    CHECK_TEXT("message", l.e.message, "no node is named \"x\"");
    sim_needed_fini(&n);
    sim_run_fini(&run);
    sim_input_fini(&in);
    lab_fini(&l);
}

/* ---- Two runs compared ---- */

static const char packing[] =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: default-scheduler\n"
    "  pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      scoringStrategy:\n        type: MostAllocated\n        resources: "
    "[{name: cpu, weight: 1}]\n";

/* Every pod is in both runs: what the difference says must be what the two say. */
static uint32_t check_difference(uint64_t seed)
{
    struct lab l, other;
    lab_init(&l, NULL);
    struct rand r;
    rand_init(&r, seed);
    struct model m;
    model_draw(&m, &r);
    struct sim_input in;
    lab_read_model(&l, &in, &m);
    struct sim_run one, two;
    lab_run(&l, &one, &in, NULL);
    other = l;
    if (setup_from_text(&other.setup, &l.syms, str_of(packing), plugin_registry, &l.e))
        FAIL("%s", l.e.message);
    other.how.setup = &other.setup;
    lab_run(&other, &two, &in, NULL);
    struct sim_difference d;
    sim_difference_init(&d, &one.world, &two.world);
    uint32_t n[N_SIM_SHIFTS] = { 0 };
    CHECK_INT("pods", one.world.pods.n, two.world.pods.n);
    for (size_t i = 0; i < one.world.pods.n; i++) {
        const struct sim_pod *a = &one.world.pods.at[i], *b = &two.world.pods.at[i];
        CHECK_TEXT("name", a->name, b->name);
        n[SIM_NOW_PENDING] += a->state != SIM_PENDING && b->state == SIM_PENDING;
        n[SIM_NOW_PLACED] += a->state == SIM_PENDING && b->state != SIM_PENDING;
        n[SIM_MOVED] += a->node != b->node && a->node != SIM_NO_NODE && b->node != SIM_NO_NODE;
    }
    for (int i = 0; i < N_SIM_SHIFTS; i++)
        CHECK_INT(sim_shift_name((enum sim_shift)i), d.n[i], n[i]);
    int64_t cpu = 0;
    for (size_t i = 0; i < d.nodes.n; i++) {
        CHECK_INT("before", d.nodes.at[i].before.milli_cpu, one.world.nodes.at[i].after.milli_cpu);
        CHECK_INT("after", d.nodes.at[i].after.milli_cpu, two.world.nodes.at[i].after.milli_cpu);
        cpu += d.nodes.at[i].after.milli_cpu;
    }
    CHECK_INT("cluster", d.cluster.after.milli_cpu, cpu);
    for (size_t i = 0; i < d.zones.n; i++)
        cpu -= d.zones.at[i].after.milli_cpu;
    CHECK_INT("zones", cpu, 0);
    uint32_t moved = d.n[SIM_MOVED];
    sim_difference_fini(&d);
    sim_run_fini(&two);
    setup_fini(&other.setup);
    sim_run_fini(&one);
    sim_input_fini(&in);
    lab_fini(&l);
    return moved;
}

TEST(two_configurations_differ_where_they_do)
{
    uint32_t moved = 0;
    for (uint64_t seed = 0; seed < CLUSTERS; seed++)
        moved += check_difference(seed);
    CHECK(moved > CLUSTERS);
}

#define NODE(name) "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name "}\nstatus: {capacity: {cpu: '4', memory: 8Gi, pods: '10'}}\n"
#define POD(name, cpu, rest) "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name "}\nspec: {" rest "containers: [{name: c, image: i, " \
    "resources: {requests: {cpu: '" cpu "'}}}]}\n"
#define DAEMON "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: ds}\nspec: {selector: {matchLabels: {app: x}}, template: " \
    "{metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: i}]}}}\n"

static const struct {
    const char *what, *before, *after;
    uint32_t n[N_SIM_SHIFTS]; /* moved, pending, placed, gone, new, preempted, not preempted */
} shifts[] = {
    { "nothing", NODE("n1") POD("a", "1", ""), NODE("n1") POD("a", "1", ""), { 0 } },
    { "elsewhere", NODE("n1") POD("a", "1", ""), NODE("n2") POD("a", "1", ""), { [SIM_MOVED] = 1 } },
    { "bound instead of placed", NODE("n1") POD("a", "1", ""), NODE("n1") POD("a", "1", "nodeName: n1, "), { 0 } },
    { "no room any more", NODE("n1") POD("a", "1", ""), NODE("n1") POD("a", "5", ""), { [SIM_NOW_PENDING] = 1 } },
    { "room at last", NODE("n1") POD("a", "5", ""), NODE("n1") POD("a", "4", ""), { [SIM_NOW_PLACED] = 1 } },
    { "gone and new", NODE("n1") POD("a", "1", ""), NODE("n1") POD("b", "1", ""), { [SIM_GONE] = 1, [SIM_NEW] = 1 } },
    { "preempted", NODE("n1") POD("a", "3", "nodeName: n1, "), NODE("n1") POD("a", "3", "nodeName: n1, ") POD("b", "3", "priority: 9, "),
      { [SIM_NEW] = 1, [SIM_NOW_PREEMPTED] = 1 } },
    { "not preempted", NODE("n1") POD("a", "3", "nodeName: n1, ") POD("b", "3", "priority: 9, "), NODE("n1") POD("a", "3", "nodeName: n1, "),
      { [SIM_GONE] = 1, [SIM_NOT_PREEMPTED] = 1 } },
    { "a daemon's pods are those of their nodes", NODE("n1") NODE("n2") NODE("n3") DAEMON, NODE("n2") NODE("n3") DAEMON, { [SIM_GONE] = 1 } },
    { "a daemon's pod is pending", NODE("n1") NODE("n2") DAEMON, NODE("n1") NODE("n2") POD("a", "1", "nodeName: n1, hostNetwork: true, ")
      DAEMON, { [SIM_NEW] = 1 } },
};

TEST(shifts_have_names)
{
    for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
        struct lab l;
        lab_init(&l, NULL);
        struct sim_input before, after;
        struct sim_run one, two;
        lab_read(&l, &before, str_of(shifts[i].before));
        lab_read(&l, &after, str_of(shifts[i].after));
        lab_run(&l, &one, &before, NULL);
        lab_run(&l, &two, &after, NULL);
        struct sim_difference d;
        sim_difference_init(&d, &one.world, &two.world);
        for (int k = 0; k < N_SIM_SHIFTS; k++)
            CHECK_INT(arena_printf(&l.arena, "%s: %s", shifts[i].what, sim_shift_name((enum sim_shift)k)), d.n[k], shifts[i].n[k]);
        sim_difference_fini(&d);
        sim_run_fini(&one);
        sim_run_fini(&two);
        sim_input_fini(&before);
        sim_input_fini(&after);
        lab_fini(&l);
    }
}
