/* api/decimal.c - see decimal.h. Schoolbook arithmetic, a byte a digit: such numbers are rare. */
#include "api/decimal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct decimal decimal_of_int(int64_t value, int64_t exponent, uint8_t room[DECIMAL_INT64_DIGITS])
{
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    uint32_t at = DECIMAL_INT64_DIGITS;
    for (; rest; rest /= 10)
        room[--at] = (uint8_t)(rest % 10);
    return (struct decimal){ (value > 0) - (value < 0), DECIMAL_INT64_DIGITS - at, exponent, room + at };
}

static int cmp_magnitude(struct decimal a, struct decimal b)
{
    int64_t a_end = a.exponent + a.n, b_end = b.exponent + b.n;
    if (a_end != b_end)
        return a_end < b_end ? -1 : 1;
    uint32_t n = a.n > b.n ? a.n : b.n;
    for (uint32_t i = 0; i < n; i++) {
        int da = i < a.n ? a.digits[i] : 0, db = i < b.n ? b.digits[i] : 0;
        if (da != db)
            return da < db ? -1 : 1;
    }
    return 0;
}

int decimal_cmp(struct decimal a, struct decimal b)
{
    if (a.sign != b.sign)
        return a.sign < b.sign ? -1 : 1;
    return a.sign * (a.sign ? cmp_magnitude(a, b) : 0);
}

/* Whether any of the digits from `at` on is not zero. */
static bool any_digit(struct decimal d, uint32_t at)
{
    for (uint32_t i = at; i < d.n; i++)
        if (d.digits[i])
            return true;
    return false;
}

/* How many of d's digits stand at 10^exponent or above. */
static uint32_t n_digits_from(struct decimal d, int64_t exponent)
{
    int64_t n = d.n + d.exponent - exponent;
    return n < 0 ? 0 : n > d.n ? d.n : (uint32_t)n;
}

bool decimal_is_integer(struct decimal d)
{
    return !any_digit(d, n_digits_from(d, 0));
}

/* magnitude = magnitude * 10 + digit; false when that does not fit. */
static bool push_digit(uint64_t *magnitude, unsigned digit)
{
    return !__builtin_mul_overflow(*magnitude, 10u, magnitude) &&
           !__builtin_add_overflow(*magnitude, digit, magnitude);
}

static int64_t saturated(int sign, bool fits, uint64_t magnitude)
{
    uint64_t max = sign < 0 ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
    if (!fits || magnitude > max)
        return sign < 0 ? INT64_MIN : INT64_MAX;
    return sign < 0 ? (int64_t)-magnitude : (int64_t)magnitude;
}

int64_t decimal_scaled(struct decimal d, int64_t exponent)
{
    if (!d.sign)
        return 0;
    uint32_t n = n_digits_from(d, exponent);
    uint64_t magnitude = 0;
    bool fits = true;
    for (uint32_t i = 0; i < n && fits; i++)
        fits = push_digit(&magnitude, d.digits[i]);
    for (int64_t e = d.exponent; e > exponent && fits; e--)
        fits = push_digit(&magnitude, 0);
    if (fits && any_digit(d, n))
        fits = !__builtin_add_overflow(magnitude, 1u, &magnitude);
    return saturated(d.sign, fits, magnitude);
}

bool decimal_digits_fit_int64(struct decimal d)
{
    uint64_t magnitude = 0;
    for (uint32_t i = 0; i < d.n; i++)
        if (!push_digit(&magnitude, d.digits[i]))
            return false;
    return magnitude <= (uint64_t)INT64_MAX + (d.sign < 0);
}

double decimal_digits_as_double(struct decimal d)
{
    char text[DECIMAL_DIGITS_MAX + DECIMAL_INT64_DIGITS + 1];
    for (uint32_t i = 0; i < d.n; i++)
        text[i] = (char)('0' + d.digits[i]);
    text[d.n] = '\0';
    return d.sign * strtod(text, NULL);
}

void decimal_start(struct decimal_buf *b)
{
    b->sign = 0;
    b->n = 0;
    b->exponent = 0;
}

bool decimal_append(struct decimal_buf *b, struct str digits)
{
    size_t at = 0;
    while (b->n == 0 && at < digits.n && digits.p[at] == '0')
        at++;
    if (digits.n - at > DECIMAL_DIGITS_MAX - b->n)
        return false;
    for (; at < digits.n; at++)
        b->digits[b->n++] = (uint8_t)(digits.p[at] - '0');
    return true;
}

void decimal_copy(struct decimal d, struct decimal_buf *ret_b)
{
    assert(d.n <= sizeof(ret_b->digits));
    ret_b->sign = d.sign;
    ret_b->n = d.n;
    ret_b->exponent = d.exponent;
    if (d.n)
        memcpy(ret_b->digits, d.digits, d.n);
}

/* Lowers the exponent of a number that is not zero by appending zeros. */
static bool append_zeros(struct decimal_buf *b, int64_t exponent)
{
    int64_t n = b->exponent - exponent;
    if (n > (int64_t)DECIMAL_DIGITS_MAX - b->n)
        return false;
    memset(b->digits + b->n, 0, (size_t)n);
    b->n += (uint32_t)n;
    b->exponent = exponent;
    return true;
}

/* Both have the same exponent; digit 0 is the lowest. */
static int low_digit(struct decimal d, uint32_t i)
{
    return i < d.n ? d.digits[d.n - 1 - i] : 0;
}

static void drop_leading_zeros(struct decimal_buf *b)
{
    uint32_t n_zeros = 0;
    while (n_zeros < b->n && b->digits[n_zeros] == 0)
        n_zeros++;
    b->n -= n_zeros;
    memmove(b->digits, b->digits + n_zeros, b->n);
    if (b->n == 0)
        b->sign = 0;
}

/* sum = large + small, of the same exponent and |large| >= |small|; `sum` may hold either. */
static bool combine(struct decimal large, struct decimal small, struct decimal_buf *sum)
{
    bool subtract = large.sign != small.sign;
    int carry = 0;
    uint8_t low_first[DECIMAL_DIGITS_MAX + 1];
    for (uint32_t i = 0; i < large.n; i++) {
        int digit = subtract ? low_digit(large, i) - low_digit(small, i) - carry
                             : low_digit(large, i) + low_digit(small, i) + carry;
        carry = subtract ? digit < 0 : digit > 9;
        low_first[i] = (uint8_t)(subtract ? digit + 10 * carry : digit - 10 * carry);
    }
    uint32_t n = large.n;
    if (carry)
        low_first[n++] = 1;
    sum->sign = large.sign;
    sum->n = n;
    sum->exponent = large.exponent;
    for (uint32_t i = 0; i < n; i++)
        sum->digits[i] = low_first[n - 1 - i];
    drop_leading_zeros(sum);
    return sum->n <= DECIMAL_DIGITS_MAX;
}

bool decimal_add(struct decimal a, struct decimal b, struct decimal_buf *ret_sum)
{
    if (!a.sign || !b.sign) {
        decimal_copy(a.sign ? a : b, ret_sum);
        return true;
    }
    struct decimal high = a.exponent > b.exponent ? a : b, low = a.exponent > b.exponent ? b : a;
    decimal_copy(high, ret_sum);
    if (!append_zeros(ret_sum, low.exponent))
        return false;
    high = decimal_of(ret_sum);
    bool high_is_larger = cmp_magnitude(high, low) >= 0;
    return combine(high_is_larger ? high : low, high_is_larger ? low : high, ret_sum);
}

void decimal_mul(struct decimal_buf *b, uint64_t factor)
{
    assert(b->n <= DECIMAL_DIGITS_MAX);
    memmove(b->digits + DECIMAL_INT64_DIGITS, b->digits, b->n);
    b->n += DECIMAL_INT64_DIGITS;
    unsigned __int128 carry = 0;
    for (uint32_t i = b->n; i-- > DECIMAL_INT64_DIGITS;) {
        carry += (unsigned __int128)factor * b->digits[i];
        b->digits[i] = (uint8_t)(carry % 10);
        carry /= 10;
    }
    for (uint32_t i = DECIMAL_INT64_DIGITS; i-- > 0; carry /= 10)
        b->digits[i] = (uint8_t)(carry % 10);
    drop_leading_zeros(b);
}

/* Adds one to the digits; false when that takes one more than the maximum. */
static bool increment(struct decimal_buf *b)
{
    uint32_t i = b->n;
    while (i > 0 && b->digits[i - 1] == 9)
        b->digits[--i] = 0;
    if (i > 0) {
        b->digits[i - 1]++;
        return true;
    }
    if (b->n >= DECIMAL_DIGITS_MAX)
        return false;
    memmove(b->digits + 1, b->digits, b->n++);
    b->digits[0] = 1;
    return true;
}

bool decimal_round_up(struct decimal_buf *b, int64_t exponent, bool *ret_exact)
{
    *ret_exact = true;
    if (!b->sign) {
        b->exponent = exponent;
        return true;
    }
    if (exponent <= b->exponent)
        return append_zeros(b, exponent);
    uint32_t n = n_digits_from(decimal_of(b), exponent);
    bool lost = any_digit(decimal_of(b), n);
    *ret_exact = !lost;
    b->n = n;
    b->exponent = exponent;
    return (lost ? increment(b) : true) && b->n <= DECIMAL_DIGITS_MAX;
}

bool decimal_divide_exact(struct decimal_buf *b, uint32_t divisor)
{
    uint32_t rest = 0;
    for (uint32_t i = 0; i < b->n; i++)
        rest = (rest * 10 + b->digits[i]) % divisor;
    if (rest)
        return false;
    for (uint32_t i = 0; i < b->n; i++) {
        rest = rest * 10 + b->digits[i];
        b->digits[i] = (uint8_t)(rest / divisor);
        rest %= divisor;
    }
    drop_leading_zeros(b);
    return true;
}
