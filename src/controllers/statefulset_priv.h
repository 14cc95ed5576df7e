/* controllers/statefulset_priv.h - the statefulset controller between its files: statefulset.c hears of changes,
 * statefulset_turn.c works on one set. */
#pragma once

#include "controllers/controllers.h"
#include "controllers/pod_control.h"
#include "controllers/work_queue.h"

struct statefulset_controller {
    struct pod_control control;
    struct cluster *cluster;
    struct pod_index *pods;
    struct work_queue *queue;
};

/* Looks at a set, and says to the queue when that is over. */
void statefulset_turn_begin(struct statefulset_controller *c, struct str key);
