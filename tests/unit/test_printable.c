/* Text from outside: what is escaped, what stays, that JSON stays the same document, and widths on a terminal. */
#include "base/printable.h"

#include "base/utf8.h"
#include "tests/test.h"

static const struct {
    const char *what, *text, *shown;
} rows[] = {
    { "a name", "shop/cart-1", "shop/cart-1" },
    { "nothing", "", "" },
    { "letters of any script", "\xc3\xa9\xe6\x97\xa5\xd7\xa9 \xf0\x9f\x9a\xa2", "\xc3\xa9\xe6\x97\xa5\xd7\xa9 \xf0\x9f\x9a\xa2" },
    { "a backslash stays", "a\\nb", "a\\nb" },
    { "escape sequence", "a\x1b[31mb", "a\\x1b[31mb" },
    { "line ends", "a\nb\r\nc\td", "a\\nb\\r\\nc\\td" },
    { "bell, backspace and delete", "\a\b\x7f", "\\x07\\x08\\x7f" },
    { "one-byte CSI, which is no UTF-8", "a\x9b" "31m", "a\\x9b31m" },
    { "the same as a character", "a\xc2\x9b" "31m", "a\\u009b31m" },
    { "override of direction", "a\xe2\x80\xae" "b", "a\\u202eb" },
    { "isolates", "\xe2\x81\xa6x\xe2\x81\xa9", "\\u2066x\\u2069" },
    { "zero width", "a\xe2\x80\x8b\xe2\x80\x8d\xef\xbb\xbf" "b", "a\\u200b\\u200d\\ufeffb" },
    { "line and paragraph separator", "\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029" },
    { "letters that nobody sees", "a\xe3\x85\xa4\xe2\xa0\x80", "a\\u3164\\u2800" },
    { "tags", "a\xf3\xa0\x80\x81", "a\\U000e0001" },
    { "cut off in a character", "a\xe6\x97", "a\\xe6\\x97" },
    { "overlong", "\xc0\x9b", "\\xc0\\x9b" },
};

TEST(what_a_terminal_obeys_or_hides_is_escaped)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *shown = printable_text(&a, rows[i].text);
        CHECK_TEXT(rows[i].what, shown, rows[i].shown);
        CHECK(printable_text(&a, shown) == shown);
        if (strcmp(rows[i].text, rows[i].shown) == 0)
            CHECK(shown == rows[i].text);
    }
    arena_fini(&a);
}

/* Every character, on its own: what is printed is printable, and only what is hidden is escaped. */
TEST(all_characters)
{
    struct strbuf once, twice;
    strbuf_init(&once, STRBUF_NO_MAX);
    strbuf_init(&twice, STRBUF_NO_MAX);
    for (uint32_t rune = 0; rune < 0x110000; rune++) {
        char bytes[4];
        struct str text = { bytes, utf8_encode(rune, bytes) };
        strbuf_reset(&once);
        strbuf_reset(&twice);
        printable_add(&once, text);
        printable_add(&twice, strbuf_str(&once));
        CHECK(str_eq(strbuf_str(&once), strbuf_str(&twice)));
        CHECK(str_eq(strbuf_str(&once), text) == (printable_rune(rune) || (rune >= 0xD800 && rune <= 0xDFFF)));
    }
    strbuf_fini(&once);
    strbuf_fini(&twice);
}

TEST(lines_stay_lines)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    printable_add_lines(&b, STR("one\n\ttwo\x1b\n"));
    CHECK_TEXT("lines", strbuf_cstr(&b), "one\n\\ttwo\\x1b\n");
    strbuf_fini(&b);
}

TEST(formats_keep_the_line_ends_around_them)
{
    static const struct {
        const char *format, *value, *shown;
    } cases[] = {
        { "\n  %s is here\n\n", "a\nb", "\n  a\\nb is here\n\n" },
        { "%s", "\nx\n", "\\nx\\n" },
        { "%s\n", "\n", "\\n\n" },
        { "\n%s", "\n", "\n\\n" },
        { "\n\n%.0s", "", "\n\n" },
    };
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        strbuf_reset(&b);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        printable_printf(&b, cases[i].format, cases[i].value);
#pragma GCC diagnostic pop
        CHECK_TEXT(cases[i].format, strbuf_cstr(&b), cases[i].shown);
    }
    strbuf_fini(&b);
}

TEST(json_keeps_its_meaning)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    printable_add_json(&b, STR("{\"a\\n\":\"\x7f\xc2\x9b\xe2\x80\xae\xf3\xa0\x80\x81\xc3\xa9\xff\",\n\"b\":[]}\n"));
    CHECK_TEXT("json", strbuf_cstr(&b),
               "{\"a\\n\":\"\\u007f\\u009b\\u202e\\udb40\\udc01\xc3\xa9\\ufffd\",\n\"b\":[]}\n");
    strbuf_fini(&b);
}

TEST(widths)
{
    static const struct {
        const char *what, *text;
        size_t width;
    } widths[] = {
        { "nothing", "", 0 },
        { "ASCII", "node-1", 6 },
        { "a letter of two bytes", "n\xc3\xb6" "de", 4 },
        { "wide characters", "\xe6\x97\xa5\xe6\x9c\xac-1", 6 },
        { "an emoji", "\xf0\x9f\x9a\xa2", 2 },
        { "a combining mark", "e\xcc\x81", 1 },
    };
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
        CHECK_INT(widths[i].what, printable_width(str_of(widths[i].text)), widths[i].width);
}
