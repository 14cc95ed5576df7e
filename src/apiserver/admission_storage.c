/* DefaultStorageClass, StorageObjectInUseProtection, PersistentVolumeClaimResize: what claims and volumes are given,
 * and which claims may grow. */
#include "api/quantity.h"
#include "apiserver/admission_priv.h"

static const struct type *class_type(void)
{
    return schema_type(STR("storage.k8s.io/v1.StorageClass"));
}

static bool is_default(const struct value *class)
{
    static const char *const keys[] = { "storageclass.kubernetes.io/is-default-class",
                                        "storageclass.beta.kubernetes.io/is-default-class" };
    for (size_t i = 0; i < 2; i++) {
        const struct value *v = meta_annotation(class_type(), class, keys[i]);
        if (v && str_is(value_text(v), "true"))
            return true;
    }
    return false;
}

/* Of several the newest; classes come by name, so that of equally old ones the first name stays. */
static const struct value *default_class(const struct admission_request *r)
{
    const struct value **classes, *best = NULL;
    size_t n = stored_list(r->objects, stored_resource("storageclasses", "storage.k8s.io"), STR(""), r->arena,
                           &classes);
    for (size_t i = 0; i < n; i++)
        if (is_default(classes[i]) &&
            (!best || value_path(class_type(), classes[i], "metadata.creationTimestamp")->i >
                          value_path(class_type(), best, "metadata.creationTimestamp")->i))
            best = classes[i];
    return best;
}

enum err_code default_storage_class(struct admission_request *r, struct err *e)
{
    (void)e;
    if (!req_is_whole(r, "persistentvolumeclaims", "") || req_at(r, "spec.storageClassName")->kind != VALUE_ABSENT ||
        req_annotation(r, "volume.beta.kubernetes.io/storage-class"))
        return ERR_OK;
    const struct value *class = default_class(r);
    if (class)
        req_set(r, "spec.storageClassName", *value_path(class_type(), class, "metadata.name"));
    return ERR_OK;
}

static bool has_text(const struct value *list, const char *text)
{
    EACH_ITEM(item, list)
        if (str_is(value_text(item), text))
            return true;
    return false;
}

enum err_code in_use_protection(struct admission_request *r, struct err *e)
{
    static const struct {
        const char *plural, *group, *finalizer;
    } rows[] = {
        { "persistentvolumes", "", "kubernetes.io/pv-protection" },
        { "persistentvolumeclaims", "", "kubernetes.io/pvc-protection" },
        { "volumeattributesclasses", "storage.k8s.io", "kubernetes.io/vac-protection" },
    };
    (void)e;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct value *finalizers = req_at(r, "metadata.finalizers");
        if (req_is_whole(r, rows[i].plural, rows[i].group) && !has_text(finalizers, rows[i].finalizer))
            req_set(r, "metadata.finalizers", edit_append(r->arena, finalizers, edit_text(rows[i].finalizer)));
    }
    return ERR_OK;
}

static struct quantity storage_of(struct arena *a, const struct value *requests)
{
    struct quantity q = { 0 };
    struct err ignored;
    err_init(&ignored, a);
    const struct value *v = value_member(requests, STR("storage"));
    if (v && quantity_parse(a, value_text(v), &q, &ignored))
        q = (struct quantity){ 0 };
    return q;
}

static bool may_grow(const struct admission_request *r)
{
    struct str class = claim_class(&r->object);
    if (!class.n || !str_eq(class, claim_class(r->old)))
        return false;
    const struct value *found = req_find(r, "storageclasses", "storage.k8s.io", STR(""), class);
    return found && value_path(class_type(), found, "allowVolumeExpansion")->b;
}

enum err_code claim_resize(struct admission_request *r, struct err *e)
{
    if (!req_is_whole(r, "persistentvolumeclaims", "") || !r->old)
        return ERR_OK;
    struct quantity now = storage_of(r->arena, req_at(r, "spec.resources.requests"));
    struct quantity before = storage_of(r->arena, req_old(r, "spec.resources.requests"));
    if (quantity_cmp(&now, &before) <= 0)
        return ERR_OK;
    if (!str_is(value_text(req_old(r, "status.phase")), "Bound"))
        return err_set(e, ERR_FORBIDDEN, "Only bound persistent volume claims can be expanded");
    if (!may_grow(r))
        return err_set(e, ERR_FORBIDDEN, "only dynamically provisioned pvc can be resized and the storageclass that "
                                         "provisions the pvc must support resize");
    return ERR_OK;
}
