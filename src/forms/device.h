/* forms/device.h - what the scheduler knows of resource.k8s.io: that there is a claim, a slice, a class. Devices are not allocated
 * yet (plugins/dynamicresources.c), so nothing but the metadata is kept. See typed.h for ownership. */
#pragma once

#include "forms/typed.h"

struct resource_claim {
    struct typed typed;
    struct typed_meta meta;
};

struct resource_slice {
    struct typed typed;
    struct typed_meta meta;
};

struct device_class {
    struct typed typed;
    struct typed_meta meta;
};

TYPED_FUNCTIONS(resource_claim);
TYPED_FUNCTIONS(resource_slice);
TYPED_FUNCTIONS(device_class);
