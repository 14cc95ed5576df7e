/* Float: forms and digits as Go prints them. */
#include "base/float.h"

#include <math.h>
#include <stdlib.h>

#include "tests/test.h"

static const struct {
    double x;
    const char *g, *f, *json; /* NULL: not compared */
} cases[] = {
    { 0, "0", "0", "0" },
    { -0.0, "-0", "-0", "-0" },
    { 1, "1", "1", "1" },
    { -1, "-1", "-1", "-1" },
    { 0.1, "0.1", "0.1", "0.1" },
    { 100, "100", "100", "100" },
    { 1e6, "1e+06", "1000000", "1000000" },
    { 999999, "999999", "999999", "999999" },
    { 1234567, "1.234567e+06", "1234567", "1234567" },
    { 1e20, "1e+20", "100000000000000000000", "100000000000000000000" },
    { 1.2345e20, "1.2345e+20", "123450000000000000000", "123450000000000000000" },
    { 1e21, "1e+21", "1000000000000000000000", "1e+21" },
    { 1e22, "1e+22", "10000000000000000000000", "1e+22" },
    { 1e23, "1e+23", "100000000000000000000000", "1e+23" },
    { 1e-4, "0.0001", "0.0001", "0.0001" },
    { 0.00012345, "0.00012345", "0.00012345", "0.00012345" },
    { 1e-5, "1e-05", "0.00001", "0.00001" },
    { 1e-6, "1e-06", "0.000001", "0.000001" },
    { 9.999e-7, "9.999e-07", "0.0000009999", "9.999e-7" },
    { -1e-10, "-1e-10", "-0.0000000001", "-1e-10" },
    { 4.35, "4.35", "4.35", "4.35" },
    { 1.0 / 3, "0.3333333333333333", "0.3333333333333333", "0.3333333333333333" },
    { 0.1 + 0.2, "0.30000000000000004", "0.30000000000000004", "0.30000000000000004" },
    { 9007199254740992, "9.007199254740992e+15", "9007199254740992", "9007199254740992" },
    { 123456789012345680, "1.2345678901234568e+17", "123456789012345680", "123456789012345680" },
    { 1700000000000.123, "1.700000000000123e+12", "1700000000000.123", "1700000000000.123" },
    { 0x1p-44, "5.684341886080802e-14", "0.00000000000005684341886080802", "5.684341886080802e-14" },
    { 0x1p-1000, "9.332636185032189e-302", NULL, NULL },
    { 0x1p-1022, "2.2250738585072014e-308", NULL, NULL },
    { 0x1p-1072, "2e-323", NULL, NULL },
    { 0x1p-1074, "5e-324", NULL, NULL },
    { 0x1.fffffffffffffp+1023, "1.7976931348623157e+308", NULL, NULL },
    { (double)INFINITY, "+Inf", "+Inf", NULL },
    { -(double)INFINITY, "-Inf", "-Inf", NULL },
    { (double)NAN, "NaN", "NaN", NULL },
};

TEST(numbers_print_as_go_prints_them)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *want[] = { cases[i].g, cases[i].f, cases[i].json };
        void (*const add[])(struct strbuf *, double) = { float_add_g, float_add_f, float_add_json };
        for (int form = 0; form < 3; form++) {
            strbuf_reset(&b);
            if (!want[form])
                continue;
            add[form](&b, cases[i].x);
            CHECK_STR(cases[i].g, strbuf_str(&b), str_of(want[form]));
        }
    }
    strbuf_fini(&b);
}

TEST(every_form_reads_back_as_the_same_number)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    uint64_t bits = 1;
    for (int i = 0; i < 20000; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        double x;
        memcpy(&x, &bits, sizeof(x));
        if (!isfinite(x))
            continue;
        void (*const add[])(struct strbuf *, double) = { float_add_g, float_add_f, float_add_json };
        for (int form = 0; form < 3; form++) {
            strbuf_reset(&b);
            add[form](&b, x);
            CHECK(strtod(strbuf_cstr(&b), NULL) == x);
        }
    }
    strbuf_fini(&b);
}
