/* controllers/pod_facts.c - see pod_facts.h. Upstream: controller/controller_utils.go. */
#include "controllers/pod_facts.h"

#include <math.h>
#include <stdlib.h>

#include "api/schema_slots.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/sort.h"

#define DELETION_COST "controller.kubernetes.io/pod-deletion-cost"

/* Metadata alone is read by the same slots. */
_Static_assert((int)SLOT_core_v1_Pod_metadata == (int)SLOT_meta_v1_PartialObjectMetadata_metadata, "the slot of metadata");

/* ---- Reading ---- */

static const struct value *meta_of(const struct value *pod, unsigned slot)
{
    return value_slot(value_slot(pod, SLOT_core_v1_Pod_metadata), slot);
}

static const struct value *status_of(const struct value *pod, unsigned slot)
{
    return value_slot(value_slot(pod, SLOT_core_v1_Pod_status), slot);
}

static const struct value *spec_of(const struct value *pod, unsigned slot)
{
    return value_slot(value_slot(pod, SLOT_core_v1_Pod_spec), slot);
}

static uint32_t n_items(const struct value *list)
{
    return list->kind == VALUE_LIST ? list->n : 0;
}

static int64_t seconds(const struct value *v)
{
    return v->kind == VALUE_TIME ? v->i : 0;
}

static enum pod_phase_fact phase_of(struct str text)
{
    static const struct {
        const char *text;
        enum pod_phase_fact phase;
    } rows[] = { { "Unknown", POD_IS_UNKNOWN }, { "Running", POD_IS_RUNNING }, { "Succeeded", POD_IS_SUCCEEDED },
                 { "Failed", POD_IS_FAILED } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (str_is(text, rows[i].text))
            return rows[i].phase;
    return POD_IS_PENDING;
}

static void read_ready(struct pod_facts *f, const struct value *pod)
{
    const struct value *list = status_of(pod, SLOT_core_v1_PodStatus_conditions);
    for (uint32_t i = 0; i < n_items(list); i++) {
        const struct value *c = &list->items[i];
        if (!str_is(value_text(value_slot(c, SLOT_core_v1_PodCondition_type)), "Ready"))
            continue;
        f->ready = str_is(value_text(value_slot(c, SLOT_core_v1_PodCondition_status)), "True");
        f->ready_s = f->ready ? seconds(value_slot(c, SLOT_core_v1_PodCondition_lastTransitionTime)) : 0;
        return;
    }
}

static int32_t restarts_of(const struct value *status)
{
    const struct value *v = value_slot(status, SLOT_core_v1_ContainerStatus_restartCount);
    return v->kind == VALUE_INT ? (int32_t)v->i : 0;
}

static bool is_sidecar(const struct value *pod, struct str name)
{
    const struct value *list = spec_of(pod, SLOT_core_v1_PodSpec_initContainers);
    for (uint32_t i = 0; i < n_items(list); i++)
        if (str_eq(value_text(value_slot(&list->items[i], SLOT_core_v1_Container_name)), name))
            return str_is(value_text(value_slot(&list->items[i], SLOT_core_v1_Container_restartPolicy)), "Always");
    return false;
}

static void read_restarts(struct pod_facts *f, const struct value *pod)
{
    const struct value *list = status_of(pod, SLOT_core_v1_PodStatus_containerStatuses);
    for (uint32_t i = 0; i < n_items(list); i++)
        if (restarts_of(&list->items[i]) > f->n_restarts)
            f->n_restarts = restarts_of(&list->items[i]);
    list = status_of(pod, SLOT_core_v1_PodStatus_initContainerStatuses);
    for (uint32_t i = 0; i < n_items(list); i++)
        if (restarts_of(&list->items[i]) > f->n_sidecar_restarts &&
            is_sidecar(pod, value_text(value_slot(&list->items[i], SLOT_core_v1_ContainerStatus_name))))
            f->n_sidecar_restarts = restarts_of(&list->items[i]);
}

/* Neither "+1" nor "01" is a cost; whatever is none costs nothing. */
static int32_t deletion_cost(const struct value *annotations)
{
    const struct value *v = annotations->kind == VALUE_MAP ? value_member(annotations, STR(DELETION_COST)) : NULL;
    struct str text = v ? value_text(v) : STR("");
    bool plain = text.n && (text.p[0] == '-' || str_is(text, "0") || (text.p[0] >= '1' && text.p[0] <= '9'));
    int64_t cost;
    return plain && labels_parse_int(text, &cost) && cost == (int32_t)cost ? (int32_t)cost : 0;
}

static void read_owner(struct pod_facts *f, const struct value *pod)
{
    const struct value *list = meta_of(pod, SLOT_meta_v1_ObjectMeta_ownerReferences);
    for (uint32_t i = 0; i < n_items(list); i++) {
        const struct value *ref = &list->items[i];
        const struct value *controls = value_slot(ref, SLOT_meta_v1_OwnerReference_controller);
        if (controls->kind != VALUE_BOOL || !controls->b)
            continue;
        f->owner_kind = value_text(value_slot(ref, SLOT_meta_v1_OwnerReference_kind));
        f->owner_name = value_text(value_slot(ref, SLOT_meta_v1_OwnerReference_name));
        f->owner_uid = value_text(value_slot(ref, SLOT_meta_v1_OwnerReference_uid));
        return;
    }
}

/* The name that a term demands; empty: none, or not one alone. */
static struct str node_of_term(const struct value *term)
{
    const struct value *fields = value_slot(term, SLOT_core_v1_NodeSelectorTerm_matchFields);
    for (uint32_t i = 0; i < n_items(fields); i++) {
        const struct value *f = &fields->items[i], *values = value_slot(f, SLOT_core_v1_NodeSelectorRequirement_values);
        if (str_is(value_text(value_slot(f, SLOT_core_v1_NodeSelectorRequirement_key)), "metadata.name") &&
            str_is(value_text(value_slot(f, SLOT_core_v1_NodeSelectorRequirement_operator)), "In"))
            return n_items(values) == 1 ? value_text(&values->items[0]) : STR("");
    }
    return STR("");
}

static void read_affine_node(struct pod_facts *f, const struct value *pod)
{
    const struct value *affinity = spec_of(pod, SLOT_core_v1_PodSpec_affinity); /* of metadata alone there is none */
    const struct value *terms = value_path(&schema_types[T_core_v1_Affinity], affinity, "nodeAffinity."
                                           "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
    for (uint32_t i = 0; i < n_items(terms) && !f->affine_node.n; i++)
        f->affine_node = node_of_term(&terms->items[i]);
}

/* Texts and labels still belong to the value. */
static struct pod_facts read_facts(const struct value *pod)
{
    struct pod_facts f = {
        .namespace = value_text(meta_of(pod, SLOT_meta_v1_ObjectMeta_namespace)),
        .name = value_text(meta_of(pod, SLOT_meta_v1_ObjectMeta_name)),
        .uid = value_text(meta_of(pod, SLOT_meta_v1_ObjectMeta_uid)),
        .node_name = value_text(spec_of(pod, SLOT_core_v1_PodSpec_nodeName)),
        .created_s = seconds(meta_of(pod, SLOT_meta_v1_ObjectMeta_creationTimestamp)),
        .deleted_s = seconds(meta_of(pod, SLOT_meta_v1_ObjectMeta_deletionTimestamp)),
        .deletion_cost = deletion_cost(meta_of(pod, SLOT_meta_v1_ObjectMeta_annotations)),
        .phase = phase_of(value_text(status_of(pod, SLOT_core_v1_PodStatus_phase))),
    };
    read_owner(&f, pod);
    if (!f.node_name.n && str_is(f.owner_kind, "DaemonSet"))
        read_affine_node(&f, pod);
    read_ready(&f, pod);
    read_restarts(&f, pod);
    return f;
}

/* ---- One block ---- */

static struct str keep(char **room, struct str text)
{
    struct str kept = { *room, text.n };
    if (text.n)
        memcpy(*room, text.p, text.n);
    *room += text.n;
    return kept;
}

enum { N_TEXTS = 8 };

static struct str *text_of(struct pod_facts *f, int i)
{
    struct str *const texts[N_TEXTS] = { &f->namespace, &f->name, &f->uid, &f->node_name, &f->affine_node,
                                         &f->owner_kind, &f->owner_name, &f->owner_uid };
    return texts[i];
}

static size_t bytes_of(struct pod_facts *f, const struct value *labels, uint32_t n_labels)
{
    size_t n = sizeof(*f) + n_labels * sizeof(struct label);
    for (int i = 0; i < N_TEXTS; i++)
        n += text_of(f, i)->n;
    for (uint32_t i = 0; i < n_labels; i++)
        n += labels->members[i].key.n + value_text(&labels->members[i].value).n;
    return n;
}

struct pod_facts *pod_facts_new(const struct value *pod)
{
    struct pod_facts read = read_facts(pod);
    const struct value *map = meta_of(pod, SLOT_meta_v1_ObjectMeta_labels);
    uint32_t n = map->kind == VALUE_MAP ? map->n : 0;
    struct pod_facts *f = mem_alloc(bytes_of(&read, map, n));
    struct label *labels = (struct label *)(f + 1);
    char *room = (char *)(labels + n);
    *f = read;
    for (int i = 0; i < N_TEXTS; i++)
        *text_of(f, i) = keep(&room, *text_of(f, i));
    for (uint32_t i = 0; i < n; i++) {
        labels[i].key = keep(&room, map->members[i].key);
        labels[i].value = keep(&room, value_text(&map->members[i].value));
    }
    f->labels = (struct labels){ labels, n };
    return f;
}

void pod_facts_free(struct pod_facts *f)
{
    free(f);
}

/* ---- What follows ---- */

static bool has_ended(const struct pod_facts *f)
{
    return f->phase == POD_IS_SUCCEEDED || f->phase == POD_IS_FAILED;
}

bool is_pod_active(const struct pod_facts *f)
{
    return !has_ended(f) && !f->deleted_s;
}

bool is_pod_terminating(const struct pod_facts *f)
{
    return !has_ended(f) && f->deleted_s;
}

bool is_pod_ready(const struct pod_facts *f)
{
    return f->ready;
}

bool is_pod_available(const struct pod_facts *f, int32_t min_ready_s, int64_t now_s)
{
    return f->ready && (min_ready_s == 0 || (f->ready_s && f->ready_s + min_ready_s <= now_s));
}

/* ---- Ranking ---- */

struct ranking {
    struct ranked_pod pod;
    int64_t now_ns;
};

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Ages by powers of two of nanoseconds: whoever is about as old as another is taken by lot, which is his uid. */
static int64_t log_age(int64_t since_s, int64_t now_ns)
{
    double age_ns = (double)now_ns - (double)since_s * CLOCK_NS_PER_SECOND; /* times may be anything */
    return age_ns >= 1 ? (int64_t)log2(age_ns) : -1;
}

/* The younger first; one without a time is the youngest. */
static int compare_times(int64_t a_s, int64_t b_s, const struct ranking *a, const struct ranking *b)
{
    if (a_s == b_s)
        return 0;
    if (!a_s || !b_s)
        return a_s ? 1 : -1;
    int by_age = order(log_age(a_s, a->now_ns), log_age(b_s, a->now_ns));
    return by_age ? by_age : str_cmp(a->pod.facts->uid, b->pod.facts->uid);
}

static int compare_standing(const struct pod_facts *x, const struct pod_facts *y)
{
    bool one_unassigned = !x->node_name.n != !y->node_name.n;
    if (one_unassigned)
        return x->node_name.n ? 1 : -1;
    if (x->phase != y->phase)
        return order(x->phase, y->phase);
    return order(x->ready, y->ready);
}

static int compare_restarts(const struct pod_facts *x, const struct pod_facts *y)
{
    int by_restarts = order(y->n_restarts, x->n_restarts);
    return by_restarts ? by_restarts : order(y->n_sidecar_restarts, x->n_sidecar_restarts);
}

static int compare(const void *one, const void *other)
{
    const struct ranking *a = one, *b = other;
    const struct pod_facts *x = a->pod.facts, *y = b->pod.facts;
    int by;
    if ((by = compare_standing(x, y)))
        return by;
    if ((by = order(x->deletion_cost, y->deletion_cost)))
        return by;
    if ((by = order(b->pod.rank, a->pod.rank)))
        return by;
    if (x->ready && y->ready && (by = compare_times(x->ready_s, y->ready_s, a, b)))
        return by;
    if ((by = compare_restarts(x, y)))
        return by;
    return compare_times(x->created_s, y->created_s, a, b);
}

void pods_rank(struct arena *scratch, struct ranked_pod *pods, size_t n, int64_t now_ns)
{
    struct ranking *at = ARENA_NEW_N(scratch, struct ranking, n);
    for (size_t i = 0; i < n; i++)
        at[i] = (struct ranking){ pods[i], now_ns };
    sort_stable(scratch, at, n, sizeof(*at), compare);
    for (size_t i = 0; i < n; i++)
        pods[i] = at[i].pod;
}
