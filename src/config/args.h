/* config/args.h - arguments of plugins: their defaults, what is allowed, and the structs that plugins
 * receive.
 *
 * Each kind <Plugin>Args of the configuration's group is a row. Arguments stay generic values, as they
 * are read and printed, until a profile is built.
 *
 * Shared inside config/ only. Memory: the arena that is passed. */
#pragma once

#include "api/field_error.h"
#include "config/config.h"
#include "sched/args.h"

struct args_kind {
    const char *plugin;
    const char *kind;
    const char *type; /* in the schema */
    /* Fills in defaults. NULL: there are none. */
    void (*complete)(struct arena *a, const struct features *f, struct value *args);
    /* Appends what is wrong; `at` is the path of the arguments, NULL for none. */
    void (*validate)(const struct value *args, const struct features *f, const struct field_path *at,
                     struct field_errors *errs);
    bool validated_late; /* not with the configuration but when the plugin is made, as upstream */
    /* Of valid arguments: what sched/args.h declares. */
    const void *(*build)(struct arena *a, const struct value *args);
};

/* NULL when the plugin has no arguments that berth knows. */
const struct args_kind *args_kind_of(struct str plugin);
/* Arguments without any field given. */
struct value args_empty(struct arena *a, const struct args_kind *kind);

/* ---- validate_args.c ---- */

typedef void args_validator(const struct value *args, const struct features *f, const struct field_path *at,
                            struct field_errors *errs);

args_validator validate_default_preemption;
args_validator validate_dynamic_resources;
args_validator validate_inter_pod_affinity;
args_validator validate_node_affinity;
args_validator validate_node_resources_balanced;
args_validator validate_node_resources_fit;
args_validator validate_pod_topology_spread;
args_validator validate_volume_binding;
