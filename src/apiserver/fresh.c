/* apiserver/fresh.c - see fresh.h. Upstream: storage/cacher/watch_cache.go, waitUntilFreshAndBlock. */
#include "apiserver/fresh.h"

#include <assert.h>

#define WAIT(n) HEAP_ITEM(n, struct fresh_wait, by_version)

static bool is_older(const struct heap_node *a, const struct heap_node *b, void *context)
{
    (void)context;
    return WAIT(a)->version < WAIT(b)->version;
}

static struct fresh_wait *first_deadline(const struct fresh *f)
{
    struct list_node *n = list_first(&f->by_deadline);
    return n ? LIST_ITEM(n, struct fresh_wait, by_deadline) : NULL;
}

static void set_timer(struct fresh *f)
{
    const struct fresh_wait *first = first_deadline(f);
    if (first)
        loop_timer_set(f->loop, &f->timer, first->deadline_ms);
    else
        loop_timer_stop(f->loop, &f->timer);
}

static void take_out(struct fresh *f, struct fresh_wait *w)
{
    heap_remove(&f->by_version, &w->by_version);
    list_remove(&w->by_deadline);
}

static void fire(struct loop_timer *t)
{
    struct fresh *f = LIST_ITEM(t, struct fresh, timer);
    int64_t now_ms = loop_now_ms(f->loop);
    for (struct fresh_wait *w; (w = first_deadline(f)) && w->deadline_ms <= now_ms;) {
        take_out(f, w);
        w->over(w, false);
    }
    set_timer(f);
}

void fresh_init(struct fresh *f, struct loop *l)
{
    *f = (struct fresh){ .loop = l, .timer = { .fire = fire } };
    heap_init(&f->by_version, is_older, NULL);
    list_init(&f->by_deadline);
}

void fresh_fini(struct fresh *f)
{
    assert(f->by_version.n == 0);
    loop_timer_stop(f->loop, &f->timer);
    heap_fini(&f->by_version);
}

bool fresh_begin(struct fresh *f, struct fresh_wait *w, uint64_t version)
{
    if (f->by_version.n >= FRESH_WAITS_MAX)
        return false;
    w->version = version;
    w->deadline_ms = loop_now_ms(f->loop) + FRESH_WAIT_MS;
    heap_push(&f->by_version, &w->by_version);
    list_push(&f->by_deadline, &w->by_deadline);
    set_timer(f);
    return true;
}

void fresh_stop(struct fresh *f, struct fresh_wait *w)
{
    if (!heap_has(&w->by_version))
        return;
    take_out(f, w);
    set_timer(f);
}

void fresh_poll(struct fresh *f, uint64_t revision)
{
    for (struct heap_node *top; (top = heap_top(&f->by_version)) && WAIT(top)->version <= revision;) {
        struct fresh_wait *w = WAIT(top);
        take_out(f, w);
        w->over(w, true);
    }
    set_timer(f);
}
