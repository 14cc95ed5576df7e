/* config/scheduler_check.h - what the scheduler's flags may say, beyond what each of them may look like.
 *
 * Rules, order and texts are upstream's: several errors are joined as "[a, b]". They come at different times of a start,
 * see scheduler_options.h for the order.
 *
 * Thread: any. Memory: results lie in the arena and borrow from the flags. */
#pragma once

#include "config/features.h"
#include "config/scheduler_flags.h"

/* Of logging. Nothing is set here. */
enum err_code scheduler_check_logs(const struct scheduler_flags *f, const struct gates *g, struct err *e) ERR_MUST_CHECK;

/* Of versions, the port, headers and metrics, before any file but the manifest of metric labels is read. `warnings` gets
 * what is allowed but odd. */
enum err_code scheduler_check_flags(const struct scheduler_flags *f, const struct gates *g,
                                    struct flag_strings *warnings, struct err *e) ERR_MUST_CHECK;

/* --allow-metric-labels, or what the manifest says: keys are "metric,label", values allowed values with commas. */
enum err_code scheduler_metric_labels(const struct scheduler_flags *f, struct arena *a, struct flag_pairs *ret_labels,
                                      struct err *e) ERR_MUST_CHECK;

/* How TLS is spoken, in the numbers of its registries. */
struct scheduler_tls {
    uint16_t min_version;          /* 0x0303 is TLS 1.2 */
    uint16_t *suites, *groups;     /* allowed ones; none: all that are usual */
    size_t n_suites, n_groups;
};

/* Of the secure port, when there is one: names of cipher suites, groups, versions, and that files come in pairs. Files
 * are not read. Upstream looks at these only after it knows its API server and listens. */
enum err_code scheduler_check_serving(const struct scheduler_flags *f, struct arena *a, struct scheduler_tls *ret_tls,
                                      struct err *e) ERR_MUST_CHECK;
