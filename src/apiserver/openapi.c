/* apiserver/openapi.c - see openapi.h. */
#include "apiserver/openapi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/schema.h"
#include "codec/json.h"
#include "http/digest.h"

enum { ENUM_VALUES_MAX = 255 };

#define META "io.k8s.apimachinery.pkg.apis.meta.v1."
#define REF "\"#/components/schemas/"

/* ---- Names ---- */

/* Groups whose Go packages are not where the others are. */
static const struct {
    const char *group, *package;
} packages[] = {
    { "meta", "io.k8s.apimachinery.pkg.apis.meta" },
    { "apiextensions.k8s.io", "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions" },
    { "apiregistration.k8s.io", "io.k8s.kube-aggregator.pkg.apis.apiregistration" },
};

/* core/v1.Pod -> io.k8s.api.core.v1.Pod */
static void add_type_name(struct strbuf *to, struct str name)
{
    size_t slash = str_index(name, '/');
    struct str group = str_first(name, slash), rest = str_from(name, slash + 1);
    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
        if (str_is(group, packages[i].group)) {
            strbuf_printf(to, "%s.%.*s", packages[i].package, STR_ARG(rest));
            return;
        }
    group = str_first(group, str_index(group, '.'));
    strbuf_printf(to, "io.k8s.api.%.*s.%.*s", STR_ARG(group), STR_ARG(rest));
}

/* Types that are no structs: how JSON has them. */
static const struct plain {
    uint8_t kind;
    const char *type;      /* the schema where it is used */
    const char *name;      /* or the type that it is a reference to */
    const char *component; /* and its schema */
} plains[] = {
    { KIND_STRING, "\"type\":\"string\"", NULL, NULL },
    { KIND_BOOL, "\"type\":\"boolean\"", NULL, NULL },
    { KIND_INT32, "\"type\":\"integer\",\"format\":\"int32\"", NULL, NULL },
    { KIND_INT64, "\"type\":\"integer\",\"format\":\"int64\"", NULL, NULL },
    { KIND_UINT32, "\"type\":\"integer\",\"format\":\"int64\"", NULL, NULL },
    { KIND_DOUBLE, "\"type\":\"number\",\"format\":\"double\"", NULL, NULL },
    { KIND_FLOAT, "\"type\":\"number\",\"format\":\"float\"", NULL, NULL },
    { KIND_BYTES, "\"type\":\"string\",\"format\":\"byte\"", NULL, NULL },
    { KIND_TIME, NULL, META "Time", "{\"type\":\"string\",\"format\":\"date-time\"}" },
    { KIND_MICRO_TIME, NULL, META "MicroTime", "{\"type\":\"string\",\"format\":\"date-time\"}" },
    { KIND_DURATION, NULL, META "Duration", "{\"type\":\"string\"}" },
    { KIND_FIELDS_V1, NULL, META "FieldsV1", "{\"type\":\"object\"}" },
    { KIND_QUANTITY, NULL, "io.k8s.apimachinery.pkg.api.resource.Quantity",
      "{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]}" },
    { KIND_INT_OR_STRING, NULL, "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
      "{\"format\":\"int-or-string\",\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]}" },
    { KIND_RAW, NULL, "io.k8s.apimachinery.pkg.runtime.RawExtension", "{\"type\":\"object\"}" },
    { KIND_JSON, NULL, "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON", "{}" },
};

static const struct plain *plain_of(unsigned kind)
{
    for (size_t i = 0; i < sizeof(plains) / sizeof(plains[0]); i++)
        if (plains[i].kind == kind)
            return &plains[i];
    return NULL;
}

/* ---- Fields ---- */

/* One value of the field: what is left of it without the list or map around. No braces. */
static void add_element(struct strbuf *to, const struct field *f)
{
    const struct plain *p = plain_of(f->kind);
    if (p && p->type) {
        strbuf_add_text(to, p->type);
        return;
    }
    if (f->kind == KIND_STRUCT && f->type->flags & TYPE_WRAPPER) { /* a list by another name */
        STRBUF_ADD_LIT(to, "\"type\":\"array\",\"items\":{");
        add_element(to, &f->type->fields[0]);
        strbuf_add_char(to, '}');
        return;
    }
    STRBUF_ADD_LIT(to, "\"allOf\":[{\"$ref\":" REF);
    if (p)
        strbuf_add_text(to, p->name);
    else
        add_type_name(to, f->type->name);
    STRBUF_ADD_LIT(to, "\"}]");
    if (f->kind == KIND_STRUCT && !(f->flags & FIELD_PTR))
        STRBUF_ADD_LIT(to, ",\"default\":{}");
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_texts(struct strbuf *to, const char *name, const char *const *texts)
{
    if (!texts)
        return;
    strbuf_printf(to, ",\"%s\":[", name);
    for (size_t i = 0; texts[i]; i++) {
        if (i)
            strbuf_add_char(to, ',');
        json_add_string(to, str_of(texts[i]));
    }
    strbuf_add_char(to, ']');
}

static void add_enum(struct strbuf *to, const struct field *f)
{
    const char *sorted[ENUM_VALUES_MAX + 1] = { 0 };
    size_t n = 0;
    while (f->values && f->values[n] && n < ENUM_VALUES_MAX) {
        sorted[n] = f->values[n];
        n++;
    }
    qsort(sorted, n, sizeof(sorted[0]), compare_texts);
    add_texts(to, "enum", n ? sorted : NULL);
}

static void add_merging(struct strbuf *to, const struct field *f)
{
    static const char *const lists[] = { NULL, "atomic", "set", "map" }, *const maps[] = { NULL, "atomic", "granular" };
    static const struct {
        unsigned flag;
        const char *name;
    } strategies[] = { { PATCH_MERGE, "merge" }, { PATCH_REPLACE, "replace" }, { PATCH_RETAIN_KEYS, "retainKeys" } };
    add_texts(to, "x-kubernetes-list-map-keys", f->list_type == LIST_MAP ? f->map_keys : NULL);
    if (lists[f->list_type])
        strbuf_printf(to, ",\"x-kubernetes-list-type\":\"%s\"", lists[f->list_type]);
    if (maps[f->map_type])
        strbuf_printf(to, ",\"x-kubernetes-map-type\":\"%s\"", maps[f->map_type]);
    if (f->merge_key)
        strbuf_printf(to, ",\"x-kubernetes-patch-merge-key\":\"%s\"", f->merge_key);
    const char *before = ",\"x-kubernetes-patch-strategy\":\"";
    for (size_t i = 0; i < 3; i++)
        if (f->patch & strategies[i].flag) {
            strbuf_printf(to, "%s%s", before, strategies[i].name);
            before = ",";
        }
    if (f->patch)
        strbuf_add_char(to, '"');
}

static void add_field(struct strbuf *to, const struct field *f)
{
    json_add_string(to, f->name);
    STRBUF_ADD_LIT(to, ":{");
    if (f->shape == SHAPE_LIST)
        STRBUF_ADD_LIT(to, "\"type\":\"array\",\"items\":{");
    else if (f->shape == SHAPE_MAP)
        STRBUF_ADD_LIT(to, "\"type\":\"object\",\"additionalProperties\":{");
    add_element(to, f);
    add_enum(to, f);
    if (f->shape != SHAPE_ONE)
        strbuf_add_char(to, '}');
    if (f->default_json)
        strbuf_printf(to, ",\"default\":%s", f->default_json);
    add_merging(to, f);
    strbuf_add_char(to, '}');
}

/* ---- Types ---- */

/* In the order of their names, as upstream's map is written. */
static int by_name(const void *a, const void *b)
{
    return str_cmp((*(const struct field *const *)a)->name, (*(const struct field *const *)b)->name);
}

static void add_properties(struct strbuf *to, const struct type *t)
{
    const struct field *sorted[256];
    size_t n = t->n_fields < 256 ? t->n_fields : 256, n_required = 0;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = &t->fields[i];
        if (sorted[i]->flags & FIELD_REQUIRED) {
            strbuf_add_text(to, n_required++ ? "," : ",\"required\":[");
            json_add_string(to, sorted[i]->name);
        }
    }
    qsort(sorted, n, sizeof(sorted[0]), by_name);
    if (n_required)
        strbuf_add_char(to, ']');
    for (size_t i = 0; i < n; i++) {
        strbuf_add_text(to, i ? "," : ",\"properties\":{");
        add_field(to, sorted[i]);
    }
    if (n)
        strbuf_add_char(to, '}');
}

static void split_type(const struct type *t, struct str *ret_group, struct str *ret_version)
{
    size_t slash = str_index(t->name, '/');
    struct str rest = str_from(t->name, slash + 1);
    *ret_group = str_first(t->name, slash);
    *ret_version = str_first(rest, str_index(rest, '.'));
    if (str_is(*ret_group, "core") || str_is(*ret_group, "meta"))
        *ret_group = STR("");
}

static void add_gvk(struct strbuf *to, struct str group, struct str version, struct str kind)
{
    strbuf_printf(to, "{\"group\":\"%.*s\",\"version\":\"%.*s\",\"kind\":\"%.*s\"}", STR_ARG(group), STR_ARG(version),
                  STR_ARG(kind));
}

static void add_unions(struct strbuf *to, const struct type *t)
{
    const char *before = ",\"x-kubernetes-unions\":[";
    for (const struct union_rule *u = t->unions; u && u->members; u++) {
        strbuf_printf(to, "%s{", before);
        if (u->discriminator)
            strbuf_printf(to, "\"discriminator\":\"%s\",", u->discriminator);
        STRBUF_ADD_LIT(to, "\"fields-to-discriminateBy\":{");
        for (const struct union_member *m = u->members; m->field; m++)
            strbuf_printf(to, "%s\"%s\":\"%s\"", m == u->members ? "" : ",", m->field, m->discriminator_value);
        STRBUF_ADD_LIT(to, "}}");
        before = ",";
    }
    if (before[1] == '\0')
        strbuf_add_char(to, ']');
}

static void add_type(struct strbuf *to, const struct type *t)
{
    strbuf_add_char(to, '"');
    add_type_name(to, t->name);
    STRBUF_ADD_LIT(to, "\":{");
    if (t->flags & TYPE_BY_SHAPE) { /* anything */
        strbuf_add_char(to, '}');
        return;
    }
    STRBUF_ADD_LIT(to, "\"type\":\"object\"");
    add_properties(to, t);
    if (t->flags & TYPE_OBJECT) {
        struct str group, version;
        split_type(t, &group, &version);
        STRBUF_ADD_LIT(to, ",\"x-kubernetes-group-version-kind\":[");
        add_gvk(to, group, version, t->kind);
        strbuf_add_char(to, ']');
    }
    if (t->map_type == MAP_ATOMIC)
        STRBUF_ADD_LIT(to, ",\"x-kubernetes-map-type\":\"atomic\"");
    add_unions(to, t);
    strbuf_add_char(to, '}');
}

/* Which types a document has: a byte for each of the schema, and the plain ones that are references. */
struct reached {
    uint8_t *types;
    bool plain[sizeof(plains) / sizeof(plains[0])];
};

/* Types nest no deeper than some tens; what was reached is not entered again. */
static void reach(struct reached *r, const struct type *t)
{
    if (!t || r->types[t - schema_types])
        return;
    r->types[t - schema_types] = 1;
    for (uint16_t i = 0; i < t->n_fields; i++) {
        const struct plain *p = plain_of(t->fields[i].kind);
        if (p && p->name)
            r->plain[p - plains] = true;
        reach(r, t->fields[i].type);
    }
}

/* ---- Paths ---- */

struct place {
    const struct resource *r;
    const struct type *type;
    struct str kind_group, kind_version, kind;
};

static void add_parameters(struct strbuf *to, const char *const *names)
{
    STRBUF_ADD_LIT(to, "\"parameters\":[");
    for (size_t i = 0; names[i]; i++)
        strbuf_printf(to, "%s{\"name\":\"%s\",\"in\":\"query\",\"schema\":{\"type\":\"string\",\"uniqueItems\":true}}",
                      i ? "," : "", names[i]);
    strbuf_add_char(to, ']');
}

static void add_operation(struct strbuf *to, bool *any, unsigned verb, bool collection, const struct place *p)
{
    static const char *const writes[] = { "dryRun", "fieldManager", "fieldValidation", NULL };
    static const char *const patches[] = { "dryRun", "fieldManager", "fieldValidation", "force", NULL };
    static const char *const lists[] = { "allowWatchBookmarks", "continue", "fieldSelector", "labelSelector", "limit",
                                         "resourceVersion", "resourceVersionMatch", "sendInitialEvents",
                                             "timeoutSeconds",
                                         "watch", NULL };
    static const char *const deletes[] = { "dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy",
                                           NULL };
    static const char *const none[] = { NULL };
    static const struct {
        unsigned verb;
        const char *method, *action;
        const char *const *parameters;
    } operations[] = {
        { VERB_GET, "get", "get", none }, { VERB_LIST, "get", "list", lists }, { VERB_CREATE, "post", "post", writes },
        { VERB_UPDATE, "put", "put", writes }, { VERB_PATCH, "patch", "patch", patches },
        { VERB_DELETE, "delete", "delete", deletes },
        { VERB_DELETECOLLECTION, "delete", "deletecollection", deletes },
    };
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        if (operations[i].verb != verb)
            continue;
        strbuf_printf(to, "%s\"%s\":{", *any ? "," : "", operations[i].method);
        *any = true;
        add_parameters(to, operations[i].parameters);
        STRBUF_ADD_LIT(to, ",\"responses\":{\"200\":{\"description\":\"OK\"");
        if (p->type && !collection) {
            STRBUF_ADD_LIT(to, ",\"content\":{\"application/json\":{\"schema\":{\"$ref\":" REF);
            add_type_name(to, p->type->name);
            STRBUF_ADD_LIT(to, "\"}}}");
        }
        strbuf_printf(to, "}},\"x-kubernetes-action\":\"%s\",\"x-kubernetes-group-version-kind\":",
                      operations[i].action);
        add_gvk(to, p->kind_group, p->kind_version, p->kind);
        strbuf_add_char(to, '}');
    }
}

/* One path with the operations that `verbs` names; nothing when there are none. */
static void add_path(struct strbuf *to, bool *any, const char *path, unsigned verbs, bool collection,
                     const struct place *p)
{
    bool any_operation = false;
    if (!verbs)
        return;
    strbuf_printf(to, "%s\"%s\":{", *any ? "," : "", path);
    *any = true;
    for (unsigned verb = 1; verb < VERB_WATCH; verb <<= 1)
        if (verbs & verb)
            add_operation(to, &any_operation, verb, collection, p);
    strbuf_add_char(to, '}');
}

static void add_resource_paths(struct strbuf *to, bool *any, const char *prefix, const struct resource *r,
                               struct arena *a)
{
    enum { ITEM = VERB_GET | VERB_UPDATE | VERB_PATCH | VERB_DELETE };
    struct place p = { r, r->type, r->group, r->version, r->kind };
    const char *within = r->namespaced ? "/namespaces/{namespace}" : "";
    char *collection = arena_printf(a, "/%s%s/%.*s", prefix, within, STR_ARG(r->plural));
    if (r->namespaced)
        add_path(to, any, arena_printf(a, "/%s/%.*s", prefix, STR_ARG(r->plural)), r->verbs & VERB_LIST, true, &p);
    add_path(to, any, collection, r->verbs & ~(unsigned)(ITEM | VERB_WATCH), true, &p);
    add_path(to, any, arena_printf(a, "%s/{name}", collection), r->verbs & ITEM, false, &p);
    for (const struct subresource *s = r->subresources; s && s->name; s++) {
        struct place sub = { r, schema_type(str_of(s->type)), r->group, r->version, r->kind };
        if (sub.type) {
            split_type(sub.type, &sub.kind_group, &sub.kind_version);
            sub.kind = sub.type->kind;
        }
        add_path(to, any, arena_printf(a, "%s/{name}/%s", collection, s->name), s->verbs, false, &sub);
    }
}

/* ---- Documents ---- */

static void reach_resource(struct reached *reached, const struct resource *r, struct arena *a)
{
    if (!r->type)
        return;
    reach(reached, r->type);
    reach(reached, schema_type(str_of(arena_printf(a, "%.*sList", STR_ARG(r->type->name)))));
    for (const struct subresource *s = r->subresources; s && s->name; s++)
        reach(reached, schema_type(str_of(s->type)));
}

static void add_components(struct strbuf *to, const struct reached *r)
{
    bool any = false;
    for (size_t i = 0; i < schema_n_types; i++)
        if (r->types[i] && !(schema_types[i].flags & TYPE_WRAPPER)) {
            if (any)
                strbuf_add_char(to, ',');
            any = true;
            add_type(to, &schema_types[i]);
        }
    for (size_t i = 0; i < sizeof(plains) / sizeof(plains[0]); i++)
        if (r->plain[i]) {
            strbuf_printf(to, "%s\"%s\":%s", any ? "," : "", plains[i].name, plains[i].component);
            any = true;
        }
}

static bool is_in(const struct resource *r, struct str group, struct str version)
{
    return r->served && str_eq(r->group, group) && str_eq(r->version, version);
}

static bool add_version(struct strbuf *to, const char *prefix, struct str group, struct str version)
{
    struct arena a;
    arena_init(&a);
    struct reached reached = { .types = ARENA_NEW_N(&a, uint8_t, schema_n_types) };
    bool any = false;
    size_t before = to->n;
    STRBUF_ADD_LIT(to, "{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"Kubernetes\",\"version\":\"1.36\"},\"paths\":{");
    for (size_t i = 0; i < schema_n_resources; i++)
        if (is_in(&schema_resources[i], group, version)) {
            add_resource_paths(to, &any, prefix, &schema_resources[i], &a);
            reach_resource(&reached, &schema_resources[i], &a);
        }
    if (any) {
        reach(&reached, schema_type(STR("meta/v1.DeleteOptions")));
        reach(&reached, schema_type(STR("meta/v1.Status")));
        STRBUF_ADD_LIT(to, "},\"components\":{\"schemas\":{");
        add_components(to, &reached);
        STRBUF_ADD_LIT(to, "}}}");
    } else {
        to->n = before;
    }
    arena_fini(&a);
    return any;
}

bool openapi_add_document(struct strbuf *to, struct str path)
{
    struct str group = STR(""), version;
    if (str_starts(path, STR("api/"))) {
        version = str_from(path, 4);
    } else if (str_starts(path, STR("apis/"))) {
        struct str rest = str_from(path, 5);
        size_t slash = str_index(rest, '/');
        group = str_first(rest, slash);
        version = str_from(rest, slash + 1);
    } else {
        return false;
    }
    if (version.n == 0 || (group.n == 0 && path.p[3] == 's'))
        return false;
    struct arena a;
    arena_init(&a);
    bool there = add_version(to, arena_cstr(&a, path), group, version);
    arena_fini(&a);
    return there;
}

static void add_hash(struct strbuf *to, struct str document)
{
    uint8_t digest[DIGEST_BYTES];
    digest_sha256(document, digest);
    for (size_t i = 0; i < DIGEST_BYTES; i++)
        strbuf_printf(to, "%02X", digest[i]);
}

void openapi_add_index(struct strbuf *to)
{
    struct strbuf document;
    struct str group = { 0 }, version = { 0 };
    bool any = false;
    strbuf_init(&document, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(to, "{\"paths\":{");
    for (size_t i = 0; i < schema_n_resources; i++) { /* rows of a version stand together */
        const struct resource *r = &schema_resources[i];
        if (!r->served || (str_eq(r->group, group) && str_eq(r->version, version)))
            continue;
        group = r->group;
        version = r->version;
        char path[256];
        snprintf(path, sizeof(path), group.n ? "apis/%.*s/%.*s" : "api%.*s/%.*s", STR_ARG(group), STR_ARG(version));
        strbuf_reset(&document);
        add_version(&document, path, group, version);
        strbuf_printf(to, "%s\"%s\":{\"serverRelativeURL\":\"/openapi/v3/%s?hash=", any ? "," : "", path, path);
        add_hash(to, strbuf_str(&document));
        STRBUF_ADD_LIT(to, "\"}");
        any = true;
    }
    STRBUF_ADD_LIT(to, "}}\n");
    strbuf_fini(&document);
}

/* ---- Version 2 ---- */

const char *openapi_add_v2(struct strbuf *to, struct str accept)
{
    static const char protobuf[] = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    if (!accept.n || !memmem(accept.p, accept.n, protobuf, sizeof(protobuf) - 1)) {
        STRBUF_ADD_LIT(to, "{\"swagger\":\"2.0\",\"info\":{\"title\":\"Kubernetes\",\"version\":\"1.36\"},"
                           "\"paths\":{},\"definitions\":{}}\n");
        return "application/json";
    }
    STRBUF_ADD_LIT(to, "\x0a\x03" "2.0"                             /* 1: swagger */
                       "\x12\x12" "\x0a\x0a" "Kubernetes" "\x12\x04" "1.36" /* 2: info { 1: title, 2: version } */
                       "\x42\x00"                                   /* 8: paths */
                       "\x4a\x00");                                 /* 9: definitions */
    return "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"; /* with an @ it would be no media type */
}
