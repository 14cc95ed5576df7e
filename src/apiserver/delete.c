/* apiserver/delete.c - DELETE: at once, after a grace period, or when the last finalizer is gone. Upstream:
 * registry/rest/delete.go, registry/generic/registry/store.go, core/pod/strategy.go, core/namespace/storage. */
#include "api/edit.h"
#include "apiserver/registry_priv.h"
#include "apiserver/subresource.h"

#define ORPHAN "orphan"
#define FOREGROUND "foregroundDeletion"

static const struct value absent;

/* ---- Preconditions ---- */

/* With the kind where other conflicts have the resource, as upstream. */
static enum err_code refuse_precondition(struct operation *op, const char *what, struct str given, struct str is,
                                         const char *maybe)
{
    const struct resource *r = stored_row(op->resource);
    registry_conflict(op, "%s", "");
    op->err.kind = arena_printf(op->arena, "%.*s%s%.*s", STR_ARG(r->kind), r->group.n ? "." : "", STR_ARG(r->group));
    return err_set(&op->err, ERR_CONFLICT, "Operation cannot be fulfilled on %s \"%s\": the %s in the precondition (%.*s) does "
                   "not match the %s in record (%.*s). The object might have been %s", op->err.kind, op->err.name, what,
                   STR_ARG(err_shown(&op->err, given)), what, STR_ARG(is), maybe);
}

/* A version that an earlier step of this deletion made is the one that was asked for. */
static bool is_at_version(const struct operation *op, struct str version)
{
    const struct delete_options *o = &op->delete;
    if (!o->resource_version.p)
        return true;
    return op->step_revision ? op->current->mod_revision == op->step_revision : str_eq(o->resource_version, version);
}

static enum err_code check_preconditions(struct operation *op, const struct type *t, const struct value *v)
{
    const struct delete_options *o = &op->delete;
    struct str uid = meta_text(t, v, "uid"), version = meta_text(t, v, "resourceVersion");
    bool namespace = str_is(op->resource->plural, "namespaces");
    if (o->uid.p && !str_eq(o->uid, uid))
        return namespace ? registry_conflict(op, "Precondition failed: UID in precondition: %.*s, UID in object meta: %.*s",
                                             STR_ARG(err_shown(&op->err, o->uid)), STR_ARG(uid))
                         : refuse_precondition(op, "UID", o->uid, uid, "deleted and then recreated");
    if (!is_at_version(op, version))
        return namespace ? registry_conflict(op, "Precondition failed: ResourceVersion in precondition: %.*s, ResourceVersion "
                                             "in object meta: %.*s", STR_ARG(err_shown(&op->err, o->resource_version)),
                                             STR_ARG(version))
                         : refuse_precondition(op, "ResourceVersion", o->resource_version, version, "modified");
    return ERR_OK;
}

/* ---- Finalizers of garbage collection ---- */

static bool has_finalizer(const struct value *list, const char *name)
{
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_is(value_text(&list->items[i]), name))
            return true;
    return false;
}

/* What happens to dependents: NULL for background. */
static const char *policy_finalizer(const struct operation *op, const struct value *finalizers)
{
    const struct delete_options *o = &op->delete;
    if (str_is(op->resource->plural, "events"))
        return NULL;
    if (o->orphan_dependents)
        return o->orphan_dependents == MAYBE_TRUE ? ORPHAN : NULL;
    if (str_is(o->propagation_policy, "Orphan"))
        return ORPHAN;
    if (str_is(o->propagation_policy, "Foreground"))
        return FOREGROUND;
    if (o->propagation_policy.n)
        return NULL;
    if (has_finalizer(finalizers, ORPHAN))
        return ORPHAN;
    if (has_finalizer(finalizers, FOREGROUND))
        return FOREGROUND;
    return registry_kind_rules(op)->flags & RULES_ORPHANS ? ORPHAN : NULL;
}

static struct value with_policy(struct operation *op, const struct type *t, const struct value *v)
{
    const struct value *list = meta_get(t, v, "finalizers");
    const char *policy = policy_finalizer(op, list);
    if (has_finalizer(list, ORPHAN) == (policy && strcmp(policy, ORPHAN) == 0) &&
        has_finalizer(list, FOREGROUND) == (policy && strcmp(policy, FOREGROUND) == 0))
        return *v;
    struct value kept = absent;
    for (uint32_t i = 0; i < list->n; i++) {
        struct str name = value_text(&list->items[i]);
        if (!str_is(name, ORPHAN) && !str_is(name, FOREGROUND))
            kept = edit_append(op->arena, &kept, list->items[i]);
    }
    if (policy)
        kept = edit_append(op->arena, &kept, edit_text(policy));
    return meta_set(op->arena, t, v, "finalizers", kept);
}

/* ---- Marks ---- */

static struct value bump_generation(struct operation *op, const struct type *t, const struct value *v)
{
    const struct value *g = meta_get(t, v, "generation");
    return g->kind == VALUE_INT && g->i > 0 ? meta_set(op->arena, t, v, "generation", value_int(g->i + 1)) : *v;
}

static struct value mark(struct operation *op, const struct type *t, const struct value *v, int64_t at_s, int64_t grace_s)
{
    struct value marked = meta_set(op->arena, t, v, "deletionTimestamp", value_time(at_s, 0));
    return meta_set(op->arena, t, &marked, "deletionGracePeriodSeconds", value_int(grace_s));
}

/* An object whose finalizers hold it. */
static struct value mark_now(struct operation *op, const struct type *t, const struct value *v)
{
    int64_t now = registry_now_s(op);
    const struct value *there = meta_get(t, v, "deletionTimestamp");
    struct value next = there->kind == VALUE_TIME ? *v : bump_generation(op, t, v);
    int64_t at = there->kind == VALUE_TIME && there->i <= now ? there->i : now;
    return mark(op, t, &next, at, 0);
}

/* ---- Pods ---- */

enum grace { GRACE_NONE, GRACE_SET, GRACE_PENDING };

static int64_t pod_grace(const struct operation *op, const struct type *t, const struct value *pod)
{
    const struct value *own = value_path(t, pod, "spec.terminationGracePeriodSeconds");
    struct str phase = value_text(value_path(t, pod, "status.phase"));
    int64_t period = own->kind == VALUE_INT ? own->i : 0;
    if (op->delete.has_grace_period)
        period = op->delete.grace_period_seconds;
    if (value_text(value_path(t, pod, "spec.nodeName")).n == 0 || str_is(phase, "Succeeded") || str_is(phase, "Failed"))
        return 0;
    return period < 0 ? 1 : period;
}

/* A pod that is being deleted already: its time can only become shorter. */
static enum grace shorten(struct operation *op, const struct type *t, struct value *v, int64_t *ret_period)
{
    const struct value *grace = meta_get(t, v, "deletionGracePeriodSeconds");
    if (grace->kind != VALUE_INT || grace->i == 0)
        return GRACE_NONE;
    int64_t now = registry_now_s(op), period = op->delete.grace_period_seconds;
    if (period < 0)
        period = 1;
    if (!op->delete.has_grace_period || period >= grace->i)
        return GRACE_PENDING;
    int64_t at = meta_get(t, v, "deletionTimestamp")->i - grace->i + period;
    if (at < now) {
        at = now;
        period = period ? 1 : 0;
    }
    *v = mark(op, t, v, at, period);
    *ret_period = period;
    return GRACE_SET;
}

static enum grace give_grace(struct operation *op, const struct type *t, struct value *v, int64_t *ret_period)
{
    if (!str_is(op->resource->plural, "pods"))
        return GRACE_NONE;
    if (meta_get(t, v, "deletionTimestamp")->kind == VALUE_TIME)
        return shorten(op, t, v, ret_period);
    *ret_period = pod_grace(op, t, v);
    struct value next = bump_generation(op, t, v);
    int64_t at;
    if (__builtin_add_overflow(registry_now_s(op), *ret_period, &at))
        at = INT64_MAX / 2;
    *v = mark(op, t, &next, at, *ret_period);
    return GRACE_SET;
}

/* ---- Namespaces ---- */

static struct value terminating(struct operation *op, const struct type *t, const struct value *v)
{
    struct value next = meta_set(op->arena, t, v, "deletionTimestamp", value_time(registry_now_s(op), 0));
    next = edit_set(op->arena, t, &next, "status.phase", edit_text("Terminating"));
    return with_policy(op, t, &next);
}

/* True when the namespace stays for now. */
static bool namespace_stays(struct operation *op, const struct type *t, const struct value *v, struct value *ret_next)
{
    if (meta_get(t, v, "deletionTimestamp")->kind != VALUE_TIME) {
        *ret_next = terminating(op, t, v);
        return true;
    }
    *ret_next = *v;
    return value_path(t, v, "spec.finalizers")->n > 0;
}

/* ---- The verb ---- */

/* What is left of it is answered as a Status, unless the kind shows its last state. */
static enum err_code remove_it(struct operation *op, const struct type *t, const struct value *last)
{
    if (!op->answers_status && !(registry_kind_rules(op)->flags & RULES_RETURNS_DELETED)) {
        op->status = (struct status){ .details = true, .name = op->name, .group = op->resource->group,
                                      .kind = op->resource->plural, .uid = meta_text(t, last, "uid") };
        op->answers_status = true;
    }
    return registry_commit_removal(op, last);
}

enum err_code delete_attempt(struct operation *op)
{
    const struct type *t = registry_type(op);
    const struct value *old = registry_current(op);
    if (!old)
        return registry_not_found(op);
    if (check_preconditions(op, t, old) || registry_admit(op, ADMIT_DELETE, t, NULL, old, false) ||
        registry_admit(op, ADMIT_DELETE, t, NULL, old, true))
        return op->err.code;
    struct value v = *old;
    if (str_is(op->resource->plural, "namespaces") && namespace_stays(op, t, old, &v))
        return registry_commit(op, &v);
    int64_t period = 0;
    enum grace grace = give_grace(op, t, &v, &period);
    if (grace == GRACE_PENDING)
        return registry_commit(op, old); /* changes nothing */
    v = with_policy(op, t, &v);
    bool held = meta_get(t, &v, "finalizers")->n > 0;
    if (grace == GRACE_NONE && held)
        v = mark_now(op, t, &v);
    /* As upstream: the mark first, which watchers see, then the removal. */
    op->goes_on = grace == GRACE_SET && !held && period == 0;
    return held || grace == GRACE_SET ? registry_commit(op, &v) : remove_it(op, t, &v);
}

void registry_delete(struct operation *op)
{
    registry_try(op, delete_attempt);
}
