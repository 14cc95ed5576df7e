/* tests/fuzz/fuzz_apply.c - any document applied to any object with any managedFields.
 *
 * Input: one byte that picks the type, the manager, the subresource and force; then the object, a NUL, the document. An
 * empty object does not exist. What comes out must encode to something that decodes to the same; its sets must be
 * written as they are read; when applying the document again changes nothing, it must do so for good; nor may an update
 * that changes nothing. (Keys that are null or too large are cut to others, so that an element is added each time.) */
#include <stdlib.h>

#include "apply/apply.h"
#include "apply/field_set.h"
#include "codec/json.h"
#include "tests/fuzz/effort.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { BODY_BYTES_MAX = 3 << 20 };

static void must(bool condition)
{
    if (!condition)
        abort();
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

static void check_object(struct arena *a, const struct type *t, const struct value *object)
{
    struct value again;
    struct err e;
    err_init(&e, a);
    struct str text = encode(a, t, object);
    must(!json_decode(a, WORK_OWN, t, text, NULL, &again, &e));
    must(str_eq(text, encode(a, t, &again)));
}

static void check_sets(struct arena *a, const struct type *t, const struct value *object)
{
    const struct type *entry = schema_type(STR("meta/v1.ManagedFieldsEntry"));
    const struct value *list = value_path(t, object, "metadata.managedFields");
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++) {
        const struct value *fields = value_path(entry, &list->items[i], "fieldsV1");
        struct field_set set;
        must(set_parse(a, value_text(fields), &set));
        must(set.n > 0);
        must(str_eq(set_text(a, set), value_text(fields)));
        must(str_eq(set_text(a, set_union(a, set, (struct field_set){ 0 })), value_text(fields)));
        must(set_difference(a, set, set).n == 0);
    }
}

static void check_update(struct arena *a, const struct type *t, const struct value *live, const struct apply_manager *m)
{
    struct value same = apply_note_update(a, t, live, live, m);
    check_sets(a, t, &same);
    struct value twice = apply_note_update(a, t, &same, &same, m);
    must(str_eq(encode(a, t, &same), encode(a, t, &twice)));
    struct value new = apply_note_update(a, t, NULL, live, m);
    check_sets(a, t, &new);
}

static bool apply(struct arena *a, const struct type *t, const struct value *live, struct apply_patch patch,
                  const struct apply_manager *m, struct apply_outcome *outcome)
{
    struct work work = work_init(BODY_BYTES_MAX);
    struct err e;
    err_init(&e, a);
    patch.work = &work;
    if (!apply_merge(a, t, live, &patch, m, outcome, &e))
        return true;
    must(e.code != ERR_OK && e.message);
    must(e.code != ERR_CONFLICT || (outcome->n_conflicts && !patch.force));
    return false;
}

static void check_apply(struct arena *a, const struct type *t, const struct value *live, struct apply_patch patch,
                        const struct apply_manager *m)
{
    struct apply_outcome first, second, third;
    if (!apply(a, t, live, patch, m, &first))
        return;
    check_object(a, t, &first.object);
    check_sets(a, t, &first.object);
    patch.force = true; /* values that are spelled otherwise than they are stored are changes */
    if (!apply(a, t, &first.object, patch, m, &second))
        return;
    bool settled = str_eq(encode(a, t, &first.object), encode(a, t, &second.object));
    must(!settled || apply(a, t, &second.object, patch, m, &third));
    must(!settled || str_eq(encode(a, t, &second.object), encode(a, t, &third.object)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct {
        const char *type, *api_version;
    } kinds[] = { { "core/v1.Pod", "v1" }, { "core/v1.ConfigMap", "v1" }, { "core/v1.Service", "v1" },
                  { "apiextensions.k8s.io/v1.CustomResourceDefinition", "apiextensions.k8s.io/v1" } };
    static const char *const status[] = { "status", NULL };
    if (n == 0)
        return 0;
    struct arena a;
    arena_init(&a);
    effort_begin(n);
    struct str all = arena_str(&a, (struct str){ (const char *)data + 1, n - 1 });
    struct str document = str_first(all, str_index(all, '\0'));
    unsigned pick = data[0];
    const struct type *t = schema_type(str_of(kinds[pick % 4].type));
    struct str api_version = str_of(kinds[pick % 4].api_version);
    struct apply_manager m = { pick & 4 ? STR("kubectl") : STR("m"), api_version, pick & 8 ? STR("status") : STR(""), 1,
                               pick & 16 ? status : NULL };
    struct apply_patch patch = { .body = str_from(all, document.n + 1), .kind = t->kind, .api_version = api_version,
                                 .force = pick & 32 };
    struct value live;
    struct err e;
    err_init(&e, &a);
    bool exists = document.n && !json_decode(&a, WORK_OWN, t, document, NULL, &live, &e);
    if (exists)
        check_update(&a, t, &live, &m);
    check_apply(&a, t, exists ? &live : NULL, patch, &m);
    effort_end(&a, n);
    arena_fini(&a);
    return 0;
}
