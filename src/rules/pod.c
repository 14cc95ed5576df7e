/* rules/pod.c - see rules.h. */
#include "rules/rules.h"

const struct kind_rules pod_rules[] = {
    { 0 },
};
