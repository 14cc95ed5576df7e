/* config/setup.h - from a configuration's text to profiles that are ready to run, in one step.
 *
 * Thread: one at a time. Owns: the configuration, the profiles and what their plugins made; the sym
 * table must live longer. */
#pragma once

#include "config/config.h"
#include "config/level.h"

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
    bool fatal; /* after a failure: the process ends as after a fatal log line, with status 255 */
};

/* How the older worlds said it (policy.h). */
struct setup_legacy {
    const struct level *level;
    bool has_policy;       /* `policy` is the text of one; else `provider` is meant */
    struct str policy;
    const char *provider;  /* NULL: DefaultProvider */
    const char *scheduler_name; /* NULL: default-scheduler */
    bool no_default_spread, balance_attached_node_volumes, csi_migration_aws; /* gates of that time */
    int64_t hard_pod_affinity_weight;
};

/* Where a set-up comes from. */
struct setup_source {
    struct str text;            /* of a configuration; NULL: see path */
    const char *path;           /* of a file; NULL: the default configuration */
    const char *feature_gates;  /* as --feature-gates says them, "Name=true,Other=false"; NULL: all at their defaults */
    const struct setup_legacy *legacy; /* a Policy or a provider instead; NULL: none. The registry is its level's then */
    bool may_load_code;         /* else plugin libraries are ERR_FORBIDDEN: whoever only asks what would be may have the
                                   configuration from somebody else */
};

/* Loads, validates, opens plugin libraries, builds. On failure nothing is left to be given up. */
enum err_code setup_load(struct setup *s, struct sym_table *syms, const struct setup_source *from,
                         const struct plugin *const *registry, struct err *e) ERR_MUST_CHECK;
/* The same of a text that is trusted, with gates at their defaults; a NULL text is the default configuration. */
enum err_code setup_from_text(struct setup *s, struct sym_table *syms, struct str text,
                              const struct plugin *const *registry, struct err *e) ERR_MUST_CHECK;
/* From a configuration that is there, completed and validated, as scheduler_options.h makes it of flags and a file. It is
 * copied, but for texts: `config` must live longer. */
enum err_code setup_from_config(struct setup *s, struct sym_table *syms, const struct config *config,
                                const struct features *features, bool may_load_code,
                                const struct plugin *const *registry, struct err *e) ERR_MUST_CHECK;
/* Profiles of its own under the same configuration, for one more scheduler; `from` must live longer. On failure nothing is
 * left to be given up. */
enum err_code setup_again(struct setup *s, const struct setup *from, struct err *e) ERR_MUST_CHECK;
void setup_fini(struct setup *s);
