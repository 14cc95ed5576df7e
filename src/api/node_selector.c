/* api/node_selector.c - see node_selector.h. */
#include "api/node_selector.h"

/* In the order in which an error lists them. */
static const char *const op_names[] = { "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt" };
static const enum selector_op op_values[] = { SELECTOR_IN,     SELECTOR_NOT_IN,
                                              SELECTOR_EXISTS, SELECTOR_DOES_NOT_EXIST,
                                              SELECTOR_GREATER, SELECTOR_LESS };
enum {
    N_OPS = sizeof(op_names) / sizeof(op_names[0]),
    N_FIELD_OPS = 2, /* the first two */
};
_Static_assert(sizeof(op_values) / sizeof(op_values[0]) == N_OPS, "one value per name");

/* ---- compiling ---- */

/* Index of the operator, or -1 and an error. */
static int find_op(const struct match_expression *expression, int n_ops, const struct field_path *at,
                   struct field_errors *errs)
{
    for (int i = 0; i < n_ops; i++)
        if (str_is(expression->op, op_names[i]))
            return i;
    struct field_path path = field_child(at, "operator");
    field_not_supported(errs, &path, field_enum(expression->op), op_names, (size_t)n_ops);
    return -1;
}

static struct selector compile_labels(struct arena *a, const struct node_selector_term *term,
                                      const struct field_path *at, struct field_errors *errs)
{
    struct field_path expressions = field_child(at, "matchExpressions");
    struct requirement *reqs = ARENA_NEW_N(a, struct requirement, term->n_expressions);
    size_t n = 0;
    for (size_t i = 0; i < term->n_expressions; i++) {
        const struct match_expression *expression = &term->expressions[i];
        struct field_path path = field_index(&expressions, i);
        int op = find_op(expression, N_OPS, &path, errs);
        if (op >= 0)
            n += requirement_init(&reqs[n], expression->key, op_values[op], expression->values, &path,
                                  errs);
    }
    requirements_sort(a, reqs, n);
    return (struct selector){ .at = reqs, .n = n };
}

static struct field_selector compile_fields(struct arena *a, const struct node_selector_term *term,
                                            const struct field_path *at, struct field_errors *errs)
{
    struct field_path fields = field_child(at, "matchFields");
    struct field_term *terms = ARENA_NEW_N(a, struct field_term, term->n_fields);
    size_t n = 0;
    for (size_t i = 0; i < term->n_fields; i++) {
        const struct match_expression *expression = &term->fields[i];
        struct field_path path = field_index(&fields, i), values = field_child(&path, "values");
        int op = find_op(expression, N_FIELD_OPS, &path, errs);
        if (op < 0)
            continue;
        if (expression->values.n != 1) {
            field_invalid(errs, &values, field_strs(expression->values.at, expression->values.n),
                          STR("must have one element"));
            continue;
        }
        terms[n++] = (struct field_term){ .field = expression->key,
                                          .value = expression->values.at[0],
                                          .not_equal = op_values[op] == SELECTOR_NOT_IN };
    }
    return (struct field_selector){ terms, n };
}

static struct node_term compile_term(struct arena *a, const struct node_selector_term *term,
                                     const struct field_path *at, struct field_errors *errs)
{
    size_t n_before = errs->n + errs->n_dropped;
    struct node_term compiled = { .labels = compile_labels(a, term, at, errs) };
    compiled.fields = compile_fields(a, term, at, errs);
    compiled.broken = errs->n + errs->n_dropped > n_before;
    return compiled;
}

static bool is_empty(const struct node_selector_term *term)
{
    return term->n_expressions == 0 && term->n_fields == 0;
}

static struct node_matcher compile_selector(struct arena *a, const struct node_selector *selector,
                                            const struct field_path *at, struct field_errors *errs)
{
    struct field_path list = field_child(at, "nodeSelectorTerms");
    struct node_term *terms = ARENA_NEW_N(a, struct node_term, selector->n_terms);
    size_t n = 0;
    for (size_t i = 0; i < selector->n_terms; i++) {
        struct field_path path = field_index(&list, i);
        if (!is_empty(&selector->terms[i]))
            terms[n++] = compile_term(a, &selector->terms[i], &path, errs);
    }
    return (struct node_matcher){ .at = terms, .n = n, .error = STR("") };
}

static struct node_matcher compile_preferred(struct arena *a, const struct preferred_term *terms, size_t n_terms,
                                             const struct field_path *at, struct field_errors *errs)
{
    struct node_term *compiled = ARENA_NEW_N(a, struct node_term, n_terms);
    size_t n = 0;
    for (size_t i = 0; i < n_terms; i++) {
        struct field_path path = field_index(at, i);
        if (terms[i].weight == 0 || is_empty(&terms[i].preference))
            continue;
        compiled[n] = compile_term(a, &terms[i].preference, &path, errs);
        compiled[n++].weight = terms[i].weight;
    }
    return (struct node_matcher){ .at = compiled, .n = n, .error = STR("") };
}

struct node_matcher node_selector_compile(struct arena *a, const struct node_selector *selector,
                                          const struct field_path *at)
{
    struct field_errors errs;
    field_errors_init(&errs, a);
    struct node_matcher m = compile_selector(a, selector, at, &errs);
    if (errs.n)
        m.error = field_errors_text(a, &errs);
    return m;
}

struct node_matcher preferred_terms_compile(struct arena *a, const struct preferred_term *terms,
                                            size_t n_terms, const struct field_path *at)
{
    struct field_errors errs;
    field_errors_init(&errs, a);
    struct node_matcher m = compile_preferred(a, terms, n_terms, at, &errs);
    if (errs.n)
        m.error = field_errors_text(a, &errs);
    return m;
}

void node_selector_validate(const struct node_selector *selector, const struct field_path *at,
                            struct field_errors *errs)
{
    compile_selector(errs->arena, selector, at, errs);
}

void preferred_terms_validate(const struct preferred_term *terms, size_t n_terms, const struct field_path *at,
                              struct field_errors *errs)
{
    compile_preferred(errs->arena, terms, n_terms, at, errs);
}

/* ---- matching ---- */

static bool term_matches(const struct node_term *term, const struct node_identity *node)
{
    if (term->broken || !selector_matches(&term->labels, node->labels))
        return false;
    if (node->name.n == 0)
        return true;
    const struct label field = { STR("metadata.name"), node->name };
    return field_selector_matches(&term->fields, (struct labels){ &field, 1 });
}

bool node_matcher_matches(const struct node_matcher *m, const struct node_identity *node)
{
    for (size_t i = 0; i < m->n; i++)
        if (term_matches(&m->at[i], node))
            return true;
    return false;
}

int64_t node_matcher_score(const struct node_matcher *m, const struct node_identity *node)
{
    int64_t score = 0;
    for (size_t i = 0; i < m->n; i++)
        if (term_matches(&m->at[i], node))
            score += m->at[i].weight;
    return score;
}

/* ---- what a pod requires ---- */

struct required_affinity required_affinity_compile(struct arena *a, struct labels node_selector,
                                                   const struct node_selector *affinity)
{
    struct required_affinity r = { .node_selector = selector_from_labels(a, node_selector),
                                   .has_affinity = affinity != NULL };
    if (affinity)
        r.affinity = node_selector_compile(a, affinity, NULL);
    return r;
}

bool required_affinity_matches(const struct required_affinity *r, const struct node_identity *node,
                               struct str *ret_error)
{
    bool labels_match = selector_matches(&r->node_selector, node->labels);
    bool match = labels_match && (!r->has_affinity || node_matcher_matches(&r->affinity, node));
    if (ret_error)
        *ret_error = labels_match && !match ? r->affinity.error : STR("");
    return match;
}
