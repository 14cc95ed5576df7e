/* apiserver/patch_write.c - PATCH: the three kinds of patches, and apply. Upstream: endpoints/handlers/patch.go. */
#include "api/defaults.h"
#include "apiserver/registry_priv.h"
#include "codec/yaml.h"
#include "patch/patch.h"

/* ---- Patches ---- */

static enum patch_type type_of_patch(enum patch_form form)
{
    switch (form) {
    case PATCH_FORM_JSON:
        return PATCH_TYPE_JSON;
    case PATCH_FORM_MERGE:
        return PATCH_TYPE_MERGE;
    case PATCH_FORM_STRATEGIC:
    case PATCH_FORM_APPLY:
        break;
    }
    return PATCH_TYPE_STRATEGIC;
}

static void take_cause(struct operation *op, const char *message)
{
    op->causes = ARENA_NEW(op->arena, struct status_cause);
    *op->causes = (struct status_cause){ STR("FieldValueInvalid"), str_of(message), STR("patch") };
    op->n_causes = 1;
}

/* With its defaults; what it changed belongs to who patches. */
static enum err_code patched(struct operation *op, const struct type *t, const struct apply_manager *m,
                             const struct value *live, struct value *ret_value)
{
    struct work work = work_init(PATCH_BYTES_MAX);
    struct patch p = { .work = &work, .type = type_of_patch(op->patch_form), .validation = op->write.field_validation,
                       .body = op->body };
    struct patch_outcome outcome;
    if (patch_apply(op->arena, t, live, &p, &outcome, &op->err)) {
        if (outcome.cause)
            take_cause(op, outcome.cause);
        return op->err.code;
    }
    for (unsigned i = 0; i < outcome.n_warnings; i++)
        warnings_add(&op->warnings, "%s", outcome.warnings[i]);
    struct value v = defaults_apply(op->arena, t, &outcome.object);
    if (t == op->resource->type)
        return registry_note(op, live, &v, m, ret_value);
    *ret_value = apply_note_update(op->arena, t, live, &v, m); /* a scale */
    return ERR_OK;
}

/* ---- Apply ---- */

static enum err_code refuse_conflicts(struct operation *op, const struct apply_outcome *o)
{
    op->causes = ARENA_NEW_N(op->arena, struct status_cause, o->n_conflicts);
    op->n_causes = o->n_conflicts;
    for (uint32_t i = 0; i < o->n_conflicts; i++) {
        const char *text = arena_printf(op->arena, "conflict with %.*s", STR_ARG(o->conflicts[i].manager_text));
        op->causes[i] = (struct status_cause){ STR("FieldManagerConflict"), str_of(text), o->conflicts[i].field };
    }
    return op->err.code;
}

/* Keys that are given twice, which the merge itself does not mind. */
static enum err_code check_strict(struct operation *op)
{
    if (op->write.field_validation == VALIDATION_IGNORE)
        return ERR_OK;
    struct work work = work_init(REQUEST_BYTES_MAX);
    struct findings findings = { 0 };
    struct str json;
    if (yaml_to_json(op->arena, &work, op->body, &findings, &json, &op->err))
        return op->err.code;
    if (findings.n && op->write.field_validation == VALIDATION_STRICT)
        return err_set(&op->err, ERR_BAD_REQUEST, "error strict decoding YAML: %s", findings.texts[0]);
    for (unsigned i = 0; i < findings.n; i++)
        warnings_add(&op->warnings, "%s", findings.texts[i]);
    return ERR_OK;
}

static enum err_code applied(struct operation *op, const struct type *t, const struct apply_manager *m,
                             const struct value *live, struct value *ret_value)
{
    struct work work = work_init(REQUEST_BYTES_MAX);
    struct apply_patch p = { .work = &work, .body = op->body, .kind = t->kind, .api_version = m->api_version,
                             .force = op->write.force == MAYBE_TRUE };
    struct apply_outcome outcome = { 0 };
    if (apply_merge(op->arena, t, live, &p, m, &outcome, &op->err))
        return op->err.code == ERR_CONFLICT && outcome.n_conflicts ? refuse_conflicts(op, &outcome) : op->err.code;
    if (check_strict(op))
        return op->err.code;
    *ret_value = defaults_apply(op->arena, t, &outcome.object);
    return ERR_OK;
}

/* ---- Both ---- */

enum err_code registry_patched(struct operation *op, const struct type *t, const struct apply_manager *m,
                               const struct value *live, struct value *ret_value)
{
    return op->patch_form == PATCH_FORM_APPLY ? applied(op, t, m, live, ret_value) : patched(op, t, m, live, ret_value);
}

static enum err_code refuse_uid(struct operation *op, const struct value *v)
{
    return registry_conflict(op, "uid mismatch: the provided object specified uid %.*s, and no existing object was found",
                             STR_ARG(err_shown(&op->err, meta_text(op->resource->type, v, "uid"))));
}

static enum err_code attempt_patch(struct operation *op)
{
    const struct type *served = op->resource->type;
    struct apply_manager m = registry_manager(op);
    struct value live, v, stored;
    const struct value *old = registry_current(op);
    if (!old && (op->patch_form != PATCH_FORM_APPLY || !registry_makes_absent(op)))
        return registry_not_found(op);
    if (old)
        live = registry_from_stored(op, old);
    if (registry_patched(op, served, &m, old ? &live : NULL, &v))
        return op->err.code;
    if (!old && meta_text(served, &v, "uid").n)
        return refuse_uid(op, &v);
    if (registry_settle_namespace(op, &v) || registry_check_name(op, &v) || registry_to_stored(op, &v, &stored))
        return op->err.code;
    if (!old)
        return registry_store_new(op, stored);
    if (registry_admit(op, ADMIT_UPDATE, registry_type(op), &stored, old, false))
        return op->err.code;
    return registry_store_changed(op, old, stored);
}

void registry_patch(struct operation *op)
{
    if (!op->subresource || !subresource_patch(op))
        registry_try(op, attempt_patch);
}
