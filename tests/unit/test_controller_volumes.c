/* tests/unit/test_controller_volumes.c - the steps of claims and volumes towards each other, and what protects them. */
#include "controllers/read.h"
#include "controllers/volume_plan.h"
#include "controllers/volume_protection.h"
#include "tests/unit/controller_world.h"

#define CLAIM_WITH(notes, spec, status)                                                                                         \
    "{\"metadata\":{\"name\":\"c\",\"namespace\":\"d\",\"uid\":\"u\",\"annotations\":{" notes "}},\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],"    \
    "\"resources\":{\"requests\":{\"storage\":\"2Gi\"}}" spec "},\"status\":{" status "}}"
#define CLAIM(spec) CLAIM_WITH("", spec, "\"phase\":\"Pending\"")
#define BOUND(phase) CLAIM_WITH("\"pv.kubernetes.io/bind-completed\":\"yes\"", ",\"volumeName\":\"v\"", "\"phase\":\"" phase "\"")
#define VOLUME_WITH(name, size, spec, phase)                                                                                    \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"capacity\":{\"storage\":\"" size "\"},\"accessModes\":[\"ReadWriteOnce\",\"ReadOnlyMany\"]" spec  \
    "},\"status\":{\"phase\":\"" phase "\"}}"
#define VOLUME(name, size) VOLUME_WITH(name, size, "", "Available")
#define FOR(uid) ",\"claimRef\":{\"namespace\":\"d\",\"name\":\"c\",\"uid\":\"" uid "\"}"
#define CLASS(provisioner, mode) "{\"metadata\":{\"name\":\"k\"},\"provisioner\":\"" provisioner "\",\"volumeBindingMode\":\"" mode "\"}"
#define SAYS(provisioner) "\"volume.kubernetes.io/storage-provisioner\":\"" provisioner "\""
#define HOLLOW "berth.dev/hollow"

static const struct {
    const char *what, *claim, *class, *volume, *candidates, *step; /* volume: by spec.volumeName */
} claims[] = {
    { "nothing there", CLAIM(""), NULL, NULL, NULL, "nothing FailedBinding" },
    { "the smallest that is large enough", CLAIM(""), NULL, NULL, VOLUME("a", "9Gi") "\n" VOLUME("b", "3Gi") "\n" VOLUME("c", "1Gi"), "volume b for u" },
    { "not what another claim has", CLAIM(""), NULL, NULL, VOLUME_WITH("a", "3Gi", ",\"claimRef\":{\"namespace\":\"d\",\"name\":\"x\"}", "Available"), "nothing FailedBinding" },
    { "not before it is free", CLAIM(""), NULL, NULL, VOLUME_WITH("a", "3Gi", "", "Pending"), "nothing FailedBinding" },
    { "of its class alone", CLAIM(",\"storageClassName\":\"k\""), NULL, NULL, VOLUME("a", "3Gi"), "nothing ProvisioningFailed" },
    { "of its mode alone", CLAIM(",\"volumeMode\":\"Block\""), NULL, NULL, VOLUME("a", "3Gi"), "nothing FailedBinding" },
    { "by its labels", CLAIM(",\"selector\":{\"matchLabels\":{\"a\":\"b\"}}"), NULL, NULL, VOLUME("a", "3Gi"), "nothing FailedBinding" },
    { "the one that waits for it", CLAIM(""), NULL, NULL, VOLUME("a", "2Gi") "\n" VOLUME_WITH("b", "9Gi", FOR(""), "Available"), "volume b for u" },
    { "it has the volume: that is bound", CLAIM(""), NULL, NULL, VOLUME_WITH("v", "9Gi", FOR("u"), "Available"), "volume v Bound" },
    { "then the claim", CLAIM(""), NULL, NULL, VOLUME_WITH("v", "9Gi", FOR("u"), "Bound"), "claim v" },
    { "then its status", BOUND("Pending"), NULL, VOLUME_WITH("v", "9Gi", FOR("u"), "Bound"), NULL, "claim is Bound 9Gi" },
    { "which is the end", CLAIM_WITH("\"pv.kubernetes.io/bind-completed\":\"yes\"", ",\"volumeName\":\"v\"",
      "\"phase\":\"Bound\",\"accessModes\":[\"ReadWriteOnce\",\"ReadOnlyMany\"]"), NULL, VOLUME_WITH("v", "9Gi", FOR("u"), "Bound"), NULL, "nothing" },
    { "a volume that somebody chose", CLAIM(",\"volumeName\":\"v\""), NULL, VOLUME("v", "9Gi"), NULL, "volume v for u" },
    { "which is not there", CLAIM(",\"volumeName\":\"v\""), NULL, NULL, NULL, "nothing" },
    { "or not his", CLAIM(",\"volumeName\":\"v\""), NULL, VOLUME_WITH("v", "9Gi", FOR("other"), "Bound"), NULL, "nothing FailedBinding" },
    { "or too small", CLAIM(",\"volumeName\":\"v\""), NULL, VOLUME("v", "1Gi"), NULL, "nothing VolumeMismatch" },
    { "a volume that was lost", BOUND("Bound"), NULL, NULL, NULL, "claim is Lost ClaimLost" },
    { "is lost once", BOUND("Lost"), NULL, NULL, NULL, "nothing" },
    { "a volume of two", BOUND("Bound"), NULL, VOLUME_WITH("v", "9Gi", FOR("other"), "Bound"), NULL, "claim is Lost ClaimMisbound" },
    { "put off", CLAIM(",\"storageClassName\":\"k\""), CLASS(HOLLOW, "WaitForFirstConsumer"), NULL, VOLUME_WITH("a", "3Gi", ",\"storageClassName\":\"k\"", "Available"),
      "nothing WaitForFirstConsumer" },
    { "until the scheduler chose the volume", CLAIM(",\"storageClassName\":\"k\""), CLASS(HOLLOW, "WaitForFirstConsumer"), NULL,
      VOLUME_WITH("a", "3Gi", ",\"storageClassName\":\"k\"" FOR("u"), "Available"), "volume a Bound" },
    { "or the node", CLAIM_WITH("\"volume.kubernetes.io/selected-node\":\"n\"," SAYS(HOLLOW), ",\"storageClassName\":\"k\"", "\"phase\":\"Pending\""),
      CLASS(HOLLOW, "WaitForFirstConsumer"), NULL, NULL, "make pvc-u for u" },
    { "who makes it", CLAIM(",\"storageClassName\":\"k\""), CLASS(HOLLOW, "Immediate"), NULL, NULL, "claim -" },
    { "we do", CLAIM_WITH(SAYS(HOLLOW), ",\"storageClassName\":\"k\"", "\"phase\":\"Pending\""), CLASS(HOLLOW, "Immediate"), NULL, NULL, "make pvc-u for u" },
    { "somebody else does", CLAIM_WITH(SAYS("x.y/z"), ",\"storageClassName\":\"k\"", "\"phase\":\"Pending\""), CLASS("x.y/z", "Immediate"), NULL, NULL,
      "nothing ExternalProvisioning" },
};

static const char *step_text(struct arena *a, const struct volume_step *step)
{
    const struct value *v = &step->object;
    struct str name = text_at(volume_type(), v, "metadata.name"), uid = text_at(volume_type(), v, "spec.claimRef.uid");
    struct str chosen = text_at(claim_type(), v, "spec.volumeName");
    const char *text = "nothing";
    switch (step->verb) {
    case VOLUME_NOTHING: break;
    case VOLUME_UPDATE: text = arena_printf(a, "volume %.*s for %.*s", STR_ARG(name), STR_ARG(uid)); break;
    case VOLUME_UPDATE_STATUS:
        text = arena_printf(a, "volume %.*s %.*s", STR_ARG(name), STR_ARG(text_at(volume_type(), v, "status.phase")));
        break;
    case VOLUME_CREATE: text = arena_printf(a, "make %.*s for %.*s", STR_ARG(name), STR_ARG(uid)); break;
    case VOLUME_DELETE: text = arena_printf(a, "delete %.*s", STR_ARG(name)); break;
    case CLAIM_UPDATE: text = arena_printf(a, "claim %.*s", STR_ARG(chosen.n ? chosen : STR("-"))); break;
    case CLAIM_UPDATE_STATUS: {
        struct str size = member_text(value_path(claim_type(), v, "status.capacity"), STR("storage"));
        text = arena_printf(a, "claim is %.*s%s%.*s", STR_ARG(text_at(claim_type(), v, "status.phase")), size.n ? " " : "", STR_ARG(size));
    }
    }
    return step->event_type ? arena_printf(a, "%s %s", text, step->reason) : text;
}

static const struct value *maybe(struct arena *a, const char *type, const char *json)
{
    struct value *v = ARENA_NEW(a, struct value);
    if (json)
        *v = world_decode(a, type, str_of(json));
    return json ? v : NULL;
}

TEST(steps_of_claims)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
        const struct value **candidates;
        struct claim_state s = { .claim = maybe(&a, "core/v1.PersistentVolumeClaim", claims[i].claim),
                                 .class = maybe(&a, "storage.k8s.io/v1.StorageClass", claims[i].class),
                                 .volume = maybe(&a, "core/v1.PersistentVolume", claims[i].volume) };
        s.n_candidates = world_decode_all(&a, "core/v1.PersistentVolume", claims[i].candidates, &candidates);
        s.candidates = candidates;
        struct volume_step step = claim_step(&a, &s);
        CHECK_TEXT(claims[i].what, step_text(&a, &step), claims[i].step);
        arena_reset(&a);
    }
    arena_fini(&a);
}

#define GOES_WITH(uid) FOR(uid) ",\"persistentVolumeReclaimPolicy\":\"Delete\""
#define OURS(policy)                                                                                                            \
    "{\"metadata\":{\"name\":\"v\",\"annotations\":{\"pv.kubernetes.io/provisioned-by\":\"" HOLLOW "\"}},\"spec\":{"                 \
    "\"persistentVolumeReclaimPolicy\":\"" policy "\"" FOR("u") "},\"status\":{\"phase\":\"Released\"}}"

static const struct {
    const char *what, *volume, *claim, *step;
} volumes[] = {
    { "new", VOLUME_WITH("v", "1Gi", "", "Pending"), NULL, "volume v Available" },
    { "free", VOLUME("v", "1Gi"), NULL, "nothing" },
    { "waits for a claim", VOLUME_WITH("v", "1Gi", FOR(""), "Pending"), NULL, "volume v Available" },
    { "its claim does not know yet", VOLUME_WITH("v", "1Gi", FOR("u"), "Available"), CLAIM(""), "nothing" },
    { "its claim knows", VOLUME_WITH("v", "1Gi", FOR("u"), "Available"), CLAIM(",\"volumeName\":\"v\""), "volume v Bound" },
    { "its claim is gone", VOLUME_WITH("v", "1Gi", FOR("u"), "Bound"), NULL, "volume v Released" },
    { "another claim by that name", VOLUME_WITH("v", "1Gi", FOR("old"), "Bound"), CLAIM(""), "volume v Released" },
    { "is kept", OURS("Retain"), NULL, "nothing" },
    { "or goes", OURS("Delete"), NULL, "delete v" },
    { "unless nobody knows how", VOLUME_WITH("v", "1Gi", GOES_WITH("u"), "Released"), NULL, "volume v Failed VolumeFailedDelete" },
    { "which is said once", VOLUME_WITH("v", "1Gi", GOES_WITH("u"), "Failed"), NULL, "nothing" },
    { "or somebody else does", VOLUME_WITH("v", "1Gi", GOES_WITH("u") ",\"csi\":{\"driver\":\"d\",\"volumeHandle\":\"h\"}", "Released"), NULL, "nothing" },
    { "a path of the host", VOLUME_WITH("v", "1Gi", GOES_WITH("u") ",\"hostPath\":{\"path\":\"/tmp/x\"}", "Released"), NULL, "delete v" },
    { "not any path", VOLUME_WITH("v", "1Gi", GOES_WITH("u") ",\"hostPath\":{\"path\":\"/tmp/\"}", "Released"), NULL,
      "volume v Failed VolumeFailedDelete" },
};

TEST(steps_of_volumes)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(volumes) / sizeof(volumes[0]); i++) {
        struct volume_step step = volume_step(&a, maybe(&a, "core/v1.PersistentVolume", volumes[i].volume),
                                              maybe(&a, "core/v1.PersistentVolumeClaim", volumes[i].claim));
        CHECK_TEXT(volumes[i].what, step_text(&a, &step), volumes[i].step);
    }
    arena_fini(&a);
}

/* ---- Protection ---- */

#define HAS ",\"finalizers\":[\"a/b\",\"" CLAIM_FINALIZER "\"]"
#define GOES ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\""

TEST(finalizers)
{
    static const struct {
        const char *what, *meta;
        bool in_use;
        const char *finalizers; /* NULL: as they are */
    } rows[] = {
        { "protected", HAS, false, NULL },
        { "not yet", "", false, "[\"" CLAIM_FINALIZER "\"]" },
        { "deleted and in use", HAS GOES, true, NULL },
        { "deleted and unused", HAS GOES, false, "[\"a/b\"]" },
        { "deleted, and not ours to hold", GOES, false, NULL },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct value next, v = world_decode(&a, "core/v1.PersistentVolumeClaim", str_of(arena_printf(&a, "{\"metadata\":{\"name\":\"c\"%s}}", rows[i].meta)));
        bool changes = protection_plan(&a, claim_type(), &v, STR(CLAIM_FINALIZER), rows[i].in_use, &next);
        CHECK_INT(rows[i].what, changes, rows[i].finalizers != NULL);
        if (changes && !strstr(world_json(&a, "core/v1.PersistentVolumeClaim", &next), rows[i].finalizers))
            FAIL("%s: %s", rows[i].what, world_json(&a, "core/v1.PersistentVolumeClaim", &next));
    }
    arena_fini(&a);
}

TEST(who_uses_a_claim)
{
    static const struct {
        const char *what, *pod;
        bool uses;
    } pods[] = {
        { "by name", "{\"spec\":{\"nodeName\":\"n\",\"volumes\":[{\"name\":\"x\",\"persistentVolumeClaim\":{\"claimName\":\"p-v\"}}]}}", true },
        { "not scheduled", "{\"spec\":{\"volumes\":[{\"name\":\"x\",\"persistentVolumeClaim\":{\"claimName\":\"p-v\"}}]}}", false },
        { "another", "{\"spec\":{\"nodeName\":\"n\",\"volumes\":[{\"name\":\"x\",\"persistentVolumeClaim\":{\"claimName\":\"q\"}}]}}", false },
        { "its own", "{\"metadata\":{\"name\":\"p\",\"uid\":\"pod\"},\"spec\":{\"nodeName\":\"n\",\"volumes\":[{\"name\":\"v\",\"ephemeral\":{}}]}}", true },
        { "by that name, but not its own", "{\"metadata\":{\"name\":\"p\",\"uid\":\"x\"},\"spec\":{\"nodeName\":\"n\",\"volumes\":[{\"name\":\"v\",\"ephemeral\":{}}]}}", false },
    };
    struct arena a;
    arena_init(&a);
    struct value claim = world_decode(&a, "core/v1.PersistentVolumeClaim", STR("{\"metadata\":{\"name\":\"p-v\",\"ownerReferences\":[{\"uid\":\"pod\"}]}}"));
    for (size_t i = 0; i < sizeof(pods) / sizeof(pods[0]); i++) {
        struct value pod = world_decode(&a, "core/v1.Pod", str_of(pods[i].pod));
        CHECK_INT(pods[i].what, protection_pod_uses(&pod, &claim), pods[i].uses);
    }
    arena_fini(&a);
}
