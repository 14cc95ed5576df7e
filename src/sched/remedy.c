/* sched/remedy.c - see remedy.h: the search, the attempts that verify, and the order. */
#include "sched/remedy_priv.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/sort.h"
#include "sched/attempt.h"

/* ---- Shared ---- */

sym finder_sym(struct finder *f, struct str text)
{
    sym id = sym_intern(f->s->syms, text);
    vec_push(&f->syms, id);
    return id;
}

const char *finder_text(struct finder *f, sym id)
{
    return arena_cstr(f->arena, sym_text(f->s->syms, id));
}

const struct pod *finder_keep(struct finder *f, const struct pod *own_pod)
{
    vec_push(&f->pods, own_pod);
    return own_pod;
}

bool finder_is_late(struct finder *f)
{
    if (!f->late && f->clock && clock_mono_ns(f->clock) >= f->deadline_ns)
        f->late = f->cut = true;
    return f->late;
}

struct what_if_answer finder_ask(struct finder *f, const struct pod *pod)
{
    if (f->n_tried && finder_is_late(f))
        return (struct what_if_answer){ .node = SYM_NONE };
    f->n_tried++;
    return what_if_ask(&f->what_if, pod);
}

bool finder_passes(struct finder *f, const struct node_view *view)
{
    struct arena_mark mark = arena_save(f->c->arena);
    bool passes = framework_filter(f->c, view).verdict.code == V_SUCCESS;
    arena_rewind(f->c->arena, mark);
    return passes;
}

uint64_t finder_failing(struct finder *f, const struct node_view *view)
{
    const struct point_plugins *points = &f->c->profile->points[POINT_FILTER];
    struct arena_mark mark = arena_save(f->c->arena);
    uint64_t failing = 0;
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin_instance *p = points->at[i];
        bool asked = !(f->c->skip_filter >> p->index & 1);
        if (asked && framework_filter_with(p, f->c, view).code != V_SUCCESS)
            failing |= 1ull << p->index;
    }
    arena_rewind(f->c->arena, mark);
    return failing;
}

uint64_t finder_wide_filters(const struct finder *f)
{
    return f->c->profile->plan.general_filter_mask;
}

/* ---- From a proposal to a remedy ---- */

static void describe_port(struct finder *f, const struct host_port *port, struct remedy *r)
{
    r->port = port->port;
    r->protocol = finder_text(f, port->protocol);
    r->host_ip = finder_text(f, port->ip);
}

static void describe_victims(struct finder *f, const struct proposal *p, struct remedy *r)
{
    struct remedy_pod *pods = arena_alloc(f->arena, p->n_victims * sizeof(*pods));
    for (uint32_t i = 0; i < p->n_victims; i++) {
        const struct pod *pod = p->victims[i]->pod;
        pods[i] = (struct remedy_pod){ finder_text(f, pod->meta.ns), arena_cstr(f->arena, str_of(pod->meta.name)),
                                       arena_cstr(f->arena, str_of(pod->meta.uid)), pod->priority };
    }
    r->victims = pods;
    r->n_victims = p->n_victims;
}

static void describe_gates(struct finder *f, struct remedy *r)
{
    const char **gates = arena_alloc(f->arena, f->pod->n_gates * sizeof(*gates));
    for (uint32_t i = 0; i < f->pod->n_gates; i++)
        gates[i] = finder_text(f, f->pod->gates[i]);
    r->gates = gates;
    r->n_gates = f->pod->n_gates;
}

static const char *effect_text(uint8_t effect)
{
    switch ((enum taint_effect)effect) {
    case EFFECT_NO_SCHEDULE:
        return "NoSchedule";
    case EFFECT_NO_EXECUTE:
        return "NoExecute";
    default:
        return NULL;
    }
}

static struct remedy describe(struct finder *f, const struct proposal *p, const char *goes_to, uint32_t n_feasible)
{
    struct remedy r = { .kind = p->kind, .size = p->size, .goes_to = goes_to, .n_feasible = n_feasible,
                        .relaxed = p->relaxed, .index = p->index, .before = p->before, .now = p->now,
                        .amounts = p->amounts, .n_amounts = p->n_amounts, .names = p->names, .n_names = p->n_names,
                        .hint = p->hint, .effect = effect_text(p->effect) };
    r.node = p->row == NODE_NONE ? goes_to : finder_text(f, f->s->cache.rows.at[p->row].name);
    if (p->key != SYM_NONE)
        r.key = finder_text(f, p->key);
    if (p->value != SYM_NONE)
        r.value = finder_text(f, p->value);
    if (p->kind == REMEDY_EVICT)
        describe_victims(f, p, &r);
    if (p->kind == REMEDY_REMOVE_GATES)
        describe_gates(f, &r);
    if (p->kind == REMEDY_ADD_NODE)
        r.new_name = finder_text(f, p->value);
    if (p->kind == REMEDY_RELAX && p->relaxed == RELAX_HOST_PORT)
        describe_port(f, &f->pod->ports[p->index], &r);
    return r;
}

/* ---- Attempts ---- */

static void apply_node(struct finder *f, const struct proposal *p)
{
    arena_reset(&f->scratch);
    struct node changed = changed_node(f, &f->scratch, p);
    const struct node *form = node_of_changed(f->s->syms, &changed);
    if (p->kind == REMEDY_ADD_NODE)
        what_if_new_node(&f->what_if, form);
    else
        what_if_node(&f->what_if, p->row, form);
    node_unref(f->s->syms, form);
}

static void apply(struct finder *f, const struct proposal *p)
{
    switch (p->kind) {
    case REMEDY_EVICT:
        for (uint32_t i = 0; i < p->n_victims; i++)
            what_if_without(&f->what_if, p->victims[i]);
        break;
    case REMEDY_UNCORDON:
    case REMEDY_ADD_LABEL:
    case REMEDY_REMOVE_TAINT:
    case REMEDY_FREE:
    case REMEDY_ADD_NODE:
        apply_node(f, p);
        break;
    case REMEDY_REMOVE_GATES:
    case REMEDY_TOLERATE:
    case REMEDY_RELAX:
    case REMEDY_PROVIDE_CLAIMS:
    case N_REMEDY_KINDS:
        break; /* p->pod is all */
    }
}

/* The name of the node is copied: a new node's does not outlive the attempt. */
static bool try_proposal(struct finder *f, const struct proposal *p, const char **ret_goes_to, uint32_t *ret_n_feasible)
{
    apply(f, p);
    struct what_if_answer answer = finder_ask(f, p->pod ? p->pod : f->pod);
    if (answer.places) {
        *ret_goes_to = finder_text(f, answer.node);
        *ret_n_feasible = answer.n_feasible;
    }
    what_if_undo(&f->what_if);
    return answer.places;
}

static void drop_victim(struct proposal *p, uint32_t i)
{
    for (p->n_victims--; i < p->n_victims; i++)
        p->victims[i] = p->victims[i + 1];
}

/* Until no victim can stay, on whatever node the pod then goes to. */
static void drop_needless_victims(struct finder *f, struct proposal *p, const char **goes_to, uint32_t *n_feasible)
{
    struct placed *all[REMEDY_VICTIMS_MAX];
    for (uint32_t i = 0; p->n_victims > 1 && i < p->n_victims;) {
        memcpy(all, p->victims, p->n_victims * sizeof(*all));
        uint32_t n = p->n_victims;
        drop_victim(p, i);
        if (try_proposal(f, p, goes_to, n_feasible)) {
            i = 0;
            continue;
        }
        memcpy(p->victims, all, n * sizeof(*all));
        p->n_victims = n;
        i++;
    }
}

static bool verify(struct finder *f, struct proposal *p, const char **ret_goes_to, uint32_t *ret_n_feasible)
{
    if (p->kind == REMEDY_RELAX && p->relaxed == RELAX_MAX_SKEW) {
        struct what_if_answer answer;
        if (!settle_max_skew(f, p, &answer))
            return false;
        *ret_goes_to = finder_text(f, answer.node);
        *ret_n_feasible = answer.n_feasible;
        return true;
    }
    if (!try_proposal(f, p, ret_goes_to, ret_n_feasible))
        return false;
    if (p->kind == REMEDY_EVICT)
        drop_needless_victims(f, p, ret_goes_to, ret_n_feasible);
    if (p->kind == REMEDY_EVICT)
        p->size = eviction_size(p);
    return true;
}

/* ---- The best of each kind ---- */

static bool same_amounts(const struct remedy *r, const struct proposal *p)
{
    bool same = r->n_amounts == p->n_amounts;
    for (uint32_t i = 0; same && i < p->n_amounts; i++)
        same = r->amounts[i].missing == p->amounts[i].missing &&
               strcmp(r->amounts[i].resource, p->amounts[i].resource) == 0;
    return same;
}

static bool same_text(const struct finder *f, const char *text, sym id)
{
    return id == SYM_NONE ? !text : text && str_is(sym_text(f->s->syms, id), text);
}

/* New nodes that have to offer the same are alike, whatever else they have. */
static bool same_offer(const struct remedy *r, const struct proposal *p)
{
    bool same = p->n_amounts && r->n_amounts == p->n_amounts;
    for (uint32_t i = 0; same && i < p->n_amounts; i++)
        same = r->amounts[i].wanted == p->amounts[i].wanted &&
               strcmp(r->amounts[i].resource, p->amounts[i].resource) == 0;
    return same;
}

/* Whether the proposal is the remedy's change on another node. */
static bool is_alike(const struct finder *f, const struct remedy *r, const struct proposal *p)
{
    if (r->kind != p->kind || p->row == NODE_NONE || p->kind == REMEDY_EVICT)
        return false;
    if (p->kind == REMEDY_ADD_NODE)
        return same_offer(r, p);
    const char *effect = effect_text(p->effect);
    return same_text(f, r->key, p->key) && same_text(f, r->value, p->value) && r->effect == effect &&
           same_amounts(r, p);
}

static struct remedy *find_alike(struct finder *f, const struct proposal *p)
{
    for (size_t i = 0; i < f->found.n; i++)
        if (is_alike(f, &f->found.at[i], p))
            return &f->found.at[i];
    return NULL;
}

static void add_alike(struct finder *f, struct remedy *r, const char *node)
{
    const char **alike = (const char **)(uintptr_t)r->alike;
    if (!alike)
        alike = arena_alloc(f->arena, REMEDY_ALIKE_MAX * sizeof(*alike));
    alike[r->n_alike++] = node;
    r->alike = alike;
}

/* Remedies of the proposal's kind so far; of RELAX those of its constraint. */
static uint32_t n_found(const struct finder *f, const struct proposal *p)
{
    uint32_t n = 0;
    for (size_t i = 0; i < f->found.n; i++) {
        const struct remedy *r = &f->found.at[i];
        n += r->kind == p->kind && (r->kind != REMEDY_RELAX || r->relaxed == p->relaxed);
    }
    return n;
}

/* A larger maxSkew makes dropping the constraint needless; and one set of victims is found from several nodes. */
static bool is_needless(const struct finder *f, const struct proposal *p)
{
    for (size_t i = 0; i < f->found.n; i++) {
        const struct remedy *r = &f->found.at[i];
        if (p->kind == REMEDY_RELAX && p->relaxed == RELAX_SPREAD && r->kind == REMEDY_RELAX &&
            r->relaxed == RELAX_MAX_SKEW && r->index == p->index)
            return true;
        bool same = p->kind == REMEDY_EVICT && r->kind == REMEDY_EVICT && r->n_victims == p->n_victims;
        for (uint32_t k = 0; same && k < p->n_victims; k++)
            same = strcmp(r->victims[k].uid, p->victims[k]->pod->meta.uid) == 0;
        if (same)
            return true;
    }
    return false;
}

static void take(struct finder *f, struct proposal *p)
{
    struct remedy *alike = find_alike(f, p);
    bool full = alike ? alike->n_alike == REMEDY_ALIKE_MAX : n_found(f, p) == REMEDIES_PER_KIND;
    if (full) {
        f->cut = true;
        return;
    }
    const char *goes_to;
    uint32_t n_feasible;
    if (is_needless(f, p) || !verify(f, p, &goes_to, &n_feasible) || is_needless(f, p) || f->late)
        return;
    if (alike)
        add_alike(f, alike, finder_text(f, f->s->cache.rows.at[p->row].name));
    else
        vec_push(&f->found, describe(f, p, goes_to, n_feasible));
}

struct sortable {
    struct proposal *proposal;
    struct str node;
};

static int by_size_and_node(const void *a, const void *b)
{
    const struct sortable *x = a, *y = b;
    if (x->proposal->size != y->proposal->size)
        return x->proposal->size < y->proposal->size ? -1 : 1;
    return str_cmp(x->node, y->node);
}

static void take_kind(struct finder *f, enum remedy_kind kind)
{
    size_t n = f->proposals[kind].n;
    struct sortable *sorted = arena_alloc(f->arena, n * sizeof(*sorted));
    for (size_t i = 0; i < n; i++) {
        struct proposal *p = &f->proposals[kind].at[i];
        struct str node = p->row == NODE_NONE ? STR("") : sym_text(f->s->syms, f->s->cache.rows.at[p->row].name);
        sorted[i] = (struct sortable){ p, node };
    }
    sort_stable(f->arena, sorted, n, sizeof(*sorted), by_size_and_node);
    uint32_t before = f->n_tried;
    for (size_t i = 0; i < n; i++) {
        if (f->n_tried - before >= REMEDY_TRIES_MAX) {
            f->cut = true;
            return;
        }
        take(f, sorted[i].proposal);
    }
}

/* ---- The search ---- */

static bool may_look_at(const struct attempt *a, sym name)
{
    for (uint32_t i = 0; i < a->narrowed.n; i++)
        if (a->narrowed.at[i] == name)
            return true;
    return !a->narrowed.given;
}

/* Proposals that need the pod's PreFilter. When that refuses the pod, no node can help. */
static void look_at_nodes(struct finder *f)
{
    const struct cache *cache = &f->s->cache;
    struct attempt base;
    if (!attempt_begin(f->s, &base, f->pod, (struct attempt_wants){ 0 }) || !attempt_pre_filter(&base))
        return;
    f->c = &base.cycle;
    node_id *rows = arena_alloc(f->arena, cache->order.n * sizeof(*rows));
    uint32_t n = 0;
    for (node_id row = 0; row < cache->col.n_rows; row++)
        vec_push(&f->lacks, 0);
    find_wanted_labels(f);
    for (size_t i = 0; i < cache->order.n; i++) {
        node_id row = cache->order.at[i];
        if (finder_is_late(f))
            break;
        if (!may_look_at(&base, cache->rows.at[row].name))
            continue;
        rows[n++] = row;
        propose_for_node(f, row);
    }
    if (!f->late)
        propose_evictions(f, rows, n);
    f->c = NULL;
}

static bool has_found(const struct finder *f, enum remedy_kind kind)
{
    for (size_t i = 0; i < f->found.n; i++)
        if (f->found.at[i].kind == kind)
            return true;
    return false;
}

static void search(struct finder *f)
{
    look_at_nodes(f);
    if (finder_is_late(f))
        return;
    propose_tolerations(f);
    propose_relaxations(f);
    propose_claims(f);
    propose_new_nodes(f);
    for (int kind = 0; kind < N_REMEDY_KINDS; kind++)
        take_kind(f, (enum remedy_kind)kind);
    if (has_found(f, REMEDY_ADD_NODE))
        return;
    vec_reset(&f->proposals[REMEDY_ADD_NODE]);
    propose_larger_nodes(f);
    take_kind(f, REMEDY_ADD_NODE);
}

struct ranked {
    struct remedy remedy;
    const char *text;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->remedy.size != y->remedy.size)
        return x->remedy.size < y->remedy.size ? -1 : 1;
    if (x->remedy.kind != y->remedy.kind)
        return x->remedy.kind < y->remedy.kind ? -1 : 1;
    int by_node = strcmp(x->remedy.node, y->remedy.node);
    return by_node ? by_node : strcmp(x->text, y->text);
}

static void hand_out(struct finder *f, struct remedies *ret)
{
    size_t n = f->found.n;
    struct ranked *ranked = arena_alloc(f->arena, n * sizeof(*ranked));
    for (size_t i = 0; i < n; i++)
        ranked[i] = (struct ranked){ f->found.at[i], remedy_text(&f->found.at[i], f->arena) };
    sort_stable(f->arena, ranked, n, sizeof(*ranked), by_rank);
    ret->at = arena_alloc(f->arena, n * sizeof(*ret->at));
    for (size_t i = 0; i < n; i++)
        ret->at[i] = ranked[i].remedy;
    ret->n = (uint32_t)n;
    ret->n_tried = f->n_tried;
    ret->cut = f->cut;
}

static void finder_fini(struct finder *f)
{
    for (size_t i = 0; i < f->pods.n; i++)
        pod_unref(f->s->syms, f->pods.at[i]);
    for (size_t i = 0; i < f->syms.n; i++)
        sym_unref(f->s->syms, f->syms.at[i]);
    for (int kind = 0; kind < N_REMEDY_KINDS; kind++)
        vec_fini(&f->proposals[kind]);
    vec_fini(&f->lower);
    vec_fini(&f->found);
    vec_fini(&f->pods);
    vec_fini(&f->syms);
    vec_fini(&f->lacks);
    vec_fini(&f->wanted);
    arena_fini(&f->scratch);
}

void remedies_find(struct sched *s, const struct pod *pod, struct arena *a, struct remedies *ret_remedies)
{
    remedies_find_until(s, pod, a, NULL, 0, ret_remedies);
}

void remedies_find_until(struct sched *s, const struct pod *pod, struct arena *a, const struct clock *clock,
                         int64_t deadline_ns, struct remedies *ret_remedies)
{
    assert(a != &s->arena);
    *ret_remedies = (struct remedies){ 0 };
    if (!what_if_can(s) || pod->node_name != SYM_EMPTY)
        return;
    struct finder f = { .s = s, .pod = pod, .arena = a, .clock = clock, .deadline_ns = deadline_ns };
    arena_init(&f.scratch);
    what_if_begin(&f.what_if, s);
    struct what_if_answer now = finder_ask(&f, pod);
    if (now.places) {
        ret_remedies->fits = true;
        ret_remedies->n_tried = f.n_tried;
    } else {
        if (now.enters_queue)
            search(&f);
        else if (pod->n_gates) {
            propose_without_gates(&f);
            take_kind(&f, REMEDY_REMOVE_GATES);
        }
        hand_out(&f, ret_remedies);
    }
    what_if_end(&f.what_if);
    finder_fini(&f);
}
