/* api/field_selector.h - field selectors, as in ?fieldSelector=spec.nodeName=n1,status.phase!=Running.
 *
 *     selector = [ term { "," term } ]
 *     term     = field ( "=" | "==" | "!=" ) value
 *
 * In a value a backslash stands before each backslash, comma and equals sign. A field that an object
 * lacks counts as empty. Which fields a kind has is checked elsewhere.
 *
 * Thread: any once made. */
#pragma once

#include "api/labels.h"
#include "base/work.h"

struct field_term {
    struct str field, value;
    bool not_equal;
};

struct field_selector {
    const struct field_term *at;
    size_t n;
};

/* Terms in the order of their texts. Borrows from `text`, whose length `work` limits. */
ERR_MUST_CHECK enum err_code field_selector_parse(struct arena *a, struct work *work, struct str text,
                                                  struct field_selector *ret, struct err *e);
bool field_selector_matches(const struct field_selector *s, struct labels fields);
static inline bool field_selector_empty(const struct field_selector *s)
{
    return s->n == 0;
}
/* The value that `field` must have, or NULL. */
const struct str *field_selector_exact(const struct field_selector *s, struct str field);
struct str field_selector_text(struct arena *a, const struct field_selector *s);
