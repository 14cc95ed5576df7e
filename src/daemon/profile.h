/* daemon/profile.h - where the time of all threads goes: a CPU profile, in the format of pprof.
 *
 * A timer of the process's CPU time sends SIGPROF a hundred times per second of it, to a thread that runs; its stack is
 * noted into memory that was set aside before. So an idle process costs nothing, and a busy one about a thousandth.
 * One profile at a time: the signal belongs to the process.
 *
 * Bounds: PROFILE_FRAMES_MAX of a stack, PROFILE_WORDS_MAX of all of them; what does not fit is counted as lost.
 *
 * Thread: profile_start and profile_stop: one at a time. profile_write: any, after profile_stop. */
#pragma once

#include "base/strbuf.h"

enum {
    PROFILE_HZ = 100,
    PROFILE_FRAMES_MAX = 64,
    PROFILE_WORDS_MAX = 2 << 20, /* 16 MiB: more than half an hour of one busy core, with stacks of ten */
    PROFILE_SECONDS_MAX = 600,
};

struct profile;

/* NULL when one is under way. */
struct profile *profile_start(void);
void profile_stop(struct profile *p);
void profile_free(struct profile *p); /* stops it first if nobody did */

/* The message of profile.proto, not packed: samples, and functions by their names. */
void profile_write(const struct profile *p, struct strbuf *to);
/* Samples that were taken, and those for which there was no room. */
uint32_t profile_n_samples(const struct profile *p);
uint32_t profile_n_lost(const struct profile *p);
