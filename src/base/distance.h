/* base/distance.h - how far apart two names are, to guess what somebody meant.
 *
 * Thread: any. */
#pragma once

enum { DISTANCE_BYTES_MAX = 253 }; /* longer names are far from everything */

/* How many bytes have to be added, taken out or changed to make one name of the other; `limit` + 1 for all that is more
 * than `limit`. */
unsigned edit_distance(const char *a, const char *b, unsigned limit);
