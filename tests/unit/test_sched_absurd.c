/* Objects that make no sense do not stop the scheduler, nor do they keep others from their nodes. */
#include "tests/unit/sched_world.h"

static void set_node(struct sched_world *w, const char *json)
{
    const struct node *node;
    struct err e;
    err_init(&e, &w->arena);
    if (node_decode(&w->syms, TYPED_JSON, str_of(json), &node, &e))
        FAIL("%s: %s", json, e.message);
    sched_node_set(w->sched, node);
    node_unref(&w->syms, node);
}

static const char *many_tolerations(struct sched_world *w)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&b, "\"tolerations\":[{}");
    for (int i = 0; i < 10000; i++)
        strbuf_printf(&b, ",{\"key\":\"k%d\",\"operator\":\"Exists\"}", i);
    strbuf_add_char(&b, ']');
    const char *text = arena_cstr(&w->arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

TEST(absurd_objects_are_lived_with)
{
    struct sched_world w;
    sched_world_init(&w);
    sched_world_add_plugin(&w, &tainttoleration_plugin, NULL, 3);
    sched_world_open(&w);
    set_node(&w, "{\"metadata\":{\"name\":\"bare\"}}");
    set_node(&w, "{\"metadata\":{\"name\":\"minus\"},\"status\":{\"allocatable\":{\"cpu\":\"-4\",\"memory\":\"-1\",\"pods\":\"-1\"}}}");
    set_node(&w, "{\"metadata\":{\"name\":\"large\"},\"status\":{\"allocatable\":{\"cpu\":\"1000\",\"memory\":\"9Ei\",\"pods\":\"110\"}}}");
    sched_pod_set(w.sched, world_pod(&w, "minus", NULL, 0, "-5", ""));
    sched_pod_set(w.sched, world_pod(&w, "tolerant", NULL, 0, "1", many_tolerations(&w)));
    sched_pod_set(w.sched, world_pod_of(&w, "{\"metadata\":{\"name\":\"empty\",\"uid\":\"uid-empty\"},"
                                            "\"spec\":{\"schedulerName\":\"default-scheduler\"}}"));
    sched_pod_set(w.sched, world_pod(&w, "lost", "nowhere", 0, "1", "")); /* on a node that is not there */
    while (sched_run_once(w.sched))
        ;
    CHECK_INT("bindings", sched_counts(w.sched).binding, 3);
    for (size_t i = 0; i < w.tickets.n; i++)
        sched_bound(w.sched, w.tickets.at[i], NULL);
    CHECK_INT("placed", sched_counts(w.sched).placed, 3);
    CHECK_INT("errors", sched_counts(w.sched).errors, 0);
    sched_world_close(&w);
}

/* At the ends of time, and when it runs backwards: what is due is not in the past for ever. */
TEST(absurd_clocks_are_lived_with)
{
    static const int64_t times[] = { INT64_MAX - 310000, INT64_MAX - 20000, INT64_MAX, INT64_MIN, -1, INT64_MAX / 2, 0 };
    struct sched_world w;
    sched_world_init(&w);
    sched_world_open(&w);
    set_node(&w, "{\"metadata\":{\"name\":\"n1\"},\"status\":{\"allocatable\":{\"cpu\":\"1\",\"pods\":\"9\"}}}");
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        char name[16];
        snprintf(name, sizeof(name), "large-%zu", i);
        w.now_ms = times[i];
        sched_pod_set(w.sched, world_pod(&w, name, NULL, 0, "2", ""));
        sched_run_once(w.sched);
        sched_tick(w.sched);
        int64_t due_ms = sched_due_ms(w.sched);
        CHECK(due_ms > -1000 || times[i] < 0);
        CHECK(due_ms > times[i] || times[i] > INT64_MAX / 4);
    }
    sched_world_close(&w);
}
