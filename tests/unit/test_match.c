/* Selectors over syms: they match what label_selector.h and node_selector.h say. */
#include "forms/match.h"

#include "base/work.h"
#include "forms/inputs.h"
#include "forms/workload.h"
#include "tests/test.h"
#include "tests/unit/typed_world.h"

static const struct service *make_labels(struct world *w, const char *labels)
{
    const struct service *s;
    const char *json = arena_printf(&w->arena, "{\"spec\":{\"selector\":%s}}", labels);
    CHECK(!service_decode(&w->syms, TYPED_JSON, str_of(json), &s, &w->e));
    return s;
}

static const struct replica_set *make_selector(struct world *w, const char *selector)
{
    const struct replica_set *s;
    const char *json = arena_printf(&w->arena, "{\"spec\":{\"selector\":%s}}", selector);
    CHECK(!replica_set_decode(&w->syms, TYPED_JSON, str_of(json), &s, &w->e));
    return s;
}

#define EXPRESSION(key, op, values) "{\"matchExpressions\":[{\"key\":\"" key "\",\"operator\":\"" op "\",\"values\":" values "}]}"

TEST(label_selectors_match)
{
    static const struct {
        const char *name, *selector, *labels;
        bool want;
    } rows[] = {
        { "an absent selector matches nothing", "null", "{\"a\":\"1\"}", false },
        { "an empty one matches everything", "{}", "{}", true },
        { "equal labels", "{\"matchLabels\":{\"a\":\"1\",\"b\":\"2\"}}", "{\"b\":\"2\",\"a\":\"1\",\"c\":\"3\"}", true },
        { "one label differs", "{\"matchLabels\":{\"a\":\"1\",\"b\":\"2\"}}", "{\"b\":\"3\",\"a\":\"1\"}", false },
        { "a key given twice counts last", "{\"matchLabels\":{\"a\":\"1\",\"a\":\"2\"}}", "{\"a\":\"1\",\"a\":\"2\"}", true },
        { "In", EXPRESSION("a", "In", "[\"x\",\"y\",\"z\"]"), "{\"a\":\"y\"}", true },
        { "In, other value", EXPRESSION("a", "In", "[\"x\",\"y\"]"), "{\"a\":\"z\"}", false },
        { "In, no such label", EXPRESSION("a", "In", "[\"x\"]"), "{\"b\":\"x\"}", false },
        { "NotIn", EXPRESSION("a", "NotIn", "[\"x\"]"), "{\"a\":\"y\"}", true },
        { "NotIn, same value", EXPRESSION("a", "NotIn", "[\"y\",\"x\"]"), "{\"a\":\"x\"}", false },
        { "NotIn, no such label", EXPRESSION("a", "NotIn", "[\"x\"]"), "{}", true },
        { "Exists", EXPRESSION("a", "Exists", "[]"), "{\"a\":\"\"}", true },
        { "Exists, no such label", EXPRESSION("a", "Exists", "[]"), "{}", false },
        { "DoesNotExist", EXPRESSION("a", "DoesNotExist", "[]"), "{\"b\":\"\"}", true },
        { "DoesNotExist, but it does", EXPRESSION("a", "DoesNotExist", "[]"), "{\"a\":\"\"}", false },
        { "a selector that does not parse matches nothing", EXPRESSION("a", "In", "[]"), "{\"a\":\"\"}", false },
    };
    struct world w;
    world_init(&w);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct service *labels = make_labels(&w, rows[i].labels);
        const struct replica_set *set = make_selector(&w, rows[i].selector);
        CHECK_INT(rows[i].name, matcher_matches(&set->selector, labels->selector, &w.syms), rows[i].want);
        service_unref(&w.syms, labels);
        replica_set_unref(&w.syms, set);
    }
    world_fini(&w);
}

TEST(refused_selectors_keep_the_text)
{
    static const struct {
        const char *name, *selector, *want;
    } rows[] = {
        { "no values", EXPRESSION("a", "In", "[]"),
          "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty" },
        { "values too many", EXPRESSION("a", "Exists", "[\"x\"]"),
          "values: Invalid value: [\"x\"]: values set must be empty for exists and does not exist" },
        { "an operator of nodes", EXPRESSION("a", "Gt", "[\"1\"]"), "\"Gt\" is not a valid label selector operator" },
    };
    struct world w;
    world_init(&w);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct replica_set *set = make_selector(&w, rows[i].selector);
        CHECK_INT(rows[i].name, set->selector.mode, MATCHER_INVALID);
        CHECK_TEXT(rows[i].name, set->selector.error, rows[i].want);
        replica_set_unref(&w.syms, set);
    }
    world_fini(&w);
}

/* ---- Node selectors ---- */

struct nodes_in {
    struct node_selector_in selector;
};

static struct node_rules make_rules(struct world *w, const char *json)
{
    struct build b = { &w->arena, &w->syms, &w->e, WORK_OWN, false };
    struct node_selector_in *in = ARENA_NEW(&w->arena, struct node_selector_in);
    if (fill_decode(&w->arena, WORK_OWN, &fill_node_selector, TYPED_JSON, str_of(json), in, &w->e))
        FAIL("%s", w->e.message);
    return build_node_rules(&b, in);
}

static void drop_rules(struct world *w, struct node_rules *rules)
{
    struct walk undo = { .syms = &w->syms, .mode = WALK_UNREF };
    walk_node_rules(&undo, rules);
}

#define TERMS(terms) "{\"nodeSelectorTerms\":[" terms "]}"
#define LABEL(key, op, values) "{\"key\":\"" key "\",\"operator\":\"" op "\",\"values\":" values "}"
#define NAME_IN(op, values) "{\"matchFields\":[" LABEL("metadata.name", op, values) "]}"

TEST(node_selectors_match)
{
    static const struct {
        const char *name, *selector, *labels, *node;
        bool want;
    } rows[] = {
        { "no terms match nothing", TERMS(""), "{}", "n1", false },
        { "an empty term matches nothing", TERMS("{}"), "{}", "n1", false },
        { "one of two terms is enough", TERMS("{\"matchExpressions\":[" LABEL("a", "Exists", "[]") "]},"
          "{\"matchExpressions\":[" LABEL("b", "Exists", "[]") "]}"), "{\"b\":\"\"}", "n1", true },
        { "a broken term does not hurt the others", TERMS("{\"matchExpressions\":[" LABEL("a", "Odd", "[]") "]},"
          "{\"matchExpressions\":[" LABEL("b", "Exists", "[]") "]}"), "{\"b\":\"\"}", "n1", true },
        { "a broken term matches nothing", TERMS("{\"matchExpressions\":[" LABEL("b", "Exists", "[]") ","
          LABEL("a", "Odd", "[]") "]}"), "{\"b\":\"\"}", "n1", false },
        { "larger", TERMS("{\"matchExpressions\":[" LABEL("a", "Gt", "[\"5\"]") "]}"), "{\"a\":\"6\"}", "n1", true },
        { "not larger", TERMS("{\"matchExpressions\":[" LABEL("a", "Gt", "[\"5\"]") "]}"), "{\"a\":\"5\"}", "n1", false },
        { "smaller", TERMS("{\"matchExpressions\":[" LABEL("a", "Lt", "[\"5\"]") "]}"), "{\"a\":\"-6\"}", "n1", true },
        { "no number", TERMS("{\"matchExpressions\":[" LABEL("a", "Lt", "[\"5\"]") "]}"), "{\"a\":\"x\"}", "n1", false },
        { "the name", TERMS(NAME_IN("In", "[\"n1\"]")), "{}", "n1", true },
        { "another name", TERMS(NAME_IN("In", "[\"n1\"]")), "{}", "n2", false },
        { "not the name", TERMS(NAME_IN("NotIn", "[\"n1\"]")), "{}", "n2", true },
        { "two names break the term", TERMS(NAME_IN("In", "[\"n1\",\"n2\"]")), "{}", "n1", false },
        { "a nameless node meets every field", TERMS(NAME_IN("In", "[\"n1\"]")), "{}", "", true },
        { "an unknown field is empty", TERMS("{\"matchFields\":[" LABEL("odd", "NotIn", "[\"x\"]") "]}"), "{}", "n1", true },
        { "an unknown field is not that", TERMS("{\"matchFields\":[" LABEL("odd", "In", "[\"x\"]") "]}"), "{}", "n1", false },
    };
    struct world w;
    world_init(&w);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct node_rules rules = make_rules(&w, rows[i].selector);
        const struct service *labels = make_labels(&w, rows[i].labels);
        sym name = sym_intern(&w.syms, str_of(rows[i].node));
        CHECK_INT(rows[i].name, node_rules_match(&rules, labels->selector, name, &w.syms), rows[i].want);
        sym_unref(&w.syms, name);
        service_unref(&w.syms, labels);
        drop_rules(&w, &rules);
    }
    struct node_rules none = { 0 };
    CHECK(node_rules_match(&none, (struct label_set){ 0 }, SYM_EMPTY, &w.syms));
    world_fini(&w);
}

TEST(fields_of_broken_terms_stay)
{
    struct world w;
    world_init(&w);
    struct node_rules rules = make_rules(&w, TERMS(NAME_IN("In", "[\"n2\",\"n1\"]") ",{}," NAME_IN("Odd", "[]")));
    CHECK_INT("terms", rules.n, 3);
    CHECK(rules.error);
    CHECK(rules.at[0].broken && rules.at[1].empty && rules.at[2].broken);
    CHECK_INT("op", rules.at[0].fields[0].op, MATCH_IN);
    CHECK_INT("names", rules.at[0].fields[0].n_values, 2);
    CHECK(rules.at[0].fields[0].values[0] < rules.at[0].fields[0].values[1]);
    CHECK(rules.at[0].fields[0].key != SYM_EMPTY);
    CHECK_INT("odd operator", rules.at[2].fields[0].op, MATCH_OTHER);
    drop_rules(&w, &rules);
    world_fini(&w);
}
