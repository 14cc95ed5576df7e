/* Waiting for volumes: what ends a wait, when, and in which words (those of kube-scheduler v1.36.4). */
#include "daemon/volume_waits.h"

#include "tests/unit/sched_world.h"

static struct sched_world w;
static struct volume_waits *waits;
static char ended[500]; /* "ticket: error" */
static int n_ended;

static void done(void *context, io_ticket ticket, const char *error)
{
    CHECK(context == &w);
    n_ended++;
    snprintf(ended, sizeof(ended), "%llu: %s", (unsigned long long)ticket, error ? error : "");
}

static void set(enum object_kind kind, const char *json)
{
    const void *form;
    struct err e;
    err_init(&e, &w.arena);
    if (object_form_decode(kind, &w.syms, TYPED_JSON, str_of(json), &form, &e))
        FAIL("%s: %s", json, e.message);
    sched_object_set(w.sched, kind, form);
    object_unref(&w.syms, kind, form);
}

/* A volume of this version, in zone a, with this spec. */
static void pv(const char *version, const char *spec)
{
    set(OBJECT_PERSISTENT_VOLUME,
        arena_printf(&w.arena,
                     "{\"metadata\":{\"name\":\"pv1\",\"resourceVersion\":\"%s\"},\"spec\":{\"capacity\":{\"storage\":\"1Gi\"}%s}}",
                     version, spec));
}

#define CLAIM_REF ",\"claimRef\":{\"namespace\":\"default\",\"name\":\"c\",\"uid\":\"cu\"}"
#define ZONE(zone)                                                                              \
    ",\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\"," \
    "\"values\":[\"" zone "\"]}]}]}}"
#define BOUND "\"annotations\":{\"pv.kubernetes.io/bind-completed\":\"yes\",\"volume.kubernetes.io/selected-node\":\"n1\"},"
#define SELECTED "\"annotations\":{\"volume.kubernetes.io/selected-node\":\"n1\"},"

static void pvc(const char *version, const char *meta, const char *volume)
{
    set(OBJECT_PERSISTENT_VOLUME_CLAIM,
        arena_printf(&w.arena,
                     "{\"metadata\":{\"name\":\"c\",\"namespace\":\"default\",\"uid\":\"cu\",%s\"resourceVersion\":\"%s\"},"
                     "\"spec\":{\"volumeName\":\"%s\"}}", meta, version, volume));
}

/* The pod and its node, and a job for a volume or a claim to be made, written as version 10. */
static void begin(bool provides)
{
    sched_world_init(&w);
    sched_world_open(&w);
    world_node(&w, "n1", "4", "\"zone\":\"a\"");
    const struct pod *pod = world_pod(&w, "p", NULL, 0, "1", "");
    sched_pod_set(w.sched, pod);
    waits = volume_waits_new(w.sched, &w.syms, done, &w);
    n_ended = 0;
    ended[0] = '\0';
    static const struct volume_binding binding = { "pv1", "5", "c", "cu", "6", true };
    static const struct volume_provision provision = { "c", "6" };
    struct volume_decisions d = { world_sym(&w, "default"), world_sym(&w, "n1"), &binding, &provision, !provides, provides,
                                  5000 };
    struct volume_job *job = volume_job_new(&w.syms, pod, d.node, &d);
    if (provides)
        job->provisions[0].written = "10";
    else
        job->bindings[0].written = "10";
    CHECK_INT("nothing is due", volume_waits_due_ms(waits), INT64_MAX);
    volume_waits_add(waits, 42, job, 1000);
}

static void end(void)
{
    volume_waits_free(waits);
    sched_world_close(&w);
}

TEST(a_volume_becomes_bound)
{
    begin(false);
    pv("10", CLAIM_REF ZONE("a"));
    pvc("6", "", "");
    CHECK_INT("a second later", volume_waits_due_ms(waits), 2000);
    pvc("11", BOUND, "pv1");
    volume_waits_check(waits, 1999);
    CHECK_INT("not before", n_ended, 0);
    pvc("11", "", "");
    volume_waits_check(waits, 2000);
    CHECK_INT("not bound", n_ended, 0);
    CHECK_INT("again", volume_waits_due_ms(waits), 3000);
    pvc("12", "", "pv1");
    volume_waits_check(waits, 3000);
    CHECK_INT("the controller has not said so", n_ended, 0);
    pvc("13", BOUND, "pv1");
    volume_waits_check(waits, 4000);
    CHECK_TEXT("bound", ended, "42: ");
    CHECK_INT("none is left", volume_waits_n(waits), 0);
    CHECK_INT("nothing is due", volume_waits_due_ms(waits), INT64_MAX);
    end();
}

TEST(the_time_is_over)
{
    begin(false);
    pv("10", CLAIM_REF);
    pvc("6", "", "");
    for (int64_t now_ms = 2000; now_ms < 6000; now_ms += 1000)
        volume_waits_check(waits, now_ms);
    CHECK_INT("not yet", n_ended, 0);
    CHECK_INT("due", volume_waits_due_ms(waits), 6000);
    pvc("11", BOUND, "pv1");
    volume_waits_check(waits, 6000);
    CHECK_TEXT("over", ended, "42: binding volumes: context deadline exceeded");
    end();
}

TEST(what_ends_the_wait_for_a_volume)
{
    static const struct {
        const char *name, *version, *spec, *claim_meta, *want;
    } cases[] = {
        { "our own write has not arrived", "9", ZONE("b"), BOUND, "" },
        { "the same number of digits does not matter", "100", CLAIM_REF, BOUND, "42: " },
        { "recorded: the node is elsewhere", "10", CLAIM_REF ZONE("b"), BOUND,
          "42: binding volumes: pv \"pv1\" node affinity doesn't match node \"n1\": no matching NodeSelectorTerms" },
        { "the reference is gone", "11", "", BOUND, "42: binding volumes: ClaimRef got reset for pv \"pv1\"" },
        { "the reference has lost its uid", "11", ",\"claimRef\":{\"namespace\":\"default\",\"name\":\"c\"}", BOUND,
          "42: binding volumes: ClaimRef got reset for pv \"pv1\"" },
        { "bound", "11", CLAIM_REF ZONE("a"), BOUND, "42: " },
        { "no volume", NULL, NULL, BOUND, "42: binding volumes: failed to check binding: persistentvolumes \"pv1\" not found" },
        { "no claim", "10", CLAIM_REF, NULL,
          "42: binding volumes: failed to check binding: persistentvolumeclaims \"default/c\" not found" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin(false);
        if (cases[i].version)
            pv(cases[i].version, cases[i].spec);
        if (cases[i].claim_meta)
            pvc("11", cases[i].claim_meta, "pv1");
        volume_waits_check(waits, 2000);
        CHECK_TEXT(cases[i].name, ended, cases[i].want);
        end();
    }
}

TEST(what_ends_the_wait_for_a_claim)
{
    static const struct {
        const char *name, *version, *meta, *volume, *spec, *want;
    } cases[] = {
        { "our own write has not arrived", "9", "", "", NULL, "" },
        { "nobody has made a volume yet", "10", SELECTED, "", NULL, "" },
        { "recorded: the annotation was taken away", "11", "", "", NULL,
          "42: binding volumes: selectedNode annotation reset for PVC \"c\"" },
        { "taken away, and others are left", "11", "\"annotations\":{\"x\":\"y\"},", "", NULL,
          "42: binding volumes: provisioning failed for PVC \"c\"" },
        { "another node is named", "11", "\"annotations\":{\"volume.kubernetes.io/selected-node\":\"n2\"},", "", NULL,
          "42: binding volumes: provisioning failed for PVC \"c\"" },
        { "the volume has not arrived", "11", BOUND, "pv1", NULL, "" },
        { "the volume is elsewhere", "11", SELECTED, "pv1", ZONE("b"),
          "42: binding volumes: pv \"pv1\" node affinity doesn't match node \"n1\": no matching NodeSelectorTerms" },
        { "not said to be bound", "11", SELECTED, "pv1", ZONE("a"), "" },
        { "bound", "11", BOUND, "pv1", ZONE("a"), "42: " },
        { "no claim", NULL, NULL, NULL, NULL,
          "42: binding volumes: failed to check provisioning pvc: persistentvolumeclaims \"default/c\" not found" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin(true);
        if (cases[i].version)
            pvc(cases[i].version, cases[i].meta, cases[i].volume);
        if (cases[i].spec)
            pv("7", cases[i].spec);
        volume_waits_check(waits, 2000);
        CHECK_TEXT(cases[i].name, ended, cases[i].want);
        CHECK_INT(cases[i].name, volume_waits_n(waits), n_ended == 0);
        end();
    }
}

TEST(the_driver_stands_in_for_an_in_tree_volume)
{
    begin(false);
    set(OBJECT_CSI_NODE, "{\"metadata\":{\"name\":\"n1\",\"annotations\":{\"storage.alpha.kubernetes.io/migrated-plugins\":"
                         "\"kubernetes.io/aws-ebs\"}},\"spec\":{\"drivers\":[]}}");
    pvc("11", BOUND, "pv1");
    const char *zone = ",\"awsElasticBlockStore\":{\"volumeID\":\"vol-1\"},\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":["
                       "{\"matchExpressions\":[{\"key\":\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"a\"]}]}]}}";
    pv("10", arena_printf(&w.arena, CLAIM_REF "%s", zone));
    world_node(&w, "n1", "4", "\"topology.kubernetes.io/zone\":\"a\"");
    volume_waits_check(waits, 2000);
    CHECK_TEXT("the zone's label is not the driver's", ended,
               "42: binding volumes: pv \"pv1\" node affinity doesn't match node \"n1\": no matching NodeSelectorTerms");
    end();
    begin(false);
    pvc("11", BOUND, "pv1");
    pv("10", arena_printf(&w.arena, CLAIM_REF "%s", zone));
    world_node(&w, "n1", "4", "\"topology.kubernetes.io/zone\":\"a\"");
    volume_waits_check(waits, 2000);
    CHECK_TEXT("nobody stands in", ended, "42: ");
    end();
}

TEST(pod_or_node_is_gone)
{
    begin(false);
    pv("10", CLAIM_REF);
    pvc("11", BOUND, "pv1");
    sched_pod_removed(w.sched, "uid-p");
    volume_waits_check(waits, 2000);
    CHECK_TEXT("recorded", ended, "42: binding volumes: pod does not exist any more: pod \"p\" not found");
    end();
    begin(false);
    sched_node_removed(w.sched, world_sym(&w, "n1"));
    sched_pod_removed(w.sched, "uid-p");
    volume_waits_check(waits, 2000);
    CHECK_TEXT("the node comes first", ended, "42: binding volumes: failed to get node \"n1\": node \"n1\" not found");
    end();
}

TEST(several_waits)
{
    begin(false);
    pv("10", CLAIM_REF);
    pvc("11", BOUND, "pv1");
    const struct pod *pod = sched_pod(w.sched, "uid-p");
    struct volume_decisions d = { .ns = world_sym(&w, "default"), .node = world_sym(&w, "n1"), .timeout_ms = INT64_MAX };
    volume_waits_add(waits, 43, volume_job_new(&w.syms, pod, d.node, &d), 1500);
    volume_waits_add(waits, 44, volume_job_new(&w.syms, pod, d.node, &d), 1000);
    CHECK(volume_waits_remove(waits, 44));
    CHECK(!volume_waits_remove(waits, 44));
    volume_waits_check(waits, 2000);
    CHECK_TEXT("the first", ended, "42: ");
    CHECK_INT("alone", n_ended, 1);
    CHECK_INT("due", volume_waits_due_ms(waits), 2500);
    volume_waits_check(waits, 2500);
    CHECK_TEXT("nothing to wait for", ended, "43: ");
    CHECK_INT("all", n_ended, 2);
    end();
}
