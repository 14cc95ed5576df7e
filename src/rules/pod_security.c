/* rules/pod_security.c - see pod_priv.h: security contexts of pods and containers, users of the host, and what systems
 * other than Linux do not have. */
#include "rules/pod_priv.h"

/* ---- Profiles ---- */

static const char *const profile_types[] = { "Localhost", "RuntimeDefault", "Unconfined", NULL };

static void check_seccomp(const struct value *profile, const struct field_path *at, struct field_errors *errs)
{
    if (profile->kind == VALUE_ABSENT)
        return;
    struct str type = TEXT(profile, SeccompProfile, type), file = TEXT(profile, SeccompProfile, localhostProfile);
    bool has_file = IS_SET(profile, SeccompProfile, localhostProfile), local = str_is(type, "Localhost");
    if (!type.n)
        field_required(errs, AT(at, "type"), STR("type is required when seccompProfile is set"));
    else
        pod_check_one_of(type, profile_types, AT(at, "type"), errs);
    if (local && !has_file)
        field_required(errs, AT(at, "localhostProfile"), STR("must be set when seccomp type is Localhost"));
    else if (local)
        pod_check_descending_path(file, AT(at, "localhostProfile"), errs);
    else if (has_file)
        field_invalid(errs, AT(at, "localhostProfile"),
                      pod_shown(errs->arena, schema_type(STR("core/v1.SeccompProfile")), profile),
                      STR("can only be set when seccomp type is Localhost"));
}

static void check_local_profile(const struct value *file, const struct field_path *at, struct field_errors *errs)
{
    enum { PROFILE_PATH_BYTES_MAX = 4095 };
    struct str path = value_text(file);
    bool padded = pod_trim_space(path).n != path.n;
    if (padded)
        field_invalid(errs, at, field_str(path), STR("must not be padded with whitespace"));
    else if (!path.n)
        field_required(errs, at, STR("must be set when AppArmor type is Localhost"));
    if (path.n > PROFILE_PATH_BYTES_MAX)
        field_too_long(errs, at, PROFILE_PATH_BYTES_MAX);
}

void pod_check_app_armor(const struct value *profile, const struct field_path *at, struct field_errors *errs)
{
    if (profile->kind == VALUE_ABSENT)
        return;
    struct str type = TEXT(profile, AppArmorProfile, type);
    const struct value *file = GET(profile, AppArmorProfile, localhostProfile);
    if (!type.n)
        field_required(errs, AT(at, "type"), STR("type is required when appArmorProfile is set"));
    else if (!pod_check_one_of(type, profile_types, AT(at, "type"), errs))
        return;
    else if (str_is(type, "Localhost"))
        check_local_profile(file, AT(at, "localhostProfile"), errs);
    else if (file->kind != VALUE_ABSENT)
        field_invalid(errs, AT(at, "localhostProfile"), field_enum(value_text(file)),
                      STR("can only be set when AppArmor type is Localhost"));
}

/* ---- Windows ---- */

enum { GMSA_KIB_MAX = 64, USER_DOMAIN_BYTES_MAX = 256, USER_NAME_BYTES_MAX = 104 };

static bool has_any(struct str text, const char *bytes)
{
    for (size_t i = 0; i < text.n; i++)
        if (strchr(bytes, text.p[i]) && text.p[i])
            return true;
    return false;
}

static bool has_control(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < ' ' || text.p[i] == 0x7f)
            return true;
    return false;
}

/* Not a dot first, at most fifteen characters, none of those that separate. */
static bool is_net_bios(struct str domain)
{
    size_t n_runes = 0;
    for (size_t i = 0; i < domain.n; i++)
        n_runes += ((unsigned char)domain.p[i] & 0xC0) != 0x80;
    return n_runes >= 1 && n_runes <= 15 && domain.p[0] != '.' && !has_any(domain, "\\/:*?\"<>|");
}

/* Labels of letters, digits and dashes, of any case. */
static bool is_dns_domain(struct arena *a, struct str domain)
{
    char *lower = arena_cstr(a, domain);
    for (size_t i = 0; i < domain.n; i++)
        lower[i] = lower[i] >= 'A' && lower[i] <= 'Z' ? (char)(lower[i] - 'A' + 'a') : lower[i];
    struct str rest = { lower, domain.n };
    for (bool last = false; !last;) {
        size_t dot = str_index(rest, '.');
        last = dot == rest.n;
        if (name_dns1123_label(str_first(rest, dot)).n)
            return false;
        rest = str_from(rest, dot + 1);
    }
    return true;
}

static bool is_dots_and_spaces(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != '.' && text.p[i] != ' ')
            return false;
    return text.n > 0;
}

static void check_user_parts(struct str whole, size_t backslash, const struct field_path *at, struct field_errors *errs)
{
    bool has_domain = backslash < whole.n;
    struct str domain = has_domain ? str_first(whole, backslash) : STR("");
    struct str user = has_domain ? str_from(whole, backslash + 1) : whole;
    struct field_value shown = field_enum(whole);
    if (domain.n >= USER_DOMAIN_BYTES_MAX)
        field_invalid(errs, at, shown, STR("runAsUserName's Domain length must be under 256 characters"));
    if (has_domain && !is_net_bios(domain) && !is_dns_domain(errs->arena, domain))
        field_invalid(errs, at, shown, STR("runAsUserName's Domain doesn't match the NetBios nor the DNS format"));
    if (!user.n)
        field_invalid(errs, at, shown, STR("runAsUserName's User cannot be empty"));
    else if (user.n > USER_NAME_BYTES_MAX)
        field_invalid(errs, at, shown, STR("runAsUserName's User length must not be longer than 104 characters"));
    if (is_dots_and_spaces(user))
        field_invalid(errs, at, shown, STR("runAsUserName's User cannot contain only periods or spaces"));
    if (has_any(user, "\"/\\:;|=,+*?<>@[]"))
        field_invalid(errs, at, shown,
                      STR("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"));
}

static void check_user_name(struct str name, const struct field_path *at, struct field_errors *errs)
{
    size_t backslash = str_index(name, '\\');
    struct str behind = str_from(name, backslash + 1);
    if (!name.n)
        field_invalid(errs, at, field_enum(name), STR("runAsUserName cannot be an empty string"));
    else if (has_control(name))
        field_invalid(errs, at, field_enum(name), STR("runAsUserName cannot contain control characters"));
    else if (str_index(behind, '\\') < behind.n)
        field_invalid(errs, at, field_enum(name), STR("runAsUserName cannot contain more than one backslash"));
    else
        check_user_parts(name, backslash, at, errs);
}

static void check_windows_options(const struct value *options, const struct field_path *at, struct field_errors *errs)
{
    const struct value *spec = GET(options, WindowsSecurityContextOptions, gmsaCredentialSpec);
    struct str name = TEXT(options, WindowsSecurityContextOptions, gmsaCredentialSpecName), text = value_text(spec);
    if (IS_SET(options, WindowsSecurityContextOptions, gmsaCredentialSpecName))
        validate_name_errors(name_dns1123_subdomain(name), field_enum(name), AT(at, "gmsaCredentialSpecName"), errs);
    if (spec->kind != VALUE_ABSENT && !text.n)
        field_invalid(errs, AT(at, "gmsaCredentialSpec"), field_enum(text),
                      STR("gmsaCredentialSpec cannot be an empty string"));
    else if (text.n > GMSA_KIB_MAX << 10)
        field_invalid(errs, AT(at, "gmsaCredentialSpec"), field_enum(text),
                      STR("gmsaCredentialSpec size must be under 64 KiB"));
    if (IS_SET(options, WindowsSecurityContextOptions, runAsUserName))
        check_user_name(TEXT(options, WindowsSecurityContextOptions, runAsUserName), AT(at, "runAsUserName"), errs);
}

/* ---- Containers ---- */

static void check_user_id(const struct value *id, const struct field_path *at, struct field_errors *errs)
{
    if (id->kind == VALUE_INT)
        validate_name_errors(name_user_id(id->i), field_int(id->i), at, errs);
}

static void check_group_id(const struct value *id, const struct field_path *at, struct field_errors *errs)
{
    if (id->kind == VALUE_INT)
        validate_name_errors(name_group_id(id->i), field_int(id->i), at, errs);
}

static void check_escalation(const struct value *context, const struct field_path *at, struct field_errors *errs)
{
    const struct value *allowed = GET(context, SecurityContext, allowPrivilegeEscalation);
    const struct value *added = GET(GET(context, SecurityContext, capabilities), Capabilities, add);
    const struct type *t = schema_type(STR("core/v1.SecurityContext"));
    if (allowed->kind != VALUE_BOOL || allowed->b)
        return;
    if (FLAG(context, SecurityContext, privileged))
        field_invalid(errs, at, pod_shown(errs->arena, t, context),
                      STR("cannot set `allowPrivilegeEscalation` to false and `privileged` to true"));
    for (uint32_t i = 0; i < pod_count(added) && !field_errors_full(errs); i++)
        if (str_is(value_text(&added->items[i]), "CAP_SYS_ADMIN"))
            field_invalid(errs, at, pod_shown(errs->arena, t, context),
                          STR("cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"));
}

static void check_proc_mount(struct pod_check *k, const struct value *context, const struct field_path *at)
{
    static const char *const types[] = { "Default", "Unmasked", NULL };
    struct str type = TEXT(context, SecurityContext, procMount);
    if (!IS_SET(context, SecurityContext, procMount))
        return;
    pod_check_one_of(type, types, at, k->errs);
    if (k->host_users && str_is(type, "Unmasked"))
        field_invalid(k->errs, at, field_enum(type), STR("`hostUsers` must be false to use `Unmasked`"));
}

void pod_check_container_security(struct pod_check *k, const struct value *context, const struct field_path *at)
{
    if (context->kind == VALUE_ABSENT)
        return;
    if (FLAG(context, SecurityContext, privileged) && !k->c->settings->allow_privileged)
        field_forbidden(k->errs, AT(at, "privileged"), STR("disallowed by cluster policy"));
    check_user_id(GET(context, SecurityContext, runAsUser), AT(at, "runAsUser"), k->errs);
    check_group_id(GET(context, SecurityContext, runAsGroup), AT(at, "runAsGroup"), k->errs);
    check_proc_mount(k, context, AT(at, "procMount"));
    check_seccomp(GET(context, SecurityContext, seccompProfile), AT(at, "seccompProfile"), k->errs);
    check_escalation(context, at, k->errs);
    check_windows_options(GET(context, SecurityContext, windowsOptions), AT(at, "windowsOptions"), k->errs);
    pod_check_app_armor(GET(context, SecurityContext, appArmorProfile), AT(at, "appArmorProfile"), k->errs);
}

/* ---- Pods ---- */

/* [a-z0-9]([-_a-z0-9]*[a-z0-9])?, with dots or slashes between. */
static bool is_sysctl_name(struct str name)
{
    enum { SYSCTL_BYTES_MAX = 253 };
    bool edge = true; /* a letter or digit must come */
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool alnum = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'), part_ends = c == '.' || c == '/';
        bool last_of_part = i > 0 && (name.p[i - 1] == '-' || name.p[i - 1] == '_');
        if ((edge && !alnum) || (part_ends && last_of_part) || (!alnum && !part_ends && c != '-' && c != '_'))
            return false;
        edge = part_ends;
    }
    return name.n > 0 && name.n <= SYSCTL_BYTES_MAX && !edge && name.p[name.n - 1] != '-' && name.p[name.n - 1] != '_';
}

/* The first separator decides: with a slash first, slashes are dots and dots are slashes. */
static struct str normal_sysctl(struct arena *a, struct str name)
{
    size_t first = 0;
    while (first < name.n && name.p[first] != '.' && name.p[first] != '/')
        first++;
    if (first == name.n || name.p[first] == '.')
        return name;
    char *normal = arena_cstr(a, name);
    for (size_t i = 0; i < name.n; i++)
        normal[i] = normal[i] == '/' ? '.' : normal[i] == '.' ? '/' : normal[i];
    return (struct str){ normal, name.n };
}

/* Which namespace of the kernel it belongs to: "Net", "IPC" or "". */
static const char *sysctl_namespace(struct arena *a, struct str name)
{
    static const char *const ipc[] = { "kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni",
                                       "kernel.shm_rmid_forced", "kernel.shm", "kernel.msgmax", "kernel.msgmnb",
                                       "kernel.msgmni", "kernel.msg" };
    struct str normal = normal_sysctl(a, name);
    normal = str_first(normal, str_index(normal, '*'));
    for (size_t i = 0; i < N_OF(ipc); i++)
        if (str_is(normal, ipc[i]))
            return "IPC";
    if (str_starts(normal, STR("net.")))
        return "Net";
    return str_starts(normal, STR("fs.mqueue.")) ? "IPC" : "";
}

/* Why a sysctl cannot be set beside the host's namespaces, or NULL. */
static const char *host_sysctl_fault(struct arena *a, const struct value *spec, struct str name)
{
    const char *namespace = sysctl_namespace(a, name);
    if (FLAG(spec, PodSpec, hostNetwork) && strcmp(namespace, "Net") == 0)
        return "may not be specified when 'hostNetwork' is true";
    if (FLAG(spec, PodSpec, hostIPC) && strcmp(namespace, "IPC") == 0)
        return "may not be specified when 'hostIPC' is true";
    return NULL;
}

bool pod_has_host_sysctls(const struct value *spec)
{
    const struct value *list = GET(GET(spec, PodSpec, securityContext), PodSecurityContext, sysctls);
    struct arena scratch;
    bool found = false;
    arena_init_small(&scratch);
    for (uint32_t i = 0; i < pod_count(list); i++)
        found |= host_sysctl_fault(&scratch, spec, TEXT(&list->items[i], Sysctl, name)) != NULL;
    arena_fini(&scratch);
    return found;
}

static void check_sysctls(struct pod_check *k, const struct value *list, const struct field_path *at)
{
    struct map_str names;
    map_str_init(&names);
    for (uint32_t i = 0; i < pod_count(list); i++) {
        struct str name = TEXT(&list->items[i], Sysctl, name);
        const struct field_path *item = AT_INDEX(at, i), *path = AT(item, "name");
        bool is_new = pod_add_new(&names, name);
        const char *fault = k->lenient.host_sysctls ? NULL : host_sysctl_fault(k->arena, k->spec, name);
        if (!name.n)
            field_required(k->errs, path, STR(""));
        else if (!is_sysctl_name(name))
            field_invalid(k->errs, path, field_str(name),
                          STR("must have at most 253 characters and match regex "
                              "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"));
        else if (!is_new)
            field_duplicate(k->errs, path, field_str(name));
        if (fault)
            field_invalid(k->errs, path, field_str(name), str_of(fault));
    }
    map_str_fini(&names);
}

static void check_ids(struct pod_check *k, const struct value *context, const struct field_path *at)
{
    const struct value *groups = GET(context, PodSecurityContext, supplementalGroups);
    check_group_id(GET(context, PodSecurityContext, fsGroup), AT(at, "fsGroup"), k->errs);
    check_user_id(GET(context, PodSecurityContext, runAsUser), AT(at, "runAsUser"), k->errs);
    check_group_id(GET(context, PodSecurityContext, runAsGroup), AT(at, "runAsGroup"), k->errs);
    for (uint32_t i = 0; i < pod_count(groups); i++)
        check_group_id(&groups->items[i], AT_INDEX(AT(at, "supplementalGroups"), i), k->errs);
}

void pod_check_security(struct pod_check *k, const struct field_path *at)
{
    static const char *const change_policies[] = { "Always", "OnRootMismatch", NULL };
    static const char *const group_policies[] = { "Merge", "Strict", NULL };
    static const char *const label_policies[] = { "MountOption", "Recursive", NULL }; /* the first is behind a gate */
    const struct value *context = GET(k->spec, PodSpec, securityContext);
    check_ids(k, context, at);
    if (FLAG(k->spec, PodSpec, shareProcessNamespace) && FLAG(k->spec, PodSpec, hostPID))
        field_invalid(k->errs, AT(at, "shareProcessNamespace"), field_bool(true),
                      STR("ShareProcessNamespace and HostPID cannot both be enabled"));
    check_sysctls(k, GET(context, PodSecurityContext, sysctls), AT(at, "sysctls"));
    if (IS_SET(context, PodSecurityContext, fsGroupChangePolicy))
        pod_check_one_of(TEXT(context, PodSecurityContext, fsGroupChangePolicy), change_policies,
                         AT(at, "fsGroupChangePolicy"), k->errs);
    check_seccomp(GET(context, PodSecurityContext, seccompProfile), AT(at, "seccompProfile"), k->errs);
    check_windows_options(GET(context, PodSecurityContext, windowsOptions), AT(at, "windowsOptions"), k->errs);
    pod_check_app_armor(GET(context, PodSecurityContext, appArmorProfile), AT(at, "appArmorProfile"), k->errs);
    if (IS_SET(context, PodSecurityContext, supplementalGroupsPolicy))
        pod_check_one_of(TEXT(context, PodSecurityContext, supplementalGroupsPolicy), group_policies,
                         AT(at, "supplementalGroupsPolicy"), k->errs);
    if (IS_SET(context, PodSecurityContext, seLinuxChangePolicy))
        pod_check_one_of(TEXT(context, PodSecurityContext, seLinuxChangePolicy),
                         k->lenient.any_label_policy ? label_policies : &label_policies[1], AT(at, "seLinuxChangePolicy"),
                         k->errs);
}
