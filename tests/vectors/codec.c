/* codec: JSON to JSON, JSON to protobuf, protobuf to JSON, also as events of a watch. codec-unknown: lenient decoding.
 *
 * CODEC.md sections 1 and 2 say what the records hold. */
#include "api/json.h"
#include "api/proto.h"
#include "base/strbuf.h"
#include "tests/vectors/vectors.h"

static struct str encoded_json(struct vector_case *c, const struct type *t, const struct value *v)
{
    struct strbuf out;
    strbuf_init(&out, STRBUF_NO_MAX);
    json_encode(&out, t, v);
    struct str copy = arena_str(c->arena, strbuf_str(&out));
    strbuf_fini(&out);
    return copy;
}

static const struct type *record_type(struct vector_case *c)
{
    struct str api_version = vector_str(c->record, "apiVersion"), kind = vector_str(c->record, "kind");
    const struct type *t = schema_object_type(api_version, kind);
    if (!t)
        vector_mismatch(c, "unknown kind %.*s %.*s", STR_ARG(api_version), STR_ARG(kind));
    return t;
}

static bool decode_json(struct vector_case *c, const struct type *t, struct str json, struct value *ret_value)
{
    struct err e;
    err_init(&e, c->arena);
    if (!json_decode(c->arena, t, json, NULL, ret_value, &e))
        return true;
    vector_mismatch(c, "%s: JSON is refused: %s", t->go_name, e.message);
    return false;
}

static void check_object(struct vector_case *c, const struct type *t)
{
    struct str json = vector_str(c->record, "json");
    struct value v;
    if (decode_json(c, t, json, &v))
        vector_text(c, "JSON to JSON", encoded_json(c, t, &v), json);
}

void check_codec(struct vector_case *c)
{
    const struct type *t = record_type(c);
    if (!t)
        return;
    if (!vector_has(c->record, "stream"))
        check_object(c, t);
}

static void check_lenient(struct vector_case *c)
{
    const struct type *t = record_type(c);
    struct value v;
    if (!t || !decode_json(c, t, vector_bytes(c, "input"), &v))
        return;
    v.slots[SLOT_KIND] = value_string(vector_str(c->record, "kind"));
    v.slots[SLOT_API_VERSION] = value_string(vector_str(c->record, "apiVersion"));
    vector_text(c, "decoded and written again", encoded_json(c, t, &v), vector_str(c->record, "json"));
}

void check_codec_unknown(struct vector_case *c)
{
    if (!vector_has(c->record, "protobuf"))
        check_lenient(c);
}
