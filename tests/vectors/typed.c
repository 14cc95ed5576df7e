/* tests/vectors/typed.c - typed forms of recorded objects: JSON and protobuf give the same one. */
#include "api/proto.h"
#include "tests/typed_dump.h"
#include "tests/vectors/vectors.h"

/* The dump of the form, or why there is none: names with a NUL are refused. */
static void decode(struct vector_case *c, struct sym_table *syms, const struct typed_kind *k,
                   enum typed_format format, struct str bytes, const void **ret_form, struct strbuf *dump)
{
    struct err e;
    err_init(&e, c->arena);
    if (!k->decode(syms, format, bytes, ret_form, &e))
        k->dump(dump, syms, *ret_form);
    else if (strstr(e.message, "holds a NUL character"))
        strbuf_add_text(dump, e.message);
    else
        vector_mismatch(c, "%s from %s: %s", k->kind, format == TYPED_JSON ? "JSON" : "protobuf", e.message);
}

static void compare(struct vector_case *c, const struct typed_kind *k, struct str json, struct str message)
{
    struct sym_table syms;
    sym_init(&syms);
    const void *from_json = NULL, *from_proto = NULL;
    struct strbuf one, other;
    strbuf_init(&one, STRBUF_NO_MAX);
    strbuf_init(&other, STRBUF_NO_MAX);
    decode(c, &syms, k, TYPED_JSON, json, &from_json, &one);
    decode(c, &syms, k, TYPED_PROTOBUF, message, &from_proto, &other);
    vector_text(c, k->kind, strbuf_str(&other), strbuf_str(&one));
    strbuf_fini(&one);
    strbuf_fini(&other);
    k->unref(&syms, from_json);
    k->unref(&syms, from_proto);
    vector_int(c, "syms left behind", sym_n_live(&syms), 1);
    sym_fini(&syms);
}

void check_typed(struct vector_case *c)
{
    const struct typed_kind *k = typed_kind(vector_str(c->record, "apiVersion"), vector_str(c->record, "kind"));
    if (!k || vector_has(c->record, "stream"))
        return;
    struct err e;
    err_init(&e, c->arena);
    struct proto_envelope envelope;
    struct str protobuf = vector_base64(c->arena, vector_str(c->record, "protobuf"));
    if (proto_open(protobuf, &envelope, &e)) {
        vector_mismatch(c, "%s", e.message);
        return;
    }
    struct str json = vector_has(c->record, "jsonFromProtobuf") ? vector_bytes(c, "jsonFromProtobuf")
                                                                : vector_bytes(c, "json");
    compare(c, k, json, envelope.raw);
}
