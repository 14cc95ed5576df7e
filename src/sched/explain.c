/* sched/explain.c - see explain.h: a trial, and what is kept of it. */
#include "sched/explain.h"

#include "sched/era.h"

#include "base/sort.h"
#include "base/strbuf.h"
#include "sched/trial.h"

/* ---- Refusals ---- */

/* Nodes that were refused with one and the same status. */
struct refused {
    struct explained_refusal told; /* first: what nodes point to */
    uint32_t *groups;              /* by reason */
    uint32_t n_nodes;
};

struct work {
    struct attempt *attempt;
    struct arena *arena; /* of the result */
    struct explanation *x;
    struct filter_status *statuses; /* by node_id; V_SUCCESS: it fits */
    struct map_str refusals, groups; /* keys -> struct refused; keys -> index in x->groups */
    VEC(struct explained_group) all_groups;
    struct strbuf key;
};

static const char *copy(struct work *w, const char *text)
{
    return text ? arena_cstr(w->arena, str_of(text)) : NULL;
}

static const char *copy_sym(struct work *w, sym s)
{
    return arena_cstr(w->arena, sym_text(w->attempt->cycle.syms, s));
}

static const char *node_name(struct work *w, node_id id)
{
    return copy_sym(w, w->attempt->cycle.cache->rows.at[id].name);
}

/* The plugin that a status is of. PreFilter's narrowing has none in the status, even where it was
 * one plugin's. */
static const char *plugin_of(const struct work *w, const struct filter_status *status)
{
    const struct attempt *a = w->attempt;
    uint64_t mask = a->narrowing_plugins;
    if (status->plugin)
        return status->plugin->plugin->name;
    if (status->verdict.text != a->cycle.absent_status.verdict.text || !mask || mask & (mask - 1))
        return NULL;
    return a->cycle.profile->instances[__builtin_ctzll(mask)].plugin->name;
}

static struct str key_of(struct work *w, const char *plugin, enum verdict_code code, const char *reason)
{
    strbuf_reset(&w->key);
    strbuf_printf(&w->key, "%s\n%d\n%s", plugin ? plugin : "", (int)code, reason);
    return strbuf_str(&w->key);
}

static uint32_t group_of(struct work *w, const struct explained_refusal *r, const char *reason)
{
    struct str key = key_of(w, r->plugin, r->code, reason);
    union map_value *found = map_str_find(&w->groups, key);
    if (found)
        return (uint32_t)found->num;
    map_str_put(&w->groups, arena_str(w->arena, key), NULL)->num = w->all_groups.n;
    vec_push(&w->all_groups, (struct explained_group){ .plugin = r->plugin, .reason = reason, .code = r->code });
    return (uint32_t)w->all_groups.n - 1;
}

static struct refused *new_refusal(struct work *w, const struct filter_status *status)
{
    struct refused *r = ARENA_NEW(w->arena, struct refused);
    struct reasons reasons = { .arena = w->attempt->cycle.arena };
    framework_reasons(&w->attempt->cycle, status, &reasons);
    if (!reasons.texts.n)
        vec_push(&reasons.texts, "no reason given");
    const char **texts = ARENA_NEW_N(w->arena, const char *, reasons.texts.n);
    r->told = (struct explained_refusal){ .plugin = copy(w, plugin_of(w, status)),
                                          .code = status->verdict.code,
                                          .reasons = texts,
                                          .n_reasons = (uint32_t)reasons.texts.n };
    r->groups = ARENA_NEW_N(w->arena, uint32_t, reasons.texts.n);
    for (uint32_t i = 0; i < r->told.n_reasons; i++) {
        texts[i] = copy(w, reasons.texts.at[i]);
        r->groups[i] = group_of(w, &r->told, texts[i]);
    }
    vec_fini(&reasons.texts);
    return r;
}

static struct refused *refusal_of(struct work *w, const struct filter_status *status)
{
    strbuf_reset(&w->key);
    strbuf_printf(&w->key, "%p %d %llu ", (const void *)status->plugin, status->verdict.code,
                  (unsigned long long)status->verdict.detail);
    strbuf_add_text(&w->key, status->verdict.text ? status->verdict.text : "");
    union map_value *found = map_str_find(&w->refusals, strbuf_str(&w->key));
    if (found)
        return found->ptr;
    struct str key = arena_str(w->arena, strbuf_str(&w->key));
    struct refused *r = new_refusal(w, status);
    map_str_put(&w->refusals, key, NULL)->ptr = r;
    return r;
}

/* Every node that does not fit, in the order of nodes. */
static void add_refused(struct work *w)
{
    const struct cache *cache = w->attempt->cycle.cache;
    struct explanation *x = w->x;
    for (size_t i = 0; i < cache->order.n; i++) {
        const struct filter_status *status = &w->statuses[cache->order.at[i]];
        if (status->verdict.code == V_SUCCESS)
            continue;
        struct refused *r = refusal_of(w, status);
        r->n_nodes++;
        x->nodes[x->n_compared + x->n_not_compared + x->n_refused++] =
            (struct explained_node){ node_name(w, cache->order.at[i]), EXPLAINED_REFUSED, .refusal = &r->told };
    }
}

static int compare_groups(const void *a, const void *b)
{
    const struct explained_group *x = a, *y = b;
    if (x->n_nodes != y->n_nodes)
        return x->n_nodes > y->n_nodes ? -1 : 1;
    int order = strcmp(x->plugin ? x->plugin : "", y->plugin ? y->plugin : "");
    return order ? order : strcmp(x->reason, y->reason);
}

/* The nodes of every group, then the groups by size. */
static void fill_groups(struct work *w)
{
    struct explanation *x = w->x;
    x->n_groups = (uint32_t)w->all_groups.n;
    x->groups = ARENA_NEW_N(w->arena, struct explained_group, x->n_groups);
    if (x->n_groups)
        memcpy(x->groups, w->all_groups.at, x->n_groups * sizeof(*x->groups));
    for (struct map_str_slot *s = NULL; (s = map_str_next(&w->refusals, s));) {
        const struct refused *r = s->value.ptr;
        for (uint32_t i = 0; i < r->told.n_reasons; i++)
            x->groups[r->groups[i]].n_nodes += r->n_nodes;
    }
    const char ***lists = ARENA_NEW_N(w->arena, const char **, x->n_groups);
    for (uint32_t i = 0; i < x->n_groups; i++) {
        lists[i] = ARENA_NEW_N(w->arena, const char *, x->groups[i].n_nodes);
        x->groups[i].nodes = lists[i];
    }
    for (uint32_t i = x->n_compared + x->n_not_compared; i < x->n_nodes; i++) {
        const struct refused *r = (const struct refused *)x->nodes[i].refusal;
        for (uint32_t k = 0; k < r->told.n_reasons; k++)
            *lists[r->groups[k]]++ = x->nodes[i].name;
    }
    sort_stable(w->arena, x->groups, x->n_groups, sizeof(*x->groups), compare_groups);
}

/* ---- Nodes that fit ---- */

struct ranked {
    int64_t total;
    uint32_t place, index; /* among equal totals; in the attempt's list of feasible nodes */
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* The chosen node first, whatever decided between equals; then by total, equals in the order of the
 * heap that upstream takes them from. */
static struct ranked *rank(struct work *w)
{
    const struct attempt *a = w->attempt;
    struct ranked *all = ARENA_NEW_N(a->cycle.arena, struct ranked, a->n_feasible);
    for (uint32_t i = 0; i < a->n_feasible; i++) {
        uint32_t place = a->feasible[i] == a->node ? 0 : a->cycle.cache->heap_order.at[i] + 1;
        all[i] = (struct ranked){ a->scored ? a->totals[i] : 0, place, i };
    }
    sort_stable(a->cycle.arena, all, a->n_feasible, sizeof(*all), compare_ranked);
    return all;
}

static const int64_t *scores_of(struct work *w, uint32_t index)
{
    const struct attempt *a = w->attempt;
    if (!a->scored)
        return NULL;
    int64_t *scores = ARENA_NEW_N(w->arena, int64_t, w->x->n_plugins);
    for (uint32_t i = 0; i < w->x->n_plugins; i++)
        scores[i] = a->scores[i] ? a->scores[i][index] : 0;
    return scores;
}

static void add_compared(struct work *w)
{
    const struct attempt *a = w->attempt;
    const struct ranked *order = rank(w);
    for (uint32_t i = 0; i < a->n_feasible; i++) {
        uint32_t index = order[i].index;
        w->x->nodes[i] = (struct explained_node){ .name = node_name(w, a->feasible[index]),
                                                  .state = EXPLAINED_COMPARED,
                                                  .total = order[i].total,
                                                  .scores = scores_of(w, index) };
    }
    w->x->n_compared = a->n_feasible;
}

/* Nodes that fit and are not among those compared, in the order of nodes. */
static void add_not_compared(struct work *w)
{
    const struct attempt *a = w->attempt;
    const struct cache *cache = a->cycle.cache;
    uint64_t *compared = ARENA_NEW_N(a->cycle.arena, uint64_t, bitset_words(cache->col.n_rows));
    for (uint32_t i = 0; i < a->n_feasible; i++)
        bitset_set(compared, a->feasible[i]);
    for (size_t i = 0; i < cache->order.n; i++) {
        node_id id = cache->order.at[i];
        if (w->statuses[id].verdict.code == V_SUCCESS && !bitset_test(compared, id))
            w->x->nodes[w->x->n_compared + w->x->n_not_compared++] =
                (struct explained_node){ node_name(w, id), EXPLAINED_NOT_COMPARED };
    }
}

/* ---- What every node's status is ---- */

/* Of a pod that fits somewhere: the attempt only looked for nodes that pass. */
static void look_at_others(struct work *w)
{
    struct attempt *a = w->attempt;
    struct cycle *c = &a->cycle;
    uint64_t *passed = ARENA_NEW_N(c->arena, uint64_t, bitset_words(c->cache->col.n_rows));
    uint64_t *outside = ARENA_NEW_N(c->arena, uint64_t, bitset_words(c->cache->col.n_rows));
    for (uint32_t i = 0; i < a->n_feasible; i++)
        bitset_set(passed, a->feasible[i]);
    if (a->narrowed.given)
        bitset_copy(outside, c->cache->col.listed, bitset_words(c->cache->col.n_rows));
    for (uint32_t i = 0; i < a->narrowed.n; i++) {
        node_id id = cache_listed_node(c->cache, a->narrowed.at[i]);
        if (id != NODE_NONE)
            bitset_clear(outside, id);
    }
    for (size_t i = 0; i < c->cache->order.n; i++) {
        node_id id = c->cache->order.at[i];
        struct node_view view = node_view_of(c->cache, id);
        if (bitset_test(outside, id))
            w->statuses[id] = c->absent_status;
        else if (!bitset_test(passed, id))
            w->statuses[id] = framework_filter(c, &view);
    }
}

/* Of a pod that fits nowhere: as the message counts them. */
static void take_statuses(struct work *w)
{
    const struct attempt *a = w->attempt;
    const struct cache *cache = a->cycle.cache;
    for (size_t i = 0; i < cache->order.n; i++) {
        node_id id = cache->order.at[i];
        bool known = a->statuses && a->statuses[id].verdict.code != V_SUCCESS;
        w->statuses[id] = known ? a->statuses[id] : a->cycle.absent_status;
    }
}

static void tell_nodes(struct work *w)
{
    struct attempt *a = w->attempt;
    const struct cache *cache = a->cycle.cache;
    w->statuses = ARENA_NEW_N(a->cycle.arena, struct filter_status, cache->col.n_rows);
    w->x->n_nodes = (uint32_t)cache->order.n;
    w->x->nodes = ARENA_NEW_N(w->arena, struct explained_node, cache->order.n);
    if (a->outcome == ATTEMPT_FITS) {
        look_at_others(w);
        add_compared(w);
        add_not_compared(w);
    } else {
        take_statuses(w);
    }
    add_refused(w);
    w->x->n_nodes = w->x->n_compared + w->x->n_not_compared + w->x->n_refused;
    fill_groups(w);
}

/* ---- The rest of the story ---- */

static void tell_plugins(struct work *w)
{
    const struct profile *profile = w->attempt->cycle.profile;
    const struct point_plugins *points = &profile->points[POINT_SCORE];
    w->x->n_plugins = points->n;
    w->x->plugins = ARENA_NEW_N(w->arena, struct explained_plugin, points->n);
    for (uint8_t i = 0; i < points->n; i++)
        w->x->plugins[i] = (struct explained_plugin){ .name = copy(w, points->at[i]->plugin->name),
                                                      .weight = profile->weights[i],
                                                      .skipped = w->attempt->scored && !w->attempt->scores[i] };
}

static void tell_preemption(struct work *w)
{
    const struct preemption *found = w->attempt->cycle.preemption;
    if (!found || !found->chosen)
        return;
    const struct candidate *chosen = found->chosen;
    struct explained_preemption *p = ARENA_NEW(w->arena, struct explained_preemption);
    *p = (struct explained_preemption){ .node = node_name(w, chosen->node),
                                        .victims = ARENA_NEW_N(w->arena, struct explained_victim, chosen->n_victims),
                                        .n_victims = chosen->n_victims,
                                        .n_violations = chosen->n_violations,
                                        .n_candidates = found->n_candidates };
    for (uint32_t i = 0; i < chosen->n_victims; i++) {
        const struct pod *v = chosen->victims[i];
        p->victims[i] = (struct explained_victim){ copy_sym(w, v->meta.ns), copy(w, v->meta.name), v->priority };
    }
    w->x->preemption = p;
}

/* As fail_attempt in cycle.c, up to the words. */
static void tell_failure(struct work *w)
{
    struct attempt *a = w->attempt;
    struct explanation *x = w->x;
    if (a->outcome == ATTEMPT_ERROR) {
        x->message = copy(w, a->error);
        return;
    }
    const char *post_filter;
    attempt_post_filter(a, &post_filter);
    x->message = copy(w, attempt_fit_error(a, post_filter));
    x->post_filter = *post_filter ? copy(w, post_filter) : NULL;
    if (a->pre_filter_message) {
        struct filter_status status = { a->pre_filter, a->pre_filter_plugin };
        const char *plugin = plugin_of(w, &status);
        x->pre_filter = copy(w, plugin ? plugin : "");
    }
    tell_preemption(w);
}

/* Why a pod without a node is not tried at all. */
static void tell_not_tried(struct work *w)
{
    struct cycle *c = &w->attempt->cycle;
    struct explanation *x = w->x;
    if (!c->profile) {
        x->not_tried = arena_printf(w->arena, "no profile is named \"%s\" (spec.schedulerName)", x->scheduler_name);
    } else if (x->node) {
        return;
    } else if (c->pod->flags & POD_TERMINATING) {
        x->not_tried = copy(w, "it is being deleted");
    } else {
        struct filter_status gate = framework_gate(c);
        if (gate.verdict.code == V_SUCCESS)
            return;
        x->not_tried = copy(w, gate.verdict.text ? gate.verdict.text : "");
        x->not_tried_plugin = copy(w, gate.plugin->plugin->name);
    }
}

static void tell_pod(struct work *w, const struct trial *t)
{
    const struct pod *pod = t->pod;
    const struct placed *placed = t->lifted.placed;
    struct explanation *x = w->x;
    x->ns = copy_sym(w, pod->meta.ns);
    x->name = copy(w, pod->meta.name);
    x->scheduler_name = copy_sym(w, pod->scheduler_name);
    x->priority = pod->priority;
    x->node = placed ? node_name(w, placed->node) : NULL;
    x->nominated = pod->nominated_node == SYM_EMPTY ? NULL : copy_sym(w, pod->nominated_node);
    x->n_extenders = t->n_extenders;
}

static void tell(struct work *w)
{
    struct attempt *a = w->attempt;
    struct explanation *x = w->x;
    x->outcome = a->outcome == ATTEMPT_FITS       ? EXPLAINED_FITS
                 : a->outcome == ATTEMPT_REJECTED ? EXPLAINED_REJECTED
                                                  : EXPLAINED_ERROR;
    x->score_max = a->cycle.profile ? a->cycle.profile->era->score_max : SCORE_MAX;
    x->scored = a->outcome == ATTEMPT_FITS && a->scored;
    x->nominated_used = a->nominated_node_used;
    tell_not_tried(w);
    if (a->cycle.profile)
        tell_plugins(w);
    if (a->outcome == ATTEMPT_FITS)
        x->chosen = node_name(w, a->node);
    else
        tell_failure(w);
    if (a->outcome != ATTEMPT_ERROR)
        tell_nodes(w);
}

void explain_pod(struct sched *s, const struct pod *pod, struct arena *arena, struct explanation *ret_explanation)
{
    assert(arena != &s->arena);
    struct trial t;
    trial_begin(&t, s, pod, (struct attempt_wants){ .reasons = true, .detail = true });
    trial_run(&t);
    *ret_explanation = (struct explanation){ 0 };
    struct work w = { .attempt = &t.attempt, .arena = arena, .x = ret_explanation };
    map_str_init(&w.refusals);
    map_str_init(&w.groups);
    strbuf_init(&w.key, STRBUF_NO_MAX);
    tell_pod(&w, &t);
    tell(&w);
    strbuf_fini(&w.key);
    map_str_fini(&w.refusals);
    map_str_fini(&w.groups);
    vec_fini(&w.all_groups);
    trial_end(&t);
}
