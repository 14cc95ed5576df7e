/* client/kubeconfig_resolve.c - from a context to everything a client needs; see kubeconfig.h.
 * Upstream: client-go tools/clientcmd/client_config.go, validation.go. */
#include "client/kubeconfig.h"

#include <fcntl.h>
#include <unistd.h>

#include "api/schema_slots.h"
#include "base/strbuf.h"
#include "client/kubeconfig_priv.h"

#define NO_CONFIGURATION "no configuration has been provided, try setting KUBERNETES_MASTER environment variable"
#define EXEC_EXTENSION "client.authentication.k8s.io/exec"

struct resolver {
    struct arena *arena;
    struct client_config out;
    struct strbuf problems; /* joined */
    uint32_t n_problems;
};

static void problem(struct resolver *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void problem(struct resolver *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(r->arena, format, args);
    va_end(args);
    strbuf_printf(&r->problems, "%s%s", r->n_problems ? ", " : "", text);
    r->n_problems++;
}

/* ---- Members ---- */

static struct str text_at(const struct value *v, unsigned slot)
{
    return value_text(value_slot(v, slot));
}

static bool flag_at(const struct value *v, unsigned slot)
{
    const struct value *flag = value_slot(v, slot);
    return flag->kind == VALUE_BOOL && flag->b;
}

static struct str path_at(struct resolver *r, const struct value *v, unsigned slot, const char *folder)
{
    struct str path = text_at(v, slot);
    if (path.n == 0 || path.p[0] == '/' || !folder)
        return path;
    return str_of(arena_printf(r->arena, "%s/%.*s", folder, STR_ARG(path)));
}

static const struct str *texts_at(struct resolver *r, const struct value *list, uint32_t *ret_n)
{
    *ret_n = list->kind == VALUE_LIST ? list->n : 0;
    struct str *texts = ARENA_NEW_N(r->arena, struct str, *ret_n);
    for (uint32_t i = 0; i < *ret_n; i++)
        texts[i] = value_text(&list->items[i]);
    return texts;
}

static const struct kubeconfig_entry *find(const struct kubeconfig_entries *entries, struct str name)
{
    for (size_t i = 0; i < entries->n; i++)
        if (str_eq(entries->at[i].name, name))
            return &entries->at[i];
    return NULL;
}

static bool given(const char *text)
{
    return text && *text;
}

/* ---- The cluster ---- */

static void check_readable(struct resolver *r, const char *what, struct str path, struct str of)
{
    if (path.n == 0)
        return;
    const char *name = arena_cstr(r->arena, path);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    else
        problem(r, "unable to read %s %s for %.*s due to open %s: %s", what, name, STR_ARG(of), name,
                client_errno_text(r->arena));
}

static void check_proxy(struct resolver *r, struct str name)
{
    struct str url = r->out.proxy_url;
    struct str scheme = str_first(url, str_index(url, ':'));
    if (url.n == 0 || str_is(scheme, "http") || str_is(scheme, "https") || str_is(scheme, "socks5"))
        return;
    if (scheme.n == url.n)
        scheme.n = 0;
    problem(r, "invalid 'proxy-url' \"%.*s\" for cluster \"%.*s\": unsupported scheme \"%.*s\", must be http, https, or socks5",
            STR_ARG(url), STR_ARG(name), STR_ARG(scheme));
}

static struct str exec_extension(const struct value *cluster)
{
    const struct value *list = value_slot(cluster, SLOT_kubeconfig_v1_Cluster_extensions);
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_is(text_at(&list->items[i], SLOT_kubeconfig_v1_NamedExtension_name), EXEC_EXTENSION))
            return text_at(&list->items[i], SLOT_kubeconfig_v1_NamedExtension_extension);
    return (struct str){ 0 };
}

static void take_cluster(struct resolver *r, struct str name, const struct kubeconfig_entry *entry, const char *server)
{
    struct client_config *out = &r->out;
    if (entry) {
        const struct value *c = &entry->value;
        out->server = text_at(c, SLOT_kubeconfig_v1_Cluster_server);
        out->tls_server_name = text_at(c, SLOT_kubeconfig_v1_Cluster_tls_server_name);
        out->insecure_skip_tls_verify = flag_at(c, SLOT_kubeconfig_v1_Cluster_insecure_skip_tls_verify);
        out->disable_compression = flag_at(c, SLOT_kubeconfig_v1_Cluster_disable_compression);
        out->ca_file = path_at(r, c, SLOT_kubeconfig_v1_Cluster_certificate_authority, entry->folder);
        out->ca_data = text_at(c, SLOT_kubeconfig_v1_Cluster_certificate_authority_data);
        out->proxy_url = text_at(c, SLOT_kubeconfig_v1_Cluster_proxy_url);
    }
    if (given(server)) { /* another server is seldom called as the one in the file */
        out->server = str_of(server);
        out->tls_server_name.n = 0;
    }
    if (out->server.n == 0 && name.n == 0)
        problem(r, "default cluster has no server defined");
    else if (out->server.n == 0)
        problem(r, "no server found for cluster \"%.*s\"", STR_ARG(name));
    check_proxy(r, name);
    if (out->ca_file.n && out->ca_data.n)
        problem(r,
                "certificate-authority-data and certificate-authority are both specified for %.*s. "
                "certificate-authority-data will override.",
                STR_ARG(name));
    check_readable(r, "certificate-authority", out->ca_file, name);
}

/* ---- The user ---- */

static void take_exec(struct resolver *r, const struct value *v, struct str user, const char *folder)
{
    struct client_exec *x = ARENA_NEW(r->arena, struct client_exec);
    struct str command = text_at(v, SLOT_kubeconfig_v1_ExecConfig_command);
    bool has_slash = str_index(command, '/') < command.n;
    x->command = has_slash ? path_at(r, v, SLOT_kubeconfig_v1_ExecConfig_command, folder) : command;
    x->args = texts_at(r, value_slot(v, SLOT_kubeconfig_v1_ExecConfig_args), &x->n_args);
    x->api_version = text_at(v, SLOT_kubeconfig_v1_ExecConfig_apiVersion);
    x->install_hint = text_at(v, SLOT_kubeconfig_v1_ExecConfig_installHint);
    x->provide_cluster_info = flag_at(v, SLOT_kubeconfig_v1_ExecConfig_provideClusterInfo);
    x->interactive_mode = text_at(v, SLOT_kubeconfig_v1_ExecConfig_interactiveMode);
    if (x->interactive_mode.n == 0 && str_starts(x->api_version, STR("client.authentication.k8s.io/v1beta1")))
        x->interactive_mode = STR("IfAvailable");
    const struct value *env = value_slot(v, SLOT_kubeconfig_v1_ExecConfig_env);
    x->n_env = env->kind == VALUE_LIST ? env->n : 0;
    struct client_exec_env *pairs = ARENA_NEW_N(r->arena, struct client_exec_env, x->n_env);
    for (uint32_t i = 0; i < x->n_env; i++)
        pairs[i] = (struct client_exec_env){ text_at(&env->items[i], SLOT_kubeconfig_v1_ExecEnvVar_name),
                                             text_at(&env->items[i], SLOT_kubeconfig_v1_ExecEnvVar_value) };
    x->env = pairs;
    r->out.exec = x;
    if (command.n == 0)
        problem(r, "command must be specified for %.*s to use exec authentication plugin", STR_ARG(user));
    if (x->api_version.n == 0)
        problem(r, "apiVersion must be specified for %.*s to use exec authentication plugin", STR_ARG(user));
    for (uint32_t i = 0; i < x->n_env; i++)
        if (pairs[i].name.n == 0)
            problem(r, "env variable name must be specified for %.*s to use exec authentication plugin", STR_ARG(user));
    struct str mode = x->interactive_mode;
    if (mode.n == 0)
        problem(r, "interactiveMode must be specified for %.*s to use exec authentication plugin", STR_ARG(user));
    else if (!str_is(mode, "Never") && !str_is(mode, "IfAvailable") && !str_is(mode, "Always"))
        problem(r, "invalid interactiveMode for %.*s: \"%.*s\"", STR_ARG(user), STR_ARG(mode));
}

static void take_impersonation(struct resolver *r, const struct value *u, struct str name)
{
    struct client_config *out = &r->out;
    out->as_user = text_at(u, SLOT_kubeconfig_v1_User_as);
    out->as_uid = text_at(u, SLOT_kubeconfig_v1_User_as_uid);
    out->as_groups = texts_at(r, value_slot(u, SLOT_kubeconfig_v1_User_as_groups), &out->n_as_groups);
    const struct value *extra = value_slot(u, SLOT_kubeconfig_v1_User_as_user_extra);
    out->n_as_extra = extra->kind == VALUE_MAP ? extra->n : 0;
    struct client_extra *list = ARENA_NEW_N(r->arena, struct client_extra, out->n_as_extra);
    for (uint32_t i = 0; i < out->n_as_extra; i++) {
        list[i].key = extra->members[i].key;
        list[i].values = texts_at(r, &extra->members[i].value, &list[i].n);
    }
    out->as_extra = list;
    if (out->as_user.n == 0 && (out->as_uid.n || out->n_as_groups || out->n_as_extra))
        problem(r, "requesting uid, groups or user-extra for %.*s without impersonating a user", STR_ARG(name));
}

static void check_certificate(struct resolver *r, struct str name)
{
    const struct client_config *c = &r->out;
    if (c->cert_file.n == 0 && c->cert_data.n == 0)
        return;
    if (c->cert_file.n && c->cert_data.n)
        problem(r, "client-cert-data and client-cert are both specified for %.*s. client-cert-data will override.",
                STR_ARG(name));
    if (c->key_file.n && c->key_data.n)
        problem(r, "client-key-data and client-key are both specified for %.*s; client-key-data will override",
                STR_ARG(name));
    if (c->key_file.n == 0 && c->key_data.n == 0)
        problem(r,
                "client-key-data or client-key must be specified for %.*s to use the clientCert authentication method.",
                STR_ARG(name));
    check_readable(r, "client-cert", c->cert_file, name);
    check_readable(r, "client-key", c->key_file, name);
}

static void take_user(struct resolver *r, const struct kubeconfig_entry *entry)
{
    const struct value *u = &entry->value;
    struct client_config *out = &r->out;
    out->cert_file = path_at(r, u, SLOT_kubeconfig_v1_User_client_certificate, entry->folder);
    out->cert_data = text_at(u, SLOT_kubeconfig_v1_User_client_certificate_data);
    out->key_file = path_at(r, u, SLOT_kubeconfig_v1_User_client_key, entry->folder);
    out->key_data = text_at(u, SLOT_kubeconfig_v1_User_client_key_data);
    out->token = text_at(u, SLOT_kubeconfig_v1_User_token);
    out->token_file = path_at(r, u, SLOT_kubeconfig_v1_User_tokenFile, entry->folder);
    out->username = text_at(u, SLOT_kubeconfig_v1_User_username);
    out->password = text_at(u, SLOT_kubeconfig_v1_User_password);
    check_certificate(r, entry->name);
    const struct value *exec = value_slot(u, SLOT_kubeconfig_v1_User_exec);
    bool provider = value_slot(u, SLOT_kubeconfig_v1_User_auth_provider)->kind == VALUE_STRUCT;
    if (provider && exec->kind == VALUE_STRUCT)
        problem(r, "authProvider cannot be provided in combination with an exec plugin for %.*s", STR_ARG(entry->name));
    else if (provider)
        problem(r, "auth-provider of %.*s is not supported: use an exec plugin", STR_ARG(entry->name));
    if (exec->kind == VALUE_STRUCT)
        take_exec(r, exec, entry->name, entry->folder);
    if (out->token.n && (out->username.n || out->password.n))
        problem(r, "more than one authentication method found for %.*s; found [token basicAuth], only one is allowed",
                STR_ARG(entry->name));
    take_impersonation(r, u, entry->name);
}

/* ---- The context ---- */

static struct str override_or(const char *override, struct str otherwise)
{
    return given(override) ? str_of(override) : otherwise;
}

/* A name that the command line gave must exist; one from the files need not. */
static enum err_code look_up(const struct kubeconfig_entries *in, struct str name, bool required, const char *what,
                             const struct kubeconfig_entry **ret_entry, struct err *e)
{
    *ret_entry = find(in, name);
    if (!*ret_entry && required)
        return err_set(e, ERR_NOT_FOUND, "%s \"%.*s\" does not exist", what, STR_ARG(name));
    return ERR_OK;
}

static enum err_code conclude(struct resolver *r, struct client_config *ret_config, struct err *e)
{
    enum err_code rc = ERR_OK;
    struct str all = strbuf_str(&r->problems);
    if (r->n_problems)
        rc = err_set(e, ERR_INVALID, r->n_problems > 1 ? "invalid configuration: [%.*s]" : "invalid configuration: %.*s",
                     STR_ARG(all));
    else
        *ret_config = r->out;
    strbuf_fini(&r->problems);
    return rc;
}

enum err_code kubeconfig_resolve(struct arena *a, const struct kubeconfig *config,
                                 const struct kubeconfig_overrides *overrides, struct client_config *ret_config,
                                 struct err *e)
{
    static const struct kubeconfig_overrides none;
    const struct kubeconfig_overrides *o = overrides ? overrides : &none;
    const struct kubeconfig_entry *context, *user, *cluster;
    struct str context_name = override_or(o->context, config->current_context);
    if (look_up(&config->contexts, context_name, given(o->context), "context", &context, e))
        return e->code;
    const struct value *c = context ? &context->value : &(struct value){ 0 };
    struct str user_name = override_or(o->user, text_at(c, SLOT_kubeconfig_v1_Context_user));
    struct str cluster_name = override_or(o->cluster, text_at(c, SLOT_kubeconfig_v1_Context_cluster));
    if (look_up(&config->users, user_name, given(o->user), "auth info", &user, e) ||
        look_up(&config->clusters, cluster_name, given(o->cluster), "cluster", &cluster, e))
        return e->code;

    struct resolver r = { .arena = a };
    strbuf_init(&r.problems, 1 << 16);
    if (context_name.n && !context)
        problem(&r, "context was not found for specified context: %.*s", STR_ARG(context_name));
    if (user)
        take_user(&r, user);
    bool nothing = !cluster && !given(o->server);
    if (nothing)
        problem(&r, r.n_problems ? "cluster has no server defined" : NO_CONFIGURATION);
    else
        take_cluster(&r, cluster_name, cluster, o->server);
    if (cluster && r.out.exec)
        ((struct client_exec *)(uintptr_t)r.out.exec)->cluster_extension = exec_extension(&cluster->value);
    r.out.context = context_name;
    r.out.ns = override_or(o->ns, text_at(c, SLOT_kubeconfig_v1_Context_namespace));
    if (r.out.ns.n == 0)
        r.out.ns = STR("default");
    return conclude(&r, ret_config, e);
}
