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

/* What the terms are compiled with. */
struct compiling {
    struct arena *arena;
    struct work *work;
    struct field_errors *errs;
    bool spent;
};

static size_t term_bytes(const struct node_selector_term *term)
{
    return match_expressions_bytes(term->expressions, term->n_expressions) +
           match_expressions_bytes(term->fields, term->n_fields);
}

/* All terms are read; if nothing of their body was before, they set the budget. */
static void begin(struct compiling *c, size_t n_bytes)
{
    struct err e;
    err_init(&e, c->arena);
    c->spent = work_begin(c->work, n_bytes, &e) != ERR_OK;
}

static bool charge(struct compiling *c, const struct node_selector_term *term)
{
    bool enough = true;
    for (size_t i = 0; i < term->n_expressions && enough; i++)
        enough = requirement_charge(c->work, term->expressions[i].key, term->expressions[i].values);
    c->spent = c->spent || !enough;
    return enough;
}

static struct selector compile_labels(struct compiling *c, const struct node_selector_term *term,
                                      const struct field_path *at)
{
    struct field_path expressions = field_child(at, "matchExpressions");
    struct requirement *reqs = ARENA_NEW_N(c->arena, struct requirement, term->n_expressions);
    size_t n = 0;
    for (size_t i = 0; i < term->n_expressions; i++) {
        const struct match_expression *expression = &term->expressions[i];
        struct field_path path = field_index(&expressions, i);
        int op = find_op(expression, N_OPS, &path, c->errs);
        if (op >= 0)
            n += requirement_init(&reqs[n], expression->key, op_values[op], expression->values, &path, c->errs);
    }
    c->spent = !requirements_sort(c->arena, c->work, reqs, n) || c->spent;
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

static struct node_term compile_term(struct compiling *c, const struct node_selector_term *term,
                                     const struct field_path *at)
{
    struct field_errors *errs = c->errs;
    size_t n_before = errs->n + errs->n_dropped;
    if (!charge(c, term))
        return (struct node_term){ .broken = true };
    struct node_term compiled = { .labels = compile_labels(c, term, at) };
    check_fields(term, at, errs);
    compiled.broken = errs->n + errs->n_dropped > n_before;
    return compiled;
}

static bool is_empty(const struct node_selector_term *term)
{
    return term->n_expressions == 0 && term->n_fields == 0;
}

static struct node_matcher compile_selector(struct compiling *c, const struct node_selector *selector,
                                            const struct field_path *at)
{
    struct field_path list = field_child(at, "nodeSelectorTerms");
    struct node_term *terms = ARENA_NEW_N(c->arena, struct node_term, selector->n_terms);
    size_t n = 0, n_bytes = 0;
    for (size_t i = 0; i < selector->n_terms; i++)
        n_bytes += term_bytes(&selector->terms[i]);
    begin(c, n_bytes);
    for (size_t i = 0; i < selector->n_terms && !c->spent; i++) {
        struct field_path path = field_index(&list, i);
        if (!is_empty(&selector->terms[i]))
            terms[n++] = compile_term(c, &selector->terms[i], &path);
    }
    return (struct node_matcher){ .at = terms, .n = n, .error = STR(""), .spent = c->spent };
}

static struct node_matcher compile_preferred(struct compiling *c, const struct preferred_term *terms, size_t n_terms,
                                             const struct field_path *at)
{
    struct node_term *compiled = ARENA_NEW_N(c->arena, struct node_term, n_terms);
    size_t n = 0, n_bytes = 0;
    for (size_t i = 0; i < n_terms; i++)
        n_bytes += term_bytes(&terms[i].preference);
    begin(c, n_bytes);
    for (size_t i = 0; i < n_terms && !c->spent; i++) {
        struct field_path path = field_index(at, i);
        if (terms[i].weight != 0 && !is_empty(&terms[i].preference))
            compiled[n++] = compile_term(c, &terms[i].preference, &path);
    }
    return (struct node_matcher){ .at = compiled, .n = n, .error = STR(""), .spent = c->spent };
}

struct node_matcher node_selector_compile(struct arena *a, struct work *work, const struct node_selector *selector,
                                          const struct field_path *at)
{
    struct field_errors errs;
    field_errors_init(&errs, a);
    struct node_matcher m = compile_selector(&(struct compiling){ a, work, &errs, false }, selector, at);
    if (errs.n)
        m.error = field_errors_text(a, &errs);
    return m;
}

struct node_matcher preferred_terms_compile(struct arena *a, struct work *work, const struct preferred_term *terms,
                                            size_t n_terms, const struct field_path *at)
{
    struct field_errors errs;
    field_errors_init(&errs, a);
    struct node_matcher m = compile_preferred(&(struct compiling){ a, work, &errs, false }, terms, n_terms, at);
    if (errs.n)
        m.error = field_errors_text(a, &errs);
    return m;
}

void node_selector_validate(struct work *work, const struct node_selector *selector, const struct field_path *at,
                            struct field_errors *errs)
{
    struct compiling c = { errs->arena, work, errs, false };
    if (compile_selector(&c, selector, at).spent)
        field_internal(errs, at, STR("takes too much work to check"));
}

void preferred_terms_validate(struct work *work, const struct preferred_term *terms, size_t n_terms,
                              const struct field_path *at, struct field_errors *errs)
{
    struct compiling c = { errs->arena, work, errs, false };
    if (compile_preferred(&c, terms, n_terms, at).spent)
        field_internal(errs, at, STR("takes too much work to check"));
}
