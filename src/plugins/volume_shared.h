/* plugins/volume_shared.h - what the plugins for volumes have in common: the claims of pods.
 *
 * A pod names claims in two kinds of volumes: of a persistentVolumeClaim, and of an ephemeral volume,
 * whose claim is made for the pod, named after pod and volume, and must belong to it.
 *
 * Thread: scheduling thread only. */
#pragma once

#include "plugins/plugins.h"

#define CLAIM_NOT_FOUND "persistentvolumeclaim \"%s\" not found"
#define VOLUME_NOT_FOUND "persistentvolume \"%s\" not found"
#define CLASS_NOT_FOUND "storageclass.storage.k8s.io \"%s\" not found"
#define CLASS_WITHOUT_MODE "VolumeBindingMode not set for StorageClass \"%s\""
/* namespace, claim, namespace, pod */
#define NOT_THE_OWNER "PVC %s/%s was not created for pod %s/%s (pod is not owner)"

/* Whether the volume is one of a claim: names[0] is the claim's name. */
static inline bool volume_has_claim(const struct pod_volume *v)
{
    return v->kind == VOLUME_CLAIM || v->kind == VOLUME_EPHEMERAL;
}

/* Objects as the API server has them; NULL when there is none. */
const struct pvc *claim_of_volume(const struct objects *o, const struct sym_table *syms, const struct pod *pod,
                                  const struct pod_volume *v);
const struct pv *volume_by_name(const struct objects *o, const char *name);
const struct storage_class *class_by_name(const struct objects *o, const struct sym_table *syms, sym name);
const struct csi_node *csi_node_of(const struct objects *o, const struct node *node);

/* Whether two pods name a disk that they cannot share. */
bool pods_conflict(struct arena *arena, const struct pod *pod, const struct pod *other);

/* Whether the claim of an ephemeral volume was made for this pod. */
bool claim_belongs_to(const struct pvc *claim, const struct pod *pod);
/* Whether a claim is bound and the volume controller has said so. */
static inline bool claim_is_bound(const struct pvc *claim)
{
    return claim->volume_name[0] && claim->bind_completed;
}


/* Hints for claims that are new or have changed: whether it is one of the pod's. */
enum hint hint_claim(const struct hint_context *h, const struct pod *waiting, const struct cluster_event *event);
enum hint hint_claim_or_ephemeral(const struct hint_context *h, const struct pod *waiting,
                                  const struct cluster_event *event);
