/* Generic values: lookups, order of members, equality, copies. */
#include <stdlib.h>

#include "codec/json.h"
#include "tests/test.h"

static struct value decoded(struct arena *a, const struct type *t, const char *json)
{
    struct value v;
    struct err e;
    err_init(&e, a);
    enum err_code rc =
        t ? json_decode(a, WORK_OWN, t, str_of(json), NULL, &v, &e)
          : json_decode_plain(a, WORK_OWN, str_of(json), &v, &e);
    if (rc)
        FAIL("%s: %s", json, e.message);
    return v;
}

TEST(members_are_sorted_and_the_last_of_a_key_stays)
{
    static const struct {
        const char *what;
        int stride, n; /* keys i * stride % n */
    } rows[] = { { "ascending", 1, 12 },
                 { "few, mixed", 5, 12 },
                 { "few, descending", 11, 12 },
                 { "many, mixed", 7, 100 },
                 { "many, descending", 99, 100 },
                 { "each key twice", 2, 16 },
                 { "many, each key twice", 2, 100 } };
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        struct arena a;
        arena_init(&a);
        struct member members[100];
        int last[100];
        memset(last, -1, sizeof(last));
        uint32_t n_keys = 0;
        for (int i = 0; i < rows[r].n; i++) {
            int key = i * rows[r].stride % rows[r].n;
            n_keys += last[key] < 0;
            last[key] = i;
            members[i] = (struct member){ str_of(arena_printf(&a, "k%03d", key)), value_int(i) };
        }
        uint32_t n = value_sort_members(members, (uint32_t)rows[r].n);
        CHECK_INT(rows[r].what, n, n_keys);
        for (uint32_t i = 0; i < n; i++) {
            CHECK(i == 0 || str_cmp(members[i - 1].key, members[i].key) < 0);
            CHECK_INT(rows[r].what, members[i].value.i, last[atoi(members[i].key.p + 1)]);
        }
        arena_fini(&a);
    }
}

TEST(a_path_leads_through_structs_lists_and_maps)
{
    static const struct {
        const char *path, *want; /* NULL: absent */
    } rows[] = {
        { "metadata.name", "web" },
        { "metadata.labels.app", "shop" },
        { "spec.containers.1.image", "b" },
        { "spec.containers.2.image", NULL },
        { "spec.containers.x.image", NULL },
        { "metadata.labels.tier", NULL },
        { "metadata.nope", NULL },
        { "spec.nodeName", NULL },
        { "spec.containers.0.image.x", NULL },
        { "spec.containers.18446744073709551617.image", NULL },
    };
    struct arena a;
    arena_init(&a);
    const struct type *pod = schema_type(STR("core/v1.Pod"));
    struct value v = decoded(&a, pod,
                             "{\"metadata\":{\"name\":\"web\",\"labels\":{\"app\":\"shop\"}},"
                             "\"spec\":{\"containers\":[{\"image\":\"a\"},{\"image\":\"b\"}]}}");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct value *found = value_path(pod, &v, rows[i].path);
        CHECK_INT(rows[i].path, found->kind, rows[i].want ? VALUE_STRING : VALUE_ABSENT);
        if (rows[i].want)
            CHECK_STR(rows[i].path, value_text(found), str_of(rows[i].want));
    }
    CHECK_INT("slot of a scalar", value_slot(value_path(pod, &v, "metadata.name"), 0)->kind, VALUE_ABSENT);
    CHECK(value_member(&v, STR("metadata")) == NULL);
    arena_fini(&a);
}

TEST(values_are_equal_by_what_they_hold)
{
    static const struct {
        const char *what, *a, *b;
        bool equal;
    } rows[] = {
        { "the same", "{\"a\":[1,2.5,\"x\",null,true]}", "{\"a\":[1,2.5,\"x\",null,true]}", true },
        { "another order of members", "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true },
        { "another order of elements", "[1,2]", "[2,1]", false },
        { "another key", "{\"a\":1}", "{\"b\":1}", false },
        { "another number", "[1]", "[2]", false },
        { "an integer and a double", "[1]", "[1.0]", false },
        { "another double", "[1.5]", "[2.5]", false },
        { "another text", "\"ab\"", "\"ac\"", false },
        { "a longer text", "\"ab\"", "\"abc\"", false },
        { "another bool", "true", "false", false },
        { "null and false", "null", "false", false },
        { "empty containers", "[]", "{}", false },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct value x = decoded(&a, NULL, rows[i].a), y = decoded(&a, NULL, rows[i].b);
        CHECK_INT(rows[i].what, value_equal(&x, &y), rows[i].equal);
    }
    arena_fini(&a);
}

TEST(a_copy_depends_on_nothing_but_its_arena)
{
    const struct type *pod = schema_type(STR("core/v1.Pod"));
    char json[] =
        "{\"metadata\":{\"name\":\"web\",\"labels\":{\"app\":\"shop\"},"
        "\"creationTimestamp\":\"2024-01-02T03:04:05Z\"},\"spec\":{\"containers\":[{\"image\":\"a\"}]}}";
    struct arena first, second;
    arena_init(&first);
    arena_init(&second);
    struct value original = decoded(&first, pod, json);
    struct value copy = value_copy(&second, &original);
    CHECK(value_equal(&original, &copy));
    memset(json, 'x', sizeof(json) - 1);
    arena_fini(&first);
    CHECK_STR("label", value_text(value_path(pod, &copy, "metadata.labels.app")), STR("shop"));
    CHECK_STR("image", value_text(value_path(pod, &copy, "spec.containers.0.image")), STR("a"));
    CHECK_INT("time", value_path(pod, &copy, "metadata.creationTimestamp")->i, 1704164645);
    arena_fini(&second);
}
