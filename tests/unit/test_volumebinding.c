/* VolumeBinding: which claims may be used, which volumes they get on a node, what is assumed and written. */
#include "plugins/volumebinding.c"

#include "tests/unit/volume_world.h"

#define NODE_CONFLICT "UU node(s) didn't match PersistentVolume's node affinity"
#define BIND_CONFLICT "UU node(s) didn't find available persistent volumes to bind"
#define NO_SPACE "UU node(s) did not have enough free storage"
#define CLAIM(name) "{'name':'" name "','persistentVolumeClaim':{'claimName':'" name "'}}"

static const struct shape_point default_shape[] = { { 0, 10 }, { 100, 0 } };
static const struct volume_binding_args args = { .bind_timeout_s = 600, .shape = default_shape, .n_shape = 2 };

/* What framework_bind_volumes was called with. */
static const struct volume_decisions *written;

static void keep_decisions(void *context, io_ticket ticket, const struct pod *pod, sym node,
                           const struct volume_decisions *decisions)
{
    (void)context;
    (void)ticket;
    (void)pod;
    (void)node;
    written = decisions;
}

/* Nodes a and b in zones a and b. Class local has no provisioner, made is of driver d, at-once binds at once. */
static void world_init(struct cluster *cl)
{
    cluster_init(cl, &volumebinding_plugin, &args);
    cluster_node(cl, "{'metadata':{'name':'a','labels':{'zone':'a'}}}");
    cluster_node(cl, "{'metadata':{'name':'b','labels':{'zone':'b'}}}");
    CLASS(cl, "{'metadata':{'name':'local'},'provisioner':'kubernetes.io/no-provisioner',"
              "'volumeBindingMode':'WaitForFirstConsumer'}");
    CLASS(cl, "{'metadata':{'name':'made'},'provisioner':'d','volumeBindingMode':'WaitForFirstConsumer'}");
    CLASS(cl, "{'metadata':{'name':'at-once'},'provisioner':'d','volumeBindingMode':'Immediate'}");
    CLASS(cl, "{'metadata':{'name':'modeless'},'provisioner':'d'}");
}

static void add_claim(struct cluster *cl, const char *name, const char *size, const char *class, const char *more)
{
    PVC(cl, arena_printf(&cl->texts,
                         "{'metadata':{'name':'%s','namespace':'ns','uid':'%s-uid','resourceVersion':'5'},"
                         "'spec':{'storageClassName':'%s','accessModes':['ReadWriteOnce'],"
                         "'resources':{'requests':{'storage':'%s'}}%s}}",
                         name, name, class, size, more));
}

/* A free local volume of a zone; zone NULL: of all. */
static void add_volume(struct cluster *cl, const char *name, const char *size, const char *zone, const char *more)
{
    const char *affinity = "";
    if (zone)
        affinity = arena_printf(&cl->texts, ",'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':["
                                            "{'key':'zone','operator':'In','values':['%s']}]}]}}", zone);
    PV(cl, arena_printf(&cl->texts,
                        "{'metadata':{'name':'%s','resourceVersion':'3','labels':{'name':'%s'}},'status':{'phase':'Available'},"
                        "'spec':{'storageClassName':'local','accessModes':['ReadWriteOnce'],'capacity':{'storage':'%s'}%s%s}}",
                        name, name, size, affinity, more));
}

/* "claim=volume ..., claim+ (to be provisioned) ..." of the plan for a node; the conflict when there is one. */
static const char *plan_on(struct cluster *cl, const char *node)
{
    const struct data *d = cluster_plugin(cl)->data;
    const char *says = filter_says(cl, node);
    if (*says)
        return says;
    const struct prepared *st = cl->state[0];
    const struct volume_plan *plan =
        volume_plan_make(&d->binder, &cl->cycle, st->claims, cl->cache.rows.at[cluster_row(cl, node)].node);
    for (uint32_t i = 0; i < plan->n_bindings; i++)
        says = arena_printf(&cl->texts, "%s %s=%s", says, plan->bindings[i].claim->pvc->meta.name,
                            plan->bindings[i].pv->meta.name);
    for (uint32_t i = 0; i < plan->n_provisions; i++)
        says = arena_printf(&cl->texts, "%s %s+", says, plan->provisions[i].claim->pvc->meta.name);
    return says;
}

/* ---- PreFilter ---- */

TEST(claims_that_may_not_be_used)
{
    static const struct {
        const char *what, *claim, *want;
    } rows[] = {
        { "bound", "{'metadata':{'annotations':{'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'volumeName':'v'}}", "" },
        { "lost", "{'metadata':{},'spec':{'volumeName':'v'},'status':{'phase':'Lost'}}",
          "UU persistentvolumeclaim \"c\" bound to non-existent persistentvolume \"v\"" },
        { "being deleted", "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z'},'spec':{}}",
          "UU persistentvolumeclaim \"c\" is being deleted" },
        { "to be bound at once", "{'metadata':{},'spec':{'storageClassName':'at-once'}}",
          "UU pod has unbound immediate PersistentVolumeClaims" },
        { "of no class", "{'metadata':{},'spec':{}}", "UU pod has unbound immediate PersistentVolumeClaims" },
        { "of a missing class", "{'metadata':{},'spec':{'storageClassName':'no'}}",
          "UU pod has unbound immediate PersistentVolumeClaims" },
        { "with a volume, but not bound", "{'metadata':{},'spec':{'storageClassName':'local','volumeName':'v'}}",
          "UU pod has unbound immediate PersistentVolumeClaims" },
        { "of a class without mode", "{'metadata':{},'spec':{'storageClassName':'modeless'}}",
          "ERR VolumeBindingMode not set for StorageClass \"modeless\"" },
        { "delayed", "{'metadata':{},'spec':{'storageClassName':'local'}}", "" },
        { "the class of the annotation comes first",
          "{'metadata':{'annotations':{'volume.beta.kubernetes.io/storage-class':'local'}},'spec':{'storageClassName':'at-once'}}",
          "" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct cluster cl;
        world_init(&cl);
        const char *rest = strstr(rows[i].claim, "{'metadata':{") + strlen("{'metadata':{");
        PVC(&cl, arena_printf(&cl.texts, "{'metadata':{'name':'c','namespace':'ns'%s%s", *rest == '}' ? "" : ",", rest));
        CHECK_TEXT(rows[i].what, try_pod(&cl, "[" CLAIM("c") "]"), rows[i].want);
        cluster_fini(&cl);
    }
}

TEST(claims_that_are_not_there)
{
    struct cluster cl;
    world_init(&cl);
    CHECK_TEXT("missing", try_pod(&cl, "[" CLAIM("c") "]"), "UU persistentvolumeclaim \"c\" not found");
    CHECK_TEXT("not made yet", try_pod(&cl, "[{'name':'v','ephemeral':{}}]"),
               "UU waiting for ephemeral volume controller to create the persistentvolumeclaim \"new-v\"");
    add_claim(&cl, "new-v", "1", "local", "");
    CHECK_TEXT("of someone else", try_pod(&cl, "[{'name':'v','ephemeral':{}}]"),
               "UU PVC ns/new-v was not created for pod ns/new (pod is not owner)");
    CHECK_TEXT("none at all", try_pod(&cl, "[{'name':'v','secret':{'secretName':'s'}}]"), "skip");
    const struct plugin_instance *p = cluster_plugin(&cl);
    CHECK_TEXT("none to reserve", verdict_says(&cl, p->plugin->reserve(p, &cl.cycle, 0)), "");
    CHECK_TEXT("none to bind", verdict_says(&cl, p->plugin->pre_bind_pre_flight(p, &cl.cycle, 0)), "skip");
    cluster_fini(&cl);
}

/* ---- Filter ---- */

TEST(bound_claims)
{
    static const struct {
        const char *what, *volume, *want_a, *want_b;
    } rows[] = {
        { "everywhere", "{'metadata':{'name':'v'},'spec':{'nfs':{'server':'s','path':'/'}}}", "", "" },
        { "gone", "{'metadata':{'name':'w'}}",
          "UU node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
          "UU node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)" },
        { "only in zone a", "{'metadata':{'name':'v'},'spec':{'nodeAffinity':{'required':{'nodeSelectorTerms':["
          "{'matchExpressions':[{'key':'zone','operator':'In','values':['a']}]}]}}}}", "", NODE_CONFLICT },
        { "fields do not count", "{'metadata':{'name':'v'},'spec':{'nodeAffinity':{'required':{'nodeSelectorTerms':["
          "{'matchFields':[{'key':'metadata.name','operator':'In','values':['a']}]}]}}}}", "", "" },
        { "no terms match nothing", "{'metadata':{'name':'v'},'spec':{'nodeAffinity':{'required':{'nodeSelectorTerms':[]}}}}",
          NODE_CONFLICT, NODE_CONFLICT },
        { "an in-tree volume of zone b", "{'metadata':{'name':'v','labels':{'topology.kubernetes.io/zone':'b'}},"
          "'spec':{'cinder':{'volumeID':'x'}}}", NODE_CONFLICT, "" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct cluster cl;
        world_init(&cl);
        CSI_NODE(&cl, "{'metadata':{'name':'a','annotations':{'storage.alpha.kubernetes.io/migrated-plugins':"
                      "'kubernetes.io/aws-ebs,kubernetes.io/cinder'}}}");
        PVC(&cl, "{'metadata':{'name':'c','namespace':'ns','annotations':{'pv.kubernetes.io/bind-completed':'yes'}},"
                 "'spec':{'volumeName':'v'}}");
        PV(&cl, rows[i].volume);
        CHECK_TEXT(rows[i].what, try_pod(&cl, "[" CLAIM("c") "]"), "");
        CHECK_TEXT(rows[i].what, filter_says(&cl, "a"), rows[i].want_a);
        CHECK_TEXT(rows[i].what, filter_says(&cl, "b"), rows[i].want_b);
        const struct plugin_instance *p = cluster_plugin(&cl);
        CHECK_TEXT(rows[i].what, verdict_says(&cl, p->plugin->reserve(p, &cl.cycle, cluster_row(&cl, "a"))), "");
        CHECK_TEXT(rows[i].what, verdict_says(&cl, p->plugin->pre_bind_pre_flight(p, &cl.cycle, 0)), "skip");
        cluster_fini(&cl);
    }
}

TEST(volumes_that_a_claim_may_get)
{
    static const struct {
        const char *what, *claim_more, *volume_more;
        bool fits;
    } rows[] = {
        { "just so", "", "", true },
        { "the claim wants a block device", ",'volumeMode':'Block'", "", false },
        { "both say Filesystem, one by default", ",'volumeMode':'Filesystem'", "", true },
        { "the volume has attributes", "", ",'volumeAttributesClassName':'gold'", false },
        { "both have the same", ",'volumeAttributesClassName':'gold'", ",'volumeAttributesClassName':'gold'", true },
        { "the claim selects it", ",'selector':{'matchLabels':{'name':'v'}}", "", true },
        { "the claim selects another", ",'selector':{'matchLabels':{'name':'w'}}", "", false },
        { "an empty selector selects all", ",'selector':{}", "", true },
        { "someone else's", "", ",'claimRef':{'namespace':'ns','name':'x'}", false },
        { "the claim's by name", "", ",'claimRef':{'namespace':'ns','name':'c'}", true },
        { "the claim's by name and uid", "", ",'claimRef':{'namespace':'ns','name':'c','uid':'c-uid'}", true },
        { "an older claim's of the name", "", ",'claimRef':{'namespace':'ns','name':'c','uid':'old'}", false },
        { "of another namespace", "", ",'claimRef':{'namespace':'x','name':'c'}", false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct cluster cl;
        world_init(&cl);
        add_claim(&cl, "c", "1Gi", "local", rows[i].claim_more);
        add_volume(&cl, "v", "1024Mi", "a", rows[i].volume_more);
        CHECK_TEXT(rows[i].what, try_pod(&cl, "[" CLAIM("c") "]"), "");
        CHECK_TEXT(rows[i].what, plan_on(&cl, "a"), rows[i].fits ? " c=v" : BIND_CONFLICT);
        CHECK_TEXT(rows[i].what, plan_on(&cl, "b"), BIND_CONFLICT);
        cluster_fini(&cl);
    }
}

TEST(a_selector_that_does_not_parse_is_an_error)
{
    struct cluster cl;
    world_init(&cl);
    add_claim(&cl, "c", "1Gi", "local", ",'selector':{'matchExpressions':[{'key':'a','operator':'Near'}]}");
    CHECK_TEXT("pod", try_pod(&cl, "[" CLAIM("c") "]"), "");
    CHECK_TEXT("filter", filter_says(&cl, "a"),
               "ERR error creating internal label selector for claim: ns/c: \"Near\" is not a valid label selector operator");
    cluster_fini(&cl);
}

TEST(the_smallest_volume_is_taken)
{
    struct cluster cl;
    world_init(&cl);
    add_claim(&cl, "big", "20Gi", "local", "");
    add_claim(&cl, "small", "2Gi", "local", "");
    add_volume(&cl, "v30", "30Gi", "a", "");
    add_volume(&cl, "v20", "20Gi", "b", "");
    add_volume(&cl, "v10-z", "10Gi", "a", "");
    add_volume(&cl, "v10-y", "10Gi", "a", "");
    add_volume(&cl, "v40", "40Gi", NULL, "");
    add_volume(&cl, "v1", "1Gi", NULL, "");
    CHECK_TEXT("pod", try_pod(&cl, "[" CLAIM("big") "," CLAIM("small") "]"), "");
    CHECK_TEXT("the smaller claim chooses first, ties go by name", plan_on(&cl, "a"), " small=v10-y big=v30");
    CHECK_TEXT("a volume is given once", plan_on(&cl, "b"), " small=v20 big=v40");
    CHECK_TEXT("the answer stays the same", plan_on(&cl, "a"), " small=v10-y big=v30");
    cluster_fini(&cl);
}

TEST(a_volume_that_names_the_claim_is_the_only_one)
{
    struct cluster cl;
    world_init(&cl);
    add_claim(&cl, "c", "1Gi", "local", "");
    add_volume(&cl, "v1", "1Gi", NULL, "");
    add_volume(&cl, "v9", "9Gi", "b", ",'claimRef':{'namespace':'ns','name':'c'}");
    CHECK_TEXT("pod", try_pod(&cl, "[" CLAIM("c") "]"), "");
    CHECK_TEXT("out of reach", plan_on(&cl, "a"), BIND_CONFLICT);
    CHECK_TEXT("in reach", plan_on(&cl, "b"), " c=v9");
    cluster_fini(&cl);
}

/* ---- Random volumes, against the rule as plainly as upstream has it ---- */

enum { WORLDS = 300, VOLUMES = 14, RANDOM_CLAIMS = 3 };

static void add_random_volume(struct cluster *cl, struct rand *r, int i)
{
    static const char *const rules[] = {
        "{'key':'zone','operator':'In','values':['a']}", "{'key':'zone','operator':'In','values':['b']}",
        "{'key':'zone','operator':'In','values':['a','b']}", "{'key':'zone','operator':'NotIn','values':['a']}",
        "{'key':'disk','operator':'In','values':['ssd']},{'key':'zone','operator':'In','values':['b']}",
        "{'key':'zone','operator':'Exists'}",
    };
    static const char *const claims[] = { "", "", "", "", ",'claimRef':{'namespace':'ns','name':'c0'}",
                                          ",'claimRef':{'namespace':'ns','name':'else'}" };
    const char *rule = rules[rand_below(r, 6)], *affinity = "";
    if (rand_below(r, 6))
        affinity = arena_printf(&cl->texts, ",'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[%s]}%s]}}",
                                rule, rand_below(r, 5) ? "" : ",{'matchExpressions':[{'key':'zone','operator':'In','values':['b']}]}");
    add_volume(cl, arena_printf(&cl->texts, "v%llu-%d", (unsigned long long)rand_below(r, 9), i),
               arena_printf(&cl->texts, "%lluGi", (unsigned long long)rand_below(r, 4) + 1), NULL,
               arena_printf(&cl->texts, "%s%s", affinity, claims[rand_below(r, 6)]));
}

static int by_volume_name(const void *a, const void *b)
{
    return strcmp((*(const struct pv *const *)a)->meta.name, (*(const struct pv *const *)b)->meta.name);
}

static bool plainly_bound(const struct pv *v, const struct pvc *claim)
{
    return v->claim && strcmp(v->claim->name, claim->meta.name) == 0;
}

/* As upstream's FindMatchingVolume, volume by volume; `volumes` by name. */
static const struct pv *plain_match(struct cluster *cl, const struct pvc *claim, const struct pv **volumes,
                                    const struct pv **taken, uint32_t n_taken, const struct node *node)
{
    const struct pv *smallest = NULL;
    for (int i = 0; i < VOLUMES; i++) {
        const struct pv *v = volumes[i];
        bool skip = v->claim && !plainly_bound(v, claim);
        for (uint32_t k = 0; k < n_taken; k++)
            skip |= taken[k] == v;
        if (skip || storage_cmp(&v->capacity, &claim->request) < 0)
            continue;
        bool reached = node_rules_match(&v->affinity, node->meta.labels, SYM_EMPTY, &cl->syms);
        if (v->claim)
            return reached ? v : NULL;
        if (reached && (!smallest || storage_cmp(&v->capacity, &smallest->capacity) < 0))
            smallest = v;
    }
    return smallest;
}

static void check_against_plain(struct cluster *cl, const char *name, int world)
{
    const struct node *node = cl->cache.rows.at[cluster_row(cl, name)].node;
    const struct data *d = cluster_plugin(cl)->data;
    struct volume_claims *claims = ((struct prepared *)cl->state[0])->claims;
    const struct volume_plan *plan = volume_plan_make(&d->binder, &cl->cycle, claims, node);
    struct object_list all = objects_all(cl->objects, OBJECT_PERSISTENT_VOLUME);
    const struct pv *volumes[VOLUMES], *taken[RANDOM_CLAIMS];
    CHECK_INT(name, all.n, VOLUMES);
    memcpy(volumes, all.at, sizeof(volumes));
    qsort(volumes, VOLUMES, sizeof(*volumes), by_volume_name);
    uint32_t n_taken = 0;
    for (uint32_t i = 0; i < claims->n_delayed; i++) {
        const struct pvc *claim = claims->delayed[i].pvc;
        const struct pv *want = plain_match(cl, claim, volumes, taken, n_taken, node), *got = NULL;
        for (uint32_t k = 0; k < plan->n_bindings; k++)
            if (plan->bindings[k].claim->pvc == claim)
                got = plan->bindings[k].pv;
        if (got != want)
            FAIL("world %d, node %s, claim %s: got %s, want %s", world, name, claim->meta.name,
                 got ? got->meta.name : "none", want ? want->meta.name : "none");
        if (want)
            taken[n_taken++] = want;
    }
}

TEST(random_volumes_are_matched_as_by_the_plain_rule)
{
    struct rand r;
    rand_init(&r, 7);
    for (int world = 0; world < WORLDS; world++) {
        struct cluster cl;
        world_init(&cl);
        cluster_node(&cl, "{'metadata':{'name':'ssd','labels':{'zone':'b','disk':'ssd'}}}");
        cluster_node(&cl, "{'metadata':{'name':'bare'}}");
        for (int i = 0; i < VOLUMES; i++)
            add_random_volume(&cl, &r, i);
        for (int i = 0; i < RANDOM_CLAIMS; i++)
            add_claim(&cl, arena_printf(&cl.texts, "c%d", i),
                      arena_printf(&cl.texts, "%lluGi", (unsigned long long)rand_below(&r, 3) + 1), "local", "");
        CHECK_TEXT("pod", try_pod(&cl, "[" CLAIM("c0") "," CLAIM("c1") "," CLAIM("c2") "]"), "");
        static const char *const nodes[] = { "a", "b", "ssd", "bare" };
        for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++)
            check_against_plain(&cl, nodes[i], world);
        cluster_fini(&cl);
    }
}

TEST(volumes_to_be_made)
{
    static const struct {
        const char *what, *class, *claim, *want_a, *want_b;
    } rows[] = {
        { "anywhere", "", "", " c+", " c+" },
        { "in zone a", ",'allowedTopologies':[{'matchLabelExpressions':[{'key':'zone','values':['a','c']}]}]", "", " c+",
          BIND_CONFLICT },
        { "in one of two topologies",
          ",'allowedTopologies':[{'matchLabelExpressions':[{'key':'zone','values':['a']}]},"
          "{'matchLabelExpressions':[{'key':'zone','values':['b']}]}]", "", " c+", " c+" },
        { "an empty topology is nowhere", ",'allowedTopologies':[{}]", "", BIND_CONFLICT, BIND_CONFLICT },
        { "the node is selected", "", "'volume.kubernetes.io/selected-node':'b'", BIND_CONFLICT, " c+" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct cluster cl;
        world_init(&cl);
        CLASS(&cl, arena_printf(&cl.texts, "{'metadata':{'name':'made'},'provisioner':'d',"
                                           "'volumeBindingMode':'WaitForFirstConsumer'%s}", rows[i].class));
        PVC(&cl, arena_printf(&cl.texts, "{'metadata':{'name':'c','namespace':'ns','annotations':{%s}},"
                                         "'spec':{'storageClassName':'made'}}", rows[i].claim));
        CHECK_TEXT(rows[i].what, try_pod(&cl, "[" CLAIM("c") "]"), "");
        CHECK_TEXT(rows[i].what, plan_on(&cl, "a"), rows[i].want_a);
        CHECK_TEXT(rows[i].what, plan_on(&cl, "b"), rows[i].want_b);
        cluster_fini(&cl);
    }
}

TEST(capacity_for_volumes_to_be_made)
{
    static const struct {
        const char *what, *driver, *capacity, *want_a;
    } rows[] = {
        { "enough", "true", "'nodeTopology':{},'storageClassName':'made','capacity':'10Gi'", " c+" },
        { "not enough", "true", "'nodeTopology':{},'storageClassName':'made','capacity':'9Gi'", NO_SPACE },
        { "the driver does not say", "false", "'nodeTopology':{},'storageClassName':'made','capacity':'9Gi'", " c+" },
        { "enough but in pieces", "true", "'nodeTopology':{},'storageClassName':'made','capacity':'90Gi','maximumVolumeSize':'9Gi'",
          NO_SPACE },
        { "large pieces of little", "true",
          "'nodeTopology':{},'storageClassName':'made','capacity':'1Gi','maximumVolumeSize':'10Gi'", " c+" },
        { "of another class", "true", "'nodeTopology':{},'storageClassName':'x','capacity':'10Gi'", NO_SPACE },
        { "no amount", "true", "'nodeTopology':{},'storageClassName':'made'", NO_SPACE },
        { "nowhere", "true", "'storageClassName':'made','capacity':'10Gi'", NO_SPACE },
        { "elsewhere", "true", "'nodeTopology':{'matchLabels':{'zone':'b'}},'storageClassName':'made','capacity':'10Gi'",
          NO_SPACE },
        { "here", "true", "'nodeTopology':{'matchLabels':{'zone':'a'}},'storageClassName':'made','capacity':'10Gi'", " c+" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct cluster cl;
        world_init(&cl);
        add_claim(&cl, "c", "10Gi", "made", "");
        CSI_DRIVER(&cl, arena_printf(&cl.texts, "{'metadata':{'name':'d'},'spec':{'storageCapacity':%s}}", rows[i].driver));
        CAPACITY(&cl, arena_printf(&cl.texts, "{'metadata':{'name':'k','namespace':'x'},%s}", rows[i].capacity));
        CHECK_TEXT(rows[i].what, try_pod(&cl, "[" CLAIM("c") "]"), "");
        CHECK_TEXT(rows[i].what, plan_on(&cl, "a"), rows[i].want_a);
        cluster_fini(&cl);
    }
}

/* A conflict of a bound claim and one of a delayed claim are both told. */
TEST(reasons_come_in_their_order)
{
    struct cluster cl;
    world_init(&cl);
    add_claim(&cl, "c", "1Gi", "local", "");
    PVC(&cl, "{'metadata':{'name':'d','namespace':'ns','annotations':{'pv.kubernetes.io/bind-completed':'yes'}},"
             "'spec':{'volumeName':'v'}}");
    add_volume(&cl, "v", "1Gi", "b", "");
    CHECK_TEXT("pod", try_pod(&cl, "[" CLAIM("c") "," CLAIM("d") "]"), "");
    CHECK_TEXT("both", filter_says(&cl, "a"), "UU node(s) didn't match PersistentVolume's node affinity, "
                                              "node(s) didn't find available persistent volumes to bind");
    cluster_fini(&cl);
}

/* ---- Score ---- */

static int64_t score_on(struct cluster *cl, const char *node)
{
    const struct plugin_instance *p = cluster_plugin(cl);
    CHECK_TEXT("filter", filter_says(cl, node), "");
    struct node_view view = node_view_of(&cl->cache, cluster_row(cl, node));
    return p->plugin->score(p, &cl->cycle, &view);
}

TEST(scores_by_capacity)
{
    struct cluster cl;
    world_init(&cl);
    cl.features.storage_capacity_scoring = true;
    add_claim(&cl, "c10", "10Gi", "local", "");
    add_claim(&cl, "c15", "15Gi", "local", "");
    add_volume(&cl, "v20", "20Gi", NULL, "");
    add_volume(&cl, "v30", "30Gi", NULL, "");
    CHECK_TEXT("pod", try_pod(&cl, "[" CLAIM("c10") "," CLAIM("c15") "]"), "");
    CHECK_INT("25 of 50", score_on(&cl, "a"), 50);
    CSI_DRIVER(&cl, "{'metadata':{'name':'d'},'spec':{'storageCapacity':true}}");
    CAPACITY(&cl, "{'metadata':{'name':'ka'},'nodeTopology':{'matchLabels':{'zone':'a'}},'storageClassName':'made',"
                  "'capacity':'100Gi'}");
    CAPACITY(&cl, "{'metadata':{'name':'kb'},'nodeTopology':{'matchLabels':{'zone':'b'}},'storageClassName':'made',"
                  "'capacity':'40Gi','maximumVolumeSize':'35Gi'}");
    add_claim(&cl, "c30", "30Gi", "made", "");
    add_claim(&cl, "c20", "20Gi", "made", "");
    CHECK_TEXT("pod", try_pod(&cl, "[" CLAIM("c30") "]"), "");
    CHECK_INT("30 of 100", score_on(&cl, "a"), 70);
    CHECK_INT("30 of 40", score_on(&cl, "b"), 25);
    CHECK_TEXT("pod", try_pod(&cl, "[" CLAIM("c30") "," CLAIM("c20") "]"), "");
    CHECK_INT("50 of 100", score_on(&cl, "a"), 50);
    CHECK_INT("50 of 40", score_on(&cl, "b"), 0);
    const struct plugin_instance *p = cluster_plugin(&cl);
    CHECK_TEXT("gate on", verdict_says(&cl, p->plugin->pre_score(p, &cl.cycle)), "");
    cl.features.storage_capacity_scoring = false;
    CHECK_TEXT("gate off", verdict_says(&cl, p->plugin->pre_score(p, &cl.cycle)), "skip");
    cluster_fini(&cl);
}

/* ---- Reserve, Unreserve, PreBind ---- */

static void reserve_on(struct cluster *cl, const char *node)
{
    const struct plugin_instance *p = cluster_plugin(cl);
    CHECK_TEXT("filter", filter_says(cl, node), "");
    CHECK_TEXT("reserve", verdict_says(cl, p->plugin->reserve(p, &cl->cycle, cluster_row(cl, node))), "");
}

TEST(what_is_reserved_is_not_given_again)
{
    struct cluster cl;
    world_init(&cl);
    const struct plugin_instance *p = cluster_plugin(&cl);
    add_claim(&cl, "c", "1Gi", "local", "");
    add_claim(&cl, "d", "1Gi", "local", "");
    add_volume(&cl, "v1", "1Gi", "a", "");
    add_volume(&cl, "v2", "2Gi", "a", "");
    try_pod(&cl, "[" CLAIM("c") "]");
    reserve_on(&cl, "a");
    const struct pv *seen = objects_get(cl.objects, OBJECT_PERSISTENT_VOLUME, SYM_EMPTY, STR("v1"));
    CHECK("others see the volume as it is" && !seen->claim);
    void *reserved = cl.state[0];
    try_pod(&cl, "[" CLAIM("d") "]");
    CHECK_TEXT("another claim", plan_on(&cl, "a"), " d=v2");
    try_pod(&cl, "[" CLAIM("c") "]");
    CHECK_TEXT("the same claim again", plan_on(&cl, "a"), " c=v1");
    cl.state[0] = reserved; /* texts, not the cycle's arena, hold it */
    p->plugin->unreserve(p, &cl.cycle, 0);
    try_pod(&cl, "[" CLAIM("d") "]");
    CHECK_TEXT("taken back", plan_on(&cl, "a"), " d=v1");
    cluster_fini(&cl);
}

TEST(a_volume_to_be_made_is_made_for_one_node)
{
    struct cluster cl;
    world_init(&cl);
    add_claim(&cl, "c", "1Gi", "made", "");
    try_pod(&cl, "[" CLAIM("c") "]");
    reserve_on(&cl, "b");
    try_pod(&cl, "[" CLAIM("c") "]");
    CHECK_TEXT("another node", filter_says(&cl, "a"), BIND_CONFLICT);
    CHECK_TEXT("the node", plan_on(&cl, "b"), " c+");
    add_claim(&cl, "c", "1Gi", "made", ",'volumeMode':'Block'"); /* the same version: still assumed */
    try_pod(&cl, "[" CLAIM("c") "]");
    CHECK_TEXT("seen once more", filter_says(&cl, "a"), BIND_CONFLICT);
    PVC(&cl, "{'metadata':{'name':'c','namespace':'ns','resourceVersion':'6'},'spec':{'storageClassName':'made'}}");
    try_pod(&cl, "[" CLAIM("c") "]");
    CHECK_TEXT("another version", plan_on(&cl, "a"), " c+");
    cluster_fini(&cl);
}

TEST(decisions_are_handed_out_to_be_written)
{
    struct cluster cl;
    world_init(&cl);
    const struct plugin_instance *p = cluster_plugin(&cl);
    cl.sched.io.bind_volumes = keep_decisions;
    struct binding binding = { .node = 0 };
    add_claim(&cl, "c1", "1Gi", "local", "");
    add_claim(&cl, "c2", "2Gi", "local", "");
    add_claim(&cl, "c3", "1Gi", "made", "");
    add_volume(&cl, "v1", "1Gi", "a", "");
    add_volume(&cl, "v2", "2Gi", "a", ",'claimRef':{'namespace':'ns','name':'c2'}");
    try_pod(&cl, "[" CLAIM("c3") "," CLAIM("c2") "," CLAIM("c1") "]");
    reserve_on(&cl, "a");
    CHECK_TEXT("there is work", verdict_says(&cl, p->plugin->pre_bind_pre_flight(p, &cl.cycle, 0)), "");
    binding.pod = cl.pod;
    cl.cycle.binding = &binding;
    CHECK_TEXT("it takes time", verdict_says(&cl, p->plugin->pre_bind(p, &cl.cycle, 0)), "wait");
    CHECK_INT("bindings", written->n_bindings, 2);
    CHECK_INT("provisions", written->n_provisions, 1);
    CHECK_INT("timeout", written->timeout_ms, 600000);
    CHECK_STR("node", sym_text(&cl.syms, written->node), STR("a"));
    CHECK_STR("namespace", sym_text(&cl.syms, written->ns), STR("ns"));
    const struct volume_binding *b = written->bindings;
    CHECK_TEXT("volume", b[0].volume, "v1");
    CHECK_TEXT("version", b[0].volume_version, "3");
    CHECK_TEXT("claim", b[0].claim, "c1");
    CHECK_TEXT("uid", b[0].claim_uid, "c1-uid");
    CHECK_TEXT("version of the claim", b[0].claim_version, "5");
    CHECK("chosen by us" && b[0].by_controller);
    CHECK_TEXT("volume", b[1].volume, "v2");
    CHECK("chosen by the user" && !b[1].by_controller);
    CHECK_TEXT("provision", written->provisions[0].claim, "c3");
    CHECK_TEXT("its version", written->provisions[0].claim_version, "5");
    cluster_fini(&cl);
}

/* A claim changed since it was looked at. What was assumed before that shows is taken back. */
TEST(assuming_that_fails_half_way_leaves_nothing_assumed)
{
    struct cluster cl;
    world_init(&cl);
    const struct plugin_instance *p = cluster_plugin(&cl);
    struct data *d = p->data;
    add_claim(&cl, "c", "1Gi", "local", "");
    add_claim(&cl, "d", "1Gi", "made", "");
    add_claim(&cl, "e", "1Gi", "made", "");
    add_claim(&cl, "other", "1Gi", "local", "");
    add_volume(&cl, "v1", "1Gi", "a", "");
    try_pod(&cl, "[" CLAIM("c") "," CLAIM("d") "," CLAIM("e") "]");
    CHECK_TEXT("filter", filter_says(&cl, "a"), "");
    sym ns = sym_find(&cl.syms, STR("ns"));
    const struct pvc *old = pvc_ref(objects_get(cl.objects, OBJECT_PERSISTENT_VOLUME_CLAIM, ns, STR("e")));
    PVC(&cl, "{'metadata':{'name':'e','namespace':'ns','resourceVersion':'6'},'spec':{'storageClassName':'made'}}");
    CHECK_TEXT("reserve", verdict_says(&cl, p->plugin->reserve(p, &cl.cycle, cluster_row(&cl, "a"))),
               "ERR \"ns/e\" is out of sync (stored: 6, assume: 5)");
    CHECK_INT("volumes assumed", d->binder.volumes.by_name.n, 0);
    CHECK_INT("claims assumed", d->binder.claims.by_name.n, 0);
    try_pod(&cl, "[" CLAIM("other") "]");
    CHECK_TEXT("the volume is free", plan_on(&cl, "a"), " other=v1");
    pvc_unref(&cl.syms, old);
    cluster_fini(&cl);
}

/* The scheduler undoes all of Reserve, also for a pod whose Reserve was never reached. */
TEST(nothing_reserved_is_nothing_to_undo)
{
    struct cluster cl;
    world_init(&cl);
    const struct plugin_instance *p = cluster_plugin(&cl);
    add_claim(&cl, "c", "1Gi", "made", "");
    try_pod(&cl, "[" CLAIM("c") "]");
    p->plugin->unreserve(p, &cl.cycle, 0);
    cl.state[0] = NULL;
    p->plugin->unreserve(p, &cl.cycle, 0);
    CHECK_TEXT("without PreFilter", verdict_says(&cl, p->plugin->reserve(p, &cl.cycle, 0)), "ERR not found");
    CHECK_TEXT("without PreFilter", filter_says(&cl, "a"), "ERR not found");
    cluster_fini(&cl);
}

/* ---- Hints ---- */

TEST(hints_of_volume_binding)
{
    struct cluster cl;
    world_init(&cl);
    try_pod(&cl, "[{'name':'v','ephemeral':{}},{'name':'w','csi':{'driver':'d'}}]");
    enum hint hint;
#define TOPOLOGY(zone) "{'allowedTopologies':[{'matchLabelExpressions':[{'key':'zone','values':['" zone "']}]}]}"
    OBJECT_HINT(&cl, storage_class, RES_STORAGE_CLASS, cl.pod, TOPOLOGY("a"), TOPOLOGY("b"), &hint);
    CHECK_INT("other topologies", hint, HINT_QUEUE);
    OBJECT_HINT(&cl, storage_class, RES_STORAGE_CLASS, cl.pod, TOPOLOGY("a"), "{}", &hint);
    CHECK_INT("no more topologies", hint, HINT_QUEUE);
    OBJECT_HINT(&cl, storage_class, RES_STORAGE_CLASS, cl.pod, TOPOLOGY("a"), TOPOLOGY("a"), &hint);
    CHECK_INT("the same topologies", hint, HINT_SKIP);
    OBJECT_HINT(&cl, storage_class, RES_STORAGE_CLASS, cl.pod, NULL, "{}", &hint);
    CHECK_INT("a new class", hint, HINT_QUEUE);
#define MIGRATED(plugins) "{'metadata':{'annotations':{'storage.alpha.kubernetes.io/migrated-plugins':'" plugins "'}}}"
    OBJECT_HINT(&cl, csi_node, RES_CSI_NODE, cl.pod, MIGRATED("x"), MIGRATED("x,y"), &hint);
    CHECK_INT("another plugin handed over", hint, HINT_QUEUE);
    OBJECT_HINT(&cl, csi_node, RES_CSI_NODE, cl.pod, MIGRATED("x"), MIGRATED("x"), &hint);
    CHECK_INT("nothing handed over", hint, HINT_SKIP);
    OBJECT_HINT(&cl, csi_driver, RES_CSI_DRIVER, cl.pod, "{'metadata':{'name':'d'},'spec':{'storageCapacity':true}}",
                "{'metadata':{'name':'d'},'spec':{'storageCapacity':false}}", &hint);
    CHECK_INT("capacity counts no more", hint, HINT_QUEUE);
    OBJECT_HINT(&cl, csi_driver, RES_CSI_DRIVER, cl.pod, "{'metadata':{'name':'e'},'spec':{'storageCapacity':true}}",
                "{'metadata':{'name':'e'},'spec':{'storageCapacity':false}}", &hint);
    CHECK_INT("of another driver", hint, HINT_SKIP);
    static const struct {
        const char *what, *old, *now;
        enum hint want;
    } rows[] = {
        { "a new capacity", NULL, "{'capacity':'1Gi'}", HINT_QUEUE },
        { "grown", "{'capacity':'1Gi'}", "{'capacity':'2Gi'}", HINT_QUEUE },
        { "shrunk", "{'capacity':'2Gi'}", "{'capacity':'1Gi'}", HINT_SKIP },
        { "given at last", "{}", "{'capacity':'0'}", HINT_QUEUE },
        { "grown in smaller pieces", "{'capacity':'2Gi'}", "{'capacity':'9Gi','maximumVolumeSize':'1Gi'}", HINT_SKIP },
        { "gone", "{'capacity':'2Gi'}", "{}", HINT_SKIP },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        OBJECT_HINT(&cl, csi_storage_capacity, RES_CSI_STORAGE_CAPACITY, cl.pod, rows[i].old, rows[i].now, &hint);
        CHECK_INT(rows[i].what, hint, rows[i].want);
    }
    OBJECT_HINT(&cl, pvc, RES_PERSISTENT_VOLUME_CLAIM, cl.pod, NULL, "{'metadata':{'name':'new-v','namespace':'ns'}}", &hint);
    CHECK_INT("the claim of the ephemeral volume", hint, HINT_QUEUE);
    OBJECT_HINT(&cl, pvc, RES_PERSISTENT_VOLUME_CLAIM, cl.pod, NULL, "{'metadata':{'name':'x','namespace':'ns'}}", &hint);
    CHECK_INT("another claim", hint, HINT_SKIP);
    cluster_fini(&cl);
}
