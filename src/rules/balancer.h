/* rules/balancer.h - status.loadBalancer, which Services and Ingresses have.
 *
 * Thread: as the list of errors. */
#pragma once

#include "rules/place.h"

/* `with_mode`: addresses say how they are reached (ipMode). */
void balancer_check_status(const struct place *balancer, const struct place *old_balancer, bool with_mode);
void balancer_warn_status(const struct rules_context *c, const struct value *object);
