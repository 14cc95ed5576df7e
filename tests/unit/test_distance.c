/* Distance: how many bytes lie between two names. */
#include "base/distance.h"
#include "tests/test.h"

static const struct {
    const char *what, *a, *b;
    unsigned limit, want;
} cases[] = {
    { "the same", "node-1", "node-1", 3, 0 },
    { "nothing and nothing", "", "", 3, 0 },
    { "one changed", "node-1", "node-2", 3, 1 },
    { "one added", "node-1", "node-12", 3, 1 },
    { "one taken out", "node-12", "nod-12", 3, 1 },
    { "two neighbours in the wrong order", "node", "ndoe", 3, 2 },
    { "all of it", "", "abc", 3, 3 },
    { "just at the limit", "kitten", "sitting", 3, 3 },
    { "just beyond the limit", "kitten", "sitting", 2, 3 },
    { "far beyond", "alpha", "omega-seven", 2, 3 },
};

TEST(distances_are_as_counted_by_hand)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_INT(cases[i].what, edit_distance(cases[i].a, cases[i].b, cases[i].limit), cases[i].want);
        CHECK_INT(cases[i].what, edit_distance(cases[i].b, cases[i].a, cases[i].limit), cases[i].want);
    }
}

TEST(names_that_are_too_long_are_far_away)
{
    char name[DISTANCE_BYTES_MAX + 2] = { 0 };
    memset(name, 'a', DISTANCE_BYTES_MAX + 1);
    CHECK_INT("too long", edit_distance(name, name, 3), 4);
    CHECK_INT("the other one", edit_distance("a", name, 3), 4);
    CHECK_INT("the longest", edit_distance(name + 1, name + 1, 3), 0);
}
