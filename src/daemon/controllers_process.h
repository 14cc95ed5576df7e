/* daemon/controllers_process.h - `berth controllers`: the controllers alone, against an API server elsewhere, from their start to
 * their end.
 *
 * Thread: main, which becomes the loop's. */
#pragma once

#include "config/controllers_flags.h"
#include "config/features.h"
#include "daemon/component_metrics.h"

struct controllers_process_options {
    const struct controllers_flags *flags;
    const char *const *choice; /* of controllers; ends with NULL */
    const struct gates *gates;
    struct component_build build; /* what this program is */
};

/* Until a signal, the loss of the lease or an error; the exit code. */
int controllers_process_run(const struct controllers_process_options *o);
