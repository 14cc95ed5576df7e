/* Field selectors: splitting, escapes, canonical text, matching. */
#include "api/field_selector.h"
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
        { "nothing", "", "", NULL },
        { "commas only", ",,", "", NULL },
        { "both equals signs", "b==1,a=2", "a=2,b=1", NULL },
        { "not equal", "a!=1", "a!=1", NULL },
        { "escapes", "a=x\\,y\\=z\\\\", "a=x\\,y\\=z\\\\", NULL },
        { "no field", "=b", "=b", NULL },
        { "no field and no value restricts nothing", "=,a=b,!=", "a=b", NULL },
        { "empty value", "a!=", "a!=", NULL },
        { "backslash before the operator belongs to the field", "a\\=b", "a\\=b", NULL },
        { "exclamation mark in the field", "a!!=b", "a!!=b", NULL },
        { "no operator", "a=1,x", NULL, "invalid selector: 'a=1,x'; can't understand 'x'" },
        { "equals sign in the value", "a=b=c", NULL,
          "invalid field selector: unescaped character in value: 61" },
        { "three equals signs", "a===b", NULL, "invalid field selector: unescaped character in value: 61" },
        { "unknown escape", "a=\\n", NULL, "invalid field selector: invalid escape sequence: \\n" },
        { "unknown escape of a letter", "a=\\\u00e9", NULL,
          "invalid field selector: invalid escape sequence: \\\u00e9" },
        { "backslash at the end", "a=b\\", NULL, "invalid field selector: invalid escape sequence: \\" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin();
        struct field_selector s = { 0 };
        enum err_code rc = field_selector_parse(&arena, WORK_OWN, str_of(rows[i].text), &s, &e);
        if (rows[i].error) {
            CHECK_INT(rows[i].name, rc, ERR_BAD_REQUEST);
            CHECK_TEXT(rows[i].name, e.message, rows[i].error);
        } else {
            CHECK_INT(rows[i].name, rc, ERR_OK);
            CHECK_STR(rows[i].name, field_selector_text(&arena, &s), str_of(rows[i].out));
        }
        arena_fini(&arena);
    }
}

TEST(bytes_that_are_not_utf8_are_replaced_only_beside_escapes)
{
    begin();
    struct field_selector s = { 0 };
    CHECK_INT("plain", field_selector_parse(&arena, WORK_OWN, STR("a=\xff"), &s, &e), ERR_OK);
    CHECK_STR("plain", s.at[0].value, STR("\xff"));
    CHECK_INT("escape", field_selector_parse(&arena, WORK_OWN, STR("a=\xff\\,\xe2\x82"), &s, &e), ERR_OK);
    CHECK_STR("escape", s.at[0].value, STR("\uFFFD,\uFFFD\uFFFD"));
    arena_fini(&arena);
}

TEST(fields_that_are_missing_count_as_empty)
{
    static const struct label list[] = { { STR("metadata.name"), STR("p") },
                                         { STR("spec.nodeName"), STR("") } };
    static const struct {
        const char *selector;
        bool match;
    } rows[] = {
        { "", true },
        { "metadata.name=p", true },
        { "metadata.name!=p", false },
        { "spec.nodeName=", true },
        { "none=", true },
        { "none!=", false },
        { "none!=x", true },
        { "metadata.name=p,none=x", false },
    };
    begin();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct field_selector s = { 0 };
        CHECK_INT("parse", field_selector_parse(&arena, WORK_OWN, str_of(rows[i].selector), &s, &e), ERR_OK);
        CHECK_INT(rows[i].selector, field_selector_matches(&s, (struct labels){ list, 2 }),
                  rows[i].match);
    }
    arena_fini(&arena);
}

TEST(an_exact_value_is_known_without_looking_at_objects)
{
    begin();
    struct field_selector s = { 0 };
    CHECK_INT("parse", field_selector_parse(&arena, WORK_OWN, STR("a=1,b!=2"), &s, &e), ERR_OK);
    CHECK_STR("equals", *field_selector_exact(&s, STR("a")), STR("1"));
    CHECK(!field_selector_exact(&s, STR("b")));
    CHECK(!field_selector_exact(&s, STR("c")));
    arena_fini(&arena);
}
