/* codec: JSON to JSON, JSON to protobuf, protobuf to JSON, also as events of a watch. codec-unknown: lenient
 * decoding. kinds: which kinds of the meta group are registered under which versions. */
#include "base/strbuf.h"
#include "codec/json.h"
#include "codec/object.h"
#include "codec/proto.h"
#include "tests/vectors/vectors.h"

enum { FRAME_HEAD_BYTES = 4 }; /* length of a watch event in protobuf, big endian */

/* The bytes of a buffer, which is freed. */
static struct str taken(struct vector_case *c, struct strbuf *b)
{
    struct str copy = arena_str(c->arena, strbuf_str(b));
    strbuf_fini(b);
    return copy;
}

static struct str as_json(struct vector_case *c, const struct type *t, const struct value *v)
{
    struct strbuf out;
    strbuf_init(&out, STRBUF_NO_MAX);
    json_encode(&out, t, v);
    return taken(c, &out);
}

static struct str as_protobuf(struct vector_case *c, const struct type *t, const struct value *v)
{
    struct strbuf out;
    strbuf_init(&out, STRBUF_NO_MAX);
    proto_encode_object(&out, t, v);
    return taken(c, &out);
}

static void compare_bytes(struct vector_case *c, const char *what, struct str got, struct str want)
{
    size_t at = 0;
    while (at < got.n && at < want.n && got.p[at] == want.p[at])
        at++;
    if (at < got.n || at < want.n)
        vector_mismatch(c, "%s: %zu bytes, want %zu, first difference at %zu", what, got.n, want.n, at);
}

static struct str want_json_from_protobuf(struct vector_case *c)
{
    bool differs = vector_has(c->record, "jsonFromProtobuf");
    return vector_str(c->record, differs ? "jsonFromProtobuf" : "json");
}

static bool decoded(struct vector_case *c, const struct type *t, struct str json, struct value *ret_value)
{
    struct err e;
    err_init(&e, c->arena);
    if (!json_decode(c->arena, WORK_OWN, t, json, NULL, ret_value, &e))
        return true;
    vector_mismatch(c, "%s: JSON is refused: %s", t->go_name, e.message);
    return false;
}

static void check_object(struct vector_case *c, const struct type *t)
{
    struct str json = vector_str(c->record, "json");
    struct str protobuf = vector_base64(c->arena, vector_str(c->record, "protobuf"));
    struct value v;
    if (!decoded(c, t, json, &v))
        return;
    vector_text(c, "JSON to JSON", as_json(c, t, &v), json);
    compare_bytes(c, "JSON to protobuf", as_protobuf(c, t, &v), protobuf);
    struct err e;
    err_init(&e, c->arena);
    if (proto_decode_object(c->arena, WORK_OWN, protobuf, STR(""), STR(""), &t, &v, &e))
        vector_mismatch(c, "protobuf is refused: %s", e.message);
    else
        vector_text(c, "protobuf to JSON", as_json(c, t, &v), want_json_from_protobuf(c));
}

/* An event of a watch around an object that is already written. */
static struct str event_json(struct vector_case *c, const struct type *event_type, struct str object_json)
{
    struct value event = value_struct(c->arena, event_type);
    event.slots[schema_slot(event_type, STR("type"))] = value_string(vector_str(c->record, "type"));
    event.slots[schema_slot(event_type, STR("object"))] = value_raw(object_json);
    return as_json(c, event_type, &event);
}

static struct str event_frame(struct vector_case *c, struct str envelope)
{
    struct strbuf out;
    strbuf_init(&out, STRBUF_NO_MAX);
    proto_encode_watch_event(&out, vector_str(c->record, "type"), envelope);
    return taken(c, &out);
}

static void check_event(struct vector_case *c, const struct type *t)
{
    const struct type *event_type = schema_type(STR("meta/v1.WatchEvent"));
    struct str json = vector_str(c->record, "json");
    struct str frame = vector_base64(c->arena, vector_str(c->record, "protobuf"));
    struct value event, object;
    if (!decoded(c, event_type, json, &event))
        return;
    struct str raw = value_text(&event.slots[schema_slot(event_type, STR("object"))]);
    if (!decoded(c, t, raw, &object))
        return;
    vector_text(c, "JSON to JSON", event_json(c, event_type, as_json(c, t, &object)), json);
    compare_bytes(c, "JSON to protobuf", event_frame(c, as_protobuf(c, t, &object)), frame);
    struct err e;
    err_init(&e, c->arena);
    if (proto_decode(c->arena, WORK_OWN, event_type, str_from(frame, FRAME_HEAD_BYTES), &event, &e))
        vector_mismatch(c, "protobuf is refused: %s", e.message);
    else
        vector_text(c, "protobuf to JSON", as_json(c, event_type, &event), want_json_from_protobuf(c));
}

void check_codec(struct vector_case *c)
{
    struct str api_version = vector_str(c->record, "apiVersion"), kind = vector_str(c->record, "kind");
    const struct type *t = schema_object_type(api_version, kind);
    if (!t)
        vector_mismatch(c, "unknown kind %.*s %.*s", STR_ARG(api_version), STR_ARG(kind));
    else if (vector_has(c->record, "stream"))
        check_event(c, t);
    else
        check_object(c, t);
}

void check_codec_unknown(struct vector_case *c)
{
    bool protobuf = vector_has(c->record, "protobuf");
    struct str body =
        protobuf ? vector_base64(c->arena, vector_str(c->record, "protobuf")) : vector_bytes(c, "input");
    struct gvk seen, endpoint = { .kind = vector_str(c->record, "kind") };
    schema_split_api_version(vector_str(c->record, "apiVersion"), &endpoint.group, &endpoint.version);
    struct object o;
    struct err e;
    err_init(&e, c->arena);
    enum media m = protobuf ? MEDIA_PROTOBUF : MEDIA_JSON;
    bool refused = object_read(c->arena, WORK_OWN, m, body, endpoint, NULL, &o, &seen, &e);
    if (refused != vector_has(c->record, "error"))
        vector_mismatch(c, "%s: %s", vector_str(c->record, "why").p, refused ? e.message : "is accepted");
    else if (!refused)
        vector_text(c, "decoded and written again", as_json(c, o.type, &o.value), vector_bytes(c, "json"));
}

void check_kinds(struct vector_case *c)
{
    struct gvk seen, none = { 0 };
    struct object o;
    struct err e;
    err_init(&e, c->arena);
    struct work work = work_init(REQUEST_BYTES_MAX);
    bool refused = object_read(c->arena, &work, MEDIA_JSON, vector_str(c->record, "input"), none, NULL, &o, &seen, &e);
    vector_text(c, "error", refused ? str_of(e.message) : STR(""), vector_str(c->record, "error"));
}
