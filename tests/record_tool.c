/* tests/record_tool.c - `record_tool FILE CONFIG RECORDED_CONFIG GATES BYTES_MAX`: records a small run to a file, for tests of
 * `berth replay`.
 *
 * The scheduler runs under CONFIG; what the recording says is RECORDED_CONFIG and GATES. Both are texts; "" is the default. */
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "config/setup.h"
#include "insight/record_file.h"
#include "plugins/plugins.h"

enum { NODES = 6, PODS = 600 };

struct tool {
    struct sym_table syms;
    struct setup setup;
    struct arena arena;
    struct err e;
    struct sched *sched;
    struct recorder *recorder;
    int64_t now_ms;
    VEC(io_ticket) binds;
};

static int64_t now_ms(void *context)
{
    return ++((struct tool *)context)->now_ms;
}

static int64_t wall_s(void *context)
{
    return 1800000000 + ((struct tool *)context)->now_ms / 1000;
}

static void bind(void *context, io_ticket ticket, const struct pod *pod, sym node)
{
    struct tool *t = context;
    (void)pod, (void)node;
    vec_push(&t->binds, ticket);
}

static void patch_status(void *context, const struct status_change *change)
{
    (void)context, (void)change;
}

static void evict(void *context, io_ticket ticket, const struct pod *victim, const struct pod *preemptor)
{
    (void)context, (void)ticket, (void)victim, (void)preemptor;
}

static void event(void *context, const struct event_note *note)
{
    (void)context, (void)note;
}

static void fail(const struct tool *t)
{
    fprintf(stderr, "record_tool: %s\n", t->e.message);
    exit(1);
}

static void add_node(struct tool *t, int i)
{
    const struct node *node;
    const char *json = arena_printf(&t->arena, "{\"metadata\":{\"name\":\"n%d\"},\"status\":{\"allocatable\":{\"cpu\":\"%d\","
                                    "\"memory\":\"64Gi\",\"pods\":\"110\"}}}", i, 10 + i);
    if (node_decode(&t->syms, TYPED_JSON, str_of(json), &node, &t->e))
        fail(t);
    record_node(t->recorder, TYPED_JSON, str_of(json));
    sched_node_set(t->sched, node);
    node_unref(&t->syms, node);
}

static void add_pod(struct tool *t, int i)
{
    const struct pod *pod;
    const char *json = arena_printf(&t->arena, "{\"metadata\":{\"name\":\"p%d\",\"namespace\":\"x\",\"uid\":\"u%d\",\"resourceVersion\":\"1\"},"
                                    "\"spec\":{\"schedulerName\":\"default-scheduler\",\"containers\":[{\"name\":\"c\",\"image\":\"i\","
                                    "\"resources\":{\"requests\":{\"cpu\":\"%dm\"}}}]}}", i, i, 50 + i % 7 * 40);
    if (pod_decode(&t->syms, TYPED_JSON, str_of(json), &pod, &t->e))
        fail(t);
    record_pod(t->recorder, TYPED_JSON, str_of(json));
    sched_pod_set(t->sched, pod);
    pod_unref(&t->syms, pod);
}

static void run(struct tool *t)
{
    for (int i = 0; i < NODES; i++)
        add_node(t, i);
    for (int i = 0; i < PODS; i++) {
        add_pod(t, i);
        record_run_once(t->recorder);
        sched_run_once(t->sched);
        for (size_t k = 0; k < t->binds.n; k++) {
            record_bound(t->recorder, t->binds.at[k], NULL);
            sched_bound(t->sched, t->binds.at[k], NULL);
        }
        vec_reset(&t->binds);
    }
}

int main(int argc, char **argv)
{
    struct tool t = { .now_ms = 1000 };
    struct record_file *file;
    if (argc != 6)
        return 2;
    sym_init(&t.syms);
    arena_init(&t.arena);
    err_init(&t.e, &t.arena);
    struct setup_source source = { .text = *argv[2] ? str_of(argv[2]) : (struct str){ NULL, 0 } };
    if (setup_load(&t.setup, &t.syms, &source, plugin_registry, &t.e) || record_file_create(argv[1], &file, &t.e))
        fail(&t);
    struct record_start start = { .seed = 5, .build = STR("0.0.1-test"), .config = str_of(argv[3]), .feature_gates = str_of(argv[4]) };
    t.recorder = recorder_new(&(struct recorder_options){ record_file_write, file, strtoull(argv[5], NULL, 10), start });
    t.sched = sched_new(&(struct sched_options){
        .syms = &t.syms, .profiles = t.setup.profiles, .n_profiles = t.setup.n_profiles, .features = t.setup.features, .seed = 5,
        .io = recorder_io(t.recorder, &(struct sched_io){ &t, now_ms, wall_s, bind, patch_status, evict, event, NULL, NULL }) });
    recorder_attach(t.recorder, t.sched);
    run(&t);
    recorder_end(t.recorder);
    recorder_free(t.recorder);
    printf("%016llx %llu\n", (unsigned long long)sched_decision_hash(t.sched), (unsigned long long)sched_counts(t.sched).attempts);
    if (record_file_close(file, &t.e))
        fail(&t);
    sched_free(t.sched);
    setup_fini(&t.setup);
    vec_fini(&t.binds);
    sym_fini(&t.syms);
    arena_fini(&t.arena);
    return 0;
}
