/* The dumps of cache and queue. */
#include "sched/dump.h"

#include "sched/nominate.h"
#include "sched/queue.h"
#include "tests/unit/sched_world.h"

static const char *nodes_of(struct sched_world *w)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    dump_nodes(sched_cache(w->sched), sched_nominator(w->sched), &b);
    const char *text = arena_cstr(&w->arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static const char *queue_of(struct sched_world *w)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    dump_queue_summary(sched_queue(w->sched), &b);
    strbuf_add_char(&b, '\n');
    dump_queue_pods(sched_queue(w->sched), &w->syms, &b);
    const char *text = arena_cstr(&w->arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static void set_node(struct sched_world *w, const char *json)
{
    struct err e;
    err_init(&e, &w->arena);
    const struct node *node;
    if (node_decode(&w->syms, TYPED_JSON, str_of(json), &node, &e))
        FAIL("%s", e.message);
    sched_node_set(w->sched, node);
    node_unref(&w->syms, node);
}

TEST(nothing_is_an_empty_text)
{
    struct sched_world w;
    sched_world_init(&w);
    sched_world_open(&w);
    CHECK_TEXT("nodes", nodes_of(&w), "");
    CHECK_TEXT("queue", queue_of(&w), "activeQ:0; backoffQ:0; unschedulablePods:0\n");
    sched_world_close(&w);
}

TEST(nodes_show_amounts_pods_and_nominations)
{
    struct sched_world w;
    sched_world_init(&w);
    sched_world_open(&w);
    set_node(&w, "{\"metadata\":{\"name\":\"n1\"},\"status\":{\"allocatable\":{\"cpu\":\"2\",\"memory\":\"4Gi\","
                 "\"pods\":\"110\"}}}");
    sched_pod_set(w.sched, world_pod_of(&w, "{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\",\"uid\":\"u1\"},"
                                            "\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\",\"resources\":"
                                            "{\"requests\":{\"cpu\":\"100m\"}}}]},\"status\":{\"phase\":\"Pending\"}}"));
    sched_pod_set(w.sched, world_pod_of(&w, "{\"metadata\":{\"name\":\"q\",\"namespace\":\"other\",\"uid\":\"u2\"},"
                                            "\"spec\":{\"nodeName\":\"n0\"},\"status\":{\"phase\":\"Running\"}}"));
    const struct pod *promised = world_pod_of(
        &w, "{\"metadata\":{\"name\":\"r\",\"namespace\":\"default\",\"uid\":\"u3\"},"
            "\"status\":{\"phase\":\"Pending\",\"nominatedNodeName\":\"n1\"}}");
    nominator_add(sched_nominator(w.sched), promised, SYM_NONE);
    CHECK_TEXT("nodes", nodes_of(&w),
               "Node name: n1\n"
               "Deleted: false\n"
               "Requested Resources: &{MilliCPU:100 Memory:0 EphemeralStorage:0 AllowedPodNumber:0 ScalarResources:map[]}\n"
               "Allocatable Resources:&{MilliCPU:2000 Memory:4294967296 EphemeralStorage:0 AllowedPodNumber:110 "
               "ScalarResources:map[]}\n"
               "Scheduled Pods(number: 1):\n"
               "name: p, namespace: default, uid: u1, phase: Pending, nominated node: \n"
               "Nominated Pods(number: 1):\n"
               "name: r, namespace: default, uid: u3, phase: Pending, nominated node: n1\n"
               "\n\n"
               "Node name: n0\n"
               "Deleted: true\n"
               "Requested Resources: &{MilliCPU:0 Memory:0 EphemeralStorage:0 AllowedPodNumber:0 ScalarResources:map[]}\n"
               "Allocatable Resources:&{MilliCPU:0 Memory:0 EphemeralStorage:0 AllowedPodNumber:0 ScalarResources:map[]}\n"
               "Scheduled Pods(number: 1):\n"
               "name: q, namespace: other, uid: u2, phase: Running, nominated node: \n");
    sched_world_close(&w);
}

TEST(scalars_come_in_the_order_of_their_names)
{
    struct sched_world w;
    sched_world_init(&w);
    sched_world_open(&w);
    set_node(&w, "{\"metadata\":{\"name\":\"other\"},\"status\":{\"allocatable\":{\"z.io/z\":\"1\"}}}");
    set_node(&w, "{\"metadata\":{\"name\":\"n1\"},\"status\":{\"allocatable\":{\"ephemeral-storage\":\"7\",\"z.io/z\":\"9\","
                 "\"b.io/b\":\"0\",\"hugepages-2Mi\":\"4Mi\"}}}");
    sched_pod_set(w.sched, world_pod_of(&w, "{\"metadata\":{\"name\":\"p\",\"namespace\":\"d\",\"uid\":\"u1\"},"
                                            "\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\",\"resources\":"
                                            "{\"requests\":{\"z.io/z\":\"2\",\"a.io/a\":\"3\",\"m.io/m\":\"0\","
                                            "\"ephemeral-storage\":\"5\"}}}]}}"));
    sched_node_removed(w.sched, world_sym(&w, "other"));
    CHECK_TEXT("nodes", nodes_of(&w),
               "Node name: n1\n"
               "Deleted: false\n"
               "Requested Resources: &{MilliCPU:0 Memory:0 EphemeralStorage:5 AllowedPodNumber:0 "
               "ScalarResources:map[a.io/a:3 m.io/m:0 z.io/z:2]}\n"
               "Allocatable Resources:&{MilliCPU:0 Memory:0 EphemeralStorage:7 AllowedPodNumber:0 "
               "ScalarResources:map[b.io/b:0 hugepages-2Mi:4194304 z.io/z:9]}\n"
               "Scheduled Pods(number: 1):\n"
               "name: p, namespace: d, uid: u1, phase: , nominated node: \n");
    sched_world_close(&w);
}

TEST(the_queue_shows_pods_place_by_place)
{
    struct sched_world w;
    sched_world_init(&w);
    sched_world_add_plugin(&w, &schedulinggates_plugin, NULL, 0);
    sched_world_open(&w);
    world_node(&w, "n1", "4", "");
    sched_pod_set(w.sched, world_pod(&w, "large", NULL, 9, "64", ""));
    CHECK(sched_run_once(w.sched));
    sched_pod_set(w.sched, world_pod(&w, "flying", NULL, 5, "1", ""));
    struct queued_pod *flying = queue_pop(sched_queue(w.sched), w.now_ms);
    sched_pod_set(w.sched, world_pod(&w, "ready", NULL, 0, "1", ""));
    CHECK_TEXT("queue", queue_of(&w),
               "activeQ:1; backoffQ:0; unschedulablePods:1\n"
               "name: ready, namespace: default, uid: uid-ready, phase: , nominated node: \n"
               "name: large, namespace: default, uid: uid-large, phase: , nominated node: \n");
    sched_pod_set(w.sched, world_pod(&w, "gated", NULL, 0, "1", "\"schedulingGates\":[{\"name\":\"g\"}]"));
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    dump_queue_summary(sched_queue(w.sched), &b);
    CHECK_STR("gated pods wait too", strbuf_str(&b), STR("activeQ:1; backoffQ:0; unschedulablePods:2"));
    strbuf_fini(&b);
    queue_done(sched_queue(w.sched), flying);
    queue_release(sched_queue(w.sched), flying);
    sched_world_close(&w);
}

TEST(a_full_buffer_ends_the_dump)
{
    struct sched_world w;
    sched_world_init(&w);
    sched_world_open(&w);
    for (int i = 0; i < 100; i++)
        world_node(&w, arena_printf(&w.arena, "n%d", i), "4", "");
    struct strbuf b;
    strbuf_init(&b, 1000);
    dump_nodes(sched_cache(w.sched), sched_nominator(w.sched), &b);
    CHECK(b.overflow);
    CHECK(b.n <= 1000);
    strbuf_fini(&b);
    sched_world_close(&w);
}
