/* sim/expand.h - the pods that controllers would make of what is given.
 *
 * A ReplicationController, ReplicaSet, Deployment, StatefulSet, DaemonSet or Job gets as many pods as it lacks: pods that are
 * given and belong to it count, unless they are finished or being deleted. A Deployment without its ReplicaSet gets one.
 * Names are made in the same way every time. A StatefulSet's claims are made with its pods.
 *
 * Thread: one. Memory: the input's arena. */
#pragma once

#include "base/sym.h"
#include "sim/input.h"

enum { SIM_MADE_PODS_MAX = 1 << 20 };

/* Adds to the input. Fills in `owner` of every pod. */
enum err_code sim_expand(struct sim_input *in, struct sym_table *syms, struct err *e) ERR_MUST_CHECK;
