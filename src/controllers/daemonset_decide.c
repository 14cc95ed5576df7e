/* controllers/daemonset_decide.c - see daemonset_decide.h. */
#include "controllers/daemonset_decide.h"

#include "base/arena_array.h"
#include "base/sort.h"

/* A node that there is, or that pods name, with the pods that are there or have to go there: the oldest first. */
struct place {
    struct str name;
    const struct daemon_node *node; /* NULL: there is none of that name */
    const struct daemon_pod **pods;
    size_t n_pods;
};

struct decision {
    const struct daemonset_state *state;
    struct place *places; /* by ascending name; nodes without pods, too */
    size_t n_places;
    int64_t n_desired;
    struct str *create_on;
    struct daemon_deletion *delete;
    size_t cap_create, cap_delete;
    struct daemonset_plan plan;
};

static void create(struct decision *d, struct str node)
{
    d->create_on = arena_array_more(d->state->arena, d->create_on, d->plan.n_create, &d->cap_create, sizeof(*d->create_on));
    d->create_on[d->plan.n_create++] = node;
}

static void delete(struct decision *d, const struct daemon_pod *p, enum daemon_why why)
{
    d->delete = arena_array_more(d->state->arena, d->delete, d->plan.n_delete, &d->cap_delete, sizeof(*d->delete));
    d->delete[d->plan.n_delete++] = (struct daemon_deletion){ p, why };
}

/* ---- Places ---- */

/* Pods that are on their node come before those that wait for it. */
static int by_node_and_age(const void *x, const void *y)
{
    const struct daemon_pod *a = *(const struct daemon_pod *const *)x, *b = *(const struct daemon_pod *const *)y;
    int order = str_cmp(a->node, b->node);
    if (order)
        return order;
    if (a->scheduled != b->scheduled)
        return a->scheduled ? -1 : 1;
    if (a->created_s != b->created_s)
        return a->created_s < b->created_s ? -1 : 1;
    return str_cmp(a->name, b->name);
}

/* Pods that ended and are being deleted are somebody else's business. */
static size_t sorted_pods(const struct daemonset_state *s, const struct daemon_pod ***ret_pods)
{
    const struct daemon_pod **pods = ARENA_NEW_N(s->arena, const struct daemon_pod *, s->n_pods);
    size_t n = 0;
    for (size_t i = 0; i < s->n_pods; i++) {
        const struct daemon_pod *p = &s->pods[i];
        if (p->node.n && !((p->failed || p->succeeded) && p->deleted))
            pods[n++] = p;
    }
    sort_stable(s->arena, pods, n, sizeof(*pods), by_node_and_age);
    *ret_pods = pods;
    return n;
}

static void find_places(struct decision *d)
{
    const struct daemonset_state *s = d->state;
    const struct daemon_pod **pods;
    size_t n_pods = sorted_pods(s, &pods);
    d->places = ARENA_NEW_N(s->arena, struct place, s->n_nodes + n_pods);
    for (size_t i = 0, k = 0; i < s->n_nodes || k < n_pods;) {
        int order = i == s->n_nodes ? 1 : k == n_pods ? -1 : str_cmp(s->nodes[i].name, pods[k]->node);
        struct place *p = &d->places[d->n_places++];
        p->node = order <= 0 ? &s->nodes[i++] : NULL;
        p->name = p->node ? p->node->name : pods[k]->node;
        p->pods = pods + k;
        while (order >= 0 && k < n_pods && str_eq(pods[k]->node, p->name))
            k++;
        p->n_pods = (size_t)(pods + k - p->pods);
    }
}

static bool is_to_run(const struct place *p)
{
    return p->node && p->node->run;
}

static bool is_updated(const struct decision *d, const struct daemon_pod *p)
{
    const struct daemonset_spec *s = &d->state->spec;
    return (s->hash.n && str_eq(p->hash, s->hash)) || (s->generation.n && str_eq(p->generation, s->generation));
}

static int64_t amount(const struct daemonset_spec *s, struct daemon_amount a, int64_t whole)
{
    if (!s->rolling)
        return 0;
    return a.percent ? (a.n * whole + 99) / 100 : a.n;
}

/* ---- One pod on each node ---- */

static const struct daemon_pod **running_pods(struct decision *d, const struct place *p, size_t *ret_n)
{
    const struct daemonset_state *s = d->state;
    const struct daemon_pod **running = ARENA_NEW_N(s->arena, const struct daemon_pod *, p->n_pods);
    *ret_n = 0;
    for (size_t i = 0; i < p->n_pods; i++) {
        const struct daemon_pod *pod = p->pods[i];
        if (pod->deleted)
            continue;
        if (!pod->failed && !pod->succeeded) {
            running[(*ret_n)++] = pod;
            continue;
        }
        int64_t wait_ms = pod->failed ? s->wait_ms(s->context, p->name) : 0;
        if (!wait_ms)
            delete(d, pod, pod->failed ? DAEMON_FAILED : DAEMON_SUCCEEDED);
        else if (!d->plan.look_again_ms || wait_ms < d->plan.look_again_ms)
            d->plan.look_again_ms = wait_ms;
    }
    return running;
}

/* Two may stay while the old one is ready and the new one not yet available. */
static void settle_surge(struct decision *d, const struct daemon_pod **running, size_t n)
{
    const struct daemon_pod *fresh = NULL, *old = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct daemon_pod **first = str_eq(running[i]->hash, d->state->spec.hash) ? &fresh : &old;
        if (*first)
            delete(d, running[i], DAEMON_TOO_MANY);
        else
            *first = running[i];
    }
    if (fresh && old && (!old->ready || fresh->available))
        delete(d, old, DAEMON_TOO_MANY);
}

static void settle_running(struct decision *d, const struct place *p)
{
    size_t n;
    const struct daemon_pod **running = running_pods(d, p, &n);
    bool surges = amount(&d->state->spec, d->state->spec.max_surge, 1) > 0;
    if (surges && n == 0 && p->node->run)
        create(d, p->name);
    else if (surges && n > 1)
        settle_surge(d, running, n);
    for (size_t i = 1; !surges && i < n; i++)
        delete(d, running[i], DAEMON_TOO_MANY);
}

static void delete_all(struct decision *d, const struct place *p)
{
    for (size_t i = 0; i < p->n_pods; i++)
        if (!p->pods[i]->deleted)
            delete(d, p->pods[i], DAEMON_TOO_MANY);
}

/* Pods that wait for a node that is not there never get one, and nobody else deletes them. */
static void delete_homeless(struct decision *d, const struct place *p)
{
    for (size_t i = 0; i < p->n_pods; i++)
        if (!p->pods[i]->scheduled)
            delete(d, p->pods[i], DAEMON_TOO_MANY);
}

static void manage(struct decision *d)
{
    for (size_t i = 0; i < d->n_places; i++) {
        const struct place *p = &d->places[i];
        if (!p->node)
            delete_homeless(d, p);
        else if (p->node->run && !p->n_pods)
            create(d, p->name);
        else if (p->node->go_on)
            settle_running(d, p);
        else
            delete_all(d, p);
    }
}

/* ---- Rolling updates ---- */

/* The pods of a place that are not being deleted. */
struct pair {
    const struct daemon_pod *fresh, *old;
    bool too_many; /* of either */
};

static struct pair pair_of(const struct decision *d, const struct place *p)
{
    struct pair pair = { 0 };
    for (size_t i = 0; i < p->n_pods; i++) {
        if (p->pods[i]->deleted)
            continue;
        const struct daemon_pod **first = is_updated(d, p->pods[i]) ? &pair.fresh : &pair.old;
        pair.too_many |= *first != NULL;
        *first = p->pods[i];
    }
    return pair;
}

/* Places that nobody wants and where nothing is do not count. */
static bool counts(const struct place *p)
{
    return p->n_pods || is_to_run(p);
}

/* Old pods that are not available go at once; of those that are, as many as may be unavailable beside the others. */
static void roll_in_place(struct decision *d, int64_t max_unavailable)
{
    const struct daemon_pod **candidates = ARENA_NEW_N(d->state->arena, const struct daemon_pod *, d->n_places);
    size_t n_candidates = 0;
    int64_t n_unavailable = 0;
    for (size_t i = 0; i < d->n_places; i++) {
        struct pair pair = pair_of(d, &d->places[i]);
        if (!counts(&d->places[i]))
            continue;
        if (pair.too_many || !pair.old == !pair.fresh) {
            n_unavailable++; /* one pod will be made or deleted */
        } else if (pair.fresh) {
            n_unavailable += !pair.fresh->available;
        } else if (!pair.old->available) {
            delete(d, pair.old, DAEMON_TOO_MANY);
            n_unavailable++;
        } else if (n_unavailable < max_unavailable) {
            candidates[n_candidates++] = pair.old;
        }
    }
    for (size_t i = 0; i < n_candidates && n_unavailable < max_unavailable; i++, n_unavailable++)
        delete(d, candidates[i], DAEMON_TOO_MANY);
}

struct surge {
    struct str *candidates; /* nodes that may get a second pod */
    const struct daemon_pod **leaving; /* old pods on nodes that are not to run any */
    size_t n_candidates, n_leaving;
    int64_t n, n_available;
};

static void surge_over(struct decision *d, struct surge *s, const struct place *p, const struct pair *pair)
{
    bool run = is_to_run(p);
    if (!p->node)
        return; /* left to the garbage collector of pods */
    if (!pair->old->available && !run)
        delete(d, pair->old, DAEMON_TOO_MANY);
    else if (!pair->old->available)
        create(d, p->name);
    else if (!run)
        s->leaving[s->n_leaving++] = pair->old;
    else
        s->candidates[s->n_candidates++] = p->name;
}

static void surge_on(struct decision *d, struct surge *s, const struct place *p)
{
    struct pair pair = pair_of(d, p);
    if (pair.too_many) {
        s->n++;
        return;
    }
    const struct daemon_pod *first = pair.old ? pair.old : pair.fresh;
    s->n_available += first && first->available;
    if (!pair.old)
        return;
    if (!pair.fresh)
        surge_over(d, s, p, &pair);
    else if (pair.fresh->available)
        delete(d, pair.old, DAEMON_TOO_MANY);
    else
        s->n++;
}

/* A second pod beside an old one, on so many nodes at a time; the old one goes when the new one is available. Pods leave nodes
 * that are not to run any only when enough are available elsewhere. */
static void roll_with_surge(struct decision *d, int64_t max_surge)
{
    struct surge s = { ARENA_NEW_N(d->state->arena, struct str, d->n_places),
                       ARENA_NEW_N(d->state->arena, const struct daemon_pod *, d->n_places), 0, 0, 0, 0 };
    for (size_t i = 0; i < d->n_places; i++)
        if (counts(&d->places[i]))
            surge_on(d, &s, &d->places[i]);
    for (size_t i = 0; i < s.n_leaving && s.n_available > d->n_desired; i++, s.n_available--)
        delete(d, s.leaving[i], DAEMON_TOO_MANY);
    for (size_t i = 0; i < s.n_candidates && s.n < max_surge; i++, s.n++)
        create(d, s.candidates[i]);
}

static void roll(struct decision *d)
{
    const struct daemonset_spec *s = &d->state->spec;
    int64_t max_surge = amount(s, s->max_surge, d->n_desired), max_unavailable = amount(s, s->max_unavailable, d->n_desired);
    if (max_surge)
        roll_with_surge(d, max_surge);
    else
        roll_in_place(d, d->n_desired && !max_unavailable ? 1 : max_unavailable);
}

/* ---- Counts ---- */

static void count_place(struct decision *d, const struct place *p)
{
    struct daemonset_counts *c = &d->plan.counts;
    if (!p->node)
        return;
    if (!p->node->run) {
        c->misscheduled += p->n_pods > 0;
        return;
    }
    c->desired++;
    if (!p->n_pods)
        return;
    const struct daemon_pod *oldest = p->pods[0];
    c->current++;
    c->ready += oldest->ready;
    c->available += oldest->ready && oldest->available;
    c->updated += is_updated(d, oldest);
}

static size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

struct daemonset_plan daemonset_decide(const struct daemonset_state *s)
{
    struct decision d = { .state = s };
    find_places(&d);
    for (size_t i = 0; i < d.n_places; i++)
        count_place(&d, &d.places[i]);
    d.n_desired = d.plan.counts.desired;
    if (!s->expects)
        manage(&d);
    if (!s->expects && s->spec.rolling && !d.plan.n_create && !d.plan.n_delete)
        roll(&d);
    d.plan.create_on = d.create_on;
    d.plan.delete = d.delete;
    d.plan.n_create = at_most(d.plan.n_create, DAEMONSET_BURST);
    d.plan.n_delete = at_most(d.plan.n_delete, DAEMONSET_BURST);
    return d.plan;
}
