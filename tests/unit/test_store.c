/* tests/unit/test_store.c - the contract of store.h, on every engine, and what LMDB's files promise.
 *
 * Names with a number are faults that etcd once had. */
#include <fcntl.h>

#include "tests/unit/store_world.h"

static struct str value_of(struct world *w, const char *key)
{
    struct store_item *item = store_get(w->s, str_of(key));
    return item ? store_item_value(item) : STR("(none)");
}

static void start_watch(struct world *w, struct store_watch *watch, const char *prefix, uint64_t after)
{
    if (store_watch_init(w->s, watch, str_of(prefix), after, &w->e))
        FAIL("%s", w->e.message);
}

/* ---- Writes ---- */

CONTRACT(revisions_count_commits)
{
    CHECK_INT("empty", store_revision(w->s), 1);
    CHECK_INT("next", store_next_revision(w->s), 2);
    CHECK_INT("first", world_put(w, "/a", "1"), 2);
    CHECK_INT("second", world_put(w, "/a", "2"), 3);
    CHECK_INT("other", world_put(w, "/b", "1"), 4);
    struct store_item *item = store_get(w->s, STR("/a"));
    CHECK_INT("create", item->create_revision, 2);
    CHECK_INT("mod", item->mod_revision, 3);
    CHECK_INT("version", item->version, 2);
    CHECK_STR("value", store_item_value(item), STR("2"));
    world_delete(w, "/a");
    CHECK(!store_get(w->s, STR("/a")));
    CHECK_INT("again", world_put(w, "/a", "3"), 6);
    item = store_get(w->s, STR("/a"));
    CHECK_INT("create again", item->create_revision, 6);
    CHECK_INT("version again", item->version, 1);
    CHECK_INT("store", store_revision(w->s), 6);
}

CONTRACT(preconditions)
{
    uint64_t at = world_put(w, "/there", "1");
    const struct {
        const char *key;
        bool deletes;
        enum store_must must;
        uint64_t revision;
        enum err_code want;
    } rows[] = {
        { "/there", false, STORE_NOT_EXIST, 0, ERR_ALREADY_EXISTS },
        { "/there", false, STORE_AT_VERSION, at + 1, ERR_CONFLICT },
        { "/there", true, STORE_AT_VERSION, at - 1, ERR_CONFLICT },
        { "/none", false, STORE_AT_VERSION, at, ERR_NOT_FOUND },
        { "/none", true, STORE_AT_VERSION, at, ERR_NOT_FOUND },
        { "/none", true, STORE_ANY, 0, ERR_NOT_FOUND },
        { "/none", true, STORE_NOT_EXIST, 0, ERR_NOT_FOUND },
        { "/there", true, STORE_NOT_EXIST, 0, ERR_ALREADY_EXISTS },
        { "", false, STORE_ANY, 0, ERR_INVALID },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct store_write write = { str_of(rows[i].key), STR("2"), rows[i].deletes, rows[i].must, rows[i].revision, 0 };
        CHECK_INT(rows[i].key, world_do(w, &write, 1).code, rows[i].want);
    }
    CHECK_INT("nothing was written", store_revision(w->s), at);
    struct store_write good[] = { { STR("/new"), STR("1"), false, STORE_NOT_EXIST, 0, 0 },
                                  { STR("/there"), STR("2"), false, STORE_AT_VERSION, at, 0 } };
    CHECK_INT("good", world_do(w, good, 2).code, ERR_OK);
    struct store_write gone = { STR("/there"), STR(""), true, STORE_AT_VERSION, at + 1, 0 };
    CHECK_INT("gone", world_do(w, &gone, 1).code, ERR_OK);
}

CONTRACT(several_keys_are_one_commit)
{
    struct store_write two[] = { world_put_of("/a", "1"), world_put_of("/b", "1") };
    struct world_answer a = world_do(w, two, 2);
    CHECK_INT("revision", a.revision, 2);
    CHECK_INT("a", store_get(w->s, STR("/a"))->mod_revision, 2);
    CHECK_INT("b", store_get(w->s, STR("/b"))->mod_revision, 2);
    struct store_write bad[] = { world_put_of("/a", "2"), { STR("/b"), STR("2"), false, STORE_NOT_EXIST, 0, 0 } };
    a = world_do(w, bad, 2);
    CHECK_INT("refused", a.code, ERR_ALREADY_EXISTS);
    CHECK_INT("which", a.refused, 1);
    CHECK_STR("untouched", value_of(w, "/a"), STR("1"));
    struct store_write twice[] = { world_put_of("/a", "2"), world_put_of("/a", "3") };
    CHECK_INT("twice", world_do(w, twice, 2).code, ERR_INVALID);
    struct store_watch watch;
    start_watch(w, &watch, "/", 1);
    CHECK_TEXT("events", world_drain(w, &watch, 0), "+/a=1@2 +/b=1@2");
}

/* Decided at once, on what those before leave; answered in order, none before what it tells of can be read. */
CONTRACT(concurrent_writers_of_one_key)
{
    struct store_write create = { STR("/a"), STR("1"), false, STORE_NOT_EXIST, 0, 0 };
    for (int i = 0; i < 10; i++)
        world_ask(w, &create, 1, false);
    CHECK(!store_get(w->s, STR("/a")));
    CHECK_INT("not visible", store_revision(w->s), 1);
    world_wait(w);
    for (unsigned i = 0; i < 10; i++) {
        CHECK_INT("order", w->order[i], i);
        CHECK_INT("one wins", w->answers[i].code, i == 0 ? ERR_OK : ERR_ALREADY_EXISTS);
        CHECK_INT("and can be read", w->answers[i].revision, 2);
    }
    struct store_write update = { STR("/a"), STR("2"), false, STORE_AT_VERSION, 2, 0 };
    struct store_write chained = { STR("/a"), STR("3"), false, STORE_AT_VERSION, 3, 0 };
    unsigned first = world_ask(w, &update, 1, false), second = world_ask(w, &update, 1, false);
    unsigned third = world_ask(w, &chained, 1, false);
    world_wait(w);
    CHECK_INT("first", w->answers[first].code, ERR_OK);
    CHECK_INT("second", w->answers[second].code, ERR_CONFLICT);
    CHECK_INT("third", w->answers[third].code, ERR_OK);
    CHECK_STR("value", value_of(w, "/a"), STR("3"));
}

CONTRACT(deleted_and_created_while_under_way)
{
    world_put(w, "/a", "1");
    struct store_write gone = { STR("/a"), STR(""), true, STORE_ANY, 0, 0 };
    struct store_write create = { STR("/a"), STR("2"), false, STORE_NOT_EXIST, 0, 0 };
    world_ask(w, &gone, 1, false);
    world_ask(w, &create, 1, false);
    world_ask(w, &gone, 1, false);
    world_ask(w, &gone, 1, false);
    world_ask(w, &create, 1, true);
    world_wait(w);
    struct store_watch watch;
    start_watch(w, &watch, "/", 2);
    CHECK_TEXT("events", world_drain(w, &watch, 0), "-/a=1@3 +/a=2@4 -/a=2@5 +/a=2@6");
    CHECK_INT("keys", store_facts(w->s).n_keys, 1);
}

struct asker {
    struct world *w;
    int n_answers;
};

static void ask_again(void *context, const struct store_answer *a)
{
    struct asker *x = context;
    struct store_write write = world_put_of("/a", "1");
    CHECK_INT("answer", a->code, ERR_OK);
    CHECK_INT("can be read", store_get(x->w->s, STR("/a"))->mod_revision, a->revision);
    CHECK_INT("its items", a->n_writes, 1);
    CHECK(a->items[0] == store_get(x->w->s, STR("/a")));
    if (++x->n_answers < 10)
        CHECK(!store_commit(x->w->s, &(struct store_commit){ .writes = &write, .n_writes = 1, .relaxed = true }, ask_again, x, &x->w->e));
}

/* Who answers every answer with a question does not keep a poll from ending. */
CONTRACT(answers_may_ask)
{
    struct asker x = { .w = w };
    struct store_write write = world_put_of("/a", "0");
    CHECK(!store_commit(w->s, &(struct store_commit){ .writes = &write, .n_writes = 1, .relaxed = true }, ask_again, &x, &w->e));
    while (x.n_answers < 10) {
        int before = x.n_answers;
        CHECK(bell_wait(&w->bell, 50000));
        store_poll(w->s);
        CHECK(x.n_answers - before <= 1);
    }
    CHECK_INT("all", store_revision(w->s), 11);
}

CONTRACT(sizes_are_checked)
{
    char *large = mem_zalloc(STORE_VALUE_BYTES_MAX + 1);
    struct store_write write = { STR("/a"), { large, STORE_VALUE_BYTES_MAX }, false, STORE_ANY, 0, 0 };
    CHECK_INT("largest", world_do(w, &write, 1).code, ERR_OK);
    write.value.n++;
    CHECK_INT("larger", world_do(w, &write, 1).code, ERR_TOO_LARGE);
    write = (struct store_write){ { large, STORE_KEY_BYTES_MAX }, STR("x"), false, STORE_ANY, 0, 0 };
    CHECK_INT("longest key", world_do(w, &write, 1).code, ERR_OK);
    write.key.n++;
    CHECK_INT("longer key", world_do(w, &write, 1).code, ERR_INVALID);
    struct store_write many[STORE_COMMIT_WRITES_MAX + 1] = { 0 };
    CHECK_INT("many", world_do(w, many, STORE_COMMIT_WRITES_MAX + 1).code, ERR_INVALID);
    CHECK_INT("none", world_do(w, many, 0).code, ERR_INVALID);
    free(large);
}

CONTRACT(too_many_under_way)
{
    char *large = mem_zalloc(STORE_VALUE_BYTES_MAX);
    struct store_write write = { STR("/a"), { large, STORE_VALUE_BYTES_MAX }, false, STORE_NOT_EXIST, 0, 0 };
    unsigned id = 0, n = 0;
    world_put(w, "/a", "1"); /* all are refused: nothing is copied, but they count */
    unsigned n_before = w->n_answers;
    for (; w->n_answers == n_before && n < 1000; n++)
        id = world_ask(w, &write, 1, false);
    CHECK_INT("bound", w->answers[id].code, ERR_TOO_MANY_REQUESTS);
    CHECK(n <= STORE_OPEN_BYTES_MAX / STORE_VALUE_BYTES_MAX + 1);
    world_wait(w);
    CHECK_INT("over", store_facts(w->s).n_open, 0);
    CHECK_INT("bytes", store_facts(w->s).open_bytes, 0);
    free(large);
}

/* ---- Lists ---- */

CONTRACT(lists_by_prefix)
{
    struct store_list list;
    world_put(w, "/pods/b/1", "x");
    world_put(w, "/podsecrets/a", "secret");
    world_put(w, "/pods/a/1", "y");
    world_put(w, "/pod", "z");
    CHECK_TEXT("pods", world_list(w, "/pods/", "", 0, 0, &list), "/pods/a/1=y /pods/b/1=x");
    CHECK_INT("revision", list.revision, 5);
    CHECK_TEXT("one", world_list(w, "/pods/", "", 0, 1, &list), "/pods/a/1=y");
    CHECK_INT("left", list.n_left, 1);
    CHECK_TEXT("rest", world_list(w, "/pods/", "/pods/a/1x", 0, 1, &list), "/pods/b/1=x");
    CHECK_INT("none left", list.n_left, 0);
    CHECK_TEXT("from elsewhere", world_list(w, "/pods/", "/podsecrets/", 0, 0, &list), "");
    CHECK_TEXT("from before", world_list(w, "/pods/", "/a", 0, 0, &list), "/pods/a/1=y /pods/b/1=x");
    CHECK_TEXT("all", world_list(w, "", "", 0, 0, &list), "/pod=z /pods/a/1=y /pods/b/1=x /podsecrets/a=secret");
    CHECK_TEXT("future", world_list(w, "", "", 6, 0, &list), "!future");
    CHECK_TEXT("nothing", world_list(w, "/x", "", 0, 0, &list), "");
}

CONTRACT(lists_at_a_revision)
{
    struct store_list list;
    const char *want[] = { "", "/a=1", "/a=1 /c=1", "/a=2 /c=1", "/c=1", "/b=1 /c=1", "/a=3 /b=1 /c=1", "/a=3 /b=1" };
    world_put(w, "/a", "1");
    world_put(w, "/c", "1");
    world_put(w, "/a", "2");
    world_delete(w, "/a");
    world_put(w, "/b", "1");
    world_put(w, "/a", "3");
    world_delete(w, "/c");
    for (uint64_t i = 0; i < 8; i++) {
        CHECK_TEXT("at", world_list(w, "/", "", i + 1, 0, &list), want[i]);
        CHECK_INT("revision", list.revision, i + 1);
        CHECK_INT("none left", list.n_left, 0);
    }
    CHECK_TEXT("limited", world_list(w, "/", "", 3, 1, &list), "/a=1");
    CHECK_INT("left", list.n_left, 1);
}

/* The pages of one list show one revision, whatever happens between them. */
CONTRACT(pages_over_changes)
{
    struct store_list list;
    char key[32], from[sizeof(key) + 1] = "";
    size_t n = 0;
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof(key), "/k/%03d", i);
        world_put(w, key, "old");
    }
    uint64_t revision = store_revision(w->s);
    do {
        world_list(w, "/k/", from, revision, 7, &list);
        for (size_t i = 0; i < list.n; i++, n++) {
            snprintf(key, sizeof(key), "/k/%03d", (int)n);
            CHECK_STR("key", store_item_key(list.items[i]), str_of(key));
            CHECK_STR("value", store_item_value(list.items[i]), STR("old"));
        }
        CHECK_INT("left", list.n_left, 100 - n);
        snprintf(from, sizeof(from), "%s ", key); /* the next possible key that is not that one */
        snprintf(key, sizeof(key), "/k/%03d", (int)(n + 3) % 100);
        world_put(w, key, "new");
        snprintf(key, sizeof(key), "/k/%03d", (int)(n + 5) % 100);
        if (store_get(w->s, str_of(key)))
            world_delete(w, key);
        snprintf(key, sizeof(key), "/k/%03dx", (int)(n + 1) % 100);
        world_put(w, key, "new");
    } while (list.n_left);
    CHECK_INT("all", n, 100);
}

CONTRACT(many_keys_stay_in_order)
{
    struct store_list list;
    char key[32];
    enum { N = 5000 };
    for (uint32_t i = 0; i < N; i++) {
        snprintf(key, sizeof(key), "/%05u", i * 7919 % N);
        struct store_write write = world_put_of(key, "x");
        world_ask(w, &write, 1, false);
    }
    world_wait(w);
    w->n_asked = w->n_answers = 0;
    world_list(w, "/", "", 0, 0, &list);
    CHECK_INT("all", list.n, N);
    for (uint32_t i = 0; i < N; i++) {
        snprintf(key, sizeof(key), "/%05u", i);
        CHECK_STR("key", store_item_key(list.items[i]), str_of(key));
    }
    for (uint32_t i = 0; i < N; i += 2) {
        snprintf(key, sizeof(key), "/%05u", i);
        struct store_write gone = { str_of(key), STR(""), true, STORE_ANY, 0, 0 };
        world_ask(w, &gone, 1, false);
    }
    world_wait(w);
    world_list(w, "/", "/01000", 0, 10, &list);
    CHECK_STR("first", store_item_key(list.items[0]), STR("/01001"));
    CHECK_INT("left", list.n_left, (N - 1000) / 2 - 10);
    w->n_asked = w->n_answers = 0;
    for (uint32_t i = 1; i < N; i += 2) {
        snprintf(key, sizeof(key), "/%05u", (i + N / 2) % N / 2 * 2 + 1); /* from the middle on, around */
        struct store_write gone = { str_of(key), STR(""), true, STORE_ANY, 0, 0 };
        world_ask(w, &gone, 1, false);
        if (i % 501 == 0)
            world_wait(w);
    }
    world_wait(w);
    CHECK_TEXT("nothing", world_list(w, "/", "", 0, 0, &list), "");
    CHECK_INT("no keys", store_facts(w->s).n_keys, 0);
    world_put(w, "/1", "again");
    CHECK_TEXT("again", world_list(w, "/", "", 0, 0, &list), "/1=again");
}

/* ---- Watches ---- */

CONTRACT(watches_get_all_once_in_order)
{
    struct store_watch all, some, late;
    start_watch(w, &all, "/", 1);
    start_watch(w, &some, "/b", 1);
    world_put(w, "/a", "1");
    CHECK_TEXT("first", world_drain(w, &all, 0), "+/a=1@2");
    CHECK_INT("progress", store_watch_progress(w->s, &all), 2);
    CHECK_INT("no progress before looking", store_watch_progress(w->s, &some), 0);
    CHECK_TEXT("not its", world_drain(w, &some, 0), "");
    CHECK_INT("progress of nothing", store_watch_progress(w->s, &some), 2);
    world_put(w, "/b", "1");
    world_put(w, "/b", "2");
    world_delete(w, "/b");
    CHECK_TEXT("some", world_drain(w, &some, 0), "+/b=1@3 ~/b=2@4 -/b=2@5");
    CHECK_TEXT("once", world_drain(w, &some, 0), "");
    CHECK_TEXT("all", world_drain(w, &all, 0), "+/b=1@3 ~/b=2@4 -/b=2@5");
    start_watch(w, &late, "/b", 3);
    CHECK_TEXT("resumed", world_drain(w, &late, 0), "~/b=2@4 -/b=2@5");
}

/* #15220: progress is told only of what was given out. */
CONTRACT(progress_is_not_ahead_15220)
{
    struct store_watch watch;
    struct store_event event;
    start_watch(w, &watch, "/", 1);
    world_put(w, "/a", "1");
    world_put(w, "/a", "2");
    CHECK_INT("one", store_watch_next(w->s, &watch, &event), ERR_OK);
    CHECK_INT("one is open", store_watch_progress(w->s, &watch), 0);
    struct store_write under_way = world_put_of("/a", "3");
    world_ask(w, &under_way, 1, false);
    CHECK_INT("two", store_watch_next(w->s, &watch, &event), ERR_OK);
    CHECK_INT("not of what is under way", store_watch_progress(w->s, &watch), 3);
    world_wait(w);
}

/* #20221: a watch from a revision that is still to come waits for it and skips what is before. */
CONTRACT(future_watch_20221)
{
    struct store_watch watch;
    start_watch(w, &watch, "/", 3);
    CHECK_INT("nothing can be said", store_watch_progress(w->s, &watch), 0);
    world_put(w, "/a", "1");
    CHECK_TEXT("before", world_drain(w, &watch, 0), "");
    CHECK_INT("still nothing", store_watch_progress(w->s, &watch), 0);
    world_put(w, "/a", "2");
    world_put(w, "/a", "3");
    CHECK_TEXT("after", world_drain(w, &watch, 0), "~/a=3@4");
}

/* ---- Compaction ---- */

/* #19179, #18089: at the compaction's revision nothing is missing, neither when that is a deletion. */
CONTRACT(compaction_edges_19179_18089)
{
    struct store_watch before, at, stale;
    struct store_list list;
    world_put(w, "/a", "1");    /* 2 */
    world_put(w, "/a", "2");    /* 3 */
    world_delete(w, "/a");      /* 4 */
    world_put(w, "/b", "1");    /* 5 */
    start_watch(w, &before, "/", 1);
    start_watch(w, &stale, "/", 3);
    store_compact(w->s, 3);
    CHECK_INT("compacted", store_compacted(w->s), 3);
    CHECK_TEXT("overtaken", world_drain(w, &before, 0), "!");
    CHECK_TEXT("for good", world_drain(w, &before, 0), "!");
    start_watch(w, &at, "/", 3);
    CHECK_TEXT("at it", world_drain(w, &at, 0), "-/a=2@4 +/b=1@5");
    CHECK_TEXT("was there before", world_drain(w, &stale, 0), "-/a=2@4 +/b=1@5");
    CHECK_TEXT("list at it", world_list(w, "/", "", 3, 0, &list), "/a=2");
    CHECK_TEXT("list below it", world_list(w, "/", "", 2, 0, &list), "!expired");
    CHECK_INT("watch below it", store_watch_init(w->s, &at, STR("/"), 2, &w->e), ERR_EXPIRED);
    store_compact(w->s, 4);
    start_watch(w, &at, "/", 4);
    CHECK_TEXT("behind the deletion", world_drain(w, &at, 0), "+/b=1@5");
    store_compact(w->s, 100);
    CHECK_INT("not beyond the end", store_compacted(w->s), 5);
    store_compact(w->s, 2);
    CHECK_INT("nor back", store_compacted(w->s), 5);
    start_watch(w, &at, "/", 5);
    world_put(w, "/b", "2");
    CHECK_TEXT("goes on", world_drain(w, &at, 0), "~/b=2@6");
    CHECK_TEXT("list", world_list(w, "/", "", 5, 0, &list), "/b=1");
}

CONTRACT(log_has_bounds)
{
    struct store_watch watch;
    char value[16];
    w->log_events_max = 100;
    if (w->kind == WORLD_MEMORY) {
        store_free(w->s);
        world_open(w);
    } else {
        world_reopen(w);
    }
    start_watch(w, &watch, "/", 1);
    for (int i = 0; i < 300; i++) {
        snprintf(value, sizeof(value), "%d", i);
        world_put(w, "/a", value);
    }
    CHECK_INT("events", store_facts(w->s).n_events, 100);
    CHECK_INT("compacted", store_compacted(w->s), store_revision(w->s) - 100);
    CHECK_TEXT("overtaken", world_drain(w, &watch, 0), "!");
}

/* ---- Expiry ---- */

static void put_for(struct world *w, const char *key, int64_t ttl_ms)
{
    struct store_write write = { str_of(key), STR("x"), false, STORE_ANY, 0, ttl_ms };
    CHECK_INT(key, world_do(w, &write, 1).code, ERR_OK);
}

static void pass(struct world *w, int64_t ms)
{
    clock_manual_advance(&w->clock, ms * CLOCK_NS_PER_MS);
    store_tick(w->s);
    store_poll(w->s);
    while (store_facts(w->s).n_open) {
        CHECK(bell_wait(&w->bell, 50000));
        store_poll(w->s);
    }
}

CONTRACT(keys_expire)
{
    struct store_watch watch;
    put_for(w, "/e/1", 1000);
    put_for(w, "/e/2", 2000);
    put_for(w, "/e/3", 0);
    start_watch(w, &watch, "/e/", store_revision(w->s));
    pass(w, 999);
    CHECK_TEXT("not yet", world_drain(w, &watch, 4), "");
    pass(w, 1);
    CHECK_TEXT("one", world_drain(w, &watch, 4), "-/e/1=x@1");
    put_for(w, "/e/2", 2000);
    pass(w, 1500);
    CHECK_TEXT("renewed", world_drain(w, &watch, 4), "~/e/2=x@2");
    pass(w, 500);
    CHECK_TEXT("two", world_drain(w, &watch, 4), "-/e/2=x@3");
    pass(w, 1000000000);
    CHECK_TEXT("stays", world_drain(w, &watch, 4), "");
    put_for(w, "/e/4", 1000);
    put_for(w, "/e/4", 0);
    pass(w, 5000);
    CHECK_TEXT("stays now", world_drain(w, &watch, 4), "+/e/4=x@4 ~/e/4=x@5");
    CHECK_INT("none expires", store_facts(w->s).n_expiring, 0);
}

/* A wall clock that jumps ends nothing and keeps nothing longer. */
CONTRACT(clock_jumps_do_not_matter)
{
    put_for(w, "/e/1", 1000);
    clock_manual_set_wall(&w->clock, clock_wall_ns(&w->clock.clock) + 3600 * (int64_t)CLOCK_NS_PER_SECOND);
    pass(w, 500);
    CHECK(store_get(w->s, STR("/e/1")));
    clock_manual_set_wall(&w->clock, clock_wall_ns(&w->clock.clock) - 7200 * (int64_t)CLOCK_NS_PER_SECOND);
    if (w->kind != WORLD_MEMORY)
        world_reopen(w);
    int64_t left_ms = store_expires_ms(w->s, STR("/e/1")) - clock_mono_ms(&w->clock.clock);
    CHECK_INT("at most its whole life", left_ms, w->kind == WORLD_MEMORY ? 500 : 1000);
    pass(w, 1000);
    CHECK(!store_get(w->s, STR("/e/1")));
}

LMDB_TEST(expiry_survives_a_restart)
{
    put_for(w, "/e/1", 1000);
    put_for(w, "/e/2", 5000);
    clock_manual_advance(&w->clock, 700 * (int64_t)CLOCK_NS_PER_MS);
    world_reopen(w);
    CHECK_INT("left", store_expires_ms(w->s, STR("/e/1")) - clock_mono_ms(&w->clock.clock), 300);
    clock_manual_advance(&w->clock, 600 * (int64_t)CLOCK_NS_PER_MS);
    world_reopen(w);
    pass(w, 0);
    CHECK(!store_get(w->s, STR("/e/1")));
    CHECK(store_get(w->s, STR("/e/2")));
}

/* ---- Restarts ---- */

LMDB_TEST(everything_is_there_again)
{
    struct store_watch watch;
    struct store_list list;
    world_put(w, "/a", "1");
    world_put(w, "/a", "2");
    world_delete(w, "/a");
    struct store_write two[] = { world_put_of("/b", "1"), world_put_of("/c", "1") };
    world_do(w, two, 2);
    world_reopen(w);
    CHECK_INT("revision", store_revision(w->s), 5);
    CHECK_TEXT("list", world_list(w, "/", "", 0, 0, &list), "/b=1 /c=1");
    CHECK_TEXT("old list", world_list(w, "/", "", 3, 0, &list), "/a=2");
    start_watch(w, &watch, "/", 2);
    CHECK_TEXT("watch goes on", world_drain(w, &watch, 0), "~/a=2@3 -/a=2@4 +/b=1@5 +/c=1@5");
    CHECK_INT("next", world_put(w, "/b", "2"), 6);
    CHECK_INT("version", store_get(w->s, STR("/b"))->version, 2);
    CHECK_INT("create", store_get(w->s, STR("/b"))->create_revision, 5);
}

/* #17780, #13766: the last commits are deletions, nothing of them is left on disk, and no number comes twice. */
LMDB_TEST(revision_does_not_go_back_17780)
{
    struct lmdb_facts facts;
    world_put(w, "/a", "1");
    world_put(w, "/b", "1");
    world_delete(w, "/a");
    world_delete(w, "/b");
    store_compact(w->s, 5);
    world_reopen(w);
    CHECK_INT("revision", store_revision(w->s), 5);
    CHECK_INT("compacted", store_compacted(w->s), 5);
    store_free(w->s);
    w->s = NULL;
    CHECK(!lmdb_verify(w->folder, &facts, &w->e));
    CHECK_INT("records", facts.n_records, 0);
    world_open(w);
    CHECK_INT("next", world_put(w, "/a", "2"), 6);
}

LMDB_TEST(old_records_are_deleted)
{
    struct lmdb_facts facts;
    char value[16];
    w->log_events_max = 10;
    world_reopen(w);
    for (int i = 0; i < 1000; i++) {
        snprintf(value, sizeof(value), "%d", i);
        world_put(w, i % 2 ? "/a" : "/b", value);
    }
    store_free(w->s);
    w->s = NULL;
    CHECK(!lmdb_verify(w->folder, &facts, &w->e));
    CHECK_INT("records", facts.n_records, 12); /* 10 of the log, and what was before the first of each key */
    world_open(w);
    CHECK_STR("a", value_of(w, "/a"), STR("999"));
    CHECK_STR("b", value_of(w, "/b"), STR("998"));
    CHECK_INT("events", store_facts(w->s).n_events, 10);
}

LMDB_TEST(map_grows)
{
    char *large = mem_zalloc(1 << 20), key[16];
    for (int i = 0; i < 200; i++) {
        snprintf(key, sizeof(key), "/%d", i);
        struct store_write write = { str_of(key), { large, 1 << 20 }, false, STORE_ANY, 0, 0 };
        world_ask(w, &write, 1, false);
        if (i % 20 == 19)
            world_wait(w);
    }
    world_wait(w);
    for (unsigned i = 0; i < 200; i++)
        CHECK_INT("put", w->answers[i].code, ERR_OK);
    world_reopen(w);
    CHECK_INT("all", store_facts(w->s).n_keys, 200);
    free(large);
}

/* ---- No space ---- */

/* Until not even a page is left. */
static int fill_with_small(struct world *w)
{
    char key[16], value[1000];
    enum err_code code = ERR_OK;
    int n = 0;
    memset(value, 'x', sizeof(value));
    while (!code) {
        snprintf(key, sizeof(key), "/s/%04d", n);
        struct store_write write = { str_of(key), { value, sizeof(value) }, false, STORE_ANY, 0, 0 };
        store_tick(w->s);
        code = world_do(w, &write, 1).code;
        n += !code;
    }
    return n;
}

LMDB_TEST(deletions_work_when_it_is_full)
{
    char *large = mem_zalloc(100000), key[16];
    int n = 0;
    w->file_bytes_max = 4 << 20;
    world_reopen(w);
    enum err_code code = ERR_OK;
    for (; !code && n < 1000; n++) {
        snprintf(key, sizeof(key), "/%03d", n);
        struct store_write write = { str_of(key), { large, 100000 }, false, STORE_ANY, 0, 0 };
        code = world_do(w, &write, 1).code;
    }
    CHECK_INT("full", code, ERR_UNAVAILABLE);
    CHECK(n > 20);
    CHECK(store_facts(w->s).full);
    CHECK(!store_get(w->s, str_of(key)));
    struct store_write write = { STR("/small"), STR("x"), false, STORE_ANY, 0, 0 };
    CHECK_INT("refused at once", world_do(w, &write, 1).code, ERR_UNAVAILABLE);
    CHECK_STR("reads", value_of(w, "/small"), STR("(none)"));
    CHECK_INT("reads", store_get(w->s, STR("/000"))->n_value, 100000);
    int n_small = fill_with_small(w);
    write.value = (struct str){ large, 100000 };
    for (int i = 0; i < 3; i++) {
        store_tick(w->s);
        CHECK_INT("what is kept for deletions is for them", world_do(w, &write, 1).code, ERR_UNAVAILABLE);
    }
    for (int i = 0; i < n_small; i++) {
        snprintf(key, sizeof(key), "/s/%04d", i);
        world_delete(w, key);
    }
    for (int i = 0; i < n - 1; i++) {
        snprintf(key, sizeof(key), "/%03d", i);
        world_delete(w, key);
    }
    bool room = false;
    for (int i = 0; i < 1000 && !room; i++) {
        usleep(1000);
        store_tick(w->s);
        room = world_do(w, &write, 1).code == ERR_OK;
    }
    CHECK(room); /* what was deleted is forgotten when room is needed */
    world_reopen(w);
    CHECK_INT("one", store_facts(w->s).n_keys, 1);
    free(large);
}

/* What was decided on a commit that fails, fails with it; the keys are as before. */
LMDB_TEST(failure_takes_those_after_it)
{
    char *large = mem_zalloc(STORE_VALUE_BYTES_MAX);
    w->file_bytes_max = 2 << 20;
    world_reopen(w);
    uint64_t at = world_put(w, "/a", "1");
    struct store_write too_large = { STR("/b"), { large, 4 << 20 }, false, STORE_ANY, 0, 0 };
    struct store_write change = { STR("/a"), STR("2"), false, STORE_AT_VERSION, at, 0 };
    struct store_write create = { STR("/b"), STR("1"), false, STORE_NOT_EXIST, 0, 0 };
    unsigned first = world_ask(w, &too_large, 1, false);
    unsigned second = world_ask(w, &change, 1, false), third = world_ask(w, &create, 1, false);
    world_wait(w);
    CHECK_INT("first", w->answers[first].code, ERR_UNAVAILABLE);
    CHECK_INT("second", w->answers[second].code, ERR_UNAVAILABLE);
    CHECK_INT("its refusal was no truth", w->answers[third].code, ERR_UNAVAILABLE);
    CHECK_STR("a", value_of(w, "/a"), STR("1"));
    CHECK_INT("keys", store_facts(w->s).n_keys, 1);
    store_tick(w->s);
    CHECK_INT("again", world_do(w, &change, 1).code, ERR_OK);
    CHECK_INT("again", world_do(w, &create, 1).code, ERR_OK);
    world_reopen(w);
    CHECK_STR("a", value_of(w, "/a"), STR("2"));
    free(large);
}

/* ---- Files ---- */

static const char *file_of(struct world *w, const char *name)
{
    return arena_printf(&w->arena, "%s/%s", w->folder, name);
}

LMDB_TEST(files_are_private)
{
    static const char *const names[] = { "data.mdb", "lock.mdb", "berth.lock", "reserve" };
    struct stat st;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        CHECK(stat(file_of(w, names[i]), &st) == 0);
        CHECK_INT(names[i], st.st_mode & 0777, 0600);
    }
}

LMDB_TEST(only_one_may_write)
{
    struct engine *engine;
    struct lmdb_options o = { .folder = w->folder };
    CHECK_INT("second", lmdb_open(&o, &engine, &w->e), ERR_CONFLICT);
    CHECK(strstr(w->e.message, "in use"));
    CHECK_INT("shrink", lmdb_shrink(w->folder, &w->e), ERR_CONFLICT);
}

static void spoil(const char *path, off_t at, const char *bytes, size_t n)
{
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0);
    CHECK(pwrite(fd, bytes, n, at) == (ssize_t)n);
    close(fd);
}

/* Where a text stands in a file. */
static off_t find_in_file(const char *path, const char *text)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && fstat(fd, &st) == 0);
    char *bytes = mem_alloc((size_t)st.st_size);
    CHECK(read(fd, bytes, (size_t)st.st_size) == st.st_size);
    char *hit = memmem(bytes, (size_t)st.st_size, text, strlen(text));
    CHECK(hit);
    off_t at = hit - bytes;
    free(bytes);
    close(fd);
    return at;
}

LMDB_TEST(damage_is_found_at_open)
{
    const char *data = file_of(w, "data.mdb");
    char key[16];
    for (int i = 0; i < 500; i++) {
        snprintf(key, sizeof(key), "/%d", i);
        world_put(w, key, i == 250 ? "the value to look for" : "another value");
    }
    store_free(w->s);
    w->s = NULL;
    off_t at = find_in_file(data, "value to look for");
    spoil(data, at, "V", 1);
    CHECK_INT("spoiled", world_try_open(w), ERR_IO);
    CHECK(strstr(w->e.message, "record 252/0 is damaged: its checksum is wrong"));
    CHECK(strstr(w->e.message, "berth store restore"));
    spoil(data, at, "v", 1);
    world_open(w);
    store_free(w->s);
    w->s = NULL;
    /* Whole pages that lead nowhere: whatever LMDB does with them, this process gets an error. */
    struct stat st;
    CHECK(stat(data, &st) == 0);
    char junk[4096];
    memset(junk, 0xa5, sizeof(junk));
    for (off_t page = 2; page * 4096 < st.st_size; page++)
        spoil(data, page * 4096, junk, sizeof(junk));
    CHECK_INT("pages", world_try_open(w), ERR_IO);
    CHECK(truncate(data, 3 * 4096) == 0);
    CHECK_INT("cut", world_try_open(w), ERR_IO);
    spoil(data, 0, junk, sizeof(junk));
    spoil(data, 4096, junk, sizeof(junk));
    CHECK_INT("no LMDB", world_try_open(w), ERR_IO);
}

#ifndef __SANITIZE_THREAD__ /* a child makes the backup, and ThreadSanitizer lets it have no threads */
LMDB_TEST(backup_and_restore)
{
    struct lmdb_facts facts;
    struct store_list list;
    const char *backup = file_of(w, "backup"), *elsewhere = file_of(w, "elsewhere");
    world_put(w, "/a", "1");
    world_put(w, "/b", "1");
    CHECK(!lmdb_backup(w->folder, backup, &facts, &w->e)); /* while it is in use */
    CHECK_INT("records", facts.n_records, 2);
    CHECK_INT("revision", facts.state.revision, 3);
    CHECK_INT("not twice", lmdb_backup(w->folder, backup, &facts, &w->e), ERR_ALREADY_EXISTS);
    world_put(w, "/a", "2");
    CHECK_INT("not over a store", lmdb_restore(backup, w->folder, &facts, &w->e), ERR_CONFLICT);
    CHECK(!lmdb_restore(backup, elsewhere, &facts, &w->e));
    CHECK_INT("nor a second time", lmdb_restore(backup, elsewhere, &facts, &w->e), ERR_ALREADY_EXISTS);
    store_free(w->s);
    char folder[sizeof(w->folder)];
    strcpy(folder, w->folder);
    snprintf(w->folder, sizeof(w->folder), "%s", elsewhere);
    world_open(w);
    CHECK_TEXT("as it was", world_list(w, "/", "", 0, 0, &list), "/a=1 /b=1");
    store_free(w->s);
    w->s = NULL;
    strcpy(w->folder, folder);
    spoil(backup, find_in_file(backup, "/b1"), "x", 1);
    CHECK_INT("damaged", lmdb_restore(backup, file_of(w, "third"), &facts, &w->e), ERR_IO);
    CHECK(access(file_of(w, "third"), F_OK) != 0);
}
#endif

/* #14685: a copy takes the file's place as a whole. */
LMDB_TEST(shrinking)
{
    struct stat before, after;
    struct store_list list;
    char *large = mem_zalloc(1 << 20);
    for (int i = 0; i < 20; i++) {
        struct store_write write = { STR("/a"), { large, 1 << 20 }, false, STORE_ANY, 0, 0 };
        CHECK_INT("put", world_do(w, &write, 1).code, ERR_OK);
    }
    uint64_t last = world_put(w, "/a", "small");
    store_compact(w->s, last);
    store_free(w->s);
    w->s = NULL;
    CHECK(stat(file_of(w, "data.mdb"), &before) == 0);
    CHECK(!lmdb_shrink(w->folder, &w->e));
    CHECK(stat(file_of(w, "data.mdb"), &after) == 0);
    CHECK(after.st_size < before.st_size / 10);
    world_open(w);
    CHECK_TEXT("the same", world_list(w, "/", "", 0, 0, &list), "/a=small");
    CHECK_INT("revision", store_revision(w->s), last);
    free(large);
}
