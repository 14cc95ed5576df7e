/* tests/typed_dump.c - see typed_dump.h. */
#include "tests/typed_dump.h"

#include "forms/device.h"
#include "forms/lease.h"
#include "forms/namespace.h"
#include "forms/node.h"
#include "forms/policy.h"
#include "forms/storage.h"
#include "forms/workload.h"

struct dump {
    struct strbuf *to;
    const struct sym_table *syms;
};

#define ADD(d, ...) strbuf_printf((d)->to, __VA_ARGS__)

static void add_sym(const struct dump *d, const char *name, sym id)
{
    struct str text = id == SYM_NONE ? STR("<none>") : sym_text(d->syms, id);
    ADD(d, " %s=%.*s", name, STR_ARG(text));
}

static void add_text(const struct dump *d, const char *name, const char *text)
{
    ADD(d, " %s=%s", name, text ? text : "<null>");
}

static void add_int(const struct dump *d, const char *name, int64_t value)
{
    ADD(d, " %s=%lld", name, (long long)value);
}

static void add_syms(const struct dump *d, const char *name, const sym *at, size_t n)
{
    ADD(d, " %s(", name);
    for (size_t i = 0; i < n; i++)
        add_sym(d, "", at[i]);
    ADD(d, ")");
}

static void add_labels(const struct dump *d, const char *name, struct label_set labels)
{
    ADD(d, " %s{", name);
    for (uint32_t i = 0; i < labels.n; i++) {
        add_sym(d, "", labels.at[i].key);
        add_sym(d, "", labels.at[i].value);
    }
    ADD(d, "}");
}

static void add_meta(const struct dump *d, const struct typed *typed, const struct typed_meta *m)
{
    add_int(d, "bytes", typed->n_bytes);
    add_text(d, "name", m->name);
    add_text(d, "uid", m->uid);
    add_text(d, "rv", m->resource_version);
    add_sym(d, "ns", m->ns);
    add_labels(d, "labels", m->labels);
    ADD(d, "\n");
}

static void add_rules(const struct dump *d, const struct match_rule *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool number = at[i].op == MATCH_GT || at[i].op == MATCH_LT;
        ADD(d, " [op%d", at[i].op);
        add_sym(d, "key", at[i].key);
        if (number)
            add_int(d, "number", at[i].number);
        else
            add_syms(d, "values", at[i].values, at[i].n_values);
        ADD(d, "]");
    }
}

static void add_matcher(const struct dump *d, const char *name, const struct matcher *m)
{
    ADD(d, " %s:mode%d", name, m->mode);
    if (m->mode == MATCHER_INVALID)
        add_text(d, "error", m->error);
    else
        add_rules(d, m->at, m->n);
}

static void add_node_rule(const struct dump *d, const struct node_rule *r)
{
    ADD(d, " term%s%s", r->empty ? "-empty" : "", r->broken ? "-broken" : "");
    add_matcher(d, "labels", &r->labels);
    ADD(d, " fields");
    add_rules(d, r->fields, r->n_fields);
}

static void add_node_rules(const struct dump *d, const char *name, const struct node_rules *r)
{
    ADD(d, " %s:%s", name, r->given ? "given" : "none");
    add_text(d, "error", r->error);
    for (uint16_t i = 0; i < r->n; i++)
        add_node_rule(d, &r->at[i]);
    ADD(d, "\n");
}

static void add_owner(const struct dump *d, const struct owner_ref *o)
{
    if (!o)
        return;
    add_sym(d, "owner", o->api_version);
    add_sym(d, "", o->kind);
    add_sym(d, "", o->name);
    add_text(d, "", o->uid);
    ADD(d, "\n");
}

static void add_amounts(const struct dump *d, const char *name, const struct amounts *a)
{
    ADD(d, " %s:", name);
    add_int(d, "cpu", a->milli_cpu);
    add_int(d, "memory", a->memory);
    add_int(d, "ephemeral", a->ephemeral_storage);
    add_int(d, "pods", a->pods);
    for (uint32_t i = 0; i < a->n_scalars; i++) {
        add_sym(d, "scalar", a->scalars[i].name);
        add_int(d, "", a->scalars[i].amount);
    }
    ADD(d, "\n");
}

/* ---- Pod ---- */

static void add_terms(const struct dump *d, const char *name, const struct affinity_terms *terms)
{
    ADD(d, " %s:", name);
    add_text(d, "error", terms->error);
    for (uint32_t i = 0; i < terms->n; i++) {
        const struct affinity_term *t = &terms->at[i];
        add_matcher(d, "selector", &t->selector);
        add_matcher(d, "namespace_selector", &t->namespace_selector);
        add_syms(d, "namespaces", t->namespaces, t->n_namespaces);
        add_sym(d, "key", t->topology_key);
        add_int(d, "weight", t->weight);
    }
    ADD(d, "\n");
}

static void add_affinity(const struct dump *d, const struct pod *p)
{
    if (p->node_affinity) {
        const struct pod_node_affinity *a = p->node_affinity;
        add_labels(d, "node_selector", a->node_selector);
        add_node_rules(d, "required", &a->required);
        add_text(d, "preferred_error", a->preferred_error);
        for (uint32_t i = 0; i < a->n_preferred; i++) {
            add_int(d, "weight", a->preferred[i].weight);
            add_node_rule(d, &a->preferred[i].term);
        }
        ADD(d, "\n");
    }
    if (!p->affinity)
        return;
    add_terms(d, "affinity", &p->affinity->required);
    add_terms(d, "anti", &p->affinity->required_anti);
    add_terms(d, "preferred", &p->affinity->preferred);
    add_terms(d, "preferred_anti", &p->affinity->preferred_anti);
}

static void add_condition(const struct dump *d, const char *name, const struct pod_condition *c)
{
    if (!c)
        return;
    add_sym(d, name, c->status);
    add_sym(d, "reason", c->reason);
    add_text(d, "message", c->message);
    add_int(d, "transition", c->last_transition_s);
    add_int(d, "probe", c->last_probe_s);
    add_int(d, "generation", c->observed_generation);
    ADD(d, "\n");
}

static void add_pod_lists(const struct dump *d, const struct pod *p)
{
    for (uint16_t i = 0; i < p->n_tolerations; i++) {
        add_sym(d, "toleration", p->tolerations[i].key);
        add_sym(d, "", p->tolerations[i].value);
        ADD(d, " op%d effect%d\n", p->tolerations[i].op, p->tolerations[i].effect);
    }
    for (uint16_t i = 0; i < p->n_spread; i++) {
        const struct spread_constraint *c = &p->spread[i];
        add_sym(d, "spread", c->topology_key);
        ADD(d, " skew%d domains%d flags%d", c->max_skew, c->min_domains, c->flags);
        add_matcher(d, "selector", &c->selector);
        ADD(d, "\n");
    }
    for (uint16_t i = 0; i < p->n_ports; i++) {
        add_sym(d, "port", p->ports[i].ip);
        add_sym(d, "", p->ports[i].protocol);
        add_int(d, "", p->ports[i].port);
    }
    for (uint16_t i = 0; i < p->n_volumes; i++) {
        ADD(d, " volume%d%s", p->volumes[i].kind, p->volumes[i].read_only ? "-ro" : "");
        add_syms(d, "", p->volumes[i].names, p->volumes[i].n_names);
    }
    add_syms(d, "images", p->images, p->n_images);
    add_syms(d, "gates", p->gates, p->n_gates);
    add_syms(d, "conditions", p->condition_types, p->n_condition_types);
}

static void add_claims(const struct dump *d, const struct pod_claims *claims)
{
    if (!claims)
        return;
    for (uint16_t i = 0; i < claims->n; i++) {
        add_sym(d, "claim", claims->at[i].name);
        add_sym(d, "", claims->at[i].claim_name);
        add_sym(d, "", claims->at[i].template_name);
    }
    for (uint16_t i = 0; i < claims->n_statuses; i++) {
        add_sym(d, "claim_status", claims->statuses[i].name);
        add_sym(d, "", claims->statuses[i].claim_name);
    }
}

static void dump_pod(const struct dump *d, const struct pod *p)
{
    add_int(d, "flags", p->flags);
    add_int(d, "priority", p->priority);
    add_sym(d, "node", p->node_name);
    add_sym(d, "nominated", p->nominated_node);
    add_int(d, "phase", p->phase);
    add_sym(d, "scheduler", p->scheduler_name);
    add_sym(d, "class", p->priority_class);
    add_sym(d, "group", p->group);
    add_int(d, "containers", p->n_containers);
    add_int(d, "init", p->n_init_containers);
    add_int(d, "start", p->start_time_s);
    add_int(d, "generation", p->generation);
    ADD(d, "\n");
    add_amounts(d, "requested", p->requested);
    add_amounts(d, "fit", p->fit);
    if (p->limits)
        add_amounts(d, "limits", p->limits);
    add_amounts(d, "score", p->score);
    add_int(d, "non_zero_cpu", p->non_zero_milli_cpu);
    add_int(d, "non_zero_memory", p->non_zero_memory);
    add_affinity(d, p);
    add_owner(d, p->controller);
    add_condition(d, "scheduled", p->scheduled);
    add_condition(d, "disruption", p->disruption);
    add_pod_lists(d, p);
    add_claims(d, p->claims);
}

/* ---- Others ---- */

static void dump_node(const struct dump *d, const struct node *n)
{
    add_sym(d, "name", n->name);
    add_int(d, "flags", n->flags);
    add_int(d, "conditions", (int64_t)n->conditions_hash);
    add_int(d, "annotations", (int64_t)n->annotations_hash);
    add_amounts(d, "allocatable", &n->allocatable);
    for (uint32_t i = 0; i < n->n_taints; i++) {
        add_sym(d, "taint", n->taints[i].key);
        add_sym(d, "", n->taints[i].value);
        add_int(d, "effect", n->taints[i].effect);
    }
    for (uint32_t i = 0; i < n->n_images; i++) {
        add_sym(d, "image", n->images[i].name);
        add_int(d, "", n->images[i].size_bytes);
    }
    add_syms(d, "features", n->declared_features, n->n_declared_features);
}

static void add_storage(const struct dump *d, const char *name, const struct storage_amount *a)
{
    ADD(d, " %s=%lld-%dn%s", name, (long long)a->bytes, a->short_nanos, a->given ? "" : "-absent");
}

static void dump_pv(const struct dump *d, const struct pv *v)
{
    add_sym(d, "class", v->storage_class);
    add_sym(d, "attributes_class", v->attributes_class);
    add_storage(d, "capacity", &v->capacity);
    if (v->claim) {
        add_sym(d, "claim", v->claim->ns);
        add_text(d, "", v->claim->name);
        add_text(d, "", v->claim->uid);
    }
    add_node_rules(d, "affinity", &v->affinity);
    add_text(d, "handle", v->handle);
    add_sym(d, "driver", v->driver);
    ADD(d, " source%d access%d mode%d phase%d deleting%d unmanaged%d", v->source, v->access, v->mode, v->phase,
        v->deleting, v->unmanaged_disk);
}

static void dump_pvc(const struct dump *d, const struct pvc *c)
{
    add_sym(d, "class", c->storage_class);
    add_sym(d, "attributes_class", c->attributes_class);
    add_sym(d, "selected_node", c->selected_node);
    add_text(d, "volume", c->volume_name);
    add_text(d, "controller", c->controller_uid);
    add_matcher(d, "selector", &c->selector);
    add_storage(d, "request", &c->request);
    ADD(d, " access%d mode%d phase%d selector%d completed%d deleting%d", c->access, c->mode, c->phase,
        c->has_selector, c->bind_completed, c->deleting);
}

static void dump_storage_class(const struct dump *d, const struct storage_class *c)
{
    add_sym(d, "provisioner", c->provisioner);
    add_int(d, "mode", c->binding_mode);
    add_node_rules(d, "topologies", &c->allowed_topologies);
}

static void dump_csi_node(const struct dump *d, const struct csi_node *n)
{
    for (uint32_t i = 0; i < n->n_drivers; i++) {
        add_sym(d, "driver", n->drivers[i].name);
        add_int(d, "count", n->drivers[i].count);
    }
    add_syms(d, "migrated", n->migrated_plugins, n->n_migrated_plugins);
}

static void dump_csi_driver(const struct dump *d, const struct csi_driver *c)
{
    ADD(d, " capacity%d prevent%d", c->storage_capacity, c->prevent_pod_scheduling_if_missing);
}

static void dump_csi_storage_capacity(const struct dump *d, const struct csi_storage_capacity *c)
{
    add_sym(d, "class", c->storage_class);
    add_matcher(d, "topology", &c->node_topology);
    add_storage(d, "capacity", &c->capacity);
    add_storage(d, "maximum", &c->maximum_volume_size);
}

static void dump_volume_attachment(const struct dump *d, const struct volume_attachment *a)
{
    add_sym(d, "attacher", a->attacher);
    add_sym(d, "node", a->node_name);
    add_text(d, "volume", a->volume_name);
}

static void dump_service(const struct dump *d, const struct service *s)
{
    add_labels(d, "selector", s->selector);
    /* Whether an empty selector was given, protobuf cannot tell. */
    add_int(d, "has_selector", s->has_selector && s->selector.n > 0);
}

static void dump_replication_controller(const struct dump *d, const struct replication_controller *c)
{
    add_labels(d, "selector", c->selector);
}

static void dump_replica_set(const struct dump *d, const struct replica_set *s)
{
    add_matcher(d, "selector", &s->selector);
}

static void dump_stateful_set(const struct dump *d, const struct stateful_set *s)
{
    add_matcher(d, "selector", &s->selector);
}

static void dump_pdb(const struct dump *d, const struct pdb *p)
{
    add_matcher(d, "selector", &p->selector);
    add_int(d, "allowed", p->disruptions_allowed);
    for (uint32_t i = 0; i < p->n_disrupted; i++)
        add_text(d, "disrupted", p->disrupted[i]);
}

static void dump_priority_class(const struct dump *d, const struct priority_class *c)
{
    ADD(d, " value%d policy%d default%d", c->value, c->preemption_policy, c->global_default);
}

static void dump_namespace(const struct dump *d, const struct namespace *n)
{
    add_sym(d, "name", n->name);
}

static void dump_lease(const struct dump *d, const struct lease *l)
{
    add_text(d, "holder", l->holder);
    add_text(d, "preferred", l->preferred_holder);
    add_text(d, "strategy", l->strategy);
    add_int(d, "acquire", l->acquire_us);
    add_int(d, "renew", l->renew_us);
    ADD(d, " duration%d transitions%d", l->duration_s, l->transitions);
}

/* Nothing but the metadata is kept of these. */
static void dump_resource_claim(const struct dump *d, const struct resource_claim *c)
{
    (void)d;
    (void)c;
}

static void dump_resource_slice(const struct dump *d, const struct resource_slice *s)
{
    (void)d;
    (void)s;
}

static void dump_device_class(const struct dump *d, const struct device_class *c)
{
    (void)d;
    (void)c;
}

/* ---- The table ---- */

#define KINDS(X)                                                                                   \
    X(pod, "v1", "Pod")                                                                            \
    X(node, "v1", "Node")                                                                          \
    X(pv, "v1", "PersistentVolume")                                                                \
    X(pvc, "v1", "PersistentVolumeClaim")                                                          \
    X(storage_class, "storage.k8s.io/v1", "StorageClass")                                          \
    X(csi_node, "storage.k8s.io/v1", "CSINode")                                                    \
    X(csi_driver, "storage.k8s.io/v1", "CSIDriver")                                                \
    X(csi_storage_capacity, "storage.k8s.io/v1", "CSIStorageCapacity")                             \
    X(volume_attachment, "storage.k8s.io/v1", "VolumeAttachment")                                  \
    X(service, "v1", "Service")                                                                    \
    X(replication_controller, "v1", "ReplicationController")                                       \
    X(replica_set, "apps/v1", "ReplicaSet")                                                        \
    X(stateful_set, "apps/v1", "StatefulSet")                                                      \
    X(pdb, "policy/v1", "PodDisruptionBudget")                                                     \
    X(priority_class, "scheduling.k8s.io/v1", "PriorityClass")                                     \
    X(namespace, "v1", "Namespace")                                                                \
    X(resource_claim, "resource.k8s.io/v1", "ResourceClaim")                                       \
    X(resource_slice, "resource.k8s.io/v1", "ResourceSlice")                                       \
    X(device_class, "resource.k8s.io/v1", "DeviceClass")                                           \
    X(lease, "coordination.k8s.io/v1", "Lease")

#define X(name, version, kind)                                                                     \
    static enum err_code name##_decode_any(struct sym_table *syms, enum typed_format format,       \
                                           struct str bytes, const void **ret_form, struct err *e) \
    {                                                                                              \
        const struct name *form = NULL;                                                            \
        enum err_code rc = name##_decode(syms, format, bytes, &form, e);                           \
        *ret_form = form;                                                                          \
        return rc;                                                                                 \
    }                                                                                              \
    static void name##_dump_any(struct strbuf *to, const struct sym_table *syms, const void *any)  \
    {                                                                                              \
        const struct name *form = any;                                                             \
        const struct dump d = { to, syms };                                                        \
        add_meta(&d, &form->typed, &form->meta);                                                   \
        dump_##name(&d, form);                                                                     \
    }                                                                                              \
    static void name##_unref_any(struct sym_table *syms, const void *form)                         \
    {                                                                                              \
        name##_unref(syms, form);                                                                  \
    }
KINDS(X)
#undef X

const struct typed_kind typed_kinds[] = {
#define X(name, version, kind) { version, kind, name##_decode_any, name##_dump_any, name##_unref_any },
    KINDS(X)
#undef X
    { 0 },
};

const struct typed_kind *typed_kind(struct str api_version, struct str kind)
{
    for (const struct typed_kind *k = typed_kinds; k->kind; k++)
        if (str_is(kind, k->kind) && str_is(api_version, k->api_version))
            return k;
    return NULL;
}
