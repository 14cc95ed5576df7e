/* What wakes a pod that was refused for the pods around it; and what every plugin registers for. */
#include "base/strbuf.h"
#include "sched/event_kind.h"
#include "tests/unit/hint_table.h"

/* The pod that waits has the uid x. */
#define POD(uid, ns, labels, spec, status)                                                 \
    "{'metadata':{'name':'" uid "','namespace':'" ns "','uid':'" uid "','labels':{" labels "}}," \
    "'spec':{" spec "},'status':{" status "}}"
#define X(labels, spec) POD("x", "ns", labels, spec, "")
#define OTHER(labels, spec) POD("other", "ns", labels, spec, "")
#define AWAY(labels) POD("other", "elsewhere", labels, ON, "")
#define NEXT_DOOR(labels) OTHER(labels, ON)
#define PROMISED(labels) POD("other", "ns", labels, "", "'nominatedNodeName':'n'")
#define ON "'nodeName':'n'"
#define NODE(labels, spec, status)                                                         \
    "{'metadata':{'name':'n','labels':{" labels "}},'spec':{" spec "},'status':{" status "}}"
#define IN(labels) NODE(labels, "", "")
#define TAINTED(labels) NODE(labels, "'taints':[{'key':'k','effect':'NoSchedule'}]", "")
#define TOLERANT "'tolerations':[{'operator':'Exists'}]"

/* ---- PodTopologySpread ---- */

#define SPREAD(key, when, more)                                                            \
    "{'maxSkew':1,'topologyKey':'" key "','whenUnsatisfiable':'" when "'," more             \
    "'labelSelector':{'matchLabels':{'app':'web'}}}"
#define HARD(key) SPREAD(key, "DoNotSchedule", "")
#define SPREADING(list) X("'app':'web'", "'topologySpreadConstraints':[" list "]")
#define BY_ZONE SPREADING(HARD("zone"))
#define BY_BOTH SPREADING(HARD("zone") "," HARD("host"))
#define HONORING "'topologySpreadConstraints':[" SPREAD("zone", "DoNotSchedule", "'nodeTaintsPolicy':'Honor',") "]"
#define SOFTLY SPREADING(SPREAD("zone", "ScheduleAnyway", ""))
#define BROKEN                                                                             \
    X("'app':'web'", "'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'zone',"      \
      "'whenUnsatisfiable':'DoNotSchedule','labelSelector':{'matchExpressions':[{'key':'a','operator':'Bad'}]}}]")

static const struct hint_row spread_rows[] = {
    { "a pod that counts came", BY_ZONE, RES_POD, NULL, NEXT_DOOR("'app':'web'"), QUEUE },
    { "a pod that counts was promised a node", BY_ZONE, RES_POD, NULL, PROMISED("'app':'web'"), QUEUE },
    { "a pod that would count came, without node", BY_ZONE, RES_POD, NULL, OTHER("'app':'web'", ""), SKIP_IT },
    { "a pod of another namespace came", BY_ZONE, RES_POD, NULL, AWAY("'app':'web'"), SKIP_IT },
    { "a pod that does not count came", BY_ZONE, RES_POD, NULL, NEXT_DOOR("'app':'db'"), SKIP_IT },
    { "a pod that counts went", BY_ZONE, RES_POD, NEXT_DOOR("'app':'web'"), NULL, QUEUE },
    { "a pod that counts and was promised a node went", BY_ZONE, RES_POD, PROMISED("'app':'web'"), NULL, QUEUE },
    { "a pod without node went", BY_ZONE, RES_POD, OTHER("'app':'web'", ""), NULL, SKIP_IT },
    { "a pod of another namespace went", BY_ZONE, RES_POD, AWAY("'app':'web'"), NULL, SKIP_IT },
    { "a pod that does not count went", BY_ZONE, RES_POD, NEXT_DOOR("'app':'db'"), NULL, SKIP_IT },
    { "a pod begins to count", BY_ZONE, RES_POD, NEXT_DOOR("'app':'db'"), NEXT_DOOR("'app':'web'"), QUEUE },
    { "a pod counts no more", BY_ZONE, RES_POD, NEXT_DOOR("'app':'web'"), NEXT_DOOR("'app':'db'"), QUEUE },
    { "a pod counts as before", BY_ZONE, RES_POD, NEXT_DOOR("'app':'web'"), NEXT_DOOR("'app':'web','x':'y'"), SKIP_IT },
    { "a pod without node begins to count", BY_ZONE, RES_POD, OTHER("'app':'db'", ""), OTHER("'app':'web'", ""),
      SKIP_IT },
    { "its own labels change, and it counts itself no more", BY_ZONE, RES_POD, X("'app':'web'", ""),
      X("'app':'db'", ""), QUEUE },
    { "its own labels change, and it still counts itself", BY_ZONE, RES_POD, X("'app':'web'", ""),
      X("'app':'web','x':'y'", ""), SKIP_IT },
    { "it got a toleration, and taints count", X("'app':'web'", HONORING), RES_POD, X("'app':'web'", HONORING),
      X("'app':'web'", HONORING "," TOLERANT), QUEUE },
    { "it got a toleration, and taints do not count", BY_ZONE, RES_POD, BY_ZONE,
      X("'app':'web'", TOLERANT ",'topologySpreadConstraints':[" HARD("zone") "]"), SKIP_IT },
    { "another pod got a toleration, and taints count", X("'app':'web'", HONORING), RES_POD, NEXT_DOOR("'app':'web'"),
      OTHER("'app':'web'", ON "," TOLERANT), SKIP_IT },
    { "a pod wants less", BY_ZONE, RES_POD,
      OTHER("'app':'web'", ON ",'containers':[{'resources':{'requests':{'cpu':'2'}}}]"),
      OTHER("'app':'web'", ON ",'containers':[{'resources':{'requests':{'cpu':'1'}}}]"), DEAF },
    { "with soft rules alone no pod matters", SOFTLY, RES_POD, NULL, NEXT_DOOR("'app':'web'"), SKIP_IT },
    { "a rule that cannot be read: any pod may matter", BROKEN, RES_POD, NULL, NEXT_DOOR("'app':'db'"), QUEUE },
    { "a rule that cannot be read: any node may matter", BROKEN, RES_NODE, NULL, IN(""), QUEUE },
    { "a node of a zone came", BY_ZONE, RES_NODE, NULL, IN("'zone':'a'"), QUEUE },
    { "a node without zone came", BY_ZONE, RES_NODE, NULL, IN("'host':'a'"), SKIP_IT },
    { "a node of a zone went", BY_ZONE, RES_NODE, IN("'zone':'a'"), NULL, QUEUE },
    { "a node without zone went", BY_ZONE, RES_NODE, IN(""), NULL, SKIP_IT },
    { "a node got a zone", BY_ZONE, RES_NODE, IN(""), IN("'zone':'a'"), QUEUE },
    { "a node lost its zone", BY_ZONE, RES_NODE, IN("'zone':'a'"), IN(""), QUEUE },
    { "a node went to another zone", BY_ZONE, RES_NODE, IN("'zone':'a'"), IN("'zone':'b'"), QUEUE },
    { "another label of a node changed", BY_ZONE, RES_NODE, IN("'zone':'a'"), IN("'zone':'a','x':'y'"), SKIP_IT },
    { "a node without zone got another label", BY_ZONE, RES_NODE, IN(""), IN("'x':'y'"), SKIP_IT },
    { "taints of a node of a zone changed", BY_ZONE, RES_NODE, IN("'zone':'a'"), TAINTED("'zone':'a'"), QUEUE },
    { "taints of a node without zone changed", BY_ZONE, RES_NODE, IN(""), TAINTED(""), SKIP_IT },
    { "what a node has changed", BY_ZONE, RES_NODE, IN("'zone':'a'"),
      NODE("'zone':'a'", "", "'allocatable':{'cpu':'9'}"), DEAF },
    { "a node came with one of two keys", BY_BOTH, RES_NODE, NULL, IN("'zone':'a'"), SKIP_IT },
    { "a node came with both keys", BY_BOTH, RES_NODE, NULL, IN("'zone':'a','host':'h'"), QUEUE },
    { "a node got the second key", BY_BOTH, RES_NODE, IN("'zone':'a'"), IN("'zone':'a','host':'h'"), QUEUE },
    { "a node with one of two keys went to another zone", BY_BOTH, RES_NODE, IN("'zone':'a'"), IN("'zone':'b'"),
      SKIP_IT },
    { "the second key of a node changed", BY_BOTH, RES_NODE, IN("'zone':'a','host':'h'"), IN("'zone':'a','host':'i'"),
      QUEUE },
};

TEST(pod_topology_spread)
{
    struct pod_topology_spread_args args = { .system_defaulting = true };
    hint_check(&podtopologyspread_plugin, &args, NULL, spread_rows, N_ROWS(spread_rows));
}

/* ---- InterPodAffinity ---- */

#define TERM(app, key) "{'topologyKey':'" key "','labelSelector':{'matchLabels':{'app':'" app "'}}}"
#define TERM_OF(label, key)                                                                \
    "{'topologyKey':'" key "','labelSelector':{'matchExpressions':[{'key':'" label "','operator':'Exists'}]}}"
#define REQUIRED(kind, terms) "'" kind "':{'requiredDuringSchedulingIgnoredDuringExecution':[" terms "]}"
#define AFFINITY(lists) "'affinity':{" lists "}"
#define NEAR(terms) AFFINITY(REQUIRED("podAffinity", terms))
#define FAR(terms) AFFINITY(REQUIRED("podAntiAffinity", terms))
#define WANTS_DB X("'app':'web'", NEAR(TERM("db", "zone")))
#define WANTS_TWO X("'app':'web'", NEAR(TERM("db", "zone") "," TERM_OF("fast", "zone")))
#define HATES_DB X("'app':'web'", FAR(TERM("db", "zone")))
#define HATES_TWO X("'app':'web'", FAR(TERM("db", "zone") "," TERM_OF("slow", "host")))
#define NO_WISHES X("'app':'web'", "")
#define SELECTS_NAMESPACES(kind)                                                           \
    X("'app':'web'", AFFINITY(REQUIRED(kind, "{'topologyKey':'zone','namespaceSelector':{'matchLabels':{'a':'b'}},"  \
                                             "'labelSelector':{'matchLabels':{'app':'db'}}}")))
#define BAD_TERM "{'topologyKey':'zone','labelSelector':{'matchExpressions':[{'key':'a','operator':'Bad'}]}}"

static const struct hint_row affinity_pod_rows[] = {
    { "a pod that it wants came", WANTS_DB, RES_POD, NULL, NEXT_DOOR("'app':'db'"), QUEUE },
    { "a pod that it wants was promised a node", WANTS_DB, RES_POD, NULL, PROMISED("'app':'db'"), QUEUE },
    { "a pod that it wants came, without node", WANTS_DB, RES_POD, NULL, OTHER("'app':'db'", ""), SKIP_IT },
    { "such a pod came in another namespace", WANTS_DB, RES_POD, NULL, AWAY("'app':'db'"), SKIP_IT },
    { "another pod came", WANTS_DB, RES_POD, NULL, NEXT_DOOR("'app':'web'"), SKIP_IT },
    { "a pod came that fulfils one of two wishes", WANTS_TWO, RES_POD, NULL, NEXT_DOOR("'app':'db'"), SKIP_IT },
    { "a pod came that fulfils both wishes", WANTS_TWO, RES_POD, NULL, NEXT_DOOR("'app':'db','fast':'1'"), QUEUE },
    { "a pod that it hates came", HATES_DB, RES_POD, NULL, NEXT_DOOR("'app':'db'"), SKIP_IT },
    { "namespaces that are selected by labels are not looked up", SELECTS_NAMESPACES("podAffinity"), RES_POD, NULL,
      AWAY("'app':'db'"), SKIP_IT },
    { "a pod becomes what it wants", WANTS_DB, RES_POD, NEXT_DOOR("'app':'web'"), NEXT_DOOR("'app':'db'"), QUEUE },
    { "a pod is what it wants as before", WANTS_DB, RES_POD, NEXT_DOOR("'app':'db'"), NEXT_DOOR("'app':'db','x':'y'"),
      SKIP_IT },
    { "a pod ceases to be what it wants", WANTS_DB, RES_POD, NEXT_DOOR("'app':'db'"), NEXT_DOOR("'app':'web'"),
      SKIP_IT },
    { "a pod without node becomes what it wants", WANTS_DB, RES_POD, OTHER("'app':'web'", ""), OTHER("'app':'db'", ""),
      SKIP_IT },
    { "a pod ceases to be what it hates", HATES_DB, RES_POD, NEXT_DOOR("'app':'db'"), NEXT_DOOR("'app':'web'"), QUEUE },
    { "a pod is what it hates as before", HATES_DB, RES_POD, NEXT_DOOR("'app':'db'"), NEXT_DOOR("'app':'db','x':'y'"),
      SKIP_IT },
    { "a pod becomes what it hates", HATES_DB, RES_POD, NEXT_DOOR("'app':'web'"), NEXT_DOOR("'app':'db'"), SKIP_IT },
    { "a pod that it hates in one of two ways ceases to be so: only all together are looked at", HATES_TWO, RES_POD,
      NEXT_DOOR("'app':'db'"), NEXT_DOOR("'app':'web'"), SKIP_IT },
    { "a pod that it hates in two ways is left with one", HATES_TWO, RES_POD, NEXT_DOOR("'app':'db','slow':'1'"),
      NEXT_DOOR("'app':'db'"), QUEUE },
    { "its own labels change", NO_WISHES, RES_POD, NO_WISHES, X("'app':'db'", ""), QUEUE },
    { "another pod's labels change, and it has no wishes", NO_WISHES, RES_POD, NEXT_DOOR("'app':'web'"),
      NEXT_DOOR("'app':'db'"), SKIP_IT },
    { "its own tolerations change", WANTS_DB, RES_POD, X("'app':'web'", ""), X("'app':'web'", TOLERANT), DEAF },
    { "a pod that it hates went", HATES_DB, RES_POD, NEXT_DOOR("'app':'db'"), NULL, QUEUE },
    { "a pod that it hates, and that was promised a node, went", HATES_DB, RES_POD, PROMISED("'app':'db'"), NULL,
      QUEUE },
    { "a pod that it hates went, which had no node", HATES_DB, RES_POD, OTHER("'app':'db'", ""), NULL, SKIP_IT },
    { "such a pod went in another namespace", HATES_DB, RES_POD, AWAY("'app':'db'"), NULL, SKIP_IT },
    { "another pod went", HATES_DB, RES_POD, NEXT_DOOR("'app':'web'"), NULL, SKIP_IT },
    { "a pod went that it hates in one of two ways: only all together are looked at", HATES_TWO, RES_POD,
      NEXT_DOOR("'app':'db'"), NULL, SKIP_IT },
    { "a pod that it wants went", WANTS_DB, RES_POD, NEXT_DOOR("'app':'db'"), NULL, SKIP_IT },
    { "a pod that hates it went", NO_WISHES, RES_POD, OTHER("'app':'db'", ON "," FAR(TERM("web", "zone"))), NULL,
      QUEUE },
    { "a pod that hates it went, which had no node", NO_WISHES, RES_POD, OTHER("'app':'db'", FAR(TERM("web", "zone"))),
      NULL, SKIP_IT },
    { "a pod that hates others went", NO_WISHES, RES_POD, OTHER("'app':'db'", ON "," FAR(TERM("cache", "zone"))), NULL,
      SKIP_IT },
    { "a pod that wants it went", NO_WISHES, RES_POD, OTHER("'app':'db'", ON "," NEAR(TERM("web", "zone"))), NULL,
      SKIP_IT },
    { "a pod that hates it in another namespace went", NO_WISHES, RES_POD,
      POD("other", "elsewhere", "'app':'db'", ON "," FAR(TERM("web", "zone")), ""), NULL, SKIP_IT },
    { "a pod whose dislikes cannot be read went", NO_WISHES, RES_POD, OTHER("'app':'db'", ON "," FAR(BAD_TERM)), NULL,
      QUEUE },
    { "its own wish cannot be read: any pod may matter", X("", NEAR(BAD_TERM)), RES_POD, NULL, NEXT_DOOR(""), QUEUE },
    { "its own dislike cannot be read: any pod may matter", X("", FAR(BAD_TERM)), RES_POD, NULL, NEXT_DOOR(""), QUEUE },
};

static const struct hint_row affinity_node_rows[] = {
    { "a node with the key of a wish came", WANTS_DB, RES_NODE, NULL, IN("'zone':'a'"), QUEUE },
    { "a node without the key of a wish came", WANTS_DB, RES_NODE, NULL, IN("'host':'a'"), SKIP_IT },
    { "a node got the key of a wish", WANTS_DB, RES_NODE, IN(""), IN("'zone':'a'"), QUEUE },
    { "a node moved within the key of a wish", WANTS_DB, RES_NODE, IN("'zone':'a'"), IN("'zone':'b'"), QUEUE },
    { "a node lost the key of a wish", WANTS_DB, RES_NODE, IN("'zone':'a'"), IN(""), SKIP_IT },
    { "another label of a node changed", WANTS_DB, RES_NODE, IN("'zone':'a'"), IN("'zone':'a','x':'y'"), SKIP_IT },
    { "a node without the key of a dislike came", HATES_DB, RES_NODE, NULL, IN(""), QUEUE },
    { "a node with the key of a dislike came", HATES_DB, RES_NODE, NULL, IN("'zone':'a'"), QUEUE },
    { "a node lost the key of a dislike", HATES_DB, RES_NODE, IN("'zone':'a'"), IN(""), QUEUE },
    { "a node moved within the key of a dislike", HATES_DB, RES_NODE, IN("'zone':'a'"), IN("'zone':'b'"), QUEUE },
    { "a node got the key of a dislike", HATES_DB, RES_NODE, IN(""), IN("'zone':'a'"), SKIP_IT },
    { "a node moved within the key of the second dislike", HATES_TWO, RES_NODE, IN("'host':'a'"), IN("'host':'b'"),
      QUEUE },
    { "a node came, and it has no wishes", NO_WISHES, RES_NODE, NULL, IN("'zone':'a'"), SKIP_IT },
    { "its own wish cannot be read: any node may matter", X("", NEAR(BAD_TERM)), RES_NODE, IN(""), IN("'x':'y'"),
      QUEUE },
    { "its own dislike cannot be read: any node may matter", X("", FAR(BAD_TERM)), RES_NODE, IN(""), IN("'x':'y'"),
      QUEUE },
    { "taints changed: a new node may have been told of in this way", WANTS_DB, RES_NODE, TAINTED(""), IN(""), QUEUE },
    { "what a node has changed", WANTS_DB, RES_NODE, IN("'zone':'a'"),
      NODE("'zone':'a'", "", "'allocatable':{'cpu':'9'}"), DEAF },
    { "a node went", WANTS_DB, RES_NODE, IN("'zone':'a'"), NULL, DEAF },
};

TEST(inter_pod_affinity)
{
    struct inter_pod_affinity_args args = { .hard_pod_affinity_weight = 1 };
    hint_check(&interpodaffinity_plugin, &args, NULL, affinity_pod_rows, N_ROWS(affinity_pod_rows));
    hint_check(&interpodaffinity_plugin, &args, NULL, affinity_node_rows, N_ROWS(affinity_node_rows));
}

/* ---- All registrations ---- */

/* As upstream's plugins register in v1.36, in their order; "?" where a hint is asked. What is left out there: device
 * classes at NodeResourcesFit, claims at DynamicResources, which berth does not allocate. */
static const struct {
    const char *plugin, *registrations;
} registered[] = {
    { "SchedulingGates", " PodUpdatePodSchedulingGatesEliminated?" },
    { "PrioritySort", "" },
    { "NodeUnschedulable", " NodeAdd NodeUpdateNodeTaint? PodUpdatePodToleration?" },
    { "NodeName", " NodeAdd" },
    { "TaintToleration", " NodeAdd NodeUpdateNodeTaint? PodUpdatePodToleration?" },
    { "NodeAffinity", " NodeAdd NodeUpdateNodeLabel?" },
    { "NodePorts", " PodDelete? NodeAdd" },
    { "NodeResourcesFit", " PodDelete PodUpdatePodScaleDown? NodeAdd NodeUpdateNodeAllocatable?" },
    { "VolumeRestrictions", " PodDelete? NodeAdd PersistentVolumeClaimAdd?" },
    { "NodeVolumeLimits",
      " storage.k8s.io/CSINodeAdd storage.k8s.io/CSINodeUpdate? PodDelete? "
      "PersistentVolumeClaimAdd? storage.k8s.io/VolumeAttachmentDelete?" },
    { "VolumeBinding", " storage.k8s.io/StorageClassAdd storage.k8s.io/StorageClassUpdate? PersistentVolumeClaimAdd "
                       "PersistentVolumeClaimUpdate? PersistentVolumeAdd PersistentVolumeUpdate NodeAdd "
                       "NodeUpdateNodeLabel storage.k8s.io/CSINodeAdd storage.k8s.io/CSINodeUpdate? "
                       "storage.k8s.io/CSIDriverUpdate? storage.k8s.io/CSIStorageCapacityAdd "
                       "storage.k8s.io/CSIStorageCapacityUpdate?" },
    { "VolumeZone", " storage.k8s.io/StorageClassAdd? NodeAdd NodeUpdateNodeLabel PersistentVolumeClaimAdd "
                    "PersistentVolumeClaimUpdate? PersistentVolumeAdd PersistentVolumeUpdate?" },
    { "PodTopologySpread", " PodAdd PodDelete PodUpdatePodLabel PodUpdatePodToleration? NodeAdd NodeDelete "
                           "NodeUpdateNodeLabel NodeUpdateNodeTaint?" },
    { "InterPodAffinity", " PodAdd PodDelete PodUpdatePodLabel? NodeAdd NodeUpdateNodeLabel?" },
    { "DynamicResources", " NodeAdd NodeUpdateNodeAllocatable NodeUpdateNodeLabel resource.k8s.io/DeviceClassAdd "
                          "resource.k8s.io/DeviceClassUpdate resource.k8s.io/ResourceSliceAdd "
                          "resource.k8s.io/ResourceSliceUpdate" },
    { "DefaultPreemption", " PodDelete?" },
    { "NodeResourcesBalancedAllocation", "" },
    { "ImageLocality", "" },
    { "DefaultBinder", "" },
    { "NodeDeclaredFeatures", " NodeAdd NodeUpdateNodeDeclaredFeature? PodUpdate?" },
};

static void add_action(struct strbuf *to, enum event_resource resource, uint32_t action)
{
    strbuf_printf(to, " %s", event_kind_label(event_kind(&(struct cluster_event){ .resource = resource,
                                                                                  .action = action })));
}

static void add_registration(struct strbuf *to, const struct plugin_event *e)
{
    bool all_updates = (e->actions & ACT_UPDATE) == ACT_UPDATE;
    uint32_t particular = all_updates ? e->actions & ~(uint32_t)ACT_UPDATE : e->actions;
    for (uint32_t left = particular; left; left &= left - 1)
        add_action(to, e->resource, left & -left);
    if (all_updates)
        add_action(to, e->resource, ACT_UPDATE);
    if (e->hint)
        strbuf_add_char(to, '?');
}

TEST(every_plugin_registers_for_what_upstreams_does)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    for (size_t i = 0; i < N_ROWS(registered); i++) {
        const struct plugin *plugin = plugin_registry[i];
        CHECK_TEXT("in the order of the registry", plugin->name, registered[i].plugin);
        strbuf_reset(&text);
        for (const struct plugin_event *e = plugin->events; e && e->actions; e++)
            add_registration(&text, e);
        CHECK_TEXT(plugin->name, plugin->events ? strbuf_cstr(&text) : "everything", registered[i].registrations);
    }
    CHECK(!plugin_registry[N_ROWS(registered)]);
    strbuf_fini(&text);
}
