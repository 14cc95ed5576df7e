/* controllers/pod_garbage.h - pods that nobody will end any more.
 *
 * Upstream: controller/podgc. Thread: any. */
#pragma once

#include "api/value.h"

enum { POD_GC_QUARANTINE_S = 40, POD_GC_TERMINATED_MAX = 12500 };

struct pod_garbage_state {
    const struct value *pod, *node; /* node: NULL: it has none, or it is gone */
    int64_t node_missed_s;          /* since when the node is known to be missing */
    int64_t now_s;
};

enum pod_garbage_verdict { POD_STAYS, POD_WAITS /* for the quarantine */, POD_FAILS /* then it goes */, POD_GOES };

struct pod_garbage {
    enum pod_garbage_verdict verdict;
    bool orphaned; /* its node is gone: its status says so */
    int64_t again_s;
};

struct pod_garbage pod_garbage_decide(const struct pod_garbage_state *s);
/* Of pods that have ended, which goes first: those that were evicted, then the oldest. */
int pod_garbage_order(const struct value *a, const struct value *b);
