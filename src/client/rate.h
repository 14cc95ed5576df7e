/* client/rate.h - who may send next: a token bucket, and lines that wait for it, one for each lane of api.h.
 *
 * The bucket holds `burst` tokens, is full at the beginning and gains `qps` a second; each request takes one. Those who
 * wait are served lane by lane in the order of enum api_lane, within a lane in the order in which they came. A lane
 * holds RATE_LANE_MAX at most.
 *
 * Thread: one at a time.    Owns: nothing: who waits holds his own link.
 * Time: never reads the clock; callers pass it. */
#pragma once

#include "base/list.h"
#include "client/api.h"

#define RATE_LANE_MAX 10000 /* requests that wait in one lane; one more is turned away */
#define RATE_NEVER INT64_MAX

struct rate_waiter {
    struct list_node node; /* in no list while it does not wait */
    enum api_lane lane;
};

struct rate {
    double per_ns, burst, tokens; /* per_ns 0: no limit */
    int64_t filled_ns;            /* when `tokens` was right */
    struct list lanes[N_API_LANES];
    uint32_t n_waiting[N_API_LANES];
};

/* qps of 0 or less: no limit. A burst below one is one. A rate must not move in memory. */
void rate_init(struct rate *r, double qps, int burst, int64_t now_ns);
/* False: the lane is full. */
bool rate_join(struct rate *r, struct rate_waiter *w, enum api_lane lane);
/* May be called at any time. */
void rate_leave(struct rate *r, struct rate_waiter *w);
/* The next one who may go, out of its line and with its token paid; NULL when none may now. Only lanes up to `last`
 * are looked at. */
struct rate_waiter *rate_next(struct rate *r, enum api_lane last, int64_t now_ns);
/* When rate_next should be asked again; RATE_NEVER when nobody waits in these lanes. */
int64_t rate_due_ns(const struct rate *r, enum api_lane last);
