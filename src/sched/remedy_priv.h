/* sched/remedy_priv.h - what the parts of remedy.c share.
 *
 * Two phases. First, on one PreFilter of the pod as it is, cheap looks at single nodes give proposals:
 * changes after which the node's own filters pass, or might (remedy_node.c, remedy_evict.c), and
 * changes of the pod (remedy_pod.c). Then remedy.c tries the proposals of each kind, smallest first, as
 * whole attempts. */
#pragma once

#include "sched/remedy.h"
#include "sched/what_if.h"

enum { /* first parts of a size */
    SIZE_SWITCH = 1,
    SIZE_CONSTRAINT,
    SIZE_AMOUNT,
    SIZE_EVICTION,
    SIZE_NODE,
};
#define SIZE_OF(part, detail) (((int64_t)(part) << 48) + (detail))
enum { MILLIONTHS = 1000000 };

enum {
    REMEDY_PROPOSALS_MAX = 8192, /* of one kind */
    REMEDY_LABELS_MAX = 32,      /* that are tried on nodes */
    REMEDY_TOLERATIONS_MAX = 32, /* that are tried in the pod */
    REMEDY_DOMAINS_MAX = 8,      /* values of one topology key */
};

struct wanted_label {
    sym key, value;   /* value SYM_NONE: the node's own name */
    bool topological; /* the key makes domains that some constraint of the pod looks at */
};

struct proposal {
    enum remedy_kind kind;
    enum relaxed relaxed;
    int64_t size;
    node_id row;    /* NODE_NONE: a change of the pod */
    uint32_t index; /* of the taint on its node, or in the list that is relaxed */
    sym key, value; /* of the taint, toleration, label; SYM_NONE: none */
    uint8_t effect;
    int64_t before, now;
    const struct pod *pod; /* the changed one; the finder holds the reference. NULL: as it is */
    struct remedy_amount *amounts;
    uint32_t n_amounts;
    const char *const *names;
    uint32_t n_names;
    const char *hint;
    uint32_t n_victims;
    struct placed **victims;
};

struct finder {
    struct sched *s;
    const struct pod *pod;
    struct arena *arena; /* of the result, and for what lives as long */
    struct arena scratch; /* for one look at one node */
    struct what_if what_if;
    struct cycle *c; /* while single nodes are looked at: PreFilter has run for the pod as it is */
    VEC(struct proposal) proposals[N_REMEDY_KINDS];
    VEC(struct proposal) lower; /* requests, one proposal a resource: the best so far */
    VEC(struct remedy) found;
    VEC(const struct pod *) pods; /* changed ones, held */
    VEC(sym) syms;                /* of values that no object has, held */
    VEC(int64_t) lacks;           /* by row: how much the node is short of, in millionths of what it has */
    VEC(struct wanted_label) wanted;
    uint32_t n_tried;
    bool cut;
    const struct clock *clock; /* NULL: there is no deadline */
    int64_t deadline_ns;
    bool late; /* it is over: nothing is tried any more, and what is half tried is dropped */
};

/* A sym that lives until the search ends. */
sym finder_sym(struct finder *f, struct str text);
/* Its text, in the arena of the result. */
const char *finder_text(struct finder *f, sym id);
/* Takes over the reference. */
const struct pod *finder_keep(struct finder *f, const struct pod *own_pod);
/* Looks at the clock. */
bool finder_is_late(struct finder *f);
struct what_if_answer finder_ask(struct finder *f, const struct pod *pod);

/* Whether all filters pass on the view; leaves nothing in the cycle's arena. */
bool finder_passes(struct finder *f, const struct node_view *view);
/* The filters that do not pass, each asked, as bits; without nominated pods. */
uint64_t finder_failing(struct finder *f, const struct node_view *view);
/* The filters that look beyond the node itself. */
uint64_t finder_wide_filters(const struct finder *f);

/* remedy_node.c */
void finder_propose(struct finder *f, const struct proposal *p);
/* The labels that the pod asks of nodes. */
void find_wanted_labels(struct finder *f);
void propose_for_node(struct finder *f, node_id row);
void propose_tolerations(struct finder *f);
void propose_new_nodes(struct finder *f);
/* Nodes that have more of something than any that is there, for a pod that asks for that. */
void propose_larger_nodes(struct finder *f);
/* The node of the proposal, changed as it says; arrays in `a`. */
struct node changed_node(const struct finder *f, struct arena *a, const struct proposal *p);

/* remedy_evict.c */
int64_t eviction_size(const struct proposal *p);
void propose_evictions(struct finder *f, const node_id *rows, uint32_t n_rows);

/* remedy_claims.c */
void propose_claims(struct finder *f);

/* remedy_pod.c */
void propose_without_gates(struct finder *f);
void propose_relaxations(struct finder *f);
/* Notes that the pod would fit on the row if it asked for less of the one resource. */
void propose_lower_request(struct finder *f, node_id row, const struct remedy_amount *amount);
/* The smallest maxSkew that places the pod; false: none does. */
bool settle_max_skew(struct finder *f, struct proposal *p, struct what_if_answer *ret_answer);
