/* apiserver/bootstrap.c - see bootstrap.h. Upstream: pkg/controlplane, apiserver/pkg/apis/flowcontrol/bootstrap,
 * kube-apiserver's aggregator.go. */
#include "apiserver/bootstrap.h"

#include <assert.h>

#include "api/edit.h"
#include "api/field_error.h"
#include "api/time.h"
#include "apiserver/stored.h"
#include "base/arena_array.h"
#include "codec/json.h"

struct list_of {
    struct arena *arena;
    const struct bootstrap_options *o;
    struct bootstrap_object *at;
    size_t n, cap;
};

/* The text has all but kind and apiVersion, which are the resource's. */
static void add(struct list_of *l, const char *plural, const char *group, const char *namespace, const char *name,
                struct str json)
{
    struct err e;
    struct value v;
    const struct resource *r = stored_resource(plural, group);
    err_init(&e, l->arena);
    enum err_code rc = json_decode(l->arena, WORK_OWN, r->type, json, NULL, &v, &e);
    assert(rc == ERR_OK); /* our own text */
    const char *version = r->group.n ? arena_printf(l->arena, "%.*s/%.*s", STR_ARG(r->group), STR_ARG(r->version))
                                     : arena_cstr(l->arena, r->version);
    v = edit_set(l->arena, r->type, &v, "kind", value_string(r->kind));
    v = edit_set(l->arena, r->type, &v, "apiVersion", edit_text(version));
    v = edit_set(l->arena, r->type, &v, "metadata.name", edit_text(name));
    if (namespace[0])
        v = edit_set(l->arena, r->type, &v, "metadata.namespace", edit_text(namespace));
    const struct value *status = value_path(r->type, &v, "status");
    l->at = arena_array_more(l->arena, l->at, l->n, &l->cap, sizeof(*l->at));
    l->at[l->n++] = (struct bootstrap_object){ r, str_of(namespace), str_of(name), v, status->kind != VALUE_ABSENT, false };
}

enum { DATE_LENGTH = 10 }; /* of "2026-01-31", with which a time begins */

static const char *now_text(struct list_of *l)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    timestamp_add(&b, (struct timestamp){ l->o->now_s, 0 });
    const char *text = arena_cstr(l->arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

#define TEXT(l, ...) str_of(arena_printf((l)->arena, __VA_ARGS__))

/* ---- Namespaces and priority classes ---- */

static void add_namespaces(struct list_of *l)
{
    static const char *const names[] = { "kube-system", "kube-public", "kube-node-lease", "default" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        add(l, "namespaces", "", "", names[i],
            TEXT(l, "{\"metadata\":{\"labels\":{\"kubernetes.io/metadata.name\":\"%s\"}},"
                    "\"status\":{\"phase\":\"Active\"}}", names[i]));
}

static void add_priority_classes(struct list_of *l)
{
    static const struct {
        const char *name, *text;
        int value;
    } classes[] = {
        { "system-node-critical", "Used for system critical pods that must not be moved from their current node.",
          2000001000 },
        { "system-cluster-critical", "Used for system critical pods that must run in the cluster, but can be moved to "
                                     "another node if necessary.", 2000000000 },
    };
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
        add(l, "priorityclasses", "scheduling.k8s.io", "", classes[i].name,
            TEXT(l, "{\"value\":%d,\"description\":\"%s\","
                    "\"preemptionPolicy\":\"PreemptLowerPriority\"}", classes[i].value,
                 classes[i].text));
}

/* ---- Priority and fairness: stored for clients, not enforced ---- */

#define KEPT_UP "\"metadata\":{\"annotations\":{\"apf.kubernetes.io/autoupdate-spec\":\"true\"}}"

static void add_priority_levels(struct list_of *l)
{
    static const struct {
        const char *name;
        int shares, lendable, queues, hand; /* queues 0: who does not fit is refused */
    } levels[] = {
        { "system", 30, 33, 64, 6 },
        { "node-high", 40, 25, 64, 6 },
        { "leader-election", 10, 0, 16, 4 },
        { "workload-high", 40, 50, 128, 6 },
        { "workload-low", 100, 90, 128, 6 },
        { "global-default", 20, 50, 128, 6 },
        { "catch-all", 5, 0, 0, 0 },
    };
    add(l, "prioritylevelconfigurations", "flowcontrol.apiserver.k8s.io", "", "exempt",
        STR("{" KEPT_UP ",\"spec\":{\"type\":\"Exempt\",\"exempt\":{\"nominalConcurrencyShares\":0,"
                        "\"lendablePercent\":0}}}"));
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        const char *answer = levels[i].queues
                                 ? arena_printf(l->arena, "{\"type\":\"Queue\",\"queuing\":{\"queues\":%d,"
                                                          "\"handSize\":%d,"
                                                          "\"queueLengthLimit\":50}}", levels[i].queues, levels[i].hand)
                                 : "{\"type\":\"Reject\"}";
        add(l, "prioritylevelconfigurations", "flowcontrol.apiserver.k8s.io", "", levels[i].name,
            TEXT(l, "{" KEPT_UP ",\"spec\":{\"type\":\"Limited\",\"limited\":{\"nominalConcurrencyShares\":%d,"
                                "\"limitResponse\":%s,"
                    "\"lendablePercent\":%d}}}", levels[i].shares, answer, levels[i].lendable));
    }
}

#define SUBJECT_GROUP(name) "{\"kind\":\"Group\",\"group\":{\"name\":\"" name "\"}}"
#define SUBJECT_USER(name) "{\"kind\":\"User\",\"user\":{\"name\":\"" name "\"}}"
#define SYSTEM_ACCOUNTS \
    "{\"kind\":\"ServiceAccount\",\"serviceAccount\":{\"namespace\":\"kube-system\",\"name\":\"*\"}}"
#define EVERYONE SUBJECT_GROUP("system:unauthenticated") "," SUBJECT_GROUP("system:authenticated")
#define RESOURCES(verbs, groups, resources, cluster)                                     \
    "{\"verbs\":[" verbs "],\"apiGroups\":[\"" groups "\"],\"resources\":[" resources "]," \
    cluster "\"namespaces\":[\"*\"]}"
#define IN_CLUSTER "\"clusterScope\":true,"
#define EVERYTHING                                                                   \
    "\"resourceRules\":[" RESOURCES("\"*\"", "*", "\"*\"", IN_CLUSTER) "],"           \
    "\"nonResourceRules\":[{\"verbs\":[\"*\"],\"nonResourceURLs\":[\"*\"]}]"
#define LEASES(verbs) RESOURCES(verbs, "coordination.k8s.io", "\"leases\"", "")

static const struct {
    const char *name, *level;
    int precedence;
    const char *by; /* whose requests are told apart by what; NULL: they are not */
    const char *subjects, *rules;
} flows[] = {
    { "exempt", "exempt", 1, NULL, SUBJECT_GROUP("system:masters"), EVERYTHING },
    { "probes", "exempt", 2, NULL, EVERYONE,
      "\"nonResourceRules\":[{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/healthz\",\"/readyz\",\"/livez\"]}]" },
    { "system-leader-election", "leader-election", 100, "ByUser",
      SUBJECT_USER("system:kube-controller-manager") "," SUBJECT_USER("system:kube-scheduler") "," SYSTEM_ACCOUNTS,
      "\"resourceRules\":[" LEASES("\"get\",\"create\",\"update\"") "]" },
    { "system-node-high", "node-high", 400, "ByUser", SUBJECT_GROUP("system:nodes"),
      "\"resourceRules\":[" RESOURCES("\"*\"", "", "\"nodes\",\"nodes/status\"", IN_CLUSTER) "," LEASES("\"*\"") "]" },
    { "system-nodes", "system", 500, "ByUser", SUBJECT_GROUP("system:nodes"), EVERYTHING },
    { "kube-controller-manager", "workload-high", 800, "ByNamespace", SUBJECT_USER("system:kube-controller-manager"),
      EVERYTHING },
    { "kube-scheduler", "workload-high", 800, "ByNamespace", SUBJECT_USER("system:kube-scheduler"), EVERYTHING },
    { "kube-system-service-accounts", "workload-high", 900, "ByNamespace", SYSTEM_ACCOUNTS, EVERYTHING },
    { "service-accounts", "workload-low", 9000, "ByUser", SUBJECT_GROUP("system:serviceaccounts"), EVERYTHING },
    { "global-default", "global-default", 9900, "ByUser", EVERYONE, EVERYTHING },
    { "catch-all", "catch-all", 10000, "ByUser", EVERYONE, EVERYTHING },
};

static void add_flow_schemas(struct list_of *l)
{
    for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
        const char *by = flows[i].by ? arena_printf(l->arena, "\"distinguisherMethod\":{\"type\":\"%s\"},"
                                                              "", flows[i].by) : "";
        add(l, "flowschemas", "flowcontrol.apiserver.k8s.io", "", flows[i].name,
            TEXT(l, "{" KEPT_UP ",\"spec\":{\"priorityLevelConfiguration\":{\"name\":\"%s\"},"
                                "\"matchingPrecedence\":%d,%s"
                    "\"rules\":[{\"subjects\":[%s],%s}]},\"status\":{\"conditions\":[{\"type\":\"Dangling\","
                    "\"status\":\"False\","
                    "\"lastTransitionTime\":\"%s\",\"reason\":\"Found\",\"message\":\"This FlowSchema references the "
                    "PriorityLevelConfiguration object named \\\"%s\\\" and it exists\"}]}}",
                 flows[i].level, flows[i].precedence, by, flows[i].subjects, flows[i].rules, now_text(l),
                 flows[i].level));
    }
}

/* ---- The server itself ---- */

static bool is_reachable(const char *address)
{
    return address && strncmp(address, "127.", 4) != 0 && strcmp(address, "::1") != 0;
}

static void add_own_service(struct list_of *l)
{
    const struct bootstrap_options *o = l->o;
    const char *node_port = o->node_port ? arena_printf(l->arena, ",\"nodePort\":%d", o->node_port) : "";
    add(l, "servicecidrs", "networking.k8s.io", "", "kubernetes",
        TEXT(l, "{\"spec\":{\"cidrs\":[\"%.*s\"]},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\","
                "\"lastTransitionTime\":\"%s\",\"reason\":\"\",\"message\":\"Kubernetes default Service CIDR is "
                "ready\"}]}}",
             STR_ARG(o->service_cidr), now_text(l)));
    add(l, "services", "", "default", "kubernetes",
        TEXT(l, "{\"metadata\":{\"labels\":{\"component\":\"apiserver\",\"provider\":\"kubernetes\"}},"
                "\"spec\":{\"type\":\"%s\","
                "\"clusterIP\":\"%s\","
                "\"ipFamilyPolicy\":\"SingleStack\","
                "\"internalTrafficPolicy\":\"Cluster\",\"sessionAffinity\":\"None\",\"ports\":[{\"name\":\"https\","
                "\"protocol\":\"TCP\",\"port\":443,\"targetPort\":%d%s}]}}",
             o->node_port ? "NodePort" : "ClusterIP", o->service_ip, o->port, node_port));
    if (!is_reachable(o->advertise_address))
        return;
    add(l, "endpoints", "", "default", "kubernetes",
        TEXT(l, "{\"metadata\":{\"labels\":{\"endpointslice.kubernetes.io/skip-mirror\":\"true\"}},"
                "\"subsets\":[{\"addresses\":"
                "[{\"ip\":\"%s\"}],\"ports\":[{\"name\":\"https\",\"port\":%d,\"protocol\":\"TCP\"}]}]}",
             o->advertise_address, o->port));
    add(l, "endpointslices", "discovery.k8s.io", "default", "kubernetes",
        TEXT(l, "{\"metadata\":{\"labels\":{\"kubernetes.io/service-name\":\"kubernetes\"}},\"addressType\":\"%s\","
                "\"endpoints\":[{\"addresses\":[\"%s\"],\"conditions\":{\"ready\":true}}],"
                "\"ports\":[{\"name\":\"https\","
                "\"port\":%d,\"protocol\":\"TCP\"}]}",
             strchr(o->advertise_address, ':') ? "IPv6" : "IPv4", o->advertise_address, o->port));
}

/* ---- Groups that are served ---- */

static const struct {
    const char *group;
    int priority;
} groups[] = {
    { "", 18000 },
    { "apps", 17800 },
    { "events.k8s.io", 17750 },
    { "authentication.k8s.io", 17700 },
    { "authorization.k8s.io", 17600 },
    { "autoscaling", 17500 },
    { "batch", 17400 },
    { "certificates.k8s.io", 17300 },
    { "networking.k8s.io", 17200 },
    { "policy", 17100 },
    { "rbac.authorization.k8s.io", 17000 },
    { "storage.k8s.io", 16800 },
    { "apiextensions.k8s.io", 16700 },
    { "admissionregistration.k8s.io", 16700 },
    { "scheduling.k8s.io", 16600 },
    { "coordination.k8s.io", 16500 },
    { "node.k8s.io", 16300 },
    { "discovery.k8s.io", 16200 },
    { "resource.k8s.io", 16200 },
    { "flowcontrol.apiserver.k8s.io", 16100 },
};

static int version_priority(struct str group, struct str version)
{
    if (group.n == 0)
        return 1;
    if (str_is(group, "autoscaling") && str_is(version, "v2"))
        return 30;
    return str_is(group, "flowcontrol.apiserver.k8s.io") || str_is(group, "resource.k8s.io") ? 21 : 15;
}

static bool is_first_of_version(const struct resource *r)
{
    for (const struct resource *before = schema_resources; before < r; before++)
        if (before->served && str_eq(before->group, r->group) && str_eq(before->version, r->version))
            return false;
    return r->served;
}

static void add_api_service(struct list_of *l, const struct resource *r, int priority)
{
    const char *group = r->group.n ? arena_printf(l->arena, "\"group\":\"%.*s\",", STR_ARG(r->group)) : "";
    add(l, "apiservices", "apiregistration.k8s.io", "",
        arena_printf(l->arena, "%.*s.%.*s", STR_ARG(r->version), STR_ARG(r->group)),
        TEXT(l, "{\"metadata\":{\"labels\":{\"kube-aggregator.kubernetes.io/automanaged\":\"onstart\"}},"
                "\"spec\":{%s\"version\":"
                "\"%.*s\",\"groupPriorityMinimum\":%d,\"versionPriority\":%d},"
                "\"status\":{\"conditions\":[{\"type\":\"Available\","
                "\"status\":\"True\",\"lastTransitionTime\":\"%s\",\"reason\":\"Local\",\"message\":\"Local "
                "APIServices are always "
                "available\"}]}}",
             group, STR_ARG(r->version), priority, version_priority(r->group, r->version), now_text(l)));
}

static void add_api_services(struct list_of *l)
{
    for (size_t i = 0; i < schema_n_resources; i++)
        for (size_t k = 0; is_first_of_version(&schema_resources[i]) && k < sizeof(groups) / sizeof(groups[0]); k++)
            if (str_is(schema_resources[i].group, groups[k].group))
                add_api_service(l, &schema_resources[i], groups[k].priority);
}

/* Since when uses of service accounts' tokens in secrets are noted at the secret: whoever cleans them up counts from there. */
static void add_token_tracking(struct list_of *l)
{
    add(l, "configmaps", "", "kube-system", "kube-apiserver-legacy-service-account-token-tracking",
        TEXT(l, "{\"data\":{\"since\":\"%.*s\"}}", DATE_LENGTH, now_text(l)));
    l->at[l->n - 1].stays = true;
}

/* ---- Who is trusted, for servers that delegate to this one ---- */

static void add_text_member(struct strbuf *b, const char *name, struct str text)
{
    strbuf_printf(b, "%s\"%s\":", b->n > 1 ? "," : "", name);
    field_add_json_string(b, text);
}

/* A list as JSON, within a text. */
static void add_list_member(struct strbuf *b, const char *name, struct str_list list)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    strbuf_add_char(&json, '[');
    for (size_t i = 0; i < list.n; i++) {
        strbuf_add_text(&json, i ? "," : "");
        field_add_json_string(&json, list.at[i]);
    }
    strbuf_add_char(&json, ']');
    add_text_member(b, name, strbuf_str(&json));
    strbuf_fini(&json);
}

static void add_trust(struct list_of *l)
{
    const struct bootstrap_options *o = l->o;
    struct strbuf data;
    if (o->client_ca_pem.n + o->proxy_ca_pem.n == 0)
        return;
    strbuf_init(&data, STRBUF_NO_MAX);
    strbuf_add_char(&data, '{');
    if (o->client_ca_pem.n)
        add_text_member(&data, "client-ca-file", o->client_ca_pem);
    if (o->proxy_ca_pem.n) {
        add_list_member(&data, "requestheader-allowed-names", o->proxy_names);
        add_text_member(&data, "requestheader-client-ca-file", o->proxy_ca_pem);
        add_list_member(&data, "requestheader-extra-headers-prefix", o->proxy_extra_prefixes);
        add_list_member(&data, "requestheader-group-headers", o->proxy_group_headers);
        if (o->proxy_uid_headers.n)
            add_list_member(&data, "requestheader-uid-headers", o->proxy_uid_headers);
        add_list_member(&data, "requestheader-username-headers", o->proxy_user_headers);
    }
    strbuf_add_char(&data, '}');
    add(l, "configmaps", "", "kube-system", "extension-apiserver-authentication",
        TEXT(l, "{\"data\":%.*s}", STR_ARG(strbuf_str(&data))));
    strbuf_fini(&data);
}

struct bootstrap_object *bootstrap_objects(struct arena *a, const struct bootstrap_options *o, size_t *ret_n)
{
    struct list_of l = { .arena = a, .o = o };
    add_namespaces(&l);
    add_priority_classes(&l);
    add_priority_levels(&l);
    add_flow_schemas(&l);
    add_own_service(&l);
    add_api_services(&l);
    add_token_tracking(&l);
    add_trust(&l);
    *ret_n = l.n;
    return l.at;
}
