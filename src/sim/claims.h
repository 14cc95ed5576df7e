/* sim/claims.h - what volume controllers have done before pods are scheduled, and stand-ins for claims and volumes that
 * the input lacks.
 *
 * A claim whose class binds at once (volumeBindingMode Immediate) does not wait for a pod: it gets the smallest free volume
 * that fits, or, if its class has a provisioner, a new one. Of that it is not known from where it can be reached: it is
 * taken to be everywhere.
 *
 * A pod that runs has its claims, and a claim that is bound has its volume, also when the input does not have them: something
 * that is bound and everywhere stands in for them, and whoever moves such a pod is warned.
 *
 * Thread: one, the owner of the sym table. Memory: the input's. */
#pragma once

#include "sim/forms.h"

/* For an input that is expanded. */
enum err_code sim_complete_claims(struct sim_input *in, struct err *e) ERR_MUST_CHECK;
/* The pod is moved, or waits: warns about what stands in for its claims and volumes. */
void sim_warn_claims(struct sim_input *in, const struct pod *pod);
