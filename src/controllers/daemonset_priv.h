/* controllers/daemonset_priv.h - the daemonset controller between its files: daemonset.c hears of changes,
 * daemonset_turn.c works on one set. */
#pragma once

#include "base/map.h"
#include "controllers/controllers.h"
#include "controllers/expectations.h"
#include "controllers/failure_backoff.h"
#include "controllers/owner_index.h"
#include "controllers/pod_control.h"
#include "controllers/work_queue.h"

struct daemonset_controller {
    struct pod_control control;
    struct cluster *cluster;
    struct pod_index *pods;
    struct owner_index *selectors;
    struct expectations *expectations;
    struct failure_backoff *failed_pods; /* by "uid of the set/generation/node" */
    struct work_queue *queue;            /* of "namespace/name" */
    struct work_queue *sweeps;           /* one key: the nodes that changed are to be looked at */
    struct map_str changed_nodes;        /* each name is its own value, and ours */
};

/* Looks at a set, and says to the queue when that is over. */
void daemonset_turn_begin(struct daemonset_controller *c, struct str key);
