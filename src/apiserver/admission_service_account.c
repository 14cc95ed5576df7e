/* ServiceAccount: every pod runs as one that is there; it gets its pull secrets, and its token as a volume in every
 * container. An account may say that its pods use no other secrets than its own. */
#include "api/generate_name.h"
#include "apiserver/admission_priv.h"

#define TOKEN_PATH "/var/run/secrets/kubernetes.io/serviceaccount"
#define TOKEN_VOLUME "kube-api-access"
/* What a token is asked for: an hour and a bit, by which those are told apart that the server itself asks for. */
enum { TOKEN_SECONDS = 3607, TOKEN_FILE_MODE = 0644 };

static const struct type *account_type(void)
{
    return schema_type(STR("core/v1.ServiceAccount"));
}

static const struct type *container_type(void)
{
    return schema_type(STR("core/v1.Container"));
}

static const struct value *account_of(const struct admission_request *r, struct err *e)
{
    struct str name = req_text(r, "spec.serviceAccountName");
    const struct value *account = req_find(r, "serviceaccounts", "", r->namespace, name);
    if (!account)
        err_set(e, ERR_FORBIDDEN, "error looking up service account %.*s/%.*s: serviceaccount \"%.*s\" not found",
                STR_ARG(r->namespace), STR_ARG(name), STR_ARG(name));
    return account;
}

/* ---- The token ---- */

static bool wants_token(const struct admission_request *r, const struct value *account)
{
    const struct value *said[] = { req_at(r, "spec.automountServiceAccountToken"),
                                   value_path(account_type(), account, "automountServiceAccountToken") };
    for (size_t i = 0; i < 2; i++)
        if (said[i]->kind == VALUE_BOOL)
            return said[i]->b;
    return true;
}

static struct value list_of(struct arena *a, struct value item)
{
    return edit_append(a, &(struct value){ 0 }, item);
}

static struct value made(struct arena *a, const char *type, const char *path, struct value to)
{
    const struct type *t = schema_type(str_of(type));
    struct value v = value_struct(a, t);
    return edit_set(a, t, &v, path, to);
}

/* Token, the authority of the API server, and the name of the namespace. */
static struct value token_sources(struct arena *a)
{
    const char *projection = "core/v1.VolumeProjection";
    const struct type *p = schema_type(str_of(projection));
    struct value token = made(a, projection, "serviceAccountToken.expirationSeconds", value_int(TOKEN_SECONDS));
    token = edit_set(a, p, &token, "serviceAccountToken.path", edit_text("token"));
    struct value item = made(a, "core/v1.KeyToPath", "key", edit_text("ca.crt"));
    item = edit_set(a, schema_type(STR("core/v1.KeyToPath")), &item, "path", edit_text("ca.crt"));
    struct value authority = made(a, projection, "configMap.name", edit_text("kube-root-ca.crt"));
    authority = edit_set(a, p, &authority, "configMap.items", list_of(a, item));
    const struct type *f = schema_type(STR("core/v1.DownwardAPIVolumeFile"));
    struct value file = made(a, "core/v1.DownwardAPIVolumeFile", "path", edit_text("namespace"));
    file = edit_set(a, f, &file, "fieldRef.apiVersion", edit_text("v1"));
    file = edit_set(a, f, &file, "fieldRef.fieldPath", edit_text("metadata.namespace"));
    struct value sources = list_of(a, token);
    sources = edit_append(a, &sources, authority);
    return edit_append(a, &sources, made(a, projection, "downwardAPI.items", list_of(a, file)));
}

static struct value token_volume(struct arena *a, struct value name)
{
    const struct type *t = schema_type(STR("core/v1.Volume"));
    struct value volume = made(a, "core/v1.Volume", "name", name);
    volume = edit_set(a, t, &volume, "projected.defaultMode", value_int(TOKEN_FILE_MODE));
    return edit_set(a, t, &volume, "projected.sources", token_sources(a));
}

static bool mounts_token(const struct value *container)
{
    const struct type *t = schema_type(STR("core/v1.VolumeMount"));
    EACH_ITEM(mount, value_path(container_type(), container, "volumeMounts"))
        if (str_is(value_text(value_path(t, mount, "mountPath")), TOKEN_PATH))
            return true;
    return false;
}

/* True when a container got the mount. */
static bool mount_in(struct admission_request *r, const char *path, struct value mount)
{
    const struct value *list = req_at(r, path);
    if (list->kind != VALUE_LIST)
        return false;
    struct value *items = ARENA_NEW_N(r->arena, struct value, list->n);
    bool any = false;
    for (uint32_t i = 0; i < list->n; i++) {
        items[i] = list->items[i];
        if (mounts_token(&items[i]))
            continue;
        struct value mounts = edit_append(r->arena, value_path(container_type(), &items[i], "volumeMounts"), mount);
        items[i] = edit_set(r->arena, container_type(), &items[i], "volumeMounts", mounts);
        any = true;
    }
    req_set(r, path, value_list(items, list->n));
    return any;
}

/* A volume that somebody gave such a name is taken for it. */
static const struct value *given_volume(const struct admission_request *r)
{
    const struct type *t = schema_type(STR("core/v1.Volume"));
    EACH_ITEM(volume, req_at(r, "spec.volumes")) {
        const struct value *name = value_path(t, volume, "name");
        if (str_starts(value_text(name), STR(TOKEN_VOLUME "-")))
            return name;
    }
    return NULL;
}

static void mount_token(struct admission_request *r)
{
    const struct value *given = given_volume(r);
    struct value name = given ? *given : edit_text(name_generate(r->arena, STR(TOKEN_VOLUME "-"), req_lot(r)));
    struct value mount = made(r->arena, "core/v1.VolumeMount", "name", name);
    const struct type *t = schema_type(STR("core/v1.VolumeMount"));
    mount = edit_set(r->arena, t, &mount, "readOnly", value_bool(true));
    mount = edit_set(r->arena, t, &mount, "mountPath", edit_text(TOKEN_PATH));
    bool mounted = mount_in(r, "spec.initContainers", mount);
    mounted |= mount_in(r, "spec.containers", mount);
    if (mounted && !given)
        req_set(r, "spec.volumes", edit_append(r->arena, req_at(r, "spec.volumes"), token_volume(r->arena, name)));
}

/* ---- Secrets ---- */

static struct text_list names_in(struct arena *a, const struct value *list, struct str type)
{
    struct text_list names = { a };
    EACH_ITEM(item, list)
        text_list_add(&names, value_text(value_path(schema_type(type), item, "name")));
    text_list_sort(&names);
    return names;
}

static bool keeps_to_own_secrets(const struct value *account)
{
    static const char *const yes[] = { "1", "t", "T", "TRUE", "true", "True" };
    const struct value *v = meta_annotation(account_type(), account, "kubernetes.io/enforce-mountable-secrets");
    for (size_t i = 0; v && i < sizeof(yes) / sizeof(yes[0]); i++)
        if (str_is(value_text(v), yes[i]))
            return true;
    return false;
}

/* What a pod's secrets are held against. */
struct own_secrets {
    struct str account;
    struct text_list names;
};

static enum err_code check_environment(const struct container *c, const char *sort, const struct own_secrets *own,
                                       struct err *e)
{
    const struct type *var = schema_type(STR("core/v1.EnvVar")), *source = schema_type(STR("core/v1.EnvFromSource"));
    struct str container = value_text(value_path(c->type, c->value, "name"));
    EACH_ITEM(env, value_path(c->type, c->value, "env")) {
        const struct value *ref = value_path(var, env, "valueFrom.secretKeyRef");
        struct str name = value_text(value_path(var, env, "valueFrom.secretKeyRef.name"));
        if (ref->kind == VALUE_STRUCT && !text_list_has(&own->names, name))
            return err_set(e, ERR_FORBIDDEN,
                           "%s %.*s with envVar %.*s referencing secret.secretName=\"%.*s\" is not allowed because "
                           "service account %.*s does not reference that secret",
                           sort, STR_ARG(container), STR_ARG(value_text(value_path(var, env, "name"))), STR_ARG(name),
                           STR_ARG(own->account));
    }
    EACH_ITEM(from, value_path(c->type, c->value, "envFrom")) {
        struct str name = value_text(value_path(source, from, "secretRef.name"));
        if (value_path(source, from, "secretRef")->kind == VALUE_STRUCT && !text_list_has(&own->names, name))
            return err_set(e, ERR_FORBIDDEN,
                           "%s %.*s with envFrom referencing secret.secretName=\"%.*s\" is not allowed because service "
                           "account %.*s does not reference that secret",
                           sort, STR_ARG(container), STR_ARG(name), STR_ARG(own->account));
    }
    return ERR_OK;
}

/* `ephemeral`: only those containers are new, else only they are not looked at. */
static enum err_code check_containers(const struct admission_request *r, bool ephemeral, const struct own_secrets *own,
                                      struct err *e)
{
    static const struct {
        const char *list, *sort;
    } sorts[] = { { "initContainers", "init container" },
                  { "containers", "container" },
                  { "ephemeralContainers", "ephemeral container" } };
    const struct container *all;
    size_t n = spec_containers(r->arena, req_at(r, "spec"), &all), sort = 0;
    for (size_t i = 0; i < n; i++) {
        while (strcmp(sorts[sort].list, all[i].list) != 0)
            sort++;
        if ((sort == 2) == ephemeral && check_environment(&all[i], sorts[sort].sort, own, e))
            return e->code;
    }
    return ERR_OK;
}

static enum err_code check_volumes(const struct admission_request *r, const struct own_secrets *own, struct err *e)
{
    const struct type *t = schema_type(STR("core/v1.Volume"));
    EACH_ITEM(volume, req_at(r, "spec.volumes")) {
        struct str name = value_text(value_path(t, volume, "secret.secretName"));
        if (value_path(t, volume, "secret")->kind == VALUE_STRUCT && !text_list_has(&own->names, name))
            return err_set(e, ERR_FORBIDDEN,
                           "volume with secret.secretName=\"%.*s\" is not allowed because service account %.*s does "
                           "not reference that secret",
                           STR_ARG(name), STR_ARG(own->account));
    }
    return ERR_OK;
}

static enum err_code check_pull_secrets(const struct admission_request *r, const struct value *account,
                                        const struct own_secrets *own, struct err *e)
{
    const struct type *t = schema_type(STR("core/v1.LocalObjectReference"));
    struct text_list names = names_in(r->arena, value_path(account_type(), account, "imagePullSecrets"), t->name);
    unsigned i = 0;
    EACH_ITEM(ref, req_at(r, "spec.imagePullSecrets")) {
        struct str name = value_text(value_path(t, ref, "name"));
        if (!text_list_has(&names, name))
            return err_set(e, ERR_FORBIDDEN,
                           "imagePullSecrets[%u].name=\"%.*s\" is not allowed because service account %.*s does not "
                           "reference that imagePullSecret",
                           i, STR_ARG(name), STR_ARG(own->account));
        i++;
    }
    return ERR_OK;
}

static enum err_code check_secrets(const struct admission_request *r, const struct value *account, bool ephemeral,
                                   struct err *e)
{
    struct own_secrets own = { value_text(value_path(account_type(), account, "metadata.name")),
                               names_in(r->arena, value_path(account_type(), account, "secrets"),
                                        STR("core/v1.ObjectReference")) };
    if (ephemeral) {
        /* as upstream, whose refusal here is no Forbidden */
        if (check_containers(r, true, &own, e))
            e->code = ERR_UNKNOWN;
        return e->code;
    }
    if (check_volumes(r, &own, e) || check_containers(r, false, &own, e))
        return e->code;
    return check_pull_secrets(r, account, &own, e);
}

/* ---- Mirror pods, which only show what a kubelet runs: they are not changed, and may use nothing of the API ---- */

static bool uses_secret_in_containers(const struct admission_request *r)
{
    const struct own_secrets none = { .names = { r->arena } };
    struct err ignored;
    err_init(&ignored, r->arena);
    return check_containers(r, false, &none, &ignored) || check_containers(r, true, &none, &ignored);
}

/* Secrets that volumes of a pod name, by the paths where they stand. */
static bool names_secret(const struct value *volume)
{
    static const char *const paths[] = { "azureFile.secretName", "cephfs.secretRef.name", "cinder.secretRef.name",
                                         "flexVolume.secretRef.name", "rbd.secretRef.name", "secret.secretName",
                                         "scaleIO.secretRef.name", "iscsi.secretRef.name", "storageos.secretRef.name",
                                         "csi.nodePublishSecretRef.name" };
    const struct type *t = schema_type(STR("core/v1.Volume"));
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        if (value_path(t, volume, paths[i])->kind == VALUE_STRING)
            return true;
    EACH_ITEM(source, value_path(t, volume, "projected.sources"))
        if (value_path(schema_type(STR("core/v1.VolumeProjection")), source, "secret")->kind == VALUE_STRUCT)
            return true;
    return false;
}

bool pod_uses_secrets(const struct admission_request *r)
{
    const struct value *pull = req_at(r, "spec.imagePullSecrets");
    if ((pull->kind == VALUE_LIST && pull->n) || uses_secret_in_containers(r))
        return true;
    EACH_ITEM(volume, req_at(r, "spec.volumes"))
        if (names_secret(volume))
            return true;
    return false;
}

static bool projects_token(const struct admission_request *r)
{
    const struct type *v = schema_type(STR("core/v1.Volume")), *s = schema_type(STR("core/v1.VolumeProjection"));
    EACH_ITEM(volume, req_at(r, "spec.volumes"))
        EACH_ITEM(source, value_path(v, volume, "projected.sources"))
            if (value_path(s, source, "serviceAccountToken")->kind == VALUE_STRUCT)
                return true;
    return false;
}

static enum err_code check_mirror(const struct admission_request *r, struct err *e)
{
    if (req_text(r, "spec.serviceAccountName").n)
        return err_set(e, ERR_FORBIDDEN, "a mirror pod may not reference service accounts");
    if (pod_uses_secrets(r))
        return err_set(e, ERR_FORBIDDEN, "a mirror pod may not reference secrets");
    if (projects_token(r))
        return err_set(e, ERR_FORBIDDEN, "a mirror pod may not use ServiceAccountToken volume projections");
    return ERR_OK;
}

/* ---- The plugin ---- */

enum err_code service_account_validate(struct admission_request *r, struct err *e)
{
    bool ephemeral = req_is_sub(r, "pods", "", "ephemeralcontainers");
    if (!(req_is_whole(r, "pods", "") && r->operation == ADMIT_CREATE) && !(ephemeral && r->operation == ADMIT_UPDATE))
        return ERR_OK;
    if (!ephemeral && req_annotation(r, "kubernetes.io/config.mirror"))
        return check_mirror(r, e);
    if (!req_text(r, "spec.serviceAccountName").n)
        return err_set(e, ERR_FORBIDDEN, "no service account specified for pod %.*s/%.*s", STR_ARG(r->namespace),
                       STR_ARG(req_text(r, "metadata.name")));
    const struct value *account = account_of(r, e);
    if (!account)
        return e->code;
    return keeps_to_own_secrets(account) ? check_secrets(r, account, ephemeral, e) : ERR_OK;
}

/* serviceAccount is the field's old name; objects have both. */
static void name_account(struct admission_request *r)
{
    if (!req_text(r, "spec.serviceAccountName").n)
        req_set(r, "spec.serviceAccountName", edit_text("default"));
    req_set(r, "spec.serviceAccount", *req_at(r, "spec.serviceAccountName"));
}

enum err_code service_account_admit(struct admission_request *r, struct err *e)
{
    if (!req_is_whole(r, "pods", "") || r->operation != ADMIT_CREATE)
        return ERR_OK;
    if (req_annotation(r, "kubernetes.io/config.mirror"))
        return service_account_validate(r, e);
    name_account(r);
    const struct value *account = account_of(r, e);
    if (!account)
        return e->code;
    if (wants_token(r, account))
        mount_token(r);
    const struct value *own = req_at(r, "spec.imagePullSecrets");
    const struct value *given = value_path(account_type(), account, "imagePullSecrets");
    if ((own->kind != VALUE_LIST || !own->n) && given->kind == VALUE_LIST && given->n)
        req_set(r, "spec.imagePullSecrets", *given);
    return service_account_validate(r, e);
}
