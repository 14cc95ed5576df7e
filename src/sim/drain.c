/* sim/drain.c - see drain.h. */
#include "sim/drain.h"

#include "sim/budget.h"

enum fate {
    FATE_STAYS,   /* not touched by a drain */
    FATE_LEAVES,  /* evicted and made again */
    FATE_DELETED, /* evicted and gone */
    FATE_BLOCKED, /* should leave and cannot */
};

struct decided {
    size_t index; /* of the object or the world's pod */
    enum fate fate;
};
typedef VEC(struct decided) decided_vec;

void sim_drain_init(struct sim_drain *d, struct sym_table *syms, bool force)
{
    *d = (struct sim_drain){ .syms = syms, .force = force };
    arena_init(&d->arena);
    map_u64_init(&d->nodes);
}

void sim_drain_fini(struct sim_drain *d)
{
    for (struct map_u64_slot *s = map_u64_next(&d->nodes, NULL); s; s = map_u64_next(&d->nodes, s))
        sym_unref(d->syms, (sym)s->key);
    map_u64_fini(&d->nodes);
    vec_fini(&d->names);
    vec_fini(&d->stays);
    vec_fini(&d->lost);
    arena_fini(&d->arena);
}

void sim_drain_copy(struct sim_drain *to, const struct sim_drain *from)
{
    sim_drain_init(to, from->syms, from->force);
    for (struct map_u64_slot *s = map_u64_next(&from->nodes, NULL); s; s = map_u64_next(&from->nodes, s))
        map_u64_put(&to->nodes, sym_ref(to->syms, (sym)s->key), NULL);
    for (size_t i = 0; i < from->names.n; i++)
        vec_push(&to->names, arena_cstr(&to->arena, str_of(from->names.at[i])));
    for (size_t i = 0; i < from->lost.n; i++) {
        struct sim_lost l = from->lost.at[i];
        l.node = arena_cstr(&to->arena, str_of(l.node));
        vec_push(&to->lost, l);
    }
    to->n_evicted = from->n_evicted;
    to->n_rounds = from->n_rounds;
}

void sim_drain_node(struct sim_drain *d, struct sim_input *in, struct sim_object *node)
{
    bool is_new;
    sym name = sym_intern(d->syms, str_of(node->name));
    map_u64_put(&d->nodes, name, &is_new);
    if (is_new)
        vec_push(&d->names, arena_cstr(&d->arena, str_of(node->name)));
    else
        sym_unref(d->syms, name);
    sim_object_set(in, node, "spec.unschedulable", value_bool(true));
}

/* ---- One pod ---- */

static bool is_healthy(const struct pod *pod)
{
    return pod->node_name != SYM_EMPTY && !(pod->flags & (POD_NOT_READY | POD_TERMINATING));
}

static enum fate fate_of(const struct sim_drain *d, const struct sym_table *syms, const struct pod *pod)
{
    if (pod->flags & POD_TERMINATING)
        return FATE_DELETED; /* on its way out, and replaced already */
    if (!pod->controller)
        return d->force ? FATE_DELETED : FATE_BLOCKED;
    struct str kind = sym_text(syms, pod->controller->kind);
    return str_is(kind, "DaemonSet") || str_is(kind, "Node") ? FATE_STAYS : FATE_LEAVES;
}

static const char *keep(struct sim_drain *d, const char *text)
{
    return text ? arena_cstr(&d->arena, str_of(text)) : NULL;
}

/* What becomes of a pod on a node that is being drained; `who` has its names, for the list of those
 * that stay. */
static enum fate decide(struct sim_drain *d, struct sim_budgets *budgets, const struct pod *pod, bool healthy,
                        struct sim_stay who)
{
    enum fate fate = fate_of(d, budgets->syms, pod);
    if (fate == FATE_STAYS)
        return fate;
    if (fate == FATE_BLOCKED) {
        who.reason = "it has no controller: nobody would make it again (--force deletes it)";
        vec_push(&d->stays, who);
        return fate;
    }
    struct sim_refusal r;
    if (sim_budgets_evict(budgets, pod, healthy, &r))
        return fate;
    who.reason = keep(d, r.reason);
    who.budget = keep(d, r.budget);
    who.allowed = r.allowed;
    who.healthy = r.healthy;
    who.desired = r.desired;
    vec_push(&d->stays, who);
    return FATE_BLOCKED;
}

static void lose(struct sim_drain *d, const struct pod *pod, const char *ns, const char *name, const char *node)
{
    const char *reason = pod->flags & POD_TERMINATING ? "it was being deleted" : "it has no controller";
    vec_push(&d->lost, (struct sim_lost){ ns, name, node, reason });
}

static bool is_drained(const struct sim_drain *d, sym node)
{
    return node != SYM_EMPTY && map_u64_find(&d->nodes, node);
}

/* ---- The first round ---- */

static bool is_pod_there(const struct sim_object *o)
{
    return sim_is_pod(o) && !o->removed && !(sim_pod_form(o)->flags & POD_FINISHED);
}

static void decide_input(struct sim_drain *d, struct sim_input *in, decided_vec *ret_decided)
{
    struct sim_budgets budgets;
    sim_budgets_init(&budgets, in, in->syms);
    for (size_t i = 0; i < in->objects.n; i++)
        if (is_pod_there(&in->objects.at[i]))
            sim_budgets_count(&budgets, sim_pod_form(&in->objects.at[i]), is_healthy(sim_pod_form(&in->objects.at[i])));
    sim_budgets_settle(&budgets);
    vec_reset(&d->stays);
    for (size_t i = 0; i < in->objects.n; i++) {
        const struct sim_object *o = &in->objects.at[i];
        if (!is_pod_there(o) || !is_drained(d, sim_pod_form(o)->node_name))
            continue;
        const struct pod *pod = sim_pod_form(o);
        struct sim_stay who = { .ns = o->ns, .name = o->name, .owner = o->owner,
                                .node = keep(d, sym_text(in->syms, pod->node_name).p) };
        enum fate fate = decide(d, &budgets, pod, is_healthy(pod), who);
        vec_push(ret_decided, (struct decided){ i, fate });
    }
    sim_budgets_fini(&budgets);
}

void sim_drain_input(struct sim_drain *d, struct sim_input *in)
{
    decided_vec decided = { 0 };
    decide_input(d, in, &decided);
    bool moved = false;
    for (size_t i = 0; i < decided.n; i++) {
        struct sim_object *o = &in->objects.at[decided.at[i].index];
        const struct pod *pod = sim_pod_form(o);
        moved |= decided.at[i].fate == FATE_LEAVES || decided.at[i].fate == FATE_DELETED;
        if (decided.at[i].fate == FATE_LEAVES) {
            sim_pod_unbind(in, o);
            d->n_evicted++;
        } else if (decided.at[i].fate == FATE_DELETED) {
            lose(d, pod, o->ns, o->name, keep(d, sym_text(in->syms, pod->node_name).p));
            sim_input_remove(in, o);
        }
    }
    d->n_rounds += moved;
    vec_fini(&decided);
}

/* ---- The others ---- */

static bool is_healthy_in(const struct sim_pod *p)
{
    return p->state == SIM_PLACED || (p->state == SIM_RUNNING && is_healthy(p->form));
}

static void decide_world(struct sim_drain *d, struct sim_world *w, decided_vec *ret_decided)
{
    struct sim_budgets budgets;
    sim_budgets_init(&budgets, w->in, w->syms);
    for (size_t i = 0; i < w->pods.n; i++)
        if (w->pods.at[i].state != SIM_EVICTED)
            sim_budgets_count(&budgets, w->pods.at[i].form, is_healthy_in(&w->pods.at[i]));
    sim_budgets_settle(&budgets);
    vec_reset(&d->stays);
    for (size_t i = 0; i < w->pods.n; i++) {
        const struct sim_pod *p = &w->pods.at[i];
        bool has_node = p->state == SIM_RUNNING || p->state == SIM_PLACED; /* and, in its form: before this run */
        if (!has_node || !is_drained(d, p->form->node_name))
            continue;
        struct sim_stay who = { .ns = p->ns, .name = p->name, .owner = p->owner,
                                .node = keep(d, sym_text(w->syms, p->form->node_name).p) };
        enum fate fate = decide(d, &budgets, p->form, is_healthy(p->form), who);
        if (fate == FATE_LEAVES || fate == FATE_DELETED)
            vec_push(ret_decided, (struct decided){ i, fate });
    }
    sim_budgets_fini(&budgets);
}

/* From the last to the first: what is deleted moves those behind it. Those that leave are handed
 * over in their order. */
static void carry_out(struct sim_drain *d, struct sim_world *w, const decided_vec *decided)
{
    for (size_t i = 0; i < decided->n; i++)
        if (decided->at[i].fate == FATE_LEAVES) {
            sim_world_unbind(w, decided->at[i].index);
            d->n_evicted++;
        }
    for (size_t i = decided->n; i-- > 0;)
        if (decided->at[i].fate == FATE_DELETED) {
            const struct sim_pod *p = &w->pods.at[decided->at[i].index];
            lose(d, p->form, p->ns, p->name, keep(d, sym_text(w->syms, p->form->node_name).p));
            sim_world_remove(w, decided->at[i].index);
        }
}

void sim_drain_world(struct sim_drain *d, struct sim_world *w)
{
    decided_vec decided = { 0 };
    while (d->names.n) {
        vec_reset(&decided);
        decide_world(d, w, &decided);
        if (!decided.n)
            break;
        carry_out(d, w, &decided);
        d->n_rounds++;
        sim_world_run(w);
    }
    vec_fini(&decided);
}
