/* tests/fuzz/fuzz_record.c - any bytes as a recording, replayed by a scheduler with the default configuration.
 *
 * If the first byte is odd the rest is the file itself. Otherwise the rest is cut into frames (type, length in two bytes,
 * payload) that get their checksums here, so that what is behind these is reached. */
#include <stdlib.h>

#include "config/setup.h"
#include "plugins/plugins.h"
#include "sched/extender.h"
#include "sched/record_format.h"
#include "sched/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct sym_table syms;
static struct setup setup;
static struct extender extender = {
    .url_prefix = "http://x",
    .verbs = { "filter", "prioritize", "preempt", "bind" },
    .weight = 1,
    .node_cache_capable = true,
}, *const extenders[] = { &extender };

static void prepare(struct arena *a)
{
    struct err e;
    if (setup.profiles)
        return;
    err_init(&e, a);
    sym_init(&syms);
    if (setup_from_text(&setup, &syms, (struct str){ 0 }, plugin_registry, &e))
        abort();
}

/* A good beginning, then the input's frames. */
static void make_file(struct str input, struct strbuf *file)
{
    struct strbuf start;
    strbuf_init(&start, STRBUF_NO_MAX);
    record_put_u64(&start, 1);
    record_put_text(&start, STR(""));
    record_put_text(&start, STR(""));
    for (int i = 0; i < 4; i++)
        record_put_i64(&start, 0);
    STRBUF_ADD_LIT(file, RECORD_VERSION_LINE);
    record_frame_add(file, 0, RECORD_START, strbuf_str(&start));
    strbuf_fini(&start);
    for (uint64_t number = 1; input.n >= 3; number++) {
        size_t n_payload = (uint8_t)input.p[1] | (size_t)(uint8_t)input.p[2] << 8;
        struct str payload = str_first(str_from(input, 3), n_payload);
        record_frame_add(file, number, (uint8_t)input.p[0], payload);
        input = str_from(input, 3 + payload.n);
    }
}

static void run(struct replay *r, bool with_extender)
{
    struct replay_result result;
    struct sched *s = sched_new(&(struct sched_options){
        .syms = &syms,
        .profiles = setup.profiles,
        .n_profiles = setup.n_profiles,
        .extenders = extenders,
        .n_extenders = with_extender,
        .io = replay_io(r),
        .features = setup.features,
        .seed = replay_start(r)->seed,
    });
    replay_run(r, s, &result);
    if (!result.message)
        abort();
    sched_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a;
    struct err e;
    struct strbuf file;
    if (n == 0)
        return 0;
    arena_init(&a);
    err_init(&e, &a);
    prepare(&a);
    strbuf_init(&file, STRBUF_NO_MAX);
    struct str input = { (const char *)data + 1, n - 1 };
    if (data[0] & 1)
        strbuf_add_str(&file, input);
    else
        make_file(input, &file);
    struct replay *r;
    if (!replay_open(strbuf_str(&file), &r, &e)) {
        run(r, data[0] & 2);
        replay_free(r);
    } else if (!e.message) {
        abort();
    }
    strbuf_fini(&file);
    arena_fini(&a);
    return 0;
}
