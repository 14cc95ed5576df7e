/* tests/unit/random_world.h - random objects for a whole scheduler: nodes with odd capacities, pods of a few dozen shapes.
 *
 * A shape is the part of a pod that its controller would give to all of its pods, so that pods of one shape meet the same
 * classes, memos and columns. Shapes are made at random too, once for a world, in pairs that differ in one thing only. Texts are JSON with ' for ". */
#pragma once

#include <stdlib.h>

#include "base/rand.h"
#include "base/strbuf.h"
#include "config/setup.h"
#include "plugins/plugins.h"
#include "sched/sched.h"
#include "tests/test.h"

enum { N_SHAPES = 40, SHAPE_NODES_MAX = 200 };

/* What the second shape of a pair has that the first has not. */
enum twist { TWIST_NONE, TWIST_PORT, TWIST_BARE_CONTAINER, TWIST_NO_TOLERATION, TWIST_PRIORITY, N_TWISTS };

struct shape {
    const char *spec;   /* members of spec */
    const char *labels; /* of metadata */
    const char *ns;
    int priority;
};

struct random_world {
    struct sym_table *syms;
    struct arena texts; /* of shapes */
    struct arena arena; /* scratch, reset with every object */
    struct rand rand;
    struct str choices; /* of a fuzzer: given out before random numbers, a byte each */
    struct strbuf text;
    struct shape shapes[N_SHAPES];
    enum twist twist;     /* of the shape that is being made */
    unsigned n_nodes;     /* names: node-0 ... */
    unsigned first_node;  /* or from another number on */
    struct err e;
};

/* The seed of a test: from the environment, or its own. */
static inline uint64_t seed_of_test(uint64_t own)
{
    const char *given = getenv("SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : own;
    printf("SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

static inline unsigned below(struct random_world *w, unsigned n)
{
    if (!w->choices.n)
        return (unsigned)rand_below(&w->rand, n);
    unsigned choice = (uint8_t)w->choices.p[0];
    w->choices = str_from(w->choices, 1);
    return (n > 256 ? choice * (n / 256) : choice) % n;
}

static inline bool chance(struct random_world *w, unsigned percent)
{
    return below(w, 100) < percent;
}

#define PICK(w, ...)                                                                       \
    ((const char *const[]){ __VA_ARGS__ }[below(                                           \
        (w), sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))])

/* ---- Shapes ---- */

static inline void add_requests(struct random_world *w)
{
    struct strbuf *b = &w->text;
    const char *cpu = PICK(w, NULL, "0", "100m", "300m", "500m", "1", "3");
    const char *memory = PICK(w, NULL, "0", "128Mi", "1Gi", "3Gi");
    const char *gap = "";
    strbuf_add_text(b, "'resources':{'requests':{");
    if (cpu)
        strbuf_printf(b, "'cpu':'%s'", cpu), gap = ",";
    if (memory)
        strbuf_printf(b, "%s'memory':'%s'", gap, memory), gap = ",";
    if (chance(w, 20))
        strbuf_printf(b, "%s'example.com/gpu':'%u'", gap, below(w, 3)), gap = ",";
    if (chance(w, 10))
        strbuf_printf(b, "%s'hugepages-2Mi':'%uMi'", gap, 2 * below(w, 3)), gap = ",";
    if (chance(w, 15))
        strbuf_printf(b, "%s'ephemeral-storage':'%uGi'", gap, below(w, 4));
    strbuf_add_text(b, "}}");
}

static inline void add_container(struct random_world *w, bool with_ports)
{
    struct strbuf *b = &w->text;
    strbuf_printf(b, "{'name':'c%u','image':'%s',", below(w, 1000), PICK(w, "a:1", "b:1", "c:1", "none:1"));
    add_requests(w);
    if (with_ports && chance(w, 25))
        strbuf_printf(b, ",'ports':[{'containerPort':80,'hostPort':%u%s%s}]", 80 + below(w, 3),
                      PICK(w, "", "", ",'hostIP':'10.0.0.1'"), PICK(w, "", "", ",'protocol':'UDP'"));
    strbuf_add_text(b, "}");
}

static inline void add_node_affinity(struct random_world *w)
{
    struct strbuf *b = &w->text;
    strbuf_add_text(b, "'nodeAffinity':{");
    const char *required =
        PICK(w, NULL, "{'matchExpressions':[{'key':'disk','operator':'In','values':['ssd']}]}",
             "{'matchExpressions':[{'key':'disk','operator':'NotIn','values':['ssd']}]}",
             "{'matchExpressions':[{'key':'cores','operator':'Gt','values':['4']}]}",
             "{'matchExpressions':[{'key':'cores','operator':'Lt','values':['9']}]}",
             "{'matchFields':[{'key':'metadata.name','operator':'In','values':['node-1']}]}",
             "{'matchFields':[{'key':'metadata.name','operator':'NotIn','values':['node-2']}]}",
             "{'matchFields':[{'key':'metadata.name','operator':'In','values':['node-3']}]},"
             "{'matchExpressions':[{'key':'rack','operator':'Exists'}]}");
    if (required)
        strbuf_printf(b, "'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[%s]}", required);
    if (chance(w, 50))
        strbuf_printf(b,
                      "%s'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':%u,'preference':"
                      "{'matchExpressions':[{'key':'%s','operator':'Exists'}]}}]",
                      required ? "," : "", 1 + below(w, 100), PICK(w, "rack", "zone", "disk"));
    strbuf_add_text(b, "}");
}

static inline void add_term(struct random_world *w)
{
    strbuf_printf(&w->text, "{'topologyKey':'%s','labelSelector':%s%s}",
                  PICK(w, "zone", "zone", "kubernetes.io/hostname", "rack", "nowhere"),
                  PICK(w, "{}", "{'matchLabels':{'app':'a'}}", "{'matchLabels':{'app':'b'}}",
                       "{'matchExpressions':[{'key':'app','operator':'In','values':['a','c']}]}",
                       "{'matchExpressions':[{'key':'tier','operator':'DoesNotExist'}]}"),
                  PICK(w, "", "", ",'namespaces':['one','two']", ",'namespaceSelector':{}"));
}

static inline void add_pod_affinity(struct random_world *w, const char *kind)
{
    struct strbuf *b = &w->text;
    bool required = chance(w, 50);
    strbuf_printf(b, "'%s':{", kind);
    if (required) {
        strbuf_add_text(b, "'requiredDuringSchedulingIgnoredDuringExecution':[");
        add_term(w);
        strbuf_add_text(b, "]}");
        return;
    }
    strbuf_printf(b, "'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':%u,'podAffinityTerm':", 1 + below(w, 100));
    add_term(w);
    strbuf_add_text(b, "}]}");
}

static inline void add_affinity(struct random_world *w)
{
    struct strbuf *b = &w->text;
    bool any = false;
    strbuf_add_text(b, ",'affinity':{");
    if (chance(w, 40)) {
        add_node_affinity(w);
        any = true;
    }
    if (chance(w, 25)) {
        strbuf_add_text(b, any ? "," : "");
        add_pod_affinity(w, "podAffinity");
        any = true;
    }
    if (chance(w, 25)) {
        strbuf_add_text(b, any ? "," : "");
        add_pod_affinity(w, "podAntiAffinity");
    }
    strbuf_add_text(b, "}");
}

static inline void add_spread(struct random_world *w)
{
    strbuf_printf(&w->text,
                  ",'topologySpreadConstraints':[{'maxSkew':%u,'topologyKey':'%s','whenUnsatisfiable':'%s',"
                  "'labelSelector':{'matchLabels':{'app':'%s'}}}]",
                  1 + below(w, 3), PICK(w, "zone", "kubernetes.io/hostname", "rack"),
                  PICK(w, "DoNotSchedule", "ScheduleAnyway"), PICK(w, "a", "b"));
}

static inline void add_spec(struct random_world *w)
{
    struct strbuf *b = &w->text;
    strbuf_printf(b, "'schedulerName':'%s','containers':[",
                  PICK(w, "default-scheduler", "default-scheduler", "packer", "sampler", "heavy"));
    add_container(w, true);
    if (chance(w, 30)) {
        strbuf_add_text(b, ",");
        add_container(w, true);
    }
    strbuf_printf(b, ",{'name':'l','image':'a:1','resources':{'requests':{'cpu':'10m','memory':'1Mi'}}%s}",
                  w->twist == TWIST_PORT ? ",'ports':[{'containerPort':80,'hostPort':81}]" : "");
    if (w->twist == TWIST_BARE_CONTAINER) /* asks for nothing, scores with something */
        strbuf_add_text(b, ",{'name':'b','image':'a:1'}");
    strbuf_add_text(b, "]");
    if (chance(w, 20)) {
        strbuf_add_text(b, ",'initContainers':[");
        add_container(w, false);
        strbuf_add_text(b, "]");
    }
    add_affinity(w);
    if (chance(w, 30))
        add_spread(w);
    if (chance(w, 15))
        strbuf_printf(b, ",'nodeSelector':{'disk':'%s'}", PICK(w, "ssd", "hdd"));
    const char *toleration = PICK(w, "", "{'key':'t1','operator':'Exists'}", "{'operator':'Exists'}",
                                  "{'key':'t2','value':'v','effect':'NoSchedule'}",
                                  "{'key':'node.kubernetes.io/unschedulable','operator':'Exists'}");
    strbuf_printf(b, ",'tolerations':[%s]", w->twist == TWIST_NO_TOLERATION ? "" : toleration);
    if (chance(w, 10))
        strbuf_add_text(b, ",'overhead':{'cpu':'50m'}");
    if (chance(w, 10))
        strbuf_add_text(b, ",'preemptionPolicy':'Never'");
    if (chance(w, 10))
        strbuf_printf(b, ",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'%s'}}]", PICK(w, "bound", "late"));
}

static inline void make_shape(struct random_world *w, struct shape *shape)
{
    strbuf_reset(&w->text);
    add_spec(w);
    shape->spec = arena_cstr(&w->texts, strbuf_str(&w->text));
    shape->labels = PICK(w, "", "'app':'a'", "'app':'b'", "'app':'c','tier':'x'", "'app':'a','tier':''");
    shape->ns = PICK(w, "one", "one", "two");
    static const int priorities[] = { 0, 0, 0, 10, 10, 100, -5 };
    shape->priority = priorities[below(w, sizeof(priorities) / sizeof(priorities[0]))];
    if (w->twist == TWIST_PRIORITY)
        shape->priority += 20;
}

/* ---- Objects ---- */

/* What was written to w->text, with proper quotes; lives until the next object. */
static inline struct str world_text(struct random_world *w)
{
    arena_reset(&w->arena);
    char *text = arena_cstr(&w->arena, strbuf_str(&w->text));
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return str_of(text);
}

static inline const char *node_name_of(struct random_world *w, unsigned number)
{
    return arena_printf(&w->texts, "node-%u", w->first_node + number);
}

static inline sym node_sym(struct random_world *w, unsigned number)
{
    char name[24];
    snprintf(name, sizeof(name), "node-%u", w->first_node + number);
    return sym_find(w->syms, str_of(name));
}

static inline void add_node_status(struct random_world *w)
{
    struct strbuf *b = &w->text;
    strbuf_printf(b, "'status':{'allocatable':{'cpu':'%s','pods':'%s'", PICK(w, "0", "1", "2", "4", "4", "8", "8"),
                  PICK(w, "0", "2", "5", "110", "110", "110"));
    if (chance(w, 95))
        strbuf_printf(b, ",'memory':'%s'", PICK(w, "0", "2Gi", "8Gi", "16Gi"));
    if (chance(w, 40))
        strbuf_printf(b, ",'example.com/gpu':'%u'", below(w, 4));
    if (chance(w, 30))
        strbuf_add_text(b, ",'hugepages-2Mi':'8Mi'");
    if (chance(w, 70))
        strbuf_add_text(b, ",'ephemeral-storage':'10Gi'");
    strbuf_add_text(b, "},'images':[");
    if (chance(w, 50))
        strbuf_printf(b, "{'names':['a:1','%s'],'sizeBytes':%u}", PICK(w, "b:1", "c:1", "a:1"), below(w, 5) * 200000000u);
    strbuf_add_text(b, "]}");
}

/* The caller holds the reference. */
static inline const struct node *random_node(struct random_world *w, unsigned number)
{
    struct strbuf *b = &w->text;
    strbuf_reset(b);
    strbuf_printf(b, "{'metadata':{'name':'node-%u','labels':{'kubernetes.io/hostname':'h%u'", w->first_node + number,
                  w->first_node + number);
    if (chance(w, 60))
        strbuf_printf(b, ",'disk':'%s'", PICK(w, "ssd", "hdd"));
    if (chance(w, 85))
        strbuf_printf(b, ",'zone':'%s'", PICK(w, "a", "b", "c"));
    if (chance(w, 70))
        strbuf_printf(b, ",'topology.kubernetes.io/zone':'%s'", PICK(w, "a", "b", "c"));
    if (chance(w, 50))
        strbuf_printf(b, ",'rack':'%s'", PICK(w, "r1", "r2"));
    if (chance(w, 50))
        strbuf_printf(b, ",'cores':'%s'", PICK(w, "2", "8", "16", "many"));
    strbuf_printf(b, "}},'spec':{%s'taints':[", chance(w, 8) ? "'unschedulable':true," : "");
    if (chance(w, 25))
        strbuf_printf(b, "{'key':'%s','value':'v','effect':'%s'}", PICK(w, "t1", "t2"),
                      PICK(w, "NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule"));
    strbuf_add_text(b, "]},");
    add_node_status(w);
    strbuf_add_text(b, "}");
    const struct node *node;
    if (node_decode(w->syms, TYPED_JSON, world_text(w), &node, &w->e))
        FAIL("node: %s", w->e.message);
    return node;
}

struct pod_text {
    const char *name, *uid;
    unsigned version;
    const char *node;      /* NULL: none */
    const char *nominated; /* NULL: none */
    const char *labels;    /* NULL: those of the shape */
    bool terminating, finished, gated;
};

/* The caller holds the reference. */
static inline const struct pod *pod_of_shape(struct random_world *w, const struct shape *shape, const struct pod_text *t)
{
    struct strbuf *b = &w->text;
    strbuf_reset(b);
    strbuf_printf(b, "{'metadata':{'name':'%s','uid':'%s','namespace':'%s','resourceVersion':'%u','labels':{%s}", t->name,
                  t->uid, shape->ns, t->version, t->labels ? t->labels : shape->labels);
    if (t->terminating)
        strbuf_add_text(b, ",'deletionTimestamp':'2020-01-01T00:00:00Z'");
    strbuf_printf(b, "},'spec':{'priority':%d,%s", shape->priority, shape->spec);
    if (t->gated)
        strbuf_add_text(b, ",'schedulingGates':[{'name':'g'}]");
    if (t->node)
        strbuf_printf(b, ",'nodeName':'%s'", t->node);
    strbuf_printf(b, "},'status':{'phase':'%s'", t->finished ? "Succeeded" : "Pending");
    if (t->nominated)
        strbuf_printf(b, ",'nominatedNodeName':'%s'", t->nominated);
    if (t->node && chance(w, 50)) /* some ahead of the wall clock, which passes them */
        strbuf_printf(b, ",'startTime':'2027-01-15T08:0%u:00Z'", (unsigned)rand_below(&w->rand, 10));
    strbuf_add_text(b, "}}");
    const struct pod *pod;
    if (pod_decode(w->syms, TYPED_JSON, world_text(w), &pod, &w->e))
        FAIL("pod: %s\n%s", w->e.message, strbuf_cstr(b));
    return pod;
}

static inline void set_object(struct random_world *w, struct sched *s, enum object_kind kind, const char *json)
{
    const void *form;
    strbuf_reset(&w->text);
    strbuf_add_text(&w->text, json);
    if (object_form_decode(kind, w->syms, TYPED_JSON, world_text(w), &form, &w->e))
        FAIL("object: %s", w->e.message);
    sched_object_set(s, kind, form);
    object_unref(w->syms, kind, form);
}

/* What pods of shapes refer to. */
static inline void set_static_objects(struct random_world *w, struct sched *s)
{
    static const char *const namespaces[] = { "one", "two" };
    for (int i = 0; i < 2; i++) {
        char json[200];
        snprintf(json, sizeof(json), "{'metadata':{'name':'%s','labels':{'team':'t'}}}", namespaces[i]);
        set_object(w, s, OBJECT_NAMESPACE, json);
        snprintf(json, sizeof(json), "{'metadata':{'name':'s','namespace':'%s'},'spec':{'selector':{'app':'a'}}}",
                 namespaces[i]);
        set_object(w, s, OBJECT_SERVICE, json);
        snprintf(json, sizeof(json),
                 "{'metadata':{'name':'bound','namespace':'%s','uid':'b%d','annotations':{"
                 "'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'volumeName':'pv-%d','storageClassName':''}}",
                 namespaces[i], i, i);
        set_object(w, s, OBJECT_PERSISTENT_VOLUME_CLAIM, json);
        snprintf(json, sizeof(json),
                 "{'metadata':{'name':'pv-%d','labels':{'topology.kubernetes.io/zone':'a'}},"
                 "'spec':{'claimRef':{'namespace':'%s','name':'bound','uid':'b%d'}}}",
                 i, namespaces[i], i);
        set_object(w, s, OBJECT_PERSISTENT_VOLUME, json);
        snprintf(json, sizeof(json),
                 "{'metadata':{'name':'late','namespace':'%s','uid':'l%d','resourceVersion':'1'},"
                 "'spec':{'storageClassName':'made','resources':{'requests':{'storage':'1Gi'}}}}",
                 namespaces[i], i);
        set_object(w, s, OBJECT_PERSISTENT_VOLUME_CLAIM, json);
    }
    set_object(w, s, OBJECT_STORAGE_CLASS,
               "{'metadata':{'name':'made'},'provisioner':'p','volumeBindingMode':'WaitForFirstConsumer'}");
}

/* Lets some pods wait at Permit. */
enum { WAITER_MS = 5000 };

static inline struct verdict waiter_permit(const struct plugin_instance *p, struct cycle *c, node_id node,
                                           int64_t *ret_timeout_ms)
{
    (void)p;
    (void)node;
    size_t n = strlen(c->pod->meta.uid);
    *ret_timeout_ms = WAITER_MS;
    return c->pod->meta.uid[n - 1] % 2 ? (struct verdict){ V_WAIT, 0, NULL } : PASS;
}

static const struct plugin waiter_plugin = { .name = "Waiter", .permit = waiter_permit };

/* The built-in plugins and the one above. */
static inline const struct plugin *const *world_registry(void)
{
    static const struct plugin *all[PLUGINS_MAX + 1];
    size_t n = 0;
    for (; plugin_registry[n]; n++)
        all[n] = plugin_registry[n];
    all[n++] = &waiter_plugin;
    all[n] = NULL;
    return all;
}

/* Profiles that differ in strategy, weights and in how many nodes they look at. */
static inline struct str world_config(void)
{
    return str_of("apiVersion: kubescheduler.config.k8s.io/v1\n"
                  "kind: KubeSchedulerConfiguration\n"
                  "percentageOfNodesToScore: 100\n"
                  "leaderElection: {leaderElect: false}\n"
                  "profiles:\n"
                  "- schedulerName: default-scheduler\n"
                  "- schedulerName: packer\n"
                  "  plugins: {multiPoint: {enabled: [{name: Waiter}]}}\n"
                  "  pluginConfig:\n"
                  "  - name: NodeResourcesFit\n"
                  "    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 3},"
                  " {name: example.com/gpu, weight: 5}]}}\n"
                  "- schedulerName: sampler\n"
                  "  percentageOfNodesToScore: 60\n"
                  "- schedulerName: heavy\n"
                  "  plugins:\n"
                  "    multiPoint:\n"
                  "      enabled:\n"
                  "      - {name: NodeResourcesFit, weight: 30000000}\n"
                  "      - {name: NodeResourcesBalancedAllocation, weight: 2}\n"
                  "  pluginConfig:\n"
                  "  - name: NodeResourcesFit\n"
                  "    args: {scoringStrategy: {type: RequestedToCapacityRatio, resources: [{name: cpu, weight: 1},"
                  " {name: memory, weight: 2}], requestedToCapacityRatio: {shape: [{utilization: 0, score: 10},"
                  " {utilization: 100, score: 0}]}}}\n");
}

static inline void random_world_init(struct random_world *w, struct sym_table *syms, uint64_t seed, unsigned n_nodes)
{
    *w = (struct random_world){ .syms = syms, .n_nodes = n_nodes };
    arena_init(&w->texts);
    arena_init(&w->arena);
    err_init(&w->e, &w->texts);
    rand_init(&w->rand, seed);
    strbuf_init(&w->text, STRBUF_NO_MAX);
    for (unsigned i = 0; i < N_SHAPES; i += 2) {
        struct rand before = w->rand;
        w->twist = TWIST_NONE;
        make_shape(w, &w->shapes[i]);
        w->twist = (enum twist)(1 + below(w, N_TWISTS - 1));
        w->rand = before;
        make_shape(w, &w->shapes[i + 1]);
    }
}

static inline void random_world_fini(struct random_world *w)
{
    strbuf_fini(&w->text);
    arena_fini(&w->texts);
    arena_fini(&w->arena);
}
