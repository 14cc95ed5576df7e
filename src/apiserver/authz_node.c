/* apiserver/authz_node.c - what kubelets may do: read what the pods on their node refer to, and write what is their own.
 *
 * Relations are looked up in the stored objects when they are asked for:
 *     node <- pod <- secret, configmap, claim, resource claim, service account      <- means: refers to
 *                    claim <- volume <- secret
 *     node <- volume attachment, resource slice
 * A mirror pod gives no access to anything: a node makes those by itself.
 *
 * Upstream: plugin/pkg/auth/authorizer/node. */
#include "api/schema_slots.h"
#include "apiserver/authz_priv.h"

#define NODE_PREFIX "system:node:"
#define NODES_GROUP "system:nodes"
#define MIRROR_POD "kubernetes.io/config.mirror"

struct asking {
    struct stored *objects;
    const struct rbac_rules *rules;
    struct arena *arena;
    const struct authz_attributes *q;
    struct str node;
    struct str reason;
};

struct str authz_node_of(const struct user *u)
{
    if (!str_starts(u->name, STR(NODE_PREFIX)) || !str_list_has(&u->groups, STR(NODES_GROUP)))
        return (struct str){ 0 };
    return str_from(u->name, sizeof(NODE_PREFIX) - 1);
}

static enum authz_verdict deny(struct asking *k, const char *reason)
{
    k->reason = str_of(reason);
    return AUTHZ_NO_OPINION;
}

static bool verb_is(const struct asking *k, const char *const *verbs)
{
    for (; *verbs; verbs++)
        if (str_is(k->q->verb, *verbs))
            return true;
    return false;
}

/* ---- References ---- */

/* Whether the text at a path of JSON names is `name`, where lists stand for each of their items. */
static bool refers(const struct type *t, const struct value *v, const char *path, struct str name)
{
    if (!*path)
        return name.n && str_eq(value_text(v), name);
    struct str part = { path, strcspn(path, ".") };
    int slot = v->kind == VALUE_STRUCT ? schema_slot(t, part) : -1;
    if (slot < 0)
        return false;
    const struct field *f = &t->fields[slot];
    const struct value *child = value_slot(v, (unsigned)slot);
    const char *rest = path + part.n + (path[part.n] == '.');
    if (f->shape != SHAPE_LIST)
        return refers(f->type, child, rest, name);
    for (uint32_t i = 0; child->kind == VALUE_LIST && i < child->n; i++)
        if (refers(f->type, &child->items[i], rest, name))
            return true;
    return false;
}

static bool refers_by(const struct type *t, const struct value *v, const char *const *paths, struct str name)
{
    for (; *paths; paths++)
        if (refers(t, v, *paths, name))
            return true;
    return false;
}

#define OF_CONTAINERS(path) "spec.containers." path, "spec.initContainers." path, "spec.ephemeralContainers." path

static const char *const secret_paths[] = {
    "spec.imagePullSecrets.name",
    OF_CONTAINERS("envFrom.secretRef.name"),
    OF_CONTAINERS("env.valueFrom.secretKeyRef.name"),
    "spec.volumes.azureFile.secretName",
    "spec.volumes.cephfs.secretRef.name",
    "spec.volumes.cinder.secretRef.name",
    "spec.volumes.csi.nodePublishSecretRef.name",
    "spec.volumes.flexVolume.secretRef.name",
    "spec.volumes.iscsi.secretRef.name",
    "spec.volumes.projected.sources.secret.name",
    "spec.volumes.rbd.secretRef.name",
    "spec.volumes.scaleIO.secretRef.name",
    "spec.volumes.secret.secretName",
    "spec.volumes.storageos.secretRef.name",
    NULL,
};
static const char *const config_map_paths[] = {
    OF_CONTAINERS("envFrom.configMapRef.name"),
    OF_CONTAINERS("env.valueFrom.configMapKeyRef.name"),
    "spec.volumes.configMap.name",
    "spec.volumes.projected.sources.configMap.name",
    NULL,
};
static const char *const account_paths[] = { "spec.serviceAccountName", NULL };
static const char *const claim_paths[] = { "spec.volumes.persistentVolumeClaim.claimName", NULL };
static const char *const resource_claim_paths[] = {
    "spec.resourceClaims.resourceClaimName", "status.extendedResourceClaimStatus.resourceClaimName", NULL };

static const struct type *pod_type(void)
{
    return &schema_types[T_core_v1_Pod];
}

/* A claim for an ephemeral volume is named after the pod and the volume. */
static bool has_ephemeral_claim(struct arena *a, const struct value *pod, struct str name)
{
    struct str pod_name = value_text(value_path(pod_type(), pod, "metadata.name"));
    const struct value *volumes = value_path(pod_type(), pod, "spec.volumes");
    for (uint32_t i = 0; volumes->kind == VALUE_LIST && i < volumes->n; i++) {
        const struct value *v = &volumes->items[i];
        if (value_slot(v, SLOT_core_v1_Volume_ephemeral)->kind != VALUE_STRUCT)
            continue;
        struct str volume = value_text(value_slot(v, SLOT_core_v1_Volume_name));
        if (str_eq(name, str_of(arena_printf(a, "%.*s-%.*s", STR_ARG(pod_name), STR_ARG(volume)))))
            return true;
    }
    return false;
}

/* A claim that was made from a template: the status tells its name, under the name that the pod has for it. */
static bool has_made_claim(const struct value *pod, struct str name)
{
    const struct value *wanted = value_path(pod_type(), pod, "spec.resourceClaims");
    const struct value *made = value_path(pod_type(), pod, "status.resourceClaimStatuses");
    for (uint32_t i = 0; made->kind == VALUE_LIST && i < made->n; i++) {
        const struct value *status = &made->items[i];
        if (!str_eq(value_text(value_slot(status, SLOT_core_v1_PodResourceClaimStatus_resourceClaimName)), name))
            continue;
        struct str inside = value_text(value_slot(status, SLOT_core_v1_PodResourceClaimStatus_name));
        for (uint32_t k = 0; wanted->kind == VALUE_LIST && k < wanted->n; k++)
            if (str_eq(value_text(value_slot(&wanted->items[k], SLOT_core_v1_PodResourceClaim_name)), inside))
                return true;
    }
    return false;
}

enum thing { SECRET, CONFIG_MAP, CLAIM, RESOURCE_CLAIM, ACCOUNT, POD, VOLUME, ATTACHMENT, SLICE };

static bool pod_refers(struct arena *a, const struct value *pod, enum thing thing, struct str name)
{
    switch (thing) {
    case SECRET:
        return refers_by(pod_type(), pod, secret_paths, name);
    case CONFIG_MAP:
        return refers_by(pod_type(), pod, config_map_paths, name);
    case ACCOUNT:
        return refers_by(pod_type(), pod, account_paths, name);
    case CLAIM:
        return refers_by(pod_type(), pod, claim_paths, name) || has_ephemeral_claim(a, pod, name);
    case RESOURCE_CLAIM:
        return refers_by(pod_type(), pod, resource_claim_paths, name) || has_made_claim(pod, name);
    default:
        return false;
    }
}

static bool is_on_node(const struct asking *k, const struct value *pod)
{
    return str_eq(value_text(value_path(pod_type(), pod, "spec.nodeName")), k->node);
}

static bool is_mirror(const struct value *pod)
{
    return value_member(value_path(pod_type(), pod, "metadata.annotations"), STR(MIRROR_POD)) != NULL;
}

static bool pods_refer(struct asking *k, enum thing thing, struct str namespace, struct str name)
{
    const struct value **pods;
    size_t n = namespace.n ? stored_list(k->objects, stored_resource("pods", ""), namespace, k->arena, &pods) : 0;
    for (size_t i = 0; i < n; i++)
        if (is_on_node(k, pods[i]) && !is_mirror(pods[i]) && pod_refers(k->arena, pods[i], thing, name))
            return true;
    return false;
}

/* ---- Volumes ---- */

static const struct {
    const char *name, *namespace;
    bool claims; /* without a namespace it is the claim's */
} volume_secrets[] = {
    { "spec.azureFile.secretName", "spec.azureFile.secretNamespace", true },
    { "spec.cephfs.secretRef.name", "spec.cephfs.secretRef.namespace", true },
    { "spec.cinder.secretRef.name", "spec.cinder.secretRef.namespace", false },
    { "spec.csi.nodeExpandSecretRef.name", "spec.csi.nodeExpandSecretRef.namespace", false },
    { "spec.csi.nodePublishSecretRef.name", "spec.csi.nodePublishSecretRef.namespace", false },
    { "spec.csi.nodeStageSecretRef.name", "spec.csi.nodeStageSecretRef.namespace", false },
    { "spec.flexVolume.secretRef.name", "spec.flexVolume.secretRef.namespace", true },
    { "spec.iscsi.secretRef.name", "spec.iscsi.secretRef.namespace", true },
    { "spec.rbd.secretRef.name", "spec.rbd.secretRef.namespace", true },
    { "spec.scaleIO.secretRef.name", "spec.scaleIO.secretRef.namespace", true },
    { "spec.storageos.secretRef.name", "spec.storageos.secretRef.namespace", false },
};

static bool volume_is_used(struct asking *k, const struct value *volume)
{
    const struct type *t = &schema_types[T_core_v1_PersistentVolume];
    struct str namespace = value_text(value_path(t, volume, "spec.claimRef.namespace"));
    return pods_refer(k, CLAIM, namespace, value_text(value_path(t, volume, "spec.claimRef.name")));
}

static bool volume_refers(const struct value *volume, struct str namespace, struct str name)
{
    const struct type *t = &schema_types[T_core_v1_PersistentVolume];
    for (size_t i = 0; i < sizeof(volume_secrets) / sizeof(volume_secrets[0]); i++) {
        if (!refers(t, volume, volume_secrets[i].name, name))
            continue;
        struct str ns = value_text(value_path(t, volume, volume_secrets[i].namespace));
        if (ns.n == 0 && volume_secrets[i].claims)
            ns = value_text(value_path(t, volume, "spec.claimRef.namespace"));
        if (str_eq(ns, namespace))
            return true;
    }
    return false;
}

static bool volumes_refer(struct asking *k, struct str namespace, struct str name)
{
    const struct value **volumes;
    size_t n = stored_list(k->objects, stored_resource("persistentvolumes", ""), STR(""), k->arena, &volumes);
    for (size_t i = 0; i < n; i++)
        if (volume_refers(volumes[i], namespace, name) && volume_is_used(k, volumes[i]))
            return true;
    return false;
}

/* ---- Relations ---- */

static bool names_node(struct asking *k, const char *plural, const char *group, struct str namespace)
{
    const struct resource *r = stored_resource(plural, group);
    const struct value *v = stored_get(k->objects, r, namespace, k->q->name);
    return v && refers(r->type, v, "spec.nodeName", k->node);
}

static bool is_related(struct asking *k, enum thing thing)
{
    struct str namespace = k->q->namespace, name = k->q->name;
    const struct value *v;
    switch (thing) {
    case POD:
        return names_node(k, "pods", "", namespace);
    case ATTACHMENT:
        return names_node(k, "volumeattachments", "storage.k8s.io", STR(""));
    case SLICE:
        return names_node(k, "resourceslices", "resource.k8s.io", STR(""));
    case VOLUME:
        v = stored_get(k->objects, stored_resource("persistentvolumes", ""), STR(""), name);
        return v && volume_is_used(k, v);
    case SECRET:
        return pods_refer(k, thing, namespace, name) || volumes_refer(k, namespace, name);
    default:
        return pods_refer(k, thing, namespace, name);
    }
}

static enum authz_verdict allow_related(struct asking *k, enum thing thing)
{
    if (k->q->name.n == 0)
        return deny(k, "No Object name found");
    if (is_related(k, thing))
        return AUTHZ_ALLOW;
    return deny(k, arena_printf(k->arena, "no relationship found between node '%.*s' and this object", STR_ARG(k->node)));
}

/* ---- One function for each resource that nodes share out among themselves ---- */

static const char *const reading[] = { "get", "list", "watch", NULL };
static const char *const owning[] = { "get", "create", "update", "patch", "delete", NULL };

static enum authz_verdict read_namespaced(struct asking *k, enum thing thing)
{
    if (!verb_is(k, reading))
        return deny(k, "can only read resources of this type");
    if (k->q->subresource.n)
        return deny(k, "cannot read subresource");
    if (k->q->namespace.n == 0)
        return deny(k, "can only read namespaced object of this type");
    return allow_related(k, thing);
}

static enum authz_verdict get_one(struct asking *k, enum thing thing)
{
    if (!str_is(k->q->verb, "get"))
        return deny(k, "can only get individual resources of this type");
    if (k->q->subresource.n)
        return deny(k, "cannot get subresource");
    return allow_related(k, thing);
}

static enum authz_verdict claim(struct asking *k, enum thing thing)
{
    static const char *const writing[] = { "update", "patch", NULL };
    if (!str_is(k->q->subresource, "status"))
        return get_one(k, thing);
    return verb_is(k, writing) ? allow_related(k, thing) : deny(k, "can only get/update/patch this type");
}

static enum authz_verdict account(struct asking *k, enum thing thing)
{
    if (str_is(k->q->verb, "get") && k->q->subresource.n == 0)
        return read_namespaced(k, thing);
    if (!str_is(k->q->verb, "create") || k->q->name.n == 0)
        return deny(k, "can only create tokens for individual service accounts");
    if (!str_is(k->q->subresource, "token"))
        return deny(k, "can only create token subresource of serviceaccount");
    return allow_related(k, thing);
}

/* What is named as the node is; of new objects the name is not known yet, admission looks at it. */
static enum authz_verdict own(struct asking *k, const char *otherwise)
{
    bool its_own = str_is(k->q->verb, "create") || str_eq(k->q->name, k->node);
    return its_own ? AUTHZ_ALLOW : deny(k, otherwise);
}

static enum authz_verdict lease(struct asking *k, enum thing thing)
{
    (void)thing;
    if (!verb_is(k, owning))
        return deny(k, "can only get, create, update, patch, or delete a node lease");
    if (!str_is(k->q->namespace, "kube-node-lease"))
        return deny(k, "can only access leases in the \"kube-node-lease\" system namespace");
    return own(k, "can only access node lease with the same name as the requesting node");
}

static enum authz_verdict csi_node(struct asking *k, enum thing thing)
{
    (void)thing;
    if (!verb_is(k, owning))
        return deny(k, "can only get, create, update, patch, or delete a CSINode");
    if (k->q->subresource.n)
        return deny(k, "cannot authorize CSINode subresources");
    return own(k, "can only access CSINode with the same name as the requesting node");
}

static bool selects_node(const struct asking *k, const char *field)
{
    const struct field_selector *s = k->q->fields;
    for (size_t i = 0; s && i < s->n; i++)
        if (!s->at[i].not_equal && str_is(s->at[i].field, field) && str_eq(s->at[i].value, k->node))
            return true;
    return false;
}

static enum authz_verdict slice(struct asking *k, enum thing thing)
{
    static const char *const by_name[] = { "get", "update", "patch", "delete", NULL };
    static const char *const by_selector[] = { "watch", "list", "deletecollection", NULL };
    if (k->q->subresource.n)
        return deny(k, "cannot authorize ResourceSlice subresources");
    if (str_is(k->q->verb, "create"))
        return AUTHZ_ALLOW; /* admission looks at the node's name */
    if (verb_is(k, by_name))
        return allow_related(k, thing);
    if (!verb_is(k, by_selector))
        return deny(k, "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, "
                       "delete, deletecollection");
    return selects_node(k, "spec.nodeName")
               ? AUTHZ_ALLOW
               : deny(k, "can only list/watch/deletecollection resourceslices with nodeName field selector");
}

/* Admission sees to it that a node writes its own object only. */
static enum authz_verdict node(struct asking *k, enum thing thing)
{
    static const char *const writing[] = { "create", "update", "patch", NULL };
    (void)thing;
    if (str_is(k->q->subresource, "status"))
        return verb_is(k, writing + 1) ? AUTHZ_ALLOW : AUTHZ_NO_OPINION;
    if (k->q->subresource.n)
        return AUTHZ_NO_OPINION;
    if (verb_is(k, writing) || (verb_is(k, reading) && str_eq(k->q->name, k->node)))
        return AUTHZ_ALLOW;
    if (!verb_is(k, reading))
        return AUTHZ_NO_OPINION;
    if (k->q->name.n == 0)
        return deny(k, arena_printf(k->arena, "node '%.*s' cannot read all nodes, only its own Node object",
                                    STR_ARG(k->node)));
    return deny(k, arena_printf(k->arena, "node '%.*s' cannot read '%.*s', only its own Node object", STR_ARG(k->node),
                                STR_ARG(k->q->name)));
}

static enum authz_verdict read_pods(struct asking *k, enum thing thing)
{
    if (str_is(k->q->verb, "get"))
        return get_one(k, thing);
    if (selects_node(k, "spec.nodeName"))
        return AUTHZ_ALLOW;
    return k->q->name.n ? allow_related(k, thing)
                        : deny(k, "can only list/watch pods with spec.nodeName field selector");
}

/* Admission sees to it that mirror pods, their status and evictions are of this node. */
static enum authz_verdict pod(struct asking *k, enum thing thing)
{
    static const struct {
        const char *subresource, *verb;
    } allowed[] = { { "", "create" }, { "", "delete" }, { "status", "update" }, { "status", "patch" },
                    { "eviction", "create" } };
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
        if (str_is(k->q->subresource, allowed[i].subresource) && str_is(k->q->verb, allowed[i].verb))
            return AUTHZ_ALLOW;
    return k->q->subresource.n == 0 && verb_is(k, reading) ? read_pods(k, thing) : AUTHZ_NO_OPINION;
}

static enum authz_verdict nobody(struct asking *k, enum thing thing)
{
    (void)k;
    (void)thing;
    return AUTHZ_NO_OPINION;
}

static const struct {
    const char *group, *resource;
    enum authz_verdict (*decide)(struct asking *k, enum thing thing);
    enum thing thing;
} shared_out[] = {
    { "", "configmaps", read_namespaced, CONFIG_MAP },
    { "", "nodes", node, 0 },
    { "", "persistentvolumeclaims", claim, CLAIM },
    { "", "persistentvolumes", get_one, VOLUME },
    { "", "pods", pod, POD },
    { "", "secrets", read_namespaced, SECRET },
    { "", "serviceaccounts", account, ACCOUNT },
    { "certificates.k8s.io", "podcertificaterequests", nobody, 0 },
    { "coordination.k8s.io", "leases", lease, 0 },
    { "resource.k8s.io", "resourceclaims", get_one, RESOURCE_CLAIM },
    { "resource.k8s.io", "resourceslices", slice, SLICE },
    { "storage.k8s.io", "csinodes", csi_node, 0 },
    { "storage.k8s.io", "volumeattachments", get_one, ATTACHMENT },
};

enum authz_verdict authz_node_decide(struct stored *o, const struct rbac_rules *rules, struct arena *a,
                                     const struct authz_attributes *q, struct str *ret_reason)
{
    struct asking k = { o, rules, a, q, authz_node_of(q->user), STR("") };
    enum authz_verdict verdict = AUTHZ_NO_OPINION;
    *ret_reason = STR("");
    if (!k.node.p)
        return AUTHZ_NO_OPINION;
    if (k.node.n == 0) {
        *ret_reason = str_of(arena_printf(a, "unknown node for user \"%.*s\"", STR_ARG(q->user->name)));
        return AUTHZ_NO_OPINION;
    }
    for (size_t i = 0; q->is_resource && i < sizeof(shared_out) / sizeof(shared_out[0]); i++)
        if (str_is(q->resource, shared_out[i].resource) && str_is(q->group, shared_out[i].group)) {
            verdict = shared_out[i].decide(&k, shared_out[i].thing);
            *ret_reason = k.reason;
            return verdict;
        }
    return rbac_rules_allow(rules, q) ? AUTHZ_ALLOW : AUTHZ_NO_OPINION;
}
