/* client/kubeconfig.h - which API server to talk to, and as whom: kubeconfig files as kubectl reads them.
 *
 * kubeconfig_load reads one file that was named, or all files of $KUBECONFIG, or ~/.kube/config, and merges them:
 * of clusters, users and contexts with the same name the first file's counts, and so does its current context.
 * Relative paths are relative to the file that they stand in. kubeconfig_resolve picks a context and checks that it
 * can be used; client_config_in_cluster is the way of a pod. Texts of errors are upstream's.
 *
 * Nothing here talks to a server, runs a plugin or reads a certificate or token: that is for whoever connects, who
 * also reads them again when they change.
 *
 * Thread: any. Memory: the caller's arena. */
#pragma once

#include "api/value.h"
#include "base/err.h"

enum { KUBECONFIG_BYTES_MAX = 8 << 20, KUBECONFIG_FILES_MAX = 256 };

/* Where to look. Members may be NULL or empty. */
struct kubeconfig_sources {
    const char *path; /* the only file to read, which must exist */
    const char *env;  /* as $KUBECONFIG: paths parted by colons; those that do not exist are passed over */
    const char *home; /* without the two others: below it .kube/config, if it exists */
};

struct kubeconfig_entry {
    struct str name;
    struct value value; /* Cluster, User or Context of the schema's kubeconfig/v1 */
    const char *folder; /* absolute: what relative paths in it are relative to */
};

struct kubeconfig_entries {
    struct kubeconfig_entry *at;
    size_t n, cap;
};

struct kubeconfig {
    struct kubeconfig_entries clusters, users, contexts; /* by order of appearance, names unique */
    struct str current_context;
    const char **files; /* that were read, in order */
    size_t n_files;
};

enum err_code kubeconfig_load(struct arena *a, const struct kubeconfig_sources *from, struct kubeconfig *ret_config,
                              struct err *e) ERR_MUST_CHECK;

/* What the command line says instead; members may be NULL or empty. */
struct kubeconfig_overrides {
    const char *server, *context, *cluster, *user, *ns;
};

struct client_exec_env {
    struct str name, value;
};

/* A program that prints credentials. */
struct client_exec {
    struct str command;     /* absolute, or a name to be looked up in $PATH */
    const struct str *args;
    const struct client_exec_env *env;
    uint32_t n_args, n_env;
    struct str api_version; /* of the exchange: client.authentication.k8s.io/v1 or v1beta1 */
    struct str install_hint;
    struct str interactive_mode; /* Never, IfAvailable, Always */
    bool provide_cluster_info;
    struct str cluster_extension; /* JSON that the cluster has for the program; empty: none */
};

struct client_extra {
    struct str key;
    const struct str *values;
    uint32_t n;
};

/* Everything needed to talk to one API server. Empty texts: not given. Data counts before files. */
struct client_config {
    struct str server; /* URL, may have a path; "host:port" without scheme is http, or https with certificates */
    struct str tls_server_name;
    bool insecure_skip_tls_verify, disable_compression;
    struct str ca_file, ca_data;
    struct str proxy_url;

    struct str cert_file, cert_data, key_file, key_data;
    struct str token, token_file; /* the file is read again as it changes; the token serves until it can be read */
    struct str username, password;
    const struct client_exec *exec; /* or NULL */

    struct str as_user, as_uid; /* whom to impersonate */
    const struct str *as_groups;
    const struct client_extra *as_extra;
    uint32_t n_as_groups, n_as_extra;

    struct str ns;      /* of the context; "default" without one */
    struct str context; /* its name, for messages */
};

/* Picks the context and checks it. */
enum err_code kubeconfig_resolve(struct arena *a, const struct kubeconfig *config,
                                 const struct kubeconfig_overrides *overrides, struct client_config *ret_config,
                                 struct err *e) ERR_MUST_CHECK;

/* What a pod finds: the service's address in `host` and `port` ($KUBERNETES_SERVICE_HOST and _PORT), and token, CA and
 * namespace in `folder`. NOT_FOUND when this is no pod. */
#define IN_CLUSTER_FOLDER "/var/run/secrets/kubernetes.io/serviceaccount"
enum err_code client_config_in_cluster(struct arena *a, const char *host, const char *port, const char *folder,
                                       struct client_config *ret_config, struct err *e) ERR_MUST_CHECK;
