/* daemon/volume_job.h - a pod's volumes on their way: from the decision to the API server and until they are bound.
 *
 * Made from the scheduler's decisions, written by volume_writes.h on the loop, waited for by volume_waits.h on the
 * scheduling thread. It holds texts only, so that it can go between the threads; whoever has it owns it.
 *
 * Thread: volume_job_new: scheduling thread; else any, one at a time. */
#pragma once

#include "base/arena.h"
#include "forms/pod.h"
#include "sched/volume_decisions.h"

/* Versions are of the object that was decided on; the written one is what the API server made of it. */
struct job_binding {
    const char *volume, *version, *written;
    const char *claim, *claim_uid, *claim_version;
    bool by_controller;
};

struct job_provision {
    const char *claim, *version, *written;
};

struct volume_job {
    struct arena arena;
    const char *ns, *pod, *pod_uid, *node;
    struct job_binding *bindings;
    struct job_provision *provisions;
    uint32_t n_bindings, n_provisions;
    int64_t timeout_ms; /* until all claims are bound, from the last write on */
};

struct volume_job *volume_job_new(const struct sym_table *syms, const struct pod *pod, sym node,
                                  const struct volume_decisions *decisions);
void volume_job_free(struct volume_job *j);
