/* sched/verdict.h - what a plugin says of a pod, or of a pod on a node.
 *
 * A pod that does not fit is a verdict, not an error. `detail` is the plugin's own code for the reason
 * (for example which resources are short); its `reasons` function turns it into texts, and only when
 * someone reads them. */
#pragma once

#include <stdint.h>

/* The numbers are part of the plugin ABI and upstream's. */
enum verdict_code {
    V_SUCCESS = 0,
    V_ERROR = 1,         /* internal failure: the attempt ends */
    V_UNSCHEDULABLE = 2, /* preemption might help */
    V_UNRESOLVABLE = 3,  /* preemption cannot help */
    V_WAIT = 4,          /* Permit only */
    V_SKIP = 5,
    V_PENDING = 6,
};

struct verdict {
    uint8_t code;
    uint64_t detail;  /* meaning is the plugin's; 0 when `text` says it all */
    const char *text; /* a whole reason, or NULL: ask the plugin. Lives as long as the cycle */
};

#define PASS ((struct verdict){ V_SUCCESS, 0, 0 })
#define SKIP ((struct verdict){ V_SKIP, 0, 0 })

static inline int verdict_rejects(struct verdict v)
{
    return v.code == V_UNSCHEDULABLE || v.code == V_UNRESOLVABLE || v.code == V_PENDING;
}
