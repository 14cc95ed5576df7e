/* daemon/up.h - `berth up`: a whole control plane in one process: API server, store, controllers and scheduler.
 *
 *   start     the folder is taken (up_folder.h), keys are found or made (up_keys.h), then as api_process.h
 *   joined    the scheduler reads the store's log in memory and writes through the server's own handlers (embedded.h)
 *   ready     `ready` is called: the server's own objects are there, and the scheduler knows all there is
 *   stopping  as api_process.h; no more attempts from the signal on, the scheduling thread ends after the last request
 *
 * One loop thread for server, controllers and both ends of the scheduler; one scheduling thread; one of the store's engine.
 *
 * Thread: main, which becomes the loop's. */
#pragma once

#include "config/apiserver_flags.h"
#include "config/config.h"
#include "config/features.h"
#include "config/scheduler_flags.h"
#include "daemon/component_metrics.h"

struct up_options {
    const struct apiserver_flags *server_flags;
    const struct scheduler_flags *scheduler_flags;
    const struct gates *gates;
    const struct config *config; /* of the scheduler, completed and valid */
    struct component_build build;
    int dashboard_port; /* on 127.0.0.1, plain; 0: none */
    struct str ca_pem; /* what pods are told to trust */
    void (*ready)(void *context); /* once */
    void *context;
};

/* Until a signal or an error; the exit code. */
int up_run(const struct up_options *o);
