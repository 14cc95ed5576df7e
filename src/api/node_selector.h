/* api/node_selector.h - which nodes a pod may and would like to run on.
 *
 * A node selector is the OR of its terms, a term the AND of expressions on labels and of fields (only
 * metadata.name can have a value). A term without any entry matches nothing, and so does a selector
 * without terms.
 *
 * Terms are compiled once. One that is broken never matches, and does not keep others from matching: what
 * is wrong with the selector is reported in `error`, and counts at once (API validation) or only when no
 * term matched (scheduling). Matching is done by the typed forms (forms/match.h).
 *
 * Thread: any. Memory: the arena given; keys and values are borrowed. */
#pragma once

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
    bool broken;
};

struct node_matcher {
    const struct node_term *at;
    size_t n;
    struct str error; /* all that is wrong with the terms; empty when nothing is */
    bool spent;       /* the budget is: the matcher must not be used, and the object is to be refused */
};

/* `work` is that of the body which it came in; `at` is the path of the selector, NULL for none. */
struct node_matcher node_selector_compile(struct arena *a, struct work *work, const struct node_selector *selector,
                                          const struct field_path *at);
/* Terms with weight 0 are left out, broken or not. With an error the matcher must not be used. */
struct node_matcher preferred_terms_compile(struct arena *a, struct work *work, const struct preferred_term *terms,
                                            size_t n_terms, const struct field_path *at);

/* Only what is wrong, as errors. */
void node_selector_validate(struct work *work, const struct node_selector *selector, const struct field_path *at,
                            struct field_errors *errs);
void preferred_terms_validate(struct work *work, const struct preferred_term *terms, size_t n_terms,
                              const struct field_path *at, struct field_errors *errs);
