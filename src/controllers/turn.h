/* controllers/turn.h - a key of a work queue while it is worked on: the calls that are out for it, and how they ended.
 *
 * A turn begins with turn_new, from within the queue's work function, and is over when turn_end was called and every call has
 * come back: then the queue hears of it, and a turn in which something failed is repeated. The API server ends before the
 * controllers do, so no call comes back to a queue that is gone.
 *
 * Thread: the loop's.    Owns: itself. */
#pragma once

#include "controllers/cluster.h"
#include "controllers/work_queue.h"

struct turn {
    struct cluster *cluster;
    struct work_queue *queue;
    const char *controller; /* its service account */
    uint32_t n_out;
    bool failed;
    size_t n_key;
    char key[];
};

/* Keys of objects with a namespace: "namespace/name"; without: the name. */
struct str turn_key_of(struct arena *a, struct str namespace, struct str name);
void turn_read_key(struct str key, struct str *ret_namespace, struct str *ret_name);

struct turn *turn_new(struct cluster *c, struct work_queue *q, const char *controller, struct str key);
/* `controller`, `done` and `context` are the turn's. What is not there any more, and what a namespace that ends refuses, is
 * no failure. */
void turn_begin(struct turn *t, struct cluster_call call);
/* The key is to be looked at again, after its back-off. */
void turn_fail(struct turn *t);
void turn_end(struct turn *t);
