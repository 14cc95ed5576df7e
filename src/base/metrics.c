/* base/metrics.c - see metrics.h.
 *
 * Both lists (metrics by name, series by label values) are kept sorted when something is added, so
 * writing only walks them. Label values are stored in the order of the label names, since that is how they
 * are shown and sorted. */
#include "base/metrics.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/float.h"
#include "base/map.h"
#include "base/utf8.h"
#include "base/vec.h"

enum metric_kind { COUNTER, GAUGE, HISTOGRAM };

static const char *const kind_names[] = { "counter", "gauge", "histogram" };

struct series {
    const struct metric *metric;
    const struct str *values; /* in the order of the label names */
    _Atomic double value;     /* of a histogram: the sum */
    double (*read)(void *context); /* NULL: value holds it */
    void *context;
    _Atomic uint64_t counts[]; /* of a histogram: n_bounds + 1, not cumulative */
};

struct metric {
    struct metrics *owner;
    enum metric_kind kind;
    const char *name, *help;
    uint32_t n_labels, n_series_max, n_bounds;
    const char *labels[METRIC_LABELS_MAX];  /* sorted */
    uint32_t given_index[METRIC_LABELS_MAX]; /* of the sorted label in the description */
    const double *bounds;
    VEC(struct series *) sorted;
    struct map_str by_key;
    struct series *overflow; /* takes what finds no room */
};

struct metrics {
    pthread_mutex_t lock;
    struct arena arena; /* metrics, series, texts */
    VEC(struct metric *) sorted;
    _Atomic uint64_t n_dropped;
};

/* ---- Registry ---- */

struct metrics *metrics_new(void)
{
    struct metrics *m = mem_zalloc(sizeof(*m));
    pthread_mutex_init(&m->lock, NULL);
    arena_init(&m->arena);
    return m;
}

void metrics_free(struct metrics *m)
{
    for (size_t i = 0; i < m->sorted.n; i++) {
        vec_fini(&m->sorted.at[i]->sorted);
        map_str_fini(&m->sorted.at[i]->by_key);
    }
    vec_fini(&m->sorted);
    arena_fini(&m->arena);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static void check_name(const char *name)
{
    assert(isalpha((unsigned char)name[0]) || name[0] == '_' || name[0] == ':');
    for (const char *at = name; *at; at++)
        assert(isalnum((unsigned char)*at) || *at == '_' || *at == ':');
}

/* Insertion sort: there are few labels. */
static void copy_labels(struct metric *metric, const struct metric_desc *desc)
{
    for (uint32_t i = 0; desc->labels[i]; i++) {
        assert(i < METRIC_LABELS_MAX);
        check_name(desc->labels[i]);
        uint32_t at = metric->n_labels++;
        for (; at > 0 && strcmp(metric->labels[at - 1], desc->labels[i]) > 0; at--) {
            metric->labels[at] = metric->labels[at - 1];
            metric->given_index[at] = metric->given_index[at - 1];
        }
        metric->labels[at] = arena_cstr(&metric->owner->arena, str_of(desc->labels[i]));
        metric->given_index[at] = i;
    }
}

static struct series *new_series(struct metric *metric, const struct str *values)
{
    struct arena *a = &metric->owner->arena;
    size_t n_counts = metric->kind == HISTOGRAM ? metric->n_bounds + 1 : 0;
    struct series *s = arena_zalloc(a, sizeof(*s) + n_counts * sizeof(s->counts[0]));
    struct str *copies = ARENA_NEW_N(a, struct str, metric->n_labels);
    for (uint32_t i = 0; values && i < metric->n_labels; i++)
        copies[i] = arena_str(a, values[i]);
    s->metric = metric;
    s->values = copies;
    return s;
}

static void insert_metric(struct metrics *m, struct metric *metric)
{
    size_t at = m->sorted.n;
    while (at > 0 && strcmp(m->sorted.at[at - 1]->name, metric->name) > 0)
        at--;
    assert(at == 0 || strcmp(m->sorted.at[at - 1]->name, metric->name) != 0);
    vec_insert(&m->sorted, at, metric);
}

static struct metric *add_metric(struct metrics *m, enum metric_kind kind, const struct metric_desc *desc,
                                 const double *bounds, uint32_t n_bounds)
{
    check_name(desc->name);
    pthread_mutex_lock(&m->lock);
    struct metric *metric = ARENA_NEW(&m->arena, struct metric);
    metric->owner = m;
    metric->kind = kind;
    metric->name = arena_cstr(&m->arena, str_of(desc->name));
    metric->help = arena_cstr(&m->arena, str_of(desc->help));
    metric->n_series_max = desc->n_series_max ? desc->n_series_max : METRIC_SERIES_MAX;
    copy_labels(metric, desc);
    double *copy = ARENA_NEW_N(&m->arena, double, n_bounds);
    for (uint32_t i = 0; i < n_bounds; i++)
        copy[i] = bounds[i];
    metric->bounds = copy;
    metric->n_bounds = n_bounds;
    map_str_init(&metric->by_key);
    metric->overflow = new_series(metric, NULL);
    insert_metric(m, metric);
    pthread_mutex_unlock(&m->lock);
    if (metric->n_labels == 0)
        metric_series(metric, NULL);
    return metric;
}

struct metric *metrics_add_counter(struct metrics *m, const struct metric_desc *desc)
{
    return add_metric(m, COUNTER, desc, NULL, 0);
}

struct metric *metrics_add_gauge(struct metrics *m, const struct metric_desc *desc)
{
    return add_metric(m, GAUGE, desc, NULL, 0);
}

struct metric *metrics_add_histogram(struct metrics *m, const struct metric_desc *desc, const double *bounds,
                                     uint32_t n_bounds)
{
    for (uint32_t i = 0; i < n_bounds; i++)
        assert(isfinite(bounds[i]) && (i == 0 || bounds[i] > bounds[i - 1]));
    return add_metric(m, HISTOGRAM, desc, bounds, n_bounds);
}

void metrics_linear_bounds(double start, double width, uint32_t n, double *ret_bounds)
{
    for (uint32_t i = 0; i < n; i++, start += width)
        ret_bounds[i] = start;
}

void metrics_exponential_bounds(double start, double factor, uint32_t n, double *ret_bounds)
{
    for (uint32_t i = 0; i < n; i++, start *= factor)
        ret_bounds[i] = start;
}

/* ---- Series ---- */

static int compare_values(const struct metric *metric, const struct str *a, const struct str *b)
{
    int order = 0;
    for (uint32_t i = 0; i < metric->n_labels && order == 0; i++)
        order = str_cmp(a[i], b[i]);
    return order;
}

static void insert_series(struct metric *metric, struct series *s)
{
    size_t low = 0, high = metric->sorted.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_values(metric, metric->sorted.at[middle]->values, s->values) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    vec_insert(&metric->sorted, low, s);
}

/* All values in one text, each after its length, so that different sets never look alike. */
static void add_key(struct strbuf *b, const struct metric *metric, const struct str *values)
{
    for (uint32_t i = 0; i < metric->n_labels; i++) {
        strbuf_add_uint(b, values[i].n);
        strbuf_add_char(b, ':');
        strbuf_add_str(b, values[i]);
    }
}

static struct series *drop(struct metric *metric)
{
    atomic_fetch_add_explicit(&metric->owner->n_dropped, 1, memory_order_relaxed);
    return metric->overflow;
}

/* Locked. */
static struct series *find_or_add(struct metric *metric, const struct str *values, struct str key)
{
    union map_value *found = map_str_find(&metric->by_key, key);
    if (found)
        return found->ptr;
    if (metric->sorted.n >= metric->n_series_max)
        return drop(metric);
    struct series *s = new_series(metric, values);
    map_str_put(&metric->by_key, arena_str(&metric->owner->arena, key), NULL)->ptr = s;
    insert_series(metric, s);
    return s;
}

struct series *metric_series(struct metric *metric, const struct str *values)
{
    struct str sorted[METRIC_LABELS_MAX];
    for (uint32_t i = 0; i < metric->n_labels; i++) {
        sorted[i] = values[metric->given_index[i]];
        if (sorted[i].n > METRIC_VALUE_BYTES_MAX)
            return drop(metric);
    }
    struct strbuf key;
    strbuf_init(&key, STRBUF_NO_MAX);
    add_key(&key, metric, sorted);
    pthread_mutex_lock(&metric->owner->lock);
    struct series *s = find_or_add(metric, sorted, strbuf_str(&key));
    pthread_mutex_unlock(&metric->owner->lock);
    strbuf_fini(&key);
    return s;
}

/* ---- Values ---- */

static void add_value(struct series *s, double amount)
{
    double was = atomic_load_explicit(&s->value, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&s->value, &was, was + amount, memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
}

void series_add(struct series *s, double amount)
{
    assert(s->metric->kind != HISTOGRAM);
    assert(s->metric->kind == GAUGE || amount >= 0);
    add_value(s, amount);
}

void series_inc(struct series *s)
{
    series_add(s, 1);
}

void series_set(struct series *s, double value)
{
    assert(s->metric->kind == GAUGE);
    atomic_store_explicit(&s->value, value, memory_order_relaxed);
}

void series_observe(struct series *s, double value)
{
    const struct metric *metric = s->metric;
    assert(metric->kind == HISTOGRAM);
    uint32_t i = 0;
    while (i < metric->n_bounds && !(value <= metric->bounds[i])) /* NaN goes to the last */
        i++;
    atomic_fetch_add_explicit(&s->counts[i], 1, memory_order_relaxed);
    add_value(s, value);
}

void series_read_from(struct series *s, double (*read)(void *context), void *context)
{
    assert(s->metric->kind != HISTOGRAM);
    pthread_mutex_lock(&s->metric->owner->lock);
    s->read = read;
    s->context = context;
    pthread_mutex_unlock(&s->metric->owner->lock);
}

double series_value(const struct series *s)
{
    if (s->metric->kind != HISTOGRAM)
        return s->read ? s->read(s->context) : atomic_load_explicit(&s->value, memory_order_relaxed);
    uint64_t n = 0;
    for (uint32_t i = 0; i <= s->metric->n_bounds; i++)
        n += atomic_load_explicit(&s->counts[i], memory_order_relaxed);
    return (double)n;
}

/* ---- Text ---- */

/* Bytes that are not UTF-8 become U+FFFD: one bad label must not spoil the page for the reader. */
static void add_escaped(struct strbuf *b, struct str s, bool quotes)
{
    for (size_t at = 0, n; at < s.n; at += n ? n : 1) {
        char c = s.p[at];
        uint32_t rune;
        n = utf8_decode(str_from(s, at), &rune);
        if (!n)
            STRBUF_ADD_LIT(b, "\xEF\xBF\xBD");
        else if (c == '\n')
            STRBUF_ADD_LIT(b, "\\n");
        else if (c == '\\' || (c == '"' && quotes))
            strbuf_add(b, (char[]){ '\\', c }, 2);
        else
            strbuf_add(b, s.p + at, n);
    }
}

/* Numbers as values: no sign on zero. */
static void add_number(struct strbuf *b, double x)
{
    float_add_g(b, x == 0 ? 0 : x);
}

static void open_label(struct strbuf *b, bool first, const char *name)
{
    strbuf_add_char(b, first ? '{' : ',');
    strbuf_add_text(b, name);
    STRBUF_ADD_LIT(b, "=\"");
}

/* name_suffix{labels,le="bound"} and a space; le may be NULL. */
static void add_sample_name(struct strbuf *b, const struct series *s, const char *suffix, const double *le)
{
    const struct metric *metric = s->metric;
    strbuf_add_text(b, metric->name);
    strbuf_add_text(b, suffix);
    for (uint32_t i = 0; i < metric->n_labels; i++) {
        open_label(b, i == 0, metric->labels[i]);
        add_escaped(b, s->values[i], true);
        strbuf_add_char(b, '"');
    }
    if (le) {
        open_label(b, metric->n_labels == 0, "le");
        add_number(b, *le);
        strbuf_add_char(b, '"');
    }
    if (le || metric->n_labels)
        strbuf_add_char(b, '}');
    strbuf_add_char(b, ' ');
}

static void write_histogram(struct strbuf *b, const struct series *s)
{
    const struct metric *metric = s->metric;
    uint64_t n = 0;
    for (uint32_t i = 0; i <= metric->n_bounds; i++) {
        double bound = i < metric->n_bounds ? metric->bounds[i] : (double)INFINITY;
        n += atomic_load_explicit(&s->counts[i], memory_order_relaxed);
        add_sample_name(b, s, "_bucket", &bound);
        strbuf_add_uint(b, n);
        strbuf_add_char(b, '\n');
    }
    add_sample_name(b, s, "_sum", NULL);
    add_number(b, atomic_load_explicit(&s->value, memory_order_relaxed));
    strbuf_add_char(b, '\n');
    add_sample_name(b, s, "_count", NULL);
    strbuf_add_uint(b, n);
    strbuf_add_char(b, '\n');
}

static void write_metric(struct strbuf *b, const struct metric *metric)
{
    strbuf_printf(b, "# HELP %s ", metric->name);
    add_escaped(b, str_of(metric->help), false);
    strbuf_printf(b, "\n# TYPE %s %s\n", metric->name, kind_names[metric->kind]);
    for (size_t i = 0; i < metric->sorted.n; i++) {
        const struct series *s = metric->sorted.at[i];
        if (metric->kind == HISTOGRAM) {
            write_histogram(b, s);
            continue;
        }
        add_sample_name(b, s, "", NULL);
        add_number(b, series_value(s));
        strbuf_add_char(b, '\n');
    }
}

void metrics_write(struct metrics *m, struct strbuf *out)
{
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->sorted.n; i++)
        if (m->sorted.at[i]->sorted.n)
            write_metric(out, m->sorted.at[i]);
    pthread_mutex_unlock(&m->lock);
}

uint64_t metrics_n_dropped(const struct metrics *m)
{
    return atomic_load_explicit(&m->n_dropped, memory_order_relaxed);
}
