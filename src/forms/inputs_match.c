/* forms/inputs_match.c - selectors of the API as matchers over syms; see inputs.h.
 *
 * label_selector.c and node_selector.c decide what is a valid selector and word what is not; here their
 * result is only put into syms. */
#include "api/label_selector.h"
#include "api/node_selector.h"
#include "api/schema_slots.h"
#include "forms/inputs.h"

/* ---- Tables ---- */

#define EXPRESSION_TYPE(name, schema_name)                                                         \
    static const struct fill_row name##_rows[] = {                                                 \
        [SLOT_##schema_name##_key] = FILL_STR(struct expression_in, key),                          \
        [SLOT_##schema_name##_operator] = FILL_STR(struct expression_in, op),                      \
        [SLOT_##schema_name##_values] = FILL_STRS(struct expression_in, values),                   \
    };                                                                                             \
    static const struct fill_type name##_type = FILL_TYPE(schema_name, struct expression_in, name##_rows)

EXPRESSION_TYPE(label_expression, meta_v1_LabelSelectorRequirement);
EXPRESSION_TYPE(node_expression, core_v1_NodeSelectorRequirement);

static const struct fill_row selector_rows[] = {
    [SLOT_meta_v1_LabelSelector_matchLabels] = FILL_MAP(struct selector_in, match_labels),
    [SLOT_meta_v1_LabelSelector_matchExpressions] =
        FILL_LIST(struct selector_in, expressions, &label_expression_type),
};
const struct fill_type fill_selector = FILL_TYPE(meta_v1_LabelSelector, struct selector_in, selector_rows);

static const struct fill_row term_rows[] = {
    [SLOT_core_v1_NodeSelectorTerm_matchExpressions] =
        FILL_LIST(struct term_in, expressions, &node_expression_type),
    [SLOT_core_v1_NodeSelectorTerm_matchFields] = FILL_LIST(struct term_in, fields, &node_expression_type),
};
static const struct fill_type term_type = FILL_TYPE(core_v1_NodeSelectorTerm, struct term_in, term_rows);

static const struct fill_row node_selector_rows[] = {
    [SLOT_core_v1_NodeSelector_nodeSelectorTerms] = FILL_LIST(struct node_selector_in, terms, &term_type),
};
const struct fill_type fill_node_selector =
    FILL_TYPE(core_v1_NodeSelector, struct node_selector_in, node_selector_rows);

static const struct fill_row preferred_rows[] = {
    [SLOT_core_v1_PreferredSchedulingTerm_weight] = FILL_INT(struct preferred_in, weight),
    [SLOT_core_v1_PreferredSchedulingTerm_preference] =
        FILL_STRUCT(struct preferred_in, preference, &term_type),
};
const struct fill_type fill_preferred =
    FILL_TYPE(core_v1_PreferredSchedulingTerm, struct preferred_in, preferred_rows);

/* ---- To the structs of label_selector.h and node_selector.h ---- */

static struct match_expression *borrow_expressions(struct build *b, const expressions_in *in)
{
    static const struct str none;
    struct match_expression *out = ARENA_NEW_N(b->arena, struct match_expression, in->n);
    for (uint32_t i = 0; i < in->n; i++) {
        const struct expression_in *x = &in->at[i];
        const struct str *values = x->values.n ? x->values.at : &none;
        out[i] = (struct match_expression){
            .key = x->key, .op = x->op,
            .values = { x->values.given ? values : NULL, x->values.n },
        };
    }
    return out;
}

static struct labels borrow_labels(struct build *b, const fill_map *map)
{
    struct label *labels = ARENA_NEW_N(b->arena, struct label, map->n);
    for (uint32_t i = 0; i < map->n; i++)
        labels[i] = (struct label){ map->at[i].key, map->at[i].value };
    return (struct labels){ labels, labels_sort(b->arena, labels, map->n) };
}

static struct node_selector_term borrow_term(struct build *b, const struct term_in *in)
{
    return (struct node_selector_term){
        .expressions = borrow_expressions(b, &in->expressions), .n_expressions = in->expressions.n,
        .fields = borrow_expressions(b, &in->fields), .n_fields = in->fields.n,
    };
}

/* ---- Into syms ---- */

static const uint8_t match_ops[] = {
    [SELECTOR_IN] = MATCH_IN,           [SELECTOR_EQUALS] = MATCH_IN,      [SELECTOR_DOUBLE_EQUALS] = MATCH_IN,
    [SELECTOR_NOT_IN] = MATCH_NOT_IN,   [SELECTOR_NOT_EQUALS] = MATCH_NOT_IN,
    [SELECTOR_EXISTS] = MATCH_EXISTS,   [SELECTOR_DOES_NOT_EXIST] = MATCH_NOT_EXISTS,
    [SELECTOR_GREATER] = MATCH_GT,      [SELECTOR_LESS] = MATCH_LT,
};

static struct match_rule make_rule(struct build *b, struct str key, enum match_op op, struct strs values,
                                   int64_t number)
{
    struct match_rule rule = { .key = build_sym(b, key), .op = op };
    if (op == MATCH_GT || op == MATCH_LT) {
        rule.number = number;
        return rule;
    }
    size_t n;
    rule.values = build_sym_set(b, values.at, values.n, &n);
    rule.n_values = (uint16_t)n; /* at most FILL_ITEMS_MAX */
    return rule;
}

static struct matcher invalid(struct build *b, const char *error)
{
    return (struct matcher){ .mode = MATCHER_INVALID, .error = arena_cstr(b->arena, str_of(error)) };
}

static struct matcher make_matcher(struct build *b, const struct selector *s)
{
    if (s->n > UINT16_MAX)
        return invalid(b, "the selector has more than 65535 requirements");
    struct match_rule *rules = ARENA_NEW_N(b->arena, struct match_rule, s->n);
    for (size_t i = 0; i < s->n; i++) {
        const struct requirement *r = &s->at[i];
        rules[i] = make_rule(b, r->key, match_ops[r->op], r->values, r->number);
    }
    return (struct matcher){ .mode = MATCHER_ALL_OF, .n = (uint16_t)s->n, .at = rules };
}

struct matcher build_matcher(struct build *b, const struct selector_in *in)
{
    if (!in)
        return (struct matcher){ .mode = MATCHER_NOTHING };
    struct label_selector ls = {
        .match_labels = borrow_labels(b, &in->match_labels),
        .expressions = borrow_expressions(b, &in->expressions), .n_expressions = in->expressions.n,
    };
    struct selector selector;
    struct err e;
    err_init(&e, b->arena);
    enum err_code rc = label_selector_compile(b->arena, b->work, &ls, &selector, &e);
    b->spent = b->spent || rc == ERR_TOO_LARGE;
    if (rc)
        return invalid(b, e.message);
    return make_matcher(b, &selector);
}

/* Fields as they are: the name is narrowed by them even when the term does not parse. */
static const struct match_rule *make_fields(struct build *b, const expressions_in *in)
{
    struct match_rule *rules = ARENA_NEW_N(b->arena, struct match_rule, in->n);
    for (uint32_t i = 0; i < in->n; i++) {
        const struct expression_in *x = &in->at[i];
        enum match_op op = str_is(x->op, "In") ? MATCH_IN : str_is(x->op, "NotIn") ? MATCH_NOT_IN : MATCH_OTHER;
        struct str key = str_is(x->key, "metadata.name") ? x->key : STR("");
        rules[i] = make_rule(b, key, op, (struct strs){ x->values.at, x->values.n }, 0);
    }
    return rules;
}

/* `compiled` is NULL for a term that has no entry. */
static struct node_rule make_node_rule(struct build *b, const struct term_in *in, const struct node_term *compiled)
{
    struct node_rule rule = { .empty = !compiled };
    if (!compiled)
        return rule;
    rule.broken = compiled->broken;
    rule.fields = make_fields(b, &in->fields);
    rule.n_fields = (uint16_t)in->fields.n; /* at most FILL_ITEMS_MAX */
    if (!rule.broken)
        rule.labels = make_matcher(b, &compiled->labels);
    return rule;
}

static bool is_empty_term(const struct term_in *term)
{
    return term->expressions.n == 0 && term->fields.n == 0;
}

static const char *error_text(struct build *b, struct str error)
{
    return error.n ? arena_cstr(b->arena, error) : NULL;
}

struct node_rules build_node_rules(struct build *b, const struct node_selector_in *in)
{
    if (!in)
        return (struct node_rules){ .given = false };
    uint32_t n = in->terms.n;
    struct node_selector_term *terms = ARENA_NEW_N(b->arena, struct node_selector_term, n);
    for (uint32_t i = 0; i < n; i++)
        terms[i] = borrow_term(b, &in->terms.at[i]);
    struct node_selector selector = { terms, n };
    struct node_matcher compiled = node_selector_compile(b->arena, b->work, &selector, NULL);
    b->spent = b->spent || compiled.spent;
    if (compiled.spent)
        return (struct node_rules){ .given = false };
    const struct node_term *next = compiled.at; /* empty terms are left out there */
    struct node_rule *rules = ARENA_NEW_N(b->arena, struct node_rule, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct term_in *term = &in->terms.at[i];
        rules[i] = make_node_rule(b, term, is_empty_term(term) ? NULL : next++);
    }
    return (struct node_rules){ rules, error_text(b, compiled.error), (uint16_t)n, true };
}

struct weighted_rules build_weighted_rules(struct build *b, const struct preferred_in *at, uint32_t n)
{
    struct preferred_term *terms = ARENA_NEW_N(b->arena, struct preferred_term, n);
    for (uint32_t i = 0; i < n; i++)
        terms[i] = (struct preferred_term){ (int32_t)at[i].weight.value, borrow_term(b, &at[i].preference) };
    struct node_matcher compiled = preferred_terms_compile(b->arena, b->work, terms, n, NULL);
    b->spent = b->spent || compiled.spent;
    if (compiled.spent)
        return (struct weighted_rules){ .n = 0 };
    if (compiled.error.n)
        return (struct weighted_rules){ .error = error_text(b, compiled.error) };
    struct weighted_rule *rules = ARENA_NEW_N(b->arena, struct weighted_rule, n);
    uint32_t n_rules = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (terms[i].weight == 0 || is_empty_term(&at[i].preference))
            continue;
        const struct node_term *term = &compiled.at[n_rules];
        rules[n_rules] = (struct weighted_rule){ make_node_rule(b, &at[i].preference, term), terms[i].weight };
        n_rules++;
    }
    return (struct weighted_rules){ rules, NULL, n_rules };
}
