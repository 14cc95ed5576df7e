/* sched/era.c - see era.h. */
#include "sched/era.h"

const struct era era_modern = { .name = "v1.36", .score_max = 100, .extender_scale = 10, .tie_break = TIE_RANDOM,
                                .volume_missing =
                                    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
                                .volume_conflict = "node(s) didn't match PersistentVolume's node affinity" };

const struct era era_v1_20 = { .name = "v1.20", .score_max = 100, .extender_scale = 10, .tie_break = TIE_RANDOM,
                               .total_without_scores = 1, .counts_pre_filter = true, .keeps_nomination = true,
                               .waits_for_any_leaving = true,
                               .volume_missing = "pvc(s) bound to non-existent pv(s)",
                               .volume_conflict = "node(s) had volume node affinity conflict" };
