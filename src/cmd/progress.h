/* cmd/progress.h - one line on a terminal that says how far long work is.
 *
 * Only when standard error is a terminal and the command has been at work for a second; the line is
 * written again a few times a second, in place, and erased at the end of each phase. Nothing is written
 * otherwise.
 *
 * Thread: main. */
#pragma once

#include "sim/input.h"

struct progress {
    bool is_terminal, shown;
    int64_t again_ms; /* when to write next, by the monotonic clock */
};

/* BERTH_PROGRESS_AFTER_MS in the environment is for tests: another time than a second. */
void progress_init(struct progress *p);
/* For replay_watch (sched/replay.h); once more at the end, with n_done equal to n_bytes. */
void progress_replay(void *progress, size_t n_done, size_t n_bytes);
/* For struct sim_input. */
struct sim_progress progress_watch(struct progress *p);
