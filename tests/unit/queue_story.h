/* tests/unit/queue_story.h - what happens to the pods of a queue, told as a text.
 *
 * A story is a list of commands with semicolons between: things done ("add a priority=5; pop a; fail a Fit")
 * and things that must be so then ("is a waiting; rejected Fit 1"). The table at the end of queue_story.c
 * has them all; plugins and events are those of queue_world.h. Time begins at 0 and is in milliseconds. */
#pragma once

#include "sched/queue.h"
#include "tests/test.h"

struct story_row {
    const char *what, *text;
};

/* `configure` may be NULL. */
void tell(const char *what, const char *text, void (*configure)(struct queue_options *o));

#define TELL(rows, configure)                                                              \
    for (size_t i_ = 0; i_ < sizeof(rows) / sizeof((rows)[0]); i_++)                       \
        tell((rows)[i_].what, (rows)[i_].text, (configure))
