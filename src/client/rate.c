/* client/rate.c - see rate.h. */
#include "client/rate.h"

#include <assert.h>

void rate_init(struct rate *r, double qps, int burst, int64_t now_ns)
{
    *r = (struct rate){ .per_ns = qps > 0 ? qps / 1e9 : 0, .burst = burst < 1 ? 1 : burst, .filled_ns = now_ns };
    r->tokens = r->burst;
    for (int i = 0; i < N_API_LANES; i++)
        list_init(&r->lanes[i]);
}

bool rate_join(struct rate *r, struct rate_waiter *w, enum api_lane lane)
{
    assert(lane < N_API_LANES);
    if (r->n_waiting[lane] == RATE_LANE_MAX)
        return false;
    w->lane = lane;
    list_push(&r->lanes[lane], &w->node);
    r->n_waiting[lane]++;
    return true;
}

void rate_leave(struct rate *r, struct rate_waiter *w)
{
    if (!list_has(&w->node))
        return;
    list_remove(&w->node);
    r->n_waiting[w->lane]--;
}

static void fill(struct rate *r, int64_t now_ns)
{
    if (now_ns <= r->filled_ns)
        return;
    r->tokens += (double)(now_ns - r->filled_ns) * r->per_ns;
    if (r->tokens > r->burst)
        r->tokens = r->burst;
    r->filled_ns = now_ns;
}

static struct rate_waiter *first(const struct rate *r, enum api_lane last)
{
    for (unsigned lane = 0; lane <= last; lane++)
        if (r->n_waiting[lane])
            return LIST_ITEM(list_first(&r->lanes[lane]), struct rate_waiter, node);
    return NULL;
}

struct rate_waiter *rate_next(struct rate *r, enum api_lane last, int64_t now_ns)
{
    struct rate_waiter *w = first(r, last);
    if (!w)
        return NULL;
    if (r->per_ns > 0) {
        fill(r, now_ns);
        if (r->tokens < 1)
            return NULL;
        r->tokens -= 1;
    }
    rate_leave(r, w);
    return w;
}

int64_t rate_due_ns(const struct rate *r, enum api_lane last)
{
    if (!first(r, last))
        return RATE_NEVER;
    if (r->per_ns <= 0 || r->tokens >= 1)
        return r->filled_ns;
    /* One more: what is a little short of a token by rounding would be asked for again and again. */
    double wait_ns = (1 - r->tokens) / r->per_ns + 1;
    return wait_ns < (double)(RATE_NEVER / 2 - r->filled_ns) ? r->filled_ns + (int64_t)wait_ns : RATE_NEVER / 2;
}
