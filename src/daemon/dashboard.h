/* daemon/dashboard.h - the page that shows what a scheduler does: its files, and the stream that keeps it current.
 *
 *   /dashboard/        the page, its script and its style: the same for everybody, and open to everybody, for whoever is not known
 *                      yet logs in there
 *   /berth/v1/live     lines of JSON (insight/live.h), one a second, as long as somebody reads
 *   /berth/v1/node     one node
 *
 * The scheduling thread makes the lines between two attempts. A viewer who does not read is told nothing until there is room
 * again, and then all that has changed in one line. At most DASHBOARD_VIEWERS_MAX; one more is told to come again (429).
 *
 * Thread: the loop's.    Owns: streams under way, the history. */
#pragma once

#include "daemon/engine.h"
#include "daemon/ops.h"

enum { DASHBOARD_VIEWERS_MAX = 32, DASHBOARD_LINE_MS = 1000, DASHBOARD_LINE_BYTES_MAX = 64 << 20 };

struct dashboard;

/* `engine` has not begun to end; it is asked every second from now on. */
struct dashboard *dashboard_new(struct engine *engine, struct loop *loop);
/* Ends all streams; nothing more is asked. */
void dashboard_stop(struct dashboard *d);
/* After dashboard_stop. The engine has ended; lines that are still in the loop's mail find nobody. */
void dashboard_free(struct dashboard *d);

/* For ops.h; live as long as this. */
const struct ops_route *dashboard_routes(const struct dashboard *d, size_t *ret_n);
