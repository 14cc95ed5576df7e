/* rules/core.c - see rules.h. */
#include "rules/rules.h"

const struct kind_rules core_rules[] = {
    { 0 },
};
