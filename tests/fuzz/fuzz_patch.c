/* tests/fuzz/fuzz_patch.c - any patch on any document.
 *
 * Input: one byte that picks kind of patch, fieldValidation and type, then the document, a NUL, the patch. Of a
 * plain document the result must be JSON and patching it with nothing must leave it as it is; of a typed one
 * it must encode to something that decodes to the same. */
#include <stdlib.h>

#include "codec/json.h"
#include "codec/json_scan.h"
#include "patch/patch.h"
#include "tests/fuzz/effort.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void patch_plain(struct arena *a, bool json, struct str document, struct str patch)
{
    struct str got, again;
    struct err e;
    err_init(&e, a);
    struct work work = work_init(PATCH_BYTES_MAX);
    enum err_code rc = json ? json_patch_apply(a, &work, document, patch, &got, &e)
                            : merge_patch_apply(a, &work, document, patch, &got, &e);
    if (rc || json_check(got, &e)) /* operations may nest deeper than text may be */
        return;
    must(!json_patch_apply(a, WORK_OWN, got, STR("[]"), &again, &e));
    must(str_eq(got, again));
}

static struct str encode(struct arena *a, const struct type *t, const struct value *v)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    json_encode(&b, t, v);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static void patch_typed(struct arena *a, const struct type *t, struct patch patch, struct str document)
{
    struct value object, again;
    struct err e;
    err_init(&e, a);
    if (json_decode(a, WORK_OWN, t, document, NULL, &object, &e))
        return;
    struct patch_outcome outcome;
    if (patch_apply(a, t, &object, &patch, &outcome, &e)) {
        must(e.code != ERR_OK && e.message);
        return;
    }
    struct str text = encode(a, t, &outcome.object);
    must(!json_decode(a, WORK_OWN, t, text, NULL, &again, &e));
    must(str_eq(text, encode(a, t, &again)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const types[] = { "core/v1.Pod", "core/v1.Node", "core/v1.Secret",
                                         "apiextensions.k8s.io/v1.CustomResourceDefinition" };
    if (n == 0)
        return 0;
    struct arena a;
    arena_init(&a);
    effort_begin(n);
    struct str all = arena_str(&a, (struct str){ (const char *)data + 1, n - 1 });
    struct str document = str_first(all, str_index(all, '\0'));
    unsigned pick = data[0];
    struct work work = work_init(PATCH_BYTES_MAX);
    struct patch patch = { &work, pick % 3, pick / 3 % 3, str_from(all, document.n + 1) };
    if (pick / 9 % 5 == 4)
        patch_plain(&a, pick % 2, document, patch.body);
    else
        patch_typed(&a, schema_type(str_of(types[pick / 9 % 5])), patch, document);
    effort_end(&a, n);
    arena_fini(&a);
    return 0;
}
