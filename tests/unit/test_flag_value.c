/* Values of flags: config/flag_value.c, config/flag_csv.c, config/component_version.c. Texts are Go's and upstream's. */
#include "config/component_version.h"
#include "config/flag_value.h"
#include "tests/test.h"

union any {
    flag_type_BOOL bool_value;
    flag_type_STRING text;
    flag_type_IP ip;
    flag_type_STRINGS strings;
    flag_type_CERT_KEYS keys;
    flag_type_QUANTITY quantity;
    int64_t number;
};

/* A value, given as often as there are texts: what it prints then, or why it is refused. */
static const struct {
    const char *name;
    enum flag_type type;
    const char *texts[3];
    const char *want;  /* printed */
    const char *error; /* NULL: taken */
} cases[] = {
    { "true", FLAG_BOOL, { "T" }, "true", NULL },
    { "false", FLAG_BOOL, { "1", "FALSE" }, "false", NULL },
    { "neither", FLAG_BOOL, { "yes" }, NULL, "strconv.ParseBool: parsing \"yes\": invalid syntax" },
    { "a quote in it", FLAG_BOOL, { "a\"\n" }, NULL, "strconv.ParseBool: parsing \"a\\\"\\n\": invalid syntax" },

    { "decimal", FLAG_INT, { "-12" }, "-12", NULL },
    { "plus", FLAG_INT, { "+12" }, "12", NULL },
    { "hexadecimal", FLAG_INT, { "0x1F" }, "31", NULL },
    { "octal", FLAG_INT, { "017" }, "15", NULL },
    { "octal, new", FLAG_INT, { "0o17" }, "15", NULL },
    { "binary", FLAG_INT, { "-0b101" }, "-5", NULL },
    { "zero", FLAG_INT, { "0" }, "0", NULL },
    { "underscores", FLAG_INT, { "1_000" }, "1000", NULL },
    { "an underscore behind the prefix", FLAG_INT, { "0x_f" }, "15", NULL },
    { "an underscore first", FLAG_INT, { "_1" }, NULL, "strconv.ParseInt: parsing \"_1\": invalid syntax" },
    { "an underscore last", FLAG_INT, { "1_" }, NULL, "strconv.ParseInt: parsing \"1_\": invalid syntax" },
    { "two underscores", FLAG_INT, { "1__0" }, NULL, "strconv.ParseInt: parsing \"1__0\": invalid syntax" },
    { "a prefix alone", FLAG_INT, { "0x" }, NULL, "strconv.ParseInt: parsing \"0x\": invalid syntax" },
    { "a sign alone", FLAG_INT, { "-" }, NULL, "strconv.ParseInt: parsing \"-\": invalid syntax" },
    { "no octal digit", FLAG_INT, { "08" }, NULL, "strconv.ParseInt: parsing \"08\": invalid syntax" },
    { "nothing", FLAG_INT, { "" }, NULL, "strconv.ParseInt: parsing \"\": invalid syntax" },
    { "the largest", FLAG_INT, { "9223372036854775807" }, "9223372036854775807", NULL },
    { "the smallest", FLAG_INT, { "-9223372036854775808" }, "-9223372036854775808", NULL },
    { "too large", FLAG_INT, { "9223372036854775808" }, NULL,
      "strconv.ParseInt: parsing \"9223372036854775808\": value out of range" },
    { "much too large", FLAG_INT, { "99999999999999999999" }, NULL,
      "strconv.ParseInt: parsing \"99999999999999999999\": value out of range" },
    { "32 bits", FLAG_INT32, { "-2147483648" }, "-2147483648", NULL },
    { "33 bits", FLAG_INT32, { "2147483648" }, NULL,
      "strconv.ParseInt: parsing \"2147483648\": value out of range" },

    { "a float", FLAG_FLOAT32, { "3.5" }, "3.5", NULL },
    { "a float of 32 bits", FLAG_FLOAT32, { "0.1" }, "0.1", NULL },
    { "a large float", FLAG_FLOAT32, { "1e7" }, "1e+07", NULL },
    { "a small float", FLAG_FLOAT32, { "0.00001" }, "1e-05", NULL },
    { "infinite", FLAG_FLOAT32, { "-Infinity" }, "-Inf", NULL },
    { "no number", FLAG_FLOAT32, { "NaN" }, "NaN", NULL },
    { "a float in hexadecimal", FLAG_FLOAT32, { "0x1p4" }, "16", NULL },
    { "underscores in a float", FLAG_FLOAT32, { "1_0.2_5e0_1" }, "102.5", NULL },
    { "an underscore beside the dot", FLAG_FLOAT32, { "1_.5" }, NULL,
      "strconv.ParseFloat: parsing \"1_.5\": invalid syntax" },
    { "an underscore at the end", FLAG_FLOAT32, { "1_" }, NULL, "strconv.ParseFloat: parsing \"1_\": invalid syntax" },
    { "without its exponent", FLAG_FLOAT32, { "0x1" }, NULL, "strconv.ParseFloat: parsing \"0x1\": invalid syntax" },
    { "dot alone", FLAG_FLOAT32, { "." }, NULL, "strconv.ParseFloat: parsing \".\": invalid syntax" },
    { "blank before it", FLAG_FLOAT32, { " 1" }, NULL, "strconv.ParseFloat: parsing \" 1\": invalid syntax" },
    { "text behind it", FLAG_FLOAT32, { "1x" }, NULL, "strconv.ParseFloat: parsing \"1x\": invalid syntax" },
    { "above a float", FLAG_FLOAT32, { "1e39" }, NULL, "strconv.ParseFloat: parsing \"1e39\": value out of range" },

    { "a duration", FLAG_DURATION, { "90s" }, "1m30s", NULL },
    { "a duration without a unit", FLAG_DURATION, { "10" }, NULL, "time: missing unit in duration \"10\"" },

    { "an address", FLAG_IP, { " ::1 " }, "::1", NULL },
    { "an address of version 4 in one of 6", FLAG_IP, { "::ffff:1.2.3.4" }, "1.2.3.4", NULL },
    { "nothing leaves the address", FLAG_IP, { "1.2.3.4", "" }, "1.2.3.4", NULL },
    { "no address", FLAG_IP, { "1.2.3" }, NULL, "failed to parse IP: \"1.2.3\"" },
    { "a leading zero", FLAG_IP, { "1.2.3.04" }, NULL, "failed to parse IP: \"1.2.3.04\"" },

    { "texts", FLAG_STRINGS, { "a,b" }, "[a,b]", NULL },
    { "more texts", FLAG_STRINGS, { "a", "b,c" }, "[a,b,c]", NULL },
    { "quoted texts", FLAG_STRINGS, { "a,\"b,c\",\"d\"\"e\"", " f" }, "[a,\"b,c\",\"d\"\"e\",\" f\"]", NULL },
    { "no texts", FLAG_STRINGS, { "" }, "[]", NULL },
    { "empty texts", FLAG_STRINGS, { "a,,b," }, "[a,,b,]", NULL },
    { "only the first line", FLAG_STRINGS, { "\n\r\na\nb" }, "[a]", NULL },
    { "a line break between quotes", FLAG_STRINGS, { "\"a\r\nb\"" }, "[\"a\nb\"]", NULL },
    { "lines without anything", FLAG_STRINGS, { "\n\n" }, NULL, "EOF" },
    { "a quote inside", FLAG_STRINGS, { "a,b\"c" }, NULL,
      "parse error on line 1, column 4: bare \" in non-quoted-field" },
    { "an open quote", FLAG_STRINGS, { "\"a" }, NULL,
      "parse error on line 1, column 3: extraneous or missing \" in quoted-field" },
    { "text behind a quote", FLAG_STRINGS, { "\"a\"b" }, NULL,
      "parse error on line 1, column 3: extraneous or missing \" in quoted-field" },
    { "an open quote on the next line", FLAG_STRINGS, { "\"a\nbc" }, NULL,
      "record on line 1; parse error on line 2, column 3: extraneous or missing \" in quoted-field" },

    { "numbers", FLAG_INT32S, { "23,0x1d", "24" }, "[23,29,24]", NULL },
    { "no numbers", FLAG_INT32S, { "" }, NULL, "strconv.ParseInt: parsing \"\": invalid syntax" },
    { "a number missing", FLAG_INT32S, { "1," }, NULL, "strconv.ParseInt: parsing \"\": invalid syntax" },

    { "a pair", FLAG_PAIRS, { "m,l=v" }, "[\"m,l=v\"]", NULL },
    { "a pair in quotes", FLAG_PAIRS, { "\"a=b\"" }, "[a=b]", NULL },
    { "pairs by key", FLAG_PAIRS, { "b=1,a=2", "b=3" }, "[a=2,b=3]", NULL },
    { "no pair", FLAG_PAIRS, { "x" }, NULL, "x must be formatted as key=value" },
    { "no pair among others", FLAG_PAIRS, { "a=1,x,b=2" }, NULL, "x must be formatted as key=value" },
    { "pairs in bad quotes", FLAG_PAIRS, { "a=1,\"b=2" }, NULL,
      "parse error on line 1, column 9: extraneous or missing \" in quoted-field" },

    { "certificates", FLAG_CERT_KEYS, { "a , b: x , y", "c,d" }, "[a,b:x,y;c,d]", NULL },
    { "no key", FLAG_CERT_KEYS, { "a" }, NULL, "expected comma separated certificate and key file paths" },
    { "three files", FLAG_CERT_KEYS, { "a,b,c" }, NULL, "expected comma separated certificate and key file paths" },
    { "no names", FLAG_CERT_KEYS, { "a,b: " }, NULL, "empty names list is not allowed" },

    { "gates", FLAG_MULTIMAP, { "B=true,kube: A=false", ",C=true" }, ":B=true,:C=true,kube:A=false", NULL },

    { "a level", FLAG_LEVEL, { "10" }, "10", NULL },
    { "a level below 0", FLAG_LEVEL, { "-1" }, NULL, "strconv.ParseUint: parsing \"-1\": invalid syntax" },
    { "a level too high", FLAG_LEVEL, { "2147483648" }, NULL,
      "strconv.ParseUint: parsing \"2147483648\": value out of range" },
    { "a level in hexadecimal", FLAG_LEVEL, { "0x1" }, NULL, "strconv.ParseUint: parsing \"0x1\": invalid syntax" },

    { "modules", FLAG_VMODULE, { "a=0,,b*=2", "c=3" }, "a=0,b*=2,c=3", NULL },
    { "no level", FLAG_VMODULE, { "a" }, NULL, "\"a\" does not have the pattern=N format" },
    { "two levels", FLAG_VMODULE, { "a=1=2" }, NULL, "\"a=1=2\" does not have the pattern=N format" },
    { "no number", FLAG_VMODULE, { "a=b" }, NULL,
      "parsing verbosity in \"a=b\": strconv.ParseUint: parsing \"b\": invalid syntax" },

    { "an amount", FLAG_QUANTITY, { "1024Ki" }, "1Mi", NULL },
    { "no amount", FLAG_QUANTITY, { "x" }, NULL,
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'" },

    { "version asked for", FLAG_VERSION, { "t" }, "true", NULL },
    { "all about the version", FLAG_VERSION, { "raw" }, "raw", NULL },
    { "another version", FLAG_VERSION, { "v1.36.4-eks.1+abc" }, "v1.36.4-eks.1+abc", NULL },
    { "no version", FLAG_VERSION, { "vbogus" }, NULL, "could not parse \"vbogus\" as version" },
    { "half a version", FLAG_VERSION, { "v1.36" }, NULL, "illegal version string \"v1.36\"" },
    { "a version with odd text behind", FLAG_VERSION, { "v1.36.4_x" }, NULL,
      "could not parse pre-release/metadata (_x) in version \"v1.36.4_x\"" },
    { "a version with a dot behind", FLAG_VERSION, { "v1.36.4-a." }, NULL,
      "could not parse pre-release/metadata (-a.) in version \"v1.36.4-a.\"" },
    { "a version with two builds", FLAG_VERSION, { "v1.36.4+a+b" }, NULL,
      "could not parse pre-release/metadata (+a+b) in version \"v1.36.4+a+b\"" },
    { "a leading zero in a version", FLAG_VERSION, { "v1.036.4" }, NULL,
      "illegal zero-prefixed version component \"036\" in \"v1.036.4\"" },
    { "a version that is not ours", FLAG_VERSION, { "v1.36.5" }, NULL,
      "version \"v1.36.5\" must match major/minor/patch of default version \"v1.36.4\"" },
};

TEST(values)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena a;
        struct err e;
        struct strbuf printed;
        union any value = { .keys = { 0 } };
        const char *error = NULL;
        arena_init(&a);
        err_init(&e, &a);
        strbuf_init(&printed, STRBUF_NO_MAX);
        for (size_t k = 0; k < 3 && cases[i].texts[k]; k++)
            if (flag_value_set(&a, cases[i].type, str_of(cases[i].texts[k]), k > 0, &value, &e))
                error = e.message;
        CHECK_TEXT(cases[i].name, error, cases[i].error);
        flag_value_add(&printed, cases[i].type, &value);
        if (!error)
            CHECK_STR(cases[i].name, strbuf_str(&printed), str_of(cases[i].want));
        strbuf_fini(&printed);
        arena_fini(&a);
    }
}

TEST(the_first_time_takes_the_place_of_the_default)
{
    struct arena a;
    struct err e;
    struct flag_strings list = { 0 };
    arena_init(&a);
    err_init(&e, &a);
    CHECK(!flag_value_set(&a, FLAG_STRINGS, STR("default"), false, &list, &e));
    CHECK(!flag_value_set(&a, FLAG_STRINGS, STR("a"), false, &list, &e));
    CHECK(list.n == 1 && str_is(list.at[0], "a"));
    CHECK(flag_value_set(&a, FLAG_STRINGS, STR("b,\""), true, &list, &e));
    CHECK(list.n == 1); /* as it was */
    arena_fini(&a);
}

static const struct {
    const char *name, *emulated, *least;
    const char *error;    /* of the flags; NULL: taken */
    const char *problems; /* of the range, "|" between; NULL: none */
    unsigned gates;
} version_cases[] = {
    { "none", NULL, NULL, NULL, NULL, 36 },
    { "one", "1.33", NULL, NULL, NULL, 33 },
    { "with its component", " kube = v1.34 ", NULL, NULL, NULL, 34 },
    { "text behind it", "1.35-alpha", NULL, NULL, NULL, 35 },
    { "more numbers", "1.35.0.7", NULL, NULL, NULL, 35 },
    { "least as high", "1.35", "1.35", NULL, NULL, 35 },
    { "not a version", "x", NULL, "could not parse \"x\" as version", NULL, 0 },
    { "nothing", "kube=", NULL, "could not parse \"\" as version", NULL, 0 },
    { "one number", "9", NULL, "illegal version string \"9\"", NULL, 0 },
    { "a leading zero", "01.36", NULL, "illegal zero-prefixed version component \"01\" in \"01.36\"", NULL, 0 },
    { "too large", "1.99999999999999999999", NULL,
      "illegal non-numeric version component \"99999999999999999999\" in \"1.99999999999999999999\": strconv.ParseUint: "
      "parsing \"99999999999999999999\": value out of range", NULL, 0 },
    { "a patch", "1.35.1", NULL, "patch version not allowed, got: kube=1.35.1", NULL, 0 },
    { "twice", "1.33,1.34", NULL, "duplicate version flag, kube=1.33 and kube=1.34", NULL, 0 },
    { "a stranger", "wardle=1.33,1.34", NULL, "component not registered: wardle", NULL, 0 },
    { "nobody", "=1.33", NULL, "component not registered: ", NULL, 0 },
    { "bad least", NULL, "x", "could not parse \"x\" as version", NULL, 0 },
    { "too old", "1.32", NULL, NULL,
      "emulation version 1.32 is not between [1.33, 1.36.0]|minCompatibilityVersion version 1.33 is not between [1.33, 1.32]",
      33 },
    { "too new", "1.37", NULL, NULL, "emulation version 1.37 is not between [1.33, 1.36.0]", 36 },
    { "far too new", "2.0", NULL, NULL, "emulation version 2.0 is not between [1.33, 1.36.0]", 36 },
    { "least too old", NULL, "1.30", NULL, "minCompatibilityVersion version 1.30 is not between [1.33, 1.36]", 36 },
    { "least above", "1.33", "1.34", NULL, "minCompatibilityVersion version 1.34 is not between [1.33, 1.33]", 33 },
};

static void read_list(struct arena *a, const char *text, struct flag_strings *list)
{
    struct err e;
    err_init(&e, a);
    if (text && flag_csv_read(a, str_of(text), list, &e))
        FAIL("%s: %s", text, e.message);
}

TEST(versions)
{
    for (size_t i = 0; i < sizeof(version_cases) / sizeof(version_cases[0]); i++) {
        struct arena a;
        struct err e;
        struct flag_strings emulated = { 0 }, least = { 0 }, problems = { 0 };
        struct component_versions v = component_versions_default();
        arena_init(&a);
        err_init(&e, &a);
        read_list(&a, version_cases[i].emulated, &emulated);
        read_list(&a, version_cases[i].least, &least);
        bool failed = component_versions_set(&v, &emulated, &least, &e);
        CHECK_TEXT(version_cases[i].name, failed ? e.message : NULL, version_cases[i].error);
        if (!failed) {
            component_versions_check(&v, &a, &problems);
            char *all = arena_printf(&a, "%.*s%s%.*s", STR_ARG(problems.n ? problems.at[0] : STR("")),
                                     problems.n > 1 ? "|" : "", STR_ARG(problems.n > 1 ? problems.at[1] : STR("")));
            CHECK_TEXT(version_cases[i].name, all, version_cases[i].problems ? version_cases[i].problems : "");
            CHECK_INT(version_cases[i].name, component_versions_gates(&v), version_cases[i].gates);
        }
        arena_fini(&a);
    }
}
