/* sim/trace_stats.c - see trace_stats.h. */
#include "sim/trace_stats.h"

enum { FIRST_WIDTH_MS = 1000 };

/* ---- Levels ---- */

void trace_samples_init(struct trace_samples *s)
{
    *s = (struct trace_samples){ .width_ms = FIRST_WIDTH_MS };
}

static void add_sums(struct trace_sums *to, const struct trace_sums *s)
{
    to->milli_cpu += s->milli_cpu;
    to->memory += s->memory;
    to->running += s->running;
    to->waiting += s->waiting;
    to->ms += s->ms;
}

static void add_level(struct trace_sums *to, const struct trace_level *level, int64_t ms)
{
    add_sums(to, &(struct trace_sums){ (__int128)level->milli_cpu * ms, (__int128)level->memory * ms,
                                       (__int128)level->running * ms, (__int128)level->waiting * ms, ms });
}

/* Two become one. */
static void widen(struct trace_samples *s)
{
    for (uint32_t i = 0; i < s->n; i += 2) {
        struct trace_sums sum = s->at[i];
        if (i + 1 < s->n)
            add_sums(&sum, &s->at[i + 1]);
        s->at[i / 2] = sum;
    }
    s->n = (s->n + 1) / 2;
    s->width_ms *= 2;
}

void trace_samples_add(struct trace_samples *s, const struct trace_level *level, int64_t from_ms, int64_t to_ms)
{
    add_level(&s->total, level, to_ms - from_ms);
    while (to_ms > s->width_ms * TRACE_SAMPLES_MAX)
        widen(s);
    while (from_ms < to_ms) {
        int64_t i = from_ms / s->width_ms, end_ms = (i + 1) * s->width_ms;
        if (end_ms > to_ms)
            end_ms = to_ms;
        if (i >= s->n) {
            s->at[i] = (struct trace_sums){ 0 };
            s->n = (uint32_t)i + 1;
        }
        add_level(&s->at[i], level, end_ms - from_ms);
        from_ms = end_ms;
    }
}

static void raise_to(int64_t *peak, int64_t value)
{
    if (*peak < value)
        *peak = value;
}

void trace_samples_peak(struct trace_samples *s, const struct trace_level *level)
{
    raise_to(&s->peak.milli_cpu, level->milli_cpu);
    raise_to(&s->peak.memory, level->memory);
    raise_to(&s->peak.running, level->running);
    raise_to(&s->peak.waiting, level->waiting);
}

struct trace_mean trace_sums_mean(const struct trace_sums *s)
{
    double ms = s->ms > 0 ? (double)s->ms : 1;
    return (struct trace_mean){ (double)s->milli_cpu / ms, (double)s->memory / ms, (double)s->running / ms,
                                (double)s->waiting / ms };
}

/* ---- Waits ---- */

void trace_waits_init(struct trace_waits *w)
{
    *w = (struct trace_waits){ .by_priority = { 0 } };
}

void trace_waits_fini(struct trace_waits *w)
{
    for (size_t i = 0; i < w->by_priority.n; i++)
        map_u64_fini(&w->by_priority.at[i].counts);
    vec_fini(&w->by_priority);
}

/* Where the priority is, or belongs. */
static size_t find_priority(const struct trace_waits *w, int32_t priority)
{
    size_t low = 0, high = w->by_priority.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->by_priority.at[middle].priority > priority)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void trace_waits_add(struct trace_waits *w, int32_t priority, int64_t wait_ms)
{
    size_t i = find_priority(w, priority);
    if (i == w->by_priority.n || w->by_priority.at[i].priority != priority) {
        struct trace_priority_waits waits = { .priority = priority };
        map_u64_init(&waits.counts);
        vec_insert(&w->by_priority, i, waits);
    }
    map_u64_put(&w->by_priority.at[i].counts, (uint64_t)wait_ms, NULL)->num++;
}

struct length {
    uint64_t ms, n;
};
typedef VEC(struct length) length_vec;

static int compare_lengths(const void *a, const void *b)
{
    uint64_t x = ((const struct length *)a)->ms, y = ((const struct length *)b)->ms;
    return (x > y) - (x < y);
}

static void add_lengths(length_vec *to, const struct trace_priority_waits *waits)
{
    for (struct map_u64_slot *s = NULL; (s = map_u64_next(&waits->counts, s));)
        vec_push(to, (struct length){ s->key, s->value.num });
}

/* The wait at a rank from 1 on. */
static int64_t at_rank(const length_vec *lengths, uint64_t rank)
{
    uint64_t n = 0;
    for (size_t i = 0; i < lengths->n; i++) {
        n += lengths->at[i].n;
        if (n >= rank)
            return (int64_t)lengths->at[i].ms;
    }
    return 0;
}

static uint64_t rank_of(uint64_t percent, uint64_t n)
{
    return (percent * n + 99) / 100;
}

struct trace_wait_stats trace_waits_stats(const struct trace_waits *w, const struct trace_priority_waits *one)
{
    length_vec lengths = { 0 };
    for (size_t i = 0; !one && i < w->by_priority.n; i++)
        add_lengths(&lengths, &w->by_priority.at[i]);
    if (one)
        add_lengths(&lengths, one);
    struct trace_wait_stats stats = { 0 };
    if (!lengths.n)
        return stats;
    qsort(lengths.at, lengths.n, sizeof(*lengths.at), compare_lengths);
    __int128 sum = 0;
    for (size_t i = 0; i < lengths.n; i++) {
        stats.n += lengths.at[i].n;
        sum += (__int128)lengths.at[i].ms * (int64_t)lengths.at[i].n;
    }
    stats.mean_ms = (double)sum / (double)stats.n;
    stats.p50_ms = at_rank(&lengths, rank_of(50, stats.n));
    stats.p90_ms = at_rank(&lengths, rank_of(90, stats.n));
    stats.p99_ms = at_rank(&lengths, rank_of(99, stats.n));
    stats.max_ms = (int64_t)vec_last(&lengths)->ms;
    vec_fini(&lengths);
    return stats;
}
