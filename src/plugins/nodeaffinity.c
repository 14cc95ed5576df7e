/* NodeAffinity: the pod's nodeSelector and node affinity, and an affinity that the configuration adds
 * to every pod. Points: PreFilter (narrows to nodes named by metadata.name), Filter, PreScore, Score,
 * Normalize. Upstream: plugins/nodeaffinity, v1.36. */
#include "base/arena_array.h"
#include "plugins/plugins.h"

#define NOT_WANTED "node(s) didn't match Pod's node affinity/selector"
#define NOT_ENFORCED "node(s) didn't match scheduler-enforced node affinity"
#define TERMS_CONFLICT "pod affinity terms conflict"

struct data {
    const struct pod *added; /* a pod with the affinity that the configuration adds; NULL: none */
    sym name_field;          /* metadata.name */
};

/* The added affinity is read as a pod's would be: the rules are the same. */
static enum err_code decode_added(struct plugin_instance *p, struct str affinity, const struct pod **ret_pod,
                                  struct err *e)
{
    const char *text = arena_printf(e->arena, "{\"spec\":{\"affinity\":{\"nodeAffinity\":%.*s}}}", STR_ARG(affinity));
    if (pod_decode(p->syms, TYPED_JSON, str_of(text), ret_pod, e))
        return err_wrap(e, "addedAffinity");
    return ERR_OK;
}

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    const struct node_affinity_args *a = args;
    const struct pod *added = NULL;
    if (a && a->added_affinity.n && decode_added(p, a->added_affinity, &added, e))
        return e->code;
    struct data *d = mem_alloc(sizeof(*d));
    d->added = added;
    d->name_field = sym_intern_static(p->syms, STR("metadata.name"));
    p->data = d;
    return ERR_OK;
}

static void fini(struct plugin_instance *p)
{
    struct data *d = p->data;
    if (d->added)
        pod_unref(p->syms, d->added);
    free(d);
}

static const struct pod_node_affinity *added(const struct plugin_instance *p)
{
    const struct data *d = p->data;
    return d->added ? d->added->node_affinity : NULL;
}

static const struct node_rules *added_required(const struct plugin_instance *p)
{
    const struct pod_node_affinity *a = added(p);
    return a && a->required.given ? &a->required : NULL;
}

static bool in_list(const sym *at, uint32_t n, sym name)
{
    for (uint32_t i = 0; i < n; i++)
        if (at[i] == name)
            return true;
    return false;
}

/* Names that a term allows by metadata.name In: several such fields intersect. False: the term does not
 * say. */
static bool names_of_term(struct cycle *c, sym name_field, const struct node_rule *term, struct node_names *ret_names)
{
    bool said = false;
    struct node_names names = { 0 };
    for (uint16_t i = 0; i < term->n_fields; i++) {
        const struct match_rule *f = &term->fields[i];
        if (f->key != name_field || f->op != MATCH_IN)
            continue;
        sym *both = arena_alloc(c->arena, f->n_values * sizeof(*both));
        uint32_t n = 0;
        for (uint16_t k = 0; k < f->n_values; k++)
            if (!said || in_list(names.at, names.n, f->values[k]))
                both[n++] = f->values[k];
        names = (struct node_names){ both, n, true };
        said = true;
    }
    *ret_names = names;
    return said;
}

/* The nodes that the terms name, all together; false: some term leaves it open. */
static bool narrowed_names(struct cycle *c, sym name_field, const struct node_rules *required,
                           struct node_names *ret_names)
{
    sym *all = NULL;
    size_t n = 0, n_max = 0;
    for (uint16_t i = 0; i < required->n; i++) {
        struct node_names names;
        if (!names_of_term(c, name_field, &required->at[i], &names))
            return false;
        for (uint32_t k = 0; k < names.n; k++) {
            all = arena_array_more(c->arena, all, n, &n_max, sizeof(*all));
            all[n++] = names.at[k];
        }
    }
    *ret_names = (struct node_names){ all, (uint32_t)n, true };
    return true;
}

static struct verdict pre_filter(const struct plugin_instance *p, struct cycle *c, struct node_names *ret_names)
{
    const struct data *d = p->data;
    bool has_required = c->pod->flags & POD_HAS_REQUIRED_NODE_AFFINITY;
    if (!has_required && !added_required(p) && !(c->pod->flags & POD_HAS_NODE_SELECTOR))
        return SKIP;
    if (!has_required || c->pod->node_affinity->required.n == 0 ||
        !narrowed_names(c, d->name_field, &c->pod->node_affinity->required, ret_names))
        return PASS;
    return ret_names->n ? PASS : verdict_text(V_UNRESOLVABLE, TERMS_CONFLICT);
}

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct node_rules *enforced = added_required(p);
    if (enforced && !node_rules_match(enforced, n->node->meta.labels, n->node->name, p->syms))
        return verdict_text(V_UNRESOLVABLE, NOT_ENFORCED);
    return pod_wants_node(c->pod, n->node, p->syms) ? PASS : verdict_text(V_UNRESOLVABLE, NOT_WANTED);
}

static void add_rules(struct strbuf *key, const struct cycle *c, const struct match_rule *rules, uint32_t n)
{
    class_key_count(key, n);
    for (uint32_t i = 0; i < n; i++) {
        class_key_sym(key, c, rules[i].key);
        class_key_num(key, rules[i].op);
        class_key_count(key, rules[i].n_values);
        if (rules[i].op == MATCH_GT || rules[i].op == MATCH_LT)
            class_key_num(key, rules[i].number);
        else
            for (uint32_t k = 0; k < rules[i].n_values; k++)
                class_key_sym(key, c, rules[i].values[k]);
    }
}

static void filter_key(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key)
{
    (void)p;
    const struct pod_node_affinity *a = c->pod->node_affinity;
    if (!a)
        return;
    class_key_count(key, a->node_selector.n);
    for (uint32_t i = 0; i < a->node_selector.n; i++) {
        class_key_sym(key, c, a->node_selector.at[i].key);
        class_key_sym(key, c, a->node_selector.at[i].value);
    }
    class_key_num(key, a->required.given);
    for (uint32_t i = 0; i < a->required.n; i++) {
        const struct node_rule *t = &a->required.at[i];
        if (t->empty || t->broken || t->labels.mode != MATCHER_ALL_OF)
            continue; /* matches nothing, as if it were not there */
        add_rules(key, c, t->labels.at, t->labels.n);
        add_rules(key, c, t->fields, t->n_fields);
    }
}

static struct verdict pre_score(const struct plugin_instance *p, struct cycle *c)
{
    const struct pod_node_affinity *extra = added(p);
    if (!(extra && extra->n_preferred) && !(c->pod->flags & POD_HAS_PREFERRED_NODE_AFFINITY))
        return SKIP;
    const struct pod_node_affinity *a = c->pod->node_affinity;
    if (a && a->preferred_error)
        return verdict_text(V_ERROR, a->preferred_error);
    return PASS;
}

static int64_t sum_matching(const struct plugin_instance *p, const struct preferred_node_term *terms, uint32_t n,
                            const struct node *node)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        if (node_rule_matches(&terms[i].term, node->meta.labels, node->name, p->syms))
            sum += terms[i].weight;
    return sum;
}

static int64_t score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct pod_node_affinity *a = c->pod->node_affinity, *extra = added(p);
    int64_t sum = extra ? sum_matching(p, extra->preferred, extra->n_preferred, n->node) : 0;
    return a ? sum + sum_matching(p, a->preferred, a->n_preferred, n->node) : sum;
}

static bool needs_feasible(const struct plugin_instance *p, const struct cycle *c)
{
    (void)p;
    (void)c;
    return false;
}

static void normalize(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    (void)p;
    normalize_by_max(scores, c->n_feasible, false);
}

static enum hint node_changed(const struct hint_context *h, const struct pod *waiting,
                              const struct cluster_event *event)
{
    const struct node *old = event->old_object, *now = event->new_object;
    const struct node_rules *enforced = added_required(h->plugin);
    if (enforced && !node_rules_match(enforced, now->meta.labels, now->name, h->syms))
        return HINT_SKIP;
    bool wanted_before = old && pod_wants_node(waiting, old, h->syms);
    return !wanted_before && pod_wants_node(waiting, now, h->syms) ? HINT_QUEUE : HINT_SKIP;
}

/* As upstream, whose words these are. */
static const char *fails_without(const struct plugin_instance *p, const struct cycle *c, enum extension_point missing,
                                 enum extension_point at)
{
    (void)p;
    (void)at;
    const struct pod_node_affinity *a = c->pod->node_affinity;
    return missing == POINT_PRE_SCORE && a ? a->preferred_error : NULL;
}

const struct plugin nodeaffinity_plugin = {
    .name = "NodeAffinity",
    .init = init,
    .fini = fini,
    .pre_filter = pre_filter,
    .filter = filter,
    .pre_score = pre_score,
    .score = score,
    .normalize = normalize,
    .fails_without = fails_without,
    .needs_feasible = needs_feasible,
    .filter_key = filter_key,
    .events = (const struct plugin_event[]){ { RES_NODE, ACT_ADD | ACT_UPDATE_NODE_LABEL, node_changed }, { 0 } },
};
