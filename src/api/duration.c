/* api/duration.c - see duration.h. */
#include "api/duration.h"

#include "api/time.h"

static const struct unit {
    const char *name;
    uint64_t ns;
} units[] = {
    { "ns", 1 },
    { "us", 1000 },
    { "\xC2\xB5s", 1000 }, /* U+00B5 micro sign */
    { "\xCE\xBCs", 1000 }, /* U+03BC Greek letter mu */
    { "ms", 1000000 },
    { "s", 1000000000 },
    { "m", 60ull * 1000000000 },
    { "h", 3600ull * 1000000000 },
};

static const uint64_t NS_MAX = 1ull << 63; /* of a magnitude */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const struct unit *find_unit(struct str name)
{
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (str_is(name, units[i].name))
            return &units[i];
    return NULL;
}

/* The digits at the beginning, none being 0; false when they pass 2^63. */
static bool take_integer(struct str *s, uint64_t *ret)
{
    uint64_t value = 0;
    size_t i = 0;
    for (; i < s->n && is_digit(s->p[i]); i++) {
        if (value > NS_MAX / 10)
            return false;
        value = value * 10 + (uint64_t)(s->p[i] - '0');
        if (value > NS_MAX)
            return false;
    }
    *s = str_from(*s, i);
    *ret = value;
    return true;
}

/* The digits at the beginning as value / scale; those that an int64 has no room for do not count. */
static uint64_t take_fraction(struct str *s, double *ret_scale)
{
    uint64_t value = 0;
    double scale = 1;
    bool full = false;
    size_t i = 0;
    for (; i < s->n && is_digit(s->p[i]); i++) {
        full = full || value > INT64_MAX / 10;
        uint64_t next = full ? 0 : value * 10 + (uint64_t)(s->p[i] - '0');
        full = full || next > NS_MAX;
        if (full)
            continue;
        value = next;
        scale *= 10;
    }
    *s = str_from(*s, i);
    *ret_scale = scale;
    return value;
}

static struct str take_unit_name(struct str *s)
{
    size_t i = 0;
    while (i < s->n && s->p[i] != '.' && !is_digit(s->p[i]))
        i++;
    struct str name = str_first(*s, i);
    *s = str_from(*s, i);
    return name;
}

static enum err_code bad(struct err *e, const char *what, struct str text)
{
    return err_set(e, ERR_BAD_REQUEST, "time: %s %s", what, time_quote(e->arena, text));
}

/* One number and unit off `s`, added to `sum`. The fraction goes through a double, as in Go. */
static enum err_code take_term(struct str text, struct str *s, uint64_t *sum, struct err *e)
{
    uint64_t whole, fraction = 0;
    double scale = 1;
    size_t n_left = s->n;
    if (!take_integer(s, &whole))
        return bad(e, "invalid duration", text);
    bool has_digits = s->n != n_left;
    if (s->n && s->p[0] == '.') {
        *s = str_from(*s, 1);
        n_left = s->n;
        fraction = take_fraction(s, &scale);
        has_digits |= s->n != n_left;
    }
    if (!has_digits)
        return bad(e, "invalid duration", text);
    struct str name = take_unit_name(s);
    if (!name.n)
        return bad(e, "missing unit in duration", text);
    const struct unit *unit = find_unit(name);
    if (!unit)
        return err_set(e, ERR_BAD_REQUEST, "time: unknown unit %s in duration %s",
                       time_quote(e->arena, name), time_quote(e->arena, text));
    if (whole > NS_MAX / unit->ns)
        return bad(e, "invalid duration", text);
    whole = whole * unit->ns + (uint64_t)((double)fraction * ((double)unit->ns / scale));
    *sum += whole; /* 2^63 and 2^63 make 0, as in Go */
    return whole > NS_MAX || *sum > NS_MAX ? bad(e, "invalid duration", text) : ERR_OK;
}

enum err_code duration_parse(struct str text, int64_t *ret_ns, struct err *e)
{
    struct str s = text;
    bool negative = s.n && s.p[0] == '-';
    uint64_t sum = 0;
    if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
        s = str_from(s, 1);
    if (!s.n)
        return bad(e, "invalid duration", text);
    bool plain_zero = str_is(s, "0");
    while (s.n && !plain_zero) {
        enum err_code rc = take_term(text, &s, &sum, e);
        if (rc)
            return rc;
    }
    if (!negative && sum > INT64_MAX)
        return bad(e, "invalid duration", text);
    *ret_ns = (int64_t)(negative ? -sum : sum);
    return ERR_OK;
}

/* value / 10^places, without zeros at the end of the fraction. */
static void add_fraction(struct strbuf *b, uint64_t value, int places)
{
    char digits[9];
    int n = 0;
    uint64_t power = 1;
    for (int i = 0; i < places; i++)
        power *= 10;
    strbuf_add_uint(b, value / power);
    for (uint64_t rest = value % power; rest; rest %= power) {
        power /= 10;
        digits[n++] = (char)('0' + rest / power);
    }
    if (n)
        strbuf_add_char(b, '.');
    strbuf_add(b, digits, (size_t)n);
}

/* Below a second: the largest unit of which there is at least one. */
static void add_short(struct strbuf *b, uint64_t ns)
{
    int places = ns < 1000 ? 0 : ns < 1000000 ? 3 : 6;
    add_fraction(b, ns, places);
    strbuf_add_text(b, places == 0 ? "ns" : places == 3 ? "\xC2\xB5s" : "ms");
}

static void add_long(struct strbuf *b, uint64_t ns)
{
    const uint64_t minute_ns = 60ull * 1000000000;
    uint64_t minutes = ns / minute_ns;
    if (minutes >= 60) {
        strbuf_add_uint(b, minutes / 60);
        strbuf_add_char(b, 'h');
    }
    if (minutes) {
        strbuf_add_uint(b, minutes % 60);
        strbuf_add_char(b, 'm');
    }
    add_fraction(b, ns % minute_ns, 9);
    strbuf_add_char(b, 's');
}

void duration_add(struct strbuf *b, int64_t ns)
{
    uint64_t magnitude = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    if (ns < 0)
        strbuf_add_char(b, '-');
    if (magnitude == 0)
        STRBUF_ADD_LIT(b, "0s");
    else if (magnitude < 1000000000)
        add_short(b, magnitude);
    else
        add_long(b, magnitude);
}
