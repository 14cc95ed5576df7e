/* insight/what_if.c - a chapter of insight.h: would this pod find a node if the cluster, or the pod, were different?
 *
 * The pod is explained on the cluster as it is; then the changes are made one after the other (what_if.h), it is explained
 * again, and all is taken back. The answer tells both, and what is different. */
#include "codec/json.h"
#include "insight/explain_json.h"
#include "insight/what_if_priv.h"

/* ---- Reading ---- */

sym question_sym(struct what_if_question *q, struct str text)
{
    sym id = sym_intern(q->syms, text);
    vec_push(&q->held, id);
    return id;
}

enum err_code question_fault(struct what_if_question *q, const char *path, const char *what)
{
    return err_set(q->e, ERR_BAD_REQUEST, "%s: %s", path, what);
}

enum err_code question_object(struct what_if_question *q, const struct value *v, const char *path,
                              const char *const *allowed)
{
    if (v->kind != VALUE_MAP)
        return question_fault(q, path, "an object is expected");
    for (uint32_t i = 0; i < v->n; i++) {
        struct str key = v->members[i].key;
        size_t k = 0;
        while (allowed[k] && !str_is(key, allowed[k]))
            k++;
        if (allowed[k])
            continue;
        if (key.n > INSIGHT_NAME_BYTES_MAX)
            key.n = INSIGHT_NAME_BYTES_MAX;
        return err_set(q->e, ERR_BAD_REQUEST, "%s: unknown member \"%.*s\"", path, STR_ARG(key));
    }
    return ERR_OK;
}

enum err_code question_text(struct what_if_question *q, const struct value *v, const char *path, struct str *ret_text)
{
    if (v->kind != VALUE_STRING)
        return question_fault(q, path, "a string is expected");
    if (v->n > INSIGHT_NAME_BYTES_MAX)
        return question_fault(q, path, "a text is too long");
    *ret_text = (struct str){ v->n ? v->s : "", v->n };
    if (v->n && memchr(v->s, '\0', v->n))
        return question_fault(q, path, "a text has a byte 0");
    return ERR_OK;
}

/* Of pods of one name the one that stays, as sched_pod_named. */
static void index_pod(void *context, const struct pod *pod)
{
    struct what_if_question *q = context;
    const char *name = arena_printf(q->arena, "%s/%s", sym_text(q->syms, pod->meta.ns).p, pod->meta.name);
    union map_value *v = map_str_put(&q->by_name, str_of(name), NULL);
    const struct pod *there = v->const_ptr;
    if (!there || there->flags & POD_TERMINATING)
        v->const_ptr = pod;
}

/* A name is looked for among all pods; who gives many names pays for an index once. */
static const struct pod *find_pod(struct what_if_question *q, struct str text, struct str ns, struct str name)
{
    enum { FEW = 4 };
    if (++q->n_named <= FEW)
        return sched_pod_named(q->sched, ns, name);
    if (q->n_named == FEW + 1)
        sched_each_pod(q->sched, index_pod, q);
    union map_value *found = map_str_find(&q->by_name, text);
    return found ? found->const_ptr : NULL;
}

enum err_code question_known_pod(struct what_if_question *q, const struct value *v, const char *path,
                                 const struct pod **ret_pod)
{
    struct str text = STR("");
    if (question_text(q, v, path, &text))
        return q->e->code;
    const char *slash = memchr(text.p, '/', text.n);
    if (!slash)
        return question_fault(q, path, "a pod is named \"NAMESPACE/NAME\"");
    struct str ns = str_range(text.p, slash), name = str_range(slash + 1, text.p + text.n);
    *ret_pod = find_pod(q, text, ns, name);
    if (!*ret_pod)
        return err_set(q->e, ERR_NOT_FOUND, "%s: pods \"%.*s\" not found in namespace %.*s", path, STR_ARG(name), STR_ARG(ns));
    return ERR_OK;
}

enum err_code question_amount(struct what_if_question *q, const struct member *m, const char *path, int64_t *ret_amount,
                              enum resource_kind *ret_kind)
{
    struct str text;
    nano amount;
    if (question_text(q, &m->value, path, &text))
        return q->e->code;
    *ret_kind = m->key.n > INSIGHT_NAME_BYTES_MAX ? RESOURCE_IGNORED : resource_kind_of(m->key);
    if (*ret_kind == RESOURCE_IGNORED)
        return question_fault(q, path, "this is no name of a resource");
    if (nano_parse(text, &amount, q->e))
        return err_wrap(q->e, "%s", path);
    if (amount < 0)
        return question_fault(q, path, "an amount is below 0");
    *ret_amount = nano_round(amount, *ret_kind == RESOURCE_CPU ? NANO_PER_MILLI : NANO_PER_UNIT);
    return ERR_OK;
}

enum err_code question_effect(struct what_if_question *q, const struct value *v, const char *path, uint8_t *ret_effect)
{
    struct str text;
    if (question_text(q, v, path, &text))
        return q->e->code;
    enum taint_effect effect = taint_effect_parse(text);
    if (effect == EFFECT_ANY || effect == EFFECT_OTHER)
        return question_fault(q, path, "an effect is NoSchedule, PreferNoSchedule or NoExecute");
    *ret_effect = (uint8_t)effect;
    return ERR_OK;
}

static void set_label(struct what_if_question *q, struct label_set *labels, sym key, sym value)
{
    struct label_pair *at = arena_alloc(q->arena, (labels->n + 1) * sizeof(*at));
    uint32_t n = 0, i = 0;
    while (i < labels->n && labels->at[i].key < key)
        at[n++] = labels->at[i++];
    if (value != SYM_NONE)
        at[n++] = (struct label_pair){ key, value };
    if (i < labels->n && labels->at[i].key == key)
        i++;
    while (i < labels->n)
        at[n++] = labels->at[i++];
    *labels = (struct label_set){ at, n };
}

enum err_code question_labels(struct what_if_question *q, const struct value *changes, const char *path,
                              struct label_set *labels)
{
    if (changes->kind != VALUE_MAP || changes->n > INSIGHT_CHANGES_MAX)
        return question_fault(q, path, "an object of labels is expected; null removes one");
    for (uint32_t i = 0; i < changes->n; i++) {
        const struct member *m = &changes->members[i];
        struct str text = STR("");
        bool removes = m->value.kind == VALUE_NULL;
        if (m->key.n > INSIGHT_NAME_BYTES_MAX || !m->key.n || memchr(m->key.p, '\0', m->key.n))
            return question_fault(q, path, "the key of a label is too long, or empty");
        if (!removes && question_text(q, &m->value, path, &text))
            return q->e->code;
        set_label(q, labels, question_sym(q, m->key), removes ? SYM_NONE : question_sym(q, text));
    }
    return ERR_OK;
}

/* ---- Changes ---- */

static const struct change_kind {
    const char *name;
    enum err_code (*make)(struct what_if_question *q, const struct value *v, const char *path);
} change_kinds[] = {
    { "node", change_node },       { "addNodes", change_add_nodes }, { "removeNode", change_remove_node },
    { "drain", change_drain },     { "evict", change_evict },        { "pod", change_pod },
};

enum { N_CHANGE_KINDS = sizeof(change_kinds) / sizeof(change_kinds[0]) };

static enum err_code make_change(struct what_if_question *q, const struct value *v, uint32_t index)
{
    const char *path = arena_printf(q->arena, "changes[%u]", index);
    if (v->kind != VALUE_MAP || v->n != 1)
        return question_fault(q, path, "a change is an object with one member: node, addNodes, removeNode, drain, evict or pod");
    for (size_t i = 0; i < N_CHANGE_KINDS; i++)
        if (str_is(v->members[0].key, change_kinds[i].name))
            return change_kinds[i].make(q, &v->members[0].value, arena_printf(q->arena, "%s.%s", path, change_kinds[i].name));
    return question_fault(q, path, "a change is one of node, addNodes, removeNode, drain, evict, pod");
}

static enum err_code make_changes(struct what_if_question *q, const struct value *list)
{
    for (uint32_t i = 0; list && i < list->n; i++)
        if (make_change(q, &list->items[i], i))
            return q->e->code;
    return ERR_OK;
}

/* ---- Nodes that are not there any more ---- */

static bool was_removed(const struct what_if_question *q, const char *name)
{
    for (size_t i = 0; i < q->removed.n; i++)
        if (str_is(sym_text(q->syms, q->removed.at[i]), name))
            return true;
    return false;
}

static void leave_out_of_group(const struct what_if_question *q, struct explained_group *g)
{
    const char **kept = ARENA_NEW_N(q->arena, const char *, g->n_nodes);
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (!was_removed(q, g->nodes[i]))
            kept[n++] = g->nodes[i];
    g->nodes = kept;
    g->n_nodes = n;
}

/* Out of the explanation, where they can only be among the refused. */
static enum err_code leave_out_removed(const struct what_if_question *q, struct explanation *x)
{
    uint32_t n_fit = x->n_compared + x->n_not_compared, n = n_fit, n_groups = 0;
    for (uint32_t i = 0; i < n_fit; i++)
        if (was_removed(q, x->nodes[i].name))
            return err_set(q->e, ERR_INVALID, "removeNode: no plugin of the pod's profile keeps pods off a node without room, so "
                           "it cannot be left out");
    for (uint32_t i = n_fit; i < x->n_nodes; i++)
        if (!was_removed(q, x->nodes[i].name))
            x->nodes[n++] = x->nodes[i];
    x->n_nodes = n;
    x->n_refused = n - n_fit;
    for (uint32_t i = 0; i < x->n_groups; i++) {
        leave_out_of_group(q, &x->groups[i]);
        if (x->groups[i].n_nodes)
            x->groups[n_groups++] = x->groups[i];
    }
    x->n_groups = n_groups;
    return ERR_OK;
}

/* ---- The answer ---- */

static void add_text(struct strbuf *to, const char *key, const char *text)
{
    strbuf_printf(to, ",\"%s\":", key);
    if (text)
        json_add_string(to, str_of(text));
    else
        STRBUF_ADD_LIT(to, "null");
}

static bool places(const struct explanation *x)
{
    return x->outcome == EXPLAINED_FITS && !x->not_tried;
}

static void add_best(struct strbuf *to, const struct explanation *x, uint32_t n_top)
{
    STRBUF_ADD_LIT(to, ",\"best\":[");
    for (uint32_t i = 0; i < x->n_compared && i < n_top; i++) {
        const struct explained_node *n = &x->nodes[i];
        strbuf_add_text(to, i ? ",{\"name\":" : "{\"name\":");
        json_add_string(to, str_of(n->name));
        if (n->scores)
            strbuf_printf(to, ",\"total\":%lld}", (long long)n->total);
        else
            STRBUF_ADD_LIT(to, ",\"total\":null}");
    }
    strbuf_add_char(to, ']');
}

/* The member `key`, of one of the two explanations. */
static void add_state(struct strbuf *to, const char *key, const struct explanation *x, uint32_t n_top)
{
    strbuf_printf(to, ",\n\"%s\":{\"places\":%s", key, places(x) ? "true" : "false");
    add_text(to, "node", places(x) ? x->chosen : NULL);
    strbuf_printf(to, ",\"nodes\":%u,\"feasible\":%u", x->n_nodes, x->n_compared + x->n_not_compared);
    add_text(to, "message", x->message);
    add_text(to, "notTried", x->not_tried);
    add_text(to, "wouldPreemptOn", x->preemption ? x->preemption->node : NULL);
    strbuf_printf(to, ",\"victims\":%u", x->preemption ? x->preemption->n_victims : 0);
    add_best(to, x, n_top);
    explanation_add_groups(to, x, n_top);
    strbuf_add_char(to, '}');
}

static void fill_fitting(struct map_str *to, const struct explanation *x)
{
    for (uint32_t i = 0; i < x->n_compared + x->n_not_compared; i++)
        map_str_put(to, str_of(x->nodes[i].name), NULL);
}

/* Nodes that fit in `x` and are not in `others`. */
static void add_only_in(struct strbuf *to, const char *key, const struct explanation *x, const struct map_str *others,
                        uint32_t n_top)
{
    uint32_t n = 0;
    strbuf_printf(to, ",\"%s\":[", key);
    for (uint32_t i = 0; i < x->n_compared + x->n_not_compared; i++) {
        if (map_str_find(others, str_of(x->nodes[i].name)) || n++ >= n_top)
            continue;
        strbuf_add_text(to, n > 1 ? "," : "");
        json_add_string(to, str_of(x->nodes[i].name));
    }
    strbuf_printf(to, "],\"%sCount\":%u", key, n);
}

static void add_difference(struct strbuf *to, const struct what_if_question *q, const struct explanation *now,
                           const struct explanation *then)
{
    struct map_str fits_now, fits_then;
    bool before = places(now), after = places(then);
    bool same = before == after && (!before || strcmp(now->chosen, then->chosen) == 0);
    map_str_init(&fits_now);
    map_str_init(&fits_then);
    fill_fitting(&fits_now, now);
    fill_fitting(&fits_then, then);
    strbuf_printf(to, ",\n\"difference\":{\"places\":\"%s\",\"sameNode\":%s", before == after ? "same" : after ? "gained" : "lost",
                  same ? "true" : "false");
    add_only_in(to, "fits", then, &fits_now, q->n_top);
    add_only_in(to, "fitsNoMore", now, &fits_then, q->n_top);
    strbuf_add_char(to, '}');
    map_str_fini(&fits_now);
    map_str_fini(&fits_then);
}

static void add_answer(struct strbuf *to, const struct what_if_question *q, const struct explanation *now,
                       const struct explanation *then)
{
    STRBUF_ADD_LIT(to, "{\"kind\":\"WhatIf\",\"version\":1,\n\"pod\":{\"namespace\":");
    json_add_string(to, str_of(now->ns));
    add_text(to, "name", now->name);
    add_text(to, "node", now->node);
    strbuf_printf(to, "},\n\"changes\":%u,\"podsLifted\":%u,\"newNodes\":[", q->n_changes, q->n_lifted);
    for (size_t i = 0; i < q->added.n && i < q->n_top; i++) {
        strbuf_add_text(to, i ? "," : "");
        json_add_string(to, str_of(q->added.at[i]));
    }
    strbuf_add_char(to, ']');
    add_state(to, "now", now, q->n_top);
    add_state(to, "then", then, q->n_top);
    add_difference(to, q, now, then);
    STRBUF_ADD_LIT(to, "}\n");
}

/* ---- The question ---- */

static enum err_code read_question(struct what_if_question *q, const struct value *v)
{
    static const char *const members[] = { "pod", "manifest", "changes", "nodes", NULL };
    if (question_object(q, v, "the question", members))
        return q->e->code;
    const struct value *pod = question_member(v, "pod"), *manifest = question_member(v, "manifest");
    const struct value *changes = question_member(v, "changes"), *nodes = question_member(v, "nodes");
    if (!pod == !manifest)
        return question_fault(q, "the question", "about which pod? give pod or manifest");
    if (changes && (changes->kind != VALUE_LIST || changes->n > INSIGHT_CHANGES_MAX))
        return question_fault(q, "changes", "a list of at most 256 changes is expected");
    if (nodes && (nodes->kind != VALUE_INT || nodes->i < 1 || nodes->i > INSIGHT_NODES_MAX))
        return question_fault(q, "nodes", "a number from 1 to 5000 is expected");
    q->n_top = nodes ? (uint32_t)nodes->i : INSIGHT_NODES;
    q->n_changes = changes ? changes->n : 0;
    if (manifest)
        return question_manifest(q, manifest);
    if (question_known_pod(q, pod, "pod", &q->pod))
        return q->e->code;
    pod_ref(q->pod);
    return ERR_OK;
}

static enum err_code answer(struct what_if_question *q, const struct value *v, struct strbuf *to)
{
    struct explanation now, then;
    explain_pod(q->sched, q->pod, q->arena, &now);
    what_if_begin(&q->what_if, q->sched);
    enum err_code code = make_changes(q, question_member(v, "changes"));
    if (!code) {
        explain_pod(q->sched, q->pod, q->arena, &then);
        code = leave_out_removed(q, &then);
    }
    what_if_end(&q->what_if);
    if (code)
        return code;
    add_answer(to, q, &now, &then);
    return to->overflow ? err_set(q->e, ERR_TOO_LARGE, "the answer is too large: ask for fewer with nodes") : ERR_OK;
}

enum err_code insight_what_if(const struct insight *in, struct str body, struct strbuf *to, struct err *e)
{
    struct work work = work_init(INSIGHT_BODY_BYTES_MAX);
    struct value v;
    if (body.n > INSIGHT_BODY_BYTES_MAX)
        return err_set(e, ERR_TOO_LARGE, "the question has %zu bytes, at most %d are read", body.n, INSIGHT_BODY_BYTES_MAX);
    if (json_decode_plain(e->arena, &work, body, &v, e))
        return e->code;
    if (!what_if_can(in->sched))
        return err_set(e, ERR_INVALID, "extenders are configured: what they would say of a changed cluster is not known, so there "
                       "is no answer");
    struct what_if_question q = { .sched = in->sched, .syms = sched_cache(in->sched)->syms, .arena = e->arena, .e = e };
    map_str_init(&q.by_name);
    enum err_code code = read_question(&q, &v);
    if (!code)
        code = answer(&q, &v, to);
    if (q.pod)
        pod_unref(q.syms, q.pod);
    for (size_t i = 0; i < q.held.n; i++)
        sym_unref(q.syms, q.held.at[i]);
    map_str_fini(&q.by_name);
    vec_fini(&q.held);
    vec_fini(&q.removed);
    vec_fini(&q.added);
    return code;
}
