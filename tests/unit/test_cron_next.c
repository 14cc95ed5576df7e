/* tests/unit/test_cron_next.c - the times that schedules mean, against what the library of upstream says (tests/peers/cron), and
 * zones whose files are odd. */
#include "rules/cron_next.h"
#include "tests/unit/golden_lines.h"

static void check_times(struct arena *a, struct str text, int64_t at_s, const struct value *times)
{
    struct cron_schedule s;
    const char *fault = cron_parse(a, text, &s), *what = arena_cstr(a, text);
    if (fault)
        FAIL("%s: %s", what, fault);
    const struct zone *z = zone_load(a, s.zone);
    if (!z)
        FAIL("%s: no such zone", what);
    for (uint32_t i = 0; i < times->n; i++) {
        int64_t next = cron_next(&s, z, at_s);
        if (next != times->items[i].i)
            FAIL("%s after %lld: got %lld, want %lld", what, (long long)at_s, (long long)next, (long long)times->items[i].i);
        at_s = next;
    }
}

TEST(times_are_those_of_upstream)
{
    struct golden g;
    struct value row;
    struct arena a;
    arena_init(&a);
    golden_open(&g, "controllers/cron_next.jsonl");
    for (; golden_next(&g, &row); arena_reset(&a))
        check_times(&a, golden_text(&row, "schedule"), value_member(&row, STR("after"))->i, value_member(&row, STR("times")));
    CHECK(g.n == 1500);
    golden_close(&g);
    arena_fini(&a);
}

TEST(files_that_are_cut_are_no_zones)
{
    static const char file[] = "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" "\0\0\0\0" "\0\0\0\0" "\0\0\0\0" "\0\0\0\0" "\0\0\0\0" "\0\0\0\0"
                               "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" "\0\0\0\0" "\0\0\0\0" "\0\0\0\0" "\0\0\0\1" "\0\0\0\1" "\0\0\0\4"
                               "\0\0\0\0\0\0\0\144" "\0" "\0\0\16\20\0\0" "CET\0" "\n<+01>-1\n";
    struct arena a;
    arena_init(&a);
    const struct zone *z = zone_read(&a, (struct str){ file, sizeof(file) - 1 });
    CHECK(z);
    CHECK_INT("after the last change", zone_at(z, 1000).offset_s, 3600);
    CHECK_INT("its beginning", zone_at(z, 1000).from_s, 100);
    for (size_t n = 0; n < 44 + 44 + 8 + 1 + 6 + 4 + 1; n++)
        CHECK_INT("cut", zone_read(&a, (struct str){ file, n }) != NULL, 0);
    arena_fini(&a);
}

TEST(names_do_not_leave_the_folder)
{
    struct arena a;
    arena_init(&a);
    CHECK(!zone_load(&a, STR("../../etc/passwd")));
    CHECK(!zone_load(&a, STR("/etc/localtime")));
    CHECK(!zone_load(&a, STR("posixrules")));
    CHECK(zone_load(&a, STR("Local")));
    arena_fini(&a);
}
