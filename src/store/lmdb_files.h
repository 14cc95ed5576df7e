/* store/lmdb_files.h - what can be done with an LMDB file as a whole: check it, copy it, put a copy back.
 *
 * Thread: any, one at a time. */
#pragma once

#include "store/lmdb_record.h"

struct MDB_env;

struct lmdb_facts {
    uint64_t n_records, n_deletions, record_bytes; /* bytes of keys and values */
    uint64_t file_bytes;
    struct engine_state state; /* with the last record's revision, when that is the higher one */
};

/* Walks through a folder's file in a process of its own, whoever writes to it at the time. An error tells what is
 * wrong. */
ERR_MUST_CHECK enum err_code lmdb_verify(const char *folder, struct lmdb_facts *ret_facts, struct err *e);
/* The same with a single file, as backups are. */
ERR_MUST_CHECK enum err_code lmdb_verify_file(const char *path, struct lmdb_facts *ret_facts, struct err *e);

/* A consistent copy, without free pages, of a store that may be in use. It is checked before it gets its name; what
 * has the name already is not replaced. */
ERR_MUST_CHECK enum err_code lmdb_backup(const char *folder, const char *path, struct lmdb_facts *ret_facts,
                                         struct err *e);
/* The folder must have no store. */
ERR_MUST_CHECK enum err_code lmdb_restore(const char *path, const char *folder, struct lmdb_facts *ret_facts,
                                          struct err *e);
/* Copies without free pages over the file itself; nobody may use it. */
ERR_MUST_CHECK enum err_code lmdb_shrink(const char *folder, struct err *e);

/* ---- Shared with lmdb.c ---- */

/* Holds berth.lock; ret_fd is to be closed. */
ERR_MUST_CHECK enum err_code lmdb_lock(const char *folder, int *ret_fd, struct err *e);
/* Hands every record to `visit` (NULL: only checks), and counts. A file without any record is a
 * store that was never used. */
ERR_MUST_CHECK enum err_code lmdb_walk(struct MDB_env *env, engine_visit visit, void *context, struct lmdb_facts *facts,
                                       struct err *e);
