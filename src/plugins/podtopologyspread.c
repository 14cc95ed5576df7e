/* PodTopologySpread: pods that a selector names should be spread evenly over zones, hosts or other domains.
 * Points: PreFilter (with pods added and removed), Filter, PreScore, Score, Normalize.
 * Upstream: plugins/podtopologyspread, v1.36.
 *
 * Here: which constraints a pod has, the columns that they need, and the hints. The rules themselves are in
 * podtopologyspread_filter.c (DoNotSchedule) and podtopologyspread_score.c (ScheduleAnyway). */
#include "plugins/podtopologyspread.h"

#include "base/arena_array.h"

/* ---- Arguments ---- */

static struct matcher default_selector(const struct plugin_instance *p, const struct objects *objects,
                                       struct arena *a, const struct pod *pod);

static const struct default_spread_constraint system_defaults[] = {
    { .topology_key = "kubernetes.io/hostname", .max_skew = 3, .min_domains = 1, .soft = true },
    { .topology_key = "topology.kubernetes.io/zone", .max_skew = 5, .min_domains = 1, .soft = true },
};

static void set_defaults(struct plugin_instance *p, const struct default_spread_constraint *from, uint32_t n)
{
    struct spread_data *d = p->data;
    d->defaults = mem_zalloc((n ? n : 1) * sizeof(*d->defaults));
    d->n_defaults = n;
    for (uint32_t i = 0; i < n; i++)
        d->defaults[i] = (struct spread_constraint){
            .topology_key = sym_intern(p->syms, str_of(from[i].topology_key)),
            .max_skew = from[i].max_skew,
            .min_domains = from[i].min_domains,
            .flags = (uint8_t)((from[i].soft ? SPREAD_SOFT : 0) |
                               (from[i].ignore_affinity ? SPREAD_IGNORE_AFFINITY : 0) |
                               (from[i].honor_taints ? SPREAD_HONOR_TAINTS : 0)),
        };
}

enum err_code spread_init(struct plugin_instance *p, const void *args, struct err *e)
{
    assert(args);
    (void)e;
    const struct pod_topology_spread_args *a = args;
    struct spread_data *d = mem_zalloc(sizeof(*d));
    p->data = d;
    d->system_defaults = a->system_defaulting;
    d->selector_of = default_selector;
    d->hostname = sym_intern_static(p->syms, STR("kubernetes.io/hostname"));
    d->core_v1 = sym_intern_static(p->syms, STR("v1"));
    d->apps_v1 = sym_intern_static(p->syms, STR("apps/v1"));
    d->kind_replication_controller = sym_intern_static(p->syms, STR("ReplicationController"));
    d->kind_replica_set = sym_intern_static(p->syms, STR("ReplicaSet"));
    d->kind_stateful_set = sym_intern_static(p->syms, STR("StatefulSet"));
    if (a->system_defaulting)
        set_defaults(p, system_defaults, sizeof(system_defaults) / sizeof(system_defaults[0]));
    else
        set_defaults(p, a->constraints, a->n_constraints);
    return ERR_OK;
}

void spread_fini(struct plugin_instance *p)
{
    struct spread_data *d = p->data;
    for (uint32_t i = 0; i < d->n_defaults; i++)
        sym_unref(p->syms, d->defaults[i].topology_key);
    free(d->defaults);
    wanted_nodes_fini(&d->wanted, p->syms);
    free(d);
}

/* ---- The selector of default constraints ---- */

/* A selector that is being put together. */
struct rules {
    struct arena *arena;
    struct match_rule *at;
    size_t n, cap;
};

/* More rules than a matcher can have do not count: no object that a person wrote comes near. */
static void add_rule(struct rules *rules, struct match_rule rule)
{
    if (rules->n == UINT16_MAX)
        return;
    rules->at = arena_array_more(rules->arena, rules->at, rules->n, &rules->cap, sizeof(*rules->at));
    rules->at[rules->n++] = rule;
}

static void add_equality(struct rules *rules, const struct label_pair *pair)
{
    add_rule(rules, (struct match_rule){ .key = pair->key, .op = MATCH_IN, .n_values = 1, .values = &pair->value });
}

static bool has_labels(struct label_set labels, struct label_set wanted)
{
    for (uint32_t i = 0; i < wanted.n; i++)
        if (label_set_get(labels, wanted.at[i].key) != wanted.at[i].value)
            return false;
    return true;
}

static void mark_labels(struct label_set labels, struct label_set which, bool *marked)
{
    for (uint32_t i = 0; i < labels.n; i++)
        if (label_set_get(which, labels.at[i].key) != SYM_NONE)
            marked[i] = true;
}

/* The services that select the pod ask for some of its own labels; their union is a subset of them. */
static void add_services(struct rules *rules, const struct objects *objects, const struct pod *pod,
                         struct label_set overridden)
{
    struct label_set labels = pod->meta.labels;
    bool *marked = ARENA_NEW_N(rules->arena, bool, labels.n);
    struct object_list services = objects_in(objects, OBJECT_SERVICE, pod->meta.ns);
    for (uint32_t i = 0; i < services.n; i++) {
        const struct service *s = services.at[i];
        if (s->has_selector && has_labels(labels, s->selector))
            mark_labels(labels, s->selector, marked);
    }
    for (uint32_t i = 0; i < labels.n; i++)
        if (marked[i] && label_set_get(overridden, labels.at[i].key) == SYM_NONE)
            add_equality(rules, &labels.at[i]);
}

static void add_matcher(struct rules *rules, const struct matcher *m)
{
    for (uint16_t i = 0; m->mode == MATCHER_ALL_OF && i < m->n; i++)
        add_rule(rules, m->at[i]);
}

/* The controller's form, when it is of the version and kind. */
static const void *owner_of(const struct objects *objects, const struct plugin_instance *p, const struct pod *pod,
                            enum object_kind kind, sym version, sym kind_name)
{
    const struct owner_ref *owner = pod->controller;
    if (!owner || owner->api_version != version || owner->kind != kind_name)
        return NULL;
    return objects_get(objects, kind, pod->meta.ns, sym_text(p->syms, owner->name));
}

/* Of the controllers that select pods, the one that made the pod; the others are NULL. */
struct makers {
    const struct replication_controller *rc;
    const struct replica_set *rs;
    const struct stateful_set *ss;
};

static struct makers makers_of(const struct plugin_instance *p, const struct objects *objects, const struct pod *pod)
{
    const struct spread_data *d = p->data;
    return (struct makers){
        owner_of(objects, p, pod, OBJECT_REPLICATION_CONTROLLER, d->core_v1, d->kind_replication_controller),
        owner_of(objects, p, pod, OBJECT_REPLICA_SET, d->apps_v1, d->kind_replica_set),
        owner_of(objects, p, pod, OBJECT_STATEFUL_SET, d->apps_v1, d->kind_stateful_set),
    };
}

/* What Services and the controller select the pod by; without rules when nobody does. */
static struct matcher default_selector(const struct plugin_instance *p, const struct objects *objects,
                                       struct arena *a, const struct pod *pod)
{
    struct rules rules = { .arena = a };
    struct makers m = makers_of(p, objects, pod);
    struct label_set overridden = { 0 };
    if (m.rc)
        overridden = m.rc->selector;
    for (uint32_t i = 0; i < overridden.n; i++)
        add_equality(&rules, &overridden.at[i]);
    add_services(&rules, objects, pod, overridden);
    if (m.rs)
        add_matcher(&rules, &m.rs->selector);
    if (m.ss)
        add_matcher(&rules, &m.ss->selector);
    return (struct matcher){ .mode = MATCHER_ALL_OF, .n = (uint16_t)rules.n, .at = rules.at };
}

/* ---- Constraints ---- */

static bool is_wanted(const struct spread_constraint *rule, bool soft)
{
    return soft ? (rule->flags & SPREAD_SOFT) != 0 : !(rule->flags & (SPREAD_SOFT | SPREAD_OTHER));
}

static struct spread_list pick(struct arena *a, const struct spread_constraint *from, uint32_t n, bool soft)
{
    struct spread_list list = { .at = arena_alloc(a, n * sizeof(*from)) };
    for (uint32_t i = 0; i < n; i++)
        if (is_wanted(&from[i], soft))
            list.at[list.n++] = from[i];
    return list;
}

const char *spread_constraints(const struct plugin_instance *p, const struct objects *objects, struct arena *a,
                               const struct pod *pod, bool soft, struct spread_list *ret_list)
{
    const struct spread_data *d = p->data;
    if (pod->n_spread) {
        *ret_list = pick(a, pod->spread, pod->n_spread, soft);
        for (uint32_t i = 0; i < ret_list->n; i++)
            if (ret_list->at[i].selector.mode == MATCHER_INVALID)
                return arena_printf(a, "obtaining pod's %s topology spread constraints: %s", soft ? "soft" : "hard",
                                    ret_list->at[i].selector.error);
        return NULL;
    }
    *ret_list = pick(a, d->defaults, d->n_defaults, soft);
    if (ret_list->n == 0)
        return NULL;
    struct matcher selector = d->selector_of(p, objects, a, pod);
    if (matcher_is_empty(&selector))
        ret_list->n = 0;
    for (uint32_t i = 0; i < ret_list->n; i++)
        ret_list->at[i].selector = selector;
    return NULL;
}

/* ---- Their columns ---- */

bool spread_has_all_keys(const struct spread *spreads, uint32_t n, node_id row)
{
    for (uint32_t i = 0; i < n; i++)
        if (!spreads[i].domains.topology->of_row[row])
            return false;
    return true;
}

/* The nodes that have all keys, or NULL when all nodes that count do anyway: with one constraint, nodes without the
 * key are in no domain and need no test. */
static const uint64_t *rows_with_all_keys(struct cycle *c, const struct spread *spreads, uint32_t n)
{
    bool all = true;
    for (uint32_t i = 0; i < n; i++)
        all &= topology_covers_all(c->cache->topology, spreads[i].domains.topology);
    if (n <= 1 || all)
        return NULL;
    size_t n_words = bitset_words(c->cache->col.n_rows);
    uint64_t *rows = arena_alloc(c->arena, n_words * sizeof(*rows));
    bitset_copy(rows, c->cache->col.listed, n_words);
    for (uint32_t i = 0; i < n; i++) {
        const struct domains *d = &spreads[i].domains;
        if (topology_covers_all(c->cache->topology, d->topology))
            continue;
        uint8_t *missing = marks_new(c, d);
        missing[0] = 1; /* a key that some nodes lack is never by row */
        marks_drop(c, d, missing, rows);
    }
    return rows;
}

/* Nodes whose hard taints the pod tolerates. */
static uint64_t *tolerated_rows(const struct plugin_instance *p, struct cycle *c)
{
    const struct cache *cache = c->cache;
    bool *tolerated = arena_alloc(c->arena, cache->taint_sets.n * sizeof(*tolerated));
    for (size_t i = 0; i < cache->taint_sets.n; i++) {
        const struct taint_set *set = &cache->taint_sets.at[i];
        tolerated[i] = tolerates_all_hard(c->pod, set->taints, set->n_taints, p->syms,
                                          p->features->taint_toleration_comparison_operators);
    }
    uint64_t *rows = ARENA_NEW_N(c->arena, uint64_t, bitset_words(cache->col.n_rows));
    for (node_id row = 0; row < cache->col.n_rows; row++)
        bitset_put(rows, row, bitset_test(cache->col.listed, row) && tolerated[cache->col.taint_set[row]]);
    return rows;
}

static const uint64_t *both(struct cycle *c, const uint64_t *a, const uint64_t *b)
{
    if (!a || !b)
        return a ? a : b;
    size_t n_words = bitset_words(c->cache->col.n_rows);
    uint64_t *rows = arena_alloc(c->arena, n_words * sizeof(*rows));
    bitset_copy(rows, a, n_words);
    bitset_and(rows, b, n_words);
    return rows;
}

/* As upstream: {} selects every pod, but counts none, unless `all`. */
static const int32_t *counts_of(struct cycle *c, const struct matcher *selector, bool all)
{
    if (selector->mode != MATCHER_ALL_OF || (matcher_is_empty(selector) && !all))
        return NULL;
    struct count_part part = { .selector = selector, .namespaces = &c->pod->meta.ns, .n_namespaces = 1 };
    return counts_matching(c->cache->counts, &part, 1, true);
}

struct spread *spread_compile(const struct plugin_instance *p, struct cycle *c, const struct spread_list *list,
                              bool all_keys)
{
    struct spread_data *d = p->data;
    struct spread *spreads = ARENA_NEW_N(c->arena, struct spread, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        spreads[i].rule = &list->at[i];
        spreads[i].domains = domains_of(c, list->at[i].topology_key);
        spreads[i].counts = counts_of(c, &list->at[i].selector, d->counts_all);
        spreads[i].is_hostname = list->at[i].topology_key == d->hostname;
    }
    const uint64_t *with_keys = all_keys ? rows_with_all_keys(c, spreads, list->n) : NULL;
    const uint64_t *wanted = NULL, *tolerated = NULL;
    for (uint32_t i = 0; i < list->n; i++) {
        bool by_affinity = c->pod->node_affinity && !(list->at[i].flags & SPREAD_IGNORE_AFFINITY);
        bool by_taints = list->at[i].flags & SPREAD_HONOR_TAINTS;
        if (by_affinity && !wanted)
            wanted = wanted_nodes_of(&d->wanted, c->cache, c->pod);
        if (by_taints && !tolerated)
            tolerated = tolerated_rows(p, c);
        spreads[i].rows = both(c, with_keys, both(c, by_affinity ? wanted : NULL, by_taints ? tolerated : NULL));
    }
    return spreads;
}

/* ---- Hints ---- */

/* Whether a pod counts for the one that waits, or is that one. */
static bool is_involved(const struct pod *pod, const struct pod *waiting)
{
    if (strcmp(pod->meta.uid, waiting->meta.uid) == 0)
        return true;
    return (pod->node_name != SYM_EMPTY || pod->nominated_node != SYM_EMPTY) && pod->meta.ns == waiting->meta.ns;
}

static bool same_labels(struct label_set a, struct label_set b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.at, b.at, a.n * sizeof(*a.at)) == 0);
}

static bool same_tolerations(const struct pod *a, const struct pod *b)
{
    bool same = a->n_tolerations == b->n_tolerations;
    for (uint16_t i = 0; same && i < a->n_tolerations; i++) {
        const struct toleration_form *x = &a->tolerations[i], *y = &b->tolerations[i];
        same = x->key == y->key && x->value == y->value && x->op == y->op && x->effect == y->effect;
    }
    return same;
}

static bool pod_update_matters(const struct hint_context *h, const struct spread_list *list, const struct pod *waiting,
                               const struct pod *old, const struct pod *now)
{
    bool itself = strcmp(waiting->meta.uid, now->meta.uid) == 0, honors_taints = false;
    for (uint32_t i = 0; i < list->n; i++)
        honors_taints |= (list->at[i].flags & SPREAD_HONOR_TAINTS) != 0;
    if (itself && honors_taints && !same_tolerations(old, now))
        return true;
    if (same_labels(old->meta.labels, now->meta.labels))
        return false;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct matcher *selector = &list->at[i].selector;
        bool matched = matcher_matches(selector, old->meta.labels, h->syms);
        if (matched != matcher_matches(selector, now->meta.labels, h->syms))
            return true;
    }
    return false;
}

static enum hint pod_changed(const struct hint_context *h, const struct pod *waiting, const struct cluster_event *event)
{
    const struct pod *old = event->old_object, *now = event->new_object;
    if ((now && !is_involved(now, waiting)) || (old && !is_involved(old, waiting)))
        return HINT_SKIP;
    struct spread_list list;
    if (spread_constraints(h->plugin, h->objects, h->arena, waiting, false, &list))
        return HINT_QUEUE;
    if (old && now)
        return pod_update_matters(h, &list, waiting, old, now) ? HINT_QUEUE : HINT_SKIP;
    const struct pod *pod = now ? now : old;
    for (uint32_t i = 0; i < list.n; i++)
        if (matcher_matches(&list.at[i].selector, pod->meta.labels, h->syms))
            return HINT_QUEUE;
    return HINT_SKIP;
}

static bool node_has_keys(const struct node *node, const struct spread_list *list)
{
    for (uint32_t i = 0; node && i < list->n; i++)
        if (label_set_get(node->meta.labels, list->at[i].topology_key) == SYM_NONE)
            return false;
    return node != NULL;
}

static bool some_value_differs(const struct node *a, const struct node *b, const struct spread_list *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        sym key = list->at[i].topology_key;
        if (label_set_get(a->meta.labels, key) != label_set_get(b->meta.labels, key))
            return true;
    }
    return false;
}

static enum hint node_changed(const struct hint_context *h, const struct pod *waiting,
                              const struct cluster_event *event)
{
    const struct node *old = event->old_object, *now = event->new_object;
    struct spread_list list;
    if (spread_constraints(h->plugin, h->objects, h->arena, waiting, false, &list))
        return HINT_QUEUE;
    bool had = node_has_keys(old, &list), has = node_has_keys(now, &list);
    if (had != has)
        return HINT_QUEUE;
    bool moved = old && now && has && (some_value_differs(old, now, &list) || !node_taints_equal(old, now));
    return moved ? HINT_QUEUE : HINT_SKIP;
}

/* Only soft constraints score; defaults need something that selects the pod. */
static bool needs_feasible(const struct plugin_instance *p, const struct cycle *c)
{
    const struct pod *pod = c->pod;
    for (uint32_t i = 0; i < pod->n_spread; i++)
        if (pod->spread[i].flags & SPREAD_SOFT)
            return true;
    if (pod->n_spread)
        return false;
    struct makers m = makers_of(p, c->objects, pod);
    return m.rc || m.rs || m.ss || objects_in(c->objects, OBJECT_SERVICE, pod->meta.ns).n;
}

/* As upstream, whose words these are. */
static const char *fails_without(const struct plugin_instance *p, const struct cycle *c, enum extension_point missing,
                                 enum extension_point at)
{
    (void)p;
    (void)c;
    if (missing == POINT_PRE_FILTER && at == POINT_FILTER)
        return "reading \"PreFilterPodTopologySpread\" from cycleState: not found";
    return missing == POINT_PRE_SCORE ? "error reading \"PreScorePodTopologySpread\" from cycleState: not found" : NULL;
}

const struct plugin podtopologyspread_plugin = {
    .name = "PodTopologySpread",
    .init = spread_init,
    .fini = spread_fini,
    .pre_filter = spread_pre_filter,
    .clone_state = spread_clone_state,
    .add_pod = spread_add_pod,
    .remove_pod = spread_remove_pod,
    .filter = spread_filter,
    .filter_block = spread_filter_block,
    .pre_score = spread_pre_score,
    .score = spread_score,
    .score_block = spread_score_block,
    .normalize = spread_normalize,
    .fails_without = fails_without,
    .needs_feasible = needs_feasible,
    .events = (const struct plugin_event[]){
        { RES_POD, ACT_ADD | ACT_UPDATE_POD_LABEL | ACT_UPDATE_POD_TOLERATION | ACT_DELETE, pod_changed },
        { RES_NODE, ACT_ADD | ACT_DELETE | ACT_UPDATE_NODE_LABEL | ACT_UPDATE_NODE_TAINT, node_changed },
        { 0 } },
};
