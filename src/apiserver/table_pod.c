/* apiserver/table_pod.c - see table_pod.h. Upstream: printPod, v1.36. */
#include "apiserver/table_pod.h"

struct summary {
    struct str reason;
    int64_t restarts, last_ns; /* last_ns: when a container ended last */
    int64_t sidecar_restarts, sidecar_last_ns;
    int64_t ready, total;
    bool known_last, known_sidecar_last; /* the times are there */
    bool initializing;
};

static bool is_sidecar(struct cells *c, struct str name)
{
    struct node list = node_at(c->root, "spec.initContainers");
    for (uint32_t i = 0; i < node_count(list); i++)
        if (str_eq(node_text(node_item(list, i), "name"), name))
            return str_is(node_text(node_item(list, i), "restartPolicy"), "Always");
    return false;
}

static bool is_there(struct node n, const char *path)
{
    return node_at(n, path).v->kind == VALUE_STRUCT;
}

static void take_last(struct node container, bool *known, int64_t *last_ns)
{
    int64_t ns;
    if (!node_time(container, "lastState.terminated.finishedAt", &ns))
        return;
    if (!*known || ns > *last_ns)
        *last_ns = ns;
    *known = true;
}

/* Why a container ended: its reason, else the signal or the code. */
static struct str ended(struct cells *c, struct node container, const char *prefix)
{
    struct str reason = node_text(container, "state.terminated.reason");
    long long signal = node_int(container, "state.terminated.signal");
    if (reason.n)
        return str_of(arena_printf(c->a, "%s%.*s", prefix, STR_ARG(reason)));
    return str_of(signal ? arena_printf(c->a, "%sSignal:%lld", prefix, signal)
                         : arena_printf(c->a, "%sExitCode:%lld", prefix,
                                        (long long)node_int(container, "state.terminated.exitCode")));
}

/* True when the next init container is to be looked at. */
static bool init_is_done(struct cells *c, struct summary *s, struct node container, uint32_t i)
{
    bool sidecar = is_sidecar(c, node_text(container, "name"));
    int64_t restarts = node_int(container, "restartCount");
    s->restarts += restarts;
    take_last(container, &s->known_last, &s->last_ns);
    if (sidecar) {
        s->sidecar_restarts += restarts;
        take_last(container, &s->known_sidecar_last, &s->sidecar_last_ns);
    }
    bool terminated = is_there(container, "state.terminated");
    if (terminated && node_int(container, "state.terminated.exitCode") == 0)
        return true;
    if (sidecar && node_bool(container, "started", false)) {
        s->ready += node_bool(container, "ready", false);
        return true;
    }
    struct str waits = node_text(container, "state.waiting.reason");
    if (terminated)
        s->reason = ended(c, container, "Init:");
    else if (waits.n && !str_is(waits, "PodInitializing"))
        s->reason = str_of(arena_printf(c->a, "Init:%.*s", STR_ARG(waits)));
    else
        s->reason = str_of(arena_printf(c->a, "Init:%u/%u", i, node_count(node_at(c->root, "spec.initContainers"))));
    s->initializing = true;
    return false;
}

static bool condition_is_true(struct cells *c, const char *type)
{
    struct node list = node_at(c->root, "status.conditions");
    for (uint32_t i = 0; i < node_count(list); i++)
        if (str_is(node_text(node_item(list, i), "type"), type) &&
            str_is(node_text(node_item(list, i), "status"), "True"))
            return true;
    return false;
}

static void look_at_containers(struct cells *c, struct summary *s)
{
    struct node list = node_at(c->root, "status.containerStatuses");
    struct str error = { 0 };
    bool running = false;
    s->restarts = s->sidecar_restarts;
    s->last_ns = s->sidecar_last_ns;
    s->known_last = s->known_sidecar_last;
    for (uint32_t i = node_count(list); i-- > 0;) {
        struct node container = node_item(list, i);
        struct str waits = node_text(container, "state.waiting.reason");
        s->restarts += node_int(container, "restartCount");
        take_last(container, &s->known_last, &s->last_ns);
        if (waits.n) {
            s->reason = waits;
        } else if (is_there(container, "state.terminated")) {
            s->reason = ended(c, container, "");
            if (node_int(container, "state.terminated.exitCode"))
                error = s->reason;
        } else if (node_bool(container, "ready", false) && is_there(container, "state.running")) {
            running = true;
            s->ready++;
        }
    }
    if (!str_is(s->reason, "Completed"))
        return;
    if (running && condition_is_true(c, "Ready"))
        s->reason = STR("Running");
    else if (error.n)
        s->reason = error;
    else if (running)
        s->reason = STR("NotReady");
}

static void begin(struct cells *c, struct summary *s)
{
    struct node conditions = node_at(c->root, "status.conditions"), inits = node_at(c->root, "spec.initContainers");
    struct str reason = node_text(c->root, "status.reason");
    s->reason = reason.n ? reason : node_text(c->root, "status.phase");
    for (uint32_t i = 0; i < node_count(conditions); i++)
        if (str_is(node_text(node_item(conditions, i), "type"), "PodScheduled") &&
            str_is(node_text(node_item(conditions, i), "reason"), "SchedulingGated"))
            s->reason = STR("SchedulingGated");
    s->total = node_count(node_at(c->root, "spec.containers"));
    for (uint32_t i = 0; i < node_count(inits); i++)
        s->total += str_is(node_text(node_item(inits, i), "restartPolicy"), "Always");
}

void pod_cells(struct cells *c)
{
    struct summary s = { 0 };
    struct str phase = node_text(c->root, "status.phase");
    struct node inits = node_at(c->root, "status.initContainerStatuses");
    int64_t leaving_ns;
    begin(c, &s);
    for (uint32_t i = 0; i < node_count(inits); i++)
        if (!init_is_done(c, &s, node_item(inits, i), i))
            break;
    if (!s.initializing || condition_is_true(c, "Initialized"))
        look_at_containers(c, &s);
    bool leaving = node_time(c->root, "metadata.deletionTimestamp", &leaving_ns);
    if (leaving && str_is(node_text(c->root, "status.reason"), "NodeLost"))
        s.reason = STR("Unknown");
    else if (leaving && !str_is(phase, "Succeeded") && !str_is(phase, "Failed"))
        s.reason = STR("Terminating");
    cell_printf(c, "%lld/%lld", (long long)s.ready, (long long)s.total);
    cell_text(c, s.reason);
    if (s.restarts && s.known_last)
        cell_printf(c, "%lld (%.*s ago)", (long long)s.restarts, STR_ARG(age_text(c, true, s.last_ns)));
    else
        cell_printf(c, "%lld", (long long)s.restarts);
}

void pod_gates_cell(struct cells *c)
{
    struct node gates = node_at(c->root, "spec.readinessGates"), conditions = node_at(c->root, "status.conditions");
    uint32_t n_true = 0, n = node_count(gates);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < node_count(conditions); k++) {
            struct node condition = node_item(conditions, k);
            if (!str_eq(node_text(condition, "type"), node_text(node_item(gates, i), "conditionType")))
                continue;
            n_true += str_is(node_text(condition, "status"), "True");
            break;
        }
    if (n)
        cell_printf(c, "%u/%u", n_true, n);
    else
        cell_text(c, STR("<none>"));
}
