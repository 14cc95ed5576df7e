/* forms/match.c - see match.h. */
#include "forms/match.h"

#include "api/labels.h"

sym label_set_get(struct label_set labels, sym key)
{
    uint32_t low = 0, high = labels.n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (labels.at[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < labels.n && labels.at[low].key == key ? labels.at[low].value : SYM_NONE;
}

static bool has_value(const struct match_rule *r, sym value)
{
    uint32_t low = 0, high = r->n_values;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->values[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->n_values && r->values[low] == value;
}

static bool rule_matches(const struct match_rule *r, struct label_set labels, const struct sym_table *syms)
{
    sym value = label_set_get(labels, r->key);
    int64_t number;
    switch ((enum match_op)r->op) {
    case MATCH_IN:
        return value != SYM_NONE && has_value(r, value);
    case MATCH_NOT_IN:
        return value == SYM_NONE || !has_value(r, value);
    case MATCH_EXISTS:
        return value != SYM_NONE;
    case MATCH_NOT_EXISTS:
        return value == SYM_NONE;
    case MATCH_GT:
        return value != SYM_NONE && labels_parse_int(sym_text(syms, value), &number) && number > r->number;
    case MATCH_LT:
        return value != SYM_NONE && labels_parse_int(sym_text(syms, value), &number) && number < r->number;
    case MATCH_OTHER:
        return false;
    }
    return false;
}

bool matcher_matches(const struct matcher *m, struct label_set labels, const struct sym_table *syms)
{
    if (m->mode != MATCHER_ALL_OF)
        return false;
    for (uint16_t i = 0; i < m->n; i++)
        if (!rule_matches(&m->at[i], labels, syms))
            return false;
    return true;
}

/* A field that a node does not have counts as empty: NotIn matches it. */
static bool field_matches(const struct match_rule *r, sym name)
{
    bool has = has_value(r, r->key == SYM_EMPTY ? SYM_EMPTY : name);
    return r->op == MATCH_IN ? has : !has;
}

bool node_rule_matches(const struct node_rule *t, struct label_set labels, sym name,
                       const struct sym_table *syms)
{
    if (t->empty || t->broken || !matcher_matches(&t->labels, labels, syms))
        return false;
    if (name == SYM_EMPTY)
        return true;
    for (uint16_t i = 0; i < t->n_fields; i++)
        if (!field_matches(&t->fields[i], name))
            return false;
    return true;
}

bool node_rules_match(const struct node_rules *m, struct label_set labels, sym name,
                      const struct sym_table *syms)
{
    if (!m->given)
        return true;
    for (uint16_t i = 0; i < m->n; i++)
        if (node_rule_matches(&m->at[i], labels, name, syms))
            return true;
    return false;
}
