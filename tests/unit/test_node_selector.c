/* Node selectors: terms, fields, nameless nodes, lazy errors, weights, what a pod requires. */
#include "api/node_selector.h"
#include "tests/test.h"

static struct arena arena;

static const struct str a = STR("a"), three = STR("3"), minus_three = STR("-3");
static const struct str x_and_y[] = { STR("x"), STR("y") };

static const struct match_expression zone_a = { STR("zone"), STR("In"), { &a, 1 } };
static const struct match_expression more_than_3 = { STR("n"), STR("Gt"), { &three, 1 } };
static const struct match_expression negative = { STR("n"), STR("Gt"), { &minus_three, 1 } };
static const struct match_expression odd = { STR("n"), STR("Equals"), { &three, 1 } };
static const struct match_expression named_x = { STR("metadata.name"), STR("In"), { x_and_y, 1 } };
static const struct match_expression not_x = { STR("metadata.name"), STR("NotIn"), { x_and_y, 1 } };
static const struct match_expression two_names = { STR("metadata.name"), STR("In"), { x_and_y, 2 } };
static const struct match_expression no_names = { STR("metadata.name"), STR("In"), { x_and_y, 0 } };
static const struct match_expression any_name = { STR("metadata.name"), STR("Exists"), { NULL, 0 } };

static struct node_selector_term on(const struct match_expression *labels,
                                    const struct match_expression *fields)
{
    return (struct node_selector_term){ labels, fields, labels != NULL, fields != NULL };
}

static const struct label in_a[] = { { STR("n"), STR("4") }, { STR("zone"), STR("a") } };
static const struct node_identity node_x = { STR("x"), { in_a, 2 } };
static const struct node_identity node_y = { STR("y"), { in_a, 2 } };
static const struct node_identity nameless = { STR(""), { in_a, 2 } };
static const struct node_identity bare = { STR("x"), { NULL, 0 } };

TEST(terms_match_by_labels_and_fields)
{
    const struct {
        const char *name;
        struct node_selector_term term;
        const struct node_identity *node;
        bool match;
    } rows[] = {
        { "an empty term matches nothing", on(NULL, NULL), &node_x, false },
        { "label", on(&zone_a, NULL), &node_x, true },
        { "label missing", on(&zone_a, NULL), &bare, false },
        { "number", on(&more_than_3, NULL), &node_x, true },
        { "name", on(NULL, &named_x), &node_x, true },
        { "other name", on(NULL, &named_x), &node_y, false },
        { "excluded name", on(NULL, &not_x), &node_x, false },
        { "label and name", on(&zone_a, &not_x), &node_y, true },
        { "fields do not count without a name", on(&zone_a, &named_x), &nameless, true },
        { "broken", on(&zone_a, &two_names), &node_x, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        arena_init(&arena);
        struct node_selector selector = { &rows[i].term, 1 };
        struct node_matcher m = node_selector_compile(&arena, &selector, NULL);
        CHECK_INT(rows[i].name, node_matcher_matches(&m, rows[i].node), rows[i].match);
        arena_fini(&arena);
    }
}

TEST(errors_name_term_and_entry)
{
    const struct {
        struct node_selector_term term;
        const char *error;
    } rows[] = {
        { on(&odd, NULL), "p.nodeSelectorTerms[1].matchExpressions[0].operator: Unsupported value: "
                          "\"Equals\": supported values: \"In\", \"NotIn\", \"Exists\", \"DoesNotExist\", "
                          "\"Gt\", \"Lt\"" },
        { on(NULL, &any_name), "p.nodeSelectorTerms[1].matchFields[0].operator: Unsupported value: "
                               "\"Exists\": supported values: \"In\", \"NotIn\"" },
        { on(NULL, &two_names), "p.nodeSelectorTerms[1].matchFields[0].values: Invalid value: "
                                "[\"x\",\"y\"]: must have one element" },
        { on(NULL, &no_names), "p.nodeSelectorTerms[1].matchFields[0].values: Invalid value: []: must "
                               "have one element" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        arena_init(&arena);
        struct node_selector_term terms[] = { on(&zone_a, NULL), rows[i].term };
        struct node_selector selector = { terms, 2 };
        struct field_path at = field_child(NULL, "p");
        struct node_matcher m = node_selector_compile(&arena, &selector, &at);
        CHECK_STR("error", m.error, str_of(rows[i].error));
        CHECK(node_matcher_matches(&m, &node_x)); /* by the term that is not broken */
        arena_fini(&arena);
    }
}

TEST(a_number_must_also_be_a_label_value)
{
    arena_init(&arena);
    struct node_selector_term term = on(&negative, NULL);
    struct node_matcher m = node_selector_compile(&arena, &(struct node_selector){ &term, 1 }, NULL);
    CHECK(str_starts(m.error, STR("nodeSelectorTerms[0].matchExpressions[0].values[0][n]: Invalid value: "
                                  "\"-3\": a valid label must be")));
    arena_fini(&arena);
}

TEST(preferred_terms_add_their_weights)
{
    arena_init(&arena);
    const struct preferred_term terms[] = { { 5, on(&zone_a, NULL) },  { -2, on(&more_than_3, NULL) },
                                            { 7, on(NULL, &not_x) },   { 100, on(NULL, NULL) },
                                            { 0, on(&odd, NULL) } };
    struct node_matcher m = preferred_terms_compile(&arena, terms, 5, NULL);
    CHECK_STR("weight 0 is not even parsed", m.error, STR(""));
    CHECK_INT("x", node_matcher_score(&m, &node_x), 3);
    CHECK_INT("y", node_matcher_score(&m, &node_y), 10);
    CHECK_INT("bare", node_matcher_score(&m, &bare), 0);
    const struct preferred_term broken[] = { { 1, on(&zone_a, NULL) }, { 1, on(NULL, &two_names) } };
    m = preferred_terms_compile(&arena, broken, 2, NULL);
    CHECK_STR("error", m.error,
              STR("[1].matchFields[0].values: Invalid value: [\"x\",\"y\"]: must have one element"));
    arena_fini(&arena);
}

TEST(a_pod_requires_labels_and_affinity)
{
    static const struct label wanted[] = { { STR("zone"), STR("a") } };
    static const struct label other[] = { { STR("zone"), STR("b") } };
    const struct node_selector_term good = on(&more_than_3, NULL), bad = on(NULL, &two_names);
    const struct node_selector no_terms = { 0 }, fits = { &good, 1 }, broken = { &bad, 1 };
    const struct {
        const char *name;
        struct labels node_selector;
        const struct node_selector *affinity;
        bool match, error;
    } rows[] = {
        { "nothing", { 0 }, NULL, true, false },
        { "labels", { wanted, 1 }, NULL, true, false },
        { "other labels", { other, 1 }, NULL, false, false },
        { "affinity without terms", { 0 }, &no_terms, false, false },
        { "both", { wanted, 1 }, &fits, true, false },
        { "broken affinity", { wanted, 1 }, &broken, false, true },
        { "labels decide before a broken affinity", { other, 1 }, &broken, false, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        arena_init(&arena);
        struct required_affinity r =
            required_affinity_compile(&arena, rows[i].node_selector, rows[i].affinity);
        struct str error;
        CHECK_INT(rows[i].name, required_affinity_matches(&r, &node_x, &error), rows[i].match);
        CHECK_INT(rows[i].name, error.n > 0, rows[i].error);
        CHECK_INT(rows[i].name, required_affinity_matches(&r, &node_x, NULL), rows[i].match);
        arena_fini(&arena);
    }
}
