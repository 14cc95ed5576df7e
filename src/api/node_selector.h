/* api/node_selector.h - which nodes a pod may and would like to run on.
 *
 * A node selector is the OR of its terms, a term the AND of expressions on labels and of fields (only
 * metadata.name can have a value). A term without any entry matches nothing, and so does a selector
 * without terms.
 *
 * Terms are compiled once. One that is broken never matches, and does not keep others from matching: what
 * is wrong with the selector is reported in `error`, and counts at once (API validation) or only when no
 * term matched (scheduling). Fields are not looked at for a node without a name: volumes are checked
 * against such nodes.
 *
 * Matching allocates nothing. Thread: any once compiled. */
#pragma once

#include "api/field_selector.h"
#include "api/selector.h"

/* ---- as the objects have them, borrowed ---- */

struct node_selector_term {
    const struct match_expression *expressions, *fields;
    size_t n_expressions, n_fields;
};

struct node_selector {
    const struct node_selector_term *terms;
    size_t n_terms;
};

struct preferred_term {
    int32_t weight;
    struct node_selector_term preference;
};

/* ---- compiled ---- */

struct node_term {
    struct selector labels;
    struct field_selector fields;
    int32_t weight; /* of a preferred term */
    bool broken;
};

struct node_matcher {
    const struct node_term *at;
    size_t n;
    struct str error; /* all that is wrong with the terms; empty when nothing is */
};

/* What a node is to a matcher. */
struct node_identity {
    struct str name; /* may be empty */
    struct labels labels;
};

/* `at` is the path of the selector, NULL for none. */
struct node_matcher node_selector_compile(struct arena *a, const struct node_selector *selector,
                                          const struct field_path *at);
/* Terms with weight 0 are left out, broken or not. With an error the matcher must not be used. */
struct node_matcher preferred_terms_compile(struct arena *a, const struct preferred_term *terms,
                                            size_t n_terms, const struct field_path *at);

/* Only what is wrong, as errors. */
void node_selector_validate(const struct node_selector *selector, const struct field_path *at,
                            struct field_errors *errs);
void preferred_terms_validate(const struct preferred_term *terms, size_t n_terms, const struct field_path *at,
                              struct field_errors *errs);

bool node_matcher_matches(const struct node_matcher *m, const struct node_identity *node);
/* Sum of the weights of the terms that match. */
int64_t node_matcher_score(const struct node_matcher *m, const struct node_identity *node);

/* What a pod demands: all labels of its nodeSelector, and its required node affinity. */
struct required_affinity {
    struct selector node_selector;
    bool has_affinity;
    struct node_matcher affinity;
};

/* `affinity` is NULL when the pod has none, which is not the same as one without terms. */
struct required_affinity required_affinity_compile(struct arena *a, struct labels node_selector,
                                                   const struct node_selector *affinity);
/* `ret_error`, if not NULL, gets the matcher's error when that is why nothing matched, else empty. */
bool required_affinity_matches(const struct required_affinity *r, const struct node_identity *node,
                               struct str *ret_error);
