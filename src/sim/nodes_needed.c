/* sim/nodes_needed.c - see nodes_needed.h. */
#include "sim/nodes_needed.h"

#include "sim/change.h"
#include "sim/settle.h"

enum { GROWTH_MAX = 64 }; /* from one number that is tried to the next */

struct tried {
    bool known;
    uint32_t pending;
};

struct search {
    struct sim_needed *to;
    struct sim_input in;     /* how the cluster stands */
    const struct sim_world *ended; /* the same, as it was run */
    const struct sim_drain *drain;
    const struct sim_runner *how;
    struct map_str excused;  /* "namespace/name" of pods that do not count */
    struct tried tried[NEEDED_SURE + 1]; /* by number of nodes */
    uint32_t at_first;       /* pods that count and are pending without any more nodes */
    struct err *e;
};

static const char *key_of(struct arena *a, const struct sim_pod *p)
{
    return arena_printf(a, "%s/%s", p->ns, p->name);
}

/* Pending pods that count. */
static uint32_t count_pending(const struct search *s, const struct sim_world *w)
{
    struct arena scratch;
    arena_init(&scratch);
    uint32_t n = 0;
    for (size_t i = 0; i < w->pods.n; i++)
        if (w->pods.at[i].state == SIM_PENDING && !map_str_find(&s->excused, str_of(key_of(&scratch, &w->pods.at[i]))))
            n++;
    arena_fini(&scratch);
    return n;
}

static void excuse_pending(struct search *s, const struct sim_world *w)
{
    struct arena *a = &s->to->arena;
    for (size_t i = 0; i < w->pods.n; i++) {
        const struct sim_pod *p = &w->pods.at[i];
        if (p->state != SIM_PENDING)
            continue;
        map_str_put(&s->excused, str_of(key_of(a, p)), NULL);
        struct sim_hopeless h = { arena_cstr(a, str_of(p->ns)), arena_cstr(a, str_of(p->name)),
                                  p->owner ? arena_cstr(a, str_of(p->owner)) : NULL,
                                  arena_cstr(a, str_of(p->message ? p->message : "not tried")), p->made };
        vec_push(&s->to->hopeless, h);
    }
}

/* A run with n more nodes; all that is pending then may be excused. Returns the pending pods that
 * count. */
static enum err_code try_number(struct search *s, uint32_t n, bool excuse, uint32_t *ret_pending)
{
    struct sim_run r;
    sim_run_init(&r, &s->in, s->drain);
    s->to->n_runs++;
    enum err_code code = sim_add_nodes(&r.in, s->to->like, n, s->e);
    if (!code)
        code = sim_run_start(&r, s->how, s->e);
    if (!code) {
        *ret_pending = count_pending(s, &r.world);
        if (excuse)
            excuse_pending(s, &r.world);
    }
    sim_run_fini(&r);
    return code;
}

/* How many are pending with n more; small numbers are remembered. */
static enum err_code pending_with(struct search *s, uint32_t n, uint32_t *ret_pending)
{
    if (n <= NEEDED_SURE && s->tried[n].known) {
        *ret_pending = s->tried[n].pending;
        return ERR_OK;
    }
    if (try_number(s, n, false, ret_pending))
        return s->e->code;
    if (n <= NEEDED_SURE)
        s->tried[n] = (struct tried){ true, *ret_pending };
    return ERR_OK;
}

/* If n nodes help so many, how many nodes help all? A first guess may be far off, so that it is not followed too far. */
static uint32_t next_number(const struct search *s, uint32_t n, uint32_t pending, uint32_t bound)
{
    uint64_t helped = s->at_first > pending ? s->at_first - pending : 0;
    uint64_t guess = helped ? ((uint64_t)n * s->at_first + helped - 1) / helped : 2 * (uint64_t)n;
    if (guess <= n)
        guess = (uint64_t)n + 1;
    if (guess > (uint64_t)n * GROWTH_MAX)
        guess = (uint64_t)n * GROWTH_MAX;
    return guess < bound ? (uint32_t)guess : bound;
}

/* Goes up to `bound`. *ret_low is too few, *ret_high enough; false: nothing up to the bound is. */
static enum err_code gallop(struct search *s, uint32_t bound, uint32_t *ret_low, uint32_t *ret_high, bool *ret_found)
{
    uint32_t low = 0, pending;
    for (uint32_t n = 1;; n = next_number(s, n, pending, bound)) {
        if (pending_with(s, n, &pending))
            return s->e->code;
        *ret_low = low;
        *ret_high = n;
        *ret_found = pending == 0;
        if (*ret_found || n == bound)
            return ERR_OK;
        low = n;
    }
}

/* Between a number that is too small and one that is enough: down from the latter, which was a good guess, in growing steps;
 * once that is too far, by halves. */
static enum err_code narrow(struct search *s, uint32_t low, uint32_t high)
{
    uint32_t step = 1, pending;
    while (high - low > 1) {
        uint32_t gap = high - low, n = step && step < gap ? high - step : low + gap / 2;
        if (pending_with(s, n, &pending))
            return s->e->code;
        if (pending == 0)
            high = n;
        else
            low = n;
        step = pending == 0 ? step * 2 : 0;
    }
    for (uint32_t n = 1; high <= NEEDED_SURE && n < high; n++) {
        if (pending_with(s, n, &pending))
            return s->e->code;
        if (pending == 0)
            high = n;
    }
    s->to->n_nodes = high;
    return ERR_OK;
}

static enum err_code search(struct search *s, uint32_t bound)
{
    uint32_t low = 0, high = 0;
    bool found;
    s->at_first = s->to->n_pending_before;
    if (gallop(s, bound, &low, &high, &found))
        return s->e->code;
    if (found)
        return narrow(s, low, high);
    if (try_number(s, bound, true, &s->at_first))
        return s->e->code;
    memset(s->tried, 0, sizeof(s->tried));
    s->at_first = count_pending(s, s->ended);
    if (!s->at_first)
        return ERR_OK; /* none helps */
    if (gallop(s, bound, &low, &high, &found))
        return s->e->code;
    assert(found); /* what was pending at the bound is excused */
    return narrow(s, low, high);
}

enum err_code sim_needed_init(struct sim_needed *n, struct sim_run *ended, const struct sim_runner *how,
                              const char *like, struct err *e)
{
    *n = (struct sim_needed){ .like = like };
    arena_init(&n->arena);
    struct search s = { .to = n, .ended = &ended->world, .drain = &ended->drain, .how = how, .e = e };
    map_str_init(&s.excused);
    sim_settle(&s.in, &ended->world);
    n->n_pending_before = count_pending(&s, &ended->world);
    struct sim_object *model = NULL;
    enum err_code code = sim_change_find(&s.in, "Node", "", like, &model, e);
    if (!code && n->n_pending_before) {
        uint32_t most = n->n_pending_before < SIM_ADDED_NODES_MAX ? n->n_pending_before : SIM_ADDED_NODES_MAX;
        code = search(&s, most);
    }
    sim_input_fini(&s.in);
    map_str_fini(&s.excused);
    return code;
}

void sim_needed_fini(struct sim_needed *n)
{
    vec_fini(&n->hopeless);
    arena_fini(&n->arena);
}
