/* tests/unit/test_admission.c - the admission chain: which plugins are on, what they ask others, what they store along.
 *
 * What plugins answer is compared with a real server's answers in test_admission_golden.c; here is what that cannot show. */
#include "tests/unit/admission_world.h"

/* ---- Names ---- */

static const struct {
    const char *what;
    const char *enable[4], *disable[4];
    const char *message;
} names[] = {
    { "none", { NULL }, { NULL }, NULL },
    { "some", { "NodeRestriction", "AlwaysAdmit" }, { "PodSecurity" }, NULL },
    { "those that have nothing to do", { "MutatingAdmissionWebhook", "ValidatingAdmissionPolicy", "PodGroupProtection" }, { "MutatingAdmissionPolicy" }, NULL },
    { "unknown", { "Nope" }, { NULL }, "enable-admission-plugins plugin \"Nope\" is unknown" },
    { "unknown, and off", { NULL }, { "nodeRestriction" }, "disable-admission-plugins plugin \"nodeRestriction\" is unknown" },
    { "on and off", { "Priority", "NodeRestriction" }, { "NodeRestriction", "Priority" },
      "[NodeRestriction Priority] in enable-admission-plugins and disable-admission-plugins overlapped" },
    { "several faults", { "A", "B" }, { "B" },
      "[enable-admission-plugins plugin \"A\" is unknown, enable-admission-plugins plugin \"B\" is unknown, "
      "disable-admission-plugins plugin \"B\" is unknown, [B] in enable-admission-plugins and disable-admission-plugins overlapped]" },
    { "not built", { "EventRateLimit" }, { NULL }, "enable-admission-plugins plugin \"EventRateLimit\" is not implemented" },
    { "not built, and off", { NULL }, { "ImagePolicyWebhook" }, NULL },
};

TEST(names_are_checked)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct err e;
        err_init(&e, &a);
        struct admission *chain = NULL;
        enum err_code rc = admission_new(&(struct admission_options){ .enable = names[i].enable, .disable = names[i].disable }, &chain, &e);
        CHECK_INT(names[i].what, rc != ERR_OK, names[i].message != NULL);
        if (rc)
            CHECK_TEXT(names[i].what, e.message, names[i].message);
        admission_free(chain);
        arena_fini(&a);
    }
}

/* ---- Requests ---- */

#define POD(name, meta, spec) "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name "\"" meta "},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]" spec "}}"
#define IN(ns) ",\"namespace\":\"" ns "\""

static const char *const state[] = {
    "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"},\"status\":{\"phase\":\"Active\"}}",
    "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"bad\",\"labels\":{\"pod-security.kubernetes.io/enforce\":\"weak\"}}}",
    "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"sel\",\"annotations\":{\"scheduler.alpha.kubernetes.io/node-selector\":\"a=b=c\"}}}",
    "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"sel2\",\"annotations\":{\"scheduler.alpha.kubernetes.io/node-selector\":\"-a=b\"}}}",
    "{\"kind\":\"ServiceAccount\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"default\",\"namespace\":\"a\"}}",
    "{\"kind\":\"ServiceAccount\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"default\",\"namespace\":\"bad\"}}",
    "{\"kind\":\"ServiceAccount\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"strict\",\"namespace\":\"a\",\"annotations\":{\"kubernetes.io/enforce-mountable-secrets\":\"T\"}}}",
    "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n1\",\"uid\":\"u1\",\"labels\":{\"topology.kubernetes.io/zone\":\"z\",\"topology.kubernetes.io/region\":\"r\",\"x\":\"y\"}}}",
    "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"win\",\"labels\":{\"kubernetes.io/os\":\"windows\"}}}",
    POD("p", IN("a") ",\"uid\":\"up\",\"resourceVersion\":\"1\"", ",\"serviceAccountName\":\"strict\",\"nodeName\":\"n1\""),
    POD("w", IN("a"), ",\"nodeName\":\"win\""),
    POD("lost", IN("a"), ",\"nodeName\":\"gone\""),
    "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"m\",\"namespace\":\"a\",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\",\"uid\":\"1\",\"blockOwnerDeletion\":true}]}}",
    "{\"kind\":\"CertificateSigningRequest\",\"apiVersion\":\"certificates.k8s.io/v1\",\"metadata\":{\"name\":\"r\"},\"spec\":{\"signerName\":\"x.y/z\"}}",
    "{\"kind\":\"PersistentVolumeClaim\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"c\",\"namespace\":\"a\"},\"spec\":{\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}},\"status\":{\"phase\":\"Pending\"}}",
    "{\"kind\":\"CSIDriver\",\"apiVersion\":\"storage.k8s.io/v1\",\"metadata\":{\"name\":\"d\"},\"spec\":{\"tokenRequests\":[{\"audience\":\"vault\"}]}}",
    POD("csi", IN("a") ",\"uid\":\"uc\"", ",\"nodeName\":\"n1\",\"volumes\":[{\"name\":\"v\",\"csi\":{\"driver\":\"d\"}}]"),
};

#define OWNED(by, rest) "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"m\",\"ownerReferences\":[" by "]" rest "}}"
#define OWNER(kind, uid, rest) "{\"apiVersion\":\"v1\",\"kind\":\"" kind "\",\"name\":\"p\",\"uid\":\"" uid "\"" rest "}"
#define BLOCKS ",\"blockOwnerDeletion\":true"
#define TOKEN(name, uid, audience) "{\"spec\":{\"audiences\":[\"" audience "\"],\"boundObjectRef\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"name\":\"" name "\",\"uid\":\"" uid "\"}}}"

static const struct {
    const char *what;
    struct asked asked;
    const char *may;     /* what the user may do besides: "verb resource name", with commas; NULL: all */
    const char *message; /* NULL: allowed */
    const char *path, *value; /* of the object then; as JSON of a plain value */
    bool node;
} rows[] = {
    { "labels of the node come with a binding",
      { "pods", "", "binding", ADMIT_CREATE, STR("a"), STR("q"), STR("{\"metadata\":{\"name\":\"q\",\"labels\":{\"k\":\"v\"}},\"target\":{\"kind\":\"Node\",\"name\":\"n1\"}}") },
      NULL, NULL, "metadata.labels", "{\"k\":\"v\",\"topology.kubernetes.io/region\":\"r\",\"topology.kubernetes.io/zone\":\"z\"}" },
    { "not when something else is the target",
      { "pods", "", "binding", ADMIT_CREATE, STR("a"), STR("q"), STR("{\"metadata\":{\"name\":\"q\"},\"target\":{\"kind\":\"\",\"name\":\"n1\"}}") },
      NULL, NULL, "metadata.labels", "null" },
    { "nor for a node that is not there",
      { "pods", "", "binding", ADMIT_CREATE, STR("a"), STR("q"), STR("{\"metadata\":{\"name\":\"q\"},\"target\":{\"kind\":\"Node\",\"name\":\"n7\"}}") },
      NULL, NULL, "metadata.labels", "null" },
    { "labels that nobody understands are strict",
      { "pods", "", NULL, ADMIT_CREATE, STR("bad"), STR(""), STR(POD("p", "", ",\"hostNetwork\":true")) }, NULL,
      "pods \"p\" is forbidden: violates PodSecurity \"restricted:latest\": host namespaces (hostNetwork=true), allowPrivilegeEscalation != false "
      "(container \"c\" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container \"c\" must set "
      "securityContext.capabilities.drop=[\"ALL\"]), runAsNonRoot != true (pod or container \"c\" must set securityContext.runAsNonRoot=true), "
      "seccompProfile (pod or container \"c\" must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")" },
    { "a resize on a node of another system",
      { "pods", "", "resize", ADMIT_UPDATE, STR("a"), STR("w"), STR(POD("w", "", ",\"nodeName\":\"win\",\"hostNetwork\":true")) }, NULL,
      "pods \"w\" is forbidden: pod resize is only supported on linux nodes, node \"win\" is \"windows\"" },
    { "a resize on a node that is gone",
      { "pods", "", "resize", ADMIT_UPDATE, STR("a"), STR("lost"), STR(POD("lost", "", ",\"nodeName\":\"gone\",\"hostNetwork\":true")) }, NULL,
      "pods \"lost\" is forbidden: node \"gone\" not found" },
    { "a change of how many containers there are",
      { "pods", "", NULL, ADMIT_UPDATE, STR("a"), STR("p"),
        STR("{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"},{\"name\":\"d\",\"image\":\"i\"}]}}") },
      NULL, NULL, NULL, NULL },
    { "a claim that is not bound yet does not grow",
      { "persistentvolumeclaims", "", NULL, ADMIT_UPDATE, STR("a"), STR("c"), STR("{\"metadata\":{\"name\":\"c\"},\"spec\":{\"resources\":{\"requests\":{\"storage\":\"2Gi\"}}}}") },
      NULL, "persistentvolumeclaims \"c\" is forbidden: Only bound persistent volume claims can be expanded" },
    { "a secret in an ephemeral container",
      { "pods", "", "ephemeralcontainers", ADMIT_UPDATE, STR("a"), STR("p"),
        STR(POD("p", "", ",\"serviceAccountName\":\"strict\",\"ephemeralContainers\":[{\"name\":\"e\",\"envFrom\":[{\"secretRef\":{\"name\":\"s\"}}]}]")) }, NULL,
      "ephemeral container e with envFrom referencing secret.secretName=\"s\" is not allowed because service account strict does not reference that secret" },
    { "a selector of the namespace that is none",
      { "pods", "", NULL, ADMIT_CREATE, STR("sel"), STR(""), STR(POD("p", "", "")) }, NULL, "pods \"p\" is forbidden: error looking up service account sel/default: serviceaccount \"default\" not found" },
    /* owners */
    { "an owner", { "configmaps", "", NULL, ADMIT_CREATE, STR("a"), STR(""), STR(OWNED(OWNER("Pod", "1", ""), "")) }, "", NULL, NULL, NULL },
    { "an owner that is held up", { "configmaps", "", NULL, ADMIT_CREATE, STR("a"), STR(""), STR(OWNED(OWNER("Pod", "1", BLOCKS), "")) }, "",
      "configmaps \"m\" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: no, <nil>" },
    { "by who may", { "configmaps", "", NULL, ADMIT_CREATE, STR("a"), STR(""), STR(OWNED(OWNER("Pod", "1", BLOCKS), "")) }, "update pods/finalizers p", NULL, NULL, NULL },
    { "by who may hold up anything", { "configmaps", "", NULL, ADMIT_CREATE, STR("a"), STR(""), STR(OWNED(OWNER("Pod", "1", BLOCKS), "")) }, "update */finalizers *", NULL, NULL, NULL },
    { "an owner of no kind", { "configmaps", "", NULL, ADMIT_CREATE, STR("a"), STR(""), STR(OWNED(OWNER("Cat", "1", BLOCKS), "")) }, "",
      "configmaps \"m\" is forbidden: cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion v1 Kind Cat: "
      "no matches for kind \"Cat\" in version \"v1\"" },
    { "owners that stay", { "configmaps", "", NULL, ADMIT_UPDATE, STR("a"), STR("m"), STR(OWNED(OWNER("Pod", "1", BLOCKS), "")) }, "", NULL, NULL, NULL },
    { "another owner, of who may not delete", { "configmaps", "", NULL, ADMIT_UPDATE, STR("a"), STR("m"), STR(OWNED(OWNER("Pod", "2", ""), "")) }, "",
      "configmaps \"m\" is forbidden: cannot set an ownerRef on a resource you can't delete: no, <nil>" },
    { "another owner, of who may delete", { "configmaps", "", NULL, ADMIT_UPDATE, STR("a"), STR("m"), STR(OWNED(OWNER("Pod", "2", ""), "")) }, "delete configmaps m", NULL, NULL, NULL },
    { "one more owner, and one that was held up before",
      { "configmaps", "", NULL, ADMIT_UPDATE, STR("a"), STR("m"), STR(OWNED(OWNER("Pod", "1", BLOCKS) "," OWNER("Pod", "2", ""), "")) }, "delete configmaps m", NULL, NULL, NULL },
    /* certificates */
    { "approval", { "certificatesigningrequests", "certificates.k8s.io", "approval", ADMIT_UPDATE, STR(""), STR("r"), STR("{\"metadata\":{\"name\":\"r\"}}") }, "approve signers x.y/z", NULL, NULL, NULL },
    { "approval of all signers of a domain", { "certificatesigningrequests", "certificates.k8s.io", "approval", ADMIT_UPDATE, STR(""), STR("r"), STR("{\"metadata\":{\"name\":\"r\"}}") }, "approve signers x.y/*", NULL, NULL, NULL },
    { "approval by somebody else", { "certificatesigningrequests", "certificates.k8s.io", "approval", ADMIT_UPDATE, STR(""), STR("r"), STR("{\"metadata\":{\"name\":\"r\"}}") }, "approve signers a.b/c,sign signers x.y/z",
      "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: user not permitted to approve requests with signerName \"x.y/z\"" },
    { "a status without a certificate", { "certificatesigningrequests", "certificates.k8s.io", "status", ADMIT_UPDATE, STR(""), STR("r"), STR("{\"metadata\":{\"name\":\"r\"}}") }, "", NULL, NULL, NULL },
    { "a certificate", { "certificatesigningrequests", "certificates.k8s.io", "status", ADMIT_UPDATE, STR(""), STR("r"), STR("{\"metadata\":{\"name\":\"r\"},\"status\":{\"certificate\":\"eA==\"}}") }, "sign signers x.y/*", NULL, NULL, NULL },
    { "a certificate by somebody else", { "certificatesigningrequests", "certificates.k8s.io", "status", ADMIT_UPDATE, STR(""), STR("r"), STR("{\"metadata\":{\"name\":\"r\"},\"status\":{\"certificate\":\"eA==\"}}") }, "",
      "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: user not permitted to sign requests with signerName \"x.y/z\"" },
    { "no certificate request", { "certificatesigningrequests", "certificates.k8s.io", NULL, ADMIT_CREATE, STR(""), STR(""), STR("{\"metadata\":{\"name\":\"q\"},\"spec\":{\"request\":\"eA==\",\"signerName\":\"kubernetes.io/kube-apiserver-client\"}}") }, NULL,
      "certificatesigningrequests.certificates.k8s.io \"q\" is forbidden: failed to parse CSR: PEM block type must be CERTIFICATE REQUEST" },
    { "another block before the request", { "certificatesigningrequests", "certificates.k8s.io", NULL, ADMIT_CREATE, STR(""), STR(""), STR("{\"metadata\":{\"name\":\"q\"},\"spec\":{\"request\":"
      "\"LS0tLS1CRUdJTiBYLS0tLS0KZUE9PQotLS0tLUVORCBYLS0tLS0KLS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIaE1JR0hBZ0VBTUNVeEZ6QVZCZ05WQkFvTURuTjVjM1JsYlRwdFlYTjBaWEp6TVFvd0NBWURWUVFEREFGNApNRmt3RXdZSEtvWkl6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUVVSERRVTBVaGVrU2VmWmNOQWJkSk9VbVc3alRVCkQrbi9nU000UWdXNkEweW9vbmR2TERqY0QrNC9nMUtMUWM0eUpCWnVEQU5hWnZwYWM4K2VFZXE0NktBQU1Bb0cKQ0NxR1NNNDlCQU1DQTBrQU1FWUNJUURKQmlYREE0Z2RxblZoYnZZZmdtVzlvbDF3MXJ5UU56aHR4T3J4ck54TgpQUUloQUo2Kzc5NC9ZSElieXRCUVF3eFhTOG8zQThiREJ1NmJiazZxRVZaeFdMU0YKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==\",\"signerName\":\"kubernetes.io/kube-apiserver-client\"}}") }, NULL,
      "certificatesigningrequests.certificates.k8s.io \"q\" is forbidden: failed to parse CSR: PEM block type must be CERTIFICATE REQUEST" },
    /* nodes */
    { "a token for nobody in particular", { "serviceaccounts", "", "token", ADMIT_CREATE, STR("a"), STR("default"), STR(TOKEN("p", "up", "")) }, "",
      "serviceaccounts \"default\" is forbidden: audience \"\" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience", NULL, NULL, true },
    { "a token for whom the node may ask", { "serviceaccounts", "", "token", ADMIT_CREATE, STR("a"), STR("default"), STR(TOKEN("p", "up", "any")) },
      "request-serviceaccounts-token-audience any default", NULL, NULL, NULL, true },
    { "a token for whom a driver asks", { "serviceaccounts", "", "token", ADMIT_CREATE, STR("a"), STR("default"), STR(TOKEN("csi", "uc", "vault")) }, "", NULL, NULL, NULL, true },
    { "a token for a pod elsewhere", { "serviceaccounts", "", "token", ADMIT_CREATE, STR("a"), STR("default"), STR(TOKEN("w", "", "")) }, "",
      "serviceaccounts \"default\" is forbidden: node requested token with a pod binding without a uid", NULL, NULL, true },
    { "a token for a pod that is not there", { "serviceaccounts", "", "token", ADMIT_CREATE, STR("a"), STR("default"), STR(TOKEN("x", "u", "")) }, "", "pod \"x\" not found", NULL, NULL, true },
    { "a mirror pod", { "pods", "", NULL, ADMIT_CREATE, STR("a"), STR(""),
      STR(POD("s", ",\"annotations\":{\"kubernetes.io/config.mirror\":\"x\"},\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n1\",\"uid\":\"u1\",\"controller\":true}]", ",\"nodeName\":\"n1\"")) },
      NULL, NULL, "spec.serviceAccountName", "null", true },
    { "a mirror pod with a volume of the API", { "pods", "", NULL, ADMIT_CREATE, STR("a"), STR(""),
      STR(POD("s", ",\"annotations\":{\"kubernetes.io/config.mirror\":\"x\"},\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n1\",\"uid\":\"u1\",\"controller\":true}]",
              ",\"nodeName\":\"n1\",\"volumes\":[{\"name\":\"v\",\"projected\":{\"sources\":[{\"configMap\":{\"name\":\"m\"}}]}}]")) },
      NULL, "pods \"s\" is forbidden: node \"n1\" can not create pods that reference configmaps (via projected volumes)", NULL, NULL, true },
    { "an owner that was replaced", { "pods", "", NULL, ADMIT_CREATE, STR("a"), STR(""),
      STR(POD("s", ",\"annotations\":{\"kubernetes.io/config.mirror\":\"x\"},\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n1\",\"uid\":\"old\",\"controller\":true}]", ",\"nodeName\":\"n1\"")) },
      NULL, "pods \"s\" is forbidden: node n1 UID mismatch: expected old got u1", NULL, NULL, true },
};

static enum authz_verdict may(void *context, struct arena *a, const struct authz_attributes *q, struct str *ret_reason)
{
    const char *allowed = *(const char *const *)context;
    const char *asked = arena_printf(a, "%.*s%s%.*s%s%.*s %.*s", STR_ARG(q->verb), q->resource.n ? " " : "", STR_ARG(q->resource),
                                     q->subresource.n ? "/" : "", STR_ARG(q->subresource), STR_ARG(q->name));
    *ret_reason = STR("no");
    for (struct str left = str_of(allowed); allowed && left.n;) {
        struct str one = str_first(left, str_index(left, ','));
        if (str_eq(one, str_of(asked)))
            return AUTHZ_ALLOW;
        left = str_from(left, one.n + 1);
    }
    return allowed ? AUTHZ_NO_OPINION : AUTHZ_ALLOW;
}

static void check_field(struct admission_world *w, const struct admission_request *r, const char *what, const char *path, const char *want)
{
    struct strbuf json;
    struct value plain, wanted;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode(&json, r->type, &r->object);
    if (json_decode_plain(&w->arena, WORK_OWN, arena_str(&w->arena, strbuf_str(&json)), &plain, &w->e) ||
        json_decode_plain(&w->arena, WORK_OWN, str_of(want), &wanted, &w->e))
        FAIL("%s: %s", what, w->e.message);
    const struct value *got = value_path(NULL, &plain, path);
    CHECK_STR(what, plain_text(&w->arena, got->kind == VALUE_ABSENT ? &(struct value){ .kind = VALUE_NULL } : got), plain_text(&w->arena, &wanted));
    strbuf_fini(&json);
}

TEST(plugins_change_and_refuse)
{
    static const char *const enable[] = { "NodeRestriction", "OwnerReferencesPermissionEnforcement", "NamespaceExists", NULL };
    static const struct str groups[] = { STR("system:nodes") };
    const char *allowed = NULL;
    struct admission_world w;
    admission_world_init(&w, &(struct admission_options){ .enable = enable, .authorize = may, .authorize_context = &allowed });
    for (size_t i = 0; i < sizeof(state) / sizeof(state[0]); i++)
        admission_world_put(&w, str_of(state[i]));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct admission_request r;
        allowed = rows[i].may;
        w.user = (struct user){ .name = rows[i].node ? STR("system:node:n1") : STR("admin"), .groups = { groups, rows[i].node } };
        enum err_code rc = admission_world_ask(&w, &rows[i].asked, &r);
        if (rc)
            CHECK_TEXT(rows[i].what, w.e.message, rows[i].message ? rows[i].message : "allowed");
        else if (rows[i].message)
            FAIL("%s: allowed", rows[i].what);
        if (rows[i].path)
            check_field(&w, &r, rows[i].what, rows[i].path, rows[i].value);
    }
    admission_world_fini(&w);
}

static const struct {
    const char *what, *namespace, *message;
    enum err_code code;
} selectors[] = {
    { "too many equals signs", "sel", "invalid selector: [a b c]", ERR_UNKNOWN },
    { "a key that is none", "sel2",
      "<nil>: Invalid value: \"-a\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
      "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')", ERR_UNKNOWN },
    { "no such namespace", "nowhere", "namespaces \"nowhere\" not found", ERR_NOT_FOUND },
};

TEST(selectors_of_namespaces_are_read)
{
    static const char *const enable[] = { "PodNodeSelector", NULL }, *const disable[] = { "ServiceAccount", "NamespaceLifecycle", NULL };
    struct admission_world w;
    admission_world_init(&w, &(struct admission_options){ .enable = enable, .disable = disable });
    for (size_t i = 0; i < sizeof(state) / sizeof(state[0]); i++)
        admission_world_put(&w, str_of(state[i]));
    for (size_t i = 0; i < sizeof(selectors) / sizeof(selectors[0]); i++) {
        struct admission_request r;
        struct asked asked = { "pods", "", NULL, ADMIT_CREATE, str_of(selectors[i].namespace), STR(""), STR(POD("p", "", "")) };
        CHECK_INT(selectors[i].what, admission_world_ask(&w, &asked, &r), selectors[i].code);
        CHECK_TEXT(selectors[i].what, w.e.message, selectors[i].message);
    }
    admission_world_fini(&w);
}

/* ---- Quotas ---- */

#define QUOTA(name, hard, used) "{\"kind\":\"ResourceQuota\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name "\",\"namespace\":\"a\",\"uid\":\"u\"},\"spec\":{\"hard\":{\"x\":\"1\"}},\"status\":{\"hard\":{" hard "},\"used\":{" used "}}}"

static void check_also(struct admission_world *w, const struct admission_request *r, uint32_t i, const char *key, const char *used)
{
    const struct admission_also *also = &r->also[i];
    CHECK_STR("key", also->key, str_of(key));
    CHECK_INT(key, also->revision, store_get(w->store, also->key)->mod_revision);
    CHECK_INT(key, also->deletes, false);
    struct value plain;
    if (json_decode_plain(&w->arena, WORK_OWN, also->value, &plain, &w->e))
        FAIL("%s", w->e.message);
    CHECK_STR(key, plain_text(&w->arena, value_path(NULL, &plain, "status.used")), str_of(used));
    CHECK_STR(key, value_text(value_path(NULL, &plain, "metadata.uid")), STR("u"));
    CHECK_STR(key, value_text(value_path(NULL, &plain, "metadata.resourceVersion")),
              str_of(arena_printf(&w->arena, "%llu", (unsigned long long)store_next_revision(w->store))));
}

TEST(what_is_used_is_stored_along)
{
    struct admission_world w;
    struct admission_request r;
    admission_world_init(&w, &(struct admission_options){ 0 });
    for (size_t i = 0; i < sizeof(state) / sizeof(state[0]); i++)
        admission_world_put(&w, str_of(state[i]));
    admission_world_put(&w, STR(QUOTA("q1", "\"pods\":\"5\",\"count/pods\":\"5\",\"services\":\"1\"", "\"pods\":\"1\",\"count/pods\":\"2\",\"services\":\"1\"")));
    admission_world_put(&w, STR(QUOTA("q2", "\"requests.cpu\":\"2\"", "\"requests.cpu\":\"250m\"")));
    admission_world_put(&w, STR(QUOTA("q3", "\"secrets\":\"5\"", "\"secrets\":\"1\"")));
    struct asked asked = { "pods", "", NULL, ADMIT_CREATE, STR("a"), STR(""),
                           STR("{\"metadata\":{\"name\":\"n\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"250m\"}}}]}}") };
    CHECK_INT("created", admission_world_ask(&w, &asked, &r), ERR_OK);
    CHECK_INT("two quotas change", r.n_also, 2);
    check_also(&w, &r, 0, "/registry/resourcequotas/a/q1", "{\"count/pods\":\"3\",\"pods\":\"2\",\"services\":\"1\"}");
    check_also(&w, &r, 1, "/registry/resourcequotas/a/q2", "{\"requests.cpu\":\"500m\"}");
    CHECK_INT("the same once more, before it is stored", admission_validate(w.chain, &r, &w.e), ERR_OK);
    CHECK_INT("still two", r.n_also, 2);
    check_also(&w, &r, 1, "/registry/resourcequotas/a/q2", "{\"requests.cpu\":\"750m\"}");
    asked.dry_run = true;
    CHECK_INT("tried", admission_world_ask(&w, &asked, &r), ERR_OK);
    CHECK_INT("nothing is stored then", r.n_also, 0);
    struct asked service = { "services", "", NULL, ADMIT_CREATE, STR("a"), STR(""), STR("{\"metadata\":{\"name\":\"s\"},\"spec\":{\"ports\":[{\"port\":1}]}}") };
    CHECK_INT("too many", admission_world_ask(&w, &service, &r), ERR_FORBIDDEN);
    CHECK_TEXT("services", w.e.message, "services \"s\" is forbidden: exceeded quota: q1, requested: services=1, used: services=1, limited: services=1");
    CHECK_TEXT("for the details", w.e.kind, "services");
    CHECK_TEXT("for the details", w.e.name, "s");
    admission_world_put(&w, STR("{\"kind\":\"Service\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"np\",\"namespace\":\"a\"},\"spec\":{\"type\":\"NodePort\",\"ports\":[{\"port\":1},{\"port\":2}]}}"));
    admission_world_put(&w, STR(QUOTA("q4", "\"services.nodeports\":\"9\"", "\"services.nodeports\":\"2\"")));
    struct asked less = { "services", "", NULL, ADMIT_UPDATE, STR("a"), STR("np"), STR("{\"metadata\":{\"name\":\"np\"},\"spec\":{\"type\":\"NodePort\",\"ports\":[{\"port\":1}]}}") };
    CHECK_INT("fewer ports", admission_world_ask(&w, &less, &r), ERR_OK);
    CHECK_INT("what becomes free is not given back here", r.n_also, 0);
    less.object = STR("{\"metadata\":{\"name\":\"np\"},\"spec\":{\"type\":\"NodePort\",\"ports\":[{\"port\":1},{\"port\":2},{\"port\":3}]}}");
    CHECK_INT("more ports", admission_world_ask(&w, &less, &r), ERR_OK);
    CHECK_INT("what is more is taken", r.n_also, 1);
    check_also(&w, &r, 0, "/registry/resourcequotas/a/q4", "{\"services.nodeports\":\"3\"}");
    struct asked event = { "events", "", NULL, ADMIT_CREATE, STR("a"), STR(""), STR("{\"metadata\":{\"name\":\"s\"}}") };
    CHECK_INT("events are not counted", admission_world_ask(&w, &event, &r), ERR_OK);
    admission_world_fini(&w);
}

TEST(quotas_of_one_object_are_not_without_end)
{
    enum { MANY = 40, CHANGED_MAX = 24 };
    struct admission_world w;
    struct admission_request r;
    struct asked asked = { "secrets", "", NULL, ADMIT_CREATE, STR("a"), STR(""), STR("{\"metadata\":{\"name\":\"s\"}}") };
    admission_world_init(&w, &(struct admission_options){ 0 });
    admission_world_put(&w, str_of(state[0]));
    for (int i = 0; i < MANY; i++) {
        const char *json = arena_printf(&w.arena, "{\"kind\":\"ResourceQuota\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"q%02d\",\"namespace\":\"a\"},"
                                        "\"status\":{\"hard\":{\"secrets\":\"9\"},\"used\":{\"secrets\":\"0\"}}}", i);
        admission_world_put(&w, str_of(json));
        CHECK_INT(json, admission_world_ask(&w, &asked, &r), i < CHANGED_MAX ? ERR_OK : ERR_FORBIDDEN);
    }
    CHECK_TEXT("too many", w.e.message, "secrets \"s\" is forbidden: more than 24 quotas would change");
    admission_world_fini(&w);
}

/* ---- Namespaces that enforce more ---- */

#define NAMESPACE(labels) "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"safe\",\"labels\":{" labels "}}}"
#define ENFORCE "\"pod-security.kubernetes.io/enforce\":"
#define VERSION ",\"pod-security.kubernetes.io/enforce-version\":"

static const struct {
    const char *what, *old, *new;
    uint32_t n_warnings;
} levels[] = {
    { "more", NAMESPACE(ENFORCE "\"baseline\""), NAMESPACE(ENFORCE "\"restricted\""), 3 },
    { "less", NAMESPACE(ENFORCE "\"restricted\""), NAMESPACE(ENFORCE "\"baseline\""), 0 },
    { "less, but of another release", NAMESPACE(ENFORCE "\"restricted\""), NAMESPACE(ENFORCE "\"baseline\"" VERSION "\"v1.20\""), 2 },
    { "nothing any more", NAMESPACE(ENFORCE "\"restricted\""), NAMESPACE(ENFORCE "\"privileged\"" VERSION "\"v1.20\""), 0 },
    { "the same", NAMESPACE(ENFORCE "\"restricted\""), NAMESPACE(ENFORCE "\"restricted\",\"a\":\"b\""), 0 },
};

TEST(pods_that_are_there_are_told_of)
{
    struct admission_world w;
    struct admission_request r;
    admission_world_init(&w, &(struct admission_options){ 0 });
    admission_world_put(&w, STR(POD("p1", IN("safe"), "")));
    admission_world_put(&w, STR(POD("p2", IN("safe"), ",\"hostPID\":true")));
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        admission_world_put(&w, str_of(levels[i].old));
        struct asked asked = { "namespaces", "", NULL, ADMIT_UPDATE, STR(""), STR("safe"), str_of(levels[i].new) };
        CHECK_INT(levels[i].what, admission_world_ask(&w, &asked, &r), ERR_OK);
        CHECK_INT(levels[i].what, w.warnings.n, levels[i].n_warnings);
    }
    admission_world_fini(&w);
}

/* ---- Metrics ---- */

TEST(durations_are_counted)
{
    static const char *const enable[] = { "AlwaysDeny", NULL };
    struct metrics *m = metrics_new();
    struct admission_world w;
    struct admission_request r;
    admission_world_init(&w, &(struct admission_options){ .enable = enable, .metrics = m });
    struct asked asked = { "nodes", "", NULL, ADMIT_CREATE, STR(""), STR(""), STR("{\"metadata\":{\"generateName\":\"n-\"}}") };
    CHECK_INT("denied", admission_world_ask(&w, &asked, &r), ERR_FORBIDDEN);
    CHECK_TEXT("denied", w.e.message, "nodes \"n-\" is forbidden: admission control is denying all modifications");
    struct strbuf page;
    strbuf_init(&page, STRBUF_NO_MAX);
    metrics_write(m, &page);
    static const char *const lines[] = {
        "apiserver_admission_controller_admission_duration_seconds_count{name=\"AlwaysDeny\",operation=\"CREATE\",rejected=\"true\",type=\"admit\"} 1\n",
        "apiserver_admission_controller_admission_duration_seconds_count{name=\"TaintNodesByCondition\",operation=\"CREATE\",rejected=\"false\",type=\"admit\"} 1\n",
        "apiserver_admission_step_admission_duration_seconds_count{operation=\"CREATE\",rejected=\"true\",type=\"admit\"} 1\n",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        if (!strstr(strbuf_cstr(&page), lines[i]))
            FAIL("no %s in\n%s", lines[i], strbuf_cstr(&page));
    strbuf_fini(&page);
    admission_world_fini(&w);
    metrics_free(m);
}

/* ---- Large pods ---- */

/* As many containers and resources as a body can have, all of them in limit ranges, quotas and messages. */
TEST(large_pods_cost_in_proportion)
{
    enum { MANY = 20000 };
    static const char *const enable[] = { "ExtendedResourceToleration", "AlwaysPullImages", "PodTolerationRestriction", NULL };
    struct admission_world w;
    struct admission_request r;
    admission_world_init(&w, &(struct admission_options){ .enable = enable });
    for (size_t i = 0; i < sizeof(state) / sizeof(state[0]); i++)
        admission_world_put(&w, str_of(state[i]));
    admission_world_put(&w, STR("{\"kind\":\"LimitRange\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"l\",\"namespace\":\"a\"},\"spec\":{\"limits\":["
                                "{\"type\":\"Container\",\"default\":{\"cpu\":\"1\"},\"defaultRequest\":{\"cpu\":\"1\"}},{\"type\":\"Pod\",\"max\":{\"cpu\":\"999999\"}}]}}"));
    admission_world_put(&w, STR(QUOTA("q", "\"requests.memory\":\"1\"", "\"requests.memory\":\"0\"")));
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    strbuf_add_text(&json, "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"tolerations\":[");
    for (int i = 0; i < MANY; i++)
        strbuf_printf(&json, "%s{\"key\":\"t%d\",\"operator\":\"Exists\"}", i ? "," : "", i);
    strbuf_add_text(&json, "],\"containers\":[");
    for (int i = 0; i < MANY; i++)
        strbuf_printf(&json, "%s{\"name\":\"c%d\",\"image\":\"i%d\",\"resources\":{\"requests\":{\"e.com/r%d\":\"1\"}}}", i ? "," : "", i, i, i);
    strbuf_add_text(&json, "]}}");
    struct asked asked = { "pods", "", NULL, ADMIT_CREATE, STR("a"), STR(""), strbuf_str(&json) };
    CHECK_INT("nobody says how much memory", admission_world_ask(&w, &asked, &r), ERR_FORBIDDEN);
    CHECK(str_starts(str_of(w.e.message), STR("pods \"p\" is forbidden: failed quota: q: must specify requests.memory for: c0,c1,c10,")));
    CHECK(strlen(w.e.message) < 2 * ERR_MESSAGE_BYTES_MAX);
    CHECK(w.arena.n_bytes < 600u << 20);
    strbuf_fini(&json);
    admission_world_fini(&w);
}
