/* berth/plugin.h - scheduler plugins from outside: the C ABI between berth and a shared object. Version 1.
 *
 * A plugin is a shared object that links against nothing of berth. It exports one function, berth_plugin_entry; berth
 * calls it once after loading, hands it the table of functions that it may call (struct berth_host), and gets back the
 * plugin's own table (struct berth_plugin). From then on the plugin is used like a built-in one: profiles enable it by
 * name, at every extension point for which its table has a function. docs/plugins.md shows how to write one.
 *
 * Promises.
 *   1. Within one BERTH_ABI_VERSION both tables grow at the end only; no member changes place, type or meaning. `n_bytes`
 *      says how far a table goes. A plugin that was built against an older header works with a newer berth; one that was
 *      built against a newer header works with an older berth as long as it leaves the newer members NULL.
 *   2. Numbers of enums do not change. New ones may be added.
 *   3. Another BERTH_ABI_VERSION is another ABI: berth refuses to load the plugin.
 *
 * Threads: one profile's plugins are called by one thread, one call at a time. Nothing may block.
 *
 * Memory: what a plugin is given (pods, nodes, texts) belongs to berth and lives until the call returns, unless it says
 * otherwise. Texts end with NUL and are UTF-8. A text that a plugin returns is copied before the next call.
 *
 * The same inputs must give the same answers: use berth_host.random and .now_ms instead of sources of your own, and
 * recordings of a run can be replayed. */
#ifndef BERTH_PLUGIN_H
#define BERTH_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BERTH_ABI_VERSION 1
#define BERTH_PLUGIN_ENTRY "berth_plugin_entry"
#define BERTH_EXPORT __attribute__((visibility("default")))

/* ---- What is handed around. All of it is opaque; berth_host has the functions to look inside. ---- */

struct berth_call;   /* the call under way: what the plugin passes to every function of berth_host */
struct berth_pod;
struct berth_node;   /* one node with the pods on it, as this attempt sees it */
struct berth_queued; /* a pod that waits in the queue */
struct berth_event;  /* something that happened in the cluster */

/* ---- Verdicts ---- */

enum berth_code {
    BERTH_SUCCESS = 0,
    BERTH_ERROR = 1,         /* something broke: the attempt ends and is repeated later */
    BERTH_UNSCHEDULABLE = 2, /* no, but evicting pods of lower priority might help */
    BERTH_UNRESOLVABLE = 3,  /* no, and evicting cannot help */
    BERTH_WAIT = 4,          /* permit only: not yet */
    BERTH_SKIP = 5,          /* pre_filter, pre_score: this plugin has nothing to say about this pod */
    BERTH_PENDING = 6,       /* filter, reserve, permit: not until something that is under way is done; when an event that
                                the plugin registered for tells of it, the pod is tried without back-off */
};

enum { BERTH_TEXT_BYTES_MAX = 1024 }; /* of a reason; longer ones are cut */

struct berth_verdict {
    uint32_t code;    /* enum berth_code */
    const char *text; /* the reason, for users; counted and listed in events. NULL: none */
};

/* ---- Events that may bring a rejected pod back ---- */

enum berth_resource {
    BERTH_RES_POD = 0, /* to register: both of the next two */
    BERTH_RES_ASSIGNED_POD = 1,
    BERTH_RES_UNSCHEDULED_POD = 2,
    BERTH_RES_NODE = 3,
    BERTH_RES_PERSISTENT_VOLUME = 4,
    BERTH_RES_PERSISTENT_VOLUME_CLAIM = 5,
    BERTH_RES_CSI_NODE = 6,
    BERTH_RES_CSI_DRIVER = 7,
    BERTH_RES_VOLUME_ATTACHMENT = 8,
    BERTH_RES_CSI_STORAGE_CAPACITY = 9,
    BERTH_RES_STORAGE_CLASS = 10,
    BERTH_RES_RESOURCE_CLAIM = 11,
    BERTH_RES_RESOURCE_SLICE = 12,
    BERTH_RES_DEVICE_CLASS = 13,
};

enum berth_action { /* bits */
    BERTH_ACT_ADD = 1 << 0,
    BERTH_ACT_DELETE = 1 << 1,
    BERTH_ACT_UPDATE_NODE_ALLOCATABLE = 1 << 2,
    BERTH_ACT_UPDATE_NODE_LABEL = 1 << 3,
    BERTH_ACT_UPDATE_NODE_TAINT = 1 << 4,
    BERTH_ACT_UPDATE_NODE_CONDITION = 1 << 5,
    BERTH_ACT_UPDATE_NODE_ANNOTATION = 1 << 6,
    BERTH_ACT_UPDATE_NODE_DECLARED_FEATURE = 1 << 7,
    BERTH_ACT_UPDATE_POD_LABEL = 1 << 8,
    BERTH_ACT_UPDATE_POD_SCALE_DOWN = 1 << 9,
    BERTH_ACT_UPDATE_POD_TOLERATION = 1 << 10,
    BERTH_ACT_UPDATE_POD_GATES_ELIMINATED = 1 << 11,
    BERTH_ACT_UPDATE_POD_GENERATED_CLAIM = 1 << 12,
    BERTH_ACT_UPDATE = 8188, /* all updates */
    BERTH_ACT_ALL = 8191,
};

/* Whether the event is worth another try of the waiting pod, which this plugin rejected. */
typedef bool berth_hint_fn(void *data, struct berth_call *call, const struct berth_pod *waiting,
                           const struct berth_event *event);

struct berth_registration {
    uint32_t resource;   /* enum berth_resource */
    uint32_t actions;    /* of enum berth_action */
    berth_hint_fn *hint; /* NULL: always worth a try */
};

/* ---- What a plugin may call ---- */

/* Amounts: cpu in thousandths, everything else in units. Resources have Kubernetes' names ("cpu", "memory",
 * "ephemeral-storage", "pods", "example.com/gpu"); 0 for one that is not there. */
struct berth_host {
    uint32_t abi_version; /* BERTH_ABI_VERSION of the berth that runs */
    uint32_t n_bytes;     /* of its table */

    /* Pods. */
    const char *(*pod_name)(struct berth_call *call, const struct berth_pod *pod);
    const char *(*pod_namespace)(struct berth_call *call, const struct berth_pod *pod);
    const char *(*pod_uid)(struct berth_call *call, const struct berth_pod *pod);
    /* The value, NULL when the pod has no such label. */
    const char *(*pod_label)(struct berth_call *call, const struct berth_pod *pod, const char *key);
    uint32_t (*pod_n_labels)(struct berth_call *call, const struct berth_pod *pod);
    /* In no particular order; false past the end. */
    bool (*pod_label_at)(struct berth_call *call, const struct berth_pod *pod, uint32_t i, const char **ret_key,
                         const char **ret_value);
    int64_t (*pod_request)(struct berth_call *call, const struct berth_pod *pod, const char *resource);
    int32_t (*pod_priority)(struct berth_call *call, const struct berth_pod *pod);
    const char *(*pod_priority_class)(struct berth_call *call, const struct berth_pod *pod); /* "" when not given */
    const char *(*pod_scheduler_name)(struct berth_call *call, const struct berth_pod *pod);
    const char *(*pod_node_name)(struct berth_call *call, const struct berth_pod *pod);      /* "" when on none */
    const char *(*pod_nominated_node)(struct berth_call *call, const struct berth_pod *pod); /* "" when there is none */
    bool (*pod_is_terminating)(struct berth_call *call, const struct berth_pod *pod);
    uint32_t (*pod_n_containers)(struct berth_call *call, const struct berth_pod *pod); /* without init containers */
    /* Seconds since 1970; INT64_MIN when it has not started. */
    int64_t (*pod_start_time_s)(struct berth_call *call, const struct berth_pod *pod);
    /* Kind and name of the controller that owns it; false when there is none. */
    bool (*pod_controller)(struct berth_call *call, const struct berth_pod *pod, const char **ret_kind,
                           const char **ret_name);

    /* Nodes. */
    const char *(*node_name)(struct berth_call *call, const struct berth_node *node);
    const char *(*node_label)(struct berth_call *call, const struct berth_node *node, const char *key);
    uint32_t (*node_n_labels)(struct berth_call *call, const struct berth_node *node);
    bool (*node_label_at)(struct berth_call *call, const struct berth_node *node, uint32_t i, const char **ret_key,
                          const char **ret_value);
    int64_t (*node_allocatable)(struct berth_call *call, const struct berth_node *node, const char *resource);
    /* What the pods on it request; "pods" is their number. 0 for the nodes of an event. */
    int64_t (*node_requested)(struct berth_call *call, const struct berth_node *node, const char *resource);
    bool (*node_is_unschedulable)(struct berth_call *call, const struct berth_node *node);
    uint32_t (*node_n_taints)(struct berth_call *call, const struct berth_node *node);
    /* effect is "NoSchedule", "PreferNoSchedule", "NoExecute" or "". False past the end. */
    bool (*node_taint_at)(struct berth_call *call, const struct berth_node *node, uint32_t i, const char **ret_key,
                          const char **ret_value, const char **ret_effect);
    uint32_t (*node_n_pods)(struct berth_call *call, const struct berth_node *node);
    /* In no particular order; NULL past the end. */
    const struct berth_pod *(*node_pod_at)(struct berth_call *call, const struct berth_node *node, uint32_t i);

    /* The attempt. */
    const struct berth_pod *(*pod)(struct berth_call *call); /* the one that is tried; NULL in less and hints */
    uint32_t (*n_nodes)(struct berth_call *call);            /* of the cluster */
    /* A node of the cluster by name; NULL when there is none. Lives until find_node is called again. */
    const struct berth_node *(*find_node)(struct berth_call *call, const char *name);
    /* From pre_score to normalize: the nodes that fit, in the order of the scores. A node lives until the next one is
     * asked for; NULL past the end. */
    uint32_t (*n_feasible)(struct berth_call *call);
    const struct berth_node *(*feasible_at)(struct berth_call *call, uint32_t i);
    /* pre_filter only: no other nodes need be looked at. Called again it adds more. */
    void (*narrow_to)(struct berth_call *call, const char *node_name);
    /* Zeroed memory that lives until the attempt ends; from reserve on, until the binding has ended. NULL in less. */
    void *(*alloc)(struct berth_call *call, size_t n_bytes);
    /* One pointer of this plugin for this attempt, from pre_filter to permit; NULL before it is set. In add_pod and
     * remove_pod it is what clone_state made. */
    void *(*state)(struct berth_call *call);
    void (*set_state)(struct berth_call *call, void *state);
    /* The same for the binding, from reserve to unreserve or post_bind. */
    void *(*binding_state)(struct berth_call *call);
    void (*set_binding_state)(struct berth_call *call, void *state);
    /* permit and post_bind only: lets another pod go that waits at this plugin's permit, or sends it back with a reason.
     * A pod that does not wait is left alone. Its post_bind or unreserve may be called before this returns. */
    void (*allow)(struct berth_call *call, const char *uid);
    void (*reject)(struct berth_call *call, const char *uid, const char *reason);

    int64_t (*now_ms)(struct berth_call *call);  /* monotonic; 0 in less and hints */
    uint64_t (*random)(struct berth_call *call); /* of the scheduler's seeded generator; 0 outside of attempts */
    /* A record in berth's log; level 0 is always written. Not per node, please. */
    void (*log)(struct berth_call *call, int level, const char *message);

    /* Waiting pods, in less. */
    const struct berth_pod *(*queued_pod)(struct berth_call *call, const struct berth_queued *queued);
    int64_t (*queued_timestamp_ms)(struct berth_call *call, const struct berth_queued *queued); /* when it came (back) */
    uint64_t (*queued_sequence)(struct berth_call *call, const struct berth_queued *queued); /* larger: came later */
    uint32_t (*queued_attempts)(struct berth_call *call, const struct berth_queued *queued);

    /* Events, in hints. NULL when there is no such object, or it is of another kind. */
    uint32_t (*event_resource)(struct berth_call *call, const struct berth_event *event);
    uint32_t (*event_action)(struct berth_call *call, const struct berth_event *event);
    const struct berth_pod *(*event_old_pod)(struct berth_call *call, const struct berth_event *event);
    const struct berth_pod *(*event_new_pod)(struct berth_call *call, const struct berth_event *event);
    const struct berth_node *(*event_old_node)(struct berth_call *call, const struct berth_event *event);
    const struct berth_node *(*event_new_node)(struct berth_call *call, const struct berth_event *event);
};

/* ---- What a plugin is ---- */

/* Every function may be NULL; `data` is what init made. The table must live as long as the shared object. */
struct berth_plugin {
    uint32_t abi_version; /* BERTH_ABI_VERSION */
    uint32_t n_bytes;     /* sizeof(struct berth_plugin) */
    const char *name;     /* as profiles name it; letters, digits, '.', '-', '_', at most 63 */

    /* Once for every profile that enables it. `args` is the JSON of its pluginConfig args, "" when there are none. False:
     * the configuration is refused with what was written to `error` (error_bytes of room, NUL included). */
    bool (*init)(const char *args, size_t n_args, void **ret_data, char *error, size_t error_bytes);
    void (*fini)(void *data);

    /* Keeps a pod out of the queue until an event that the plugin registered for. */
    struct berth_verdict (*pre_enqueue)(void *data, struct berth_call *call);
    /* Whether a is tried before b. All profiles must use the same one. */
    bool (*less)(void *data, struct berth_call *call, const struct berth_queued *a, const struct berth_queued *b);

    struct berth_verdict (*pre_filter)(void *data, struct berth_call *call);
    /* For what-if on one node: a copy of state that add_pod and remove_pod may change. NULL: the state itself is used. */
    void *(*clone_state)(void *data, struct berth_call *call, void *state);
    void (*add_pod)(void *data, struct berth_call *call, const struct berth_pod *pod, const struct berth_node *node);
    void (*remove_pod)(void *data, struct berth_call *call, const struct berth_pod *pod, const struct berth_node *node);
    struct berth_verdict (*filter)(void *data, struct berth_call *call, const struct berth_node *node);

    struct berth_verdict (*pre_score)(void *data, struct berth_call *call);
    /* After normalize, if there is one, every score must be between 0 and 100. */
    int64_t (*score)(void *data, struct berth_call *call, const struct berth_node *node);
    void (*normalize)(void *data, struct berth_call *call, int64_t *scores, uint32_t n);

    /* The node is chosen; from here on by name, because it may be gone before the binding ends. */
    struct berth_verdict (*reserve)(void *data, struct berth_call *call, const char *node);
    /* Must undo reserve, and do nothing when reserve was not called. */
    void (*unreserve)(void *data, struct berth_call *call, const char *node);
    /* BERTH_WAIT: the pod waits until berth_host.allow, at most *ret_timeout_ms (at most 15 minutes). */
    struct berth_verdict (*permit)(void *data, struct berth_call *call, const char *node, int64_t *ret_timeout_ms);
    struct berth_verdict (*pre_bind)(void *data, struct berth_call *call, const char *node);
    void (*post_bind)(void *data, struct berth_call *call, const char *node);

    /* What may bring back a pod that this plugin rejected. NULL: every event. */
    const struct berth_registration *events;
    uint32_t n_events;
};

/* What the shared object exports under BERTH_PLUGIN_ENTRY. `host` lives as long as the process. NULL: the plugin does not
 * want to be loaded. */
typedef const struct berth_plugin *berth_plugin_entry_fn(const struct berth_host *host);

#ifdef __cplusplus
}
#endif

#endif
