/* sim/add_nodes.c - more nodes of a given shape; see change.h.
 *
 * A new node is a copy without what belongs to one machine: uid, provider id, pod addresses, images,
 * volumes in use, the cordon, and the taints that come from its condition. Its CSINode is copied
 * too, because it has the limits for volumes. Pods of DaemonSets that are not given are copied with
 * it; expansion makes those of the DaemonSets that are. */
#include "sim/change.h"

#include "api/edit.h"

static void set(struct sim_input *in, struct sim_object *o, const char *path, struct value to)
{
    o->value = edit_set(&in->arena, o->type, &o->value, path, to);
}

/* "node-1-copy-1", or the next number that is free; *number goes on behind it. */
static const char *free_name(struct sim_input *in, const char *kind, const char *ns, const char *like, int64_t *number)
{
    const char *name;
    do
        name = arena_printf(&in->arena, "%s-copy-%lld", like, (long long)(*number)++);
    while (sim_input_find(in, kind, ns, name));
    return name;
}

/* Without the taints that the node's condition and cordon brought. */
static struct value lasting_taints(struct sim_input *in, const struct sim_object *node)
{
    const struct type *t = schema_type(STR("core/v1.Taint"));
    const struct value *taints = sim_field(node, "spec.taints");
    struct value kept = { 0 };
    for (uint32_t i = 0; taints->kind == VALUE_LIST && i < taints->n; i++)
        if (!str_starts(value_text(value_path(t, &taints->items[i], "key")), STR("node.kubernetes.io/")))
            kept = edit_append(&in->arena, &kept, taints->items[i]);
    return kept;
}

static struct sim_object renamed(struct sim_input *in, const struct sim_object *model, const char *name)
{
    struct sim_object o = { .type = model->type, .value = model->value, .origin = model->origin };
    set(in, &o, "metadata.name", edit_text(name));
    set(in, &o, "metadata.uid", (struct value){ 0 });
    return o;
}

static enum err_code add_node(struct sim_input *in, const struct sim_object *model, const char *name, struct err *e)
{
    static const char *const dropped[] = {
        "spec.providerID", "spec.podCIDR", "spec.podCIDRs", "spec.unschedulable",
        "status.images", "status.volumesInUse", "status.volumesAttached", "status.addresses",
    };
    struct sim_object o = renamed(in, model, name);
    for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
        if (sim_field(&o, dropped[i])->kind != VALUE_ABSENT)
            set(in, &o, dropped[i], (struct value){ 0 });
    set(in, &o, "metadata.labels",
        edit_member(&in->arena, sim_field(&o, "metadata.labels"), STR("kubernetes.io/hostname"), edit_text(name)));
    set(in, &o, "spec.taints", lasting_taints(in, model));
    return sim_input_add(in, &o, e);
}

static enum err_code add_csi_node(struct sim_input *in, const char *like, const char *name, struct err *e)
{
    const struct sim_object *model = sim_input_find(in, "CSINode", "", like);
    if (!model || sim_input_find(in, "CSINode", "", name))
        return ERR_OK;
    struct sim_object o = renamed(in, model, name);
    return sim_input_add(in, &o, e);
}

/* A pod of a DaemonSet that is not given, and so does not get its pods by expansion. */
static bool is_orphan_daemon(const struct sim_input *in, const struct sim_object *o, sym node)
{
    if (o->removed || !sim_is_pod(o))
        return false;
    const struct pod *pod = sim_pod_form(o);
    return pod->node_name == node && pod->controller && !(pod->flags & (POD_FINISHED | POD_TERMINATING)) &&
           str_is(sym_text(in->syms, pod->controller->kind), "DaemonSet") &&
           !sim_input_find(in, "DaemonSet", o->ns, sym_text(in->syms, pod->controller->name).p);
}

static enum err_code add_twin(struct sim_input *in, const struct sim_object *daemon, const char *node, struct err *e)
{
    if (in->objects.n >= SIM_OBJECTS_MAX)
        return err_set(e, ERR_INVALID, "more than %d objects", SIM_OBJECTS_MAX);
    int64_t number = 1;
    struct sim_object o = *daemon;
    o.name = free_name(in, "Pod", o.ns, arena_printf(&in->arena, "%s-%s", daemon->name, node), &number);
    o.uid = arena_printf(&in->arena, "Pod %s/%s", o.ns, o.name);
    sym on = sym_intern(in->syms, str_of(node));
    const struct pod *twin = pod_with_identity(in->syms, sim_pod_form(daemon), o.name, o.uid);
    o.form = pod_with_node(in->syms, twin, on);
    pod_unref(in->syms, twin);
    sym_unref(in->syms, on);
    sim_input_put(in, &o);
    return ERR_OK;
}

enum err_code sim_add_nodes(struct sim_input *in, const char *like, int64_t n, struct err *e)
{
    struct sim_object *found = NULL;
    if (sim_change_find(in, "Node", "", like, &found, e))
        return e->code;
    const struct sim_object model = *found; /* the list grows */
    sym on = sym_find(in->syms, str_of(like));
    VEC(size_t) daemons = { 0 };
    for (size_t i = 0; i < in->objects.n; i++)
        if (is_orphan_daemon(in, &in->objects.at[i], on))
            vec_push(&daemons, i);
    int64_t number = 1;
    enum err_code code = ERR_OK;
    for (int64_t i = 0; i < n && !code; i++) {
        const char *name = free_name(in, "Node", "", like, &number);
        code = add_node(in, &model, name, e);
        if (!code)
            code = add_csi_node(in, like, name, e);
        for (size_t k = 0; k < daemons.n && !code; k++) {
            struct sim_object daemon = in->objects.at[daemons.at[k]];
            code = add_twin(in, &daemon, name, e);
        }
    }
    vec_fini(&daemons);
    return code;
}
