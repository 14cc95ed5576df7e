/* tests/unit/test_controller_quota.c - what is used of a ResourceQuota, counted anew. */
#include "apiserver/stored.h"
#include "controllers/quota_status.h"
#include "tests/unit/controller_world.h"

enum { NOW_S = 1767225600 };

#define QUOTA(hard) "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"hard\":{" hard "}}}"
#define CPU(amount) "{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"" amount "\"}}}]}}"

static const struct {
    const char *what, *quota, *pods, *maps, *status;
} rows[] = {
    { "nothing there", QUOTA("\"pods\":\"3\""), "", "", "{\"hard\":{\"pods\":\"3\"},\"used\":{\"pods\":\"0\"}}" },
    { "pods and what they want", QUOTA("\"pods\":\"3\",\"requests.cpu\":\"2\""), CPU("500m") "\n" CPU("1"), "",
      "{\"hard\":{\"pods\":\"3\",\"requests.cpu\":\"2\"},\"used\":{\"pods\":\"2\",\"requests.cpu\":\"1500m\"}}" },
    { "ended pods want nothing", QUOTA("\"pods\":\"3\",\"count/pods\":\"4\""), "{\"status\":{\"phase\":\"Failed\"}}\n{}", "",
      "{\"hard\":{\"count/pods\":\"4\",\"pods\":\"3\"},\"used\":{\"count/pods\":\"2\",\"pods\":\"1\"}}" },
    { "objects by their number", QUOTA("\"configmaps\":\"9\",\"count/configmaps\":\"9\""), "", "{}\n{}",
      "{\"hard\":{\"configmaps\":\"9\",\"count/configmaps\":\"9\"},\"used\":{\"configmaps\":\"2\",\"count/configmaps\":\"2\"}}" },
    { "what nobody counts", QUOTA("\"count/strange.example.com\":\"1\""), "{}", "", "{\"hard\":{\"count/strange.example.com\":\"1\"}}" },
    { "a scope", "{\"spec\":{\"hard\":{\"pods\":\"1\"},\"scopes\":[\"BestEffort\"]}}", CPU("1") "\n{\"spec\":{\"containers\":[{\"name\":\"c\"}]}}", "",
      "{\"hard\":{\"pods\":\"1\"},\"used\":{\"pods\":\"1\"}}" },
    { "limits that are not there any more", "{\"spec\":{\"hard\":{\"pods\":\"1\"}},\"status\":{\"hard\":{\"secrets\":\"1\"},\"used\":{\"secrets\":\"1\"}}}", "", "",
      "{\"hard\":{\"pods\":\"1\"},\"used\":{\"pods\":\"0\"}}" },
};

struct objects {
    struct arena *a;
    const char *pods, *maps;
};

static size_t list_objects(void *context, const struct resource *r, const struct value ***ret_objects)
{
    const struct objects *o = context;
    if (str_is(r->plural, "pods") && r->group.n == 0)
        return world_decode_all(o->a, "core/v1.Pod", o->pods, ret_objects);
    if (str_is(r->plural, "configmaps"))
        return world_decode_all(o->a, "core/v1.ConfigMap", o->maps, ret_objects);
    return world_decode_all(o->a, "core/v1.Pod", NULL, ret_objects);
}

TEST(what_is_used)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct value quota = world_decode(&a, "core/v1.ResourceQuota", str_of(rows[i].quota)), next, again;
        struct objects o = { &a, rows[i].pods, rows[i].maps };
        struct quota_state s = { &quota, NOW_S, list_objects, &o };
        if (!quota_status_plan(&a, &s, &next))
            FAIL("%s: nothing is written", rows[i].what);
        CHECK_TEXT(rows[i].what, world_json(&a, "core/v1.ResourceQuotaStatus", value_path(resource_quota_type(), &next, "status")),
                   rows[i].status);
        s.quota = &next;
        if (quota_status_plan(&a, &s, &again))
            FAIL("%s: is written twice", rows[i].what);
        arena_reset(&a);
    }
    arena_fini(&a);
}

TEST(which_changes_count)
{
    static const struct {
        const char *what, *quota, *was, *is; /* NULL: gone */
        bool counts;
    } changes[] = {
        { "a pod goes", QUOTA("\"pods\":\"3\""), "{}", NULL, true },
        { "of another kind", QUOTA("\"secrets\":\"3\""), "{}", NULL, false },
        { "it ends", QUOTA("\"pods\":\"3\""), "{}", "{\"status\":{\"phase\":\"Succeeded\"}}", true },
        { "it runs", QUOTA("\"pods\":\"3\""), "{}", "{\"status\":{\"phase\":\"Running\"}}", false },
        { "it wants more", QUOTA("\"requests.cpu\":\"3\""), CPU("1"), CPU("2"), true },
        { "of what is not limited", QUOTA("\"requests.memory\":\"3\""), CPU("1"), CPU("2"), false },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        struct value quota = world_decode(&a, "core/v1.ResourceQuota", str_of(changes[i].quota)), is;
        struct value was = world_decode(&a, "core/v1.Pod", str_of(changes[i].was));
        if (changes[i].is)
            is = world_decode(&a, "core/v1.Pod", str_of(changes[i].is));
        CHECK_INT(changes[i].what, quota_status_changes(&a, &quota, stored_resource("pods", ""), changes[i].is ? &is : NULL, &was, NOW_S),
                  changes[i].counts);
    }
    arena_fini(&a);
}
