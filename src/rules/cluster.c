/* rules/cluster.c - see rules.h. */
#include "rules/rules.h"

const struct kind_rules cluster_rules[] = {
    { 0 },
};
