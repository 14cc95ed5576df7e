/* config/policy.c - see policy.h: from the entries of a Policy to a profile. */
#include "config/policy.h"

#include <errno.h>
#include <unistd.h>

#include "base/sort.h"
#include "config/setup.h"

/* ---- Which plugins stand for a name ---- */

enum { PRE_FILTER = 1, RESERVE = 2, PRE_SCORE = 4 }; /* the plugin has these points too */

struct producer {
    const char *key;
    bool old; /* registered before v1.18 only */
    struct {
        const char *plugin;
        unsigned points;
    } at[4];
};

/* Predicates, in the order in which their plugins filter. */
static const struct producer predicates[] = {
    { "CheckNodeCondition", true, { { "CheckNodeCondition", 0 } } },
    { "CheckNodeUnschedulable", false, { { "NodeUnschedulable", 0 } } },
    { "GeneralPredicates", false,
      { { "NodeResourcesFit", PRE_FILTER }, { "NodeName", 0 }, { "NodePorts", PRE_FILTER }, { "NodeAffinity", 0 } } },
    { "HostName", false, { { "NodeName", 0 } } },
    { "PodFitsHostPorts", false, { { "NodePorts", PRE_FILTER } } },
    { "MatchNodeSelector", false, { { "NodeAffinity", 0 } } },
    { "PodFitsResources", false, { { "NodeResourcesFit", PRE_FILTER } } },
    { "NoDiskConflict", false, { { "VolumeRestrictions", 0 } } },
    { "PodToleratesNodeTaints", false, { { "TaintToleration", 0 } } },
    { "PodToleratesNodeNoExecuteTaints", true, { { "PodToleratesNodeNoExecuteTaints", 0 } } },
    { "CheckNodeLabelPresence", false, { { "NodeLabel", 0 } } },
    { "CheckServiceAffinity", false, { { "ServiceAffinity", PRE_FILTER } } },
    { "MaxEBSVolumeCount", false, { { "EBSLimits", 0 } } },
    { "MaxGCEPDVolumeCount", false, { { "GCEPDLimits", 0 } } },
    { "MaxCSIVolumeCountPred", false, { { "NodeVolumeLimits", 0 } } },
    { "MaxAzureDiskVolumeCount", false, { { "AzureDiskLimits", 0 } } },
    { "MaxCinderVolumeCount", false, { { "CinderLimits", 0 } } },
    { "CheckVolumeBinding", false, { { "VolumeBinding", PRE_FILTER | RESERVE } } },
    { "NoVolumeZoneConflict", false, { { "VolumeZone", 0 } } },
    { "CheckNodeMemoryPressure", true, { { "CheckNodeMemoryPressure", 0 } } },
    { "CheckNodePIDPressure", true, { { "CheckNodePIDPressure", 0 } } },
    { "CheckNodeDiskPressure", true, { { "CheckNodeDiskPressure", 0 } } },
    { "NoVolumeNodeConflict", true, { { "VolumeBinding", PRE_FILTER | RESERVE } } },
    { "EvenPodsSpread", false, { { "PodTopologySpread", PRE_FILTER } } },
    { "MatchInterPodAffinity", false, { { "InterPodAffinity", PRE_FILTER } } },
};

/* Priorities, by name; the last three are keys of entries with arguments. */
static const struct producer priorities[] = {
    { "BalancedResourceAllocation", false, { { "NodeResourcesBalancedAllocation", 0 } } },
    { "EvenPodsSpreadPriority", false, { { "PodTopologySpread", PRE_SCORE } } },
    { "ImageLocalityPriority", false, { { "ImageLocality", 0 } } },
    { "InterPodAffinityPriority", false, { { "InterPodAffinity", PRE_SCORE } } },
    { "LeastRequestedPriority", false, { { "NodeResourcesLeastAllocated", 0 } } },
    { "MostRequestedPriority", false, { { "NodeResourcesMostAllocated", 0 } } },
    { "NodeAffinityPriority", false, { { "NodeAffinity", 0 } } },
    { "NodePreferAvoidPodsPriority", false, { { "NodePreferAvoidPods", 0 } } },
    { "ResourceLimitsPriority", true, { { "NodeResourceLimits", PRE_SCORE } } },
    { "SelectorSpreadPriority", false, { { "SelectorSpread", PRE_SCORE } } },
    { "TaintTolerationPriority", false, { { "TaintToleration", PRE_SCORE } } },
    { "NodeLabel", false, { { "NodeLabel", 0 } } },
    { "RequestedToCapacityRatio", false, { { "RequestedToCapacityRatio", 0 } } },
    { "ServiceAffinity", false, { { "ServiceAffinity", 0 } } },
};

enum { N_PREDICATES = sizeof(predicates) / sizeof(predicates[0]),
       N_PRIORITIES = sizeof(priorities) / sizeof(priorities[0]) };

static const struct producer *find(const struct producer *rows, size_t n, struct str key, bool lenient)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(key, rows[i].key) && (lenient || !rows[i].old))
            return &rows[i];
    return NULL;
}

/* What a name of an earlier release is called since. */
static struct str renamed(struct str name)
{
    if (str_is(name, "PodFitsPorts"))
        return STR("PodFitsHostPorts");
    return str_is(name, "ServiceSpreadingPriority") ? STR("SelectorSpreadPriority") : name;
}

/* ---- Predicates ---- */

/* The state of one translation of a Policy. */
struct job {
    struct translation t;
    const struct policy *policy;
    const struct level *level;
    bool wanted[N_PREDICATES];
    bool scored[N_PRIORITIES];
    int32_t weights[N_PRIORITIES];
    bool *fatal;
    struct err *e;
};

static enum err_code fatal(struct job *j)
{
    *j->fatal = true;
    return j->e->code;
}

static void want(struct job *j, const char *key)
{
    const struct producer *row = find(predicates, N_PREDICATES, renamed(str_of(key)), true);
    assert(row);
    j->wanted[row - predicates] = true;
}

#define PUSH_ALL(list, labels)                              \
    for (size_t i_ = 0; i_ < (labels)->n; i_++)             \
        vec_push(&(list), (labels)->at[i_])

static enum err_code read_predicate(struct job *j, const struct policy_predicate *p)
{
    int n_args = (p->service_affinity != NULL) + (p->labels_presence != NULL);
    if (p->has_argument && n_args != 1) {
        err_set(j->e, ERR_INVALID, "Exactly 1 predicate argument is required, numArgs: %d, Predicate: %.*s", n_args,
                STR_ARG(p->name));
        return fatal(j);
    }
    struct str name = renamed(p->name);
    const struct producer *row = find(predicates, N_PREDICATES, name, j->level->lenient);
    if (row && !(n_args && j->level->lenient)) {
        want(j, row->key); /* as v1.20: a registered name comes first, and its argument is dropped */
    } else if (p->service_affinity) {
        PUSH_ALL(j->t.service_labels, p->service_affinity);
        want(j, "CheckServiceAffinity");
    } else if (p->labels_presence && p->labels_presence->presence) {
        PUSH_ALL(j->t.present, p->labels_presence);
        want(j, "CheckNodeLabelPresence");
    } else if (p->labels_presence) {
        PUSH_ALL(j->t.absent, p->labels_presence);
        want(j, "CheckNodeLabelPresence");
    } else {
        err_set(j->e, ERR_INVALID, "Invalid configuration: Predicate type not found for \"%.*s\"", STR_ARG(p->name));
        return fatal(j);
    }
    return ERR_OK;
}

static enum err_code read_predicates(struct job *j)
{
    if (!j->policy->predicates)
        for (const char *const *key = j->level->predicates; *key; key++)
            want(j, *key);
    for (size_t i = 0; i < j->policy->n_predicates; i++)
        if (read_predicate(j, &j->policy->predicates[i]))
            return j->e->code;
    for (const char *const *key = j->level->mandatory; *key; key++)
        want(j, *key);
    return ERR_OK;
}

static void add_plugins(struct translation *t, const struct producer *row)
{
    for (size_t i = 0; i < 4 && row->at[i].plugin; i++) {
        unsigned points = row->at[i].points;
        if (points & PRE_FILTER)
            translation_add(t, POINT_PRE_FILTER, row->at[i].plugin, 0);
        translation_add(t, POINT_FILTER, row->at[i].plugin, 0);
        if (points & RESERVE) {
            translation_add(t, POINT_RESERVE, row->at[i].plugin, 0);
            translation_add(t, POINT_PRE_BIND, row->at[i].plugin, 0);
        }
    }
}

/* ---- Priorities ---- */

static void score_with(struct job *j, const char *key, int64_t weight)
{
    const struct producer *row = find(priorities, N_PRIORITIES, renamed(str_of(key)), true);
    assert(row);
    j->scored[row - priorities] = true;
    j->weights[row - priorities] = (int32_t)weight; /* as v1.20: cut to 32 bits */
}

static enum err_code unknown_priority(struct job *j, struct str name)
{
    err_set(j->e, ERR_INVALID, "Invalid configuration: Priority type not found for \"%.*s\"", STR_ARG(name));
    return fatal(j);
}

/* A custom entry, by its argument. */
static void read_priority_argument(struct job *j, const struct policy_priority *p)
{
    if (p->service_anti_affinity) {
        vec_push(&j->t.service_spread, *p->service_anti_affinity);
        score_with(j, "ServiceAffinity", p->weight);
    } else if (p->label_preference) {
        if (p->label_preference->presence)
            vec_push(&j->t.prefer_present, p->label_preference->label);
        else
            vec_push(&j->t.prefer_absent, p->label_preference->label);
        score_with(j, "NodeLabel", p->weight);
    } else {
        j->t.capacity_ratio = p->capacity_ratio;
        score_with(j, "RequestedToCapacityRatio", p->weight);
    }
}

static enum err_code read_priority(struct job *j, const struct policy_priority *p)
{
    int n_args = (p->service_anti_affinity != NULL) + (p->label_preference != NULL) + (p->capacity_ratio != NULL);
    if (str_is(p->name, "EqualPriority"))
        return ERR_OK;
    if (p->has_argument && n_args != 1) {
        err_set(j->e, ERR_INVALID, "Exactly 1 priority argument is required, numArgs: %d, Priority: %.*s", n_args,
                STR_ARG(p->name));
        return fatal(j);
    }
    if (p->weight != (int64_t)(int32_t)p->weight && (int32_t)p->weight < 0)
        return err_set(j->e, ERR_INVALID, "priority %.*s has a weight that 32 bits cannot hold", STR_ARG(p->name));
    struct str name = renamed(p->name);
    const struct producer *row = find(priorities, N_PRIORITIES, name, j->level->lenient);
    bool needs_argument = row && row >= &priorities[N_PRIORITIES - 3];
    if (needs_argument && !n_args && !str_is(name, "RequestedToCapacityRatio"))
        return err_set(j->e, ERR_INVALID, "priority %.*s needs an argument", STR_ARG(p->name));
    if (row && !(n_args && j->level->lenient))
        score_with(j, row->key, p->weight);
    else if (n_args)
        read_priority_argument(j, p);
    else if (j->level->lenient && str_is(p->name, "RequestedToCapacityRatioPriority"))
        score_with(j, "RequestedToCapacityRatio", p->weight);
    else
        return unknown_priority(j, p->name);
    return ERR_OK;
}

static enum err_code read_priorities(struct job *j)
{
    if (!j->policy->priorities)
        for (const struct level_priority *p = j->level->priorities; p->name; p++)
            score_with(j, p->name, p->weight);
    for (size_t i = 0; i < j->policy->n_priorities; i++)
        if (read_priority(j, &j->policy->priorities[i]))
            return j->e->code;
    return ERR_OK;
}

/* With default spreading on, its plugin does what SelectorSpread did. */
static const char *scorer_of(struct job *j, const struct producer *row)
{
    const char *plugin = row->at[0].plugin;
    if (strcmp(plugin, "SelectorSpread") == 0 && j->t.options->default_spread) {
        j->t.spreads_by_selector = true;
        return "PodTopologySpread";
    }
    if (strcmp(row->key, "EvenPodsSpreadPriority") == 0)
        j->t.spreads_as_said = true;
    if (strcmp(row->key, "InterPodAffinityPriority") == 0 && j->policy->hard_pod_affinity_weight)
        j->t.hard_pod_affinity_weight = j->policy->hard_pod_affinity_weight;
    return plugin;
}

static int32_t weight_of(const struct job *j, size_t i)
{
    const char *key = priorities[i].key;
    uint32_t weight = (uint32_t)j->weights[i];
    if (strcmp(key, "NodeLabel") == 0)
        weight *= (uint32_t)(j->t.prefer_present.n + j->t.prefer_absent.n);
    else if (strcmp(key, "ServiceAffinity") == 0)
        weight *= (uint32_t)j->t.service_spread.n;
    return (int32_t)weight;
}

static int by_key(const void *a, const void *b)
{
    const struct producer *const *x = a, *const *y = b;
    return strcmp((*x)->key, (*y)->key);
}

static enum err_code add_scorers(struct job *j)
{
    const struct producer *order[N_PRIORITIES];
    size_t n = 0;
    for (size_t i = 0; i < N_PRIORITIES; i++)
        if (j->scored[i])
            order[n++] = &priorities[i];
    sort_stable(j->t.arena, order, n, sizeof(*order), by_key);
    for (size_t i = 0; i < n; i++) {
        const char *plugin = scorer_of(j, order[i]);
        int32_t weight = weight_of(j, (size_t)(order[i] - priorities));
        if (weight < 0)
            return err_set(j->e, ERR_INVALID, "the weight of %s is more than 32 bits can hold", plugin);
        if (order[i]->at[0].points & PRE_SCORE)
            translation_add(&j->t, POINT_PRE_SCORE, plugin, 0);
        translation_add(&j->t, POINT_SCORE, plugin, weight);
    }
    return ERR_OK;
}

/* ---- All of it ---- */

/* Files that an extender's connection needs; what they hold is looked at when it is made. */
static enum err_code check_files(const struct policy *p, struct err *e)
{
    for (size_t i = 0; i < p->n_extenders; i++) {
        const struct extender_tls *tls = p->extenders[i].tls;
        if (!tls || !p->extenders[i].enable_https)
            continue;
        const struct str files[] = { tls->ca_file, tls->cert_file, tls->key_file };
        for (size_t k = 0; k < 3; k++) {
            const char *path = arena_cstr(e->arena, files[k]);
            if (files[k].n && access(path, R_OK) != 0)
                return err_set(e, ERR_IO, "open %s: %s", path,
                               errno == ENOENT ? "no such file or directory" : "permission denied");
        }
    }
    return ERR_OK;
}

static enum err_code translate(struct job *j)
{
    translation_add(&j->t, POINT_QUEUE_SORT, j->level->queue_sort, 0);
    if (j->level->preempts)
        translation_add(&j->t, POINT_POST_FILTER, "DefaultPreemption", 0);
    translation_add(&j->t, POINT_BIND, "DefaultBinder", 0);
    if (read_predicates(j) || read_priorities(j) || add_scorers(j) || check_files(j->policy, j->e))
        return j->e->code;
    for (size_t i = 0; i < N_PREDICATES; i++)
        if (j->wanted[i])
            add_plugins(&j->t, &predicates[i]);
    return ERR_OK;
}

enum err_code policy_apply(struct arena *a, const struct policy *p, const struct policy_options *options,
                           struct config *c, bool *ret_fatal, struct err *e)
{
    assert(options->level);
    if (policy_check(p, e))
        return e->code;
    struct job j = { .policy = p, .level = options->level, .fatal = ret_fatal, .e = e };
    c->n_profiles = 1;
    c->profiles = ARENA_NEW_N(a, struct profile_config, 1);
    translation_init(&j.t, a, options, &c->profiles[0]);
    enum err_code code = translate(&j);
    translation_finish(&j.t);
    c->profiles[0].runs_all_filters = p->always_check_all;
    c->extenders = p->extenders;
    c->n_extenders = p->n_extenders;
    level_apply(options->level, c);
    return code;
}

/* ---- From flags ---- */

static enum err_code apply_text(struct arena *a, struct str text, const struct policy_options *options,
                                struct config *c, bool *ret_fatal, struct err *e)
{
    struct policy *policy;
    c->origin = "couldn't create scheduler from policy";
    if (policy_decode(a, options->level, text, &policy, e))
        return e->code;
    if (!policy_apply(a, policy, options, c, ret_fatal, e))
        return ERR_OK;
    return *ret_fatal ? e->code : err_wrap(e, "%s", c->origin);
}

enum err_code legacy_apply(struct arena *a, const struct setup_legacy *from, const struct features *features,
                           struct config *c, bool *ret_fatal, struct err *e)
{
    const struct policy_options options = {
        .level = from->level,
        .scheduler_name = str_of(from->scheduler_name ? from->scheduler_name : "default-scheduler"),
        .default_spread = from->level->has_default_spread && !from->no_default_spread,
        .hard_pod_affinity_weight = from->hard_pod_affinity_weight,
        .features = features,
    };
    if (from->has_policy)
        return apply_text(a, from->policy, &options, c, ret_fatal, e);
    const char *name = from->provider ? from->provider : "DefaultProvider";
    c->origin = arena_printf(a, "couldn't create scheduler using provider \"%s\"", name);
    return provider_apply(a, str_of(name), &options, c, e) ? err_wrap(e, "%s", c->origin) : ERR_OK;
}
