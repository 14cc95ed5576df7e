/* rules/volume_source.c - see volume.h: where the bytes of a PersistentVolume are. */
#include "rules/volume.h"

typedef void check_source(const struct place *source, const struct volume_context *v);

static void require_texts(const struct place *source, const char *const *names)
{
    for (; *names; names++) {
        struct place text = place_child(source, *names);
        if (place_text(&text).n == 0)
            place_required(&text, "");
    }
}

static void check_no_backsteps(const struct place *path)
{
    struct str rest = place_text(path);
    while (rest.n) {
        size_t slash = str_index(rest, '/');
        if (str_is(str_first(rest, slash), "..")) {
            place_invalid(path, "must not contain '..'");
            return;
        }
        rest = str_from(rest, slash + 1);
    }
}

static void check_range(const struct place *number, int64_t min, int64_t max, const char *text)
{
    if (place_int(number) < min || place_int(number) > max)
        place_invalid(number, text);
}

static void check_host_path(const struct place *source, const struct volume_context *v)
{
    (void)v;
    static const char *const types[] = { "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File",
                                         "FileOrCreate", "Socket", NULL };
    struct place path = place_child(source, "path"), type = place_child(source, "type");
    if (place_text(&path).n == 0) {
        place_required(&path, "");
        return;
    }
    check_no_backsteps(&path);
    if (place_is_set(&type))
        place_check_supported(&type, types);
}

static void check_disk(const struct place *source, const char *name)
{
    const char *const names[] = { name, NULL };
    struct place partition = place_child(source, "partition");
    require_texts(source, names);
    check_range(&partition, 0, 255, "must be between 1 and 255, inclusive");
}

static void check_gce(const struct place *source, const struct volume_context *v)
{
    (void)v;
    check_disk(source, "pdName");
}

static void check_aws(const struct place *source, const struct volume_context *v)
{
    (void)v;
    check_disk(source, "volumeID");
}

static void check_glusterfs(const struct place *source, const struct volume_context *v)
{
    (void)v;
    static const char *const names[] = { "endpoints", "path", NULL };
    struct place namespace = place_child(source, "endpointsNamespace");
    require_texts(source, names);
    if (!place_is_set(&namespace))
        return;
    if (place_text(&namespace).n)
        place_check_names(&namespace, name_dns1123_label(place_text(&namespace)));
    else
        place_invalid(&namespace, "if the endpointnamespace is set, it must be a valid namespace name");
}

static void check_flocker(const struct place *source, const struct volume_context *v)
{
    (void)v;
    struct place name = place_child(source, "datasetName");
    bool has_name = place_text(&name).n > 0, has_uuid = child_text(source, "datasetUUID").n > 0;
    if (!has_name && !has_uuid)
        place_required(source, "one of datasetName and datasetUUID is required");
    if (has_name && has_uuid)
        field_invalid(source->errs, &source->path, field_str(STR("resource")),
                      STR("datasetName and datasetUUID can not be specified simultaneously"));
    if (str_index(place_text(&name), '/') < place_text(&name).n)
        place_invalid(&name, "must not contain '/'");
}

static void check_nfs(const struct place *source, const struct volume_context *v)
{
    (void)v;
    static const char *const names[] = { "server", "path", NULL };
    struct place path = place_child(source, "path");
    require_texts(source, names);
    if (!str_starts(place_text(&path), STR("/")))
        place_invalid(&path, "must be an absolute path");
}

static void check_monitors(const struct place *source)
{
    struct place monitors = place_child(source, "monitors");
    if (place_n(&monitors) == 0)
        place_required(&monitors, "");
}

static void check_rbd(const struct place *source, const struct volume_context *v)
{
    (void)v;
    static const char *const names[] = { "image", NULL };
    check_monitors(source);
    require_texts(source, names);
}

static void check_cephfs(const struct place *source, const struct volume_context *v)
{
    (void)v;
    check_monitors(source);
}

/* host:port, with brackets around an IPv6 address. */
static bool is_host_port(struct str pair)
{
    if (str_starts(pair, STR("["))) {
        size_t end = str_index(pair, ']');
        struct str rest = str_from(pair, end + 1);
        return end < pair.n && rest.n && rest.p[0] == ':' && str_index(str_from(rest, 1), ':') == rest.n - 1;
    }
    size_t colon = str_index(pair, ':');
    return colon < pair.n && str_index(str_from(pair, colon + 1), ':') == pair.n - colon - 1;
}

static void check_quobyte(const struct place *source, const struct volume_context *v)
{
    (void)v;
    static const char pairs[] = "must be a host:port pair or multiple pairs separated by commas";
    static const char *const names[] = { "volume", NULL };
    struct place registry = place_child(source, "registry"), tenant = place_child(source, "tenant");
    struct str rest = place_text(&registry);
    if (rest.n == 0)
        place_required(&registry, pairs);
    else if (place_text(&tenant).n >= 65)
        place_required(&tenant, "must be a UUID and may not exceed a length of 64 characters");
    else
        for (bool more = true; more;) {
            size_t comma = str_index(rest, ',');
            more = comma < rest.n;
            if (!is_host_port(str_first(rest, comma)))
                place_invalid(&registry, pairs);
            rest = str_from(rest, comma + 1);
        }
    require_texts(source, names);
}

/* ---- iSCSI ---- */

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool are_digits(struct str s, size_t from, size_t n)
{
    for (size_t i = from; i < from + n; i++)
        if (i >= s.n || s.p[i] < '0' || s.p[i] > '9')
            return false;
    return true;
}

/* iqn.2001-04.com.example:storage */
static bool is_iqn(struct str s)
{
    if (!str_starts(s, STR("iqn.")) || !are_digits(s, 4, 4) || s.n < 13 || s.p[8] != '-' || !are_digits(s, 9, 2) ||
        s.p[11] != '.')
        return false;
    size_t i = 12;
    while (i < s.n && (is_alnum(s.p[i]) || s.p[i] == '-' || s.p[i] == '.'))
        i++;
    if (i == 12 || i + 1 >= s.n || s.p[i] != ':')
        return false;
    for (i++; i < s.n; i++)
        if (memchr(",;*&$| \t\n\f\r", s.p[i], 11))
            return false;
    return true;
}

/* eui. and naa. have so many letters and digits behind them. */
static bool has_letters(struct str s, size_t n)
{
    if (s.n != 4 + n || s.p[3] == '\n')
        return false;
    for (size_t i = 4; i < s.n; i++)
        if (!is_alnum(s.p[i]))
            return false;
    return true;
}

static bool is_iscsi_name(struct str name)
{
    if (str_starts(name, STR("iqn")))
        return is_iqn(name);
    if (str_starts(name, STR("eui")))
        return has_letters(name, 16);
    return str_starts(name, STR("naa")) && has_letters(name, 32);
}

static void check_iscsi(const struct place *source, const struct volume_context *v)
{
    struct place portal = place_child(source, "targetPortal"), iqn = place_child(source, "iqn");
    struct place initiator = place_child(source, "initiatorName"), lun = place_child(source, "lun");
    struct place secret = place_child(source, "secretRef"), secret_name = place_child(&secret, "name");
    struct place portal_lower = place_named(source, &portal, "targetportal");
    struct place initiator_lower = place_named(source, &initiator, "initiatorname");
    if (place_text(&portal).n == 0)
        place_required(&portal, "");
    if (place_is_set(&initiator) && v->name.n + 1 + place_text(&portal).n > 64)
        place_invalid(&portal_lower, "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "
                                     "iscsi.initiatorName is specified.");
    if (place_text(&iqn).n == 0)
        place_required(&iqn, "");
    else if (!is_iscsi_name(place_text(&iqn)))
        place_invalid(&iqn, "must be valid format");
    check_range(&lun, 0, 255, "must be between 0 and 255, inclusive");
    bool needs_secret = child_bool(source, "chapAuthDiscovery") || child_bool(source, "chapAuthSession");
    if (needs_secret && !place_is_set(&secret))
        place_required(&secret, "");
    if (place_is_set(&secret) && place_text(&secret_name).n == 0)
        place_required(&secret_name, "");
    if (place_is_set(&initiator) && !is_iscsi_name(place_text(&initiator)))
        place_invalid(&initiator_lower, "must be valid format");
}

/* ---- Others ---- */

static void check_secret_reference(const struct place *source)
{
    static const char *const names[] = { "name", "namespace", NULL };
    struct place secret = place_child(source, "secretRef");
    if (place_is_set(&secret))
        require_texts(&secret, names);
}

static void check_cinder(const struct place *source, const struct volume_context *v)
{
    (void)v;
    static const char *const names[] = { "volumeID", NULL };
    require_texts(source, names);
    check_secret_reference(source);
}

static void check_fc(const struct place *source, const struct volume_context *v)
{
    (void)v;
    struct place targets = place_child(source, "targetWWNs"), lun = place_child(source, "lun");
    uint32_t n_ids = child_n(source, "wwids");
    if (place_n(&targets) == 0 && n_ids == 0)
        place_required(&targets, "must specify either targetWWNs or wwids, but not both");
    if (place_n(&targets) && n_ids)
        place_invalid(&targets, "targetWWNs and wwids can not be specified simultaneously");
    if (place_n(&targets) == 0)
        return;
    if (!place_is_set(&lun))
        place_required(&lun, "lun is required if targetWWNs is specified");
    else
        check_range(&lun, 0, 255, "must be between 0 and 255, inclusive");
}

static bool is_reserved_option(struct arena *a, struct str key)
{
    struct str namespace = str_first(key, str_index(key, '/'));
    char *dotted = arena_alloc(a, namespace.n + 1);
    dotted[0] = '.';
    for (size_t i = 0; i < namespace.n; i++) {
        char c = namespace.p[i];
        dotted[i + 1] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    struct str text = { dotted, namespace.n + 1 };
    return str_ends(text, STR(".kubernetes.io")) || str_ends(text, STR(".k8s.io"));
}

static void check_flex(const struct place *source, const struct volume_context *v)
{
    (void)v;
    static const char *const names[] = { "driver", NULL };
    struct place options = place_child(source, "options");
    require_texts(source, names);
    for (uint32_t i = 0; i < place_n(&options); i++) {
        struct place option = place_member(&options, i);
        struct str key = options.value->members[i].key;
        if (is_reserved_option(source->errs->arena, key))
            field_invalid(option.errs, &option.path, field_str(key),
                          STR("kubernetes.io and k8s.io namespaces are reserved"));
    }
}

static void check_azure_file(const struct place *source, const struct volume_context *v)
{
    (void)v;
    static const char *const names[] = { "secretName", "shareName", NULL };
    struct place namespace = place_child(source, "secretNamespace");
    require_texts(source, names);
    if (place_is_set(&namespace) && place_text(&namespace).n == 0)
        place_required(&namespace, "");
}

static void check_vsphere(const struct place *source, const struct volume_context *v)
{
    (void)v;
    static const char *const names[] = { "volumePath", NULL };
    require_texts(source, names);
}

static void check_photon(const struct place *source, const struct volume_context *v)
{
    (void)v;
    static const char *const names[] = { "pdID", NULL };
    require_texts(source, names);
}

static void check_portworx(const struct place *source, const struct volume_context *v)
{
    (void)v;
    static const char *const names[] = { "volumeID", NULL };
    require_texts(source, names);
}

static void check_azure_disk(const struct place *source, const struct volume_context *v)
{
    (void)v;
    static const char *const names[] = { "diskName", "diskURI", NULL };
    static const char *const cachings[] = { "None", "ReadOnly", "ReadWrite", NULL };
    static const char *const kinds[] = { "Dedicated", "Managed", "Shared", NULL };
    static const char *const managed[] = {
        "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}", NULL
    };
    static const char *const blob[] = { "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd",
                                        NULL };
    struct place caching = place_child(source, "cachingMode"), kind = place_child(source, "kind");
    struct place uri = place_child(source, "diskURI");
    require_texts(source, names);
    if (place_is_set(&caching))
        place_check_supported(&caching, cachings);
    if (!place_is_set(&kind))
        return;
    place_check_supported(&kind, kinds);
    bool is_managed = str_is(place_text(&kind), "Managed");
    if (is_managed && !str_starts(place_text(&uri), STR("/subscriptions/")))
        place_not_supported(&uri, managed);
    if (!is_managed && !str_starts(place_text(&uri), STR("https://")))
        place_not_supported(&uri, blob);
}

static void check_scale_io(const struct place *source, const struct volume_context *v)
{
    (void)v;
    static const char *const names[] = { "gateway", "system", "volumeName", NULL };
    require_texts(source, names);
}

static void check_local(const struct place *source, const struct volume_context *v)
{
    (void)v;
    struct place path = place_child(source, "path");
    if (place_text(&path).n == 0)
        place_required(&path, "");
    else
        check_no_backsteps(&path);
}

static void check_storage_os(const struct place *source, const struct volume_context *v)
{
    (void)v;
    struct place name = place_child(source, "volumeName"), namespace = place_child(source, "volumeNamespace");
    place_check_required_name(&name, name_dns1123_label);
    if (place_text(&namespace).n)
        place_check_names(&namespace, name_dns1123_label(place_text(&namespace)));
    check_secret_reference(source);
}

void volume_check_driver_name(const struct place *name)
{
    struct str text = place_text(name);
    if (text.n == 0) {
        place_required(name, "");
        return;
    }
    if (text.n > 63)
        field_too_long(name->errs, &name->path, 63);
    char *lower = arena_alloc(name->errs->arena, text.n);
    for (size_t i = 0; i < text.n; i++)
        lower[i] = (char)(text.p[i] >= 'A' && text.p[i] <= 'Z' ? text.p[i] - 'A' + 'a' : text.p[i]);
    place_check_names(name, name_dns1123_subdomain((struct str){ lower, text.n }));
}

static void check_csi(const struct place *source, const struct volume_context *v)
{
    (void)v;
    static const char *const secrets[] = { "controllerPublishSecretRef", "controllerExpandSecretRef",
                                           "nodePublishSecretRef", "nodeExpandSecretRef" };
    struct place driver = place_child(source, "driver"), handle = place_child(source, "volumeHandle");
    volume_check_driver_name(&driver);
    if (place_text(&handle).n == 0)
        place_required(&handle, "");
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        struct place secret = place_child(source, secrets[i]);
        struct place name = place_child(&secret, "name"), namespace = place_child(&secret, "namespace");
        if (!place_is_set(&secret))
            continue;
        place_check_required_name(&name, name_dns1123_subdomain);
        place_check_required_name(&namespace, name_dns1123_label);
    }
}

/* In upstream's order; `field` is also what a second source is called unless `other` says so, and errors inside are named
 * by `inside` where that differs. */
static const struct {
    const char *field, *other, *inside;
    check_source *check;
} sources[] = {
    { "hostPath", NULL, NULL, check_host_path },
    { "gcePersistentDisk", NULL, "persistentDisk", check_gce },
    { "awsElasticBlockStore", NULL, NULL, check_aws },
    { "glusterfs", NULL, NULL, check_glusterfs },
    { "flocker", NULL, NULL, check_flocker },
    { "nfs", NULL, NULL, check_nfs },
    { "rbd", NULL, NULL, check_rbd },
    { "quobyte", NULL, NULL, check_quobyte },
    { "cephfs", "cephFS", NULL, check_cephfs },
    { "iscsi", NULL, NULL, check_iscsi },
    { "cinder", NULL, NULL, check_cinder },
    { "fc", NULL, NULL, check_fc },
    { "flexVolume", NULL, NULL, check_flex },
    { "azureFile", NULL, NULL, check_azure_file },
    { "vsphereVolume", NULL, NULL, check_vsphere },
    { "photonPersistentDisk", NULL, NULL, check_photon },
    { "portworxVolume", NULL, NULL, check_portworx },
    { "azureDisk", NULL, NULL, check_azure_disk },
    { "scaleIO", NULL, NULL, check_scale_io },
    { "local", NULL, NULL, check_local },
    { "storageos", NULL, NULL, check_storage_os },
    { "csi", NULL, NULL, check_csi },
};

void volume_check_source(const struct place *spec, const struct volume_context *v, bool has_node_affinity)
{
    int n = 0;
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        struct place source = place_child(spec, sources[i].field), affinity = place_child(spec, "nodeAffinity");
        if (!place_is_set(&source))
            continue;
        struct place other = place_named(spec, &source, sources[i].other ? sources[i].other : sources[i].field);
        struct place inside = place_named(spec, &source, sources[i].inside ? sources[i].inside : sources[i].field);
        bool is_flex = sources[i].check == check_flex; /* which upstream checks beside others, too */
        if (n > 0 && !is_flex) {
            place_forbidden(&other, "may not specify more than 1 volume type");
            continue;
        }
        n++;
        sources[i].check(&inside, v);
        if (sources[i].check == check_local && !has_node_affinity)
            place_required(&affinity, "Local volume requires node affinity");
    }
    if (n == 0)
        place_required(spec, "must specify a volume type");
}
