/* ServiceAffinity: the pods of a service go to nodes that agree in some labels, and spread over the values of others.
 * Policy files ask for it with the arguments serviceAffinity and serviceAntiAffinity. Upstream: plugins/serviceaffinity,
 * v1.20.
 *
 * What the labels must be is said by the pod's node selector, and for the rest by the node of the first pod that has all of
 * the pod's labels. */
#include "base/arena_array.h"
#include "plugins/legacy.h"

#define OTHER_LABELS "node(s) didn't match service affinity"

struct data {
    sym *labels, *spread_over;
    uint32_t n_labels, n_spread_over;
};

struct peer {
    const struct pod *pod;
    const struct node *node;
};

struct state {
    bool has_service;
    struct peer *peers; /* in the order of nodes */
    size_t n, cap;
};

static sym *keep(struct plugin_instance *p, const char *const *texts, uint32_t n)
{
    sym *labels = mem_zalloc(mem_product(n ? n : 1, sizeof(*labels)));
    for (uint32_t i = 0; i < n; i++)
        labels[i] = sym_intern_static(p->syms, str_of(texts[i]));
    return labels;
}

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    (void)e;
    static const struct service_affinity_args none;
    const struct service_affinity_args *a = args ? args : &none;
    struct data *d = mem_alloc(sizeof(*d));
    *d = (struct data){ keep(p, a->labels, a->n_labels), keep(p, a->spread_over, a->n_spread_over), a->n_labels,
                        a->n_spread_over };
    p->data = d;
    return ERR_OK;
}

static void fini(struct plugin_instance *p)
{
    struct data *d = p->data;
    free(d->labels);
    free(d->spread_over);
    free(d);
}

/* ---- Filter ---- */

/* Same namespace, and all labels of the pod that is tried. */
static bool is_peer(const struct pod *pod, const struct pod *other)
{
    if (pod->meta.ns != other->meta.ns)
        return false;
    for (uint32_t i = 0; i < pod->meta.labels.n; i++)
        if (label_set_get(other->meta.labels, pod->meta.labels.at[i].key) != pod->meta.labels.at[i].value)
            return false;
    return true;
}

static void add_peer(struct cycle *c, struct state *st, const struct pod *pod, const struct node *node)
{
    st->peers = arena_array_more(c->arena, st->peers, st->n, &st->cap, sizeof(*st->peers));
    st->peers[st->n++] = (struct peer){ pod, node };
}

static struct verdict pre_filter(const struct plugin_instance *p, struct cycle *c, struct node_names *ret_names)
{
    (void)ret_names;
    const struct data *d = p->data;
    struct state *st = ARENA_NEW(c->arena, struct state);
    c->state[p->index] = st;
    if (d->n_labels == 0)
        return PASS;
    st->has_service = legacy_first_service(c->objects, c->pod);
    for (size_t i = 0; st->has_service && i < c->cache->order.n; i++) {
        struct node_view view = node_view_of(c->cache, c->cache->order.at[i]);
        for (uint32_t k = 0; k < view.n_pods; k++)
            if (is_peer(c->pod, node_view_pod(&view, k)))
                add_peer(c, st, node_view_pod(&view, k), view.node);
    }
    return PASS;
}

static void *clone_state(const struct plugin_instance *p, struct cycle *c, const void *state)
{
    (void)p;
    const struct state *from = state;
    struct state *copy = ARENA_NEW(c->arena, struct state);
    copy->has_service = from->has_service;
    for (size_t i = 0; i < from->n; i++)
        add_peer(c, copy, from->peers[i].pod, from->peers[i].node);
    return copy;
}

static void add_pod(const struct plugin_instance *p, struct cycle *c, void *state, const struct pod *pod,
                    const struct node_view *on)
{
    (void)p;
    if (is_peer(c->pod, pod))
        add_peer(c, state, pod, on->node);
}

static void remove_pod(const struct plugin_instance *p, struct cycle *c, void *state, const struct pod *pod,
                       const struct node_view *on)
{
    (void)p;
    (void)c;
    (void)on;
    struct state *st = state;
    for (size_t i = 0; i < st->n; i++)
        if (strcmp(st->peers[i].pod->meta.uid, pod->meta.uid) == 0) {
            memmove(&st->peers[i], &st->peers[i + 1], (st->n - i - 1) * sizeof(*st->peers));
            st->n--;
            return;
        }
}

static sym selected(const struct pod *pod, sym label)
{
    const struct pod_node_affinity *a = pod->node_affinity;
    for (uint32_t i = 0; a && i < a->node_selector.n; i++)
        if (a->node_selector.at[i].key == label)
            return a->node_selector.at[i].value;
    return SYM_NONE;
}

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct data *d = p->data;
    const struct state *st = CYCLE_STATE(p, c, struct state);
    const struct node *peer = st && st->n ? st->peers[0].node : NULL;
    for (uint32_t i = 0; i < d->n_labels; i++) {
        sym want = selected(c->pod, d->labels[i]);
        if (want == SYM_NONE && peer)
            want = label_set_get(peer->meta.labels, d->labels[i]);
        if (want != SYM_NONE && label_set_get(n->node->meta.labels, d->labels[i]) != want)
            return verdict_text(V_UNSCHEDULABLE, OTHER_LABELS);
    }
    return PASS;
}

/* ---- Score ---- */

static int64_t score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct service *s = legacy_first_service(c->objects, c->pod);
    int64_t count = 0;
    for (uint32_t i = 0; s && i < n->n_pods; i++) {
        const struct pod *pod = node_view_pod(n, i);
        bool selects = pod->meta.ns == c->pod->meta.ns && !(pod->flags & POD_TERMINATING);
        for (uint32_t k = 0; selects && k < s->selector.n; k++)
            selects = label_set_get(pod->meta.labels, s->selector.at[k].key) == s->selector.at[k].value;
        count += selects;
    }
    (void)p;
    return count;
}

/* Pods on feasible nodes that have this value of the label. */
static int64_t count_value(const struct cycle *c, const int64_t *counts, sym label, sym value)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < c->n_feasible; i++)
        if (label_set_get(c->cache->rows.at[c->feasible[i]].node->meta.labels, label) == value)
            n += counts[i];
    return n;
}

/* The share of the service's pods that are elsewhere, for one label; nodes with one value are computed once, the next
 * ones take it over. */
static void add_label(const struct plugin_instance *p, struct cycle *c, const int64_t *counts, sym label,
                      double *sums)
{
    const struct data *d = p->data;
    int64_t total = 0;
    struct map_u64 known;
    map_u64_init(&known);
    for (uint32_t i = 0; i < c->n_feasible; i++)
        total += counts[i];
    for (uint32_t i = 0; i < c->n_feasible; i++) {
        sym value = label_set_get(c->cache->rows.at[c->feasible[i]].node->meta.labels, label);
        if (value == SYM_NONE)
            continue;
        union map_value *found = map_u64_find(&known, value);
        int64_t here = found ? (int64_t)found->num : count_value(c, counts, label, value);
        if (!found)
            map_u64_put(&known, value, NULL)->num = (uint64_t)here;
        double s = (double)p->era->score_max;
        if (total > 0)
            s *= (double)(total - here) / (double)total;
        sums[i] += s / d->n_spread_over;
    }
    map_u64_fini(&known);
}

static void normalize(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    const struct data *d = p->data;
    double *sums = ARENA_NEW_N(c->arena, double, c->n_feasible);
    for (uint32_t i = 0; i < d->n_spread_over; i++)
        add_label(p, c, scores, d->spread_over[i], sums);
    for (uint32_t i = 0; i < c->n_feasible; i++)
        scores[i] = (int64_t)sums[i];
}

const struct plugin legacy_serviceaffinity_plugin = {
    .name = "ServiceAffinity",
    .init = init,
    .fini = fini,
    .pre_filter = pre_filter,
    .clone_state = clone_state,
    .add_pod = add_pod,
    .remove_pod = remove_pod,
    .filter = filter,
    .score = score,
    .normalize = normalize,
};
