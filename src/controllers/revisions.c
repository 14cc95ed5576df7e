/* controllers/revisions.c - see revisions.h. */
#include "controllers/revisions.h"

#include "api/edit.h"
#include "api/generate_name.h"
#include "base/sort.h"
#include "codec/json.h"

#define HASH_LABEL "controller.kubernetes.io/hash"

static const struct type *revision_type(void)
{
    return schema_type(STR("apps/v1.ControllerRevision"));
}

struct revision revision_read(struct arena *a, const struct value *v)
{
    const struct type *t = revision_type();
    const struct value *created = value_path(t, v, "metadata.creationTimestamp"), *number = value_path(t, v, "revision");
    return (struct revision){
        .name = arena_str(a, value_text(value_path(t, v, "metadata.name"))),
        .uid = arena_str(a, value_text(value_path(t, v, "metadata.uid"))),
        .data = arena_str(a, value_text(value_path(t, v, "data"))),
        .number = number->kind == VALUE_INT ? number->i : 0,
        .created_s = created->kind == VALUE_TIME ? created->i : 0,
    };
}

static int by_number(const void *x, const void *y)
{
    const struct revision *a = x, *b = y;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    if (a->created_s != b->created_s)
        return a->created_s < b->created_s ? -1 : 1;
    return str_cmp(a->name, b->name);
}

void revisions_sort(struct arena *scratch, struct revisions *r)
{
    sort_stable(scratch, r->at, r->n, sizeof(*r->at), by_number);
}

/* ---- Data ---- */

struct str revision_data(struct arena *a, const struct value *template)
{
    struct strbuf text;
    struct value plain, none = { 0 };
    struct err e;
    err_init(&e, a);
    strbuf_init(&text, STRBUF_NO_MAX);
    json_encode(&text, schema_type(STR("core/v1.PodTemplateSpec")), template);
    struct str bytes = arena_str(a, strbuf_str(&text));
    if (json_decode_plain(a, WORK_OWN, bytes, &plain, &e))
        plain = value_map(NULL, 0); /* what we have written can be read */
    plain = edit_member(a, &plain, STR("$patch"), edit_text("replace"));
    struct value spec = edit_member(a, &none, STR("template"), plain);
    struct value all = edit_member(a, &none, STR("spec"), spec);
    strbuf_reset(&text);
    json_encode_plain(&text, &all);
    bytes = arena_str(a, strbuf_str(&text));
    strbuf_fini(&text);
    return bytes;
}

struct value revision_template(struct arena *a, const struct type *owner_type, struct str data)
{
    struct value v;
    struct err e;
    err_init(&e, a);
    if (json_decode(a, WORK_OWN, owner_type, data, NULL, &v, &e))
        return (struct value){ .kind = VALUE_ABSENT };
    return *value_path(owner_type, &v, "spec.template");
}

/* FNV-1 of 32 bits over the data and the number of collisions, its decimal digits as letters of names. */
struct str revision_hash(struct arena *a, struct str data, int64_t n_collisions)
{
    uint32_t hash = 2166136261u;
    const char *probe = arena_printf(a, "%lld", (long long)n_collisions);
    for (size_t i = 0; i < data.n; i++)
        hash = hash * 16777619u ^ (unsigned char)data.p[i];
    for (; *probe; probe++)
        hash = hash * 16777619u ^ (unsigned char)*probe;
    char *text = arena_printf(a, "%u", hash);
    for (char *c = text; *c; c++)
        *c = name_alphabet[(unsigned char)*c % (sizeof(name_alphabet) - 1)];
    return str_of(text);
}

struct str revision_name(struct arena *a, struct str owner_name, struct str hash)
{
    return str_of(arena_printf(a, "%.*s-%.*s", STR_ARG(str_first(owner_name, REVISION_NAME_PREFIX_MAX)), STR_ARG(hash)));
}

/* ---- Which one ---- */

enum revision_need revisions_need(const struct revisions *r, struct str data, size_t *ret_at)
{
    for (size_t i = r->n; i-- > 0;)
        if (str_eq(r->at[i].data, data)) {
            *ret_at = i;
            return i == r->n - 1 ? REVISION_IS_THERE : REVISION_RENUMBER;
        }
    return REVISION_CREATE;
}

int64_t revisions_next_number(const struct revisions *r)
{
    return r->n ? r->at[r->n - 1].number + 1 : 1;
}

struct value revision_make(struct arena *a, struct value owner_reference, struct str namespace, struct str name, struct str hash,
                           struct str data, int64_t number, const struct value *labels, const struct value *annotations)
{
    const struct type *t = revision_type();
    struct value v = value_struct(a, t), none = { 0 };
    const struct {
        const char *path;
        struct value to;
    } fields[] = {
        { "apiVersion", edit_text("apps/v1") },
        { "kind", edit_text("ControllerRevision") },
        { "metadata.namespace", value_string(namespace) },
        { "metadata.name", value_string(name) },
        { "metadata.labels", edit_member(a, labels, STR(HASH_LABEL), value_string(hash)) },
        { "metadata.annotations", *annotations },
        { "metadata.ownerReferences", edit_append(a, &none, owner_reference) },
        { "data", value_raw(data) },
        { "revision", value_int(number) },
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        v = edit_set(a, t, &v, fields[i].path, fields[i].to);
    return v;
}
