/* tests/fuzz/fuzz_volumes.c - pods with volumes amid claims, volumes, classes, CSI nodes, drivers, capacities and
 * attachments that come, change and go as bytes choose, down to the fields of each: odd amounts, names that refer to
 * nothing, phases that do not go together.
 *
 * Answers to what goes out come late, with errors, twice or never. Every input is played twice: what is decided is the
 * same, and nothing is left in the table of syms. Bytes are taken in the order in which the compiler evaluates arguments,
 * so an input tells another story under another compiler. */
#include "sched/queue.h"
#include "sched/volume_decisions.h"
#include "tests/unit/random_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { BYTES_MAX = 1500, N_NODES = 3, N_PODS = 6, N_NAMES = 3, TICKETS_MAX = 64 };

struct storage {
    struct random_world w; /* choices and texts */
    struct sched *sched;
    int64_t now_ms;
    unsigned version;
    struct {
        io_ticket ticket;
        bool volumes;
    } asks[TICKETS_MAX];
    unsigned n_asks;
};

static struct sym_table syms;
static struct setup setup;

/* ---- Out ---- */

static int64_t io_now(void *context)
{
    return ((struct storage *)context)->now_ms;
}

static int64_t io_wall(void *context)
{
    return 1800000000 + ((struct storage *)context)->now_ms / 1000;
}

static void note_ask(struct storage *s, io_ticket ticket, bool volumes)
{
    if (s->n_asks == TICKETS_MAX)
        return; /* never answered */
    s->asks[s->n_asks].ticket = ticket;
    s->asks[s->n_asks++].volumes = volumes;
}

static void io_bind(void *context, io_ticket ticket, const struct pod *pod, sym node)
{
    CHECK(*pod->meta.name && node != SYM_EMPTY);
    note_ask(context, ticket, false);
}

static void io_status(void *context, const struct status_change *change)
{
    (void)context;
    CHECK(!change->has_condition || change->message);
}

static void io_evict(void *context, io_ticket ticket, const struct pod *victim, const struct pod *preemptor)
{
    CHECK(victim != preemptor);
    note_ask(context, ticket, false);
}

static void io_event(void *context, const struct event_note *note)
{
    (void)context;
    CHECK(note->note && note->reason);
}

static void io_volumes(void *context, io_ticket ticket, const struct pod *pod, sym node,
                       const struct volume_decisions *d)
{
    CHECK(*pod->meta.name && node != SYM_EMPTY && d);
    note_ask(context, ticket, true);
}

/* ---- Objects, field by field; names are few, so that they meet ---- */

static const char *amount(struct random_world *w)
{
    return PICK(w, "0", "1", "1Gi", "5Gi", "5Gi", "10Gi", "-1", "1m", "9Ei", "9223372036854775807", "1e3");
}

static const char *class_name(struct random_world *w)
{
    return PICK(w, "late", "late", "now", "none", "", "gone");
}

static const char *driver(struct random_world *w)
{
    return PICK(w, "csi.a", "csi.a", "ebs.csi.aws.com", "csi.b", "");
}

static const char *modes(struct random_world *w)
{
    return PICK(w, "'ReadWriteOnce'", "'ReadWriteOnce'", "'ReadWriteOncePod'", "'ReadOnlyMany','ReadWriteMany'", "",
                "'Odd'");
}

static void add_terms(struct random_world *w)
{
    strbuf_printf(&w->text, "{'matchExpressions':[{'key':'%s','operator':'%s','values':[%s]}]}",
                  PICK(w, "zone", "topology.kubernetes.io/zone", "kubernetes.io/hostname", "nowhere"),
                  PICK(w, "In", "In", "NotIn", "Exists", "Gt"), PICK(w, "'a'", "'b'", "'a','b'", "'h1'", "", "'3'"));
}

static void add_meta(struct storage *s, const char *prefix, bool namespaced)
{
    struct random_world *w = &s->w;
    unsigned number = below(w, N_NAMES);
    s->version += below(w, 2);
    strbuf_printf(&w->text, "{'metadata':{'name':'%s%u','uid':'%s-%u-%u','resourceVersion':'%u'", prefix, number,
                  prefix, number, below(w, 2), s->version);
    if (namespaced)
        strbuf_printf(&w->text, ",'namespace':'one'");
    if (chance(w, 5))
        strbuf_add_text(&w->text, ",'deletionTimestamp':'2020-01-01T00:00:00Z'");
}

static void add_claim(struct storage *s)
{
    struct random_world *w = &s->w;
    add_meta(s, "claim-", true);
    if (chance(w, 15))
        strbuf_add_text(&w->text, ",'ownerReferences':[{'kind':'Pod','name':'p1','uid':'u1','controller':true}]");
    strbuf_printf(&w->text, ",'annotations':{%s%s}}",
                  PICK(w, "'a':'b'", "'pv.kubernetes.io/bind-completed':'yes'", "'pv.kubernetes.io/bind-completed':''"),
                  PICK(w, "", "", "", ",'volume.kubernetes.io/selected-node':'node-1'"));
    strbuf_printf(&w->text, ",'spec':{'accessModes':[%s],'resources':{'requests':{'storage':'%s'}}", modes(w),
                  amount(w));
    if (chance(w, 90))
        strbuf_printf(&w->text, ",'storageClassName':'%s'", class_name(w));
    if (chance(w, 40))
        strbuf_printf(&w->text, ",'volumeName':'%s'", PICK(w, "pv-0", "pv-1", "pv-2", "gone", ""));
    if (chance(w, 20))
        strbuf_printf(&w->text, ",'selector':{'matchLabels':{'zone':'%s'}}", PICK(w, "a", "b"));
    strbuf_printf(&w->text, ",'volumeMode':'%s'},'status':{'phase':'%s'}}",
                  PICK(w, "Filesystem", "Filesystem", "Block", "Odd"), PICK(w, "Bound", "Pending", "Lost", "Odd"));
}

static void add_source(struct random_world *w)
{
    switch (below(w, 5)) {
    case 0:
        strbuf_printf(&w->text, ",'csi':{'driver':'%s','volumeHandle':'%s'}", driver(w), PICK(w, "h0", "h1", ""));
        break;
    case 1:
        strbuf_printf(&w->text, ",'awsElasticBlockStore':{'volumeID':'%s'}",
                      PICK(w, "vol-1", "aws://a/vol-1", "aws:///", "aws://", ""));
        break;
    case 2:
        strbuf_printf(&w->text, ",'gcePersistentDisk':{'pdName':'%s'}", PICK(w, "d", ""));
        break;
    case 3:
        strbuf_printf(&w->text, ",'azureDisk':{'diskName':'d','diskURI':'u','kind':'%s'}",
                      PICK(w, "Managed", "Shared"));
        break;
    default:
        strbuf_add_text(&w->text, ",'local':{'path':'/x'}");
    }
}

static void add_volume(struct storage *s)
{
    struct random_world *w = &s->w;
    add_meta(s, "pv-", false);
    strbuf_printf(&w->text, ",'labels':{'zone':'a'%s}},'spec':{'capacity':{'storage':'%s'},'accessModes':[%s]",
                  PICK(w, "", ",'topology.kubernetes.io/zone':'a'", ",'topology.kubernetes.io/zone':'a__b'",
                       ",'failure-domain.beta.kubernetes.io/zone':'__'", ",'topology.kubernetes.io/region':'b'"),
                  amount(w), modes(w));
    strbuf_printf(&w->text, ",'storageClassName':'%s','volumeMode':'%s'", class_name(w),
                  PICK(w, "Filesystem", "Block", "Odd"));
    add_source(w);
    if (chance(w, 50))
        strbuf_printf(&w->text, ",'claimRef':{'namespace':'%s','name':'claim-%u','uid':'%s'}",
                      PICK(w, "one", "one", "two", ""), below(w, N_NAMES),
                      PICK(w, "claim--0-0", "claim--1-0", "", "other"));
    if (chance(w, 50)) {
        strbuf_add_text(&w->text, ",'nodeAffinity':{'required':{'nodeSelectorTerms':[");
        if (chance(w, 90))
            add_terms(w);
        strbuf_add_text(&w->text, "]}}");
    }
    strbuf_printf(&w->text, "},'status':{'phase':'%s'}}", PICK(w, "Available", "Bound", "Released", "Failed", "Odd"));
}

static void add_class(struct storage *s)
{
    struct random_world *w = &s->w;
    strbuf_printf(&w->text, "{'metadata':{'name':'%s','resourceVersion':'%u'},'provisioner':'%s'", class_name(w),
                  ++s->version, PICK(w, "csi.a", "kubernetes.io/no-provisioner", "kubernetes.io/aws-ebs", ""));
    strbuf_printf(&w->text, "%s",
                  PICK(w, "", ",'volumeBindingMode':'WaitForFirstConsumer'",
                       ",'volumeBindingMode':'WaitForFirstConsumer'",
                       ",'volumeBindingMode':'Immediate'", ",'volumeBindingMode':'Odd'"));
    if (chance(w, 30))
        strbuf_printf(&w->text, ",'allowedTopologies':[%s]",
                      PICK(w, "", "{}", "{'matchLabelExpressions':[{'key':'zone','values':['a']}]}",
                           "{'matchLabelExpressions':[{'key':'zone','values':[]}]}"));
    strbuf_add_text(&w->text, "}");
}

static void add_csi_node(struct storage *s)
{
    struct random_world *w = &s->w;
    strbuf_printf(&w->text,
                  "{'metadata':{'name':'node-%u','resourceVersion':'%u','annotations':{%s}},"
                  "'spec':{'drivers':[{'name':'%s','nodeID':'n','topologyKeys':[],'allocatable':{%s}}%s]}}",
                  below(w, N_NODES), ++s->version,
                  PICK(w, "", "'storage.alpha.kubernetes.io/migrated-plugins':'kubernetes.io/aws-ebs,,x'"), driver(w),
                  PICK(w, "", "'count':0", "'count':1", "'count':1", "'count':-3", "'count':2147483647"),
                  PICK(w, "", "", ",{'name':'csi.a','nodeID':'n'}"));
}

static void add_csi_driver(struct storage *s)
{
    struct random_world *w = &s->w;
    strbuf_printf(&w->text, "{'metadata':{'name':'%s','resourceVersion':'%u'},'spec':{'storageCapacity':%s}}",
                  driver(w), ++s->version, PICK(w, "true", "true", "false"));
}

static void add_capacity(struct storage *s)
{
    struct random_world *w = &s->w;
    add_meta(s, "cap-", true);
    strbuf_printf(&w->text, "},'storageClassName':'%s','capacity':'%s'", class_name(w), amount(w));
    if (chance(w, 30))
        strbuf_printf(&w->text, ",'maximumVolumeSize':'%s'", amount(w));
    strbuf_printf(&w->text, "%s}",
                  PICK(w, "", ",'nodeTopology':{}", ",'nodeTopology':{'matchLabels':{'zone':'a'}}",
                       ",'nodeTopology':{'matchExpressions':[{'key':'zone','operator':'Odd'}]}"));
}

static void add_attachment(struct storage *s)
{
    struct random_world *w = &s->w;
    add_meta(s, "att-", false);
    strbuf_printf(&w->text, "},'spec':{'attacher':'%s','nodeName':'node-%u','source':{%s}}}", driver(w),
                  below(w, N_NODES),
                  PICK(w, "'persistentVolumeName':'pv-0'", "'persistentVolumeName':'gone'", "'inlineVolumeSpec':{}",
                       ""));
}

static const struct {
    enum object_kind kind;
    const char *prefix; /* of names that may be removed; NULL: a class or driver */
    void (*add)(struct storage *s);
} kinds[] = {
    { OBJECT_PERSISTENT_VOLUME_CLAIM, "claim-", add_claim }, { OBJECT_PERSISTENT_VOLUME, "pv-", add_volume },
    { OBJECT_STORAGE_CLASS, NULL, add_class },               { OBJECT_CSI_NODE, "node-", add_csi_node },
    { OBJECT_CSI_DRIVER, NULL, add_csi_driver },             { OBJECT_CSI_STORAGE_CAPACITY, "cap-", add_capacity },
    { OBJECT_VOLUME_ATTACHMENT, "att-", add_attachment },
};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void set_some_object(struct storage *s, unsigned which)
{
    const void *form;
    strbuf_reset(&s->w.text);
    kinds[which].add(s);
    if (object_form_decode(kinds[which].kind, &syms, TYPED_JSON, world_text(&s->w), &form, &s->w.e))
        FAIL("%s: %s", s->w.e.message, strbuf_cstr(&s->w.text));
    sched_object_set(s->sched, kinds[which].kind, form);
    object_unref(&syms, kinds[which].kind, form);
}

static void remove_some_object(struct storage *s, unsigned which)
{
    struct random_world *w = &s->w;
    char name[32];
    if (kinds[which].prefix)
        snprintf(name, sizeof(name), "%s%u", kinds[which].prefix, below(w, N_NAMES));
    else
        snprintf(name, sizeof(name), "%s", kinds[which].add == add_class ? class_name(w) : driver(w));
    bool namespaced = kinds[which].add == add_claim || kinds[which].add == add_capacity;
    sym ns = namespaced ? sym_find(&syms, STR("one")) : SYM_EMPTY;
    if (ns != SYM_NONE)
        sched_object_removed(s->sched, kinds[which].kind, ns, str_of(name));
}

/* ---- Nodes and pods ---- */

static void set_some_node(struct storage *s)
{
    struct random_world *w = &s->w;
    unsigned number = below(w, N_NODES);
    const struct node *node;
    strbuf_reset(&w->text);
    strbuf_printf(&w->text,
                  "{'metadata':{'name':'node-%u','labels':{'kubernetes.io/hostname':'h%u'%s%s}},"
                  "'status':{'allocatable':{'cpu':'%s','memory':'8Gi','pods':'5'%s}}}",
                  number, number, PICK(w, ",'zone':'a'", ",'zone':'b'", ""),
                  PICK(w, "", ",'topology.kubernetes.io/zone':'a'", ",'topology.kubernetes.io/zone':'b'"),
                  PICK(w, "4", "1"), PICK(w, "", ",'attachable-volumes-aws-ebs':'1'"));
    if (node_decode(&syms, TYPED_JSON, world_text(w), &node, &w->e))
        FAIL("%s", w->e.message);
    sched_node_set(s->sched, node);
    node_unref(&syms, node);
}

static void add_pod_volume(struct random_world *w, unsigned i)
{
    strbuf_printf(&w->text, "%s{'name':'v%u',", i ? "," : "", i);
    switch (below(w, 6)) {
    case 0:
        strbuf_add_text(&w->text, "'ephemeral':{'volumeClaimTemplate':{}}");
        break;
    case 1:
        strbuf_printf(&w->text, "'csi':{'driver':'%s'}", driver(w));
        break;
    case 2:
        strbuf_printf(&w->text, "'awsElasticBlockStore':{'volumeID':'vol-1','readOnly':%s}", PICK(w, "true", "false"));
        break;
    default:
        strbuf_printf(&w->text, "'persistentVolumeClaim':{'claimName':'%s'}",
                      PICK(w, "claim-0", "claim-1", "claim-2", "gone", ""));
    }
    strbuf_add_text(&w->text, "}");
}

static void set_some_pod(struct storage *s)
{
    struct random_world *w = &s->w;
    unsigned number = below(w, N_PODS);
    const struct pod *pod;
    strbuf_reset(&w->text);
    strbuf_printf(&w->text,
                  "{'metadata':{'name':'p%u','uid':'u%u','namespace':'%s','resourceVersion':'%u'},"
                  "'spec':{'schedulerName':'default-scheduler','priority':%s,'containers':[{'name':'c',"
                  "'resources':{'requests':{'cpu':'%s'}}}],"
                  "'volumes':[",
                  number, number, PICK(w, "one", "one", "one", "two"), ++s->version, PICK(w, "0", "0", "10"),
                  PICK(w, "0", "500m", "2"));
    for (unsigned i = 0, n = below(w, 4); i < n; i++)
        add_pod_volume(w, i);
    strbuf_printf(&w->text, "]%s},'status':{'phase':'%s'}}",
                  PICK(w, "", "", "", ",'nodeName':'node-0'", ",'nodeName':'node-1'", ",'nodeName':'lost'"),
                  PICK(w, "Pending", "Pending", "Pending", "Failed"));
    if (pod_decode(&syms, TYPED_JSON, world_text(w), &pod, &w->e))
        FAIL("%s: %s", w->e.message, strbuf_cstr(&w->text));
    sched_pod_set(s->sched, pod);
    pod_unref(&syms, pod);
}

static void remove_some_pod(struct storage *s)
{
    char uid[16];
    snprintf(uid, sizeof(uid), "u%u", below(&s->w, N_PODS));
    sched_pod_removed(s->sched, uid);
}

/* ---- What happens ---- */

static void answer(struct storage *s)
{
    if (!s->n_asks)
        return;
    unsigned i = below(&s->w, s->n_asks);
    io_ticket ticket = s->asks[i].ticket;
    bool volumes = s->asks[i].volumes;
    if (!chance(&s->w, 10)) /* else it is answered again */
        s->asks[i] = s->asks[--s->n_asks];
    const char *error = chance(&s->w, 30) ? "no" : NULL;
    if (volumes)
        sched_volumes_bound(s->sched, ticket, error);
    else if (chance(&s->w, 90))
        sched_bound(s->sched, ticket, error);
    else
        sched_victim_done(s->sched, ticket, error);
}

static void happen(struct storage *s)
{
    switch (below(&s->w, 12)) {
    case 0:
    case 1:
    case 2:
        set_some_object(s, below(&s->w, N_KINDS));
        break;
    case 3:
        remove_some_object(s, below(&s->w, N_KINDS));
        break;
    case 4:
        set_some_node(s);
        break;
    case 5:
        if (chance(&s->w, 20))
            sched_node_removed(s->sched, node_sym(&s->w, below(&s->w, N_NODES)));
        break;
    case 6:
        set_some_pod(s);
        break;
    case 7:
        if (chance(&s->w, 30))
            remove_some_pod(s);
        break;
    case 8:
        s->now_ms += below(&s->w, 700000);
        sched_tick(s->sched);
        break;
    case 9:
        answer(s);
        break;
    default:
        sched_run_once(s->sched);
    }
}

/* Every input begins with something that can be used. */
static void begin(struct storage *s)
{
    static const char *const class =
        "{'metadata':{'name':'late'},'provisioner':'csi.a','volumeBindingMode':'WaitForFirstConsumer'}";
    for (unsigned i = 0; i < N_NODES; i++)
        set_some_node(s);
    set_object(&s->w, s->sched, OBJECT_STORAGE_CLASS, class);
    set_some_object(s, 0);
    set_some_object(s, 1);
    set_some_pod(s);
}

static void prepare(void)
{
    struct arena a;
    struct err e;
    arena_init(&a);
    err_init(&e, &a);
    sym_init(&syms);
    if (setup_from_text(&setup, &syms, (struct str){ 0 }, plugin_registry, &e))
        FAIL("%s", e.message);
    arena_fini(&a);
}

static uint64_t play(struct str choices)
{
    struct storage s = { .now_ms = 1000 };
    s.w = (struct random_world){ .syms = &syms, .choices = choices };
    arena_init(&s.w.texts);
    arena_init(&s.w.arena);
    err_init(&s.w.e, &s.w.texts);
    rand_init(&s.w.rand, 1);
    strbuf_init(&s.w.text, STRBUF_NO_MAX);
    s.sched = sched_new(&(struct sched_options){
        .syms = &syms,
        .profiles = setup.profiles,
        .n_profiles = setup.n_profiles,
        .features = setup.features,
        .io = { &s, io_now, io_wall, io_bind, io_status, io_evict, io_event, io_volumes, NULL },
        .seed = 1,
    });
    begin(&s);
    while (s.w.choices.n)
        happen(&s);
    queue_check(sched_queue(s.sched));
    uint64_t hash = sched_decision_hash(s.sched);
    sched_free(s.sched);
    random_world_fini(&s.w);
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0 || n > BYTES_MAX)
        return 0;
    if (!setup.profiles)
        prepare();
    struct str choices = { (const char *)data, n };
    uint64_t first = play(choices);
    uint32_t n_live = sym_n_live(&syms);
    CHECK(play(choices) == first);
    CHECK_INT("syms that nobody gave up", sym_n_live(&syms), n_live);
    return 0;
}
