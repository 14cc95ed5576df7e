/* insight/what_if_node.c - a chapter of insight.h: what-ifs that change nodes, and what runs on them. */
#include "insight/what_if_priv.h"
#include "sched/remedy.h"

#define CORDON_TAINT "node.kubernetes.io/unschedulable"

static enum err_code find_row(struct what_if_question *q, const struct value *v, const char *path, node_id *ret_row)
{
    struct str name;
    if (question_text(q, v, path, &name))
        return q->e->code;
    sym id = sym_find(q->syms, name);
    node_id row = id == SYM_NONE ? NODE_NONE : cache_listed_node(sched_cache(q->sched), id);
    for (size_t i = 0; i < q->removed.n && row != NODE_NONE; i++)
        if (q->removed.at[i] == id)
            row = NODE_NONE;
    if (row == NODE_NONE)
        return err_set(q->e, ERR_NOT_FOUND, "%s: nodes \"%.*s\" not found", path, STR_ARG(name));
    *ret_row = row;
    return ERR_OK;
}

static const struct node *node_on(const struct what_if_question *q, node_id row)
{
    return sched_cache(q->sched)->rows.at[row].node;
}

static void suppose(struct what_if_question *q, node_id row, const struct node *changed)
{
    const struct node *form = node_of_changed(q->syms, changed);
    what_if_node(&q->what_if, row, form);
    node_unref(q->syms, form);
}

/* ---- Taints and cordons ---- */

static enum err_code read_taint(struct what_if_question *q, const struct value *v, const char *path, bool whole,
                                struct taint_form *ret_taint)
{
    static const char *const members[] = { "key", "value", "effect", NULL };
    struct str key, value = STR("");
    if (question_object(q, v, path, members))
        return q->e->code;
    const struct value *key_at = question_member(v, "key"), *value_at = question_member(v, "value");
    const struct value *effect_at = question_member(v, "effect");
    if (!key_at || (whole && !effect_at))
        return question_fault(q, path, whole ? "a taint has a key and an effect" : "which taint? give its key");
    *ret_taint = (struct taint_form){ .effect = EFFECT_ANY };
    if (question_text(q, key_at, path, &key) || (value_at && question_text(q, value_at, path, &value)) ||
        (effect_at && question_effect(q, effect_at, path, &ret_taint->effect)))
        return q->e->code;
    ret_taint->key = question_sym(q, key);
    ret_taint->value = question_sym(q, value);
    return ERR_OK;
}

static void drop_taints(struct what_if_question *q, struct node *node, sym key, uint8_t effect)
{
    struct taint_form *taints = arena_alloc(q->arena, node->n_taints * sizeof(*taints));
    uint32_t n = 0;
    for (uint32_t i = 0; i < node->n_taints; i++)
        if (node->taints[i].key != key || (effect != EFFECT_ANY && node->taints[i].effect != effect))
            taints[n++] = node->taints[i];
    node->taints = taints;
    node->n_taints = n;
}

static void add_taint(struct what_if_question *q, struct node *node, struct taint_form taint)
{
    drop_taints(q, node, taint.key, taint.effect); /* key and effect together are one */
    struct taint_form *taints = arena_alloc(q->arena, (node->n_taints + 1) * sizeof(*taints));
    if (node->n_taints)
        memcpy(taints, node->taints, node->n_taints * sizeof(*taints));
    taints[node->n_taints++] = taint;
    node->taints = taints;
}

static enum err_code change_taints(struct what_if_question *q, const struct value *list, const char *path, bool add,
                                   struct node *node)
{
    if (list->kind != VALUE_LIST || list->n > INSIGHT_CHANGES_MAX)
        return question_fault(q, path, "a list of taints is expected");
    for (uint32_t i = 0; i < list->n; i++) {
        struct taint_form taint;
        if (read_taint(q, &list->items[i], path, add, &taint))
            return q->e->code;
        if (add)
            add_taint(q, node, taint);
        else
            drop_taints(q, node, taint.key, taint.effect);
    }
    return ERR_OK;
}

/* As kubectl does, and then the controller that keeps the taint. */
static void cordon(struct what_if_question *q, struct node *node, bool on)
{
    sym key = question_sym(q, STR(CORDON_TAINT));
    node->flags &= ~(uint32_t)NODE_UNSCHEDULABLE;
    drop_taints(q, node, key, EFFECT_ANY);
    if (!on)
        return;
    node->flags |= NODE_UNSCHEDULABLE;
    add_taint(q, node, (struct taint_form){ key, SYM_EMPTY, EFFECT_NO_SCHEDULE });
}

/* ---- Allocatable ---- */

/* By name as text. */
static void set_scalar(struct what_if_question *q, struct amounts *amounts, sym name, int64_t amount)
{
    struct scalar_amount *scalars = arena_alloc(q->arena, (amounts->n_scalars + 1) * sizeof(*scalars));
    struct str text = sym_text(q->syms, name);
    uint32_t n = 0, i = 0;
    while (i < amounts->n_scalars && str_cmp(sym_text(q->syms, amounts->scalars[i].name), text) < 0)
        scalars[n++] = amounts->scalars[i++];
    scalars[n++] = (struct scalar_amount){ name, amount };
    if (i < amounts->n_scalars && amounts->scalars[i].name == name)
        i++;
    while (i < amounts->n_scalars)
        scalars[n++] = amounts->scalars[i++];
    amounts->scalars = scalars;
    amounts->n_scalars = n;
}

static enum err_code change_allocatable(struct what_if_question *q, const struct value *v, const char *path,
                                        struct amounts *amounts)
{
    if (v->kind != VALUE_MAP || v->n > RESOURCE_SCALARS_MAX)
        return question_fault(q, path, "an object of amounts is expected, as in {\"cpu\":\"4\"}");
    for (uint32_t i = 0; i < v->n; i++) {
        int64_t amount;
        enum resource_kind kind;
        if (question_amount(q, &v->members[i], path, &amount, &kind))
            return q->e->code;
        switch (kind) {
        case RESOURCE_CPU:
            amounts->milli_cpu = amount;
            break;
        case RESOURCE_MEMORY:
            amounts->memory = amount;
            break;
        case RESOURCE_EPHEMERAL:
            amounts->ephemeral_storage = amount;
            break;
        case RESOURCE_PODS:
            amounts->pods = amount > INT32_MAX ? INT32_MAX : (int32_t)amount;
            break;
        default:
            set_scalar(q, amounts, question_sym(q, v->members[i].key), amount);
        }
    }
    if (amounts->n_scalars > RESOURCE_SCALARS_MAX)
        return question_fault(q, path, "too many resources");
    return ERR_OK;
}

/* ---- One node ---- */

enum err_code change_node(struct what_if_question *q, const struct value *v, const char *path)
{
    static const char *const members[] = { "name", "labels", "addTaints", "removeTaints", "cordoned", "allocatable", NULL };
    node_id row = NODE_NONE;
    if (question_object(q, v, path, members))
        return q->e->code;
    const struct value *name = question_member(v, "name"), *part;
    if (!name)
        return question_fault(q, path, "which node? give its name");
    if (find_row(q, name, path, &row))
        return q->e->code;
    struct node changed = *node_on(q, row);
    if ((part = question_member(v, "labels")) && question_labels(q, part, path, &changed.meta.labels))
        return q->e->code;
    if ((part = question_member(v, "removeTaints")) && change_taints(q, part, path, false, &changed))
        return q->e->code;
    if ((part = question_member(v, "addTaints")) && change_taints(q, part, path, true, &changed))
        return q->e->code;
    if ((part = question_member(v, "allocatable")) && change_allocatable(q, part, path, &changed.allocatable))
        return q->e->code;
    if ((part = question_member(v, "cordoned"))) {
        if (part->kind != VALUE_BOOL)
            return question_fault(q, path, "cordoned is true or false");
        cordon(q, &changed, part->b);
    }
    suppose(q, row, &changed);
    return ERR_OK;
}

/* ---- Nodes that come ---- */

/* A name that nobody knows. */
static sym new_name(struct what_if_question *q, const struct node *like)
{
    const char *name = arena_printf(q->arena, "%s-new", like->meta.name);
    for (size_t first = q->added.n + 1, i = first > 2 ? first : 2; sym_find(q->syms, str_of(name)) != SYM_NONE; i++)
        name = arena_printf(q->arena, "%s-new-%zu", like->meta.name, i);
    vec_push(&q->added, name);
    return question_sym(q, str_of(name));
}

enum err_code change_add_nodes(struct what_if_question *q, const struct value *v, const char *path)
{
    static const char *const members[] = { "like", "count", "labels", "allocatable", NULL };
    node_id row = NODE_NONE;
    if (question_object(q, v, path, members))
        return q->e->code;
    const struct value *like = question_member(v, "like"), *count = question_member(v, "count"), *part;
    if (!like)
        return question_fault(q, path, "like which node? give its name");
    if (count && (count->kind != VALUE_INT || count->i < 1 || count->i > INSIGHT_NEW_NODES_MAX))
        return question_fault(q, path, "count is a number from 1 to 1000");
    if (find_row(q, like, path, &row))
        return q->e->code;
    uint32_t n = count ? (uint32_t)count->i : 1;
    if (q->added.n + n > INSIGHT_NEW_NODES_MAX)
        return question_fault(q, path, "at most 1000 new nodes are tried");
    for (uint32_t i = 0; i < n; i++) {
        struct node node = remedy_node_like(q->sched, q->arena, row, new_name(q, node_on(q, row)));
        if ((part = question_member(v, "labels")) && question_labels(q, part, path, &node.meta.labels))
            return q->e->code;
        if ((part = question_member(v, "allocatable")) && change_allocatable(q, part, path, &node.allocatable))
            return q->e->code;
        const struct node *form = node_of_changed(q->syms, &node);
        what_if_new_node(&q->what_if, form);
        node_unref(q->syms, form);
    }
    return ERR_OK;
}

/* ---- Pods and nodes that go ---- */

static enum err_code lift(struct what_if_question *q, const char *uid, const char *path)
{
    const struct placed *placed = cache_find_pod(sched_cache(q->sched), uid);
    if (!placed || !node_on(q, placed->node))
        return ERR_OK; /* on no node that counts, or gone already */
    if (++q->n_lifted > INSIGHT_EVICTED_MAX)
        return question_fault(q, path, "at most 10000 pods may go");
    what_if_without(&q->what_if, placed);
    return ERR_OK;
}

static bool is_daemon(const struct what_if_question *q, const struct pod *pod)
{
    return pod->controller && str_is(sym_text(q->syms, pod->controller->kind), "DaemonSet");
}

static enum err_code lift_all(struct what_if_question *q, node_id row, bool daemons, const char *path)
{
    const struct node_row *r = &sched_cache(q->sched)->rows.at[row];
    const char **uids = ARENA_NEW_N(q->arena, const char *, r->pods.n);
    size_t n = 0;
    for (size_t i = 0; i < r->pods.n; i++)
        if (daemons || !is_daemon(q, r->pods.at[i]->pod))
            uids[n++] = r->pods.at[i]->pod->meta.uid; /* lives on: a lifted pod keeps its form */
    for (size_t i = 0; i < n; i++)
        if (lift(q, uids[i], path))
            return q->e->code;
    return ERR_OK;
}

enum err_code change_drain(struct what_if_question *q, const struct value *v, const char *path)
{
    node_id row = NODE_NONE;
    if (find_row(q, v, path, &row) || lift_all(q, row, false, path))
        return q->e->code;
    struct node changed = *node_on(q, row);
    cordon(q, &changed, true);
    suppose(q, row, &changed);
    return ERR_OK;
}

/* The row has to stay. So the node keeps nothing that anybody could count or fit on: no labels, no pods, no room; what is said
 * of it is left out of the answer. */
enum err_code change_remove_node(struct what_if_question *q, const struct value *v, const char *path)
{
    node_id row = NODE_NONE;
    if (find_row(q, v, path, &row) || lift_all(q, row, true, path))
        return q->e->code;
    struct node changed = *node_on(q, row);
    changed.meta.labels = (struct label_set){ 0 };
    changed.allocatable = (struct amounts){ 0 };
    cordon(q, &changed, true);
    suppose(q, row, &changed);
    vec_push(&q->removed, changed.name);
    return ERR_OK;
}

enum err_code change_evict(struct what_if_question *q, const struct value *v, const char *path)
{
    if (v->kind != VALUE_LIST)
        return question_fault(q, path, "a list of pods is expected, as in [\"NAMESPACE/NAME\"]");
    for (uint32_t i = 0; i < v->n; i++) {
        const struct pod *pod;
        if (question_known_pod(q, &v->items[i], path, &pod) || lift(q, pod->meta.uid, path))
            return q->e->code;
    }
    return ERR_OK;
}
