/* sched/compare.c - see compare.h. */
#include "sched/compare.h"

#include "base/sort.h"
#include "sched/queue.h"

/* Texts that are being collected, in the arena; there is room for all of them. */
struct collected {
    struct str *at;
    size_t n, room;
};

static struct collected collect_begin(struct arena *arena, size_t room)
{
    return (struct collected){ .at = ARENA_NEW_N(arena, struct str, room), .room = room };
}

static void collect(struct collected *to, struct str text)
{
    assert(to->n < to->room);
    to->at[to->n++] = text;
}

/* A walk over both lists in order. Takes over `held`. */
static struct mismatch compare(struct strs listed, struct collected held, struct arena *arena)
{
    struct collected wanted = collect_begin(arena, listed.n), missed = collect_begin(arena, listed.n);
    struct collected redundant = collect_begin(arena, held.n);
    for (size_t i = 0; i < listed.n; i++)
        collect(&wanted, listed.at[i]);
    sort_stable(arena, wanted.at, wanted.n, sizeof(*wanted.at), sort_compare_strs);
    sort_stable(arena, held.at, held.n, sizeof(*held.at), sort_compare_strs);
    size_t i = 0, k = 0;
    while (i < wanted.n || k < held.n) {
        int order = i == wanted.n ? 1 : k == held.n ? -1 : sort_compare_strs(&wanted.at[i], &held.at[k]);
        if (order < 0)
            collect(&missed, wanted.at[i]);
        else if (order > 0)
            collect(&redundant, held.at[k]);
        i += order <= 0;
        k += order >= 0;
    }
    return (struct mismatch){ .missed = { missed.at, missed.n }, .redundant = { redundant.at, redundant.n } };
}

struct mismatch compare_nodes(const struct cache *c, struct strs listed_names, struct arena *arena)
{
    struct collected held = collect_begin(arena, c->row_of_name.n);
    for (size_t i = 0; i < c->rows.n; i++)
        if (c->rows.at[i].name != SYM_NONE)
            collect(&held, sym_text(c->syms, c->rows.at[i].name));
    return compare(listed_names, held, arena);
}

static void collect_queued(void *context, const struct queued_pod *qp)
{
    collect(context, str_of(qp->pod->meta.uid));
}

struct mismatch compare_pods(const struct cache *c, const struct queue *q, struct strs listed_uids, struct arena *arena)
{
    static const enum queue_place places[] = { PLACE_ACTIVE, PLACE_BACKOFF, PLACE_ERROR_BACKOFF, PLACE_UNSCHEDULABLE };
    struct queue_counts queued = queue_counts(q);
    struct collected held =
        collect_begin(arena, (size_t)c->pods.n + queued.active + queued.backoff + queued.unschedulable + queued.gated);
    for (struct map_str_slot *s = NULL; (s = map_str_next(&c->pods, s));)
        collect(&held, map_str_key(s));
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        queue_each(q, places[i], collect_queued, &held);
    return compare(listed_uids, held, arena);
}
