/* rules/pod_spec.c - see pod_priv.h: a pod spec from top to bottom, in the order of upstream's ValidatePodSpec. */
#include "rules/pod_priv.h"

enum { DNS_SERVERS_MAX = 3, DNS_SEARCHES_MAX = 32, DNS_SEARCH_BYTES_MAX = 2048, HOSTNAME_OVERRIDE_BYTES_MAX = 64 };

/* ---- Network ---- */

/* In the host's network a port of the host is the container's; in a template it may be left open. */
static void check_host_network(struct pod_check *k, const struct field_path *at)
{
    const struct value *list = GET(k->spec, PodSpec, containers);
    if (!FLAG(k->spec, PodSpec, hostNetwork))
        return;
    for (uint32_t i = 0; i < pod_count(list); i++) {
        const struct value *ports = GET(&list->items[i], Container, ports);
        for (uint32_t p = 0; p < pod_count(ports); p++) {
            int64_t host = NUMBER(&ports->items[p], ContainerPort, hostPort);
            int64_t own = NUMBER(&ports->items[p], ContainerPort, containerPort);
            const struct field_path *path = AT_INDEX(AT(AT_INDEX(AT(at, "containers"), i), "ports"), p);
            if ((k->meta || host != 0) && host != own)
                field_invalid(k->errs, AT(path, "hostPort"), field_int(host),
                              STR("must match `containerPort` when `hostNetwork` is true"));
        }
    }
}

static void check_dns_servers(struct pod_check *k, const struct value *list, const struct field_path *at)
{
    if (pod_count(list) > DNS_SERVERS_MAX) {
        struct strs shown = pod_strs(k->arena, list);
        field_invalid(k->errs, at, field_strs(shown.at, shown.n), STR("must not have more than 3 nameservers"));
    }
    for (uint32_t i = 0; i < pod_count(list); i++)
        validate_legacy_ip(value_text(&list->items[i]), true, AT_INDEX(at, i), k->errs);
}

static void check_dns_searches(struct pod_check *k, const struct value *list, const struct field_path *at)
{
    struct strs shown = pod_strs(k->arena, list);
    size_t n_bytes = shown.n ? shown.n - 1 : 0;
    for (size_t i = 0; i < shown.n; i++)
        n_bytes += shown.at[i].n;
    if (shown.n > DNS_SEARCHES_MAX)
        field_invalid(k->errs, at, field_strs(shown.at, shown.n), STR("must not have more than 32 search paths"));
    if (n_bytes > DNS_SEARCH_BYTES_MAX)
        field_invalid(k->errs, at, field_strs(shown.at, shown.n),
                      STR("must not have more than 2048 characters (including spaces) in the search list"));
    for (size_t i = 0; i < shown.n; i++) {
        struct str search = shown.at[i];
        if (str_is(search, "."))
            continue;
        if (str_ends(search, STR(".")))
            search = str_first(search, search.n - 1);
        pod_check_name(name_dns1123_subdomain_with_underscore(search), search, AT_INDEX(at, i), k->errs);
    }
}

static void check_dns_config(struct pod_check *k, const struct field_path *at)
{
    const struct value *config = GET(k->spec, PodSpec, dnsConfig);
    const struct value *servers = GET(config, PodDNSConfig, nameservers), *options = GET(config, PodDNSConfig, options);
    bool none = str_is(TEXT(k->spec, PodSpec, dnsPolicy), "None");
    if (none && config->kind == VALUE_ABSENT) {
        field_required(k->errs, at, STR("must provide `dnsConfig` when `dnsPolicy` is None"));
        return;
    }
    if (none && !pod_count(servers)) {
        field_required(k->errs, AT(at, "nameservers"),
                       STR("must provide at least one DNS nameserver when `dnsPolicy` is None"));
        return;
    }
    check_dns_servers(k, servers, AT(at, "nameservers"));
    check_dns_searches(k, GET(config, PodDNSConfig, searches), AT(at, "searches"));
    for (uint32_t i = 0; i < pod_count(options); i++)
        if (!TEXT(&options->items[i], PodDNSConfigOption, name).n)
            field_required(k->errs, AT_INDEX(AT(at, "options"), i), STR("must not be empty"));
}

static void check_host_aliases(struct pod_check *k, const struct field_path *at)
{
    const struct value *list = GET(k->spec, PodSpec, hostAliases);
    for (uint32_t i = 0; i < pod_count(list); i++) {
        const struct field_path *path = AT_INDEX(at, i);
        const struct value *names = GET(&list->items[i], HostAlias, hostnames);
        validate_legacy_ip(TEXT(&list->items[i], HostAlias, ip), true, AT(path, "ip"), k->errs);
        for (uint32_t n = 0; n < pod_count(names); n++) {
            struct str name = value_text(&names->items[n]);
            pod_check_name(name_dns1123_subdomain(name), name, AT_INDEX(AT(path, "hostnames"), n), k->errs);
        }
    }
}

static void check_hostname_override(struct pod_check *k, const struct field_path *at)
{
    struct str name = TEXT(k->spec, PodSpec, hostnameOverride);
    if (!IS_SET(k->spec, PodSpec, hostnameOverride))
        return;
    if (FLAG(k->spec, PodSpec, setHostnameAsFQDN))
        field_forbidden(k->errs, at, STR("may not be specified when setHostnameAsFQDN is true"));
    if (FLAG(k->spec, PodSpec, hostNetwork))
        field_forbidden(k->errs, at, STR("may not be specified when hostNetwork is true"));
    if (name.n > HOSTNAME_OVERRIDE_BYTES_MAX)
        field_too_long(k->errs, at, HOSTNAME_OVERRIDE_BYTES_MAX);
    pod_check_name(name_dns1123_subdomain(name), name, at, k->errs);
}

/* ---- Gates ---- */

static void check_gates(struct pod_check *k, const struct field_path *at)
{
    const struct value *readiness = GET(k->spec, PodSpec, readinessGates);
    const struct value *scheduling = GET(k->spec, PodSpec, schedulingGates);
    struct map_str seen;
    map_str_init(&seen);
    for (uint32_t i = 0; i < pod_count(readiness); i++) {
        struct str type = TEXT(&readiness->items[i], PodReadinessGate, conditionType);
        pod_check_name(name_label_key(type), type, AT(AT_INDEX(AT(at, "readinessGates"), i), "conditionType"), k->errs);
    }
    for (uint32_t i = 0; i < pod_count(scheduling); i++) {
        struct str name = TEXT(&scheduling->items[i], PodSchedulingGate, name);
        const struct field_path *path = AT_INDEX(AT(at, "schedulingGates"), i);
        pod_check_name(name_label_key(name), name, path, k->errs);
        if (!pod_add_new(&seen, name))
            field_duplicate(k->errs, path, field_str(name));
    }
    map_str_fini(&seen);
}

/* ---- Names of other objects, and small fields ---- */

static void check_policies(struct pod_check *k, const struct field_path *at)
{
    static const char *const restart[] = { "Always", "OnFailure", "Never", NULL };
    static const char *const dns[] = { "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None", NULL };
    pod_check_choice(TEXT(k->spec, PodSpec, restartPolicy), restart, AT(at, "restartPolicy"), k->errs);
    pod_check_choice(TEXT(k->spec, PodSpec, dnsPolicy), dns, AT(at, "dnsPolicy"), k->errs);
    validate_labels(pod_labels(k->arena, GET(k->spec, PodSpec, nodeSelector)), AT(at, "nodeSelector"), k->errs);
}

/* Empty texts are as good as none. */
static void check_optional_name(struct str name, name_check *check, const struct field_path *at,
                                struct field_errors *errs)
{
    if (name.n)
        pod_check_name(check(name), name, at, errs);
}

static void check_names(struct pod_check *k, const struct field_path *at)
{
    const struct value *deadline = GET(k->spec, PodSpec, activeDeadlineSeconds);
    check_optional_name(TEXT(k->spec, PodSpec, serviceAccountName), name_dns1123_subdomain, AT(at, "serviceAccountName"),
                        k->errs);
    check_optional_name(TEXT(k->spec, PodSpec, nodeName), name_dns1123_subdomain, AT(at, "nodeName"), k->errs);
    if (deadline->kind == VALUE_INT)
        pod_check_range(deadline->i, 1, INT32_MAX, AT(at, "activeDeadlineSeconds"), k->errs);
    check_optional_name(TEXT(k->spec, PodSpec, hostname), name_dns1123_label, AT(at, "hostname"), k->errs);
    check_optional_name(TEXT(k->spec, PodSpec, subdomain), name_dns1123_label, AT(at, "subdomain"), k->errs);
    rules_check_tolerations(GET(k->spec, PodSpec, tolerations), AT(at, "tolerations"), k->errs);
    check_host_aliases(k, AT(at, "hostAliases"));
    check_optional_name(TEXT(k->spec, PodSpec, priorityClassName), name_dns1123_subdomain, AT(at, "priorityClassName"),
                        k->errs);
    struct str class = TEXT(k->spec, PodSpec, runtimeClassName);
    if (IS_SET(k->spec, PodSpec, runtimeClassName))
        pod_check_name(name_dns1123_subdomain(class), class, AT(at, "runtimeClassName"), k->errs);
}

static void check_preemption(struct pod_check *k, const struct field_path *at)
{
    static const char *const policies[] = { "PreemptLowerPriority", "Never", NULL };
    if (IS_SET(k->spec, PodSpec, preemptionPolicy))
        pod_check_choice(TEXT(k->spec, PodSpec, preemptionPolicy), policies, at, k->errs);
}

/* ---- The spec ---- */

static void check_all_containers(struct pod_check *k, const struct field_path *at)
{
    pod_check_volumes(k, AT(at, "volumes"));
    pod_check_resource_claims(k, AT(at, "resourceClaims"));
    pod_check_containers(k, AT(at, "containers"));
    pod_check_init_containers(k, AT(at, "initContainers"));
    pod_check_ephemeral_containers(k, AT(at, "ephemeralContainers"));
    pod_check_whole_resources(k, AT(at, "resources"));
}

static void check_pod_fields(struct pod_check *k, const struct field_path *at)
{
    check_host_network(k, at);
    check_policies(k, at);
    pod_check_security(k, AT(at, "securityContext"));
    pod_check_affinity(k, AT(at, "affinity"));
    check_dns_config(k, AT(at, "dnsConfig"));
    check_gates(k, at);
    pod_check_spread(k, AT(at, "topologySpreadConstraints"));
    pod_check_host_processes(k, at);
    pod_check_host_users(k, at);
    check_hostname_override(k, AT(at, "hostnameOverride"));
    check_names(k, at);
    check_preemption(k, AT(at, "preemptionPolicy"));
    pod_check_overhead(k, AT(at, "overhead"));
    pod_check_os(k, at);
    pod_check_file_keys(k, at);
}

void pod_check_spec(const struct rules_context *c, const struct value *spec, const struct value *meta,
                    struct pod_leniency lenient, const struct field_path *at, struct field_errors *errs)
{
    const struct value *host_users = GET(spec, PodSpec, hostUsers);
    struct pod_check k = {
        .c = c, .errs = errs, .arena = errs->arena, .spec = spec, .meta = meta, .lenient = lenient,
        .host_users = host_users->kind != VALUE_BOOL || host_users->b,
    };
    map_str_init(&k.volumes);
    map_str_init(&k.claims);
    if (!IS_SET(spec, PodSpec, terminationGracePeriodSeconds))
        field_required(errs, AT(at, "terminationGracePeriodSeconds"), STR(""));
    check_all_containers(&k, at);
    check_pod_fields(&k, at);
    map_str_fini(&k.volumes);
    map_str_fini(&k.claims);
}

/* ---- Pods ---- */

/* A token of nobody. */
static void forbid_tokens(const struct value *spec, const struct field_path *at, struct field_errors *errs)
{
    const struct value *volumes = GET(spec, PodSpec, volumes);
    for (uint32_t i = 0; i < pod_count(volumes); i++) {
        const struct value *projected = GET(&volumes->items[i], Volume, projected);
        const struct value *sources = GET(projected, ProjectedVolumeSource, sources);
        const struct field_path *path = AT(AT_INDEX(AT(at, "volumes"), i), "projected");
        for (uint32_t s = 0; s < pod_count(sources); s++)
            if (IS_SET(&sources->items[s], VolumeProjection, serviceAccountToken))
                field_forbidden(errs, AT(AT_INDEX(AT(path, "sources"), s), "serviceAccountToken"),
                                STR("must not be specified when serviceAccountName is not set"));
    }
}

void pod_check_pod(const struct rules_context *c, const struct value *pod, struct pod_leniency lenient,
                   struct field_errors *errs)
{
    const struct value *spec = GET(pod, Pod, spec), *meta = GET(pod, Pod, metadata);
    const struct field_path *at = AT(NULL, "spec"), *meta_at = AT(NULL, "metadata");
    rules_check_meta(c, pod, name_is_dns_subdomain, errs);
    pod_check_annotations(meta, spec, lenient.deletion_cost, AT(meta_at, "annotations"), errs);
    pod_check_spec(c, spec, meta, lenient, at, errs);
    if (!TEXT(spec, PodSpec, serviceAccountName).n)
        forbid_tokens(spec, at, errs);
    pod_check_images(GET(spec, PodSpec, containers), AT(at, "containers"), errs);
    pod_check_images(GET(spec, PodSpec, initContainers), AT(at, "initContainers"), errs);
}

/* ---- Templates ---- */

void rules_check_pod_template_spec(const struct rules_context *c, const struct value *template,
                                   const struct value *old_template, const struct field_path *at,
                                   struct field_errors *errs)
{
    const struct value *meta = GET(template, PodTemplateSpec, metadata), *spec = GET(template, PodTemplateSpec, spec);
    struct pod_leniency lenient = { 0 };
    if (old_template)
        lenient = pod_leniency(c, GET(old_template, PodTemplateSpec, spec), GET(old_template, PodTemplateSpec, metadata));
    validate_labels(pod_labels(errs->arena, META(meta, labels)), AT(at, "labels"), errs);
    validate_annotations(pod_labels(errs->arena, META(meta, annotations)), AT(at, "annotations"), errs);
    pod_check_annotations(meta, spec, lenient.deletion_cost, AT(at, "annotations"), errs);
    pod_check_spec(c, spec, NULL, lenient, AT(at, "spec"), errs);
    pod_check_profiles(meta, spec, AT(at, "spec"), errs);
    if (pod_count(GET(spec, PodSpec, ephemeralContainers)))
        field_forbidden(errs, AT(AT(at, "spec"), "ephemeralContainers"),
                        STR("ephemeral containers not allowed in pod template"));
}
