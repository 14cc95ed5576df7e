/* controllers/mirror.h - a copy of a far cluster's objects, in a store of its own, which watches keep current.
 *
 * Keys, values and readers are those of an API server's store, so that controllers read both alike. Objects are decoded and
 * written again as they come: nothing that does not fit its type gets in, and managedFields stay out. Of a kind that nobody
 * but garbage collection looks at only metadata is asked for and kept.
 *
 * What a write was answered with is put in as well (mirror_put), unless the watch is past it. So the copy of one resource goes
 * forward in its versions whatever comes first; and a list says what is gone, but not about what is newer than itself.
 *
 * Bounds: as many objects as the cluster has. The log of changes holds MIRROR_LOG_EVENTS_MAX, and is emptied whenever they
 * were told.
 *
 * Thread: the loop's.    Owns: the store and the reflectors. */
#pragma once

#include "apiserver/stored.h"
#include "client/reflector.h"
#include "http/loop.h"

enum { MIRROR_LOG_EVENTS_MAX = 1 << 16, MIRROR_LOG_BYTES_MAX = 64 << 20 };

struct mirror;

struct mirror_options {
    struct loop *loop;
    const struct api *api;
    bool no_streaming; /* lists come in pages from the start */
    uint64_t seed;
    /* All resources have been listed, and something has changed since: never from within a call here. */
    void (*changed)(void *context);
    void *context;
};

struct mirror *mirror_new(const struct mirror_options *o);
void mirror_free(struct mirror *m);

struct stored *mirror_objects(const struct mirror *m);
/* Begins to watch. `whole`: more than metadata. */
void mirror_add(struct mirror *m, const struct resource *r, bool whole);
bool mirror_keeps_whole(const struct mirror *m, const struct resource *r);
bool mirror_watches(const struct mirror *m, const struct resource *r);
/* All that were added have been listed once. */
bool mirror_has_synced(const struct mirror *m);
/* The first resource that has not; NULL: there is none. */
const struct resource *mirror_waits_for(const struct mirror *m);

/* An object as an answer has it (JSON). The item that can be read now, if it is still there; NULL also when the answer makes
 * no sense, or nobody watches the resource. Nothing that was borrowed from the store is good any more. */
struct store_item *mirror_put(struct mirror *m, const struct resource *r, struct str json);
/* Changes were told: they need not be remembered. */
void mirror_forget_log(struct mirror *m);

/* "/apis/apps/v1/deployments", with "/namespaces/NAMESPACE" and "/NAME" where there are such; to the arena. */
const char *mirror_path(struct arena *a, const struct resource *r, struct str namespace, struct str name);
