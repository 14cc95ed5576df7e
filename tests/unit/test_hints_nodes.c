/* What wakes a pod that was refused for what nodes are, hold or lack. */
#include "tests/unit/hint_table.h"

/* The pod that waits has the uid x. */
#define POD(uid, meta, spec, status)                                                       \
    "{'metadata':{'name':'" uid "','namespace':'ns','uid':'" uid "'" meta "},'spec':{" spec "},'status':{" status "}}"
#define X(spec) POD("x", "", spec, "")
#define OTHER(spec, status) POD("other", "", spec, status)
#define ON "'nodeName':'n'"
#define PROMISED "'nominatedNodeName':'n'"
#define NODE(labels, spec, status)                                                         \
    "{'metadata':{'name':'n','labels':{" labels "}},'spec':{" spec "},'status':{" status "}}"
#define LABELLED(labels) NODE(labels, "", "")
#define TAINTED(taints) NODE("", "'taints':[" taints "]", "")
#define TAINT(key, effect) "{'key':'" key "','effect':'" effect "'}"
#define CORDONED "'unschedulable':true"
#define TOLERATE(toleration) "'tolerations':[{" toleration "}]"
#define PLAIN NODE("", "", "")

/* ---- SchedulingGates ---- */

#define GATES(gates) "'schedulingGates':[" gates "]"
#define GATE(name) "{'name':'" name "'}"

static const struct hint_row gates_rows[] = {
    { "its own gates are gone", X(GATES(GATE("g"))), RES_POD, X(GATES(GATE("g"))), X(""), QUEUE },
    { "another pod's gates are gone", X(GATES(GATE("g"))), RES_POD, OTHER(GATES(GATE("g")), ""), OTHER("", ""),
      SKIP_IT },
    { "one of two gates is gone", X(GATES(GATE("g"))), RES_POD, X(GATES(GATE("g") "," GATE("h"))), X(GATES(GATE("g"))),
      DEAF },
    { "it got a toleration", X(GATES(GATE("g"))), RES_POD, X(""), X(TOLERATE("'operator':'Exists'")), DEAF },
    { "a node came", X(GATES(GATE("g"))), RES_NODE, NULL, PLAIN, DEAF },
};

TEST(scheduling_gates)
{
    hint_check(&schedulinggates_plugin, NULL, NULL, gates_rows, N_ROWS(gates_rows));
}

/* ---- NodeUnschedulable ---- */

#define CORDON "node.kubernetes.io/unschedulable"

static const struct hint_row unschedulable_rows[] = {
    { "a node came", X(""), RES_NODE, NULL, PLAIN, QUEUE },
    { "a cordoned node came", X(""), RES_NODE, NULL, NODE("", CORDONED, ""), SKIP_IT },
    { "a node was uncordoned", X(""), RES_NODE, NODE("", CORDONED, ""), PLAIN, QUEUE },
    { "a node was uncordoned, and its taint went", X(""), RES_NODE,
      NODE("", CORDONED ",'taints':[" TAINT(CORDON, "NoSchedule") "]", ""), PLAIN, QUEUE },
    { "a node was cordoned", X(""), RES_NODE, PLAIN, NODE("", CORDONED, ""), NO_EVENT },
    { "a node was cordoned, and got its taint", X(""), RES_NODE, PLAIN,
      NODE("", CORDONED ",'taints':[" TAINT(CORDON, "NoSchedule") "]", ""), SKIP_IT },
    { "the taints of a cordoned node changed", X(""), RES_NODE, NODE("", CORDONED, ""),
      NODE("", CORDONED ",'taints':[" TAINT("k", "NoSchedule") "]", ""), SKIP_IT },
    { "the taints of an open node changed", X(""), RES_NODE, TAINTED(TAINT("k", "NoSchedule")), PLAIN, SKIP_IT },
    { "labels of a node changed", X(""), RES_NODE, PLAIN, LABELLED("'a':'b'"), DEAF },
    { "a node went", X(""), RES_NODE, PLAIN, NULL, DEAF },
    { "it tolerates the cordon now", X(""), RES_POD, X(""), X(TOLERATE("'key':'" CORDON "','operator':'Exists'")),
      QUEUE },
    { "it tolerates everything now", X(""), RES_POD, X(""), X(TOLERATE("'operator':'Exists'")), QUEUE },
    { "it tolerates another taint now", X(""), RES_POD, X(""), X(TOLERATE("'key':'k','operator':'Exists'")), SKIP_IT },
    { "it tolerates the cordon, but only for running pods", X(""), RES_POD, X(""),
      X(TOLERATE("'key':'" CORDON "','operator':'Exists','effect':'NoExecute'")), SKIP_IT },
    { "another pod tolerates the cordon now", X(""), RES_POD, OTHER("", ""),
      OTHER(TOLERATE("'key':'" CORDON "','operator':'Exists'"), ""), SKIP_IT },
    { "a pod went", X(""), RES_POD, OTHER(ON, ""), NULL, DEAF },
};

TEST(node_unschedulable)
{
    hint_check(&nodeunschedulable_plugin, NULL, NULL, unschedulable_rows, N_ROWS(unschedulable_rows));
}

/* ---- NodeName ---- */

static const struct hint_row name_rows[] = {
    { "a node came", X(""), RES_NODE, NULL, PLAIN, QUEUE },
    { "taints changed: a new node may have been told of in this way", X(""), RES_NODE,
      TAINTED(TAINT("k", "NoSchedule")), PLAIN, QUEUE },
    { "labels changed", X(""), RES_NODE, PLAIN, LABELLED("'a':'b'"), DEAF },
    { "a node went", X(""), RES_NODE, PLAIN, NULL, DEAF },
};

TEST(node_name)
{
    hint_check(&nodename_plugin, NULL, NULL, name_rows, N_ROWS(name_rows));
}

/* ---- TaintToleration ---- */

#define TOLERANT X(TOLERATE("'key':'ok','operator':'Exists'"))

static const struct hint_row taint_rows[] = {
    { "a node without taints came", TOLERANT, RES_NODE, NULL, PLAIN, QUEUE },
    { "a node with a bad taint came", TOLERANT, RES_NODE, NULL, TAINTED(TAINT("bad", "NoSchedule")), SKIP_IT },
    { "a node with a taint against running pods came", TOLERANT, RES_NODE, NULL, TAINTED(TAINT("bad", "NoExecute")),
      SKIP_IT },
    { "a node with a tolerated taint came", TOLERANT, RES_NODE, NULL, TAINTED(TAINT("ok", "NoSchedule")), QUEUE },
    { "a node with a soft taint came", TOLERANT, RES_NODE, NULL, TAINTED(TAINT("bad", "PreferNoSchedule")), QUEUE },
    { "a bad taint went", TOLERANT, RES_NODE, TAINTED(TAINT("bad", "NoSchedule")), PLAIN, QUEUE },
    { "one of two bad taints went", TOLERANT, RES_NODE,
      TAINTED(TAINT("bad", "NoSchedule") "," TAINT("worse", "NoSchedule")), TAINTED(TAINT("bad", "NoSchedule")),
      SKIP_IT },
    { "a bad taint became a tolerated one", TOLERANT, RES_NODE, TAINTED(TAINT("bad", "NoSchedule")),
      TAINTED(TAINT("ok", "NoSchedule")), QUEUE },
    { "a bad taint became soft", TOLERANT, RES_NODE, TAINTED(TAINT("bad", "NoSchedule")),
      TAINTED(TAINT("bad", "PreferNoSchedule")), QUEUE },
    { "a tolerated taint went: it was no obstacle", TOLERANT, RES_NODE, TAINTED(TAINT("ok", "NoSchedule")), PLAIN,
      SKIP_IT },
    { "a bad taint came", TOLERANT, RES_NODE, PLAIN, TAINTED(TAINT("bad", "NoSchedule")), SKIP_IT },
    { "a node was uncordoned that it could use before", TOLERANT, RES_NODE, NODE("", CORDONED, ""), PLAIN, SKIP_IT },
    { "labels changed", TOLERANT, RES_NODE, PLAIN, LABELLED("'a':'b'"), DEAF },
    { "a node went", TOLERANT, RES_NODE, PLAIN, NULL, DEAF },
    { "it got a toleration", TOLERANT, RES_POD, X(""), TOLERANT, QUEUE },
    { "another pod got a toleration", TOLERANT, RES_POD, OTHER("", ""), OTHER(TOLERATE("'operator':'Exists'"), ""),
      SKIP_IT },
    { "it got a label", TOLERANT, RES_POD, X(""), POD("x", ",'labels':{'a':'b'}", "", ""), DEAF },
};

TEST(taint_toleration)
{
    hint_check(&tainttoleration_plugin, NULL, NULL, taint_rows, N_ROWS(taint_rows));
}

#define AT_MOST_5 X(TOLERATE("'key':'load','operator':'Lt','value':'5'"))
#define LOAD(n) TAINTED("{'key':'load','value':'" n "','effect':'NoSchedule'}")

static const struct hint_row compared_rows[] = {
    { "the value falls below the limit", AT_MOST_5, RES_NODE, LOAD("9"), LOAD("3"), QUEUE },
    { "the value falls, but not enough", AT_MOST_5, RES_NODE, LOAD("9"), LOAD("5"), SKIP_IT },
};
static const struct hint_row not_compared_rows[] = {
    { "without the gate no value is compared", AT_MOST_5, RES_NODE, LOAD("9"), LOAD("3"), SKIP_IT },
};

TEST(tolerations_that_compare_are_behind_a_gate)
{
    struct features on = { .taint_toleration_comparison_operators = true };
    hint_check(&tainttoleration_plugin, NULL, &on, compared_rows, N_ROWS(compared_rows));
    hint_check(&tainttoleration_plugin, NULL, NULL, not_compared_rows, N_ROWS(not_compared_rows));
}

/* ---- NodeAffinity ---- */

#define IN_A X("'nodeSelector':{'zone':'a'}")
#define RULE(key, op, values) "{'key':'" key "','operator':'" op "','values':[" values "]}"
#define REQUIRED(rules)                                                                    \
    "'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[{'matchExpressions':[" rules "]}]}"
#define NOT_A X("'affinity':{'nodeAffinity':{" REQUIRED(RULE("zone", "NotIn", "'a'")) "}}")

static const struct hint_row affinity_rows[] = {
    { "a node of its zone came", IN_A, RES_NODE, NULL, LABELLED("'zone':'a'"), QUEUE },
    { "a node of another zone came", IN_A, RES_NODE, NULL, LABELLED("'zone':'b'"), SKIP_IT },
    { "a node without zone came", IN_A, RES_NODE, NULL, PLAIN, SKIP_IT },
    { "a node came to its zone", IN_A, RES_NODE, LABELLED("'zone':'b'"), LABELLED("'zone':'a'"), QUEUE },
    { "a node got its zone", IN_A, RES_NODE, PLAIN, LABELLED("'zone':'a'"), QUEUE },
    { "a node left its zone", IN_A, RES_NODE, LABELLED("'zone':'a'"), LABELLED("'zone':'b'"), SKIP_IT },
    { "a node of its zone got another label", IN_A, RES_NODE, LABELLED("'zone':'a'"), LABELLED("'zone':'a','x':'y'"),
      SKIP_IT },
    { "a node of another zone got another label", IN_A, RES_NODE, LABELLED("'zone':'b'"),
      LABELLED("'zone':'b','x':'y'"), SKIP_IT },
    { "a node that its affinity allows came", NOT_A, RES_NODE, NULL, LABELLED("'zone':'b'"), QUEUE },
    { "a node that its affinity forbids came", NOT_A, RES_NODE, NULL, LABELLED("'zone':'a'"), SKIP_IT },
    { "a node left the forbidden zone", NOT_A, RES_NODE, LABELLED("'zone':'a'"), PLAIN, QUEUE },
    { "taints changed: a new node may have been told of in this way", IN_A, RES_NODE,
      TAINTED(TAINT("k", "NoSchedule")), PLAIN, QUEUE },
    { "what a node has changed", IN_A, RES_NODE, PLAIN, NODE("", "", "'allocatable':{'cpu':'9'}"), DEAF },
    { "a node went", IN_A, RES_NODE, LABELLED("'zone':'a'"), NULL, DEAF },
};

TEST(node_affinity)
{
    hint_check(&nodeaffinity_plugin, NULL, NULL, affinity_rows, N_ROWS(affinity_rows));
}

static const struct hint_row added_rows[] = {
    { "a node that both allow came", IN_A, RES_NODE, NULL, LABELLED("'zone':'a','pool':'p'"), QUEUE },
    { "a node that only the pod allows came", IN_A, RES_NODE, NULL, LABELLED("'zone':'a'"), SKIP_IT },
    { "a node that only the configuration allows came", IN_A, RES_NODE, NULL, LABELLED("'pool':'p'"), SKIP_IT },
    { "a node of the pool came to its zone", IN_A, RES_NODE, LABELLED("'pool':'p'"), LABELLED("'zone':'a','pool':'p'"),
      QUEUE },
    { "a node that the pod allowed before came to the pool: only the pod's own wish is compared", IN_A, RES_NODE,
      LABELLED("'zone':'a'"), LABELLED("'zone':'a','pool':'p'"), SKIP_IT },
    { "a node of the pool came for a pod without wishes", X(""), RES_NODE, NULL, LABELLED("'pool':'p'"), QUEUE },
    { "another node came for a pod without wishes", X(""), RES_NODE, NULL, PLAIN, SKIP_IT },
};

TEST(node_affinity_of_the_configuration)
{
    struct node_affinity_args args = {
        STR("{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":["
            "{\"matchExpressions\":[{\"key\":\"pool\",\"operator\":\"Exists\"}]}]}}")
    };
    hint_check(&nodeaffinity_plugin, &args, NULL, added_rows, N_ROWS(added_rows));
}

/* ---- NodePorts ---- */

#define PORTS(ports) "'containers':[{'name':'c','ports':[" ports "]}]"
#define PORT(port, more) "{'containerPort':1,'hostPort':" port more "}"
#define WANTS_80 X(PORTS(PORT("80", "")))

static const struct hint_row ports_rows[] = {
    { "the holder of the port went", WANTS_80, RES_POD, OTHER(ON "," PORTS(PORT("80", "")), ""), NULL, QUEUE },
    { "a pod went that was promised the port", WANTS_80, RES_POD, OTHER(PORTS(PORT("80", "")), PROMISED), NULL, QUEUE },
    { "a pod that wanted the port went", WANTS_80, RES_POD, OTHER(PORTS(PORT("80", "")), ""), NULL, SKIP_IT },
    { "the holder of another port went", WANTS_80, RES_POD, OTHER(ON "," PORTS(PORT("81", "")), ""), NULL, SKIP_IT },
    { "the holder of several ports went", WANTS_80, RES_POD, OTHER(ON "," PORTS(PORT("81", "") "," PORT("80", "")), ""),
      NULL, QUEUE },
    { "a pod without host ports went", WANTS_80, RES_POD, OTHER(ON "," PORTS("{'containerPort':80}"), ""), NULL,
      SKIP_IT },
    { "the holder of the port for another protocol went", WANTS_80, RES_POD,
      OTHER(ON "," PORTS(PORT("80", ",'protocol':'UDP'")), ""), NULL, SKIP_IT },
    { "the holder of the port at one address went", WANTS_80, RES_POD,
      OTHER(ON "," PORTS(PORT("80", ",'hostIP':'10.0.0.1'")), ""), NULL, QUEUE },
    { "the holder of all addresses went", X(PORTS(PORT("80", ",'hostIP':'10.0.0.1'"))), RES_POD,
      OTHER(ON "," PORTS(PORT("80", "")), ""), NULL, QUEUE },
    { "the holder of another address went", X(PORTS(PORT("80", ",'hostIP':'10.0.0.1'"))), RES_POD,
      OTHER(ON "," PORTS(PORT("80", ",'hostIP':'10.0.0.2'")), ""), NULL, SKIP_IT },
    { "the second of two ports is freed", X(PORTS(PORT("80", "") "," PORT("90", ""))), RES_POD,
      OTHER(ON "," PORTS(PORT("90", "")), ""), NULL, QUEUE },
    { "a pod came", WANTS_80, RES_POD, NULL, OTHER(ON, ""), DEAF },
    { "a pod changed", WANTS_80, RES_POD, OTHER(ON, ""), POD("other", ",'labels':{'a':'b'}", ON, ""), DEAF },
    { "a node came", WANTS_80, RES_NODE, NULL, PLAIN, QUEUE },
    { "taints changed: a new node may have been told of in this way", WANTS_80, RES_NODE,
      TAINTED(TAINT("k", "NoSchedule")), PLAIN, QUEUE },
    { "labels changed", WANTS_80, RES_NODE, PLAIN, LABELLED("'a':'b'"), DEAF },
};

TEST(node_ports)
{
    hint_check(&nodeports_plugin, NULL, NULL, ports_rows, N_ROWS(ports_rows));
}

/* ---- NodeResourcesFit ---- */

#define WANT(requests) "'containers':[{'name':'c','resources':{'requests':{" requests "}}}]"
#define WANTS(requests) X(WANT(requests))
#define CPU_2 WANTS("'cpu':'2'")
#define GPU "'example.com/gpu'"
#define HOLDS(requests) OTHER(ON "," WANT(requests), "")
#define HAS(amounts) NODE("", "", "'allocatable':{" amounts "}")

static const struct hint_row fit_pod_rows[] = {
    { "a pod left its node", CPU_2, RES_POD, OTHER(ON, ""), NULL, QUEUE },
    { "a pod went that was promised a node", CPU_2, RES_POD, OTHER("", PROMISED), NULL, QUEUE },
    { "a pod went that had no node", CPU_2, RES_POD, OTHER("", ""), NULL, SKIP_IT },
    { "a pod came", CPU_2, RES_POD, NULL, OTHER(ON, ""), DEAF },
    { "it wants less itself", CPU_2, RES_POD, WANTS("'cpu':'3'"), CPU_2, QUEUE },
    { "it wants less of something else itself", CPU_2, RES_POD, WANTS("'cpu':'2','memory':'2Gi'"), CPU_2, QUEUE },
    { "it wants more itself", CPU_2, RES_POD, CPU_2, WANTS("'cpu':'3'"), DEAF },
    { "a pod gave up cpu", CPU_2, RES_POD, HOLDS("'cpu':'2'"), HOLDS("'cpu':'1'"), QUEUE },
    { "a pod gave up all its cpu", CPU_2, RES_POD, HOLDS("'cpu':'2'"), HOLDS(""), QUEUE },
    { "a pod without node wants less cpu", CPU_2, RES_POD, OTHER(WANT("'cpu':'2'"), ""), OTHER(WANT("'cpu':'1'"), ""),
      SKIP_IT },
    { "a pod that is only promised a node wants less cpu", CPU_2, RES_POD, OTHER(WANT("'cpu':'2'"), PROMISED),
      OTHER(WANT("'cpu':'1'"), PROMISED), SKIP_IT },
    { "a pod gave up memory that nobody asked for", CPU_2, RES_POD, HOLDS("'memory':'2Gi'"), HOLDS("'memory':'1Gi'"),
      SKIP_IT },
    { "a pod gave up memory and took cpu", CPU_2, RES_POD, HOLDS("'cpu':'1','memory':'2Gi'"),
      HOLDS("'cpu':'2','memory':'1Gi'"), SKIP_IT },
    { "a pod gave up memory", WANTS("'memory':'1Gi'"), RES_POD, HOLDS("'memory':'2Gi'"), HOLDS("'memory':'1Gi'"),
      QUEUE },
    { "a pod gave up disk", WANTS("'ephemeral-storage':'1Gi'"), RES_POD, HOLDS("'ephemeral-storage':'2Gi'"),
      HOLDS("'ephemeral-storage':'1Gi'"), QUEUE },
    { "a pod gave up disk that nobody asked for", CPU_2, RES_POD, HOLDS("'ephemeral-storage':'2Gi'"),
      HOLDS("'ephemeral-storage':'1Gi'"), SKIP_IT },
    { "a pod gave up a device", WANTS(GPU ":'1'"), RES_POD, HOLDS(GPU ":'2'"), HOLDS(GPU ":'1'"), QUEUE },
    { "a pod gave up its only device", WANTS(GPU ":'1'"), RES_POD, HOLDS(GPU ":'1'"), HOLDS(""), QUEUE },
    { "a pod gave up another device", WANTS("'example.com/fpga':'1'"), RES_POD, HOLDS(GPU ":'2'"), HOLDS(GPU ":'1'"),
      SKIP_IT },
    { "a pod gave up a device of which it wants none", WANTS("'cpu':'2'," GPU ":'0'"), RES_POD, HOLDS(GPU ":'2'"),
      HOLDS(GPU ":'1'"), SKIP_IT },
    { "labels of a pod changed", CPU_2, RES_POD, OTHER(ON, ""), POD("other", ",'labels':{'a':'b'}", ON, ""), DEAF },
};

static const struct hint_row fit_node_rows[] = {
    { "a node came that is just large enough", CPU_2, RES_NODE, NULL, HAS("'cpu':'2','pods':'1'"), QUEUE },
    { "a node came with too little cpu", CPU_2, RES_NODE, NULL, HAS("'cpu':'1999m','pods':'9'"), SKIP_IT },
    { "a node came that takes no pods", CPU_2, RES_NODE, NULL, HAS("'cpu':'9','pods':'0'"), SKIP_IT },
    { "a node came with too little memory", WANTS("'memory':'2Gi'"), RES_NODE, NULL,
      HAS("'cpu':'9','memory':'1Gi','pods':'9'"), SKIP_IT },
    { "a node came with just enough memory", WANTS("'memory':'2Gi'"), RES_NODE, NULL, HAS("'memory':'2Gi','pods':'9'"),
      QUEUE },
    { "a node came with too little disk", WANTS("'ephemeral-storage':'2Gi'"), RES_NODE, NULL,
      HAS("'cpu':'9','ephemeral-storage':'1Gi','pods':'9'"), SKIP_IT },
    { "a node came with just enough disk", WANTS("'ephemeral-storage':'2Gi'"), RES_NODE, NULL,
      HAS("'ephemeral-storage':'2Gi','pods':'9'"), QUEUE },
    { "a node came without its device", WANTS(GPU ":'1'"), RES_NODE, NULL, HAS("'cpu':'9','pods':'9'"), SKIP_IT },
    { "a node came with its device", WANTS(GPU ":'1'"), RES_NODE, NULL, HAS(GPU ":'1','pods':'9'"), QUEUE },
    { "a node's cpu grew enough", CPU_2, RES_NODE, HAS("'cpu':'1','pods':'9'"), HAS("'cpu':'2','pods':'9'"), QUEUE },
    { "a node's cpu grew, but not enough", CPU_2, RES_NODE, HAS("'cpu':'1','pods':'9'"),
      HAS("'cpu':'1500m','pods':'9'"), SKIP_IT },
    { "a large node's cpu grew", CPU_2, RES_NODE, HAS("'cpu':'8','pods':'9'"), HAS("'cpu':'9','pods':'9'"), QUEUE },
    { "a large node's cpu shrank", CPU_2, RES_NODE, HAS("'cpu':'9','pods':'9'"), HAS("'cpu':'8','pods':'9'"), SKIP_IT },
    { "a large node's memory grew, which it does not want", CPU_2, RES_NODE, HAS("'cpu':'9','memory':'1','pods':'9'"),
      HAS("'cpu':'9','memory':'2','pods':'9'"), SKIP_IT },
    { "a large node's disk grew, which it does not want", CPU_2, RES_NODE,
      HAS("'cpu':'9','ephemeral-storage':'1','pods':'9'"), HAS("'cpu':'9','ephemeral-storage':'2','pods':'9'"),
      SKIP_IT },
    { "a node's memory grew", WANTS("'memory':'1'"), RES_NODE, HAS("'memory':'1','pods':'9'"),
      HAS("'memory':'2','pods':'9'"), QUEUE },
    { "a node's disk grew", WANTS("'ephemeral-storage':'1'"), RES_NODE, HAS("'ephemeral-storage':'1','pods':'9'"),
      HAS("'ephemeral-storage':'2','pods':'9'"), QUEUE },
    { "a node takes more pods", CPU_2, RES_NODE, HAS("'cpu':'9','pods':'8'"), HAS("'cpu':'9','pods':'9'"), QUEUE },
    { "a node takes fewer pods", CPU_2, RES_NODE, HAS("'cpu':'9','pods':'9'"), HAS("'cpu':'9','pods':'8'"), SKIP_IT },
    { "a node got its device", WANTS(GPU ":'1'"), RES_NODE, HAS("'pods':'9'"), HAS(GPU ":'1','pods':'9'"), QUEUE },
    { "a node got a device of which it wants none", WANTS("'cpu':'2'," GPU ":'0'"), RES_NODE,
      HAS("'cpu':'9','pods':'9'"), HAS("'cpu':'9'," GPU ":'1','pods':'9'"), SKIP_IT },
    { "a node's cpu grew, and it wants nothing at all", X(""), RES_NODE, HAS("'cpu':'8','pods':'9'"),
      HAS("'cpu':'9','pods':'9'"), SKIP_IT },
    { "a node takes more pods, and it wants nothing at all", X(""), RES_NODE, HAS("'pods':'8'"), HAS("'pods':'9'"),
      QUEUE },
    { "taints changed: a new node may have been told of in this way", CPU_2, RES_NODE,
      TAINTED(TAINT("k", "NoSchedule")), PLAIN, QUEUE },
    { "labels changed", CPU_2, RES_NODE, PLAIN, LABELLED("'a':'b'"), DEAF },
    { "a node went", CPU_2, RES_NODE, HAS("'cpu':'9','pods':'9'"), NULL, DEAF },
};

static const struct hint_row ignored_rows[] = {
    { "a device that the filter leaves alone counts here", WANTS(GPU ":'1'"), RES_NODE, NULL, HAS("'pods':'9'"),
      SKIP_IT },
};

TEST(node_resources_fit)
{
    static const char *const ignored[] = { "example.com/gpu" };
    struct node_resources_fit_args args = { 0 }, ignoring = { .ignored_resources = ignored, .n_ignored_resources = 1 };
    hint_check(&noderesourcesfit_plugin, &args, NULL, fit_pod_rows, N_ROWS(fit_pod_rows));
    hint_check(&noderesourcesfit_plugin, &args, NULL, fit_node_rows, N_ROWS(fit_node_rows));
    hint_check(&noderesourcesfit_plugin, &ignoring, NULL, ignored_rows, N_ROWS(ignored_rows));
}

/* ---- NodeDeclaredFeatures ---- */

#define FEATURES(features) NODE("", "", "'declaredFeatures':[" features "]")
#define NEEDS_FEATURE "'hostNetwork':true,'hostUsers':false"

static const struct hint_row feature_rows[] = {
    { "a node came", X(NEEDS_FEATURE), RES_NODE, NULL, PLAIN, QUEUE },
    { "a node declares a feature", X(NEEDS_FEATURE), RES_NODE, PLAIN, FEATURES("'F'"), QUEUE },
    { "a node declares another feature", X(NEEDS_FEATURE), RES_NODE, FEATURES("'F'"), FEATURES("'G'"), QUEUE },
    { "a node declares fewer features", X(NEEDS_FEATURE), RES_NODE, FEATURES("'F','G'"), FEATURES("'F'"), QUEUE },
    { "taints changed: a new node may have been told of in this way", X(NEEDS_FEATURE), RES_NODE,
      TAINTED(TAINT("k", "NoSchedule")), PLAIN, QUEUE },
    { "labels of a node changed", X(NEEDS_FEATURE), RES_NODE, PLAIN, LABELLED("'a':'b'"), DEAF },
    { "a node went", X(NEEDS_FEATURE), RES_NODE, PLAIN, NULL, DEAF },
    { "it needs no feature any more", X(NEEDS_FEATURE), RES_POD, X(NEEDS_FEATURE), X(""), QUEUE },
    { "something else of it changed", X(NEEDS_FEATURE), RES_POD, X(NEEDS_FEATURE), X(NEEDS_FEATURE ",'priority':1"),
      SKIP_IT },
    { "its labels changed", X(NEEDS_FEATURE), RES_POD, X(NEEDS_FEATURE),
      POD("x", ",'labels':{'a':'b'}", NEEDS_FEATURE, ""), SKIP_IT },
    { "its labels changed, and what it needs", X(NEEDS_FEATURE), RES_POD, X(NEEDS_FEATURE),
      POD("x", ",'labels':{'a':'b'}", "", ""), QUEUE },
    { "another pod needs no feature any more", X(NEEDS_FEATURE), RES_POD, OTHER(NEEDS_FEATURE, ""), OTHER("", ""),
      SKIP_IT },
    { "a pod went", X(NEEDS_FEATURE), RES_POD, OTHER(ON, ""), NULL, DEAF },
};

TEST(node_declared_features)
{
    hint_check(&nodedeclaredfeatures_plugin, NULL, NULL, feature_rows, N_ROWS(feature_rows));
}

/* ---- DynamicResources: as far as devices are known here ---- */

static const struct hint_row device_rows[] = {
    { "a node came", X(""), RES_NODE, NULL, PLAIN, QUEUE },
    { "labels of a node changed", X(""), RES_NODE, PLAIN, LABELLED("'a':'b'"), QUEUE },
    { "what a node has changed", X(""), RES_NODE, HAS("'cpu':'1'"), HAS("'cpu':'2'"), QUEUE },
    { "taints changed: a new node may have been told of in this way", X(""), RES_NODE,
      TAINTED(TAINT("k", "NoSchedule")), PLAIN, QUEUE },
    { "a node went", X(""), RES_NODE, PLAIN, NULL, DEAF },
};

TEST(dynamic_resources)
{
    hint_check(&dynamicresources_plugin, NULL, NULL, device_rows, N_ROWS(device_rows));
}

/* ---- DefaultPreemption: it is asked, so that gated pods are looked at, and leaves it to others ---- */

static const struct hint_row preemption_rows[] = {
    { "a pod left its node", X(""), RES_POD, OTHER(ON, ""), NULL, SKIP_IT },
    { "a pod changed", X(""), RES_POD, OTHER(ON, ""), POD("other", ",'labels':{'a':'b'}", ON, ""), DEAF },
    { "a node came", X(""), RES_NODE, NULL, PLAIN, DEAF },
};

TEST(default_preemption)
{
    struct default_preemption_args args = { 10, 100 };
    hint_check(&defaultpreemption_plugin, &args, NULL, preemption_rows, N_ROWS(preemption_rows));
}
