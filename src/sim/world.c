/* sim/world.c - see world.h. */
#include "sim/world.h"

#include "api/json.h"
#include "sim/defaults.h"
#include "sim/edit.h"
#include "sim/expand.h"

#define ZONE_LABEL "topology.kubernetes.io/zone"

enum {
    STEP_MS = 1000,       /* of the virtual clock */
    STEPS_MAX = 10000,    /* of one run */
    QUIET_TRIES = 3,      /* back-offs at their longest without anything new: then nothing will change */
    START_WALL_S = 1800000000,
};

/* ---- The scheduler's door to this world ---- */

static int64_t io_now_ms(void *context)
{
    const struct sim_world *w = context;
    return w->now_ms;
}

static int64_t io_wall_s(void *context)
{
    return START_WALL_S + io_now_ms(context) / 1000;
}

static struct sim_pod *find_pod(struct sim_world *w, const struct pod *form)
{
    union map_value *v = map_str_find(&w->pod_by_uid, str_of(form->meta.uid));
    return v ? &w->pods.at[v->num] : NULL;
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
    if (p && change->has_condition) {
        free(p->message);
        p->message = strdup(change->message);
    }
    if (w->watch && change->has_condition)
        w->watch->failed(w->watch->context, change);
    if (change->set_nomination && change->nomination != change->pod->nominated_node)
        vec_push(&w->outcomes, (struct sim_outcome){ 0, pod_with_nomination(w->syms, change->pod, change->nomination),
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
    (void)decisions;
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
    struct sim_pod *p = find_pod(w, form);
    if (!p || p->state != SIM_PENDING)
        return;
    p->node = find_node(w, form->node_name);
    set_state(w, p, SIM_PLACED);
    if (p->node != SIM_NO_NODE)
        count(&w->nodes.at[p->node].after, form, true);
}

static void evict(struct sim_world *w, const struct pod *form)
{
    struct sim_pod *p = find_pod(w, form);
    if (!p || p->state == SIM_EVICTED)
        return;
    set_state(w, p, SIM_EVICTED);
    if (p->node != SIM_NO_NODE)
        count(&w->nodes.at[p->node].after, form, false);
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
            evict(w, o.pod);
            sched_victim_done(w->sched, o.ticket, NULL);
            sched_pod_removed(w->sched, o.pod->meta.uid);
            if (w->watch)
                w->watch->evicted(w->watch->context, o.pod);
            break;
        case SIM_OUTCOME_NOMINATED:
            sched_pod_set(w->sched, o.pod);
            break;
        case SIM_OUTCOME_VOLUMES:
            sched_volumes_bound(w->sched, o.ticket, NULL);
            break;
        }
        pod_unref(w->syms, o.pod);
    }
    vec_reset(&w->outcomes);
}

/* ---- Objects ---- */

static const struct {
    const char *kind;
    enum object_kind object;
} kinds[] = {
    { "Namespace", OBJECT_NAMESPACE },
    { "Service", OBJECT_SERVICE },
    { "ReplicationController", OBJECT_REPLICATION_CONTROLLER },
    { "ReplicaSet", OBJECT_REPLICA_SET },
    { "StatefulSet", OBJECT_STATEFUL_SET },
    { "PersistentVolume", OBJECT_PERSISTENT_VOLUME },
    { "PersistentVolumeClaim", OBJECT_PERSISTENT_VOLUME_CLAIM },
    { "StorageClass", OBJECT_STORAGE_CLASS },
    { "CSINode", OBJECT_CSI_NODE },
    { "CSIDriver", OBJECT_CSI_DRIVER },
    { "CSIStorageCapacity", OBJECT_CSI_STORAGE_CAPACITY },
    { "VolumeAttachment", OBJECT_VOLUME_ATTACHMENT },
    { "PodDisruptionBudget", OBJECT_BUDGET },
    { "PriorityClass", OBJECT_PRIORITY_CLASS },
};

static enum err_code add_object(struct sim_world *w, const struct sim_object *o, struct str json, struct err *e)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(o->kind, kinds[i].kind) != 0)
            continue;
        const void *form;
        if (object_form_decode(kinds[i].object, w->syms, TYPED_JSON, json, &form, e))
            return e->code;
        sched_object_set(w->sched, kinds[i].object, form);
        object_unref(w->syms, kinds[i].object, form);
    }
    return ERR_OK;
}

static enum err_code add_node(struct sim_world *w, const struct sim_object *o, struct str json, struct err *e)
{
    (void)o;
    struct sim_node n = { .zone = "" };
    if (node_decode(w->syms, TYPED_JSON, json, &n.form, e))
        return e->code;
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
        text = arena_printf(&a, "no profile is named \"%s\" (spec.schedulerName)", sym_text(w->syms, pod->scheduler_name).p);
    else if (pod->n_gates)
        text = arena_printf(&a, "waits for scheduling gate %s", sym_text(w->syms, pod->gates[0]).p);
    char *copy = text ? strdup(text) : NULL;
    arena_fini(&a);
    return copy;
}

static enum err_code add_pod(struct sim_world *w, const struct sim_object *o, struct str json, struct err *e)
{
    struct sim_pod p = { .ns = o->ns, .name = o->name, .owner = o->owner, .node = SIM_NO_NODE, .evicted_by = -1 };
    if (pod_decode(w->syms, TYPED_JSON, json, &p.form, e))
        return e->code;
    bool bound = p.form->node_name != SYM_EMPTY;
    p.node = bound ? find_node(w, p.form->node_name) : SIM_NO_NODE;
    p.state = bound ? SIM_RUNNING : SIM_PENDING;
    bool no_node = bound && p.node == SIM_NO_NODE;
    if (no_node)
        sim_warn(w->in, "%s: Pod %s/%s is on node \"%s\", which is not given; it is left out", o->origin, o->ns, o->name,
                 sym_text(w->syms, p.form->node_name).p);
    if (no_node || p.form->flags & POD_FINISHED) {
        pod_unref(w->syms, p.form);
        return ERR_OK;
    }
    bool is_new;
    union map_value *v = map_str_put(&w->pod_by_uid, str_of(p.form->meta.uid), &is_new);
    if (!is_new) {
        pod_unref(w->syms, p.form);
        return err_set(e, ERR_INVALID, "another pod has its uid");
    }
    v->num = w->pods.n;
    if (bound)
        count(&w->nodes.at[p.node].before, p.form, true);
    else
        p.message = sim_untried_reason(w, p.form);
    w->n_in_state[p.state]++;
    w->now_ms++; /* so that pods are tried in the order of the input */
    vec_push(&w->pods, p);
    sched_pod_set(w->sched, p.form);
    return ERR_OK;
}

enum { PASS_OTHERS, PASS_NODES, PASS_PODS, N_PASSES };

static int pass_of(const struct sim_object *o)
{
    return strcmp(o->kind, "Pod") == 0 ? PASS_PODS : strcmp(o->kind, "Node") == 0 ? PASS_NODES : PASS_OTHERS;
}

static enum err_code hand_over(struct sim_world *w, int pass, const struct sim_object *o, struct strbuf *json, struct err *e)
{
    static enum err_code (*const add[N_PASSES])(struct sim_world *, const struct sim_object *, struct str, struct err *) = {
        add_object, add_node, add_pod,
    };
    strbuf_reset(json);
    json_encode(json, o->type, &o->value);
    if (add[pass](w, o, strbuf_str(json), e))
        return err_wrap(e, "%s: %s %s%s%s", o->origin, o->kind, o->ns, *o->ns ? "/" : "", o->name);
    return ERR_OK;
}

/* Namespaces that pods are in exist, given or not. */
static enum err_code add_namespaces(struct sim_input *in, struct err *e)
{
    const struct type *t = schema_type(STR("core/v1.Namespace"));
    for (size_t i = 0, n = in->objects.n; i < n; i++) {
        struct sim_object o = in->objects.at[i];
        if (strcmp(o.kind, "Pod") != 0 || sim_input_find(in, "Namespace", "", o.ns))
            continue;
        struct sim_object ns = { .type = t, .value = value_struct(&in->arena, t), .origin = o.origin, .made = true };
        ns.value = edit_set(&in->arena, t, &ns.value, "metadata.name", edit_text(o.ns));
        if (sim_input_add(in, &ns, e))
            return e->code;
    }
    return ERR_OK;
}

static enum err_code fill(struct sim_world *w, struct err *e)
{
    struct sim_input *in = w->in;
    for (size_t i = 0; i < in->objects.n; i++)
        if (pass_of(&in->objects.at[i]) == PASS_NODES)
            sim_node_defaults(in, &in->objects.at[i]);
    if (sim_expand(in, w->syms, e) || add_namespaces(in, e))
        return e->code;
    struct sim_default_classes classes = sim_default_classes(in);
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    enum err_code code = ERR_OK;
    for (int pass = 0; pass < N_PASSES; pass++)
        for (size_t i = 0; i < in->objects.n && !code; i++) {
            struct sim_object *o = &in->objects.at[i];
            if (pass_of(o) != pass)
                continue;
            sim_defaults(in, classes, o);
            code = hand_over(w, pass, o, &json, e);
        }
    strbuf_fini(&json);
    for (size_t i = 0; i < w->nodes.n; i++)
        w->nodes.at[i].after = w->nodes.at[i].before;
    return code;
}

/* ---- The run ---- */

static int64_t to_ms(int64_t seconds)
{
    return seconds > INT64_MAX / 1000 ? INT64_MAX : seconds * 1000;
}

enum err_code sim_world_init(struct sim_world *w, struct sim_input *in, struct sym_table *syms, const struct setup *setup,
                             uint64_t seed, struct err *e)
{
    *w = (struct sim_world){ .in = in, .setup = setup, .syms = syms };
    map_str_init(&w->pod_by_uid);
    map_u64_init(&w->node_by_name);
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

/* Only errors make pods back off again and again; what is unschedulable waits for a change. */
static int quiet_steps_max(const struct sim_world *w)
{
    int64_t seconds = w->setup->config->pod_max_backoff_s;
    return seconds < STEPS_MAX / QUIET_TRIES ? (int)(seconds + 1) * QUIET_TRIES : STEPS_MAX;
}

void sim_world_run(struct sim_world *w)
{
    int quiet = 0, quiet_max = quiet_steps_max(w);
    for (int step = 0; step < STEPS_MAX && quiet < quiet_max; step++, quiet++) {
        uint32_t n_pending = w->n_in_state[SIM_PENDING], n_evicted = w->n_in_state[SIM_EVICTED];
        while (sim_world_step(w))
            continue;
        struct sched_counts counts = sched_counts(w->sched);
        if (counts.active + counts.backoff + counts.binding == 0)
            return;
        if (n_pending != w->n_in_state[SIM_PENDING] || n_evicted != w->n_in_state[SIM_EVICTED])
            quiet = 0;
        w->now_ms += STEP_MS;
        sim_world_tick(w);
    }
}

void sim_world_fini(struct sim_world *w)
{
    for (size_t i = 0; i < w->outcomes.n; i++)
        pod_unref(w->syms, w->outcomes.at[i].pod);
    if (w->sched)
        sched_free(w->sched);
    for (size_t i = 0; i < w->pods.n; i++) {
        pod_unref(w->syms, w->pods.at[i].form);
        free(w->pods.at[i].message);
    }
    for (size_t i = 0; i < w->nodes.n; i++)
        node_unref(w->syms, w->nodes.at[i].form);
    vec_fini(&w->pods);
    vec_fini(&w->nodes);
    vec_fini(&w->outcomes);
    map_str_fini(&w->pod_by_uid);
    map_u64_fini(&w->node_by_name);
}
