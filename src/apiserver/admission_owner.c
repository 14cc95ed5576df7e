/* OwnerReferencesPermissionEnforcement: who may not delete an object cannot give it to an owner who may be deleted,
 * and who may not touch an owner's finalizers cannot hold it up (blockOwnerDeletion). */
#include "apiserver/admission_priv.h"

static const struct type *ref_type(void)
{
    return schema_type(STR("meta/v1.OwnerReference"));
}

static bool blocks(const struct value *ref)
{
    return value_path(ref_type(), ref, "blockOwnerDeletion")->b;
}

/* uids of owners that the old object let block already. */
static struct text_list blocking_before(const struct admission_request *r)
{
    struct text_list uids = { r->arena };
    EACH_ITEM(ref, req_old(r, "metadata.ownerReferences"))
        if (blocks(ref))
            text_list_add(&uids, value_text(value_path(ref_type(), ref, "uid")));
    text_list_sort(&uids);
    return uids;
}

static bool changes_owners(const struct admission_request *r)
{
    const struct value *now = req_at(r, "metadata.ownerReferences"), *old = req_old(r, "metadata.ownerReferences");
    uint32_t n_now = now->kind == VALUE_LIST ? now->n : 0, n_old = old->kind == VALUE_LIST ? old->n : 0;
    return n_now != n_old || (n_now && !value_equal(now, old));
}

static enum err_code check_delete(const struct admission_request *r, struct err *e)
{
    struct authz_attributes q = {
        .user = r->user, .verb = STR("delete"), .is_resource = true, .group = r->resource->group,
        .version = r->resource->version, .resource = r->resource->plural, .subresource = r->subresource,
        .namespace = r->namespace, .name = r->name,
    };
    struct str reason = { 0 };
    if (req_may(r, &q, &reason))
        return ERR_OK;
    return err_set(e, ERR_FORBIDDEN, "cannot set an ownerRef on a resource you can't delete: %.*s, <nil>",
                   STR_ARG(reason));
}

static bool may_finalize_anything(const struct admission_request *r)
{
    struct authz_attributes q = {
        .user = r->user, .verb = STR("update"), .is_resource = true, .group = STR("*"), .version = STR("*"),
        .resource = STR("*"), .subresource = STR("finalizers"), .name = STR("*"),
    };
    struct str reason;
    return req_may(r, &q, &reason);
}

static const struct resource *resource_of(struct str group, struct str version, struct str kind)
{
    for (size_t i = 0; i < schema_n_resources; i++) {
        const struct resource *s = &schema_resources[i];
        if (s->served && str_eq(s->group, group) && str_eq(s->version, version) && str_eq(s->kind, kind))
            return s;
    }
    return NULL;
}

static enum err_code check_owner(const struct admission_request *r, const struct value *ref, struct err *e)
{
    struct str api_version = value_text(value_path(ref_type(), ref, "apiVersion")), group, version;
    struct str kind = value_text(value_path(ref_type(), ref, "kind"));
    schema_split_api_version(api_version, &group, &version);
    const struct resource *owner = resource_of(group, version, kind);
    if (!owner)
        return err_set(e, ERR_FORBIDDEN,
                       "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion %.*s "
                       "Kind %.*s: no matches for kind \"%.*s\" in version \"%.*s\"",
                       STR_ARG(api_version), STR_ARG(kind), STR_ARG(kind), STR_ARG(api_version));
    struct authz_attributes q = {
        .user = r->user, .verb = STR("update"), .is_resource = true, .group = owner->group, .version = owner->version,
        .resource = owner->plural, .subresource = STR("finalizers"),
        .namespace = owner->namespaced ? r->namespace : STR(""),
        .name = value_text(value_path(ref_type(), ref, "name")),
    };
    struct str reason = { 0 };
    if (req_may(r, &q, &reason))
        return ERR_OK;
    return err_set(e, ERR_FORBIDDEN,
                   "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers "
                   "on: %.*s, <nil>",
                   STR_ARG(reason));
}

enum err_code owner_permissions(struct admission_request *r, struct err *e)
{
    if (req_is_sub(r, "pods", "", "status") || !changes_owners(r))
        return ERR_OK;
    if (r->operation != ADMIT_CREATE && check_delete(r, e))
        return e->code;
    struct text_list before = blocking_before(r);
    bool may = false, asked = false;
    EACH_ITEM(ref, req_at(r, "metadata.ownerReferences")) {
        if (!blocks(ref) || text_list_has(&before, value_text(value_path(ref_type(), ref, "uid"))))
            continue;
        may = asked ? may : may_finalize_anything(r);
        asked = true;
        if (!may && check_owner(r, ref, e))
            return e->code;
    }
    return ERR_OK;
}
