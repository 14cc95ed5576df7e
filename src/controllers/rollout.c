/* controllers/rollout.c - see rollout.h. Upstream: deployment/sync.go, rolling.go, recreate.go, util. */
#include "controllers/rollout.h"

#include "api/edit.h"
#include "api/labels.h"
#include "base/sort.h"
#include "controllers/rollout_priv.h"

/* ---- Strategies ---- */

/* A number, or a part of `total` in percent. */
static int32_t scaled(const struct value *v, int32_t total, bool up)
{
    if (v->kind == VALUE_INT)
        return (int32_t)v->i;
    struct str text = value_text(v);
    int64_t percent = 0;
    if (!text.n || !labels_parse_int(str_first(text, text.n - 1), &percent) || percent < 0)
        return 0;
    int64_t most = (int64_t)INT32_MAX * 100 / (total + 1ll); /* more could not be counted */
    return (int32_t)(((percent < most ? percent : most) * total + (up ? 99 : 0)) / 100);
}

static void read_strategy(struct rollout *r)
{
    const struct value *d = &r->deployment;
    r->rolling = str_is(value_text(value_path(r->type, d, "spec.strategy.type")), "RollingUpdate");
    if (!r->rolling)
        return;
    int32_t surge = scaled(value_path(r->type, d, "spec.strategy.rollingUpdate.maxSurge"), r->wanted, true);
    int32_t gone = scaled(value_path(r->type, d, "spec.strategy.rollingUpdate.maxUnavailable"), r->wanted, false);
    r->max_surge = surge < INT32_MAX - r->wanted ? surge : INT32_MAX - r->wanted;
    r->max_unavailable = surge == 0 && gone == 0 ? 1 : gone;
    if (r->max_unavailable > r->wanted)
        r->max_unavailable = r->wanted;
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
        if (!r->fresh && rollout_same_template(&r->deployment, &s->sets[i].object))
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

int64_t rollout_all_wanted(const struct rollout *r)
{
    int64_t n = r->fresh ? r->fresh->wanted : 0;
    for (size_t i = 0; i < r->n_old; i++)
        n += r->old[i]->wanted;
    return n;
}

/* ---- Writes ---- */

/* `anyway`: also when only the annotations differ. Whether the size changes. */
static bool scale_set(struct rollout *r, struct rollout_set *set, int32_t to, bool anyway)
{
    const struct type *t = replica_set_type();
    int32_t from = set->wanted;
    struct value annotations = with_replicas_annotations(r, annotations_of(t, &set->object));
    bool differ = !value_equal(&annotations, annotations_of(t, &set->object));
    if (from == to && !(anyway && differ))
        return false;
    struct value v = edit_set(r->arena, t, &set->object, "spec.replicas", value_int(to));
    set->object = edit_set(r->arena, t, &v, "metadata.annotations", annotations);
    set->wanted = to;
    rollout_update_set(r, set);
    if (from != to)
        rollout_tell(r, "Normal", "ScalingReplicaSet",
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
        rollout_add(r, (struct rollout_action){ .verb = ROLLOUT_WRITE_STATUS, .object = v });
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
static int64_t proportion(const struct rollout *r, const struct rollout_set *set, int64_t to_add, int64_t added)
{
    if (set->wanted == 0 || to_add == added)
        return 0;
    int64_t fraction = -set->wanted, left = to_add - added;
    if (r->wanted) {
        int64_t before = set->max_before > 0 ? set->max_before : number_in(r->type, &r->deployment, "status.replicas", 0);
        double size = before ? (double)((int64_t)set->wanted * (r->wanted + r->max_surge)) / (double)before : set->wanted;
        fraction = (int64_t)(size < 0 ? size - 0.5 : size + 0.5) - set->wanted;
    }
    if (to_add > 0)
        return fraction < left ? fraction : left;
    return fraction > left ? fraction : left;
}

static void scale_in_proportion(struct rollout *r)
{
    struct rollout_set **sets;
    size_t n = active_sets(r, &sets);
    int64_t allowed = r->wanted > 0 ? r->wanted + r->max_surge : 0, to_add = allowed - rollout_all_wanted(r), added = 0;
    if (to_add)
        sort_stable(r->arena, sets, n, sizeof(*sets), to_add > 0 ? by_size_newer : by_size_older);
    int64_t *sizes = ARENA_NEW_N(r->arena, int64_t, n);
    for (size_t i = 0; i < n; i++) {
        int64_t more = to_add ? proportion(r, sets[i], to_add, added) : 0;
        sizes[i] = sets[i]->wanted + more;
        added += more;
    }
    if (n && to_add)
        sizes[0] = sizes[0] + to_add - added > 0 ? sizes[0] + to_add - added : 0; /* what is left over */
    for (size_t i = 0; i < n; i++)
        scale_set(r, sets[i], (int32_t)sizes[i], true);
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
            rollout_add(r, (struct rollout_action){ .verb = ROLLOUT_DELETE_SET, .name = at[i]->name });
}

/* ---- Rolling ---- */

static bool reconcile_new(struct rollout *r)
{
    int32_t has = r->fresh->wanted;
    if (has == r->wanted)
        return false;
    return scale_set(r, r->fresh, has > r->wanted ? r->wanted : rollout_size_of_new(r, has), false);
}

/* Replicas that are not available are no loss. */
static int64_t remove_unhealthy(struct rollout *r, int64_t most)
{
    int64_t gone = 0;
    for (size_t i = 0; i < r->n_old && gone < most; i++) {
        struct rollout_set *set = r->old[i];
        int64_t ill = set->wanted - set->available, take = ill < most - gone ? ill : most - gone;
        if (set->wanted == 0 || take <= 0)
            continue;
        scale_set(r, set, (int32_t)(set->wanted - take), false);
        gone += take;
    }
    return gone;
}

/* As many as are available beyond what must be. `available`: of the new set and the old ones that wanted pods. */
static int64_t remove_available(struct rollout *r, int64_t available)
{
    int64_t gone = 0, most = available - (r->wanted - r->max_unavailable);
    for (size_t i = 0; i < r->n_old && gone < most; i++) {
        struct rollout_set *set = r->old[i];
        int64_t take = set->wanted < most - gone ? set->wanted : most - gone;
        if (take <= 0)
            continue;
        scale_set(r, set, (int32_t)(set->wanted - take), false);
        gone += take;
    }
    return gone;
}

static bool reconcile_old(struct rollout *r)
{
    int64_t old = rollout_all_wanted(r) - r->fresh->wanted;
    int64_t most = rollout_all_wanted(r) - (r->wanted - r->max_unavailable) - (r->fresh->wanted - r->fresh->available);
    if (old == 0 || most <= 0)
        return false;
    int64_t available = r->fresh->available;
    for (size_t i = 0; i < r->n_old; i++)
        available += r->old[i]->wanted > 0 ? r->old[i]->available : 0;
    int64_t gone = remove_unhealthy(r, most);
    return gone + remove_available(r, available) > 0;
}

static void roll(struct rollout *r)
{
    if (!r->fresh) {
        rollout_create_set(r);
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
        struct str uid = value_text(value_path(replica_set_type(), &r->old[i]->object, "metadata.uid"));
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
            rollout_create_set(r);
            return;
        }
        scale_set(r, r->fresh, r->wanted, false);
        if (rollout_is_complete(r, &r->deployment))
            clean_up(r);
    }
    write_status(r, true);
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
        rollout_set_progress(r, "Unknown", REASON_PAUSED, "Deployment is paused");
    else
        rollout_set_progress(r, "Unknown", REASON_RESUMED, "Deployment is resumed");
    rollout_add(r, (struct rollout_action){ .verb = ROLLOUT_WRITE_STATUS, .object = r->deployment });
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
    bool rolls_back = labels_parse_int(map_text(annotations_of(r.type, s->deployment), ROLLBACK_TO), &back_to);
    if (!deleted && tell_pause(&r))
        return r.plan;
    if (r.fresh && rollout_sync_revision(&r))
        return r.plan;
    if (deleted)
        write_status(&r, false);
    else if (!r.paused && rolls_back)
        rollout_roll_back(&r, back_to);
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
