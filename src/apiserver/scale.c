/* apiserver/scale.c - how many replicas, of whatever has them, as autoscaling/v1 Scale. Upstream: the ScaleREST of apps and
 * core. */
#include "api/defaults.h"
#include "api/edit.h"
#include "api/label_selector.h"
#include "apiserver/registry_priv.h"
#include "apiserver/subresource.h"

static const struct type *scale_type(void)
{
    return schema_type(STR("autoscaling/v1.Scale"));
}

/* ReplicationControllers select by a plain map. */
static struct str selector_text_of(struct operation *op, const struct type *t, const struct value *v)
{
    const struct value *s = value_path(t, v, "spec.selector");
    struct selector selector;
    struct err e;
    err_init(&e, op->arena);
    if (s->kind == VALUE_MAP) {
        struct label *at = ARENA_NEW_N(op->arena, struct label, s->n);
        for (uint32_t i = 0; i < s->n; i++)
            at[i] = (struct label){ s->members[i].key, value_text(&s->members[i].value) };
        selector = selector_from_labels(op->arena, (struct labels){ at, s->n });
    } else if (selector_of_value(op->arena, schema_type(STR("meta/v1.LabelSelector")), s, &selector, &e)) {
        return STR("");
    }
    return selector_text(op->arena, &selector);
}

static struct value scale_of(struct operation *op, const struct type *t, const struct value *v)
{
    static const char *const kept[] = { "name", "namespace", "uid", "resourceVersion", "creationTimestamp" };
    const struct type *st = scale_type();
    struct arena *a = op->arena;
    struct value s = value_struct(a, st);
    s.slots[SLOT_KIND] = edit_text("Scale");
    s.slots[SLOT_API_VERSION] = edit_text("autoscaling/v1");
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        s = meta_set(a, st, &s, kept[i], *meta_get(t, v, kept[i]));
    const struct value *wanted = value_path(t, v, "spec.replicas"), *has = value_path(t, v, "status.replicas");
    s = edit_set(a, st, &s, "spec.replicas", wanted->kind == VALUE_INT ? *wanted : value_int(0));
    s = edit_set(a, st, &s, "status.replicas", has->kind == VALUE_INT ? *has : value_int(0));
    struct str selector = selector_text_of(op, t, v);
    return selector.n ? edit_set(a, st, &s, "status.selector", value_string(selector)) : s;
}

static void show(struct operation *op, const struct value *v)
{
    op->type = scale_type();
    op->value = scale_of(op, registry_type(op), v);
}

/* The object is committed, or was in a dry run; what is shown is its scale. */
static void show_scale(struct operation *op)
{
    if (!op->item) {
        struct value tried = op->value;
        show(op, &tried);
        return;
    }
    const struct value *v = registry_current(op);
    store_item_unref(op->item);
    op->item = NULL;
    if (v)
        show(op, v);
}

static enum err_code attempt_get(struct operation *op)
{
    const struct value *v = registry_current(op);
    if (!v)
        return registry_not_found(op);
    show(op, v);
    registry_settle(op, ERR_OK);
    return ERR_OK;
}

void scale_get(struct operation *op)
{
    registry_try(op, attempt_get);
}

/* ---- Writes ---- */

static enum err_code check_scale(struct operation *op, const struct value *scale)
{
    const struct type *st = scale_type();
    const struct value *replicas = value_path(st, scale, "spec.replicas");
    struct field_path spec = field_child(NULL, "spec"), at = field_child(&spec, "replicas");
    if (replicas->kind == VALUE_INT && replicas->i < 0)
        field_invalid(&op->errs, &at, field_int(replicas->i), STR("must be greater than or equal to 0"));
    return op->errs.n ? status_invalid("Scale.autoscaling", arena_cstr(op->arena, op->name), &op->errs, &op->err) : ERR_OK;
}

/* As which a request writes a scale; the object has the version of its own kind. */
static struct apply_manager scaler(struct operation *op)
{
    struct apply_manager m = registry_manager(op);
    m.api_version = STR("autoscaling/v1");
    m.reset_fields = NULL;
    return m;
}

/* With those who own its replicas. */
static struct value managed_scale_of(struct operation *op, const struct value *old)
{
    const struct type *t = registry_type(op);
    struct value scale = scale_of(op, t, old);
    return meta_set(op->arena, scale_type(), &scale, "managedFields",
                    apply_scale_managed(op->arena, meta_get(t, old, "managedFields"), registry_manager(op).api_version));
}

static enum err_code store_scale(struct operation *op, const struct value *old, const struct value *scale)
{
    const struct type *st = scale_type(), *t = registry_type(op);
    struct str version = meta_text(st, scale, "resourceVersion"), uid = meta_text(st, scale, "uid");
    const struct value *replicas = value_path(st, scale, "spec.replicas");
    if (check_scale(op, scale))
        return op->err.code;
    if (uid.n && !str_eq(uid, meta_text(t, old, "uid")))
        return registry_conflict(op, "StorageError: invalid object, Code: 4, Key: %.*s, ResourceVersion: 0, "
                                 "AdditionalErrorMsg: Precondition failed: UID in precondition: %.*s, UID in object meta: %.*s",
                                 STR_ARG(registry_shown_key(op)),
                                 STR_ARG(err_shown(&op->err, uid)), STR_ARG(meta_text(t, old, "uid")));
    struct value v = edit_set(op->arena, t, old, "spec.replicas", replicas->kind == VALUE_INT ? *replicas : value_int(0));
    v = meta_set(op->arena, t, &v, "resourceVersion", value_string(version));
    v = meta_set(op->arena, t, &v, "managedFields",
                 apply_scale_to_parent(op->arena, meta_get(t, old, "managedFields"), meta_get(st, scale, "managedFields"),
                                       registry_manager(op).api_version));
    if (registry_admit(op, ADMIT_UPDATE, t, &v, old, false))
        return op->err.code;
    op->show = show_scale;
    return registry_store_changed(op, old, v);
}

static enum err_code attempt_update(struct operation *op)
{
    struct value scale;
    if (registry_decode(op, scale_type(), &scale))
        return op->err.code;
    if (registry_check_named(op, meta_text(scale_type(), &scale, "name")))
        return op->err.code;
    const struct value *old = registry_current(op);
    if (!old)
        return registry_not_found(op);
    struct value live = managed_scale_of(op, old);
    struct apply_manager m = scaler(op);
    scale = apply_note_update(op->arena, scale_type(), &live, &scale, &m);
    return store_scale(op, old, &scale);
}

void scale_update(struct operation *op)
{
    registry_try(op, attempt_update);
}

static enum err_code attempt_patch(struct operation *op)
{
    const struct value *old = registry_current(op);
    if (!old)
        return registry_not_found(op);
    struct value live = managed_scale_of(op, old), scale;
    struct apply_manager m = scaler(op);
    return registry_patched(op, scale_type(), &m, &live, &scale) ? op->err.code : store_scale(op, old, &scale);
}

void scale_patch(struct operation *op)
{
    registry_try(op, attempt_patch);
}
