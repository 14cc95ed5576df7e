/* apiserver/status_object.c - see status_object.h. Upstream: apimachinery's api/errors,
 * endpoints/handlers/negotiation. */
#include "apiserver/status_object.h"

#include "codec/json.h"

#define INTERNAL_PREFIX "Internal error occurred: "

/* ---- From an error ---- */

static void take_causes(struct arena *a, struct status *s, const struct field_errors *errs)
{
    struct status_cause *causes = ARENA_NEW_N(a, struct status_cause, errs->n);
    for (size_t i = 0; i < errs->n; i++) {
        struct strbuf text;
        strbuf_init(&text, STRBUF_NO_MAX);
        field_error_body(&errs->at[i], &text);
        causes[i] = (struct status_cause){ str_of(field_error_reason(errs->at[i].type)), field_take_text(a, &text),
                                           errs->at[i].path };
    }
    s->causes = causes;
    s->n_causes = (uint32_t)errs->n;
}

/* Upstream repeats the text of an internal error as the one cause of it. */
static void take_internal_cause(struct arena *a, struct status *s)
{
    if (!str_starts(s->message, STR(INTERNAL_PREFIX)))
        return;
    struct status_cause *cause = ARENA_NEW(a, struct status_cause);
    cause->message = str_from(s->message, sizeof(INTERNAL_PREFIX) - 1);
    s->causes = cause;
    s->n_causes = 1;
    s->details = true;
}

struct status status_of_err(struct arena *a, const struct err *e, const struct field_errors *errs)
{
    struct status s = { .code = err_http_status(e->code), .reason = str_of(err_reason(e->code)),
                        .message = str_of(e->message), .details = e->kind || e->name, .name = str_of(e->name) };
    struct str kind = str_of(e->kind);
    size_t dot = str_index(kind, '.');
    s.kind = str_first(kind, dot);
    s.group = str_from(kind, dot + 1);
    if (errs && errs->n)
        take_causes(a, &s, errs);
    if (e->code == ERR_INTERNAL)
        take_internal_cause(a, &s);
    return s;
}

enum err_code status_invalid(const char *kind, const char *name, const struct field_errors *errs, struct err *e)
{
    struct str text = field_errors_text(e->arena, errs);
    struct strbuf quoted;
    strbuf_init(&quoted, STRBUF_NO_MAX);
    strbuf_add_quoted(&quoted, str_of(name));
    enum err_code code = err_set(e, ERR_INVALID, "%s %s is invalid: %.*s", kind, strbuf_cstr(&quoted), STR_ARG(text));
    strbuf_fini(&quoted);
    e->kind = kind;
    e->name = name;
    return code;
}

/* ---- As a value, as bytes ---- */

static void set_text(const struct type *t, struct value *v, const char *field, struct str text)
{
    if (text.n)
        v->slots[schema_slot(t, str_of(field))] = value_string(text);
}

static struct value causes_value(struct arena *a, const struct status *s)
{
    const struct type *t = schema_type(STR("meta/v1.StatusCause"));
    struct value *items = ARENA_NEW_N(a, struct value, s->n_causes);
    for (uint32_t i = 0; i < s->n_causes; i++) {
        items[i] = value_struct(a, t);
        set_text(t, &items[i], "reason", s->causes[i].reason);
        set_text(t, &items[i], "message", s->causes[i].message);
        set_text(t, &items[i], "field", s->causes[i].field);
    }
    return value_list(items, s->n_causes);
}

static struct value details_value(struct arena *a, const struct status *s)
{
    const struct type *t = schema_type(STR("meta/v1.StatusDetails"));
    struct value v = value_struct(a, t);
    set_text(t, &v, "name", s->name);
    set_text(t, &v, "group", s->group);
    set_text(t, &v, "kind", s->kind);
    set_text(t, &v, "uid", s->uid);
    if (s->n_causes)
        v.slots[schema_slot(t, STR("causes"))] = causes_value(a, s);
    if (s->retry_after_seconds)
        v.slots[schema_slot(t, STR("retryAfterSeconds"))] = value_int(s->retry_after_seconds);
    return v;
}

struct value status_value(struct arena *a, const struct status *s)
{
    const struct type *t = schema_type(STR("meta/v1.Status"));
    struct value v = value_struct(a, t);
    v.slots[SLOT_KIND] = value_string(STR("Status"));
    v.slots[SLOT_API_VERSION] = value_string(STR("v1"));
    if (s->continue_token.n) {
        const struct type *meta = schema_type(STR("meta/v1.ListMeta"));
        struct value m = value_struct(a, meta);
        set_text(meta, &m, "continue", s->continue_token);
        v.slots[schema_slot(t, STR("metadata"))] = m;
    }
    set_text(t, &v, "status", s->code ? STR("Failure") : STR("Success"));
    set_text(t, &v, "message", s->message);
    set_text(t, &v, "reason", s->reason);
    if (s->details)
        v.slots[schema_slot(t, STR("details"))] = details_value(a, s);
    if (s->code || s->success_code)
        v.slots[schema_slot(t, STR("code"))] = value_int(s->code ? s->code : s->success_code);
    return v;
}

void status_add(struct strbuf *to, enum media m, bool pretty, const struct status *s)
{
    const struct type *t = schema_type(STR("meta/v1.Status"));
    struct arena a;
    arena_init(&a);
    struct value v = status_value(&a, s);
    if (m == MEDIA_JSON && pretty) {
        struct strbuf json;
        strbuf_init(&json, STRBUF_NO_MAX);
        json_encode(&json, t, &v);
        json_indent(to, strbuf_str(&json));
        strbuf_fini(&json);
    } else {
        object_encode(to, m, t, &v);
    }
    arena_fini(&a);
}

void status_add_failure(struct strbuf *to, int code, const char *reason, struct str message, bool details, bool pretty)
{
    struct status s = { .code = code, .reason = str_of(reason), .message = message, .details = details };
    status_add(to, MEDIA_JSON, pretty, &s);
}

/* ---- For people ---- */

void json_add_shown(struct strbuf *to, struct str json, bool pretty)
{
    if (pretty) {
        json_indent(to, json);
    } else {
        strbuf_add_str(to, json);
        strbuf_add_char(to, '\n');
    }
}

bool wants_pretty(const struct head *request, const struct target *t)
{
    static const char *const yes[] = { "1", "t", "T", "true", "TRUE", "True" };
    struct str given = target_get(t, "pretty"), agent = headers_get(&request->headers, "user-agent");
    for (size_t i = 0; given.n && i < sizeof(yes) / sizeof(yes[0]); i++)
        if (str_is(given, yes[i]))
            return true;
    return given.n == 0 && (str_starts(agent, STR("curl")) || str_starts(agent, STR("Wget")) ||
                            str_starts(agent, STR("Mozilla/5.0")));
}
