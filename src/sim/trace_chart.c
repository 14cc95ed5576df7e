/* sim/trace_chart.c - see trace_chart.h. */
#include "sim/trace_chart.h"

#include <stdio.h>

enum { COLUMNS_MAX = 72, COLUMNS_MIN = 16, LINES = 5, STEPS = 8 /* in a line */, LABEL_COLUMNS = 8 };

static const char *const blocks[STEPS + 1] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const ascii[STEPS + 1] = { " ", ".", ".", ".", ":", ":", ":", "#", "#" };

static double value_of(const struct trace_sums *s, enum trace_series series)
{
    struct trace_mean mean = trace_sums_mean(s);
    return series == SERIES_CPU ? mean.milli_cpu : series == SERIES_MEMORY ? mean.memory : mean.waiting;
}

/* Columns stand for equal numbers of samples when there are more samples, else samples for equal numbers of columns. */
static uint32_t n_columns(uint32_t n_samples, unsigned width)
{
    unsigned before = LABEL_COLUMNS + 2, room = width > before ? width - before : 0;
    uint32_t most = !width || room > COLUMNS_MAX ? COLUMNS_MAX : room < COLUMNS_MIN ? COLUMNS_MIN : room;
    return n_samples > most ? most : most / n_samples * n_samples;
}

static double column_value(const struct trace_chart *chart, uint32_t column, uint32_t columns)
{
    const struct trace_samples *s = chart->samples;
    uint32_t from = (uint32_t)((uint64_t)column * s->n / columns),
             to = (uint32_t)((uint64_t)(column + 1) * s->n / columns);
    struct trace_sums sum = s->at[from];
    for (uint32_t i = from + 1; i < to; i++) {
        sum.milli_cpu += s->at[i].milli_cpu;
        sum.memory += s->at[i].memory;
        sum.waiting += s->at[i].waiting;
        sum.ms += s->at[i].ms;
    }
    return value_of(&sum, chart->series);
}

static void add_line(struct strbuf *to, const struct trace_chart *chart, int line, const int *heights, uint32_t columns)
{
    const char *label = line == LINES - 1 ? chart->labels[0] : line == 0 ? chart->labels[1] : "";
    strbuf_printf(to, "%*s |", LABEL_COLUMNS, label);
    size_t end = to->n;
    for (uint32_t c = 0; c < columns; c++) {
        int steps = heights[c] - line * STEPS;
        steps = steps < 0 ? 0 : steps > STEPS ? STEPS : steps;
        strbuf_add_text(to, chart->unicode ? blocks[steps] : ascii[steps]);
        if (steps)
            end = to->n;
    }
    to->n = end; /* no blanks at the end */
    strbuf_add_char(to, '\n');
}

static void add_axis(struct strbuf *to, int64_t end_ms, uint32_t columns)
{
    struct strbuf half, whole;
    strbuf_init(&half, STRBUF_NO_MAX);
    strbuf_init(&whole, STRBUF_NO_MAX);
    trace_add_time(&half, end_ms / 2);
    trace_add_time(&whole, end_ms);
    strbuf_printf(to, "%*s 0s", LABEL_COLUMNS + 1, "");
    int middle = (int)columns / 2 - 2, rest = (int)columns - (int)columns / 2 - (int)half.n;
    if (middle > 0 && rest > (int)whole.n)
        strbuf_printf(to, "%*s%.*s%*.*s\n", middle, "", (int)half.n, half.p, rest, (int)whole.n, whole.p);
    else
        strbuf_printf(to, " to %.*s\n", (int)whole.n, whole.p);
    strbuf_fini(&half);
    strbuf_fini(&whole);
}

double trace_chart_top(const struct trace_samples *samples, enum trace_series series, unsigned width)
{
    struct trace_chart chart = { .samples = samples, .series = series };
    uint32_t columns = samples->n ? n_columns(samples->n, width) : 0;
    double top = 0;
    for (uint32_t c = 0; c < columns; c++) {
        double value = column_value(&chart, c, columns);
        top = value > top ? value : top;
    }
    return top;
}

void trace_chart(struct strbuf *to, const struct trace_chart *chart)
{
    if (!chart->samples->n)
        return;
    int heights[COLUMNS_MAX];
    uint32_t columns = n_columns(chart->samples->n, chart->width);
    for (uint32_t c = 0; c < columns; c++) {
        double share = column_value(chart, c, columns) / chart->top;
        int height = share >= 1 ? LINES * STEPS : (int)(share * LINES * STEPS + 0.5);
        heights[c] = height == 0 && share > 0 ? 1 : height; /* something is never shown as nothing */
    }
    for (int line = LINES - 1; line >= 0; line--)
        add_line(to, chart, line, heights, columns);
    add_axis(to, chart->samples->total.ms, columns);
}

void trace_add_time(struct strbuf *to, int64_t ms)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = { { "d", 86400000 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 } };
    if (ms < 60000) {
        char text[32];
        int n = snprintf(text, sizeof(text), "%.3f", (double)ms / 1000);
        while (n > 0 && text[n - 1] == '0')
            n--;
        n -= n > 0 && text[n - 1] == '.';
        strbuf_printf(to, "%.*ss", n, text);
        return;
    }
    size_t i = 0;
    while (ms < units[i].ms)
        i++;
    strbuf_printf(to, "%lld%s", (long long)(ms / units[i].ms), units[i].name);
    int64_t rest = ms % units[i].ms / units[i + 1].ms;
    if (rest)
        strbuf_printf(to, "%lld%s", (long long)rest, units[i + 1].name);
}
