/* daemon/debugger.h - what SIGUSR2 asks for: does the scheduler hold what the API server lists, and what does it hold?
 *
 * Nodes and pods are listed once more, in pages, and compared with the cache and the queue (sched/compare.h); then both
 * are written to the log. Upstream compares with its own copies of the lists; this one asks the server. What changes
 * between the list and the comparison shows up as a difference, as does the pod of the attempt under way.
 *
 * A second request while one is under way is dropped. At most DEBUGGER_OBJECTS_MAX of a kind are compared.
 *
 * Thread: the loop's. */
#pragma once

#include "client/api.h"
#include "daemon/engine.h"

enum { DEBUGGER_OBJECTS_MAX = 2000000 };

struct debugger;

struct debugger *debugger_new(struct engine *e, const struct api *api);
/* The engine has ended. */
void debugger_free(struct debugger *d);
void debugger_run(struct debugger *d);
