/* NodeRestriction: a kubelet writes its own Node, the status of its own pods, and what else is about its node;
 * nothing else.
 *
 * Not there: CSI drivers that take over volumes of in-tree kinds, with the audiences that they want tokens for, and
 * requests for certificates of pods, a feature that is off by default. */
#include "apiserver/admission_priv.h"

static const struct type *pod_type(void)
{
    return schema_type(STR("core/v1.Pod"));
}

static const char *operation_name(const struct admission_request *r)
{
    static const char *const names[] = { "CREATE", "UPDATE", "DELETE", "CONNECT" };
    return names[r->operation];
}

/* ---- Pods ---- */

/* Volumes that need no API, and what others need, by the fields of a volume. */
static const struct {
    const char *field, *needs; /* NULL: nothing */
} volume_needs[] = {
    { "configMap", "configmaps (via configmap volumes)" },
    { "secret", "secrets (via secret volumes)" },
    { "csi", "csidrivers (via CSI volumes)" },
    { "glusterfs", "endpoints (via glusterFS volumes)" },
    { "persistentVolumeClaim", "persistentvolumeclaims" },
    { "ephemeral", "persistentvolumeclaims (via ephemeral volumes)" },
    { "azureFile", "secrets (via azureFile volumes)" },
}, source_needs[] = {
    { "configMap", "configmaps (via projected volumes)" },
    { "secret", "secrets (via projected volumes)" },
    { "serviceAccountToken", "serviceaccounts (via projected volumes)" },
    { "clusterTrustBundle", "clustertrustbundles" },
    { "podCertificate", "podcertificates" },
};

static const char *volume_need(const struct value *volume)
{
    const struct type *t = schema_type(STR("core/v1.Volume")), *s = schema_type(STR("core/v1.VolumeProjection"));
    for (size_t i = 0; i < sizeof(volume_needs) / sizeof(volume_needs[0]); i++)
        if (value_path(t, volume, volume_needs[i].field)->kind == VALUE_STRUCT)
            return volume_needs[i].needs;
    EACH_ITEM(source, value_path(t, volume, "projected.sources"))
        for (size_t i = 0; i < sizeof(source_needs) / sizeof(source_needs[0]); i++)
            if (value_path(s, source, source_needs[i].field)->kind == VALUE_STRUCT)
                return source_needs[i].needs;
    return NULL;
}

static bool uses_config_maps(const struct admission_request *r)
{
    const struct type *var = schema_type(STR("core/v1.EnvVar")), *source = schema_type(STR("core/v1.EnvFromSource"));
    const struct container *all;
    size_t n = spec_containers(r->arena, req_at(r, "spec"), &all);
    for (size_t i = 0; i < n; i++) {
        EACH_ITEM(env, value_path(all[i].type, all[i].value, "env"))
            if (value_path(var, env, "valueFrom.configMapKeyRef")->kind == VALUE_STRUCT)
                return true;
        EACH_ITEM(from, value_path(all[i].type, all[i].value, "envFrom"))
            if (value_path(source, from, "configMapRef")->kind == VALUE_STRUCT)
                return true;
    }
    return false;
}

/* What of the API the pod needs, in upstream's words; NULL: nothing. */
static const char *needs_of(const struct admission_request *r)
{
    if (req_text(r, "spec.serviceAccountName").n)
        return "serviceaccounts";
    if (pod_uses_secrets(r))
        return "secrets";
    if (uses_config_maps(r))
        return "configmaps";
    if (req_at(r, "spec.resourceClaims")->kind == VALUE_LIST && req_at(r, "spec.resourceClaims")->n)
        return "resourceclaims";
    EACH_ITEM(volume, req_at(r, "spec.volumes")) {
        const char *need = volume_need(volume);
        if (need)
            return need;
    }
    return NULL;
}

static enum err_code check_owner(const struct admission_request *r, struct str node, const struct value *owner,
                                 struct err *e)
{
    const struct type *t = schema_type(STR("meta/v1.OwnerReference"));
    if (!str_is(value_text(value_path(t, owner, "apiVersion")), "v1") ||
        !str_is(value_text(value_path(t, owner, "kind")), "Node") ||
        !str_eq(value_text(value_path(t, owner, "name")), node))
        return err_set(e, ERR_FORBIDDEN, "node \"%.*s\" can only create pods with an owner reference set to itself",
                       STR_ARG(node));
    if (!value_path(t, owner, "controller")->b)
        return err_set(e, ERR_FORBIDDEN,
                       "node \"%.*s\" can only create pods with a controller owner reference set to itself",
                       STR_ARG(node));
    if (value_path(t, owner, "blockOwnerDeletion")->b)
        return err_set(e, ERR_FORBIDDEN, "node \"%.*s\" must not set blockOwnerDeletion on an owner reference",
                       STR_ARG(node));
    const struct value *there = req_find(r, "nodes", "", STR(""), node);
    if (!there)
        return req_not_found("node", node, e);
    struct str said = value_text(value_path(t, owner, "uid"));
    struct str is = value_text(value_path(schema_type(STR("core/v1.Node")), there, "metadata.uid"));
    if (!str_eq(said, is))
        return err_set(e, ERR_FORBIDDEN, "node %.*s UID mismatch: expected %.*s got %.*s", STR_ARG(node), STR_ARG(said),
                       STR_ARG(is));
    return ERR_OK;
}

static enum err_code create_pod(const struct admission_request *r, struct str node, struct err *e)
{
    if (!req_annotation(r, "kubernetes.io/config.mirror"))
        return err_set(e, ERR_FORBIDDEN,
                       "pod does not have \"kubernetes.io/config.mirror\" annotation, node \"%.*s\" can only create "
                       "mirror pods",
                       STR_ARG(node));
    if (!str_eq(req_text(r, "spec.nodeName"), node))
        return err_set(e, ERR_FORBIDDEN, "node \"%.*s\" can only create pods with spec.nodeName set to itself",
                       STR_ARG(node));
    const struct value *owners = req_at(r, "metadata.ownerReferences");
    uint32_t n = owners->kind == VALUE_LIST ? owners->n : 0;
    if (n != 1)
        return err_set(e, ERR_FORBIDDEN, "node \"%.*s\" can only create pods with %s owner reference set to itself",
                       STR_ARG(node), n ? "a single" : "an");
    if (check_owner(r, node, &owners->items[0], e))
        return e->code;
    const char *needs = needs_of(r);
    if (needs)
        return err_set(e, ERR_FORBIDDEN, "node \"%.*s\" can not create pods that reference %s", STR_ARG(node), needs);
    return ERR_OK;
}

/* ERR_NOT_FOUND, or ERR_FORBIDDEN with `format`, which shows the node, unless the pod runs there. */
static enum err_code check_runs_there(const struct admission_request *r, struct str pod, struct str node,
                                      const char *before, const char *after, struct err *e)
{
    const struct value *there = req_find(r, "pods", "", r->namespace, pod);
    if (!there)
        return req_not_found("pod", pod, e);
    if (str_eq(value_text(value_path(pod_type(), there, "spec.nodeName")), node))
        return ERR_OK;
    return err_set(e, ERR_FORBIDDEN, "%s%.*s%s", before, STR_ARG(node), after);
}

static enum err_code write_pod(const struct admission_request *r, struct str node, struct err *e)
{
    if (r->operation == ADMIT_CREATE)
        return create_pod(r, node, e);
    if (r->operation == ADMIT_DELETE)
        return check_runs_there(r, r->name, node, "node \"",
                                "\" can only delete pods with spec.nodeName set to itself", e);
    return err_set(e, ERR_FORBIDDEN,
                   "unexpected operation \"%s\", node \"%.*s\" can only create and delete mirror pods",
                   operation_name(r), STR_ARG(node));
}

static bool same_map(const struct value *a, const struct value *b)
{
    bool empty_a = a->kind != VALUE_MAP || !a->n, empty_b = b->kind != VALUE_MAP || !b->n;
    return empty_a || empty_b ? empty_a == empty_b : value_equal(a, b);
}

static bool same_list(const struct value *a, const struct value *b)
{
    bool empty_a = a->kind != VALUE_LIST || !a->n, empty_b = b->kind != VALUE_LIST || !b->n;
    return empty_a || empty_b ? empty_a == empty_b : value_equal(a, b);
}

static enum err_code write_pod_status(const struct admission_request *r, struct str node, struct err *e)
{
    if (r->operation != ADMIT_UPDATE)
        return err_set(e, ERR_FORBIDDEN, "unexpected operation \"%s\"", operation_name(r));
    if (!str_eq(value_text(req_old(r, "spec.nodeName")), node))
        return err_set(e, ERR_FORBIDDEN,
                       "node \"%.*s\" can only update pod status for pods with spec.nodeName set to itself",
                       STR_ARG(node));
    if (!same_map(req_at(r, "metadata.labels"), req_old(r, "metadata.labels")))
        return err_set(e, ERR_FORBIDDEN, "node \"%.*s\" cannot update labels through pod status", STR_ARG(node));
    if (!same_list(req_at(r, "status.resourceClaimStatuses"), req_old(r, "status.resourceClaimStatuses")))
        return err_set(e, ERR_FORBIDDEN, "node \"%.*s\" cannot update resource claim statues", STR_ARG(node));
    if (!value_equal(req_at(r, "status.extendedResourceClaimStatus"), req_old(r, "status.extendedResourceClaimStatus")))
        return err_set(e, ERR_FORBIDDEN, "node \"%.*s\" cannot update extended resource claim status", STR_ARG(node));
    return ERR_OK;
}

static enum err_code evict_pod(const struct admission_request *r, struct str node, struct err *e)
{
    if (r->operation != ADMIT_CREATE)
        return err_set(e, ERR_FORBIDDEN, "unexpected operation %s", operation_name(r));
    struct str name = r->name.n ? r->name : req_text(r, "metadata.name");
    if (!name.n)
        return err_set(e, ERR_FORBIDDEN, "could not determine pod from request data");
    return check_runs_there(r, name, node, "node ", " can only evict pods with spec.nodeName set to itself", e);
}

static enum err_code write_pods(const struct admission_request *r, struct str node, struct err *e)
{
    if (!r->subresource.n)
        return write_pod(r, node, e);
    if (str_is(r->subresource, "status"))
        return write_pod_status(r, node, e);
    if (str_is(r->subresource, "eviction"))
        return evict_pod(r, node, e);
    return err_set(e, ERR_FORBIDDEN, "unexpected pod subresource \"%.*s\", only 'status' and 'eviction' are allowed",
                   STR_ARG(r->subresource));
}

/* ---- The node itself ---- */

/* Whether a key's part before the slash is the domain or one below it. */
static bool is_under(struct str key, const char *domain)
{
    struct str prefix = str_first(key, str_index(key, '/')), name = str_of(domain);
    if (prefix.n == key.n || !str_ends(prefix, name))
        return false;
    return prefix.n == name.n || prefix.p[prefix.n - name.n - 1] == '.';
}

static bool may_set_label(struct str key)
{
    static const char *const keys[] = {
        "kubernetes.io/hostname", "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
        "beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type", "kubernetes.io/os", "kubernetes.io/arch",
        "beta.kubernetes.io/os", "beta.kubernetes.io/arch",
    };
    if (is_under(key, "node-restriction.kubernetes.io"))
        return false;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (str_is(key, keys[i]))
            return true;
    if (is_under(key, "kubelet.kubernetes.io") || is_under(key, "node.kubernetes.io"))
        return true;
    return !is_under(key, "kubernetes.io") && !is_under(key, "k8s.io");
}

/* Keys of labels that differ between both maps and are not a node's to set; sorted. */
static void add_forbidden(struct text_list *keys, const struct value *a, const struct value *b)
{
    for (uint32_t i = 0; a->kind == VALUE_MAP && i < a->n; i++) {
        const struct value *other = value_member(b, a->members[i].key);
        if ((!other || !value_equal(other, &a->members[i].value)) && !may_set_label(a->members[i].key))
            text_list_add(keys, a->members[i].key);
    }
}

static struct text_list forbidden_labels(const struct admission_request *r)
{
    struct text_list keys = { r->arena };
    add_forbidden(&keys, req_at(r, "metadata.labels"), req_old(r, "metadata.labels"));
    add_forbidden(&keys, req_old(r, "metadata.labels"), req_at(r, "metadata.labels"));
    text_list_sort(&keys);
    return keys;
}

static enum err_code create_node(const struct admission_request *r, struct str node, struct err *e)
{
    if (req_at(r, "spec.configSource")->kind == VALUE_STRUCT)
        return err_set(e, ERR_FORBIDDEN, "node \"%.*s\" is not allowed to create pods with a non-nil configSource",
                       STR_ARG(node));
    struct text_list keys = forbidden_labels(r);
    if (keys.n)
        return err_set(e, ERR_FORBIDDEN, "node \"%.*s\" is not allowed to set the following labels: %s", STR_ARG(node),
                       text_list_join(&keys, "", ", "));
    return ERR_OK;
}

static enum err_code update_node(const struct admission_request *r, struct str node, struct err *e)
{
    const struct value *source = req_at(r, "spec.configSource");
    if (source->kind == VALUE_STRUCT && !value_equal(source, req_old(r, "spec.configSource")))
        return err_set(e, ERR_FORBIDDEN,
                       "node \"%.*s\" is not allowed to update configSource to a new non-nil configSource",
                       STR_ARG(node));
    if (!same_list(req_at(r, "spec.taints"), req_old(r, "spec.taints")))
        return err_set(e, ERR_FORBIDDEN, "node \"%.*s\" is not allowed to modify taints", STR_ARG(node));
    if (!same_list(req_at(r, "metadata.ownerReferences"), req_old(r, "metadata.ownerReferences")))
        return err_set(e, ERR_FORBIDDEN, "node \"%.*s\" is not allowed to modify ownerReferences", STR_ARG(node));
    struct text_list keys = forbidden_labels(r);
    if (keys.n)
        return err_set(e, ERR_FORBIDDEN, "is not allowed to modify labels: %s", text_list_join(&keys, "", ", "));
    return ERR_OK;
}

static enum err_code write_node(const struct admission_request *r, struct str node, struct err *e)
{
    if (!str_eq(r->name, node))
        return err_set(e, ERR_FORBIDDEN, "node \"%.*s\" is not allowed to modify node \"%.*s\"", STR_ARG(node),
                       STR_ARG(r->name));
    if (r->operation == ADMIT_CREATE)
        return create_node(r, node, e);
    return r->operation == ADMIT_UPDATE ? update_node(r, node, e) : ERR_OK;
}

/* ---- What else is about a node ---- */

static enum err_code write_claim(const struct admission_request *r, struct str node, struct err *e)
{
    static const char *const its[] = { "metadata.resourceVersion", "metadata.managedFields", "status.capacity",
                                       "status.conditions", "status.allocatedResourceStatuses", "status.allocatedResources" };
    if (!str_is(r->subresource, "status"))
        return err_set(e, ERR_FORBIDDEN, "may only update PVC status");
    if (r->operation != ADMIT_UPDATE || !r->old)
        return err_set(e, ERR_FORBIDDEN, "unexpected operation \"%s\"", operation_name(r));
    struct value new = r->object, old = *r->old;
    for (size_t i = 0; i < sizeof(its) / sizeof(its[0]); i++) {
        new = edit_set(r->arena, r->type, &new, its[i], (struct value){ 0 });
        old = edit_set(r->arena, r->type, &old, its[i], (struct value){ 0 });
    }
    if (value_equal(&new, &old))
        return ERR_OK;
    return err_set(e, ERR_FORBIDDEN,
                   "node \"%.*s\" is not allowed to update fields other than status.quantity and status.conditions",
                   STR_ARG(node));
}

/* The CSI driver of a volume, by way of its claim and that one's volume if need be; empty: none. */
static struct str driver_of(const struct admission_request *r, const struct value *pod, const struct value *volume)
{
    const struct type *v = schema_type(STR("core/v1.Volume")), *c = schema_type(STR("core/v1.PersistentVolumeClaim"));
    struct str driver = value_text(value_path(v, volume, "csi.driver"));
    struct str claim = value_text(value_path(v, volume, "persistentVolumeClaim.claimName"));
    if (value_path(v, volume, "ephemeral.volumeClaimTemplate")->kind == VALUE_STRUCT)
        claim = str_of(arena_printf(r->arena, "%.*s-%.*s",
                                    STR_ARG(value_text(value_path(pod_type(), pod, "metadata.name"))),
                                    STR_ARG(value_text(value_path(v, volume, "name")))));
    const struct value *bound = req_find(r, "persistentvolumeclaims", "", r->namespace, claim);
    const struct value *disk = bound ? req_find(r, "persistentvolumes", "", STR(""),
                                                value_text(value_path(c, bound, "spec.volumeName")))
                                     : NULL;
    const struct type *d = schema_type(STR("core/v1.PersistentVolume"));
    return disk ? value_text(value_path(d, disk, "spec.csi.driver")) : driver;
}

static bool driver_wants(const struct admission_request *r, struct str name, struct str audience)
{
    const struct value *driver = req_find(r, "csidrivers", "storage.k8s.io", STR(""), name);
    if (!driver)
        return false;
    EACH_ITEM(request, value_path(schema_type(STR("storage.k8s.io/v1.CSIDriver")), driver, "spec.tokenRequests"))
        if (str_eq(value_text(value_path(schema_type(STR("storage.k8s.io/v1.TokenRequest")), request, "audience")),
                   audience))
            return true;
    return false;
}

static bool volume_wants(const struct admission_request *r, const struct value *pod, const struct value *volume,
                         struct str audience)
{
    const struct type *s = schema_type(STR("core/v1.VolumeProjection"));
    EACH_ITEM(source, value_path(schema_type(STR("core/v1.Volume")), volume, "projected.sources"))
        if (value_path(s, source, "serviceAccountToken")->kind == VALUE_STRUCT &&
            str_eq(value_text(value_path(s, source, "serviceAccountToken.audience")), audience))
            return true;
    return driver_wants(r, driver_of(r, pod, volume), audience);
}

/* A node gets tokens for whom its pods want them. */
static enum err_code check_audience(const struct admission_request *r, const struct value *pod, struct err *e)
{
    const struct value *audiences = req_at(r, "spec.audiences");
    uint32_t n = audiences->kind == VALUE_LIST ? audiences->n : 0;
    if (n > 1)
        return err_set(e, ERR_FORBIDDEN, "node may only request 0 or 1 audiences");
    struct str wanted = n ? value_text(&audiences->items[0]) : STR("");
    EACH_ITEM(volume, value_path(pod_type(), pod, "spec.volumes"))
        if (volume_wants(r, pod, volume, wanted))
            return ERR_OK;
    struct authz_attributes q = { .user = r->user, .verb = STR("request-serviceaccounts-token-audience"),
                                  .is_resource = true,
                                  .version = STR("v1"), .resource = wanted, .namespace = r->namespace, .name = r->name };
    struct str reason;
    if (req_may(r, &q, &reason))
        return ERR_OK;
    return err_set(e, ERR_FORBIDDEN,
                   "audience \"%.*s\" not found in pod spec volume, %.*s is not authorized to request tokens for this "
                   "audience",
                   STR_ARG(wanted), STR_ARG(r->user->name));
}

static enum err_code write_account(const struct admission_request *r, struct str node, struct err *e)
{
    if (r->operation != ADMIT_CREATE || !str_is(r->subresource, "token"))
        return ERR_OK;
    struct str name = req_text(r, "spec.boundObjectRef.name"), uid = req_text(r, "spec.boundObjectRef.uid");
    if (!str_is(req_text(r, "spec.boundObjectRef.apiVersion"), "v1") ||
        !str_is(req_text(r, "spec.boundObjectRef.kind"), "Pod") || !name.n)
        return err_set(e, ERR_FORBIDDEN, "node requested token not bound to a pod");
    if (!uid.n)
        return err_set(e, ERR_FORBIDDEN, "node requested token with a pod binding without a uid");
    const struct value *pod = req_find(r, "pods", "", r->namespace, name);
    if (!pod)
        return req_not_found("pod", name, e);
    if (!str_eq(value_text(value_path(pod_type(), pod, "metadata.uid")), uid))
        return err_set(e, ERR_FORBIDDEN,
                       "the UID in the bound object reference (%.*s) does not match the UID in record. The object "
                       "might have been deleted and then recreated",
                       STR_ARG(uid));
    if (!str_eq(value_text(value_path(pod_type(), pod, "spec.nodeName")), node))
        return err_set(e, ERR_FORBIDDEN, "node requested token bound to a pod scheduled on a different node");
    return check_audience(r, pod, e);
}

static struct str written_name(const struct admission_request *r)
{
    return r->operation == ADMIT_CREATE ? req_text(r, "metadata.name") : r->name;
}

static enum err_code write_lease(const struct admission_request *r, struct str node, struct err *e)
{
    if (!str_is(r->namespace, "kube-node-lease"))
        return err_set(e, ERR_FORBIDDEN, "can only access leases in the \"kube-node-lease\" system namespace");
    if (!str_eq(written_name(r), node))
        return err_set(e, ERR_FORBIDDEN, "can only access node lease with the same name as the requesting node");
    return ERR_OK;
}

static enum err_code write_csi_node(const struct admission_request *r, struct str node, struct err *e)
{
    if (!str_eq(written_name(r), node))
        return err_set(e, ERR_FORBIDDEN, "can only access CSINode with the same name as the requesting node");
    return ERR_OK;
}

static enum err_code write_slice(const struct admission_request *r, struct str node, struct err *e)
{
    if (r->operation == ADMIT_CREATE && !str_eq(req_text(r, "spec.nodeName"), node))
        return err_set(e, ERR_FORBIDDEN, "can only create ResourceSlice with the same NodeName as the requesting node");
    if (r->operation == ADMIT_DELETE && !str_eq(value_text(req_old(r, "spec.nodeName")), node))
        return err_set(e, ERR_FORBIDDEN, "can only delete ResourceSlice with the same NodeName as the requesting node");
    return ERR_OK;
}

static enum err_code write_csr(const struct admission_request *r, struct str node, struct err *e)
{
    struct str signer = req_text(r, "spec.signerName"), name;
    struct text_list organizations;
    if (r->operation != ADMIT_CREATE || (!str_is(signer, "kubernetes.io/kubelet-serving") &&
                                         !str_is(signer, "kubernetes.io/kube-apiserver-client-kubelet")))
        return ERR_OK;
    if (!csr_subject(r->arena, req_text(r, "spec.request"), &organizations, &name))
        return err_set(e, ERR_FORBIDDEN, "unable to parse csr: PEM block type must be CERTIFICATE REQUEST");
    if (!str_starts(name, STR("system:node:")) || !str_eq(str_from(name, sizeof("system:node:") - 1), node))
        return err_set(e, ERR_FORBIDDEN, "can only create a node CSR with CN=system:node:%.*s", STR_ARG(node));
    return ERR_OK;
}

enum err_code node_restriction(struct admission_request *r, struct err *e)
{
    static const struct {
        const char *plural, *group;
        enum err_code (*write)(const struct admission_request *r, struct str node, struct err *e);
    } rows[] = {
        { "pods", "", write_pods },
        { "nodes", "", write_node },
        { "persistentvolumeclaims", "", write_claim },
        { "serviceaccounts", "", write_account },
        { "leases", "coordination.k8s.io", write_lease },
        { "csinodes", "storage.k8s.io", write_csi_node },
        { "resourceslices", "resource.k8s.io", write_slice },
        { "certificatesigningrequests", "certificates.k8s.io", write_csr },
    };
    struct str node;
    if (!user_is_node(r->user, &node))
        return ERR_OK;
    if (!node.n)
        return err_set(e, ERR_FORBIDDEN, "could not determine node from user \"%.*s\"", STR_ARG(r->user->name));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (req_is(r, rows[i].plural, rows[i].group))
            return rows[i].write(r, node, e);
    return ERR_OK;
}
