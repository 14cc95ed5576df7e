/* rules/pod_warn_volumes.c - see pod_warn.h: volumes. */
#include "rules/pod_warn.h"

/* ---- Kinds that are no more ---- */

static void warn_claim_template(struct warn *w, const struct value *volume, const struct field_path *at)
{
    const struct value *template = GET(GET(volume, Volume, ephemeral), EphemeralVolumeSource, volumeClaimTemplate);
    const struct value *spec = GET(template, PersistentVolumeClaimTemplate, spec);
    const struct value *resources = GET(spec, PersistentVolumeClaimSpec, resources);
    const struct field_path *path = AT(AT(AT(AT(at, "ephemeral"), "volumeClaimTemplate"), "spec"), "resources");
    warn_fraction(w, GET(resources, VolumeResourceRequirements, requests), "storage", AT(path, "requests"));
    warn_fraction(w, GET(resources, VolumeResourceRequirements, limits), "storage", AT(path, "limits"));
}

static void warn_sources(struct warn *w, const struct field_path *at)
{
    static const struct {
        unsigned slot;
        const char *name, *message; /* no message: the template of a claim */
    } sources[] = {
        { SLOT_core_v1_Volume_photonPersistentDisk, "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+" },
        { SLOT_core_v1_Volume_gitRepo, "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+" },
        { SLOT_core_v1_Volume_scaleIO, "scaleIO", "deprecated in v1.16, non-functional in v1.22+" },
        { SLOT_core_v1_Volume_flocker, "flocker", "deprecated in v1.22, non-functional in v1.25+" },
        { SLOT_core_v1_Volume_storageos, "storageOS", "deprecated in v1.22, non-functional in v1.25+" },
        { SLOT_core_v1_Volume_quobyte, "quobyte", "deprecated in v1.22, non-functional in v1.25+" },
        { SLOT_core_v1_Volume_glusterfs, "glusterfs", "deprecated in v1.25, non-functional in v1.26+" },
        { SLOT_core_v1_Volume_ephemeral, "ephemeral", NULL },
        { SLOT_core_v1_Volume_cephfs, "cephfs", "deprecated in v1.28, non-functional in v1.31+" },
        { SLOT_core_v1_Volume_rbd, "rbd", "deprecated in v1.28, non-functional in v1.31+" },
    };
    const struct value *list = GET(w->spec, PodSpec, volumes);
    for (uint32_t i = 0; i < pod_count(list); i++) {
        const struct field_path *path = AT_INDEX(AT(at, "volumes"), i);
        for (size_t s = 0; s < N_OF(sources); s++) {
            if (value_slot(&list->items[i], sources[s].slot)->kind == VALUE_ABSENT)
                continue;
            if (sources[s].message)
                warnings_add(w->out, "%s: %s", warn_path(w, AT_NAME(path, sources[s].name)), sources[s].message);
            else
                warn_claim_template(w, &list->items[i], path);
        }
    }
}

/* ---- Files that would hide each other ---- */

struct file {
    struct str path;
    const char *source; /* NULL: there is only one */
};

/* Files of a volume, in the order in which they are made. */
struct files {
    struct warn *w;
    struct str volume;
    const char *kind; /* "Projected" */
    struct file *at;
    uint32_t n, cap;
};

static bool covers(struct str path, struct str other)
{
    return str_starts(other, path) && (other.n == path.n || other.p[path.n] == '/');
}

static const char *file_text(struct warn *w, const struct file *f)
{
    const char *path = warn_quoted(w, f->path);
    return f->source ? arena_printf(w->arena, "%s (%s)", path, f->source) : path;
}

static void add_file(struct files *files, struct str path, const char *source)
{
    struct warn *w = files->w;
    while (str_ends(path, STR("/")))
        path = str_first(path, path.n - 1);
    struct file file = { path, source };
    for (uint32_t i = 0; path.n && i < files->n && warn_may_compare(w); i++) {
        const struct file *other = &files->at[i];
        if (other->path.n && (covers(path, other->path) || covers(other->path, path)))
            warnings_add(w->out, "volume %s (%s): overlapping paths: %s with %s", warn_quoted(w, files->volume),
                         files->kind, file_text(w, &file), file_text(w, other));
    }
    if (files->n < files->cap)
        files->at[files->n++] = file;
}

static void add_keys(struct files *files, const struct value *items, const char *source)
{
    for (uint32_t i = 0; i < pod_count(items); i++)
        add_file(files, TEXT(&items->items[i], KeyToPath, path), source);
}

static void add_fields(struct files *files, const struct value *items, const char *source)
{
    for (uint32_t i = 0; i < pod_count(items); i++)
        add_file(files, TEXT(&items->items[i], DownwardAPIVolumeFile, path), source);
}

static struct files files_of(struct warn *w, const struct value *volume, const char *kind, uint32_t cap)
{
    return (struct files){ w, TEXT(volume, Volume, name), kind, ARENA_NEW_N(w->arena, struct file, cap), 0, cap };
}

static const char *named(struct warn *w, const char *kind, struct str name)
{
    return arena_printf(w->arena, "%s %s", kind, warn_quoted(w, name));
}

/* How many files a source may make. */
static uint32_t count_files(const struct value *source)
{
    return pod_count(GET(GET(source, VolumeProjection, configMap), ConfigMapProjection, items)) +
           pod_count(GET(GET(source, VolumeProjection, secret), SecretProjection, items)) +
           pod_count(GET(GET(source, VolumeProjection, downwardAPI), DownwardAPIProjection, items)) + 1;
}

static void add_projection(struct files *files, const struct value *source)
{
    const struct value *map = GET(source, VolumeProjection, configMap), *secret = GET(source, VolumeProjection, secret);
    const struct value *fields = GET(source, VolumeProjection, downwardAPI);
    const struct value *token = GET(source, VolumeProjection, serviceAccountToken);
    bool any = map->kind != VALUE_ABSENT || secret->kind != VALUE_ABSENT || fields->kind != VALUE_ABSENT ||
               token->kind != VALUE_ABSENT;
    if (!any)
        warnings_add(files->w->out, "volume %s (Projected) has no sources provided", warn_quoted(files->w, files->volume));
    else if (IS_SET(map, ConfigMapProjection, items))
        add_keys(files, GET(map, ConfigMapProjection, items),
                 named(files->w, "ConfigMap", TEXT(map, ConfigMapProjection, name)));
    else if (IS_SET(secret, SecretProjection, items))
        add_keys(files, GET(secret, SecretProjection, items),
                 named(files->w, "Secret", TEXT(secret, SecretProjection, name)));
    else if (IS_SET(fields, DownwardAPIProjection, items))
        add_fields(files, GET(fields, DownwardAPIProjection, items), "DownwardAPI");
    else if (token->kind != VALUE_ABSENT)
        add_file(files, TEXT(token, ServiceAccountTokenProjection, path), "ServiceAccountToken");
}

static void warn_projected(struct warn *w, const struct value *volume)
{
    const struct value *sources = GET(GET(volume, Volume, projected), ProjectedVolumeSource, sources);
    uint32_t n = 0;
    for (uint32_t i = 0; i < pod_count(sources); i++)
        n += count_files(&sources->items[i]);
    struct files files = files_of(w, volume, "Projected", n);
    for (uint32_t i = 0; i < pod_count(sources); i++)
        add_projection(&files, &sources->items[i]);
}

static void warn_overlaps(struct warn *w, const struct value *volume)
{
    const struct value *map = GET(volume, Volume, configMap), *secret = GET(volume, Volume, secret);
    const struct value *keys = GET(map, ConfigMapVolumeSource, items), *secrets = GET(secret, SecretVolumeSource, items);
    const struct value *fields = GET(GET(volume, Volume, downwardAPI), DownwardAPIVolumeSource, items);
    struct files files = files_of(w, volume, named(w, "ConfigMap", TEXT(map, ConfigMapVolumeSource, name)), pod_count(keys));
    add_keys(&files, keys, NULL);
    files = files_of(w, volume, named(w, "Secret", TEXT(secret, SecretVolumeSource, secretName)), pod_count(secrets));
    add_keys(&files, secrets, NULL);
    files = files_of(w, volume, "DownwardAPI", pod_count(fields));
    add_fields(&files, fields, NULL);
    warn_projected(w, volume);
}

void warn_volumes(struct warn *w, const struct field_path *at)
{
    const struct value *volumes = GET(w->spec, PodSpec, volumes);
    warn_sources(w, at);
    for (uint32_t i = 0; i < pod_count(volumes); i++)
        warn_overlaps(w, &volumes->items[i]);
}
