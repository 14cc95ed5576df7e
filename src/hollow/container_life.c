/* hollow/container_life.c - see container_life.h. Upstream: kubelet's kubelet_pods.go and kuberuntime. */
#include "hollow/container_life.h"

#include "api/schema_slots.h"
#include "controllers/read.h"
#include "http/digest.h"

#define SLOT(field) SLOT_core_v1_ContainerStatus_##field
#define ENDED(field) SLOT_core_v1_ContainerStateTerminated_##field

static const struct value absent = { .kind = VALUE_ABSENT };

static const struct type *spec_type(void)
{
    return schema_type(STR("core/v1.Container"));
}

static const struct type *status_type(void)
{
    return schema_type(STR("core/v1.ContainerStatus"));
}

static const struct type *state_type(void)
{
    return schema_type(STR("core/v1.ContainerState"));
}

static const struct type *ended_type(void)
{
    return schema_type(STR("core/v1.ContainerStateTerminated"));
}

/* ---- Reading ---- */

static int64_t seconds(const struct value *time)
{
    return time->kind == VALUE_TIME ? time->i : 0;
}

static void read_end(struct container_life *c, const struct value *ended)
{
    const struct value *code = value_slot(ended, ENDED(exitCode));
    c->phase = CONTAINER_ENDED;
    c->exit_code = code->kind == VALUE_INT ? code->i : 0;
    c->started_s = seconds(value_slot(ended, ENDED(startedAt)));
    c->finished_s = seconds(value_slot(ended, ENDED(finishedAt)));
}

void container_life_read(struct container_life *c, const struct value *spec, const struct value *statuses, const char *reason)
{
    struct str name = text_at(spec_type(), spec, "name");
    const struct value *old = entry_with(status_type(), statuses, "name", name);
    bool is_init = c->is_init;
    *c = (struct container_life){ .spec = spec, .old = old ? old : &absent, .reason = reason, .last = &absent };
    c->is_init = is_init;
    c->is_sidecar = is_init && says_at(spec_type(), spec, "restartPolicy", "Always");
    if (!old)
        return;
    const struct value *state = value_slot(old, SLOT(state));
    const struct value *runs = value_slot(state, SLOT_core_v1_ContainerState_running);
    const struct value *ended = value_slot(state, SLOT_core_v1_ContainerState_terminated);
    c->last = value_slot(old, SLOT(lastState));
    c->n_restarts = int_at(status_type(), old, "restartCount", 0);
    c->started = true_at(status_type(), old, "started");
    c->ready = true_at(status_type(), old, "ready");
    if (ended->kind == VALUE_STRUCT) {
        read_end(c, ended);
    } else if (runs->kind == VALUE_STRUCT) {
        c->phase = CONTAINER_RUNS;
        c->started_s = seconds(value_slot(runs, SLOT_core_v1_ContainerStateRunning_startedAt));
    }
}

/* ---- Writing ---- */

/* 64 digits that are the same for the same words. */
static const char *digits_of(struct arena *a, const char *words)
{
    uint8_t digest[DIGEST_BYTES];
    char *digits = arena_alloc(a, 2 * DIGEST_BYTES + 1);
    digest_sha256(str_of(words), digest);
    for (int i = 0; i < DIGEST_BYTES; i++) {
        digits[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        digits[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    digits[2 * DIGEST_BYTES] = '\0';
    return digits;
}

static struct value text(const char *t)
{
    return value_string(str_of(t));
}

static struct value container_id(struct arena *a, const struct container_life *c, const struct value *pod)
{
    const struct value *meta = value_slot(pod, SLOT_core_v1_Pod_metadata);
    struct str uid = value_text(value_slot(meta, SLOT_meta_v1_ObjectMeta_uid)), name = text_at(spec_type(), c->spec, "name");
    const char *words = arena_printf(a, "%.*s/%.*s/%lld", STR_ARG(uid), STR_ARG(name), (long long)c->n_restarts);
    return text(arena_printf(a, "containerd://%s", digits_of(a, words)));
}

/* "nginx:1.27" is nginx@sha256:...; what has a digest already is known by that. */
static struct value image_id(struct arena *a, struct str image)
{
    size_t n = str_index(image, '@');
    if (n < image.n)
        return value_string(image);
    for (n = image.n; n && image.p[n - 1] != ':' && image.p[n - 1] != '/';)
        n--;
    bool has_tag = n && image.p[n - 1] == ':';
    struct str name = has_tag ? str_first(image, n - 1) : image;
    return text(arena_printf(a, "%.*s@sha256:%s", STR_ARG(name), digits_of(a, arena_cstr(a, image))));
}

static struct value ended_state(struct arena *a, const struct container_life *c, struct value id)
{
    const struct value *was = value_path(status_type(), c->old, "state.terminated");
    if (was->kind == VALUE_STRUCT && !c->reason)
        return *was;
    struct value v = value_struct(a, ended_type());
    v.slots[ENDED(exitCode)] = value_int(c->exit_code);
    v.slots[ENDED(reason)] = text(c->reason);
    if (c->message)
        v.slots[ENDED(message)] = text(c->message);
    if (c->finished_s) {
        v.slots[ENDED(startedAt)] = value_time(c->started_s, 0);
        v.slots[ENDED(finishedAt)] = value_time(c->finished_s, 0);
        v.slots[ENDED(containerID)] = id;
    }
    return v;
}

static struct value waiting_state(struct arena *a, const struct container_life *c)
{
    const struct value *was = value_path(status_type(), c->old, "state.waiting");
    if (was->kind == VALUE_STRUCT && !c->reason)
        return *was;
    struct value v = value_struct(a, schema_type(STR("core/v1.ContainerStateWaiting")));
    v.slots[SLOT_core_v1_ContainerStateWaiting_reason] = text(c->reason);
    if (c->message)
        v.slots[SLOT_core_v1_ContainerStateWaiting_message] = text(c->message);
    return v;
}

static struct value state_of(struct arena *a, const struct container_life *c, struct value id)
{
    struct value v = value_struct(a, state_type());
    if (c->phase == CONTAINER_WAITS) {
        v.slots[SLOT_core_v1_ContainerState_waiting] = waiting_state(a, c);
    } else if (c->phase == CONTAINER_ENDED) {
        v.slots[SLOT_core_v1_ContainerState_terminated] = ended_state(a, c, id);
    } else {
        struct value runs = value_struct(a, schema_type(STR("core/v1.ContainerStateRunning")));
        runs.slots[SLOT_core_v1_ContainerStateRunning_startedAt] = value_time(c->started_s, 0);
        v.slots[SLOT_core_v1_ContainerState_running] = runs;
    }
    return v;
}

static struct value mounts_of(struct arena *a, const struct value *mounts)
{
    const struct type *from = schema_type(STR("core/v1.VolumeMount")), *to = schema_type(STR("core/v1.VolumeMountStatus"));
    uint32_t n = list_length(mounts);
    struct value list = value_list(ARENA_NEW_N(a, struct value, n), n);
    for (uint32_t i = 0; i < n; i++) {
        const struct value *m = &mounts->items[i];
        struct value v = value_struct(a, to);
        v.slots[SLOT_core_v1_VolumeMountStatus_name] = *value_path(from, m, "name");
        v.slots[SLOT_core_v1_VolumeMountStatus_mountPath] = *value_path(from, m, "mountPath");
        if (true_at(from, m, "readOnly")) {
            v.slots[SLOT_core_v1_VolumeMountStatus_readOnly] = value_bool(true);
            v.slots[SLOT_core_v1_VolumeMountStatus_recursiveReadOnly] = text("Disabled");
        }
        list.items[i] = v;
    }
    return n ? list : absent;
}

static void add_resources(struct value *v, const struct value *spec)
{
    const struct type *t = schema_type(STR("core/v1.ResourceRequirements"));
    const struct value *asked = value_slot(spec, SLOT_core_v1_Container_resources);
    const struct value *requests = value_path(t, asked, "requests"), *limits = value_path(t, asked, "limits");
    if (requests->kind != VALUE_MAP && limits->kind != VALUE_MAP)
        return;
    v->slots[SLOT(allocatedResources)] = *requests;
    v->slots[SLOT(resources)] = *asked;
}

struct value container_life_status(struct arena *a, const struct container_life *c, const struct value *pod)
{
    const struct value *image = value_slot(c->spec, SLOT_core_v1_Container_image);
    struct value v = value_struct(a, status_type());
    bool has_run = c->phase == CONTAINER_RUNS || (c->phase == CONTAINER_ENDED && c->finished_s);
    struct value id = has_run ? container_id(a, c, pod) : *value_slot(c->old, SLOT(containerID));
    v.slots[SLOT(name)] = *value_slot(c->spec, SLOT_core_v1_Container_name);
    v.slots[SLOT(state)] = state_of(a, c, id);
    v.slots[SLOT(lastState)] = c->last->kind == VALUE_STRUCT ? *c->last : value_struct(a, state_type());
    v.slots[SLOT(ready)] = value_bool(c->ready);
    v.slots[SLOT(restartCount)] = value_int(c->n_restarts);
    v.slots[SLOT(image)] = *image;
    v.slots[SLOT(imageID)] = id.kind == VALUE_STRING ? image_id(a, value_text(image)) : text("");
    v.slots[SLOT(containerID)] = id;
    v.slots[SLOT(started)] = value_bool(c->started);
    v.slots[SLOT(volumeMounts)] = mounts_of(a, value_slot(c->spec, SLOT_core_v1_Container_volumeMounts));
    add_resources(&v, c->spec);
    return v;
}

/* ---- Moves ---- */

void container_life_start(struct container_life *c, int64_t now_s)
{
    c->phase = CONTAINER_RUNS;
    c->started_s = now_s;
    c->finished_s = 0;
    c->reason = c->message = NULL;
    c->started = c->ready = false;
}

void container_life_end(struct container_life *c, int64_t exit_code, int64_t now_s)
{
    c->phase = CONTAINER_ENDED;
    c->exit_code = exit_code;
    c->finished_s = now_s;
    c->reason = exit_code ? "Error" : "Completed";
    c->message = NULL;
    c->started = false;
    c->ready = c->is_init && !c->is_sidecar && exit_code == 0;
}

void container_life_lose(struct container_life *c)
{
    c->phase = CONTAINER_ENDED;
    c->exit_code = CONTAINER_KILLED;
    c->reason = "ContainerStatusUnknown";
    c->message = "The container could not be located when the pod was terminated";
    c->started = c->ready = false;
}

bool container_life_is_over(const struct container_life *c, const struct container_plan *plan)
{
    bool again = plan->restarts && (plan->restarts_after_success || c->exit_code);
    return c->phase == CONTAINER_ENDED && !again;
}

/* The first restart is at once; each further one waits twice as long. */
static int64_t backoff_s(int64_t n_restarts)
{
    int64_t s = n_restarts ? CONTAINER_BACKOFF_S : 0;
    for (int64_t i = 1; i < n_restarts && s < CONTAINER_BACKOFF_S_MAX; i++)
        s *= 2;
    return s < CONTAINER_BACKOFF_S_MAX ? s : CONTAINER_BACKOFF_S_MAX;
}

static void back_off(struct container_life *c, struct arena *a, const struct value *pod)
{
    const struct type *t = schema_type(STR("core/v1.Pod"));
    int64_t s = backoff_s(c->n_restarts);
    const char *span = s < 60 ? arena_printf(a, "%llds", (long long)s)
                              : arena_printf(a, "%lldm%llds", (long long)(s / 60), (long long)(s % 60));
    c->phase = CONTAINER_WAITS;
    c->reason = "CrashLoopBackOff";
    c->message = arena_printf(a, "back-off %s restarting failed container=%.*s pod=%.*s_%.*s(%.*s)", span,
                              STR_ARG(text_at(spec_type(), c->spec, "name")), STR_ARG(text_at(t, pod, "metadata.name")),
                              STR_ARG(text_at(t, pod, "metadata.namespace")), STR_ARG(text_at(t, pod, "metadata.uid")));
}

static void start_again(struct container_life *c, int64_t now_s)
{
    container_life_start(c, now_s);
    c->n_restarts++;
}

/* What ended is what was before, from now on. */
static void move_on_from_end(struct container_life *c, struct arena *a, const struct value *pod, int64_t now_s)
{
    c->last = value_slot(c->old, SLOT(state));
    if (now_s < c->finished_s + backoff_s(c->n_restarts))
        back_off(c, a, pod);
    else
        start_again(c, now_s);
}

static void move_on_from_waiting(struct container_life *c, int64_t now_s, int64_t *ret_due_s)
{
    const struct value *ended = value_slot(c->last, SLOT_core_v1_ContainerState_terminated);
    int64_t until_s = seconds(value_slot(ended, ENDED(finishedAt))) + backoff_s(c->n_restarts);
    if (ended->kind != VALUE_STRUCT)
        container_life_start(c, now_s);
    else if (now_s >= until_s)
        start_again(c, now_s);
    else
        *ret_due_s = until_s;
}

static int64_t probe_delay_s(const struct value *spec, const char *probe)
{
    const struct value *p = value_path(spec_type(), spec, probe);
    return p->kind == VALUE_STRUCT ? int_at(schema_type(STR("core/v1.Probe")), p, "initialDelaySeconds", 0) : 0;
}

/* Probes succeed the first time they are made: a readiness probe waits for the startup probe. */
static void probe(struct container_life *c, int64_t now_s, int64_t *ret_due_s)
{
    int64_t started_s = c->started_s + probe_delay_s(c->spec, "startupProbe");
    int64_t ready_s = c->started_s + probe_delay_s(c->spec, "readinessProbe");
    c->started = c->started || now_s >= started_s;
    c->ready = c->ready || (c->started && now_s >= ready_s);
    if (!c->ready)
        *ret_due_s = c->started ? ready_s : started_s;
}

static void move_on_from_running(struct container_life *c, const struct container_plan *plan, int64_t now_s, int64_t *ret_due_s)
{
    int64_t end_s = plan->run_s < 0 || c->is_sidecar ? INT64_MAX : c->started_s + plan->run_s;
    if (now_s >= end_s) {
        container_life_end(c, plan->exit_code, now_s);
        return;
    }
    if (!c->is_init || c->is_sidecar) /* nobody waits for the others to be ready */
        probe(c, now_s, ret_due_s);
    if (end_s < *ret_due_s)
        *ret_due_s = end_s;
}

void container_life_advance(struct container_life *c, struct arena *a, const struct container_plan *plan, const struct value *pod,
                            int64_t now_s, int64_t *ret_due_s)
{
    *ret_due_s = INT64_MAX;
    if (c->phase == CONTAINER_WAITS) {
        move_on_from_waiting(c, now_s, ret_due_s);
    } else if (c->phase == CONTAINER_RUNS) {
        move_on_from_running(c, plan, now_s, ret_due_s);
        return;
    } else if (!container_life_is_over(c, plan)) {
        move_on_from_end(c, a, pod, now_s);
    }
    if (c->phase == CONTAINER_RUNS)
        move_on_from_running(c, &(struct container_plan){ .run_s = -1 }, now_s, ret_due_s); /* probes alone */
}
