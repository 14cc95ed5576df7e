/* cmd/bench_live_report.c - the figures of a run; see bench_live.h. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/bench_live_priv.h"

/* ---- The scheduler's process ---- */

static bool read_cpu(pid_t pid, double *ret_seconds)
{
    char path[64], text[1024];
    unsigned long long user, system;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = '\0';
    const char *behind = strrchr(text, ')'); /* a name may hold anything */
    if (!behind || sscanf(behind + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system) != 2)
        return false;
    *ret_seconds = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
    return true;
}

static void read_rss(pid_t pid, struct live_process *p)
{
    char path[64], line[256];
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof(line), f)) {
        long kib;
        if (sscanf(line, "VmRSS: %ld kB", &kib) == 1)
            p->rss_bytes = kib * 1024;
        else if (sscanf(line, "VmHWM: %ld kB", &kib) == 1)
            p->rss_bytes_max = kib * 1024;
    }
    if (f)
        fclose(f);
}

struct live_process live_process_look(pid_t pid)
{
    struct live_process p = { 0 };
    p.known = pid && read_cpu(pid, &p.cpu_seconds);
    if (p.known)
        read_rss(pid, &p);
    return p;
}

/* ---- Figures ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value below which a share of all are; `at` is sorted. */
static double share(const double *at, size_t n, double part)
{
    size_t i = (size_t)((double)n * part);
    return n ? at[i < n ? i : n - 1] : 0;
}

static void find_times(const struct live *l, const struct live_group *g, struct bench_live_result *r, double *ms)
{
    size_t n = 0;
    int64_t first = l->created_ns[g->first], last = first;
    for (uint32_t i = g->first; i < g->first + g->n; i++) {
        if (!l->bound_ns[i])
            continue;
        ms[n++] = (double)(l->bound_ns[i] - l->created_ns[i]) / 1e6;
        last = l->bound_ns[i] > last ? l->bound_ns[i] : last;
    }
    qsort(ms, n, sizeof(*ms), compare);
    r->n_bound = (uint32_t)n;
    r->seconds = (double)(last - first) / 1e9;
    r->throughput = r->seconds > 0 ? (double)n / r->seconds : 0;
    r->bound_ms_p50 = share(ms, n, 0.5);
    r->bound_ms_p99 = share(ms, n, 0.99);
    r->bound_ms_p999 = share(ms, n, 0.999);
    r->bound_ms_max = share(ms, n, 1);
}

/* Pods of each whole second. */
static void find_intervals(const struct live *l, const struct live_group *g, struct bench_live_result *r)
{
    size_t n = (size_t)r->seconds;
    double *counts = mem_zalloc(mem_product(n + 1, sizeof(*counts)));
    for (uint32_t i = g->first; i < g->first + g->n; i++) {
        int64_t second = l->bound_ns[i] ? (l->bound_ns[i] - l->created_ns[g->first]) / CLOCK_NS_PER_SECOND : -1;
        if (second >= 0 && (size_t)second < n)
            counts[second]++;
    }
    qsort(counts, n, sizeof(*counts), compare);
    r->n_intervals = (uint32_t)n;
    r->interval_p50 = share(counts, n, 0.5);
    r->interval_min = share(counts, n, 0);
    r->interval_max = share(counts, n, 1);
    free(counts);
}

void live_figures(const struct live *l, const struct live_group *g, struct bench_live_result *ret)
{
    double *ms = mem_alloc(mem_product(g->n, sizeof(*ms)));
    ret->n_measured = g->n;
    find_times(l, g, ret, ms);
    find_intervals(l, g, ret);
    free(ms);
}

/* ---- Output ---- */

static double cpu_per_1000(const struct bench_live_result *r)
{
    return r->n_bound ? r->cpu_seconds * 1000 / r->n_bound : 0;
}

static void add_json(struct strbuf *to, const struct live *l, const struct bench_live_result *r)
{
    strbuf_printf(to,
                  "{\"name\":\"%s\",\"nodes\":%u,\"init_pods\":%u,\"pods\":%u,\"bound\":%u,\"seconds\":%.4f,"
                  "\"create_seconds\":%.4f,\"throughput\":%.1f,\"intervals\":%u,\"interval_p50\":%.0f,"
                  "\"interval_min\":%.0f,\"interval_max\":%.0f,"
                  "\"create_to_bound_ms\":{\"p50\":%.2f,\"p99\":%.2f,\"p99.9\":%.2f,\"max\":%.2f}",
                  l->w->name, l->w->n_nodes, l->w->n_init_pods, r->n_measured, r->n_bound, r->seconds,
                  r->create_seconds, r->throughput, r->n_intervals, r->interval_p50,
                  r->interval_min, r->interval_max, r->bound_ms_p50,
                  r->bound_ms_p99, r->bound_ms_p999, r->bound_ms_max);
    if (r->has_process)
        strbuf_printf(to,
                      ",\"scheduler\":{\"cpu_seconds\":%.2f,\"cpu_seconds_per_1000\":%.4f,\"rss_bytes\":%ld,"
                      "\"rss_bytes_max\":%ld}",
                      r->cpu_seconds, cpu_per_1000(r), r->rss_bytes, r->rss_bytes_max);
    STRBUF_ADD_LIT(to, "}\n");
}

static void add_text(struct strbuf *to, const struct live *l, const struct bench_live_result *r)
{
    strbuf_printf(to, "%-50s %8.0f %8.0f %9.1f %9.1f %9.1f", l->w->name, r->throughput, r->interval_p50,
                  r->bound_ms_p50, r->bound_ms_p99, r->bound_ms_p999);
    if (r->has_process)
        strbuf_printf(to, " %9.3f %7ld", cpu_per_1000(r), r->rss_bytes >> 20);
    strbuf_add_char(to, '\n');
}

static int print(const struct bench_live_options *o, struct strbuf *text)
{
    int code = cmd_print(o->c, o->json ? CMD_JSON : CMD_TEXT, strbuf_str(text));
    strbuf_fini(text);
    return code;
}

int bench_live_heading(const struct bench_live_options *o)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    if (!o->json)
        strbuf_printf(&text, "%-50s %8s %8s %9s %9s %9s%s\n", "workload", "pods/s", "p50 1 s", "p50 ms", "p99 ms",
                      "p99.9 ms", o->scheduler_pid ? " CPU s/1k     MiB" : "");
    return print(o, &text);
}

int live_print(const struct live *l, const struct bench_live_result *r)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    (l->o->json ? add_json : add_text)(&text, l, r);
    return print(l->o, &text);
}
