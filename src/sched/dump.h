/* sched/dump.h - the cache and the queue as text, in upstream's form (debugger/dumper.go).
 *
 * Texts are appended to a buffer, whose maximum bounds them. Nodes come by row number, ghosts too, an
 * empty line between two; pods of a node in the order of its row. Requested scalars are those that a
 * pod on the node names. Where this differs from upstream: a node whose object is gone shows no
 * allocatable amounts instead of its last ones, and a scalar that nobody on the node requests any more
 * is left out instead of shown as 0.
 *
 * Thread: scheduling thread only, since it reads the queue and the nominator beside the cache. */
#pragma once

#include "base/strbuf.h"
#include "sched/cache.h"

struct nominator;
struct queue;

/* Value of `nodes` in "Dump of cached NodeInfo". */
void dump_nodes(const struct cache *c, const struct nominator *n, struct strbuf *b);
/* Values of `summary` and `pods` in "Dump of scheduling queue". Ready pods come first, then those that
 * back off, then those that wait for an event; popped ones are not shown. */
void dump_queue_summary(const struct queue *q, struct strbuf *b);
void dump_queue_pods(const struct queue *q, const struct sym_table *syms, struct strbuf *b);
