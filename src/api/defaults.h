/* api/defaults.h - what an API server fills in when it decodes an object: fields that are not there get their defaults.
 *
 * The same as upstream v1.36 does on every write, on generic values: simple defaults are rows by type (also those inside
 * pod templates), the others are functions of a type. Applied twice, the second time changes nothing. What needs other
 * objects of the cluster is admission (admit.h).
 *
 * Not filled in here, because they belong to whoever allocates them: addresses and node ports of a Service, uids, and the
 * selector and labels that a Job gets from its uid, its own labels included.
 *
 * Thread: any. Memory: the arena; the result shares with `v` all that did not change. */
#pragma once

#include "api/value.h"

/* The object, of type `t`, with its defaults. Types without any come back as they are. */
struct value defaults_apply(struct arena *a, const struct type *t, const struct value *v);

/* Whether a pod has everything already that matters to scheduling, as those that come from a server have: scheduler name,
 * requests for its limits, host ports in the host's network. Quick: nothing is made. */
bool defaults_pod_is_complete(const struct value *pod);
