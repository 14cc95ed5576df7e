/* Float: forms and digits as Go prints them. */
#include "base/float.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static const struct {
    float x;
    const char *json;
} singles[] = {
    { 0x0p0f, "0" },
    { 0x1p0f, "1" },
    { 0x1.9p5f, "50" },
    { 0x1.99999ap-04f, "0.1" },
    { 0x1.f9add4p-04f, "0.12345679" },
    { 0x1.555556p-02f, "0.33333334" },
    { 0x1p24f, "16777216" },
    { 0x1.2a05f2p33f, "10000000000" },
    { 0x1.0aaaaap5f, "33.333332" },
    { 0x1.b1ae4ep69f, "1e+21" },
    { 0x1.5af1d8p66f, "100000000000000000000" },
    { 0x1.0c6f7ap-20f, "0.000001" },
    { 0x1.ad7f2ap-24f, "1e-7" },
    { 0x1.0c2ac2p-20f, "9.99e-7" },
    { 0x1.fffffep127f, "3.4028235e+38" },
    { 0x1p-149f, "1e-45" },
    { 0x1p-126f, "1.1754944e-38" },
    { 0x1.cp-147f, "1e-44" },
    { -0x1.4p2f, "-5" },
    { 0x1p23f, "8388608" },
    { 0x1p-100f, "7.888609e-31" },
    { 0x1p90f, "1.2379401e+27" },
};

TEST(singles_print_as_go_prints_them)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (size_t i = 0; i < sizeof(singles) / sizeof(singles[0]); i++) {
        strbuf_reset(&b);
        float_add_json_single(&b, singles[i].x);
        CHECK_STR(singles[i].json, strbuf_str(&b), str_of(singles[i].json));
    }
    strbuf_fini(&b);
}

static const struct {
    double x, log;
} logs[] = {
    { 2, 0x1.62e42fefa39efp-01 },    { 3, 0x1.193ea7aad030ap+00 },    { 4, 0x1.62e42fefa39efp+00 },
    { 5, 0x1.9c041f7ed8d33p+00 },    { 6, 0x1.cab0bfa2a2002p+00 },    { 14, 0x1.51cca16d7bba8p+01 },
    { 48, 0x1.ef8383c50bb74p+01 },   { 1000, 0x1.ba18a998fffap+02 },  { 5002, 0x1.10901f6dc84b9p+03 },
    { 20009, 0x1.3ced0e3be115fp+03 }, { 0.5, -0x1.62e42fefa39efp-01 }, { 1, 0 },
    { 1e-300, -0x1.5963447f87fb5p+09 }, { 1e300, 0x1.5963447f87fb5p+09 },
};

TEST(logarithms_are_those_of_go)
{
    for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++)
        if (float_log(logs[i].x) != logs[i].log)
            FAIL("log(%g) is %a, want %a", logs[i].x, float_log(logs[i].x), logs[i].log);
}

/* FNV-1a over the bits of all of them, made by Go. */
TEST(logarithms_of_small_integers_are_those_of_go)
{
    uint64_t hash = 14695981039346656037u;
    for (int i = 2; i <= 20009; i++) {
        double log = float_log(i);
        uint64_t bits;
        memcpy(&bits, &log, sizeof(bits));
        for (int k = 0; k < 64; k += 8)
            hash = (hash ^ (bits >> k & 255)) * 1099511628211u;
    }
    CHECK(hash == 17735019883938810472u);
}
