/* rules/pod_volumes.c - see pod_priv.h: volumes of a pod and their sources.
 *
 * A volume has one source; further ones are named and not looked at. Sources that only need some texts to be there are
 * rows, the others functions. */
#include "rules/pod_priv.h"

/* ---- Sources with functions ---- */

typedef void check_source(struct pod_check *k, const struct value *volume, const struct value *source,
                          const struct field_path *at);

static void check_empty_dir(struct pod_check *k, const struct value *volume, const struct value *source,
                            const struct field_path *at)
{
    (void)volume;
    struct str limit = TEXT(source, EmptyDirVolumeSource, sizeLimit);
    struct quantity amount = pod_amount(k->arena, limit);
    if (limit.n && quantity_sign(&amount) < 0)
        field_forbidden(k->errs, AT(at, "sizeLimit"), STR("SizeLimit field must be a valid resource quantity"));
}

static void check_host_path(struct pod_check *k, const struct value *volume, const struct value *source,
                            const struct field_path *at)
{
    static const char *const types[] = { "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File",
                                         "FileOrCreate", "Socket", NULL };
    (void)volume;
    struct str path = TEXT(source, HostPathVolumeSource, path);
    if (!pod_require(path, at, "path", k->errs))
        return;
    pod_check_no_backsteps(path, AT(at, "path"), k->errs);
    if (IS_SET(source, HostPathVolumeSource, type))
        pod_check_one_of(TEXT(source, HostPathVolumeSource, type), types, AT(at, "type"), k->errs);
}

static void check_git_repo(struct pod_check *k, const struct value *volume, const struct value *source,
                           const struct field_path *at)
{
    (void)volume;
    pod_require(TEXT(source, GitRepoVolumeSource, repository), at, "repository", k->errs);
    pod_check_descending_path(TEXT(source, GitRepoVolumeSource, directory), AT(at, "directory"), k->errs);
}

static void check_partition(struct pod_check *k, int64_t partition, const struct field_path *at)
{
    if (partition < 0 || partition > 255)
        field_invalid(k->errs, AT(at, "partition"), field_int(partition), STR("must be between 1 and 255, inclusive"));
}

static void check_gce_disk(struct pod_check *k, const struct value *volume, const struct value *source,
                           const struct field_path *at)
{
    (void)volume;
    pod_require(TEXT(source, GCEPersistentDiskVolumeSource, pdName), at, "pdName", k->errs);
    check_partition(k, NUMBER(source, GCEPersistentDiskVolumeSource, partition), at);
}

static void check_aws_disk(struct pod_check *k, const struct value *volume, const struct value *source,
                           const struct field_path *at)
{
    (void)volume;
    pod_require(TEXT(source, AWSElasticBlockStoreVolumeSource, volumeID), at, "volumeID", k->errs);
    check_partition(k, NUMBER(source, AWSElasticBlockStoreVolumeSource, partition), at);
}

static void check_secret(struct pod_check *k, const struct value *volume, const struct value *source,
                         const struct field_path *at)
{
    (void)volume;
    pod_require(TEXT(source, SecretVolumeSource, secretName), at, "secretName", k->errs);
    pod_check_file_mode(GET(source, SecretVolumeSource, defaultMode), AT(at, "defaultMode"), k->errs);
    pod_check_key_paths(GET(source, SecretVolumeSource, items), AT(at, "items"), k->errs);
}

static void check_config_map(struct pod_check *k, const struct value *volume, const struct value *source,
                             const struct field_path *at)
{
    (void)volume;
    pod_require(TEXT(source, ConfigMapVolumeSource, name), at, "name", k->errs);
    pod_check_file_mode(GET(source, ConfigMapVolumeSource, defaultMode), AT(at, "defaultMode"), k->errs);
    pod_check_key_paths(GET(source, ConfigMapVolumeSource, items), AT(at, "items"), k->errs);
}

static void check_nfs(struct pod_check *k, const struct value *volume, const struct value *source,
                      const struct field_path *at)
{
    (void)volume;
    struct str path = TEXT(source, NFSVolumeSource, path);
    pod_require(TEXT(source, NFSVolumeSource, server), at, "server", k->errs);
    pod_require(path, at, "path", k->errs);
    if (!str_starts(path, STR("/")))
        field_invalid(k->errs, AT(at, "path"), field_str(path), STR("must be an absolute path"));
}

/* ---- iSCSI ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Behind "iqn.": a year and month, a dot, a domain, a colon, and a rest without separators. */
static bool iqn_matches_from(struct str text)
{
    static const char shape[] = "dddd-dd.";
    if (text.n < sizeof(shape) - 1)
        return false;
    for (size_t i = 0; i < sizeof(shape) - 1; i++)
        if (shape[i] == 'd' ? !is_digit(text.p[i]) : text.p[i] != shape[i])
            return false;
    struct str rest = str_from(text, sizeof(shape) - 1);
    size_t n = 0;
    while (n < rest.n && (is_alnum(rest.p[n]) || rest.p[n] == '-' || rest.p[n] == '.'))
        n++;
    if (n == 0 || n == rest.n || rest.p[n] != ':' || n + 1 == rest.n)
        return false;
    for (size_t i = n + 1; i < rest.n; i++)
        if (memchr(",;*&$| \t\n\f\r", rest.p[i], 11))
            return false;
    return true;
}

/* The pattern is not bound to the beginning: any "iqn." will do, as upstream. */
static bool is_iqn(struct str text)
{
    for (size_t i = 0; i + 4 <= text.n; i++)
        if (str_starts(str_from(text, i), STR("iqn.")) && iqn_matches_from(str_from(text, i + 4)))
            return true;
    return false;
}

/* Three letters, any character, and so many letters or digits; the dot of the pattern stands for any character. */
static bool is_numbered(struct str text, size_t n_alnum)
{
    if (text.n != 4 + n_alnum)
        return false;
    for (size_t i = 4; i < text.n; i++)
        if (!is_alnum(text.p[i]))
            return false;
    return text.p[3] != '\n';
}

static void check_initiator(struct str name, const struct field_path *at, struct field_errors *errs)
{
    bool iqn = str_starts(name, STR("iqn")), eui = str_starts(name, STR("eui")), naa = str_starts(name, STR("naa"));
    if (!iqn && !eui && !naa)
        field_invalid(errs, at, field_str(name), STR("must be valid format starting with iqn, eui, or naa"));
    else if ((iqn && !is_iqn(name)) || (eui && !is_numbered(name, 16)) || (naa && !is_numbered(name, 32)))
        field_invalid(errs, at, field_str(name), STR("must be valid format"));
}

static void check_iscsi_source(struct pod_check *k, const struct value *source, const struct field_path *at)
{
    pod_require(TEXT(source, ISCSIVolumeSource, targetPortal), at, "targetPortal", k->errs);
    if (pod_require(TEXT(source, ISCSIVolumeSource, iqn), at, "iqn", k->errs))
        check_initiator(TEXT(source, ISCSIVolumeSource, iqn), AT(at, "iqn"), k->errs);
    pod_check_range(NUMBER(source, ISCSIVolumeSource, lun), 0, 255, AT(at, "lun"), k->errs);
    bool secret = FLAG(source, ISCSIVolumeSource, chapAuthDiscovery) || FLAG(source, ISCSIVolumeSource, chapAuthSession);
    if (secret && !IS_SET(source, ISCSIVolumeSource, secretRef))
        field_required(k->errs, AT(at, "secretRef"), STR(""));
    if (IS_SET(source, ISCSIVolumeSource, initiatorName))
        check_initiator(TEXT(source, ISCSIVolumeSource, initiatorName), AT(at, "initiatorname"), k->errs);
}

/* Checked even when another source came first. */
static void check_iscsi_name(struct pod_check *k, const struct value *volume, const struct field_path *at)
{
    enum { ISCSI_NAME_BYTES_MAX = 64 };
    const struct value *source = GET(volume, Volume, iscsi);
    struct str name = TEXT(volume, Volume, name), portal = TEXT(source, ISCSIVolumeSource, targetPortal);
    if (IS_SET(source, ISCSIVolumeSource, initiatorName) && name.n + 1 + portal.n > ISCSI_NAME_BYTES_MAX)
        field_invalid(k->errs, AT(at, "name"), field_str(name),
                      STR("Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "
                          "iscsi.initiatorName is specified."));
}

static void check_iscsi(struct pod_check *k, const struct value *volume, const struct value *source,
                        const struct field_path *at)
{
    (void)volume;
    check_iscsi_source(k, source, at);
}

/* ---- Others ---- */

static void check_flocker(struct pod_check *k, const struct value *volume, const struct value *source,
                          const struct field_path *at)
{
    (void)volume;
    struct str name = TEXT(source, FlockerVolumeSource, datasetName), uuid = TEXT(source, FlockerVolumeSource, datasetUUID);
    if (!name.n && !uuid.n)
        field_required(k->errs, at, STR("one of datasetName and datasetUUID is required"));
    if (name.n && uuid.n)
        field_invalid(k->errs, at, field_str(STR("resource")),
                      STR("datasetName and datasetUUID can not be specified simultaneously"));
    if (str_index(name, '/') < name.n)
        field_invalid(k->errs, AT(at, "datasetName"), field_str(name), STR("must not contain '/'"));
}

static void check_rbd(struct pod_check *k, const struct value *volume, const struct value *source,
                      const struct field_path *at)
{
    (void)volume;
    if (!pod_count(GET(source, RBDVolumeSource, monitors)))
        field_required(k->errs, AT(at, "monitors"), STR(""));
    pod_require(TEXT(source, RBDVolumeSource, image), at, "image", k->errs);
}

static void check_ceph(struct pod_check *k, const struct value *volume, const struct value *source,
                       const struct field_path *at)
{
    (void)volume;
    if (!pod_count(GET(source, CephFSVolumeSource, monitors)))
        field_required(k->errs, AT(at, "monitors"), STR(""));
}

/* A secret that is named must have a name. */
static void check_secret_ref(struct pod_check *k, const struct value *ref, const struct field_path *at)
{
    if (ref->kind != VALUE_ABSENT)
        pod_require(TEXT(ref, LocalObjectReference, name), AT(at, "secretRef"), "name", k->errs);
}

static void check_cinder(struct pod_check *k, const struct value *volume, const struct value *source,
                         const struct field_path *at)
{
    (void)volume;
    pod_require(TEXT(source, CinderVolumeSource, volumeID), at, "volumeID", k->errs);
    check_secret_ref(k, GET(source, CinderVolumeSource, secretRef), at);
}

/* As net.SplitHostPort: one colon, or brackets around what is before it. */
static bool is_host_port(struct str text)
{
    size_t colon = text.n;
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == ':')
            colon = i;
    if (colon == text.n)
        return false;
    struct str host = str_first(text, colon);
    if (str_starts(host, STR("["))) {
        size_t end = str_index(host, ']');
        return end + 1 == host.n && str_index(str_from(host, 1), '[') == host.n - 1;
    }
    return str_index(host, ':') == host.n && str_index(text, '[') == text.n && str_index(text, ']') == text.n;
}

static void check_quobyte_registry(struct pod_check *k, struct str registry, const struct field_path *at)
{
    struct str rest = registry;
    for (bool last = false; !last;) {
        size_t comma = str_index(rest, ',');
        last = comma == rest.n;
        if (!is_host_port(str_first(rest, comma)))
            field_invalid(k->errs, AT(at, "registry"), field_str(registry),
                          STR("must be a host:port pair or multiple pairs separated by commas"));
        rest = str_from(rest, comma + 1);
    }
}

static void check_quobyte(struct pod_check *k, const struct value *volume, const struct value *source,
                          const struct field_path *at)
{
    enum { QUOBYTE_TENANT_BYTES_MAX = 64 };
    (void)volume;
    struct str registry = TEXT(source, QuobyteVolumeSource, registry);
    if (!registry.n)
        field_required(k->errs, AT(at, "registry"), STR("must be a host:port pair or multiple pairs separated by commas"));
    else if (TEXT(source, QuobyteVolumeSource, tenant).n > QUOBYTE_TENANT_BYTES_MAX)
        field_required(k->errs, AT(at, "tenant"), STR("must be a UUID and may not exceed a length of 64 characters"));
    else
        check_quobyte_registry(k, registry, at);
    pod_require(TEXT(source, QuobyteVolumeSource, volume), at, "volume", k->errs);
}

static void check_downward(struct pod_check *k, const struct value *volume, const struct value *source,
                           const struct field_path *at)
{
    (void)volume;
    const struct value *items = GET(source, DownwardAPIVolumeSource, items);
    pod_check_file_mode(GET(source, DownwardAPIVolumeSource, defaultMode), AT(at, "defaultMode"), k->errs);
    for (uint32_t i = 0; i < pod_count(items); i++)
        pod_check_downward_file(k->errs, &items->items[i], at);
}

static void check_fc(struct pod_check *k, const struct value *volume, const struct value *source,
                     const struct field_path *at)
{
    (void)volume;
    const struct value *names = GET(source, FCVolumeSource, targetWWNs), *lun = GET(source, FCVolumeSource, lun);
    uint32_t n_ids = pod_count(GET(source, FCVolumeSource, wwids));
    if (!pod_count(names) && !n_ids)
        field_required(k->errs, AT(at, "targetWWNs"), STR("must specify either targetWWNs or wwids, but not both"));
    if (pod_count(names) && n_ids) {
        struct strs shown = pod_strs(k->arena, names);
        field_invalid(k->errs, AT(at, "targetWWNs"), field_strs(shown.at, shown.n),
                      STR("targetWWNs and wwids can not be specified simultaneously"));
    }
    if (pod_count(names) && lun->kind != VALUE_INT)
        field_required(k->errs, AT(at, "lun"), STR("lun is required if targetWWNs is specified"));
    else if (pod_count(names))
        pod_check_range(lun->i, 0, 255, AT(at, "lun"), k->errs);
}

/* Whether the domain of an option is ours, whatever its case. */
static bool is_reserved(struct arena *a, struct str key)
{
    struct str domain = str_first(key, str_index(key, '/'));
    char *lower = arena_printf(a, ".%.*s", STR_ARG(domain));
    for (char *c = lower; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    struct str normal = str_of(lower);
    return str_ends(normal, STR(".kubernetes.io")) || str_ends(normal, STR(".k8s.io"));
}

static void check_flex(struct pod_check *k, const struct value *volume, const struct value *source,
                       const struct field_path *at)
{
    (void)volume;
    const struct value *options = GET(source, FlexVolumeSource, options);
    pod_require(TEXT(source, FlexVolumeSource, driver), at, "driver", k->errs);
    for (uint32_t i = 0; i < pod_count(options); i++)
        if (is_reserved(k->arena, options->members[i].key))
            field_invalid(k->errs, AT_KEY(AT(at, "options"), options->members[i].key),
                          field_str(options->members[i].key), STR("kubernetes.io and k8s.io namespaces are reserved"));
}

static void check_azure_uri(struct pod_check *k, const struct value *source, const struct field_path *at)
{
    static const char *const managed[] = {
        "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
    };
    static const char *const blob[] = { "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd" };
    struct str uri = TEXT(source, AzureDiskVolumeSource, diskURI);
    if (!IS_SET(source, AzureDiskVolumeSource, kind))
        return;
    bool is_managed = str_is(TEXT(source, AzureDiskVolumeSource, kind), "Managed");
    if (is_managed && !str_starts(uri, STR("/subscriptions/")))
        field_not_supported(k->errs, AT(at, "diskURI"), field_str(uri), managed, 1);
    if (!is_managed && !str_starts(uri, STR("https://")))
        field_not_supported(k->errs, AT(at, "diskURI"), field_str(uri), blob, 1);
}

static void check_azure_disk(struct pod_check *k, const struct value *volume, const struct value *source,
                             const struct field_path *at)
{
    static const char *const modes[] = { "None", "ReadOnly", "ReadWrite", NULL };
    static const char *const kinds[] = { "Dedicated", "Managed", "Shared", NULL };
    (void)volume;
    pod_require(TEXT(source, AzureDiskVolumeSource, diskName), at, "diskName", k->errs);
    pod_require(TEXT(source, AzureDiskVolumeSource, diskURI), at, "diskURI", k->errs);
    if (IS_SET(source, AzureDiskVolumeSource, cachingMode))
        pod_check_one_of(TEXT(source, AzureDiskVolumeSource, cachingMode), modes, AT(at, "cachingMode"), k->errs);
    if (IS_SET(source, AzureDiskVolumeSource, kind))
        pod_check_one_of(TEXT(source, AzureDiskVolumeSource, kind), kinds, AT(at, "kind"), k->errs);
    check_azure_uri(k, source, at);
}

static void check_storage_os(struct pod_check *k, const struct value *volume, const struct value *source,
                             const struct field_path *at)
{
    (void)volume;
    struct str name = TEXT(source, StorageOSVolumeSource, volumeName);
    struct str space = TEXT(source, StorageOSVolumeSource, volumeNamespace);
    if (pod_require(name, at, "volumeName", k->errs))
        pod_check_name(name_dns1123_label(name), name, AT(at, "volumeName"), k->errs);
    if (space.n)
        pod_check_name(name_dns1123_label(space), space, AT(at, "volumeNamespace"), k->errs);
    check_secret_ref(k, GET(source, StorageOSVolumeSource, secretRef), at);
}

static void check_projected(struct pod_check *k, const struct value *volume, const struct value *source,
                            const struct field_path *at)
{
    (void)volume;
    pod_check_projected(k, source, at);
}

static void check_driver_name(struct pod_check *k, struct str driver, const struct field_path *at)
{
    enum { DRIVER_NAME_BYTES_MAX = 63 };
    if (!driver.n) {
        field_required(k->errs, at, STR(""));
        return;
    }
    if (driver.n > DRIVER_NAME_BYTES_MAX)
        field_too_long(k->errs, at, DRIVER_NAME_BYTES_MAX);
    char *lower = arena_cstr(k->arena, driver);
    for (size_t i = 0; i < driver.n; i++)
        lower[i] = lower[i] >= 'A' && lower[i] <= 'Z' ? (char)(lower[i] - 'A' + 'a') : lower[i];
    pod_check_name(name_dns1123_subdomain((struct str){ lower, driver.n }), driver, at, k->errs);
}

static void check_csi(struct pod_check *k, const struct value *volume, const struct value *source,
                      const struct field_path *at)
{
    (void)volume;
    check_driver_name(k, TEXT(source, CSIVolumeSource, driver), AT(at, "driver"));
    const struct value *ref = GET(source, CSIVolumeSource, nodePublishSecretRef);
    struct str name = TEXT(ref, LocalObjectReference, name);
    if (ref->kind != VALUE_ABSENT && pod_require(name, AT(at, "nodePublishSecretRef"), "name", k->errs))
        pod_check_name(name_dns1123_subdomain(name), name, AT(at, "name"), k->errs);
}

/* metadata of a claim's template: labels and annotations, and nothing else. */
static void check_template_meta(struct pod_check *k, const struct value *meta, const struct field_path *at)
{
    const struct type *t = schema_type(STR("meta/v1.ObjectMeta"));
    validate_annotations(pod_labels(k->arena, META(meta, annotations)), AT(at, "annotations"), k->errs);
    validate_labels(pod_labels(k->arena, META(meta, labels)), AT(at, "labels"), k->errs);
    for (uint32_t i = 0; meta->kind == VALUE_STRUCT && i < meta->n; i++) {
        const struct value *v = &meta->slots[i];
        bool allowed = i == SLOT_meta_v1_ObjectMeta_annotations || i == SLOT_meta_v1_ObjectMeta_labels;
        bool zero = v->kind == VALUE_ABSENT || (v->kind == VALUE_STRING && !v->n) ||
                    (v->kind == VALUE_INT && !v->i && !(t->fields[i].flags & FIELD_PTR));
        if (!allowed && !zero)
            field_forbidden(k->errs, &(struct field_path){ at, t->fields[i].name, 0, FIELD_PATH_MEMBER },
                            STR("cannot be set"));
    }
}

/* The claim will be named after the pod and the volume. */
static void check_claim_name(struct pod_check *k, struct str volume, const struct field_path *volume_at)
{
    struct str pod = k->meta ? value_text(META(k->meta, name)) : STR("");
    if (!pod.n || !volume.n)
        return;
    struct str claim = str_of(arena_printf(k->arena, "%.*s-%.*s", STR_ARG(pod), STR_ARG(volume)));
    struct name_errors found = name_dns1123_subdomain(claim);
    for (size_t i = 0; i < found.n; i++)
        field_invalid(k->errs, AT(volume_at, "name"), field_str(volume),
                      pod_detail(k->errs, "PVC name \"%.*s\": %s", STR_ARG(claim), found.at[i]));
}

static void check_ephemeral(struct pod_check *k, const struct value *volume, const struct value *source,
                            const struct field_path *at)
{
    const struct value *template = GET(source, EphemeralVolumeSource, volumeClaimTemplate);
    const struct field_path *path = AT(at, "volumeClaimTemplate");
    if (template->kind == VALUE_ABSENT) {
        field_required(k->errs, path, STR(""));
    } else {
        check_template_meta(k, GET(template, PersistentVolumeClaimTemplate, metadata), AT(path, "metadata"));
        rules_check_claim_spec(GET(template, PersistentVolumeClaimTemplate, spec), false, AT(path, "spec"), k->errs);
    }
    check_claim_name(k, TEXT(volume, Volume, name), at->parent);
}

static void check_image(struct pod_check *k, const struct value *volume, const struct value *source,
                        const struct field_path *at)
{
    static const char *const policies[] = { "Always", "IfNotPresent", "Never", NULL };
    (void)volume;
    if (k->meta)
        pod_require(TEXT(source, ImageVolumeSource, reference), at, "reference", k->errs);
    pod_check_choice(TEXT(source, ImageVolumeSource, pullPolicy), policies, AT(at, "pullPolicy"), k->errs);
}

/* ---- The sources ---- */

enum { SOURCE_TEXTS_MAX = 3 };

/* A text that must be there. */
struct needed {
    unsigned slot;
    const char *name;
};

/* In the order of upstream; the path of a second source and that of a checked one differ in places. */
static const struct source {
    unsigned slot;
    const char *second, *checked;
    check_source *check; /* NULL: the texts are all that is needed */
    struct needed needed[SOURCE_TEXTS_MAX];
} sources[] = {
#define SOURCE(field) SLOT_core_v1_Volume_##field, #field, #field
#define NEEDED(type, field) { SLOT_core_v1_##type##VolumeSource_##field, #field }
    { SOURCE(emptyDir), check_empty_dir, { { 0 } } },
    { SOURCE(hostPath), check_host_path, { { 0 } } },
    { SOURCE(gitRepo), check_git_repo, { { 0 } } },
    { SLOT_core_v1_Volume_gcePersistentDisk, "gcePersistentDisk", "persistentDisk", check_gce_disk, { { 0 } } },
    { SOURCE(awsElasticBlockStore), check_aws_disk, { { 0 } } },
    { SOURCE(secret), check_secret, { { 0 } } },
    { SOURCE(nfs), check_nfs, { { 0 } } },
    { SOURCE(iscsi), check_iscsi, { { 0 } } },
    { SOURCE(glusterfs), NULL, { NEEDED(Glusterfs, endpoints), NEEDED(Glusterfs, path) } },
    { SOURCE(flocker), check_flocker, { { 0 } } },
    { SOURCE(persistentVolumeClaim), NULL, { NEEDED(PersistentVolumeClaim, claimName) } },
    { SOURCE(rbd), check_rbd, { { 0 } } },
    { SOURCE(cinder), check_cinder, { { 0 } } },
    { SLOT_core_v1_Volume_cephfs, "cephFS", "cephfs", check_ceph, { { 0 } } },
    { SOURCE(quobyte), check_quobyte, { { 0 } } },
    { SLOT_core_v1_Volume_downwardAPI, "downwarAPI", "downwardAPI", check_downward, { { 0 } } },
    { SOURCE(fc), check_fc, { { 0 } } },
    { SOURCE(flexVolume), check_flex, { { 0 } } },
    { SOURCE(configMap), check_config_map, { { 0 } } },
    { SOURCE(azureFile), NULL, { NEEDED(AzureFile, secretName), NEEDED(AzureFile, shareName) } },
    { SOURCE(vsphereVolume), NULL, { { SLOT_core_v1_VsphereVirtualDiskVolumeSource_volumePath, "volumePath" } } },
    { SOURCE(photonPersistentDisk), NULL, { NEEDED(PhotonPersistentDisk, pdID) } },
    { SOURCE(portworxVolume), NULL, { { SLOT_core_v1_PortworxVolumeSource_volumeID, "volumeID" } } },
    { SOURCE(azureDisk), check_azure_disk, { { 0 } } },
    { SOURCE(storageos), check_storage_os, { { 0 } } },
    { SOURCE(projected), check_projected, { { 0 } } },
    { SOURCE(scaleIO), NULL, { NEEDED(ScaleIO, gateway), NEEDED(ScaleIO, system), NEEDED(ScaleIO, volumeName) } },
    { SOURCE(csi), check_csi, { { 0 } } },
    { SOURCE(ephemeral), check_ephemeral, { { 0 } } },
    { SOURCE(image), check_image, { { 0 } } },
#undef SOURCE
#undef NEEDED
};

static void check_one_source(struct pod_check *k, const struct source *s, const struct value *volume,
                             const struct field_path *at)
{
    const struct value *source = value_slot(volume, s->slot);
    const struct field_path *path = AT_NAME(at, s->checked);
    if (s->check)
        s->check(k, volume, source, path);
    for (size_t i = 0; i < SOURCE_TEXTS_MAX && s->needed[i].name; i++)
        pod_require(value_text(value_slot(source, s->needed[i].slot)), path, s->needed[i].name, k->errs);
}

static void check_sources(struct pod_check *k, const struct value *volume, const struct field_path *at)
{
    unsigned n = 0;
    for (size_t i = 0; i < N_OF(sources); i++) {
        if (value_slot(volume, sources[i].slot)->kind == VALUE_ABSENT)
            continue;
        if (n++ == 0)
            check_one_source(k, &sources[i], volume, at);
        else
            field_forbidden(k->errs, AT_NAME(at, sources[i].second), STR("may not specify more than 1 volume type"));
        if (sources[i].slot == SLOT_core_v1_Volume_iscsi)
            check_iscsi_name(k, volume, at);
    }
    if (n == 0)
        field_required(k->errs, at, STR("must specify a volume type"));
}

/* ---- Volumes ---- */

/* Names of the claims that will be made for the pod's ephemeral volumes. */
static void find_made_claims(struct pod_check *k, const struct value *volumes, struct map_str *made)
{
    struct str pod = k->meta ? value_text(META(k->meta, name)) : STR("");
    for (uint32_t i = 0; pod.n && i < pod_count(volumes); i++)
        if (IS_SET(&volumes->items[i], Volume, ephemeral)) {
            struct str volume = TEXT(&volumes->items[i], Volume, name);
            pod_add_new(made, str_of(arena_printf(k->arena, "%.*s-%.*s", STR_ARG(pod), STR_ARG(volume))));
        }
}

static void check_volume(struct pod_check *k, const struct value *volume, const struct field_path *at)
{
    struct str name = TEXT(volume, Volume, name);
    size_t n_before = k->errs->n + k->errs->n_dropped;
    check_sources(k, volume, at);
    if (pod_require(name, at, "name", k->errs))
        pod_check_name(name_dns1123_label(name), name, AT(at, "name"), k->errs);
    if (map_str_find(&k->volumes, name))
        field_duplicate(k->errs, AT(at, "name"), field_str(name));
    if (k->errs->n + k->errs->n_dropped == n_before)
        map_str_put(&k->volumes, name, NULL)->const_ptr = volume;
}

void pod_check_volumes(struct pod_check *k, const struct field_path *at)
{
    const struct value *volumes = GET(k->spec, PodSpec, volumes);
    struct map_str made;
    map_str_init(&made);
    find_made_claims(k, volumes, &made);
    for (uint32_t i = 0; i < pod_count(volumes); i++) {
        const struct field_path *path = AT_INDEX(at, i);
        const struct value *source = GET(&volumes->items[i], Volume, persistentVolumeClaim);
        struct str claim = TEXT(source, PersistentVolumeClaimVolumeSource, claimName);
        check_volume(k, &volumes->items[i], path);
        if (source->kind != VALUE_ABSENT && map_str_find(&made, claim))
            field_invalid(k->errs, AT(AT(path, "persistentVolumeClaim"), "claimName"), field_str(claim),
                          STR("must not reference a PVC that gets created for an ephemeral volume"));
    }
    map_str_fini(&made);
}
