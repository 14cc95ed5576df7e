/* forms/lease.c - see lease.h. */
#include "forms/lease.h"

#include "api/schema_slots.h"
#include "forms/inputs.h"

struct lease_spec_in {
    struct str holder, preferred_holder, strategy;
    struct fill_int duration, transitions;
    struct fill_time acquire, renew;
};

struct lease_in {
    struct meta_in meta;
    struct lease_spec_in spec;
};

static const struct fill_row spec_rows[] = {
    [SLOT_coordination_v1_LeaseSpec_holderIdentity] = FILL_STR(struct lease_spec_in, holder),
    [SLOT_coordination_v1_LeaseSpec_preferredHolder] = FILL_STR(struct lease_spec_in, preferred_holder),
    [SLOT_coordination_v1_LeaseSpec_strategy] = FILL_STR(struct lease_spec_in, strategy),
    [SLOT_coordination_v1_LeaseSpec_leaseDurationSeconds] = FILL_INT(struct lease_spec_in, duration),
    [SLOT_coordination_v1_LeaseSpec_leaseTransitions] = FILL_INT(struct lease_spec_in, transitions),
    [SLOT_coordination_v1_LeaseSpec_acquireTime] = FILL_TIME(struct lease_spec_in, acquire),
    [SLOT_coordination_v1_LeaseSpec_renewTime] = FILL_TIME(struct lease_spec_in, renew),
};
static const struct fill_type spec_type = FILL_TYPE(coordination_v1_LeaseSpec, struct lease_spec_in, spec_rows);

static const struct fill_row lease_rows[] = {
    [SLOT_coordination_v1_Lease_metadata] = FILL_STRUCT(struct lease_in, meta, &fill_meta),
    [SLOT_coordination_v1_Lease_spec] = FILL_STRUCT(struct lease_in, spec, &spec_type),
};
static const struct fill_type fill_lease = FILL_TYPE(coordination_v1_Lease, struct lease_in, lease_rows);

static enum err_code build(struct build *b, const void *input, void *form)
{
    const struct lease_in *in = input;
    struct lease *l = form;
    if (build_meta(b, &in->meta, &l->meta) ||
        build_name(b, in->spec.holder, "spec.holderIdentity", &l->holder))
        return b->e->code;
    if (in->spec.preferred_holder.p)
        l->preferred_holder = build_text(b, in->spec.preferred_holder);
    if (in->spec.strategy.p)
        l->strategy = build_text(b, in->spec.strategy);
    l->acquire_us = build_micros(&in->spec.acquire);
    l->renew_us = build_micros(&in->spec.renew);
    l->duration_s = (int32_t)in->spec.duration.value;
    l->transitions = (int32_t)in->spec.transitions.value;
    return ERR_OK;
}

static void walk(struct walk *w, void *form)
{
    struct lease *l = form;
    walk_meta(w, &l->meta);
    WALK_TEXT(w, l->holder);
    WALK_TEXT(w, l->preferred_holder);
    WALK_TEXT(w, l->strategy);
}

static const struct form_type type = { &fill_lease, sizeof(struct lease), build, walk };

FORM_FUNCTIONS(lease, type)
