/* sim/amount_text.c - see amount_text.h. */
#include "sim/amount_text.h"

#include <math.h>

enum { SHARE_DIGITS = 100000 /* five decimals */ };

static const char *sign(int64_t n)
{
    return n < 0 ? "-" : "";
}

static uint64_t magnitude(int64_t n)
{
    return n < 0 ? -(uint64_t)n : (uint64_t)n;
}

const char *cpu_text(struct arena *a, int64_t milli)
{
    uint64_t n = magnitude(milli);
    unsigned rest = (unsigned)(n % 1000), n_digits = 3;
    if (n < 1000)
        return arena_printf(a, "%s%llu%s", sign(milli), (unsigned long long)n, n ? "m" : "");
    if (!rest)
        return arena_printf(a, "%s%llu", sign(milli), (unsigned long long)n / 1000);
    for (; rest % 10 == 0; rest /= 10)
        n_digits--;
    return arena_printf(a, "%s%llu.%0*u", sign(milli), (unsigned long long)n / 1000, (int)n_digits, rest);
}

const char *memory_text(struct arena *a, int64_t bytes)
{
    static const char *const units[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
    unsigned unit = 0;
    __extension__ unsigned __int128 tenths = (unsigned __int128)magnitude(bytes) * 10;
    unsigned __int128 size = 1;
    /* By the rounded number: 1023.96Mi is 1Gi. */
    while ((tenths + size / 2) / size >= 10240 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        size *= 1024;
        unit++;
    }
    unsigned long long rounded = (unsigned long long)((tenths + size / 2) / size);
    if (rounded % 10 == 0)
        return arena_printf(a, "%s%llu%s", sign(bytes), rounded / 10, units[unit]);
    return arena_printf(a, "%s%llu.%llu%s", sign(bytes), rounded / 10, rounded % 10, units[unit]);
}

int64_t percent_of(int64_t part, int64_t whole)
{
    if (whole <= 0 || part <= 0)
        return 0;
    __extension__ __int128 percent = ((__int128)part * 200 + whole) / ((__int128)whole * 2);
    return percent > INT64_MAX ? INT64_MAX : (int64_t)percent;
}

/* Past what a double counts exactly there is nothing to round. */
static double share_units(double share)
{
    return share > 0 ? floor(share * SHARE_DIGITS + 0.5) : 0;
}

double share_rounded(double share)
{
    return share_units(share) / SHARE_DIGITS;
}

int64_t share_percent(double share)
{
    double percent = floor((share_units(share) + SHARE_DIGITS / 200) / (SHARE_DIGITS / 100));
    return percent < (double)INT64_MAX ? (int64_t)percent : INT64_MAX;
}
