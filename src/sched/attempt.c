/* sched/attempt.c - see attempt.h: the story first, then the filter chapter. Scores are in score.c. */
#include "sched/attempt.h"

#include <stdlib.h>

#include "base/strbuf.h"
#include "sched/counts.h"
#include "sched/era.h"
#include "sched/extender.h"
#include "sched/memo.h"
#include "sched/topology.h"

static void filter_and_score(struct attempt *a);
static bool try_nominated_node(struct attempt *a);
static void find_feasible(struct attempt *a);

void attempt_run(struct sched *s, struct attempt *a, const struct pod *pod, struct attempt_wants wants)
{
    if (attempt_begin(s, a, pod, wants))
        attempt_go_on(a);
}

void attempt_go_on(struct attempt *a)
{
    if (!attempt_pre_filter(a))
        return;
    if (!choose_can(a) || !choose_run(a))
        filter_and_score(a);
}

static void filter_and_score(struct attempt *a)
{
    if (!attempt_filter(a))
        return;
    if (a->n_feasible == 1) {
        a->node = a->feasible[0]; /* nothing to compare */
        return;
    }
    if (attempt_score(a))
        attempt_select(a);
}

static bool fail(struct attempt *a, const char *error)
{
    a->outcome = ATTEMPT_ERROR;
    a->error = error;
    return false;
}

static bool reject(struct attempt *a)
{
    a->outcome = ATTEMPT_REJECTED;
    return false;
}

bool attempt_begin(struct sched *s, struct attempt *a, const struct pod *pod, struct attempt_wants wants)
{
    assert(pod);
    arena_reset(&s->arena);
    cache_update_order(&s->cache);
    counts_next_cycle(s->cache.counts);
    topology_next_cycle(s->cache.topology);
    *a = (struct attempt){ .sched = s, .wants = wants, .node = NODE_NONE };
    if (wants.measure)
        a->measure = *wants.measure;
    a->cycle = (struct cycle){
        .arena = &s->arena,
        .cache = &s->cache,
        .objects = s->objects,
        .syms = s->syms,
        .profile = sched_profile(s, pod->scheduler_name),
        .sched = s,
        .pod = pod,
        .rand = &s->rand,
        .now_ms = s->now_ms,
        .now_s = s->now_s,
        .nominate = SYM_NONE,
        .state = ARENA_NEW_N(&s->arena, void *, PLUGINS_MAX),
        .score_state = ARENA_NEW_N(&s->arena, void *, PLUGINS_MAX),
    };
    if (!a->cycle.profile)
        return fail(a, arena_printf(&s->arena, "profile not found for scheduler name \"%s\"",
                                    sym_text(s->syms, pod->scheduler_name).p));
    if (s->cache.order.n == 0) {
        a->no_nodes = true;
        return fail(a, NO_NODES_AT_ALL);
    }
    return true;
}

/* ---- PreFilter ---- */

static int compare_syms(const void *a, const void *b)
{
    sym x = *(const sym *)a, y = *(const sym *)b;
    return (x > y) - (x < y);
}

static bool names_have(const struct node_names *names, sym name)
{
    for (uint32_t i = 0; i < names->n; i++)
        if (names->at[i] == name)
            return true;
    return false;
}

/* The nodes of both; either may be "all". The result is sorted and has no repeats. */
static void intersect(struct attempt *a, const struct node_names *with)
{
    sym *both = arena_alloc(a->cycle.arena, with->n * sizeof(*both));
    uint32_t n = 0;
    for (uint32_t i = 0; i < with->n; i++)
        if (!a->narrowed.given || names_have(&a->narrowed, with->at[i]))
            both[n++] = with->at[i];
    if (n)
        qsort(both, n, sizeof(*both), compare_syms);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || both[i] != both[kept - 1])
            both[kept++] = both[i];
    a->narrowed = (struct node_names){ .at = both, .n = kept, .given = true };
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "[A B]": names of the plugins in a mask, sorted. */
static const char *plugin_list(const struct attempt *a, uint64_t mask)
{
    const char *names[PLUGINS_MAX];
    size_t n = 0;
    const struct profile *profile = a->cycle.profile;
    for (uint64_t left = mask; left; left &= left - 1)
        names[n++] = profile->instances[__builtin_ctzll(left)].plugin->name;
    qsort(names, n, sizeof(*names), compare_texts);
    size_t n_bytes = sizeof("[]");
    for (size_t i = 0; i < n; i++)
        n_bytes += strlen(names[i]) + 1;
    char *list = arena_alloc(a->cycle.arena, n_bytes), *end = stpcpy(list, "[");
    for (size_t i = 0; i < n; i++)
        end = stpcpy(i ? stpcpy(end, " ") : end, names[i]);
    stpcpy(end, "]");
    return list;
}

static void pre_filter_rejects(struct attempt *a, const struct plugin_instance *p, struct verdict v)
{
    struct filter_status status = { v, p };
    struct reasons reasons = { .arena = a->cycle.arena };
    framework_reasons(&a->cycle, &status, &reasons);
    struct strbuf message;
    strbuf_init(&message, STRBUF_NO_MAX);
    for (size_t i = 0; i < reasons.texts.n; i++) {
        if (i)
            STRBUF_ADD_LIT(&message, ", ");
        strbuf_add_text(&message, reasons.texts.at[i]);
    }
    a->pre_filter = v;
    a->pre_filter_plugin = p;
    a->pre_filter_message = arena_cstr(a->cycle.arena, strbuf_str(&message));
    a->cycle.absent_status = status;
    strbuf_fini(&message);
    vec_fini(&reasons.texts);
}

/* The sets of nodes that plugins narrowed to have nothing in common. */
static void narrowing_rejects(struct attempt *a)
{
    uint64_t mask = a->narrowing_plugins;
    bool one = (mask & (mask - 1)) == 0;
    const char *list = plugin_list(a, mask);
    struct str bare = { list + 1, strlen(list) - 2 };
    const char *text = one ? arena_printf(a->cycle.arena, "node(s) didn't satisfy plugin %.*s", STR_ARG(bare))
                           : arena_printf(a->cycle.arena, "node(s) didn't satisfy plugin(s) %s simultaneously", list);
    a->pre_filter = verdict_text(V_UNRESOLVABLE, text);
    a->pre_filter_message = text;
    a->cycle.absent_status = (struct filter_status){ a->pre_filter, NULL };
}

static bool run_pre_filter(struct attempt *a, const struct point_plugins *points)
{
    struct cycle *c = &a->cycle;
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin_instance *p = points->at[i];
        struct node_names names = { 0 };
        c->pre_filter_ran |= 1ull << p->index;
        int64_t start_ns = measure_plugin_begin(&a->measure);
        struct verdict v = p->plugin->pre_filter(p, c, &names);
        measure_plugin(&a->measure, MEASURED_PRE_FILTER, p, v.code, start_ns);
        if (v.code == V_SKIP) {
            c->skip_filter |= 1ull << p->index;
        } else if (v.code == V_UNSCHEDULABLE || v.code == V_UNRESOLVABLE) {
            pre_filter_rejects(a, p, v);
            if (v.code == V_UNRESOLVABLE)
                break;
        } else if (v.code != V_SUCCESS) {
            return fail(a, arena_printf(c->arena, "running PreFilter plugin \"%s\": %s", p->plugin->name,
                                        v.text ? v.text : ""));
        } else if (names.given) {
            a->narrowing_plugins |= 1ull << p->index;
            intersect(a, &names);
            if (a->narrowed.n == 0) {
                narrowing_rejects(a);
                break;
            }
        }
    }
    a->rejectors |= a->narrowing_plugins;
    if (a->narrowed.given)
        c->narrowed = &a->narrowed;
    if (!a->pre_filter_message)
        return true;
    if (a->pre_filter_plugin)
        a->rejectors |= 1ull << a->pre_filter_plugin->index;
    return reject(a);
}

bool attempt_pre_filter(struct attempt *a)
{
    assert(a->cycle.profile);
    assert(a->outcome == ATTEMPT_FITS);
    struct cycle *c = &a->cycle;
    const struct point_plugins *points = &c->profile->points[POINT_PRE_FILTER];
    bool passes = run_pre_filter(a, points);
    measure_point(&a->measure, MEASURED_PRE_FILTER, a->outcome == ATTEMPT_ERROR ? V_ERROR : a->pre_filter.code, points->n);
    measure_evaluated(&a->measure, EVALUATED_PRE_FILTER, c->pre_filter_ran & ~c->skip_filter, 1);
    if (passes)
        measure_no_hint(&a->measure);
    return passes;
}

/* ---- Filter ---- */

bool attempt_filter(struct attempt *a)
{
    assert(a->outcome == ATTEMPT_FITS);
    if (a->narrowed.given) {
        const char *text = arena_printf(a->cycle.arena, "node(s) didn't satisfy plugin(s) %s",
                                        plugin_list(a, a->narrowing_plugins));
        a->cycle.absent_status = (struct filter_status){ verdict_text(V_UNRESOLVABLE, text), NULL };
    }
    a->feasible = arena_alloc(a->cycle.arena, a->sched->cache.order.n * sizeof(*a->feasible));
    bool promised = a->cycle.pod->nominated_node != SYM_EMPTY && !a->wants.all_nodes && !a->cycle.profile->era->keeps_nomination;
    bool found = promised && try_nominated_node(a);
    if (promised)
        measure_mark(&a->measure); /* a promised node is no search */
    if (!found)
        find_feasible(a);
    if (a->outcome == ATTEMPT_ERROR)
        return false;
    a->cycle.feasible = a->feasible;
    a->cycle.n_feasible = a->n_feasible;
    if (a->n_feasible)
        return true;
    if (a->wants.reasons)
        attempt_diagnose(a);
    return a->outcome == ATTEMPT_ERROR ? false : reject(a);
}

static bool filter_fails(struct attempt *a, const struct filter_status *status)
{
    if (status->verdict.code != V_ERROR)
        return false;
    fail(a, framework_filter_error(&a->cycle, status));
    return true;
}

/* The node that the pod was promised is tried alone first. False: look at all nodes. */
static bool try_nominated_node(struct attempt *a)
{
    node_id id = cache_listed_node(a->cycle.cache, a->cycle.pod->nominated_node);
    if (id == NODE_NONE)
        return false;
    struct node_view view = node_view_of(a->cycle.cache, id);
    struct filter_status status = framework_filter(&a->cycle, &view);
    if (status.verdict.code != V_SUCCESS)
        return false;
    node_id *room = a->feasible;
    room[0] = id;
    a->n_feasible = 1;
    a->n_evaluated = 1;
    a->nominated_node_used = extenders_filter(a) && a->n_feasible > 0;
    if (a->nominated_node_used)
        return true;
    a->feasible = room; /* an extender that refused the node, or failed, is asked again with all nodes */
    a->n_feasible = 0;
    a->bare_nodes = false;
    a->outcome = ATTEMPT_FITS;
    a->error = NULL;
    return false;
}

/* How many nodes are enough, of n to look at. */
static uint32_t nodes_wanted(const struct attempt *a, uint32_t n)
{
    const struct profile *profile = a->cycle.profile;
    if (a->wants.all_nodes)
        return n;
    if (!profile_has(profile, POINT_SCORE) && !extenders_compare(a->sched))
        return 1;
    int32_t percent = profile->percentage_of_nodes_to_score >= 0 ? profile->percentage_of_nodes_to_score
                                                                 : a->sched->percentage_of_nodes_to_score;
    enum { NODES_MIN = 100 };
    if (percent <= 0 || percent >= 100 || n < NODES_MIN)
        return n;
    uint32_t wanted = (uint32_t)((uint64_t)n * (uint32_t)percent / 100);
    return wanted < NODES_MIN ? NODES_MIN : wanted;
}

/* Bits of the nodes to look at: those in the order, or of the narrowed names that exist. Returns their
 * number. */
static uint32_t nodes_to_look_at(const struct attempt *a, uint64_t *alive, size_t n_words)
{
    const struct cache *cache = a->cycle.cache;
    if (!a->narrowed.given) {
        bitset_copy(alive, cache->col.listed, n_words);
        return (uint32_t)cache->order.n;
    }
    bitset_zero(alive, n_words);
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->narrowed.n; i++) {
        node_id id = cache_listed_node(cache, a->narrowed.at[i]);
        if (id == NODE_NONE)
            continue;
        bitset_set(alive, id);
        n++;
    }
    return n;
}

bool attempt_filter_with(struct attempt *a, const struct plugin_instance *p, uint64_t *alive, size_t n_words)
{
    const char *lacks = framework_lacks(&a->cycle, p, POINT_FILTER);
    if (lacks && bitset_any(alive, n_words)) {
        struct filter_status status = { verdict_text(V_ERROR, lacks), p };
        return !filter_fails(a, &status);
    }
    int64_t start_ns = measure_plugin_begin(&a->measure);
    if (p->plugin->filter_block && !lacks) {
        p->plugin->filter_block(p, &a->cycle, alive);
        measure_plugin(&a->measure, MEASURED_FILTER, p, V_SUCCESS, start_ns);
        return true;
    }
    for (size_t id = bitset_next(alive, n_words, 0); id < BITSET_END; id = bitset_next(alive, n_words, id + 1)) {
        struct node_view view = node_view_of(a->cycle.cache, (node_id)id);
        struct filter_status status = { p->plugin->filter(p, &a->cycle, &view), p };
        if (filter_fails(a, &status))
            return false;
        if (status.verdict.code != V_SUCCESS)
            bitset_clear(alive, id);
    }
    measure_plugin(&a->measure, MEASURED_FILTER, p, V_SUCCESS, start_ns);
    return true;
}

/* Why a node does not fit; from memory if that still holds. */
static struct filter_status status_of(struct cycle *c, const struct memo_view *memo, node_id id)
{
    struct memo_version now;
    bool keep = !c->profile->runs_all_filters && memo_version_of(memo, c, id, &now);
    if (keep && memo_holds(&memo->rows[id].status_for, &now))
        return memo->rows[id].status;
    struct node_view view = node_view_of(c->cache, id);
    struct filter_status status = framework_filter(c, &view);
    if (keep && status.verdict.code != V_ERROR) { /* the texts of local plugins are constants */
        memo->rows[id].status = status;
        memo->rows[id].status_for = now;
    }
    return status;
}

/* Nodes with nominated pods must also pass with these pods on them. */
bool attempt_filter_beside_nominated(struct attempt *a, uint64_t *alive)
{
    const struct nominator *n = &a->sched->nominator;
    if (!n->by_node.n || !bitset_any(alive, bitset_words(a->cycle.cache->col.n_rows)))
        return true;
    struct memo_view memo = memos_view(a->sched->memos, &a->cycle);
    size_t n_words = bitset_words(a->cycle.cache->col.n_rows);
    for (size_t w = 0; w < n_words; w++)
        for (uint64_t left = alive[w] & memo.has_nominated[w]; left; left &= left - 1) {
            node_id id = (node_id)(w * 64 + (size_t)__builtin_ctzll(left));
            struct filter_status status = status_of(&a->cycle, &memo, id);
            if (filter_fails(a, &status))
                return false;
            if (status.verdict.code != V_SUCCESS)
                bitset_clear(alive, id);
        }
    return true;
}

static bool run_filters(struct attempt *a, uint64_t *alive, size_t n_words)
{
    const struct point_plugins *points = &a->cycle.profile->points[POINT_FILTER];
    for (uint8_t i = 0; i < points->n; i++) {
        uint64_t bit = 1ull << points->at[i]->index;
        if (a->cycle.skip_filter & bit)
            continue;
        if (a->measure.metrics)
            measure_evaluated(&a->measure, EVALUATED_FILTER, bit, bitset_count(alive, n_words));
        if (!attempt_filter_with(a, points->at[i], alive, n_words))
            return false;
    }
    return attempt_filter_beside_nominated(a, alive);
}

/* The first `wanted` of the alive nodes in search order, and where the next search begins: as upstream
 * with one worker, the fit after the last wanted one ends the search and is not counted. */
static void take_in_order(struct attempt *a, const uint64_t *alive, uint32_t n_looked_at, uint32_t wanted)
{
    const struct cache *cache = a->cycle.cache;
    uint32_t n_order = (uint32_t)cache->order.n, start = a->narrowed.given ? 0 : a->sched->start_index % n_order;
    uint32_t n = 0, n_passed_by = 0;
    if (wanted < n_looked_at && a->sched->n_extenders) /* only extenders can refuse all that a search found */
        a->searched = ARENA_NEW_N(a->cycle.arena, uint64_t, bitset_words(cache->col.n_rows));
    for (uint32_t i = 0; i < n_order; i++) {
        uint32_t at = start + i < n_order ? start + i : start + i - n_order;
        node_id id = cache->order.at[at];
        if (a->searched && (n < wanted || !bitset_test(alive, id)))
            bitset_set(a->searched, id);
        if (bitset_test(alive, id)) {
            if (n == wanted)
                break;
            a->feasible[n++] = id;
        } else {
            n_passed_by++;
        }
    }
    a->n_feasible = n;
    uint32_t n_processed = a->narrowed.given ? n_looked_at : n + n_passed_by;
    a->n_evaluated = n_processed;
    a->sched->start_index = (a->sched->start_index + n_processed) % n_order;
}

static void find_feasible(struct attempt *a)
{
    size_t n_words = bitset_words(a->cycle.cache->col.n_rows);
    uint64_t *alive = arena_alloc(a->cycle.arena, n_words * sizeof(*alive));
    uint32_t n_looked_at = nodes_to_look_at(a, alive, n_words);
    unsigned n_plugins = a->cycle.profile->points[POINT_FILTER].n;
    bool filtered = run_filters(a, alive, n_words);
    measure_point(&a->measure, MEASURED_FILTER, filtered ? V_SUCCESS : V_ERROR, n_plugins);
    if (!filtered)
        return;
    take_in_order(a, alive, n_looked_at, nodes_wanted(a, n_looked_at));
    uint32_t n_before = a->n_feasible;
    if (extenders_filter(a) && a->n_feasible != n_before)
        a->rejectors |= 1ull << PLUGIN_EXTENDERS;
}

void attempt_diagnose(struct attempt *a)
{
    assert(!a->pre_filter_message);
    struct cycle *c = &a->cycle;
    node_id n_rows = c->cache->col.n_rows;
    size_t n_words = bitset_words(n_rows);
    uint64_t *to_look_at = arena_alloc(c->arena, n_words * sizeof(*to_look_at));
    nodes_to_look_at(a, to_look_at, n_words);
    struct memo_view memo = memos_view(a->sched->memos, c);
    if (a->searched)
        bitset_and(to_look_at, a->searched, n_words);
    if (!a->statuses)
        a->statuses = ARENA_NEW_N(c->arena, struct filter_status, n_rows);
    for (size_t id = bitset_next(to_look_at, n_words, 0); id < BITSET_END;
         id = bitset_next(to_look_at, n_words, id + 1)) {
        if (a->statuses[id].verdict.code != V_SUCCESS)
            continue; /* an extender has spoken */
        struct filter_status status = status_of(c, &memo, (node_id)id);
        if (filter_fails(a, &status))
            return;
        a->statuses[id] = status;
        if (status.plugin && verdict_rejects(status.verdict))
            a->rejectors |= 1ull << status.plugin->index;
        for (uint32_t i = 0; i < status.n_several; i++)
            a->rejectors |= 1ull << status.several[i].plugin->index;
        if (status.plugin && status.verdict.code == V_PENDING)
            a->pending |= 1ull << status.plugin->index;
    }
    c->statuses = a->statuses;
}
