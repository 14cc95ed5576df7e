/* sim/change.c - see change.h. */
#include "sim/change.h"

#include "api/selector_parse.h"
#include "base/distance.h"

void sim_changes_init(struct sim_changes *c, struct sym_table *syms, bool force_drain)
{
    *c = (struct sim_changes){ .lost = { 0 } };
    sim_drain_init(&c->drain, syms, force_drain);
}

void sim_changes_fini(struct sim_changes *c)
{
    sim_drain_fini(&c->drain);
    vec_fini(&c->lost);
}

/* ---- Names that are not there ---- */

enum { SIMILAR_MAX = 3 };

/* ", did you mean a, b?" from the names of that kind; "" when none is near. */
static const char *similar(const struct sim_input *in, const char *kind, const char *name, struct arena *a)
{
    const char *text = "";
    unsigned limit = strlen(name) < 6 ? 1 : 3;
    int n = 0;
    for (unsigned d = 0; d <= limit; d++)
        for (size_t i = 0; i < in->objects.n && n < SIMILAR_MAX; i++) {
            const struct sim_object *o = &in->objects.at[i];
            if (o->removed || strcmp(o->kind, kind) != 0 || edit_distance(name, o->name, limit) != d)
                continue;
            text =
                arena_printf(a, "%s%s%s%s%s", text, n++ ? ", " : "; did you mean ", o->ns, *o->ns ? "/" : "", o->name);
        }
    return n ? arena_printf(a, "%s?", text) : "";
}

enum err_code sim_change_find(const struct sim_input *in, const char *kind, const char *ns, const char *name,
                              struct sim_object **ret_object, struct err *e)
{
    struct sim_object *o = sim_input_find(in, kind, ns, name);
    if (!o)
        return err_set(e, ERR_NOT_FOUND, "no %s is named \"%s%s%s\"%s", strcmp(kind, "Node") == 0 ? "node" : kind, ns,
                       *ns ? "/" : "", name, similar(in, kind, name, e->arena));
    *ret_object = o;
    return ERR_OK;
}

/* ---- Cordon, drain ---- */

static enum err_code cordon(struct sim_changes *c, struct sim_input *in, const struct sim_change *change, struct err *e)
{
    (void)c;
    struct sim_object *node = NULL;
    if (sim_change_find(in, "Node", "", change->name, &node, e))
        return e->code;
    sim_object_set(in, node, "spec.unschedulable", value_bool(true));
    return ERR_OK;
}

static enum err_code drain(struct sim_changes *c, struct sim_input *in, const struct sim_change *change, struct err *e)
{
    struct sim_object *node = NULL;
    if (sim_change_find(in, "Node", "", change->name, &node, e))
        return e->code;
    sim_drain_node(&c->drain, in, node);
    sim_drain_input(&c->drain, in);
    return ERR_OK;
}

static struct labels labels_of(struct arena *a, const struct sim_object *o)
{
    const struct value *map = sim_field(o, "metadata.labels");
    uint32_t n = map->kind == VALUE_MAP ? map->n : 0;
    struct label *at = ARENA_NEW_N(a, struct label, n);
    for (uint32_t i = 0; i < n; i++)
        at[i] = (struct label){ map->members[i].key, value_text(&map->members[i].value) };
    return (struct labels){ at, labels_sort(a, at, n) };
}

static enum err_code drain_selected(struct sim_changes *c, struct sim_input *in, const struct sim_change *change,
                                    struct err *e)
{
    struct selector selector;
    if (selector_parse(e->arena, WORK_OWN, str_of(change->name), &selector, e))
        return err_wrap(e, "--drain -l \"%s\"", change->name);
    size_t n = 0;
    for (size_t i = 0; i < in->objects.n; i++) {
        struct sim_object *o = &in->objects.at[i];
        if (o->removed || !sim_is_node(o) || !selector_matches(&selector, labels_of(e->arena, o)))
            continue;
        sim_drain_node(&c->drain, in, o);
        n++;
    }
    if (!n)
        return err_set(e, ERR_NOT_FOUND, "no node has the labels \"%s\"", change->name);
    sim_drain_input(&c->drain, in);
    return ERR_OK;
}

/* ---- Nodes that go ---- */

static const char *why_lost(const struct sym_table *syms, const struct pod *pod)
{
    if (pod->flags & POD_TERMINATING)
        return "it was being deleted";
    if (!pod->controller)
        return "it has no controller";
    struct str kind = sym_text(syms, pod->controller->kind);
    return str_is(kind, "DaemonSet") ? "it was the DaemonSet's pod for that node"
           : str_is(kind, "Node")    ? "it was a static pod of that node"
                                     : NULL;
}

static enum err_code remove_node(struct sim_changes *c, struct sim_input *in, const struct sim_change *change,
                                 struct err *e)
{
    struct sim_object *node = NULL;
    if (sim_change_find(in, "Node", "", change->name, &node, e))
        return e->code;
    const char *name = node->name;
    sym on = sym_find(in->syms, str_of(name));
    sim_input_remove(in, node);
    for (size_t i = 0, n = in->objects.n; i < n; i++) {
        struct sim_object *o = &in->objects.at[i];
        if (o->removed || !sim_is_pod(o) || sim_pod_form(o)->node_name != on || sim_pod_form(o)->flags & POD_FINISHED)
            continue;
        const char *reason = why_lost(in->syms, sim_pod_form(o));
        if (!reason) {
            sim_pod_unbind(in, o);
        } else {
            vec_push(&c->lost, (struct sim_lost){ o->ns, o->name, name, reason });
            sim_input_remove(in, o);
        }
    }
    return ERR_OK;
}

/* ---- Nodes that come: add_nodes.c; replicas: scale.c ---- */

static enum err_code add_nodes(struct sim_changes *c, struct sim_input *in, const struct sim_change *change,
                               struct err *e)
{
    (void)c;
    return sim_add_nodes(in, change->name, change->n, e);
}

static enum err_code scale(struct sim_changes *c, struct sim_input *in, const struct sim_change *change, struct err *e)
{
    (void)c;
    return sim_scale(in, change->name, change->n, e);
}

/* ---- All of them ---- */

static const struct {
    enum err_code (*apply)(struct sim_changes *c, struct sim_input *in, const struct sim_change *change, struct err *e);
    const char *words; /* before the name */
} changes[] = {
    [SIM_CORDON] = { cordon, "cordon" },
    [SIM_DRAIN] = { drain, "drain" },
    [SIM_DRAIN_SELECTED] = { drain_selected, "drain nodes with" },
    [SIM_REMOVE_NODE] = { remove_node, "without node" },
    [SIM_ADD_NODES] = { add_nodes, NULL },
    [SIM_SCALE] = { scale, "scale" },
};

enum err_code sim_change_apply(struct sim_changes *c, struct sim_input *in, const struct sim_change *change,
                               struct err *e)
{
    return changes[change->kind].apply(c, in, change, e);
}

const char *sim_change_text(struct arena *a, const struct sim_change *change)
{
    if (change->kind == SIM_ADD_NODES)
        return arena_printf(a, "%lld more node%s like %s", (long long)change->n, change->n == 1 ? "" : "s",
                            change->name);
    return arena_printf(a, "%s %s", changes[change->kind].words, change->name);
}
