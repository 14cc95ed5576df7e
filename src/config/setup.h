/* config/setup.h - from a configuration's text to profiles that are ready to run, in one step.
 *
 * Thread: one at a time. Owns: the configuration, the profiles and what their plugins made; the sym
 * table must live longer. */
#pragma once

#include "config/config.h"

struct setup {
    struct arena arena;
    struct sym_table *syms;
    struct features features;
    struct config *config;
    struct plugin_libraries *libraries; /* of plugins from outside; NULL: none */
    const struct plugin *const *registry; /* with those */
    struct profile *const *profiles;
    uint32_t n_profiles;
    struct extender *const *extenders; /* in the order in which they are asked */
    uint32_t n_extenders;
};

/* A NULL text is the default configuration. Loads, validates, opens plugin libraries, builds. On
 * failure nothing is left to be given up. */
enum err_code setup_from_text(struct setup *s, struct sym_table *syms, struct str text,
                              const struct plugin *const *registry, struct err *e) ERR_MUST_CHECK;
/* The same of a file; a NULL path is the default configuration. With plugin libraries in it, it is ERR_FORBIDDEN unless
 * code may be loaded: whoever only asks what would be may have the configuration from somebody else. */
enum err_code setup_from_file(struct setup *s, struct sym_table *syms, const char *path,
                              const struct plugin *const *registry, bool may_load_code, struct err *e) ERR_MUST_CHECK;
/* Profiles of its own under the same configuration, for one more scheduler; `from` must live longer. On failure nothing is
 * left to be given up. */
enum err_code setup_again(struct setup *s, const struct setup *from, struct err *e) ERR_MUST_CHECK;
void setup_fini(struct setup *s);
