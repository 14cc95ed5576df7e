/* controllers/volume_plan.c - see volume_plan.h. */
#include "controllers/volume_plan.h"

#include "api/edit.h"
#include "api/quantity.h"
#include "apiserver/subresource.h"
#include "controllers/read.h"

#define BIND_COMPLETED STR("pv.kubernetes.io/bind-completed")
#define BOUND_BY_CONTROLLER STR("pv.kubernetes.io/bound-by-controller")
#define PROVISIONED_BY STR("pv.kubernetes.io/provisioned-by")
#define MIGRATED_TO STR("pv.kubernetes.io/migrated-to")
#define SELECTED_NODE STR("volume.kubernetes.io/selected-node")
#define BETA_CLASS STR("volume.beta.kubernetes.io/storage-class")
#define PROVISIONER STR("volume.kubernetes.io/storage-provisioner")
#define BETA_PROVISIONER STR("volume.beta.kubernetes.io/storage-provisioner")

static const struct value absent = { .kind = VALUE_ABSENT };
static const struct volume_step nothing = { .verb = VOLUME_NOTHING };

const struct type *claim_type(void)
{
    return schema_type(STR("core/v1.PersistentVolumeClaim"));
}

const struct type *volume_type(void)
{
    return schema_type(STR("core/v1.PersistentVolume"));
}

static const struct type *class_type(void)
{
    return schema_type(STR("storage.k8s.io/v1.StorageClass"));
}

static struct str note(const struct type *t, const struct value *v, struct str key)
{
    return member_text(value_path(t, v, "metadata.annotations"), key);
}

static struct value with_note(struct arena *a, const struct type *t, const struct value *v, struct str key, const char *text)
{
    struct value notes = edit_member(a, value_path(t, v, "metadata.annotations"), key, edit_text(text));
    return edit_set(a, t, v, "metadata.annotations", notes);
}

static struct str class_name(const struct type *t, const struct value *v)
{
    struct str beta = note(t, v, BETA_CLASS);
    return beta.n ? beta : text_at(t, v, "spec.storageClassName");
}

/* ---- Which volume fits a claim ---- */

static bool refers_to(const struct value *volume, const struct value *claim)
{
    struct str uid = text_at(volume_type(), volume, "spec.claimRef.uid");
    return str_eq(text_at(volume_type(), volume, "spec.claimRef.name"), text_at(claim_type(), claim, "metadata.name")) &&
           str_eq(text_at(volume_type(), volume, "spec.claimRef.namespace"), text_at(claim_type(), claim, "metadata.namespace")) &&
           (uid.n == 0 || str_eq(uid, text_at(claim_type(), claim, "metadata.uid")));
}

static bool is_claimed(const struct value *volume)
{
    return is_set_at(volume_type(), volume, "spec.claimRef");
}

static struct quantity amount(struct arena *a, const struct value *map)
{
    struct quantity q = quantity_make(0, 0, QUANTITY_BINARY_SI);
    struct err e;
    err_init(&e, a);
    struct str text = member_text(map, STR("storage"));
    return text.n && !quantity_parse(a, text, &q, &e) ? q : quantity_make(0, 0, QUANTITY_BINARY_SI);
}

static bool selects(struct arena *a, const struct value *claim, const struct value *volume)
{
    const struct value *selector = value_path(claim_type(), claim, "spec.selector");
    struct selector s;
    struct err e;
    err_init(&e, a);
    if (selector->kind == VALUE_ABSENT)
        return true;
    struct selectable labels = selectable_of(a, stored_resource("persistentvolumes", ""), volume_type(), volume);
    return !selector_of_value(a, schema_type(STR("meta/v1.LabelSelector")), selector, &s, &e) &&
           selector_matches(&s, labels.labels);
}

static bool has_modes(const struct value *claim, const struct value *volume)
{
    const struct value *wants = value_path(claim_type(), claim, "spec.accessModes");
    const struct value *has = value_path(volume_type(), volume, "spec.accessModes");
    for (uint32_t i = 0; i < list_length(wants); i++)
        if (!list_has_text(has, value_text(&wants->items[i])))
            return false;
    return true;
}

static struct str volume_mode(struct str mode)
{
    return mode.n ? mode : STR("Filesystem");
}

static bool is_large_enough(struct arena *a, const struct value *claim, const struct value *volume)
{
    struct quantity has = amount(a, value_path(volume_type(), volume, "spec.capacity"));
    struct quantity wants = amount(a, value_path(claim_type(), claim, "spec.resources.requests"));
    return quantity_cmp(&has, &wants) >= 0;
}

/* The first reason why the volume is not for the claim; NULL: it is. */
static const char *mismatch(struct arena *a, const struct value *claim, const struct value *volume)
{
    if (is_set_at(volume_type(), volume, "metadata.deletionTimestamp"))
        return arena_printf(a, "the volume is marked for deletion \"%.*s\"", STR_ARG(text_at(volume_type(), volume, "metadata.name")));
    if (!is_large_enough(a, claim, volume))
        return "requested PV is too small";
    if (!str_eq(class_name(claim_type(), claim), class_name(volume_type(), volume)))
        return "storageClassName does not match";
    if (!str_eq(text_at(claim_type(), claim, "spec.volumeAttributesClassName"),
                text_at(volume_type(), volume, "spec.volumeAttributesClassName")))
        return "volumeAttributesClassName does not match";
    if (!str_eq(volume_mode(text_at(claim_type(), claim, "spec.volumeMode")),
                volume_mode(text_at(volume_type(), volume, "spec.volumeMode"))))
        return "incompatible volumeMode";
    return has_modes(claim, volume) ? NULL : "incompatible accessMode";
}

static bool fits(struct arena *a, const struct value *claim, const struct value *volume)
{
    return !mismatch(a, claim, volume) && selects(a, claim, volume);
}

/* The one that waits for this claim, or the smallest that is large enough; of these none as long as binding is put off. */
static const struct value *find_volume(struct arena *a, const struct claim_state *s, bool put_off)
{
    const struct value *best = NULL;
    struct quantity least = { 0 };
    for (size_t i = 0; i < s->n_candidates; i++) {
        const struct value *v = s->candidates[i];
        if (is_claimed(v) && refers_to(v, s->claim) && is_large_enough(a, s->claim, v))
            return v;
        if (put_off || is_claimed(v) || !fits(a, s->claim, v) || !says_at(volume_type(), v, "status.phase", "Available"))
            continue;
        struct quantity size = amount(a, value_path(volume_type(), v, "spec.capacity"));
        if (!best || quantity_cmp(&size, &least) < 0) {
            best = v;
            least = size;
        }
    }
    return best;
}

/* ---- Binding ---- */

static struct value reference_to(struct arena *a, const struct value *claim)
{
    static const char *const fields[] = { "namespace", "name", "uid", "resourceVersion" };
    const struct type *t = schema_type(STR("core/v1.ObjectReference"));
    struct value v = value_struct(a, t);
    v = edit_set(a, t, &v, "kind", edit_text("PersistentVolumeClaim"));
    v = edit_set(a, t, &v, "apiVersion", edit_text("v1"));
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        v = edit_set(a, t, &v, fields[i], *value_path(claim_type(), claim, arena_printf(a, "metadata.%s", fields[i])));
    return v;
}

static struct volume_step set_phase(struct arena *a, const struct value *volume, const char *phase)
{
    if (says_at(volume_type(), volume, "status.phase", phase))
        return nothing;
    struct value v = edit_set(a, volume_type(), volume, "status.message", absent);
    return (struct volume_step){ .verb = VOLUME_UPDATE_STATUS,
                                 .object = edit_set(a, volume_type(), &v, "status.phase", edit_text(phase)) };
}

static struct volume_step fail_volume(struct arena *a, const struct value *volume, const char *reason, const char *message)
{
    struct volume_step step = set_phase(a, volume, "Failed");
    if (step.verb == VOLUME_NOTHING)
        return step;
    step.object = edit_set(a, volume_type(), &step.object, "status.message", edit_text(message));
    step.event_type = "Warning";
    step.reason = reason;
    step.message = message;
    return step;
}

static struct volume_step claim_phase(struct arena *a, const struct value *claim, const char *phase, const char *type,
                                      const char *reason, const char *message)
{
    struct volume_step step = { VOLUME_NOTHING, *claim, type, reason, message };
    if (!says_at(claim_type(), claim, "status.phase", phase)) {
        step.verb = CLAIM_UPDATE_STATUS;
        step.object = edit_set(a, claim_type(), claim, "status.phase", edit_text(phase));
        step.object = edit_set(a, claim_type(), &step.object, "status.accessModes", absent);
        step.object = edit_set(a, claim_type(), &step.object, "status.capacity", absent);
    }
    return step;
}

static struct volume_step bind_volume(struct arena *a, const struct value *claim, const struct value *volume)
{
    struct value v = edit_set(a, volume_type(), volume, "spec.claimRef", reference_to(a, claim));
    if (!is_claimed(volume))
        v = with_note(a, volume_type(), &v, BOUND_BY_CONTROLLER, "yes");
    return (struct volume_step){ .verb = VOLUME_UPDATE, .object = v };
}

static struct volume_step bind_claim(struct arena *a, const struct value *claim, const struct value *volume)
{
    bool chosen = text_at(claim_type(), claim, "spec.volumeName").n > 0;
    struct value v = edit_set(a, claim_type(), claim, "spec.volumeName", *value_path(volume_type(), volume, "metadata.name"));
    if (!chosen)
        v = with_note(a, claim_type(), &v, BOUND_BY_CONTROLLER, "yes");
    return (struct volume_step){ .verb = CLAIM_UPDATE, .object = with_note(a, claim_type(), &v, BIND_COMPLETED, "yes") };
}

static struct volume_step bound_status(struct arena *a, const struct value *claim, const struct value *volume)
{
    const struct type *t = claim_type();
    const struct value *capacity = value_path(volume_type(), volume, "spec.capacity");
    struct value v = edit_set(a, t, claim, "status.phase", edit_text("Bound"));
    v = edit_set(a, t, &v, "status.accessModes", *value_path(volume_type(), volume, "spec.accessModes"));
    if (!says_at(t, claim, "status.phase", "Bound")) /* later a resize may change it */
        v = edit_set(a, t, &v, "status.capacity", *capacity);
    return value_equal(&v, claim) ? nothing : (struct volume_step){ .verb = CLAIM_UPDATE_STATUS, .object = v };
}

static struct volume_step bind_both(struct arena *a, const struct value *claim, const struct value *volume)
{
    struct str uid = text_at(claim_type(), claim, "metadata.uid");
    bool is_his = is_claimed(volume) && str_eq(text_at(volume_type(), volume, "spec.claimRef.uid"), uid);
    if (!is_his)
        return bind_volume(a, claim, volume);
    if (!says_at(volume_type(), volume, "status.phase", "Bound"))
        return set_phase(a, volume, "Bound");
    if (!note(claim_type(), claim, BIND_COMPLETED).n || !text_at(claim_type(), claim, "spec.volumeName").n)
        return bind_claim(a, claim, volume);
    return bound_status(a, claim, volume);
}

/* ---- New volumes ---- */

static struct value hollow_volume(struct arena *a, const struct claim_state *s)
{
    const struct type *t = volume_type();
    struct str uid = text_at(claim_type(), s->claim, "metadata.uid"), policy = text_at(class_type(), s->class, "reclaimPolicy");
    const char *name = arena_printf(a, "pvc-%.*s", STR_ARG(uid));
    struct value storage = *value_member(value_path(claim_type(), s->claim, "spec.resources.requests"), STR("storage"));
    struct value v = value_struct(a, t);
    v.slots[SLOT_KIND] = value_string(t->kind);
    v.slots[SLOT_API_VERSION] = edit_text("v1");
    v = edit_set(a, t, &v, "metadata.name", edit_text(name));
    v = with_note(a, t, &v, PROVISIONED_BY, HOLLOW_PROVISIONER);
    v = edit_set(a, t, &v, "spec.capacity", edit_member(a, &absent, STR("storage"), storage));
    v = edit_set(a, t, &v, "spec.accessModes", *value_path(claim_type(), s->claim, "spec.accessModes"));
    v = edit_set(a, t, &v, "spec.volumeMode", *value_path(claim_type(), s->claim, "spec.volumeMode"));
    v = edit_set(a, t, &v, "spec.storageClassName", *value_path(class_type(), s->class, "metadata.name"));
    v = edit_set(a, t, &v, "spec.mountOptions", *value_path(class_type(), s->class, "mountOptions"));
    v = edit_set(a, t, &v, "spec.persistentVolumeReclaimPolicy", policy.n ? value_string(policy) : edit_text("Delete"));
    v = edit_set(a, t, &v, "spec.hostPath.path", edit_text(arena_printf(a, "/var/lib/berth/hollow/%s", name)));
    return edit_set(a, t, &v, "spec.claimRef", reference_to(a, s->claim));
}

/* Those that came with Kubernetes are gone, but for the names that CSI drivers have inherited. */
static bool is_in_tree(struct str provisioner)
{
    static const char *const inherited[] = { "aws-ebs", "azure-disk", "azure-file", "cinder", "gce-pd", "portworx-volume", "vsphere-volume" };
    if (!str_starts(provisioner, STR("kubernetes.io/")))
        return false;
    for (size_t i = 0; i < sizeof(inherited) / sizeof(inherited[0]); i++)
        if (str_is(str_from(provisioner, sizeof("kubernetes.io/") - 1), inherited[i]))
            return false;
    return true;
}

/* First the claim says whom it waits for. */
static struct volume_step provision(struct arena *a, const struct claim_state *s)
{
    struct str provisioner = text_at(class_type(), s->class, "provisioner");
    const char *name = arena_cstr(a, provisioner);
    if (is_in_tree(provisioner))
        return claim_phase(a, s->claim, "Pending", "Warning", "ProvisioningFailed",
                           arena_printf(a, "no volume plugin matched name: %s", name));
    if (!str_eq(note(claim_type(), s->claim, PROVISIONER), provisioner)) {
        struct value v = with_note(a, claim_type(), s->claim, BETA_PROVISIONER, name);
        return (struct volume_step){ .verb = CLAIM_UPDATE, .object = with_note(a, claim_type(), &v, PROVISIONER, name) };
    }
    const struct value *storage = value_path(claim_type(), s->claim, "spec.resources.requests");
    if (str_is(provisioner, HOLLOW_PROVISIONER) && member_text(storage, STR("storage")).n)
        return (struct volume_step){ .verb = VOLUME_CREATE, .object = hollow_volume(a, s) };
    return claim_phase(a, s->claim, "Pending", "Normal", "ExternalProvisioning",
                       arena_printf(a, "Waiting for a volume to be created either by the external provisioner '%s' or manually by the "
                                    "system administrator. If volume creation is delayed, please verify that the provisioner is "
                                    "running and correctly registered.", name));
}

/* ---- Claims ---- */

static struct volume_step unbound_step(struct arena *a, const struct claim_state *s)
{
    struct str class = class_name(claim_type(), s->claim);
    bool put_off = s->class && says_at(class_type(), s->class, "volumeBindingMode", "WaitForFirstConsumer") &&
                   !note(claim_type(), s->claim, SELECTED_NODE).n;
    const struct value *volume = find_volume(a, s, put_off);
    if (volume)
        return bind_both(a, s->claim, volume);
    if (put_off)
        return claim_phase(a, s->claim, "Pending", "Normal", "WaitForFirstConsumer",
                           "waiting for first consumer to be created before binding");
    if (s->class)
        return provision(a, s);
    if (class.n)
        return claim_phase(a, s->claim, "Pending", "Warning", "ProvisioningFailed",
                           arena_printf(a, "storageclass.storage.k8s.io \"%.*s\" not found", STR_ARG(class)));
    return claim_phase(a, s->claim, "Pending", "Normal", "FailedBinding",
                       "no persistent volumes available for this claim and no storage class is set");
}

/* The user has chosen a volume, which may be there, and may be somebody else's. */
static struct volume_step chosen_step(struct arena *a, const struct claim_state *s)
{
    if (!s->volume)
        return claim_phase(a, s->claim, "Pending", NULL, NULL, NULL);
    struct str name = text_at(volume_type(), s->volume, "metadata.name");
    if (is_claimed(s->volume) && refers_to(s->volume, s->claim))
        return bind_both(a, s->claim, s->volume);
    if (is_claimed(s->volume))
        return claim_phase(a, s->claim, "Pending", "Warning", "FailedBinding",
                           arena_printf(a, "volume \"%.*s\" already bound to a different claim.", STR_ARG(name)));
    const char *why = mismatch(a, s->claim, s->volume);
    if (!why)
        return bind_both(a, s->claim, s->volume);
    return claim_phase(a, s->claim, "Pending", "Warning", "VolumeMismatch",
                       arena_printf(a, "Cannot bind to requested volume \"%.*s\": %s", STR_ARG(name), why));
}

struct volume_step claim_step(struct arena *a, const struct claim_state *s)
{
    bool was_bound = note(claim_type(), s->claim, BIND_COMPLETED).n > 0;
    bool chosen = text_at(claim_type(), s->claim, "spec.volumeName").n > 0;
    if (!was_bound)
        return chosen ? chosen_step(a, s) : unbound_step(a, s);
    if (s->volume && (!is_claimed(s->volume) || refers_to(s->volume, s->claim)))
        return bind_both(a, s->claim, s->volume);
    if (s->volume)
        return claim_phase(a, s->claim, "Lost", "Warning", "ClaimMisbound",
                           "Two claims are bound to the same volume, this one is bound incorrectly");
    bool lost_already = says_at(claim_type(), s->claim, "status.phase", "Lost");
    return claim_phase(a, s->claim, "Lost", lost_already ? NULL : "Warning", "ClaimLost",
                       chosen ? "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
                              : "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!");
}

/* ---- Volumes ---- */

static bool is_below_tmp(struct str path)
{
    static const char tmp[] = "/tmp/";
    const char *found = path.n ? memmem(path.p, path.n, tmp, sizeof(tmp) - 1) : NULL;
    return found && found + sizeof(tmp) - 1 < path.p + path.n;
}

/* Who could delete what a volume stands for: we those of our own, others theirs; of all other kinds only hostPath is known, for tests
 * (nothing of the host is touched here, as no node has it). */
static struct volume_step delete_volume(struct arena *a, const struct value *volume)
{
    const struct type *t = volume_type();
    struct str provisioner = note(t, volume, PROVISIONED_BY), path = text_at(t, volume, "spec.hostPath.path");
    const struct volume_step deletion = { .verb = VOLUME_DELETE, .object = *volume };
    if (is_set_at(t, volume, "metadata.deletionTimestamp"))
        return nothing;
    if (str_is(provisioner, HOLLOW_PROVISIONER))
        return deletion;
    if (provisioner.n && str_starts(provisioner, STR("kubernetes.io/")))
        return fail_volume(a, volume, "VolumeFailedDelete",
                           arena_printf(a, "no volume plugin matched name: %.*s", STR_ARG(provisioner)));
    if (provisioner.n || is_set_at(t, volume, "spec.csi") || note(t, volume, MIGRATED_TO).n)
        return nothing;
    if (is_below_tmp(path))
        return deletion;
    if (path.n)
        return fail_volume(a, volume, "VolumeFailedDelete",
                           arena_printf(a, "host_path deleter only supports /tmp/.+ but received provided %.*s", STR_ARG(path)));
    return fail_volume(a, volume, "VolumeFailedDelete",
                       arena_printf(a, "error getting deleter volume plugin for volume \"%.*s\": no deletable volume plugin matched",
                                    STR_ARG(text_at(t, volume, "metadata.name"))));
}

struct volume_step volume_step(struct arena *a, const struct value *volume, const struct value *claim)
{
    struct str uid = text_at(volume_type(), volume, "spec.claimRef.uid");
    if (!is_claimed(volume) || uid.n == 0)
        return set_phase(a, volume, "Available");
    bool claim_is_gone = !claim || !str_eq(uid, text_at(claim_type(), claim, "metadata.uid"));
    if (!claim_is_gone) {
        struct str chosen = text_at(claim_type(), claim, "spec.volumeName");
        return str_eq(chosen, text_at(volume_type(), volume, "metadata.name")) ? set_phase(a, volume, "Bound") : nothing;
    }
    struct str phase = text_at(volume_type(), volume, "status.phase");
    if (!str_is(phase, "Released") && !str_is(phase, "Failed"))
        return set_phase(a, volume, "Released");
    return says_at(volume_type(), volume, "spec.persistentVolumeReclaimPolicy", "Delete") ? delete_volume(a, volume) : nothing;
}
