/* rules/workload.c - see rules.h. */
#include "rules/rules.h"

const struct kind_rules workload_rules[] = {
    { 0 },
};
