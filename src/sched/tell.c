/* sched/tell.c - see tell.h. */
#include "sched/tell.h"

#include "base/log.h"
#include "base/strbuf.h"
#include "sched/node_tree.h"

/* A pod as a pair of the log. */
#define POD(key, p) KO(key, sym_text(s->syms, (p)->meta.ns), (p)->meta.name)

/* ---- Objects ---- */

void tell_pod_event(const struct sched *s, const char *what, const struct pod *pod)
{
    LOG(3, what, POD("pod", pod));
}

void tell_node_event(const struct sched *s, const char *what, const struct node *node)
{
    LOG(3, what, KS("node", sym_text(s->syms, node->name)));
}

/* As upstream joins them: with a zero byte, which no label has. */
static void add_zone(struct strbuf *to, const struct sched *s, const struct node *node)
{
    uint64_t zone = node_tree_zone(&s->cache.zone_keys, node->meta.labels);
    sym region = (sym)(zone >> 32), name = (sym)zone;
    if (region == SYM_EMPTY && name == SYM_EMPTY)
        return;
    strbuf_add_str(to, sym_text(s->syms, region));
    strbuf_add(to, ":\0:", 3);
    strbuf_add_str(to, sym_text(s->syms, name));
}

void tell_node_tree(const struct sched *s, const char *what, const struct node *node)
{
    if (!LOG_ON(2))
        return;
    struct strbuf zone;
    strbuf_init(&zone, STRBUF_NO_MAX);
    add_zone(&zone, s, node);
    LOG(2, what, KS("node", sym_text(s->syms, node->name)), KS("zone", strbuf_str(&zone)));
    strbuf_fini(&zone);
}

/* ---- Attempts ---- */

void tell_attempt(const struct sched *s, const struct pod *pod)
{
    LOG(3, "Attempting to schedule pod", POD("pod", pod));
}

void tell_skipped(const struct sched *s, const struct pod *pod)
{
    LOG(3, "Skip schedule deleting pod", POD("pod", pod));
}

void tell_bound(const struct sched *s, const struct binding *b)
{
    LOG(2, "Successfully bound pod to node", POD("pod", b->pod), KS("node", sym_text(s->syms, b->pod->node_name)),
        KU("evaluatedNodes", b->n_evaluated), KU("feasibleNodes", b->n_feasible));
}

void tell_not_bound(const struct sched *s, const struct binding *b)
{
    LOG(1, "Failed to bind pod", POD("pod", b->pod));
}

/* ---- Preemption ---- */

void tell_no_candidate(const struct sched *s, const struct pod *pod, uint32_t n_potential)
{
    if (n_potential == 0)
        LOG(3, "Preemption will not help schedule pod on any node", POD("pod", pod));
    LOG(2, "No preemption candidate is found; preemption is not helpful for scheduling", POD("pod", pod));
}

void tell_target(const struct sched *s, const struct pod *pod, sym node)
{
    LOG(2, "the target node for the preemption is determined", KS("node", sym_text(s->syms, node)), POD("pod", pod));
}

void tell_preemption_begins(const struct sched *s, const struct pod *preemptor, sym node, uint32_t n_victims,
                            uint32_t n_to_delete)
{
    LOG(2, "Start the preemption asynchronously", POD("preemptor", preemptor), KS("node", sym_text(s->syms, node)),
        KU("numVictims", n_victims), KU("numVictimsToDelete", n_to_delete));
}

void tell_going_already(const struct sched *s, const struct pod *preemptor, const struct pod *victim)
{
    LOG(2, "Victim Pod is already being deleted, skipping the API call for it", POD("preemptor", preemptor),
        KS("node", sym_text(s->syms, victim->node_name)), POD("victim", victim));
}

void tell_sent_back(const struct sched *s, const struct pod *preemptor, const struct pod *victim, bool in_pre_bind)
{
    struct str node = sym_text(s->syms, victim->node_name);
    if (in_pre_bind)
        LOG(2, "Preemptor rejected a pod in preBind", KS("preemptorType", "pod"), POD("preemptor", preemptor),
            POD("podInPreBind", victim), KS("node", node));
    else
        LOG(2, "Preemptor preempted a waiting pod", KS("preemptorType", "pod"), POD("preemptor", preemptor),
            POD("waitingPod", victim), KS("node", node));
}

void tell_evicted(const struct sched *s, const struct pod *preemptor, const struct pod *victim, const char *error)
{
    if (error)
        LOG_ERROR(error, "Tried to preempted pod", POD("pod", victim), POD("preemptor", preemptor));
    else
        LOG(2, "Preemptor Pod preempted victim Pod", POD("preemptor", preemptor), POD("victim", victim),
            KS("node", sym_text(s->syms, victim->node_name)));
}

void tell_preemption_ends(const struct sched *s, const struct pod *preemptor, sym node, bool failed)
{
    LOG(2, "Async Preemption finished completely", POD("preemptor", preemptor), KS("node", sym_text(s->syms, node)),
        KS("result", failed ? "error" : "success"));
}
