/* controllers/endpoint_mirror.c - see endpoint_mirror.h. */
#include "controllers/endpoint_mirror.h"

#include "api/edit.h"
#include "api/netaddr.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/strbuf.h"
#include "controllers/endpoints_plan.h"
#include "controllers/pod_control.h"
#include "controllers/read.h"

#define SERVICE_LABEL "kubernetes.io/service-name"
#define MANAGER_LABEL "endpointslice.kubernetes.io/managed-by"
#define TRIGGER_TIME "endpoints.kubernetes.io/last-change-trigger-time"
#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

enum family { FAMILY_V4, FAMILY_V6, N_FAMILIES };
static const char *const family_names[] = { "IPv4", "IPv6" };

/* A slice that there should be, or that there is. */
struct wanted {
    struct value ports, endpoints;
    enum family family;
    struct str name; /* empty: a new one */
    bool recycled;   /* it takes the place of another one, as which it was not made: as upstream it has a generated name, too */
};

struct mirror {
    struct arena *arena;
    const struct value *endpoints;
    struct map_str slices;            /* from family and ports to the slice, those that are not matched yet */
    const struct value **unused;      /* slices that mirror nothing */
    size_t n_unused;
    struct wanted *create;
    size_t n_create;
    struct mirror_plan plan;
};

static const struct type *endpoint_type(void)
{
    return schema_type(STR("discovery.k8s.io/v1.Endpoint"));
}

static const struct type *port_type(void)
{
    return schema_type(STR("discovery.k8s.io/v1.EndpointPort"));
}

bool endpoints_want_mirror(const struct value *endpoints)
{
    const struct value *labels = value_path(endpoints_type(), endpoints, "metadata.labels");
    const struct value *annotations = value_path(endpoints_type(), endpoints, "metadata.annotations");
    bool elects = annotations->kind == VALUE_MAP && value_member(annotations, STR("control-plane.alpha.kubernetes.io/leader"));
    return !str_is(member_text(labels, STR("endpointslice.kubernetes.io/skip-mirror")), "true") && !elects;
}

/* ---- Ports ---- */

static struct value ports_of(struct arena *a, const struct value *subset_ports)
{
    const struct type *from = schema_type(STR("core/v1.EndpointPort"));
    struct value *ports = ARENA_NEW_N(a, struct value, list_length(subset_ports));
    for (uint32_t i = 0; i < list_length(subset_ports); i++) {
        const struct value *p = &subset_ports->items[i];
        struct value v = value_struct(a, port_type());
        v = edit_set(a, port_type(), &v, "name", value_string(text_at(from, p, "name")));
        v = edit_set(a, port_type(), &v, "port", *value_path(from, p, "port"));
        v = edit_set(a, port_type(), &v, "protocol", *value_path(from, p, "protocol"));
        ports[i] = edit_set(a, port_type(), &v, "appProtocol", *value_path(from, p, "appProtocol"));
    }
    return value_list(ports, list_length(subset_ports));
}

/* Family and ports as a text, whatever their order. */
static struct str key_of(struct arena *a, enum family family, const struct value *ports)
{
    uint32_t n = list_length(ports);
    struct str *parts = ARENA_NEW_N(a, struct str, n);
    struct strbuf text;
    for (uint32_t i = 0; i < n; i++) {
        const struct value *p = &ports->items[i];
        parts[i] = str_of(arena_printf(a, "%.*s/%lld/%.*s/%.*s,", STR_ARG(text_at(port_type(), p, "name")),
                                       (long long)int_at(port_type(), p, "port", 0), STR_ARG(text_at(port_type(), p, "protocol")),
                                       STR_ARG(text_at(port_type(), p, "appProtocol"))));
    }
    sort_stable(a, parts, n, sizeof(*parts), sort_compare_strs);
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_add_text(&text, family_names[family]);
    for (uint32_t i = 0; i < n; i++)
        strbuf_add(&text, parts[i].p, parts[i].n);
    struct str key = arena_str(a, strbuf_str(&text));
    strbuf_fini(&text);
    return key;
}

/* ---- Addresses ---- */

/* False: it is no address. */
static bool read_address(struct arena *a, const struct value *address, bool ready, enum family *ret_family, struct value *ret)
{
    const struct type *from = schema_type(STR("core/v1.EndpointAddress")), *t = endpoint_type();
    struct ip_addr ip;
    struct value none = { 0 }, v = value_struct(a, t);
    if (!ip_parse(text_at(from, address, "ip"), &ip))
        return false;
    char *text = arena_alloc(a, IP_TEXT_MAX);
    size_t n = ip_print(&ip, text);
    v = edit_set(a, t, &v, "addresses", edit_append(a, &none, value_string((struct str){ text, n })));
    v = edit_set(a, t, &v, "conditions.ready", value_bool(ready));
    v = edit_set(a, t, &v, "targetRef", *value_path(from, address, "targetRef"));
    v = edit_set(a, t, &v, "nodeName", *value_path(from, address, "nodeName"));
    if (text_at(from, address, "hostname").n)
        v = edit_set(a, t, &v, "hostname", *value_path(from, address, "hostname"));
    *ret_family = memchr(text, ':', n) ? FAMILY_V6 : FAMILY_V4;
    *ret = v;
    return true;
}

static void add_addresses(struct mirror *m, const struct value *list, bool ready, struct value lists[N_FAMILIES])
{
    for (uint32_t i = 0; i < list_length(list); i++) {
        enum family family;
        struct value v;
        if (lists[FAMILY_V4].n + lists[FAMILY_V6].n >= MIRRORED_OF_SUBSET_MAX) {
            m->plan.n_skipped += list_length(list) - i;
            return;
        }
        if (read_address(m->arena, &list->items[i], ready, &family, &v)) {
            lists[family].items[lists[family].n++] = v;
        } else {
            m->plan.n_invalid++;
            m->plan.n_skipped++;
        }
    }
}

static int by_address(const void *x, const void *y)
{
    const struct value *a = value_path(endpoint_type(), x, "addresses"), *b = value_path(endpoint_type(), y, "addresses");
    int order = list_length(a) && list_length(b) ? str_cmp(value_text(&a->items[0]), value_text(&b->items[0])) : 0;
    return order ? order : str_cmp(text_at(endpoint_type(), x, "targetRef.uid"), text_at(endpoint_type(), y, "targetRef.uid"));
}

static struct value sorted(struct arena *a, const struct value *endpoints)
{
    uint32_t n = list_length(endpoints);
    struct value *copy = ARENA_NEW_N(a, struct value, n);
    if (n)
        memcpy(copy, endpoints->items, n * sizeof(*copy));
    sort_stable(a, copy, n, sizeof(*copy), by_address);
    return value_list(copy, n);
}

/* ---- Slices ---- */

static struct value labels_of(struct mirror *m)
{
    struct value labels = *value_path(endpoints_type(), m->endpoints, "metadata.labels");
    struct str name = text_at(endpoints_type(), m->endpoints, "metadata.name");
    labels = edit_member(m->arena, &labels, STR(SERVICE_LABEL), value_string(name));
    return edit_member(m->arena, &labels, STR(MANAGER_LABEL), edit_text(MIRROR_MANAGED_BY));
}

static struct value annotations_of(struct mirror *m)
{
    const struct value *all = value_path(endpoints_type(), m->endpoints, "metadata.annotations");
    struct value v = map_without(m->arena, all, STR(TRIGGER_TIME));
    return map_without(m->arena, &v, STR(LAST_APPLIED));
}

static struct value make_slice(struct mirror *m, const struct wanted *w)
{
    const struct type *t = slice_type();
    struct str name = text_at(endpoints_type(), m->endpoints, "metadata.name");
    struct object_reference owner = { .api_version = STR("v1"), .kind = STR("Endpoints"), .name = name,
                                      .uid = text_at(endpoints_type(), m->endpoints, "metadata.uid") };
    struct value none = { 0 }, v = value_struct(m->arena, t);
    const struct {
        const char *path;
        struct value to;
    } fields[] = {
        { "apiVersion", edit_text("discovery.k8s.io/v1") },
        { "kind", edit_text("EndpointSlice") },
        { "metadata.namespace", *value_path(endpoints_type(), m->endpoints, "metadata.namespace") },
        { "metadata.name", w->name.n ? value_string(w->name) : none },
        { "metadata.generateName", w->name.n && !w->recycled ? none : value_string(pods_prefix(m->arena, name)) },
        { "metadata.labels", labels_of(m) },
        { "metadata.annotations", annotations_of(m) },
        { "metadata.ownerReferences", edit_append(m->arena, &none, controller_reference(m->arena, &owner)) },
        { "addressType", edit_text(family_names[w->family]) },
        { "endpoints", w->endpoints },
        { "ports", w->ports },
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        v = edit_set(m->arena, t, &v, fields[i].path, fields[i].to);
    return v;
}

/* Made for another object of that name, which is gone. */
static bool is_anothers(const struct mirror *m, const struct value *slice)
{
    const struct type *t = schema_type(STR("meta/v1.OwnerReference"));
    const struct value *list = value_path(slice_type(), slice, "metadata.ownerReferences");
    for (uint32_t i = 0; i < list_length(list); i++)
        if (says_at(t, &list->items[i], "kind", "Endpoints") &&
            str_eq(text_at(t, &list->items[i], "name"), text_at(endpoints_type(), m->endpoints, "metadata.name")) &&
            !str_eq(text_at(t, &list->items[i], "uid"), text_at(endpoints_type(), m->endpoints, "metadata.uid")))
            return true;
    return false;
}

static bool is_right(struct mirror *m, const struct value *slice, const struct wanted *w)
{
    struct value labels = labels_of(m), annotations = annotations_of(m);
    struct value has = sorted(m->arena, value_path(slice_type(), slice, "endpoints")), want = sorted(m->arena, &w->endpoints);
    return value_equal(&has, &want) && value_equal(&labels, value_path(slice_type(), slice, "metadata.labels")) &&
           value_equal(&annotations, value_path(slice_type(), slice, "metadata.annotations")) && !is_anothers(m, slice);
}

static void act(struct mirror *m, enum slice_verb verb, struct value slice)
{
    m->plan.at[m->plan.n++] = (struct slice_action){ verb, slice };
}

/* ---- The plan ---- */

static void want(struct mirror *m, struct wanted w)
{
    union map_value found;
    if (!map_str_remove(&m->slices, key_of(m->arena, w.family, &w.ports), &found)) {
        m->create[m->n_create++] = w;
        return;
    }
    const struct value *slice = found.const_ptr;
    w.name = text_at(slice_type(), slice, "metadata.name");
    if (!is_right(m, slice, &w))
        act(m, SLICE_UPDATE, make_slice(m, &w));
}

static void want_subset(struct mirror *m, const struct value *subset)
{
    const struct type *t = schema_type(STR("core/v1.EndpointSubset"));
    const struct value *ready = value_path(t, subset, "addresses"), *others = value_path(t, subset, "notReadyAddresses");
    struct value ports = ports_of(m->arena, value_path(t, subset, "ports")), lists[N_FAMILIES];
    for (int f = 0; f < N_FAMILIES; f++)
        lists[f] = value_list(ARENA_NEW_N(m->arena, struct value, list_length(ready) + list_length(others)), 0);
    add_addresses(m, ready, true, lists);
    add_addresses(m, others, false, lists);
    for (int f = 0; f < N_FAMILIES; f++)
        if (lists[f].n)
            want(m, (struct wanted){ .ports = ports, .endpoints = lists[f], .family = (enum family)f });
}

static enum family family_of(const struct value *slice)
{
    return says_at(slice_type(), slice, "addressType", "IPv6") ? FAMILY_V6 : FAMILY_V4;
}

static void sort_slices(struct mirror *m, const struct value *const *slices, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool is_new;
        struct str key = key_of(m->arena, family_of(slices[i]), value_path(slice_type(), slices[i], "ports"));
        union map_value *v = map_str_put(&m->slices, key, &is_new);
        if (is_new)
            v->const_ptr = slices[i];
        else
            m->unused[m->n_unused++] = slices[i];
    }
}

/* What is new takes the place of what goes, as far as families are the same. */
static void recycle(struct mirror *m)
{
    for (struct map_str_slot *s = NULL; (s = map_str_next(&m->slices, s));)
        m->unused[m->n_unused++] = s->value.const_ptr;
    for (int f = 0; f < N_FAMILIES; f++) {
        size_t next = 0;
        for (size_t i = 0; i < m->n_create; i++) {
            if ((int)m->create[i].family != f)
                continue;
            while (next < m->n_unused && (int)family_of(m->unused[next]) != f)
                next++;
            m->create[i].recycled = next < m->n_unused;
            if (m->create[i].recycled)
                m->create[i].name = text_at(slice_type(), m->unused[next++], "metadata.name");
            act(m, m->create[i].name.n ? SLICE_UPDATE : SLICE_CREATE, make_slice(m, &m->create[i]));
        }
        for (; next < m->n_unused; next++)
            if ((int)family_of(m->unused[next]) == f)
                act(m, SLICE_DELETE, *m->unused[next]);
    }
}

struct mirror_plan endpoint_mirror_plan(struct arena *a, const struct value *endpoints, const struct value *const *slices,
                                        size_t n_slices)
{
    struct value subsets = endpoints_repack(a, value_path(endpoints_type(), endpoints, "subsets"));
    size_t most = N_FAMILIES * list_length(&subsets);
    struct mirror m = { .arena = a, .endpoints = endpoints, .unused = ARENA_NEW_N(a, const struct value *, n_slices),
                        .create = ARENA_NEW_N(a, struct wanted, most),
                        .plan.at = ARENA_NEW_N(a, struct slice_action, most + n_slices) };
    map_str_init(&m.slices);
    sort_slices(&m, slices, n_slices);
    for (uint32_t i = 0; i < list_length(&subsets); i++)
        want_subset(&m, &subsets.items[i]);
    recycle(&m);
    map_str_fini(&m.slices);
    return m.plan;
}
