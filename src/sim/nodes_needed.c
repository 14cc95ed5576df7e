/* sim/nodes_needed.c - see nodes_needed.h. */
#include "sim/nodes_needed.h"

#include "sim/change.h"

enum answer { NOT_TRIED, ENOUGH, TOO_FEW };

struct search {
    struct sim_needed *to;
    const struct sim_input *in;
    const struct sim_drain *drain;
    const struct sim_runner *how;
    struct map_str excused;  /* "namespace/name" of pods that do not count */
    uint8_t tried[NEEDED_SURE + 1]; /* enum answer by number of nodes */
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
                                  arena_cstr(a, str_of(p->message ? p->message : "not tried")) };
        vec_push(&s->to->hopeless, h);
    }
}

/* A run with n more nodes; all that is pending then may be excused. Returns the pending pods that
 * count. */
static enum err_code try_number(struct search *s, uint32_t n, bool excuse, uint32_t *ret_pending)
{
    struct sim_run r;
    sim_run_init(&r, s->in, s->drain);
    s->to->n_runs++;
    enum err_code code = n ? sim_add_nodes(&r.in, s->to->like, n, s->e) : ERR_OK;
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

static enum err_code is_enough(struct search *s, uint32_t n, bool *ret_enough)
{
    uint32_t pending = 0;
    if (n > NEEDED_SURE || s->tried[n] == NOT_TRIED) {
        if (try_number(s, n, false, &pending))
            return s->e->code;
        *ret_enough = pending == 0;
        if (n <= NEEDED_SURE)
            s->tried[n] = pending ? TOO_FEW : ENOUGH;
        return ERR_OK;
    }
    *ret_enough = s->tried[n] == ENOUGH;
    return ERR_OK;
}

/* Doubles up to `bound`. *ret_low is too few, *ret_high enough; false: nothing up to the bound is. */
static enum err_code gallop(struct search *s, uint32_t bound, uint32_t *ret_low, uint32_t *ret_high, bool *ret_found)
{
    *ret_found = false;
    uint32_t low = 0;
    for (uint32_t n = 1;; n = n < bound / 2 ? n * 2 : bound) {
        if (is_enough(s, n, ret_found))
            return s->e->code;
        *ret_low = low;
        *ret_high = n;
        if (*ret_found || n == bound)
            return ERR_OK;
        low = n;
    }
}

/* Between a number that is too small and one that is enough. */
static enum err_code narrow(struct search *s, uint32_t low, uint32_t high)
{
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        bool enough = false;
        if (is_enough(s, middle, &enough))
            return s->e->code;
        if (enough)
            high = middle;
        else
            low = middle;
    }
    for (uint32_t n = 1; high <= NEEDED_SURE && n < high; n++) {
        bool enough = false;
        if (is_enough(s, n, &enough))
            return s->e->code;
        if (enough)
            high = n;
    }
    s->to->n_nodes = high;
    return ERR_OK;
}

static enum err_code search(struct search *s, uint32_t bound)
{
    uint32_t low = 0, high = 0, still = 0;
    bool found;
    if (gallop(s, bound, &low, &high, &found))
        return s->e->code;
    if (found)
        return narrow(s, low, high);
    if (try_number(s, bound, true, &still) || try_number(s, 0, false, &still))
        return s->e->code;
    memset(s->tried, NOT_TRIED, sizeof(s->tried));
    if (!still)
        return ERR_OK; /* none helps */
    if (gallop(s, bound, &low, &high, &found))
        return s->e->code;
    assert(found); /* what was pending at the bound is excused */
    return narrow(s, low, high);
}

enum err_code sim_needed_init(struct sim_needed *n, const struct sim_input *in, const struct sim_drain *drain,
                              const struct sim_runner *how, const char *like, struct err *e)
{
    *n = (struct sim_needed){ .like = like };
    arena_init(&n->arena);
    struct search s = { .to = n, .in = in, .drain = drain, .how = how, .e = e };
    map_str_init(&s.excused);
    struct sim_object *model = NULL;
    enum err_code code = sim_change_find(in, "Node", "", like, &model, e);
    if (!code)
        code = try_number(&s, 0, false, &n->n_pending_before);
    if (!code && n->n_pending_before) {
        uint32_t most = n->n_pending_before < SIM_ADDED_NODES_MAX ? n->n_pending_before : SIM_ADDED_NODES_MAX;
        code = search(&s, most);
    }
    map_str_fini(&s.excused);
    return code;
}

void sim_needed_fini(struct sim_needed *n)
{
    vec_fini(&n->hopeless);
    arena_fini(&n->arena);
}
