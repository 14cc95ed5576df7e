/* apiserver/table_cells.c - cells that are more than a field: one function each, listed at the end.
 * Upstream: printers/internalversion, v1.36. */
#include <stdlib.h>

#include "apiserver/table.h"
#include "apiserver/table_pod.h"
#include "apiserver/table_priv.h"

#define NONE STR("<none>")
#define UNKNOWN "<unknown>"

/* ---- Texts ---- */

static struct str text_or(struct str text, struct str otherwise)
{
    return text.n ? text : otherwise;
}

static struct str lower(struct cells *c, struct str text)
{
    char *to = arena_cstr(c->a, text);
    for (size_t i = 0; i < text.n; i++)
        to[i] = (char)(to[i] >= 'A' && to[i] <= 'Z' ? to[i] | 0x20 : to[i]);
    return (struct str){ to, text.n };
}

/* The first few of many: "a,b,c + 2 more...". */
struct few {
    struct strbuf text;
    uint32_t n_kept, n, max;
};

static struct few few_init(uint32_t max)
{
    struct few f = { .max = max };
    strbuf_init(&f.text, STRBUF_NO_MAX);
    return f;
}

static void few_add(struct few *f, struct str text, const char *separator)
{
    f->n++;
    if (f->n_kept == f->max)
        return;
    if (f->n_kept++)
        strbuf_add_text(&f->text, separator);
    strbuf_add_str(&f->text, text);
}

static void few_cell(struct cells *c, struct few *f, struct str otherwise)
{
    if (f->n > f->max)
        strbuf_printf(&f->text, " + %u more...", f->n - f->max);
    cell_text(c, text_or(strbuf_str(&f->text), otherwise));
    strbuf_fini(&f->text);
}

static int compare_texts(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Sorted, each once, with commas. */
static struct str join_set(struct cells *c, struct str *texts, size_t n)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    qsort(texts, n, sizeof(*texts), compare_texts);
    for (size_t i = 0; i < n; i++) {
        if (i && str_eq(texts[i], texts[i - 1]))
            continue;
        if (text.n)
            strbuf_add_char(&text, ',');
        strbuf_add_str(&text, texts[i]);
    }
    struct str kept = arena_str(c->a, strbuf_str(&text));
    strbuf_fini(&text);
    return kept;
}

static bool is_leaving(struct cells *c)
{
    int64_t ns;
    return node_time(c->root, "metadata.deletionTimestamp", &ns);
}

static struct str annotation(struct cells *c, const char *key)
{
    const struct value *map = node_at(c->root, "metadata.annotations").v;
    const struct value *v = map->kind == VALUE_MAP ? value_member(map, str_of(key)) : NULL;
    return v ? value_text(v) : (struct str){ 0 };
}

static const struct value absent;
static const struct node nothing = { NULL, &absent };

/* The last condition of a type counts for nodes, the first one for all else. */
static struct node find_condition(struct cells *c, const char *path, const char *type, bool last)
{
    struct node list = node_at(c->root, path), found = nothing;
    for (uint32_t i = 0; i < node_count(list); i++)
        if (str_is(node_text(node_item(list, i), "type"), type)) {
            found = node_item(list, i);
            if (!last)
                break;
        }
    return found;
}

/* ---- Nodes ---- */

static void node_status(struct cells *c)
{
    struct node ready = find_condition(c, "status.conditions", "Ready", true);
    const char *text = "Unknown";
    if (ready.t)
        text = str_is(node_text(ready, "status"), "True") ? "Ready" : "NotReady";
    cell_printf(c, "%s%s", text, node_bool(c->root, "spec.unschedulable", false) ? ",SchedulingDisabled" : "");
}

static void node_roles(struct cells *c)
{
    struct node labels = node_at(c->root, "metadata.labels");
    struct str *roles = ARENA_NEW_N(c->a, struct str, node_count(labels));
    const struct str prefix = STR("node-role.kubernetes.io/");
    size_t n = 0;
    for (uint32_t i = 0; i < node_count(labels); i++) {
        struct str key = labels.v->members[i].key, value = value_text(&labels.v->members[i].value);
        if (str_starts(key, prefix) && key.n > prefix.n)
            roles[n++] = str_from(key, prefix.n);
        else if (str_is(key, "kubernetes.io/role") && value.n)
            roles[n++] = value;
    }
    cell_text(c, text_or(join_set(c, roles, n), NONE));
}

static struct str node_address(struct cells *c, const char *type)
{
    struct node list = node_at(c->root, "status.addresses");
    for (uint32_t i = 0; i < node_count(list); i++)
        if (str_is(node_text(node_item(list, i), "type"), type))
            return node_text(node_item(list, i), "address");
    return NONE;
}

static void node_wide(struct cells *c)
{
    struct node info = node_at(c->root, "status.nodeInfo");
    struct str kernel = text_or(node_text(info, "kernelVersion"), STR(UNKNOWN)), arch = node_text(info, "architecture");
    cell_text(c, node_address(c, "InternalIP"));
    cell_text(c, node_address(c, "ExternalIP"));
    cell_text(c, text_or(node_text(info, "osImage"), STR(UNKNOWN)));
    if (arch.n)
        cell_printf(c, "%.*s (%.*s)", STR_ARG(kernel), STR_ARG(arch));
    else
        cell_text(c, kernel);
    cell_text(c, text_or(node_text(info, "containerRuntimeVersion"), STR(UNKNOWN)));
}

/* ---- Core ---- */

static void component(struct cells *c)
{
    struct node healthy = find_condition(c, "conditions", "Healthy", false);
    const char *text = "Unknown";
    if (healthy.t)
        text = str_is(node_text(healthy, "status"), "True") ? "Healthy" : "Unhealthy";
    cell_text(c, str_of(text));
    cell_text(c, node_text(healthy, "message"));
    cell_text(c, node_text(healthy, "error"));
}

static void config_map(struct cells *c)
{
    cell_int(c, (int64_t)node_count(node_at(c->root, "data")) + node_count(node_at(c->root, "binaryData")));
}

static void add_addresses(struct cells *c, struct few *f, struct node addresses, const struct node *port)
{
    for (uint32_t i = 0; i < node_count(addresses); i++) {
        struct str ip = node_text(node_item(addresses, i), "ip");
        bool v6 = str_index(ip, ':') < ip.n;
        const char *format = v6 ? "[%.*s]:%lld" : "%.*s:%lld";
        if (port && f->n_kept < f->max)
            ip = str_of(arena_printf(c->a, format, STR_ARG(ip), (long long)node_int(*port, "port")));
        few_add(f, ip, ",");
    }
}

static void endpoints(struct cells *c)
{
    struct node subsets = node_at(c->root, "subsets");
    struct few f = few_init(3);
    for (uint32_t i = 0; i < node_count(subsets); i++) {
        struct node addresses = node_at(node_item(subsets, i), "addresses"), ports = node_at(node_item(subsets, i),
                                                                                             "ports");
        if (node_count(ports) == 0)
            add_addresses(c, &f, addresses, NULL);
        for (uint32_t k = 0; k < node_count(ports); k++) {
            struct node port = node_item(ports, k);
            add_addresses(c, &f, addresses, &port);
        }
    }
    few_cell(c, &f, node_count(subsets) ? STR("") : NONE);
}

static struct str ingress_points(struct cells *c)
{
    struct node list = node_at(c->root, "status.loadBalancer.ingress");
    struct str *points = ARENA_NEW_N(c->a, struct str, node_count(list));
    size_t n = 0;
    for (uint32_t i = 0; i < node_count(list); i++) {
        struct str point = text_or(node_text(node_item(list, i), "ip"), node_text(node_item(list, i), "hostname"));
        if (point.n)
            points[n++] = point;
    }
    return join_set(c, points, n);
}

static void service_external(struct cells *c)
{
    struct str type = node_text(c->root, "spec.type");
    struct node external = node_at(c->root, "spec.externalIPs");
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    if (str_is(type, "LoadBalancer"))
        strbuf_add_str(&text, ingress_points(c));
    for (uint32_t i = 0; i < node_count(external); i++)
        strbuf_printf(&text, "%s%.*s", text.n ? "," : "", STR_ARG(value_text(node_item(external, i).v)));
    if (str_is(type, "ExternalName"))
        cell_text(c, node_text(c->root, "spec.externalName"));
    else
        cell_text(c, text_or(strbuf_str(&text), str_is(type, "LoadBalancer") ? STR("<pending>") : NONE));
    strbuf_fini(&text);
}

static void service(struct cells *c)
{
    struct node ports = node_at(c->root, "spec.ports");
    struct strbuf text;
    service_external(c);
    strbuf_init(&text, STRBUF_NO_MAX);
    for (uint32_t i = 0; i < node_count(ports); i++) {
        struct node port = node_item(ports, i);
        strbuf_printf(&text, "%s%lld", i ? "," : "", (long long)node_int(port, "port"));
        if (node_int(port, "nodePort") > 0)
            strbuf_printf(&text, ":%lld", (long long)node_int(port, "nodePort"));
        strbuf_printf(&text, "/%.*s", STR_ARG(node_text(port, "protocol")));
    }
    cell_text(c, text_or(strbuf_str(&text), NONE));
    strbuf_fini(&text);
}

static void quota(struct cells *c)
{
    struct node hard = node_at(c->root, "status.hard"), used = node_at(c->root, "status.used");
    struct strbuf columns[2];
    strbuf_init(&columns[0], STRBUF_NO_MAX);
    strbuf_init(&columns[1], STRBUF_NO_MAX);
    for (uint32_t i = 0; i < node_count(hard); i++) {
        struct str name = hard.v->members[i].key, have = STR("0");
        const struct value *v = used.v->kind == VALUE_MAP ? value_member(used.v, name) : NULL;
        struct strbuf *to = &columns[str_starts(name, STR("limits."))];
        if (v)
            have = value_text(v);
        strbuf_printf(to, "%s%.*s: %.*s/%.*s", to->n ? ", " : "", STR_ARG(name), STR_ARG(have),
                      STR_ARG(value_text(&hard.v->members[i].value)));
    }
    for (int i = 0; i < 2; i++) {
        cell_text(c, strbuf_str(&columns[i]));
        strbuf_fini(&columns[i]);
    }
}

/* ---- Events ---- */

static struct str trim(struct str s)
{
    while (s.n && strchr(" \t\n\v\f\r", s.p[0]))
        s = str_from(s, 1);
    while (s.n && strchr(" \t\n\v\f\r", s.p[s.n - 1]))
        s.n--;
    return s;
}

struct event_fields {
    const char *object, *message, *component, *first, *last, *count, *source;
};

static void event_of(struct cells *c, const struct event_fields *f)
{
    int64_t first_ns, last_ns, series_ns;
    bool first = node_time(c->root, f->first, &first_ns) || node_time(c->root, "eventTime", &first_ns);
    bool last = node_time(c->root, f->last, &last_ns), series = node_at(c->root, "series").v->kind == VALUE_STRUCT;
    int64_t count = node_int(c->root, f->count);
    if (!last) {
        last = first;
        last_ns = first_ns;
    }
    if (series) {
        last = node_time(c->root, "series.lastObservedTime", &series_ns);
        last_ns = series_ns;
        count = node_int(c->root, "series.count");
    } else if (count == 0) {
        count = 1;
    }
    struct node object = node_at(c->root, f->object), source = node_at(c->root, f->source);
    struct str kind = lower(c, node_text(object, "kind")), name = node_text(object, "name");
    struct str by = text_or(node_text(source, "component"), node_text(c->root, f->component));
    struct str instance = text_or(node_text(source, "host"), node_text(c->root, "reportingInstance"));
    cell_age(c, last, last_ns);
    cell_text(c, node_text(c->root, "type"));
    cell_text(c, node_text(c->root, "reason"));
    cell_printf(c, "%.*s%s%.*s", STR_ARG(kind), name.n ? "/" : "", STR_ARG(name));
    cell_text(c, node_text(object, "fieldPath"));
    cell_printf(c, "%.*s%s%.*s", STR_ARG(by), instance.n ? ", " : "", STR_ARG(instance));
    cell_text(c, trim(node_text(c->root, f->message)));
    cell_age(c, first, first_ns);
    cell_int(c, count);
    cell_text(c, node_text(c->root, "metadata.name"));
}

static void core_event(struct cells *c)
{
    event_of(c, &(const struct event_fields){ "involvedObject", "message", "reportingComponent", "firstTimestamp",
                                              "lastTimestamp", "count", "source" });
}

static void event(struct cells *c)
{
    event_of(c, &(const struct event_fields){ "regarding", "note", "reportingController", "deprecatedFirstTimestamp",
                                              "deprecatedLastTimestamp", "deprecatedCount", "deprecatedSource" });
}

/* ---- Volumes ---- */

static void cell_modes(struct cells *c, const char *path)
{
    static const struct {
        const char *mode, *text;
    } modes[] = { { "ReadWriteOnce", "RWO" }, { "ReadOnlyMany", "ROX" }, { "ReadWriteMany", "RWX" },
                  { "ReadWriteOncePod", "RWOP" } };
    struct node list = node_at(c->root, path);
    struct few f = few_init(4);
    for (size_t k = 0; k < 4; k++)
        for (uint32_t i = 0; i < node_count(list); i++)
            if (str_is(value_text(node_item(list, i).v), modes[k].mode)) {
                few_add(&f, str_of(modes[k].text), ",");
                break;
            }
    few_cell(c, &f, STR(""));
}

static void phase(struct cells *c)
{
    cell_text(c, is_leaving(c) ? STR("Terminating") : node_text(c->root, "status.phase"));
}

static struct str storage_class(struct cells *c)
{
    return text_or(annotation(c, "volume.beta.kubernetes.io/storage-class"), node_text(c->root,
                                                                                       "spec.storageClassName"));
}

static void volume(struct cells *c)
{
    cell_text(c, text_or(node_text(c->root, "spec.capacity.storage"), STR("0")));
    cell_modes(c, "spec.accessModes");
    cell_text(c, node_text(c->root, "spec.persistentVolumeReclaimPolicy"));
}

static void volume_claim(struct cells *c)
{
    struct node ref = node_at(c->root, "spec.claimRef");
    if (ref.v->kind == VALUE_STRUCT)
        cell_printf(c, "%.*s/%.*s", STR_ARG(node_text(ref, "namespace")), STR_ARG(node_text(ref, "name")));
    else
        cell_text(c, STR(""));
}

static void volume_class(struct cells *c)
{
    cell_text(c, storage_class(c));
}

static void claim_bound(struct cells *c)
{
    bool bound = node_text(c->root, "spec.volumeName").n > 0;
    cell_text(c, bound ? text_or(node_text(c->root, "status.capacity.storage"), STR("0")) : STR(""));
    if (bound)
        cell_modes(c, "status.accessModes");
    else
        cell_text(c, STR(""));
}

static void name_with_default(struct cells *c, const char *key, const char *old_key)
{
    bool is_default = str_is(annotation(c, key), "true") || (old_key && str_is(annotation(c, old_key), "true"));
    cell_printf(c, "%.*s%s", STR_ARG(node_text(c->root, "metadata.name")), is_default ? " (default)" : "");
}

static void storage_class_name(struct cells *c)
{
    name_with_default(c, "storageclass.kubernetes.io/is-default-class",
                      "storageclass.beta.kubernetes.io/is-default-class");
}

static void token_requests(struct cells *c)
{
    struct node list = node_at(c->root, "spec.tokenRequests");
    struct few f = few_init(UINT32_MAX);
    for (uint32_t i = 0; i < node_count(list); i++)
        few_add(&f, node_text(node_item(list, i), "audience"), ",");
    few_cell(c, &f, node_count(list) ? STR("") : STR("<unset>"));
}

/* ---- Workloads ---- */

static void ready_of_replicas(struct cells *c)
{
    cell_printf(c, "%lld/%lld", (long long)node_int(c->root, "status.readyReplicas"),
                (long long)node_int(c->root, "spec.replicas"));
}

static void deployment_selector(struct cells *c)
{
    cell_text(c, selector_of(c, node_at(c->root, "spec.selector"), false));
}

static void revision_owner(struct cells *c)
{
    struct node owners = node_at(c->root, "metadata.ownerReferences");
    for (uint32_t i = 0; i < node_count(owners); i++) {
        struct node owner = node_item(owners, i);
        struct str group, version;
        if (!node_bool(owner, "controller", false))
            continue;
        schema_split_api_version(node_text(owner, "apiVersion"), &group, &version);
        struct str kind = lower(c, node_text(owner, "kind")), name = node_text(owner, "name");
        cell_printf(c, "%.*s%s%.*s/%.*s", STR_ARG(kind), group.n ? "." : "", STR_ARG(lower(c, group)), STR_ARG(name));
        return;
    }
    cell_text(c, NONE);
}

static void job_status(struct cells *c)
{
    static const struct {
        const char *type, *text; /* a NULL type: the job is leaving */
    } states[] = { { "Complete", "Complete" }, { "Failed", "Failed" }, { NULL, "Terminating" },
                   { "Suspended", "Suspended" }, { "FailureTarget", "FailureTarget" },
                   { "SuccessCriteriaMet", "SuccessCriteriaMet" } };
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        bool is = states[i].type ? str_is(node_text(find_condition(c, "status.conditions", states[i].type, false),
                                                    "status"),
                                          "True")
                                 : is_leaving(c);
        if (is) {
            cell_text(c, str_of(states[i].text));
            return;
        }
    }
    cell_text(c, STR("Running"));
}

static void job(struct cells *c)
{
    long long succeeded = node_int(c->root, "status.succeeded"), parallelism = node_int(c->root, "spec.parallelism");
    int64_t start_ns, end_ns;
    job_status(c);
    if (node_at(c->root, "spec.completions").v->kind == VALUE_INT)
        cell_printf(c, "%lld/%lld", succeeded, (long long)node_int(c->root, "spec.completions"));
    else if (parallelism > 1)
        cell_printf(c, "%lld/1 of %lld", succeeded, parallelism);
    else
        cell_printf(c, "%lld/1", succeeded);
    if (!node_time(c->root, "status.startTime", &start_ns)) {
        cell_text(c, STR(""));
        return;
    }
    struct cells then = *c;
    if (node_time(c->root, "status.completionTime", &end_ns))
        then.now_ns = end_ns;
    cell_text(c, age_text(&then, true, start_ns));
}

static void cron_suspended(struct cells *c)
{
    const struct value *v = node_at(c->root, "spec.suspend").v;
    cell_text(c, v->kind != VALUE_BOOL ? STR("<unset>") : v->b ? STR("True") : STR("False"));
}

/* ---- Autoscalers ---- */

static struct str percent(struct cells *c, struct node n, const char *otherwise)
{
    const struct value *v = node_at(n, "averageUtilization").v;
    return str_of(v->kind == VALUE_INT ? arena_printf(c->a, "%lld%%", (long long)v->i) : otherwise);
}

/* What one metric is and should be; `now` is where the status has it, maybe nothing. */
static struct str metric(struct cells *c, struct node spec, struct node now)
{
    static const struct {
        const char *type, *field;
        bool named, object; /* object: a value of the whole, too */
    } kinds[] = { { "External", "external", false, true }, { "Pods", "pods", false, false }, { "Object", "object",
                                                                                               false, true },
                  { "Resource", "resource", true, false }, { "ContainerResource", "containerResource", true, false } };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (!str_is(node_text(spec, "type"), kinds[i].type))
            continue;
        struct node of = node_at(spec, kinds[i].field), target = node_at(of, "target");
        struct node current = node_at(node_at(now, kinds[i].field), "current");
        struct str average = node_text(target, "averageValue"), name = node_text(of, "name");
        bool known = current.v->kind == VALUE_STRUCT;
        const char *field = average.n ? "averageValue" : "value";
        struct str is = text_or(node_text(current, field), known && !kinds[i].object ? STR("0") : STR(UNKNOWN));
        if (kinds[i].named && !average.n)
            return str_of(arena_printf(c->a, "%.*s: %.*s/%.*s", STR_ARG(name), STR_ARG(percent(c, current, UNKNOWN)),
                                       STR_ARG(percent(c, target, "<auto>"))));
        struct str want = average.n ? average : node_text(target, "value");
        return str_of(arena_printf(c->a, "%.*s%s%.*s/%.*s%s", STR_ARG(name), kinds[i].named ? ": " : "", STR_ARG(is),
                                   STR_ARG(want), kinds[i].object && average.n ? " (avg)" : ""));
    }
    return STR("<unknown type>");
}

static void autoscaler(struct cells *c)
{
    struct node ref = node_at(c->root, "spec.scaleTargetRef"), min = node_at(c->root, "spec.minReplicas");
    struct node specs = node_at(c->root, "spec.metrics"), now = node_at(c->root, "status.currentMetrics");
    struct few f = few_init(2);
    cell_printf(c, "%.*s/%.*s", STR_ARG(node_text(ref, "kind")), STR_ARG(node_text(ref, "name")));
    for (uint32_t i = 0; i < node_count(specs); i++)
        few_add(&f, metric(c, node_item(specs, i), i < node_count(now) ? node_item(now, i) : nothing), ", ");
    few_cell(c, &f, NONE);
    if (min.v->kind == VALUE_INT)
        cell_printf(c, "%lld", (long long)min.v->i);
    else
        cell_text(c, STR("<unset>"));
}

/* ---- Network ---- */

static void ingress(struct cells *c)
{
    struct node rules = node_at(c->root, "spec.rules");
    struct few f = few_init(3);
    bool more = false;
    for (uint32_t i = 0; i < node_count(rules); i++) {
        struct str host = node_text(node_item(rules, i), "host");
        more |= f.n_kept == f.max;
        if (!more && host.n)
            few_add(&f, host, ",");
    }
    if (more) /* as upstream: rules without a host count, too */
        f.n = node_count(rules);
    few_cell(c, &f, STR("*"));
    cell_text(c, ingress_points(c));
    cell_text(c, node_count(node_at(c->root, "spec.tls")) ? STR("80, 443") : STR("80"));
}

static void ingress_class_name(struct cells *c)
{
    name_with_default(c, "ingressclass.kubernetes.io/is-default-class", NULL);
}

static void ingress_class_parameters(struct cells *c)
{
    struct node p = node_at(c->root, "spec.parameters");
    struct str group = node_text(p, "apiGroup");
    bool grouped = node_at(p, "apiGroup").v->kind == VALUE_STRING;
    if (p.v->kind == VALUE_STRUCT)
        cell_printf(c, "%.*s%s%.*s/%.*s", STR_ARG(node_text(p, "kind")), grouped ? "." : "", STR_ARG(group),
                    STR_ARG(node_text(p, "name")));
    else
        cell_text(c, NONE);
}

static void address_parent(struct cells *c)
{
    struct node p = node_at(c->root, "spec.parentRef");
    struct str group = node_text(p, "group"), ns = node_text(p, "namespace");
    if (p.v->kind == VALUE_STRUCT)
        cell_printf(c, "%.*s%s%.*s%s%.*s/%.*s", STR_ARG(lower(c, node_text(p, "resource"))), group.n ? "." : "",
                    STR_ARG(lower(c, group)), ns.n ? "/" : "", STR_ARG(ns), STR_ARG(node_text(p, "name")));
    else
        cell_text(c, NONE);
}

static void slice(struct cells *c)
{
    struct node ports = node_at(c->root, "ports"), list = node_at(c->root, "endpoints");
    struct few f = few_init(3), addresses = few_init(3);
    for (uint32_t i = 0; i < node_count(ports); i++) {
        struct node port = node_at(node_item(ports, i), "port"), name = node_at(node_item(ports, i), "name");
        if (port.v->kind == VALUE_INT)
            few_add(&f, str_of(arena_printf(c->a, "%lld", (long long)port.v->i)), ",");
        else
            few_add(&f, name.v->kind == VALUE_STRING ? value_text(name.v) : STR("*"), ",");
    }
    few_cell(c, &f, STR("<unset>"));
    for (uint32_t i = 0; i < node_count(list); i++) {
        struct node at = node_at(node_item(list, i), "addresses");
        for (uint32_t k = 0; k < node_count(at); k++)
            few_add(&addresses, value_text(node_item(at, k).v), ",");
    }
    few_cell(c, &addresses, STR("<unset>"));
}

/* ---- Who may what ---- */

static void role_ref(struct cells *c)
{
    cell_printf(c, "%.*s/%.*s", STR_ARG(node_text(c->root, "roleRef.kind")), STR_ARG(node_text(c->root,
                                                                                               "roleRef.name")));
}

static void subjects(struct cells *c)
{
    static const char *const kinds[] = { "User", "Group", "ServiceAccount" };
    struct node list = node_at(c->root, "subjects");
    for (size_t k = 0; k < 3; k++) {
        struct few f = few_init(UINT32_MAX);
        for (uint32_t i = 0; i < node_count(list); i++) {
            struct node s = node_item(list, i);
            struct str name = node_text(s, "name"), ns = node_text(s, "namespace");
            if (!str_is(node_text(s, "kind"), kinds[k]))
                continue;
            if (k == 2)
                name = str_of(arena_printf(c->a, "%.*s/%.*s", STR_ARG(ns), STR_ARG(name)));
            few_add(&f, name, ", ");
        }
        few_cell(c, &f, STR(""));
    }
}

static void certificate_request(struct cells *c)
{
    const struct value *seconds = node_at(c->root, "spec.expirationSeconds").v;
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    if (seconds->kind == VALUE_INT)
        table_add_duration(&text, seconds->i * 1000000000);
    cell_text(c, text_or(strbuf_str(&text), NONE));
    strbuf_reset(&text);
    bool denied = find_condition(c, "status.conditions", "Denied", false).t != NULL;
    bool approved = find_condition(c, "status.conditions", "Approved", false).t != NULL;
    strbuf_add_text(&text, denied ? "Denied" : approved ? "Approved" : "Pending");
    if (find_condition(c, "status.conditions", "Failed", false).t)
        STRBUF_ADD_LIT(&text, ",Failed");
    if (node_text(c->root, "status.certificate").n)
        STRBUF_ADD_LIT(&text, ",Issued");
    cell_text(c, strbuf_str(&text));
    strbuf_fini(&text);
}

static void param_kind(struct cells *c)
{
    struct node p = node_at(c->root, "spec.paramKind");
    if (p.v->kind == VALUE_STRUCT)
        cell_printf(c, "%.*s/%.*s", STR_ARG(node_text(p, "apiVersion")), STR_ARG(node_text(p, "kind")));
    else
        cell_text(c, STR("<unset>"));
}

/* Upstream prints a selector here as Go prints its struct, addresses of it included; the selector's text says more. */
static void param_ref(struct cells *c)
{
    struct node p = node_at(c->root, "spec.paramRef"), selector = node_at(p, "selector");
    struct str name = node_text(p, "name");
    if (name.n)
        cell_printf(c, "%.*s/%.*s", STR_ARG(text_or(node_text(p, "namespace"), STR("*"))), STR_ARG(name));
    else
        cell_text(c, selector.v->kind == VALUE_STRUCT ? selector_of(c, selector, true) : STR("<unset>"));
}

static void api_service(struct cells *c)
{
    struct node s = node_at(c->root, "spec.service"), available = find_condition(c, "status.conditions", "Available",
                                                                                 false);
    struct str status = node_text(available, "status"), reason = node_text(available, "reason");
    if (s.v->kind == VALUE_STRUCT)
        cell_printf(c, "%.*s/%.*s", STR_ARG(node_text(s, "namespace")), STR_ARG(node_text(s, "name")));
    else
        cell_text(c, STR("Local"));
    if (!available.t)
        cell_text(c, STR("Unknown"));
    else if (str_is(status, "True") || reason.n == 0)
        cell_text(c, status);
    else
        cell_printf(c, "%.*s (%.*s)", STR_ARG(status), STR_ARG(reason));
}

static void flow_dangling(struct cells *c)
{
    struct node dangling = find_condition(c, "status.conditions", "Dangling", false);
    cell_text(c, dangling.t ? node_text(dangling, "status") : STR("?"));
}

static void cell_int_or_none(struct cells *c, struct node n, bool there)
{
    if (there)
        cell_int(c, n.v->kind == VALUE_INT ? n.v->i : 0);
    else
        cell_text(c, NONE);
}

static void priority_level(struct cells *c)
{
    struct node limited = node_at(c->root, "spec.limited"), queuing = node_at(limited, "limitResponse.queuing");
    bool there = limited.v->kind == VALUE_STRUCT, queues = queuing.v->kind == VALUE_STRUCT;
    cell_int_or_none(c, node_at(limited, "nominalConcurrencyShares"), there);
    cell_int_or_none(c, node_at(queuing, "queues"), queues);
    cell_int_or_none(c, node_at(queuing, "handSize"), queues);
    cell_int_or_none(c, node_at(queuing, "queueLengthLimit"), queues);
}

static void claim_state(struct cells *c)
{
    bool allocated = node_at(c->root, "status.allocation").v->kind == VALUE_STRUCT, leaving = is_leaving(c);
    bool reserved = allocated && node_count(node_at(c->root, "status.reservedFor")) > 0;
    struct few f = few_init(3);
    if (leaving)
        few_add(&f, STR("deleted"), ",");
    if (allocated)
        few_add(&f, STR("allocated"), ",");
    else if (!leaving)
        few_add(&f, STR("pending"), ",");
    if (reserved)
        few_add(&f, STR("reserved"), ",");
    few_cell(c, &f, STR(""));
}

/* ---- By name ---- */

static const struct {
    const char *name;
    void (*add)(struct cells *c);
} functions[] = {
    { "address_parent", address_parent }, { "api_service", api_service }, { "autoscaler", autoscaler },
    { "certificate_request", certificate_request }, { "claim_bound", claim_bound }, { "claim_class", volume_class },
    { "claim_state", claim_state }, { "component", component }, { "config_map", config_map },
    { "core_event", core_event }, { "cron_suspended", cron_suspended }, { "deployment_selector", deployment_selector },
    { "endpoints", endpoints }, { "event", event }, { "flow_dangling", flow_dangling }, { "ingress", ingress },
    { "ingress_class_name", ingress_class_name }, { "ingress_class_parameters", ingress_class_parameters },
    { "job", job }, { "node_roles", node_roles }, { "node_status", node_status }, { "node_wide", node_wide },
    { "param_kind", param_kind }, { "param_ref", param_ref }, { "phase", phase }, { "pod", pod_cells },
    { "pod_gates", pod_gates_cell }, { "priority_level", priority_level }, { "quota", quota },
    { "ready_of_replicas", ready_of_replicas }, { "revision_owner", revision_owner }, { "role_ref", role_ref },
    { "service", service }, { "slice", slice }, { "storage_class_name", storage_class_name }, { "subjects", subjects },
    { "token_requests", token_requests }, { "volume", volume }, { "volume_claim", volume_claim },
    { "volume_class", volume_class },
};

bool table_function(struct cells *c, struct str name)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (str_is(name, functions[i].name)) {
            functions[i].add(c);
            return true;
        }
    return false;
}
