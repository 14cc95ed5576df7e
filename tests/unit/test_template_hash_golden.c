/* Hashes of pod templates beside those of kube-controller-manager: tests/golden/template_hash.txt. */
#include "controllers/template_hash.h"
#include "tests/unit/golden_lines.h"

static struct str next_line(struct golden *g)
{
    size_t end = str_index(g->left, '\n');
    struct str line = str_first(g->left, end);
    g->left = str_from(g->left, end + 1);
    return line;
}

TEST(templates_have_upstreams_hashes)
{
    struct golden g;
    struct err e;
    int n = 0;
    golden_open(&g, "template_hash.txt");
    err_init(&e, &g.arena);
    next_line(&g); /* what it is */
    for (; g.left.n; n++) {
        struct str json = next_line(&g), want = next_line(&g);
        struct value t;
        if (json_decode(&g.arena, WORK_OWN, schema_type(STR("core/v1.PodTemplateSpec")), json, NULL, &t, &e))
            FAIL("%s", e.message);
        struct str plain = template_hash(&g.arena, &t, -1), collided = template_hash(&g.arena, &t, 3);
        const char *got = arena_printf(&g.arena, "%.*s %.*s", STR_ARG(plain), STR_ARG(collided));
        CHECK_STR(arena_printf(&g.arena, "template %d", n + 1), str_of(got), want);
    }
    CHECK_INT("templates", n, 60);
    arena_fini(&g.arena);
}
