/* apiserver/review_access.h - what reviews of access ask: their checks, and the question itself.
 *
 * Thread: any. Memory: the arena. */
#pragma once

#include "api/field_error.h"
#include "apiserver/authz.h"

struct access_question {
    struct authz_attributes attributes;
    struct field_selector fields;
    struct str evaluation_error; /* about selectors that cannot be read: what they say is left out */
};

/* `spec` is a SubjectAccessReviewSpec or, with `self`, a SelfSubjectAccessReviewSpec. */
void access_check_spec(const struct type *t, const struct value *spec, bool self, struct field_errors *errs);
/* NonResourceAttributes, as upstream's messages show them. */
struct field_value access_shown_path(struct arena *a, const struct value *v);
/* Of a spec that is good. */
void access_read(struct arena *a, const struct type *t, const struct value *spec, const struct user *u,
                 struct access_question *ret_question);
/* The user that a SubjectAccessReviewSpec names. */
struct user access_read_user(struct arena *a, const struct value *spec);
