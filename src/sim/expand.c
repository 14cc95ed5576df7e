/* sim/expand.c - see expand.h. What controllers do: kube-controller-manager v1.36, as far as it decides which pods there are. */
#include "sim/expand.h"

#include <stdio.h>

#include "api/json.h"
#include "plugins/plugins.h"
#include "sim/edit.h"

struct expansion {
    struct sim_input *in;
    struct sym_table *syms;
    struct map_str counts;   /* "Deployment shop/cart" -> its active pods; "DaemonSet a/b on node-1" -> 1 */
    const struct node **nodes; /* for DaemonSets */
    uint32_t n_nodes, n_made;
};

/* ---- Who owns a pod ---- */

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
static struct str deployment_name(const struct sim_object *pod, struct str replica_set)
{
    const struct value *labels = sim_field(pod, "metadata.labels");
    const struct value *v = labels->kind == VALUE_MAP ? value_member(labels, STR("pod-template-hash")) : NULL;
    struct str hash = v ? value_text(v) : STR("");
    bool ends_so = hash.n && replica_set.n > hash.n + 1 && str_ends(replica_set, hash) &&
                   replica_set.p[replica_set.n - hash.n - 1] == '-';
    return ends_so ? str_first(replica_set, replica_set.n - hash.n - 1) : (struct str){ NULL, 0 };
}

static const char *owner_of(struct sim_input *in, const struct sim_object *pod)
{
    const struct type *t;
    const struct value *ref = controller_of(pod, &t);
    if (!ref)
        return NULL;
    struct str kind = value_text(value_path(t, ref, "kind")), name = value_text(value_path(t, ref, "name"));
    if (str_is(kind, "ReplicaSet")) {
        const struct sim_object *set = sim_input_find(in, "ReplicaSet", pod->ns, arena_cstr(&in->arena, name));
        const struct value *up = set ? controller_of(set, &t) : NULL;
        struct str deployment = up ? value_text(value_path(t, up, "name")) : deployment_name(pod, name);
        if (deployment.n)
            return arena_printf(&in->arena, "Deployment %s/%.*s", pod->ns, STR_ARG(deployment));
    }
    return arena_printf(&in->arena, "%.*s %s/%.*s", STR_ARG(kind), pod->ns, STR_ARG(name));
}

static bool is_active(const struct sim_object *pod)
{
    struct str phase = value_text(sim_field(pod, "status.phase"));
    return !str_is(phase, "Succeeded") && !str_is(phase, "Failed") &&
           sim_field(pod, "metadata.deletionTimestamp")->kind == VALUE_ABSENT;
}

/* The node that a DaemonSet's pod is on or meant for. */
static struct str daemon_node(const struct sim_object *pod)
{
    struct str on = value_text(sim_field(pod, "spec.nodeName"));
    return on.n ? on
                : value_text(sim_field(pod, "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                                            "nodeSelectorTerms.0.matchFields.0.values.0"));
}

static const char *daemon_key(struct sim_input *in, const char *owner, struct str node)
{
    return arena_printf(&in->arena, "%s on %.*s", owner, STR_ARG(node));
}

static void count_pod(struct expansion *x, struct sim_object *pod)
{
    pod->owner = owner_of(x->in, pod);
    if (!pod->owner || !is_active(pod))
        return;
    map_str_put(&x->counts, str_of(pod->owner), NULL)->num++;
    if (strncmp(pod->owner, "DaemonSet ", 10) == 0)
        map_str_put(&x->counts, str_of(daemon_key(x->in, pod->owner, daemon_node(pod))), NULL)->num++;
}

static int64_t count_of(const struct expansion *x, const char *owner)
{
    union map_value *v = map_str_find(&x->counts, str_of(owner));
    return v ? (int64_t)v->num : 0;
}

/* ---- Making one pod ---- */

/* Upstream's alphabet of made names: no vowels, no digits that look like letters. */
static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
enum { SUFFIX_LETTERS = 5, SUFFIXES = 27 * 27 * 27 * 27 * 27, SUFFIX_STEP = 7368787 /* shares no factor with 27 */ };

/* Looks drawn by lot; no two of the first SUFFIXES numbers give the same. */
static const char *suffix(struct arena *a, uint32_t number)
{
    uint32_t n = (uint32_t)(((uint64_t)number + 1) * SUFFIX_STEP % SUFFIXES);
    char text[SUFFIX_LETTERS + 1] = "";
    for (int i = 0; i < SUFFIX_LETTERS; i++, n /= 27)
        text[i] = alphabet[n % 27];
    return arena_cstr(a, str_of(text));
}

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
        *c = alphabet[(*c - '0') * 2];
    return arena_cstr(a, str_of(text));
}

static void set(struct expansion *x, struct sim_object *o, const char *path, struct value to)
{
    o->value = edit_set(&x->in->arena, o->type, &o->value, path, to);
}

static void set_label(struct expansion *x, struct sim_object *o, const char *key, const char *text)
{
    set(x, o, "metadata.labels", edit_member(&x->in->arena, sim_field(o, "metadata.labels"), str_of(key), edit_text(text)));
}

static struct value owner_references(struct expansion *x, const struct sim_object *owner)
{
    struct arena *a = &x->in->arena;
    struct value ref = edit_constant(a, "meta/v1.OwnerReference", "{\"controller\":true,\"blockOwnerDeletion\":true}");
    const struct type *t = schema_type(STR("meta/v1.OwnerReference"));
    ref = edit_set(a, t, &ref, "apiVersion", owner->value.slots[SLOT_API_VERSION]);
    ref = edit_set(a, t, &ref, "kind", edit_text(owner->kind));
    ref = edit_set(a, t, &ref, "name", edit_text(owner->name));
    ref = edit_set(a, t, &ref, "uid", edit_text(owner->uid));
    return edit_append(a, &(struct value){ 0 }, ref);
}

/* The pod of a controller's template, without a name. */
static struct sim_object pod_of(struct expansion *x, const struct sim_object *controller, const char *owner)
{
    const struct type *t = schema_type(STR("core/v1.Pod"));
    struct sim_object o = { .type = t, .value = value_struct(&x->in->arena, t), .origin = controller->origin, .owner = owner,
                            .made = true };
    set(x, &o, "kind", edit_text("Pod"));
    set(x, &o, "apiVersion", edit_text("v1"));
    set(x, &o, "spec", *sim_field(controller, "spec.template.spec"));
    set(x, &o, "metadata.labels", *sim_field(controller, "spec.template.metadata.labels"));
    set(x, &o, "metadata.annotations", *sim_field(controller, "spec.template.metadata.annotations"));
    set(x, &o, "metadata.namespace", edit_text(controller->ns));
    set(x, &o, "metadata.ownerReferences", owner_references(x, controller));
    return o;
}

/* Says so before the work is done. */
static enum err_code check_number(const struct expansion *x, const struct sim_object *controller, int64_t n, struct err *e)
{
    if (n <= (int64_t)SIM_MADE_PODS_MAX - x->n_made)
        return ERR_OK;
    return err_set(e, ERR_INVALID, "%s: %s %s/%s: more than %d pods would have to be made", controller->origin,
                   controller->kind, controller->ns, controller->name, SIM_MADE_PODS_MAX);
}

static enum err_code add_named(struct expansion *x, struct sim_object *pod, const char *name, struct err *e)
{
    x->n_made++;
    set(x, pod, "metadata.name", edit_text(name));
    return sim_input_add(x->in, pod, e);
}

/* The next name "prefix-xxxxx" that is free; *number goes on behind it. */
static const char *free_name(struct expansion *x, const char *ns, const char *prefix, uint32_t *number)
{
    const char *name;
    do
        name = arena_printf(&x->in->arena, "%s-%s", prefix, suffix(&x->in->arena, (*number)++));
    while (sim_input_find(x->in, "Pod", ns, name));
    return name;
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
    uint32_t number = 0;
    for (int64_t i = 0; i < n; i++) {
        struct sim_object one = pod;
        if (add_named(x, &one, free_name(x, controller->ns, controller->name, &number), e))
            return e->code;
    }
    return ERR_OK;
}

static enum err_code expand_replicas(struct expansion *x, const struct sim_object *o, struct err *e)
{
    const struct type *t;
    const struct value *up = controller_of(o, &t);
    if (up && str_is(value_text(value_path(t, up, "kind")), "Deployment")) {
        const char *name = arena_cstr(&x->in->arena, value_text(value_path(t, up, "name")));
        if (sim_input_find(x->in, "Deployment", o->ns, name))
            return ERR_OK; /* its pods are made for the Deployment */
    }
    const char *owner = owner_text(x, o);
    return make_alike(x, o, owner, sim_int(o, "spec.replicas", 1) - count_of(x, owner), e);
}

/* The ReplicaSet of a Deployment with the most replicas, or NULL. */
static const struct sim_object *current_set(struct expansion *x, const struct sim_object *deployment)
{
    const struct sim_object *best = NULL;
    for (size_t i = 0; i < x->in->objects.n; i++) {
        const struct sim_object *o = &x->in->objects.at[i];
        const struct type *t;
        const struct value *up = strcmp(o->kind, "ReplicaSet") == 0 && strcmp(o->ns, deployment->ns) == 0
                                     ? controller_of(o, &t) : NULL;
        if (up && str_is(value_text(value_path(t, up, "name")), deployment->name) &&
            (!best || sim_int(o, "spec.replicas", 1) > sim_int(best, "spec.replicas", 1)))
            best = o;
    }
    return best;
}

static enum err_code make_set(struct expansion *x, const struct sim_object *d, struct sim_object *ret_set, struct err *e)
{
    struct arena *a = &x->in->arena;
    const char *hash = hash_text(a, schema_type(STR("core/v1.PodTemplateSpec")), sim_field(d, "spec.template"));
    const char *name = arena_printf(a, "%s-%s", d->name, hash);
    const struct type *t = schema_type(STR("apps/v1.ReplicaSet"));
    struct sim_object o = { .type = t, .value = value_struct(a, t), .origin = d->origin, .made = true };
    set(x, &o, "kind", edit_text("ReplicaSet"));
    set(x, &o, "apiVersion", edit_text("apps/v1"));
    set(x, &o, "metadata.name", edit_text(name));
    set(x, &o, "metadata.namespace", edit_text(d->ns));
    set(x, &o, "metadata.ownerReferences", owner_references(x, d));
    set(x, &o, "spec.replicas", value_int(sim_int(d, "spec.replicas", 1)));
    set(x, &o, "spec.selector", *sim_field(d, "spec.selector"));
    set(x, &o, "spec.selector.matchLabels", edit_member(a, sim_field(d, "spec.selector.matchLabels"), STR("pod-template-hash"),
                                                        edit_text(hash)));
    set(x, &o, "spec.template", *sim_field(d, "spec.template"));
    set(x, &o, "spec.template.metadata.labels", edit_member(a, sim_field(d, "spec.template.metadata.labels"),
                                                            STR("pod-template-hash"), edit_text(hash)));
    if (sim_input_add(x->in, &o, e))
        return e->code;
    *ret_set = *vec_last(&x->in->objects);
    return ERR_OK;
}

static enum err_code expand_deployment(struct expansion *x, const struct sim_object *d, struct err *e)
{
    const char *owner = owner_text(x, d);
    int64_t lacking = sim_int(d, "spec.replicas", 1) - count_of(x, owner);
    const struct sim_object *found = current_set(x, d);
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
    struct sim_object claim = { .type = schema_type(STR("core/v1.PersistentVolumeClaim")), .value = *template,
                                .origin = set_object->origin, .made = true };
    set(x, &claim, "metadata.name", edit_text(name));
    set(x, &claim, "metadata.namespace", edit_text(set_object->ns));
    return sim_input_add(x->in, &claim, e);
}

/* Claims of a StatefulSet's pod, and volumes for them in the place of volumes with the same names. */
static enum err_code add_claims(struct expansion *x, const struct sim_object *o, struct sim_object *pod, const char *pod_name,
                                struct err *e)
{
    struct arena *a = &x->in->arena;
    const struct value *templates = sim_field(o, "spec.volumeClaimTemplates");
    const struct type *claim_type = schema_type(STR("core/v1.PersistentVolumeClaim"));
    const struct type *volume_type = schema_type(STR("core/v1.Volume"));
    struct value volumes = { 0 };
    for (uint32_t i = 0; templates->kind == VALUE_LIST && i < templates->n; i++) {
        const char *volume = arena_cstr(a, value_text(value_path(claim_type, &templates->items[i], "metadata.name")));
        const char *claim = arena_printf(a, "%s-%s", volume, pod_name);
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
    struct arena *a = &x->in->arena;
    int64_t first = sim_int(o, "spec.ordinals.start", 0), n = sim_int(o, "spec.replicas", 1);
    if (check_number(x, o, n, e))
        return e->code;
    const struct sim_object pod = pod_of(x, o, owner_text(x, o));
    for (int64_t i = first; i < first + n; i++) {
        const char *name = arena_printf(a, "%s-%lld", o->name, (long long)i);
        if (sim_input_find(x->in, "Pod", o->ns, name))
            continue;
        struct sim_object one = pod;
        set_label(x, &one, "statefulset.kubernetes.io/pod-name", name);
        set_label(x, &one, "apps.kubernetes.io/pod-index", arena_printf(a, "%lld", (long long)i));
        if (add_claims(x, o, &one, name, e) || add_named(x, &one, name, e))
            return e->code;
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
        all = edit_append(a, &all, edit_constant(a, "core/v1.Toleration", tolerations[i]));
    set(x, pod, "spec.tolerations", all);
}

static void pin_to_node(struct expansion *x, struct sim_object *pod, const char *node)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&json, "{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[");
    json_add_string(&json, str_of(node));
    STRBUF_ADD_LIT(&json, "]}]}]}");
    const char *text = arena_cstr(&x->in->arena, strbuf_str(&json));
    strbuf_fini(&json);
    set(x, pod, "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
        edit_constant(&x->in->arena, "core/v1.NodeSelector", text));
}

static enum err_code decode_pod(struct expansion *x, const struct sim_object *o, const struct pod **ret_pod, struct err *e)
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
    const struct pod *form;
    if (decode_pod(x, &pod, &form, e))
        return e->code;
    uint32_t number = 0;
    enum err_code code = ERR_OK;
    for (uint32_t i = 0; i < x->n_nodes && !code; i++) {
        const struct node *node = x->nodes[i];
        if (!pod_wants_node(form, node, x->syms) || !tolerates_all_hard(form, node->taints, node->n_taints, x->syms, false) ||
            count_of(x, daemon_key(x->in, owner, str_of(node->meta.name))))
            continue;
        struct sim_object one = pod;
        pin_to_node(x, &one, node->meta.name);
        code = add_named(x, &one, free_name(x, o->ns, o->name, &number), e);
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
            if (sim_field(o, "spec.template.spec")->kind != VALUE_STRUCT)
                return err_set(e, ERR_INVALID, "%s: %s: spec.template.spec is missing", o->origin, owner_text(x, o));
            return controllers[i].expand(x, o, e);
        }
    return ERR_OK;
}

static enum err_code decode_nodes(struct expansion *x, struct err *e)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    x->nodes = ARENA_NEW_N(&x->in->arena, const struct node *, x->in->objects.n);
    enum err_code code = ERR_OK;
    for (size_t i = 0; i < x->in->objects.n && !code; i++) {
        const struct sim_object *o = &x->in->objects.at[i];
        if (strcmp(o->kind, "Node") != 0)
            continue;
        strbuf_reset(&json);
        json_encode(&json, o->type, &o->value);
        code = node_decode(x->syms, TYPED_JSON, strbuf_str(&json), &x->nodes[x->n_nodes], e);
        if (code)
            err_wrap(e, "%s: Node %s", o->origin, o->name);
        else
            x->n_nodes++;
    }
    strbuf_fini(&json);
    return code;
}

enum err_code sim_expand(struct sim_input *in, struct sym_table *syms, struct err *e)
{
    struct expansion x = { .in = in, .syms = syms };
    map_str_init(&x.counts);
    size_t n_given = in->objects.n;
    for (size_t i = 0; i < n_given; i++)
        if (strcmp(in->objects.at[i].kind, "Pod") == 0)
            count_pod(&x, &in->objects.at[i]);
    enum err_code code = decode_nodes(&x, e);
    for (size_t i = 0; i < n_given && !code; i++) {
        struct sim_object o = in->objects.at[i]; /* a copy: the list may grow */
        code = expand_object(&x, &o, e);
    }
    for (uint32_t i = 0; i < x.n_nodes; i++)
        node_unref(syms, x.nodes[i]);
    map_str_fini(&x.counts);
    return code;
}
