/* tests/unit/plain_affinity.h - the rules of spreading and pod affinity, written down as plainly as possible: maps from
 * label values to counts, filled by walking over all pods. What the plugins are compared with. */
#pragma once

#include <math.h>

#include "base/float.h"
#include "plugins/podtopologyspread.h"
#include "tests/unit/cluster.h"

/* ---- Maps from a label pair to a number ---- */

struct pair_count {
    sym key, value;
    int64_t n;
};

struct counter {
    VEC(struct pair_count) pairs;
};

static int64_t *counter_at(struct counter *c, sym key, sym value)
{
    for (size_t i = 0; i < c->pairs.n; i++)
        if (c->pairs.at[i].key == key && c->pairs.at[i].value == value)
            return &c->pairs.at[i].n;
    vec_push(&c->pairs, (struct pair_count){ key, value, 0 });
    return &vec_last(&c->pairs)->n;
}

static int64_t counter_get(const struct counter *c, sym key, sym value)
{
    for (size_t i = 0; i < c->pairs.n; i++)
        if (c->pairs.at[i].key == key && c->pairs.at[i].value == value)
            return c->pairs.at[i].n;
    return 0;
}

static void counter_drop_zeros(struct counter *c)
{
    for (size_t i = c->pairs.n; i-- > 0;)
        if (c->pairs.at[i].n == 0)
            vec_remove(&c->pairs, i);
}

static struct counter counter_copy(const struct counter *from)
{
    struct counter copy = { 0 };
    for (size_t i = 0; i < from->pairs.n; i++)
        vec_push(&copy.pairs, from->pairs.at[i]);
    return copy;
}

static void counter_fini(struct counter *c)
{
    vec_fini(&c->pairs);
}

/* ---- The cluster as a list ---- */

static const struct node *listed_node(const struct cluster *cl, size_t i)
{
    return cl->cache.rows.at[cl->cache.order.at[i]].node;
}

static size_t n_pods_on(const struct cluster *cl, size_t i)
{
    return cl->cache.rows.at[cl->cache.order.at[i]].pods.n;
}

static const struct pod *pod_on(const struct cluster *cl, size_t i, size_t k)
{
    return cl->cache.rows.at[cl->cache.order.at[i]].pods.at[k]->pod;
}

static sym label(const struct node *node, sym key)
{
    return label_set_get(node->meta.labels, key);
}

/* ---- Spreading, plainly ---- */

struct plain_spread {
    struct cluster *cl;
    struct spread_list list;
    struct counter *counts; /* by constraint; the key of pairs is not used */
};

static bool has_all_keys(const struct spread_list *list, const struct node *node)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (label(node, list->at[i].topology_key) == SYM_NONE)
            return false;
    return true;
}

static bool is_included(struct cluster *cl, const struct spread_constraint *c, const struct node *node)
{
    if (!(c->flags & SPREAD_IGNORE_AFFINITY) && !pod_wants_node(cl->pod, node, &cl->syms))
        return false;
    return !(c->flags & SPREAD_HONOR_TAINTS) ||
           tolerates_all_hard(cl->pod, node->taints, node->n_taints, &cl->syms, false);
}

static int64_t plain_count(struct cluster *cl, const struct spread_constraint *c, size_t node)
{
    int64_t n = 0;
    for (size_t k = 0; k < n_pods_on(cl, node); k++) {
        const struct pod *pod = pod_on(cl, node, k);
        n += pod->meta.ns == cl->pod->meta.ns && !(pod->flags & POD_TERMINATING) && !matcher_is_empty(&c->selector) &&
             matcher_matches(&c->selector, pod->meta.labels, &cl->syms);
    }
    return n;
}

static struct plain_spread plain_spread_make(struct cluster *cl)
{
    struct plain_spread s = { .cl = cl };
    if (spread_constraints(cluster_plugin(cl), cl->objects, &cl->arena, cl->pod, false, &s.list))
        FAIL("constraints do not parse");
    s.counts = ARENA_NEW_N(&cl->arena, struct counter, s.list.n);
    for (size_t i = 0; i < cl->cache.order.n; i++) {
        const struct node *node = listed_node(cl, i);
        for (uint32_t k = 0; has_all_keys(&s.list, node) && k < s.list.n; k++)
            if (is_included(cl, &s.list.at[k], node))
                *counter_at(&s.counts[k], 0, label(node, s.list.at[k].topology_key)) +=
                    plain_count(cl, &s.list.at[k], i);
    }
    return s;
}

static struct plain_spread plain_spread_copy(const struct plain_spread *from)
{
    struct plain_spread copy = *from;
    copy.counts = ARENA_NEW_N(&from->cl->arena, struct counter, from->list.n);
    for (uint32_t i = 0; i < from->list.n; i++)
        copy.counts[i] = counter_copy(&from->counts[i]);
    return copy;
}

static void plain_spread_fini(struct plain_spread *s)
{
    for (uint32_t i = 0; i < s->list.n; i++)
        counter_fini(&s->counts[i]);
}

static void plain_spread_change(struct plain_spread *s, const struct pod *pod, const struct node *node, int by)
{
    if (pod->meta.ns != s->cl->pod->meta.ns || !has_all_keys(&s->list, node))
        return;
    for (uint32_t i = 0; i < s->list.n; i++)
        if (matcher_matches(&s->list.at[i].selector, pod->meta.labels, &s->cl->syms) &&
            is_included(s->cl, &s->list.at[i], node))
            *counter_at(&s->counts[i], 0, label(node, s->list.at[i].topology_key)) += by;
}

static const char *plain_spread_filter(const struct plain_spread *s, const struct node *node)
{
    for (uint32_t i = 0; i < s->list.n; i++) {
        const struct spread_constraint *c = &s->list.at[i];
        sym value = label(node, c->topology_key);
        if (value == SYM_NONE)
            return "node(s) didn't match pod topology spread constraints (missing required label)";
        int64_t min = INT64_MAX;
        for (size_t k = 0; k < s->counts[i].pairs.n; k++)
            min = s->counts[i].pairs.at[k].n < min ? s->counts[i].pairs.at[k].n : min;
        if ((int64_t)s->counts[i].pairs.n < c->min_domains)
            min = 0;
        int self = matcher_matches(&c->selector, s->cl->pod->meta.labels, &s->cl->syms);
        if (counter_get(&s->counts[i], 0, value) + self - min > c->max_skew)
            return "node(s) didn't match pod topology spread constraints";
    }
    return NULL;
}

static bool plain_ignores(const struct spread_list *list, bool all_keys, const struct node *node)
{
    return all_keys && !has_all_keys(list, node);
}

static sym value_or_empty(const struct node *node, sym key)
{
    sym value = label(node, key);
    return value == SYM_NONE ? SYM_EMPTY : value;
}

/* Raw scores of all feasible nodes; -1: ignored. */
static void plain_spread_scores(struct cluster *cl, const struct spread_list *list, bool all_keys, int64_t *scores)
{
    sym hostname = sym_find(&cl->syms, STR("kubernetes.io/hostname"));
    double *sums = ARENA_NEW_N(&cl->arena, double, cl->cycle.n_feasible);
    for (uint32_t i = 0; i < list->n; i++) {
        const struct spread_constraint *c = &list->at[i];
        struct counter counts = { 0 };
        int64_t n_scored = 0;
        for (uint32_t k = 0; k < cl->cycle.n_feasible; k++) {
            const struct node *node = cl->cache.rows.at[cl->cycle.feasible[k]].node;
            if (plain_ignores(list, all_keys, node))
                continue;
            n_scored++;
            counter_at(&counts, 0, value_or_empty(node, c->topology_key));
        }
        double weight = float_log((double)(c->topology_key == hostname ? n_scored : (int64_t)counts.pairs.n) + 2);
        for (size_t k = 0; k < cl->cache.order.n; k++) {
            const struct node *node = listed_node(cl, k);
            size_t n_known = counts.pairs.n;
            if (plain_ignores(list, all_keys, node) || !is_included(cl, c, node))
                continue;
            int64_t *count = counter_at(&counts, 0, value_or_empty(node, c->topology_key));
            if (counts.pairs.n > n_known)
                counts.pairs.n = n_known; /* no feasible node has this value */
            else
                *count += plain_count(cl, c, k);
        }
        for (uint32_t k = 0; k < cl->cycle.n_feasible; k++) {
            const struct node *node = cl->cache.rows.at[cl->cycle.feasible[k]].node;
            sym value = label(node, c->topology_key);
            if (value == SYM_NONE)
                continue;
            size_t at = cl->cache.position.at[cl->cycle.feasible[k]];
            int64_t count = c->topology_key == hostname ? plain_count(cl, c, at) : counter_get(&counts, 0, value);
            sums[k] += (double)count * weight + (double)(c->max_skew - 1);
        }
        counter_fini(&counts);
    }
    for (uint32_t k = 0; k < cl->cycle.n_feasible; k++) {
        bool ignored = plain_ignores(list, all_keys, cl->cache.rows.at[cl->cycle.feasible[k]].node);
        scores[k] = ignored ? -1 : (int64_t)round(sums[k]);
    }
}

static void plain_spread_normalize(int64_t *scores, uint32_t n)
{
    int64_t min = INT64_MAX, max = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (scores[i] == -1)
            continue;
        min = scores[i] < min ? scores[i] : min;
        max = scores[i] > max ? scores[i] : max;
    }
    for (uint32_t i = 0; i < n; i++)
        scores[i] = scores[i] == -1 ? 0 : max == 0 ? 100 : 100 * (max + min - scores[i]) / max;
}

/* ---- Affinity, plainly ---- */

struct plain_affinity {
    struct cluster *cl;
    struct counter existing, affinity, anti;
};

static struct label_set labels_of_namespace(struct cluster *cl, sym ns)
{
    const struct namespace *form = objects_get(cl->objects, OBJECT_NAMESPACE, SYM_EMPTY, sym_text(&cl->syms, ns));
    return form ? form->meta.labels : (struct label_set){ 0 };
}

static bool names_namespace(const struct affinity_term *t, sym ns)
{
    for (uint32_t i = 0; i < t->n_namespaces; i++)
        if (t->namespaces[i] == ns)
            return true;
    return false;
}

/* A term of a pod on a node against the pod that is tried. */
static bool theirs_matches(struct cluster *cl, const struct affinity_term *t)
{
    struct label_set ns_labels = labels_of_namespace(cl, cl->pod->meta.ns);
    return (names_namespace(t, cl->pod->meta.ns) || matcher_matches(&t->namespace_selector, ns_labels, &cl->syms)) &&
           matcher_matches(&t->selector, cl->pod->meta.labels, &cl->syms);
}

/* A term of the pod that is tried against another one: namespaces by name, by the labels of known ones, and by the
 * selector on no labels at all. */
static bool ours_matches(struct cluster *cl, const struct affinity_term *t, const struct pod *pod)
{
    struct label_set none = { 0 };
    bool known = objects_get(cl->objects, OBJECT_NAMESPACE, SYM_EMPTY, sym_text(&cl->syms, pod->meta.ns)) != NULL;
    struct label_set its_labels = labels_of_namespace(cl, pod->meta.ns);
    bool in_namespace = names_namespace(t, pod->meta.ns) || matcher_matches(&t->namespace_selector, none, &cl->syms) ||
                        (known && matcher_matches(&t->namespace_selector, its_labels, &cl->syms));
    return in_namespace && matcher_matches(&t->selector, pod->meta.labels, &cl->syms);
}

static const struct pod_affinity *terms_of(const struct pod *pod)
{
    static const struct pod_affinity none;
    return pod->affinity ? pod->affinity : &none;
}

static bool all_ours_match(struct cluster *cl, const struct pod *pod)
{
    const struct affinity_terms *own = &terms_of(cl->pod)->required;
    for (uint32_t i = 0; i < own->n; i++)
        if (!ours_matches(cl, &own->at[i], pod))
            return false;
    return own->n > 0;
}

static void count_at(struct counter *c, const struct node *node, sym key, int64_t by)
{
    if (label(node, key) != SYM_NONE)
        *counter_at(c, key, label(node, key)) += by;
}

static void plain_affinity_change(struct plain_affinity *a, const struct pod *pod, const struct node *node, int by)
{
    struct cluster *cl = a->cl;
    const struct pod_affinity *own = terms_of(cl->pod), *its = terms_of(pod);
    for (uint32_t i = 0; i < its->required_anti.n; i++)
        if (theirs_matches(cl, &its->required_anti.at[i]))
            count_at(&a->existing, node, its->required_anti.at[i].topology_key, by);
    for (uint32_t i = 0; all_ours_match(cl, pod) && i < own->required.n; i++)
        count_at(&a->affinity, node, own->required.at[i].topology_key, by);
    for (uint32_t i = 0; i < own->required_anti.n; i++)
        if (ours_matches(cl, &own->required_anti.at[i], pod))
            count_at(&a->anti, node, own->required_anti.at[i].topology_key, by);
    counter_drop_zeros(&a->existing);
    counter_drop_zeros(&a->affinity);
    counter_drop_zeros(&a->anti);
}

static struct plain_affinity plain_affinity_make(struct cluster *cl)
{
    struct plain_affinity a = { .cl = cl };
    for (size_t i = 0; i < cl->cache.order.n; i++)
        for (size_t k = 0; k < n_pods_on(cl, i); k++)
            plain_affinity_change(&a, pod_on(cl, i, k), listed_node(cl, i), 1);
    return a;
}

static struct plain_affinity plain_affinity_copy(const struct plain_affinity *from)
{
    return (struct plain_affinity){ from->cl, counter_copy(&from->existing), counter_copy(&from->affinity),
                                    counter_copy(&from->anti) };
}

static void plain_affinity_fini(struct plain_affinity *a)
{
    counter_fini(&a->existing);
    counter_fini(&a->affinity);
    counter_fini(&a->anti);
}

static const char *plain_affinity_filter(const struct plain_affinity *a, const struct node *node)
{
    const struct pod_affinity *own = terms_of(a->cl->pod);
    bool exist = true;
    for (uint32_t i = 0; i < own->required.n; i++) {
        sym key = own->required.at[i].topology_key;
        if (label(node, key) == SYM_NONE)
            return "node(s) didn't match pod affinity rules";
        exist &= counter_get(&a->affinity, key, label(node, key)) > 0;
    }
    if (!exist && !(a->affinity.pairs.n == 0 && all_ours_match(a->cl, a->cl->pod)))
        return "node(s) didn't match pod affinity rules";
    for (uint32_t i = 0; i < own->required_anti.n; i++) {
        sym key = own->required_anti.at[i].topology_key;
        if (label(node, key) != SYM_NONE && counter_get(&a->anti, key, label(node, key)) > 0)
            return "node(s) didn't match pod anti-affinity rules";
    }
    for (uint32_t i = 0; i < node->meta.labels.n; i++)
        if (counter_get(&a->existing, node->meta.labels.at[i].key, node->meta.labels.at[i].value) > 0)
            return "node(s) didn't satisfy existing pods anti-affinity rules";
    return NULL;
}

static void weigh_theirs(struct cluster *cl, struct counter *c, const struct affinity_terms *terms,
                         const struct node *node, int64_t fixed, int sign)
{
    for (uint32_t i = 0; i < terms->n; i++)
        if (theirs_matches(cl, &terms->at[i]))
            count_at(c, node, terms->at[i].topology_key, sign * (fixed ? fixed : terms->at[i].weight));
}

static void weigh_ours(struct cluster *cl, struct counter *c, const struct affinity_terms *terms, const struct pod *pod,
                       const struct node *node, int sign)
{
    for (uint32_t i = 0; i < terms->n; i++)
        if (ours_matches(cl, &terms->at[i], pod))
            count_at(c, node, terms->at[i].topology_key, sign * (int64_t)terms->at[i].weight);
}

/* False: nothing matched. */
static bool plain_affinity_scores(struct cluster *cl, int64_t hard_weight, int64_t *scores)
{
    struct counter sums = { 0 };
    for (size_t i = 0; i < cl->cache.order.n; i++)
        for (size_t k = 0; k < n_pods_on(cl, i); k++) {
            const struct node *node = listed_node(cl, i);
            const struct pod *pod = pod_on(cl, i, k);
            weigh_ours(cl, &sums, &terms_of(cl->pod)->preferred, pod, node, 1);
            weigh_ours(cl, &sums, &terms_of(cl->pod)->preferred_anti, pod, node, -1);
            weigh_theirs(cl, &sums, &terms_of(pod)->required, node, hard_weight, 1);
            weigh_theirs(cl, &sums, &terms_of(pod)->preferred, node, 0, 1);
            weigh_theirs(cl, &sums, &terms_of(pod)->preferred_anti, node, 0, -1);
        }
    for (uint32_t i = 0; i < cl->cycle.n_feasible; i++) {
        const struct node *node = cl->cache.rows.at[cl->cycle.feasible[i]].node;
        scores[i] = 0;
        for (uint32_t k = 0; k < node->meta.labels.n; k++)
            scores[i] += counter_get(&sums, node->meta.labels.at[k].key, node->meta.labels.at[k].value);
    }
    bool any = sums.pairs.n > 0;
    counter_fini(&sums);
    return any;
}

static void plain_affinity_normalize(int64_t *scores, uint32_t n)
{
    int64_t min = INT64_MAX, max = INT64_MIN;
    for (uint32_t i = 0; i < n; i++) {
        min = scores[i] < min ? scores[i] : min;
        max = scores[i] > max ? scores[i] : max;
    }
    for (uint32_t i = 0; i < n; i++)
        scores[i] = max > min ? (int64_t)(100.0 * ((double)(scores[i] - min) / (double)(max - min))) : 0;
}
