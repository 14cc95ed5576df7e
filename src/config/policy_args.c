/* config/policy_args.c - a chapter of policy.h: a profile that is being put together, and the arguments of its plugins. */
#include "base/sort.h"
#include "config/args.h"
#include "config/policy.h"
#include "config/slots.h"

void translation_init(struct translation *t, struct arena *a, const struct policy_options *options,
                      struct profile_config *profile)
{
    static const struct plugin_ref all[] = { { .name = { "*", 1 } } };
    *t = (struct translation){ .arena = a, .options = options, .profile = profile, .hard_pod_affinity_weight = 1 };
    *profile = (struct profile_config){ .scheduler_name = options->scheduler_name };
    for (unsigned i = 0; i < N_SETS; i++) {
        t->sets[i] = ARENA_NEW_N(a, struct plugin_ref, PLUGINS_MAX);
        profile->sets[i].enabled = (plugin_refs){ t->sets[i], 0 };
    }
    /* What is printed and read again is not to be completed with the plugins of today. */
    profile->sets[SET_MULTI_POINT].disabled = (plugin_refs){ all, 1 };
}

void translation_add(struct translation *t, unsigned set, const char *plugin, int32_t weight)
{
    plugin_refs *refs = &t->profile->sets[set].enabled;
    for (size_t i = 0; i < refs->n; i++)
        if (str_is(refs->at[i].name, plugin))
            return; /* as v1.20: the first weight stays */
    assert(refs->n < PLUGINS_MAX);
    t->sets[set][refs->n++] = (struct plugin_ref){ str_of(plugin), weight };
}

/* ---- Arguments ---- */

static void set_texts(struct arena *a, struct value *args, unsigned slot, const struct str *texts, size_t n)
{
    if (n == 0)
        return;
    struct value *items = ARENA_NEW_N(a, struct value, n);
    for (size_t i = 0; i < n; i++)
        items[i] = value_string(texts[i]);
    args->slots[slot] = value_list(items, (uint32_t)n);
}

static void add_node_label(const struct translation *t, struct value *args)
{
#define SET(field, list) set_texts(t->arena, args, SLOT(NodeLabelArgs, field), t->list.at, t->list.n)
    SET(presentLabels, present);
    SET(absentLabels, absent);
    SET(presentLabelsPreference, prefer_present);
    SET(absentLabelsPreference, prefer_absent);
#undef SET
}

static void add_service_affinity(const struct translation *t, struct value *args)
{
    set_texts(t->arena, args, SLOT(ServiceAffinityArgs, affinityLabels), t->service_labels.at, t->service_labels.n);
    set_texts(t->arena, args, SLOT(ServiceAffinityArgs, antiAffinityLabelsPreference), t->service_spread.at,
              t->service_spread.n);
}

static void add_capacity_ratio(const struct translation *t, struct value *args)
{
    if (!t->capacity_ratio)
        return;
    args->slots[SLOT(RequestedToCapacityRatioArgs, shape)] =
        *value_slot(t->capacity_ratio, SLOT(RequestedToCapacityRatioArguments, shape));
    args->slots[SLOT(RequestedToCapacityRatioArgs, resources)] =
        *value_slot(t->capacity_ratio, SLOT(RequestedToCapacityRatioArguments, resources));
}

static void add_spread(const struct translation *t, struct value *args)
{
    bool system = t->spreads_by_selector || (t->options->default_spread && !t->spreads_as_said);
    args->slots[SLOT(PodTopologySpreadArgs, defaultingType)] = value_string(system ? STR("System") : STR("List"));
}

static void add_inter_pod_affinity(const struct translation *t, struct value *args)
{
    args->slots[SLOT(InterPodAffinityArgs, hardPodAffinityWeight)] = value_int(t->hard_pod_affinity_weight);
}

static const struct {
    const char *plugin;
    void (*add)(const struct translation *t, struct value *args);
} argument_rows[] = {
    { "InterPodAffinity", add_inter_pod_affinity },
    { "NodeLabel", add_node_label },
    { "PodTopologySpread", add_spread },
    { "RequestedToCapacityRatio", add_capacity_ratio },
    { "ServiceAffinity", add_service_affinity },
};

static struct plugin_config make_args(const struct translation *t, struct str plugin, const struct args_kind *kind)
{
    struct plugin_config c = { plugin, kind, args_empty(t->arena, kind) };
    for (size_t i = 0; i < sizeof(argument_rows) / sizeof(argument_rows[0]); i++)
        if (str_is(plugin, argument_rows[i].plugin))
            argument_rows[i].add(t, &c.args);
    if (kind->complete)
        kind->complete(t->arena, t->options->features, &c.args);
    return c;
}

static bool has_args(const struct profile_config *p, struct str plugin)
{
    for (size_t i = 0; i < p->n_plugin_config; i++)
        if (str_eq(p->plugin_config[i].name, plugin))
            return true;
    return false;
}

static int by_name(const void *a, const void *b)
{
    const struct plugin_config *x = a, *y = b;
    return str_cmp(x->name, y->name);
}

void translation_finish(struct translation *t)
{
    struct profile_config *p = t->profile;
    p->plugin_config = ARENA_NEW_N(t->arena, struct plugin_config, PLUGINS_MAX);
    for (unsigned set = 0; set < N_SETS; set++)
        for (size_t i = 0; i < p->sets[set].enabled.n; i++) {
            struct str plugin = p->sets[set].enabled.at[i].name;
            const struct args_kind *kind = args_kind_of(plugin);
            if (kind && !has_args(p, plugin))
                p->plugin_config[p->n_plugin_config++] = make_args(t, plugin, kind);
        }
    sort_stable(t->arena, p->plugin_config, p->n_plugin_config, sizeof(*p->plugin_config), by_name);
    vec_fini(&t->present);
    vec_fini(&t->absent);
    vec_fini(&t->prefer_present);
    vec_fini(&t->prefer_absent);
    vec_fini(&t->service_labels);
    vec_fini(&t->service_spread);
}
