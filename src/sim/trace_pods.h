/* sim/trace_pods.h - the pods that lines of a trace stand for.
 *
 * A line without a template is a pod of one container with the line's requests, for the first profile of the
 * configuration. With one it is the pod that the named object of the input would make: a ReplicationController,
 * ReplicaSet, Deployment, StatefulSet, DaemonSet or Job; the line's cpu and memory replace the requests of its first
 * container, priority and namespace those of the template. It may also be a Pod of the world, of which there is only
 * the typed form: its requests can be replaced when it has one container, its namespace cannot.
 *
 * Forms of equal lines are made once and kept, up to a limit; pods are copies of them with a name of their own.
 *
 * Thread: one. Owns: the kept forms. The world and the trace must live longer; nothing may be added to the world's
 * input. */
#pragma once

#include "sim/trace.h"
#include "sim/world.h"

/* What makes two pods of a trace equal. */
struct trace_key {
    int64_t milli_cpu, memory, priority; /* INT64_MIN: not given */
    uint32_t template, ns;
};

struct trace_key trace_key_of(const struct trace_row *row);
static inline struct str trace_key_bytes(const struct trace_key *key)
{
    _Static_assert(sizeof(*key) == 3 * sizeof(int64_t) + 2 * sizeof(uint32_t), "no bytes between members");
    return (struct str){ (const char *)key, sizeof(*key) };
}

struct trace_template {
    const char *name;         /* NULL: not looked for */
    const struct pod *form;   /* of a Pod; the world's */
    struct sim_object object; /* otherwise: a pod with defaults and without a name */
};

struct trace_pods {
    struct sim_world *world;
    const struct trace *trace;
    struct trace_template *templates; /* by text of the trace; [0] is the plain pod */
    struct arena keys, scratch;
    struct map_str by_key; /* what matters of a line -> form */
};

void trace_pods_init(struct trace_pods *p, struct sim_world *w, const struct trace *t);
void trace_pods_fini(struct trace_pods *p);
/* Finds what the lines name as templates; an error names the first line that is wrong. Once, before the rest. */
enum err_code trace_pods_find_templates(struct trace_pods *p, struct err *e) ERR_MUST_CHECK;
/* The form for a line, whose name and uid do not matter yet. Borrowed until the next call. Sees to it that its
 * namespace exists. */
enum err_code trace_pods_form(struct trace_pods *p, const struct trace_row *row, const struct pod **ret_form,
                              struct err *e) ERR_MUST_CHECK;
