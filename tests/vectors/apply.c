/* Server-side apply and updates: the object after with its managedFields, or the refusal with its causes.
 *
 * The real server tells causes in an order of chance, and the record has them sorted; messages group them by manager. */
#include "api/time.h"
#include "apply/apply.h"
#include "codec/json.h"
#include "tests/vectors/vectors.h"

enum { RESET_FIELDS_MAX = 8, APPLY_BYTES_MAX = 3 << 20 };

struct row {
    struct vector_case *c;
    const struct type *type;
    struct value live;
    bool exists;
    const char *reset_fields[RESET_FIELDS_MAX + 1];
    struct apply_manager manager;
    struct err e;
};

static bool decode(struct row *r, const char *name, struct value *ret_value)
{
    struct str text = vector_str(r->c->record, name);
    if (!json_decode(r->c->arena, WORK_OWN, r->type, text, NULL, ret_value, &r->e))
        return true;
    vector_mismatch(r->c, "%s: %s", name, r->e.message);
    return false;
}

static struct str encode(struct row *r, const struct value *v)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    json_encode(&b, r->type, v);
    struct str text = arena_str(r->c->arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static bool begin(struct row *r)
{
    yyjson_val *record = r->c->record, *reset = yyjson_obj_get(record, "resetFields");
    err_init(&r->e, r->c->arena);
    for (size_t i = 0; i < yyjson_arr_size(reset) && i < RESET_FIELDS_MAX; i++)
        r->reset_fields[i] = yyjson_get_str(yyjson_arr_get(reset, i));
    struct timestamp now;
    if (timestamp_parse(vector_str(record, "time"), &now, &r->e)) {
        vector_mismatch(r->c, "time: %s", r->e.message);
        return false;
    }
    r->manager = (struct apply_manager){ vector_str(record, "manager"), vector_str(record, "apiVersion"),
                                         vector_str(record, "subresource"), now.seconds, r->reset_fields };
    r->exists = vector_has(record, "live");
    return !r->exists || decode(r, "live", &r->live);
}

static bool has_cause(yyjson_val *causes, const struct apply_conflict *conflict, struct arena *a)
{
    struct str message = str_of(arena_printf(a, "conflict with %.*s", STR_ARG(conflict->manager_text)));
    size_t i, n;
    yyjson_val *cause;
    yyjson_arr_foreach(causes, i, n, cause) {
        if (str_eq(vector_str(cause, "field"), conflict->field) && str_eq(vector_str(cause, "message"), message))
            return true;
    }
    return false;
}

static void check_refusal(struct row *r, const struct apply_outcome *outcome)
{
    yyjson_val *record = r->c->record, *causes = yyjson_obj_get(record, "causes");
    if (!vector_has(record, "code")) {
        vector_mismatch(r->c, "refused: %s", r->e.message);
        return;
    }
    vector_int(r->c, "code", err_http_status(r->e.code), vector_num(record, "code"));
    vector_text(r->c, "error", str_of(r->e.message), vector_str(record, "error"));
    vector_int(r->c, "causes", outcome->n_conflicts, (int64_t)yyjson_arr_size(causes));
    for (uint32_t i = 0; i < outcome->n_conflicts; i++)
        if (!has_cause(causes, &outcome->conflicts[i], r->c->arena))
            vector_mismatch(r->c, "cause %.*s of %.*s", STR_ARG(outcome->conflicts[i].field),
                            STR_ARG(outcome->conflicts[i].manager_text));
}

static void check_accepted(struct row *r, const struct value *object)
{
    if (vector_has(r->c->record, "code"))
        vector_mismatch(r->c, "accepted, want %.*s", STR_ARG(vector_str(r->c->record, "error")));
    else
        vector_text(r->c, "result", encode(r, object), vector_str(r->c->record, "result"));
}

static void check_apply_row(struct row *r)
{
    yyjson_val *record = r->c->record;
    struct work work = work_init(APPLY_BYTES_MAX);
    struct apply_patch patch = { &work, vector_str(record, "input"), vector_str(record, "kind"),
                                 vector_str(record, "apiVersion"), vector_bool(record, "force") };
    struct apply_outcome outcome;
    if (apply_merge(r->c->arena, r->type, r->exists ? &r->live : NULL, &patch, &r->manager, &outcome, &r->e))
        check_refusal(r, &outcome);
    else
        check_accepted(r, &outcome.object);
}

static void check_update_row(struct row *r)
{
    struct value input;
    if (!decode(r, "input", &input))
        return;
    struct value object = apply_note_update(r->c->arena, r->type, r->exists ? &r->live : NULL, &input, &r->manager);
    check_accepted(r, &object);
}

void check_apply(struct vector_case *c)
{
    struct row r = { .c = c };
    r.type = schema_object_type(vector_str(c->record, "apiVersion"), vector_str(c->record, "kind"));
    if (!r.type)
        vector_mismatch(c, "no type for %.*s", STR_ARG(vector_str(c->record, "kind")));
    else if (begin(&r))
        str_is(vector_str(c->record, "op"), "apply") ? check_apply_row(&r) : check_update_row(&r);
}
