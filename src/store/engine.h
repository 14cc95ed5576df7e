/* store/engine.h - what makes a store durable: load everything once, commit, forget what is no longer needed, close.
 *
 * The store owns keys, preconditions and what can be read; an engine only has to keep commits. They are handed over in
 * the order of their revisions and come back through `take` in the same order, with an outcome. Many may be
 * under way: an engine syncs once for all that wait.
 *
 * When a commit fails, those after it were decided on what it would have left: all with its epoch fail as well, and the
 * store begins a new epoch once it has seen one of them. Those of ENGINE_ALONE can be read already: such a one fails
 * alone, and the store hands it over again.
 *
 * A commit without items, which has no revision, asks whether there is room for some writes: it fails when there is none.
 *
 * For an engine that others write to as well (etcd): it may put another revision into a commit before it gives it back,
 * and what others wrote goes through the visitor of `load`, which such an engine may keep and call from `take`.
 *
 * Thread: all functions on the store's; the engine has its own threads inside, which call only `wake`. */
#pragma once

#include "base/err.h"
#include "base/mailbox.h"
#include "store/item.h"

enum { ENGINE_ALONE = 0 };

struct engine_commit {
    struct mail mail;
    uint64_t revision;
    uint32_t epoch;
    uint32_t n_items;
    struct store_item *const *items; /* borrowed until the commit comes back */
    bool frees;                /* may use what is kept for deletions */
    enum err_code code;        /* from here on: the outcome */
    bool no_space;             /* it failed because the disk is full; deletions may still work */
    char problem[120];         /* text of a failure */
};

/* A revision that nobody needs any more: neither current nor in the log. */
struct engine_old {
    uint64_t revision;
    uint32_t part; /* which key of the commit */
};

struct engine_state {
    uint64_t revision;  /* the last one that is kept */
    uint64_t ceiling;   /* no revision above it was ever shown; at least `revision` */
    uint64_t compacted; /* what happened up to here is not known; 0: everything is there */
};

struct engine {
    const struct engine_ops *ops;
};

/* Every record, in order of revision and part; the state is the same each time. */
typedef void (*engine_visit)(void *context, const struct engine_state *state, struct store_item *own_item);

struct engine_ops {
    /* Once, before anything else. An error: it must not be used. */
    enum err_code (*load)(struct engine *n, engine_visit visit, void *context, struct engine_state *ret_state,
                          struct err *e);
    /* Once, after load. `wake` (may be NULL) is called on any thread when `take` has something; `revision` is the
     * store's. */
    enum err_code (*start)(struct engine *n, mailbox_wake wake, void *context, uint64_t revision, struct err *e);
    void (*commit)(struct engine *n, struct engine_commit *commit);
    /* Those that are over, oldest first, linked by mail.next; NULL: none. */
    struct mail *(*take)(struct engine *n);
    /* No revision above this one may be shown before its commit came back. Only grows. */
    uint64_t (*ceiling)(struct engine *n);
    /* Forgets these some time, in this order, and remembers that history begins after `compacted`. Copies the array. */
    void (*compact)(struct engine *n, const struct engine_old *old, size_t n_old, uint64_t compacted);
    /* Waits for what is under way; what `take` has not given back is forgotten. Frees it. `shown`: the store's
     * revision. */
    void (*close)(struct engine *own_engine, uint64_t shown);
};
