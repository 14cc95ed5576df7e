/* daemon/api_process.h - `berth apiserver`: a store, the API server on it and a port, from their start to their end.
 *
 *   start     the store is opened, keys are read or made, the address is taken, the server's own objects are made
 *   ready     a line on standard output says so; requests are answered since the address was taken
 *   stopping  on SIGTERM or SIGINT: /readyz fails at once; after --shutdown-delay-duration nothing new is taken, watches
 *             end, and what is under way may finish; a second signal ends the process
 *
 * Thread: main, which becomes the loop's and the store's. */
#pragma once

#include "apiserver/server.h"
#include "config/apiserver_flags.h"
#include "config/features.h"
#include "daemon/component_metrics.h"

enum {
    API_STREAMS = 250,               /* of a connection, when the flag says 0 */
    API_TICK_MS = 100,               /* between two looks at what expires */
    API_STOP_MS = 60 * 1000,         /* that requests under way may still take at the end, as upstream */
};

/* What a guest gets to see of the process. */
struct api_host {
    struct loop *loop;
    struct apiserver *server;
    struct stored *objects;
    struct cluster *cluster;
    struct metrics *metrics;
    uint64_t seed;
};

/* Somebody who works beside the API server, on its loop and on its store: a scheduler, nodes. All on the loop's thread. */
struct api_guest {
    void *context;
    /* The server is there, and nobody can ask it yet. */
    enum err_code (*join)(void *context, const struct api_host *host, struct err *e);
    /* The server's own objects are there: the guest begins, and tells when all is ready. */
    enum err_code (*begin)(void *context, struct err *e);
    /* The store has been polled. */
    void (*poll)(void *context);
    /* The end has been asked for: nothing new is begun. */
    void (*pause)(void *context);
    /* Nobody asks any more; `stopped` follows. */
    void (*stop)(void *context, void (*stopped)(void *process), void *process);
    /* The store is not polled any more. */
    void (*free)(void *context);
};

struct api_process_options {
    const struct apiserver_flags *flags;
    const struct gates *gates;
    struct component_build build;
    void (*tell)(struct str line); /* to standard output: what scripts wait for; not with a guest, who tells it himself */
    const struct api_guest *guest; /* NULL: none */
    struct str root_ca_pem;        /* what pods are told to trust; empty: the certificate, if it was made here */
};

/* Until a signal or an error; the exit code. */
int api_process_run(const struct api_process_options *o);
