/* sched/memo.h - what is known of single nodes for pods that fit nowhere: why, and who would have to go.
 *
 * A pod that fits nowhere is looked at node by node, and then node by node again for victims; pods of
 * its class will be, too. As long as only local filters (pod_class.h) are active, both answers for a node
 * depend on the class, the pod's priority, the node's row and the pods nominated there. So they are
 * kept per row, with the versions that they hold for. And as long as nothing at all changes, the next pod of the class
 * fails for the same reasons in the same words: so the last failure is kept, too.
 *
 * Thread: scheduling thread only. Bounded: MEMOS_BYTES_MAX, the memo not used longest goes. Victims are
 * borrowed from the row: when one leaves it, the row's generation moves and the answer is void. */
#pragma once

#include "sched/framework.h"
#include "sched/preempt.h"

enum { MEMOS_BYTES_MAX = 64 << 20 };

/* What an answer depends on. */
struct memo_version {
    uint64_t generation; /* of the row */
    uint64_t nominated;  /* of the list of pods nominated there; 0 = none */
    uint64_t budgets;    /* of all disruption budgets; victims only */
};

struct memo_row {
    struct memo_version status_for, victims_for; /* generation 0: not known */
    struct filter_status status, dry_run;
    const struct pod **victims; /* heap; of a dry run that passed */
    uint32_t n_victims, n_violations;
    int64_t victims_from_s; /* wall clock: before it, a pod that started "now" would rank otherwise */
};

/* The rows of one class, for one attempt. */
struct memo_view {
    struct memo_row *rows;       /* NULL: answers depend on more than memo.h says; nothing is kept */
    const uint64_t *nominated;   /* by row: version of the pods nominated there; 0 = none */
    const uint64_t *has_nominated; /* bitset of the same */
    sym own_nomination;          /* where the pod itself is nominated: a special case there */
};

/* How a pod of a class failed. */
struct memo_failure {
    uint64_t generation, order_epoch; /* of the cache; generation 0: none is known */
    uint64_t nominations;             /* version of all of them; budgets only rank victims, and there are none */
    uint64_t rejectors, pending;
    uint32_t n_potential; /* random choices among so many were made: 0 = none */
    sym nominate;         /* SYM_EMPTY or SYM_NONE */
    bool never_preempts, tried_preemption;
    char *message; /* heap */
};

struct memos;

struct memos *memos_new(void);
void memos_free(struct memos *m);
/* Less than MEMOS_BYTES_MAX, and how many memos were dropped so far: for tests. One memo there always is. */
void memos_limit(struct memos *m, size_t bytes_max);
uint64_t memos_n_dropped(const struct memos *m);

struct memo_view memos_view(struct memos *m, struct cycle *c);
/* Where the failure of the pod's class is kept; NULL: failures of that pod depend on more. No node fits, and PreFilter did
 * not refuse the pod. Valid until the next call. */
struct memo_failure *memos_failure(struct memos *m, struct cycle *c);
/* Whether it is what would come out now. */
bool memo_failure_holds(const struct memo_failure *f, const struct cycle *c);
/* Keeps one that has just come out. */
void memo_failure_keep(struct memo_failure *to, const struct memo_failure *f, const struct cycle *c, const char *message);
/* The version of a row's answers now. False: they cannot be kept. */
static inline bool memo_version_of(const struct memo_view *view, const struct cycle *c, node_id row,
                                   struct memo_version *ret_version)
{
    const struct node_row *r = &c->cache->rows.at[row];
    *ret_version = (struct memo_version){ r->generation, view->nominated[row], 0 };
    return view->rows && view->own_nomination != r->name;
}

static inline bool memo_holds(const struct memo_version *known, const struct memo_version *now)
{
    return known->generation == now->generation && known->nominated == now->nominated && known->budgets == now->budgets;
}
