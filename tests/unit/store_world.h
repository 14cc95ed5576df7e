/* tests/unit/store_world.h - a store on one of its engines, with a clock that stands still, for tests.
 *
 * CONTRACT(name) { ... } is a test for every engine; `w` is the world. */
#pragma once

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/lmdb.h"
#include "store/lmdb_files.h"
#include "store/store.h"
#include "tests/test.h"

enum world_kind { WORLD_MEMORY, WORLD_LMDB, WORLD_EARLY };

enum { WORLD_ANSWERS_MAX = 8192 };

struct world_answer {
    enum err_code code;
    uint64_t revision;
    uint32_t refused;
};

struct world {
    enum world_kind kind;
    struct arena arena;
    struct err e;
    struct clock_manual clock;
    struct bell bell;
    char folder[64];
    uint32_t log_events_max;
    uint64_t file_bytes_max;
    struct store *s;
    unsigned n_asked, n_answers;
    struct world_answer answers[WORLD_ANSWERS_MAX]; /* in the order in which they came */
    unsigned order[WORLD_ANSWERS_MAX];              /* which commit each is of */
    struct { struct world *w; unsigned id; } ids[WORLD_ANSWERS_MAX];
};

static inline enum err_code world_try_open(struct world *w)
{
    struct engine *engine = NULL;
    struct lmdb_options lo = { w->folder, w->kind == WORLD_EARLY, w->file_bytes_max };
    if (w->kind != WORLD_MEMORY && lmdb_open(&lo, &engine, &w->e))
        return w->e.code;
    struct store_options o = {
        .clock = &w->clock.clock,
        .own_engine = engine,
        .wake = bell_ring,
        .context = &w->bell,
        .log_events_max = w->log_events_max,
    };
    return store_new(&o, &w->s, &w->e);
}

static inline void world_open(struct world *w)
{
    if (world_try_open(w))
        FAIL("%s", w->e.message);
}

static inline void world_init(struct world *w, enum world_kind kind)
{
    memset(w, 0, sizeof(*w));
    w->kind = kind;
    arena_init(&w->arena);
    err_init(&w->e, &w->arena);
    clock_manual_init(&w->clock, 1000 * (int64_t)CLOCK_NS_PER_SECOND, 1700000000 * (int64_t)CLOCK_NS_PER_SECOND);
    CHECK(bell_init(&w->bell));
    /* In memory where that is possible: what a sync costs is not what is tested. */
    strcpy(w->folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/berth-store-XXXXXX" : "/tmp/berth-store-XXXXXX");
    CHECK(mkdtemp(w->folder));
    world_open(w);
}

static inline int world_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static inline void world_fini(struct world *w)
{
    if (w->s)
        store_free(w->s);
    CHECK(nftw(w->folder, world_remove, 8, FTW_DEPTH | FTW_PHYS) == 0);
    bell_fini(&w->bell);
    arena_fini(&w->arena);
}

static inline void world_reopen(struct world *w)
{
    store_free(w->s);
    w->s = NULL;
    world_open(w);
}

static inline void world_on_answer(void *context, const struct store_answer *a)
{
    typeof(((struct world *)0)->ids[0]) *id = context;
    struct world *w = id->w;
    CHECK((a->code != 0) == (a->problem != NULL));
    w->order[w->n_answers++] = id->id;
    w->answers[id->id] = (struct world_answer){ a->code, a->revision, a->refused };
}

/* Asks without waiting; the number of the question. */
static inline unsigned world_ask(struct world *w, const struct store_write *writes, uint32_t n, bool relaxed)
{
    CHECK(w->n_asked < WORLD_ANSWERS_MAX);
    unsigned id = w->n_asked++;
    w->ids[id].w = w;
    w->ids[id].id = id;
    if (store_commit(w->s, &(struct store_commit){ .writes = writes, .n_writes = n, .relaxed = relaxed }, world_on_answer, &w->ids[id], &w->e)) {
        w->answers[id] = (struct world_answer){ .code = w->e.code };
        w->order[w->n_answers++] = id;
    }
    return id;
}

/* Until everything is answered. */
static inline void world_wait(struct world *w)
{
    store_poll(w->s);
    while (w->n_answers < w->n_asked) {
        CHECK(bell_wait(&w->bell, 50000));
        store_poll(w->s);
    }
}

static inline struct world_answer world_do(struct world *w, const struct store_write *writes, uint32_t n)
{
    unsigned id = world_ask(w, writes, n, false);
    world_wait(w);
    if (w->n_asked > WORLD_ANSWERS_MAX / 2)
        w->n_asked = w->n_answers = 0;
    return w->answers[id];
}

static inline struct store_write world_put_of(const char *key, const char *value)
{
    return (struct store_write){ .key = str_of(key), .value = str_of(value) };
}

/* The revision; fails when it is not done. */
static inline uint64_t world_put(struct world *w, const char *key, const char *value)
{
    struct store_write write = world_put_of(key, value);
    struct world_answer a = world_do(w, &write, 1);
    CHECK_INT(key, a.code, ERR_OK);
    return a.revision;
}

static inline uint64_t world_delete(struct world *w, const char *key)
{
    struct store_write write = { .key = str_of(key), .deletes = true };
    struct world_answer a = world_do(w, &write, 1);
    CHECK_INT(key, a.code, ERR_OK);
    return a.revision;
}

/* "key=value key=value" of a list; "!CODE" when it fails. */
static inline const char *world_list(struct world *w, const char *prefix, const char *from, uint64_t revision,
                                     uint32_t limit, struct store_list *ret_list)
{
    struct store_range r = { str_of(prefix), str_of(from), revision, limit };
    struct strbuf text;
    if (store_list(w->s, &r, &w->arena, ret_list, &w->e))
        return w->e.code == ERR_EXPIRED ? "!expired" : w->e.code == ERR_TIMEOUT ? "!future" : "!";
    strbuf_init(&text, STRBUF_NO_MAX);
    for (size_t i = 0; i < ret_list->n; i++) {
        strbuf_add_text(&text, i ? " " : "");
        strbuf_add_str(&text, store_item_key(ret_list->items[i]));
        strbuf_add_char(&text, '=');
        strbuf_add_str(&text, store_item_value(ret_list->items[i]));
    }
    strbuf_add_char(&text, '\0');
    char *copy = arena_alloc(&w->arena, text.n);
    memcpy(copy, text.p, text.n);
    strbuf_fini(&text);
    return copy;
}

/* What a watch has now: "+key=value" created, "~key=value" changed, "-key=last value" deleted, each with @ and the
 * distance of its revision from `base`; "!" when it is overtaken. */
static inline const char *world_drain(struct world *w, struct store_watch *watch, uint64_t base)
{
    struct strbuf text;
    struct store_event event;
    enum err_code code;
    strbuf_init(&text, STRBUF_NO_MAX);
    while ((code = store_watch_next(w->s, watch, &event)) == ERR_OK) {
        const struct store_item *shown = event.item ? event.item : event.prev;
        strbuf_add_text(&text, text.n ? " " : "");
        strbuf_add_char(&text, !event.item ? '-' : event.prev ? '~' : '+');
        strbuf_add_str(&text, store_item_key(shown));
        strbuf_add_char(&text, '=');
        strbuf_add_str(&text, store_item_value(shown));
        strbuf_printf(&text, "@%lld", (long long)(event.revision - base));
    }
    if (code == ERR_EXPIRED)
        strbuf_add_char(&text, '!');
    strbuf_add_char(&text, '\0');
    char *copy = arena_alloc(&w->arena, text.n);
    memcpy(copy, text.p, text.n);
    strbuf_fini(&text);
    return copy;
}

#define CONTRACT(name)                                                                     \
    static void name##_on(struct world *w);                                                \
    static inline void name##_in(enum world_kind kind)                                     \
    {                                                                                      \
        struct world *w = mem_alloc(sizeof(*w));                                           \
        world_init(w, kind);                                                               \
        name##_on(w);                                                                      \
        world_fini(w);                                                                     \
        free(w);                                                                           \
    }                                                                                      \
    TEST(name##_in_memory)                                                                 \
    {                                                                                      \
        name##_in(WORLD_MEMORY);                                                           \
    }                                                                                      \
    TEST(name##_in_lmdb)                                                                   \
    {                                                                                      \
        name##_in(WORLD_LMDB);                                                             \
    }                                                                                      \
    TEST(name##_in_lmdb_early)                                                             \
    {                                                                                      \
        name##_in(WORLD_EARLY);                                                            \
    }                                                                                      \
    static void name##_on(struct world *w)

/* A test for LMDB alone. */
#define LMDB_TEST(name)                                                                    \
    static void name##_on(struct world *w);                                                \
    TEST(name)                                                                             \
    {                                                                                      \
        struct world *w = mem_alloc(sizeof(*w));                                           \
        world_init(w, WORLD_LMDB);                                                         \
        name##_on(w);                                                                      \
        world_fini(w);                                                                     \
        free(w);                                                                           \
    }                                                                                      \
    static void name##_on(struct world *w)
