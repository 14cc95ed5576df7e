/* Recordings: a random run of a whole scheduler with the default configuration and an extender is repeated bit for bit;
 * damaged, torn and ended recordings are told from good ones. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/setup.h"
#include "plugins/plugins.h"
#include "sched/extender.h"
#include "sched/record_format.h"
#include "sched/replay.h"
#include "insight/record_file.h"
#include "tests/test.h"

/* ---- A cluster that lives by chance ---- */

enum { NODES_MAX = 10, PODS_MAX = 60 };

struct living_pod {
    uint32_t number; /* 0: free */
    uint32_t version;
    uint32_t kind;
    char node[16]; /* "" when on none */
};

struct outgoing {
    io_ticket ticket;
    uint32_t pod; /* number */
    char node[16];
    bool victim;
};

struct story {
    struct sym_table syms;
    struct setup setup;
    struct arena arena;
    struct rand rand;
    struct sched *sched;
    struct recorder *recorder;
    struct strbuf recording;
    size_t fails_after; /* bytes; 0: writing always works */
    int64_t now_ms;
    bool node_there[NODES_MAX];
    struct living_pod pods[PODS_MAX];
    uint32_t n_pods_made, n_evicted;
    VEC(struct outgoing) outgoing;
    struct extender extender, *extenders[1];
    uint32_t n_extenders;
};

static bool chance(struct story *s, unsigned percent)
{
    return rand_below(&s->rand, 100) < percent;
}

static bool keep(void *context, struct str bytes)
{
    struct story *s = context;
    if (s->fails_after && s->recording.n + bytes.n > s->fails_after)
        return false;
    strbuf_add_str(&s->recording, bytes);
    return true;
}

/* Time moves between any two readings. */
static int64_t now_ms(void *context)
{
    struct story *s = context;
    s->now_ms += chance(s, 10) ? (int64_t)rand_below(&s->rand, 5) : 0;
    return s->now_ms;
}

static int64_t wall_s(void *context)
{
    return 1800000000 + ((struct story *)context)->now_ms / 1000;
}

static uint32_t number_of(const struct pod *pod)
{
    return (uint32_t)strtoul(pod->meta.name + 1, NULL, 10);
}

static void bind(void *context, io_ticket ticket, const struct pod *pod, sym node)
{
    struct story *s = context;
    struct outgoing out = { .ticket = ticket, .pod = number_of(pod) };
    snprintf(out.node, sizeof(out.node), "%s", sym_text(&s->syms, node).p);
    vec_push(&s->outgoing, out);
}

static void evict(void *context, io_ticket ticket, const struct pod *victim, const struct pod *preemptor)
{
    struct story *s = context;
    (void)preemptor;
    s->n_evicted++;
    vec_push(&s->outgoing, (struct outgoing){ .ticket = ticket, .pod = number_of(victim), .victim = true });
}

static void patch_status(void *context, const struct status_change *change)
{
    (void)context;
    (void)change;
}

static void event(void *context, const struct event_note *note)
{
    (void)context;
    (void)note;
}

/* An extender that leaves some nodes out, likes some, fails at times, and answers with what it was asked. */
static void answer_nodes(struct story *s, const struct extender_request *r, struct extender_answer *a)
{
    struct str *names = ARENA_NEW_N(r->arena, struct str, r->n_nodes);
    struct extender_failure *failed = ARENA_NEW_N(r->arena, struct extender_failure, r->n_nodes);
    struct extender_score *scores = ARENA_NEW_N(r->arena, struct extender_score, r->n_nodes);
    for (uint32_t i = 0; i < r->n_nodes; i++) {
        struct str name = arena_str(r->arena, sym_text(&s->syms, r->nodes[i]));
        if (r->verb == EXTENDER_PRIORITIZE && chance(s, 60))
            scores[a->n_scores++] = (struct extender_score){ name, (int64_t)rand_below(&s->rand, 3) };
        else if (chance(s, 75))
            names[a->node_names.n++] = name;
        else if (chance(s, 50))
            failed[a->n_failed++] = (struct extender_failure){ name, "no luck" };
    }
    a->node_names.at = names;
    a->node_names.given = r->verb == EXTENDER_FILTER;
    a->failed = failed;
    a->scores = scores;
}

static void answer_victims(struct story *s, const struct extender_request *r, struct extender_answer *a)
{
    struct extender_meta_victims *victims = ARENA_NEW_N(r->arena, struct extender_meta_victims, r->n_victims);
    for (uint32_t i = 0; i < r->n_victims; i++) {
        struct str *uids = ARENA_NEW_N(r->arena, struct str, r->victims[i].n_pods);
        for (uint32_t k = 0; k < r->victims[i].n_pods; k++)
            uids[k] = arena_str(r->arena, str_of(r->victims[i].pods[k]->meta.uid));
        if (chance(s, 80))
            victims[a->n_victims++] = (struct extender_meta_victims){
                arena_str(r->arena, sym_text(&s->syms, r->victims[i].node)), uids, r->victims[i].n_pods,
                r->victims[i].n_violations };
    }
    a->victims = victims;
}

static void call_extender(void *context, const struct extender_request *requests, uint32_t n,
                          struct extender_answer *ret_answers)
{
    struct story *s = context;
    for (uint32_t i = 0; i < n; i++) {
        const struct extender_request *r = &requests[i];
        if (r->verb == EXTENDER_BIND)
            bind(s, r->ticket, r->pod, r->pod->node_name);
        else if (chance(s, 5))
            ret_answers[i].error = "not today";
        else if (r->verb == EXTENDER_PREEMPT)
            answer_victims(s, r, &ret_answers[i]);
        else
            answer_nodes(s, r, &ret_answers[i]);
    }
}

/* ---- Its objects ---- */

static void set_node(struct story *s, uint32_t i)
{
    const char *json = arena_printf(
        &s->arena,
        "{\"metadata\":{\"name\":\"n%u\",\"labels\":{\"zone\":\"z%u\",\"kubernetes.io/hostname\":\"n%u\",\"disk\":\"%s\"}},"
        "\"spec\":{%s%s},\"status\":{\"allocatable\":{\"cpu\":\"%u\",\"memory\":\"8Gi\",\"pods\":\"%u\"%s}}}",
        i, i % 3, i, chance(s, 50) ? "ssd" : "hdd", chance(s, 5) ? "\"unschedulable\":true," : "",
        chance(s, 20) ? "\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}]" : "\"taints\":[]",
        1 + (unsigned)rand_below(&s->rand, 3), 3 + (unsigned)rand_below(&s->rand, 5),
        chance(s, 50) ? ",\"example.com/gpu\":\"2\"" : "");
    const struct node *node;
    struct err e;
    err_init(&e, &s->arena);
    if (node_decode(&s->syms, TYPED_JSON, str_of(json), &node, &e))
        FAIL("%s: %s", json, e.message);
    record_node(s->recorder, TYPED_JSON, str_of(json));
    sched_node_set(s->sched, node);
    node_unref(&s->syms, node);
    s->node_there[i] = true;
}

static void remove_node(struct story *s, uint32_t i)
{
    const char *name = arena_printf(&s->arena, "n%u", i);
    sym id = sym_find(&s->syms, str_of(name));
    record_node_removed(s->recorder, str_of(name));
    if (id != SYM_NONE)
        sched_node_removed(s->sched, id);
    s->node_there[i] = false;
}

static const char *const pod_specs[] = {
    "",
    "\"nodeSelector\":{\"disk\":\"ssd\"},",
    "\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"}],",
    "\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"labelSelector\":"
    "{\"matchLabels\":{\"app\":\"a\"}},\"topologyKey\":\"kubernetes.io/hostname\"}]}},",
    "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\","
    "\"labelSelector\":{\"matchLabels\":{\"app\":\"a\"}}}],",
    "\"affinity\":{\"podAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":7,\"podAffinityTerm\":"
    "{\"labelSelector\":{\"matchLabels\":{\"app\":\"b\"}},\"topologyKey\":\"zone\"}}]}},",
    "\"schedulingGates\":[{\"name\":\"g\"}],",
};
enum { N_SPECS = sizeof(pod_specs) / sizeof(pod_specs[0]) };

/* Of some pods on nodes; the wall clock passes it in the middle of the story. */
static const char *start_time(struct story *s, const struct living_pod *p)
{
    if (!*p->node || p->number % 2)
        return "";
    return arena_printf(&s->arena, "\"startTime\":\"2027-01-15T08:0%u:%02uZ\"", p->number % 10, p->number % 60);
}

static void set_pod(struct story *s, struct living_pod *p)
{
    p->version++;
    const char *node = *p->node ? arena_printf(&s->arena, "\"nodeName\":\"%s\",", p->node) : "";
    const char *json = arena_printf(
        &s->arena,
        "{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"default\",\"uid\":\"u%u\",\"resourceVersion\":\"%u\","
        "\"labels\":{\"app\":\"%s\"}},\"spec\":{%s%s\"schedulerName\":\"default-scheduler\",\"priority\":%u,"
        "\"containers\":[{\"name\":\"c\",\"image\":\"i%u\",\"resources\":{\"requests\":{\"cpu\":\"%um\",\"memory\":\"1Gi\"%s}}"
        "}]},\"status\":{%s}}",
        p->number, p->number, p->version, p->number % 3 ? "a" : "b", node,
        p->version > 3 && p->kind == N_SPECS - 1 ? "" : pod_specs[p->kind], p->number % 3 * 10, p->number % 4,
        100 + p->number % 7 * 300, p->number % 5 == 0 ? ",\"example.com/gpu\":\"1\"" : "",
        start_time(s, p));
    const struct pod *pod;
    struct err e;
    err_init(&e, &s->arena);
    if (pod_decode(&s->syms, TYPED_JSON, str_of(json), &pod, &e))
        FAIL("%s: %s", json, e.message);
    record_pod(s->recorder, TYPED_JSON, str_of(json));
    sched_pod_set(s->sched, pod);
    pod_unref(&s->syms, pod);
}

static void remove_pod(struct story *s, struct living_pod *p)
{
    const char *uid = arena_printf(&s->arena, "u%u", p->number);
    record_pod_removed(s->recorder, uid);
    sched_pod_removed(s->sched, uid);
    *p = (struct living_pod){ 0 };
}

static struct living_pod *find_pod(struct story *s, uint32_t number)
{
    for (uint32_t i = 0; i < PODS_MAX; i++)
        if (s->pods[i].number == number)
            return &s->pods[i];
    return NULL;
}

static void set_budget(struct story *s)
{
    const char *json = arena_printf(&s->arena,
                                    "{\"metadata\":{\"name\":\"b\",\"namespace\":\"default\"},\"spec\":{\"selector\":"
                                    "{\"matchLabels\":{\"app\":\"a\"}}},\"status\":{\"disruptionsAllowed\":%u}}",
                                    (unsigned)rand_below(&s->rand, 3));
    const void *form;
    struct err e;
    err_init(&e, &s->arena);
    if (object_form_decode(OBJECT_BUDGET, &s->syms, TYPED_JSON, str_of(json), &form, &e))
        FAIL("%s", e.message);
    record_object(s->recorder, OBJECT_BUDGET, TYPED_JSON, str_of(json));
    sched_object_set(s->sched, OBJECT_BUDGET, form);
    object_unref(&s->syms, OBJECT_BUDGET, form);
}

static void remove_budget(struct story *s)
{
    sym ns = sym_find(&s->syms, STR("default"));
    record_object_removed(s->recorder, OBJECT_BUDGET, STR("default"), STR("b"));
    if (ns != SYM_NONE)
        sched_object_removed(s->sched, OBJECT_BUDGET, ns, STR("b"));
}

/* ---- Its steps ---- */

static void answer_one(struct story *s)
{
    if (s->outgoing.n == 0)
        return;
    size_t i = rand_below(&s->rand, s->outgoing.n);
    struct outgoing out = s->outgoing.at[i];
    vec_remove(&s->outgoing, i);
    struct living_pod *p = find_pod(s, out.pod);
    const char *error = chance(s, 10) ? "conflict" : NULL;
    if (out.victim) {
        record_victim_done(s->recorder, out.ticket, error);
        sched_victim_done(s->sched, out.ticket, error);
        if (p && !error)
            remove_pod(s, p);
        return;
    }
    record_bound(s->recorder, out.ticket, error);
    sched_bound(s->sched, out.ticket, error);
    if (p && !error) {
        memcpy(p->node, out.node, sizeof(p->node));
        set_pod(s, p);
    }
}

/* A plugin at Permit lets a pod go or does not, whether it waits or not. */
static void permit_one(struct story *s)
{
    const struct living_pod *p = &s->pods[rand_below(&s->rand, PODS_MAX)];
    const char *uid = arena_printf(&s->arena, "u%u", p->number);
    bool allow = chance(s, 70);
    const struct plugin_instance *waiter = s->setup.profiles[0]->points[POINT_PERMIT].at[0];
    record_permit(s->recorder, uid, "default-scheduler", waiter->plugin->name, allow, "not today");
    sched_permit(s->sched, uid, waiter, allow, "not today");
}

static void change_pods(struct story *s)
{
    struct living_pod *p = &s->pods[rand_below(&s->rand, PODS_MAX)];
    if (p->number && chance(s, 50)) {
        remove_pod(s, p);
    } else if (p->number) {
        set_pod(s, p);
    } else {
        *p = (struct living_pod){ .number = ++s->n_pods_made, .kind = (uint32_t)rand_below(&s->rand, N_SPECS) };
        set_pod(s, p);
    }
}

static void pass_time(struct story *s)
{
    s->now_ms += (int64_t)rand_below(&s->rand, 4000);
    record_tick(s->recorder);
    sched_tick(s->sched);
}

static void step(struct story *s)
{
    uint64_t what = rand_below(&s->rand, 100);
    uint32_t node = (uint32_t)rand_below(&s->rand, NODES_MAX);
    if (what < 8)
        set_node(s, node);
    else if (what < 9 && s->node_there[node])
        remove_node(s, node);
    else if (what < 35)
        change_pods(s);
    else if (what < 55)
        answer_one(s);
    else if (what < 61)
        permit_one(s);
    else if (what < 63)
        pass_time(s);
    else if (what < 64)
        set_budget(s);
    else if (what < 65)
        remove_budget(s);
    else {
        record_run_once(s->recorder);
        sched_run_once(s->sched);
    }
    arena_reset(&s->arena);
}

/* ---- Schedulers ---- */

/* Every third pod waits at Permit. */
static struct verdict wait_at_permit(const struct plugin_instance *p, struct cycle *c, node_id node, int64_t *ret_timeout_ms)
{
    (void)p;
    (void)node;
    *ret_timeout_ms = 20000;
    return number_of(c->pod) % 3 ? PASS : verdict_text(V_WAIT, "");
}
static const struct plugin waiter_plugin = { .name = "Waiter", .permit = wait_at_permit };

#define WAITER_CONFIG                                                                                                  \
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"                                   \
    "profiles: [{schedulerName: default-scheduler, plugins: {permit: {enabled: [{name: Waiter}]}}}]\n"

static void prepare(struct story *s, bool extender)
{
    struct err e;
    const struct plugin *registry[64] = { &waiter_plugin };
    for (unsigned i = 0; plugin_registry[i]; i++)
        registry[i + 1] = plugin_registry[i];
    arena_init(&s->arena);
    sym_init(&s->syms);
    err_init(&e, &s->arena);
    if (setup_from_text(&s->setup, &s->syms, STR(WAITER_CONFIG), registry, &e))
        FAIL("%s", e.message);
    s->extender = (struct extender){ .url_prefix = "http://x", .weight = 1, .node_cache_capable = true, .ignorable = true,
                                     .verbs = { "filter", "prioritize", "preempt", "bind" } };
    s->extenders[0] = &s->extender;
    s->n_extenders = extender;
}

static void open_sched(struct story *s, const struct record_start *start, struct sched_io io)
{
    s->sched = sched_new(&(struct sched_options){
        .syms = &s->syms,
        .profiles = s->setup.profiles,
        .n_profiles = s->setup.n_profiles,
        .extenders = s->extenders,
        .n_extenders = s->n_extenders,
        .io = io,
        .features = s->setup.features,
        .seed = start->seed,
        .percentage_of_nodes_to_score = start->percentage_of_nodes_to_score,
        .initial_backoff_ms = start->initial_backoff_ms,
        .max_backoff_ms = start->max_backoff_ms,
        .unschedulable_ms_max = start->unschedulable_ms_max,
    });
}

static void close_all(struct story *s)
{
    sched_free(s->sched);
    setup_fini(&s->setup);
    vec_fini(&s->outgoing);
    sym_fini(&s->syms);
    arena_fini(&s->arena);
}

struct recorded {
    struct str bytes; /* to be freed */
    uint64_t hash;
    struct sched_counts counts;
    uint32_t n_evicted;
    const char *stopped;
};

static struct recorded record_run(uint64_t seed, int n_steps, bool extender, uint64_t bytes_max, size_t fails_after)
{
    struct story s = { .now_ms = 5000, .fails_after = fails_after };
    rand_init(&s.rand, seed);
    strbuf_init(&s.recording, STRBUF_NO_MAX);
    prepare(&s, extender);
    struct record_start start = { .seed = seed, .build = STR("test"), .config = STR("default"), .unschedulable_ms_max = 60000 };
    s.recorder = recorder_new(&(struct recorder_options){ keep, &s, bytes_max, start });
    struct sched_io io = { &s, now_ms, wall_s, bind, patch_status, evict, event, NULL, call_extender };
    open_sched(&s, &start, recorder_io(s.recorder, &io));
    recorder_attach(s.recorder, s.sched);
    for (uint32_t i = 0; i < NODES_MAX / 2; i++)
        set_node(&s, i);
    for (int i = 0; i < n_steps; i++)
        step(&s);
    struct recorded r = { .stopped = recorder_stopped(s.recorder), .hash = sched_decision_hash(s.sched),
                          .counts = sched_counts(s.sched), .n_evicted = s.n_evicted };
    recorder_end(s.recorder);
    CHECK_INT("bytes", recorder_bytes(s.recorder), s.recording.n);
    recorder_free(s.recorder);
    close_all(&s);
    r.bytes = strbuf_str(&s.recording);
    return r;
}

/* The result; its message goes to `message`. False: it does not even open. */
static bool replay(struct str bytes, bool extender, struct replay_result *ret, char *message, size_t message_bytes)
{
    struct story s = { 0 };
    struct replay *r = NULL;
    struct err e;
    prepare(&s, extender);
    err_init(&e, &s.arena);
    if (replay_open(bytes, &r, &e)) {
        snprintf(message, message_bytes, "%s", e.message);
        setup_fini(&s.setup);
        sym_fini(&s.syms);
        arena_fini(&s.arena);
        return false;
    }
    open_sched(&s, replay_start(r), replay_io(r));
    replay_run(r, s.sched, ret);
    snprintf(message, message_bytes, "%s", ret->message);
    ret->message = NULL;
    close_all(&s);
    replay_free(r);
    return true;
}

/* ---- Tests ---- */

enum { STEPS = 4000 };

TEST(a_random_run_is_repeated_bit_for_bit)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        bool extender = seed % 2 == 0;
        char what[64], message[512];
        snprintf(what, sizeof(what), "seed %d", (int)seed);
        hash_set_seed(seed);
        struct recorded r = record_run(seed, STEPS, extender, UINT64_MAX, 0);
        CHECK(r.counts.placed > 100);
        CHECK(r.counts.unschedulable > 100);
        CHECK(r.n_evicted > 20);
        hash_set_seed(seed + 1000); /* nothing may depend on the order of hash tables */
        struct replay_result result;
        CHECK(replay(r.bytes, extender, &result, message, sizeof(message)));
        CHECK_INT(message, result.end, REPLAY_COMPLETE);
        CHECK_INT(what, result.hash == r.hash, true);
        CHECK(result.n_inputs > STEPS / 2);
        CHECK(result.n_hashes > 3);
        free((char *)(uintptr_t)r.bytes.p);
    }
}

TEST(another_scheduler_is_noticed)
{
    struct recorded r = record_run(3, STEPS, true, UINT64_MAX, 0);
    struct replay_result result;
    char message[512];
    CHECK(replay(r.bytes, false, &result, message, sizeof(message))); /* without the extender */
    CHECK_INT(message, result.end, REPLAY_DIVERGED);
    free((char *)(uintptr_t)r.bytes.p);
}

TEST(a_full_recording_says_so_and_replays)
{
    for (uint64_t bytes_max = 0; bytes_max < 100000; bytes_max += 7331) {
        struct recorded r = record_run(5, 800, true, bytes_max, 0);
        CHECK_TEXT("stopped", r.stopped ? r.stopped : "", "the recording has reached its maximum length");
        CHECK(r.bytes.n <= (bytes_max < RECORDER_BYTES_MIN ? RECORDER_BYTES_MIN : bytes_max));
        struct replay_result result;
        char message[512];
        CHECK(replay(r.bytes, true, &result, message, sizeof(message)));
        /* It may end in the middle of an input, whose questions then stay unanswered. */
        CHECK(result.end == REPLAY_AT_LIMIT || strstr(message, "the recording has no answer"));
        free((char *)(uintptr_t)r.bytes.p);
    }
}

TEST(a_write_that_fails_ends_the_recording)
{
    struct recorded r = record_run(5, 300, false, UINT64_MAX, 20000);
    struct replay_result result;
    char message[512];
    CHECK_TEXT("stopped", r.stopped ? r.stopped : "", "the recording could not be written");
    CHECK(replay(r.bytes, false, &result, message, sizeof(message)));
    CHECK_INT(message, result.end, REPLAY_TORN);
    free((char *)(uintptr_t)r.bytes.p);
}

TEST(torn_recordings_are_found_at_every_length)
{
    struct recorded r = record_run(7, 40, true, UINT64_MAX, 0);
    for (size_t n = 0; n < r.bytes.n; n += n < 400 ? 1 : 37) {
        char *bytes = mem_alloc(n ? n : 1), message[512]; /* its own block: ASan sees what is read behind it */
        memcpy(bytes, r.bytes.p, n);
        struct replay_result result;
        if (replay((struct str){ bytes, n }, true, &result, message, sizeof(message)))
            CHECK(result.end == REPLAY_TORN || strstr(message, "the recording has no answer"));
        free(bytes);
    }
    free((char *)(uintptr_t)r.bytes.p);
}

TEST(damaged_recordings_are_found)
{
    struct recorded r = record_run(8, 60, true, UINT64_MAX, 0);
    struct rand rand;
    rand_init(&rand, 1);
    for (int i = 0; i < 300; i++) {
        char *bytes = mem_alloc(r.bytes.n), message[512];
        memcpy(bytes, r.bytes.p, r.bytes.n);
        bytes[rand_below(&rand, r.bytes.n)] ^= (char)(1 << rand_below(&rand, 8));
        struct replay_result result;
        if (replay((struct str){ bytes, r.bytes.n }, true, &result, message, sizeof(message)))
            CHECK(result.end != REPLAY_COMPLETE && result.end != REPLAY_AT_LIMIT);
        free(bytes);
    }
    free((char *)(uintptr_t)r.bytes.p);
}

TEST(a_frame_that_is_missing_or_doubled_is_found)
{
    struct recorded r = record_run(9, 60, false, UINT64_MAX, 0);
    struct record_frame frame;
    size_t at = strlen(RECORD_VERSION_LINE), n_frame;
    for (uint64_t number = 0; record_frame_read(r.bytes, at, number, &frame, &n_frame) == FRAME_GOOD; number++) {
        for (int doubled = 0; doubled < 2 && frame.type == RECORD_RUN_ONCE; doubled++) {
            struct strbuf changed;
            struct replay_result result;
            char message[512];
            strbuf_init(&changed, STRBUF_NO_MAX);
            strbuf_add(&changed, r.bytes.p, at + (doubled ? n_frame : 0));
            strbuf_add_str(&changed, str_from(r.bytes, at + (doubled ? 0 : n_frame)));
            CHECK(replay(strbuf_str(&changed), false, &result, message, sizeof(message)));
            CHECK_INT(message, result.end, REPLAY_DAMAGED);
            strbuf_fini(&changed);
        }
        at += n_frame;
    }
    CHECK_INT("all frames", at, r.bytes.n);
    free((char *)(uintptr_t)r.bytes.p);
}

/* ---- Times ---- */

static const int64_t readings[] = { 5, 5, 7, 7, 7, -3, 9, 9 };
enum { N_READINGS = sizeof(readings) / sizeof(readings[0]) };

static int64_t next_reading(void *context)
{
    return readings[(*(size_t *)context)++];
}

static bool add_bytes(void *context, struct str bytes)
{
    strbuf_add_str(context, bytes);
    return true;
}

TEST(every_reading_of_the_clock_is_repeated)
{
    struct strbuf bytes;
    size_t n_read = 0;
    strbuf_init(&bytes, STRBUF_NO_MAX);
    struct recorder *recorder = recorder_new(&(struct recorder_options){ add_bytes, &bytes, UINT64_MAX, { .seed = 1 } });
    struct sched_io inner = { .context = &n_read, .now_ms = next_reading }, io = recorder_io(recorder, &inner);
    for (int i = 0; i < N_READINGS; i++)
        CHECK_INT("recorded", io.now_ms(io.context), readings[i]);
    recorder_end(recorder);
    recorder_free(recorder);
    struct arena a;
    struct err e;
    struct replay *r;
    arena_init(&a);
    err_init(&e, &a);
    CHECK(replay_open(strbuf_str(&bytes), &r, &e) == ERR_OK);
    io = replay_io(r);
    for (int i = 0; i < N_READINGS; i++)
        CHECK_INT("replayed", io.now_ms(io.context), readings[i]);
    replay_free(r);
    strbuf_fini(&bytes);
    arena_fini(&a);
}

TEST(what_is_no_recording_is_refused)
{
    static const struct {
        struct str bytes;
        const char *error;
    } rows[] = {
        { STR(""), "this is not a recording" },
        { STR("hello"), "this is not a recording" },
        { STR("berth-record 2\n"), "the recording has a version that this berth does not know" },
        { STR("berth-record 1\n"), "the recording is damaged or torn at its beginning" },
        { STR("berth-record 1\n123456789"), "the recording is damaged or torn at its beginning" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct replay_result result;
        char message[512];
        CHECK(!replay(rows[i].bytes, false, &result, message, sizeof(message)));
        CHECK_TEXT("message", message, rows[i].error);
    }
}

TEST(a_pipe_is_no_recording)
{
    struct arena a;
    struct err e;
    struct str bytes;
    char path[] = "/tmp/berth-pipe-XXXXXX";
    CHECK(mkdtemp(path));
    arena_init(&a);
    err_init(&e, &a);
    const char *pipe = arena_printf(&a, "%s/pipe", path);
    CHECK(mkfifo(pipe, 0600) == 0);
    CHECK_INT("code", record_file_load(pipe, &bytes, &e), ERR_INVALID); /* at once: nobody writes */
    CHECK_TEXT("message", e.message, arena_printf(&a, "%s: not a file", pipe));
    CHECK_INT("a folder", record_file_load(path, &bytes, &e), ERR_INVALID);
    unlink(pipe);
    rmdir(path);
    arena_fini(&a);
}

TEST(a_file_keeps_a_recording)
{
    struct arena a;
    struct err e;
    struct record_file *file = NULL;
    char path[] = "/tmp/berth-record-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    arena_init(&a);
    err_init(&e, &a);
    CHECK(record_file_create(path, &file, &e) == ERR_OK);
    CHECK(record_file_write(file, STR("ab\0c")) && record_file_write(file, STR("d")));
    CHECK(record_file_close(file, &e) == ERR_OK);
    struct str bytes;
    CHECK(record_file_load(path, &bytes, &e) == ERR_OK);
    CHECK_STR("bytes", bytes, STR("ab\0cd"));
    free((char *)(uintptr_t)bytes.p);
    unlink(path);
    CHECK(record_file_load(path, &bytes, &e) == ERR_IO);
    CHECK(record_file_load("/tmp", &bytes, &e) == ERR_INVALID);
    CHECK(record_file_create("/nowhere/at/all", &file, &e) == ERR_IO);
    arena_fini(&a);
}
