/* config/apiserver_check.c - see apiserver_check.h. Upstream: apiserver/pkg/server/options, kubeapiserver/options,
 * cmd/kube-apiserver/app/options, v1.36. */
#include "config/apiserver_check.h"

#include "api/schema.h"
#include "base/sort.h"
#include "config/scheduler_check.h"

static void push(struct arena *a, struct flag_strings *list, const char *text)
{
    flag_strings_push(a, list, str_of(text));
}

static enum err_code joined(const struct flag_strings *problems, struct err *e)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (size_t i = 0; i < problems->n; i++) {
        strbuf_add_text(&b, i ? ", " : "");
        strbuf_add_str(&b, problems->at[i]);
    }
    if (problems->n)
        err_set(e, ERR_INVALID, problems->n > 1 ? "[%s]" : "%s", strbuf_cstr(&b));
    strbuf_fini(&b);
    return problems->n ? e->code : ERR_OK;
}

/* ---- Numbers ---- */

static void check_numbers(const struct apiserver_flags *f, struct arena *a, struct flag_strings *problems)
{
    const struct {
        bool wrong;
        const char *text;
    } rules[] = {
        { f->livez_grace_period_ns < 0, "--livez-grace-period can not be a negative value" },
        { f->max_requests_inflight < 0, "--max-requests-inflight can not be negative value" },
        { f->max_mutating_requests_inflight < 0, "--max-mutating-requests-inflight can not be negative value" },
        { f->request_timeout_ns < 0, "--request-timeout can not be negative value" },
        { !(f->goaway_chance >= 0 && f->goaway_chance <= 0.02),
          "--goaway-chance can not be less than 0 or greater than 0.02" },
        { f->min_request_timeout < 0, "--min-request-timeout can not be negative value" },
        { f->storage_initialization_timeout_ns < 0, "--storage-initialization-timeout can not be negative value" },
        { f->shutdown_delay_duration_ns < 0, "--shutdown-delay-duration can not be negative value" },
        { f->shutdown_watch_termination_grace_period_ns < 0,
          "shutdown-watch-termination-grace-period, if provided, can not be a negative value" },
    };
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (rules[i].wrong)
            push(a, problems, rules[i].text);
}

/* ---- Storage ---- */

static void check_storage(const struct apiserver_flags *f, struct arena *a, struct flag_strings *problems)
{
    struct str media = f->storage_media_type, backend = f->storage_backend;
    if (backend.n && !str_is(backend, "etcd3"))
        push(a, problems, arena_printf(a, "--storage-backend invalid, allowed values: etcd3. If not specified, it will "
                                          "default to 'etcd3'"));
    if (!str_is(media, "application/json") && !str_is(media, "application/yaml") &&
        !str_is(media, "application/vnd.kubernetes.protobuf"))
        push(a, problems, arena_printf(a, "--storage-media-type %s invalid, allowed values: application/json, "
                                          "application/vnd.kubernetes.protobuf, application/yaml",
                                       flag_quoted(a, media)));
}

static void check_port(const struct apiserver_flags *f, struct arena *a, struct flag_strings *problems)
{
    if (f->secure_port < 1 || f->secure_port > UINT16_MAX)
        push(a, problems, arena_printf(a, "--secure-port %lld must be between 1 and 65535, inclusive. It cannot be "
                                          "turned "
                                          "off with 0",
                                       (long long)f->secure_port));
}

/* ---- Authorization ---- */

struct flag_strings apiserver_modes(const struct apiserver_flags *f, struct arena *a)
{
    struct flag_strings modes = f->authorization_mode;
    if (modes.n == 0)
        push(a, &modes, "AlwaysAllow");
    return modes;
}

bool apiserver_takes_anonymous(const struct apiserver_flags *f)
{
    bool all = f->authorization_mode.n == 0;
    for (size_t i = 0; i < f->authorization_mode.n; i++)
        all |= str_is(f->authorization_mode.at[i], "AlwaysAllow");
    return f->anonymous_auth && APISERVER_FLAG_GIVEN(f, anonymous_auth) && !all;
}

static bool is_among(struct str text, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(text, words[i]))
            return true;
    return false;
}

static const char *modes_text(struct arena *a, const struct flag_strings *modes)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (size_t i = 0; i < modes->n; i++)
        strbuf_printf(&b, "%s%s", i ? " " : "", flag_quoted(a, modes->at[i]));
    const char *text = arena_cstr(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static void check_modes(const struct apiserver_flags *f, struct arena *a, struct flag_strings *problems)
{
    static const char *const known[] = { "AlwaysAllow", "AlwaysDeny", "ABAC", "Webhook", "RBAC", "Node" };
    bool repeated = false, abac = false, webhook = false;
    const struct flag_strings *modes = &f->authorization_mode;
    for (size_t i = 0; i < modes->n; i++) {
        struct str mode = modes->at[i];
        if (!is_among(mode, known, sizeof(known) / sizeof(known[0])))
            push(a, problems, arena_printf(a, "authorization-mode %s is not a valid mode", flag_quoted(a, mode)));
        for (size_t k = 0; k < i; k++)
            repeated |= str_eq(modes->at[k], mode);
        abac |= str_is(mode, "ABAC");
        webhook |= str_is(mode, "Webhook");
    }
    if (abac && f->authorization_policy_file.n == 0)
        push(a, problems, "authorization-mode ABAC's authorization policy file not passed");
    if (webhook && f->authorization_webhook_config_file.n == 0)
        push(a, problems, "authorization-mode Webhook's authorization config file not passed");
    if (!abac && f->authorization_policy_file.n)
        push(a, problems, "cannot specify --authorization-policy-file without mode ABAC");
    if (!webhook && f->authorization_webhook_config_file.n)
        push(a, problems, "cannot specify --authorization-webhook-config-file without mode Webhook");
    if (repeated)
        push(a, problems, arena_printf(a, "authorization-mode [%s] has mode specified more than once",
                                       modes_text(a, modes)));
}

/* ---- APIs that are on or off ---- */

static bool is_group(struct str group)
{
    for (size_t i = 0; i < schema_n_resources; i++)
        if (str_eq(schema_resources[i].group, group))
            return true;
    return false;
}

static int compare_strings(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void check_apis(const struct apiserver_flags *f, struct arena *a, struct flag_strings *problems)
{
    static const char *const words[] = { "v1", "api/all", "api/ga", "api/beta", "api/alpha", "api/legacy" };
    const struct flag_pairs *given = &f->runtime_config;
    struct str *unknown = ARENA_NEW_N(a, struct str, given->n);
    size_t n_unknown = 0;
    for (size_t i = 0; i < given->n; i++) {
        struct str key = given->at[i].key, version = key, group = flag_take_until(&version, '/');
        if (is_among(key, words, sizeof(words) / sizeof(words[0])))
            continue;
        if (str_index(key, '/') == key.n) {
            push(a, problems, arena_printf(a, "runtime-config invalid key %.*s", STR_ARG(key)));
            return;
        }
        if (!is_group(group))
            unknown[n_unknown++] = key;
    }
    if (n_unknown == 0)
        return;
    sort_stable(a, unknown, n_unknown, sizeof(*unknown), compare_strings);
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (size_t i = 0; i < n_unknown; i++)
        strbuf_printf(&b, "%s%.*s", i ? "," : "unknown api groups ", STR_ARG(unknown[i]));
    flag_strings_push(a, problems, arena_str(a, strbuf_str(&b)));
    strbuf_fini(&b);
}

/* ---- Services ---- */

enum err_code apiserver_check_cidr(const struct apiserver_flags *f, struct str *ret_cidr, struct err *e)
{
    struct str rest = f->service_cluster_ip_range, first = flag_trimmed(flag_take_until(&rest, ','));
    struct ip_addr address;
    unsigned bits;
    if (f->service_cluster_ip_range.n == 0) {
        *ret_cidr = STR(APISERVER_CIDR_DEFAULT);
        return ERR_OK;
    }
    if (!cidr_parse(first, &address, &bits))
        return err_set(e, ERR_INVALID, "service-cluster-ip-range[0] is not a valid cidr");
    if (!ip_is_v4_mapped(&address) || rest.n)
        return err_set(e, ERR_INVALID, "--service-cluster-ip-range must be one range of IPv4 addresses: services with "
                                       "IPv6 "
                                       "addresses are not there yet");
    *ret_cidr = first;
    return ERR_OK;
}

static void check_node_port(const struct apiserver_flags *f, struct arena *a, struct flag_strings *problems)
{
    long long port = f->kubernetes_service_node_port;
    const struct flag_port_range *r = &f->service_node_port_range;
    if (port < 0 || port > UINT16_MAX)
        push(a, problems, arena_printf(a, "--kubernetes-service-node-port %lld must be between 0 and 65535, "
                                          "inclusive. If "
                                          "0, the Kubernetes master service will be of type ClusterIP",
                                       port));
    if (port > 0 && (port < r->first || port - r->first >= r->n))
        push(a, problems, arena_printf(a, "kubernetes service node port range %d-%d doesn't contain %lld", r->first,
                                       r->first + r->n - 1, port));
    if (f->apiserver_count <= 0)
        push(a, problems, arena_printf(a, "--apiserver-count should be a positive number, but value '%lld' provided",
                                       (long long)f->apiserver_count));
}

/* ---- All of them ---- */

enum err_code apiserver_check_flags(const struct apiserver_flags *f, const struct gates *g,
                                    struct flag_strings *warnings, struct err *e)
{
    struct flag_strings problems = { 0 };
    struct scheduler_flags shared;
    struct str cidr;
    if (apiserver_check_cidr(f, &cidr, e)) /* before the others, alone */
        return e->code;
    check_numbers(f, e->arena, &problems);
    check_storage(f, e->arena, &problems);
    check_port(f, e->arena, &problems);
    check_modes(f, e->arena, &problems);
    check_apis(f, e->arena, &problems);
    check_node_port(f, e->arena, &problems);
    if (joined(&problems, e))
        return e->code;
    apiserver_flags_shared(f, e->arena, &shared);
    return scheduler_check_flags(&shared, g, warnings, e);
}
