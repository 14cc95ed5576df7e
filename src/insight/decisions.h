/* insight/decisions.h - the last decisions of a scheduler, and why they were made.
 *
 * Kept of each: when, for which pod, by which profile, in its how manyeth attempt; what came of it (placed,
 * unschedulable, preempting, error) and where; how many nodes there were and how many fit; of a pod that was placed the
 * chosen node and up to four runners-up with their totals and every plugin's score; of a preemption up to
 * DECISION_VICTIMS_MAX victims; the message; why nodes were refused, by reason (refusals.h says how far that goes).
 *
 * The last decisions_options.n_max are kept, fewer when they need more than bytes_max together; the oldest go.
 *
 * It watches the scheduler (sched_watch_decisions) from decisions_new to decisions_free, and changes nothing.
 *
 * Thread: scheduling thread only.    Owns: its memory; references to syms. The profiles must outlive it. */
#pragma once

#include "base/clock.h"
#include "base/strbuf.h"
#include "sched/sched.h"

enum {
    DECISIONS_KEPT = 10000,
    DECISIONS_BYTES_MAX = 24 << 20, /* records and what they share */
    DECISIONS_BYTES_MIN = 256 << 10,
    DECISION_VICTIMS_MAX = 8,
    DECISIONS_LIMIT = 100, /* of one answer, when nothing is said */
    DECISIONS_LIMIT_MAX = 1000,
};

struct decisions_options {
    uint32_t n_max;            /* 0: DECISIONS_KEPT */
    size_t bytes_max;          /* 0: DECISIONS_BYTES_MAX; less than DECISIONS_BYTES_MIN counts as that */
    const struct clock *clock; /* NULL: the machine's. Lives as long */
};

struct decisions;

struct decisions *decisions_new(struct sched *s, const struct decisions_options *options);
void decisions_free(struct decisions *d);
/* The scheduler is gone, and this one has taken its place, with the same sym table and profiles: what is kept stays. */
void decisions_follow(struct decisions *d, struct sched *s);

struct decisions_counts {
    uint32_t n;         /* kept */
    uint64_t n_dropped; /* were kept once */
    size_t n_bytes;     /* in use */
};
struct decisions_counts decisions_counts(const struct decisions *d);

/* GET /berth/v1/decisions: appends JSON, newest first. `query`: pod=NAMESPACE/NAME, node=NAME, outcome=..., since=TIME
 * (RFC 3339, or a length of time before now: 10m), limit=N. docs/explain.md describes the answer. */
enum err_code insight_decisions(const struct decisions *d, struct str query, struct strbuf *to, struct err *e) ERR_MUST_CHECK;

/* The last decision about a pod, or for one that has a node the one that put it there, as JSON; false: it is not kept. */
bool decisions_add_of_pod(const struct decisions *d, const char *uid, bool has_node, struct strbuf *to);
/* How many are kept about pods of that name. */
uint32_t decisions_n_named(const struct decisions *d, struct str ns, struct str name);
