/* sched/trial.c - see trial.h. */
#include "sched/trial.h"

/* A pod with a node as it was before it got one; what it was promised then is over. */
static const struct pod *without_node(struct sched *s, const struct pod *pod)
{
    if (pod->node_name == SYM_EMPTY)
        return pod_ref(pod);
    const struct pod *off = pod_with_node(s->syms, pod, SYM_EMPTY);
    if (off->nominated_node == SYM_EMPTY)
        return off;
    const struct pod *bare = pod_with_nomination(s->syms, off, SYM_EMPTY);
    pod_unref(s->syms, off);
    return bare;
}

void trial_begin(struct trial *t, struct sched *s, const struct pod *pod, struct attempt_wants wants)
{
    t->pod = without_node(s, pod);
    t->n_extenders = s->n_extenders;
    t->start_index = s->start_index;
    t->rand = s->rand;
    t->order_was_stale = s->cache.order_is_stale;
    s->n_extenders = 0;
    t->lifted = cache_lift(&s->cache, pod->meta.uid);
    t->begun = attempt_begin(s, &t->attempt, t->pod, wants);
}

void trial_run(struct trial *t)
{
    assert(t->attempt.outcome == ATTEMPT_FITS || !t->begun);
    if (t->begun)
        attempt_go_on(&t->attempt);
}

/* The order of nodes depends on when it is made: with the zones that they have when the next attempt begins. */
void trial_end(struct trial *t)
{
    struct sched *s = t->attempt.sched;
    cache_put_back(&s->cache, t->lifted);
    pod_unref(s->syms, t->pod);
    s->n_extenders = t->n_extenders;
    s->start_index = t->start_index;
    s->rand = t->rand;
    s->cache.order_is_stale |= t->order_was_stale;
}
