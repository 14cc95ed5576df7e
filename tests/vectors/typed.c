/* tests/vectors/typed.c - typed forms of recorded objects: JSON and protobuf give the same one. */
#include "codec/proto.h"
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

struct source {
    enum typed_format format;
    struct str bytes;
};

static void compare(struct vector_case *c, const struct typed_kind *k, struct source got, struct source want)
{
    struct sym_table syms;
    sym_init(&syms);
    const void *got_form = NULL, *want_form = NULL;
    struct strbuf one, other;
    strbuf_init(&one, STRBUF_NO_MAX);
    strbuf_init(&other, STRBUF_NO_MAX);
    decode(c, &syms, k, want.format, want.bytes, &want_form, &one);
    decode(c, &syms, k, got.format, got.bytes, &got_form, &other);
    vector_text(c, k->kind, strbuf_str(&other), strbuf_str(&one));
    strbuf_fini(&one);
    strbuf_fini(&other);
    k->unref(&syms, want_form);
    k->unref(&syms, got_form);
    vector_int(c, "syms left behind", sym_n_live(&syms), 1);
    sym_fini(&syms);
}

static const struct typed_kind *kind_of(const struct vector_case *c)
{
    return typed_kind(vector_str(c->record, "apiVersion"), vector_str(c->record, "kind"));
}

static bool open_envelope(struct vector_case *c, struct proto_envelope *ret_envelope)
{
    struct err e;
    err_init(&e, c->arena);
    struct str protobuf = vector_base64(c->arena, vector_str(c->record, "protobuf"));
    if (!proto_open(protobuf, ret_envelope, &e))
        return true;
    vector_mismatch(c, "%s", e.message);
    return false;
}

void check_typed(struct vector_case *c)
{
    const struct typed_kind *k = kind_of(c);
    struct proto_envelope envelope;
    if (!k || vector_has(c->record, "stream") || !open_envelope(c, &envelope))
        return;
    bool differs = vector_has(c->record, "jsonFromProtobuf");
    compare(c, k, (struct source){ TYPED_PROTOBUF, envelope.raw },
            (struct source){ TYPED_JSON, vector_bytes(c, differs ? "jsonFromProtobuf" : "json") });
}

/* The same message as berth itself writes it. JSON would not do: a zero time behind a pointer is null there. */
static struct str rewrite(struct vector_case *c, const struct typed_kind *k, struct str message)
{
    const struct type *t = schema_object_type(str_of(k->api_version), str_of(k->kind));
    struct err e;
    err_init(&e, c->arena);
    struct value v;
    if (proto_decode(c->arena, WORK_OWN, t, message, &v, &e)) {
        vector_mismatch(c, "%s", e.message);
        return STR("");
    }
    struct strbuf out;
    strbuf_init(&out, STRBUF_NO_MAX);
    proto_encode(&out, t, &v);
    struct str copy = arena_str(c->arena, strbuf_str(&out));
    strbuf_fini(&out);
    return copy;
}

/* What is not in canonical form gives the same form as what is. Refusals are not compared: fields that a form
 * does not need are not looked at. */
void check_typed_lenient(struct vector_case *c)
{
    const struct typed_kind *k = kind_of(c);
    struct proto_envelope envelope;
    if (!k || vector_has(c->record, "error"))
        return;
    if (!vector_has(c->record, "protobuf"))
        compare(c, k, (struct source){ TYPED_JSON, vector_bytes(c, "input") },
                (struct source){ TYPED_JSON, vector_bytes(c, "json") });
    else if (open_envelope(c, &envelope))
        compare(c, k, (struct source){ TYPED_PROTOBUF, envelope.raw },
                (struct source){ TYPED_PROTOBUF, rewrite(c, k, envelope.raw) });
}
