/* tests/unit/test_controller_roles.c - rules of roles that are made of others. */
#include "controllers/read.h"
#include "controllers/role_aggregation.h"
#include "tests/unit/controller_world.h"

#define RULE(verb) "{\"verbs\":[\"" verb "\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}"
#define WHOLE(selectors, rules)                                                                                                 \
    "{\"metadata\":{\"name\":\"whole\",\"labels\":{\"a\":\"1\"}},\"aggregationRule\":{\"clusterRoleSelectors\":[" selectors "]},\"rules\":[" rules "]}"
#define PART(name, label, rules) "{\"metadata\":{\"name\":\"" name "\",\"labels\":{\"" label "\":\"1\"}},\"rules\":[" rules "]}"
#define WITH(label) "{\"matchLabels\":{\"" label "\":\"1\"}}"

static const struct {
    const char *what, *role, *others, *rules; /* NULL: as they are */
} rows[] = {
    { "a role with rules of its own", "{\"metadata\":{\"name\":\"x\"},\"rules\":[" RULE("get") "]}", PART("p", "a", ""), NULL },
    { "made of one", WHOLE(WITH("a"), ""), PART("p", "a", RULE("get")), "[" RULE("get") "]" },
    { "not of others", WHOLE(WITH("a"), ""), PART("p", "b", RULE("get")), NULL },
    { "not of itself", WHOLE(WITH("a"), RULE("get")), WHOLE(WITH("a"), RULE("get")), "[]" },
    { "by name within a selector", WHOLE(WITH("a"), ""), PART("p", "a", RULE("get")) "\n" PART("q", "a", RULE("list")), "[" RULE("get") "," RULE("list") "]" },
    { "selectors in their order", WHOLE(WITH("b") "," WITH("a"), ""), PART("p", "a", RULE("get")) "\n" PART("q", "b", RULE("list")),
      "[" RULE("list") "," RULE("get") "]" },
    { "each rule once", WHOLE(WITH("a"), ""), PART("p", "a", RULE("get")) "\n" PART("q", "a", RULE("get")), "[" RULE("get") "]" },
    { "right as they are", WHOLE(WITH("a"), RULE("get")), PART("p", "a", RULE("get")), NULL },
    { "a part less", WHOLE(WITH("a"), RULE("get") "," RULE("list")), PART("p", "a", RULE("get")), "[" RULE("get") "]" },
};

TEST(rules_of_others)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct value **others;
        struct value next, role = world_decode(&a, "rbac.authorization.k8s.io/v1.ClusterRole", str_of(rows[i].role));
        size_t n = world_decode_all(&a, "rbac.authorization.k8s.io/v1.ClusterRole", rows[i].others, &others);
        bool changes = role_aggregation_plan(&a, &role, others, n, &next);
        CHECK_INT(rows[i].what, changes, rows[i].rules != NULL);
        if (changes && !strstr(world_json(&a, "rbac.authorization.k8s.io/v1.ClusterRole", &next), arena_printf(&a, "\"rules\":%s", rows[i].rules)))
            FAIL("%s: %s", rows[i].what, world_json(&a, "rbac.authorization.k8s.io/v1.ClusterRole", &next));
        arena_reset(&a);
    }
    arena_fini(&a);
}
