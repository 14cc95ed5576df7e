/* rules/rbac.c - see rules.h. */
#include "rules/rules.h"

const struct kind_rules rbac_rules[] = {
    { 0 },
};
