/* Node selectors: what is wrong with them, term by term. How they match: recorded outcomes, by the typed forms. */
#include "api/node_selector.h"
#include "tests/test.h"

static struct arena arena;

static const struct str a = STR("a"), three = STR("3"), minus_three = STR("-3");
static const struct str x_and_y[] = { STR("x"), STR("y") };

static const struct match_expression zone_a = { STR("zone"), STR("In"), { &a, 1 } };
static const struct match_expression negative = { STR("n"), STR("Gt"), { &minus_three, 1 } };
static const struct match_expression odd = { STR("n"), STR("Equals"), { &three, 1 } };
static const struct match_expression two_names = { STR("metadata.name"), STR("In"), { x_and_y, 2 } };
static const struct match_expression no_names = { STR("metadata.name"), STR("In"), { x_and_y, 0 } };
static const struct match_expression any_name = { STR("metadata.name"), STR("Exists"), { NULL, 0 } };

static struct node_selector_term on(const struct match_expression *labels,
                                    const struct match_expression *fields)
{
    return (struct node_selector_term){ labels, fields, labels != NULL, fields != NULL };
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
        struct node_matcher m = node_selector_compile(&arena, WORK_OWN, &selector, &at);
        CHECK_STR("error", m.error, str_of(rows[i].error));
        CHECK(!m.at[0].broken);
        CHECK(m.at[1].broken);
        arena_fini(&arena);
    }
}

TEST(a_number_must_also_be_a_label_value)
{
    arena_init(&arena);
    struct node_selector_term term = on(&negative, NULL);
    struct node_matcher m = node_selector_compile(&arena, WORK_OWN, &(struct node_selector){ &term, 1 }, NULL);
    CHECK(str_starts(m.error, STR("nodeSelectorTerms[0].matchExpressions[0].values[0][n]: Invalid value: "
                                  "\"-3\": a valid label must be")));
    arena_fini(&arena);
}

TEST(terms_without_weight_are_left_out)
{
    arena_init(&arena);
    const struct preferred_term terms[] = { { 5, on(&zone_a, NULL) }, { 100, on(NULL, NULL) }, { 0, on(&odd, NULL) } };
    struct node_matcher m = preferred_terms_compile(&arena, WORK_OWN, terms, 3, NULL);
    CHECK_STR("weight 0 is not even parsed", m.error, STR(""));
    CHECK_INT("terms", m.n, 1);
    const struct preferred_term broken[] = { { 1, on(&zone_a, NULL) }, { 1, on(NULL, &two_names) } };
    m = preferred_terms_compile(&arena, WORK_OWN, broken, 2, NULL);
    CHECK_STR("error", m.error,
              STR("[1].matchFields[0].values: Invalid value: [\"x\",\"y\"]: must have one element"));
    arena_fini(&arena);
}
