/* tests/fuzz/fuzz_pod_writes.c - changes of status of any pod: what is sent is JSON, and an API server that applies it has
 * the condition and the nomination that were meant.
 *
 * The first byte says what changes: bit 0 protobuf, bit 1 a condition, bit 2 an error, bit 3 a nomination, bit 4 to none,
 * bit 5 a victim. The second is the length of the message that follows; the rest is the pod. */
#include "api/schema_slots.h"
#include "codec/json_scan.h"
#include "codec/proto.h"
#include "daemon/pod_writes.h"
#include "patch/patch.h"
#include "tests/fuzz/effort.h"
#include "tests/test.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { PROTOBUF = 1, CONDITION = 2, ERROR = 4, NOMINATION = 8, NO_NODE = 16, VICTIM = 32 };

/* Lists are merged by type: equal types stand for one condition, and which is chance. */
static bool types_differ(const struct pod *pod)
{
    for (uint16_t i = 0; i < pod->n_condition_types; i++)
        for (uint16_t k = 0; k < i; k++)
            if (pod->condition_types[i] == pod->condition_types[k])
                return false;
    return true;
}

/* The pod after the patch; NULL when it was none that the codec for whole objects reads. */
static const struct pod *patched(struct arena *a, struct sym_table *syms, bool protobuf, struct str bytes,
                                 struct str patch_body)
{
    const struct type *t = &schema_types[T_core_v1_Pod];
    struct err e;
    err_init(&e, a);
    struct work work = work_init(REQUEST_BYTES_MAX);
    struct value before;
    if (protobuf ? proto_decode(a, &work, t, bytes, &before, &e) : json_decode(a, &work, t, bytes, NULL, &before, &e))
        return NULL;
    struct patch patch = { &work, PATCH_TYPE_STRATEGIC, VALIDATION_IGNORE, patch_body };
    struct patch_outcome outcome;
    if (patch_apply(a, t, &before, &patch, &outcome, &e))
        return NULL; /* a pod that is none as JSON: a time outside of the calendar, raw fields */
    struct strbuf after;
    strbuf_init(&after, STRBUF_NO_MAX);
    json_encode(&after, t, &outcome.object);
    const struct pod *form = NULL;
    CHECK(!pod_decode(syms, TYPED_JSON, arena_str(a, strbuf_str(&after)), &form, &e));
    strbuf_fini(&after);
    return form;
}

static void check_condition(const struct sym_table *syms, const struct pod_condition *c, const char *status,
                            const char *reason)
{
    CHECK(c);
    CHECK(str_is(sym_text(syms, c->status), status));
    CHECK(str_is(sym_text(syms, c->reason), reason));
    CHECK(c->last_probe_s == TYPED_TIME_NONE);
}

static void check_pod(struct arena *a, struct sym_table *syms, const struct pod *pod, uint8_t how, const char *message,
                      struct str bytes)
{
    struct api_request r;
    struct err e;
    err_init(&e, a);
    sym node = how & NO_NODE ? SYM_EMPTY : sym_intern(syms, STR("node"));
    struct status_change change = { pod, how & CONDITION, how & ERROR ? FAILURE_SCHEDULER_ERROR : FAILURE_UNSCHEDULABLE,
                                    message, how & NOMINATION, node };
    if (!(how & VICTIM ? pod_disruption_request(a, syms, pod, pod, 1000, &r)
                       : pod_status_request(a, syms, &change, 1000, &r))) {
        sym_unref(syms, node);
        return;
    }
    CHECK(!json_check(r.body, &e));
    const struct pod *after = types_differ(pod) ? patched(a, syms, how & PROTOBUF, bytes, r.body) : NULL;
    if (after && how & VICTIM)
        check_condition(syms, after->disruption, "True", "PreemptionByScheduler");
    if (after && !(how & VICTIM) && how & CONDITION)
        check_condition(syms, after->scheduled, "False", how & ERROR ? "SchedulerError" : "Unschedulable");
    if (after && !(how & VICTIM) && how & NOMINATION)
        CHECK(after->nominated_node == node);
    if (after)
        pod_unref(syms, after);
    sym_unref(syms, node);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 2 || n < (size_t)data[1] + 2)
        return 0;
    struct str bytes = { (const char *)data + 2 + data[1], n - 2 - data[1] };
    struct arena a;
    arena_init(&a);
    effort_begin(n);
    struct err e;
    err_init(&e, &a);
    struct sym_table syms;
    sym_init(&syms);
    const struct pod *pod;
    if (!pod_decode(&syms, data[0] & PROTOBUF ? TYPED_PROTOBUF : TYPED_JSON, bytes, &pod, &e)) {
        check_pod(&a, &syms, pod, data[0], arena_cstr(&a, (struct str){ (const char *)data + 2, data[1] }), bytes);
        pod_unref(&syms, pod);
    }
    CHECK(sym_n_live(&syms) == 1);
    sym_fini(&syms);
    effort_end(&a, n);
    arena_fini(&a);
    return 0;
}
