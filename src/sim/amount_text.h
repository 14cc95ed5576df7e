/* sim/amount_text.h - amounts of CPU and memory, and shares, as all reports tell them: text, tables and the page, whose
 * model.js does the same arithmetic.
 *
 * CPU is exact: "250m" below one core, else cores with up to three decimals. Memory has one decimal, which is left out
 * when it is 0, in the largest binary unit that leaves at least 1: "15.5Gi". Halves are rounded up.
 *
 * Thread: any. */
#pragma once

#include <stdint.h>

#include "base/arena.h"

const char *cpu_text(struct arena *a, int64_t milli);
const char *memory_text(struct arena *a, int64_t bytes);
/* Whole percents; 0 of nothing. */
int64_t percent_of(int64_t part, int64_t whole);

/* Shares that are no quotient of whole numbers, such as means: whole percents of the five decimals that JSON has. */
int64_t share_percent(double share);
double share_rounded(double share);
