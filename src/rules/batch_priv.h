/* rules/batch_priv.h - parts of Job and CronJob; batch.c has the table. */
#pragma once

#include "rules/check.h"
#include "rules/pod.h"

/* batch_policy.c: podFailurePolicy and successPolicy of a JobSpec */
void job_check_failure_policy(const struct place *spec);
void job_check_success_policy(const struct place *spec);

/* Indexes as a text, "1,3-5"; each below `completions`, in ascending order. NULL when they are, and then how many. */
const char *indexes_fault(struct arena *a, struct str indexes, int64_t completions, int64_t *ret_n);
/* NULL unless an index is in both. What cannot be read is passed over. */
const char *indexes_overlap(struct arena *a, struct str completed, struct str failed, int64_t completions);

/* batch_status.c */
rules_validate_update job_validate_status;
bool job_has_condition(const struct place *status, const char *type, const char *state);
