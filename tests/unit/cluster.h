/* tests/unit/cluster.h - a small cluster for tests of one plugin: nodes and pods from JSON, a cycle to try a pod in.
 *
 *     struct cluster cl;
 *     cluster_init(&cl, &nodename_plugin, NULL);
 *     cluster_node(&cl, "{\"metadata\":{\"name\":\"n1\"}}");
 *     cluster_begin(&cl, cluster_decode_pod(&cl, "{...}"));
 *     struct verdict v = cluster_filter(&cl, "n1");
 *     cluster_fini(&cl);
 *
 * The texts of pods and nodes are formats. A failure to decode ends the test. */
#pragma once

#include <stdarg.h>

#include "plugins/plugins.h"
#include "sched/counts.h"
#include "sched/era.h"
#include "sched/sched_priv.h"
#include "sched/topology.h"
#include "tests/test.h"

struct cluster {
    struct sym_table syms;
    struct arena arena; /* of the cycle */
    struct arena texts;
    struct err e;
    struct cache cache;
    struct features features;
    struct profile profile; /* of the one plugin */
    struct sched sched;     /* its nominator is all that a cycle looks at */
    struct objects *objects;
    struct cycle cycle;
    void *state[PLUGINS_MAX], *score_state[PLUGINS_MAX];
    const struct pod *pod; /* that is tried; holds a reference */
};

static inline struct plugin_instance *cluster_plugin(struct cluster *cl)
{
    return &cl->profile.instances[0];
}

static inline void cluster_init(struct cluster *cl, const struct plugin *plugin, const void *args)
{
    memset(cl, 0, sizeof(*cl));
    sym_init(&cl->syms);
    arena_init(&cl->arena);
    arena_init(&cl->texts);
    err_init(&cl->e, &cl->texts);
    cache_init(&cl->cache, &cl->syms);
    nominator_init(&cl->sched.nominator, &cl->syms);
    cl->objects = objects_new(&cl->syms);
    struct plugin_instance *p = cluster_plugin(cl);
    *p = (struct plugin_instance){ .plugin = plugin, .syms = &cl->syms, .features = &cl->features, .era = &era_modern };
    cl->profile.n_instances = 1;
    cl->profile.points[POINT_PRE_FILTER] = (struct point_plugins){ .at = { p }, .n = 1 };
    cl->profile.points[POINT_FILTER] = (struct point_plugins){ .at = { p }, .n = 1 };
    if (plugin->init && plugin->init(p, args, &cl->e))
        FAIL("init: %s", cl->e.message);
}

static inline void cluster_end(struct cluster *cl)
{
    if (cl->pod)
        pod_unref(&cl->syms, cl->pod);
    cl->pod = NULL;
    arena_reset(&cl->arena);
}

static inline void cluster_fini(struct cluster *cl)
{
    cluster_end(cl);
    if (cluster_plugin(cl)->plugin->fini)
        cluster_plugin(cl)->plugin->fini(cluster_plugin(cl));
    nominator_fini(&cl->sched.nominator);
    objects_free(cl->objects);
    cache_fini(&cl->cache);
    arena_fini(&cl->arena);
    arena_fini(&cl->texts);
    sym_fini(&cl->syms);
}

/* ---- Objects ---- */

/* ' stands for ", so that the texts of tests stay readable. */
__attribute__((format(printf, 2, 0))) static inline struct str cluster_json(struct cluster *cl, const char *format,
                                                                          va_list args)
{
    char *text = arena_vprintf(&cl->texts, format, args);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    return str_of(text);
}

/* The caller holds the reference. */
__attribute__((format(printf, 2, 3))) static inline const struct pod *cluster_decode_pod(struct cluster *cl,
                                                                                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const struct pod *pod;
    if (pod_decode(&cl->syms, TYPED_JSON, cluster_json(cl, format, args), &pod, &cl->e))
        FAIL("pod: %s", cl->e.message);
    va_end(args);
    return pod;
}

/* A pod that has a node. */
__attribute__((format(printf, 2, 3))) static inline void cluster_pod(struct cluster *cl, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const struct pod *pod;
    if (pod_decode(&cl->syms, TYPED_JSON, cluster_json(cl, format, args), &pod, &cl->e) ||
        cache_add_pod(&cl->cache, pod, &cl->e))
        FAIL("pod: %s", cl->e.message);
    va_end(args);
    pod_unref(&cl->syms, pod);
}

__attribute__((format(printf, 2, 3))) static inline const struct node *cluster_decode_node(struct cluster *cl,
                                                                                         const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const struct node *node;
    if (node_decode(&cl->syms, TYPED_JSON, cluster_json(cl, format, args), &node, &cl->e))
        FAIL("node: %s", cl->e.message);
    va_end(args);
    return node;
}

__attribute__((format(printf, 2, 3))) static inline void cluster_node(struct cluster *cl, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const struct node *node;
    if (node_decode(&cl->syms, TYPED_JSON, cluster_json(cl, format, args), &node, &cl->e))
        FAIL("node: %s", cl->e.message);
    va_end(args);
    cache_add_node(&cl->cache, node);
    node_unref(&cl->syms, node);
}

/* A Service, ReplicaSet, Namespace, ...: name of its functions, its object_kind, its JSON. */
#define CLUSTER_OBJECT(cl, name, kind, json)                                               \
    do {                                                                                   \
        const struct name *form_;                                                          \
        char *text_ = arena_cstr(&(cl)->texts, str_of(json));                              \
        for (char *c_ = text_; *c_; c_++)                                                  \
            *c_ = *c_ == '\'' ? '"' : *c_;                                                 \
        if (name##_decode(&(cl)->syms, TYPED_JSON, str_of(text_), &form_, &(cl)->e))       \
            FAIL(#name ": %s", (cl)->e.message);                                           \
        objects_set((cl)->objects, (kind), form_);                                         \
        name##_unref(&(cl)->syms, form_);                                                  \
    } while (0)

/* ---- A cycle ---- */

/* Takes over the reference to the pod. */
static inline void cluster_begin(struct cluster *cl, const struct pod *own_pod)
{
    cluster_end(cl);
    cl->pod = own_pod;
    cache_update_order(&cl->cache);
    counts_next_cycle(cl->cache.counts);
    topology_next_cycle(cl->cache.topology);
    memset(cl->state, 0, sizeof(cl->state));
    memset(cl->score_state, 0, sizeof(cl->score_state));
    cl->cycle = (struct cycle){
        .arena = &cl->arena,
        .cache = &cl->cache,
        .objects = cl->objects,
        .syms = &cl->syms,
        .profile = &cl->profile,
        .sched = &cl->sched,
        .pod = own_pod,
        .state = cl->state,
        .score_state = cl->score_state,
    };
}

static inline struct verdict cluster_pre_filter(struct cluster *cl)
{
    struct node_names names = { 0 };
    struct verdict v = cluster_plugin(cl)->plugin->pre_filter(cluster_plugin(cl), &cl->cycle, &names);
    if (v.code == V_SKIP)
        cl->cycle.skip_filter = 1;
    return v;
}

static inline node_id cluster_row(struct cluster *cl, const char *node)
{
    node_id id = cache_find_node(&cl->cache, sym_find(&cl->syms, str_of(node)));
    if (id == NODE_NONE)
        FAIL("no node %s", node);
    return id;
}

static inline struct verdict cluster_filter(struct cluster *cl, const char *node)
{
    struct node_view view = node_view_of(&cl->cache, cluster_row(cl, node));
    return cluster_plugin(cl)->plugin->filter(cluster_plugin(cl), &cl->cycle, &view);
}

/* All listed nodes are feasible, in the order of the cache, but for those in `without`. */
static inline void cluster_set_feasible(struct cluster *cl, const uint64_t *without)
{
    node_id *feasible = arena_alloc(&cl->arena, cl->cache.order.n * sizeof(*feasible));
    uint32_t n = 0;
    for (size_t i = 0; i < cl->cache.order.n; i++)
        if (!without || !bitset_test(without, cl->cache.order.at[i]))
            feasible[n++] = cl->cache.order.at[i];
    cl->cycle.feasible = feasible;
    cl->cycle.n_feasible = n;
}

/* Scores of c->feasible by blocks, normalized. */
static inline int64_t *cluster_scores(struct cluster *cl)
{
    const struct plugin_instance *p = cluster_plugin(cl);
    int64_t *scores = arena_alloc(&cl->arena, cl->cycle.n_feasible * sizeof(*scores));
    p->plugin->score_block(p, &cl->cycle, scores);
    if (p->plugin->normalize)
        p->plugin->normalize(p, &cl->cycle, scores);
    return scores;
}

/* The same node by node. */
static inline int64_t *cluster_scores_one_by_one(struct cluster *cl)
{
    const struct plugin_instance *p = cluster_plugin(cl);
    int64_t *scores = arena_alloc(&cl->arena, cl->cycle.n_feasible * sizeof(*scores));
    for (uint32_t i = 0; i < cl->cycle.n_feasible; i++) {
        struct node_view view = node_view_of(&cl->cache, cl->cycle.feasible[i]);
        scores[i] = p->plugin->score(p, &cl->cycle, &view);
    }
    if (p->plugin->normalize)
        p->plugin->normalize(p, &cl->cycle, scores);
    return scores;
}

/* The score of a node in what cluster_scores returned. */
static inline int64_t cluster_score_of(struct cluster *cl, const int64_t *scores, const char *node)
{
    node_id id = cluster_row(cl, node);
    for (uint32_t i = 0; i < cl->cycle.n_feasible; i++)
        if (cl->cycle.feasible[i] == id)
            return scores[i];
    FAIL("%s is not feasible", node);
}

/* ---- Hints ---- */

static inline const void *cluster_decode(struct cluster *cl, bool is_node, const char *json)
{
    if (!json)
        return NULL;
    return is_node ? (const void *)cluster_decode_node(cl, "%s", json) : cluster_decode_pod(cl, "%s", json);
}

static inline void cluster_unref(struct cluster *cl, bool is_node, const void *form)
{
    if (form && is_node)
        node_unref(&cl->syms, form);
    else if (form)
        pod_unref(&cl->syms, form);
}

/* What the plugin's hint says of a change of a pod or a node; NULL: it was not there before, or is not any more. */
static inline enum hint cluster_hint(struct cluster *cl, const struct plugin_event *to, const struct pod *waiting,
                                     const char *old_json, const char *new_json)
{
    bool is_node = to->resource == RES_NODE;
    struct hint_context h = { cluster_plugin(cl), &cl->cache, cl->objects, &cl->syms, &cl->arena };
    struct cluster_event event = { .old_object = cluster_decode(cl, is_node, old_json),
                                   .new_object = cluster_decode(cl, is_node, new_json) };
    enum hint hint = to->hint(&h, waiting, &event);
    cluster_unref(cl, is_node, event.old_object);
    cluster_unref(cl, is_node, event.new_object);
    return hint;
}
