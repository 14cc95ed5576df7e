/* Patches: result bytes, warnings, and of a refusal code, reason, message and the cause inside.
 *
 * A record without a kind is a plain document: the library's semantics alone, compared as a value. Messages of 422
 * may quote the patched document and those of 500 print Go maps; there code and detail count. */
#include "codec/json.h"
#include "patch/patch.h"
#include "tests/vectors/vectors.h"

static struct str encode_plain(struct arena *a, const struct value *v)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    json_encode_plain(&b, v);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static struct str encode_typed(struct arena *a, const struct type *t, const struct value *v)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    json_encode(&b, t, v);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static enum patch_type patch_type(struct str content_type)
{
    if (str_is(content_type, "application/json-patch+json"))
        return PATCH_TYPE_JSON;
    return str_is(content_type, "application/merge-patch+json") ? PATCH_TYPE_MERGE : PATCH_TYPE_STRATEGIC;
}

static enum field_validation field_validation(struct str name)
{
    return str_is(name, "Strict") ? VALIDATION_STRICT : str_is(name, "Warn") ? VALIDATION_WARN : VALIDATION_IGNORE;
}

static void check_refusal(struct vector_case *c, const struct err *e, const char *detail)
{
    int64_t code = vector_num(c->record, "code");
    struct str message = vector_str(c->record, "error");
    if (!vector_int(c, "code", err_http_status(e->code), code))
        return;
    vector_text(c, "reason", str_of(err_reason(e->code)), vector_str(c->record, "reason"));
    if (vector_has(c->record, "detail"))
        vector_text(c, "detail", str_of(detail), vector_str(c->record, "detail"));
    bool prints_values = code == 500 || str_starts(message, STR(" \"\" is invalid: patch: "));
    if (!prints_values)
        vector_text(c, "error", str_of(e->message), message);
}

static void check_warnings(struct vector_case *c, const struct patch_outcome *outcome)
{
    yyjson_val *want = yyjson_obj_get(c->record, "warnings");
    if (!vector_int(c, "warnings", outcome->n_warnings, (int64_t)yyjson_arr_size(want)))
        return;
    for (unsigned i = 0; i < outcome->n_warnings; i++) {
        yyjson_val *text = yyjson_arr_get(want, i);
        vector_text(c, "warning", str_of(outcome->warnings[i]),
                    (struct str){ yyjson_get_str(text), yyjson_get_len(text) });
    }
}

static void check_typed_result(struct vector_case *c, const struct type *t)
{
    struct value original;
    struct err e;
    err_init(&e, c->arena);
    if (json_decode(c->arena, WORK_OWN, t, vector_bytes(c, "original"), NULL, &original, &e)) {
        vector_mismatch(c, "original: %s", e.message);
        return;
    }
    struct work work = work_init(PATCH_BYTES_MAX);
    struct patch patch = { &work, patch_type(vector_str(c->record, "type")),
                           field_validation(vector_str(c->record, "fieldValidation")), vector_bytes(c, "patch") };
    struct patch_outcome outcome;
    if (patch_apply(c->arena, t, &original, &patch, &outcome, &e)) {
        if (!vector_has(c->record, "code"))
            vector_mismatch(c, "refused: %s", outcome.detail ? outcome.detail : e.message);
        else
            check_refusal(c, &e, outcome.detail);
        return;
    }
    if (vector_has(c->record, "code")) {
        vector_mismatch(c, "accepted, want %.*s", STR_ARG(vector_str(c->record, "error")));
        return;
    }
    vector_text(c, "result", encode_typed(c->arena, t, &outcome.object), vector_str(c->record, "result"));
    check_warnings(c, &outcome);
}

static void check_plain(struct vector_case *c)
{
    struct str result = { "", 0 }, original = vector_bytes(c, "original"), patch = vector_bytes(c, "patch");
    struct err e;
    err_init(&e, c->arena);
    bool json = patch_type(vector_str(c->record, "type")) == PATCH_TYPE_JSON;
    struct work work = work_init(PATCH_BYTES_MAX);
    enum err_code rc = json ? json_patch_apply(c->arena, &work, original, patch, &result, &e)
                            : merge_patch_apply(c->arena, &work, original, patch, &result, &e);
    if (rc && !vector_has(c->record, "code")) {
        vector_mismatch(c, "refused: %s", e.message);
    } else if (rc) {
        const char *detail = e.message;
        if (rc == ERR_INVALID)
            err_set(&e, rc, "the server rejected our request due to an error in our request");
        check_refusal(c, &e, detail);
    } else if (vector_has(c->record, "code")) {
        vector_mismatch(c, "accepted, want %.*s", STR_ARG(vector_str(c->record, "error")));
    } else {
        struct value got, want;
        if (json_decode_plain(c->arena, WORK_OWN, result, &got, &e) ||
            json_decode_plain(c->arena, WORK_OWN, vector_str(c->record, "result"), &want, &e))
            vector_mismatch(c, "result is not JSON: %s", e.message);
        else
            vector_text(c, "result", encode_plain(c->arena, &got), encode_plain(c->arena, &want));
    }
}

void check_patches(struct vector_case *c)
{
    struct str kind = vector_str(c->record, "kind");
    if (!kind.n) {
        check_plain(c);
        return;
    }
    const struct type *t = schema_object_type(vector_str(c->record, "apiVersion"), kind);
    if (t)
        check_typed_result(c, t);
    else
        vector_mismatch(c, "no type for %.*s", STR_ARG(kind));
}
