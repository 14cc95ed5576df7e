/* What a document says it is: codec/type_meta.c. */
#include "codec/type_meta.h"
#include "tests/test.h"

static const struct {
    const char *name, *json, *api_version, *kind, *error;
} cases[] = {
    { "both", "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"kind\":\"x\"}}", "v1", "Pod", "" },
    { "neither", "{\"spec\":[1,{}]}", "", "", "" },
    { "case does not matter, the last one counts", "{\"Kind\":\"A\",\"KIND\":\"B\",\"APIVERSION\":\"v2\"}", "v2", "B",
      "" },
    { "escapes are read", "{\"k\\u0069nd\":\"P\\u006fd\"}", "", "Pod", "" },
    { "null says nothing", "{\"kind\":null}", "", "", "" },
    { "no object, but null", "null", "", "", "" },
    { "a number", "{\"kind\":5}", NULL, NULL,
      "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type "
      "string" },
    { "a fault of syntax goes first", "{\"kind\":5,", NULL, NULL,
      "couldn't get version/kind; json parse error: unexpected end of JSON input" },
    { "a list", "[]", NULL, NULL,
      "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion "
      "string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }" },
};

TEST(documents)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena a;
        struct err e;
        struct str api_version, kind;
        arena_init(&a);
        err_init(&e, &a);
        bool failed = type_meta_read(&a, str_of(cases[i].json), &api_version, &kind, &e);
        CHECK_TEXT(cases[i].name, failed ? e.message : "", cases[i].error);
        if (!failed) {
            CHECK_STR(cases[i].name, api_version, str_of(cases[i].api_version));
            CHECK_STR(cases[i].name, kind, str_of(cases[i].kind));
        }
        arena_fini(&a);
    }
}
