/* tests/unit/test_store_crash.c - a process that writes is killed at random moments; what it was told is there, is
 * there. */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "base/rand.h"
#include "tests/unit/store_world.h"

enum { N_PAIRS = 50, N_ROUNDS = 25 };

/* What the child tells before anybody else could know of it. */
struct told {
    uint64_t revision;
    int pair;
    int number; /* the value of both keys */
};

struct writer {
    struct world *w;
    int pipe;
    struct rand rand;
    int next_number;
    bool relaxed;
    unsigned n_open;
};

struct ask {
    struct writer *writer;
    struct told told;
};

static void on_answer(void *context, const struct store_answer *a)
{
    struct ask *ask = context;
    ask->writer->n_open--;
    if (a->code)
        _exit(9);
    struct told told = ask->told;
    told.revision = a->revision;
    if (write(ask->writer->pipe, &told, sizeof(told)) != (ssize_t)sizeof(told))
        _exit(9);
    free(ask);
}

static void write_pair(struct writer *wr)
{
    struct ask *ask = mem_zalloc(sizeof(*ask));
    ask->writer = wr;
    ask->told.pair = (int)rand_below(&wr->rand, N_PAIRS);
    ask->told.number = wr->next_number++;
    char left[32], right[32], value[4000];
    snprintf(left, sizeof(left), "/left/%d", ask->told.pair);
    snprintf(right, sizeof(right), "/right/%d", ask->told.pair);
    memset(value, 'x', sizeof(value));
    int n = snprintf(value, sizeof(value), "%d ", ask->told.number);
    value[n] = 'x';
    struct str all = { value, (size_t)n + rand_below(&wr->rand, sizeof(value) - (size_t)n) };
    struct store_write writes[] = { { str_of(left), all, false, STORE_ANY, 0, 0 },
                                    { str_of(right), all, false, STORE_ANY, 0, 0 } };
    wr->n_open++;
    if (store_commit(wr->w->s, &(struct store_commit){ .writes = writes, .n_writes = 2, .relaxed = wr->relaxed }, on_answer, ask, &wr->w->e))
        _exit(9);
}

/* Until it is killed. */
_Noreturn static void write_for_ever(struct world *w, int pipe, int round, int next_number, bool relaxed)
{
    struct writer wr = { .w = w, .pipe = pipe, .next_number = next_number, .relaxed = relaxed };
    rand_init(&wr.rand, (uint64_t)round + 1);
    w->log_events_max = 300;
    world_open(w);
    for (;;) {
        while (wr.n_open < 40)
            write_pair(&wr);
        if (rand_below(&wr.rand, 20) == 0)
            store_compact(w->s, store_revision(w->s) - rand_below(&wr.rand, 50));
        store_poll(w->s);
        if (wr.n_open >= 40)
            bell_wait(&w->bell, 1000);
    }
}

struct record {
    uint64_t last_revision; /* of all that was told */
    int last_number[N_PAIRS];
    int next_number;
};

/* What was told until it was killed. */
static unsigned run_and_kill(struct world *w, struct record *r, int round, bool relaxed, struct rand *rand)
{
    int ends[2];
    struct told told;
    unsigned n = 0, wanted = (unsigned)rand_below(rand, 400);
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        write_for_ever(w, ends[1], round, r->next_number, relaxed);
    }
    close(ends[1]);
    bool killed = false;
    while (read(ends[0], &told, sizeof(told)) == (ssize_t)sizeof(told)) {
        CHECK(told.revision > r->last_revision); /* never back, never twice, in this life and over all */
        r->last_revision = told.revision;
        r->last_number[told.pair] = told.number;
        if (told.number >= r->next_number)
            r->next_number = told.number + 1;
        if (++n >= wanted && !killed) {
            struct timespec pause = { 0, (long)rand_below(rand, 3000000) };
            nanosleep(&pause, NULL);
            CHECK(kill(child, SIGKILL) == 0);
            killed = true;
        }
    }
    int status;
    close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK_INT("killed", WTERMSIG(status), SIGKILL);
    r->next_number += 1000; /* those that nobody was told of */
    return n;
}

static int number_of(struct store *s, const char *side, int pair)
{
    char key[32];
    snprintf(key, sizeof(key), "/%s/%d", side, pair);
    struct store_item *item = store_get(s, str_of(key));
    return item ? (int)strtol(store_item_value(item).p, NULL, 10) : -1;
}

/* #14370, #13766: nothing that was acknowledged is lost, nothing is torn. */
TEST(acknowledged_writes_survive_14370)
{
    struct world *w = mem_alloc(sizeof(*w));
    struct record r = { 0 };
    struct rand rand;
    rand_init(&rand, 7);
    for (int i = 0; i < N_PAIRS; i++)
        r.last_number[i] = -1;
    world_init(w, WORLD_LMDB);
    store_free(w->s);
    for (int round = 0; round < N_ROUNDS; round++) {
        run_and_kill(w, &r, round, false, &rand);
        world_open(w);
        CHECK(store_revision(w->s) >= r.last_revision);
        for (int pair = 0; pair < N_PAIRS; pair++) {
            int left = number_of(w->s, "left", pair), right = number_of(w->s, "right", pair);
            CHECK_INT("both or none", left, right);
            CHECK(left >= r.last_number[pair]); /* later ones may have been kept without a word */
        }
        r.last_revision = store_revision(w->s);
        store_free(w->s);
    }
    w->s = NULL;
    world_fini(w);
    free(w);
}

/* What was shown early may be lost, but its number is not given away again, and who has seen it begins anew. */
TEST(early_answers_leave_a_gap)
{
    struct world *w = mem_alloc(sizeof(*w));
    struct record r = { 0 };
    struct rand rand;
    struct store_watch watch;
    rand_init(&rand, 8);
    world_init(w, WORLD_EARLY);
    store_free(w->s);
    for (int round = 0; round < 10; round++) {
        if (!run_and_kill(w, &r, round, true, &rand))
            continue;
        world_open(w);
        CHECK(store_revision(w->s) > r.last_revision);
        for (int pair = 0; pair < N_PAIRS; pair++)
            CHECK_INT("both or none", number_of(w->s, "left", pair), number_of(w->s, "right", pair));
        enum err_code code = store_watch_init(w->s, &watch, STR("/"), store_revision(w->s) - 1, &w->e);
        CHECK_INT("who has seen what may be lost", code, ERR_EXPIRED);
        CHECK_INT("who begins now", store_watch_init(w->s, &watch, STR("/"), store_revision(w->s), &w->e), ERR_OK);
        r.last_revision = store_revision(w->s);
        store_free(w->s);
        world_open(w);
        CHECK_INT("no gap after an orderly end", store_revision(w->s), r.last_revision);
        CHECK_INT("resumes", store_watch_init(w->s, &watch, STR("/"), r.last_revision, &w->e), ERR_OK);
        store_free(w->s);
    }
    w->s = NULL;
    world_fini(w);
    free(w);
}
