/* rules/convert.h - kinds that are served in two versions: from the served form to the stored one, and back.
 *
 *     events.k8s.io/v1.Event                     <->  core/v1.Event
 *     autoscaling/v1.HorizontalPodAutoscaler     <->  autoscaling/v2.HorizontalPodAutoscaler
 *
 * Lossless both ways, as upstream's conversions: what a version has no field for is in annotations (autoscaling) or
 * does not exist (events). kind and apiVersion of the result are set.
 *
 * Thread: any. Memory: the arena; the result shares texts with the input. */
#pragma once

#include "api/value.h"
#include "base/err.h"

/* The type in which objects of a served type are stored; often itself. */
const struct type *convert_stored_type(const struct type *served);
/* Types are those two, in either order, or the same one. ERR_BAD_REQUEST with upstream's text for annotations that do
 * not say what they should. */
ERR_MUST_CHECK enum err_code convert(struct arena *a, const struct type *from, const struct type *to,
                                     const struct value *v, struct value *ret_value, struct err *e);
