/* rules/pod_env.c - see pod_priv.h: variables of containers and where their values come from. */
#include "rules/pod_priv.h"

/* ---- Fields of the pod and resources of containers ---- */

/* "metadata.labels['key']" has a key. */
static bool split_subscript(struct str path, struct str *ret_path, struct str *ret_key)
{
    if (!str_ends(path, STR("']")))
        return false;
    struct str inner = str_first(path, path.n - 2);
    for (size_t i = 0; i + 1 < inner.n; i++)
        if (inner.p[i] == '[' && inner.p[i + 1] == '\'') {
            *ret_path = str_first(inner, i);
            *ret_key = str_from(inner, i + 2);
            return i > 0;
        }
    return false;
}

static struct str lower_case(struct arena *a, struct str text)
{
    char *lower = arena_cstr(a, text);
    for (size_t i = 0; i < text.n; i++)
        lower[i] = lower[i] >= 'A' && lower[i] <= 'Z' ? (char)(lower[i] - 'A' + 'a') : lower[i];
    return (struct str){ lower, text.n };
}

/* What is known under that name, NULL for nothing. */
static const char *field_label(struct str path)
{
    static const char *const labels[] = {
        "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid",
        "spec.nodeName", "spec.restartPolicy", "spec.serviceAccountName", "spec.schedulerName", "status.phase",
        "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
    };
    if (str_is(path, "spec.host")) /* of very old clients */
        return "spec.nodeName";
    for (size_t i = 0; i < N_OF(labels); i++)
        if (str_is(path, labels[i]))
            return labels[i];
    return NULL;
}

static void cannot_convert(struct str path, struct str why, const struct field_path *at, struct field_errors *errs)
{
    field_invalid(errs, AT(at, "fieldPath"), field_str(path),
                  pod_detail(errs, "error converting fieldPath: %.*s", STR_ARG(why)));
}

static void check_subscript(struct str path, struct str base, struct str key, const struct field_path *at,
                            struct field_errors *errs)
{
    bool annotations = str_is(base, "metadata.annotations");
    if (!annotations && !str_is(base, "metadata.labels")) {
        cannot_convert(path, pod_detail(errs, "field label does not support subscript: %.*s", STR_ARG(path)), at, errs);
        return;
    }
    struct str shown = annotations ? lower_case(errs->arena, key) : key;
    pod_check_name(name_label_key(shown), shown, at, errs);
}

void pod_check_field_ref(const struct value *selector, const char *const *supported, const struct field_path *at,
                         struct field_errors *errs)
{
    struct str version = TEXT(selector, ObjectFieldSelector, apiVersion), base, key;
    struct str path = TEXT(selector, ObjectFieldSelector, fieldPath);
    if (!pod_require(version, at, "apiVersion", errs) || !pod_require(path, at, "fieldPath", errs))
        return;
    const char *label = field_label(path);
    if (!str_is(version, "v1")) {
        cannot_convert(path, pod_detail(errs, "unsupported pod version: %.*s", STR_ARG(version)), at, errs);
    } else if (split_subscript(path, &base, &key)) {
        check_subscript(path, base, key, at, errs);
    } else if (!label) {
        cannot_convert(path, pod_detail(errs, "field label not supported: %.*s", STR_ARG(path)), at, errs);
    } else {
        size_t n = 0;
        bool found = false;
        for (; supported[n]; n++)
            found |= strcmp(supported[n], label) == 0;
        if (!found)
            field_not_supported(errs, AT(at, "fieldPath"), field_str(str_of(label)), supported, n);
    }
}

/* Units in which an amount may be given. */
static bool is_unit(struct str divisor, bool cpu)
{
    static const char *const cpu_units[] = { "1m", "1", NULL };
    static const char *const units[] = { "1",   "1k",  "1M",  "1G",  "1T",  "1P",  "1E", "1Ki",
                                         "1Mi", "1Gi", "1Ti", "1Pi", "1Ei", NULL };
    for (const char *const *u = cpu ? cpu_units : units; *u; u++)
        if (str_is(divisor, *u))
            return true;
    return false;
}

static bool is_huge_pages_ref(struct str resource)
{
    return str_starts(resource, STR("requests.hugepages-")) || str_starts(resource, STR("limits.hugepages-"));
}

static void check_divisor(struct str resource, struct str divisor, const struct field_path *at,
                          struct field_errors *errs)
{
    static const struct {
        const char *name, *what;
    } kinds[] = { { "cpu", "the cpu resource" },
                  { "memory", "the memory resource" },
                  { "ephemeral-storage", "the local ephemeral storage resource" } };
    struct quantity amount = pod_amount(errs->arena, divisor);
    if (!divisor.n || quantity_sign(&amount) == 0)
        return;
    struct str kind = str_from(resource, str_index(resource, '.') + 1);
    const char *what = is_huge_pages_ref(resource) ? "the hugepages resource" : NULL;
    for (size_t i = 0; i < N_OF(kinds); i++)
        if (str_is(kind, kinds[i].name))
            what = kinds[i].what;
    bool cpu = str_is(kind, "cpu");
    if (what && !is_unit(divisor, cpu))
        field_invalid(errs, AT(at, "divisor"), field_str(resource),
                      pod_detail(errs, "only divisor's values %s are supported with %s",
                                 cpu ? "1m and 1" : "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei", what));
}

void pod_check_resource_ref(const struct value *selector, bool volume, const struct field_path *at,
                            struct field_errors *errs)
{
    static const char *const resources[] = { "limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
                                             "requests.cpu", "requests.ephemeral-storage", "requests.memory" };
    struct str resource = TEXT(selector, ResourceFieldSelector, resource);
    bool known = is_huge_pages_ref(resource);
    for (size_t i = 0; i < N_OF(resources); i++)
        known |= str_is(resource, resources[i]);
    if (volume && !TEXT(selector, ResourceFieldSelector, containerName).n)
        field_required(errs, AT(at, "containerName"), STR(""));
    else if (pod_require(resource, at, "resource", errs) && !known)
        field_not_supported(errs, AT(at, "resource"), field_str(resource), resources, N_OF(resources));
    if (known)
        check_divisor(resource, TEXT(selector, ResourceFieldSelector, divisor), at, errs);
}

/* ---- Variables ---- */

/* Of a config map or a secret: both have name and key in the same places. */
static void check_key_ref(const struct value *ref, const struct field_path *at, struct field_errors *errs)
{
    _Static_assert(SAME_SLOT(ConfigMapKeySelector, SecretKeySelector, name) &&
                       SAME_SLOT(ConfigMapKeySelector, SecretKeySelector, key),
                   "one check for both");
    struct str name = TEXT(ref, ConfigMapKeySelector, name), key = TEXT(ref, ConfigMapKeySelector, key);
    pod_check_name(name_dns1123_subdomain(name), name, AT(at, "name"), errs);
    if (pod_require(key, at, "key", errs))
        pod_check_name(name_config_map_key(key), key, AT(at, "key"), errs);
}

static void check_file_key(const struct value *ref, const struct field_path *at, struct field_errors *errs)
{
    struct str key = TEXT(ref, FileKeySelector, key), volume = TEXT(ref, FileKeySelector, volumeName);
    struct str path = TEXT(ref, FileKeySelector, path);
    if (pod_require(key, at, "key", errs))
        pod_check_name(name_relaxed_env_var(key), key, AT(at, "key"), errs);
    if (pod_require(volume, at, "volumeName", errs))
        pod_check_name(name_dns1123_label(volume), volume, AT(at, "volumeName"), errs);
    if (pod_require(path, at, "path", errs))
        pod_check_no_backsteps(path, AT(at, "path"), errs);
}

/* How many sources a value has, each of them checked. */
static unsigned check_sources(const struct value *from, const struct field_path *at, struct field_errors *errs)
{
    static const char *const fields[] = { "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
                                          "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP",
                                          "status.podIPs", NULL };
    unsigned n = 0;
    if (IS_SET(from, EnvVarSource, fieldRef) && ++n)
        pod_check_field_ref(GET(from, EnvVarSource, fieldRef), fields, AT(at, "fieldRef"), errs);
    if (IS_SET(from, EnvVarSource, resourceFieldRef) && ++n)
        pod_check_resource_ref(GET(from, EnvVarSource, resourceFieldRef), false, AT(at, "resourceFieldRef"), errs);
    if (IS_SET(from, EnvVarSource, configMapKeyRef) && ++n)
        check_key_ref(GET(from, EnvVarSource, configMapKeyRef), AT(at, "configMapKeyRef"), errs);
    if (IS_SET(from, EnvVarSource, secretKeyRef) && ++n)
        check_key_ref(GET(from, EnvVarSource, secretKeyRef), AT(at, "secretKeyRef"), errs);
    if (IS_SET(from, EnvVarSource, fileKeyRef) && ++n)
        check_file_key(GET(from, EnvVarSource, fileKeyRef), AT(at, "fileKeyRef"), errs);
    return n;
}

static void check_value_from(const struct value *variable, const struct field_path *at, struct field_errors *errs)
{
    const struct value *from = GET(variable, EnvVar, valueFrom);
    if (from->kind == VALUE_ABSENT)
        return;
    unsigned n = check_sources(from, at, errs);
    if (n == 0)
        field_invalid(errs, at, field_str(STR("")),
                      STR("must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or "
                          "`fileKeyRef`"));
    else if (TEXT(variable, EnvVar, value).n)
        field_invalid(errs, at, field_str(STR("")), STR("may not be specified when `value` is not empty"));
    else if (n > 1)
        field_invalid(errs, at, field_str(STR("")), STR("may not have more than one field specified at a time"));
}

void pod_check_env(const struct value *env, const struct field_path *at, struct field_errors *errs)
{
    for (uint32_t i = 0; i < pod_count(env); i++) {
        const struct field_path *path = AT_INDEX(at, i);
        struct str name = TEXT(&env->items[i], EnvVar, name);
        if (pod_require(name, path, "name", errs))
            pod_check_name(name_relaxed_env_var(name), name, AT(path, "name"), errs);
        check_value_from(&env->items[i], AT(path, "valueFrom"), errs);
    }
}

/* A config map or a secret by its name, which may still get an ending: it may end with a dash. */
static void check_env_source(struct str name, const struct field_path *at, struct field_errors *errs)
{
    if (pod_require(name, at, "name", errs))
        pod_check_name(name_is_dns_subdomain(name, true), name, AT(at, "name"), errs);
}

void pod_check_env_from(const struct value *env_from, const struct field_path *at, struct field_errors *errs)
{
    for (uint32_t i = 0; i < pod_count(env_from); i++) {
        const struct value *from = &env_from->items[i];
        const struct field_path *path = AT_INDEX(at, i);
        const struct value *map = GET(from, EnvFromSource, configMapRef), *secret = GET(from, EnvFromSource, secretRef);
        struct str prefix = TEXT(from, EnvFromSource, prefix);
        if (prefix.n)
            pod_check_name(name_relaxed_env_var(prefix), prefix, AT(path, "prefix"), errs);
        if (map->kind != VALUE_ABSENT)
            check_env_source(TEXT(map, ConfigMapEnvSource, name), AT(path, "configMapRef"), errs);
        if (secret->kind != VALUE_ABSENT)
            check_env_source(TEXT(secret, SecretEnvSource, name), AT(path, "secretRef"), errs);
        if (map->kind == VALUE_ABSENT && secret->kind == VALUE_ABSENT)
            field_invalid(errs, at, field_str(STR("")), STR("must specify one of: `configMapRef` or `secretRef`"));
        else if (map->kind != VALUE_ABSENT && secret->kind != VALUE_ABSENT)
            field_invalid(errs, at, field_str(STR("")), STR("may not have more than one field specified at a time"));
    }
}

/* ---- Variables from files: the volume must be an empty directory ---- */

struct file_keys {
    struct field_errors *errs;
    struct map_str volumes; /* all of them by name: struct value */
};

static void check_file_keys_of(void *with, const struct value *container, const struct field_path *at)
{
    struct file_keys *f = with;
    const struct value *env = GET(container, Container, env);
    for (uint32_t i = 0; i < pod_count(env); i++) {
        const struct value *ref = GET(GET(&env->items[i], EnvVar, valueFrom), EnvVarSource, fileKeyRef);
        if (ref->kind == VALUE_ABSENT)
            continue;
        struct str name = TEXT(ref, FileKeySelector, volumeName);
        const union map_value *found = map_str_find(&f->volumes, name);
        const struct field_path *variable = AT_INDEX(AT(at, "env"), i);
        const struct field_path *path = AT(AT(AT(variable, "valueFrom"), "fileKeyRef"), "volumeName");
        if (!found)
            field_not_found(f->errs, path, field_str(name));
        else if (!IS_SET((const struct value *)found->const_ptr, Volume, emptyDir))
            field_invalid(f->errs, path, field_str(name), STR("referenced volume must be of type emptyDir"));
    }
}

void pod_check_file_keys(struct pod_check *k, const struct field_path *at)
{
    struct file_keys f = { .errs = k->errs };
    const struct value *volumes = GET(k->spec, PodSpec, volumes);
    map_str_init(&f.volumes);
    for (uint32_t i = 0; i < pod_count(volumes); i++)
        map_str_put(&f.volumes, TEXT(&volumes->items[i], Volume, name), NULL)->const_ptr = &volumes->items[i];
    pod_visit_containers(k->spec, at, check_file_keys_of, &f);
    map_str_fini(&f.volumes);
}
