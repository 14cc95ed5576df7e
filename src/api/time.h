/* api/time.h - points in time as metav1.Time and metav1.MicroTime read and write them.
 *
 * Reading follows Go's time.Parse with the layouts `2006-01-02T15:04:05Z07:00` and
 * `2006-01-02T15:04:05.000000Z07:00`, its leniency (hours of one digit, a comma before a fraction,
 * offsets up to 24:60) and its error texts included. Writing is always UTC. The calendar is the
 * Gregorian one, also before it was introduced; there are no leap seconds.
 *
 * Go's zero time, the beginning of year 1, stands for "not set" and is null in JSON: see
 * timestamp_is_zero. A struct of zero bytes is 1970, not that.
 *
 * Thread: any.    Owns: nothing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/strbuf.h"

struct timestamp {
    int64_t seconds; /* since 1970-01-01T00:00:00Z */
    int32_t nanos;   /* 0 to 999999999, forward also before 1970 */
};

#define TIMESTAMP_ZERO ((struct timestamp){ .seconds = -62135596800 })

static inline bool timestamp_is_zero(struct timestamp t)
{
    return t.seconds == TIMESTAMP_ZERO.seconds && t.nanos == 0;
}

/* -1, 0, 1. */
static inline int timestamp_cmp(struct timestamp a, struct timestamp b)
{
    if (a.seconds != b.seconds)
        return a.seconds < b.seconds ? -1 : 1;
    return (a.nanos > b.nanos) - (a.nanos < b.nanos);
}

/* Any `nanos`, also negative or more than a second; the sum wraps, as Go's time.Unix. */
struct timestamp timestamp_unix(int64_t seconds, int64_t nanos);

/* `text` is the string after unescaping. Fail with ERR_BAD_REQUEST and Go's message. */
enum err_code timestamp_parse(struct str text, struct timestamp *ret_t, struct err *e) ERR_MUST_CHECK;
enum err_code timestamp_parse_micro(struct str text, struct timestamp *ret_t, struct err *e) ERR_MUST_CHECK;

/* 2006-01-02T15:04:05Z, and with six digits of a second: fractions are cut off. Years outside 0 to
 * 9999 (an offset or protobuf can lead there) take a sign or more digits. The zero time is written
 * like any other. */
void timestamp_add(struct strbuf *b, struct timestamp t);
void timestamp_add_micro(struct strbuf *b, struct timestamp t);

/* As errors of Go's package time quote: `"` and `\` escaped, bytes outside 0x20 to 0x7f as \x00.
 * Terminated. */
char *time_quote(struct arena *a, struct str s);
