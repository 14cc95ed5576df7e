/* controllers/daemonset_pod.h - pods of a DaemonSet: on which nodes they belong, and how they are made.
 *
 * Upstream: controller/daemon (NodeShouldRunDaemonPod) and controller/daemon/util.
 *
 * Thread: any.    Memory: the arena; what is made shares what it was made from. */
#pragma once

#include "api/value.h"
#include "client/event_recorder.h"

#define DAEMON_HASH_LABEL "controller-revision-hash"
#define DAEMON_GENERATION_LABEL "pod-template-generation"
#define DAEMON_GENERATION_ANNOTATION "deprecated.daemonset.template.generation"

/* What a template says about nodes, ready to be asked about many. Opaque; in the arena. */
struct daemon_rules;
const struct daemon_rules *daemon_rules_new(struct arena *a, const struct value *template);

struct daemon_fit {
    bool run;   /* a pod is to be there */
    bool go_on; /* one that is there already may stay */
};
/* `node` is of core/v1.Node. */
struct daemon_fit daemon_fit(struct arena *scratch, const struct daemon_rules *r, const struct value *node);

/* The template with what all daemon pods tolerate, and the labels that tell its revision; an empty generation gives none. */
struct value daemon_template(struct arena *a, const struct value *template, struct str generation, struct str hash);
/* A pod by what daemon_template gave, that the scheduler can bind to one node only. */
struct value daemon_pod_make(struct arena *a, const struct value *template, const struct object_reference *owner,
                             struct str node);
