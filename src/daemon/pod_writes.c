/* daemon/pod_writes.c - see pod_writes.h. Upstream: pkg/scheduler/util PatchPodStatus, pkg/api/v1/pod, v1.36.
 *
 * Upstream makes a patch by writing both versions of the status as JSON and comparing them. Only one condition and the
 * nomination can differ, so the patch is written straight away, with the keys in the order of the alphabet, as Go
 * writes maps. */
#include "daemon/pod_writes.h"

#include <assert.h>

#include "api/edit.h"
#include "api/schema_slots.h"
#include "api/time.h"
#include "base/strbuf.h"

#define STRATEGIC_MERGE_PATCH "application/strategic-merge-patch+json"

/* ---- Requests ---- */

static struct str pod_target(struct arena *a, const struct sym_table *syms, const struct pod *pod, const char *below)
{
    return str_of(arena_printf(a, "/api/v1/namespaces/%s/pods/%s%s", sym_text(syms, pod->meta.ns).p, pod->meta.name,
                               below));
}

static struct str encoded(struct arena *a, enum media media, const struct type *t, const struct value *v)
{
    struct strbuf body;
    strbuf_init(&body, STRBUF_NO_MAX);
    object_encode(&body, media, t, v);
    struct str copy = arena_str(a, strbuf_str(&body));
    strbuf_fini(&body);
    return copy;
}

static struct value object_of(struct arena *a, const struct type *t, const char *kind)
{
    struct value object = value_struct(a, t);
    object.slots[SLOT_KIND] = edit_text(kind);
    object.slots[SLOT_API_VERSION] = edit_text("v1");
    return object;
}

struct api_request pod_binding_request(struct arena *a, const struct sym_table *syms, enum media media,
                                       const struct pod *pod, sym node)
{
    const struct type *t = &schema_types[T_core_v1_Binding];
    struct value meta = value_struct(a, &schema_types[T_meta_v1_ObjectMeta]);
    meta.slots[SLOT_meta_v1_ObjectMeta_name] = edit_text(pod->meta.name);
    meta.slots[SLOT_meta_v1_ObjectMeta_namespace] = value_string(sym_text(syms, pod->meta.ns));
    meta.slots[SLOT_meta_v1_ObjectMeta_uid] = edit_text(pod->meta.uid);
    struct value target = value_struct(a, &schema_types[T_core_v1_ObjectReference]);
    target.slots[SLOT_core_v1_ObjectReference_kind] = edit_text("Node");
    target.slots[SLOT_core_v1_ObjectReference_name] = value_string(sym_text(syms, node));
    struct value binding = object_of(a, t, "Binding");
    binding.slots[SLOT_core_v1_Binding_metadata] = meta;
    binding.slots[SLOT_core_v1_Binding_target] = target;
    return (struct api_request){ API_LANE_BIND, "POST", pod_target(a, syms, pod, "/binding"),
                                 media_content_type(media), encoded(a, media, t, &binding), 0 };
}

struct api_request pod_delete_request(struct arena *a, const struct sym_table *syms, enum media media,
                                      const struct pod *victim)
{
    const struct type *t = &schema_types[T_meta_v1_DeleteOptions];
    struct value options = object_of(a, t, "DeleteOptions");
    return (struct api_request){ API_LANE_EVICT, "DELETE", pod_target(a, syms, victim, ""), media_content_type(media),
                                 encoded(a, media, t, &options), 0 };
}

/* ---- One condition ---- */

struct condition {
    const char *type, *status, *reason, *message;
    int64_t transition_s, generation;
};

/* What is to be there, when `old` (or NULL) is. */
static struct condition condition_of(const struct sym_table *syms, const struct pod *pod,
                                     const struct pod_condition *old, struct condition to, int64_t now_s)
{
    to.generation = pod->generation;
    to.transition_s = old && str_is(sym_text(syms, old->status), to.status) ? old->last_transition_s : now_s;
    return to;
}

/* The generation alone does not count: as upstream. */
static bool is_changed(const struct sym_table *syms, const struct pod_condition *old, const struct condition *new)
{
    return !old || !str_is(sym_text(syms, old->status), new->status) ||
           !str_is(sym_text(syms, old->reason), new->reason) || strcmp(old->message, new->message) != 0 ||
           old->last_probe_s != TYPED_TIME_NONE;
}

static void add_key(struct strbuf *b, const char *key)
{
    if (b->p[b->n - 1] != '{')
        strbuf_add_char(b, ',');
    json_add_string(b, str_of(key));
    strbuf_add_char(b, ':');
}

static void add_time(struct strbuf *b, int64_t seconds)
{
    if (seconds == TYPED_TIME_NONE) {
        STRBUF_ADD_LIT(b, "null");
        return;
    }
    strbuf_add_char(b, '"');
    timestamp_add(b, (struct timestamp){ .seconds = seconds });
    strbuf_add_char(b, '"');
}

/* A text that is left out when empty, so one that was there is removed with null. */
static void add_text(struct strbuf *b, const char *key, struct str old, const char *new)
{
    if (str_is(old, new))
        return;
    add_key(b, key);
    if (*new)
        json_add_string(b, str_of(new));
    else
        STRBUF_ADD_LIT(b, "null");
}

/* What differs, and the type by which the list is merged; without `old`, all there is. */
static void add_condition(struct strbuf *b, const struct sym_table *syms, const struct pod_condition *old,
                          const struct condition *new)
{
    strbuf_add_char(b, '{');
    if (!old || old->last_probe_s != TYPED_TIME_NONE) {
        add_key(b, "lastProbeTime");
        STRBUF_ADD_LIT(b, "null");
    }
    if (!old || old->last_transition_s != new->transition_s) {
        add_key(b, "lastTransitionTime");
        add_time(b, new->transition_s);
    }
    add_text(b, "message", str_of(old ? old->message : ""), new->message);
    if ((old ? old->observed_generation : 0) != new->generation) {
        add_key(b, "observedGeneration");
        if (new->generation)
            strbuf_add_int(b, new->generation);
        else
            STRBUF_ADD_LIT(b, "null");
    }
    add_text(b, "reason", old ? sym_text(syms, old->reason) : STR(""), new->reason);
    if (!old || !str_is(sym_text(syms, old->status), new->status)) {
        add_key(b, "status");
        json_add_string(b, str_of(new->status));
    }
    add_key(b, "type");
    json_add_string(b, str_of(new->type));
    strbuf_add_char(b, '}');
}

static bool differs(const struct sym_table *syms, const struct pod_condition *old, const struct condition *new)
{
    return is_changed(syms, old, new) || old->observed_generation != new->generation;
}

/* ---- Patches ---- */

/* All types in the order in which they are to stand. */
static void add_order(struct strbuf *b, const struct sym_table *syms, const struct pod *pod,
                      const struct pod_condition *old, const char *type)
{
    add_key(b, "$setElementOrder/conditions");
    for (uint16_t i = 0; i < pod->n_condition_types; i++) {
        strbuf_add_text(b, i ? ",{\"type\":" : "[{\"type\":");
        json_add_string(b, sym_text(syms, pod->condition_types[i]));
        strbuf_add_char(b, '}');
    }
    if (!old) {
        STRBUF_ADD_LIT(b, ",{\"type\":");
        json_add_string(b, str_of(type));
        strbuf_add_char(b, '}');
    }
    strbuf_add_char(b, ']');
}

static void add_conditions(struct strbuf *b, const struct sym_table *syms, const struct pod *pod,
                           const struct pod_condition *old, const struct condition *new)
{
    if (pod->n_condition_types)
        add_order(b, syms, pod, old, new->type);
    add_key(b, "conditions");
    strbuf_add_char(b, '[');
    add_condition(b, syms, old, new);
    strbuf_add_char(b, ']');
}

static struct api_request patch_request(struct arena *a, const struct sym_table *syms, enum api_lane lane,
                                        const struct pod *pod, struct strbuf *own_body)
{
    STRBUF_ADD_LIT(own_body, "}}");
    struct api_request r = { lane, "PATCH", pod_target(a, syms, pod, "/status"), STRATEGIC_MERGE_PATCH,
                             arena_str(a, strbuf_str(own_body)), 0 };
    strbuf_fini(own_body);
    return r;
}

static void begin_patch(struct strbuf *b)
{
    strbuf_init(b, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(b, "{\"status\":{");
}

static const char *failure_reason(enum failure_kind kind)
{
    return kind == FAILURE_UNSCHEDULABLE ? "Unschedulable" : "SchedulerError";
}

bool pod_status_request(struct arena *a, const struct sym_table *syms, const struct status_change *change,
                        int64_t now_s, struct api_request *ret_request)
{
    const struct pod *pod = change->pod;
    const struct pod_condition *old = pod->scheduled;
    struct condition new = { 0 };
    bool has_condition = false;
    if (change->has_condition) {
        new = condition_of(syms, pod, old,
                           (struct condition){ .type = "PodScheduled", .status = "False",
                                               .reason = failure_reason(change->failure),
                                               .message = change->message }, now_s);
        has_condition = is_changed(syms, old, &new);
    }
    bool nominates = change->set_nomination && change->nomination != pod->nominated_node;
    if (!has_condition && !nominates)
        return false;
    struct strbuf b;
    begin_patch(&b);
    if (change->has_condition && differs(syms, old, &new)) /* with a nomination the generation goes along */
        add_conditions(&b, syms, pod, old, &new);
    if (nominates) {
        add_key(&b, "nominatedNodeName");
        if (change->nomination == SYM_EMPTY)
            STRBUF_ADD_LIT(&b, "null");
        else
            json_add_string(&b, sym_text(syms, change->nomination));
    }
    *ret_request = patch_request(a, syms, API_LANE_STATUS, pod, &b);
    return true;
}

bool pod_disruption_request(struct arena *a, const struct sym_table *syms, const struct pod *victim,
                            const struct pod *preemptor, int64_t now_s, struct api_request *ret_request)
{
    const struct pod_condition *old = victim->disruption;
    const char *message = arena_printf(a, "%s: preempting to accommodate a higher priority pod",
                                       sym_text(syms, preemptor->scheduler_name).p);
    struct condition new = condition_of(syms, victim, old,
                                        (struct condition){ .type = "DisruptionTarget", .status = "True",
                                                            .reason = "PreemptionByScheduler", .message = message },
                                        now_s);
    if (!is_changed(syms, old, &new))
        return false;
    struct strbuf b;
    begin_patch(&b);
    add_conditions(&b, syms, victim, old, &new);
    *ret_request = patch_request(a, syms, API_LANE_EVICT, victim, &b);
    return true;
}

/* ---- Again ---- */

/* Whether an answer is the error that upstream knows by its reason, or by its number where the reason says nothing. */
static bool is_passing(const struct api_answer *answer)
{
    static const struct {
        int status;
        const char *reason;
    } passing[] = { { 500, "InternalError" }, { 503, "ServiceUnavailable" }, { 409, "Conflict" } };
    struct arena scratch;
    arena_init(&scratch);
    struct str reason = api_status_reason(&scratch, answer);
    bool found = false;
    for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
        found |= reason.n ? str_is(reason, passing[i].reason) : answer->status == passing[i].status;
    arena_fini(&scratch);
    return found;
}

int64_t pod_patch_wait_ms(const struct api_answer *answer, unsigned n_tries, double random)
{
    assert(n_tries > 0);
    bool refused = answer->status == 0 && answer->unsent && strstr(answer->error, "connection refused");
    if (n_tries >= POD_PATCH_TRIES_MAX || api_ok(answer) || (!refused && (answer->status == 0 || !is_passing(answer))))
        return -1;
    double wait_ms = 10;
    for (unsigned i = 1; i < n_tries; i++)
        wait_ms *= 5;
    return (int64_t)(wait_ms * (1 + 0.1 * random) + 0.5);
}
