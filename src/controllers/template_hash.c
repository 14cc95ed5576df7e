/* controllers/template_hash.c - see template_hash.h. Upstream: controller_utils.go (ComputeHash), util/hash.
 *
 * The hash is FNV-1a, 32 bits, over a text that Go's spew library writes of the template: every field with its name and type
 * in Go, also those that are not set, in the order of the Go structs. That order, the types and which of them are pointers are
 * the schema's; names are those of JSON with a capital, and a table has the others. So a ReplicaSet here has the same name as
 * one that kube-controller-manager makes, and either finds what the other made.
 *
 * Two things are not as there, and no template of anybody has them: amounts that no int64 holds, and times. */
#include "controllers/template_hash.h"

#include "api/generate_name.h"
#include "api/quantity.h"
#include "base/strbuf.h"

static const struct go_name {
    const char *type; /* NULL: of any */
    const char *json, *go;
} go_names[] = {
    { NULL, "apiGroup", "APIGroup" },
    { NULL, "apiVersion", "APIVersion" },
    { NULL, "awsElasticBlockStore", "AWSElasticBlockStore" },
    { NULL, "cephfs", "CephFS" },
    { NULL, "chapAuthDiscovery", "DiscoveryCHAPAuth" },
    { NULL, "chapAuthSession", "SessionCHAPAuth" },
    { NULL, "csi", "CSI" },
    { NULL, "diskURI", "DataDiskURI" },
    { NULL, "dnsConfig", "DNSConfig" },
    { NULL, "dnsPolicy", "DNSPolicy" },
    { NULL, "endpoints", "EndpointsName" },
    { NULL, "fc", "FC" },
    { NULL, "fsGroup", "FSGroup" },
    { NULL, "fsGroupChangePolicy", "FSGroupChangePolicy" },
    { NULL, "fsType", "FSType" },
    { NULL, "gcePersistentDisk", "GCEPersistentDisk" },
    { NULL, "gmsaCredentialSpec", "GMSACredentialSpec" },
    { NULL, "gmsaCredentialSpecName", "GMSACredentialSpecName" },
    { NULL, "grpc", "GRPC" },
    { NULL, "httpGet", "HTTPGet" },
    { NULL, "httpHeaders", "HTTPHeaders" },
    { "v1.RBDVolumeSource", "image", "RBDImage" },
    { NULL, "ip", "IP" },
    { NULL, "iqn", "IQN" },
    { NULL, "iscsi", "ISCSI" },
    { NULL, "iscsiInterface", "ISCSIInterface" },
    { NULL, "metadata", "ObjectMeta" },
    { "v1.RBDVolumeSource", "monitors", "CephMonitors" },
    { NULL, "nfs", "NFS" },
    { NULL, "os", "OS" },
    { NULL, "pdName", "PDName" },
    { NULL, "pool", "RBDPool" },
    { NULL, "rbd", "RBD" },
    { NULL, "seLinuxChangePolicy", "SELinuxChangePolicy" },
    { NULL, "seLinuxOptions", "SELinuxOptions" },
    { NULL, "serviceAccount", "DeprecatedServiceAccount" },
    { NULL, "sslEnabled", "SSLEnabled" },
    { NULL, "storageos", "StorageOS" },
    { NULL, "tcpSocket", "TCPSocket" },
    { NULL, "tty", "TTY" },
    { NULL, "uid", "UID" },
    { "v1.RBDVolumeSource", "user", "RadosUser" },
    { NULL, "wwids", "WWIDs" },
};

static struct str go_name_of(const struct type *t, const struct field *f)
{
    for (size_t i = 0; i < sizeof(go_names) / sizeof(go_names[0]); i++)
        if (str_is(f->name, go_names[i].json) && (!go_names[i].type || strcmp(go_names[i].type, t->go_name) == 0))
            return str_of(go_names[i].go);
    return STR("");
}

static void add_name(struct strbuf *to, const struct type *t, const struct field *f)
{
    struct str name = go_name_of(t, f);
    if (name.n) {
        strbuf_add_str(to, name);
        return;
    }
    strbuf_add_char(to, (char)(f->name.p[0] - 'a' + 'A'));
    strbuf_add_str(to, str_from(f->name, 1));
}

static void add_quantity(struct strbuf *to, const struct value *v)
{
    struct arena a;
    struct err e;
    struct quantity q;
    struct str text = v->kind == VALUE_STRING ? value_text(v) : STR("0"); /* one that is absent came as that, too */
    arena_init_small(&a);
    err_init(&e, &a);
    if (quantity_parse(&a, text, &q, &e))
        q = (struct quantity){ 0 };
    if (str_is(text, "0"))
        q.text = text;
    strbuf_printf(to,
                  "{i:(resource.int64Amount){value:(int64)%lld scale:(resource.Scale)%d} "
                  "d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string)%.*s Format:(resource.Format)%s}",
                  (long long)q.value, q.scale, STR_ARG(q.text), quantity_format_name(q.format));
    arena_fini(&a);
}

static void add_int_or_string(struct strbuf *to, const struct value *v)
{
    bool text = v->kind == VALUE_STRING;
    strbuf_printf(to, "{Type:(intstr.Type)%d IntVal:(int32)%lld StrVal:(string)%.*s}", text,
                  v->kind == VALUE_INT ? (long long)v->i : 0, STR_ARG(value_text(v)));
}

static void add_struct(struct strbuf *to, const struct type *t, const struct value *v);

/* One value of a field, without its type; an absent one is zero. */
static void add_one(struct strbuf *to, const struct field *f, const struct value *v)
{
    switch (f->kind) {
    case KIND_STRUCT:
        add_struct(to, f->type, v);
        break;
    case KIND_BOOL:
        strbuf_add_text(to, v->kind == VALUE_BOOL && v->b ? "true" : "false");
        break;
    case KIND_INT32:
    case KIND_INT64:
    case KIND_UINT32:
        strbuf_printf(to, "%lld", v->kind == VALUE_INT ? (long long)v->i : 0);
        break;
    case KIND_QUANTITY:
        add_quantity(to, v);
        break;
    case KIND_INT_OR_STRING:
        add_int_or_string(to, v);
        break;
    case KIND_TIME:
        STRBUF_ADD_LIT(to, "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}");
        break;
    default:
        strbuf_add_str(to, value_text(v));
    }
}

static void add_list(struct strbuf *to, const struct field *f, const struct value *v)
{
    strbuf_add_char(to, '[');
    for (uint32_t i = 0; i < v->n; i++) {
        strbuf_add_text(to, i ? " " : "");
        add_one(to, f, &v->items[i]);
    }
    strbuf_add_char(to, ']');
}

static void add_map(struct strbuf *to, const struct field *f, const struct value *v)
{
    STRBUF_ADD_LIT(to, "map[");
    for (uint32_t i = 0; i < v->n; i++) {
        strbuf_add_text(to, i ? " " : "");
        strbuf_add_str(to, v->members[i].key);
        strbuf_add_char(to, ':');
        add_one(to, f, &v->members[i].value);
    }
    strbuf_add_char(to, ']');
}

static void add_field(struct strbuf *to, const struct type *t, const struct field *f, const struct value *v)
{
    bool pointer = f->flags & FIELD_PTR;
    add_name(to, t, f);
    strbuf_printf(to, ":(%s%s)", pointer ? "*" : "", f->go_type);
    bool holds = v->kind == VALUE_LIST || v->kind == VALUE_MAP ? v->n > 0 : v->kind != VALUE_ABSENT;
    if (!holds && (pointer || f->shape != SHAPE_ONE))
        STRBUF_ADD_LIT(to, "<nil>");
    else if (v->kind == VALUE_LIST)
        add_list(to, f, v);
    else if (v->kind == VALUE_MAP)
        add_map(to, f, v);
    else
        add_one(to, f, v);
}

/* Fields of a struct that is embedded stand within it. */
static void add_struct(struct strbuf *to, const struct type *t, const struct value *v)
{
    struct str within = STR("");
    strbuf_add_char(to, '{');
    for (unsigned i = 0; i < t->n_fields; i++) {
        const struct field *f = &t->fields[i];
        struct str path = str_of(f->go_path);
        if (within.n && !str_eq(path, within))
            strbuf_add_char(to, '}');
        strbuf_add_text(to, i ? " " : "");
        if (path.n && !str_eq(path, within)) {
            struct str name = str_first(path, path.n - 1);
            strbuf_printf(to, "%.*s:(v1.%.*s){", STR_ARG(name), STR_ARG(name));
        }
        within = path;
        add_field(to, t, f, value_slot(v, i));
    }
    strbuf_add_text(to, within.n ? "}}" : "}");
}

static uint32_t fnv_1a(uint32_t hash, struct str bytes)
{
    for (size_t i = 0; i < bytes.n; i++)
        hash = (hash ^ (uint8_t)bytes.p[i]) * 16777619u;
    return hash;
}

struct str template_hash(struct arena *a, const struct value *template, int64_t collisions)
{
    const struct type *t = schema_type(STR("core/v1.PodTemplateSpec"));
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&b, "(v1.PodTemplateSpec)");
    add_struct(&b, t, template);
    uint32_t hash = fnv_1a(2166136261u, strbuf_str(&b));
    strbuf_fini(&b);
    if (collisions >= 0) {
        char bytes[8] = { (char)collisions, (char)(collisions >> 8), (char)(collisions >> 16), (char)(collisions >> 24) };
        hash = fnv_1a(hash, (struct str){ bytes, sizeof(bytes) });
    }
    char *digits = arena_printf(a, "%u", hash);
    for (char *c = digits; *c; c++) /* no words */
        *c = name_alphabet[*c % 27];
    return str_of(digits);
}
