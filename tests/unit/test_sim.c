/* Simulation: what is read, which pods are made, where they go and why they stay. */
#include "plugins/plugins.h"
#include "sim/expand.h"
#include "sim/report.h"
#include "tests/test.h"

#define NODE(name, rest)                                                                   \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name ", labels: {kubernetes.io/hostname: " name \
    ", topology.kubernetes.io/zone: z-" name "}}\n" rest                                   \
    "status: {capacity: {cpu: '4', memory: 8Gi, pods: '10'}}\n"
#define CONTAINERS(cpu) "containers: [{name: c, image: i, resources: {limits: {cpu: '" cpu "'}}}]"
#define POD(name, spec) "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name "}\nspec: {" spec "}\n"
#define TEMPLATE(spec) "selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, spec: {" spec "}}"
#define OWNED(name, kind, owner, spec)                                                     \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", labels: {pod-template-hash: h1}, ownerReferences: [{apiVersion: v1, " \
    "kind: " kind ", name: " owner ", uid: u, controller: true}]}\nspec: {" spec "}\n"
#define TWO_NODES NODE("n1", "") NODE("n2", "")

struct story {
    struct sim_input in;
    struct sym_table syms;
    struct setup setup;
    struct sim_world world;
    struct err e;
};

/* Whether it went well; otherwise s->e says why. */
static bool open_story(struct story *s, const char *text)
{
    sym_init(&s->syms);
    sim_input_init(&s->in, &s->syms);
    err_init(&s->e, &s->in.arena);
    s->world = (struct sim_world){ .syms = &s->syms };
    if (setup_from_text(&s->setup, &s->syms, (struct str){ NULL, 0 }, plugin_registry, &s->e))
        FAIL("%s", s->e.message);
    return !sim_input_text(&s->in, "file", str_of(text), &s->e) && !sim_input_complete(&s->in, &s->e) &&
           !sim_expand(&s->in, &s->e) && !sim_world_init(&s->world, &s->in, &s->syms, &s->setup, 1, &s->e);
}

static bool start(struct story *s, const char *text)
{
    if (!open_story(s, text))
        return false;
    sim_world_run(&s->world);
    return true;
}

static void finish(struct story *s)
{
    sim_world_fini(&s->world);
    setup_fini(&s->setup);
    sim_input_fini(&s->in);
    sym_fini(&s->syms);
}

static const struct {
    const char *what, *text;
    unsigned running, placed, pending, evicted;
} counts[] = {
    { "nothing at all", "", 0, 0, 0, 0 },
    { "a pod finds room", TWO_NODES POD("p", CONTAINERS("1")), 0, 1, 0, 0 },
    { "limits are requests too", TWO_NODES POD("p", CONTAINERS("5")), 0, 0, 1, 0 },
    { "what runs occupies", NODE("n1", "") POD("a", "nodeName: n1, " CONTAINERS("3")) POD("b", CONTAINERS("2")), 1, 0, 1, 0 },
    { "what is finished does not",
      NODE("n1", "") POD("a", "nodeName: n1, " CONTAINERS("3")) "status: {phase: Succeeded}\n" POD("b", CONTAINERS("2")), 0, 1, 0, 0 },
    { "a pod on a node that is not given is left out", NODE("n1", "") POD("a", "nodeName: gone, " CONTAINERS("3"))
      POD("b", CONTAINERS("1")), 0, 1, 0, 0 },
    { "another scheduler's pod stays", TWO_NODES POD("p", "schedulerName: other, " CONTAINERS("1")), 0, 0, 1, 0 },
    { "a gated pod stays", TWO_NODES POD("p", "schedulingGates: [{name: g}], " CONTAINERS("1")), 0, 0, 1, 0 },
    { "a deployment", TWO_NODES "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 3, "
      TEMPLATE(CONTAINERS("1")) "}\n", 0, 3, 0, 0 },
    { "a deployment without a number wants one pod",
      TWO_NODES "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {" TEMPLATE(CONTAINERS("1")) "}\n", 0, 1, 0, 0 },
    { "a deployment's pods count by their label when the replica set is not given",
      TWO_NODES "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 3, " TEMPLATE(CONTAINERS("1")) "}\n"
      OWNED("d-h1-a", "ReplicaSet", "d-h1", "nodeName: n1, " CONTAINERS("1")), 1, 2, 0, 0 },
    { "a deployment's replica set makes no pods of its own",
      TWO_NODES "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 2, " TEMPLATE(CONTAINERS("1")) "}\n"
      "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: d-h1, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, "
      "name: d, uid: u, controller: true}]}\nspec: {replicas: 2, " TEMPLATE(CONTAINERS("1")) "}\n", 0, 2, 0, 0 },
    { "a replica set whose deployment is not given has its pod",
      TWO_NODES "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: d-h1, ownerReferences: [{apiVersion: apps/v1, kind: "
      "Deployment, name: d, uid: u, controller: true}]}\nspec: {replicas: 2, " TEMPLATE(CONTAINERS("1")) "}\n"
      OWNED("d-h1-a", "ReplicaSet", "d-h1", "nodeName: n1, " CONTAINERS("1")), 1, 1, 0, 0 },
    { "a replica set lacks what is finished",
      TWO_NODES "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: r}\nspec: {replicas: 2, " TEMPLATE(CONTAINERS("1")) "}\n"
      OWNED("r-1", "ReplicaSet", "r", "nodeName: n1, " CONTAINERS("1"))
      OWNED("r-2", "ReplicaSet", "r", "nodeName: n1, " CONTAINERS("1")) "status: {phase: Failed}\n", 1, 1, 0, 0 },
    { "a replication controller", TWO_NODES "---\napiVersion: v1\nkind: ReplicationController\nmetadata: {name: r}\nspec: {replicas: 2, "
      "template: {metadata: {labels: {app: x}}, spec: {" CONTAINERS("1") "}}}\n", 0, 2, 0, 0 },
    { "a stateful set has one of its pods",
      TWO_NODES "---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s}\nspec: {replicas: 3, " TEMPLATE(CONTAINERS("1")) "}\n"
      OWNED("s-1", "StatefulSet", "s", "nodeName: n1, " CONTAINERS("1")), 1, 2, 0, 0 },
    { "a daemon set goes where it may, and not where it is",
      TWO_NODES NODE("n3", "spec: {taints: [{key: k, effect: NoSchedule}]}\n") NODE("n4", "spec: {unschedulable: true}\n")
      "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: ds}\nspec: {" TEMPLATE(CONTAINERS("1")) "}\n"
      OWNED("ds-1", "DaemonSet", "ds", "nodeName: n1, " CONTAINERS("1")), 1, 2, 0, 0 },
    { "a daemon's pod goes to no other node when its own is full",
      TWO_NODES POD("a", "nodeName: n1, " CONTAINERS("4"))
      "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: ds}\nspec: {" TEMPLATE(CONTAINERS("1")) "}\n", 1, 1, 1, 0 },
    { "a job runs a few at once", TWO_NODES "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {parallelism: 3, "
      "completions: 5, " TEMPLATE(CONTAINERS("1")) "}\nstatus: {succeeded: 1}\n", 0, 3, 0, 0 },
    { "a job near its end", TWO_NODES "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {parallelism: 3, "
      "completions: 5, " TEMPLATE(CONTAINERS("1")) "}\nstatus: {succeeded: 4}\n", 0, 1, 0, 0 },
    { "a job that is suspended", TWO_NODES "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {suspend: true, "
      TEMPLATE(CONTAINERS("1")) "}\n", 0, 0, 0, 0 },
    { "a class with priority takes room",
      NODE("n1", "") POD("low", "nodeName: n1, " CONTAINERS("3")) POD("high", "priorityClassName: high, " CONTAINERS("2"))
      "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 100\n", 0, 1, 0, 1 },
    { "a list of lists of JSON",
      "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":["
      "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[]}}]}]}", 0, 0, 1, 0 },
};

TEST(pods_are_made_and_placed)
{
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct story s;
        if (!start(&s, counts[i].text))
            FAIL("%s: %s", counts[i].what, s.e.message);
        CHECK_INT(counts[i].what, s.world.n_in_state[SIM_RUNNING], counts[i].running);
        CHECK_INT(counts[i].what, s.world.n_in_state[SIM_PLACED], counts[i].placed);
        CHECK_INT(counts[i].what, s.world.n_in_state[SIM_PENDING], counts[i].pending);
        CHECK_INT(counts[i].what, s.world.n_in_state[SIM_EVICTED], counts[i].evicted);
        finish(&s);
    }
}

static const struct {
    const char *what, *text, *message;
} reasons[] = {
    { "too big", TWO_NODES POD("p", CONTAINERS("9")), "0/2 nodes are available: 2 Insufficient cpu." },
    { "no such label", TWO_NODES POD("p", "nodeSelector: {a: b}, " CONTAINERS("1")),
      "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector." },
    { "a taint", NODE("n1", "spec: {taints: [{key: k, effect: NoSchedule}]}\n") POD("p", CONTAINERS("1")),
      "0/1 nodes are available: 1 node(s) had untolerated taint(s)." },
    { "no nodes", POD("p", CONTAINERS("1")), "no nodes available to schedule pods" },
    { "no profile", TWO_NODES POD("p", "schedulerName: other, " CONTAINERS("1")),
      "no profile is named \"other\" (spec.schedulerName)" },
    { "a gate", TWO_NODES POD("p", "schedulingGates: [{name: g}], " CONTAINERS("1")), "waits for scheduling gate g" },
};

#define CLAIM(name)                                                                        \
    "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " name "}\nspec: {storageClassName: local, accessModes: " \
    "[ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"
#define CLAIMING(name) POD(name, "volumes: [{name: v, persistentVolumeClaim: {claimName: " name "}}], " CONTAINERS("1"))

/* ---- What an API server makes of them ---- */

#define HOST_POD(name) POD(name, "hostNetwork: true, containers: [{name: c, image: i, ports: [{containerPort: 80}]}]")
#define REPLICAS(n, spec) \
    "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: r}\nspec: {replicas: " n ", " TEMPLATE(spec) "}\n"
#define LIMIT_RANGE(limits) \
    "---\napiVersion: v1\nkind: LimitRange\nmetadata: {name: lr}\nspec: {limits: [{type: Container, " limits "}]}\n"
#define QUOTA(hard, rest) \
    "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {" hard "}}\n" rest
#define RUNTIME_CLASS \
    "---\napiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: kata}\nhandler: h\noverhead: {podFixed: {cpu: '2'}}\n" \
    "scheduling: {nodeSelector: {kubernetes.io/hostname: n2}, tolerations: [{key: k, operator: Exists}]}\n"
#define TEMPLATE_POD(name, ports) "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: " name "}\nspec: {replicas: 3, " \
    TEMPLATE("hostNetwork: true, containers: [{name: c, image: i, ports: [" ports "]}]") "}\n"
#define IMMEDIATE(provisioner) \
    "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: local}\nprovisioner: " provisioner "\n"
#define FREE_VOLUME(name, size) \
    "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: " name "}\nspec: {storageClassName: local, accessModes: " \
    "[ReadWriteOnce], capacity: {storage: " size "}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: " \
    "kubernetes.io/hostname, operator: In, values: [n2]}]}]}}}\n"

static const struct {
    const char *what, *text;
    unsigned placed, pending, refused;
    const char *reason; /* of the first that are refused */
} admissions[] = {
    { "a port in the host's network is the host's", TWO_NODES HOST_POD("a") HOST_POD("b") HOST_POD("c"), 2, 1, 0, NULL },
    { "also of a pod that is made", TWO_NODES TEMPLATE_POD("r", "{containerPort: 80}"), 2, 1, 0, NULL },
    { "but a host port that is given stays", TWO_NODES HOST_POD("a") TEMPLATE_POD("r", "{containerPort: 80, hostPort: 81}"),
      3, 1, 0, NULL },
    { "a LimitRange gives requests", NODE("n1", "") LIMIT_RANGE("defaultRequest: {cpu: '3'}") POD("a", "containers: [{name: c}]")
      POD("b", "containers: [{name: c}]"), 1, 1, 0, NULL },
    { "and to pods that are made", NODE("n1", "") LIMIT_RANGE("max: {cpu: '3'}") REPLICAS("2", "containers: [{name: c}]"), 1, 1, 0,
      NULL },
    { "a LimitRange refuses a pod", NODE("n1", "") LIMIT_RANGE("max: {cpu: '1'}") POD("a", CONTAINERS("2")), 0, 0, 1,
      "maximum cpu usage per Container is 1, but limit is 2" },
    { "and all of a controller", NODE("n1", "") LIMIT_RANGE("min: {cpu: '3'}") REPLICAS("4", CONTAINERS("2")), 0, 0, 4,
      "minimum cpu usage per Container is 3, but request is 2" },
    { "a quota counts pods", NODE("n1", "") QUOTA("pods: '2'", "") REPLICAS("5", "containers: [{name: c}]"), 2, 0, 3,
      "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2" },
    { "also those that are there", NODE("n1", "") QUOTA("pods: '2'", "") POD("a", "nodeName: n1, " CONTAINERS("1"))
      REPLICAS("5", "containers: [{name: c}]"), 1, 0, 4, "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2" },
    { "or what the server has counted", NODE("n1", "") QUOTA("requests.cpu: '5'", "status: {used: {requests.cpu: 3500m}}\n")
      REPLICAS("2", CONTAINERS("1")), 1, 0, 1,
      "exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=4500m, limited: requests.cpu=5" },
    { "a quota wants words", NODE("n1", "") QUOTA("limits.memory: 1Gi", "") REPLICAS("2", CONTAINERS("1")), 0, 0, 2,
      "failed quota: q: must specify limits.memory for: c" },
    { "a RuntimeClass has overhead", NODE("n2", "") RUNTIME_CLASS REPLICAS("2", "runtimeClassName: kata, " CONTAINERS("1")), 1, 1, 0,
      NULL },
    { "and a place", NODE("n1", "") RUNTIME_CLASS POD("a", "runtimeClassName: kata, " CONTAINERS("1")), 0, 1, 0, NULL },
    { "and tolerations", NODE("n2", "spec: {taints: [{key: k, effect: NoSchedule}]}\n") RUNTIME_CLASS
      POD("a", "runtimeClassName: kata, " CONTAINERS("1")), 1, 0, 0, NULL },
    { "and may not be contradicted", NODE("n2", "") RUNTIME_CLASS
      POD("a", "runtimeClassName: kata, nodeSelector: {kubernetes.io/hostname: n1}, " CONTAINERS("1")), 0, 0, 1,
      "conflict: runtimeClass.scheduling.nodeSelector[kubernetes.io/hostname] = n2; "
      "pod.spec.nodeSelector[kubernetes.io/hostname] = n1" },
    { "a class that is not given does not count", NODE("n1", "") POD("a", "runtimeClassName: other, " CONTAINERS("1")), 1, 0, 0, NULL },
    { "a claim of a class that binds at once is provisioned", NODE("n1", "") IMMEDIATE("p") CLAIM("one") CLAIMING("one"), 1, 0, 0,
      NULL },
    { "or gets the volume that is there", NODE("n1", "") IMMEDIATE("p") FREE_VOLUME("v", "1Gi") CLAIM("one") CLAIMING("one"), 0, 1, 0,
      NULL },
    { "unless that is too small", NODE("n1", "") IMMEDIATE("p") FREE_VOLUME("v", "1Mi") CLAIM("one") CLAIMING("one"), 1, 0, 0, NULL },
    { "and waits when nobody makes one", NODE("n1", "") IMMEDIATE("kubernetes.io/no-provisioner") CLAIM("one") CLAIMING("one"), 0, 1, 0,
      NULL },
    { "a name that is to be made, twice", NODE("n1", "")
      "---\napiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\nspec: {" CONTAINERS("1") "}\n"
      "---\napiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\nspec: {" CONTAINERS("1") "}\n", 2, 0, 0, NULL },
    { "a CronJob runs nothing", NODE("n1", "") "---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: j}\nspec: {schedule: '* * "
      "* * *', jobTemplate: {spec: {" TEMPLATE(CONTAINERS("1")) "}}}\n", 0, 0, 0, NULL },
};

TEST(pods_are_what_an_api_server_makes_of_them)
{
    for (size_t i = 0; i < sizeof(admissions) / sizeof(admissions[0]); i++) {
        struct story s;
        if (!start(&s, admissions[i].text))
            FAIL("%s: %s", admissions[i].what, s.e.message);
        unsigned refused = 0;
        for (size_t k = 0; k < s.in.refused.n; k++)
            refused += s.in.refused.at[k].n;
        CHECK_INT(admissions[i].what, s.world.n_in_state[SIM_PLACED], admissions[i].placed);
        CHECK_INT(admissions[i].what, s.world.n_in_state[SIM_PENDING], admissions[i].pending);
        CHECK_INT(admissions[i].what, refused, admissions[i].refused);
        if (admissions[i].reason)
            CHECK_TEXT(admissions[i].what, s.in.refused.at[0].reason, admissions[i].reason);
        finish(&s);
    }
}

static const struct {
    const char *what, *text, *warning;
} warned[] = {
    { "a CronJob", NODE("n1", "") "---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: j}\n",
      "file, document 2: CronJob default/j is left out: no job is started by the clock" },
    { "a class that is not given", NODE("n1", "") POD("a", "runtimeClassName: other, " CONTAINERS("1")),
      "file, document 2: Pod default/a: no RuntimeClass \"other\" is given; its overhead, node selector and tolerations do not count" },
    { "volumes that nobody has seen", NODE("n1", "") IMMEDIATE("p") CLAIM("one") CLAIMING("one"),
      "StorageClass local binds claims at once, before their pods are scheduled (volumeBindingMode Immediate): its new volumes are "
      "taken to be reachable from every node" },
    { "another manifest", NODE("n1", "") NODE("n1", ""), "file, document 2: Node n1 takes the place of the one in file, document 1" },
    { "a pod that runs", NODE("n1", "") "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, uid: u}\nspec: {nodeName: n1, "
      CONTAINERS("1") "}\n" POD("p", CONTAINERS("2")), "file, document 3: Pod default/p is there already, in file, document 2, and "
      "stays as it is" },
};

TEST(what_is_taken_for_granted_is_said)
{
    for (size_t i = 0; i < sizeof(warned) / sizeof(warned[0]); i++) {
        struct story s;
        if (!start(&s, warned[i].text))
            FAIL("%s: %s", warned[i].what, s.e.message);
        CHECK_INT(warned[i].what, s.in.warnings.n, 1);
        CHECK_TEXT(warned[i].what, s.in.warnings.at[0], warned[i].warning);
        finish(&s);
    }
}

/* A Deployment that is applied again with another template is rolled out; what others have filled in stays. */
TEST(a_later_manifest_is_applied)
{
    struct story s;
    CHECK(start(&s, NODE("n1", "")
                "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, uid: u1}\nspec: {replicas: 1, " TEMPLATE(CONTAINERS("1")) "}\n"
                "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: d-h1, ownerReferences: [{apiVersion: apps/v1, kind: "
                "Deployment, name: d, uid: u1, controller: true}]}\nspec: {replicas: 1, " TEMPLATE(CONTAINERS("1")) "}\n"
                OWNED("d-h1-a", "ReplicaSet", "d-h1", "nodeName: n1, " CONTAINERS("1"))
                "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 2, " TEMPLATE(CONTAINERS("2")) "}\n"
                "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {a: b}}\n"));
    CHECK_INT("running", s.world.n_in_state[SIM_RUNNING], 0);
    CHECK_INT("placed", s.world.n_in_state[SIM_PLACED], 2);
    CHECK_INT("cpu of the new template", s.world.nodes.at[0].after.milli_cpu, 4000);
    CHECK_TEXT("uid", sim_input_find(&s.in, "Deployment", "default", "d")->uid, "u1");
    finish(&s);
    CHECK(start(&s, NODE("n1", "")
                "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 1, " TEMPLATE(CONTAINERS("1")) "}\n"
                "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: d-h1, ownerReferences: [{apiVersion: apps/v1, kind: "
                "Deployment, name: d, uid: u1, controller: true}]}\nspec: {replicas: 1, " TEMPLATE(CONTAINERS("1")) "}\n"
                OWNED("d-h1-a", "ReplicaSet", "d-h1", "nodeName: n1, " CONTAINERS("1"))
                "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 3, " TEMPLATE(CONTAINERS("1")) "}\n"));
    CHECK_INT("the same template: who runs stays", s.world.n_in_state[SIM_RUNNING], 1);
    CHECK_INT("and gets company", s.world.n_in_state[SIM_PLACED], 2);
    finish(&s);
}

TEST(pending_pods_say_why)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        struct story s;
        if (!start(&s, reasons[i].text))
            FAIL("%s: %s", reasons[i].what, s.e.message);
        CHECK_INT(reasons[i].what, s.world.pods.n, 1);
        const char *message = s.world.pods.at[0].message;
        CHECK_STR(reasons[i].what, str_first(str_of(message), strlen(reasons[i].message)), str_of(reasons[i].message));
        finish(&s);
    }
}

static const struct {
    const char *what, *text, *message;
} refusals[] = {
    { "all pods on nodes that are not given", POD("p", "nodeName: gone, " CONTAINERS("1")),
      "all 1 pods are on nodes that are not given, so that nothing is left; read the nodes, too" },
    { "no name", "apiVersion: v1\nkind: Pod\n", "file, document 1: Pod without metadata.name" },
    { "a wrong amount", POD("p", "containers: [{name: c, resources: {requests: {cpu: much}}}]"), "file, document 1: " },
    { "too many pods to make", "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: r}\nspec: {replicas: 2000000000, "
      TEMPLATE(CONTAINERS("1")) "}\n",
      "file, document 1: ReplicaSet default/r: more than 1048576 pods would have to be made" },
    { "a controller without a template", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: a}\n",
      "file, document 1: Deployment a/d: spec.template.spec is missing" },
    { "two pods with one uid", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, uid: u}\n---\napiVersion: v1\nkind: Pod\nmetadata: "
      "{name: b, uid: u}\n", "file, document 2: Pod default/b: another pod has its uid" },
};

TEST(bad_input_is_named)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct story s;
        CHECK(!start(&s, refusals[i].text));
        CHECK_STR(refusals[i].what, str_first(str_of(s.e.message), strlen(refusals[i].message)), str_of(refusals[i].message));
        finish(&s);
    }
}

TEST(oddities_are_warned_about)
{
    struct story s;
    CHECK(start(&s, "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n"
                    "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n"
                    POD("p", "nodeName: gone, " CONTAINERS("1")) POD("q", CONTAINERS("1"))));
    CHECK_INT("warnings", s.in.warnings.n, 2);
    CHECK_TEXT("unknown", s.in.warnings.at[0], "file, document 1: Widget of example.com/v1 is not known and left out");
    CHECK_TEXT("no node", s.in.warnings.at[1],
               "file, document 3: Pod default/p is on node \"gone\", which is not given; it is left out");
    CHECK_INT("ignored", s.in.n_ignored, 1);
    finish(&s);
}

TEST(a_stateful_sets_claims_are_made)
{
    struct story s;
    CHECK(start(&s, TWO_NODES
                "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: disk, annotations: "
                "{storageclass.kubernetes.io/is-default-class: 'true'}}\nprovisioner: p\nvolumeBindingMode: WaitForFirstConsumer\n"
                "---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s}\nspec: {replicas: 2, volumeClaimTemplates: "
                "[{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}], "
                TEMPLATE("volumes: [{name: data, emptyDir: {}}], " CONTAINERS("1")) "}\n"));
    CHECK(sim_input_find(&s.in, "PersistentVolumeClaim", "default", "data-s-0"));
    CHECK(sim_input_find(&s.in, "PersistentVolumeClaim", "default", "data-s-1"));
    CHECK_INT("placed", s.world.n_in_state[SIM_PLACED], 2);
    CHECK_INT("the claim in the place of the other volume", s.world.pods.at[0].form->n_volumes, 1);
    finish(&s);
}

TEST(a_volume_is_bound_once)
{
    struct story s;
    CHECK(start(&s, TWO_NODES
                "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: local}\nprovisioner: "
                "kubernetes.io/no-provisioner\nvolumeBindingMode: WaitForFirstConsumer\n"
                "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv}\nspec: {storageClassName: local, accessModes: "
                "[ReadWriteOnce], capacity: {storage: 1Gi}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: "
                "[{key: kubernetes.io/hostname, operator: In, values: [n2]}]}]}}}\n"
                CLAIM("one") CLAIM("two") CLAIMING("one") CLAIMING("two")));
    CHECK_INT("placed", s.world.n_in_state[SIM_PLACED], 1);
    CHECK_INT("pending", s.world.n_in_state[SIM_PENDING], 1);
    CHECK_INT("where the volume is", s.world.pods.at[0].node, 1);
    finish(&s);
}

/* Pods that differ in nothing else: the reasons of one must not be told of the other. */
TEST(equal_pods_fail_in_words_of_their_own)
{
    struct story s;
    CHECK(start(&s, NODE("n1", "") POD("a", CONTAINERS("5")) POD("b", CONTAINERS("5"))
                POD("never", "preemptionPolicy: Never, " CONTAINERS("5")) POD("c", CONTAINERS("5"))));
    const char *plain = "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are "
                        "available: 1 Preemption is not helpful for scheduling.";
    const char *never = "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible "
                        "due to preemptionPolicy=Never.";
    const char *const want[] = { plain, plain, never, plain };
    for (int i = 0; i < 4; i++)
        CHECK_TEXT(s.world.pods.at[i].name, s.world.pods.at[i].message, want[i]);
    finish(&s);
}

/* The preemptor takes n1; what it evicts is made again by its controller, and finds n2 or nothing. */
TEST(a_controller_makes_an_evicted_pod_again)
{
    static const struct {
        const char *name, *others;
        enum sim_state again;
    } cases[] = {
        { "another node has room", "", SIM_PLACED },
        { "there is no room", POD("full", "nodeName: n2, priority: 9, " CONTAINERS("3")), SIM_PENDING },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[4096];
        snprintf(text, sizeof(text), "%s%s%s%s", TWO_NODES,
                 OWNED("low", "ReplicaSet", "rs", "nodeName: n1, " CONTAINERS("3")), cases[i].others,
                 POD("high", "priority: 5, nodeSelector: {kubernetes.io/hostname: n1}, " CONTAINERS("3")));
        struct story s;
        CHECK(start(&s, text));
        CHECK_INT(cases[i].name, s.world.n_in_state[SIM_EVICTED], 1);
        const struct sim_pod *again = vec_last(&s.world.pods);
        CHECK_TEXT(cases[i].name, again->name, "low-again");
        CHECK_INT(cases[i].name, again->state, cases[i].again);
        CHECK_INT(cases[i].name, again->node, again->state == SIM_PLACED ? 1 : SIM_NO_NODE);
        CHECK_INT(cases[i].name, again->message != NULL, again->state == SIM_PENDING);
        finish(&s);
    }
}

/* Whenever the cluster was recorded: the pod without a start time is the younger one. */
TEST(a_pod_without_a_start_time_is_evicted_first)
{
    static const char *const starts[] = { "2001-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2050-01-01T00:00:00Z" };
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        char text[4096];
        snprintf(text, sizeof(text), "%s%sstatus: {startTime: '%s'}\n%s",
                 NODE("n1", "") POD("new", "nodeName: n1, " CONTAINERS("2")), POD("old", "nodeName: n1, " CONTAINERS("2")),
                 starts[i], POD("high", "priority: 5, " CONTAINERS("2")));
        struct story s;
        CHECK(start(&s, text));
        CHECK_INT(starts[i], s.world.pods.at[0].state, SIM_EVICTED);
        CHECK_INT(starts[i], s.world.pods.at[1].state, SIM_RUNNING);
        finish(&s);
    }
}

static void note_promise(void *context, const struct pod *pod)
{
    *(sym *)context = pod->nominated_node;
}

TEST(a_pod_that_made_room_has_its_node_promised)
{
    struct story s;
    CHECK(open_story(&s, NODE("n1", "") POD("low", "nodeName: n1, " CONTAINERS("3")) POD("high", "priority: 5, " CONTAINERS("2"))));
    sym promised = SYM_NONE;
    sched_watch_attempts(s.world.sched, note_promise, &promised);
    sim_world_run(&s.world);
    CHECK_INT("placed", s.world.n_in_state[SIM_PLACED], 1);
    CHECK_INT("the node that its last attempt was promised", promised, s.world.nodes.at[0].form->name);
    finish(&s);
}

/* The claim of two pods is unbound for the first and bound for the second, which therefore follows the volume. */
TEST(a_bound_claim_is_seen_by_the_next_pod)
{
    struct story s;
    CHECK(start(&s, TWO_NODES
                "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: local}\nprovisioner: "
                "kubernetes.io/no-provisioner\nvolumeBindingMode: WaitForFirstConsumer\n"
                "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv}\nspec: {storageClassName: local, accessModes: "
                "[ReadWriteOnce], capacity: {storage: 1Gi}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: "
                "[{key: kubernetes.io/hostname, operator: In, values: [n2]}]}]}}}\n"
                CLAIM("one") CLAIMING("one")
                POD("other", "volumes: [{name: v, persistentVolumeClaim: {claimName: one}}], " CONTAINERS("1"))));
    CHECK_INT("placed", s.world.n_in_state[SIM_PLACED], 2);
    CHECK_INT("where the volume is", s.world.pods.at[1].node, 1);
    sym ns = sym_find(&s.syms, STR("default"));
    const struct objects *objects = sched_objects(s.world.sched);
    const struct pvc *claim = objects_get(objects, OBJECT_PERSISTENT_VOLUME_CLAIM, ns, STR("one"));
    const struct pv *volume = objects_get(objects, OBJECT_PERSISTENT_VOLUME, SYM_EMPTY, STR("pv"));
    CHECK_INT("the claim", claim->phase, PVC_BOUND);
    CHECK_TEXT("the claim's volume", claim->volume_name, "pv");
    CHECK_INT("the volume", volume->phase, PV_BOUND);
    CHECK_TEXT("the volume's claim", volume->claim->name, "one");
    CHECK_INT("the input stays", ((const struct pvc *)sim_input_find(&s.in, "PersistentVolumeClaim", "default", "one")->form)->phase,
              PVC_PENDING);
    finish(&s);
}

TEST(accounts_follow_the_pods)
{
    struct story s;
    CHECK(start(&s, NODE("n1", "") NODE("n2", "spec: {unschedulable: true}\n") POD("low", "nodeName: n1, " CONTAINERS("3"))
                    POD("high", "priority: 5, " CONTAINERS("2")) POD("too", CONTAINERS("4"))));
    const struct sim_node *n = &s.world.nodes.at[0];
    CHECK_INT("before", n->before.milli_cpu, 3000);
    CHECK_INT("after", n->after.milli_cpu, 2000);
    CHECK_INT("pods", n->after.pods, 1);
    struct strbuf names;
    strbuf_init(&names, STRBUF_NO_MAX);
    sim_report_names(&names, &s.world);
    CHECK_STR("names", strbuf_str(&names), STR("default/high n1\ndefault/too -\n"));
    strbuf_reset(&names);
    sim_report_json(&names, &s.world, NULL);
    CHECK(strstr(strbuf_cstr(&names), "\"preempted\":[\n{\"namespace\":\"default\",\"name\":\"low\",\"owner\":null,\"node\":\"n1\","
                                      "\"by\":{\"namespace\":\"default\",\"name\":\"high\"}}]"));
    strbuf_reset(&names);
    sim_report_text(&names, &s.world, 0);
    CHECK(strstr(strbuf_cstr(&names), "default/low on n1, for default/high\n"));
    strbuf_fini(&names);
    finish(&s);
}

/* A what-if: the changed copy is run beside the plain one. */
TEST(a_copy_is_changed_alone)
{
    struct story s;
    CHECK(start(&s, TWO_NODES POD("a", "nodeName: n1, " CONTAINERS("3")) POD("b", "nodeName: n2, " CONTAINERS("3"))
                    POD("c", CONTAINERS("1"))));
    struct sim_input copy;
    sim_input_copy(&copy, &s.in);
    sim_object_set(&copy, sim_input_find(&copy, "Node", "", "n1"), "spec.unschedulable", value_bool(true));
    size_t at = sim_pod_unbind(&copy, sim_input_find(&copy, "Pod", "default", "a"));
    CHECK_INT("tried last", at, copy.objects.n - 1);
    CHECK(sim_input_find(&copy, "Pod", "default", "a") == &copy.objects.at[at]);
    CHECK_INT("unbound", sim_pod_form(&copy.objects.at[at])->node_name, SYM_EMPTY);
    sim_input_remove(&copy, sim_input_find(&copy, "Pod", "default", "b"));
    CHECK(!sim_input_find(&copy, "Pod", "default", "b"));

    struct sim_world w;
    CHECK(!sim_expand(&copy, &s.e));
    CHECK(!sim_world_init(&w, &copy, &s.syms, &s.setup, 1, &s.e));
    sim_world_run(&w);
    CHECK_INT("what-if: the two that are left are on n2", w.nodes.at[1].after.milli_cpu, 4000);
    CHECK_INT("what-if: nothing on n1", w.nodes.at[0].after.pods, 0);
    CHECK_TEXT("what-if: the order", w.pods.at[1].name, "a");
    sim_world_fini(&w);
    sim_input_fini(&copy);
    CHECK_INT("plain: a is on n1 still", sim_pod_form(sim_input_find(&s.in, "Pod", "default", "a"))->node_name,
              sim_node_form(sim_input_find(&s.in, "Node", "", "n1"))->name);
    CHECK_INT("plain", s.world.n_in_state[SIM_RUNNING], 2);
    finish(&s);
}

TEST(a_name_that_was_removed_is_free)
{
    struct story s;
    CHECK(start(&s, TWO_NODES POD("a", CONTAINERS("1"))));
    struct sim_input copy;
    sim_input_copy(&copy, &s.in);
    sim_input_remove(&copy, sim_input_find(&copy, "Node", "", "n1"));
    CHECK(!sim_input_text(&copy, "more", STR(NODE("n1", "")), &s.e));
    CHECK(!sim_input_complete(&copy, &s.e));
    CHECK_TEXT("the new one", sim_input_find(&copy, "Node", "", "n1")->origin, "more, document 1");
    CHECK(!sim_input_text(&copy, "again", STR(NODE("n1", "")), &s.e));
    CHECK_TEXT("the newest one", sim_input_find(&copy, "Node", "", "n1")->origin, "again, document 1");
    sim_input_fini(&copy);
    finish(&s);
}

struct told {
    size_t n, last, total;
};

static void note_progress(void *context, enum sim_phase phase, size_t done, size_t total)
{
    struct told *t = context;
    CHECK_INT("phase", phase, SIM_SCHEDULING);
    CHECK(done >= t->last);
    *t = (struct told){ t->n + 1, done, total };
}

TEST(scheduling_tells_how_far_it_is)
{
    struct story s;
    CHECK(start(&s, TWO_NODES "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 200, "
                    TEMPLATE(CONTAINERS("1")) "}\n"));
    struct told told = { 0 };
    struct sim_world w;
    s.in.progress = (struct sim_progress){ &told, note_progress };
    CHECK(!sim_world_init(&w, &s.in, &s.syms, &s.setup, 1, &s.e));
    sim_world_run(&w);
    CHECK_INT("of", told.total, 200);
    CHECK_INT("over", told.last, 200);
    CHECK(told.n >= 3);
    sim_world_fini(&w);
    finish(&s);
}
