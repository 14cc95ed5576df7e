/* daemon/api_process.h - `berth apiserver`: a store, the API server on it and a port, from their start to their end.
 *
 *   start     the store is opened, keys are read or made, the address is taken, the server's own objects are made
 *   ready     a line on standard output says so; requests are answered since the address was taken
 *   stopping  on SIGTERM or SIGINT: /readyz fails at once; after --shutdown-delay-duration nothing new is taken, watches
 *             end, and what is under way may finish; a second signal ends the process
 *
 * Thread: main, which becomes the loop's and the store's. */
#pragma once

#include "config/apiserver_flags.h"
#include "config/features.h"
#include "daemon/component_metrics.h"

enum {
    API_STREAMS = 250,               /* of a connection, when the flag says 0 */
    API_TICK_MS = 100,               /* between two looks at what expires */
    API_STOP_MS = 60 * 1000,         /* that requests under way may still take at the end, as upstream */
};

struct api_process_options {
    const struct apiserver_flags *flags;
    const struct gates *gates;
    struct component_build build;
    void (*tell)(struct str line); /* to standard output: what scripts wait for */
};

/* Until a signal or an error; the exit code. */
int api_process_run(const struct api_process_options *o);
