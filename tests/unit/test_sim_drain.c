/* Drains: who leaves, whom budgets hold back, and round after round as by hand. */
#include "tests/unit/what_if_model.h"

enum { CLUSTERS = 150, ROUNDS_MAX = 50 };

/* ---- By hand, round by round ---- */

static const struct rule {
    const char *text;
    bool is_max, is_percent;
    int number;
} rules[] = {
    { "minAvailable: 1", false, false, 1 },    { "minAvailable: 2", false, false, 2 },
    { "minAvailable: 50%", false, true, 50 },  { "minAvailable: 100%", false, true, 100 },
    { "maxUnavailable: 1", true, false, 1 },   { "maxUnavailable: 0", true, false, 0 },
    { "maxUnavailable: 30%", true, true, 30 }, { "maxUnavailable: 60%", true, true, 60 },
};
enum { N_RULES = sizeof(rules) / sizeof(rules[0]) };

struct hand {
    struct model m;
    int rule[MODEL_BUDGETS];
    int healthy[MODEL_BUDGETS], desired[MODEL_BUDGETS];
    char node[NAME];         /* that is drained */
    bool was_there[MODEL_PODS]; /* by pod: on that node from the beginning */
    const char *blocked;     /* names, with a space behind each */
    int n_evicted, n_rounds;
};

static void draw(struct hand *h, struct rand *r)
{
    *h = (struct hand){ .n_rounds = 0 };
    model_draw(&h->m, r);
    for (int i = 0; i < h->m.n_nodes; i++)
        h->m.nodes[i] = (struct model_node){ .zone = i % 3, .cpu = 60, .pods = 110 };
    for (int i = 0; i < h->m.n_nodes; i++)
        snprintf(h->m.nodes[i].name, NAME, "n%d", i);
    for (int i = 0; i < h->m.n_apps; i++)
        h->m.apps[i].apart = h->m.apps[i].spread = false;
    set_name(h->node, h->m.nodes[rand_below(r, (uint64_t)h->m.n_nodes)].name);
    for (int i = 0; i < h->m.n_pods; i++) /* many on one node, so that there is something to do */
        if (*h->m.pods[i].node && (h->m.pods[i].app < 0 || h->m.apps[h->m.pods[i].app].kind != APP_DAEMON_SET) && chance(r, 50))
            set_name(h->m.pods[i].node, h->node);
    for (int i = 0; i < MODEL_BUDGETS; i++) {
        int app = (int)rand_below(r, (uint64_t)h->m.n_apps), rule = (int)rand_below(r, N_RULES);
        if (h->m.apps[app].kind == APP_DAEMON_SET || h->m.apps[app].kind == APP_JOB)
            continue;
        h->rule[h->m.n_budgets] = rule;
        h->m.budgets[h->m.n_budgets++] = (struct model_budget){ app, rules[rule].text };
    }
    for (int i = 0; i < h->m.n_pods; i++)
        h->was_there[i] = strcmp(h->m.pods[i].node, h->node) == 0;
}

static void count_budget(struct hand *h, int b)
{
    const struct rule *rule = &rules[h->rule[b]];
    int app = h->m.budgets[b].app, replicas = h->m.apps[app].replicas;
    int number = rule->is_percent ? (rule->number * replicas + 99) / 100 : rule->number;
    h->healthy[b] = 0;
    for (int i = 0; i < h->m.n_pods; i++)
        h->healthy[b] += h->m.pods[i].app == app && *h->m.pods[i].node && !h->m.pods[i].not_ready;
    h->desired[b] = !rule->is_max ? number : replicas > number ? replicas - number : 0;
}

/* Whether the pod may leave; the budget knows then. */
static bool may_leave(struct hand *h, const struct model_pod *p)
{
    int found = -1;
    for (int b = 0; b < h->m.n_budgets; b++) {
        if (h->m.budgets[b].app != p->app)
            continue;
        if (found >= 0)
            return false; /* two budgets */
        found = b;
    }
    if (found < 0)
        return true;
    if (p->not_ready && h->healthy[found] >= h->desired[found] && h->desired[found] > 0)
        return true;
    if (h->healthy[found] - 1 < h->desired[found])
        return false;
    h->healthy[found] -= !p->not_ready;
    return true;
}

/* Says whether somebody left. */
static bool evict(struct hand *h, struct arena *a)
{
    int n_evicted = h->n_evicted;
    h->blocked = "";
    for (int b = 0; b < h->m.n_budgets; b++)
        count_budget(h, b);
    bool leaves[MODEL_PODS] = { false };
    for (int i = 0; i < h->m.n_pods; i++) {
        const struct model_pod *p = &h->m.pods[i];
        if (!h->was_there[i] || (p->app >= 0 && h->m.apps[p->app].kind == APP_DAEMON_SET))
            continue;
        leaves[i] = p->app >= 0 && may_leave(h, p);
        if (!leaves[i])
            h->blocked = arena_printf(a, "%s%s ", h->blocked, p->name);
    }
    for (int i = 0, at = 0, n = h->m.n_pods; i < n; i++, at++) {
        if (!leaves[i])
            continue;
        model_remake_pod(&h->m, at);
        memmove(&h->was_there[at], &h->was_there[at + 1], (size_t)(h->m.n_pods - at - 1) * sizeof(bool));
        h->was_there[h->m.n_pods - 1] = false;
        h->n_evicted++;
        at--;
    }
    return h->n_evicted > n_evicted;
}

static void drain_by_hand(struct lab *l, struct hand *h)
{
    h->m.nodes[model_find_node(&h->m, h->node)].cordoned = true;
    bool moved = evict(h, &l->arena);
    h->n_rounds = moved;
    for (int i = 0; i < ROUNDS_MAX; i++) {
        CHECK_INT("pending", lab_settle_model(l, &h->m), 0);
        if (!evict(h, &l->arena))
            return;
        h->n_rounds++;
    }
    FAIL("no end");
}

static bool is_daemon(const struct model *m, int pod)
{
    return m->pods[pod].app >= 0 && m->apps[m->pods[pod].app].kind == APP_DAEMON_SET;
}

static const char *hand_outcome(struct lab *l, const struct model *m)
{
    const char *lines[MODEL_PODS];
    for (int i = 0; i < m->n_pods; i++)
        lines[i] = arena_printf(&l->arena, "default/%s %s 0 ", is_daemon(m, i) ? m->apps[m->pods[i].app].name : m->pods[i].name,
                                m->pods[i].node);
    qsort(lines, (size_t)m->n_pods, sizeof(*lines), compare_lines);
    const char *all = "";
    for (int i = 0; i < m->n_pods; i++)
        all = arena_printf(&l->arena, "%s%s\n", all, lines[i]);
    return all;
}

static uint32_t check_drain(uint64_t seed)
{
    struct lab l;
    lab_init(&l, NULL);
    struct rand r;
    rand_init(&r, seed);
    struct hand h;
    draw(&h, &r);
    struct sim_input in;
    lab_read_model(&l, &in, &h.m);
    struct sim_changes done;
    sim_changes_init(&done, &l.syms, false);
    if (sim_change_apply(&done, &in, &(struct sim_change){ SIM_DRAIN, h.node, 0 }, &l.e))
        FAIL("%s", l.e.message);
    struct sim_run run;
    lab_run(&l, &run, &in, &done.drain);
    drain_by_hand(&l, &h);
    const char *what = arena_printf(&l.arena, "seed %llu", (unsigned long long)seed), *blocked = "";
    for (size_t i = 0; i < run.drain.stays.n; i++)
        blocked = arena_printf(&l.arena, "%s%s ", blocked, run.drain.stays.at[i].name);
    CHECK_TEXT(what, blocked, h.blocked);
    CHECK_INT(what, run.drain.n_evicted, h.n_evicted);
    CHECK_INT(what, run.drain.n_rounds, h.n_rounds);
    CHECK_TEXT(what, lab_outcome(&l, &run.world), hand_outcome(&l, &h.m));
    uint32_t n_rounds = run.drain.n_rounds;
    sim_run_fini(&run);
    sim_changes_fini(&done);
    sim_input_fini(&in);
    lab_fini(&l);
    return n_rounds;
}

TEST(rounds_are_as_by_hand)
{
    uint32_t n_long = 0;
    for (uint64_t seed = 0; seed < CLUSTERS; seed++)
        n_long += check_drain(seed) > 1;
    CHECK(n_long > CLUSTERS / 10); /* or there was nothing to see */
}

/* ---- How many one budget lets go at once: there is no other node, so nobody gets healthy again ---- */

static const struct {
    const char *what, *budget;
    int replicas, ready, not_ready;
    unsigned leave;
} budgets[] = {
    { "no budget", NULL, 5, 5, 0, 5 },
    { "a number must stay", "minAvailable: 2", 5, 5, 0, 3 },
    { "half of them, rounded up", "minAvailable: 50%", 5, 5, 0, 2 },
    { "some may go, rounded up", "maxUnavailable: 30%", 5, 5, 0, 2 },
    { "one may go and lacks already", "maxUnavailable: 1", 5, 4, 0, 0 },
    { "none may go", "maxUnavailable: 0", 5, 5, 0, 0 },
    { "all may go", "maxUnavailable: 1000%", 5, 5, 0, 5 },
    { "none must stay", "minAvailable: 0", 5, 5, 0, 5 },
    { "nothing is said", "unhealthyPodEvictionPolicy: IfHealthyBudget", 5, 5, 0, 5 },
    { "who is not ready may go when enough are", "minAvailable: 2", 3, 2, 1, 1 },
    { "but not when they are not", "minAvailable: 3", 3, 2, 1, 0 },
    { "unless the budget always lets it", "minAvailable: 3, unhealthyPodEvictionPolicy: AlwaysAllow", 3, 2, 1, 1 },
    { "nonsense allows nothing", "minAvailable: ten", 5, 5, 0, 0 },
    { "a percentage of a number of pods that is not given", "minAvailable: 50%", -1, 4, 0, 2 },
};

static void print_pods(struct strbuf *to, int ready, int not_ready)
{
    for (int i = 0; i < ready + not_ready; i++)
        strbuf_printf(to, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%d, labels: {app: x}, ownerReferences: [{apiVersion: apps/v1, "
                          "kind: ReplicaSet, name: r, uid: u, controller: true}]}\nspec: {nodeName: n1, containers: []}\nstatus: {phase: "
                          "Running, conditions: [{type: Ready, status: '%s'}]}\n", i, i < ready ? "True" : "False");
}

TEST(budgets_let_some_go)
{
    for (size_t i = 0; i < sizeof(budgets) / sizeof(budgets[0]); i++) {
        struct lab l;
        lab_init(&l, NULL);
        struct strbuf text;
        strbuf_init(&text, STRBUF_NO_MAX);
        STRBUF_ADD_LIT(&text, "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: '4', pods: '10'}}\n");
        if (budgets[i].replicas >= 0)
            strbuf_printf(&text, "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: r}\nspec: {replicas: %d, selector: "
                                 "{matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, spec: {containers: []}}}\n",
                          budgets[i].replicas);
        if (budgets[i].budget)
            strbuf_printf(&text, "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {%s, selector: "
                                 "{matchLabels: {app: x}}}\n", budgets[i].budget);
        print_pods(&text, budgets[i].ready, budgets[i].not_ready);
        struct sim_input in;
        lab_read(&l, &in, strbuf_str(&text));
        struct sim_changes done;
        sim_changes_init(&done, &l.syms, false);
        CHECK(!sim_change_apply(&done, &in, &(struct sim_change){ SIM_DRAIN, "n1", 0 }, &l.e));
        struct sim_run run;
        lab_run(&l, &run, &in, &done.drain);
        CHECK_INT(budgets[i].what, run.drain.n_evicted, budgets[i].leave);
        CHECK_INT(budgets[i].what, run.drain.stays.n, (unsigned)(budgets[i].ready + budgets[i].not_ready) - budgets[i].leave);
        sim_run_fini(&run);
        sim_changes_fini(&done);
        sim_input_fini(&in);
        strbuf_fini(&text);
        lab_fini(&l);
    }
}

/* ---- Who leaves at all ---- */

#define POD(name, owner, rest) "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", ownerReferences: [" owner "]" rest \
    "}\nspec: {nodeName: n1, containers: []}\n"
#define OWNER(kind) "{apiVersion: v1, kind: " kind ", name: o, uid: u, controller: true}"

static const struct {
    const char *what, *pod;
    bool force;
    unsigned evicted, lost, stays;
} pods[] = {
    { "a replica set's", POD("p", OWNER("ReplicaSet"), ""), false, 1, 0, 0 },
    { "a daemon set's", POD("p", OWNER("DaemonSet"), ""), true, 0, 0, 0 },
    { "a static one", POD("p", OWNER("Node"), ""), true, 0, 0, 0 },
    { "nobody's", POD("p", "", ""), false, 0, 0, 1 },
    { "nobody's, with force", POD("p", "", ""), true, 0, 1, 0 },
    { "one that is being deleted", POD("p", OWNER("ReplicaSet"), ", deletionTimestamp: '2024-01-01T00:00:00Z'"), false, 0, 1, 0 },
    { "a finished one", POD("p", "", "") "status: {phase: Failed}\n", false, 0, 0, 0 },
    { "nobody's, held by a budget", POD("p", "", ", labels: {app: x}") "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: "
      "{name: b}\nspec: {minAvailable: 1, selector: {}}\n", true, 0, 0, 1 },
    { "held by two budgets", POD("p", OWNER("ReplicaSet"), ", labels: {app: x}")
      "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {minAvailable: 0, selector: {}}\n"
      "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: c}\nspec: {minAvailable: 0, selector: {}}\n", false, 0, 0, 1 },
    { "not running yet, for all its budget", POD("p", OWNER("ReplicaSet"), ", labels: {app: x}") "status: {phase: Pending}\n"
      "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {minAvailable: 1, selector: {}}\n", false, 1, 0, 0 },
    { "another namespace's budget", POD("p", OWNER("ReplicaSet"), ", labels: {app: x}")
      "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b, namespace: a}\nspec: {minAvailable: 1, selector: {}}\n",
      false, 1, 0, 0 },
};

TEST(some_pods_leave)
{
    for (size_t i = 0; i < sizeof(pods) / sizeof(pods[0]); i++) {
        struct lab l;
        lab_init(&l, NULL);
        struct sim_input in;
        lab_read(&l, &in, str_of(arena_printf(&l.arena, "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: '4', "
                                              "pods: '10'}}\n%s", pods[i].pod)));
        struct sim_changes done;
        sim_changes_init(&done, &l.syms, pods[i].force);
        CHECK(!sim_change_apply(&done, &in, &(struct sim_change){ SIM_DRAIN, "n1", 0 }, &l.e));
        struct sim_run run;
        lab_run(&l, &run, &in, &done.drain);
        CHECK_INT(pods[i].what, run.drain.n_evicted, pods[i].evicted);
        CHECK_INT(pods[i].what, run.drain.lost.n, pods[i].lost);
        CHECK_INT(pods[i].what, run.drain.stays.n, pods[i].stays);
        sim_run_fini(&run);
        sim_changes_fini(&done);
        sim_input_fini(&in);
        lab_fini(&l);
    }
}

/* A pod of nobody that a budget holds at first is deleted in a later round; the accounts follow. */
TEST(force_deletes_in_later_rounds)
{
    struct lab l;
    lab_init(&l, NULL);
    struct sim_input in;
    lab_read(&l, &in, STR("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: '4', pods: '10'}}\n"
                          "---\napiVersion: v1\nkind: Node\nmetadata: {name: n2}\nstatus: {capacity: {cpu: '4', pods: '10'}}\n"
                          "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {minAvailable: 2, selector: {}}\n"
                          POD("a", OWNER("ReplicaSet"), "") POD("b", OWNER("ReplicaSet"), "") POD("c", "", "")));
    struct sim_changes done;
    sim_changes_init(&done, &l.syms, true);
    CHECK(!sim_change_apply(&done, &in, &(struct sim_change){ SIM_DRAIN, "n1", 0 }, &l.e));
    struct sim_run run;
    lab_run(&l, &run, &in, &done.drain);
    CHECK_INT("rounds", run.drain.n_rounds, 3);
    CHECK_INT("evicted", run.drain.n_evicted, 2);
    CHECK_INT("lost", run.drain.lost.n, 1);
    CHECK_INT("stays", run.drain.stays.n, 0);
    CHECK_INT("pods", run.world.pods.n, 2);
    CHECK_INT("running", run.world.n_in_state[SIM_RUNNING], 0);
    CHECK_INT("placed", run.world.n_in_state[SIM_PLACED], 2);
    CHECK_INT("the drained node", run.world.nodes.at[0].after.pods, 0);
    CHECK_INT("the drained node as if from the beginning", run.world.nodes.at[0].before.pods, 0);
    CHECK_INT("the other node", run.world.nodes.at[1].after.pods, 2);
    sim_run_fini(&run);
    sim_changes_fini(&done);
    sim_input_fini(&in);
    lab_fini(&l);
}
