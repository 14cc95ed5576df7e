/* client/cluster_read.h - the objects of some resources of a cluster, read once: lists in pages, all resources at once.
 *
 * Objects are given resource by resource in the order in which they were asked for, and within one as the server lists
 * them, so that the same cluster is read in the same order every time: as `kubectl get a,b,c -A` prints it. Pages of
 * resources whose turn has not come are kept, up to CLUSTER_READ_AHEAD_BYTES_MAX together; beyond that a resource
 * asks for no more until its turn.
 *
 * What may not be read: where a list of all namespaces is forbidden, the one of `ns` is tried, with a warning. A
 * resource that is forbidden or not served gives a warning that names the missing right; if it is `required`, the
 * reading ends.
 * Any other refusal ends it, too. A list whose token has expired begins anew, CLUSTER_READ_AGAIN_MAX times.
 *
 * Only GET is used.
 *
 * Thread: the loop's.    Owns: copies of pages; resources are the schema's. */
#pragma once

#include "api/schema.h"
#include "client/api.h"
#include "client/watch_frame.h"

enum {
    CLUSTER_READ_AHEAD_BYTES_MAX = 128 << 20,
    CLUSTER_READ_AGAIN_MAX = 3,
};

struct cluster_wanted {
    const struct resource *resource;
    bool required;
};

struct cluster_read_sink {
    void *context;
    /* An object of wanted[index], valid during the call. An error ends the reading. */
    enum err_code (*take)(void *context, size_t index, const struct watch_object *object, struct err *e);
    /* What was taken of wanted[index] is void: its list begins anew. */
    void (*again)(void *context, size_t index);
    void (*warn)(void *context, const char *text);
    /* After each page: objects taken so far, of all resources. May be NULL. */
    void (*progress)(void *context, size_t n_objects);
    /* Once, at the end, never from within cluster_read_start. NULL: everything that may be read was. */
    void (*done)(void *context, const char *error);
};

struct cluster_read_options {
    const struct api *api;
    const struct cluster_wanted *wanted; /* must live as long */
    size_t n_wanted;
    const char *ns; /* read instead of all where those are forbidden; NULL: none is */
    struct cluster_read_sink sink;
};

struct cluster_read;

struct cluster_read *cluster_read_start(const struct cluster_read_options *o);
/* Cancels what is under way. Not from within the sink's functions, `done` apart. */
void cluster_read_free(struct cluster_read *r);
/* "/apis/apps/v1/namespaces/shop/deployments"; ns NULL: of all namespaces. */
char *cluster_path(struct arena *a, const struct resource *resource, const char *ns);
