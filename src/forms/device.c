/* forms/device.c - see device.h. */
#include "forms/device.h"

#include "api/schema_slots.h"
#include "forms/inputs.h"

struct meta_only_in {
    struct meta_in meta;
};

/* All three forms. */
struct meta_only {
    struct typed typed;
    struct typed_meta meta;
};

static enum err_code build(struct build *b, const void *input, void *form)
{
    const struct meta_only_in *in = input;
    return build_meta(b, &in->meta, &((struct meta_only *)form)->meta);
}

static void walk(struct walk *w, void *form)
{
    walk_meta(w, &((struct meta_only *)form)->meta);
}

static const struct fill_row claim_rows[] = {
    [SLOT_resource_v1_ResourceClaim_metadata] = FILL_STRUCT(struct meta_only_in, meta, &fill_meta),
};
static const struct fill_type fill_claim = FILL_TYPE(resource_v1_ResourceClaim, struct meta_only_in, claim_rows);
static const struct form_type claim_type = { &fill_claim, sizeof(struct resource_claim), build, walk };

FORM_FUNCTIONS(resource_claim, claim_type)

static const struct fill_row slice_rows[] = {
    [SLOT_resource_v1_ResourceSlice_metadata] = FILL_STRUCT(struct meta_only_in, meta, &fill_meta),
};
static const struct fill_type fill_slice = FILL_TYPE(resource_v1_ResourceSlice, struct meta_only_in, slice_rows);
static const struct form_type slice_type = { &fill_slice, sizeof(struct resource_slice), build, walk };

FORM_FUNCTIONS(resource_slice, slice_type)

static const struct fill_row class_rows[] = {
    [SLOT_resource_v1_DeviceClass_metadata] = FILL_STRUCT(struct meta_only_in, meta, &fill_meta),
};
static const struct fill_type fill_class = FILL_TYPE(resource_v1_DeviceClass, struct meta_only_in, class_rows);
static const struct form_type class_type = { &fill_class, sizeof(struct device_class), build, walk };

FORM_FUNCTIONS(device_class, class_type)
