/* Every kind that has a typed form: both formats give the same one, and nothing is left behind. */
#include "codec/json.h"
#include "codec/proto.h"
#include "forms/pod.h"
#include "tests/test.h"
#include "tests/typed_dump.h"

static const struct {
    const char *api_version, *kind, *json;
} objects[] = {
    { "v1", "Pod", "{}" },
    { "v1", "Pod",
      "{\"metadata\":{\"name\":\"web-1\",\"namespace\":\"shop\",\"uid\":\"u1\",\"resourceVersion\":\"5\",\"generation\":2,"
      "\"labels\":{\"app\":\"web\",\"tier\":\"front\"},\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Other\","
      "\"name\":\"o\",\"uid\":\"x\"},{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"web\",\"uid\":\"rs\","
      "\"controller\":true}],\"deletionTimestamp\":\"2024-01-01T00:00:00Z\"},"
      "\"spec\":{\"nodeName\":\"n1\",\"schedulerName\":\"s\",\"priority\":10,\"priorityClassName\":\"high\","
      "\"preemptionPolicy\":\"Never\",\"hostNetwork\":true,\"hostUsers\":false,\"schedulingGroup\":{\"podGroupName\":\"g\"},"
      "\"schedulingGates\":[{\"name\":\"a/b\"},{\"name\":\"c\"}],\"nodeSelector\":{\"disk\":\"ssd\"},"
      "\"resourceClaims\":[{\"name\":\"r\",\"resourceClaimName\":\"rc\"},{\"name\":\"t\",\"resourceClaimTemplateName\":\"rt\"}],"
      "\"overhead\":{\"cpu\":\"10m\"},\"resources\":{\"requests\":{\"cpu\":\"2\"}},"
      "\"tolerations\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"},{\"operator\":\"Exists\"},"
      "{\"key\":\"n\",\"operator\":\"Gt\",\"value\":\"5\",\"effect\":\"NoExecute\"}],"
      "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\","
      "\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}},\"matchLabelKeys\":[\"tier\",\"none\"],\"minDomains\":2,"
      "\"nodeAffinityPolicy\":\"Ignore\",\"nodeTaintsPolicy\":\"Honor\"},{\"maxSkew\":2,\"topologyKey\":\"host\","
      "\"whenUnsatisfiable\":\"ScheduleAnyway\"}],"
      "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":["
      "{\"matchExpressions\":[{\"key\":\"z\",\"operator\":\"In\",\"values\":[\"b\",\"a\",\"a\"]},{\"key\":\"n\","
      "\"operator\":\"Gt\",\"values\":[\"3\"]}],\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
      "\"values\":[\"n1\"]}]},{},{\"matchExpressions\":[{\"key\":\"z\",\"operator\":\"Bad\"}]}]},"
      "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":5,\"preference\":{\"matchExpressions\":[{\"key\":\"q\","
      "\"operator\":\"Exists\"}]}},{\"weight\":0,\"preference\":{}}]},"
      "\"podAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"labelSelector\":{\"matchExpressions\":[{"
      "\"key\":\"app\",\"operator\":\"NotIn\",\"values\":[\"x\"]}]},\"topologyKey\":\"zone\"}],"
      "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":7,\"podAffinityTerm\":{\"topologyKey\":\"host\","
      "\"namespaces\":[\"b\",\"a\"],\"namespaceSelector\":{}}}]},"
      "\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"labelSelector\":{\"matchExpressions\":[{"
      "\"key\":\"app\",\"operator\":\"In\"}]},\"topologyKey\":\"zone\"}]}},"
      "\"initContainers\":[{\"name\":\"i\",\"image\":\"init\",\"resources\":{\"requests\":{\"cpu\":\"3\"}}},"
      "{\"name\":\"s\",\"image\":\"r:5000/side\",\"restartPolicy\":\"Always\",\"ports\":[{\"hostPort\":9}]}],"
      "\"containers\":[{\"name\":\"c\",\"image\":\"web:1\",\"ports\":[{\"hostPort\":80,\"hostIP\":\"10.0.0.1\",\"protocol\":"
      "\"UDP\"},{\"containerPort\":1}],\"resources\":{\"requests\":{\"cpu\":\"100m\",\"example.com/gpu\":\"1\","
      "\"hugepages-2Mi\":\"4Mi\"}},\"restartPolicyRules\":[{\"action\":\"RestartAllContainers\"}]}],"
      "\"volumes\":[{\"name\":\"d\",\"persistentVolumeClaim\":{\"claimName\":\"pvc\"}},{\"name\":\"e\",\"ephemeral\":{}},"
      "{\"name\":\"g\",\"gcePersistentDisk\":{\"pdName\":\"pd\",\"readOnly\":true}},{\"name\":\"r\",\"rbd\":{\"monitors\":["
      "\"m1\",\"m2\"],\"image\":\"img\",\"pool\":\"p\"}},{\"name\":\"z\",\"azureDisk\":{\"diskURI\":\"uri\",\"kind\":"
      "\"Shared\"}},{\"name\":\"v\",\"vsphereVolume\":{}},{\"name\":\"c\",\"csi\":{\"driver\":\"drv\"}},"
      "{\"name\":\"i\",\"image\":{\"reference\":\"vol/img\"}},{\"name\":\"x\",\"emptyDir\":{}}]},"
      "\"status\":{\"phase\":\"Failed\",\"nominatedNodeName\":\"n2\",\"startTime\":\"2024-01-01T00:00:05Z\","
      "\"resourceClaimStatuses\":[{\"name\":\"t\",\"resourceClaimName\":\"made\"},{\"name\":\"r\"}],"
      "\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\",\"message\":\"0/1\","
      "\"lastTransitionTime\":\"2024-01-01T00:00:06Z\",\"observedGeneration\":2},{\"type\":\"DisruptionTarget\","
      "\"status\":\"True\",\"reason\":\"PreemptionByScheduler\"}],"
      "\"containerStatuses\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"200m\"}},\"allocatedResources\":{"
      "\"cpu\":\"150m\"}}]}}" },
    { "v1", "Node",
      "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"zone\":\"a\"},\"annotations\":{\"x\":\"1\",\"y\":\"2\"}},"
      "\"spec\":{\"unschedulable\":true,\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoExecute\"},{\"key\":\"o\"}]},"
      "\"status\":{\"allocatable\":{\"cpu\":\"3920m\",\"memory\":\"15Gi\",\"pods\":\"110\",\"ephemeral-storage\":\"100Gi\","
      "\"example.com/gpu\":\"8\",\"odd\":\"1\"},\"images\":[{\"names\":[\"a:1\",\"a@sha\"],\"sizeBytes\":10},{\"names\":[\"a:1\"],"
      "\"sizeBytes\":20}],\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],\"declaredFeatures\":[\"Z\","
      "\"UserNamespacesHostNetworkSupport\"]}}" },
    { "v1", "PersistentVolume",
      "{\"metadata\":{\"name\":\"pv\",\"annotations\":{\"volume.beta.kubernetes.io/storage-class\":\"old\"}},"
      "\"spec\":{\"capacity\":{\"storage\":\"1500m\"},\"accessModes\":[\"ReadWriteOnce\",\"Odd\"],\"storageClassName\":\"new\","
      "\"volumeMode\":\"Block\",\"volumeAttributesClassName\":\"gold\",\"claimRef\":{\"namespace\":\"shop\",\"name\":\"data\","
      "\"uid\":\"u\"},\"csi\":{\"driver\":\"drv\",\"volumeHandle\":\"h\"},\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":["
      "{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"a\"]}]}]}}},"
      "\"status\":{\"phase\":\"Bound\"}}" },
    { "v1", "PersistentVolumeClaim",
      "{\"metadata\":{\"name\":\"data\",\"namespace\":\"shop\",\"annotations\":{\"pv.kubernetes.io/bind-completed\":\"yes\","
      "\"volume.kubernetes.io/selected-node\":\"n1\"},\"ownerReferences\":[{\"uid\":\"pod\",\"controller\":true}]},"
      "\"spec\":{\"accessModes\":[\"ReadWriteOncePod\"],\"resources\":{\"requests\":{\"storage\":\"1Gi\"}},\"volumeName\":\"pv\","
      "\"storageClassName\":\"c\",\"selector\":{\"matchLabels\":{\"a\":\"b\"}}},\"status\":{\"phase\":\"Lost\"}}" },
    { "storage.k8s.io/v1", "StorageClass",
      "{\"metadata\":{\"name\":\"c\"},\"provisioner\":\"drv\",\"volumeBindingMode\":\"WaitForFirstConsumer\","
      "\"allowedTopologies\":[{\"matchLabelExpressions\":[{\"key\":\"zone\",\"values\":[\"a\",\"b\"]}]},{}]}" },
    { "storage.k8s.io/v1", "CSINode",
      "{\"metadata\":{\"name\":\"n1\",\"annotations\":{\"storage.alpha.kubernetes.io/migrated-plugins\":"
      "\"kubernetes.io/gce-pd,kubernetes.io/aws-ebs\"}},\"spec\":{\"drivers\":[{\"name\":\"a\",\"allocatable\":{\"count\":5}},"
      "{\"name\":\"b\"},{\"name\":\"c\",\"allocatable\":{}}]}}" },
    { "storage.k8s.io/v1", "CSIDriver",
      "{\"metadata\":{\"name\":\"drv\"},\"spec\":{\"storageCapacity\":true,\"preventPodSchedulingIfMissing\":true}}" },
    { "storage.k8s.io/v1", "CSIStorageCapacity",
      "{\"metadata\":{\"name\":\"x\",\"namespace\":\"ns\"},\"nodeTopology\":{\"matchLabels\":{\"zone\":\"a\"}},"
      "\"storageClassName\":\"c\",\"capacity\":\"10Gi\"}" },
    { "storage.k8s.io/v1", "VolumeAttachment",
      "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"attacher\":\"drv\",\"nodeName\":\"n1\",\"source\":{\"persistentVolumeName\":"
      "\"pv\"}}}" },
    { "v1", "Service", "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"selector\":{\"app\":\"web\"}}}" },
    { "v1", "ReplicationController", "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"selector\":{\"app\":\"web\"}}}" },
    { "apps/v1", "ReplicaSet",
      "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"selector\":{\"matchLabels\":{\"app\":\"web\"},\"matchExpressions\":[{\"key\":"
      "\"x\",\"operator\":\"DoesNotExist\"}]}}}" },
    { "apps/v1", "StatefulSet", "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"selector\":{\"matchLabels\":{\"bad key\":\"web\"}}}}" },
    { "policy/v1", "PodDisruptionBudget",
      "{\"metadata\":{\"name\":\"b\",\"namespace\":\"ns\"},\"spec\":{\"selector\":{}},\"status\":{\"disruptionsAllowed\":2,"
      "\"disruptedPods\":{\"p2\":\"2024-01-01T00:00:00Z\",\"p1\":null}}}" },
    { "scheduling.k8s.io/v1", "PriorityClass",
      "{\"metadata\":{\"name\":\"high\"},\"value\":-7,\"globalDefault\":true,\"preemptionPolicy\":\"Never\"}" },
    { "v1", "Namespace", "{\"metadata\":{\"name\":\"shop\",\"labels\":{\"team\":\"a\"}}}" },
    { "resource.k8s.io/v1", "ResourceClaim",
      "{\"metadata\":{\"name\":\"gpu\",\"namespace\":\"shop\",\"uid\":\"u\",\"resourceVersion\":\"7\"},\"spec\":{\"devices\":{"
      "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"c\"}}]}},\"status\":{\"reservedFor\":[{\"resource\":\"pods\","
      "\"name\":\"p\",\"uid\":\"u\"}]}}" },
    { "resource.k8s.io/v1", "ResourceSlice",
      "{\"metadata\":{\"name\":\"s\",\"uid\":\"u\"},\"spec\":{\"driver\":\"d\",\"pool\":{\"name\":\"n1\",\"generation\":1,"
      "\"resourceSliceCount\":1},\"nodeName\":\"n1\",\"devices\":[{\"name\":\"gpu-0\"}]}}" },
    { "resource.k8s.io/v1", "DeviceClass", "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"extendedResourceName\":\"example.com/gpu\"}}" },
    { "coordination.k8s.io/v1", "Lease",
      "{\"metadata\":{\"name\":\"l\",\"namespace\":\"kube-system\"},\"spec\":{\"holderIdentity\":\"me\",\"leaseDurationSeconds\":"
      "15,\"acquireTime\":\"2024-01-01T00:00:00.123456Z\",\"renewTime\":\"2024-01-01T00:00:01.000000Z\","
      "\"leaseTransitions\":3,\"strategy\":\"OldestEmulationVersion\",\"preferredHolder\":\"you\"}}" },
};

enum { N_OBJECTS = sizeof(objects) / sizeof(*objects) };

static struct str to_protobuf(struct arena *a, size_t i)
{
    const struct type *t = schema_object_type(str_of(objects[i].api_version), str_of(objects[i].kind));
    CHECK(t);
    struct err e;
    err_init(&e, a);
    struct value v;
    if (json_decode(a, WORK_OWN, t, str_of(objects[i].json), NULL, &v, &e))
        FAIL("%s: %s", objects[i].kind, e.message);
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    proto_encode(&b, t, &v);
    struct str message = arena_str(a, strbuf_str(&b));
    strbuf_fini(&b);
    return message;
}

TEST(json_and_protobuf_give_the_same_form)
{
    struct arena a;
    arena_init(&a);
    struct err e;
    err_init(&e, &a);
    for (size_t i = 0; i < N_OBJECTS; i++) {
        struct sym_table syms;
        sym_init(&syms);
        struct strbuf one, other;
        strbuf_init(&one, STRBUF_NO_MAX);
        strbuf_init(&other, STRBUF_NO_MAX);
        const struct typed_kind *k = typed_kind(str_of(objects[i].api_version), str_of(objects[i].kind));
        const void *from_json, *from_proto;
        if (k->decode(&syms, TYPED_JSON, str_of(objects[i].json), &from_json, &e) ||
            k->decode(&syms, TYPED_PROTOBUF, to_protobuf(&a, i), &from_proto, &e))
            FAIL("%s: %s", k->kind, e.message);
        k->dump(&one, &syms, from_json);
        k->dump(&other, &syms, from_proto);
        CHECK_STR(k->kind, strbuf_str(&other), strbuf_str(&one));
        k->unref(&syms, from_json);
        k->unref(&syms, from_proto);
        CHECK_INT(k->kind, sym_n_live(&syms), 1);
        strbuf_fini(&one);
        strbuf_fini(&other);
        sym_fini(&syms);
    }
    arena_fini(&a);
}

/* Every prefix of the protobuf and of the JSON: most are refused, and then no sym may stay. */
TEST(failures_leave_nothing_behind)
{
    struct arena a;
    arena_init(&a);
    struct err e;
    err_init(&e, &a);
    for (size_t i = 0; i < N_OBJECTS; i++) {
        struct sym_table syms;
        sym_init(&syms);
        const struct typed_kind *k = typed_kind(str_of(objects[i].api_version), str_of(objects[i].kind));
        struct str texts[2] = { str_of(objects[i].json), to_protobuf(&a, i) };
        for (int format = TYPED_JSON; format <= TYPED_PROTOBUF; format++)
            for (size_t n = 0; n < texts[format].n; n++) {
                const void *form;
                if (!k->decode(&syms, (enum typed_format)format, str_first(texts[format], n), &form, &e))
                    k->unref(&syms, form);
                CHECK_INT(k->kind, sym_n_live(&syms), 1);
            }
        sym_fini(&syms);
        arena_reset(&a);
    }
    arena_fini(&a);
}

TEST(references_keep_a_form)
{
    struct arena a;
    arena_init(&a);
    struct err e;
    err_init(&e, &a);
    struct sym_table syms;
    sym_init(&syms);
    const struct pod *pod;
    CHECK(!pod_decode(&syms, TYPED_JSON, str_of(objects[1].json), &pod, &e));
    uint32_t n_live = sym_n_live(&syms);
    CHECK(n_live > 50);
    CHECK(pod_ref(pod) == pod);
    pod_unref(&syms, pod);
    CHECK_INT("still there", sym_n_live(&syms), n_live);
    pod_unref(&syms, pod);
    CHECK_INT("gone", sym_n_live(&syms), 1);
    pod_unref(&syms, NULL);
    sym_fini(&syms);
    arena_fini(&a);
}

TEST(copies_differ_in_one_member)
{
    struct arena a;
    arena_init(&a);
    struct err e;
    err_init(&e, &a);
    struct sym_table syms;
    sym_init(&syms);
    const struct typed_kind *k = typed_kind(STR("v1"), STR("Pod"));
    struct strbuf one, other;
    strbuf_init(&one, STRBUF_NO_MAX);
    strbuf_init(&other, STRBUF_NO_MAX);
    const struct pod *pod;
    CHECK(!pod_decode(&syms, TYPED_JSON, str_of(objects[1].json), &pod, &e));
    sym n1 = sym_find(&syms, STR("n1")), n2 = sym_find(&syms, STR("n2")), n9 = sym_intern(&syms, STR("n9"));
    const struct pod *placed = pod_with_node(&syms, pod, n9), *same = pod_with_node(&syms, placed, n1);
    const struct pod *nominated = pod_with_nomination(&syms, same, n9);
    const struct pod *back = pod_with_nomination(&syms, nominated, n2);
    const struct pod *twin = pod_with_identity(&syms, pod, "a-rather-long-name-of-a-twin", "u2");
    const struct pod *renamed = pod_with_identity(&syms, twin, pod->meta.name, pod->meta.uid);
    sym_unref(&syms, n9);
    CHECK_TEXT("name", twin->meta.name, "a-rather-long-name-of-a-twin");
    CHECK_TEXT("uid", twin->meta.uid, "u2");
    CHECK_INT("node", placed->node_name, n9);
    CHECK_INT("nomination", nominated->nominated_node, n9);
    CHECK_INT("the original", pod->node_name, n1);
    k->dump(&one, &syms, pod);
    pod_unref(&syms, pod); /* copies stand alone */
    k->dump(&other, &syms, back);
    CHECK_STR("back where it was", strbuf_str(&other), strbuf_str(&one));
    strbuf_reset(&other);
    k->dump(&other, &syms, renamed);
    CHECK_STR("back to its name", strbuf_str(&other), strbuf_str(&one));
    pod_unref(&syms, twin);
    pod_unref(&syms, renamed);
    pod_unref(&syms, placed);
    pod_unref(&syms, same);
    pod_unref(&syms, nominated);
    pod_unref(&syms, back);
    CHECK_INT("gone", sym_n_live(&syms), 1);
    strbuf_fini(&one);
    strbuf_fini(&other);
    sym_fini(&syms);
    arena_fini(&a);
}

TEST(a_pod_is_made_again)
{
    struct arena a;
    arena_init(&a);
    struct err e;
    err_init(&e, &a);
    struct sym_table syms;
    sym_init(&syms);
    const struct pod *pod;
    CHECK(!pod_decode(&syms, TYPED_JSON,
                      STR("{\"metadata\":{\"name\":\"a\",\"uid\":\"1\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},\"spec\":{"
                          "\"nodeName\":\"n\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\","
                          "\"example.com/gpu\":\"2\"}}}]},\"status\":{\"phase\":\"Running\",\"nominatedNodeName\":\"m\",\"conditions\":["
                          "{\"type\":\"PodScheduled\",\"status\":\"True\"},{\"type\":\"DisruptionTarget\",\"status\":\"True\","
                          "\"reason\":\"PreemptionByScheduler\"}]}}"),
                      &pod, &e));
    const struct pod *again = pod_again(&syms, pod, "b", "2"), *more = pod_with_requests(&syms, again, 2500, -1);
    const struct pod *urgent = pod_with_priority(&syms, more, 7);
    pod_unref(&syms, pod);
    pod_unref(&syms, again);
    pod_unref(&syms, more);
    CHECK_TEXT("name", urgent->meta.name, "b");
    CHECK_TEXT("uid", urgent->meta.uid, "2");
    CHECK_INT("on no node", urgent->node_name, SYM_EMPTY);
    CHECK_INT("promised none", urgent->nominated_node, SYM_EMPTY);
    CHECK_INT("flags", urgent->flags & (POD_TERMINATING | POD_DISRUPTED_BY_SCHEDULER), 0);
    CHECK(!urgent->scheduled && !urgent->disruption && urgent->n_condition_types == 0);
    CHECK_INT("phase", urgent->phase, PHASE_PENDING);
    CHECK_INT("cpu", urgent->fit->milli_cpu, 2500);
    CHECK_INT("cpu on the node", urgent->requested->milli_cpu, 2500);
    CHECK_INT("non-zero cpu", urgent->non_zero_milli_cpu, 2500);
    CHECK_INT("what a pod without memory counts for", urgent->score->memory, 200 << 20);
    CHECK_INT("other resources stay", urgent->fit->n_scalars, 1);
    CHECK_INT("priority", urgent->priority, 7);
    pod_unref(&syms, urgent);
    CHECK_INT("gone", sym_n_live(&syms), 1);
    sym_fini(&syms);
    arena_fini(&a);
}

TEST(names_that_hold_a_nul_are_refused)
{
    struct arena a;
    arena_init(&a);
    struct err e;
    err_init(&e, &a);
    struct sym_table syms;
    sym_init(&syms);
    const struct pod *pod;
    struct str json = STR("{\"metadata\":{\"name\":\"a\\u0000b\",\"namespace\":\"x\",\"labels\":{\"a\":\"b\"}}}");
    CHECK_INT("code", pod_decode(&syms, TYPED_JSON, json, &pod, &e), ERR_INVALID);
    CHECK_TEXT("text", e.message, "metadata.name: Invalid value: holds a NUL character");
    CHECK_INT("syms", sym_n_live(&syms), 1);
    sym_fini(&syms);
    arena_fini(&a);
}
