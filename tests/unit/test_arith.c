/* Arithmetic at its ends. */
#include "base/arith.h"
#include "tests/test.h"

TEST(wraps_as_go_does)
{
    CHECK_INT("add", wrap_add(INT64_MAX, 1), INT64_MIN);
    CHECK_INT("sub", wrap_sub(INT64_MIN, 1), INT64_MAX);
    CHECK_INT("mul", wrap_mul(INT64_MIN, -1), INT64_MIN);
    CHECK_INT("mul", wrap_mul(INT64_MAX, 100), -100);
    CHECK_INT("div", wrap_div(INT64_MIN, -1), INT64_MIN);
    CHECK_INT("div", wrap_div(-7, 2), -3);
    CHECK_INT("double", wrap_double(-3.9), -3);
    CHECK_INT("double", wrap_double(0x1p63), INT64_MIN);
    CHECK_INT("double", wrap_double(-0x1p63), INT64_MIN);
    CHECK_INT("double", wrap_double(__builtin_nan("")), INT64_MIN);
}

TEST(stays_at_the_ends)
{
    CHECK_INT("add", sat_add(INT64_MAX, 1), INT64_MAX);
    CHECK_INT("add", sat_add(INT64_MIN, -1), INT64_MIN);
    CHECK_INT("add", sat_add(2, -3), -1);
    CHECK_INT("sub", sat_sub(INT64_MIN, 1), INT64_MIN);
    CHECK_INT("sub", sat_sub(0, INT64_MIN), INT64_MAX);
    CHECK_INT("mul", sat_mul(INT64_MAX, 2), INT64_MAX);
    CHECK_INT("mul", sat_mul(INT64_MAX, -2), INT64_MIN);
    CHECK_INT("mul", sat_mul(INT64_MIN, -1), INT64_MAX);
}
