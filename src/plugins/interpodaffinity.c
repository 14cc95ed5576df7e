/* InterPodAffinity: pods that want to be near other pods, or far from them.
 * Points: PreFilter (with pods added and removed), Filter, PreScore, Score, Normalize.
 * Upstream: plugins/interpodaffinity, v1.36.
 *
 * Here: what a term matches, and the hints. The rules themselves are in interpodaffinity_filter.c
 * (required terms) and interpodaffinity_score.c (preferred ones). */
#include "plugins/interpodaffinity.h"

#include <stdlib.h>

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    assert(args);
    (void)e;
    p->data = mem_alloc(sizeof(struct inter_pod_affinity_args));
    memcpy(p->data, args, sizeof(struct inter_pod_affinity_args));
    return ERR_OK;
}

static void fini(struct plugin_instance *p)
{
    free(p->data);
}

/* ---- Terms ---- */

const struct pod_affinity *affinity_of(const struct pod *pod)
{
    static const struct pod_affinity none;
    return pod->affinity ? pod->affinity : &none;
}

/* One error as it is, several as a list in brackets. */
const char *affinity_error(struct arena *a, const struct pod *pod)
{
    const struct pod_affinity *own = affinity_of(pod);
    const struct {
        const char *list, *error;
    } errors[] = {
        { "requiredAffinityTerms", own->required.error },
        { "requiredAntiAffinityTerms", own->required_anti.error },
        { "preferredAffinityTerms", own->preferred.error },
        { "preferredAntiAffinityTerms", own->preferred_anti.error },
    };
    const char *all = NULL;
    unsigned n = 0;
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        if (!errors[i].error)
            continue;
        all = arena_printf(a, "%s%s%s: %s", all ? all : "", all ? ", " : "", errors[i].list, errors[i].error);
        n++;
    }
    return n > 1 ? arena_printf(a, "[%s]", all) : all;
}

struct label_set affinity_namespace_labels(const struct objects *objects, const struct sym_table *syms, sym ns)
{
    const struct namespace *found = objects_get(objects, OBJECT_NAMESPACE, SYM_EMPTY, sym_text(syms, ns));
    struct label_set none = { 0 };
    return found ? found->meta.labels : none;
}

static bool has_namespace(const struct affinity_term *t, sym ns)
{
    for (uint32_t i = 0; i < t->n_namespaces; i++)
        if (t->namespaces[i] == ns)
            return true;
    return false;
}

bool affinity_term_matches(const struct affinity_term *t, const struct pod *pod, struct label_set ns_labels,
                           const struct sym_table *syms)
{
    return (has_namespace(t, pod->meta.ns) || matcher_matches(&t->namespace_selector, ns_labels, syms)) &&
           matcher_matches(&t->selector, pod->meta.labels, syms);
}

static int compare_syms(const void *a, const void *b)
{
    sym x = *(const sym *)a, y = *(const sym *)b;
    return (x > y) - (x < y);
}

/* The names that the term lists and those of the namespaces that it selects, ascending, each once. */
static void resolve_namespaces(struct cycle *c, const struct affinity_term *t, struct count_part *part)
{
    struct object_list all = objects_all(c->objects, OBJECT_NAMESPACE);
    sym *names = arena_alloc(c->arena, ((size_t)t->n_namespaces + all.n) * sizeof(*names));
    uint32_t n = 0, n_kept = 0;
    for (uint32_t i = 0; i < t->n_namespaces; i++)
        names[n++] = t->namespaces[i];
    for (uint32_t i = 0; i < all.n; i++) {
        const struct namespace *ns = all.at[i];
        if (matcher_matches(&t->namespace_selector, ns->meta.labels, c->syms))
            names[n++] = ns->name;
    }
    if (n)
        qsort(names, n, sizeof(*names), compare_syms);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || names[i] != names[n_kept - 1])
            names[n_kept++] = names[i];
    part->namespaces = names;
    part->n_namespaces = n_kept;
}

/* As interpodaffinity/plugin.go v1.36: the namespace selector is still asked after it has been
 * resolved, and then knows no labels. One that matches no labels at all (empty, or only NotIn and
 * DoesNotExist) so takes every namespace. */
struct count_part affinity_own_part(struct cycle *c, const struct affinity_term *t)
{
    struct label_set no_labels = { 0 };
    struct count_part part = {
        .selector = &t->selector,
        .namespaces = t->namespaces,
        .n_namespaces = t->n_namespaces,
        .any_namespace = matcher_matches(&t->namespace_selector, no_labels, c->syms),
    };
    if (part.any_namespace)
        part.n_namespaces = 0;
    else if (t->namespace_selector.mode == MATCHER_ALL_OF)
        resolve_namespaces(c, t, &part);
    return part;
}

/* ---- Hints ---- */

/* Whether every term selects the pod; false when there are none. Namespace selectors see no labels here. */
static bool all_match(const struct hint_context *h, const struct affinity_terms *terms, const struct pod *pod)
{
    struct label_set no_labels = { 0 };
    for (uint32_t i = 0; i < terms->n; i++)
        if (!affinity_term_matches(&terms->at[i], pod, no_labels, h->syms))
            return false;
    return terms->n > 0;
}

static bool has_no_node(const struct pod *pod)
{
    return pod && pod->node_name == SYM_EMPTY && pod->nominated_node == SYM_EMPTY;
}

static bool pod_may_help(const struct hint_context *h, const struct pod *waiting, const struct pod *old,
                         const struct pod *now)
{
    const struct pod_affinity *own = affinity_of(waiting);
    if (own->required.error || own->required_anti.error)
        return true;
    if (now && old)
        return (!all_match(h, &own->required, old) && all_match(h, &own->required, now)) ||
               (all_match(h, &own->required_anti, old) && !all_match(h, &own->required_anti, now));
    if (now)
        return all_match(h, &own->required, now);
    const struct affinity_terms *its = &affinity_of(old)->required_anti;
    return all_match(h, &own->required_anti, old) || its->error || all_match(h, its, waiting);
}

static enum hint pod_changed(const struct hint_context *h, const struct pod *waiting, const struct cluster_event *event)
{
    const struct pod *old = event->old_object, *now = event->new_object;
    if (old && now && strcmp(now->meta.uid, waiting->meta.uid) == 0)
        return HINT_QUEUE; /* its labels have changed: others may not mind it any more */
    if (has_no_node(now) || has_no_node(old))
        return HINT_SKIP;
    return pod_may_help(h, waiting, old, now) ? HINT_QUEUE : HINT_SKIP;
}

/* What happened to the label of a topology key. */
struct label_change {
    sym before, after; /* SYM_NONE: missing */
};

static struct label_change change_of(const struct node *old, const struct node *now, sym key)
{
    return (struct label_change){ label_set_get(old->meta.labels, key), label_set_get(now->meta.labels, key) };
}

static bool node_may_help(const struct pod_affinity *own, const struct node *old, const struct node *now)
{
    for (uint32_t i = 0; i < own->required.n; i++) {
        sym key = own->required.at[i].topology_key;
        struct label_change l = old ? change_of(old, now, key)
                                    : (struct label_change){ SYM_NONE, label_set_get(now->meta.labels, key) };
        if (l.after != SYM_NONE && l.before != l.after)
            return true;
    }
    if (own->required_anti.error || (!old && own->required_anti.n))
        return true;
    for (uint32_t i = 0; i < own->required_anti.n; i++) {
        struct label_change l = change_of(old, now, own->required_anti.at[i].topology_key);
        if (l.before != SYM_NONE && l.before != l.after)
            return true;
    }
    return false;
}

static enum hint node_changed(const struct hint_context *h, const struct pod *waiting,
                              const struct cluster_event *event)
{
    (void)h;
    const struct pod_affinity *own = affinity_of(waiting);
    bool may_help = own->required.error || node_may_help(own, event->old_object, event->new_object);
    return may_help ? HINT_QUEUE : HINT_SKIP;
}

static bool needs_feasible(const struct plugin_instance *p, const struct cycle *c)
{
    (void)p;
    (void)c;
    return false; /* PreScore looks at all nodes */
}

/* As upstream, whose words these are. */
static const char *fails_without(const struct plugin_instance *p, const struct cycle *c, enum extension_point missing,
                                 enum extension_point at)
{
    (void)p;
    (void)c;
    if (missing == POINT_PRE_FILTER && at == POINT_FILTER)
        return "error reading \"PreFilterInterPodAffinity\" from cycleState: not found";
    return missing == POINT_PRE_SCORE ? "failed to read \"PreScoreInterPodAffinity\" from cycleState: not found" : NULL;
}

const struct plugin interpodaffinity_plugin = {
    .name = "InterPodAffinity",
    .init = init,
    .fini = fini,
    .pre_filter = affinity_pre_filter,
    .clone_state = affinity_clone_state,
    .add_pod = affinity_add_pod,
    .remove_pod = affinity_remove_pod,
    .filter = affinity_filter,
    .filter_block = affinity_filter_block,
    .pre_score = affinity_pre_score,
    .score = affinity_score,
    .score_block = affinity_score_block,
    .normalize = affinity_normalize,
    .needs_feasible = needs_feasible,
    .fails_without = fails_without,
    .events = (const struct plugin_event[]){
        { RES_POD, ACT_ADD | ACT_UPDATE_POD_LABEL | ACT_DELETE, pod_changed },
        { RES_NODE, ACT_ADD | ACT_UPDATE_NODE_LABEL, node_changed },
        { 0 } },
};
