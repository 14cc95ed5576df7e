/* rules/pod_warn.c - see pod_priv.h and pod_warn.h: what a user of a pod spec is warned of. */
#include "api/netaddr.h"
#include "base/arena_array.h"
#include "rules/pod_warn.h"

const char *warn_path(struct warn *w, const struct field_path *path)
{
    return arena_cstr(w->arena, field_path_text(w->arena, path));
}

const char *warn_quoted(struct warn *w, struct str text)
{
    struct strbuf out;
    strbuf_init(&out, STRBUF_NO_MAX);
    strbuf_add_quoted_shown(&out, text);
    return arena_cstr(w->arena, field_take_text(w->arena, &out));
}

void warn_fraction(struct warn *w, const struct value *amounts, const char *resource, const struct field_path *at)
{
    struct str text = pod_entry(amounts, resource);
    struct quantity amount = pod_amount(w->arena, text);
    if (text.n && quantity_milli(&amount) % 1000 != 0)
        warnings_add(w->out, "%s: fractional byte value %s is invalid, must be an integer",
                     warn_path(w, AT_KEY(at, str_of(resource))), warn_quoted(w, text));
}

/* ---- Labels of nodes that are called otherwise now ---- */

static const char *deprecated_label(struct str key)
{
    static const struct {
        const char *key, *message;
    } labels[] = {
        { "beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead" },
        { "beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead" },
        { "failure-domain.beta.kubernetes.io/region", "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead" },
        { "failure-domain.beta.kubernetes.io/zone", "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead" },
        { "beta.kubernetes.io/instance-type",
          "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead" },
        { "app.kubernetes.io/created-by", "deprecated since v1.9" },
        { "scheduler.alpha.kubernetes.io/preferAvoidPods", "deprecated since v1.22; use Taints and Tolerations instead" },
        { "node-role.kubernetes.io/master", "use \"node-role.kubernetes.io/control-plane\" instead" },
    };
    for (size_t i = 0; i < N_OF(labels); i++)
        if (str_is(key, labels[i].key))
            return labels[i].message;
    return NULL;
}

/* Values that are no labels are refused where they decide, and warned of where they only count. */
static void warn_term(struct warn *w, const struct value *term, bool values_too, const struct field_path *at)
{
    const struct value *list = GET(term, NodeSelectorTerm, matchExpressions);
    for (uint32_t i = 0; i < pod_count(list); i++) {
        const struct value *values = GET(&list->items[i], NodeSelectorRequirement, values);
        struct str key = TEXT(&list->items[i], NodeSelectorRequirement, key);
        const char *message = deprecated_label(key);
        const struct field_path *path = AT_INDEX(AT(at, "matchExpressions"), i);
        if (message)
            warnings_add(w->out, "%s: %.*s is %s", warn_path(w, AT(path, "key")), STR_ARG(key), message);
        for (uint32_t v = 0; values_too && v < pod_count(values); v++) {
            struct str value = value_text(&values->items[v]);
            struct name_errors found = name_label_value(value);
            for (size_t e = 0; e < found.n; e++)
                warnings_add(w->out, "%s: %.*s is invalid, %s", warn_path(w, AT_INDEX(AT(path, "values"), v)), STR_ARG(value),
                             found.at[e]);
        }
    }
}

static void warn_nodes(struct warn *w, const struct field_path *at)
{
    const struct value *selector = GET(w->spec, PodSpec, nodeSelector);
    const struct value *affinity = GET(GET(w->spec, PodSpec, affinity), Affinity, nodeAffinity);
    const struct value *terms = GET(GET(affinity, NodeAffinity, requiredDuringSchedulingIgnoredDuringExecution),
                                    NodeSelector, nodeSelectorTerms);
    const struct value *preferred = GET(affinity, NodeAffinity, preferredDuringSchedulingIgnoredDuringExecution);
    const struct field_path *path = AT(AT(at, "affinity"), "nodeAffinity");
    for (uint32_t i = 0; i < pod_count(selector); i++) {
        const char *message = deprecated_label(selector->members[i].key);
        if (message)
            warnings_add(w->out, "%s: %s", warn_path(w, AT_KEY(AT(at, "nodeSelector"), selector->members[i].key)), message);
    }
    for (uint32_t i = 0; i < pod_count(terms); i++)
        warn_term(w, &terms->items[i], false,
                  AT_INDEX(AT(AT(path, "requiredDuringSchedulingIgnoredDuringExecution"), "nodeSelectorTerms"), i));
    for (uint32_t i = 0; i < pod_count(preferred); i++)
        warn_term(w, GET(&preferred->items[i], PreferredSchedulingTerm, preference), true,
                  AT(AT_INDEX(AT(path, "preferredDuringSchedulingIgnoredDuringExecution"), i), "preference"));
}

static void warn_spread(struct warn *w, const struct field_path *at)
{
    const struct value *list = GET(w->spec, PodSpec, topologySpreadConstraints);
    for (uint32_t i = 0; i < pod_count(list); i++) {
        struct str key = TEXT(&list->items[i], TopologySpreadConstraint, topologyKey);
        const char *message = deprecated_label(key);
        const struct field_path *path = AT_INDEX(AT(at, "topologySpreadConstraints"), i);
        if (message)
            warnings_add(w->out, "%s: %.*s is %s", warn_path(w, AT(path, "topologyKey")), STR_ARG(key), message);
        if (!IS_SET(&list->items[i], TopologySpreadConstraint, labelSelector))
            warnings_add(w->out, "%s: a null labelSelector results in matching no pod",
                         warn_path(w, AT(path, "labelSelector")));
    }
}

static void warn_pod_terms(struct warn *w, const struct value *side, const struct field_path *at)
{
    const struct value *required = GET(side, PodAffinity, requiredDuringSchedulingIgnoredDuringExecution);
    const struct value *preferred = GET(side, PodAffinity, preferredDuringSchedulingIgnoredDuringExecution);
    static const char null_selector[] = "%s: a null labelSelector results in matching no pod";
    for (uint32_t i = 0; i < pod_count(required); i++)
        if (!IS_SET(&required->items[i], PodAffinityTerm, labelSelector))
            warnings_add(w->out, null_selector,
                         warn_path(w, AT(AT_INDEX(AT(at, "requiredDuringSchedulingIgnoredDuringExecution"), i),
                                       "labelSelector")));
    for (uint32_t i = 0; i < pod_count(preferred); i++)
        if (!IS_SET(GET(&preferred->items[i], WeightedPodAffinityTerm, podAffinityTerm), PodAffinityTerm, labelSelector))
            warnings_add(w->out, null_selector,
                         warn_path(w, AT(AT(AT_INDEX(AT(at, "preferredDuringSchedulingIgnoredDuringExecution"), i),
                                          "podAffinityTerm"), "labelSelector")));
}

/* ---- Annotations ---- */

static void warn_annotations(struct warn *w)
{
    static const struct {
        const char *key, *message;
    } old[] = {
        { "scheduler.alpha.kubernetes.io/critical-pod", "non-functional in v1.16+; use the \"priorityClassName\" field instead" },
        { "security.alpha.kubernetes.io/sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead" },
        { "security.alpha.kubernetes.io/unsafe-sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead" },
    };
    const struct value *annotations = META(w->meta, annotations);
    const struct field_path *path = AT(AT(w->at, "metadata"), "annotations");
    for (size_t i = 0; i < N_OF(old); i++)
        if (pod_has_entry(annotations, str_of(old[i].key)))
            warnings_add(w->out, "%s: %s", warn_path(w, AT_KEY(path, str_of(old[i].key))), old[i].message);
}

/* ---- Containers ---- */

static void warn_seccomp(struct warn *w, const char *key, const struct value *profile)
{
    if (profile->kind == VALUE_ABSENT && pod_has_entry(META(w->meta, annotations), str_of(key)))
        warnings_add(w->out, "%s: non-functional in v1.27+; use the \"seccompProfile\" field instead",
                     warn_path(w, AT_KEY(AT(AT(w->at, "metadata"), "annotations"), str_of(key))));
}

/* Of templates; a pod's annotations have become fields, and whoever did that has warned. */
static void warn_app_armor(struct warn *w, struct str container, const struct value *context)
{
    const char *key = arena_printf(w->arena, "container.apparmor.security.beta.kubernetes.io/%.*s", STR_ARG(container));
    const struct value *annotations = META(w->meta, annotations);
    const struct value *of_pod = GET(GET(w->spec, PodSpec, securityContext), PodSecurityContext, appArmorProfile);
    if (!w->at || IS_SET(context, SecurityContext, appArmorProfile) || !pod_has_entry(annotations, str_of(key)))
        return;
    struct value profile = pod_profile_of_annotation(w->arena, pod_entry(annotations, key));
    if (of_pod->kind == VALUE_ABSENT || !value_equal(of_pod, &profile))
        warnings_add(w->out, "%s: deprecated since v1.30; use the \"appArmorProfile\" field instead",
                     warn_path(w, AT_KEY(AT(AT(w->at, "metadata"), "annotations"), str_of(key))));
}

/* A variable that comes again is meant to if it builds on the one before. */
static bool hides(struct arena *a, const struct value *variable)
{
    struct str value = TEXT(variable, EnvVar, value);
    struct str ref = str_of(arena_printf(a, "$(%.*s)", STR_ARG(TEXT(variable, EnvVar, name))));
    return IS_SET(variable, EnvVar, valueFrom) || str_eq(value, ref) || value.n < ref.n ||
           !memmem(value.p, value.n, ref.p, ref.n);
}

static void warn_env(struct warn *w, const struct value *env, const struct field_path *at)
{
    struct map_str seen;
    map_str_init(&seen);
    for (uint32_t i = 0; i < pod_count(env); i++) {
        struct str name = TEXT(&env->items[i], EnvVar, name);
        if (!pod_add_new(&seen, name) && hides(w->arena, &env->items[i]))
            warnings_add(w->out, "%s: hides previous definition of %s, which may be dropped when using apply",
                         warn_path(w, AT_INDEX(at, i)), warn_quoted(w, name));
    }
    map_str_fini(&seen);
}

static void warn_container(void *with, const struct value *container, const struct field_path *at)
{
    struct warn *w = with;
    struct str name = TEXT(container, Container, name);
    const struct value *context = GET(container, Container, securityContext);
    const struct value *resources = GET(container, Container, resources);
    const struct value *limits = GET(resources, ResourceRequirements, limits);
    const struct value *requests = GET(resources, ResourceRequirements, requests);
    const struct field_path *path = AT(at, "resources");
    warn_seccomp(w, arena_printf(w->arena, "container.seccomp.security.alpha.kubernetes.io/%.*s", STR_ARG(name)),
                 GET(context, SecurityContext, seccompProfile));
    warn_app_armor(w, name, context);
    warn_fraction(w, limits, "memory", AT(path, "limits"));
    warn_fraction(w, requests, "memory", AT(path, "requests"));
    warn_fraction(w, limits, "ephemeral-storage", AT(path, "limits"));
    warn_fraction(w, requests, "ephemeral-storage", AT(path, "requests"));
    warn_env(w, GET(container, Container, env), AT(at, "env"));
}

/* ---- Ports ---- */

struct known_port {
    const struct value *port;
    const char *path;
};

/* Ports with the same number and protocol. */
struct known_ports {
    struct known_port *at;
    size_t n, cap;
};

struct ports {
    struct warn *w;
    struct map_str by_number; /* struct known_ports */
    struct map_str by_name;   /* path of the first */
};

static void warn_port_pair(struct warn *w, const struct value *port, const char *path, const struct known_port *other)
{
    struct str ip = TEXT(port, ContainerPort, hostIP), other_ip = TEXT(other->port, ContainerPort, hostIP);
    int64_t host = NUMBER(port, ContainerPort, hostPort), other_host = NUMBER(other->port, ContainerPort, hostPort);
    const char *what = NULL;
    if (str_eq(ip, other_ip) && host == other_host)
        what = "duplicate";
    else if (host == 0 || other_host == 0)
        what = "overlapping";
    else if (host == other_host && (ip.n == 0) != (other_ip.n == 0))
        what = "dangerously ambiguous";
    if (what)
        warnings_add(w->out, "%s: %s port definition with %s", path, what, other->path);
}

static void warn_port(struct ports *p, const struct value *port, const char *path)
{
    struct warn *w = p->w;
    struct str protocol = TEXT(port, ContainerPort, protocol);
    int64_t number = NUMBER(port, ContainerPort, containerPort);
    if (TEXT(port, ContainerPort, hostIP).n && NUMBER(port, ContainerPort, hostPort) == 0)
        warnings_add(w->out, "%s: hostIP set without hostPort: {Name:%.*s HostPort:0 ContainerPort:%lld Protocol:%.*s "
                     "HostIP:%.*s}", path, STR_ARG(TEXT(port, ContainerPort, name)), (long long)number, STR_ARG(protocol),
                     STR_ARG(TEXT(port, ContainerPort, hostIP)));
    struct str key = str_of(arena_printf(w->arena, "%lld/%.*s", (long long)number, STR_ARG(protocol)));
    bool is_new;
    union map_value *place = map_str_put(&p->by_number, key, &is_new);
    if (is_new)
        place->ptr = ARENA_NEW(w->arena, struct known_ports);
    struct known_ports *same = place->ptr;
    for (size_t i = 0; i < same->n && warn_may_compare(w); i++)
        warn_port_pair(w, port, path, &same->at[i]);
    same->at = arena_array_more(w->arena, same->at, same->n, &same->cap, sizeof(*same->at));
    same->at[same->n++] = (struct known_port){ port, path };
}

static void warn_ports_of(void *with, const struct value *container, const struct field_path *at)
{
    struct ports *p = with;
    const struct value *list = GET(container, Container, ports);
    for (uint32_t i = 0; i < pod_count(list); i++)
        warn_port(p, &list->items[i], warn_path(p->w, AT_INDEX(AT(at, "ports"), i)));
}

static void warn_port_names_of(void *with, const struct value *container, const struct field_path *at)
{
    struct ports *p = with;
    const struct value *list = GET(container, Container, ports);
    for (uint32_t i = 0; i < pod_count(list); i++) {
        struct str name = TEXT(&list->items[i], ContainerPort, name);
        const char *path = warn_path(p->w, AT_INDEX(AT(at, "ports"), i));
        bool is_new;
        if (!name.n)
            continue;
        union map_value *first = map_str_put(&p->by_name, name, &is_new);
        if (is_new)
            first->const_ptr = path;
        else
            warnings_add(p->w->out,
                         "%s: duplicate port name %s with %s, services and probes that select ports by name will use %s",
                         path, warn_quoted(p->w, name), (const char *)first->const_ptr, (const char *)first->const_ptr);
    }
}

static void warn_ports(struct warn *w, const struct field_path *at)
{
    struct ports p = { .w = w };
    map_str_init(&p.by_number);
    map_str_init(&p.by_name);
    pod_visit_containers(w->spec, at, warn_ports_of, &p);
    pod_visit_containers(w->spec, at, warn_port_names_of, &p);
    map_str_fini(&p.by_number);
    map_str_fini(&p.by_name);
}

/* ---- Lists of the spec ---- */

/* As util/validation.GetWarningsForIP: addresses that others may read otherwise. */
static void warn_ip(struct warn *w, struct str text, const struct field_path *at)
{
    struct ip_addr addr;
    char canonical[IP_TEXT_MAX];
    if (!ip_parse(text, &addr))
        return;
    ip_print(&addr, canonical);
    if (addr.leading_zeros || (ip_is_v4_mapped(&addr) && !addr.written_as_v4))
        warnings_add(w->out, "%s: non-standard IP address %s is invalid: use \"%s\"", warn_path(w, at),
                     warn_quoted(w, text), canonical);
    else if (!addr.written_as_v4 && !str_is(text, canonical))
        warnings_add(w->out, "%s: IPv6 address %s should be in RFC 5952 canonical format (\"%s\")", warn_path(w, at),
                     warn_quoted(w, text), canonical);
}

static void warn_aliases(struct warn *w, const struct field_path *at)
{
    const struct value *list = GET(w->spec, PodSpec, hostAliases);
    struct map_str seen;
    map_str_init(&seen);
    for (uint32_t i = 0; i < pod_count(list); i++) {
        struct str ip = TEXT(&list->items[i], HostAlias, ip);
        if (!pod_add_new(&seen, ip))
            warnings_add(w->out, "%s: duplicate ip %s", warn_path(w, AT(AT_INDEX(AT(at, "hostAliases"), i), "ip")),
                         warn_quoted(w, ip));
    }
    map_str_fini(&seen);
}

static void warn_pull_secrets(struct warn *w, const struct field_path *at)
{
    const struct value *list = GET(w->spec, PodSpec, imagePullSecrets);
    const struct field_path *path = AT(at, "imagePullSecrets");
    struct map_str seen;
    map_str_init(&seen);
    for (uint32_t i = 0; i < pod_count(list); i++) {
        struct str name = TEXT(&list->items[i], LocalObjectReference, name);
        if (!pod_add_new(&seen, name))
            warnings_add(w->out, "%s: duplicate name %s", warn_path(w, AT(AT_INDEX(path, i), "name")), warn_quoted(w, name));
    }
    for (uint32_t i = 0; i < pod_count(list); i++)
        if (!TEXT(&list->items[i], LocalObjectReference, name).n)
            warnings_add(w->out, "%s: invalid empty name \"\"", warn_path(w, AT(AT_INDEX(path, i), "name")));
    map_str_fini(&seen);
}

static void warn_addresses(struct warn *w, const struct field_path *at)
{
    const struct value *servers = GET(GET(w->spec, PodSpec, dnsConfig), PodDNSConfig, nameservers);
    const struct value *aliases = GET(w->spec, PodSpec, hostAliases);
    for (uint32_t i = 0; i < pod_count(servers); i++)
        warn_ip(w, value_text(&servers->items[i]), AT_INDEX(AT(AT(at, "dnsConfig"), "nameservers"), i));
    for (uint32_t i = 0; i < pod_count(aliases); i++)
        warn_ip(w, TEXT(&aliases->items[i], HostAlias, ip), AT(AT_INDEX(AT(at, "hostAliases"), i), "ip"));
}

/* ---- All of it ---- */

static void warn_spec(struct warn *w)
{
    const struct field_path *at = AT(w->at, "spec"), *affinity_at = AT(at, "affinity");
    const struct value *overhead = GET(w->spec, PodSpec, overhead), *affinity = GET(w->spec, PodSpec, affinity);
    warn_nodes(w, at);
    warn_spread(w, at);
    warn_annotations(w);
    warn_volumes(w, at);
    warn_aliases(w, at);
    warn_pull_secrets(w, at);
    warn_fraction(w, overhead, "memory", AT(at, "overhead"));
    warn_fraction(w, overhead, "ephemeral-storage", AT(at, "overhead"));
    warn_seccomp(w, "seccomp.security.alpha.kubernetes.io/pod",
                 GET(GET(w->spec, PodSpec, securityContext), PodSecurityContext, seccompProfile));
    pod_visit_containers(w->spec, at, warn_container, w);
    warn_ports(w, at);
    if (NUMBER(w->spec, PodSpec, terminationGracePeriodSeconds) < 0)
        warnings_add(w->out, "%s: must be >= 0; negative values are invalid and will be treated as 1",
                     warn_path(w, AT(at, "terminationGracePeriodSeconds")));
    warn_pod_terms(w, GET(affinity, Affinity, podAffinity), AT(affinity_at, "podAffinity"));
    warn_pod_terms(w, GET(affinity, Affinity, podAntiAffinity), AT(affinity_at, "podAntiAffinity"));
    warn_addresses(w, at);
}

void rules_warn_pod_template(const struct rules_context *c, const struct value *template, const struct field_path *at)
{
    struct warn w = { .out = c->warnings, .arena = c->arena, .spec = GET(template, PodTemplateSpec, spec),
                      .meta = GET(template, PodTemplateSpec, metadata), .at = at };
    if (template->kind == VALUE_STRUCT)
        warn_spec(&w);
}

/* Of new pods alone: people seldom write to others. */
void pod_warn(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct warn w = { .out = c->warnings, .arena = c->arena, .spec = GET(new, Pod, spec), .meta = GET(new, Pod, metadata) };
    if (old)
        return;
    struct name_errors found = name_dns1123_label(value_text(META(w.meta, name)));
    if (found.n)
        warnings_add(c->warnings, "metadata.name: this is used in the Pod's hostname, which can result in surprising "
                     "behavior; a DNS label is recommended: [%.*s]", STR_ARG(validate_join(c->arena, found, " ")));
    warn_spec(&w);
}

void pod_warn_status(const struct rules_context *c, const struct value *new, const struct value *old)
{
    const struct value *status = GET(new, Pod, status);
    const struct value *pod_ips = GET(status, PodStatus, podIPs), *host_ips = GET(status, PodStatus, hostIPs);
    const struct field_path *at = AT(NULL, "status");
    struct warn w = { .out = c->warnings, .arena = c->arena };
    (void)old;
    for (uint32_t i = 0; i < pod_count(pod_ips); i++)
        warn_ip(&w, TEXT(&pod_ips->items[i], PodIP, ip), AT(AT_INDEX(AT(at, "podIPs"), i), "ip"));
    for (uint32_t i = 0; i < pod_count(host_ips); i++)
        warn_ip(&w, TEXT(&host_ips->items[i], HostIP, ip), AT(AT_INDEX(AT(at, "hostIPs"), i), "ip"));
}
