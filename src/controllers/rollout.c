/* controllers/rollout.c - see rollout.h. Upstream: deployment/sync.go, rolling.go, recreate.go, rollback.go, util. */
#include "controllers/rollout.h"

#include <assert.h>

#include "api/edit.h"
#include "api/labels.h"
#include "base/sort.h"
#include "controllers/pod_control.h"
#include "controllers/rollout_priv.h"
#include "controllers/template_hash.h"

#define REVISION "deployment.kubernetes.io/revision"
#define REVISION_HISTORY "deployment.kubernetes.io/revision-history"
#define DESIRED_REPLICAS "deployment.kubernetes.io/desired-replicas"
#define MAX_REPLICAS "deployment.kubernetes.io/max-replicas"
#define ROLLBACK_TO "deprecated.deployment.rollback.to"
#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"
#define HASH_LABEL "pod-template-hash"

enum { HISTORY_CHARS_MAX = 2000, NAME_MAX_CHARS = 253 };

static const struct type *set_type(void)
{
    return schema_type(STR("apps/v1.ReplicaSet"));
}

/* ---- Reading ---- */

static struct str text_of(const struct value *map, const char *key)
{
    const struct value *v = map->kind == VALUE_MAP ? value_member(map, str_of(key)) : NULL;
    return v ? value_text(v) : STR("");
}

static const struct value *annotations_of(const struct type *t, const struct value *v)
{
    return value_path(t, v, "metadata.annotations");
}

/* -1: none, or none that counts. */
static int32_t annotated_number(const struct value *annotations, const char *key)
{
    int64_t n;
    struct str text = text_of(annotations, key);
    bool digits = text.n && text.p[0] >= '0' && text.p[0] <= '9';
    return digits && labels_parse_int(text, &n) && n <= INT32_MAX ? (int32_t)n : -1;
}

static int64_t revision_of(const struct value *annotations)
{
    int64_t n;
    if (annotations->kind != VALUE_MAP || !value_member(annotations, STR(REVISION)))
        return 0;
    return labels_parse_int(text_of(annotations, REVISION), &n) ? n : -1;
}

struct rollout_set rollout_set_of(const struct value *object)
{
    const struct type *t = set_type();
    const struct value *annotations = annotations_of(t, object), *created = value_path(t, object, "metadata.creationTimestamp");
    return (struct rollout_set){
        .object = *object,
        .name = value_text(value_path(t, object, "metadata.name")),
        .created_s = created->kind == VALUE_TIME ? created->i : 0,
        .deleted = value_path(t, object, "metadata.deletionTimestamp")->kind == VALUE_TIME,
        .wanted = (int32_t)number_in(t, object, "spec.replicas", 0),
        .replicas = (int32_t)number_in(t, object, "status.replicas", 0),
        .ready = (int32_t)number_in(t, object, "status.readyReplicas", 0),
        .available = (int32_t)number_in(t, object, "status.availableReplicas", 0),
        .terminating = (int32_t)number_in(t, object, "status.terminatingReplicas", -1),
        .revision = revision_of(annotations),
        .desired_before = annotated_number(annotations, DESIRED_REPLICAS),
        .max_before = annotated_number(annotations, MAX_REPLICAS),
        .observed = number_in(t, object, "metadata.generation", 0) <= number_in(t, object, "status.observedGeneration", 0),
    };
}

/* A number, or a part of `total` in percent. */
static int32_t scaled(const struct value *v, int32_t total, bool up)
{
    if (v->kind == VALUE_INT)
        return (int32_t)v->i;
    struct str text = value_text(v);
    int64_t percent = 0;
    if (!text.n || !labels_parse_int(str_first(text, text.n - 1), &percent))
        return 0;
    return (int32_t)((percent * total + (up ? 99 : 0)) / 100);
}

static void read_strategy(struct rollout *r)
{
    const struct value *d = &r->deployment;
    r->rolling = str_is(value_text(value_path(r->type, d, "spec.strategy.type")), "RollingUpdate");
    if (!r->rolling)
        return;
    int32_t surge = scaled(value_path(r->type, d, "spec.strategy.rollingUpdate.maxSurge"), r->wanted, true);
    int32_t gone = scaled(value_path(r->type, d, "spec.strategy.rollingUpdate.maxUnavailable"), r->wanted, false);
    r->max_surge = surge;
    r->max_unavailable = surge == 0 && gone == 0 ? 1 : gone;
    if (r->max_unavailable > r->wanted)
        r->max_unavailable = r->wanted;
}

/* ---- Templates ---- */

static struct value without_label(struct arena *a, const struct value *map, const char *key)
{
    uint32_t n = map->kind == VALUE_MAP ? map->n : 0, n_left = 0;
    struct member *left = ARENA_NEW_N(a, struct member, n);
    for (uint32_t i = 0; i < n; i++)
        if (!str_is(map->members[i].key, key))
            left[n_left++] = map->members[i];
    return n_left ? value_map(left, n_left) : (struct value){ .kind = VALUE_ABSENT };
}

static struct value plain_template(struct arena *a, const struct type *t, const struct value *object)
{
    const struct type *tt = schema_type(STR("core/v1.PodTemplateSpec"));
    const struct value *template = value_path(t, object, "spec.template");
    return edit_set(a, tt, template, "metadata.labels",
                    without_label(a, value_path(tt, template, "metadata.labels"), HASH_LABEL));
}

static bool same_template(const struct value *deployment, const struct value *set)
{
    struct arena a;
    arena_init(&a);
    struct value one = plain_template(&a, deployment_type(), deployment), other = plain_template(&a, set_type(), set);
    bool same = value_equal(&one, &other);
    arena_fini(&a);
    return same;
}

bool rollout_is_same_set(const struct value *deployment, const struct value *set)
{
    const struct type *ot = schema_type(STR("meta/v1.OwnerReference"));
    const struct value *list = value_path(set_type(), set, "metadata.ownerReferences");
    struct str uid = value_text(value_path(deployment_type(), deployment, "metadata.uid"));
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_eq(value_text(value_path(ot, &list->items[i], "uid")), uid))
            return same_template(deployment, set);
    return false;
}

/* ---- Order ---- */

static int by_age(const void *a, const void *b)
{
    const struct rollout_set *x = a, *y = b;
    if (x->created_s != y->created_s)
        return x->created_s < y->created_s ? -1 : 1;
    return str_cmp(x->name, y->name);
}

static int by_size(const struct rollout_set *x, const struct rollout_set *y)
{
    return (x->wanted < y->wanted) - (x->wanted > y->wanted);
}

static int by_size_older(const void *a, const void *b)
{
    const struct rollout_set *const *x = a, *const *y = b;
    int by = by_size(*x, *y);
    return by ? by : by_age(*x, *y);
}

static int by_size_newer(const void *a, const void *b)
{
    const struct rollout_set *const *x = a, *const *y = b;
    int by = by_size(*x, *y);
    return by ? by : by_age(*y, *x);
}

static int by_revision(const void *a, const void *b)
{
    const struct rollout_set *const *x = a, *const *y = b;
    if ((*x)->revision < 0 || (*y)->revision < 0 || (*x)->revision == (*y)->revision)
        return by_age(*x, *y);
    return (*x)->revision < (*y)->revision ? -1 : 1;
}

/* The oldest of those with the current template is the new one, as upstream. */
static void sort_sets(struct rollout *r)
{
    const struct rollout_state *s = r->state;
    sort_stable(r->arena, s->sets, s->n_sets, sizeof(*s->sets), by_age);
    r->old = ARENA_NEW_N(r->arena, struct rollout_set *, s->n_sets);
    for (size_t i = 0; i < s->n_sets; i++)
        if (!r->fresh && same_template(&r->deployment, &s->sets[i].object))
            r->fresh = &s->sets[i];
        else
            r->old[r->n_old++] = &s->sets[i];
}

/* Those that want pods; the new one comes last. */
static size_t active_sets(struct rollout *r, struct rollout_set ***ret)
{
    struct rollout_set **at = ARENA_NEW_N(r->arena, struct rollout_set *, r->n_old + 1);
    size_t n = 0;
    for (size_t i = 0; i < r->n_old; i++)
        if (r->old[i]->wanted > 0)
            at[n++] = r->old[i];
    if (r->fresh && r->fresh->wanted > 0)
        at[n++] = r->fresh;
    *ret = at;
    return n;
}

static int32_t all_wanted(const struct rollout *r)
{
    int32_t n = r->fresh ? r->fresh->wanted : 0;
    for (size_t i = 0; i < r->n_old; i++)
        n += r->old[i]->wanted;
    return n;
}

/* ---- Actions ---- */

static void add(struct rollout *r, struct rollout_action action)
{
    assert(r->plan.n < ROLLOUT_ACTIONS_ROOM + 4 * r->state->n_sets);
    r->plan.actions[r->plan.n++] = action;
}

static void tell(struct rollout *r, const char *type, const char *reason, const char *message)
{
    add(r, (struct rollout_action){ .verb = ROLLOUT_TELL, .type = type, .reason = reason, .message = message });
}

/* A set that is changed twice is written once, as it is in the end. */
static void update_set(struct rollout *r, struct rollout_set *set)
{
    for (size_t i = 0; i < r->plan.n; i++)
        if (r->plan.actions[i].verb == ROLLOUT_UPDATE_SET && str_eq(r->plan.actions[i].name, set->name)) {
            r->plan.actions[i].object = set->object;
            return;
        }
    add(r, (struct rollout_action){ .verb = ROLLOUT_UPDATE_SET, .object = set->object, .name = set->name });
}

static struct value numbered(struct rollout *r, const struct value *annotations, const char *key, int32_t n)
{
    return edit_member(r->arena, annotations, str_of(key), edit_text(arena_printf(r->arena, "%d", n)));
}

static struct value with_replicas_annotations(struct rollout *r, const struct value *annotations)
{
    struct value v = numbered(r, annotations, DESIRED_REPLICAS, r->wanted);
    return numbered(r, &v, MAX_REPLICAS, r->wanted + r->max_surge);
}

/* `anyway`: also when only the annotations differ. Whether the size changes. */
static bool scale_set(struct rollout *r, struct rollout_set *set, int32_t to, bool anyway)
{
    const struct type *t = set_type();
    int32_t from = set->wanted;
    struct value annotations = with_replicas_annotations(r, annotations_of(t, &set->object));
    bool differ = !value_equal(&annotations, annotations_of(t, &set->object));
    if (from == to && !(anyway && differ))
        return false;
    struct value v = edit_set(r->arena, t, &set->object, "spec.replicas", value_int(to));
    set->object = edit_set(r->arena, t, &v, "metadata.annotations", annotations);
    set->wanted = to;
    update_set(r, set);
    if (from != to)
        tell(r, "Normal", "ScalingReplicaSet",
             arena_printf(r->arena, "Scaled %s replica set %.*s from %d to %d", from < to ? "up" : "down", STR_ARG(set->name),
                          from, to));
    return from != to;
}

static void write_status(struct rollout *r, bool with_rollout)
{
    struct value v = rollout_with_status(r, with_rollout);
    if (value_equal(value_path(r->type, &v, "status"), value_path(r->type, r->state->deployment, "status")))
        r->plan.check_after_s = with_rollout ? rollout_check_after_s(r, &v) : -1;
    else
        add(r, (struct rollout_action){ .verb = ROLLOUT_WRITE_STATUS, .object = v });
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
    struct str history = text_of(&annotations, REVISION_HISTORY);
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
    struct str old = text_of(there, REVISION);
    if (was < is) {
        v = edit_member(r->arena, &v, STR(REVISION), edit_text(arena_printf(r->arena, "%lld", (long long)is)));
        v = old.n ? with_history(r, v, old) : v;
    }
    return exists ? v : with_replicas_annotations(r, &v);
}

static bool set_revision(struct rollout *r, struct str revision)
{
    const struct value *annotations = annotations_of(r->type, &r->deployment);
    if (str_eq(text_of(annotations, REVISION), revision))
        return false;
    struct value v = edit_member(r->arena, annotations, STR(REVISION), value_string(revision));
    r->deployment = edit_set(r->arena, r->type, &r->deployment, "metadata.annotations", v);
    return true;
}

static void set_progress(struct rollout *r, const char *status, const char *reason, const char *message)
{
    r->deployment = with_progress(r->arena, &r->deployment, status, reason, message, r->state->now_s);
}

/* True: something is written first, and the rest is for the next turn. */
static bool sync_revision(struct rollout *r)
{
    struct rollout_set *set = r->fresh;
    const struct type *t = set_type();
    struct value annotations = set_annotations(r, annotations_of(t, &set->object), true);
    const struct value *ready = value_path(r->type, &r->deployment, "spec.minReadySeconds");
    int64_t min_ready = ready->kind == VALUE_INT ? ready->i : 0;
    if (!value_equal(&annotations, annotations_of(t, &set->object)) ||
        number_in(t, &set->object, "spec.minReadySeconds", 0) != min_ready) {
        struct value v = edit_set(r->arena, t, &set->object, "metadata.annotations", annotations);
        set->object = edit_set(r->arena, t, &v, "spec.minReadySeconds", *ready);
        update_set(r, set);
        return true;
    }
    bool differs = set_revision(r, text_of(&annotations, REVISION));
    if (r->deadline_s >= 0 && !condition_find(value_path(r->type, &r->deployment, "status.conditions"), PROGRESSING)) {
        set_progress(r, "True", REASON_FOUND, arena_printf(r->arena, "Found new replica set \"%.*s\"", STR_ARG(set->name)));
        differs = true;
    }
    if (differs)
        add(r, (struct rollout_action){ .verb = ROLLOUT_WRITE_STATUS, .object = r->deployment });
    return differs;
}

/* ---- A new ReplicaSet ---- */

static int32_t size_of_new(const struct rollout *r, int32_t has)
{
    if (!r->rolling)
        return r->wanted;
    int32_t now = all_wanted(r), most = r->wanted + r->max_surge;
    if (now >= most)
        return has;
    int32_t more = most - now < r->wanted - has ? most - now : r->wanted - has;
    return has + more;
}

static struct value labelled(struct arena *a, const struct type *t, const struct value *v, const char *path, struct str hash)
{
    return edit_set(a, t, v, path, edit_member(a, value_path(t, v, path), STR(HASH_LABEL), value_string(hash)));
}

static struct value set_spec(struct rollout *r, struct value set, struct str hash, int32_t size)
{
    const struct type *t = set_type();
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
    const struct type *t = set_type();
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

static void create_set(struct rollout *r)
{
    const struct type *t = set_type();
    int64_t collisions = number_in(r->type, &r->deployment, "status.collisionCount", -1);
    struct str hash = template_hash(r->arena, value_path(r->type, &r->deployment, "spec.template"), collisions);
    struct str begin = str_first(r->name, NAME_MAX_CHARS - 1 - hash.n);
    struct str name = str_of(arena_printf(r->arena, "%.*s-%.*s", STR_ARG(begin), STR_ARG(hash)));
    int32_t size = size_of_new(r, 0);
    struct value set = value_struct(r->arena, t);
    set.slots[SLOT_KIND] = value_string(t->kind);
    set.slots[SLOT_API_VERSION] = edit_text("apps/v1");
    set = set_metadata(r, set_spec(r, set, hash, size), name);
    add(r, (struct rollout_action){ .verb = ROLLOUT_CREATE_SET, .object = set, .name = name });
    if (size > 0)
        tell(r, "Normal", "ScalingReplicaSet",
             arena_printf(r->arena, "Scaled up replica set %.*s from 0 to %d", STR_ARG(name), size));
    bool differs = set_revision(r, text_of(annotations_of(t, &set), REVISION));
    if (r->deadline_s >= 0)
        set_progress(r, "True", REASON_CREATED, arena_printf(r->arena, "Created new replica set \"%.*s\"", STR_ARG(name)));
    if (differs || r->deadline_s >= 0)
        add(r, (struct rollout_action){ .verb = ROLLOUT_WRITE_STATUS, .object = r->deployment });
}

/* ---- Scaling ---- */

/* The only one that wants pods, or the newest when none does; NULL: there are several, or none at all. */
static struct rollout_set *active_or_latest(struct rollout *r)
{
    struct rollout_set **active;
    size_t n = active_sets(r, &active);
    if (n == 1)
        return active[0];
    if (n > 1)
        return NULL;
    return r->fresh ? r->fresh : r->n_old ? r->old[r->n_old - 1] : NULL;
}

static bool is_saturated(const struct rollout *r, const struct rollout_set *set)
{
    return set && set->wanted == r->wanted && set->desired_before == r->wanted && set->available == r->wanted;
}

/* What a set has to gain or lose when the whole grows or shrinks by `to_add`. */
static int32_t proportion(const struct rollout *r, const struct rollout_set *set, int32_t to_add, int32_t added)
{
    if (set->wanted == 0 || to_add == added)
        return 0;
    int32_t fraction = -set->wanted, left = to_add - added;
    if (r->wanted) {
        int64_t before = set->max_before > 0 ? set->max_before : number_in(r->type, &r->deployment, "status.replicas", 0);
        double size = before ? (double)((int64_t)set->wanted * (r->wanted + r->max_surge)) / (double)before : set->wanted;
        fraction = (int32_t)(size < 0 ? size - 0.5 : size + 0.5) - set->wanted;
    }
    if (to_add > 0)
        return fraction < left ? fraction : left;
    return fraction > left ? fraction : left;
}

static void scale_in_proportion(struct rollout *r)
{
    struct rollout_set **sets;
    size_t n = active_sets(r, &sets);
    int32_t allowed = r->wanted > 0 ? r->wanted + r->max_surge : 0, to_add = allowed - all_wanted(r), added = 0;
    if (to_add)
        sort_stable(r->arena, sets, n, sizeof(*sets), to_add > 0 ? by_size_newer : by_size_older);
    int32_t *sizes = ARENA_NEW_N(r->arena, int32_t, n);
    for (size_t i = 0; i < n; i++) {
        int32_t more = to_add ? proportion(r, sets[i], to_add, added) : 0;
        sizes[i] = sets[i]->wanted + more;
        added += more;
    }
    if (n && to_add)
        sizes[0] = sizes[0] + to_add - added > 0 ? sizes[0] + to_add - added : 0; /* what is left over */
    for (size_t i = 0; i < n; i++)
        scale_set(r, sets[i], sizes[i], true);
}

static void scale(struct rollout *r)
{
    struct rollout_set *one = active_or_latest(r);
    if (one) {
        scale_set(r, one, r->wanted, false);
    } else if (is_saturated(r, r->fresh)) {
        for (size_t i = 0; i < r->n_old; i++)
            if (r->old[i]->wanted > 0)
                scale_set(r, r->old[i], 0, false);
    } else if (r->rolling) {
        scale_in_proportion(r);
    }
}

/* Somebody changed the size since sets were scaled last. */
static bool is_scaling(struct rollout *r)
{
    struct rollout_set **sets;
    size_t n = active_sets(r, &sets);
    for (size_t i = 0; i < n; i++)
        if (sets[i]->desired_before >= 0 && sets[i]->desired_before != r->wanted)
            return true;
    return false;
}

/* ---- Cleaning up ---- */

static void clean_up(struct rollout *r)
{
    int64_t limit = number_in(r->type, &r->deployment, "spec.revisionHistoryLimit", INT32_MAX);
    struct rollout_set **at = ARENA_NEW_N(r->arena, struct rollout_set *, r->n_old);
    int64_t n = 0;
    for (size_t i = 0; i < r->n_old; i++)
        if (!r->old[i]->deleted)
            at[n++] = r->old[i];
    if (limit == INT32_MAX || n <= limit)
        return;
    sort_stable(r->arena, at, (size_t)n, sizeof(*at), by_revision);
    for (int64_t i = 0; i < n - limit; i++)
        if (at[i]->replicas == 0 && at[i]->wanted == 0 && at[i]->observed)
            add(r, (struct rollout_action){ .verb = ROLLOUT_DELETE_SET, .name = at[i]->name });
}

/* ---- Rolling ---- */

static bool reconcile_new(struct rollout *r)
{
    int32_t has = r->fresh->wanted;
    if (has == r->wanted)
        return false;
    return scale_set(r, r->fresh, has > r->wanted ? r->wanted : size_of_new(r, has), false);
}

/* Replicas that are not available are no loss. */
static int32_t remove_unhealthy(struct rollout *r, int32_t most)
{
    int32_t gone = 0;
    for (size_t i = 0; i < r->n_old && gone < most; i++) {
        struct rollout_set *set = r->old[i];
        int32_t ill = set->wanted - set->available, take = ill < most - gone ? ill : most - gone;
        if (set->wanted == 0 || take <= 0)
            continue;
        scale_set(r, set, set->wanted - take, false);
        gone += take;
    }
    return gone;
}

/* As many as are available beyond what must be. `available`: of the new set and the old ones that wanted pods. */
static int32_t remove_available(struct rollout *r, int32_t available)
{
    int32_t gone = 0, most = available - (r->wanted - r->max_unavailable);
    for (size_t i = 0; i < r->n_old && gone < most; i++) {
        struct rollout_set *set = r->old[i];
        int32_t take = set->wanted < most - gone ? set->wanted : most - gone;
        if (take <= 0)
            continue;
        scale_set(r, set, set->wanted - take, false);
        gone += take;
    }
    return gone;
}

static bool reconcile_old(struct rollout *r)
{
    int32_t old = all_wanted(r) - r->fresh->wanted;
    int32_t most = all_wanted(r) - (r->wanted - r->max_unavailable) - (r->fresh->wanted - r->fresh->available);
    if (old == 0 || most <= 0)
        return false;
    int32_t available = r->fresh->available;
    for (size_t i = 0; i < r->n_old; i++)
        available += r->old[i]->wanted > 0 ? r->old[i]->available : 0;
    int32_t gone = remove_unhealthy(r, most);
    return gone + remove_available(r, available) > 0;
}

static void roll(struct rollout *r)
{
    if (!r->fresh) {
        create_set(r);
        return;
    }
    if (!reconcile_new(r) && !reconcile_old(r) && rollout_is_complete(r, &r->deployment))
        clean_up(r);
    write_status(r, true);
}

/* ---- Recreating ---- */

static bool old_pods_run(const struct rollout *r)
{
    for (size_t i = 0; i < r->n_old; i++) {
        struct str uid = value_text(value_path(set_type(), &r->old[i]->object, "metadata.uid"));
        if (r->old[i]->replicas > 0 || r->state->n_pods_running(r->state->context, uid))
            return true;
    }
    return false;
}

static void recreate(struct rollout *r)
{
    bool scaled_down = false;
    for (size_t i = 0; i < r->n_old; i++)
        if (r->old[i]->wanted > 0)
            scaled_down |= scale_set(r, r->old[i], 0, false);
    if (!scaled_down && !old_pods_run(r)) {
        if (!r->fresh) {
            create_set(r);
            return;
        }
        scale_set(r, r->fresh, r->wanted, false);
        if (rollout_is_complete(r, &r->deployment))
            clean_up(r);
    }
    write_status(r, true);
}

/* ---- Rolling back: what older clients ask for by an annotation ---- */

static void give_up_rollback(struct rollout *r, const char *reason, const char *message)
{
    struct value annotations = without_label(r->arena, annotations_of(r->type, &r->deployment), ROLLBACK_TO);
    r->deployment = edit_set(r->arena, r->type, &r->deployment, "metadata.annotations", annotations);
    add(r, (struct rollout_action){ .verb = ROLLOUT_UPDATE_DEPLOYMENT, .object = r->deployment });
    tell(r, strcmp(reason, "DeploymentRollback") == 0 ? "Normal" : "Warning", reason, message);
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
    struct value template = plain_template(r->arena, set_type(), &set->object), kept = { .kind = VALUE_ABSENT };
    const struct value *own = annotations_of(r->type, &r->deployment);
    for (uint32_t i = 0; own->kind == VALUE_MAP && i < own->n; i++)
        if (is_skipped(own->members[i].key))
            kept = edit_member(r->arena, &kept, own->members[i].key, own->members[i].value);
    struct value annotations = with_annotations_of(r->arena, kept, annotations_of(set_type(), &set->object));
    struct value v = edit_set(r->arena, r->type, &r->deployment, "spec.template", template);
    r->deployment = edit_set(r->arena, r->type, &v, "metadata.annotations", annotations);
}

static void roll_back(struct rollout *r, int64_t to)
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
        if (same_template(&r->deployment, &set->object)) {
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

/* ---- Pausing ---- */

/* So that a Deployment that is resumed has not timed out meanwhile. True: that is written first. */
static bool tell_pause(struct rollout *r)
{
    const struct value *c = condition_find(value_path(r->type, &r->deployment, "status.conditions"), PROGRESSING);
    struct str reason = c ? condition_text(c, "reason") : STR("");
    bool told = str_is(reason, REASON_PAUSED);
    if (r->deadline_s < 0 || str_is(reason, REASON_TIMED_OUT) || told == r->paused)
        return false;
    if (r->paused)
        set_progress(r, "Unknown", REASON_PAUSED, "Deployment is paused");
    else
        set_progress(r, "Unknown", REASON_RESUMED, "Deployment is resumed");
    add(r, (struct rollout_action){ .verb = ROLLOUT_WRITE_STATUS, .object = r->deployment });
    return true;
}

/* ---- The whole ---- */

static struct rollout begin(struct arena *a, const struct rollout_state *s)
{
    struct rollout r = { .arena = a, .state = s, .type = deployment_type(), .deployment = *s->deployment };
    const struct value *d = s->deployment;
    int64_t deadline_s = number_in(r.type, d, "spec.progressDeadlineSeconds", INT32_MAX);
    const struct value *paused = value_path(r.type, d, "spec.paused");
    r.name = value_text(value_path(r.type, d, "metadata.name"));
    r.wanted = (int32_t)number_in(r.type, d, "spec.replicas", 0);
    r.deadline_s = deadline_s == INT32_MAX ? -1 : deadline_s;
    r.paused = paused->kind == VALUE_BOOL && paused->b;
    r.plan = (struct rollout_plan){ ARENA_NEW_N(a, struct rollout_action, ROLLOUT_ACTIONS_ROOM + 4 * s->n_sets), 0, -1 };
    read_strategy(&r);
    sort_sets(&r);
    return r;
}

static void scale_only(struct rollout *r)
{
    scale(r);
    if (r->paused)
        clean_up(r);
    write_status(r, false);
}

struct rollout_plan rollout_decide(struct arena *a, const struct rollout_state *s)
{
    struct rollout r = begin(a, s);
    int64_t back_to;
    bool deleted = value_path(r.type, s->deployment, "metadata.deletionTimestamp")->kind == VALUE_TIME;
    bool rolls_back = labels_parse_int(text_of(annotations_of(r.type, s->deployment), ROLLBACK_TO), &back_to);
    if (!deleted && tell_pause(&r))
        return r.plan;
    if (r.fresh && sync_revision(&r))
        return r.plan;
    if (deleted)
        write_status(&r, false);
    else if (!r.paused && rolls_back)
        roll_back(&r, back_to);
    else if (r.paused || is_scaling(&r))
        scale_only(&r);
    else if (r.rolling)
        roll(&r);
    else
        recreate(&r);
    return r.plan;
}

struct value rollout_collided(struct arena *a, const struct value *deployment)
{
    int64_t n = number_in(deployment_type(), deployment, "status.collisionCount", 0);
    return edit_set(a, deployment_type(), deployment, "status.collisionCount", value_int(n + 1));
}

bool rollout_failed(struct arena *a, const struct value *deployment, const char *message, int64_t now_s,
                    struct value *ret_deployment)
{
    if (number_in(deployment_type(), deployment, "spec.progressDeadlineSeconds", INT32_MAX) == INT32_MAX)
        return false;
    *ret_deployment = with_progress(a, deployment, "False", REASON_CREATE_ERROR, message, now_s);
    return true;
}
