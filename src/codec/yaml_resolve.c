/* codec/yaml_resolve.c - see yaml_priv.h: what a text without quotes means.
 *
 * The first byte decides which meanings come into question at all; most texts are strings after one look. */
#include "codec/yaml_priv.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

static const struct str true_words[] = {
    STR("y"),   STR("Y"),    STR("yes"),  STR("Yes"), STR("YES"), STR("true"),
    STR("True"), STR("TRUE"), STR("on"),   STR("On"),  STR("ON"),
};
static const struct str false_words[] = {
    STR("n"),     STR("N"),     STR("no"),  STR("No"),  STR("NO"),  STR("false"),
    STR("False"), STR("FALSE"), STR("off"), STR("Off"), STR("OFF"),
};
static const struct str null_words[] = { STR(""), STR("~"), STR("null"), STR("Null"), STR("NULL") };
static const struct str nan_words[] = { STR(".nan"), STR(".NaN"), STR(".NAN") };
static const struct str infinity_words[] = { STR(".inf"), STR(".Inf"), STR(".INF") };

enum { WORD_BYTES_MAX = 5 };

#define IS_ONE_OF(text, words) is_one_of((text), (words), sizeof(words) / sizeof((words)[0]))

static bool is_one_of(struct str text, const struct str *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(text, words[i]))
            return true;
    return false;
}

static const struct yaml_scalar string = { .type = YAML_STR };

static bool word(struct str text, struct yaml_scalar *ret)
{
    if (text.n > WORD_BYTES_MAX)
        return false;
    bool sign = text.n && (text.p[0] == '-' || text.p[0] == '+');
    if (IS_ONE_OF(text, true_words))
        *ret = (struct yaml_scalar){ .type = YAML_BOOL, .boolean = true };
    else if (IS_ONE_OF(text, false_words))
        *ret = (struct yaml_scalar){ .type = YAML_BOOL, .boolean = false };
    else if (IS_ONE_OF(text, null_words))
        *ret = (struct yaml_scalar){ .type = YAML_NULL };
    else if (IS_ONE_OF(text, nan_words))
        *ret = (struct yaml_scalar){ .type = YAML_FLOAT, .number = NAN };
    else if (IS_ONE_OF(str_from(text, sign), infinity_words))
        *ret = (struct yaml_scalar){ .type = YAML_FLOAT,
                                     .number = text.p[0] == '-' ? -INFINITY : INFINITY };
    else
        return false;
    return true;
}

/* ---- Timestamps ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digits_at(struct str s, size_t at)
{
    size_t n = 0;
    while (at + n < s.n && is_digit(s.p[at + n]))
        n++;
    return n;
}

/* One or two digits from *at on, at most `max`. */
static bool small_number(struct str s, size_t *at, int max, int *ret_number)
{
    size_t n = digits_at(s, *at) > 1 ? 2 : digits_at(s, *at);
    if (n == 0)
        return false;
    int number = s.p[*at] - '0';
    if (n == 2)
        number = number * 10 + (s.p[*at + 1] - '0');
    *at += n;
    *ret_number = number;
    return number <= max;
}

static bool literal(struct str s, size_t *at, char c)
{
    if (*at == s.n || s.p[*at] != c)
        return false;
    ++*at;
    return true;
}

static bool date(struct str s, size_t *at)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    if (digits_at(s, 0) != 4)
        return false;
    int year = (s.p[0] - '0') * 1000 + (s.p[1] - '0') * 100 + (s.p[2] - '0') * 10 + (s.p[3] - '0');
    int month, day;
    *at = 4;
    if (!literal(s, at, '-') || !small_number(s, at, 12, &month) || month == 0 ||
        !literal(s, at, '-') || !small_number(s, at, 31, &day) || day == 0)
        return false;
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day <= days[month - 1] + (month == 2 && leap);
}

/* Hour, minute, second; then a fraction of any length, behind a period or a comma. */
static bool time_of_day(struct str s, size_t *at)
{
    int number;
    if (!small_number(s, at, 23, &number) || !literal(s, at, ':') ||
        !small_number(s, at, 59, &number) || !literal(s, at, ':') || !small_number(s, at, 59, &number))
        return false;
    if (*at < s.n && (s.p[*at] == '.' || s.p[*at] == ','))
        *at += digits_at(s, *at + 1) ? 1 + digits_at(s, *at + 1) : 0;
    return true;
}

/* Z, +hh:mm or -hh:mm. */
static bool zone(struct str s, size_t *at)
{
    if (literal(s, at, 'Z'))
        return true;
    int number;
    if (!literal(s, at, '+') && !literal(s, at, '-'))
        return false;
    return digits_at(s, *at) == 2 && small_number(s, at, 24, &number) && literal(s, at, ':') &&
           digits_at(s, *at) >= 2 && small_number(s, at, 60, &number);
}

static bool is_timestamp(struct str s)
{
    size_t at;
    if (!date(s, &at))
        return false;
    if (at == s.n)
        return true;
    if (literal(s, &at, 'T') || literal(s, &at, 't'))
        return time_of_day(s, &at) && zone(s, &at) && at == s.n;
    if (s.p[at] != ' ')
        return false;
    while (at < s.n && s.p[at] == ' ')
        at++;
    return time_of_day(s, &at) && at == s.n;
}

/* ---- Numbers ---- */

static int digit_value(char c)
{
    if (is_digit(c))
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

/* All of `s` in the base; false also when it passes 64 bits. */
static bool natural_in(struct str s, unsigned base, uint64_t *ret)
{
    uint64_t value = 0;
    for (size_t i = 0; i < s.n; i++) {
        unsigned digit = (unsigned)digit_value(s.p[i]);
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *ret = value;
    return s.n > 0;
}

/* The base by the prefix: 0x, 0o, 0b or 0. */
static bool natural(struct str s, uint64_t *ret)
{
    if (s.n < 2 || s.p[0] != '0')
        return natural_in(s, 10, ret);
    switch (s.p[1] | 32) {
    case 'x':
        return natural_in(str_from(s, 2), 16, ret);
    case 'o':
        return natural_in(str_from(s, 2), 8, ret);
    case 'b':
        return natural_in(str_from(s, 2), 2, ret);
    default:
        return natural_in(str_from(s, 1), 8, ret);
    }
}

static bool signed_of(uint64_t magnitude, bool negative, struct yaml_scalar *ret)
{
    uint64_t limit = (uint64_t)INT64_MAX + negative;
    if (magnitude > limit)
        return false;
    int64_t value = (int64_t)(negative ? -magnitude : magnitude);
    *ret = (struct yaml_scalar){ .type = YAML_INT, .integer = value };
    return true;
}

static bool integer(struct str s, struct yaml_scalar *ret)
{
    bool negative = s.p[0] == '-', sign = negative || s.p[0] == '+';
    uint64_t magnitude;
    if (!natural(str_from(s, sign), &magnitude))
        return false;
    if (signed_of(magnitude, negative, ret))
        return true;
    *ret = (struct yaml_scalar){ .type = YAML_UINT, .natural = magnitude };
    return !sign;
}

/* As resolve.go of go-yaml v2: binary digits may have a sign behind the prefix. */
static bool binary_with_inner_sign(struct str s, struct yaml_scalar *ret)
{
    uint64_t magnitude;
    return str_starts(s, STR("0b")) && s.n > 2 && (s.p[2] == '-' || s.p[2] == '+') &&
           natural_in(str_from(s, 3), 2, &magnitude) && signed_of(magnitude, s.p[2] == '-', ret);
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool is_float(struct str s)
{
    size_t at = s.p[0] == '-' || s.p[0] == '+';
    size_t whole = digits_at(s, at), fraction = 0;
    at += whole;
    if (literal(s, &at, '.')) {
        fraction = digits_at(s, at);
        at += fraction;
    }
    if (whole + fraction == 0)
        return false;
    if (at < s.n && (s.p[at] | 32) == 'e') {
        at++;
        if (!literal(s, &at, '+'))
            (void)literal(s, &at, '-');
        if (digits_at(s, at) == 0)
            return false;
        at += digits_at(s, at);
    }
    return at == s.n;
}

/* `text` is terminated. A number too large for a double is a string; one too small is 0. */
static bool float_of(const char *text, struct yaml_scalar *ret)
{
    double number = strtod(text, NULL);
    *ret = (struct yaml_scalar){ .type = YAML_FLOAT, .number = number };
    return !isinf(number);
}

static bool number(struct str s, struct yaml_scalar *ret)
{
    return integer(s, ret) || (is_float(s) && float_of(s.p, ret)) || binary_with_inner_sign(s, ret);
}

/* Behind a leading period an underscore stands between digits only; elsewhere it is free. */
static bool underscores_separate(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '_' && (i == 0 || !is_digit(s.p[i - 1]) || i + 1 == s.n || !is_digit(s.p[i + 1])))
            return false;
    return true;
}

static struct yaml_scalar number_or_string(struct str text)
{
    char room[64];
    char *plain = text.n < sizeof(room) ? room : mem_alloc(text.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != '_')
            plain[n++] = text.p[i];
    plain[n] = '\0';
    struct yaml_scalar scalar;
    if (!number((struct str){ plain, n }, &scalar))
        scalar = string;
    if (plain != room)
        free(plain);
    return scalar;
}

struct yaml_scalar yaml_resolve(struct str text, bool timestamps)
{
    struct yaml_scalar scalar;
    char first = text.n ? text.p[0] : '~';
    bool sign = first == '-' || first == '+';
    if (!sign && first != '.' && !is_digit(first) && !memchr("yYnNtTfFoO~", first, 11))
        return string;
    if (word(text, &scalar))
        return scalar;
    if (first == '.')
        return underscores_separate(text) ? number_or_string(text) : string;
    if (!sign && !is_digit(first))
        return string;
    if (timestamps && is_timestamp(text))
        return (struct yaml_scalar){ .type = YAML_TIMESTAMP };
    return number_or_string(text);
}
