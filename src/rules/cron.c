/* rules/cron.c - see cron.h. Upstream: robfig/cron v3, parser.go. */
#include "rules/cron.h"

#include "api/duration.h"
#include "base/strbuf.h"

struct bounds {
    uint64_t min, max;
    const char *names; /* three letters each, from `min` on; or NULL */
};

static const struct bounds bounds[] = {
    { 0, 59, NULL },                                   /* minute */
    { 0, 23, NULL },                                   /* hour */
    { 1, 31, NULL },                                   /* day of the month */
    { 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec" }, /* month */
    { 0, 6, "sunmontuewedthufrisat" },                 /* day of the week */
};
enum { N_FIELDS = sizeof(bounds) / sizeof(bounds[0]) };

/* ---- Numbers ---- */

static bool is_name_at(const char *name, struct str text)
{
    for (size_t i = 0; i < 3; i++)
        if ((text.p[i] | 0x20) != name[i])
            return false;
    return true;
}

static bool find_name(const struct bounds *b, struct str text, uint64_t *ret_number)
{
    if (!b->names || text.n != 3)
        return false;
    for (size_t i = 0; b->names[i]; i += 3)
        if (is_name_at(b->names + i, text)) {
            *ret_number = b->min + i / 3;
            return true;
        }
    return false;
}

static const char *number_fault(struct arena *a, struct str text, const char *why)
{
    struct strbuf quoted;
    strbuf_init(&quoted, STRBUF_NO_MAX);
    strbuf_add_quoted(&quoted, text);
    const char *fault = arena_printf(a, "failed to parse int from %.*s: strconv.Atoi: parsing %.*s: %s", STR_ARG(text),
                                     STR_ARG(strbuf_str(&quoted)), why);
    strbuf_fini(&quoted);
    return fault;
}

/* As Go's Atoi, and not below zero. A sign may be there. */
static const char *parse_number(struct arena *a, struct str text, uint64_t *ret_number)
{
    bool negative = text.n && text.p[0] == '-', sign = negative || (text.n && text.p[0] == '+'), full = false;
    int64_t number = 0;
    if (text.n == (size_t)sign)
        return number_fault(a, text, "invalid syntax");
    for (size_t i = sign; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return number_fault(a, text, "invalid syntax");
        full |= __builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, text.p[i] - '0', &number);
    }
    if (full)
        return number_fault(a, text, "value out of range");
    if (negative && number)
        return arena_printf(a, "negative number (%lld) not allowed: %.*s", -(long long)number, STR_ARG(text));
    *ret_number = (uint64_t)number;
    return NULL;
}

static const char *parse_name_or_number(struct arena *a, const struct bounds *b, struct str text, uint64_t *ret_number)
{
    return find_name(b, text, ret_number) ? NULL : parse_number(a, text, ret_number);
}

/* ---- Fields ---- */

/* The part before the next separator; what is behind it stays in *left. */
static struct str next_part(struct str *left, char separator, size_t *n_parts)
{
    size_t end = str_index(*left, separator);
    struct str part = str_first(*left, end);
    *left = str_from(*left, end < left->n ? end + 1 : end);
    ++*n_parts;
    return part;
}

static size_t count(struct str text, char c)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == c;
    return n;
}

struct range {
    uint64_t start, end, step;
};

/* "*", "5", "1-5" */
static const char *parse_ends(struct arena *a, const struct bounds *b, struct str expr, struct str ends,
                              struct range *r)
{
    size_t n_parts = 0;
    struct str left = ends, low = next_part(&left, '-', &n_parts);
    if (str_is(low, "*") || str_is(low, "?")) {
        *r = (struct range){ b->min, b->max, 1 };
        return NULL;
    }
    const char *fault = parse_name_or_number(a, b, low, &r->start);
    r->end = r->start;
    if (fault || count(ends, '-') == 0)
        return fault;
    if (count(ends, '-') > 1)
        return arena_printf(a, "too many hyphens: %.*s", STR_ARG(expr));
    return parse_name_or_number(a, b, left, &r->end);
}

static const char *check_range(struct arena *a, const struct bounds *b, struct str expr, struct range r)
{
    unsigned long long start = r.start, end = r.end, min = b->min, max = b->max;
    if (start < min)
        return arena_printf(a, "beginning of range (%llu) below minimum (%llu): %.*s", start, min, STR_ARG(expr));
    if (end > max)
        return arena_printf(a, "end of range (%llu) above maximum (%llu): %.*s", end, max, STR_ARG(expr));
    if (start > end)
        return arena_printf(a, "beginning of range (%llu) beyond end of range (%llu): %.*s", start, end, STR_ARG(expr));
    if (r.step == 0)
        return arena_printf(a, "step of range should be a positive number: %.*s", STR_ARG(expr));
    return NULL;
}

/* Adds the numbers of a range to the bits. CRON_STAR: all there are, said as such. */
static const char *parse_range(struct arena *a, const struct bounds *b, struct str expr, uint64_t *bits)
{
    size_t n_parts = 0, n_slashes = count(expr, '/');
    struct str left = expr, ends = next_part(&left, '/', &n_parts);
    struct range r = { 0, 0, 1 };
    const char *fault = parse_ends(a, b, expr, ends, &r);
    if (fault)
        return fault;
    if (n_slashes > 1)
        return arena_printf(a, "too many slashes: %.*s", STR_ARG(expr));
    if (n_slashes == 1) {
        fault = parse_number(a, left, &r.step);
        if (fault)
            return fault;
        if (count(ends, '-') == 0)
            r.end = b->max;
    }
    fault = check_range(a, b, expr, r);
    if (fault)
        return fault;
    bool star = ends.n && (ends.p[0] == '*' || ends.p[0] == '?') && (ends.n == 1 || ends.p[1] == '-');
    *bits |= star && r.step == 1 ? CRON_STAR : 0;
    for (uint64_t i = r.start; i <= r.end; i += r.step) /* a step is less than 2^63 */
        *bits |= 1ULL << i;
    return NULL;
}

static const char *parse_field(struct arena *a, const struct bounds *b, struct str field, uint64_t *bits)
{
    size_t n_parts = 0;
    while (field.n) {
        struct str expr = next_part(&field, ',', &n_parts);
        const char *fault = expr.n ? parse_range(a, b, expr, bits) : NULL;
        if (fault)
            return fault;
    }
    return NULL;
}

/* ---- Schedules ---- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct str next_word(struct str *left)
{
    size_t start = 0, end;
    while (start < left->n && is_space(left->p[start]))
        start++;
    for (end = start; end < left->n && !is_space(left->p[end]);)
        end++;
    struct str word = str_range(left->p + start, left->p + end);
    *left = str_from(*left, end);
    return word;
}

static const char *words_fault(struct arena *a, struct str schedule, size_t n_words)
{
    struct strbuf words;
    strbuf_init(&words, STRBUF_NO_MAX);
    struct str word;
    while ((word = next_word(&schedule)).n) {
        strbuf_add_text(&words, words.n ? " " : "");
        strbuf_add_str(&words, word);
    }
    const char *fault = arena_printf(a, "expected exactly %d fields, found %zu: [%.*s]", N_FIELDS, n_words,
                                     STR_ARG(strbuf_str(&words)));
    strbuf_fini(&words);
    return fault;
}

static const char *parse_words(struct arena *a, struct str schedule, struct cron_schedule *s)
{
    struct str left = schedule, words[N_FIELDS], word;
    size_t n_words = 0;
    for (; (word = next_word(&left)).n; n_words++)
        if (n_words < N_FIELDS)
            words[n_words] = word;
    if (n_words != N_FIELDS)
        return words_fault(a, schedule, n_words);
    const char *fault = NULL;
    for (size_t i = 0; !fault && i < N_FIELDS; i++)
        fault = parse_field(a, &bounds[i], words[i], &s->bits[i]);
    return fault;
}

static const char *parse_descriptor(struct arena *a, struct str text, struct cron_schedule *s)
{
    static const struct {
        const char *name, *fields;
    } known[] = {
        { "@yearly", "0 0 1 1 *" }, { "@annually", "0 0 1 1 *" }, { "@monthly", "0 0 1 * *" }, { "@weekly", "0 0 * * 0" },
        { "@daily", "0 0 * * *" },  { "@midnight", "0 0 * * *" }, { "@hourly", "0 * * * *" },
    };
    static const struct str every = { "@every ", 7 };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (str_is(text, known[i].name))
            return parse_words(a, str_of(known[i].fields), s);
    if (!str_starts(text, every))
        return arena_printf(a, "unrecognized descriptor: %.*s", STR_ARG(text));
    int64_t ns;
    struct err e;
    err_init(&e, a);
    if (duration_parse(str_from(text, every.n), &ns, &e))
        return arena_printf(a, "failed to parse duration %.*s: %s", STR_ARG(text), e.message);
    s->every_s = ns < 1000000000 ? 1 : ns / 1000000000;
    return NULL;
}

const char *cron_parse(struct arena *a, struct str schedule, struct cron_schedule *ret_schedule)
{
    *ret_schedule = (struct cron_schedule){ 0 };
    if (str_starts(schedule, STR("TZ=")) || str_starts(schedule, STR("CRON_TZ="))) {
        size_t space = str_index(schedule, ' '), name = str_index(schedule, '=') + 1;
        if (space == schedule.n)
            return "invalid schedule format: runtime error: slice bounds out of range [:-1]";
        struct str zone = str_range(schedule.p + name, schedule.p + space);
        const char *fault = zone.n ? time_zone_fault(a, zone) : NULL;
        if (fault)
            return arena_printf(a, "provided bad location %.*s: %s", STR_ARG(zone), fault);
        ret_schedule->zone = zone.n ? zone : STR("UTC");
        schedule = str_from(schedule, space);
        while (schedule.n && is_space(schedule.p[0]))
            schedule = str_from(schedule, 1);
    }
    if (schedule.n && schedule.p[0] == '@')
        return parse_descriptor(a, schedule, ret_schedule);
    return parse_words(a, schedule, ret_schedule);
}

const char *cron_fault(struct arena *a, struct str schedule)
{
    struct cron_schedule ignored;
    return cron_parse(a, schedule, &ignored);
}

const char *time_zone_fault(struct arena *a, struct str name)
{
    if (str_is(name, "UTC") || str_is(name, "Local") || time_zone_is_known(name))
        return NULL;
    if (name.n && (memmem(name.p, name.n, "..", 2) || name.p[0] == '/' || name.p[0] == '\\'))
        return "time: invalid location name";
    return arena_printf(a, "unknown time zone %.*s", STR_ARG(name));
}
