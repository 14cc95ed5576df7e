/* rules/zone.c - see zone.h. */
#include "rules/zone.h"

#include <stdio.h>

#include "rules/cron.h"

#define FOLDER "/usr/share/zoneinfo/"
#define LOCAL_FILE "/etc/localtime"

enum { DAY_S = 24 * 60 * 60, HEADER_BYTES = 44, TYPE_BYTES = 6 };

/* The day of a year on which clocks change. */
struct change_day {
    enum { DAY_OF_YEAR, DAY_WITHOUT_LEAP, DAY_OF_WEEK } form; /* n, Jn, Mm.w.d */
    int month, week, day;
    int64_t time_s; /* of that day */
};

struct rule {
    int64_t standard_s, summer_s;
    bool has_summer;
    struct change_day begin, end; /* of summer */
};

struct zone {
    size_t n;
    int64_t *changes, *offsets; /* what holds from each change on */
    int64_t first_s;            /* what holds before them */
    struct rule rule;
    bool has_rule;
};

/* ---- Days ---- */

/* Days since 1970 of the first of March's year: the era of 400 years always has the same number. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year += (month - 1) / 12 - ((month - 1) % 12 < 0);
    month = ((month - 1) % 12 + 12) % 12 + 1;
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_of(int64_t days, struct civil_time *t)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097, of_era = days - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100), shifted = (5 * of_year + 2) / 153;
    t->day = (int)(of_year - (153 * shifted + 2) / 5 + 1);
    t->month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
    t->year = year + era * 400 + (t->month <= 2);
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int64_t floor_div(int64_t x, int64_t by)
{
    return x / by - (x % by < 0);
}

/* ---- Rules ---- */

static bool take(struct str *s, char c)
{
    if (!s->n || s->p[0] != c)
        return false;
    *s = str_from(*s, 1);
    return true;
}

static bool take_number(struct str *s, int64_t *ret)
{
    int64_t n = 0;
    size_t i = 0;
    for (; i < s->n && i < 6 && s->p[i] >= '0' && s->p[i] <= '9'; i++)
        n = n * 10 + (s->p[i] - '0');
    *s = str_from(*s, i);
    *ret = n;
    return i > 0;
}

/* "5", "-3:30", "+1:00:00" */
static bool take_time(struct str *s, int64_t *ret_s)
{
    int64_t sign = take(s, '-') ? -1 : 1, hours, minutes = 0, seconds = 0;
    if (sign > 0)
        take(s, '+');
    if (!take_number(s, &hours) || (take(s, ':') && !take_number(s, &minutes)) || (take(s, ':') && !take_number(s, &seconds)))
        return false;
    *ret_s = sign * (hours * 3600 + minutes * 60 + seconds);
    return true;
}

/* "CET" or "<+03>" */
static bool take_name(struct str *s)
{
    size_t n = 0;
    if (take(s, '<')) {
        size_t end = str_index(*s, '>');
        bool closed = end < s->n;
        *s = str_from(*s, end + 1);
        return closed;
    }
    while (n < s->n && ((s->p[n] | 0x20) >= 'a' && (s->p[n] | 0x20) <= 'z'))
        n++;
    *s = str_from(*s, n);
    return n >= 3;
}

static bool take_day(struct str *s, struct change_day *d)
{
    int64_t month = 0, week = 0, day;
    d->form = take(s, 'J') ? DAY_WITHOUT_LEAP : take(s, 'M') ? DAY_OF_WEEK : DAY_OF_YEAR;
    if (d->form == DAY_OF_WEEK && !(take_number(s, &month) && take(s, '.') && take_number(s, &week) && take(s, '.')))
        return false;
    if (!take_number(s, &day))
        return false;
    d->month = (int)month;
    d->week = (int)week;
    d->day = (int)day;
    d->time_s = 2 * 3600;
    return !take(s, '/') || take_time(s, &d->time_s);
}

/* "CET-1CEST,M3.5.0,M10.5.0/3": the sign is that of west. */
static bool read_rule(struct str s, struct rule *r)
{
    int64_t west_s;
    if (!take_name(&s) || !take_time(&s, &west_s))
        return false;
    *r = (struct rule){ .standard_s = -west_s, .summer_s = -west_s + 3600 };
    if (s.n == 0)
        return true;
    r->has_summer = true;
    if (!take_name(&s))
        return false;
    if (s.n && s.p[0] != ',') {
        if (!take_time(&s, &west_s))
            return false;
        r->summer_s = -west_s;
    }
    return take(&s, ',') && take_day(&s, &r->begin) && take(&s, ',') && take_day(&s, &r->end) && s.n == 0;
}

/* In local time, as if it were UTC. */
static int64_t change_in(const struct change_day *d, int64_t year)
{
    int64_t day;
    if (d->form == DAY_OF_WEEK) {
        int64_t first = days_of(year, d->month, 1), weekday = ((first + 4) % 7 + 7) % 7;
        day = first + (d->day - weekday + 7) % 7 + (d->week - 1) * 7;
        if (day >= days_of(year, d->month + 1, 1)) /* week 5 is the last one */
            day -= 7;
    } else {
        day = days_of(year, 1, 1) + d->day;
        if (d->form == DAY_WITHOUT_LEAP) /* J60 is always the first of March */
            day += (is_leap(year) && d->day >= 60) - 1;
    }
    return day * DAY_S + d->time_s;
}

static struct zone_span rule_at(const struct rule *r, int64_t utc_s)
{
    struct zone_span span = { r->standard_s, INT64_MIN, INT64_MAX };
    if (!r->has_summer)
        return span;
    struct civil_time t;
    date_of(floor_div(utc_s + r->standard_s, DAY_S), &t);
    for (int64_t year = t.year - 1; year <= t.year + 1; year++) {
        const struct {
            int64_t at_s, offset_s;
        } changes[] = {
            { change_in(&r->begin, year) - r->standard_s, r->summer_s },
            { change_in(&r->end, year) - r->summer_s, r->standard_s },
        };
        for (size_t i = 0; i < 2; i++) {
            if (changes[i].at_s <= utc_s && changes[i].at_s >= span.from_s)
                span = (struct zone_span){ changes[i].offset_s, changes[i].at_s, span.until_s };
            else if (changes[i].at_s > utc_s && changes[i].at_s < span.until_s)
                span.until_s = changes[i].at_s;
        }
    }
    return span;
}

/* ---- Files ---- */

static int64_t big_endian(const char *p, size_t n)
{
    uint64_t v = (unsigned char)p[0] & 0x80 ? UINT64_MAX : 0;
    for (size_t i = 0; i < n; i++)
        v = v << 8 | (unsigned char)p[i];
    return (int64_t)v;
}

/* The counts of a header. */
struct counts {
    size_t is_utc, is_standard, leaps, changes, types, chars;
};

static bool read_header(struct str s, struct counts *c)
{
    if (s.n < HEADER_BYTES || memcmp(s.p, "TZif", 4) != 0)
        return false;
    size_t *at[] = { &c->is_utc, &c->is_standard, &c->leaps, &c->changes, &c->types, &c->chars };
    for (size_t i = 0; i < 6; i++) {
        int64_t n = big_endian(s.p + 20 + 4 * i, 4);
        if (n < 0 || n > ZONE_FILE_BYTES_MAX)
            return false;
        *at[i] = (size_t)n;
    }
    return true;
}

static size_t block_bytes(const struct counts *c, size_t time_bytes)
{
    return HEADER_BYTES + c->changes * (time_bytes + 1) + c->types * TYPE_BYTES + c->chars + c->leaps * (time_bytes + 4) +
           c->is_standard + c->is_utc;
}

static bool read_changes(struct arena *a, struct str s, const struct counts *c, struct zone *z)
{
    const char *times = s.p + HEADER_BYTES, *kinds = times + c->changes * 8, *types = kinds + c->changes;
    z->n = c->changes;
    z->changes = ARENA_NEW_N(a, int64_t, z->n);
    z->offsets = ARENA_NEW_N(a, int64_t, z->n);
    z->first_s = c->types ? big_endian(types, 4) : 0;
    for (size_t i = 0; i < z->n; i++) {
        size_t kind = (unsigned char)kinds[i];
        if (kind >= c->types)
            return false;
        z->changes[i] = big_endian(times + i * 8, 8);
        z->offsets[i] = big_endian(types + kind * TYPE_BYTES, 4);
        if (i && z->changes[i] <= z->changes[i - 1])
            return false;
    }
    return true;
}

/* The first block, of 32-bit times, is passed over. */
const struct zone *zone_read(struct arena *a, struct str bytes)
{
    struct counts c;
    struct zone *z = ARENA_NEW(a, struct zone);
    if (!read_header(bytes, &c) || bytes.p[4] < '2')
        return NULL;
    bytes = str_from(bytes, block_bytes(&c, 4));
    if (!read_header(bytes, &c) || bytes.n < block_bytes(&c, 8) || !read_changes(a, bytes, &c, z))
        return NULL;
    struct str rest = str_from(bytes, block_bytes(&c, 8));
    if (!take(&rest, '\n'))
        return NULL;
    rest = str_first(rest, str_index(rest, '\n'));
    z->has_rule = rest.n > 0;
    return z->has_rule && !read_rule(rest, &z->rule) ? NULL : z;
}

static const struct zone *load_file(struct arena *a, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    struct arena scratch;
    arena_init(&scratch);
    char *bytes = arena_alloc(&scratch, ZONE_FILE_BYTES_MAX);
    size_t n = fread(bytes, 1, ZONE_FILE_BYTES_MAX, f);
    fclose(f);
    const struct zone *z = zone_read(a, (struct str){ bytes, n });
    arena_fini(&scratch);
    return z;
}

const struct zone *zone_load(struct arena *a, struct str name)
{
    if (str_is(name, "UTC"))
        return ARENA_NEW(a, struct zone);
    if (str_is(name, "Local")) {
        const struct zone *local = load_file(a, LOCAL_FILE);
        return local ? local : ARENA_NEW(a, struct zone);
    }
    return time_zone_is_known(name) ? load_file(a, arena_printf(a, FOLDER "%.*s", STR_ARG(name))) : NULL;
}

/* ---- Times ---- */

struct zone_span zone_at(const struct zone *z, int64_t utc_s)
{
    size_t low = 0, high = z->n; /* the first change after it */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (z->changes[middle] <= utc_s)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == z->n && z->has_rule) {
        struct zone_span span = rule_at(&z->rule, utc_s);
        if (z->n && span.from_s < z->changes[z->n - 1])
            span.from_s = z->changes[z->n - 1];
        return span;
    }
    return (struct zone_span){ low ? z->offsets[low - 1] : z->first_s, low ? z->changes[low - 1] : INT64_MIN,
                               low < z->n ? z->changes[low] : INT64_MAX };
}

struct civil_time zone_civil(const struct zone *z, int64_t utc_s)
{
    struct civil_time t;
    int64_t local_s = utc_s + zone_at(z, utc_s).offset_s, days = floor_div(local_s, DAY_S);
    int of_day = (int)(local_s - days * DAY_S);
    date_of(days, &t);
    t.hour = of_day / 3600;
    t.minute = of_day / 60 % 60;
    t.second = of_day % 60;
    t.weekday = (int)(((days + 4) % 7 + 7) % 7);
    return t;
}

int64_t zone_utc(const struct zone *z, const struct civil_time *t)
{
    int64_t local_s = days_of(t->year, t->month, t->day) * DAY_S + t->hour * 3600LL + t->minute * 60LL + t->second;
    struct zone_span span = zone_at(z, local_s);
    if (span.offset_s == 0)
        return local_s;
    int64_t utc_s = local_s - span.offset_s;
    if (utc_s < span.from_s || utc_s >= span.until_s)
        utc_s = local_s - zone_at(z, utc_s).offset_s;
    return utc_s;
}
