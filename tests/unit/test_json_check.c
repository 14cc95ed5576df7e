/* json_check: the wording of Go's encoding/json for the first fault, and agreement with the scanner. */
#include "base/strbuf.h"
#include "codec/json_scan.h"
#include "tests/test.h"

static const char *fault(struct arena *a, struct str text)
{
    struct err e;
    err_init(&e, a);
    return json_check(text, &e) ? e.message : "";
}

TEST(faults_are_worded_as_upstream)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "{}", "" },
        { " [1, -0.5e+3, \"a\\u00e9\\n\", true, false, null] ", "" },
        { "", "unexpected end of JSON input" },
        { " ", "unexpected end of JSON input" },
        { "{", "unexpected end of JSON input" },
        { "{\"a\"", "unexpected end of JSON input" },
        { "{\"a\":1", "unexpected end of JSON input" },
        { "[1,", "unexpected end of JSON input" },
        { "\"a", "unexpected end of JSON input" },
        { "\"\\", "invalid character ' ' in string escape code" },
        { "\"\\u1", "invalid character ' ' in \\u hexadecimal character escape" },
        { "\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape" },
        { "\"\\x\"", "invalid character 'x' in string escape code" },
        { "\"\n\"", "invalid character '\\n' in string literal" },
        { "tru", "invalid character ' ' in literal true (expecting 'e')" },
        { "fulse", "invalid character 'u' in literal false (expecting 'a')" },
        { "nil", "invalid character 'i' in literal null (expecting 'u')" },
        { "-", "invalid character ' ' in numeric literal" },
        { "-a", "invalid character 'a' in numeric literal" },
        { "1.", "invalid character ' ' after decimal point in numeric literal" },
        { "[1.a]", "invalid character 'a' after decimal point in numeric literal" },
        { "[1e]", "invalid character ']' in exponent of numeric literal" },
        { "[1e+]", "invalid character ']' in exponent of numeric literal" },
        { "[01]", "invalid character '1' after array element" },
        { "{\"a\":01}", "invalid character '1' after object key:value pair" },
        { "[1 2]", "invalid character '2' after array element" },
        { "[1,]", "invalid character ']' looking for beginning of value" },
        { "{\"a\":}", "invalid character '}' looking for beginning of value" },
        { "{,}", "invalid character ',' looking for beginning of object key string" },
        { "{\"a\":1,}", "invalid character '}' looking for beginning of object key string" },
        { "{\"a\" 1}", "invalid character '1' after object key" },
        { "{} {", "invalid character '{' after top-level value" },
        { "1 x", "invalid character 'x' after top-level value" },
        { "'", "invalid character '\\'' looking for beginning of value" },
        { "[\"a\"\"", "invalid character '\"' after array element" },
        { "\\", "invalid character '\\\\' looking for beginning of value" },
        { "\x7f", "invalid character '\\x7f' looking for beginning of value" },
        { "\x80", "invalid character '\\u0080' looking for beginning of value" },
        { "\xc3\xa9", "invalid character '\xc3\x83' looking for beginning of value" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_TEXT(rows[i].text, fault(&a, str_of(rows[i].text)), rows[i].want);
    CHECK_TEXT("a NUL byte", fault(&a, STR("{}\0")), "invalid character '\\x00' after top-level value");
    CHECK_TEXT("no text at all", fault(&a, (struct str){ NULL, 0 }), "unexpected end of JSON input");
    arena_fini(&a);
}

/* `open` as often as said, then the closing byte of each. */
static void nest(struct strbuf *b, unsigned depth, const char *open, char close)
{
    for (unsigned i = 0; i < depth; i++)
        strbuf_add_text(b, open);
    if (close == '}')
        strbuf_add_char(b, '1');
    for (unsigned i = 0; i < depth; i++)
        strbuf_add_char(b, close);
}

TEST(nesting_ends_at_ten_thousand)
{
    static const struct {
        const char *open;
        char close;
        unsigned depth;
        const char *want;
    } rows[] = {
        { "[", ']', JSON_DEPTH_MAX, "" },
        { "[", ']', JSON_DEPTH_MAX + 1, "invalid character '[' exceeded max depth" },
        { "{\"a\":", '}', JSON_DEPTH_MAX, "" },
        { "{\"a\":", '}', JSON_DEPTH_MAX + 1, "invalid character '{' exceeded max depth" },
        { "[[],{\"a\":", '?', 2, "unexpected end of JSON input" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct strbuf text;
        strbuf_init(&text, STRBUF_NO_MAX);
        if (rows[i].close == '?')
            strbuf_add_text(&text, rows[i].open);
        else
            nest(&text, rows[i].depth, rows[i].open, rows[i].close);
        CHECK_TEXT(rows[i].open, fault(&a, strbuf_str(&text)), rows[i].want);
        struct json_scan s = json_scan_init(strbuf_str(&text));
        CHECK_INT(rows[i].open, json_skip_value(&s), rows[i].want[0] == '\0');
        strbuf_fini(&text);
    }
    arena_fini(&a);
}

/* Every prefix and every change of one byte: the scanner takes a text exactly when the checker does. */
TEST(scanner_and_checker_agree)
{
    static const char text[] = "{\"a\\u0041\":[1,-2.5e3,{\"b\":null},[true,false]],\"c\":\"x\\n\"}";
    static const char bytes[] = "{}[],:\"\\u0-1.eEtfn x\x01\x80";
    struct arena a;
    arena_init(&a);
    for (size_t n = 0; n < sizeof(text); n++)
        for (size_t k = 0; k < sizeof(bytes); k++) {
            char changed[sizeof(text)];
            memcpy(changed, text, sizeof(text));
            if (n < sizeof(text) - 1)
                changed[n] = bytes[k];
            struct str whole = { changed, sizeof(text) - 1 }, prefix = { text, n };
            struct json_scan s = json_scan_init(whole);
            CHECK_INT(changed, json_skip_value(&s) && json_at_end(&s), !*fault(&a, whole));
            s = json_scan_init(prefix);
            CHECK_INT("prefix", json_skip_value(&s) && json_at_end(&s), !*fault(&a, prefix));
        }
    arena_fini(&a);
}
