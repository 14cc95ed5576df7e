/* store/lmdb.h - an engine that keeps commits in an LMDB file, used as a log.
 *
 * A record a key and commit, in order of revision (lmdb_record.h), always appended: a commit writes the right edge of
 * the tree. One thread writes; all commits that wait go into one LMDB transaction, with one sync, and are over when
 * that is. The map grows by itself. What the store calls old is deleted in the background, and its pages are used
 * again.
 *
 * A folder holds data.mdb and lock.mdb (LMDB's), berth.lock (held while it is open, so that nobody else
 * writes) and `reserve`, room that is given up when the disk is full, so that deletions still work. All are
 * for the owner alone.
 *
 * Before a file is used it is walked through in a process of its own: every record is read and its checksum compared,
 * and pages that lead LMDB astray end that process, not this one.
 *
 * Thread: as engine.h says. */
#pragma once

#include "store/engine.h"

enum {
    LMDB_COMMIT_BYTES_MAX = 32 << 20,  /* of one LMDB transaction; a commit that is larger has its own */
    LMDB_OLD_PER_COMMIT_MAX = 4096,    /* records deleted in one LMDB transaction */
    LMDB_OLD_MAX = 4 << 20,            /* records that wait to be deleted */
    LMDB_RESERVE_BYTES = 8 << 20,
    LMDB_REVISIONS_AHEAD = 100000,     /* that may be shown before they are on disk; lost numbers after a crash */
    LMDB_PATH_BYTES_MAX = 4000,
};
#define LMDB_FILE_BYTES_MAX ((uint64_t)64 << 30)

struct lmdb_options {
    const char *folder;      /* made when it is not there */
    bool early;              /* relaxed commits may be shown before they are on disk */
    uint64_t file_bytes_max; /* 0: LMDB_FILE_BYTES_MAX; at it, only deletions work */
};

ERR_MUST_CHECK enum err_code lmdb_open(const struct lmdb_options *o, struct engine **ret_engine, struct err *e);
