/* base/distance.c - see distance.h. One row of the usual table is kept: how far the first bytes of `a` are from each
 * beginning of `b`. */
#include "base/distance.h"

#include <string.h>

static unsigned least_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned edit_distance(const char *a, const char *b, unsigned limit)
{
    unsigned row[DISTANCE_BYTES_MAX + 1];
    size_t n = strlen(b);
    if (n > DISTANCE_BYTES_MAX || strlen(a) > DISTANCE_BYTES_MAX)
        return limit + 1;
    for (size_t k = 0; k <= n; k++)
        row[k] = (unsigned)k;
    for (size_t i = 1; a[i - 1]; i++) {
        unsigned diagonal = row[0], least = row[0] = (unsigned)i;
        for (size_t k = 1; k <= n; k++) {
            unsigned changed = diagonal + (a[i - 1] != b[k - 1]);
            diagonal = row[k];
            row[k] = least_of(changed, 1 + least_of(row[k - 1], row[k]));
            least = least_of(least, row[k]);
        }
        if (least > limit)
            return limit + 1;
    }
    return row[n] > limit ? limit + 1 : row[n];
}
