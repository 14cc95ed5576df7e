/* apiserver/binding.c - pods get their node: POST pods/NAME/binding, and bindings. Upstream: core/pod/storage. */
#include "api/edit.h"
#include "apiserver/registry_priv.h"
#include "apiserver/subresource.h"

static const struct value absent;

/* One text for all that is wrong, without a reason, as upstream. */
static enum err_code check_target(struct operation *op, const struct type *t, const struct value *binding)
{
    struct str kind = value_text(value_path(t, binding, "target.kind"));
    struct field_path target = field_child(NULL, "target"), at_kind = field_child(&target, "kind");
    struct field_path at_name = field_child(&target, "name");
    static const char *const kinds[] = { "Node", "<empty>" };
    if (kind.n && !str_is(kind, "Node"))
        field_not_supported(&op->errs, &at_kind, field_str(kind), kinds, 2);
    if (value_text(value_path(t, binding, "target.name")).n == 0)
        field_required(&op->errs, &at_name, STR(""));
    if (op->errs.n == 0)
        return ERR_OK;
    struct str text = field_errors_text(op->arena, &op->errs);
    return err_set(&op->err, ERR_UNKNOWN, "%.*s", STR_ARG(text));
}

static enum err_code refuse(struct operation *op, const char *format, struct str what)
{
    op->err.kind = "pods/binding";
    op->err.name = arena_cstr(op->arena, op->name);
    const char *why = arena_printf(op->arena, format, STR_ARG(op->name), STR_ARG(what));
    return err_set(&op->err, ERR_CONFLICT, "Operation cannot be fulfilled on pods/binding \"%s\": %s", op->err.name, why);
}

static enum err_code check_precondition(struct operation *op, const char *what, struct str given, struct str is)
{
    if (given.n == 0 || str_eq(given, is))
        return ERR_OK;
    return registry_conflict(op, "StorageError: invalid object, Code: 4, Key: %.*s, ResourceVersion: 0, "
                             "AdditionalErrorMsg: Precondition failed: %s in precondition: %.*s, %s in object meta: %.*s",
                             STR_ARG(registry_shown_key(op)), what, STR_ARG(err_shown(&op->err, given)), what, STR_ARG(is));
}

static enum err_code check_pod(struct operation *op, const struct type *bt, const struct value *binding,
                               const struct type *t, const struct value *pod)
{
    struct str node = value_text(value_path(t, pod, "spec.nodeName"));
    if (check_precondition(op, "UID", meta_text(bt, binding, "uid"), meta_text(t, pod, "uid")) ||
        check_precondition(op, "ResourceVersion", meta_text(bt, binding, "resourceVersion"),
                           meta_text(t, pod, "resourceVersion")))
        return op->err.code;
    if (meta_get(t, pod, "deletionTimestamp")->kind == VALUE_TIME)
        return refuse(op, "pod %.*s is being deleted, cannot be assigned to a host", STR(""));
    if (node.n)
        return refuse(op, "pod %.*s is already assigned to node \"%.*s\"", node);
    if (value_path(t, pod, "spec.schedulingGates")->n)
        return refuse(op, "pod %.*s has non-empty .spec.schedulingGates", STR(""));
    return ERR_OK;
}

static struct value with_members(struct arena *a, const struct value *map, const struct value *more)
{
    struct value merged = *map;
    for (uint32_t i = 0; more->kind == VALUE_MAP && i < more->n; i++)
        merged = edit_member(a, &merged, more->members[i].key, more->members[i].value);
    return merged;
}

static struct value bound(struct operation *op, const struct type *bt, const struct value *binding, const struct type *t,
                          const struct value *pod)
{
    struct arena *a = op->arena;
    struct value v = edit_set(a, t, pod, "spec.nodeName", *value_path(bt, binding, "target.name"));
    v = edit_set(a, t, &v, "status.nominatedNodeName", absent);
    v = meta_set(a, t, &v, "annotations",
                 with_members(a, meta_get(t, &v, "annotations"), meta_get(bt, binding, "annotations")));
    v = meta_set(a, t, &v, "labels", with_members(a, meta_get(t, &v, "labels"), meta_get(bt, binding, "labels")));
    return pod_with_condition(op, &v, "PodScheduled", NULL, NULL);
}

static enum err_code attempt_bind(struct operation *op)
{
    const struct type *bt = schema_type(STR("core/v1.Binding")), *t = schema_type(STR("core/v1.Pod"));
    struct value binding;
    if (registry_decode(op, bt, &binding))
        return op->err.code;
    struct str name = meta_text(bt, &binding, "name");
    if (!op->subresource)
        op->name = name;
    else if (!str_eq(name, op->name))
        return err_set(&op->err, ERR_BAD_REQUEST, "name in URL does not match name in Binding object");
    if (registry_admit(op, ADMIT_CREATE, bt, &binding, NULL, false) || check_target(op, bt, &binding) ||
        registry_admit(op, ADMIT_CREATE, bt, &binding, NULL, true))
        return op->err.code;
    const struct resource *asked = op->resource;
    op->resource = stored_resource("pods", "");
    const struct value *pod = registry_current(op);
    enum err_code rc = pod ? check_pod(op, bt, &binding, t, pod) : registry_not_found(op);
    if (!rc) {
        struct value v = bound(op, bt, &binding, t, pod);
        subresource_succeed(op, 201);
        rc = registry_commit(op, &v);
    }
    if (rc)
        op->resource = asked;
    return rc;
}

void binding_create(struct operation *op)
{
    registry_try(op, attempt_bind);
}
