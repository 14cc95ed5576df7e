/* VolumeZone: labels of volumes against labels of nodes. */
#include "tests/unit/volume_world.h"

#define BETA_ZONE "'failure-domain.beta.kubernetes.io/zone'"
#define BETA_REGION "'failure-domain.beta.kubernetes.io/region'"
#define ZONE "'topology.kubernetes.io/zone'"
#define REGION "'topology.kubernetes.io/region'"
#define OTHER_ZONE "UU node(s) had no available volume zone"

static const char *filter_with(struct cluster *cl, const char *volume_labels, const char *node_labels)
{
    cluster_init(cl, &volumezone_plugin, NULL);
    PVC(cl, "{'metadata':{'name':'c','namespace':'ns'},'spec':{'volumeName':'v'}}");
    PV(cl, arena_printf(&cl->texts, "{'metadata':{'name':'v','labels':{%s}}}", volume_labels));
    cluster_node(cl, "{'metadata':{'name':'n','labels':{%s}}}", node_labels);
    const char *says = try_pod(cl, "[{'name':'a','persistentVolumeClaim':{'claimName':'c'}}]");
    return *says ? says : filter_says(cl, "n");
}

TEST(zones_of_volumes_and_nodes)
{
    static const struct {
        const char *what, *volume, *node, *want;
    } rows[] = {
        { "the node has the old labels", BETA_ZONE ":'a__b'," BETA_REGION ":'r'", BETA_ZONE ":'a'," BETA_REGION ":'r'", "" },
        { "the node has the new labels", BETA_ZONE ":'a__b'," BETA_REGION ":'r'", ZONE ":'b'," REGION ":'r'", "" },
        { "another zone", BETA_ZONE ":'a__b'," BETA_REGION ":'r'", ZONE ":'c'," REGION ":'r'", OTHER_ZONE },
        { "a node without labels takes all", BETA_ZONE ":'a__b'," BETA_REGION ":'r'", "", "" },
        { "the region is missing", BETA_ZONE ":'a__b'," BETA_REGION ":'r'", ZONE ":'a'", OTHER_ZONE },
        { "other labels do not count", BETA_ZONE ":'a'", "'zone':'b'", "" },
        { "a new label of the volume needs a new one of the node", ZONE ":'a'", BETA_ZONE ":'a'", OTHER_ZONE },
        { "the old label of the node comes first", BETA_ZONE ":'a'", BETA_ZONE ":'b'," ZONE ":'a'", OTHER_ZONE },
        { "a volume without labels", "'x':'y'", ZONE ":'a'", "skip" },
        { "an empty part makes the label void", ZONE ":'a__'", ZONE ":'b'", "skip" },
        { "three parts", ZONE ":'a__b__c'", ZONE ":'c'", "" },
        { "an empty label", ZONE ":''", ZONE ":'b'", "skip" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct cluster cl;
        CHECK_TEXT(rows[i].what, filter_with(&cl, rows[i].volume, rows[i].node), rows[i].want);
        cluster_fini(&cl);
    }
}

TEST(claims_that_cannot_be_looked_at)
{
    static const struct {
        const char *what, *claim, *want;
    } rows[] = {
        { "no name", "", "UU PersistentVolumeClaim had no name" },
        { "no such claim", "gone", "UU persistentvolumeclaim \"gone\" not found" },
        { "neither volume nor class", "bare", "UU PersistentVolumeClaim had no pv name and storageClass name" },
        { "no such class", "classless", "UU storageclass.storage.k8s.io \"no\" not found" },
        { "a class without mode", "modeless", "UU VolumeBindingMode not set for StorageClass \"modeless\"" },
        { "a class that binds at once", "now", "UU PersistentVolume had no name" },
        { "a class that waits", "later", "skip" },
        { "no such volume", "lost", "UU persistentvolume \"v9\" not found" },
    };
    struct cluster cl;
    cluster_init(&cl, &volumezone_plugin, NULL);
    CLASS(&cl, "{'metadata':{'name':'modeless'},'provisioner':'p'}");
    CLASS(&cl, "{'metadata':{'name':'now'},'provisioner':'p','volumeBindingMode':'Immediate'}");
    CLASS(&cl, "{'metadata':{'name':'later'},'provisioner':'p','volumeBindingMode':'WaitForFirstConsumer'}");
    PVC(&cl, "{'metadata':{'name':'bare','namespace':'ns'}}");
    PVC(&cl, "{'metadata':{'name':'classless','namespace':'ns'},'spec':{'storageClassName':'no'}}");
    PVC(&cl, "{'metadata':{'name':'modeless','namespace':'ns'},'spec':{'storageClassName':'modeless'}}");
    PVC(&cl, "{'metadata':{'name':'now','namespace':'ns'},'spec':{'storageClassName':'now'}}");
    PVC(&cl, "{'metadata':{'name':'later','namespace':'ns'},'spec':{'storageClassName':'later'}}");
    PVC(&cl, "{'metadata':{'name':'lost','namespace':'ns'},'spec':{'volumeName':'v9'}}");
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        CHECK_TEXT(rows[i].what,
                   try_pod(&cl, arena_printf(&cl.texts, "[{'name':'a','persistentVolumeClaim':{'claimName':'%s'}}]",
                                             rows[i].claim)),
                   rows[i].want);
    CHECK_TEXT("ephemeral volumes do not count", try_pod(&cl, "[{'name':'a','ephemeral':{}}]"), "skip");
    cluster_fini(&cl);
}

TEST(filter_works_without_its_pre_filter)
{
    struct cluster cl;
    CHECK_TEXT("before", filter_with(&cl, ZONE ":'a'", ZONE ":'b'"), OTHER_ZONE);
    cl.state[0] = NULL;
    CHECK_TEXT("after", filter_says(&cl, "n"), OTHER_ZONE);
    cluster_fini(&cl);
}

TEST(hints_of_volume_zone)
{
    static const struct {
        const char *what, *old_labels, *new_labels;
        enum hint want;
    } rows[] = {
        { "another zone", ZONE ":'a'", ZONE ":'b'", HINT_QUEUE },
        { "the same zones in another order", ZONE ":'a__b'", ZONE ":'b__a__a'", HINT_SKIP },
        { "a label more", "", REGION ":'a'", HINT_QUEUE },
        { "another label", "'x':'a'", "'x':'b'", HINT_SKIP },
        { "from nothing to nothing", ZONE ":'a__'", "", HINT_SKIP },
    };
    struct cluster cl;
    cluster_init(&cl, &volumezone_plugin, NULL);
    try_pod(&cl, "[{'name':'a','persistentVolumeClaim':{'claimName':'c'}}]");
    enum hint hint;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *format = "{'metadata':{'name':'v','labels':{%s}}}";
        OBJECT_HINT(&cl, pv, RES_PERSISTENT_VOLUME, cl.pod, arena_printf(&cl.texts, format, rows[i].old_labels),
                    arena_printf(&cl.texts, format, rows[i].new_labels), &hint);
        CHECK_INT(rows[i].what, hint, rows[i].want);
    }
    OBJECT_HINT(&cl, storage_class, RES_STORAGE_CLASS, cl.pod, NULL, "{'volumeBindingMode':'Immediate'}", &hint);
    CHECK_INT("a class that binds at once", hint, HINT_SKIP);
    OBJECT_HINT(&cl, storage_class, RES_STORAGE_CLASS, cl.pod, NULL, "{'volumeBindingMode':'WaitForFirstConsumer'}", &hint);
    CHECK_INT("a class that waits", hint, HINT_QUEUE);
    OBJECT_HINT(&cl, pvc, RES_PERSISTENT_VOLUME_CLAIM, cl.pod, NULL, "{'metadata':{'name':'c','namespace':'ns'}}", &hint);
    CHECK_INT("the pod's claim", hint, HINT_QUEUE);
    OBJECT_HINT(&cl, pvc, RES_PERSISTENT_VOLUME_CLAIM, cl.pod, NULL, "{'metadata':{'name':'c','namespace':'x'}}", &hint);
    CHECK_INT("a claim of another namespace", hint, HINT_SKIP);
    cluster_fini(&cl);
}
