/* sim/world.c - see world.h. */
#include "sim/world.h"

#include <stdio.h>

#include "sim/claims.h"

#define ZONE_LABEL "topology.kubernetes.io/zone"

enum {
    STEP_MS = 1000,       /* of the virtual clock */
    STEPS_MAX = 10000,    /* of one run */
    QUIET_TRIES = 3,      /* back-offs at their longest without anything new: then nothing will change */
    START_WALL_S = 1800000000, /* always the same, so that runs can be repeated */
    TELL_PODS = 64, /* how often progress is told */
};

/* ---- The scheduler's door to this world ---- */

static int64_t io_now_ms(void *context)
{
    const struct sim_world *w = context;
    return w->now_ms;
}

static int64_t io_wall_s(void *context)
{
    const struct sim_world *w = context;
    return w->start_wall_s + w->now_ms / 1000;
}

static struct sim_pod *find_pod(struct sim_world *w, const struct pod *form)
{
    union map_value *v = map_str_find(&w->pod_by_uid, str_of(form->meta.uid));
    return v ? &w->pods.at[v->num] : NULL;
}

static bool is_probe(const struct sim_world *w, const struct pod *form)
{
    return w->probe && strcmp(w->probe->uid, form->meta.uid) == 0;
}

static int32_t find_node(const struct sim_world *w, sym name)
{
    union map_value *v = map_u64_find(&w->node_by_name, name);
    return v ? (int32_t)v->num : SIM_NO_NODE;
}

static void io_bind(void *context, io_ticket ticket, const struct pod *pod, sym node)
{
    struct sim_world *w = context;
    (void)node; /* the pod has it */
    vec_push(&w->outcomes, (struct sim_outcome){ ticket, pod_ref(pod), SIM_OUTCOME_BOUND });
}

static void io_evict(void *context, io_ticket ticket, const struct pod *victim, const struct pod *preemptor)
{
    struct sim_world *w = context;
    struct sim_pod *v = find_pod(w, victim), *by = find_pod(w, preemptor);
    if (v && by)
        v->evicted_by = by - w->pods.at;
    vec_push(&w->outcomes, (struct sim_outcome){ ticket, pod_ref(victim), SIM_OUTCOME_EVICTED });
}

static void io_patch_status(void *context, const struct status_change *change)
{
    struct sim_world *w = context;
    struct sim_pod *p = find_pod(w, change->pod);
    char **message = p ? &p->message : is_probe(w, change->pod) ? &w->probe->message : NULL;
    if (message && change->has_condition) {
        free(*message);
        *message = strdup(change->message);
    }
    if (w->watch && change->has_condition)
        w->watch->failed(w->watch->context, change);
    if (change->set_nomination && change->nomination != change->pod->nominated_node)
        vec_push(&w->outcomes, (struct sim_outcome){
                                   0, pod_shown_nominated(w->syms, change->pod, change->nomination, ++w->n_nominations),
                                   SIM_OUTCOME_NOMINATED });
}

static void io_event(void *context, const struct event_note *note)
{
    (void)context;
    (void)note;
}

static void io_bind_volumes(void *context, io_ticket ticket, const struct pod *pod, sym node,
                            const struct volume_decisions *decisions)
{
    struct sim_world *w = context;
    (void)node;
    sim_bind_volumes(sched_objects(w->sched), w->syms, decisions, &w->bound);
    vec_push(&w->outcomes, (struct sim_outcome){ ticket, pod_ref(pod), SIM_OUTCOME_VOLUMES });
}

/* ---- Accounts ---- */

static void count(struct sim_amounts *to, const struct pod *pod, bool add)
{
    to->milli_cpu = account(to->milli_cpu, pod->requested->milli_cpu, add);
    to->memory = account(to->memory, pod->requested->memory, add);
    to->pods += add ? 1 : -1;
}

static void set_state(struct sim_world *w, struct sim_pod *p, enum sim_state state)
{
    w->n_in_state[p->state]--;
    w->n_in_state[state]++;
    p->state = state;
}

static void place(struct sim_world *w, const struct pod *form)
{
    if (is_probe(w, form))
        w->probe->node = find_node(w, form->node_name);
    struct sim_pod *p = find_pod(w, form);
    if (!p || p->state != SIM_PENDING)
        return;
    p->node = find_node(w, form->node_name);
    set_state(w, p, SIM_PLACED);
    if (p->node != SIM_NO_NODE)
        count(&w->nodes.at[p->node].after, form, true);
}

/* The pod that was evicted now; NULL: it is none of ours. */
static const struct sim_pod *evict(struct sim_world *w, const struct pod *form)
{
    struct sim_pod *p = find_pod(w, form);
    if (!p || p->state == SIM_EVICTED)
        return NULL;
    set_state(w, p, SIM_EVICTED);
    if (p->node != SIM_NO_NODE)
        count(&w->nodes.at[p->node].after, form, false);
    return p;
}

/* A kubelet makes its static pods itself, and not again on another node. */
static bool has_maker(const struct sim_world *w, const struct pod *form)
{
    return form->controller && !str_is(sym_text(w->syms, form->controller->kind), "Node");
}

/* What the controller of an evicted pod does: another pod like it, which is tried after all others. */
static void make_again(struct sim_world *w, struct sim_pod victim)
{
    if (!has_maker(w, victim.form) || w->pods.n >= SIM_OBJECTS_MAX)
        return;
    struct arena *a = &w->in->arena;
    struct sim_pod p = { .ns = victim.ns, .owner = victim.owner, .made = true, .state = SIM_PENDING, .node = SIM_NO_NODE,
                         .evicted_by = -1, .name = arena_printf(a, "%s-again", victim.name) };
    p.form = pod_again(w->syms, victim.form, p.name, arena_printf(a, "%s-again", victim.form->meta.uid));
    map_str_put(&w->pod_by_uid, str_of(p.form->meta.uid), NULL)->num = w->pods.n;
    vec_push(&w->pods, p);
    w->n_in_state[SIM_PENDING]++;
    w->now_ms++;
    sim_warn_claims(w->in, p.form);
    sched_pod_set(w->sched, p.form);
}

static void answer_eviction(struct sim_world *w, const struct sim_outcome *o)
{
    const struct sim_pod *victim = evict(w, o->pod);
    sched_victim_done(w->sched, o->ticket, NULL);
    sched_pod_removed(w->sched, o->pod->meta.uid);
    if (w->watch)
        w->watch->evicted(w->watch->context, o->pod);
    else if (victim)
        make_again(w, *victim);
}

/* What an API server would answer, and then show on the watch. Answers may ask for more: the list grows meanwhile. */
static void answer(struct sim_world *w)
{
    for (size_t i = 0; i < w->outcomes.n; i++) {
        struct sim_outcome o = w->outcomes.at[i];
        switch (o.kind) {
        case SIM_OUTCOME_BOUND:
            place(w, o.pod);
            sched_bound(w->sched, o.ticket, NULL);
            sched_pod_set(w->sched, o.pod);
            if (w->watch)
                w->watch->bound(w->watch->context, o.pod);
            break;
        case SIM_OUTCOME_EVICTED:
            answer_eviction(w, &o);
            break;
        case SIM_OUTCOME_NOMINATED:
            sched_pod_set(w->sched, o.pod);
            break;
        case SIM_OUTCOME_VOLUMES:
            for (size_t k = 0; k < w->bound.n; k++)
                sched_object_set(w->sched, w->bound.at[k].kind, w->bound.at[k].form);
            sim_new_forms_reset(w->syms, &w->bound);
            sched_volumes_bound(w->sched, o.ticket, NULL);
            break;
        }
        pod_unref(w->syms, o.pod);
    }
    vec_reset(&w->outcomes);
}

/* ---- Objects ---- */

static enum err_code add_object(struct sim_world *w, const struct sim_object *o, struct err *e)
{
    (void)e;
    if (o->sim_kind->form != SIM_FORM_NONE)
        sched_object_set(w->sched, (enum object_kind)o->sim_kind->form, o->form);
    return ERR_OK;
}

static enum err_code add_node(struct sim_world *w, const struct sim_object *o, struct err *e)
{
    (void)e;
    struct sim_node n = { .form = node_ref(sim_node_form(o)), .zone = "" };
    sym zone_key = sym_find(w->syms, STR(ZONE_LABEL));
    sym zone = zone_key == SYM_NONE ? SYM_NONE : label_set_get(n.form->meta.labels, zone_key);
    if (zone != SYM_NONE)
        n.zone = sym_text(w->syms, zone).p;
    const struct amounts *a = &n.form->allocatable;
    n.allocatable = (struct sim_amounts){ a->milli_cpu, a->memory, a->pods };
    map_u64_put(&w->node_by_name, n.form->name, NULL)->num = w->nodes.n;
    vec_push(&w->nodes, n);
    sched_node_set(w->sched, n.form);
    return ERR_OK;
}

static bool has_profile(const struct sim_world *w, sym name)
{
    for (uint32_t i = 0; i < w->setup->n_profiles; i++)
        if (str_eq(sym_text(w->syms, name), w->setup->config->profiles[i].scheduler_name))
            return true;
    return false;
}

char *sim_untried_reason(const struct sim_world *w, const struct pod *pod)
{
    const char *text = NULL;
    struct arena a;
    arena_init(&a);
    if (pod->flags & POD_TERMINATING)
        text = "it is being deleted";
    else if (!has_profile(w, pod->scheduler_name))
        text = arena_printf(&a, "no profile is named \"%s\" (spec.schedulerName)",
                            sym_text(w->syms, pod->scheduler_name).p);
    else if (pod->n_gates)
        text = arena_printf(&a, "waits for scheduling gate %s", sym_text(w->syms, pod->gates[0]).p);
    char *copy = text ? strdup(text) : NULL;
    arena_fini(&a);
    return copy;
}

/* A pod that does not count is left out. */
static bool takes_part(struct sim_world *w, const struct sim_object *o, const struct sim_pod *p)
{
    const struct pod *form = sim_pod_form(o);
    if (form->flags & POD_FINISHED)
        return false;
    if (form->node_name == SYM_EMPTY || p->node != SIM_NO_NODE)
        return true;
    w->n_left_out++;
    sim_warn(w->in, "%s: Pod %s/%s is on node \"%s\", which is not given; it is left out", o->origin, o->ns, o->name,
             sym_text(w->syms, form->node_name).p);
    return false;
}

static enum err_code add_pod(struct sim_world *w, const struct sim_object *o, struct err *e)
{
    const struct pod *form = sim_pod_form(o);
    bool bound = form->node_name != SYM_EMPTY;
    struct sim_pod p = { .form = form, .ns = o->ns, .name = o->name, .owner = o->owner, .made = o->made, .evicted_by = -1,
                         .state = !bound ? SIM_PENDING : o->placed ? SIM_PLACED : SIM_RUNNING,
                         .node = bound ? find_node(w, form->node_name) : SIM_NO_NODE,
                         .was_running = bound && !o->placed };
    if (!takes_part(w, o, &p))
        return ERR_OK;
    bool is_new;
    union map_value *v = map_str_put(&w->pod_by_uid, str_of(form->meta.uid), &is_new);
    if (!is_new)
        return err_set(e, ERR_INVALID, "%s: Pod %s/%s: another pod has its uid", o->origin, o->ns, o->name);
    v->num = w->pods.n;
    if (p.was_running)
        count(&w->nodes.at[p.node].before, form, true);
    if (bound)
        count(&w->nodes.at[p.node].after, form, true);
    else
        p.message = sim_untried_reason(w, form);
    w->n_in_state[p.state]++;
    w->now_ms++; /* so that pods are tried in the order of the input */
    pod_ref(form);
    vec_push(&w->pods, p);
    sched_pod_set(w->sched, form);
    return ERR_OK;
}

enum { PASS_OTHERS, PASS_NODES, PASS_DAEMONS, PASS_PODS, N_PASSES };

/* A pod of a DaemonSet that is new in a cluster that stands: it is for a new node. Nodes join with the taint not-ready, which
 * such pods tolerate, so that they are there before all others. */
static bool is_first(const struct sim_world *w, const struct sim_object *o)
{
    return w->in->settled && o->made && sim_pod_form(o)->node_name == SYM_EMPTY && o->owner &&
           strncmp(o->owner, "DaemonSet ", 10) == 0;
}

static int pass_of(const struct sim_world *w, const struct sim_object *o)
{
    if (sim_is_pod(o))
        return is_first(w, o) ? PASS_DAEMONS : PASS_PODS;
    return sim_is_node(o) ? PASS_NODES : PASS_OTHERS;
}

static enum err_code fill(struct sim_world *w, struct err *e)
{
    static enum err_code (*const add[N_PASSES])(struct sim_world *, const struct sim_object *, struct err *) = {
        add_object, add_node, add_pod, add_pod,
    };
    for (int pass = 0; pass < N_PASSES; pass++)
        for (size_t i = 0; i < w->in->objects.n; i++) {
            const struct sim_object *o = &w->in->objects.at[i];
            if (!o->removed && pass_of(w, o) == pass && add[pass](w, o, e))
                return e->code;
        }
    if (w->n_left_out && !w->pods.n)
        return err_set(e, ERR_INVALID, "all %zu pods are on nodes that are not given, so that nothing is left; read the nodes, "
                       "too (kubectl get nodes -o json)", w->n_left_out);
    return ERR_OK;
}

/* ---- The run ---- */

static int64_t to_ms(int64_t seconds)
{
    return seconds > INT64_MAX / 1000 ? INT64_MAX : seconds * 1000;
}

/* All pods of the input that have a start time have started before. */
static int64_t start_wall_s(const struct sim_input *in)
{
    int64_t start_s = START_WALL_S;
    for (size_t i = 0; i < in->objects.n; i++) {
        const struct sim_object *o = &in->objects.at[i];
        const struct pod *pod = !o->removed && sim_is_pod(o) ? sim_pod_form(o) : NULL;
        if (pod && pod->flags & POD_HAS_START_TIME && pod->start_time_s >= start_s)
            start_s = pod->start_time_s + 1;
    }
    return start_s;
}

enum err_code sim_world_init(struct sim_world *w, struct sim_input *in, struct sym_table *syms,
                             const struct setup *setup, uint64_t seed, struct err *e)
{
    *w = (struct sim_world){ .in = in, .syms = syms, .start_wall_s = start_wall_s(in) };
    map_str_init(&w->pod_by_uid);
    map_u64_init(&w->node_by_name);
    if (setup_again(&w->own, setup, e))
        return e->code;
    w->setup = setup = &w->own;
    if (setup->n_extenders)
        sim_warn(in, "the configuration has extenders: a simulation does not ask them");
    struct sched_options options = {
        .syms = syms,
        .profiles = setup->profiles,
        .n_profiles = setup->n_profiles,
        .features = setup->features,
        .io = { w, io_now_ms, io_wall_s, io_bind, io_patch_status, io_evict, io_event, io_bind_volumes, NULL },
        .seed = seed,
        .percentage_of_nodes_to_score = setup->config->percentage_of_nodes_to_score,
        .initial_backoff_ms = to_ms(setup->config->pod_initial_backoff_s),
        .max_backoff_ms = to_ms(setup->config->pod_max_backoff_s),
    };
    w->sched = sched_new(&options);
    return fill(w, e);
}

bool sim_world_step(struct sim_world *w)
{
    bool worked = sched_run_once(w->sched);
    answer(w);
    return worked;
}

void sim_world_tick(struct sim_world *w)
{
    sched_tick(w->sched);
    answer(w);
}

static void run_ready(struct sim_world *w, size_t n_pods)
{
    while (sim_world_step(w)) {
        size_t n_tried = ++w->n_tried;
        if (n_tried % TELL_PODS == 0 && n_tried < n_pods)
            sim_tell(&w->in->progress, SIM_SCHEDULING, n_tried, n_pods);
    }
}

/* Only errors make pods back off again and again; what is unschedulable waits for a change. */
static int quiet_steps_max(const struct sim_world *w)
{
    int64_t seconds = w->setup->config->pod_max_backoff_s;
    return seconds < STEPS_MAX / QUIET_TRIES ? (int)(seconds + 1) * QUIET_TRIES : STEPS_MAX;
}

static void run_steps(struct sim_world *w, size_t n_pods)
{
    int quiet = 0, quiet_max = quiet_steps_max(w);
    for (int step = 0; step < STEPS_MAX && quiet < quiet_max; step++, quiet++) {
        uint32_t n_pending = w->n_in_state[SIM_PENDING], n_evicted = w->n_in_state[SIM_EVICTED];
        run_ready(w, n_pods);
        struct sched_counts counts = sched_counts(w->sched);
        if (counts.active + counts.backoff + counts.binding == 0)
            return;
        if (n_pending != w->n_in_state[SIM_PENDING] || n_evicted != w->n_in_state[SIM_EVICTED])
            quiet = 0;
        w->now_ms += STEP_MS;
        sim_world_tick(w);
    }
}

void sim_world_run(struct sim_world *w)
{
    size_t n_pods = w->n_in_state[SIM_PENDING];
    run_steps(w, n_pods);
    sim_tell(&w->in->progress, SIM_SCHEDULING, n_pods, n_pods);
    w->decision_hash = sched_decision_hash(w->sched);
}

/* ---- Changes ---- */

/* Off its node, in all accounts and in the scheduler. */
static void take_off(struct sim_world *w, struct sim_pod *p)
{
    assert(p->state == SIM_RUNNING || p->state == SIM_PLACED);
    assert(p->form->node_name != SYM_EMPTY);
    if (p->was_running)
        count(&w->nodes.at[p->node].before, p->form, false);
    count(&w->nodes.at[p->node].after, p->form, false);
    sched_pod_removed(w->sched, p->form->meta.uid);
    map_str_remove(&w->pod_by_uid, str_of(p->form->meta.uid), NULL);
}

void sim_world_unbind(struct sim_world *w, size_t pod)
{
    struct sim_pod *p = &w->pods.at[pod];
    take_off(w, p);
    const struct pod *old = p->form;
    p->form = pod_unscheduled(w->syms, old);
    pod_unref(w->syms, old);
    p->node = SIM_NO_NODE;
    p->was_running = false;
    p->message = sim_untried_reason(w, p->form);
    map_str_put(&w->pod_by_uid, str_of(p->form->meta.uid), NULL)->num = pod;
    set_state(w, p, SIM_PENDING);
    sim_warn_claims(w->in, p->form);
    w->now_ms++;
    sched_pod_set(w->sched, p->form);
}

void sim_world_remove(struct sim_world *w, size_t pod)
{
    struct sim_pod *p = &w->pods.at[pod];
    take_off(w, p);
    w->n_in_state[p->state]--;
    pod_unref(w->syms, p->form);
    free(p->message);
    vec_remove(&w->pods, pod);
    for (size_t i = 0; i < w->pods.n; i++) {
        struct sim_pod *other = &w->pods.at[i];
        if (i >= pod)
            map_str_find(&w->pod_by_uid, str_of(other->form->meta.uid))->num = i;
        if (other->evicted_by > (int64_t)pod)
            other->evicted_by--;
    }
}

void sim_world_give_up_pending(struct sim_world *w)
{
    for (size_t i = 0; i < w->pods.n; i++)
        if (w->pods.at[i].state == SIM_PENDING)
            sched_pod_removed(w->sched, w->pods.at[i].form->meta.uid);
}

struct sim_try sim_world_try(struct sim_world *w, const struct pod *form)
{
    struct sim_try outcome = { .uid = form->meta.uid, .node = SIM_NO_NODE, .message = sim_untried_reason(w, form) };
    w->probe = &outcome;
    w->now_ms++;
    sched_pod_set(w->sched, form);
    run_ready(w, 0);
    w->probe = NULL;
    return outcome;
}

void sim_world_fini(struct sim_world *w)
{
    for (size_t i = 0; i < w->outcomes.n; i++)
        pod_unref(w->syms, w->outcomes.at[i].pod);
    if (w->sched)
        sched_free(w->sched);
    if (w->setup)
        setup_fini(&w->own);
    for (size_t i = 0; i < w->pods.n; i++) {
        pod_unref(w->syms, w->pods.at[i].form);
        free(w->pods.at[i].message);
    }
    for (size_t i = 0; i < w->nodes.n; i++)
        node_unref(w->syms, w->nodes.at[i].form);
    vec_fini(&w->pods);
    vec_fini(&w->nodes);
    vec_fini(&w->outcomes);
    sim_new_forms_reset(w->syms, &w->bound);
    vec_fini(&w->bound);
    map_str_fini(&w->pod_by_uid);
    map_u64_fini(&w->node_by_name);
}
