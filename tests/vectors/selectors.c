/* tests/vectors/selectors.c - selectors.jsonl.gz: label, field and node selectors, taints. */
#include "api/field_selector.h"
#include "api/label_selector.h"
#include "api/node_selector.h"
#include "api/selector_parse.h"
#include "api/toleration.h"
#include "tests/vectors/vectors.h"

/* ---- inputs out of a record ---- */

static struct str text_of(yyjson_val *value)
{
    return (struct str){ yyjson_get_str(value), yyjson_get_len(value) };
}

static struct labels read_labels(struct arena *a, yyjson_val *object)
{
    struct label *at = ARENA_NEW_N(a, struct label, yyjson_obj_size(object));
    size_t n = 0, i, n_all;
    yyjson_val *key, *value;
    yyjson_obj_foreach(object, i, n_all, key, value)
        at[n++] = (struct label){ text_of(key), text_of(value) };
    return (struct labels){ at, labels_sort(a, at, n) };
}

static struct strs read_strs(struct arena *a, yyjson_val *list)
{
    if (!yyjson_is_arr(list))
        return (struct strs){ 0 };
    struct str *at = ARENA_NEW_N(a, struct str, yyjson_arr_size(list));
    size_t i, n;
    yyjson_val *text;
    yyjson_arr_foreach(list, i, n, text)
        at[i] = text_of(text);
    return (struct strs){ at, yyjson_arr_size(list) };
}

static const struct match_expression *read_expressions(struct arena *a, yyjson_val *list, size_t *ret_n)
{
    struct match_expression *at = ARENA_NEW_N(a, struct match_expression, yyjson_arr_size(list));
    size_t i, n;
    yyjson_val *item;
    yyjson_arr_foreach(list, i, n, item)
        at[i] = (struct match_expression){ vector_str(item, "key"), vector_str(item, "operator"),
                                           read_strs(a, yyjson_obj_get(item, "values")) };
    *ret_n = yyjson_arr_size(list);
    return at;
}

static struct node_selector_term read_term(struct arena *a, yyjson_val *object)
{
    struct node_selector_term term = { 0 };
    term.expressions =
        read_expressions(a, yyjson_obj_get(object, "matchExpressions"), &term.n_expressions);
    term.fields = read_expressions(a, yyjson_obj_get(object, "matchFields"), &term.n_fields);
    return term;
}

/* NULL when the record has none. */
static const struct node_selector *read_node_selector(struct arena *a, yyjson_val *object)
{
    if (!object)
        return NULL;
    yyjson_val *list = yyjson_obj_get(object, "nodeSelectorTerms"), *item;
    struct node_selector_term *terms =
        ARENA_NEW_N(a, struct node_selector_term, yyjson_arr_size(list));
    size_t i, n;
    yyjson_arr_foreach(list, i, n, item)
        terms[i] = read_term(a, item);
    struct node_selector *selector = ARENA_NEW(a, struct node_selector);
    *selector = (struct node_selector){ terms, yyjson_arr_size(list) };
    return selector;
}

static struct node_identity read_node(struct arena *a, yyjson_val *object)
{
    return (struct node_identity){ vector_str(object, "name"),
                                   read_labels(a, yyjson_obj_get(object, "labels")) };
}

/* ---- label and field selectors ---- */

static void compare_strs(struct vector_case *c, const char *what, struct strs got, yyjson_val *want)
{
    if (!vector_int(c, what, (int64_t)got.n, (int64_t)yyjson_arr_size(want)))
        return;
    size_t i, n;
    yyjson_val *text;
    yyjson_arr_foreach(want, i, n, text)
        vector_text(c, what, got.at[i], text_of(text));
}

static void compare_requirement(struct vector_case *c, struct str key, const char *op,
                                struct strs values, yyjson_val *want)
{
    vector_text(c, "key", key, vector_str(want, "key"));
    vector_text(c, "op", str_of(op), vector_str(want, "op"));
    compare_strs(c, "values", values, yyjson_obj_get(want, "values"));
}

static void compare_selector(struct vector_case *c, const struct selector *s)
{
    vector_text(c, "out", selector_text(c->arena, s), vector_str(c->record, "out"));
    vector_int(c, "empty", selector_empty(s), vector_bool(c->record, "empty"));
    size_t i, n;
    yyjson_val *item, *reqs = yyjson_obj_get(c->record, "requirements");
    if (vector_int(c, "requirements", (int64_t)s->n, (int64_t)yyjson_arr_size(reqs)))
        yyjson_arr_foreach(reqs, i, n, item)
            compare_requirement(c, s->at[i].key, selector_op_name(s->at[i].op), s->at[i].values, item);
    yyjson_arr_foreach(yyjson_obj_get(c->record, "matches"), i, n, item) {
        struct labels labels = read_labels(c->arena, yyjson_obj_get(item, "labels"));
        vector_int(c, "match", selector_matches(s, labels), vector_bool(item, "match"));
    }
}

/* Whether both sides agree that the input is fine; compares the errors otherwise. */
static bool compare_outcome(struct vector_case *c, enum err_code rc, const struct err *e)
{
    bool ok = vector_bool(c->record, "ok");
    if (rc && !ok)
        vector_text(c, "error", str_of(e->message), vector_str(c->record, "error"));
    else if (rc || !ok)
        vector_mismatch(c, "got %s, want %.*s", rc ? e->message : "no error",
                        STR_ARG(vector_str(c->record, "error")));
    return !rc && ok;
}

static void check_label(struct vector_case *c)
{
    struct err e;
    err_init(&e, c->arena);
    struct selector s;
    enum err_code rc = selector_parse(c->arena, vector_str(c->record, "in"), &s, &e);
    if (compare_outcome(c, rc, &e))
        compare_selector(c, &s);
}

static const struct label_selector *read_label_selector(struct arena *a, yyjson_val *object)
{
    if (!object)
        return NULL;
    struct label_selector *ls = ARENA_NEW(a, struct label_selector);
    ls->match_labels = read_labels(a, yyjson_obj_get(object, "matchLabels"));
    ls->expressions =
        read_expressions(a, yyjson_obj_get(object, "matchExpressions"), &ls->n_expressions);
    return ls;
}

static void compare_validation(struct vector_case *c, const struct label_selector *ls)
{
    struct field_errors errs;
    field_errors_init(&errs, c->arena);
    struct field_path at = field_child(NULL, "selector");
    label_selector_validate(ls, (struct label_selector_rules){ 0 }, &at, &errs);
    struct str *texts = ARENA_NEW_N(c->arena, struct str, errs.n);
    for (size_t i = 0; i < errs.n; i++)
        texts[i] = field_error_text(c->arena, &errs.at[i]);
    compare_strs(c, "validation", (struct strs){ texts, errs.n },
                 yyjson_obj_get(c->record, "validation"));
}

static void check_label_selector(struct vector_case *c)
{
    struct err e;
    err_init(&e, c->arena);
    const struct label_selector *ls =
        read_label_selector(c->arena, yyjson_obj_get(c->record, "selector"));
    struct selector s;
    enum err_code rc = label_selector_compile(c->arena, ls, &s, &e);
    if (compare_outcome(c, rc, &e))
        compare_selector(c, &s);
    vector_text(c, "format", label_selector_format(c->arena, ls), vector_str(c->record, "format"));
    compare_validation(c, ls);
}

static void check_field(struct vector_case *c)
{
    struct err e;
    err_init(&e, c->arena);
    struct field_selector s;
    enum err_code rc = field_selector_parse(c->arena, vector_str(c->record, "in"), &s, &e);
    if (!compare_outcome(c, rc, &e))
        return;
    vector_text(c, "out", field_selector_text(c->arena, &s), vector_str(c->record, "out"));
    vector_int(c, "empty", field_selector_empty(&s), vector_bool(c->record, "empty"));
    size_t i, n;
    yyjson_val *item, *reqs = yyjson_obj_get(c->record, "requirements");
    if (vector_int(c, "requirements", (int64_t)s.n, (int64_t)yyjson_arr_size(reqs)))
        yyjson_arr_foreach(reqs, i, n, item)
            compare_requirement(c, s.at[i].field, s.at[i].not_equal ? "!=" : "=",
                                (struct strs){ &s.at[i].value, 1 }, item);
    yyjson_arr_foreach(yyjson_obj_get(c->record, "matches"), i, n, item) {
        struct labels fields = read_labels(c->arena, yyjson_obj_get(item, "fields"));
        vector_int(c, "match", field_selector_matches(&s, fields), vector_bool(item, "match"));
    }
}

/* ---- node selectors ---- */

static void check_node_selector(struct vector_case *c)
{
    const struct node_selector *selector =
        read_node_selector(c->arena, yyjson_obj_get(c->record, "selector"));
    struct node_matcher m = node_selector_compile(c->arena, selector, NULL);
    vector_text(c, "error", m.error, vector_str(c->record, "error"));
    size_t i, n;
    yyjson_val *item;
    yyjson_arr_foreach(yyjson_obj_get(c->record, "nodes"), i, n, item) {
        struct node_identity node = read_node(c->arena, item);
        bool match = node_matcher_matches(&m, &node);
        vector_int(c, "match", match, vector_bool(item, "match"));
        vector_text(c, "node error", match ? STR("") : m.error, vector_str(item, "error"));
    }
}

static void check_required(struct vector_case *c)
{
    struct labels node_selector =
        read_labels(c->arena, yyjson_obj_get(c->record, "nodeSelector"));
    struct required_affinity r = required_affinity_compile(
        c->arena, node_selector,
        read_node_selector(c->arena, yyjson_obj_get(c->record, "selector")));
    size_t i, n;
    yyjson_val *item;
    yyjson_arr_foreach(yyjson_obj_get(c->record, "nodes"), i, n, item) {
        struct node_identity node = read_node(c->arena, item);
        struct str error;
        vector_int(c, "match", required_affinity_matches(&r, &node, &error), vector_bool(item, "match"));
        vector_text(c, "node error", error, vector_str(item, "error"));
    }
}

static void check_preferred(struct vector_case *c)
{
    yyjson_val *list = yyjson_obj_get(c->record, "preferred"), *item;
    size_t i, n, n_terms = yyjson_arr_size(list);
    struct preferred_term *terms = ARENA_NEW_N(c->arena, struct preferred_term, n_terms);
    yyjson_arr_foreach(list, i, n, item)
        terms[i] = (struct preferred_term){ (int32_t)vector_num(item, "weight"),
                                            read_term(c->arena, yyjson_obj_get(item, "preference")) };
    struct node_matcher m = preferred_terms_compile(c->arena, terms, n_terms, NULL);
    vector_text(c, "error", m.error, vector_str(c->record, "error"));
    yyjson_arr_foreach(yyjson_obj_get(c->record, "nodes"), i, n, item) {
        struct node_identity node = read_node(c->arena, item);
        vector_int(c, "score", node_matcher_score(&m, &node), vector_num(item, "score"));
    }
}

/* ---- taints ---- */

static struct tolerations read_tolerations(struct arena *a, yyjson_val *list)
{
    struct toleration *at = ARENA_NEW_N(a, struct toleration, yyjson_arr_size(list));
    size_t i, n;
    yyjson_val *item;
    yyjson_arr_foreach(list, i, n, item)
        at[i] = (struct toleration){ .key = vector_str(item, "key"), .op = vector_str(item, "operator"),
                                     .value = vector_str(item, "value"),
                                     .effect = vector_str(item, "effect") };
    return (struct tolerations){ at, yyjson_arr_size(list) };
}

static struct taints read_taints(struct arena *a, yyjson_val *list)
{
    struct taint *at = ARENA_NEW_N(a, struct taint, yyjson_arr_size(list));
    size_t i, n;
    yyjson_val *item;
    yyjson_arr_foreach(list, i, n, item)
        at[i] = (struct taint){ .key = vector_str(item, "key"), .value = vector_str(item, "value"),
                                .effect = vector_str(item, "effect") };
    return (struct taints){ at, yyjson_arr_size(list) };
}

static void compare_table(struct vector_case *c, struct tolerations tolerations, struct taints taints,
                          const char *name, bool comparing)
{
    yyjson_val *table = yyjson_obj_get(c->record, name);
    vector_int(c, name, (int64_t)tolerations.n, (int64_t)yyjson_arr_size(table));
    for (size_t i = 0; i < tolerations.n; i++) {
        yyjson_val *row = yyjson_arr_get(table, i);
        vector_int(c, name, (int64_t)taints.n, (int64_t)yyjson_arr_size(row));
        for (size_t k = 0; k < taints.n; k++)
            vector_int(c, name, toleration_tolerates(&tolerations.at[i], &taints.at[k], comparing),
                       yyjson_get_bool(yyjson_arr_get(row, k)));
    }
}

static void compare_first(struct vector_case *c, struct tolerations tolerations, struct taints taints,
                          const char *name, taint_filter *filter, bool comparing)
{
    const struct taint *first = taints_first_untolerated(taints, tolerations, filter, comparing);
    vector_int(c, name, first ? first - taints.at : -1, vector_num(c->record, name));
}

static void check_taints(struct vector_case *c)
{
    struct tolerations tolerations =
        read_tolerations(c->arena, yyjson_obj_get(c->record, "tolerations"));
    struct taints taints = read_taints(c->arena, yyjson_obj_get(c->record, "taints"));
    compare_table(c, tolerations, taints, "tolerates", false);
    compare_table(c, tolerations, taints, "toleratesComparing", true);
    compare_first(c, tolerations, taints, "untolerated", NULL, false);
    compare_first(c, tolerations, taints, "untoleratedHard", taint_is_hard, false);
    compare_first(c, tolerations, taints, "untoleratedHardComparing", taint_is_hard, true);
}

void check_selectors(struct vector_case *c)
{
    static const struct {
        const char *name;
        void (*check)(struct vector_case *c);
    } families[] = {
        { "label", check_label },
        { "labelSelector", check_label_selector },
        { "field", check_field },
        { "nodeSelector", check_node_selector },
        { "required", check_required },
        { "preferred", check_preferred },
        { "taints", check_taints },
    };
    struct str family = vector_str(c->record, "family");
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        if (str_is(family, families[i].name))
            return families[i].check(c);
    vector_mismatch(c, "unknown family %.*s", STR_ARG(family));
}
