/* plugins/volume_shared.c - see volume_shared.h. */
#include "plugins/volume_shared.h"

const struct pvc *claim_of_volume(const struct objects *o, const struct sym_table *syms, const struct pod *pod,
                                  const struct pod_volume *v)
{
    return objects_get(o, OBJECT_PERSISTENT_VOLUME_CLAIM, pod->meta.ns, sym_text(syms, v->names[0]));
}

const struct pv *volume_by_name(const struct objects *o, const char *name)
{
    return objects_get(o, OBJECT_PERSISTENT_VOLUME, SYM_EMPTY, str_of(name));
}

const struct storage_class *class_by_name(const struct objects *o, const struct sym_table *syms, sym name)
{
    return objects_get(o, OBJECT_STORAGE_CLASS, SYM_EMPTY, sym_text(syms, name));
}

const struct csi_node *csi_node_of(const struct objects *o, const struct node *node)
{
    return objects_get(o, OBJECT_CSI_NODE, SYM_EMPTY, str_of(node->meta.name));
}

bool claim_belongs_to(const struct pvc *claim, const struct pod *pod)
{
    return claim->meta.ns == pod->meta.ns && claim->controller_uid &&
           strcmp(claim->controller_uid, pod->meta.uid) == 0;
}

/* Whether the pod names the claim, in persistentVolumeClaim volumes or also in ephemeral ones. */
static bool names_claim(const struct pod *pod, const struct pvc *claim, const struct sym_table *syms, bool ephemeral_too)
{
    if (claim->meta.ns != pod->meta.ns)
        return false;
    sym name = sym_find(syms, str_of(claim->meta.name));
    for (uint16_t i = 0; i < pod->n_volumes; i++) {
        const struct pod_volume *v = &pod->volumes[i];
        bool counts = v->kind == VOLUME_CLAIM || (ephemeral_too && v->kind == VOLUME_EPHEMERAL);
        if (counts && v->names[0] == name)
            return true;
    }
    return false;
}

enum hint hint_claim(const struct hint_context *h, const struct pod *waiting, const struct cluster_event *event)
{
    return names_claim(waiting, event->new_object, h->syms, false) ? HINT_QUEUE : HINT_SKIP;
}

enum hint hint_claim_or_ephemeral(const struct hint_context *h, const struct pod *waiting,
                                  const struct cluster_event *event)
{
    return names_claim(waiting, event->new_object, h->syms, true) ? HINT_QUEUE : HINT_SKIP;
}
