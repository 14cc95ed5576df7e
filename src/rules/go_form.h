/* rules/go_form.h - values as Go writes the internal types that upstream checks: all fields, by their Go names, in Go's order.
 *
 * Errors quote such values, and differences of them, which is where clients see them.
 *
 * Thread: any. Memory: the buffer. */
#pragma once

#include "api/value.h"
#include "base/strbuf.h"

/* The value of a field. */
void go_form_add(struct strbuf *to, const struct field *f, const struct value *v);
/* "Name":value. `t` is the type that the field is of; it may be NULL, where no type names it in its own way. */
void go_form_add_member(struct strbuf *to, const struct type *t, const struct field *f, const struct value *v);
