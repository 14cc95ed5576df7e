/* rules/pod_containers.c - see pod_priv.h: containers, init containers and ephemeral containers. */
#include "rules/pod_priv.h"

enum { RESTART_RULES_MAX = 20, EXIT_CODES_MAX = 255 };

static const char *const pull_policies[] = { "Always", "IfNotPresent", "Never", NULL };

void pod_visit_containers(const struct value *spec, const struct field_path *at, pod_visit *visit, void *with)
{
    static const struct {
        unsigned slot;
        const char *name;
    } lists[] = { { SLOT_core_v1_PodSpec_initContainers, "initContainers" },
                  { SLOT_core_v1_PodSpec_containers, "containers" },
                  { SLOT_core_v1_PodSpec_ephemeralContainers, "ephemeralContainers" } };
    for (size_t l = 0; l < N_OF(lists); l++) {
        const struct value *list = value_slot(spec, lists[l].slot);
        for (uint32_t i = 0; i < pod_count(list); i++)
            visit(with, &list->items[i], AT_INDEX(AT_NAME(at, lists[l].name), i));
    }
}

/* ---- Ports ---- */

static void check_port_number(int64_t port, const struct field_path *at, struct field_errors *errs)
{
    validate_name_errors(name_port_number(port), field_int(port), at, errs);
}

static void check_port(const struct value *port, struct map_str *names, const struct field_path *at,
                       struct field_errors *errs)
{
    static const char *const protocols[] = { "SCTP", "TCP", "UDP", NULL };
    struct str name = TEXT(port, ContainerPort, name);
    int64_t number = NUMBER(port, ContainerPort, containerPort), host = NUMBER(port, ContainerPort, hostPort);
    struct name_errors found = name.n ? name_port(name) : (struct name_errors){ 0 };
    pod_check_name(found, name, AT(at, "name"), errs);
    if (name.n && !found.n && !pod_add_new(names, name))
        field_duplicate(errs, AT(at, "name"), field_str(name));
    if (number == 0)
        field_required(errs, AT(at, "containerPort"), STR(""));
    else
        check_port_number(number, AT(at, "containerPort"), errs);
    if (host != 0)
        check_port_number(host, AT(at, "hostPort"), errs);
    pod_check_choice(TEXT(port, ContainerPort, protocol), protocols, AT(at, "protocol"), errs);
}

static void check_ports(const struct value *ports, const struct field_path *at, struct field_errors *errs)
{
    struct map_str names;
    map_str_init(&names);
    for (uint32_t i = 0; i < pod_count(ports); i++)
        check_port(&ports->items[i], &names, AT_INDEX(at, i), errs);
    map_str_fini(&names);
}

/* Host ports of one container; `taken` has those before. */
static void check_host_ports(struct pod_check *k, const struct value *container, struct map_str *taken,
                             const struct field_path *at)
{
    const struct value *ports = GET(container, Container, ports);
    for (uint32_t i = 0; i < pod_count(ports); i++) {
        const struct value *port = &ports->items[i];
        int64_t number = NUMBER(port, ContainerPort, hostPort);
        if (number == 0)
            continue;
        struct str place = str_of(arena_printf(k->arena, "%.*s/%.*s/%lld", STR_ARG(TEXT(port, ContainerPort, protocol)),
                                               STR_ARG(TEXT(port, ContainerPort, hostIP)), (long long)number));
        if (!pod_add_new(taken, place))
            field_duplicate(k->errs, AT(AT_INDEX(AT(at, "ports"), i), "hostPort"), field_str(place));
    }
}

/* ---- What all have in common ---- */

static void check_resize_policy(struct pod_check *k, const struct value *list, const struct field_path *at)
{
    static const char *const resources[] = { "cpu", "memory", NULL };
    static const char *const policies[] = { "NotRequired", "RestartContainer", NULL };
    bool never = str_is(TEXT(k->spec, PodSpec, restartPolicy), "Never");
    struct map_str seen;
    map_str_init(&seen);
    for (uint32_t i = 0; i < pod_count(list); i++) {
        struct str resource = TEXT(&list->items[i], ContainerResizePolicy, resourceName);
        struct str policy = TEXT(&list->items[i], ContainerResizePolicy, restartPolicy);
        if (!pod_add_new(&seen, resource))
            field_duplicate(k->errs, AT_INDEX(at, i), field_enum(resource));
        pod_check_choice(resource, resources, at, k->errs);
        pod_check_choice(policy, policies, at, k->errs);
        if (never && !str_is(policy, "NotRequired"))
            field_invalid(k->errs, at, field_enum(policy),
                          STR("must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
    }
    map_str_fini(&seen);
}

static void check_common(struct pod_check *k, const struct value *container, const struct field_path *at)
{
    static const char *const message_policies[] = { "File", "FallbackToLogsOnError", NULL };
    struct str name = TEXT(container, Container, name);
    if (pod_require(name, at, "name", k->errs))
        pod_check_name(name_dns1123_label(name), name, AT(at, "name"), k->errs);
    pod_require(TEXT(container, Container, image), at, "image", k->errs);
    pod_check_choice(TEXT(container, Container, terminationMessagePolicy), message_policies,
                     AT(at, "terminationMessagePolicy"), k->errs);
    check_ports(GET(container, Container, ports), AT(at, "ports"), k->errs);
    pod_check_env(GET(container, Container, env), AT(at, "env"), k->errs);
    pod_check_env_from(GET(container, Container, envFrom), AT(at, "envFrom"), k->errs);
    pod_check_mounts(k, container, AT(at, "volumeMounts"));
    pod_check_devices(k, container, AT(at, "volumeDevices"));
    pod_check_choice(TEXT(container, Container, imagePullPolicy), pull_policies, AT(at, "imagePullPolicy"), k->errs);
    pod_check_requirements(k, GET(container, Container, resources), AT(at, "resources"));
    check_resize_policy(k, GET(container, Container, resizePolicy), AT(at, "resizePolicy"));
    pod_check_container_security(k, GET(container, Container, securityContext), AT(at, "securityContext"));
}

/* ---- When a container is started again ---- */

static void check_restart_rule(const struct value *rule, const struct field_path *at, struct field_errors *errs)
{
    static const char *const actions[] = { "Restart", "RestartAllContainers", NULL };
    static const char *const operators[] = { "In", "NotIn", NULL };
    const struct value *codes = GET(rule, ContainerRestartRule, exitCodes);
    pod_check_one_of(TEXT(rule, ContainerRestartRule, action), actions, AT(at, "action"), errs);
    if (codes->kind == VALUE_ABSENT) {
        field_required(errs, AT(at, "exitCodes"), STR("must be specified"));
        return;
    }
    const struct field_path *path = AT(at, "exitCodes");
    uint32_t n = pod_count(GET(codes, ContainerRestartRuleOnExitCodes, values));
    pod_check_one_of(TEXT(codes, ContainerRestartRuleOnExitCodes, operator), operators, AT(path, "operator"), errs);
    if (n > EXIT_CODES_MAX)
        field_too_many(errs, AT(path, "values"), n, EXIT_CODES_MAX);
}

static void check_restart_policy(const struct value *container, const struct field_path *at, struct field_errors *errs)
{
    static const char *const policies[] = { "Always", "Never", "OnFailure", NULL };
    const struct value *rules = GET(container, Container, restartPolicyRules);
    if (IS_SET(container, Container, restartPolicy))
        pod_check_one_of(TEXT(container, Container, restartPolicy), policies, AT(at, "restartPolicy"), errs);
    else if (pod_count(rules))
        field_required(errs, AT(at, "restartPolicy"), STR("must specify restartPolicy when restart rules are used"));
    if (pod_count(rules) > RESTART_RULES_MAX)
        field_too_many(errs, AT(at, "restartPolicyRules"), pod_count(rules), RESTART_RULES_MAX);
    for (uint32_t i = 0; i < pod_count(rules); i++)
        check_restart_rule(&rules->items[i], AT_INDEX(AT(at, "restartPolicyRules"), i), errs);
}

/* An init container without a policy has no use for rules, whatever is in them. */
static void check_init_restart_policy(const struct value *container, const struct field_path *at,
                                      struct field_errors *errs)
{
    if (IS_SET(container, Container, restartPolicy))
        check_restart_policy(container, at, errs);
    else if (pod_count(GET(container, Container, restartPolicyRules)))
        field_required(errs, AT(at, "restartPolicy"), STR("must specify restartPolicy when restart rules are used"));
}

/* ---- Containers ---- */

static void check_container(struct pod_check *k, const struct value *container, struct map_str *names,
                            const struct field_path *at)
{
    struct str name = TEXT(container, Container, name);
    check_common(k, container, at);
    if (!pod_add_new(names, name))
        field_duplicate(k->errs, AT(at, "name"), field_str(name));
    pod_check_lifecycle(k, GET(container, Container, lifecycle), AT(at, "lifecycle"));
    pod_check_probes(k, container, at);
    check_restart_policy(container, at, k->errs);
}

void pod_check_containers(struct pod_check *k, const struct field_path *at)
{
    const struct value *list = GET(k->spec, PodSpec, containers);
    if (!pod_count(list)) {
        field_required(k->errs, at, STR(""));
        return;
    }
    struct map_str names, ports;
    map_str_init(&names);
    map_str_init(&ports);
    for (uint32_t i = 0; i < list->n; i++)
        check_container(k, &list->items[i], &names, AT_INDEX(at, i));
    for (uint32_t i = 0; i < list->n; i++)
        check_host_ports(k, &list->items[i], &ports, AT_INDEX(at, i));
    map_str_fini(&names);
    map_str_fini(&ports);
}

/* ---- Init containers ---- */

static bool is_sidecar(const struct value *container)
{
    return str_is(TEXT(container, Container, restartPolicy), "Always");
}

/* They end before others start: nobody asks them how they are. */
static void forbid_probes(const struct value *container, const struct field_path *at, struct field_errors *errs)
{
    static const struct {
        unsigned slot;
        const char *name;
    } fields[] = { { SLOT_core_v1_Container_lifecycle, "lifecycle" },
                   { SLOT_core_v1_Container_livenessProbe, "livenessProbe" },
                   { SLOT_core_v1_Container_readinessProbe, "readinessProbe" },
                   { SLOT_core_v1_Container_startupProbe, "startupProbe" } };
    for (size_t i = 0; i < N_OF(fields); i++)
        if (value_slot(container, fields[i].slot)->kind != VALUE_ABSENT)
            field_forbidden(errs, AT_NAME(at, fields[i].name),
                            STR("may not be set for init containers without restartPolicy=Always"));
}

static void forbid_resize_restarts(const struct value *container, const struct field_path *at,
                                   struct field_errors *errs)
{
    const struct value *list = GET(container, Container, resizePolicy);
    for (uint32_t i = 0; i < pod_count(list); i++) {
        struct str policy = TEXT(&list->items[i], ContainerResizePolicy, restartPolicy);
        if (str_is(policy, "RestartContainer"))
            field_invalid(errs, AT(AT_INDEX(AT(at, "resizePolicy"), i), "restartPolicy"), field_enum(policy),
                          STR("must not be set to 'RestartContainer' for non-sidecar initContainers"));
    }
}

/* Host ports are looked at by each alone, with the path of the first one. */
static void check_init_host_ports(struct pod_check *k, const struct value *container, const struct field_path *at)
{
    struct map_str ports;
    map_str_init(&ports);
    check_host_ports(k, container, &ports, AT_INDEX(at, 0));
    map_str_fini(&ports);
}

static void check_init_container(struct pod_check *k, const struct value *container, struct map_str *names,
                                 const struct field_path *at)
{
    struct str name = TEXT(container, Container, name);
    check_common(k, container, at);
    check_init_restart_policy(container, at, k->errs);
    if (map_str_find(names, name))
        field_duplicate(k->errs, AT(at, "name"), field_str(name));
    else if (name.n)
        pod_add_new(names, name);
    check_init_host_ports(k, container, at->parent);
    if (is_sidecar(container)) {
        pod_check_lifecycle(k, GET(container, Container, lifecycle), AT(at, "lifecycle"));
        pod_check_probes(k, container, at);
    } else {
        forbid_probes(container, at, k->errs);
        if (!k->lenient.init_restarts)
            forbid_resize_restarts(container, at, k->errs);
    }
}

static void add_names(struct map_str *names, const struct value *containers)
{
    for (uint32_t i = 0; i < pod_count(containers); i++)
        pod_add_new(names, TEXT(&containers->items[i], Container, name));
}

void pod_check_init_containers(struct pod_check *k, const struct field_path *at)
{
    const struct value *list = GET(k->spec, PodSpec, initContainers);
    struct map_str names;
    map_str_init(&names);
    add_names(&names, GET(k->spec, PodSpec, containers));
    for (uint32_t i = 0; i < pod_count(list); i++)
        check_init_container(k, &list->items[i], &names, AT_INDEX(at, i));
    map_str_fini(&names);
}

/* ---- Ephemeral containers ---- */

/* Somebody looks around in a running pod: that is no part of what the pod does. */
static void forbid_fields(const struct value *container, const struct field_path *at, struct field_errors *errs)
{
    static const struct {
        unsigned slot;
        const char *name;
    } fields[] = {
#define FIELD(field) { SLOT_core_v1_Container_##field, #field }
        FIELD(ports), FIELD(resources), FIELD(resizePolicy), FIELD(restartPolicy), FIELD(restartPolicyRules),
        FIELD(livenessProbe), FIELD(readinessProbe), FIELD(startupProbe), FIELD(lifecycle),
#undef FIELD
    };
    const struct type *requirements = schema_type(STR("core/v1.ResourceRequirements"));
    for (size_t i = 0; i < N_OF(fields); i++) {
        const struct value *v = value_slot(container, fields[i].slot);
        struct value none = { .kind = VALUE_ABSENT };
        bool set = v->kind != VALUE_ABSENT;
        if (fields[i].slot == SLOT_core_v1_Container_resources)
            set = !pod_same(requirements, v, &none);
        if (set)
            field_forbidden(errs, AT_NAME(at, fields[i].name), STR("cannot be set for an Ephemeral Container"));
    }
}

static void forbid_sub_paths(const struct value *mounts, const struct field_path *at, struct field_errors *errs)
{
    for (uint32_t i = 0; i < pod_count(mounts); i++) {
        const struct field_path *path = AT_INDEX(at, i);
        if (TEXT(&mounts->items[i], VolumeMount, subPath).n)
            field_forbidden(errs, AT(path, "subPath"), STR("cannot be set for an Ephemeral Container"));
        if (TEXT(&mounts->items[i], VolumeMount, subPathExpr).n)
            field_forbidden(errs, AT(path, "subPathExpr"), STR("cannot be set for an Ephemeral Container"));
    }
}

static void check_image_spaces(const struct value *container, const struct field_path *at, struct field_errors *errs)
{
    struct str image = TEXT(container, Container, image);
    if (pod_trim_space(image).n != image.n)
        field_invalid(errs, AT(at, "image"), field_str(image), STR("must not have leading or trailing whitespace"));
}

void pod_check_images(const struct value *containers, const struct field_path *at, struct field_errors *errs)
{
    for (uint32_t i = 0; i < pod_count(containers); i++)
        check_image_spaces(&containers->items[i], AT_INDEX(at, i), errs);
}

static void check_ephemeral(struct pod_check *k, const struct value *container, struct map_str *names,
                            const struct map_str *others, const struct field_path *at)
{
    struct str name = TEXT(container, Container, name);
    struct str target = TEXT(container, EphemeralContainer, targetContainerName);
    check_common(k, container, at);
    check_image_spaces(container, at, k->errs);
    if (!pod_add_new(names, name))
        field_duplicate(k->errs, AT(at, "name"), field_str(name));
    if (target.n && !map_str_find(others, target))
        field_not_found(k->errs, AT(at, "targetContainerName"), field_str(target));
    forbid_fields(container, at, k->errs);
    forbid_sub_paths(GET(container, Container, volumeMounts), AT(at, "volumeMounts"), k->errs);
}

void pod_check_ephemeral_containers(struct pod_check *k, const struct field_path *at)
{
    const struct value *list = GET(k->spec, PodSpec, ephemeralContainers);
    struct map_str names, others;
    map_str_init(&names);
    map_str_init(&others);
    add_names(&others, GET(k->spec, PodSpec, containers));
    add_names(&others, GET(k->spec, PodSpec, initContainers));
    map_str_copy(&names, &others);
    for (uint32_t i = 0; i < pod_count(list); i++)
        check_ephemeral(k, &list->items[i], &names, &others, AT_INDEX(at, i));
    map_str_fini(&names);
    map_str_fini(&others);
}
