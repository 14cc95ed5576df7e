/* tests/vectors/requests.c - what the pods of the scheduling families add to a node's accounts. */
#include "api/node.h"
#include "api/pod.h"
#include "tests/vectors/vectors.h"

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
