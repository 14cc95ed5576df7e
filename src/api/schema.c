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

/* ---- Kinds of the meta group ----
 *
 * As upstream registers them (v1.36): a few have no version and are known under any, options of requests under every
 * version that is registered, the views of any object under their own group alone. */

/* Versions of all groups, also of those that are no longer served; sorted. */
static const char *const registered_versions[] = {
    "admission.k8s.io/v1", "admission.k8s.io/v1beta1", "admissionregistration.k8s.io/v1",
    "admissionregistration.k8s.io/v1alpha1", "admissionregistration.k8s.io/v1beta1", "apiextensions.k8s.io/v1",
    "apiextensions.k8s.io/v1beta1", "apiregistration.k8s.io/v1", "apiregistration.k8s.io/v1beta1", "apps/v1",
    "apps/v1beta1", "apps/v1beta2", "authentication.k8s.io/v1", "authentication.k8s.io/v1alpha1",
    "authentication.k8s.io/v1beta1", "authorization.k8s.io/v1", "authorization.k8s.io/v1beta1", "autoscaling/v1",
    "autoscaling/v2", "batch/v1", "batch/v1beta1", "certificates.k8s.io/v1", "certificates.k8s.io/v1alpha1",
    "certificates.k8s.io/v1beta1", "coordination.k8s.io/v1", "coordination.k8s.io/v1alpha2",
    "coordination.k8s.io/v1beta1", "discovery.k8s.io/v1", "discovery.k8s.io/v1beta1", "events.k8s.io/v1",
    "events.k8s.io/v1beta1", "extensions/v1beta1", "flowcontrol.apiserver.k8s.io/v1",
    "flowcontrol.apiserver.k8s.io/v1beta1", "flowcontrol.apiserver.k8s.io/v1beta2",
    "flowcontrol.apiserver.k8s.io/v1beta3", "imagepolicy.k8s.io/v1alpha1", "internal.apiserver.k8s.io/v1alpha1",
    "networking.k8s.io/v1", "networking.k8s.io/v1beta1", "node.k8s.io/v1", "node.k8s.io/v1alpha1",
    "node.k8s.io/v1beta1", "policy/v1", "policy/v1beta1", "rbac.authorization.k8s.io/v1",
    "rbac.authorization.k8s.io/v1alpha1", "rbac.authorization.k8s.io/v1beta1", "resource.k8s.io/v1",
    "resource.k8s.io/v1alpha3", "resource.k8s.io/v1beta1", "resource.k8s.io/v1beta2", "scheduling.k8s.io/v1",
    "scheduling.k8s.io/v1alpha2", "scheduling.k8s.io/v1beta1", "storage.k8s.io/v1", "storage.k8s.io/v1alpha1",
    "storage.k8s.io/v1beta1", "storagemigration.k8s.io/v1beta1", "v1",
};

static bool is_one_of(struct str text, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(text, texts[i]))
            return true;
    return false;
}
#define IS_ONE_OF(text, texts) is_one_of((text), (texts), sizeof(texts) / sizeof((texts)[0]))

static bool meta_kind_known(struct str api_version, struct str kind)
{
    static const char *const unversioned[] = { "Status", "APIVersions", "APIGroup", "APIGroupList", "APIResourceList" };
    static const char *const options[] = { "ListOptions",   "GetOptions",    "DeleteOptions",
                                           "CreateOptions", "UpdateOptions", "PatchOptions" };
    static const char *const views[] = { "PartialObjectMetadata", "PartialObjectMetadataList", "Table",
                                         "TableOptions" };
    if (IS_ONE_OF(kind, unversioned))
        return true;
    if (IS_ONE_OF(kind, options))
        return IS_ONE_OF(api_version, registered_versions);
    return IS_ONE_OF(kind, views) && str_is(api_version, "meta.k8s.io/v1");
}

const struct type *schema_object_type(struct str api_version, struct str kind)
{
    struct str group, version;
    schema_split_api_version(api_version, &group, &version);
    char prefix[128];
    struct str core = STR("core");
    struct str shown = group.n ? group : core;
    if (str_is(group, "core") || str_is(group, "meta")) /* our own names for what has none */
        return meta_kind_known(api_version, kind) ? object_type(STR("meta/v1"), kind) : NULL;
    if (shown.n + version.n + 1 > sizeof(prefix))
        return NULL;
    memcpy(prefix, shown.p, shown.n);
    prefix[shown.n] = '/';
    if (version.n)
        memcpy(prefix + shown.n + 1, version.p, version.n);
    const struct type *t = object_type((struct str){ prefix, shown.n + 1 + version.n }, kind);
    return t || !meta_kind_known(api_version, kind) ? t : object_type(STR("meta/v1"), kind);
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
