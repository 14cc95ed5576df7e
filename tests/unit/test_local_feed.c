/* What the scheduler of an API server's process gets out of its store (daemon/local_feed.h), without a thread: the engine takes its
 * turns when it is told to. */
#include "daemon/local_feed.h"

#include "base/log.h"
#include "config/features.h"
#include "daemon/intake.h"
#include "sched/sched.h"
#include "tests/api_world.h"
#include "tests/test.h"

#define POD(name, more)                                                                                                     \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name "\",\"namespace\":\"default\",\"uid\":\"u-" name "\"," \
    "\"resourceVersion\":\"%llu\"" more

#define PENDING(name) POD(name, "},\"spec\":{\"schedulerName\":\"other\"},\"status\":{\"phase\":\"Pending\"}}")
#define IN_PHASE(name, phase) POD(name, "},\"spec\":{\"schedulerName\":\"other\"},\"status\":{\"phase\":\"" phase "\"}}")
#define LABELLED(name) \
    POD(name, ",\"labels\":{\"phase\":\"Succeeded\"}},\"spec\":{\"schedulerName\":\"other\"},\"status\":{\"phase\":\"Pending\"}}")
#define NODE "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n\",\"uid\":\"u-n\",\"resourceVersion\":\"%llu\"}}"

static struct {
    struct api_world api;
    struct arena arena;
    struct gates gates;
    struct features features;
    struct engine *engine;
    struct local_feed *feed;
    int n_synced;
} w;

static void synced(void *context)
{
    (void)context;
    w.n_synced++;
}

static void quiet(void *context, struct str record)
{
    (void)context, (void)record;
}

static void done(void *context, const struct store_answer *answer)
{
    (void)context;
    CHECK_INT("committed", answer->code, ERR_OK);
}

/* `json` has a place for the version; NULL deletes. */
static void put(const char *key, const char *json)
{
    struct store *s = w.api.store;
    const char *value = json ? arena_printf(&w.arena, json, (unsigned long long)store_next_revision(s)) : NULL;
    struct store_write write = { .key = str_of(key), .value = str_of(value), .deletes = !json };
    struct store_commit c = { .writes = &write, .n_writes = 1 };
    api_world_must(&w.api, store_commit(s, &c, done, NULL, &w.api.e));
    store_poll(s);
}

static void put_many(int n, int first)
{
    for (int i = first; i < first + n; i++) {
        const char *name = arena_printf(&w.arena, "many-%d", i);
        struct str json = str_of(arena_printf(&w.arena, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\",\"namespace\":"
                                                        "\"default\",\"uid\":\"u-%s\",\"resourceVersion\":\"%%llu\"},\"spec\":{}}", name, name));
        put(arena_printf(&w.arena, "/registry/pods/default/%s", name), arena_cstr(&w.arena, json));
    }
}
static void turn(void)
{
    local_feed_poll(w.feed);
    for (int i = 0; i < 10; i++) {
        loop_run_once(w.api.loop, false);
        while (engine_turn(w.engine))
            ;
    }
}

static void begin(uint32_t log_events_max)
{
    log_set_sink(quiet, NULL);
    api_world_init(&w.api, &(struct api_world_options){ .log_events_max = log_events_max });
    arena_init(&w.arena);
    gates_init(&w.gates);
    w.features = gates_features(&w.gates);
    struct engine_options o = { .clock = &w.api.clock.clock, .loop = w.api.loop, .features = &w.features, .synced = synced,
                                .config = config_default(&w.arena, &w.features) };
    api_world_must(&w.api, engine_new(&o, &w.engine, &w.api.e));
    w.feed = local_feed_new(
        &(struct local_feed_options){ .loop = w.api.loop, .objects = w.api.objects, .engine = w.engine });
}

static void end(void)
{
    local_feed_stop(w.feed);
    engine_free(w.engine);
    local_feed_free(w.feed);
    arena_fini(&w.arena);
    api_world_fini(&w.api);
}

static bool has(const char *uid)
{
    return sched_pod(engine_sched(w.engine), uid) != NULL;
}

TEST(what_is_there_is_listed_and_then_every_change_is_told)
{
    begin(0);
    put("/registry/minions/n", NODE);
    put("/registry/pods/default/a", PENDING("a"));
    turn();
    CHECK_INT("nothing before the start", intake_counts(engine_intake(w.engine)).n_objects, 0);
    local_feed_start(w.feed);
    turn();
    CHECK_INT("all lists are whole", w.n_synced, 1);
    CHECK(has("u-a"));
    CHECK_INT("a node and a pod", intake_counts(engine_intake(w.engine)).n_objects, 2);
    put("/registry/pods/default/b", PENDING("b"));
    put("/registry/events/default/x", "{\"metadata\":{\"resourceVersion\":\"%llu\"}}");
    put("/registry/pods/default/a", NULL);
    turn();
    CHECK(has("u-b") && !has("u-a"));
    CHECK_INT("nothing else", intake_counts(engine_intake(w.engine)).n_objects, 4);
    CHECK_INT("listed once", local_feed_n_lists(w.feed), 1);
    end();
}

TEST(pods_that_are_over_are_none)
{
    begin(0);
    put("/registry/pods/default/s", IN_PHASE("s", "Succeeded"));
    put("/registry/pods/default/l", LABELLED("l"));
    local_feed_start(w.feed);
    turn();
    CHECK(!has("u-s"));
    CHECK(has("u-l"));
    put("/registry/pods/default/r", IN_PHASE("r", "Running"));
    turn();
    CHECK(has("u-r"));
    put("/registry/pods/default/r", IN_PHASE("r", "Failed"));
    turn();
    CHECK(!has("u-r"));
    uint64_t n = intake_counts(engine_intake(w.engine)).n_objects;
    put("/registry/pods/default/r", IN_PHASE("r", "Failed"));
    put("/registry/pods/default/r", NULL);
    turn();
    CHECK_INT("nobody is told of its end", intake_counts(engine_intake(w.engine)).n_objects, n);
    end();
}

TEST(who_was_overtaken_lists_again_and_misses_nothing)
{
    begin(16);
    put_many(5, 0);
    local_feed_start(w.feed);
    turn();
    CHECK(has("u-many-0") && has("u-many-4"));
    put("/registry/pods/default/many-0", NULL);
    put_many(40, 5);
    turn();
    CHECK_INT("listed again", local_feed_n_lists(w.feed), 2);
    CHECK(!has("u-many-0"));
    CHECK(has("u-many-1") && has("u-many-44"));
    CHECK_INT("told once", w.n_synced, 1);
    CHECK_INT("swept", intake_counts(engine_intake(w.engine)).n_swept, 1);
    put("/registry/pods/default/b", PENDING("b"));
    turn();
    CHECK(has("u-b"));
    end();
}

/* More than fits on its way to the engine: the rest follows when there is room, each object once. */
TEST(a_long_list_waits_for_the_engine)
{
    enum { PODS = 40, BYTES = 1 << 20 };
    begin(0);
    char *filler = arena_alloc(&w.arena, BYTES + 1);
    memset(filler, 'x', BYTES);
    filler[BYTES] = 0;
    for (int i = 0; i < PODS; i++)
        put(arena_printf(&w.arena, "/registry/pods/default/p%02d", i),
            arena_printf(&w.arena, "{\"metadata\":{\"name\":\"p%02d\",\"namespace\":\"default\",\"uid\":\"u%02d\",\"resourceVersion\":"
                                   "\"%%llu\",\"annotations\":{\"a\":\"%s\"}},\"spec\":{}}", i, i, filler));
    local_feed_start(w.feed);
    loop_run_once(w.api.loop, false);
    put("/registry/pods/default/z", PENDING("z"));
    turn();
    turn();
    CHECK(has("u00") && has("u39") && has("u-z"));
    CHECK_INT("each once", intake_counts(engine_intake(w.engine)).n_objects, PODS + 1);
    CHECK_INT("synced", w.n_synced, 1);
    end();
}
