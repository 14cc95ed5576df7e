/* daemon/pod_writes.h - what the scheduler writes about pods: the requests, as bytes.
 *
 * Bindings, changes of status, and what happens to victims. Bodies are those of upstream's scheduler: bindings and
 * deletions in the client's media type, changes of status as strategic merge patches between the pod as it is known and
 * as it should be, with sorted keys.
 *
 * Nothing is sent here: a request lies in the arena with all that it refers to, so that arena and request can go to
 * the loop's thread together.
 *
 * Thread: scheduling thread only, except pod_patch_wait_ms: any. */
#pragma once

#include "client/api.h"
#include "forms/pod.h"
#include "sched/io.h"

/* Puts a pod onto a node. */
struct api_request pod_binding_request(struct arena *a, const struct sym_table *syms, enum media media,
                                       const struct pod *pod, sym node);

/* False: the pod has that status already, and there is nothing to send. */
bool pod_status_request(struct arena *a, const struct sym_table *syms, const struct status_change *change,
                        int64_t now_s, struct api_request *ret_request);

/* A victim: first the condition (false: it is there already), then the end. An answer of 404 to either is as good as
 * success, and to the first makes the second needless. */
bool pod_disruption_request(struct arena *a, const struct sym_table *syms, const struct pod *victim,
                            const struct pod *preemptor, int64_t now_s, struct api_request *ret_request);
struct api_request pod_delete_request(struct arena *a, const struct sym_table *syms, enum media media,
                                      const struct pod *victim);

enum { POD_PATCH_TRIES_MAX = 4 };

/* How long to wait before the same patch is sent again, after `n_tries` that ended with this answer; -1: the answer
 * counts. `random` is from 0 to 1. Other requests are not repeated. */
int64_t pod_patch_wait_ms(const struct api_answer *answer, unsigned n_tries, double random);
