/* daemon/profile.c - see profile.h. The format: profile.proto of google/pprof.
 *
 * A sample is written as its number of frames and their addresses, innermost first. Handlers run on any thread and at any
 * time, so each takes its room by one addition and writes only there; the number of frames is written last. */
#include "daemon/profile.h"

#include <assert.h>
#include <execinfo.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "daemon/symbols.h"

enum {
    SKIPPED_FRAMES = 2, /* the handler's, and the kernel's call of it */
    PERIOD_NS = CLOCK_NS_PER_SECOND / PROFILE_HZ,
};

struct profile {
    _Atomic uintptr_t *words;
    _Atomic size_t n_words;
    _Atomic uint32_t n_samples, n_lost;
    int64_t began_wall_ns, began_mono_ns, ended_mono_ns;
    bool stopped;
};

/* For the handler, which is told nothing but the number of its signal. */
static _Atomic(struct profile *) current;
static _Atomic uint32_t n_in_handler;

/* ---- Taking samples ---- */

static void note(struct profile *p, void *const *frames, size_t n)
{
    size_t at = atomic_fetch_add(&p->n_words, n + 1);
    if (at + n + 1 > PROFILE_WORDS_MAX) {
        atomic_fetch_sub(&p->n_words, n + 1);
        atomic_fetch_add(&p->n_lost, 1);
        return;
    }
    for (size_t i = 0; i < n; i++)
        atomic_store_explicit(&p->words[at + 1 + i], (uintptr_t)frames[i], memory_order_relaxed);
    atomic_store_explicit(&p->words[at], n, memory_order_release);
    atomic_fetch_add(&p->n_samples, 1);
}

static void on_signal(int number)
{
    (void)number;
    void *frames[PROFILE_FRAMES_MAX + SKIPPED_FRAMES];
    atomic_fetch_add(&n_in_handler, 1);
    struct profile *p = atomic_load(&current);
    if (p) {
        int n = backtrace(frames, PROFILE_FRAMES_MAX + SKIPPED_FRAMES);
        if (n > SKIPPED_FRAMES)
            note(p, frames + SKIPPED_FRAMES, (size_t)n - SKIPPED_FRAMES);
    }
    atomic_fetch_sub(&n_in_handler, 1);
}

static void set_timer(int64_t period_us)
{
    struct itimerval every = { .it_interval = { .tv_usec = period_us }, .it_value = { .tv_usec = period_us } };
    int rc = setitimer(ITIMER_PROF, &every, NULL);
    assert(rc == 0);
}

struct profile *profile_start(void)
{
    struct profile *none = NULL, *p = mem_zalloc(sizeof(*p));
    void *first[4];
    size_t n_bytes = PROFILE_WORDS_MAX * sizeof(p->words[0]);
    p->words = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert(p->words != MAP_FAILED);
    p->began_wall_ns = clock_wall_ns(&clock_real);
    p->began_mono_ns = clock_mono_ns(&clock_real);
    backtrace(first, 4); /* the first call loads what it needs, which a handler must not */
    if (!atomic_compare_exchange_strong(&current, &none, p)) {
        p->stopped = true;
        profile_free(p);
        return NULL;
    }
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    sigemptyset(&action.sa_mask);
    sigaction(SIGPROF, &action, NULL); /* stays: a signal may still be on its way when the timer ends */
    set_timer(PERIOD_NS / 1000);
    return p;
}

void profile_stop(struct profile *p)
{
    if (p->stopped)
        return;
    set_timer(0);
    atomic_store(&current, NULL);
    while (atomic_load(&n_in_handler) > 0) /* some microseconds: a stack is being noted */
        sched_yield();
    p->ended_mono_ns = clock_mono_ns(&clock_real);
    p->stopped = true;
}

void profile_free(struct profile *p)
{
    if (!p)
        return;
    profile_stop(p);
    munmap(p->words, PROFILE_WORDS_MAX * sizeof(p->words[0]));
    free(p);
}

uint32_t profile_n_samples(const struct profile *p)
{
    return atomic_load(&p->n_samples);
}

uint32_t profile_n_lost(const struct profile *p)
{
    return atomic_load(&p->n_lost);
}

/* ---- Protobuf ---- */

static void add_varint(struct strbuf *to, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        strbuf_add_char(to, (char)(v | 0x80));
    strbuf_add_char(to, (char)v);
}

static void add_number(struct strbuf *to, uint32_t field, uint64_t v)
{
    add_varint(to, field << 3);
    add_varint(to, v);
}

static void add_bytes(struct strbuf *to, uint32_t field, struct str bytes)
{
    add_varint(to, field << 3 | 2);
    add_varint(to, bytes.n);
    strbuf_add_str(to, bytes);
}

/* The tables of a message under way. */
struct writer {
    struct strbuf *to, part, inner;
    struct symbols *symbols;
    struct map_str strings;   /* text -> index */
    struct map_u64 locations; /* address -> id */
    struct map_str functions; /* name -> id */
    VEC(struct str) texts;
};

static uint64_t string_of(struct writer *w, struct str text)
{
    bool is_new;
    union map_value *v = map_str_put(&w->strings, text, &is_new);
    if (is_new) {
        v->num = w->texts.n;
        vec_push(&w->texts, text);
    }
    return v->num;
}

/* Value types: what is counted, and in what. */
static void add_value_type(struct writer *w, uint32_t field, const char *type, const char *unit)
{
    strbuf_reset(&w->part);
    add_number(&w->part, 1, string_of(w, str_of(type)));
    add_number(&w->part, 2, string_of(w, str_of(unit)));
    add_bytes(w->to, field, strbuf_str(&w->part));
}

static uint64_t function_of(struct writer *w, struct str name)
{
    bool is_new;
    union map_value *v = map_str_put(&w->functions, name, &is_new);
    if (is_new) {
        v->num = w->functions.n;
        uint64_t id = v->num, text = string_of(w, name);
        strbuf_reset(&w->inner);
        add_number(&w->inner, 1, id);
        add_number(&w->inner, 2, text);
        add_number(&w->inner, 3, text);
        add_bytes(w->to, 5, strbuf_str(&w->inner));
        return id;
    }
    return v->num;
}

static uint64_t location_of(struct writer *w, uintptr_t address)
{
    bool is_new;
    union map_value *v = map_u64_put(&w->locations, address, &is_new);
    if (!is_new)
        return v->num;
    uint64_t id = v->num = w->locations.n, function = 0;
    struct str name = symbols_find(w->symbols, address);
    if (name.n)
        function = function_of(w, name);
    struct strbuf line;
    strbuf_init(&line, 64);
    strbuf_reset(&w->inner);
    add_number(&w->inner, 1, id);
    add_number(&w->inner, 3, address);
    if (function) {
        add_number(&line, 1, function);
        add_bytes(&w->inner, 4, strbuf_str(&line));
    }
    add_bytes(w->to, 4, strbuf_str(&w->inner));
    strbuf_fini(&line);
    return id;
}

/* Stacks are not merged: readers add equal ones up themselves. An address is where a call returns to, so the function
 * is the one a byte before; only the innermost frame stands where it is. */
static void add_samples(struct writer *w, const struct profile *p)
{
    size_t n_words = atomic_load(&p->n_words);
    for (size_t at = 0; at < n_words;) {
        size_t n = atomic_load(&p->words[at]);
        struct strbuf ids;
        strbuf_init(&ids, 20 * PROFILE_FRAMES_MAX);
        for (size_t i = 0; i < n; i++)
            add_varint(&ids, location_of(w, atomic_load(&p->words[at + 1 + i]) - (i > 0)));
        strbuf_reset(&w->part);
        add_bytes(&w->part, 1, strbuf_str(&ids));
        strbuf_reset(&ids);
        add_varint(&ids, 1);
        add_varint(&ids, PERIOD_NS);
        add_bytes(&w->part, 2, strbuf_str(&ids));
        add_bytes(w->to, 2, strbuf_str(&w->part));
        strbuf_fini(&ids);
        at += n + 1;
    }
}

static void writer_init(struct writer *w, struct strbuf *to)
{
    *w = (struct writer){ .to = to, .symbols = symbols_new() };
    strbuf_init(&w->part, STRBUF_NO_MAX);
    strbuf_init(&w->inner, STRBUF_NO_MAX);
    map_str_init(&w->strings);
    map_u64_init(&w->locations);
    map_str_init(&w->functions);
    string_of(w, STR("")); /* the first is always empty */
}

static void writer_fini(struct writer *w)
{
    strbuf_fini(&w->part);
    strbuf_fini(&w->inner);
    map_str_fini(&w->strings);
    map_u64_fini(&w->locations);
    map_str_fini(&w->functions);
    vec_fini(&w->texts);
    symbols_free(w->symbols);
}

void profile_write(const struct profile *p, struct strbuf *to)
{
    struct writer w;
    writer_init(&w, to);
    add_value_type(&w, 1, "samples", "count");
    add_value_type(&w, 1, "cpu", "nanoseconds");
    add_samples(&w, p);
    add_number(to, 9, (uint64_t)p->began_wall_ns);
    add_number(to, 10, (uint64_t)(p->ended_mono_ns - p->began_mono_ns));
    add_value_type(&w, 11, "cpu", "nanoseconds");
    add_number(to, 12, PERIOD_NS);
    for (size_t i = 0; i < w.texts.n; i++)
        add_bytes(to, 6, w.texts.at[i]);
    writer_fini(&w);
}
