/* strict: findings, refusals and what a POST with fieldValidation=Strict is answered. */
#include "base/strbuf.h"
#include "base/utf8.h"
#include "codec/object.h"
#include "tests/vectors/vectors.h"

static struct gvk endpoint_of(struct vector_case *c)
{
    struct gvk gvk = { .kind = vector_str(c->record, "kind") };
    schema_split_api_version(vector_str(c->record, "apiVersion"), &gvk.group, &gvk.version);
    return gvk;
}

/* As a client reads it from the Status: bytes that are not UTF-8 have become U+FFFD. */
static struct str as_sent(struct vector_case *c, const char *text)
{
    struct strbuf out;
    strbuf_init(&out, STRBUF_NO_MAX);
    struct str rest = str_of(text);
    while (rest.n) {
        size_t n = utf8_valid_prefix(rest);
        strbuf_add(&out, rest.p, n);
        rest = str_from(rest, n);
        if (rest.n)
            STRBUF_ADD_LIT(&out, "\xEF\xBF\xBD");
        rest = str_from(rest, 1);
    }
    struct str copy = arena_str(c->arena, strbuf_str(&out));
    strbuf_fini(&out);
    return copy;
}

static void check_json(struct vector_case *c, const struct object *o)
{
    struct strbuf out;
    strbuf_init(&out, STRBUF_NO_MAX);
    object_encode(&out, MEDIA_JSON, o->type, &o->value);
    struct str json = strbuf_str(&out);
    if (json.n == 0 || json.p[--json.n] != '\n')
        vector_mismatch(c, "no newline at the end");
    vector_text(c, "json", json, vector_bytes(c, "json"));
    strbuf_fini(&out);
}

static void check_errors(struct vector_case *c, const struct findings *f)
{
    yyjson_val *errors = yyjson_obj_get(c->record, "errors");
    if (!vector_int(c, "number of findings", f->n, (int64_t)yyjson_arr_size(errors)))
        return;
    for (unsigned i = 0; i < f->n; i++) {
        yyjson_val *want = yyjson_arr_get(errors, i);
        vector_text(c, "finding", str_of(f->texts[i]),
                    (struct str){ yyjson_get_str(want), yyjson_get_len(want) });
    }
}

/* The decoder alone: findings, its own error, the object that Warn and Ignore work with. */
static void check_read(struct vector_case *c, enum media m, struct str body)
{
    static struct findings findings;
    struct object o;
    struct gvk seen;
    struct err e;
    err_init(&e, c->arena);
    findings.n = 0;
    if (object_read(c->arena, WORK_OWN, m, body, endpoint_of(c), &findings, &o, &seen, &e)) {
        vector_text(c, "family of what is refused", vector_str(c->record, "family"), STR("reject"));
        vector_text(c, "error", as_sent(c, e.message), vector_str(c->record, "error"));
        return;
    }
    check_errors(c, &findings);
    const char *text = findings.n ? object_findings_text(c->arena, &findings) : "";
    vector_text(c, "error", as_sent(c, text), vector_str(c->record, "error"));
    check_json(c, &o);
}

static void check_validation(struct vector_case *c, enum media m, struct str body,
                             enum field_validation validation)
{
    static struct findings findings;
    struct object o;
    struct err e;
    err_init(&e, c->arena);
    bool strict = validation == VALIDATION_STRICT;
    bool want_failure = str_is(vector_str(c->record, "family"), "reject") ||
                        (strict && str_is(vector_str(c->record, "family"), "strict"));
    struct work work = work_init(REQUEST_BYTES_MAX);
    bool failed = object_decode(c->arena, &work, m, body, endpoint_of(c), validation, &findings, &o, &e);
    vector_int(c, "refused", failed, want_failure);
    if (failed && strict)
        vector_text(c, "message", as_sent(c, e.message), vector_str(c->record, "message"));
    else if (!failed)
        check_json(c, &o);
}

void check_strict(struct vector_case *c)
{
    struct str body = vector_bytes(c, "input");
    enum media m;
    struct err e;
    err_init(&e, c->arena);
    if (media_of_content_type(vector_str(c->record, "mediaType"), &m, &e)) {
        vector_mismatch(c, "%s", e.message);
        return;
    }
    check_read(c, m, body);
    check_validation(c, m, body, VALIDATION_STRICT);
    check_validation(c, m, body, VALIDATION_WARN);
    check_validation(c, m, body, VALIDATION_IGNORE);
}
