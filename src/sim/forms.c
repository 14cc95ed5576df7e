/* sim/forms.c - see forms.h. */
#include "sim/forms.h"

#include "api/edit.h"
#include "codec/json.h"
#include "sim/admission.h"
#include "sim/check.h"

const struct sim_kind sim_kinds[] = {
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
    { "batch/v1.CronJob", "CronJob", SIM_FORM_NONE, true },
    { "batch/v1.Job", "Job", SIM_FORM_NONE, true },
    { "core/v1.LimitRange", "LimitRange", SIM_FORM_NONE, true },
    { "core/v1.ResourceQuota", "ResourceQuota", SIM_FORM_NONE, true },
    { "node.k8s.io/v1.RuntimeClass", "RuntimeClass", SIM_FORM_NONE, false },
    { "policy/v1.PodDisruptionBudget", "PodDisruptionBudget", OBJECT_BUDGET, true },
    { "scheduling.k8s.io/v1.PriorityClass", "PriorityClass", OBJECT_PRIORITY_CLASS, false },
    { "storage.k8s.io/v1.CSIDriver", "CSIDriver", OBJECT_CSI_DRIVER, false },
    { "storage.k8s.io/v1.CSINode", "CSINode", OBJECT_CSI_NODE, false },
    { "storage.k8s.io/v1.CSIStorageCapacity", "CSIStorageCapacity", OBJECT_CSI_STORAGE_CAPACITY, true },
    { "storage.k8s.io/v1.StorageClass", "StorageClass", OBJECT_STORAGE_CLASS, false },
    { "storage.k8s.io/v1.VolumeAttachment", "VolumeAttachment", OBJECT_VOLUME_ATTACHMENT, false },
};

const size_t sim_n_kinds = sizeof(sim_kinds) / sizeof(sim_kinds[0]);

const struct sim_kind *sim_kind_of(const struct type *t)
{
    for (size_t i = 0; i < sim_n_kinds; i++)
        if (str_is(t->name, sim_kinds[i].type))
            return &sim_kinds[i];
    return NULL;
}

static struct str plural_of(const struct type *t)
{
    for (size_t i = 0; i < schema_n_resources; i++)
        if (schema_resources[i].type == t)
            return schema_resources[i].plural;
    return (struct str){ NULL, 0 };
}

void sim_add_resources(struct strbuf *to)
{
    for (size_t i = 0; i < sim_n_kinds; i++) {
        if (i)
            strbuf_add_char(to, ',');
        strbuf_add_str(to, plural_of(schema_type(str_of(sim_kinds[i].type))));
    }
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

static enum err_code complete_object(struct sim_admission *a, struct sim_object *o, struct err *e)
{
    sim_defaults(a, o);
    if (sim_object_form(a->in, o, e))
        return e->code;
    sim_check_form(a->in, o);
    return ERR_OK;
}

static enum err_code complete_pod(struct sim_admission *a, struct sim_object *o, struct err *e)
{
    const char *refused = sim_admit(a, o);
    if (refused) {
        sim_refuse(a->in, arena_printf(&a->in->arena, "Pod %s/%s", o->ns, o->name), 1, refused);
        sim_input_remove(a->in, o);
        return ERR_OK;
    }
    if (sim_object_form(a->in, o, e))
        return e->code;
    sim_check_form(a->in, o);
    return ERR_OK;
}

/* Pods come last: what becomes of them depends on the others. */
static enum err_code complete_all(struct sim_input *in, bool pods, struct err *e)
{
    struct sim_admission a;
    sim_admission_init(&a, in);
    enum err_code code = ERR_OK;
    for (size_t i = 0; i < in->objects.n && !code; i++) {
        struct sim_object *o = &in->objects.at[i];
        if (!o->form && !o->removed && sim_is_pod(o) == pods)
            code = pods ? complete_pod(&a, o, e) : complete_object(&a, o, e);
    }
    sim_admission_fini(&a);
    return code;
}

static void warn_cron_jobs(struct sim_input *in)
{
    const struct sim_object *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < in->objects.n; i++)
        if (strcmp(in->objects.at[i].kind, "CronJob") == 0 && n++ == 0)
            first = &in->objects.at[i];
    if (n == 1)
        sim_warn(in, "%s: CronJob %s/%s is left out: no job is started by the clock", first->origin, first->ns, first->name);
    else if (n)
        sim_warn(in, "%zu CronJobs are left out, %s/%s and others: no job is started by the clock", n, first->ns, first->name);
}

enum err_code sim_input_complete(struct sim_input *in, struct err *e)
{
    if (complete_all(in, false, e) || complete_all(in, true, e))
        return e->code;
    warn_cron_jobs(in);
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
    moved.ran = true;
    sim_input_remove(in, o);
    return sim_input_put(in, &moved);
}
