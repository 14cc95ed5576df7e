/* daemon/daemon.h - the scheduler of a cluster, from its start to its end.
 *
 * Thread: main. */
#pragma once

#include "config/config.h"
#include "config/features.h"
#include "config/scheduler_flags.h"

struct daemon_options {
    const struct scheduler_flags *flags;
    const struct gates *gates;
    const struct config *config;
    struct str config_text; /* YAML/JSON of the file, or empty */
};

/* Runs until it is told to end; the exit code. */
int daemon_run(const struct daemon_options *o);
