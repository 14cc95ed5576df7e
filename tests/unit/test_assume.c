/* Assumptions over the store of objects. */
#include "sched/assume.h"

#include "tests/unit/volume_world.h"

static void world_init(struct cluster *cl, struct assumed *a)
{
    cluster_init(cl, &volumezone_plugin, NULL);
    assumed_init(a, OBJECT_PERSISTENT_VOLUME_CLAIM, &cl->syms);
    PVC(cl, "{'metadata':{'name':'c','namespace':'ns','resourceVersion':'1'}}");
}

static const struct pvc *stored(struct cluster *cl)
{
    return objects_get(cl->objects, OBJECT_PERSISTENT_VOLUME_CLAIM, sym_find(&cl->syms, STR("ns")), STR("c"));
}

static void assume_node(struct cluster *cl, struct assumed *a, const char *node)
{
    sym name = sym_intern(&cl->syms, str_of(node));
    const struct pvc *changed = pvc_with_node(&cl->syms, stored(cl), name);
    sym_unref(&cl->syms, name);
    if (assumed_set(a, cl->objects, changed, &cl->e))
        FAIL("%s", cl->e.message);
}

/* The node that the claim is assumed to have selected, or "". */
static const char *selected(struct cluster *cl, struct assumed *a)
{
    const struct pvc *c = assumed_get(a, cl->objects, sym_find(&cl->syms, STR("ns")), STR("c"));
    return c->selected_node == SYM_NONE ? "" : sym_text(&cl->syms, c->selected_node).p;
}

TEST(an_assumption_holds_until_another_version_comes)
{
    struct cluster cl;
    struct assumed a;
    world_init(&cl, &a);
    CHECK_TEXT("nothing assumed", selected(&cl, &a), "");
    assume_node(&cl, &a, "n1");
    CHECK_TEXT("assumed", selected(&cl, &a), "n1");
    CHECK("the store" && stored(&cl)->selected_node == SYM_NONE);
    assume_node(&cl, &a, "n2");
    CHECK_TEXT("assumed again", selected(&cl, &a), "n2");
    PVC(&cl, "{'metadata':{'name':'c','namespace':'ns','resourceVersion':'1'}}");
    CHECK_TEXT("seen once more", selected(&cl, &a), "n2");
    PVC(&cl, "{'metadata':{'name':'c','namespace':'ns','resourceVersion':'2'}}");
    CHECK_TEXT("another version", selected(&cl, &a), "");
    assumed_fini(&a);
    cluster_fini(&cl);
}

TEST(only_the_version_that_was_assumed_is_dropped)
{
    struct cluster cl;
    struct assumed a;
    world_init(&cl, &a);
    sym ns = sym_find(&cl.syms, STR("ns"));
    assume_node(&cl, &a, "n1");
    assumed_drop(&a, ns, STR("c"), "7");
    CHECK_TEXT("another version", selected(&cl, &a), "n1");
    assumed_drop(&a, ns, STR("other"), "1");
    CHECK_TEXT("another name", selected(&cl, &a), "n1");
    assumed_drop(&a, ns, STR("c"), "1");
    CHECK_TEXT("dropped", selected(&cl, &a), "");
    assumed_drop(&a, ns, STR("c"), "1");
    assumed_fini(&a);
    cluster_fini(&cl);
}

TEST(what_is_out_of_date_is_not_assumed)
{
    struct cluster cl;
    struct assumed a;
    world_init(&cl, &a);
    const struct pvc *old = pvc_ref(stored(&cl));
    PVC(&cl, "{'metadata':{'name':'c','namespace':'ns','resourceVersion':'2'}}");
    CHECK(assumed_set(&a, cl.objects, pvc_ref(old), &cl.e) == ERR_CONFLICT);
    CHECK_TEXT("conflict", cl.e.message, "\"ns/c\" is out of sync (stored: 2, assume: 1)");
    objects_remove(cl.objects, OBJECT_PERSISTENT_VOLUME_CLAIM, old->meta.ns, STR("c"));
    CHECK(assumed_set(&a, cl.objects, old, &cl.e) == ERR_NOT_FOUND);
    CHECK_TEXT("gone", cl.e.message, "persistentvolumeclaims \"ns/c\" not found");
    assumed_fini(&a);
    cluster_fini(&cl);
}

/* A long life of claims that are assumed once and never asked for again. */
TEST(assumptions_that_have_ended_are_freed)
{
    struct cluster cl;
    struct assumed a;
    world_init(&cl, &a);
    for (int i = 0; i < 5000; i++) {
        PVC(&cl, arena_printf(&cl.texts, "{'metadata':{'name':'c%d','namespace':'ns','resourceVersion':'1'}}", i));
        const char *name = arena_printf(&cl.texts, "c%d", i);
        sym ns = sym_find(&cl.syms, STR("ns"));
        const struct pvc *c = objects_get(cl.objects, OBJECT_PERSISTENT_VOLUME_CLAIM, ns, str_of(name));
        CHECK(assumed_set(&a, cl.objects, pvc_ref(c), &cl.e) == ERR_OK);
        objects_remove(cl.objects, OBJECT_PERSISTENT_VOLUME_CLAIM, ns, str_of(name));
        CHECK(a.by_name.n <= 128);
    }
    assumed_fini(&a);
    cluster_fini(&cl);
}
