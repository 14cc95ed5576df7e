/* In-tree volumes in the words of CSI drivers. */
#include "plugins/csi_translate.h"

#include "tests/unit/volume_world.h"

static const struct pv *decode_pv(struct cluster *cl, const char *json)
{
    char *text = arena_cstr(&cl->texts, str_of(json));
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    const struct pv *pv;
    if (pv_decode(&cl->syms, TYPED_JSON, str_of(text), &pv, &cl->e))
        FAIL("%s: %s", json, cl->e.message);
    return pv;
}

TEST(handles_of_volumes)
{
    static const struct {
        const char *what, *pv, *want;
    } rows[] = {
        { "a plain id", "{'spec':{'awsElasticBlockStore':{'volumeID':'vol-1'}}}", "vol-1" },
        { "any plain id", "{'spec':{'awsElasticBlockStore':{'volumeID':'disk'}}}", "disk" },
        { "a URL with a zone", "{'spec':{'awsElasticBlockStore':{'volumeID':'aws://us-east-1a/vol-1'}}}", "vol-1" },
        { "a URL without one", "{'spec':{'awsElasticBlockStore':{'volumeID':'aws:///vol-1/'}}}", "vol-1" },
        { "a URL of something else", "{'spec':{'awsElasticBlockStore':{'volumeID':'aws://a/snap-1'}}}",
          "!failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://a/snap-1)" },
        { "a URL with too many parts", "{'spec':{'awsElasticBlockStore':{'volumeID':'aws://a/vol-1/x'}}}",
          "!failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://a/vol-1/x)" },
        { "a disk without zone", "{'spec':{'gcePersistentDisk':{'pdName':'d'}}}",
          "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d" },
        { "a disk in a zone",
          "{'metadata':{'labels':{'topology.kubernetes.io/zone':'us-a-b'}},'spec':{'gcePersistentDisk':{'pdName':'d'}}}",
          "projects/UNSPECIFIED/zones/us-a-b/disks/d" },
        { "the old label comes first",
          "{'metadata':{'labels':{'topology.kubernetes.io/zone':'x','failure-domain.beta.kubernetes.io/zone':'y'}},"
          "'spec':{'gcePersistentDisk':{'pdName':'d'}}}", "projects/UNSPECIFIED/zones/y/disks/d" },
        { "a disk in two zones",
          "{'metadata':{'labels':{'topology.kubernetes.io/zone':'us-a1-b__us-a1-c'}},'spec':{'gcePersistentDisk':{'pdName':'d'}}}",
          "projects/UNSPECIFIED/regions/us-a1/disks/d" },
        { "zones of two regions",
          "{'metadata':{'labels':{'topology.kubernetes.io/zone':'us-a1-b__us-a2-c'}},'spec':{'gcePersistentDisk':{'pdName':'d'}}}",
          "!failed to get region from zones: multiple or no regions gotten from zones" },
        { "zones that are none",
          "{'metadata':{'labels':{'topology.kubernetes.io/zone':'a__b'}},'spec':{'gcePersistentDisk':{'pdName':'d'}}}",
          "!failed to get region from zones: zone in unexpected format, expected: {locale}-{region}-{zone}, got: a" },
        { "a managed disk", "{'spec':{'azureDisk':{'diskName':'n','diskURI':'/u','kind':'managed'}}}", "/u" },
        { "an unmanaged disk", "{'spec':{'azureDisk':{'diskName':'n','diskURI':'/u','kind':'Shared'}}}",
          "!kind is not supported in csi migration" },
        { "cinder", "{'spec':{'cinder':{'volumeID':'c'}}}", "c" },
        { "portworx", "{'spec':{'portworxVolume':{'volumeID':'p'}}}", "p" },
    };
    struct cluster cl;
    cluster_init(&cl, &volumezone_plugin, NULL);
    struct csi_names names;
    csi_names_init(&names, &cl.syms);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct pv *pv = decode_pv(&cl, rows[i].pv);
        struct str handle;
        bool failed = csi_handle_of_pv(&names, &cl.syms, pv, &handle, &cl.e) != ERR_OK;
        CHECK(csi_stands_in(pv->source));
        CHECK_TEXT(rows[i].what, failed ? arena_printf(&cl.texts, "!%s", cl.e.message) : arena_cstr(&cl.texts, handle),
                   rows[i].want);
        pv_unref(&cl.syms, pv);
    }
    cluster_fini(&cl);
}

TEST(handles_of_volumes_in_pods)
{
    static const struct {
        const char *volume, *want;
    } rows[] = {
        { "'awsElasticBlockStore':{'volumeID':'aws://us-east-1a/vol-1'}", "vol-1" },
        { "'gcePersistentDisk':{'pdName':'d'}", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d" },
        { "'azureDisk':{'diskName':'n','diskURI':'/u','kind':'Managed'}", "/u" },
        { "'azureDisk':{'diskName':'n','diskURI':'/u','kind':'Shared'}", "!kind is not supported in csi migration" },
        { "'cinder':{'volumeID':'c'}", "c" },
    };
    struct cluster cl;
    cluster_init(&cl, &volumezone_plugin, NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct pod *pod = cluster_decode_pod(
            &cl, "{'metadata':{'name':'p','namespace':'d','uid':'p'},'spec':{'volumes':[{'name':'v',%s}]}}",
            rows[i].volume);
        struct str handle;
        bool failed = csi_handle_of_volume(&cl.syms, &pod->volumes[0], &handle, &cl.e) != ERR_OK;
        CHECK_TEXT(rows[i].volume,
                   failed ? arena_printf(&cl.texts, "!%s", cl.e.message) : arena_cstr(&cl.texts, handle), rows[i].want);
        pod_unref(&cl.syms, pod);
    }
    cluster_fini(&cl);
}

/* ---- Node affinity ---- */

#define EBS(labels, affinity)                                                                                    \
    "{'metadata':{'labels':{" labels "}},'spec':{'awsElasticBlockStore':{'volumeID':'vol-1'}" affinity "}}"
#define TERMS(terms) ",'nodeAffinity':{'required':{'nodeSelectorTerms':[" terms "]}}"
#define IN(key, values) "{'key':'" key "','operator':'In','values':[" values "]}"
#define TERM(rules) "{'matchExpressions':[" rules "]}"
#define ZONE "topology.kubernetes.io/zone"
#define BETA_ZONE "failure-domain.beta.kubernetes.io/zone"
#define REGION "topology.kubernetes.io/region"
#define BETA_REGION "failure-domain.beta.kubernetes.io/region"
#define EBS_ZONE "topology.ebs.csi.aws.com/zone"

TEST(affinity_of_volumes)
{
    static const struct {
        const char *what, *pv, *node_labels;
        bool want;
    } rows[] = {
        { "the key is the driver's", EBS("", TERMS(TERM(IN(ZONE, "'a'")))), "'" EBS_ZONE "':'a'", true },
        { "and no more the old one", EBS("", TERMS(TERM(IN(ZONE, "'a'")))), "'" ZONE "':'a'", false },
        { "values stay", EBS("", TERMS(TERM(IN(ZONE, "'a'")))), "'" EBS_ZONE "':'b'", false },
        { "the beta key too", EBS("", TERMS(TERM(IN(BETA_ZONE, "'a'")))), "'" EBS_ZONE "':'a'", true },
        { "only one of the two spellings", EBS("", TERMS(TERM(IN(ZONE, "'a'") "," IN(BETA_ZONE, "'a'")))),
          "'" EBS_ZONE "':'a'", false },
        { "no affinity and no label: every node", EBS("", ""), "'x':'y'", true },
        { "no affinity but a label", EBS("'" ZONE "':'a'", ""), "'" EBS_ZONE "':'a'", true },
        { "another zone than the label", EBS("'" ZONE "':'a'", ""), "'" EBS_ZONE "':'b'", false },
        { "a label of two zones", EBS("'" ZONE "':'a__b'", ""), "'" EBS_ZONE "':'b'", true },
        { "a label of no zone", EBS("'" ZONE "':''", ""), "'x':'b'", true },
        { "the label is added to every term", EBS("'" ZONE "':'a'", TERMS(TERM(IN("x", "'1'")) "," TERM(IN("x", "'2'")))),
          "'" EBS_ZONE "':'a','x':'2'", true },
        { "and both must hold", EBS("'" ZONE "':'a'", TERMS(TERM(IN("x", "'1'")) "," TERM(IN("x", "'2'")))),
          "'" EBS_ZONE "':'b','x':'2'", false },
        { "an empty term becomes one of the zone", EBS("'" ZONE "':'a'", TERMS("{}")), "'" EBS_ZONE "':'a'", true },
        { "the affinity counts before the label", EBS("'" ZONE "':'a'", TERMS(TERM(IN(ZONE, "'b'")))),
          "'" EBS_ZONE "':'b'", true },
        { "a key without values leaves it to the label",
          EBS("'" ZONE "':'a'", TERMS(TERM("{'key':'" ZONE "','operator':'Exists'}"))),
          "'" EBS_ZONE "':'a','" ZONE "':'z'", true },
        { "the beta region becomes the new one", EBS("", TERMS(TERM(IN(BETA_ZONE, "'a'") "," IN(BETA_REGION, "'r'")))),
          "'" EBS_ZONE "':'a','" REGION "':'r'", true },
        { "but not beside a new zone", EBS("", TERMS(TERM(IN(ZONE, "'a'") "," IN(BETA_REGION, "'r'")))),
          "'" EBS_ZONE "':'a','" REGION "':'r'", false },
        { "part of a label that is no value", EBS("'" ZONE "':'a__-b'", ""), "'" EBS_ZONE "':'a'", false },
        { "a disk without topology stays as it is",
          "{'metadata':{'labels':{'" ZONE "':'a'}},'spec':{'azureDisk':{'diskName':'n','diskURI':'u'}}}", "'x':'y'", true },
    };
    struct cluster cl;
    cluster_init(&cl, &volumezone_plugin, NULL);
    struct csi_names names;
    csi_names_init(&names, &cl.syms);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct node *node = cluster_decode_node(&cl, "{'metadata':{'name':'n','labels':{%s}}}", rows[i].node_labels);
        const struct pv *pv = decode_pv(&cl, rows[i].pv);
        struct node_rules rules;
        if (csi_affinity_of_pv(&names, &cl.syms, pv, &rules, &cl.e))
            FAIL("%s: %s", rows[i].what, cl.e.message);
        CHECK_INT(rows[i].what, node_rules_match(&rules, node->meta.labels, SYM_EMPTY, &cl.syms), rows[i].want);
        pv_unref(&cl.syms, pv);
        node_unref(&cl.syms, node);
    }
    cluster_fini(&cl);
}

TEST(zone_labels_in_parts)
{
    static const struct {
        const char *label, *want;
    } rows[] = { { "", "<>" }, { "a", "<a>" }, { "a__b", "<a><b>" }, { "a___b", "<a><_b>" },
                 { "__a", "<><a>" }, { "a__", "<a><>" }, { "____", "<><><>" } };
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct str rest = str_of(rows[i].label), part;
        const char *got = "";
        while (zone_label_next(&rest, &part))
            got = arena_printf(&arena, "%s<%.*s>", got, STR_ARG(part));
        CHECK_TEXT(rows[i].label, got, rows[i].want);
    }
    arena_fini(&arena);
}
