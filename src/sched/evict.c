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

/* How many of a preemptor's victims are under way; the entry owns its key. */
struct under_way {
    uint32_t n;
    char uid[];
};

static void count_preempting(struct sched *s, const struct pod *preemptor, int by)
{
    struct str uid = str_of(preemptor->meta.uid);
    union map_value *found = map_str_find(&s->preempting, uid);
    struct under_way *u = found ? found->ptr : NULL;
    if (!u) {
        u = mem_zalloc(sizeof(*u) + uid.n + 1);
        memcpy(u->uid, uid.p, uid.n);
        map_str_put(&s->preempting, str_of(u->uid), NULL)->ptr = u;
    }
    u->n += (uint32_t)by;
    if (u->n)
        return;
    map_str_remove(&s->preempting, uid, NULL);
    free(u);
}

static void evict_one(struct sched *s, const struct pod *victim, const struct pod *preemptor)
{
    struct eviction e = { ++s->last_ticket, pod_ref(victim), pod_ref(preemptor) };
    vec_push(&s->evictions, e);
    count_preempting(s, preemptor, 1);
    s->io.evict(s->io.context, e.ticket, victim, preemptor);
}

static void note_preempted(struct sched *s, const struct pod *victim, const struct pod *preemptor)
{
    const char *note = arena_printf(&s->arena, "Preempted by pod %s on node %s", preemptor->meta.uid,
                                    sym_text(s->syms, victim->node_name).p);
    s->io.event(s->io.context, &(struct event_note){ victim, false, "Preempted", "Preempting", note });
}

void evict_start(struct sched *s, const struct pod *preemptor, const struct preemption *p)
{
    const struct candidate *chosen = p->chosen;
    end_lower_nominations(s, preemptor, s->cache.rows.at[chosen->node].name);
    for (uint32_t i = 0; i < chosen->n_victims; i++) {
        const struct pod *victim = chosen->victims[i];
        if (victim->flags & POD_TERMINATING)
            continue;
        pod_ref(victim);
        if (bind_preempt(s, victim, p->by->plugin->name))
            note_preempted(s, victim, preemptor);
        else
            evict_one(s, victim, preemptor);
        pod_unref(s->syms, victim);
    }
}

static void end_eviction(struct sched *s, size_t i)
{
    struct eviction e = s->evictions.at[i];
    vec_remove_swap(&s->evictions, i);
    count_preempting(s, e.preemptor, -1);
    pod_unref(s->syms, e.victim);
    pod_unref(s->syms, e.preemptor);
}

void sched_victim_done(struct sched *s, io_ticket ticket, const char *error)
{
    for (size_t i = 0; i < s->evictions.n; i++) {
        if (s->evictions.at[i].ticket != ticket)
            continue;
        const struct pod *preemptor = pod_ref(s->evictions.at[i].preemptor);
        if (!error)
            note_preempted(s, s->evictions.at[i].victim, preemptor);
        end_eviction(s, i);
        if (error) /* nothing else would wake the pod */
            queue_activate(s->queue, preemptor, sched_now_ms(s));
        pod_unref(s->syms, preemptor);
        return;
    }
}

bool framework_is_preempting(const struct cycle *c, const struct pod *pod)
{
    return map_str_find(&c->sched->preempting, str_of(pod->meta.uid)) != NULL;
}

void evict_free_all(struct sched *s)
{
    while (s->evictions.n)
        end_eviction(s, s->evictions.n - 1);
    vec_fini(&s->evictions);
}
