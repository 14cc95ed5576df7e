/* daemon/connections.h - the clients of one live component: which API server, and as whom.
 *
 * As upstream there are three, each with a rate of its own: for objects and writes, for Events, and for the lease, so
 * that neither of the latter waits behind the first.
 *
 * Thread: the loop's.    Owns: the clients and a copy of the configuration. */
#pragma once

#include "client/rest.h"
#include "config/config.h"

struct metrics;

struct connections;

/* The configuration of a client: a kubeconfig, an address that counts before its own, or as a pod finds it. Empty or
 * NULL: not given. Without any NOT_FOUND. */
ERR_MUST_CHECK enum err_code client_config_find(struct arena *a, const char *kubeconfig, const char *master,
                                                struct client_config *ret_config, struct err *e);

struct connections_options {
    struct loop *loop;
    const char *kubeconfig; /* path; NULL or empty: as a pod finds it */
    const char *master;     /* address that counts before the kubeconfig's; NULL or empty: none */
    struct str content_type;
    double qps;
    int burst;
    const char *suffix;     /* of the user agent of the first two: "scheduler" */
    const char *user_agent; /* without what tells the clients apart */
    struct metrics *metrics; /* where requests are counted; NULL: nowhere */
};

ERR_MUST_CHECK enum err_code connections_new(const struct connections_options *o, struct connections **ret_connections,
                                             struct err *e);
/* All calls end without a word; `stopped` follows. */
void connections_stop(struct connections *c, void (*stopped)(void *context), void *context);
/* After `stopped`. */
void connections_free(struct connections *c);

/* As whom, and who counts requests: for further clients, which must end before these. */
const struct client_config *connections_config(const struct connections *c);
struct rest_observer connections_observer(const struct connections *c);

const struct api *connections_main(const struct connections *c);
const struct api *connections_events(const struct connections *c);
const struct api *connections_lease(const struct connections *c);
