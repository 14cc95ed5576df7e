/* rules/cron_next.h - the next time that a schedule means.
 *
 * Thread: any. */
#pragma once

#include "rules/cron.h"
#include "rules/zone.h"

/* No such time within five years: Go's zero time, as upstream. */
#define CRON_NEVER (-62135596800LL)

int64_t cron_next(const struct cron_schedule *s, const struct zone *z, int64_t after_s);
