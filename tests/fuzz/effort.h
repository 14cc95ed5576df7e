/* tests/fuzz/effort.h - an input must not cost much more than its length: neither memory nor time.
 *
 * Memory is what the target's arena took. Time is asked for in fuzz builds only, and is that of the processor: the
 * timer ends the process, so that the fuzzer keeps the input, even if the target would never come back. */
#pragma once

#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include "base/arena.h"

enum {
    EFFORT_BYTES_FREE = 32 << 20,
    EFFORT_BYTES_PER_BYTE = 2048,
    EFFORT_SECONDS_FREE = 1,
    EFFORT_US_PER_BYTE = 10,
};

static inline void effort_spent(int signal_number)
{
    (void)signal_number;
    abort();
}

static inline void effort_timer(size_t us)
{
#ifdef FUZZING
    struct itimerval timer = { .it_value = { (time_t)(us / 1000000), (suseconds_t)(us % 1000000) } };
    signal(SIGVTALRM, effort_spent);
    setitimer(ITIMER_VIRTUAL, &timer, NULL);
#else
    (void)us;
#endif
}

static inline void effort_begin(size_t n_bytes)
{
    effort_timer(EFFORT_SECONDS_FREE * (size_t)1000000 + n_bytes * EFFORT_US_PER_BYTE);
}

static inline void effort_end(const struct arena *a, size_t n_bytes)
{
    effort_timer(0);
    if (a->n_bytes > EFFORT_BYTES_FREE + n_bytes * EFFORT_BYTES_PER_BYTE)
        abort();
}
