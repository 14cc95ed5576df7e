/* rules/policy.c - see rules.h. */
#include "rules/rules.h"

const struct kind_rules policy_rules[] = {
    { 0 },
};
