/* rules/cron.h - schedules and time zones of CronJobs: what is wrong with them, in the words of the library and of the
 * runtime that upstream uses. What times they mean: cron_next.h.
 *
 * Thread: any. Memory: the arena. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

#define CRON_STAR (1ULL << 63) /* the field is "*": it does not narrow the other one of the two that choose days */

enum cron_field { CRON_MINUTE, CRON_HOUR, CRON_DAY, CRON_MONTH, CRON_WEEKDAY, CRON_FIELDS };

struct cron_schedule {
    uint64_t bits[CRON_FIELDS];
    int64_t every_s; /* of "@every"; 0: the bits count */
    struct str zone; /* of "TZ="; empty: not given. Borrowed */
};

/* NULL, or what is wrong with the schedule. */
const char *cron_parse(struct arena *a, struct str schedule, struct cron_schedule *ret_schedule);
/* NULL when the schedule is valid: five fields, or a descriptor such as @daily. */
const char *cron_fault(struct arena *a, struct str schedule);
/* NULL when there is such a zone. */
const char *time_zone_fault(struct arena *a, struct str name);
/* A name of the time zone database. */
bool time_zone_is_known(struct str name);
