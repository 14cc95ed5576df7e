/* config/defaults.h - completing a configuration: defaults, and the default plugins merged with a
 * profile's own.
 *
 * Shared inside config/ only. */
#pragma once

#include "config/config.h"

/* The whole configuration from its decoded form (decode.h). */
struct config *complete_config(struct arena *a, const struct value *root, const struct features *f);

/* An extender from its decoded form. */
struct extender_config config_read_extender(struct arena *a, const struct value *v);

/* Default plugins of multiPoint, in order. */
plugin_refs default_plugins(struct arena *a, const struct features *f);
/* A custom set over the default one: what it disables is gone, what it names again keeps its place and gets the new
 * weight, the rest comes after. A seam for tests. */
struct plugin_set merge_plugin_sets(struct arena *a, const struct plugin_set *defaults,
                                    const struct plugin_set *custom);
