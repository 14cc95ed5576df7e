/* sched/preempt.c - see preempt.h: victims on one node, then the nodes, then the choice between them. */
#include "sched/preempt.h"

#include "base/mem.h"
#include "base/sort.h"
#include "sched/era.h"
#include "sched/extender.h"
#include "sched/fit_error.h"
#include "sched/memo.h"
#include "sched/sched_priv.h"

#define NOT_HELPFUL "Preemption is not helpful for scheduling"
#define NO_CANDIDATE "no candidate node for preemption"
#define NO_VICTIMS "No preemption victims found for incoming pod"

/* ---- Who may preempt ---- */

struct verdict preempt_eligible(struct cycle *c)
{
    const struct pod *pod = c->pod;
    if (pod->flags & POD_NEVER_PREEMPTS)
        return verdict_text(V_UNSCHEDULABLE, "not eligible due to preemptionPolicy=Never.");
    node_id id = pod->nominated_node == SYM_EMPTY ? NODE_NONE : cache_listed_node(c->cache, pod->nominated_node);
    if (id == NODE_NONE)
        return PASS;
    const struct filter_status *status = c->statuses ? &c->statuses[id] : &c->absent_status;
    if (status->verdict.code == V_SUCCESS)
        status = &c->absent_status;
    if (status->verdict.code == V_UNRESOLVABLE)
        return PASS; /* nothing that ends there can help */
    struct node_view view = node_view_of(c->cache, id);
    for (uint32_t i = 0; i < view.n_pods; i++) {
        const struct pod *other = node_view_pod(&view, i);
        bool leaving = other->flags & POD_TERMINATING &&
                       (other->flags & POD_DISRUPTED_BY_SCHEDULER || c->profile->era->waits_for_any_leaving);
        if (leaving && other->priority < pod->priority)
            return verdict_text(V_UNSCHEDULABLE, "not eligible due to a terminating pod on the nominated node.");
    }
    return PASS;
}

/* ---- Victims on one node ---- */

static int64_t start_of(const struct cycle *c, const struct pod *pod)
{
    return pod->flags & POD_HAS_START_TIME ? pod->start_time_s : c->now_s;
}

struct aged {
    const struct pod *pod;
    int64_t start_s;
};

/* Higher priority first, then the older one. */
static int by_importance(const void *a, const void *b)
{
    const struct aged *x = a, *y = b;
    if (x->pod->priority != y->pod->priority)
        return x->pod->priority > y->pod->priority ? -1 : 1;
    return (x->start_s > y->start_s) - (x->start_s < y->start_s);
}

static void sort_by_importance(struct cycle *c, const struct pod **pods, uint32_t n)
{
    struct aged *aged = arena_alloc(c->arena, n * sizeof(*aged));
    for (uint32_t i = 0; i < n; i++)
        aged[i] = (struct aged){ pods[i], start_of(c, pods[i]) };
    sort_stable(c->arena, aged, n, sizeof(*aged), by_importance);
    for (uint32_t i = 0; i < n; i++)
        pods[i] = aged[i].pod;
}

static bool protects(const struct cycle *c, const struct pdb *budget, const struct pod *pod)
{
    return budget->meta.ns == pod->meta.ns && !matcher_is_empty(&budget->selector) &&
           matcher_matches(&budget->selector, pod->meta.labels, c->syms) && !pdb_has_disrupted(budget, pod->meta.name);
}

/* Pods whose eviction would break a disruption budget, given that those before them are evicted too. */
static void mark_violating(struct cycle *c, const struct pod *const *pods, uint32_t n, bool *violating)
{
    struct object_list budgets = objects_all(c->objects, OBJECT_BUDGET);
    int64_t *allowed = arena_alloc(c->arena, budgets.n * sizeof(*allowed));
    for (uint32_t i = 0; i < budgets.n; i++)
        allowed[i] = ((const struct pdb *)budgets.at[i])->disruptions_allowed;
    for (uint32_t i = 0; i < n; i++) {
        violating[i] = false;
        if (pods[i]->meta.labels.n == 0)
            continue;
        for (uint32_t k = 0; k < budgets.n; k++)
            if (protects(c, budgets.at[k], pods[i]))
                violating[i] |= --allowed[k] < 0;
    }
}

struct dry_run {
    struct cycle *c;
    struct node_view *view; /* the copy */
    struct candidate found;
};

/* Puts the pod back; if the preemptor then does not fit any more, it goes for good. */
static bool reprieve(struct dry_run *d, const struct pod *pod)
{
    node_view_add(d->c, d->view, pod);
    if (framework_filter(d->c, d->view).verdict.code == V_SUCCESS)
        return true;
    node_view_remove(d->c, d->view, pod);
    d->found.victims[d->found.n_victims++] = pod;
    return false;
}

static uint32_t lower_priority_pods(struct cycle *c, const struct node_view *view, const struct pod **ret_pods)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < view->n_pods; i++)
        if (node_view_pod(view, i)->priority < c->pod->priority)
            ret_pods[n++] = node_view_pod(view, i);
    return n;
}

static void reprieve_all(struct dry_run *d, const struct pod **potential, uint32_t n)
{
    struct cycle *c = d->c;
    sort_by_importance(c, potential, n);
    bool *violating = arena_alloc(c->arena, n * sizeof(*violating));
    mark_violating(c, potential, n, violating);
    d->found.victims = arena_alloc(c->arena, n * sizeof(*d->found.victims));
    uint32_t n_violating = 0;
    for (uint32_t i = 0; i < n; i++) {
        n_violating += violating[i];
        if (violating[i] && !reprieve(d, potential[i]))
            d->found.n_violations++;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!violating[i])
            reprieve(d, potential[i]);
    if (n_violating && n_violating < n)
        sort_by_importance(c, d->found.victims, d->found.n_victims);
}

/* Fills d->found, or says why evicting does not help there. Runs on a copy of the node and of the
 * plugins' state. */
static struct filter_status select_victims(struct dry_run *d, const struct node_view *plain)
{
    struct cycle *c = d->c;
    const struct pod **potential = arena_alloc(c->arena, plain->n_pods * sizeof(*potential));
    uint32_t n = lower_priority_pods(c, plain, potential);
    if (n == 0)
        return (struct filter_status){ verdict_text(V_UNRESOLVABLE, NO_VICTIMS), NULL };
    d->view = node_view_clone(c, plain);
    for (uint32_t i = 0; i < n; i++)
        node_view_remove(c, d->view, potential[i]);
    struct filter_status status = framework_filter(c, d->view);
    if (status.verdict.code == V_ERROR)
        status.verdict.text = framework_filter_error(c, &status);
    if (status.verdict.code != V_SUCCESS)
        return status;
    reprieve_all(d, potential, n);
    if (d->found.n_victims == 0)
        return (struct filter_status){ verdict_printf(c, V_ERROR, "expected at least one victim pod on node \"%s\"",
                                                      plain->node->meta.name),
                                       NULL };
    return (struct filter_status){ PASS, NULL };
}

static struct filter_status dry_run_afresh(struct cycle *c, node_id id, struct candidate *ret_candidate)
{
    struct dry_run d = { .c = c, .found = { .node = id } };
    struct node_view plain = node_view_of(c->cache, id);
    void **before = c->state;
    struct arena_mark mark = arena_save(c->arena);
    c->state = cycle_clone_state(c);
    struct filter_status status = select_victims(&d, &plain);
    c->state = before;
    if (status.verdict.code == V_SUCCESS)
        *ret_candidate = d.found;
    else if (!status.verdict.text && !status.n_several)
        arena_rewind(c->arena, mark);
    return status;
}

/* Pods without a start time rank behind all that have one, from the moment on when the last of those has started. */
static int64_t ranks_hold_from_s(struct cycle *c, node_id id)
{
    struct node_view view = node_view_of(c->cache, id);
    int64_t latest_s = INT64_MIN;
    bool some_start_now = false;
    for (uint32_t i = 0; i < view.n_pods; i++) {
        const struct pod *pod = node_view_pod(&view, i);
        bool has_start = pod->flags & POD_HAS_START_TIME;
        some_start_now |= !has_start;
        if (has_start && pod->start_time_s > latest_s)
            latest_s = pod->start_time_s;
    }
    return some_start_now ? latest_s : INT64_MIN;
}

static void remember(struct cycle *c, struct memo_row *row, const struct memo_version *now,
                     const struct filter_status *status, const struct candidate *found)
{
    bool passed = status->verdict.code == V_SUCCESS;
    int64_t from_s = passed ? ranks_hold_from_s(c, found->node) : INT64_MIN;
    if (c->now_s < from_s)
        return;
    row->victims_from_s = from_s;
    row->dry_run = *status;
    row->victims_for = *now;
    row->n_victims = passed ? found->n_victims : 0;
    row->n_violations = passed ? found->n_violations : 0;
    if (!passed)
        return;
    row->victims = mem_realloc(row->victims, found->n_victims * sizeof(*row->victims));
    memcpy(row->victims, found->victims, found->n_victims * sizeof(*row->victims));
}

static struct filter_status dry_run_node(struct cycle *c, const struct memo_view *memo, node_id id,
                                         struct candidate *ret_candidate)
{
    struct memo_version now;
    bool keep = memo_version_of(memo, c, id, &now);
    if (!keep)
        return dry_run_afresh(c, id, ret_candidate);
    now.budgets = objects_version(c->objects, OBJECT_BUDGET);
    struct memo_row *row = &memo->rows[id];
    if (!memo_holds(&row->victims_for, &now) || c->now_s < row->victims_from_s) {
        struct filter_status status = dry_run_afresh(c, id, ret_candidate);
        if (status.verdict.code != V_ERROR && !status.n_several) /* those are in the attempt's arena */
            remember(c, row, &now, &status, ret_candidate);
        return status;
    }
    *ret_candidate = (struct candidate){ id, row->victims, row->n_victims, row->n_violations };
    return row->dry_run;
}

/* ---- Candidate nodes ---- */

/* Nodes whose refusal evicting might end. */
static uint32_t potential_nodes(struct cycle *c, node_id *ret_nodes)
{
    uint32_t n = 0;
    for (size_t i = 0; i < c->cache->order.n; i++) {
        node_id id = c->cache->order.at[i];
        uint8_t code = c->statuses ? c->statuses[id].verdict.code : V_SUCCESS;
        if (code == V_SUCCESS)
            code = c->absent_status.verdict.code;
        if (code == V_UNSCHEDULABLE)
            ret_nodes[n++] = id;
    }
    return n;
}

static uint32_t candidates_wanted(struct preemption_limits limits, uint32_t n_potential)
{
    int64_t wanted = (int64_t)n_potential * limits.percentage / 100;
    if (wanted < limits.absolute)
        wanted = limits.absolute;
    return wanted > n_potential ? n_potential : (uint32_t)wanted;
}

/* Tries the nodes in turn from a random one on, until enough candidates are found. `plain` ones without
 * violations come first in the result. */
static struct filter_status try_nodes(struct cycle *c, const node_id *nodes, uint32_t n, uint32_t wanted,
                                      struct preemption *p)
{
    struct candidate *violating = arena_alloc(c->arena, wanted * sizeof(*violating));
    p->candidates = arena_alloc(c->arena, 2 * (size_t)wanted * sizeof(*p->candidates));
    p->dry_run = ARENA_NEW_N(c->arena, struct filter_status, c->cache->col.n_rows);
    struct filter_status error = { PASS, NULL };
    struct memo_view memo = memos_view(c->sched->memos, c);
    uint32_t offset = (uint32_t)rand_below(c->rand, n), n_violating = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct candidate found = { .node = NODE_NONE };
        node_id id = nodes[(offset + i) % n];
        struct filter_status status = dry_run_node(c, &memo, id, &found);
        if (status.verdict.code == V_ERROR)
            error = status;
        if (status.verdict.code != V_SUCCESS)
            p->dry_run[id] = status;
        else if (found.n_violations == 0 && p->n_candidates < wanted)
            p->candidates[p->n_candidates++] = found;
        else if (found.n_violations && n_violating < wanted)
            violating[n_violating++] = found;
        if (p->n_candidates && p->n_candidates + n_violating >= wanted)
            break;
    }
    memcpy(p->candidates + p->n_candidates, violating, n_violating * sizeof(*violating));
    p->n_candidates += n_violating;
    return error;
}

/* ---- The choice ---- */

/* Larger is better in all of them. */
static int64_t fewest_violations(struct cycle *c, const struct candidate *k)
{
    (void)c;
    return (int64_t)-(uint64_t)k->n_violations;
}

static int64_t lowest_top_priority(struct cycle *c, const struct candidate *k)
{
    (void)c;
    return -(int64_t)k->victims[0]->priority;
}

static int64_t smallest_sum(struct cycle *c, const struct candidate *k)
{
    (void)c;
    int64_t sum = 0;
    for (uint32_t i = 0; i < k->n_victims; i++)
        sum += (int64_t)k->victims[i]->priority + INT32_MAX + 1;
    return -sum;
}

static int64_t fewest_victims(struct cycle *c, const struct candidate *k)
{
    (void)c;
    return -(int64_t)k->n_victims;
}

/* Of the victims of the highest priority the one that runs longest: the later that began, the better. */
static int64_t latest_start(struct cycle *c, const struct candidate *k)
{
    int64_t earliest = INT64_MAX;
    int32_t highest = INT32_MIN;
    for (uint32_t i = 0; i < k->n_victims; i++) {
        int64_t start_s = start_of(c, k->victims[i]);
        if (k->victims[i]->priority > highest || (k->victims[i]->priority == highest && start_s < earliest)) {
            highest = k->victims[i]->priority;
            earliest = start_s;
        }
    }
    return earliest;
}

uint32_t preempt_ties(struct cycle *c, const struct preemption *p, const struct candidate **ret_ties)
{
    static int64_t (*const criteria[])(struct cycle *, const struct candidate *) = {
        fewest_violations, lowest_top_priority, smallest_sum, fewest_victims, latest_start,
    };
    uint32_t n = p->n_candidates;
    for (uint32_t i = 0; i < n; i++)
        ret_ties[i] = &p->candidates[i];
    for (size_t k = 0; k < sizeof(criteria) / sizeof(criteria[0]) && n > 1; k++) {
        int64_t best = INT64_MIN;
        for (uint32_t i = 0; i < n; i++) {
            int64_t value = criteria[k](c, ret_ties[i]);
            best = value > best ? value : best;
        }
        uint32_t n_left = 0;
        for (uint32_t i = 0; i < n; i++)
            if (criteria[k](c, ret_ties[i]) == best)
                ret_ties[n_left++] = ret_ties[i];
        n = n_left;
    }
    return n;
}

/* "0/N nodes are available: ...": what the dry runs said; a node that was not tried cannot be helped. */
static struct verdict nothing_helps(struct cycle *c, const struct filter_status *dry_run)
{
    struct filter_status before = c->absent_status;
    c->absent_status = (struct filter_status){ verdict_text(V_UNRESOLVABLE, NOT_HELPFUL), NULL };
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    fit_error_add(c, dry_run, &text);
    c->absent_status = before;
    struct verdict v = verdict_text(V_UNSCHEDULABLE, arena_cstr(c->arena, strbuf_str(&text)));
    strbuf_fini(&text);
    return v;
}

struct verdict preempt_find(struct cycle *c, struct preemption_limits limits, struct preemption *ret)
{
    assert(c->profile);
    *ret = (struct preemption){ 0 };
    node_id *nodes = arena_alloc(c->arena, c->cache->order.n * sizeof(*nodes));
    uint32_t n = potential_nodes(c, nodes);
    ret->n_potential = n;
    ret->keeps_nomination = c->profile->era->keeps_nomination && (n > 0 || c->pod->nominated_node == SYM_EMPTY);
    if (n == 0)
        return nothing_helps(c, NULL);
    struct filter_status error = try_nodes(c, nodes, n, candidates_wanted(limits, n), ret);
    if (ret->n_candidates == 0)
        return error.verdict.code == V_ERROR ? error.verdict : nothing_helps(c, ret->dry_run);
    struct verdict v = extenders_preempt(c, ret);
    if (v.code != V_SUCCESS)
        return v;
    if (ret->n_candidates == 0) {
        ret->keeps_nomination = true;
        return verdict_text(V_UNSCHEDULABLE, NO_CANDIDATE);
    }
    const struct candidate **ties = arena_alloc(c->arena, ret->n_candidates * sizeof(*ties));
    preempt_ties(c, ret, ties);
    ret->chosen = ties[0];
    return PASS;
}
