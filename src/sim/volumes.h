/* sim/volumes.h - what the volume controllers do when the scheduler has chosen volumes for a pod's
 * claims.
 *
 * A claim that gets a volume which is there is bound to it, both ways. Claims whose volumes are to be
 * provisioned stay as they are: the scheduler itself remembers the node that it has chosen for them.
 *
 * Thread: one, the owner of the sym table. */
#pragma once

#include "base/vec.h"
#include "sched/objects.h"
#include "sched/volume_decisions.h"

struct sim_new_form {
    enum object_kind kind;
    const void *form; /* a reference */
};
typedef VEC(struct sim_new_form) sim_new_form_vec;

/* Appends the new forms of volumes and claims; `objects` has the present ones. */
void sim_bind_volumes(const struct objects *objects, struct sym_table *syms, const struct volume_decisions *decisions,
                      sim_new_form_vec *to);
void sim_new_forms_reset(struct sym_table *syms, sim_new_form_vec *forms);
