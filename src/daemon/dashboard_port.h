/* daemon/dashboard_port.h - the dashboard of a control plane in one process: plain HTTP on a loopback address, for people on this machine.
 *
 * Nobody is asked who they are there: whoever is on this machine may look. What can be asked changes nothing. Requests that come by
 * a name which is not a loopback one are refused (ops.h), so that no site in a browser can ask on its own.
 *
 * Thread: the loop's.    Owns: its listener and the dashboard. */
#pragma once

#include "daemon/dashboard.h"
#include "daemon/questions.h"

struct dashboard_port;

/* `questions` outlives it. */
ERR_MUST_CHECK enum err_code dashboard_port_open(struct loop *loop, struct engine *engine, const struct questions *questions, int port,
                                                 struct dashboard_port **ret_port, struct err *e);
/* Streams are ended; `stopped` follows. */
void dashboard_port_stop(struct dashboard_port *p, void (*stopped)(void *context), void *context);
/* After that. */
void dashboard_port_free(struct dashboard_port *p);
