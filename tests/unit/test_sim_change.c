/* What-if: every change gives what comes out when it is made in the manifests by hand. */
#include "sim/changed.h"
#include "sim/difference.h"
#include "tests/unit/what_if_model.h"

enum { CLUSTERS = 120 };

/* ---- The changes, by hand ---- */

static void hand_cordon(struct model *m, int node)
{
    m->nodes[node].cordoned = true;
}

static bool is_daemon(const struct model *m, const struct model_pod *p)
{
    return p->app >= 0 && m->apps[p->app].kind == APP_DAEMON_SET;
}

static void hand_drain(struct model *m, int node)
{
    hand_cordon(m, node);
    for (int i = 0, n = m->n_pods; n > 0; n--) {
        const struct model_pod *p = &m->pods[i];
        if (strcmp(p->node, m->nodes[node].name) == 0 && p->app >= 0 && !is_daemon(m, p))
            model_remake_pod(m, i);
        else
            i++;
    }
}

static void hand_remove(struct model *m, int node)
{
    char name[NAME];
    snprintf(name, NAME, "%s", m->nodes[node].name);
    memmove(&m->nodes[node], &m->nodes[node + 1], (size_t)(--m->n_nodes - node) * sizeof(m->nodes[0]));
    for (int i = 0, n = m->n_pods; n > 0; n--) {
        const struct model_pod *p = &m->pods[i];
        if (strcmp(p->node, name) != 0)
            i++;
        else if (p->app >= 0 && !is_daemon(m, p))
            model_remake_pod(m, i);
        else
            model_drop_pod(m, i);
    }
}

static void hand_add(struct model *m, int node, int n)
{
    int n_pods = m->n_pods;
    for (int i = 0, number = 1; i < n; i++) {
        struct model_node copy = m->nodes[node];
        do
            snprintf(copy.name, NAME, "%.40s-copy-%d", m->nodes[node].name, number++);
        while (model_find_node(m, copy.name) >= 0);
        copy.cordoned = false;
        m->nodes[m->n_nodes++] = copy;
        for (int k = 0; k < n_pods; k++) { /* those that no DaemonSet makes */
            struct model_pod p = m->pods[k];
            char name[NAME * 3];
            if (!is_daemon(m, &p) || m->apps[p.app].given || strcmp(p.node, m->nodes[node].name) != 0)
                continue;
            snprintf(name, sizeof(name), "%s-%s-copy-1", p.name, copy.name);
            model_add_pod(m, p.app, name, copy.name);
        }
    }
}

/* Which of two pods a controller deletes first: the same order, told another way. */
static bool goes_before(const struct model *m, const struct model_pod *a, const struct model_pod *b)
{
    int on_a = 0, on_b = 0;
    for (int i = 0; i < m->n_pods; i++)
        if (m->pods[i].app == a->app) {
            on_a += strcmp(m->pods[i].node, a->node) == 0;
            on_b += strcmp(m->pods[i].node, b->node) == 0;
        }
    if (!*a->node != !*b->node)
        return !*a->node;
    if (*a->node && a->not_ready != b->not_ready)
        return a->not_ready;
    return on_a != on_b ? on_a > on_b : strcmp(a->name, b->name) < 0;
}

static int hand_count(const struct model *m, int app)
{
    int n = 0;
    for (int i = 0; i < m->n_pods; i++)
        n += m->pods[i].app == app;
    return n;
}

static void hand_scale(struct model *m, int app, int n)
{
    m->apps[app].replicas = n;
    if (m->apps[app].kind == APP_STATEFUL_SET) {
        for (int i = 0; i < m->n_pods;)
            if (m->pods[i].app == app && atoi(strrchr(m->pods[i].name, '-') + 1) >= n)
                model_drop_pod(m, i);
            else
                i++;
        return;
    }
    struct model all = *m; /* pods on a node are counted before any is gone */
    while (hand_count(m, app) > n) {
        int first = -1;
        for (int i = 0; i < m->n_pods; i++)
            if (m->pods[i].app == app && (first < 0 || goes_before(&all, &m->pods[i], &m->pods[first])))
                first = i;
        model_drop_pod(m, first);
    }
}

/* ---- Both ways ---- */

/* One of each kind, drawn by lot; made in the model, too. The text of the name lives in the arena. */
static struct sim_change draw_change(struct lab *l, struct model *m, struct rand *r, enum sim_change_kind kind)
{
    int node = (int)rand_below(r, (uint64_t)m->n_nodes), n = 1 + (int)rand_below(r, 3), app;
    struct sim_change c = { .kind = kind, .name = arena_cstr(&l->arena, str_of(m->nodes[node].name)) };
    switch (kind) {
    case SIM_CORDON:
        hand_cordon(m, node);
        break;
    case SIM_DRAIN:
        hand_drain(m, node);
        break;
    case SIM_DRAIN_SELECTED: {
        int zone = m->nodes[node].zone;
        c.name = arena_printf(&l->arena, "zoned in (z%d)", zone);
        struct model before = *m;
        for (int i = 0; i < m->n_nodes; i++)
            m->nodes[i].cordoned |= m->nodes[i].zone == zone;
        for (int i = 0, k = m->n_pods; k > 0; k--) {
            const struct model_pod *p = &m->pods[i];
            int on = *p->node ? model_find_node(&before, p->node) : -1;
            if (on >= 0 && m->nodes[on].zone == zone && p->app >= 0 && !is_daemon(m, p))
                model_remake_pod(m, i);
            else
                i++;
        }
        break;
    }
    case SIM_REMOVE_NODE:
        hand_remove(m, node);
        break;
    case SIM_ADD_NODES:
        c.n = n;
        hand_add(m, node, n);
        break;
    case SIM_SCALE:
        app = (int)rand_below(r, (uint64_t)m->n_apps);
        while (m->apps[app].kind == APP_DAEMON_SET)
            app = (app + 1) % m->n_apps;
        c.n = (int64_t)rand_below(r, 10);
        c.name = arena_printf(&l->arena, "%s/%s=%lld", app_kinds[m->apps[app].kind], m->apps[app].name, (long long)c.n);
        hand_scale(m, app, (int)c.n);
        break;
    }
    return c;
}

static bool has_scalable(const struct model *m)
{
    for (int i = 0; i < m->n_apps; i++)
        if (m->apps[i].kind != APP_DAEMON_SET)
            return true;
    return false;
}

/* Changes by sim/change.c on one side and in the model on the other. */
static void check_changes(uint64_t seed, const enum sim_change_kind *kinds, int n_kinds)
{
    struct lab l;
    lab_init(&l, NULL);
    struct rand r;
    rand_init(&r, seed);
    struct model m;
    do
        model_draw(&m, &r);
    while (!has_scalable(&m));
    struct sim_input given, changed;
    lab_read_model(&l, &given, &m);
    sim_input_copy(&changed, &given);
    struct sim_changes done;
    sim_changes_init(&done, &l.syms, false);
    for (int i = 0; i < n_kinds; i++) {
        struct sim_change c = draw_change(&l, &m, &r, kinds[i]);
        if (sim_change_apply(&done, &changed, &c, &l.e))
            FAIL("seed %llu: %s", (unsigned long long)seed, l.e.message);
    }
    struct sim_run run;
    lab_run(&l, &run, &changed, &done.drain);
    const char *what = arena_printf(&l.arena, "seed %llu, changes from %d", (unsigned long long)seed, kinds[0]);
    CHECK_TEXT(what, lab_outcome(&l, &run.world), lab_by_hand(&l, &m));
    CHECK(run.drain.n_rounds <= 1 || n_kinds > 1);
    sim_run_fini(&run);
    sim_changes_fini(&done);
    sim_input_fini(&changed);
    sim_input_fini(&given);
    lab_fini(&l);
}

TEST(every_change_is_as_by_hand)
{
    for (uint64_t seed = 0; seed < CLUSTERS; seed++)
        for (enum sim_change_kind kind = SIM_CORDON; kind <= SIM_SCALE; kind++)
            check_changes(seed * 10 + kind, &kind, 1);
}

TEST(changes_combine_in_their_order)
{
    struct rand r;
    rand_init(&r, 7);
    for (uint64_t seed = 0; seed < CLUSTERS; seed++) {
        enum sim_change_kind kinds[3];
        for (int i = 0; i < 3; i++)
            kinds[i] = (enum sim_change_kind)rand_below(&r, SIM_SCALE + 1);
        check_changes(100000 + seed, kinds, 3);
    }
}

/* ---- A cluster that stands ---- */

static bool is_on(const struct sim_world *w, const struct sim_pod *p, const char *node)
{
    return p && p->node != SIM_NO_NODE && strcmp(w->nodes.at[p->node].form->meta.name, node) == 0;
}

/* Nothing has a priority here: what had a node and was not drained stays where it is. */
static void check_quiet(const struct sim_changed *c, const char *drained)
{
    struct sim_difference d;
    sim_difference_init(&d, &c->before.world, &c->after.world);
    for (size_t i = 0; i < d.pods.n; i++)
        if (d.pods.at[i].shift != SIM_NOW_PLACED)
            CHECK(is_on(d.before, d.pods.at[i].before, drained));
    sim_difference_fini(&d);
}

/* New nodes are all alike: which of them got what depends on how many attempts there were before. */
static const char *without_numbers(struct lab *l, const char *outcome)
{
    char *text = arena_cstr(&l->arena, str_of(outcome)), *to = text;
    for (const char *from = text; *from;) {
        bool after_copy = to - text >= 6 && memcmp(to - 6, "-copy-", 6) == 0;
        if (after_copy && *from >= '0' && *from <= '9')
            from++;
        else
            *to++ = *from++;
    }
    *to = '\0';
    return text;
}

/* By hand: the model is run, every pod keeps what it has found, and the change is made to that. */
static void check_settled(uint64_t seed, enum sim_change_kind kind)
{
    struct lab l;
    lab_init(&l, NULL);
    struct rand r;
    rand_init(&r, seed);
    struct model m;
    do
        model_draw(&m, &r);
    while (!has_scalable(&m));
    struct sim_input given;
    lab_read_model(&l, &given, &m);
    lab_settle_model(&l, &m);
    for (int i = 0; i < m.n_apps; i++) /* pods of DaemonSets come with new nodes, before all others */
        m.apps[i].given &= m.apps[i].kind != APP_DAEMON_SET;
    struct sim_change change = draw_change(&l, &m, &r, kind);
    struct sim_changed c;
    if (sim_changed_init(&c, &given, &(struct sim_change_list){ &change, 1, false }, &l.how, &l.e))
        FAIL("seed %llu: %s", (unsigned long long)seed, l.e.message);
    const char *what = arena_printf(&l.arena, "seed %llu, change %d", (unsigned long long)seed, kind);
    CHECK_TEXT(what, without_numbers(&l, lab_outcome(&l, &c.after.world)), without_numbers(&l, lab_by_hand(&l, &m)));
    if (kind == SIM_DRAIN)
        check_quiet(&c, change.name);
    sim_changed_fini(&c);
    sim_input_fini(&given);
    lab_fini(&l);
}

TEST(a_cluster_that_stands_is_changed)
{
    for (uint64_t seed = 0; seed < CLUSTERS; seed++)
        for (enum sim_change_kind kind = SIM_CORDON; kind <= SIM_SCALE; kind++)
            check_settled(500000 + seed * 10 + kind, kind);
}

/* Placed by one run, they are still placed in the next one, and their node's account begins without them. */
TEST(who_was_placed_stays_placed)
{
    struct lab l;
    lab_init(&l, NULL);
    struct rand r;
    rand_init(&r, 3);
    struct model m;
    model_draw(&m, &r);
    struct sim_input given;
    lab_read_model(&l, &given, &m);
    struct sim_changed c;
    CHECK(!sim_changed_init(&c, &given, &(struct sim_change_list){ NULL, 0, false }, &l.how, &l.e));
    CHECK(c.before.world.n_in_state[SIM_PLACED] > 0);
    for (int i = 0; i < N_SIM_STATES; i++)
        CHECK_INT("pods", c.after.world.n_in_state[i], c.before.world.n_in_state[i]);
    for (size_t i = 0; i < c.before.world.nodes.n; i++) {
        const struct sim_node *a = &c.before.world.nodes.at[i], *b = &c.after.world.nodes.at[i];
        CHECK_INT("before", a->before.milli_cpu, b->before.milli_cpu);
        CHECK_INT("after", a->after.milli_cpu, b->after.milli_cpu);
    }
    sim_changed_fini(&c);
    sim_input_fini(&given);
    lab_fini(&l);
}

/* A volume that the first run has bound is taken in the second one. */
TEST(volumes_stay_bound)
{
    struct lab l;
    lab_init(&l, NULL);
    struct sim_input given;
    lab_read(&l, &given, STR(
        "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: '4', memory: 8Gi, pods: '10'}}\n"
        "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: local}\nprovisioner: kubernetes.io/no-provisioner\n"
        "volumeBindingMode: WaitForFirstConsumer\n"
        "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {capacity: {storage: 1Gi}, accessModes: "
        "[ReadWriteOnce], storageClassName: local, hostPath: {path: /x}}\n"
        "---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec: {replicas: 1, selector: {matchLabels: {app: x}}, "
        "template: {metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: i}]}}, volumeClaimTemplates: [{metadata: {name: "
        "data}, spec: {storageClassName: local, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}\n"));
    struct sim_changed c;
    struct sim_change scale = { SIM_SCALE, "sts/db=2", 2 };
    CHECK(!sim_changed_init(&c, &given, &(struct sim_change_list){ &scale, 1, false }, &l.how, &l.e));
    CHECK_INT("placed before", c.before.world.n_in_state[SIM_PLACED], 1);
    CHECK_INT("placed after", c.after.world.n_in_state[SIM_PLACED], 1);
    CHECK_INT("pending after", c.after.world.n_in_state[SIM_PENDING], 1);
    sim_changed_fini(&c);
    sim_input_fini(&given);
    lab_fini(&l);
}

/* Pods that the first run has placed are drained as those that ran before: one at a time here. */
TEST(who_was_placed_is_drained_in_rounds)
{
    struct lab l;
    lab_init(&l, NULL);
    struct sim_input given;
    lab_read(&l, &given, STR(
        "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: '4', memory: 8Gi, pods: '10'}}\n"
        "---\napiVersion: v1\nkind: Node\nmetadata: {name: n2}\nspec: {taints: [{key: k, effect: PreferNoSchedule}]}\n"
        "status: {capacity: {cpu: '4', memory: 8Gi, pods: '10'}}\n"
        "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {maxUnavailable: 1, selector: {matchLabels: "
        "{app: x}}}\n"
        "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web}\nspec: {replicas: 3, selector: {matchLabels: {app: x}}, "
        "template: {metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: i}]}}}\n"));
    struct sim_changed c;
    struct sim_change drain = { SIM_DRAIN, "n1", 0 };
    CHECK(!sim_changed_init(&c, &given, &(struct sim_change_list){ &drain, 1, false }, &l.how, &l.e));
    uint32_t n_there = (uint32_t)c.before.world.nodes.at[0].after.pods;
    CHECK(n_there > 1);
    CHECK_INT("rounds", c.after.drain.n_rounds, n_there);
    CHECK_INT("evicted", c.after.drain.n_evicted, n_there);
    CHECK_INT("stay", c.after.drain.stays.n, 0);
    CHECK_INT("there", c.after.world.nodes.at[0].after.pods, 0);
    sim_changed_fini(&c);
    sim_input_fini(&given);
    lab_fini(&l);
}

/* ---- Details ---- */

#define NODE(name) "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name "}\nstatus: {capacity: {cpu: '4', memory: 8Gi, pods: '10'}}\n"
#define SPEC "{containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]}"
#define DEPLOYMENT(ns, name) "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {namespace: " ns ", name: " name "}\nspec: " \
    "{selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, spec: " SPEC "}}\n"

static const char shop[] =
    NODE("node-1") NODE("node-2") NODE("other")
    DEPLOYMENT("a", "cart") DEPLOYMENT("b", "cart") DEPLOYMENT("b", "basket")
    "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {namespace: a, name: cart-h, ownerReferences: [{apiVersion: apps/v1, kind: "
    "Deployment, name: cart, uid: u, controller: true}]}\nspec: {selector: {matchLabels: {app: x}}, template: {metadata: {labels: "
    "{app: x}}, spec: " SPEC "}}\n";

static const struct {
    const char *what;
    struct sim_change change;
    const char *message;
} refusals[] = {
    { "a node that is not there", { SIM_CORDON, "nowhere-at-all", 0 }, "no node is named \"nowhere-at-all\"" },
    { "a slip of the pen", { SIM_DRAIN, "nod-1", 0 }, "no node is named \"nod-1\"; did you mean node-1?" },
    { "two that are near", { SIM_REMOVE_NODE, "node-12", 0 }, "no node is named \"node-12\"; did you mean node-1, node-2?" },
    { "the like of nothing", { SIM_ADD_NODES, "x", 3 }, "no node is named \"x\"" },
    { "no such labels", { SIM_DRAIN_SELECTED, "pool=old", 0 }, "no node has the labels \"pool=old\"" },
    { "no selector", { SIM_DRAIN_SELECTED, "a in b", 0 }, "--drain -l \"a in b\": " },
    { "two of that name", { SIM_SCALE, "deploy/cart=2", 2 }, "more than one Deployment is named \"cart\": a/cart, b/cart" },
    { "another namespace", { SIM_SCALE, "deploy/c/cart=2", 2 }, "no Deployment is named \"c/cart\"; did you mean a/cart, b/cart?" },
    { "what has no replicas", { SIM_SCALE, "pod/x=2", 2 }, "\"pod\" cannot be scaled: " },
    { "a deployment's own", { SIM_SCALE, "rs/cart-h=2", 2 }, "ReplicaSet a/cart-h belongs to Deployment a/cart, which would undo it" },
};

TEST(wrong_changes_say_what_was_meant)
{
    struct lab l;
    lab_init(&l, NULL);
    struct sim_input in;
    lab_read(&l, &in, str_of(shop));
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct sim_changes done;
        sim_changes_init(&done, &l.syms, false);
        CHECK(sim_change_apply(&done, &in, &refusals[i].change, &l.e));
        CHECK_STR(refusals[i].what, str_first(str_of(l.e.message), strlen(refusals[i].message)), str_of(refusals[i].message));
        sim_changes_fini(&done);
    }
    sim_input_fini(&in);
    lab_fini(&l);
}

/* What an error says stays short however many there are, and so does what it costs to say it. */
TEST(of_many_with_one_name_a_few_are_told)
{
    struct lab l;
    struct sim_input in;
    struct sim_changes done;
    struct strbuf text;
    lab_init(&l, NULL);
    strbuf_init(&text, STRBUF_NO_MAX);
    for (int i = 0; i < 2000; i++)
        strbuf_printf(&text,
                      "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\",\"namespace\":"
                      "\"n%d\"},\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":"
                      "{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\"}]}}}}\n", i);
    lab_read(&l, &in, strbuf_str(&text));
    sim_changes_init(&done, &l.syms, false);
    struct sim_change change = { SIM_SCALE, "deploy/web=2", 2 };
    CHECK(sim_change_apply(&done, &in, &change, &l.e));
    CHECK_TEXT("message", l.e.message,
               "more than one Deployment is named \"web\": n0/web, n1/web, n2/web, n3/web, n4/web, ...");
    sim_changes_fini(&done);
    sim_input_fini(&in);
    strbuf_fini(&text);
    lab_fini(&l);
}

TEST(a_copy_of_a_node_is_a_fresh_machine)
{
    struct lab l;
    lab_init(&l, NULL);
    struct sim_input in;
    lab_read(&l, &in, STR("apiVersion: v1\nkind: Node\nmetadata: {name: m1, uid: u1, labels: {kubernetes.io/hostname: m1, pool: a}}\n"
                          "spec: {unschedulable: true, providerID: cloud/1, podCIDR: 10.0.0.0/24, taints: [{key: "
                          "node.kubernetes.io/unschedulable, effect: NoSchedule}, {key: gpu, effect: NoSchedule}]}\n"
                          "status: {images: [{names: [i], sizeBytes: 5}], allocatable: {cpu: '4', pods: '10'}}\n"
                          NODE("m1-copy-1")
                          "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: m1}\nspec: {drivers: [{name: d, nodeID: x, "
                          "allocatable: {count: 3}}]}\n"));
    if (sim_add_nodes(&in, "m1", 1, &l.e))
        FAIL("%s", l.e.message);
    struct sim_object *o = sim_input_find(&in, "Node", "", "m1-copy-2");
    CHECK(o);
    CHECK(!sim_object_form(&in, o, &l.e));
    const struct node *form = sim_node_form(o);
    CHECK_INT("cordon", form->flags & NODE_UNSCHEDULABLE, 0);
    CHECK_INT("taints", form->n_taints, 1);
    CHECK_INT("images", form->n_images, 0);
    CHECK_INT("cpu", form->allocatable.milli_cpu, 4000);
    CHECK_TEXT("uid", form->meta.uid, "Node m1-copy-2");
    sym host = label_set_get(form->meta.labels, sym_find(&l.syms, STR("kubernetes.io/hostname")));
    CHECK_STR("host name", sym_text(&l.syms, host), STR("m1-copy-2"));
    CHECK_INT("provider", sim_field(o, "spec.providerID")->kind, VALUE_ABSENT);
    CHECK(sim_input_find(&in, "CSINode", "", "m1-copy-2"));
    sim_input_fini(&in);
    lab_fini(&l);
}

TEST(lost_pods_are_told)
{
    struct lab l;
    lab_init(&l, NULL);
    struct sim_input in;
    lab_read(&l, &in, STR(NODE("n1") NODE("n2")
                          "---\napiVersion: v1\nkind: Pod\nmetadata: {name: bare}\nspec: {nodeName: n1, containers: []}\n"
                          "---\napiVersion: v1\nkind: Pod\nmetadata: {name: static, ownerReferences: [{apiVersion: v1, kind: Node, name: n1, "
                          "uid: u, controller: true}]}\nspec: {nodeName: n1, containers: []}\n"
                          "---\napiVersion: v1\nkind: Pod\nmetadata: {name: done}\nspec: {nodeName: n1, containers: []}\nstatus: {phase: "
                          "Succeeded}\n"));
    struct sim_changes done;
    sim_changes_init(&done, &l.syms, false);
    CHECK(!sim_change_apply(&done, &in, &(struct sim_change){ SIM_REMOVE_NODE, "n1", 0 }, &l.e));
    CHECK_INT("lost", done.lost.n, 2);
    CHECK_TEXT("who", done.lost.at[0].name, "bare");
    CHECK_TEXT("why", done.lost.at[0].reason, "it has no controller");
    CHECK_TEXT("why", done.lost.at[1].reason, "it was a static pod of that node");
    sim_changes_fini(&done);
    sim_input_fini(&in);
    lab_fini(&l);
}
