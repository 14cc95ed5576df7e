/* forms/match.h - selectors as the scheduler holds them: names are syms, values sorted, nothing left to
 * parse.
 *
 * Made from the selector objects of the API when a pod or volume is read (label_selector.h and
 * node_selector.h have the rules and the texts); a selector that upstream refuses keeps the text of the
 * refusal.
 *
 * Thread: any; immutable. Memory: the block of the object that they belong to. */
#pragma once

#include <stdbool.h>

#include "base/sym.h"

struct label_pair {
    sym key, value;
};

struct label_set {
    const struct label_pair *at; /* by ascending key */
    uint32_t n;
};

/* The value of a key, or SYM_NONE. */
sym label_set_get(struct label_set labels, sym key);

enum match_op { MATCH_IN, MATCH_NOT_IN, MATCH_EXISTS, MATCH_NOT_EXISTS, MATCH_GT, MATCH_LT, MATCH_OTHER };

struct match_rule {
    sym key;
    uint16_t op, n_values;
    union {
        const sym *values; /* IN, NOT_IN; ascending */
        int64_t number;    /* GT, LT */
    };
};

enum matcher_mode {
    MATCHER_NOTHING, /* an absent LabelSelector */
    MATCHER_ALL_OF,  /* every rule; without any, everything */
    MATCHER_INVALID, /* matches nothing; `error` says why */
};

struct matcher {
    uint16_t mode, n;
    union {
        const struct match_rule *at; /* ALL_OF */
        const char *error;           /* INVALID */
    };
};

static inline bool matcher_is_empty(const struct matcher *m) /* selects everything by having no rule */
{
    return m->mode == MATCHER_ALL_OF && m->n == 0;
}

/* `syms` is needed to read the numbers in labels (GT, LT). */
bool matcher_matches(const struct matcher *m, struct label_set labels, const struct sym_table *syms);

/* One term of a node selector: rules on labels and on fields. The fields are as the object has them,
 * also those that make the term broken: an operator that fields do not have (MATCH_OTHER), no or
 * several values. Nodes have no field but metadata.name; the key of all others is SYM_EMPTY. */
struct node_rule {
    struct matcher labels;
    const struct match_rule *fields; /* see below */
    uint16_t n_fields;
    bool empty;  /* neither rules nor fields: matches nothing */
    bool broken; /* does not parse: matches nothing */
};

struct node_rules {
    const struct node_rule *at; /* one of them must match */
    const char *error;          /* what is wrong with broken terms, or NULL; counts only when no term matches */
    uint16_t n;
    bool given; /* false: no selector at all, matches every node */
};

/* `name` is SYM_EMPTY for a nameless node: fields are then not looked at. */
bool node_rule_matches(const struct node_rule *t, struct label_set labels, sym name,
                       const struct sym_table *syms);
bool node_rules_match(const struct node_rules *m, struct label_set labels, sym name,
                      const struct sym_table *syms);
