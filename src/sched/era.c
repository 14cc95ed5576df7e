/* sched/era.c - see era.h. */
#include "sched/era.h"

const struct era era_modern = { .name = "v1.36", .score_max = 100, .extender_scale = 10, .tie_break = TIE_RANDOM };

const struct era era_v1_20 = { .name = "v1.20", .score_max = 100, .extender_scale = 10, .tie_break = TIE_RANDOM,
                               .total_without_scores = 1, .counts_pre_filter = true, .keeps_nomination = true };
