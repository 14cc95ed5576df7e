/* base64: the padding and line-break rules of Go's StdEncoding, and where its errors point. */
#include "base/base64.h"
#include "tests/test.h"

TEST(what_is_written_reads_back)
{
    static const char bytes[] = "\x00\xffhello, base64 \x80\x7f world";
    struct arena a;
    arena_init(&a);
    for (size_t n = 0; n < sizeof(bytes); n++) {
        struct strbuf text;
        strbuf_init(&text, STRBUF_NO_MAX);
        base64_add(&text, (struct str){ bytes, n });
        struct str back;
        size_t bad_at;
        CHECK_INT("length", text.n, (n + 2) / 3 * 4);
        CHECK(base64_decode(&a, strbuf_str(&text), &back, &bad_at));
        CHECK_STR("bytes", back, ((struct str){ bytes, n }));
        strbuf_fini(&text);
    }
    arena_fini(&a);
}

TEST(texts_are_read_as_leniently_as_upstream)
{
    static const struct {
        const char *what, *text, *bytes;
        int bad_at; /* -1: fine */
    } rows[] = {
        { "nothing", "", "", -1 },
        { "three bytes", "Zm9v", "foo", -1 },
        { "two bytes", "Zm8=", "fo", -1 },
        { "one byte", "Zg==", "f", -1 },
        { "nonzero bits behind the last byte", "Zh==", "f", -1 },
        { "line breaks between digits", "Zm\r\n9v\n", "foo", -1 },
        { "a line break between the padding", "Zg=\n=\n", "f", -1 },
        { "no padding", "Zg", "", 0 },
        { "half of the padding", "Zg=", "", 3 },
        { "three digits", "Zm9vZm8", "", 4 },
        { "a digit of another alphabet", "Zm9_", "", 3 },
        { "a blank", "Zm 9v", "", 2 },
        { "padding first", "=", "", 0 },
        { "padding after one digit", "Z===", "", 1 },
        { "a digit within the padding", "Zg=a", "", 2 },
        { "text behind the padding", "Zg==Zg==", "", 4 },
        { "a short group with a line break in it", "Zm9v\nZg", "", 5 },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct str bytes = { NULL, 0 };
        size_t bad_at = 99;
        bool ok = base64_decode(&a, str_of(rows[i].text), &bytes, &bad_at);
        CHECK_INT(rows[i].what, ok, rows[i].bad_at < 0);
        if (ok)
            CHECK_STR(rows[i].what, bytes, str_of(rows[i].bytes));
        else
            CHECK_INT(rows[i].what, bad_at, rows[i].bad_at);
    }
    arena_fini(&a);
}
