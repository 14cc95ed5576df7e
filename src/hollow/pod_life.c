/* hollow/pod_life.c - see pod_life.h. Upstream: kubelet's generateAPIPodStatus and the pod workers. */
#include "hollow/pod_life.h"

#include "api/edit.h"
#include "api/schema_slots.h"
#include "controllers/read.h"
#include "hollow/container_life.h"
#include "hollow/pod_conditions.h"

#define STATUS(field) SLOT_core_v1_PodStatus_##field

static const struct value absent = { .kind = VALUE_ABSENT };

struct life {
    struct arena *arena;
    const struct pod_life_state *s;
    const struct type *type;
    struct container_plan plan, init_plan;
    struct container_life *all; /* init containers first */
    uint32_t n_init, n;
    bool is_deleted;
    int64_t due_s;
};

/* ---- Reading ---- */

static struct str note(const struct life *l, const char *key)
{
    return member_text(value_path(l->type, l->s->pod, "metadata.annotations"), str_of(key));
}

/* What is no number counts as not given. */
static int64_t number_note(const struct life *l, const char *key, int64_t otherwise)
{
    enum { NUMBER_MAX = INT32_MAX };
    struct str text = note(l, key);
    int64_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9' || (n = n * 10 + (text.p[i] - '0')) > NUMBER_MAX)
            return otherwise;
    }
    return text.n ? n : otherwise;
}

static bool is_of_job(const struct life *l)
{
    const struct type *t = schema_type(STR("meta/v1.OwnerReference"));
    const struct value *owners = value_path(l->type, l->s->pod, "metadata.ownerReferences");
    for (uint32_t i = 0; i < list_length(owners); i++)
        if (true_at(t, &owners->items[i], "controller") && says_at(t, &owners->items[i], "kind", "Job"))
            return true;
    return false;
}

static void read_plan(struct life *l)
{
    bool ends = is_of_job(l) || note(l, POD_EXIT_CODE).n;
    struct str policy = text_at(l->type, l->s->pod, "spec.restartPolicy");
    l->plan = (struct container_plan){
        .run_s = number_note(l, POD_RUN_SECONDS, ends ? l->s->job_s : -1),
        .stop_s = number_note(l, POD_STOP_SECONDS, 0),
        .exit_code = number_note(l, POD_EXIT_CODE, 0) & 255,
        .restarts = !str_is(policy, "Never"),
        .restarts_after_success = !str_is(policy, "Never") && !str_is(policy, "OnFailure"),
    };
    l->init_plan = (struct container_plan){ .run_s = 0, .stop_s = l->plan.stop_s };
}

static void read_containers(struct life *l)
{
    const struct value *spec = value_slot(l->s->pod, SLOT_core_v1_Pod_spec), *status = value_slot(l->s->pod, SLOT_core_v1_Pod_status);
    const struct value *init = value_slot(spec, SLOT_core_v1_PodSpec_initContainers);
    const struct value *main = value_slot(spec, SLOT_core_v1_PodSpec_containers);
    l->n_init = list_length(init);
    l->n = l->n_init + list_length(main);
    l->all = ARENA_NEW_N(l->arena, struct container_life, l->n);
    for (uint32_t i = 0; i < l->n; i++) {
        bool is_init = i < l->n_init;
        const struct value *from = value_slot(status, is_init ? STATUS(initContainerStatuses) : STATUS(containerStatuses));
        l->all[i].is_init = is_init;
        container_life_read(&l->all[i], is_init ? &init->items[i] : &main->items[i - l->n_init], from,
                            l->n_init ? "PodInitializing" : "ContainerCreating");
        if (l->all[i].old->kind == VALUE_STRUCT)
            l->all[i].reason = NULL; /* as it stands there */
    }
}

/* ---- Moves ---- */

static void wait_until(struct life *l, int64_t due_s)
{
    if (due_s < l->due_s)
        l->due_s = due_s;
}

static void advance(struct life *l, struct container_life *c)
{
    int64_t due_s;
    container_life_advance(c, l->arena, c->is_init && !c->is_sidecar ? &l->init_plan : &l->plan, l->s->pod, l->s->now_s, &due_s);
    wait_until(l, due_s);
}

static bool is_init_done(const struct container_life *c)
{
    return c->is_sidecar ? c->started : c->phase == CONTAINER_ENDED && c->exit_code == 0;
}

/* True: all are done. Otherwise one of them moved, or waits. */
static bool run_init(struct life *l)
{
    for (uint32_t i = 0; i < l->n_init; i++) {
        struct container_life *c = &l->all[i];
        if (is_init_done(c))
            continue;
        advance(l, c);
        if (!is_init_done(c))
            return false;
    }
    return true;
}

static bool are_over(const struct life *l)
{
    for (uint32_t i = l->n_init; i < l->n; i++)
        if (!container_life_is_over(&l->all[i], &l->plan))
            return false;
    return true;
}

static void end_sidecars(struct life *l)
{
    for (uint32_t i = 0; i < l->n_init; i++)
        if (l->all[i].is_sidecar && l->all[i].phase == CONTAINER_RUNS)
            container_life_end(&l->all[i], 0, l->s->now_s);
}

static void run(struct life *l)
{
    if (!run_init(l))
        return;
    for (uint32_t i = l->n_init; i < l->n; i++)
        advance(l, &l->all[i]);
    if (are_over(l))
        end_sidecars(l);
}

/* ---- The end ---- */

static bool has_been_started(const struct container_life *c)
{
    return c->phase != CONTAINER_WAITS || value_slot(c->last, SLOT_core_v1_ContainerState_terminated)->kind == VALUE_STRUCT;
}

/* Once it was, it stays so, also when its sidecars have ended. */
static bool has_initialized(const struct life *l)
{
    bool done = true;
    for (uint32_t i = 0; i < l->n_init; i++)
        done = done && is_init_done(&l->all[i]);
    for (uint32_t i = l->n_init; i < l->n; i++)
        done = done || has_been_started(&l->all[i]);
    return done;
}

/* What was not reached of the init containers stays waiting. */
static void end_all(struct life *l, int64_t exit_code)
{
    bool initialized = has_initialized(l);
    for (uint32_t i = 0; i < l->n; i++) {
        struct container_life *c = &l->all[i];
        if (c->phase == CONTAINER_RUNS)
            container_life_end(c, exit_code, l->s->now_s);
        else if (c->phase == CONTAINER_WAITS && !c->is_init && initialized)
            container_life_lose(c);
    }
}

/* From the deletion on it has its grace period; who takes longer is killed. True: all has ended. */
static bool stop(struct life *l)
{
    const struct value *until = value_path(l->type, l->s->pod, "metadata.deletionTimestamp");
    int64_t grace_s = int_at(l->type, l->s->pod, "metadata.deletionGracePeriodSeconds", 0);
    int64_t ends_s = until->i - grace_s + l->plan.stop_s;
    bool is_killed = l->plan.stop_s > grace_s;
    if (is_killed)
        ends_s = until->i;
    if (l->s->now_s < ends_s) {
        wait_until(l, ends_s);
        return false;
    }
    end_all(l, is_killed ? CONTAINER_KILLED : 0);
    return true;
}

/* ---- The status ---- */

static const char *phase_when_over(const struct life *l, bool final)
{
    uint32_t n_good = 0, n_ended = 0, n_main = l->n - l->n_init;
    for (uint32_t i = l->n_init; i < l->n; i++) {
        n_ended += l->all[i].phase == CONTAINER_ENDED;
        n_good += l->all[i].phase == CONTAINER_ENDED && l->all[i].exit_code == 0;
    }
    if (final)
        return n_good == n_main ? "Succeeded" : "Failed";
    if (n_ended < n_main || l->plan.restarts_after_success)
        return "Running";
    return n_good == n_main ? "Succeeded" : l->plan.restarts ? "Running" : "Failed";
}

static const char *phase_of(const struct life *l, bool final)
{
    uint32_t n_waiting = 0, n_running = 0;
    for (uint32_t i = l->n_init; i < l->n; i++) {
        const struct container_life *c = &l->all[i];
        n_waiting += !has_been_started(c);
        n_running += c->phase == CONTAINER_RUNS;
    }
    if (final)
        return phase_when_over(l, true);
    if (!has_initialized(l) || n_waiting)
        return "Pending";
    return n_running ? "Running" : phase_when_over(l, false);
}

static struct value statuses(struct life *l, uint32_t from, uint32_t to)
{
    struct value list = value_list(ARENA_NEW_N(l->arena, struct value, to - from), to - from);
    for (uint32_t i = from; i < to; i++)
        list.items[i - from] = container_life_status(l->arena, &l->all[i], l->s->pod);
    return to > from ? list : absent;
}

static struct value address_list(struct arena *a, const char *type, struct str ip)
{
    const struct type *t = schema_type(str_of(type));
    struct value one = value_struct(a, t);
    return edit_append(a, &absent, edit_set(a, t, &one, "ip", value_string(ip)));
}

/* A pod has its own address from when its sandbox is there until it is over; of the node's network, that of the node. */
static void add_addresses(struct life *l, struct value *status, bool has_sandbox)
{
    bool is_on_host = true_at(l->type, l->s->pod, "spec.hostNetwork");
    struct str ip = is_on_host ? l->s->host_ip : l->s->pod_ip;
    if (l->s->host_ip.n) {
        status->slots[STATUS(hostIP)] = value_string(l->s->host_ip);
        status->slots[STATUS(hostIPs)] = address_list(l->arena, "core/v1.HostIP", l->s->host_ip);
    }
    if (!ip.n || status->slots[STATUS(podIP)].kind == VALUE_STRING || !(has_sandbox || is_on_host))
        return;
    status->slots[STATUS(podIP)] = value_string(ip);
    status->slots[STATUS(podIPs)] = address_list(l->arena, "core/v1.PodIP", ip);
}

static bool any_runs(const struct life *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (l->all[i].phase != CONTAINER_WAITS)
            return true;
    return false;
}

static struct value make_status(struct life *l, const char *phase)
{
    struct arena *a = l->arena;
    const struct value *pod = l->s->pod, *old = value_slot(pod, SLOT_core_v1_Pod_status);
    struct value v = value_struct(a, schema_type(STR("core/v1.PodStatus")));
    bool is_over = strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
    bool has_sandbox = any_runs(l) && !is_over;
    if (old->kind == VALUE_STRUCT)
        memcpy(v.slots, old->slots, v.n * sizeof(*v.slots));
    v.slots[STATUS(phase)] = edit_text(phase);
    v.slots[STATUS(initContainerStatuses)] = statuses(l, 0, l->n_init);
    v.slots[STATUS(containerStatuses)] = statuses(l, l->n_init, l->n);
    v.slots[STATUS(observedGeneration)] = *value_path(l->type, pod, "metadata.generation");
    if (v.slots[STATUS(startTime)].kind != VALUE_TIME)
        v.slots[STATUS(startTime)] = value_time(l->s->now_s, 0);
    add_addresses(l, &v, any_runs(l));
    v.slots[STATUS(conditions)] = pod_conditions(a, &(struct pod_conditions_state){
        .pod = pod, .init_statuses = &v.slots[STATUS(initContainerStatuses)], .statuses = &v.slots[STATUS(containerStatuses)],
        .phase = phase, .has_sandbox = has_sandbox, .now_s = l->s->now_s });
    return v;
}

/* ---- Refusals ---- */

/* What does not fit is over before it begins; containers have no status. */
static struct pod_life_step refuse(struct life *l)
{
    const struct type *t = l->type;
    struct value v = edit_set(l->arena, t, l->s->pod, "status.phase", edit_text("Failed"));
    v = edit_set(l->arena, t, &v, "status.reason", edit_text(l->s->refusal));
    v = edit_set(l->arena, t, &v, "status.message", edit_text(arena_printf(l->arena, "Pod was rejected: %s", l->s->refusal_message)));
    v = edit_set(l->arena, t, &v, "status.startTime", value_time(l->s->now_s, 0));
    return (struct pod_life_step){ .verb = POD_LIFE_STATUS, .pod = v, .again_s = INT64_MAX };
}

/* ---- The decision ---- */

bool pod_life_has_begun(const struct value *pod)
{
    const struct value *status = value_slot(pod, SLOT_core_v1_Pod_status);
    return value_slot(status, STATUS(startTime))->kind == VALUE_TIME;
}

static bool has_ended(const struct value *pod)
{
    struct str phase = value_text(value_slot(value_slot(pod, SLOT_core_v1_Pod_status), STATUS(phase)));
    return str_is(phase, "Succeeded") || str_is(phase, "Failed");
}

/* Deleted for good already, and kept by somebody's finalizer: that is not ours to end. */
static enum pod_life_verb last_verb(const struct life *l)
{
    return int_at(l->type, l->s->pod, "metadata.deletionGracePeriodSeconds", 0) ? POD_LIFE_DELETE : POD_LIFE_NOTHING;
}

static struct pod_life_step write_status(struct life *l, const char *phase)
{
    const struct value *pod = l->s->pod;
    struct pod_life_step step = { .verb = POD_LIFE_NOTHING, .again_s = l->due_s };
    struct value status = make_status(l, phase);
    if (value_equal(&status, value_slot(pod, SLOT_core_v1_Pod_status)))
        return step;
    step.verb = POD_LIFE_STATUS;
    step.pod = value_struct(l->arena, l->type);
    memcpy(step.pod.slots, pod->slots, step.pod.n * sizeof(*step.pod.slots));
    step.pod.slots[SLOT_core_v1_Pod_status] = status;
    return step;
}

struct pod_life_step pod_life_step(struct arena *a, const struct pod_life_state *s)
{
    struct life l = { .arena = a, .s = s, .type = schema_type(STR("core/v1.Pod")), .due_s = INT64_MAX };
    struct pod_life_step step = { .again_s = INT64_MAX };
    l.is_deleted = value_path(l.type, s->pod, "metadata.deletionTimestamp")->kind == VALUE_TIME;
    bool has_begun = pod_life_has_begun(s->pod), ended = has_ended(s->pod);
    if (l.is_deleted && (ended || !has_begun)) {
        step.verb = last_verb(&l);
        return step;
    }
    if (ended)
        return step;
    if (!has_begun && s->refusal)
        return refuse(&l);
    read_plan(&l);
    read_containers(&l);
    if (!has_begun)
        return write_status(&l, "Pending");
    bool is_stopped = l.is_deleted && stop(&l);
    if (!is_stopped)
        run(&l);
    return write_status(&l, phase_of(&l, is_stopped));
}
