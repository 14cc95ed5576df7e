/* tests/fuzz/fuzz_start.c - the beginning of a recording: its first frame, and the configuration in it.
 *
 * If the first byte is odd the rest is the frame's payload. Otherwise a few bytes choose numbers, sane or absurd
 * ones, and the rest is the text of the configuration. What opens is written again and says the same; a scheduler is
 * made from it and tries a few pods, under clocks that the bytes choose, too. */
#include <stdlib.h>

#include "config/setup.h"
#include "plugins/plugins.h"
#include "sched/queue.h"
#include "sched/record_format.h"
#include "sched/replay.h"
#include "tests/test.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { BYTES_MAX = 4096, N_NUMBERS = 4, N_TIMES = 6, HEAD_BYTES = 2 + N_NUMBERS + N_TIMES };

static const int64_t numbers[] = { 0, 1, 50, 100, 101, 1000, 10000, 300000, -1, -50, INT32_MAX, INT32_MIN,
                                   INT64_MAX / 2, INT64_MAX - 1, INT64_MAX, INT64_MIN, 7, 1ll << 32 | 5,
                                   86400000ll * 365 };

struct head {
    const uint8_t *bytes;
    unsigned n_read; /* times */
};

static int64_t number(uint8_t choice)
{
    return numbers[choice % (sizeof(numbers) / sizeof(numbers[0]))];
}

/* ---- The file ---- */

static void add_payload(struct strbuf *to, struct str input)
{
    const uint8_t *bytes = (const uint8_t *)input.p;
    if (bytes[0] & 1) {
        strbuf_add_str(to, str_from(input, 1));
        return;
    }
    record_put_u64(to, bytes[1]);
    record_put_text(to, STR("berth 1"));
    record_put_text(to, str_from(input, HEAD_BYTES));
    for (int i = 0; i < N_NUMBERS; i++)
        record_put_i64(to, number(bytes[2 + i]));
}

static void make_file(struct strbuf *file, struct str input)
{
    struct strbuf payload;
    strbuf_init(&payload, STRBUF_NO_MAX);
    add_payload(&payload, input);
    STRBUF_ADD_LIT(file, RECORD_VERSION_LINE);
    record_frame_add(file, 0, RECORD_START, strbuf_str(&payload));
    strbuf_fini(&payload);
}

static bool add_bytes(void *context, struct str bytes)
{
    strbuf_add_str(context, bytes);
    return true;
}

static void check_written_again(const struct record_start *start)
{
    struct strbuf file;
    struct replay *r;
    struct arena a;
    struct err e;
    strbuf_init(&file, STRBUF_NO_MAX);
    arena_init(&a);
    err_init(&e, &a);
    struct recorder *recorder = recorder_new(&(struct recorder_options){ add_bytes, &file, UINT64_MAX, *start });
    recorder_end(recorder);
    recorder_free(recorder);
    CHECK(replay_open(strbuf_str(&file), &r, &e) == ERR_OK);
    const struct record_start *again = replay_start(r);
    CHECK(again->seed == start->seed && again->initial_backoff_ms == start->initial_backoff_ms);
    CHECK(again->max_backoff_ms == start->max_backoff_ms && again->unschedulable_ms_max == start->unschedulable_ms_max);
    CHECK(again->percentage_of_nodes_to_score == start->percentage_of_nodes_to_score);
    CHECK_STR("configuration", again->config, start->config);
    CHECK_STR("build", again->build, start->build);
    replay_free(r);
    arena_fini(&a);
    strbuf_fini(&file);
}

/* ---- The scheduler ---- */

/* Not backwards, as the clock's readers may expect; it may stand still, or leap. */
static int64_t now_ms(void *context)
{
    struct head *h = context;
    int64_t latest = 0;
    for (unsigned i = 0; i <= h->n_read % N_TIMES; i++) {
        int64_t value = number(h->bytes[2 + N_NUMBERS + i]);
        latest = value > latest ? value : latest;
    }
    h->n_read += h->n_read < N_TIMES - 1;
    return latest;
}

static int64_t wall_s(void *context)
{
    return number(((const struct head *)context)->bytes[1]);
}

static struct sched_io quiet_io(struct replay *r, struct head *h)
{
    struct sched_io io = replay_io(r); /* drops what goes out */
    io.context = h;
    io.now_ms = now_ms;
    io.wall_s = wall_s;
    return io;
}

static void set_pod(struct sched *s, struct sym_table *syms, const char *name, const char *cpu, struct err *e)
{
    const struct pod *pod;
    char json[320];
    snprintf(json, sizeof(json),
             "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"d\",\"uid\":\"%s\"},\"spec\":{\"schedulerName\":"
             "\"default-scheduler\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]}}",
             name, name, cpu);
    CHECK(!pod_decode(syms, TYPED_JSON, str_of(json), &pod, e));
    sched_pod_set(s, pod);
    pod_unref(syms, pod);
}

static void set_node(struct sched *s, struct sym_table *syms, const char *name, struct err *e)
{
    const struct node *node;
    char json[160];
    snprintf(json, sizeof(json),
             "{\"metadata\":{\"name\":\"%s\"},\"status\":{\"allocatable\":{\"cpu\":\"2\",\"pods\":\"2\"}}}", name);
    CHECK(!node_decode(syms, TYPED_JSON, str_of(json), &node, e));
    sched_node_set(s, node);
    node_unref(syms, node);
}

static void try_pods(struct sched *s, struct sym_table *syms, struct err *e)
{
    set_node(s, syms, "n1", e);
    set_pod(s, syms, "small", "1", e);
    set_pod(s, syms, "large", "9", e);
    for (int i = 0; i < 4; i++) {
        sched_run_once(s);
        sched_tick(s);
        (void)sched_due_ms(s);
    }
    set_node(s, syms, "n2", e); /* may wake the large one */
    set_pod(s, syms, "late", "2", e);
    for (int i = 0; i < 4; i++) {
        sched_tick(s);
        sched_run_once(s);
    }
    queue_check(sched_queue(s));
}

static void run(struct replay *r, const struct setup *setup, struct sym_table *syms, struct head *h, struct err *e)
{
    const struct record_start *start = replay_start(r);
    struct sched *s = sched_new(&(struct sched_options){
        .syms = syms,
        .profiles = setup->profiles,
        .n_profiles = setup->n_profiles,
        .io = quiet_io(r, h),
        .features = setup->features,
        .seed = start->seed,
        .percentage_of_nodes_to_score = start->percentage_of_nodes_to_score,
        .initial_backoff_ms = start->initial_backoff_ms,
        .max_backoff_ms = start->max_backoff_ms,
        .unschedulable_ms_max = start->unschedulable_ms_max,
    });
    try_pods(s, syms, e);
    sched_free(s);
}

/* Shared objects are code: a recording from anywhere is never run with them. */
static bool names_libraries(struct str config)
{
    return memmem(config.p, config.n, "ibraries", 8) != NULL;
}

static void use(struct replay *r, struct head *h, struct err *e)
{
    struct sym_table syms;
    struct setup setup;
    struct str config = replay_start(r)->config;
    check_written_again(replay_start(r));
    if (names_libraries(config))
        return;
    sym_init(&syms);
    if (!setup_from_text(&setup, &syms, config.n ? config : (struct str){ NULL, 0 }, plugin_registry, e)) {
        run(r, &setup, &syms, h, e);
        setup_fini(&setup);
    } else {
        CHECK(e->message && *e->message);
    }
    sym_fini(&syms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a;
    struct err e;
    struct strbuf file;
    struct replay *r;
    if (n < HEAD_BYTES || n > BYTES_MAX)
        return 0;
    arena_init(&a);
    err_init(&e, &a);
    strbuf_init(&file, STRBUF_NO_MAX);
    make_file(&file, (struct str){ (const char *)data, n });
    if (!replay_open(strbuf_str(&file), &r, &e)) {
        struct head h = { .bytes = data };
        use(r, &h, &e);
        replay_free(r);
    }
    strbuf_fini(&file);
    arena_fini(&a);
    return 0;
}
