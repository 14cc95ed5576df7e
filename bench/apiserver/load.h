/* bench/apiserver/load.h - a client that asks an API server for the same thing over and over, over TLS and HTTP/2.
 *
 * Several connections with some requests under way on each; the next one goes out when one is answered. It looks at
 * answers no closer than their codes and lengths, so that the server is what bounds a run.
 *
 * Thread: one. */
#pragma once

#include "http/client.h"

enum {
    LOAD_CONNECTIONS_MAX = 2000,
    LOAD_BODY_BYTES = 8192,
    LOAD_URL_BYTES = 512,
};

struct load_options {
    const char *url, *token;
    const char *task;
    uint32_t n;           /* requests, or events */
    uint32_t first;       /* number of the first pod */
    uint32_t objects;     /* how many pods there are to read or change */
    uint32_t connections;
    uint32_t depth;       /* requests under way on each connection, or watchers */
    bool proto, gzip;
    const char *server;   /* ids of its processes, with commas; NULL: none */
};

/* What one run came to. */
struct load_result {
    uint64_t n_done, n_failed, n_bytes;
    double seconds;
    double p50_ms, p99_ms;
    double server_cpu; /* seconds, without the setting up of connections */
};



struct load {
    struct load_options o;
    struct loop *loop;
    struct tls_context *tls;
    struct client *clients[LOAD_CONNECTIONS_MAX];
    uint32_t n_clients, n_stopped;
    struct arena arena; /* of the run */
    struct headers headers, write_headers;
    struct load_result result;
};

double load_now(void);
/* Seconds of CPU time that the server's processes had so far. */
double load_server_cpu(const struct load *l);
void load_die(const char *text) __attribute__((noreturn));
/* One client is one connection. */
void load_open(struct load *l, uint32_t n_connections);
void load_close(struct load *l);

/* ---- Pods ---- */

/* The body of a request about pod `number`, in the form of the run. `change` makes updates differ. */
struct str load_pod(struct load *l, uint32_t number, uint32_t change, bool status, char room[LOAD_BODY_BYTES]);

struct str load_node(struct load *l, uint32_t number, char room[LOAD_BODY_BYTES]);

/* ---- What there is to measure ---- */

void load_requests(struct load *l); /* create, nodes, get, status, patch, list */
void load_schedule(struct load *l); /* create pods, and a watch that tells when each of them has a node */
void load_watches(struct load *l);  /* fan-out: depth watchers on each connection see n pods being made */
