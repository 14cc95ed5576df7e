/* sim/trace_make.c - see trace_make.h. */
#include "sim/trace_make.h"

#include <math.h>
#include <stdio.h>

#include "base/rand.h"

#define PI 3.14159265358979323846
#define WAVE 0.5 /* how far the rate goes up and down around its mean */
#define DAY_HOURS 24.0

enum { PIECE_BYTES = 1 << 16, DURATION_S_MAX = 86400, SIZES_MAX = 4 };

/* Requests are round numbers that people choose; memory goes with cpu. */
struct kind {
    const char *name;
    int weight;            /* in percent of all jobs */
    int32_t priority;
    const char *cpu[SIZES_MAX], *memory[SIZES_MAX];
    double milli_cpu[SIZES_MAX], mebibytes[SIZES_MAX];
    double median_s, sigma; /* of the log-normal duration */
    double tail;            /* of a Pareto duration from median_s on instead, when not 0 */
    double more_pods;       /* chance of one more pod in the job, again and again */
    uint32_t pods_max;
};

static const struct kind kinds[] = {
    { "query", 50, 0, { "100m", "250m", "500m", "1" }, { "128Mi", "256Mi", "512Mi", "1Gi" },
      { 100, 250, 500, 1000 }, { 128, 256, 512, 1024 }, 45, 1.2, 0, 0.3, 20 },
    { "batch", 33, 0, { "500m", "1", "2", "4" }, { "1Gi", "2Gi", "4Gi", "16Gi" },
      { 500, 1000, 2000, 4000 }, { 1024, 2048, 4096, 16384 }, 420, 1.3, 0, 0.75, 100 },
    { "service", 10, 1000, { "250m", "500m", "1", "2" }, { "512Mi", "1Gi", "2Gi", "8Gi" },
      { 250, 500, 1000, 2000 }, { 512, 1024, 2048, 8192 }, 1800, 0, 1.3, 0.5, 10 },
    { "train", 5, 100, { "4", "8", "8", "16" }, { "16Gi", "32Gi", "64Gi", "64Gi" },
      { 4000, 8000, 8000, 16000 }, { 16384, 32768, 65536, 65536 }, 3600, 1.0, 0, 0.4, 8 },
    { "urgent", 2, 10000, { "500m", "1", "1", "2" }, { "1Gi", "1Gi", "2Gi", "4Gi" },
      { 500, 1000, 1000, 2000 }, { 1024, 1024, 2048, 4096 }, 120, 1.0, 0, 0.2, 5 },
};

struct job {
    const struct kind *kind;
    int size;
    uint32_t count;
    int64_t duration_s;
};

/* ---- Drawing ---- */

/* Over 0, so that its logarithm is there. */
static double positive(struct rand *r)
{
    return 1 - rand_double(r);
}

static double normal(struct rand *r)
{
    double radius = sqrt(-2 * log(positive(r)));
    return radius * cos(2 * PI * rand_double(r));
}

static const struct kind *draw_kind(struct rand *r)
{
    int at = (int)rand_below(r, 100);
    const struct kind *k = kinds;
    while (at >= k->weight)
        at -= k++->weight;
    return k;
}

static int64_t draw_duration(struct rand *r, const struct kind *k)
{
    double seconds =
        k->tail > 0 ? k->median_s * pow(positive(r), -1 / k->tail) : k->median_s * exp(k->sigma * normal(r));
    return seconds < 1 ? 1 : seconds > DURATION_S_MAX ? DURATION_S_MAX : (int64_t)seconds;
}

/* Small sizes are the common ones: each half as likely as the one before. */
static int draw_size(struct rand *r)
{
    int size = 0;
    while (size < SIZES_MAX - 1 && rand_below(r, 2))
        size++;
    return size;
}

static struct job draw_job(struct rand *r, uint64_t pods_left)
{
    struct job j = { .kind = draw_kind(r), .count = 1 };
    j.size = draw_size(r);
    while (j.count < j.kind->pods_max && rand_double(r) < j.kind->more_pods)
        j.count++;
    if (j.count > pods_left)
        j.count = (uint32_t)pods_left;
    j.duration_s = draw_duration(r, j.kind);
    return j;
}

/* ---- Times ---- */

/* The share of all arrivals before an hour, not yet divided by that of the last one. The day begins at midnight, when
 * the rate is lowest. */
static double arrived_by(double hour)
{
    double day = 2 * PI / DAY_HOURS;
    return hour - WAVE * sin(day * hour) / day;
}

static double hour_of(double share, double hours)
{
    double want = share * arrived_by(hours), low = 0, high = hours;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (arrived_by(middle) < want)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- Writing ---- */

struct totals {
    uint64_t n_jobs;
    double milli_cpu_s, mebibyte_s;
};

static struct totals add_up(const struct trace_make *m)
{
    struct totals t = { 0 };
    struct rand jobs;
    rand_init(&jobs, m->seed);
    for (uint64_t left = m->n_pods; left;) {
        struct job j = draw_job(&jobs, left);
        double pod_s = (double)j.count * (double)j.duration_s;
        left -= j.count;
        t.n_jobs++;
        t.milli_cpu_s += pod_s * j.kind->milli_cpu[j.size];
        t.mebibyte_s += pod_s * j.kind->mebibytes[j.size];
    }
    return t;
}

static void add_head(struct strbuf *to, const struct trace_make *m, const struct totals *t)
{
    double seconds = m->hours * 3600;
    strbuf_printf(to, "# made by berth simulate --make-trace %llu --hours %g --seed %llu\n",
                  (unsigned long long)m->n_pods, m->hours, (unsigned long long)m->seed);
    strbuf_printf(
        to, "# %llu lines; with room for all, %.1f cpus and %.1fGi would be requested on average while they arrive\n",
        (unsigned long long)t->n_jobs, t->milli_cpu_s / 1000 / seconds, t->mebibyte_s / 1024 / seconds);
    STRBUF_ADD_LIT(to, "arrival,duration,cpu,memory,priority,count,name\n");
}

static void add_job(struct strbuf *to, int64_t arrival_ms, const struct job *j)
{
    const struct kind *k = j->kind;
    strbuf_printf(to, "%lld.%03d,%lld,%s,%s,%d,%u,%s\n", (long long)(arrival_ms / 1000), (int)(arrival_ms % 1000),
                  (long long)j->duration_s, k->cpu[j->size], k->memory[j->size], k->priority, j->count, k->name);
}

bool trace_make(const struct trace_make *m, bool (*write)(void *context, struct str piece), void *context)
{
    struct totals totals = add_up(m);
    struct rand jobs, times;
    rand_init(&jobs, m->seed);
    rand_init(&times, ~m->seed);
    struct strbuf piece;
    strbuf_init(&piece, STRBUF_NO_MAX);
    add_head(&piece, m, &totals);
    bool going = true;
    double left = 1; /* share of the time that is left: the next of n arrivals, in order, without keeping them */
    uint64_t pods_left = m->n_pods;
    for (uint64_t i = 0; i < totals.n_jobs && going; i++) {
        left *= pow(positive(&times), 1.0 / (double)(totals.n_jobs - i));
        struct job j = draw_job(&jobs, pods_left);
        pods_left -= j.count;
        add_job(&piece, (int64_t)(hour_of(1 - left, m->hours) * 3600000), &j);
        if (piece.n >= PIECE_BYTES) {
            going = write(context, strbuf_str(&piece));
            strbuf_reset(&piece);
        }
    }
    if (going && piece.n)
        going = write(context, strbuf_str(&piece));
    strbuf_fini(&piece);
    return going;
}
