/* Strbuf: the maximum holds for every way of appending, to the byte. */
#include "base/strbuf.h"

#include "tests/test.h"

TEST(every_way_of_appending_stops_at_the_maximum)
{
    for (size_t max = 0; max < 600; max++) {
        struct strbuf b;
        strbuf_init(&b, max);
        for (size_t i = 0; i < max; i++)
            i % 3 == 0   ? strbuf_add_char(&b, 'c')
            : i % 3 == 1 ? strbuf_printf(&b, "%d", 7)
                         : strbuf_add(&b, "a", 1);
        CHECK(b.n == max && !b.overflow);
        strbuf_printf(&b, "%s", "");
        CHECK(!b.overflow);
        CHECK_INT("terminated", strlen(strbuf_cstr(&b)), max);
        for (int way = 0; way < 3; way++) {
            b.overflow = false;
            way == 0   ? strbuf_add_char(&b, 'c')
            : way == 1 ? strbuf_printf(&b, "%d", 7)
                       : strbuf_add(&b, "a", 1);
            CHECK(b.n == max && b.overflow);
        }
        strbuf_fini(&b);
    }
}

TEST(one_large_piece_fills_it_exactly)
{
    static char bytes[1001];
    struct strbuf b;
    strbuf_init(&b, 1000);
    strbuf_add(&b, bytes, 1001);
    CHECK(b.overflow && b.n == 0);
    strbuf_reset(&b);
    strbuf_add(&b, bytes, 1000);
    CHECK(!b.overflow && b.n == 1000);
    strbuf_fini(&b);
}

TEST(long_texts_are_cut_where_they_are_shown)
{
    enum { MAX = STRBUF_SHOWN_BYTES_MAX };
    static char text[MAX + 8];
    memset(text, 'x', sizeof(text));
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_shown(&b, (struct str){ text, MAX });
    CHECK_INT("as it is", b.n, MAX);
    strbuf_reset(&b);
    strbuf_add_shown(&b, (struct str){ text, MAX + 1 });
    CHECK_STR("cut", str_from(strbuf_str(&b), MAX - 1), STR("x... (16385 bytes)"));
    memcpy(text + MAX - 1, "\xC3\xA4", 2); /* one character over the edge */
    strbuf_reset(&b);
    strbuf_add_quoted_shown(&b, (struct str){ text, MAX + 1 });
    CHECK_STR("not within a character", str_from(strbuf_str(&b), MAX - 1), STR("x\"... (16385 bytes)"));
    strbuf_fini(&b);
}

TEST(precisions_of_huge_texts_fit_an_int)
{
    CHECK_INT("short", str_precision(7), 7);
    CHECK_INT("2 GiB", str_precision((size_t)1 << 31), INT32_MAX);
    CHECK_INT("5 GiB", str_precision((size_t)5 << 30), INT32_MAX);
}
