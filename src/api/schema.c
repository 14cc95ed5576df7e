/* api/schema.c - looking things up in the generated tables. */
#include "api/schema.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "schema_load8 and tools/schema_gen.py agree on little endian only");

const struct type *schema_type(struct str name)
{
    size_t low = 0, high = schema_n_types;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = str_cmp(name, schema_types[mid].name);
        if (order == 0)
            return &schema_types[mid];
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

void schema_split_api_version(struct str api_version, struct str *ret_group, struct str *ret_version)
{
    size_t slash = str_index(api_version, '/');
    bool legacy = slash == api_version.n;
    *ret_group = legacy ? (struct str){ "", 0 } : str_first(api_version, slash);
    *ret_version = legacy ? api_version : str_from(api_version, slash + 1);
}

/* "<prefix>.<kind>" if it is the name of an object type. */
static const struct type *object_type(struct str prefix, struct str kind)
{
    char name[256];
    if (prefix.n + kind.n + 2 > sizeof(name))
        return NULL;
    memcpy(name, prefix.p, prefix.n);
    name[prefix.n] = '.';
    if (kind.n)
        memcpy(name + prefix.n + 1, kind.p, kind.n);
    const struct type *t = schema_type((struct str){ name, prefix.n + 1 + kind.n });
    return t && t->flags & TYPE_OBJECT ? t : NULL;
}

const struct type *schema_object_type(struct str api_version, struct str kind)
{
    struct str group, version;
    schema_split_api_version(api_version, &group, &version);
    char prefix[128];
    struct str core = STR("core");
    struct str shown = group.n ? group : core;
    if (shown.n + version.n + 1 > sizeof(prefix))
        return NULL;
    memcpy(prefix, shown.p, shown.n);
    prefix[shown.n] = '/';
    if (version.n)
        memcpy(prefix + shown.n + 1, version.p, version.n);
    const struct type *t = object_type((struct str){ prefix, shown.n + 1 + version.n }, kind);
    return t ? t : object_type(STR("meta/v1"), kind);
}

const struct resource *schema_resource(struct str group, struct str version, struct str plural)
{
    for (size_t i = 0; i < schema_n_resources; i++) {
        const struct resource *r = &schema_resources[i];
        if (str_eq(r->plural, plural) && str_eq(r->group, group) && str_eq(r->version, version))
            return r;
    }
    return NULL;
}
