/* Priority: pods get the number and the preemption policy of their PriorityClass, and at most one class is for pods
 * that name none. */
#include "api/admit.h"
#include "apiserver/admission_priv.h"

static const struct type *class_type(void)
{
    return schema_type(STR("scheduling.k8s.io/v1.PriorityClass"));
}

/* Of several, which only a race can leave behind, the one of the lowest value. */
static const struct value *default_class(const struct admission_request *r)
{
    const struct value **classes, *best = NULL;
    size_t n = stored_list(r->objects, stored_resource("priorityclasses", "scheduling.k8s.io"), STR(""), r->arena,
                           &classes);
    for (size_t i = 0; i < n; i++)
        if (value_path(class_type(), classes[i], "globalDefault")->b &&
            (!best || value_path(class_type(), best, "value")->i > value_path(class_type(), classes[i], "value")->i))
            best = classes[i];
    return best;
}

/* What the server has set stays when somebody writes the pod without it. */
static void keep(struct admission_request *r, const char *path)
{
    const struct value *old = req_old(r, path);
    if (req_at(r, path)->kind == VALUE_ABSENT && old->kind != VALUE_ABSENT)
        req_set(r, path, *old);
}

enum err_code priority_admit(struct admission_request *r, struct err *e)
{
    if (!req_is_whole(r, "pods", ""))
        return ERR_OK;
    if (r->operation == ADMIT_UPDATE) {
        keep(r, "spec.priority");
        keep(r, "spec.preemptionPolicy");
        return ERR_OK;
    }
    struct str name = req_text(r, "spec.priorityClassName");
    const struct value *class = name.n ? req_find(r, "priorityclasses", "scheduling.k8s.io", STR(""),
                                                  name) : default_class(r);
    return admit_priority(r->arena, &r->object, class, &r->object, e);
}

enum err_code priority_validate(struct admission_request *r, struct err *e)
{
    if (!req_is_whole(r, "priorityclasses", "scheduling.k8s.io") || !req_at(r, "globalDefault")->b)
        return ERR_OK;
    const struct value *other = default_class(r);
    struct str name = other ? value_text(value_path(class_type(), other, "metadata.name")) : STR("");
    if (!other || (r->operation == ADMIT_UPDATE && str_eq(name, req_text(r, "metadata.name"))))
        return ERR_OK;
    return err_set(e, ERR_FORBIDDEN, "PriorityClass %.*s is already marked as default. Only one default can exist",
                   STR_ARG(name));
}
