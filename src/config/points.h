/* config/points.h - the extension points as configuration, Go and C name them.
 *
 * Shared inside config/ only. */
#pragma once

#include "config/config.h"

struct point_name {
    const char *json;      /* in profiles[].plugins */
    const char *interface; /* in texts; NULL: multiPoint */
    uint8_t slot;          /* in the schema's Plugins */
};

extern const struct point_name point_names[N_SETS];

/* Points in the order in which upstream builds them, which decides which of several errors is reported. */
extern const enum extension_point point_order[N_POINTS];

/* Whether the plugin has the functions of a point. */
bool plugin_extends(const struct plugin *p, enum extension_point point);
