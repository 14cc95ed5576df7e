/* hollow/pod_conditions.c - see pod_conditions.h. Upstream: kubelet's status/generate.go. */
#include "hollow/pod_conditions.h"

#include "api/schema_slots.h"
#include "base/strbuf.h"
#include "controllers/read.h"

#define SLOT(field) SLOT_core_v1_PodCondition_##field

struct verdict {
    bool holds;
    const char *reason, *message; /* NULL: none */
};

static const char *const own_types[] = { "PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled" };
enum { N_OWN_TYPES = sizeof(own_types) / sizeof(own_types[0]) };

static const struct type *pod_type_here(void)
{
    return schema_type(STR("core/v1.Pod"));
}

static const struct type *condition_type(void)
{
    return schema_type(STR("core/v1.PodCondition"));
}

static const struct type *status_type(void)
{
    return schema_type(STR("core/v1.ContainerStatus"));
}

static bool phase_is(const struct pod_conditions_state *s, const char *phase)
{
    return strcmp(s->phase, phase) == 0;
}

/* ---- Lists of names ---- */

struct names {
    struct strbuf text; /* "a b c" */
};

static void add_name(struct names *n, struct str name)
{
    strbuf_printf(&n->text, "%s%.*s", n->text.n ? " " : "", STR_ARG(name));
}

static const char *sentence(struct arena *a, struct names *n, const char *words)
{
    const char *text = n->text.n ? arena_printf(a, "%s: [%s]", words, strbuf_cstr(&n->text)) : NULL;
    strbuf_fini(&n->text);
    return text;
}

/* ---- What holds ---- */

static bool is_sidecar(const struct pod_conditions_state *s, uint32_t i)
{
    const struct value *init = value_path(pod_type_here(), s->pod, "spec.initContainers");
    return i < list_length(init) && says_at(schema_type(STR("core/v1.Container")), &init->items[i], "restartPolicy", "Always");
}

static struct verdict containers_ready(struct arena *a, const struct pod_conditions_state *s)
{
    struct names unready;
    if (phase_is(s, "Succeeded") || phase_is(s, "Failed"))
        return (struct verdict){ false, phase_is(s, "Failed") ? "PodFailed" : "PodCompleted", NULL };
    strbuf_init(&unready.text, STRBUF_NO_MAX);
    for (uint32_t i = 0; i < list_length(s->init_statuses); i++)
        if (is_sidecar(s, i) && !true_at(status_type(), &s->init_statuses->items[i], "ready"))
            add_name(&unready, text_at(status_type(), &s->init_statuses->items[i], "name"));
    for (uint32_t i = 0; i < list_length(s->statuses); i++)
        if (!true_at(status_type(), &s->statuses->items[i], "ready"))
            add_name(&unready, text_at(status_type(), &s->statuses->items[i], "name"));
    const char *message = sentence(a, &unready, "containers with unready status");
    return (struct verdict){ !message, message ? "ContainersNotReady" : NULL, message };
}

static bool any_started(const struct pod_conditions_state *s)
{
    for (uint32_t i = 0; i < list_length(s->statuses); i++) {
        const struct value *state = value_path(status_type(), &s->statuses->items[i], "state.waiting");
        if (state->kind != VALUE_STRUCT || is_set_at(status_type(), &s->statuses->items[i], "lastState.terminated"))
            return true;
    }
    return false;
}

static struct verdict initialized(struct arena *a, const struct pod_conditions_state *s)
{
    struct names open;
    if (phase_is(s, "Succeeded"))
        return (struct verdict){ true, "PodCompleted", NULL };
    if (any_started(s))
        return (struct verdict){ true, NULL, NULL };
    strbuf_init(&open.text, STRBUF_NO_MAX);
    for (uint32_t i = 0; i < list_length(s->init_statuses); i++)
        if (!true_at(status_type(), &s->init_statuses->items[i], is_sidecar(s, i) ? "started" : "ready"))
            add_name(&open, text_at(status_type(), &s->init_statuses->items[i], "name"));
    const char *message = sentence(a, &open, "containers with incomplete status");
    return (struct verdict){ !message, message ? "ContainersNotInitialized" : NULL, message };
}

static const char *gate_problem(struct arena *a, const struct value *conditions, struct str gate)
{
    const struct value *c = entry_with(condition_type(), conditions, "type", gate);
    if (!c)
        return arena_printf(a, "corresponding condition of pod readiness gate \"%.*s\" does not exist.", STR_ARG(gate));
    if (says_at(condition_type(), c, "status", "True"))
        return NULL;
    return arena_printf(a, "the status of pod readiness gate \"%.*s\" is not \"True\", but %.*s", STR_ARG(gate),
                        STR_ARG(text_at(condition_type(), c, "status")));
}

static struct verdict ready(struct arena *a, const struct pod_conditions_state *s)
{
    struct verdict v = containers_ready(a, s);
    const struct value *gates = value_path(pod_type_here(), s->pod, "spec.readinessGates");
    const struct value *conditions = value_path(pod_type_here(), s->pod, "status.conditions");
    const struct type *t = schema_type(STR("core/v1.PodReadinessGate"));
    for (uint32_t i = 0; v.holds && i < list_length(gates); i++) {
        const char *problem = gate_problem(a, conditions, text_at(t, &gates->items[i], "conditionType"));
        if (problem)
            v.message = v.message ? arena_printf(a, "%s, %s", v.message, problem) : problem;
    }
    return v.holds && v.message ? (struct verdict){ false, "ReadinessGatesNotReady", v.message } : v;
}

/* ---- The list ---- */

static struct value make(struct arena *a, const struct pod_conditions_state *s, const char *type, struct verdict v)
{
    const struct value *olds = value_path(pod_type_here(), s->pod, "status.conditions");
    const struct value *old = entry_with(condition_type(), olds, "type", str_of(type));
    const char *status = v.holds ? "True" : "False";
    struct value c = value_struct(a, condition_type());
    bool same = old && says_at(condition_type(), old, "status", status);
    c.slots[SLOT(type)] = value_string(str_of(type));
    c.slots[SLOT(status)] = value_string(str_of(status));
    c.slots[SLOT(observedGeneration)] = *value_path(pod_type_here(), s->pod, "metadata.generation");
    c.slots[SLOT(lastTransitionTime)] = same ? *value_slot(old, SLOT(lastTransitionTime)) : value_time(s->now_s, 0);
    if (v.reason)
        c.slots[SLOT(reason)] = value_string(str_of(v.reason));
    if (v.message)
        c.slots[SLOT(message)] = value_string(str_of(v.message));
    return c;
}

static bool is_own(struct str type)
{
    for (int i = 0; i < N_OWN_TYPES; i++)
        if (str_is(type, own_types[i]))
            return true;
    return false;
}

struct value pod_conditions(struct arena *a, const struct pod_conditions_state *s)
{
    const struct value *olds = value_path(pod_type_here(), s->pod, "status.conditions");
    struct value list = value_list(ARENA_NEW_N(a, struct value, list_length(olds) + N_OWN_TYPES), 0);
    for (uint32_t i = 0; i < list_length(olds); i++)
        if (!is_own(text_at(condition_type(), &olds->items[i], "type")))
            list.items[list.n++] = olds->items[i];
    struct verdict own[N_OWN_TYPES] = { { s->has_sandbox, NULL, NULL }, initialized(a, s), ready(a, s), containers_ready(a, s),
                                        { true, NULL, NULL } };
    for (int i = 0; i < N_OWN_TYPES; i++)
        list.items[list.n++] = make(a, s, own_types[i], own[i]);
    return list;
}
