/* api/label_selector.c - see label_selector.h. */
#include "api/label_selector.h"

#include "api/validate.h"

static bool find_op(struct str text, enum selector_op *ret_op)
{
    static const struct {
        const char *text;
        enum selector_op op;
    } known[] = {
        { "In", SELECTOR_IN },
        { "NotIn", SELECTOR_NOT_IN },
        { "Exists", SELECTOR_EXISTS },
        { "DoesNotExist", SELECTOR_DOES_NOT_EXIST },
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (str_is(text, known[i].text)) {
            *ret_op = known[i].op;
            return true;
        }
    return false;
}

static enum err_code bad_operator(struct arena *a, struct str op, struct err *e)
{
    struct strbuf quoted;
    strbuf_init(&quoted, STRBUF_NO_MAX);
    strbuf_add_quoted(&quoted, op);
    struct str text = field_take_text(a, &quoted);
    return err_set(e, ERR_BAD_REQUEST, "%s is not a valid label selector operator", text.p);
}

static enum err_code make(struct arena *a, struct work *work, struct requirement *ret, struct str key,
                          enum selector_op op, struct strs values, struct err *e)
{
    if (!requirement_charge(work, key, values))
        return work_error(e);
    struct field_errors errs;
    field_errors_init(&errs, a);
    if (requirement_init(ret, key, op, values, NULL, &errs))
        return ERR_OK;
    struct str text = field_errors_text(a, &errs);
    return err_set(e, ERR_BAD_REQUEST, "%.*s", STR_ARG(text));
}

static enum err_code make_from_expression(struct arena *a, struct work *work, const struct match_expression *expression,
                                          struct requirement *ret, struct err *e)
{
    enum selector_op op;
    if (!find_op(expression->op, &op))
        return bad_operator(a, expression->op, e);
    struct strs values = expression->values;
    if (values.n == 0)
        values.at = NULL; /* upstream copies them, which makes an empty list an absent one */
    return make(a, work, ret, expression->key, op, values, e);
}

static size_t count_bytes(const struct label_selector *ls)
{
    size_t n = match_expressions_bytes(ls->expressions, ls->n_expressions);
    for (size_t i = 0; i < ls->match_labels.n; i++)
        n += ls->match_labels.at[i].key.n + ls->match_labels.at[i].value.n + 2;
    return n;
}

enum err_code label_selector_compile(struct arena *a, struct work *work, const struct label_selector *ls,
                                     struct selector *ret, struct err *e)
{
    if (!ls) {
        *ret = (struct selector){ .nothing = true };
        return ERR_OK;
    }
    if (work_begin(work, count_bytes(ls), e))
        return e->code;
    size_t n_labels = ls->match_labels.n, n = n_labels + ls->n_expressions;
    struct requirement *reqs = ARENA_NEW_N(a, struct requirement, n);
    for (size_t i = 0; i < n; i++) {
        const struct label *label = i < n_labels ? &ls->match_labels.at[i] : NULL;
        enum err_code rc =
            label ? make(a, work, &reqs[i], label->key, SELECTOR_EQUALS, (struct strs){ &label->value, 1 }, e)
                  : make_from_expression(a, work, &ls->expressions[i - n_labels], &reqs[i], e);
        if (rc)
            return rc;
    }
    if (!requirements_sort(a, work, reqs, n))
        return work_error(e);
    *ret = (struct selector){ .at = reqs, .n = n };
    return ERR_OK;
}

static void validate_operator(const struct match_expression *expression,
                              struct label_selector_rules rules, const struct field_path *at,
                              struct field_errors *errs)
{
    struct field_path values = field_child(at, "values"), operator = field_child(at, "operator");
    enum selector_op op;
    if (!find_op(expression->op, &op)) {
        if (!rules.allow_unknown_operators)
            field_invalid(errs, &operator, field_enum(expression->op),
                          STR("not a valid selector operator"));
        return;
    }
    bool set = op == SELECTOR_IN || op == SELECTOR_NOT_IN;
    if (set && expression->values.n == 0)
        field_required(errs, &values, STR("must be specified when `operator` is 'In' or 'NotIn'"));
    if (!set && expression->values.n > 0)
        field_forbidden(errs, &values,
                        STR("may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
}

void match_expression_validate(const struct match_expression *expression, struct label_selector_rules rules,
                               const struct field_path *at, struct field_errors *errs)
{
    struct field_path key = field_child(at, "key"), values = field_child(at, "values");
    validate_operator(expression, rules, at, errs);
    validate_label_name(expression->key, &key, errs);
    if (rules.allow_invalid_values)
        return;
    for (size_t i = 0; i < expression->values.n; i++) {
        struct field_path path = field_index(&values, i);
        struct str value = expression->values.at[i];
        validate_name_errors(name_label_value(value), field_str(value), &path, errs);
    }
}

void label_selector_validate(const struct label_selector *ls, struct label_selector_rules rules,
                             const struct field_path *at, struct field_errors *errs)
{
    if (!ls)
        return;
    struct field_path match_labels = field_child(at, "matchLabels");
    struct field_path expressions = field_child(at, "matchExpressions");
    validate_labels(ls->match_labels, &match_labels, errs);
    for (size_t i = 0; i < ls->n_expressions; i++) {
        struct field_path path = field_index(&expressions, i);
        match_expression_validate(&ls->expressions[i], rules, &path, errs);
    }
}

struct str label_selector_format(struct arena *a, struct work *work, const struct label_selector *ls)
{
    struct selector selector;
    struct err e;
    err_init(&e, a);
    if (label_selector_compile(a, work, ls, &selector, &e))
        return STR("<error>");
    return selector.n ? selector_text(a, &selector) : STR("<none>");
}
