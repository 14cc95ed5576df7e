/* NamespaceLifecycle: nothing is created or changed in a namespace that is not there, nothing created in one that
 * goes, and some namespaces stay. NamespaceExists: the first of these alone, for deletions too. */
#include "apiserver/admission_priv.h"

static bool stays_forever(struct str name)
{
    static const char *const names[] = { "default", "kube-system", "kube-public" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

static enum err_code refuse_late(struct admission_request *r, struct err *e)
{
    r->cause_reason = "NamespaceTerminating";
    r->cause_message = arena_printf(r->arena, "namespace %.*s is being terminated", STR_ARG(r->namespace));
    r->cause_field = "metadata.namespace";
    return err_set(e, ERR_FORBIDDEN, "unable to create new content in namespace %.*s because it is being terminated",
                   STR_ARG(r->namespace));
}

enum err_code namespace_lifecycle(struct admission_request *r, struct err *e)
{
    bool is_namespace = req_is(r, "namespaces", "");
    if (is_namespace && r->operation == ADMIT_DELETE && stays_forever(r->name))
        return err_set(e, ERR_FORBIDDEN, "this namespace may not be deleted");
    /* Whether somebody may do something is asked about namespaces that are not there, too. */
    if (is_namespace || !r->namespace.n || r->operation == ADMIT_DELETE ||
        req_is(r, "localsubjectaccessreviews", "authorization.k8s.io"))
        return ERR_OK;
    const struct value *home = req_find(r, "namespaces", "", STR(""), r->namespace);
    if (!home)
        return req_not_found("namespaces", r->namespace, e);
    struct str phase = value_text(value_path(schema_type(STR("core/v1.Namespace")), home, "status.phase"));
    if (r->operation == ADMIT_CREATE && str_is(phase, "Terminating"))
        return refuse_late(r, e);
    return ERR_OK;
}

enum err_code namespace_exists(struct admission_request *r, struct err *e)
{
    if (!r->namespace.n || req_is(r, "namespaces", "") || req_find(r, "namespaces", "", STR(""), r->namespace))
        return ERR_OK;
    return req_not_found("namespaces", r->namespace, e);
}
