/* api/defaults_priv.h - defaults that have files of their own; see defaults.h. */
#pragma once

#include "api/defaults.h"

/* Of an autoscaling/v2.HorizontalPodAutoscaler: what its rows do not say. */
struct value defaults_autoscaler(struct arena *a, const struct type *t, const struct value *v);
