/* plugins/shared.c - rules that several plugins share; see plugins.h. */
#include "plugins/plugins.h"

#include "api/labels.h"

/* "0" or digits without a leading zero, optional minus: the only numbers that taints compare. */
static bool canonical_int(struct str text, int64_t *ret_value)
{
    struct str digits = text.n && text.p[0] == '-' ? str_from(text, 1) : text;
    bool zero = text.n == 1 && text.p[0] == '0';
    if (!zero && (digits.n == 0 || digits.p[0] < '1' || digits.p[0] > '9'))
        return false;
    return labels_parse_int(text, ret_value);
}

static bool compares(const struct toleration_form *t, const struct taint_form *taint, const struct sym_table *syms)
{
    int64_t limit, value;
    if (!canonical_int(sym_text(syms, t->value), &limit) || !canonical_int(sym_text(syms, taint->value), &value))
        return false;
    return t->op == TOLERATE_LT ? value < limit : value > limit;
}

bool tolerates(const struct toleration_form *t, const struct taint_form *taint, const struct sym_table *syms,
               bool compare)
{
    if (t->effect != EFFECT_ANY && t->effect != taint->effect)
        return false;
    if (t->key != SYM_EMPTY && t->key != taint->key)
        return false;
    switch ((enum toleration_op)t->op) {
    case TOLERATE_EQUAL:
        return t->value == taint->value;
    case TOLERATE_EXISTS:
        return true;
    case TOLERATE_LT:
    case TOLERATE_GT:
        return compare && compares(t, taint, syms);
    case TOLERATE_OTHER:
        return false;
    }
    return false;
}

static bool tolerated(const struct pod *pod, const struct taint_form *taint, const struct sym_table *syms, bool compare)
{
    for (uint32_t i = 0; i < pod->n_tolerations; i++)
        if (tolerates(&pod->tolerations[i], taint, syms, compare))
            return true;
    return false;
}

bool tolerates_all_hard(const struct pod *pod, const struct taint_form *taints, uint32_t n_taints,
                        const struct sym_table *syms, bool compare)
{
    for (uint32_t i = 0; i < n_taints; i++) {
        bool hard = taints[i].effect == EFFECT_NO_SCHEDULE || taints[i].effect == EFFECT_NO_EXECUTE;
        if (hard && !tolerated(pod, &taints[i], syms, compare))
            return false;
    }
    return true;
}

bool pod_wants_node(const struct pod *pod, const struct node *node, const struct sym_table *syms)
{
    const struct pod_node_affinity *a = pod->node_affinity;
    if (!a)
        return true;
    for (uint32_t i = 0; i < a->node_selector.n; i++)
        if (label_set_get(node->meta.labels, a->node_selector.at[i].key) != a->node_selector.at[i].value)
            return false;
    return !a->required.given || node_rules_match(&a->required, node->meta.labels, node->name, syms);
}

void normalize_by_max(int64_t *scores, uint32_t n, bool reverse)
{
    int64_t max = 0;
    for (uint32_t i = 0; i < n; i++)
        max = scores[i] > max ? scores[i] : max;
    for (uint32_t i = 0; i < n; i++) {
        if (max)
            scores[i] = SCORE_MAX * scores[i] / max;
        if (reverse)
            scores[i] = max ? SCORE_MAX - scores[i] : SCORE_MAX;
    }
}
