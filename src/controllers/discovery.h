/* controllers/discovery.h - which resources a far API server serves: its aggregated discovery, read when it is asked for.
 *
 * Of each resource the version that the server prefers counts, as for upstream's controllers. Custom resources are among them,
 * and what other servers add.
 *
 * Bounds: DISCOVERY_RESOURCES_MAX; more are left out, with a word in the log.
 *
 * Thread: the loop's.    Owns: what it read. */
#pragma once

#include "base/arena.h"
#include "client/api.h"

enum { DISCOVERY_RESOURCES_MAX = 10000 };

struct served_resource {
    struct str group, version, plural;
    bool namespaced;
    unsigned verbs; /* VERB_... of api/schema.h */
};

struct discovery;

/* `read` is called after each discovery_begin, never from within: `error` NULL when all was read. */
struct discovery *discovery_new(const struct api *api, void (*read)(void *context, const char *error), void *context);
void discovery_free(struct discovery *d);
/* Reads anew; while that is under way nothing more. */
void discovery_begin(struct discovery *d);

size_t discovery_n(const struct discovery *d);
const struct served_resource *discovery_at(const struct discovery *d, size_t i);
/* Whether the group and version have it, preferred or not. */
bool discovery_serves(const struct discovery *d, struct str group, struct str version, struct str plural);
