/* controllers/endpoint_slices.c - see endpoint_slices.h. */
#include "controllers/endpoint_slices.h"

#include "api/edit.h"
#include "api/netaddr.h"
#include "base/arena_array.h"
#include "base/map.h"
#include "base/sort.h"
#include "controllers/port_order.h"
#include "controllers/read.h"
#include "controllers/service_pods.h"

#define SERVICE_NAME STR("kubernetes.io/service-name")
#define MANAGED_BY STR("endpointslice.kubernetes.io/managed-by")
#define HEADLESS STR("service.kubernetes.io/headless")
#define ZONE STR("topology.kubernetes.io/zone")

static const struct value absent = { .kind = VALUE_ABSENT };

const struct type *slice_type(void)
{
    return schema_type(STR("discovery.k8s.io/v1.EndpointSlice"));
}

static const struct type *endpoint_type(void)
{
    return schema_type(STR("discovery.k8s.io/v1.Endpoint"));
}

/* An endpoint that is wanted. */
struct wanted {
    struct str key;
    struct value value;
    bool placed;
};

/* A slice on its way: one that is there, or a new one. */
struct draft {
    const struct value *was; /* NULL: new */
    struct value *endpoints; /* room for ENDPOINTS_OF_SLICE_MAX when it changes */
    uint32_t n;
    struct value ports;
    bool changes, goes;
};

/* Pods with the same ports share slices. */
struct group {
    struct value ports;
    struct wanted *wanted;
    size_t n_wanted, cap_wanted, n_left;
    struct map_str by_key; /* index in `wanted` */
    struct draft **drafts;
    size_t n_drafts, cap_drafts;
    bool has_pods;
};

struct planner {
    struct arena *a;
    const struct slice_state *s;
    const char *family; /* "IPv4" or "IPv6" */
    struct group **groups;
    size_t n_groups, cap_groups;
    struct map_str by_ports;
    struct draft **drafts; /* of this family, first those that are there */
    size_t n_drafts, cap_drafts;
    struct value labels;
    struct slice_plan *plan;
    size_t cap_plan;
};

/* ---- Endpoints ---- */

static void add_addresses(struct planner *p, const struct value *pod, struct value *list)
{
    const struct value *ips = value_path(pod_type(), pod, "status.podIPs");
    const struct type *it = schema_type(STR("core/v1.PodIP"));
    bool want_v6 = strcmp(p->family, "IPv6") == 0;
    for (uint32_t i = 0; i < list_length(ips); i++) {
        struct ip_addr ip;
        char text[IP_TEXT_MAX];
        if (!ip_parse(text_at(it, &ips->items[i], "ip"), &ip) || want_v6 == ip_is_v4_mapped(&ip))
            continue;
        size_t n = ip_print(&ip, text);
        *list = edit_append(p->a, list, value_string(arena_str(p->a, (struct str){ text, n })));
    }
}

static struct value reference_to(struct arena *a, const struct value *pod)
{
    const struct type *rt = schema_type(STR("core/v1.ObjectReference"));
    struct value v = value_struct(a, rt);
    v = edit_set(a, rt, &v, "kind", edit_text("Pod"));
    v = edit_set(a, rt, &v, "namespace", *value_path(pod_type(), pod, "metadata.namespace"));
    v = edit_set(a, rt, &v, "name", *value_path(pod_type(), pod, "metadata.name"));
    return edit_set(a, rt, &v, "uid", *value_path(pod_type(), pod, "metadata.uid"));
}

static struct value endpoint_of(struct planner *p, const struct value *pod, const struct value *node, struct value addresses)
{
    const struct type *t = endpoint_type();
    struct arena *a = p->a;
    bool serving = pod_condition_is_true(pod, STR("Ready")), terminating = pod_is_being_deleted(pod);
    bool ready = true_at(service_type(), p->s->service, "spec.publishNotReadyAddresses") || (serving && !terminating);
    struct value v = value_struct(a, t);
    v = edit_set(a, t, &v, "addresses", addresses);
    v = edit_set(a, t, &v, "conditions.ready", value_bool(ready));
    v = edit_set(a, t, &v, "conditions.serving", value_bool(serving));
    v = edit_set(a, t, &v, "conditions.terminating", value_bool(terminating));
    v = edit_set(a, t, &v, "targetRef", reference_to(a, pod));
    struct str node_name = text_at(pod_type(), pod, "spec.nodeName");
    if (node_name.n)
        v = edit_set(a, t, &v, "nodeName", value_string(node_name));
    struct str zone = { NULL, 0 };
    if (node)
        zone = member_text(value_path(schema_type(STR("core/v1.Node")), node, "metadata.labels"), ZONE);
    if (zone.n)
        v = edit_set(a, t, &v, "zone", value_string(zone));
    if (service_sets_hostname(p->s->service, pod))
        v = edit_set(a, t, &v, "hostname", *value_path(pod_type(), pod, "spec.hostname"));
    return v;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(value_text(a), value_text(b));
}

/* What makes it the same endpoint as before: addresses, host name and pod. */
static struct str key_of(struct arena *a, const struct value *endpoint)
{
    const struct type *t = endpoint_type();
    const struct value *list = value_path(t, endpoint, "addresses");
    struct value sorted = value_copy(a, list);
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    sort_stable(a, sorted.items, list_length(&sorted), sizeof(struct value), by_text);
    for (uint32_t i = 0; i < list_length(&sorted); i++)
        strbuf_printf(&b, "%.*s,", STR_ARG(value_text(&sorted.items[i])));
    strbuf_printf(&b, "%.*s/%.*s/%.*s", STR_ARG(text_at(t, endpoint, "hostname")),
                  STR_ARG(text_at(t, endpoint, "targetRef.namespace")), STR_ARG(text_at(t, endpoint, "targetRef.name")));
    struct str key = arena_str(a, strbuf_str(&b));
    strbuf_fini(&b);
    return key;
}

/* Whether everything else is the same, hints aside. */
static bool same_beyond_key(const struct value *x, const struct value *y)
{
    static const char *const paths[] = { "nodeName", "zone", "conditions.ready", "conditions.serving", "conditions.terminating",
                                         "targetRef.kind", "targetRef.uid" };
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        if (!value_equal(value_path(endpoint_type(), x, paths[i]), value_path(endpoint_type(), y, paths[i])))
            return false;
    return true;
}

/* ---- Ports ---- */

static struct port_text port_text_of(const struct value *port)
{
    const struct type *t = schema_type(STR("discovery.k8s.io/v1.EndpointPort"));
    return (struct port_text){ text_at(t, port, "name"), text_at(t, port, "protocol"), text_at(t, port, "appProtocol"),
                               is_set_at(t, port, "appProtocol"), int_at(t, port, "port", 0) };
}

static int by_port_order(const void *a, const void *b)
{
    struct port_text x = port_text_of(a), y = port_text_of(b);
    return port_order(&x, &y, PORT_OF_SLICE);
}

static struct value ports_of(struct planner *p, const struct value *pod)
{
    const struct type *st = schema_type(STR("core/v1.ServicePort")), *t = schema_type(STR("discovery.k8s.io/v1.EndpointPort"));
    const struct value *ports = value_path(service_type(), p->s->service, "spec.ports");
    struct value list = value_list(ARENA_NEW_N(p->a, struct value, list_length(ports)), 0);
    for (uint32_t i = 0; i < list_length(ports); i++) {
        const struct value *from = &ports->items[i];
        int64_t number;
        if (!service_find_port(from, pod, &number))
            continue;
        struct value v = value_struct(p->a, t);
        v = edit_set(p->a, t, &v, "name", value_string(text_at(st, from, "name")));
        v = edit_set(p->a, t, &v, "port", value_int(number));
        v = edit_set(p->a, t, &v, "protocol", *value_path(st, from, "protocol"));
        list.items[list.n++] = edit_set(p->a, t, &v, "appProtocol", *value_path(st, from, "appProtocol"));
    }
    sort_stable(p->a, list.items, list.n, sizeof(struct value), by_port_order);
    return list;
}

/* ---- Groups ---- */

static struct str text_of_ports(struct planner *p, const struct value *ports)
{
    struct value sorted = list_length(ports) ? value_copy(p->a, ports) : value_list(NULL, 0);
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    sort_stable(p->a, sorted.items, sorted.n, sizeof(struct value), by_port_order);
    for (uint32_t i = 0; i < sorted.n; i++) {
        struct port_text t = port_text_of(&sorted.items[i]);
        strbuf_printf(&b, "%.*s/%.*s/%lld/%d%.*s;", STR_ARG(t.name), STR_ARG(t.protocol), (long long)t.number,
                      t.has_app_protocol, STR_ARG(t.app_protocol));
    }
    struct str text = arena_str(p->a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static struct group *group_of(struct planner *p, const struct value *ports)
{
    bool is_new;
    union map_value *v = map_str_put(&p->by_ports, text_of_ports(p, ports), &is_new);
    if (!is_new)
        return v->ptr;
    struct group *g = ARENA_NEW(p->a, struct group);
    g->ports = *ports;
    map_str_init(&g->by_key);
    v->ptr = g;
    p->groups = arena_array_more(p->a, p->groups, p->n_groups, &p->cap_groups, sizeof(struct group *));
    p->groups[p->n_groups++] = g;
    return g;
}

static void want(struct planner *p, struct group *g, struct value endpoint)
{
    struct str key = key_of(p->a, &endpoint);
    bool is_new;
    union map_value *v = map_str_put(&g->by_key, key, &is_new);
    if (is_new) {
        g->wanted = arena_array_more(p->a, g->wanted, g->n_wanted, &g->cap_wanted, sizeof(struct wanted));
        v->num = g->n_wanted++;
        g->n_left++;
    }
    g->wanted[v->num] = (struct wanted){ key, endpoint, false };
}

static void want_pod(struct planner *p, const struct value *pod)
{
    const struct slice_state *s = p->s;
    if (!service_takes_pod(pod, true))
        return;
    struct value ports = ports_of(p, pod), addresses = absent;
    struct group *g = group_of(p, &ports);
    g->has_pods = true;
    const struct value *node = s->node(s->context, text_at(pod_type(), pod, "spec.nodeName"));
    if (!node && !true_at(service_type(), s->service, "spec.publishNotReadyAddresses")) {
        p->plan->incomplete = true;
        return;
    }
    add_addresses(p, pod, &addresses);
    if (addresses.n)
        want(p, g, endpoint_of(p, pod, node, addresses));
}

/* ---- Labels ---- */

static bool is_reserved(struct str key)
{
    return str_eq(key, SERVICE_NAME) || str_eq(key, MANAGED_BY) || str_eq(key, HEADLESS);
}

static struct value without_reserved(struct arena *a, const struct value *labels)
{
    struct value v = value_map(ARENA_NEW_N(a, struct member, labels->kind == VALUE_MAP ? labels->n : 0), 0);
    for (uint32_t i = 0; labels->kind == VALUE_MAP && i < labels->n; i++)
        if (!is_reserved(labels->members[i].key))
            v.members[v.n++] = labels->members[i];
    return v;
}

static struct value labels_for(struct arena *a, const struct value *service)
{
    struct value v = without_reserved(a, value_path(service_type(), service, "metadata.labels"));
    if (service_has_no_ip(service))
        v = edit_member(a, &v, HEADLESS, edit_text(""));
    v = edit_member(a, &v, SERVICE_NAME, *value_path(service_type(), service, "metadata.name"));
    return edit_member(a, &v, MANAGED_BY, edit_text(SLICE_MANAGED_BY));
}

static bool labels_differ(struct planner *p, const struct value *slice)
{
    struct value has = without_reserved(p->a, value_path(slice_type(), slice, "metadata.labels"));
    struct value should = without_reserved(p->a, value_path(service_type(), p->s->service, "metadata.labels"));
    return !value_equal(&has, &should);
}

/* ---- Drafts ---- */

static bool is_owned(const struct value *slice, const struct value *service)
{
    const struct type *ot = schema_type(STR("meta/v1.OwnerReference"));
    const struct value *refs = value_path(slice_type(), slice, "metadata.ownerReferences");
    for (uint32_t i = 0; i < list_length(refs); i++)
        if (str_eq(text_at(ot, &refs->items[i], "uid"), text_at(service_type(), service, "metadata.uid")) &&
            says_at(ot, &refs->items[i], "kind", "Service") && says_at(ot, &refs->items[i], "apiVersion", "v1"))
            return true;
    return false;
}

/* Without a group: one that goes, or the new placeholder. */
static struct draft *draft_new(struct planner *p, struct group *g, const struct value *was)
{
    struct draft *d = ARENA_NEW(p->a, struct draft);
    const struct value *list = was ? value_path(slice_type(), was, "endpoints") : &absent;
    d->was = was;
    d->ports = was ? *value_path(slice_type(), was, "ports") : g ? g->ports : value_list(NULL, 0);
    d->endpoints = list_length(list) ? list->items : NULL;
    d->n = list_length(list);
    p->drafts = arena_array_more(p->a, p->drafts, p->n_drafts, &p->cap_drafts, sizeof(struct draft *));
    p->drafts[p->n_drafts++] = d;
    if (!g)
        return d;
    g->drafts = arena_array_more(p->a, g->drafts, g->n_drafts, &g->cap_drafts, sizeof(struct draft *));
    g->drafts[g->n_drafts++] = d;
    return d;
}

static void add_existing(struct planner *p, const struct value *slice)
{
    if (!is_owned(slice, p->s->service)) {
        draft_new(p, NULL, slice)->goes = true;
        return;
    }
    const struct value *ports = value_path(slice_type(), slice, "ports");
    draft_new(p, group_of(p, ports), slice);
}

/* The endpoints of a slice that are still wanted stay in it, as they are now. */
static void keep_wanted(struct planner *p, struct group *g, struct draft *d)
{
    uint32_t room = d->n > ENDPOINTS_OF_SLICE_MAX ? d->n : ENDPOINTS_OF_SLICE_MAX, kept = 0;
    struct value *list = ARENA_NEW_N(p->a, struct value, room);
    bool updated = false;
    for (uint32_t i = 0; i < d->n; i++) {
        const union map_value *found = map_str_find(&g->by_key, key_of(p->a, &d->endpoints[i]));
        struct wanted *w = found ? &g->wanted[found->num] : NULL;
        if (!w || w->placed)
            continue;
        w->placed = true;
        g->n_left--;
        updated |= !same_beyond_key(&w->value, &d->endpoints[i]);
        list[kept++] = w->value;
    }
    if (updated || kept != d->n) {
        d->changes = kept > 0;
        d->goes = kept == 0;
    } else if (labels_differ(p, d->was)) {
        d->changes = true;
    }
    if (d->changes) {
        d->endpoints = list;
        d->n = kept;
    }
}

static void fill(struct group *g, struct draft *d, size_t *next)
{
    for (; d->n < ENDPOINTS_OF_SLICE_MAX && g->n_left; (*next)++) {
        if (g->wanted[*next].placed)
            continue;
        g->wanted[*next].placed = true;
        g->n_left--;
        d->endpoints[d->n++] = g->wanted[*next].value;
    }
}

static int fullest_first(const void *a, const void *b)
{
    const struct draft *const *x = a, *const *y = b;
    return ((*y)->n > (*x)->n) - ((*y)->n < (*x)->n);
}

/* The unchanged slice that is fullest with the rest; NULL: it fits into none. */
static struct draft *slice_to_fill(struct planner *p, struct group *g)
{
    struct draft *best = NULL;
    uint32_t least = ENDPOINTS_OF_SLICE_MAX;
    for (size_t i = 0; g->n_left < ENDPOINTS_OF_SLICE_MAX && i < g->n_drafts; i++) {
        struct draft *d = g->drafts[i];
        if (d->changes || d->goes || !d->was || d->n + g->n_left > ENDPOINTS_OF_SLICE_MAX)
            continue;
        uint32_t room = ENDPOINTS_OF_SLICE_MAX - d->n - (uint32_t)g->n_left;
        if (room < least) {
            least = room;
            best = d;
        }
    }
    if (best) {
        struct value *list = ARENA_NEW_N(p->a, struct value, ENDPOINTS_OF_SLICE_MAX);
        memcpy(list, best->endpoints, best->n * sizeof(*list));
        best->endpoints = list;
        best->changes = true;
    }
    return best;
}

static void place_endpoints(struct planner *p, struct group *g)
{
    size_t next = 0;
    for (size_t i = 0; i < g->n_drafts; i++)
        keep_wanted(p, g, g->drafts[i]);
    sort_stable(p->a, g->drafts, g->n_drafts, sizeof(*g->drafts), fullest_first);
    for (size_t i = 0; i < g->n_drafts; i++)
        if (g->drafts[i]->changes)
            fill(g, g->drafts[i], &next);
    while (g->n_left) {
        struct draft *d = slice_to_fill(p, g);
        if (!d) {
            d = draft_new(p, g, NULL);
            d->endpoints = ARENA_NEW_N(p->a, struct value, ENDPOINTS_OF_SLICE_MAX);
            d->changes = true;
        }
        fill(g, d, &next);
    }
}

/* ---- Hints ---- */

static struct value hint_list(struct arena *a, const char *type, struct str name)
{
    const struct type *t = schema_type(str_of(type));
    struct value v = value_struct(a, t);
    v = edit_set(a, t, &v, "name", value_string(name));
    return edit_append(a, &absent, v);
}

/* Where its traffic should come from, by spec.trafficDistribution. */
static struct value with_hints(struct planner *p, const struct value *endpoint)
{
    const struct type *t = endpoint_type();
    struct str word = text_at(service_type(), p->s->service, "spec.trafficDistribution");
    bool node = str_is(word, "PreferSameNode"), close = node || str_is(word, "PreferClose") || str_is(word, "PreferSameZone");
    if (close && !true_at(t, endpoint, "conditions.ready"))
        return *endpoint;
    struct value v = edit_set(p->a, t, endpoint, "hints", absent);
    struct str zone = text_at(t, endpoint, "zone"), name = text_at(t, endpoint, "nodeName");
    if (close && zone.n)
        v = edit_set(p->a, t, &v, "hints.forZones", hint_list(p->a, "discovery.k8s.io/v1.ForZone", zone));
    if (node && name.n)
        v = edit_set(p->a, t, &v, "hints.forNodes", hint_list(p->a, "discovery.k8s.io/v1.ForNode", name));
    return v;
}

static void hint(struct planner *p, struct draft *d)
{
    struct value *list = ARENA_NEW_N(p->a, struct value, ENDPOINTS_OF_SLICE_MAX > d->n ? ENDPOINTS_OF_SLICE_MAX : d->n);
    bool differs = false;
    for (uint32_t i = 0; i < d->n; i++) {
        list[i] = with_hints(p, &d->endpoints[i]);
        differs |= !value_equal(value_path(endpoint_type(), &list[i], "hints"),
                                value_path(endpoint_type(), &d->endpoints[i], "hints"));
    }
    if (differs) {
        d->endpoints = list;
        d->changes = true;
    }
}

/* ---- What is to be done ---- */

static struct value owner_of(struct arena *a, const struct value *service)
{
    const struct type *t = schema_type(STR("meta/v1.OwnerReference"));
    struct value v = value_struct(a, t);
    v = edit_set(a, t, &v, "apiVersion", edit_text("v1"));
    v = edit_set(a, t, &v, "kind", edit_text("Service"));
    v = edit_set(a, t, &v, "name", *value_path(service_type(), service, "metadata.name"));
    v = edit_set(a, t, &v, "uid", *value_path(service_type(), service, "metadata.uid"));
    v = edit_set(a, t, &v, "controller", value_bool(true));
    v = edit_set(a, t, &v, "blockOwnerDeletion", value_bool(true));
    return edit_append(a, &absent, v);
}

static struct value new_slice(struct planner *p)
{
    const struct type *t = slice_type();
    const struct value *service = p->s->service;
    struct value v = value_struct(p->a, t);
    v.slots[SLOT_KIND] = value_string(t->kind);
    v.slots[SLOT_API_VERSION] = edit_text("discovery.k8s.io/v1");
    struct str name = text_at(service_type(), service, "metadata.name");
    v = edit_set(p->a, t, &v, "metadata.generateName", edit_text(arena_printf(p->a, "%.*s-", STR_ARG(name))));
    v = edit_set(p->a, t, &v, "metadata.namespace", *value_path(service_type(), service, "metadata.namespace"));
    v = edit_set(p->a, t, &v, "metadata.ownerReferences", owner_of(p->a, service));
    return edit_set(p->a, t, &v, "addressType", edit_text(p->family));
}

/* `instead` of one that is not needed any more, whose name it takes; NULL: of none. */
static struct value slice_of(struct planner *p, const struct draft *d, const struct value *instead)
{
    const struct type *t = slice_type();
    struct value v = d->was ? *d->was : new_slice(p);
    v = edit_set(p->a, t, &v, "endpoints", value_list(d->endpoints, d->n));
    v = edit_set(p->a, t, &v, "ports", d->ports);
    v = edit_set(p->a, t, &v, "metadata.labels", p->labels);
    if (instead)
        v = edit_set(p->a, t, &v, "metadata.name", *value_path(t, instead, "metadata.name"));
    return edit_set(p->a, t, &v, "metadata.annotations",
                    trigger_times_annotate(p->a, value_path(t, &v, "metadata.annotations"), p->s->changed, p->s->changed_s));
}

static void act(struct planner *p, enum slice_verb verb, struct value slice)
{
    p->plan->at = arena_array_more(p->a, p->plan->at, p->plan->n, &p->cap_plan, sizeof(struct slice_action));
    p->plan->at[p->plan->n++] = (struct slice_action){ verb, slice };
}

/* A service has one slice at least, also when nothing is behind it. */
static bool is_placeholder(struct planner *p, const struct draft *d)
{
    return d->was && is_owned(d->was, p->s->service) && list_length(value_path(slice_type(), d->was, "endpoints")) == 0 &&
           list_length(value_path(slice_type(), d->was, "ports")) == 0 &&
           value_equal(value_path(slice_type(), d->was, "metadata.labels"), &p->labels);
}

static void keep_placeholder(struct planner *p)
{
    size_t n_going = 0;
    struct draft *going = NULL;
    for (size_t i = 0; i < p->n_drafts; i++)
        if (p->drafts[i]->goes) {
            going = p->drafts[i];
            n_going++;
        }
    if (n_going < p->n_drafts)
        return;
    if (n_going == 1 && is_placeholder(p, going)) {
        going->goes = false;
        return;
    }
    draft_new(p, NULL, NULL)->changes = true;
}

/* A slice to be made takes the name of one that goes: one write instead of two. */
static void act_on_drafts(struct planner *p)
{
    size_t next = 0;
    for (size_t i = p->n_drafts; i-- > 0;) {
        struct draft *d = p->drafts[i];
        if (d->was || !d->changes)
            continue;
        while (next < p->n_drafts && !(p->drafts[next]->goes && is_owned(p->drafts[next]->was, p->s->service)))
            next++;
        struct draft *gone = next < p->n_drafts ? p->drafts[next++] : NULL;
        if (gone)
            gone->goes = false;
        if (gone || !is_set_at(service_type(), p->s->service, "metadata.deletionTimestamp"))
            act(p, gone ? SLICE_UPDATE : SLICE_CREATE, slice_of(p, d, gone ? gone->was : NULL));
    }
    for (size_t i = 0; i < p->n_drafts; i++)
        if (p->drafts[i]->was && p->drafts[i]->goes)
            act(p, SLICE_DELETE, *p->drafts[i]->was);
        else if (p->drafts[i]->was && p->drafts[i]->changes)
            act(p, SLICE_UPDATE, slice_of(p, p->drafts[i], NULL));
}

static void plan_family(struct planner *p)
{
    const struct slice_state *s = p->s;
    for (size_t i = 0; i < s->n_slices; i++)
        if (says_at(slice_type(), s->slices[i], "addressType", p->family))
            add_existing(p, s->slices[i]);
    for (size_t i = 0; i < s->n_pods; i++)
        want_pod(p, s->pods[i]);
    for (size_t i = 0; i < p->n_groups; i++)
        if (p->groups[i]->has_pods)
            place_endpoints(p, p->groups[i]);
        else
            for (size_t k = 0; k < p->groups[i]->n_drafts; k++)
                p->groups[i]->drafts[k]->goes = true;
    keep_placeholder(p);
    for (size_t i = 0; i < p->n_drafts; i++)
        if (!p->drafts[i]->goes)
            hint(p, p->drafts[i]);
    act_on_drafts(p);
    for (size_t i = 0; i < p->n_groups; i++)
        map_str_fini(&p->groups[i]->by_key);
}

static bool has_family(const struct value *service, const char *family)
{
    const struct value *families = value_path(service_type(), service, "spec.ipFamilies");
    if (list_length(families))
        return list_has_text(families, str_of(family));
    struct ip_addr ip;
    if (!ip_parse(text_at(service_type(), service, "spec.clusterIP"), &ip))
        return true; /* headless, of old: both */
    return ip_is_v4_mapped(&ip) == (strcmp(family, "IPv4") == 0);
}

struct slice_plan endpoint_slices_plan(struct arena *a, const struct slice_state *s)
{
    static const char *const families[] = { "IPv4", "IPv6" };
    struct slice_plan plan = { 0 };
    struct value labels = labels_for(a, s->service);
    size_t cap_plan = 0;
    for (size_t f = 0; f < 2; f++) {
        struct planner p = { .a = a, .s = s, .family = families[f], .labels = labels, .plan = &plan, .cap_plan = cap_plan };
        map_str_init(&p.by_ports);
        if (has_family(s->service, families[f]))
            plan_family(&p);
        else
            for (size_t i = 0; i < s->n_slices; i++)
                if (says_at(slice_type(), s->slices[i], "addressType", families[f]))
                    act(&p, SLICE_DELETE, *s->slices[i]);
        cap_plan = p.cap_plan;
        map_str_fini(&p.by_ports);
    }
    return plan;
}
