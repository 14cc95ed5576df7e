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

/* Fields are matched as they are (forms/match.h): here they are only checked. */
static void check_fields(const struct node_selector_term *term, const struct field_path *at, struct field_errors *errs)
{
    struct field_path fields = field_child(at, "matchFields");
    for (size_t i = 0; i < term->n_fields; i++) {
        const struct match_expression *expression = &term->fields[i];
        struct field_path path = field_index(&fields, i), values = field_child(&path, "values");
        if (find_op(expression, N_FIELD_OPS, &path, errs) >= 0 && expression->values.n != 1)
            field_invalid(errs, &values, field_strs(expression->values.at, expression->values.n),
                          STR("must have one element"));
    }
}

static struct node_term compile_term(struct arena *a, const struct node_selector_term *term,
                                     const struct field_path *at, struct field_errors *errs)
{
    size_t n_before = errs->n + errs->n_dropped;
    struct node_term compiled = { .labels = compile_labels(a, term, at, errs) };
    check_fields(term, at, errs);
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
        compiled[n++] = compile_term(a, &terms[i].preference, &path, errs);
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
