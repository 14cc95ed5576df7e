/* daemon/embedded.h - the scheduler beside an API server in the same process.
 *
 *     store's log -> local_feed -> intake -> scheduling thread -> outbox -> writer -> local_api -> the server's registry
 *
 * The same engine as in daemon.h; what differs is both of its ends. Nothing is asked over a socket, nothing is elected, and
 * there is no rate. What it writes it writes as system:kube-scheduler.
 *
 * Thread: the loop's, which is the store's; it starts and ends the scheduling thread.    Owns: all of these. */
#pragma once

#include "apiserver/server.h"
#include "config/config.h"
#include "config/features.h"
#include "config/scheduler_flags.h"
#include "daemon/component_metrics.h"

struct embedded;

struct embedded_options {
    struct loop *loop;
    struct apiserver *server;
    struct stored *objects;
    struct metrics *metrics;
    const struct scheduler_flags *flags;
    const struct gates *gates;
    const struct config *config; /* completed and valid; its clients and its lease are not looked at */
    struct component_build build;
    uint64_t seed;
    int dashboard_port; /* 0: no dashboard */
    void (*synced)(void *context); /* it knows all there is, and schedules: once */
    void *context;
};

/* Its pages are among the server's from then on. */
ERR_MUST_CHECK enum err_code embedded_new(const struct embedded_options *o, struct embedded **ret_embedded, struct err *e);
/* Reads what there is. */
ERR_MUST_CHECK enum err_code embedded_start(struct embedded *b, struct err *e);
/* After the store was polled. */
void embedded_poll(struct embedded *b);
/* No more attempts; questions are still answered. */
void embedded_pause(struct embedded *b);
/* Nothing new is written; `stopped` follows when the scheduling thread has ended. */
void embedded_stop(struct embedded *b, void (*stopped)(void *context), void *context);
/* Never started, or stopped; the store is not polled any more. */
void embedded_free(struct embedded *b);
