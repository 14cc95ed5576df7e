/* config/expand.h - from the profiles of a configuration to what the scheduler runs: plugins made,
 * points filled.
 *
 * A profile's multiPoint set is expanded over all extension points and joined with the sets of single
 * points: there come first the plugins that the point names and multiPoint has, too, in the point's order, then the
 * rest of multiPoint without what the point disables, then what the point alone names. Every enabled plugin is made
 * once with its arguments.
 *
 * Thread: one at a time. Memory: profiles and arguments lie in the arena; what plugins made is theirs
 * until profiles_fini. */
#pragma once

#include "config/config.h"

struct expand_options {
    const struct plugin *const *registry; /* all plugins there are; ends with NULL */
    struct sym_table *syms;
    const struct features *features; /* lives as long as the profiles */
    const struct era *era;           /* NULL: the newest */
};

/* One profile for each in the configuration, in its order. On failure nothing stays made. */
enum err_code profiles_build(struct arena *a, const struct config *c, const struct expand_options *options,
                             struct profile ***ret_profiles, struct err *e) ERR_MUST_CHECK;
void profiles_fini(struct profile *const *profiles, size_t n, struct sym_table *syms);
