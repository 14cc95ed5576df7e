/* hollow/hollow.h - hollow nodes: nodes without machines, whose kubelets are played beside the API server.
 *
 * A node is hollow when its annotation berth.dev/hollow says so (node_object.h). Those that are asked for are made at the start,
 * unless they are there already. Each renews its Lease every ten seconds and its status every five minutes, evenly spread over
 * all of them; pods on it come up, run and go as pod_life.h says. A node that is stopped does nothing of this until it is
 * started again: its annotation is all that says so, and survives restarts.
 *
 * Writes go through the API server's own handlers as system:node:NAME, those that make nodes as an account of their own.
 *
 * Thread: the store's.    Owns: what it knows of nodes, and the addresses of pods. */
#pragma once

#include "controllers/cluster.h"
#include "hollow/node_shapes.h"

enum {
    HOLLOW_TICK_MS = 100,
    HOLLOW_LEASE_MS = 10 * 1000,       /* as kubelets: a quarter of a lease */
    HOLLOW_STATUS_MS = 5 * 60 * 1000,
    HOLLOW_RENEWALS_MAX = 512,         /* in one tick: after a pause they are caught up with, not all at once */
    HOLLOW_MAKING_MAX = 64,            /* nodes that are being made at once */
    HOLLOW_PODS_AT_ONCE = 512,         /* writes about pods under way: enough for one sync of the disk */
    HOLLOW_EVENTS_NODES_MAX = 100,     /* up to so many nodes, kubelets write Events when nobody said whether */
    HOLLOW_JOB_S = 1,
};

struct hollow;

enum hollow_events { HOLLOW_EVENTS_AUTO, HOLLOW_EVENTS_ON, HOLLOW_EVENTS_OFF };

struct hollow_options {
    struct cluster *cluster;
    struct node_shapes nodes; /* copied; none: only those that are there already */
    int64_t job_s;            /* how long pods of Jobs run */
    enum hollow_events events;
};

struct hollow *hollow_open(const struct hollow_options *o);
/* After cluster_stop: nothing is under way any more. */
void hollow_close(struct hollow *h);
/* Whether the nodes that were asked for are there. */
bool hollow_is_complete(const struct hollow *h);
