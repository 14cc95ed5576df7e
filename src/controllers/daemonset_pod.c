/* controllers/daemonset_pod.c - see daemonset_pod.h. */
#include "controllers/daemonset_pod.h"

#include "api/edit.h"
#include "api/node_selector.h"
#include "controllers/pod_control.h"
#include "controllers/read.h"
#include "controllers/taints.h"

#define REQUIRED "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
#define NAME_FIELD "metadata.name"

static const struct type *template_type(void)
{
    return schema_type(STR("core/v1.PodTemplateSpec"));
}

static const struct type *toleration_type(void)
{
    return schema_type(STR("core/v1.Toleration"));
}

/* ---- Tolerations ---- */

static struct value toleration(struct arena *a, const char *key, const char *effect)
{
    const struct type *t = toleration_type();
    struct value v = value_struct(a, t);
    v = edit_set(a, t, &v, "key", edit_text(key));
    v = edit_set(a, t, &v, "operator", edit_text("Exists"));
    return edit_set(a, t, &v, "effect", edit_text(effect));
}

static bool is_same(const struct value *one, const struct value *other)
{
    static const char *const fields[] = { "key", "operator", "effect", "value" };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (!str_eq(text_at(toleration_type(), one, fields[i]), text_at(toleration_type(), other, fields[i])))
            return false;
    return true;
}

/* One that is there already loses its limit of time. */
static struct value with_toleration(struct arena *a, const struct value *list, struct value added)
{
    struct value *items = ARENA_NEW_N(a, struct value, list_length(list) + 1);
    uint32_t n = list_length(list);
    bool there = false;
    for (uint32_t i = 0; i < n; i++) {
        bool same = is_same(&added, &list->items[i]);
        items[i] = same ? added : list->items[i];
        there |= same;
    }
    if (!there)
        items[n++] = added;
    return value_list(items, n);
}

/* Daemons stay where others have to leave, and come where others may not. */
static struct value daemon_tolerations(struct arena *a, const struct value *template)
{
    static const struct {
        const char *key, *effect;
        bool host_network; /* only for pods of the node's network */
    } rows[] = {
        { "node.kubernetes.io/not-ready", "NoExecute", false },
        { "node.kubernetes.io/unreachable", "NoExecute", false },
        { "node.kubernetes.io/disk-pressure", "NoSchedule", false },
        { "node.kubernetes.io/memory-pressure", "NoSchedule", false },
        { "node.kubernetes.io/pid-pressure", "NoSchedule", false },
        { "node.kubernetes.io/unschedulable", "NoSchedule", false },
        { "node.kubernetes.io/network-unavailable", "NoSchedule", true },
    };
    struct value list = *value_path(template_type(), template, "spec.tolerations");
    bool host_network = true_at(template_type(), template, "spec.hostNetwork");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (host_network || !rows[i].host_network)
            list = with_toleration(a, &list, toleration(a, rows[i].key, rows[i].effect));
    return list;
}

/* ---- Which nodes ---- */

struct name_rule {
    struct str name; /* that metadata.name has to have, or not */
    bool differs, of_nothing; /* of_nothing: another field, which no node has */
};

struct term_rule {
    struct node_matcher labels; /* of this term alone */
    struct name_rule *names;
    size_t n_names;
};

struct daemon_rules {
    struct str node_name; /* empty: any */
    struct selector labels;
    bool has_terms;
    struct term_rule *terms;
    size_t n_terms;
    struct value tolerations;
};

static struct labels labels_of_map(struct arena *a, const struct value *map)
{
    uint32_t n = map->kind == VALUE_MAP ? map->n : 0;
    struct label *labels = ARENA_NEW_N(a, struct label, n);
    for (uint32_t i = 0; i < n; i++)
        labels[i] = (struct label){ map->members[i].key, value_text(&map->members[i].value) };
    return (struct labels){ labels, n };
}

static size_t read_expressions(struct arena *a, const struct value *list, const struct match_expression **ret)
{
    const struct type *t = schema_type(STR("core/v1.NodeSelectorRequirement"));
    struct match_expression *at = ARENA_NEW_N(a, struct match_expression, list_length(list));
    for (uint32_t i = 0; i < list_length(list); i++) {
        const struct value *values = value_path(t, &list->items[i], "values");
        struct str *texts = ARENA_NEW_N(a, struct str, list_length(values));
        for (uint32_t k = 0; k < list_length(values); k++)
            texts[k] = value_text(&values->items[k]);
        at[i] = (struct match_expression){ .key = text_at(t, &list->items[i], "key"),
                                           .op = text_at(t, &list->items[i], "operator"),
                                           .values = { texts, list_length(values) } };
    }
    *ret = at;
    return list_length(list);
}

/* What is wrong with a term makes it match nothing, which `labels` tells. */
static struct term_rule read_term(struct arena *a, const struct value *v)
{
    const struct type *t = schema_type(STR("core/v1.NodeSelectorTerm"));
    struct node_selector_term term = { 0 };
    term.n_expressions = read_expressions(a, value_path(t, v, "matchExpressions"), &term.expressions);
    term.n_fields = read_expressions(a, value_path(t, v, "matchFields"), &term.fields);
    struct term_rule rule = { .labels = node_selector_compile(a, WORK_OWN, &(struct node_selector){ &term, 1 }, NULL),
                              .names = ARENA_NEW_N(a, struct name_rule, term.n_fields) };
    for (size_t i = 0; i < term.n_fields && term.fields[i].values.n == 1; i++)
        rule.names[rule.n_names++] = (struct name_rule){ .name = term.fields[i].values.at[0],
                                                         .differs = str_is(term.fields[i].op, "NotIn"),
                                                         .of_nothing = !str_is(term.fields[i].key, NAME_FIELD) };
    return rule;
}

const struct daemon_rules *daemon_rules_new(struct arena *a, const struct value *template)
{
    const struct value *terms = value_path(template_type(), template, "spec." REQUIRED ".nodeSelectorTerms");
    struct daemon_rules *r = ARENA_NEW(a, struct daemon_rules);
    *r = (struct daemon_rules){
        .node_name = text_at(template_type(), template, "spec.nodeName"),
        .labels = selector_from_labels(a, labels_of_map(a, value_path(template_type(), template, "spec.nodeSelector"))),
        .has_terms = is_set_at(template_type(), template, "spec." REQUIRED),
        .terms = ARENA_NEW_N(a, struct term_rule, list_length(terms)),
        .n_terms = list_length(terms),
        .tolerations = daemon_tolerations(a, template),
    };
    for (size_t i = 0; i < r->n_terms; i++)
        r->terms[i] = read_term(a, &terms->items[i]);
    return r;
}

static bool term_matches(const struct term_rule *t, struct labels labels, struct str name)
{
    if (t->labels.n == 0 || t->labels.at[0].broken || !selector_matches(&t->labels.at[0].labels, labels))
        return false;
    for (size_t i = 0; i < t->n_names; i++) {
        struct str has = t->names[i].of_nothing ? STR("") : name;
        if (str_eq(has, t->names[i].name) == t->names[i].differs)
            return false;
    }
    return true;
}

static bool is_selected(const struct daemon_rules *r, struct labels labels, struct str name)
{
    bool matches = !r->has_terms;
    if ((r->node_name.n && !str_eq(r->node_name, name)) || !selector_matches(&r->labels, labels))
        return false;
    for (size_t i = 0; i < r->n_terms && !matches; i++)
        matches = term_matches(&r->terms[i], labels, name);
    return matches;
}

struct daemon_fit daemon_fit(struct arena *scratch, const struct daemon_rules *r, const struct value *node)
{
    const struct type *t = schema_type(STR("core/v1.Node"));
    const struct value *taints = value_path(t, node, "spec.taints");
    struct labels labels = labels_of_map(scratch, value_path(t, node, "metadata.labels"));
    if (!is_selected(r, labels, text_at(t, node, "metadata.name")))
        return (struct daemon_fit){ false, false };
    return (struct daemon_fit){ .run = taints_all_tolerated(taints, &r->tolerations, true),
                                .go_on = taints_all_tolerated(taints, &r->tolerations, false) };
}

/* ---- Pods ---- */

struct value daemon_template(struct arena *a, const struct value *template, struct str generation, struct str hash)
{
    const struct type *t = template_type();
    struct value labels = *value_path(t, template, "metadata.labels");
    if (generation.n)
        labels = edit_member(a, &labels, STR(DAEMON_GENERATION_LABEL), value_string(generation));
    if (hash.n)
        labels = edit_member(a, &labels, STR(DAEMON_HASH_LABEL), value_string(hash));
    struct value v = edit_set(a, t, template, "spec.tolerations", daemon_tolerations(a, template));
    return edit_set(a, t, &v, "metadata.labels", labels);
}

/* In place of all terms there are: the node was chosen by them already. */
static struct value only_node(struct arena *a, struct str node)
{
    const struct type *rt = schema_type(STR("core/v1.NodeSelectorRequirement"));
    const struct type *tt = schema_type(STR("core/v1.NodeSelectorTerm"));
    struct value requirement = value_struct(a, rt), term = value_struct(a, tt), none = { 0 };
    requirement = edit_set(a, rt, &requirement, "key", edit_text(NAME_FIELD));
    requirement = edit_set(a, rt, &requirement, "operator", edit_text("In"));
    requirement = edit_set(a, rt, &requirement, "values", edit_append(a, &none, value_string(node)));
    term = edit_set(a, tt, &term, "matchFields", edit_append(a, &none, requirement));
    return edit_append(a, &none, term);
}

struct value daemon_pod_make(struct arena *a, const struct value *template, const struct object_reference *owner, struct str node)
{
    struct value pod = pod_from_template(a, template, owner);
    return edit_set(a, schema_type(STR("core/v1.Pod")), &pod, "spec." REQUIRED ".nodeSelectorTerms", only_node(a, node));
}
