/* NodeVolumeLimits: what counts, what counts once, and against which limit. */
#include "tests/unit/volume_world.h"

#define TOO_MANY "U node(s) exceed max volume count"
#define CLAIM(name) "{'name':'" name "','persistentVolumeClaim':{'claimName':'" name "'}}"

/* csi: claims v1..v3 with volumes of driver d; wait: one without; ebs: an in-tree volume. Node n allows 2 of d and 1 of
 * ebs.csi.aws.com, node free has no CSINode. */
static void world_init(struct cluster *cl)
{
    cluster_init(cl, &nodevolumelimits_plugin, NULL);
    cluster_node(cl, "{'metadata':{'name':'n'}}");
    cluster_node(cl, "{'metadata':{'name':'free'}}");
    CSI_NODE(cl, "{'metadata':{'name':'n'},'spec':{'drivers':[{'name':'d','nodeID':'n','allocatable':{'count':2}},"
                 "{'name':'unlimited','nodeID':'n'},"
                 "{'name':'ebs.csi.aws.com','nodeID':'n','allocatable':{'count':1}}]}}");
    for (int i = 1; i <= 3; i++) {
        PVC(cl, arena_printf(&cl->texts, "{'metadata':{'name':'v%d','namespace':'ns'},'spec':{'volumeName':'pv%d'}}", i, i));
        PV(cl, arena_printf(&cl->texts, "{'metadata':{'name':'pv%d'},'spec':{'csi':{'driver':'d','volumeHandle':'h%d'}}}", i, i));
    }
    CLASS(cl, "{'metadata':{'name':'slow'},'provisioner':'d'}");
    CLASS(cl, "{'metadata':{'name':'in-tree'},'provisioner':'kubernetes.io/aws-ebs'}");
    PVC(cl, "{'metadata':{'name':'wait','namespace':'ns'},'spec':{'storageClassName':'slow'}}");
    PVC(cl, "{'metadata':{'name':'wait-ebs','namespace':'ns'},'spec':{'storageClassName':'in-tree'}}");
    PVC(cl, "{'metadata':{'name':'ebs','namespace':'ns'},'spec':{'volumeName':'pv-ebs'}}");
    PV(cl, "{'metadata':{'name':'pv-ebs'},'spec':{'awsElasticBlockStore':{'volumeID':'aws://zone/vol-1'}}}");
    PVC(cl, "{'metadata':{'name':'nfs','namespace':'ns'},'spec':{'volumeName':'pv-nfs'}}");
    PV(cl, "{'metadata':{'name':'pv-nfs'},'spec':{'nfs':{'server':'s','path':'/'}}}");
    PVC(cl, "{'metadata':{'name':'other','namespace':'ns'},'spec':{'volumeName':'pv-other'}}");
    PV(cl, "{'metadata':{'name':'pv-other'},'spec':{'csi':{'driver':'unlimited','volumeHandle':'h'}}}");
}

TEST(volumes_against_limits)
{
    static const struct {
        const char *what, *theirs, *mine, *want;
    } rows[] = {
        { "room for one more", CLAIM("v1"), CLAIM("v2"), "" },
        { "full", CLAIM("v1") "," CLAIM("v2"), CLAIM("v3"), TOO_MANY },
        { "full of what the pod wants", CLAIM("v1") "," CLAIM("v2"), CLAIM("v2"), "" },
        { "two wanted, one of them there", CLAIM("v1"), CLAIM("v1") "," CLAIM("v2"), "" },
        { "three wanted of an empty node", "", CLAIM("v1") "," CLAIM("v2") "," CLAIM("v3"), TOO_MANY },
        { "one claim named three times", "", "{'name':'a','persistentVolumeClaim':{'claimName':'v1'}},"
          "{'name':'b','persistentVolumeClaim':{'claimName':'v1'}},{'name':'c','persistentVolumeClaim':{'claimName':'v1'}}", "" },
        { "one without a volume yet", CLAIM("v1") "," CLAIM("v2"), CLAIM("wait"), TOO_MANY },
        { "the same without a volume yet", CLAIM("v1") "," CLAIM("wait"), CLAIM("wait"), "" },
        { "no driver, no count", CLAIM("v1") "," CLAIM("v2"), CLAIM("nfs"), "" },
        { "a driver without limit", CLAIM("v1") "," CLAIM("v2"), CLAIM("other"), "" },
        { "an in-tree volume counts as the driver's", CLAIM("ebs"), CLAIM("wait-ebs"), TOO_MANY },
        { "an in-tree volume in the pod is the one of the claim", CLAIM("ebs"),
          "{'name':'a','awsElasticBlockStore':{'volumeID':'vol-1'}}", "" },
        { "another in-tree volume in the pod", CLAIM("ebs"), "{'name':'a','awsElasticBlockStore':{'volumeID':'vol-2'}}",
          TOO_MANY },
        { "claims that are not there do not count", CLAIM("gone") "," CLAIM("v1"), CLAIM("v2"), "" },
        { "a wrong name of a volume in a pod", "", "{'name':'a','awsElasticBlockStore':{'volumeID':'aws://z/disk'}}",
          "ERR converting volume from inline to csi: failed to translate Kubernetes ID to EBS Volume ID "
          "Invalid format for AWS volume (aws://z/disk)" },
        { "no such claim", "", CLAIM("gone"), "UU looking up PVC ns/gone: persistentvolumeclaim \"gone\" not found" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct cluster cl;
        world_init(&cl);
        cluster_pod(&cl, "{'metadata':{'name':'old','namespace':'ns','uid':'u'},'spec':{'nodeName':'n','volumes':[%s]}}",
                    rows[i].theirs);
        CHECK_TEXT(rows[i].what, try_pod(&cl, arena_printf(&cl.texts, "[%s]", rows[i].mine)), "");
        CHECK_TEXT(rows[i].what, filter_says(&cl, "n"), rows[i].want);
        bool fails_everywhere = strncmp(rows[i].want, "UU", 2) == 0;
        CHECK_TEXT(rows[i].what, filter_says(&cl, "free"), fails_everywhere ? rows[i].want : "");
        cluster_fini(&cl);
    }
}

TEST(pods_without_volumes_that_count)
{
    static const struct {
        const char *what, *volumes, *want;
    } rows[] = {
        { "none", "[]", "skip" },
        { "a secret", "[{'name':'a','secret':{'secretName':'s'}}]", "skip" },
        { "inline CSI is never counted", "[{'name':'a','csi':{'driver':'d'}}]", "skip" },
        { "a file share might be handed over", "[{'name':'a','azureFile':{'secretName':'s','shareName':'f'}}]", "" },
        { "ephemeral", "[{'name':'a','ephemeral':{}}]", "" },
    };
    struct cluster cl;
    world_init(&cl);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        CHECK_TEXT(rows[i].what, try_pod(&cl, rows[i].volumes), rows[i].want);
    cluster_fini(&cl);
}

TEST(attached_volumes_count)
{
    struct cluster cl;
    world_init(&cl);
    ATTACHMENT(&cl, "{'metadata':{'name':'a1'},'spec':{'attacher':'d','nodeName':'n','source':{'persistentVolumeName':'pv1'}}}");
    CHECK_TEXT("pod", try_pod(&cl, "[" CLAIM("v2") "]"), "");
    CHECK_TEXT("one attached, one wanted", filter_says(&cl, "n"), "");
    ATTACHMENT(&cl, "{'metadata':{'name':'a2'},'spec':{'attacher':'d','nodeName':'n','source':{'persistentVolumeName':'pv2'}}}");
    CHECK_TEXT("pod", try_pod(&cl, "[" CLAIM("v2") "]"), "");
    CHECK_TEXT("the wanted one is attached and counts twice", filter_says(&cl, "n"), TOO_MANY);
    cluster_pod(&cl, "{'metadata':{'name':'old','namespace':'ns','uid':'u'},'spec':{'nodeName':'n','volumes':[" CLAIM("v2") "]}}");
    CHECK_TEXT("pod", try_pod(&cl, "[" CLAIM("v2") "]"), "");
    CHECK_TEXT("used by a pod it is not new", filter_says(&cl, "n"), "");
    ATTACHMENT(&cl, "{'metadata':{'name':'a2'},'spec':{'attacher':'d','nodeName':'free','source':{'persistentVolumeName':'pv2'}}}");
    CHECK_TEXT("pod", try_pod(&cl, "[" CLAIM("v3") "]"), "");
    CHECK_TEXT("one in use, one attached", filter_says(&cl, "n"), TOO_MANY);
    cluster_fini(&cl);
}

TEST(ephemeral_claims_must_belong_to_their_pod)
{
    struct cluster cl;
    world_init(&cl);
    PVC(&cl, "{'metadata':{'name':'new-v','namespace':'ns'},'spec':{'volumeName':'pv1'}}");
    CHECK_TEXT("pod", try_pod(&cl, "[{'name':'v','ephemeral':{}}]"), "");
    CHECK_TEXT("not the owner", filter_says(&cl, "n"), "ERR PVC ns/new-v was not created for pod ns/new (pod is not owner)");
    PVC(&cl, "{'metadata':{'name':'new-v','namespace':'ns','ownerReferences':[{'apiVersion':'v1','kind':'Pod',"
             "'name':'new','uid':'new-uid','controller':true}]},'spec':{'volumeName':'pv1'}}");
    CHECK_TEXT("pod", try_pod(&cl, "[{'name':'v','ephemeral':{}}]"), "");
    CHECK_TEXT("the owner", filter_says(&cl, "n"), "");
    cluster_fini(&cl);
}

TEST(drivers_may_insist_on_being_installed)
{
    struct cluster cl;
    world_init(&cl);
    cl.features.volume_limit_scaling = true;
    CSI_DRIVER(&cl, "{'metadata':{'name':'d'},'spec':{'preventPodSchedulingIfMissing':true}}");
    CHECK_TEXT("pod", try_pod(&cl, "[" CLAIM("v1") "]"), "");
    CHECK_TEXT("installed", filter_says(&cl, "n"), "");
    CHECK_TEXT("missing", filter_says(&cl, "free"), "U d CSI driver is not installed on the node");
    cl.features.volume_limit_scaling = false;
    CHECK_TEXT("gate off", filter_says(&cl, "free"), "");
    cluster_fini(&cl);
}

TEST(hints_of_node_volume_limits)
{
    struct cluster cl;
    world_init(&cl);
    try_pod(&cl, "[{'name':'v','ephemeral':{}},{'name':'w','gcePersistentDisk':{'pdName':'x'}}]");
    enum hint hint;
#define COUNT(n) "{'spec':{'drivers':[{'name':'d','allocatable':{'count':" n "}}]}}"
    OBJECT_HINT(&cl, csi_node, RES_CSI_NODE, cl.pod, COUNT("1"), COUNT("2"), &hint);
    CHECK_INT("the limit grew", hint, HINT_QUEUE);
    OBJECT_HINT(&cl, csi_node, RES_CSI_NODE, cl.pod, COUNT("2"), COUNT("1"), &hint);
    CHECK_INT("the limit shrank", hint, HINT_SKIP);
    OBJECT_HINT(&cl, csi_node, RES_CSI_NODE, cl.pod, "{'spec':{'drivers':[]}}", COUNT("1"), &hint);
    CHECK_INT("a new driver", hint, HINT_QUEUE);
    OBJECT_HINT(&cl, volume_attachment, RES_VOLUME_ATTACHMENT, cl.pod, "{'spec':{'attacher':'d'}}", NULL, &hint);
    CHECK_INT("detached by another driver", hint, HINT_SKIP);
    OBJECT_HINT(&cl, volume_attachment, RES_VOLUME_ATTACHMENT, cl.pod, "{'spec':{'attacher':'pd.csi.storage.gke.io'}}", NULL,
                &hint);
    CHECK_INT("detached by the driver of the pod's disk", hint, HINT_QUEUE);
    OBJECT_HINT(&cl, pvc, RES_PERSISTENT_VOLUME_CLAIM, cl.pod, NULL, "{'metadata':{'name':'new-v','namespace':'ns'}}", &hint);
    CHECK_INT("the claim of the ephemeral volume", hint, HINT_QUEUE);
    static const struct {
        const char *what, *gone;
        enum hint want;
    } rows[] = {
        { "a pod with a claim left a node", "{'spec':{'nodeName':'n','volumes':[" CLAIM("v1") "]}}", HINT_QUEUE },
        { "a pod with a claim had no node", "{'spec':{'volumes':[" CLAIM("v1") "]}}", HINT_SKIP },
        { "a pod was to get a node", "{'spec':{'volumes':[" CLAIM("v1") "]},'status':{'nominatedNodeName':'n'}}", HINT_QUEUE },
        { "a pod without volumes left", "{'spec':{'nodeName':'n'}}", HINT_SKIP },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        CHECK_INT(rows[i].what, cluster_hint(&cl, event_of(&cl, RES_POD, ACT_DELETE), cl.pod, rows[i].gone, NULL),
                  rows[i].want);
    cluster_fini(&cl);
}
