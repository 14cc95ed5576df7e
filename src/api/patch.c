/* api/patch.c - how a PATCH request changes an object: see patch.h.
 *
 * The texts of Status messages and which failure gets which code are upstream's, also where they hide the
 * reason from the client. */
#include "api/patch.h"

#include "api/json.h"
#include "api/json_scan.h"
#include "api/patch_priv.h"

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
    return r->patch->validation != VALIDATE_IGNORE;
}

/* 422 about the patch, quoting what could not be used: a document, or the patch as Go prints it. */
static enum err_code invalid(struct request *r, struct str quoted, const char *detail)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&b, "Invalid value: ");
    strbuf_add_quoted(&b, quoted);
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
    return err_set(r->e, ERR_INVALID, REJECTED);
}

/* Unknown and duplicate fields become warnings or, if the request is strict, a failure. */
static enum err_code judge_findings(struct request *r, struct str quoted)
{
    const struct texts *found = &r->findings;
    if (found->n == 0)
        return ERR_OK;
    if (r->patch->validation == VALIDATE_WARN) {
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

#define NO_VERSION_KIND "couldn't get version/kind; json parse error: "
#define VERSION_KIND_TYPE \
    "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }"

/* apiVersion and kind of a document, empty where it has none. NULL, or why it cannot be an object. */
static const char *read_type_meta(struct request *r, struct str text, struct str *ret_api_version,
                                  struct str *ret_kind)
{
    struct json_scan scan = json_scan_init(text);
    bool first = true, fault;
    *ret_api_version = *ret_kind = STR("");
    if (json_peek(&scan) != '{')
        return arena_printf(r->arena, NO_VERSION_KIND "json: cannot unmarshal %s into Go value of type "
                            VERSION_KIND_TYPE, json_kind_name(json_peek(&scan)));
    (void)json_enter(&scan, '{');
    while (json_next(&scan, '}', &first, &fault)) {
        struct json_text token;
        if (!json_scan_key(&scan, &token))
            return "invalid JSON"; /* cannot be: the text was made here */
        struct str name = json_unescape(r->arena, token);
        struct str *text_of = str_is(name, "apiVersion") ? ret_api_version : str_is(name, "kind") ? ret_kind : NULL;
        char c = json_peek(&scan);
        if (!text_of || c == 'n') {
            if (!json_skip_value(&scan))
                return "invalid JSON";
            continue;
        }
        if (!json_scan_string(&scan, &token))
            return arena_printf(r->arena, NO_VERSION_KIND "json: cannot unmarshal %s into Go struct field .%.*s "
                                "of type string", json_kind_name(c), STR_ARG(name));
        *text_of = json_unescape(r->arena, token);
    }
    return NULL;
}

/* Why a patched object of another kind cannot be stored in place of the old one; there is no conversion. */
static const char *other_type(struct request *r, struct str api_version, struct str kind)
{
    const struct type *t = schema_object_type(api_version, kind);
    if (t == r->type)
        return NULL;
    if (!t)
        return arena_printf(r->arena, "no kind \"%.*s\" is registered for version \"%.*s\" in scheme "
                            "\"pkg/api/legacyscheme/scheme.go:30\"", STR_ARG(kind), STR_ARG(api_version));
    struct str group = str_first(r->type->name, strcspn(r->type->name.p, "./"));
    return arena_printf(r->arena, "converting (%s) to (%.*s.%.*s): unknown conversion", t->go_name,
                        STR_ARG(group), STR_ARG(r->type->kind));
}

/* A patch may not make the object one of another kind. Without version or kind it stays what it was. */
static const char *check_type(struct request *r, struct str text)
{
    struct str api_version, kind;
    const char *fault = read_type_meta(r, text, &api_version, &kind);
    if (fault || api_version.n == 0)
        return fault;
    return other_type(r, api_version, kind.n ? kind : r->type->kind);
}

static enum err_code decode_patched(struct request *r, struct str text)
{
    struct findings found = { .n = 0 };
    const char *fault = check_type(r, text);
    if (fault)
        return invalid(r, text, fault);
    if (json_decode(r->arena, r->type, text, strict(r) ? &found : NULL, &r->outcome->object, r->e))
        return invalid(r, text, r->e->message);
    for (unsigned i = 0; i < found.n; i++)
        texts_add(&r->findings, str_of(found.texts[i]));
    return judge_findings(r, text);
}

static enum err_code apply_json(struct request *r, struct str document)
{
    struct str patched;
    if (strict(r) && json_patch_check(r->arena, r->patch->body, &r->findings, r->e))
        return err_wrap(r->e, "error decoding patch");
    if (json_patch_apply(r->arena, document, r->patch->body, &patched, r->e))
        return r->e->code == ERR_INVALID ? rejected(r) : r->e->code;
    return decode_patched(r, patched);
}

static enum err_code apply_merge(struct request *r, struct str document)
{
    struct str patched;
    if (strict(r) && plain_check(r->arena, r->patch->body, &r->findings, r->e))
        return err_wrap(r->e, "error decoding patch");
    if (merge_patch_apply(r->arena, document, r->patch->body, &patched, r->e))
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
    if (plain_check(r->arena, r->patch->body, strict(r) ? &r->findings : NULL, r->e) ||
        json_decode_plain(r->arena, r->patch->body, ret_patch, r->e))
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
    if (read_strategic(r, &patch) || json_decode_plain(r->arena, document, &original, r->e))
        return r->e->code;
    if (strategic_patch_apply(r->arena, r->type, &original, &patch, &merged, r->e))
        return r->e->code == ERR_INVALID ? rejected(r) : r->e->code;
    if (convert_plain(r->arena, r->type, &merged, strict(r) ? &r->findings : NULL, &r->outcome->object, r->e))
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
    if (apply(&r, encode(&r, current)))
        return e->code;
    if (t->flags & TYPE_OBJECT) /* no patch changes what an object is */
        for (unsigned slot = SLOT_KIND; slot <= SLOT_API_VERSION; slot++)
            outcome->object.slots[slot] = *value_slot(current, slot);
    return ERR_OK;
}
