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
static const char *const stability_names[N_STABILITIES] = { "", "INTERNAL", "ALPHA", "BETA", "STABLE" };

struct series {
    const struct metric *metric;
    const struct str *values; /* in the order of the label names */
    _Atomic bool shown;
    _Atomic double value;     /* of a histogram: the sum */
    double (*read)(void *context); /* NULL: value holds it */
    void *context;
    _Atomic uint64_t counts[]; /* of a histogram: n_bounds + 1, not cumulative */
};

struct metric {
    struct metrics *owner;
    enum metric_kind kind;
    const char *name, *help;
    enum metric_stability stability;
    bool disabled;
    uint32_t n_labels, n_series_max, n_bounds;
    const char *labels[METRIC_LABELS_MAX];  /* sorted */
    uint32_t given_index[METRIC_LABELS_MAX]; /* of the sorted label in the description */
    const double *bounds;
    VEC(struct series *) sorted;
    struct map_str by_key;
    struct series *overflow; /* takes what finds no room */
};

/* The values that a label may have, with commas between. */
struct allowed {
    struct str metric, label, values;
};

struct metrics {
    pthread_mutex_t lock;
    struct arena arena; /* metrics, series, texts */
    VEC(struct metric *) sorted;
    VEC(struct str) disabled;
    VEC(struct allowed) allowed;
    struct series *registered[N_STABILITIES], *n_disabled, *n_hidden, *n_unexpected; /* metrics_add_meta; or NULL */
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
    vec_fini(&m->disabled);
    vec_fini(&m->allowed);
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

static bool is_disabled(const struct metrics *m, struct str name)
{
    for (size_t i = 0; i < m->disabled.n; i++)
        if (str_eq(m->disabled.at[i], name))
            return true;
    return false;
}

/* Locked. Metrics that are not shown count as hidden, as upstream's do. */
static void count_metric(struct metrics *m, const struct metric *metric)
{
    struct series *of = metric->disabled ? m->n_hidden : m->registered[metric->stability];
    if (of && (metric->disabled || metric->stability))
        series_inc(of);
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
    metric->help = desc->stability ? arena_printf(&m->arena, "[%s] %s", stability_names[desc->stability], desc->help)
                                   : arena_cstr(&m->arena, str_of(desc->help));
    metric->stability = desc->stability;
    metric->disabled = is_disabled(m, str_of(desc->name));
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
    count_metric(m, metric);
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

/* Whether `value` is one of those in a list with commas between. */
static bool list_has(struct str list, struct str value)
{
    for (;;) {
        const char *comma = list.n ? memchr(list.p, ',', list.n) : NULL;
        if (str_eq((struct str){ list.p, comma ? (size_t)(comma - list.p) : list.n }, value))
            return true;
        if (!comma)
            return false;
        list = str_from(list, (size_t)(comma - list.p) + 1);
    }
}

/* Locked. Values in the order of the label names. */
static void enforce_allowed(struct metric *metric, struct str *values)
{
    struct metrics *m = metric->owner;
    for (size_t i = 0; i < m->allowed.n; i++) {
        const struct allowed *a = &m->allowed.at[i];
        if (!str_eq(a->metric, str_of(metric->name)))
            continue;
        for (uint32_t k = 0; k < metric->n_labels; k++)
            if (str_eq(a->label, str_of(metric->labels[k])) && !list_has(a->values, values[k])) {
                values[k] = STR("unexpected");
                if (m->n_unexpected)
                    series_inc(m->n_unexpected);
            }
    }
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

static struct series *look_up(struct metric *metric, const struct str *values, bool show)
{
    struct str sorted[METRIC_LABELS_MAX];
    for (uint32_t i = 0; i < metric->n_labels; i++) {
        sorted[i] = values[metric->given_index[i]];
        if (sorted[i].n > METRIC_VALUE_BYTES_MAX)
            return drop(metric);
    }
    struct strbuf key;
    strbuf_init(&key, STRBUF_NO_MAX);
    pthread_mutex_lock(&metric->owner->lock);
    enforce_allowed(metric, sorted);
    add_key(&key, metric, sorted);
    struct series *s = find_or_add(metric, sorted, strbuf_str(&key));
    if (show)
        atomic_store_explicit(&s->shown, true, memory_order_relaxed);
    pthread_mutex_unlock(&metric->owner->lock);
    strbuf_fini(&key);
    return s;
}

struct series *metric_series(struct metric *metric, const struct str *values)
{
    return look_up(metric, values, true);
}

struct series *metric_series_unseen(struct metric *metric, const struct str *values)
{
    return look_up(metric, values, false);
}

/* ---- What an operator says ---- */

static struct metric *find_metric(const struct metrics *m, struct str name)
{
    for (size_t i = 0; i < m->sorted.n; i++)
        if (str_eq(str_of(m->sorted.at[i]->name), name))
            return m->sorted.at[i];
    return NULL;
}

void metrics_disable(struct metrics *m, struct str name)
{
    pthread_mutex_lock(&m->lock);
    struct metric *metric = find_metric(m, name);
    if (name.n && !is_disabled(m, name)) {
        vec_push(&m->disabled, arena_str(&m->arena, name));
        if (m->n_disabled)
            series_inc(m->n_disabled);
        if (metric)
            metric->disabled = true;
    }
    pthread_mutex_unlock(&m->lock);
}

static struct allowed *find_allowed(struct metrics *m, struct str metric, struct str label)
{
    for (size_t i = 0; i < m->allowed.n; i++)
        if (str_eq(m->allowed.at[i].metric, metric) && str_eq(m->allowed.at[i].label, label))
            return &m->allowed.at[i];
    return NULL;
}

bool metrics_allow_values(struct metrics *m, struct str metric, struct str label, struct str values)
{
    pthread_mutex_lock(&m->lock);
    struct allowed *a = find_allowed(m, metric, label);
    bool room = a || m->allowed.n < METRICS_ALLOWED_MAX;
    if (!a && room) {
        vec_push(&m->allowed, ((struct allowed){ arena_str(&m->arena, metric), arena_str(&m->arena, label), { 0 } }));
        a = &m->allowed.at[m->allowed.n - 1];
    }
    if (a)
        a->values = arena_str(&m->arena, values);
    pthread_mutex_unlock(&m->lock);
    return room;
}

static struct series *add_meta_counter(struct metrics *m, const char *name, const char *help,
                                       enum metric_stability stability)
{
    return metric_series(metrics_add_counter(m, &(struct metric_desc){ name, help, .stability = stability }), NULL);
}

/* Those that are there already count too, these four included. */
void metrics_add_meta(struct metrics *m)
{
    struct metric *registered = metrics_add_counter(
        m, &(struct metric_desc){ "registered_metrics_total",
                                  "The count of registered metrics broken by stability level and deprecation version.",
                                  { "stability_level", "deprecated_version" }, .stability = STABILITY_BETA });
    struct series *disabled =
        add_meta_counter(m, "disabled_metrics_total", "The count of disabled metrics.", STABILITY_BETA);
    struct series *hidden = add_meta_counter(m, "hidden_metrics_total", "The count of hidden metrics.", STABILITY_BETA);
    struct series *unexpected =
        add_meta_counter(m, "cardinality_enforcement_unexpected_categorizations_total",
                         "The count of unexpected categorizations during cardinality enforcement.", STABILITY_ALPHA);
    struct series *by_stability[N_STABILITIES] = { NULL };
    for (int i = STABILITY_INTERNAL; i < N_STABILITIES; i++)
        by_stability[i] = metric_series_unseen(registered, (struct str[]){ str_of(stability_names[i]), STR("") });
    pthread_mutex_lock(&m->lock);
    memcpy(m->registered, by_stability, sizeof(by_stability));
    m->n_disabled = disabled;
    m->n_hidden = hidden;
    m->n_unexpected = unexpected;
    series_add(disabled, (double)m->disabled.n);
    for (size_t i = 0; i < m->sorted.n; i++)
        count_metric(m, m->sorted.at[i]);
    pthread_mutex_unlock(&m->lock);
}

/* ---- Values ---- */

static inline void show(struct series *s)
{
    if (!atomic_load_explicit(&s->shown, memory_order_relaxed))
        atomic_store_explicit(&s->shown, true, memory_order_relaxed);
}

static void add_value(struct series *s, double amount)
{
    show(s);
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
    show(s);
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

static void empty_series(struct series *s)
{
    uint32_t n_counts = s->metric->kind == HISTOGRAM ? s->metric->n_bounds + 1 : 0;
    for (uint32_t i = 0; i < n_counts; i++)
        atomic_store_explicit(&s->counts[i], 0, memory_order_relaxed);
    atomic_store_explicit(&s->value, 0, memory_order_relaxed);
    atomic_store_explicit(&s->shown, s->metric->n_labels == 0, memory_order_relaxed);
}

void metrics_reset(struct metrics *m)
{
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->sorted.n; i++) {
        const struct metric *metric = m->sorted.at[i];
        for (size_t k = 0; k < metric->sorted.n; k++)
            if ((metric->n_labels || metric->kind == COUNTER) && !metric->sorted.at[k]->read)
                empty_series(metric->sorted.at[k]);
    }
    pthread_mutex_unlock(&m->lock);
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

void metrics_add_label_value(struct strbuf *out, struct str value)
{
    add_escaped(out, value, true);
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

static bool is_shown(const struct series *s)
{
    return atomic_load_explicit(&s->shown, memory_order_relaxed);
}

static bool has_shown(const struct metric *metric)
{
    for (size_t i = 0; i < metric->sorted.n; i++)
        if (is_shown(metric->sorted.at[i]))
            return true;
    return false;
}

static void write_metric(struct strbuf *b, const struct metric *metric)
{
    strbuf_printf(b, "# HELP %s ", metric->name);
    add_escaped(b, str_of(metric->help), false);
    strbuf_printf(b, "\n# TYPE %s %s\n", metric->name, kind_names[metric->kind]);
    for (size_t i = 0; i < metric->sorted.n; i++) {
        const struct series *s = metric->sorted.at[i];
        if (!is_shown(s))
            continue;
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
        if (!m->sorted.at[i]->disabled && has_shown(m->sorted.at[i]))
            write_metric(out, m->sorted.at[i]);
    pthread_mutex_unlock(&m->lock);
}

uint64_t metrics_n_dropped(const struct metrics *m)
{
    return atomic_load_explicit(&m->n_dropped, memory_order_relaxed);
}
