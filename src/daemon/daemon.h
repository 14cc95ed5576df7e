/* daemon/daemon.h - `berth scheduler`: the engine joined to a real API server, from its start to its end.
 *
 * Thread: main, which becomes the loop's. */
#pragma once

#include "config/config.h"
#include "config/features.h"
#include "config/scheduler_flags.h"
#include "daemon/component_metrics.h"

struct daemon_options {
    const struct scheduler_flags *flags;
    const struct gates *gates;
    const struct config *config; /* completed and valid */
    struct str config_text; /* of the file; empty: there was none */
    struct component_build build; /* what this program is */
};

/* Until a signal, the loss of the lease or an error; the exit code. */
int daemon_run(const struct daemon_options *o);
