/* rules/pod_status.c - see pod_priv.h: what is written about a pod by those who run it. */
#include "api/netaddr.h"
#include "rules/pod_priv.h"

/* ---- Prepare ---- */

static struct value copy_struct(struct arena *a, const struct value *v)
{
    struct value copy = *v;
    copy.slots = ARENA_NEW_N(a, struct value, v->n);
    memcpy(copy.slots, v->slots, v->n * sizeof(*copy.slots));
    return copy;
}

enum { NO_CONDITION = UINT32_MAX };

/* Old conditions of a type, one after another: by type the first, and for each the next one. */
struct old_conditions {
    const struct value *list;
    struct map_str first;
    uint32_t *next;
};

static void find_old_conditions(struct arena *a, struct old_conditions *o, const struct value *list)
{
    *o = (struct old_conditions){ .list = list, .next = ARENA_NEW_N(a, uint32_t, pod_count(list)) };
    map_str_init(&o->first);
    for (uint32_t i = pod_count(list); i-- > 0;) {
        bool is_new;
        union map_value *first = map_str_put(&o->first, TEXT(&list->items[i], PodCondition, type), &is_new);
        o->next[i] = is_new ? NO_CONDITION : (uint32_t)first->num;
        first->num = i;
    }
}

static struct value take_old_generation(struct old_conditions *o, struct str type)
{
    union map_value *first = map_str_find(&o->first, type);
    if (!first || first->num == NO_CONDITION)
        return (struct value){ .kind = VALUE_ABSENT };
    const struct value *condition = &o->list->items[first->num];
    first->num = o->next[first->num];
    return *GET(condition, PodCondition, observedGeneration);
}

/* A client that knows nothing of observedGeneration does not take it away. */
static void keep_generations(struct arena *a, struct value *status, const struct value *old)
{
    struct value list = *GET(status, PodStatus, conditions);
    struct old_conditions o;
    if (NUMBER(status, PodStatus, observedGeneration) == 0)
        status->slots[SLOT_core_v1_PodStatus_observedGeneration] = *GET(old, PodStatus, observedGeneration);
    if (!pod_count(&list))
        return;
    find_old_conditions(a, &o, GET(old, PodStatus, conditions));
    const struct value *items = list.items;
    list.items = ARENA_NEW_N(a, struct value, list.n);
    for (uint32_t i = 0; i < list.n; i++) {
        struct value was = take_old_generation(&o, TEXT(&items[i], PodCondition, type));
        list.items[i] = items[i];
        if (items[i].kind == VALUE_STRUCT && NUMBER(&items[i], PodCondition, observedGeneration) == 0) {
            list.items[i] = copy_struct(a, &items[i]);
            list.items[i].slots[SLOT_core_v1_PodCondition_observedGeneration] = was;
        }
    }
    status->slots[SLOT_core_v1_PodStatus_conditions] = list;
    map_str_fini(&o.first);
}

struct value pod_prepare_status(const struct rules_context *c, const struct value *new, const struct value *old)
{
    const struct value *old_status = GET(old, Pod, status), *given = GET(new, Pod, status);
    struct value pod = rules_keep_spec(c, new, old), none = { .kind = VALUE_ABSENT };
    struct value status = given->kind == VALUE_STRUCT ? copy_struct(c->arena, given)
                                                      : value_struct(c->arena, schema_type(STR("core/v1.PodStatus")));
    struct value meta = *GET(&pod, Pod, metadata);
    if (meta.kind == VALUE_STRUCT) {
        meta = copy_struct(c->arena, &meta);
        meta.slots[SLOT_meta_v1_ObjectMeta_deletionTimestamp] = none;
        meta.slots[SLOT_meta_v1_ObjectMeta_ownerReferences] = *META(GET(old, Pod, metadata), ownerReferences);
        pod.slots[SLOT_core_v1_Pod_metadata] = meta;
    }
    if (!TEXT(&status, PodStatus, qosClass).n)
        status.slots[SLOT_core_v1_PodStatus_qosClass] = *GET(old_status, PodStatus, qosClass);
    keep_generations(c->arena, &status, old_status);
    status.slots[SLOT_core_v1_PodStatus_nodeAllocatableResourceClaimStatuses] = none; /* behind a gate that is off */
    pod.slots[SLOT_core_v1_Pod_status] = status;
    return pod;
}

/* ---- Conditions and addresses ---- */

static void check_conditions(const struct value *list, const struct field_path *at, struct field_errors *errs)
{
    for (uint32_t i = 0; i < pod_count(list); i++) {
        struct str type = TEXT(&list->items[i], PodCondition, type);
        int64_t generation = NUMBER(&list->items[i], PodCondition, observedGeneration);
        if (generation < 0)
            field_invalid(errs, AT(AT_INDEX(at, i), "observedGeneration"), field_int(generation),
                          STR("must be a non-negative integer"));
        if (!str_is(type, "PodScheduled") && !str_is(type, "Ready") && !str_is(type, "Initialized"))
            pod_check_name(name_label_key(type), type, AT(AT_INDEX(at, i), "Type"), errs);
    }
}

/* Pod IPs or host IPs: both are structs with an ip in the first slot. */
static struct str ip_of(const struct value *list, uint32_t i)
{
    _Static_assert(SAME_SLOT(PodIP, HostIP, ip), "one check for both");
    return TEXT(&list->items[i], PodIP, ip);
}

/* Says why not: an address that is none, or not one of each family. */
static void check_families(const struct value *list, const struct type *t, const struct field_path *at,
                           struct field_errors *errs)
{
    bool v4 = false, v6 = false;
    for (uint32_t i = 0; i < list->n; i++) {
        struct ip_addr addr;
        struct str text = ip_of(list, i);
        if (!ip_parse(text, &addr)) {
            field_internal(errs, at, pod_detail(errs, "failed to check for dual stack with error:invalid IP[%u]: %.*s", i,
                                                STR_ARG(text)));
            v4 = v6 = false;
            break;
        }
        v4 |= ip_is_v4_mapped(&addr);
        v6 |= !ip_is_v4_mapped(&addr);
    }
    if (!v4 || !v6 || list->n > 2)
        field_invalid(errs, at, pod_shown(errs->arena, t, list),
                      STR("may specify no more than one IP for each IP family"));
}

/* Addresses that were there before may stay, whatever they are. */
static void check_ips(const struct value *list, const struct value *old, const struct type *t,
                      const struct field_path *at, struct field_errors *errs)
{
    struct map_str known;
    map_str_init(&known);
    for (uint32_t i = 0; i < pod_count(old); i++)
        pod_add_new(&known, ip_of(old, i));
    for (uint32_t i = 0; i < pod_count(list); i++)
        if (!map_str_find(&known, ip_of(list, i)))
            validate_legacy_ip(ip_of(list, i), true, AT_INDEX(at, i), errs);
    if (pod_count(list) > 1)
        check_families(list, t, at, errs);
    map_str_fini(&known);
}

static void check_addresses(const struct value *new, const struct value *old, const struct field_path *at,
                            struct field_errors *errs)
{
    const struct value *pod_ips = GET(new, PodStatus, podIPs), *host_ips = GET(new, PodStatus, hostIPs);
    check_ips(pod_ips, GET(old, PodStatus, podIPs), schema_type(STR("core/v1.PodIP")), AT(at, "podIPs"), errs);
    if (pod_count(host_ips) && !str_eq(TEXT(new, PodStatus, hostIP), ip_of(host_ips, 0)))
        field_invalid(errs, AT(AT_INDEX(AT(at, "hostIPs"), 0), "ip"), field_str(ip_of(host_ips, 0)),
                      STR("must be equal to `hostIP`"));
    check_ips(host_ips, GET(old, PodStatus, hostIPs), schema_type(STR("core/v1.HostIP")), AT(at, "hostIPs"), errs);
}

/* ---- Containers that have ended stay so, unless they are started again ---- */

static bool code_matches(const struct value *codes, int64_t code)
{
    const struct value *values = GET(codes, ContainerRestartRuleOnExitCodes, values);
    bool in = false;
    for (uint32_t i = 0; i < pod_count(values); i++)
        in |= pod_number(&values->items[i]) == code;
    struct str op = TEXT(codes, ContainerRestartRuleOnExitCodes, operator);
    return str_is(op, "In") ? in : str_is(op, "NotIn") && !in;
}

static bool policy_restarts(struct str policy, int64_t code, bool *ret_known)
{
    bool always = str_is(policy, "Always"), on_failure = str_is(policy, "OnFailure");
    *ret_known = always || on_failure || str_is(policy, "Never");
    return always || (on_failure && code != 0);
}

static bool restarts(const struct value *container, const struct value *spec, int64_t code)
{
    const struct value *rules = GET(container, Container, restartPolicyRules);
    bool known;
    if (IS_SET(container, Container, restartPolicy)) {
        for (uint32_t i = 0; i < pod_count(rules); i++)
            if (code_matches(GET(&rules->items[i], ContainerRestartRule, exitCodes), code) &&
                str_starts(TEXT(&rules->items[i], ContainerRestartRule, action), STR("Restart")))
                return true;
        bool own = policy_restarts(TEXT(container, Container, restartPolicy), code, &known);
        if (known)
            return own;
    }
    bool pods = policy_restarts(TEXT(spec, PodSpec, restartPolicy), code, &known);
    return known ? pods : true;
}

static bool restarts_all(const struct value *containers)
{
    for (uint32_t i = 0; i < pod_count(containers); i++) {
        const struct value *rules = GET(&containers->items[i], Container, restartPolicyRules);
        for (uint32_t r = 0; r < pod_count(rules); r++)
            if (str_is(TEXT(&rules->items[r], ContainerRestartRule, action), "RestartAllContainers"))
                return true;
    }
    return false;
}

static const struct value *ended(const struct value *status)
{
    return GET(GET(status, ContainerStatus, state), ContainerState, terminated);
}

/* Containers by name, the first of a name; statuses of containers that have not ended. */
static void index_containers(struct map_str *to, const struct value *containers)
{
    map_str_init(to);
    for (uint32_t i = pod_count(containers); i-- > 0;)
        map_str_put(to, TEXT(&containers->items[i], Container, name), NULL)->const_ptr = &containers->items[i];
}

static void index_running(struct map_str *to, const struct value *statuses)
{
    map_str_init(to);
    for (uint32_t i = 0; i < pod_count(statuses); i++)
        if (ended(&statuses->items[i])->kind == VALUE_ABSENT)
            pod_add_new(to, TEXT(&statuses->items[i], ContainerStatus, name));
}

/* `containers` is NULL for ephemeral ones, which never start again. */
static void check_transitions(const struct value *new, const struct value *old, const struct value *containers,
                              const struct value *spec, const struct field_path *at, struct field_errors *errs)
{
    static const struct value none = { .kind = VALUE_ABSENT };
    struct map_str by_name, running;
    index_containers(&by_name, containers ? containers : &none);
    index_running(&running, new);
    for (uint32_t i = 0; i < pod_count(old); i++) {
        const struct value *end = ended(&old->items[i]);
        struct str name = TEXT(&old->items[i], ContainerStatus, name);
        if (end->kind == VALUE_ABSENT || !map_str_find(&running, name))
            continue;
        const union map_value *found = map_str_find(&by_name, name);
        if (!found || !restarts(found->const_ptr, spec, NUMBER(end, ContainerStateTerminated, exitCode)))
            field_forbidden(errs, AT(AT_INDEX(at, i), "state"), STR("may not be transitioned to non-terminated state"));
    }
    map_str_fini(&by_name);
    map_str_fini(&running);
}

static void check_all_transitions(const struct value *new, const struct value *old, const struct value *spec,
                                  const struct field_path *at, struct field_errors *errs)
{
    const struct value *main = GET(spec, PodSpec, containers), *init = GET(spec, PodSpec, initContainers);
    if (!restarts_all(main) && !restarts_all(init)) {
        check_transitions(GET(new, PodStatus, containerStatuses), GET(old, PodStatus, containerStatuses), main, spec,
                          AT(at, "containerStatuses"), errs);
        check_transitions(GET(new, PodStatus, initContainerStatuses), GET(old, PodStatus, initContainerStatuses), init,
                          spec, AT(at, "initContainerStatuses"), errs);
    }
    check_transitions(GET(new, PodStatus, ephemeralContainerStatuses), GET(old, PodStatus, ephemeralContainerStatuses),
                      NULL, spec, AT(at, "ephemeralContainerStatuses"), errs);
}

/* ---- Claims ---- */

static void check_claims(const struct value *list, const struct value *claims, const struct field_path *at,
                         struct field_errors *errs)
{
    struct map_str known, seen;
    map_str_init(&known);
    map_str_init(&seen);
    for (uint32_t i = 0; i < pod_count(claims); i++)
        pod_add_new(&known, TEXT(&claims->items[i], PodResourceClaim, name));
    for (uint32_t i = 0; i < pod_count(list); i++) {
        struct str name = TEXT(&list->items[i], PodResourceClaimStatus, name);
        struct str claim = TEXT(&list->items[i], PodResourceClaimStatus, resourceClaimName);
        const struct field_path *path = AT_INDEX(at, i);
        if (!map_str_find(&known, name))
            field_invalid(errs, AT(path, "name"), field_str(name),
                          STR("must match the name of an entry in `spec.resourceClaims`"));
        if (!pod_add_new(&seen, name))
            field_duplicate(errs, AT(path, "name"), field_str(name));
        if (IS_SET(&list->items[i], PodResourceClaimStatus, resourceClaimName))
            validate_name_errors(name_dns1123_subdomain(claim), field_enum(claim), AT(path, "resourceClaimName"), errs);
    }
    map_str_fini(&known);
    map_str_fini(&seen);
}

static void check_mapping(const struct value *mapping, const struct map_str *containers, struct map_str *seen,
                          const struct field_path *claim_at, const struct field_path *at, struct field_errors *errs)
{
    struct str container = TEXT(mapping, ContainerExtendedResourceRequest, containerName);
    struct str resource = TEXT(mapping, ContainerExtendedResourceRequest, resourceName);
    struct str request = TEXT(mapping, ContainerExtendedResourceRequest, requestName);
    const union map_value *found = map_str_find(containers, container);
    const struct value *resources = found ? GET((const struct value *)found->const_ptr, Container, resources) : NULL;
    if (!found)
        field_invalid(errs, AT(at, "containerName"), field_str(container),
                      STR("must match the name of an entry in spec.initContainers.name or spec.containers.name"));
    else if (!pod_has_entry(GET(resources, ResourceRequirements, requests), resource))
        field_invalid(errs, AT(at, "resourceName"), field_str(resource),
                      STR("must match the extended resource name of an entry in spec.initContainers.resources.requests or "
                          "spec.containers.resources.requests"));
    pod_check_name(name_dns1123_label(request), request, AT(claim_at, "requestName"), errs);
    struct str key = str_of(arena_printf(errs->arena, "%.*s\n%.*s\n%.*s", STR_ARG(container), STR_ARG(resource),
                                         STR_ARG(request)));
    if (pod_add_new(seen, key))
        return;
    field_duplicate(errs, AT(at, "containerName"), field_str(container));
    field_duplicate(errs, AT(at, "resourceName"), field_str(resource));
    field_duplicate(errs, AT(at, "requestName"), field_str(request));
}

static void check_extended_claim(const struct value *status, const struct value *spec, const struct field_path *at,
                                 struct field_errors *errs)
{
    static const unsigned lists[] = { SLOT_core_v1_PodSpec_initContainers, SLOT_core_v1_PodSpec_containers };
    const struct value *mappings = GET(status, PodExtendedResourceClaimStatus, requestMappings);
    struct str claim = TEXT(status, PodExtendedResourceClaimStatus, resourceClaimName);
    struct map_str containers, seen;
    if (status->kind == VALUE_ABSENT)
        return;
    map_str_init(&containers);
    map_str_init(&seen);
    for (size_t l = 0; l < N_OF(lists); l++)
        for (uint32_t i = 0; i < pod_count(value_slot(spec, lists[l])); i++) {
            const struct value *container = &value_slot(spec, lists[l])->items[i];
            map_str_put(&containers, TEXT(container, Container, name), NULL)->const_ptr = container;
        }
    if (!pod_count(mappings))
        field_required(errs, AT(at, "requestMappings"), STR("at least one request mapping is required"));
    for (uint32_t i = 0; i < pod_count(mappings); i++)
        check_mapping(&mappings->items[i], &containers, &seen, at, AT_INDEX(AT(at, "requestMappings"), i), errs);
    if (pod_require(claim, at, "resourceClaimName", errs))
        pod_check_name(name_dns1123_subdomain(claim), claim, AT(at, "resourceClaimName"), errs);
    map_str_fini(&containers);
    map_str_fini(&seen);
}

/* ---- Users and devices of containers ---- */

static void check_users(const struct value *statuses, const struct value *spec, const struct field_path *at,
                        struct field_errors *errs)
{
    bool windows = str_is(TEXT(GET(spec, PodSpec, os), PodOS, name), "windows");
    for (uint32_t i = 0; i < pod_count(statuses); i++) {
        const struct value *user = GET(GET(&statuses->items[i], ContainerStatus, user), ContainerUser, linux);
        const struct value *groups = GET(user, LinuxContainerUser, supplementalGroups);
        const struct field_path *path = AT(AT(AT_INDEX(at, i), "user"), "linux");
        int64_t uid = NUMBER(user, LinuxContainerUser, uid), gid = NUMBER(user, LinuxContainerUser, gid);
        if (user->kind == VALUE_ABSENT)
            continue;
        if (windows) {
            field_forbidden(errs, path, STR("cannot be set for a windows pod"));
            continue;
        }
        validate_name_errors(name_user_id(uid), field_int(uid), AT(path, "uid"), errs);
        validate_name_errors(name_group_id(gid), field_int(gid), AT(path, "gid"), errs);
        for (uint32_t g = 0; g < pod_count(groups); g++) {
            int64_t group = pod_number(&groups->items[g]);
            validate_name_errors(name_group_id(group), field_int(group), AT_INDEX(AT(path, "supplementalGroups"), g), errs);
        }
    }
}

/* Of a name in a container, for sets of both. */
static struct str device_key(struct arena *a, struct str container, struct str device)
{
    return str_of(arena_printf(a, "%.*s\n%.*s", STR_ARG(container), STR_ARG(device)));
}

/* Names under which devices of a container may be reported: "claim:name/request", or resources that it asks for. */
static void find_device_names(struct arena *a, const struct value *container, struct map_str *keys)
{
    const struct value *resources = GET(container, Container, resources);
    const struct value *claims = GET(resources, ResourceRequirements, claims);
    const struct value *requests = GET(resources, ResourceRequirements, requests);
    struct str own = TEXT(container, Container, name);
    for (uint32_t i = 0; i < pod_count(claims); i++) {
        struct str name = TEXT(&claims->items[i], ResourceClaim, name);
        struct str request = TEXT(&claims->items[i], ResourceClaim, request);
        const char *device = arena_printf(a, "claim:%.*s%s%.*s", STR_ARG(name), request.n ? "/" : "", STR_ARG(request));
        pod_add_new(keys, device_key(a, own, str_of(device)));
    }
    for (uint32_t i = 0; i < pod_count(requests); i++)
        pod_add_new(keys, device_key(a, own, requests->members[i].key));
}

static void check_health(const struct value *list, const struct field_path *at, struct field_errors *errs)
{
    enum { HEALTH_MESSAGE_BYTES_MAX = 1024 };
    static const char *const health[] = { "Healthy", "Unhealthy", "Unknown", NULL };
    struct map_str seen;
    map_str_init(&seen);
    for (uint32_t i = 0; i < pod_count(list); i++) {
        const struct value *message = GET(&list->items[i], ResourceHealth, message);
        struct str id = TEXT(&list->items[i], ResourceHealth, resourceID);
        const struct field_path *path = AT_INDEX(at, i);
        pod_check_one_of(TEXT(&list->items[i], ResourceHealth, health), health, AT(path, "health"), errs);
        if (message->kind != VALUE_ABSENT && !message->n)
            field_required(errs, AT(path, "message"), STR("must be non-empty if specified"));
        else if (message->kind != VALUE_ABSENT && message->n > HEALTH_MESSAGE_BYTES_MAX)
            field_too_long(errs, AT(path, "message"), HEALTH_MESSAGE_BYTES_MAX);
        if (!pod_add_new(&seen, id))
            field_duplicate(errs, AT(path, "resourceID"), field_enum(id));
    }
    map_str_fini(&seen);
}

/* `names` is NULL for a container that the spec does not have: then any name will do. */
static void check_devices_of(const struct value *status, const struct map_str *names, const struct field_path *at,
                             struct field_errors *errs)
{
    const struct value *list = GET(status, ContainerStatus, allocatedResourcesStatus);
    struct str container = TEXT(status, ContainerStatus, name);
    for (uint32_t i = 0; i < pod_count(list); i++) {
        struct str name = TEXT(&list->items[i], ResourceStatus, name);
        const struct field_path *path = AT_INDEX(at, i);
        bool claim = str_starts(name, STR("claim:"));
        if (names && !map_str_find(names, device_key(errs->arena, container, name)))
            field_invalid(errs, AT(path, "name"), field_enum(name),
                          claim ? STR("must match one of the container's resource claims in a format "
                                      "'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty")
                                : STR("must match one of the container's resource requests"));
        check_health(GET(&list->items[i], ResourceStatus, resources), AT(path, "resources"), errs);
    }
}

static void check_devices(const struct value *statuses, const struct value *containers, const struct field_path *at,
                          struct field_errors *errs)
{
    struct map_str by_name, names;
    index_containers(&by_name, containers);
    map_str_init(&names);
    for (struct map_str_slot *s = NULL; pod_count(statuses) && (s = map_str_next(&by_name, s));)
        find_device_names(errs->arena, s->value.const_ptr, &names);
    for (uint32_t i = 0; i < pod_count(statuses); i++) {
        bool known = map_str_find(&by_name, TEXT(&statuses->items[i], ContainerStatus, name)) != NULL;
        check_devices_of(&statuses->items[i], known ? &names : NULL, AT(AT_INDEX(at, i), "allocatedResourcesStatus"), errs);
    }
    map_str_fini(&by_name);
    map_str_fini(&names);
}

static void forbid_devices(const struct value *statuses, const struct field_path *at, struct field_errors *errs)
{
    for (uint32_t i = 0; i < pod_count(statuses); i++)
        if (pod_count(GET(&statuses->items[i], ContainerStatus, allocatedResourcesStatus)))
            field_forbidden(errs, AT(AT_INDEX(at, i), "allocatedResourcesStatus"),
                            STR("must not be specified in container status"));
}

/* ---- The status ---- */

static void check_nominated(const struct value *new, const struct value *old, const struct value *old_spec,
                            const struct field_path *at, struct field_errors *errs)
{
    struct str node = TEXT(new, PodStatus, nominatedNodeName);
    if (!node.n || str_eq(node, TEXT(old, PodStatus, nominatedNodeName)))
        return;
    pod_check_name(name_dns1123_subdomain(node), node, at, errs);
    if (TEXT(old_spec, PodSpec, nodeName).n)
        field_forbidden(errs, at, STR("may not be set on pods that are already bound to a node"));
}

static void check_containers(const struct value *status, const struct value *spec, const struct field_path *at,
                             struct field_errors *errs)
{
    const struct value *main = GET(status, PodStatus, containerStatuses);
    const struct value *init = GET(status, PodStatus, initContainerStatuses);
    const struct value *ephemeral = GET(status, PodStatus, ephemeralContainerStatuses);
    check_users(main, spec, AT(at, "containerStatuses"), errs);
    check_users(init, spec, AT(at, "initContainerStatuses"), errs);
    check_users(ephemeral, spec, AT(at, "ephemeralContainerStatuses"), errs);
    check_devices(main, GET(spec, PodSpec, containers), AT(at, "containerStatuses"), errs);
    check_devices(init, GET(spec, PodSpec, initContainers), AT(at, "initContainerStatuses"), errs);
    forbid_devices(ephemeral, AT(at, "ephemeralContainerStatuses"), errs);
}

void pod_validate_status(const struct rules_context *c, const struct value *new, const struct value *old,
                         struct field_errors *errs)
{
    const struct value *status = GET(new, Pod, status), *was = GET(old, Pod, status), *meta = GET(new, Pod, metadata);
    const struct value *spec = GET(new, Pod, spec), *old_spec = GET(old, Pod, spec);
    const struct field_path *at = AT(NULL, "status"), *meta_at = AT(NULL, "metadata");
    int64_t generation = NUMBER(status, PodStatus, observedGeneration);
    rules_check_meta_update(c, new, old, errs);
    pod_check_annotation_changes(meta, GET(old, Pod, metadata), spec,
                                 !pod_cost_is_valid(META(GET(old, Pod, metadata), annotations)),
                                 AT(meta_at, "annotations"), errs);
    check_conditions(GET(status, PodStatus, conditions), AT(at, "conditions"), errs);
    check_nominated(status, was, old_spec, AT(at, "nominatedNodeName"), errs);
    if (generation < 0)
        field_invalid(errs, AT(at, "observedGeneration"), field_int(generation), STR("must be a non-negative integer"));
    rules_check_immutable(schema_type(STR("core/v1.PodStatus")), status, was, AT(at, "qosClass"), errs);
    check_all_transitions(status, was, old_spec, at, errs);
    check_claims(GET(status, PodStatus, resourceClaimStatuses), GET(spec, PodSpec, resourceClaims),
                 AT(at, "resourceClaimStatuses"), errs);
    check_extended_claim(GET(status, PodStatus, extendedResourceClaimStatus), spec, AT(at, "extendedResourceClaimStatus"),
                         errs);
    check_addresses(status, was, at, errs);
    check_containers(status, spec, at, errs);
}
