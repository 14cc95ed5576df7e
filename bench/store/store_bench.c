/* bench/store/store_bench.c - `store_bench DIR [SECONDS]`: what the store does a second, on the disk of DIR.
 *
 * Commits with N under way at a time, 1,500-byte values, each answered after the sync of its batch; then reads, lists,
 * watches and a start with what was written. DIR must not exist; the caller removes it. */
#include <stdio.h>
#include <stdlib.h>

#include "store/lmdb.h"
#include "store/store.h"

enum { VALUE_BYTES = 1500, KEYS = 50000, WATCHES = 1000 };

struct bench {
    struct store *s;
    struct bell bell;
    struct arena arena;
    struct err e;
    uint64_t n_done;
    char value[VALUE_BYTES];
};

static double now(void)
{
    return (double)clock_mono_ns(&clock_real) / CLOCK_NS_PER_SECOND;
}

static void fail(const char *text)
{
    fprintf(stderr, "store_bench: %s\n", text);
    exit(1);
}

static void on_answer(void *context, const struct store_answer *answer)
{
    if (answer->code)
        fail(answer->problem);
    ((struct bench *)context)->n_done++;
}

static void open_store(struct bench *b, const char *folder)
{
    struct store_options o = { .wake = bell_ring, .context = &b->bell };
    if (folder && lmdb_open(&(struct lmdb_options){ .folder = folder }, &o.own_engine, &b->e))
        fail(b->e.message);
    if (store_new(&o, &b->s, &b->e))
        fail(b->e.message);
}

/* Rows a second with so many under way. */
static double commits(struct bench *b, uint64_t n_open, double seconds)
{
    uint64_t n_asked = 0, key_number = 0;
    char key[64];
    double begin = now();
    b->n_done = 0;
    while (now() - begin < seconds || b->n_done < n_asked) {
        /* the next ones go together, as clients that waited for one sync ask again */
        while (now() - begin < seconds && b->n_done == n_asked)
            for (uint64_t i = 0; i < n_open; i++, n_asked++) {
                snprintf(key, sizeof(key), "/registry/pods/default/pod-%llu", (unsigned long long)(key_number++ % KEYS));
                struct store_write w = { .key = str_of(key), .value = { b->value, VALUE_BYTES } };
                if (store_commit(b->s, &(struct store_commit){ &w, 1, false }, on_answer, b, &b->e))
                    fail(b->e.message);
            }
        store_poll(b->s);
        if (b->n_done < n_asked)
            bell_wait(&b->bell, 1000);
    }
    return (double)b->n_done / (now() - begin);
}

static double gets(struct bench *b)
{
    enum { N = 1000000 };
    char key[64];
    uint64_t n = 0;
    double begin = now();
    for (uint64_t i = 0; i < N; i++) {
        snprintf(key, sizeof(key), "/registry/pods/default/pod-%llu", (unsigned long long)(i * 7919 % KEYS));
        n += store_get(b->s, str_of(key)) != NULL;
    }
    return n ? N / (now() - begin) : 0;
}

/* Milliseconds for all keys, now and as it was. */
static double list_ms(struct bench *b, uint64_t revision)
{
    struct store_list list;
    struct store_range r = { .prefix = STR("/registry/pods/"), .revision = revision };
    double begin = now();
    if (store_list(b->s, &r, &b->arena, &list, &b->e))
        fail(b->e.message);
    double ms = (now() - begin) * 1000;
    arena_reset(&b->arena);
    return ms;
}

/* Events a second given out, over all watches. */
static double watches(struct bench *b)
{
    struct store_watch watch;
    struct store_event event;
    uint64_t n = 0, from = store_revision(b->s) - 1000;
    double begin = now();
    for (int i = 0; i < WATCHES; i++) {
        if (store_watch_init(b->s, &watch, STR("/registry/pods/"), from, &b->e))
            fail(b->e.message);
        while (store_watch_next(b->s, &watch, &event) == ERR_OK)
            n++;
    }
    return (double)n / (now() - begin);
}

int main(int argc, char **argv)
{
    static const uint64_t n_open[] = { 16, 128, 1024 };
    static struct bench b;
    double seconds = argc > 2 ? atof(argv[2]) : 2;
    if (argc < 2 || !bell_init(&b.bell)) {
        fprintf(stderr, "usage: store_bench DIR [SECONDS]\n");
        return 2;
    }
    arena_init(&b.arena);
    err_init(&b.e, &b.arena);
    memset(b.value, 'x', sizeof(b.value));
    open_store(&b, argv[1]);
    for (size_t i = 0; i < sizeof(n_open) / sizeof(n_open[0]); i++)
        printf("lmdb, %4llu rows a commit    %10.0f rows/s\n", (unsigned long long)n_open[i], commits(&b, n_open[i], seconds));
    struct store_facts f = store_facts(b.s);
    store_free(b.s);
    double begin = now();
    open_store(&b, argv[1]);
    printf("start with %llu keys, %llu changes   %.0f ms\n", (unsigned long long)f.n_keys, (unsigned long long)f.n_events,
           (now() - begin) * 1000);
    store_free(b.s);
    open_store(&b, NULL);
    printf("memory, 1024 rows a commit  %10.0f rows/s\n", commits(&b, 1024, seconds));
    printf("gets                        %10.0f a second\n", gets(&b));
    printf("list of %llu keys           %.2f ms now, %.2f ms as it was 10,000 changes ago\n",
           (unsigned long long)store_facts(b.s).n_keys, list_ms(&b, 0), list_ms(&b, store_revision(b.s) - 10000));
    printf("%d watches                %10.0f events/s\n", WATCHES, watches(&b));
    store_free(b.s);
    arena_fini(&b.arena);
    bell_fini(&b.bell);
    return 0;
}
