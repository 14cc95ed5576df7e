/* forms/policy.c - see policy.h. */
#include "forms/policy.h"

#include "api/schema_slots.h"
#include "base/sort.h"
#include "forms/inputs.h"

/* ---- PodDisruptionBudget ---- */

struct pdb_spec_in {
    struct selector_in *selector;
};

struct pdb_status_in {
    fill_strs disrupted;
    struct fill_int disruptions_allowed;
};

struct pdb_in {
    struct meta_in meta;
    struct pdb_spec_in spec;
    struct pdb_status_in status;
};

static const struct fill_row pdb_spec_rows[] = {
    [SLOT_policy_v1_PodDisruptionBudgetSpec_selector] = FILL_POINTER(struct pdb_spec_in, selector, &fill_selector),
};
static const struct fill_type pdb_spec_type =
    FILL_TYPE(policy_v1_PodDisruptionBudgetSpec, struct pdb_spec_in, pdb_spec_rows);

static const struct fill_row pdb_status_rows[] = {
    [SLOT_policy_v1_PodDisruptionBudgetStatus_disruptedPods] = FILL_KEYS(struct pdb_status_in, disrupted),
    [SLOT_policy_v1_PodDisruptionBudgetStatus_disruptionsAllowed] =
        FILL_INT(struct pdb_status_in, disruptions_allowed),
};
static const struct fill_type pdb_status_type =
    FILL_TYPE(policy_v1_PodDisruptionBudgetStatus, struct pdb_status_in, pdb_status_rows);

static const struct fill_row pdb_rows[] = {
    [SLOT_policy_v1_PodDisruptionBudget_metadata] = FILL_STRUCT(struct pdb_in, meta, &fill_meta),
    [SLOT_policy_v1_PodDisruptionBudget_spec] = FILL_STRUCT(struct pdb_in, spec, &pdb_spec_type),
    [SLOT_policy_v1_PodDisruptionBudget_status] = FILL_STRUCT(struct pdb_in, status, &pdb_status_type),
};
static const struct fill_type fill_pdb = FILL_TYPE(policy_v1_PodDisruptionBudget, struct pdb_in, pdb_rows);

static enum err_code build_disrupted(struct build *b, const fill_strs *in, struct pdb *p)
{
    sort_stable(b->arena, in->at, in->n, sizeof(*in->at), sort_compare_strs);
    const char **names = ARENA_NEW_N(b->arena, const char *, in->n);
    uint32_t n = 0;
    for (uint32_t i = 0; i < in->n; i++) {
        if (i && str_eq(in->at[i - 1], in->at[i]))
            continue;
        if (build_name(b, in->at[i], "status.disruptedPods", &names[n++]))
            return b->e->code;
    }
    p->disrupted = names;
    p->n_disrupted = n;
    return ERR_OK;
}

bool pdb_has_disrupted(const struct pdb *p, const char *pod_name)
{
    uint32_t low = 0, high = p->n_disrupted;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(p->disrupted[middle], pod_name);
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static enum err_code pdb_build(struct build *b, const void *input, void *form)
{
    const struct pdb_in *in = input;
    struct pdb *p = form;
    if (build_meta(b, &in->meta, &p->meta) || build_disrupted(b, &in->status.disrupted, p))
        return b->e->code;
    p->selector = build_matcher(b, in->spec.selector);
    p->disruptions_allowed = (int32_t)in->status.disruptions_allowed.value;
    return ERR_OK;
}

static void pdb_walk(struct walk *w, void *form)
{
    struct pdb *p = form;
    walk_meta(w, &p->meta);
    walk_matcher(w, &p->selector);
    WALK_ARRAY(w, p->disrupted, p->n_disrupted);
    for (uint32_t i = 0; i < p->n_disrupted; i++)
        walk_text(w, walk_into(&p->disrupted[i]));
}

static const struct form_type pdb_type = { &fill_pdb, sizeof(struct pdb), pdb_build, pdb_walk };

FORM_FUNCTIONS(pdb, pdb_type)

/* ---- PriorityClass ---- */

struct priority_in {
    struct meta_in meta;
    struct fill_int value;
    fill_bool global_default;
    struct str preemption_policy;
};

static const struct fill_row priority_rows[] = {
    [SLOT_scheduling_v1_PriorityClass_metadata] = FILL_STRUCT(struct priority_in, meta, &fill_meta),
    [SLOT_scheduling_v1_PriorityClass_value] = FILL_INT(struct priority_in, value),
    [SLOT_scheduling_v1_PriorityClass_globalDefault] = FILL_BOOL(struct priority_in, global_default),
    [SLOT_scheduling_v1_PriorityClass_preemptionPolicy] = FILL_STR(struct priority_in, preemption_policy),
};
static const struct fill_type fill_priority =
    FILL_TYPE(scheduling_v1_PriorityClass, struct priority_in, priority_rows);

static enum preemption_policy parse_preemption_policy(struct str policy)
{
    if (!policy.p)
        return PREEMPT_NOT_GIVEN;
    if (str_is(policy, "PreemptLowerPriority"))
        return PREEMPT_LOWER_PRIORITY;
    return str_is(policy, "Never") ? PREEMPT_NEVER : PREEMPT_OTHER;
}

static enum err_code priority_build(struct build *b, const void *input, void *form)
{
    const struct priority_in *in = input;
    struct priority_class *c = form;
    c->value = (int32_t)in->value.value;
    c->global_default = in->global_default == 1;
    c->preemption_policy = (uint8_t)parse_preemption_policy(in->preemption_policy);
    return build_meta(b, &in->meta, &c->meta);
}

static void priority_walk(struct walk *w, void *form)
{
    walk_meta(w, &((struct priority_class *)form)->meta);
}

static const struct form_type priority_class_type = { &fill_priority, sizeof(struct priority_class),
                                                        priority_build, priority_walk };

FORM_FUNCTIONS(priority_class, priority_class_type)
