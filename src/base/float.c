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

/* Rounds to n digits; whether they read back as x. */
static bool decimal_round(double x, int n, struct decimal *ret_d)
{
    char text[32]; /* d.ddde+xxx */
    snprintf(text, sizeof(text), "%.*e", n - 1, x);
    const char *exponent = strchr(text, 'e');
    ret_d->digits[0] = text[0];
    if (n > 1)
        memcpy(ret_d->digits + 1, text + 2, (size_t)n - 1);
    ret_d->digits[n] = '\0';
    ret_d->n_digits = n;
    ret_d->point = atoi(exponent + 1) + 1;
    return strtod(text, NULL) == x;
}

/* Below a power of two the doubles lie twice as dense as above, so the nearest decimal may fall off on that
 * side while its upper neighbour, though farther, still reads back as x. */
static bool decimal_next_up(double x, struct decimal *d)
{
    int last = d->n_digits - 1;
    if (d->digits[last] == '9')
        return false;
    d->digits[last]++;
    char text[40];
    snprintf(text, sizeof(text), "0.%se%d", d->digits, d->point);
    return strtod(text, NULL) == x;
}

/* Fewest digits for a positive, finite x. 15 digits survive a round trip through any normal double, so if
 * fewer suffice the 15 end in zeros. */
static struct decimal decimal_of(double x)
{
    struct decimal d;
    int mantissa_exponent;
    bool power_of_two = frexp(x, &mantissa_exponent) == 0.5;
    for (int n = x < DBL_MIN ? 1 : DBL_DIG;; n++) {
        if (decimal_round(x, n, &d) || n == DIGITS_MAX)
            break;
        if (power_of_two && decimal_next_up(x, &d))
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
    struct decimal d = decimal_of(fabs(x));
    if (d.point < -3 || d.point > 6)
        add_exponent(b, &d, 2);
    else
        add_plain(b, &d);
}

void float_add_f(struct strbuf *b, double x)
{
    if (add_special(b, x))
        return;
    struct decimal d = decimal_of(fabs(x));
    add_plain(b, &d);
}

void float_add_json(struct strbuf *b, double x)
{
    assert(isfinite(x));
    if (add_special(b, x))
        return;
    struct decimal d = decimal_of(fabs(x));
    if (fabs(x) < 1e-6 || fabs(x) >= 1e21)
        add_exponent(b, &d, 1);
    else
        add_plain(b, &d);
}
