/* sim/forms.c - see forms.h. */
#include "sim/forms.h"

#include "codec/json.h"
#include "sim/check.h"
#include "sim/defaults.h"
#include "sim/edit.h"

static const struct sim_kind kinds[] = {
    { "core/v1.Pod", "Pod", SIM_FORM_POD, true },
    { "core/v1.Node", "Node", SIM_FORM_NODE, false },
    { "core/v1.Namespace", "Namespace", OBJECT_NAMESPACE, false },
    { "core/v1.Service", "Service", OBJECT_SERVICE, true },
    { "core/v1.ReplicationController", "ReplicationController", OBJECT_REPLICATION_CONTROLLER, true },
    { "core/v1.PersistentVolume", "PersistentVolume", OBJECT_PERSISTENT_VOLUME, false },
    { "core/v1.PersistentVolumeClaim", "PersistentVolumeClaim", OBJECT_PERSISTENT_VOLUME_CLAIM, true },
    { "apps/v1.ReplicaSet", "ReplicaSet", OBJECT_REPLICA_SET, true },
    { "apps/v1.Deployment", "Deployment", SIM_FORM_NONE, true },
    { "apps/v1.StatefulSet", "StatefulSet", OBJECT_STATEFUL_SET, true },
    { "apps/v1.DaemonSet", "DaemonSet", SIM_FORM_NONE, true },
    { "batch/v1.Job", "Job", SIM_FORM_NONE, true },
    { "policy/v1.PodDisruptionBudget", "PodDisruptionBudget", OBJECT_BUDGET, true },
    { "scheduling.k8s.io/v1.PriorityClass", "PriorityClass", OBJECT_PRIORITY_CLASS, false },
    { "storage.k8s.io/v1.CSIDriver", "CSIDriver", OBJECT_CSI_DRIVER, false },
    { "storage.k8s.io/v1.CSINode", "CSINode", OBJECT_CSI_NODE, false },
    { "storage.k8s.io/v1.CSIStorageCapacity", "CSIStorageCapacity", OBJECT_CSI_STORAGE_CAPACITY, true },
    { "storage.k8s.io/v1.StorageClass", "StorageClass", OBJECT_STORAGE_CLASS, false },
    { "storage.k8s.io/v1.VolumeAttachment", "VolumeAttachment", OBJECT_VOLUME_ATTACHMENT, false },
};

const struct sim_kind *sim_kind_of(const struct type *t)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (str_is(t->name, kinds[i].type))
            return &kinds[i];
    return NULL;
}

/* ---- References ---- */

void sim_form_ref(const struct sim_object *o)
{
    if (!o->form)
        return;
    switch (o->sim_kind->form) {
    case SIM_FORM_POD:
        pod_ref(o->form);
        return;
    case SIM_FORM_NODE:
        node_ref(o->form);
        return;
    default:
        object_ref((enum object_kind)o->sim_kind->form, o->form);
    }
}

void sim_form_unref(struct sym_table *syms, const struct sim_object *o)
{
    if (!o->form)
        return;
    switch (o->sim_kind->form) {
    case SIM_FORM_POD:
        pod_unref(syms, o->form);
        return;
    case SIM_FORM_NODE:
        node_unref(syms, o->form);
        return;
    default:
        object_unref(syms, (enum object_kind)o->sim_kind->form, o->form);
    }
}

void sim_object_take_form(struct sim_input *in, struct sim_object *o, const void *own_form)
{
    struct sim_object old = *o;
    o->form = own_form;
    if (own_form && sim_is_pod(o)) {
        o->value = (struct value){ 0 };
        o->uid = sim_pod_form(o)->meta.uid;
    }
    sim_form_unref(in->syms, &old);
}

/* ---- From values ---- */

static enum err_code decode_pod(struct sym_table *syms, struct str json, const void **ret_form, struct err *e)
{
    const struct pod *form;
    enum err_code code = pod_decode(syms, TYPED_JSON, json, &form, e);
    if (!code)
        *ret_form = form;
    return code;
}

static enum err_code decode_node(struct sym_table *syms, struct str json, const void **ret_form, struct err *e)
{
    const struct node *form;
    enum err_code code = node_decode(syms, TYPED_JSON, json, &form, e);
    if (!code)
        *ret_form = form;
    return code;
}

static enum err_code decode(int kind, struct sym_table *syms, struct str json, const void **ret_form, struct err *e)
{
    if (kind == SIM_FORM_POD)
        return decode_pod(syms, json, ret_form, e);
    if (kind == SIM_FORM_NODE)
        return decode_node(syms, json, ret_form, e);
    return object_form_decode((enum object_kind)kind, syms, TYPED_JSON, json, ret_form, e);
}

enum err_code sim_object_form(struct sim_input *in, struct sim_object *o, struct err *e)
{
    if (o->form || o->sim_kind->form == SIM_FORM_NONE)
        return ERR_OK;
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode(&json, o->type, &o->value);
    const void *form = NULL;
    enum err_code code = decode(o->sim_kind->form, in->syms, strbuf_str(&json), &form, e);
    strbuf_fini(&json);
    if (code)
        return err_wrap(e, "%s: %s %s%s%s", o->origin, o->kind, o->ns, *o->ns ? "/" : "", o->name);
    sim_object_take_form(in, o, form);
    return ERR_OK;
}

void sim_object_set(struct sim_input *in, struct sim_object *o, const char *path, struct value to)
{
    assert(o->value.kind == VALUE_STRUCT);
    o->value = edit_set(sim_value_arena(in, o), o->type, &o->value, path, to);
    sim_object_take_form(in, o, NULL);
}

enum err_code sim_input_complete(struct sim_input *in, struct err *e)
{
    struct sim_default_classes classes = sim_default_classes(in);
    for (size_t i = 0; i < in->objects.n; i++) {
        struct sim_object *o = &in->objects.at[i];
        if (o->form)
            continue;
        sim_defaults(in, classes, o);
        if (sim_object_form(in, o, e))
            return e->code;
        sim_check_form(in, o);
    }
    arena_fini(&in->waiting);
    arena_init(&in->waiting);
    return ERR_OK;
}

/* ---- Changes ---- */

size_t sim_pod_unbind(struct sim_input *in, struct sim_object *o)
{
    struct sim_object moved = *o;
    moved.form = pod_unscheduled(in->syms, sim_pod_form(o));
    moved.uid = sim_pod_form(&moved)->meta.uid;
    moved.placed = false;
    sim_input_remove(in, o);
    return sim_input_put(in, &moved);
}
