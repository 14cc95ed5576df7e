/* sched/event_kind.h - events as small numbers, for counting, and their labels as metrics and logs show
 * them.
 *
 * A kind is a resource and an action ("NodeUpdateNodeTaint"), or one of the causes that are no change of an
 * object ("BackoffComplete").
 *
 * Thread: any. */
#pragma once

#include "sched/framework.h"

enum {
    N_EVENT_ACTIONS = 15, /* 13 bits, Update, All */
    KIND_ASSIGNED_POD_ADD = RES_ASSIGNED_POD * N_EVENT_ACTIONS,
    KIND_ASSIGNED_POD_DELETE,
    KIND_ASSIGNED_POD_UPDATE = RES_ASSIGNED_POD * N_EVENT_ACTIONS + 13,
    KIND_UNSCHEDULED_POD_ADD = RES_UNSCHEDULED_POD * N_EVENT_ACTIONS,
    KIND_UNSCHEDULED_POD_DELETE,
    KIND_UNSCHEDULED_POD_UPDATE = RES_UNSCHEDULED_POD * N_EVENT_ACTIONS + 13,
    KIND_NODE_ADD = RES_NODE * N_EVENT_ACTIONS,
    KIND_NODE_DELETE,
    KIND_SCHEDULE_ATTEMPT_FAILURE = N_EVENT_RESOURCES * N_EVENT_ACTIONS,
    KIND_BACKOFF_COMPLETE,
    KIND_POP_FROM_BACKOFF,
    KIND_FORCE_ACTIVATE,
    KIND_UNSCHEDULABLE_TIMEOUT,
    KIND_OTHER, /* a set of actions that has no name */
    N_EVENT_KINDS
};

#define LABEL_FORCE_ACTIVATE "ForceActivate"
#define LABEL_UNSCHEDULABLE_TIMEOUT "UnschedulableTimeout"

static inline bool event_is_wildcard(const struct cluster_event *e)
{
    return e->resource == RES_ANY && e->action == ACT_ALL;
}

/* Below N_EVENT_KINDS. */
uint16_t event_kind(const struct cluster_event *e);
/* As upstream's: "" for KIND_OTHER. */
const char *event_kind_label(uint16_t kind);
/* The resource as in registrations and labels: "Node", "storage.k8s.io/CSINode". */
const char *event_resource_name(enum event_resource resource);
