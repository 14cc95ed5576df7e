/* insight/live.h - a cluster as it changes, for those who look at it all the time (the dashboard).
 *
 * Every viewer has a cursor. live_add_changes tells, as one line of JSON, what has changed since the cursor was told the last
 * time, and moves it: nodes that moved, the queue, decisions that were made, the next points of the history. The first line
 * tells everything; so does one after a pause that was too long for the cache's log. docs/dashboard.md describes the fields.
 *
 * The history has one point for every LIVE_STEP_S seconds of the last hour: how many pods were placed, how many attempts
 * failed, and how many pods waited. live_tick makes it, some time in every second.
 *
 * Thread: scheduling thread only, between attempts.    Owns: the history. */
#pragma once

#include "insight/insight.h"

enum {
    LIVE_STEP_S = 10,
    LIVE_POINTS_MAX = 3600 / LIVE_STEP_S,
    LIVE_WAITING_MAX = 300,   /* pods that a line tells of the queue: those that wait longest */
    LIVE_DECISIONS_MAX = 100, /* that a line tells: the newest */
    LIVE_PODS_MAX = 1000,     /* that insight_node_view tells */
};

struct live;

struct live_cursor {
    uint64_t generation; /* of the cache; 0: nothing has been told */
    uint64_t sequence;   /* of the newest decision that was told */
    uint64_t n_points;   /* of the history that were told */
};

struct live *live_new(void);
void live_free(struct live *l);
void live_tick(struct live *l, const struct insight *in);

/* One object, without a newline behind it. */
void live_add_changes(const struct live *l, const struct insight *in, struct live_cursor *cursor, int64_t now_ms,
                      struct strbuf *to);

/* GET /berth/v1/node: `query` name=NAME. What a node has, and the pods on it. NOT_FOUND: no such node. */
enum err_code insight_node_view(const struct insight *in, struct str query, struct strbuf *to, struct err *e) ERR_MUST_CHECK;
