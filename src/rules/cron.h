/* rules/cron.h - schedules and time zones of CronJobs: what is wrong with them, in the words of the library and of the
 * runtime that upstream uses. Nothing here computes times.
 *
 * Thread: any. Memory: the arena. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/* NULL when the schedule is valid: five fields, or a descriptor such as @daily. */
const char *cron_fault(struct arena *a, struct str schedule);
/* NULL when there is such a zone. */
const char *time_zone_fault(struct arena *a, struct str name);
/* A name of the time zone database. */
bool time_zone_is_known(struct str name);
