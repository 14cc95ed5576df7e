/* rules/zone.h - time zones of the system's database: how far the local time is from UTC, and dates.
 *
 * Files are read as RFC 9636 has them: the transitions of version 2 or later, and for all time after the last one the rule at
 * the end, in the form of POSIX's TZ.
 *
 * Thread: any once loaded.    Memory: the arena. */
#pragma once

#include "base/arena.h"

enum { ZONE_FILE_BYTES_MAX = 64 * 1024 };

struct zone;

/* "UTC", "Local" (that of this machine) or a name that time_zone_is_known; NULL: the system has no such file. */
const struct zone *zone_load(struct arena *a, struct str name);
/* A file's bytes; NULL when they are none of a zone. */
const struct zone *zone_read(struct arena *a, struct str bytes);

/* Seconds east of UTC, and from when until when that holds (UTC). */
struct zone_span {
    int64_t offset_s, from_s, until_s;
};
struct zone_span zone_at(const struct zone *z, int64_t utc_s);

/* A date of the Gregorian calendar, and the time of a day. */
struct civil_time {
    int64_t year;
    int month, day, hour, minute, second; /* month and day from 1 */
    int weekday;                          /* 0: Sunday */
};
struct civil_time zone_civil(const struct zone *z, int64_t utc_s);
/* Parts out of range carry over. A time that a change of clocks leaves out, or has twice, is taken as Go's time.Date does. */
int64_t zone_utc(const struct zone *z, const struct civil_time *t);
