/* sched/evict.c - a chapter of preempt.h: carrying out what was decided. Lower nominations end, victims are
 * evicted; those that wait at Permit or in PreBind only go back to the queue. */
#include "sched/queue.h"
#include "sched/sched.h"
#include "sched/sched_priv.h"

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

/* A preemptor whose victims are under way; the entry owns its key. */
struct under_way {
    uint32_t n;
    bool failed; /* some eviction did */
    char uid[];
};

static struct under_way *find_under_way(const struct sched *s, const struct pod *preemptor)
{
    union map_value *found = map_str_find(&s->preempting, str_of(preemptor->meta.uid));
    return found ? found->ptr : NULL;
}

static struct under_way *add_under_way(struct sched *s, const struct pod *preemptor)
{
    struct str uid = str_of(preemptor->meta.uid);
    struct under_way *u = mem_zalloc(sizeof(*u) + uid.n + 1);
    memcpy(u->uid, uid.p, uid.n);
    map_str_put(&s->preempting, str_of(u->uid), NULL)->ptr = u;
    return u;
}

static void evict_one(struct sched *s, const struct pod *victim, const struct pod *preemptor)
{
    struct eviction e = { ++s->last_ticket, pod_ref(victim), pod_ref(preemptor) };
    vec_push(&s->evictions, e);
    struct under_way *u = find_under_way(s, preemptor);
    if (!u)
        u = add_under_way(s, preemptor);
    u->n++;
    s->io.evict(s->io.context, e.ticket, victim, preemptor);
}

static void note_preempted(struct sched *s, const struct pod *victim, const struct pod *preemptor, const char *how)
{
    const char *note = arena_printf(&s->arena, "Preempted by pod %s on node %s%s", preemptor->meta.uid,
                                    sym_text(s->syms, victim->node_name).p, how);
    s->io.event(s->io.context, &(struct event_note){ victim, false, "Preempted", "Preempting", note });
}

static bool all_terminate(const struct candidate *chosen)
{
    for (uint32_t i = 0; i < chosen->n_victims; i++)
        if (!(chosen->victims[i]->flags & POD_TERMINATING))
            return false;
    return true;
}

void evict_start(struct sched *s, const struct pod *preemptor, const struct preemption *p)
{
    const struct candidate *chosen = p->chosen;
    if (all_terminate(chosen))
        return; /* lower promises stay, too, as upstream has it */
    measure_victims(s->metrics, chosen->n_victims);
    end_lower_nominations(s, preemptor, s->cache.rows.at[chosen->node].name);
    for (uint32_t i = 0; i < chosen->n_victims; i++) {
        const struct pod *victim = chosen->victims[i];
        if (victim->flags & POD_TERMINATING)
            continue;
        pod_ref(victim);
        if (bind_preempt(s, victim, p->by->plugin->name))
            note_preempted(s, victim, preemptor, " (in kube-scheduler memory).");
        else
            evict_one(s, victim, preemptor);
        pod_unref(s->syms, victim);
    }
    if (!find_under_way(s, preemptor))
        measure_evicted(s->metrics);
}

/* Whether it was the last one of its preemptor, and one of them failed. */
static bool end_eviction(struct sched *s, size_t i, bool failed)
{
    struct eviction e = s->evictions.at[i];
    vec_remove_swap(&s->evictions, i);
    struct under_way *u = find_under_way(s, e.preemptor);
    u->failed |= failed;
    u->n--;
    bool is_last = u->n == 0, failed_at_all = u->failed;
    if (is_last) {
        measure_evicted(s->metrics);
        map_str_remove(&s->preempting, str_of(u->uid), NULL);
        free(u);
    }
    pod_unref(s->syms, e.victim);
    pod_unref(s->syms, e.preemptor);
    return is_last && failed_at_all;
}

void sched_victim_done(struct sched *s, io_ticket ticket, const char *error)
{
    for (size_t i = 0; i < s->evictions.n; i++) {
        if (s->evictions.at[i].ticket != ticket)
            continue;
        const struct pod *preemptor = pod_ref(s->evictions.at[i].preemptor);
        if (!error)
            note_preempted(s, s->evictions.at[i].victim, preemptor, "");
        if (end_eviction(s, i, error != NULL)) /* nothing else would wake the pod */
            queue_activate(s->queue, preemptor, sched_now_ms(s));
        pod_unref(s->syms, preemptor);
        return;
    }
}

static bool is_there(const struct sched *s, const struct pod *victim)
{
    const struct pod *known = sched_pod(s, victim->meta.uid);
    return known && !(known->flags & POD_TERMINATING);
}

/* A victim that is gone, or seen to go, does not count: its going is what wakes the preemptor, and that may be seen
 * before the answer to its eviction comes. */
bool framework_is_preempting(const struct cycle *c, const struct pod *pod)
{
    const struct sched *s = c->sched;
    if (!find_under_way(s, pod))
        return false;
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
        (void)end_eviction(s, s->evictions.n - 1, false);
    vec_fini(&s->evictions);
}
