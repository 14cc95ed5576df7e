/* store/item.h - one state of one key: what the index, the log, commits under way and readers share.
 *
 * Immutable once it can be read; counted. A state of a key that was deleted has no value.
 *
 * Thread: the store's, counts included; an engine's writer may read the bytes while a commit of it is under way. */
#pragma once

#include <assert.h>

#include "base/mem.h"
#include "base/str.h"

enum {
    STORE_KEY_BYTES_MAX = 2048,      /* /registry/<group>/<resource>/<namespace>/<name>: at most 4 names of 253 */
    STORE_VALUE_BYTES_MAX = 6 << 20, /* a request has at most 3 MiB, and escapes may make JSON longer than protobuf */
};

/* What a reader keeps with an item, as long as the item lives: other forms of its value. */
struct store_attached {
    void (*free)(struct store_attached *own_attached);
};

struct store_item {
    uint64_t mod_revision;
    uint64_t create_revision; /* of the write that made the key exist */
    uint64_t version;         /* writes since then, that one included */
    int64_t ttl_ms;           /* 0 = stays */
    int64_t expires_wall_ms;  /* for the next start; 0 = stays */
    uint32_t n_refs;
    uint32_t n_key, n_value;
    uint32_t part; /* which key of its commit: 0, 1, ... */
    bool deleted;
    struct store_attached *attached; /* what readers made of it; NULL: nothing yet */
    char bytes[]; /* key, value */
};

static inline struct str store_item_key(const struct store_item *i)
{
    return (struct str){ i->bytes, i->n_key };
}

static inline struct str store_item_value(const struct store_item *i)
{
    return (struct str){ i->bytes + i->n_key, i->n_value };
}

/* What it takes in memory, without what readers attached. */
static inline size_t store_item_bytes(const struct store_item *i)
{
    return sizeof(*i) + i->n_key + i->n_value;
}

/* One reference; revisions, version and times are the caller's to fill in. */
struct store_item *store_item_new(struct str key, struct str value, bool deleted);
struct store_item *store_item_ref(struct store_item *i);
/* NULL is nothing. */
void store_item_unref(struct store_item *own_item);
