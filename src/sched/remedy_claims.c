/* sched/remedy_claims.c - a chapter of remedy.h: claims that a pod waits for before any node is looked at.
 *
 * They are not there, or have no volume and get none because of the pod (their class binds at once, or does not exist).
 * With a volume that its node can use such a claim keeps the pod from no node, so that it is tried without it. */
#include "sched/remedy_priv.h"

#include "forms/storage.h"
#include "forms/volume.h"
#include "sched/sched_priv.h"

/* NULL when the pod does not wait for the claim; otherwise why, for a sentence. */
static const char *why_it_waits(struct finder *f, const struct pod_volume *v)
{
    if (v->kind != VOLUME_CLAIM && v->kind != VOLUME_EPHEMERAL)
        return NULL;
    struct str name = sym_text(f->s->syms, v->names[0]);
    const struct pvc *claim = objects_get(f->s->objects, OBJECT_PERSISTENT_VOLUME_CLAIM, f->pod->meta.ns, name);
    if (!claim)
        return "it does not exist";
    if (*claim->volume_name)
        return NULL;
    struct str class_name = sym_text(f->s->syms, claim->storage_class);
    const struct storage_class *class = objects_get(f->s->objects, OBJECT_STORAGE_CLASS, SYM_EMPTY, class_name);
    if (class && class->binding_mode == BINDING_WAIT_FOR_FIRST_CONSUMER)
        return NULL;
    if (!class && class_name.n)
        return arena_printf(f->arena, "its StorageClass %.*s does not exist", STR_ARG(class_name));
    return class ? "it has no volume, and its StorageClass does not wait for the pod to find one"
                 : "it has no volume and no StorageClass";
}

void propose_claims(struct finder *f)
{
    const struct pod *own = f->pod;
    struct pod changed = *own;
    struct pod_volume *less = arena_alloc(&f->scratch, own->n_volumes * sizeof(*less) + 1);
    const char **names = arena_alloc(f->arena, own->n_volumes * sizeof(*names) + 1);
    struct proposal p = { .kind = REMEDY_PROVIDE_CLAIMS, .row = NODE_NONE, .key = SYM_NONE, .value = SYM_NONE,
                          .size = SIZE_OF(SIZE_SWITCH, REMEDY_PROVIDE_CLAIMS), .names = names };
    changed.n_volumes = 0;
    for (uint16_t i = 0; i < own->n_volumes; i++) {
        const char *why = why_it_waits(f, &own->volumes[i]);
        if (!why) {
            less[changed.n_volumes++] = own->volumes[i];
            continue;
        }
        names[p.n_names++] = finder_text(f, own->volumes[i].names[0]);
        p.hint = p.hint ? "none of them has one" : why;
    }
    if (!p.n_names)
        return;
    changed.volumes = less;
    p.pod = finder_keep(f, pod_of_changed(f->s->syms, &changed));
    finder_propose(f, &p);
    arena_reset(&f->scratch);
}
