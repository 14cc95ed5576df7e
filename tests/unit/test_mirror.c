/* A copy of a far cluster: controllers/mirror.c over client/reflector.c, with a server played by hand. */
#include "controllers/mirror.h"

#include "base/log.h"
#include "controllers/cluster.h"
#include "tests/played_api.h"
#include "tests/test.h"

static struct loop *loop;
static struct mirror *mirror;
static unsigned n_told;

static void changed(void *context)
{
    (void)context;
    n_told++;
}

static const struct resource *pods(void)
{
    return stored_resource("pods", "");
}

static void event(const char *type, const char *object)
{
    struct strbuf line;
    strbuf_init(&line, STRBUF_NO_MAX);
    strbuf_printf(&line, "{\"type\":\"%s\",\"object\":%s}\n", type, object);
    struct played_request *r = &played.at[played.n - 1];
    CHECK(r->is_stream);
    r->stream.data(r->stream.context, strbuf_str(&line));
    strbuf_fini(&line);
}

static void pod_event(const char *type, const char *name, int version, const char *more)
{
    char text[512];
    snprintf(text, sizeof(text), "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\",\"namespace\":\"a\","
             "\"uid\":\"u-%s\",\"resourceVersion\":\"%d\"}%s}", name, name, version, more);
    event(type, text);
}

static void end_list(int version)
{
    char text[256];
    snprintf(text, sizeof(text), "{\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":\"%d\",\"annotations\":{"
             "\"k8s.io/initial-events-end\":\"true\"}}}", version);
    event("BOOKMARK", text);
}

static void open_stream(void)
{
    struct played_request *r = &played.at[played.n - 1];
    r->stream.head(r->stream.context, 200, MEDIA_JSON);
}

static void begin(bool whole)
{
    log_set_level_number(-1);
    loop = loop_new(NULL);
    mirror = mirror_new(&(struct mirror_options){ .loop = loop, .api = &played_api, .changed = changed });
    mirror_add(mirror, pods(), whole);
    open_stream();
}

static void finish(void)
{
    mirror_free(mirror);
    loop_free(loop);
    played_fini();
}

static struct store_item *item(const char *name)
{
    struct arena a;
    arena_init(&a);
    struct store_item *i = store_get(stored_store(mirror_objects(mirror)), stored_key(&a, pods(), STR("a"), str_of(name)));
    arena_fini(&a);
    return i;
}

/* Of a pod; 0: there is none. */
static int version(const char *name)
{
    const struct value *v = stored_get(mirror_objects(mirror), pods(), STR("a"), str_of(name));
    struct str text = v ? value_text(value_path(pods()->type, v, "metadata.resourceVersion")) : STR("0");
    return (int)strtol(text.p, NULL, 10);
}

static void put(const char *name, int of_version)
{
    char text[256];
    snprintf(text, sizeof(text), "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":\"a\",\"uid\":\"u-%s\","
             "\"resourceVersion\":\"%d\"}}", name, name, of_version);
    mirror_put(mirror, pods(), str_of(text));
}

static void turn_loop(void)
{
    for (int i = 0; i < 5; i++)
        loop_run_once(loop, false);
}

TEST(what_is_listed_can_be_read_and_is_told_when_all_is_there)
{
    begin(true);
    pod_event("ADDED", "x", 5, "");
    turn_loop();
    CHECK(version("x") == 5 && !mirror_has_synced(mirror) && n_told == 0);
    CHECK(mirror_waits_for(mirror) == pods());
    end_list(7);
    turn_loop();
    CHECK(mirror_has_synced(mirror) && n_told == 1);
    pod_event("MODIFIED", "x", 8, "");
    pod_event("ADDED", "y", 9, "");
    turn_loop();
    CHECK(version("x") == 8 && version("y") == 9 && n_told == 2);
    pod_event("DELETED", "x", 10, "");
    CHECK(!item("x") && version("y") == 9);
    finish();
}

/* What a write was answered with, against what the watch brings before and after it. */
TEST(answers_and_watch_in_any_order)
{
    static const struct {
        const char *name;
        int watched, answered;     /* versions of x: the watch has seen the first, then comes the answer */
        const char *then;          /* an event, of version: */
        int then_version, expected;
    } rows[] = {
        { "an answer that is ahead of the watch can be read at once", 8, 12, NULL, 0, 12 },
        { "an older event does not undo it", 8, 12, "MODIFIED", 10, 12 },
        { "its own event changes nothing", 8, 12, "MODIFIED", 12, 12 },
        { "a later one does", 8, 12, "MODIFIED", 13, 13 },
        { "an answer that the watch is past does not count", 8, 7, NULL, 0, 8 },
        { "a deletion before the answer does not count", 8, 12, "DELETED", 11, 12 },
        { "a deletion after it does", 8, 12, "DELETED", 13, 0 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin(true);
        end_list(5);
        pod_event("ADDED", "x", rows[i].watched, "");
        put("x", rows[i].answered);
        if (rows[i].then)
            pod_event(rows[i].then, "x", rows[i].then_version, "");
        CHECK_INT(rows[i].name, version("x"), rows[i].expected);
        finish();
    }
}

TEST(what_was_deleted_does_not_come_back_with_a_late_answer)
{
    begin(true);
    pod_event("ADDED", "x", 4, "");
    end_list(5);
    pod_event("DELETED", "x", 9, "");
    put("x", 8);
    CHECK(!item("x"));
    finish();
}

TEST(a_list_that_comes_again_tells_what_is_gone)
{
    begin(true);
    pod_event("ADDED", "stays", 3, "");
    pod_event("ADDED", "goes", 4, "");
    end_list(5);
    put("new", 30);
    event("ERROR", "{\"kind\":\"Status\",\"code\":410,\"message\":\"too old\"}");
    size_t n = played.n;
    int64_t until_ms = loop_now_ms(loop) + 60 * 1000;
    while (played.n == n && loop_now_ms(loop) < until_ms)
        loop_run_once(loop, true);
    CHECK(played.n == n + 1);
    open_stream();
    pod_event("ADDED", "stays", 3, "");
    CHECK(item("goes"));
    end_list(20);
    CHECK(version("stays") == 3 && !item("goes"));
    CHECK(version("new") == 30); /* newer than the list */
    finish();
}

TEST(nonsense_is_left_out)
{
    begin(true);
    event("ADDED", "{\"kind\":\"Pod\",\"metadata\":{\"name\":7,\"resourceVersion\":\"1\"}}");
    event("ADDED", "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n\",\"namespace\":\"a\",\"resourceVersion\":\"1\"}}");
    pod_event("ADDED", "x", 5, ",\"unknown\":{\"deep\":[1,2]}");
    end_list(5);
    CHECK(!item("n") && version("x") == 5);
    CHECK(!mirror_put(mirror, pods(), STR("{\"kind\":\"Status\",\"status\":\"Success\"}")));
    CHECK(!mirror_put(mirror, pods(), STR("[")));
    CHECK(!mirror_put(mirror, stored_resource("nodes", ""), STR("{\"metadata\":{\"name\":\"n\"}}"))); /* not watched */
    finish();
}

TEST(of_some_kinds_metadata_alone_is_kept)
{
    begin(false);
    pod_event("ADDED", "x", 5, ",\"spec\":{\"nodeName\":\"n1\"}");
    end_list(5);
    struct str value = store_item_value(item("x"));
    CHECK(memmem(value.p, value.n, "\"kind\":\"Pod\"", 12) && !memmem(value.p, value.n, "n1", 2));
    finish();
}

TEST(paths_are_the_servers)
{
    struct arena a;
    arena_init(&a);
    const struct resource *sets = stored_resource("replicasets", "apps"), *nodes = stored_resource("nodes", "");
    CHECK_TEXT("path", mirror_path(&a, pods(), STR(""), STR("")), "/api/v1/pods");
    CHECK_TEXT("path", mirror_path(&a, pods(), STR("a"), STR("x")), "/api/v1/namespaces/a/pods/x");
    CHECK_TEXT("path", mirror_path(&a, sets, STR("a"), STR("")), "/apis/apps/v1/namespaces/a/replicasets");
    CHECK_TEXT("path", mirror_path(&a, nodes, STR("a"), STR("n")), "/api/v1/nodes/n");
    arena_fini(&a);
}
