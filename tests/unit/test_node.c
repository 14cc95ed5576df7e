/* What a node's form holds. */
#include "forms/node.h"

#include "tests/test.h"
#include "tests/unit/typed_world.h"

static const struct node *decode(struct world *w, const char *json)
{
    const struct node *n;
    if (node_decode(&w->syms, TYPED_JSON, str_of(json), &n, &w->e))
        FAIL("%s: %s", json, w->e.message);
    return n;
}

TEST(allocatable_is_rounded_up)
{
    static const struct {
        const char *name, *list;
        int64_t cpu, memory, ephemeral, pods;
    } rows[] = {
        { "nothing", "", 0, 0, 0, 0 },
        { "usual", "\"cpu\":\"3920m\",\"memory\":\"15Gi\",\"ephemeral-storage\":\"100Gi\",\"pods\":\"110\"", 3920, 15ll << 30,
          100ll << 30, 110 },
        { "fractions", "\"cpu\":\"0.0001\",\"memory\":\"1500m\",\"pods\":\"0.5\"", 1, 2, 0, 1 },
        { "more pods than fit", "\"pods\":\"5G\"", 0, 0, 0, INT32_MAX },
        { "negative", "\"cpu\":\"-1\",\"pods\":\"-5\"", -1000, 0, 0, -5 },
    };
    struct world w;
    world_init(&w);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct node *n =
            decode(&w, arena_printf(&w.arena, "{\"status\":{\"allocatable\":{%s}}}", rows[i].list));
        CHECK_INT(rows[i].name, n->allocatable.milli_cpu, rows[i].cpu);
        CHECK_INT(rows[i].name, n->allocatable.memory, rows[i].memory);
        CHECK_INT(rows[i].name, n->allocatable.ephemeral_storage, rows[i].ephemeral);
        CHECK_INT(rows[i].name, n->allocatable.pods, rows[i].pods);
        node_unref(&w.syms, n);
    }
    const struct node *n;
    struct str bad = STR("{\"status\":{\"allocatable\":{\"pods\":\"x\"}}}");
    CHECK_INT("bad pods", node_decode(&w.syms, TYPED_JSON, bad, &n, &w.e), ERR_BAD_REQUEST);
    bad = STR("{\"metadata\":{\"name\":\"n\"},\"status\":{\"allocatable\":{\"memory\":\"x\"}}}");
    CHECK_INT("bad memory", node_decode(&w.syms, TYPED_JSON, bad, &n, &w.e), ERR_BAD_REQUEST);
    CHECK(strstr(w.e.message, "status.allocatable: memory: "));
    world_fini(&w);
}

TEST(taints_images_and_features)
{
    struct world w;
    world_init(&w);
    const struct node *n = decode(&w,
        "{\"metadata\":{\"name\":\"n1\"},\"spec\":{\"unschedulable\":true,\"taints\":[{\"key\":\"b\",\"effect\":\"NoSchedule\"},"
        "{\"key\":\"a\",\"value\":\"v\",\"effect\":\"PreferNoSchedule\"},{\"key\":\"c\"}]},\"status\":{\"images\":[{\"names\":[\"x\","
        "\"y\"],\"sizeBytes\":5},{\"names\":[\"y\",\"z\"],\"sizeBytes\":7},{\"names\":null}],\"declaredFeatures\":[\"B\","
        "\"RestartAllContainersOnContainerExits\",\"B\"]}}");
    CHECK_STR("name", sym_text(&w.syms, n->name), STR("n1"));
    CHECK_INT("flags", n->flags, NODE_UNSCHEDULABLE | NODE_HAS_RESTART_ALL);
    CHECK_INT("taints", n->n_taints, 3);
    CHECK_STR("in order", sym_text(&w.syms, n->taints[0].key), STR("b"));
    CHECK_INT("effect", n->taints[1].effect, EFFECT_PREFER_NO_SCHEDULE);
    CHECK_INT("no effect is no wildcard", n->taints[2].effect, EFFECT_OTHER);
    CHECK_INT("images", n->n_images, 3);
    for (uint32_t i = 0; i < 3; i++) {
        struct str name = sym_text(&w.syms, n->images[i].name);
        CHECK_INT("the first size counts", n->images[i].size_bytes, str_is(name, "z") ? 7 : 5);
        CHECK(i == 0 || n->images[i - 1].name < n->images[i].name);
    }
    CHECK_INT("features", n->n_declared_features, 2);
    node_unref(&w.syms, n);
    world_fini(&w);
}

TEST(hashes_tell_changes)
{
    static const struct {
        const char *name, *one, *other;
        bool conditions_equal, annotations_equal;
    } rows[] = {
        { "order does not matter",
          "{\"metadata\":{\"annotations\":{\"a\":\"1\",\"b\":\"2\"}},\"status\":{\"conditions\":[{\"type\":\"X\",\"status\":\"True\"},"
          "{\"type\":\"Y\",\"status\":\"False\"}]}}",
          "{\"metadata\":{\"annotations\":{\"b\":\"2\",\"a\":\"1\"}},\"status\":{\"conditions\":[{\"type\":\"Y\",\"status\":\"False\"},"
          "{\"type\":\"X\",\"status\":\"True\"}]}}", true, true },
        { "times and reasons do not matter",
          "{\"status\":{\"conditions\":[{\"type\":\"X\",\"status\":\"True\",\"reason\":\"a\"}]}}",
          "{\"status\":{\"conditions\":[{\"type\":\"X\",\"status\":\"True\",\"reason\":\"b\"}]}}", true, true },
        { "a status changes", "{\"status\":{\"conditions\":[{\"type\":\"X\",\"status\":\"True\"}]}}",
          "{\"status\":{\"conditions\":[{\"type\":\"X\",\"status\":\"False\"}]}}", false, true },
        { "values change places", "{\"metadata\":{\"annotations\":{\"a\":\"1\",\"b\":\"2\"}}}",
          "{\"metadata\":{\"annotations\":{\"a\":\"2\",\"b\":\"1\"}}}", true, false },
        { "one more", "{\"metadata\":{\"annotations\":{}}}", "{\"metadata\":{\"annotations\":{\"a\":\"\"}}}", true, false },
    };
    struct world w;
    world_init(&w);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct node *one = decode(&w, rows[i].one), *other = decode(&w, rows[i].other);
        CHECK_INT(rows[i].name, one->conditions_hash == other->conditions_hash, rows[i].conditions_equal);
        CHECK_INT(rows[i].name, one->annotations_hash == other->annotations_hash, rows[i].annotations_equal);
        node_unref(&w.syms, one);
        node_unref(&w.syms, other);
    }
    world_fini(&w);
}
