/* sched/evict.c - a chapter of preempt.h: carrying out what was decided. Lower nominations end, victims are
 * evicted; those that wait at Permit or in PreBind only go back to the queue. */
#include "sched/queue.h"
#include "sched/sched.h"
#include "sched/sched_priv.h"
#include "sched/tell.h"

/* Pods of lower priority that were promised this node lose the promise. */
static void end_lower_nominations(struct sched *s, const struct pod *preemptor, sym node)
{
    for (;;) {
        const struct nominated_list *list = nominator_on(&s->nominator, node);
        const struct pod *lower = NULL;
        for (size_t i = 0; list && i < list->pods.n && !lower; i++)
            if (list->pods.at[i]->pod->priority < preemptor->priority)
                lower = list->pods.at[i]->pod;
        if (!lower)
            return;
        pod_ref(lower);
        nominator_remove(&s->nominator, lower->meta.uid);
        s->io.patch_status(s->io.context,
                           &(struct status_change){ .pod = lower, .set_nomination = true, .nomination = SYM_EMPTY });
        pod_unref(s->syms, lower);
    }
}

/* A preemption under way. All victims but the last are evicted at once; the last one when those are through, and not at all
 * when one of them failed: the preemptor is tried again the sooner, and one pod less was evicted in vain. Until all are
 * seen to go it stays out of the queue, so that it does not ask for the same victims twice. */
struct under_way {
    const struct pod *preemptor; /* its uid is the key of sched.preempting */
    const struct pod *last;      /* the last victim; NULL: no victim is held back (features.async_preemption is off) */
    bool last_is_sent;
    bool failed;    /* some eviction did */
    uint32_t n;     /* evictions that have no answer yet */
    const char *by; /* name of the plugin that preempts */
};

static struct under_way *find_under_way(const struct sched *s, const struct pod *preemptor)
{
    union map_value *found = map_str_find(&s->preempting, str_of(preemptor->meta.uid));
    return found ? found->ptr : NULL;
}

/* The one that its preemptor has already, if it may try again before the last answer has come. */
static struct under_way *begin_under_way(struct sched *s, const struct pod *preemptor)
{
    struct under_way *u = find_under_way(s, preemptor);
    if (u)
        return u;
    u = mem_zalloc(sizeof(*u));
    u->preemptor = pod_ref(preemptor);
    map_str_put(&s->preempting, str_of(preemptor->meta.uid), NULL)->ptr = u;
    return u;
}

static void hold_back(struct sched *s, struct under_way *u, const struct pod *last)
{
    if (u->last)
        pod_unref(s->syms, u->last);
    u->last = pod_ref(last);
    u->last_is_sent = false;
}

static void end_under_way(struct sched *s, struct under_way *u)
{
    map_str_remove(&s->preempting, str_of(u->preemptor->meta.uid), NULL);
    if (u->last)
        pod_unref(s->syms, u->last);
    pod_unref(s->syms, u->preemptor);
    free(u);
}

static void note_preempted(struct sched *s, const struct pod *victim, const struct pod *preemptor, const char *how)
{
    const char *note = arena_printf(&s->arena, "Preempted by pod %s on node %s%s", preemptor->meta.uid,
                                    sym_text(s->syms, victim->node_name).p, how);
    s->io.event(s->io.context, &(struct event_note){ victim, false, "Preempted", "Preempting", note });
}

static void evict_one(struct sched *s, struct under_way *u, const struct pod *victim)
{
    struct eviction e = { ++s->last_ticket, pod_ref(victim), pod_ref(u->preemptor) };
    vec_push(&s->evictions, e);
    u->n++;
    s->io.evict(s->io.context, e.ticket, victim, u->preemptor);
}

/* Who waits for a permit or in PreBind is only sent back. */
static void preempt_victim(struct sched *s, struct under_way *u, const struct pod *victim)
{
    pod_ref(victim);
    if (bind_preempt(s, victim, u->preemptor, u->by))
        note_preempted(s, victim, u->preemptor, " (in kube-scheduler memory).");
    else
        evict_one(s, u, victim);
    pod_unref(s->syms, victim);
}

/* When nothing is under way any more: the last victim's turn, or the end. */
static void go_on(struct sched *s, struct under_way *u)
{
    if (u->n == 0 && !u->failed && u->last && !u->last_is_sent) {
        u->last_is_sent = true;
        preempt_victim(s, u, u->last);
    }
    if (u->n)
        return;
    const struct pod *preemptor = pod_ref(u->preemptor);
    bool failed = u->failed;
    measure_evicted(s->metrics);
    if (u->last)
        tell_preemption_ends(s, preemptor, u->last->node_name, failed);
    end_under_way(s, u);
    if (failed) /* nothing else would wake the pod */
        queue_activate(s->queue, preemptor, sched_now_ms(s));
    pod_unref(s->syms, preemptor);
}

/* Those that are not on their way out anyway. */
static uint32_t find_present(struct sched *s, const struct pod *preemptor, const struct candidate *chosen,
                             const struct pod ***ret_victims)
{
    const struct pod **victims = ARENA_NEW_N(&s->arena, const struct pod *, chosen->n_victims);
    uint32_t n = 0;
    for (uint32_t i = 0; i < chosen->n_victims; i++)
        if (!(chosen->victims[i]->flags & POD_TERMINATING))
            victims[n++] = chosen->victims[i];
        else
            tell_going_already(s, preemptor, chosen->victims[i]);
    *ret_victims = victims;
    return n;
}

void evict_start(struct sched *s, const struct pod *preemptor, const struct preemption *p)
{
    const struct candidate *chosen = p->chosen;
    const struct pod **victims;
    uint32_t n = find_present(s, preemptor, chosen, &victims);
    if (n == 0)
        return; /* lower promises stay, too, as upstream has it */
    measure_victims(s->metrics, chosen->n_victims);
    end_lower_nominations(s, preemptor, s->cache.rows.at[chosen->node].name);
    struct under_way *u = begin_under_way(s, preemptor);
    u->by = p->by->plugin->name;
    if (s->features.async_preemption) {
        tell_preemption_begins(s, preemptor, s->cache.rows.at[chosen->node].name, chosen->n_victims, n);
        hold_back(s, u, victims[--n]);
    }
    for (uint32_t i = 0; i < n; i++)
        preempt_victim(s, u, victims[i]);
    go_on(s, u);
}

static struct eviction *find_eviction(const struct sched *s, io_ticket ticket)
{
    for (size_t i = 0; i < s->evictions.n; i++)
        if (s->evictions.at[i].ticket == ticket)
            return &s->evictions.at[i];
    return NULL;
}

static void end_eviction(struct sched *s, struct eviction *e)
{
    pod_unref(s->syms, e->victim);
    pod_unref(s->syms, e->preemptor);
    vec_remove_swap(&s->evictions, (size_t)(e - s->evictions.at));
}

void sched_victim_done(struct sched *s, io_ticket ticket, const char *error)
{
    struct eviction *e = find_eviction(s, ticket);
    if (!e)
        return;
    struct under_way *u = find_under_way(s, e->preemptor);
    tell_evicted(s, e->preemptor, e->victim, error);
    if (!error)
        note_preempted(s, e->victim, e->preemptor, "");
    end_eviction(s, e);
    u->failed |= error != NULL;
    u->n--;
    go_on(s, u);
}

static bool is_there(const struct sched *s, const struct pod *victim)
{
    const struct pod *known = sched_pod(s, victim->meta.uid);
    return known && !(known->flags & POD_TERMINATING);
}

/* A victim that is gone, or seen to go, does not count: its going is what wakes the preemptor, and that may be seen
 * before the answer to its eviction comes. Upstream waits for the last one's turn even when it is gone by then, and
 * may so sleep through the going of all. */
bool framework_is_preempting(const struct cycle *c, const struct pod *pod)
{
    const struct sched *s = c->sched;
    const struct under_way *u = find_under_way(s, pod);
    if (!u)
        return false;
    if (u->last && is_there(s, u->last))
        return true;
    for (size_t i = 0; i < s->evictions.n; i++) {
        const struct eviction *e = &s->evictions.at[i];
        if (strcmp(e->preemptor->meta.uid, pod->meta.uid) == 0 && is_there(s, e->victim))
            return true;
    }
    return false;
}

void evict_free_all(struct sched *s)
{
    while (s->evictions.n)
        end_eviction(s, &s->evictions.at[0]);
    vec_fini(&s->evictions);
    for (struct map_str_slot *slot; (slot = map_str_next(&s->preempting, NULL));)
        end_under_way(s, slot->value.ptr);
}
