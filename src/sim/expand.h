/* sim/expand.h - the pods that controllers would make of what is given.
 *
 * A ReplicationController, ReplicaSet, Deployment, StatefulSet, DaemonSet or Job gets as many pods as it lacks: pods that are
 * given and belong to it count, unless they are finished or being deleted. A Deployment without its ReplicaSet gets one.
 * Names are made in the same way every time. A StatefulSet's claims are made with its pods. Namespaces that pods are in are
 * there afterwards, given or not.
 *
 * Thread: one. Memory: the input's arena. */
#pragma once

#include "sim/input.h"

enum { SIM_MADE_PODS_MAX = 1 << 20 };

/* Adds to an input that was completed (forms.h); what is added is complete, too. Fills in `owner` of every pod. */
enum err_code sim_expand(struct sim_input *in, struct err *e) ERR_MUST_CHECK;
