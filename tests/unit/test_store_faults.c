/* tests/unit/test_store_faults.c - the disk fails: at every call of LMDB that writes or syncs, once and for good.
 *
 * The functions that LMDB calls stand here, in the program, and go before those of the C library. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/uio.h>

#include "tests/unit/store_world.h"

#define EXPORTED __attribute__((visibility("default")))

static _Atomic int calls_until_fault = -1; /* -1: none comes */
static _Atomic int calls_that_fail;        /* from then on */
static _Atomic int fault;

static bool fails_now(void)
{
    if (atomic_load(&calls_until_fault) < 0 || atomic_fetch_sub(&calls_until_fault, 1) > 0)
        return false;
    atomic_store(&calls_until_fault, atomic_fetch_sub(&calls_that_fail, 1) > 1 ? 0 : -1);
    errno = atomic_load(&fault);
    return true;
}

#define REAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

EXPORTED ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    return fails_now() ? -1 : REAL(pwrite)(fd, bytes, n, at);
}

EXPORTED ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t at)
{
    return fails_now() ? -1 : REAL(pwritev)(fd, parts, n, at);
}

EXPORTED ssize_t writev(int fd, const struct iovec *parts, int n)
{
    return fails_now() ? -1 : REAL(writev)(fd, parts, n);
}

EXPORTED int fdatasync(int fd)
{
    return fails_now() ? -1 : REAL(fdatasync)(fd);
}

static void fail_after(int n_calls, int n_failing, int error)
{
    atomic_store(&fault, error);
    atomic_store(&calls_that_fail, n_failing);
    atomic_store(&calls_until_fault, n_calls);
}

static void work_again(void)
{
    atomic_store(&calls_until_fault, -1);
}

static enum err_code put(struct world *w, int key, int value, bool relaxed)
{
    char key_text[16], value_text[16];
    snprintf(key_text, sizeof(key_text), "/%03d", key);
    snprintf(value_text, sizeof(value_text), "%d", value);
    struct store_write write = { str_of(key_text), str_of(value_text), false, STORE_ANY, 0, 0 };
    unsigned id = world_ask(w, &write, 1, relaxed);
    world_wait(w);
    return w->answers[id].code;
}

static int get(struct world *w, int key)
{
    char text[16];
    snprintf(text, sizeof(text), "/%03d", key);
    struct store_item *item = store_get(w->s, str_of(text));
    int value = 0;
    for (size_t i = 0; item && i < item->n_value; i++)
        value = value * 10 + (store_item_value(item).p[i] - '0');
    return item ? value : -1;
}

/* The program's functions are the ones that are called: otherwise all this tests nothing. */
LMDB_TEST(faults_arrive)
{
    fail_after(0, 1, EIO);
    CHECK_INT("put", put(w, 1, 1, false), ERR_UNAVAILABLE);
    CHECK(atomic_load(&calls_until_fault) < 0);
    CHECK_INT("nothing", get(w, 1), -1);
}

/* What was acknowledged stays; what failed is not shown; the next write either works or fails as clearly. */
static void one_fault(int error)
{
    for (int n_calls = 0; n_calls < 8; n_calls++) {
        struct world *w = mem_alloc(sizeof(*w));
        int acknowledged[4] = { -1, -1, -1, -1 };
        bool certain[4] = { true, true, true, true };
        world_init(w, WORLD_LMDB);
        fail_after(n_calls, 1, error);
        for (int i = 0; i < 12; i++) {
            enum err_code code = put(w, i % 4, i, false);
            store_tick(w->s);
            CHECK(code == ERR_OK || code == ERR_UNAVAILABLE);
            if (code == ERR_OK)
                acknowledged[i % 4] = i;
            certain[i % 4] = code == ERR_OK;
            CHECK_INT("as acknowledged", get(w, i % 4), acknowledged[i % 4]);
        }
        work_again();
        world_reopen(w);
        for (int i = 0; i < 4; i++)
            CHECK(certain[i] ? get(w, i) == acknowledged[i] : get(w, i) >= acknowledged[i]);
        CHECK_INT("works", put(w, 0, 100, false), ERR_OK);
        world_fini(w);
        free(w);
    }
}

TEST(one_input_output_error_at_every_call)
{
    one_fault(EIO);
}

TEST(one_full_disk_at_every_call)
{
    one_fault(ENOSPC);
}

/* A disk that has gone: reads go on, writes say so, and the end does not hang. */
LMDB_TEST(disk_stays_broken)
{
    CHECK_INT("good", put(w, 1, 1, false), ERR_OK);
    fail_after(0, 1 << 30, EIO);
    for (int i = 0; i < 5; i++) {
        CHECK_INT("write", put(w, 1, 2, false), ERR_UNAVAILABLE);
        CHECK_INT("read", get(w, 1), 1);
        store_tick(w->s);
    }
    store_free(w->s);
    work_again();
    world_open(w);
    CHECK_INT("there", get(w, 1), 1);
}

LMDB_TEST(full_disk_refuses_until_the_next_tick)
{
    struct stat st;
    char reserve[80];
    snprintf(reserve, sizeof(reserve), "%s/reserve", w->folder);
    CHECK_INT("good", put(w, 1, 1, false), ERR_OK);
    CHECK(stat(reserve, &st) == 0);
    fail_after(0, 1, ENOSPC);
    CHECK_INT("full", put(w, 1, 2, false), ERR_UNAVAILABLE);
    CHECK(stat(reserve, &st) == 0); /* it is for deletions */
    CHECK_INT("refused without trying", put(w, 1, 3, false), ERR_UNAVAILABLE);
    CHECK(strstr(w->e.message, "full"));
    struct store_write gone = { STR("/001"), STR(""), true, STORE_ANY, 0, 0 };
    CHECK_INT("deleted", world_do(w, &gone, 1).code, ERR_OK);
    CHECK_INT("gone", get(w, 1), -1);
    store_tick(w->s);
    CHECK_INT("tried again", put(w, 1, 4, false), ERR_OK);
    CHECK(stat(reserve, &st) == 0);
}

/* Waits for what the store asks the engine by itself. */
static void tick(struct world *w)
{
    store_tick(w->s);
    while (store_facts(w->s).n_open) {
        CHECK(bell_wait(&w->bell, 50000));
        store_poll(w->s);
    }
}

LMDB_TEST(full_disk_stays_full_until_a_write_has_worked)
{
    CHECK_INT("good", put(w, 1, 1, false), ERR_OK);
    fail_after(0, 1 << 30, ENOSPC);
    CHECK_INT("full", put(w, 1, 2, false), ERR_UNAVAILABLE);
    for (int i = 0; i < 3; i++) {
        tick(w);
        CHECK(store_facts(w->s).full);
        CHECK_INT("tried again", put(w, 1, 3, false), ERR_UNAVAILABLE);
        CHECK(store_facts(w->s).full);
    }
    work_again();
    struct store_write gone = { STR("/001"), STR(""), true, STORE_ANY, 0, 0 };
    CHECK_INT("deleted", world_do(w, &gone, 1).code, ERR_OK);
    CHECK(store_facts(w->s).full); /* the reserve may have served it */
    store_tick(w->s);
    CHECK_INT("written", put(w, 2, 4, false), ERR_OK);
    CHECK(!store_facts(w->s).full);
}

/* A server that is not ready may have nobody who writes. */
LMDB_TEST(room_is_found_without_a_write)
{
    CHECK_INT("good", put(w, 1, 1, false), ERR_OK);
    fail_after(0, 1 << 30, ENOSPC);
    CHECK_INT("full", put(w, 1, 2, false), ERR_UNAVAILABLE);
    uint64_t revision = store_revision(w->s);
    tick(w);
    CHECK(store_facts(w->s).full);
    work_again();
    tick(w);
    CHECK(!store_facts(w->s).full);
    CHECK_INT("no revision was used for it", store_revision(w->s), revision);
    world_reopen(w);
    CHECK_INT("there", get(w, 1), 1);
}

/* The reserve is what makes room: the first try of a deletion fails, the second works. */
LMDB_TEST(deletion_gets_the_reserve)
{
    CHECK_INT("good", put(w, 1, 1, false), ERR_OK);
    fail_after(0, 1, ENOSPC);
    struct store_write gone = { STR("/001"), STR(""), true, STORE_ANY, 0, 0 };
    CHECK_INT("deleted", world_do(w, &gone, 1).code, ERR_OK);
    world_reopen(w);
    CHECK_INT("gone", get(w, 1), -1);
}

/* Shown early, and then the disk fails: it stays shown, and is kept in the end. */
TEST(what_was_shown_early_is_kept_in_the_end)
{
    struct world *w = mem_alloc(sizeof(*w));
    world_init(w, WORLD_EARLY);
    CHECK_INT("good", put(w, 1, 1, false), ERR_OK);
    fail_after(0, 1 << 30, EIO);
    while (put(w, 2, 1, true) != ERR_OK) /* the disk's answer was faster */
        ;
    CHECK_INT("shown", get(w, 2), 1);
    CHECK_INT("not kept", put(w, 3, 1, false), ERR_UNAVAILABLE);
    CHECK_INT("still shown", get(w, 2), 1);
    store_compact(w->s, store_revision(w->s));
    CHECK(store_compacted(w->s) < store_revision(w->s)); /* what is not kept is not forgotten either */
    store_tick(w->s);
    usleep(1000);
    store_poll(w->s);
    work_again();
    CHECK_INT("kept before it", put(w, 5, 1, false), ERR_OK);
    while (store_facts(w->s).n_open) {
        store_tick(w->s);
        usleep(1000);
        store_poll(w->s);
    }
    CHECK_INT("works", put(w, 4, 1, true), ERR_OK);
    uint64_t revision = store_revision(w->s);
    world_reopen(w);
    CHECK_INT("2", get(w, 2), 1);
    CHECK_INT("5", get(w, 5), 1);
    CHECK_INT("3", get(w, 3), -1);
    CHECK_INT("4", get(w, 4), 1);
    CHECK_INT("revision", store_revision(w->s), revision);
    world_fini(w);
    free(w);
}

/* Shown early and never kept: its number is not given away again. */
TEST(what_was_shown_early_and_lost_keeps_its_number)
{
    struct world *w = mem_alloc(sizeof(*w));
    world_init(w, WORLD_EARLY);
    CHECK_INT("good", put(w, 1, 1, false), ERR_OK);
    fail_after(0, 1 << 30, EIO);
    while (put(w, 2, 1, true) != ERR_OK) /* the disk's answer was faster */
        ;
    CHECK_INT("not kept", put(w, 3, 1, false), ERR_UNAVAILABLE);
    uint64_t shown = store_revision(w->s);
    work_again();
    world_reopen(w);
    CHECK(store_revision(w->s) >= shown);
    world_fini(w);
    free(w);
}

/* What was decided on a commit that failed is not kept, also when the disk works again and nobody has heard of the
 * failure. */
LMDB_TEST(nothing_is_kept_after_a_failure)
{
    uint64_t revision = store_next_revision(w->s);
    struct store_write create = { STR("/000"), STR("1"), false, STORE_NOT_EXIST, 0, 0 };
    struct store_write change = { STR("/000"), STR("2"), false, STORE_AT_VERSION, revision, 0 };
    fail_after(0, 1, EIO);
    unsigned first = world_ask(w, &create, 1, false);
    while (atomic_load(&calls_until_fault) >= 0)
        usleep(1000);
    usleep(20000);
    unsigned second = world_ask(w, &change, 1, false);
    usleep(20000);
    world_wait(w);
    CHECK_INT("first", w->answers[first].code, ERR_UNAVAILABLE);
    CHECK_INT("second", w->answers[second].code, ERR_UNAVAILABLE);
    world_reopen(w);
    CHECK_INT("nothing", get(w, 0), -1);
}

/* A commit that was kept and one that was not come back together. */
LMDB_TEST(success_before_failure)
{
    struct store_write a = world_put_of("/000", "1"), b = world_put_of("/001", "1");
    unsigned first = world_ask(w, &a, 1, false);
    CHECK(bell_wait(&w->bell, 50000));
    fail_after(0, 1, EIO);
    unsigned second = world_ask(w, &b, 1, false);
    while (atomic_load(&calls_until_fault) >= 0)
        usleep(1000);
    usleep(20000);
    world_wait(w);
    CHECK_INT("first", w->answers[first].code, ERR_OK);
    CHECK_INT("second", w->answers[second].code, ERR_UNAVAILABLE);
    CHECK_INT("first", get(w, 0), 1);
    CHECK_INT("second", get(w, 1), -1);
}

/* A refusal by a commit that then fails is a failure, too; and those behind an epoch's end start anew. */
LMDB_TEST(many_under_way_when_it_fails)
{
    unsigned n_failed = 0, n_done = 0;
    fail_after(1, 3, EIO); /* a batch has three calls, or a few more */
    for (int i = 0; i < 500; i++) {
        char key[16];
        snprintf(key, sizeof(key), "/%03d", i);
        struct store_write write = { str_of(key), STR("1"), false, STORE_NOT_EXIST, 0, 0 };
        world_ask(w, &write, 1, false);
        if (i % 7 == 0)
            store_poll(w->s);
    }
    world_wait(w);
    for (unsigned i = 0; i < 500; i++) {
        char key[16];
        snprintf(key, sizeof(key), "/%03u", i);
        bool done = w->answers[i].code == ERR_OK;
        CHECK(done || w->answers[i].code == ERR_UNAVAILABLE);
        CHECK_INT(key, store_get(w->s, str_of(key)) != NULL, done);
        n_done += done;
        n_failed += !done;
    }
    CHECK(n_failed > 0);
    work_again();
    store_tick(w->s);
    world_reopen(w);
    CHECK(store_facts(w->s).n_keys >= n_done);
}
