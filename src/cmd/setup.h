/* cmd/setup.h - the scheduler's configuration of a command that only asks what would be.
 *
 * Plugin libraries are code and are loaded only when the user says --allow-plugins.
 *
 * Thread: main. */
#pragma once

#include "cmd/cmd.h"
#include "config/setup.h"

#define CMD_ALLOW_PLUGINS_HELP \
    "  --allow-plugins\n" \
    "                 loads the shared objects that a configuration names as pluginLibraries: code with your rights\n"

#define CMD_FEATURE_GATES_HELP \
    "  --feature-gates GATES\n" \
    "                 gates as kube-scheduler's option sets them: NAME=true,OTHER=false\n"

#define CMD_COMPAT_HELP \
    "  --compat LEVEL the scheduler of a release: v1.0, v1.3, v1.11, v1.15, v1.20 or v1.36, which is the default\n" \
    "  --policy-config-file FILE\n" \
    "                 a Policy of releases before v1.23, JSON or YAML, instead of a configuration\n" \
    "  --algorithm-provider NAME\n" \
    "                 DefaultProvider or ClusterAutoscalerProvider, instead of a configuration\n"

/* How the older worlds are asked for; all NULL: not at all. */
struct cmd_compat {
    const char *level, *policy_file, *provider;
};

struct cmd_setup {
    const struct command *c;
    const char *path; /* NULL: the default configuration */
    bool allow_plugins;
    const char *feature_gates; /* NULL: all at their defaults */
    const struct cmd_compat *compat; /* NULL: today */
};

/* 0, or the exit code after saying why. */
int cmd_setup_load(struct setup *s, struct sym_table *syms, const struct cmd_setup *from);
