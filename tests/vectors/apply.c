/* Server-side apply and updates: the object after with its managedFields, or the refusal with its causes.
 *
 * The real server tells causes in an order of chance, and the record has them sorted; messages group them by manager.
 * Rows of a whole server (tests/peers/record_apply.py) have the managedFields after alone, without times, since what
 * else the server does to an object is not done here. */
#include "api/defaults.h"
#include "api/edit.h"
#include "api/time.h"
#include "apply/apply.h"
#include "base/sort.h"
#include "codec/json.h"
#include "tests/vectors/vectors.h"

enum { RESET_FIELDS_MAX = 8, APPLY_BYTES_MAX = 3 << 20 };
#define LATER_S 4000000000 /* than any time in a recording */

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

static struct str encode(struct row *r, const struct type *t, const struct value *v)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    json_encode(&b, t, v);
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
    struct timestamp now = { .seconds = LATER_S };
    if (vector_has(record, "time") && timestamp_parse(vector_str(record, "time"), &now, &r->e)) {
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

/* Of several faults the real server tells those that it comes upon, by chance: then what they are about counts. */
static void check_message(struct row *r, struct str want)
{
    struct str got = str_of(r->e.message), several = STR("): errors:\n");
    const char *at = memmem(got.p, got.n, several.p, several.n), *end = memmem(want.p, want.n, "): ", 3);
    if (at && end)
        vector_text(r->c, "error", str_range(got.p, at), str_range(want.p, end));
    else
        vector_text(r->c, "error", got, want);
}

static void check_refusal(struct row *r, const struct apply_outcome *outcome)
{
    yyjson_val *record = r->c->record, *causes = yyjson_obj_get(record, "causes");
    if (!vector_has(record, "code")) {
        vector_mismatch(r->c, "refused: %s", r->e.message);
        return;
    }
    vector_int(r->c, "code", err_http_status(r->e.code), vector_num(record, "code"));
    check_message(r, vector_str(record, "error"));
    vector_int(r->c, "causes", outcome->n_conflicts, (int64_t)yyjson_arr_size(causes));
    for (uint32_t i = 0; i < outcome->n_conflicts; i++)
        if (!has_cause(causes, &outcome->conflicts[i], r->c->arena))
            vector_mismatch(r->c, "cause %.*s of %.*s", STR_ARG(outcome->conflicts[i].field),
                            STR_ARG(outcome->conflicts[i].manager_text));
}

/* managedFields without their times; and as those had a part in the order, by their texts. */
static struct str encode_managed(struct row *r, const struct value *object)
{
    const struct type *entry = schema_type(STR("meta/v1.ManagedFieldsEntry"));
    const struct value *list = value_path(r->type, object, "metadata.managedFields");
    uint32_t n = list->kind == VALUE_LIST ? list->n : 0;
    struct str *texts = arena_alloc(r->c->arena, n * sizeof(*texts));
    for (uint32_t i = 0; i < n; i++) {
        struct value timeless = edit_set(r->c->arena, entry, &list->items[i], "time", (struct value){ 0 });
        texts[i] = encode(r, entry, &timeless);
    }
    sort_stable(r->c->arena, texts, n, sizeof(*texts), sort_compare_strs);
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (uint32_t i = 0; i < n; i++) {
        strbuf_add_str(&b, texts[i]);
        strbuf_add_char(&b, '\n');
    }
    struct str text = arena_str(r->c->arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static void check_managed(struct row *r, const struct value *object)
{
    struct value want;
    const struct type *meta = schema_type(STR("meta/v1.ObjectMeta"));
    struct str text = str_of(arena_printf(r->c->arena, "{\"managedFields\":%.*s}",
                                          STR_ARG(vector_str(r->c->record, "managedFields"))));
    if (json_decode(r->c->arena, WORK_OWN, meta, text, NULL, &want, &r->e)) {
        vector_mismatch(r->c, "managedFields: %s", r->e.message);
        return;
    }
    struct value around = edit_set(r->c->arena, r->type, object, "metadata", want);
    vector_text(r->c, "managedFields", encode_managed(r, object), encode_managed(r, &around));
}

static void check_accepted(struct row *r, const struct value *object)
{
    if (vector_has(r->c->record, "code"))
        vector_mismatch(r->c, "accepted, want %.*s", STR_ARG(vector_str(r->c->record, "error")));
    else if (vector_has(r->c->record, "managedFields"))
        check_managed(r, object);
    else
        vector_text(r->c, "result", encode(r, r->type, object), vector_str(r->c->record, "result"));
}

/* The spec with defaults, which is what the server stored. */
static void check_spec(struct row *r, const struct value *object)
{
    struct value whole = defaults_apply(r->c->arena, r->type, object), want;
    const struct type *t = r->type->fields[schema_slot(r->type, STR("spec"))].type;
    if (json_decode(r->c->arena, WORK_OWN, t, vector_str(r->c->record, "spec"), NULL, &want, &r->e))
        vector_mismatch(r->c, "spec: %s", r->e.message);
    else
        vector_text(r->c, "spec", encode(r, t, value_path(r->type, &whole, "spec")), encode(r, t, &want));
}

/* The same again changes nothing. Forced, because spellings other than the stored one are changes. */
static void check_again(struct row *r, struct apply_patch patch, const struct value *object)
{
    struct apply_outcome outcome;
    struct work work = work_init(APPLY_BYTES_MAX);
    patch.work = &work;
    patch.force = true;
    if (apply_merge(r->c->arena, r->type, object, &patch, &r->manager, &outcome, &r->e))
        vector_mismatch(r->c, "again: %s", r->e.message);
    else
        vector_text(r->c, "again", encode(r, r->type, &outcome.object), encode(r, r->type, object));
}

static void check_apply_row(struct row *r)
{
    yyjson_val *record = r->c->record;
    struct work work = work_init(APPLY_BYTES_MAX);
    struct apply_patch patch = { &work, vector_str(record, "input"), vector_str(record, "kind"),
                                 vector_str(record, "apiVersion"), vector_bool(record, "force") };
    struct apply_outcome outcome;
    if (apply_merge(r->c->arena, r->type, r->exists ? &r->live : NULL, &patch, &r->manager, &outcome, &r->e)) {
        check_refusal(r, &outcome);
        return;
    }
    check_accepted(r, &outcome.object);
    if (vector_has(record, "spec"))
        check_spec(r, &outcome.object);
    if (vector_has(record, "managedFields")) /* made-up rows have empty structs, which are not stored and so added again */
        check_again(r, patch, &outcome.object);
}

static void check_update_row(struct row *r)
{
    struct value input;
    if (!decode(r, "input", &input))
        return;
    if (vector_has(r->c->record, "defaults"))
        input = defaults_apply(r->c->arena, r->type, &input);
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
