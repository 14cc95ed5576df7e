/* tests/unit/test_cluster_changes.c - what controllers are told of changes: everything, once, also when more happens between
 * two polls than the store's log holds. */
#include "controllers/cluster.h"
#include "tests/unit/api_story.h"

enum { N_OBJECTS = 40, LOG_EVENTS = 4 };

struct told {
    int n_new, n_changed, n_gone, n_there;
};

static void note(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct told *t = context;
    (void)r;
    t->n_new += item && !prev;
    t->n_changed += item && prev;
    t->n_gone += !item && prev;
    t->n_there += (item != NULL) - (prev != NULL);
}

static struct call *begin_call(struct api_world *w, int i, void (*verb)(struct operation *op))
{
    const char *name = arena_printf(&w->arena, "c%d", i);
    const char *body = arena_printf(&w->arena, "{\"metadata\":{\"name\":\"%s\"}}", name);
    struct call *c = verb == registry_create ? call_new(w, "configmaps", "", "default", "", body)
                                             : call_new(w, "configmaps", "", "default", name, "");
    verb(&c->op);
    return c;
}

/* All under way at the same time, and shown by one poll. */
static void do_all(struct api_world *w, void (*verb)(struct operation *op), int code)
{
    struct call *calls[N_OBJECTS];
    for (int i = 0; i < N_OBJECTS; i++)
        calls[i] = begin_call(w, i, verb);
    api_world_poll(w);
    for (int i = 0; i < N_OBJECTS; i++) {
        CHECK_INT("code", call_code(calls[i]), code);
        call_free(calls[i]);
    }
}

TEST(everything_is_told_whatever_the_log_holds)
{
    struct api_world w;
    struct told t = { 0 };
    api_world_init(&w, &(struct api_world_options){ .log_events_max = LOG_EVENTS });
    story_create(&w, "namespaces", "", "", "{\"metadata\":{\"name\":\"default\"}}");
    struct cluster *c = cluster_new(w.server, w.loop, w.objects);
    cluster_watch(c, stored_resource("configmaps", ""), note, &t);
    cluster_poll(c);
    do_all(&w, registry_create, 201);
    cluster_poll(c);
    CHECK_INT("new", t.n_new, N_OBJECTS);
    do_all(&w, registry_delete, 200);
    do_all(&w, registry_create, 201);
    do_all(&w, registry_delete, 200);
    cluster_poll(c);
    CHECK_INT("new", t.n_new, 2 * N_OBJECTS);
    CHECK_INT("gone", t.n_gone, 2 * N_OBJECTS);
    CHECK_INT("left", t.n_there, 0);
    cluster_free(c);
    api_world_fini(&w);
}

TEST(the_log_is_as_small_as_before_once_all_was_told)
{
    struct api_world w;
    struct told t = { 0 };
    api_world_init(&w, &(struct api_world_options){ .log_events_max = LOG_EVENTS });
    story_create(&w, "namespaces", "", "", "{\"metadata\":{\"name\":\"default\"}}");
    struct cluster *c = cluster_new(w.server, w.loop, w.objects);
    cluster_watch(c, NULL, note, &t);
    cluster_poll(c);
    do_all(&w, registry_create, 201);
    CHECK(store_facts(w.store).n_events >= N_OBJECTS);
    cluster_poll(c);
    api_world_advance(&w, 1000);
    CHECK_INT("events", store_facts(w.store).n_events, LOG_EVENTS);
    cluster_free(c);
    api_world_fini(&w);
}
