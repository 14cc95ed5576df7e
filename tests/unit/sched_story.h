/* tests/unit/sched_story.h - what happens to pods in a whole scheduler, told as a text.
 *
 * A story is a list of commands with semicolons between: things that happen ("node n 2; pod a cpu=1; run"), answers
 * from outside ("bound a; evicted v timeout"), and things that must be so then ("says bind a n; is a assumed"). The
 * table at the end of sched_story.c has them all.
 *
 * What goes out is one line each, which "says" compares, joined by " / ", and forgets: "bind a n", "evict v for p",
 * "nominate a n" ("-": the promise ends), "refused a" and "error a" (the condition of a failure), "scheduled a",
 * "unreserve a", "a: Preempted by ..." (without an eviction: it was only on its way to its node).
 *
 * The plugins are those of sched_world.h, SchedulingGates, NodePorts, NodeVolumeLimits, PodTopologySpread without
 * defaults, and Probe, which does as it is told at Reserve, Permit, PreBind and Bind ("probe permit waits") and is
 * woken by new nodes. Time begins at 1000 ms. */
#pragma once

#include "tests/unit/sched_world.h"

struct sched_story_row {
    const char *what, *text;
};

/* `configure` may be NULL. */
void sched_tell(const char *what, const char *text, void (*configure)(struct sched_world *w));

#define SCHED_TELL(rows, configure)                                                        \
    for (size_t i_ = 0; i_ < sizeof(rows) / sizeof((rows)[0]); i_++)                       \
        sched_tell((rows)[i_].what, (rows)[i_].text, (configure))
