/* tests/unit/plugins/probe.c - a plugin at every point that says in the log what it sees. Pods tell it what to do by a
 * label "do"; its name is Probe. */
#include <berth/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct berth_host *host;
static const struct berth_verdict pass = { BERTH_SUCCESS, NULL };

#define SAY(call, ...)                                                                     \
    do {                                                                                   \
        char line_[512];                                                                   \
        snprintf(line_, sizeof(line_), __VA_ARGS__);                                       \
        host->log((call), 0, line_);                                                       \
    } while (0)

static bool told(struct berth_call *call, const char *what)
{
    const char *label = host->pod_label(call, host->pod(call), "do");
    return label && strcmp(label, what) == 0;
}

static bool init(const char *args, size_t n_args, void **ret_data, char *error, size_t error_bytes)
{
    if (strcmp(args, "\"bad\"") == 0) {
        snprintf(error, error_bytes, "these %zu bytes are bad", n_args);
        return false;
    }
    *ret_data = malloc(1);
    return *ret_data != NULL;
}

static const struct berth_verdict pending = { BERTH_PENDING, "soon" };

static char *text;

/* When the library is closed. */
__attribute__((destructor)) static void forget_text(void)
{
    free(text);
}

/* A reason in memory that is used for another one in the next call, or that the host takes back. */
static struct berth_verdict fleeting(struct berth_call *call, const char *of)
{
    free(text);
    text = malloc(100);
    snprintf(text, 100, "fleeting %s", of);
    if (!told(call, "fleeting-large"))
        return (struct berth_verdict){ BERTH_UNSCHEDULABLE, text };
    (void)host->alloc(call, 16);
    char *large = host->alloc(call, 2 << 20); /* a piece of its own */
    strcpy(large, text);
    return (struct berth_verdict){ BERTH_UNSCHEDULABLE, large };
}

static struct berth_verdict pre_enqueue(void *data, struct berth_call *call)
{
    (void)data;
    if (told(call, "fleeting-large"))
        return fleeting(call, "gate");
    char *scratch = host->alloc(call, 100);
    snprintf(scratch, 100, "gated: %s", host->pod_name(call, host->pod(call)));
    return told(call, "gate") ? (struct berth_verdict){ BERTH_UNRESOLVABLE, scratch } : pass;
}

/* The last one first. */
static bool less(void *data, struct berth_call *call, const struct berth_queued *a, const struct berth_queued *b)
{
    (void)data;
    if (host->pod(call) || host->alloc(call, 1))
        abort();
    return host->queued_sequence(call, a) > host->queued_sequence(call, b);
}

static struct berth_verdict pre_filter(void *data, struct berth_call *call)
{
    (void)data;
    const struct berth_pod *pod = host->pod(call);
    const char *kind = "-", *owner = "-", *key, *value;
    host->pod_controller(call, pod, &kind, &owner);
    SAY(call, "pre_filter %s/%s %s cpu=%lld memory=%lld gpu=%lld priority=%d class=%s of=%s/%s labels=%u nodes=%u now=%lld",
        host->pod_namespace(call, pod), host->pod_name(call, pod), host->pod_uid(call, pod),
        (long long)host->pod_request(call, pod, "cpu"), (long long)host->pod_request(call, pod, "memory"),
        (long long)host->pod_request(call, pod, "example.com/gpu"), host->pod_priority(call, pod),
        host->pod_priority_class(call, pod), kind, owner, host->pod_n_labels(call, pod), host->n_nodes(call),
        (long long)host->now_ms(call));
    if (host->pod_label_at(call, pod, 99, &key, &value) || host->feasible_at(call, 0) || host->state(call) ||
        host->binding_state(call) || host->find_node(call, "nowhere"))
        abort();
    int *count = host->alloc(call, sizeof(*count));
    host->set_state(call, count);
    if (told(call, "skip"))
        return (struct berth_verdict){ BERTH_SKIP, NULL };
    if (told(call, "pending-early"))
        return pending;
    if (told(call, "wait-early"))
        return (struct berth_verdict){ BERTH_WAIT, NULL };
    if (told(call, "narrow")) {
        host->narrow_to(call, "n2");
        host->narrow_to(call, "nowhere");
    }
    return pass;
}

static struct berth_verdict filter(void *data, struct berth_call *call, const struct berth_node *node)
{
    (void)data;
    static char reason[5000];
    int *count = host->state(call);
    const char *key = "", *value = "", *effect = "";
    host->node_taint_at(call, node, 0, &key, &value, &effect);
    SAY(call, "filter %s number=%d zone=%s cpu=%lld/%lld pods=%u taint=%s=%s:%s first=%s", host->node_name(call, node), *count,
        host->node_label(call, node, "zone") ? host->node_label(call, node, "zone") : "-",
        (long long)host->node_requested(call, node, "cpu"), (long long)host->node_allocatable(call, node, "cpu"),
        host->node_n_pods(call, node), key, value, effect,
        host->node_n_pods(call, node) ? host->pod_name(call, host->node_pod_at(call, node, 0)) : "-");
    ++*count;
    if (told(call, "long")) {
        memset(reason, 'x', sizeof(reason) - 1);
        return (struct berth_verdict){ BERTH_UNSCHEDULABLE, reason };
    }
    if (told(call, "pending-filter"))
        return pending;
    if (told(call, "fleeting"))
        return fleeting(call, host->node_name(call, node));
    if (told(call, "nothing"))
        return (struct berth_verdict){ BERTH_UNRESOLVABLE, "no" };
    return told(call, "nonsense") ? (struct berth_verdict){ 77, "what" } : pass;
}

static void *clone_state(void *data, struct berth_call *call, void *state)
{
    (void)data;
    int *copy = host->alloc(call, sizeof(*copy));
    *copy = *(int *)state + 1000;
    return copy;
}

static void add_pod(void *data, struct berth_call *call, const struct berth_pod *pod, const struct berth_node *node)
{
    (void)data;
    SAY(call, "add_pod %s to %s number=%d", host->pod_name(call, pod), host->node_name(call, node),
        *(int *)host->state(call));
}

static void remove_pod(void *data, struct berth_call *call, const struct berth_pod *pod, const struct berth_node *node)
{
    (void)data;
    SAY(call, "remove_pod %s from %s number=%d", host->pod_name(call, pod), host->node_name(call, node),
        *(int *)host->state(call));
}

static struct berth_verdict pre_score(void *data, struct berth_call *call)
{
    (void)data;
    SAY(call, "pre_score %u nodes, the first is %s", host->n_feasible(call),
        host->node_name(call, host->feasible_at(call, 0)));
    return pass;
}

static int64_t score(void *data, struct berth_call *call, const struct berth_node *node)
{
    (void)data;
    return told(call, "overdo") ? 1000 : strcmp(host->node_name(call, node), "n2") == 0 ? 7 : 3;
}

static void normalize(void *data, struct berth_call *call, int64_t *scores, uint32_t n)
{
    (void)data;
    for (uint32_t i = 0; i < n && !told(call, "overdo"); i++)
        scores[i] *= 10;
}

static struct berth_verdict reserve(void *data, struct berth_call *call, const char *node)
{
    (void)data;
    char *note = host->alloc(call, 64);
    snprintf(note, 64, "%s on %s", host->pod_name(call, host->pod(call)), node);
    host->set_binding_state(call, note);
    SAY(call, "reserve %s", note);
    if (told(call, "pending-reserve"))
        return pending;
    return told(call, "full") ? (struct berth_verdict){ BERTH_UNSCHEDULABLE, "full" } : pass;
}

static void unreserve(void *data, struct berth_call *call, const char *node)
{
    (void)data;
    SAY(call, "unreserve %s %s", node, (const char *)host->binding_state(call));
}

static struct berth_verdict permit(void *data, struct berth_call *call, const char *node, int64_t *ret_timeout_ms)
{
    (void)data;
    (void)node;
    *ret_timeout_ms = 5000;
    if (told(call, "release"))
        host->allow(call, "uid-waits");
    if (told(call, "dismiss"))
        host->reject(call, "uid-waits", "dismissed");
    if (told(call, "dismiss-at-length")) {
        char *reason = malloc(5000);
        memset(reason, 'x', 4999);
        reason[4999] = '\0';
        host->reject(call, "uid-waits", reason);
        free(reason);
    }
    if (told(call, "pending-permit"))
        return pending;
    return told(call, "wait") ? (struct berth_verdict){ BERTH_WAIT, NULL } : pass;
}

static struct berth_verdict pre_bind(void *data, struct berth_call *call, const char *node)
{
    (void)data;
    host->allow(call, "uid-waits"); /* has no effect here */
    SAY(call, "pre_bind %s %s %s", node, (const char *)host->binding_state(call), host->state(call) ? "state" : "no state");
    return told(call, "late") ? (struct berth_verdict){ BERTH_ERROR, "too late" } : pass;
}

static void post_bind(void *data, struct berth_call *call, const char *node)
{
    (void)data;
    SAY(call, "post_bind %s %s", node, (const char *)host->binding_state(call));
}

static bool node_added(void *data, struct berth_call *call, const struct berth_pod *waiting,
                       const struct berth_event *event)
{
    (void)data;
    const struct berth_node *node = host->event_new_node(call, event);
    if (host->event_old_node(call, event) || host->event_new_pod(call, event) || host->pod(call))
        abort();
    SAY(call, "node_added %s for %s, resource %u action %u pods=%lld", host->node_name(call, node),
        host->pod_name(call, waiting), host->event_resource(call, event), host->event_action(call, event),
        (long long)host->node_requested(call, node, "pods"));
    return host->node_label(call, node, "good") != NULL;
}

static bool pod_gone(void *data, struct berth_call *call, const struct berth_pod *waiting,
                     const struct berth_event *event)
{
    (void)data;
    SAY(call, "pod_gone %s for %s", host->pod_name(call, host->event_old_pod(call, event)),
        host->pod_name(call, waiting));
    return false;
}

static const struct berth_registration events[] = {
    { BERTH_RES_NODE, BERTH_ACT_ADD, node_added },
    { BERTH_RES_POD, BERTH_ACT_DELETE, pod_gone },
};

static const struct berth_plugin plugin = {
    .abi_version = BERTH_ABI_VERSION,
    .n_bytes = sizeof(struct berth_plugin),
    .name = "Probe",
    .init = init,
    .fini = free,
    .pre_enqueue = pre_enqueue,
    .less = less,
    .pre_filter = pre_filter,
    .clone_state = clone_state,
    .add_pod = add_pod,
    .remove_pod = remove_pod,
    .filter = filter,
    .pre_score = pre_score,
    .score = score,
    .normalize = normalize,
    .reserve = reserve,
    .unreserve = unreserve,
    .permit = permit,
    .pre_bind = pre_bind,
    .post_bind = post_bind,
    .events = events,
    .n_events = 2,
};

BERTH_EXPORT const struct berth_plugin *berth_plugin_entry(const struct berth_host *berth);

const struct berth_plugin *berth_plugin_entry(const struct berth_host *berth)
{
    host = berth;
    return &plugin;
}
