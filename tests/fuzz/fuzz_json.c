/* tests/fuzz/fuzz_json.c - any bytes as the JSON of a few types, chosen by the first byte.
 *
 * Decoder, plain decoder and checker must agree on what is JSON. What decodes is written and decoded again;
 * from the second round on the bytes stay the same (the first may lose what JSON cannot tell apart, such as a
 * pointer to the zero time and no pointer). Whole bodies take the same texts as the decoder alone. */
#include <stdlib.h>

#include "codec/json_scan.h"
#include "codec/object.h"
#include "tests/fuzz/effort.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const struct {
    const char *api_version, *kind;
} types[] = {
    { "v1", "Pod" },
    { "v1", "ConfigMap" },
    { "v1", "Secret" },
    { "v1", "Service" },
    { "v1", "Event" },
    { "v1", "List" },
    { "apps/v1", "ControllerRevision" },
    { "apiextensions.k8s.io/v1", "CustomResourceDefinition" },
    { "coordination.k8s.io/v1", "Lease" },
    { "v1", "APIResourceList" },
    { "authentication.k8s.io/v1", "TokenReview" },
};

static void must(bool condition)
{
    if (!condition)
        abort();
}

static struct str encoded(struct arena *a, const struct type *t, const struct value *v)
{
    struct strbuf out;
    strbuf_init(&out, STRBUF_NO_MAX);
    json_encode(&out, t, v);
    struct str copy = arena_str(a, strbuf_str(&out));
    strbuf_fini(&out);
    return copy;
}

/* Texts of values outside the years 0 to 9999 and of amounts beyond E are written, but not read, as upstream. */
static bool one_way(const char *message)
{
    return str_starts(str_of(message), STR("parsing time")) || strstr(message, "quantit");
}

static void check_rounds(struct arena *a, const struct type *t, const struct value *v)
{
    struct str text = encoded(a, t, v), last = { NULL, 0 };
    for (int round = 0; round < 3; round++) {
        struct value again;
        struct err e;
        err_init(&e, a);
        if (json_decode(a, WORK_OWN, t, text, NULL, &again, &e)) {
            must(one_way(e.message));
            return;
        }
        last = text;
        text = encoded(a, t, &again);
    }
    must(str_eq(text, last));
}

static void check_plain(struct arena *a, struct str text, bool valid)
{
    struct value v, again;
    struct err e;
    err_init(&e, a);
    if (json_decode_plain(a, WORK_OWN, text, &v, &e)) {
        must(!valid || str_is(str_of(e.message), "exceeded max depth"));
        return;
    }
    must(valid);
    struct strbuf out;
    strbuf_init(&out, STRBUF_NO_MAX);
    json_encode_plain(&out, &v);
    must(!json_decode_plain(a, WORK_OWN, strbuf_str(&out), &again, &e));
    struct value copy = value_copy(a, &again);
    must(value_equal(&again, &copy));
    strbuf_fini(&out);
}

static void check_body(struct arena *a, const struct type *t, struct str text, struct gvk endpoint,
                       bool decodes)
{
    static struct findings findings;
    struct object o;
    struct gvk seen;
    struct err e;
    err_init(&e, a);
    findings.n = 0;
    bool reads = !object_read(a, WORK_OWN, MEDIA_JSON, text, endpoint, &findings, &o, &seen, &e);
    must(reads || e.message[0]);
    if (reads && o.type == t)
        must(decodes);
    struct work work = work_init(REQUEST_BYTES_MAX);
    bool strict = !object_decode(a, &work, MEDIA_JSON, text, endpoint, VALIDATION_STRICT, &findings, &o, &e);
    must(strict || e.message[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0)
        return 0;
    size_t choice = data[0] % (sizeof(types) / sizeof(types[0]));
    struct str api_version = str_of(types[choice].api_version);
    struct gvk endpoint = { .kind = str_of(types[choice].kind) };
    schema_split_api_version(api_version, &endpoint.group, &endpoint.version);
    const struct type *t = schema_object_type(api_version, endpoint.kind);
    struct str text = { (const char *)data + 1, n - 1 };
    struct arena a;
    arena_init(&a);
    effort_begin(n);
    struct err syntax, e;
    err_init(&syntax, &a);
    err_init(&e, &a);
    bool valid = !json_check(text, &syntax);
    struct findings findings = { .n = 0 };
    struct value v;
    bool decodes = !json_decode(&a, WORK_OWN, t, text, &findings, &v, &e);
    must(!decodes || valid);
    must(valid || strcmp(syntax.message, e.message) == 0);
    if (decodes)
        check_rounds(&a, t, &v);
    check_plain(&a, text, valid);
    check_body(&a, t, text, endpoint, decodes);
    effort_end(&a, n);
    arena_fini(&a);
    return 0;
}
