/* tests/unit/what_if_model.h - a small cluster as plain numbers, for doing a change by hand.
 *
 * A model is drawn by lot, printed as manifests and run; a change can be made in the model, which knows nothing of
 * sim/change.c, and the changed model printed and run the same way. Deployments come with their ReplicaSet. */
#pragma once

#include "base/rand.h"
#include "plugins/plugins.h"
#include "sim/change.h"
#include "sim/run.h"
#include "tests/test.h"

enum { MODEL_NODES = 64, MODEL_APPS = 12, MODEL_PODS = 256, MODEL_BUDGETS = 4, NAME = 64 };

enum app_kind { APP_DEPLOYMENT, APP_REPLICA_SET, APP_STATEFUL_SET, APP_DAEMON_SET, APP_JOB, N_APP_KINDS };

struct model_node {
    char name[NAME];
    int zone, cpu, pods;
    bool cordoned, tainted;
};

struct model_app {
    enum app_kind kind;
    char name[NAME];
    int replicas, cpu_milli; /* of a DaemonSet replicas do not count */
    bool tolerates, apart, spread; /* the taint; not two on a node; over zones */
    bool given;   /* false: its pods are there and itself is not */
};

struct model_pod {
    char name[NAME];
    int app;      /* -1: nobody's */
    char node[NAME]; /* "": none */
    bool not_ready;
    bool never;   /* a copy: like the app's, but nobody's and preempts nobody */
};

struct model_budget {
    int app;
    const char *rule; /* "minAvailable: 2" */
};

struct model {
    struct model_node nodes[MODEL_NODES];
    struct model_app apps[MODEL_APPS];
    struct model_pod pods[MODEL_PODS];
    struct model_budget budgets[MODEL_BUDGETS];
    int n_nodes, n_apps, n_pods, n_budgets;
};

/* ---- Drawn by lot ---- */

static inline bool chance(struct rand *r, int percent)
{
    return rand_below(r, 100) < (uint64_t)percent;
}

static inline void set_name(char *to, const char *name)
{
    size_t n = strlen(name);
    CHECK(n < NAME);
    memcpy(to, name, n + 1);
}

static inline void model_add_pod(struct model *m, int app, const char *name, const char *node)
{
    CHECK(m->n_pods < MODEL_PODS);
    struct model_pod *p = &m->pods[m->n_pods++];
    *p = (struct model_pod){ .app = app };
    set_name(p->name, name);
    set_name(p->node, node);
}

static inline void model_draw_pods(struct model *m, struct rand *r, int app)
{
    const struct model_app *a = &m->apps[app];
    int n = a->kind == APP_DAEMON_SET ? m->n_nodes : (int)rand_below(r, (uint64_t)a->replicas + 1);
    for (int i = 0; i < n; i++) {
        char name[NAME * 2];
        snprintf(name, sizeof(name), a->kind == APP_DEPLOYMENT ? "%.40s-h-p%d" : "%.40s-%d", a->name, i);
        const struct model_node *node = a->kind == APP_DAEMON_SET ? &m->nodes[i] : &m->nodes[rand_below(r, (uint64_t)m->n_nodes)];
        model_add_pod(m, app, name, a->kind == APP_DAEMON_SET || chance(r, 80) ? node->name : "");
        m->pods[m->n_pods - 1].not_ready = chance(r, 15);
    }
}

static inline void model_draw(struct model *m, struct rand *r)
{
    *m = (struct model){ .n_nodes = 3 + (int)rand_below(r, 6), .n_apps = 3 + (int)rand_below(r, 4) };
    for (int i = 0; i < m->n_nodes; i++) {
        struct model_node *n = &m->nodes[i];
        *n = (struct model_node){ .zone = i % 3, .cpu = 2 + (int)rand_below(r, 7), .pods = chance(r, 20) ? 8 : 110,
                                  .cordoned = chance(r, 8), .tainted = chance(r, 15) };
        snprintf(n->name, NAME, "n%d", i);
    }
    for (int i = 0; i < m->n_apps; i++) {
        struct model_app *a = &m->apps[i];
        *a = (struct model_app){ .kind = (enum app_kind)rand_below(r, N_APP_KINDS), .replicas = 1 + (int)rand_below(r, 7),
                                 .cpu_milli = 100 + 100 * (int)rand_below(r, 12), .tolerates = chance(r, 30),
                                 .apart = chance(r, 20), .spread = chance(r, 20), .given = true };
        if (a->kind == APP_DAEMON_SET)
            *a = (struct model_app){ .kind = a->kind, .cpu_milli = 100, .tolerates = true, .given = chance(r, 60) };
        snprintf(a->name, NAME, "app%d", i);
        model_draw_pods(m, r, i);
    }
    for (int i = 0, n = (int)rand_below(r, 4); i < n; i++) {
        char name[NAME];
        snprintf(name, sizeof(name), "bare%d", i);
        model_add_pod(m, -1, name, chance(r, 70) ? m->nodes[rand_below(r, (uint64_t)m->n_nodes)].name : "");
    }
}

/* ---- As manifests ---- */

static const char *const app_kinds[N_APP_KINDS] = { "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job" };
static const char *const app_versions[N_APP_KINDS] = { "apps/v1", "apps/v1", "apps/v1", "apps/v1", "batch/v1" };

static inline void model_print_spec(const struct model *m, int app, const struct model_pod *p, struct strbuf *to)
{
    const struct model_app *a = app < 0 ? NULL : &m->apps[app];
    strbuf_printf(to, "{containers: [{name: c, image: i, resources: {requests: {cpu: %dm}}}]", a ? a->cpu_milli : 300);
    if (p && *p->node)
        strbuf_printf(to, ", nodeName: %s", p->node);
    if (p && p->never)
        STRBUF_ADD_LIT(to, ", preemptionPolicy: Never");
    if (a && a->tolerates)
        STRBUF_ADD_LIT(to, ", tolerations: [{key: k, operator: Exists}]");
    if (a && a->apart)
        strbuf_printf(to, ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: "
                          "{matchLabels: {app: %s}}, topologyKey: kubernetes.io/hostname}]}}", a->name);
    if (a && a->spread)
        strbuf_printf(to, ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: "
                          "DoNotSchedule, labelSelector: {matchLabels: {app: %s}}}]", a->name);
    strbuf_add_char(to, '}');
}

static inline void model_print_node(const struct model_node *n, struct strbuf *to)
{
    strbuf_printf(to, "---\napiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {kubernetes.io/hostname: %s, zoned: z%d, "
                      "topology.kubernetes.io/zone: z%d}}\nspec: {unschedulable: %s, taints: [%s]}\n"
                      "status: {capacity: {cpu: '%d', memory: 64Gi, pods: '%d'}}\n",
                  n->name, n->name, n->zone, n->zone, n->cordoned ? "true" : "false",
                  n->tainted ? "{key: k, value: v, effect: NoSchedule}" : "", n->cpu, n->pods);
}

static inline void model_print_app(const struct model *m, int app, struct strbuf *to)
{
    const struct model_app *a = &m->apps[app];
    if (!a->given)
        return;
    for (int set = a->kind == APP_DEPLOYMENT; set >= 0; set--) { /* a Deployment's ReplicaSet first */
        strbuf_printf(to, "---\napiVersion: %s\nkind: %s\nmetadata: {name: %s%s", app_versions[a->kind],
                      set ? "ReplicaSet" : app_kinds[a->kind], a->name, set ? "-h" : "");
        if (set)
            strbuf_printf(to, ", ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: %s, uid: u, controller: true}]",
                          a->name);
        STRBUF_ADD_LIT(to, "}\nspec: {");
        if (a->kind != APP_DAEMON_SET)
            strbuf_printf(to, "%s: %d, ", a->kind == APP_JOB ? "completions: 100, parallelism" : "replicas", a->replicas);
        strbuf_printf(to, "selector: {matchLabels: {app: %s}}, template: {metadata: {labels: {app: %s%s}}, spec: ", a->name, a->name,
                      a->kind == APP_DEPLOYMENT ? ", pod-template-hash: h" : "");
        model_print_spec(m, app, NULL, to);
        STRBUF_ADD_LIT(to, "}}\n");
    }
}

static inline void model_print_pod(const struct model *m, const struct model_pod *p, struct strbuf *to)
{
    const struct model_app *a = p->app < 0 ? NULL : &m->apps[p->app];
    strbuf_printf(to, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s", p->name);
    if (a)
        strbuf_printf(to, ", labels: {app: %s%s}", a->name, a->kind == APP_DEPLOYMENT ? ", pod-template-hash: h" : "");
    if (a && !p->never)
        strbuf_printf(to, ", ownerReferences: [{apiVersion: %s, kind: %s, name: %s%s, uid: u, controller: true}]",
                      app_versions[a->kind], a->kind == APP_DEPLOYMENT ? "ReplicaSet" : app_kinds[a->kind], a->name,
                      a->kind == APP_DEPLOYMENT ? "-h" : "");
    STRBUF_ADD_LIT(to, "}\nspec: ");
    model_print_spec(m, p->app, p, to);
    if (*p->node)
        strbuf_printf(to, "\nstatus: {phase: Running, conditions: [{type: Ready, status: '%s'}]}", p->not_ready ? "False" : "True");
    strbuf_add_char(to, '\n');
}

static inline void model_print(const struct model *m, struct strbuf *to)
{
    for (int i = 0; i < m->n_nodes; i++)
        model_print_node(&m->nodes[i], to);
    for (int i = 0; i < m->n_apps; i++)
        model_print_app(m, i, to);
    for (int i = 0; i < m->n_budgets; i++)
        strbuf_printf(to, "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: budget%d}\nspec: {%s, selector: "
                          "{matchLabels: {app: %s}}}\n", i, m->budgets[i].rule, m->apps[m->budgets[i].app].name);
    for (int i = 0; i < m->n_pods; i++)
        model_print_pod(m, &m->pods[i], to);
}

/* ---- Runs ---- */

struct lab {
    struct arena arena;
    struct sym_table syms;
    struct setup setup;
    struct sim_runner how;
    struct err e;
};

static inline void lab_init(struct lab *l, const char *config)
{
    arena_init(&l->arena);
    err_init(&l->e, &l->arena);
    sym_init(&l->syms);
    if (setup_from_text(&l->setup, &l->syms, str_of(config), plugin_registry, &l->e))
        FAIL("%s", l->e.message);
    l->how = (struct sim_runner){ &l->setup, 1 };
}

static inline void lab_fini(struct lab *l)
{
    setup_fini(&l->setup);
    sym_fini(&l->syms);
    arena_fini(&l->arena);
}

/* The manifests as an input that is complete. */
static inline void lab_read(struct lab *l, struct sim_input *in, struct str text)
{
    sim_input_init(in, &l->syms);
    if (sim_input_text(in, "model", text, &l->e) || sim_input_complete(in, &l->e))
        FAIL("%s\n%.*s", l->e.message, STR_ARG(text));
}

static inline void lab_read_model(struct lab *l, struct sim_input *in, const struct model *m)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    model_print(m, &text);
    lab_read(l, in, strbuf_str(&text));
    strbuf_fini(&text);
}

static inline void lab_run(struct lab *l, struct sim_run *r, const struct sim_input *in, const struct sim_drain *drain)
{
    sim_run_init(r, in, drain);
    if (sim_run_start(r, &l->how, &l->e))
        FAIL("%s", l->e.message);
}

static inline int compare_lines(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A line a pod, sorted: its name (of a DaemonSet's pod, which are named in several ways, its owner's), node, state and
 * message. */
static inline const char *lab_outcome(struct lab *l, const struct sim_world *w)
{
    const char **lines = ARENA_NEW_N(&l->arena, const char *, w->pods.n);
    for (size_t i = 0; i < w->pods.n; i++) {
        const struct sim_pod *p = &w->pods.at[i];
        bool is_daemon = p->owner && strncmp(p->owner, "DaemonSet ", 10) == 0;
        lines[i] = arena_printf(&l->arena, "%s/%s %s %d %s", p->ns, is_daemon ? strrchr(p->owner, '/') + 1 : p->name,
                                p->node == SIM_NO_NODE ? "-" : w->nodes.at[p->node].form->meta.name, p->state == SIM_PENDING,
                                p->state == SIM_PENDING && p->message ? p->message : "");
    }
    if (w->pods.n)
        qsort(lines, w->pods.n, sizeof(*lines), compare_lines);
    struct strbuf all;
    strbuf_init(&all, STRBUF_NO_MAX);
    for (size_t i = 0; i < w->pods.n; i++)
        strbuf_printf(&all, "%s\n", lines[i]);
    const char *text = arena_cstr(&l->arena, strbuf_str(&all));
    strbuf_fini(&all);
    return text;
}

/* What comes out of the model when it is run as it is. */
static inline const char *lab_by_hand(struct lab *l, const struct model *m)
{
    struct sim_input in;
    struct sim_run r;
    lab_read_model(l, &in, m);
    lab_run(l, &r, &in, NULL);
    const char *text = lab_outcome(l, &r.world);
    sim_run_fini(&r);
    sim_input_fini(&in);
    return text;
}

/* ---- By hand ---- */

static inline int model_find_node(const struct model *m, const char *name)
{
    for (int i = 0; i < m->n_nodes; i++)
        if (strcmp(m->nodes[i].name, name) == 0)
            return i;
    return -1;
}

static inline void model_drop_pod(struct model *m, int i)
{
    memmove(&m->pods[i], &m->pods[i + 1], (size_t)(--m->n_pods - i) * sizeof(m->pods[0]));
}

/* Without a node and behind all others. */
static inline void model_remake_pod(struct model *m, int i)
{
    struct model_pod p = m->pods[i];
    p.node[0] = '\0';
    p.not_ready = false;
    model_drop_pod(m, i);
    m->pods[m->n_pods++] = p;
}

static inline int model_find_pod(const struct model *m, const char *name)
{
    for (int i = 0; i < m->n_pods; i++)
        if (strcmp(m->pods[i].name, name) == 0)
            return i;
    return -1;
}

static inline int model_find_app(const struct model *m, const char *owner)
{
    for (int i = 0; i < m->n_apps; i++)
        if (strcmp(strrchr(owner, '/') + 1, m->apps[i].name) == 0)
            return i;
    FAIL("nobody is %s", owner);
}

/* A run of the model; every pod that finds a node has it in the model then, and pods that were made are there. Returns
 * how many wait. */
static inline uint32_t lab_settle_model(struct lab *l, struct model *m)
{
    struct sim_input in;
    struct sim_run r;
    lab_read_model(l, &in, m);
    lab_run(l, &r, &in, NULL);
    for (size_t i = 0; i < r.world.pods.n; i++) {
        const struct sim_pod *p = &r.world.pods.at[i];
        const char *node = p->node == SIM_NO_NODE ? "" : r.world.nodes.at[p->node].form->meta.name;
        int at = model_find_pod(m, p->name);
        if (at < 0) {
            model_add_pod(m, model_find_app(m, p->owner), p->name, node);
        } else if (!*m->pods[at].node && *node) {
            set_name(m->pods[at].node, node);
            m->pods[at].not_ready = false;
        }
    }
    uint32_t n_pending = r.world.n_in_state[SIM_PENDING];
    sim_run_fini(&r);
    sim_input_fini(&in);
    return n_pending;
}
