/* sim/trace_report.h - what came out of a trace, for people and for programs.
 *
 * Thread: one. The trace has been run. */
#pragma once

#include "base/strbuf.h"
#include "sim/trace_run.h"

/* `unicode`: charts are drawn with block characters, otherwise in ASCII. `width` of the terminal; 0: no bound. */
void trace_report_text(struct strbuf *to, const struct trace_run *r, bool unicode, unsigned width);
/* One JSON object; docs/traces.md has the fields. */
void trace_report_json(struct strbuf *to, const struct trace_run *r);
