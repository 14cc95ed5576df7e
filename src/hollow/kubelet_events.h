/* hollow/kubelet_events.h - what kubelets of hollow nodes tell about containers: Pulled, Created, Started, Killing, BackOff.
 *
 * Thread: the store's.    Owns: copies of all texts. */
#pragma once

#include "controllers/cluster.h"

struct kubelet_events;

struct kubelet_events *kubelet_events_new(struct cluster *c);
void kubelet_events_free(struct kubelet_events *k);
/* Everything that lies between two states of a pod. */
void kubelet_events_record(struct kubelet_events *k, const struct value *was, const struct value *is);
