/* rules/workload_priv.h - what kinds with a pod template share, and where their functions are; workload.c has the
 * table. */
#pragma once

#include "rules/check.h"
#include "rules/pod.h"

extern const char *const workload_reset_status[], *const workload_reset_spec[]; /* "status"; "spec" */

/* The template at `path` ("spec.template") without what gates turn off; `old` may be NULL. */
struct value workload_prepare_template(const struct rules_context *c, const struct value *new, const struct value *old,
                                       const char *path);
void workload_check_template(const struct rules_context *c, const struct place *template, const struct value *old,
                             const char *path);
/* Warnings about the template of a new object, or of one whose spec has changed. */
void workload_warn_template(const struct rules_context *c, const struct value *new, const struct value *old,
                            const char *path);
/* Prepare functions for kinds whose template is at spec.template. */
rules_prepare_create workload_prepare_create;
rules_prepare_update workload_prepare_update, workload_prepare_status;

/* workload_sets.c: StatefulSet, DaemonSet, ControllerRevision */
rules_prepare_create stateful_set_prepare_create, daemon_set_prepare_create, daemon_set_converted;
rules_prepare_update stateful_set_prepare_update, daemon_set_prepare_update, daemon_set_prepare_status;
rules_validate_create stateful_set_validate_create, daemon_set_validate_create, revision_validate_create;
rules_validate_update stateful_set_validate_update, stateful_set_validate_status, daemon_set_validate_update,
    daemon_set_validate_status, revision_validate_update;
rules_warn stateful_set_warn, daemon_set_warn;
