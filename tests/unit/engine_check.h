/* tests/unit/engine_check.h - the scheduler of a random engine (random_engine.h) against the truth of its API server.
 *
 *   - The cache equals one that is made anew from the truth and the bindings under way.
 *   - Every pending pod is in exactly one place, and every record is of a pod that there is.
 *   - Only pods that exist and have no node are nominated. */
#pragma once

#include "sched/counts.h"
#include "sched/topology.h"
#include "tests/unit/random_engine.h"

/* ---- The cache against one made anew ---- */

static inline void fresh_cache(struct engine *g, struct cache *c)
{
    cache_init(c, g->w.syms);
    for (unsigned i = 0; i < NODES_MAX; i++)
        if (g->nodes[i])
            cache_add_node(c, g->nodes[i]);
    for (size_t i = 0; i < g->pods.n; i++) {
        const struct truth *t = &g->pods.at[i];
        const char *node = t->shown_on_node ? t->node : t->assumed;
        if (!node)
            continue;
        /* An assumed pod counts as it was when it was assumed. */
        const struct placed *there = cache_find_pod(sched_cache(g->sched), t->uid);
        if (!there)
            FAIL("seed %llu, step %u: %s is not on %s", (unsigned long long)g->seed, g->step, t->uid, node);
        if (there->assumed != !t->shown_on_node)
            FAIL("seed %llu, step %u: %s assumed: %d", (unsigned long long)g->seed, g->step, t->uid, there->assumed);
        CHECK_STR(t->uid, sym_text(g->w.syms, there->pod->node_name), str_of(node));
        if (cache_add_pod(c, there->pod, &g->w.e))
            FAIL("%s", g->w.e.message);
    }
    cache_update_order(c);
}

static inline void same_port_sets(const struct node_row *a, const struct node_row *b)
{
    CHECK(a->ports.n <= b->ports.n); /* upstream's set forgets a port that two pods share when one goes */
    for (size_t i = 0; i < a->ports.n; i++) {
        bool found = false;
        for (size_t k = 0; k < b->ports.n; k++)
            found |= a->ports.at[i].port == b->ports.at[k].port && a->ports.at[i].ip == b->ports.at[k].ip &&
                     a->ports.at[i].protocol == b->ports.at[k].protocol;
        CHECK(found);
    }
}

static inline void same_taints(const struct taint_set *a, const struct taint_set *b)
{
    CHECK_INT("taints", a->n_taints, b->n_taints);
    for (uint32_t i = 0; i < a->n_taints; i++)
        CHECK(a->taints[i].key == b->taints[i].key && a->taints[i].value == b->taints[i].value &&
              a->taints[i].effect == b->taints[i].effect);
}

static inline void same_topology(const struct cache *a, node_id i, const struct cache *b, node_id k, sym key)
{
    const struct topology_key *of_a = topology_key(a->topology, key), *of_b = topology_key(b->topology, key);
    CHECK(of_a->domains.at[of_a->of_row[i]].value == of_b->domains.at[of_b->of_row[k]].value || !of_a->of_row[i]);
    CHECK_INT("domain", of_a->of_row[i] == 0, of_b->of_row[k] == 0);
    CHECK_INT("nodes of the domain", of_a->domains.at[of_a->of_row[i]].n_nodes,
              of_b->domains.at[of_b->of_row[k]].n_nodes);
}

static inline void same_rows(const struct cache *a, node_id i, const struct cache *b, node_id k)
{
    const char *what = a->rows.at[i].node ? a->rows.at[i].node->meta.name : "ghost";
    const struct columns *x = &a->col, *y = &b->col;
    CHECK(a->rows.at[i].node == b->rows.at[k].node);
    CHECK_INT(what, x->alloc_milli_cpu[i], y->alloc_milli_cpu[k]);
    CHECK_INT(what, x->alloc_memory[i], y->alloc_memory[k]);
    CHECK_INT(what, x->alloc_ephemeral[i], y->alloc_ephemeral[k]);
    CHECK_INT(what, x->alloc_pods[i], y->alloc_pods[k]);
    CHECK_INT(what, x->used_milli_cpu[i], y->used_milli_cpu[k]);
    CHECK_INT(what, x->used_memory[i], y->used_memory[k]);
    CHECK_INT(what, x->used_ephemeral[i], y->used_ephemeral[k]);
    CHECK_INT(what, x->non_zero_milli_cpu[i], y->non_zero_milli_cpu[k]);
    CHECK_INT(what, x->non_zero_memory[i], y->non_zero_memory[k]);
    CHECK_INT(what, x->n_pods[i], y->n_pods[k]);
    CHECK_INT(what, a->rows.at[i].pods.n, b->rows.at[k].pods.n);
    CHECK_INT(what, bitset_test(x->listed, i), bitset_test(y->listed, k));
    CHECK_INT(what, bitset_test(x->unschedulable, i), bitset_test(y->unschedulable, k));
    same_taints(&a->taint_sets.at[x->taint_set[i]], &b->taint_sets.at[y->taint_set[k]]);
    same_port_sets(&a->rows.at[i], &b->rows.at[k]);
    for (size_t n = 0; n < x->scalars.n; n++) {
        const struct scalar_column *other = cache_scalar(b, x->scalars.at[n].name);
        CHECK_INT(what, x->scalars.at[n].alloc[i], other ? other->alloc[k] : 0);
        CHECK_INT(what, x->scalars.at[n].used[i], other ? other->used[k] : 0);
    }
}

static inline void same_images(const struct cache *a, const struct cache *b)
{
    CHECK_INT("images", a->images.n, b->images.n);
    for (struct map_u64_slot *s = map_u64_next(&a->images, NULL); s; s = map_u64_next(&a->images, s)) {
        const struct image_state *other = cache_image(b, (sym)s->key);
        CHECK(other);
        CHECK_INT("nodes with an image", ((const struct image_state *)s->value.ptr)->n_nodes, other->n_nodes);
    }
}

static inline void same_claims(const struct cache *a, const struct cache *b)
{
    CHECK_INT("claims", a->used_claims.n, b->used_claims.n);
    for (struct map_u64_slot *s = map_u64_next(&a->used_claims, NULL); s; s = map_u64_next(&a->used_claims, s))
        CHECK_INT("users of a claim", s->value.num, cache_claim_users(b, (sym)(s->key >> 32), (sym)s->key));
}

static inline void same_counts(struct engine *g, struct cache *a, struct cache *b)
{
    sym app = sym_intern_static(g->w.syms, STR("app")), x = sym_intern_static(g->w.syms, STR("a"));
    sym one = sym_intern_static(g->w.syms, STR("one"));
    struct match_rule in = { .key = app, .op = MATCH_IN, .n_values = 1, .values = &x };
    struct match_rule exists = { .key = app, .op = MATCH_EXISTS };
    struct matcher matchers[] = { { .mode = MATCHER_ALL_OF, .n = 1, .at = &in },
                                  { .mode = MATCHER_ALL_OF, .n = 1, .at = &exists },
                                  { .mode = MATCHER_ALL_OF, .n = 0, .at = NULL } };
    for (int i = 0; i < 6; i++) {
        struct count_part part = { .selector = &matchers[i / 2], .namespaces = &one, .n_namespaces = 1,
                                   .any_namespace = i % 2 };
        const int32_t *of_a = counts_matching(a->counts, &part, 1, i == 3);
        const int32_t *of_b = counts_matching(b->counts, &part, 1, i == 3);
        for (struct map_u64_slot *s = map_u64_next(&b->row_of_name, NULL); s; s = map_u64_next(&b->row_of_name, s))
            CHECK_INT("pods that match", of_a[cache_find_node(a, (sym)s->key)], of_b[s->value.num]);
    }
    for (enum term_kind kind = 0; kind < N_TERM_KINDS; kind++)
        CHECK_INT("distinct terms", counts_terms(a->counts, kind).n, counts_terms(b->counts, kind).n);
}

static inline void no_pod_too_many(struct engine *g, const struct cache *live, const struct cache *fresh)
{
    for (struct map_str_slot *s = map_str_next(&live->pods, NULL); s; s = map_str_next(&live->pods, s)) {
        const struct placed *p = s->value.ptr;
        if (!cache_find_pod(fresh, p->pod->meta.uid))
            FAIL("seed %llu, step %u: %s is still on a node, assumed %d, exists %d, binding %d",
                 (unsigned long long)g->seed, g->step, p->pod->meta.uid, p->assumed,
                 find_truth(g, p->pod->meta.uid) != NULL, bind_find(g->sched, p->pod->meta.uid) != NULL);
    }
}

static inline void check_cache(struct engine *g)
{
    struct cache *live = sched_cache(g->sched), *fresh = malloc(sizeof(*fresh));
    fresh_cache(g, fresh);
    no_pod_too_many(g, live, fresh);
    cache_update_order(live);
    counts_next_cycle(live->counts);
    CHECK_INT("pods", live->pods.n, fresh->pods.n);
    CHECK_INT("rows", live->row_of_name.n, fresh->row_of_name.n);
    CHECK_INT("listed", live->order.n, fresh->order.n);
    sym zone = sym_intern_static(g->w.syms, STR("zone")), rack = sym_intern_static(g->w.syms, STR("rack"));
    const struct map_u64 *rows = &fresh->row_of_name;
    for (struct map_u64_slot *s = map_u64_next(rows, NULL); s; s = map_u64_next(rows, s)) {
        node_id there = cache_find_node(live, (sym)s->key), here = (node_id)s->value.num;
        CHECK(there != NODE_NONE);
        same_rows(live, there, fresh, here);
        same_topology(live, there, fresh, here, zone);
        same_topology(live, there, fresh, here, rack);
        CHECK_INT("listed", cache_listed_node(live, (sym)s->key) == NODE_NONE,
                  cache_listed_node(fresh, (sym)s->key) == NODE_NONE);
    }
    same_images(live, fresh);
    same_claims(live, fresh);
    same_counts(g, live, fresh);
    cache_fini(fresh);
    free(fresh);
}

/* ---- The queue and the nominations ---- */

struct places {
    struct engine *g;
    const char *uid; /* NULL: all records are checked to be of pods that there are */
    unsigned n;
    enum queue_place place;
};

static inline void see_record(void *context, const struct queued_pod *qp)
{
    struct places *p = context;
    if (p->uid) {
        p->n += strcmp(p->uid, qp->pod->meta.uid) == 0;
        return;
    }
    const struct truth *t = find_truth(p->g, qp->pod->meta.uid);
    if (p->place != PLACE_DONE && p->place != PLACE_IN_FLIGHT && (!t || t->shown_on_node))
        FAIL("seed %llu, step %u: %s waits, but %s", (unsigned long long)p->g->seed, p->g->step, qp->pod->meta.uid,
             t ? "has a node" : "is gone");
    if (p->place == PLACE_IN_FLIGHT || p->place == PLACE_DONE)
        CHECK(bind_find(p->g->sched, qp->pod->meta.uid));
}

static inline void check_queue(struct engine *g)
{
    const struct queue *q = sched_queue(g->sched);
    queue_check(q);
    for (enum queue_place place = PLACE_ACTIVE; place < N_PLACES; place++) {
        struct places all = { .g = g, .place = place };
        queue_each(q, place, see_record, &all);
    }
    for (size_t i = 0; i < g->pods.n; i++) {
        const struct truth *t = &g->pods.at[i];
        struct places of_pod = { .g = g, .uid = t->uid };
        for (enum queue_place place = PLACE_ACTIVE; place < N_PLACES; place++)
            queue_each(q, place, see_record, &of_pod);
        bool assumed_for_good = t->assumed && !bind_find(g->sched, t->uid);
        bool popped = bind_find(g->sched, t->uid) != NULL;
        unsigned want = t->shown_on_node ? popped : !assumed_for_good;
        /* A terminating pod is popped and not tried. While its binding is under way it is off its node, so that a new
         * version is queued beside the old record, as upstream's is. */
        bool excused = t->terminating && (of_pod.n == 0 || (popped && of_pod.n == 2));
        if (of_pod.n != want && !excused)
            FAIL("seed %llu, step %u: %s is in %u places (on a node %d, assumed %d, binding %d)",
                 (unsigned long long)g->seed, g->step, t->uid, of_pod.n, t->shown_on_node, t->assumed != NULL, popped);
    }
}

static inline void check_nominations(struct engine *g)
{
    const struct nominator *n = sched_nominator(g->sched);
    for (struct map_str_slot *s = map_str_next(&n->by_uid, NULL); s; s = map_str_next(&n->by_uid, s)) {
        const struct nominated *entry = s->value.ptr;
        const struct truth *t = find_truth(g, entry->pod->meta.uid);
        if (!t || t->shown_on_node || t->assumed)
            FAIL("seed %llu, step %u: %s is nominated, but %s", (unsigned long long)g->seed, g->step,
                 entry->pod->meta.uid, t ? "has a node" : "is gone");
    }
}

static inline void check_engine(struct engine *g)
{
    check_queue(g);
    check_nominations(g);
    check_cache(g);
}
