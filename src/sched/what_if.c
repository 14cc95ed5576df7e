/* sched/what_if.c - see what_if.h. */
#include "sched/what_if.h"

#include "sched/memo.h"
#include "sched/pod_class.h"
#include "sched/trial.h"

bool what_if_can(const struct sched *s)
{
    return s->n_extenders == 0;
}

/* Remembers whether the order was stale: it has to be made anew when the next attempt begins, with the
 * zones that nodes have then, and not now. */
void what_if_begin(struct what_if *w, struct sched *s)
{
    assert(what_if_can(s));
    *w = (struct what_if){
        .sched = s,
        .pod_classes = s->pod_classes,
        .memos = s->memos,
        .order_was_stale = s->cache.order_is_stale,
    };
    cache_update_order(&s->cache);
    s->pod_classes = pod_classes_new();
    s->memos = memos_new();
}

void what_if_end(struct what_if *w)
{
    struct sched *s = w->sched;
    what_if_undo(w);
    pod_classes_free(s->pod_classes);
    memos_free(s->memos);
    s->pod_classes = w->pod_classes;
    s->memos = w->memos;
    s->cache.order_is_stale = w->order_was_stale;
    vec_fini(&w->steps);
}

/* ---- Changes ---- */

void what_if_node(struct what_if *w, node_id row, const struct node *node)
{
    assert(row < w->sched->cache.rows.n);
    struct cache *cache = &w->sched->cache;
    vec_push(&w->steps, (struct what_if_step){ .kind = WHAT_IF_NODE, .row = row,
                                               .node = node_ref(cache->rows.at[row].node) });
    cache_suppose_node(cache, row, node);
}

void what_if_new_node(struct what_if *w, const struct node *node)
{
    struct cache *cache = &w->sched->cache;
    assert(node->n_images == 0);
    bool identity = cache->order_is_identity;
    node_id row = cache_suppose_new_node(cache, node);
    vec_push(&w->steps, (struct what_if_step){ .kind = WHAT_IF_NEW_NODE, .row = row, .order_was_identity = identity });
}

void what_if_without(struct what_if *w, const struct placed *placed)
{
    assert(placed);
    struct lifted_pod lifted = cache_lift(&w->sched->cache, placed->pod->meta.uid);
    vec_push(&w->steps, (struct what_if_step){ .kind = WHAT_IF_POD, .lifted = lifted });
}

static void undo_step(struct what_if *w, const struct what_if_step *step)
{
    struct cache *cache = &w->sched->cache;
    switch (step->kind) {
    case WHAT_IF_NODE:
        cache_suppose_node(cache, step->row, step->node);
        node_unref(cache->syms, step->node);
        break;
    case WHAT_IF_NEW_NODE:
        cache_drop_new_node(cache, step->row, step->order_was_identity);
        break;
    case WHAT_IF_POD:
        cache_put_back(cache, step->lifted);
        break;
    }
}

void what_if_undo(struct what_if *w)
{
    while (w->steps.n) {
        struct what_if_step step = vec_pop(&w->steps);
        undo_step(w, &step);
    }
}

/* ---- The question ---- */

static bool enters_queue(struct trial *t)
{
    struct cycle *c = &t->attempt.cycle;
    return c->profile && !(c->pod->flags & POD_TERMINATING) && framework_gate(c).verdict.code == V_SUCCESS;
}

struct what_if_answer what_if_ask(struct what_if *w, const struct pod *pod)
{
    struct what_if_answer answer = { .node = SYM_NONE };
    struct trial t;
    trial_begin(&t, w->sched, pod, (struct attempt_wants){ 0 });
    answer.enters_queue = enters_queue(&t);
    if (answer.enters_queue)
        trial_run(&t);
    if (answer.enters_queue && t.attempt.outcome == ATTEMPT_FITS)
        answer = (struct what_if_answer){ true, true, w->sched->cache.rows.at[t.attempt.node].name, t.attempt.n_feasible };
    trial_end(&t);
    return answer;
}
