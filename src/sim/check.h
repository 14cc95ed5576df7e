/* sim/check.h - what an API server would refuse of an object, as far as it changes what a simulation
 * says.
 *
 * Most of it only gives a warning: the scheduler lives with such objects, and somebody who asks where
 * pods would go wants an answer. Warnings and errors name file, object and field.
 *
 * Thread: one. */
#pragma once

#include "sim/forms.h"

/* Of an object that has its origin, kind and names, and its value: names, amounts, numbers of pods. */
enum err_code sim_check_value(struct sim_input *in, const struct sim_object *o, const struct value *v,
                              struct err *e) ERR_MUST_CHECK;
/* Of an object with its form: selectors that match nothing because they are wrong, sums that do not
 * fit. */
void sim_check_form(struct sim_input *in, const struct sim_object *o);
