/* daemon/process_metrics.h - the process on /metrics: time, memory, files, network, as Prometheus' Go client shows them.
 *
 * All are read from /proc when a page is written, by the thread that writes it; what cannot be read is 0. They are facts
 * of the process, so nothing here is kept. Linux only.
 *
 * Thread: any. */
#pragma once

#include "base/metrics.h"

void process_metrics_add(struct metrics *registry);
/* process_start_time_seconds alone, as the page of health checks has it. */
void process_metrics_add_start(struct metrics *registry);
