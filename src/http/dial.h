/* http/dial.h - from a host's name to a connected socket, without ever blocking.
 *
 * Addresses come from the system's resolver, on a worker thread. They are tried in its order, the two families in
 * turns; the next one begins when one fails or after DIAL_NEXT_MS, and the first that connects wins.
 *
 * Thread: the loop's.    Owns: its attempts; the connection that won is the caller's. */
#pragma once

#include "http/conn.h"

#define DIAL_NEXT_MS 250
#define DIAL_ADDRESSES_MAX 16 /* more are not tried */

struct dial;

/* own_conn is NULL on failure, and error says why; it is connected and not opened (conn_open). Not called by
 * dial_start. */
typedef void (*dial_done)(void *context, struct conn *own_conn, const char *error);

/* connect_ms is for name and connection together. */
struct dial *dial_start(struct loop *l, const char *host, int port, int64_t connect_ms,
                        const struct http_limits *limits,
                        dial_done done, void *context);
/* `done` is not called any more. */
void dial_cancel(struct dial *d);
