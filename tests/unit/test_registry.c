/* tests/unit/test_registry.c - writes to a store in memory without HTTP: races, preconditions, finalizers and grace, dry runs. */
#include "tests/unit/api_story.h"

#define POD "{\"metadata\":{\"name\":\"p\"%s},\"spec\":{\"nodeName\":\"%s\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"

static void begin(struct api_world *w)
{
    api_world_init(w, &(struct api_world_options){ .service_cidr = STR("10.9.0.0/29") });
    story_create(w, "namespaces", "", "", "{\"metadata\":{\"name\":\"default\"}}");
}

static void add_config_map(struct api_world *w, const char *more)
{
    story_create(w, "configmaps", "", "default",
                 arena_printf(&w->arena, "{\"metadata\":{\"name\":\"c\"%s},\"data\":{\"k\":\"v\"}}", more));
}

static struct call *patch_new(struct api_world *w, enum patch_form form, const char *name, const char *body)
{
    struct call *c = call_new(w, "configmaps", "", "default", name, body);
    c->op.patch_form = form;
    return c;
}

/* ---- Races ---- */

TEST(patches_that_overtake_each_other_are_tried_again_and_all_are_kept)
{
    enum { N = 10 };
    struct api_world w;
    struct call *calls[N];
    begin(&w);
    add_config_map(&w, "");
    for (int i = 0; i < N; i++) {
        calls[i] = patch_new(&w, PATCH_FORM_MERGE, "c", arena_printf(&w.arena, "{\"data\":{\"k%d\":\"v\"}}", i));
        registry_patch(&calls[i]->op);
        CHECK_INT("nothing is answered before it is committed", calls[i]->n_done, 0);
    }
    api_world_poll(&w);
    for (int i = 0; i < N; i++) {
        CHECK_INT("a patch", call_code(calls[i]), 200);
        CHECK_INT("tries", calls[i]->op.n_tries, i + 1);
        call_free(calls[i]);
    }
    const struct value *v = story_object(&w, "configmaps", "", "default", "c");
    CHECK_INT("keys", value_path(stored_resource("configmaps", "")->type, v, "data")->n, N + 1);
    api_world_fini(&w);
}

TEST(who_always_comes_too_late_is_told_so_at_last)
{
    enum { N = OPERATION_TRIES_MAX + 3 };
    struct api_world w;
    struct call *calls[N];
    begin(&w);
    add_config_map(&w, "");
    for (int i = 0; i < N; i++) {
        calls[i] = patch_new(&w, PATCH_FORM_MERGE, "c", arena_printf(&w.arena, "{\"data\":{\"k%d\":\"v\"}}", i));
        registry_patch(&calls[i]->op);
    }
    api_world_poll(&w);
    for (int i = 0; i < N; i++) {
        CHECK_INT("a patch", call_code(calls[i]), i < OPERATION_TRIES_MAX ? 200 : 409);
        if (i >= OPERATION_TRIES_MAX)
            CHECK_TEXT("the last ones", call_message(calls[i]), "Operation cannot be fulfilled on configmaps \"c\": the object has "
                       "been modified; please apply your changes to the latest version and try again");
        call_free(calls[i]);
    }
    api_world_fini(&w);
}

TEST(of_two_creations_one_is_refused)
{
    struct api_world w;
    begin(&w);
    struct call *first = call_new(&w, "configmaps", "", "default", "", "{\"metadata\":{\"name\":\"c\"}}");
    struct call *second = call_new(&w, "configmaps", "", "default", "", "{\"metadata\":{\"name\":\"c\"}}");
    registry_create(&first->op);
    registry_create(&second->op);
    api_world_poll(&w);
    CHECK_INT("the first", call_code(first), 201);
    CHECK_INT("the second", call_code(second), 409);
    CHECK_TEXT("the second", call_message(second), "configmaps \"c\" already exists");
    call_free(first);
    call_free(second);
    api_world_fini(&w);
}

/* The names that a try found must not outlive its memory. */
TEST(of_two_applies_to_nothing_one_creates_and_the_other_merges)
{
    struct api_world w;
    begin(&w);
    struct call *calls[2];
    for (int i = 0; i < 2; i++) {
        calls[i] = patch_new(&w, PATCH_FORM_APPLY, "name-of-some-length",
                             arena_printf(&w.arena, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                                          "\"name-of-some-length\"},\"data\":{\"k%d\":\"v\"}}", i));
        calls[i]->op.write.field_manager = i ? STR("two") : STR("one");
        registry_patch(&calls[i]->op);
    }
    api_world_poll(&w);
    CHECK_INT("the first", call_code(calls[0]), 201);
    CHECK_INT("the second", call_code(calls[1]), 200);
    CHECK_STR("k0", story_text(&w, "configmaps", "name-of-some-length", "metadata.name"), STR("name-of-some-length"));
    const struct value *v = story_object(&w, "configmaps", "", "default", "name-of-some-length");
    CHECK_INT("keys", value_path(stored_resource("configmaps", "")->type, v, "data")->n, 2);
    call_free(calls[0]);
    call_free(calls[1]);
    api_world_fini(&w);
}

TEST(an_update_at_a_version_that_was_overtaken_is_refused_at_once)
{
    struct api_world w;
    begin(&w);
    add_config_map(&w, "");
    const char *version = arena_cstr(&w.arena, story_text(&w, "configmaps", "c", "metadata.resourceVersion"));
    struct call *calls[2];
    for (int i = 0; i < 2; i++) {
        calls[i] = call_new(&w, "configmaps", "", "default", "c",
                            arena_printf(&w.arena, "{\"metadata\":{\"name\":\"c\",\"resourceVersion\":\"%s\"},\"data\":{\"k\":\"%d\"}}",
                                         version, i));
        registry_update(&calls[i]->op);
    }
    api_world_poll(&w);
    CHECK_INT("the first", call_code(calls[0]), 200);
    CHECK_INT("the second", call_code(calls[1]), 409);
    CHECK_INT("tries of the second", calls[1]->op.n_tries, 2);
    call_free(calls[0]);
    call_free(calls[1]);
    api_world_fini(&w);
}

/* ---- What changes nothing ---- */

TEST(a_write_that_changes_nothing_keeps_the_version)
{
    static const struct {
        const char *what, *patch;
        bool changes;
    } rows[] = {
        { "an empty patch", "{}", false },
        { "the value that is there", "{\"data\":{\"k\":\"v\"}}", false },
        { "what is not there is removed", "{\"data\":{\"none\":null}}", false },
        { "another value", "{\"data\":{\"k\":\"w\"}}", true },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct api_world w;
        begin(&w);
        add_config_map(&w, "");
        uint64_t before = store_revision(w.store);
        struct call *c = patch_new(&w, PATCH_FORM_MERGE, "c", rows[i].patch);
        call_run(&w, rows[i].what, c, registry_patch, 200);
        CHECK_INT(rows[i].what, store_revision(w.store), before + (rows[i].changes ? 1 : 0));
        call_free(c);
        api_world_fini(&w);
    }
}

TEST(a_dry_run_answers_as_the_real_one_and_stores_nothing)
{
    static const struct {
        const char *what, *plural, *name, *body;
        void (*verb)(struct operation *op);
        int code;
    } rows[] = {
        { "create", "configmaps", "", "{\"metadata\":{\"name\":\"new\"}}", registry_create, 201 },
        { "create with a name that is made", "configmaps", "", "{\"metadata\":{\"generateName\":\"n-\"}}", registry_create, 201 },
        { "a namespace and its account", "namespaces", "", "{\"metadata\":{\"name\":\"n\"}}", registry_create, 201 },
        { "create what is there", "configmaps", "", "{\"metadata\":{\"name\":\"c\"}}", registry_create, 409 },
        { "update", "configmaps", "c", "{\"metadata\":{\"name\":\"c\"}}", registry_update, 200 },
        { "patch", "configmaps", "c", "{\"data\":{\"x\":\"y\"}}", registry_patch, 200 },
        { "delete", "configmaps", "c", "", registry_delete, 200 },
        { "delete a namespace", "namespaces", "default", "", registry_delete, 200 },
        { "delete a pod", "pods", "p", "", registry_delete, 200 },
    };
    struct api_world w;
    begin(&w);
    add_config_map(&w, "");
    story_create(&w, "pods", "", "default", arena_printf(&w.arena, POD, "", ""));
    uint64_t before = store_revision(w.store);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool namespaced = stored_resource(rows[i].plural, "")->namespaced;
        struct call *c = call_new(&w, rows[i].plural, "", namespaced ? "default" : "", rows[i].name, rows[i].body);
        c->op.patch_form = PATCH_FORM_MERGE;
        c->op.write.dry_run = c->op.delete.dry_run = true;
        call_run(&w, rows[i].what, c, rows[i].verb, rows[i].code);
        CHECK_INT(rows[i].what, store_revision(w.store), before);
        call_free(c);
    }
    api_world_fini(&w);
}

/* The range 10.9.0.0/29 has six addresses: tries that were not meant must leave all of them. */
TEST(a_dry_run_of_a_service_leaves_its_address_to_others)
{
    struct api_world w;
    begin(&w);
    for (int i = 0; i < 20; i++) {
        struct call *c = call_new(&w, "services", "", "default", "", "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"ports\":[{\"port\":80}]}}");
        c->op.write.dry_run = true;
        call_run(&w, "a dry run", c, registry_create, 201);
        call_free(c);
    }
    for (int i = 0; i < 6; i++)
        story_create(&w, "services", "", "default",
                     arena_printf(&w.arena, "{\"metadata\":{\"name\":\"s%d\"},\"spec\":{\"ports\":[{\"port\":80}]}}", i));
    struct call *c = call_new(&w, "services", "", "default", "", "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"ports\":[{\"port\":80}]}}");
    registry_create(&c->op);
    api_world_poll(&w);
    CHECK(call_code(c) >= 400);
    call_free(c);
    struct call *gone = call_new(&w, "services", "", "default", "s3", "");
    call_run(&w, "delete", gone, registry_delete, 200);
    call_free(gone);
    story_create(&w, "services", "", "default", "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"ports\":[{\"port\":80}]}}");
    api_world_fini(&w);
}

/* ---- Names ---- */

TEST(made_names_begin_as_asked_and_differ)
{
    struct api_world w;
    begin(&w);
    struct call *calls[20];
    for (int i = 0; i < 20; i++) {
        calls[i] = call_new(&w, "configmaps", "", "default", "", "{\"metadata\":{\"generateName\":\"made-\"}}");
        registry_create(&calls[i]->op);
    }
    api_world_poll(&w);
    for (int i = 0; i < 20; i++) {
        CHECK_INT("a made name", call_code(calls[i]), 201);
        struct str name = call_text(calls[i], "metadata.name");
        CHECK(str_starts(name, STR("made-")) && name.n == sizeof("made-") - 1 + 5);
        for (int k = 0; k < i; k++)
            CHECK(!str_eq(name, call_text(calls[k], "metadata.name")));
    }
    for (int i = 0; i < 20; i++)
        call_free(calls[i]);
    api_world_fini(&w);
}

/* ---- Deletions ---- */

TEST(preconditions_of_deletions_are_checked_and_say_what_differs)
{
    struct api_world w;
    begin(&w);
    add_config_map(&w, "");
    struct str uid = arena_str(&w.arena, story_text(&w, "configmaps", "c", "metadata.uid"));
    struct str version = arena_str(&w.arena, story_text(&w, "configmaps", "c", "metadata.resourceVersion"));
    const struct {
        const char *what;
        struct str uid, version;
        int code;
        const char *message;
    } rows[] = {
        { "another uid", STR("u"), { 0 }, 409,
          arena_printf(&w.arena, "Operation cannot be fulfilled on ConfigMap \"c\": the UID in the precondition (u) does not match the "
                       "UID in record (%.*s). The object might have been deleted and then recreated", STR_ARG(uid)) },
        { "another version", { 0 }, STR("1"), 409,
          arena_printf(&w.arena, "Operation cannot be fulfilled on ConfigMap \"c\": the ResourceVersion in the precondition (1) does "
                       "not match the ResourceVersion in record (%.*s). The object might have been modified", STR_ARG(version)) },
        { "both as they are", uid, version, 200, "" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct call *c = call_new(&w, "configmaps", "", "default", "c", "");
        c->op.delete.uid = rows[i].uid;
        c->op.delete.resource_version = rows[i].version;
        call_run(&w, rows[i].what, c, registry_delete, rows[i].code);
        CHECK_TEXT(rows[i].what, call_message(c), rows[i].message);
        call_free(c);
    }
    CHECK(!story_object(&w, "configmaps", "", "default", "c"));
    api_world_fini(&w);
}

/* Its deletion has two steps, and the first one changes the version. */
TEST(a_pod_without_a_node_goes_at_once_also_at_a_version)
{
    struct api_world w;
    begin(&w);
    story_create(&w, "pods", "", "default", arena_printf(&w.arena, POD, "", ""));
    struct call *c = call_new(&w, "pods", "", "default", "p", "");
    c->op.delete.resource_version = arena_str(&w.arena, story_text(&w, "pods", "p", "metadata.resourceVersion"));
    c->op.delete.uid = arena_str(&w.arena, story_text(&w, "pods", "p", "metadata.uid"));
    call_run(&w, "delete", c, registry_delete, 200);
    CHECK(!story_object(&w, "pods", "", "default", "p"));
    call_free(c);
    api_world_fini(&w);
}

TEST(a_finalizer_holds_an_object_until_it_is_removed)
{
    struct api_world w;
    begin(&w);
    add_config_map(&w, ",\"finalizers\":[\"example.com/f\"]");
    struct call *c = call_new(&w, "configmaps", "", "default", "c", "");
    call_run(&w, "delete", c, registry_delete, 200);
    call_free(c);
    CHECK(story_object(&w, "configmaps", "", "default", "c"));
    const struct type *t = stored_resource("configmaps", "")->type;
    CHECK_INT("marked", value_path(t, story_object(&w, "configmaps", "", "default", "c"), "metadata.deletionTimestamp")->i,
              API_WORLD_NOW_S);
    uint64_t before = store_revision(w.store);
    c = call_new(&w, "configmaps", "", "default", "c", "");
    call_run(&w, "delete once more", c, registry_delete, 200);
    call_free(c);
    CHECK_INT("which changes nothing", store_revision(w.store), before);
    c = call_new(&w, "configmaps", "", "default", "", "{\"metadata\":{\"name\":\"c\"}}");
    call_run(&w, "a new one of that name", c, registry_create, 409);
    CHECK_TEXT("a new one", call_message(c), "object is being deleted: configmaps \"c\" already exists");
    call_free(c);
    c = patch_new(&w, PATCH_FORM_MERGE, "c", "{\"metadata\":{\"finalizers\":null}}");
    call_run(&w, "the finalizer goes", c, registry_patch, 200);
    call_free(c);
    CHECK(!story_object(&w, "configmaps", "", "default", "c"));
    api_world_fini(&w);
}

TEST(a_bound_pod_has_time_which_only_becomes_shorter)
{
    static const struct {
        const char *what;
        int64_t grace; /* -100: not said */
        int64_t stays; /* with this grace; -1: it is gone */
    } rows[] = {
        { "its own", -100, 30 },
        { "longer is not granted", 60, 30 },
        { "shorter is", 10, 10 },
        { "less than nothing is one second", -5, 1 },
        { "none: it goes", 0, -1 },
    };
    struct api_world w;
    begin(&w);
    story_create(&w, "pods", "", "default", arena_printf(&w.arena, POD, "", "n"));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct call *c = call_new(&w, "pods", "", "default", "p", "");
        c->op.delete.has_grace_period = rows[i].grace != -100;
        c->op.delete.grace_period_seconds = rows[i].grace;
        call_run(&w, rows[i].what, c, registry_delete, 200);
        call_free(c);
        const struct value *pod = story_object(&w, "pods", "", "default", "p");
        CHECK_INT(rows[i].what, pod != NULL, rows[i].stays >= 0);
        if (pod)
            CHECK_INT(rows[i].what, value_path(schema_type(STR("core/v1.Pod")), pod, "metadata.deletionGracePeriodSeconds")->i,
                      rows[i].stays);
    }
    api_world_fini(&w);
}

TEST(what_is_being_deleted_while_it_is_deleted_is_gone_once)
{
    struct api_world w;
    begin(&w);
    add_config_map(&w, "");
    struct call *first = call_new(&w, "configmaps", "", "default", "c", "");
    struct call *second = call_new(&w, "configmaps", "", "default", "c", "");
    registry_delete(&first->op);
    registry_delete(&second->op);
    api_world_poll(&w);
    CHECK_INT("the first", call_code(first), 200);
    CHECK_INT("the second", call_code(second), 404);
    CHECK_TEXT("the second", call_message(second), "configmaps \"c\" not found");
    call_free(first);
    call_free(second);
    api_world_fini(&w);
}

TEST(a_namespace_stays_until_it_is_finalized)
{
    struct api_world w;
    begin(&w);
    CHECK(story_object(&w, "serviceaccounts", "", "default", "default"));
    struct call *c = call_new(&w, "namespaces", "", "", "default", "");
    call_run(&w, "delete", c, registry_delete, 200);
    CHECK_STR("its phase", call_text(c, "status.phase"), STR("Terminating"));
    call_free(c);
    c = call_new(&w, "namespaces", "", "", "default", "");
    call_run(&w, "delete once more", c, registry_delete, 200);
    call_free(c);
    CHECK(story_object(&w, "namespaces", "", "", "default"));
    api_world_fini(&w);
}
