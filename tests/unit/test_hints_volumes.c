/* What wakes a pod that was refused for its volumes. */
#include "tests/unit/hint_table.h"

/* The pod that waits is ns/x. */
#define POD(name, ns, spec, status)                                                        \
    "{'metadata':{'name':'" name "','namespace':'" ns "','uid':'" name "'},'spec':{" spec "},'status':{" status "}}"
#define WITH(volumes) POD("x", "ns", "'volumes':[" volumes "]", "")
#define GONE(ns, spec, volumes, status) POD("gone", ns, spec "'volumes':[" volumes "]", status)
#define ON "'nodeName':'n',"
#define PROMISED "'nominatedNodeName':'n'"
#define CLAIM(name) "{'name':'v','persistentVolumeClaim':{'claimName':'" name "'}}"
#define EPHEMERAL "{'name':'e','ephemeral':{}}" /* its claim is x-e */
#define GCE(name, more) "{'name':'g','gcePersistentDisk':{'pdName':'" name "'" more "}}"
#define EBS(name) "{'name':'a','awsElasticBlockStore':{'volumeID':'" name "','readOnly':true}}"
#define ISCSI(name, more) "{'name':'i','iscsi':{'targetPortal':'t','iqn':'" name "','lun':0" more "}}"
#define RBD(monitors, image) "{'name':'r','rbd':{'monitors':[" monitors "],'image':'" image "','pool':'p'}}"
#define INLINE(driver) "{'name':'c','csi':{'driver':'" driver "'}}"
#define EMPTY "{'name':'d','emptyDir':{}}"
#define NONE WITH("")

#define PVC(ns, name, more) "{'metadata':{'name':'" name "','namespace':'" ns "'}" more "}"
#define BOUND ",'spec':{'volumeName':'pv'}"
#define NODE(labels, spec) "{'metadata':{'name':'n','labels':{" labels "}},'spec':{" spec "}}"
#define PLAIN NODE("", "")
#define TAINTED NODE("", "'taints':[{'key':'k','effect':'NoSchedule'}]")

/* ---- VolumeRestrictions ---- */

static const struct hint_row restrictions_rows[] = {
    { "the user of its disk went", WITH(GCE("d", "")), RES_POD, GONE("ns", ON, GCE("d", ""), ""), NULL, QUEUE },
    { "the user of its disk went, before it had a node", WITH(GCE("d", "")), RES_POD, GONE("ns", "", GCE("d", ""), ""),
      NULL, QUEUE },
    { "the user of its disk in another namespace went", WITH(GCE("d", "")), RES_POD,
      GONE("other", ON, GCE("d", ""), ""), NULL, SKIP_IT },
    { "the user of another disk went", WITH(GCE("d", "")), RES_POD, GONE("ns", ON, GCE("e", ""), ""), NULL, SKIP_IT },
    { "a reader went, and it reads too", WITH(GCE("d", ",'readOnly':true")), RES_POD,
      GONE("ns", ON, GCE("d", ",'readOnly':true"), ""), NULL, SKIP_IT },
    { "a reader went, and it writes", WITH(GCE("d", "")), RES_POD, GONE("ns", ON, GCE("d", ",'readOnly':true"), ""),
      NULL, QUEUE },
    { "a disk of Amazon is one pod's, reader or not", WITH(EBS("d")), RES_POD, GONE("ns", ON, EBS("d"), ""), NULL,
      QUEUE },
    { "the user of its iSCSI target went", WITH(ISCSI("q", "")), RES_POD, GONE("ns", ON, ISCSI("q", ""), ""), NULL,
      QUEUE },
    { "the user of another iSCSI target went", WITH(ISCSI("q", "")), RES_POD, GONE("ns", ON, ISCSI("p", ""), ""), NULL,
      SKIP_IT },
    { "the user of its image went, through one common monitor", WITH(RBD("'a','b'", "i")), RES_POD,
      GONE("ns", ON, RBD("'b','c'", "i"), ""), NULL, QUEUE },
    { "the user of an image of that name elsewhere went", WITH(RBD("'a','b'", "i")), RES_POD,
      GONE("ns", ON, RBD("'c'", "i"), ""), NULL, SKIP_IT },
    { "the user of another image went", WITH(RBD("'a'", "i")), RES_POD, GONE("ns", ON, RBD("'a'", "k"), ""), NULL,
      SKIP_IT },
    { "the user of its claim went", WITH(CLAIM("c")), RES_POD, GONE("ns", ON, CLAIM("c"), ""), NULL, QUEUE },
    { "the user of a claim of that name in another namespace went", WITH(CLAIM("c")), RES_POD,
      GONE("other", ON, CLAIM("c"), ""), NULL, SKIP_IT },
    { "the user of another claim went", WITH(CLAIM("c")), RES_POD, GONE("ns", ON, CLAIM("d"), ""), NULL, SKIP_IT },
    { "the user of its second claim went", WITH(CLAIM("c") "," CLAIM("d")), RES_POD, GONE("ns", ON, CLAIM("d"), ""),
      NULL, QUEUE },
    { "a pod without volumes went", WITH(CLAIM("c")), RES_POD, GONE("ns", ON, "", ""), NULL, SKIP_IT },
    { "a pod came", WITH(CLAIM("c")), RES_POD, NULL, GONE("ns", ON, "", ""), DEAF },
    { "a node came", WITH(CLAIM("c")), RES_NODE, NULL, PLAIN, QUEUE },
    { "taints changed: a new node may have been told of in this way", WITH(CLAIM("c")), RES_NODE, TAINTED, PLAIN,
      QUEUE },
    { "labels of a node changed", WITH(CLAIM("c")), RES_NODE, PLAIN, NODE("'a':'b'", ""), DEAF },
    { "its claim came", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME_CLAIM, NULL, PVC("ns", "c", ""), QUEUE },
    { "its second claim came", WITH(CLAIM("b") "," CLAIM("c")), RES_PERSISTENT_VOLUME_CLAIM, NULL, PVC("ns", "c", ""),
      QUEUE },
    { "another claim came", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME_CLAIM, NULL, PVC("ns", "d", ""), SKIP_IT },
    { "a claim of that name came in another namespace", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME_CLAIM, NULL,
      PVC("other", "c", ""), SKIP_IT },
    { "the claim of its ephemeral volume came", WITH(EPHEMERAL), RES_PERSISTENT_VOLUME_CLAIM, NULL,
      PVC("ns", "x-e", ""), SKIP_IT },
    { "its claim changed", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME_CLAIM, PVC("ns", "c", ""), PVC("ns", "c", BOUND),
      DEAF },
};

TEST(volume_restrictions)
{
    hint_check(&volumerestrictions_plugin, NULL, NULL, restrictions_rows, N_ROWS(restrictions_rows));
}

/* ---- NodeVolumeLimits ---- */

#define CSI_NODE(drivers) "{'metadata':{'name':'n'},'spec':{'drivers':[" drivers "]}}"
#define DRIVER(name, count) "{'name':'" name "','nodeID':'n','allocatable':{'count':" count "}}"
#define NO_LIMIT(name) "{'name':'" name "','nodeID':'n'}"
#define ATTACHED(attacher) "{'metadata':{'name':'va'},'spec':{'attacher':'" attacher "','nodeName':'n','source':{}}}"
#define GCE_DRIVER "pd.csi.storage.gke.io"

static const struct hint_row limits_rows[] = {
    { "a node's drivers became known", WITH(CLAIM("c")), RES_CSI_NODE, NULL, CSI_NODE(""), QUEUE },
    { "a limit grew", WITH(CLAIM("c")), RES_CSI_NODE, CSI_NODE(DRIVER("d", "1")), CSI_NODE(DRIVER("d", "2")), QUEUE },
    { "the second limit grew", WITH(CLAIM("c")), RES_CSI_NODE, CSI_NODE(DRIVER("a", "1") "," DRIVER("d", "1")),
      CSI_NODE(DRIVER("a", "1") "," DRIVER("d", "2")), QUEUE },
    { "a limit stayed", WITH(CLAIM("c")), RES_CSI_NODE, CSI_NODE(DRIVER("d", "1")),
      CSI_NODE(DRIVER("d", "1") "," NO_LIMIT("e")), SKIP_IT },
    { "a limit shrank", WITH(CLAIM("c")), RES_CSI_NODE, CSI_NODE(DRIVER("d", "2")), CSI_NODE(DRIVER("d", "1")),
      SKIP_IT },
    { "a driver with a limit came", WITH(CLAIM("c")), RES_CSI_NODE, CSI_NODE(""), CSI_NODE(DRIVER("d", "1")), QUEUE },
    { "a driver that can take nothing came", WITH(CLAIM("c")), RES_CSI_NODE, CSI_NODE(""), CSI_NODE(DRIVER("d", "0")),
      SKIP_IT },
    { "a driver without a limit came", WITH(CLAIM("c")), RES_CSI_NODE, CSI_NODE(""), CSI_NODE(NO_LIMIT("d")), SKIP_IT },
    { "a driver got a limit", WITH(CLAIM("c")), RES_CSI_NODE, CSI_NODE(NO_LIMIT("d")), CSI_NODE(DRIVER("d", "1")),
      QUEUE },
    { "a driver lost its limit: upstream takes it for none", WITH(CLAIM("c")), RES_CSI_NODE,
      CSI_NODE(DRIVER("d", "1")), CSI_NODE(NO_LIMIT("d")), SKIP_IT },
    { "a node's drivers are unknown again", WITH(CLAIM("c")), RES_CSI_NODE, CSI_NODE(""), NULL, DEAF },
    { "a pod with a claim left its node", NONE, RES_POD, GONE("ns", ON, CLAIM("c"), ""), NULL, QUEUE },
    { "a pod with a claim went that was promised a node", NONE, RES_POD, GONE("ns", "", CLAIM("c"), PROMISED), NULL,
      QUEUE },
    { "a pod with a claim went that had no node", NONE, RES_POD, GONE("ns", "", CLAIM("c"), ""), NULL, SKIP_IT },
    { "a pod with an ephemeral volume left its node", NONE, RES_POD, GONE("other", ON, EPHEMERAL, ""), NULL, QUEUE },
    { "a pod with a disk that a driver stands in for left its node", NONE, RES_POD, GONE("ns", ON, GCE("d", ""), ""),
      NULL, QUEUE },
    { "the second volume of a pod that left counts", NONE, RES_POD, GONE("ns", ON, EMPTY "," CLAIM("c"), ""), NULL,
      QUEUE },
    { "a pod whose volumes do not count left its node", NONE, RES_POD, GONE("ns", ON, EMPTY "," INLINE("d"), ""), NULL,
      SKIP_IT },
    { "a pod without volumes left its node", NONE, RES_POD, GONE("ns", ON, "", ""), NULL, SKIP_IT },
    { "a pod came", NONE, RES_POD, NULL, GONE("ns", ON, "", ""), DEAF },
    { "its claim came", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME_CLAIM, NULL, PVC("ns", "c", ""), QUEUE },
    { "another claim came", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME_CLAIM, NULL, PVC("ns", "d", ""), SKIP_IT },
    { "a claim of that name came in another namespace", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME_CLAIM, NULL,
      PVC("other", "c", ""), SKIP_IT },
    { "the claim of its ephemeral volume came", WITH(EPHEMERAL), RES_PERSISTENT_VOLUME_CLAIM, NULL,
      PVC("ns", "x-e", ""), QUEUE },
    { "its claim changed", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME_CLAIM, PVC("ns", "c", ""), PVC("ns", "c", BOUND),
      DEAF },
    { "something was detached, and it has a claim", WITH(CLAIM("c")), RES_VOLUME_ATTACHMENT, ATTACHED("d"), NULL,
      QUEUE },
    { "the driver of its disk detached something", WITH(EMPTY "," GCE("d", "")), RES_VOLUME_ATTACHMENT,
      ATTACHED(GCE_DRIVER), NULL, QUEUE },
    { "another driver detached something", WITH(GCE("d", "")), RES_VOLUME_ATTACHMENT, ATTACHED("d"), NULL, SKIP_IT },
    { "something was detached, and it has an ephemeral volume alone", WITH(EPHEMERAL), RES_VOLUME_ATTACHMENT,
      ATTACHED("d"), NULL, SKIP_IT },
    { "something was detached, and it has no volumes", NONE, RES_VOLUME_ATTACHMENT, ATTACHED("d"), NULL, SKIP_IT },
    { "something was attached", WITH(CLAIM("c")), RES_VOLUME_ATTACHMENT, NULL, ATTACHED("d"), DEAF },
    { "a node came", WITH(CLAIM("c")), RES_NODE, NULL, PLAIN, DEAF },
    { "taints changed", WITH(CLAIM("c")), RES_NODE, TAINTED, PLAIN, DEAF },
};

TEST(node_volume_limits)
{
    hint_check(&nodevolumelimits_plugin, NULL, NULL, limits_rows, N_ROWS(limits_rows));
}

/* ---- VolumeBinding ---- */

#define CLASS(more) "{'metadata':{'name':'s'},'provisioner':'p'" more "}"
#define TOPOLOGY(key, values) "{'matchLabelExpressions':[{'key':'" key "','values':[" values "]}]}"
#define ALLOWED(topologies) CLASS(",'allowedTopologies':[" topologies "]")
#define PV(labels, more) "{'metadata':{'name':'pv','labels':{" labels "}},'spec':{" more "}}"
#define MIGRATED(plugins)                                                                  \
    "{'metadata':{'name':'n','annotations':{'storage.alpha.kubernetes.io/migrated-plugins':'" plugins "'}},'spec':{}}"
#define CSI_DRIVER(name, spec) "{'metadata':{'name':'" name "'},'spec':{" spec "}}"
#define TRACKS "'storageCapacity':true"
#define CAPACITY(more) "{'metadata':{'name':'k','namespace':'ns'},'storageClassName':'s'" more "}"

static const struct hint_row binding_rows[] = {
    { "a class came", WITH(CLAIM("c")), RES_STORAGE_CLASS, NULL, CLASS(""), QUEUE },
    { "a class may be used in other places", WITH(CLAIM("c")), RES_STORAGE_CLASS, ALLOWED(TOPOLOGY("zone", "'a'")),
      ALLOWED(TOPOLOGY("zone", "'b'")), QUEUE },
    { "a class may be used in more places", WITH(CLAIM("c")), RES_STORAGE_CLASS, ALLOWED(TOPOLOGY("zone", "'a'")),
      ALLOWED(TOPOLOGY("zone", "'a','b'")), QUEUE },
    { "a class may be used by another label", WITH(CLAIM("c")), RES_STORAGE_CLASS, ALLOWED(TOPOLOGY("zone", "'a'")),
      ALLOWED(TOPOLOGY("host", "'a'")), QUEUE },
    { "a class may be used in one more way", WITH(CLAIM("c")), RES_STORAGE_CLASS, ALLOWED(TOPOLOGY("zone", "'a'")),
      ALLOWED(TOPOLOGY("zone", "'a'") "," TOPOLOGY("host", "'a'")), QUEUE },
    { "a class may be used everywhere", WITH(CLAIM("c")), RES_STORAGE_CLASS, ALLOWED(TOPOLOGY("zone", "'a'")),
      CLASS(""), QUEUE },
    { "a class may not be used everywhere any more", WITH(CLAIM("c")), RES_STORAGE_CLASS, CLASS(""),
      ALLOWED(TOPOLOGY("zone", "'a'")), QUEUE },
    { "something else of a class changed", WITH(CLAIM("c")), RES_STORAGE_CLASS, ALLOWED(TOPOLOGY("zone", "'a'")),
      CLASS(",'allowVolumeExpansion':true,'allowedTopologies':[" TOPOLOGY("zone", "'a'") "]"), SKIP_IT },
    { "a class without places changed", WITH(CLAIM("c")), RES_STORAGE_CLASS, CLASS(""),
      CLASS(",'allowVolumeExpansion':true"), SKIP_IT },
    { "a class went", WITH(CLAIM("c")), RES_STORAGE_CLASS, CLASS(""), NULL, DEAF },
    { "its claim came", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME_CLAIM, NULL, PVC("ns", "c", ""), QUEUE },
    { "its claim changed", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME_CLAIM, PVC("ns", "c", ""), PVC("ns", "c", BOUND),
      QUEUE },
    { "the claim of its ephemeral volume changed", WITH(EPHEMERAL), RES_PERSISTENT_VOLUME_CLAIM, PVC("ns", "x-e", ""),
      PVC("ns", "x-e", BOUND), QUEUE },
    { "another claim changed", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME_CLAIM, PVC("ns", "d", ""), PVC("ns", "d", BOUND),
      SKIP_IT },
    { "a claim of that name changed in another namespace", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME_CLAIM,
      PVC("other", "c", ""), PVC("other", "c", BOUND), SKIP_IT },
    { "a claim came that is named like its ephemeral volume", WITH(EPHEMERAL), RES_PERSISTENT_VOLUME_CLAIM, NULL,
      PVC("ns", "e", ""), SKIP_IT },
    { "its claim went", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME_CLAIM, PVC("ns", "c", ""), NULL, DEAF },
    { "a volume came", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME, NULL, PV("", ""), QUEUE },
    { "a volume changed", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME, PV("", ""), PV("'a':'b'", ""), QUEUE },
    { "a volume went", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME, PV("", ""), NULL, DEAF },
    { "a node came", WITH(CLAIM("c")), RES_NODE, NULL, PLAIN, QUEUE },
    { "labels of a node changed", WITH(CLAIM("c")), RES_NODE, PLAIN, NODE("'a':'b'", ""), QUEUE },
    { "taints changed: a new node may have been told of in this way", WITH(CLAIM("c")), RES_NODE, TAINTED, PLAIN,
      QUEUE },
    { "a node went", WITH(CLAIM("c")), RES_NODE, PLAIN, NULL, DEAF },
    { "a node's drivers became known", WITH(CLAIM("c")), RES_CSI_NODE, NULL, CSI_NODE(""), QUEUE },
    { "a node hands over to a driver", WITH(CLAIM("c")), RES_CSI_NODE, CSI_NODE(""), MIGRATED("a"), QUEUE },
    { "a node hands over to one more driver", WITH(CLAIM("c")), RES_CSI_NODE, MIGRATED("a"), MIGRATED("a,b"), QUEUE },
    { "a node hands over to another driver", WITH(CLAIM("c")), RES_CSI_NODE, MIGRATED("a"), MIGRATED("b"), QUEUE },
    { "a node got a driver to which it hands nothing over", WITH(CLAIM("c")), RES_CSI_NODE, CSI_NODE(""),
      CSI_NODE(DRIVER("d", "1")), SKIP_IT },
    { "a node hands over as before", WITH(CLAIM("c")), RES_CSI_NODE, MIGRATED("a"), MIGRATED("a"), SKIP_IT },
    { "a node's drivers are unknown again", WITH(CLAIM("c")), RES_CSI_NODE, CSI_NODE(""), NULL, DEAF },
    { "its driver does not track capacity any more", WITH(EMPTY "," INLINE("d")), RES_CSI_DRIVER,
      CSI_DRIVER("d", TRACKS), CSI_DRIVER("d", "'storageCapacity':false"), QUEUE },
    { "its driver does not say any more that it tracks capacity", WITH(INLINE("d")), RES_CSI_DRIVER,
      CSI_DRIVER("d", TRACKS), CSI_DRIVER("d", ""), QUEUE },
    { "its driver still tracks capacity", WITH(INLINE("d")), RES_CSI_DRIVER, CSI_DRIVER("d", TRACKS),
      CSI_DRIVER("d", TRACKS), SKIP_IT },
    { "its driver never tracked capacity", WITH(INLINE("d")), RES_CSI_DRIVER, CSI_DRIVER("d", ""), CSI_DRIVER("d", ""),
      SKIP_IT },
    { "its driver begins to track capacity", WITH(INLINE("d")), RES_CSI_DRIVER, CSI_DRIVER("d", ""),
      CSI_DRIVER("d", TRACKS), SKIP_IT },
    { "another driver does not track capacity any more", WITH(INLINE("d")), RES_CSI_DRIVER, CSI_DRIVER("e", TRACKS),
      CSI_DRIVER("e", ""), SKIP_IT },
    { "a driver does not track capacity any more, and it has a claim", WITH(CLAIM("d")), RES_CSI_DRIVER,
      CSI_DRIVER("d", TRACKS), CSI_DRIVER("d", ""), SKIP_IT },
    { "its driver came", WITH(INLINE("d")), RES_CSI_DRIVER, NULL, CSI_DRIVER("d", ""), DEAF },
    { "its driver went", WITH(INLINE("d")), RES_CSI_DRIVER, CSI_DRIVER("d", TRACKS), NULL, DEAF },
    { "a capacity became known", WITH(CLAIM("c")), RES_CSI_STORAGE_CAPACITY, NULL, CAPACITY(""), QUEUE },
    { "a capacity grew", WITH(CLAIM("c")), RES_CSI_STORAGE_CAPACITY, CAPACITY(",'capacity':'1Gi'"),
      CAPACITY(",'capacity':'2Gi'"), QUEUE },
    { "a capacity stayed", WITH(CLAIM("c")), RES_CSI_STORAGE_CAPACITY, CAPACITY(",'capacity':'1Gi'"),
      CAPACITY(",'capacity':'1024Mi'"), SKIP_IT },
    { "a capacity shrank", WITH(CLAIM("c")), RES_CSI_STORAGE_CAPACITY, CAPACITY(",'capacity':'2Gi'"),
      CAPACITY(",'capacity':'1Gi'"), SKIP_IT },
    { "a capacity was given at last", WITH(CLAIM("c")), RES_CSI_STORAGE_CAPACITY, CAPACITY(""),
      CAPACITY(",'capacity':'0'"), QUEUE },
    { "a capacity is not given any more", WITH(CLAIM("c")), RES_CSI_STORAGE_CAPACITY, CAPACITY(",'capacity':'1Gi'"),
      CAPACITY(""), SKIP_IT },
    { "the largest volume grew, the capacity shrank", WITH(CLAIM("c")), RES_CSI_STORAGE_CAPACITY,
      CAPACITY(",'capacity':'9Gi','maximumVolumeSize':'1Gi'"), CAPACITY(",'capacity':'8Gi','maximumVolumeSize':'2Gi'"),
      QUEUE },
    { "the capacity grew, the largest volume did not", WITH(CLAIM("c")), RES_CSI_STORAGE_CAPACITY,
      CAPACITY(",'capacity':'8Gi','maximumVolumeSize':'1Gi'"), CAPACITY(",'capacity':'9Gi','maximumVolumeSize':'1Gi'"),
      SKIP_IT },
    { "a capacity is unknown again", WITH(CLAIM("c")), RES_CSI_STORAGE_CAPACITY, CAPACITY(""), NULL, DEAF },
    { "a pod went", WITH(CLAIM("c")), RES_POD, GONE("ns", ON, CLAIM("c"), ""), NULL, DEAF },
};

TEST(volume_binding)
{
    struct volume_binding_args args = { 0 };
    hint_check(&volumebinding_plugin, &args, NULL, binding_rows, N_ROWS(binding_rows));
}

/* ---- VolumeZone ---- */

#define ZONE "'topology.kubernetes.io/zone'"
#define REGION "'topology.kubernetes.io/region'"
#define BETA_ZONE "'failure-domain.beta.kubernetes.io/zone'"
#define BETA_REGION "'failure-domain.beta.kubernetes.io/region'"

static const struct hint_row zone_rows[] = {
    { "a class came that waits for pods", WITH(CLAIM("c")), RES_STORAGE_CLASS, NULL,
      CLASS(",'volumeBindingMode':'WaitForFirstConsumer'"), QUEUE },
    { "a class came that binds at once", WITH(CLAIM("c")), RES_STORAGE_CLASS, NULL,
      CLASS(",'volumeBindingMode':'Immediate'"), SKIP_IT },
    { "a class came that does not say when it binds", WITH(CLAIM("c")), RES_STORAGE_CLASS, NULL, CLASS(""), SKIP_IT },
    { "a class changed", WITH(CLAIM("c")), RES_STORAGE_CLASS, CLASS(""),
      CLASS(",'volumeBindingMode':'WaitForFirstConsumer'"), DEAF },
    { "a node came", WITH(CLAIM("c")), RES_NODE, NULL, PLAIN, QUEUE },
    { "labels of a node changed", WITH(CLAIM("c")), RES_NODE, PLAIN, NODE("'a':'b'", ""), QUEUE },
    { "taints changed: a new node may have been told of in this way", WITH(CLAIM("c")), RES_NODE, TAINTED, PLAIN,
      QUEUE },
    { "a node went", WITH(CLAIM("c")), RES_NODE, PLAIN, NULL, DEAF },
    { "its claim came", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME_CLAIM, NULL, PVC("ns", "c", ""), QUEUE },
    { "its claim was bound", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME_CLAIM, PVC("ns", "c", ""), PVC("ns", "c", BOUND),
      QUEUE },
    { "another claim was bound", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME_CLAIM, PVC("ns", "d", ""),
      PVC("ns", "d", BOUND), SKIP_IT },
    { "a claim of that name was bound in another namespace", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME_CLAIM,
      PVC("other", "c", ""), PVC("other", "c", BOUND), SKIP_IT },
    { "the claim of its ephemeral volume was bound", WITH(EPHEMERAL), RES_PERSISTENT_VOLUME_CLAIM, PVC("ns", "x-e", ""),
      PVC("ns", "x-e", BOUND), SKIP_IT },
    { "its claim went", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME_CLAIM, PVC("ns", "c", ""), NULL, DEAF },
    { "a volume came", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME, NULL, PV("", ""), QUEUE },
    { "a volume is in another zone", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME, PV(ZONE ":'a'", ""), PV(ZONE ":'b'", ""),
      QUEUE },
    { "a volume is in another region", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME, PV(REGION ":'a'", ""),
      PV(REGION ":'b'", ""), QUEUE },
    { "a volume is in another zone, by the old label", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME,
      PV(BETA_ZONE ":'a'", ""), PV(BETA_ZONE ":'b'", ""), QUEUE },
    { "a volume is in another region, by the old label", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME,
      PV(BETA_REGION ":'a'", ""), PV(BETA_REGION ":'b'", ""), QUEUE },
    { "a volume is in one more zone", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME, PV(ZONE ":'a'", ""),
      PV(ZONE ":'a__b'", ""), QUEUE },
    { "a volume's zones are told in another order", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME, PV(ZONE ":'a__b'", ""),
      PV(ZONE ":'b__a'", ""), SKIP_IT },
    { "a volume has no zone any more", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME, PV(ZONE ":'a'", ""), PV("", ""),
      QUEUE },
    { "a volume got a zone", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME, PV("", ""), PV(ZONE ":'a'", ""), QUEUE },
    { "something else of a volume changed", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME, PV(ZONE ":'a'", ""),
      PV(ZONE ":'a','x':'y'", ""), SKIP_IT },
    { "a volume went", WITH(CLAIM("c")), RES_PERSISTENT_VOLUME, PV("", ""), NULL, DEAF },
};

TEST(volume_zone)
{
    hint_check(&volumezone_plugin, NULL, NULL, zone_rows, N_ROWS(zone_rows));
}
