/* Tolerations: key, effect, operators, the gate for comparisons, the first taint that is in the way. */
#include "api/toleration.h"
#include "tests/test.h"

TEST(a_toleration_tolerates)
{
    static const struct {
        const char *name;
        const char *toleration[4]; /* key, operator, value, effect */
        const char *taint[3];      /* key, value, effect */
        bool tolerates, comparing;
    } rows[] = {
        { "all equal", { "k", "Equal", "v", "E" }, { "k", "v", "E" }, true, true },
        { "no operator is Equal", { "k", "", "v", "E" }, { "k", "v", "E" }, true, true },
        { "other value", { "k", "", "w", "E" }, { "k", "v", "E" }, false, false },
        { "other key", { "l", "Exists", "", "" }, { "k", "v", "E" }, false, false },
        { "other effect", { "k", "Exists", "", "F" }, { "k", "v", "E" }, false, false },
        { "any effect", { "k", "Exists", "", "" }, { "k", "v", "E" }, true, true },
        { "everything", { "", "Exists", "", "" }, { "k", "v", "E" }, true, true },
        { "any key but the value", { "", "", "v", "" }, { "k", "v", "E" }, true, true },
        { "unknown operator", { "k", "equal", "v", "" }, { "k", "v", "E" }, false, false },
        { "less", { "k", "Lt", "5", "" }, { "k", "4", "E" }, false, true },
        { "not less", { "k", "Lt", "5", "" }, { "k", "5", "E" }, false, false },
        { "greater", { "k", "Gt", "-5", "" }, { "k", "-4", "E" }, false, true },
        { "not greater", { "k", "Gt", "5", "" }, { "k", "5", "E" }, false, false },
        { "leading zero", { "k", "Lt", "05", "" }, { "k", "4", "E" }, false, false },
        { "plus sign", { "k", "Lt", "5", "" }, { "k", "+4", "E" }, false, false },
        { "too large", { "k", "Gt", "5", "" }, { "k", "9223372036854775808", "E" }, false, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *const *of = rows[i].toleration, *const *by = rows[i].taint;
        struct toleration t = { str_of(of[0]), str_of(of[1]), str_of(of[2]), str_of(of[3]) };
        struct taint taint = { str_of(by[0]), str_of(by[1]), str_of(by[2]) };
        CHECK_INT(rows[i].name, toleration_tolerates(&t, &taint, false), rows[i].tolerates);
        CHECK_INT(rows[i].name, toleration_tolerates(&t, &taint, true), rows[i].comparing);
    }
}

TEST(the_first_taint_in_the_way)
{
    static const struct taint at[] = { { STR("a"), STR(""), STR("PreferNoSchedule") },
                                       { STR("b"), STR("1"), STR("NoSchedule") },
                                       { STR("c"), STR(""), STR("NoExecute") } };
    static const struct toleration two[] = { { STR("a"), STR("Exists"), STR(""), STR("") },
                                             { STR("b"), STR("Lt"), STR("2"), STR("") } };
    struct taints taints = { at, 3 };
    struct tolerations none = { 0 }, some = { two, 2 };
    CHECK(taints_first_untolerated(taints, none, NULL, false) == &at[0]);
    CHECK(taints_first_untolerated(taints, none, taint_is_hard, false) == &at[1]);
    CHECK(taints_first_untolerated(taints, none, taint_is_prefer, false) == &at[0]);
    CHECK(taints_first_untolerated(taints, some, NULL, false) == &at[1]);
    CHECK(taints_first_untolerated(taints, some, NULL, true) == &at[2]);
    CHECK(taints_first_untolerated((struct taints){ at, 2 }, some, NULL, true) == NULL);
    CHECK(toleration_same(&two[0], &two[0]));
    CHECK(!toleration_same(&two[0], &two[1]));
}
