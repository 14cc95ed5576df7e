/* sched/remedy_evict.c - a chapter of remedy.h: proposals that evict a small set of pods on one node, after
 * which the pod fits, there or elsewhere.
 *
 * As preemption does it, but irrespective of priority: all pods of a node leave a copy of it, then each
 * comes back, the most important first, and stays if the pod still fits. Among pods of one priority
 * those that hold the least come back first, so that few have to go. If one pod alone would do that is
 * no more important than the others, it is taken.
 *
 * Pods on one node can also keep the pod off other nodes (affinity, spreading). So besides the node
 * itself a few nodes are looked at that only such filters close.
 *
 * Sets that are found here need not be the smallest; that no member is needless is made sure by
 * attempts (remedy.c). */
#include "sched/remedy_priv.h"

#include "base/sort.h"
#include "sched/nominate.h"
#include "sched/sched_priv.h"

enum {
    ELSEWHERE_MAX = 6,
    PODS_MAX = 1024, /* on one node; with more, the steps below would take their square */
};

struct evictable {
    struct placed *placed;
    int64_t held; /* of what the node is short of */
};

/* One node whose pods leave, and where the pod is to fit. */
struct trial {
    struct finder *f;
    struct node_view *view;         /* the copy that pods leave */
    const struct node_view *target; /* `view`, or another node as it is */
    struct evictable *pods;
    uint32_t n_pods;
    struct placed *victims[REMEDY_VICTIMS_MAX];
    uint32_t n_victims;
};

int64_t eviction_size(const struct proposal *p)
{
    int64_t highest = INT32_MIN;
    for (uint32_t i = 0; i < p->n_victims; i++)
        highest = p->victims[i]->pod->priority > highest ? p->victims[i]->pod->priority : highest;
    return SIZE_OF(SIZE_EVICTION, (highest - INT32_MIN) * 256 + p->n_victims);
}

/* Its owner would put it back on the same node. */
static bool comes_back(const struct finder *f, const struct pod *pod)
{
    if (!pod->controller)
        return false;
    struct str kind = sym_text(f->s->syms, pod->controller->kind);
    return str_is(kind, "DaemonSet") || str_is(kind, "Node");
}

static int64_t share(int64_t part, int64_t of)
{
    return part <= 0 ? 0 : part >= of ? MILLIONTHS : (int64_t)((__int128)part * MILLIONTHS / of);
}

/* How much the pod holds of what the new one wants. */
static int64_t held_by(const struct finder *f, const struct pod *pod)
{
    const struct amounts *want = f->pod->fit, *has = pod->requested;
    int64_t held = want->milli_cpu > 0 ? share(has->milli_cpu, want->milli_cpu) : 0;
    held += want->memory > 0 ? share(has->memory, want->memory) : 0;
    held += want->ephemeral_storage > 0 ? share(has->ephemeral_storage, want->ephemeral_storage) : 0;
    for (uint32_t i = 0; i < want->n_scalars; i++)
        if (want->scalars[i].amount > 0)
            held += share(amounts_scalar(has, want->scalars[i].name), want->scalars[i].amount);
    return held;
}

/* The most important first; of equals the one that holds less; then by name, so that the answer does
 * not depend on the order in which pods came. */
static int by_importance(const void *a, const void *b)
{
    const struct evictable *x = a, *y = b;
    const struct pod *p = x->placed->pod, *q = y->placed->pod;
    if (p->priority != q->priority)
        return p->priority > q->priority ? -1 : 1;
    if (x->held != y->held)
        return x->held < y->held ? -1 : 1;
    int by_name = strcmp(p->meta.name, q->meta.name);
    return by_name ? by_name : strcmp(p->meta.uid, q->meta.uid);
}

static void list_evictable(struct trial *t, node_id row)
{
    struct finder *f = t->f;
    const struct node_row *r = &f->s->cache.rows.at[row];
    t->pods = arena_alloc(&f->scratch, r->pods.n * sizeof(*t->pods));
    for (size_t i = 0; i < r->pods.n; i++)
        if (!comes_back(f, r->pods.at[i]->pod))
            t->pods[t->n_pods++] = (struct evictable){ r->pods.at[i], held_by(f, r->pods.at[i]->pod) };
    sort_stable(&f->scratch, t->pods, t->n_pods, sizeof(*t->pods), by_importance);
}

static bool fits(struct trial *t)
{
    return finder_passes(t->f, t->target);
}

/* Puts back who may stay. False: too many have to go. */
static bool reprieve(struct trial *t)
{
    struct cycle *c = t->f->c;
    for (uint32_t i = 0; i < t->n_pods; i++) {
        node_view_add(c, t->view, t->pods[i].placed->pod);
        if (fits(t))
            continue;
        node_view_remove(c, t->view, t->pods[i].placed->pod);
        if (t->n_victims == REMEDY_VICTIMS_MAX)
            return false;
        t->victims[t->n_victims++] = t->pods[i].placed;
    }
    return true;
}

static void propose(struct trial *t, node_id row)
{
    struct finder *f = t->f;
    struct proposal p = { .kind = REMEDY_EVICT, .row = row, .key = SYM_NONE, .value = SYM_NONE,
                          .n_victims = t->n_victims };
    p.victims = arena_alloc(f->arena, t->n_victims * sizeof(*p.victims));
    memcpy(p.victims, t->victims, t->n_victims * sizeof(*p.victims));
    p.size = eviction_size(&p);
    finder_propose(f, &p);
}

/* All pods are back but the victims: is there one pod, not more important than they are, that would do
 * alone? The least important such pod is proposed too. */
static void propose_single(struct trial *t, node_id row)
{
    struct cycle *c = t->f->c;
    if (t->n_victims < 2)
        return;
    for (uint32_t i = 0; i < t->n_victims; i++)
        node_view_add(c, t->view, t->victims[i]->pod);
    for (uint32_t i = t->n_pods; i-- > 0;) {
        struct placed *one = t->pods[i].placed;
        if (one->pod->priority > t->victims[0]->pod->priority)
            return;
        node_view_remove(c, t->view, one->pod);
        bool enough = fits(t);
        node_view_add(c, t->view, one->pod);
        if (enough) {
            t->victims[0] = one;
            t->n_victims = 1;
            propose(t, row);
            return;
        }
    }
}

/* Victims on the row so that the pod fits on the target; NULL: on the row itself. */
static void find_victims(struct finder *f, node_id row, const struct node_view *target)
{
    struct cycle *c = f->c;
    struct trial t = { .f = f };
    arena_reset(&f->scratch);
    if (f->s->cache.rows.at[row].pods.n > PODS_MAX) {
        f->cut = true;
        return;
    }
    list_evictable(&t, row);
    if (t.n_pods == 0)
        return;
    struct arena_mark mark = arena_save(c->arena);
    void **before = c->state;
    struct node_view plain = node_view_of(c->cache, row);
    c->state = cycle_clone_state(c);
    t.view = node_view_clone(c, &plain);
    t.target = target ? target : t.view;
    for (uint32_t i = 0; i < t.n_pods; i++)
        node_view_remove(c, t.view, t.pods[i].placed->pod);
    if (fits(&t)) {
        bool found = reprieve(&t);
        f->cut |= !found;
        if (found && t.n_victims) {
            propose(&t, row);
            propose_single(&t, row);
        }
    }
    c->state = before;
    arena_rewind(c->arena, mark);
}

struct near {
    node_id row;
    int64_t lack;
};

static int by_lack(const void *a, const void *b)
{
    const struct near *x = a, *y = b;
    return (x->lack > y->lack) - (x->lack < y->lack);
}

/* Nodes that only filters close which look beyond the node, spread over the order; without nominated
 * pods, for whom the copies of the plugins' state have no place. */
static uint32_t find_nearly_open(struct finder *f, const node_id *rows, uint32_t n_rows, node_id *ret_rows)
{
    uint64_t wide = finder_wide_filters(f);
    node_id *open = arena_alloc(f->arena, n_rows * sizeof(*open));
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_rows; i++) {
        struct node_view view = node_view_of(f->c->cache, rows[i]);
        uint64_t failing = finder_failing(f, &view);
        if (failing && !(failing & ~wide) && !nominator_on(&f->s->nominator, view.node->name))
            open[n++] = rows[i];
    }
    uint32_t n_taken = n < ELSEWHERE_MAX ? n : ELSEWHERE_MAX;
    for (uint32_t i = 0; i < n_taken; i++)
        ret_rows[i] = open[(uint64_t)i * n / n_taken];
    return n_taken;
}

void propose_evictions(struct finder *f, const node_id *rows, uint32_t n_rows)
{
    struct near *near = arena_alloc(f->arena, n_rows * sizeof(*near));
    for (uint32_t i = 0; i < n_rows; i++)
        near[i] = (struct near){ rows[i], f->lacks.at[rows[i]] };
    sort_stable(f->arena, near, n_rows, sizeof(*near), by_lack);
    node_id open[ELSEWHERE_MAX];
    uint32_t n_open = find_nearly_open(f, rows, n_rows, open);
    f->cut |= n_rows > REMEDY_EVICT_NODES_MAX;
    for (uint32_t i = 0; i < n_rows && i < REMEDY_EVICT_NODES_MAX; i++) {
        find_victims(f, near[i].row, NULL);
        for (uint32_t k = 0; k < n_open; k++) {
            struct node_view target = node_view_of(f->c->cache, open[k]);
            if (open[k] != near[i].row)
                find_victims(f, near[i].row, &target);
        }
    }
}
