/* Label selectors: from text and from objects, matching, canonical text, errors, hostile sizes. */
#include "api/label_selector.h"
#include "api/selector_parse.h"
#include "tests/test.h"

static struct arena arena;
static struct err e;

static void begin(void)
{
    arena_init(&arena);
    err_init(&e, &arena);
}

TEST(texts_parse_to_their_canonical_form)
{
    static const struct {
        const char *name, *text, *out, *error;
    } rows[] = {
        { "nothing", " \t\r\n", "", NULL },
        { "all forms", "a=b,c in (d,e),!f,g notin (h),i!=j,k>1,l<2,m==n,o",
          "a=b,c in (d,e),!f,g notin (h),i!=j,k>1,l<2,m==n,o", NULL },
        { "sorted by key, equal keys as they came", "b,a=2,a=1,!a", "a=2,a=1,!a,b", NULL },
        { "values are a set", "a in (c,b,c,b)", "a in (b,c)", NULL },
        { "no value is the empty value", "a=,b in (),c notin (,),d in (x,,y)",
          "a=,b in (),c notin (),d in (,x,y)", NULL },
        { "keywords may be keys and values", "in in (in,notin),notin", "in in (in,notin),notin", NULL },
        { "no spaces needed around symbols", "a in(b)", "a in (b)", NULL },
        { "comma at the end", "a,", NULL, "found '', expected: identifier after ','" },
        { "comma at the start", ",a", NULL, "found ',', expected: !, identifier, or 'end of string'" },
        { "two words", "a b", NULL,
          "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt" },
        { "operator without a key", "!=b", NULL,
          "found '!=', expected: !, identifier, or 'end of string'" },
        { "not without a key", "!", NULL, "unable to parse requirement: found '', expected: identifier" },
        { "not with a value", "!a=b", NULL, "found '=', expected: ',' or 'end of string'" },
        { "set without parentheses", "a in b", NULL,
          "unable to parse requirement: found 'b' expected: '('" },
        { "set that does not end", "a in (b", NULL,
          "unable to parse requirement: found '', expected: ',' or ')'" },
        { "set that ends after a comma", "a in (b,", NULL,
          "unable to parse requirement: found '', expected: ',', or identifier" },
        { "set of symbols", "a in (=", NULL,
          "unable to parse requirement: found '=', expected: ',', ')' or identifier" },
        { "three equals signs", "a===b", NULL,
          "unable to parse requirement: found '=', expected: identifier" },
        { "text behind a requirement", "a=b c", NULL, "found 'c', expected: ',' or 'end of string'" },
        { "no number", "a>b", NULL,
          "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the "
          "value must be an integer" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin();
        struct selector s = { 0 };
        enum err_code rc = selector_parse(&arena, WORK_OWN, str_of(rows[i].text), &s, &e);
        if (rows[i].error) {
            CHECK_INT(rows[i].name, rc, ERR_BAD_REQUEST);
            CHECK_TEXT(rows[i].name, e.message, rows[i].error);
        } else {
            CHECK_INT(rows[i].name, rc, ERR_OK);
            CHECK_STR(rows[i].name, selector_text(&arena, &s), str_of(rows[i].out));
        }
        arena_fini(&arena);
    }
}

TEST(a_nul_ends_the_text_but_not_behind_a_token)
{
    begin();
    struct selector s = { 0 };
    CHECK_INT("behind a comma", selector_parse(&arena, WORK_OWN, STR("a,\0b"), &s, &e), ERR_OK);
    CHECK_STR("behind a comma", selector_text(&arena, &s), STR("a,b"));
    CHECK_INT("behind a space", selector_parse(&arena, WORK_OWN, STR("a \0,b"), &s, &e), ERR_OK);
    CHECK_STR("behind a space", selector_text(&arena, &s), STR("a"));
    arena_fini(&arena);
}

static bool matches(const char *selector, struct labels labels)
{
    struct selector s = { 0 };
    CHECK_INT(selector, selector_parse(&arena, WORK_OWN, str_of(selector), &s, &e), ERR_OK);
    return selector_matches(&s, labels);
}

TEST(requirements_match_as_their_operator_says)
{
    static const struct label list[] = { { STR("app"), STR("web") }, { STR("empty"), STR("") },
                                         { STR("n"), STR("+7") }, { STR("x"), STR("1x") } };
    static const struct {
        const char *selector;
        bool match;
    } rows[] = {
        { "", true },           { "app=web", true },          { "app==db", false },
        { "app!=web", false },  { "app!=db", true },          { "none!=db", true },
        { "none=db", false },   { "app in (a,web,z)", true }, { "app in (a,b,x,y,z)", false },
        { "none in (a)", false }, { "app notin (web)", false }, { "none notin (web)", true },
        { "app", true },        { "none", false },            { "!app", false },
        { "!none", true },      { "n>6", true },              { "n>7", false },
        { "n<8", true },        { "n<7", false },             { "x>0", false },
        { "none<1", false },    { "empty=", true },           { "none=", false },
        { "empty>0", false },   { "app=web,n>6", true },      { "app=web,n>7", false },
    };
    begin();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_INT(rows[i].selector, matches(rows[i].selector, (struct labels){ list, 4 }),
                  rows[i].match);
    arena_fini(&arena);
}

TEST(an_exact_value_is_known_without_looking_at_objects)
{
    begin();
    struct selector s = { 0 };
    CHECK_INT("parse", selector_parse(&arena, WORK_OWN, STR("a=1,b in (2),c in (3,4),d!=5,!e"), &s, &e), ERR_OK);
    CHECK_STR("equals", *selector_exact(&s, STR("a")), STR("1"));
    CHECK_STR("in", *selector_exact(&s, STR("b")), STR("2"));
    CHECK(!selector_exact(&s, STR("c")));
    CHECK(!selector_exact(&s, STR("d")));
    CHECK(!selector_exact(&s, STR("e")));
    CHECK(!selector_exact(&s, STR("f")));
    arena_fini(&arena);
}

TEST(an_absent_object_matches_nothing_and_an_empty_one_everything)
{
    begin();
    struct selector s = { 0 };
    CHECK_INT("absent", label_selector_compile(&arena, WORK_OWN, NULL, &s, &e), ERR_OK);
    CHECK(!selector_matches(&s, (struct labels){ 0 }));
    CHECK(!selector_empty(&s));
    struct label_selector empty = { 0 };
    CHECK_INT("empty", label_selector_compile(&arena, WORK_OWN, &empty, &s, &e), ERR_OK);
    CHECK(selector_matches(&s, (struct labels){ 0 }));
    CHECK(selector_empty(&s));
    CHECK_STR("format", label_selector_format(&arena, WORK_OWN, NULL), STR("<none>"));
    arena_fini(&arena);
}

TEST(an_object_keeps_its_values_but_prints_them_sorted)
{
    begin();
    const struct str values[] = { STR("b"), STR("a"), STR("b") };
    const struct match_expression expression = { STR("k"), STR("In"), { values, 3 } };
    const struct label label = { STR("k"), STR("v") };
    struct label_selector ls = { { &label, 1 }, &expression, 1 };
    struct selector s = { 0 };
    CHECK_INT("compile", label_selector_compile(&arena, WORK_OWN, &ls, &s, &e), ERR_OK);
    CHECK_STR("text", selector_text(&arena, &s), STR("k=v,k in (a,b,b)"));
    CHECK_STR("format", label_selector_format(&arena, WORK_OWN, &ls), STR("k=v,k in (a,b,b)"));
    CHECK_STR("first value", s.at[1].values.at[0], STR("b"));
    CHECK(requirement_matches(&s.at[1], (struct labels){ &(struct label){ STR("k"), STR("a") }, 1 }));
    arena_fini(&arena);
}

TEST(bad_objects_say_why)
{
    static const struct str value = STR("x y");
    static const struct {
        const char *name;
        struct match_expression expression;
        const char *error, *validation;
    } rows[] = {
        { "operator", { STR("k"), STR("Gt"), { 0 } },
          "\"Gt\" is not a valid label selector operator",
          "s.matchExpressions[0].operator: Invalid value: \"Gt\": not a valid selector operator" },
        { "no values", { STR("k"), STR("In"), { &value, 0 } },
          "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
          "s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or "
          "'NotIn'" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin();
        struct label_selector ls = { { 0 }, &rows[i].expression, 1 };
        struct selector s;
        CHECK_INT(rows[i].name, label_selector_compile(&arena, WORK_OWN, &ls, &s, &e), ERR_BAD_REQUEST);
        CHECK_TEXT(rows[i].name, e.message, rows[i].error);
        CHECK_STR(rows[i].name, label_selector_format(&arena, WORK_OWN, &ls), STR("<error>"));
        struct field_errors errs;
        field_errors_init(&errs, &arena);
        struct field_path at = field_child(NULL, "s");
        label_selector_validate(&ls, (struct label_selector_rules){ 0 }, &at, &errs);
        CHECK_STR(rows[i].name, field_errors_text(&arena, &errs), str_of(rows[i].validation));
        arena_fini(&arena);
    }
}

TEST(validation_can_be_told_to_forgive)
{
    begin();
    const struct str value = STR("x y");
    const struct match_expression expressions[] = { { STR("k"), STR("In"), { &value, 1 } },
                                                    { STR("k"), STR("Odd"), { 0 } } };
    struct label_selector ls = { { 0 }, expressions, 2 };
    struct field_errors errs;
    field_errors_init(&errs, &arena);
    label_selector_validate(&ls, (struct label_selector_rules){ true, true }, NULL, &errs);
    CHECK_INT("forgiven", errs.n, 0);
    label_selector_validate(&ls, (struct label_selector_rules){ 0 }, NULL, &errs);
    CHECK_INT("not forgiven", errs.n, 2);
    arena_fini(&arena);
}

/* `head`, then `n` times `part`, then `tail`. */
static struct str repeated(const char *head, const char *part, size_t n, const char *tail)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_add_text(&text, head);
    for (size_t i = 0; i < n; i++)
        strbuf_printf(&text, part, (int)((i * 7919) % n));
    strbuf_add_text(&text, tail);
    return field_take_text(&arena, &text);
}

TEST(large_texts_take_no_more_than_they_should)
{
    static const struct {
        const char *name, *head, *part, *tail;
        enum err_code rc;
    } rows[] = {
        { "requirements", "z", ",k%d", "", ERR_OK },
        { "values", "a in (x", ",v%d", ")", ERR_OK },
        { "the same value", "a in (x", ",x", ")", ERR_OK },
        { "commas", "a in (", ",", ")", ERR_OK },
        { "bad values", "a in (@", ",@%d", ")", ERR_BAD_REQUEST },
        { "one long word", "", "@%d", "", ERR_BAD_REQUEST },
        { "spaces", "", " ", "", ERR_OK },
        { "exclamation marks", "", "!", "", ERR_BAD_REQUEST },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin();
        struct str text = repeated(rows[i].head, rows[i].part, 200000, rows[i].tail);
        struct selector s = { 0 };
        CHECK_INT(rows[i].name, selector_parse(&arena, WORK_OWN, text, &s, &e), rows[i].rc);
        CHECK(arena.n_bytes < 200u << 20);
        arena_fini(&arena);
    }
}
