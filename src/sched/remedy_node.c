/* sched/remedy_node.c - a chapter of remedy.h: proposals that change a node (its taints, its labels, what is free
 * on it), and new nodes. */
#include "sched/remedy_priv.h"

#include "base/sort.h"
#include "sched/nominate.h"
#include "sched/sched_priv.h"
#include "sched/topology.h"

#define HOSTNAME "kubernetes.io/hostname"
#define CORDON_TAINT "node.kubernetes.io/unschedulable"
#define STATE_TAINTS "node.kubernetes.io/" /* taints that say how a node fares, not what it is */

void finder_propose(struct finder *f, const struct proposal *p)
{
    if (f->proposals[p->kind].n == REMEDY_PROPOSALS_MAX)
        f->cut = true;
    else
        vec_push(&f->proposals[p->kind], *p);
}

static const struct node *node_of(const struct finder *f, node_id row)
{
    return f->s->cache.rows.at[row].node;
}

static bool passes_when_changed(struct finder *f, const struct proposal *p)
{
    struct node changed = changed_node(f, &f->scratch, p);
    struct node_view view = node_view_of(&f->s->cache, p->row);
    view.node = &changed;
    return finder_passes(f, &view);
}

/* ---- Changed nodes ---- */

static bool is_cordon(const struct finder *f, const struct taint_form *t)
{
    return str_is(sym_text(f->s->syms, t->key), CORDON_TAINT);
}

static bool is_state(const struct finder *f, const struct taint_form *t)
{
    return str_starts(sym_text(f->s->syms, t->key), STR(STATE_TAINTS));
}

enum taints_kept { ALL_BUT_ONE, ALL_BUT_CORDON, ALL_BUT_STATE };

static void change_taints(const struct finder *f, struct arena *a, struct node *node, enum taints_kept kept,
                          uint32_t one)
{
    struct taint_form *taints = arena_alloc(a, node->n_taints * sizeof(*taints));
    uint32_t n = 0;
    for (uint32_t i = 0; i < node->n_taints; i++) {
        bool goes = kept == ALL_BUT_ONE      ? i == one
                    : kept == ALL_BUT_CORDON ? is_cordon(f, &node->taints[i])
                                             : is_state(f, &node->taints[i]);
        if (!goes)
            taints[n++] = node->taints[i];
    }
    node->taints = taints;
    node->n_taints = n;
}

static void set_label(struct arena *a, struct node *node, sym key, sym value)
{
    struct label_set old = node->meta.labels;
    struct label_pair *at = arena_alloc(a, (old.n + 1) * sizeof(*at));
    uint32_t n = 0, i = 0;
    while (i < old.n && old.at[i].key < key)
        at[n++] = old.at[i++];
    at[n++] = (struct label_pair){ key, value };
    if (i < old.n && old.at[i].key == key)
        i++;
    while (i < old.n)
        at[n++] = old.at[i++];
    node->meta.labels = (struct label_set){ at, n };
}

static void raise_scalar(const struct finder *f, struct arena *a, struct amounts *amounts, const char *name, int64_t by)
{
    struct scalar_amount *scalars = arena_alloc(a, (amounts->n_scalars + 1) * sizeof(*scalars));
    uint32_t i = 0;
    for (; i < amounts->n_scalars; i++)
        scalars[i] = amounts->scalars[i];
    amounts->scalars = scalars;
    for (i = 0; i < amounts->n_scalars; i++)
        if (str_is(sym_text(f->s->syms, scalars[i].name), name)) {
            scalars[i].amount += by;
            return;
        }
    scalars[amounts->n_scalars++] = (struct scalar_amount){ sym_find(f->s->syms, str_of(name)), by };
}

/* What becomes free is as good as more of it. */
static void raise(const struct finder *f, struct arena *a, struct amounts *amounts, const struct remedy_amount *by)
{
    if (strcmp(by->resource, "cpu") == 0)
        amounts->milli_cpu += by->missing;
    else if (strcmp(by->resource, "memory") == 0)
        amounts->memory += by->missing;
    else if (strcmp(by->resource, "ephemeral-storage") == 0)
        amounts->ephemeral_storage += by->missing;
    else if (strcmp(by->resource, "pods") == 0)
        amounts->pods = (int32_t)(amounts->pods + by->missing);
    else
        raise_scalar(f, a, amounts, by->resource, by->missing);
}

static void take(const struct finder *f, struct arena *a, struct amounts *from, const struct pod *pod)
{
    const struct amounts *by = pod->requested;
    from->milli_cpu = account(from->milli_cpu, by->milli_cpu, false);
    from->memory = account(from->memory, by->memory, false);
    from->ephemeral_storage = account(from->ephemeral_storage, by->ephemeral_storage, false);
    from->pods -= from->pods > 0;
    for (uint32_t i = 0; i < by->n_scalars; i++)
        raise_scalar(f, a, from, sym_text(f->s->syms, by->scalars[i].name).p, -by->scalars[i].amount);
}

/* A new node gets the pods of DaemonSets that the one it is like has, before all others: what they take is not there. */
static void take_daemons(const struct finder *f, struct arena *a, struct node *node, node_id row)
{
    const struct node_row *like = &f->s->cache.rows.at[row];
    for (size_t i = 0; i < like->pods.n; i++) {
        const struct pod *pod = like->pods.at[i]->pod;
        if (pod->controller && str_is(sym_text(f->s->syms, pod->controller->kind), "DaemonSet"))
            take(f, a, &node->allocatable, pod);
    }
}

static struct node node_like(const struct finder *f, struct arena *a, const struct node *node, sym name)
{
    struct node like = *node;
    sym hostname = sym_find(f->s->syms, STR(HOSTNAME));
    like.name = name;
    like.meta.name = like.meta.uid = sym_text(f->s->syms, name).p;
    like.flags &= ~(uint32_t)NODE_UNSCHEDULABLE;
    like.n_images = 0;
    change_taints(f, a, &like, ALL_BUT_STATE, 0);
    if (hostname != SYM_NONE && label_set_get(node->meta.labels, hostname) != SYM_NONE)
        set_label(a, &like, hostname, name);
    return like;
}

struct node changed_node(const struct finder *f, struct arena *a, const struct proposal *p)
{
    struct node node = *node_of(f, p->row);
    switch (p->kind) {
    case REMEDY_UNCORDON:
        node.flags &= ~(uint32_t)NODE_UNSCHEDULABLE;
        change_taints(f, a, &node, ALL_BUT_CORDON, 0);
        break;
    case REMEDY_REMOVE_TAINT:
        change_taints(f, a, &node, ALL_BUT_ONE, p->index);
        break;
    case REMEDY_ADD_LABEL:
        set_label(a, &node, p->key, p->value);
        break;
    case REMEDY_FREE:
        for (uint32_t i = 0; i < p->n_amounts; i++)
            raise(f, a, &node.allocatable, &p->amounts[i]);
        break;
    case REMEDY_ADD_NODE:
        node = node_like(f, a, node_of(f, p->row), p->value);
        take_daemons(f, a, &node, p->row);
        for (uint32_t i = 0; i < p->n_amounts; i++)
            raise(f, a, &node.allocatable, &p->amounts[i]);
        break;
    default:
        break;
    }
    return node;
}

struct node remedy_node_like(struct sched *s, struct arena *a, node_id row, sym name)
{
    struct finder f = { .s = s };
    return changed_node(&f, a, &(struct proposal){ .kind = REMEDY_ADD_NODE, .row = row, .value = name });
}

/* ---- Cordon and taints ---- */

static void propose_uncordon(struct finder *f, node_id row)
{
    if (!(node_of(f, row)->flags & NODE_UNSCHEDULABLE))
        return;
    struct proposal p = { .kind = REMEDY_UNCORDON, .row = row, .key = SYM_NONE, .value = SYM_NONE,
                          .size = SIZE_OF(SIZE_SWITCH, REMEDY_UNCORDON) };
    if (passes_when_changed(f, &p))
        finder_propose(f, &p);
}

static void propose_taints(struct finder *f, node_id row)
{
    const struct node *node = node_of(f, row);
    for (uint32_t i = 0; i < node->n_taints; i++) {
        const struct taint_form *t = &node->taints[i];
        bool hard = t->effect == EFFECT_NO_SCHEDULE || t->effect == EFFECT_NO_EXECUTE;
        if (!hard || (is_cordon(f, t) && node->flags & NODE_UNSCHEDULABLE))
            continue;
        struct proposal p = { .kind = REMEDY_REMOVE_TAINT, .row = row, .index = i, .key = t->key, .value = t->value,
                              .effect = t->effect, .size = SIZE_OF(SIZE_SWITCH, REMEDY_REMOVE_TAINT) };
        if (passes_when_changed(f, &p))
            finder_propose(f, &p);
    }
}

/* ---- Tolerations: of the taints that would do if they were gone ---- */

static void propose_toleration(struct finder *f, sym key, sym value, uint8_t effect)
{
    for (size_t i = 0; i < f->proposals[REMEDY_TOLERATE].n; i++) {
        const struct proposal *p = &f->proposals[REMEDY_TOLERATE].at[i];
        if (p->key == key && p->value == value && p->effect == effect)
            return;
    }
    if (f->proposals[REMEDY_TOLERATE].n == REMEDY_TOLERATIONS_MAX || f->pod->n_tolerations == UINT16_MAX) {
        f->cut = true;
        return;
    }
    struct pod changed = *f->pod;
    arena_reset(&f->scratch);
    struct toleration_form *all = arena_alloc(&f->scratch, (changed.n_tolerations + 1u) * sizeof(*all));
    for (uint32_t i = 0; i < changed.n_tolerations; i++)
        all[i] = changed.tolerations[i];
    all[changed.n_tolerations++] = (struct toleration_form){ key, value, TOLERATE_EQUAL, effect };
    changed.tolerations = all;
    finder_propose(f, &(struct proposal){ .kind = REMEDY_TOLERATE, .row = NODE_NONE, .key = key, .value = value,
                                          .effect = effect, .size = SIZE_OF(SIZE_SWITCH, REMEDY_TOLERATE),
                                          .pod = finder_keep(f, pod_of_changed(f->s->syms, &changed)) });
}

void propose_tolerations(struct finder *f)
{
    for (size_t i = 0; i < f->proposals[REMEDY_REMOVE_TAINT].n; i++) {
        const struct proposal *p = &f->proposals[REMEDY_REMOVE_TAINT].at[i];
        propose_toleration(f, p->key, p->value, p->effect);
    }
    if (f->proposals[REMEDY_UNCORDON].n)
        propose_toleration(f, finder_sym(f, STR(CORDON_TAINT)), SYM_EMPTY, EFFECT_NO_SCHEDULE);
}

/* ---- Labels ---- */

static void want_label(struct finder *f, sym key, sym value, bool topological)
{
    for (size_t i = 0; i < f->wanted.n; i++) {
        struct wanted_label *w = &f->wanted.at[i];
        if (w->key == key && w->value == value) {
            w->topological |= topological;
            return;
        }
    }
    if (f->wanted.n == REMEDY_LABELS_MAX)
        f->cut = true;
    else
        vec_push(&f->wanted, (struct wanted_label){ key, value, topological });
}

/* A number that the rule takes, as text. Those of rules are values of labels, and so never negative. */
static sym number_for(struct finder *f, const struct match_rule *r)
{
    bool above = r->op == MATCH_GT;
    if (above ? r->number == INT64_MAX : r->number == 0)
        return SYM_NONE;
    const char *text = arena_printf(f->arena, "%lld", (long long)r->number + (above ? 1 : -1));
    return finder_sym(f, str_of(text));
}

static void want_rule(struct finder *f, const struct match_rule *r)
{
    sym value;
    switch ((enum match_op)r->op) {
    case MATCH_IN:
        for (uint16_t i = 0; i < r->n_values; i++)
            want_label(f, r->key, r->values[i], false);
        break;
    case MATCH_EXISTS:
        want_label(f, r->key, finder_sym(f, STR("true")), false);
        break;
    case MATCH_GT:
    case MATCH_LT:
        value = number_for(f, r);
        if (value != SYM_NONE)
            want_label(f, r->key, value, false);
        break;
    default:
        break;
    }
}

static int by_text(const void *a, const void *b)
{
    return sort_compare_strs(a, b);
}

/* The values that nodes have for the key, the first few by text; the node's own name where there are
 * none, or where the key is the host name. */
static void want_domains(struct finder *f, sym key)
{
    for (size_t i = 0; i < f->wanted.n; i++)
        if (f->wanted.at[i].key == key && f->wanted.at[i].topological)
            return;
    if (f->wanted.n == REMEDY_LABELS_MAX) {
        f->cut = true;
        return;
    }
    const struct topology_key *k = topology_key(f->s->cache.topology, key);
    if (k->by_value.n == 0 || str_is(sym_text(f->s->syms, key), HOSTNAME)) {
        want_label(f, key, SYM_NONE, true);
        return;
    }
    struct str *values = arena_alloc(f->arena, k->by_value.n * sizeof(*values));
    uint32_t n = 0;
    for (size_t i = 1; i < k->domains.n; i++)
        if (k->domains.at[i].n_nodes)
            values[n++] = sym_text(f->s->syms, k->domains.at[i].value);
    sort_stable(f->arena, values, n, sizeof(*values), by_text);
    for (uint32_t i = 0; i < n && i < REMEDY_DOMAINS_MAX; i++)
        want_label(f, key, sym_find(f->s->syms, values[i]), true);
    f->cut |= n > REMEDY_DOMAINS_MAX;
}

void find_wanted_labels(struct finder *f)
{
    const struct pod_node_affinity *a = f->pod->node_affinity;
    for (uint32_t i = 0; a && i < a->node_selector.n; i++)
        want_label(f, a->node_selector.at[i].key, a->node_selector.at[i].value, false);
    for (uint32_t i = 0; a && i < a->required.n; i++) {
        const struct matcher *m = &a->required.at[i].labels;
        for (uint32_t k = 0; m->mode == MATCHER_ALL_OF && k < m->n; k++)
            want_rule(f, &m->at[k]);
    }
    for (uint32_t i = 0; i < f->pod->n_spread; i++)
        if (!(f->pod->spread[i].flags & (SPREAD_SOFT | SPREAD_OTHER)))
            want_domains(f, f->pod->spread[i].topology_key);
    for (uint32_t i = 0; f->pod->affinity && i < f->pod->affinity->required.n; i++)
        want_domains(f, f->pod->affinity->required.at[i].topology_key);
}

/* Where the key makes domains, only an attempt can say what the label does. */
static void propose_labels(struct finder *f, node_id row)
{
    const struct node *node = node_of(f, row);
    uint64_t wide = finder_wide_filters(f);
    for (size_t i = 0; i < f->wanted.n; i++) {
        const struct wanted_label *w = &f->wanted.at[i];
        if (label_set_get(node->meta.labels, w->key) != SYM_NONE)
            continue;
        struct proposal p = { .kind = REMEDY_ADD_LABEL, .row = row, .key = w->key,
                              .value = w->value == SYM_NONE ? node->name : w->value,
                              .size = SIZE_OF(SIZE_SWITCH, REMEDY_ADD_LABEL) };
        struct node changed = changed_node(f, &f->scratch, &p);
        struct node_view view = node_view_of(&f->s->cache, row);
        view.node = &changed;
        if (w->topological ? !(finder_failing(f, &view) & ~wide) : finder_passes(f, &view))
            finder_propose(f, &p);
    }
}

/* ---- What is free ---- */

struct usage {
    const char *resource;
    int64_t want, alloc, used;
};

/* Of pods that the pod must leave room for. */
static void add_nominated(const struct finder *f, node_id row, struct usage *u, sym scalar)
{
    const struct nominated_list *list = nominator_on(&f->s->nominator, f->s->cache.rows.at[row].name);
    for (size_t i = 0; list && i < list->pods.n; i++) {
        const struct pod *pod = list->pods.at[i]->pod;
        if (!framework_respects(f->c, pod))
            continue;
        const struct amounts *r = pod->requested;
        int64_t amount = scalar != SYM_NONE                              ? amounts_scalar(r, scalar)
                         : strcmp(u->resource, "cpu") == 0               ? r->milli_cpu
                         : strcmp(u->resource, "memory") == 0            ? r->memory
                         : strcmp(u->resource, "ephemeral-storage") == 0 ? r->ephemeral_storage
                                                                         : 1;
        u->used = account(u->used, amount, true);
    }
}

/* What the pod does not find; false: enough is there, or the sums are absurd. */
static bool lacks(const struct usage *u, struct remedy_amount *ret_amount)
{
    __int128 available = (__int128)u->alloc - u->used, missing = u->want - available;
    if (u->want <= 0 || missing <= 0 || missing > INT64_MAX - (u->alloc > 0 ? u->alloc : 0) || available < INT64_MIN)
        return false;
    *ret_amount = (struct remedy_amount){ u->resource, (int64_t)missing, (int64_t)available, u->want };
    return true;
}

static int64_t millionths(int64_t part, int64_t of)
{
    if (of <= 0)
        return MILLIONTHS;
    __int128 share = (__int128)part * MILLIONTHS / of;
    return share > 1000 * (int64_t)MILLIONTHS ? 1000 * (int64_t)MILLIONTHS : (int64_t)share;
}

struct shortage {
    struct remedy_amount *at;
    uint32_t n;
};

static void add_shortage(const struct finder *f, node_id row, struct usage u, sym scalar, struct shortage *s)
{
    int64_t used = u.used;
    add_nominated(f, row, &u, scalar);
    if (!lacks(&u, &s->at[s->n]))
        return;
    s->at[s->n].millionths = millionths(s->at[s->n].missing, u.alloc);
    s->at[s->n].can_be_freed = s->at[s->n].missing <= used;
    s->n++;
}

static struct shortage shortage_of(struct finder *f, node_id row)
{
    const struct columns *col = &f->s->cache.col;
    const struct amounts *want = f->pod->fit;
    struct shortage s = { .at = arena_alloc(&f->scratch, (want->n_scalars + 4u) * sizeof(*s.at)) };
    add_shortage(f, row, (struct usage){ "pods", 1, col->alloc_pods[row], col->n_pods[row] }, SYM_NONE, &s);
    add_shortage(f, row, (struct usage){ "cpu", want->milli_cpu, col->alloc_milli_cpu[row], col->used_milli_cpu[row] },
                 SYM_NONE, &s);
    add_shortage(f, row, (struct usage){ "memory", want->memory, col->alloc_memory[row], col->used_memory[row] },
                 SYM_NONE, &s);
    add_shortage(f, row,
                 (struct usage){ "ephemeral-storage", want->ephemeral_storage, col->alloc_ephemeral[row],
                                 col->used_ephemeral[row] },
                 SYM_NONE, &s);
    for (uint32_t i = 0; i < want->n_scalars; i++) {
        sym name = want->scalars[i].name;
        const struct scalar_column *column = cache_scalar(&f->s->cache, name);
        struct usage u = { sym_text(f->s->syms, name).p, want->scalars[i].amount, 0, 0 };
        if (column) {
            u.alloc = column->alloc[row];
            u.used = column->used[row];
        }
        add_shortage(f, row, u, name, &s);
    }
    return s;
}

/* Leaves out what no filter asks for (resources that the configuration ignores). */
static void drop_needless_amounts(struct finder *f, struct proposal *p)
{
    for (uint32_t i = 0; p->n_amounts > 1 && i < p->n_amounts;) {
        struct remedy_amount kept = p->amounts[i];
        p->amounts[i].missing = 0;
        bool needless = passes_when_changed(f, p);
        p->amounts[i] = kept;
        if (!needless) {
            i++;
            continue;
        }
        p->n_amounts--;
        memmove(&p->amounts[i], &p->amounts[i + 1], (p->n_amounts - i) * sizeof(*p->amounts));
    }
}

static struct remedy_amount *keep_amounts(struct finder *f, const struct proposal *p)
{
    struct remedy_amount *kept = arena_alloc(f->arena, p->n_amounts * sizeof(*kept));
    for (uint32_t i = 0; i < p->n_amounts; i++) {
        kept[i] = p->amounts[i];
        kept[i].resource = arena_cstr(f->arena, str_of(kept[i].resource));
    }
    return kept;
}

static int64_t sum_of_amounts(const struct proposal *p)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < p->n_amounts; i++)
        sum += p->amounts[i].millionths;
    return sum;
}

static void propose_free(struct finder *f, node_id row)
{
    struct shortage s = shortage_of(f, row);
    struct proposal p = { .kind = REMEDY_FREE, .row = row, .key = SYM_NONE, .value = SYM_NONE, .amounts = s.at,
                          .n_amounts = s.n };
    f->lacks.at[row] = sum_of_amounts(&p);
    if (s.n == 0 || !passes_when_changed(f, &p))
        return;
    drop_needless_amounts(f, &p);
    if (p.n_amounts == 1)
        propose_lower_request(f, row, &p.amounts[0]);
    for (uint32_t i = 0; i < p.n_amounts; i++)
        if (!p.amounts[i].can_be_freed)
            return;
    p.amounts = keep_amounts(f, &p);
    p.size = SIZE_OF(SIZE_AMOUNT, sum_of_amounts(&p));
    finder_propose(f, &p);
}

void propose_for_node(struct finder *f, node_id row)
{
    arena_reset(&f->scratch);
    propose_uncordon(f, row);
    propose_taints(f, row);
    propose_labels(f, row);
    propose_free(f, row);
}

/* ---- New nodes ---- */

static bool same_labels(struct label_set a, struct label_set b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.at, b.at, a.n * sizeof(*a.at)) == 0);
}

static bool same_features(const struct node *a, const struct node *b)
{
    uint32_t n = a->n_declared_features;
    return n == b->n_declared_features &&
           (n == 0 || memcmp(a->declared_features, b->declared_features, n * sizeof(sym)) == 0);
}

/* Both under the same name. */
static bool same_shape(const struct node *a, const struct node *b)
{
    return amounts_equal(&a->allocatable, &b->allocatable) && same_labels(a->meta.labels, b->meta.labels) &&
           node_taints_equal(a, b) && same_features(a, b);
}

/* A name that nothing and nobody has. */
static sym new_name(struct finder *f, const struct node *node)
{
    const char *name = arena_printf(f->arena, "%s-new", node->meta.name);
    for (unsigned i = 2; sym_find(f->s->syms, str_of(name)) != SYM_NONE; i++)
        name = arena_printf(f->arena, "%s-new-%u", node->meta.name, i);
    return finder_sym(f, str_of(name));
}

/* Part of the largest node. */
static int64_t size_of_node(const struct cache *cache, const struct node *node)
{
    int64_t cpu = 0, memory = 0;
    for (size_t i = 0; i < cache->order.n; i++) {
        const struct amounts *a = &cache->rows.at[cache->order.at[i]].node->allocatable;
        cpu = a->milli_cpu > cpu ? a->milli_cpu : cpu;
        memory = a->memory > memory ? a->memory : memory;
    }
    const struct amounts *own = &node->allocatable;
    return SIZE_OF(SIZE_NODE, millionths(own->milli_cpu, cpu) + millionths(own->memory, memory));
}

/* What a new node like that one has too little of, beside its DaemonSets' pods. */
static struct shortage shortage_when_new(struct finder *f, node_id row)
{
    struct node node = *node_of(f, row);
    take_daemons(f, f->arena, &node, row);
    const struct amounts *want = f->pod->fit, *has = &node.allocatable;
    struct shortage s = { .at = arena_alloc(f->arena, (want->n_scalars + 4u) * sizeof(*s.at)) };
    struct usage all[] = {
        { "pods", 1, has->pods, 0 },
        { "cpu", want->milli_cpu, has->milli_cpu, 0 },
        { "memory", want->memory, has->memory, 0 },
        { "ephemeral-storage", want->ephemeral_storage, has->ephemeral_storage, 0 },
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        s.n += lacks(&all[i], &s.at[s.n]);
    for (uint32_t i = 0; i < want->n_scalars; i++) {
        struct usage u = { finder_text(f, want->scalars[i].name), want->scalars[i].amount, 0, 0 };
        for (uint32_t k = 0; k < has->n_scalars; k++)
            if (has->scalars[k].name == want->scalars[i].name)
                u.alloc = has->scalars[k].amount;
        s.n += lacks(&u, &s.at[s.n]);
    }
    return s;
}

static int64_t amount_of(const struct finder *f, const struct amounts *a, const char *resource)
{
    for (uint32_t k = 0; k < a->n_scalars; k++)
        if (str_is(sym_text(f->s->syms, a->scalars[k].name), resource))
            return a->scalars[k].amount;
    return strcmp(resource, "pods") == 0                ? a->pods
           : strcmp(resource, "cpu") == 0               ? a->milli_cpu
           : strcmp(resource, "memory") == 0            ? a->memory
           : strcmp(resource, "ephemeral-storage") == 0 ? a->ephemeral_storage
                                                        : 0;
}

/* How much of a resource the node has that has most of it. */
static int64_t most_of(const struct finder *f, const char *resource)
{
    const struct cache *cache = &f->s->cache;
    int64_t most = 0;
    for (size_t i = 0; i < cache->order.n; i++) {
        int64_t has = amount_of(f, &node_of(f, cache->order.at[i])->allocatable, resource);
        most = has > most ? has : most;
    }
    return most;
}

/* NULL: there are nodes that have as much of each. */
static const char *larger_hint(const struct finder *f, const struct shortage *s)
{
    const char *hint = NULL;
    for (uint32_t i = 0; i < s->n; i++) {
        int64_t most = most_of(f, s->at[i].resource);
        if (most < s->at[i].wanted)
            hint = arena_printf(f->arena, "no node has %s %s", most ? "as much" : "any", s->at[i].resource);
    }
    return hint;
}

/* The rest of the node's shape may be wrong, too: an attempt tells. */
void propose_larger_nodes(struct finder *f)
{
    const struct cache *cache = &f->s->cache;
    for (size_t i = 0; i < cache->order.n && i < REMEDY_SHAPES_MAX; i++) {
        node_id row = cache->order.at[i];
        struct shortage s = shortage_when_new(f, row);
        for (uint32_t k = 0; k < s.n; k++) /* what the node has to have in all */
            s.at[k].wanted = amount_of(f, &node_of(f, row)->allocatable, s.at[k].resource) + s.at[k].missing;
        const char *hint = larger_hint(f, &s);
        if (!hint)
            continue;
        struct proposal p = { .kind = REMEDY_ADD_NODE, .row = row, .key = SYM_NONE, .value = new_name(f, node_of(f, row)),
                              .amounts = s.at, .n_amounts = s.n, .hint = hint };
        for (uint32_t k = 0; k < s.n; k++)
            s.at[k].millionths = millionths(s.at[k].missing, s.at[k].wanted);
        p.size = SIZE_OF(SIZE_NODE, 2 * (int64_t)MILLIONTHS + sum_of_amounts(&p));
        finder_propose(f, &p);
    }
    f->cut |= cache->order.n > REMEDY_SHAPES_MAX;
}

void propose_new_nodes(struct finder *f)
{
    const struct cache *cache = &f->s->cache;
    struct node shapes[REMEDY_SHAPES_MAX];
    uint32_t n = 0;
    arena_reset(&f->scratch);
    for (size_t i = 0; i < cache->order.n; i++) {
        node_id row = cache->order.at[i];
        const struct node *node = node_of(f, row);
        struct arena_mark mark = arena_save(&f->scratch);
        struct node shape = node_like(f, &f->scratch, node, SYM_EMPTY);
        uint32_t k = 0;
        while (k < n && !same_shape(&shapes[k], &shape))
            k++;
        if (k < n) {
            arena_rewind(&f->scratch, mark);
            continue;
        }
        if (n == REMEDY_SHAPES_MAX) {
            f->cut = true;
            return;
        }
        shapes[n++] = shape;
        finder_propose(f, &(struct proposal){ .kind = REMEDY_ADD_NODE, .row = row, .key = SYM_NONE,
                                              .value = new_name(f, node), .size = size_of_node(cache, node) });
    }
}
