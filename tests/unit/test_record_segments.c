/* Recordings in segments: each of the files that are kept is replayed to the hash that the scheduler had when it ended; disk
 * use is bounded, the newest stay; a full segment and a full disk end the recording and say so. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rand.h"
#include "config/setup.h"
#include "insight/record_file.h"
#include "insight/record_segments.h"
#include "plugins/plugins.h"
#include "sched/replay.h"
#include "tests/test.h"

enum { NODES = 8, PODS = 40, SEGMENTS_MAX = 64 };

struct bind {
    io_ticket ticket;
    uint32_t pod;
    char node[16];
    bool evicts;
};

struct live {
    struct sym_table syms;
    struct setup setup;
    struct arena arena;
    struct err e;
    struct rand rand;
    struct sched *sched;
    struct record_segments *segments;
    int64_t now_ms;
    uint32_t version, n_pods;
    struct { uint32_t number; char node[16]; } pods[PODS]; /* number 0: free */
    VEC(struct bind) binds;
    uint64_t hashes[SEGMENTS_MAX]; /* by number of the segment */
    uint64_t n_segments, n_attempts;
    char folder[64], path[96];
};

static int64_t now_ms(void *context)
{
    struct live *l = context;
    return l->now_ms += (int64_t)rand_below(&l->rand, 3);
}

static int64_t wall_s(void *context)
{
    return 1800000000 + ((struct live *)context)->now_ms / 1000;
}

static uint32_t number_of(const struct pod *pod)
{
    return (uint32_t)strtoul(pod->meta.name + 1, NULL, 10);
}

static void bind(void *context, io_ticket ticket, const struct pod *pod, sym node)
{
    struct live *l = context;
    struct bind b = { .ticket = ticket, .pod = number_of(pod) };
    snprintf(b.node, sizeof(b.node), "%s", sym_text(&l->syms, node).p);
    vec_push(&l->binds, b);
}

static void evict(void *context, io_ticket ticket, const struct pod *victim, const struct pod *preemptor)
{
    struct live *l = context;
    (void)preemptor;
    vec_push(&l->binds, (struct bind){ .ticket = ticket, .pod = number_of(victim), .evicts = true });
}

static void patch_status(void *context, const struct status_change *change)
{
    (void)context, (void)change;
}

static void event(void *context, const struct event_note *note)
{
    (void)context, (void)note;
}

static struct sched *make_sched(const struct setup *setup, struct sym_table *syms, struct sched_io io)
{
    return sched_new(&(struct sched_options){ .syms = syms, .profiles = setup->profiles, .n_profiles = setup->n_profiles,
                                              .features = setup->features, .io = io, .seed = 9 });
}

static void open_sched(struct live *l)
{
    struct recorder *recorder = record_segments_recorder(l->segments);
    l->sched = make_sched(&l->setup, &l->syms,
                          recorder_io(recorder, &(struct sched_io){ l, now_ms, wall_s, bind, patch_status, evict, event, NULL, NULL }));
    recorder_attach(recorder, l->sched);
}

/* ---- Objects ---- */

static void set_node(struct live *l, unsigned i)
{
    const struct node *node;
    const char *json = arena_printf(&l->arena, "{\"metadata\":{\"name\":\"n%u\",\"labels\":{\"zone\":\"z%u\"}},\"status\":{\"allocatable\":"
                                    "{\"cpu\":\"%u\",\"memory\":\"8Gi\",\"pods\":\"9\"}}}", i, i % 3, 1 + (unsigned)rand_below(&l->rand, 3));
    CHECK(!node_decode(&l->syms, TYPED_JSON, str_of(json), &node, &l->e));
    record_segments_node(l->segments, node, TYPED_JSON, str_of(json));
    sched_node_set(l->sched, node);
    node_unref(&l->syms, node);
}

static void set_budget(struct live *l)
{
    const void *form;
    const char *json = arena_printf(&l->arena, "{\"metadata\":{\"name\":\"b\",\"namespace\":\"x\"},\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"a\"}}},"
                                    "\"status\":{\"disruptionsAllowed\":%u}}", (unsigned)rand_below(&l->rand, 3));
    CHECK(!object_form_decode(OBJECT_BUDGET, &l->syms, TYPED_JSON, str_of(json), &form, &l->e));
    record_segments_object(l->segments, OBJECT_BUDGET, STR("x"), STR("b"), TYPED_JSON, str_of(json));
    sched_object_set(l->sched, OBJECT_BUDGET, form);
    object_unref(&l->syms, OBJECT_BUDGET, form);
}

static void set_pod(struct live *l, uint32_t number, const char *node, const char *phase)
{
    const struct pod *pod;
    const char *json = arena_printf(
        &l->arena,
        "{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"x\",\"uid\":\"u%u\",\"resourceVersion\":\"%u\",\"labels\":{\"a\":\"%s\"}},\"spec\":{%s%s%s"
        "\"schedulerName\":\"default-scheduler\",\"priority\":%u,\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":"
        "{\"cpu\":\"%um\"}}}]},\"status\":{\"phase\":\"%s\"}}",
        number, number, ++l->version, number % 2 ? "a" : "b", *node ? "\"nodeName\":\"" : "", node, *node ? "\"," : "", number % 4,
        100 + number % 9 * 100, phase);
    CHECK(!pod_decode(&l->syms, TYPED_JSON, str_of(json), &pod, &l->e));
    record_segments_pod(l->segments, pod, TYPED_JSON, str_of(json));
    sched_pod_set(l->sched, pod);
    pod_unref(&l->syms, pod);
}

static void remove_pod(struct live *l, unsigned i)
{
    const char *uid = arena_printf(&l->arena, "u%u", l->pods[i].number);
    record_segments_pod_removed(l->segments, uid);
    sched_pod_removed(l->sched, uid);
    l->pods[i].number = 0;
}

static void answer(struct live *l, size_t at)
{
    struct bind b = l->binds.at[at];
    vec_remove(&l->binds, at);
    unsigned i = 0;
    while (i < PODS && l->pods[i].number != b.pod)
        i++;
    struct recorder *recorder = record_segments_recorder(l->segments);
    if (b.evicts) {
        record_victim_done(recorder, b.ticket, NULL);
        sched_victim_done(l->sched, b.ticket, NULL);
        if (i < PODS)
            remove_pod(l, i);
        return;
    }
    bool fails = i == PODS || rand_below(&l->rand, 8) == 0;
    record_bound(recorder, b.ticket, fails ? "no" : NULL);
    sched_bound(l->sched, b.ticket, fails ? "no" : NULL);
    if (fails)
        return;
    snprintf(l->pods[i].node, sizeof(l->pods[i].node), "%s", b.node);
    set_pod(l, b.pod, b.node, "Running");
}

/* ---- Time passes ---- */

static void churn(struct live *l)
{
    unsigned i = (unsigned)rand_below(&l->rand, PODS);
    if (!l->pods[i].number) {
        l->pods[i].number = ++l->n_pods;
        *l->pods[i].node = '\0';
        set_pod(l, l->pods[i].number, "", "Pending");
    } else if (rand_below(&l->rand, 3) == 0) {
        if (rand_below(&l->rand, 2)) {
            remove_pod(l, i);
        } else {
            set_pod(l, l->pods[i].number, l->pods[i].node, "Succeeded");
            l->pods[i].number = 0;
        }
    } else if (rand_below(&l->rand, 4) == 0) {
        set_node(l, (unsigned)rand_below(&l->rand, NODES));
    } else if (rand_below(&l->rand, 4) == 0) {
        set_budget(l);
    }
}

static void rotate(struct live *l)
{
    l->hashes[l->n_segments++] = sched_decision_hash(l->sched);
    if (record_segments_rotate(l->segments, &l->e))
        FAIL("%s", l->e.message);
    sched_free(l->sched);
    open_sched(l);
    if (record_segments_feed(l->segments, l->sched, &l->e))
        FAIL("%s", l->e.message);
}

/* As a daemon does: no attempts while the segment is nearly full. */
static void step(struct live *l)
{
    struct recorder *recorder = record_segments_recorder(l->segments);
    bool due = record_segments_due(l->segments);
    if (due && record_segments_can_rotate(l->sched)) {
        rotate(l);
        return;
    }
    switch (rand_below(&l->rand, 4)) {
    case 0:
        churn(l);
        break;
    case 1:
        l->now_ms += (int64_t)rand_below(&l->rand, 3000);
        record_tick(recorder);
        sched_tick(l->sched);
        break;
    case 2:
        if (l->binds.n)
            answer(l, rand_below(&l->rand, l->binds.n));
        break;
    default:
        if (due)
            break;
        record_run_once(recorder);
        sched_run_once(l->sched);
        l->n_attempts++;
    }
    arena_reset(&l->arena);
}

static void live_open(struct live *l, uint64_t bytes_max)
{
    *l = (struct live){ .now_ms = 1000 };
    sym_init(&l->syms);
    arena_init(&l->arena);
    err_init(&l->e, &l->arena);
    rand_init(&l->rand, 11);
    snprintf(l->folder, sizeof(l->folder), "/tmp/berth-segments-XXXXXX");
    CHECK(mkdtemp(l->folder));
    snprintf(l->path, sizeof(l->path), "%s/run", l->folder);
    CHECK(!setup_from_text(&l->setup, &l->syms, (struct str){ NULL, 0 }, plugin_registry, &l->e));
    struct record_segments_options options = { .path = l->path, .bytes_max = bytes_max, .syms = &l->syms,
                                               .start = { .seed = 9, .build = STR("test"), .config = STR("") } };
    if (record_segments_open(&options, &l->segments, &l->e))
        FAIL("%s", l->e.message);
    open_sched(l);
    for (unsigned i = 0; i < NODES; i++)
        set_node(l, i);
}

static const char *file_of(struct live *l, uint64_t number)
{
    return arena_printf(&l->arena, "%s.%llu", l->path, (unsigned long long)number);
}

static void live_close(struct live *l)
{
    l->hashes[l->n_segments++] = sched_decision_hash(l->sched);
    CHECK(!record_segments_close(l->segments, &l->e));
    sched_free(l->sched);
    setup_fini(&l->setup);
    vec_fini(&l->binds);
}

static void live_remove(struct live *l, uint64_t n_files)
{
    for (uint64_t i = 1; i <= n_files; i++)
        (void)!unlink(file_of(l, i));
    CHECK(rmdir(l->folder) == 0);
    sym_fini(&l->syms);
    arena_fini(&l->arena);
}

static void check_replay(struct live *l, uint64_t number, enum replay_end end)
{
    struct str bytes;
    struct replay *r;
    struct setup setup;
    struct sym_table syms;
    struct replay_result result;
    sym_init(&syms);
    if (record_file_load(file_of(l, number), &bytes, &l->e) || replay_open(bytes, &r, &l->e) ||
        setup_from_text(&setup, &syms, (struct str){ NULL, 0 }, plugin_registry, &l->e))
        FAIL("%s", l->e.message);
    struct sched *s = make_sched(&setup, &syms, replay_io(r));
    replay_run(r, s, &result);
    CHECK_INT(result.message, result.end, end);
    CHECK(result.n_hashes > 0);
    if (end == REPLAY_COMPLETE)
        CHECK(result.hash == l->hashes[number - 1]);
    sched_free(s);
    replay_free(r);
    setup_fini(&setup);
    sym_fini(&syms);
    free((char *)(uintptr_t)bytes.p);
}

TEST(the_newest_segments_are_kept_and_replay)
{
    struct live l;
    struct stat st;
    enum { BYTES = 400 << 10 };
    live_open(&l, BYTES);
    while (l.n_segments < 7) {
        step(&l);
        CHECK(!record_segments_stopped(l.segments));
        CHECK(record_segments_bytes(l.segments) <= BYTES);
    }
    CHECK_TEXT("the file under way", record_segments_path(l.segments), file_of(&l, 8));
    for (int i = 0; i < 500; i++)
        step(&l);
    live_close(&l);
    CHECK(stat(file_of(&l, 1), &st) != 0);
    unsigned n_kept = 0;
    uint64_t n_bytes = 0;
    for (uint64_t i = 1; i <= l.n_segments; i++) {
        if (stat(file_of(&l, i), &st) != 0)
            continue;
        CHECK_INT("mode", st.st_mode & 0777, 0600);
        n_kept++;
        n_bytes += (uint64_t)st.st_size;
        check_replay(&l, i, REPLAY_COMPLETE);
    }
    printf("%llu segments, %u kept, %llu bytes; %llu attempts\n", (unsigned long long)l.n_segments, n_kept,
           (unsigned long long)n_bytes, (unsigned long long)l.n_attempts);
    CHECK(n_kept >= 3 && n_bytes <= BYTES && stat(file_of(&l, l.n_segments), &st) == 0);
    live_remove(&l, l.n_segments);
}

TEST(numbers_go_on_after_files_that_are_there)
{
    struct live l;
    live_open(&l, 1 << 20);
    live_close(&l);
    struct record_segments_options options = { .path = l.path, .bytes_max = 1 << 20, .syms = &l.syms };
    CHECK(!record_segments_open(&options, &l.segments, &l.e));
    CHECK_TEXT("the next", record_segments_path(l.segments), file_of(&l, 2));
    CHECK(!record_segments_close(l.segments, &l.e));
    int fd = open(file_of(&l, 7), O_CREAT | O_WRONLY, 0600);
    CHECK(fd >= 0 && ftruncate(fd, 1 << 20) == 0);
    close(fd);
    CHECK(!record_segments_open(&options, &l.segments, &l.e)); /* all others are too much */
    CHECK_TEXT("the next", record_segments_path(l.segments), file_of(&l, 8));
    struct stat st;
    CHECK(stat(file_of(&l, 1), &st) != 0 && stat(file_of(&l, 7), &st) != 0);
    CHECK(!record_segments_close(l.segments, &l.e));
    live_remove(&l, 8);
}

TEST(a_segment_that_gets_full_ends_at_its_limit)
{
    struct live l;
    live_open(&l, 200 << 10);
    while (!record_segments_stopped(l.segments)) { /* nobody rotates */
        record_run_once(record_segments_recorder(l.segments));
        sched_run_once(l.sched);
        churn(&l);
        while (l.binds.n)
            answer(&l, 0);
    }
    CHECK(!record_segments_due(l.segments));
    CHECK_INT("no next one", record_segments_rotate(l.segments, &l.e), ERR_IO);
    churn(&l); /* goes on without it */
    live_close(&l);
    check_replay(&l, 1, REPLAY_AT_LIMIT);
    live_remove(&l, 1);
}

TEST(objects_that_take_too_much_end_it)
{
    struct live l;
    live_open(&l, RECORD_SEGMENTS_BYTES_MIN);
    for (unsigned i = 0; !record_segments_due(l.segments); i++)
        set_node(&l, 100 + i);
    CHECK(record_segments_can_rotate(l.sched));
    CHECK_INT("too much", record_segments_rotate(l.segments, &l.e), ERR_TOO_LARGE);
    CHECK(record_segments_stopped(l.segments));
    live_close(&l);
    check_replay(&l, 1, REPLAY_COMPLETE);
    live_remove(&l, 1);
}

TEST(what_is_on_its_way_keeps_it_from_rotating)
{
    struct live l;
    live_open(&l, 1 << 20);
    l.pods[0].number = 1;
    set_pod(&l, 1, "", "Pending");
    CHECK(record_segments_can_rotate(l.sched));
    record_run_once(record_segments_recorder(l.segments));
    sched_run_once(l.sched);
    CHECK_INT("a binding", l.binds.n, 1);
    CHECK(!record_segments_can_rotate(l.sched));
    record_bound(record_segments_recorder(l.segments), l.binds.at[0].ticket, NULL);
    sched_bound(l.sched, l.binds.at[0].ticket, NULL);
    CHECK(!record_segments_can_rotate(l.sched)); /* bound, and no watch has shown it */
    set_pod(&l, 1, l.binds.at[0].node, "Running");
    CHECK(record_segments_can_rotate(l.sched));
    live_close(&l);
    live_remove(&l, 1);
}

TEST(a_folder_that_is_not_there_is_told)
{
    struct arena arena;
    struct err e;
    struct record_segments *r;
    arena_init(&arena);
    err_init(&e, &arena);
    struct record_segments_options options = { .path = "/nowhere/at/all/run" };
    CHECK_INT("no folder", record_segments_open(&options, &r, &e), ERR_IO);
    CHECK_TEXT("no folder", e.message, "/nowhere/at/all: No such file or directory");
    arena_fini(&arena);
}
