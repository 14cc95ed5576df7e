/* sim/trace.h - a workload over time, as CSV tells it: which pods arrive when, how large they are, how long they run.
 *
 * The first line names the columns, in any order (docs/traces.md): arrival, duration, cpu, memory, priority, count,
 * template, name, namespace. Quotes are those of RFC 4180; lines end with LF or CRLF; blank lines and lines that begin
 * with # do not count. Times are seconds or durations such as 1h30m, kept in milliseconds, rounded up; amounts are
 * quantities.
 *
 * Thread: one. Owns: its arena; nothing of the text is kept. */
#pragma once

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"

enum {
    TRACE_ROWS_MAX = 1 << 24,
    TRACE_PODS_MAX = 1 << 26, /* counts added up */
    TRACE_LINE_BYTES_MAX = 1 << 16,
};
#define TRACE_MS_MAX (100ll * 365 * 24 * 3600 * 1000) /* of an arrival, of a duration */
#define TRACE_MILLI_CPU_MAX 1000000000000ll
#define TRACE_MEMORY_MAX (1ll << 60)

#define TRACE_FOREVER INT64_MAX
#define TRACE_NOT_GIVEN (-1)

struct trace_row {
    int64_t arrival_ms;
    int64_t duration_ms;       /* TRACE_FOREVER when empty */
    int64_t milli_cpu, memory; /* TRACE_NOT_GIVEN when empty */
    int32_t priority;
    bool has_priority;
    uint32_t count;               /* pods, all alike */
    uint32_t line;                /* where it begins */
    uint32_t name, ns, template;  /* in `texts`; 0: not given */
};

struct trace {
    const char *file; /* borrowed */
    struct arena arena;
    VEC(struct trace_row) rows; /* by arrival; of the same time in the order of the file */
    VEC(const char *) texts;    /* each once; the first one is empty */
    struct map_str text_ids;
    uint64_t n_pods;
};

/* `file` is for messages and must live as long. */
void trace_init(struct trace *t, const char *file);
void trace_fini(struct trace *t);
/* Once. An error names file, line and column. */
enum err_code trace_read(struct trace *t, struct str csv, struct err *e) ERR_MUST_CHECK;
