/* patch/strategic_schema.c - what the schema has at a place of a strategic merge patch: see
 * strategic_priv.h. */
#include "patch/strategic_priv.h"

#include <strings.h>

struct smp_type smp_root_type(const struct type *t)
{
    return (struct smp_type){ t, strchr(t->go_name, '.') + 1, "struct" };
}

/* A Go type without its package. */
static const char *short_name(const char *go_type)
{
    const char *dot = strrchr(go_type, '.');
    return dot ? dot + 1 : go_type;
}

static const char *scalar_go_kind(const struct field *f)
{
    static const char *const names[] = {
        [KIND_STRING] = "string", [KIND_BOOL] = "bool",     [KIND_INT32] = "int32",    [KIND_INT64] = "int64",
        [KIND_UINT32] = "uint32", [KIND_DOUBLE] = "float64", [KIND_BYTES] = "slice",
    };
    return f->kind < sizeof(names) / sizeof(names[0]) ? names[f->kind] : "struct";
}

static struct smp_type one_type(const struct field *f)
{
    const char *go_kind = scalar_go_kind(f);
    const struct type *t = f->type;
    if (t && t->flags & TYPE_WRAPPER)
        return (struct smp_type){ NULL, NULL, "slice" };
    bool has_fields = t && !(t->flags & TYPE_BY_SHAPE);
    bool is_struct = strcmp(go_kind, "struct") == 0;
    return (struct smp_type){ has_fields ? t : NULL, is_struct ? short_name(f->go_elem) : NULL, go_kind };
}

struct smp_type smp_field_type(const struct field *f)
{
    if (f->shape == SHAPE_ONE)
        return one_type(f);
    return (struct smp_type){ NULL, NULL, f->shape == SHAPE_MAP ? "map" : "slice" };
}

enum err_code smp_element_type(struct smp *m, struct smp_type at, const struct field *f,
                               struct smp_type *ret_type)
{
    if (f->shape == SHAPE_LIST)
        *ret_type = one_type(f);
    else if (f->shape == SHAPE_ONE && f->type && f->type->flags & TYPE_WRAPPER)
        *ret_type = one_type(&f->type->fields[0]);
    else if (f->shape == SHAPE_ONE && f->kind == KIND_BYTES)
        *ret_type = (struct smp_type){ NULL, NULL, "uint8" };
    else if (f->shape == SHAPE_ONE && f->flags & FIELD_PTR)
        *ret_type = one_type(f);
    else
        return err_set(m->e, ERR_UNKNOWN, "expected slice or array type, but got: %s", at.go_kind);
    return ERR_OK;
}

static bool same_but_for_case(struct str a, struct str b)
{
    return a.n == b.n && strncasecmp(a.p, b.p, a.n) == 0;
}

static enum err_code unknown_field(struct smp *m, const char *struct_name, struct str name)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_printf(&b, "unable to find api field in struct %s for the json field ", struct_name);
    strbuf_add_quoted(&b, name);
    return err_set(m->e, ERR_UNKNOWN, "%s", take_text(m->arena, &b));
}

enum err_code smp_field(struct smp *m, struct smp_type at, struct str name, const struct field **ret_field)
{
    if (!at.name)
        return err_set(m->e, ERR_UNKNOWN,
                       "merging an object in json but data type is not struct, instead is: %s", at.go_kind);
    int slot = at.type ? schema_slot(at.type, name) : -1;
    for (int i = 0; slot < 0 && at.type && i < at.type->n_fields; i++)
        if (same_but_for_case(at.type->fields[i].name, name))
            slot = i;
    if (slot < 0)
        return unknown_field(m, at.name, name);
    *ret_field = &at.type->fields[slot];
    return ERR_OK;
}
