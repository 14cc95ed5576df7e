/* plugins/legacy_shared.c - see legacy.h. */
#include "plugins/legacy.h"

#include "base/arena_array.h"

/* A selector that is being put together; more rules than a matcher can have do not count. */
struct rules {
    struct arena *arena;
    struct match_rule *at;
    size_t n, cap;
};

static void add_rule(struct rules *rules, struct match_rule rule)
{
    if (rules->n == UINT16_MAX)
        return;
    rules->at = arena_array_more(rules->arena, rules->at, rules->n, &rules->cap, sizeof(*rules->at));
    rules->at[rules->n++] = rule;
}

static bool has_labels(struct label_set labels, struct label_set wanted)
{
    for (uint32_t i = 0; i < wanted.n; i++)
        if (label_set_get(labels, wanted.at[i].key) != wanted.at[i].value)
            return false;
    return wanted.n > 0;
}

static void add_equalities(struct rules *rules, struct label_set labels)
{
    for (uint32_t i = 0; i < labels.n; i++)
        add_rule(rules, (struct match_rule){
                            .key = labels.at[i].key, .op = MATCH_IN, .n_values = 1, .values = &labels.at[i].value });
}

/* Nothing is selected by an empty selector here. */
static void add_matcher(struct rules *rules, const struct matcher *m, const struct pod *pod,
                        const struct sym_table *syms)
{
    if (matcher_is_empty(m) || !matcher_matches(m, pod->meta.labels, syms))
        return;
    for (uint16_t i = 0; m->mode == MATCHER_ALL_OF && i < m->n; i++)
        add_rule(rules, m->at[i]);
}

struct matcher legacy_selector(const struct plugin_instance *p, const struct objects *objects, struct arena *a,
                               const struct pod *pod)
{
    struct rules rules = { .arena = a };
    struct object_list list = objects_in(objects, OBJECT_SERVICE, pod->meta.ns);
    for (uint32_t i = 0; i < list.n; i++) {
        const struct service *s = list.at[i];
        if (has_labels(pod->meta.labels, s->selector))
            add_equalities(&rules, s->selector);
    }
    list = objects_in(objects, OBJECT_REPLICATION_CONTROLLER, pod->meta.ns);
    for (uint32_t i = 0; i < list.n; i++) {
        const struct replication_controller *rc = list.at[i];
        if (has_labels(pod->meta.labels, rc->selector))
            add_equalities(&rules, rc->selector);
    }
    list = objects_in(objects, OBJECT_REPLICA_SET, pod->meta.ns);
    for (uint32_t i = 0; i < list.n; i++)
        add_matcher(&rules, &((const struct replica_set *)list.at[i])->selector, pod, p->syms);
    list = objects_in(objects, OBJECT_STATEFUL_SET, pod->meta.ns);
    for (uint32_t i = 0; i < list.n; i++)
        add_matcher(&rules, &((const struct stateful_set *)list.at[i])->selector, pod, p->syms);
    return (struct matcher){ .mode = MATCHER_ALL_OF, .n = (uint16_t)rules.n, .at = rules.at };
}

bool legacy_may_be_selected(const struct cycle *c)
{
    sym ns = c->pod->meta.ns;
    return objects_in(c->objects, OBJECT_SERVICE, ns).n || objects_in(c->objects, OBJECT_REPLICATION_CONTROLLER, ns).n ||
           objects_in(c->objects, OBJECT_REPLICA_SET, ns).n || objects_in(c->objects, OBJECT_STATEFUL_SET, ns).n;
}

const struct service *legacy_first_service(const struct objects *objects, const struct pod *pod)
{
    struct object_list list = objects_in(objects, OBJECT_SERVICE, pod->meta.ns);
    for (uint32_t i = 0; i < list.n; i++)
        if (has_labels(pod->meta.labels, ((const struct service *)list.at[i])->selector))
            return list.at[i];
    return NULL;
}

int64_t legacy_count_pods(const struct node_view *n, sym ns, const struct matcher *selector,
                          const struct sym_table *syms)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < n->n_pods && !matcher_is_empty(selector); i++) {
        const struct pod *pod = node_view_pod(n, i);
        count += pod->meta.ns == ns && !(pod->flags & POD_TERMINATING) &&
                 matcher_matches(selector, pod->meta.labels, syms);
    }
    return count;
}

void legacy_normalize_by_max(int64_t *scores, uint32_t n, int64_t most, bool reverse)
{
    int64_t max = 0;
    for (uint32_t i = 0; i < n; i++)
        max = scores[i] > max ? scores[i] : max;
    for (uint32_t i = 0; i < n; i++) {
        if (max)
            scores[i] = most * scores[i] / max;
        if (reverse)
            scores[i] = max ? most - scores[i] : most;
    }
}
