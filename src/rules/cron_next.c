/* rules/cron_next.c - see cron_next.h. Upstream: robfig/cron v3, spec.go.
 *
 * From the largest unit to the smallest each field goes on to its next value; where that leaves the unit above, all begins
 * again. When the first field moves, the smaller ones begin at their least. */
#include "rules/cron_next.h"

enum { YEARS_MAX = 5, HOUR_S = 3600, MINUTE_S = 60 };

struct search {
    const struct cron_schedule *schedule;
    const struct zone *zone;
    int64_t at_s;
    bool moved; /* smaller units stand at their least */
};

static bool has(const struct search *s, enum cron_field f, int value)
{
    return s->schedule->bits[f] >> value & 1;
}

static struct civil_time now(const struct search *s)
{
    return zone_civil(s->zone, s->at_s);
}

/* If both fields choose days, one of them is enough. */
static bool day_matches(const struct search *s)
{
    struct civil_time t = now(s);
    bool by_day = has(s, CRON_DAY, t.day), by_weekday = has(s, CRON_WEEKDAY, t.weekday);
    if ((s->schedule->bits[CRON_DAY] | s->schedule->bits[CRON_WEEKDAY]) & CRON_STAR)
        return by_day && by_weekday;
    return by_day || by_weekday;
}

/* Each returns false when the unit above has changed. */
static bool find_month(struct search *s)
{
    for (struct civil_time t = now(s); !has(s, CRON_MONTH, t.month); t = now(s)) {
        if (!s->moved)
            t = (struct civil_time){ .year = t.year, .month = t.month, .day = 1 };
        s->moved = true;
        t.month++;
        s->at_s = zone_utc(s->zone, &t);
        if (now(s).month == 1)
            return false;
    }
    return true;
}

static bool find_day(struct search *s)
{
    while (!day_matches(s)) {
        struct civil_time t = now(s);
        if (!s->moved)
            t = (struct civil_time){ .year = t.year, .month = t.month, .day = t.day };
        s->moved = true;
        t.day++;
        s->at_s = zone_utc(s->zone, &t);
        int hour = now(s).hour; /* where clocks change at midnight */
        s->at_s += hour > 12 ? (24 - hour) * HOUR_S : -hour * HOUR_S;
        if (now(s).day == 1)
            return false;
    }
    return true;
}

static bool find_hour(struct search *s)
{
    for (struct civil_time t = now(s); !has(s, CRON_HOUR, t.hour); t = now(s)) {
        if (!s->moved) {
            t.minute = t.second = 0;
            s->at_s = zone_utc(s->zone, &t);
        }
        s->moved = true;
        s->at_s += HOUR_S;
        if (now(s).hour == 0)
            return false;
    }
    return true;
}

static bool find_minute(struct search *s)
{
    for (struct civil_time t = now(s); !has(s, CRON_MINUTE, t.minute); t = now(s)) {
        if (!s->moved)
            s->at_s -= t.second;
        s->moved = true;
        s->at_s += MINUTE_S;
        if (now(s).minute == 0)
            return false;
    }
    return true;
}

/* Second 0 of a minute. */
static bool find_second(struct search *s)
{
    int second = now(s).second;
    s->at_s += second ? MINUTE_S - second : 0;
    s->moved |= second > 0;
    return second == 0;
}

int64_t cron_next(const struct cron_schedule *schedule, const struct zone *z, int64_t after_s)
{
    if (schedule->every_s)
        return after_s + schedule->every_s;
    struct search s = { schedule, z, after_s + 1, false };
    int64_t year_max = now(&s).year + YEARS_MAX;
    while (now(&s).year <= year_max)
        if (find_month(&s) && find_day(&s) && find_hour(&s) && find_minute(&s) && find_second(&s))
            return s.at_s;
    return CRON_NEVER;
}
