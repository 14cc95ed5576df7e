/* codec/object.c - see object.h. Upstream: apimachinery runtime/serializer/{json,protobuf,versioning},
 * apiserver endpoints/handlers (transformDecodeError), v1.36. */
#include "codec/object.h"

#include <strings.h>

#include "codec/json_priv.h"
#include "codec/proto.h"
#include "codec/type_meta.h"
#include "codec/yaml.h"

/* Upstream names its registry of kinds after the line that makes it, and clients see that. */
#define SCHEME "pkg/api/legacyscheme/scheme.go:30"

enum { SUMMARY_BYTES_MAX = 30 };

static const struct {
    enum media media;
    const char *content_type;
} medias[] = {
    { MEDIA_JSON, "application/json" },
    { MEDIA_YAML, "application/yaml" },
    { MEDIA_PROTOBUF, "application/vnd.kubernetes.protobuf" },
};

enum { N_MEDIAS = sizeof(medias) / sizeof(medias[0]) };

static struct str trim_blanks(struct str s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
        s = str_from(s, 1);
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    return s;
}

enum err_code media_of_content_type(struct str header, enum media *ret_media, struct err *e)
{
    struct str name = trim_blanks(str_first(header, str_index(header, ';')));
    if (header.n == 0) {
        *ret_media = MEDIA_JSON;
        return ERR_OK;
    }
    for (size_t i = 0; i < N_MEDIAS; i++)
        if (strlen(medias[i].content_type) == name.n &&
            strncasecmp(medias[i].content_type, name.p, name.n) == 0) {
            *ret_media = medias[i].media;
            return ERR_OK;
        }
    return err_set(e, ERR_UNSUPPORTED_MEDIA_TYPE,
                   "the body of the request was in an unknown format - accepted media types include: "
                   "%s, %s, %s",
                   medias[0].content_type, medias[1].content_type, medias[2].content_type);
}

const char *media_content_type(enum media m)
{
    return medias[m].content_type;
}

/* ---- Kind and version of a body ---- */

static enum err_code parse_api_version(struct str text, struct gvk *gvk, struct err *e)
{
    if (str_is(text, "/"))
        text.n = 0;
    schema_split_api_version(text, &gvk->group, &gvk->version);
    if (str_index(gvk->version, '/') == gvk->version.n)
        return ERR_OK;
    text = err_shown(e, text);
    return err_set(e, ERR_BAD_REQUEST, "unexpected GroupVersion string: %.*s", STR_ARG(text));
}

static enum err_code interpret(struct arena *a, struct str json, struct gvk *ret_gvk, struct err *e)
{
    struct gvk gvk = { 0 };
    struct str api_version;
    if (type_meta_read(a, json, &api_version, &gvk.kind, e) || parse_api_version(api_version, &gvk, e))
        return e->code;
    *ret_gvk = gvk;
    return ERR_OK;
}

static void fill_in(struct gvk *gvk, struct gvk endpoint)
{
    if (gvk->kind.n == 0)
        gvk->kind = endpoint.kind;
    if (gvk->version.n == 0 && (gvk->group.n == 0 || str_eq(gvk->group, endpoint.group))) {
        gvk->group = endpoint.group;
        gvk->version = endpoint.version;
    }
}

static struct str api_version_of(struct arena *a, struct gvk gvk)
{
    if (gvk.group.n == 0)
        return gvk.version;
    return str_of(arena_printf(a, "%.*s/%.*s", STR_ARG(gvk.group), STR_ARG(gvk.version)));
}

static const char *quoted(struct arena *a, struct str s)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_quoted_shown(&b, s);
    const char *text = arena_cstr(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

/* The type of a complete gvk. `body` is quoted when something is missing. */
static enum err_code find_type(struct arena *a, struct gvk gvk, struct str body, const struct type **ret_type,
                               struct err *e)
{
    if (gvk.kind.n == 0 || gvk.version.n == 0) {
        struct str shown = err_shown(e, body);
        return err_set(e, ERR_BAD_REQUEST, "Object '%s' is missing in '%.*s'",
                       gvk.kind.n == 0 ? "Kind" : "apiVersion", STR_ARG(shown));
    }
    struct str api_version = api_version_of(a, gvk);
    *ret_type = schema_object_type(api_version, gvk.kind);
    if (*ret_type)
        return ERR_OK;
    if (str_is(gvk.version, "__internal"))
        return err_set(e, ERR_BAD_REQUEST,
                       "no kind %s is registered for the internal version of group %s in scheme \"" SCHEME "\"",
                       quoted(a, gvk.kind), quoted(a, gvk.group));
    return err_set(e, ERR_BAD_REQUEST, "no kind %s is registered for version %s in scheme \"" SCHEME "\"",
                   quoted(a, gvk.kind), quoted(a, api_version));
}

/* ---- Reading ---- */

/* The usual case in one pass: the body is what the endpoint takes, and says so or does not say. False
 * when that is not certain; the long way then finds out what is wrong, in upstream's order. */
static bool read_expected(struct arena *a, struct work *work, struct str json, struct gvk endpoint,
                          struct findings *findings, struct object *ret_object)
{
    const struct type *t = schema_object_type(api_version_of(a, endpoint), endpoint.kind);
    struct value v;
    struct err e;
    err_init(&e, a);
    bool odd_meta;
    if (!t || json_decode_object(a, work, t, json, findings, &odd_meta, &v, &e) || odd_meta)
        return false;
    struct gvk gvk = { .kind = value_text(&v.slots[SLOT_KIND]) };
    if (parse_api_version(value_text(&v.slots[SLOT_API_VERSION]), &gvk, &e))
        return false;
    fill_in(&gvk, endpoint);
    *ret_object = (struct object){ t, v };
    return str_eq(gvk.kind, endpoint.kind) && str_eq(gvk.version, endpoint.version) &&
           str_eq(gvk.group, endpoint.group);
}

static enum err_code read_json(struct arena *a, struct work *work, struct str json, struct str body,
                               struct gvk endpoint, struct findings *findings, struct object *ret_object,
                               struct gvk *ret_seen, struct err *e)
{
    unsigned n_findings = findings ? findings->n : 0;
    if (read_expected(a, work, json, endpoint, findings, ret_object)) {
        *ret_seen = endpoint;
        return ERR_OK;
    }
    if (findings)
        findings->n = n_findings;
    struct gvk gvk;
    if (interpret(a, json, &gvk, e))
        return e->code;
    fill_in(&gvk, endpoint);
    *ret_seen = gvk;
    struct object o;
    if (find_type(a, gvk, body, &o.type, e) || json_decode(a, work, o.type, json, findings, &o.value, e))
        return e->code;
    *ret_object = o;
    return ERR_OK;
}

static enum err_code read_yaml(struct arena *a, struct work *work, struct str body, struct gvk endpoint,
                               struct findings *findings, struct object *ret_object, struct gvk *ret_seen,
                               struct err *e)
{
    struct str json;
    if (yaml_to_json(a, work, body, findings, &json, e))
        return e->code;
    return read_json(a, work, json, body, endpoint, findings, ret_object, ret_seen, e);
}

static enum err_code read_protobuf(struct arena *a, struct work *work, struct str body, struct gvk endpoint,
                                   struct object *ret_object, struct gvk *ret_seen, struct err *e)
{
    if (body.n == 0)
        return err_set(e, ERR_BAD_REQUEST, "empty data");
    if (!proto_is_envelope(body))
        return err_set(
            e, ERR_BAD_REQUEST,
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
    struct proto_envelope envelope;
    if (proto_open(body, &envelope, e))
        return e->code;
    struct gvk gvk = { .kind = envelope.kind };
    struct err ignored;
    err_init(&ignored, a);
    if (parse_api_version(envelope.api_version, &gvk, &ignored))
        gvk = (struct gvk){ .kind = envelope.kind };
    fill_in(&gvk, endpoint);
    *ret_seen = gvk;
    struct object o;
    if (find_type(a, gvk, STR(""), &o.type, e) || proto_decode(a, work, o.type, envelope.raw, &o.value, e))
        return e->code;
    *ret_object = o;
    return ERR_OK;
}

enum err_code object_read(struct arena *a, struct work *work, enum media m, struct str body, struct gvk endpoint,
                          struct findings *findings, struct object *ret_object, struct gvk *ret_seen,
                          struct err *e)
{
    enum err_code rc = ERR_OK;
    *ret_seen = (struct gvk){ 0 };
    if (work_begin(work, body.n, e))
        return e->code;
    switch (m) {
    case MEDIA_JSON:
        rc = read_json(a, work, body, body, endpoint, findings, ret_object, ret_seen, e);
        break;
    case MEDIA_YAML:
        rc = read_yaml(a, work, body, endpoint, findings, ret_object, ret_seen, e);
        break;
    case MEDIA_PROTOBUF:
        rc = read_protobuf(a, work, body, endpoint, ret_object, ret_seen, e);
        break;
    }
    if (rc)
        return rc;
    ret_object->value.slots[SLOT_KIND] = value_string(ret_seen->kind);
    ret_object->value.slots[SLOT_API_VERSION] = value_string(api_version_of(a, *ret_seen));
    return ERR_OK;
}

/* ---- The endpoint's own kind ---- */

/* Beginning of the body for a message: as it is when it looks like JSON, else in hexadecimal. */
static const char *summary(struct arena *a, struct str body)
{
    struct str head = str_first(body, SUMMARY_BYTES_MAX);
    const char *more = body.n > head.n ? " ..." : "";
    if (body.n == 0)
        return "<empty>";
    if (body.p[0] == '{')
        return arena_printf(a, "%.*s%s", STR_ARG(head), more);
    char hex[2 * SUMMARY_BYTES_MAX + 1];
    for (size_t i = 0; i < head.n; i++) {
        hex[2 * i] = "0123456789abcdef"[(unsigned char)head.p[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[head.p[i] & 15];
    }
    return arena_printf(a, "%.*s%s", (int)(2 * head.n), hex, more);
}

/* Puts around the decoder's text what the endpoint expected. */
static enum err_code explain(struct arena *a, struct err *e, struct gvk seen, struct gvk endpoint,
                             struct str body)
{
    seen.kind = err_shown(e, seen.kind);
    if (seen.kind.n)
        return err_set(e, ERR_BAD_REQUEST, "%.*s in version %s cannot be handled as a %.*s: %s",
                       STR_ARG(seen.kind), quoted(a, seen.version), STR_ARG(endpoint.kind), e->message);
    return err_set(e, ERR_BAD_REQUEST, "the object provided is unrecognized (must be of type %.*s): %s (%s)",
                   STR_ARG(endpoint.kind), e->message, summary(a, body));
}

/* The Go package of upstream's internal types of a group, on which all its versions meet. */
static struct str internal_package(struct gvk gvk)
{
    if (gvk.group.n == 0 || str_is(gvk.group, "events.k8s.io"))
        return STR("core");
    if (str_is(gvk.group, "internal.apiserver.k8s.io"))
        return STR("apiserverinternal");
    return str_first(gvk.group, str_index(gvk.group, '.'));
}

/* Whether upstream can turn the object into the endpoint's internal type. Kinds of the meta group have
 * one type for all groups and versions. */
static bool convertible(struct arena *a, const struct object *o, struct gvk seen, struct gvk endpoint,
                        bool *ret_same_type)
{
    *ret_same_type = o->type == schema_object_type(api_version_of(a, endpoint), endpoint.kind);
    return *ret_same_type ||
           (str_eq(seen.kind, endpoint.kind) && str_eq(internal_package(seen), internal_package(endpoint)));
}

static enum err_code wrong_version(struct arena *a, struct gvk seen, struct gvk endpoint, struct err *e)
{
    struct str data = api_version_of(a, seen), expected = api_version_of(a, endpoint);
    return err_set(e, ERR_BAD_REQUEST,
                   "the API version in the data (%.*s) does not match the expected API version (%.*s)",
                   STR_ARG(data), STR_ARG(expected));
}

const char *object_findings_text(struct arena *a, const struct findings *f)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&b, "strict decoding error: ");
    for (unsigned i = 0; i < f->n; i++) {
        if (i)
            STRBUF_ADD_LIT(&b, ", ");
        strbuf_add_text(&b, f->texts[i]);
    }
    const char *text = arena_cstr(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

enum err_code object_decode(struct arena *a, struct work *work, enum media m, struct str body, struct gvk endpoint,
                            enum field_validation validation, struct findings *findings,
                            struct object *ret_object, struct err *e)
{
    struct gvk seen;
    struct object o = { 0 };
    findings->n = 0;
    if (object_read(a, work, m, body, endpoint, validation == VALIDATION_IGNORE ? NULL : findings, &o, &seen, e))
        return e->code == ERR_TOO_LARGE ? e->code : explain(a, e, seen, endpoint, body);
    bool same_type;
    if (!convertible(a, &o, seen, endpoint, &same_type)) {
        struct str package = internal_package(endpoint);
        err_set(e, ERR_BAD_REQUEST, "converting (%s) to (%.*s.%.*s): unknown conversion", o.type->go_name,
                STR_ARG(package), STR_ARG(endpoint.kind));
        return explain(a, e, seen, endpoint, body);
    }
    if (validation == VALIDATION_STRICT && findings->n > 0) {
        err_set(e, ERR_BAD_REQUEST, "%s", object_findings_text(a, findings));
        return explain(a, e, seen, endpoint, body);
    }
    if (!same_type)
        return wrong_version(a, seen, endpoint, e);
    *ret_object = o;
    return ERR_OK;
}

void object_encode(struct strbuf *to, enum media m, const struct type *t, const struct value *v)
{
    switch (m) {
    case MEDIA_JSON:
        json_encode(to, t, v);
        strbuf_add_char(to, '\n');
        return;
    case MEDIA_YAML: {
        struct strbuf json;
        strbuf_init(&json, STRBUF_NO_MAX);
        json_encode(&json, t, v);
        yaml_from_json(to, strbuf_str(&json));
        strbuf_fini(&json);
        return;
    }
    case MEDIA_PROTOBUF:
        proto_encode_object(to, t, v);
        return;
    }
}
