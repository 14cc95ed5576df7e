/* forms/pod.c - see pod.h. Requests are summed in pod_requests.c, affinity and spreading are in
 * pod_affinity.c. */
#include "forms/pod.h"

#include <stdio.h>

#include "forms/pod_priv.h"

/* ---- Tolerations, ports, images ---- */

enum taint_effect taint_effect_parse(struct str text)
{
    if (text.n == 0)
        return EFFECT_ANY;
    if (str_is(text, "NoSchedule"))
        return EFFECT_NO_SCHEDULE;
    if (str_is(text, "PreferNoSchedule"))
        return EFFECT_PREFER_NO_SCHEDULE;
    return str_is(text, "NoExecute") ? EFFECT_NO_EXECUTE : EFFECT_OTHER;
}

static enum toleration_op parse_toleration_op(struct str text)
{
    if (text.n == 0 || str_is(text, "Equal"))
        return TOLERATE_EQUAL;
    if (str_is(text, "Exists"))
        return TOLERATE_EXISTS;
    if (str_is(text, "Lt"))
        return TOLERATE_LT;
    return str_is(text, "Gt") ? TOLERATE_GT : TOLERATE_OTHER;
}

static void build_tolerations(struct build *b, const struct pod_in *in, struct pod *pod)
{
    uint32_t n = in->spec.tolerations.n;
    struct toleration_form *forms = ARENA_NEW_N(b->arena, struct toleration_form, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct toleration_in *t = &in->spec.tolerations.at[i];
        forms[i] = (struct toleration_form){ build_sym(b, t->key), build_sym(b, t->value),
                                             (uint8_t)parse_toleration_op(t->op),
                                             (uint8_t)taint_effect_parse(t->effect) };
    }
    pod->tolerations = forms;
    pod->n_tolerations = (uint16_t)n; /* at most FILL_ITEMS_MAX */
}

static size_t count_ports(const struct container_in *at, uint32_t n, bool init)
{
    size_t n_ports = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!init || container_is_restartable(&at[i]))
            for (uint32_t k = 0; k < at[i].ports.n; k++)
                n_ports += at[i].ports.at[k].host_port.value > 0;
    return n_ports;
}

static void add_ports(struct build *b, const struct container_in *at, uint32_t n, bool init,
                      struct host_port *ports, uint16_t *n_ports)
{
    for (uint32_t i = 0; i < n; i++) {
        if (init && !container_is_restartable(&at[i]))
            continue;
        for (uint32_t k = 0; k < at[i].ports.n; k++) {
            const struct port_in *p = &at[i].ports.at[k];
            if (p->host_port.value <= 0)
                continue;
            struct str ip = p->host_ip.n ? p->host_ip : STR("0.0.0.0");
            struct str protocol = p->protocol.n ? p->protocol : STR("TCP");
            ports[(*n_ports)++] = (struct host_port){ build_sym(b, ip), build_sym(b, protocol),
                                                      (int32_t)p->host_port.value };
        }
    }
}

static enum err_code build_ports(struct build *b, const struct pod_in *in, struct pod *pod)
{
    const struct pod_spec_in *spec = &in->spec;
    size_t n = count_ports(spec->init_containers.at, spec->init_containers.n, true) +
               count_ports(spec->containers.at, spec->containers.n, false);
    if (n > UINT16_MAX)
        return err_set(b->e, ERR_INVALID, "%zu host ports, at most %d are supported", n, UINT16_MAX);
    struct host_port *ports = ARENA_NEW_N(b->arena, struct host_port, n);
    pod->ports = ports;
    add_ports(b, spec->init_containers.at, spec->init_containers.n, true, ports, &pod->n_ports);
    add_ports(b, spec->containers.at, spec->containers.n, false, ports, &pod->n_ports);
    return ERR_OK;
}

/* A name without a tag gets :latest. A colon before the last slash belongs to a port, not to a tag. */
static sym build_image(struct build *b, struct str image)
{
    for (size_t i = image.n; i > 0 && image.p[i - 1] != '/'; i--)
        if (image.p[i - 1] == ':')
            return build_sym(b, image);
    return build_sym(b, str_of(arena_printf(b->arena, "%.*s:latest", STR_ARG(image))));
}

static enum err_code build_images(struct build *b, const struct pod_in *in, struct pod *pod)
{
    const struct pod_spec_in *spec = &in->spec;
    size_t n_max = (size_t)spec->init_containers.n + spec->containers.n + spec->volumes.n, n = 0;
    sym *images = ARENA_NEW_N(b->arena, sym, n_max);
    for (uint32_t i = 0; i < spec->init_containers.n; i++)
        images[n++] = build_image(b, spec->init_containers.at[i].image);
    for (uint32_t i = 0; i < spec->containers.n; i++)
        images[n++] = build_image(b, spec->containers.at[i].image);
    for (uint32_t i = 0; i < spec->volumes.n; i++)
        if (spec->volumes.at[i].image)
            images[n++] = build_image(b, spec->volumes.at[i].image->id);
    pod->images = images;
    if (n > UINT16_MAX) {
        struct walk undo = { .syms = b->syms, .mode = WALK_UNREF };
        walk_syms(&undo, &pod->images, n);
        return err_set(b->e, ERR_INVALID, "%zu images, at most %d are supported", n, UINT16_MAX);
    }
    pod->n_images = (uint16_t)n;
    return ERR_OK;
}

/* ---- Extended resources ---- */

static void add_extended(struct str *names, size_t *n, struct str name)
{
    if (resource_is_extended(name))
        names[(*n)++] = name;
}

static void add_extended_of(const struct container_in *at, uint32_t n_containers, struct str *names, size_t *n)
{
    for (uint32_t i = 0; i < n_containers; i++) {
        const struct requests_in *r = &at[i].resources;
        for (uint32_t k = 0; k < r->requests.n; k++)
            add_extended(names, n, r->requests.at[k].key);
        for (uint32_t k = 0; k < r->limits.n; k++)
            add_extended(names, n, r->limits.at[k].key);
    }
}

static size_t count_named(const struct container_in *at, uint32_t n_containers)
{
    size_t n = 0;
    for (uint32_t i = 0; i < n_containers; i++)
        n += (size_t)at[i].resources.requests.n + at[i].resources.limits.n;
    return n;
}

static enum err_code build_extended(struct build *b, const struct pod_in *in, struct pod *pod)
{
    const struct pod_spec_in *spec = &in->spec;
    size_t n_max = count_named(spec->init_containers.at, spec->init_containers.n) +
                   count_named(spec->containers.at, spec->containers.n);
    struct str *names = ARENA_NEW_N(b->arena, struct str, n_max);
    size_t n = 0;
    add_extended_of(spec->init_containers.at, spec->init_containers.n, names, &n);
    add_extended_of(spec->containers.at, spec->containers.n, names, &n);
    const sym *set = build_sym_set(b, names, n, &n);
    if (n > RESOURCE_SCALARS_MAX) {
        struct walk undo = { .syms = b->syms, .mode = WALK_UNREF };
        walk_syms(&undo, &set, n);
        return err_set(b->e, ERR_INVALID, "more than %d resources", RESOURCE_SCALARS_MAX);
    }
    pod->extended = set;
    pod->n_extended = (uint16_t)n;
    return ERR_OK;
}

/* ---- Volumes ---- */

static const sym *build_volume_names(struct build *b, const struct pod_in *in, const struct volume_in *v,
                                     enum pod_volume_kind kind, uint16_t *ret_n)
{
    const struct source_in *source = v->sources[kind];
    struct str names[2] = { source->id, source->id2 };
    *ret_n = 1;
    switch (kind) {
    case VOLUME_EPHEMERAL:
        names[0] = str_of(arena_printf(b->arena, "%.*s-%.*s", STR_ARG(in->meta.name), STR_ARG(v->name)));
        break;
    case VOLUME_RBD: {
        uint32_t n = source->monitors.n;
        struct str *all = ARENA_NEW_N(b->arena, struct str, n + 2);
        memcpy(all, names, sizeof(names));
        if (n)
            memcpy(all + 2, source->monitors.at, n * sizeof(*all));
        *ret_n = (uint16_t)(n + 2); /* checked by build_volumes */
        return build_syms(b, all, *ret_n);
    }
    case VOLUME_AZURE_DISK:
        *ret_n = 2;
        break;
    case VOLUME_AZURE_FILE:
    case VOLUME_VSPHERE:
        *ret_n = 0;
        break;
    default:
        break;
    }
    return build_syms(b, names, *ret_n);
}

enum { VOLUME_MONITORS_MAX = UINT16_MAX - 2 };

static enum err_code count_volumes(struct build *b, const struct pod_in *in, size_t *ret_n)
{
    size_t n = 0;
    for (uint32_t i = 0; i < in->spec.volumes.n; i++) {
        const struct volume_in *v = &in->spec.volumes.at[i];
        for (unsigned kind = 0; kind < N_VOLUME_KINDS; kind++)
            n += v->sources[kind] != NULL;
        if (v->sources[VOLUME_RBD] && v->sources[VOLUME_RBD]->monitors.n > VOLUME_MONITORS_MAX)
            return err_set(b->e, ERR_INVALID, "more than %d monitors of a volume", VOLUME_MONITORS_MAX);
    }
    if (n > UINT16_MAX)
        return err_set(b->e, ERR_INVALID, "%zu volumes, at most %d are supported", n, UINT16_MAX);
    *ret_n = n;
    return ERR_OK;
}

static enum err_code build_volumes(struct build *b, const struct pod_in *in, struct pod *pod)
{
    size_t n = 0;
    if (count_volumes(b, in, &n))
        return b->e->code;
    struct pod_volume *volumes = ARENA_NEW_N(b->arena, struct pod_volume, n);
    pod->volumes = volumes;
    for (uint32_t i = 0; i < in->spec.volumes.n; i++) {
        const struct volume_in *v = &in->spec.volumes.at[i];
        for (unsigned kind = 0; kind < N_VOLUME_KINDS; kind++) {
            if (!v->sources[kind])
                continue;
            struct pod_volume *to = &volumes[pod->n_volumes++];
            to->kind = (uint8_t)kind;
            to->read_only = v->sources[kind]->read_only == 1;
            to->names = build_volume_names(b, in, v, kind, &to->n_names);
        }
    }
    return ERR_OK;
}

/* ---- Conditions, gates, claims ---- */

static const struct pod_condition *build_condition(struct build *b, const struct condition_in *c)
{
    struct pod_condition *to = ARENA_NEW(b->arena, struct pod_condition);
    *to = (struct pod_condition){
        .status = build_sym(b, c->status), .reason = build_sym(b, c->reason),
        .message = build_text(b, c->message),
        .last_transition_s = build_seconds(&c->last_transition),
        .last_probe_s = build_seconds(&c->last_probe),
        .observed_generation = c->observed_generation.value,
    };
    return to;
}

static void build_conditions(struct build *b, const struct pod_in *in, struct pod *pod)
{
    uint32_t n = in->status.conditions.n;
    sym *types = ARENA_NEW_N(b->arena, sym, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct condition_in *c = &in->status.conditions.at[i];
        types[i] = build_sym(b, c->type);
        if (str_is(c->type, "Ready") && !str_is(c->status, "True"))
            pod->flags |= POD_NOT_READY;
        if (!pod->scheduled && str_is(c->type, "PodScheduled"))
            pod->scheduled = build_condition(b, c);
        if (pod->disruption || !str_is(c->type, "DisruptionTarget"))
            continue;
        pod->disruption = build_condition(b, c);
        if (str_is(c->status, "True") && str_is(c->reason, "PreemptionByScheduler"))
            pod->flags |= POD_DISRUPTED_BY_SCHEDULER;
    }
    pod->condition_types = types;
    pod->n_condition_types = (uint16_t)n; /* at most FILL_ITEMS_MAX */
}

static void build_gates(struct build *b, const struct pod_in *in, struct pod *pod)
{
    uint32_t n = in->spec.gates.n;
    sym *gates = ARENA_NEW_N(b->arena, sym, n);
    for (uint32_t i = 0; i < n; i++)
        gates[i] = build_sym(b, in->spec.gates.at[i].name);
    pod->gates = gates;
    pod->n_gates = (uint16_t)n; /* at most FILL_ITEMS_MAX */
}

static sym build_optional(struct build *b, struct str s)
{
    return s.p ? build_sym(b, s) : SYM_NONE;
}

static void build_claims(struct build *b, const struct pod_in *in, struct pod *pod)
{
    uint32_t n = in->spec.claims.n, n_statuses = in->status.claims.n;
    if (n == 0 && n_statuses == 0)
        return;
    struct pod_claim *at = ARENA_NEW_N(b->arena, struct pod_claim, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct claim_in *c = &in->spec.claims.at[i];
        at[i] = (struct pod_claim){ build_sym(b, c->name), build_optional(b, c->claim_name),
                                    build_optional(b, c->template_name) };
    }
    struct pod_claim_status *statuses = ARENA_NEW_N(b->arena, struct pod_claim_status, n_statuses);
    for (uint32_t i = 0; i < n_statuses; i++) {
        const struct claim_in *c = &in->status.claims.at[i];
        statuses[i] = (struct pod_claim_status){ build_sym(b, c->name), build_optional(b, c->claim_name) };
    }
    struct pod_claims *claims = ARENA_NEW(b->arena, struct pod_claims);
    *claims = (struct pod_claims){ at, statuses, (uint16_t)n, (uint16_t)n_statuses };
    pod->claims = claims;
}

/* ---- The whole ---- */

static bool restarts_all(const struct container_in *at, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < at[i].restart_rules.n; k++)
            if (str_is(at[i].restart_rules.at[k].action, "RestartAllContainers"))
                return true;
    return false;
}

static const char *const phases[N_POD_PHASES] = {
    [PHASE_OTHER] = "",           [PHASE_PENDING] = "Pending", [PHASE_RUNNING] = "Running",
    [PHASE_SUCCEEDED] = "Succeeded", [PHASE_FAILED] = "Failed",   [PHASE_UNKNOWN] = "Unknown",
};

const char *pod_phase_text(enum pod_phase phase)
{
    assert(phase < N_POD_PHASES);
    return phases[phase];
}

static enum pod_phase parse_phase(struct str text)
{
    for (int i = PHASE_PENDING; i < N_POD_PHASES; i++)
        if (str_is(text, phases[i]))
            return (enum pod_phase)i;
    return PHASE_OTHER;
}

static uint32_t pod_flags(const struct pod_in *in)
{
    const struct pod_spec_in *spec = &in->spec;
    uint32_t flags = 0;
    if (in->meta.deletion_time.given)
        flags |= POD_TERMINATING;
    enum pod_phase phase = parse_phase(in->status.phase);
    if (phase == PHASE_SUCCEEDED || phase == PHASE_FAILED)
        flags |= POD_FINISHED;
    if (str_is(spec->preemption_policy, "Never"))
        flags |= POD_NEVER_PREEMPTS;
    if (spec->priority.given)
        flags |= POD_HAS_PRIORITY;
    if (spec->overhead.n)
        flags |= POD_HAS_OVERHEAD;
    if (in->status.start_time.given)
        flags |= POD_HAS_START_TIME;
    if (restarts_all(spec->containers.at, spec->containers.n) ||
        restarts_all(spec->init_containers.at, spec->init_containers.n))
        flags |= POD_NEEDS_RESTART_ALL;
    if (spec->host_network == 1 && spec->host_users == -1)
        flags |= POD_NEEDS_USERNS_HOSTNET;
    return flags;
}

static void build_names(struct build *b, const struct pod_in *in, struct pod *pod)
{
    pod->node_name = build_sym(b, in->spec.node_name);
    pod->nominated_node = build_sym(b, in->status.nominated_node);
    pod->scheduler_name = build_sym(b, in->spec.scheduler_name);
    pod->priority_class = build_sym(b, in->spec.priority_class);
    if (in->spec.group)
        pod->group = build_sym(b, in->spec.group->name);
}

static enum err_code build(struct build *b, const void *input, void *form)
{
    const struct pod_in *in = input;
    struct pod *pod = form;
    if (build_meta(b, &in->meta, &pod->meta) || build_controller(b, &in->meta, &pod->controller))
        return b->e->code;
    pod->flags = pod_flags(in);
    pod->phase = parse_phase(in->status.phase);
    pod->priority = (int32_t)in->spec.priority.value;
    pod->start_time_s = in->status.start_time.seconds;
    pod->generation = in->meta.generation.value;
    build_names(b, in, pod);
    if (pod_build_requests(b, in, pod) || build_ports(b, in, pod) || build_images(b, in, pod) ||
        build_volumes(b, in, pod) || build_extended(b, in, pod))
        return b->e->code;
    pod_build_affinity(b, in, pod);
    pod_build_spread(b, in, pod);
    build_tolerations(b, in, pod);
    build_gates(b, in, pod);
    build_claims(b, in, pod);
    build_conditions(b, in, pod);
    return ERR_OK;
}

static void walk_amounts_of(struct walk *w, const struct amounts **amounts)
{
    WALK_ARRAY(w, *amounts, 1);
    struct amounts *a = walk_into(*amounts);
    WALK_ARRAY(w, a->scalars, a->n_scalars);
    for (uint32_t i = 0; i < a->n_scalars; i++)
        walk_sym(w, a->scalars[i].name);
}

/* `list` shares the memory of `twin`, which has been walked: PACK and COPY moved it. */
static void walk_twin(struct walk *w, const struct amounts **list, const struct amounts *twin)
{
    if (w->mode == WALK_PACK || w->mode == WALK_COPY)
        *list = twin;
}

static void walk_requests(struct walk *w, struct pod *pod)
{
    const struct amounts *requested = pod->requested, *fit = pod->fit, *score = pod->score;
    if (!requested)
        return;
    walk_amounts_of(w, &pod->requested);
    if (fit == requested)
        walk_twin(w, &pod->fit, pod->requested);
    else
        walk_amounts_of(w, &pod->fit);
    if (score == requested)
        walk_twin(w, &pod->score, pod->requested);
    else if (score == fit)
        walk_twin(w, &pod->score, pod->fit);
    else
        walk_amounts_of(w, &pod->score);
    if (pod->limits == fit)
        walk_twin(w, &pod->limits, pod->fit);
    else if (pod->limits)
        walk_amounts_of(w, &pod->limits);
}

static void walk_claims(struct walk *w, const struct pod_claims **pointer)
{
    if (!*pointer)
        return;
    WALK_ARRAY(w, *pointer, 1);
    struct pod_claims *claims = walk_into(*pointer);
    WALK_ARRAY(w, claims->at, claims->n);
    for (uint16_t i = 0; i < claims->n; i++) {
        walk_sym(w, claims->at[i].name);
        walk_sym(w, claims->at[i].claim_name);
        walk_sym(w, claims->at[i].template_name);
    }
    WALK_ARRAY(w, claims->statuses, claims->n_statuses);
    for (uint16_t i = 0; i < claims->n_statuses; i++) {
        walk_sym(w, claims->statuses[i].name);
        walk_sym(w, claims->statuses[i].claim_name);
    }
}

static void walk_condition(struct walk *w, const struct pod_condition **pointer)
{
    if (!*pointer)
        return;
    WALK_ARRAY(w, *pointer, 1);
    struct pod_condition *c = walk_into(*pointer);
    walk_sym(w, c->status);
    walk_sym(w, c->reason);
    WALK_TEXT(w, c->message);
}

static void walk_lists(struct walk *w, struct pod *pod)
{
    WALK_ARRAY(w, pod->tolerations, pod->n_tolerations);
    for (uint16_t i = 0; i < pod->n_tolerations; i++) {
        walk_sym(w, pod->tolerations[i].key);
        walk_sym(w, pod->tolerations[i].value);
    }
    WALK_ARRAY(w, pod->ports, pod->n_ports);
    for (uint16_t i = 0; i < pod->n_ports; i++) {
        walk_sym(w, pod->ports[i].ip);
        walk_sym(w, pod->ports[i].protocol);
    }
    WALK_ARRAY(w, pod->volumes, pod->n_volumes);
    for (uint16_t i = 0; i < pod->n_volumes; i++) {
        struct pod_volume *v = walk_into(&pod->volumes[i]);
        walk_syms(w, &v->names, v->n_names);
    }
    walk_syms(w, &pod->images, pod->n_images);
    walk_syms(w, &pod->gates, pod->n_gates);
    walk_syms(w, &pod->condition_types, pod->n_condition_types);
    walk_syms(w, &pod->extended, pod->n_extended);
}

static void walk(struct walk *w, void *form)
{
    struct pod *pod = form;
    walk_meta(w, &pod->meta);
    walk_owner(w, &pod->controller);
    walk_sym(w, pod->node_name);
    walk_sym(w, pod->nominated_node);
    walk_sym(w, pod->scheduler_name);
    walk_sym(w, pod->priority_class);
    walk_sym(w, pod->group);
    walk_requests(w, pod);
    pod_walk_affinity(w, pod);
    pod_walk_spread(w, pod);
    walk_claims(w, &pod->claims);
    walk_condition(w, &pod->scheduled);
    walk_condition(w, &pod->disruption);
    walk_lists(w, pod);
}

static const struct form_type type = { &fill_pod, sizeof(struct pod), build, walk };

FORM_FUNCTIONS(pod, type)

const struct pod *pod_with_node(struct sym_table *syms, const struct pod *p, sym node_name)
{
    struct pod changed = *p;
    changed.node_name = node_name;
    return form_copy(&type, syms, &changed);
}

const struct pod *pod_with_nomination(struct sym_table *syms, const struct pod *p, sym node_name)
{
    struct pod changed = *p;
    changed.nominated_node = node_name;
    return form_copy(&type, syms, &changed);
}

const struct pod *pod_of_changed(struct sym_table *syms, const struct pod *changed)
{
    return form_copy(&type, syms, changed);
}

const struct pod *pod_shown_nominated(struct sym_table *syms, const struct pod *p, sym node_name, uint64_t n)
{
    char version[32];
    snprintf(version, sizeof(version), "nomination-%llu", (unsigned long long)n);
    struct pod changed = *p;
    changed.nominated_node = node_name;
    changed.meta.resource_version = version;
    return form_copy(&type, syms, &changed);
}

const struct pod *pod_with_identity(struct sym_table *syms, const struct pod *p, const char *name, const char *uid)
{
    struct pod changed = *p;
    changed.meta.name = name;
    changed.meta.uid = uid;
    return form_copy(&type, syms, &changed);
}

/* The struct of a pod that nobody has scheduled yet; shares everything else with `p`. */
static struct pod unscheduled(const struct pod *p)
{
    const uint32_t passing =
        POD_TERMINATING | POD_FINISHED | POD_HAS_START_TIME | POD_DISRUPTED_BY_SCHEDULER | POD_NOT_READY;
    struct pod changed = *p;
    changed.flags &= ~passing;
    changed.phase = PHASE_PENDING;
    changed.node_name = changed.nominated_node = SYM_EMPTY;
    changed.start_time_s = 0;
    changed.requested = p->fit; /* what differs is the status of a resize */
    changed.scheduled = changed.disruption = NULL;
    changed.n_condition_types = 0;
    return changed;
}

const struct pod *pod_unscheduled(struct sym_table *syms, const struct pod *p)
{
    struct pod changed = unscheduled(p);
    return form_copy(&type, syms, &changed);
}

const struct pod *pod_started(struct sym_table *syms, const struct pod *p, sym node_name)
{
    struct pod changed = unscheduled(p);
    changed.phase = PHASE_RUNNING;
    changed.node_name = node_name;
    return form_copy(&type, syms, &changed);
}

const struct pod *pod_again(struct sym_table *syms, const struct pod *p, const char *name, const char *uid)
{
    struct pod changed = unscheduled(p);
    changed.meta.name = name;
    changed.meta.uid = uid;
    return form_copy(&type, syms, &changed);
}

const struct pod *pod_never_preempting(struct sym_table *syms, const struct pod *p)
{
    struct pod changed = *p;
    changed.flags |= POD_NEVER_PREEMPTS;
    return form_copy(&type, syms, &changed);
}

const struct pod *pod_with_priority(struct sym_table *syms, const struct pod *p, int32_t priority)
{
    struct pod changed = *p;
    changed.priority = priority;
    changed.flags |= POD_HAS_PRIORITY;
    return form_copy(&type, syms, &changed);
}

const struct pod *pod_with_requests(struct sym_table *syms, const struct pod *p, int64_t milli_cpu, int64_t memory)
{
    struct amounts requested = *p->requested, fit = *p->fit, score = *p->score;
    struct amounts *const all[] = { &requested, &fit, &score };
    for (int i = 0; i < 3; i++) {
        all[i]->milli_cpu = milli_cpu < 0 ? all[i]->milli_cpu : milli_cpu;
        all[i]->memory = memory < 0 ? all[i]->memory : memory;
    }
    struct pod changed = *p;
    changed.requested = &requested;
    changed.fit = p->fit == p->requested ? &requested : &fit;
    changed.score = p->score == p->requested ? &requested : p->score == p->fit ? &fit : &score;
    changed.non_zero_milli_cpu = milli_cpu < 0 ? p->non_zero_milli_cpu : milli_cpu;
    changed.non_zero_memory = memory < 0 ? p->non_zero_memory : memory;
    return form_copy(&type, syms, &changed);
}
