/* rules/pod_leniency.c - see pod_priv.h: what a stored pod may keep.
 *
 * Rules have become stricter over the years. Where an old object breaks one, its successors may; whether it does is
 * asked of the check itself. */
#include "rules/pod_priv.h"

static bool has_indivisible_pages(const struct value *requirements)
{
    return pod_uses_indivisible_pages(GET(requirements, ResourceRequirements, limits)) ||
           pod_uses_indivisible_pages(GET(requirements, ResourceRequirements, requests));
}

static void find_in_container(void *with, const struct value *container, const struct field_path *at)
{
    struct pod_leniency *l = with;
    (void)at;
    l->indivisible_huge_pages |= has_indivisible_pages(GET(container, Container, resources));
    l->user_namespace_devices |= pod_count(GET(container, Container, volumeDevices)) > 0;
}

static bool restarts_for_resize(const struct value *spec)
{
    const struct value *list = GET(spec, PodSpec, initContainers);
    for (uint32_t i = 0; i < pod_count(list); i++) {
        const struct value *policies = GET(&list->items[i], Container, resizePolicy);
        bool sidecar = str_is(TEXT(&list->items[i], Container, restartPolicy), "Always");
        for (uint32_t p = 0; !sidecar && p < pod_count(policies); p++)
            if (str_is(TEXT(&policies->items[p], ContainerResizePolicy, restartPolicy), "RestartContainer"))
                return true;
    }
    return false;
}

static bool has_foreign_token_path(struct field_errors *scratch, const struct value *spec)
{
    const struct value *volumes = GET(spec, PodSpec, volumes);
    for (uint32_t i = 0; i < pod_count(volumes); i++) {
        const struct value *projected = GET(&volumes->items[i], Volume, projected);
        const struct value *sources = GET(projected, ProjectedVolumeSource, sources);
        for (uint32_t s = 0; s < pod_count(sources); s++)
            pod_check_local_path(TEXT(GET(&sources->items[s], VolumeProjection, serviceAccountToken),
                                      ServiceAccountTokenProjection, path), NULL, scratch);
    }
    return scratch->n > 0;
}

static bool has_bad_affinity(struct field_errors *scratch, const struct value *spec)
{
    static const unsigned sides[] = { SLOT_core_v1_Affinity_podAffinity, SLOT_core_v1_Affinity_podAntiAffinity };
    const struct value *affinity = GET(spec, PodSpec, affinity);
    for (size_t s = 0; s < N_OF(sides); s++) {
        const struct value *side = value_slot(affinity, sides[s]);
        const struct value *required = GET(side, PodAffinity, requiredDuringSchedulingIgnoredDuringExecution);
        const struct value *preferred = GET(side, PodAffinity, preferredDuringSchedulingIgnoredDuringExecution);
        for (uint32_t i = 0; i < pod_count(required) + pod_count(preferred); i++) {
            const struct value *term =
                i < pod_count(required)
                    ? &required->items[i]
                    : GET(&preferred->items[i - pod_count(required)], WeightedPodAffinityTerm, podAffinityTerm);
            rules_check_label_selector(scratch->arena, GET(term, PodAffinityTerm, labelSelector), false, NULL, scratch);
            rules_check_label_selector(scratch->arena, GET(term, PodAffinityTerm, namespaceSelector), false, NULL, scratch);
        }
    }
    return scratch->n > 0;
}

static bool has_bad_node_affinity(struct field_errors *scratch, const struct value *spec)
{
    const struct value *affinity = GET(GET(spec, PodSpec, affinity), Affinity, nodeAffinity);
    const struct value *required = GET(affinity, NodeAffinity, requiredDuringSchedulingIgnoredDuringExecution);
    if (required->kind != VALUE_ABSENT)
        rules_check_node_selector(required, false, NULL, scratch);
    return scratch->n > 0;
}

static bool has_bad_spread(struct field_errors *scratch, const struct value *spec, bool keys)
{
    static const struct value none = { .kind = VALUE_ABSENT };
    const struct value *list = GET(spec, PodSpec, topologySpreadConstraints);
    for (uint32_t i = 0; i < pod_count(list); i++) {
        const struct value *selector = GET(&list->items[i], TopologySpreadConstraint, labelSelector);
        if (keys)
            pod_check_match_keys(GET(&list->items[i], TopologySpreadConstraint, matchLabelKeys), &none,
                                 selector, NULL, scratch);
        else
            rules_check_label_selector(scratch->arena, selector, false, NULL, scratch);
    }
    return scratch->n > 0;
}

/* An empty list for a check whose findings only matter by being there. */
static struct field_errors *fresh(struct field_errors *scratch, struct arena *a)
{
    field_errors_init(scratch, a);
    return scratch;
}

struct pod_leniency pod_leniency(const struct rules_context *c, const struct value *old_spec,
                                 const struct value *old_meta)
{
    const struct value *host_users = GET(old_spec, PodSpec, hostUsers);
    bool own_users = host_users->kind == VALUE_BOOL && !host_users->b;
    struct pod_leniency l = { 0 };
    struct field_errors e;
    pod_visit_containers(old_spec, NULL, find_in_container, &l);
    l.indivisible_huge_pages |= pod_uses_indivisible_pages(GET(old_spec, PodSpec, overhead));
    l.user_namespace_devices &= own_users;
    l.user_namespace_network = own_users && FLAG(old_spec, PodSpec, hostNetwork);
    l.deletion_cost = !pod_cost_is_valid(META(old_meta, annotations));
    l.any_label_policy =
        IS_SET(GET(old_spec, PodSpec, securityContext), PodSecurityContext, seLinuxChangePolicy);
    l.init_restarts = restarts_for_resize(old_spec);
    l.host_sysctls = pod_has_host_sysctls(old_spec);
    l.affinity_labels = has_bad_affinity(fresh(&e, c->arena), old_spec);
    l.node_affinity_labels = has_bad_node_affinity(fresh(&e, c->arena), old_spec);
    l.spread_selectors = has_bad_spread(fresh(&e, c->arena), old_spec, false);
    l.spread_match_keys = has_bad_spread(fresh(&e, c->arena), old_spec, true);
    l.token_paths = has_foreign_token_path(fresh(&e, c->arena), old_spec);
    return l;
}
