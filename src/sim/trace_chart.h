/* sim/trace_chart.h - a bar chart over time in text: a few lines high, bounded in width.
 *
 * Thread: any. */
#pragma once

#include "base/strbuf.h"
#include "sim/trace_stats.h"

enum trace_series { SERIES_CPU, SERIES_MEMORY, SERIES_WAITING };

struct trace_chart {
    const struct trace_samples *samples;
    enum trace_series series;
    double top;         /* what the highest line stands for; over 0 */
    const char *labels[2]; /* of the top and the bottom */
    bool unicode;       /* blocks of an eighth; otherwise plain ASCII */
    unsigned width;     /* of the terminal; 0: no bound but the chart's own */
};

/* Nothing when there are no samples. */
void trace_chart(struct strbuf *to, const struct trace_chart *chart);
/* The highest column that a chart of this series would have. */
double trace_chart_top(const struct trace_samples *samples, enum trace_series series, unsigned width);
/* 0s, 2.5s, 1m30s, 4h, 3d2h: the two largest units. */
void trace_add_time(struct strbuf *to, int64_t ms);
