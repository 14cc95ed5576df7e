/* apiserver/discovery.c - see discovery.h. */
#include "apiserver/discovery.h"

#include "api/value.h"
#include "base/base64.h"
#include "codec/json.h"
#include "http/digest.h"

/* In the order in which clients should look for a name that several groups have. What is not here comes last. */
static const char *const group_order[] = {
    "", "apiregistration.k8s.io", "apps", "events.k8s.io", "authentication.k8s.io", "authorization.k8s.io",
        "autoscaling",
    "batch", "certificates.k8s.io", "networking.k8s.io", "policy", "rbac.authorization.k8s.io", "storage.k8s.io",
    "admissionregistration.k8s.io", "apiextensions.k8s.io", "scheduling.k8s.io", "coordination.k8s.io", "node.k8s.io",
    "discovery.k8s.io", "resource.k8s.io", "flowcontrol.apiserver.k8s.io",
};
enum { N_GROUPS = sizeof(group_order) / sizeof(group_order[0]), VERSIONS_MAX = 8 };

/* ---- What there is ---- */

/* Versions of a group that are served, the preferred one first: of stable ones the highest. */
static size_t versions_of(struct str group, struct str versions[VERSIONS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < schema_n_resources; i++) {
        const struct resource *r = &schema_resources[i];
        bool seen = !r->served || !str_eq(r->group, group);
        for (size_t k = 0; k < n && !seen; k++)
            seen = str_eq(versions[k], r->version);
        if (seen || n == VERSIONS_MAX)
            continue;
        size_t at = n++;
        for (; at > 0 && str_cmp(versions[at - 1], r->version) < 0; at--)
            versions[at] = versions[at - 1];
        versions[at] = r->version;
    }
    return n;
}

static bool is_in(const struct resource *r, struct str group, struct str version)
{
    return r->served && str_eq(r->group, group) && str_eq(r->version, version);
}

/* A type name "policy/v1.Eviction" in its parts; "core" is the group without a name. */
static struct gvk gvk_of_type(const char *name)
{
    struct str text = str_of(name);
    size_t slash = str_index(text, '/');
    struct str behind = str_from(text, slash + 1);
    size_t dot = str_index(behind, '.');
    struct gvk gvk = { str_first(text, slash), str_first(behind, dot), str_from(behind, dot + 1) };
    if (str_is(gvk.group, "core"))
        gvk.group = STR("");
    return gvk;
}

/* ---- Values by name ---- */

struct builder {
    struct arena *a;
    const struct type *type;
    struct value value;
};

static struct builder begin(struct arena *a, const char *type)
{
    struct builder b = { a, schema_type(str_of(type)), { 0 } };
    b.value = value_struct(a, b.type);
    return b;
}

static struct value *slot(struct builder *b, const char *field)
{
    return &b->value.slots[schema_slot(b->type, str_of(field))];
}

static void set(struct builder *b, const char *field, struct str text)
{
    if (text.n)
        *slot(b, field) = value_string(text);
}

static void set_kind(struct builder *b, const char *kind, const char *api_version)
{
    set(b, "kind", str_of(kind));
    set(b, "apiVersion", str_of(api_version));
}

static void set_texts(struct builder *b, const char *field, const char *const *texts)
{
    uint32_t n = 0;
    while (texts && texts[n])
        n++;
    struct value *items = ARENA_NEW_N(b->a, struct value, n);
    for (uint32_t i = 0; i < n; i++)
        items[i] = value_string(str_of(texts[i]));
    if (n)
        *slot(b, field) = value_list(items, n);
}

static void set_verbs(struct builder *b, unsigned verbs)
{
    static const char *const names[] = { "create", "delete", "deletecollection", "get", "list", "patch", "update",
                                         "watch" };
    const char *have[9] = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < 8; i++)
        if (verbs & 1u << i)
            have[n++] = names[i];
    set_texts(b, "verbs", have);
}

static struct str text_of(struct arena *a, const char *format, struct str one, struct str two)
{
    return str_of(arena_printf(a, format, STR_ARG(one), STR_ARG(two)));
}

static struct str group_version(struct arena *a, struct str group, struct str version)
{
    return group.n ? text_of(a, "%.*s/%.*s", group, version) : version;
}

/* ---- The old form ---- */

/* In which version the objects are stored tells whether two versions are views of one: events and autoscalers are. */
static struct str storage_hash(struct arena *a, const struct resource *r)
{
    struct str group = r->group, version = r->version;
    if (str_is(group, "events.k8s.io"))
        group = STR("");
    if (str_is(group, "autoscaling"))
        version = STR("v2");
    if (str_starts(r->kind, STR("MutatingAdmissionPolicy")) || str_is(r->kind, "CustomResourceDefinition"))
        version = STR("v1beta1"); /* an older server must still read them */
    char *text = arena_printf(a, "%.*s/%.*s/%.*s", STR_ARG(group), STR_ARG(version), STR_ARG(r->kind));
    uint8_t digest[DIGEST_BYTES];
    digest_sha256(str_of(text), digest);
    struct strbuf hash;
    strbuf_init(&hash, STRBUF_NO_MAX);
    base64_add(&hash, (struct str){ (const char *)digest, 8 });
    struct str kept = arena_str(a, strbuf_str(&hash));
    strbuf_fini(&hash);
    return kept;
}

static struct value resource_value(struct arena *a, const struct resource *r)
{
    struct builder b = begin(a, "meta/v1.APIResource");
    set(&b, "name", r->plural);
    set(&b, "singularName", r->singular);
    *slot(&b, "namespaced") = value_bool(r->namespaced);
    set(&b, "kind", r->kind);
    set_verbs(&b, r->verbs);
    set_texts(&b, "shortNames", r->short_names);
    set_texts(&b, "categories", r->categories);
    if (r->verbs & VERB_WATCH)
        set(&b, "storageVersionHash", storage_hash(a, r));
    return b.value;
}

static struct value subresource_value(struct arena *a, const struct resource *r, const struct subresource *s)
{
    struct builder b = begin(a, "meta/v1.APIResource");
    struct gvk gvk = gvk_of_type(s->type);
    set(&b, "name", text_of(a, "%.*s/%.*s", r->plural, str_of(s->name)));
    *slot(&b, "namespaced") = value_bool(r->namespaced);
    if (!str_eq(gvk.group, r->group) || !str_eq(gvk.version, r->version)) {
        set(&b, "group", gvk.group);
        set(&b, "version", gvk.version);
    }
    set(&b, "kind", gvk.kind);
    set_verbs(&b, s->verbs);
    return b.value;
}

static uint32_t count_resources(struct str group, struct str version, bool subresources)
{
    uint32_t n = 0;
    for (size_t i = 0; i < schema_n_resources; i++) {
        const struct resource *r = &schema_resources[i];
        if (!is_in(r, group, version))
            continue;
        n++;
        for (const struct subresource *s = subresources ? r->subresources : NULL; s && s->name; s++)
            n++;
    }
    return n;
}

static struct builder resource_list(struct arena *a, struct str group, struct str version)
{
    struct builder b = begin(a, "meta/v1.APIResourceList");
    set_kind(&b, "APIResourceList", group.n ? "v1" : ""); /* the old group does not say it */
    set(&b, "groupVersion", group_version(a, group, version));
    uint32_t n = 0, n_max = count_resources(group, version, true);
    struct value *items = ARENA_NEW_N(a, struct value, n_max);
    for (size_t i = 0; i < schema_n_resources; i++) {
        const struct resource *r = &schema_resources[i];
        if (!is_in(r, group, version))
            continue;
        items[n++] = resource_value(a, r);
        for (const struct subresource *s = r->subresources; s && s->name; s++)
            items[n++] = subresource_value(a, r, s);
    }
    *slot(&b, "resources") = value_list(items, n);
    return b;
}

static struct value version_value(struct arena *a, struct str group, struct str version)
{
    struct builder b = begin(a, "meta/v1.GroupVersionForDiscovery");
    set(&b, "groupVersion", group_version(a, group, version));
    set(&b, "version", version);
    return b.value;
}

static struct builder group_value(struct arena *a, struct str group)
{
    struct builder b = begin(a, "meta/v1.APIGroup");
    struct str versions[VERSIONS_MAX];
    size_t n = versions_of(group, versions);
    struct value *items = ARENA_NEW_N(a, struct value, n);
    for (size_t i = 0; i < n; i++)
        items[i] = version_value(a, group, versions[i]);
    set(&b, "name", group);
    *slot(&b, "versions") = value_list(items, (uint32_t)n);
    *slot(&b, "preferredVersion") = items[0];
    return b;
}

static struct builder group_list(struct arena *a)
{
    struct builder b = begin(a, "meta/v1.APIGroupList");
    set_kind(&b, "APIGroupList", "v1");
    struct value *items = ARENA_NEW_N(a, struct value, N_GROUPS);
    for (size_t i = 1; i < N_GROUPS; i++)
        items[i - 1] = group_value(a, str_of(group_order[i])).value;
    *slot(&b, "groups") = value_list(items, N_GROUPS - 1);
    return b;
}

static struct builder api_versions(struct arena *a, struct str server_address)
{
    static const char *const versions[] = { "v1", NULL };
    struct builder b = begin(a, "meta/v1.APIVersions"), cidr = begin(a, "meta/v1.ServerAddressByClientCIDR");
    set_kind(&b, "APIVersions", "");
    set_texts(&b, "versions", versions);
    set(&cidr, "clientCIDR", STR("0.0.0.0/0"));
    set(&cidr, "serverAddress", server_address);
    struct value *items = ARENA_NEW(a, struct value);
    items[0] = cidr.value;
    *slot(&b, "serverAddressByClientCIDRs") = value_list(items, 1);
    return b;
}

/* ---- The aggregated form ---- */

#define V2 "apidiscovery.k8s.io/v2."

/* Group and version are empty where they are those of the list. */
static struct value response_kind(struct arena *a, const struct resource *r, struct gvk gvk)
{
    struct builder b = begin(a, "meta/v1.GroupVersionKind");
    if (!str_eq(gvk.group, r->group) || !str_eq(gvk.version, r->version)) {
        set(&b, "group", gvk.group);
        set(&b, "version", gvk.version);
    }
    set(&b, "kind", gvk.kind);
    return b.value;
}

static struct value sub_discovery(struct arena *a, const struct resource *r, const struct subresource *s)
{
    struct builder b = begin(a, V2 "APISubresourceDiscovery");
    set(&b, "subresource", str_of(s->name));
    *slot(&b, "responseKind") = response_kind(a, r, gvk_of_type(s->type));
    set_verbs(&b, s->verbs);
    return b.value;
}

static struct value resource_discovery(struct arena *a, const struct resource *r)
{
    struct builder b = begin(a, V2 "APIResourceDiscovery");
    set(&b, "resource", r->plural);
    *slot(&b, "responseKind") = response_kind(a, r, (struct gvk){ r->group, r->version, r->kind });
    set(&b, "scope", r->namespaced ? STR("Namespaced") : STR("Cluster"));
    set(&b, "singularResource", r->singular);
    set_verbs(&b, r->verbs);
    set_texts(&b, "shortNames", r->short_names);
    set_texts(&b, "categories", r->categories);
    uint32_t n = 0;
    while (r->subresources && r->subresources[n].name)
        n++;
    struct value *items = ARENA_NEW_N(a, struct value, n);
    for (uint32_t i = 0; i < n; i++)
        items[i] = sub_discovery(a, r, &r->subresources[i]);
    if (n)
        *slot(&b, "subresources") = value_list(items, n);
    return b.value;
}

static struct value version_discovery(struct arena *a, struct str group, struct str version)
{
    struct builder b = begin(a, V2 "APIVersionDiscovery");
    uint32_t n = 0, n_max = count_resources(group, version, false);
    struct value *items = ARENA_NEW_N(a, struct value, n_max);
    for (size_t i = 0; i < schema_n_resources; i++)
        if (is_in(&schema_resources[i], group, version))
            items[n++] = resource_discovery(a, &schema_resources[i]);
    set(&b, "version", version);
    *slot(&b, "resources") = value_list(items, n);
    set(&b, "freshness", STR("Current"));
    return b.value;
}

static struct value group_discovery(struct arena *a, struct str group)
{
    struct builder b = begin(a, V2 "APIGroupDiscovery"), meta = begin(a, "meta/v1.ObjectMeta");
    struct str versions[VERSIONS_MAX];
    size_t n = versions_of(group, versions);
    struct value *items = ARENA_NEW_N(a, struct value, n);
    for (size_t i = 0; i < n; i++)
        items[i] = version_discovery(a, group, versions[i]);
    set(&meta, "name", group);
    *slot(&b, "metadata") = meta.value;
    *slot(&b, "versions") = value_list(items, (uint32_t)n);
    return b.value;
}

static struct builder aggregated(struct arena *a, bool core)
{
    struct builder b = begin(a, V2 "APIGroupDiscoveryList");
    set_kind(&b, "APIGroupDiscoveryList", "apidiscovery.k8s.io/v2");
    size_t from = core ? 0 : 1, to = core ? 1 : N_GROUPS;
    struct value *items = ARENA_NEW_N(a, struct value, to - from);
    for (size_t i = from; i < to; i++)
        items[i - from] = group_discovery(a, str_of(group_order[i]));
    *slot(&b, "items") = value_list(items, (uint32_t)(to - from));
    return b;
}

/* ---- Paths ---- */

struct place {
    enum { PLACE_NONE, PLACE_API, PLACE_APIS, PLACE_GROUP, PLACE_VERSION } kind;
    struct str group, version;
};

static bool has_version(struct str group, struct str version)
{
    return version.n && count_resources(group, version, false) > 0;
}

static struct place find(struct str path)
{
    struct str versions[VERSIONS_MAX];
    struct place p = { 0 };
    if (path.n > 1 && path.p[path.n - 1] == '/')
        path.n--;
    if (str_is(path, "/api"))
        p.kind = PLACE_API;
    else if (str_is(path, "/apis"))
        p.kind = PLACE_APIS;
    else if (str_starts(path, STR("/api/")))
        p = (struct place){ PLACE_VERSION, STR(""), str_from(path, 5) };
    else if (str_starts(path, STR("/apis/"))) {
        struct str rest = str_from(path, 6);
        size_t slash = str_index(rest, '/');
        bool group = slash == rest.n;
        p = (struct place){ group ? PLACE_GROUP : PLACE_VERSION, str_first(rest, slash), str_from(rest, slash + 1) };
    }
    bool named = p.group.n || str_starts(path, STR("/api/"));
    bool there = p.kind == PLACE_GROUP ? named && versions_of(p.group, versions) > 0
                                       : p.kind != PLACE_VERSION || (named && has_version(p.group, p.version));
    return there ? p : (struct place){ 0 };
}

bool discovery_has(struct str path)
{
    return find(path).kind != PLACE_NONE;
}

static struct builder document(struct arena *a, const struct place *p, bool whole, struct str server_address)
{
    if (whole)
        return aggregated(a, p->kind == PLACE_API);
    if (p->kind == PLACE_API)
        return api_versions(a, server_address);
    if (p->kind == PLACE_APIS)
        return group_list(a);
    if (p->kind == PLACE_VERSION)
        return resource_list(a, p->group, p->version);
    struct builder b = group_value(a, p->group);
    set_kind(&b, "APIGroup", "v1");
    return b;
}

static void set_etag(struct str body, char etag[DISCOVERY_ETAG_BYTES + 1])
{
    uint8_t digest[DIGEST_BYTES];
    digest_sha256(body, digest);
    char *at = etag;
    *at++ = '"';
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        *at++ = "0123456789ABCDEF"[digest[i] >> 4];
        *at++ = "0123456789ABCDEF"[digest[i] & 15];
    }
    *at++ = '"';
    *at = '\0';
}

enum err_code discovery_answer(struct arena *a, struct str path, struct str accept, struct str server_address,
                               struct strbuf *to, struct discovery_head *ret_head, struct err *e)
{
    static const char *const types[] = {
        [MEDIA_JSON] = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        [MEDIA_YAML] = "application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        [MEDIA_PROTOBUF] = "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    };
    struct place p = find(path);
    struct discovery_form form;
    if (p.kind == PLACE_NONE) {
        e->kind = e->name = "";
        return err_set(e, ERR_NOT_FOUND, "the server could not find the requested resource");
    }
    bool whole = p.kind == PLACE_API || str_is(path, "/apis"); /* with a slash behind it there are no details */
    bool routed = p.kind != PLACE_APIS && p.kind != PLACE_GROUP;
    if (negotiate_discovery(accept, whole, routed, &form, e))
        return e->code;
    struct builder b = document(a, &p, form.aggregated, server_address);
    size_t before = to->n;
    object_encode(to, form.media, b.type, &b.value);
    *ret_head = (struct discovery_head){ form.aggregated ? types[form.media] : media_content_type(form.media),
                                         form.aggregated, "" };
    if (form.aggregated)
        set_etag(str_from(strbuf_str(to), before), ret_head->etag);
    return ERR_OK;
}
