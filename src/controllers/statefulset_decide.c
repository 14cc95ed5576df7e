/* controllers/statefulset_decide.c - see statefulset_decide.h. */
#include "controllers/statefulset_decide.h"

#include <stdlib.h>

#include "base/arena_array.h"
#include "base/sort.h"

enum { DIGITS_MAX = 10 };

int64_t statefulset_ordinal(struct str set_name, struct str pod_name)
{
    struct str digits = str_from(pod_name, set_name.n + 1);
    int64_t ordinal = 0;
    if (!str_starts(pod_name, set_name) || pod_name.n < set_name.n + 2 || pod_name.p[set_name.n] != '-' || digits.n > DIGITS_MAX)
        return -1;
    for (size_t i = 0; i < digits.n; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9')
            return -1;
        ordinal = ordinal * 10 + (digits.p[i] - '0');
    }
    return ordinal <= INT32_MAX ? ordinal : -1;
}

/* What decides: the state, and the pods by their place. */
struct decision {
    const struct statefulset_state *state;
    const struct statefulset_pod **replicas; /* ascending ordinals */
    size_t n_replicas, n_creations;
    const struct statefulset_pod **condemned; /* descending ordinals */
    size_t n_condemned;
    const struct statefulset_pod *first_unavailable;
    bool first_is_missing; /* a replica that is to be made comes before it */
    struct statefulset_plan plan;
};

static void add(struct decision *d, enum statefulset_verb verb, int64_t ordinal, const struct statefulset_pod *pod)
{
    struct statefulset_plan *p = &d->plan;
    p->actions = arena_array_more(d->state->arena, p->actions, p->n_actions, &p->cap, sizeof(*p->actions));
    p->actions[p->n_actions++] = (struct statefulset_action){ .verb = verb, .ordinal = ordinal, .pod = pod };
}

static bool is_unavailable(const struct statefulset_pod *p)
{
    return !p || !p->available || p->terminating;
}

/* ---- Places ---- */

static int by_ordinal(const void *x, const void *y)
{
    const struct statefulset_pod *a = *(const struct statefulset_pod *const *)x, *b = *(const struct statefulset_pod *const *)y;
    return (a->ordinal > b->ordinal) - (a->ordinal < b->ordinal);
}

static int by_descending_ordinal(const void *x, const void *y)
{
    return by_ordinal(y, x);
}

/* There may be far more places than pods, so they are no array. */
static void place_pods(struct decision *d)
{
    const struct statefulset_state *s = d->state;
    const struct statefulset_facts *f = &s->set;
    d->replicas = ARENA_NEW_N(s->arena, const struct statefulset_pod *, s->n_pods);
    d->condemned = ARENA_NEW_N(s->arena, const struct statefulset_pod *, s->n_pods);
    for (size_t i = 0; i < s->n_pods; i++) {
        const struct statefulset_pod *p = &s->pods[i];
        if (p->ordinal >= f->start && p->ordinal < f->start + f->replicas)
            d->replicas[d->n_replicas++] = p;
        else
            d->condemned[d->n_condemned++] = p;
    }
    sort_stable(s->arena, d->replicas, d->n_replicas, sizeof(*d->replicas), by_ordinal);
    sort_stable(s->arena, d->condemned, d->n_condemned, sizeof(*d->condemned), by_descending_ordinal);
}

/* NULL: to be made. */
static const struct statefulset_pod *replica(const struct decision *d, int64_t i)
{
    const struct statefulset_pod wanted = { .ordinal = d->state->set.start + i }, *key = &wanted;
    const struct statefulset_pod **found = NULL;
    if (d->n_replicas)
        found = bsearch(&key, d->replicas, d->n_replicas, sizeof(*d->replicas), by_ordinal);
    return found ? *found : NULL;
}

static void find_first_unavailable(struct decision *d)
{
    for (int64_t i = 0; i < d->state->set.replicas; i++) {
        const struct statefulset_pod *p = replica(d, i);
        if (is_unavailable(p)) {
            d->first_unavailable = p;
            d->first_is_missing = !p;
            return;
        }
    }
    for (size_t i = d->n_condemned; i-- > 0;)
        if (is_unavailable(d->condemned[i])) {
            d->first_unavailable = d->condemned[i];
            return;
        }
}

/* ---- Counts ---- */

static void count_pods(struct decision *d)
{
    const struct statefulset_facts *f = &d->state->set;
    struct statefulset_counts *c = &d->plan.counts;
    for (size_t i = 0; i < d->state->n_pods; i++) {
        const struct statefulset_pod *p = &d->state->pods[i];
        c->replicas++;
        c->ready += p->running && p->ready;
        c->available += p->running && p->ready && p->available;
        c->current += !p->terminating && str_eq(p->revision, f->current_revision);
        c->updated += !p->terminating && str_eq(p->revision, f->update_revision);
    }
}

static void complete_update(struct decision *d)
{
    const struct statefulset_facts *f = &d->state->set;
    struct statefulset_counts *c = &d->plan.counts;
    d->plan.completes = !f->on_delete && c->updated == f->replicas && c->ready == f->replicas && c->replicas == f->replicas;
    if (d->plan.completes)
        c->current = c->updated;
}

/* ---- Replicas ---- */

/* Below the partition, or among those that the update has not reached, pods are made as they were. */
static bool is_of_current(const struct statefulset_facts *f, int64_t ordinal)
{
    if (f->partition >= 0)
        return ordinal < f->start + f->partition;
    return !f->on_delete && ordinal < f->start + f->current_replicas;
}

static void create(struct decision *d, int64_t ordinal)
{
    add(d, STATEFULSET_CREATE, ordinal, NULL);
    d->n_creations++;
    d->plan.actions[d->plan.n_actions - 1].of_current = is_of_current(&d->state->set, ordinal);
}

/* True: with pods in order, those behind have to wait. */
static bool look_at_replica(struct decision *d, int64_t i)
{
    const struct statefulset_state *s = d->state;
    const struct statefulset_pod *p = replica(d, i);
    int64_t ordinal = s->set.start + i;
    if (!p) {
        if (!s->claim_is_stale(s->context, ordinal))
            create(d, ordinal);
        return true;
    }
    if (p->ended) {
        if (!p->terminating)
            add(d, STATEFULSET_DELETE, ordinal, p);
        return true;
    }
    if (p->pending && p->claims_missing)
        add(d, STATEFULSET_MAKE_CLAIMS, ordinal, p);
    bool waits = p->terminating || !(p->running && p->ready) || !p->available;
    if (waits && !s->set.parallel)
        return true;
    if (p->claims_differ)
        add(d, STATEFULSET_OWN_CLAIMS, ordinal, p);
    if (!p->matches || p->claims_differ) /* for the claims alone the pod is written as it is, and an Event tells of it */
        add(d, STATEFULSET_UPDATE, ordinal, p);
    return false;
}

/* In parallel only so many are made at once; what they bring about brings us back for the others. */
static bool look_at_replicas(struct decision *d)
{
    for (int64_t i = 0; i < d->state->set.replicas; i++)
        if ((look_at_replica(d, i) && !d->state->set.parallel) || d->n_creations == STATEFULSET_PODS_AT_ONCE_MAX)
            return true;
    return false;
}

/* ---- Condemned ---- */

static bool look_at_condemned(struct decision *d)
{
    bool ordered = !d->state->set.parallel;
    for (size_t i = 0; i < d->n_condemned; i++)
        if (d->condemned[i]->claims_differ)
            add(d, STATEFULSET_OWN_CLAIMS, d->condemned[i]->ordinal, d->condemned[i]);
    for (size_t i = 0; i < d->n_condemned; i++) {
        const struct statefulset_pod *p = d->condemned[i];
        bool is_first = p == d->first_unavailable && !d->first_is_missing;
        bool healthy = p->running && p->ready && p->available;
        if (p->terminating && ordered)
            return true;
        if (p->terminating)
            continue;
        if (ordered && !healthy && !is_first)
            return true;
        add(d, STATEFULSET_DELETE, p->ordinal, p);
        if (ordered)
            return true;
    }
    return false;
}

/* ---- Updates ---- */

/* From the last one down to the partition, one at a time, each when those behind it are available. */
static void roll(struct decision *d)
{
    const struct statefulset_facts *f = &d->state->set;
    int64_t least = f->partition > 0 ? f->partition : 0;
    for (int64_t i = f->replicas - 1; i >= least; i--) {
        const struct statefulset_pod *p = replica(d, i);
        if (p && !str_eq(p->revision, f->update_revision) && !p->terminating) {
            add(d, STATEFULSET_DELETE, p->ordinal, p);
            d->plan.counts.current--;
            return;
        }
        if (is_unavailable(p))
            return;
    }
}

struct statefulset_plan statefulset_decide(const struct statefulset_state *s)
{
    struct decision d = { .state = s };
    place_pods(&d);
    find_first_unavailable(&d);
    count_pods(&d);
    if (!s->set.deleted && !look_at_replicas(&d) && !look_at_condemned(&d) && !s->set.on_delete)
        roll(&d);
    complete_update(&d);
    return d.plan;
}
