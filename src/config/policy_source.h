/* config/policy_source.h - where a Policy comes from: a file, a ConfigMap, or none but the name of a provider.
 *
 * The file counts unless a ConfigMap is named; the ConfigMap counts unless --use-legacy-policy-config is given; either comes
 * before a provider. Upstream: cmd/kube-scheduler/app/options/deprecated.go, pkg/scheduler/scheduler.go, v1.20.
 *
 * Thread: one at a time. Memory: the arena that is passed. */
#pragma once

#include "config/setup.h"

#define POLICY_KEY "policy.cfg" /* in a ConfigMap */

struct policy_flags {
    const char *config_file, *configmap, *configmap_namespace, *provider; /* NULL or "": not given */
    bool use_legacy_config;
    int64_t hard_pod_affinity_weight; /* 0 to 100; 1 unless given */
};

/* How the texts are got. */
struct policy_reader {
    void *context;
    /* ERR_NOT_FOUND: there is no such file. */
    enum err_code (*file)(void *context, struct arena *a, const char *path, struct str *ret_text, struct err *e);
    /* The text under POLICY_KEY; its p is NULL when there is no such key. The message is the API server's. */
    enum err_code (*configmap)(void *context, struct arena *a, const char *ns, const char *name, struct str *ret_text,
                               struct err *e);
};

/* A reader of real files; it has no ConfigMaps. */
extern const struct policy_reader policy_files;

/* Fills in policy or provider and the weight of *to. */
enum err_code policy_choose(struct arena *a, const struct policy_flags *flags, const struct policy_reader *reader,
                            struct setup_legacy *to, struct err *e) ERR_MUST_CHECK;
