/* api/match.h - selectors as the scheduler holds them: names are syms, values sorted, nothing left to parse.
 *
 * Made from the selector objects of the API when a pod or volume is read (selector.h, node_selector.h have the
 * rules and the texts); a selector that upstream refuses keeps the text of the refusal.
 *
 * Thread: any; immutable. Memory: the block of the object that they belong to. */
#pragma once

#include <stdbool.h>

#include "base/sym.h"

struct label_pair {
    sym key, value;
};

struct labels {
    const struct label_pair *at; /* by ascending key */
    uint32_t n;
};

/* The value of a key, or SYM_NONE. */
sym labels_get(struct labels labels, sym key);

enum match_op { MATCH_IN, MATCH_NOT_IN, MATCH_EXISTS, MATCH_NOT_EXISTS, MATCH_GT, MATCH_LT };

struct requirement {
    sym key;
    uint16_t op, n_values;
    union {
        const sym *values; /* IN, NOT_IN; ascending */
        int64_t number;    /* GT, LT */
    };
};

enum matcher_mode {
    MATCHER_NOTHING, /* an absent LabelSelector */
    MATCHER_ALL_OF,  /* every requirement; without any, everything */
    MATCHER_INVALID, /* matches nothing; `error` says why */
};

struct matcher {
    uint16_t mode, n;
    union {
        const struct requirement *at;
        const char *error;
    };
};

static inline bool matcher_is_empty(const struct matcher *m) /* selects everything by having no requirement */
{
    return m->mode == MATCHER_ALL_OF && m->n == 0;
}

/* `syms` is needed to read the numbers in labels (GT, LT). */
bool requirement_matches(const struct requirement *r, struct labels labels, const struct sym_table *syms);
bool matcher_matches(const struct matcher *m, struct labels labels, const struct sym_table *syms);

/* One term of a node selector: expressions on labels and on metadata.name. */
struct node_term {
    struct matcher labels;
    const struct requirement *fields; /* IN, NOT_IN with one value; key is the field's path */
    uint16_t n_fields;
    bool empty;        /* neither expressions nor fields: matches nothing */
    const char *error; /* parse error of the term, or NULL; such a term matches nothing */
};

struct node_matcher {
    const struct node_term *terms; /* one of them must match */
    uint16_t n_terms;
    bool given; /* false: no selector at all, matches every node */
};

/* `name` is SYM_EMPTY for a nameless node: fields are then not looked at. */
bool node_term_matches(const struct node_term *t, struct labels labels, sym name, const struct sym_table *syms);
bool node_matcher_matches(const struct node_matcher *m, struct labels labels, sym name,
                          const struct sym_table *syms);
