/* tests/vectors/requests.c - what the pods of the scheduling families add to a node's accounts. */
#include "forms/pod.h"
#include "tests/typed_dump.h"
#include "tests/vectors/vectors.h"

/* Every object of a scenario can be read. */
static void check_objects(struct vector_case *c, struct sym_table *syms)
{
    static const struct {
        const char *list, *api_version, *kind;
    } kinds[] = {
        { "nodes", "v1", "Node" },
        { "pods", "v1", "Pod" },
        { "namespaces", "v1", "Namespace" },
        { "services", "v1", "Service" },
        { "replicationcontrollers", "v1", "ReplicationController" },
        { "replicasets", "apps/v1", "ReplicaSet" },
        { "statefulsets", "apps/v1", "StatefulSet" },
        { "persistentvolumes", "v1", "PersistentVolume" },
        { "persistentvolumeclaims", "v1", "PersistentVolumeClaim" },
        { "storageclasses", "storage.k8s.io/v1", "StorageClass" },
        { "csinodes", "storage.k8s.io/v1", "CSINode" },
        { "csidrivers", "storage.k8s.io/v1", "CSIDriver" },
        { "csistoragecapacities", "storage.k8s.io/v1", "CSIStorageCapacity" },
        { "volumeattachments", "storage.k8s.io/v1", "VolumeAttachment" },
        { "poddisruptionbudgets", "policy/v1", "PodDisruptionBudget" },
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        const struct typed_kind *k = typed_kind(str_of(kinds[i].api_version), str_of(kinds[i].kind));
        size_t at, n;
        yyjson_val *object;
        yyjson_arr_foreach(yyjson_obj_get(yyjson_obj_get(c->record, "objects"), kinds[i].list), at, n, object)
        {
            struct err e;
            err_init(&e, c->arena);
            const void *form;
            if (k->decode(syms, TYPED_JSON, vector_json(c, object), &form, &e))
                vector_mismatch(c, "%s %zu: %s", k->kind, at, e.message);
            else
                k->unref(syms, form);
        }
    }
}

static void check_scalars(struct vector_case *c, const struct sym_table *syms, const struct amounts *got,
                          yyjson_val *want)
{
    vector_int(c, "number of scalars", got->n_scalars, (int64_t)yyjson_obj_size(want));
    for (uint32_t i = 0; i < got->n_scalars; i++) {
        struct str name = sym_text(syms, got->scalars[i].name);
        yyjson_val *amount = yyjson_obj_getn(want, name.p, name.n);
        if (!amount)
            vector_mismatch(c, "unexpected scalar %.*s", STR_ARG(name));
        else
            vector_int(c, "scalar", got->scalars[i].amount, yyjson_get_sint(amount));
    }
}

static void check_request(struct vector_case *c, const struct sym_table *syms, const struct pod *pod,
                          yyjson_val *want)
{
    vector_int(c, "milliCPU", pod->requested->milli_cpu, vector_num(want, "milliCPU"));
    vector_int(c, "memory", pod->requested->memory, vector_num(want, "memory"));
    vector_int(c, "ephemeralStorage", pod->requested->ephemeral_storage, vector_num(want, "ephemeralStorage"));
    vector_int(c, "nonZeroMilliCPU", pod->non_zero_milli_cpu, vector_num(want, "nonZeroMilliCPU"));
    vector_int(c, "nonZeroMemory", pod->non_zero_memory, vector_num(want, "nonZeroMemory"));
    check_scalars(c, syms, pod->requested, yyjson_obj_get(want, "scalar"));
}

void check_requests(struct vector_case *c)
{
    struct sym_table syms;
    sym_init(&syms);
    check_objects(c, &syms);
    size_t i, n;
    yyjson_val *step;
    yyjson_arr_foreach(yyjson_obj_get(c->record, "steps"), i, n, step)
    {
        yyjson_val *want = yyjson_obj_get(yyjson_obj_get(step, "expect"), "request");
        struct err e;
        err_init(&e, c->arena);
        const struct pod *pod;
        if (pod_decode(&syms, TYPED_JSON, vector_json(c, yyjson_obj_get(step, "pod")), &pod, &e)) {
            vector_mismatch(c, "step %zu: %s", i, e.message);
            continue;
        }
        if (want)
            check_request(c, &syms, pod, want);
        pod_unref(&syms, pod);
    }
    vector_int(c, "syms left behind", sym_n_live(&syms), 1);
    sym_fini(&syms);
}
