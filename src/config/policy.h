/* config/policy.h - the older worlds' way to say what a scheduler does: Policy files and algorithm providers.
 *
 * A Policy (v1, JSON or YAML) names predicates and priorities; a provider is a named set of both. Either becomes the one
 * profile of a configuration, as v1.20 did it: from there on nothing knows where the profile came from. Texts of refusals
 * are those of v1.20.15, of which the fatal ones end the process with status 255 instead of 1.
 *
 * Upstream: pkg/scheduler/factory.go, pkg/scheduler/framework/plugins/legacy_registry.go,
 * pkg/scheduler/apis/config/validation, v1.20.
 *
 * Memory: the arena that is passed. Thread: one at a time. */
#pragma once

#include "base/vec.h"
#include "config/config.h"
#include "config/level.h"

/* An argument of an entry; NULL: not given. */
struct policy_labels {
    const struct str *at;
    size_t n;
    bool presence; /* of labelsPresence */
};

struct policy_predicate {
    struct str name;
    bool has_argument;
    const struct policy_labels *service_affinity, *labels_presence;
};

struct policy_preference {
    struct str label;
    bool presence;
};

struct policy_priority {
    struct str name;
    int64_t weight;
    bool has_argument;
    const struct str *service_anti_affinity; /* a label */
    const struct policy_preference *label_preference;
    const struct value *capacity_ratio; /* RequestedToCapacityRatioArguments */
};

struct policy {
    const struct policy_predicate *predicates; /* NULL: not given, which is not the same as none */
    const struct policy_priority *priorities;
    size_t n_predicates, n_priorities;
    struct extender_config *extenders;
    size_t n_extenders;
    int64_t hard_pod_affinity_weight; /* 0: not given */
    bool always_check_all;
};

/* "invalid policy: ..." when it cannot be read. */
enum err_code policy_decode(struct arena *a, const struct level *level, struct str text, struct policy **ret_policy,
                            struct err *e) ERR_MUST_CHECK;
/* All that is wrong in one message. */
enum err_code policy_check(const struct policy *p, struct err *e) ERR_MUST_CHECK;

/* What else a translation looks at. */
struct policy_options {
    const struct level *level;
    struct str scheduler_name;
    bool default_spread; /* gate DefaultPodTopologySpread */
    int64_t hard_pod_affinity_weight; /* of the flag; only providers look at it */
    const struct features *features;
};

/* Replaces the profiles and extenders of `c`. *ret_fatal: the process ends with status 255. */
enum err_code policy_apply(struct arena *a, const struct policy *p, const struct policy_options *options,
                           struct config *c, bool *ret_fatal, struct err *e) ERR_MUST_CHECK;
enum err_code provider_apply(struct arena *a, struct str name, const struct policy_options *options, struct config *c,
                             struct err *e) ERR_MUST_CHECK;

struct setup_legacy;
/* The same from what setup.h says: a Policy, which is read, or a provider. */
enum err_code legacy_apply(struct arena *a, const struct setup_legacy *from, const struct features *features,
                           struct config *c, bool *ret_fatal, struct err *e) ERR_MUST_CHECK;

/* ---- Inside config/ ---- */

/* A profile that is being put together. */
struct translation {
    struct arena *arena;
    const struct policy_options *options;
    struct profile_config *profile;
    struct plugin_ref *sets[N_SETS]; /* what profile->sets point to, with room for PLUGINS_MAX */
    bool spreads_by_selector;        /* SelectorSpreadPriority asked for PodTopologySpread: the system's constraints */
    bool spreads_as_said;            /* EvenPodsSpreadPriority did: only those that pods name */
    int64_t hard_pod_affinity_weight;
    const struct value *capacity_ratio;
    VEC(struct str) present, absent, prefer_present, prefer_absent, service_labels, service_spread;
};

void translation_init(struct translation *t, struct arena *a, const struct policy_options *options,
                      struct profile_config *profile);
void translation_add(struct translation *t, unsigned set, const char *plugin, int32_t weight);
/* The arguments of all plugins that are enabled; ends the translation. */
void translation_finish(struct translation *t);
