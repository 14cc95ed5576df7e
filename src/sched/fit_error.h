/* sched/fit_error.h - the words for a pod that fits nowhere.
 *
 * Thread: scheduling thread only. */
#pragma once

#include "base/strbuf.h"
#include "sched/framework.h"

/* Appends "0/N nodes are available: <count> <reason>, ..." from statuses by node_id; nodes without one have
 * c->absent_status. `statuses` may be NULL: all are absent. */
void fit_error_add(struct cycle *c, const struct filter_status *statuses, struct strbuf *to);
/* The same of one node alone, which had been chosen. */
void fit_error_add_one(struct cycle *c, const struct filter_status *status, struct strbuf *to);
