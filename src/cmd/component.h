/* cmd/component.h - what the commands that stand in for a Kubernetes component have in common, before they run:
 * refusals of their command lines, --version, and what is logged about gates and flags. Texts and exit codes are
 * upstream's.
 *
 * Thread: main. */
#pragma once

#include "cmd/cmd.h"
#include "config/features.h"
#include "config/flag_set.h"
#include "daemon/component_metrics.h"

/* Says it; the exit code. */
int component_refuse(const char *label, const char *message);
/* Words that are no flags; empty ones do not count. */
bool component_has_arguments(const struct flag_given *given);
int component_refuse_arguments(const char *program, const struct flag_given *given);

/* Of the value of --version. */
bool component_asks_version(struct str flag);
int component_print_version(const struct command *c, struct str flag);

/* Gates that were named and should not be. */
void component_log_gates(const struct gates *g);
void component_log_alpha_gates(const struct gates *g, struct arena *a);
void component_log_flags(const struct flag_set *s, const void *values, struct arena *a);

/* What this program is. */
struct component_build component_build(const struct gates *g, struct arena *a);
