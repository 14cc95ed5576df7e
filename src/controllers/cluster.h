/* controllers/cluster.h - what controllers see of a cluster, and how they change it.
 *
 * Reading looks at the objects in memory; what is returned is good until the cluster is polled. Changes are told in the order
 * in which they happened, to all who asked for the resource. Writes are made as the service account of the controller, and
 * end in a callback: never from within the call that began them.
 *
 * There are two kinds. Beside an API server of this process (cluster_local.c) the objects are the store's own, and writes go
 * through the server's handlers. Far from it (cluster_remote.h) they are a copy that watches keep current, so it may be a
 * little old: a write that was answered can be read at once, but that something is missing proves nothing (cluster_is_gone,
 * cluster_is_swept).
 *
 * Thread: the store's.    Owns: copies of what a call is given. */
#pragma once

#include "apiserver/server.h"
#include "apiserver/stored.h"

struct cluster;

/* With the API server of this process. */
struct cluster *cluster_new(struct apiserver *s, struct loop *l, struct stored *objects);
/* No more is done: calls under way are told so, whatever becomes of them; the store must not be polled any more. */
void cluster_stop(struct cluster *c);
/* Nothing is under way. */
void cluster_free(struct cluster *c);
/* After each poll of the store: tells changes, all of them. */
void cluster_poll(struct cluster *c);

struct stored *cluster_objects(const struct cluster *c);
struct loop *cluster_loop(const struct cluster *c);
int64_t cluster_now_s(const struct cluster *c); /* wall clock */

/* ---- Changes ---- */

/* `item` is NULL when it was deleted, `prev` when it is new. */
typedef void cluster_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev);

/* Everything that is there is told first, as new, with the next poll. NULL: of all resources. */
void cluster_watch(struct cluster *c, const struct resource *r, cluster_changed *changed, void *context);

/* Whether there can be any: the row is the one under which they are stored, and they can be watched. */
bool cluster_has_objects(const struct resource *r);

/* metadata alone, decoded into the arena: a value of meta/v1.PartialObjectMetadata. */
struct value cluster_metadata(struct arena *a, const struct store_item *item);
/* The whole of it, of the resource's type. Unlike stored_value nothing is kept with the item: for kinds of which there are
 * many. */
struct value cluster_value(struct arena *a, const struct resource *r, const struct store_item *item);
/* NULL: none. */
struct store_item *cluster_item(struct cluster *c, const struct resource *r, struct str namespace, struct str name);
/* The row that an owner reference means, or NULL. */
const struct resource *cluster_resource_of_kind(struct str api_version, struct str kind);

/* ---- What is not there ---- */

struct cluster_object {
    const struct resource *resource;
    struct str namespace, name, uid; /* an empty uid: any */
};

/* Of one that cannot be read here, or with another uid: whether it surely is gone. False: that is being found out; ask again
 * soon. */
bool cluster_is_gone(struct cluster *c, const struct cluster_object *o);
/* Of a namespace that is being deleted and in which nothing can be read here: whether it surely is empty. False: the rest is
 * being deleted; ask again soon. */
bool cluster_is_swept(struct cluster *c, struct str namespace);

/* ---- Writes ---- */

enum cluster_verb { CLUSTER_CREATE, CLUSTER_UPDATE, CLUSTER_PATCH_MERGE, CLUSTER_PATCH_STRATEGIC, CLUSTER_DELETE };

/* What came of a call; good within the callback. */
struct cluster_outcome {
    enum err_code code;
    const char *message;     /* of a failure */
    struct store_item *item; /* the object as it is stored now; NULL: none */
    bool namespace_ends;     /* refused because the namespace takes nothing new any more */
};

struct cluster_call {
    enum cluster_verb verb;
    const char *controller; /* system:serviceaccount:kube-system:CONTROLLER */
    struct str node;        /* not empty: system:node:NODE instead, the kubelet of that node */
    const struct resource *resource;
    const char *subresource; /* NULL: the object itself */
    struct str namespace, name;
    const struct value *object; /* to create or update, of the resource's type */
    struct str patch;           /* JSON; to create without `object`: the body */
    struct str uid, resource_version; /* preconditions of a deletion; empty: none */
    const char *propagation;          /* of a deletion: "Background"; NULL: not said */
    bool at_once;                     /* of a deletion: without a grace period */
    /* The outcome; `message` is good within the callback. */
    void (*done)(void *context, enum err_code code, const char *message);
    /* Told before `done` to those who want more; either may be NULL. */
    void (*answered)(void *context, const struct cluster_outcome *outcome);
    void *context;
};

void cluster_begin(struct cluster *c, const struct cluster_call *call);
uint32_t cluster_n_under_way(const struct cluster *c);

/* ---- Who carries it out ---- */

struct cluster_backend {
    void *own_context;
    void (*begin)(void *context, const struct cluster_call *call);
    void (*stop)(void *context);
    void (*free)(void *own_context);
    uint32_t (*n_under_way)(const void *context);
    /* Either may be NULL: what can be read is all there is. */
    bool (*is_gone)(void *context, const struct cluster_object *o);
    bool (*is_swept)(void *context, struct str namespace);
};

struct cluster *cluster_over(struct loop *l, struct stored *objects, const struct cluster_backend *b);
