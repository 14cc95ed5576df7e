/* sched/plugin_host.h - what plugins from shared objects may call, and what berth knows of the call
 * under way.
 *
 * Shared by plugin_library.c and plugin_host.c only. The opaque handles of the ABI are casts: berth_pod
 * is struct pod, berth_node is struct node_view, berth_queued is struct queued_pod, berth_event is
 * struct cluster_event. */
#pragma once

#include "base/vec.h"
#include "berth/plugin.h"
#include "sched/framework.h"

/* Where a plugin is called from; decides what it may use. */
enum call_point {
    CALL_LESS,
    CALL_HINT,
    CALL_PRE_ENQUEUE,
    CALL_PRE_FILTER,
    CALL_FILTER, /* and clone_state, add_pod, remove_pod */
    CALL_PRE_SCORE,
    CALL_SCORE,
    CALL_NORMALIZE,
    CALL_RESERVE,
    CALL_PERMIT,
    CALL_UNRESERVE,
    CALL_PRE_BIND,
    CALL_POST_BIND,
};

struct berth_call {
    enum call_point point;
    const struct plugin_instance *plugin;
    struct sym_table *syms;
    struct cycle *cycle;       /* NULL: less, hints */
    const struct cache *cache; /* NULL: less */
    struct arena *arena;       /* what alloc uses; NULL: less */
    VEC(sym) narrowed;         /* pre_filter */
    bool narrows;
    struct node_view found, feasible, of_event[2]; /* behind the handles that were given out */
};

extern const struct berth_host plugin_host;
