/* rules/pod_projected.c - see pod_priv.h: files that volumes are made of, from secrets, config maps, fields and tokens.
 *
 * Trust bundles and pod certificates are behind gates that are off: they are dropped before anything is checked. */
#include "rules/pod_priv.h"

static const char *const downward_fields[] = { "metadata.annotations", "metadata.labels", "metadata.name",
                                               "metadata.namespace", "metadata.uid", NULL };

static void check_key_path(const struct value *item, const struct field_path *at, struct field_errors *errs)
{
    struct str path = TEXT(item, KeyToPath, path);
    pod_require(TEXT(item, KeyToPath, key), at, "key", errs);
    pod_require(path, at, "path", errs);
    pod_check_local_path(path, AT(at, "path"), errs);
    pod_check_file_mode(GET(item, KeyToPath, mode), AT(at, "mode"), errs);
}

void pod_check_key_paths(const struct value *items, const struct field_path *at, struct field_errors *errs)
{
    for (uint32_t i = 0; i < pod_count(items); i++)
        check_key_path(&items->items[i], AT_INDEX(at, i), errs);
}

void pod_check_downward_file(struct field_errors *errs, const struct value *file, const struct field_path *at)
{
    const struct value *field = GET(file, DownwardAPIVolumeFile, fieldRef);
    const struct value *resource = GET(file, DownwardAPIVolumeFile, resourceFieldRef);
    pod_require(TEXT(file, DownwardAPIVolumeFile, path), at, "path", errs);
    pod_check_local_path(TEXT(file, DownwardAPIVolumeFile, path), AT(at, "path"), errs);
    if (field->kind != VALUE_ABSENT) {
        pod_check_field_ref(field, downward_fields, AT(at, "fieldRef"), errs);
        if (resource->kind != VALUE_ABSENT)
            field_invalid(errs, at, field_str(STR("resource")),
                          STR("fieldRef and resourceFieldRef can not be specified simultaneously"));
    } else if (resource->kind != VALUE_ABSENT) {
        pod_check_resource_ref(resource, true, AT(at, "resourceFieldRef"), errs);
    } else {
        field_required(errs, at, STR("one of fieldRef and resourceFieldRef is required"));
    }
    pod_check_file_mode(GET(file, DownwardAPIVolumeFile, mode), AT(at, "mode"), errs);
}

/* ---- Projected volumes ---- */

struct projection {
    struct pod_check *k;
    const struct field_path *at; /* of the volume's source */
    struct map_str paths;
};

static void claim_path(struct projection *p, struct str path, struct str shown)
{
    if (path.n && !pod_add_new(&p->paths, path))
        field_invalid(p->k->errs, p->at, field_str(shown), STR("conflicting duplicate paths"));
}

/* A secret or a config map. */
static void check_keys(struct projection *p, struct str name, const struct value *items, const struct field_path *at)
{
    pod_require(name, at, "name", p->k->errs);
    for (uint32_t i = 0; i < pod_count(items); i++) {
        check_key_path(&items->items[i], AT_INDEX(AT(at, "items"), i), p->k->errs);
        claim_path(p, TEXT(&items->items[i], KeyToPath, path), name);
    }
}

static void check_fields(struct projection *p, const struct value *source, const struct field_path *at)
{
    const struct value *items = GET(source, DownwardAPIProjection, items);
    for (uint32_t i = 0; i < pod_count(items); i++) {
        struct str path = TEXT(&items->items[i], DownwardAPIVolumeFile, path);
        pod_check_downward_file(p->k->errs, &items->items[i], at);
        claim_path(p, path, path);
    }
}

static void check_token(struct projection *p, const struct value *token, const struct field_path *at)
{
    struct field_errors *errs = p->k->errs;
    int64_t seconds = NUMBER(token, ServiceAccountTokenProjection, expirationSeconds);
    struct str path = TEXT(token, ServiceAccountTokenProjection, path);
    if (seconds < 10 * 60)
        field_invalid(errs, AT(at, "expirationSeconds"), field_int(seconds),
                      STR("may not specify a duration less than 10 minutes"));
    if (seconds > (int64_t)1 << 32)
        field_invalid(errs, AT(at, "expirationSeconds"), field_int(seconds),
                      STR("may not specify a duration larger than 2^32 seconds"));
    if (pod_require(path, p->at, "path", errs) && !p->k->lenient.token_paths)
        pod_check_local_path(path, AT(p->at, "path"), errs);
}

static void check_source(struct projection *p, const struct value *source, const struct field_path *at)
{
    const struct value *secret = GET(source, VolumeProjection, secret), *map = GET(source, VolumeProjection, configMap);
    const struct value *fields = GET(source, VolumeProjection, downwardAPI);
    const struct value *token = GET(source, VolumeProjection, serviceAccountToken);
    if (secret->kind != VALUE_ABSENT)
        check_keys(p, TEXT(secret, SecretProjection, name), GET(secret, SecretProjection, items), AT(at, "secret"));
    if (map->kind != VALUE_ABSENT)
        check_keys(p, TEXT(map, ConfigMapProjection, name), GET(map, ConfigMapProjection, items), AT(at, "configMap"));
    if (fields->kind != VALUE_ABSENT)
        check_fields(p, fields, AT(at, "downwardAPI"));
    if (token->kind != VALUE_ABSENT)
        check_token(p, token, AT(at, "serviceAccountToken"));
    unsigned n = (secret->kind != VALUE_ABSENT) + (map->kind != VALUE_ABSENT) + (fields->kind != VALUE_ABSENT) +
                 (token->kind != VALUE_ABSENT);
    if (n > 1)
        field_forbidden(p->k->errs, at, STR("may not specify more than 1 volume type per source"));
}

void pod_check_projected(struct pod_check *k, const struct value *source, const struct field_path *at)
{
    struct projection p = { .k = k, .at = at };
    const struct value *list = GET(source, ProjectedVolumeSource, sources);
    map_str_init(&p.paths);
    pod_check_file_mode(GET(source, ProjectedVolumeSource, defaultMode), AT(at, "defaultMode"), k->errs);
    for (uint32_t i = 0; i < pod_count(list); i++)
        check_source(&p, &list->items[i], AT_INDEX(AT(at, "sources"), i));
    map_str_fini(&p.paths);
}
