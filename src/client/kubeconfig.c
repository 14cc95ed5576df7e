/* client/kubeconfig.c - kubeconfig files read and merged, and what a pod finds in its place; see kubeconfig.h.
 * Upstream: client-go tools/clientcmd/loader.go, rest/config.go (InClusterConfig). */
#include "client/kubeconfig.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/schema_slots.h"
#include "base/arena_array.h"
#include "base/strbuf.h"
#include "client/kubeconfig_priv.h"
#include "codec/json.h"
#include "codec/yaml.h"

#define SCHEME "pkg/runtime/scheme.go:111" /* how upstream names its registry of kinds */

/* ---- Files ---- */

/* The system's words for errno, as Go has them: in small letters. */
const char *client_errno_text(struct arena *a)
{
    char *text = arena_cstr(a, str_of(strerror(errno)));
    if (text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a' && text[1] <= 'z')
        text[0] += 'a' - 'A';
    return text;
}

static enum err_code read_fd(struct arena *a, int fd, const char *path, struct str *ret_bytes, struct err *e)
{
    struct strbuf b;
    strbuf_init(&b, KUBECONFIG_BYTES_MAX + 1);
    ssize_t n = 0;
    do {
        char *to = strbuf_reserve(&b, 1 << 14);
        n = to ? read(fd, to, 1 << 14) : 0;
        if (n > 0)
            strbuf_commit(&b, (size_t)n);
    } while (n > 0 || (n < 0 && errno == EINTR));
    enum err_code rc = ERR_OK;
    if (n < 0)
        rc = err_set(e, ERR_IO, "read %s: %s", path, client_errno_text(a));
    else if (b.overflow)
        rc = err_set(e, ERR_TOO_LARGE, "%s has more than %d bytes", path, KUBECONFIG_BYTES_MAX);
    else
        *ret_bytes = arena_str(a, strbuf_str(&b));
    strbuf_fini(&b);
    return rc;
}

/* NOT_FOUND when there is no such file. */
static enum err_code read_file(struct arena *a, const char *verb, const char *path, struct str *ret_bytes,
                               struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s %s: %s", verb, path, client_errno_text(a));
    enum err_code rc = read_fd(a, fd, path, ret_bytes, e);
    close(fd);
    return rc;
}

static const char *folder_of(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *folder = slash ? arena_cstr(a, str_range(path, slash)) : ".";
    char absolute[PATH_MAX];
    return realpath(*folder ? folder : "/", absolute) ? arena_cstr(a, str_of(absolute)) : folder;
}

/* ---- One file ---- */

static const struct kubeconfig_entry *find_entry(const struct kubeconfig_entries *entries, struct str name)
{
    for (size_t i = 0; i < entries->n; i++)
        if (str_eq(entries->at[i].name, name))
            return &entries->at[i];
    return NULL;
}

/* The slots of a named entry: all three kinds have them alike. */
#define ENTRY_NAME 0u
#define ENTRY_VALUE 1u
_Static_assert(SLOT_kubeconfig_v1_NamedCluster_name == ENTRY_NAME, "slots of NamedCluster");
_Static_assert(SLOT_kubeconfig_v1_NamedUser_name == ENTRY_NAME, "slots of NamedUser");
_Static_assert(SLOT_kubeconfig_v1_NamedContext_name == ENTRY_NAME, "slots of NamedContext");
_Static_assert(SLOT_kubeconfig_v1_NamedCluster_cluster == ENTRY_VALUE, "slots of NamedCluster");
_Static_assert(SLOT_kubeconfig_v1_NamedUser_user == ENTRY_VALUE, "slots of NamedUser");
_Static_assert(SLOT_kubeconfig_v1_NamedContext_context == ENTRY_VALUE, "slots of NamedContext");

/* Adds the entries of a file whose names are not there yet. Names given twice in one file are an error. */
static enum err_code add_entries(struct arena *a, const struct value *list, const char *what, const char *folder,
                                 struct kubeconfig_entries *to, struct err *e)
{
    size_t n_before = to->n;
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++) {
        struct kubeconfig_entry entry = { .name = value_text(value_slot(&list->items[i], ENTRY_NAME)),
                                          .value = *value_slot(&list->items[i], ENTRY_VALUE),
                                          .folder = folder };
        const struct kubeconfig_entry *same = find_entry(to, entry.name);
        if (same && same >= to->at + n_before)
            return err_set(e, ERR_BAD_REQUEST, "duplicate name \"%.*s\" in list of %s", STR_ARG(entry.name), what);
        if (same)
            continue;
        to->at = arena_array_more(a, to->at, to->n, &to->cap, sizeof(entry));
        to->at[to->n++] = entry;
    }
    return ERR_OK;
}

static enum err_code decode(struct arena *a, struct str bytes, struct value *ret_value, struct err *e)
{
    const struct type *type = &schema_types[T_kubeconfig_v1_Config];
    struct str json;
    struct work work = work_init(KUBECONFIG_BYTES_MAX);
    if (yaml_to_json(a, &work, bytes, NULL, &json, e) || json_decode(a, &work, type, json, NULL, ret_value, e))
        return e->code;
    struct str kind = value_text(value_slot(ret_value, SLOT_kubeconfig_v1_Config_kind));
    struct str version = value_text(value_slot(ret_value, SLOT_kubeconfig_v1_Config_apiVersion));
    if ((kind.n && !str_is(kind, "Config")) || (version.n && !str_is(version, "v1")))
        return err_set(e, ERR_BAD_REQUEST, "no kind \"%.*s\" is registered for version \"%.*s\" in scheme \"" SCHEME "\"",
                       STR_ARG(kind.n ? kind : STR("Config")), STR_ARG(version.n ? version : STR("v1")));
    return ERR_OK;
}

static enum err_code add_file(struct arena *a, const char *path, struct str bytes, struct kubeconfig *to,
                              struct err *e)
{
    struct value config = { 0 };
    const char *folder = folder_of(a, path);
    if ((bytes.n && decode(a, bytes, &config, e)) ||
        add_entries(a, value_slot(&config, SLOT_kubeconfig_v1_Config_clusters), "clusters", folder, &to->clusters, e) ||
        add_entries(a, value_slot(&config, SLOT_kubeconfig_v1_Config_users), "users", folder, &to->users, e) ||
        add_entries(a, value_slot(&config, SLOT_kubeconfig_v1_Config_contexts), "contexts", folder, &to->contexts, e))
        return err_wrap(e, "error loading config file \"%s\"", path);
    if (to->current_context.n == 0)
        to->current_context = value_text(value_slot(&config, SLOT_kubeconfig_v1_Config_current_context));
    return ERR_OK;
}

/* ---- Several files ---- */

struct paths {
    const char **at;
    size_t n, cap;
};

static void add_path(struct arena *a, struct paths *paths, const char *path)
{
    paths->at = arena_array_more(a, paths->at, paths->n, &paths->cap, sizeof(*paths->at));
    paths->at[paths->n++] = path;
}

static bool has_path(const struct paths *paths, const char *path)
{
    for (size_t i = 0; i < paths->n; i++)
        if (strcmp(paths->at[i], path) == 0)
            return true;
    return false;
}

static enum err_code split_paths(struct arena *a, const char *env, struct paths *ret_paths, struct err *e)
{
    struct str rest = str_of(env);
    while (rest.n) {
        struct str path = str_first(rest, str_index(rest, ':'));
        rest = str_from(rest, path.n + 1);
        if (path.n == 0 || has_path(ret_paths, arena_cstr(a, path)))
            continue;
        if (ret_paths->n == KUBECONFIG_FILES_MAX)
            return err_set(e, ERR_TOO_LARGE, "KUBECONFIG names more than %d files", KUBECONFIG_FILES_MAX);
        add_path(a, ret_paths, arena_cstr(a, path));
    }
    return ERR_OK;
}

static enum err_code paths_of(struct arena *a, const struct kubeconfig_sources *from, struct paths *ret_paths,
                              struct err *e)
{
    if (from->path && *from->path)
        add_path(a, ret_paths, from->path);
    else if (from->env && *from->env)
        return split_paths(a, from->env, ret_paths, e);
    else if (from->home && *from->home)
        add_path(a, ret_paths, arena_printf(a, "%s/.kube/config", from->home));
    return ERR_OK;
}

enum err_code kubeconfig_load(struct arena *a, const struct kubeconfig_sources *from, struct kubeconfig *ret_config,
                              struct err *e)
{
    struct kubeconfig config = { 0 };
    struct paths paths = { 0 };
    if (paths_of(a, from, &paths, e))
        return e->code;
    config.files = ARENA_NEW_N(a, const char *, paths.n);
    for (size_t i = 0; i < paths.n; i++) {
        bool named = from->path && *from->path;
        struct str bytes;
        enum err_code rc = read_file(a, named ? "stat" : "open", paths.at[i], &bytes, e);
        if (rc == ERR_NOT_FOUND && !named)
            continue;
        if (rc == ERR_NOT_FOUND)
            return rc;
        if (rc)
            return err_wrap(e, "error loading config file \"%s\"", paths.at[i]);
        if (add_file(a, paths.at[i], bytes, &config, e))
            return e->code;
        config.files[config.n_files++] = paths.at[i];
    }
    *ret_config = config;
    return ERR_OK;
}

/* ---- In a pod ---- */

enum err_code client_config_in_cluster(struct arena *a, const char *host, const char *port, const char *folder,
                                       struct client_config *ret_config, struct err *e)
{
    if (!host || !*host || !port || !*port)
        return err_set(e, ERR_NOT_FOUND,
                       "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT "
                       "must be defined");
    const char *token_file = arena_printf(a, "%s/token", folder);
    struct str token, ns = STR("default"), ca;
    if (read_file(a, "open", token_file, &token, e))
        return e->code;
    struct client_config config = { .token = token, .token_file = str_of(token_file) };
    bool ip6 = strchr(host, ':') != NULL;
    config.server = str_of(arena_printf(a, ip6 ? "https://[%s]:%s" : "https://%s:%s", host, port));
    struct err ignored;
    err_init(&ignored, a);
    const char *ca_file = arena_printf(a, "%s/ca.crt", folder);
    if (read_file(a, "open", ca_file, &ca, &ignored) == ERR_OK)
        config.ca_file = str_of(ca_file);
    if (read_file(a, "open", arena_printf(a, "%s/namespace", folder), &ns, &ignored) || ns.n == 0)
        ns = STR("default");
    config.ns = ns;
    *ret_config = config;
    return ERR_OK;
}
