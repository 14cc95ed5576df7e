/* sched/era.h - rules of the engine that changed over the releases, as data that a profile carries.
 *
 * Thread: any, constant. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Which of the nodes with the best score is taken. */
enum tie_break {
    TIE_RANDOM,              /* by chance, each as likely as the others */
    TIE_ROUND_ROBIN,         /* in turn, in the order of the nodes */
    TIE_ROUND_ROBIN_BY_NAME, /* in turn, by name, the last one first */
};

struct era {
    const char *name;
    int64_t score_max;        /* scores are 0 to this */
    int64_t extender_scale;   /* what the scores of extenders are multiplied by */
    enum tie_break tie_break;
    int64_t total_without_scores; /* of every node, when nothing scores */
    bool counts_pre_filter;   /* a PreFilter that refuses the pod is told as the reason of each node */
    bool keeps_nomination;    /* a pod's own nomination gives its node no precedence, and outlives a failed preemption
                                 that could have helped somewhere */
    bool waits_for_any_leaving; /* a pod does not preempt while any pod of lower priority leaves its nominated node */
    const char *volume_missing;  /* words for a claim whose volume is gone */
    const char *volume_conflict; /* words for a node that a volume cannot be used on */
};

/* By release; era_modern is the newest. */
extern const struct era era_v1_0, era_v1_3, era_v1_11, era_v1_15, era_v1_20, era_modern;
