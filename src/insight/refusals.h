/* insight/refusals.h - why nodes were refused, counted by reason, in blocks that decisions share.
 *
 * Of a pod that fits nowhere the scheduler has found out the status of every node: they are counted, and pods that fail in
 * the same words for the same reasons share the block; a failure that is only repeated (memo.h) is not counted again.
 *
 * Of a pod that fits somewhere nobody asks why the other nodes were refused. Here they are asked, but with a
 * budget: what is found out about a node is kept for the pod's class (pod_class.h) until the node changes, and a
 * decision looks at no more than REFUSALS_PER_DECISION nodes. Those that nobody has looked at yet are counted as that.
 * So while pods of a class follow each other, the counts are complete after a few of them, and cost next to
 * nothing from then on. Filters that look beyond the node count whom they refuse as they go; their reason is that of
 * one of these nodes. A node that several plugins refuse counts for the first of those that look at the node
 * alone, else for the first of the others. Attempts by the plain way (extenders, a share of the nodes, a node that was
 * promised or named) leave nothing to count.
 *
 * Thread: scheduling thread only.    Owns: all blocks; at most REFUSAL_CLASSES_MAX classes are kept, the one not used
 * longest goes. Blocks are given back before refusals_free. */
#pragma once

#include "sched/attempt.h"

enum {
    REFUSALS_PER_DECISION = 32,
    REFUSAL_CLASSES_MAX = 256,
    REFUSAL_KINDS_MAX = 48,         /* different verdicts of one class; nodes with others count as not looked at */
    REFUSAL_GROUPS_MAX = 64,        /* of one block */
    REFUSAL_MESSAGE_BYTES_MAX = 4096, /* longer messages are cut */
    REFUSAL_REASON_BYTES_MAX = 512,   /* the same of reasons */
};

/* One reason of one plugin. A node that gave several reasons is in several groups. */
struct refusal_group {
    const char *plugin; /* NULL: no single one; lives as long as its profile */
    const char *reason;
    uint32_t n_nodes;
    enum verdict_code code;
};

struct refusal_block {
    uint32_t n_refs, n_groups;
    uint32_t n_not_looked_at; /* refused, and nobody asked why */
    size_t n_bytes;           /* of the block */
    const char *message;      /* NULL: the pod fits */
    struct refusal_block *next; /* of the same message, with other groups */
    struct refusal_group groups[]; /* then texts */
};

struct refusals;

struct refusals *refusals_new(void);
void refusals_free(struct refusals *r);
/* Each gives a reference. For an attempt that fits; for one that does not, or has become a failure later (NULL). */
struct refusal_block *refusals_of_choice(struct refusals *r, struct attempt *a);
struct refusal_block *refusals_of_failure(struct refusals *r, struct attempt *a, const char *message);
void refusals_give_back(struct refusals *r, struct refusal_block *own_block);
/* Of all blocks that are held. */
size_t refusals_bytes(const struct refusals *r);
