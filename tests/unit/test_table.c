/* Tables on terminals of several widths: columns line up, nothing is cut, what does not fit moves or is left out. */
#include "base/table.h"

#include "base/printable.h"
#include "tests/test.h"

static const struct table_column columns[] = {
    { .heading = "NODE" },
    { .heading = "ZONE", .leave_out = 2 },
    { .heading = "CPU", .right = true, .leave_out = 1 },
    { .heading = "PODS" },
};

static void add(struct table *t, const char *name, const char *zone, int cpu, const char *pods)
{
    table_row(t);
    table_cell(t, "%s", name);
    table_cell(t, "%s", zone);
    table_cell(t, "%d", cpu);
    table_cell(t, "%s", pods);
}

static const struct {
    const char *what;
    unsigned width;
    const char *text;
} widths[] = {
    { "no bound", 0,
      "  NODE                         ZONE        CPU  PODS\n"
      "  ip-10-0-1-2.compute.example  eu-west-1a    4  1 -> 2 of 110\n"
      "  n                            eu-west-1b  128  0 -> 1 of 110\n"
      "  zone eu-west-1a                            4  1 -> 2 of 110\n" },
    { "wide enough", 63,
      "  NODE                         ZONE        CPU  PODS\n"
      "  ip-10-0-1-2.compute.example  eu-west-1a    4  1 -> 2 of 110\n"
      "  n                            eu-west-1b  128  0 -> 1 of 110\n"
      "  zone eu-west-1a                            4  1 -> 2 of 110\n" },
    { "long names on lines of their own", 50,
      "  NODE              ZONE        CPU  PODS\n"
      "  ip-10-0-1-2.compute.example\n"
      "                    eu-west-1a    4  1 -> 2 of 110\n"
      "  n                 eu-west-1b  128  0 -> 1 of 110\n"
      "  zone eu-west-1a                 4  1 -> 2 of 110\n" },
    { "over what is empty", 44,
      "  NODE        ZONE        CPU  PODS\n"
      "  ip-10-0-1-2.compute.example\n"
      "              eu-west-1a    4  1 -> 2 of 110\n"
      "  n           eu-west-1b  128  0 -> 1 of 110\n"
      "  zone eu-west-1a           4  1 -> 2 of 110\n" },
    { "a column is left out", 40,
      "  NODE                CPU  PODS\n"
      "  ip-10-0-1-2.compute.example\n"
      "                        4  1 -> 2 of 110\n"
      "  n                   128  0 -> 1 of 110\n"
      "  zone eu-west-1a       4  1 -> 2 of 110\n" },
    { "and another one", 28,
      "  NODE         PODS\n"
      "  ip-10-0-1-2.compute.example\n"
      "               1 -> 2 of 110\n"
      "  n            0 -> 1 of 110\n"
      "  zone eu-west-1a\n"
      "               1 -> 2 of 110\n" },
};

TEST(columns_line_up_at_any_width)
{
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        struct table t;
        struct strbuf b;
        strbuf_init(&b, STRBUF_NO_MAX);
        table_init(&t, columns, 4);
        add(&t, "ip-10-0-1-2.compute.example", "eu-west-1a", 4, "1 -> 2 of 110");
        add(&t, "n", "eu-west-1b", 128, "0 -> 1 of 110");
        add(&t, "zone eu-west-1a", "", 4, "1 -> 2 of 110");
        table_write(&t, &b, widths[i].width);
        CHECK_TEXT(widths[i].what, strbuf_cstr(&b), widths[i].text);
        table_fini(&t);
        strbuf_fini(&b);
    }
}

TEST(a_column_without_a_cell_is_left_out)
{
    struct table t;
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    table_init(&t, columns, 4);
    add(&t, "n", "", 4, "");
    table_write(&t, &b, 0);
    CHECK_TEXT("table", strbuf_cstr(&b), "  NODE  CPU  PODS\n  n       4\n");
    table_fini(&t);
    strbuf_fini(&b);
}

TEST(what_is_wide_on_a_terminal_counts_as_wide)
{
    struct table t;
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    table_init(&t, columns, 4);
    add(&t, "\xe6\x97\xa5\xe6\x9c\xac", "e\xcc\x81", 1, "x");
    add(&t, "four", "\x1b[2J", 2, "a\nb");
    table_write(&t, &b, 0);
    CHECK_TEXT("table", strbuf_cstr(&b),
               "  NODE  ZONE     CPU  PODS\n"
               "  \xe6\x97\xa5\xe6\x9c\xac  e\xcc\x81          1  x\n"
               "  four  \\x1b[2J    2  a\\nb\n");
    table_fini(&t);
    strbuf_fini(&b);
}

TEST(the_last_column_is_wrapped_between_words)
{
    static const struct table_column list[] = { { .heading = NULL }, { .right = true }, { .wraps = true } };
    struct table t;
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    table_init(&t, list, 3);
    table_row(&t);
    table_cell(&t, "Deployment shop/web");
    table_cell(&t, "%d", 12);
    table_cell(&t, "node-1 (2), node-2 (4), node-3, node-4, node-5, node-6 and 2 more nodes");
    table_note(&t, "because of this and that and of many other things that happened");
    table_line(&t, "... and 3 more");
    table_write(&t, &b, 50);
    CHECK_TEXT("bound", strbuf_cstr(&b),
               "  Deployment shop/web\n"
               "                      12  node-1 (2), node-2 (4),\n"
               "                          node-3, node-4, node-5,\n"
               "                          node-6 and 2 more nodes\n"
               "      because of this and that and of many other\n"
               "      things that happened\n"
               "  ... and 3 more\n");
    table_fini(&t);
    strbuf_fini(&b);
}

/* However narrow: every word of every cell that is shown is there whole, and lines end where the terminal does unless
 * a word is longer. */
TEST(nothing_is_cut)
{
    static const char *const words[] = { "ip-10-0-1-2.compute.example", "a", "node-1,", "aks-nodepool1-12345678-vmss000000" };
    static const struct table_column list[] = { { .heading = "NAME" }, { .heading = "N" }, { .heading = "LIST", .wraps = true } };
    for (unsigned width = 1; width < 120; width++) {
        struct table t;
        struct strbuf b, folded;
        strbuf_init(&b, STRBUF_NO_MAX);
        strbuf_init(&folded, STRBUF_NO_MAX);
        table_init(&t, list, 3);
        for (int i = 0; i < 8; i++) {
            table_row(&t);
            table_cell(&t, "%s", words[i % 4]);
            table_cell(&t, "%d", i * 1000);
            table_cell(&t, "%s %s %s", words[i % 3], words[(i + 1) % 4], words[(i + 2) % 4]);
        }
        table_write(&t, &b, width);
        table_fold(&folded, strbuf_str(&b), width);
        size_t n = 0;
        for (const char *at = strbuf_cstr(&folded); (at = strstr(at, words[0])); at++)
            n++;
        CHECK_INT("whole names", n, 2 + 7);
        for (struct str rest = strbuf_str(&folded); rest.n; rest = str_from(rest, str_index(rest, '\n') + 1)) {
            struct str line = str_first(rest, str_index(rest, '\n'));
            CHECK(printable_width(line) <= (width > 80 ? width : 80));
            CHECK(line.n == 0 || line.p[line.n - 1] != ' ');
        }
        table_fini(&t);
        strbuf_fini(&b);
        strbuf_fini(&folded);
    }
}

TEST(lines_are_folded)
{
    static const struct {
        const char *what, *lines;
        unsigned width;
        const char *folded;
    } rows[] = {
        { "no bound", "one two three\n", 0, "one two three\n" },
        { "short enough", "one two\n\nthree\n", 7, "one two\n\nthree\n" },
        { "continued deeper", "  a sentence that goes on and on and on to its end\n", 40,
          "  a sentence that goes on and on and\n      on to its end\n" },
        { "no line end", "one two", 40, "one two" },
    };
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        strbuf_reset(&b);
        table_fold(&b, str_of(rows[i].lines), rows[i].width);
        CHECK_TEXT(rows[i].what, strbuf_cstr(&b), rows[i].folded);
    }
    strbuf_fini(&b);
}
