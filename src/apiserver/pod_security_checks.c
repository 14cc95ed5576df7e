/* apiserver/pod_security_checks.c - the checks of the Pod Security Standards, and since when they count. */
#include "apiserver/pod_security_priv.h"

static const struct value *of_spec(const struct security_pod *p, const char *path)
{
    return value_path(schema_type(STR("core/v1.PodSpec")), p->spec, path);
}

static const struct value *of_container(const struct container *c, const char *path)
{
    return value_path(c->type, c->value, path);
}

static struct str name_of(const struct container *c)
{
    return value_text(of_container(c, "name"));
}

__attribute__((format(printf, 3, 4))) static bool refuse(struct security_pod *p, const char *reason, const char *format,
                                                         ...)
{
    va_list args;
    va_start(args, format);
    p->reason = reason;
    p->detail = arena_vprintf(p->arena, format, args);
    va_end(args);
    return false;
}

/* `"a", "b"` */
static const char *quoted(const struct text_list *texts)
{
    return text_list_join(texts, "\"", ", ");
}

static const char *one_or_more(const char *one, const char *more, size_t n)
{
    return n == 1 ? one : more;
}

/* `containers "a", "b"` */
static const char *shown(const struct text_list *containers)
{
    return arena_printf(containers->arena, "%s %s", one_or_more("container", "containers", containers->n),
                        quoted(containers));
}

/* Windows knows none of what some checks are about, which they take into account since v1.25. */
static bool is_windows(const struct security_pod *p)
{
    return p->minor >= 25 && str_is(value_text(of_spec(p, "os.name")), "windows");
}

/* Whoever is root in a user namespace is nobody outside: counts since v1.35. */
static bool has_user_namespace(const struct security_pod *p)
{
    const struct value *host = of_spec(p, "hostUsers");
    return p->minor >= 35 && host->kind == VALUE_BOOL && !host->b;
}

/* Who set something that is not allowed: the pod, containers, or both; and which values. */
struct setters {
    bool pod;
    struct text_list containers, values;
};

/* `pod and container "c"` */
static const char *setters_shown(const struct setters *s)
{
    if (!s->containers.n)
        return "pod";
    return arena_printf(s->containers.arena, "%s%s", s->pod ? "pod and " : "", shown(&s->containers));
}

/* All that set the text at `path`, of the pod's or a container's securityContext, to something that `allowed` is
 * not. */
static struct setters find_setters(const struct security_pod *p, const char *path, bool (*allowed)(struct str value))
{
    struct setters s = { false, { p->arena }, { p->arena } };
    const char *in_context = arena_printf(p->arena, "securityContext.%s", path);
    const struct value *own = of_spec(p, in_context);
    if (own->kind == VALUE_STRING && !allowed(value_text(own))) {
        s.pod = true;
        text_list_add(&s.values, value_text(own));
    }
    for (size_t i = 0; i < p->n_containers; i++) {
        const struct value *v = of_container(&p->containers[i], in_context);
        if (v->kind != VALUE_STRING || allowed(value_text(v)))
            continue;
        text_list_add(&s.containers, name_of(&p->containers[i]));
        text_list_add(&s.values, value_text(v));
    }
    text_list_sort(&s.values);
    return s;
}

static bool is_one_of(struct str text, const char *const *words)
{
    for (; *words; words++)
        if (str_is(text, *words))
            return true;
    return false;
}

/* ---- Baseline ---- */

static bool app_armor_type_allowed(struct str type)
{
    return str_is(type, "RuntimeDefault") || str_is(type, "Localhost");
}

static struct str annotation_shown(struct arena *a, const struct member *m)
{
    struct strbuf text;
    strbuf_init(&text, ERR_MESSAGE_BYTES_MAX);
    strbuf_add_str(&text, m->key);
    strbuf_add_char(&text, '=');
    strbuf_add_quoted(&text, value_text(&m->value));
    struct str shown_text = arena_str(a, strbuf_str(&text));
    strbuf_fini(&text);
    return shown_text;
}

static struct text_list app_armor_annotations(const struct security_pod *p)
{
    struct text_list bad = { p->arena };
    const struct value *map = value_path(schema_type(STR("meta/v1.ObjectMeta")), p->meta, "annotations");
    for (uint32_t i = 0; map->kind == VALUE_MAP && i < map->n; i++) {
        struct str profile = value_text(&map->members[i].value);
        bool allowed = !profile.n || str_is(profile, "runtime/default") || str_starts(profile, STR("localhost/"));
        if (!allowed && str_starts(map->members[i].key, STR("container.apparmor.security.beta.kubernetes.io/")))
            text_list_add(&bad, annotation_shown(p->arena, &map->members[i]));
    }
    text_list_sort(&bad);
    return bad;
}

static bool app_armor(struct security_pod *p)
{
    struct setters s = find_setters(p, "appArmorProfile.type", app_armor_type_allowed);
    struct text_list annotations = app_armor_annotations(p);
    bool set = s.pod || s.containers.n;
    if (!set && !annotations.n)
        return true;
    for (size_t i = 0; i < annotations.n; i++)
        text_list_add(&s.values, annotations.at[i]);
    const char *who = arena_printf(p->arena, "%s%s%s", set ? setters_shown(&s) : "", set &&
                                   annotations.n ? " and " : "",
                                   annotations.n ? one_or_more("annotation", "annotations", annotations.n) : "");
    return refuse(p, one_or_more("forbidden AppArmor profile", "forbidden AppArmor profiles", s.values.n),
                  "%s must not set AppArmor profile type to %s", who, quoted(&s.values));
}

static bool baseline_capabilities(struct security_pod *p)
{
    static const char *const allowed[] = { "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD",
                                           "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT", NULL };
    struct text_list bad = { p->arena }, added = { p->arena };
    for (size_t i = 0; i < p->n_containers; i++) {
        size_t before = added.n;
        EACH_ITEM(c, of_container(&p->containers[i], "securityContext.capabilities.add"))
            if (!is_one_of(value_text(c), allowed))
                text_list_add(&added, value_text(c));
        if (added.n > before)
            text_list_add(&bad, name_of(&p->containers[i]));
    }
    if (!bad.n)
        return true;
    text_list_sort(&added);
    return refuse(p, "non-default capabilities", "%s must not include %s in securityContext.capabilities.add",
                  shown(&bad), quoted(&added));
}

static bool host_namespaces(struct security_pod *p)
{
    static const char *const fields[] = { "hostNetwork", "hostPID", "hostIPC" };
    struct text_list set = { p->arena };
    for (size_t i = 0; i < 3; i++)
        if (of_spec(p, fields[i])->b)
            text_list_add(&set, str_of(arena_printf(p->arena, "%s=true", fields[i])));
    return !set.n ||
           refuse(p, "host namespaces", "%s", text_list_join(&set, "", ", "));
}

static bool host_path_volumes(struct security_pod *p)
{
    const struct type *t = schema_type(STR("core/v1.Volume"));
    struct text_list bad = { p->arena };
    EACH_ITEM(volume, of_spec(p, "volumes"))
        if (value_path(t, volume, "hostPath")->kind == VALUE_STRUCT)
            text_list_add(&bad, value_text(value_path(t, volume, "name")));
    return !bad.n ||
           refuse(p, "hostPath volumes", "%s %s", one_or_more("volume", "volumes", bad.n), quoted(&bad));
}

static bool host_ports(struct security_pod *p)
{
    const struct type *t = schema_type(STR("core/v1.ContainerPort"));
    struct text_list bad = { p->arena }, ports = { p->arena };
    for (size_t i = 0; i < p->n_containers; i++) {
        size_t before = ports.n;
        EACH_ITEM(port, of_container(&p->containers[i], "ports")) {
            int64_t number = value_path(t, port, "hostPort")->i;
            if (number)
                text_list_add(&ports, str_of(arena_printf(p->arena, "%lld", (long long)number)));
        }
        if (ports.n > before)
            text_list_add(&bad, name_of(&p->containers[i]));
    }
    if (!bad.n)
        return true;
    text_list_sort(&ports);
    return refuse(p, "hostPort", "%s %s %s %s", shown(&bad), one_or_more("uses", "use", bad.n),
                  one_or_more("hostPort", "hostPorts", ports.n), text_list_join(&ports, "", ", "));
}

static bool other_hosts(struct security_pod *p)
{
    static const char *const paths[] = {
        "livenessProbe.httpGet.host",  "livenessProbe.tcpSocket.host",       "readinessProbe.httpGet.host",
        "readinessProbe.tcpSocket.host", "startupProbe.httpGet.host",        "startupProbe.tcpSocket.host",
        "lifecycle.postStart.httpGet.host", "lifecycle.postStart.tcpSocket.host", "lifecycle.preStop.httpGet.host",
        "lifecycle.preStop.tcpSocket.host",
    };
    struct text_list bad = { p->arena }, hosts = { p->arena };
    for (size_t i = 0; i < p->n_containers; i++)
        for (size_t k = 0; k < sizeof(paths) / sizeof(paths[0]); k++) {
            struct str host = value_text(of_container(&p->containers[i], paths[k]));
            if (!host.n)
                continue;
            text_list_add(&bad, name_of(&p->containers[i]));
            text_list_add(&hosts, host);
        }
    if (!bad.n)
        return true;
    text_list_sort(&bad);
    text_list_sort(&hosts);
    return refuse(p, "probe or lifecycle host", "%s %s %s %s", shown(&bad), one_or_more("uses", "use", bad.n),
                  one_or_more("probe or lifecycle host", "probe or lifecycle hosts", hosts.n), quoted(&hosts));
}

static bool privileged(struct security_pod *p)
{
    struct text_list bad = { p->arena };
    for (size_t i = 0; i < p->n_containers; i++)
        if (of_container(&p->containers[i], "securityContext.privileged")->b)
            text_list_add(&bad, name_of(&p->containers[i]));
    return !bad.n ||
           refuse(p, "privileged", "%s must not set securityContext.privileged=true", shown(&bad));
}

static bool proc_mount_allowed(struct str type)
{
    return str_is(type, "Default");
}

static bool proc_mount(struct security_pod *p)
{
    struct setters s = find_setters(p, "procMount", proc_mount_allowed);
    return !s.containers.n ||
           refuse(p, "procMount", "%s must not set securityContext.procMount to %s", shown(&s.containers),
                  quoted(&s.values));
}

static bool proc_mount_in_host(struct security_pod *p)
{
    return has_user_namespace(p) || proc_mount(p);
}

/* Types of SELinux options that are wrong, and whether any say who they are. */
struct selinux {
    int minor;
    struct text_list types;
    bool user, role;
};

static bool selinux_type_allowed(struct str type, int minor)
{
    static const char *const allowed[] = { "", "container_t", "container_init_t", "container_kvm_t", NULL };
    return is_one_of(type, allowed) || (minor >= 31 && str_is(type, "container_engine_t"));
}

static bool selinux_allowed(struct selinux *s, const struct value *options)
{
    const struct type *t = schema_type(STR("core/v1.SELinuxOptions"));
    if (options->kind != VALUE_STRUCT)
        return true;
    struct str type = value_text(value_path(t, options, "type"));
    bool wrong = !selinux_type_allowed(type, s->minor);
    bool user = value_text(value_path(t, options, "user")).n, role = value_text(value_path(t, options, "role")).n;
    if (wrong)
        text_list_add(&s->types, type);
    s->user |= user;
    s->role |= role;
    return !wrong && !user && !role;
}

static bool selinux(struct security_pod *p)
{
    struct selinux s = { .minor = p->minor, .types = { p->arena } };
    struct setters who = { .containers = { p->arena } };
    who.pod = !selinux_allowed(&s, of_spec(p, "securityContext.seLinuxOptions"));
    for (size_t i = 0; i < p->n_containers; i++)
        if (!selinux_allowed(&s, of_container(&p->containers[i], "securityContext.seLinuxOptions")))
            text_list_add(&who.containers, name_of(&p->containers[i]));
    if (!who.pod && !who.containers.n)
        return true;
    struct text_list what = { p->arena };
    text_list_sort(&s.types);
    if (s.types.n)
        text_list_add(&what, str_of(arena_printf(p->arena, "%s %s", one_or_more("type", "types", s.types.n),
                                             quoted(&s.types))));
    if (s.user)
        text_list_add(&what, STR("user may not be set"));
    if (s.role)
        text_list_add(&what, STR("role may not be set"));
    return refuse(p, "seLinuxOptions", "%s set forbidden securityContext.seLinuxOptions: %s", setters_shown(&who),
                  text_list_join(&what, "", "; "));
}

/* Before there was a field: of the pod, and one for each container. */
static bool seccomp_annotations(struct security_pod *p)
{
    const struct value *map = value_path(schema_type(STR("meta/v1.ObjectMeta")), p->meta, "annotations");
    struct text_list bad = { p->arena }, keys = { p->arena };
    text_list_add(&keys, STR("seccomp.security.alpha.kubernetes.io/pod"));
    for (size_t i = 0; i < p->n_containers; i++)
        text_list_add(&keys, str_of(arena_printf(p->arena, "container.seccomp.security.alpha.kubernetes.io/%.*s",
                                             STR_ARG(name_of(&p->containers[i])))));
    for (size_t i = 0; i < keys.n; i++) {
        const struct value *v = value_member(map, keys.at[i]);
        struct str profile = v ? value_text(v) : STR("");
        if (v && !str_is(profile, "runtime/default") && !str_is(profile, "docker/default") &&
            !str_starts(profile, STR("localhost/")))
            text_list_add(&bad, annotation_shown(p->arena, &(struct member){ keys.at[i], *v }));
    }
    text_list_sort(&bad);
    return !bad.n ||
           refuse(p, "seccompProfile", "forbidden %s %s", one_or_more("annotation", "annotations", bad.n),
                  text_list_join(&bad, "", ", "));
}

static bool seccomp_allowed(struct str type)
{
    return str_is(type, "Localhost") || str_is(type, "RuntimeDefault");
}

static bool seccomp(struct security_pod *p)
{
    if (p->minor < 19)
        return seccomp_annotations(p);
    struct setters s = find_setters(p, "seccompProfile.type", seccomp_allowed);
    return (!s.pod && !s.containers.n) ||
           refuse(p, "seccompProfile", "%s must not set securityContext.seccompProfile.type to %s", setters_shown(&s),
                  quoted(&s.values));
}

/* Names that are safe, with the release that said so. */
static const struct {
    const char *name;
    int from;
} safe_sysctls[] = {
    { "kernel.shm_rmid_forced", 0 },
    { "net.ipv4.ip_local_port_range", 0 },
    { "net.ipv4.tcp_syncookies", 0 },
    { "net.ipv4.ping_group_range", 0 },
    { "net.ipv4.ip_unprivileged_port_start", 0 },
    { "net.ipv4.ip_local_reserved_ports", 27 },
    { "net.ipv4.tcp_keepalive_time", 29 },
    { "net.ipv4.tcp_fin_timeout", 29 },
    { "net.ipv4.tcp_keepalive_intvl", 29 },
    { "net.ipv4.tcp_keepalive_probes", 29 },
    { "net.ipv4.tcp_rmem", 32 },
    { "net.ipv4.tcp_wmem", 32 },
};

static bool is_safe(struct str sysctl, int minor)
{
    for (size_t i = 0; i < sizeof(safe_sysctls) / sizeof(safe_sysctls[0]); i++)
        if (safe_sysctls[i].from <= minor && str_is(sysctl, safe_sysctls[i].name))
            return true;
    return false;
}

static bool sysctls(struct security_pod *p)
{
    struct text_list bad = { p->arena };
    EACH_ITEM(sysctl, of_spec(p, "securityContext.sysctls")) {
        struct str name = value_text(value_path(schema_type(STR("core/v1.Sysctl")), sysctl, "name"));
        if (!is_safe(name, p->minor))
            text_list_add(&bad, name);
    }
    return !bad.n ||
           refuse(p, "forbidden sysctls", "%s", text_list_join(&bad, "", ", "));
}

static bool windows_host_process(struct security_pod *p)
{
    struct setters s = { .containers = { p->arena } };
    s.pod = of_spec(p, "securityContext.windowsOptions.hostProcess")->b;
    for (size_t i = 0; i < p->n_containers; i++)
        if (of_container(&p->containers[i], "securityContext.windowsOptions.hostProcess")->b)
            text_list_add(&s.containers, name_of(&p->containers[i]));
    return (!s.pod && !s.containers.n) ||
           refuse(p, "hostProcess", "%s must not set securityContext.windowsOptions.hostProcess=true",
                  setters_shown(&s));
}

/* ---- Restricted ---- */

static bool privilege_escalation(struct security_pod *p)
{
    struct text_list bad = { p->arena };
    for (size_t i = 0; !is_windows(p) && i < p->n_containers; i++) {
        const struct value *v = of_container(&p->containers[i], "securityContext.allowPrivilegeEscalation");
        if (v->kind != VALUE_BOOL || v->b)
            text_list_add(&bad, name_of(&p->containers[i]));
    }
    return !bad.n ||
           refuse(p, "allowPrivilegeEscalation != false", "%s must set securityContext.allowPrivilegeEscalation=false",
                  shown(&bad));
}

static bool drops_all(const struct container *c)
{
    EACH_ITEM(dropped, of_container(c, "securityContext.capabilities.drop"))
        if (str_is(value_text(dropped), "ALL"))
            return true;
    return false;
}

static bool restricted_capabilities(struct security_pod *p)
{
    struct text_list keeping = { p->arena }, adding = { p->arena }, added = { p->arena };
    for (size_t i = 0; !is_windows(p) && i < p->n_containers; i++) {
        size_t before = added.n;
        if (!drops_all(&p->containers[i]))
            text_list_add(&keeping, name_of(&p->containers[i]));
        EACH_ITEM(c, of_container(&p->containers[i], "securityContext.capabilities.add"))
            if (!str_is(value_text(c), "NET_BIND_SERVICE"))
                text_list_add(&added, value_text(c));
        if (added.n > before)
            text_list_add(&adding, name_of(&p->containers[i]));
    }
    if (!keeping.n && !adding.n)
        return true;
    text_list_sort(&added);
    const char *first = "", *second = "";
    if (keeping.n)
        first = arena_printf(p->arena, "%s must set securityContext.capabilities.drop=[\"ALL\"]", shown(&keeping));
    if (adding.n)
        second = arena_printf(p->arena, "%s must not include %s in securityContext.capabilities.add", shown(&adding),
                              quoted(&added));
    return refuse(p, "unrestricted capabilities", "%s%s%s", first, *first && *second ? "; " : "", second);
}

/* Fields of a volume. Those that hold nothing of a node or of a network come first; one without any is unknown. */
static const char *const volume_fields[] = {
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret",
    "hostPath", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi", "glusterfs", "rbd", "flexVolume",
    "cinder", "cephfs", "flocker", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk", "photonPersistentDisk",
    "portworxVolume", "scaleIO", "storageos",
};
enum { HARMLESS_FIELDS = 9, VOLUME_FIELDS = sizeof(volume_fields) / sizeof(volume_fields[0]) };

static bool restricted_volumes(struct security_pod *p)
{
    const struct type *t = schema_type(STR("core/v1.Volume"));
    struct text_list bad = { p->arena }, kinds = { p->arena };
    EACH_ITEM(volume, of_spec(p, "volumes")) {
        size_t i = 0;
        while (i < VOLUME_FIELDS && value_path(t, volume, volume_fields[i])->kind == VALUE_ABSENT)
            i++;
        if (i < HARMLESS_FIELDS)
            continue;
        text_list_add(&bad, value_text(value_path(t, volume, "name")));
        text_list_add(&kinds, str_of(i < VOLUME_FIELDS ? volume_fields[i] : "unknown"));
    }
    if (!bad.n)
        return true;
    text_list_sort(&kinds);
    return refuse(p, "restricted volume types", "%s %s %s %s %s", one_or_more("volume", "volumes", bad.n), quoted(&bad),
                  one_or_more("uses", "use", bad.n),
                  one_or_more("restricted volume type", "restricted volume types", kinds.n), quoted(&kinds));
}

static bool run_as_non_root(struct security_pod *p)
{
    struct setters s = { .containers = { p->arena } };
    struct text_list silent = { p->arena };
    const struct value *own = of_spec(p, "securityContext.runAsNonRoot");
    if (has_user_namespace(p))
        return true;
    s.pod = own->kind == VALUE_BOOL && !own->b;
    for (size_t i = 0; i < p->n_containers; i++) {
        const struct value *v = of_container(&p->containers[i], "securityContext.runAsNonRoot");
        if (v->kind == VALUE_BOOL ? !v->b : !own->b)
            text_list_add(v->kind == VALUE_BOOL ? &s.containers : &silent, name_of(&p->containers[i]));
    }
    if (s.pod || s.containers.n)
        return refuse(p, "runAsNonRoot != true", "%s must not set securityContext.runAsNonRoot=false",
                      setters_shown(&s));
    return !silent.n ||
           refuse(p, "runAsNonRoot != true", "pod or %s must set securityContext.runAsNonRoot=true", shown(&silent));
}

static bool is_root(const struct value *user)
{
    return user->kind == VALUE_INT && user->i == 0;
}

static bool run_as_user(struct security_pod *p)
{
    struct setters s = { .containers = { p->arena } };
    if (has_user_namespace(p))
        return true;
    s.pod = is_root(of_spec(p, "securityContext.runAsUser"));
    for (size_t i = 0; i < p->n_containers; i++)
        if (is_root(of_container(&p->containers[i], "securityContext.runAsUser")))
            text_list_add(&s.containers, name_of(&p->containers[i]));
    return (!s.pod && !s.containers.n) ||
           refuse(p, "runAsUser=0", "%s must not set runAsUser=0", setters_shown(&s));
}

static bool restricted_seccomp(struct security_pod *p)
{
    if (is_windows(p))
        return true;
    if (!seccomp(p))
        return false;
    struct text_list silent = { p->arena };
    bool set = of_spec(p, "securityContext.seccompProfile")->kind == VALUE_STRUCT;
    for (size_t i = 0; !set && i < p->n_containers; i++)
        if (of_container(&p->containers[i], "securityContext.seccompProfile")->kind != VALUE_STRUCT)
            text_list_add(&silent, name_of(&p->containers[i]));
    return !silent.n ||
           refuse(p, "seccompProfile",
                  "pod or %s must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\"",
                  shown(&silent));
}

const struct security_row security_rows[] = {
    { "appArmorProfile", SECURITY_BASELINE, 0, app_armor, NULL },
    { "capabilities_baseline", SECURITY_BASELINE, 0, baseline_capabilities, NULL },
    { "hostNamespaces", SECURITY_BASELINE, 0, host_namespaces, NULL },
    { "hostPathVolumes", SECURITY_BASELINE, 0, host_path_volumes, NULL },
    { "hostPorts", SECURITY_BASELINE, 0, host_ports, NULL },
    { "hostProbesAndHostLifecycle", SECURITY_BASELINE, 34, other_hosts, NULL },
    { "privileged", SECURITY_BASELINE, 0, privileged, NULL },
    { "procMount", SECURITY_BASELINE, 0, proc_mount_in_host, NULL },
    { "seLinuxOptions", SECURITY_BASELINE, 0, selinux, NULL },
    { "seccompProfile_baseline", SECURITY_BASELINE, 0, seccomp, NULL },
    { "sysctls", SECURITY_BASELINE, 0, sysctls, NULL },
    { "windowsHostProcess", SECURITY_BASELINE, 0, windows_host_process, NULL },
    { "allowPrivilegeEscalation", SECURITY_RESTRICTED, 8, privilege_escalation, NULL },
    { "capabilities_restricted", SECURITY_RESTRICTED, 22, restricted_capabilities, "capabilities_baseline" },
    { "procMount_restricted", SECURITY_RESTRICTED, 35, proc_mount, "procMount" },
    { "restrictedVolumes", SECURITY_RESTRICTED, 0, restricted_volumes, "hostPathVolumes" },
    { "runAsNonRoot", SECURITY_RESTRICTED, 0, run_as_non_root, NULL },
    { "runAsUser", SECURITY_RESTRICTED, 23, run_as_user, NULL },
    { "seccompProfile_restricted", SECURITY_RESTRICTED, 19, restricted_seccomp, "seccompProfile_baseline" },
    { .id = NULL },
};
