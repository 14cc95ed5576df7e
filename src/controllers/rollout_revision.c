/* controllers/rollout_revision.c - revisions of Deployments: their annotations, new ReplicaSets, and the way back. Upstream:
 * deployment/sync.go, rollback.go, util. */
#include <assert.h>

#include "api/edit.h"
#include "api/labels.h"
#include "controllers/pod_control.h"
#include "controllers/rollout_priv.h"
#include "controllers/template_hash.h"

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"
#define REVISION_HISTORY "deployment.kubernetes.io/revision-history"

enum { HISTORY_CHARS_MAX = 2000, NAME_MAX_CHARS = 253 };

/* ---- Actions ---- */

void rollout_add(struct rollout *r, struct rollout_action action)
{
    assert(r->plan.n < ROLLOUT_ACTIONS_ROOM + 4 * r->state->n_sets);
    r->plan.actions[r->plan.n++] = action;
}

void rollout_tell(struct rollout *r, const char *type, const char *reason, const char *message)
{
    rollout_add(r, (struct rollout_action){ .verb = ROLLOUT_TELL, .type = type, .reason = reason, .message = message });
}

/* A set that is changed twice is written once, as it is in the end. */
void rollout_update_set(struct rollout *r, struct rollout_set *set)
{
    for (size_t i = 0; i < r->plan.n; i++)
        if (r->plan.actions[i].verb == ROLLOUT_UPDATE_SET && str_eq(r->plan.actions[i].name, set->name)) {
            r->plan.actions[i].object = set->object;
            return;
        }
    rollout_add(r, (struct rollout_action){ .verb = ROLLOUT_UPDATE_SET, .object = set->object, .name = set->name });
}

static struct value numbered(struct rollout *r, const struct value *annotations, const char *key, int32_t n)
{
    return edit_member(r->arena, annotations, str_of(key), edit_text(arena_printf(r->arena, "%d", n)));
}

struct value with_replicas_annotations(struct rollout *r, const struct value *annotations)
{
    struct value v = numbered(r, annotations, DESIRED_REPLICAS, r->wanted);
    return numbered(r, &v, MAX_REPLICAS, r->wanted + r->max_surge);
}

/* ---- Revisions ---- */

static bool is_skipped(struct str key)
{
    static const char *const keys[] = { LAST_APPLIED, REVISION, REVISION_HISTORY, DESIRED_REPLICAS, MAX_REPLICAS, ROLLBACK_TO };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (str_is(key, keys[i]))
            return true;
    return false;
}

static struct value with_annotations_of(struct arena *a, struct value to, const struct value *from)
{
    for (uint32_t i = 0; from->kind == VALUE_MAP && i < from->n; i++)
        if (!is_skipped(from->members[i].key))
            to = edit_member(a, &to, from->members[i].key, from->members[i].value);
    return to;
}

/* The revisions that a set had before, the oldest left out when there are too many. */
static struct value with_history(struct rollout *r, struct value annotations, struct str revision)
{
    struct str history = map_text(&annotations, REVISION_HISTORY);
    if (revision.n >= HISTORY_CHARS_MAX)
        return annotations;
    while (history.n && history.n + revision.n + 1 > HISTORY_CHARS_MAX)
        history = str_from(history, str_index(history, ',') + 1);
    const char *text = arena_printf(r->arena, "%.*s%s%.*s", STR_ARG(history), history.n ? "," : "", STR_ARG(revision));
    return edit_member(r->arena, &annotations, STR(REVISION_HISTORY), edit_text(text));
}

static int64_t last_revision(const struct rollout *r)
{
    int64_t max = 0;
    for (size_t i = 0; i < r->n_old; i++)
        max = r->old[i]->revision > max ? r->old[i]->revision : max;
    return max;
}

/* What the new set is to be annotated with; a revision that is no number is left alone, and everything else with it. */
static struct value set_annotations(struct rollout *r, const struct value *there, bool exists)
{
    int64_t was = revision_of(there), is = last_revision(r) + 1;
    if (was < 0)
        return *there;
    struct value v = with_annotations_of(r->arena, *there, annotations_of(r->type, &r->deployment));
    struct str old = map_text(there, REVISION);
    if (was < is) {
        v = edit_member(r->arena, &v, STR(REVISION), edit_text(arena_printf(r->arena, "%lld", (long long)is)));
        v = old.n ? with_history(r, v, old) : v;
    }
    return exists ? v : with_replicas_annotations(r, &v);
}

static bool set_revision(struct rollout *r, struct str revision)
{
    const struct value *annotations = annotations_of(r->type, &r->deployment);
    if (str_eq(map_text(annotations, REVISION), revision))
        return false;
    struct value v = edit_member(r->arena, annotations, STR(REVISION), value_string(revision));
    r->deployment = edit_set(r->arena, r->type, &r->deployment, "metadata.annotations", v);
    return true;
}

void rollout_set_progress(struct rollout *r, const char *status, const char *reason, const char *message)
{
    r->deployment = with_progress(r->arena, &r->deployment, status, reason, message, r->state->now_s);
}

bool rollout_sync_revision(struct rollout *r)
{
    struct rollout_set *set = r->fresh;
    const struct type *t = replica_set_type();
    struct value annotations = set_annotations(r, annotations_of(t, &set->object), true);
    const struct value *ready = value_path(r->type, &r->deployment, "spec.minReadySeconds");
    int64_t min_ready = ready->kind == VALUE_INT ? ready->i : 0;
    if (!value_equal(&annotations, annotations_of(t, &set->object)) ||
        number_in(t, &set->object, "spec.minReadySeconds", 0) != min_ready) {
        struct value v = edit_set(r->arena, t, &set->object, "metadata.annotations", annotations);
        set->object = edit_set(r->arena, t, &v, "spec.minReadySeconds", *ready);
        rollout_update_set(r, set);
        return true;
    }
    bool differs = set_revision(r, map_text(&annotations, REVISION));
    if (r->deadline_s >= 0 && !condition_find(value_path(r->type, &r->deployment, "status.conditions"), PROGRESSING)) {
        rollout_set_progress(r, "True", REASON_FOUND,
                             arena_printf(r->arena, "Found new replica set \"%.*s\"", STR_ARG(set->name)));
        differs = true;
    }
    if (differs)
        rollout_add(r, (struct rollout_action){ .verb = ROLLOUT_WRITE_STATUS, .object = r->deployment });
    return differs;
}

/* ---- A new ReplicaSet ---- */

int32_t rollout_size_of_new(const struct rollout *r, int32_t has)
{
    if (!r->rolling)
        return r->wanted;
    int64_t now = rollout_all_wanted(r), most = r->wanted + r->max_surge;
    if (now >= most)
        return has;
    int64_t more = most - now < r->wanted - has ? most - now : r->wanted - has;
    return (int32_t)(has + more);
}

static struct value labelled(struct arena *a, const struct type *t, const struct value *v, const char *path, struct str hash)
{
    return edit_set(a, t, v, path, edit_member(a, value_path(t, v, path), STR(HASH_LABEL), value_string(hash)));
}

static struct value set_spec(struct rollout *r, struct value set, struct str hash, int32_t size)
{
    const struct type *t = replica_set_type();
    const struct value *d = &r->deployment;
    struct value v = edit_set(r->arena, t, &set, "spec.replicas", value_int(size));
    v = edit_set(r->arena, t, &v, "spec.minReadySeconds", *value_path(r->type, d, "spec.minReadySeconds"));
    v = edit_set(r->arena, t, &v, "spec.selector", *value_path(r->type, d, "spec.selector"));
    v = edit_set(r->arena, t, &v, "spec.template", *value_path(r->type, d, "spec.template"));
    v = labelled(r->arena, t, &v, "spec.selector.matchLabels", hash);
    return labelled(r->arena, t, &v, "spec.template.metadata.labels", hash);
}

static struct value set_metadata(struct rollout *r, struct value set, struct str name)
{
    const struct type *t = replica_set_type();
    const struct value *d = &r->deployment;
    struct object_reference owner = { .kind = STR("Deployment"), .api_version = STR("apps/v1"), .name = r->name,
                                      .uid = value_text(value_path(r->type, d, "metadata.uid")) };
    struct value *ref = ARENA_NEW(r->arena, struct value), none = { .kind = VALUE_ABSENT };
    *ref = controller_reference(r->arena, &owner);
    struct value v = edit_set(r->arena, t, &set, "metadata.name", value_string(name));
    v = edit_set(r->arena, t, &v, "metadata.namespace", *value_path(r->type, d, "metadata.namespace"));
    v = edit_set(r->arena, t, &v, "metadata.labels", *value_path(t, &v, "spec.template.metadata.labels"));
    v = edit_set(r->arena, t, &v, "metadata.ownerReferences", value_list(ref, 1));
    return edit_set(r->arena, t, &v, "metadata.annotations", set_annotations(r, &none, false));
}

void rollout_create_set(struct rollout *r)
{
    const struct type *t = replica_set_type();
    int64_t collisions = number_in(r->type, &r->deployment, "status.collisionCount", -1);
    struct str hash = template_hash(r->arena, value_path(r->type, &r->deployment, "spec.template"), collisions);
    struct str begin = str_first(r->name, NAME_MAX_CHARS - 1 - hash.n);
    struct str name = str_of(arena_printf(r->arena, "%.*s-%.*s", STR_ARG(begin), STR_ARG(hash)));
    int32_t size = rollout_size_of_new(r, 0);
    struct value set = value_struct(r->arena, t);
    set.slots[SLOT_KIND] = value_string(t->kind);
    set.slots[SLOT_API_VERSION] = edit_text("apps/v1");
    set = set_metadata(r, set_spec(r, set, hash, size), name);
    rollout_add(r, (struct rollout_action){ .verb = ROLLOUT_CREATE_SET, .object = set, .name = name });
    if (size > 0)
        rollout_tell(r, "Normal", "ScalingReplicaSet",
             arena_printf(r->arena, "Scaled up replica set %.*s from 0 to %d", STR_ARG(name), size));
    bool differs = set_revision(r, map_text(annotations_of(t, &set), REVISION));
    if (r->deadline_s >= 0)
        rollout_set_progress(r, "True", REASON_CREATED,
                             arena_printf(r->arena, "Created new replica set \"%.*s\"", STR_ARG(name)));
    if (differs || r->deadline_s >= 0)
        rollout_add(r, (struct rollout_action){ .verb = ROLLOUT_WRITE_STATUS, .object = r->deployment });
}

/* ---- Rolling back: what older clients ask for by an annotation ---- */

static void give_up_rollback(struct rollout *r, const char *reason, const char *message)
{
    struct value annotations = map_without(r->arena, annotations_of(r->type, &r->deployment), ROLLBACK_TO);
    r->deployment = edit_set(r->arena, r->type, &r->deployment, "metadata.annotations", annotations);
    rollout_add(r, (struct rollout_action){ .verb = ROLLOUT_UPDATE_DEPLOYMENT, .object = r->deployment });
    rollout_tell(r, strcmp(reason, "DeploymentRollback") == 0 ? "Normal" : "Warning", reason, message);
}

static int64_t revision_before(const struct rollout *r)
{
    int64_t max = 0, second = 0;
    for (size_t i = 0; i < r->state->n_sets; i++) {
        int64_t v = r->state->sets[i].revision;
        if (v >= max) {
            second = max;
            max = v;
        } else if (v > second) {
            second = v;
        }
    }
    return second;
}

static void take_template(struct rollout *r, const struct rollout_set *set)
{
    struct value template = rollout_plain_template(r->arena, replica_set_type(), &set->object), kept = { .kind = VALUE_ABSENT };
    const struct value *own = annotations_of(r->type, &r->deployment);
    for (uint32_t i = 0; own->kind == VALUE_MAP && i < own->n; i++)
        if (is_skipped(own->members[i].key))
            kept = edit_member(r->arena, &kept, own->members[i].key, own->members[i].value);
    struct value annotations = with_annotations_of(r->arena, kept, annotations_of(replica_set_type(), &set->object));
    struct value v = edit_set(r->arena, r->type, &r->deployment, "spec.template", template);
    r->deployment = edit_set(r->arena, r->type, &v, "metadata.annotations", annotations);
}

void rollout_roll_back(struct rollout *r, int64_t to)
{
    to = to ? to : revision_before(r);
    if (to == 0) {
        give_up_rollback(r, "DeploymentRollbackRevisionNotFound", "Unable to find last revision.");
        return;
    }
    for (size_t i = 0; i < r->state->n_sets; i++) {
        const struct rollout_set *set = &r->state->sets[i];
        if (set->revision != to)
            continue;
        if (rollout_same_template(&r->deployment, &set->object)) {
            give_up_rollback(r, "DeploymentRollbackTemplateUnchanged",
                             arena_printf(r->arena, "The rollback revision contains the same template as current deployment "
                                          "\"%.*s\"", STR_ARG(r->name)));
            return;
        }
        take_template(r, set);
        give_up_rollback(r, "DeploymentRollback", arena_printf(r->arena, "Rolled back deployment \"%.*s\" to revision %lld",
                                                               STR_ARG(r->name), (long long)to));
        return;
    }
    give_up_rollback(r, "DeploymentRollbackRevisionNotFound", "Unable to find the revision to rollback to.");
}
