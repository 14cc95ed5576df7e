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

/* What v1.0 to v1.15 have in common with each other. */
#define BEFORE_V1_17                                                                                       \
    .score_max = 10, .extender_scale = 1, .total_without_scores = 1, .counts_pre_filter = true,            \
    .keeps_nomination = true, .waits_for_any_leaving = true,                                               \
    .volume_missing = "pvc(s) bound to non-existent pv(s)",                                                \
    .volume_conflict = "node(s) had volume node affinity conflict"

const struct era era_v1_0 = { .name = "v1.0", .tie_break = TIE_RANDOM, BEFORE_V1_17 };
const struct era era_v1_3 = { .name = "v1.3", .tie_break = TIE_ROUND_ROBIN_BY_NAME, BEFORE_V1_17 };
const struct era era_v1_11 = { .name = "v1.11", .tie_break = TIE_ROUND_ROBIN_BY_NAME, BEFORE_V1_17 };
const struct era era_v1_15 = { .name = "v1.15", .tie_break = TIE_ROUND_ROBIN, BEFORE_V1_17 };
