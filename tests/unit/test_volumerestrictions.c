/* VolumeRestrictions: disks of one pod only, and claims of one pod only. */
#include "tests/unit/volume_world.h"

#define NO_DISK "U node(s) had no available disk"
#define IN_USE                                                                                                   \
    "U node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
#define GCE(disk, mode) "[{'name':'v','gcePersistentDisk':{'pdName':'" disk "','readOnly':" mode "}}]"
#define EBS(id) "[{'name':'v','awsElasticBlockStore':{'volumeID':'" id "','readOnly':true}}]"
#define ISCSI(iqn, mode) "[{'name':'v','iscsi':{'iqn':'" iqn "','lun':1,'readOnly':" mode "}}]"
#define RBD(monitors, image, mode)                                                                               \
    "[{'name':'v','rbd':{'pool':'rbd','image':'" image "','monitors':[" monitors "],'readOnly':" mode "}}]"

TEST(disks_of_two_pods)
{
    static const struct {
        const char *what, *mine, *theirs, *want;
    } rows[] = {
        { "one GCE disk", GCE("a", "false"), GCE("a", "false"), NO_DISK },
        { "one GCE disk, one reader", GCE("a", "true"), GCE("a", "false"), NO_DISK },
        { "one GCE disk, two readers", GCE("a", "true"), GCE("a", "true"), "" },
        { "two GCE disks", GCE("a", "false"), GCE("b", "false"), "" },
        { "one EBS volume, two readers", EBS("a"), EBS("a"), NO_DISK },
        { "two EBS volumes", EBS("a"), EBS("b"), "" },
        { "one iSCSI target", ISCSI("a", "false"), ISCSI("a", "true"), NO_DISK },
        { "one iSCSI target, two readers", ISCSI("a", "true"), ISCSI("a", "true"), "" },
        { "one image", RBD("'m1','m2'", "i", "false"), RBD("'m2','m3'", "i", "true"), NO_DISK },
        { "one image, two readers", RBD("'m1'", "i", "true"), RBD("'m1'", "i", "true"), "" },
        { "two images", RBD("'m1'", "i", "false"), RBD("'m1'", "k", "false"), "" },
        { "two clusters with one image each", RBD("'m1'", "i", "false"), RBD("'m2'", "i", "false"), "" },
        { "disks of different kinds", GCE("a", "false"), EBS("a"), "" },
        { "many monitors, one shared",
          RBD("'1','2','3','4','5','6','7','8','9','10','11','12','13','14','15','16','17'", "i", "false"),
          RBD("'a','b','c','d','e','f','g','h','i','j','k','l','m','n','o','p','17'", "i", "false"), NO_DISK },
        { "many monitors, none shared",
          RBD("'1','2','3','4','5','6','7','8','9','10','11','12','13','14','15','16','17'", "i", "false"),
          RBD("'a','b','c','d','e','f','g','h','i','j','k','l','m','n','o','p','q'", "i", "false"), "" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct cluster cl;
        cluster_init(&cl, &volumerestrictions_plugin, NULL);
        cluster_node(&cl, "{'metadata':{'name':'n'}}");
        cluster_pod(&cl, "{'metadata':{'name':'old','namespace':'other','uid':'u'},'spec':{'nodeName':'n','volumes':%s}}",
                    rows[i].theirs);
        CHECK_TEXT(rows[i].what, try_pod(&cl, rows[i].mine), "");
        CHECK_TEXT(rows[i].what, filter_says(&cl, "n"), rows[i].want);
        const struct pod *gone = cluster_decode_pod(&cl, "{'metadata':{'namespace':'ns'},'spec':{'volumes':%s}}",
                                                    rows[i].theirs);
        struct hint_context h = { cluster_plugin(&cl), &cl.cache, cl.objects, &cl.syms, &cl.arena };
        struct cluster_event event = { .old_object = gone };
        CHECK_INT(rows[i].what, event_of(&cl, RES_POD, ACT_DELETE)->hint(&h, cl.pod, &event),
                  *rows[i].want ? HINT_QUEUE : HINT_SKIP);
        pod_unref(&cl.syms, gone);
        cluster_fini(&cl);
    }
}

static void add_claim_users(struct cluster *cl)
{
    cluster_init(cl, &volumerestrictions_plugin, NULL);
    cluster_node(cl, "{'metadata':{'name':'n1'}}");
    cluster_node(cl, "{'metadata':{'name':'n2'}}");
    PVC(cl, "{'metadata':{'name':'mine','namespace':'ns'},'spec':{'accessModes':['ReadWriteOncePod']}}");
    PVC(cl, "{'metadata':{'name':'free','namespace':'ns'},'spec':{'accessModes':['ReadWriteOncePod']}}");
    PVC(cl, "{'metadata':{'name':'all','namespace':'ns'},'spec':{'accessModes':['ReadWriteMany']}}");
    cluster_pod(cl, "{'metadata':{'name':'user','namespace':'ns','uid':'u'},'spec':{'nodeName':'n1','volumes':["
                    "{'name':'v','persistentVolumeClaim':{'claimName':'mine'}},"
                    "{'name':'w','persistentVolumeClaim':{'claimName':'all'}}]}}");
}

TEST(claims_of_one_pod)
{
    static const struct {
        const char *what, *volumes, *pre_filter, *filter;
    } rows[] = {
        { "in use", "[{'name':'v','persistentVolumeClaim':{'claimName':'mine'}}]", "", IN_USE },
        { "in use, named twice",
          "[{'name':'v','persistentVolumeClaim':{'claimName':'mine'}},{'name':'w','persistentVolumeClaim':{'claimName':'mine'}}]",
          "", IN_USE },
        { "not in use", "[{'name':'v','persistentVolumeClaim':{'claimName':'free'}}]", "skip", NULL },
        { "for all to use", "[{'name':'v','persistentVolumeClaim':{'claimName':'all'}}]", "skip", NULL },
        { "not there", "[{'name':'v','persistentVolumeClaim':{'claimName':'no'}}]",
          "UU persistentvolumeclaim \"no\" not found", NULL },
        { "no volumes", "[]", "skip", NULL },
        { "a disk and a free claim",
          "[{'name':'v','persistentVolumeClaim':{'claimName':'free'}},{'name':'w','gcePersistentDisk':{'pdName':'d'}}]", "",
          "" },
    };
    struct cluster cl;
    add_claim_users(&cl);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        CHECK_TEXT(rows[i].what, try_pod(&cl, rows[i].volumes), rows[i].pre_filter);
        for (const char *node = "n1"; rows[i].filter && node; node = strcmp(node, "n1") == 0 ? "n2" : NULL)
            CHECK_TEXT(rows[i].what, filter_says(&cl, node), rows[i].filter);
    }
    cluster_fini(&cl);
}

/* The user leaves a copy of its node: there the claim is free, and only there. */
TEST(the_state_follows_pods_that_come_and_go)
{
    struct cluster cl;
    add_claim_users(&cl);
    try_pod(&cl, "[{'name':'v','persistentVolumeClaim':{'claimName':'mine'}}]");
    struct node_view n1 = node_view_of(&cl.cache, cluster_row(&cl, "n1"));
    void **before = cl.cycle.state;
    struct node_view *copy = node_view_clone(&cl.cycle, &n1);
    const struct pod *user = node_view_pod(&n1, 0);
    const struct plugin_instance *p = cluster_plugin(&cl);
    cl.cycle.state = cycle_clone_state(&cl.cycle);
    node_view_remove(&cl.cycle, copy, user);
    CHECK_TEXT("gone", verdict_says(&cl, p->plugin->filter(p, &cl.cycle, copy)), "");
    node_view_add(&cl.cycle, copy, user);
    CHECK_TEXT("back", verdict_says(&cl, p->plugin->filter(p, &cl.cycle, copy)), IN_USE);
    node_view_remove(&cl.cycle, copy, user);
    cl.cycle.state = before;
    CHECK_TEXT("the state itself", filter_says(&cl, "n2"), IN_USE);
    cluster_fini(&cl);
}

TEST(hints_of_volume_restrictions)
{
    struct cluster cl;
    add_claim_users(&cl);
    try_pod(&cl, "[{'name':'v','persistentVolumeClaim':{'claimName':'mine'}}]");
    static const char *const mine = "{'metadata':{'namespace':'%s'},'spec':{'volumes':["
                                    "{'name':'v','persistentVolumeClaim':{'claimName':'%s'}}]}}";
    static const struct {
        const char *what, *ns, *claim;
        enum hint want;
    } rows[] = { { "a user of the claim", "ns", "mine", HINT_QUEUE },
                 { "a user of another claim", "ns", "all", HINT_SKIP },
                 { "another namespace", "x", "mine", HINT_SKIP } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        CHECK_INT(rows[i].what,
                  cluster_hint(&cl, event_of(&cl, RES_POD, ACT_DELETE), cl.pod,
                               arena_printf(&cl.texts, mine, rows[i].ns, rows[i].claim), NULL),
                  rows[i].want);
    cluster_fini(&cl);
}
