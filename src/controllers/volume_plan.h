/* controllers/volume_plan.h - the next step on the way of a claim to its volume, and of a volume when its claim is gone.
 *
 * Upstream: controller/volume/persistentvolume. A step is one write; what it changes brings the object here again, until there
 * is nothing left to do. So it does not matter where somebody else, or a crash, interrupts it.
 *
 *   volume.spec.claimRef -> volume.status.phase -> claim.spec.volumeName -> claim.status
 *
 * Volumes of classes whose provisioner is HOLLOW_PROVISIONER are made and deleted here; those of others by whoever that is.
 * Not there: the reclaim policy Recycle, and taking back a volume that was bound to two claims at once.
 *
 * Thread: any. Memory: the arena; results refer to what they were made from. */
#pragma once

#include "api/value.h"

#define HOLLOW_PROVISIONER "berth.dev/hollow"

enum volume_verb {
    VOLUME_NOTHING, VOLUME_UPDATE, VOLUME_UPDATE_STATUS, VOLUME_CREATE, VOLUME_DELETE, CLAIM_UPDATE, CLAIM_UPDATE_STATUS,
};

struct volume_step {
    enum volume_verb verb;
    struct value object;
    const char *event_type, *reason, *message; /* about the claim, or the volume when it is its step; NULL: none */
};

struct claim_state {
    const struct value *claim;
    const struct value *class;  /* NULL: it has none, or that is not there */
    const struct value *volume; /* by spec.volumeName; NULL: there is none */
    const struct value *const *candidates; /* volumes that nobody has, or that wait for a claim */
    size_t n_candidates;
};

const struct type *claim_type(void);
const struct type *volume_type(void);
struct volume_step claim_step(struct arena *a, const struct claim_state *s);
/* `claim` is the one that the volume's claimRef names, whatever its uid; NULL: there is none. */
struct volume_step volume_step(struct arena *a, const struct value *volume, const struct value *claim);
