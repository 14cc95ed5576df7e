/* api/time.c - see time.h.
 *
 * A layout is a list of elements, each with the character that must come before it. Parsing walks
 * the list; an element that cannot be read ends it with `cannot parse "<rest>" as "<element>"`, one
 * that is read but too large with `<what> out of range`. The day is checked against the month last,
 * after the text has been read to its end. */
#include "api/time.h"

#include <assert.h>

enum { SECONDS_A_DAY = 86400, NANOS_A_SECOND = 1000000000, FRACTION_DIGITS_MAX = 9 };

struct civil {
    int64_t year;
    int month, day; /* from 1 */
    int hour, minute, second;
};

/* What is read so far. */
struct reading {
    struct str rest;
    struct civil civil;
    int nanos;
    int offset_seconds;       /* east of UTC */
    const char *out_of_range; /* what is; NULL if all is fine */
};

/* False when the element cannot be read; `out_of_range` wins over that. */
typedef bool read_element(struct reading *r);

struct element {
    char before; /* 0: nothing */
    const char *name;
    read_element *read;
};

static bool digit_at(struct str s, size_t at)
{
    return at < s.n && s.p[at] >= '0' && s.p[at] <= '9';
}

/* Two digits; or one, unless `fixed`. */
static bool take_number(struct str *s, bool fixed, int *ret)
{
    if (!digit_at(*s, 0) || (fixed && !digit_at(*s, 1)))
        return false;
    int n = digit_at(*s, 1) ? 2 : 1;
    *ret = n == 2 ? (s->p[0] - '0') * 10 + (s->p[1] - '0') : s->p[0] - '0';
    *s = str_from(*s, (size_t)n);
    return true;
}

static void check_range(struct reading *r, bool inside, const char *what)
{
    if (!inside)
        r->out_of_range = what;
}

static bool read_year(struct reading *r)
{
    int year = 0;
    for (size_t i = 0; i < 4; i++) {
        if (!digit_at(r->rest, i))
            return false;
        year = year * 10 + (r->rest.p[i] - '0');
    }
    r->civil.year = year;
    r->rest = str_from(r->rest, 4);
    return true;
}

static bool read_month(struct reading *r)
{
    if (!take_number(&r->rest, true, &r->civil.month))
        return false;
    check_range(r, r->civil.month >= 1 && r->civil.month <= 12, "month");
    return true;
}

static bool read_day(struct reading *r)
{
    return take_number(&r->rest, true, &r->civil.day);
}

static bool read_hour(struct reading *r)
{
    if (!take_number(&r->rest, false, &r->civil.hour))
        return false;
    check_range(r, r->civil.hour < 24, "hour");
    return true;
}

static bool read_minute(struct reading *r)
{
    if (!take_number(&r->rest, true, &r->civil.minute))
        return false;
    check_range(r, r->civil.minute < 60, "minute");
    return true;
}

static bool comma_or_period(struct str s)
{
    return s.n && (s.p[0] == '.' || s.p[0] == ',');
}

static bool read_second(struct reading *r)
{
    if (!take_number(&r->rest, true, &r->civil.second))
        return false;
    check_range(r, r->civil.second < 60, "second");
    return true;
}

/* A layout without a fraction takes one of any length; what is finer than nanoseconds is cut off. */
static bool read_second_and_fraction(struct reading *r)
{
    if (!read_second(r))
        return false;
    if (r->out_of_range || !comma_or_period(r->rest) || !digit_at(r->rest, 1))
        return true;
    size_t n = 1;
    for (; digit_at(r->rest, n); n++)
        if (n <= FRACTION_DIGITS_MAX)
            r->nanos = r->nanos * 10 + (r->rest.p[n] - '0');
    for (size_t i = n; i <= FRACTION_DIGITS_MAX; i++)
        r->nanos *= 10;
    r->rest = str_from(r->rest, n);
    return true;
}

/* Six places of which Go reads a number, so that the first may be a sign. */
static bool read_micros(struct reading *r)
{
    enum { BYTES = 7 };
    if (r->rest.n < BYTES || !comma_or_period(r->rest))
        return false;
    char sign = r->rest.p[1];
    int micros = 0;
    for (size_t i = sign == '-' || sign == '+' ? 2 : 1; i < BYTES; i++) {
        if (!digit_at(r->rest, i))
            return false;
        micros = micros * 10 + (r->rest.p[i] - '0');
    }
    check_range(r, sign != '-' || micros == 0, "fractional second");
    r->nanos = micros * 1000;
    r->rest = str_from(r->rest, BYTES);
    return true;
}

/* Z, or a sign, hours and minutes. 24 hours and 60 minutes are in range, as in Go. */
static bool read_zone(struct reading *r)
{
    if (r->rest.n && r->rest.p[0] == 'Z') {
        r->rest = str_from(r->rest, 1);
        return true;
    }
    enum { BYTES = 6 };
    if (r->rest.n < BYTES || r->rest.p[3] != ':')
        return false;
    struct str hours = { r->rest.p + 1, 2 }, minutes = { r->rest.p + 4, 2 };
    char sign = r->rest.p[0];
    int hour = 0, minute = 0;
    bool ok = take_number(&hours, true, &hour) && take_number(&minutes, true, &minute);
    check_range(r, hour <= 24, "time zone offset hour");
    check_range(r, minute <= 60, "time zone offset minute");
    r->offset_seconds = (hour * 60 + minute) * (sign == '-' ? -60 : 60);
    r->rest = str_from(r->rest, BYTES);
    return ok && (sign == '+' || sign == '-');
}

char *time_quote(struct arena *a, struct str s)
{
    static const char hex[] = "0123456789abcdef";
    assert(s.n < SIZE_MAX / 4 - 3);
    char *quoted = arena_alloc(a, s.n * 4 + 3), *to = quoted;
    *to++ = '"';
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c < ' ' || c >= 0x80) {
            *to++ = '\\';
            *to++ = 'x';
            *to++ = hex[c >> 4];
            *to++ = hex[c & 15];
            continue;
        }
        if (c == '"' || c == '\\')
            *to++ = '\\';
        *to++ = (char)c;
    }
    *to++ = '"';
    *to = '\0';
    return quoted;
}

struct layout {
    const char *text;
    const struct element *elements; /* ends with one without a name */
};

static const struct layout second_layout = {
    "2006-01-02T15:04:05Z07:00",
    (const struct element[]){
        { 0, "2006", read_year },
        { '-', "01", read_month },
        { '-', "02", read_day },
        { 'T', "15", read_hour },
        { ':', "04", read_minute },
        { ':', "05", read_second_and_fraction },
        { 0, "Z07:00", read_zone },
        { 0 },
    },
};

static const struct layout micro_layout = {
    "2006-01-02T15:04:05.000000Z07:00",
    (const struct element[]){
        { 0, "2006", read_year },
        { '-', "01", read_month },
        { '-', "02", read_day },
        { 'T', "15", read_hour },
        { ':', "04", read_minute },
        { ':', "05", read_second },
        { 0, ".000000", read_micros },
        { 0, "Z07:00", read_zone },
        { 0 },
    },
};

static enum err_code cannot_parse(const struct layout *layout, struct str text, struct str rest,
                                  const char *element, struct err *e)
{
    return err_set(e, ERR_BAD_REQUEST, "parsing time %s as \"%s\": cannot parse %s as \"%s\"",
                   time_quote(e->arena, text), layout->text, time_quote(e->arena, rest), element);
}

static enum err_code out_of_range(struct str text, const char *what, struct err *e)
{
    return err_set(e, ERR_BAD_REQUEST, "parsing time %s: %s out of range", time_quote(e->arena, text),
                   what);
}

static enum err_code read_layout(const struct layout *layout, struct str text, struct reading *r,
                                 struct err *e)
{
    for (const struct element *at = layout->elements; at->name; at++) {
        if (at->before && (!r->rest.n || r->rest.p[0] != at->before))
            return cannot_parse(layout, text, r->rest, (char[]){ at->before, '\0' }, e);
        r->rest = str_from(r->rest, at->before ? 1 : 0);
        struct str start = r->rest;
        bool ok = at->read(r);
        if (r->out_of_range)
            return out_of_range(text, r->out_of_range, e);
        if (!ok)
            return cannot_parse(layout, text, start, at->name, e);
    }
    if (r->rest.n)
        return err_set(e, ERR_BAD_REQUEST, "parsing time %s: extra text: %s", time_quote(e->arena, text),
                       time_quote(e->arena, r->rest));
    return ERR_OK;
}

static int days_in_month(int month, int64_t year)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

/* The calendar repeats every 400 years, and its months follow one rule when a year begins in March:
 * then the leap day comes last, and month m (0 = March) begins (153 m + 2) / 5 days after the first. */
enum {
    DAYS_A_YEAR = 365,
    DAYS_4_YEARS = 1461,
    DAYS_100_YEARS = 36524,
    DAYS_400_YEARS = 146097,
    DAYS_0000_03_01_TO_1970 = 719468,
};

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t days_from_civil(int64_t year, int month, int day)
{
    int64_t march_year = month > 2 ? year : year - 1;
    int64_t era = floor_div(march_year, 400), in_era = march_year - era * 400;
    int64_t month_days = (153 * ((month + 9) % 12) + 2) / 5;
    int64_t days = in_era * DAYS_A_YEAR + in_era / 4 - in_era / 100 + month_days + day - 1;
    return era * DAYS_400_YEARS + days - DAYS_0000_03_01_TO_1970;
}

static void civil_from_days(int64_t days, struct civil *ret)
{
    days += DAYS_0000_03_01_TO_1970;
    int64_t era = floor_div(days, DAYS_400_YEARS), in_era = days - era * DAYS_400_YEARS;
    int64_t without_leap_days =
        in_era - in_era / (DAYS_4_YEARS - 1) + in_era / DAYS_100_YEARS - in_era / (DAYS_400_YEARS - 1);
    int64_t year = without_leap_days / DAYS_A_YEAR;
    int in_year = (int)(in_era - (year * DAYS_A_YEAR + year / 4 - year / 100));
    int march_month = (5 * in_year + 2) / 153;
    ret->day = in_year - (153 * march_month + 2) / 5 + 1;
    ret->month = march_month < 10 ? march_month + 3 : march_month - 9;
    ret->year = era * 400 + year + (ret->month <= 2);
}

static enum err_code parse(const struct layout *layout, struct str text, struct timestamp *ret_t,
                           struct err *e)
{
    struct reading r = { .rest = text };
    enum err_code rc = read_layout(layout, text, &r, e);
    if (rc)
        return rc;
    const struct civil *c = &r.civil;
    if (c->day < 1 || c->day > days_in_month(c->month, c->year))
        return out_of_range(text, "day", e);
    int64_t days = days_from_civil(c->year, c->month, c->day);
    int seconds = (c->hour * 60 + c->minute) * 60 + c->second;
    *ret_t = (struct timestamp){ days * SECONDS_A_DAY + seconds - r.offset_seconds, r.nanos };
    return ERR_OK;
}

enum err_code timestamp_parse(struct str text, struct timestamp *ret_t, struct err *e)
{
    return parse(&second_layout, text, ret_t, e);
}

enum err_code timestamp_parse_micro(struct str text, struct timestamp *ret_t, struct err *e)
{
    return parse(&micro_layout, text, ret_t, e);
}

struct timestamp timestamp_unix(int64_t seconds, int64_t nanos)
{
    int64_t carry = floor_div(nanos, NANOS_A_SECOND);
    return (struct timestamp){ (int64_t)((uint64_t)seconds + (uint64_t)carry),
                               (int32_t)(nanos - carry * NANOS_A_SECOND) };
}

static struct civil civil_of(int64_t seconds)
{
    struct civil c;
    int64_t days = floor_div(seconds, SECONDS_A_DAY);
    int in_day = (int)((seconds % SECONDS_A_DAY + SECONDS_A_DAY) % SECONDS_A_DAY);
    civil_from_days(days, &c);
    c.hour = in_day / 3600;
    c.minute = in_day / 60 % 60;
    c.second = in_day % 60;
    return c;
}

enum { TEXT_BYTES_MAX = 64 }; /* of any int64 */

/* At least `width` digits, after a sign if there is one; gives the end. */
static char *put_padded(char *to, int64_t value, int width)
{
    char digits[20];
    int n = 0;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    for (; rest || n < width; rest /= 10)
        digits[n++] = (char)('0' + rest % 10);
    if (value < 0)
        *to++ = '-';
    while (n > 0)
        *to++ = digits[--n];
    return to;
}

static char *put_char(char *to, char c)
{
    *to = c;
    return to + 1;
}

static char *put_until_second(char *to, struct timestamp t)
{
    struct civil c = civil_of(t.seconds);
    to = put_char(put_padded(to, c.year, 4), '-');
    to = put_char(put_padded(to, c.month, 2), '-');
    to = put_char(put_padded(to, c.day, 2), 'T');
    to = put_char(put_padded(to, c.hour, 2), ':');
    to = put_char(put_padded(to, c.minute, 2), ':');
    return put_padded(to, c.second, 2);
}

void timestamp_add(struct strbuf *b, struct timestamp t)
{
    char text[TEXT_BYTES_MAX], *end = put_char(put_until_second(text, t), 'Z');
    strbuf_add_str(b, str_range(text, end));
}

void timestamp_add_micro(struct strbuf *b, struct timestamp t)
{
    char text[TEXT_BYTES_MAX], *end = put_char(put_until_second(text, t), '.');
    end = put_char(put_padded(end, t.nanos / 1000, 6), 'Z');
    strbuf_add_str(b, str_range(text, end));
}
