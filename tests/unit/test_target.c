/* Targets of requests taken apart: http/target.c. What Go makes of them was seen on a running kube-scheduler. */
#include "http/target.h"

#include "tests/test.h"

TEST(paths_are_decoded_and_not_cleaned)
{
    static const struct {
        const char *text, *path; /* NULL: refused */
    } rows[] = {
        { "/healthz", "/healthz" }, { "/%68ealthz", "/healthz" }, { "//healthz", "//healthz" },
        { "/a/../healthz", "/a/../healthz" }, { "/healthz%2fping", "/healthz/ping" }, { "/a%20b%2F", "/a b/" },
        { "/healthz;a=b", "/healthz;a=b" }, { "/a+b", "/a+b" }, { "/", "/" }, { "/a?b?c", "/a" }, { "/%zz", NULL },
        { "/%4", NULL }, { "/%", NULL }, { "/a%2", NULL }, { "", NULL }, { "*", NULL }, { "healthz", NULL },
        { "?a", NULL }, { "http://h/a", NULL },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct target t;
        CHECK_INT(rows[i].text, target_read(&a, str_of(rows[i].text), &t), rows[i].path != NULL);
        if (rows[i].path)
            CHECK_STR(rows[i].text, t.path, str_of(rows[i].path));
    }
    struct target t;
    CHECK(target_read(&a, STR("/a%00b"), &t));
    CHECK_INT("a zero is a byte as any", t.path.n, 4);
    arena_fini(&a);
}

TEST(queries_are_read_as_go_reads_them)
{
    struct arena a;
    struct target t;
    arena_init(&a);
    CHECK(target_read(&a, STR("/?a=1&b&a=2&c=x+y%26z&=v&&d=%zz&e;f=1&g=h=i"), &t));
    CHECK_STR("the first", target_get(&t, "a"), STR("1"));
    CHECK(target_has(&t, "b"));
    CHECK_INT("no value", target_get(&t, "b").n, 0);
    CHECK_STR("decoded", target_get(&t, "c"), STR("x y&z"));
    CHECK_STR("an empty name", target_get(&t, ""), STR("v"));
    CHECK(!target_has(&t, "d"));
    CHECK(!target_has(&t, "e") && !target_has(&t, "e;f"));
    CHECK_STR("the first equals sign parts", target_get(&t, "g"), STR("h=i"));
    CHECK_INT("pairs", t.n_query, 6);
    arena_fini(&a);
}
