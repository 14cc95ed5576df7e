/* base/float.c - see float.h. libc rounds and reads exactly; what is left is how many digits to take. */
#include "base/float.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIGITS_MAX = 17 };

/* x = 0.d1d2d3... * 10^point */
struct decimal {
    char digits[DIGITS_MAX + 1];
    int n_digits, point;
};

/* A number and how precisely it is kept. */
struct number {
    double x; /* positive, finite */
    bool single;
};

static bool reads_back(const char *text, struct number number)
{
    return number.single ? (double)strtof(text, NULL) == number.x : strtod(text, NULL) == number.x;
}

/* Rounds to n digits; whether they read back. */
static bool decimal_round(struct number number, int n, struct decimal *ret_d)
{
    char text[32]; /* d.ddde+xxx */
    snprintf(text, sizeof(text), "%.*e", n - 1, number.x);
    const char *exponent = strchr(text, 'e');
    ret_d->digits[0] = text[0];
    if (n > 1)
        memcpy(ret_d->digits + 1, text + 2, (size_t)n - 1);
    ret_d->digits[n] = '\0';
    ret_d->n_digits = n;
    ret_d->point = atoi(exponent + 1) + 1;
    return reads_back(text, number);
}

/* Below a power of two the numbers lie twice as dense as above, so the nearest decimal may fall off on that
 * side while its upper neighbour, though farther, still reads back as x. */
static bool decimal_next_up(struct number number, struct decimal *d)
{
    int last = d->n_digits - 1;
    if (d->digits[last] == '9')
        return false;
    d->digits[last]++;
    char text[40];
    snprintf(text, sizeof(text), "0.%se%d", d->digits, d->point);
    return reads_back(text, number);
}

/* Fewest digits. 15 digits survive a round trip through any normal double (6 through a
 * float), so if fewer suffice the 15 end in zeros. */
static struct decimal decimal_of(struct number number)
{
    struct decimal d;
    int mantissa_exponent;
    bool power_of_two = frexp(number.x, &mantissa_exponent) == 0.5;
    double normal_min = number.single ? FLT_MIN : DBL_MIN;
    int n_sure = number.single ? FLT_DIG : DBL_DIG;
    for (int n = number.x < normal_min ? 1 : n_sure;; n++) {
        if (decimal_round(number, n, &d) || n == DIGITS_MAX)
            break;
        if (power_of_two && decimal_next_up(number, &d))
            break;
    }
    while (d.n_digits > 1 && d.digits[d.n_digits - 1] == '0')
        d.n_digits--;
    return d;
}

static void add_plain(struct strbuf *b, const struct decimal *d)
{
    if (d->point <= 0)
        STRBUF_ADD_LIT(b, "0.");
    for (int i = d->point; i < 0; i++)
        strbuf_add_char(b, '0');
    for (int i = 0; i < d->n_digits; i++) {
        if (i > 0 && i == d->point)
            strbuf_add_char(b, '.');
        strbuf_add_char(b, d->digits[i]);
    }
    for (int i = d->n_digits; i < d->point; i++)
        strbuf_add_char(b, '0');
}

static void add_exponent(struct strbuf *b, const struct decimal *d, int exponent_width)
{
    int exponent = d->point - 1;
    strbuf_add_char(b, d->digits[0]);
    if (d->n_digits > 1) {
        strbuf_add_char(b, '.');
        strbuf_add(b, d->digits + 1, (size_t)d->n_digits - 1);
    }
    strbuf_printf(b, "e%c%0*d", exponent < 0 ? '-' : '+', exponent_width, abs(exponent));
}

/* Sign, zero and what is no finite number; whether that was all. */
static bool add_special(struct strbuf *b, double x)
{
    if (isnan(x)) {
        STRBUF_ADD_LIT(b, "NaN");
        return true;
    }
    if (signbit(x))
        strbuf_add_char(b, '-');
    else if (isinf(x))
        strbuf_add_char(b, '+');
    if (isinf(x))
        STRBUF_ADD_LIT(b, "Inf");
    else if (x == 0)
        strbuf_add_char(b, '0');
    return isinf(x) || x == 0;
}

void float_add_g(struct strbuf *b, double x)
{
    if (add_special(b, x))
        return;
    struct decimal d = decimal_of((struct number){ fabs(x), false });
    if (d.point < -3 || d.point > 6)
        add_exponent(b, &d, 2);
    else
        add_plain(b, &d);
}

void float_add_f(struct strbuf *b, double x)
{
    if (add_special(b, x))
        return;
    struct decimal d = decimal_of((struct number){ fabs(x), false });
    add_plain(b, &d);
}

static void add_json(struct strbuf *b, double x, bool single)
{
    assert(isfinite(x));
    if (add_special(b, x))
        return;
    struct decimal d = decimal_of((struct number){ fabs(x), single });
    bool tiny = single ? (float)fabs(x) < 1e-6f : fabs(x) < 1e-6;
    if (tiny || fabs(x) >= (single ? (double)1e21f : 1e21))
        add_exponent(b, &d, 1);
    else
        add_plain(b, &d);
}

void float_add_json(struct strbuf *b, double x)
{
    add_json(b, x, false);
}

void float_add_json_single(struct strbuf *b, float x)
{
    add_json(b, (double)x, true);
}

/* x = 2^k * (1 + f) with 1 + f between sqrt(1/2) and sqrt(2). With s = f / (2 + f), log(1 + f) is 2s
 * plus a series of odd powers of s, here as a polynomial in s^2 of which t1 and t2 are the two halves.
 * ln 2 is in two parts, so that k * LN2_HIGH is exact. The order of the operations is part of the
 * result. */
double float_log(double x)
{
    static const double LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;
    static const double L1 = 6.666666666666735130e-01, L2 = 3.999999999940941908e-01, L3 = 2.857142874366239149e-01,
                        L4 = 2.222219843214978396e-01, L5 = 1.818357216161805012e-01, L6 = 1.531383769920937332e-01,
                        L7 = 1.479819860511658591e-01;
    assert(isfinite(x) && x > 0);
    int exponent;
    double fraction = frexp(x, &exponent);
    if (fraction < M_SQRT1_2) {
        fraction *= 2;
        exponent--;
    }
    double f = fraction - 1, k = exponent;
    double s = f / (2 + f), s2 = s * s, s4 = s2 * s2;
    double t1 = s2 * (L1 + s4 * (L3 + s4 * (L5 + s4 * L7)));
    double t2 = s4 * (L2 + s4 * (L4 + s4 * L6));
    double half = 0.5 * f * f;
    return k * LN2_HIGH - ((half - (s * (half + (t1 + t2)) + k * LN2_LOW)) - f);
}
