/* client/event_correlate.h - keeps Events of core/v1 from flooding a server, as client-go's tools/record does.
 *
 * Two rules. Of ten Events about one object that differ in their message alone, with no ten minutes between one and the
 * next, the tenth and those that follow become one that says so: they are combined. And about one object a source writes
 * 25 Events of a type, then one more every five minutes; the others are left out.
 *
 * Bounds: EVENT_CORRELATE_MAX of each are remembered, those not used longest are forgotten.
 * Thread: one at a time. Time: never reads the clock. */
#pragma once

#include "client/event_recorder.h"

enum { EVENT_CORRELATE_MAX = 4096 };

struct event_correlator;

struct event_correlator *event_correlator_new(void);
void event_correlator_free(struct event_correlator *c);

/* Whether it is to be combined with those like it. */
bool event_correlate_combines(struct event_correlator *c, const struct event_to_record *e, int64_t now_ms);
/* Whether it may be written. Each that may takes from what the object has left. */
bool event_correlate_permits(struct event_correlator *c, const struct event_to_record *e, int64_t now_ms);

/* Who reports, about what, and of which type: what is counted together. */
void event_correlate_add_source(struct strbuf *to, const struct event_to_record *e);
