/* rules/network.c - see rules.h. */
#include "rules/rules.h"

const struct kind_rules network_rules[] = {
    { 0 },
};
