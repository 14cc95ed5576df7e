/* store/store_priv.h - a store from inside, for store.c, settle.c and read.c. */
#pragma once

#include "base/list.h"
#include "base/vec.h"
#include "store/history.h"
#include "store/index.h"
#include "store/store.h"

/* A commit from store_commit until it was answered and the engine has given it back. */
struct open_commit {
    struct engine_commit commit;
    struct list_node all;  /* in the store's list of that name */
    struct list_node line; /* in `unanswered`, then, when the engine could not keep it, in `lost` */
    store_done done;
    void *context;
    size_t n_bytes;
    enum err_code refused_code; /* a precondition does not hold */
    uint32_t refused;           /* of which write */
    bool relaxed, in_engine, durable, failed, shown; /* durable, failed: what the engine made of it */
    bool asks_for_room; /* no commit at all: whether the disk is still full */
    struct store_item *items[];
};

struct store {
    struct store_options o;
    struct engine *engine; /* NULL: memory only */
    struct index index;
    struct history history;
    struct heap expiring;   /* of index entries */
    struct list all;        /* open commits, oldest first */
    struct list unanswered; /* those that cannot be read yet */
    struct list lost;       /* can be read, but the engine failed to keep them: handed over again by store_tick */
    uint64_t revision;      /* can be read */
    uint64_t next_revision;
    uint64_t compacted;
    uint64_t unknown_from, unknown_to; /* revisions above the one, up to the other: a crash may have lost them */
    uint32_t epoch;
    uint32_t n_open;
    size_t open_bytes;
    bool full;              /* nothing was written since the disk had no room */
    bool refuses;           /* because of that; until the next tick */
    bool asks_for_room;     /* the engine was asked whether there is room again */
    VEC(struct engine_old) old; /* not yet told to the engine */
    VEC(const struct store_watch *) kept; /* what they have not seen stays in the log */
};

/* What commits under way leave of a key; NULL: nothing. */
static inline struct store_item *store_newest(const struct index_entry *entry)
{
    struct store_item *item = entry->newest ? entry->newest : entry->item;
    return item && !item->deleted ? item : NULL;
}

/* The item becomes what can be read of its key, and an event. `entry` is the key's; NULL: it has none. */
void store_show(struct store *s, struct index_entry *entry, struct store_item *item, int64_t deadline_ms);
/* Forgets the oldest change. */
void store_drop_oldest(struct store *s);
/* Keeps the log within its bounds. */
void store_trim(struct store *s);
/* Tells the engine what is old. */
void store_tell_old(struct store *s);
void store_open_free(struct store *s, struct open_commit *own_commit);
void store_hand_over(struct store *s, struct open_commit *o, uint32_t epoch);
