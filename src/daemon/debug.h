/* daemon/debug.h - /debug/flags and /debug/pprof: the level of the log, a CPU profile, what memory there is.
 *
 * A CPU profile is what `go tool pprof` and speedscope open. Other profiles of Go programs have no counterpart here, and
 * the answer says so. One profile at a time; the loop goes on while it is taken and written.
 *
 * Thread: the loop's. */
#pragma once

#include "daemon/ops.h"

enum { DEBUG_PROFILE_SECONDS = 30, DEBUG_FLAG_BYTES_MAX = 1024 };

/* /debug/flags, /debug/flags/, /debug/flags/v, /debug/pprof, /debug/pprof/. The context is not used. */
enum { N_DEBUG_ROUTES = 5 };
extern const struct ops_route debug_routes[N_DEBUG_ROUTES];
