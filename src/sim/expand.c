/* sim/expand.c - see expand.h. What controllers do: kube-controller-manager v1.36, as far as it decides which pods
 * there are. */
#include "sim/expand.h"

#include <stdio.h>

#include "api/edit.h"
#include "api/generate_name.h"
#include "codec/json.h"
#include "plugins/plugins.h"
#include "sim/admission.h"
#include "sim/check.h"
#include "sim/claims.h"
#include "sim/constant.h"
#include "sim/forms.h"

struct expansion {
    struct sim_input *in;
    struct sym_table *syms;
    struct map_str counts;   /* "Deployment shop/cart" -> its active pods; "DaemonSet a/b on node-1" -> 1 */
    struct map_str owners;   /* the same texts -> themselves */
    const struct node **nodes; /* for DaemonSets */
    uint32_t n_nodes, n_made;
    struct sim_admission admission;
    const char *checked; /* the owner whose pods were checked last: they are alike */
};

/* ---- Who owns a pod ---- */

/* Of an object with a value. */
static const struct value *controller_of(const struct sim_object *o, const struct type **ret_type)
{
    const struct value *refs = sim_field(o, "metadata.ownerReferences");
    *ret_type = schema_type(STR("meta/v1.OwnerReference"));
    for (uint32_t i = 0; refs->kind == VALUE_LIST && i < refs->n; i++)
        if (value_path(*ret_type, &refs->items[i], "controller")->b)
            return &refs->items[i];
    return NULL;
}

/* "cart" for "cart-7d9f" when the pod has the label pod-template-hash=7d9f: the name of the Deployment. */
static struct str deployment_name(const struct sym_table *syms, const struct pod *pod, struct str replica_set)
{
    sym key = sym_find(syms, STR("pod-template-hash"));
    sym value = key == SYM_NONE ? SYM_NONE : label_set_get(pod->meta.labels, key);
    struct str hash = value == SYM_NONE ? STR("") : sym_text(syms, value);
    bool ends_so = hash.n && replica_set.n > hash.n + 1 && str_ends(replica_set, hash) &&
                   replica_set.p[replica_set.n - hash.n - 1] == '-';
    return ends_so ? str_first(replica_set, replica_set.n - hash.n - 1) : (struct str){ NULL, 0 };
}

/* The one text for all pods of an owner. */
static const char *shared_text(struct expansion *x, struct str kind, const char *ns, struct str name)
{
    struct arena_mark mark = arena_save(&x->in->arena);
    const char *text = arena_printf(&x->in->arena, "%.*s %s/%.*s", STR_ARG(kind), ns, STR_ARG(name));
    bool is_new;
    union map_value *v = map_str_put(&x->owners, str_of(text), &is_new);
    if (is_new)
        v->const_ptr = text;
    else
        arena_rewind(&x->in->arena, mark);
    return v->const_ptr;
}

struct sim_owner sim_pod_owner(const struct sim_input *in, const struct sim_object *o)
{
    const struct pod *pod = sim_pod_form(o);
    if (!pod->controller)
        return (struct sim_owner){ .kind = { NULL, 0 } };
    struct str kind = sym_text(in->syms, pod->controller->kind), name = sym_text(in->syms, pod->controller->name);
    if (str_is(kind, "ReplicaSet")) {
        const struct type *t;
        const struct sim_object *set = sim_input_find(in, "ReplicaSet", o->ns, name.p);
        const struct value *up = set ? controller_of(set, &t) : NULL;
        struct str deployment = up ? value_text(value_path(t, up, "name")) : deployment_name(in->syms, pod, name);
        if (deployment.n)
            return (struct sim_owner){ STR("Deployment"), deployment };
    }
    return (struct sim_owner){ kind, name };
}

static const char *owner_of(struct expansion *x, const struct sim_object *o)
{
    struct sim_owner owner = sim_pod_owner(x->in, o);
    return owner.kind.n ? shared_text(x, owner.kind, o->ns, owner.name) : NULL;
}

/* The node that a DaemonSet's pod is on or meant for. */
static struct str daemon_node(const struct sym_table *syms, const struct pod *pod)
{
    if (pod->node_name != SYM_EMPTY)
        return sym_text(syms, pod->node_name);
    const struct node_rules *required = pod->node_affinity ? &pod->node_affinity->required : NULL;
    const struct match_rule *field =
        required && required->n && required->at[0].n_fields ? &required->at[0].fields[0] : NULL;
    return field && field->op == MATCH_IN && field->n_values ? sym_text(syms, field->values[0]) : STR("");
}

static const char *daemon_key(struct sim_input *in, const char *owner, struct str node)
{
    return arena_printf(&in->arena, "%s on %.*s", owner, STR_ARG(node));
}

static void count_pod(struct expansion *x, struct sim_object *o)
{
    const struct pod *pod = sim_pod_form(o);
    o->owner = owner_of(x, o);
    if (!o->owner || pod->flags & (POD_FINISHED | POD_TERMINATING))
        return;
    map_str_put(&x->counts, str_of(o->owner), NULL)->num++;
    if (strncmp(o->owner, "Deployment ", 11) == 0) { /* its ReplicaSet may be all that is given */
        struct str set = sym_text(x->syms, pod->controller->name);
        map_str_put(&x->counts, str_of(shared_text(x, STR("ReplicaSet"), o->ns, set)), NULL)->num++;
    }
    if (strncmp(o->owner, "DaemonSet ", 10) == 0)
        map_str_put(&x->counts, str_of(daemon_key(x->in, o->owner, daemon_node(x->syms, pod))), NULL)->num++;
}

static int64_t count_of(const struct expansion *x, const char *owner)
{
    union map_value *v = map_str_find(&x->counts, str_of(owner));
    return v ? (int64_t)v->num : 0;
}

/* ---- Making one pod ---- */

static const char *hash_text(struct arena *a, const struct type *t, const struct value *v)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode(&json, t, v);
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < json.n; i++)
        hash = (hash ^ (unsigned char)json.p[i]) * 16777619u;
    strbuf_fini(&json);
    char text[11];
    snprintf(text, sizeof(text), "%u", hash);
    for (char *c = text; *c; c++)
        *c = name_alphabet[(*c - '0') * 2];
    return arena_cstr(a, str_of(text));
}

static void set(struct expansion *x, struct sim_object *o, const char *path, struct value to)
{
    o->value = edit_set(sim_value_arena(x->in, o), o->type, &o->value, path, to);
}

static void set_label(struct expansion *x, struct sim_object *o, const char *key, const char *text)
{
    struct arena *a = sim_value_arena(x->in, o);
    set(x, o, "metadata.labels", edit_member(a, sim_field(o, "metadata.labels"), str_of(key), edit_text(text)));
}

static struct value owner_references(struct expansion *x, const struct sim_object *owner)
{
    struct arena *a = &x->in->arena;
    struct value ref = constant_value(a, "meta/v1.OwnerReference", "{\"controller\":true,\"blockOwnerDeletion\":true}");
    const struct type *t = schema_type(STR("meta/v1.OwnerReference"));
    ref = edit_set(a, t, &ref, "apiVersion", owner->value.slots[SLOT_API_VERSION]);
    ref = edit_set(a, t, &ref, "kind", edit_text(owner->kind));
    ref = edit_set(a, t, &ref, "name", edit_text(owner->name));
    ref = edit_set(a, t, &ref, "uid", edit_text(owner->uid));
    return edit_append(a, &(struct value){ 0 }, ref);
}

static struct sim_object new_object(struct expansion *x, const char *type, const char *origin)
{
    const struct type *t = schema_type(str_of(type));
    struct sim_object o = { .type = t, .sim_kind = sim_kind_of(t), .origin = origin, .made = true };
    o.value = value_struct(sim_value_arena(x->in, &o), t);
    return o;
}

/* The pod of a controller's template, without a name. Its value, as that of all pods that are made of it, is gone with
 * the next rewinding of the input's `waiting`. */
static struct sim_object pod_of(struct expansion *x, const struct sim_object *controller, const char *owner)
{
    struct sim_object o = new_object(x, "core/v1.Pod", controller->origin);
    o.owner = owner;
    set(x, &o, "kind", edit_text("Pod"));
    set(x, &o, "apiVersion", edit_text("v1"));
    set(x, &o, "spec", *sim_field(controller, "spec.template.spec"));
    set(x, &o, "metadata.labels", *sim_field(controller, "spec.template.metadata.labels"));
    set(x, &o, "metadata.annotations", *sim_field(controller, "spec.template.metadata.annotations"));
    set(x, &o, "metadata.namespace", edit_text(controller->ns));
    set(x, &o, "metadata.ownerReferences", owner_references(x, controller));
    return o;
}

struct sim_object sim_template_pod(struct sim_input *in, const struct sim_object *controller)
{
    struct expansion x = { .in = in, .syms = in->syms };
    return pod_of(&x, controller, NULL);
}

/* Says so before the work is done. */
static enum err_code check_number(const struct expansion *x, const struct sim_object *controller, int64_t n,
                                  struct err *e)
{
    if (n <= (int64_t)SIM_MADE_PODS_MAX - x->n_made)
        return ERR_OK;
    return err_set(e, ERR_INVALID, "%s: %s %s/%s: more than %d pods would have to be made", controller->origin,
                   controller->kind, controller->ns, controller->name, SIM_MADE_PODS_MAX);
}

/* Adds an object, complete with defaults and form. */
static enum err_code add_made(struct expansion *x, const struct sim_object *o, struct err *e)
{
    if (sim_input_add(x->in, o, e))
        return e->code;
    struct sim_object *added = &x->in->objects.at[x->in->last];
    if (!sim_is_pod(added))
        sim_defaults(&x->admission, added);
    if (sim_object_form(x->in, added, e))
        return e->code;
    if (!added->owner || added->owner != x->checked)
        sim_check_form(x->in, added);
    x->checked = added->owner;
    return ERR_OK;
}

static enum err_code add_named(struct expansion *x, struct sim_object *pod, const char *name, struct err *e)
{
    x->n_made++;
    set(x, pod, "metadata.name", edit_text(name));
    return add_made(x, pod, e);
}

/* The next name "prefix-xxxxx" that is free; *number goes on behind it. */
static const char *free_name(struct expansion *x, const char *ns, const char *prefix, uint32_t *number)
{
    struct str base = str_of(arena_printf(&x->in->waiting, "%s-", prefix));
    const char *name;
    do
        name = name_generate(&x->in->waiting, base, (*number)++);
    while (sim_input_find(x->in, "Pod", ns, name));
    return name;
}

/* The pod that n pods of a controller begin with; false when an API server would let in none of them, which is noted. */
static bool admit_pods(struct expansion *x, struct sim_object *pod, int64_t n)
{
    const char *refused = n > 0 ? sim_admit(&x->admission, pod) : NULL;
    if (refused)
        sim_refuse(x->in, pod->owner, (uint32_t)n, refused);
    return n > 0 && !refused;
}

/* The same for the first of n that are left, which is about to be made. */
static bool admit_one(struct expansion *x, const struct sim_object *pod, int64_t n)
{
    const char *refused = sim_admit_quota(&x->admission, pod);
    if (refused)
        sim_refuse(x->in, pod->owner, (uint32_t)n, refused);
    return !refused;
}

/* ---- Controllers ---- */

static const char *owner_text(struct expansion *x, const struct sim_object *o)
{
    return arena_printf(&x->in->arena, "%s %s/%s", o->kind, o->ns, o->name);
}

static enum err_code make_alike(struct expansion *x, const struct sim_object *controller, const char *owner, int64_t n,
                                struct err *e)
{
    if (check_number(x, controller, n, e))
        return e->code;
    struct sim_object pod = pod_of(x, controller, owner);
    if (!admit_pods(x, &pod, n))
        return ERR_OK;
    uint32_t number = 0;
    for (int64_t i = 0; i < n && admit_one(x, &pod, n - i); i++) {
        struct sim_object one = pod;
        struct arena_mark mark = arena_save(&x->in->waiting);
        if (add_named(x, &one, free_name(x, controller->ns, controller->name, &number), e))
            return e->code;
        arena_rewind(&x->in->waiting, mark);
    }
    return ERR_OK;
}

static enum err_code expand_replicas(struct expansion *x, const struct sim_object *o, struct err *e)
{
    const struct type *t;
    const struct value *up = controller_of(o, &t);
    const char *set = owner_text(x, o), *owner = set;
    if (up && str_is(value_text(value_path(t, up, "kind")), "Deployment")) {
        const char *name = arena_cstr(&x->in->arena, value_text(value_path(t, up, "name")));
        if (sim_input_find(x->in, "Deployment", o->ns, name))
            return ERR_OK; /* its pods are made for the Deployment */
        owner = shared_text(x, STR("Deployment"), o->ns, str_of(name));
    }
    return make_alike(x, o, owner, sim_int(o, "spec.replicas", 1) - count_of(x, set), e);
}

const struct sim_object *sim_current_set(const struct sim_input *in, const struct sim_object *deployment)
{
    const struct sim_object *best = NULL;
    for (size_t i = 0; i < in->objects.n; i++) {
        const struct sim_object *o = &in->objects.at[i];
        const struct type *t;
        bool may_be = o->sim_kind->form == OBJECT_REPLICA_SET && !o->removed && strcmp(o->ns, deployment->ns) == 0;
        const struct value *up = may_be ? controller_of(o, &t) : NULL;
        if (up && str_is(value_text(value_path(t, up, "name")), deployment->name) &&
            (!best || sim_int(o, "spec.replicas", 1) > sim_int(best, "spec.replicas", 1)))
            best = o;
    }
    return best;
}

static enum err_code make_set(struct expansion *x, const struct sim_object *d, struct sim_object *ret_set,
                              struct err *e)
{
    struct arena *a = &x->in->arena;
    const char *hash = hash_text(a, schema_type(STR("core/v1.PodTemplateSpec")), sim_field(d, "spec.template"));
    const char *name = arena_printf(a, "%s-%s", d->name, hash);
    struct sim_object o = new_object(x, "apps/v1.ReplicaSet", d->origin);
    set(x, &o, "kind", edit_text("ReplicaSet"));
    set(x, &o, "apiVersion", edit_text("apps/v1"));
    set(x, &o, "metadata.name", edit_text(name));
    set(x, &o, "metadata.namespace", edit_text(d->ns));
    set(x, &o, "metadata.ownerReferences", owner_references(x, d));
    set(x, &o, "spec.replicas", value_int(sim_int(d, "spec.replicas", 1)));
    set(x, &o, "spec.selector", *sim_field(d, "spec.selector"));
    set(x, &o, "spec.selector.matchLabels",
        edit_member(a, sim_field(d, "spec.selector.matchLabels"), STR("pod-template-hash"), edit_text(hash)));
    set(x, &o, "spec.template", *sim_field(d, "spec.template"));
    set(x, &o, "spec.template.metadata.labels", edit_member(a, sim_field(d, "spec.template.metadata.labels"),
                                                            STR("pod-template-hash"), edit_text(hash)));
    if (add_made(x, &o, e))
        return e->code;
    *ret_set = x->in->objects.at[x->in->last];
    return ERR_OK;
}

/* Without the label that every ReplicaSet has for itself. */
static struct value plain_labels(struct arena *a, const struct value *labels)
{
    struct member *kept = ARENA_NEW_N(a, struct member, labels->kind == VALUE_MAP ? labels->n : 0);
    uint32_t n = 0;
    for (uint32_t i = 0; labels->kind == VALUE_MAP && i < labels->n; i++)
        if (!str_is(labels->members[i].key, "pod-template-hash"))
            kept[n++] = labels->members[i];
    return value_map(kept, n);
}

/* Whether the Deployment was changed after its ReplicaSet was made. */
static bool is_rolled_out(struct expansion *x, const struct sim_object *d, const struct sim_object *set)
{
    if (!d->replaced)
        return true;
    struct arena *a = &x->in->waiting;
    struct value wanted = plain_labels(a, sim_field(d, "spec.template.metadata.labels"));
    struct value has = plain_labels(a, sim_field(set, "spec.template.metadata.labels"));
    return value_equal(&wanted, &has) &&
           value_equal(sim_field(d, "spec.template.spec"), sim_field(set, "spec.template.spec"));
}

/* The pods of the old template leave, as they have when the rollout is over. */
static void drop_pods(struct expansion *x, const struct sim_object *d, const char *owner)
{
    uint32_t n = 0;
    for (size_t i = 0; i < x->in->objects.n; i++) {
        struct sim_object *o = &x->in->objects.at[i];
        bool its = sim_is_pod(o) && !o->removed && o->owner && strcmp(o->owner, owner) == 0;
        n += its;
        if (its)
            sim_input_remove(x->in, o);
    }
    map_str_put(&x->counts, str_of(owner), NULL)->num = 0;
    sim_warn(x->in, "%s: %s has another template than the %u pod%s that it has: they are taken as rolled out", d->origin,
             owner, n, n == 1 ? "" : "s");
}

static enum err_code retire_set(struct expansion *x, const struct sim_object *set, struct err *e)
{
    struct sim_object *o = sim_input_find(x->in, "ReplicaSet", set->ns, set->name);
    sim_object_set(x->in, o, "spec.replicas", value_int(0));
    return sim_object_form(x->in, o, e);
}

static enum err_code expand_deployment(struct expansion *x, const struct sim_object *d, struct err *e)
{
    const char *owner = owner_text(x, d);
    const struct sim_object *found = sim_current_set(x->in, d);
    if (found && !is_rolled_out(x, d, found)) {
        drop_pods(x, d, owner);
        if (retire_set(x, found, e))
            return e->code;
        found = NULL;
    }
    int64_t lacking = sim_int(d, "spec.replicas", 1) - count_of(x, owner);
    struct sim_object set;
    if (found)
        set = *found;
    else if (make_set(x, d, &set, e))
        return e->code;
    return make_alike(x, &set, owner, lacking, e);
}

static struct value claim_volume(struct arena *a, const char *volume, const char *claim)
{
    const struct type *t = schema_type(STR("core/v1.Volume"));
    struct value v = value_struct(a, t);
    v = edit_set(a, t, &v, "name", edit_text(volume));
    return edit_set(a, t, &v, "persistentVolumeClaim.claimName", edit_text(claim));
}

static enum err_code make_claim(struct expansion *x, const struct sim_object *set_object, const struct value *template,
                                const char *name, struct err *e)
{
    if (sim_input_find(x->in, "PersistentVolumeClaim", set_object->ns, name))
        return ERR_OK;
    struct sim_object claim = new_object(x, "core/v1.PersistentVolumeClaim", set_object->origin);
    claim.value = *template;
    set(x, &claim, "metadata.name", edit_text(name));
    set(x, &claim, "metadata.namespace", edit_text(set_object->ns));
    return add_made(x, &claim, e);
}

/* Claims of a StatefulSet's pod, and volumes for them in the place of volumes with the same names. */
static enum err_code add_claims(struct expansion *x, const struct sim_object *o, struct sim_object *pod,
                                const char *pod_name, struct err *e)
{
    struct arena *a = &x->in->waiting;
    const struct value *templates = sim_field(o, "spec.volumeClaimTemplates");
    const struct type *claim_type = schema_type(STR("core/v1.PersistentVolumeClaim"));
    const struct type *volume_type = schema_type(STR("core/v1.Volume"));
    struct value volumes = { 0 };
    for (uint32_t i = 0; templates->kind == VALUE_LIST && i < templates->n; i++) {
        const char *volume = arena_cstr(a, value_text(value_path(claim_type, &templates->items[i], "metadata.name")));
        const char *claim = arena_printf(&x->in->arena, "%s-%s", volume, pod_name);
        if (make_claim(x, o, &templates->items[i], claim, e))
            return e->code;
        volumes = edit_append(a, &volumes, claim_volume(a, volume, claim));
    }
    uint32_t n_claims = volumes.n;
    const struct value *own = sim_field(pod, "spec.volumes");
    for (uint32_t i = 0; n_claims && own->kind == VALUE_LIST && i < own->n; i++) {
        struct str name = value_text(value_path(volume_type, &own->items[i], "name"));
        bool replaced = false;
        for (uint32_t k = 0; k < n_claims; k++)
            replaced |= str_eq(name, value_text(value_path(volume_type, &volumes.items[k], "name")));
        if (!replaced)
            volumes = edit_append(a, &volumes, own->items[i]);
    }
    if (n_claims)
        set(x, pod, "spec.volumes", volumes);
    return ERR_OK;
}

static enum err_code expand_stateful_set(struct expansion *x, const struct sim_object *o, struct err *e)
{
    struct arena *a = &x->in->waiting;
    int64_t first = sim_int(o, "spec.ordinals.start", 0), n = sim_int(o, "spec.replicas", 1);
    if (check_number(x, o, n, e))
        return e->code;
    struct sim_object pod = pod_of(x, o, owner_text(x, o));
    int64_t lacking = n - count_of(x, pod.owner);
    if (!admit_pods(x, &pod, lacking))
        return ERR_OK;
    for (int64_t i = first; i < first + n; i++) {
        struct arena_mark mark = arena_save(a);
        const char *name = arena_printf(a, "%s-%lld", o->name, (long long)i);
        if (sim_input_find(x->in, "Pod", o->ns, name))
            continue;
        if (!admit_one(x, &pod, lacking--))
            break;
        struct sim_object one = pod;
        set_label(x, &one, "statefulset.kubernetes.io/pod-name", name);
        set_label(x, &one, "apps.kubernetes.io/pod-index", arena_printf(a, "%lld", (long long)i));
        if (add_claims(x, o, &one, name, e) || add_named(x, &one, name, e))
            return e->code;
        arena_rewind(a, mark);
    }
    return ERR_OK;
}

/* ---- DaemonSets ---- */

static void add_daemon_tolerations(struct expansion *x, struct sim_object *pod)
{
    static const char *const tolerations[] = {
        "{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\"}",
        "{\"key\":\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\",\"effect\":\"NoExecute\"}",
        "{\"key\":\"node.kubernetes.io/disk-pressure\",\"operator\":\"Exists\",\"effect\":\"NoSchedule\"}",
        "{\"key\":\"node.kubernetes.io/memory-pressure\",\"operator\":\"Exists\",\"effect\":\"NoSchedule\"}",
        "{\"key\":\"node.kubernetes.io/pid-pressure\",\"operator\":\"Exists\",\"effect\":\"NoSchedule\"}",
        "{\"key\":\"node.kubernetes.io/unschedulable\",\"operator\":\"Exists\",\"effect\":\"NoSchedule\"}",
        /* only for pods in the host's network, therefore last */
        "{\"key\":\"node.kubernetes.io/network-unavailable\",\"operator\":\"Exists\",\"effect\":\"NoSchedule\"}",
    };
    enum { N = sizeof(tolerations) / sizeof(tolerations[0]) };
    struct arena *a = &x->in->arena;
    struct value all = *sim_field(pod, "spec.tolerations");
    unsigned n = sim_field(pod, "spec.hostNetwork")->b ? N : N - 1;
    for (unsigned i = 0; i < n; i++)
        all = edit_append(a, &all, constant_value(a, "core/v1.Toleration", tolerations[i]));
    set(x, pod, "spec.tolerations", all);
}

static void pin_to_node(struct expansion *x, struct sim_object *pod, const char *node)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(
        &json, "{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[");
    json_add_string(&json, str_of(node));
    STRBUF_ADD_LIT(&json, "]}]}]}");
    struct arena *a = &x->in->waiting;
    const char *text = arena_cstr(a, strbuf_str(&json));
    strbuf_fini(&json);
    set(x, pod, "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
        constant_value(a, "core/v1.NodeSelector", text));
}

static enum err_code decode_pod(struct expansion *x, const struct sim_object *o, const struct pod **ret_pod,
                                struct err *e)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode(&json, o->type, &o->value);
    enum err_code code = pod_decode(x->syms, TYPED_JSON, strbuf_str(&json), ret_pod, e);
    strbuf_fini(&json);
    return code ? err_wrap(e, "%s: %s", o->origin, o->owner) : ERR_OK;
}

static enum err_code expand_daemon_set(struct expansion *x, const struct sim_object *o, struct err *e)
{
    if (check_number(x, o, x->n_nodes, e))
        return e->code;
    const char *owner = owner_text(x, o);
    struct sim_object pod = pod_of(x, o, owner);
    add_daemon_tolerations(x, &pod);
    if (!admit_pods(x, &pod, x->n_nodes))
        return ERR_OK;
    const struct pod *form;
    if (decode_pod(x, &pod, &form, e))
        return e->code;
    uint32_t number = 0;
    enum err_code code = ERR_OK;
    for (uint32_t i = 0; i < x->n_nodes && !code; i++) {
        const struct node *node = x->nodes[i];
        if (!pod_wants_node(form, node, x->syms) ||
            !tolerates_all_hard(form, node->taints, node->n_taints, x->syms, false) ||
            count_of(x, daemon_key(x->in, owner, str_of(node->meta.name))) || !admit_one(x, &pod, 1))
            continue;
        struct sim_object one = pod;
        struct arena_mark mark = arena_save(&x->in->waiting);
        pin_to_node(x, &one, node->meta.name);
        code = add_named(x, &one, free_name(x, o->ns, o->name, &number), e);
        arena_rewind(&x->in->waiting, mark);
    }
    pod_unref(x->syms, form);
    return code;
}

/* ---- Jobs ---- */

static bool job_is_over(const struct sim_object *o)
{
    const struct type *t = schema_type(STR("batch/v1.JobCondition"));
    const struct value *conditions = sim_field(o, "status.conditions");
    for (uint32_t i = 0; conditions->kind == VALUE_LIST && i < conditions->n; i++) {
        struct str type = value_text(value_path(t, &conditions->items[i], "type"));
        if ((str_is(type, "Complete") || str_is(type, "Failed")) &&
            str_is(value_text(value_path(t, &conditions->items[i], "status")), "True"))
            return true;
    }
    return sim_field(o, "spec.suspend")->b;
}

static enum err_code expand_job(struct expansion *x, const struct sim_object *o, struct err *e)
{
    if (job_is_over(o))
        return ERR_OK;
    int64_t at_once = sim_int(o, "spec.parallelism", 1);
    int64_t left = sim_int(o, "spec.completions", at_once) - sim_int(o, "status.succeeded", 0);
    const char *owner = owner_text(x, o);
    struct sim_object labelled = *o;
    struct value labels = edit_member(&x->in->arena, sim_field(o, "spec.template.metadata.labels"),
                                      STR("batch.kubernetes.io/job-name"), edit_text(o->name));
    set(x, &labelled, "spec.template.metadata.labels", labels);
    return make_alike(x, &labelled, owner, (left < at_once ? left : at_once) - count_of(x, owner), e);
}

/* ---- All of them ---- */

static const struct {
    const char *kind;
    enum err_code (*expand)(struct expansion *x, const struct sim_object *o, struct err *e);
} controllers[] = {
    { "ReplicationController", expand_replicas },
    { "ReplicaSet", expand_replicas },
    { "Deployment", expand_deployment },
    { "StatefulSet", expand_stateful_set },
    { "DaemonSet", expand_daemon_set },
    { "Job", expand_job },
};

static enum err_code expand_object(struct expansion *x, const struct sim_object *o, struct err *e)
{
    for (size_t i = 0; i < sizeof(controllers) / sizeof(controllers[0]); i++)
        if (strcmp(o->kind, controllers[i].kind) == 0) {
            /* defaults have made an empty one of a template that was not given */
            if (sim_field(o, "spec.template.spec.containers")->kind != VALUE_LIST &&
                sim_field(o, "spec.template.metadata")->kind != VALUE_STRUCT)
                return err_set(e, ERR_INVALID, "%s: %s: spec.template.spec is missing", o->origin, owner_text(x, o));
            return controllers[i].expand(x, o, e);
        }
    return ERR_OK;
}

static void collect_nodes(struct expansion *x)
{
    x->nodes = ARENA_NEW_N(&x->in->arena, const struct node *, x->in->objects.n);
    for (size_t i = 0; i < x->in->objects.n; i++)
        if (sim_is_node(&x->in->objects.at[i]) && !x->in->objects.at[i].removed)
            x->nodes[x->n_nodes++] = sim_node_form(&x->in->objects.at[i]);
}

/* ---- What comes with pods ---- */

static enum err_code add_namespaces(struct expansion *x, struct err *e)
{
    struct sim_input *in = x->in;
    const char *last = "";
    for (size_t i = 0, n = in->objects.n; i < n; i++) {
        struct sim_object o = in->objects.at[i];
        if (!sim_is_pod(&o) || o.removed || strcmp(o.ns, last) == 0)
            continue;
        last = o.ns;
        if (sim_input_find(in, "Namespace", "", o.ns))
            continue;
        struct sim_object ns = new_object(x, "core/v1.Namespace", o.origin);
        set(x, &ns, "metadata.name", edit_text(o.ns));
        if (add_made(x, &ns, e))
            return e->code;
    }
    return ERR_OK;
}

/* What-ifs may have changed values of what is given. */
static enum err_code refresh_forms(struct sim_input *in, struct err *e)
{
    for (size_t i = 0; i < in->objects.n; i++)
        if (!in->objects.at[i].removed && sim_object_form(in, &in->objects.at[i], e))
            return e->code;
    return ERR_OK;
}

static enum err_code expand_all(struct expansion *x, struct err *e)
{
    size_t n_given = x->in->objects.n;
    for (size_t i = 0; i < n_given; i++) {
        struct sim_object o = x->in->objects.at[i]; /* a copy: the list may grow */
        struct arena_mark mark = arena_save(&x->in->waiting);
        if (!o.removed && expand_object(x, &o, e))
            return e->code;
        arena_rewind(&x->in->waiting, mark);
    }
    return sim_complete_claims(x->in, e) ? e->code : add_namespaces(x, e);
}

enum err_code sim_expand(struct sim_input *in, struct err *e)
{
    if (refresh_forms(in, e))
        return e->code;
    struct expansion x = { .in = in, .syms = in->syms };
    sim_admission_init(&x.admission, in);
    map_str_init(&x.counts);
    map_str_init(&x.owners);
    for (size_t i = 0; i < in->objects.n; i++)
        if (sim_is_pod(&in->objects.at[i]) && !in->objects.at[i].removed)
            count_pod(&x, &in->objects.at[i]);
    collect_nodes(&x);
    enum err_code code = expand_all(&x, e);
    sim_admission_fini(&x.admission);
    map_str_fini(&x.counts);
    map_str_fini(&x.owners);
    return code;
}
