/* cmd/up.h - what the files of `berth up` share.
 *
 *     up.c              the command line, and the story of a start
 *     up_background.c   where words and records go; leaving a process behind (--wait)
 *     up_control.c      berth status, berth down: those who ask about one that runs
 *
 * Thread: main, but for records of the log. */
#pragma once

#include "cmd/options.h"

/* Where records of the log go, and errors besides. */
struct up_log {
    int fd;
    bool tells_errors; /* they go to standard error as well: to whom it may concern while somebody looks */
};

/* Begins the file anew and takes the log's records from then on; false and errno. */
bool up_log_open(struct up_log *l, const char *path);

/* What becomes of one command that asks for a process left behind. */
enum up_role {
    UP_CHILD,  /* the process that stays: standard error leads to the parent until up_background_ready */
    UP_PARENT, /* waited until that one was ready or gave up, and told why */
};

/* ret_code is the parent's exit code. */
enum up_role up_background(const struct command *c, int *ret_code);
/* The child is ready: from now on what it writes goes to the log. */
void up_background_ready(struct up_log *l);

/* "--data-dir"'s value, or the default; whole. */
const char *up_choose_folder(const char *given, struct arena *a);
