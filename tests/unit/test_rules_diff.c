/* Differences of JSON texts, as Go's difflib writes them. */
#include "rules/diff.h"

#include "base/strbuf.h"
#include "tests/test.h"

TEST(differences_are_those_of_difflib)
{
    static const struct {
        const char *what, *old, *new, *want;
    } rows[] = {
        { "the same", "{\"a\":1}", "{\"a\":1}", "" },
        { "one line", "{\"a\":1}", "{\"a\":2}", "@@ -1,3 +1,3 @@\n {\n- \"a\": 1\n+ \"a\": 2\n }\n" },
        { "strings with marks", "{\"a\":\"{,}\\\"\"}", "{\"a\":\"[\"}",
          "@@ -1,3 +1,3 @@\n {\n- \"a\": \"{,}\\\"\"\n+ \"a\": \"[\"\n }\n" },
        { "empty ones stay in their line", "{\"a\":[],\"b\":{}}", "{\"a\":[1],\"b\":{}}",
          "@@ -1,4 +1,6 @@\n {\n- \"a\": [],\n+ \"a\": [\n+  1\n+ ],\n  \"b\": {}\n }\n" },
        { "three lines around", "[1,2,3,4,5,6,7,8,9]", "[1,2,3,4,0,6,7,8,9]",
          "@@ -3,7 +3,7 @@\n  2,\n  3,\n  4,\n- 5,\n+ 0,\n  6,\n  7,\n  8,\n" },
        { "two hunks", "[1,2,3,4,5,6,7,8,9,10]", "[0,2,3,4,5,6,7,8,9,0]",
          "@@ -1,5 +1,5 @@\n [\n- 1,\n+ 0,\n  2,\n  3,\n  4,\n@@ -8,5 +8,5 @@\n  7,\n  8,\n  9,\n- 10\n+ 0\n ]\n" },
        { "near changes share a hunk", "[1,2,3,4,5,6,7,8]", "[0,2,3,4,5,6,7,0]",
          "@@ -1,10 +1,10 @@\n [\n- 1,\n+ 0,\n  2,\n  3,\n  4,\n  5,\n  6,\n  7,\n- 8\n+ 0\n ]\n" },
        { "all is new", "1", "{\"a\":1}", "@@ -1 +1,3 @@\n-1\n+{\n+ \"a\": 1\n+}\n" },
        { "all is gone", "[1]", "null", "@@ -1,3 +1 @@\n-[\n- 1\n-]\n+null\n" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena a;
        arena_init(&a);
        const char *got = rules_diff_text(&a, "t", str_of(rows[i].old), str_of(rows[i].new));
        if (strncmp(got, "t\n", 2) != 0 || strcmp(got + 2, rows[i].want) != 0)
            FAIL("%s:\n%s\nwanted\n%s", rows[i].what, got, rows[i].want);
        arena_fini(&a);
    }
}

static struct str long_list(struct arena *a, int n, int odd)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    for (int i = 0; i < n; i++)
        strbuf_printf(&json, "%c%d", i ? ',' : '[', i == odd ? -1 : i % 10);
    strbuf_add_char(&json, ']');
    struct str text = arena_str(a, strbuf_str(&json));
    strbuf_fini(&json);
    return text;
}

TEST(long_texts_are_not_compared)
{
    struct arena a;
    arena_init(&a);
    const char *short_one = rules_diff_text(&a, "t", long_list(&a, 990, 5), long_list(&a, 990, 500));
    const char *long_one = rules_diff_text(&a, "t", long_list(&a, 2000, 5), long_list(&a, 2000, 500));
    CHECK(strstr(short_one, "@@") != NULL);
    CHECK(strcmp(long_one, "t\n") == 0);
    arena_fini(&a);
}
