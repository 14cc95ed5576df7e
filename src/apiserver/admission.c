/* apiserver/admission.c - see admission.h. */
#include "apiserver/admission.h"

#include <stdlib.h>
#include <sys/random.h>

#include "apiserver/admission_priv.h"
#include "base/clock.h"

/* ---- The plugins ---- */

static enum err_code always_deny(struct admission_request *r, struct err *e)
{
    (void)r;
    return err_set(e, ERR_FORBIDDEN, "admission control is denying all modifications");
}

enum { ON_WRITE = ON_CREATE | ON_UPDATE, ON_CHANGE = ON_WRITE | ON_DELETE, ON_ANY = ON_CHANGE | ON_CONNECT };

/* A plugin without functions has nothing to do here: webhooks and policies are objects that nobody evaluates yet,
 * and some plugins are about features that the server does not have. */
const struct admission_plugin admission_plugins[] = {
    { "AlwaysAdmit", false, PLUGIN_WORKS, ON_ANY, NULL, NULL },
    { "NamespaceAutoProvision", false, PLUGIN_MISSING, ON_CREATE, NULL, NULL },
    { "NamespaceLifecycle", true, PLUGIN_WORKS, ON_CHANGE, namespace_lifecycle, NULL },
    { "NamespaceExists", false, PLUGIN_WORKS, ON_CHANGE, NULL, namespace_exists },
    { "LimitPodHardAntiAffinityTopology", false, PLUGIN_WORKS, ON_WRITE, NULL, anti_affinity_topology },
    { "LimitRanger", true, PLUGIN_WORKS, ON_WRITE, limit_ranger_admit, limit_ranger_validate },
    { "ServiceAccount", true, PLUGIN_WORKS, ON_WRITE, service_account_admit, service_account_validate },
    { "NodeRestriction", false, PLUGIN_WORKS, ON_CHANGE, node_restriction, NULL },
    { "TaintNodesByCondition", true, PLUGIN_WORKS, ON_CREATE, node_taint, NULL },
    { "AlwaysPullImages", false, PLUGIN_WORKS, ON_WRITE, always_pull_admit, always_pull_validate },
    { "ImagePolicyWebhook", false, PLUGIN_MISSING, ON_WRITE, NULL, NULL },
    { "PodSecurity", true, PLUGIN_WORKS, ON_WRITE, NULL, pod_security },
    { "PodNodeSelector", false, PLUGIN_WORKS, ON_CREATE, pod_node_selector_admit, pod_node_selector_validate },
    { "Priority", true, PLUGIN_WORKS, ON_CHANGE, priority_admit, priority_validate },
    { "DefaultTolerationSeconds", true, PLUGIN_WORKS, ON_WRITE, default_tolerations, NULL },
    { "PodTolerationRestriction", false, PLUGIN_WORKS, ON_WRITE, toleration_restriction_admit,
      toleration_restriction_validate },
    { "EventRateLimit", false, PLUGIN_MISSING, ON_WRITE, NULL, NULL },
    { "ExtendedResourceToleration", false, PLUGIN_WORKS, ON_WRITE, extended_resource_toleration, NULL },
    { "DefaultStorageClass", true, PLUGIN_WORKS, ON_CREATE, default_storage_class, NULL },
    { "StorageObjectInUseProtection", true, PLUGIN_WORKS, ON_CREATE, in_use_protection, NULL },
    { "PodGroupProtection", true, PLUGIN_IDLE, ON_CREATE, NULL, NULL },
    { "OwnerReferencesPermissionEnforcement", false, PLUGIN_WORKS, ON_WRITE, NULL, owner_permissions },
    { "PersistentVolumeClaimResize", true, PLUGIN_WORKS, ON_UPDATE, NULL, claim_resize },
    { "RuntimeClass", true, PLUGIN_WORKS, ON_CREATE, runtime_class_admit, runtime_class_validate },
    { "CertificateApproval", true, PLUGIN_WORKS, ON_UPDATE, NULL, certificate_approval },
    { "CertificateSigning", true, PLUGIN_WORKS, ON_UPDATE, NULL, certificate_signing },
    { "ClusterTrustBundleAttest", true, PLUGIN_IDLE, ON_WRITE, NULL, NULL },
    { "CertificateSubjectRestriction", true, PLUGIN_WORKS, ON_CREATE, NULL, certificate_subject },
    { "DefaultIngressClass", true, PLUGIN_WORKS, ON_CREATE, default_ingress_class, NULL },
    { "DenyServiceExternalIPs", false, PLUGIN_WORKS, ON_WRITE, NULL, deny_external_ips },
    { "PodTopologyLabels", true, PLUGIN_WORKS, ON_CREATE, pod_topology_labels, NULL },
    { "PodGroupWorkloadExists", true, PLUGIN_IDLE, ON_CREATE, NULL, NULL },
    { "NodeDeclaredFeatureValidator", true, PLUGIN_IDLE, ON_UPDATE, NULL, NULL },
    { "JobValidation", true, PLUGIN_IDLE, ON_WRITE, NULL, NULL },
    { "PodResizeValidator", true, PLUGIN_WORKS, ON_UPDATE, NULL, pod_resize },
    { "MutatingAdmissionPolicy", true, PLUGIN_IDLE, ON_ANY, NULL, NULL },
    { "MutatingAdmissionWebhook", true, PLUGIN_IDLE, ON_ANY, NULL, NULL },
    { "ValidatingAdmissionPolicy", true, PLUGIN_IDLE, ON_ANY, NULL, NULL },
    { "ValidatingAdmissionWebhook", true, PLUGIN_IDLE, ON_ANY, NULL, NULL },
    { "ResourceQuota", true, PLUGIN_WORKS, ON_WRITE, NULL, resource_quota },
    { "AlwaysDeny", false, PLUGIN_WORKS, ON_ANY, always_deny, always_deny },
    { .name = NULL },
};

enum { N_PLUGINS = sizeof(admission_plugins) / sizeof(admission_plugins[0]) - 1 };

/* ---- The chain ---- */

enum pass { PASS_ADMIT, PASS_VALIDATE, N_PASSES };

static const char *const pass_names[] = { "admit", "validate" };
static const char *const operation_names[] = { "CREATE", "UPDATE", "DELETE", "CONNECT" };

struct admission {
    admission_authorize *authorize;
    void *authorize_context;
    struct rand rand;
    bool on[N_PLUGINS];
    struct metric *by_plugin, *by_pass; /* NULL: nobody looks */
    struct series *plugin_series[N_PLUGINS][N_PASSES][N_ADMIT_OPERATIONS][2]; /* by refused; made when first needed */
    struct series *pass_series[N_PASSES][N_ADMIT_OPERATIONS][2];
};

/* ---- Which are on ---- */

static int find_plugin(const char *name)
{
    for (int i = 0; i < N_PLUGINS; i++)
        if (strcmp(admission_plugins[i].name, name) == 0)
            return i;
    return -1;
}

static bool is_named(const char *const *names, const char *name)
{
    for (; names && *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

static void add_unknown(struct text_list *wrong, const char *flag, const char *const *names)
{
    for (; names && *names; names++)
        if (find_plugin(*names) < 0)
            text_list_add(wrong, str_of(arena_printf(wrong->arena, "%s plugin \"%s\" is unknown", flag, *names)));
}

/* Names in both lists, as upstream's sets print. */
static void add_overlap(struct text_list *wrong, const struct admission_options *o)
{
    struct text_list both = { wrong->arena };
    for (const char *const *name = o->enable; name && *name; name++)
        if (is_named(o->disable, *name))
            text_list_add(&both, str_of(*name));
    text_list_sort(&both);
    if (both.n)
        text_list_add(wrong, str_of(arena_printf(wrong->arena,
                                             "[%s] in enable-admission-plugins and disable-admission-plugins "
                                             "overlapped",
                                             text_list_join(&both, "", " "))));
}

static enum err_code check_names(const struct admission_options *o, struct err *e)
{
    struct text_list wrong = { e->arena };
    add_unknown(&wrong, "enable-admission-plugins", o->enable);
    add_unknown(&wrong, "disable-admission-plugins", o->disable);
    add_overlap(&wrong, o);
    for (const char *const *name = o->enable; name && *name; name++) {
        int i = find_plugin(*name);
        if (i >= 0 && admission_plugins[i].standing == PLUGIN_MISSING)
            text_list_add(&wrong,
                          str_of(arena_printf(e->arena, "enable-admission-plugins plugin \"%s\" is not implemented",
                                              *name)));
    }
    if (!wrong.n)
        return ERR_OK;
    return err_set(e, ERR_INVALID, wrong.n > 1 ? "[%s]" : "%s", text_list_join(&wrong, "", ", "));
}

/* ---- What is counted ---- */

static void add_metrics(struct admission *a, struct metrics *m)
{
    static const double bounds[] = { 0.005, 0.025, 0.1, 0.5, 1.0, 2.5 };
    a->by_plugin = metrics_add_histogram(m, &(struct metric_desc){
        .name = "apiserver_admission_controller_admission_duration_seconds",
        .help = "Admission controller latency histogram in seconds, identified by name and broken out for each "
                "operation and API resource and type (validate or admit).",
        .labels = { "name", "type", "operation", "rejected" }, .stability = STABILITY_STABLE }, bounds, 6);
    a->by_pass = metrics_add_histogram(m, &(struct metric_desc){
        .name = "apiserver_admission_step_admission_duration_seconds",
        .help = "Admission sub-step latency histogram in seconds, broken out for each operation and API resource and "
                "step type (validate or admit).",
        .labels = { "type", "operation", "rejected" }, .stability = STABILITY_STABLE }, bounds, 6);
}

static void observe(struct series **kept, struct metric *metric, const struct str *labels, int64_t ns)
{
    if (!*kept)
        *kept = metric_series(metric, labels);
    series_observe(*kept, (double)ns / CLOCK_NS_PER_SECOND);
}

static void note_plugin(struct admission *a, int plugin, enum pass pass, const struct admission_request *r,
                        bool refused, int64_t ns)
{
    struct str labels[] = { str_of(admission_plugins[plugin].name), str_of(pass_names[pass]),
                            str_of(operation_names[r->operation]), refused ? STR("true") : STR("false") };
    if (a->by_plugin)
        observe(&a->plugin_series[plugin][pass][r->operation][refused], a->by_plugin, labels, ns);
}

static void note_pass(struct admission *a, enum pass pass, const struct admission_request *r, bool refused, int64_t ns)
{
    struct str labels[] = { str_of(pass_names[pass]), str_of(operation_names[r->operation]),
                            refused ? STR("true") : STR("false") };
    if (a->by_pass)
        observe(&a->pass_series[pass][r->operation][refused], a->by_pass, labels, ns);
}

/* ---- Both passes ---- */

/* `pods "x" is forbidden: ` before what a plugin says, and the same for the details of the Status. */
static enum err_code complete_refusal(const struct admission_request *r, struct err *e)
{
    const struct resource *s = r->resource;
    if (e->code != ERR_FORBIDDEN)
        return e->code;
    const char *kind = arena_printf(e->arena, "%.*s%s%.*s", STR_ARG(s->plural), s->group.n ? "." : "",
                                    STR_ARG(s->group));
    struct strbuf quoted;
    strbuf_init(&quoted, STRBUF_NO_MAX);
    strbuf_add_quoted_shown(&quoted, req_shown_name(r));
    e->kind = kind;
    e->name = arena_cstr(e->arena, req_shown_name(r));
    e->message = arena_printf(e->arena, "%s %.*s is forbidden: %s", kind, STR_ARG(strbuf_str(&quoted)), e->message);
    strbuf_fini(&quoted);
    return e->code;
}

static enum err_code run(struct admission *a, enum pass pass, struct admission_request *r, struct err *e)
{
    int64_t began = clock_mono_ns(&clock_real), now = began;
    enum err_code rc = ERR_OK;
    r->chain = a;
    for (int i = 0; i < N_PLUGINS && !rc; i++) {
        const struct admission_plugin *p = &admission_plugins[i];
        admission_step *step = pass == PASS_ADMIT ? p->admit : p->validate;
        if (!a->on[i] || !step || !(p->operations & 1u << r->operation))
            continue;
        rc = step(r, e);
        int64_t then = now;
        now = clock_mono_ns(&clock_real);
        note_plugin(a, i, pass, r, rc != ERR_OK, now - then);
    }
    note_pass(a, pass, r, rc != ERR_OK, now - began);
    return rc ? complete_refusal(r, e) : ERR_OK;
}

enum err_code admission_mutate(struct admission *a, struct admission_request *r, struct err *e)
{
    return run(a, PASS_ADMIT, r, e);
}

enum err_code admission_validate(struct admission *a, struct admission_request *r, struct err *e)
{
    return run(a, PASS_VALIDATE, r, e);
}

/* ---- For plugins ---- */

bool req_may(const struct admission_request *r, const struct authz_attributes *q, struct str *ret_reason)
{
    const struct admission *a = r->chain;
    return !a->authorize || a->authorize(a->authorize_context, r->arena, q, ret_reason) == AUTHZ_ALLOW;
}

uint32_t req_lot(const struct admission_request *r)
{
    return (uint32_t)rand_u64(&r->chain->rand);
}

/* ---- Life ---- */

enum err_code admission_new(const struct admission_options *o, struct admission **ret_admission, struct err *e)
{
    uint64_t seed;
    if (check_names(o, e))
        return e->code;
    if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
        return err_set(e, ERR_IO, "no random numbers from the kernel");
    struct admission *a = mem_zalloc(sizeof(*a));
    a->authorize = o->authorize;
    a->authorize_context = o->authorize_context;
    rand_init(&a->rand, seed);
    for (int i = 0; i < N_PLUGINS; i++) {
        const char *name = admission_plugins[i].name;
        a->on[i] = is_named(o->enable, name) || (admission_plugins[i].on && !is_named(o->disable, name));
    }
    if (o->metrics)
        add_metrics(a, o->metrics);
    *ret_admission = a;
    return ERR_OK;
}

void admission_free(struct admission *a)
{
    free(a);
}
