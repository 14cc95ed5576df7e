/* tests/store_tool.c - `store_tool DIR N`: writes N keys three times each and deletes every tenth, for tests of `berth
 * store`. With a third argument the store stays open until standard input ends. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/lmdb.h"
#include "store/store.h"

enum { OPEN_MAX = 10000 };

static int n_answers;

static void on_answer(void *context, const struct store_answer *answer)
{
    (void)context;
    if (answer->code) {
        fprintf(stderr, "store_tool: %s\n", answer->problem);
        exit(1);
    }
    n_answers++;
}

int main(int argc, char **argv)
{
    struct arena a;
    struct err e;
    struct store_options o = { .wake = bell_ring };
    struct store *s;
    struct bell bell;
    char key[32], value[1500];
    if (argc < 3 || !bell_init(&bell))
        return 2;
    arena_init(&a);
    err_init(&e, &a);
    o.context = &bell;
    if (lmdb_open(&(struct lmdb_options){ .folder = argv[1] }, &o.own_engine, &e) || store_new(&o, &s, &e)) {
        fprintf(stderr, "store_tool: %s\n", e.message);
        return 1;
    }
    int n = atoi(argv[2]), n_asked = 0;
    memset(value, 'v', sizeof(value));
    for (int i = 0; i < 4 * n; i++) {
        int k = i % n;
        snprintf(key, sizeof(key), "/registry/pods/%d", k);
        struct store_write w = { str_of(key), { value, sizeof(value) }, i >= 3 * n, STORE_ANY, 0, 0 };
        if (i >= 3 * n && k % 10)
            continue;
        n_asked++;
        if (store_commit(s, &(struct store_commit){ .writes = &w, .n_writes = 1 }, on_answer, NULL, &e))
            return 1;
        store_poll(s);
        while (n_asked - n_answers > OPEN_MAX && bell_wait(&bell, -1))
            store_poll(s);
    }
    while (n_answers < n_asked) {
        bell_wait(&bell, -1);
        store_poll(s);
    }
    printf("%llu\n", (unsigned long long)store_revision(s));
    fflush(stdout);
    while (argc > 3 && read(0, key, 1) > 0)
        ;
    store_free(s);
    bell_fini(&bell);
    arena_fini(&a);
    return 0;
}
