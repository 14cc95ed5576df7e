/* sim/constant.h - values that are written in the program as JSON.
 *
 * Thread: any. Memory: the arena. */
#pragma once

#include "api/value.h"

/* `json` is ours: it must decode as the type named so. */
struct value constant_value(struct arena *a, const char *type_name, const char *json);
