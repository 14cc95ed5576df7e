/* rules/pod_host.c - see pod_priv.h: what pods share with the host, and the system that they run on. */
#include "rules/pod_priv.h"

/* ---- Processes of the host, on Windows ---- */

struct host_processes {
    struct pod_check *k;
    const struct value *of_pod; /* absent or a bool */
    uint32_t n_containers, n_host_processes;
};

static void count_host_process(void *with, const struct value *container, const struct field_path *at)
{
    struct host_processes *h = with;
    const struct value *options = GET(GET(container, Container, securityContext), SecurityContext, windowsOptions);
    const struct value *own = GET(options, WindowsSecurityContextOptions, hostProcess);
    h->n_containers++;
    if (h->of_pod->kind == VALUE_BOOL && own->kind == VALUE_BOOL && own->b != h->of_pod->b)
        field_invalid(h->k->errs, AT(AT(AT(at, "securityContext"), "windowsOptions"), "hostProcess"), field_bool(own->b),
                      pod_detail(h->k->errs, "pod hostProcess value must be identical if both are specified, was %s",
                                 h->of_pod->b ? "true" : "false"));
    h->n_host_processes += own->kind == VALUE_BOOL ? own->b : pod_flag(h->of_pod);
}

void pod_check_host_processes(struct pod_check *k, const struct field_path *at)
{
    const struct value *options = GET(GET(k->spec, PodSpec, securityContext), PodSecurityContext, windowsOptions);
    struct host_processes h = { .k = k, .of_pod = GET(options, WindowsSecurityContextOptions, hostProcess) };
    pod_visit_containers(k->spec, at, count_host_process, &h);
    if (h.n_host_processes == 0)
        return;
    if (h.n_host_processes != h.n_containers)
        field_invalid(k->errs, at, field_str(STR("")),
                      STR("If pod contains any hostProcess containers then all containers must be HostProcess containers"));
    if (!FLAG(k->spec, PodSpec, hostNetwork))
        field_invalid(k->errs, AT(at, "hostNetwork"), field_bool(false),
                      STR("hostNetwork must be true if pod contains any hostProcess containers"));
    if (!k->c->settings->allow_privileged)
        field_forbidden(k->errs, at, STR("hostProcess containers are disallowed by cluster policy"));
}

/* ---- Users of their own ---- */

static void forbid_devices(void *with, const struct value *container, const struct field_path *at)
{
    struct pod_check *k = with;
    if (pod_count(GET(container, Container, volumeDevices)))
        field_forbidden(k->errs, AT(at, "volumeDevices"), STR("when `hostUsers` is false"));
}

/* A namespace of users goes with none of the host's namespaces. */
void pod_check_host_users(struct pod_check *k, const struct field_path *at)
{
    if (k->host_users)
        return;
    if (!k->lenient.user_namespace_network && FLAG(k->spec, PodSpec, hostNetwork))
        field_forbidden(k->errs, AT(at, "hostNetwork"), STR("when `hostUsers` is false"));
    if (FLAG(k->spec, PodSpec, hostPID))
        field_forbidden(k->errs, AT(at, "HostPID"), STR("when `hostUsers` is false"));
    if (FLAG(k->spec, PodSpec, hostIPC))
        field_forbidden(k->errs, AT(at, "HostIPC"), STR("when `hostUsers` is false"));
    if (!k->lenient.user_namespace_devices)
        pod_visit_containers(k->spec, at, forbid_devices, k);
}

/* ---- The system ---- */

/* Places in a spec; `in_context` ones are below securityContext. */
struct foreign {
    unsigned slot;
    const char *name;
    bool in_context;
};

static const struct foreign of_pods[] = {
#define CONTEXT(field) { SLOT_core_v1_PodSecurityContext_##field, #field, true }
#define SPEC(field) { SLOT_core_v1_PodSpec_##field, #field, false }
    CONTEXT(appArmorProfile), CONTEXT(seLinuxOptions), SPEC(hostUsers), SPEC(hostPID), SPEC(hostIPC),
    CONTEXT(seccompProfile), CONTEXT(fsGroup), CONTEXT(fsGroupChangePolicy), CONTEXT(sysctls),
    SPEC(shareProcessNamespace), CONTEXT(runAsUser), CONTEXT(runAsGroup), CONTEXT(supplementalGroups),
    CONTEXT(supplementalGroupsPolicy), CONTEXT(seLinuxChangePolicy),
#undef CONTEXT
#undef SPEC
};

static const struct foreign of_containers[] = {
#define CONTEXT(field) { SLOT_core_v1_SecurityContext_##field, #field, true }
    CONTEXT(appArmorProfile), CONTEXT(seLinuxOptions), CONTEXT(seccompProfile), CONTEXT(capabilities),
    CONTEXT(readOnlyRootFilesystem), CONTEXT(privileged), CONTEXT(allowPrivilegeEscalation), CONTEXT(procMount),
    CONTEXT(runAsUser), CONTEXT(runAsGroup),
#undef CONTEXT
};

/* hostPID and hostIPC are no pointers upstream: false is as good as nothing. So is a list without items, but for
 * supplementalGroups. */
static bool is_given(const struct foreign *f, const struct value *v)
{
    bool plain = !f->in_context && (f->slot == SLOT_core_v1_PodSpec_hostPID || f->slot == SLOT_core_v1_PodSpec_hostIPC);
    if (plain)
        return pod_flag(v);
    if (strcmp(f->name, "sysctls") == 0)
        return pod_count(v) > 0;
    return v->kind != VALUE_ABSENT;
}

static void forbid_foreign(const struct foreign *f, const struct value *of, const struct field_path *at,
                           struct field_errors *errs)
{
    if (is_given(f, value_slot(of, f->slot)))
        field_forbidden(errs, AT_NAME(at, f->name), STR("cannot be set for a windows pod"));
}

static void check_windows_container(void *with, const struct value *container, const struct field_path *at)
{
    struct pod_check *k = with;
    const struct value *context = GET(container, Container, securityContext);
    for (size_t i = 0; i < N_OF(of_containers); i++)
        forbid_foreign(&of_containers[i], context, AT(at, "securityContext"), k->errs);
}

static void check_windows(struct pod_check *k, const struct field_path *at)
{
    const struct value *context = GET(k->spec, PodSpec, securityContext);
    for (size_t i = 0; i < N_OF(of_pods); i++)
        if (of_pods[i].in_context)
            forbid_foreign(&of_pods[i], context, AT(at, "securityContext"), k->errs);
        else
            forbid_foreign(&of_pods[i], k->spec, at, k->errs);
    pod_visit_containers(k->spec, at, check_windows_container, k);
}

static void forbid_windows_options(const struct value *options, const struct field_path *at, struct field_errors *errs)
{
    if (options->kind != VALUE_ABSENT)
        field_forbidden(errs, AT(AT(at, "securityContext"), "windowsOptions"),
                        STR("windows options cannot be set for a linux pod"));
}

static void check_linux_container(void *with, const struct value *container, const struct field_path *at)
{
    struct pod_check *k = with;
    const struct value *context = GET(container, Container, securityContext);
    forbid_windows_options(GET(context, SecurityContext, windowsOptions), at, k->errs);
}

void pod_check_os(struct pod_check *k, const struct field_path *at)
{
    static const char *const systems[] = { "linux", "windows", NULL };
    const struct value *os = GET(k->spec, PodSpec, os), *context = GET(k->spec, PodSpec, securityContext);
    struct str name = TEXT(os, PodOS, name);
    if (os->kind == VALUE_ABSENT || !pod_require(name, AT(at, "os"), "name", k->errs) ||
        !pod_check_one_of(name, systems, AT(at, "os"), k->errs))
        return;
    if (str_is(name, "windows")) {
        check_windows(k, at);
    } else {
        forbid_windows_options(GET(context, PodSecurityContext, windowsOptions), at, k->errs);
        pod_visit_containers(k->spec, at, check_linux_container, k);
    }
}
