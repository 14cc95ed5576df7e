/* controllers/cluster_remote.h - a cluster behind an API server elsewhere: a copy of its objects to read from (mirror.h), and
 * requests in the name of each controller (remote_requests.h).
 *
 *   remote_new     nothing is asked for yet
 *   remote_start   what the server serves is found out, then listed and watched; `synced` follows, and controllers may begin
 *   remote_stop    nothing comes any more, calls under way are told so, connections end; `stopped` follows
 *
 * A call is sent once; conflicts and failures go to the controller, whose work queue comes back to them.
 *
 * Thread: the loop's.    Owns: all parts. */
#pragma once

#include "controllers/accounts.h"
#include "controllers/cluster.h"

struct remote;

struct remote_options {
    struct accounts_options accounts; /* `api` is also for lists and watches */
    bool everything;   /* also what only garbage collection, quotas and namespaces look at */
    bool no_streaming; /* lists come in pages from the start */
    uint64_t seed;
    void (*synced)(void *context);
    void *context;
};

struct remote *remote_new(const struct remote_options *o);
struct cluster *remote_cluster(const struct remote *r);
void remote_start(struct remote *r);
/* What lists are waited for; NULL: none. */
const struct resource *remote_waits_for(const struct remote *r);
/* No more changes are told, and calls under way are answered: controllers can end. */
void remote_halt(struct remote *r);
/* After remote_halt. */
void remote_stop(struct remote *r, void (*stopped)(void *context), void *context);
/* After `stopped`. */
void remote_free(struct remote *r);
