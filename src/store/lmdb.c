/* store/lmdb.c - see lmdb.h.
 *
 * The writer thread owns the environment once it runs: it alone begins transactions, so it may change the size of the
 * map between two of them.
 *
 * A full disk: a deletion that finds no room gives up the reserve. Nothing else is written before the reserve is there
 * again: what deletions freed is first of all for the next ones. At the limit of the file itself deletions may go past it
 * by as much. */
#include "store/lmdb.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/vec.h"
#include "store/lmdb_files.h"

enum {
    MAP_BYTES_FIRST = 64 << 20,
    OLD_WAIT_MS = 1000, /* a few old records wait for more */
    MAILS_MAX = 1 << 30, /* the store has a bound of its own */
    FULL_BYTES = 1 << 20, /* a disk with less than this is full, and so is a file that may not grow by it */
};

struct old_mail {
    struct mail mail;
    uint64_t compacted;
    size_t n;
    struct engine_old at[];
};

struct lmdb {
    struct engine engine;
    char *folder;
    bool early, running;
    uint64_t file_bytes_max;
    int lock_fd;
    MDB_env *env;
    struct mailbox commits, old_mails, done;
    struct bell bell; /* of the writer */
    pthread_t thread;
    _Atomic uint64_t ceiling; /* on disk */
    _Atomic bool stopping;
    uint64_t shown; /* at the end */

    /* The writer's. */
    MDB_dbi dbi;
    struct engine_state state; /* on disk; revision: of the last record */
    uint32_t failed_epoch;
    uint64_t map_bytes;
    bool has_reserve;
    bool lacks_space; /* the last job did not find any */
    VEC(struct engine_commit *) batch;
    VEC(struct engine_old) old;
    uint64_t old_compacted;
};

static struct lmdb *lmdb_of(struct engine *n)
{
    return (struct lmdb *)n;
}

static enum err_code fail(const struct lmdb *l, int rc, struct err *e)
{
    return err_set(e, ERR_IO, "%s: %s", l->folder, mdb_strerror(rc));
}

static bool is_no_space(int rc)
{
    return rc == MDB_MAP_FULL || rc == ENOSPC || rc == EDQUOT || rc == EFBIG;
}

/* ---- The reserve ---- */

static void reserve_path(const struct lmdb *l, char to[LMDB_PATH_BYTES_MAX])
{
    snprintf(to, LMDB_PATH_BYTES_MAX, "%s/reserve", l->folder); /* the length was checked by lmdb_lock */
}

/* 0: it is there, or cannot be for another reason than a full disk. */
static int take_reserve(struct lmdb *l)
{
    char path[LMDB_PATH_BYTES_MAX];
    if (l->has_reserve)
        return 0;
    reserve_path(l, path);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return is_no_space(errno) ? errno : 0;
    int rc = posix_fallocate(fd, 0, LMDB_RESERVE_BYTES);
    close(fd);
    l->has_reserve = rc == 0;
    if (rc)
        unlink(path);
    return is_no_space(rc) ? rc : 0;
}

/* False: there was none. */
static bool give_up_reserve(struct lmdb *l)
{
    char path[LMDB_PATH_BYTES_MAX];
    bool had = l->has_reserve;
    reserve_path(l, path);
    if (had)
        unlink(path);
    l->has_reserve = false;
    return had;
}

/* The last write before a disk is full is cut short, which LMDB takes for an error of input and output. */
static int true_error(const struct lmdb *l, int rc)
{
    struct statvfs fs;
    bool full = rc == EIO && statvfs(l->folder, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < FULL_BYTES;
    return full ? ENOSPC : rc;
}

/* ---- One LMDB transaction ---- */

/* What goes into it. */
struct job {
    struct engine_commit *const *commits;
    size_t n_commits;
    const struct engine_old *old;
    size_t n_old;
    struct engine_state state; /* afterwards */
    bool with_state;           /* it is written */
    bool deletes;              /* may use what is kept for deletions */
    bool wants_room;           /* for others */
};

static int put(MDB_txn *txn, MDB_dbi dbi, struct lmdb_key key, size_t n, unsigned flags, uint8_t **ret_room)
{
    MDB_val k = { LMDB_KEY_BYTES, key.bytes }, v = { n, NULL };
    int rc = mdb_put(txn, dbi, &k, &v, MDB_RESERVE | flags);
    *ret_room = v.mv_data;
    return rc;
}

static int put_commit(struct lmdb *l, MDB_txn *txn, const struct engine_commit *c)
{
    for (uint32_t i = 0; i < c->n_items; i++) {
        uint8_t *room;
        struct lmdb_key key = lmdb_key_make(c->revision, i);
        /* one that was lost comes again after others */
        unsigned flags = c->revision > l->state.revision ? MDB_APPEND : 0;
        int rc = put(txn, l->dbi, key, lmdb_record_bytes(c->items[i]), flags, &room);
        if (rc)
            return rc;
        lmdb_record_write(c->items[i], key, room);
    }
    return 0;
}

static int put_state(struct lmdb *l, MDB_txn *txn, const struct engine_state *state)
{
    uint8_t *room;
    int rc = put(txn, l->dbi, lmdb_key_make(0, 0), LMDB_STATE_BYTES, 0, &room);
    if (!rc)
        lmdb_state_write(state, room);
    return rc;
}

static int fill_txn(struct lmdb *l, MDB_txn *txn, const struct job *j)
{
    int rc = j->with_state ? put_state(l, txn, &j->state) : 0;
    for (size_t i = 0; !rc && i < j->n_commits; i++)
        rc = put_commit(l, txn, j->commits[i]);
    for (size_t i = 0; !rc && i < j->n_old; i++) {
        struct lmdb_key key = lmdb_key_make(j->old[i].revision, j->old[i].part);
        MDB_val k = { LMDB_KEY_BYTES, key.bytes };
        rc = mdb_del(txn, l->dbi, &k, NULL);
        if (rc == MDB_NOTFOUND)
            rc = 0;
    }
    return rc;
}

/* Of the file, not of the disk: nothing is written. */
static int try_room(struct lmdb *l, size_t n_bytes)
{
    MDB_txn *txn;
    uint8_t *room;
    int rc = mdb_txn_begin(l->env, NULL, 0, &txn);
    if (rc)
        return rc;
    rc = put(txn, l->dbi, lmdb_key_make(0, 0), n_bytes, 0, &room);
    mdb_txn_abort(txn);
    return rc;
}

static int try_job(struct lmdb *l, const struct job *j)
{
    MDB_txn *txn;
    int rc = j->wants_room ? try_room(l, FULL_BYTES) : 0;
    if (!rc)
        rc = mdb_txn_begin(l->env, NULL, 0, &txn);
    if (rc)
        return rc;
    rc = fill_txn(l, txn, j);
    if (!rc)
        return mdb_txn_commit(txn);
    mdb_txn_abort(txn);
    return rc;
}

/* False: it is as large as it may be. */
static bool grow_map(struct lmdb *l, bool deletes)
{
    uint64_t max = l->file_bytes_max + (deletes ? LMDB_RESERVE_BYTES : 0);
    uint64_t bytes = l->map_bytes * 2 < max ? l->map_bytes * 2 : max;
    if (l->map_bytes >= max || mdb_env_set_mapsize(l->env, bytes) != 0)
        return false;
    l->map_bytes = bytes;
    return true;
}

/* What deletions took beyond the limit is not for others. LMDB keeps what is in use. */
static void shrink_map(struct lmdb *l)
{
    if (l->map_bytes > l->file_bytes_max && mdb_env_set_mapsize(l->env, l->file_bytes_max) == 0)
        l->map_bytes = l->file_bytes_max;
}

static int find_room_and_try(struct lmdb *l, const struct job *j)
{
    int rc;
    if (!j->deletes) {
        shrink_map(l);
        rc = take_reserve(l);
        if (rc)
            return rc;
    }
    do
        rc = true_error(l, try_job(l, j));
    while (rc == MDB_MAP_FULL && grow_map(l, j->deletes));
    if (j->deletes && rc != MDB_MAP_FULL && is_no_space(rc) && give_up_reserve(l))
        rc = true_error(l, try_job(l, j));
    return rc;
}

static int do_job(struct lmdb *l, const struct job *j)
{
    int rc = find_room_and_try(l, j);
    l->lacks_space = is_no_space(rc);
    if (!rc) {
        l->state = j->state;
        if (l->early)
            atomic_store(&l->ceiling, j->state.ceiling);
    }
    return rc;
}

/* ---- Commits ---- */

static bool only_frees(struct engine_commit *const *commits, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!commits[i]->frees)
            return false;
    return true;
}

static int write_batch(struct lmdb *l)
{
    struct job j = { .commits = l->batch.at, .n_commits = l->batch.n, .state = l->state };
    j.deletes = only_frees(l->batch.at, l->batch.n);
    j.wants_room = j.with_state = l->batch.at[0]->n_items == 0; /* such a one stands alone */
    for (size_t i = 0; i < l->batch.n; i++)
        if (l->batch.at[i]->revision > j.state.revision)
            j.state.revision = l->batch.at[i]->revision;
    if (l->early && j.state.revision + LMDB_REVISIONS_AHEAD / 2 > j.state.ceiling) {
        j.state.ceiling = j.state.revision + LMDB_REVISIONS_AHEAD;
        j.with_state = true;
    } else if (j.state.ceiling < j.state.revision) {
        j.state.ceiling = j.state.revision; /* as the last record says */
    }
    return do_job(l, &j);
}

static void finish(struct lmdb *l, struct engine_commit *c, int rc)
{
    if (rc) {
        c->code = ERR_UNAVAILABLE;
        c->no_space = is_no_space(rc);
        snprintf(c->problem, sizeof(c->problem), "the store cannot be written: %s",
                 c->no_space ? "no space is left" : mdb_strerror(rc));
    }
    bool posted = mailbox_post(&l->done, &c->mail);
    assert(posted);
    (void)posted;
}

/* What is in the batch is over. */
static void end_batch(struct lmdb *l)
{
    if (!l->batch.n)
        return;
    int rc = write_batch(l);
    for (size_t i = 0; i < l->batch.n; i++) {
        if (rc && l->batch.at[i]->epoch != ENGINE_ALONE)
            l->failed_epoch = l->batch.at[i]->epoch;
        finish(l, l->batch.at[i], rc);
    }
    vec_reset(&l->batch);
}

static size_t commit_bytes(const struct engine_commit *c)
{
    size_t n = 0;
    for (uint32_t i = 0; i < c->n_items; i++)
        n += lmdb_record_bytes(c->items[i]);
    return n;
}

/* Whether it may go on with the batch. */
static bool belongs(const struct lmdb *l, const struct engine_commit *c)
{
    const struct engine_commit *last = *vec_last(&l->batch);
    return c->epoch == last->epoch && c->epoch != ENGINE_ALONE;
}

static bool write_commits(struct lmdb *l)
{
    struct mail *mail = mailbox_take(&l->commits);
    bool some = mail != NULL;
    size_t n_bytes = 0;
    while (mail) {
        struct engine_commit *c = MAIL_ITEM(mail, struct engine_commit, mail);
        mail = mail->next;
        size_t n = commit_bytes(c);
        if (l->batch.n && (!belongs(l, c) || n_bytes + n > LMDB_COMMIT_BYTES_MAX))
            end_batch(l);
        n_bytes = l->batch.n ? n_bytes + n : n;
        if (c->epoch == l->failed_epoch && c->epoch != ENGINE_ALONE)
            finish(l, c, ECANCELED);
        else
            vec_push(&l->batch, c);
    }
    end_batch(l);
    return some;
}

/* ---- What is old ---- */

static void take_old(struct lmdb *l)
{
    for (struct mail *mail = mailbox_take(&l->old_mails); mail;) {
        struct old_mail *m = MAIL_ITEM(mail, struct old_mail, mail);
        mail = mail->next;
        if (l->old.n > LMDB_OLD_MAX)
            vec_reset(&l->old); /* a disk that is broken: the next start finds them */
        vec_reserve(&l->old, m->n);
        memcpy(l->old.at + l->old.n, m->at, m->n * sizeof(m->at[0]));
        l->old.n += m->n;
        l->old_compacted = m->compacted;
        free(m);
    }
}

/* What cannot be deleted now stays until later; after a restart it is found again. A reader that was killed (`berth store
 * backup`, say) no longer keeps pages from being used again. */
static bool delete_old(struct lmdb *l)
{
    int dead;
    mdb_reader_check(l->env, &dead);
    size_t n = l->old.n < LMDB_OLD_PER_COMMIT_MAX ? l->old.n : LMDB_OLD_PER_COMMIT_MAX;
    struct job j = { .old = l->old.at, .n_old = n, .state = l->state, .with_state = true, .deletes = true };
    j.state.compacted = l->old_compacted;
    bool is_needed = l->lacks_space;
    if (do_job(l, &j))
        return false;
    j.n_old = 0;
    if (is_needed)
        (void)do_job(l, &j); /* pages that one transaction frees are for the second one after it */
    memmove(l->old.at, l->old.at + n, (l->old.n - n) * sizeof(l->old.at[0]));
    l->old.n -= n;
    return true;
}

/* ---- The thread ---- */

static void write_end(struct lmdb *l)
{
    struct job j = { .state = l->state, .with_state = true, .deletes = true };
    if (l->shown > j.state.revision)
        j.state.revision = l->shown;
    j.state.ceiling = j.state.revision;
    (void)do_job(l, &j); /* else the next start finds it as after a crash */
}

static void *run_writer(void *context)
{
    struct lmdb *l = context;
    for (;;) {
        bool rang = bell_wait(&l->bell, l->old.n ? OLD_WAIT_MS : -1);
        bool stop = atomic_load(&l->stopping); /* before looking: what was there before is done */
        write_commits(l);
        take_old(l);
        bool deleted = true;
        while (deleted && l->old.n && (stop || !rang || l->lacks_space || l->old.n >= LMDB_OLD_PER_COMMIT_MAX)) {
            deleted = delete_old(l);
            write_commits(l);
        }
        if (stop)
            break;
    }
    write_end(l);
    return NULL;
}

/* ---- What the store calls ---- */

static void engine_commit_op(struct engine *n, struct engine_commit *commit)
{
    struct lmdb *l = lmdb_of(n);
    bool posted = mailbox_post(&l->commits, &commit->mail);
    assert(posted);
    (void)posted;
}

static struct mail *engine_take(struct engine *n)
{
    return mailbox_take(&lmdb_of(n)->done);
}

static uint64_t engine_ceiling(struct engine *n)
{
    return atomic_load(&lmdb_of(n)->ceiling);
}

static void engine_compact(struct engine *n, const struct engine_old *old, size_t n_old, uint64_t compacted)
{
    struct old_mail *m = mem_alloc(sizeof(*m) + n_old * sizeof(m->at[0]));
    m->compacted = compacted;
    m->n = n_old;
    memcpy(m->at, old, n_old * sizeof(m->at[0]));
    bool posted = mailbox_post(&lmdb_of(n)->old_mails, &m->mail);
    assert(posted);
    (void)posted;
}

static enum err_code engine_load(struct engine *n, engine_visit visit, void *context, struct engine_state *ret_state,
                                 struct err *e)
{
    struct lmdb *l = lmdb_of(n);
    struct lmdb_facts facts;
    if (lmdb_walk(l->env, visit, context, &facts, e))
        return err_wrap(e, "%s", l->folder);
    l->state = *ret_state = facts.state;
    return ERR_OK;
}

/* So that a revision which may have been shown before a crash stays used, and a new file is one of ours. */
static int write_start(struct lmdb *l, uint64_t revision)
{
    MDB_txn *txn;
    struct job j = { .state = l->state, .with_state = true, .deletes = true };
    j.state.revision = revision;
    j.state.ceiling = revision + (l->early ? LMDB_REVISIONS_AHEAD : 0);
    int rc = mdb_txn_begin(l->env, NULL, 0, &txn);
    if (!rc)
        rc = mdb_dbi_open(txn, NULL, 0, &l->dbi);
    if (!rc)
        rc = mdb_txn_commit(txn);
    return rc ? rc : do_job(l, &j);
}

/* Signals are for the program's own threads. */
static int start_thread(struct lmdb *l)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&l->thread, NULL, run_writer, l);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

static enum err_code engine_start(struct engine *n, mailbox_wake wake, void *context, uint64_t revision, struct err *e)
{
    struct lmdb *l = lmdb_of(n);
    mailbox_init(&l->done, MAILS_MAX, wake, context);
    (void)take_reserve(l); /* without room for it deletions still work */
    int rc = write_start(l, revision);
    if (!rc)
        rc = start_thread(l);
    if (rc)
        return fail(l, rc, e);
    l->running = true;
    return ERR_OK;
}

static void engine_close(struct engine *own_engine, uint64_t shown)
{
    struct lmdb *l = lmdb_of(own_engine);
    if (l->running) {
        l->shown = shown;
        atomic_store(&l->stopping, true);
        bell_ring(&l->bell);
        pthread_join(l->thread, NULL);
        mailbox_take(&l->done);
        mailbox_fini(&l->done);
    }
    for (struct mail *mail = mailbox_take(&l->old_mails); mail;) {
        struct mail *next = mail->next;
        free(MAIL_ITEM(mail, struct old_mail, mail));
        mail = next;
    }
    mailbox_fini(&l->commits);
    mailbox_fini(&l->old_mails);
    bell_fini(&l->bell);
    mdb_env_close(l->env);
    close(l->lock_fd);
    vec_fini(&l->batch);
    vec_fini(&l->old);
    free(l->folder);
    free(l);
}

static const struct engine_ops ops = {
    .load = engine_load,
    .start = engine_start,
    .commit = engine_commit_op,
    .take = engine_take,
    .ceiling = engine_ceiling,
    .compact = engine_compact,
    .close = engine_close,
};

/* ---- Opening ---- */

static enum err_code check_first(const char *folder, struct err *e)
{
    char path[LMDB_PATH_BYTES_MAX];
    struct lmdb_facts facts;
    snprintf(path, sizeof(path), "%s/data.mdb", folder);
    if (access(path, F_OK) != 0)
        return ERR_OK; /* a new one */
    if (lmdb_verify(folder, &facts, e))
        return err_set(e, e->code, "%s; nothing was changed: put a backup back with `berth store restore`", e->message);
    return ERR_OK;
}

/* The lock is not held while the file is checked: the process that does it would share it, and keep it on when this one is
 * killed. Who may write in between has checked the file as well. */
static enum err_code check_and_lock(const char *folder, int *ret_fd, struct err *e)
{
    int fd;
    if (lmdb_lock(folder, &fd, e))
        return e->code;
    close(fd);
    if (check_first(folder, e))
        return e->code;
    return lmdb_lock(folder, ret_fd, e);
}

/* A map that is too small for the file is made as large as that by LMDB. */
static int open_env(const char *folder, uint64_t bytes, MDB_env **ret_env, uint64_t *ret_bytes)
{
    MDB_env *env;
    MDB_envinfo info;
    int dead;
    int rc = mdb_env_create(&env);
    if (rc)
        return rc;
    rc = mdb_env_set_mapsize(env, bytes);
    if (!rc)
        rc = mdb_env_open(env, folder, MDB_NOTLS, 0600);
    if (!rc)
        rc = mdb_reader_check(env, &dead);
    if (!rc)
        rc = mdb_env_info(env, &info);
    if (rc) {
        mdb_env_close(env);
        return rc;
    }
    *ret_env = env;
    *ret_bytes = info.me_mapsize;
    return 0;
}

enum err_code lmdb_open(const struct lmdb_options *o, struct engine **ret_engine, struct err *e)
{
    int lock_fd;
    if (mkdir(o->folder, 0700) != 0 && errno != EEXIST)
        return err_set(e, ERR_IO, "%s: %s", o->folder, strerror(errno));
    if (check_and_lock(o->folder, &lock_fd, e))
        return e->code;
    struct lmdb *l = mem_zalloc(sizeof(*l));
    l->engine.ops = &ops;
    l->folder = mem_alloc(strlen(o->folder) + 1);
    strcpy(l->folder, o->folder);
    l->early = o->early;
    l->file_bytes_max = o->file_bytes_max ? o->file_bytes_max : LMDB_FILE_BYTES_MAX;
    l->lock_fd = lock_fd;
    uint64_t bytes = l->file_bytes_max < MAP_BYTES_FIRST ? l->file_bytes_max : MAP_BYTES_FIRST;
    int rc = open_env(o->folder, bytes, &l->env, &l->map_bytes);
    if (!rc && !bell_init(&l->bell))
        rc = errno;
    if (rc) {
        fail(l, rc, e);
        if (l->env)
            mdb_env_close(l->env);
        close(lock_fd);
        free(l->folder);
        free(l);
        return e->code;
    }
    mailbox_init(&l->commits, MAILS_MAX, bell_ring, &l->bell);
    mailbox_init(&l->old_mails, MAILS_MAX, bell_ring, &l->bell);
    *ret_engine = &l->engine;
    return ERR_OK;
}
