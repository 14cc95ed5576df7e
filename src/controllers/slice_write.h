/* controllers/slice_write.h - what was decided about an EndpointSlice, as a write of a turn. Both who make slices use it. */
#pragma once

#include "controllers/endpoint_slices.h"
#include "controllers/turn.h"

void slice_write_begin(struct turn *t, struct str namespace, const struct slice_action *action);
