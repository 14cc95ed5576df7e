/* sim/claims.c - see claims.h. */
#include "sim/claims.h"

#include "api/edit.h"
#include "sim/constant.h"

#define NO_PROVISIONER "kubernetes.io/no-provisioner"

static struct sim_object *find_claim(const struct sim_input *in, sym ns, sym name)
{
    return sim_input_find(in, "PersistentVolumeClaim", sym_text(in->syms, ns).p, sym_text(in->syms, name).p);
}

static bool is_claim(const struct pod_volume *v)
{
    return v->kind == VOLUME_CLAIM || v->kind == VOLUME_EPHEMERAL;
}

/* ---- Stand-ins ---- */

static enum err_code add_object(struct sim_input *in, const char *type, struct value value, const char *origin, struct err *e)
{
    struct sim_object o = { .type = schema_type(str_of(type)), .value = value, .origin = origin, .made = true };
    if (sim_input_add(in, &o, e))
        return e->code;
    in->objects.at[in->last].stand_in = true;
    return sim_object_form(in, &in->objects.at[in->last], e);
}

static enum err_code add_volume(struct sim_input *in, const char *name, const char *ns, const char *claim, const char *uid,
                                const char *origin, struct err *e)
{
    const struct type *t = schema_type(STR("core/v1.PersistentVolume"));
    struct value v = constant_value(&in->arena, "core/v1.PersistentVolume",
                                    "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\",\"spec\":{\"capacity\":{\"storage\":"
                                    "\"1\"},\"accessModes\":[\"ReadWriteOnce\"]},\"status\":{\"phase\":\"Bound\"}}");
    v = edit_set(&in->arena, t, &v, "metadata.name", edit_text(name));
    v = edit_set(&in->arena, t, &v, "spec.claimRef.namespace", edit_text(ns));
    v = edit_set(&in->arena, t, &v, "spec.claimRef.name", edit_text(claim));
    v = edit_set(&in->arena, t, &v, "spec.claimRef.uid", edit_text(uid));
    return add_object(in, "core/v1.PersistentVolume", v, origin, e);
}

static const char *new_volume_name(struct sim_input *in, const char *ns, const char *claim)
{
    return arena_printf(&in->arena, "volume-of-%s-%s", ns, claim);
}

/* A claim that is bound to a volume that is added with it. */
static enum err_code add_claim(struct sim_input *in, const char *ns, const char *name, const char *origin, struct err *e)
{
    const struct type *t = schema_type(STR("core/v1.PersistentVolumeClaim"));
    const char *volume = new_volume_name(in, ns, name);
    struct value v = constant_value(&in->arena, "core/v1.PersistentVolumeClaim",
                                    "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"annotations\":"
                                    "{\"pv.kubernetes.io/bind-completed\":\"yes\"}},\"spec\":{\"accessModes\":"
                                    "[\"ReadWriteOnce\"]},\"status\":{\"phase\":\"Bound\"}}");
    v = edit_set(&in->arena, t, &v, "metadata.name", edit_text(name));
    v = edit_set(&in->arena, t, &v, "metadata.namespace", edit_text(ns));
    v = edit_set(&in->arena, t, &v, "spec.volumeName", edit_text(volume));
    if (add_object(in, "core/v1.PersistentVolumeClaim", v, origin, e))
        return e->code;
    return add_volume(in, volume, ns, name, in->objects.at[in->last].uid, origin, e);
}

/* For pods that run, or ran until a change took their node. */
static enum err_code add_claims_of(struct sim_input *in, struct sim_object o, struct err *e)
{
    const struct pod *pod = sim_pod_form(&o);
    for (uint16_t i = 0; i < pod->n_volumes; i++)
        if (is_claim(&pod->volumes[i]) && !find_claim(in, pod->meta.ns, pod->volumes[i].names[0]) &&
            add_claim(in, o.ns, sym_text(in->syms, pod->volumes[i].names[0]).p, o.origin, e))
            return e->code;
    return ERR_OK;
}

/* ---- Binding at once ---- */

static bool fits(const struct pv *v, const struct pvc *c)
{
    bool is_free = !v->claim && v->phase == PV_AVAILABLE && !v->deleting;
    return is_free && v->storage_class == c->storage_class && (v->access & c->access) == c->access && v->mode == c->mode &&
           storage_cmp(&v->capacity, &c->request) >= 0 && !c->has_selector;
}

static struct sim_object *find_volume(struct sim_input *in, const struct pvc *c)
{
    struct sim_object *best = NULL;
    for (size_t i = 0; i < in->objects.n; i++) {
        struct sim_object *o = &in->objects.at[i];
        if (o->removed || o->sim_kind->form != OBJECT_PERSISTENT_VOLUME || !fits(o->form, c))
            continue;
        const struct pv *v = o->form, *than = best ? best->form : NULL;
        if (!than || storage_cmp(&v->capacity, &than->capacity) < 0)
            best = o;
    }
    return best;
}

static void bind_claim(struct sim_input *in, struct sim_object *claim, const char *volume)
{
    const struct pvc *c = claim->form;
    sim_object_take_form(in, claim, pvc_bound(in->syms, c, volume, "bound"));
}

/* The class of a claim that does not wait for a pod; NULL: it waits, or its class is not given. */
static const struct sim_object *immediate_class(const struct sim_input *in, const struct pvc *c)
{
    const struct sim_object *class = sim_input_find(in, "StorageClass", "", sym_text(in->syms, c->storage_class).p);
    return class && str_is(value_text(sim_field(class, "volumeBindingMode")), "Immediate") ? class : NULL;
}

static enum err_code bind_at_once(struct sim_input *in, size_t index, struct err *e)
{
    struct sim_object *claim = &in->objects.at[index];
    const struct pvc *c = claim->form;
    const struct sim_object *class = immediate_class(in, c);
    struct sim_object *volume = class ? find_volume(in, c) : NULL;
    if (volume) {
        struct claim_ref ref = { .name = claim->name, .uid = claim->uid, .ns = c->meta.ns };
        sim_object_take_form(in, volume, pv_bound(in->syms, volume->form, &ref, "bound"));
        bind_claim(in, claim, volume->name);
        return ERR_OK;
    }
    if (!class || str_is(value_text(sim_field(class, "provisioner")), NO_PROVISIONER))
        return ERR_OK;
    sim_warn(in,
             "StorageClass %s binds claims at once, before their pods are scheduled (volumeBindingMode Immediate): its new "
             "volumes are taken to be reachable from every node",
             class->name);
    const char *name = new_volume_name(in, claim->ns, claim->name);
    bind_claim(in, claim, name);
    return add_volume(in, name, claim->ns, claim->name, claim->uid, claim->origin, e);
}

/* ---- All ---- */

static enum err_code complete_claim(struct sim_input *in, size_t index, struct err *e)
{
    struct sim_object o = in->objects.at[index];
    const struct pvc *c = o.form;
    if (!*c->volume_name)
        return bind_at_once(in, index, e);
    if (sim_input_find(in, "PersistentVolume", "", c->volume_name))
        return ERR_OK;
    return add_volume(in, arena_cstr(&in->arena, str_of(c->volume_name)), o.ns, o.name, o.uid, o.origin, e);
}

enum err_code sim_complete_claims(struct sim_input *in, struct err *e)
{
    enum err_code code = ERR_OK;
    size_t n = in->objects.n;
    for (size_t i = 0; i < n && !code; i++) {
        struct sim_object o = in->objects.at[i];
        bool runs = !o.removed && sim_is_pod(&o) && !(sim_pod_form(&o)->flags & POD_FINISHED) &&
                    (o.ran || sim_pod_form(&o)->node_name != SYM_EMPTY);
        if (runs)
            code = add_claims_of(in, o, e);
        else if (!o.removed && o.sim_kind->form == OBJECT_PERSISTENT_VOLUME_CLAIM)
            code = complete_claim(in, i, e);
    }
    for (size_t i = 0; i < n && !code; i++) {
        const struct sim_object *o = &in->objects.at[i];
        if (!o->removed && sim_is_pod(o) && sim_pod_form(o)->node_name == SYM_EMPTY)
            sim_warn_claims(in, sim_pod_form(o));
    }
    return code;
}

void sim_warn_claims(struct sim_input *in, const struct pod *pod)
{
    const char *ns = sym_text(in->syms, pod->meta.ns).p;
    for (uint16_t i = 0; i < pod->n_volumes; i++) {
        const struct sim_object *claim = is_claim(&pod->volumes[i]) ? find_claim(in, pod->meta.ns, pod->volumes[i].names[0]) : NULL;
        if (!claim)
            continue;
        const struct pvc *c = claim->form;
        const struct sim_object *volume = sim_input_find(in, "PersistentVolume", "", c->volume_name);
        if (claim->stand_in)
            sim_warn(in,
                     "claim %s/%s of running pod %s/%s is not in the input; include persistentvolumeclaims, "
                     "persistentvolumes and storageclasses: without them the pod is taken to fit wherever the rest of it does",
                     ns, claim->name, ns, pod->meta.name);
        else if (volume && volume->stand_in && !claim->made && claim->from_server)
            sim_warn(in,
                     "volume %s of claim %s/%s is not in the input; include persistentvolumes: without it pod %s/%s is taken "
                     "to fit wherever the rest of it does",
                     c->volume_name, ns, claim->name, ns, pod->meta.name);
    }
}
