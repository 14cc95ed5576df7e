/* tests/vectors/selectors.c - selectors.jsonl.gz: label, field and node selectors, taints. */
#include "api/field_selector.h"
#include "api/label_selector.h"
#include "api/selector_parse.h"
#include "plugins/plugins.h"
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
    enum err_code rc = selector_parse(c->arena, WORK_OWN, vector_str(c->record, "in"), &s, &e);
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
    enum err_code rc = label_selector_compile(c->arena, WORK_OWN, ls, &s, &e);
    if (compare_outcome(c, rc, &e))
        compare_selector(c, &s);
    vector_text(c, "format", label_selector_format(c->arena, WORK_OWN, ls), vector_str(c->record, "format"));
    compare_validation(c, ls);
}

static void check_field(struct vector_case *c)
{
    struct err e;
    err_init(&e, c->arena);
    struct field_selector s;
    enum err_code rc = field_selector_parse(c->arena, WORK_OWN, vector_str(c->record, "in"), &s, &e);
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

/* ---- node selectors and taints: by the typed forms of a pod and its nodes ---- */

struct world {
    struct vector_case *c;
    struct sym_table syms;
    const struct pod *pod;
};

/* A member of the record as JSON text; null when it is not there. */
static struct str member(struct vector_case *c, yyjson_val *object, const char *name)
{
    yyjson_val *value = yyjson_obj_get(object, name);
    return value ? vector_json(c, value) : STR("null");
}

/* False when the pod does not decode. */
static bool world_init(struct world *w, struct vector_case *c, const char *pod)
{
    struct err e;
    err_init(&e, c->arena);
    *w = (struct world){ .c = c };
    sym_init(&w->syms);
    if (!pod_decode(&w->syms, TYPED_JSON, str_of(pod), &w->pod, &e))
        return true;
    vector_mismatch(c, "%s", e.message);
    sym_fini(&w->syms);
    return false;
}

static void world_fini(struct world *w)
{
    pod_unref(&w->syms, w->pod);
    sym_fini(&w->syms);
}

/* NULL when it does not decode. */
static const struct node *world_node(struct world *w, const char *text)
{
    struct err e;
    err_init(&e, w->c->arena);
    const struct node *node;
    if (!node_decode(&w->syms, TYPED_JSON, str_of(text), &node, &e))
        return node;
    vector_mismatch(w->c, "%s", e.message);
    return NULL;
}

/* Calls `compare` for each node of the record. */
static void each_node(struct world *w, void (*compare)(struct world *w, const struct node *node, yyjson_val *want))
{
    size_t i, n;
    yyjson_val *item;
    yyjson_arr_foreach(yyjson_obj_get(w->c->record, "nodes"), i, n, item) {
        struct str name = member(w->c, item, "name"), labels = member(w->c, item, "labels");
        const char *text = arena_printf(w->c->arena, "{\"metadata\":{\"name\":%.*s,\"labels\":%.*s}}", STR_ARG(name),
                                        STR_ARG(labels));
        const struct node *node = world_node(w, text);
        if (!node)
            continue;
        compare(w, node, item);
        node_unref(&w->syms, node);
    }
}

static bool labels_match(const struct pod_node_affinity *a, const struct node *node)
{
    for (uint32_t i = 0; a && i < a->node_selector.n; i++)
        if (label_set_get(node->meta.labels, a->node_selector.at[i].key) != a->node_selector.at[i].value)
            return false;
    return true;
}

static void compare_required(struct world *w, const struct node *node, yyjson_val *want)
{
    const struct pod_node_affinity *a = w->pod->node_affinity;
    bool match = pod_wants_node(w->pod, node, &w->syms), by_affinity = !match && labels_match(a, node);
    vector_int(w->c, "match", match, vector_bool(want, "match"));
    vector_text(w->c, "node error", by_affinity ? str_of(a->required.error) : STR(""), vector_str(want, "error"));
}

/* nodeSelector: the whole error. required: with labels, and errors only where they count. */
static void check_required(struct vector_case *c)
{
    struct str labels = member(c, c->record, "nodeSelector"), selector = member(c, c->record, "selector");
    struct world w;
    if (!world_init(&w, c, arena_printf(c->arena,
                                        "{\"spec\":{\"nodeSelector\":%.*s,\"affinity\":{\"nodeAffinity\":{"
                                        "\"requiredDuringSchedulingIgnoredDuringExecution\":%.*s}}}}",
                                        STR_ARG(labels), STR_ARG(selector))))
        return;
    const struct pod_node_affinity *a = w.pod->node_affinity;
    if (vector_has(c->record, "error"))
        vector_text(c, "error", str_of(a ? a->required.error : NULL), vector_str(c->record, "error"));
    each_node(&w, compare_required);
    world_fini(&w);
}

static void compare_score(struct world *w, const struct node *node, yyjson_val *want)
{
    const struct pod_node_affinity *a = w->pod->node_affinity;
    int64_t score = 0;
    for (uint32_t i = 0; a && i < a->n_preferred; i++)
        if (node_rule_matches(&a->preferred[i].term, node->meta.labels, node->name, &w->syms))
            score += a->preferred[i].weight;
    vector_int(w->c, "score", score, vector_num(want, "score"));
}

static void check_preferred(struct vector_case *c)
{
    struct str preferred = member(c, c->record, "preferred");
    struct world w;
    if (!world_init(&w, c, arena_printf(c->arena,
                                        "{\"spec\":{\"affinity\":{\"nodeAffinity\":{"
                                        "\"preferredDuringSchedulingIgnoredDuringExecution\":%.*s}}}}",
                                        STR_ARG(preferred))))
        return;
    const struct pod_node_affinity *a = w.pod->node_affinity;
    vector_text(c, "error", str_of(a ? a->preferred_error : NULL), vector_str(c->record, "error"));
    each_node(&w, compare_score);
    world_fini(&w);
}

static void compare_table(struct world *w, const struct node *node, const char *name, bool comparing)
{
    yyjson_val *table = yyjson_obj_get(w->c->record, name);
    vector_int(w->c, name, w->pod->n_tolerations, (int64_t)yyjson_arr_size(table));
    for (uint32_t i = 0; i < w->pod->n_tolerations; i++) {
        yyjson_val *row = yyjson_arr_get(table, i);
        vector_int(w->c, name, node->n_taints, (int64_t)yyjson_arr_size(row));
        for (uint32_t k = 0; k < node->n_taints; k++)
            vector_int(w->c, name, tolerates(&w->pod->tolerations[i], &node->taints[k], &w->syms, comparing),
                       yyjson_get_bool(yyjson_arr_get(row, k)));
    }
}

static bool tolerated(const struct world *w, const struct taint_form *taint, bool comparing)
{
    for (uint32_t i = 0; i < w->pod->n_tolerations; i++)
        if (tolerates(&w->pod->tolerations[i], taint, &w->syms, comparing))
            return true;
    return false;
}

static void compare_first(struct world *w, const struct node *node, const char *name, bool hard, bool comparing)
{
    int64_t first = -1;
    for (uint32_t k = 0; k < node->n_taints && first < 0; k++) {
        enum taint_effect effect = node->taints[k].effect;
        bool counts = !hard || effect == EFFECT_NO_SCHEDULE || effect == EFFECT_NO_EXECUTE;
        if (counts && !tolerated(w, &node->taints[k], comparing))
            first = k;
    }
    vector_int(w->c, name, first, vector_num(w->c->record, name));
    if (hard)
        vector_int(w->c, name, first < 0,
                   tolerates_all_hard(w->pod, node->taints, node->n_taints, &w->syms, comparing));
}

static void check_taints(struct vector_case *c)
{
    struct str tolerations = member(c, c->record, "tolerations"), taints = member(c, c->record, "taints");
    struct world w;
    if (!world_init(&w, c, arena_printf(c->arena, "{\"spec\":{\"tolerations\":%.*s}}", STR_ARG(tolerations))))
        return;
    const struct node *node =
        world_node(&w, arena_printf(c->arena, "{\"spec\":{\"taints\":%.*s}}", STR_ARG(taints)));
    if (node) {
        compare_table(&w, node, "tolerates", false);
        compare_table(&w, node, "toleratesComparing", true);
        compare_first(&w, node, "untolerated", false, false);
        compare_first(&w, node, "untoleratedHard", true, false);
        compare_first(&w, node, "untoleratedHardComparing", true, true);
        node_unref(&w.syms, node);
    }
    world_fini(&w);
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
        { "nodeSelector", check_required },
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
