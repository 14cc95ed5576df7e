/* api/label_selector.h - the LabelSelector object: matchLabels and matchExpressions.
 *
 * NULL stands for an absent selector, which matches nothing; one without entries matches everything.
 *
 * Thread: as the arena. */
#pragma once

#include "api/selector.h"
#include "base/err.h"

struct label_selector {
    struct labels match_labels;
    const struct match_expression *expressions;
    size_t n_expressions;
};

struct label_selector_rules {
    bool allow_invalid_values; /* only for objects that were stored with some */
    bool allow_unknown_operators;
};

/* Ready to match; borrows from `ls`. `work` is that of the body which it came in. */
ERR_MUST_CHECK enum err_code label_selector_compile(struct arena *a, struct work *work, const struct label_selector *ls,
                                                    struct selector *ret, struct err *e);
void label_selector_validate(const struct label_selector *ls, struct label_selector_rules rules,
                             const struct field_path *at, struct field_errors *errs);
/* One of its matchExpressions. */
void match_expression_validate(const struct match_expression *expression, struct label_selector_rules rules,
                               const struct field_path *at, struct field_errors *errs);
/* As kubectl shows it: the text, <none> or <error>. */
struct str label_selector_format(struct arena *a, struct work *work, const struct label_selector *ls);
