/* store/store.h - keys and bytes with revisions: transactions, reads, lists at a revision, watches, expiry.
 *
 * The current state of every key is in memory, in order of the keys, and so is a bounded log of recent changes. One
 * counter numbers the commits; the keys of one commit share its revision.
 *
 *   store_commit decides on preconditions at once, on the state that all commits under way would leave, and gives the
 *   commit its revision. It can be read, and its answer comes, when the engine has it on disk (or, without an
 *   engine, at once), in order of revision. A refusal that a commit under way caused waits for that one: no answer
 *   tells of what is not yet there.
 *   store_poll takes what the engine has finished. Only there, and in store_tick and store_compact, does anything
 *   that can be read change, and only from store_poll do answers come. Items, lists and events that were borrowed last
 *   until then; store_item_ref keeps one.
 *
 * A watch is a place in the log. It gets every change after its revision once, in order; when the log no longer
 * holds what comes next it is told so (ERR_EXPIRED), and begins again with a list. A watch that stands still costs
 * nothing.
 *
 * A write that is marked as relaxed is answered without waiting for its own sync, only for those before it. A crash may
 * lose it; its revision is not given away again, and who watched up to such a revision is told to begin again.
 *
 * When a commit fails (the disk), nothing of it is visible, and all commits after it that were not yet visible fail as
 * well. After a full disk, commits that only delete are taken at once, others again from the next store_tick on, which
 * forgets all changes that it may: what was deleted makes room only then. The disk counts as full until another write has
 * worked; while nobody writes, store_tick lets the engine find out.
 *
 * Thread: one, the loop's.    Owns: the engine. */
#pragma once

#include "base/clock.h"
#include "base/err.h"
#include "store/engine.h"

enum {
    STORE_LOG_EVENTS_MAX = 1 << 20,
    STORE_LOG_BYTES_MAX = 128 << 20,    /* states that are no longer current */
    STORE_COMMIT_WRITES_MAX = 128,      /* keys of one commit, as etcd */
    STORE_OPEN_COMMITS_MAX = 65536,     /* under way */
    STORE_OPEN_BYTES_MAX = 256 << 20,   /* the same */
    STORE_EXPIRE_MAX = 1000,            /* keys that one store_tick lets expire */
};

struct store;

struct store_options {
    const struct clock *clock; /* NULL: the machine's */
    struct engine *own_engine; /* NULL: memory only */
    mailbox_wake wake;         /* store_poll has something to do; any thread, must not block; may be NULL */
    void *context;
    uint32_t log_events_max; /* 0: STORE_LOG_EVENTS_MAX */
    size_t log_bytes_max;    /* 0: STORE_LOG_BYTES_MAX */
};

/* Loads what the engine has. The engine is gone when that fails, too. */
ERR_MUST_CHECK enum err_code store_new(const struct store_options *o, struct store **ret_store, struct err *e);
/* Waits for commits under way; their answers do not come. */
void store_free(struct store *s);

/* ---- Writes ---- */

enum store_must {
    STORE_ANY,        /* whatever is there; but a deletion of nothing is always ERR_NOT_FOUND */
    STORE_NOT_EXIST,  /* else ERR_ALREADY_EXISTS */
    STORE_AT_VERSION, /* mod revision is `revision`, else ERR_CONFLICT, or ERR_NOT_FOUND when nothing is there */
};

struct store_write {
    struct str key, value; /* copied */
    bool deletes;
    enum store_must must;
    uint64_t revision; /* for STORE_AT_VERSION */
    int64_t ttl_ms;    /* 0: stays */
};

struct store_answer {
    enum err_code code;
    uint64_t revision;       /* of the commit; when it was refused or failed: the store's */
    uint32_t n_writes;
    struct store_item *const *items; /* what was written, deletions too; borrowed. NULL when refused */
    uint32_t refused;        /* which of the writes, when a precondition does not hold */
    const char *problem;     /* NULL: done */
};

typedef void (*store_done)(void *context, const struct store_answer *answer);

struct store_commit {
    const struct store_write *writes;
    uint32_t n_writes; /* of different keys */
    bool relaxed;
    bool frees; /* a step of a deletion: taken on a full disk, as one that only deletes is */
};

/* Anything but ERR_OK: not taken, and no answer comes (too large, too many under way, a disk that is full). */
ERR_MUST_CHECK enum err_code store_commit(struct store *s, const struct store_commit *c, store_done done, void *context,
                                          struct err *e);
/* What the next store_commit gets, so that it can be part of the value. */
uint64_t store_next_revision(const struct store *s);
/* True when something that can be read has changed. */
bool store_poll(struct store *s);
/* Lets keys expire, and tries again what a full disk refused; some times a second. */
void store_tick(struct store *s);
/* Forgets changes up to and including this revision, as far as they can be read. */
void store_compact(struct store *s, uint64_t revision);

/* ---- Reads ---- */

/* Of the last change that can be read; 1 before the first. */
uint64_t store_revision(const struct store *s);
/* Changes up to here are no longer known. */
uint64_t store_compacted(const struct store *s);
/* NULL: there is none. */
struct store_item *store_get(const struct store *s, struct str key);
/* When a key that expires will, by the monotonic clock; 0: it stays or is not there. */
int64_t store_expires_ms(const struct store *s, struct str key);

struct store_range {
    struct str prefix;
    struct str from;   /* the first key that is wanted; empty: all of the prefix */
    uint64_t revision; /* 0: the newest */
    uint32_t limit;    /* 0: none */
};

struct store_list {
    struct store_item **items; /* in order of keys */
    size_t n;
    size_t n_left;     /* how many the limit left out; counts keys that are just being created */
    uint64_t revision; /* what the list shows */
};

/* ERR_EXPIRED when the log no longer reaches back to the revision; ERR_TIMEOUT when it is still to come. The array is
 * in the arena. To go on behind the last item: `from` is its key and one byte 0. */
ERR_MUST_CHECK enum err_code store_list(const struct store *s, const struct store_range *r, struct arena *a,
                                        struct store_list *ret_list, struct err *e);

/* ---- Watches ---- */

struct store_watch {
    struct str prefix; /* borrowed */
    uint64_t seq;      /* the next event to look at */
    uint64_t after;    /* revision; nothing up to here is wanted */
};

struct store_event {
    uint64_t revision;
    struct store_item *item; /* NULL: deleted */
    struct store_item *prev; /* NULL: created */
};

/* From the change after a revision on, which may be still to come. ERR_EXPIRED: the log does not reach back so far. */
ERR_MUST_CHECK enum err_code store_watch_init(const struct store *s, struct store_watch *w, struct str prefix,
                                              uint64_t after_revision, struct err *e);
/* ERR_OK and the next event; ERR_NOT_FOUND: none for now; ERR_EXPIRED: overtaken, for good. */
ERR_MUST_CHECK enum err_code store_watch_next(const struct store *s, struct store_watch *w,
                                              struct store_event *ret_event);
/* The log keeps what this watch has yet to be given, beyond its bounds if need be: for a part of the same program that must
 * miss nothing and reads after every store_poll. At its place until the store is no longer polled. */
void store_watch_keep(struct store *s, const struct store_watch *w);
/* All events up to this revision were given out; 0 while that cannot be said. */
uint64_t store_watch_progress(const struct store *s, const struct store_watch *w);

/* ---- What there is ---- */

struct store_facts {
    uint64_t n_keys, n_events, log_bytes, n_open, open_bytes, n_expiring;
    bool full; /* the disk, until a write has worked again */
};

struct store_facts store_facts(const struct store *s);
