/* patch/patch.c - how a PATCH request changes an object: see patch.h.
 *
 * The texts of Status messages and which failure gets which code are upstream's, also where they hide the
 * reason from the client. */
#include "patch/patch.h"

#include "codec/json.h"
#include "codec/object.h"
#include "codec/type_meta.h"
#include "patch/patch_priv.h"

#define REJECTED "the server rejected our request due to an error in our request"

struct request {
    struct arena *arena;
    const struct type *type;
    const struct patch *patch;
    struct patch_outcome *outcome;
    struct texts findings;
    struct err *e;
};

static bool strict(const struct request *r)
{
    return r->patch->validation != VALIDATION_IGNORE;
}

/* 422 about the patch, quoting what could not be used: a document, or the patch as Go prints it. */
static enum err_code invalid(struct request *r, struct str quoted, const char *detail)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&b, "Invalid value: ");
    strbuf_add_quoted_shown(&b, quoted);
    STRBUF_ADD_LIT(&b, ": ");
    strbuf_add_text(&b, detail);
    r->outcome->detail = detail;
    r->outcome->cause = take_text(r->arena, &b);
    return err_set(r->e, ERR_INVALID, " \"\" is invalid: patch: %s", r->outcome->cause);
}

/* 422 without a word about why. */
static enum err_code rejected(struct request *r)
{
    r->outcome->detail = r->e->message;
    r->e->kind = r->e->name = ""; /* details are there, and empty */
    return err_set(r->e, ERR_INVALID, REJECTED);
}

/* Unknown and duplicate fields become warnings or, if the request is strict, a failure. */
static enum err_code judge_findings(struct request *r, struct str quoted)
{
    const struct texts *found = &r->findings;
    if (found->n == 0)
        return ERR_OK;
    if (r->patch->validation == VALIDATION_WARN) {
        r->outcome->warnings = found->at;
        r->outcome->n_warnings = found->n;
        return ERR_OK;
    }
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&b, "strict decoding error: ");
    for (unsigned i = 0; i < found->n; i++)
        strbuf_printf(&b, "%s%s", i ? ", " : "", found->at[i]);
    return invalid(r, quoted, take_text(r->arena, &b));
}

static struct str encode(struct request *r, const struct value *object)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    json_encode(&b, r->type, object);
    struct str text = arena_str(r->arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

/* ---- JSON patch and merge patch: over text ---- */

/* What the endpoint serves, from "apps/v1.Deployment" or "core/v1.Pod". */
static struct gvk endpoint_of(const struct type *t)
{
    struct gvk gvk = { .kind = t->kind };
    schema_split_api_version(str_first(t->name, t->name.n - t->kind.n - 1), &gvk.group, &gvk.version);
    if (str_is(gvk.group, "core"))
        gvk.group.n = 0;
    return gvk;
}

/* A patch may not make the object one of another kind: there is no conversion. */
static const char *other_type(struct request *r, const struct type *got)
{
    struct str group = str_first(r->type->name, strcspn(r->type->name.p, "./"));
    return arena_printf(r->arena, "converting (%s) to (%.*s.%.*s): unknown conversion", got->go_name,
                        STR_ARG(group), STR_ARG(r->type->kind));
}

static void add_unknown(struct request *r, struct str name)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&text, "unknown field \"");
    strbuf_add_str(&text, name);
    strbuf_add_char(&text, '"');
    texts_add(&r->findings, strbuf_str(&text));
    strbuf_fini(&text);
}

/* What names no version is one of the internal version, to which `endpoint` is changed then. Whether it is, and is of the right
 * kind. */
static bool is_internal(struct request *r, struct str text, struct gvk *endpoint)
{
    struct str api_version, kind, group, version;
    struct err e;
    err_init(&e, r->arena);
    if (type_meta_read(r->arena, text, &api_version, &kind, &e))
        return false;
    schema_split_api_version(str_is(api_version, "/") ? STR("") : api_version, &group, &version);
    if (version.n || (group.n && !str_eq(group, endpoint->group)))
        return false;
    endpoint->version = STR("__internal");
    return kind.n == 0 || str_eq(kind, endpoint->kind);
}

/* Fields of the internal version have other names: nothing in the document is known, and what comes out is empty. */
static enum err_code decode_internal(struct request *r, struct str text)
{
    struct value plain;
    if (json_decode_plain(r->arena, r->patch->work, text, &plain, r->e))
        return r->e->code;
    for (uint32_t i = 0; strict(r) && plain.kind == VALUE_MAP && i < plain.n; i++)
        if (!str_is(plain.members[i].key, "kind") && !str_is(plain.members[i].key, "apiVersion"))
            add_unknown(r, plain.members[i].key);
    r->outcome->object = value_struct(r->arena, r->type);
    return judge_findings(r, text);
}

static enum err_code decode_patched(struct request *r, struct str text)
{
    struct findings found = { .n = 0 };
    struct object object;
    struct gvk seen, endpoint = endpoint_of(r->type);
    if (is_internal(r, text, &endpoint))
        return decode_internal(r, text);
    if (object_read(r->arena, r->patch->work, MEDIA_JSON, text, endpoint, strict(r) ? &found : NULL,
                    &object, &seen, r->e))
        return invalid(r, text, r->e->message);
    if (object.type != r->type)
        return invalid(r, text, other_type(r, object.type));
    r->outcome->object = object.value;
    for (unsigned i = 0; i < found.n; i++)
        texts_add(&r->findings, str_of(found.texts[i]));
    return judge_findings(r, text);
}

static enum err_code apply_json(struct request *r, struct str document)
{
    struct str patched;
    if (strict(r) && json_patch_check(r->arena, r->patch->work, r->patch->body, &r->findings, r->e))
        return err_wrap(r->e, "error decoding patch");
    if (json_patch_apply(r->arena, r->patch->work, document, r->patch->body, &patched, r->e))
        return r->e->code == ERR_INVALID ? rejected(r) : r->e->code;
    return decode_patched(r, patched);
}

static enum err_code apply_merge(struct request *r, struct str document)
{
    struct str patched;
    if (strict(r) && plain_check(r->arena, r->patch->work, r->patch->body, &r->findings, r->e))
        return err_wrap(r->e, "error decoding patch");
    if (merge_patch_apply(r->arena, r->patch->work, document, r->patch->body, &patched, r->e))
        return r->e->code;
    return decode_patched(r, patched);
}

/* ---- Strategic merge patch: over plain values ---- */

/* A number that no double can hold, or NULL. */
static const struct value *find_huge_number(const struct value *v)
{
    const struct value *found = v->kind == VALUE_RAW ? v : NULL;
    for (uint32_t i = 0; v->kind == VALUE_LIST && i < v->n && !found; i++)
        found = find_huge_number(&v->items[i]);
    for (uint32_t i = 0; v->kind == VALUE_MAP && i < v->n && !found; i++)
        found = find_huge_number(&v->members[i].value);
    return found;
}

static enum err_code read_strategic(struct request *r, struct value *ret_patch)
{
    if (plain_check(r->arena, r->patch->work, r->patch->body, strict(r) ? &r->findings : NULL, r->e) ||
        json_decode_plain(r->arena, r->patch->work, r->patch->body, ret_patch, r->e))
        return r->e->code;
    const struct value *huge = find_huge_number(ret_patch);
    if (huge)
        return err_set(r->e, ERR_BAD_REQUEST, "json: cannot unmarshal number %.*s into Go value of type float64",
                       STR_ARG(value_text(huge)));
    return ERR_OK;
}

static struct str printed(struct request *r, const struct value *patch)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    if (patch->kind == VALUE_MAP)
        go_print(&b, patch, 'v');
    else
        STRBUF_ADD_LIT(&b, "map[]");
    struct str text = arena_str(r->arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static enum err_code apply_strategic(struct request *r, struct str document)
{
    struct value original, patch, merged;
    work_extend(r->patch->work, document.n);
    if (read_strategic(r, &patch) || json_decode_plain(r->arena, r->patch->work, document, &original, r->e))
        return r->e->code;
    if (strategic_patch_apply(r->arena, r->patch->work, r->type, &original, &patch, &merged, r->e))
        return r->e->code == ERR_INVALID ? rejected(r) : r->e->code;
    if (convert_plain(r->arena, r->patch->work, r->type, &merged, strict(r) ? &r->findings : NULL,
                      &r->outcome->object, r->e))
        return invalid(r, printed(r, &patch), r->e->message);
    return judge_findings(r, printed(r, &patch));
}

static enum err_code apply(struct request *r, struct str document)
{
    switch (r->patch->type) {
    case PATCH_TYPE_JSON:
        return apply_json(r, document);
    case PATCH_TYPE_MERGE:
        return apply_merge(r, document);
    case PATCH_TYPE_STRATEGIC:
        return apply_strategic(r, document);
    }
    return err_set(r->e, ERR_UNSUPPORTED_MEDIA_TYPE, "unknown type of patch");
}

enum err_code patch_apply(struct arena *a, const struct type *t, const struct value *current,
                          const struct patch *patch, struct patch_outcome *outcome, struct err *e)
{
    struct request r = { .arena = a, .type = t, .patch = patch, .outcome = outcome, .findings = { .arena = a },
                         .e = e };
    *outcome = (struct patch_outcome){ 0 };
    struct str document = encode(&r, current);
    if (work_begin(patch->work, patch->body.n, e))
        return e->code;
    if (apply(&r, document))
        return e->code;
    if (t->flags & TYPE_OBJECT) /* no patch changes what an object is */
        for (unsigned slot = SLOT_KIND; slot <= SLOT_API_VERSION; slot++)
            outcome->object.slots[slot] = *value_slot(current, slot);
    return ERR_OK;
}
