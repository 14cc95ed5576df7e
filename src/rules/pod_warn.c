/* rules/pod_warn.c - see pod_priv.h: what a user of a pod spec is warned of.
 *
 * Paths of a template begin with `at`; those of a pod with "spec" and "metadata" (`at` is NULL). What is compared with
 * everything before it is bounded by WARN_COMPARISONS_MAX for a whole object: then nothing more is looked for. */
#include "api/netaddr.h"
#include "base/arena_array.h"
#include "rules/pod_priv.h"

enum { WARN_COMPARISONS_MAX = 1 << 17 };

struct warn {
    struct warnings *out;
    struct arena *arena;
    const struct value *spec, *meta;
    const struct field_path *at;
    uint32_t n_comparisons;
};

static bool may_compare(struct warn *w)
{
    return w->n_comparisons < WARN_COMPARISONS_MAX && ++w->n_comparisons;
}

static const char *text_of(struct warn *w, const struct field_path *path)
{
    return arena_cstr(w->arena, field_path_text(w->arena, path));
}

static const char *quoted(struct arena *a, struct str text)
{
    struct strbuf out;
    strbuf_init(&out, STRBUF_NO_MAX);
    strbuf_add_quoted_shown(&out, text);
    return arena_cstr(a, field_take_text(a, &out));
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
            warnings_add(w->out, "%s: %.*s is %s", text_of(w, AT(path, "key")), STR_ARG(key), message);
        for (uint32_t v = 0; values_too && v < pod_count(values); v++) {
            struct str value = value_text(&values->items[v]);
            struct name_errors found = name_label_value(value);
            for (size_t e = 0; e < found.n; e++)
                warnings_add(w->out, "%s: %.*s is invalid, %s", text_of(w, AT_INDEX(AT(path, "values"), v)), STR_ARG(value),
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
            warnings_add(w->out, "%s: %s", text_of(w, AT_KEY(AT(at, "nodeSelector"), selector->members[i].key)), message);
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
            warnings_add(w->out, "%s: %.*s is %s", text_of(w, AT(path, "topologyKey")), STR_ARG(key), message);
        if (!IS_SET(&list->items[i], TopologySpreadConstraint, labelSelector))
            warnings_add(w->out, "%s: a null labelSelector results in matching no pod",
                         text_of(w, AT(path, "labelSelector")));
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
                         text_of(w, AT(AT_INDEX(AT(at, "requiredDuringSchedulingIgnoredDuringExecution"), i),
                                       "labelSelector")));
    for (uint32_t i = 0; i < pod_count(preferred); i++)
        if (!IS_SET(GET(&preferred->items[i], WeightedPodAffinityTerm, podAffinityTerm), PodAffinityTerm, labelSelector))
            warnings_add(w->out, null_selector,
                         text_of(w, AT(AT(AT_INDEX(AT(at, "preferredDuringSchedulingIgnoredDuringExecution"), i),
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
            warnings_add(w->out, "%s: %s", text_of(w, AT_KEY(path, str_of(old[i].key))), old[i].message);
}

/* ---- Volumes ---- */

static void warn_fraction(struct warn *w, const struct value *amounts, const char *resource, const struct field_path *at)
{
    struct str text = pod_entry(amounts, resource);
    struct quantity amount = pod_amount(w->arena, text);
    if (text.n && quantity_milli(&amount) % 1000 != 0)
        warnings_add(w->out, "%s: fractional byte value %s is invalid, must be an integer",
                     text_of(w, AT_KEY(at, str_of(resource))), quoted(w->arena, text));
}

static void warn_claim_template(struct warn *w, const struct value *volume, const struct field_path *at)
{
    const struct value *template = GET(GET(volume, Volume, ephemeral), EphemeralVolumeSource, volumeClaimTemplate);
    const struct value *spec = GET(template, PersistentVolumeClaimTemplate, spec);
    const struct value *resources = GET(spec, PersistentVolumeClaimSpec, resources);
    const struct field_path *path = AT(AT(AT(AT(at, "ephemeral"), "volumeClaimTemplate"), "spec"), "resources");
    warn_fraction(w, GET(resources, VolumeResourceRequirements, requests), "storage", AT(path, "requests"));
    warn_fraction(w, GET(resources, VolumeResourceRequirements, limits), "storage", AT(path, "limits"));
}

static void warn_volumes(struct warn *w, const struct field_path *at)
{
    static const struct {
        unsigned slot;
        const char *name, *message; /* no message: the template of a claim */
    } sources[] = {
        { SLOT_core_v1_Volume_photonPersistentDisk, "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+" },
        { SLOT_core_v1_Volume_gitRepo, "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+" },
        { SLOT_core_v1_Volume_scaleIO, "scaleIO", "deprecated in v1.16, non-functional in v1.22+" },
        { SLOT_core_v1_Volume_flocker, "flocker", "deprecated in v1.22, non-functional in v1.25+" },
        { SLOT_core_v1_Volume_storageos, "storageOS", "deprecated in v1.22, non-functional in v1.25+" },
        { SLOT_core_v1_Volume_quobyte, "quobyte", "deprecated in v1.22, non-functional in v1.25+" },
        { SLOT_core_v1_Volume_glusterfs, "glusterfs", "deprecated in v1.25, non-functional in v1.26+" },
        { SLOT_core_v1_Volume_ephemeral, "ephemeral", NULL },
        { SLOT_core_v1_Volume_cephfs, "cephfs", "deprecated in v1.28, non-functional in v1.31+" },
        { SLOT_core_v1_Volume_rbd, "rbd", "deprecated in v1.28, non-functional in v1.31+" },
    };
    const struct value *list = GET(w->spec, PodSpec, volumes);
    for (uint32_t i = 0; i < pod_count(list); i++) {
        const struct field_path *path = AT_INDEX(AT(at, "volumes"), i);
        for (size_t s = 0; s < N_OF(sources); s++) {
            if (value_slot(&list->items[i], sources[s].slot)->kind == VALUE_ABSENT)
                continue;
            if (sources[s].message)
                warnings_add(w->out, "%s: %s", text_of(w, AT_NAME(path, sources[s].name)), sources[s].message);
            else
                warn_claim_template(w, &list->items[i], path);
        }
    }
}

/* ---- Files that would hide each other ---- */

struct file {
    struct str path;
    const char *source; /* NULL: there is only one */
};

/* Files of a volume, in the order in which they are made. */
struct files {
    struct warn *w;
    struct str volume;
    const char *kind; /* "Projected" */
    struct file *at;
    uint32_t n, cap;
};

static bool covers(struct str path, struct str other)
{
    return str_starts(other, path) && (other.n == path.n || other.p[path.n] == '/');
}

static const char *file_text(struct arena *a, const struct file *f)
{
    const char *path = quoted(a, f->path);
    return f->source ? arena_printf(a, "%s (%s)", path, f->source) : path;
}

static void add_file(struct files *files, struct str path, const char *source)
{
    struct warn *w = files->w;
    while (str_ends(path, STR("/")))
        path = str_first(path, path.n - 1);
    struct file file = { path, source };
    for (uint32_t i = 0; path.n && i < files->n && may_compare(w); i++) {
        const struct file *other = &files->at[i];
        if (other->path.n && (covers(path, other->path) || covers(other->path, path)))
            warnings_add(w->out, "volume %s (%s): overlapping paths: %s with %s", quoted(w->arena, files->volume),
                         files->kind, file_text(w->arena, &file), file_text(w->arena, other));
    }
    if (files->n < files->cap)
        files->at[files->n++] = file;
}

static void add_keys(struct files *files, const struct value *items, const char *source)
{
    for (uint32_t i = 0; i < pod_count(items); i++)
        add_file(files, TEXT(&items->items[i], KeyToPath, path), source);
}

static void add_fields(struct files *files, const struct value *items, const char *source)
{
    for (uint32_t i = 0; i < pod_count(items); i++)
        add_file(files, TEXT(&items->items[i], DownwardAPIVolumeFile, path), source);
}

static struct files files_of(struct warn *w, const struct value *volume, const char *kind, uint32_t cap)
{
    return (struct files){ w, TEXT(volume, Volume, name), kind, ARENA_NEW_N(w->arena, struct file, cap), 0, cap };
}

static const char *named(struct warn *w, const char *kind, struct str name)
{
    return arena_printf(w->arena, "%s %s", kind, quoted(w->arena, name));
}

/* How many files a source may make. */
static uint32_t count_files(const struct value *source)
{
    return pod_count(GET(GET(source, VolumeProjection, configMap), ConfigMapProjection, items)) +
           pod_count(GET(GET(source, VolumeProjection, secret), SecretProjection, items)) +
           pod_count(GET(GET(source, VolumeProjection, downwardAPI), DownwardAPIProjection, items)) + 1;
}

static void add_projection(struct files *files, const struct value *source)
{
    const struct value *map = GET(source, VolumeProjection, configMap), *secret = GET(source, VolumeProjection, secret);
    const struct value *fields = GET(source, VolumeProjection, downwardAPI);
    const struct value *token = GET(source, VolumeProjection, serviceAccountToken);
    bool any = map->kind != VALUE_ABSENT || secret->kind != VALUE_ABSENT || fields->kind != VALUE_ABSENT ||
               token->kind != VALUE_ABSENT;
    if (!any)
        warnings_add(files->w->out, "volume %s (Projected) has no sources provided", quoted(files->w->arena, files->volume));
    else if (IS_SET(map, ConfigMapProjection, items))
        add_keys(files, GET(map, ConfigMapProjection, items),
                 named(files->w, "ConfigMap", TEXT(map, ConfigMapProjection, name)));
    else if (IS_SET(secret, SecretProjection, items))
        add_keys(files, GET(secret, SecretProjection, items),
                 named(files->w, "Secret", TEXT(secret, SecretProjection, name)));
    else if (IS_SET(fields, DownwardAPIProjection, items))
        add_fields(files, GET(fields, DownwardAPIProjection, items), "DownwardAPI");
    else if (token->kind != VALUE_ABSENT)
        add_file(files, TEXT(token, ServiceAccountTokenProjection, path), "ServiceAccountToken");
}

static void warn_projected(struct warn *w, const struct value *volume)
{
    const struct value *sources = GET(GET(volume, Volume, projected), ProjectedVolumeSource, sources);
    uint32_t n = 0;
    for (uint32_t i = 0; i < pod_count(sources); i++)
        n += count_files(&sources->items[i]);
    struct files files = files_of(w, volume, "Projected", n);
    for (uint32_t i = 0; i < pod_count(sources); i++)
        add_projection(&files, &sources->items[i]);
}

static void warn_overlaps(struct warn *w, const struct value *volume)
{
    const struct value *map = GET(volume, Volume, configMap), *secret = GET(volume, Volume, secret);
    const struct value *keys = GET(map, ConfigMapVolumeSource, items), *secrets = GET(secret, SecretVolumeSource, items);
    const struct value *fields = GET(GET(volume, Volume, downwardAPI), DownwardAPIVolumeSource, items);
    struct files files = files_of(w, volume, named(w, "ConfigMap", TEXT(map, ConfigMapVolumeSource, name)), pod_count(keys));
    add_keys(&files, keys, NULL);
    files = files_of(w, volume, named(w, "Secret", TEXT(secret, SecretVolumeSource, secretName)), pod_count(secrets));
    add_keys(&files, secrets, NULL);
    files = files_of(w, volume, "DownwardAPI", pod_count(fields));
    add_fields(&files, fields, NULL);
    warn_projected(w, volume);
}

/* ---- Containers ---- */

static void warn_seccomp(struct warn *w, const char *key, const struct value *profile)
{
    if (profile->kind == VALUE_ABSENT && pod_has_entry(META(w->meta, annotations), str_of(key)))
        warnings_add(w->out, "%s: non-functional in v1.27+; use the \"seccompProfile\" field instead",
                     text_of(w, AT_KEY(AT(AT(w->at, "metadata"), "annotations"), str_of(key))));
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
                     text_of(w, AT_KEY(AT(AT(w->at, "metadata"), "annotations"), str_of(key))));
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
                         text_of(w, AT_INDEX(at, i)), quoted(w->arena, name));
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
    for (size_t i = 0; i < same->n && may_compare(w); i++)
        warn_port_pair(w, port, path, &same->at[i]);
    same->at = arena_array_more(w->arena, same->at, same->n, &same->cap, sizeof(*same->at));
    same->at[same->n++] = (struct known_port){ port, path };
}

static void warn_ports_of(void *with, const struct value *container, const struct field_path *at)
{
    struct ports *p = with;
    const struct value *list = GET(container, Container, ports);
    for (uint32_t i = 0; i < pod_count(list); i++)
        warn_port(p, &list->items[i], text_of(p->w, AT_INDEX(AT(at, "ports"), i)));
}

static void warn_port_names_of(void *with, const struct value *container, const struct field_path *at)
{
    struct ports *p = with;
    const struct value *list = GET(container, Container, ports);
    for (uint32_t i = 0; i < pod_count(list); i++) {
        struct str name = TEXT(&list->items[i], ContainerPort, name);
        const char *path = text_of(p->w, AT_INDEX(AT(at, "ports"), i));
        bool is_new;
        if (!name.n)
            continue;
        union map_value *first = map_str_put(&p->by_name, name, &is_new);
        if (is_new)
            first->const_ptr = path;
        else
            warnings_add(p->w->out,
                         "%s: duplicate port name %s with %s, services and probes that select ports by name will use %s",
                         path, quoted(p->w->arena, name), (const char *)first->const_ptr, (const char *)first->const_ptr);
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
        warnings_add(w->out, "%s: non-standard IP address %s is invalid: use \"%s\"", text_of(w, at),
                     quoted(w->arena, text), canonical);
    else if (!addr.written_as_v4 && !str_is(text, canonical))
        warnings_add(w->out, "%s: IPv6 address %s should be in RFC 5952 canonical format (\"%s\")", text_of(w, at),
                     quoted(w->arena, text), canonical);
}

static void warn_aliases(struct warn *w, const struct field_path *at)
{
    const struct value *list = GET(w->spec, PodSpec, hostAliases);
    struct map_str seen;
    map_str_init(&seen);
    for (uint32_t i = 0; i < pod_count(list); i++) {
        struct str ip = TEXT(&list->items[i], HostAlias, ip);
        if (!pod_add_new(&seen, ip))
            warnings_add(w->out, "%s: duplicate ip %s", text_of(w, AT(AT_INDEX(AT(at, "hostAliases"), i), "ip")),
                         quoted(w->arena, ip));
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
            warnings_add(w->out, "%s: duplicate name %s", text_of(w, AT(AT_INDEX(path, i), "name")), quoted(w->arena, name));
    }
    for (uint32_t i = 0; i < pod_count(list); i++)
        if (!TEXT(&list->items[i], LocalObjectReference, name).n)
            warnings_add(w->out, "%s: invalid empty name \"\"", text_of(w, AT(AT_INDEX(path, i), "name")));
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
    const struct value *volumes = GET(w->spec, PodSpec, volumes), *overhead = GET(w->spec, PodSpec, overhead);
    const struct value *affinity = GET(w->spec, PodSpec, affinity);
    warn_nodes(w, at);
    warn_spread(w, at);
    warn_annotations(w);
    warn_volumes(w, at);
    for (uint32_t i = 0; i < pod_count(volumes); i++)
        warn_overlaps(w, &volumes->items[i]);
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
                     text_of(w, AT(at, "terminationGracePeriodSeconds")));
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
