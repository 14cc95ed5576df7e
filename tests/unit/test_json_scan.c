/* The JSON scanner: tokens, unescaping, skipping, compacting. */
#include "base/strbuf.h"
#include "codec/json_scan.h"
#include "tests/test.h"

TEST(strings_read_as_upstream_reads_them)
{
    static const struct {
        const char *what, *token, *text; /* text NULL: refused */
        bool plain;
    } rows[] = {
        { "nothing", "\"\"", "", true },
        { "plain", "\"spec\"", "spec", true },
        { "longer than a word", "\"terminationGracePeriodSeconds\"", "terminationGracePeriodSeconds", true },
        { "all short escapes", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", false },
        { "escaped letters", "\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac", false },
        { "a pair of surrogates", "\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80", false },
        { "a high surrogate alone", "\"\\ud83dx\"", "\xef\xbf\xbdx", false },
        { "a low surrogate alone", "\"\\ude00\"", "\xef\xbf\xbd", false },
        { "two high surrogates", "\"\\ud83d\\ud83d\"", "\xef\xbf\xbd\xef\xbf\xbd", false },
        { "a high surrogate before an escape", "\"\\ud83d\\n\"", "\xef\xbf\xbd\n", false },
        { "UTF-8", "\"gr\xc3\xbc\xc3\x9f\x65\"", "gr\xc3\xbc\xc3\x9f\x65", false },
        { "bytes that are not UTF-8", "\"a\xff\xc3\"", "a\xef\xbf\xbd\xef\xbf\xbd", false },
        { "DEL", "\"\x7f\"", "\x7f", true },
        { "a control character", "\"a\x1f\"", NULL, false },
        { "a control character behind a word", "\"abcdefgh\n\"", NULL, false },
        { "no end", "\"abcdefghijkl", NULL, false },
        { "an escape at the end", "\"a\\", NULL, false },
        { "an unknown escape", "\"\\a\"", NULL, false },
        { "a short unicode escape", "\"\\u12\"", NULL, false },
        { "not a string", "spec", NULL, false },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct json_scan s = json_scan_init(str_of(rows[i].token));
        struct json_text text;
        CHECK_INT(rows[i].what, json_scan_string(&s, &text), rows[i].text != NULL);
        if (!rows[i].text)
            continue;
        CHECK(json_at_end(&s));
        CHECK_INT(rows[i].what, text.plain, rows[i].plain);
        CHECK_STR(rows[i].what, json_unescape(&a, text), str_of(rows[i].text));
    }
    arena_fini(&a);
}

TEST(numbers_end_where_json_ends_them)
{
    static const struct {
        const char *text, *number; /* NULL: refused */
    } rows[] = {
        { "0", "0" },        { "-0", "-0" },     { "12,", "12" },       { "1.50]", "1.50" },
        { "-1e9}", "-1e9" }, { "2E-3", "2E-3" }, { "1e+10 ", "1e+10" }, { "01", "0" },
        { "-", NULL },       { "+1", NULL },     { ".5", NULL },        { "1.", NULL },
        { "1e", NULL },      { "1e+", NULL },    { "", NULL },          { "x", NULL },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct json_scan s = json_scan_init(str_of(rows[i].text));
        struct str number;
        CHECK_INT(rows[i].text, json_scan_number(&s, &number), rows[i].number != NULL);
        if (rows[i].number)
            CHECK_STR(rows[i].text, number, str_of(rows[i].number));
    }
}

TEST(a_value_is_skipped_as_a_whole)
{
    static const char text[] = " {\"a\":[1,{\"b\":[]},\"]}\"],\"c\":{}} , 2";
    struct json_scan s = json_scan_init(str_of(text));
    struct str value;
    CHECK(json_scan_value(&s, &value));
    CHECK_STR("value", value, STR("{\"a\":[1,{\"b\":[]},\"]}\"],\"c\":{}}"));
    CHECK(json_take(&s, ','));
    CHECK_INT("depth is back", s.depth, 0);
    CHECK(json_skip_value(&s));
    CHECK(json_at_end(&s));
}

TEST(containers_are_walked_member_by_member)
{
    static const struct {
        const char *text;
        int n; /* -1: fault */
    } rows[] = {
        { "[]", 0 },    { "[ ]", 0 },    { "[1]", 1 }, { "[1 , 2]", 2 }, { "[1,]", -1 },
        { "[,1]", -1 }, { "[1 2]", -1 }, { "[1", -1 }, { "[", -1 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct json_scan s = json_scan_init(str_of(rows[i].text));
        bool first = true, fault, ok = json_enter(&s, '[');
        int n = 0;
        for (; ok && json_next(&s, ']', &first, &fault); n++)
            ok = json_skip_value(&s);
        CHECK_INT(rows[i].text, ok && !fault ? n : -1, rows[i].n);
    }
}

TEST(raw_json_is_compacted_as_it_is_written)
{
    static const struct {
        const char *what, *text, *stripped, *compact;
    } rows[] = {
        { "compact already", "{\"a\":[1,2]}", "{\"a\":[1,2]}", "{\"a\":[1,2]}" },
        { "white space", " { \"a b\" :\n[ 1 ,\t2 ] }\r", "{\"a b\":[1,2]}", "{\"a b\":[1,2]}" },
        { "white space in strings", "\" a \\\" b \"", "\" a \\\" b \"", "\" a \\\" b \"" },
        { "a quote behind a backslash", "[\"\\\\\", 1]", "[\"\\\\\",1]", "[\"\\\\\",1]" },
        { "HTML", "[\"<a&b>\"]", "[\"<a&b>\"]", "[\"\\u003ca\\u0026b\\u003e\"]" },
        { "HTML behind plain words", "\"abcdefghijklmn<\"", "\"abcdefghijklmn<\"",
          "\"abcdefghijklmn\\u003c\"" },
        { "line separators", "\"\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\"",
          "\"\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\"", "\"\\u2028\\u2029\xe2\x80\xaa\"" },
        { "escapes and numbers stay", "[1.0e+05,\"\\u0041\\/\"]", "[1.0e+05,\"\\u0041\\/\"]",
          "[1.0e+05,\"\\u0041\\/\"]" },
        { "bytes that are not UTF-8", "\"\xff \xe2\"", "\"\xff \xe2\"", "\"\xff \xe2\"" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct strbuf out;
        strbuf_init(&out, STRBUF_NO_MAX);
        json_compact(&out, str_of(rows[i].text));
        CHECK_STR(rows[i].what, strbuf_str(&out), str_of(rows[i].compact));
        CHECK_STR(rows[i].what, json_strip(&a, str_of(rows[i].text)), str_of(rows[i].stripped));
        strbuf_fini(&out);
    }
    arena_fini(&a);
}

/* Any number of blanks, followed by anything: what lies behind the end does not count. */
TEST(white_space_of_any_length_is_passed)
{
    char text[64];
    for (size_t n = 0; n < 40; n++)
        for (size_t rest = 0; rest < 20; rest++) {
            memset(text, ' ', sizeof(text));
            text[n / 2] = '\n';
            memset(text + n, 'x', rest);
            struct json_scan s = json_scan_init((struct str){ text, n + rest });
            json_skip_space(&s);
            CHECK_INT("token", s.at - text, n ? n : 0);
        }
}
