/* tests/unit/random_cluster.h - small random clusters for property tests of affinity and spreading: labels that clash,
 * nodes without zones, ghosts, namespaces with and without objects, terminating pods, selectors of all kinds.
 *
 * Texts are JSON with ' for ", as cluster.h takes them. */
#pragma once

#include "base/rand.h"
#include "base/strbuf.h"
#include "tests/unit/cluster.h"

struct random_cluster {
    struct cluster cl;
    struct rand rand;
    struct strbuf text; /* scratch */
    int n_pods_made;
    unsigned n_nodes;
    bool tidy;      /* every node has its own host name */
    bool has_trend; /* many pods carry the same terms */
};

enum { FEW_NODES = 10, MANY_NODES = 90, PODS_PER_NODE = 4 };

static inline unsigned below(struct random_cluster *r, unsigned n)
{
    return (unsigned)rand_below(&r->rand, n);
}

static inline bool chance(struct random_cluster *r, unsigned percent)
{
    return below(r, 100) < percent;
}

#define PICK(r, ...)                                                                       \
    ((const char *const[]){ __VA_ARGS__ }[below(                                           \
        (r), sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))])

static inline void add_random_labels(struct random_cluster *r)
{
    struct strbuf *b = &r->text;
    strbuf_add_text(b, "'labels':{'n':'");
    strbuf_add_text(b, PICK(r, "0", "1"));
    strbuf_add_text(b, "'");
    if (chance(r, 80))
        strbuf_printf(b, ",'app':'%s'", PICK(r, "a", "b", "c"));
    if (chance(r, 50))
        strbuf_printf(b, ",'tier':'%s'", PICK(r, "x", "y", ""));
    strbuf_add_text(b, "}");
}

/* The value of a labelSelector, or nothing when the field is to be left out. */
static inline const char *random_selector(struct random_cluster *r, bool may_be_invalid)
{
    if (may_be_invalid && chance(r, 3))
        return "{'matchExpressions':[{'key':'app','operator':'Wrong'}]}";
    return PICK(r, NULL, "{}", "{'matchLabels':{'app':'a'}}", "{'matchLabels':{'app':'a'}}",
                "{'matchLabels':{'app':'b'}}", "{'matchLabels':{'app':'b','tier':'x'}}",
                "{'matchExpressions':[{'key':'app','operator':'In','values':['a','c']}]}",
                "{'matchExpressions':[{'key':'app','operator':'NotIn','values':['a']}]}",
                "{'matchExpressions':[{'key':'tier','operator':'Exists'}]}",
                "{'matchExpressions':[{'key':'tier','operator':'DoesNotExist'}]}",
                "{'matchLabels':{'n':'0'},'matchExpressions':[{'key':'app','operator':'In','values':['a','b','c']}]}");
}

static inline void add_random_term(struct random_cluster *r, bool may_be_invalid)
{
    struct strbuf *b = &r->text;
    strbuf_printf(b, "{'topologyKey':'%s'", PICK(r, "zone", "zone", "kubernetes.io/hostname", "rack", "nowhere"));
    const char *selector = random_selector(r, may_be_invalid);
    if (selector)
        strbuf_printf(b, ",'labelSelector':%s", selector);
    const char *namespaces = PICK(r, NULL, NULL, "['one']", "['one','two']", "['unknown']");
    if (namespaces)
        strbuf_printf(b, ",'namespaces':%s", namespaces);
    const char *by_label = PICK(r, NULL, NULL, NULL, "{}", "{'matchLabels':{'team':'t'}}",
                                "{'matchExpressions':[{'key':'team','operator':'NotIn','values':['t']}]}",
                                "{'matchExpressions':[{'key':'team','operator':'Exists'}]}");
    if (by_label)
        strbuf_printf(b, ",'namespaceSelector':%s", by_label);
    strbuf_add_text(b, "}");
}

static inline void add_random_terms(struct random_cluster *r, bool may_be_invalid)
{
    struct strbuf *b = &r->text;
    unsigned n_required = chance(r, 50) ? 1 + below(r, 2) : 0, n_preferred = chance(r, 50) ? 1 + below(r, 2) : 0;
    strbuf_add_text(b, "{'requiredDuringSchedulingIgnoredDuringExecution':[");
    for (unsigned i = 0; i < n_required; i++) {
        strbuf_add_text(b, i ? "," : "");
        add_random_term(r, may_be_invalid);
    }
    strbuf_add_text(b, "],'preferredDuringSchedulingIgnoredDuringExecution':[");
    for (unsigned i = 0; i < n_preferred; i++) {
        strbuf_printf(b, "%s{'weight':%u,'podAffinityTerm':", i ? "," : "", 1 + below(r, 3) * 49);
        add_random_term(r, may_be_invalid);
        strbuf_add_text(b, "}");
    }
    strbuf_add_text(b, "]}");
}

static inline void add_random_spread(struct random_cluster *r, bool may_be_invalid)
{
    struct strbuf *b = &r->text;
    unsigned n = chance(r, 50) ? 1 + below(r, 3) : 0;
    strbuf_add_text(b, ",'topologySpreadConstraints':[");
    for (unsigned i = 0; i < n; i++) {
        strbuf_printf(b, "%s{'maxSkew':%u,'topologyKey':'%s','whenUnsatisfiable':'%s'", i ? "," : "", 1 + below(r, 3),
                      PICK(r, "zone", "zone", "kubernetes.io/hostname", "rack", "nowhere"),
                      PICK(r, "DoNotSchedule", "ScheduleAnyway"));
        const char *selector = random_selector(r, may_be_invalid);
        if (selector)
            strbuf_printf(b, ",'labelSelector':%s", selector);
        if (chance(r, 25))
            strbuf_printf(b, ",'minDomains':%u", 1 + below(r, 4));
        if (chance(r, 25))
            strbuf_add_text(b, ",'matchLabelKeys':['tier','n','absent']");
        if (chance(r, 40))
            strbuf_printf(b, ",'nodeAffinityPolicy':'%s'", PICK(r, "Honor", "Ignore"));
        if (chance(r, 40))
            strbuf_printf(b, ",'nodeTaintsPolicy':'%s'", PICK(r, "Honor", "Ignore"));
        strbuf_add_text(b, "}");
    }
    strbuf_add_text(b, "]");
}

/* A pod on a node, or on none (NULL). Only pods on nodes may have terms that do not parse. */
static inline const struct pod *random_pod(struct random_cluster *r, const char *node)
{
    struct strbuf *b = &r->text;
    strbuf_reset(b);
    int number = r->n_pods_made++;
    strbuf_printf(b, "{'metadata':{'name':'p%d','uid':'p%d','namespace':'%s',", number, number,
                  PICK(r, "one", "two", "bare"));
    if (chance(r, 15))
        strbuf_add_text(b, "'deletionTimestamp':'2020-01-01T00:00:00Z',");
    add_random_labels(r);
    strbuf_printf(b, "},'spec':{'nodeName':'%s'", node ? node : "");
    const char *node_affinity =
        PICK(r, "", "", "{'matchExpressions':[{'key':'disk','operator':'In','values':['ssd']}]}",
             "{'matchExpressions':[{'key':'disk','operator':'NotIn','values':['ssd']}]}",
             "{'matchFields':[{'key':'metadata.name','operator':'In','values':['node-1']}]},"
             "{'matchExpressions':[{'key':'rack','operator':'Exists'}]}");
    if (r->has_trend && chance(r, 60)) {
        const char *term = "{'topologyKey':'zone','namespaces':['one'],'labelSelector':{'matchLabels':{'app':'a'}}}";
        strbuf_printf(b,
                      ",'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[%s]},"
                      "'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"
                      "'topologyKey':'kubernetes.io/hostname','namespaces':['two'],"
                      "'labelSelector':{'matchLabels':{'app':'b','tier':'x'}}}],"
                      "'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':5,'podAffinityTerm':%s}]}}",
                      term, term);
    } else if (chance(r, 70)) {
        strbuf_add_text(b, ",'affinity':{'podAffinity':");
        add_random_terms(r, node != NULL);
        strbuf_add_text(b, ",'podAntiAffinity':");
        add_random_terms(r, node != NULL);
        if (node_affinity[0])
            strbuf_printf(b,
                          ",'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
                          "'nodeSelectorTerms':[%s]}}",
                          node_affinity);
        strbuf_add_text(b, "}");
    }
    add_random_spread(r, node != NULL);
    if (chance(r, 25))
        strbuf_printf(b, ",'nodeSelector':{'disk':'%s'}", PICK(r, "ssd", "hdd"));
    if (chance(r, 40))
        strbuf_add_text(b, ",'tolerations':[{'key':'t1','operator':'Exists'}]");
    strbuf_add_text(b, "}}");
    return cluster_decode_pod(&r->cl, "%s", strbuf_cstr(b));
}

static inline const char *node_name(struct random_cluster *r, unsigned number)
{
    return arena_printf(&r->cl.texts, "node-%u", number);
}

/* Adds or changes a node. */
static inline void random_node(struct random_cluster *r, unsigned number)
{
    struct strbuf *b = &r->text;
    strbuf_reset(b);
    strbuf_printf(b, "{'metadata':{'name':'%s','labels':{'disk':'%s'", node_name(r, number), PICK(r, "ssd", "hdd"));
    if (chance(r, 85))
        strbuf_printf(b, ",'zone':'%s'", PICK(r, "a", "a", "b", "c", ""));
    if (chance(r, 85))
        strbuf_printf(b, ",'topology.kubernetes.io/zone':'%s'", PICK(r, "a", "b", ""));
    if (r->tidy || chance(r, 90))
        strbuf_printf(b, ",'kubernetes.io/hostname':'h%u'", !r->tidy && chance(r, 10) ? 0 : number);
    if (chance(r, 60))
        strbuf_printf(b, ",'rack':'%s'", PICK(r, "r1", "r2"));
    strbuf_add_text(b, "}},'spec':{'taints':[");
    if (chance(r, 40))
        strbuf_printf(b, "{'key':'%s','effect':'%s'}", PICK(r, "t1", "t2"),
                      PICK(r, "NoSchedule", "NoExecute", "PreferNoSchedule"));
    strbuf_add_text(b, "]}}");
    cluster_node(&r->cl, "%s", strbuf_cstr(b));
}

static inline const struct placed *any_placed(struct random_cluster *r)
{
    const struct map_str *pods = &r->cl.cache.pods;
    if (pods->n == 0)
        return NULL;
    unsigned skip = below(r, pods->n);
    struct map_str_slot *s = map_str_next(pods, NULL);
    while (skip--)
        s = map_str_next(pods, s);
    return s->value.ptr;
}

/* One random change of nodes or pods. */
static inline void random_change(struct random_cluster *r)
{
    struct cluster *cl = &r->cl;
    unsigned number = below(r, r->n_nodes);
    const struct placed *some = any_placed(r);
    if (chance(r, 15)) {
        random_node(r, number);
    } else if (chance(r, 8)) {
        sym name = sym_find(&cl->syms, str_of(node_name(r, number)));
        if (name != SYM_NONE && cache_remove_node(&cl->cache, name, &cl->e))
            err_init(&cl->e, &cl->texts); /* there are only pods of it */
    } else if (some && chance(r, 35)) {
        const struct pod *pod = pod_ref(some->pod);
        if (cache_remove_pod(&cl->cache, pod, &cl->e))
            FAIL("%s", cl->e.message);
        pod_unref(&cl->syms, pod);
    } else {
        const struct pod *pod = random_pod(r, node_name(r, number));
        if (cache_add_pod(&cl->cache, pod, &cl->e))
            FAIL("%s", cl->e.message);
        pod_unref(&cl->syms, pod);
    }
}

/* Most have few nodes, so that counts are near the limits of the rules; some have many, for other forms of columns. */
static inline void random_cluster_init(struct random_cluster *r, uint64_t seed, const struct plugin *plugin,
                                       const void *args)
{
    *r = (struct random_cluster){ 0 };
    rand_init(&r->rand, seed);
    strbuf_init(&r->text, STRBUF_NO_MAX);
    cluster_init(&r->cl, plugin, args);
    r->n_nodes = chance(r, 90) ? FEW_NODES : MANY_NODES;
    r->tidy = chance(r, 50);
    r->has_trend = chance(r, 30) || r->n_nodes == MANY_NODES;
    CLUSTER_OBJECT(&r->cl, namespace, OBJECT_NAMESPACE, "{'metadata':{'name':'one','labels':{'team':'t'}}}");
    CLUSTER_OBJECT(&r->cl, namespace, OBJECT_NAMESPACE, "{'metadata':{'name':'two'}}");
    CLUSTER_OBJECT(&r->cl, service, OBJECT_SERVICE,
                   "{'metadata':{'name':'s1','namespace':'one'},'spec':{'selector':{'app':'a'}}}");
    CLUSTER_OBJECT(&r->cl, service, OBJECT_SERVICE,
                   "{'metadata':{'name':'s2','namespace':'one'},'spec':{'selector':{'n':'0'}}}");
    CLUSTER_OBJECT(&r->cl, service, OBJECT_SERVICE,
                   "{'metadata':{'name':'s3','namespace':'two'},'spec':{'selector':{'tier':'x'}}}");
    for (unsigned i = 0; i < r->n_nodes; i++)
        if (chance(r, 90))
            random_node(r, i);
    for (unsigned i = 0; i < r->n_nodes * PODS_PER_NODE; i++)
        random_change(r);
}

static inline void random_cluster_fini(struct random_cluster *r)
{
    strbuf_fini(&r->text);
    cluster_fini(&r->cl);
}
