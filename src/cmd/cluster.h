/* cmd/cluster.h - a running cluster, found as kubectl finds it: options, connection, and reading it whole.
 *
 * A kubeconfig file that is named with --kubeconfig; or the files of $KUBECONFIG; or ~/.kube/config; or, where there is
 * none of them, the service account of the pod that berth runs in.
 *
 * While a cluster is open, SIGPIPE is ignored: a peer may go away while something is written to it.
 *
 * Thread: main. */
#pragma once

#include "client/kubeconfig.h"
#include "client/rest.h"
#include "cmd/options.h"
#include "sim/input.h"

#define CMD_CLUSTER_HELP \
    "  --kubeconfig FILE, --context NAME, --cluster NAME, --user NAME, --server URL\n" \
    "                 which cluster, and as whom: as kubectl's\n"

struct cluster_options {
    bool live; /* any of these options was given */
    const char *kubeconfig, *context, *cluster, *user, *server; /* NULL: not given */
    const char *accept; /* no option: forms of answers that are asked for; NULL: protobuf, else JSON */
};

/* For cmd_options.shared; the context is a struct cluster_options. --live is for commands that read files otherwise. */
extern const struct cmd_option cluster_option_rows[];

struct cluster {
    struct arena arena;
    struct client_config config;
    struct loop *loop;
    struct rest *rest;
    const struct api *api;
    void (*old_sigpipe)(int);
};

/* Which cluster, without talking to it. Memory: the arena. */
enum err_code cluster_config(struct arena *a, const struct cluster_options *o, struct client_config *ret_config,
                             struct err *e) ERR_MUST_CHECK;
/* Another server than the configuration's, to be asked with its credentials. */
struct cluster_peer {
    const char *address; /* https://HOST:PORT */
    const char *ca_file; /* NULL: as the configuration says */
    bool insecure;
};
/* `peer` may be NULL. Bodies are written in `media`. To be closed only if it was opened. */
enum err_code cluster_open(struct cluster *c, const struct cluster_options *o, const struct cluster_peer *peer,
                           enum media media, struct err *e) ERR_MUST_CHECK;
void cluster_close(struct cluster *c);
/* Turns the loop until *done. */
void cluster_wait(struct cluster *c, const bool *done);

/* A running cluster, if the options ask for one, and then the files (cluster_files.h), whose objects take the place of
 * those of the same name. Of the cluster everything is read that scheduling looks at; what the user may not read is
 * told as warnings of the input. Only GET is used. */
enum err_code cmd_load_input(struct sim_input *in, const struct cluster_options *o, const char *const *paths,
                             int n_paths, struct err *e) ERR_MUST_CHECK;
