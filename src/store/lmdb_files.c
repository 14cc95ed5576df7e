/* store/lmdb_files.c - see lmdb_files.h. */
#include "store/lmdb_files.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/lmdb.h"

enum { DAMAGED_EXIT = 3, PROBLEM_BYTES = 512 };

static enum err_code fail(struct err *e, const char *what, int rc)
{
    return err_set(e, ERR_IO, "%s: %s", what, mdb_strerror(rc));
}

static enum err_code path_of(const char *folder, const char *name, char to[LMDB_PATH_BYTES_MAX], struct err *e)
{
    int n = snprintf(to, LMDB_PATH_BYTES_MAX, "%s/%s", folder, name);
    if (n < 0 || n >= LMDB_PATH_BYTES_MAX)
        return err_set(e, ERR_INVALID, "the name of the folder has more than %d bytes", LMDB_PATH_BYTES_MAX);
    return ERR_OK;
}

enum err_code lmdb_lock(const char *folder, int *ret_fd, struct err *e)
{
    char path[LMDB_PATH_BYTES_MAX];
    if (path_of(folder, "berth.lock", path, e))
        return e->code;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        int error = errno;
        close(fd);
        if (error == EWOULDBLOCK)
            return err_set(e, ERR_CONFLICT, "%s: the store is in use by another process", folder);
        return err_set(e, ERR_IO, "%s: %s", path, strerror(error));
    }
    *ret_fd = fd;
    return ERR_OK;
}

/* ---- Walking ---- */

static struct str str_of_val(MDB_val v)
{
    return (struct str){ v.mv_data, v.mv_size };
}

/* What the record about the file says, and the last key. */
static enum err_code read_state(MDB_cursor *cursor, struct engine_state *ret_state, bool *ret_empty, struct err *e)
{
    MDB_val key, value;
    uint64_t revision;
    uint32_t part;
    int rc = mdb_cursor_get(cursor, &key, &value, MDB_FIRST);
    *ret_empty = rc == MDB_NOTFOUND;
    if (rc == MDB_NOTFOUND) {
        *ret_state = (struct engine_state){ 0 };
        return ERR_OK;
    }
    if (rc)
        return fail(e, "its first page", rc);
    struct lmdb_key about = lmdb_key_make(0, 0);
    if (key.mv_size != LMDB_KEY_BYTES || memcmp(key.mv_data, about.bytes, LMDB_KEY_BYTES) != 0)
        return err_set(e, ERR_IO, "it is no store of berth");
    if (lmdb_state_read(str_of_val(value), ret_state, e))
        return e->code;
    rc = mdb_cursor_get(cursor, &key, &value, MDB_LAST);
    if (rc)
        return fail(e, "its last page", rc);
    if (key.mv_size != LMDB_KEY_BYTES)
        return err_set(e, ERR_IO, "a record has a key of %zu bytes, not %d", key.mv_size, LMDB_KEY_BYTES);
    lmdb_key_split(key.mv_data, &revision, &part);
    if (revision > INT64_MAX)
        return err_set(e, ERR_IO, "a record has an impossible revision");
    if (revision > ret_state->revision)
        ret_state->revision = revision;
    if (ret_state->revision > ret_state->ceiling)
        ret_state->ceiling = ret_state->revision;
    return ERR_OK;
}

static enum err_code walk_records(MDB_cursor *cursor, engine_visit visit, void *context, struct lmdb_facts *facts,
                                  struct err *e)
{
    MDB_val key, value;
    uint8_t before[LMDB_KEY_BYTES] = { 0 };
    int rc;
    while ((rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
        struct store_item *item;
        if (lmdb_record_read(str_of_val(key), str_of_val(value), &item, e))
            return e->code;
        bool in_order = memcmp(before, key.mv_data, LMDB_KEY_BYTES) < 0;
        memcpy(before, key.mv_data, LMDB_KEY_BYTES);
        facts->n_records++;
        facts->n_deletions += item->deleted;
        facts->record_bytes += (uint64_t)item->n_key + item->n_value;
        if (visit && in_order)
            visit(context, &facts->state, item);
        else
            store_item_unref(item);
        if (!in_order)
            return err_set(e, ERR_IO, "records are out of order");
    }
    return rc == MDB_NOTFOUND ? ERR_OK : fail(e, "a page", rc);
}

/* Its tree says how many records there are; pages that were lost would take some with them. */
static enum err_code check_count(MDB_txn *txn, MDB_dbi dbi, const struct lmdb_facts *facts, struct err *e)
{
    MDB_stat stat;
    int rc = mdb_stat(txn, dbi, &stat);
    if (rc)
        return fail(e, "its tree", rc);
    uint64_t n = facts->n_records + 1; /* and the one about the file */
    if (stat.ms_entries != n)
        return err_set(e, ERR_IO, "it has %llu records and should have %llu", (unsigned long long)n,
                       (unsigned long long)stat.ms_entries);
    return ERR_OK;
}

static enum err_code walk_txn(MDB_txn *txn, engine_visit visit, void *context, struct lmdb_facts *facts, struct err *e)
{
    MDB_dbi dbi;
    MDB_cursor *cursor;
    MDB_val key, value;
    bool empty;
    int rc = mdb_dbi_open(txn, NULL, 0, &dbi);
    if (!rc)
        rc = mdb_cursor_open(txn, dbi, &cursor);
    if (rc)
        return fail(e, "its tree", rc);
    enum err_code code = read_state(cursor, &facts->state, &empty, e);
    if (!code && !empty) {
        rc = mdb_cursor_get(cursor, &key, &value, MDB_FIRST);
        code = rc ? fail(e, "its first page", rc) : walk_records(cursor, visit, context, facts, e);
        if (!code)
            code = check_count(txn, dbi, facts, e);
    }
    mdb_cursor_close(cursor);
    return code;
}

enum err_code lmdb_walk(struct MDB_env *env, engine_visit visit, void *context, struct lmdb_facts *facts, struct err *e)
{
    MDB_txn *txn;
    struct stat st;
    mdb_filehandle_t fd;
    *facts = (struct lmdb_facts){ 0 };
    if (mdb_env_get_fd(env, &fd) == 0 && fstat(fd, &st) == 0)
        facts->file_bytes = (uint64_t)st.st_size;
    int rc = mdb_txn_begin(env, NULL, MDB_RDONLY, &txn);
    if (rc)
        return fail(e, "cannot be read", rc);
    enum err_code code = walk_txn(txn, visit, context, facts, e);
    mdb_txn_abort(txn);
    return code;
}

/* ---- In a process of its own ---- */

static void on_assert(MDB_env *env, const char *message)
{
    (void)env;
    (void)message;
    _exit(DAMAGED_EXIT);
}

static enum err_code open_to_read(const char *path, unsigned flags, MDB_env **ret_env, struct err *e)
{
    MDB_env *env;
    int rc = mdb_env_create(&env);
    if (rc)
        return fail(e, "LMDB", rc);
    mdb_env_set_assert(env, on_assert);
    rc = mdb_env_open(env, path, MDB_RDONLY | MDB_NOTLS | flags, 0600);
    if (rc) {
        mdb_env_close(env);
        return rc == MDB_INVALID || rc == MDB_VERSION_MISMATCH ? err_set(e, ERR_IO, "it is no file of LMDB, or damaged")
                                                               : err_set(e, ERR_IO, "%s", mdb_strerror(rc));
    }
    *ret_env = env;
    return ERR_OK;
}

struct verdict {
    struct lmdb_facts facts;
    enum err_code code;
    char problem[PROBLEM_BYTES];
};

/* copy_fd: where the pages go; -1: they are only read. */
static enum err_code walk_or_copy(const char *path, unsigned flags, int copy_fd, struct lmdb_facts *facts,
                                  struct err *e)
{
    MDB_env *env = NULL;
    if (open_to_read(path, flags, &env, e))
        return e->code;
    enum err_code code = ERR_OK;
    int rc = copy_fd >= 0 ? mdb_env_copyfd2(env, copy_fd, MDB_CP_COMPACT) : 0;
    if (rc)
        code = fail(e, "the copy", rc);
    else if (copy_fd < 0)
        code = lmdb_walk(env, NULL, NULL, facts, e);
    mdb_env_close(env);
    return code;
}

static void work_in_child(const char *path, unsigned flags, int copy_fd, int to)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };
    struct verdict v = { 0 };
    struct arena a;
    struct err e;
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        signal(signals[i], SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* without its parent there is nobody to tell */
    arena_init(&a);
    err_init(&e, &a);
    v.code = walk_or_copy(path, flags, copy_fd, &v.facts, &e);
    if (v.code)
        snprintf(v.problem, sizeof(v.problem), "%s", e.message);
    arena_fini(&a);
    _exit(write(to, &v, sizeof(v)) == (ssize_t)sizeof(v) ? 0 : DAMAGED_EXIT);
}

/* False: it ended without a word. */
static bool read_verdict(int from, pid_t child, struct verdict *ret_verdict)
{
    size_t n = 0;
    ssize_t got;
    int status;
    while (n < sizeof(*ret_verdict)
           && ((got = read(from, (char *)ret_verdict + n, sizeof(*ret_verdict) - n)) > 0 || (got < 0 && errno == EINTR)))
        n += got > 0 ? (size_t)got : 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return n == sizeof(*ret_verdict);
}

/* LMDB files are opened there also because a process may open one only once: closing it would give up the locks of a
 * store that is open here. */
static enum err_code run_child(const char *path, unsigned flags, int copy_fd, struct lmdb_facts *ret_facts,
                               struct err *e)
{
    int ends[2];
    struct verdict v;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    pid_t child = fork();
    if (child == 0)
        work_in_child(path, flags, copy_fd, ends[1]);
    int error = errno;
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return err_set(e, ERR_IO, "%s: no process to read it: %s", path, strerror(error));
    }
    bool told = read_verdict(ends[0], child, &v);
    close(ends[0]);
    if (!told)
        return err_set(e, ERR_IO, "%s: the file is damaged: its pages cannot be followed", path);
    if (v.code)
        return err_set(e, v.code, "%s: %s", path, v.problem);
    *ret_facts = v.facts;
    return ERR_OK;
}

enum err_code lmdb_verify(const char *folder, struct lmdb_facts *ret_facts, struct err *e)
{
    return run_child(folder, 0, -1, ret_facts, e);
}

/* Nobody writes to it, and it gets no lock file beside it. */
enum err_code lmdb_verify_file(const char *path, struct lmdb_facts *ret_facts, struct err *e)
{
    return run_child(path, MDB_NOSUBDIR | MDB_NOLOCK, -1, ret_facts, e);
}

/* ---- Copies ---- */

static enum err_code sync_folder_of(const char *path, struct err *e)
{
    char folder[LMDB_PATH_BYTES_MAX];
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    if (n >= sizeof(folder))
        return err_set(e, ERR_INVALID, "the name of a file has more than %d bytes", LMDB_PATH_BYTES_MAX);
    memcpy(folder, slash ? path : ".", slash ? n : 1);
    folder[slash ? n : 1] = '\0';
    int fd = open(folder[0] ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? -1 : fsync(fd);
    int error = errno;
    if (fd >= 0)
        close(fd);
    return rc == 0 ? ERR_OK : err_set(e, ERR_IO, "%s: %s", folder, strerror(error));
}

static enum err_code copy_pages(const char *folder, int fd, struct err *e)
{
    struct lmdb_facts none;
    return run_child(folder, 0, fd, &none, e);
}

static enum err_code copy_bytes(const char *from, int to, struct err *e)
{
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, ERR_IO, "%s: %s", from, strerror(errno));
    enum { PIECE = 1 << 20 };
    char *piece = mem_alloc(PIECE);
    enum err_code code = ERR_OK;
    ssize_t got;
    while (!code && (got = read(fd, piece, PIECE)) != 0) {
        if (got < 0 && errno != EINTR)
            code = err_set(e, ERR_IO, "%s: %s", from, strerror(errno));
        for (ssize_t done = 0; !code && done < got;) {
            ssize_t n = write(to, piece + done, (size_t)(got - done));
            if (n < 0 && errno != EINTR)
                code = err_set(e, ERR_IO, "writing the copy: %s", strerror(errno));
            done += n > 0 ? n : 0;
        }
    }
    free(piece);
    close(fd);
    return code;
}

/* Into a new file beside its place, which is checked, synced, and then gets its name. */
static enum err_code copy_to(const char *from, enum err_code (*copy)(const char *from, int fd, struct err *e),
                             const char *path, bool replace, struct lmdb_facts *ret_facts, struct err *e)
{
    char temporary[LMDB_PATH_BYTES_MAX];
    int n = snprintf(temporary, sizeof(temporary), "%s.new", path);
    if (n < 0 || (size_t)n >= sizeof(temporary))
        return err_set(e, ERR_INVALID, "the name of a file has more than %d bytes", LMDB_PATH_BYTES_MAX);
    if (!replace && access(path, F_OK) == 0)
        return err_set(e, ERR_ALREADY_EXISTS, "%s: it exists already", path);
    int fd = open(temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(e, ERR_IO, "%s: %s", temporary, strerror(errno));
    enum err_code code = copy(from, fd, e);
    if (!code && fsync(fd) != 0)
        code = err_set(e, ERR_IO, "%s: %s", temporary, strerror(errno));
    close(fd);
    if (!code)
        code = lmdb_verify_file(temporary, ret_facts, e);
    if (!code && rename(temporary, path) != 0)
        code = err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    if (code)
        unlink(temporary);
    return code ? code : sync_folder_of(path, e);
}

enum err_code lmdb_backup(const char *folder, const char *path, struct lmdb_facts *ret_facts, struct err *e)
{
    if (lmdb_verify(folder, ret_facts, e))
        return e->code; /* its copy would be as bad */
    return copy_to(folder, copy_pages, path, false, ret_facts, e);
}

enum err_code lmdb_restore(const char *path, const char *folder, struct lmdb_facts *ret_facts, struct err *e)
{
    char data[LMDB_PATH_BYTES_MAX];
    int lock;
    if (path_of(folder, "data.mdb", data, e) || lmdb_verify_file(path, ret_facts, e))
        return e->code;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return err_set(e, ERR_IO, "%s: %s", folder, strerror(errno));
    if (lmdb_lock(folder, &lock, e))
        return e->code;
    enum err_code code = copy_to(path, copy_bytes, data, false, ret_facts, e);
    close(lock);
    return code;
}

enum err_code lmdb_shrink(const char *folder, struct err *e)
{
    char data[LMDB_PATH_BYTES_MAX];
    struct lmdb_facts facts;
    int lock;
    if (path_of(folder, "data.mdb", data, e) || lmdb_lock(folder, &lock, e))
        return e->code;
    enum err_code code = copy_to(folder, copy_pages, data, true, &facts, e);
    close(lock);
    return code;
}
