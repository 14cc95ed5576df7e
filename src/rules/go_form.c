/* rules/go_form.c - see go_form.h. */
#include "rules/go_form.h"

#include "codec/json.h"

/* ---- Names ---- */

static const struct {
    const char *type, *json, *go; /* type: the end of its name, or NULL for all */
} odd[] = {
    { NULL, "cephfs", "CephFS" },
    { NULL, "cidrs", "CIDRs" },
    { NULL, "pdName", "PDName" },
    { NULL, "storageos", "StorageOS" },
    { NULL, "wwids", "WWIDs" },
    { NULL, "chapAuthDiscovery", "DiscoveryCHAPAuth" },
    { NULL, "chapAuthSession", "SessionCHAPAuth" },
    { ".AzureDiskVolumeSource", "diskURI", "DataDiskURI" },
    { ".GlusterfsVolumeSource", "endpoints", "EndpointsName" },
    { ".GlusterfsPersistentVolumeSource", "endpoints", "EndpointsName" },
    { ".RBDVolumeSource", "monitors", "CephMonitors" },
    { ".RBDVolumeSource", "image", "RBDImage" },
    { ".RBDVolumeSource", "pool", "RBDPool" },
    { ".RBDVolumeSource", "user", "RadosUser" },
    { ".RBDPersistentVolumeSource", "monitors", "CephMonitors" },
    { ".RBDPersistentVolumeSource", "image", "RBDImage" },
    { ".RBDPersistentVolumeSource", "pool", "RBDPool" },
    { ".RBDPersistentVolumeSource", "user", "RadosUser" },
    { ".DeviceAttribute", "int", "IntValue" },
    { ".DeviceAttribute", "bool", "BoolValue" },
    { ".DeviceAttribute", "string", "StringValue" },
    { ".DeviceAttribute", "version", "VersionValue" },
    { ".DeviceAttribute", "ints", "IntValues" },
    { ".DeviceAttribute", "bools", "BoolValues" },
    { ".DeviceAttribute", "strings", "StringValues" },
    { ".DeviceAttribute", "versions", "VersionValues" },
};

static const char *const abbreviations[] = { "api", "aws", "cel", "cidr", "csi", "dns", "fc", "fs", "gce", "gmsa", "grpc", "http",
                                             "id", "ip", "iqn", "iscsi", "nfs", "os", "rbd", "se", "ssl", "tcp", "tls", "tty",
                                             "uid", "url" };

/* Names of Go begin with a capital, or with an abbreviation all in capitals. */
static void add_go_name(struct strbuf *to, const struct type *t, struct str name)
{
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
        if (str_is(name, odd[i].json) && (!odd[i].type || (t && str_ends(t->name, str_of(odd[i].type))))) {
            strbuf_add_text(to, odd[i].go);
            return;
        }
    for (size_t i = 0; i < sizeof(abbreviations) / sizeof(abbreviations[0]); i++) {
        struct str word = str_of(abbreviations[i]);
        char after = name.n > word.n ? name.p[word.n] : 'X';
        if (!str_starts(name, word) || after < 'A' || after > 'Z')
            continue;
        for (size_t k = 0; k < word.n; k++)
            strbuf_add_char(to, (char)(word.p[k] - 'a' + 'A'));
        strbuf_add_str(to, str_from(name, word.n));
        return;
    }
    strbuf_add_char(to, (char)(name.p[0] >= 'a' && name.p[0] <= 'z' ? name.p[0] - 'a' + 'A' : name.p[0]));
    strbuf_add_str(to, str_from(name, 1));
}

/* ---- Values ---- */

static void add_go_one(struct strbuf *to, const struct field *f, const struct value *v);

static void add_go_struct(struct strbuf *to, const struct type *t, const struct value *v);

void go_form_add(struct strbuf *to, const struct field *f, const struct value *v)
{
    bool many = f->shape != SHAPE_ONE;
    if (v->kind == VALUE_ABSENT && (many || f->flags & FIELD_PTR || f->kind == KIND_BYTES)) {
        STRBUF_ADD_LIT(to, "null");
        return;
    }
    if (!many) {
        add_go_one(to, f, v);
        return;
    }
    bool map = v->kind == VALUE_MAP;
    strbuf_add_char(to, map ? '{' : '[');
    for (uint32_t i = 0; i < v->n; i++) {
        if (i)
            strbuf_add_char(to, ',');
        if (map) {
            json_add_string(to, v->members[i].key);
            strbuf_add_char(to, ':');
        }
        add_go_one(to, f, map ? &v->members[i].value : &v->items[i]);
    }
    strbuf_add_char(to, map ? '}' : ']');
}

static void add_go_one(struct strbuf *to, const struct field *f, const struct value *v)
{
    struct field one = *f;
    one.shape = SHAPE_ONE;
    if (f->kind != KIND_STRUCT || str_starts(f->type->name, STR("meta/")))
        json_encode_field(to, &one, v); /* the internal types use the metadata's types as they are */
    else
        add_go_struct(to, f->type, v);
}

/* Metadata is embedded: its fields stand among the others, by their JSON names and when they are set. */
static void add_go_metadata(struct strbuf *to, const struct field *f, const struct value *v)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode_field(&json, f, v);
    struct str text = strbuf_str(&json);
    if (text.n > 2)
        strbuf_add(to, text.p + 1, text.n - 2);
    strbuf_fini(&json);
}

/* Of a struct that is open already. */
static void add_go_members(struct strbuf *to, const struct type *t, const struct value *v, const char *const *names)
{
    for (; *names; names++) {
        unsigned slot = (unsigned)schema_slot(t, str_of(*names));
        if (to->p[to->n - 1] != '{')
            strbuf_add_char(to, ',');
        go_form_add_member(to, t, &t->fields[slot], value_slot(v, slot));
    }
}

/* Go has the fields of a pod in another order than the schema, and those about the host in the security context. */
static void add_go_pod_spec(struct strbuf *to, const struct type *t, const struct value *spec)
{
    static const char *const first[] = { "volumes", "initContainers", "containers", "ephemeralContainers", "restartPolicy",
                                         "terminationGracePeriodSeconds", "activeDeadlineSeconds", "dnsPolicy",
                                         "nodeSelector", "serviceAccountName", "automountServiceAccountToken", "nodeName",
                                         NULL };
    static const char *const host[] = { "hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers", NULL };
    static const char *const security[] = { "seLinuxOptions", "windowsOptions", "runAsUser", "runAsGroup", "runAsNonRoot",
                                            "supplementalGroups", "supplementalGroupsPolicy", "fsGroup",
                                            "fsGroupChangePolicy", "sysctls", "seccompProfile", "appArmorProfile",
                                            "seLinuxChangePolicy", NULL };
    static const char *const last[] = { "imagePullSecrets", "hostname", "subdomain", "setHostnameAsFQDN", "affinity",
                                        "schedulerName", "tolerations", "hostAliases", "priorityClassName", "priority",
                                        "preemptionPolicy", "dnsConfig", "readinessGates", "runtimeClassName", "overhead",
                                        "enableServiceLinks", "topologySpreadConstraints", "os", "schedulingGates",
                                        "resourceClaims", "resources", "hostnameOverride", "schedulingGroup", NULL };
    unsigned context = (unsigned)schema_slot(t, STR("securityContext"));
    strbuf_add_char(to, '{');
    add_go_members(to, t, spec, first);
    STRBUF_ADD_LIT(to, ",\"SecurityContext\":{");
    add_go_members(to, t, spec, host);
    add_go_members(to, t->fields[context].type, value_slot(spec, context), security);
    strbuf_add_char(to, '}');
    add_go_members(to, t, spec, last);
    strbuf_add_char(to, '}');
}

/* Types whose fields Go has in another order than the schema. */
static const struct order {
    const char *type, *const *fields;
} orders[] = {
    { "core/v1.Volume",
      (const char *const[]){ "name", "hostPath", "emptyDir", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "secret",
                             "nfs", "iscsi", "glusterfs", "persistentVolumeClaim", "rbd", "quobyte", "flexVolume", "cinder",
                             "cephfs", "flocker", "downwardAPI", "fc", "azureFile", "configMap", "vsphereVolume", "azureDisk",
                             "photonPersistentDisk", "projected", "portworxVolume", "scaleIO", "storageos", "csi",
                             "ephemeral", "image", NULL } },
    { "core/v1.PersistentVolumeSpec",
      (const char *const[]){ "capacity", "gcePersistentDisk", "awsElasticBlockStore", "hostPath", "glusterfs", "nfs", "rbd",
                             "quobyte", "iscsi", "flexVolume", "cinder", "cephfs", "fc", "flocker", "azureFile",
                             "vsphereVolume", "azureDisk", "photonPersistentDisk", "portworxVolume", "scaleIO", "local",
                             "storageos", "csi", "accessModes", "claimRef", "persistentVolumeReclaimPolicy",
                             "storageClassName", "mountOptions", "volumeMode", "nodeAffinity", "volumeAttributesClassName",
                             NULL } },
};

static const struct order *order_of(const struct type *t)
{
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
        if (str_is(t->name, orders[i].type))
            return &orders[i];
    return NULL;
}

static void add_go_struct(struct strbuf *to, const struct type *t, const struct value *v)
{
    const struct order *order = order_of(t);
    if (str_is(t->name, "core/v1.PodSpec")) {
        add_go_pod_spec(to, t, v);
        return;
    }
    size_t start = to->n;
    strbuf_add_char(to, '{');
    if (order) {
        add_go_members(to, t, v, order->fields);
        strbuf_add_char(to, '}');
        return;
    }
    for (unsigned i = 0; i < t->n_fields; i++) {
        if (to->n > start + 1)
            strbuf_add_char(to, ',');
        if (str_is(t->fields[i].name, "metadata")) {
            add_go_metadata(to, &t->fields[i], value_slot(v, i));
            continue;
        }
        go_form_add_member(to, t, &t->fields[i], value_slot(v, i));
    }
    strbuf_add_char(to, '}');
}

void go_form_add_member(struct strbuf *to, const struct type *t, const struct field *f, const struct value *v)
{
    strbuf_add_char(to, '"');
    add_go_name(to, t, f->name);
    STRBUF_ADD_LIT(to, "\":");
    go_form_add(to, f, v);
}
