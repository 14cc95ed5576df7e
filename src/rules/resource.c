/* rules/resource.c - see rules.h. */
#include "rules/rules.h"

const struct kind_rules resource_rules[] = {
    { 0 },
};
