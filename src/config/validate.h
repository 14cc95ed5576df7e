/* config/validate.h - what validation of configurations and of Policy files have in common.
 *
 * Shared inside config/ only. */
#pragma once

#include "api/field_error.h"
#include "config/config.h"

/* `repeats_name`: as v1.20 did, a refused name of a resource stands once more in the text. */
void validate_extenders(const struct config *c, bool repeats_name, struct field_errors *errs);
