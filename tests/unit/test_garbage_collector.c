/* tests/unit/test_garbage_collector.c - what goes with its owners, and what stays: stories on a store in memory. */
#include "controllers/controllers.h"
#include "tests/unit/api_story.h"

enum { ROUNDS = 60 };

struct bench {
    struct api_world w;
    struct cluster *cluster;
    struct controllers *controllers;
};

static void settle(struct bench *b)
{
    for (int i = 0; i < ROUNDS; i++) {
        api_world_advance(&b->w, 20);
        cluster_poll(b->cluster);
        loop_run_once(b->w.loop, false);
    }
    CHECK_INT("calls under way", cluster_n_under_way(b->cluster), 0);
}

static void start_collector(struct bench *b)
{
    static const char *const choice[] = { "garbage-collector-controller", NULL };
    b->cluster = cluster_new(b->w.server, b->w.loop, b->w.objects);
    struct controllers_options o = { .cluster = b->cluster, .choice = choice };
    CHECK(!controllers_new(&o, &b->controllers, &b->w.e));
}

static void begin(struct bench *b)
{
    api_world_init(&b->w, &(struct api_world_options){ 0 });
    story_create(&b->w, "namespaces", "", "", "{\"metadata\":{\"name\":\"default\"}}");
}

static void finish(struct bench *b)
{
    controllers_free(b->controllers);
    cluster_free(b->cluster);
    api_world_fini(&b->w);
}

/* One reference to a ConfigMap, by its name and the uid that it has now. */
static const char *owner(struct bench *b, const char *name, bool blocks)
{
    struct str uid = story_text(&b->w, "configmaps", name, "metadata.uid");
    return arena_printf(&b->w.arena, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"%s\",\"uid\":\"%.*s\"%s}", name, STR_ARG(uid),
                        blocks ? ",\"blockOwnerDeletion\":true" : "");
}

static void add(struct bench *b, const char *name, const char *owners, const char *finalizers)
{
    story_create(&b->w, "configmaps", "", "default",
                 arena_printf(&b->w.arena, "{\"metadata\":{\"name\":\"%s\",\"ownerReferences\":[%s],\"finalizers\":[%s]}}", name, owners,
                              finalizers));
}

static bool is_there(struct bench *b, const char *name)
{
    return story_object(&b->w, "configmaps", "", "default", name) != NULL;
}

static const struct value *at(struct bench *b, const char *name, const char *path)
{
    const struct value *v = story_object(&b->w, "configmaps", "", "default", name);
    CHECK(v);
    return value_path(stored_resource("configmaps", "")->type, v, path);
}

static void delete(struct bench *b, const char *name, const char *policy)
{
    struct call *c = call_new(&b->w, "configmaps", "", "default", name, "");
    c->op.delete.propagation_policy = str_of(policy);
    call_run(&b->w, name, c, registry_delete, 200);
    call_free(c);
}

static void patch(struct bench *b, const char *name, const char *json)
{
    struct call *c = call_new(&b->w, "configmaps", "", "default", name, json);
    c->op.patch_form = PATCH_FORM_MERGE;
    call_run(&b->w, json, c, registry_patch, 200);
    call_free(c);
}

TEST(dependents_of_dependents_follow_their_owner)
{
    struct bench b;
    begin(&b);
    start_collector(&b);
    add(&b, "a", "", "");
    add(&b, "b", owner(&b, "a", false), "");
    add(&b, "c", owner(&b, "b", false), "");
    add(&b, "other", "", "");
    settle(&b);
    CHECK(is_there(&b, "c"));
    delete(&b, "a", "Background");
    CHECK(!is_there(&b, "a"));
    CHECK(is_there(&b, "b"));
    settle(&b);
    CHECK(!is_there(&b, "b"));
    CHECK(!is_there(&b, "c"));
    CHECK(is_there(&b, "other"));
    finish(&b);
}

/* Its deletion has a first step that marks it, which must not be taken for somebody else's. */
TEST(a_pod_that_never_ran_follows_its_owner)
{
    struct bench b;
    begin(&b);
    add(&b, "a", "", "");
    story_create(&b.w, "pods", "", "default",
                 arena_printf(&b.w.arena, "{\"metadata\":{\"name\":\"p\",\"ownerReferences\":[%s]},\"spec\":{\"containers\":[{\"name\":\"c\","
                              "\"image\":\"i\"}]}}", owner(&b, "a", false)));
    start_collector(&b);
    delete(&b, "a", "Background");
    settle(&b);
    CHECK(!story_object(&b.w, "pods", "", "default", "p"));
    finish(&b);
}

TEST(what_was_there_before_the_collector_is_collected_too)
{
    struct bench b;
    begin(&b);
    add(&b, "a", "", "");
    add(&b, "b", owner(&b, "a", false), "");
    delete(&b, "a", "Background");
    start_collector(&b);
    settle(&b);
    CHECK(!is_there(&b, "b"));
    finish(&b);
}

TEST(one_of_two_owners_is_enough_and_the_other_is_forgotten)
{
    struct bench b;
    begin(&b);
    start_collector(&b);
    add(&b, "a", "", "");
    add(&b, "b", "", "");
    add(&b, "c", arena_printf(&b.w.arena, "%s,%s", owner(&b, "a", false), owner(&b, "b", false)), "");
    delete(&b, "a", "Background");
    settle(&b);
    CHECK(is_there(&b, "c"));
    CHECK_INT("references", at(&b, "c", "metadata.ownerReferences")->n, 1);
    delete(&b, "b", "Background");
    settle(&b);
    CHECK(!is_there(&b, "c"));
    finish(&b);
}

TEST(an_owner_in_the_foreground_waits_for_those_that_block)
{
    struct bench b;
    begin(&b);
    start_collector(&b);
    add(&b, "a", "", "");
    add(&b, "blocks", owner(&b, "a", true), "\"example.com/held\"");
    add(&b, "other", owner(&b, "a", false), "\"example.com/held\"");
    delete(&b, "a", "Foreground");
    settle(&b);
    CHECK(is_there(&b, "a"));
    CHECK_INT("the one that blocks is being deleted", at(&b, "blocks", "metadata.deletionTimestamp")->kind, VALUE_TIME);
    CHECK_INT("and the other", at(&b, "other", "metadata.deletionTimestamp")->kind, VALUE_TIME);
    patch(&b, "blocks", "{\"metadata\":{\"finalizers\":null}}");
    settle(&b);
    CHECK(!is_there(&b, "blocks"));
    CHECK(!is_there(&b, "a"));
    CHECK(is_there(&b, "other"));
    finish(&b);
}

TEST(an_owner_in_the_foreground_goes_when_it_is_no_longer_blocked)
{
    struct bench b;
    begin(&b);
    start_collector(&b);
    add(&b, "a", "", "");
    add(&b, "blocks", owner(&b, "a", true), "\"example.com/held\"");
    const char *unblocked = owner(&b, "a", false);
    delete(&b, "a", "Foreground");
    settle(&b);
    CHECK(is_there(&b, "a"));
    patch(&b, "blocks", arena_printf(&b.w.arena, "{\"metadata\":{\"ownerReferences\":[%s]}}", unblocked));
    settle(&b);
    CHECK(!is_there(&b, "a"));
    CHECK(is_there(&b, "blocks"));
    finish(&b);
}

TEST(orphans_forget_their_owner_and_stay)
{
    struct bench b;
    begin(&b);
    start_collector(&b);
    add(&b, "a", "", "");
    add(&b, "x", "", "");
    add(&b, "b", arena_printf(&b.w.arena, "%s,%s", owner(&b, "a", true), owner(&b, "x", false)), "");
    delete(&b, "a", "Orphan");
    settle(&b);
    CHECK(!is_there(&b, "a"));
    CHECK(is_there(&b, "b"));
    CHECK_INT("references", at(&b, "b", "metadata.ownerReferences")->n, 1);
    finish(&b);
}

TEST(a_circle_of_owners_goes_as_a_whole)
{
    struct bench b;
    begin(&b);
    start_collector(&b);
    add(&b, "a", "", "");
    add(&b, "b", owner(&b, "a", true), "");
    patch(&b, "a", arena_printf(&b.w.arena, "{\"metadata\":{\"ownerReferences\":[%s]}}", owner(&b, "b", true)));
    settle(&b);
    CHECK(is_there(&b, "a"));
    delete(&b, "a", "Foreground");
    settle(&b);
    CHECK(!is_there(&b, "a"));
    CHECK(!is_there(&b, "b"));
    finish(&b);
}

TEST(owners_that_cannot_be_looked_for_count_as_there)
{
    static const struct {
        const char *what, *reference;
        bool stays;
    } rows[] = {
        { "a kind that nobody serves", "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Thing\",\"name\":\"t\",\"uid\":\"u\"}", true },
        { "an object that never was", "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"name\":\"t\",\"uid\":\"u\"}", false },
        { "an object of another uid", "{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\",\"name\":\"default\",\"uid\":\"u\"}", false },
        { "an owner of the whole cluster that is not there", "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n\",\"uid\":\"u\"}", false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bench b;
        begin(&b);
        start_collector(&b);
        add(&b, "c", rows[i].reference, "");
        settle(&b);
        CHECK_INT(rows[i].what, is_there(&b, "c"), rows[i].stays);
        finish(&b);
    }
}

TEST(an_object_that_goes_while_it_is_looked_at_is_no_failure)
{
    struct bench b;
    begin(&b);
    start_collector(&b);
    add(&b, "a", "", "");
    add(&b, "b", owner(&b, "a", false), "");
    settle(&b);
    delete(&b, "a", "Background");
    cluster_poll(b.cluster);
    loop_run_once(b.w.loop, false); /* its turn has begun */
    struct call *c = call_new(&b.w, "configmaps", "", "default", "b", "");
    registry_delete(&c->op);
    settle(&b);
    call_free(c);
    CHECK(!is_there(&b, "b"));
    add(&b, "b", "", "");
    settle(&b);
    CHECK(is_there(&b, "b"));
    finish(&b);
}
