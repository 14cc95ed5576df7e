/* DefaultIngressClass gives an Ingress without a class the default one; DenyServiceExternalIPs refuses addresses that a
 * Service did not have before. */
#include "apiserver/admission_priv.h"

static const struct type *class_type(void)
{
    return schema_type(STR("networking.k8s.io/v1.IngressClass"));
}

/* Of several the newest; classes come by name, so that of equally old ones the first name stays. */
static const struct value *default_class(const struct admission_request *r)
{
    const struct value **classes, *best = NULL;
    size_t n = stored_list(r->objects, stored_resource("ingressclasses", "networking.k8s.io"), STR(""), r->arena,
                           &classes);
    for (size_t i = 0; i < n; i++) {
        const struct value *mark = meta_annotation(class_type(), classes[i],
                                                   "ingressclass.kubernetes.io/is-default-class");
        if (mark && str_is(value_text(mark), "true") &&
            (!best || value_path(class_type(), classes[i], "metadata.creationTimestamp")->i >
                          value_path(class_type(), best, "metadata.creationTimestamp")->i))
            best = classes[i];
    }
    return best;
}

enum err_code default_ingress_class(struct admission_request *r, struct err *e)
{
    (void)e;
    if (!req_is_whole(r, "ingresses", "networking.k8s.io") ||
        req_at(r, "spec.ingressClassName")->kind != VALUE_ABSENT ||
        req_annotation(r, "kubernetes.io/ingress.class"))
        return ERR_OK;
    const struct value *class = default_class(r);
    if (class)
        req_set(r, "spec.ingressClassName", *value_path(class_type(), class, "metadata.name"));
    return ERR_OK;
}

enum err_code deny_external_ips(struct admission_request *r, struct err *e)
{
    if (!req_is_whole(r, "services", ""))
        return ERR_OK;
    struct text_list before = { r->arena };
    EACH_ITEM(ip, req_old(r, "spec.externalIPs"))
        text_list_add(&before, value_text(ip));
    text_list_sort(&before);
    EACH_ITEM(ip, req_at(r, "spec.externalIPs"))
        if (!text_list_has(&before, value_text(ip)))
            return err_set(e, ERR_FORBIDDEN, "Use of external IPs is denied by admission control");
    return ERR_OK;
}
