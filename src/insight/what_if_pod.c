/* insight/what_if_pod.c - a chapter of insight.h: the pod of a what-if, and changes of it. */
#include "api/defaults.h"
#include "codec/json.h"
#include "codec/object.h"
#include "insight/what_if_priv.h"

/* ---- A pod that is not there ---- */

#define ASKED_UID "berth.dev/what-if" /* no server gives such a uid */

static enum err_code manifest_bytes(struct what_if_question *q, struct str text, struct strbuf *to)
{
    struct work work = work_init(INSIGHT_BODY_BYTES_MAX);
    struct findings findings = { .n = 0 };
    struct object object;
    if (object_decode(q->arena, &work, MEDIA_JSON, text, (struct gvk){ STR(""), STR("v1"), STR("Pod") }, VALIDATION_STRICT,
                      &findings, &object, q->e))
        return err_wrap(q->e, "manifest");
    struct value complete = defaults_apply(q->arena, object.type, &object.value);
    json_encode(to, object.type, &complete);
    return ERR_OK;
}

/* Nobody has scheduled it, and it is like no other pod. */
static void take_fresh(struct what_if_question *q, const struct pod *own_pod)
{
    const struct pod *fresh = pod_unscheduled(q->syms, own_pod);
    const char *name = *fresh->meta.name ? fresh->meta.name : "what-if";
    struct pod changed = *fresh;
    changed.meta.name = name;
    changed.meta.uid = ASKED_UID;
    if (changed.meta.ns == SYM_EMPTY)
        changed.meta.ns = question_sym(q, STR("default"));
    q->pod = pod_of_changed(q->syms, &changed);
    pod_unref(q->syms, fresh);
    pod_unref(q->syms, own_pod);
}

enum err_code question_manifest(struct what_if_question *q, const struct value *v)
{
    struct strbuf text, complete;
    const struct pod *pod;
    if (v->kind != VALUE_MAP)
        return question_fault(q, "manifest", "a Pod is expected");
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_init(&complete, STRBUF_NO_MAX);
    json_encode_plain(&text, v);
    enum err_code code = manifest_bytes(q, arena_str(q->arena, strbuf_str(&text)), &complete);
    if (!code && pod_decode(q->syms, TYPED_JSON, strbuf_str(&complete), &pod, q->e))
        code = err_wrap(q->e, "manifest");
    if (!code)
        take_fresh(q, pod);
    strbuf_fini(&text);
    strbuf_fini(&complete);
    return code;
}

/* ---- Changes ---- */

static void replace(struct what_if_question *q, const struct pod *own_pod)
{
    pod_unref(q->syms, q->pod);
    q->pod = own_pod;
}

static enum err_code change_requests(struct what_if_question *q, const struct value *v, const char *path)
{
    int64_t cpu = -1, memory = -1;
    if (v->kind != VALUE_MAP)
        return question_fault(q, path, "an object of amounts is expected, as in {\"cpu\":\"500m\"}");
    for (uint32_t i = 0; i < v->n; i++) {
        int64_t amount;
        enum resource_kind kind;
        if (question_amount(q, &v->members[i], path, &amount, &kind))
            return q->e->code;
        if (kind != RESOURCE_CPU && kind != RESOURCE_MEMORY)
            return question_fault(q, path, "of requests only cpu and memory can be changed");
        *(kind == RESOURCE_CPU ? &cpu : &memory) = amount;
    }
    replace(q, pod_with_requests(q->syms, q->pod, cpu, memory));
    return ERR_OK;
}

static enum err_code read_operator(struct what_if_question *q, const struct value *v, const char *path, uint8_t *ret_op)
{
    struct str text;
    if (question_text(q, v, path, &text))
        return q->e->code;
    if (str_is(text, "Exists"))
        *ret_op = TOLERATE_EXISTS;
    else if (!str_is(text, "Equal"))
        return question_fault(q, path, "the operator of a toleration is Equal or Exists");
    return ERR_OK;
}

static enum err_code read_toleration(struct what_if_question *q, const struct value *v, const char *path,
                                     struct toleration_form *ret)
{
    static const char *const members[] = { "key", "operator", "value", "effect", NULL };
    struct str key = STR(""), value = STR("");
    if (question_object(q, v, path, members))
        return q->e->code;
    const struct value *key_at = question_member(v, "key"), *value_at = question_member(v, "value");
    const struct value *op_at = question_member(v, "operator"), *effect_at = question_member(v, "effect");
    *ret = (struct toleration_form){ .op = TOLERATE_EQUAL, .effect = EFFECT_ANY };
    if ((key_at && question_text(q, key_at, path, &key)) || (value_at && question_text(q, value_at, path, &value)) ||
        (op_at && read_operator(q, op_at, path, &ret->op)) ||
        (effect_at && question_effect(q, effect_at, path, &ret->effect)))
        return q->e->code;
    ret->key = question_sym(q, key);
    ret->value = question_sym(q, value);
    return ERR_OK;
}

static enum err_code add_tolerations(struct what_if_question *q, const struct value *v, const char *path)
{
    if (v->kind != VALUE_LIST || v->n > INSIGHT_CHANGES_MAX)
        return question_fault(q, path, "a list of tolerations is expected");
    struct pod changed = *q->pod;
    if (changed.n_tolerations + v->n > UINT16_MAX)
        return question_fault(q, path, "too many tolerations");
    struct toleration_form *all = arena_alloc(q->arena, (changed.n_tolerations + v->n) * sizeof(*all));
    if (changed.n_tolerations)
        memcpy(all, changed.tolerations, changed.n_tolerations * sizeof(*all));
    for (uint32_t i = 0; i < v->n; i++)
        if (read_toleration(q, &v->items[i], path, &all[changed.n_tolerations++]))
            return q->e->code;
    changed.tolerations = all;
    replace(q, pod_of_changed(q->syms, &changed));
    return ERR_OK;
}

static enum err_code change_selector(struct what_if_question *q, const struct value *v, const char *path)
{
    struct pod changed = *q->pod;
    struct pod_node_affinity affinity = { 0 };
    if (changed.node_affinity)
        affinity = *changed.node_affinity;
    if (question_labels(q, v, path, &affinity.node_selector))
        return q->e->code;
    changed.node_affinity = &affinity;
    changed.flags |= POD_HAS_NODE_SELECTOR;
    replace(q, pod_of_changed(q->syms, &changed));
    return ERR_OK;
}

static void drop_node_affinity(struct pod *pod, struct pod_node_affinity *less)
{
    if (!pod->node_affinity)
        return;
    *less = *pod->node_affinity;
    less->required = (struct node_rules){ 0 };
    pod->node_affinity = less;
    pod->flags &= ~(uint32_t)POD_HAS_REQUIRED_NODE_AFFINITY;
}

static void drop_selector(struct pod *pod, struct pod_node_affinity *less)
{
    if (!pod->node_affinity)
        return;
    *less = *pod->node_affinity;
    less->node_selector = (struct label_set){ 0 };
    pod->node_affinity = less;
}

static void drop_pod_affinity(struct pod *pod, bool anti, struct pod_affinity *less)
{
    if (!pod->affinity)
        return;
    *less = *pod->affinity;
    *(anti ? &less->required_anti : &less->required) = (struct affinity_terms){ 0 };
    pod->affinity = less;
}

static void drop_spread(struct what_if_question *q, struct pod *pod)
{
    struct spread_constraint *less = arena_alloc(q->arena, pod->n_spread * sizeof(*less));
    uint16_t n = 0;
    for (uint16_t i = 0; i < pod->n_spread; i++)
        if (pod->spread[i].flags & (SPREAD_SOFT | SPREAD_OTHER))
            less[n++] = pod->spread[i];
    pod->spread = less;
    pod->n_spread = n;
}

/* Only what a pod insists on: preferences stay. */
static enum err_code drop_one(struct what_if_question *q, const struct value *v, const char *path)
{
    struct pod changed = *q->pod;
    struct pod_node_affinity node_affinity;
    struct pod_affinity affinity;
    struct str what;
    if (question_text(q, v, path, &what))
        return q->e->code;
    if (str_is(what, "gates"))
        changed.n_gates = 0;
    else if (str_is(what, "nodeSelector"))
        drop_selector(&changed, &node_affinity);
    else if (str_is(what, "nodeAffinity"))
        drop_node_affinity(&changed, &node_affinity);
    else if (str_is(what, "podAffinity") || str_is(what, "podAntiAffinity"))
        drop_pod_affinity(&changed, str_is(what, "podAntiAffinity"), &affinity);
    else if (str_is(what, "topologySpreadConstraints"))
        drop_spread(q, &changed);
    else if (str_is(what, "hostPorts"))
        changed.n_ports = 0;
    else
        return question_fault(q, path, "drop is a list of gates, nodeSelector, nodeAffinity, podAffinity, podAntiAffinity, "
                              "topologySpreadConstraints, hostPorts");
    replace(q, pod_of_changed(q->syms, &changed));
    return ERR_OK;
}

static enum err_code drop_all(struct what_if_question *q, const struct value *v, const char *path)
{
    if (v->kind != VALUE_LIST || v->n > INSIGHT_CHANGES_MAX)
        return question_fault(q, path, "drop is a list");
    for (uint32_t i = 0; i < v->n; i++)
        if (drop_one(q, &v->items[i], path))
            return q->e->code;
    return ERR_OK;
}

enum err_code change_pod(struct what_if_question *q, const struct value *v, const char *path)
{
    static const char *const members[] = { "requests", "addTolerations", "nodeSelector", "priority", "drop", NULL };
    const struct value *part;
    if (question_object(q, v, path, members))
        return q->e->code;
    if ((part = question_member(v, "drop")) && drop_all(q, part, path))
        return q->e->code;
    if ((part = question_member(v, "requests")) && change_requests(q, part, path))
        return q->e->code;
    if ((part = question_member(v, "addTolerations")) && add_tolerations(q, part, path))
        return q->e->code;
    if ((part = question_member(v, "nodeSelector")) && change_selector(q, part, path))
        return q->e->code;
    if ((part = question_member(v, "priority"))) {
        if (part->kind != VALUE_INT || part->i < INT32_MIN || part->i > INT32_MAX)
            return question_fault(q, path, "priority is a whole number of 32 bits");
        replace(q, pod_with_priority(q->syms, q->pod, (int32_t)part->i));
    }
    return ERR_OK;
}
