/* sim/trace_report.c - see trace_report.h. */
#include "sim/trace_report.h"

#include <stdio.h>

#include "base/printable.h"
#include "base/table.h"
#include "codec/json.h"
#include "sim/amount_text.h"
#include "sim/trace_chart.h"

enum { PRIORITIES_SHOWN_MAX = 12, REASONS_SHOWN_MAX = 12 };

static int64_t makespan_ms(const struct trace_run *r)
{
    return r->first_arrival_ms < r->changed_ms ? r->changed_ms - r->first_arrival_ms : 0;
}

static double per_hour(const struct trace_run *r, uint64_t n)
{
    int64_t ms = makespan_ms(r);
    return ms > 0 ? (double)n * 3600000 / (double)ms : 0;
}

static double share(double part, int64_t whole)
{
    return whole > 0 ? part / (double)whole : 0;
}

static long long percents(double part, int64_t whole)
{
    return share_percent(share(part, whole));
}

/* A run in which everything happened at once has the level at its end. */
static struct trace_mean mean_of(const struct trace_run *r)
{
    if (r->samples.total.ms)
        return trace_sums_mean(&r->samples.total);
    const struct trace_level *l = &r->level;
    return (struct trace_mean){ (double)l->milli_cpu, (double)l->memory, (double)l->running, (double)l->waiting };
}

/* ---- For people ---- */

static void add_time(struct table *t, int64_t ms)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    trace_add_time(&text, ms);
    table_cell(t, "%s", strbuf_cstr(&text));
    strbuf_fini(&text);
}

static void add_waits(struct table *t, const char *name, struct trace_wait_stats s)
{
    table_row(t);
    table_cell(t, "%s", name);
    table_cell(t, "%llu", (unsigned long long)s.n);
    add_time(t, (int64_t)(s.mean_ms + 0.5));
    add_time(t, s.p50_ms);
    add_time(t, s.p90_ms);
    add_time(t, s.p99_ms);
    add_time(t, s.max_ms);
}

static void add_priorities(struct table *t, const struct trace_run *r)
{
    size_t n = r->waits.by_priority.n;
    for (size_t i = 0; n > 1 && i < n && i < PRIORITIES_SHOWN_MAX; i++)
        add_waits(t, arena_printf(&t->arena, "priority %d", r->waits.by_priority.at[i].priority),
                  trace_waits_stats(&r->waits, &r->waits.by_priority.at[i]));
    if (n > PRIORITIES_SHOWN_MAX)
        table_line(t, "and %zu lower priorities", n - PRIORITIES_SHOWN_MAX);
}

static void add_wait_table(struct strbuf *to, const struct trace_run *r, unsigned width)
{
    static const struct table_column columns[] = {
        { .heading = "WAITED FOR A NODE" },      { .heading = "PODS", .right = true },
        { .heading = "MEAN", .right = true },    { .heading = "P50", .right = true },
        { .heading = "P90", .right = true, .leave_out = 2 }, { .heading = "P99", .right = true, .leave_out = 1 },
        { .heading = "MAX", .right = true },
    };
    struct table t;
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    add_waits(&t, "all", trace_waits_stats(&r->waits, NULL));
    add_priorities(&t, r);
    struct trace_wait_stats again = trace_waits_stats(&r->restart_waits, NULL);
    if (again.n)
        add_waits(&t, "again, once preempted", again);
    strbuf_add_char(to, '\n');
    table_write(&t, to, width);
    table_fini(&t);
}

static void add_use(struct strbuf *to, const struct trace_run *r, bool unicode, unsigned width)
{
    struct trace_mean mean = mean_of(r);
    const struct trace_level *peak = &r->samples.peak;
    const struct sim_amounts *whole = &r->capacity;
    struct trace_chart chart = { .samples = &r->samples, .labels = { "100%", "0%" },
                                 .unicode = unicode, .width = width };
    struct arena a;
    arena_init(&a);
    strbuf_printf(to, "\nCPU requested: mean %lld%%, peak %lld%% of %s\n", percents(mean.milli_cpu, whole->milli_cpu),
                  percents((double)peak->milli_cpu, whole->milli_cpu), cpu_text(&a, whole->milli_cpu));
    chart.series = SERIES_CPU;
    chart.top = whole->milli_cpu > 0 ? (double)whole->milli_cpu : 1;
    trace_chart(to, &chart);
    strbuf_printf(to, "\nMemory requested: mean %lld%%, peak %lld%% of %s\n", percents(mean.memory, whole->memory),
                  percents((double)peak->memory, whole->memory), memory_text(&a, whole->memory));
    arena_fini(&a);
    chart.series = SERIES_MEMORY;
    chart.top = whole->memory > 0 ? (double)whole->memory : 1;
    trace_chart(to, &chart);
}

static void add_queue(struct strbuf *to, const struct trace_run *r, bool unicode, unsigned width)
{
    int64_t peak = r->samples.peak.waiting;
    strbuf_printf(to, "\nPods waiting: mean %.1f, most %lld\n", mean_of(r).waiting, (long long)peak);
    double top = trace_chart_top(&r->samples, SERIES_WAITING, width);
    if (top <= 0)
        return;
    char label[32];
    snprintf(label, sizeof(label), top < 10 ? "%.1f" : "%.0f", top);
    trace_chart(to, &(struct trace_chart){ &r->samples, SERIES_WAITING, top, { label, "0" }, unicode, width });
}

static void add_reasons(struct strbuf *to, const struct trace_run *r)
{
    if (!r->reasons.n)
        return;
    STRBUF_ADD_LIT(to, "\nStill waiting at the end\n");
    for (size_t i = 0; i < r->reasons.n && i < REASONS_SHOWN_MAX; i++) {
        const struct trace_reason *reason = &r->reasons.at[i];
        printable_printf(to, "  %7llu  %s (%s%s)\n", (unsigned long long)reason->n_pods, reason->message,
                         reason->example, reason->n_pods > 1 ? ", ..." : "");
    }
    if (r->reasons.n > REASONS_SHOWN_MAX)
        strbuf_printf(to, "  and %zu other reasons\n", r->reasons.n - REASONS_SHOWN_MAX);
}

static void add_numbers(struct strbuf *to, const struct trace_run *r)
{
    const struct trace_counts *n = &r->counts;
    strbuf_printf(to,
                  "%zu node%s, %llu pod%s on %s; %llu pod%s arrived, %llu started, %llu finished; at the end %lld run, "
                  "%lld wait\n",
                  r->world->nodes.n, r->world->nodes.n == 1 ? "" : "s", (unsigned long long)n->given,
                  n->given == 1 ? "" : "s", r->world->nodes.n == 1 ? "it" : "them", (unsigned long long)n->arrived,
                  n->arrived == 1 ? "" : "s",
                  (unsigned long long)n->started, (unsigned long long)n->finished, (long long)r->level.running,
                  (long long)r->level.waiting);
    trace_add_time(to, makespan_ms(r));
    strbuf_printf(
        to, " from the first arrival to the last change; %.1f pods started and %.1f finished an hour; %llu attempts\n",
        per_hour(r, n->started), per_hour(r, n->finished), (unsigned long long)r->attempts);
    if (n->preemptions) {
        strbuf_printf(to, "%llu preemptions; ", (unsigned long long)n->preemptions);
        trace_add_time(to, r->lost_ms > INT64_MAX ? INT64_MAX : (int64_t)r->lost_ms);
        STRBUF_ADD_LIT(to, " of running in vain");
        if (n->lost)
            strbuf_printf(to, "; %llu pods are gone, nobody makes them again", (unsigned long long)n->lost);
        strbuf_add_char(to, '\n');
    }
    if (r->cut)
        STRBUF_ADD_LIT(to, "cut off: the run was longer than 1000 years\n");
}

void trace_report_text(struct strbuf *to, const struct trace_run *r, bool unicode, unsigned width)
{
    add_numbers(to, r);
    add_wait_table(to, r, width);
    add_use(to, r, unicode, width);
    add_queue(to, r, unicode, width);
    add_reasons(to, r);
}

/* ---- For programs ---- */

/* At most so many decimals, none that says nothing. */
static void add_decimals(struct strbuf *to, double value, int n_decimals)
{
    char text[400];
    int n = snprintf(text, sizeof(text), "%.*f", n_decimals, value);
    while (n > 1 && text[n - 1] == '0')
        n--;
    n -= n > 1 && text[n - 1] == '.';
    strbuf_add(to, text, (size_t)n);
}

static void add_member(struct strbuf *to, const char *name, double value)
{
    strbuf_printf(to, "\"%s\":", name);
    add_decimals(to, value, 3);
}

/* A share of 1, rounded as the percents of the text are. */
static void add_share(struct strbuf *to, const char *name, double value)
{
    strbuf_printf(to, "\"%s\":", name);
    add_decimals(to, share_rounded(value), 5);
}

static void add_seconds(struct strbuf *to, const char *name, int64_t ms)
{
    strbuf_printf(to, "\"%s\":%lld", name, (long long)(ms / 1000));
    if (ms % 1000)
        strbuf_printf(to, ".%03d", (int)(ms % 1000));
}

static void add_wait_members(struct strbuf *to, struct trace_wait_stats s)
{
    add_seconds(to, "p50", s.p50_ms);
    strbuf_add_char(to, ',');
    add_seconds(to, "p90", s.p90_ms);
    strbuf_add_char(to, ',');
    add_seconds(to, "p99", s.p99_ms);
    strbuf_add_char(to, ',');
    add_seconds(to, "max", s.max_ms);
    strbuf_add_char(to, ',');
    add_member(to, "mean", s.mean_ms / 1000);
    strbuf_printf(to, ",\"pods\":%llu}", (unsigned long long)s.n);
}

static void add_waits_json(struct strbuf *to, const struct trace_run *r)
{
    STRBUF_ADD_LIT(to, ",\n\"waitSeconds\":{");
    add_wait_members(to, trace_waits_stats(&r->waits, NULL));
    STRBUF_ADD_LIT(to, ",\n\"waitSecondsByPriority\":[");
    for (size_t i = 0; i < r->waits.by_priority.n; i++) {
        strbuf_printf(to, "%s{\"priority\":%d,", i ? ",\n" : "\n", r->waits.by_priority.at[i].priority);
        add_wait_members(to, trace_waits_stats(&r->waits, &r->waits.by_priority.at[i]));
    }
    STRBUF_ADD_LIT(to, "],\n\"restartWaitSeconds\":{");
    add_wait_members(to, trace_waits_stats(&r->restart_waits, NULL));
}

static void add_share_json(struct strbuf *to, const char *name, double mean, double peak, int64_t whole)
{
    strbuf_printf(to, "\"%s\":{", name);
    add_share(to, "mean", share(mean, whole));
    strbuf_add_char(to, ',');
    add_share(to, "peak", share(peak, whole));
    strbuf_add_char(to, '}');
}

static void add_use_json(struct strbuf *to, const struct trace_run *r)
{
    struct trace_mean mean = mean_of(r);
    const struct trace_level *peak = &r->samples.peak;
    const struct sim_amounts *c = &r->capacity;
    strbuf_printf(to, ",\n\"capacity\":{\"cpuMilli\":%lld,\"memoryBytes\":%lld,\"pods\":%lld},\n\"utilization\":{",
                  (long long)c->milli_cpu, (long long)c->memory, (long long)c->pods);
    add_share_json(to, "cpu", mean.milli_cpu, (double)peak->milli_cpu, c->milli_cpu);
    strbuf_add_char(to, ',');
    add_share_json(to, "memory", mean.memory, (double)peak->memory, c->memory);
    strbuf_add_char(to, ',');
    add_share_json(to, "pods", mean.running, (double)peak->running, c->pods);
    STRBUF_ADD_LIT(to, "},\n\"queue\":{");
    add_member(to, "mean", mean.waiting);
    strbuf_printf(to, ",\"max\":%lld}", (long long)peak->waiting);
}

static void add_counts_json(struct strbuf *to, const struct trace_run *r)
{
    const struct trace_counts *n = &r->counts;
    strbuf_printf(to, "{\"pods\":{\"given\":%llu,\"arrived\":%llu,\"started\":%llu,\"finished\":%llu,\"running\":%lld,"
                      "\"waiting\":%lld,\"lost\":%llu},\n",
                  (unsigned long long)n->given, (unsigned long long)n->arrived, (unsigned long long)n->started,
                  (unsigned long long)n->finished, (long long)r->level.running, (long long)r->level.waiting,
                  (unsigned long long)n->lost);
    add_seconds(to, "makespanSeconds", makespan_ms(r));
    strbuf_add_char(to, ',');
    add_seconds(to, "endSeconds", r->changed_ms);
    strbuf_add_char(to, ',');
    add_member(to, "throughputPerHour", per_hour(r, n->started));
    strbuf_add_char(to, ',');
    add_member(to, "finishedPerHour", per_hour(r, n->finished));
    strbuf_printf(to, ",\"attempts\":%llu,", (unsigned long long)r->attempts);
    add_member(to, "attemptsPerHour", per_hour(r, r->attempts));
    strbuf_printf(to, ",\"preemptions\":%llu,", (unsigned long long)n->preemptions);
    add_member(to, "lostSeconds", (double)r->lost_ms / 1000);
    strbuf_printf(to, ",\"cut\":%s", r->cut ? "true" : "false");
}

static void add_sample(struct strbuf *to, int64_t time_ms, struct trace_mean mean)
{
    strbuf_add_char(to, '{');
    add_seconds(to, "timeSeconds", time_ms);
    strbuf_add_char(to, ',');
    add_member(to, "cpuMilli", mean.milli_cpu);
    strbuf_add_char(to, ',');
    add_member(to, "memoryBytes", mean.memory);
    strbuf_add_char(to, ',');
    add_member(to, "running", mean.running);
    strbuf_add_char(to, ',');
    add_member(to, "waiting", mean.waiting);
    strbuf_add_char(to, '}');
}

/* There is always one, also when everything happened at once. */
static void add_samples(struct strbuf *to, const struct trace_run *r)
{
    STRBUF_ADD_LIT(to, ",\n");
    add_seconds(to, "sampleSeconds", r->samples.width_ms);
    STRBUF_ADD_LIT(to, ",\n\"samples\":[\n");
    for (uint32_t i = 0; i < r->samples.n; i++) {
        strbuf_add_text(to, i ? ",\n" : "");
        add_sample(to, i * r->samples.width_ms, trace_sums_mean(&r->samples.at[i]));
    }
    if (!r->samples.n)
        add_sample(to, 0, mean_of(r));
    strbuf_add_char(to, ']');
}

static void add_reasons_json(struct strbuf *to, const struct trace_run *r)
{
    STRBUF_ADD_LIT(to, ",\n\"stillWaiting\":[");
    for (size_t i = 0; i < r->reasons.n; i++) {
        strbuf_printf(to, "%s{\"pods\":%llu,\"message\":", i ? ",\n" : "\n",
                      (unsigned long long)r->reasons.at[i].n_pods);
        json_add_string(to, str_of(r->reasons.at[i].message));
        STRBUF_ADD_LIT(to, ",\"example\":");
        json_add_string(to, str_of(r->reasons.at[i].example));
        strbuf_add_char(to, '}');
    }
    strbuf_add_char(to, ']');
}

void trace_report_json(struct strbuf *to, const struct trace_run *r)
{
    add_counts_json(to, r);
    add_waits_json(to, r);
    add_use_json(to, r);
    add_reasons_json(to, r);
    add_samples(to, r);
    strbuf_add_char(to, '}');
}
